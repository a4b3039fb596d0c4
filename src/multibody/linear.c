#include "multibody/linear.h"

#include "rig/joint.h"

#include <string.h>

#define SHORT_WAY 1e-5  /* of the whole: for parts whose stiffness is no polynomial */
#define RELAXES 1.0     /* s */
#define CORRECTED 1e-13 /* of the largest multiplier: a correction that is the last */
enum { MOST_CORRECTIONS = 100 };

/* ---- memory ---- */

static void find_owners(const bough_multibody *model, int32_t *owner) {
    for (int32_t k = 0; k < model->block_count; k++)
        owner[k] = -2;
    for (int32_t p = 0; p < model->def.part_count; p++)
        owner[model->part_block[p]] = -1;
    for (int32_t b = 0; b < model->body_count; b++)
        owner[model->body_block[b]] = b;
}

bough_status bo_mb_linear_make(bough_context *ctx, const bough_multibody *model, bo_mb_linear *x) {
    *x = (bo_mb_linear){.model = model};
    BO_TRY(bo_mb_work_make(ctx, model, &x->work));
    for (int32_t p = 0; p < model->def.part_count; p++)
        if (model->parts[p].component->elastic != BOUGH_REDUCED_POLYNOMIAL)
            x->work.way = SHORT_WAY * model->length; /* steps converge with less; derivatives have to be right */
    const size_t nv = (size_t)model->nv, nc = (size_t)model->nc, values = (size_t)x->work.lu.value_count;
    const struct {
        double **to;
        size_t count;
    } arrays[] = {{&x->K, values}, {&x->a, nv},     {&x->R, nv},        {&x->c, nc},
                  {&x->rate, nc},  {&x->zeros, nv}, {&x->rhs, nv + nc}, {&x->product, nv + nc}};
    size_t total = 0;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        total += arrays[i].count;
    double *block = x->memory = BO_NEW_ZEROS(ctx, double, total);
    x->owner = BO_NEW_ARRAY(ctx, int32_t, model->block_count);
    if (!block || !x->owner)
        return BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i].to = block, block += arrays[i].count;
    find_owners(model, x->owner);
    return BOUGH_OK;
}

void bo_mb_linear_free(bough_context *ctx, bo_mb_linear *x) {
    bo_mb_work_free(ctx, x->model, &x->work);
    bo_free(ctx, x->memory);
    bo_free(ctx, x->owner);
    *x = (bo_mb_linear){.work = {.lu = {.stuck = -1}}};
}

/* ---- the matrix ---- */

/* to += h K Gamma for columns of one block: turns of a body by its spin, all else as it is, multipliers not at all. */
static void add_columns(const bo_mb_linear *x, int32_t block, int32_t rows, int32_t stride, const double *K,
                        double *to) {
    const int32_t owner = x->owner[block], columns = x->work.lu.rows[block];
    const double h = x->at.h;
    if (owner == -2)
        return;
    const int32_t plain = owner >= 0 ? 3 : columns;
    const bo_mat3 gamma = owner >= 0 ? bo_mb_turn_by_spin(h, bo_load3(x->at.v + 6 * owner + 3)) : bo_identity3();
    for (int32_t i = 0; i < rows; i++, K += stride, to += stride) {
        for (int32_t j = 0; j < plain; j++)
            to[j] += h * K[j];
        if (owner >= 0)
            bo_store3(to + 3, bo_mul_add(bo_load3(to + 3), h, bo_mat_tvec(gamma, bo_load3(K + 3))));
    }
}

static void add_displacements_to_matrix(bo_mb_linear *x) {
    bo_block_lu *lu = &x->work.lu;
    for (int32_t k = 0; k < lu->count; k++) {
        const int32_t n = lu->rows[k];
        add_columns(x, k, n, n, x->K + lu->diagonal[k], lu->values + lu->diagonal[k]);
        add_columns(x, k, lu->width[k], n, x->K + lu->below[k], lu->values + lu->below[k]);
        for (int32_t a = lu->near_start[k]; a < lu->near_start[k + 1]; a++)
            add_columns(x, lu->near[a], n, lu->width[k], x->K + lu->right[k] + lu->near_at[a],
                        lu->values + lu->right[k] + lu->near_at[a]);
    }
}

