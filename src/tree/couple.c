/* Accelerations of a tree: each part feels what hangs on it. docs/theory/tree.md, "Coupling". */
#include "tree/couple.h"

#include "dense/cholesky.h"

#include <string.h>

/* ---- 6 x 6 ---- */

void bo_tree_turn(bo_mat3 R, const double *I, double *out) {
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            bo_mat3 B;
            for (int k = 0; k < 9; k++)
                B.m[k] = I[6 * (3 * a + k / 3) + 3 * b + k % 3];
            B = bo_mat_mul(bo_mat_mul(R, B), bo_transpose(R));
            for (int k = 0; k < 9; k++)
                out[6 * (3 * a + k / 3) + 3 * b + k % 3] = B.m[k];
        }
}

/* X = [1, -x~; 0, 1]: accelerations at the origin -> at x. columns of M (6 x n, row-major) <- X^T M */
static void shift_back(bo_vec3 x, int32_t n, double *M) {
    for (int32_t k = 0; k < n; k++) { /* torque += x x force */
        bo_vec3 f = bo_v3(M[k], M[n + k], M[2 * n + k]), t = bo_cross(x, f);
        M[3 * n + k] += t.x;
        M[4 * n + k] += t.y;
        M[5 * n + k] += t.z;
    }
}

void bo_tree_shift(bo_vec3 x, double I[36], double p[6]) {
    shift_back(x, 1, p);
    shift_back(x, 6, I); /* rows, then columns */
    for (int k = 0; k < 6; k++) {
        bo_vec3 t = bo_cross(x, bo_load3(I + 6 * k));
        I[6 * k + 3] += t.x, I[6 * k + 4] += t.y, I[6 * k + 5] += t.z;
    }
}

static void multiply6(const double *I, int32_t n, const double *B, double *out) {
    for (int i = 0; i < 6; i++) {
        double *row = out + i * n;
        for (int32_t k = 0; k < n; k++)
            row[k] = I[6 * i] * B[k];
        for (int j = 1; j < 6; j++)
            for (int32_t k = 0; k < n; k++)
                row[k] += I[6 * i + j] * B[j * n + k];
    }
}

/* ---- one part ---- */

/* The part as it is: Mrr into solve->I, Mrq (6 x r), and its bias forces. */
static void own_terms(const bough_model *model, bo_tree_work *work, const double *q, const double *v, int32_t i) {
    const bo_tree_part *part = &model->parts[i];
    const bo_component_tables *t = &model->components[part->component];
    const bo_tree_motion *m = &work->motion[i];
    bo_tree_solve_state *s = &work->solve[i];
    const int32_t r = part->r;
    double *Mrq = work->Mrq + 6 * part->offset, *p_q = work->p_q + part->offset;
    const double *qi = q + part->offset, *vi = v + part->offset;
    const double *V = work->V + 9 * part->offset, *N = work->N + 3 * part->offset;
    const double s3 = part->scale3, s4 = part->scale4, s5 = part->scale5;
    double mc[3], sv[3], Sigma[9], Dm[9];
    for (int d = 0; d < 3; d++) {
        mc[d] = t->c->mc0[d], sv[d] = 0;
        for (int32_t l = 0; l < r; l++)
            mc[d] += t->s[d * r + l] * qi[l], sv[d] += t->s[d * r + l] * vi[l];
    }
    for (int k = 0; k < 9; k++) {
        const double *Vk = V + k * r, *Wk = t->W5 + (3 * (k % 3) + k / 3) * r;
        Sigma[k] = t->c->Sigma0[k], Dm[k] = 0;
        for (int32_t l = 0; l < r; l++)
            Sigma[k] += qi[l] * (Vk[l] + Wk[l]), Dm[k] += vi[l] * Vk[l];
    }
    double trace = Sigma[0] + Sigma[4] + Sigma[8], rate = Dm[0] + Dm[4] + Dm[8];
    const double cross[9] = {0, -mc[2], mc[1], mc[2], 0, -mc[0], -mc[1], mc[0], 0};
    bo_mat3 I, D;
    for (int k = 0; k < 9; k++) {
        int a = k / 3, b = k % 3;
        I.m[k] = s5 * ((a == b ? trace : 0) - Sigma[k]);
        D.m[k] = s5 * ((a == b ? rate : 0) - Dm[k]);
        s->I[6 * a + b] = a == b ? s3 * t->c->mass : 0;
        s->I[6 * a + 3 + b] = -s4 * cross[k];
        s->I[6 * (3 + a) + b] = s4 * cross[k];
        s->I[6 * (3 + a) + 3 + b] = I.m[k];
    }
    for (int d = 0; d < 3; d++)
        for (int32_t l = 0; l < r; l++)
            Mrq[d * r + l] = s4 * t->s[d * r + l];
    for (int32_t l = 0; l < r; l++) { /* axial part of V */
        Mrq[3 * r + l] = s5 * (V[7 * r + l] - V[5 * r + l]);
        Mrq[4 * r + l] = s5 * (V[2 * r + l] - V[6 * r + l]);
        Mrq[5 * r + l] = s5 * (V[3 * r + l] - V[1 * r + l]);
    }
    bo_vec3 w = m->w, first = bo_scale(s4, bo_load3(mc)), flow = bo_scale(s4, bo_load3(sv));
    bo_vec3 force = bo_add(bo_cross(w, bo_cross(w, first)), bo_scale(2, bo_cross(w, flow)));
    bo_vec3 torque = bo_add(bo_cross(w, bo_mat_vec(I, w)), bo_scale(2, bo_mat_vec(D, w)));
    bo_store3(s->p, force);
    bo_store3(s->p + 3, torque);
    for (int k = 0; k < 6; k++)
        s->p[k] -= work->load_wrench[6 * i + k];
    /* (w~ w~) : V = (w w^T - |w|^2 1) : V */
    const double ww[9] = {w.x * w.x - bo_dot(w, w), w.x * w.y, w.x * w.z, w.x * w.y,
                          w.y * w.y - bo_dot(w, w), w.y * w.z, w.x * w.z, w.y * w.z,
                          w.z * w.z - bo_dot(w, w)};
    for (int32_t l = 0; l < r; l++) {
        double sum = 2 * (w.x * N[l] + w.y * N[r + l] + w.z * N[2 * r + l]);
        for (int k = 0; k < 9; k++)
            sum += ww[k] * V[k * r + l];
        p_q[l] = s5 * sum + work->p[part->offset + l] - work->load[part->offset + l];
    }
}

