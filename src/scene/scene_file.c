#include "scene/scene.h"

#include "base/file.h"
#include "base/vec.h"
#include "fem/body.h"
#include "fem/engine.h"
#include "mesh/mesh.h"
#include "scene/bodies_file.h"
#include "scene/body_touch.h"
#include "scene/cook_plan.h"
#include "scene/entries.h"

#include <string.h>

uint64_t bo_hash_bytes(uint64_t hash, const void *data, size_t size) {
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001B3u;
    return hash;
}

uint64_t bo_hash_mesh(uint64_t hash, const bough_mesh *mesh) {
    size_t nodes = (size_t)mesh->element_count * (size_t)bough_element_node_count(mesh->type);
    hash = bo_hash_bytes(hash, mesh->vertices, 3 * (size_t)mesh->vertex_count * sizeof(double));
    return bo_hash_bytes(hash, mesh->elements, nodes * sizeof(int32_t));
}

/* ---- curves ---- */

#define CURVE_LIMIT 1000000 /* points */

static bough_status read_point(bo_json at, double *time, double *value) {
    int32_t count;
    BO_TRY(bo_json_list(at, &count));
    if (count != 2)
        return bo_json_fail(at, "must be a point [time, value]");
    BO_TRY(bo_json_number(bo_json_item(&at, 0), BO_ANY, time));
    return bo_json_number(bo_json_item(&at, 1), BO_ANY, value);
}

static bough_status read_points(bo_json at, int32_t count, double *times, double *values) {
    for (int32_t i = 0; i < count; i++) {
        bo_json item = bo_json_item(&at, i);
        BO_TRY(read_point(item, &times[i], &values[i]));
        if (i && !(times[i] > times[i - 1]))
            return bo_json_fail(item, "times must ascend, but %g comes after %g", times[i], times[i - 1]);
    }
    return BOUGH_OK;
}

static bough_status read_curve(bo_json at, void *data) {
    bo_drive *drive = data;
    int32_t count;
    BO_TRY(bo_json_list(at, &count));
    if (!at.key[0])
        return bo_json_fail(at, "a curve needs a name");
    if (count < 1 || count > CURVE_LIMIT)
        return bo_json_fail(at, "a curve has 1 to %d points, not %d", CURVE_LIMIT, count);
    double *points = BO_NEW_ZEROS(at.ctx, double, 2 * (size_t)count);
    if (!points)
        return BOUGH_ERROR_MEMORY;
    bough_status status = read_points(at, count, points, points + count);
    if (status == BOUGH_OK)
        status = bo_drive_add_curve(at.ctx, drive, at.key, count, points, points + count);
    bo_free(at.ctx, points);
    return status;
}

bough_status bo_scene_curves(bo_json at, bo_drive *drive) {
    return bo_json_named(at, "curves", read_curve, drive);
}

bough_status bo_scene_choose_curve(bo_json at, const bo_drive *drive, int32_t *curve) {
    if (!at.value)
        return BOUGH_OK;
    if (!drive || drive->curve_count == 0)
        return bo_json_fail(at, "the scene has no \"curves\"");
    return bo_json_choose(at, &drive->curves->name, sizeof *drive->curves, drive->curve_count, curve);
}

/* ---- engine and time ---- */

static bough_status read_engine(bo_json at, bough_scene *scene) {
    BO_TRY(bo_json_keys(at, BO_BODY_ENGINE_KEYS));
    return bo_scene_read_engine(bo_json_at(&at, "kind"), scene);
}

static bough_status read_integrator(bo_json at, bough_scene *scene) {
    const char *names[64];
    int32_t count = bough_integrator_count(), choice = -1;
    for (int32_t i = 0; i < count; i++) {
        names[i] = bough_integrator_describe(i)->name;
        if (!strcmp(names[i], scene->integrator.name))
            choice = i;
    }
    BO_TRY(bo_json_choice(at, names, count, &choice));
    scene->integrator.name = names[choice];
    return BOUGH_OK;
}

bough_status bo_scene_time(bo_json at, bough_scene *scene) {
    bough_integrator_def *def = &scene->integrator;
    BO_TRY(bo_json_keys(at, BO_TIME_KEYS));
    BO_TRY(read_integrator(bo_json_at(&at, "integrator"), scene));
    BO_TRY(bo_json_number(bo_json_at(&at, "rho"), (bo_range){0, 1, false}, &def->rho));
    BO_TRY(bo_json_number(bo_json_at(&at, "alpha"), (bo_range){-1.0 / 3, 0, false}, &def->alpha));
    BO_TRY(bo_json_number(bo_json_at(&at, "beta"), (bo_range){1e-6, 1, false}, &def->beta));
    BO_TRY(bo_json_number(bo_json_at(&at, "gamma"), (bo_range){0.5, 1, false}, &def->gamma));
    BO_TRY(bo_json_number(bo_json_at(&at, "tolerance"), (bo_range){0, 1, true}, &def->tolerance));
    BO_TRY(bo_json_integer(bo_json_at(&at, "max_iterations"), 1, 1000, &def->max_iterations));
    BO_TRY(bo_json_number(bo_json_at(&at, "dt"), BO_POSITIVE, &scene->dt));
    BO_TRY(bo_json_number(bo_json_at(&at, "energy_tolerance"), (bo_range){0, 1e6, false}, &scene->energy_tolerance));
    return bo_json_number(bo_json_at(&at, "duration"), BO_POSITIVE, &scene->duration);
}

