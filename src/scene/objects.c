/* "objects" and "place": trees that stand in a scene several times, over components that are there once. */
#include "scene/scene.h"

#include "base/file.h"
#include "scene/entries.h"

#include <string.h>

#define PART_LIMIT 2000000 /* of a scene; each takes some kilobytes when it runs */

/* Parts that are placed together: part_count from first_part on, in the assembly of models. */
typedef struct {
    const char *name;
    int32_t first_part, part_count;
    int32_t first_tie, tie_count;
} group;

typedef struct {
    int32_t object;
    const char *name;
    double position[3]; /* of the first copy */
    bo_vec3 step[3];    /* from copy to copy, in each direction of the grid */
    bo_mat3 rotation;
    double scale;
    int32_t copies[3];
    bool absent;
} placement;

typedef struct {
    bo_assembly models; /* the scene's own parts, then those of each object once; and all components */
    int32_t own_parts, shared_components;
    int32_t group_count, place_count;
    group *groups;
    placement *places;
} stage;

/* ---- joining assemblies ---- */

char *bo_copy_name(bough_context *ctx, const char *group_name, const char *name) {
    const size_t size = strlen(group_name) + strlen(name) + 2;
    char *both = BO_NEW_ARRAY(ctx, char, size);
    if (both)
        snprintf(both, size, "%s/%s", group_name, name);
    return both;
}

/* Components move over, under the name of their object. */
static bough_status take_components(bough_context *ctx, bo_assembly *to, const char *object, bo_assembly *from) {
    bo_scene_component *all =
        bo_realloc(ctx, to->components, (size_t)to->component_count + (size_t)from->component_count, sizeof *all);
    if (!all)
        return BOUGH_ERROR_MEMORY;
    to->components = all;
    for (int32_t c = 0; c < from->component_count; c++) {
        bo_scene_component *component = &from->components[c];
        char *name = bo_copy_name(ctx, object, component->name);
        if (!name)
            return BOUGH_ERROR_MEMORY;
        all[to->component_count++] = (bo_scene_component){name, component->job, component->rigid};
        component->job = NULL;
        component->rigid = NULL;
    }
    return BOUGH_OK;
}

/* Parts move over; their components are `offset` further on. */
static bough_status take_parts(bough_context *ctx, bo_assembly *to, int32_t offset, bo_assembly *from) {
    const int32_t before = to->part_count;
    if (from->part_count > PART_LIMIT - before)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the scene has more than %d parts", PART_LIMIT);
    bo_part *all = bo_realloc(ctx, to->parts, (size_t)(before + from->part_count), sizeof *all);
    if (!all)
        return BOUGH_ERROR_MEMORY;
    to->parts = all;
    for (int32_t p = 0; p < from->part_count; p++) {
        bo_part *part = &all[to->part_count++];
        *part = from->parts[p];
        part->component += offset;
        part->parent += part->parent >= 0 ? before : 0;
        from->parts[p] = (bo_part){0}; /* name, track and joint are the other's */
    }
    return BOUGH_OK;
}

/* ---- one object ---- */

/* Another scene's components, parts and paint; the rest of it is not looked at. */
static bough_status read_scene(const bo_json *root, bo_assembly *assembly) {
    BO_TRY(bo_json_keys(*root, BO_ASSEMBLY_KEYS));
    BO_TRY(bo_scene_version(*root));
    if (bo_json_has(root, "objects"))
        return bo_json_fail(bo_json_at(root, "objects"), "a scene of objects cannot be an object itself");
    BO_TRY(bo_json_has(root, "object") ? bo_assembly_of_object(bo_json_at(root, "object"), assembly)
                                       : bo_assembly_of_parts(root, assembly));
    BO_TRY(bo_ties_read(bo_json_at(root, "ties"), assembly));
    return bo_paint_read(bo_json_at(root, "paint"), assembly, NULL);
}

