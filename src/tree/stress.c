/* Stress of parts from their coordinates. docs/theory/tree.md, "Stress".
 *
 * A part of scale s has its points at s X and moves them by s U q, so that its deformation gradient is the component's
 * at the same q. The stiffness factor multiplies frequencies: energies and stresses by its square. */
#include "tree/tree.h"

#include "base/polar.h"
#include "base/threads.h"
#include "component/stress.h"
#include "material/elastic.h"

#include <math.h>
#include <string.h>

/* ---- one point ---- */

/* R s R^T */
static void turn_stress(const double rotation[9], double s[6]) {
    const bo_mat3 S = {{s[0], s[5], s[4], s[5], s[1], s[3], s[4], s[3], s[2]}};
    bo_mat3 R;
    memcpy(R.m, rotation, sizeof R.m);
    const bo_mat3 T = bo_mat_mul(bo_mat_mul(R, S), bo_transpose(R));
    s[0] = T.m[0], s[1] = T.m[4], s[2] = T.m[8];
    s[3] = T.m[5], s[4] = T.m[2], s[5] = T.m[1];
}

/* bend (3 x 6) in axes that are turned by R: index by index. */
static void turn_bend(bo_mat3 R, const double from[18], double to[18]) {
    bo_mat3 turned[3];
    for (int i = 0; i < 3; i++) {
        const double *b = from + 6 * i;
        const bo_mat3 M = {{b[0], b[5], b[4], b[5], b[1], b[3], b[4], b[3], b[2]}};
        turned[i] = bo_mat_mul(bo_mat_mul(bo_transpose(R), M), R);
    }
    for (int i = 0; i < 3; i++) {
        bo_mat3 M = {{0}};
        for (int j = 0; j < 3; j++)
            M = bo_mat_add(M, bo_mat_scale(R.m[3 * j + i], turned[j]));
        memcpy(to + 6 * i, (double[]){M.m[0], M.m[4], M.m[8], M.m[5], M.m[2], M.m[1]}, 6 * sizeof *to);
    }
}

/* Finds how the parent's interface is strained and bent, in the part's axes. A part that hangs by a joint, or by
 * nothing, is not strained. */
static void find_seam(const bough_tree_model *model, const bough_tree_state *state, const bo_tree_part *part,
                      double seam[BOUGH_SEAM]) {
    memset(seam, 0, BOUGH_SEAM * sizeof *seam);
    if (part->parent < 0 || part->joint >= 0)
        return;
    const bo_tree_part *parent = &model->parts[part->parent];
    const bough_component *c = model->components[parent->component].c;
    const double *terms = c->interfaces[part->interface_index].A, *q = state->q + parent->offset;
    bo_mat3 A, R, S, S0;
    memcpy(A.m, terms, sizeof A.m);
    S0 = A;
    for (int32_t l = 0; l < c->r; l++)
        for (int k = 0; k < 9; k++)
            A.m[k] += q[l] * terms[9 * (size_t)(l + 1) + (size_t)k];
    if (!bo_polar(A, &R, &S))
        return;
    S = bo_mat_mul(bo_mat_mul(bo_transpose(part->rest), bo_mat_sub(S, S0)), part->rest);
    memcpy(seam, (double[]){S.m[0], S.m[4], S.m[8], S.m[5], S.m[2], S.m[1]}, 6 * sizeof *seam);
    if (!(terms = c->interfaces[part->interface_index].bend))
        return;
    double bend[18], own[18];
    memcpy(bend, terms, sizeof bend);
    for (int32_t l = 0; l < c->r; l++)
        for (int k = 0; k < 18; k++)
            bend[k] += q[l] * terms[18 * (size_t)(l + 1) + (size_t)k];
    for (int k = 0; k < 18; k++) {
        own[k] = -terms[k];
        for (int j = 0; j < 3; j++)
            own[k] += R.m[3 * j + k / 6] * bend[6 * j + k % 6];
    }
    turn_bend(part->rest, own, seam + 6);
}

