/* Equilibria along the way of the motors. docs/theory/multibody.md, "Targets". */
#include "multibody/multibody.h"

#include "base/pose.h"

#include <string.h>

#define INERTIA 0.1  /* 1/s^2: masses times this are added to the stiffness, for directions in which nothing holds */
#define CLOSE 1e-11  /* units: a correction that is the last */
#define ROUNDED 1e-8 /* units: likewise, where corrections do not get smaller any more */
#define SLOW 0.2     /* a correction that leaves more than this of the one before asks for a new factor */
#define WORSE 2      /* a correction that is longer than the one before by this leads nowhere */
#define LEAP 0.1     /* units: an equilibrium that is farther away than this is another one, unless it was foreseen */
#define FORESEEN 3   /* times what was foreseen, which may be farther */
#define MOVED 1e-6   /* rad, units: a joint that has turned or slid */
#define PUSH 1e-3    /* units: by which a system is pushed that is in balance, but does not stay there */
#define FIRMER 4     /* by which the masses' part grows while steps lead up or too far */
#define FIRMEST 1e12 /* 1/s^2: at which that is given up */
enum { MOST_ITERATIONS = 20, MOST_HALVINGS = 8, MODE_ITERATIONS = 30, MOST_DOWNHILL = 300 };

typedef struct {
    bough_context *ctx;
    const bough_multibody *model;
    bo_mb_state *s;
    bough_multibody_path *path;
} walk;

static bool factor_at(const walk *x, const bo_mb_drive *drive, double sigma, const double *u, const double *lambda) {
    bo_mb_state *s = x->s;
    x->path->factors++;
    bo_mb_tangent(x->model, &s->work, drive, u, s->zeros, s->zeros, lambda, sigma, 0, 1, 0, 0, true);
    return bo_block_lu_factor(&s->work.lu);
}

static bool evaluate(const walk *x, const bo_mb_drive *drive, const double *u, const double *lambda) {
    bo_mb_state *s = x->s;
    return bo_mb_evaluate(x->model, &s->work, drive, u, s->zeros, s->zeros, lambda, s->residual, s->c, s->rate);
}

/* Newton's method from u_next, lambda_next, with one factor as long as corrections shrink fast. */
static bool find_equilibrium(const walk *x, const bo_mb_drive *drive) {
    bo_mb_state *s = x->s;
    const bough_multibody *model = x->model;
    double before = INFINITY;
    bool kept = false;
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        if (!evaluate(x, drive, s->u_next, s->lambda_next))
            return false;
        if (!kept && !factor_at(x, drive, INERTIA, s->u_next, s->lambda_next))
            return false;
        kept = true;
        x->path->iterations++;
        bo_mb_solve(model, &s->work, s->residual, s->c, s->a_next, s->lambda_trial);
        const double length = bo_mb_length_of(model, s->a_next);
        if (!isfinite(length) || length > WORSE * before)
            return false;
        for (int32_t i = 0; i < model->nv; i++)
            s->a_next[i] = -s->a_next[i];
        s->system.retract(s, s->u_next, s->a_next, s->u_base);
        memcpy(s->u_next, s->u_base, (size_t)model->nu * sizeof(double));
        for (int32_t i = 0; i < model->nc; i++)
            s->lambda_next[i] -= s->lambda_trial[i];
        if (length <= CLOSE || (length <= ROUNDED && length > 0.5 * before))
            return true;
        kept = length <= SLOW * before;
        before = length;
    }
    return false;
}

/* The guess goes on as from the equilibrium before to the last; returns its length. */
static double foresee(const walk *x, double time) {
    bo_mb_state *s = x->s;
    const bough_multibody *model = x->model;
    bough_multibody_state *state = &s->face;
    memcpy(s->u_next, state->u, (size_t)model->nu * sizeof(double));
    memcpy(s->lambda_next, state->lambda, (size_t)model->nc * sizeof(double));
    if (!(s->path_time != state->time && isfinite(s->path_time)))
        return 0;
    const double r = (time - state->time) / (state->time - s->path_time);
    s->system.difference(s, state->u, s->u_before, s->a_next);
    for (int32_t i = 0; i < model->nv; i++)
        s->a_next[i] *= r;
    s->system.retract(s, state->u, s->a_next, s->u_next);
    for (int32_t i = 0; i < model->nc; i++)
        s->lambda_next[i] += r * (state->lambda[i] - s->lambda_before[i]);
    return bo_mb_length_of(model, s->a_next);
}

