/* Retargeting: made from a scene, looked at, and its tables of motors. docs/retarget.md. */
#include "retarget/retarget.h"

#include "base/file.h"
#include "base/pose.h"
#include "rig/joint.h"
#include "scene/motor_table.h"
#include "scene/scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RETARGET_COOKIE 0xB0061063u
#define REST_AFTER 1.0 /* s: a scene without a duration ends so long after its animation */
#define STILL 1e-9     /* rad/s, m/s: a slower motor stands still */
#define MARGIN 0.01    /* s: before and after a movement; nothing with a mass follows the corners of an animation */
#define MOST_STEPS 1e6

bough_retarget_def bough_default_retarget_def(void) {
    return (bough_retarget_def){
        .cookie = RETARGET_COOKIE, .tolerance = -1, .window = -1, .overlap = -1, .megabytes = 256};
}

/* ---- checks ---- */

static bough_status check_scene(bough_context *ctx, const bough_scene *scene) {
    if (scene->kind != &bo_multibody_scene_kind)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "%s: only scenes of bodies with joints can be retargeted (\"bodies\", \"parts\" and \"joints\")",
                       scene->path);
    const bo_multibody_scene *m = scene->content;
    const char *what = m->load_count > 0 ? "\"forces\"" : m->plan.touch_count > 0 ? "bodies that \"touch\"" : NULL;
    if (m->def.motor_count == 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: there are no \"motors\" whose curves could be changed",
                       scene->path);
    if (m->def.part_count == 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: nothing bends, so that nothing vibrates", scene->path);
    if (what)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: has %s, which retargeting does not know", scene->path, what);
    if (strcmp(scene->integrator.name, BO_MULTIBODY_INTEGRATOR) != 0)
        bo_warn(ctx, "%s: retargeting steps by \"%s\", not by \"%s\"", scene->path, BO_MULTIBODY_INTEGRATOR,
                scene->integrator.name);
    return BOUGH_OK;
}

static bough_status check_def(bough_context *ctx, const bough_retarget_def *def) {
    if (def->cookie != RETARGET_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "start from bough_default_retarget_def()");
    if (!(def->dt >= 0) || !isfinite(def->dt) || def->iterations < 0 || !(def->megabytes > 0) ||
        !isfinite(def->tolerance + def->window + def->overlap) || (int)def->search < 0 ||
        def->search >= BOUGH_SEARCH_KIND_COUNT)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a step of %g s, %d iterations and %g megabytes: one is out of range",
                       def->dt, def->iterations, def->megabytes);
    return BOUGH_OK;
}

/* ---- what is tracked ---- */

/* Bodies at the ends of flexible parts: those that a joint connects with an interface. */
static bool hangs_on_part(const bough_multibody_def *def, int32_t body) {
    for (int32_t j = 0; j < def->joint_count; j++) {
        const bough_frame_def *a = &def->joints[j].parent, *b = &def->joints[j].child;
        if ((a->body == body && b->interface_index >= 0) || (b->body == body && a->interface_index >= 0))
            return true;
    }
    return false;
}

static bough_status choose_tracks(bough_context *ctx, bough_retarget *r) {
    const bough_multibody_def *def = &r->content->def;
    const bo_retarget_plan *plan = r->plan;
    const int32_t most = plan->track_count > 0 ? plan->track_count : def->body_count;
    r->tracks = BO_NEW_ZEROS(ctx, bo_retarget_track, most);
    r->frame_names = BO_NEW_ZEROS(ctx, const char *, most);
    if (!r->tracks || !r->frame_names)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < plan->track_count; i++)
        r->tracks[r->frame_count] = plan->tracks[i], r->frame_names[r->frame_count++] = plan->tracks[i].name;
    for (int32_t b = 0; b < def->body_count && plan->track_count == 0; b++) {
        if (!hangs_on_part(def, b))
            continue;
        bo_retarget_track *track = &r->tracks[r->frame_count];
        *track = (bo_retarget_track){.frame = bough_default_frame_def(), .weight = 1, .curve = -1};
        track->frame.body = b;
        memcpy(track->frame.pose.position, def->bodies[b].centre, sizeof def->bodies[b].centre);
        r->frame_names[r->frame_count++] = def->bodies[b].name;
    }
    return r->frame_count > 0 ? BOUGH_OK
                              : bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                                        "%s: no body hangs on a flexible part; say under \"retarget\" what is "
                                        "tracked, as in \"track\": [{\"body\": \"hand\"}]",
                                        r->scene->path);
}

