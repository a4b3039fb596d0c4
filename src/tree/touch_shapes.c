/* Contact in steps of trees: obstacles, and solids that parts carry or are. docs/theory/tree.md, "Contact". */
#include "tree/touch_look.h"

#include "contact/collide.h"

bo_tree_side bo_tree_side_of(const bo_tree_search *s, const bo_tree_sample *at, bo_vec3 n, bo_vec3 *x) {
    static const double one = 1;
    *x = bo_mul_add(at->x, -at->radius, n);
    const bo_vec3 arm = bo_scale(-at->radius, bo_mat_tvec(at->frame->R, n));
    return (bo_tree_side){
        .part = at->part,
        .frame = at->frame,
        .v = bo_add(at->v, bo_cross(at->frame->w, bo_scale(-at->radius, n))),
        .start = bo_se3_apply(bo_tree_start_of(s->state, &s->model->parts[at->part]), bo_add(at->was, arm)),
        .sample_count = at->number >= 0,
        .samples = &at->number,
        .weights = &one};
}

bo_obstacle bo_tree_placed(const bo_tree_solid *solid, bo_se3 at) {
    bo_obstacle shape = solid->shape;
    shape.pose = bo_se3_mul(at, solid->shape.pose);
    return shape;
}

/* ---- one point ---- */

/* A place on the surface around a point: the normal there, and the gap. */
typedef struct {
    bo_vec3 n;
    double gap;
    int32_t feature;
} contact_place;

enum { OF_BALL = 24 /* bits */ };

/* The places around a point that are nearer than `within`: one, or several of a ball that lies in a grid. */
static int32_t places_on(const bo_obstacle *shape, const bo_tree_sample *at, double within,
                         contact_place places[BO_MOST_BALL_PLACES]) {
    if (shape->kind != BO_OBSTACLE_GRID || !(at->radius > 0)) {
        bo_vec3 n;
        const double d = bo_obstacle_near(shape, at->x, &n);
        places[0] = (contact_place){n, d - at->radius, at->feature};
        return 1;
    }
    bo_ball_place found[BO_MOST_BALL_PLACES];
    const bo_vec3 centre = bo_mat_tvec(shape->pose.R, bo_sub(at->x, shape->pose.t));
    const int32_t count = bo_ball_on_grid(shape->grid, centre, at->radius, within, found);
    for (int32_t k = 0; k < count; k++)
        places[k] = (contact_place){bo_mat_vec(shape->pose.R, found[k].out), found[k].gap,
                                    at->feature + ((found[k].feature + 1) << OF_BALL)};
    return count;
}

static bough_status meet_obstacle(bo_tree_search *s, const bo_tree_sample *at, const bo_tree_near_thing *it,
                                  double distance) {
    const int32_t o = it->number;
    const bo_obstacle *obstacle = &s->touch->now[o];
    const bo_se3 *before = &s->touch->before[o], *now = &obstacle->pose;
    const bo_vec3 was = bo_se3_apply(*before, bo_mat_tvec(now->R, bo_sub(at->x, now->t)));
    const bo_vec3 v = bo_scale(1 / s->dt, bo_sub(at->x, was));
    const double margin = s->touch->shapes[at->part].margin;
    if (!bo_tree_comes_near(s, distance, -bo_norm(bo_sub(at->v, v))) && !(distance < margin))
        return BOUGH_OK;
    contact_place places[BO_MOST_BALL_PLACES];
    const int32_t count = places_on(obstacle, at, it->within, places);
    const double mu = sqrt(s->touch->def.friction * s->touch->def.obstacles[o].friction);
    for (int32_t k = 0; k < count; k++) {
        const contact_place *place = &places[k];
        bo_vec3 x;
        const bo_tree_side one = bo_tree_side_of(s, at, place->n, &x);
        const bo_tree_side other = {
            .part = -1, .v = v, .start = bo_se3_apply(*before, bo_mat_tvec(now->R, bo_sub(x, now->t)))};
        const bool waits = !bo_tree_comes_near(s, place->gap, bo_dot(place->n, bo_sub(one.v, v)));
        if (!waits || place->gap < margin)
            BO_TRY(bo_tree_add_point(s, x, place->n, place->gap, mu, &one, &other, o, -1, place->feature, waits));
    }
    return BOUGH_OK;
}