/* Acceleration of child j's frame that does not come from accelerations of its parent: in the parent's axes. */
static void frame_bias(const bo_tree_motion *i, const bo_tree_motion *j, double b[6]) {
    bo_store3(b, bo_add(bo_cross(i->w, bo_cross(i->w, j->x)), bo_scale(2, bo_cross(i->w, j->xdot))));
    bo_store3(b + 3, bo_add(bo_cross(i->w, j->turning), j->turning_bias));
}

static void turn6(bo_mat3 R, const double a[6], double out[6]) {
    bo_store3(out, bo_mat_vec(R, bo_load3(a)));
    bo_store3(out + 3, bo_mat_vec(R, bo_load3(a + 3)));
}

/* ---- exact coupling (L3) ---- */

void bo_tree_hang(const bough_model *model, bo_tree_work *work, int32_t j, double I[36], double pb[6]) {
    const int32_t i = model->parts[j].parent, r = model->parts[i].r;
    const bo_tree_motion *mi = &work->motion[i], *mj = &work->motion[j];
    const double *J = work->J + work->J_offset[j];
    double *Mrq = work->Mrq + 6 * model->parts[i].offset, *L = work->L + work->square_offset[i];
    double *p_q = work->p_q + model->parts[i].offset, *T = work->scratch, b[6], turned[36];
    bo_tree_turn(mj->R, I, turned);
    memcpy(I, turned, sizeof turned);
    turn6(mj->R, pb, turned);
    memcpy(pb, turned, 6 * sizeof *pb);
    frame_bias(mi, mj, b);
    for (int k = 0; k < 6; k++)
        for (int n = 0; n < 6; n++)
            pb[k] += I[6 * k + n] * b[n];
    multiply6(I, r, J, T); /* I J */
    for (int d = 0; d < 6; d++)
        for (int32_t k = 0; k < r; k++) {
            p_q[k] += J[d * r + k] * pb[d];
            const double value = J[d * r + k];
            for (int32_t l = 0; l <= k; l++)
                L[k * r + l] += value * T[d * r + l];
        }
    shift_back(mj->x, r, T);
    for (int32_t k = 0; k < 6 * r; k++)
        Mrq[k] += T[k];
    bo_tree_shift(mj->x, I, pb);
}

/* Y = Mqq^-1 [Mrq^T, p_q]; I <- Mrr - Mrq Y6, p <- p_r - Mrq y7 */
static bool eliminate(bo_tree_solve_state *s, int32_t r, const double *Mrq, double *L, const double *p_q, double *Y) {
    if (r == 0)
        return true;
    if (!bo_cholesky_factor(r, L))
        return false;
    for (int32_t l = 0; l < r; l++) {
        for (int d = 0; d < 6; d++)
            Y[7 * l + d] = Mrq[d * r + l];
        Y[7 * l + 6] = p_q[l];
    }
    bo_cholesky_solve_many(r, L, 7, Y);
    for (int d = 0; d < 6; d++)
        for (int32_t l = 0; l < r; l++) {
            const double value = Mrq[d * r + l];
            for (int e = 0; e < 6; e++)
                s->I[6 * d + e] -= value * Y[7 * l + e];
            s->p[d] -= value * Y[7 * l + 6];
        }
    return true;
}

