/* Parts by themselves: forces and stiffness, inertia as they are bent now. docs/theory/tree.md, "Inertia" and
 * "Integration". What blocks are: blocks.h. */
#include "tree/blocks.h"
#include "tree/groves.h"

#include "base/threads.h"

#include <string.h>

/* Factors of the parts of a block, by lane. */
typedef struct {
    double mass, first, second; /* scale^3, ^4, ^5 */
    double elastic;             /* stiffness^2 scale^3 */
    double damping_mass, damping_stiffness;
} factors;

static factors factors_of(const bo_tree_pass *pass, int32_t part) {
    const bo_tree_part *p = &pass->model->parts[part];
    const double stiffness = pass->state->stiffness[p->user];
    return (factors){p->scale3,
                     p->scale4,
                     p->scale5,
                     stiffness * stiffness * p->scale3,
                     pass->state->damping_mass[p->user],
                     pass->state->damping_stiffness[p->user]};
}

/* ---- forces and stiffness ---- */

/* Forces of the step are linear about q*, where the pass takes inertia too: with K = K(q*), D = a M + b K,
 *     H = M + (1 + alpha) (gamma dt D + beta dt^2 K),   p = f(q*) + K (q + (1 + alpha) (qp - q) - q*) + D rate,
 *     rate = (1 + alpha) vp - alpha v
 * as factors of M and K, and of q - q*, v and a at the start of the step. */
typedef struct {
    double in_mass, in_now;  /* of H */
    double of_mass, of_now;  /* of the rate */
    double ahead_v, ahead_a; /* (1 + alpha) (qp - q) */
    double rate_a;           /* (1 + alpha) (vp - v) */
    double elastic;
} coefficients;

static coefficients coefficients_of(const bo_tree_scheme *h, const factors *f) {
    const double more = 1 + h->alpha, rate = more * h->gamma * h->dt, ahead = h->begins ? 0 : more * h->dt;
    return (coefficients){.in_mass = f->second * (1 + rate * f->damping_mass),
                          .in_now = (more * h->beta * h->dt * h->dt + rate * f->damping_stiffness) * f->elastic,
                          .of_mass = f->damping_mass * f->second,
                          .of_now = f->damping_stiffness * f->elastic,
                          .ahead_v = ahead * f->elastic,
                          .ahead_a = ahead * h->dt * (0.5 - h->beta) * f->elastic,
                          .rate_a = ahead * (1 - h->gamma),
                          .elastic = f->elastic};
}

/* Coordinates of a block at the start of the step and q*, side by side. */
typedef struct {
    const double *q, *v, *a, *there;
} motion;

BO_MULTIVERSION
static void assemble_one(const bo_component_tables *t, const coefficients *c, const motion *m, const double *restrict f,
                         const double *restrict K, double *restrict scratch, double *restrict H, double *restrict p) {
    const int32_t r = t->r, n = t->n;
    double *ahead = scratch, *mass = ahead + n;
    for (int32_t l = 0; l < n; l++) {
        const double rate = m->v[l] + c->rate_a * m->a[l];
        ahead[l] =
            c->ahead_v * m->v[l] + c->ahead_a * m->a[l] + c->elastic * (m->q[l] - m->there[l]) + c->of_now * rate;
        mass[l] = c->of_mass * rate;
        p[l] = l < r ? c->elastic * f[l] : 0;
    }
    for (int32_t k = 0; k < r; k++) { /* matrices are symmetric: p gathers columns */
        const double *Kk = K + k * r, *Mk = t->M + k * n;
        const double x = ahead[k], y = mass[k];
        for (int32_t l = 0; l < r; l++) {
            p[l] += x * Kk[l] + y * Mk[l];
            H[k * n + l] = c->in_mass * Mk[l] + c->in_now * Kk[l];
        }
    }
}

typedef struct {
    double in_mass[BO_WIDE], in_now[BO_WIDE], of_mass[BO_WIDE], of_now[BO_WIDE], ahead_v[BO_WIDE], ahead_a[BO_WIDE],
        rate_a[BO_WIDE], elastic[BO_WIDE];
} wide_coefficients;

