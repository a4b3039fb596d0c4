/* Inertia of rigid bodies and flexible parts, in the axes of the body. docs/theory/multibody.md, "Inertia".
 *
 * With y = X + sum_l u_l Phi_l, spin w, a0 = R^T (acceleration of the origin - gravity) and angular acceleration alpha:
 *   force   m a0 + alpha x S + sum s_l v_l' + w x (w x S) + 2 w x Sdot
 *   torque  S x a0 + I alpha + sum p_l v_l' + w x I w + 2 (tr N - N) w
 *   row l   s_l . a0 + p_l . alpha + sum M_lk v_k' + w^T Z_l w - tr Z_l |w|^2 + 2 w . sum_k v_k t_kl
 * S = int y, Sdot = sum v_l s_l, Z_l = int Phi_l y^T, p_l = int y x Phi_l, t_kl = int Phi_k x Phi_l, N = sum v_l Z_l,
 * J = int y y^T, I = tr J - J. Rows also have elastic forces f(u) and damping alpha M v + beta K(u) v. */
#include "multibody/multibody.h"

#include "base/simd.h"

#include <string.h>

/* int a x b of int a b^T */
static bo_vec3 axial(bo_mat3 Z) {
    return bo_v3(Z.m[5] - Z.m[7], Z.m[6] - Z.m[2], Z.m[1] - Z.m[3]);
}

static bo_mat3 trace_less(bo_mat3 A) {
    bo_mat3 B = bo_mat_scale(-1, A);
    const double t = bo_trace(A);
    B.m[0] += t, B.m[4] += t, B.m[8] += t;
    return B;
}

/* ---- constants ---- */

/* R A R^T */
static bo_mat3 turned(bo_mat3 R, bo_mat3 A) {
    return bo_mat_mul(bo_mat_mul(R, A), bo_transpose(R));
}
static bo_mat3 load9(const double *x) {
    bo_mat3 A;
    memcpy(A.m, x, sizeof A.m);
    return A;
}

static void move_constants(const bough_component *c, bo_se3 g, bo_mb_part *part) {
    const int32_t r = part->r;
    const bo_vec3 first = bo_mat_vec(g.R, bo_load3(c->mc0));
    part->mass = c->mass;
    part->S0 = bo_mul_add(first, c->mass, g.t);
    bo_mat3 J = bo_mat_add(turned(g.R, load9(c->Sigma0)), bo_mat_scale(c->mass, bo_outer(g.t, g.t)));
    part->J0 = bo_mat_add(J, bo_mat_add(bo_outer(first, g.t), bo_outer(g.t, first)));
    for (int32_t l = 0; l < r; l++) {
        part->s[l] = bo_mat_vec(g.R, bo_load3(c->s + 3 * l));
        part->W5[l] = bo_mat_add(turned(g.R, load9(c->W5 + 9 * l)), bo_outer(part->s[l], g.t));
        for (int32_t p = 0; p < r; p++) {
            const int32_t i = r * l + p;
            const bo_mat3 W = turned(g.R, load9(c->W7 + 9 * i));
            part->W7[r * p + l] = W;
            part->turns[i] = axial(W);
            part->M[i] = bo_trace(load9(c->W7 + 9 * i));
        }
    }
}

bough_status bo_mb_part_make(bough_context *ctx, const bough_flexible_def *def, bo_se3 clamp, const bo_mb_part *like,
                             bo_mb_part *part) {
    const bough_component *c = def->component;
    const int32_t r = part->r = part->seen = c->r;
    part->component = c;
    part->strength = def->stiffness * def->stiffness;
    part->alpha = isnan(def->damping_mass) ? c->damping_mass : def->damping_mass;
    part->beta = isnan(def->damping_stiffness) ? c->damping_stiffness : def->damping_stiffness;
    if (def->full) {
        bo_mb_full_make(def, clamp, part);
        return BOUGH_OK;
    }
    if (like) {
        part->shares = true;
        part->mass = like->mass, part->S0 = like->S0, part->J0 = like->J0;
        part->s = like->s, part->W5 = like->W5, part->W7 = like->W7, part->turns = like->turns, part->M = like->M;
        return BOUGH_OK;
    }
    if (!(part->s = BO_NEW_ARRAY(ctx, bo_vec3, r)) || !(part->W5 = BO_NEW_ARRAY(ctx, bo_mat3, r)) ||
        !(part->W7 = BO_NEW_ARRAY(ctx, bo_mat3, r * r)) || !(part->turns = BO_NEW_ARRAY(ctx, bo_vec3, r * r)) ||
        !(part->M = BO_NEW_ARRAY(ctx, double, r *r)))
        return BOUGH_ERROR_MEMORY;
    move_constants(c, clamp, part);
    return BOUGH_OK;
}

