/* A step of a contact world: everybody's rates without contact, points, impulses, and the end of the step.
 * docs/theory/contact.md, "The world". */
#include "base/threads.h"
#include "contact/rows.h"
#include "contact/world.h"

#include <string.h>

typedef struct bo_contact_world_work world_work;

/* ---- where places are and how they move ---- */

static void place_all(world_work *w, const bough_rigid_body *bodies) {
    for (int32_t i = 0; i < w->place_count; i++) {
        bo_place *place = &w->places[i];
        if (place->group < 0)
            continue;
        if (place->side.kind == BOUGH_CONTACT_OF_BODY) {
            const bo_body *body = &w->bodies[place->side.index];
            place->pose = bo_pose(&bodies[place->side.index].pose);
            bo_motion_rates(6, body->motion, body->y, &place->velocity, &place->spin);
        } else {
            const bo_actor *actor = &w->actors[place->group];
            bough_contact_motion motion = {0};
            actor->table->place(actor->data, place->number, &motion);
            place->pose = bo_pose(&motion.pose);
            place->velocity = bo_load3(motion.velocity), place->spin = bo_load3(motion.spin);
            place->centre = bo_load3(motion.centre), place->radius = motion.radius, place->speed = motion.speed;
        }
    }
}

/* ---- constraints ---- */

/* The speed at which they must part: as much as brings them together when they are apart; undoing part of an overlap.
 * fall: what free bodies would get when they fall as far as they overlap. So fast they may be thrown out of a deep
 * overlap, where the impact leaves the energy for it: later nothing would lift what lies still. */
static double least_speed(const bough_contact_world_def *def, double gap, double dt, double fall) {
    return gap > 0 ? -gap / dt : fmin(-def->correction * gap / dt, fmax(def->push_speed, fall));
}

/* An obstacle that is led has no rates, but a velocity at the point: the rate there is less by that. */
static void carry(const bo_place *place, const bo_meeting *m, double sign, double carried[3]) {
    const bo_vec3 v = bo_add(place->velocity, bo_cross(place->spin, bo_sub(m->position, place->pose.t)));
    carried[0] += sign * bo_dot(v, m->normal);
    carried[1] += sign * bo_dot(v, m->tangents[0]), carried[2] += sign * bo_dot(v, m->tangents[1]);
}

static void add_rows(const world_work *w, const bo_place *place, const bo_meeting *m, int side, double *rows) {
    const double sign = side ? -1 : 1;
    double position[3], directions[9];
    bo_store3(directions, m->normal);
    bo_store3(directions + 3, m->tangents[0]), bo_store3(directions + 6, m->tangents[1]);
    if (place->side.kind == BOUGH_CONTACT_OF_BODY) {
        bo_motion_rows(6, w->bodies[place->side.index].motion, bo_sub(m->position, place->pose.t), directions, sign,
                       rows);
        return;
    }
    const bo_actor *actor = &w->actors[place->group];
    if (m->points[side] >= 0) {
        actor->table->point_rows(actor->data, place->number, m->points[side], directions, sign, rows);
        return;
    }
    bo_store3(position, m->position);
    if (m->near >= 0)
        actor->table->near_rows(actor->data, place->number, &w->nears[m->near], position, directions, sign, rows);
    else
        actor->table->rows(actor->data, place->number, position, directions, sign, rows);
}

/* body_row: where the next rows of bodies go; actors have their own cursor. */
static void fill_constraint(world_work *w, const bo_meeting *m, double dt, double weight, size_t *body_row,
                            bo_constraint *c) {
    const bo_thing *things[2] = {&w->things[m->a], &w->things[m->b]};
    const bool free = w->places[things[0]->place].group >= w->actor_count && /* of bodies and obstacles */
                      (w->places[things[1]->place].group < 0 || w->places[things[1]->place].group >= w->actor_count);
    const double fall = free ? sqrt(2 * weight * fmax(0, -m->gap)) : 0;
    *c = (bo_constraint){.groups = {-1, -1}, .speed = least_speed(&w->def, m->gap, dt, fall)};
    c->friction = sqrt(things[0]->friction * things[1]->friction);
    c->restitution = fmax(things[0]->restitution, things[1]->restitution);
    for (int s = 0; s < 2; s++) {
        const bo_place *place = &w->places[things[s]->place];
        if (place->group < 0) {
            carry(place, m, s ? -1 : 1, c->carried);
            continue;
        }
        const size_t count = 3 * (size_t)w->groups[place->group].size;
        const bool same = s == 1 && place->group == c->groups[0]; /* both of one actor: one set of rows */
        if (!same) {
            size_t *row = place->group < w->actor_count ? &w->actors[place->group].end : body_row;
            c->groups[s] = place->group, c->rows[s] = *row;
            memset(w->rows + *row, 0, count * sizeof(double));
            *row += count;
        }
        add_rows(w, place, m, s, w->rows + c->rows[same ? 0 : s]);
    }
}

