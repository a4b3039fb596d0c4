/* The matrix of the full mechanism, eliminated along the tree in time that is linear in the links.
 *
 * With h_i the change of the wrench on all that is beyond joint i, t the twists of links, x the motion of a joint:
 *     K x - S^T h - C t_frame = b,     t_i = t_up + S x,     h_i = sum over links l beyond of (B_l t_l + wrench on l)
 * From the ends inwards h_i = B'_i t_i + e_i, which the joint turns into
 *     x = s + G t_up,   G = D^-1 (S^T B' + C),   s = D^-1 (b + S^T e),   D = K - S^T B' S - (C S where its frame moves)
 *     B'_up += B' + B' S G,   e_up += e + B' S s.
 * Loops: the spatial change g of the wrench that each carries is an external one for the tree, so that unit wrenches
 * give how far the two links of all loops come apart; g and the coordinates of the joints that close loops are found
 * from a small matrix. */
#include "mechanism/full.h"

#include "dense/lu.h"

#include <string.h>

/* The joint towards the base of a link. */
typedef struct {
    int n;
    int32_t offset; /* of its coordinates among all unknowns */
    double BS[36];  /* 6 x n */
    double G[36];   /* n x 6 */
    double D[36];
    int32_t pivots[6];
} tree_joint;

typedef struct {
    int n;
    int32_t offset, at;             /* of its coordinates; where it begins in the small matrix */
    double K[36], columns[36];      /* n x n; n x 6 */
    double to_local[36], turns[36]; /* local change = to_local g - turns t_child */
    double apart[36], slides[36];   /* gap = apart (t_child - t_parent) - slides x; 6 x 6, 6 x n */
    double hold[6];
} closed_loop;

struct bo_full_factor {
    const bough_mechanism *mechanism;
    tree_joint *joints; /* links */
    closed_loop *loops; /* loops */
    double *B;          /* 36 links: with all beyond, as the joints give way */
    double *S;          /* 6 n: the motions by coordinates */
    double base[36];    /* free base: factored */
    int32_t base_pivots[6];
    bo_twist rows[6];      /* of a free base: the columns of its balance */
    double *small, *scale; /* size of the loops squared; twice the size: of rows and columns */
    int32_t *small_pivots, small_size;
    bo_twist *e, *t;   /* links */
    double *s, *right; /* of all coordinates; small_size */
    double *memory;
};

static void matrix_times(int rows, int inner, int columns, const double *A, const double *B, double *out) {
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < columns; k++) {
            double sum = 0;
            for (int l = 0; l < inner; l++)
                sum += A[inner * i + l] * B[columns * l + k];
            out[columns * i + k] = sum;
        }
}
static bo_twist times(const double *B, bo_twist t) {
    double x[6], y[6];
    bo_store_twist(x, t);
    matrix_times(6, 6, 1, B, x, y);
    return bo_load_twist(y);
}
/* The matrix of Ad(g), 6 x 6. */
static void ad_matrix(bo_se3 g, double A[36]) {
    for (int k = 0; k < 6; k++) {
        double x[6] = {0}, y[6];
        x[k] = 1;
        bo_store_twist(y, bo_ad(g, bo_load_twist(x)));
        for (int i = 0; i < 6; i++)
            A[6 * i + k] = y[i];
    }
}

/* ---- making ---- */

void bo_full_factor_destroy(bough_context *ctx, bo_full_factor *f) {
    if (!f)
        return;
    bo_free(ctx, f->joints);
    bo_free(ctx, f->loops);
    bo_free(ctx, f->e);
    bo_free(ctx, f->t);
    bo_free(ctx, f->small_pivots);
    bo_free(ctx, f->memory);
    bo_free(ctx, f);
}

