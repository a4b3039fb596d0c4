/* Carries out commands on the worlds of a session, on the simulation's thread. */
#include "session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- telling what is so ---- */

static bough_wind wind_now(const view_session *s) {
    bough_wind wind = s->wind;
    if (!s->has_wind)
        bough_run_wind(s->worlds[0]->run, &wind);
    return wind;
}

/* Which motors somebody has taken over. */
static json_t *json_held_motors(const bough_run *run) {
    json_t *list = json_array();
    bough_run_motor motor;
    for (int32_t i = 0; bough_run_motor_at(run, i, &motor); i++)
        json_array_append_new(list, json_boolean(motor.held));
    return list;
}

void session_say_settings(view_session *s) {
    const view_choice *c = &s->worlds[0]->choice;
    const bough_wind wind = wind_now(s);
    double gravity[3];
    bough_run_gravity(s->worlds[0]->run, gravity);
    session_tell_newest(
        s, SLOT_SETTINGS,
        view_message_json(json_pack(
            "{s:s, s:b, s:f, s:o, s:o, s:f, s:s?, s:s, s:s, s:s, s:b, s:o}", "say", "settings", "paused",
            (int)s->paused, "speed", s->speed, "wind", view_json_wind(&wind), "gravity", app_json_numbers(gravity, 3),
            "dt", c->dt, "coupling", c->coupling, "integrator", c->integrator, "engine", c->engine, "continuity",
            c->continuity, "recording", (int)(s->recording != NULL), "motors", json_held_motors(s->worlds[0]->run))));
}

static void add_pair(json_t *list, int32_t part, double number) {
    json_array_append_new(list, json_pack("[i, o]", (int)part, app_json_number(number)));
}

void session_say_parts(view_session *s) {
    const view_world *w = s->worlds[0];
    json_t *absent = json_array(), *loose = json_array(), *locked = json_array(), *stiff = json_array(),
           *damped = json_array();
    for (int32_t p = 0; p < view_world_part_count(w); p++) {
        bough_thing_state now;
        bough_run_thing_state(w->run, p, &now);
        if (!now.there)
            json_array_append_new(absent, json_integer(p));
        if (now.loose)
            json_array_append_new(loose, json_integer(p));
        if (now.locked)
            json_array_append_new(locked, json_integer(p));
        if (now.stiffness != bough_run_thing(w->run, p)->stiffness)
            add_pair(stiff, p, now.stiffness);
        if (!isnan(w->damping_ratio[p]))
            add_pair(damped, p, w->damping_ratio[p]);
    }
    session_tell_newest(
        s, SLOT_PARTS,
        view_message_json(json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "say", "parts", "absent", absent, "loose", loose,
                                    "locked", locked, "stiffness", stiff, "damping", damped)));
}

void session_on_changes(void *data, const bough_run_change *changes, int32_t count) {
    view_session *s = data;
    for (int32_t i = 0; i < count; i++)
        session_tell_all(
            s, view_message_json(json_pack("{s:s, s:f, s:s, s:i, s:o}", "say", "event", "time", changes[i].time,
                                           "change", changes[i].change, "part", (int)changes[i].part, "name",
                                           changes[i].name ? app_json_text(changes[i].name) : json_null())));
    s->parts_changed = true;
}

bough_status session_set_stage(view_session *s) {
    view_message *message;
    const bough_wind wind = wind_now(s);
    double gravity[3];
    bough_run_gravity(s->worlds[0]->run, gravity);
    const view_stage stage = {.name = s->name,
                              .scene = &s->scene,
                              .worlds = {s->worlds[0], s->worlds[1]},
                              .wind = &wind,
                              .gravity = gravity,
                              .files = s->openable,
                              .file = s->file,
                              .generation = ++s->generation};
    for (int k = 0; k < VIEW_LAYERS; k++)
        if (s->worlds[k])
            s->worlds[k]->shape->generation = s->generation;
    bough_status status = view_stage_make(&stage, &message);
    if (status)
        return status;
    pthread_mutex_lock(&s->lock);
    s->layers = s->worlds[1] ? 2 : 1;
    pthread_mutex_unlock(&s->lock);
    session_tell_newest(s, SLOT_STAGE, message);
    s->changed = true;
    return BOUGH_OK;
}