/* Everything at the moment. */
static bool evaluate(bo_mb_linear *x, const bo_mb_moment *at) {
    const bough_multibody *model = x->model;
    x->at = *at;
    x->drive = (bo_mb_drive){0, at->gravity, x->zeros, x->zeros, at->place, at->rate};
    memcpy(x->work.coordinates, at->coordinates, (size_t)model->coordinate_count * sizeof *at->coordinates);
    for (int32_t i = 0; i < model->nv; i++)
        x->a[i] = (at->v[i] - at->v_base[i]) / at->h;
    return bo_mb_evaluate(model, &x->work, &x->drive, at->u, at->v, x->a, at->lambda, x->R, x->c, x->rate);
}

static void assemble(bo_mb_linear *x, double ca, double cv, double cq, bool positions) {
    bo_mb_tangent(x->model, &x->work, &x->drive, x->at.u, x->at.v, x->a, x->at.lambda, ca, cv, cq, 0,
                  x->model->def.baumgarte, positions);
}

/* A = (M / h + dF/dV at fixed U) + h K Gamma: both pieces are needed, the second alone for the adjoint. */
bool bo_mb_linearise_with_mass(bo_mb_linear *x, const bo_mb_moment *at, double *mass) {
    if (!evaluate(x, at))
        return false;
    if (mass) {
        bo_mb_mass(x->model, &x->work, &x->drive, at->u, at->v, x->a, 1 / at->h);
        memcpy(mass, x->work.lu.values, (size_t)x->work.lu.value_count * sizeof *mass);
    }
    assemble(x, 0, 0, 1, false);
    memcpy(x->K, x->work.lu.values, (size_t)x->work.lu.value_count * sizeof *x->K);
    assemble(x, 1 / at->h, 1, 0, false);
    add_displacements_to_matrix(x);
    return bo_block_lu_factor(&x->work.lu);
}

bool bo_mb_linearise(bo_mb_linear *x, const bo_mb_moment *at) {
    return bo_mb_linearise_with_mass(x, at, NULL);
}

/* Stiffness alone leaves blocks singular that joints hold only later in the order of elimination. With the mass added,
 * as in a slow motion over RELAXES, they are not, and corrections with the stiffness itself converge fast. */
bool bo_mb_linearise_equilibrium(bo_mb_linear *x, const bo_mb_moment *at) {
    if (!evaluate(x, at))
        return false;
    assemble(x, 0, 0, 1, true);
    memcpy(x->K, x->work.lu.values, (size_t)x->work.lu.value_count * sizeof *x->K);
    assemble(x, 1 / (RELAXES * RELAXES), 0, 1, true);
    return bo_block_lu_factor(&x->work.lu);
}

/* ---- the adjoint ---- */

static bo_quat load_quat(const double *q) {
    return (bo_quat){q[0], q[1], q[2], q[3]};
}
static void store_quat(double *to, bo_quat q) {
    to[0] = q.w, to[1] = q.x, to[2] = q.y, to[3] = q.z;
}

bo_quat bo_mb_linear_turn(const bo_mb_linear *x, int32_t body) {
    const bo_vec3 half = bo_scale(0.5 * x->at.h, bo_load3(x->at.v + 6 * body + 3));
    const double scale = 1 / (1 + bo_dot(half, half));
    return (bo_quat){scale, scale * half.x, scale * half.y, scale * half.z};
}

/* A turn phi changes q by phi q / 2, and is 2 Im(dq q*) / |q|^2. */
void bo_mb_add_displacements(const bough_multibody *model, const double *u, const double *by_xi, double *by_u) {
    for (int32_t b = 0; b < model->body_count; b++) {
        const bo_quat q = load_quat(u + 7 * b + 3);
        const double *from = by_xi + 6 * b, s = 2 / bo_quat_dot(q, q);
        const bo_quat turned = bo_quat_mul((bo_quat){0, s * from[3], s * from[4], s * from[5]}, q);
        double *to = by_u + 7 * b;
        for (int k = 0; k < 3; k++)
            to[k] += from[k];
        to[3] += turned.w, to[4] += turned.x, to[5] += turned.y, to[6] += turned.z;
    }
    for (int32_t i = 6 * model->body_count; i < model->nv; i++)
        by_u[i + model->body_count] += by_xi[i];
}

void bo_mb_to_displacements(const bough_multibody *model, const double *u, const double *by_u, double *by_xi) {
    for (int32_t b = 0; b < model->body_count; b++) {
        const bo_quat turned = bo_quat_mul(load_quat(by_u + 7 * b + 3), bo_quat_conj(load_quat(u + 7 * b + 3)));
        memcpy(by_xi + 6 * b, by_u + 7 * b, 3 * sizeof *by_xi);
        bo_store3(by_xi + 6 * b + 3, bo_scale(0.5, bo_v3(turned.x, turned.y, turned.z)));
    }
    for (int32_t i = 6 * model->body_count; i < model->nv; i++)
        by_xi[i] = by_u[i + model->body_count];
}

