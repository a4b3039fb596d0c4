/* Contact of trees as programs describe it: obstacles and solids by their shapes. */
#include "tree/touch.h"

#include "base/pose.h"
#include "component/image.h"
#include "rig/shape.h"

#define TOUCH_COOKIE 0xB0061054u

bough_tree_touch_def bough_default_tree_touch_def(void) {
    const bo_tree_touch_def def = bo_default_tree_touch_def();
    return (bough_tree_touch_def){.cookie = TOUCH_COOKIE,
                                  .friction = def.friction,
                                  .slip_speed = def.slip,
                                  .most_contacts = def.most_contacts,
                                  .rest_speed = def.rest_speed,
                                  .rest_time = def.rest_time};
}

/* Shapes in the making: where they go, and what they point to. */
typedef struct {
    bough_context *ctx;
    bo_tree_kept_shapes kept; /* with room for one mesh and one height spline of each shape */
} maker;

/* The mesh of a shape: its own, or one that the state keeps. */
static bough_status mesh_of(maker *m, const bough_shape_def *def, const bough_shape_mesh **mesh) {
    if (def->kind == BOUGH_SHAPE_MESH) {
        *mesh = def->mesh;
        return BOUGH_OK;
    }
    bough_shape_mesh **made = &m->kept.meshes[m->kept.mesh_count];
    BO_TRY(bo_shape_mesh_of(m->ctx, def, made));
    *mesh = *made, m->kept.mesh_count++;
    return BOUGH_OK;
}

/* The shape in the frame of what it belongs to, once it was checked. *mesh: what it is made of; NULL: of none. */
static bough_status shape_of(maker *m, const bough_shape_def *def, bool moves, bo_obstacle *to,
                             const bough_shape_mesh **mesh) {
    bough_shape *checked;
    BO_TRY(bough_shape_create(m->ctx, def, &checked));
    bough_shape_destroy(m->ctx, checked);
    *mesh = NULL;
    if (bo_obstacle_of_shape(def, to))
        return BOUGH_OK;
    if (def->kind == BOUGH_SHAPE_HEIGHT_FIELD && !moves) {
        to->kind = BO_OBSTACLE_HEIGHT, to->height = &m->kept.heights[m->kept.height_count];
        return bo_height_spline_make(m->ctx, def->columns, def->rows, def->cell, def->heights,
                                     &m->kept.heights[m->kept.height_count++]);
    }
    BO_TRY(mesh_of(m, def, mesh));
    to->kind = BO_OBSTACLE_GRID, to->grid = &(*mesh)->grid;
    return BOUGH_OK;
}

static bough_status list_obstacles(maker *m, const bough_tree_touch_def *def, bo_touch_obstacle *to) {
    for (int32_t i = 0; i < def->obstacle_count; i++) {
        const bough_obstacle_def *from = &def->obstacles[i];
        BO_TRY(bo_obstacle_check(m->ctx, from, i));
        for (int32_t k = 0; k < from->shape_count; k++, to++) {
            const bough_shape_mesh *mesh;
            *to = (bo_touch_obstacle){.friction = from->friction, .thing = i};
            BO_TRY(shape_of(m, &from->shapes[k], false, &to->shape, &mesh));
            to->shape.pose = bo_se3_mul(bo_pose(&from->pose), to->shape.pose);
        }
    }
    return BOUGH_OK;
}

static bough_status list_solids(maker *m, const bough_tree_touch_def *def, bo_tree_solid *to) {
    for (int32_t i = 0; i < def->solid_count; i++) {
        to[i].part = def->solids[i].part;
        BO_TRY(shape_of(m, &def->solids[i].shape, true, &to[i].shape, &to[i].mesh));
    }
    return BOUGH_OK;
}