bool session_complain_if(view_session *s, uint64_t seat, bough_status status) {
    if (status)
        session_complain_of(s, seat, status);
    return status != BOUGH_OK;
}

/* ---- hands ---- */

/* A part's vertex on the one mesh of another world: the nearest at rest. */
static int32_t nearest_on_body(const view_world *body, const view_world *parts, int32_t part, int32_t vertex) {
    const bough_mesh *mesh = bough_run_mesh(body->run), *surface = bough_run_mesh(parts->run);
    if (!mesh || !surface)
        return -1;
    const double *x = surface->vertices + 3 * (size_t)(parts->shape->parts[part].first + vertex);
    int32_t nearest = -1;
    double least = INFINITY;
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        const double *y = mesh->vertices + 3 * (size_t)v;
        const double d = pow(x[0] - y[0], 2) + pow(x[1] - y[1], 2) + pow(x[2] - y[2], 2);
        if (d < least)
            least = d, nearest = v;
    }
    return nearest;
}

/* Part and vertex of the first world, as the run of world k has them. False: there is no such thing. */
static bool find_vertex(const view_session *s, int k, int32_t part, int32_t vertex, int32_t *its_part,
                        int32_t *its_vertex) {
    const view_world *first = s->worlds[0], *w = s->worlds[k];
    if (!view_world_has_part(first, part) || vertex < 0 || vertex >= first->shape->parts[part].vertices)
        return false;
    if (first->boundary && part > 0)
        return false; /* an obstacle */
    if (k > 0 && w->boundary && !first->boundary)
        *its_vertex = nearest_on_body(w, first, part, vertex);
    else
        *its_vertex = view_world_vertex(w, vertex);
    *its_part = w->boundary ? view_world_body(w, *its_vertex) : part;
    return *its_vertex >= 0 && (k == 0 || w->boundary || !first->boundary);
}

/* Everybody has hands of their own, by the same numbers; all share those of the run. NULL: there is no such one. */
static view_held *find_hand(view_session *s, bool holds, uint64_t seat, int32_t number) {
    for (int i = 0; i < VIEW_HANDS; i++) {
        view_held *hand = &s->hands[i];
        if (hand->holds == holds && (!holds || (hand->seat == seat && hand->number == number)))
            return hand;
    }
    return NULL;
}

static void pull(view_session *s, uint64_t seat, const view_command *c) {
    view_held *hand = find_hand(s, true, seat, c->hand);
    int32_t part, vertex;
    if (!find_vertex(s, 0, c->part, c->vertex, &part, &vertex)) {
        session_complain(s, seat, false, "part %d has no vertex %d", c->part, c->vertex);
        return;
    }
    if (!hand && !(hand = find_hand(s, false, seat, c->hand))) {
        session_complain(s, seat, false, "others pull with all %d hands; wait until one is let go", VIEW_HANDS);
        return;
    }
    if (!hand->holds || hand->part != c->part || hand->vertex != c->vertex || !isnan(c->value)) {
        *hand = (view_held){.holds = true, .seat = seat, .number = c->hand, .part = c->part, .vertex = c->vertex};
        session_complain_if(s, seat,
                            bough_run_spring(s->ctx, s->worlds[0]->run, c->part, &hand->stiffness, &hand->damping));
        if (!isnan(c->value)) {
            hand->damping *= sqrt(c->value / hand->stiffness);
            hand->stiffness = c->value;
        }
    }
    memcpy(hand->target, c->vector, sizeof hand->target);
    for (int k = 0; k < VIEW_LAYERS && s->worlds[k]; k++)
        if (find_vertex(s, k, c->part, c->vertex, &part, &vertex))
            session_complain_if(s, seat,
                                bough_run_pull(s->ctx, s->worlds[k]->run, (int32_t)(hand - s->hands), part, vertex,
                                               hand->target, hand->stiffness, hand->damping));
}

