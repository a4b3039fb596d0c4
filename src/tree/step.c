/* One step of a tree in time. docs/theory/tree.md, "Integration". */
#include "tree/groves.h"
#include "tree/ledger.h"
#include "tree/log.h"
#include "tree/rest.h"
#include "tree/system.h"
#include "tree/touch.h"

#include "base/threads.h"

#include <math.h>
#include <string.h>

/* Coordinates at a time: a few microseconds. */
enum { GRAIN = 2048, MOST_GRAINS = 64 };

static int32_t grain_of(int32_t count) {
    const int32_t least = (count + MOST_GRAINS - 1) / MOST_GRAINS;
    return least > GRAIN ? least : GRAIN;
}

/* A task that is done with all coordinates, by ranges. */
typedef struct {
    const bough_tree_state *state;
    bough_tree_state *target; /* the same where it is written to */
    const bo_tree_scheme *scheme;
    bool no[MOST_GRAINS]; /* out */
} each_coordinate;

/* All coordinates of the model, or of the grove that it is seen as. */
static void visit(bough_context *ctx, const bough_tree_model *model, bo_range_task task, each_coordinate *each) {
    if (!model->grove)
        bo_parallel_for(ctx, model->size, grain_of(model->size), task, each);
    for (int32_t k = 0; model->grove && k < model->grove->run_count; k++)
        task(each, model->grove->runs[k].first, model->grove->runs[k].end, 0);
}

static bool any_no(const each_coordinate *each) {
    for (int c = 0; c < MOST_GRAINS; c++)
        if (each->no[c])
            return true;
    return false;
}

static void advance_some(void *data, int32_t begin, int32_t end, int32_t chunk) {
    each_coordinate *each = data;
    const bough_tree_state *state = each->state;
    const bo_tree_scheme *h = each->scheme;
    const double of_v = h->dt, of_a = h->dt * h->dt * (0.5 - h->beta), of_next = h->dt * h->dt * h->beta;
    const double *restrict q = state->q, *restrict v = state->v, *restrict a = state->a;
    const double *restrict next = bo_tree_work_of(state)->next_a;
    double *restrict next_q = bo_tree_work_of(state)->next_q, *restrict next_v = bo_tree_work_of(state)->next_v;
    (void)chunk;
    for (int32_t k = begin; k < end; k++) {
        next_q[k] = q[k] + of_v * v[k] + of_a * a[k] + of_next * next[k];
        next_v[k] = v[k] + h->dt * ((1 - h->gamma) * a[k] + h->gamma * next[k]);
    }
}

/* Foresees where a step takes inertia and forces: at t + (1 + alpha) dt, by the mean velocity and acceleration of the
 * step before. A vibration that is too fast for the step turns round in each, so that its mean velocity is nearly none:
 * it is not thrown ahead, as it would be by v and a. */
static void foresee_some(void *data, int32_t begin, int32_t end, int32_t chunk) {
    each_coordinate *each = data;
    const bough_tree_state *state = each->state;
    const double ahead = (1 + each->scheme->alpha) * each->scheme->dt;
    const double back = 0.5 * (state->last_dt > 0 ? state->last_dt : each->scheme->dt);
    const double *restrict q = state->q, *restrict v = state->v, *restrict mean = state->mean_a;
    double *restrict there_q = bo_tree_work_of(state)->mid_q, *restrict there_v = bo_tree_work_of(state)->mid_v;
    (void)chunk;
    for (int32_t k = begin; k < end; k++) {
        there_q[k] = q[k] + ahead * (v[k] - back * mean[k]);
        there_v[k] = v[k] + ahead * mean[k];
    }
}

/* The same by where a step has led at that time. */
static void review_some(void *data, int32_t begin, int32_t end, int32_t chunk) {
    each_coordinate *each = data;
    const bough_tree_state *state = each->state;
    const bo_tree_work *w = bo_tree_work_of(state);
    const double share = 1 + each->scheme->alpha;
    (void)chunk;
    for (int32_t k = begin; k < end; k++) {
        w->mid_q[k] = state->q[k] + share * (w->next_q[k] - state->q[k]);
        w->mid_v[k] = state->v[k] + share * (w->next_v[k] - state->v[k]);
    }
}

