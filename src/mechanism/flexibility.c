#include "mechanism/flexibility.h"

#include "dense/cholesky.h"
#include "dense/symmetric_eigen.h"

#include <string.h>

enum { MOST_ROUNDS = 400, GUARDS = 8 };
#define DEPENDENT 1e-9 /* what is left of a vector that the others make up already */
#define NOTHING 1e-12  /* of the largest 1 / omega^2: where all that moves is held, what is left is rounding */
#define RESIDUAL 1e-6  /* of a mode; the error of omega^2 is about its square */

/* ---- statics of all links ---- */

void bo_flexibility_destroy(bough_context *ctx, bo_flexibility *f) {
    if (!f)
        return;
    bo_free(ctx, f->joints);
    bo_free(ctx, f->Lam);
    bo_free(ctx, f->L);
    bo_free(ctx, f->carried);
    bo_free(ctx, f->f);
    bo_free(ctx, f->pair);
    bo_free(ctx, f);
}

static bough_status fill(bough_context *ctx, bo_flexibility *f) {
    const bough_mechanism *m = f->mechanism;
    const size_t joints = (size_t)m->def.joint_count, n = 6 * (size_t)m->topology.loop_count;
    int32_t *marks = BO_NEW_ZEROS(ctx, int32_t, joints);
    f->joints = BO_NEW_ARRAY(ctx, bo_spatial_joint, joints);
    f->carried = BO_NEW_ZEROS(ctx, double, 6 * joints);
    f->Lam = BO_NEW_ZEROS(ctx, double, n *n);
    f->L = BO_NEW_ZEROS(ctx, double, n *n);
    f->f = BO_NEW_ZEROS(ctx, double, n);
    f->pair = BO_NEW_ZEROS(ctx, double, 2 * n);
    bough_status status =
        marks && f->joints && f->carried && f->Lam && f->L && f->f && f->pair ? BOUGH_OK : bo_fail_memory(ctx);
    for (int32_t j = 0; j < m->def.joint_count && status == BOUGH_OK; j++)
        bo_place_joint(m, &m->joints[j], &f->joints[j]);
    if (n > 0 && status == BOUGH_OK) {
        bo_fill_loops(m, f->joints, marks, f->Lam);
        status = bo_factor_loops(ctx, (int32_t)n, f->Lam, m->radius, f->L);
    }
    bo_free(ctx, marks);
    return status;
}

bough_status bo_flexibility_create(bough_context *ctx, const bough_mechanism *mechanism, bo_flexibility **flexibility) {
    *flexibility = NULL;
    bo_flexibility *f = BO_NEW(ctx, bo_flexibility);
    if (!f)
        return bo_fail_memory(ctx);
    f->mechanism = mechanism;
    const bough_status status = fill(ctx, f);
    if (status != BOUGH_OK)
        bo_flexibility_destroy(ctx, f);
    else
        *flexibility = f;
    return status;
}

static double *six(double *x, int32_t index) {
    return x + 6 * (size_t)index;
}
static void add(double *y, double s, const double *x) {
    for (int k = 0; k < 6; k++)
        y[k] += s * x[k];
}

/* The loops' own wrenches, added to what joints carry: the equations of exact.c. */
static void close_loops(bo_flexibility *f) {
    const bough_mechanism *m = f->mechanism;
    memset(f->f, 0, 6 * (size_t)m->topology.loop_count * sizeof(double));
    for (int32_t k = 0; k < m->topology.loop_count; k++)
        for (int32_t q = m->topology.loop_start[k]; q < m->topology.loop_start[k + 1]; q++) {
            const bo_edge edge = m->topology.loop_edges[q];
            bo_apply_add6(six(f->f, k), -edge.sign, f->joints[edge.joint].G, six(f->carried, edge.joint));
        }
    bo_solve_loops(6 * m->topology.loop_count, f->Lam, f->L, 1, f->f, f->pair);
    for (int32_t k = 0; k < m->topology.loop_count; k++) {
        for (int32_t q = m->topology.loop_start[k]; q < m->topology.loop_start[k + 1]; q++)
            add(six(f->carried, m->topology.loop_edges[q].joint), m->topology.loop_edges[q].sign, six(f->f, k));
        memcpy(six(f->carried, m->topology.cuts[k]), six(f->f, k), 6 * sizeof(double));
    }
}

