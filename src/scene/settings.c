/* The settings of a scene of parts for running it. */
#include "scene/scene.h"

#include "fem/engine.h"
#include "scene/entries.h"

#include <string.h>

bough_scene bo_scene_defaults(void) {
    bough_scene scene = {.integrator = bough_default_integrator_def(),
                         .dt = 0.01,
                         .energy_tolerance = 0.05,
                         .tree = {.wind_curve = -1, .remove_below = -INFINITY},
                         .model = bough_default_tree_model_def()};
    return scene;
}

/* ---- engine, time, wind ---- */

static bough_status read_engine(bo_json at, const bo_json *root, bough_scene *scene) {
    int32_t coupling = (int32_t)scene->model.coupling;
    bo_json named = bo_json_at(&at, "kind");
    BO_TRY(bo_json_keys(at, BO_TREE_ENGINE_KEYS));
    BO_TRY(bo_scene_read_engine(named, scene));
    BO_TRY(bo_json_choice(bo_json_at(&at, "coupling"), bo_coupling_names, 4, &coupling));
    BO_TRY(bo_json_integer(bo_json_at(&at, "passes"), 1, 2, &scene->model.passes));
    if (scene->engine->kind == &bo_body_engine && !bo_json_has(root, "object"))
        return bo_json_fail(named, "the full engine steps the mesh of an \"object\" as a whole, and these parts come "
                                   "from meshes of their own; use \"tree\"");
    scene->model.coupling = (bough_coupling)coupling;
    return BOUGH_OK;
}

static bough_status read_time(bo_json at, bough_scene *scene) {
    scene->names_integrator = bo_json_has(&at, "integrator");
    BO_TRY(bo_scene_time(at, scene));
    scene->model.alpha = bo_tree_alpha(&scene->integrator);
    return BOUGH_OK;
}

bough_status bo_scene_wind(bo_json at, bough_wind *wind) {
    int32_t seed = (int32_t)wind->seed;
    BO_TRY(bo_json_vec3(bo_json_at(&at, "velocity"), BO_ANY, wind->velocity));
    BO_TRY(bo_json_number(bo_json_at(&at, "gust"), BO_NOT_NEGATIVE, &wind->gust));
    BO_TRY(bo_json_number(bo_json_at(&at, "length"), BO_POSITIVE, &wind->length));
    BO_TRY(bo_json_number(bo_json_at(&at, "density"), BO_NOT_NEGATIVE, &wind->density));
    BO_TRY(bo_json_number(bo_json_at(&at, "drag"), BO_NOT_NEGATIVE, &wind->drag));
    BO_TRY(bo_json_integer(bo_json_at(&at, "seed"), 0, INT32_MAX, &seed));
    wind->seed = (uint64_t)seed;
    return BOUGH_OK;
}

/* A factor that turns the wind round would be a mistake. */
static bough_status read_moving_wind(bo_json at, bough_scene *scene) {
    bo_json curve = bo_json_at(&at, "curve");
    BO_TRY(bo_json_keys(at, BO_MOVING_WIND_KEYS));
    if (at.value)
        BO_TRY(bo_json_vec3(bo_json_must(&at, "velocity"), BO_ANY, scene->model.wind.velocity));
    BO_TRY(bo_scene_wind(at, &scene->model.wind));
    BO_TRY(bo_scene_choose_curve(curve, &scene->drive, &scene->tree.wind_curve));
    const bo_curve *c = scene->tree.wind_curve < 0 ? NULL : &scene->drive.curves[scene->tree.wind_curve];
    for (int32_t i = 0; c && i < c->count; i++)
        if (c->values[i] < 0)
            return bo_json_fail(curve, "a factor on the wind must not be negative, but the curve is %g at %g s",
                                c->values[i], c->times[i]);
    return BOUGH_OK;
}

bough_status bo_scene_settings(const bo_json *root, bough_scene *scene) {
    const char *ignored;
    BO_TRY(bo_json_keys(*root, BO_ASSEMBLY_KEYS));
    BO_TRY(bo_scene_version(*root));
    BO_TRY(bo_json_string(bo_json_at(root, "$schema"), &ignored));
    BO_TRY(bo_json_string(bo_json_at(root, "name"), &ignored));
    BO_TRY(bo_json_vec3(bo_json_at(root, "gravity"), BO_ANY, scene->gravity));
    BO_TRY(read_engine(bo_json_at(root, "engine"), root, scene));
    BO_TRY(read_time(bo_json_at(root, "time"), scene));
    BO_TRY(bo_scene_curves(bo_json_at(root, "curves"), &scene->drive));
    BO_TRY(read_moving_wind(bo_json_at(root, "wind"), scene));
    return bo_json_flag(bo_json_at(root, "settle"), &scene->settle);
}