/* K: lower triangle, packed; H likewise, and may be K. */
BO_MULTIVERSION
static void assemble_wide(const bo_component_tables *t, const wide_coefficients *c, const motion *m,
                          const double *restrict f, const double *K, double *restrict scratch, double *H,
                          double *restrict p) {
    enum { W = BO_WIDE };
    const int32_t r = t->r, n = t->n;
    double *ahead = scratch, *mass = ahead + W * n;
    for (int32_t l = 0; l < W * r; l++) {
        const int k = l % W;
        const double rate = m->v[l] + c->rate_a[k] * m->a[l];
        ahead[l] = c->ahead_v[k] * m->v[l] + c->ahead_a[k] * m->a[l] + c->elastic[k] * (m->q[l] - m->there[l]) +
                   c->of_now[k] * rate;
        mass[l] = c->of_mass[k] * rate;
    }
    for (int h = 0; h < W; h += BO_WIDTH) {
        const bo_vw in_mass = BO_VW_CONST(c->in_mass + h), in_now = BO_VW_CONST(c->in_now + h);
        const bo_vw elastic = BO_VW_CONST(c->elastic + h);
        for (int32_t l = 0; l < r; l++)
            BO_VW(p + W * l + h) = elastic * BO_VW_CONST(f + W * l + h);
        for (int32_t i = 0; i < r; i++) {
            const ptrdiff_t row = (ptrdiff_t)W * (i * (i + 1) / 2) + h;
            const bo_vw ai = BO_VW_CONST(ahead + W * i + h), mi = BO_VW_CONST(mass + W * i + h);
            bo_vw sum = BO_VW_CONST(p + W * i + h);
            for (int32_t j = 0; j < i; j++) {
                const bo_vw Kij = BO_VW_CONST(K + row + W * j);
                const double M = t->M[i * n + j];
                BO_VW(H + row + W * j) = in_mass * M + in_now * Kij;
                sum += Kij * BO_VW_CONST(ahead + W * j + h) + M * BO_VW_CONST(mass + W * j + h);
                BO_VW(p + W * j + h) += Kij * ai + M * mi;
            }
            const bo_vw Kii = BO_VW_CONST(K + row + W * i);
            const double M = t->M[i * n + i];
            BO_VW(H + row + W * i) = in_mass * M + in_now * Kii;
            BO_VW(p + W * i + h) = sum + (Kii * ai + M * mi);
        }
    }
}

/* A pass that only weighs parts reads no matrices. */
static bool weighs_only(const bo_tree_pass *pass) {
    return pass->scheme->inert && !pass->solve;
}

/* H of masses alone, p = 0 */
static void assemble_inert(const bo_tree_pass *pass, const bo_tree_block *b, double *H, double *p) {
    const bo_component_tables *t = &pass->model->components[b->component];
    memset(p, 0, (size_t)(b->n * b->lanes) * sizeof *p);
    for (int32_t i = 0; i < b->r && !weighs_only(pass); i++)
        for (int32_t j = 0; j <= i; j++)
            for (int32_t k = 0; k < b->lanes; k++) {
                const double s5 = k < b->count ? pass->model->parts[b->first + k].scale5 : 1;
                H[b->lanes == 1 ? i * b->n + j : BO_WIDE * (i * (i + 1) / 2 + j) + k] = s5 * t->M[i * b->n + j];
            }
}

/* Gradient and packed Hessian of the parts of a wide block that have no table, at q `at`. */
static bool evaluate_lanes(const bo_tree_pass *pass, const bo_tree_block *b, const double *at, double *scratch,
                           double *f, double *K) {
    const bo_component_tables *t = &pass->model->components[b->component];
    const int32_t r = b->r;
    double *one_f = scratch, *one_K = one_f + r, *rest = one_K + r * r;
    for (int32_t k = 0; k < BO_WIDE; k++) {
        const int32_t part = b->first + (k < b->count ? k : 0);
        if (!bough_component_evaluate(t->c, at + pass->model->parts[part].offset, rest, NULL, one_f, one_K))
            return false;
        for (int32_t i = 0; i < r; i++) {
            f[BO_WIDE * i + k] = one_f[i];
            for (int32_t j = 0; j <= i; j++)
                K[BO_WIDE * (i * (i + 1) / 2 + j) + k] = one_K[i * r + j];
        }
    }
    return true;
}

/* Without the damping that is added later. */
static factors stiff_factors_of(const bo_tree_pass *pass, int32_t part) {
    factors f = factors_of(pass, part);
    if (pass->damped)
        f.damping_stiffness = 0;
    return f;
}

static bool linearise_wide(const bo_tree_pass *pass, const bo_tree_block *b, const motion *m, double *scratch,
                           double *H, double *p) {
    const bo_component_tables *t = &pass->model->components[b->component];
    const int32_t size = BO_WIDE * b->n;
    double *f = scratch, *more = f + size, *rest = more + 2 * size;
    if (t->tangent)
        bo_tangent_evaluate(b->r, t->tangent, m->there, rest, f, H);
    else if (!evaluate_lanes(pass, b, pass->there ? pass->there : pass->q, rest, f, H))
        return false;
    wide_coefficients c;
    for (int32_t k = 0; k < BO_WIDE; k++) {
        const factors g = stiff_factors_of(pass, b->first + (k < b->count ? k : 0));
        const coefficients one = coefficients_of(pass->scheme, &g);
        c.in_mass[k] = one.in_mass, c.in_now[k] = one.in_now;
        c.of_mass[k] = one.of_mass, c.of_now[k] = one.of_now;
        c.ahead_v[k] = one.ahead_v, c.ahead_a[k] = one.ahead_a;
        c.rate_a[k] = one.rate_a, c.elastic[k] = one.elastic;
    }
    assemble_wide(t, &c, m, f, H, more, H, p);
    return true;
}

