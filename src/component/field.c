/* The field of stress over the surface of a component, to be drawn. docs/theory/tree.md, "Stress".
 *
 * Von Mises' stress is computed at the field's points of eight parts of one component side by side, in single
 * precision, and spread over the vertices with weights that belong to the component. */
#include "component/field.h"

#include "base/simd.h"
#include "base/vec.h"
#include "material/elastic.h"

#include <math.h>
#include <string.h>

/* A vertex takes its value from its nearest points. */
enum { NEAREST = 12, LANES = BO_FIELD_LANES };

typedef float wide __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int32_t wide_mask __attribute__((vector_size(4 * LANES), aligned(4)));

/* Stands for infinity, so that weights of zero do not make it a NaN. */
static const float inside_out = 1e30f;

/* ---- weights ---- */

/* The nearest points of x, nearest first, and the square of the distance of the next one beyond; counts them. */
static int32_t find_nearest(int32_t count, const double *points, const double x[3], int32_t near[NEAREST],
                            double square[NEAREST + 1]) {
    int32_t found = 0;
    double beyond = INFINITY;
    for (int32_t i = 0; i < count; i++) {
        const bo_vec3 d = bo_sub(bo_load3(points + 3 * (size_t)i), bo_load3(x));
        const double s = bo_dot(d, d);
        if (found == NEAREST && !(s < square[NEAREST - 1])) {
            beyond = fmin(beyond, s);
            continue;
        }
        if (found == NEAREST)
            beyond = fmin(beyond, square[NEAREST - 1]);
        int32_t at = found < NEAREST ? found++ : NEAREST - 1;
        for (; at > 0 && square[at - 1] > s; at--)
            near[at] = near[at - 1], square[at] = square[at - 1];
        near[at] = i, square[at] = s;
    }
    square[NEAREST] = beyond;
    return found;
}

/* The value at x of the linear function that fits the nearest points best, those nearer counting more (moving least
 * squares): sum_i w_i (1 + (x - c) . M^-1 (x_i - c)) v_i with c = sum w_i x_i, M = sum w_i (x_i - c)(x_i - c)^T, sum
 * w_i = 1. w = (1 - d^2 / R^2)^2 vanishes at the distance R of the next point, so that the field is smooth. M gets a
 * little of its trace on the diagonal, since the points of a face or an edge tell nothing of what is across. */
static void weigh(int32_t found, const double *points, const int32_t *near, const double square[NEAREST + 1],
                  const double x[3], float weight[NEAREST]) {
    static const double across = 0.03;
    const double reach = isinf(square[NEAREST]) ? 4 * square[found - 1] : square[NEAREST];
    double w[NEAREST] = {0}, sum = 0;
    for (int32_t i = 0; i < found; i++)
        sum += w[i] = reach > 0 ? pow(1 - fmin(1, square[i] / reach), 2) + 1e-9 : 1;
    bo_vec3 c = bo_v3(0, 0, 0);
    for (int32_t i = 0; i < found; i++)
        c = bo_mul_add(c, w[i] /= sum, bo_load3(points + 3 * (size_t)near[i]));
    bo_mat3 M = {{0}};
    for (int32_t i = 0; i < found; i++) {
        double d[3];
        bo_store3(d, bo_sub(bo_load3(points + 3 * (size_t)near[i]), c));
        for (int k = 0; k < 9; k++)
            M.m[k] += w[i] * d[k / 3] * d[k % 3];
    }
    const double trace = bo_trace(M);
    for (int k = 0; k < 9; k += 4)
        M.m[k] += across * trace;
    const bo_vec3 slope = trace > 0 ? bo_mat_vec(bo_inverse(M), bo_sub(bo_load3(x), c)) : bo_v3(0, 0, 0);
    for (int32_t i = 0; i < found; i++)
        w[i] *= 1 + bo_dot(slope, bo_sub(bo_load3(points + 3 * (size_t)near[i]), c));
    for (int32_t i = 0; i < NEAREST; i++)
        weight[i] = (float)w[i];
}

