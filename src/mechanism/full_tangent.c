/* Derivatives of the full mechanism's balance. docs/theory/mechanism.md, "The full mechanism".
 *
 * Coordinate b moves all that is beyond it by the spatial twist S_b. Of a coordinate a whose row is spring - S_a . W,
 * with W the wrench on all that is beyond a,
 *     d(S_a . W) = [t, S_a] . W + (own change of S_a) . W + S_a . sum over links l beyond of B_l t_l,
 * where t is the twist of the joint's frame, t_l that of link l, and B_l = d(wrench on l) / d(its motion). Sums of B_l
 * over all links beyond a joint give each pair of coordinates on one way to the base by one product. */
#include "mechanism/full.h"

#include "dense/lu.h"

#include <string.h>

bo_twist bo_bracket_power(bo_twist s, bo_twist W) {
    return (bo_twist){bo_cross(s.w, W.v), bo_add(bo_cross(s.v, W.v), bo_cross(s.w, W.w))};
}
static bo_twist scaled(double s, bo_twist t) {
    return (bo_twist){bo_scale(s, t.v), bo_scale(s, t.w)};
}
static bo_twist unit(int k) {
    double x[6] = {0};
    x[k] = 1;
    return bo_load_twist(x);
}

/* B t and B^T t of a 6 x 6 */
static bo_twist times(const double *B, bo_twist t) {
    double x[6], y[6];
    bo_store_twist(x, t);
    for (int i = 0; i < 6; i++) {
        y[i] = 0;
        for (int k = 0; k < 6; k++)
            y[i] += B[6 * i + k] * x[k];
    }
    return bo_load_twist(y);
}
static bo_twist times_transposed(const double *B, bo_twist t) {
    double x[6], y[6] = {0};
    bo_store_twist(x, t);
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 6; i++)
            y[i] += B[6 * k + i] * x[k];
    return bo_load_twist(y);
}

/* ---- joints ---- */

/* out[n a + b] = d(column a)/d(theta b) . W for a wrench W in the frame of the columns. */
static void column_changes(bough_joint_kind kind, const double *theta, bo_twist W, double out[36]) {
    const int n = bough_joint_freedoms(kind);
    memset(out, 0, 36 * sizeof *out);
    if (kind == BOUGH_JOINT_UNIVERSAL) { /* Ry(t2)^T ex by t2 */
        bo_twist columns[BO_MOST_FREEDOMS];
        bo_joint_columns(kind, theta, columns);
        out[1] = bo_dot(bo_cross(columns[0].w, columns[1].w), W.w);
    }
    if (kind != BOUGH_JOINT_BALL && kind != BOUGH_JOINT_COMPLIANT)
        return;
    const int first = 6 - n; /* a ball turns only */
    const bo_twist t = n == 6 ? bo_load_twist(theta) : (bo_twist){{0, 0, 0}, bo_load3(theta)};
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            out[n * a + b] = bo_twist_dot(bo_se3_right_jacobian_rate(t, unit(first + b), unit(first + a)), W);
}

void bo_full_joint_block(const bough_full_mechanism *full, int32_t j, const bo_instant *at, bo_twist W, double damp,
                         double K[36]) {
    const struct bo_full_work *w = bo_full_work_of(full);
    const bo_mechanism_joint *joint = &w->mechanism->joints[j];
    const int n = joint->freedoms;
    const double *theta = at->q + w->base_size + joint->offset;
    column_changes(joint->kind, theta, W, K);
    for (int a = 0; a < n; a++) {
        double end;
        for (int b = 0; b < n; b++)
            K[n * a + b] = joint->stiffness[n * a + b] - K[n * a + b];
        K[n * a + a] += bo_joint_limit(joint, a, theta[a], &end) + damp * joint->damping[a];
    }
}

static void put_joint(const bough_full_mechanism *full, int32_t j, const bo_instant *at, bo_twist W, double damp,
                      double *A) {
    const struct bo_full_work *w = bo_full_work_of(full);
    const bo_mechanism_joint *joint = &w->mechanism->joints[j];
    const int32_t offset = w->base_size + joint->offset;
    double K[36];
    bo_full_joint_block(full, j, at, W, damp, K);
    for (int a = 0; a < joint->freedoms; a++)
        for (int b = 0; b < joint->freedoms; b++)
            A[(size_t)(offset + a) * (size_t)w->size + (size_t)(offset + b)] += K[joint->freedoms * a + b];
}

