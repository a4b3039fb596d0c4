/* The simulation's thread: steps the scene in real time, takes orders between steps, shows what has become of it sixty
 * times a second. What it cannot do in time it leaves out: simulated time then runs slower than the wall's. */
#include "session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TICK (1.0 / TICKS_PER_SECOND)
#define LATEST 0.1         /* s: what is further behind is not caught up with */
enum { FEW_FAILURES = 4 }; /* of steps and their parts, that take no time that anybody would notice */

/* ---- stepping ---- */

static void fail(view_session *s) {
    s->failed = s->paused = true;
    session_complain(s, 0, true, "%s", bough_message(s->ctx));
    session_say_settings(s);
}

/* Progress callback of the context. A step that is taken in halves can take minutes: it is interrupted between them, to
 * be continued, when somebody has given an order, and to show the state so far. Other long work within a step, such as
 * a factorisation, would have to begin anew: it is interrupted only at the end of the program. */
static bool may_go_on(void *data, const bough_progress *progress) {
    view_session *s = data;
    const bool in_halves = s->stepping && strcmp(progress->what, "stepping") == 0;
    pthread_mutex_lock(&s->lock);
    const bool go_on = !s->stop && !(in_halves && s->queue_count > 0);
    pthread_mutex_unlock(&s->lock);
    return go_on && !(in_halves && app_seconds() - s->step_began > s->patience);
}

static bough_status step_world(view_session *s, view_world *world) {
    s->stepping = true;
    const bough_status status = bough_run_step(s->ctx, world->run);
    s->stepping = false;
    return status;
}

/* The ghost goes as far as the first world does; where it fails it stays behind. */
static void step_ghost(view_session *s, double time) {
    view_world *ghost = s->worlds[1];
    for (int k = 0; k < 64 && ghost && view_world_time(ghost) < time - 0.5 * ghost->choice.dt; k++) {
        const bough_status status = step_world(s, ghost);
        if (status == BOUGH_CANCELLED)
            return;
        if (!status)
            continue;
        session_complain(s, 0, false, "the ghost has stopped: %s", bough_message(s->ctx));
        view_world_destroy(s->ctx, ghost);
        s->worlds[1] = ghost = NULL;
        if (session_set_stage(s))
            fail(s);
    }
}

/* Once for each time step: what is taken in halves takes longer, and nobody would know why. The step after a part was
 * locked, whose accelerations jump, may fail once or twice, as the processor rounds: that is no reason for a word. */
static void tell_of_halves(view_session *s) {
    bough_run_report report;
    bough_run_look(s->worlds[0]->run, &report);
    const int64_t before = report.dt == s->counted_dt ? s->failures : 0;
    s->counted_dt = report.dt;
    s->failures = before + (report.retries > s->retries ? report.retries - s->retries : 0);
    if (before <= FEW_FAILURES && s->failures > FEW_FAILURES)
        session_complain(s, 0, false, "steps of %g s fail and are taken in parts; a shorter time step takes less time",
                         report.dt);
    s->retries = report.retries;
}

bool session_step(view_session *s) {
    s->step_began = app_seconds();
    const bough_status status = step_world(s, s->worlds[0]);
    s->step_seconds += app_seconds() - s->step_began;
    s->unfinished = status == BOUGH_CANCELLED;
    if (status && !s->unfinished) {
        fail(s);
        return false;
    }
    s->changed = true;
    tell_of_halves(s);
    if (s->unfinished)
        return false;
    s->step_us[s->timed++ % STEPS_TIMED] = 1e6 * s->step_seconds;
    s->step_seconds = 0;
    s->timed = s->timed < 1 << 30 ? s->timed : STEPS_TIMED + s->timed % STEPS_TIMED;
    s->steps++;
    step_ghost(s, view_world_time(s->worlds[0]));
    session_keep_moment(s);
    return true;
}

void session_take_singles(view_session *s) {
    while (s->singles > 0 && !s->failed && session_step(s))
        s->singles--;
}