/* Trees that fly begin with their state, and see where they have been led in a second pass. */
static void foresee_no_flights(const bough_tree_model *model, const bough_tree_state *state) {
    bo_tree_work *w = bo_tree_work_of(state);
    for (int32_t d = 0; d < model->level_count && model->free_count > 0; d++)
        for (int32_t i = model->levels[d].first_part; i < model->levels[d].end_part; i++) {
            const bo_tree_part *part = &model->parts[i];
            const bo_tree_joint *joint = part->joint >= 0 ? &model->joints[part->joint] : NULL;
            for (int32_t k = part->offset; part->flies && k < part->offset + part->r; k++)
                w->mid_q[k] = state->q[k], w->mid_v[k] = state->v[k];
            for (int32_t k = 0; part->flies && joint && k < joint->count; k++) {
                w->mid_q[joint->offset + k] = state->q[joint->offset + k];
                w->mid_v[joint->offset + k] = state->v[joint->offset + k];
            }
        }
}

static void advance(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                    const bo_tree_scheme *h) {
    visit(ctx, model, advance_some, &(each_coordinate){.state = state, .scheme = h});
}

/* no: a new acceleration is not finite */
static void look_at_some(void *data, int32_t begin, int32_t end, int32_t chunk) {
    each_coordinate *each = data;
    each->no[chunk] |= !bo_all_finite(end - begin, bo_tree_work_of(each->state)->next_a + begin);
}

static bool is_finite(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state) {
    each_coordinate each = {.state = state};
    visit(ctx, model, look_at_some, &each);
    return !any_no(&each);
}

/* Mean accelerations of the step, which the next one looks ahead by: kept in mid_v until it is accepted. */
static void average_some(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const each_coordinate *each = data;
    const bough_tree_state *state = each->state;
    const bo_tree_work *w = bo_tree_work_of(state);
    const double rate = each->scheme->dt > 0 ? 1 / each->scheme->dt : 0, *blow = bo_tree_touch_answers(w);
    (void)chunk;
    for (int32_t k = begin; k < end; k++)
        w->mid_v[k] = rate > 0 ? rate * (w->next_v[k] - state->v[k]) : w->next_a[k];
    for (int32_t k = begin; k < end && blow; k++) /* contacts come and go: nothing goes on with their blows */
        w->mid_v[k] -= blow[k];
}

static void accept_some(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const each_coordinate *each = data;
    bough_tree_state *state = each->target;
    const bo_tree_work *w = bo_tree_work_of(state);
    const size_t bytes = (size_t)(end - begin) * sizeof(double);
    (void)chunk;
    memcpy(state->mean_a + begin, w->mid_v + begin, bytes);
    memcpy(state->q + begin, w->next_q + begin, bytes);
    memcpy(state->v + begin, w->next_v + begin, bytes);
    memcpy(state->a + begin, w->next_a + begin, bytes);
}

/* no: q or v are not those of the last step */
static void compare_some(void *data, int32_t begin, int32_t end, int32_t chunk) {
    each_coordinate *each = data;
    const bough_tree_state *state = each->state;
    const bo_tree_work *w = bo_tree_work_of(state);
    const size_t bytes = (size_t)(end - begin) * sizeof(double);
    each->no[chunk] |=
        memcmp(w->next_q + begin, state->q + begin, bytes) || memcmp(w->next_v + begin, state->v + begin, bytes);
}

/* Forces are linear in a step. One that takes them at its start is no good for a part that bends by more than this:
 * where it is thin, the straight way there has stretched it, and it ends with far more energy than what bends it had to
 * give. */
static const double most_bending = 0.05;

/* One that takes them where it foresees the part is no good for parts that go elsewhere. The energy of a step is looked
 * at that has begun to miss. */
static const double most_surprise = 0.05, surprise = 0.002;

/* The largest distance of a part's points, in its frame, from where the step had it when it took the forces: in parts
 * of their distance from its origin (root mean squares: about the angle by which it bends). foreseen: mid_q, against
 * the place at its time; NULL: q, against next_q. Scale plays no role: masses of q and second moments both go with its
 * fifth power. Trees that miss are looked at. */