/* Publishes u_next and lambda_next as the state, at rest. */
static void accept(const walk *x, double time) {
    bo_mb_state *s = x->s;
    const bough_multibody *model = x->model;
    bough_multibody_state *state = &s->face;
    const int sign = bo_block_lu_sign(&s->work.lu);
    const double before = state->time;
    memcpy(s->u_before, state->u, (size_t)model->nu * sizeof(double));
    memcpy(s->lambda_before, state->lambda, (size_t)model->nc * sizeof(double));
    memcpy(state->u, s->u_next, (size_t)model->nu * sizeof(double));
    memcpy(state->lambda, s->lambda_next, (size_t)model->nc * sizeof(double));
    memset(state->v, 0, (size_t)model->nv * sizeof(double));
    memset(s->a, 0, (size_t)model->nv * sizeof(double));
    bo_mb_normalise(model, state->u);
    bo_mb_keep_coordinates(model, &s->work);
    bough_multibody_restart(state);
    state->time = time;
    s->path_time = before, s->path_sign = sign;
}

/* False: there is no equilibrium near where it was foreseen, or it would give way to a push. */
static bool go_on(const walk *x, double time) {
    bo_mb_state *s = x->s;
    const bo_mb_drive drive = bo_mb_drive_at(s, time);
    const double foreseen = foresee(x, time);
    if (!find_equilibrium(x, &drive) || !evaluate(x, &drive, s->u_next, s->lambda_next))
        return false;
    s->system.difference(s, s->u_next, s->face.u, s->a_next);
    if (!(bo_mb_length_of(x->model, s->a_next) <= LEAP + FORESEEN * foreseen))
        return false;
    if (s->path_sign >= 0 && bo_block_lu_sign(&s->work.lu) < 0)
        return false;
    accept(x, time);
    return true;
}

/* ---- snaps ---- */

/* The shape in which the state is held least, as a displacement of one unit: inverse iteration. False: it is not known. */
static bool find_weakest(const walk *x, double *mode) {
    bo_mb_state *s = x->s;
    const bough_multibody *model = x->model;
    const bough_multibody_state *state = &s->face;
    const bo_mb_drive drive = bo_mb_drive_at(s, state->time);
    if (!evaluate(x, &drive, state->u, state->lambda) || !factor_at(x, &drive, INERTIA, state->u, state->lambda))
        return false;
    memcpy(s->v_base, s->residual, (size_t)model->nv * sizeof(double));
    for (int32_t i = 0; i < model->nv; i++)
        mode[i] = model->units[i] * (1 + 0.1 * sin(i)); /* none of a symmetric system's shapes is left out */
    for (int k = 0; k < MODE_ITERATIONS; k++) {
        if (!bo_mb_evaluate(model, &s->work, &drive, state->u, s->zeros, mode, state->lambda, s->residual, s->c,
                            s->rate))
            return false;
        for (int32_t i = 0; i < model->nv; i++)
            s->residual[i] -= s->v_base[i]; /* M mode */
        bo_mb_solve(model, &s->work, s->residual, s->zeros_c, mode, s->lambda_trial);
        const double length = bo_mb_length_of(model, mode);
        if (!(length > 0 && isfinite(length)))
            return false;
        for (int32_t i = 0; i < model->nv; i++)
            mode[i] /= length;
    }
    return true;
}

