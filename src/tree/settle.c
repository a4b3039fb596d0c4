/* Statics of a tree. docs/theory/tree.md, "Statics". */
#include "tree/couple.h"
#include "tree/log.h"
#include "tree/settle_touch.h"

#include <math.h>
#include <string.h>

#define SETTLE_COOKIE 0xB0061053u
#define ROUNDED 1000 /* times the tolerance: what may be left where nothing better can be found */

bough_tree_settle_def bough_default_tree_settle_def(void) {
    return (bough_tree_settle_def){.cookie = SETTLE_COOKIE, .tolerance = 1e-9, .max_iterations = 3000};
}

/* Steps of the search need not help where something touches, while more of the forces than this is left, or after so many
 * that did not; and after so many without less than ever it is given up. */
#define UNBALANCED 0.1
enum { MOST_REFUSED = 4, MOST_IN_VAIN = 100 };

/* Roots with tracks stand still. What is lumped need not lead to equilibrium. */
static const bo_tree_mode at_rest = {.coupling = BOUGH_COUPLING_L3, .still = true};

/* One search for an equilibrium. */
typedef struct {
    bough_context *ctx;
    const bough_tree_model *model;
    const bough_tree_model *outer; /* the one that the user knows */
    bough_tree_state *state;
    const double *zero; /* velocities */
    const bough_tree_settle_def *def;
    bough_status *pushed; /* what def->push, or the search for contacts, said last */
    bo_tree_lean *lean;   /* NULL: nothing touches */
    double *off;          /* the largest error of a gap, over the size of parts, at the last place */
} search;

static void take_loads(const search *s, bough_tree_state *at) {
    if (s->def->push) {
        bo_tree_publish_frames(s->ctx, s->model, at);
        bough_tree_state_clear_forces(s->model, at);
        *s->pushed = s->def->push(s->def->data, s->ctx, s->outer, at);
    }
    bo_tree_take_loads(s->ctx, s->model, at, false);
}

/* Frames at q, and the forces there. */
static bool go_to(const search *s, const double *q) {
    bo_tree_state at = *bo_tree_inside(s->state);
    at.seen.q = (double *)q;
    *s->off = 0;
    if (!bo_tree_move(s->ctx, s->model, at.work, &at_rest, q, s->zero))
        return false;
    take_loads(s, &at.seen);
    if (s->lean && *s->pushed == BOUGH_OK)
        *s->pushed = bo_tree_lean_load(s->lean, q, s->off);
    return *s->pushed == BOUGH_OK;
}

static bo_vec3 first_moment(const bough_tree_model *model, const bo_tree_work *w, int32_t i) {
    double mc[3];
    bo_tree_first_moment(&w->inertias[model->parts[i].slot / 4], model->parts[i].slot % 4, mc);
    return bo_load3(mc);
}

static bo_vec3 gravity_at(const search *s, int32_t slot) {
    return bo_mat_tvec(bo_matrix_at(bo_tree_work_of(s->state)->frames[slot / 4].world, slot),
                       bo_load3(s->state->gravity));
}

/* Without springs a joint is as stiff as weight makes it. Welded parts taken for rigid, with d the first moment of a
 * part, of what is welded to it, and of what hangs in joints as if all of its mass were there, the potential of the
 * weights is the sum of -g . R d over the parts in joints. Where d hangs along g, its second derivative by turns of the
 * axes is g . d (1 - g g^T / |g|^2), which is used wherever g . d > 0. After bo_tree_compose(). */
static void find_sway(const search *s) {
    const bough_tree_model *model = s->model;
    bo_tree_work *w = bo_tree_work_of(s->state);
    for (int32_t i = model->part_count - 1; i >= 0 && model->joint_count > 0; i--) {
        const bo_tree_part *part = &model->parts[i];
        bo_vec3 d = first_moment(model, w, i);
        for (int32_t c = 0; c < part->child_count; c++) {
            const int32_t child = model->children[part->first_child + c], slot = model->parts[child].slot;
            bo_vec3 beyond = first_moment(model, w, child);
            if (model->parts[child].joint < 0)
                beyond = bo_sub(beyond, bo_load3(w->sway + 3 * child));
            d = bo_sub(d, bo_mat_vec(bo_matrix_at(w->frames[slot / 4].R, slot), beyond));
        }
        bo_store3(w->sway + 3 * i, d);
    }
}