void bo_mb_part_free(bough_context *ctx, bo_mb_part *part) {
    if (part->shares)
        return;
    void *const blocks[] = {part->s, part->W5, part->W7, part->turns, part->M};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
}

/* ---- at a state ---- */

/* out += s x */
BO_MULTIVERSION static void add_scaled(int32_t count, double s, const double *restrict x, double *restrict out) {
    for (int32_t i = 0; i < count; i++)
        out[i] += s * x[i];
}

void bo_mb_shape_at(const bo_mb_part *part, const double *u, const double *v, bo_mb_shape *shape) {
    const int32_t r = part->r;
    bo_mat3 J = part->J0, N = {{0}};
    shape->S = part->S0, shape->Sdot = bo_v3(0, 0, 0);
    memcpy(shape->Z, part->W5, (size_t)r * sizeof *shape->Z);
    memset(shape->swirl, 0, (size_t)r * sizeof *shape->swirl);
    for (int32_t k = 0; k < r; k++) {
        add_scaled(9 * r, u[k], part->W7[r * k].m, shape->Z[0].m);
        add_scaled(3 * r, v[k], &part->turns[r * k].x, &shape->swirl[0].x);
    }
    for (int32_t l = 0; l < r; l++) {
        const bo_mat3 Z = shape->Z[l];
        shape->p[l] = bo_scale(-1, axial(Z));
        shape->S = bo_mul_add(shape->S, u[l], part->s[l]);
        shape->Sdot = bo_mul_add(shape->Sdot, v[l], part->s[l]);
        for (int i = 0; i < 9; i++) {
            /* J = J0 + sum u (W5 + W5^T) + u u W7 = J0 + sum u (Z + W5^T) */
            J.m[i] += u[l] * (Z.m[i] + part->W5[l].m[3 * (i % 3) + i / 3]);
            N.m[i] += v[l] * Z.m[i];
        }
    }
    shape->I = trace_less(J), shape->N = N;
}

void bo_mb_shape_sums(const bo_mb_part *part, const bo_mb_shape *shape, const double *v, bo_mb_sums *sums) {
    *sums = (bo_mb_sums){.S = shape->S, .Sdot = shape->Sdot, .I = shape->I};
    for (int32_t l = 0; l < part->r; l++)
        sums->swirl = bo_mul_add(sums->swirl, v[l], shape->p[l]);
}

/* J = J0 + sum u (Z + W5^T), and sum v_l p_l = -axial(sum v_l Z_l). */
void bo_mb_part_sums(const bo_mb_part *part, const double *u, const double *v, bo_mat3 *Z, bo_mb_sums *sums) {
    const int32_t r = part->r;
    bo_mat3 linear = {{0}}, J = part->J0, N = {{0}};
    *sums = (bo_mb_sums){.S = part->S0};
    memcpy(Z, part->W5, (size_t)r * sizeof *Z);
    for (int32_t k = 0; k < r; k++)
        add_scaled(9 * r, u[k], part->W7[r * k].m, Z[0].m);
    for (int32_t l = 0; l < r; l++) {
        for (int i = 0; i < 9; i++) {
            linear.m[i] += u[l] * part->W5[l].m[i];
            J.m[i] += u[l] * Z[l].m[i], N.m[i] += v[l] * Z[l].m[i];
        }
        sums->S = bo_mul_add(sums->S, u[l], part->s[l]);
        sums->Sdot = bo_mul_add(sums->Sdot, v[l], part->s[l]);
    }
    sums->I = trace_less(bo_mat_add(J, bo_transpose(linear))), sums->swirl = bo_scale(-1, axial(N));
}

