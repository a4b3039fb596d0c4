#include "scene/component_file.h"

#include "base/eigen3.h"
#include "base/file.h"
#include "base/npy.h"
#include "component/layout.h"
#include "mesh/mesh.h"
#include "scene/entries.h"

#include <string.h>

#define FEWEST_VERTICES 3 /* of an interface: fewer have no rotation */
#define MOST_MODES 4096   /* candidates; a basis of 512 coordinates has no use for more */
#define MOST_WIND 32
#define MOST_CONTACT 500
#define MOST_STRESS 64
#define MOST_STRESS_AT 1000 /* elements named one by one */

static const bough_mesh *mesh_of(const bough_cook_job *job) {
    return job->body ? bough_body_mesh(job->body) : NULL;
}

/* ---- loads ---- */

/* A mass at `centre` with the given inertia about itself becomes its inertia about the interface's centre:
 * I + m (c.c 1 - c c^T), the parallel axis theorem. */
static bough_inertia inertia_about_interface(double mass, const double centre[3], const double own[6]) {
    bo_vec3 c = bo_load3(centre);
    bo_mat3 I = {{own[0], own[5], own[4], own[5], own[1], own[3], own[4], own[3], own[2]}};
    I = bo_mat_add(I, bo_mat_scale(mass * bo_dot(c, c), bo_identity3()));
    I = bo_mat_sub(I, bo_mat_scale(mass, bo_outer(c, c)));
    bough_inertia load = {.mass = mass};
    bo_store3(load.moment, bo_scale(mass, c));
    memcpy(load.inertia, I.m, sizeof load.inertia);
    return load;
}

/* Principal moments of masses are not negative, and none is larger than the two others together. */
static bool is_inertia(const double own[6]) {
    bo_mat3 I = {{own[0], own[5], own[4], own[5], own[1], own[3], own[4], own[3], own[2]}}, V;
    bo_vec3 moments;
    bo_eigen3(I, &moments, &V);
    double slack = 1e-9 * fabs(moments.z);
    return moments.x >= -slack && moments.z <= moments.x + moments.y + slack;
}

static bough_status read_load(bo_json at, bough_interface_def *interface) {
    double mass = 0, centre[3] = {0}, own[6] = {0};
    bo_json inertia = bo_json_at(&at, "inertia");
    interface->has_load = at.value != NULL;
    if (!at.value)
        return BOUGH_OK;
    BO_TRY(bo_json_keys(at, BO_LOAD_KEYS));
    BO_TRY(bo_json_number(bo_json_must(&at, "mass"), BO_POSITIVE, &mass));
    BO_TRY(bo_json_vec3(bo_json_at(&at, "centre"), BO_ANY, centre));
    BO_TRY(bo_json_numbers(inertia, 6, BO_ANY, own));
    if (!is_inertia(own))
        return bo_json_fail(inertia, "is no body's inertia [Ixx, Iyy, Izz, Iyz, Ixz, Ixy]: its principal moments must "
                                     "not be negative, and none larger than the two others together");
    interface->load = inertia_about_interface(mass, centre, own);
    return BOUGH_OK;
}

/* ---- interfaces ---- */

/* Made when the first patch asks for it. */
typedef struct {
    int32_t count, *vertices; /* of the mesh */
} boundary;

static bough_status find_boundary(bough_context *ctx, const bough_mesh *mesh, boundary *found) {
    bough_mesh *surface;
    if (found->vertices)
        return BOUGH_OK;
    BO_TRY(bough_mesh_surface(ctx, mesh, &surface, &found->vertices, NULL));
    found->count = surface->vertex_count;
    bough_mesh_destroy(ctx, surface);
    return BOUGH_OK;
}

/* The distance of the third nearest boundary vertex tells what the radius would have to be. */
static bough_status fail_patch(bo_json at, const bough_mesh *mesh, const boundary *all, bo_vec3 point, double radius,
                               int32_t count) {
    double nearest[FEWEST_VERTICES] = {INFINITY, INFINITY, INFINITY};
    for (int32_t i = 0; i < all->count; i++) {
        double d = bo_norm(bo_sub(bo_load3(mesh->vertices + 3 * (size_t)all->vertices[i]), point));
        for (int k = 0; k < FEWEST_VERTICES; k++)
            if (d < nearest[k]) {
                double farther = nearest[k];
                nearest[k] = d, d = farther;
            }
    }
    return bo_json_fail(at,
                        "%d boundary vert%s within %g m of (%g, %g, %g), but a patch needs %d; the radius would have "
                        "to be at least %.3g m, or the mesh finer there",
                        count, count == 1 ? "ex lies" : "ices lie", radius, point.x, point.y, point.z, FEWEST_VERTICES,
                        nearest[FEWEST_VERTICES - 1]);
}

