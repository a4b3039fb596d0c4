/* The kind of scenes that are multibody systems: how they are read, drawn and stepped. */
#include "scene/multibody_scene.h"

#include "rig/joint.h"
#include "scene/cook_plan.h"
#include "scene/scene.h"

#include <bough/twin.h>

#include <string.h>

void bo_multibody_scene_free(bough_context *ctx, bo_multibody_scene *m) {
    if (!m)
        return;
    for (int32_t i = 0; i < m->def.body_count; i++) {
        bo_free(ctx, (void *)(uintptr_t)m->bodies[i].name);
        bo_scene_free_shapes(ctx, &m->shapes[i]);
    }
    bo_multibody_free_around(ctx, m);
    bo_multibody_free_retarget(ctx, &m->retarget);
    for (int32_t i = 0; i < m->def.part_count; i++)
        bo_free(ctx, (void *)(uintptr_t)m->parts[i].name);
    for (int32_t i = 0; i < m->def.joint_count; i++)
        bo_free(ctx, (void *)(uintptr_t)m->joints[i].name);
    for (int32_t i = 0; i < m->def.motor_count; i++) {
        bo_free(ctx, (void *)(uintptr_t)m->motors[i].name);
        bo_spline_free(ctx, &m->drives[i]);
    }
    for (int32_t i = 0; i < m->def.gear_count; i++)
        bo_free(ctx, (void *)(uintptr_t)m->gears[i].name);
    void *const blocks[] = {m->bodies, m->shapes, m->parts, m->components, m->rests, m->joints,
                            m->motors, m->drives, m->units, m->gears,      m->loads, m->spots};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
    bo_free(ctx, m);
}

/* ---- looks ---- */

#define STEEL 7800.0 /* kg/m^3: a body without a shape is drawn as a ball of it */

#define LIGHTEST 1e-3 /* kg: of a body without mass, which carries a part, the ball is one of a gram */

static bough_status draw_ball(bough_context *ctx, const bough_rigid_body_def *body, bo_triangles *out) {
    bo_scene_shape ball = {.form = BO_FORM_SPHERE, .def = bough_default_shape_def()};
    memcpy(ball.def.frame.position, body->centre, sizeof body->centre);
    ball.def.radius = cbrt(3 * (body->mass > 0 ? body->mass : LIGHTEST) / (4 * M_PI * STEEL));
    return bo_shape_triangles(ctx, &ball, 0, out);
}

/* Things are bodies, then obstacles. Shapes that only touch are drawn where there are no others. */
static const bo_scene_shapes *shapes_of(const bo_multibody_scene *m, int32_t thing) {
    const int32_t obstacle = thing - m->def.body_count;
    return obstacle >= 0                ? &m->obstacles[obstacle].shapes
           : m->shapes[thing].count > 0 ? &m->shapes[thing]
                                        : &m->touches[thing].shapes;
}

/* Planes reach some way beyond what stands on them. */
static double plane_size(const bo_multibody_scene *m) {
    const int32_t count = m->def.body_count + m->def.part_count;
    double most = 0.25;
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = 0; k < i && k < 100; k++)
            most = fmax(most, bo_norm(bo_sub(m->rests[i].t, m->rests[k].t)));
    return 8 * most;
}

static bough_status draw_thing(bough_context *ctx, const bo_multibody_scene *m, int32_t i, double plane,
                               bough_look *look) {
    static const double plain[3] = {0.36, 0.5, 0.66};
    const bo_scene_shapes *shapes = shapes_of(m, i);
    bo_triangles triangles = {0};
    const bough_status status = shapes->count > 0
                                    ? bo_shapes_triangles(ctx, shapes, bo_se3_identity(), plane, &triangles)
                                    : draw_ball(ctx, &m->bodies[i], &triangles);
    bo_triangles_show(ctx, &triangles, shapes->count > 0 ? shapes->shapes[0].colour : plain, look);
    return status;
}

bough_status bo_multibody_draw(bough_context *ctx, const void *data, bough_look *looks) {
    const bo_multibody_scene *m = data;
    const double plane = plane_size(m);
    for (int32_t i = 0; i < m->def.body_count + m->obstacle_count; i++)
        BO_TRY(draw_thing(ctx, m, i, plane, &looks[i])); /* the arrays are the engine's, also when it fails */
    return BOUGH_OK;
}

/* ---- places ---- */

/* The file is read again: places are looked up in its text, which a scene does not keep. */
void bo_multibody_point_at(bough_context *ctx, const void *data, int32_t joint) {
    const bo_multibody_scene *m = data;
    char sentence[1000];
    bo_json root;
    snprintf(sentence, sizeof sentence, "%s", bough_message(ctx));
    const bool read = bo_json_load(ctx, m->plan.path, &root) == BOUGH_OK;
    bo_fail(ctx, BOUGH_NO_CONVERGENCE, "%s", sentence);
    if (!read) {
        bo_prefix_message(ctx, "%s: ", m->plan.path);
        return;
    }
    const bo_json joints = bo_json_at(&root, "joints");
    bo_json_explain(bo_json_item(&joints, joint), BOUGH_NO_CONVERGENCE);
    bo_json_free(&root);
}

/* ---- the engine ---- */

static bough_status create_cooked(bough_context *ctx, const bough_scene *scene, const bo_multibody_plan *plan,
                                  const bo_engine_kind *kind, const bo_engine_settings *settings, bo_engine *engine) {
    const int32_t count = scene->plan ? scene->plan->assembly.component_count : 0;
    if (count > 0)
        BO_TRY(bo_scene_cook(ctx, scene));
    const bough_component **components = BO_NEW_ARRAY(ctx, const bough_component *, count);
    if (!components)
        return BOUGH_ERROR_MEMORY;
    for (int32_t c = 0; c < count; c++)
        components[c] = bo_scene_component_at(scene, c);
    const bough_status status = bo_multibody_engine_create(ctx, plan, kind, components, NULL, count, settings, engine);
    bo_free(ctx, components);
    return status;
}