/* A step of h^2 A turns a frame against that. */
static void resist_swaying(const search *s, double h2) {
    static const int row[6] = {0, 0, 0, 1, 1, 2}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int32_t j = 0; j < s->model->joint_count; j++) {
        const int32_t i = s->model->joints[j].part, slot = s->model->parts[i].slot;
        bo_v4 *T = bo_tree_work_of(s->state)->inertias[slot / 4].I + BO_SIX_T;
        double g[3];
        bo_store3(g, gravity_at(s, slot));
        const double square = bo_dot(bo_load3(g), bo_load3(g));
        const double sway = h2 * fmax(0, bo_dot(bo_load3(g), bo_load3(bo_tree_work_of(s->state)->sway + 3 * i)));
        for (int k = 0; k < 6 && square > 0; k++)
            BO_LANE(T[k], slot % 4) += sway * ((row[k] == column[k]) - g[row[k]] * g[column[k]] / square);
    }
}

/* Adds what joint j leaves unbalanced to *left, and the forces in play to *size: its spring, and the torques of loads
 * and weight of what hangs on it. */
static void weigh_joint(const search *s, int32_t j, double *left, double *size) {
    const bough_tree_model *model = s->model;
    bo_tree_work *w = bo_tree_work_of(s->state);
    const bo_tree_joint *joint = &model->joints[j];
    const int32_t slot = model->parts[joint->part].slot, lane = slot % 4;
    const bo_vec3 mc = first_moment(model, w, joint->part), g = gravity_at(s, slot);
    bo_v4 *p = w->inertias[slot / 4].p + 3;
    double torque[3];
    bo_store3(torque, bo_cross(mc, g));
    for (int k = 0; k < 3; k++)
        BO_LANE(p[k], lane) -= torque[k];
    bo_tree_joint_torque(model, w, j, torque);
    for (int32_t k = 0; k < joint->count; k++) {
        const double load = w->loaded ? w->load[joint->offset + k] : 0, spring = w->swings[j].p[k];
        *left += (spring + torque[k] - load) * (spring + torque[k] - load);
        *size += spring * spring + load * load;
    }
    *size += bo_dot(mc, mc) * bo_dot(g, g); /* what torques are small against without springs */
}

/* Gradient of the potential at q: what a part feels when nothing accelerates but for gravity, its subtree hanging as a
 * rigid body. Its length over that of the elastic forces, or how far gaps are from where they should be, if that is more;
 * infinite where q is out of the question. Everything is ready for a step (M + h^2 K) a = -gradient then but for what is
 * eliminated. */
static double unbalanced(const search *s, const double *q, double h2) {
    const bough_tree_model *model = s->model;
    bo_tree_work *w = bo_tree_work_of(s->state);
    /* beta dt^2 = h^2 and no velocities: H = M + h^2 K, p = f */
    const bo_tree_scheme scheme = {.dt = sqrt(h2), .beta = 1};
    bo_tree_state at = *bo_tree_inside(s->state);
    at.seen.q = (double *)q;
    bo_tree_pass pass = {.model = model,
                         .state = &at.seen,
                         .work = w,
                         .mode = at_rest,
                         .q = q,
                         .v = s->zero,
                         .scheme = &scheme,
                         .elastic = true,
                         .inertias = true};
    w->frames_stale = true;
    if (!go_to(s, q))
        return INFINITY;
    bo_tree_load_ties(model, &at.seen);
    if (!bo_tree_prepare(s->ctx, &pass))
        return INFINITY;
    bo_tree_take_wrenches(model, w, &at_rest);
    bo_tree_compose(model, w, &at_rest);
    find_sway(s);
    bo_tree_lump(model, w, BOUGH_COUPLING_L2R);
    bo_tree_sweep sweep = {s->ctx, model, w, &at_rest, NULL, {false}};
    bo_tree_hang_all(&sweep);
    double left = 0, size = 0;
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        const bo_tree_block *b = &model->blocks[part->block];
        if (part->locked)
            continue;
        double A[3];
        bo_store3(A, bo_scale(-1, gravity_at(s, part->slot)));
        for (int32_t l = 0; l < part->r; l++) {
            const double f = w->p[b->vectors + l * b->lanes + part->lane], load = w->load[part->offset + l];
            double g = w->p_q[b->vectors + l * b->lanes + part->lane];
            for (int d = 0; d < 3; d++)
                g += bo_tree_Mrq(model, w, part, d, l) * A[d];
            left += g * g;
            size += f * f + (w->loaded ? load * load : 0);
        }
    }
    for (int32_t j = 0; j < model->joint_count; j++)
        weigh_joint(s, j, &left, &size);
    const double ratio = size > 0 ? sqrt(left / size) : left > 0 ? INFINITY : 0;
    return isfinite(ratio) ? fmax(ratio, *s->off) : INFINITY;
}