static bough_status load_scene(bo_json at, uint64_t *files, bo_assembly *assembly) {
    const char *name = NULL;
    BO_TRY(bo_json_string(at, &name));
    char *path = bo_path_beside(at.ctx, at.file, name);
    if (!path)
        return BOUGH_ERROR_MEMORY;
    bo_json root;
    bough_status status = bo_json_load(at.ctx, path, &root);
    if (status == BOUGH_OK) {
        *files = bo_hash_bytes(*files ? *files : BO_HASH_START, root.text, strlen(root.text));
        status = read_scene(&root, assembly);
        bo_json_free(&root);
    }
    bo_free(at.ctx, path);
    return bo_json_explain(at, status);
}

/* Parts of the scene's own components. */
static bough_status read_shared(const bo_json *at, const stage *s, bo_assembly *assembly) {
    bo_json parts = bo_json_at(at, "parts");
    if (s->shared_components == 0)
        return bo_json_fail(*at, "\"components\" is missing, here and in the scene");
    assembly->components = s->models.components; /* lent */
    assembly->component_count = s->shared_components;
    bough_status status = bo_parts_read(parts, assembly);
    if (status == BOUGH_OK)
        status = bo_parts_attach(parts, assembly);
    if (status == BOUGH_OK)
        status = bo_ties_read(bo_json_at(at, "ties"), assembly);
    assembly->components = NULL;
    assembly->component_count = 0;
    return status;
}

static bough_status read_object(bo_json at, stage *s, bo_assembly *assembly) {
    if (bo_json_has(&at, "scene")) {
        BO_TRY(bo_json_keys(at, BO_SCENE_OBJECT_KEYS));
        return load_scene(bo_json_at(&at, "scene"), &s->models.files, assembly);
    }
    if (bo_json_has(&at, "parts") || bo_json_has(&at, "components")) {
        BO_TRY(bo_json_keys(at, BO_GROUP_KEYS));
        if (!bo_json_has(&at, "components"))
            return read_shared(&at, s, assembly);
        BO_TRY(bo_assembly_of_parts(&at, assembly));
        return bo_ties_read(bo_json_at(&at, "ties"), assembly);
    }
    if (!bo_json_has(&at, "mesh"))
        return bo_json_fail(at, "needs a \"mesh\" that is cut into domains, \"parts\", or a \"scene\"");
    return bo_assembly_of_object(at, assembly);
}

static bough_status add_object(bo_json at, stage *s) {
    bo_assembly assembly = {0};
    bo_assembly *models = &s->models;
    const bool shares = bo_json_has(&at, "parts") && !bo_json_has(&at, "components");
    const int32_t offset = shares ? 0 : models->component_count;
    bough_status status = read_object(at, s, &assembly);
    if (status == BOUGH_OK && assembly.part_count == 0)
        status = bo_json_fail(at, "has no parts");
    if (status == BOUGH_OK) {
        s->groups[s->group_count++] =
            (group){at.key, models->part_count, assembly.part_count, models->tie_count, assembly.tie_count};
        status = take_components(at.ctx, models, at.key, &assembly);
    }
    if (status == BOUGH_OK)
        status = bo_json_explain(at, take_parts(at.ctx, models, offset, &assembly));
    if (status == BOUGH_OK)
        status = bo_json_explain(at, bo_ties_copy(at.ctx, assembly.ties, assembly.tie_count,
                                                  models->part_count - assembly.part_count, 1, NULL, models));
    bo_assembly_free(at.ctx, &assembly);
    return status;
}

static bough_status check_objects(bo_json at) {
    const char *key;
    json_t *value;
    if (!json_is_object(at.value) || json_object_size(at.value) == 0)
        return bo_json_fail(at, "must be an object of named objects");
    json_object_foreach(at.value, key, value) {
        bo_json item = bo_json_at(&at, key);
        if (!key[0] || strchr(key, '/'))
            return bo_json_fail(item, "an object needs a name, without \"/\", which stands before the names of its "
                                      "parts");
        if (!json_is_object(value))
            return bo_json_fail(item, "must be an object");
    }
    return BOUGH_OK;
}

