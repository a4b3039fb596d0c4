/* The runtime library for the npm package bough-rt. JavaScript calls the functions of the public headers themselves, with
 * structs that npm/memory.js lays out; here is what these headers do not have: callbacks that end in JavaScript, curves,
 * snapshots of multibody systems, and surfaces of their parts. */
#include "component/surface.h"
#include "multibody/multibody.h"
#include "rig/spline.h"

#include <bough/tree.h>

#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name)))
#define IMPORT(name) __attribute__((import_module("bough"), import_name(#name)))

/* ---- callbacks: `callback` is the number by which npm/memory.js knows a function ---- */

/* Where a motor is told to be; a function that throws says NAN. */
IMPORT(drive) void bough_js_drive(int32_t callback, int32_t motor, double time, double *place, double *rate);
/* Called after a step of a replay; false ends it. */
IMPORT(watch) bool bough_js_watch(int32_t callback);

static void drive(void *data, int32_t motor, double time, double *place, double *rate) {
    bough_js_drive((int32_t)(intptr_t)data, motor, time, place, rate);
}
/* callback 0: motors stay where they are at the start. */
EXPORT(rt_multibody_drive) void rt_multibody_drive(bough_multibody_state *state, int32_t callback) {
    state->drive = callback ? drive : NULL;
    state->drive_data = (void *)(intptr_t)callback;
}

static bough_status watch(void *data, bough_context *ctx, const bough_tree_model *model, bough_tree_state *state) {
    (void)model, (void)state;
    if (bough_js_watch((int32_t)(intptr_t)data))
        return BOUGH_OK;
    return bo_fail(ctx, BOUGH_CANCELLED, "the replay was ended");
}
EXPORT(rt_tree_log_replay)
int rt_tree_log_replay(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                       const bough_tree_log *log, int32_t callback, bool *same) {
    return bough_tree_log_replay(ctx, model, state, log, callback ? watch : NULL, (void *)(intptr_t)callback, same);
}

/* ---- curves that motors follow ---- */

EXPORT(rt_curve_create)
int rt_curve_create(bough_context *ctx, int32_t count, const double *times, const double *values, int kind,
                    bo_spline **curve) {
    bo_curve points = {0};
    bo_spline *made = *curve = BO_NEW_ZEROS(ctx, bo_spline, 1);
    if (!made)
        return BOUGH_ERROR_MEMORY;
    bough_status status = bo_curve_make(ctx, NULL, count, times, values, &points);
    if (!status)
        status = bo_spline_make(ctx, &points, 1, (bo_spline_kind)kind, made);
    bo_curve_free(ctx, &points);
    if (status) {
        bo_spline_free(ctx, made);
        bo_free(ctx, made);
    }
    return status;
}
EXPORT(rt_curve_destroy) void rt_curve_destroy(bough_context *ctx, bo_spline *curve) {
    bo_spline_free(ctx, curve);
    bo_free(ctx, curve);
}
EXPORT(rt_curve_at)
void rt_curve_at(const bo_spline *curve, double time, double *value, double *rate, double *acceleration) {
    bo_spline_at(curve, time, value, rate, acceleration);
}

/* ---- snapshots of multibody systems: gravity, forces for the next step, and what snapshot.c lists ---- */

/* Bytes; 0: the state steps by another method, of which there are no snapshots. */
EXPORT(rt_multibody_snapshot_size) size_t rt_multibody_snapshot_size(bough_multibody_state *state) {
    const bo_mb_state *s = bo_mb(state);
    return s->method ? 0 : (3 + (size_t)s->model->nv + bo_mb_snapshot_size(s)) * sizeof(double);
}
EXPORT(rt_multibody_save) void rt_multibody_save(bough_multibody_state *state, double *to) {
    const size_t nv = (size_t)bo_mb(state)->model->nv;
    memcpy(to, state->gravity, sizeof state->gravity);
    memcpy(to + 3, state->force, nv * sizeof *to);
    bo_mb_snapshot_save(bo_mb(state), to + 3 + nv);
}
EXPORT(rt_multibody_restore)
int rt_multibody_restore(bough_context *ctx, bough_multibody_state *state, const double *from, size_t size) {
    bo_mb_state *s = bo_mb(state);
    const size_t nv = (size_t)s->model->nv, expected = rt_multibody_snapshot_size(state);
    if (!expected || size != expected ||
        !bo_mb_numbers_fit(s, from + 3 + nv, from + expected / sizeof *from - s->work.lu.size))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "this is no snapshot of this system, which has %d bytes",
                       (int)expected);
    bo_mb_snapshot_restore(s, from + 3 + nv);
    memcpy(state->gravity, from, sizeof state->gravity);
    memcpy(state->force, from + 3, nv * sizeof *from);
    return BOUGH_OK;
}

/* ---- surfaces ---- */

/* Positions of the vertices of a component's surface, bent by its coordinates and placed by its frame. */
EXPORT(rt_component_surface)
void rt_component_surface(const bough_component *c, const double *q, const bough_pose *at, float *positions) {
    for (int32_t i = 0; i < 3 * c->surface.vertex_count; i += 3) {
        double x[3];
        for (int k = 0; k < 3; k++) {
            x[k] = (double)c->surface.position[i + k];
            for (int32_t l = 0; l < c->r; l++)
                x[k] += bo_surface_basis(&c->surface, c->r, i + k, l) * q[l];
        }
        for (int k = 0; k < 3; k++) {
            const double *row = at->rotation + 3 * k;
            positions[i + k] = (float)(at->position[k] + row[0] * x[0] + row[1] * x[1] + row[2] * x[2]);
        }
    }
}
