/* Moments to go back to: states that somebody saved by name, and those of the last seconds. */
#include "session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EVERY 0.25      /* s, simulated, between moments of the last seconds */
#define SECONDS 20.0    /* that they reach back */
#define MOST_BYTES 64e6 /* of all of them */

static void drop(view_session *s, view_kept *kept) {
    for (int k = 0; k < VIEW_LAYERS; k++)
        bough_moment_destroy(s->ctx, kept->worlds[k]);
    free(kept->damping);
    *kept = (view_kept){0};
}

/* Entry i of a list goes, and those behind it move up. */
static void take_out(view_session *s, view_kept *list, int32_t *count, int32_t i) {
    drop(s, &list[i]);
    memmove(list + i, list + i + 1, (size_t)(*count - i - 1) * sizeof *list);
    list[--*count] = (view_kept){0};
}

/* The damping that somebody has set is known to the world, not to its run. */
static bool copy_damping(const view_world *w, double **copy) {
    const size_t count = (size_t)w->shape->part_count;
    bool any = false;
    for (size_t p = 0; p < count; p++)
        any |= !isnan(w->damping_ratio[p]);
    *copy = any ? malloc(count * sizeof **copy) : NULL;
    if (*copy)
        memcpy(*copy, w->damping_ratio, count * sizeof **copy);
    return !any || *copy;
}

static bough_status take(view_session *s, view_kept *kept) {
    *kept = (view_kept){0};
    bough_status status = copy_damping(s->worlds[0], &kept->damping) ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int k = 0; k < VIEW_LAYERS && s->worlds[k] && !status; k++)
        status = bough_run_keep(s->ctx, s->worlds[k]->run, &kept->worlds[k]);
    if (status)
        drop(s, kept);
    return status;
}

static void put_damping(view_world *w, const double *damping) {
    for (int32_t p = 0; p < w->shape->part_count; p++)
        w->damping_ratio[p] = damping ? damping[p] : NAN;
}

/* All hands let go, and what was chosen of wind and gravity since acts again. */
static void settle_down(view_session *s) {
    for (int k = 0; k < VIEW_LAYERS && s->worlds[k]; k++)
        for (int hand = 0; hand < VIEW_HANDS; hand++)
            bough_run_release(s->worlds[k]->run, hand);
    session_hand_over(s);
    session_forget_steps(s);
    s->step_seconds = 0, s->retries = INT64_MAX; /* so that what is halved now is told of */
    s->changed = true;
    session_restart_clock(s);
    session_say_settings(s);
    session_say_parts(s);
}

/* False: the state is what it was, and the seat has been told why. */
static bool go_back(view_session *s, uint64_t seat, const view_kept *kept) {
    if (s->worlds[1] && !kept->worlds[1]) {
        session_complain(s, seat, false, "there was no ghost then; choose no ghost to go back to it");
        return false;
    }
    if (s->recording) /* time does not go back in it */
        session_finish_recording(s, seat);
    if (session_complain_if(s, seat, bough_run_return(s->ctx, s->worlds[0]->run, kept->worlds[0])))
        return false;
    if (s->worlds[1])
        session_complain_if(s, seat, bough_run_return(s->ctx, s->worlds[1]->run, kept->worlds[1]));
    put_damping(s->worlds[0], kept->damping);
    settle_down(s);
    return true;
}

/* ---- by name ---- */

static void say_states(view_session *s) {
    json_t *list = json_array();
    for (int32_t i = 0; i < s->state_count; i++)
        json_array_append_new(list, json_pack("{s:o, s:f}", "name", app_json_text(s->states[i].name), "time",
                                              bough_moment_time(s->states[i].worlds[0])));
    session_tell_newest(s, SLOT_STATES, view_message_json(json_pack("{s:s, s:o}", "say", "states", "states", list)));
}