static void release(view_session *s, view_held *hand) {
    if (!hand)
        return;
    hand->holds = false;
    for (int k = 0; k < VIEW_LAYERS && s->worlds[k]; k++)
        bough_run_release(s->worlds[k]->run, (int32_t)(hand - s->hands));
}

void session_let_go(view_session *s) {
    for (int i = 0; i < VIEW_HANDS; i++)
        if (s->hands[i].holds && !session_has_seat(s, s->hands[i].seat))
            release(s, &s->hands[i]);
}

static void poke(view_session *s, uint64_t seat, const view_command *c) {
    int32_t part, vertex;
    for (int k = 0; k < VIEW_LAYERS && s->worlds[k]; k++)
        if (!find_vertex(s, k, c->part, c->vertex, &part, &vertex))
            session_complain(s, seat, false, "part %d has no vertex %d", c->part, c->vertex);
        else
            session_complain_if(s, seat, bough_run_poke(s->ctx, s->worlds[k]->run, part, vertex, c->vector));
}

/* ---- air and weight ---- */

static bough_status blow(view_session *s) {
    bough_status status = BOUGH_OK;
    for (int k = 0; k < VIEW_LAYERS && s->worlds[k] && !status; k++)
        if (s->worlds[k]->can & BOUGH_CAN_WIND)
            status = bough_run_set_wind(s->ctx, s->worlds[k]->run, s->has_wind ? &s->wind : NULL);
    return status;
}

static void set_wind(view_session *s, uint64_t seat, const view_command *c) {
    if (!(s->worlds[0]->can & BOUGH_CAN_WIND)) { /* the run has a sentence for it */
        session_complain_if(s, seat, bough_run_set_wind(s->ctx, s->worlds[0]->run, NULL));
        return;
    }
    const bough_wind before = wind_now(s);
    s->has_wind = c->flag || !isnan(c->value);
    s->wind = before;
    if (c->flag)
        memcpy(s->wind.velocity, c->vector, sizeof s->wind.velocity);
    if (!isnan(c->value))
        s->wind.gust = c->value;
    session_complain_if(s, seat, blow(s));
    session_say_settings(s);
}

static bough_status weigh(view_session *s) {
    bough_status status = BOUGH_OK;
    for (int k = 0; k < VIEW_LAYERS && s->worlds[k] && s->has_gravity && !status; k++)
        status = bough_run_set_gravity(s->ctx, s->worlds[k]->run, s->gravity);
    return status;
}

static void set_gravity(view_session *s, uint64_t seat, const view_command *c) {
    s->has_gravity = true;
    memcpy(s->gravity, c->vector, sizeof s->gravity);
    session_complain_if(s, seat, weigh(s));
    session_say_settings(s);
}

void session_hand_over(view_session *s) {
    memset(s->hands, 0, sizeof s->hands);
    if (s->has_wind)
        blow(s);
    weigh(s);
}

/* ---- motors ---- */

static void set_motor(view_session *s, uint64_t seat, const view_command *c) {
    for (int k = 0; k < VIEW_LAYERS && s->worlds[k]; k++) {
        bough_run *run = s->worlds[k]->run;
        const int32_t count = bough_run_motor_count(run), first = c->motor < 0 ? 0 : c->motor;
        if (c->motor >= count || count == 0)
            session_complain(s, seat, false, "this scene has no such motor");
        for (int32_t i = first; i < (c->motor < 0 ? count : c->motor + 1) && i < count; i++)
            session_complain_if(s, seat, bough_run_set_motor(s->ctx, run, i, c->value));
    }
    session_say_settings(s);
}

/* ---- worlds that are made anew ---- */

void session_restart_clock(view_session *s) {
    s->base_wall = app_seconds();
    s->base_time = view_world_time(s->worlds[0]);
}

/* The world in place k becomes one of the choice; where it cannot be made, all is as before. */
static bool remake(view_session *s, uint64_t seat, int k, const view_choice *choice) {
    view_world *made;
    if (session_complain_if(s, seat,
                            view_world_create(s->ctx, s->path, choice, k == 0 ? session_on_changes : NULL, s, &made)))
        return false;
    made->shape->generation = s->generation;
    view_world_destroy(s->ctx, s->worlds[k]);
    s->worlds[k] = made;
    return true;
}