static bool linearise_one(const bo_tree_pass *pass, const bo_tree_block *b, const motion *m, double *scratch, double *H,
                          double *p) {
    const bo_component_tables *t = &pass->model->components[b->component];
    const int32_t n = b->n;
    double *f = scratch, *more = f + n, *K = more + 2 * n, *rest = K + n * n;
    if (!bough_component_evaluate(t->c, m->there, rest, NULL, f, K))
        return false;
    const factors g = stiff_factors_of(pass, b->first);
    const coefficients c = coefficients_of(pass->scheme, &g);
    assemble_one(t, &c, m, f, K, more, H, p);
    return true;
}

/* Stiffness of a part where a pass takes it for damping; scratch: room for it. NULL: a material is inverted. */
static const double *damping_stiffness(const bo_tree_pass *pass, const bough_component *c, int32_t part,
                                       double *scratch) {
    if (pass->damped == pass->work->rest)
        return c->K;
    return bough_component_evaluate(c, pass->damped + pass->model->parts[part].offset, scratch + c->r * c->r, NULL,
                                    NULL, scratch)
               ? scratch
               : NULL;
}

/* The same K for all parts of a wide block: H += more K, p += now K (v + rate a), eight lanes each. x: room for r. */
BO_MULTIVERSION
static void damp_wide(int32_t r, const double *K, const bo_v4 more[2], const bo_v4 now[2], const bo_v4 rate[2],
                      const motion *m, double *restrict x, double *restrict H, double *restrict p) {
    for (int32_t k = 0; k < 2 * r; k++)
        BO_V4(x + 4 * k) = BO_V4_CONST(m->v + 4 * k) + rate[k % 2] * BO_V4_CONST(m->a + 4 * k);
    for (int32_t i = 0; i < r; i++, K += r, p += BO_WIDE) {
        bo_v4 low = {0}, high = {0};
        for (int32_t j = 0; j < r; j++)
            low += K[j] * BO_V4_CONST(x + BO_WIDE * j), high += K[j] * BO_V4_CONST(x + BO_WIDE * j + 4);
        BO_V4(p) += now[0] * low, BO_V4(p + 4) += now[1] * high;
        for (int32_t j = 0; j <= i; j++, H += BO_WIDE)
            BO_V4(H) += K[j] * more[0], BO_V4(H + 4) += K[j] * more[1];
    }
}

/* Those of a block where all of its parts take K at rest. */
static void damp_at_rest(const bo_tree_pass *pass, const bo_tree_block *b, const motion *m, double *scratch, double *H,
                         double *p) {
    const bo_tree_scheme *h = pass->scheme;
    bo_v4 more[2] = {{0}}, now[2] = {{0}}, rate[2] = {{0}};
    for (int32_t k = 0; k < b->count; k++) {
        const factors g = factors_of(pass, b->first + k);
        const coefficients c = coefficients_of(h, &g);
        more[k / 4][k % 4] = (1 + h->alpha) * h->gamma * h->dt * c.of_now;
        now[k / 4][k % 4] = c.of_now, rate[k / 4][k % 4] = c.rate_a;
    }
    damp_wide(b->r, pass->model->components[b->component].c->K, more, now, rate, m, scratch, H, p);
}

/* The same of a part alone, with any K: rows of it are its columns, too. x: room for n. */
BO_MULTIVERSION
static void damp_one(int32_t r, int32_t n, const double *restrict K, double more, double now, double rate,
                     const motion *m, double *restrict x, double *restrict H, double *restrict p) {
    for (int32_t i = 0; i < r; i++)
        x[i] = now * (m->v[i] + rate * m->a[i]);
    for (int32_t i = 0; i < r; i++, K += r, H += n)
        for (int32_t j = 0; j < r; j++)
            p[j] += K[j] * x[i], H[j] += more * K[j];
}

/* Damping by stiffness of a pass that takes it elsewhere than its forces: H += (1 + alpha) gamma dt b K, p += b K rate. */
static bool add_damping(const bo_tree_pass *pass, const bo_tree_block *b, const motion *m, double *scratch, double *H,
                        double *p) {
    const bo_component_tables *t = &pass->model->components[b->component];
    const bo_tree_scheme *h = pass->scheme;
    if (b->lanes > 1 && pass->damped == pass->work->rest) {
        damp_at_rest(pass, b, m, scratch, H, p);
        return true;
    }
    for (int32_t k = 0; k < b->count; k++) {
        const factors g = factors_of(pass, b->first + k);
        const coefficients c = coefficients_of(h, &g);
        const double by = (1 + h->alpha) * h->gamma * h->dt * c.of_now;
        if (c.of_now == 0 || b->r == 0) /* rigid parts have no stiffness */
            continue;
        const double *K = damping_stiffness(pass, t->c, b->first + k, scratch);
        if (!K)
            return false;
        if (b->lanes == 1)
            damp_one(b->r, b->n, K, by, c.of_now, c.rate_a, m, scratch + b->r * b->r, H, p);
        for (int32_t i = 0; i < b->r && b->lanes > 1; i++)
            for (int32_t j = 0; j < b->r; j++) {
                const int32_t at = b->lanes * j + k;
                p[b->lanes * i + k] += c.of_now * K[i * b->r + j] * (m->v[at] + c.rate_a * m->a[at]);
                if (j <= i)
                    H[BO_WIDE * (i * (i + 1) / 2 + j) + k] += by * K[i * b->r + j];
            }
    }
    return true;
}