/* ---- links ---- */

static void put_block(double *B, int row, int column, bo_mat3 M) {
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            B[6 * (row + i) + column + k] += M.m[3 * i + k];
}
/* A force F at r from the middle, which keeps its direction: the torque is that of where it is. */
static void put_force(double *B, bo_vec3 r, bo_vec3 F) {
    put_block(B, 3, 0, bo_mat_scale(-1, bo_hat(F)));
    put_block(B, 3, 3, bo_mat_mul(bo_hat(F), bo_hat(r)));
}

/* Inertia by momenta (x - x_before) / dt and I log(R R_before^T) / dt, whose rates are `rate` dt of their changes. */
static void put_inertia(const struct bo_full_work *w, int32_t i, bo_vec3 r, double rate, double *B) {
    const bough_rigid_body_def *link = &w->mechanism->links[i];
    const bo_mat3 R = w->poses[i].R, hat = bo_hat(r);
    bo_mat3 own;
    memcpy(own.m, link->inertia, sizeof own.m);
    const bo_mat3 I = bo_mat_mul(bo_mat_mul(R, bo_sym(own)), bo_transpose(R));
    const bo_vec3 turn = bo_log3(bo_mat_mul(R, bo_transpose(w->before[i].R)));
    const double m = rate * link->mass;
    put_block(B, 0, 0, bo_mat_scale(-m, bo_identity3()));
    put_block(B, 0, 3, bo_mat_scale(m, hat));
    put_block(B, 3, 0, bo_mat_scale(-m, hat));
    put_block(B, 3, 3, bo_mat_scale(m, bo_mat_mul(hat, hat)));
    const bo_mat3 spin =
        bo_mat_sub(bo_mat_add(bo_mat_mul(I, bo_left_jacobian_inverse(turn)), bo_mat_mul(I, bo_hat(turn))),
                   bo_hat(bo_mat_vec(I, turn)));
    put_block(B, 3, 3, bo_mat_scale(-rate, spin));
}

void bo_full_fill_links(const bough_full_mechanism *full, const bo_instant *at, double rate) {
    const struct bo_full_work *w = bo_full_work_of(full);
    const bough_mechanism *m = w->mechanism;
    memset(w->stiffness, 0, 36 * (size_t)m->def.link_count * sizeof(double));
    for (int32_t i = 0; i < m->def.link_count; i++) {
        double *B = w->stiffness + 36 * (size_t)i;
        const bo_vec3 r = bo_sub(bo_se3_apply(w->poses[i], bo_load3(m->links[i].centre)), m->middle);
        bo_vec3 F = bo_scale(m->links[i].mass, bo_load3(full->gravity));
        if (rate > 0) {
            F = bo_sub(F, bo_load3(at->a + 6 * (size_t)i));
            put_inertia(w, i, r, rate, B);
        }
        put_force(B, r, F);
        put_force(B, bo_sub(w->poses[i].t, m->middle), bo_load3(full->link_loads + 6 * (size_t)i));
    }
    for (int32_t e = 0; e < m->def.end_effector_count; e++) {
        const bough_frame_def *effector = &m->end_effectors[e];
        const bo_vec3 x = bo_se3_apply(w->poses[effector->body], bo_load3(effector->pose.position));
        put_force(w->stiffness + 36 * (size_t)effector->body, bo_sub(x, m->middle),
                  bo_load3(full->loads + 6 * (size_t)e));
    }
}

/* ---- the tree ---- */

void bo_full_fill_columns(const struct bo_full_work *w, const double *q) {
    const bough_mechanism *m = w->mechanism;
    const bo_se3 base = bo_about_middle(m, w->poses[m->def.base]);
    for (int k = 0; k < w->base_size; k++)
        w->columns[k] = bo_ad(base, bo_se3_right_jacobian(bo_load_twist(q), unit(k)));
    for (int32_t k = 1; k < m->def.link_count; k++) {
        const int32_t i = m->topology.order[k];
        const bo_mechanism_joint *joint = &m->joints[m->topology.way[i].joint];
        const bo_se3 frame = bo_about_middle(m, bo_joint_frame(joint, w->poses[joint->child]));
        bo_twist columns[BO_MOST_FREEDOMS];
        const int32_t offset = w->base_size + joint->offset;
        bo_joint_columns(joint->kind, q + offset, columns);
        for (int a = 0; a < joint->freedoms; a++)
            w->columns[offset + a] = scaled(m->topology.way[i].sign, bo_ad(frame, columns[a]));
    }
}