/* The joint whose two sides moved most against each other, or else whose child moved most, from `before` to the state. */
static void name_snap(const walk *x, const bough_multibody_state *before, bough_multibody_snap *snap) {
    const bough_multibody *model = x->model;
    const bough_multibody_state *now = &x->s->face;
    double most[2] = {0, 0}, way[2] = {0, 0}, turn[2] = {0, 0};
    int32_t joints[2] = {-1, -1};
    for (int32_t j = 0; j < model->def.joint_count; j++) {
        const bough_joint_def *joint = &model->def.joints[j];
        bough_pose poses[4];
        bough_multibody_frame(model, before, &joint->parent, &poses[0], NULL);
        bough_multibody_frame(model, before, &joint->child, &poses[1], NULL);
        bough_multibody_frame(model, now, &joint->parent, &poses[2], NULL);
        bough_multibody_frame(model, now, &joint->child, &poses[3], NULL);
        const bo_se3 was = bo_se3_mul(bo_se3_inverse(bo_pose(&poses[0])), bo_pose(&poses[1]));
        const bo_se3 is = bo_se3_mul(bo_se3_inverse(bo_pose(&poses[2])), bo_pose(&poses[3]));
        const double slid = bo_norm(bo_sub(is.t, was.t)) / model->length;
        const double moved = bo_norm(bo_sub(bo_load3(poses[3].position), bo_load3(poses[1].position)));
        const double turned = bo_norm(bo_log3(bo_mat_tmul(was.R, is.R)));
        const double size[2] = {slid + turned, moved / model->length};
        for (int k = 0; k < 2; k++)
            if (size[k] > most[k])
                most[k] = size[k], joints[k] = j, way[k] = moved, turn[k] = turned;
    }
    const int k = most[0] > MOVED ? 0 : 1;
    snap->joint = joints[k], snap->distance = way[k], snap->turn = turn[k];
}

/* Steps (sigma M + K) x - J^T y = -R, J x = -c from the state's positions downhill, with a sigma large enough for the
 * matrix to be that of a minimum, and for the step to be short. */
static bool go_downhill(const walk *x, const bo_mb_drive *drive) {
    bo_mb_state *s = x->s;
    const bough_multibody *model = x->model;
    double sigma = INERTIA, *u = s->face.u, *lambda = s->face.lambda;
    for (int k = 0; k < MOST_DOWNHILL; k++) {
        double length = INFINITY;
        if (!evaluate(x, drive, u, lambda))
            return false;
        for (sigma = fmax(INERTIA, sigma / (FIRMER * FIRMER)); sigma < FIRMEST; sigma *= FIRMER) {
            if (!factor_at(x, drive, sigma, u, lambda) || bo_block_lu_sign(&s->work.lu) < 0)
                continue;
            bo_mb_solve(model, &s->work, s->residual, s->c, s->a_next, s->lambda_trial);
            length = bo_mb_length_of(model, s->a_next);
            if (length <= LEAP)
                break;
        }
        x->path->iterations++;
        if (!(length <= LEAP))
            return false;
        for (int32_t i = 0; i < model->nv; i++)
            s->a_next[i] = -s->a_next[i];
        s->system.retract(s, u, s->a_next, s->u_base);
        memcpy(u, s->u_base, (size_t)model->nu * sizeof *u);
        for (int32_t i = 0; i < model->nc; i++)
            lambda[i] -= s->lambda_trial[i];
        bo_mb_keep_coordinates(model, &s->work);
        if (sigma == INERTIA && length <= CLOSE)
            return true;
    }
    return false;
}

/* Pushes the state along its weakest shape, towards where forces at the new time drive it. */
static void push_along(const walk *x, const bo_mb_drive *drive, const double *mode) {
    bo_mb_state *s = x->s;
    const bough_multibody *model = x->model;
    double along = 0;
    if (evaluate(x, drive, s->face.u, s->face.lambda))
        for (int32_t i = 0; i < model->nv; i++)
            along += s->residual[i] * mode[i];
    for (int32_t i = 0; i < model->nv; i++)
        s->a_next[i] = along > 0 ? -PUSH * mode[i] : PUSH * mode[i];
    s->system.retract(s, s->face.u, s->a_next, s->u_base);
    memcpy(s->face.u, s->u_base, (size_t)model->nu * sizeof(double));
}

/* Goes downhill from the last equilibrium to another one at `time`, or, where that leads nowhere, settles there anew. */
static bough_status snap_to(const walk *x, double noticed, double time) {
    bo_mb_state *s = x->s;
    const bough_multibody *model = x->model;
    bough_multibody_state *state = &s->face;
    const double from = state->time;
    const size_t nu = (size_t)model->nu * sizeof(double), nc = (size_t)model->nc * sizeof(double);
    double *mode = s->v_before;
    const bool known = find_weakest(x, mode);
    memcpy(s->u_before, state->u, nu);
    memcpy(s->lambda_before, state->lambda, nc);
    const bo_mb_drive drive = bo_mb_drive_at(s, time);
    if (known)
        push_along(x, &drive, mode);
    state->time = time;
    bough_status status = BOUGH_OK;
    if (!go_downhill(x, &drive)) {
        memcpy(state->u, s->u_before, nu);
        memcpy(state->lambda, s->lambda_before, nc);
        status = bough_multibody_settle(x->ctx, model, state);
    }
    bough_multibody_restart(state);
    if (status != BOUGH_OK) {
        state->time = from;
        return status;
    }
    bo_mb_normalise(model, state->u);
    if (evaluate(x, &drive, state->u, state->lambda) && factor_at(x, &drive, INERTIA, state->u, state->lambda))
        s->path_sign = bo_block_lu_sign(&s->work.lu); /* where only an unstable one is to be had, it may stay so */
    bough_multibody_state before = *state;
    before.u = s->u_before;
    bough_multibody_snap snap = {.time = noticed, .joint = -1};
    name_snap(x, &before, &snap);
    if (x->path->snaps++ == 0)
        x->path->first = snap;
    x->path->last = snap;
    return BOUGH_OK;
}

