/* Where parts are and how they move: from the root outwards. docs/theory/tree.md, "Kinematics". */
#include "tree/tree.h"

#include "base/polar.h"

/* sum_l table[row][l] q[l] for `rows` rows */
static void contract(int32_t rows, int32_t r, const double *table, const double *q, double *out) {
    for (int32_t k = 0; k < rows; k++) {
        double sum = 0;
        for (int32_t l = 0; l < r; l++)
            sum += table[k * r + l] * q[l];
        out[k] = sum;
    }
}

/* J = [a; W] (6 x r): translation and rotation of the interface by the parent's coordinates. */
static void fill_motion_map(const bo_interface_tables *face, int32_t r, double scale, const double Op[27], double *J) {
    for (int32_t d = 0; d < 3; d++)
        for (int32_t l = 0; l < r; l++)
            J[d * r + l] = scale * face->a[d * r + l];
    for (int32_t d = 0; d < 3; d++) {
        double *row = J + (3 + d) * r;
        for (int32_t l = 0; l < r; l++)
            row[l] = 0;
        for (int32_t k = 0; k < 9; k++)
            for (int32_t l = 0; l < r; l++)
                row[l] += Op[9 * d + k] * face->A[k * r + l];
    }
}

/* The place of part j in its parent i: from the polar decomposition of the interface's A(q_i). */
static bool place(const bough_model *model, bo_tree_work *work, const double *q, const double *v, int32_t j) {
    const bo_tree_part *part = &model->parts[j], *parent = &model->parts[part->parent];
    const bo_interface_tables *face = &model->components[parent->component].interfaces[part->interface];
    bo_tree_motion *m = &work->motion[j];
    const double *qi = q + parent->offset, *vi = v + parent->offset;
    double x[3], xdot[3];
    bo_mat3 A, Adot, S, Rdot, Sdot, unused;
    contract(3, parent->r, face->a, qi, x);
    contract(3, parent->r, face->a, vi, xdot);
    contract(9, parent->r, face->A, qi, A.m);
    contract(9, parent->r, face->A, vi, Adot.m);
    for (int k = 0; k < 9; k++)
        A.m[k] += face->A0[k];
    m->x = bo_scale(parent->scale, bo_add(bo_load3(face->centre), bo_load3(x)));
    m->xdot = bo_scale(parent->scale, bo_load3(xdot));
    double Op[27];
    bo_mat3 zero = {{0}};
    if (!bo_polar_warm(A, m->polar, &m->polar, &S, NULL) || !bo_polar_operator(m->polar, S, Op) ||
        !bo_polar_rates(A, m->polar, S, Adot, &m->turning, &Rdot, &Sdot) ||
        !bo_polar_accelerations(m->polar, S, Adot, zero, m->turning, Sdot, &m->turning_bias, &unused))
        return false;
    fill_motion_map(face, parent->r, parent->scale, Op, work->J + work->J_offset[j]);
    m->R = bo_mat_mul(m->polar, part->rest);
    return true;
}

/* v_j = R^T (v_i + w_i x x + xdot), w_j = R^T (w_i + turning) */
static void carry(const bo_tree_motion *i, bo_tree_motion *j) {
    j->v = bo_mat_tvec(j->R, bo_add(bo_add(i->v, bo_cross(i->w, j->x)), j->xdot));
    j->w = bo_mat_tvec(j->R, bo_add(i->w, j->turning));
    j->world = bo_mat_mul(i->world, j->R);
    j->origin = bo_add(i->origin, bo_mat_vec(i->world, j->x));
}

bool bo_tree_move(const bough_model *model, bo_tree_work *work, const double *q, const double *v) {
    for (int32_t i = 0; i < model->part_count; i++)
        if (model->parts[i].parent >= 0) {
            if (!place(model, work, q, v, i))
                return false;
            carry(&work->motion[model->parts[i].parent], &work->motion[i]);
        }
    return true;
}
