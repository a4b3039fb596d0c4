/* The residual of the whole, and its derivative as a matrix of blocks. docs/theory/multibody.md, "The system". */
#include "multibody/multibody.h"

#include <string.h>

#define SOFT_STEP 1e-3 /* s */

static bo_quat quaternion_at(const double *u, int32_t body) {
    const double *q = u + 7 * body + 3;
    return (bo_quat){q[0], q[1], q[2], q[3]};
}

void bo_mb_advance(const bough_multibody *model, const double *base, double h, const double *v, double *u) {
    for (int32_t b = 0; b < model->body_count; b++) {
        const double *from = base + 7 * b, *rate = v + 6 * b;
        double *to = u + 7 * b;
        for (int k = 0; k < 3; k++)
            to[k] = from[k] + h * rate[k];
        const bo_vec3 half = bo_scale(0.5 * h, bo_load3(rate + 3));
        const double scale = 1 / (1 + bo_dot(half, half));
        const bo_quat inverse = {scale, scale * half.x, scale * half.y, scale * half.z};
        const bo_quat q = bo_quat_mul(inverse, quaternion_at(base, b));
        to[3] = q.w, to[4] = q.x, to[5] = q.y, to[6] = q.z;
    }
    for (int32_t i = 6 * model->body_count; i < model->nv; i++)
        u[i + model->body_count] = base[i + model->body_count] + h * v[i];
}

double bo_mb_length_of(const bough_multibody *model, const double *x) {
    double most = 0, sum = 0;
    for (int32_t i = 0; i < model->nv; i++) {
        const double size = fabs(x[i]) / model->units[i];
        most = size > most ? size : most, sum += size;
    }
    return isfinite(sum) ? most : INFINITY;
}

/* ---- residual ---- */

static void put_force(double *R, int32_t body, bo_vec3 force, bo_vec3 torque) {
    double *to = R + 6 * body;
    bo_store3(to, bo_add(bo_load3(to), force));
    bo_store3(to + 3, bo_add(bo_load3(to + 3), torque));
}

static void body_motion(const bo_mb_work *work, int32_t body, const double *v, const double *a, const double *gravity,
                        bo_vec3 *w, bo_vec3 *a0, bo_vec3 *alpha) {
    const bo_vec3 g = bo_load3(gravity);
    if (body < 0) {
        *w = *alpha = bo_v3(0, 0, 0), *a0 = bo_scale(-1, g);
        return;
    }
    const bo_mat3 R = work->R[body];
    *w = bo_mat_tvec(R, bo_load3(v + 6 * body + 3));
    *a0 = bo_mat_tvec(R, bo_sub(bo_load3(a + 6 * body), g));
    *alpha = bo_mat_tvec(R, bo_load3(a + 6 * body + 3));
}

static bool add_inertia(const bough_multibody *model, bo_mb_work *work, const bo_mb_drive *drive, const double *u,
                        const double *v, const double *a, double *R) {
    bo_vec3 w, a0, alpha, force, torque;
    for (int32_t b = 0; b < model->body_count; b++) {
        body_motion(work, b, v, a, drive->gravity, &w, &a0, &alpha);
        bo_mb_body_inertia(&model->bodies[b], w, a0, alpha, &force, &torque);
        put_force(R, b, bo_mat_vec(work->R[b], force), bo_mat_vec(work->R[b], torque));
    }
    for (int32_t p = 0; p < model->def.part_count; p++) {
        const bo_mb_part *part = &model->parts[p];
        bo_mb_shape *shape = &work->shapes[p];
        const double *x = u + part->first + model->body_count, *rate = v + part->first;
        body_motion(work, part->body, v, a, drive->gravity, &shape->w, &shape->a0, &shape->alpha);
        if (part->full) {
            bo_mb_full_look(part, x, rate, &work->full[p]);
            if (!bo_mb_full_forces(part, &work->full[p], x, rate, a + part->first, shape, R + part->first))
                return false;
        } else {
            bo_mb_shape_at(part, x, rate, shape);
            if (!bough_component_product(part->component, x, rate, work->element, shape->gradient, shape->Kv))
                return false;
            bo_mb_part_forces(part, rate, a + part->first, shape, R + part->first);
        }
        if (part->body >= 0)
            put_force(R, part->body, bo_mat_vec(work->R[part->body], shape->force),
                      bo_mat_vec(work->R[part->body], shape->torque));
    }
    return true;
}