static bo_vec3 centrifugal(bo_vec3 w, bo_vec3 S) {
    return bo_cross(w, bo_cross(w, S));
}

void bo_mb_body_inertia(const bo_mb_body *body, bo_vec3 w, bo_vec3 a0, bo_vec3 alpha, bo_vec3 *force, bo_vec3 *torque) {
    *force = bo_add(bo_scale(body->mass, a0), bo_add(bo_cross(alpha, body->S), centrifugal(w, body->S)));
    *torque = bo_add(bo_add(bo_cross(body->S, a0), bo_mat_vec(body->I, alpha)), bo_cross(w, bo_mat_vec(body->I, w)));
}

void bo_mb_part_forces(const bo_mb_part *part, const double *v, const double *vdot, bo_mb_shape *shape, double *rows) {
    const int32_t r = part->r;
    const bo_vec3 w = shape->w, a0 = shape->a0, alpha = shape->alpha;
    const double ww = bo_dot(w, w);
    const bo_mb_body whole = {part->mass, shape->S, shape->I};
    bo_mb_body_inertia(&whole, w, a0, alpha, &shape->force, &shape->torque);
    shape->force = bo_mul_add(shape->force, 2, bo_cross(w, shape->Sdot));
    shape->torque = bo_mul_add(shape->torque, 2, bo_mat_vec(trace_less(shape->N), w));
    for (int32_t l = 0; l < r; l++) {
        shape->force = bo_mul_add(shape->force, vdot[l], part->s[l]);
        shape->torque = bo_mul_add(shape->torque, vdot[l], shape->p[l]);
        double row = bo_dot(part->s[l], a0) + bo_dot(shape->p[l], alpha) + bo_dot(w, bo_mat_vec(shape->Z[l], w)) -
                     bo_trace(shape->Z[l]) * ww + 2 * bo_dot(w, shape->swirl[l]);
        for (int32_t k = 0; k < r; k++)
            row += part->M[r * l + k] * (vdot[k] + part->alpha * v[k]);
        rows[l] = row + part->strength * (shape->gradient[l] + part->beta * shape->Kv[l]);
    }
}

void bo_mb_part_mass(const bo_mb_part *part, const bo_mb_shape *shape, bo_vec3 a0, bo_vec3 alpha, const double *x,
                     bo_vec3 *force, bo_vec3 *torque, double *rows) {
    const int32_t r = part->r;
    const bo_mb_body whole = {part->mass, shape->S, shape->I};
    bo_mb_body_inertia(&whole, bo_v3(0, 0, 0), a0, alpha, force, torque);
    for (int32_t l = 0; l < r; l++) {
        *force = bo_mul_add(*force, x[l], part->s[l]);
        *torque = bo_mul_add(*torque, x[l], shape->p[l]);
        rows[l] = bo_dot(part->s[l], a0) + bo_dot(shape->p[l], alpha);
        for (int32_t k = 0; k < r; k++)
            rows[l] += part->M[r * l + k] * x[k];
    }
}

/* ---- derivatives ---- */

/* K is quadratic in u where the elastic energy is a polynomial: a central difference is exact there, however long. */
void bo_mb_damping_change(const bo_mb_part *part, const double *u, const double *v, double way, double *element,
                          double *scratch, bo_mb_shape *shape) {
    const int32_t r = part->r;
    double most = 0, *moved = scratch, *less = scratch + r;
    memset(shape->dK, 0, (size_t)(r * r) * sizeof *shape->dK);
    for (int32_t k = 0; k < r; k++)
        most = fmax(most, fabs(v[k]) * sqrt(part->M[r * k + k] / part->mass));
    if (part->beta == 0 || most == 0)
        return;
    const double e = way / most;
    for (int32_t k = 0; k < r; k++)
        moved[k] = u[k] - e * v[k];
    bool there = bough_component_evaluate(part->component, moved, element, NULL, NULL, less);
    for (int32_t k = 0; k < r; k++)
        moved[k] = u[k] + e * v[k];
    there = there && bough_component_evaluate(part->component, moved, element, NULL, NULL, shape->dK);
    for (int32_t i = 0; i < r * r; i++)
        shape->dK[i] = there ? (shape->dK[i] - less[i]) / (2 * e) : 0;
}