/* ---- from one time to another ---- */

static bough_status check_time(bough_context *ctx, double time) {
    return isfinite(time)
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the time of an equilibrium is %g; it must be finite", time);
}

bough_status bough_multibody_follow(bough_context *ctx, const bough_multibody *model, bough_multibody_state *state,
                                    double time, bough_multibody_path *path) {
    bough_multibody_path ignored = {0};
    bo_mb_state *s = bo_mb(state);
    const walk x = {ctx, model, s, path ? path : &ignored};
    int halvings = 0;
    double h = time - state->time;
    BO_TRY(check_time(ctx, time));
    for (bool there = false; !there;) {
        const bool last = fabs(time - state->time) <= 1.0000001 * fabs(h);
        const double next = last ? time : state->time + h;
        if (go_on(&x, next)) {
            there = last;
            h *= halvings > 0 ? 2 : 1, halvings -= halvings > 0;
        } else if (halvings < MOST_HALVINGS && h != 0) {
            h /= 2, halvings++;
            x.path->halvings++;
        } else {
            BO_TRY(snap_to(&x, next, time));
            there = true;
        }
    }
    return BOUGH_OK;
}

/* ---- targets ---- */

#define TARGETS_COOKIE 0xB00610B4u

bough_targets_def bough_default_targets_def(void) {
    return (bough_targets_def){.cookie = TARGETS_COOKIE, .every = 1. / 30};
}

static bough_status check_targets(bough_context *ctx, const bough_multibody *model, const bough_targets_def *def) {
    const int32_t things = model->def.body_count + model->def.part_count;
    if (def->cookie != TARGETS_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the def was not made by bough_default_targets_def()");
    if (!isfinite(def->from) || !(def->every > 0 && isfinite(def->every)) || def->count < 0 || def->frame_count < 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "targets need a finite start, a positive time between them and counts of 0 or more");
    for (int32_t f = 0; f < def->frame_count; f++) {
        const bough_frame_def *frame = &def->frames[f];
        const int32_t part = frame->body - model->def.body_count;
        const int32_t faces =
            part >= 0 && part < model->def.part_count ? model->def.parts[part].component->interface_count : 0;
        if (frame->body < BOUGH_WORLD || frame->body >= things || frame->interface_index >= faces)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "frame %d of the targets lies on nothing that there is", f);
    }
    return BOUGH_OK;
}

bough_status bough_multibody_targets(bough_context *ctx, const bough_multibody *model, bough_multibody_state *state,
                                     const bough_targets_def *def, bough_pose *poses, bough_multibody_path *path) {
    bough_multibody_path own = {0};
    BO_TRY(check_targets(ctx, model, def));
    state->time = def->from;
    bough_status status = def->count > 0 ? bough_multibody_settle(ctx, model, state) : BOUGH_OK;
    while (status == BOUGH_OK && own.done < def->count) {
        const int32_t k = own.done;
        if (k > 0 && !bo_progress(ctx, "targets", (double)k / def->count, "t = %.4g s", state->time))
            status = bo_fail_cancelled(ctx);
        if (status == BOUGH_OK && k > 0)
            status = bough_multibody_follow(ctx, model, state, def->from + k * def->every, &own);
        if (status != BOUGH_OK)
            break;
        for (int32_t f = 0; f < def->frame_count; f++)
            bough_multibody_frame(model, state, &def->frames[f], &poses[(int64_t)def->frame_count * k + f], NULL);
        own.done++;
    }
    if (path)
        *path = own;
    return status;
}