bough_status bo_full_factor_create(bough_context *ctx, const bough_mechanism *m, int32_t base_size,
                                   bo_full_factor **factor) {
    *factor = NULL;
    bo_full_factor *f = BO_NEW(ctx, bo_full_factor);
    if (!f)
        return bo_fail_memory(ctx);
    const size_t links = (size_t)m->def.link_count, n = (size_t)(base_size + m->coordinate_count);
    *f = (bo_full_factor){.mechanism = m};
    for (int32_t k = 0; k < m->topology.loop_count; k++)
        f->small_size += 6 + m->joints[m->topology.cuts[k]].freedoms;
    const size_t small = (size_t)f->small_size;
    f->joints = BO_NEW_ZEROS(ctx, tree_joint, links);
    f->loops = BO_NEW_ZEROS(ctx, closed_loop, m->topology.loop_count);
    f->e = BO_NEW_ZEROS(ctx, bo_twist, links);
    f->t = BO_NEW_ZEROS(ctx, bo_twist, links);
    f->small_pivots = BO_NEW_ARRAY(ctx, int32_t, small);
    double *x = f->memory = BO_NEW_ZEROS(ctx, double, 36 * links + 7 * n + small * small + 3 * small);
    if (!f->joints || !f->loops || !f->e || !f->t || !f->small_pivots || !x) {
        bo_full_factor_destroy(ctx, f);
        return bo_fail_memory(ctx);
    }
    f->B = x, x += 36 * links;
    f->S = x, x += 6 * n;
    f->s = x, x += n;
    f->small = x, x += small * small;
    f->scale = x, x += 2 * small;
    f->right = x;
    *factor = f;
    return BOUGH_OK;
}

/* ---- the tree ---- */

static bo_twist motion(const bo_full_factor *f, int32_t coordinate) {
    return bo_load_twist(f->S + 6 * (size_t)coordinate);
}

/* D, B' S and G of a joint; B' goes to the link towards the base. */
static bool eliminate(bo_full_factor *f, int32_t i, bo_twist wrench, bool own, const double K[36]) {
    tree_joint *j = &f->joints[i];
    const int n = j->n;
    const double *B = f->B + 36 * (size_t)i;
    double *up = f->B + 36 * (size_t)f->mechanism->topology.up[i], change[36];
    for (int a = 0; a < n; a++) {
        const bo_twist S = motion(f, j->offset + a), C = bo_bracket_power(S, wrench);
        double x[6], y[6];
        bo_store_twist(x, S);
        bo_store_twist(y, C);
        for (int k = 0; k < 6; k++) {
            double by_column = 0, by_row = y[k];
            for (int l = 0; l < 6; l++)
                by_column += B[6 * k + l] * x[l], by_row += B[6 * l + k] * x[l];
            j->BS[n * k + a] = by_column, j->G[6 * a + k] = by_row;
        }
        for (int b = 0; b < n; b++) /* C S only where the joint moves its own frame */
            j->D[n * a + b] = K[n * a + b] - (own ? bo_twist_dot(C, motion(f, j->offset + b)) : 0);
    }
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            for (int k = 0; k < 6; k++)
                j->D[n * a + b] -= f->S[6 * (size_t)(j->offset + a) + (size_t)k] * j->BS[n * k + b];
    if (!bo_lu_factor(n, j->D, j->pivots))
        return false;
    bo_lu_solve_many(n, j->D, j->pivots, 6, j->G);
    matrix_times(6, n, 6, j->BS, j->G, change);
    for (int k = 0; k < 36; k++)
        up[k] += B[k] + change[k];
    return true;
}

static bool make_base(const bough_full_mechanism *full, bo_full_factor *f) {
    const struct bo_full_work *w = bo_full_work_of(full);
    const int32_t base = w->mechanism->def.base;
    const bo_se3 pose = bo_about_middle(w->mechanism, w->poses[base]);
    const double *B = f->B + 36 * (size_t)base;
    for (int a = 0; a < 6; a++) {
        double x[6] = {0};
        x[a] = 1;
        f->rows[a] = bo_ad(pose, bo_load_twist(x));
        const bo_twist C = bo_bracket_power(f->rows[a], w->wrenches[base]);
        for (int b = 0; b < 6; b++)
            f->base[6 * a + b] = -bo_twist_dot(f->rows[a], times(B, motion(f, b))) - bo_twist_dot(C, motion(f, b));
    }
    return bo_lu_factor(6, f->base, f->base_pivots);
}

