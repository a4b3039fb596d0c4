/* Answers of accelerations to forces that come after they were solved for: the recursion of couple.c once more with the
 * factors that it left, for right-hand sides alone. docs/theory/tree.md, "Ties". */
#include "tree/couple.h"

#include "dense/cholesky.h"

#include <string.h>

/* Factors that the exact coupling left of a part: L (unit, with 1 / D on its diagonal) and Z = L^-1 Mrq^T, by lanes. */
typedef struct {
    const double *L, *Z;
    int32_t r, n, lanes, lane;
} factors;

static factors factors_of(const bough_tree_model *model, const bo_tree_work *work, const bo_tree_part *part) {
    const bo_tree_block *b = &model->blocks[part->block];
    return (factors){work->L + b->squares, work->Z + 8 * b->vectors, b->r, b->n, b->lanes, part->lane};
}

static double L_at(const factors *f, int32_t i, int32_t j) {
    return f->L[f->lanes == 1 ? (ptrdiff_t)i * f->n + j : (ptrdiff_t)BO_WIDE * (i * (i + 1) / 2 + j) + f->lane];
}
static double Z_at(const factors *f, int32_t l, int d) {
    return f->Z[f->lanes == 1 ? 8 * l + d : BO_WIDE * (8 * l + d) + f->lane];
}

static void forward(const factors *f, double *x) {
    for (int32_t i = 0; i < f->r; i++)
        for (int32_t j = 0; j < i; j++)
            x[i] -= L_at(f, i, j) * x[j];
}
static void back(const factors *f, double *x) {
    for (int32_t i = f->r - 1; i >= 0; i--)
        for (int32_t j = 0; j < i; j++)
            x[j] -= L_at(f, i, j) * x[i];
}

void bo_tree_face_forces(const bough_tree_model *model, const bo_tree_work *work, const bo_tree_part *part,
                         int32_t face, int32_t face_row, bo_vec3 force, bo_vec3 torque, double *p_q) {
    const bo_component_tables *t = &model->components[part->component];
    const bo_face_rows *rows = &t->faces[face_row];
    const bo_tree_faces *at = &work->faces[face / 4];
    double f[3], m[3], rate[9];
    bo_store3(f, bo_scale(part->scale, force));
    bo_store3(m, torque);
    for (int k = 0; k < 9; k++)
        rate[k] = BO_LANE_CONST(at->Op[k], face % 4) * m[0] + BO_LANE_CONST(at->Op[9 + k], face % 4) * m[1] +
                  BO_LANE_CONST(at->Op[18 + k], face % 4) * m[2];
    for (int32_t l = 0; l < part->r; l++) {
        double sum = f[0] * rows->a[l] + f[1] * rows->a[t->n + l] + f[2] * rows->a[2 * t->n + l];
        for (int k = 0; k < 9; k++)
            sum += rate[k] * rows->A[k * t->n + l];
        p_q[l] += sum;
    }
}

void bo_tree_face_gain(const bough_tree_model *model, const bo_tree_work *work, const bo_tree_part *part, int32_t face,
                       int32_t face_row, const double *a, bo_vec3 *gain, bo_vec3 *turn) {
    const bo_component_tables *t = &model->components[part->component];
    const bo_face_rows *rows = &t->faces[face_row];
    const bo_tree_faces *at = &work->faces[face / 4];
    double x[3] = {0}, rate[9] = {0}, w[3] = {0};
    for (int32_t l = 0; l < part->r; l++) {
        for (int k = 0; k < 3; k++)
            x[k] += rows->a[k * t->n + l] * a[l];
        for (int k = 0; k < 9; k++)
            rate[k] += rows->A[k * t->n + l] * a[l];
    }
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < 9; k++)
            w[d] += BO_LANE_CONST(at->Op[9 * d + k], face % 4) * rate[k];
    *gain = bo_scale(part->scale, bo_load3(x));
    *turn = bo_load3(w);
}

static bo_vec3 arm_of(const bough_tree_model *model, const bo_tree_work *work, const bo_tree_part *part) {
    return model->slots[part->slot / 4].shifted ? bo_vector_at(work->frames[part->slot / 4].arm, part->slot)
                                                : bo_v3(0, 0, 0);
}

