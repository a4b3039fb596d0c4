/* Replays: motors of a retargeting on a robot that need not be the one it was planned with. */
#include "retarget/retarget.h"

#include "base/pose.h"
#include "retarget/feedback.h"
#include "scene/scene.h"

#include <math.h>
#include <string.h>

#define REPLAY_COOKIE 0xB0061064u
#define DESIGNED_EVERY 0.1  /* s: between two poses for which a feedback is designed */
enum { STEPS_A_LOOK = 64 }; /* between two questions whether to go on */

bough_replay_def bough_default_replay_def(void) {
    return (bough_replay_def){.cookie = REPLAY_COOKIE, .source = BOUGH_REPLAY_CURVES, .mass = 1, .stiffness = 1};
}

/* ---- the robot ---- */

/* A plan of its own: bodies that are heavier, parts that are softer. */
typedef struct {
    const bough_retarget *r;
    const bough_replay_def *def;
    bo_multibody_plan plan;
    bough_rigid_body_def *bodies;
    bough_flexible_def *parts;
    bo_engine engine;
    bough_multibody_state *state;
    bo_shaper shaper;               /* of ZV and ZVD */
    bo_feedback *feedback;          /* NULL: none */
    bo_correction correction;       /* what it adds */
    bough_multibody_state *planned; /* the robot as it was planned, which moves beside */
} player;

static multibody_engine *engine_of(const player *p) {
    return p->engine.data;
}

static bool is_tracked(const bough_retarget *r, int32_t body) {
    for (int32_t i = 0; i < r->frame_count; i++)
        if (r->tracks[i].frame.body == body)
            return true;
    return false;
}

static void change_robot(player *p) {
    const bough_multibody_def *def = &p->r->content->plan.def;
    for (int32_t b = 0; b < def->body_count; b++) {
        p->bodies[b] = def->bodies[b];
        if (!is_tracked(p->r, b))
            continue;
        p->bodies[b].mass *= p->def->mass;
        for (int i = 0; i < 9; i++)
            p->bodies[b].inertia[i] *= p->def->mass;
    }
    for (int32_t i = 0; i < def->part_count; i++) {
        p->parts[i] = def->parts[i];
        p->parts[i].stiffness *= sqrt(p->def->stiffness); /* a factor on frequencies */
    }
    p->plan.def.bodies = p->bodies, p->plan.def.parts = p->parts;
}

static void animate(void *data, int32_t motor, double t, double *place, double *rate, double *acceleration) {
    bo_spline_at(&((const bough_retarget *)data)->content->drives[motor], t, place, rate, acceleration);
}

/* Tells a motor of the planned robot where to be. */
static void drive_planned(void *data, int32_t motor, double t, double *place, double *rate) {
    const player *p = data;
    void *r = (void *)(uintptr_t)p->r;
    switch (p->def->source) {
    case BOUGH_REPLAY_INPUT:
        bough_motor_curves_at(p->r->first, motor, t, place, rate, NULL);
        return;
    case BOUGH_REPLAY_CURVES:
        bough_motor_curves_at(p->r->curves, motor, t, place, rate, NULL);
        return;
    case BOUGH_REPLAY_ANIMATION:
        animate(r, motor, t, place, rate, NULL);
        return;
    case BOUGH_REPLAY_ZV:
    case BOUGH_REPLAY_ZVD:
        bo_shaper_at(&p->shaper, animate, r, motor, t, place, rate, NULL);
        return;
    }
}

/* The same with what the feedback adds at the end of the step. */
static void drive(void *data, int32_t motor, double t, double *place, double *rate) {
    const player *p = data;
    drive_planned(data, motor, t, place, rate);
    if (p->feedback)
        *place += p->correction.place[motor], *rate += p->correction.rate[motor];
}

/* ---- shaping and feedback, by the planned robot ---- */

static bough_frame_def *copy_frames(bough_context *ctx, const bough_retarget *r) {
    bough_frame_def *frames = BO_NEW_ARRAY(ctx, bough_frame_def, r->frame_count);
    for (int32_t i = 0; frames && i < r->frame_count; i++)
        frames[i] = r->tracks[i].frame;
    return frames;
}

/* The modes are those in the middle of the animation. */
static bough_status make_shaper(bough_context *ctx, player *p, const bough_frame_def *frames) {
    const bough_retarget *r = p->r;
    const double middle = 0.5 * (r->last_move > 0 ? r->last_move : r->step_count) * r->dt;
    bo_vibration modes[BO_SHAPER_MODES];
    int32_t count = 0;
    BO_TRY(bo_vibrations_to_shape(ctx, r->model, bo_retarget_engine(r)->state, middle, r->frame_count, frames, &count,
                                  modes));
    return bo_shaper_make(ctx, p->def->source == BOUGH_REPLAY_ZV ? BO_SHAPER_ZV : BO_SHAPER_ZVD, count, modes,
                          &p->shaper);
}