static bool place_frames(const bough_multibody *model, bo_mb_work *work, const double *u, const double *v) {
    for (int32_t f = 0; f < model->face_count; f++) {
        const int32_t p = model->faces[f].part;
        if (!bo_mb_turn_at(&model->faces[f], model->parts[p].seen, bo_mb_seen(model, work, p, u), &work->turns[f]))
            return false;
    }
    for (int32_t f = 0; f < model->frame_count; f++)
        bo_mb_place_at(model, work, f, u, v, &work->places[f]);
    return true;
}

bool bo_mb_evaluate(const bough_multibody *model, bo_mb_work *work, const bo_mb_drive *drive, const double *u,
                    const double *v, const double *a, const double *lambda, double *R, double *c, double *rate) {
    for (int32_t b = 0; b < model->body_count; b++)
        work->R[b] = bo_quat_to_matrix(quaternion_at(u, b));
    memset(R, 0, (size_t)model->nv * sizeof *R);
    if (!add_inertia(model, work, drive, u, v, a, R) || !place_frames(model, work, u, v))
        return false;
    for (int32_t i = 0; i < model->nv; i++)
        R[i] -= drive->force[i] + drive->push[i];
    bo_mb_rows *rows = &work->rows;
    for (int32_t j = 0; j < model->joint_count; j++) {
        const bo_mb_joint *joint = &model->joints[j];
        bo_mb_joint_rows(model, work, j, drive, lambda, false, rows);
        bo_mb_joint_springs(model, work, joint, drive, false, rows);
        for (int32_t f = 0; f < joint->frame_count; f++)
            bo_mb_push_frame(model, work, joint->frames[f], -1, rows->W + 6 * f, R);
        for (int32_t i = 0; i < rows->count; i++) {
            c[joint->row + i] = rows->c[i];
            rate[joint->row + i] = rows->rate[i] + joint->soft[i] * lambda[joint->row + i];
        }
    }
    for (int32_t p = 0; p < model->def.part_count; p++)
        if (model->parts[p].full)
            bo_mb_full_finish(&model->parts[p], &work->full[p], R + model->parts[p].first);
    return true;
}

bool bo_mb_look(const bough_multibody *model, bo_mb_work *work, const bo_mb_drive *drive, const double *u,
                const double *v, const double *lambda, double *c, double *rate) {
    for (int32_t b = 0; b < model->body_count; b++)
        work->R[b] = bo_quat_to_matrix(quaternion_at(u, b));
    for (int32_t p = 0; p < model->def.part_count; p++) {
        const bo_mb_part *part = &model->parts[p];
        const double *x = u + part->first + model->body_count, *rates = v + part->first;
        if (part->full)
            bo_mb_full_look(part, x, rates, &work->full[p]);
        else
            bo_mb_shape_at(part, x, rates, &work->shapes[p]);
    }
    if (!place_frames(model, work, u, v))
        return false;
    for (int32_t j = 0; j < model->joint_count; j++) {
        bo_mb_joint_rows(model, work, j, drive, lambda, false, &work->rows);
        memcpy(c + model->joints[j].row, work->rows.c, (size_t)work->rows.count * sizeof *c);
        memcpy(rate + model->joints[j].row, work->rows.rate, (size_t)work->rows.count * sizeof *rate);
    }
    return true;
}

/* ---- matrix ---- */

/* A rows x columns piece of an element's matrix, at M, goes to the block (i, j). */
static void add_piece(bo_block_lu *lu, int32_t i, int32_t j, int32_t rows, int32_t columns, double s, const double *M,
                      int32_t stride) {
    int32_t to_stride;
    double *to = bo_block_lu_at(lu, i, j, &to_stride);
    for (int32_t a = 0; a < rows; a++)
        for (int32_t b = 0; b < columns; b++)
            to[(int64_t)to_stride * a + b] += s * M[(int64_t)stride * a + b];
}

/* M (6 x 6 at the start of a matrix of n) from the body's axes to the world's, rows and columns; likewise what stands
 * to its right and below. */
static void turn_element(bo_mat3 R, int32_t n, double *T) {
    for (int32_t i = 0; i < 6; i += 3)
        for (int32_t j = 0; j < n; j++) {
            const bo_vec3 x = bo_mat_vec(R, bo_v3(T[n * i + j], T[n * (i + 1) + j], T[n * (i + 2) + j]));
            T[n * i + j] = x.x, T[n * (i + 1) + j] = x.y, T[n * (i + 2) + j] = x.z;
        }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < 6; j += 3)
            bo_store3(T + n * i + j, bo_mat_vec(R, bo_load3(T + n * i + j)));
}