static bough_status meet_solid(bo_tree_search *s, const bo_tree_sample *at, const bo_tree_near_thing *it,
                               double distance) {
    const int32_t other = s->model->inside[s->touch->def.solids[it->number].part];
    const bo_tree_motion *solid = &s->touch->shapes[other].frame;
    if (!bo_tree_comes_near(s, distance, -bo_norm(bo_sub(at->v, bo_tree_velocity_at(solid, at->x)))))
        return BOUGH_OK;
    contact_place places[BO_MOST_BALL_PLACES];
    const int32_t count = places_on(&s->touch->placed[it->number], at, it->within, places);
    for (int32_t k = 0; k < count; k++) {
        const contact_place *place = &places[k];
        bo_vec3 x;
        const bo_tree_side one = bo_tree_side_of(s, at, place->n, &x);
        const bo_tree_side two = {.part = other,
                                  .frame = solid,
                                  .v = bo_tree_velocity_at(solid, x),
                                  .start = bo_se3_apply(bo_tree_start_of(s->state, &s->model->parts[other]),
                                                        bo_mat_tvec(solid->R, bo_sub(x, solid->x)))};
        if (bo_tree_comes_near(s, place->gap, bo_dot(place->n, bo_sub(one.v, two.v))))
            BO_TRY(bo_tree_add_point(s, x, place->n, place->gap, s->touch->def.friction, &one, &two, -1, it->number,
                                     place->feature, false));
    }
    return BOUGH_OK;
}

/* Two spheres have one contact, that of the first. */
static bool has_contact(const bo_tree_search *s, int32_t own, int32_t other) {
    const bo_tree_solid *solids = s->touch->def.solids;
    return own < 0 || own < other || solids[own].shape.kind != BO_OBSTACLE_SPHERE ||
           solids[other].shape.kind != BO_OBSTACLE_SPHERE;
}

bough_status bo_tree_meet(bo_tree_search *s, bo_tree_sample *at, const bo_tree_near *near) {
    for (int32_t k = 0; k < near->obstacle_count; k++) {
        const bo_tree_near_thing *it = &near->obstacles[k];
        const double distance = bo_obstacle_distance(&s->touch->now[it->number], at->x) - at->radius;
        if (!(distance < it->within))
            continue;
        bo_tree_motion_of_sample(s, at);
        BO_TRY(meet_obstacle(s, at, it, distance));
    }
    for (int32_t k = 0; k < near->solid_count; k++) {
        const bo_tree_near_thing *it = &near->solids[k];
        const double distance = bo_obstacle_distance(&s->touch->placed[it->number], at->x) - at->radius;
        if (!(distance < it->within) || !has_contact(s, at->solid, it->number))
            continue;
        bo_tree_motion_of_sample(s, at);
        BO_TRY(meet_solid(s, at, it, distance));
    }
    return BOUGH_OK;
}

/* ---- solids that fly ---- */

/* Ends of the axis of a capsule, the middle of a sphere, the corners of a box: with the radius around them they are the
 * points by which solids touch. */
static int32_t points_of(const bo_obstacle *shape, bo_vec3 points[8], double *radius) {
    int32_t count = 0;
    *radius = shape->kind == BO_OBSTACLE_BOX ? 0 : shape->radius;
    if (shape->kind == BO_OBSTACLE_SPHERE)
        points[count++] = bo_v3(0, 0, 0);
    for (int k = 0; k < 2 && shape->kind == BO_OBSTACLE_CAPSULE; k++)
        points[count++] = bo_v3(0, 0, k ? shape->half : -shape->half);
    for (int k = 0; k < 8 && shape->kind == BO_OBSTACLE_BOX; k++)
        points[count++] = bo_v3(k & 1 ? shape->halves.x : -shape->halves.x, k & 2 ? shape->halves.y : -shape->halves.y,
                                k & 4 ? shape->halves.z : -shape->halves.z);
    for (int32_t k = 0; k < count; k++)
        points[k] = bo_se3_apply(shape->pose, points[k]);
    return count;
}