/* Impulses of the last step at the same features. Both lists ascend by pairs. */
static void remember(const world_work *w, double dt) {
    size_t k = 0;
    for (size_t i = 0; i < w->meeting_count; i++) {
        const bo_meeting *m = &w->meetings[i];
        while (k < w->kept_count && (w->kept[k].a < m->a || (w->kept[k].a == m->a && w->kept[k].b < m->b)))
            k++;
        for (size_t l = k; l < w->kept_count && w->kept[l].a == m->a && w->kept[l].b == m->b; l++) {
            if (w->kept[l].feature != m->feature)
                continue;
            const bo_vec3 p = bo_scale(dt / w->kept_dt, w->kept[l].impulse);
            double *impulse = w->constraints[i].impulse;
            impulse[0] = fmax(0, bo_dot(p, m->normal));
            impulse[1] = bo_dot(p, m->tangents[0]), impulse[2] = bo_dot(p, m->tangents[1]);
            break;
        }
    }
}

/* Counts pushes on each actor, and numbers of rows; puts the rows of the actors before those of the bodies. Returns
 * where the bodies' begin, and how many there are in all in *total. */
static size_t lay_out_rows(world_work *w, size_t *total) {
    size_t bodies = 0, row = 0;
    for (int32_t i = 0; i < w->actor_count; i++)
        w->actors[i].push_count = 0, w->actors[i].row = 0;
    for (size_t i = 0; i < w->meeting_count; i++) {
        const int32_t a = w->places[w->things[w->meetings[i].a].place].group,
                      b = w->places[w->things[w->meetings[i].b].place].group;
        for (int s = 0; s < 2; s++) {
            const int32_t group = s ? b : a;
            const size_t count = group < 0 ? 0 : 3 * (size_t)w->groups[group].size;
            if (group >= w->actor_count)
                bodies += count;
            else if (group >= 0) {
                w->actors[group].push_count++;
                w->actors[group].row += s == 1 && a == b ? 0 : count;
            }
        }
    }
    for (int32_t i = 0; i < w->actor_count; i++) {
        const size_t count = w->actors[i].row;
        w->actors[i].row = w->actors[i].end = row;
        row += count;
    }
    *total = row + bodies;
    return row;
}

/* weight: m/s^2 */
static bough_status fill_constraints(bough_context *ctx, world_work *w, double dt, double weight) {
    size_t numbers, body_row = lay_out_rows(w, &numbers);
    if (!BO_RESERVE(ctx, w->constraints, w->constraint_capacity, w->meeting_count) ||
        !BO_RESERVE(ctx, w->rows, w->row_capacity, numbers) ||
        !BO_RESERVE(ctx, w->answers, w->answer_capacity, numbers))
        return bo_fail_memory(ctx);
    for (size_t i = 0; i < w->meeting_count; i++)
        fill_constraint(w, &w->meetings[i], dt, weight, &body_row, &w->constraints[i]);
    remember(w, dt);
    return BOUGH_OK;
}

/* ---- impulses ---- */

/* Without islands whatever touches anywhere is everybody's affair, as it was before there were islands: an actor that
 * searches again under no pushes may end at other bits. */
static bool is_involved(const world_work *w, const bo_actor *actor) {
    return actor->push_count > 0 || (!w->def.islands && w->meeting_count > 0);
}

static bough_status ask_actors(bough_context *ctx, world_work *w) {
    for (int32_t i = 0; i < w->actor_count; i++) {
        const bo_actor *actor = &w->actors[i];
        const size_t size = (size_t)w->groups[i].size;
        w->groups[i].least = 0;
        if (!is_involved(w, actor))
            continue;
        const int32_t row_count = size > 0 ? (int32_t)((actor->end - actor->row) / size) : 0;
        BO_TRY(actor->table->answer(ctx, actor->data, row_count, w->rows + actor->row, w->answers + actor->row,
                                    &w->groups[i].least));
    }
    return BOUGH_OK;
}