static double largest_bend(const bough_tree_model *model, bough_tree_state *state, double share, const double *foreseen,
                           bool flying, bool held) {
    double largest = 0;
    for (int32_t d = 0; d < model->level_count; d++)
        for (int32_t i = model->levels[d].first_part; i < model->levels[d].end_part; i++) {
            const bo_tree_part *part = &model->parts[i];
            const double *q = state->q + part->offset, *next = bo_tree_work_of(state)->next_q + part->offset;
            const bo_component_tables *t = &model->components[part->component];
            const double *Sigma = t->c->Sigma0, *start = foreseen ? foreseen + part->offset : q;
            double square = 0;
            if (!(part->flies ? flying : held))
                continue;
            for (int32_t l = 0; l < part->r; l++) { /* bases that are cooked are orthonormal in mass */
                const double x = q[l] + share * (next[l] - q[l]) - start[l];
                square += t->M[l * t->n + l] * x * x;
            }
            square /= Sigma[0] + Sigma[4] + Sigma[8];
            if (!(square <= largest)) /* also what is not finite */
                largest = square;
            if (foreseen && !(square <= surprise * surprise))
                bo_ledger_look(state, part->tree);
        }
    return sqrt(largest);
}

static bough_status crushed(bough_context *ctx) {
    return bo_fail(ctx, BOUGH_NOT_FINITE, "an interface is crushed to a line, so that it has no frame");
}

/* anyway: there are loads, if only of zero, to which more can be added. */
static void take_loads(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, bool with_wind,
                       bool anyway) {
    bo_tree_work *w = bo_tree_work_of(state);
    const size_t n = (size_t)model->size, parts = (size_t)model->part_count;
    const double *wind = state->wind.velocity;
    with_wind = with_wind && (wind[0] != 0 || wind[1] != 0 || wind[2] != 0);
    bo_tree_touch_forget(w);
    w->loaded = w->pushed || with_wind || anyway;
    if (!w->loaded)
        return;
    if (w->pushed) {
        memcpy(w->load, w->force, n * sizeof *w->load);
        memcpy(w->load_wrench, w->wrench, 6 * parts * sizeof *w->load_wrench);
    } else {
        memset(w->load, 0, n * sizeof *w->load);
        memset(w->load_wrench, 0, 6 * parts * sizeof *w->load_wrench);
    }
    if (with_wind)
        bo_tree_blow(ctx, model, state, w->load, w->load_wrench);
}

void bo_tree_take_loads(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, bool with_wind) {
    take_loads(ctx, model, state, with_wind, false);
}

/* Accelerations at q, v, where the frames are; next_a gets them. */
static bough_status solve(bough_context *ctx, bo_tree_pass *pass) {
    const bough_tree_model *model = pass->model;
    pass->solve = true;
    pass->inertias = pass->mode.coupling != BOUGH_COUPLING_L1 || model->free_count > 0;
    if (!bo_tree_prepare(ctx, pass) || !bo_tree_solve(ctx, model, pass->work, &pass->mode, pass->work->next_a))
        return bo_fail(ctx, BOUGH_NO_CONVERGENCE,
                       "a part has lost its stiffness or is turned inside out in this step; take a smaller one");
    if (!is_finite(ctx, model, pass->state))
        return bo_fail(ctx, BOUGH_NOT_FINITE, "accelerations are not finite; take a smaller step");
    return BOUGH_OK;
}

bough_status bo_tree_accelerations(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                   bool weightless, const double *q, const double *v, const double *force, double *a) {
    static const bo_tree_scheme masses = {.inert = true};
    bo_tree_work *w = bo_tree_work_of(state);
    bo_tree_pass pass = {.model = model,
                         .state = state,
                         .work = w,
                         .mode = {.coupling = state->coupling, .weightless = weightless, .lead_time = state->time},
                         .q = q,
                         .v = v,
                         .scheme = &masses,
                         .elastic = true};
    take_loads(ctx, model, state, true, force != NULL);
    for (int32_t k = 0; k < model->size && force; k++)
        w->load[k] += force[k];
    w->frames_stale = true;
    bo_tree_place_roots(model, w, state->roots, state->time, false);
    if (!bo_tree_move(ctx, model, w, &pass.mode, q, v))
        return crushed(ctx);
    BO_TRY(solve(ctx, &pass));
    memcpy(a, w->next_a, (size_t)model->size * sizeof *a);
    return BOUGH_OK;
}

bool bo_tree_is_here(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state) {
    const bo_tree_work *w = bo_tree_work_of(state);
    each_coordinate each = {.state = state};
    if (w->frames_stale || (model->led && w->next_time != state->time) ||
        memcmp(w->next_roots, state->roots, (size_t)model->free_count * sizeof *state->roots))
        return false;
    if (ctx)
        visit(ctx, model, compare_some, &each);
    else
        compare_some(&each, 0, model->size, 0);
    return !any_no(&each);
}

