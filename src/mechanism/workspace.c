/* Points of a blend, chosen by how far its joints are from closed. docs/theory/mechanism.md, "Blending". */
#include "mechanism/blend.h"

#include <string.h>

#define WORKSPACE_COOKIE 0xB006106Cu
#define LOST 1e30 /* error of a sample where the blend finds no equilibrium: a point is needed there */

bough_workspace_def bough_default_workspace_def(void) {
    return (bough_workspace_def){
        .cookie = WORKSPACE_COOKIE, .seed = 1, .sample_count = 12, .tolerance = 0.02, .effector_tolerance = INFINITY};
}

/* ---- samples ---- */

/* An equilibrium of the full mechanism. */
typedef struct {
    double *loads;     /* n */
    double *motors;    /* those of the blend */
    bough_pose *poses; /* links */
    double error;      /* of the blend's joints */
    double away;       /* of the blend's end effectors */
    bool used;         /* as a point */
} sample;

typedef struct {
    const bough_mechanism *mechanism;
    const bough_workspace_def *def;
    int32_t n, links, count, lost;
    int32_t motor_count;
    const int32_t *motors; /* coordinates */
    sample *samples;
    double *loads, *offsets;
    bough_pose *poses;
    bo_se3 *there, *found; /* end effectors: the full mechanism's, and the blend's */
} workspace;

static void drop(bough_context *ctx, workspace *w) {
    bo_free(ctx, w->samples);
    bo_free(ctx, w->loads);
    bo_free(ctx, w->offsets);
    bo_free(ctx, w->poses);
    bo_free(ctx, w->there);
}

/* splitmix64 to [-1, 1) */
static double next_random(uint64_t *state) {
    uint64_t x = *state += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return 2 * ((double)((x ^ (x >> 31)) >> 11) * 0x1p-53) - 1;
}

static void choose_load(const workspace *w, int32_t ray, uint64_t *random, double *load) {
    const bough_workspace_def *def = w->def;
    for (int32_t k = 0; k < w->n; k++)
        load[k] = ray < def->load_count ? def->loads[(ptrdiff_t)w->n * ray + k] : def->box[k] * next_random(random);
}

/* An equilibrium becomes a sample, with the motors as they are there. */
static void take_sample(workspace *w, const bough_full_mechanism *full, const double *motors) {
    sample *s = &w->samples[w->count];
    *s = (sample){.loads = w->loads + (ptrdiff_t)w->n * w->count,
                  .motors = w->offsets + (ptrdiff_t)w->motor_count * w->count,
                  .poses = w->poses + (ptrdiff_t)w->links * w->count};
    memcpy(s->loads, full->loads, (size_t)w->n * sizeof(double));
    for (int32_t k = 0; k < w->motor_count; k++)
        s->motors[k] = motors ? motors[k] : 0;
    memcpy(s->poses, full->poses, (size_t)w->links * sizeof *s->poses);
    w->count++;
}

/* Samples the path of the motors, from one equilibrium to the next. An equilibrium that is not found is left out. */
static bough_status sample_path(bough_context *ctx, workspace *w) {
    bough_full_mechanism *full = NULL;
    BO_TRY(bough_full_mechanism_create(ctx, w->mechanism, &full));
    memcpy(full->gravity, w->def->gravity, sizeof full->gravity);
    bough_status status = BOUGH_OK;
    for (int32_t k = 0; k < w->def->path_count && status == BOUGH_OK; k++) {
        const double *now = w->def->path + (ptrdiff_t)w->motor_count * k, *before = k ? now - w->motor_count : NULL;
        for (int32_t i = 0; i < w->motor_count; i++)
            full->offsets[w->motors[i]] += now[i] - (before ? before[i] : 0);
        if (!bo_progress(ctx, "sampling motors", 0.25 * k / w->def->path_count, "%d of %d", k, w->def->path_count))
            status = bo_fail_cancelled(ctx);
        else
            status = bough_full_mechanism_settle(ctx, full);
        if (status == BOUGH_OK)
            take_sample(w, full, now);
        else if (status == BOUGH_NO_CONVERGENCE)
            w->lost++, status = BOUGH_OK;
    }
    bough_full_mechanism_destroy(ctx, full);
    return status;
}