/* Motion of the joints (x, of all coordinates of the tree) and links (f->t) by b on the coordinates (NULL: none) and
 * the wrenches f->e on the links, which are used up. */
static void solve_tree(const bo_full_factor *f, int32_t base_size, const double *b, double *x) {
    const bough_mechanism *m = f->mechanism;
    for (int32_t k = m->def.link_count - 1; k > 0; k--) {
        const int32_t i = m->topology.order[k];
        const tree_joint *j = &f->joints[i];
        double *s = f->s + j->offset, *up = (double *)&f->e[m->topology.up[i]], change[6];
        for (int a = 0; a < j->n; a++)
            s[a] = (b ? b[j->offset + a] : 0) + bo_twist_dot(motion(f, j->offset + a), f->e[i]);
        bo_lu_solve(j->n, j->D, j->pivots, s);
        matrix_times(6, j->n, 1, j->BS, s, change);
        for (int c = 0; c < 6; c++)
            up[c] += ((const double *)&f->e[i])[c] + change[c];
    }
    f->t[m->def.base] = (bo_twist){{0, 0, 0}, {0, 0, 0}};
    if (base_size > 0) {
        for (int a = 0; a < 6; a++)
            x[a] = (b ? b[a] : 0) + bo_twist_dot(f->rows[a], f->e[m->def.base]);
        bo_lu_solve(6, f->base, f->base_pivots, x);
        for (int a = 0; a < 6; a++)
            f->t[m->def.base] = bo_twist_mul_add(f->t[m->def.base], x[a], motion(f, a));
    }
    for (int32_t k = 1; k < m->def.link_count; k++) {
        const int32_t i = m->topology.order[k];
        const tree_joint *j = &f->joints[i];
        bo_twist t = f->t[m->topology.up[i]];
        double follow[6];
        matrix_times(j->n, 6, 1, j->G, (const double *)&f->t[m->topology.up[i]], follow);
        for (int a = 0; a < j->n; a++) {
            x[j->offset + a] = f->s[j->offset + a] + follow[a];
            t = bo_twist_mul_add(t, x[j->offset + a], motion(f, j->offset + a));
        }
        f->t[i] = t;
    }
}

/* ---- loops ---- */

static void clear_wrenches(const bo_full_factor *f) {
    memset(f->e, 0, (size_t)f->mechanism->def.link_count * sizeof *f->e);
}
/* Wrench g that a loop carries, on its two links. */
static void add_wrench(const bo_full_factor *f, int32_t loop, bo_twist g) {
    const bo_mechanism_joint *joint = &f->mechanism->joints[f->mechanism->topology.cuts[loop]];
    f->e[joint->child] = bo_twist_mul_add(f->e[joint->child], -1, g);
    f->e[joint->parent] = bo_twist_mul_add(f->e[joint->parent], 1, g);
}

/* Motion of the two links of a loop as the rows of the small matrix see it: those of its joint, then of its gap. */
static void see_motion(const bo_full_factor *f, int32_t loop, double *rows) {
    const closed_loop *l = &f->loops[loop];
    const bo_mechanism_joint *joint = &f->mechanism->joints[f->mechanism->topology.cuts[loop]];
    double turned[6], gap[6];
    bo_store_twist(turned, times(l->turns, f->t[joint->child]));
    bo_store_twist(gap, times(l->apart, bo_twist_mul_add(f->t[joint->child], -1, f->t[joint->parent])));
    for (int a = 0; a < l->n; a++) {
        rows[a] = 0;
        for (int k = 0; k < 6; k++)
            rows[a] += l->columns[6 * a + k] * turned[k];
    }
    for (int k = 0; k < 6; k++)
        rows[l->n + k] = gap[k] + l->hold[k] * turned[k];
}

