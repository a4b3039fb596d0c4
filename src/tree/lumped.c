/* Lumped couplings (Barbic and Zhao 2011): a part feels the rest of its subtree as a mass in the interface (L1), a mass
 * in its centre of mass (L2) or a rigid body (L2R). docs/theory/tree.md, "Coupling". */
#include "tree/couple.h"

#include "dense/cholesky.h"

#include <string.h>

/* Bias force of a rigid body [m 1, -mc~; mc~, I] that turns with w: [w x (w x mc); w x I w], added to p. */
static void add_turning(const double I[36], bo_vec3 w, double p[6]) {
    const bo_vec3 mc = {I[6 * 5 + 1], I[6 * 3 + 2], I[6 * 4 + 0]}; /* of mc~ = [. -z y; z . -x; -y x .] */
    bo_mat3 about;
    for (int k = 0; k < 9; k++)
        about.m[k] = I[6 * (3 + k / 3) + 3 + k % 3];
    bo_store3(p, bo_add(bo_load3(p), bo_cross(w, bo_cross(w, mc))));
    bo_store3(p + 3, bo_add(bo_load3(p + 3), bo_cross(w, bo_mat_vec(about, w))));
}

void bo_tree_compose(const bough_model *model, bo_tree_work *work) {
    for (int32_t i = 0; i < model->part_count; i++)
        for (int k = 0; k < 6; k++)
            work->solve[i].p[k] = -work->load_wrench[6 * i + k];
    for (int32_t j = model->part_count - 1; j >= 0; j--) {
        const int32_t i = model->parts[j].parent;
        const bo_tree_motion *m = &work->motion[j];
        if (i >= 0) {
            double I[36], p[6];
            bo_tree_turn(m->R, work->solve[j].I, I);
            bo_store3(p, bo_mat_vec(m->R, bo_load3(work->solve[j].p)));
            bo_store3(p + 3, bo_mat_vec(m->R, bo_load3(work->solve[j].p + 3)));
            bo_tree_shift(m->x, I, p);
            for (int k = 0; k < 36; k++)
                work->solve[i].I[k] += I[k];
            for (int k = 0; k < 6; k++)
                work->solve[i].p[k] += p[k];
        }
        add_turning(work->solve[j].I, m->w, work->solve[j].p);
    }
}

/* What the subtree of part j looks like to its parent, as an inertia and a bias force. */
static void lump(bough_coupling coupling, const bo_tree_solve_state *s, bo_vec3 w, double I[36], double p[6]) {
    memcpy(I, s->I, 36 * sizeof *I);
    memcpy(p, s->p, 6 * sizeof *p);
    if (coupling == BOUGH_COUPLING_L2R)
        return;
    /* the forces on the subtree alone: p without the turning of a rigid body */
    double turning[6] = {0};
    add_turning(s->I, w, turning);
    for (int k = 0; k < 6; k++)
        p[k] -= turning[k];
    const double m = s->I[0], mc[3] = {I[6 * 5 + 1], I[6 * 3 + 2], I[6 * 4 + 0]};
    if (coupling == BOUGH_COUPLING_L1) {
        for (int k = 0; k < 36; k++)
            I[k] = k % 7 == 0 && k < 18 ? m : 0;
        p[3] = p[4] = p[5] = 0;
        return;
    }
    double square = mc[0] * mc[0] + mc[1] * mc[1] + mc[2] * mc[2];
    for (int k = 0; k < 9; k++) /* of a point: (c.c 1 - c c^T) m */
        I[6 * (3 + k / 3) + 3 + k % 3] = ((k % 4 == 0 ? square : 0) - mc[k / 3] * mc[k % 3]) / m;
    add_turning(I, w, p);
}

/* L a = -(p_q + Mrq^T A) */
static bool solve_part(const bough_model *model, bo_tree_work *work, int32_t i, double *a) {
    const bo_tree_part *part = &model->parts[i];
    const int32_t r = part->r;
    const double *Mrq = work->Mrq + 6 * part->offset, *p_q = work->p_q + part->offset, *A = work->solve[i].A;
    double *L = work->L + work->square_offset[i], *ai = a + part->offset;
    if (r == 0)
        return true;
    for (int32_t l = 0; l < r; l++)
        ai[l] = -p_q[l];
    for (int d = 0; d < 6; d++)
        for (int32_t l = 0; l < r; l++)
            ai[l] -= Mrq[d * r + l] * A[d];
    if (!bo_cholesky_factor(r, L))
        return false;
    bo_cholesky_solve(r, L, ai);
    return true;
}

bool bo_tree_solve_lumped(const bough_model *model, bo_tree_work *work, double *a) {
    for (int32_t j = 0; j < model->part_count; j++)
        if (model->parts[j].parent >= 0) {
            double I[36], p[6];
            lump(model->def.coupling, &work->solve[j], work->motion[j].w, I, p);
            bo_tree_hang(model, work, j, I, p);
        }
    for (int32_t i = 0; i < model->part_count; i++) {
        if (model->parts[i].parent >= 0)
            bo_tree_accelerate_frame(model, work, i, a);
        if (!solve_part(model, work, i, a))
            return false;
    }
    return true;
}