/* Scenes of bodies alone have one engine. */
static bough_status check_parts(bough_context *ctx, const bough_scene *scene, const char *engine) {
    return ((const bo_multibody_scene *)scene->content)->def.part_count > 0
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: the engine \"%s\" is for scenes with parts that bend",
                         scene->path, engine);
}

static bough_status check_rigid(bough_context *ctx, const bough_scene *scene, const bo_engine_settings *settings) {
    (void)settings;
    return check_parts(ctx, scene, "rigid");
}

/* ---- in full order ---- */

/* Meshes are known of components that the scene describes. */
static bough_status check_meshes(bough_context *ctx, const bough_scene *scene, const bo_engine_settings *settings) {
    (void)settings;
    BO_TRY(check_parts(ctx, scene, "full"));
    for (int32_t c = 0; scene->plan && c < scene->plan->assembly.component_count; c++)
        if (!scene->plan->assembly.components[c].job)
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                           "%s: the component \"%s\" is a .bough file, of which the full engine does not know the mesh",
                           scene->path, scene->plan->assembly.components[c].name);
    return BOUGH_OK;
}

static bough_status create_full(bough_context *ctx, const bough_scene *scene, const bo_multibody_plan *plan,
                                const bo_engine_settings *settings, bo_engine *engine) {
    const int32_t count = scene->plan ? scene->plan->assembly.component_count : 0;
    const bough_component **components = BO_NEW_ARRAY(ctx, const bough_component *, count);
    bough_full_part **full = BO_NEW_ZEROS(ctx, bough_full_part *, count);
    bough_status status = components && full ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t c = 0; c < count && status == BOUGH_OK; c++) {
        const bo_scene_component *from = &scene->plan->assembly.components[c];
        components[c] = from->rigid;
        if (from->rigid->support == BOUGH_SUPPORT_INTERFACE) /* others are components of no part */
            status = bough_full_part_create(ctx, from->job->body, from->rigid, &full[c]);
    }
    if (status == BOUGH_OK)
        status =
            bo_multibody_engine_create(ctx, plan, &bo_multibody_twin_engine, components, full, count, settings, engine);
    else
        for (int32_t c = 0; full && c < count; c++)
            bough_full_part_destroy(ctx, full[c]);
    bo_free(ctx, components);
    bo_free(ctx, full);
    return status;
}

bough_status bo_multibody_scene_engine(bough_context *ctx, const bough_scene *scene, const bo_multibody_plan *plan,
                                       const bo_engine_kind *kind, const bo_engine_settings *settings,
                                       bo_engine *engine) {
    if (kind != &bo_multibody_twin_engine)
        return create_cooked(ctx, scene, plan, kind, settings, engine);
    BO_TRY(check_meshes(ctx, scene, settings));
    return create_full(ctx, scene, plan, settings, engine);
}

static bough_status create_by(bough_context *ctx, const bough_scene *scene, const bo_engine_kind *kind,
                              const bo_engine_settings *settings, bo_engine *engine) {
    const bo_multibody_scene *m = scene->content;
    return bo_multibody_scene_engine(ctx, scene, &m->plan, kind, settings, engine);
}

static bough_status create(bough_context *ctx, const bough_scene *scene, const bo_engine_settings *settings,
                           bo_engine *engine) {
    return create_by(ctx, scene, &bo_multibody_engine, settings, engine);
}

static bough_status create_rigid(bough_context *ctx, const bough_scene *scene, const bo_engine_settings *settings,
                                 bo_engine *engine) {
    return create_by(ctx, scene, &bo_rigid_multibody_engine, settings, engine);
}

static bough_status create_twin(bough_context *ctx, const bough_scene *scene, const bo_engine_settings *settings,
                                bo_engine *engine) {
    return create_by(ctx, scene, &bo_multibody_twin_engine, settings, engine);
}

/* ---- the kind ---- */

static bough_status read_scene(const bo_json *root, bough_scene *scene) {
    bo_assembly none = {0};
    if (!bo_json_has(root, "components"))
        return bo_multibody_read(root, scene, &none);
    BO_TRY(bo_scene_make_pantry(root->ctx, scene));
    BO_TRY(bo_cook_plan_read(root, scene, &scene->plan));
    bo_scene_hash_components(scene);
    return BOUGH_OK;
}

static void destroy(bough_context *ctx, void *content) {
    bo_multibody_scene_free(ctx, content);
}

static const bo_scene_engine engines[] = {
    {.kind = &bo_multibody_engine, .integrator = BO_MULTIBODY_INTEGRATOR, .create = create},
    {.kind = &bo_multibody_twin_engine,
     .integrator = BO_MULTIBODY_INTEGRATOR,
     .check = check_meshes,
     .create = create_twin},
    {.kind = &bo_rigid_multibody_engine,
     .integrator = BO_MULTIBODY_INTEGRATOR,
     .check = check_rigid,
     .create = create_rigid}};

const bo_scene_kind bo_multibody_scene_kind = {.name = "multibody",
                                               .things = "bodies with joints",
                                               .recognise = bo_is_multibody,
                                               .read = read_scene,
                                               .destroy = destroy,
                                               .engine_count = sizeof engines / sizeof *engines,
                                               .engines = engines};