static void fill_loop(const bough_full_mechanism *full, bo_full_factor *f, int32_t loop, const bo_instant *at,
                      double damp) {
    const struct bo_full_work *w = bo_full_work_of(full);
    const bough_mechanism *m = w->mechanism;
    const bo_mechanism_joint *joint = &m->joints[m->topology.cuts[loop]];
    closed_loop *l = &f->loops[loop];
    l->n = joint->freedoms, l->offset = w->base_size + joint->offset;
    const bo_se3 from = bo_se3_mul(w->poses[joint->parent], joint->in_parent);
    const bo_se3 X = bo_se3_mul(from, bo_joint_pose(joint->kind, at->q + l->offset));
    const bo_se3 Y = bo_joint_frame(joint, w->poses[joint->child]), spatial = bo_about_middle(m, Y);
    const bo_se3 E = bo_se3_mul(bo_se3_inverse(X), Y);
    const bo_twist local = bo_load_twist(at->lambda + 6 * loop);
    const bo_twist carried = bo_ad_transposed(bo_se3_inverse(spatial), local);
    double inverse[36], A[36], carry[36];
    bo_full_joint_block(full, m->topology.cuts[loop], at, local, damp, l->K);
    bo_full_invert_jacobian(bo_se3_log(E), inverse);
    ad_matrix(bo_se3_inverse(spatial), A);
    matrix_times(6, 6, 6, inverse, A, l->apart);
    ad_matrix(spatial, A);
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 6; k++)
            l->to_local[6 * i + k] = A[6 * k + i];
    for (int k = 0; k < 6; k++) { /* the wrench turns with the child */
        double x[6] = {0}, y[6];
        x[k] = 1;
        const bo_twist t = bo_load_twist(x);
        bo_store_twist(
            y, (bo_twist){bo_cross(t.w, carried.v), bo_add(bo_cross(t.w, carried.w), bo_cross(t.v, carried.v))});
        for (int i = 0; i < 6; i++)
            carry[6 * i + k] = y[i];
    }
    matrix_times(6, 6, 6, l->to_local, carry, l->turns);
    bo_twist columns[BO_MOST_FREEDOMS];
    bo_joint_columns(joint->kind, at->q + l->offset, columns);
    for (int a = 0; a < l->n; a++) {
        double y[6];
        bo_store_twist(l->columns + 6 * a, columns[a]);
        bo_store_twist(y, times(inverse, bo_ad(bo_se3_inverse(E), columns[a])));
        for (int k = 0; k < 6; k++)
            l->slides[l->n * k + a] = y[k];
    }
}

/* Sets how strongly each loop is held regular, as for the whole matrix. diagonal: of all
 * coordinates.
 */
static void fill_holds(const bough_full_mechanism *full, bo_full_factor *f, const double *diagonal) {
    const struct bo_full_work *w = bo_full_work_of(full);
    const bough_mechanism *m = w->mechanism;
    double most = 0;
    for (int32_t k = 0; k < m->topology.loop_count; k++) {
        const closed_loop *l = &f->loops[k];
        const double *unit = w->unit + w->n + 6 * k;
        for (int a = 0; a < l->n; a++)
            for (int r = 0; r < 6; r++)
                most = fmax(most, fabs(l->slides[l->n * r + a]) / unit[r] / sqrt(fabs(l->K[(l->n + 1) * a])));
        for (int32_t e = m->topology.loop_start[k]; e < m->topology.loop_start[k + 1]; e++) {
            const bo_mechanism_joint *joint = &m->joints[m->topology.loop_edges[e].joint];
            for (int32_t b = w->base_size + joint->offset; b < w->base_size + joint->offset + joint->freedoms; b++) {
                double y[6];
                bo_store_twist(y, times(l->apart, motion(f, b)));
                for (int r = 0; r < 6; r++)
                    most = fmax(most, fabs(y[r]) / unit[r] / sqrt(fabs(diagonal[b])));
            }
        }
    }
    for (int32_t k = 0; k < m->topology.loop_count; k++)
        for (int r = 0; r < 6; r++) {
            const double scale = most * w->unit[w->n + 6 * k + r];
            f->loops[k].hold[r] = isfinite(scale) ? BO_LOOP_HOLD * scale * scale : 0;
        }
}

