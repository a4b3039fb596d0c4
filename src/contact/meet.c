/* Finds pairs that may touch, by boxes and filters, and the points where they do. docs/theory/contact.md, "Collision".
 */
#include "contact/world.h"

static bool is_led(const bo_place *place) {
    return bo_dot(place->velocity, place->velocity) + bo_dot(place->spin, place->spin) > 0;
}

double bo_world_reach_of_plane(const struct bo_contact_world_work *w, int32_t plane, int32_t other, double dt) {
    const bo_place *place = &w->places[w->things[plane].place];
    if (place->group >= 0 || !w->things[plane].shape || w->things[plane].shape->kind != BOUGH_SHAPE_PLANE ||
        !is_led(place))
        return 0;
    const bo_vec3 middle = bo_scale(0.5, bo_add(w->boxes[other].lower, w->boxes[other].upper));
    return bo_place_reach(place, middle, w->things[other].radius, dt);
}

/* Finds for each thing how far it moves in the step, and a box around all that it may touch. */
static void find_boxes(struct bo_contact_world_work *w, double dt) {
    const double most_radii = 100; /* beyond, the search among cells of a field would have no end */
    for (int32_t i = 0; i < w->thing_count; i++) {
        bo_thing *thing = &w->things[i];
        const bo_place *place = &w->places[thing->place];
        if (!thing->shape) {
            bo_points_box(w, dt, thing, &w->boxes[i]);
            continue;
        }
        bo_shape_bounds(thing->shape, place->pose, &w->boxes[i].lower, &w->boxes[i].upper);
        thing->reach = 0;
        if (place->group < 0 && (!is_led(place) || thing->shape->kind == BOUGH_SHAPE_PLANE))
            continue; /* the box around a plane holds everything */
        const bo_vec3 middle = bo_se3_apply(place->pose, bo_se3_apply(thing->shape->frame, thing->shape->centre));
        const double radius = thing->shape->radius;
        thing->reach = fmin(bo_place_reach(place, middle, radius, dt), most_radii * radius);
        const double more = thing->reach + (place->group < 0 ? 0 : w->def.margin * radius);
        w->boxes[i].lower = bo_sub(w->boxes[i].lower, bo_v3(more, more, more));
        w->boxes[i].upper = bo_add(w->boxes[i].upper, bo_v3(more, more, more));
    }
}

static bool is_ignored(const struct bo_contact_world_work *w, int32_t a, int32_t b) {
    const uint64_t pair = a < b ? (uint64_t)a << 32 | (uint64_t)b : (uint64_t)b << 32 | (uint64_t)a;
    size_t low = 0, high = w->ignored_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (w->ignored[middle] < pair)
            low = middle + 1;
        else
            high = middle;
    }
    return low < w->ignored_count && w->ignored[low] == pair;
}

static bool may_touch(const void *user, int32_t a, int32_t b) {
    const struct bo_contact_world_work *w = user;
    const int32_t i = w->things[a].place, k = w->things[b].place;
    const bo_place *p = &w->places[i], *q = &w->places[k];
    if (i == k || (p->group < 0 && q->group < 0) ||
        (p->group == q->group && !w->actors[p->group].touches_itself)) /* a body is one place: only actors have more */
        return false;
    if (!w->things[a].shape && !w->things[b].shape && !w->things[a].solid && !w->things[b].solid)
        return false;
    if (!(p->groups & q->mask) || !(q->groups & p->mask))
        return false;
    return w->ignored_count == 0 || !is_ignored(w, i, k);
}

/* Two directions across a normal, the same for the same one. */
static void find_tangents(bo_meeting *m) {
    const bo_vec3 n = m->normal;
    const bo_vec3 least = fabs(n.x) <= fabs(n.y) && fabs(n.x) <= fabs(n.z) ? bo_v3(1, 0, 0)
                          : fabs(n.y) <= fabs(n.z)                         ? bo_v3(0, 1, 0)
                                                                           : bo_v3(0, 0, 1);
    m->tangents[0] = bo_normalize(bo_cross(n, least));
    m->tangents[1] = bo_cross(n, m->tangents[0]);
}