static bough_status add_objects(bo_json at, stage *s) {
    const char *key;
    json_t *value;
    s->groups = BO_NEW_ZEROS(at.ctx, group, json_object_size(at.value));
    if (!s->groups)
        return BOUGH_ERROR_MEMORY;
    json_object_foreach(at.value, key, value) {
        BO_TRY(add_object(bo_json_at(&at, key), s));
    }
    return BOUGH_OK;
}

/* ---- where they stand ---- */

static bough_status choose_object(bo_json at, bo_json objects, int32_t *object) {
    const char **names = BO_NEW_ARRAY(at.ctx, const char *, json_object_size(objects.value)), *key;
    json_t *value;
    int32_t count = 0;
    if (!names)
        return BOUGH_ERROR_MEMORY;
    json_object_foreach(objects.value, key, value) {
        names[count++] = key;
    }
    bough_status status = bo_json_choice(at, names, count, object);
    bo_free(at.ctx, names);
    return status;
}

static double copies_of(const placement *p) {
    return (double)p->copies[0] * p->copies[1] * p->copies[2];
}

/* A number of them in a row along the spacing, or a grid of them along the axes. */
static bough_status read_copies(bo_json at, bo_json spacing, placement *p) {
    const bool row = json_is_number(at.value);
    double apart[3] = {0};
    BO_TRY(row ? bo_json_integer(at, 1, PART_LIMIT, &p->copies[0]) : bo_json_integers(at, 3, 1, PART_LIMIT, p->copies));
    BO_TRY(bo_json_vec3(spacing, BO_ANY, apart));
    for (int d = 0; d < 3; d++)
        p->step[d] = bo_v3(d == 0 ? apart[0] : 0, d == 1 ? apart[1] : 0, d == 2 ? apart[2] : 0);
    if (row)
        p->step[0] = bo_load3(apart);
    if (copies_of(p) > PART_LIMIT)
        return bo_json_fail(at, "%.0f copies are more than the %d parts that a scene can have", copies_of(p),
                            PART_LIMIT);
    for (int d = 0; d < 3; d++)
        if (p->copies[d] > 1 && bo_norm(p->step[d]) == 0)
            return bo_json_fail(at, "the copies would stand in one place; say by \"spacing\" how far they are apart");
    return BOUGH_OK;
}

static bough_status read_place(bo_json at, bo_json objects, placement *p) {
    double degrees[3] = {0};
    *p = (placement){.object = -1, .scale = 1, .copies = {1, 1, 1}};
    BO_TRY(bo_json_keys(at, BO_PLACE_KEYS));
    BO_TRY(choose_object(bo_json_must(&at, "object"), objects, &p->object));
    p->name = json_string_value(bo_json_at(&at, "object").value);
    BO_TRY(bo_json_string(bo_json_at(&at, "name"), &p->name));
    if (strchr(p->name, '/'))
        return bo_json_fail(bo_json_at(&at, "name"), "must not contain \"/\", which stands before the names of parts");
    BO_TRY(bo_json_vec3(bo_json_at(&at, "position"), BO_ANY, p->position));
    BO_TRY(bo_json_vec3(bo_json_at(&at, "rotate_deg"), BO_ANY, degrees));
    BO_TRY(bo_json_number(bo_json_at(&at, "scale"), (bo_range){1e-6, 1e6, false}, &p->scale));
    BO_TRY(bo_json_flag(bo_json_at(&at, "absent"), &p->absent));
    p->rotation = bo_turn_degrees(degrees);
    return read_copies(bo_json_at(&at, "copies"), bo_json_at(&at, "spacing"), p);
}

/* Without "place" each object stands where it was made. */
static bough_status place_each(bo_json objects, stage *s) {
    const char *key;
    json_t *value;
    json_object_foreach(objects.value, key, value) {
        s->places[s->place_count] = (placement){.object = s->place_count, .name = key, .scale = 1, .copies = {1, 1, 1}};
        s->places[s->place_count++].rotation = bo_identity3();
    }
    return BOUGH_OK;
}

