/* A scene of a mechanism: what its engine needs to know of it, and how it is made. */
#include "scene/scene.h"

#include <string.h>

/* ---- the plan ---- */

static void add_touches(const bo_scene_touch *from, int32_t end_effector, int32_t link, const char *name,
                        bo_mechanism_touch **to) {
    for (int32_t k = 0; k < from->shapes.count; k++)
        *(*to)++ = (bo_mechanism_touch){.end_effector = end_effector,
                                        .link = link,
                                        .name = name,
                                        .shape = from->shapes.shapes[k].def,
                                        .friction = from->friction};
}

static bool make_room(bough_context *ctx, bo_mechanism_scene *m) {
    size_t shapes = 0, touches = (size_t)m->base_touch.shapes.count;
    for (int32_t i = 0; i < m->obstacle_count; i++)
        shapes += (size_t)m->obstacles[i].shapes.count;
    for (int32_t i = 0; i < m->body_count; i++)
        shapes += (size_t)m->bodies[i].shapes.count;
    for (int32_t i = 0; i < m->end_effector_count; i++)
        touches += (size_t)m->effectors[i].touch.shapes.count;
    for (int32_t i = 0; i < m->link_touch_count; i++)
        touches += (size_t)m->link_touches[i].touch.shapes.count;
    m->obstacle_defs = BO_NEW_ARRAY(ctx, bough_obstacle_def, m->obstacle_count);
    m->body_defs = BO_NEW_ARRAY(ctx, bough_rigid_body_def, m->body_count);
    m->touch_defs = BO_NEW_ARRAY(ctx, bo_mechanism_touch, touches);
    m->shape_defs = BO_NEW_ARRAY(ctx, bough_shape_def, shapes);
    return m->obstacle_defs && m->body_defs && m->touch_defs && m->shape_defs;
}

static void describe_surroundings(bo_mechanism_scene *m) {
    bough_shape_def *shapes = m->shape_defs;
    bo_mechanism_touch *touch = m->touch_defs;
    for (int32_t i = 0; i < m->obstacle_count; i++)
        bo_scene_describe_obstacle(&m->obstacles[i], &shapes, &m->obstacle_defs[i]);
    for (int32_t i = 0; i < m->body_count; i++)
        bo_scene_describe_body(&m->bodies[i], &shapes, &m->body_defs[i]);
    add_touches(&m->base_touch, BOUGH_TOUCH_BY_BASE, 0, NULL, &touch);
    for (int32_t i = 0; i < m->link_touch_count; i++)
        add_touches(&m->link_touches[i].touch, BOUGH_TOUCH_BY_LINK, m->link_touches[i].link, NULL, &touch);
    for (int32_t i = 0; i < m->end_effector_count; i++)
        add_touches(&m->effectors[i].touch, i, 0, m->effectors[i].name, &touch);
    m->plan.touch_count = (int32_t)(touch - m->touch_defs);
}

bough_status bo_mechanism_make_plan(bough_context *ctx, const bough_scene *scene, bo_mechanism_scene *m) {
    if (!make_room(ctx, m))
        return BOUGH_ERROR_MEMORY;
    BO_TRY(bo_scene_describe_leads(ctx, m->obstacle_count, m->obstacles, &m->leads));
    m->plan = (bo_mechanism_plan){.path = scene->path,
                                  .duration = scene->duration,
                                  .curves = scene->drive.curves,
                                  .mechanism = m->mechanism,
                                  .link_count = m->link_count,
                                  .joint_count = m->joint_count,
                                  .end_effector_count = m->end_effector_count,
                                  .links = m->links,
                                  .joints = m->joints,
                                  .end_effectors = m->end_effectors,
                                  .base = m->base,
                                  .free_base = m->free_base,
                                  .motor_count = m->motor_count,
                                  .motors = m->motors,
                                  .load_count = m->load_count,
                                  .loads = m->loads,
                                  .body_count = m->body_count,
                                  .obstacle_count = m->obstacle_count,
                                  .bodies = m->body_defs,
                                  .obstacles = m->obstacle_defs,
                                  .leads = m->leads,
                                  .most_contacts = m->most_contacts,
                                  .touches = m->touch_defs,
                                  .collides = m->collides,
                                  .method = m->method,
                                  .joint_tolerance = m->joint_tolerance,
                                  .kept_count = m->kept_count,
                                  .kept = m->kept,
                                  .internal_modes = m->internal_modes,
                                  .has_blend = m->has_blend,
                                  .blend = m->blend,
                                  .probe_count = scene->probe_count,
                                  .probes = scene->probes,
                                  .draw = bo_mechanism_draw,
                                  .draw_data = m};
    memcpy(m->plan.gravity, scene->gravity, sizeof m->plan.gravity);
    describe_surroundings(m);
    return BOUGH_OK;
}

/* ---- the engines ---- */

static bough_status create_reduced(bough_context *ctx, const bough_scene *scene, const bo_engine_settings *settings,
                                   bo_engine *engine) {
    return bo_mechanism_engine_create(ctx, &scene->mechanism->plan, &bo_mechanism_engine, settings, engine);
}

static bough_status create_full(bough_context *ctx, const bough_scene *scene, const bo_engine_settings *settings,
                                bo_engine *engine) {
    return bo_mechanism_engine_create(ctx, &scene->mechanism->plan, &bo_full_mechanism_engine, settings, engine);
}

static const bo_scene_engine engines[] = {{.kind = &bo_mechanism_engine, .create = create_reduced},
                                          {.kind = &bo_full_mechanism_engine, .create = create_full}};

/* The full one where motors take the reduced one too far from its pose. */
static bough_status choose(bough_context *ctx, const bough_scene *scene, const bo_engine_settings *settings,
                           double until, const bo_scene_engine **engine, char *reason) {
    bool full;
    BO_TRY(bo_mechanism_prefers_full(ctx, &scene->mechanism->plan, settings, until, &full, reason, BO_REASON_SIZE));
    if (full)
        *engine = &engines[1];
    return BOUGH_OK;
}

const bo_scene_kind bo_mechanism_scene_kind = {.name = "mechanism",
                                               .things = "links",
                                               .recognise = bo_is_mechanism,
                                               .read = bo_scene_read_mechanism,
                                               .engine_count = 2,
                                               .engines = engines,
                                               .choose = choose};
