#include "tree/engine_changes.h"

#include "tree/tree.h"

#include <math.h>
#include <string.h>

bough_status bo_changes_make(bough_context *ctx, const bo_tree_plan *plan, const bough_tree_model *model,
                             bo_tree_changes *c) {
    const int32_t parts = bough_tree_model_part_count(model);
    *c = (bo_tree_changes){.plan = plan, .model = model, .list = BO_NEW_ARRAY(ctx, bough_change, 2 * (size_t)parts)};
    if (!c->list || (plan->strength && !(c->stress = BO_NEW_ZEROS(ctx, double, parts))))
        return BOUGH_ERROR_MEMORY;
    return BOUGH_OK;
}

void bo_changes_free(bough_context *ctx, bo_tree_changes *c) {
    bo_free(ctx, c->list);
    bo_free(ctx, c->stress);
    bo_free(ctx, c->log);
    *c = (bo_tree_changes){0};
}

bool bo_part_is_there(const bough_tree_model *model, const bough_tree_state *state, int32_t part) {
    return bo_tree_now(model, state)->inside[part] >= 0;
}

/* ---- the list that is made, and what is told of it ---- */

/* Counts the change of energy by a change of parts; `before`: the energy before it. */
static bough_status count_energy(bo_tree_changes *c, double before) {
    double after;
    BO_TRY(c->energy(c->energy_data, &after));
    c->given += after - before;
    return BOUGH_OK;
}

/* All or nothing; room to tell of it is there before anything changes. */
static bough_status make(bough_context *ctx, bo_tree_changes *c, bough_tree_state *state, int32_t count,
                         const char *name) {
    double before;
    if (count == 0)
        return BOUGH_OK;
    if (!BO_RESERVE(ctx, c->log, c->log_capacity, c->log_count + (size_t)count))
        return BOUGH_ERROR_MEMORY;
    BO_TRY(c->energy(c->energy_data, &before));
    BO_TRY(bough_tree_state_change(ctx, c->model, state, count, c->list));
    BO_TRY(count_energy(c, before));
    for (int32_t i = 0; i < count; i++) {
        const int32_t part = c->list[i].part;
        if (i > 0 && c->list[i - 1].part == part) /* what breaks may be locked too */
            continue;
        c->log[c->log_count++] = (bough_run_change){.time = state->time,
                                                    .change = name ? name : BO_EVENT_NAMES[c->list[i].kind],
                                                    .part = part,
                                                    .tie = -1,
                                                    .name = bough_tree_model_describe(c->model)->parts[part].name,
                                                    .stress = c->stress ? c->stress[part] : NAN,
                                                    .force = NAN};
    }
    return BOUGH_OK;
}

/* Returns the force of a tie in the last step, and its torque. */
static double tie_force(const bough_tree_state *state, int32_t tie) {
    return bo_norm(bo_load3(bo_tree_work_of(state)->tie_motion[tie].force));
}
static double tie_torque(const bough_tree_state *state, int32_t tie) {
    return bo_norm(bo_load3(bo_tree_work_of(state)->tie_motion[tie].force + 3));
}

/* One that is so already stays as it is, and nothing is told. */
static bough_status set_tie(bough_context *ctx, bo_tree_changes *c, bough_tree_state *state, int32_t tie,
                            double strength, const char *name) {
    if ((state->tie_strength[tie] != 0) == (strength != 0))
        return BOUGH_OK;
    double before;
    if (!BO_RESERVE(ctx, c->log, c->log_capacity, c->log_count + 1))
        return BOUGH_ERROR_MEMORY;
    BO_TRY(c->energy(c->energy_data, &before));
    c->log[c->log_count++] = (bough_run_change){.time = state->time,
                                                .change = name,
                                                .part = -1,
                                                .tie = tie,
                                                .name = bough_tree_model_describe(c->model)->ties[tie].name,
                                                .stress = NAN,
                                                .force = strength != 0 ? 0 : tie_force(state, tie)};
    state->tie_strength[tie] = strength;
    return count_energy(c, before);
}

