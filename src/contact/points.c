/* Things that are points of a surface which may bend: where they touch shapes and each other. docs/theory/contact.md, "Points". */
#include "contact/collide.h"
#include "contact/world.h"

/* Points are looked at within this part of the margin of shapes, beside what they move in a step. A surface has many
 * points, and those that will not touch cost as much as those that do. */
#define PART_OF_MARGIN 0.2

/* The sphere that the actor gave bounds all points, however the surface is bent: nothing else is looked at until it is
 * near something. */
void bo_points_box(const struct bo_contact_world_work *w, double dt, bo_thing *thing, bo_box *box) {
    const bo_place *place = &w->places[thing->place];
    const double most_radii = 100;
    thing->looked = false, thing->radius = place->radius;
    thing->reach = fmin(dt * place->speed, most_radii * place->radius);
    const double more = place->radius * (1 + w->def.margin) + thing->reach;
    box->lower = bo_sub(place->centre, bo_v3(more, more, more));
    box->upper = bo_add(place->centre, bo_v3(more, more, more));
}

static void look(struct bo_contact_world_work *w, bo_thing *thing) {
    const bo_place *place = &w->places[thing->place];
    const bo_actor *actor = &w->actors[place->group];
    if (!thing->looked)
        actor->table->points(actor->data, place->number, thing->point_count, w->positions + 3 * thing->points,
                             w->velocities + 3 * thing->points);
    thing->looked = true;
}

/* ---- points and a surface ---- */

#define OF_SECOND 0x80000000u /* in features: the point is of the second thing */

/* Adds the place of a solid thing that a point is near, if it is; false: there is no memory. */
static bool look_near(bough_context *ctx, struct bo_contact_world_work *w, const bo_thing *solid, bo_vec3 x,
                      double within, bool *is_near) {
    const bo_place *place = &w->places[solid->place];
    const bo_actor *actor = &w->actors[place->group];
    double position[3];
    *is_near = false;
    if (bo_norm(bo_sub(x, place->centre)) > place->radius + within)
        return true;
    if (!BO_RESERVE(ctx, w->nears, w->near_capacity, w->near_count + 1))
        return false;
    bo_store3(position, x);
    *is_near = actor->table->near(actor->data, place->number, position, within, &w->nears[w->near_count]);
    w->near_count += *is_near;
    return true;
}

/* The points of one side (0: of a) and the surface of the other. Both take the impulse at the point. */
static bool meet_surface(bough_context *ctx, struct bo_contact_world_work *w, int32_t a, int32_t b, int side,
                         double dt) {
    const bo_thing *cloud = &w->things[side ? b : a], *solid = &w->things[side ? a : b];
    const double near = PART_OF_MARGIN * w->def.margin * fmin(cloud->radius, solid->radius) + solid->reach;
    for (int32_t i = 0; i < cloud->point_count; i++) {
        const bo_vec3 x = bo_load3(w->positions + 3 * (cloud->points + (size_t)i)),
                      v = bo_load3(w->velocities + 3 * (cloud->points + (size_t)i));
        bool is_near;
        if (!look_near(ctx, w, solid, x, near + fmin(dt * bo_norm(v), cloud->reach), &is_near))
            return false;
        if (!is_near)
            continue;
        const bough_contact_near *found = &w->nears[w->near_count - 1];
        bough_touching at = {.gap = found->gap, .feature = (uint32_t)i | (side ? OF_SECOND : 0)};
        bo_store3(at.on_a, x), bo_store3(at.on_b, x);
        bo_store3(at.normal, bo_scale(side ? -1 : 1, bo_load3(found->normal)));
        const int32_t points[2] = {side ? -1 : i, side ? i : -1};
        if (!bo_world_add_meeting(ctx, w, a, b, points, 0, &at))
            return false;
        w->meetings[w->meeting_count - 1].near = (int32_t)w->near_count - 1;
    }
    return true;
}

static bough_status meet_points(bough_context *ctx, struct bo_contact_world_work *w, int32_t a, int32_t b, double dt) {
    look(w, &w->things[a]), look(w, &w->things[b]);
    if ((w->things[b].solid && !meet_surface(ctx, w, a, b, 0, dt)) ||
        (w->things[a].solid && !meet_surface(ctx, w, a, b, 1, dt)))
        return bo_fail_memory(ctx);
    return BOUGH_OK;
}

/* ---- points and a shape ---- */

bough_status bo_points_meet(bough_context *ctx, struct bo_contact_world_work *w, int32_t a, int32_t b, double dt) {
    if (!w->things[a].shape && !w->things[b].shape)
        return meet_points(ctx, w, a, b, dt);
    const bool swapped = w->things[a].shape != NULL; /* the points are b's */
    bo_thing *cloud = &w->things[swapped ? b : a];
    const bo_thing *other = &w->things[swapped ? a : b];
    const bo_place *place = &w->places[other->place];
    const bo_se3 g = bo_se3_mul(place->pose, other->shape->frame), back = bo_se3_inverse(g);
    const double near = PART_OF_MARGIN * w->def.margin * fmin(cloud->radius, other->radius) + other->reach +
                        bo_world_reach_of_plane(w, swapped ? a : b, swapped ? b : a, dt);
    bo_manifold m;
    look(w, cloud);
    for (int32_t i = 0; i < cloud->point_count; i++) {
        const bo_vec3 x = bo_load3(w->positions + 3 * (cloud->points + (size_t)i)),
                      v = bo_load3(w->velocities + 3 * (cloud->points + (size_t)i));
        m.margin = near + fmin(dt * bo_norm(v), cloud->reach);
        bo_collide_point(bo_se3_apply(back, x), other->shape, &m);
        if (m.count == 0)
            continue;
        /* The point is of the surface: it takes the impulse, and the other one takes it at the same place. */
        bough_touching at = {.gap = m.points[0].gap, .feature = (uint32_t)i};
        bo_store3(at.on_a, x), bo_store3(at.on_b, x);
        bo_store3(at.normal, bo_scale(swapped ? -1 : 1, bo_mat_vec(g.R, m.points[0].normal)));
        const int32_t points[2] = {swapped ? -1 : i, swapped ? i : -1};
        if (!bo_world_add_meeting(ctx, w, a, b, points, 0, &at))
            return bo_fail_memory(ctx);
    }
    return BOUGH_OK;
}