static bough_status read_places(bo_json at, bo_json objects, stage *s) {
    int32_t count;
    BO_TRY(bo_json_list(at, &count));
    s->places = BO_NEW_ZEROS(at.ctx, placement, at.value ? (size_t)count : json_object_size(objects.value));
    if (!s->places)
        return BOUGH_ERROR_MEMORY;
    if (!at.value)
        return place_each(objects, s);
    for (int32_t i = 0; i < count; i++)
        BO_TRY(read_place(bo_json_item(&at, i), objects, &s->places[s->place_count++]));
    return BOUGH_OK;
}

/* Before any of them is made. */
static bough_status count_parts(bo_json at, const stage *s, int32_t *total) {
    double count = s->own_parts, ties = 0;
    for (int32_t i = 0; i < s->place_count; i++) {
        count += copies_of(&s->places[i]) * s->groups[s->places[i].object].part_count;
        ties += copies_of(&s->places[i]) * s->groups[s->places[i].object].tie_count;
    }
    if (ties > BO_MOST_TIES)
        return bo_json_fail(at, "the copies would have %.0f ties; %d is the limit of a scene", ties, BO_MOST_TIES);
    if (count > PART_LIMIT)
        return bo_json_fail(at, "the scene would have %.0f parts; %d is the limit", count, PART_LIMIT);
    *total = (int32_t)count;
    return BOUGH_OK;
}

/* ---- the copies ---- */

/* {NAME: copies of it}; then {NAME of a copy: true}. */
typedef struct {
    json_t *uses, *numbers, *taken;
} register_of_names;

static bough_status count_name(bough_context *ctx, json_t *counts, const char *name, double more, json_int_t *count) {
    *count = json_integer_value(json_object_get(counts, name)) + (json_int_t)more;
    return json_object_set_new(counts, name, json_integer(*count)) ? bo_fail_memory(ctx) : BOUGH_OK;
}

/* A name that is used once stays; others get numbers from 1, in the order of the file. */
static bough_status name_copy(bo_json at, register_of_names *names, const char *name, char **out) {
    json_int_t number = 0;
    const size_t size = strlen(name) + 24;
    BO_TRY(count_name(at.ctx, names->numbers, name, 1, &number));
    if (!(*out = BO_NEW_ARRAY(at.ctx, char, size)))
        return BOUGH_ERROR_MEMORY;
    if (json_integer_value(json_object_get(names->uses, name)) == 1)
        snprintf(*out, size, "%s", name);
    else
        snprintf(*out, size, "%s%lld", name, (long long)number);
    if (json_object_get(names->taken, *out))
        return bo_json_fail(at, "\"%.60s\" is the name of another copy already; give one of them a \"name\"", *out);
    return json_object_set_new(names->taken, *out, json_true()) ? bo_fail_memory(at.ctx) : BOUGH_OK;
}

static void move_point(const placement *p, bo_vec3 origin, const double from[3], double to[3]) {
    bo_store3(to, bo_mul_add(origin, p->scale, bo_mat_vec(p->rotation, bo_load3(from))));
}

static bough_status move_track(bough_context *ctx, const placement *p, bo_vec3 origin, bough_track *track) {
    const size_t keys = (size_t)track->count;
    double *time = BO_NEW_ARRAY(ctx, double, 8 * keys);
    if (!time)
        return BOUGH_ERROR_MEMORY;
    double *position = time + keys, *rotation = position + 3 * keys;
    memcpy(time, track->time, 8 * keys * sizeof *time); /* all three are one block */
    const bo_quat turn = bo_quat_from_matrix(p->rotation);
    for (size_t k = 0; k < keys; k++) {
        double *q = rotation + 4 * k;
        const bo_quat both = bo_quat_mul(turn, (bo_quat){q[0], q[1], q[2], q[3]});
        q[0] = both.w, q[1] = both.x, q[2] = both.y, q[3] = both.z;
        move_point(p, origin, track->position + 3 * k, position + 3 * k);
    }
    *track = (bough_track){track->count, time, position, rotation};
    return BOUGH_OK;
}