static bough_status read_patch(bo_json at, const bough_mesh *mesh, boundary *all, int32_t **vertices, int32_t *count) {
    double p[3] = {0}, radius = 0;
    BO_TRY(bo_json_keys(at, BO_PATCH_KEYS));
    BO_TRY(bo_json_vec3(bo_json_must(&at, "patch"), BO_ANY, p));
    BO_TRY(bo_json_number(bo_json_must(&at, "radius"), BO_POSITIVE, &radius));
    if (!mesh)
        return BOUGH_OK;
    bo_vec3 point = bo_load3(p);
    BO_TRY(find_boundary(at.ctx, mesh, all));
    *vertices = BO_NEW_ARRAY(at.ctx, int32_t, all->count);
    if (!*vertices)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < all->count; i++)
        if (bo_norm(bo_sub(bo_load3(mesh->vertices + 3 * (size_t)all->vertices[i]), point)) <= radius)
            (*vertices)[(*count)++] = all->vertices[i];
    *count = bo_sort_unique(*vertices, *count);
    return *count < FEWEST_VERTICES ? fail_patch(at, mesh, all, point, radius, *count) : BOUGH_OK;
}

static bough_status read_selected(bo_json at, const bough_mesh *mesh, int32_t **vertices, int32_t *count) {
    bo_json select = bo_json_must(&at, "select");
    BO_TRY(bo_json_keys(at, BO_INTERFACE_KEYS));
    BO_TRY(bo_scene_select(select, mesh, vertices, count));
    if (mesh && *count < FEWEST_VERTICES)
        return bo_json_fail(select, "contains %d vert%s, but an interface needs at least %d that are not on a line",
                            *count, *count == 1 ? "ex" : "ices", FEWEST_VERTICES);
    return BOUGH_OK;
}

static bough_status read_interface(bo_json at, const bough_mesh *mesh, boundary *all, bough_interface_def *interface) {
    int32_t *vertices = NULL, count = 0;
    if (!at.key[0])
        return bo_json_fail(at, "an interface needs a name");
    if (!bo_name_is_printable(at.key)) /* components are refused with such names, but only when they are cooked */
        return bo_json_fail(at, "the name of an interface must have at most %d bytes and no control characters",
                            BO_MAX_NAME);
    if (bo_json_has(&at, "patch") && bo_json_has(&at, "select"))
        return bo_json_fail(at, "needs either \"select\" or \"patch\"");
    interface->patch = bo_json_has(&at, "patch");
    bough_status status =
        interface->patch ? read_patch(at, mesh, all, &vertices, &count) : read_selected(at, mesh, &vertices, &count);
    interface->vertices = vertices; /* the job's from now on, also when they are too few */
    interface->vertex_count = count;
    return status == BOUGH_OK ? read_load(bo_json_at(&at, "load"), interface) : status;
}

static bough_status name_interfaces(bo_json at, bough_cook_job *job) {
    const char *key;
    json_t *value;
    if (json_object_size(at.value) > BO_MAX_INTERFACES)
        return bo_json_fail(at, "there are %zu interfaces; %d are the most", json_object_size(at.value),
                            BO_MAX_INTERFACES);
    int32_t count = (int32_t)json_object_size(at.value);
    job->interfaces = BO_NEW_ZEROS(at.ctx, bough_interface_def, count);
    if (!job->interfaces)
        return BOUGH_ERROR_MEMORY;
    job->def.interfaces = job->interfaces;
    json_object_foreach(at.value, key, value) {
        bough_interface_def *interface = &job->interfaces[job->def.interface_count];
        if (!(interface->name = bo_strdup(at.ctx, key)))
            return BOUGH_ERROR_MEMORY;
        job->def.interface_count++;
    }
    return BOUGH_OK;
}