/* ---- places on parts ---- */

bough_status bo_choose_part(bo_json at, const bo_assembly *assembly, int32_t *part) {
    return bo_json_choose(at, &assembly->parts->name, sizeof *assembly->parts, assembly->part_count, part);
}

static bough_status find_named_part(const bo_json *at, const bo_assembly *assembly, int32_t *part) {
    bo_json named = bo_json_must(at, "part");
    if (named.value && assembly->part_count == 0)
        return bo_json_fail(named, "the scene has no parts");
    return bo_choose_part(named, assembly, part);
}

/* "part" and "nearest": a point of the part's surface, or the origin of its frame. */
static bough_status read_place(const bo_json *at, const bo_assembly *assembly, int32_t *part, bool *at_surface,
                               double rest[3]) {
    BO_TRY(find_named_part(at, assembly, part));
    *at_surface = bo_json_has(at, "nearest");
    BO_TRY(bo_json_vec3(bo_json_at(at, "nearest"), BO_ANY, rest));
    if (!*at_surface || !assembly->is_object)
        return BOUGH_OK;
    /* both engines take the same vertex, also where several are equally near */
    return bo_part_surface_point(at->ctx, assembly, *part, rest, NULL);
}

/* ---- forces ---- */

static bough_status read_force(bo_json at, const bo_assembly *assembly, bo_tree_force *force) {
    bo_json torque = bo_json_at(&at, "torque"), until = bo_json_at(&at, "until");
    *force = (bo_tree_force){.until = INFINITY};
    BO_TRY(bo_json_keys(at, BO_PART_FORCE_KEYS));
    BO_TRY(read_place(&at, assembly, &force->part, &force->at_surface, force->rest));
    if (!bo_json_has(&at, "force") && !torque.value)
        return bo_json_fail(at, "needs a \"force\" or a \"torque\"");
    if (torque.value && force->at_surface)
        return bo_json_fail(torque, "acts on the frame of a part; leave \"nearest\" out, or give forces at several "
                                    "points instead");
    BO_TRY(bo_json_vec3(bo_json_at(&at, "force"), BO_ANY, force->force));
    BO_TRY(bo_json_vec3(torque, BO_ANY, force->torque));
    BO_TRY(bo_json_number(bo_json_at(&at, "from"), BO_NOT_NEGATIVE, &force->from));
    BO_TRY(bo_json_number(until, BO_POSITIVE, &force->until));
    return force->until > force->from
               ? BOUGH_OK
               : bo_json_fail(until, "must be after \"from\", which is %g, not %g", force->from, force->until);
}

bough_status bo_scene_part_forces(bo_json at, const bo_assembly *assembly, bough_scene *scene) {
    int32_t count;
    BO_TRY(bo_json_list(at, &count));
    scene->tree.forces = BO_NEW_ZEROS(at.ctx, bo_tree_force, count);
    if (!scene->tree.forces)
        return BOUGH_ERROR_MEMORY;
    scene->tree.force_count = count;
    for (int32_t i = 0; i < count; i++)
        BO_TRY(read_force(bo_json_item(&at, i), assembly, &scene->tree.forces[i]));
    return BOUGH_OK;
}

void bo_scene_free_forces(bough_context *ctx, bough_scene *scene) {
    bo_free(ctx, scene->tree.forces);
    scene->tree.forces = NULL;
    scene->tree.force_count = 0;
}

/* ---- probes ---- */