/* by_v and what the end's positions say of velocities: dq = h/2 m dw q with m = (1 - h/2 w)^-1. */
static void gather_rhs(bo_mb_linear *x, const double *by_u, const double *by_v, const double *by_lambda) {
    const bough_multibody *model = x->model;
    const double h = x->at.h;
    for (int32_t b = 0; b < model->body_count; b++) {
        const double *g = by_u + 7 * b, *v = by_v + 6 * b;
        const bo_quat at_base = bo_quat_mul(bo_quat_conj(bo_mb_linear_turn(x, b)), load_quat(g + 3));
        const bo_quat spin = bo_quat_mul(at_base, bo_quat_conj(load_quat(x->at.u + 7 * b + 3)));
        const double all[6] = {v[0] + h * g[0],         v[1] + h * g[1],         v[2] + h * g[2],
                               v[3] + 0.5 * h * spin.x, v[4] + 0.5 * h * spin.y, v[5] + 0.5 * h * spin.z};
        for (int k = 0; k < 6; k++)
            x->rhs[model->place[6 * b + k]] = all[k];
    }
    for (int32_t i = 6 * model->body_count; i < model->nv; i++)
        x->rhs[model->place[i]] = by_v[i] + h * by_u[i + model->body_count];
    for (int32_t i = 0; i < model->nc; i++)
        x->rhs[model->place[model->nv + i]] = by_lambda[i];
}

/* y = M x of the whole; M is symmetric. */
static void multiply_mass(const bo_mb_linear *l, const double *x, double *y) {
    const bough_multibody *model = l->model;
    const bo_vec3 none = {0, 0, 0};
    bo_vec3 force, torque;
    for (int32_t b = 0; b < model->body_count; b++) {
        const bo_mat3 R = l->work.R[b];
        bo_mb_body_inertia(&model->bodies[b], none, bo_mat_tvec(R, bo_load3(x + 6 * b)),
                           bo_mat_tvec(R, bo_load3(x + 6 * b + 3)), &force, &torque);
        bo_store3(y + 6 * b, bo_mat_vec(R, force)), bo_store3(y + 6 * b + 3, bo_mat_vec(R, torque));
    }
    for (int32_t p = 0; p < model->def.part_count; p++) {
        const bo_mb_part *part = &model->parts[p];
        const int32_t b = part->body;
        const bo_mat3 R = b < 0 ? bo_identity3() : l->work.R[b];
        bo_mb_part_mass(part, &l->work.shapes[p], b < 0 ? none : bo_mat_tvec(R, bo_load3(x + 6 * b)),
                        b < 0 ? none : bo_mat_tvec(R, bo_load3(x + 6 * b + 3)), x + part->first, &force, &torque,
                        y + part->first);
        if (b < 0)
            continue;
        bo_store3(y + 6 * b, bo_add(bo_load3(y + 6 * b), bo_mat_vec(R, force)));
        bo_store3(y + 6 * b + 3, bo_add(bo_load3(y + 6 * b + 3), bo_mat_vec(R, torque)));
    }
}

/* A^T mu = what velocities and multipliers are asked for; Uhat is asked for what U is, less K^T mu; Vhat for M mu/h. */
void bo_mb_linear_pull(bo_mb_linear *x, const double *by_u, const double *by_v, const double *by_lambda, double *mu,
                       double *by_u_base, double *by_v_base) {
    const bough_multibody *model = x->model;
    const int32_t size = model->nv + model->nc;
    gather_rhs(x, by_u, by_v, by_lambda);
    bo_block_lu_solve_transposed(&x->work.lu, x->rhs);
    bo_block_lu_multiply_transposed(&x->work.lu, x->K, x->rhs, x->product);
    for (int32_t i = 0; i < size; i++)
        mu[i] = x->rhs[model->place[i]];
    for (int32_t i = 0; i < model->nv; i++)
        x->R[i] = -x->product[model->place[i]];
    memcpy(by_u_base, by_u, (size_t)model->nu * sizeof *by_u_base);
    bo_mb_add_displacements(model, x->at.u, x->R, by_u_base);
    for (int32_t b = 0; b < model->body_count; b++) {
        double *q = by_u_base + 7 * b + 3;
        store_quat(q, bo_quat_mul(bo_quat_conj(bo_mb_linear_turn(x, b)), load_quat(q)));
    }
    multiply_mass(x, mu, by_v_base);
    for (int32_t i = 0; i < model->nv; i++)
        by_v_base[i] /= x->at.h;
}