static void weigh_tracks(bough_retarget *r) {
    for (int32_t i = 0; i < r->frame_count; i++)
        for (int32_t k = 0; k <= r->step_count; k++) {
            const double t = k * r->dt;
            const int32_t curve = r->tracks[i].curve;
            bool moves = false;
            for (int32_t m = 0; m < r->motor_count; m++) {
                double rate;
                bo_spline_at(&r->content->drives[m], t, NULL, &rate, NULL);
                moves = moves || fabs(rate) > STILL;
            }
            r->weights[(size_t)i * bo_retarget_samples(r) + (size_t)k] =
                (curve < 0 ? 1 : bo_curve_at(&r->content->plan.curves[curve], t)) * (moves ? r->plan->moving : 1);
        }
}

/* ---- the animation ---- */

static double end_of_animation(const bo_multibody_scene *m) {
    double end = 0;
    for (int32_t i = 0; i < m->def.motor_count; i++)
        end = fmax(end, m->drives[i].times[m->drives[i].count - 1]);
    return end + REST_AFTER;
}

static bough_status choose_steps(bough_context *ctx, bough_retarget *r) {
    const bo_retarget_plan *plan = r->plan;
    const double duration = plan->duration > 0       ? plan->duration
                            : r->scene->duration > 0 ? r->scene->duration
                                                     : end_of_animation(r->content);
    r->dt = r->def.dt > 0 ? r->def.dt : plan->dt;
    if (duration / r->dt > MOST_STEPS)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: %g s in steps of %g s are too many steps; is time in seconds?",
                       r->scene->path, duration, r->dt);
    const double moves = end_of_animation(r->content) - REST_AFTER;
    if (moves > duration + r->dt)
        bo_warn(ctx, "%s: the animation goes on until %g s, of which %g s are retargeted; is time in seconds?",
                r->scene->path, moves, duration);
    r->step_count = (int32_t)lround(duration / r->dt);
    return r->step_count >= 2 ? BOUGH_OK
                              : bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: %g s are too short for steps of %g s",
                                        r->scene->path, duration, r->dt);
}

/* Pauses are times at which nothing moves, nor did or will within the margin. */
static void find_pauses(bough_retarget *r) {
    const int32_t margin = (int32_t)ceil(MARGIN / r->dt - 1e-9);
    r->last_move = -1;
    for (int32_t k = 0; k <= r->step_count; k++)
        r->pauses[k] = true;
    for (int32_t k = 0; k <= r->step_count; k++)
        for (int32_t m = 0; m < r->motor_count; m++) {
            double rate;
            bo_spline_at(&r->content->drives[m], k * r->dt, &r->input[(size_t)m * bo_retarget_samples(r) + (size_t)k],
                         &rate, NULL);
            if (fabs(rate) <= STILL)
                continue;
            r->last_move = k;
            for (int32_t i = k - margin; i <= k + margin; i++)
                if (i >= 0 && i <= r->step_count)
                    r->pauses[i] = false;
        }
}

static bough_status fit_curves(bough_context *ctx, bough_retarget *r) {
    const double duration = r->step_count * r->dt;
    const int32_t points = (int32_t)lround(fmin(r->plan->point_rate, 0.5 / r->dt) * duration) + r->plan->degree;
    const int32_t least = r->plan->degree + 1;
    double *times = BO_NEW_ARRAY(ctx, double, r->step_count + 1);
    bough_status status = times ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t k = 0; times && k <= r->step_count; k++)
        times[k] = k * r->dt;
    for (int i = 0; i < 2 && status == BOUGH_OK; i++)
        status = bough_motor_curves_create(ctx, r->motor_count, r->plan->degree, points < least ? least : points, 0,
                                           duration, i == 0 ? &r->first : &r->curves);
    if (status == BOUGH_OK)
        status = bough_motor_curves_fit(ctx, r->first, r->step_count + 1, times, r->input, true);
    if (status == BOUGH_OK)
        memcpy(r->curves->points, r->first->points,
               (size_t)r->motor_count * (size_t)r->first->point_count * sizeof(double));
    bo_free(ctx, times);
    return status;
}

/* A curve stays between the least and the largest of the control points that act: bounds of these bound it. Points that
 * the animation itself has outside are not moved. */
static bough_status bound_points(bough_context *ctx, bough_retarget *r) {
    const int32_t per = r->first->point_count;
    r->lower = BO_NEW_ARRAY(ctx, double, r->motor_count *per);
    r->upper = BO_NEW_ARRAY(ctx, double, r->motor_count *per);
    if (!r->lower || !r->upper)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < r->motor_count * per; i++) {
        const bough_motor_limits *limits = &r->plan->limits[i / per];
        r->lower[i] = fmin(limits->lowest, r->first->points[i]);
        r->upper[i] = fmax(limits->highest, r->first->points[i]);
    }
    return BOUGH_OK;
}

/* ---- making ---- */