static void drop_ghost(view_session *s) {
    view_world_destroy(s->ctx, s->worlds[1]);
    s->worlds[1] = NULL;
}

/* The context has a sentence for only some of the files that cannot be written. */
static void complain_of_recording(view_session *s, uint64_t seat, bough_status status) {
    if (status == BOUGH_ERROR_FILE)
        session_complain(s, seat, false, "recordings cannot be written to %s; is it there, and space left?", s->folder);
    else
        session_complain_if(s, seat, status);
}

void session_finish_recording(view_session *s, uint64_t seat) {
    json_t *names = json_array();
    complain_of_recording(s, seat, view_recording_finish(s->ctx, s->recording, names));
    s->recording = NULL;
    pthread_mutex_lock(&s->lock);
    json_array_extend(s->files, names);
    json_t *all = json_copy(s->files);
    pthread_mutex_unlock(&s->lock);
    json_decref(names);
    session_tell_newest(s, SLOT_RECORDED, view_message_json(json_pack("{s:s, s:o}", "say", "recorded", "files", all)));
}

bool session_restart(view_session *s, uint64_t seat, const view_choice *choice) {
    const view_choice own = *choice;
    if (s->recording) /* time does not go back in it */
        session_finish_recording(s, seat);
    if (!remake(s, seat, 0, &own))
        return false;
    if (s->worlds[1]) {
        const view_choice ghost = s->worlds[1]->choice;
        if (!remake(s, seat, 1, &ghost))
            drop_ghost(s);
    }
    session_forget_steps(s);
    s->step_seconds = 0;
    s->changed = true;
    s->retries = s->failures = 0;
    session_drop_moments(s);
    session_hand_over(s);
    session_restart_clock(s);
    return true;
}

/* The file may have been changed since the stage was made of it. Shapes are compared, not files: other numbers of
 * springs or wind are nothing to draw. */
static bool is_same_shape(const view_shape *a, const view_shape *b) {
    bool same = a->part_count == b->part_count && a->vertex_count == b->vertex_count;
    for (int32_t p = 0; same && p < a->part_count; p++) {
        const view_shape_part *x = &a->parts[p], *y = &b->parts[p];
        same = x->component == y->component && x->parent == y->parent && x->scale == y->scale && x->size == y->size &&
               x->r == y->r && x->vertices == y->vertices && x->streamed == y->streamed &&
               (x->r == 0 || memcmp(x->reach, y->reach, (size_t)x->r * sizeof *x->reach) == 0); /* links have none */
    }
    return same;
}

static void reset(view_session *s, uint64_t seat) {
    view_shape *before[VIEW_LAYERS] = {NULL};
    for (int k = 0; k < VIEW_LAYERS && s->worlds[k]; k++)
        before[k] = view_shape_hold(s->worlds[k]->shape);
    const bool done = session_restart(s, seat, &s->worlds[0]->choice);
    bool same = true;
    for (int k = 0; k < VIEW_LAYERS; k++) {
        same &= !before[k] || (s->worlds[k] && is_same_shape(before[k], s->worlds[k]->shape));
        view_shape_drop(before[k]);
    }
    if (!done)
        return;
    if (!same)
        session_complain_if(s, seat, session_set_stage(s));
    session_say_settings(s);
    session_say_parts(s);
}

static const char *constant(const char *name, const char *const *names) {
    for (; *names; names++)
        if (!strcasecmp(name, *names))
            return *names;
    return NULL;
}

static const char *const couplings[] = {"L1", "L2", "L2R", "L3", NULL};
static const char *const continuities[] = {"none", "C0", "C1", NULL};

/* Another engine: other things to draw. */
static void restage(view_session *s, uint64_t seat, const view_choice *choice) {
    if (!session_restart(s, seat, choice))
        return;
    session_complain_if(s, seat, session_set_stage(s));
    session_say_settings(s);
    session_say_parts(s);
}