static bough_status read_interfaces(bo_json at, bough_cook_job *job) {
    if (at.value && !json_is_object(at.value))
        return bo_json_fail(at, "must be an object of named interfaces");
    if (!job->interfaces)
        BO_TRY(name_interfaces(at, job));
    boundary all = {0};
    bough_status status = BOUGH_OK;
    for (int32_t i = 0; i < job->def.interface_count && status == BOUGH_OK; i++) {
        bough_interface_def *interface = &job->interfaces[i];
        status = read_interface(bo_json_at(&at, interface->name), mesh_of(job), &all, interface);
    }
    bo_free(at.ctx, all.vertices);
    return status;
}

/* ---- the parent ---- */

static bool has_supports(const bo_json *root) {
    bo_json fix = bo_json_at(root, "fix");
    return fix.value && !(json_is_array(fix.value) && json_array_size(fix.value) == 0);
}

static bough_status choose_parent(bo_json at, bough_cook_job *job) {
    int32_t count = job->def.interface_count;
    if (count == 0)
        return bo_json_fail(at, "is the name of an interface, but there are none under \"interfaces\"");
    const char **names = BO_NEW_ARRAY(at.ctx, const char *, count);
    if (!names)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++)
        names[i] = job->interfaces[i].name;
    bough_status status = bo_json_choice(at, names, count, &job->def.parent);
    bo_free(at.ctx, names);
    return status;
}

static bough_status read_parent(const bo_json *root, bough_cook_job *job) {
    bo_json at = bo_json_at(root, "parent"), interfaces = bo_json_at(root, "interfaces");
    job->def.parent = -1;
    if (at.value && has_supports(root))
        return bo_json_fail(at, "the component hangs by this interface, so that \"fix\" cannot hold it too");
    if (at.value)
        BO_TRY(choose_parent(at, job));
    for (int32_t i = 0; !at.value && !has_supports(root) && i < job->def.interface_count; i++)
        if (!strcmp(job->interfaces[i].name, "base"))
            job->def.parent = i;
    if (job->def.parent < 0 || !job->interfaces[job->def.parent].has_load)
        return BOUGH_OK;
    bo_json parent = bo_json_at(&interfaces, job->interfaces[job->def.parent].name);
    return bo_json_fail(bo_json_at(&parent, "load"), "the component hangs by this interface, so that a load here would "
                                                     "not be felt");
}

/* ---- the basis ---- */

static const struct {
    const char *word;
    uint32_t bits;
} kinds[] = {
    {"modes", BOUGH_BASIS_MODES},
    {"mass-loaded", BOUGH_BASIS_LOADED | BOUGH_BASIS_MODES},
    {"derivatives", BOUGH_BASIS_DERIVATIVES},
    {"attachment", BOUGH_BASIS_ATTACHMENT},
    {"craig-bampton", BOUGH_BASIS_CONSTRAINT},
    {"snapshots", BOUGH_BASIS_SNAPSHOTS},
    {"columns", BOUGH_BASIS_COLUMNS},
    {"wrenches", BOUGH_BASIS_WRENCHES},
};
#define KIND_COUNT ((int32_t)(sizeof kinds / sizeof *kinds))

void bo_basis_text(uint32_t basis, char text[BO_BASIS_TEXT_SIZE]) {
    size_t used = 0;
    text[0] = 0;
    for (int32_t i = 0; i < KIND_COUNT; i++) {
        bool implied = kinds[i].bits == BOUGH_BASIS_MODES && (basis & BOUGH_BASIS_LOADED);
        if ((basis & kinds[i].bits) == kinds[i].bits && !implied)
            used += (size_t)snprintf(text + used, BO_BASIS_TEXT_SIZE - used, "%s%s", used ? "+" : "", kinds[i].word);
    }
}

static bough_status add_kind(bo_json at, const char *word, size_t length, uint32_t *basis) {
    const char *words[KIND_COUNT];
    char copy[64];
    for (int32_t i = 0; i < KIND_COUNT; i++) {
        words[i] = kinds[i].word;
        if (strlen(words[i]) == length && !memcmp(words[i], word, length)) {
            *basis |= kinds[i].bits;
            return BOUGH_OK;
        }
    }
    snprintf(copy, sizeof copy, "%.*s", (int)(length < sizeof copy ? length : sizeof copy - 1), word);
    return bo_json_fail_word(at, "", copy, words, KIND_COUNT);
}