void session_forget_steps(view_session *s) {
    s->failed = s->unfinished = false;
    s->singles = 0;
}

static double time_due(const view_session *s, double now) {
    return s->base_time + s->speed * (now - s->base_wall);
}

static void advance(view_session *s) {
    const double start = app_seconds(), dt = s->worlds[0]->choice.dt;
    if (time_due(s, start) - view_world_time(s->worlds[0]) > LATEST * s->speed + dt) {
        s->base_wall = start - TICK;
        s->base_time = view_world_time(s->worlds[0]);
    }
    const double due = time_due(s, start) + 1e-9;
    while (!s->failed && (s->unfinished || view_world_time(s->worlds[0]) + dt <= due) &&
           app_seconds() - start < 2 * TICK)
        if (!session_step(s))
            return;
}

/* ---- showing ---- */

static void show_world(view_session *s, int layer) {
    view_snapshot *snapshot;
    if (s->worlds[layer] && !view_snapshot_take(s->ctx, s->worlds[layer], &snapshot))
        session_show(s, (uint32_t)layer, snapshot);
}

static void record_frame(view_session *s) {
    const bough_status status = s->recording ? view_recording_add(s->ctx, s->worlds[0], s->recording) : BOUGH_OK;
    if (!status)
        return;
    session_complain(s, 0, false, "the recording has ended: %s",
                     status == BOUGH_ERROR_UNSUPPORTED
                         ? (s->worlds[0]->boundary ? "a film of a body has at most 513 frames, 17 s, and a GB of memory"
                                                   : "it takes a GB of memory")
                     : status == BOUGH_ERROR_MEMORY ? bough_status_name(status)
                                                    : bough_message(s->ctx));
    session_act(s, &(view_order){.command = {.what = VIEW_DO_RECORD, .flag = false}});
}

static void show(view_session *s) {
    if (!s->changed)
        return;
    s->changed = false;
    if (s->parts_changed) { /* or the wind */
        session_say_parts(s);
        session_say_settings(s);
    }
    s->parts_changed = false;
    record_frame(s);
    if (view_session_seats_taken(s) == 0)
        return;
    for (int k = 0; k < VIEW_LAYERS; k++)
        show_world(s, k);
    s->shown++;
}

/* A field over many vertices takes its time: no more than a tenth of all is spent on colours. */
static void show_colours(view_session *s) {
    const double start = app_seconds();
    if (start < s->colours_due)
        return;
    for (uint32_t what = VIEW_COLOUR_STRESS; what < VIEW_COLOUR_COUNT; what++)
        for (uint32_t layer = 0; layer < VIEW_LAYERS && session_somebody_wants(s, what); layer++) {
            view_message *message;
            if (s->worlds[layer] && !view_colours_make(s->worlds[layer], what, layer, &message))
                session_show_colours(s, what, layer, message);
        }
    s->colours_due = app_seconds() + 9 * (app_seconds() - start);
}

/* ---- figures ---- */

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(view_session *s, double now, view_figures *f) {
    double sorted[STEPS_TIMED];
    const int32_t count = s->timed < STEPS_TIMED ? s->timed : STEPS_TIMED;
    const double cpu = app_cpu_seconds(), time = view_world_time(s->worlds[0]), passed = now - s->told;
    const double since = time < s->told_time ? 0 : s->told_time; /* it began anew meanwhile */
    memcpy(sorted, s->step_us, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, ascending);
    *f = (view_figures){.time = time,
                        .step_us = count ? sorted[count / 2] : NAN,
                        .step_us_99 = count ? sorted[(size_t)(0.99 * (count - 1))] : NAN,
                        .real_time = (time - since) / passed,
                        .load = (cpu - s->told_cpu) / passed,
                        .fps = s->shown / passed,
                        .steps = s->steps};
    s->told = now, s->told_cpu = cpu, s->told_time = time, s->shown = 0;
}