/* The engine of that name that can step the scene; NULL: there is none. */
static const char *engine_named(const view_session *s, const char *name) {
    for (int32_t i = 0; i < s->scene.engine_count; i++)
        if (s->scene.engines[i].suits && !strcasecmp(name, s->scene.engines[i].name))
            return s->scene.engines[i].name;
    return NULL;
}

static void set_engine(view_session *s, uint64_t seat, const char *name) {
    view_choice choice = {.engine = engine_named(s, name), .continuity = s->worlds[0]->choice.continuity};
    if (choice.engine)
        restage(s, seat, &choice);
    else
        session_complain(s, seat, false, "this scene has no engine \"%s\"", name);
}

static void set_coupling(view_session *s, uint64_t seat, const char *name) {
    view_world *w = s->worlds[0];
    if (!session_complain_if(s, seat, bough_run_set_coupling(s->ctx, w->run, name)))
        w->choice.coupling = constant(name, couplings);
    session_say_settings(s);
}

static const char *integrator_named(const char *name) {
    for (int32_t i = 0; i < bough_integrator_count(); i++)
        if (!strcasecmp(bough_integrator_describe(i)->name, name))
            return bough_integrator_describe(i)->name;
    return NULL;
}

static void set_integrator(view_session *s, uint64_t seat, const char *name) {
    view_world *w = s->worlds[0];
    const char *known = integrator_named(name);
    if (!known) {
        session_complain(s, seat, false, "there is no integrator \"%s\"", name);
        return;
    }
    if (!(w->can & BOUGH_CAN_INTEGRATOR)) {
        view_choice choice = w->choice;
        choice.integrator = known;
        if (session_restart(s, seat, &choice)) {
            session_complain(s, 0, false, "the scene began anew, with the integrator %s", known);
            session_say_settings(s);
        }
        return;
    }
    if (!session_complain_if(s, seat, bough_run_set_integrator(s->ctx, w->run, known)))
        w->choice.integrator = known;
    session_say_settings(s);
}

/* Steps of all worlds stay the same: they are to be compared. */
static void set_dt(view_session *s, uint64_t seat, double dt) {
    for (int k = 0; k < VIEW_LAYERS && s->worlds[k]; k++)
        if (!session_complain_if(s, seat, bough_run_set_dt(s->ctx, s->worlds[k]->run, dt)))
            s->worlds[k]->choice.dt = dt;
    session_restart_clock(s);
    session_say_settings(s);
}

/* C1 is drawn by the program, so that other things are sent. */
static void set_continuity(view_session *s, uint64_t seat, const char *name) {
    view_world *w = s->worlds[0];
    const char *before = w->choice.continuity;
    if (session_complain_if(s, seat, bough_run_set_continuity(s->ctx, w->run, name)))
        return;
    w->choice.continuity = constant(name, continuities);
    const bool other = !strcmp(w->choice.continuity, "C1") != !strcmp(before, "C1");
    if (other && (view_world_reshape(s->ctx, w) || session_set_stage(s))) {
        w->choice.continuity = before;
        bough_run_set_continuity(s->ctx, w->run, before);
        session_complain(s, seat, false, "there is not enough memory");
    }
    s->changed = true;
    session_say_settings(s);
}

/* Both begin at the start, so that they can be compared; all are told, since their time begins anew. */
static void set_ghost(view_session *s, uint64_t seat, const view_command *c) {
    const double time = view_world_time(s->worlds[0]);
    view_choice choice = {.continuity = "C0", .dt = s->worlds[0]->choice.dt};
    const bool none = !c->name[0] && !c->coupling[0];
    if (s->ghost_path && !strcmp(c->name, "file")) /* by its own engine and steps */
        choice.path = s->ghost_path, choice.dt = 0;
    else
        choice.engine = c->name[0] ? engine_named(s, c->name) : s->worlds[0]->choice.engine;
    choice.coupling = c->coupling[0] ? constant(c->coupling, couplings) : NULL;
    if (none)
        drop_ghost(s);
    else if ((!choice.engine && !choice.path) || (c->coupling[0] && !choice.coupling)) {
        session_complain(s, seat, false, "this scene has no engine or coupling of that name");
        return;
    } else if (!remake(s, seat, 1, &choice))
        return;
    else if (!session_restart(s, seat, &s->worlds[0]->choice))
        drop_ghost(s); /* of another time than the first, and on no stage */
    else if (time > 0)
        session_note(s, "scene and ghost begin at the start, so that they can be compared: time is 0 again");
    session_complain_if(s, seat, session_set_stage(s));
    session_say_settings(s);
    session_say_parts(s);
}