void bo_flexibility_solve(bo_flexibility *f, const double *wrenches, double *twists) {
    const bough_mechanism *m = f->mechanism;
    memset(f->carried, 0, 6 * (size_t)m->def.joint_count * sizeof(double));
    for (int32_t k = m->def.link_count - 1; k > 0; k--) {
        const int32_t i = m->topology.order[k], up = m->topology.up[i];
        double *mine = six(f->carried, m->topology.way[i].joint);
        add(mine, 1, wrenches + 6 * (size_t)i);
        if (m->topology.up[up] >= 0)
            add(six(f->carried, m->topology.way[up].joint), 1, mine);
    }
    if (m->topology.loop_count > 0)
        close_loops(f);
    memset(six(twists, m->def.base), 0, 6 * sizeof(double));
    for (int32_t k = 1; k < m->def.link_count; k++) {
        const int32_t i = m->topology.order[k], j = m->topology.way[i].joint;
        memcpy(six(twists, i), six(twists, m->topology.up[i]), 6 * sizeof(double));
        bo_apply_add6(six(twists, i), 1, f->joints[j].G, six(f->carried, j));
    }
}

/* Computes momenta from the velocity v + w x c of the centre of mass, and the spin. */
void bo_links_momentum(const bough_mechanism *m, const double *twists, double *momentum) {
    for (int32_t i = 0; i < m->def.link_count; i++) {
        const bough_rigid_body_def *link = &m->links[i];
        const bo_se3 pose = bo_pose(&link->pose);
        const bo_vec3 c = bo_sub(bo_se3_apply(pose, bo_load3(link->centre)), m->middle);
        const bo_twist t = bo_load_twist(twists + 6 * (size_t)i);
        bo_mat3 I;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                I.m[3 * a + b] = 0.5 * (link->inertia[3 * a + b] + link->inertia[3 * b + a]);
        const bo_vec3 p = bo_scale(link->mass, bo_add(t.v, bo_cross(t.w, c)));
        const bo_vec3 spin = bo_mat_vec(pose.R, bo_mat_vec(I, bo_mat_tvec(pose.R, t.w)));
        bo_store_twist(six(momentum, i), (bo_twist){p, bo_add(bo_cross(c, p), spin)});
    }
    if (!m->def.free_base)
        memset(six(momentum, m->def.base), 0, 6 * sizeof(double));
}

/* ---- modes ---- */

/* Subspace iteration with x -> C M x, which is self-adjoint in the inner product of M and has the eigenvalues
 * theta = 1 / omega^2. */
typedef struct {
    bo_flexibility *f;
    const bo_hold *hold;
    size_t length; /* of a vector: 6 links */
    int32_t width; /* vectors that are left */
    double *X, *MX, *Y, *MY;
    double *H, *V, *theta, *scratch; /* width x width twice, width, 2 width */
    double rigid[36];                /* factor of R^T M R, of a free mechanism */
    double largest;                  /* of 1 / omega^2, about: what nothing is measured against */
} search;

static double dot(size_t n, const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* R (R^T M R)^-1 R^T p of the total p of a momentum, for R the same twist of all links: the rigid motion that has it.
 */
static void rigid_part(const search *s, const double *momentum, double twist[6]) {
    memset(twist, 0, 6 * sizeof(double));
    for (size_t i = 0; i < s->length; i += 6)
        add(twist, 1, momentum + i);
    bo_cholesky_solve(6, s->rigid, twist);
}

static bough_status factor_rigid(bough_context *ctx, search *s) {
    for (int c = 0; c < 6; c++) {
        memset(s->X, 0, s->length * sizeof(double));
        for (size_t i = 0; i < s->length; i += 6)
            s->X[i + (size_t)c] = 1;
        bo_links_momentum(s->f->mechanism, s->X, s->Y);
        double sum[6] = {0};
        for (size_t i = 0; i < s->length; i += 6)
            add(sum, 1, s->Y + i);
        for (int r = 0; r < 6; r++)
            s->rigid[6 * r + c] = sum[r];
    }
    return bo_cholesky_factor(6, s->rigid)
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_ERROR_SINGULAR, "the mechanism has no inertia against some motion of all of it");
}