/* ---- inertia ---- */

/* y (count doubles, a multiple of four) = base + sum_p x_p table[p], rows of `stride` */
BO_INLINE void combine(int32_t count, int32_t r, const double *restrict base, const double *restrict table,
                       int32_t stride, const double *restrict x, double *restrict y) {
    int32_t k = 0;
    for (; k + 24 <= count; k += 24) {
        bo_v4 s[6];
        for (int i = 0; i < 6; i++)
            s[i] = base ? BO_V4_CONST(base + k + 4 * i) : (bo_v4){0};
        for (int32_t p = 0; p < r; p++)
            for (int i = 0; i < 6; i++)
                s[i] += x[p] * BO_V4_CONST(table + (ptrdiff_t)p * stride + k + 4 * i);
        for (int i = 0; i < 6; i++)
            BO_V4(y + k + 4 * i) = s[i];
    }
    for (; k < count; k += 4) {
        bo_v4 s = base ? BO_V4_CONST(base + k) : (bo_v4){0};
        for (int32_t p = 0; p < r; p++)
            s += x[p] * BO_V4_CONST(table + (ptrdiff_t)p * stride + k);
        BO_V4(y + k) = s;
    }
}

/* Inertia of a frame, by lane. */
typedef struct {
    bo_v4 mc[3], flow[3]; /* first moment and its rate */
    bo_v4 Sigma[6], D[9]; /* second moment; sum v_l V_l */
} moments;

/* Bias force and inertia of a part [m 1, -mc~; mc~, I] that is bent and turns with w. */
BO_INLINE void set_inertia(const moments *m, const bo_v4 *mass, const bo_v4 *w, bo_v4 *I, bo_v4 *p) {
    const bo_v4 trace = m->Sigma[0] + m->Sigma[3] + m->Sigma[5], rate = m->D[0] + m->D[4] + m->D[8];
    const bo_v4 zero = {0};
    I[0] = I[3] = I[5] = *mass;
    I[1] = I[2] = I[4] = zero;
    bo_v4 *C = I + BO_SIX_C, *T = I + BO_SIX_T;
    C[0] = C[4] = C[8] = zero;
    C[1] = m->mc[2], C[2] = -m->mc[1], C[3] = -m->mc[2], C[5] = m->mc[0], C[6] = m->mc[1], C[7] = -m->mc[0];
    for (int k = 0; k < 6; k++)
        T[k] = -m->Sigma[k];
    T[0] += trace, T[3] += trace, T[5] += trace;
    /* [w x (w x mc) + 2 w x flow; w x T w + 2 (tr D 1 - D) w] */
    bo_v4 t[3], u[3];
    bo_cross4(w, m->mc, t);
    for (int k = 0; k < 3; k++)
        t[k] += 2 * m->flow[k];
    bo_cross4(w, t, p);
    bo_symv4(T, w, t);
    bo_cross4(w, t, p + 3);
    bo_mulv4(m->D, w, u);
    for (int k = 0; k < 3; k++)
        p[3 + k] += 2 * (rate * w[k] - u[k]);
}

/* w w^T - |w|^2 1 */
BO_INLINE void centrifugal(const bo_v4 *w, bo_v4 *ww) {
    const bo_v4 square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    for (int k = 0; k < 9; k++)
        ww[k] = w[k / 3] * w[k % 3];
    for (int k = 0; k < 9; k += 4)
        ww[k] -= square;
}

static const int first_of[6] = {0, 0, 0, 1, 1, 2}, second_of[6] = {0, 1, 2, 1, 2, 2}; /* of a packed symmetric one */

BO_INLINE double sum_of(const bo_v4 *v) {
    return ((*v)[0] + (*v)[1]) + ((*v)[2] + (*v)[3]);
}
BO_INLINE double dot(int32_t n, const double *restrict x, const double *restrict y) {
    bo_v4 sum = {0};
    for (int32_t l = 0; l < n; l += 4)
        sum += BO_V4_CONST(x + l) * BO_V4_CONST(y + l);
    return sum_of(&sum);
}

/* Input and output of the terms of a block, for both kinds of blocks. */
typedef struct {
    const bo_component_tables *t;
    const double *q, *v;    /* n x lanes */
    const double *p, *load; /* likewise; load may be NULL */
    double *V, *N;          /* scratch: 9 n and 3 n x lanes, in whole groups of rows */
    double *Mrq, *p_q;      /* out */
    bo_tree_frames *frames; /* of the block's slots */
    bo_tree_inertias *inertias;
    int32_t lane; /* of a part alone */
    bool inertias_wanted;
    const factors *factors; /* of each lane */
} own;

