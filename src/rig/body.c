#include "rig/body.h"

#include "dense/cholesky.h"

#include <stdio.h>
#include <string.h>

#define BODY_COOKIE 0xB0061071u

bough_rigid_body_def bough_default_rigid_body_def(void) {
    return (bough_rigid_body_def){.cookie = BODY_COOKIE,
                                  .mass = 1,
                                  .inertia = {0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01},
                                  .pose = bough_default_pose(),
                                  .friction = 0.5};
}

bo_label bo_label_of(const char *what, int32_t index, const char *name) {
    bo_label label;
    snprintf(label.text, sizeof label.text, name && name[0] ? "%s %d (%.60s)" : "%s %d", what, index, name);
    return label;
}

bo_label bo_rigid_body_label(const char *what, int32_t index, const bough_rigid_body_def *body) {
    return bo_label_of(what, index, body->cookie == BODY_COOKIE ? body->name : NULL);
}

static bool symmetric(int n, const double *A) {
    double largest = 0, off = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            largest = fmax(largest, fabs(A[n * i + j]));
            off = fmax(off, fabs(A[n * i + j] - A[n * j + i]));
        }
    return off <= 1e-9 * largest;
}

bool bo_is_positive(int n, const double *A) {
    double L[36];
    memcpy(L, A, (size_t)(n * n) * sizeof(double));
    return symmetric(n, A) && bo_cholesky_factor(n, L);
}

bough_status bo_check_friction(bough_context *ctx, const char *label, double friction) {
    if (!(friction >= 0 && friction <= 1000))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: its friction is %g; it must be 0 to 1000", label, friction);
    return BOUGH_OK;
}

bough_status bo_check_shape_count(bough_context *ctx, const char *label, int32_t count, const bough_shape_def *shapes) {
    if (count < 0 || count > BO_MOST_SHAPES || (count > 0 && !shapes))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: it cannot have %d shapes", label, count);
    return BOUGH_OK;
}

bough_status bo_rigid_body_check(bough_context *ctx, const char *label, const bough_rigid_body_def *body, bool held) {
    if (body->cookie != BODY_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s was not made by bough_default_rigid_body_def()", label);
    if (!bo_good_pose(&body->pose))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: its pose needs a rotation matrix and finite numbers", label);
    if (!isfinite(body->mass) || !bo_all_finite(9, body->inertia) || !bo_all_finite(3, body->centre))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: mass, inertia and centre must be finite numbers", label);
    if (!held && !(body->mass > 0))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: its mass is %g kg; one that moves needs a mass above 0", label,
                       body->mass);
    if (!held && !bo_is_positive(3, body->inertia))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "%s: its inertia must be a symmetric positive definite matrix about the centre of mass", label);
    if (!bo_all_finite(6, body->twist))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: its velocity and spin must be finite", label);
    if (!(body->restitution >= 0 && body->restitution <= 1))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: its restitution is %g; it must be 0 to 1", label,
                       body->restitution);
    BO_TRY(bo_check_friction(ctx, label, body->friction));
    return bo_check_shape_count(ctx, label, body->shape_count, body->shapes);
}
