/* Cubic splines through the keys of a track: position, and the four numbers of the quaternion, each on its own. */
#include "tree/tree.h"

#include "base/rotation.h"

#include <math.h>
#include <string.h>

enum { CHANNELS = 7 }; /* x y z of the position, w x y z of the quaternion */

/* y = c0 + c1 s + c2 s^2 + c3 s^3 of each channel, s from the start of the segment. */
typedef struct segment {
    double c[4][CHANNELS];
} segment;

struct bo_spline {
    int32_t count; /* of keys */
    double *time;
    segment *segments; /* count; the last one is its key alone */
};

/* Below this length the four splines together have lost the direction between two keys, whose quaternions have length
 * 1: half a turn about one axis goes through 0.7. */
#define SHORTEST_QUATERNION 0.25

static bough_status check_keys(bough_context *ctx, const bough_track *track) {
    if (track->count < 1)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a track needs at least one key");
    if (!track->time || !track->position || !track->rotation)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a track needs times, positions and rotations");
    for (int32_t i = 0; i < track->count; i++) {
        const double *x = track->position + 3 * i, *q = track->rotation + 4 * i;
        const double length = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        if (!isfinite(track->time[i]) || (i > 0 && !(track->time[i] > track->time[i - 1])))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "key %d of the track: its time is %g; times must ascend", i,
                           track->time[i]);
        if (!isfinite(x[0] + x[1] + x[2]))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "key %d of the track: its position is not finite", i);
        if (!(length > 1e-200 && isfinite(length)))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "key %d of the track: its rotation is no quaternion w x y z: it has no length", i);
    }
    return BOUGH_OK;
}

bough_status bo_track_check(bough_context *ctx, const char *name, const bough_part_def *part,
                            const bough_component *component) {
    if (part->track.count == 0)
        return BOUGH_OK;
    if (part->parent >= 0 || part->free || component->support == BOUGH_SUPPORT_FREE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part \"%s\": a track can lead a root only, and one that is held",
                       name);
    bough_status status = check_keys(ctx, &part->track);
    if (status != BOUGH_OK)
        bo_prefix_message(ctx, "part \"%s\": ", name);
    return status;
}

/* Values at the keys: unit quaternions, each with the sign that is nearer to the one before. */
static void place_keys(const bough_track *track, bo_spline *spline) {
    for (int32_t i = 0; i < track->count; i++) {
        const double *p = track->rotation + 4 * i;
        bo_quat q = bo_quat_normalize((bo_quat){p[0], p[1], p[2], p[3]});
        if (i > 0) {
            const double *last = spline->segments[i - 1].c[0] + 3;
            if (bo_quat_dot(q, (bo_quat){last[0], last[1], last[2], last[3]}) < 0)
                q = (bo_quat){-q.w, -q.x, -q.y, -q.z};
        }
        double *key = spline->segments[i].c[0];
        memcpy(key, track->position + 3 * i, 3 * sizeof *key);
        memcpy(key + 3, (double[4]){q.w, q.x, q.y, q.z}, 4 * sizeof *key);
        spline->time[i] = track->time[i];
    }
}

/* Slopes m with continuous second derivatives, zero at both ends, h the lengths of the segments:
 *     m_i-1 / h_i-1 + 2 m_i (1/h_i-1 + 1/h_i) + m_i+1 / h_i = 3 (y_i - y_i-1) / h_i-1^2 + 3 (y_i+1 - y_i) / h_i^2
 * by elimination from the first to the last; `above` (count) keeps the upper diagonal. */
static void find_slopes(bo_spline *spline, double *above) {
    const int32_t last = spline->count - 1;
    segment *s = spline->segments;
    above[0] = 0;
    for (int32_t i = 1; i < last; i++) {
        const double before = 1 / (spline->time[i] - spline->time[i - 1]);
        const double after = 1 / (spline->time[i + 1] - spline->time[i]);
        const double pivot = 1 / (2 * (before + after) - before * above[i - 1]);
        above[i] = after * pivot;
        for (int k = 0; k < CHANNELS; k++) {
            const double right = 3 * before * before * (s[i].c[0][k] - s[i - 1].c[0][k]) +
                                 3 * after * after * (s[i + 1].c[0][k] - s[i].c[0][k]);
            s[i].c[1][k] = (right - before * s[i - 1].c[1][k]) * pivot;
        }
    }
    for (int32_t i = last - 2; i > 0; i--)
        for (int k = 0; k < CHANNELS; k++)
            s[i].c[1][k] -= above[i] * s[i + 1].c[1][k];
}

/* The cubic between two values and slopes. */
static void fill_segments(bo_spline *spline) {
    for (int32_t i = 0; i + 1 < spline->count; i++) {
        segment *s = &spline->segments[i];
        const segment *next = s + 1;
        const double h = spline->time[i + 1] - spline->time[i];
        for (int k = 0; k < CHANNELS; k++) {
            const double rise = (next->c[0][k] - s->c[0][k]) / h, here = s->c[1][k], there = next->c[1][k];
            s->c[2][k] = (3 * rise - 2 * here - there) / h;
            s->c[3][k] = (here + there - 2 * rise) / (h * h);
        }
    }
}

static void evaluate(const segment *s, double t, double y[CHANNELS], double d[CHANNELS], double dd[CHANNELS]) {
    for (int k = 0; k < CHANNELS; k++) {
        const double c1 = s->c[1][k], c2 = s->c[2][k], c3 = s->c[3][k];
        y[k] = s->c[0][k] + t * (c1 + t * (c2 + t * c3));
        d[k] = c1 + t * (2 * c2 + 3 * t * c3);
        dd[k] = 2 * c2 + 6 * t * c3;
    }
}