/* The same in all lanes. */
BO_INLINE void moments_one(const own *o, moments *m) {
    const bo_component_tables *t = o->t;
    const double *V = o->V;
    const int32_t n = t->n;
    const factors *f = o->factors;
    for (int k = 0; k < 3; k++) {
        m->mc[k] = f->first * (t->c->mc0[k] + dot(n, t->s + k * n, o->q)) + (bo_v4){0};
        m->flow[k] = f->first * dot(n, t->s + k * n, o->v) + (bo_v4){0};
    }
    for (int k = 0; k < 9; k++)
        m->D[k] = f->second * dot(n, V + k * n, o->v) + (bo_v4){0};
    for (int k = 0; k < 6; k++) {
        const int a = first_of[k], b = second_of[k];
        m->Sigma[k] = f->second * (t->c->Sigma0[3 * a + b] + dot(n, V + (3 * a + b) * n, o->q) +
                                   dot(n, t->W5 + (3 * b + a) * n, o->q)) +
                      (bo_v4){0};
    }
}

BO_MULTIVERSION
static void own_one(const own *o) {
    const bo_component_tables *t = o->t;
    const int32_t r = t->r, n = t->n;
    const factors *f = o->factors;
    double *V = o->V, *N = o->N;
    combine(9 * n, r, t->W5, t->W7, 9 * n, o->q, V);
    combine(3 * n, r, NULL, t->k7, 3 * n, o->v, N);
    double w[3], ww[9];
    for (int k = 0; k < 3; k++)
        w[k] = BO_LANE_CONST(o->frames->w[k], o->lane);
    for (int k = 0; k < 9; k++)
        ww[k] = w[k / 3] * w[k % 3] - (k % 4 == 0 ? w[0] * w[0] + w[1] * w[1] + w[2] * w[2] : 0);
    for (int32_t l = 0; l < n; l += 4) {
        bo_v4 sum = 2 * (w[0] * BO_V4_CONST(N + l) + w[1] * BO_V4_CONST(N + n + l) + w[2] * BO_V4_CONST(N + 2 * n + l));
        for (int k = 0; k < 9; k++)
            sum += ww[k] * BO_V4_CONST(V + k * n + l);
        bo_v4 p = f->second * sum + BO_V4_CONST(o->p + l);
        if (o->load)
            p -= BO_V4_CONST(o->load + l);
        BO_V4(o->p_q + l) = p;
        for (int d = 0; d < 3; d++) {
            BO_V4(o->Mrq + d * n + l) = f->first * BO_V4_CONST(t->s + d * n + l);
            BO_V4(o->Mrq + (3 + d) * n + l) = f->second * (BO_V4_CONST(V + (3 * ((d + 2) % 3) + (d + 1) % 3) * n + l) -
                                                           BO_V4_CONST(V + (3 * ((d + 1) % 3) + (d + 2) % 3) * n + l));
        }
    }
    if (!o->inertias_wanted)
        return;
    moments m;
    bo_v4 wide_w[3], mass = f->mass * t->c->mass + (bo_v4){0}, I[BO_SIX], p[6];
    for (int k = 0; k < 3; k++)
        wide_w[k] = w[k] + (bo_v4){0};
    moments_one(o, &m);
    set_inertia(&m, &mass, wide_w, I, p);
    for (int k = 0; k < BO_SIX; k++)
        BO_LANE(o->inertias->I[k], o->lane) = I[k][0];
    for (int k = 0; k < 6; k++)
        BO_LANE(o->inertias->p[k], o->lane) = p[k][0];
}

/* Lanes from `lane` on, as many as a register holds, of row k of `rows` of coordinate l in a table. */
#define ROW(table, rows, l, k) BO_VW_CONST((table) + BO_WIDE * ((rows) * (l) + (k)) + lane)

/* Half h of the lanes. */
BO_INLINE void moments_wide(const own *o, int h, const bo_v4 *s4, const bo_v4 *s5, moments *out) {
    const bo_component_tables *t = o->t;
    const int32_t r = t->r, n = t->n;
    const double *restrict q = o->q, *restrict v = o->v, *restrict V = o->V, *restrict s = t->s, *restrict W5 = t->W5;
    moments m;
    for (int i = 0; i < 4; i += BO_WIDTH) {
        const int lane = 4 * h + i;
        bo_vw mc[3] = {{0}}, flow[3] = {{0}}, D[9] = {{0}}, Sigma[6] = {{0}};
        for (int32_t l = 0; l < r; l++) {
            const bo_vw ql = ROW(q, 1, l, 0), vl = ROW(v, 1, l, 0);
            for (int k = 0; k < 3; k++) {
                mc[k] += s[k * n + l] * ql;
                flow[k] += s[k * n + l] * vl;
            }
        }
        for (int32_t l = 0; l < r; l++) {
            const bo_vw vl = ROW(v, 1, l, 0);
            for (int k = 0; k < 9; k++)
                D[k] += vl * ROW(V, 9, l, k);
        }
        for (int32_t l = 0; l < r; l++) {
            const bo_vw ql = ROW(q, 1, l, 0);
            for (int k = 0; k < 6; k++) {
                const int a = first_of[k], b = second_of[k];
                Sigma[k] += ql * (ROW(V, 9, l, 3 * a + b) + W5[(3 * b + a) * n + l]);
            }
        }
        for (int k = 0; k < 3; k++)
            BO_VW(&BO_LANE(m.mc[k], i)) = mc[k], BO_VW(&BO_LANE(m.flow[k], i)) = flow[k];
        for (int k = 0; k < 9; k++)
            BO_VW(&BO_LANE(m.D[k], i)) = D[k];
        for (int k = 0; k < 6; k++)
            BO_VW(&BO_LANE(m.Sigma[k], i)) = Sigma[k];
    }
    for (int k = 0; k < 3; k++) {
        out->mc[k] = *s4 * (t->c->mc0[k] + m.mc[k]);
        out->flow[k] = *s4 * m.flow[k];
    }
    for (int k = 0; k < 9; k++)
        out->D[k] = *s5 * m.D[k];
    for (int k = 0; k < 6; k++)
        out->Sigma[k] = *s5 * (t->c->Sigma0[3 * first_of[k] + second_of[k]] + m.Sigma[k]);
}