bool bo_mb_linear_pull_equilibrium(bo_mb_linear *x, const double *by_xi, double *mu) {
    const bough_multibody *model = x->model;
    const int32_t size = model->nv + model->nc;
    double last = INFINITY;
    memset(mu, 0, (size_t)size * sizeof *mu);
    for (int k = 0; k < MOST_CORRECTIONS; k++) {
        double most = 0, change = 0;
        for (int32_t i = 0; i < size; i++)
            x->rhs[model->place[i]] = mu[i];
        bo_block_lu_multiply_transposed(&x->work.lu, x->K, x->rhs, x->product);
        for (int32_t i = 0; i < size; i++)
            x->rhs[model->place[i]] = (i < model->nv ? by_xi[i] : 0) - x->product[model->place[i]];
        bo_block_lu_solve_transposed(&x->work.lu, x->rhs);
        for (int32_t i = 0; i < size; i++) {
            const double correction = x->rhs[model->place[i]];
            mu[i] += correction;
            if (i < model->nv)
                most = fmax(most, fabs(mu[i]) * model->units[i]),
                change = fmax(change, fabs(correction) * model->units[i]);
        }
        if (!(change > CORRECTED * most) || (change > 0.5 * last && change < 1e4 * CORRECTED * most))
            return isfinite(most);
        last = change;
    }
    return false;
}

/* ---- by motors and constants ---- */

/* mu . dR for a change of the wrenches on the first two frames of a joint: R has -F^T W. */
static double by_wrench(const bo_mb_linear *x, const bo_mb_joint *joint, const double *mu, const double W[12]) {
    double sum = 0;
    for (int f = 0; f < 2; f++) {
        double twist[6];
        bo_mb_frame_twist(x->model, &x->work, joint->frames[f], mu, twist);
        for (int i = 0; i < 6; i++)
            sum -= twist[i] * W[6 * f + i];
    }
    return sum;
}

static double by_cause(const bo_mb_linear *x, const bo_mb_joint *joint, int32_t freedom, bo_mb_cause cause,
                       const double *mu) {
    double W[12];
    bo_mb_wrench_by(x->model, &x->work, joint, freedom, cause, &x->drive, W);
    return by_wrench(x, joint, mu, W);
}

/* dF by the place, or the rate, of a motor: wrenches W on the frames of its joint, of which R has -F^T W, and rows of
 * the joint. */
typedef struct {
    double W[12];
    const bo_mb_joint *joint;
    int32_t row_count;
    double rows[BO_MB_MOST_ROWS];
} motor_share;

static motor_share share_of_motor(bo_mb_linear *x, int32_t motor, bool rate) {
    const bough_motor_def *def = &x->model->def.motors[motor];
    motor_share share = {.joint = &x->model->joints[def->joint]};
    if (isfinite(def->stiffness)) {
        bo_mb_wrench_by(x->model, &x->work, share.joint, def->freedom,
                        rate ? BO_MB_BY_MOTOR_RATE : BO_MB_BY_MOTOR_PLACE, &x->drive, share.W);
        return share;
    }
    bo_mb_rows *rows = &x->work.rows;
    bo_mb_joint_rows(x->model, &x->work, def->joint, &x->drive, x->at.lambda, true, rows);
    const bool slides = bo_joint_slides(share.joint->kind, def->freedom);
    if (!slides && !rate)
        memcpy(share.W, rows->W_by_motor, sizeof share.W);
    share.row_count = rows->count;
    for (int32_t i = 0; i < rows->count; i++) {
        bool moves = false; /* a row of a slide: of two exact motors on one joint, one slides and one turns */
        for (int k = 0; k < 3; k++)
            moves = moves || rows->G[i][6 + k] != 0;
        share.rows[i] = moves != slides ? 0 : rate ? rows->by_motor_rate[i] : rows->by_motor[i];
    }
    return share;
}

void bo_mb_linear_by_motor(bo_mb_linear *x, int32_t motor, const double *mu, double *by_place, double *by_rate) {
    double *const to[2] = {by_place, by_rate};
    for (int k = 0; k < 2; k++) {
        const motor_share share = share_of_motor(x, motor, k == 1);
        *to[k] = by_wrench(x, share.joint, mu, share.W);
        for (int32_t i = 0; i < share.row_count; i++)
            *to[k] += mu[x->model->nv + share.joint->row + i] * share.rows[i];
    }
}