/* T (stride n) at (i, j) += s A */
static void add_block(int32_t n, double *T, int32_t i, int32_t j, double s, bo_mat3 A) {
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            T[n * (i + a) + j + b] += s * A.m[3 * a + b];
}
static void add_column(int32_t n, double *T, int32_t i, int32_t j, double s, bo_vec3 x) {
    T[n * i + j] += s * x.x, T[n * (i + 1) + j] += s * x.y, T[n * (i + 2) + j] += s * x.z;
}
static void add_row(int32_t n, double *T, int32_t i, int32_t j, double s, bo_vec3 x) {
    T[n * i + j] += s * x.x, T[n * i + j + 1] += s * x.y, T[n * i + j + 2] += s * x.z;
}

/* Force and torque by the motion of the body. A turn phi changes a0 by a0 x phi, alpha and w likewise, and force and
 * torque themselves by phi x force and phi x torque, since they turn with the body. */
static void body_part(const bo_mb_body *body, bo_vec3 Sdot, bo_mat3 N, bo_vec3 w, bo_vec3 a0, bo_vec3 alpha,
                      bo_vec3 force, bo_vec3 torque, double ca, double cv, double cq, bo_mat3 gamma, int32_t n,
                      double *T) {
    const bo_mat3 S = bo_hat(body->S), W = bo_hat(w), one = bo_identity3();
    /* by w */
    bo_mat3 fw = bo_mat_scale(-1, bo_mat_add(bo_hat(bo_cross(w, body->S)), bo_mat_mul(W, S)));
    fw = bo_mat_sub(fw, bo_mat_scale(2, bo_hat(Sdot)));
    bo_mat3 tw = bo_mat_sub(bo_mat_mul(W, body->I), bo_hat(bo_mat_vec(body->I, w)));
    tw = bo_mat_add(tw, bo_mat_scale(2, trace_less(N)));
    /* by turns */
    const bo_mat3 A0 = bo_hat(a0), A1 = bo_hat(alpha);
    bo_mat3 fp = bo_mat_sub(bo_mat_scale(body->mass, A0), bo_mat_mul(S, A1));
    fp = bo_mat_sub(bo_mat_add(fp, bo_mat_mul(fw, W)), bo_hat(force));
    bo_mat3 tp = bo_mat_add(bo_mat_mul(S, A0), bo_mat_mul(body->I, A1));
    tp = bo_mat_sub(bo_mat_add(tp, bo_mat_mul(tw, W)), bo_hat(torque));
    add_block(n, T, 0, 0, ca * body->mass, one);
    add_block(n, T, 0, 3, -ca, S);
    add_block(n, T, 0, 3, cv, fw);
    add_block(n, T, 0, 3, cq, bo_mat_mul(fp, gamma));
    add_block(n, T, 3, 0, ca, S);
    add_block(n, T, 3, 3, ca, body->I);
    add_block(n, T, 3, 3, cv, tw);
    add_block(n, T, 3, 3, cq, bo_mat_mul(tp, gamma));
}

void bo_mb_body_tangent(const bo_mb_body *body, bo_vec3 w, bo_vec3 a0, bo_vec3 alpha, double ca, double cv, double cq,
                        bo_mat3 gamma, double T[36]) {
    bo_vec3 force, torque;
    bo_mb_body_inertia(body, w, a0, alpha, &force, &torque);
    memset(T, 0, 36 * sizeof *T);
    body_part(body, bo_v3(0, 0, 0), (bo_mat3){{0}}, w, a0, alpha, force, torque, ca, cv, cq, gamma, 6, T);
}