typedef struct {
    const bough_multibody *model;
    bo_mb_work *work;
    const bo_mb_drive *drive;
    const double *u, *v, *a, *lambda;
    double ca, cv, cq, h, alpha;
    bool positions;
} assembly;

static void add_masses(const assembly *s) {
    const bough_multibody *model = s->model;
    bo_mb_work *work = s->work;
    bo_vec3 w, a0, alpha;
    for (int32_t b = 0; b < model->body_count; b++) {
        double T[36];
        body_motion(work, b, s->v, s->a, s->drive->gravity, &w, &a0, &alpha);
        bo_mb_body_tangent(&model->bodies[b], w, a0, alpha, s->ca, s->cv, s->cq, bo_mb_turn_by_spin(s->h, w), T);
        turn_element(work->R[b], 6, T);
        add_piece(&work->lu, model->body_block[b], model->body_block[b], 6, 6, 1, T, 6);
    }
    for (int32_t p = 0; p < model->def.part_count; p++) {
        const bo_mb_part *part = &model->parts[p];
        bo_mb_shape *shape = &work->shapes[p];
        const int32_t r = part->r, n = 6 + r;
        double *T = work->blocks;
        const double *x = s->u + part->first + model->body_count;
        if (part->full) {
            work->sound = bo_mb_full_tangent(model, work, p, x, s->v + part->first, s->a + part->first, s->ca, s->cv,
                                             s->cq, s->h) &&
                          work->sound;
            continue;
        }
        if (s->cv != 0 || s->cq != 0)
            bough_component_evaluate(part->component, x, work->element, NULL, NULL, shape->K);
        else
            memset(shape->K, 0, (size_t)(r * r) * sizeof *shape->K);
        if (s->cq != 0)
            bo_mb_damping_change(part, x, s->v + part->first, work->way, work->element, T, shape);
        else
            memset(shape->dK, 0, (size_t)(r * r) * sizeof *shape->dK);
        bo_mb_part_tangent(part, s->v + part->first, s->a + part->first, shape, s->ca, s->cv, s->cq,
                           bo_mb_turn_by_spin(s->h, shape->w), T);
        const int32_t own = model->part_block[p];
        add_piece(&work->lu, own, own, r, r, 1, T + n * 6 + 6, n);
        if (part->body < 0)
            continue;
        const int32_t body = model->body_block[part->body];
        turn_element(work->R[part->body], n, T);
        add_piece(&work->lu, body, body, 6, 6, 1, T, n);
        add_piece(&work->lu, body, own, 6, r, 1, T + 6, n);
        add_piece(&work->lu, own, body, r, 6, 1, T + 6 * n, n);
    }
}

/* Columns of turns times gamma; all times cq. */
static void scale_displacements(const assembly *s, int32_t frame, int32_t rows, int32_t n, double *M) {
    const int32_t body = s->model->frames[frame].body;
    const bo_mat3 gamma = body < 0 ? bo_identity3() : bo_mb_turn_by_spin(s->h, bo_load3(s->v + 6 * body + 3));
    for (int32_t i = 0; i < rows; i++) {
        double *row = M + (int64_t)n * i;
        bo_store3(row + 3, bo_mat_tvec(gamma, bo_load3(row + 3)));
        for (int32_t k = 0; k < n; k++)
            row[k] *= s->cq;
    }
}

typedef struct {
    int32_t n;          /* 6 + r */
    int32_t body, part; /* blocks; -1: none */
    double *F, *X, *Y;  /* 6 x n: the frame's map, and its displacement and twist by z */
} carrier;

static void add_to_carriers(bo_block_lu *lu, const carrier *f, const carrier *g, double scale, const double *M) {
    const int32_t blocks_f[2] = {f->body, f->part}, blocks_g[2] = {g->body, g->part};
    const int32_t at[2] = {0, 6}, rows_f[2] = {6, f->n - 6}, rows_g[2] = {6, g->n - 6};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            if (blocks_f[i] >= 0 && blocks_g[j] >= 0)
                add_piece(lu, blocks_f[i], blocks_g[j], rows_f[i], rows_g[j], scale, M + at[i] * g->n + at[j], g->n);
}

/* T (6 x n) += s row i of M (6 x n), for all entries s of a 6 x 6 piece; most are zero. */
static bool add_rows(int32_t n, const double piece[6][6], const double *M, double *T) {
    bool any = false;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            const double s = piece[i][j];
            if (s == 0)
                continue;
            any = true;
            for (int32_t k = 0; k < n; k++)
                T[n * i + k] += s * M[n * j + k];
        }
    return any;
}