static bough_status make_feedback(bough_context *ctx, player *p, const bough_frame_def *frames) {
    const bough_retarget *r = p->r;
    bo_feedback_def def = bo_default_feedback_def();
    BO_TRY(bo_copy_state(ctx, r->model, bo_retarget_engine(r)->state, &p->planned));
    p->planned->drive = drive_planned, p->planned->drive_data = p;
    def.every = DESIGNED_EVERY, def.pose_count = (int32_t)ceil(r->step_count * r->dt / def.every) + 1;
    def.dt = p->def->dt > 0 ? p->def->dt : r->dt;
    def.frames = frames, def.frame_count = r->frame_count;
    BO_TRY(bo_feedback_design(ctx, r->model, p->planned, &def, &p->feedback));
    return bo_correction_make(ctx, p->feedback, &p->correction);
}

static bough_status make_helpers(bough_context *ctx, player *p) {
    const bool shapes = p->def->source == BOUGH_REPLAY_ZV || p->def->source == BOUGH_REPLAY_ZVD;
    if (!shapes && !p->def->feedback)
        return BOUGH_OK;
    bough_frame_def *frames = copy_frames(ctx, p->r);
    bough_status status = frames ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK && shapes)
        status = make_shaper(ctx, p, frames);
    if (status == BOUGH_OK && p->def->feedback)
        status = make_feedback(ctx, p, frames);
    bo_free(ctx, frames);
    return status;
}

static bough_status make_player(bough_context *ctx, player *p) {
    const bough_retarget *r = p->r;
    const bough_multibody_def *def = &r->content->plan.def;
    bough_integrator_def own = r->scene->integrator;
    own.name = BO_MULTIBODY_INTEGRATOR;
    const bo_engine_settings settings = {.integrator = own, .settle = true};
    p->plan = r->content->plan;
    p->bodies = BO_NEW_ARRAY(ctx, bough_rigid_body_def, def->body_count);
    p->parts = BO_NEW_ARRAY(ctx, bough_flexible_def, def->part_count);
    if (!p->bodies || !p->parts)
        return BOUGH_ERROR_MEMORY;
    change_robot(p);
    BO_TRY(bo_multibody_scene_engine(ctx, r->scene, &p->plan,
                                     p->def->full ? &bo_multibody_twin_engine : &bo_multibody_engine, &settings,
                                     &p->engine));
    BO_TRY(make_helpers(ctx, p));
    p->state = engine_of(p)->state;
    p->state->drive = drive, p->state->drive_data = p;
    return BOUGH_OK;
}

static void free_player(bough_context *ctx, player *p) {
    if (p->feedback)
        bo_correction_free(ctx, &p->correction);
    bo_feedback_destroy(ctx, p->feedback);
    bough_multibody_state_destroy(ctx, p->planned);
    bo_engine_destroy(ctx, &p->engine);
    bo_free(ctx, p->bodies);
    bo_free(ctx, p->parts);
}

/* ---- what is seen ---- */

static void see_pose(const bough_retarget *r, bough_motion *m, int32_t frame, int32_t step, const bough_pose *pose) {
    const size_t at = (size_t)frame * bo_retarget_samples(r) + (size_t)step;
    const bo_se3 g = bo_pose(pose);
    bo_store3(m->positions + 3 * at, g.t);
    memcpy(m->rotations + 9 * at, g.R.m, sizeof g.R.m);
}

static void see_motors(const player *p, bough_motion *m, int32_t step) {
    const bough_retarget *r = p->r;
    for (int32_t i = 0; i < r->motor_count; i++) {
        const size_t at = (size_t)i * bo_retarget_samples(r) + (size_t)step;
        double ignored;
        p->state->drive(p->state->drive_data, i, step * r->dt, &m->places[at], &m->rates[at]);
        if (!p->def->statics)
            m->forces[at] = bo_multibody_motor_force(engine_of(p), i, &ignored);
    }
}

static void see(const player *p, bough_motion *m, int32_t step) {
    const bough_retarget *r = p->r;
    bough_multibody_energies energies;
    for (int32_t i = 0; i < r->frame_count; i++) {
        bough_pose pose;
        bough_multibody_frame(engine_of(p)->model, p->state, &r->tracks[i].frame, &pose, NULL);
        see_pose(r, m, i, step, &pose);
    }
    bough_multibody_measure(engine_of(p)->model, p->state, &energies);
    m->kinetic[step] = energies.kinetic, m->elastic[step] = energies.elastic + energies.springs;
    see_motors(p, m, step);
}

/* ---- playing ---- */