bough_status bough_tree_state_stress(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                                     int32_t part, int32_t i, bough_stress *stress) {
    model = bo_tree_now(model, state);
    BO_TRY(bo_tree_check_present(ctx, model, part));
    const bo_tree_part *p = &model->parts[model->inside[part]];
    const bough_component *c = model->components[p->component].c;
    if (i < 0 || i >= c->stress.count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "part %d has no stress point %d; it has %d: \"samples\" says how many are cooked", part, i,
                       c->stress.count);
    double seam[BOUGH_SEAM], gauges[6 * BOUGH_MAX_GAUGES + BOUGH_SEAM];
    if (c->gauges.count > 0) {
        find_seam(model, state, p, seam);
        bo_component_gauges(c, state->q + p->offset, seam, gauges);
    }
    if (!bo_component_stress_with(c, i, state->q + p->offset, gauges, stress->cauchy, NULL))
        return bo_fail(ctx, BOUGH_NOT_FINITE, "the material of part %d is turned inside out at stress point %d", part,
                       i);
    for (int k = 0; k < 6; k++)
        stress->cauchy[k] *= state->stiffness[part] * state->stiffness[part];
    turn_stress(state->frames[part].pose.rotation, stress->cauchy);
    stress->von_mises = bough_von_mises(stress->cauchy);
    bough_principal_stresses(stress->cauchy, stress->principal, stress->directions);
    return BOUGH_OK;
}

/* ---- the largest of all parts: eight of one component at a time, one in each lane of two vectors ---- */

enum { LANES = 4, HALVES = BO_WIDE / LANES, PARTS_A_TASK = 128 };

/* G = sum_l q_l gradient_l; three rows at a time, which leaves room in the registers. */
BO_INLINE void displacement_gradient(int32_t r, const double *gradient, const bo_v4 *q, bo_v4 G[HALVES][9]) {
    for (int i = 0; i < 9; i += 3, gradient += 3 * r) {
        bo_v4 a0 = {0}, a1 = {0}, b0 = {0}, b1 = {0}, c0 = {0}, c1 = {0};
        for (int32_t l = 0; l < r; l++) {
            const bo_v4 q0 = q[HALVES * l], q1 = q[HALVES * l + 1];
            const double a = gradient[l], b = gradient[r + l], c = gradient[2 * r + l];
            a0 += a * q0, a1 += a * q1;
            b0 += b * q0, b1 += b * q1;
            c0 += c * q0, c1 += c * q1;
        }
        G[0][i] = a0, G[0][i + 1] = b0, G[0][i + 2] = c0;
        G[1][i] = a1, G[1][i + 1] = b1, G[1][i + 2] = c1;
    }
}

typedef int64_t mask __attribute__((vector_size(32), aligned(8)));
/* where ? a : b */
BO_INLINE void choose(const mask *where, const bo_v4 *a, const bo_v4 *b, bo_v4 *out) {
    *out = (bo_v4)((*where & (mask)*a) | (~*where & (mask)*b));
}

/* F and J = det F */
BO_INLINE void deformation_gradient(const bo_v4 G[9], bo_v4 F[9], bo_v4 *J) {
    for (int k = 0; k < 9; k++)
        F[k] = k % 4 == 0 ? 1 + G[k] : G[k];
    *J = F[0] * (F[4] * F[8] - F[5] * F[7]) + F[1] * (F[5] * F[6] - F[3] * F[8]) + F[2] * (F[3] * F[7] - F[4] * F[6]);
}

/* Square of von Mises' equivalent of xx xy xz yy yz zz. */
BO_INLINE void mises_squared(const bo_v4 s[6], bo_v4 *m) {
    const bo_v4 a = s[0] - s[3], b = s[3] - s[5], c = s[5] - s[0];
    *m = 0.5 * (a * a + b * b + c * c) + 3 * (s[1] * s[1] + s[2] * s[2] + s[4] * s[4]);
}

/* W = 2 E = G + G^T + G^T G, the last one not of linear strain. */
BO_INLINE void twice_strain(const bo_v4 G[9], bool quadratic, bo_v4 W[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            W[3 * i + j] = G[3 * i + j] + G[3 * j + i];
            if (quadratic)
                W[3 * i + j] += G[i] * G[j] + G[3 + i] * G[3 + j] + G[6 + i] * G[6 + j];
            W[3 * j + i] = W[3 * i + j];
        }
}

/* St. Venant-Kirchhoff: F S F^T / J of S = 2 mu E + lambda tr(E) I. F S F^T = F (S C) F^-1 has the invariants of S C,
 * and S and C = I + W have the same axes, so that S C is symmetric: up to a multiple of I, which von Mises does not
 * see, it is (mu + lambda tr(E)) W + mu W^2. */