/* ---- the start: with no body it is checked only ---- */

static bough_status read_initial_entry(bo_json at, bough_scene *scene) {
    double velocity[3] = {0};
    int32_t *vertices = NULL, count = 0;
    bo_json select = bo_json_at(&at, "select");
    BO_TRY(bo_json_keys(at, BO_INITIAL_KEYS));
    BO_TRY(bo_json_vec3(bo_json_must(&at, "velocity"), BO_ANY, velocity));
    bool all = !bo_json_has(&at, "select");
    if (!all)
        BO_TRY(bo_scene_select(select, scene->body ? bough_body_mesh(scene->body) : NULL, &vertices, &count));
    if (!scene->body)
        return BOUGH_OK;
    if (all)
        count = bough_body_mesh(scene->body)->vertex_count;
    for (int32_t i = 0; i < count; i++)
        memcpy(scene->velocity + 3 * (size_t)(all ? i : vertices[i]), velocity, sizeof velocity);
    bo_free(at.ctx, vertices);
    return BOUGH_OK;
}

static bough_status read_initial(bo_json at, bough_scene *scene) {
    if (json_is_object(at.value))
        return read_initial_entry(at, scene);
    int32_t count;
    BO_TRY(bo_json_list(at, &count));
    for (int32_t i = 0; i < count; i++)
        BO_TRY(read_initial_entry(bo_json_item(&at, i), scene));
    return BOUGH_OK;
}

/* ---- probes ---- */

/* Returns how far the point is outside of the element: the largest distance beyond the plane of a face; negative
 * inside. */
static double distance_outside(const bough_mesh *mesh, int32_t element, bo_vec3 point) {
    const int32_t *nodes = bo_mesh_nodes(mesh, element);
    const int32_t face_count = bough_element_face_count(mesh->type);
    double outside = -INFINITY;
    for (int32_t f = 0; f < face_count; f++) {
        int32_t local[6];
        bo_element_face_nodes(mesh->type, f, local);
        bo_vec3 x[3];
        for (int i = 0; i < 3; i++)
            x[i] = bo_load3(mesh->vertices + 3 * (size_t)nodes[local[i]]);
        bo_vec3 normal = bo_cross(bo_sub(x[1], x[0]), bo_sub(x[2], x[0]));
        outside = fmax(outside, bo_dot(normal, bo_sub(point, x[0])) / bo_norm(normal));
    }
    return outside;
}

int32_t bo_nearest_element(const bough_mesh *mesh, const double point[3]) {
    int32_t best = 0;
    double least = INFINITY;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        double outside = distance_outside(mesh, e, bo_load3(point));
        if (outside < least)
            least = outside, best = e;
    }
    return best;
}

static bough_status read_probe(bo_json at, bough_scene *scene, bo_probe *probe) {
    const bough_mesh *mesh = scene->body ? bough_body_mesh(scene->body) : NULL;
    double point[3] = {0};
    bool stress = bo_json_has(&at, "stress_at");
    BO_TRY(bo_scene_probe_name(bo_json_must(&at, "name"), scene, probe));
    if (bo_json_has(&at, "contact"))
        return bo_scene_contact_probe(at, probe);
    BO_TRY(stress ? bo_json_keys(at, BO_STRESS_PROBE_KEYS) : bo_json_keys(at, BO_PROBE_KEYS));
    probe->kind = stress ? BO_PROBE_STRESS : BO_PROBE_MOTION;
    if (!stress) {
        BO_TRY(bo_scene_select(bo_json_must(&at, "select"), mesh, &probe->vertices, &probe->count));
        for (int32_t i = 0; mesh && i < probe->count; i++)
            for (size_t d = 0; d < 3; d++)
                probe->rest[d] += mesh->vertices[3 * (size_t)probe->vertices[i] + d] / probe->count;
        return BOUGH_OK;
    }
    BO_TRY(bo_json_vec3(bo_json_at(&at, "stress_at"), BO_ANY, point));
    return mesh ? bo_probe_element(at.ctx, probe, bo_nearest_element(mesh, point)) : BOUGH_OK;
}

