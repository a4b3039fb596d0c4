/* Places and motion of interfaces, four at a time. docs/theory/tree.md, "Kinematics". */
#include "tree/groves.h"

#include "base/polar.h"
#include "base/threads.h"

#include <math.h>

/* out[12] = sum_l x_l times row l of a map */
BO_INLINE void contract(int32_t r, const bo_v4 *restrict maps, const double *restrict x, bo_v4 *restrict out) {
    for (int first = 0; first < 12 && BO_SUMS < 6; first += 4) {
        bo_v4 s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
        for (int32_t l = 0; l < r; l++) {
            const bo_v4 *row = maps + 12 * l + first;
            s0 += x[l] * row[0], s1 += x[l] * row[1], s2 += x[l] * row[2], s3 += x[l] * row[3];
        }
        out[first] = s0, out[first + 1] = s1, out[first + 2] = s2, out[first + 3] = s3;
    }
    for (int first = 0; first < 12 && BO_SUMS >= 6; first += 6) {
        bo_v4 s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0};
        for (int32_t l = 0; l < r; l++) {
            const bo_v4 *row = maps + 12 * l + first;
            s0 += x[l] * row[0], s1 += x[l] * row[1], s2 += x[l] * row[2];
            s3 += x[l] * row[3], s4 += x[l] * row[4], s5 += x[l] * row[5];
        }
        out[first] = s0, out[first + 1] = s1, out[first + 2] = s2;
        out[first + 3] = s3, out[first + 4] = s4, out[first + 5] = s5;
    }
}

/* The same with x and with y at once: rows are read from far away. */
BO_INLINE void contract_two(int32_t r, const bo_v4 *restrict maps, const double *restrict x, const double *restrict y,
                            bo_v4 *restrict out, bo_v4 *restrict rates) {
    for (int first = 0; first < 12 && BO_SUMS < 8; first += 2) {
        bo_v4 s0 = {0}, s1 = {0}, t0 = {0}, t1 = {0};
        for (int32_t l = 0; l < r; l++) {
            const bo_v4 *row = maps + 12 * l + first;
            s0 += x[l] * row[0], s1 += x[l] * row[1];
            t0 += y[l] * row[0], t1 += y[l] * row[1];
        }
        out[first] = s0, out[first + 1] = s1;
        rates[first] = t0, rates[first + 1] = t1;
    }
    for (int first = 0; first < 12 && BO_SUMS >= 8; first += 4) {
        bo_v4 s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, t0 = {0}, t1 = {0}, t2 = {0}, t3 = {0};
        for (int32_t l = 0; l < r; l++) {
            const bo_v4 *row = maps + 12 * l + first;
            s0 += x[l] * row[0], s1 += x[l] * row[1], s2 += x[l] * row[2], s3 += x[l] * row[3];
            t0 += y[l] * row[0], t1 += y[l] * row[1], t2 += y[l] * row[2], t3 += y[l] * row[3];
        }
        out[first] = s0, out[first + 1] = s1, out[first + 2] = s2, out[first + 3] = s3;
        rates[first] = t0, rates[first + 1] = t1, rates[first + 2] = t2, rates[first + 3] = t3;
    }
}

/* G = tr(S) 1 - S of the symmetric part S of M = R^T A, and 2 skew(M). */
BO_INLINE void split(const bo_v4 *M, bo_v4 *G, bo_v4 *skew) {
    G[0] = M[4] + M[8], G[3] = M[0] + M[8], G[5] = M[0] + M[4];
    G[1] = -0.5 * (M[1] + M[3]), G[2] = -0.5 * (M[2] + M[6]), G[4] = -0.5 * (M[5] + M[7]);
    skew[0] = M[7] - M[5], skew[1] = M[2] - M[6], skew[2] = M[3] - M[1];
}

/* R <- R (1 + (d~ + d~ d~ / 2) / (1 + |d|^2 / 4)): Cayley's form of the rotation by d, exact to third order */
BO_INLINE void turn_by(const bo_v4 *d, bo_v4 *R) {
    const bo_v4 square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], c = 1 / (1 + 0.25 * square), h = 0.5 * c;
    const bo_v4 C[9] = {1 + h * (d[0] * d[0] - square), h * d[0] * d[1] - c * d[2],     h * d[0] * d[2] + c * d[1],
                        h * d[0] * d[1] + c * d[2],     1 + h * (d[1] * d[1] - square), h * d[1] * d[2] - c * d[0],
                        h * d[0] * d[2] - c * d[1],     h * d[1] * d[2] + c * d[0],     1 + h * (d[2] * d[2] - square)};
    bo_v4 T[9];
    bo_mul4(R, C, T);
    for (int k = 0; k < 9; k++)
        R[k] = T[k];
}