BO_INLINE void stvk_squared(const bo_elastic *e, const bo_v4 W[9], const bo_v4 *J2, bo_v4 *m) {
    bo_v4 T[6];
    const bo_v4 factor = e->mu + 0.5 * e->lambda * (W[0] + W[4] + W[8]);
    int k = 0;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            T[k++] = factor * W[3 * i + j] +
                     e->mu * (W[3 * i] * W[3 * j] + W[3 * i + 1] * W[3 * j + 1] + W[3 * i + 2] * W[3 * j + 2]);
    mises_squared(T, m);
    *m /= *J2;
}

/* Stress without rotations: 2 mu sym G, as far as von Mises is concerned. */
BO_INLINE void linear_squared(const bo_elastic *e, const bo_v4 W[9], bo_v4 *m) {
    bo_v4 s[6];
    int k = 0;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            s[k++] = e->mu * W[3 * i + j];
    mises_squared(s, m);
}

/* Other materials, one lane after the other. Von Mises sees C = I + W alone: F is the upper factor of C = F^T F. */
BO_INLINE void any_squared(const bo_elastic *e, const bo_v4 W[9], bo_v4 *m) {
    for (int i = 0; i < LANES; i++) {
        bo_mat3 F = {{0}};
        double s[6], von_mises = INFINITY;
        F.m[0] = sqrt(1 + W[0][i]);
        F.m[1] = W[1][i] / F.m[0], F.m[2] = W[2][i] / F.m[0];
        F.m[4] = sqrt(1 + W[4][i] - F.m[1] * F.m[1]);
        F.m[5] = (W[5][i] - F.m[1] * F.m[2]) / F.m[4];
        F.m[8] = sqrt(1 + W[8][i] - F.m[2] * F.m[2] - F.m[5] * F.m[5]);
        if (F.m[8] > 0 && bo_elastic_cauchy(e, &F, s)) /* not where it is a NaN */
            von_mises = bough_von_mises(s);
        (*m)[i] = von_mises * von_mises;
    }
}

/* det(I + W) */
BO_INLINE void determinant(const bo_v4 W[9], bo_v4 *d) {
    const bo_v4 a = 1 + W[0], b = 1 + W[4], c = 1 + W[8];
    *d = a * (b * c - W[5] * W[5]) + W[1] * (W[5] * W[2] - W[1] * c) + W[2] * (W[1] * W[5] - b * W[2]);
}

/* more: what is added to the strain (xx yy zz yz xz xy); NULL: nothing. */
BO_INLINE void point_squared(const bo_elastic *e, const bo_v4 G[9], const bo_v4 *more, bo_v4 *m) {
    static const int place[6] = {0, 4, 8, 5, 2, 1};
    const bo_v4 inverted = INFINITY + (bo_v4){0};
    bo_v4 F[9], W[9], J, J2;
    deformation_gradient(G, F, &J);
    twice_strain(G, e->model != BOUGH_MATERIAL_LINEAR, W);
    for (int k = 0; k < 6 && more; k++)
        W[place[k]] += 2 * more[k];
    W[3] = W[1], W[6] = W[2], W[7] = W[5];
    J2 = J * J;
    if (more)
        determinant(W, &J2);
    if (e->model == BOUGH_MATERIAL_STVK)
        stvk_squared(e, W, &J2, m);
    else if (e->model == BOUGH_MATERIAL_LINEAR)
        linear_squared(e, W, m);
    else
        any_squared(e, W, m);
    mask good = J > 0;
    if (e->model != BOUGH_MATERIAL_LINEAR)
        good &= J2 > 0;
    choose(&good, m, &inverted, m);
}

/* ---- gauges: what a part's strain elsewhere, and its parent's, do to it near interfaces ---- */

enum { MOST_VALUES = 6 * BOUGH_MAX_GAUGES + BOUGH_SEAM };