void bo_mb_linear_add_motor(bo_mb_linear *x, int32_t motor, bool rate, double *dF) {
    const motor_share share = share_of_motor(x, motor, rate);
    for (int f = 0; f < 2; f++)
        bo_mb_push_frame(x->model, &x->work, share.joint->frames[f], -1, share.W + 6 * f, dF);
    for (int32_t i = 0; i < share.row_count; i++)
        dF[x->model->nv + share.joint->row + i] += share.rows[i];
}

static double by_part(const bo_mb_linear *x, const bough_multibody_parameter *p, const double *mu) {
    const bo_mb_part *part = &x->model->parts[p->index];
    const bo_mb_shape *shape = &x->work.shapes[p->index];
    const double *v = x->at.v + part->first;
    double sum = 0;
    for (int32_t l = 0; l < part->r; l++) {
        double row = p->kind == BOUGH_MULTIBODY_YOUNG          ? shape->gradient[l] + part->beta * shape->Kv[l]
                     : p->kind == BOUGH_MULTIBODY_DAMPING_MASS ? 0
                                                               : part->strength * shape->Kv[l];
        for (int32_t k = 0; k < part->r && p->kind == BOUGH_MULTIBODY_DAMPING_MASS; k++)
            row += part->M[part->r * l + k] * v[k];
        sum += mu[part->first + l] * row;
    }
    return sum;
}

static double by_mass(const bo_mb_linear *x, int32_t b, const double *mu) {
    const bo_vec3 c = bo_load3(x->model->def.bodies[b].centre);
    const bo_mb_body unit = {1, c, bo_mat_sub(bo_mat_scale(bo_dot(c, c), bo_identity3()), bo_outer(c, c))};
    const bo_mat3 R = x->work.R[b];
    const bo_vec3 a0 = bo_mat_tvec(R, bo_sub(bo_load3(x->a + 6 * b), bo_load3(x->at.gravity)));
    bo_vec3 force, torque;
    bo_mb_body_inertia(&unit, bo_mat_tvec(R, bo_load3(x->at.v + 6 * b + 3)), a0,
                       bo_mat_tvec(R, bo_load3(x->a + 6 * b + 3)), &force, &torque);
    return bo_dot(bo_load3(mu + 6 * b), bo_mat_vec(R, force)) + bo_dot(bo_load3(mu + 6 * b + 3), bo_mat_vec(R, torque));
}

double bo_mb_linear_by_parameter(bo_mb_linear *x, const bough_multibody_parameter *p, const double *mu) {
    const bough_multibody *model = x->model;
    switch (p->kind) {
    case BOUGH_MULTIBODY_YOUNG:
    case BOUGH_MULTIBODY_DAMPING_MASS:
    case BOUGH_MULTIBODY_DAMPING_STIFFNESS:
        return by_part(x, p, mu);
    case BOUGH_MULTIBODY_MASS:
        return by_mass(x, p->index, mu);
    case BOUGH_MULTIBODY_JOINT_STIFFNESS:
        return by_cause(x, &model->joints[p->index], p->freedom, BO_MB_BY_STIFFNESS, mu);
    case BOUGH_MULTIBODY_JOINT_DAMPING:
        return by_cause(x, &model->joints[p->index], p->freedom, BO_MB_BY_DAMPING, mu);
    case BOUGH_MULTIBODY_MOTOR_STIFFNESS:
    case BOUGH_MULTIBODY_MOTOR_DAMPING: {
        const bough_motor_def *motor = &model->def.motors[p->index];
        return by_cause(x, &model->joints[motor->joint], motor->freedom,
                        p->kind == BOUGH_MULTIBODY_MOTOR_STIFFNESS ? BO_MB_BY_MOTOR_STIFFNESS : BO_MB_BY_MOTOR_DAMPING,
                        mu);
    }
    case BOUGH_MULTIBODY_SHAPE:
    case BOUGH_MULTIBODY_PARAMETER_KIND_COUNT:
        break;
    }
    return 0;
}

double bo_mb_residual_along(bo_mb_linear *x, const bo_mb_moment *at, bool equilibrium, const double *mu) {
    const bough_multibody *model = x->model;
    double sum = 0;
    if (!evaluate(x, at))
        return NAN;
    for (int32_t i = 0; i < model->nv; i++)
        sum += mu[i] * x->R[i];
    for (int32_t j = 0; j < model->joint_count; j++)
        for (int32_t i = 0; i < model->joints[j].row_count; i++) { /* softness of redundant rows is no shape */
            const int32_t row = model->joints[j].row + i;
            const double rate = x->rate[row] - model->joints[j].soft[i] * at->lambda[row];
            sum += mu[model->nv + row] * (equilibrium ? x->c[row] : rate + model->def.baumgarte * x->c[row]);
        }
    return sum;
}