static bough_status make_engine(bough_context *ctx, bough_retarget *r) {
    bough_integrator_def own = r->scene->integrator;
    own.name = BO_MULTIBODY_INTEGRATOR;
    const bo_engine_settings settings = {.integrator = own, .settle = true};
    BO_TRY(bo_multibody_scene_engine(ctx, r->scene, &r->content->plan, &bo_multibody_engine, &settings, &r->engine));
    r->model = bo_retarget_engine(r)->model;
    return BOUGH_OK;
}

static bough_status make_arrays(bough_context *ctx, bough_retarget *r) {
    const size_t n = bo_retarget_samples(r);
    r->motor_names = BO_NEW_ZEROS(ctx, const char *, r->motor_count);
    r->slides = BO_NEW_ZEROS(ctx, bool, r->motor_count);
    r->weights = BO_NEW_ARRAY(ctx, double, (size_t)r->frame_count *n);
    r->input = BO_NEW_ARRAY(ctx, double, (size_t)r->motor_count *n);
    r->pauses = BO_NEW_ARRAY(ctx, bool, n);
    if (!r->motor_names || !r->slides || !r->weights || !r->input || !r->pauses)
        return BOUGH_ERROR_MEMORY;
    for (int32_t m = 0; m < r->motor_count; m++) {
        const bough_motor_def *motor = &r->content->motors[m];
        r->motor_names[m] = motor->name;
        r->slides[m] = bo_joint_slides(r->content->joints[motor->joint].kind, motor->freedom);
    }
    return BOUGH_OK;
}

static bough_status make(bough_context *ctx, bough_retarget *r) {
    BO_TRY(choose_steps(ctx, r));
    BO_TRY(choose_tracks(ctx, r));
    BO_TRY(make_arrays(ctx, r));
    find_pauses(r);
    weigh_tracks(r);
    BO_TRY(make_engine(ctx, r));
    BO_TRY(fit_curves(ctx, r));
    BO_TRY(bound_points(ctx, r));
    bough_replay_def slowly = bough_default_replay_def();
    slowly.source = BOUGH_REPLAY_ANIMATION, slowly.statics = true;
    BO_TRY(bough_retarget_replay(ctx, r, &slowly, &r->target));
    if (r->path.snaps > 0)
        bo_warn(ctx,
                "%s: the targets jump at %g s, where the system snaps from one equilibrium to another%s%s%s; nothing "
                "can follow that",
                r->scene->path, r->path.first.time, r->path.first.joint < 0 ? "" : " (joint \"",
                r->path.first.joint < 0 ? "" : r->content->joints[r->path.first.joint].name,
                r->path.first.joint < 0 ? "" : "\")");
    return BOUGH_OK;
}

bough_status bough_retarget_create(bough_context *ctx, const bough_scene *scene, const bough_retarget_def *def,
                                   bough_retarget **out) {
    *out = NULL;
    BO_TRY(check_def(ctx, def));
    BO_TRY(check_scene(ctx, scene));
    bough_retarget *r = BO_NEW(ctx, bough_retarget);
    if (!r)
        return BOUGH_ERROR_MEMORY;
    const bo_multibody_scene *m = scene->content;
    *r = (bough_retarget){.scene = scene,
                          .content = m,
                          .plan = &m->retarget,
                          .def = *def,
                          .motor_count = m->def.motor_count,
                          .first_value = NAN,
                          .value = NAN};
    const bough_status status = make(ctx, r);
    if (status != BOUGH_OK) {
        bough_retarget_destroy(ctx, r);
        return status;
    }
    *out = r;
    return BOUGH_OK;
}

void bough_retarget_destroy(bough_context *ctx, bough_retarget *r) {
    if (!r)
        return;
    bo_engine_destroy(ctx, &r->engine);
    bough_motion_destroy(ctx, r->target);
    bough_motor_curves_destroy(ctx, r->first);
    bough_motor_curves_destroy(ctx, r->curves);
    void *const blocks[] = {r->tracks, r->motor_names, r->frame_names, r->slides, r->weights,
                            r->input,  r->pauses,      r->lower,       r->upper};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
    bo_free(ctx, r);
}

/* ---- looking ---- */

static bool in_degrees(const bough_retarget *r) {
    for (int32_t m = 0; m < r->motor_count; m++)
        if (r->content->units[m] == 1)
            return false;
    return true;
}

void bough_retarget_look(const bough_retarget *r, bough_retarget_view *view) {
    *view = (bough_retarget_view){.motor_count = r->motor_count,
                                  .frame_count = r->frame_count,
                                  .step_count = r->step_count,
                                  .motors = r->motor_names,
                                  .frames = r->frame_names,
                                  .slides = r->slides,
                                  .limits = r->plan->limits,
                                  .dt = r->dt,
                                  .duration = r->step_count * r->dt,
                                  .rate = r->plan->rate,
                                  .degrees = in_degrees(r),
                                  .weights = r->weights,
                                  .pauses = r->pauses,
                                  .target = r->target,
                                  .input = r->first,
                                  .curves = r->curves,
                                  .snaps = r->path.snaps,
                                  .search = r->search,
                                  .first_value = r->first_value,
                                  .value = r->value,
                                  .iterations = r->iterations,
                                  .gradients = r->gradients,
                                  .converged = r->converged,
                                  .bytes = r->bytes};
}