/* Points of the component's field; of one from before there were fields, its stress points. */
static bough_status choose_points(bough_context *ctx, const bough_component *c, bo_surface_field *field,
                                  const double **position) {
    const size_t entries = 9 * (size_t)c->r;
    field->count = c->field.count, field->material = c->field.material, field->gradient = c->field.gradient;
    *position = c->field.position;
    if (c->r == 0 || c->field.count > 0 || c->stress.count == 0 || !c->stress.position)
        return BOUGH_OK;
    field->count = c->stress.count < BOUGH_MAX_FIELD_POINTS ? c->stress.count : BOUGH_MAX_FIELD_POINTS;
    field->material = c->stress.material;
    *position = c->stress.position;
    if (!(field->own = BO_NEW_ARRAY(ctx, float, entries *(size_t)field->count)))
        return BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < entries * (size_t)field->count; i++)
        field->own[i] = (float)c->stress.gradient[i];
    field->gradient = field->own;
    return BOUGH_OK;
}

bough_status bo_surface_field_make(bough_context *ctx, const bough_component *c, bo_surface_field *field) {
    const double *position;
    BO_TRY(choose_points(ctx, c, field, &position));
    if (c->r == 0 || field->count == 0) {
        field->count = 0;
        return BOUGH_OK;
    }
    const size_t vertices = (size_t)c->surface.vertex_count;
    field->near = BO_NEW_ARRAY(ctx, uint16_t, NEAREST * vertices);
    field->weight = BO_NEW_ARRAY(ctx, float, NEAREST *vertices);
    if (!field->near || !field->weight)
        return BOUGH_ERROR_MEMORY;
    for (size_t v = 0; v < vertices; v++) {
        const double x[3] = {c->surface.position[3 * v], c->surface.position[3 * v + 1],
                             c->surface.position[3 * v + 2]};
        int32_t near[NEAREST] = {0};
        double square[NEAREST + 1];
        const int32_t found = find_nearest(field->count, position, x, near, square);
        weigh(found, position, near, square, x, field->weight + NEAREST * v);
        for (size_t i = 0; i < NEAREST; i++)
            field->near[NEAREST * v + i] = (uint16_t)near[i];
    }
    return BOUGH_OK;
}

void bo_surface_field_free(bough_context *ctx, bo_surface_field *field) {
    bo_free(ctx, field->own);
    bo_free(ctx, field->near);
    bo_free(ctx, field->weight);
    *field = (bo_surface_field){0};
}

/* ---- eight parts of a component at a time ---- */

/* G = sum_l q_l gradient_l of one point. */
BO_INLINE void point_gradient(int32_t r, const float *gradient, const wide *q, wide G[9]) {
    for (int i = 0; i < 9; i += 3, gradient += 3 * r) {
        wide a = {0}, b = {0}, c = {0};
        for (int32_t l = 0; l < r; l++)
            a += gradient[l] * q[l], b += gradient[r + l] * q[l], c += gradient[2 * r + l] * q[l];
        G[i] = a, G[i + 1] = b, G[i + 2] = c;
    }
}

/* As stvk_squared() and linear_squared() of stress.c: the square of von Mises' equivalent of a symmetric T that differs
 * from the stress by a rotation and a multiple of I. */
BO_INLINE void stress_squared(const bo_elastic *e, const wide G[9], wide *m) {
    const float mu = (float)e->mu, half_lambda = 0.5f * (float)e->lambda;
    wide W[9], T[6], J = {0};
    const bool large = e->model != BOUGH_MATERIAL_LINEAR;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            W[3 * i + j] = G[3 * i + j] + G[3 * j + i];
            if (large)
                W[3 * i + j] += G[i] * G[j] + G[3 + i] * G[3 + j] + G[6 + i] * G[6 + j];
            W[3 * j + i] = W[3 * i + j];
        }
    wide factor = mu + J;
    if (large)
        factor += half_lambda * (W[0] + W[4] + W[8]);
    int k = 0;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++, k++) {
            T[k] = factor * W[3 * i + j];
            if (large)
                T[k] += mu * (W[3 * i] * W[3 * j] + W[3 * i + 1] * W[3 * j + 1] + W[3 * i + 2] * W[3 * j + 2]);
        }
    const wide a = T[0] - T[3], b = T[3] - T[5], c = T[5] - T[0];
    *m = 0.5f * (a * a + b * b + c * c) + 3 * (T[1] * T[1] + T[2] * T[2] + T[4] * T[4]);
    if (!large)
        return;
    J = (1 + G[0]) * ((1 + G[4]) * (1 + G[8]) - G[5] * G[7]) + G[1] * (G[5] * G[6] - G[3] * (1 + G[8])) +
        G[2] * (G[3] * G[7] - (1 + G[4]) * G[6]);
    const wide_mask good = J > 0;
    const wide most = inside_out * inside_out + (wide){0}, finite = *m / (J * J);
    *m = (wide)((good & (wide_mask)finite) | (~good & (wide_mask)most));
}