static json_t *json_motors(const bough_run *run) {
    json_t *list = json_array();
    bough_run_motor motor;
    for (int32_t i = 0; bough_run_motor_at(run, i, &motor); i++)
        json_array_append_new(list, app_json_number(motor.offset));
    return list;
}

/* The number of points that push; null: the engine knows none. */
static json_t *json_contacts(view_world *w) {
    return w->can & BOUGH_CAN_CONTACTS && view_world_touch(w, true) >= 0 ? json_integer(w->contact_count) : json_null();
}

static void tell_numbers(view_session *s, double now) {
    view_figures f;
    measure(s, now, &f);
    f.seats = view_session_seats_taken(s);
    pthread_mutex_lock(&s->lock);
    s->figures = f;
    pthread_mutex_unlock(&s->lock);
    if (f.seats == 0)
        return;
    const bough_run *run = s->worlds[0]->run;
    session_tell_newest(
        s, SLOT_NUMBERS,
        view_message_json(json_pack(
            "{s:s, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "say", "numbers", "time", f.time, "values",
            app_json_numbers(bough_run_values(run), bough_run_column_count(run)), "step_us", app_json_number(f.step_us),
            "step_us_99", app_json_number(f.step_us_99), "real_time", app_json_number(f.real_time), "load",
            app_json_number(f.load), "fps", app_json_number(f.fps), "motors", json_motors(run), "contacts",
            json_contacts(s->worlds[0]), "kept_from", app_json_number(session_kept_from(s)))));
    show_colours(s);
}

view_figures view_session_look(view_session *s) {
    pthread_mutex_lock(&s->lock);
    const view_figures f = s->figures;
    pthread_mutex_unlock(&s->lock);
    return f;
}

/* ---- ticks ---- */

static struct timespec time_of(double seconds) {
    return (struct timespec){.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - floor(seconds)))};
}

/* Under the lock: what was ordered since, for the tick that begins. */
static void take_orders(view_session *s) {
    s->order_count = s->queue_count;
    memcpy(s->orders, s->queue, s->queue_count * sizeof *s->orders);
    s->queue_count = 0;
    s->changed |= s->joined;
    s->joined = false;
}

/* Until the next tick; while it is paused also until somebody orders something. False: it is over. */
static bool wait_for_tick(view_session *s) {
    const double now = app_seconds();
    s->ticked = s->ticked + TICK > now - TICK ? s->ticked + TICK : now;
    const struct timespec until = time_of(s->ticked);
    int late = 0;
    pthread_mutex_lock(&s->lock);
    while (!s->stop && !late && !(s->paused && s->queue_count > 0))
        late = pthread_cond_timedwait(&s->wake, &s->lock, &until);
    take_orders(s);
    const bool go_on = !s->stop;
    pthread_mutex_unlock(&s->lock);
    return go_on;
}

/* Orders that make worlds anew take long: only the last of several of one kind counts, so that nobody can keep the
 * simulation busy with them. */
static bool is_overruled(const view_session *s, size_t i) {
    const view_do what = s->orders[i].command.what;
    const bool slow = what == VIEW_DO_RESET || what == VIEW_DO_ENGINE || what == VIEW_DO_GHOST ||
                      what == VIEW_DO_CONTINUITY || what == VIEW_DO_INTEGRATOR || what == VIEW_DO_OPEN;
    for (size_t k = i + 1; k < s->order_count && slow; k++)
        if (s->orders[k].command.what == what)
            return true;
    return false;
}

static void begin(view_session *s) {
    session_restart_clock(s);
    bough_context_set_progress(s->ctx, may_go_on, s);
    s->ticked = s->told = app_seconds(), s->told_cpu = app_cpu_seconds();
}

/* Does what was ordered, takes the steps that are due, and shows what has become of the scene. */
static void tick(view_session *s) {
    for (size_t i = 0; i < s->order_count; i++)
        if (!is_overruled(s, i))
            session_act(s, &s->orders[i]);
    session_let_go(s);
    if (!s->paused)
        advance(s);
    else
        session_take_singles(s);
    show(s);
    if (app_seconds() - s->told >= 1.0 / TOLD_PER_SECOND)
        tell_numbers(s, app_seconds());
}