bough_status bo_tree_come_back(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state) {
    bo_tree_work *w = bo_tree_work_of(state);
    const size_t size = (size_t)model->size * sizeof(double), roots = (size_t)model->free_count * sizeof *state->roots;
    if (bo_tree_is_here(ctx, model, state))
        return BOUGH_OK;
    w->frames_stale = true, w->measured = false;
    bo_tree_place_roots(model, w, state->roots, state->time, false);
    if (!bo_tree_move(ctx, model, w, &(bo_tree_mode){0}, state->q, state->v))
        return crushed(ctx);
    memcpy(w->next_q, state->q, size);
    memcpy(w->next_v, state->v, size);
    memcpy(w->next_roots, state->roots, roots);
    w->next_time = state->time;
    w->frames_stale = false;
    return BOUGH_OK;
}

typedef struct {
    const bough_tree_model *model;
    bough_tree_state *state;
} publishing;

static void publish_some(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const publishing *to = data;
    const bough_tree_model *model = to->model;
    bough_tree_state *state = to->state;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        if (model->grove && model->parts[i].asleep) /* a step: they stay where they are */
            continue;
        const bo_tree_frames *f = &bo_tree_work_of(state)->frames[model->parts[i].slot / 4];
        const int32_t lane = model->parts[i].slot % 4;
        bough_frame *frame = &state->frames[model->parts[i].user];
        double R[9], v[3], w[3];
        for (int k = 0; k < 9; k++)
            frame->pose.rotation[k] = R[k] = BO_LANE_CONST(f->world[k], lane);
        for (int k = 0; k < 3; k++) {
            frame->pose.position[k] = BO_LANE_CONST(f->origin[k], lane);
            v[k] = BO_LANE_CONST(f->v[k], lane);
            w[k] = BO_LANE_CONST(f->w[k], lane);
        }
        for (int k = 0; k < 3; k++) {
            frame->velocity[k] = R[3 * k] * v[0] + R[3 * k + 1] * v[1] + R[3 * k + 2] * v[2];
            frame->angular_velocity[k] = R[3 * k] * w[0] + R[3 * k + 1] * w[1] + R[3 * k + 2] * w[2];
        }
    }
}

void bo_tree_publish_frames(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state) {
    bo_parallel_for(ctx, model->part_count, 256, publish_some, &(publishing){model, state});
}

bough_status bo_tree_update(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state) {
    BO_TRY(bo_tree_come_back(ctx, model, state));
    bo_tree_set_momenta(ctx, model, state);
    bo_tree_publish_frames(ctx, model, state);
    return BOUGH_OK;
}

bough_status bough_tree_state_update(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state) {
    BO_TRY(bo_log_begin(ctx, model, state, &(bo_log_act){.kind = BO_LOG_UPDATE}));
    state->last_dt = 0;
    memset(state->mean_a, 0, (size_t)model->size * sizeof *state->mean_a);
    bo_ledger_close(model, state);
    return bo_log_end(ctx, model, state, bo_tree_update(ctx, bo_tree_now(model, state), state));
}

/* The same of a step after one with contacts, whose forces have acted. */
static bough_status solve_after_touch(bough_context *ctx, bo_tree_pass *pass) {
    const bool borrowed = bo_tree_touch_begin(pass->model, pass->work, pass->scheme);
    const bough_status status = solve(ctx, pass);
    if (borrowed)
        bo_tree_touch_end(pass->model, pass->work);
    return status;
}

/* Moves the frames to where the step has led so far: those of all parts, or only of those that fly. */
static bough_status move_on(bough_context *ctx, const bough_tree_model *model, bo_tree_work *w, bool only_flights) {
    const bo_tree_mode mode = {.only_flights = only_flights};
    bo_tree_place_roots(model, w, w->next_roots, w->next_time, false);
    return bo_tree_move(ctx, model, w, &mode, w->next_q, w->next_v) ? BOUGH_OK : crushed(ctx);
}

static bool roots_are_finite(const bough_tree_model *model, const bough_tree_root *roots) {
    for (int32_t k = model->first_flight; k < model->end_flight; k++)
        if (!bo_all_finite(3, roots[k].pose.position) || !bo_all_finite(9, roots[k].pose.rotation) ||
            !bo_all_finite(3, roots[k].velocity) || !bo_all_finite(3, roots[k].angular_velocity) ||
            !bo_all_finite(3, roots[k].acceleration) || !bo_all_finite(3, roots[k].angular_acceleration))
            return false;
    return true;
}