BO_MULTIVERSION
static void own_wide(const own *o) {
    enum { W = BO_WIDE };
    const bo_component_tables *t = o->t;
    const int32_t r = t->r, n = t->n;
    const double *restrict V = o->V, *restrict N = o->N, *restrict s = t->s;
    const double *restrict force = o->p, *restrict load = o->load;
    double *restrict p_q = o->p_q, *restrict Mrq = o->Mrq;
    bo_affine(9 * r, r, t->bending, o->q, o->V);
    bo_affine(3 * r, r, t->bending + bo_affine_size(9 * r, r), o->v, o->N);
    for (int h = 0; h < 2; h++) {
        const factors *f = o->factors + 4 * h;
        const bo_v4 s3 = {f[0].mass, f[1].mass, f[2].mass, f[3].mass};
        const bo_v4 s4 = {f[0].first, f[1].first, f[2].first, f[3].first};
        const bo_v4 s5 = {f[0].second, f[1].second, f[2].second, f[3].second};
        const bo_v4 *w = o->frames[h].w;
        bo_v4 ww[9];
        centrifugal(w, ww);
        for (int i = 0; i < 4; i += BO_WIDTH) {
            const int lane = 4 * h + i;
            const bo_vw first = BO_VW_CONST(&BO_LANE_CONST(s4, i)), second = BO_VW_CONST(&BO_LANE_CONST(s5, i));
            bo_vw turn[3], square[9];
            for (int k = 0; k < 3; k++)
                turn[k] = BO_VW_CONST(&BO_LANE_CONST(w[k], i));
            for (int k = 0; k < 9; k++)
                square[k] = BO_VW_CONST(&BO_LANE_CONST(ww[k], i));
            for (int32_t l = 0; l < r; l++) {
                const ptrdiff_t at = W * l + lane;
                bo_vw sum = 2 * (turn[0] * ROW(N, 3, l, 0) + turn[1] * ROW(N, 3, l, 1) + turn[2] * ROW(N, 3, l, 2));
                for (int k = 0; k < 9; k++)
                    sum += square[k] * ROW(V, 9, l, k);
                bo_vw p = second * sum + BO_VW_CONST(force + at);
                if (load)
                    p -= BO_VW_CONST(load + at);
                BO_VW(p_q + at) = p;
                for (int d = 0; d < 3; d++)
                    BO_VW(Mrq + W * d * n + at) = first * s[d * n + l];
                BO_VW(Mrq + W * 3 * n + at) = second * (ROW(V, 9, l, 7) - ROW(V, 9, l, 5));
                BO_VW(Mrq + W * 4 * n + at) = second * (ROW(V, 9, l, 2) - ROW(V, 9, l, 6));
                BO_VW(Mrq + W * 5 * n + at) = second * (ROW(V, 9, l, 3) - ROW(V, 9, l, 1));
            }
        }
        if (!o->inertias_wanted)
            continue;
        moments m;
        moments_wide(o, h, &s4, &s5, &m);
        const bo_v4 mass = s3 * t->c->mass;
        set_inertia(&m, &mass, w, o->inertias[h].I, o->inertias[h].p);
    }
}
#undef ROW

/* Wrenches from outside on the parts of a block. */
static void subtract_wrenches(const bo_tree_pass *pass, const bo_tree_block *b) {
    for (int32_t k = 0; k < b->count; k++) {
        const int32_t slot = b->slot + k;
        for (int d = 0; d < 6; d++)
            BO_LANE(pass->work->inertias[slot / 4].p[d], slot % 4) -= pass->work->load_wrench[6 * (b->first + k) + d];
    }
}