BO_INLINE void read_gauges(const bough_component *c, const bo_v4 *q, double seam[BO_WIDE][BOUGH_SEAM],
                           bo_v4 values[HALVES][MOST_VALUES]) {
    static const int place[6] = {0, 4, 8, 5, 2, 1};
    bo_v4 G[HALVES][9], W[9];
    for (int32_t i = 0; i < c->gauges.count; i++) {
        displacement_gradient(c->r, c->gauges.gradient + 9 * (size_t)i * (size_t)c->r, q, G);
        for (int h = 0; h < HALVES; h++) {
            twice_strain(G[h], c->elastic != BOUGH_REDUCED_LINEAR, W);
            for (int k = 0; k < 6; k++)
                values[h][6 * i + k] = 0.5 * W[place[k]];
        }
    }
    for (int h = 0; h < HALVES; h++)
        for (int k = 0; k < BOUGH_SEAM; k++)
            for (int i = 0; i < LANES; i++)
                BO_LANE(values[h][6 * c->gauges.count + k], i) = seam[LANES * h + i][k];
}

BO_INLINE void add_gauges(const bough_component *c, int32_t point, const bo_v4 values[MOST_VALUES], bo_v4 more[6]) {
    const int32_t count = 6 * c->gauges.count + BOUGH_SEAM;
    const double *D = c->gauges.D + 6 * (size_t)point * (size_t)count;
    for (int k = 0; k < 6; k++, D += count) {
        bo_v4 sum = {0};
        for (int32_t j = 0; j < count; j++)
            sum += D[j] * values[j];
        more[k] = sum;
    }
}

typedef struct {
    const bough_tree_model *model;
    const bough_tree_state *state;
    double *von_mises;
} peaks;

/* Parts `first` to `first + count - 1`; lanes beyond are the last one again, and dropped. */
BO_MULTIVERSION static void find_peaks(const peaks *p, int32_t first, int32_t count) {
    const bo_tree_part *part[BO_WIDE];
    const double *q_of[BO_WIDE];
    for (int i = 0; i < BO_WIDE; i++) {
        part[i] = &p->model->parts[first + (i < count ? i : count - 1)];
        q_of[i] = p->state->q + part[i]->offset;
    }
    const bough_component *c = p->model->components[part[0]->component].c;
    const int32_t r = c->r;
    bo_v4 q[HALVES * r + 1], G[HALVES][9], m = {0}, most[HALVES] = {{0}}; /* r: at most BOUGH_MAX_COORDINATES */
    for (int32_t l = 0; l < r; l++) {
        q[HALVES * l] = (bo_v4){q_of[0][l], q_of[1][l], q_of[2][l], q_of[3][l]};
        q[HALVES * l + 1] = (bo_v4){q_of[4][l], q_of[5][l], q_of[6][l], q_of[7][l]};
    }
    double seam[BO_WIDE][BOUGH_SEAM];
    bo_v4 values[HALVES][MOST_VALUES], more[6];
    const bool gauged = c->gauges.count > 0;
    for (int i = 0; i < BO_WIDE && gauged; i++)
        find_seam(p->model, p->state, part[i], seam[i]);
    if (gauged)
        read_gauges(c, q, seam, values);
    bo_elastic elastic = {0};
    for (int32_t i = 0; i < c->stress.count; i++) {
        if (i == 0 || c->stress.material[i] != c->stress.material[i - 1])
            elastic = bo_elastic_of(&c->materials[c->stress.material[i]]);
        displacement_gradient(r, c->stress.gradient + 9 * (size_t)i * (size_t)r, q, G);
        for (int h = 0; h < HALVES; h++) {
            if (gauged)
                add_gauges(c, i, values[h], more);
            point_squared(&elastic, G[h], gauged ? more : NULL, &m);
            const mask larger = m > most[h];
            choose(&larger, &m, &most[h], &most[h]);
        }
    }
    for (int i = 0; i < count; i++) {
        const double stiffness = p->state->stiffness[part[i]->user];
        p->von_mises[part[i]->user] = stiffness * stiffness * sqrt(BO_LANE_CONST(most[i / LANES], i % LANES));
    }
}

static void find_all_peaks(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const peaks *p = data;
    const bo_tree_part *parts = p->model->parts;
    (void)chunk;
    for (int32_t first = begin, count; first < end; first += count) {
        for (count = 1; count < BO_WIDE && first + count < end; count++)
            if (parts[first + count].component != parts[first].component)
                break;
        find_peaks(p, first, count);
    }
}

void bough_tree_state_peak_stresses(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                                    double *von_mises) {
    model = bo_tree_now(model, state);
    peaks p = {model, state, von_mises};
    memset(von_mises, 0, (size_t)model->def.part_count * sizeof *von_mises);
    bo_parallel_for(ctx, model->part_count, PARTS_A_TASK, find_all_peaks, &p);
}