/* Frames at the end of the step; trees that fly get the velocity that their momenta ask for. only_flights: the others
 * are there. */
static bough_status land(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                         const bo_tree_scheme *scheme, bool only_flights, bool gently, bool *touched) {
    bo_tree_work *w = bo_tree_work_of(state);
    *touched = false;
    BO_TRY(move_on(ctx, model, w, only_flights));
    if (w->touch)
        w->touch->answered = false; /* steps of no length, too, would count the contacts of the last one again */
    if (w->touch && scheme->dt > 0)
        BO_TRY(bo_tree_touch_step(ctx, model, state, scheme, gently, touched));
    if (*touched) {
        BO_TRY(move_on(ctx, model, w, !bo_tree_touch_moves_held(model, w)));
        BO_TRY(bo_tree_touch_check(ctx, model, state, scheme, gently));
    }
    if (model->free_count == 0)
        return BOUGH_OK;
    if (!bo_tree_project_momenta(ctx, model, state, w->next_q, w->next_v, w->next_roots))
        return bo_fail(ctx, BOUGH_NOT_FINITE, "the inertia of a tree is lost; take a smaller step");
    if (!roots_are_finite(model, w->next_roots))
        return bo_fail(ctx, BOUGH_NOT_FINITE, "the flight of a root is not finite; take a smaller step");
    return move_on(ctx, model, w, true);
}

/* Loops of ties bend the way that the ends of a tie take; passes go on until both agree within this, in m and rad. */
static const double tie_tolerance = 1e-6;
enum { MOST_PASSES = 8, MOST_AGAIN = 2 };

/* The way in which a step is made. */
typedef struct {
    const bo_tree_scheme *scheme;
    bo_tree_mode mode;
    bool gently;
    bool foresees; /* inertia and forces are taken ahead, but for trees that fly */
    bool tied, twice;
    /* only what flies needs two passes, where nobody asked for more: the rest is where it should be after its first */
    bool only_flights;
} stepping;

/* The frames go where the step takes inertia. */
static bough_status look_ahead(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                               const stepping *how, bo_range_task where) {
    bo_tree_work *w = bo_tree_work_of(state);
    visit(ctx, model, where, &(each_coordinate){.state = state, .scheme = how->scheme});
    foresee_no_flights(model, state);
    bo_tree_place_roots(model, w, state->roots, how->mode.lead_time, false);
    return bo_tree_move(ctx, model, w, &how->mode, w->mid_q, w->mid_v) ? BOUGH_OK : crushed(ctx);
}

static bool is_damped(const bough_tree_model *model, const bough_tree_state *state) {
    for (int32_t i = 0; i < model->def.part_count; i++)
        if (state->damping_stiffness[i] != 0)
            return true;
    return false;
}

static bool goes_too_far(const bough_tree_model *model, bough_tree_state *state, const stepping *how, bool flying,
                         bool held) {
    if (how->foresees)
        return !(largest_bend(model, state, 1 + how->scheme->alpha, bo_tree_work_of(state)->mid_q, flying, held) <=
                 most_surprise);
    return how->gently && !(largest_bend(model, state, 1, NULL, flying, held) <= most_bending);
}

static bough_status too_far(bough_context *ctx) {
    return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "a part bends too far in this step; take a smaller one");
}

/* From the state to the next_q, next_v, next_a, next_roots and frames of a grove, or of all. where: the inertia and the
 * forces are taken, if they are foreseen. *touched: contacts have changed where it leads. */