static void *simulate(void *data) {
    view_session *s = data;
    begin(s);
    while (wait_for_tick(s))
        tick(s);
    return NULL;
}

void view_session_tick(view_session *s) {
    pthread_mutex_lock(&s->lock);
    take_orders(s);
    pthread_mutex_unlock(&s->lock);
    tick(s);
}

/* ---- making ---- */

static bool open_locks(view_session *s) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    const bool good = !pthread_mutex_init(&s->lock, NULL) && !pthread_cond_init(&s->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return good;
}

static bough_status build(view_session *s, const view_session_def *def) {
    s->root = strdup(def->path), s->openable = view_list_files(def->path), s->files = json_array();
    s->folder = def->folder ? strdup(def->folder) : NULL;
    s->orders = malloc(QUEUE_SIZE * sizeof *s->orders);
    s->paused = def->paused, s->speed = 1, s->layers = 1, s->ghost_path = def->ghost;
    if (!s->root || !s->openable || !s->files || !s->orders || (def->folder && !s->folder))
        return BOUGH_ERROR_MEMORY;
    bool at_rest = false;
    bough_status status = session_take_path(s, def->path, &at_rest);
    s->paused |= at_rest;
    if (!status)
        status = view_world_create(s->ctx, s->path, &def->choice, session_on_changes, s, &s->worlds[0]);
    const view_choice ghost = {.path = def->ghost, .continuity = "C0"};
    if (!status && def->ghost)
        status = view_world_create(s->ctx, s->path, &ghost, NULL, s, &s->worlds[1]);
    if (status)
        return status;
    session_look_at_scene(s);
    status = session_set_stage(s);
    if (status)
        return status;
    session_say_settings(s);
    session_say_parts(s);
    s->patience = def->patience > 0 ? def->patience : 2 * TICK;
    if (def->by_ticks) {
        begin(s);
        return BOUGH_OK;
    }
    s->running = pthread_create(&s->thread, NULL, simulate, s) == 0;
    return s->running ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

bough_status view_session_create(bough_context *ctx, const view_session_def *def, view_session **session) {
    *session = NULL;
    view_session *s = calloc(1, sizeof *s);
    if (!s || !open_locks(s)) {
        free(s);
        return BOUGH_ERROR_MEMORY;
    }
    s->ctx = ctx;
    bough_status status = build(s, def);
    if (status)
        view_session_destroy(s);
    else
        *session = s;
    return status;
}

static void end_thread(view_session *s) {
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_broadcast(&s->wake);
    pthread_mutex_unlock(&s->lock);
    if (s->running)
        pthread_join(s->thread, NULL);
}

void view_session_destroy(view_session *s) {
    if (!s)
        return;
    end_thread(s);
    bough_context_set_progress(s->ctx, NULL, NULL);
    for (int i = 0; i < VIEW_SEATS; i++)
        if (s->seats[i])
            view_session_leave(s->seats[i]);
    if (s->recording)
        view_recording_discard(s->ctx, s->recording);
    session_drop_moments(s);
    session_drop_states(s);
    for (int k = 0; k < VIEW_LAYERS; k++)
        view_world_destroy(s->ctx, s->worlds[k]);
    for (int k = 0; k < SLOTS; k++)
        view_message_drop(s->kept[k]);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->wake);
    json_decref(s->files);
    json_decref(s->openable);
    free(s->orders);
    free(s->root);
    free(s->file);
    free(s->path);
    free(s->name);
    free(s->folder);
    free(s);
}

char *view_session_find_recording(view_session *s, const char *name) {
    char *path = NULL;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < json_array_size(s->files) && !path; i++)
        if (!strcmp(json_string_value(json_array_get(s->files, i)), name) &&
            asprintf(&path, "%s/%s", s->folder, name) < 0)
            path = NULL;
    pthread_mutex_unlock(&s->lock);
    return path;
}