/* From zero to the load in equal steps. Where no equilibrium is found, the rest of the way is lost. */
static bough_status sample_ray(bough_context *ctx, workspace *w, const double *load) {
    const int32_t steps = w->def->sample_count;
    bough_full_mechanism *full = NULL;
    BO_TRY(bough_full_mechanism_create(ctx, w->mechanism, &full));
    memcpy(full->gravity, w->def->gravity, sizeof full->gravity);
    bough_status status = BOUGH_OK;
    for (int32_t k = 1; k <= steps; k++) {
        for (int32_t i = 0; i < w->n; i++)
            full->loads[i] = load[i] * k / steps;
        status = bough_full_mechanism_settle(ctx, full);
        if (status == BOUGH_NO_CONVERGENCE) {
            w->lost += steps - k + 1;
            status = BOUGH_OK;
            break;
        }
        if (status != BOUGH_OK)
            break;
        take_sample(w, full, NULL);
    }
    bough_full_mechanism_destroy(ctx, full);
    return status;
}

static bough_status take_samples(bough_context *ctx, workspace *w) {
    const int32_t rays = w->def->load_count + w->def->random_count;
    const size_t most = (size_t)rays * (size_t)w->def->sample_count + (size_t)w->def->path_count;
    uint64_t random = w->def->seed;
    w->samples = BO_NEW_ZEROS(ctx, sample, most);
    w->loads = BO_NEW_ARRAY(ctx, double, (most + 1) * (size_t)w->n);
    w->offsets = BO_NEW_ARRAY(ctx, double, most *(size_t)w->motor_count);
    w->poses = BO_NEW_ARRAY(ctx, bough_pose, most * (size_t)w->links);
    if (!w->samples || !w->loads || !w->offsets || !w->poses)
        return bo_fail_memory(ctx);
    BO_TRY(sample_path(ctx, w));
    double *load = w->loads + most * (size_t)w->n;
    for (int32_t r = 0; r < rays; r++) {
        if (!bo_progress(ctx, "sampling loads", 0.5 * r / rays, "%d of %d", r, rays))
            return bo_fail_cancelled(ctx);
        choose_load(w, r, &random, load);
        BO_TRY(sample_ray(ctx, w, load));
    }
    if (w->count == 0)
        return bo_fail(ctx, BOUGH_NO_CONVERGENCE,
                       "the full mechanism finds no equilibrium on the way to any of the %d loads or along that of the "
                       "motors; smaller ones or more samples may help",
                       rays);
    return BOUGH_OK;
}

/* ---- how good a blend is ---- */

/* Its equilibrium under the sample's load, from the full mechanism's: error of its joints, and of its end effectors. */
static bough_status judge(bough_context *ctx, const workspace *w, const bough_mechanism_blend *blend,
                          bough_blend_state *state, sample *s) {
    const bo_se3 from_world = bo_se3_inverse(bo_pose(&s->poses[w->mechanism->def.base]));
    memcpy(state->wrench, s->loads, (size_t)w->n * sizeof(double));
    memcpy(state->motors, s->motors, (size_t)w->motor_count * sizeof(double));
    memcpy(state->gravity, w->def->gravity, sizeof state->gravity);
    for (int32_t e = 0; e < blend->effector_count; e++) {
        const bough_frame_def *effector = &blend->effectors[e];
        const bo_se3 world = bo_se3_mul(bo_pose(&s->poses[effector->body]), bo_pose(&effector->pose));
        w->there[e] = bo_se3_mul(from_world, world);
        state->effectors[e] = bo_put_pose(w->there[e]);
    }
    s->error = s->away = LOST;
    const bough_status status = bough_blend_state_settle(ctx, blend, state);
    if (status == BOUGH_NO_CONVERGENCE || status == BOUGH_NOT_FINITE)
        return BOUGH_OK;
    BO_TRY(status);
    bough_blend_state_place(blend, state);
    s->error = bough_mechanism_constraint_error(w->mechanism, state->poses);
    for (int32_t e = 0; e < blend->effector_count; e++)
        w->found[e] = bo_pose(&state->effectors[e]);
    s->away = bo_blend_distance(blend, w->there, w->found);
    return BOUGH_OK;
}

/* Returns how many times too large the errors are: the larger of both. */
static double excess(const workspace *w, const sample *s) {
    return fmax(s->error / w->def->tolerance, s->away / w->def->effector_tolerance);
}

/* *worst: the sample that is farthest from good and not a point yet; -1: none. */
static bough_status judge_all(bough_context *ctx, const workspace *w, const bough_mechanism_blend *blend,
                              bough_blend_state *state, bough_workspace_report *report, int32_t *worst) {
    const int32_t round = report->round_count++;
    report->reached = true;
    *worst = -1;
    for (int32_t k = 0; k < w->count; k++) {
        sample *s = &w->samples[k];
        BO_TRY(judge(ctx, w, blend, state, s));
        report->worst[round] = fmax(report->worst[round], s->error);
        report->effectors[round] = fmax(report->effectors[round], s->away);
        report->reached = report->reached && excess(w, s) <= 1;
        if (!s->used && (*worst < 0 || excess(w, s) > excess(w, &w->samples[*worst])))
            *worst = k;
    }
    return BOUGH_OK;
}