static void solve_islands(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const world_work *w = data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        const int32_t first = w->islands.start[i];
        bo_contact_problem p = {.constraint_count = w->islands.start[i + 1] - first,
                                .groups = w->groups,
                                .constraints = w->constraints,
                                .order = w->islands.count > 1 ? w->islands.order + first : NULL,
                                .rows = w->rows,
                                .answers = w->answers,
                                .most_rounds = w->def.most_rounds,
                                .tolerance = w->def.tolerance,
                                .bounce_speed = w->def.bounce_speed};
        bo_contact_solve(&p);
        w->islands.rounds[i] = p.rounds, w->islands.residual[i] = p.residual;
    }
}

/* Islands have no number in common: they may be solved at the same time. A few small ones are not worth the threads. */
static void solve(bough_context *ctx, bough_contact_world *world) {
    enum { GRAIN = 8, WORTH_THREADS = 64 /* constraints */ };
    world_work *w = bo_world_work(world);
    const bo_islands *islands = &w->islands;
    for (int32_t g = 0; g < w->group_count; g++)
        memset(w->groups[g].impulse, 0, (size_t)w->groups[g].size * sizeof(double));
    if (islands->count > 1 && w->meeting_count >= WORTH_THREADS)
        bo_parallel_for(ctx, islands->count, GRAIN, solve_islands, w);
    else
        solve_islands(w, 0, islands->count, 0);
    world->rounds = 0, world->residual = 0;
    for (int32_t i = 0; i < islands->count; i++) {
        world->rounds = islands->rounds[i] > world->rounds ? islands->rounds[i] : world->rounds;
        world->residual = fmax(world->residual, islands->residual[i]);
    }
}

static bo_vec3 impulse_at(const world_work *w, size_t meeting) {
    const bo_meeting *m = &w->meetings[meeting];
    const bo_constraint *c = &w->constraints[meeting];
    return bo_add(bo_scale(c->impulse[0], m->normal),
                  bo_add(bo_scale(c->impulse[1], m->tangents[0]), bo_scale(c->impulse[2], m->tangents[1])));
}

static bough_status fail_not_finite(bough_context *ctx) {
    return bo_fail(ctx, BOUGH_NOT_FINITE,
                   "a step of rigid bodies is not finite: check their forces, velocities and masses");
}

static bool rates_are_finite(const world_work *w) {
    for (int32_t g = 0; g < w->group_count; g++)
        if (!bo_all_finite(w->groups[g].size, w->groups[g].y))
            return false;
    return true;
}

/* ---- actors ---- */

static bough_status begin_actors(bough_context *ctx, world_work *w, double dt, int32_t *begun) {
    for (int32_t i = 0; i < w->actor_count; i++) {
        bo_actor *actor = &w->actors[i];
        bough_contact_rates rates = {0};
        *begun = i + 1;
        BO_TRY(actor->table->begin(ctx, actor->data, dt, &rates));
        if (rates.size < 0 || rates.size > actor->most_rates)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "actor %d has %d rates in this step; it said %d at most", i,
                           rates.size, actor->most_rates);
        w->groups[i].size = rates.size, w->groups[i].before = rates.before;
        memcpy(actor->y, rates.y, (size_t)rates.size * sizeof(double));
        memcpy(actor->without, rates.y, (size_t)rates.size * sizeof(double));
    }
    return BOUGH_OK;
}

/* The pushes on one actor, in the order of the contacts. */
static void gather_pushes(world_work *w, int32_t actor, double dt) {
    bough_contact_push *push = w->pushes;
    for (size_t i = 0; i < w->meeting_count; i++)
        for (int side = 0; side < 2; side++) {
            const bo_place *place = &w->places[w->things[side ? w->meetings[i].b : w->meetings[i].a].place];
            if (place->group != actor)
                continue;
            push->place = place->number, push->point = w->meetings[i].points[side];
            bo_store3(push->position, w->meetings[i].position);
            bo_store3(push->force, bo_scale(side ? -1 : 1, bo_scale(1 / dt, impulse_at(w, i))));
            push++;
        }
}

/* Hands over the impulses. *again: somebody asks for one more search. */
static bough_status push_actors(bough_context *ctx, world_work *w, double dt, bool *again) {
    *again = false;
    for (int32_t i = 0; i < w->actor_count; i++) {
        const bo_actor *actor = &w->actors[i];
        const double *better = NULL;
        if (!is_involved(w, actor))
            continue;
        gather_pushes(w, i, dt);
        BO_TRY(actor->table->take(ctx, actor->data, dt, actor->impulse, actor->push_count, w->pushes, &better));
        if (better)
            memcpy(actor->without, better, (size_t)w->groups[i].size * sizeof(double));
        *again = *again || better;
    }
    return BOUGH_OK;
}

/* ---- the step ---- */