/* Rows and columns scaled to 1, then factored. */
static bool factor_small(bo_full_factor *f) {
    const size_t n = (size_t)f->small_size;
    double *row = f->scale, *column = f->scale + n;
    for (size_t i = 0; i < 2 * n; i++)
        f->scale[i] = 1;
    for (int pass = 0; pass < 3; pass++)
        for (int side = 0; side < 2; side++)
            for (size_t i = 0; i < n; i++) {
                double most = 0;
                for (size_t k = 0; k < n; k++)
                    most = fmax(most, fabs(f->small[side ? k * n + i : i * n + k]));
                if (!(most > 0 && isfinite(most)))
                    return false;
                for (size_t k = 0; k < n; k++)
                    f->small[side ? k * n + i : i * n + k] /= most;
                (side ? column : row)[i] /= most;
            }
    return bo_lu_factor(f->small_size, f->small, f->small_pivots);
}

static bool make_loops(const bough_full_mechanism *full, bo_full_factor *f) {
    const struct bo_full_work *w = bo_full_work_of(full);
    const int32_t count = w->mechanism->topology.loop_count;
    const size_t n = (size_t)f->small_size;
    double rows[12], *x = w->step;
    memset(f->small, 0, n * n * sizeof(double));
    for (int32_t k = 0, at = 0; k < count; at += f->loops[k++].n + 6)
        f->loops[k].at = at;
    for (int32_t k = 0; k < count; k++) {
        const closed_loop *l = &f->loops[k];
        const size_t at = (size_t)l->at, own = (size_t)l->n;
        for (size_t a = 0; a < own; a++)
            for (size_t b = 0; b < own; b++)
                f->small[(at + a) * n + at + b] = l->K[own * a + b];
        for (size_t r = 0; r < 6; r++)
            for (size_t a = 0; a < own; a++)
                f->small[(at + own + r) * n + at + a] = -l->slides[own * r + a];
        for (size_t c = 0; c < 6; c++) { /* a unit of wrench */
            double g[6] = {0};
            g[c] = 1;
            clear_wrenches(f);
            add_wrench(f, k, bo_load_twist(g));
            solve_tree(f, w->base_size, NULL, x);
            for (int32_t o = 0; o < count; o++) {
                const closed_loop *other = &f->loops[o];
                see_motion(f, o, rows);
                for (int r = 0; r < other->n + 6; r++)
                    f->small[(size_t)(other->at + r) * n + at + own + c] += rows[r];
            }
            for (size_t a = 0; a < own; a++)
                for (size_t r = 0; r < 6; r++)
                    f->small[(at + a) * n + at + own + c] -= l->columns[6 * a + r] * l->to_local[6 * r + c];
            for (size_t r = 0; r < 6; r++)
                f->small[(at + own + r) * n + at + own + c] -= l->hold[r] * l->to_local[6 * r + c];
        }
    }
    return factor_small(f);
}

/* ---- all of it ---- */

/* Diagonal entries of the joints' coordinates, by the stiffness of all that is beyond, which f->B is used for. */
static void fill_diagonal(const bough_full_mechanism *full, bo_full_factor *f, int32_t i, const double K[36], bool own,
                          double *diagonal) {
    const tree_joint *j = &f->joints[i];
    for (int a = 0; a < j->n; a++) {
        const bo_twist S = motion(f, j->offset + a);
        const double turned = own ? bo_twist_dot(bo_bracket_power(S, bo_full_work_of(full)->wrenches[i]), S) : 0;
        diagonal[j->offset + a] =
            K[(j->n + 1) * a] - turned - bo_twist_dot(S, times(bo_full_work_of(full)->stiffness + 36 * (size_t)i, S));
    }
}

