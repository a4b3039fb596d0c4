/* Meshes from elsewhere: other units of length, another axis that points up, another pose. */
#include "mesh/mesh.h"

#include <math.h>
#include <string.h>

#define TRANSFORM_COOKIE 0x4d74726eu

bough_mesh_transform_def bough_default_mesh_transform_def(void) {
    return (bough_mesh_transform_def){.cookie = TRANSFORM_COOKIE, .scale = 1, .up = 'z'};
}

/* Quarter turns are exact, so that a box stays a box to the bit. */
static void turn(double degrees, double *c, double *s) {
    static const double cosines[4] = {1, 0, -1, 0};
    double quarters = degrees / 90;
    if (quarters == floor(quarters) && fabs(quarters) < 1e9) {
        int k = (int)((int64_t)quarters & 3);
        *c = cosines[k], *s = cosines[(k + 3) & 3];
        return;
    }
    double angle = degrees * (3.14159265358979323846 / 180);
    *c = cos(angle), *s = sin(angle);
}

/* R = Rz Ry Rx Up: the axis that points up first becomes z, then the mesh is turned about x, then y, then z. */
static void make_matrix(const bough_mesh_transform_def *def, double R[3][3]) {
    static const double ups[3][3][3] = {{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}},  /* x up: (x, y, z) -> (y, z, x) */
                                        {{1, 0, 0}, {0, 0, -1}, {0, 1, 0}}, /* y up: (x, y, z) -> (x, -z, y) */
                                        {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    memcpy(R, ups[def->up - 'x'], sizeof ups[0]);
    for (int axis = 0; axis < 3; axis++) {
        double c, s;
        turn(def->rotate_deg[axis], &c, &s);
        int a = (axis + 1) % 3, b = (axis + 2) % 3;
        for (int column = 0; column < 3; column++) {
            double u = R[a][column], v = R[b][column];
            R[a][column] = c * u - s * v;
            R[b][column] = s * u + c * v;
        }
    }
}

static bough_status check_def(bough_context *ctx, const bough_mesh_transform_def *def) {
    if (def->cookie != TRANSFORM_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "the transform def was not made by bough_default_mesh_transform_def()");
    if (!(def->scale >= BOUGH_MESH_SCALE_MIN && def->scale <= BOUGH_MESH_SCALE_MAX))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the scale of a mesh is %g, outside %g..%g", def->scale,
                       BOUGH_MESH_SCALE_MIN, BOUGH_MESH_SCALE_MAX);
    if (def->up < 'x' || def->up > 'z')
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the axis that points up must be x, y or z");
    for (int d = 0; d < 3; d++)
        if (!isfinite(def->rotate_deg[d]))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "an angle of the mesh's rotation is not a finite number");
    return BOUGH_OK;
}

bough_status bough_mesh_transform(bough_context *ctx, bough_mesh *mesh, const bough_mesh_transform_def *def) {
    BO_TRY(check_def(ctx, def));
    double R[3][3];
    make_matrix(def, R);
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        double *x = mesh->vertices + 3 * (size_t)v, y[3];
        for (int i = 0; i < 3; i++)
            y[i] = (R[i][0] * x[0] + R[i][1] * x[1] + R[i][2] * x[2]) * def->scale + 0.0; /* + 0: no -0 */
        memcpy(x, y, sizeof y);
    }
    return BOUGH_OK;
}