static bough_status read_probes(bo_json at, bough_scene *scene) {
    for (int32_t i = 0; i < scene->probe_count; i++)
        BO_TRY(read_probe(bo_json_item(&at, i), scene, &scene->probes[i]));
    return BOUGH_OK;
}

/* ---- the file ---- */

static bough_status read_settings(const bo_json *root, bough_scene *scene) {
    bo_json probes = bo_json_at(root, "probes");
    BO_TRY(bo_json_keys(*root, BO_BODY_SCENE_KEYS));
    BO_TRY(bo_scene_version(*root));
    BO_TRY(read_engine(bo_json_at(root, "engine"), scene));
    BO_TRY(bo_scene_time(bo_json_at(root, "time"), scene));
    BO_TRY(bo_json_flag(bo_json_at(root, "settle"), &scene->settle));
    BO_TRY(bo_scene_curves(bo_json_at(root, "curves"), &scene->drive));
    bo_body_touch *touch = NULL;
    const bough_status read = bo_body_touch_read(root, &scene->hash, &touch);
    scene->content = touch; /* also where it failed */
    BO_TRY(read);
    BO_TRY(read_initial(bo_json_at(root, "initial"), scene));
    BO_TRY(bo_json_list(probes, &scene->probe_count));
    scene->probes = BO_NEW_ZEROS(root->ctx, bo_probe, scene->probe_count);
    if (!scene->probes) {
        scene->probe_count = 0;
        return BOUGH_ERROR_MEMORY;
    }
    return read_probes(probes, scene);
}

static bough_status read_scene(const bo_json *root, bough_scene *scene) {
    BO_TRY(read_settings(root, scene));
    BO_TRY(bo_scene_body(root, &scene->drive, &scene->body, &scene->load_case));
    const bough_mesh *mesh = bough_body_mesh(scene->body);
    scene->velocity = BO_NEW_ZEROS(root->ctx, double, 3 * (size_t)mesh->vertex_count);
    if (!scene->velocity)
        return BOUGH_ERROR_MEMORY;
    scene->hash = bo_hash_mesh(scene->hash, mesh);
    memcpy(scene->gravity, scene->load_case->gravity, sizeof scene->gravity);
    if (bo_json_has(root, "bodies")) {
        bo_body_touch *touch = scene->content;
        BO_TRY(bo_scene_bodies_throw(bo_json_at(root, "bodies"), mesh, scene->velocity));
        BO_TRY(bo_scene_bodies_list(bo_json_at(root, "bodies"), mesh, &touch->piece_count, &touch->pieces));
    }
    BO_TRY(read_initial(bo_json_at(root, "initial"), scene));
    return read_probes(bo_json_at(root, "probes"), scene);
}

/* ---- the kind ---- */

static bough_status create_engine(bough_context *ctx, const bough_scene *scene, const bo_engine_settings *settings,
                                  bo_engine *engine) {
    const bo_body_touch *touch = scene->content;
    const bo_body_plan plan = {.body = scene->body,
                               .load_case = scene->load_case,
                               .drive = &scene->drive,
                               .velocity = scene->velocity,
                               .touch = touch ? &touch->made->def : NULL,
                               .around = bo_body_touch_around(touch),
                               .piece_count = touch ? touch->piece_count : 0,
                               .pieces = touch ? touch->pieces : NULL,
                               .probe_count = scene->probe_count,
                               .probes = scene->probes};
    return bo_body_engine_create(ctx, &plan, settings, engine);
}

static bool is_anything(const bo_json *root) {
    (void)root;
    return true;
}

static void destroy(bough_context *ctx, void *content) {
    bo_body_touch_free(ctx, content);
}

static const bo_scene_engine engines[] = {{.kind = &bo_body_engine, .create = create_engine}};
const bo_scene_kind bo_body_scene = {.name = "body",
                                     .things = "one body",
                                     .recognise = is_anything,
                                     .read = read_scene,
                                     .destroy = destroy,
                                     .engine_count = 1,
                                     .engines = engines};

/* ---- any scene ---- */

static bough_status hash_file(bough_context *ctx, const char *path, bough_scene *scene) {
    bo_file file;
    BO_TRY(bo_file_read(ctx, path, &file));
    scene->hash = bo_hash_bytes(BO_HASH_START, file.data, file.size);
    bo_file_free(ctx, &file);
    return BOUGH_OK;
}

static bool has_extension(const char *path, const char *extension) {
    return bo_equal_ignoring_case(bo_path_extension(path), extension);
}