bough_status bo_scene_probe_name(bo_json at, const bough_scene *scene, bo_probe *probe) {
    const char *name = NULL;
    BO_TRY(bo_json_string(at, &name));
    if (strpbrk(name, ",\"\n\r"))
        return bo_json_fail(at, "is a column of a table, so it must not contain commas, quotes or line ends");
    for (const bo_probe *other = scene->probes; other < probe; other++)
        if (other->name && !strcmp(other->name, name))
            return bo_json_fail(at, "\"%.60s\" is the name of another probe already", name);
    bo_free(at.ctx, probe->name);
    probe->name = bo_strdup(at.ctx, name);
    return probe->name ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

bough_status bo_scene_contact_probe(bo_json at, bo_probe *probe) {
    bo_json keys[2] = {bo_json_at(&at, "contact"), bo_json_at(&at, "against")};
    char **names[2] = {&probe->thing, &probe->against};
    BO_TRY(bo_json_keys(at, BO_CONTACT_PROBE_KEYS));
    probe->kind = BO_PROBE_CONTACT;
    for (int i = 0; i < 2; i++) {
        const char *name = NULL;
        if (!keys[i].value)
            continue;
        BO_TRY(bo_json_string(keys[i], &name));
        bo_free(at.ctx, *names[i]); /* probes may be read twice */
        if (!(*names[i] = bo_strdup(at.ctx, name)))
            return BOUGH_ERROR_MEMORY;
    }
    return BOUGH_OK;
}

void bo_probes_free(bough_context *ctx, int32_t count, bo_probe *probes) {
    for (int32_t i = 0; i < count; i++) {
        bo_free(ctx, probes[i].name);
        bo_free(ctx, probes[i].vertices);
        bo_free(ctx, probes[i].weights);
        bo_free(ctx, probes[i].elements);
        bo_free(ctx, probes[i].thing);
        bo_free(ctx, probes[i].against);
    }
    bo_free(ctx, probes);
}

void bo_scene_free_probes(bough_context *ctx, bough_scene *scene) {
    bo_probes_free(ctx, scene->probe_count, scene->probes);
    scene->probes = NULL;
    scene->probe_count = 0;
}

bough_status bo_probe_element(bough_context *ctx, bo_probe *probe, int32_t element) {
    bo_free(ctx, probe->elements);
    probe->elements = BO_NEW_ARRAY(ctx, int32_t, 1);
    if (!probe->elements)
        return BOUGH_ERROR_MEMORY;
    probe->elements[0] = element;
    probe->element_count = 1;
    return BOUGH_OK;
}

/* At a point of an object both engines are to tell of the same element, so that it becomes one of the component's. */
static bough_status read_stress_probe(bo_json at, const bo_assembly *assembly, bo_probe *probe) {
    bo_json most = bo_json_at(&at, "stress");
    int32_t only;
    probe->kind = BO_PROBE_STRESS;
    probe->most = most.value;
    probe->element = -1;
    BO_TRY(bo_json_keys(at, BO_PART_STRESS_PROBE_KEYS));
    if (most.value && bo_json_has(&at, "stress_at"))
        return bo_json_fail(most, "is that of the whole part; leave it or \"stress_at\" out");
    BO_TRY(bo_json_choice(most, (const char *const[]){"max"}, 1, &only));
    BO_TRY(find_named_part(&at, assembly, &probe->part));
    BO_TRY(bo_json_vec3(bo_json_at(&at, "stress_at"), BO_ANY, probe->rest));
    if (probe->most || !assembly->is_object)
        return BOUGH_OK;
    bough_cook_job *job = assembly->components[assembly->parts[probe->part].component].job;
    probe->element = bo_nearest_element(bough_body_mesh(job->body), probe->rest);
    return bo_cook_job_add_stress_element(at.ctx, job, probe->element);
}

static bough_status read_probe(bo_json at, const bo_assembly *assembly, bough_scene *scene, bo_probe *probe) {
    BO_TRY(bo_scene_probe_name(bo_json_must(&at, "name"), scene, probe));
    if (bo_json_has(&at, "stress") || bo_json_has(&at, "stress_at"))
        return read_stress_probe(at, assembly, probe);
    if (bo_json_has(&at, "contact"))
        return bo_scene_contact_probe(at, probe);
    BO_TRY(bo_json_keys(at, BO_PART_PROBE_KEYS));
    return read_place(&at, assembly, &probe->part, &probe->at_surface, probe->rest);
}

bough_status bo_scene_part_probes(bo_json at, const bo_assembly *assembly, bough_scene *scene) {
    int32_t count;
    BO_TRY(bo_json_list(at, &count));
    scene->probes = BO_NEW_ZEROS(at.ctx, bo_probe, count);
    if (!scene->probes)
        return BOUGH_ERROR_MEMORY;
    scene->probe_count = count;
    for (int32_t i = 0; i < count; i++)
        BO_TRY(read_probe(bo_json_item(&at, i), assembly, scene, &scene->probes[i]));
    return BOUGH_OK;
}