static bough_status play_slowly(bough_context *ctx, player *p, bough_motion *m) {
    const bough_retarget *r = p->r;
    const int32_t count = r->step_count + 1;
    bough_targets_def def = bough_default_targets_def();
    bough_frame_def *frames = copy_frames(ctx, r);
    bough_pose *poses = BO_NEW_ARRAY(ctx, bough_pose, (size_t)count * (size_t)r->frame_count);
    bough_multibody_path path = {0};
    bough_status status = frames && poses ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    def.every = r->dt, def.count = count, def.frame_count = r->frame_count, def.frames = frames;
    if (status == BOUGH_OK)
        status = bough_multibody_targets(ctx, engine_of(p)->model, p->state, &def, poses, &path);
    for (int32_t k = 0; status == BOUGH_OK && k < count; k++) {
        for (int32_t i = 0; i < r->frame_count; i++)
            see_pose(r, m, i, k, &poses[(size_t)k * (size_t)r->frame_count + (size_t)i]);
        see_motors(p, m, k);
    }
    if (r->target == NULL) /* these are the targets themselves */
        ((bough_retarget *)(uintptr_t)r)->path = path;
    bo_free(ctx, frames);
    bo_free(ctx, poses);
    return status;
}

/* One step; the planned robot and the feedback go first, from where both are. */
static bough_status take_step(bough_context *ctx, player *p, double t, double dt) {
    p->state->time = t; /* times do not add up errors */
    if (p->feedback) {
        bo_feedback_command(p->feedback, t, p->planned->u, p->planned->v, p->state->u, p->state->v, &p->correction);
        p->planned->time = t;
        BO_TRY(bough_multibody_step(ctx, p->r->model, p->planned, dt));
    }
    return bough_multibody_step(ctx, engine_of(p)->model, p->state, dt);
}

static bough_status play(bough_context *ctx, player *p, bough_motion *m) {
    const bough_retarget *r = p->r;
    const int32_t parts = p->def->dt > 0 ? (int32_t)lround(r->dt / p->def->dt) : 1;
    see(p, m, 0);
    for (int32_t k = 1; k <= r->step_count; k++) {
        if (k % STEPS_A_LOOK == 0 && !bo_progress(ctx, "replaying", (double)k / r->step_count, "%.2f s", k * r->dt))
            return bo_fail_cancelled(ctx);
        for (int32_t i = 0; i < parts; i++)
            BO_TRY(take_step(ctx, p, (k - 1 + (double)i / parts) * r->dt, r->dt / parts));
        see(p, m, k);
    }
    return BOUGH_OK;
}

static bough_status check_def(bough_context *ctx, const bough_retarget *r, const bough_replay_def *def) {
    if (def->cookie != REPLAY_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "start from bough_default_replay_def()");
    if (!(def->mass > 0) || !(def->stiffness > 0) || !isfinite(def->mass + def->stiffness))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "factors of %g on masses and %g on stiffness; both must be positive",
                       def->mass, def->stiffness);
    if (def->feedback && (def->full || def->statics))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a feedback is for motions of reduced parts");
    if (!(def->dt >= 0) || !isfinite(def->dt) ||
        (def->dt > 0 && fabs(r->dt / def->dt - fmax(1, round(r->dt / def->dt))) > 1e-6))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "a replay in steps of %g s: they must divide those of the search, %g s", def->dt, r->dt);
    return BOUGH_OK;
}

static bough_status replay(bough_context *ctx, const bough_retarget *r, const bough_replay_def *def,
                           bough_motion *motion) {
    player p = {.r = r, .def = def};
    bough_status status = make_player(ctx, &p);
    if (status == BOUGH_OK && p.shaper.count > 0)
        motion->delay = bo_shaper_delay(&p.shaper);
    if (status == BOUGH_OK)
        status = def->statics ? play_slowly(ctx, &p, motion) : play(ctx, &p, motion);
    free_player(ctx, &p);
    return status;
}

/* Violent motions, which the search avoids, may need the scene's own steps. False: those are no shorter. */
static bool take_shorter_steps(const bough_retarget *r, bough_replay_def *def) {
    const double parts = ceil(r->dt / r->scene->dt - 1e-6);
    if (def->dt > 0 || def->statics || !(parts > 1))
        return false;
    def->dt = r->dt / parts;
    return true;
}

bough_status bough_retarget_replay(bough_context *ctx, const bough_retarget *r, const bough_replay_def *def,
                                   bough_motion **out) {
    bough_replay_def own = *def;
    bough_motion *motion = NULL;
    *out = NULL;
    BO_TRY(check_def(ctx, r, def));
    bough_status status = bo_motion_make(ctx, r, &motion);
    if (status == BOUGH_OK)
        status = replay(ctx, r, &own, motion);
    if ((status == BOUGH_NO_CONVERGENCE || status == BOUGH_NOT_FINITE) && take_shorter_steps(r, &own))
        status = replay(ctx, r, &own, motion);
    if (status != BOUGH_OK) {
        bough_motion_destroy(ctx, motion);
        return status;
    }
    *out = motion;
    return BOUGH_OK;
}