/* A URDF or MJCF file alone stands for a scene that has nothing else but its weight. */
bough_status bo_scene_load_root(bough_context *ctx, const char *path, bool robot, bo_json *root) {
    const bool urdf = has_extension(path, "urdf"), mjcf = has_extension(path, "mjcf") || has_extension(path, "xml");
    if (!urdf && !mjcf)
        return bo_json_load(ctx, path, root);
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    *root = (bo_json){.ctx = ctx, .file = path};
    if (!bo_file_exists(path))
        return bo_fail(ctx, BOUGH_ERROR_FILE, "%s: cannot be opened", path);
    if (urdf && !robot)
        root->value = json_pack("{s:i, s:s, s:[f,f,f]}", "bough", 1, "urdf", name, "gravity", 0.0, 0.0, -9.81);
    else if (urdf)
        root->value =
            json_pack("{s:i, s:{s:s}, s:[f,f,f]}", "bough", 1, "robot", "urdf", name, "gravity", 0.0, 0.0, -9.81);
    else
        root->value = json_pack("{s:i, s:{s:s}}", "bough", 1, "robot", "mjcf", name);
    return root->value ? BOUGH_OK : bo_fail(ctx, BOUGH_ERROR_FILE, "%s: a scene's name must be a text in UTF-8", path);
}

/* A component is no scene, though its keys are those of a body. */
static void look_at_root(const bo_json *root, bough_file_info *info) {
    const bo_scene_kind *kind = bo_scene_kind_of(root);
    info->kind = kind->name;
    info->complete = json_is_integer(bo_json_at(root, "bough").value) && !bo_json_has(root, "interfaces") &&
                     !bo_json_has(root, "basis") &&
                     (kind != &bo_body_scene || bo_json_has(root, "mesh") || bo_has_full_bodies(root));
    info->runs = bo_json_has(root, "time") || bo_json_has(root, "engine") || bo_json_has(root, "initial") ||
                 bo_json_has(root, "probes") || bo_json_has(root, "curves");
    info->touches = bo_json_has(root, "obstacles") || bo_json_has(root, "contact") || bo_has_full_bodies(root);
}

bool bough_file_look(bough_context *ctx, const char *path, bough_file_info *info) {
    char sentence[BO_MESSAGE_SIZE];
    const char *extension = bo_path_extension(path);
    bo_json root;
    *info = (bough_file_info){0};
    static const char *const known[] = {"json", "urdf", "mjcf", "xml"};
    int k = 0;
    while (k < 4 && !bo_equal_ignoring_case(extension, known[k]))
        k++;
    if (k == 4)
        return false;
    memcpy(sentence, ctx->message, sizeof sentence);
    const bool readable = bo_scene_load_root(ctx, path, false, &root) == BOUGH_OK;
    if (readable) {
        look_at_root(&root, info);
        bo_json_free(&root);
    }
    memcpy(ctx->message, sentence, sizeof sentence);
    return readable;
}

const bough_mechanism *bough_scene_mechanism(const bough_scene *scene) {
    return scene->mechanism ? scene->mechanism->mechanism : NULL;
}

const char *bough_scene_end_effector_name(const bough_scene *scene, int32_t end_effector) {
    return scene->mechanism->effectors[end_effector].name;
}

bough_status bough_scene_load(bough_context *ctx, const char *path, bough_scene **out) {
    *out = NULL;
    bo_json root;
    BO_TRY(bo_scene_load_root(ctx, path, false, &root));
    bough_scene *scene = BO_NEW(ctx, bough_scene);
    bough_status status = scene ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (scene) {
        *scene = bo_scene_defaults();
        scene->path = bo_strdup(ctx, path);
        status = scene->path ? hash_file(ctx, path, scene) : BOUGH_ERROR_MEMORY;
        scene->kind = bo_scene_kind_of(&root);
        scene->engine = &scene->kind->engines[0];
        if (status == BOUGH_OK)
            status = scene->kind->read(&root, scene);
    }
    bo_json_free(&root);
    if (status == BOUGH_OK)
        *out = scene;
    else
        bough_scene_destroy(ctx, scene);
    return status;
}

void bough_scene_destroy(bough_context *ctx, bough_scene *scene) {
    if (!scene)
        return;
    bo_scene_free_forces(ctx, scene);
    bo_scene_free_probes(ctx, scene);
    bo_scene_free_paint(ctx, scene);
    bo_scene_free_events(ctx, scene);
    bo_free(ctx, scene->velocity);
    bough_load_case_destroy(ctx, scene->load_case);
    bough_body_destroy(ctx, scene->body);
    bo_drive_free(ctx, &scene->drive);
    bo_scene_free_pantry(ctx, scene);
    bo_free(ctx, scene->tree.starts);
    bough_cook_plan_destroy(ctx, scene->plan);
    bo_mechanism_scene_free(ctx, scene->mechanism);
    if (scene->kind && scene->kind->destroy)
        scene->kind->destroy(ctx, scene->content);
    bo_free(ctx, scene->path);
    bo_free(ctx, scene);
}

const bough_body *bough_scene_body(const bough_scene *scene) {
    return scene->body;
}

const bough_load_case *bough_scene_load_case(const bough_scene *scene) {
    return scene->load_case;
}
