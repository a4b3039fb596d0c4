#include "mechanism/internal.h"

#include "mechanism/flexibility.h"

#include <string.h>

/* The motion by the directions of the end effectors, all spatial. */
typedef struct {
    const bough_mechanism *mechanism;
    const bough_mechanism_statics *statics;
    const bough_mechanism_model *model;
    double *maps; /* rank x 6 links: Psi_z */
} directions;

static bo_se3 frame_of(const bough_mechanism *m, int32_t link) {
    bo_se3 frame = bo_pose(&m->links[link].pose);
    frame.t = bo_sub(frame.t, m->middle);
    return frame;
}

/* A row of statics (n) to z_k: row P_k^T / lambda_k */
static double by_direction(const bough_mechanism_model *model, const double *row, int32_t k) {
    const int32_t n = 6 * model->end_effector_count;
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += row[i] * model->P[k * n + i];
    return sum / model->compliances[k];
}

static void fill_maps(directions *d) {
    const bough_mechanism *m = d->mechanism;
    const size_t n = 6 * (size_t)d->model->end_effector_count;
    for (int32_t k = 0; k < d->model->rank; k++)
        for (int32_t i = 0; i < m->def.link_count; i++) {
            double x[6];
            for (size_t r = 0; r < 6; r++)
                x[r] = by_direction(d->model, d->statics->twists + (6 * (size_t)i + r) * n, k);
            bo_store_twist(d->maps + 6 * ((size_t)k * (size_t)m->def.link_count + (size_t)i),
                           bo_ad(frame_of(m, i), bo_load_twist(x)));
        }
}

/* z_k of the end effectors, by the twists of the links: P_k xi */
static double coordinate(const directions *d, const double *twists, int32_t k) {
    const bough_mechanism_model *model = d->model;
    const double *P = model->P + 6 * (size_t)k * (size_t)model->end_effector_count;
    double sum = 0;
    for (int32_t e = 0; e < model->end_effector_count; e++) {
        const bough_frame_def *effector = &model->end_effectors[e];
        const bo_se3 frame = bo_se3_mul(frame_of(d->mechanism, effector->body), bo_pose(&effector->pose));
        const bo_twist xi = bo_ad(bo_se3_inverse(frame), bo_load_twist(twists + 6 * (size_t)effector->body));
        sum += bo_twist_dot(bo_load_twist(P + 6 * (size_t)e), xi);
    }
    return sum;
}

/* x - Psi_z z(x): where the links are when the end effectors are pushed back to where they were. */
static void hold(const void *data, double *twists) {
    const directions *d = data;
    const size_t length = 6 * (size_t)d->mechanism->def.link_count;
    for (int32_t k = 0; k < d->model->rank; k++) { /* Psi_z of one direction moves no other: P Q = 1 */
        const double z = coordinate(d, twists, k);
        for (size_t i = 0; i < length; i++)
            twists[i] -= z * d->maps[(size_t)k * length + i];
    }
}

/* For a mode x = omega^2 (C M x - Psi_z z), computes the joints' coordinates, K^-1 J^T of what they carry, likewise. */
static void read_joints(const directions *d, bo_flexibility *f, double square, const double *solved, double *theta) {
    const bough_mechanism *m = d->mechanism;
    const size_t n = 6 * (size_t)d->model->end_effector_count;
    for (int32_t j = 0; j < m->def.joint_count; j++) {
        const bo_mechanism_joint *joint = &m->joints[j];
        const bool back = m->topology.up[joint->parent] >= 0 && m->topology.way[joint->parent].joint == j;
        const bo_twist carried = bo_load_twist(f->carried + 6 * (size_t)j);
        for (int a = 0; a < joint->freedoms; a++) {
            double *at = theta + joint->offset + a;
            *at = 0;
            for (int b = 0; b < joint->freedoms; b++)
                *at += joint->compliance[joint->freedoms * a + b] * bo_twist_dot(f->joints[j].columns[b], carried);
            if (back) /* carried is of what is beyond: the parent */
                *at = -*at;
            for (int32_t k = 0; k < d->model->rank; k++)
                *at -= coordinate(d, solved, k) *
                       by_direction(d->model, d->statics->coordinates + (size_t)(joint->offset + a) * n, k);
            *at *= square;
        }
    }
}

static bough_status find(bough_context *ctx, directions *d, bo_flexibility *f, bo_internal *internal) {
    const bough_mechanism *m = d->mechanism;
    const size_t length = 6 * (size_t)m->def.link_count;
    const bo_hold held = {hold, d};
    double *momentum = BO_NEW_ARRAY(ctx, double, 2 * length);
    if (!momentum)
        return bo_fail_memory(ctx);
    double *solved = momentum + length;
    const bough_status status = bo_flexibility_modes(ctx, f, &held, d->model->internal_count, internal->squares,
                                                     internal->twists, &internal->count);
    for (int32_t k = 0; k < internal->count && status == BOUGH_OK; k++) {
        double *x = internal->twists + (size_t)k * length;
        bo_links_momentum(m, x, momentum);
        bo_flexibility_solve(f, momentum, solved);
        read_joints(d, f, internal->squares[k], solved,
                    internal->coordinates + (size_t)k * (size_t)m->coordinate_count);
        for (int32_t i = 0; i < m->def.link_count; i++)
            bo_store_twist(x + 6 * i, bo_ad(bo_se3_inverse(frame_of(m, i)), bo_load_twist(x + 6 * i)));
    }
    bo_free(ctx, momentum);
    return status;
}

bough_status bo_internal_find(bough_context *ctx, const bough_mechanism *mechanism,
                              const bough_mechanism_statics *statics, const bough_mechanism_model *model,
                              bo_internal *internal) {
    const size_t count = (size_t)model->internal_count, length = 6 * (size_t)mechanism->def.link_count;
    directions d = {.mechanism = mechanism, .statics = statics, .model = model};
    bo_flexibility *f = NULL;
    if (count == 0)
        return BOUGH_OK;
    BO_TRY(bo_flexibility_create(ctx, mechanism, &f));
    d.maps = BO_NEW_ARRAY(ctx, double, (size_t)model->rank *length);
    internal->squares = BO_NEW_ARRAY(ctx, double, count);
    internal->twists = BO_NEW_ARRAY(ctx, double, count *length);
    internal->coordinates = BO_NEW_ARRAY(ctx, double, count *(size_t)mechanism->coordinate_count);
    bough_status status =
        d.maps && internal->squares && internal->twists && internal->coordinates ? BOUGH_OK : bo_fail_memory(ctx);
    if (status == BOUGH_OK) {
        fill_maps(&d);
        status = find(ctx, &d, f, internal);
    }
    bo_free(ctx, d.maps);
    bo_flexibility_destroy(ctx, f);
    return status;
}

void bo_internal_free(bough_context *ctx, bo_internal *internal) {
    bo_free(ctx, internal->squares);
    bo_free(ctx, internal->twists);
    bo_free(ctx, internal->coordinates);
    *internal = (bo_internal){0};
}