bough_status bo_changes_by_hand(bough_context *ctx, bo_tree_changes *c, bough_tree_state *state, int32_t count,
                                const bough_change *list) {
    if (count > 2 * bough_tree_model_part_count(c->model))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%d changes at once are too many for %d parts", count,
                       bough_tree_model_part_count(c->model));
    memcpy(c->list, list, (size_t)count * sizeof *list);
    if (c->stress)
        bough_tree_state_peak_stresses(ctx, c->model, state, c->stress);
    return make(ctx, c, state, count, NULL);
}

/* ---- events ---- */

double bo_changes_next_time(const bo_tree_changes *c) {
    return c->next < c->plan->event_count ? c->plan->events[c->next].time : INFINITY;
}

/* Whether there is something to change; parts that have broken off or are gone no longer take part in what was planned
 * for them. */
static bool applies(const bo_tree_changes *c, const bough_tree_state *state, bough_change_kind kind, int32_t part) {
    const bough_part_def *now = &bough_tree_state_parts(c->model, state)[part];
    if (kind == BOUGH_CHANGE_ADD)
        return now->absent;
    if (!bo_part_is_there(c->model, state, part))
        return false;
    switch (kind) {
    case BOUGH_CHANGE_DETACH:
        return now->parent >= 0 || !now->free;
    case BOUGH_CHANGE_LOCK:
        return !now->locked;
    case BOUGH_CHANGE_UNLOCK:
        return now->locked;
    default:
        return true;
    }
}

/* Whether what it is to hang on is there. */
static bool has_a_home(const bo_tree_changes *c, const bough_tree_state *state, const bo_tree_event *event,
                       int32_t part) {
    const int32_t home = event->kind == BOUGH_CHANGE_ATTACH ? event->parent
                         : event->kind == BOUGH_CHANGE_REATTACH
                             ? bough_tree_model_describe(c->model)->parts[part].parent
                             : -1;
    return home < 0 || bo_part_is_there(c->model, state, home);
}

/* A root comes to where the event says, or the scene has it; one that was no root, to where it was last. */
static bough_frame frame_of(const bo_tree_changes *c, const bough_tree_state *state, const bo_tree_event *event,
                            int32_t part) {
    const bough_part_def *def = &bough_tree_model_describe(c->model)->parts[part];
    const bool was_root = def->parent < 0;
    bough_frame frame = event->frame;
    if (!event->placed)
        memcpy(frame.pose.position, was_root ? def->position : state->frames[part].pose.position,
               sizeof frame.pose.position);
    if (!event->turned)
        memcpy(frame.pose.rotation, was_root ? def->rotation : state->frames[part].pose.rotation,
               sizeof frame.pose.rotation);
    return frame;
}

static bough_status change_parts(bough_context *ctx, bo_tree_changes *c, bough_tree_state *state,
                                 const bo_tree_event *event) {
    const bough_change_kind kind = (bough_change_kind)event->kind;
    int32_t count = 0;
    for (int32_t i = 0; i < event->part_count; i++) {
        const int32_t part = event->parts[i];
        if (!applies(c, state, kind, part) || !has_a_home(c, state, event, part))
            continue;
        c->list[count] = (bough_change){
            .kind = kind, .part = part, .parent = event->parent, .interface_index = event->interface_index};
        if (kind == BOUGH_CHANGE_ADD)
            c->list[count].frame = frame_of(c, state, event, part);
        count++;
    }
    if (c->stress)
        bough_tree_state_peak_stresses(ctx, c->model, state, c->stress);
    bough_status status = make(ctx, c, state, count, BO_EVENT_NAMES[kind]);
    if (status != BOUGH_OK && status != BOUGH_ERROR_MEMORY)
        bo_prefix_message(ctx, "events[%d] at %g s: ", event->order, event->time);
    return status;
}

static bough_status turn_wind(bough_context *ctx, bo_tree_changes *c, bough_tree_state *state) {
    if (!BO_RESERVE(ctx, c->log, c->log_capacity, c->log_count + 1))
        return BOUGH_ERROR_MEMORY;
    c->log[c->log_count++] =
        (bough_run_change){.time = state->time, .change = "wind", .part = -1, .tie = -1, .stress = NAN, .force = NAN};
    return BOUGH_OK;
}