static bo_tree_sample point_of(const bo_tree_search *s, int32_t part, int32_t solid, int32_t feature, bo_vec3 own) {
    const bo_tree_motion *frame = &s->touch->shapes[part].frame;
    return (bo_tree_sample){.part = part,
                            .number = -1,
                            .solid = solid,
                            .feature = s->touch->def.solids[solid].first_feature + feature,
                            .frame = frame,
                            .x = bo_add(frame->x, bo_mat_vec(frame->R, own))};
}

/* Points of a mesh, in the axes of `at`, that are nearer to a thing than m->margin. */
static void look_at_mesh(const bough_shape_mesh *mesh, const bo_se3 *at, const bo_obstacle *thing, int32_t level,
                         int32_t k, bo_manifold *m) {
    const bo_mesh_ball *ball = bo_mesh_ball_at(mesh, level, k);
    if (!(bo_obstacle_distance(thing, bo_se3_apply(*at, ball->centre)) < ball->radius + m->margin))
        return;
    if (level < mesh->levels) {
        look_at_mesh(mesh, at, thing, level + 1, 2 * k, m);
        look_at_mesh(mesh, at, thing, level + 1, 2 * k + 1, m);
        return;
    }
    for (int32_t i = bo_mesh_first_point(mesh, level, k); i < bo_mesh_first_point(mesh, level, k + 1); i++) {
        bo_vec3 n;
        if (thing->kind == BO_OBSTACLE_PLANE && !mesh->points[i].corner)
            continue;
        const bo_vec3 x = bo_se3_apply(*at, mesh->points[i].x);
        const double gap = bo_obstacle_near(thing, x, &n);
        bo_manifold_add(m, x, n, gap, (uint32_t)i);
    }
}

/* The few points of a mesh that tell most of where it touches a thing: near has that thing alone. */
static bough_status meet_by_few(bo_tree_search *s, int32_t part, int32_t k, const bo_obstacle *thing, double within,
                                const bo_tree_near *near) {
    const bo_tree_solid *solid = &s->touch->def.solids[k];
    const bo_tree_motion *frame = &s->touch->shapes[part].frame;
    const bo_se3 at = bo_se3_mul((bo_se3){frame->R, frame->x}, solid->shape.pose);
    bo_manifold m;
    m.count = 0, m.margin = within, m.size = solid->radius;
    look_at_mesh(solid->mesh, &at, thing, 0, 0, &m);
    bo_manifold_reduce(&m, BOUGH_MOST_TOUCHING);
    for (int32_t i = 0; i < m.count; i++) {
        const int32_t feature = (int32_t)m.points[i].feature;
        bo_tree_sample one =
            point_of(s, part, k, feature, bo_se3_apply(solid->shape.pose, solid->mesh->points[feature].x));
        BO_TRY(bo_tree_meet(s, &one, near));
    }
    return BOUGH_OK;
}

static bough_status meet_by_mesh(bo_tree_search *s, int32_t part, int32_t k, const bo_tree_near *near) {
    bo_tree_near one;
    for (int32_t i = 0; i < near->obstacle_count; i++) {
        one.obstacle_count = 1, one.solid_count = 0, one.obstacles[0] = near->obstacles[i];
        BO_TRY(meet_by_few(s, part, k, &s->touch->now[one.obstacles[0].number], one.obstacles[0].within, &one));
    }
    for (int32_t i = 0; i < near->solid_count; i++) {
        one.obstacle_count = 0, one.solid_count = 1, one.solids[0] = near->solids[i];
        BO_TRY(meet_by_few(s, part, k, &s->touch->placed[one.solids[0].number], one.solids[0].within, &one));
    }
    return BOUGH_OK;
}

bough_status bo_tree_meet_by_shapes(bo_tree_search *s, int32_t part, const bo_tree_near *near) {
    const bo_tree_solid *solids = s->touch->def.solids;
    for (int32_t solid = s->touch->solid_of[s->model->parts[part].user]; solid >= 0; solid = solids[solid].next) {
        bo_vec3 points[8];
        double radius;
        if (solids[solid].mesh)
            BO_TRY(meet_by_mesh(s, part, solid, near));
        const int32_t count = points_of(&solids[solid].shape, points, &radius);
        for (int32_t k = 0; k < count; k++) {
            bo_tree_sample at = point_of(s, part, solid, k, points[k]);
            at.radius = radius;
            BO_TRY(bo_tree_meet(s, &at, near));
        }
    }
    return BOUGH_OK;
}