/* |C M x| / |x| in M's norm, of a random x, with nothing held. */
static double size_of_answer(const search *s, const double *x, const double *Mx) {
    bo_flexibility_solve(s->f, Mx, s->Y);
    bo_links_momentum(s->f->mechanism, s->Y, s->MY);
    const double size = dot(s->length, x, Mx);
    return size > 0 ? sqrt(fmax(0, dot(s->length, s->Y, s->MY)) / size) : 0;
}

/* y = C Mx. Of a free mechanism rigid motions are taken away: vectors that have none carry loads in balance, which the
 * base need not hold. */
static void apply(search *s, const double *Mx, double *y, double *momentum) {
    const bough_mechanism *m = s->f->mechanism;
    bo_flexibility_solve(s->f, Mx, y);
    if (s->hold) {
        s->hold->hold(s->hold->data, y);
    } else if (m->def.free_base) {
        double twist[6];
        bo_links_momentum(m, y, momentum);
        rigid_part(s, momentum, twist);
        for (size_t i = 0; i < s->length; i += 6)
            add(y + i, -1, twist);
    }
}

/* Y to X with X^T M X = 1, by Gram and Schmidt, twice. Vectors that depend on those before are dropped. */
static void orthonormalise(search *s) {
    const bough_mechanism *m = s->f->mechanism;
    int32_t kept = 0;
    for (int32_t k = 0; k < s->width; k++) {
        double *x = s->X + (size_t)kept * s->length, *Mx = s->MX + (size_t)kept * s->length;
        memcpy(x, s->Y + (size_t)k * s->length, s->length * sizeof(double));
        bo_links_momentum(m, x, Mx);
        const double before = sqrt(fmax(0, dot(s->length, x, Mx)));
        for (int pass = 0; pass < 2; pass++) {
            for (int32_t j = 0; j < kept; j++) {
                const double part = dot(s->length, s->MX + (size_t)j * s->length, x);
                for (size_t i = 0; i < s->length; i++)
                    x[i] -= part * s->X[(size_t)j * s->length + i];
            }
            bo_links_momentum(m, x, Mx);
        }
        const double size = sqrt(fmax(0, dot(s->length, x, Mx)));
        if (!(size > DEPENDENT * before))
            continue;
        for (size_t i = 0; i < s->length; i++)
            x[i] /= size, Mx[i] /= size;
        kept++;
    }
    s->width = kept;
}

/* X S for the columns of V, largest theta first, into `out`. */
static void combine(const search *s, const double *vectors, double *out) {
    const int32_t w = s->width;
    memset(out, 0, (size_t)w * s->length * sizeof(double));
    for (int32_t k = 0; k < w; k++)
        for (int32_t j = 0; j < w; j++) {
            const double v = s->V[j * w + w - 1 - k];
            for (size_t i = 0; i < s->length; i++)
                out[(size_t)k * s->length + i] += v * vectors[(size_t)j * s->length + i];
        }
}