bool bo_full_factor_make(const bough_full_mechanism *full, bo_full_factor *f, const bo_instant *at, double rate,
                         double damp, double *hardest) {
    const struct bo_full_work *w = bo_full_work_of(full);
    const bough_mechanism *m = w->mechanism;
    double *diagonal = w->scale;
    bo_full_fill_columns(w, at->q);
    bo_full_fill_links(full, at, rate);
    memcpy(f->B, w->stiffness, 36 * (size_t)m->def.link_count * sizeof(double));
    for (int32_t k = 0; k < w->n; k++)
        bo_store_twist(f->S + 6 * (size_t)k, w->columns[k]);
    for (int32_t k = m->def.link_count - 1; k > 0; k--) {
        const int32_t i = m->topology.order[k];
        const bo_mechanism_joint *joint = &m->joints[m->topology.way[i].joint];
        const bo_se3 frame = bo_about_middle(m, bo_joint_frame(joint, w->poses[joint->child]));
        const bo_twist none = {{0, 0, 0}, {0, 0, 0}};
        const bo_twist carried =
            bo_ad_transposed(frame, bo_twist_mul_add(none, m->topology.way[i].sign, w->wrenches[i]));
        const bool own = m->topology.way[i].sign > 0;
        double K[36], *up = w->stiffness + 36 * (size_t)m->topology.up[i];
        f->joints[i].n = joint->freedoms, f->joints[i].offset = w->base_size + joint->offset;
        bo_full_joint_block(full, m->topology.way[i].joint, at, carried, damp, K);
        fill_diagonal(full, f, i, K, own, diagonal);
        for (int e = 0; e < 36; e++)
            up[e] += w->stiffness[36 * (size_t)i + (size_t)e];
        if (!eliminate(f, i, w->wrenches[i], own, K))
            return false;
    }
    if (w->base_size > 0 && !make_base(full, f))
        return false;
    for (int32_t k = 0; k < m->topology.loop_count; k++) {
        fill_loop(full, f, k, at, damp);
        for (int a = 0; a < f->loops[k].n; a++)
            diagonal[f->loops[k].offset + a] = f->loops[k].K[(f->loops[k].n + 1) * a];
    }
    for (int32_t k = w->base_size; k < w->n; k++)
        *hardest = fmax(*hardest, fabs(diagonal[k]) * w->unit[k] * w->unit[k]);
    if (m->topology.loop_count == 0)
        return true;
    fill_holds(full, f, diagonal);
    return make_loops(full, f);
}

void bo_full_factor_solve(const bough_full_mechanism *full, bo_full_factor *f, const double *b, double *x) {
    const struct bo_full_work *w = bo_full_work_of(full);
    const int32_t count = w->mechanism->topology.loop_count;
    const size_t n = (size_t)f->small_size;
    double *y = w->step;
    if (x != b)
        memcpy(x, b, (size_t)w->size * sizeof *x);
    clear_wrenches(f);
    solve_tree(f, w->base_size, x, y);
    for (int32_t k = 0; k < count; k++) {
        const closed_loop *l = &f->loops[k];
        double rows[12];
        see_motion(f, k, rows);
        for (int a = 0; a < l->n; a++)
            f->right[l->at + a] = (x[l->offset + a] - rows[a]) * f->scale[l->at + a];
        for (int r = 0; r < 6; r++)
            f->right[l->at + l->n + r] = (x[w->n + 6 * k + r] - rows[l->n + r]) * f->scale[l->at + l->n + r];
    }
    if (count > 0) {
        bo_lu_solve(f->small_size, f->small, f->small_pivots, f->right);
        clear_wrenches(f);
        for (int32_t k = 0; k < count; k++) {
            const closed_loop *l = &f->loops[k];
            for (int c = 0; c < l->n + 6; c++)
                f->right[l->at + c] *= f->scale[n + (size_t)(l->at + c)];
            add_wrench(f, k, bo_load_twist(f->right + l->at + l->n));
        }
        solve_tree(f, w->base_size, x, y);
    }
    for (int32_t k = 0; k < count; k++) {
        const closed_loop *l = &f->loops[k];
        const bo_mechanism_joint *joint = &w->mechanism->joints[w->mechanism->topology.cuts[k]];
        const bo_twist turned = times(l->turns, f->t[joint->child]);
        const bo_twist local = times(l->to_local, bo_load_twist(f->right + l->at + l->n));
        memcpy(y + l->offset, f->right + l->at, (size_t)l->n * sizeof *y);
        bo_store_twist(x + w->n + 6 * k, bo_twist_mul_add(local, -1, turned));
    }
    memcpy(x, y, (size_t)w->n * sizeof *x);
}