static bough_status go_once(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                            const stepping *how, bo_range_task where, bool *touched) {
    const bo_tree_scheme *h = how->scheme;
    bo_tree_work *w = bo_tree_work_of(state);
    /* Stiffness that is lost, or less, does not damp: that at rest does, also where something presses. */
    const bool damped = is_damped(model, state);
    bo_tree_pass pass = {.model = model,
                         .state = state,
                         .work = w,
                         .mode = how->mode,
                         .q = state->q,
                         .v = state->v,
                         .scheme = h,
                         .elastic = true,
                         .damped = damped && bo_tree_touch_presses_held(model, w) ? w->rest : NULL,
                         .keep = how->twice,
                         .keep_flights = how->only_flights};
    if (how->foresees) {
        BO_TRY(look_ahead(ctx, model, state, how, where));
        pass.q = w->mid_q, pass.v = w->mid_v;
    }
    bough_status status = solve_after_touch(ctx, &pass);
    if (status == BOUGH_NO_CONVERGENCE && damped && !pass.damped) {
        pass.damped = w->rest;
        status = solve_after_touch(ctx, &pass);
    }
    BO_TRY(status);
    bo_ledger_lead(model, state, how->mode.lead_time);
    advance(ctx, model, state, h);
    bo_tree_fly(model, w, state->frames, h->dt, h->gamma, state->roots, w->next_roots);
    bool open = how->tied && how->twice;
    for (int i = 1; (i < 2 || (open && i < MOST_PASSES)) && how->twice; i++) {
        BO_TRY(move_on(ctx, model, w, false));
        pass.q = w->next_q, pass.v = w->next_v, pass.elastic = false;
        pass.mode.only_flights = how->only_flights;
        BO_TRY(solve_after_touch(ctx, &pass));
        advance(ctx, model, state, h);
        bo_tree_fly(model, w, state->frames, h->dt, h->gamma, state->roots, w->next_roots);
        open = how->tied && !(h->beta * h->dt * h->dt * bo_tree_tie_correction(model, w) < tie_tolerance);
    }
    if (how->gently && open)
        return bo_fail(ctx, BOUGH_NO_CONVERGENCE,
                       "the ends of a tie do not find each other in this step; take a smaller one");
    if (how->gently && goes_too_far(model, state, how, true, !w->touch))
        return too_far(ctx);
    return land(ctx, model, state, h, how->twice && how->only_flights, how->gently, touched);
}

/* Contacts lead parts elsewhere than it was foreseen, and mostly on from there: a step that they have led too far is made
 * again about where it has led. */
static bough_status attempt_grove(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                  const void *data) {
    const stepping *how = data;
    bool touched = false;
    BO_TRY(go_once(ctx, model, state, how, foresee_some, &touched));
    bool too = goes_too_far(model, state, how, false, true);
    for (int again = 0; again < MOST_AGAIN && too && touched && how->foresees; again++) {
        BO_TRY(go_once(ctx, model, state, how, review_some, &touched));
        too = goes_too_far(model, state, how, false, true);
    }
    return too && how->gently ? too_far(ctx) : BOUGH_OK;
}

/* The engine's own choice: energy is looked after, and where there are no ties inertia and forces are taken ahead. */
static bool steers(const bough_tree_state *state) {
    return state->passes == 0 && state->coupling == BOUGH_COUPLING_L3;
}

static bough_status attempt(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                            const bo_tree_scheme *h, bool gently) {
    bo_tree_work *w = bo_tree_work_of(state);
    const bool tied = model->def.tie_count > 0, chooses = state->passes == 0, foresees = steers(state) && !tied;
    const stepping how = {
        .scheme = h,
        .mode = {.coupling = state->coupling, .lead_time = state->time + (foresees ? 1 + h->alpha : 1) * h->dt},
        .gently = gently,
        .foresees = foresees,
        .tied = tied,
        .twice = state->passes == 2 || (chooses && (model->free_count > 0 || tied)),
        .only_flights = chooses && !tied};
    w->frames_stale = true;
    w->next_time = state->time + h->dt;
    return bo_tree_each_grove(ctx, model, state, attempt_grove, &how);
}

/* Accelerations at the start, of a state that was never stepped and has none. They are those of a step in which nothing
 * is known of what is ahead: M^-1 f would throw stiff coordinates far, which bend back within the step. */
static bough_status begin_grove(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                const void *data) {
    bo_tree_work *w = bo_tree_work_of(state);
    const bo_tree_scheme *h = data;
    bo_tree_pass pass = {.model = model,
                         .state = state,
                         .work = w,
                         .mode = {.coupling = state->coupling, .lead_time = state->time},
                         .q = state->q,
                         .v = state->v,
                         .scheme = h,
                         .elastic = true};
    BO_TRY(solve_after_touch(ctx, &pass));
    bo_tree_fly(model, w, state->frames, 0, h->gamma, state->roots, w->next_roots);
    return BOUGH_OK;
}

static bool has_accelerations(const bough_tree_model *model, const bough_tree_state *state) {
    for (int32_t k = 0; k < model->size; k++)
        if (state->a[k] != 0)
            return true;
    for (int32_t k = 0; k < model->free_count; k++)
        for (int d = 0; d < 3; d++)
            if (state->roots[k].acceleration[d] != 0 || state->roots[k].angular_acceleration[d] != 0)
                return true;
    return false;
}