/* Finds the forces of contacts by the accelerations without a change of them; what smaller steps may mend is no failure
 * of the search. */
static bool push(const search *s, const double *a, double h2) {
    const bough_status status = bo_tree_lean_push(s->lean, s->state->q, a, h2);
    if (status < BOUGH_OK)
        *s->pushed = status;
    return status == BOUGH_OK;
}

/* Accelerations of (M + h^2 K) a = -gradient at q. */
static bool accelerate(const search *s, double h2) {
    const bo_tree_scheme scheme = {.dt = sqrt(h2), .beta = 1};
    bo_tree_pass pass = {.model = s->model,
                         .state = s->state,
                         .work = bo_tree_work_of(s->state),
                         .mode = at_rest,
                         .q = s->state->q,
                         .v = s->zero,
                         .scheme = &scheme,
                         .elastic = true,
                         .solve = true,
                         .inertias = true};
    double *a = bo_tree_work_of(s->state)->next_a;
    if (!go_to(s, s->state->q))
        return false;
    for (int round = 0; round < (s->lean ? 2 : 1); round++) { /* by the forces of contact so far, and by those found */
        if (round == 1 && !push(s, a, h2))
            return false;
        if (!bo_tree_prepare(s->ctx, &pass))
            return false;
        resist_swaying(s, h2);
        if (!bo_tree_solve(s->ctx, s->model, bo_tree_work_of(s->state), &at_rest, a))
            return false;
    }
    return true;
}

/* Length of the step from q to next_q, against q. */
static double stride(const search *s) {
    const double *q = s->state->q, *next = bo_tree_work_of(s->state)->next_q;
    double step = 0, size = 0;
    for (int32_t k = 0; k < s->model->size; k++) {
        step += (next[k] - q[k]) * (next[k] - q[k]);
        size += q[k] * q[k];
    }
    return size > 0 ? sqrt(step / size) : INFINITY;
}

/* Whether a step of the search is taken, after so many that were not. What comes into contact unbalances stiff parts,
 * however small the step, which then come to rest. */
static bool helps(const search *s, int32_t i, double next, double residual, int32_t refused) {
    const bool less = next < (i < s->def->max_iterations / 5 ? 1.5 : 1) * residual;
    return next < INFINITY && (less || (s->lean && (residual > UNBALANCED || refused >= MOST_REFUSED)));
}

/* Steps (M + h^2 K) a = -g, q += h^2 a, with h growing while it helps: the inertia of the whole tree keeps first steps
 * small where they would bend it too far. K is that of the parts and joints alone, without what turning the weight of
 * others adds: the last digits come one by one, and after a first step that does not help h feels its way. In the first
 * fifth of the iterations a little more residual is taken, since it is no potential that could only fall; then it must
 * fall. What very stiff ties pull with is known only as far as where their ends are, which is rounded: where steps that
 * are lost in rounding do not help either, the search is over, and has succeeded if little is left. */