/* ---- parts ---- */

bool session_need_part(view_session *s, uint64_t seat, int32_t part, uint32_t capability) {
    const view_world *w = s->worlds[0];
    const bough_status refused = w->can & capability ? BOUGH_OK : bough_run_change_parts(s->ctx, w->run, 0, NULL);
    if (refused) /* the run has a sentence for it */
        session_complain_of(s, seat, refused);
    else if (!view_world_has_part(w, part))
        session_complain(s, seat, false, "there is no part %d", part);
    return !refused && view_world_has_part(w, part);
}

/* Parts that are absent can only be added, which is what putting them back means then. */
static bough_status change_part(bough_context *ctx, const view_world *w, view_do what, int32_t part) {
    static const struct {
        view_do what;
        bough_change_kind kind;
    } kinds[] = {{VIEW_DO_CUT, BOUGH_CHANGE_DETACH},
                 {VIEW_DO_LOCK, BOUGH_CHANGE_LOCK},
                 {VIEW_DO_UNLOCK, BOUGH_CHANGE_UNLOCK},
                 {VIEW_DO_REATTACH, BOUGH_CHANGE_REATTACH},
                 {VIEW_DO_REMOVE, BOUGH_CHANGE_REMOVE}};
    const bough_pose *rest = &bough_run_thing(w->run, part)->rest;
    bough_change change = {.part = part, .parent = -1};
    bough_thing_state now;
    bough_run_thing_state(w->run, part, &now);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].what == what)
            change.kind = kinds[i].kind;
    if (what == VIEW_DO_REATTACH && now.removed) {
        change.kind = BOUGH_CHANGE_ADD;
        memcpy(change.frame.pose.rotation, rest->rotation, sizeof rest->rotation);
        memcpy(change.frame.pose.position, rest->position, sizeof rest->position);
    }
    return bough_run_change_parts(ctx, w->run, 1, &change);
}

static void act_on_part(view_session *s, uint64_t seat, view_do what, int32_t part) {
    if (!session_need_part(s, seat, part, BOUGH_CAN_CHANGE))
        return;
    for (int k = 0; k < VIEW_LAYERS && s->worlds[k]; k++)
        if (s->worlds[k]->can & BOUGH_CAN_CHANGE)
            session_complain_if(s, seat, change_part(s->ctx, s->worlds[k], what, part));
    s->changed = true;
    session_say_parts(s);
}

static bough_status paint(bough_context *ctx, const view_world *w, const view_command *c) {
    return c->what == VIEW_DO_STIFFNESS ? bough_run_set_stiffness(ctx, w->run, c->part, c->flag, c->value)
                                        : bough_run_set_damping(ctx, w->run, c->part, c->flag, c->value);
}

static void act_on_paint(view_session *s, uint64_t seat, const view_command *c) {
    if (!session_need_part(s, seat, c->part, BOUGH_CAN_PAINT))
        return;
    for (int k = 0; k < VIEW_LAYERS && s->worlds[k]; k++)
        if (s->worlds[k]->can & BOUGH_CAN_PAINT && session_complain_if(s, seat, paint(s->ctx, s->worlds[k], c)))
            return;
    const view_world *w = s->worlds[0];
    for (int32_t p = 0; p < w->shape->part_count && c->what == VIEW_DO_DAMPING; p++)
        if (p == c->part || (c->flag && w->shape->parts[p].component == w->shape->parts[c->part].component))
            w->damping_ratio[p] = c->value;
    session_say_parts(s);
}