static int32_t find_state(const view_session *s, const char *name) {
    int32_t i = 0;
    while (i < s->state_count && strcmp(s->states[i].name, name) != 0)
        i++;
    return i < s->state_count ? i : -1;
}

void session_keep(view_session *s, uint64_t seat, const view_command *c) {
    const int32_t before = find_state(s, c->name);
    view_kept kept;
    if (!c->name[0] || (before < 0 && s->state_count == VIEW_STATES)) {
        session_complain(s, seat, false,
                         c->name[0] ? "%d states are saved, which is all there is room for; forget one of them first"
                                    : "a state needs a name",
                         VIEW_STATES);
        return;
    }
    if (session_complain_if(s, seat, take(s, &kept)))
        return;
    memcpy(kept.name, c->name, sizeof kept.name);
    if (before >= 0) /* the newest is the last */
        take_out(s, s->states, &s->state_count, before);
    s->states[s->state_count++] = kept;
    say_states(s);
}

void session_restore(view_session *s, uint64_t seat, const view_command *c) {
    const int32_t i = find_state(s, c->name);
    if (i < 0)
        session_complain(s, seat, false, "no state \"%s\" is saved", c->name);
    else if (go_back(s, seat, &s->states[i]))
        session_drop_moments(s); /* they may lie behind it, and are of another past */
}

void session_forget(view_session *s, uint64_t seat, const view_command *c) {
    const int32_t i = find_state(s, c->name);
    if (i < 0)
        session_complain(s, seat, false, "no state \"%s\" is saved", c->name);
    else
        take_out(s, s->states, &s->state_count, i);
    say_states(s);
}

void session_drop_states(view_session *s) {
    const bool any = s->state_count > 0;
    while (s->state_count > 0)
        take_out(s, s->states, &s->state_count, s->state_count - 1);
    if (any)
        say_states(s);
}

/* ---- the last seconds ---- */

static double size_of(const view_kept *kept) {
    double sum = 0;
    for (int k = 0; k < VIEW_LAYERS; k++)
        sum += kept->worlds[k] ? (double)bough_moment_size(kept->worlds[k]) : 0;
    return sum;
}

double session_kept_from(const view_session *s) {
    return s->moment_count > 0 ? bough_moment_time(s->moments[0].worlds[0]) : NAN;
}

/* Large scenes have few, further apart. */
void session_keep_moment(view_session *s) {
    const double time = view_world_time(s->worlds[0]);
    const view_kept *last = s->moment_count > 0 ? &s->moments[s->moment_count - 1] : NULL;
    const double most = last ? fmin(MOMENTS, floor(MOST_BYTES / size_of(last))) : MOMENTS;
    if (last && (most < 1 || time < bough_moment_time(last->worlds[0]) + fmax(EVERY, SECONDS / most) - 1e-9))
        return;
    while (s->moment_count > 0 && (s->moment_count >= most || time - session_kept_from(s) > SECONDS))
        take_out(s, s->moments, &s->moment_count, 0);
    view_kept kept;
    if (!take(s, &kept)) /* else there is no memory: nobody can go back there */
        s->moments[s->moment_count++] = kept;
}

void session_drop_moments(view_session *s) {
    while (s->moment_count > 0)
        take_out(s, s->moments, &s->moment_count, s->moment_count - 1);
}

void session_rewind(view_session *s, uint64_t seat, const view_command *c) {
    int32_t best = -1;
    for (int32_t i = 0; i < s->moment_count; i++) {
        const double far = fabs(bough_moment_time(s->moments[i].worlds[0]) - c->value);
        if (best < 0 || far < fabs(bough_moment_time(s->moments[best].worlds[0]) - c->value))
            best = i;
    }
    if (best < 0)
        session_complain(s, seat, false, "nothing of the last seconds is kept to go back to");
    else if (go_back(s, seat, &s->moments[best]))
        while (s->moment_count > best + 1)
            take_out(s, s->moments, &s->moment_count, s->moment_count - 1);
}