static bough_status seek(const search *s, double *residual) {
    const bough_tree_model *model = s->model;
    const bough_tree_settle_def *def = s->def;
    bough_tree_state *state = s->state;
    bo_tree_work *w = bo_tree_work_of(state);
    const size_t bytes = (size_t)model->size * sizeof(double);
    double h2 = 1e-4, growth = 4;
    int32_t refused = 0, last = 0;
    *residual = unbalanced(s, state->q, h2);
    const bool stuck = *residual == INFINITY && !accelerate(s, h2);
    bo_tree_lean_drop(s->lean);
    if (stuck && *s->pushed == BOUGH_OK)
        return bo_fail(s->ctx, BOUGH_NOT_FINITE, "the search for an equilibrium begins with a part turned inside out");
    double least = *residual;
    for (int32_t i = 0; i < def->max_iterations; i++) {
        if (*residual < least)
            least = *residual, last = i;
        if (s->lean && i - last > MOST_IN_VAIN)
            return bo_fail(s->ctx, BOUGH_NO_CONVERGENCE,
                           "no equilibrium was found in %d iterations, with %.2g of the forces left: what touches may "
                           "leave a part no room, or let it slip off; run the scene with damping instead",
                           i, *residual);
        if (*s->pushed != BOUGH_OK || *residual <= def->tolerance)
            return *s->pushed;
        if (!bo_progress(s->ctx, "settling", -1, "residual %.2e", *residual))
            return bo_fail_cancelled(s->ctx);
        bool good = accelerate(s, h2);
        for (int32_t k = 0; k < model->size && good; k++)
            w->next_q[k] = state->q[k] + h2 * w->next_a[k];
        const bool far = good && s->lean && bo_tree_lean_goes_far(s->lean, state->q, w->next_q);
        const double next = good && !far ? unbalanced(s, w->next_q, h2) : INFINITY;
        if (helps(s, i, next, *residual, refused)) {
            memcpy(state->q, w->next_q, bytes);
            h2 = fmin((next < 1.5 * *residual ? growth : 1) * h2, 1e12);
            *residual = next, refused = 0;
            bo_tree_lean_accept(s->lean);
        } else {
            bo_tree_lean_drop(s->lean);
            if (good && stride(s) < 1e-15 && *residual <= ROUNDED * def->tolerance)
                return BOUGH_OK;
            refused += !far;
            growth = far ? growth : 1.3;
            h2 *= 0.3;
        }
    }
    return bo_fail(s->ctx, BOUGH_NO_CONVERGENCE,
                   "no equilibrium was found in %d iterations; %.2g of the forces are left", def->max_iterations,
                   *residual);
}

static bough_status settle(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                           const bough_tree_settle_def *def, double *residual) {
    bough_tree_settle_def defaults = bough_default_tree_settle_def();
    const bough_tree_model *outer = model;
    double left = 0;
    model = bo_tree_now(model, state);
    def = def ? def : &defaults;
    if (def->cookie != SETTLE_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the settle def was not made by bough_default_tree_settle_def()");
    if (model->free_count > 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a tree that flies has no equilibrium");
    memset(state->v, 0, (size_t)model->size * sizeof(double));
    memset(state->a, 0, (size_t)model->size * sizeof(double));
    memset(bo_tree_work_of(state)->tie_motion, 0,
           (size_t)model->def.tie_count * sizeof *bo_tree_work_of(state)->tie_motion);
    bough_status pushed = BOUGH_OK;
    double off = 0;
    search s = {ctx, model, outer, state, state->v, def, &pushed, NULL, &off};
    BO_TRY(bo_tree_lean_begin(ctx, model, state, &s.lean));
    bo_tree_take_loads(ctx, model, state, false);
    bo_tree_place_roots(model, bo_tree_work_of(state), state->roots, state->time, true);
    bough_status status = seek(&s, &left);
    const bough_status rests = bo_tree_lean_end(s.lean, state->q, status == BOUGH_OK);
    status = status == BOUGH_OK ? rests : status;
    if (residual)
        *residual = left;
    bough_status updated = bough_tree_state_update(ctx, model, state);
    if (updated == BOUGH_OK && pushed == BOUGH_OK && def->push) {
        bough_tree_state_clear_forces(model, state);
        updated = def->push(def->data, ctx, outer, state);
    }
    return status != BOUGH_OK ? status : updated;
}

bough_status bough_tree_state_settle(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                     const bough_tree_settle_def *def, double *residual) {
    const size_t size = bough_tree_state_snapshot_size(model, state);
    BO_TRY(bo_log_begin(ctx, model, state, &(bo_log_act){.kind = BO_LOG_SNAPSHOT, .size = size, .always = true}));
    return bo_log_end(ctx, model, state, settle(ctx, model, state, def, residual));
}