static void own_terms(const bo_tree_pass *pass, const bo_tree_block *b, const double *q, const double *v,
                      const double *p, double *scratch) {
    bo_tree_work *w = pass->work;
    const ptrdiff_t size = b->n * b->lanes, lanes = b->lanes;
    double *load = scratch, *V = load + size, *N = V + 9 * size + 4 * lanes;
    factors f[BO_WIDE];
    for (int32_t k = 0; k < b->lanes; k++)
        f[k] = factors_of(pass, b->first + (k < b->count ? k : 0));
    const bool loads_act = bo_tree_loads_act(w, &pass->mode) && (!w->burdened || w->burdened[b - pass->model->blocks]);
    if (loads_act)
        bo_tree_gather_block(pass->model, b, w->load, load);
    own o = {.t = &pass->model->components[b->component],
             .q = q,
             .v = v,
             .p = p,
             .load = loads_act ? load : NULL,
             .V = V,
             .N = N,
             .Mrq = w->Mrq + 6 * b->vectors,
             .p_q = w->p_q + b->vectors,
             .frames = &w->frames[b->slot / 4],
             .inertias = &w->inertias[b->slot / 4],
             .lane = b->slot % 4,
             .inertias_wanted = pass->inertias,
             .factors = f};
    if (b->lanes == 1)
        own_one(&o);
    else
        own_wide(&o);
    if (loads_act && pass->inertias)
        subtract_wrenches(pass, b);
}

/* Forces and stiffness of a block, or those of the last time. q, v: side by side, where inertia is taken and forces are
 * linearised. */
static bool linearise(const bo_tree_pass *pass, const bo_tree_block *b, const double *q, const double *v,
                      double *scratch, double *L, double *p) {
    const bough_tree_state *state = pass->state;
    const size_t entries = (size_t)(b->lanes == 1 ? b->r * b->n : b->r * (b->r + 1) / 2 * BO_WIDE);
    const ptrdiff_t size = b->n * b->lanes;
    double *kept = pass->work->H + b->squares;
    if (!pass->elastic) {
        memcpy(L, kept, entries * sizeof *L);
        return true;
    }
    if (pass->scheme->inert) {
        assemble_inert(pass, b, L, p);
    } else {
        motion m = {.q = q, .v = v, .a = scratch, .there = q};
        bo_tree_gather_block(pass->model, b, state->a, scratch);
        scratch += size;
        if (pass->q != state->q || pass->v != state->v) { /* somewhere else than at the start */
            bo_tree_gather_block(pass->model, b, state->q, scratch);
            bo_tree_gather_block(pass->model, b, state->v, scratch + size);
            m.q = scratch, m.v = scratch + size, scratch += 2 * size;
        }
        if (pass->there && pass->there == state->q) {
            m.there = m.q;
        } else if (pass->there) {
            bo_tree_gather_block(pass->model, b, pass->there, scratch);
            m.there = scratch, scratch += size;
        }
        if (!(b->lanes == 1 ? linearise_one : linearise_wide)(pass, b, &m, scratch, L, p) ||
            (pass->damped && !add_damping(pass, b, &m, scratch, L, p)))
            return false;
    }
    if (pass->keep && (b->flies || !pass->keep_flights))
        memcpy(kept, L, entries * sizeof *L);
    return true;
}

static bool prepare_block(const bo_tree_pass *pass, int32_t index, double *scratch) {
    const bough_tree_model *model = pass->model;
    const bo_tree_block *b = &model->blocks[index];
    bo_tree_work *w = pass->work;
    const ptrdiff_t size = b->n * b->lanes;
    double *L = w->L + b->squares, *p = w->p + b->vectors, *q = scratch, *v = q + size, *more = v + size;
    bo_tree_gather_block(model, b, pass->q, q);
    bo_tree_gather_block(model, b, pass->v, v);
    if (!linearise(pass, b, q, v, more, L, p))
        return false;
    const bough_coupling coupling = pass->mode.coupling;
    if (coupling == BOUGH_COUPLING_L1 && !b->bare && !weighs_only(pass)) {
        const int64_t entries = b->lanes == 1 ? b->r * b->n : b->r * (b->r + 1) / 2 * BO_WIDE;
        for (int64_t k = 0; k < entries; k++)
            L[k] += model->lump[b->squares + k];
    }
    own_terms(pass, b, q, v, p, more);
    return !pass->solve || !(b->bare || coupling == BOUGH_COUPLING_L1) || bo_tree_eliminate(model, w, coupling, index);
}

static void prepare_blocks(void *data, int32_t begin, int32_t end, int32_t chunk) {
    bo_tree_pass *pass = data;
    double *scratch = pass->work->scratch + (size_t)chunk * pass->model->scratch_size;
    for (int32_t b = begin; b < end; b++)
        if ((!pass->mode.only_flights || pass->model->blocks[b].flies) && !prepare_block(pass, b, scratch))
            pass->bad[chunk] = true;
}

bool bo_tree_prepare(bough_context *ctx, bo_tree_pass *pass) {
    bo_tree_prepare_joints(pass);
    bo_tree_prepare_ties(pass);
    memset(pass->bad, 0, sizeof pass->bad);
    bo_tree_each_block(ctx, pass->model, prepare_blocks, pass);
    for (int32_t c = 0; c < BO_TREE_CHUNKS; c++)
        if (pass->bad[c])
            return false;
    return true;
}