static void forget_accelerations(const bough_tree_model *model, bough_tree_state *state) {
    memset(state->a, 0, (size_t)model->size * sizeof *state->a);
    for (int32_t k = 0; k < model->free_count; k++)
        for (int d = 0; d < 3; d++)
            state->roots[k].acceleration[d] = state->roots[k].angular_acceleration[d] = state->roots[k].blow[d] = 0;
}

/* *solved: they were solved for; else somebody knew them. */
static bough_status begin(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, bo_tree_scheme h,
                          bool *solved) {
    bo_tree_work *w = bo_tree_work_of(state);
    *solved = !has_accelerations(model, state);
    if (!*solved) {
        memcpy(state->mean_a, state->a, (size_t)model->size * sizeof *state->a);
        return BOUGH_OK;
    }
    h.begins = true;
    BO_TRY(bo_tree_each_grove(ctx, model, state, begin_grove, &h));
    memcpy(state->a, w->next_a, (size_t)model->size * sizeof *state->a);
    memcpy(state->mean_a, w->next_a, (size_t)model->size * sizeof *state->a);
    for (int32_t k = 0; k < model->free_count; k++) {
        memcpy(state->roots[k].acceleration, w->next_roots[k].acceleration, sizeof w->next_roots->acceleration);
        memcpy(state->roots[k].angular_acceleration, w->next_roots[k].angular_acceleration,
               sizeof w->next_roots->angular_acceleration);
    }
    return BOUGH_OK;
}

static bough_status go_ahead(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                             const bo_tree_scheme *h, bool gently) {
    const bool accounts = state->coupling == BOUGH_COUPLING_L3; /* lumps do not even have the energy that they should */
    bool steered = false;
    BO_TRY(attempt(ctx, model, state, h, gently));
    visit(ctx, model, average_some, &(each_coordinate){.state = state, .scheme = h});
    if (accounts)
        BO_TRY(bo_ledger_end(ctx, model, state, state->q, h->dt, steers(state), gently, &steered));
    if (!steered)
        return BOUGH_OK;
    for (int32_t f = 0; f < model->faces_count; f++) /* the same start makes the same bits, where nothing has changed */
        memcpy(bo_tree_work_of(state)->faces[f].polar, bo_tree_work_of(state)->starts + 9 * f,
               sizeof bo_tree_work_of(state)->faces->polar);
    return move_on(ctx, model, bo_tree_work_of(state), false);
}

/* All of a step but that it is accepted. */
static bough_status try_step(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                             const bo_tree_scheme *h, bool gently) {
    bool solved = false;
    BO_TRY(bo_tree_come_back(ctx, model, state));
    bo_tree_take_loads(ctx, model, state, true);
    if (state->coupling == BOUGH_COUPLING_L3)
        BO_TRY(bo_ledger_begin(ctx, model, state, state->last_dt > 0 ? h->gamma : 1));
    bough_status status = BOUGH_OK;
    if (state->last_dt == 0 && h->dt > 0)
        status = begin(ctx, model, state, *h, &solved);
    if (status == BOUGH_OK)
        status = go_ahead(ctx, model, state, h, gently);
    if (status != BOUGH_OK && solved)
        forget_accelerations(model, state);
    if (status != BOUGH_OK && state->last_dt == 0)
        memset(state->mean_a, 0, (size_t)model->size * sizeof *state->mean_a);
    return status;
}

/* A step in which nobody is awake: something that moves may still come and wake one. */
static bough_status sleep_on(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                             const bo_tree_scheme *h) {
    bool touched;
    BO_TRY(bo_tree_come_back(ctx, model, state));
    if (bo_tree_work_of(state)->touch && h->dt > 0)
        BO_TRY(bo_tree_touch_step(ctx, model, state, h, false, &touched));
    state->time += h->dt, bo_tree_work_of(state)->next_time = state->time;
    return BOUGH_OK;
}