/* Other materials, one lane after the other. */
BO_INLINE void any_stress(const bo_elastic *e, const wide G[9], wide *value) {
    for (int i = 0; i < LANES; i++) {
        bo_mat3 F;
        double s[6], von_mises = inside_out;
        for (int k = 0; k < 9; k++)
            F.m[k] = (k % 4 == 0) + (double)G[k][i];
        if (bo_elastic_cauchy(e, &F, s))
            von_mises = bough_von_mises(s);
        (*value)[i] = (float)von_mises;
    }
}

BO_INLINE bool has_lanes(const bo_elastic *e) {
    return e->model == BOUGH_MATERIAL_STVK || e->model == BOUGH_MATERIAL_LINEAR;
}

BO_INLINE void root(wide *m) {
    for (int i = 0; i < LANES; i++)
        (*m)[i] = sqrtf((*m)[i]);
}

/* value: field->count */
BO_MULTIVERSION static void find_values(const bough_component *c, const bo_surface_field *field, const wide *q,
                                        wide *value) {
    bo_elastic elastic = {0};
    wide G[9];
    for (int32_t i = 0; i < field->count; i++) {
        if (i == 0 || field->material[i] != field->material[i - 1])
            elastic = bo_elastic_of(&c->materials[field->material[i]]);
        point_gradient(c->r, field->gradient + 9 * (size_t)i * (size_t)c->r, q, G);
        if (!has_lanes(&elastic)) {
            any_stress(&elastic, G, &value[i]);
            continue;
        }
        stress_squared(&elastic, G, &value[i]);
        root(&value[i]);
    }
}

/* Vertices one after the other, eight parts in the lanes; out: where each part's vertices begin. */
BO_MULTIVERSION static void spread_values(const bo_surface_field *field, int32_t vertex_count, const wide *value,
                                          int32_t lanes, float *const out[LANES]) {
    const uint16_t *near = field->near;
    const float *weight = field->weight;
    for (int32_t v = 0; v < vertex_count; v++, near += NEAREST, weight += NEAREST) {
        wide sum = {0};
        for (int i = 0; i < NEAREST; i++)
            sum += weight[i] * value[near[i]];
        for (int32_t i = 0; i < lanes; i++) {
            const float value_here = ((const float *)&sum)[i];
            out[i][v] = value_here > 0 ? value_here : 0;
        }
    }
}

void bo_surface_field_draw(const bough_component *c, const bo_surface_field *field, int32_t count,
                           const double *const q[], const double stiffness[], float *const out[]) {
    wide numbers[c->r + 1], value[field->count + 1]; /* at most BOUGH_MAX_COORDINATES, BOUGH_MAX_FIELD_POINTS */
    wide factor;
    for (int i = 0; i < LANES; i++) {
        const int32_t part = i < count ? i : count - 1;
        for (int32_t l = 0; l < c->r; l++)
            ((float *)&numbers[l])[i] = (float)q[part][l];
        ((float *)&factor)[i] = (float)(stiffness[part] * stiffness[part]);
    }
    find_values(c, field, numbers, value);
    for (int32_t i = 0; i < field->count; i++)
        value[i] *= factor;
    spread_values(field, c->surface.vertex_count, value, count, out);
    for (int32_t i = 0; i < count; i++)
        for (int32_t v = 0; v < c->surface.vertex_count; v++)
            if (out[i][v] > 1e-3f * inside_out)
                out[i][v] = INFINITY;
}