static bough_status add_points(bough_context *ctx, workspace *w, bough_mechanism_blend *blend, bough_blend_state *state,
                               bough_workspace_report *report) {
    for (;;) {
        int32_t worst;
        const double done = 0.5 + 0.5 * blend->count / blend->most_points;
        if (!bo_progress(ctx, "placing points", done, "%d points", blend->count))
            return bo_fail_cancelled(ctx);
        BO_TRY(judge_all(ctx, w, blend, state, report, &worst));
        if (report->reached || worst < 0 || blend->count == blend->most_points)
            return BOUGH_OK;
        BO_TRY(bough_mechanism_blend_add_driven(ctx, blend, w->samples[worst].poses, w->samples[worst].motors,
                                                w->samples[worst].loads));
        w->samples[worst].used = true;
    }
}

/* ---- all of it ---- */

static bough_status check_def(bough_context *ctx, const bough_mechanism *m, const bough_mechanism_blend_def *blend,
                              const bough_workspace_def *def) {
    if (def->cookie != WORKSPACE_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the workspace def was not made by bough_default_workspace_def()");
    if (def->load_count < 0 || def->random_count < 0 || def->load_count > 10000 || def->random_count > 10000 ||
        def->path_count < 0 || def->path_count > 10000 || def->load_count + def->random_count + def->path_count < 1 ||
        (def->load_count > 0 && !def->loads) || (def->random_count > 0 && !def->box) ||
        (def->path_count > 0 && !def->path))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "a workspace needs 1 .. 10000 loads, given or random within a box, or places of motors, not %d, "
                       "%d and %d",
                       def->load_count, def->random_count, def->path_count);
    const int32_t motors = blend && blend->statics ? blend->statics->motor_count : 0;
    if (def->path_count > 0 && motors < 1)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a way of motors needs motors in the blend's statics");
    if (def->sample_count < 1 || def->sample_count > 1000)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%d samples on the way to a load; it must be 1 .. 1000",
                       def->sample_count);
    if (!(def->tolerance > 0 && def->effector_tolerance > 0))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the tolerances of a workspace are %g and %g; they must be above 0",
                       def->tolerance, def->effector_tolerance);
    if (blend && blend->statics && blend->statics->end_effector_count > 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "points are placed by loads on the description's end effectors; leave those of the blend's "
                       "statics out");
    double sum = 0;
    for (int32_t k = 0; k < 6 * m->def.end_effector_count; k++) {
        for (int32_t l = 0; l < def->load_count; l++)
            sum += 0 * def->loads[6 * (ptrdiff_t)m->def.end_effector_count * l + k];
        sum += def->random_count > 0 ? 0 * def->box[k] : 0;
    }
    for (ptrdiff_t k = 0; k < (ptrdiff_t)motors * def->path_count; k++)
        sum += 0 * def->path[k];
    if (!(sum == 0))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the loads and motors of a workspace must be finite");
    return BOUGH_OK;
}

static bough_status fill(bough_context *ctx, workspace *w, bough_mechanism_blend *blend,
                         bough_workspace_report *report) {
    bough_blend_state *state = NULL;
    w->there = BO_NEW_ARRAY(ctx, bo_se3, 2 * blend->effector_count);
    if (!w->there)
        return bo_fail_memory(ctx);
    w->found = w->there + blend->effector_count;
    BO_TRY(take_samples(ctx, w));
    report->sample_count = w->count, report->lost_count = w->lost;
    BO_TRY(bough_blend_state_create(ctx, blend, &state));
    const bough_status status = add_points(ctx, w, blend, state, report);
    bough_blend_state_destroy(ctx, state);
    return status;
}

bough_status bough_mechanism_blend_create_automatic(bough_context *ctx, const bough_mechanism *mechanism,
                                                    const bough_mechanism_blend_def *def,
                                                    const bough_workspace_def *workspace_def,
                                                    bough_workspace_report *report, bough_mechanism_blend **blend) {
    bough_workspace_report unread;
    *blend = NULL;
    report = report ? report : &unread;
    *report = (bough_workspace_report){0};
    BO_TRY(check_def(ctx, mechanism, def, workspace_def));
    bough_mechanism_blend *made = NULL;
    BO_TRY(bough_mechanism_blend_create(ctx, mechanism, def, &made));
    workspace w = {.mechanism = mechanism, .def = workspace_def, .n = made->n, .links = mechanism->def.link_count};
    w.motor_count = made->motor_count, w.motors = made->motors;
    const bough_status status = fill(ctx, &w, made, report);
    drop(ctx, &w);
    if (status != BOUGH_OK)
        bough_mechanism_blend_destroy(ctx, made);
    else
        *blend = made;
    return status;
}