/* A[r][c] -= x . S_c for the coordinates c of the joint towards the base of a link, or of the base itself. */
static void subtract_row(const struct bo_full_work *w, int32_t r, int32_t link, bo_twist x, double *A) {
    const bough_mechanism *m = w->mechanism;
    const bool base = m->topology.up[link] < 0;
    const bo_mechanism_joint *joint = base ? NULL : &m->joints[m->topology.way[link].joint];
    const int32_t begin = base ? 0 : w->base_size + joint->offset, end = base ? w->base_size : begin + joint->freedoms;
    double *row = A + (size_t)r * (size_t)w->size;
    for (int32_t c = begin; c < end; c++)
        row[c] -= bo_twist_dot(x, w->columns[c]);
}

/* Rows and columns of coordinate b of the joint of link i, with all coordinates between it and the base. B: of all that
 * is beyond. own: this joint's coordinates move its own frame. */
static void put_pairs(const struct bo_full_work *w, int32_t i, int32_t b, bool own, double *A) {
    const bough_mechanism *m = w->mechanism;
    const size_t size = (size_t)w->size;
    const double *B = w->stiffness + 36 * (size_t)i;
    const bo_twist S = w->columns[b], by_links = times_transposed(B, S), y = times(B, S);
    const bo_twist both = bo_twist_mul_add(by_links, 1, bo_bracket_power(S, w->wrenches[i]));
    subtract_row(w, b, i, own ? both : by_links, A);
    for (int32_t l = m->topology.up[i]; l >= 0; l = m->topology.up[l]) {
        subtract_row(w, b, l, both, A);
        if (m->topology.up[l] < 0)
            break;
        const bo_mechanism_joint *joint = &m->joints[m->topology.way[l].joint];
        for (int32_t a = w->base_size + joint->offset; a < w->base_size + joint->offset + joint->freedoms; a++)
            A[(size_t)a * size + (size_t)b] -= bo_twist_dot(w->columns[a], y);
    }
    const bo_twist at_base = bo_ad_transposed(bo_about_middle(m, w->poses[m->def.base]), y);
    double x[6];
    bo_store_twist(x, at_base);
    for (int32_t a = 0; a < w->base_size; a++)
        A[(size_t)a * size + (size_t)b] -= x[a];
}

static void put_tree(const bough_full_mechanism *full, const bo_instant *at, double damp, double *A) {
    const struct bo_full_work *w = bo_full_work_of(full);
    const bough_mechanism *m = w->mechanism;
    for (int32_t k = m->def.link_count - 1; k > 0; k--) {
        const int32_t i = m->topology.order[k], j = m->topology.way[i].joint;
        const bo_mechanism_joint *joint = &m->joints[j];
        const bo_se3 frame = bo_about_middle(m, bo_joint_frame(joint, w->poses[joint->child]));
        put_joint(full, j, at, bo_ad_transposed(frame, scaled(m->topology.way[i].sign, w->wrenches[i])), damp, A);
        for (int a = 0; a < joint->freedoms; a++)
            put_pairs(w, i, w->base_size + joint->offset + a, m->topology.way[i].sign > 0, A);
        double *beyond = w->stiffness + 36 * (size_t)i, *all = w->stiffness + 36 * (size_t)m->topology.up[i];
        for (int e = 0; e < 36; e++)
            all[e] += beyond[e];
    }
    const bo_se3 base = bo_about_middle(m, w->poses[m->def.base]);
    for (int32_t a = 0; a < w->base_size; a++) {
        const bo_twist E = bo_ad(base, unit(a));
        const bo_twist x = times_transposed(w->stiffness + 36 * (size_t)m->def.base, E);
        subtract_row(w, a, m->def.base, bo_twist_mul_add(x, 1, bo_bracket_power(E, w->wrenches[m->def.base])), A);
    }
}

/* ---- loops ---- */