/* Words joined by '+'. *basis stays 0 when there are none. */
static bough_status read_kind(bo_json at, uint32_t *basis) {
    const char *text = NULL;
    BO_TRY(bo_json_string(at, &text));
    for (const char *word = text; word;) {
        const char *end = strchrnul(word, '+');
        BO_TRY(add_kind(at, word, (size_t)(end - word), basis));
        word = *end ? end + 1 : NULL;
    }
    return BOUGH_OK;
}

static bough_status check_row(bo_json at, const bough_mesh *mesh, int32_t columns) {
    if (columns == 3 * (int64_t)mesh->vertex_count)
        return BOUGH_OK;
    return bo_json_fail(at, "its rows have %d numbers; they need 3 for each of the %d vertices, %lld", columns,
                        mesh->vertex_count, 3 * (long long)mesh->vertex_count);
}

/* Displacements from a .npy file beside the component file, one in a row. */
static bough_status read_vectors(bo_json at, const bough_mesh *mesh, double **values, int32_t *count) {
    const char *name = NULL;
    int32_t columns;
    BO_TRY(bo_json_string(at, &name));
    if (!name || !mesh)
        return BOUGH_OK;
    char *path = bo_path_beside(at.ctx, at.file, name);
    if (!path)
        return BOUGH_ERROR_MEMORY;
    bough_status status = bo_json_explain(at, bo_npy_read(at.ctx, path, count, &columns, values));
    bo_free(at.ctx, path);
    return status == BOUGH_OK ? check_row(at, mesh, columns) : status;
}

/* A file and the word for it come together; the word may be left to us where there is no kind at all. */
static bough_status match_kind(bo_json basis, const char *key, uint32_t bit, bough_cook_def *def) {
    bo_json kind = bo_json_at(&basis, "kind");
    bool file = bo_json_has(&basis, key), word = (def->basis & bit) != 0;
    if (file && !word && kind.value)
        return bo_json_fail(kind, "leaves out %s, but \"%s\" names a file with them", key, key);
    if (word && !file)
        return bo_json_fail(kind, "has %s, but \"%s\" names no file with them", key, key);
    return BOUGH_OK;
}

static bool has_loads(const bough_cook_job *job) {
    if (job->loads_follow)
        return true;
    for (int32_t i = 0; i < job->def.interface_count; i++)
        if (job->interfaces[i].has_load)
            return true;
    return false;
}

/* Writes out the library's default for basis 0, since given vectors come in addition. */
static void add_given_vectors(const bough_cook_job *job, bo_json at, bough_cook_def *def) {
    uint32_t given = (bo_json_has(&at, "snapshots") ? BOUGH_BASIS_SNAPSHOTS : 0) |
                     (bo_json_has(&at, "columns") ? BOUGH_BASIS_COLUMNS : 0);
    if (given && !def->basis)
        def->basis = given | BOUGH_BASIS_MODES | BOUGH_BASIS_DERIVATIVES | (has_loads(job) ? BOUGH_BASIS_LOADED : 0);
}

static bough_status read_basis(bo_json at, bough_cook_job *job) {
    bough_cook_def *def = &job->def;
    const bough_mesh *mesh = mesh_of(job);
    bo_json kind = bo_json_at(&at, "kind");
    BO_TRY(bo_json_keys(at, BO_BASIS_KEYS));
    BO_TRY(bo_json_integer(bo_json_at(&at, "r"), 0, BOUGH_MAX_COORDINATES, &def->r));
    BO_TRY(bo_json_number(bo_json_at(&at, "tolerance"), (bo_range){0, 1, true}, &def->tolerance));
    BO_TRY(bo_json_integer(bo_json_at(&at, "modes"), 1, MOST_MODES, &def->mode_count));
    BO_TRY(bo_json_flag(bo_json_at(&at, "keep_boundary"), &def->keep_boundary));
    BO_TRY(read_kind(kind, &def->basis));
    BO_TRY(match_kind(at, "snapshots", BOUGH_BASIS_SNAPSHOTS, def));
    BO_TRY(match_kind(at, "columns", BOUGH_BASIS_COLUMNS, def));
    add_given_vectors(job, at, def);
    if (mesh && (def->basis & BOUGH_BASIS_LOADED) && !has_loads(job))
        bo_warn(at.ctx, "%s: basis.kind: no interface has a \"load\", so that mass-loaded modes are plain ones",
                job->file);
    BO_TRY(read_vectors(bo_json_at(&at, "snapshots"), mesh, &job->snapshots, &def->snapshot_count));
    BO_TRY(read_vectors(bo_json_at(&at, "columns"), mesh, &job->columns, &def->column_count));
    def->snapshots = job->snapshots;
    def->columns = job->columns;
    return BOUGH_OK;
}