static bough_status reserve_results(bough_context *ctx, bough_contact_world *world) {
    world_work *w = bo_world_work(world);
    size_t pushes = 0;
    for (int32_t i = 0; i < w->actor_count; i++)
        pushes = (size_t)w->actors[i].push_count > pushes ? (size_t)w->actors[i].push_count : pushes;
    if (!BO_RESERVE(ctx, w->kept, w->kept_capacity, w->meeting_count) ||
        !BO_RESERVE(ctx, w->pushes, w->push_capacity, pushes) ||
        !BO_RESERVE(ctx, world->contacts, w->contact_capacity, w->meeting_count))
        return bo_fail_memory(ctx);
    return bo_islands_reserve(ctx, &w->islands, w->meeting_count);
}

static bough_status find_impulses(bough_context *ctx, bough_contact_world *world, double dt) {
    world_work *w = bo_world_work(world);
    bo_bodies_predict(world, dt);
    if (!rates_are_finite(w))
        return fail_not_finite(ctx);
    place_all(w, world->bodies);
    BO_TRY(bo_world_meet(ctx, w, dt));
    BO_TRY(fill_constraints(ctx, w, dt, bo_norm(bo_load3(world->gravity))));
    BO_TRY(reserve_results(ctx, world));
    BO_TRY(ask_actors(ctx, w));
    bo_islands_find(&w->islands, (int32_t)w->meeting_count, w->constraints, w->def.islands);
    solve(ctx, world);
    return bo_bodies_move(world, dt) ? BOUGH_OK : fail_not_finite(ctx);
}

/* The same impulses again for other rates without contact, beginning with those found. */
static bough_status find_impulses_again(bough_context *ctx, bough_contact_world *world, double dt) {
    world_work *w = bo_world_work(world);
    const int32_t rounds = world->rounds;
    for (int32_t i = 0; i < w->actor_count; i++)
        memcpy(w->actors[i].y, w->actors[i].without, (size_t)w->groups[i].size * sizeof(double));
    bo_bodies_predict(world, dt);
    if (!rates_are_finite(w))
        return fail_not_finite(ctx);
    solve(ctx, world);
    world->rounds += rounds;
    return bo_bodies_move(world, dt) ? BOUGH_OK : fail_not_finite(ctx);
}

static bough_status find_step(bough_context *ctx, bough_contact_world *world, double dt, int32_t *begun) {
    world_work *w = bo_world_work(world);
    bool again;
    BO_TRY(begin_actors(ctx, w, dt, begun));
    BO_TRY(find_impulses(ctx, world, dt));
    BO_TRY(push_actors(ctx, w, dt, &again));
    while (again) {
        BO_TRY(find_impulses_again(ctx, world, dt));
        BO_TRY(push_actors(ctx, w, dt, &again));
    }
    for (int32_t i = 0; i < w->actor_count; i++)
        if (w->actors[i].table->check)
            BO_TRY(w->actors[i].table->check(ctx, w->actors[i].data, dt));
    return BOUGH_OK;
}

static void keep(bough_contact_world *world, double dt) {
    world_work *w = bo_world_work(world);
    for (size_t i = 0; i < w->meeting_count; i++) {
        const bo_meeting *m = &w->meetings[i];
        bough_contact *c = &world->contacts[i];
        w->kept[i] = (bo_memory_of_impulse){m->a, m->b, m->feature, impulse_at(w, i)};
        *c = bo_contact_of(w, &w->kept[i], dt);
        bo_store3(c->position, m->position);
        bo_store3(c->normal, m->normal);
        c->gap = m->gap;
    }
    world->contact_count = (int32_t)w->meeting_count;
    world->island_count = w->islands.count;
    w->kept_count = w->meeting_count, w->kept_dt = dt;
    for (int32_t i = 0; i < world->body_count; i++)
        world->bodies[i] = w->bodies[i].next;
}

bough_status bough_contact_world_step(bough_context *ctx, bough_contact_world *world, double dt) {
    world_work *w = bo_world_work(world);
    int32_t begun = 0;
    if (!(dt > 0 && isfinite(dt)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the step is %g s; it must be above 0", dt);
    const bough_status status = find_step(ctx, world, dt, &begun);
    for (int32_t i = 0; i < begun; i++) {
        const bo_actor *actor = &w->actors[i];
        if (status == BOUGH_OK)
            actor->table->commit(actor->data, dt);
        else if (actor->table->cancel)
            actor->table->cancel(actor->data);
    }
    if (status == BOUGH_OK)
        keep(world, dt);
    return status;
}