/* Children have higher numbers, so that a sweep down the numbers goes from the leaves to the roots. */
static bool gather(const bough_model *model, bo_tree_work *work) {
    for (int32_t i = model->part_count - 1; i >= 0; i--) {
        const bo_tree_part *part = &model->parts[i];
        bo_tree_solve_state *s = &work->solve[i];
        if (!eliminate(s, part->r, work->Mrq + 6 * part->offset, work->L + work->square_offset[i],
                       work->p_q + part->offset, work->Y + 7 * part->offset))
            return false;
        if (part->parent < 0)
            continue;
        double I[36], p[6];
        memcpy(I, s->I, sizeof I);
        memcpy(p, s->p, sizeof p);
        bo_tree_hang(model, work, i, I, p);
        for (int k = 0; k < 36; k++)
            work->solve[part->parent].I[k] += I[k];
        for (int k = 0; k < 6; k++)
            work->solve[part->parent].p[k] += p[k];
    }
    return true;
}

/* R^T (X A_i + J a_i + b) */
void bo_tree_accelerate_frame(const bough_model *model, bo_tree_work *work, int32_t j, const double *a) {
    const bo_tree_part *part = &model->parts[j], *parent = &model->parts[part->parent];
    const bo_tree_motion *mi = &work->motion[part->parent], *mj = &work->motion[j];
    const double *A = work->solve[part->parent].A, *J = work->J + work->J_offset[j], *ai = a + parent->offset;
    double b[6];
    frame_bias(mi, mj, b);
    for (int d = 0; d < 6; d++) {
        b[d] += A[d];
        for (int32_t l = 0; l < parent->r; l++)
            b[d] += J[d * parent->r + l] * ai[l];
    }
    bo_vec3 lever = bo_cross(bo_load3(A + 3), mj->x);
    bo_store3(b, bo_add(bo_load3(b), lever));
    turn6(bo_transpose(mj->R), b, work->solve[j].A);
}

static void scatter(const bough_model *model, bo_tree_work *work, double *a) {
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        if (part->parent >= 0)
            bo_tree_accelerate_frame(model, work, i, a);
        const double *Y = work->Y + 7 * part->offset, *A = work->solve[i].A;
        for (int32_t l = 0; l < part->r; l++) {
            double sum = Y[7 * l + 6];
            for (int d = 0; d < 6; d++)
                sum += Y[7 * l + d] * A[d];
            a[part->offset + l] = -sum;
        }
    }
}

/* A root that is held feels gravity as an acceleration upwards. One that flies does not feel it; what is left of its
 * acceleration balances the forces on its tree: I A = -p. */
static bool set_roots(const bough_model *model, bo_tree_work *work) {
    bo_vec3 up = bo_scale(-1, bo_load3(model->def.gravity));
    for (int32_t i = 0; i < model->part_count && model->parts[i].parent < 0; i++) {
        bo_tree_solve_state *s = &work->solve[i];
        memset(s->A, 0, sizeof s->A);
        if (!model->parts[i].free) {
            bo_store3(s->A, bo_mat_tvec(work->motion[i].world, up));
            continue;
        }
        double I[36];
        memcpy(I, s->I, sizeof I);
        for (int k = 0; k < 6; k++)
            s->A[k] = -s->p[k];
        if (!bo_cholesky_factor(6, I))
            return false;
        bo_cholesky_solve(6, I, s->A);
    }
    return true;
}

void bo_tree_own_terms(const bough_model *model, bo_tree_work *work, const double *q, const double *v) {
    for (int32_t i = 0; i < model->part_count; i++)
        own_terms(model, work, q, v, i);
}

bool bo_tree_solve(const bough_model *model, bo_tree_work *work, const double *q, const double *v, double *a) {
    memcpy(work->L, work->H, (size_t)model->square_size * sizeof *work->L);
    bo_tree_own_terms(model, work, q, v);
    if (model->def.coupling != BOUGH_COUPLING_L3) {
        bo_tree_compose(model, work);
        return set_roots(model, work) && bo_tree_solve_lumped(model, work, a);
    }
    if (!gather(model, work) || !set_roots(model, work))
        return false;
    scatter(model, work, a);
    return true;
}
