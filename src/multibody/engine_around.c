/* The surroundings of a multibody system: obstacles, and bodies that touch them and each other. */
#include "multibody/engine_inside.h"

#include "engine/contacts.h"

#include <string.h>

/* ---- making ---- */

static bool touches(const bo_multibody_plan *plan, int32_t body) {
    for (int32_t i = 0; i < plan->touch_count; i++)
        if (plan->touches[i].place == body)
            return true;
    return false;
}

/* A mark goes from one end of a connection to the other, if it may leave that end: bodies other than the first keep it. */
static void spread(const bough_multibody_def *def, int32_t first, int32_t a, int32_t b, bool *near) {
    for (int k = 0; k < 2; k++) {
        const int32_t from = k ? b : a, to = k ? a : b;
        if (from >= 0 && to >= 0 && near[from] && (from == first || from >= def->body_count))
            near[to] = true;
    }
}

/* Marks what a body or a part is connected with, by joints and clamps, and by parts in between: such neighbours overlap, as a
 * rule. near: of bodies and parts. */
static void mark_neighbours(const bough_multibody_def *def, int32_t thing, bool *near) {
    memset(near, 0, (size_t)(def->body_count + def->part_count) * sizeof *near);
    near[thing] = true;
    for (int32_t round = 0; round <= def->part_count; round++) { /* from part to part */
        for (int32_t j = 0; j < def->joint_count; j++)
            spread(def, thing, def->joints[j].parent.body, def->joints[j].child.body, near);
        for (int32_t p = 0; p < def->part_count; p++)
            spread(def, thing, def->parts[p].clamp.body, def->body_count + p, near);
    }
}

/* A body or a part, by its number in the list of both. */
static bough_contact_side side_of(const bough_multibody_def *def, int32_t thing) {
    const int32_t part = thing - def->body_count;
    return part < 0 ? (bough_contact_side){BOUGH_CONTACT_OF_LINK, thing, 0}
                    : (bough_contact_side){BOUGH_CONTACT_OF_PART, part, 0};
}

static bough_status leave_neighbours_alone(const multibody_engine *e, bool *near) {
    const bo_multibody_plan *plan = e->plan;
    const int32_t count = plan->def.body_count + plan->def.part_count;
    for (int32_t b = 0; b < count; b++) {
        if (!touches(plan, b))
            continue;
        mark_neighbours(&plan->def, b, near);
        for (int32_t other = b + 1; other < count; other++)
            if (near[other] && touches(plan, other))
                BO_TRY(bough_contact_world_ignore(e->ctx, e->around, side_of(&plan->def, b), side_of(&plan->def, other),
                                                  true));
    }
    for (int32_t i = 0; i < plan->pass_count; i++)
        BO_TRY(bough_contact_world_ignore(e->ctx, e->around, plan->passes[i].sides[0], plan->passes[i].sides[1], true));
    return BOUGH_OK;
}

bough_status bo_multibody_make_around(multibody_engine *e) {
    const bo_multibody_plan *plan = e->plan;
    bough_contact_world_def def = bough_default_contact_world_def();
    bough_contact_actor actor;
    if (plan->touch_count == 0)
        return BOUGH_OK;
    if (plan->tolerance > 0)
        return bo_fail(e->ctx, BOUGH_ERROR_UNSUPPORTED,
                       "a \"tolerance\" is for scenes in which nothing touches; leave it out, or \"touch\"");
    BO_TRY(bo_mb_actor_create(e->ctx, e->model, e->state, bo_multibody_is_stiff(e) ? e->given.body_count : -1,
                              e->given.parts, plan->touch_count, plan->touches, &actor));
    actor.touches_itself = true;
    def.obstacle_count = plan->obstacle_count, def.obstacles = plan->obstacles;
    def.actor_count = 1, def.actors = &actor;
    def.most_contacts = plan->most_contacts > 0 ? plan->most_contacts : def.most_contacts;
    BO_TRY(bough_contact_world_create(e->ctx, &def, &e->around));
    bool *near = BO_NEW_ARRAY(e->ctx, bool, plan->def.body_count + plan->def.part_count);
    const bough_status status = near ? leave_neighbours_alone(e, near) : BOUGH_ERROR_MEMORY;
    bo_free(e->ctx, near);
    return status;
}

bough_status bo_multibody_step_among(multibody_engine *e, double h) {
    if (e->plan->tolerance > 0)
        return bough_multibody_advance(e->ctx, e->model, e->state, h, e->plan->tolerance, NULL);
    if (!e->around)
        return bough_multibody_step(e->ctx, e->model, e->state, h);
    const double t = e->state->time;
    BO_TRY(bo_world_lead(e->ctx, e->around, e->plan->obstacle_count, e->plan->leads, t, h));
    BO_TRY(bough_contact_world_step(e->ctx, e->around, h));
    e->work += bo_world_lead_work(e->around, e->plan->leads, t, h);
    return BOUGH_OK;
}

/* ---- looking ---- */

/* Things are bodies, then parts, then obstacles. */
static int32_t thing_of(const void *data, const bough_contact_side *side) {
    const multibody_engine *e = data;
    return side->kind == BOUGH_CONTACT_OF_OBSTACLE ? bo_multibody_first_obstacle(e) + side->index
           : side->kind == BOUGH_CONTACT_OF_PART   ? e->given.body_count + side->index
                                                   : side->index;
}

int32_t bo_multibody_contacts(const void *data, int32_t most, bough_run_contact *contacts) {
    return bo_world_contacts(((const multibody_engine *)data)->around, thing_of, data, most, contacts);
}

void bo_multibody_touch(const multibody_engine *e, int32_t thing, double force[3]) {
    const int32_t part = thing - e->given.body_count;
    bo_world_touch(e->around, part < 0 ? BOUGH_CONTACT_OF_LINK : BOUGH_CONTACT_OF_PART, part < 0 ? thing : part, force);
}