/* Force and torque by coordinate k of the part. */
static void coordinate_columns(const bo_mb_part *part, const double *v, const double *vdot, const bo_mb_shape *shape,
                               int32_t k, double ca, double cv, double cq, int32_t n, double *T) {
    const int32_t r = part->r;
    const bo_vec3 w = shape->w, alpha = shape->alpha, s = part->s[k];
    const bo_mat3 Z = shape->Z[k], I = trace_less(bo_mat_add(Z, bo_transpose(Z)));
    bo_mat3 N = {{0}};
    bo_vec3 bends = {0, 0, 0};
    for (int32_t j = 0; j < r; j++) {
        for (int i = 0; i < 9; i++)
            N.m[i] += v[j] * part->W7[r * k + j].m[i];
        bends = bo_mul_add(bends, vdot[j], part->turns[r * k + j]);
    }
    bo_vec3 torque = bo_add(bo_cross(s, shape->a0), bo_add(bo_mat_vec(I, alpha), bends));
    torque = bo_add(torque, bo_cross(w, bo_mat_vec(I, w)));
    torque = bo_mul_add(torque, 2, bo_mat_vec(trace_less(N), w));
    add_column(n, T, 0, 6 + k, ca, s);
    add_column(n, T, 0, 6 + k, 2 * cv, bo_cross(w, s));
    add_column(n, T, 0, 6 + k, cq, bo_add(bo_cross(alpha, s), centrifugal(w, s)));
    add_column(n, T, 3, 6 + k, ca, shape->p[k]);
    add_column(n, T, 3, 6 + k, 2 * cv, bo_mat_vec(trace_less(Z), w));
    add_column(n, T, 3, 6 + k, cq, torque);
}

/* Row l by the motion of the body and by all coordinates. */
static void coordinate_row(const bo_mb_part *part, const bo_mb_shape *shape, int32_t l, double ca, double cv, double cq,
                           bo_mat3 gamma, int32_t n, double *T) {
    const int32_t r = part->r;
    const bo_vec3 w = shape->w, alpha = shape->alpha;
    const bo_mat3 Z = shape->Z[l];
    const double ww = bo_dot(w, w);
    bo_vec3 by_w = bo_mat_vec(bo_mat_add(Z, bo_transpose(Z)), w);
    by_w = bo_mul_add(bo_mul_add(by_w, -2 * bo_trace(Z), w), 2, shape->swirl[l]);
    /* x . (a x phi) = (x x a) . phi */
    bo_vec3 by_turn = bo_add(bo_cross(part->s[l], shape->a0), bo_cross(shape->p[l], alpha));
    by_turn = bo_add(by_turn, bo_cross(by_w, w));
    add_row(n, T, 6 + l, 0, ca, part->s[l]);
    add_row(n, T, 6 + l, 3, ca, shape->p[l]);
    add_row(n, T, 6 + l, 3, cv, by_w);
    add_row(n, T, 6 + l, 3, cq, bo_mat_tvec(gamma, by_turn));
    for (int32_t k = 0; k < r; k++) {
        const int32_t i = r * l + k;
        const bo_vec3 t = part->turns[r * k + l];
        const double spin = bo_dot(alpha, t) + bo_dot(w, bo_mat_vec(part->W7[r * k + l], w)) - part->M[i] * ww;
        const double K = part->strength * shape->K[i];
        T[n * (6 + l) + 6 + k] += ca * part->M[i] +
                                  cv * (part->alpha * part->M[i] + part->beta * K + 2 * bo_dot(w, t)) +
                                  cq * (spin + K + part->beta * part->strength * shape->dK[i]);
    }
}

void bo_mb_part_tangent(const bo_mb_part *part, const double *v, const double *vdot, const bo_mb_shape *shape,
                        double ca, double cv, double cq, bo_mat3 gamma, double *T) {
    const int32_t n = 6 + part->r;
    const bo_mb_body whole = {part->mass, shape->S, shape->I};
    memset(T, 0, (size_t)(n * n) * sizeof *T);
    body_part(&whole, shape->Sdot, shape->N, shape->w, shape->a0, shape->alpha, shape->force, shape->torque, ca, cv, cq,
              gamma, n, T);
    for (int32_t k = 0; k < part->r; k++) {
        coordinate_columns(part, v, vdot, shape, k, ca, cv, cq, n, T);
        coordinate_row(part, shape, k, ca, cv, cq, gamma, n, T);
    }
}