void bo_tree_set_forces(const bough_tree_model *model, bo_tree_work *work, double scale, const double *f) {
    for (int32_t i = 0; i < model->block_count; i++) {
        const bo_tree_block *b = &model->blocks[i];
        double *p = work->p + b->vectors;
        bo_tree_gather_block(model, b, f, p);
        for (int32_t k = 0; k < b->n * b->lanes; k++)
            p[k] *= -scale;
    }
    for (int32_t j = 0; j < model->joint_count; j++)
        for (int32_t d = 0; d < model->joints[j].count; d++)
            work->swings[j].p[d] = -scale * f[model->joints[j].offset + d];
}

void bo_tree_weigh(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                   const bo_tree_mode *mode, const double *q, const double *v) {
    static const bo_tree_scheme masses = {.inert = true};
    bo_tree_pass pass = {.model = model,
                         .state = state,
                         .work = bo_tree_work_of(state),
                         .mode = *mode,
                         .q = q,
                         .v = v,
                         .scheme = &masses,
                         .elastic = true,
                         .inertias = true};
    bo_tree_prepare(ctx, &pass);
}

/* ---- bare kernels ---- */

/* q in work->x, matrices in work->H, v in that part of work->Z which factorisations leave alone */
static double *kernel_v(const bo_tree_work *w, const bo_tree_block *b) {
    return w->Z + 8 * b->vectors + 4 * b->n * b->lanes;
}

bool bo_tree_prepare_kernels(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state) {
    static const bo_tree_scheme scheme = {.dt = 1.0 / 240, .beta = 0.25, .gamma = 0.5};
    bo_tree_work *w = bo_tree_work_of(state);
    bo_tree_pass pass = {.model = model,
                         .state = state,
                         .work = w,
                         .q = state->q,
                         .v = state->v,
                         .scheme = &scheme,
                         .elastic = true,
                         .keep = true};
    if (bo_tree_come_back(ctx, model, state) != BOUGH_OK || !bo_tree_prepare(ctx, &pass))
        return false;
    for (int32_t b = 0; b < model->block_count; b++) {
        bo_tree_gather_block(model, &model->blocks[b], state->q, w->x + model->blocks[b].vectors);
        bo_tree_gather_block(model, &model->blocks[b], state->v, kernel_v(w, &model->blocks[b]));
    }
    w->frames_stale = true;
    return true;
}

static void elastic_kernel(const bough_tree_model *model, bo_tree_work *w, const bo_tree_block *b) {
    const bo_component_tables *t = &model->components[b->component];
    double *f = w->scratch, *rest = f + b->n * b->lanes;
    const double *q = w->x + b->vectors;
    if (b->lanes == 1)
        bough_component_evaluate(t->c, q, rest, NULL, f, w->L + b->squares);
    else if (t->tangent)
        bo_tangent_evaluate(b->r, t->tangent, q, rest, f, w->L + b->squares);
}

static void solve_kernel(const bough_tree_model *model, bo_tree_work *w, const bo_tree_block *b) {
    const size_t entries = (size_t)(b->lanes == 1 ? b->r * b->n : b->r * (b->r + 1) / 2 * BO_WIDE);
    (void)model;
    memcpy(w->L + b->squares, w->H + b->squares, entries * sizeof *w->L);
    bo_tree_eliminate_block(w, b, false);
    bo_tree_substitute_block(w, b, false, w->p + b->vectors);
}

static void system_kernel(const bough_tree_model *model, bo_tree_work *w, const bo_tree_block *b) {
    static const factors ones[BO_WIDE] = {{1, 1, 1, 1, 0, 0}, {1, 1, 1, 1, 0, 0}, {1, 1, 1, 1, 0, 0},
                                          {1, 1, 1, 1, 0, 0}, {1, 1, 1, 1, 0, 0}, {1, 1, 1, 1, 0, 0},
                                          {1, 1, 1, 1, 0, 0}, {1, 1, 1, 1, 0, 0}};
    const own o = {.t = &model->components[b->component],
                   .q = w->x + b->vectors,
                   .v = kernel_v(w, b),
                   .p = w->p + b->vectors,
                   .V = w->scratch,
                   .N = w->scratch + 9 * b->n * b->lanes + 4 * b->lanes,
                   .Mrq = w->Mrq + 6 * b->vectors,
                   .p_q = w->p_q + b->vectors,
                   .frames = &w->frames[b->slot / 4],
                   .lane = b->slot % 4,
                   .factors = ones};
    if (b->lanes == 1)
        own_one(&o);
    else
        own_wide(&o);
}

void bo_tree_run_kernel(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                        bo_tree_kernel kernel) {
    bo_tree_work *w = bo_tree_work_of(state);
    static void (*const kernels[])(const bough_tree_model *, bo_tree_work *,
                                   const bo_tree_block *) = {elastic_kernel, solve_kernel, system_kernel};
    if (kernel == BO_KERNEL_INTERFACES) {
        bo_tree_move_faces(ctx, model, w, &(bo_tree_mode){0}, state->q, state->v);
        for (int32_t i = 0; i < model->part_count; i++)
            bo_tree_gain(model, w, i, state->a);
        return;
    }
    for (int32_t b = 0; b < model->block_count; b++)
        if (model->blocks[b].r > 0)
            kernels[kernel](model, w, &model->blocks[b]);
}