/* ---- recording ---- */

static void record(view_session *s, uint64_t seat, bool on) {
    if (on && !s->recording && !s->folder)
        session_complain(s, seat, false, "there is no folder for recordings");
    else if (on && !s->recording)
        complain_of_recording(s, seat,
                              view_recording_start(s->ctx, s->worlds[0], s->folder, ++s->recordings, &s->recording));
    else if (!on && s->recording)
        session_finish_recording(s, seat);
    session_say_settings(s);
}

/* ---- all of them ---- */

static void set_paused(view_session *s, uint64_t seat, bool paused) {
    if (!paused && s->failed) {
        session_complain(s, seat, false, "the simulation has stopped; reset it to go on");
        return;
    }
    s->paused = paused;
    s->singles = 0;
    session_restart_clock(s);
    session_say_settings(s);
}

static void set_speed(view_session *s, double speed) {
    s->speed = speed;
    session_restart_clock(s);
    session_say_settings(s);
}

static void act_on_settings(view_session *s, uint64_t seat, const view_command *c) {
    switch (c->what) {
    case VIEW_DO_WIND:
        set_wind(s, seat, c);
        break;
    case VIEW_DO_GRAVITY:
        set_gravity(s, seat, c);
        break;
    case VIEW_DO_DT:
        set_dt(s, seat, c->value);
        break;
    case VIEW_DO_COUPLING:
        set_coupling(s, seat, c->name);
        break;
    case VIEW_DO_INTEGRATOR:
        set_integrator(s, seat, c->name);
        break;
    case VIEW_DO_ENGINE:
        set_engine(s, seat, c->name);
        break;
    case VIEW_DO_CONTINUITY:
        set_continuity(s, seat, c->name);
        break;
    case VIEW_DO_GHOST:
        set_ghost(s, seat, c);
        break;
    case VIEW_DO_MOTOR:
        set_motor(s, seat, c);
        break;
    default:
        break;
    }
}

void session_act(view_session *s, const view_order *order) {
    const view_command *c = &order->command;
    switch (c->what) {
    case VIEW_DO_PULL:
        pull(s, order->seat, c);
        break;
    case VIEW_DO_RELEASE:
        release(s, find_hand(s, true, order->seat, c->hand));
        break;
    case VIEW_DO_POKE:
        poke(s, order->seat, c);
        break;
    case VIEW_DO_PAUSE:
    case VIEW_DO_PLAY:
        set_paused(s, order->seat, c->what == VIEW_DO_PAUSE);
        break;
    case VIEW_DO_STEP:
        if (s->paused && !s->failed && s->singles < MOST_SINGLES) {
            s->singles++;
            session_take_singles(s);
        }
        break;
    case VIEW_DO_RESET:
        reset(s, order->seat);
        break;
    case VIEW_DO_SPEED:
        set_speed(s, c->value);
        break;
    case VIEW_DO_STIFFNESS:
    case VIEW_DO_DAMPING:
        act_on_paint(s, order->seat, c);
        break;
    case VIEW_DO_CUT:
    case VIEW_DO_LOCK:
    case VIEW_DO_UNLOCK:
    case VIEW_DO_REATTACH:
    case VIEW_DO_REMOVE:
        act_on_part(s, order->seat, c->what, c->part);
        break;
    case VIEW_DO_PICK:
        session_pick(s, order->seat, c);
        break;
    case VIEW_DO_RECORD:
        record(s, order->seat, c->flag);
        break;
    case VIEW_DO_KEEP:
        session_keep(s, order->seat, c);
        break;
    case VIEW_DO_RESTORE:
        session_restore(s, order->seat, c);
        break;
    case VIEW_DO_FORGET:
        session_forget(s, order->seat, c);
        break;
    case VIEW_DO_REWIND:
        session_rewind(s, order->seat, c);
        break;
    case VIEW_DO_OPEN:
        session_open(s, order->seat, c);
        break;
    default:
        act_on_settings(s, order->seat, c);
    }
}