/* All numbers are finite, and no quaternion on the way has lost its direction. */
static bough_status check_way(bough_context *ctx, const bo_spline *spline) {
    enum { LOOKS = 16 };
    for (int32_t i = 0; i + 1 < spline->count; i++)
        for (int look = 0; look < LOOKS; look++) {
            double y[CHANNELS], d[CHANNELS], dd[CHANNELS], sum = 0;
            evaluate(&spline->segments[i], (spline->time[i + 1] - spline->time[i]) * look / LOOKS, y, d, dd);
            for (int k = 0; k < CHANNELS; k++)
                sum += y[k] * y[k] + d[k] * d[k] + dd[k] * dd[k];
            if (!isfinite(sum))
                return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                               "keys %d and %d of the track are too near in time, or too far apart in space", i, i + 1);
            if (y[3] * y[3] + y[4] * y[4] + y[5] * y[5] + y[6] * y[6] < SHORTEST_QUATERNION * SHORTEST_QUATERNION)
                return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                               "between keys %d and %d the track turns too far; give it a key more there", i, i + 1);
        }
    return BOUGH_OK;
}

bough_status bo_track_make(bough_context *ctx, const bough_track *track, bo_spline **out) {
    *out = NULL;
    BO_TRY(check_keys(ctx, track));
    bo_spline *spline = BO_NEW(ctx, bo_spline);
    double *above = BO_NEW_ARRAY(ctx, double, track->count);
    if (spline) {
        spline->count = track->count;
        spline->time = BO_NEW_ARRAY(ctx, double, track->count);
        spline->segments = BO_NEW_ZEROS(ctx, segment, track->count);
    }
    bough_status status = spline && above && spline->time && spline->segments ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        place_keys(track, spline);
        find_slopes(spline, above);
        fill_segments(spline);
        status = check_way(ctx, spline);
    }
    bo_free(ctx, above);
    if (status != BOUGH_OK)
        bo_track_free(ctx, spline);
    else
        *out = spline;
    return status;
}

void bo_track_free(bough_context *ctx, bo_spline *spline) {
    if (!spline)
        return;
    bo_free(ctx, spline->time);
    bo_free(ctx, spline->segments);
    bo_free(ctx, spline);
}

/* The last key that is not later, or -1. */
static int32_t find_key(const bo_spline *spline, double t) {
    int32_t low = -1, high = spline->count;
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (spline->time[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bo_quat quat_of(const double y[CHANNELS]) {
    return (bo_quat){y[3], y[4], y[5], y[6]};
}

/* Vector part of a b* */
static bo_vec3 turn_between(bo_quat a, bo_quat b) {
    const bo_quat p = bo_quat_mul(a, bo_quat_conj(b));
    return bo_v3(p.x, p.y, p.z);
}

/* Q = |Q| u turns like u: with N = Q . Q, u' u* = Q' Q* / N but for its real part, so that
 *     w = 2 vec(Q' Q*) / N,  w' = 2 vec(Q" Q*) / N - w N' / N, as Q' Q'* is real. */
void bo_track_at(const bo_spline *spline, double t, bo_track_pose *pose) {
    const int32_t key = find_key(spline, t), last = spline->count - 1;
    double y[CHANNELS], d[CHANNELS] = {0}, dd[CHANNELS] = {0};
    if (key < 0 || key == last)
        memcpy(y, spline->segments[key < 0 ? 0 : last].c[0], sizeof y);
    else
        evaluate(&spline->segments[key], t - spline->time[key], y, d, dd);
    const bo_quat Q = quat_of(y), rate = quat_of(d), second = quat_of(dd);
    const double N = bo_quat_dot(Q, Q);
    pose->position = bo_load3(y), pose->velocity = bo_load3(d), pose->acceleration = bo_load3(dd);
    pose->rotation = bo_quat_to_matrix(Q);
    pose->angular_velocity = bo_scale(2 / N, turn_between(rate, Q));
    pose->angular_acceleration = bo_sub(bo_scale(2 / N, turn_between(second, Q)),
                                        bo_scale(2 * bo_quat_dot(Q, rate) / N, pose->angular_velocity));
}

bough_status bo_tree_make_tracks(bough_context *ctx, bough_tree_model *model) {
    model->tracks = BO_NEW_ZEROS(ctx, bo_spline *, model->def.part_count);
    if (!model->tracks)
        return BOUGH_ERROR_MEMORY;
    for (int32_t user = 0; user < model->def.part_count; user++) {
        const bough_part_def *part = &model->def.parts[user];
        if (part->track.count == 0)
            continue;
        bough_status status = bo_track_make(ctx, &part->track, &model->tracks[user]);
        if (status == BOUGH_ERROR_ARGUMENT)
            bo_prefix_message(ctx, "part \"%s\": ", part->name);
        BO_TRY(status);
    }
    bo_tree_lay_tracks(model);
    return BOUGH_OK;
}

void bo_tree_lay_tracks(bough_tree_model *model) {
    for (int32_t i = 0; i < model->levels[0].end_part; i++) {
        const int32_t user = model->parts[i].user;
        if (model->parts[i].free || model->def.parts[user].track.count == 0)
            continue;
        model->parts[i].track = model->tracks[user];
        model->led = true;
    }
}

void bo_tree_free_tracks(bough_context *ctx, bough_tree_model *model) {
    for (int32_t user = 0; user < model->def.part_count && model->tracks; user++)
        bo_track_free(ctx, model->tracks[user]);
    bo_free(ctx, model->tracks);
}