static void take_piece(double from[][BO_MB_MOST_SPACE], int32_t f, int32_t g, double piece[6][6]) {
    for (int i = 0; i < 6; i++)
        memcpy(piece[i], &from[6 * f + i][6 * g], sizeof piece[i]);
}

/* -F_f^T (H_fg X_g + E_fg Y_g) */
static void add_wrench_change(const assembly *s, bo_mb_rows *rows, bool springs, int32_t f, int32_t g,
                              const carrier *of_f, const carrier *of_g, double *T, double *M) {
    const int32_t n = of_g->n;
    double piece[6][6];
    memset(T, 0, (size_t)(6 * n) * sizeof *T);
    take_piece(rows->H, f, g, piece);
    bool any = s->cq != 0 && add_rows(n, (const double(*)[6])piece, of_g->X, T);
    if (springs) {
        take_piece(rows->E, f, g, piece);
        any = add_rows(n, (const double(*)[6])piece, of_g->Y, T) || any;
    }
    if (!any)
        return;
    memset(M, 0, (size_t)(of_f->n * n) * sizeof *M);
    for (int i = 0; i < 6; i++)
        for (int32_t l = 0; l < of_f->n; l++) {
            const double F = of_f->F[of_f->n * i + l];
            if (F == 0)
                continue;
            for (int32_t k = 0; k < n; k++)
                M[n * l + k] += F * T[n * i + k];
        }
    add_to_carriers(&s->work->lu, of_f, of_g, -1, M);
}

/* Rows and columns of the multipliers. */
static void add_constraints(const assembly *s, const bo_mb_rows *rows, int32_t block, int32_t f, const carrier *c,
                            double *M) {
    const int32_t blocks[2] = {c->body, c->part}, at[2] = {0, 6}, sizes[2] = {6, c->n - 6};
    for (int32_t i = 0; i < rows->count; i++)
        for (int32_t k = 0; k < c->n; k++) {
            double sum = 0;
            for (int j = 0; j < 6; j++) {
                const int32_t e = 6 * f + j, at_k = c->n * j + k;
                sum += s->positions
                           ? rows->C[i][e] * c->F[at_k]
                           : rows->G[i][e] * c->Y[at_k] + (rows->D[i][e] + s->alpha * rows->C[i][e]) * c->X[at_k];
            }
            M[c->n * i + k] = sum;
        }
    for (int b = 0; b < 2; b++)
        if (blocks[b] >= 0)
            add_piece(&s->work->lu, block, blocks[b], rows->count, sizes[b], 1, M + at[b], c->n);
    for (int32_t k = 0; k < c->n; k++)
        for (int32_t i = 0; i < rows->count; i++) {
            double sum = 0;
            for (int j = 0; j < 6; j++)
                sum += c->F[c->n * j + k] * rows->G[i][6 * f + j];
            M[rows->count * k + i] = sum;
        }
    for (int b = 0; b < 2; b++)
        if (blocks[b] >= 0)
            add_piece(&s->work->lu, blocks[b], block, sizes[b], rows->count, -1, M + rows->count * at[b], rows->count);
}

static carrier carrier_of(const assembly *s, int32_t frame, double *memory) {
    const bough_multibody *model = s->model;
    const int32_t part = bo_mb_frame_part(model, frame), body = model->frames[frame].body;
    const int32_t n = 6 + (part < 0 ? 0 : model->parts[part].seen);
    carrier c = {n,
                 body < 0 ? -1 : model->body_block[body],
                 part < 0 ? -1 : model->part_block[part],
                 memory,
                 memory + 6 * n,
                 memory + 12 * n};
    bo_mb_frame_map(model, s->work, frame, c.F);
    if (s->cq != 0) {
        memcpy(c.X, c.F, (size_t)(6 * n) * sizeof *c.X);
        scale_displacements(s, frame, 6, n, c.X);
        bo_mb_frame_rate(model, s->work, frame, s->v, c.Y);
        scale_displacements(s, frame, 6, n, c.Y);
    } else /* X and Y */
        memset(c.X, 0, (size_t)(12 * n) * sizeof *c.X);
    for (int32_t i = 0; i < 6 * n; i++)
        c.Y[i] += s->cv * c.F[i];
    return c;
}

