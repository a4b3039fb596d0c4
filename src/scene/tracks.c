/* "track": a root that is moved by hand. */
#include "scene/assembly.h"
#include "scene/entries.h"

#define TRACK_LIMIT 1000000 /* keys */

/* Stores the one of q and -q, which are the same rotation, that is nearer to the key before: splines go the short
 * way. */
static void store_rotation(const double degrees[3], double *quaternion, const double *before) {
    bo_quat q = bo_quat_from_matrix(bo_turn_degrees(degrees));
    double sign = 1;
    if (before && q.w * before[0] + q.x * before[1] + q.y * before[2] + q.z * before[3] < 0)
        sign = -1;
    quaternion[0] = sign * q.w, quaternion[1] = sign * q.x, quaternion[2] = sign * q.y, quaternion[3] = sign * q.z;
}

static bough_status read_key(bo_json at, int32_t i, double *time, double *position, double *rotation) {
    double degrees[3] = {0};
    bo_json when = bo_json_must(&at, "time");
    BO_TRY(bo_json_keys(at, BO_TRACK_KEYS));
    BO_TRY(bo_json_number(when, BO_ANY, &time[i]));
    if (i && !(time[i] > time[i - 1]))
        return bo_json_fail(when, "times must ascend, but %g comes after %g", time[i], time[i - 1]);
    BO_TRY(bo_json_vec3(bo_json_at(&at, "position"), BO_ANY, position + 3 * i));
    BO_TRY(bo_json_vec3(bo_json_at(&at, "rotate_deg"), BO_ANY, degrees));
    store_rotation(degrees, rotation + 4 * i, i ? rotation + 4 * (i - 1) : NULL);
    return BOUGH_OK;
}

bough_status bo_track_read(bo_json at, bough_track *track) {
    int32_t count;
    *track = (bough_track){0};
    BO_TRY(bo_json_list(at, &count));
    if (!at.value)
        return BOUGH_OK;
    if (count < 1 || count > TRACK_LIMIT)
        return bo_json_fail(at, "a track has 1 to %d keys, not %d", TRACK_LIMIT, count);
    double *time = BO_NEW_ZEROS(at.ctx, double, 8 * (size_t)count);
    if (!time)
        return BOUGH_ERROR_MEMORY;
    double *position = time + count, *rotation = position + 3 * (size_t)count;
    *track = (bough_track){count, time, position, rotation};
    for (int32_t i = 0; i < count; i++)
        BO_TRY(read_key(bo_json_item(&at, i), i, time, position, rotation));
    return BOUGH_OK;
}

bough_status bo_track_read_spline(bo_json at, bo_spline **spline) {
    bough_track track;
    *spline = NULL;
    const bough_status status = bo_track_read(at, &track);
    const bough_status made = status == BOUGH_OK && track.count > 0 ? bo_track_make(at.ctx, &track, spline) : status;
    bo_free(at.ctx, (void *)(uintptr_t)track.time);
    return made;
}