void bo_tree_hand_up(const bough_tree_model *model, const bo_tree_work *work, int32_t i, double *p, double *p_q) {
    const bo_tree_part *part = &model->parts[i];
    const factors f = factors_of(model, work, part);
    double *x = p_q + part->offset, *mine = p + 6 * i;
    if (part->locked)
        memset(x, 0, (size_t)part->r * sizeof *x);
    forward(&f, x);
    for (int32_t l = 0; l < f.r; l++)
        for (int d = 0; d < 6; d++)
            mine[d] -= Z_at(&f, l, d) * L_at(&f, l, l) * x[l];
    if (part->joint >= 0) {
        const bo_tree_joint *joint = &model->joints[part->joint];
        const bo_tree_swing *swing = &work->swings[part->joint];
        double u[3] = {0};
        for (int k = 0; k < joint->count; k++) {
            for (int e = 0; e < 3; e++)
                u[k] -= swing->T[3 * e + k] * mine[3 + e];
            p_q[joint->offset + k] = u[k];
        }
        bo_cholesky_solve(joint->count, swing->D, u);
        for (int d = 0; d < 6; d++)
            for (int k = 0; k < joint->count; k++)
                mine[d] += swing->IS[3 * d + k] * u[k];
    }
    if (part->parent < 0)
        return;
    const bo_tree_part *parent = &model->parts[part->parent];
    const bo_tree_frames *frames = &work->frames[part->slot / 4];
    const bo_mat3 R = bo_matrix_at(frames->R, part->slot);
    const bo_vec3 force = bo_mat_vec(R, bo_load3(mine)), torque = bo_mat_vec(R, bo_load3(mine + 3));
    double *above = p + 6 * part->parent;
    bo_store3(above, bo_add(bo_load3(above), force));
    bo_store3(above + 3,
              bo_add(bo_load3(above + 3), bo_add(torque, bo_cross(bo_vector_at(frames->x, part->slot), force))));
    bo_tree_face_forces(model, work, parent, part->face, part->face_row, force,
                        bo_add(torque, bo_cross(arm_of(model, work, part), force)), p_q + parent->offset);
}

/* Answer of a frame: of one that hangs from its parent's, of a root that flies from its inertia. */
static void answer_frame(const bough_tree_model *model, const bo_tree_work *work, const bo_tree_part *part,
                         const double *p, const double *a, double *A, int32_t i) {
    double *mine = A + 6 * i, I[36];
    if (part->parent < 0) {
        memset(mine, 0, 6 * sizeof *mine);
        if (!part->free)
            return;
        bo_tree_unpack_six(&work->inertias[part->slot / 4], part->slot % 4, I);
        for (int d = 0; d < 6; d++)
            mine[d] = -p[6 * i + d];
        bo_cholesky_factor(6, I); /* as bo_tree_set_roots() did */
        bo_cholesky_solve(6, I, mine);
        return;
    }
    const bo_tree_frames *frames = &work->frames[part->slot / 4];
    const bo_tree_part *parent = &model->parts[part->parent];
    const double *above = A + 6 * part->parent;
    bo_vec3 gain, turn;
    bo_tree_face_gain(model, work, parent, part->face, part->face_row, a + parent->offset, &gain, &turn);
    const bo_mat3 R = bo_matrix_at(frames->R, part->slot);
    const bo_vec3 spin = bo_load3(above + 3);
    bo_vec3 move = bo_add(bo_load3(above), bo_cross(spin, bo_vector_at(frames->x, part->slot)));
    move = bo_add(move, bo_add(gain, bo_cross(turn, arm_of(model, work, part))));
    bo_store3(mine, bo_mat_tvec(R, move));
    bo_store3(mine + 3, bo_mat_tvec(R, bo_add(spin, turn)));
}

static void scatter(const bough_tree_model *model, const bo_tree_work *work, int32_t i, const double *p,
                    const double *p_q, double *A, double *a) {
    const bo_tree_part *part = &model->parts[i];
    const factors f = factors_of(model, work, part);
    double *mine = A + 6 * i, *x = a + part->offset;
    answer_frame(model, work, part, p, a, A, i);
    if (part->joint >= 0) {
        const bo_tree_joint *joint = &model->joints[part->joint];
        const bo_tree_swing *swing = &work->swings[part->joint];
        double *out = a + joint->offset;
        for (int k = 0; k < joint->count; k++) {
            out[k] = p_q[joint->offset + k];
            for (int d = 0; d < 6; d++)
                out[k] -= swing->IS[3 * d + k] * mine[d];
        }
        bo_cholesky_solve(joint->count, swing->D, out);
        for (int e = 0; e < 3; e++)
            for (int k = 0; k < joint->count; k++)
                mine[3 + e] += swing->T[3 * e + k] * out[k];
    }
    for (int32_t l = 0; l < f.r; l++) {
        double sum = p_q[part->offset + l];
        for (int d = 0; d < 6; d++)
            sum += Z_at(&f, l, d) * mine[d];
        x[l] = -L_at(&f, l, l) * sum;
    }
    back(&f, x);
    if (part->locked)
        memset(x, 0, (size_t)part->r * sizeof *x);
}

void bo_tree_respond(const bough_tree_model *model, const bo_tree_work *work, double *p, double *p_q, bool all,
                     double *A, double *a) {
    for (int32_t k = model->tied_count - 1; k >= 0; k--)
        bo_tree_hand_up(model, work, model->tied[k], p, p_q);
    for (int32_t k = 0; k < (all ? model->part_count : model->tied_count); k++)
        scatter(model, work, all ? k : model->tied[k], p, p_q, A, a);
}

size_t bo_tree_answers_size(const bough_tree_model *model) {
    return model->def.tie_count ? 12 * (size_t)model->part_count + 2 * (size_t)model->size : 0;
}