static bough_status happen(bough_context *ctx, bo_tree_changes *c, bough_tree_state *state,
                           const bo_tree_event *event) {
    if (event->kind == BO_EVENT_WIND)
        return turn_wind(ctx, c, state);
    for (int32_t i = 0; i < event->tie_count; i++)
        BO_TRY(set_tie(ctx, c, state, event->ties[i], event->kind == BO_EVENT_JOIN_TIE, BO_EVENT_NAMES[event->kind]));
    return event->part_count ? change_parts(ctx, c, state, event) : BOUGH_OK;
}

bough_status bo_changes_happen(bough_context *ctx, bo_tree_changes *c, bough_tree_state *state, double t) {
    while (bo_changes_next_time(c) <= t) {
        BO_TRY(happen(ctx, c, state, &c->plan->events[c->next]));
        c->next++;
    }
    return BOUGH_OK;
}

/* The last that has come up. Gusts were carried by the mean as it was all the time, not as it is now: with the factor f
 * they have come as far as a steady mean carries them in the integral of f over f(t). */
bough_wind bo_changes_wind(const bo_tree_changes *c, double t) {
    bough_wind wind = c->plan->wind;
    for (int32_t i = 0; i < c->next; i++)
        if (c->plan->events[i].kind == BO_EVENT_WIND)
            wind = c->plan->events[i].wind;
    if (c->plan->wind_curve < 0)
        return wind;
    const bo_curve *curve = &c->plan->curves[c->plan->wind_curve];
    const double factor = bo_curve_at(curve, t);
    for (int d = 0; d < 3; d++)
        wind.velocity[d] *= factor;
    if (factor > 0)
        wind.lead = bo_curve_integral(curve, t) / factor - t;
    return wind;
}

/* ---- breaking and falling ---- */

/* A part that flies already has nothing to break off from. */
static bough_status break_off(bough_context *ctx, bo_tree_changes *c, bough_tree_state *state) {
    int32_t count = 0;
    if (!c->stress)
        return BOUGH_OK;
    bough_tree_state_peak_stresses(ctx, c->model, state, c->stress);
    for (int32_t part = 0; part < bough_tree_model_part_count(c->model); part++) {
        const bo_tree_strength *strength = &c->plan->strength[part];
        if (!(c->stress[part] > strength->stress) || !applies(c, state, BOUGH_CHANGE_DETACH, part))
            continue;
        c->list[count++] = (bough_change){.kind = BOUGH_CHANGE_DETACH, .part = part};
        if (strength->lock && applies(c, state, BOUGH_CHANGE_LOCK, part))
            c->list[count++] = (bough_change){.kind = BOUGH_CHANGE_LOCK, .part = part};
    }
    return make(ctx, c, state, count, "break");
}

static bough_status remove_fallen(bough_context *ctx, bo_tree_changes *c, bough_tree_state *state) {
    int32_t count = 0;
    for (int32_t k = 0; k < state->root_count; k++)
        if (state->roots[k].centre[2] < c->plan->remove_below)
            c->list[count++] = (bough_change){.kind = BOUGH_CHANGE_REMOVE, .part = state->roots[k].part};
    return make(ctx, c, state, count, "remove");
}

static bough_status break_ties(bough_context *ctx, bo_tree_changes *c, bough_tree_state *state) {
    const bo_tie_strength *strength = c->plan->tie_strength;
    for (int32_t i = 0; strength && i < bough_tree_model_describe(c->model)->tie_count; i++)
        if (tie_force(state, i) > strength[i].force || tie_torque(state, i) > strength[i].torque)
            BO_TRY(set_tie(ctx, c, state, i, 0, "break_tie"));
    return BOUGH_OK;
}

bough_status bo_changes_break(bough_context *ctx, bo_tree_changes *c, bough_tree_state *state) {
    BO_TRY(break_ties(ctx, c, state));
    BO_TRY(break_off(ctx, c, state));
    return remove_fallen(ctx, c, state);
}