/* ---- the elastic model ---- */

static bough_status read_elastic(bo_json at, bough_cook_def *def) {
    static const char *const words[] = {"linear", "polynomial", "cubature"}; /* as in bough_reduced_elastic */
    int32_t choice = -1, seed = -1;
    bo_json kind = bo_json_at(&at, "kind");
    BO_TRY(bo_json_keys(at, BO_ELASTIC_KEYS));
    BO_TRY(bo_json_choice(kind, words, 3, &choice));
    BO_TRY(bo_json_number(bo_json_at(&at, "tolerance"), (bo_range){0, 1, true}, &def->cubature_tolerance));
    BO_TRY(bo_json_integer(bo_json_at(&at, "points"), 1, 1000000, &def->cubature_most));
    BO_TRY(bo_json_integer(bo_json_at(&at, "training"), 1, 100000, &def->training_count));
    BO_TRY(bo_json_number(bo_json_at(&at, "amplitude"), (bo_range){0, 10, true}, &def->pose_amplitude));
    BO_TRY(bo_json_integer(bo_json_at(&at, "seed"), 0, INT32_MAX, &seed));
    if (choice >= 0)
        def->elastic = BOUGH_REDUCED_LINEAR + choice;
    if (seed >= 0)
        def->seed = (uint64_t)seed;
    if (def->elastic == BOUGH_REDUCED_POLYNOMIAL && def->r > BOUGH_MAX_POLYNOMIAL_COORDINATES)
        return bo_json_fail(kind, "a polynomial has at most %d coordinates, but basis.r is %d; take cubature",
                            BOUGH_MAX_POLYNOMIAL_COORDINATES, def->r);
    return BOUGH_OK;
}

/* ---- samples ---- */

static bo_vec3 middle_of(const bough_mesh *mesh, int32_t element) {
    const int32_t *nodes = bo_mesh_nodes(mesh, element), corners = bough_element_corner_count(mesh->type);
    bo_vec3 sum = {0, 0, 0};
    for (int32_t i = 0; i < corners; i++)
        sum = bo_add(sum, bo_load3(mesh->vertices + 3 * (size_t)nodes[i]));
    return bo_scale(1.0 / corners, sum);
}

/* For each marked vertex (best[v] = -1; others are -2) the element with it whose middle is nearest. */
static void find_nearest_elements(const bough_mesh *mesh, int32_t *best, double *distance) {
    int32_t node_count = bough_element_node_count(mesh->type);
    for (int32_t e = 0; e < mesh->element_count; e++)
        for (int32_t i = 0; i < node_count; i++) {
            int32_t v = bo_mesh_nodes(mesh, e)[i];
            if (best[v] == -2)
                continue;
            double d = bo_norm(bo_sub(middle_of(mesh, e), bo_load3(mesh->vertices + 3 * (size_t)v)));
            if (best[v] == -1 || d < distance[v])
                best[v] = e, distance[v] = d;
        }
}

static bough_status add_stress_elements(bo_json at, const bough_mesh *mesh, const int32_t *vertices, int32_t count,
                                        bough_cook_job *job) {
    int32_t *best = BO_NEW_ARRAY(at.ctx, int32_t, mesh->vertex_count), *total = &job->def.stress_element_count;
    double *distance = BO_NEW_ARRAY(at.ctx, double, mesh->vertex_count);
    bough_status status = best && distance ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t v = 0; v < mesh->vertex_count && status == BOUGH_OK; v++)
        best[v] = -2;
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++)
        best[vertices[i]] = -1;
    if (status == BOUGH_OK)
        find_nearest_elements(mesh, best, distance);
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++) {
        if (best[vertices[i]] < 0)
            continue; /* in no element */
        if (*total == MOST_STRESS_AT)
            status = bo_json_fail(at, "names more than %d elements; select fewer vertices", MOST_STRESS_AT);
        else
            job->stress_elements[(*total)++] = best[vertices[i]];
    }
    *total = status == BOUGH_OK ? bo_sort_unique(job->stress_elements, *total) : 0;
    bo_free(at.ctx, best);
    bo_free(at.ctx, distance);
    return status;
}