static void add_joint(const assembly *s, int32_t j) {
    const bough_multibody *model = s->model;
    const bo_mb_joint *joint = &model->joints[j];
    bo_mb_work *work = s->work;
    bo_mb_rows *rows = &work->rows;
    carrier carriers[BO_MB_MOST_FRAMES];
    double *M = work->blocks; /* the first part is scratch of bo_mb_frame_rate() */
    const int32_t room = model->room;
    double *maps = work->blocks + (int64_t)room * room, *T = maps + (int64_t)18 * room * BO_MB_MOST_FRAMES;
    bo_mb_joint_rows(model, work, j, s->drive, s->lambda, true, rows);
    bo_mb_joint_springs(model, work, joint, s->drive, true, rows);
    for (int32_t f = 0; f < joint->frame_count; f++)
        carriers[f] = carrier_of(s, joint->frames[f], maps + (int64_t)18 * room * f);
    for (int32_t f = 0; f < joint->frame_count; f++) {
        if (s->cq != 0) {
            bo_mb_frame_stiffness(model, work, joint->frames[f], rows->W + 6 * f, M);
            scale_displacements(s, joint->frames[f], carriers[f].n, carriers[f].n, M);
            add_to_carriers(&work->lu, &carriers[f], &carriers[f], -1, M);
        }
        for (int32_t g = 0; g < joint->frame_count && (s->cq != 0 || joint->springs); g++)
            add_wrench_change(s, rows, joint->springs, f, g, &carriers[f], &carriers[g], T, M);
        if (rows->count > 0)
            add_constraints(s, rows, model->joint_block[j], f, &carriers[f], M);
    }
    /* Rows of positions are as soft against inertia as those of velocities are in a step of SOFT_STEP. */
    const double soft = s->positions && s->ca > 0 ? 1 / (SOFT_STEP * s->ca) : 1;
    for (int32_t i = 0; i < rows->count; i++) {
        int32_t stride;
        bo_block_lu_at(&work->lu, model->joint_block[j], model->joint_block[j], &stride)[(int64_t)stride * i + i] +=
            soft * joint->soft[i];
    }
}

void bo_mb_tangent(const bough_multibody *model, bo_mb_work *work, const bo_mb_drive *drive, const double *u,
                   const double *v, const double *a, const double *lambda, double ca, double cv, double cq, double h,
                   double alpha, bool positions) {
    const assembly s = {model, work, drive, u, v, a, lambda, ca, cv, cq, h, alpha, positions};
    bo_block_lu_clear(&work->lu);
    work->sound = true;
    add_masses(&s);
    for (int32_t j = 0; j < model->joint_count; j++)
        add_joint(&s, j);
}

void bo_mb_mass(const bough_multibody *model, bo_mb_work *work, const bo_mb_drive *drive, const double *u,
                const double *v, const double *a, double scale) {
    const assembly s = {.model = model, .work = work, .drive = drive, .u = u, .v = v, .a = a, .ca = scale};
    bo_block_lu_clear(&work->lu);
    add_masses(&s);
}

bool bo_mb_factor(bo_mb_work *work) {
    work->lu.stuck = -1;
    return work->sound && bo_block_lu_factor(&work->lu);
}

void bo_mb_solve(const bough_multibody *model, bo_mb_work *work, const double *b, const double *d, double *x,
                 double *y) {
    for (int32_t i = 0; i < model->nv; i++)
        work->rhs[model->place[i]] = b[i];
    for (int32_t i = 0; i < model->nc; i++)
        work->rhs[model->place[model->nv + i]] = d[i];
    for (int32_t p = 0; p < model->def.part_count; p++)
        if (model->parts[p].full)
            bo_mb_full_before(model, work, p, b + model->parts[p].first);
    bo_block_lu_solve(&work->lu, work->rhs);
    for (int32_t i = 0; i < model->nv; i++)
        x[i] = work->rhs[model->place[i]];
    for (int32_t i = 0; i < model->nc; i++)
        y[i] = work->rhs[model->place[model->nv + i]];
    for (int32_t p = 0; p < model->def.part_count; p++)
        if (model->parts[p].full)
            bo_mb_full_after(model, work, p, x + model->parts[p].first);
}

void bo_mb_keep_coordinates(const bough_multibody *model, bo_mb_work *work) {
    for (int32_t j = 0; j < model->def.joint_count; j++) {
        const bo_mb_joint *joint = &model->joints[j];
        if (joint->kind == BOUGH_JOINT_BALL || joint->kind == BOUGH_JOINT_COMPLIANT || joint->kind == BOUGH_JOINT_FREE)
            continue;
        for (int k = 0; k < bough_joint_freedoms(joint->kind); k++) {
            double *kept = &work->coordinates[model->coordinate_first[j] + k];
            bo_mb_coordinate y;
            bo_mb_coordinate_at(joint->kind, k, &work->places[joint->frames[0]], &work->places[joint->frames[1]], *kept,
                                false, &y);
            *kept = y.value;
        }
    }
}