bough_status bough_tree_state_touch(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                    const bough_tree_touch_def *def) {
    if (!def)
        return bo_tree_state_touch(ctx, model, state, NULL);
    if (def->cookie != TOUCH_COOKIE || def->obstacle_count < 0 || def->solid_count < 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the def was not made by bough_default_tree_touch_def()");
    int32_t shapes = 0;
    for (int32_t i = 0; i < def->obstacle_count; i++)
        shapes += def->obstacles[i].shape_count;
    bo_touch_obstacle *obstacles = BO_NEW_ZEROS(ctx, bo_touch_obstacle, shapes);
    bo_tree_solid *solids = BO_NEW_ZEROS(ctx, bo_tree_solid, def->solid_count);
    maker m = {.ctx = ctx};
    m.kept.meshes = BO_NEW_ZEROS(ctx, bough_shape_mesh *, shapes + def->solid_count);
    m.kept.heights = BO_NEW_ZEROS(ctx, bo_height_spline, shapes);
    bough_status status = obstacles && solids && m.kept.meshes && m.kept.heights ? list_obstacles(&m, def, obstacles)
                                                                                 : bo_fail_memory(ctx);
    if (status == BOUGH_OK)
        status = list_solids(&m, def, solids);
    if (status == BOUGH_OK)
        status = bo_tree_state_touch_keep(ctx, model, state,
                                          &(bo_tree_touch_def){.obstacle_count = shapes,
                                                               .obstacles = obstacles,
                                                               .solid_count = def->solid_count,
                                                               .solids = solids,
                                                               .friction = def->friction,
                                                               .slip = def->slip_speed,
                                                               .most_contacts = def->most_contacts,
                                                               .rest_speed = def->rest_speed,
                                                               .rest_time = def->rest_time,
                                                               .between = def->between},
                                          &m.kept);
    bo_tree_kept_shapes_free(ctx, &m.kept);
    bo_free(ctx, obstacles);
    bo_free(ctx, solids);
    return status;
}

int32_t bough_tree_state_contacts(const bough_tree_state *state, int32_t most, bough_run_contact *contacts) {
    const bo_tree_touch *touch = bo_tree_work_of(state)->touch;
    const int32_t count = touch ? touch->contact_count : 0;
    for (int32_t i = 0; i < count && i < most; i++) {
        const bo_tree_contact *from = &touch->contacts[i];
        const int32_t other = from->obstacle >= 0 ? -1 - touch->def.obstacles[from->obstacle].thing : from->other;
        contacts[i] = (bough_run_contact){.things = {from->part, other}, .gap = from->gap};
        bo_store3(contacts[i].position, from->position);
        bo_store3(contacts[i].normal, from->normal);
        bo_store3(contacts[i].force, from->force);
    }
    return count;
}

/* ---- what a recording belongs to ---- */

static uint64_t hash_numbers(uint64_t hash, size_t count, const double *numbers) {
    return numbers ? bo_image_hash(hash, numbers, count * sizeof *numbers) : hash;
}

static uint64_t hash_pose(uint64_t hash, const bo_se3 *pose) {
    return bo_image_hash(bo_image_hash(hash, &pose->R, sizeof pose->R), &pose->t, sizeof pose->t);
}

static uint64_t hash_shape(uint64_t hash, const bo_obstacle *shape) {
    const double sizes[] = {(double)shape->kind, shape->radius,   shape->half,
                            shape->halves.x,     shape->halves.y, shape->halves.z};
    hash = hash_numbers(hash, sizeof sizes / sizeof *sizes, sizes);
    hash = hash_pose(hash, &shape->pose);
    if (shape->height) {
        const bo_height_spline *h = shape->height;
        hash = hash_numbers(hash, 2, h->cell);
        hash = hash_numbers(hash, ((size_t)h->columns + 2) * ((size_t)h->rows + 2), h->coefficients);
    }
    if (shape->grid) {
        const bo_distance_grid *g = shape->grid;
        size_t count = 1;
        for (int k = 0; k < 3; k++)
            count *= (size_t)g->counts[k] + 2;
        hash = hash_numbers(hash, 1, &g->cell);
        hash = bo_image_hash(hash, &g->origin, sizeof g->origin);
        hash = hash_numbers(hash, count, g->coefficients);
    }
    return hash;
}

/* A path is a function, of which some places stand for all. */
static uint64_t hash_path(uint64_t hash, const bo_touch_obstacle *obstacle) {
    enum { PLACES = 64 };
    for (int k = 0; k < PLACES && obstacle->pose; k++) {
        const bo_se3 pose = obstacle->pose(obstacle->pose_data, 0.01 * k * k); /* s: near each other at first */
        hash = hash_pose(hash, &pose);
    }
    return hash;
}

uint64_t bo_tree_touch_hash(const bo_tree_touch *touch, uint64_t hash) {
    if (!touch)
        return hash;
    const bo_tree_touch_def *def = &touch->def;
    const double numbers[] = {def->friction,   def->slip,      (double)def->most_contacts,
                              def->rest_speed, def->rest_time, (double)def->obstacle_count};
    hash = hash_numbers(hash, sizeof numbers / sizeof *numbers, numbers);
    for (int32_t i = 0; i < def->obstacle_count; i++) {
        hash = hash_numbers(hash, 1, &def->obstacles[i].friction);
        hash = hash_path(hash_shape(hash, &def->obstacles[i].shape), &def->obstacles[i]);
    }
    for (int32_t i = 0; i < def->solid_count; i++)
        hash = hash_shape(bo_image_hash(hash, &def->solids[i].part, sizeof def->solids[i].part), &def->solids[i].shape);
    for (int32_t i = 0; i < touch->mixing_count; i++)
        hash = bo_image_hash(hash, &touch->mixing[i], sizeof touch->mixing[i]);
    return hash;
}