/* ---- tables ---- */

/* values: the times of the rows, then those of each motor. */
static bough_status begin_from(bough_context *ctx, bough_retarget *r, const bo_motor_table *table, double *values) {
    const int32_t rows = table->row_count;
    const double unit = in_degrees(r) ? M_PI / 180 : 1;
    bough_motor_curves *curves = NULL;
    for (int32_t m = -1; m < r->motor_count; m++) {
        int32_t column = table->time;
        if (m >= 0)
            BO_TRY(bo_motor_table_find(ctx, table, r->motor_names[m], &column));
        for (int32_t k = 0; k < rows; k++)
            values[(size_t)(m + 1) * (size_t)rows + (size_t)k] =
                (m < 0 ? 1 : unit) * table->values[(size_t)k * (size_t)table->column_count + (size_t)column];
    }
    BO_TRY(bough_motor_curves_create(ctx, r->motor_count, r->curves->degree, r->curves->point_count, 0,
                                     r->curves->duration, &curves));
    const bough_status status = bough_motor_curves_fit(ctx, curves, rows, values, values + rows, true);
    if (status == BOUGH_OK) {
        bough_motor_curves *before = r->curves;
        r->curves = curves, curves = before;
        for (int32_t m = 0; m < r->motor_count; m++) /* the start is the scene's */
            for (int32_t i = 0; i < r->curves->degree; i++)
                r->curves->points[m * r->curves->point_count + i] = r->first->points[m * r->curves->point_count + i];
    }
    bough_motor_curves_destroy(ctx, curves);
    return status;
}

bough_status bough_retarget_begin(bough_context *ctx, bough_retarget *r, const char *path) {
    bo_motor_table table;
    uint64_t ignored = BO_HASH_START;
    bough_status status = bo_motor_table_read(ctx, path, &ignored, &table);
    double *values =
        status == BOUGH_OK ? BO_NEW_ARRAY(ctx, double, (size_t)(r->motor_count + 1) * (size_t)table.row_count) : NULL;
    if (status == BOUGH_OK)
        status = values ? begin_from(ctx, r, &table, values) : BOUGH_ERROR_MEMORY;
    if (status > BOUGH_OK || status == BOUGH_ERROR_ARGUMENT)
        bo_prefix_message(ctx, "%s: ", path);
    bo_free(ctx, values);
    bo_motor_table_free(ctx, &table);
    return status;
}

typedef struct {
    const bough_retarget *r;
    double every; /* s */
    FILE *stream;
} table_writer;

static bough_status write_table(bough_context *ctx, void *data) {
    const table_writer *w = data;
    const bough_retarget *r = w->r;
    const double duration = r->step_count * r->dt, unit = in_degrees(r) ? M_PI / 180 : 1;
    const int64_t rows = (int64_t)ceil(duration / w->every - 1e-9);
    (void)ctx; /* errors of the stream are found when the file is closed */
    fprintf(w->stream, "time");
    for (int32_t m = 0; m < r->motor_count; m++)
        fprintf(w->stream, ",%s", r->motor_names[m]);
    for (int64_t k = 0; k <= rows; k++) {
        const double t = fmin((double)k * w->every, duration);
        fprintf(w->stream, "\n%.9g", t);
        for (int32_t m = 0; m < r->motor_count; m++) {
            double place;
            bough_motor_curves_at(r->curves, m, t, &place, NULL, NULL);
            fprintf(w->stream, ",%.12g", place / unit);
        }
    }
    fprintf(w->stream, "\n");
    return BOUGH_OK;
}

bough_status bough_retarget_write(bough_context *ctx, const bough_retarget *r, const char *path, double rate) {
    const double duration = r->step_count * r->dt;
    const double rows_a_second = rate > 0 ? rate : r->plan->rate;
    bo_output output;
    if (!(duration * rows_a_second <= MOST_STEPS))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%g rows a second for %g s are too many", rows_a_second, duration);
    for (int32_t m = 0; m < r->motor_count; m++)
        if (strpbrk(r->motor_names[m], ",\"\r\n"))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "the name of motor \"%s\" has a comma, a quote or a line break in it, which a table of "
                           "motors cannot have; give the motor another name",
                           r->motor_names[m]);
    BO_TRY(bo_output_open(ctx, path, &output));
    table_writer w = {r, 1 / rows_a_second, output.stream};
    return bo_output_finish(ctx, &output, write_table, &w);
}