bool bo_world_add_meeting(bough_context *ctx, struct bo_contact_world_work *w, int32_t a, int32_t b,
                          const int32_t points[2], double part, const bough_touching *at) {
    if (!BO_RESERVE(ctx, w->meetings, w->meeting_capacity, w->meeting_count + 1))
        return false;
    bo_meeting *m = &w->meetings[w->meeting_count++];
    *m = (bo_meeting){
        .a = a, .b = b, .points = {points[0], points[1]}, .near = -1, .feature = at->feature, .gap = at->gap};
    m->normal = bo_load3(at->normal);
    m->position = bo_mul_add(bo_load3(at->on_a), -part * at->gap, m->normal);
    find_tangents(m);
    return true;
}

static bough_status meet(bough_context *ctx, struct bo_contact_world_work *w, int32_t a, int32_t b, double dt) {
    static const int32_t none[2] = {-1, -1};
    const bo_thing *p = &w->things[a], *q = &w->things[b];
    if (!p->shape || !q->shape)
        return bo_points_meet(ctx, w, a, b, dt);
    const bough_pose at_a = bo_put_pose(w->places[p->place].pose), at_b = bo_put_pose(w->places[q->place].pose);
    const double margin = w->def.margin * fmin(p->shape->radius, q->shape->radius) + p->reach + q->reach +
                          bo_world_reach_of_plane(w, b, a, dt);
    bough_touching points[BOUGH_MOST_TOUCHING];
    const int32_t count = bough_shapes_touch(p->shape, &at_a, q->shape, &at_b, margin, points);
    for (int32_t i = 0; i < count; i++) {
        /* one point for both: equal and opposite impulses then have no torque. Where one of them stays, that of the
         * other, which will come there. */
        const double part = points[i].gap > 0 && w->places[q->place].group < 0 ? 0 : 0.5;
        if (!bo_world_add_meeting(ctx, w, a, b, none, part, &points[i]))
            return bo_fail_memory(ctx);
    }
    return BOUGH_OK;
}

bough_status bo_world_meet(bough_context *ctx, struct bo_contact_world_work *w, double dt) {
    find_boxes(w, dt);
    BO_TRY(bo_sweep_find(ctx, &w->sweep, w->boxes, may_touch, w));
    w->meeting_count = w->near_count = 0;
    for (size_t i = 0; i < w->sweep.pair_count; i++)
        BO_TRY(meet(ctx, w, (int32_t)(w->sweep.pairs[i] >> 32), (int32_t)(w->sweep.pairs[i] & 0xFFFFFFFFu), dt));
    if (w->meeting_count > (size_t)w->def.most_contacts)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "there are %zu contacts in one step, and most_contacts allows %d: allow more, or let fewer "
                       "things or points touch",
                       w->meeting_count, w->def.most_contacts);
    return BOUGH_OK;
}

int32_t bo_world_body_around(const bough_contact_world *world, int32_t obstacle, double *depth) {
    const double noticed = 0.01; /* of the smaller one's radius */
    const struct bo_contact_world_work *w = bo_world_work(world);
    const int32_t place = bo_world_find_place(w, (bough_contact_side){BOUGH_CONTACT_OF_OBSTACLE, obstacle, -1});
    for (int32_t a = 0; a < w->thing_count; a++)
        for (int32_t b = 0; b < w->thing_count && w->things[a].place == place; b++) {
            const bough_contact_side *side = &w->places[w->things[b].place].side;
            if (side->kind != BOUGH_CONTACT_OF_BODY || !may_touch(w, a, b))
                continue;
            const bough_pose at = bo_put_pose(w->places[place].pose);
            const bough_shape *p = w->things[a].shape, *q = w->things[b].shape;
            bough_touching points[BOUGH_MOST_TOUCHING];
            *depth = 0;
            for (int32_t k = bough_shapes_touch(q, &world->bodies[side->index].pose, p, &at, 0, points); k-- > 0;)
                *depth = fmax(*depth, -points[k].gap);
            if (*depth > noticed * fmin(p->radius, q->radius))
                return side->index;
        }
    return -1;
}