/* Springs are of the same material; damping keeps its ratios. */
static bough_status copy_joint(bough_context *ctx, double scale, const bough_joint_def *from, bough_joint_def **to) {
    bough_joint_def *joint = from ? BO_NEW(ctx, bough_joint_def) : NULL;
    *to = joint;
    if (!joint)
        return from ? BOUGH_ERROR_MEMORY : BOUGH_OK;
    *joint = *from;
    for (int k = 0; k < BOUGH_MOST_FREEDOMS; k++)
        joint->stiffness[k] *= pow(scale, 3), joint->damping[k] *= pow(scale, 4);
    return BOUGH_OK;
}

/* Everything grows with the scale; roots stand where the placement says. */
static bough_status copy_part(bough_context *ctx, const placement *p, bo_vec3 origin, const char *copy,
                              const bo_part *model, bo_part *part) {
    const bough_track track = model->track;
    *part = *model;
    part->track = (bough_track){0};
    part->joint = NULL;
    part->scale *= p->scale;
    for (int d = 0; d < 3; d++)
        part->offset[d] *= p->scale;
    part->damping_mass /= p->scale; /* frequencies go with 1 / scale, and ratios stay */
    part->damping_stiffness *= p->scale;
    if (!(part->name = bo_copy_name(ctx, copy, model->name)))
        return BOUGH_ERROR_MEMORY;
    BO_TRY(copy_joint(ctx, p->scale, model->joint, &part->joint));
    if (part->parent >= 0)
        return BOUGH_OK;
    part->absent = part->absent || p->absent;
    part->rotation = bo_mat_mul(p->rotation, model->rotation);
    move_point(p, origin, model->position, part->position);
    bo_store3(part->velocity, bo_scale(p->scale, bo_mat_vec(p->rotation, bo_load3(model->velocity)))); /* as tracks */
    bo_store3(part->angular_velocity, bo_mat_vec(p->rotation, bo_load3(model->angular_velocity)));
    if (track.count == 0)
        return BOUGH_OK;
    part->track = track;
    bough_status status = move_track(ctx, p, origin, &part->track);
    if (status != BOUGH_OK)
        part->track = (bough_track){0};
    return status;
}

static bough_status add_copy(bo_json at, const stage *s, const placement *p, const int32_t cell[3],
                             register_of_names *names, bo_assembly *assembly) {
    const group *g = &s->groups[p->object];
    const int32_t first = assembly->part_count;
    bo_vec3 origin = bo_load3(p->position);
    char *name = NULL;
    for (int d = 0; d < 3; d++)
        origin = bo_mul_add(origin, cell[d], p->step[d]);
    bough_status status = name_copy(at, names, p->name, &name);
    for (int32_t k = 0; k < g->part_count && status == BOUGH_OK; k++) {
        bo_part *part = &assembly->parts[assembly->part_count++];
        status = copy_part(at.ctx, p, origin, name, &s->models.parts[g->first_part + k], part);
        part->parent += part->parent >= 0 ? first - g->first_part : 0;
    }
    if (status == BOUGH_OK && g->tie_count > 0)
        status = bo_ties_copy(at.ctx, s->models.ties + g->first_tie, g->tie_count, first - g->first_part, p->scale,
                              name, assembly);
    bo_free(at.ctx, name);
    return status;
}

