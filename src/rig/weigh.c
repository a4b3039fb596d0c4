/* Mass, centre and inertia of shapes filled with a material. docs/theory/rig.md, "Shapes". */
#include "rig/shape.h"

#include <string.h>

/* Moments of a shape of density 1, about some origin: volume, integral of x, integral of x x^T. */
typedef struct {
    double volume;
    bo_vec3 first;
    bo_mat3 second;
} moments;

static moments moments_of_sphere(double r) {
    const double volume = 4.0 / 3 * M_PI * r * r * r;
    return (moments){volume, {0, 0, 0}, bo_mat_scale(volume * r * r / 5, bo_identity3())};
}

/* A cylinder and two half balls, each with its middle 3/8 r beyond the cylinder's end: with a half axis a their zz is
 * v (a^2 + 2 a 3/8 r + r^2/5) for the volume v of both. */
void bo_capsule_moments(double r, double a, double *volume, double *across, double *along) {
    const double ball = 4.0 / 3 * M_PI * r * r * r, rod = 2 * M_PI * r * r * a;
    *volume = ball + rod;
    *across = ball * r * r / 5 + rod * r * r / 4;
    *along = rod * a * a / 3 + ball * (a * a + 0.75 * a * r + r * r / 5);
}

static moments moments_of_capsule(double r, double half) {
    moments m = {0};
    double across, along;
    bo_capsule_moments(r, half, &m.volume, &across, &along);
    m.second = (bo_mat3){{across, 0, 0, 0, across, 0, 0, 0, along}};
    return m;
}

/* Tetrahedra from the sphere's centre o to the triangles of all faces: with corners o, a, b, c and s = a + b + c (from
 * o), the integral of x is V s / 4 and that of x x^T is V / 20 (s s^T + a a^T + b b^T + c c^T). */
/* The tetrahedron with the corners o, a, b, c (from o): with s = a + b + c the integral of x is V s / 4 and that of x x^T is
 * V / 20 (s s^T + a a^T + b b^T + c c^T). */
static void add_tetrahedron(bo_vec3 a, bo_vec3 b, bo_vec3 c, moments *m) {
    const bo_vec3 s = bo_add(a, bo_add(b, c));
    const double V = bo_dot(a, bo_cross(b, c)) / 6;
    bo_mat3 second = bo_mat_add(bo_outer(s, s), bo_outer(a, a));
    second = bo_mat_add(second, bo_mat_add(bo_outer(b, b), bo_outer(c, c)));
    m->volume += V;
    m->first = bo_mul_add(m->first, V / 4, s);
    m->second = bo_mat_add(m->second, bo_mat_scale(V / 20, second));
}

/* Tetrahedra from the sphere's centre o to the triangles of all faces. */
static moments moments_of_hull(const bough_shape *shape) {
    const bo_hull *hull = &shape->hull;
    const bo_vec3 o = shape->centre;
    moments m = {0};
    for (int32_t f = 0; f < hull->face_count; f++)
        for (int32_t i = hull->face_start[f] + 1; i + 1 < hull->face_start[f + 1]; i++)
            add_tetrahedron(bo_sub(hull->vertices[hull->loops[hull->face_start[f]]], o),
                            bo_sub(hull->vertices[hull->loops[i]], o), bo_sub(hull->vertices[hull->loops[i + 1]], o),
                            &m);
    return m;
}

static moments moments_of_mesh(const bough_shape *shape) {
    const bough_shape_mesh *mesh = shape->mesh;
    moments m = {0};
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *v = mesh->triangles + 3 * (size_t)t;
        add_tetrahedron(bo_sub(mesh->vertices[v[0]], shape->centre), bo_sub(mesh->vertices[v[1]], shape->centre),
                        bo_sub(mesh->vertices[v[2]], shape->centre), &m);
    }
    return m;
}

/* Seen from where x = R y + t: V, R f + V t, R S R^T + R f t^T + t (R f)^T + V t t^T. */
static moments moved(moments m, bo_mat3 R, bo_vec3 t) {
    const bo_vec3 f = bo_mat_vec(R, m.first);
    bo_mat3 S = bo_mat_mul(bo_mat_mul(R, m.second), bo_transpose(R));
    S = bo_mat_add(S, bo_mat_add(bo_outer(f, t), bo_outer(t, f)));
    return (moments){m.volume, bo_mul_add(f, m.volume, t), bo_mat_add(S, bo_mat_scale(m.volume, bo_outer(t, t)))};
}

static bough_status add_shape(bough_context *ctx, const bough_shape_def *def, moments *sum) {
    bough_shape *shape;
    BO_TRY(bough_shape_create(ctx, def, &shape));
    if (bo_shape_is_ground(shape)) {
        bough_shape_destroy(ctx, shape);
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "planes and height fields have no mass: give the mass itself, or other shapes");
    }
    const moments m = def->kind == BOUGH_SHAPE_SPHERE    ? moments_of_sphere(shape->radius)
                      : def->kind == BOUGH_SHAPE_CAPSULE ? moments_of_capsule(def->radius, def->half[2])
                      : shape->mesh                      ? moments_of_mesh(shape)
                                                         : moments_of_hull(shape);
    const moments here = moved(moved(m, bo_identity3(), shape->centre), shape->frame.R, shape->frame.t);
    sum->volume += here.volume;
    sum->first = bo_add(sum->first, here.first);
    sum->second = bo_mat_add(sum->second, here.second);
    bough_shape_destroy(ctx, shape);
    return BOUGH_OK;
}

bough_status bough_shapes_weigh(bough_context *ctx, int32_t count, const bough_shape_def *shapes, double density,
                                bough_shapes_mass *mass) {
    moments sum = {0};
    memset(mass, 0, sizeof *mass);
    if (count < 1 || !shapes)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a mass by density needs at least one shape");
    if (!(density > 0 && isfinite(density)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the density is %g kg/m^3; it must be above 0", density);
    for (int32_t i = 0; i < count; i++)
        BO_TRY(add_shape(ctx, &shapes[i], &sum));
    const bo_vec3 centre = bo_scale(1 / sum.volume, sum.first);
    const bo_mat3 S = moved(sum, bo_identity3(), bo_scale(-1, centre)).second;
    /* I = tr(S) 1 - S */
    const bo_mat3 inertia = bo_mat_scale(density, bo_mat_sub(bo_mat_scale(bo_trace(S), bo_identity3()), S));
    mass->mass = density * sum.volume;
    bo_store3(mass->centre, centre);
    memcpy(mass->inertia, bo_sym(inertia).m, sizeof mass->inertia);
    return BOUGH_OK;
}