/* One step; forces from outside stay. gently: one of the engine's own is refused when a part bends far. */
static bough_status step(bough_context *ctx, const bough_tree_model *all, bough_tree_state *state, double dt,
                         bool gently) {
    bough_tree_model room;
    const bough_tree_model *model = bo_tree_awake(all, &room);
    bo_tree_work *w = bo_tree_work_of(state);
    const double alpha = state->alpha;
    const bo_tree_scheme h = {.dt = dt, .alpha = alpha, .beta = 0.25 * (1 - alpha) * (1 - alpha), .gamma = 0.5 - alpha};
    if (w->touch && (w->integrator || state->coupling != BOUGH_COUPLING_L3))
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "parts that touch need the tree's own steps, \"hht\" or \"newmark\", and the coupling L3");
    w->looked = w->measured = false;
    if (w->integrator)
        return bo_tree_integrate(ctx, model, state, dt);
    if (!(dt >= 0 && isfinite(dt)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a step must not be negative");
    BO_TRY(bo_tree_check_method(ctx, state->coupling, alpha, state->passes));
    if (state->coupling != BOUGH_COUPLING_L3 && (model->joint_count > 0 || model->def.tie_count > 0))
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "joints and ties need the exact coupling, L3; with another one parts must be welded");
    if (bo_tree_all_sleep(all))
        return sleep_on(ctx, all, state, &h);
    BO_TRY(try_step(ctx, model, state, &h, gently));
    const bool wrapped = bo_tree_wrap_balls(model, w->next_q, w->next_v, w->next_a, w->mid_v);
    w->measured = w->looked && !wrapped && model == all;
    w->frames_stale = false;
    visit(ctx, model, accept_some, &(each_coordinate){.target = state});
    memcpy(state->roots, w->next_roots, (size_t)model->free_count * sizeof *state->roots);
    memcpy(w->tie_motion, w->next_tie_motion, (size_t)model->def.tie_count * sizeof *w->tie_motion);
    bo_tree_touch_accept(model, w, dt);
    state->time += dt;
    if (dt > 0)
        state->last_dt = dt;
    bo_tree_watch_rest(model, state, dt);
    bo_tree_publish_frames(ctx, model, state);
    return BOUGH_OK;
}

/* Who falls asleep and who wakes up is part of a step, also of a recorded one. */
static bough_status step_once(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, double dt,
                              bool gently) {
    BO_TRY(bo_tree_rest(ctx, model, state));
    model = bo_tree_now(model, state);
    BO_TRY(step(ctx, model, state, dt, gently));
    if (dt > 0 || gently)
        bough_tree_state_clear_forces(model, state);
    return BOUGH_OK;
}

bough_status bough_tree_step(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, double dt) {
    BO_TRY(bo_log_begin(ctx, model, state, &(bo_log_act){.kind = BO_LOG_STEP, .dt = dt}));
    return bo_log_end(ctx, model, state, step_once(ctx, model, state, dt, false));
}

bough_status bo_tree_step_gently(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                 double dt) {
    BO_TRY(bo_log_begin(ctx, model, state, &(bo_log_act){.kind = BO_LOG_GENTLE_STEP, .dt = dt}));
    return bo_log_end(ctx, model, state, step_once(ctx, model, state, dt, true));
}

static bool may_do_smaller(bough_status status) {
    return status == BOUGH_NO_CONVERGENCE || status == BOUGH_NOT_FINITE || status == BOUGH_ENERGY_GAINED;
}

static bough_status go_on(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, double dt,
                          int32_t *refused) {
    enum { UNITS = 1024 }; /* of dt: the smallest step is one */
    const double start = state->time;
    int32_t at = 0, size = UNITS, no = 0;
    bough_status status = BOUGH_OK;
    BO_TRY(bo_tree_rest(ctx, model, state));
    model = bo_tree_now(model, state);
    while (size > 1 && dt * size > 3 * UNITS * state->last_dt && state->last_dt > 0) /* twice the last one at most */
        size /= 2;
    while (at < UNITS && status == BOUGH_OK) {
        status = step(ctx, model, state, dt * size / UNITS, size > 1);
        if (status == BOUGH_OK) {
            at += size;
            state->time = start + dt * at / UNITS; /* the same end, however it was reached */
            if (at % (2 * size) == 0)              /* halves of something larger: try that again */
                size *= 2;
        } else if (may_do_smaller(status) && size > 1) {
            no++;
            size /= 2;
            status = BOUGH_OK;
        }
    }
    if (refused)
        *refused = no;
    if (dt > 0 && status == BOUGH_OK)
        bough_tree_state_clear_forces(model, state);
    return status;
}

bough_status bough_tree_advance(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, double dt,
                                int32_t *refused) {
    BO_TRY(bo_log_begin(ctx, model, state, &(bo_log_act){.kind = BO_LOG_ADVANCE, .dt = dt}));
    return bo_log_end(ctx, model, state, go_on(ctx, model, state, dt, refused));
}