void bo_full_invert_jacobian(bo_twist c, double inverse[36]) {
    int32_t pivots[6];
    double J[36];
    memset(inverse, 0, 36 * sizeof *inverse);
    for (int k = 0; k < 6; k++) {
        double x[6];
        bo_store_twist(x, bo_se3_right_jacobian(c, unit(k)));
        inverse[7 * k] = 1;
        for (int i = 0; i < 6; i++)
            J[6 * i + k] = x[i];
    }
    if (bo_lu_factor(6, J, pivots))
        bo_lu_solve_many(6, J, pivots, 6, inverse);
}

static void put_column(const struct bo_full_work *w, int32_t loop, int32_t column, const double *inverse, bo_twist x,
                       double *A) {
    double y[6];
    bo_store_twist(y, times(inverse, x));
    for (int k = 0; k < 6; k++)
        A[(size_t)(w->n + 6 * loop + k) * (size_t)w->size + (size_t)column] = y[k];
}

/* The wrench -f on the child and f on the parent turns with the child: all coordinates that move the child change what
 * is beyond the joints of the loop, `sign` f each. */
static void put_carried(const struct bo_full_work *w, int32_t child, bo_twist f, int32_t row, double sign, double *A) {
    const bo_twist S = w->columns[row];
    /* S . carry(t, f) = -[t, S] . f */
    const bo_twist x = scaled(-sign, bo_bracket_power(S, f));
    for (int32_t l = child; l >= 0; l = w->mechanism->topology.up[l])
        subtract_row(w, row, l, x, A);
}

static void put_loop(const bough_full_mechanism *full, int32_t loop, const bo_instant *at, double damp, double *A) {
    const struct bo_full_work *w = bo_full_work_of(full);
    const bough_mechanism *m = w->mechanism;
    const bo_mechanism_joint *joint = &m->joints[m->topology.cuts[loop]];
    const size_t size = (size_t)w->size;
    const int32_t offset = w->base_size + joint->offset, first = w->n + 6 * loop;
    const bo_se3 from = bo_se3_mul(w->poses[joint->parent], joint->in_parent);
    const bo_se3 X = bo_se3_mul(from, bo_joint_pose(joint->kind, at->q + offset));
    const bo_se3 Y = bo_joint_frame(joint, w->poses[joint->child]);
    const bo_se3 E = bo_se3_mul(bo_se3_inverse(X), Y), to_frame = bo_se3_inverse(bo_about_middle(m, Y));
    const bo_twist local = bo_load_twist(at->lambda + 6 * loop), f = bo_ad_transposed(to_frame, local);
    double inverse[36];
    bo_full_invert_jacobian(bo_se3_log(E), inverse);
    put_joint(full, m->topology.cuts[loop], at, local, damp, A);
    bo_twist columns[BO_MOST_FREEDOMS];
    bo_joint_columns(joint->kind, at->q + offset, columns);
    for (int a = 0; a < joint->freedoms; a++) {
        double x[6];
        bo_store_twist(x, columns[a]);
        for (int k = 0; k < 6; k++)
            A[(size_t)(offset + a) * size + (size_t)(first + k)] = -x[k];
        put_column(w, loop, offset + a, inverse, scaled(-1, bo_ad(bo_se3_inverse(E), columns[a])), A);
    }
    for (int32_t e = m->topology.loop_start[loop]; e < m->topology.loop_start[loop + 1]; e++) {
        const bo_mechanism_joint *edge = &m->joints[m->topology.loop_edges[e].joint];
        const double sign = m->topology.loop_edges[e].sign;
        for (int32_t b = w->base_size + edge->offset; b < w->base_size + edge->offset + edge->freedoms; b++) {
            const bo_twist x = scaled(-sign, bo_ad(to_frame, w->columns[b]));
            double y[6];
            bo_store_twist(y, x);
            for (int k = 0; k < 6; k++)
                A[(size_t)b * size + (size_t)(first + k)] = y[k];
            put_column(w, loop, b, inverse, x, A);
            put_carried(w, joint->child, f, b, sign, A);
        }
    }
}

void bo_full_differentiate(const bough_full_mechanism *full, const bo_instant *at, double rate, double damp,
                           double *A) {
    const struct bo_full_work *w = bo_full_work_of(full);
    memset(A, 0, (size_t)w->size * (size_t)w->size * sizeof *A);
    bo_full_fill_columns(w, at->q);
    bo_full_fill_links(full, at, rate);
    put_tree(full, at, damp, A);
    for (int32_t k = 0; k < w->mechanism->topology.loop_count; k++)
        put_loop(full, k, at, damp, A);
}