/* R <- R (3 - R^T R) / 2, so that rounding does not add up over millions of steps */
BO_INLINE void tidy(bo_v4 *R) {
    bo_v4 T[9], out[9];
    bo_tmul4(R, R, T);
    for (int k = 0; k < 9; k++)
        T[k] = (k % 4 == 0 ? 1.5 : 0) - 0.5 * T[k];
    bo_mul4(R, T, out);
    for (int k = 0; k < 9; k++)
        R[k] = out[k];
}

BO_INLINE bool any_above(const bo_v4 *x, double limit) {
    return (*x)[0] > limit || (*x)[1] > limit || (*x)[2] > limit || (*x)[3] > limit;
}

/* Decomposes one lane after the other with the checked decomposition, for vectors in which Newton's iteration does not
 * end in the maximum. */
static bool decompose_lanes(const bo_v4 *A, bo_v4 *R) {
    for (int lane = 0; lane < 4; lane++) {
        bo_mat3 a, start, out, S;
        for (int k = 0; k < 9; k++)
            a.m[k] = BO_LANE_CONST(A[k], lane), start.m[k] = BO_LANE_CONST(R[k], lane);
        if (!bo_polar_warm(a, start, &out, &S, NULL))
            return false;
        for (int k = 0; k < 9; k++)
            BO_LANE(R[k], lane) = out.m[k];
    }
    return true;
}

/* G is positive definite by its leading minors, with the room that base/polar.c asks for. Also false for what is not
 * finite. */
BO_INLINE bool is_maximum(const bo_v4 *G, const bo_v4 *det) {
    const bo_v4 total = G[0] + G[3] + G[5], minor = G[0] * G[3] - G[1] * G[1];
    bool good = true;
    for (int lane = 0; lane < 4; lane++) {
        const double t = total[lane];
        good = good && t > 0 && G[0][lane] > 0 && minor[lane] > 0 && 4 * (*det)[lane] > BO_POLAR_TOLERANCE * t * t * t;
    }
    return good;
}

/* Rotation of A from the one before: d = G^-1 2 skew(R^T A), R <- R exp(d~). Ends with P = G^-1 at R. */
BO_INLINE bool decompose(const bo_v4 *A, bo_v4 *R, bo_v4 *M, bo_v4 *P) {
    enum { MOST = 8 };
    bo_v4 G[6], skew[3], d[3], det, square;
    tidy(R);
    for (int i = 0;; i++) {
        bo_tmul4(R, A, M);
        split(M, G, skew);
        bo_inverse_sym4(G, P, &det);
        bo_symv4(P, skew, d);
        square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (!any_above(&square, 1e-30))
            break;
        turn_by(d, R);
        if (!any_above(&square, 1e-16)) { /* quadratic: the next is at rounding */
            bo_tmul4(R, A, M);
            split(M, G, skew);
            bo_inverse_sym4(G, P, &det);
            break;
        }
        if (i == MOST)
            break;
    }
    if (is_maximum(G, &det) && !any_above(&square, 1e-16))
        return true;
    if (!decompose_lanes(A, R))
        return false;
    bo_tmul4(R, A, M);
    split(M, G, skew);
    bo_inverse_sym4(G, P, &det);
    return is_maximum(G, &det);
}

/* Op (3 x 9): angular velocity by rates of A, R P [2 skew(R^T .)] */
BO_INLINE void fill_operator(const bo_v4 *R, const bo_v4 *P, bo_v4 *RP, bo_v4 *Op) {
    const bo_v4 full[9] = {P[0], P[1], P[2], P[1], P[3], P[4], P[2], P[4], P[5]};
    bo_mul4(R, full, RP);
    for (int d = 0; d < 3; d++)
        for (int c = 0; c < 3; c++) {
            const bo_v4 *g = RP + 3 * d, r0 = R[3 * c], r1 = R[3 * c + 1], r2 = R[3 * c + 2];
            Op[9 * d + 3 * c] = g[2] * r1 - g[1] * r2;
            Op[9 * d + 3 * c + 1] = g[0] * r2 - g[2] * r0;
            Op[9 * d + 3 * c + 2] = g[1] * r0 - g[0] * r1;
        }
}