/* One round: Y = C M X turned to the modes of X, and those themselves in MX. How many of the first are modes. */
static bough_status turn(bough_context *ctx, search *s, int32_t count, int32_t *good) {
    const int32_t w = s->width;
    for (int32_t k = 0; k < w; k++)
        apply(s, s->MX + (size_t)k * s->length, s->Y + (size_t)k * s->length, s->MY);
    for (int32_t i = 0; i < w; i++)
        for (int32_t j = 0; j <= i; j++)
            s->H[i * w + j] = s->H[j * w + i] =
                0.5 * (dot(s->length, s->MX + (size_t)i * s->length, s->Y + (size_t)j * s->length) +
                       dot(s->length, s->MX + (size_t)j * s->length, s->Y + (size_t)i * s->length));
    if (!bo_sym_eigen(w, s->H, s->theta, s->V, s->scratch))
        return bo_fail(ctx, BOUGH_NOT_FINITE, "a mode of the mechanism is not finite");
    combine(s, s->Y, s->MY);
    memcpy(s->Y, s->MY, (size_t)w * s->length * sizeof(double));
    combine(s, s->X, s->MX);
    memcpy(s->X, s->MX, (size_t)w * s->length * sizeof(double));
    *good = 0;
    while (s->width > 0 && !(s->theta[w - s->width] > NOTHING * s->largest)) /* the last of them goes */
        s->width--;
    memmove(s->theta, s->theta + (w - s->width), (size_t)s->width * sizeof(double));
    for (int32_t k = 0; k < s->width && k < count; k++, ++*good) { /* |C M x - theta x|_M against theta */
        const double theta = s->theta[s->width - 1 - k];
        double *left = s->MY, *momentum = s->MY + s->length;
        for (size_t i = 0; i < s->length; i++)
            left[i] = s->Y[(size_t)k * s->length + i] - theta * s->X[(size_t)k * s->length + i];
        bo_links_momentum(s->f->mechanism, left, momentum);
        if (!(sqrt(fmax(0, dot(s->length, left, momentum))) <= RESIDUAL * theta))
            break;
    }
    return BOUGH_OK;
}

static bough_status iterate(bough_context *ctx, search *s, int32_t count, int32_t *found) {
    const int32_t first = s->width;
    uint64_t bits = 88172645463325252u;
    for (size_t i = 0; i < (size_t)s->width * s->length; i++) { /* any start will do that has all modes in it */
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        s->X[i] = (double)(bits >> 11) * 0x1p-53 - 0.5;
    }
    for (int32_t k = 0; k < s->width; k++) {
        bo_links_momentum(s->f->mechanism, s->X + (size_t)k * s->length, s->MX);
        if (k == 0)
            s->largest = size_of_answer(s, s->X, s->MX);
        apply(s, s->MX, s->Y + (size_t)k * s->length, s->MY);
    }
    *found = 0;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        orthonormalise(s);
        if (s->width == 0)
            return BOUGH_OK;
        BO_TRY(turn(ctx, s, count, found));
        if (*found == count || *found == s->width) /* of these many there are no more */
            return BOUGH_OK;
    }
    /* where all motions were searched, what is left is none */
    return s->width < first || first >= s->f->mechanism->coordinate_count
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_NO_CONVERGENCE, "%d modes of the mechanism were found where %d were asked for",
                         *found, count);
}

bough_status bo_flexibility_modes(bough_context *ctx, bo_flexibility *f, const bo_hold *hold, int32_t count,
                                  double *squares, double *twists, int32_t *found) {
    const bough_mechanism *m = f->mechanism;
    search s = {.f = f, .hold = hold, .length = 6 * (size_t)m->def.link_count};
    *found = 0;
    count = count < m->coordinate_count ? count : m->coordinate_count;
    s.width = 2 * count + GUARDS < m->coordinate_count ? 2 * count + GUARDS : m->coordinate_count;
    const size_t w = (size_t)s.width, vectors = w > 2 ? w : 2;
    double *memory = w > 0 ? BO_NEW_ZEROS(ctx, double, 4 * vectors * s.length + 2 * w * w + 3 * w) : NULL;
    if (w == 0)
        return BOUGH_OK;
    if (!memory)
        return bo_fail_memory(ctx);
    s.X = memory, s.MX = s.X + vectors * s.length, s.Y = s.MX + vectors * s.length, s.MY = s.Y + vectors * s.length;
    s.H = s.MY + vectors * s.length, s.V = s.H + w * w, s.theta = s.V + w * w, s.scratch = s.theta + w;
    bough_status status = m->def.free_base && !hold ? factor_rigid(ctx, &s) : BOUGH_OK;
    if (status == BOUGH_OK)
        status = iterate(ctx, &s, count, found);
    for (int32_t k = 0; k < *found && status == BOUGH_OK; k++) {
        squares[k] = 1 / s.theta[s.width - 1 - k];
        if (twists)
            memcpy(twists + (size_t)k * s.length, s.X + (size_t)k * s.length, s.length * sizeof(double));
    }
    bo_free(ctx, memory);
    return status;
}