static bough_status add_copies(bo_json at, const stage *s, register_of_names *names, bo_assembly *assembly) {
    if (!names->uses || !names->numbers || !names->taken)
        return bo_fail_memory(at.ctx);
    for (int32_t i = 0; i < s->place_count; i++) {
        json_int_t ignored;
        BO_TRY(count_name(at.ctx, names->uses, s->places[i].name, copies_of(&s->places[i]), &ignored));
    }
    for (int32_t i = 0; i < s->place_count; i++) {
        const placement *p = &s->places[i];
        int32_t cell[3];
        for (cell[2] = 0; cell[2] < p->copies[2]; cell[2]++)
            for (cell[1] = 0; cell[1] < p->copies[1]; cell[1]++)
                for (cell[0] = 0; cell[0] < p->copies[0]; cell[0]++)
                    BO_TRY(add_copy(bo_json_item(&at, i), s, p, cell, names, assembly));
    }
    return BOUGH_OK;
}

/* ---- all ---- */

/* The scene's own parts and components, which objects may use. */
static bough_status read_own(const bo_json *root, stage *s) {
    if (bo_json_has(root, "components"))
        BO_TRY(bo_assembly_of_parts(root, &s->models));
    else if (bo_json_has(root, "parts"))
        return bo_json_fail(*root, "\"components\" is missing");
    for (int32_t p = 0; p < s->models.part_count; p++)
        if (strchr(s->models.parts[p].name, '/'))
            return bo_json_fail(bo_json_at(root, "parts"),
                                "\"%.60s\" has a \"/\" in its name, as parts of objects have in this scene; give it "
                                "another",
                                s->models.parts[p].name);
    s->own_parts = s->models.part_count;
    s->shared_components = s->models.component_count;
    return BOUGH_OK;
}

static void warn_about_unused(const bo_json *root, const stage *s) {
    for (int32_t g = 0; g < s->group_count; g++) {
        bool used = false;
        for (int32_t i = 0; i < s->place_count; i++)
            used = used || s->places[i].object == g;
        if (!used)
            bo_warn(root->ctx, "%s: the object \"%s\" stands nowhere: it is not under \"place\"", root->file,
                    s->groups[g].name);
    }
}

/* Reports mistakes in the lists before meshes are made, and numbers that are too large before anything is. Loads belong
 * to the models, so that components stay as they are when copies come or go. */
static bough_status set_the_stage(const bo_json *root, stage *s, int32_t *total) {
    bo_json objects = bo_json_at(root, "objects"), place = bo_json_at(root, "place");
    BO_TRY(check_objects(objects));
    BO_TRY(read_places(place, objects, s));
    BO_TRY(read_own(root, s));
    BO_TRY(add_objects(objects, s));
    warn_about_unused(root, s);
    BO_TRY(count_parts(place.value ? place : objects, s, total));
    return bo_assembly_hang(root->ctx, &s->models);
}

/* Own parts and components move over; the models of the others stay behind. */
static bough_status make_assembly(const bo_json *root, stage *s, int32_t total, bo_assembly *assembly) {
    bough_context *ctx = root->ctx;
    register_of_names names = {json_object(), json_object(), json_object()};
    assembly->parts = BO_NEW_ZEROS(ctx, bo_part, total);
    bough_status status = assembly->parts ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t p = 0; p < s->own_parts && status == BOUGH_OK; p++) {
        assembly->parts[assembly->part_count++] = s->models.parts[p];
        s->models.parts[p] = (bo_part){0};
    }
    if (status == BOUGH_OK)
        status = add_copies(bo_json_at(root, "place"), s, &names, assembly);
    assembly->components = s->models.components;
    assembly->component_count = s->models.component_count;
    assembly->files = s->models.files;
    s->models.components = NULL;
    s->models.component_count = 0;
    json_decref(names.uses);
    json_decref(names.numbers);
    json_decref(names.taken);
    return status;
}

bough_status bo_objects_read(const bo_json *root, bo_assembly *assembly) {
    stage s = {0};
    int32_t total = 0;
    bough_status status = set_the_stage(root, &s, &total);
    if (status == BOUGH_OK)
        status = make_assembly(root, &s, total, assembly);
    bo_assembly_free(root->ctx, &s.models);
    bo_free(root->ctx, s.groups);
    bo_free(root->ctx, s.places);
    return status;
}