/* Four faces from q and v of their part. */
BO_MULTIVERSION
static bool move(int32_t r, double scale, const bo_v4 *restrict rest, const bo_v4 *restrict maps,
                 const double *restrict q, const double *restrict v, bo_v4 *restrict start, bo_tree_faces *restrict f) {
    bo_v4 at[12], rate[12], M[9], P[6], RP[9];
    for (int k = 0; k < 9; k++)
        start[k] = f->polar[k];
    contract_two(r, maps, q, v, at, rate);
    for (int k = 0; k < 3; k++) {
        f->x[k] = scale * (rest[k] + at[k]);
        f->xdot[k] = scale * rate[k];
    }
    bo_v4 *A = at + 3, *Adot = rate + 3;
    for (int k = 0; k < 9; k++)
        A[k] += rest[3 + k];
    if (!decompose(A, f->polar, M, P))
        return false;
    const bo_v4 *R = f->polar;
    fill_operator(R, P, RP, f->Op);
    for (int d = 0; d < 3; d++) {
        bo_v4 sum = f->Op[9 * d] * Adot[0];
        for (int k = 1; k < 9; k++)
            sum += f->Op[9 * d + k] * Adot[k];
        f->turning[d] = sum;
    }
    /* with B = R^T Adot, u = R^T turning: Sdot = B - u~ M, rate of the turning without accelerations
     * = R P (2 skew(-R^T turning~ Adot) - (tr Sdot 1 - Sdot) u), and R^T turning~ Adot = u~ B */
    bo_v4 B[9], u[3], uB[9], uM[9], Sdot[9], rhs[3], out[3];
    bo_tmul4(R, Adot, B);
    bo_tmulv4(R, f->turning, u);
    for (int j = 0; j < 3; j++) {
        const bo_v4 b[3] = {B[j], B[3 + j], B[6 + j]}, m[3] = {M[j], M[3 + j], M[6 + j]};
        bo_v4 c[3];
        bo_cross4(u, b, c);
        uB[j] = c[0], uB[3 + j] = c[1], uB[6 + j] = c[2];
        bo_cross4(u, m, c);
        uM[j] = c[0], uM[3 + j] = c[1], uM[6 + j] = c[2];
    }
    for (int k = 0; k < 9; k++)
        Sdot[k] = B[k] - uM[k];
    const bo_v4 trace = Sdot[0] + Sdot[4] + Sdot[8];
    bo_mulv4(Sdot, u, out);
    rhs[0] = uB[5] - uB[7] - trace * u[0] + out[0];
    rhs[1] = uB[6] - uB[2] - trace * u[1] + out[1];
    rhs[2] = uB[1] - uB[3] - trace * u[2] + out[2];
    bo_mulv4(RP, rhs, f->turning_bias);
    return true;
}

typedef struct {
    const bough_tree_model *model;
    bo_tree_work *work;
    const bo_tree_mode *mode;
    const double *q, *v;
    bool bad[BO_TREE_CHUNKS];
} move_call;

static void move_blocks(void *data, int32_t begin, int32_t end, int32_t chunk) {
    move_call *call = data;
    const bough_tree_model *model = call->model;
    const bo_tree_block *last = &model->blocks[end - 1];
    for (int32_t i = model->blocks[begin].first; i < last->first + last->count; i++) {
        const bo_tree_part *part = &model->parts[i];
        const bo_component_tables *t = &model->components[part->component];
        if (call->mode->only_flights && !part->flies)
            continue;
        for (int32_t k = 0; k < t->face_vectors && part->faces >= 0; k++)
            if (model->face_used[part->faces + k] &&
                !move(part->r, part->scale, t->face_rest + 12 * k, t->face_maps + 12 * (size_t)part->r * (size_t)k,
                      call->q + part->offset, call->v + part->offset, call->work->starts + 9 * (part->faces + k),
                      &call->work->faces[part->faces + k]))
                call->bad[chunk] = true;
    }
}

bool bo_tree_move_faces(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode,
                        const double *q, const double *v) {
    move_call call = {model, work, mode, q, v, {false}};
    bo_tree_each_block(ctx, model, move_blocks, &call);
    for (int32_t c = 0; c < BO_TREE_CHUNKS; c++)
        if (call.bad[c])
            return false;
    return true;
}

BO_MULTIVERSION
static void gain(int32_t r, double scale, const bo_v4 *restrict maps, const double *restrict a,
                 bo_tree_faces *restrict f) {
    bo_v4 rate[12];
    contract(r, maps, a, rate);
    for (int k = 0; k < 3; k++)
        f->gain[k] = scale * rate[k];
    for (int d = 0; d < 3; d++) {
        bo_v4 sum = f->Op[9 * d] * rate[3];
        for (int k = 1; k < 9; k++)
            sum += f->Op[9 * d + k] * rate[3 + k];
        f->gain[3 + d] = sum;
    }
}

void bo_tree_gain(const bough_tree_model *model, bo_tree_work *work, int32_t i, const double *a) {
    const bo_tree_part *part = &model->parts[i];
    const bo_component_tables *t = &model->components[part->component];
    for (int32_t k = 0; k < t->face_vectors && part->faces >= 0; k++)
        if (model->face_used[part->faces + k])
            gain(part->r, part->scale, t->face_maps + 12 * (size_t)part->r * (size_t)k, a + part->offset,
                 &work->faces[part->faces + k]);
}