static bough_status read_stress_at(bo_json at, bough_cook_job *job) {
    const bough_mesh *mesh = mesh_of(job);
    int32_t entries;
    BO_TRY(bo_json_list(at, &entries));
    if (mesh && entries && !(job->stress_elements = BO_NEW_ARRAY(at.ctx, int32_t, MOST_STRESS_AT)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < entries; i++) {
        int32_t *vertices, count;
        bo_json item = bo_json_item(&at, i);
        BO_TRY(bo_scene_select(item, mesh, &vertices, &count));
        if (!mesh)
            continue;
        bough_status status = add_stress_elements(item, mesh, vertices, count, job);
        bo_free(at.ctx, vertices);
        BO_TRY(status);
    }
    job->def.stress_elements = job->stress_elements;
    return BOUGH_OK;
}

static bough_status read_samples(bo_json at, bough_cook_job *job) {
    bough_cook_def *def = &job->def;
    bo_json stress_at = bo_json_at(&at, "stress_at");
    BO_TRY(bo_json_keys(at, BO_SAMPLES_KEYS));
    BO_TRY(bo_json_integer(bo_json_at(&at, "wind"), 0, MOST_WIND, &def->wind_count));
    BO_TRY(bo_json_integer(bo_json_at(&at, "contact"), 0, MOST_CONTACT, &def->contact_count));
    BO_TRY(bo_json_integer(bo_json_at(&at, "stress"), 0, MOST_STRESS, &def->stress_count));
    BO_TRY(bo_json_integer(bo_json_at(&at, "field"), 0, BOUGH_MAX_FIELD_POINTS, &def->field_count));
    return read_stress_at(stress_at, job);
}

/* ---- the surface ---- */

bough_status bo_surface_read(bo_json at, bool *int16, bough_mesh **surface) {
    bo_json file = bo_json_at(&at, "file");
    BO_TRY(bo_json_keys(at, BO_SURFACE_KEYS));
    BO_TRY(bo_json_flag(bo_json_at(&at, "int16"), int16));
    /* A surface to look at may have slivers. */
    if (file.value || bo_json_has(&at, "scale") || bo_json_has(&at, "up") || bo_json_has(&at, "rotate_deg"))
        BO_TRY(bo_scene_mesh_transformed(at, "file", BOUGH_VOLUME_ACCEPT, surface));
    if (surface && *surface && (*surface)->type != BOUGH_TRI3)
        return bo_json_fail(file, "must be a triangle surface, but has %s elements",
                            bough_element_name((*surface)->type));
    return BOUGH_OK;
}

static bough_status read_surface(bo_json at, bough_cook_job *job) {
    BO_TRY(bo_surface_read(at, &job->def.surface_int16, job->body ? &job->surface : NULL));
    job->def.surface = job->surface;
    return BOUGH_OK;
}

bough_status bo_cook_settings(const bo_json *block, bough_cook_job *job) {
    BO_TRY(read_basis(bo_json_at(block, "basis"), job));
    BO_TRY(read_elastic(bo_json_at(block, "elastic"), &job->def));
    BO_TRY(read_samples(bo_json_at(block, "samples"), job));
    BO_TRY(bo_json_flag(bo_json_at(block, "wire"), &job->def.wire));
    return bo_json_flag(bo_json_at(block, "keep_volume"), &job->def.keep_volume);
}

bough_status bo_component_settings(const bo_json *root, bough_cook_job *job) {
    BO_TRY(read_interfaces(bo_json_at(root, "interfaces"), job));
    BO_TRY(read_parent(root, job));
    BO_TRY(bo_cook_settings(root, job));
    return read_surface(bo_json_at(root, "surface"), job);
}
