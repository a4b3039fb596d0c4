/* Derivatives of the quartic E = sum t_abcd x_a x_b x_c x_d, with x = (1, q): a homogeneous polynomial of degree 4 in
 * n = r + 1 variables. Write s_cd = x_c x_d for the products (c >= d, packed as in a row of t) and, for a row (a, b),
 *
 *   D_ab = t_ab . s                        the factor of x_a x_b
 *   Q    = sum_(a>=b) x_a x_b t_ab         the factors of s_cd (packed)
 *   E_x  = dQ/dx_x                         of each row: E_a += x_b t_ab, E_b += x_a t_ab
 *
 * so that 2 Q = sum_x x_x E_x. The second derivatives have three sources: both on (a, b), both on (c, d), one on each:
 *
 *   H = G + G^T,   G_ab = D_ab + Q_ab + (row a of Y)_b,   Y_x = (E_x + E_x^T) x   (E_x as a lower triangle)
 *
 * which costs three multiply-adds a coefficient. By Euler's theorem H x = 3 dE/dx and x . dE/dx = 4 E. Without the
 * Hessian two multiply-adds are enough: dE/dx = (T + T^T) x with T = D + Q; for the energy alone one: E = x . D x.
 *
 * The product of the Hessian with a vector v is the derivative of the gradient along v, (T' + T'^T) x + (T + T^T) v,
 * where T' has s' = x v^T + v x^T in place of s = x x^T: four multiply-adds a coefficient, but nothing of the size of
 * all E_x is written and read. */
#include "component/polynomial.h"

#include "base/simd.h"

#include <bough/component.h>

#include <string.h>

/* Four doubles at any address. Wider vectors than the machine's are slower than narrower ones. */
typedef double vec __attribute__((vector_size(32), aligned(8)));
typedef int64_t mask __attribute__((vector_size(32)));
typedef int64_t part_mask __attribute__((vector_size(8 * BO_WIDTH), aligned(8)));
#define VEC(address) (*(vec *)(address))
#define LOAD(address) (*(const vec *)(address))
enum { W = 4 };

/* Keeps the first k of a vector; all of them for k = 0, as what remains of a multiple of W. */
static const mask first_of[W] = {{-1, -1, -1, -1}, {-1, 0, 0, 0}, {-1, -1, 0, 0}, {-1, -1, -1, 0}};

BO_INLINE int32_t padded(int32_t n) {
    return (n + (W - 1)) & ~(W - 1);
}
/* Length of the packed lower triangle with rows 0 .. b. */
BO_INLINE int32_t triangle(int32_t b) {
    return (b + 1) * (b + 2) / 2;
}
/* The same in whole blocks; those of E_x are used as such. */
enum { BLOCK = 4 * W };
static int32_t triangle_blocks(int32_t b) {
    return (triangle(b) + (BLOCK - 1)) & ~(BLOCK - 1);
}
static size_t all_triangles(int32_t n) {
    size_t sum = 0;
    for (int32_t x = 0; x < n; x++)
        sum += (size_t)triangle_blocks(x);
    return sum;
}

/* Parts of the scratch. Whatever is read in whole vectors has W doubles of space behind it. */
typedef struct work {
    int32_t n, np; /* r + 1, in whole vectors */
    double *x;     /* np, zeros behind the last */
    double *s;     /* triangle(r) */
    double *T;     /* triangle(r): D; for the gradient alone D + Q */
    double *Q;     /* triangle_blocks(r) */
    double *Y;     /* n x np */
    /* triangle_blocks(x) each, one after the other */
    double *Ex[BOUGH_MAX_POLYNOMIAL_COORDINATES + 1];
    /* rows (a, 0) of t */
    const double *ta[BOUGH_MAX_POLYNOMIAL_COORDINATES + 1];
    /* v, s', T' and Q', and two products with x or v, like those above: for the product of the Hessian with v */
    double *v, *s_along, *T_along, *Q_along, *first, *second;
} work;

static size_t vector_space(int32_t count) {
    return (size_t)padded(count) + W;
}

/* The product needs no E_x, and has their place. */
static size_t along_space(int32_t r) {
    return 3 * vector_space(r + 1) + 2 * vector_space(triangle(r)) + (size_t)triangle_blocks(r) + W;
}

static size_t max_size(size_t a, size_t b) {
    return a > b ? a : b;
}

size_t bo_quartic_scratch(int32_t r) {
    int32_t n = r + 1;
    return vector_space(n) + 2 * vector_space(triangle(r)) + (size_t)triangle_blocks(r) + W +
           (size_t)n * (size_t)padded(n) + max_size(all_triangles(n), along_space(r)) + 2 * W;
}

static void fill_vector(const work *w, double constant, const double *values, double *to) {
    to[0] = constant;
    memcpy(to + 1, values, (size_t)(w->n - 1) * sizeof *to);
    memset(to + w->n, 0, (size_t)(w->np + W - w->n) * sizeof *to);
}

static void make_work(int32_t r, const double *t, const double *q, double *scratch, work *w) {
    w->n = r + 1, w->np = padded(r + 1);
    /* Vectors that cross cache lines would cost twice; all parts are whole vectors long. */
    w->x = scratch + (-(uintptr_t)scratch % sizeof(vec)) / sizeof *scratch;
    w->s = w->x + vector_space(w->n);
    w->T = w->s + vector_space(triangle(r));
    w->Q = w->T + vector_space(triangle(r));
    w->Y = w->Q + triangle_blocks(r) + W;
    double *next = w->Y + (size_t)w->n * (size_t)w->np;
    for (int32_t a = 0; a <= r; next += triangle_blocks(a), a++) {
        w->Ex[a] = next;
        w->ta[a] = t + bo_quartic_row(a, 0);
    }
    fill_vector(w, 1, q, w->x);
}

static void make_work_along(int32_t r, const double *v, work *w) {
    w->v = w->Ex[0];
    w->s_along = w->v + vector_space(w->n);
    w->T_along = w->s_along + vector_space(triangle(r));
    w->Q_along = w->T_along + vector_space(triangle(r));
    w->first = w->Q_along + triangle_blocks(r) + W;
    w->second = w->first + vector_space(w->n);
    fill_vector(w, 0, v, w->v);
}

/* s. Rows are written in whole vectors; the next row overwrites what is too much. */
BO_INLINE void make_products(const work *w) {
    double *row = w->s;
    for (int32_t c = 0; c < w->n; row += ++c)
        for (int32_t d = 0; d <= c; d += W)
            VEC(row + d) = w->x[c] * LOAD(w->x + d);
    VEC(row) = (vec){0}; /* read together with the last products */
}

/* s' = x v^T + v x^T, which has both entries of a pair and twice those of the diagonal, as the derivative of s has. */
BO_INLINE void make_products_along(const work *w) {
    double *row = w->s_along;
    for (int32_t c = 0; c < w->n; row += ++c)
        for (int32_t d = 0; d <= c; d += W)
            VEC(row + d) = w->x[c] * LOAD(w->v + d) + w->v[c] * LOAD(w->x + d);
    VEC(row) = (vec){0};
}

BO_INLINE double sum_of(const vec *v) {
    return ((*v)[0] + (*v)[1]) + ((*v)[2] + (*v)[3]);
}

/* The outputs that are wanted decide what is gathered beside D: nothing, Q, Q with D' and Q', or all E_x. */
typedef enum wanted { ENERGY, GRADIENT, PRODUCT, HESSIAN } wanted;

/* A vector in so many registers. */
enum { PARTS = W / BO_WIDTH };

/* Up to W rows (a, b) of t with the same b, and the factors that they are multiplied with. */
typedef struct rows {
    const double *t[W];
    double *Ea[W], *B; /* E_a, and E_b or Q */
    bo_vw xa[W], xb;   /* what t is multiplied with on its way to B and to E_a */
    bo_vw D[W][PARTS];
    double *B_along; /* Q' */
    bo_vw xa_along[W], D_along[W][PARTS];
} rows;

/* One vector, at i: D_a += t s, B += xa t, E_a += xb t. The first row of a `diagonal` group is (b, b), where B is E_a.
 * Where the rows end, `keep` masks. `fresh`: of E_a and E_b nothing is there yet. */
BO_INLINE void step(const wanted want, const bool diagonal, const bool fresh, const int count, const mask *keep,
                    const work *w, size_t i, rows *g) {
    for (int p = 0; p < PARTS; p++, i += BO_WIDTH) {
        /* Read once: as far as the compiler knows, what is stored to E_a could change them. */
        const bo_vw s = BO_VW_CONST(w->s + i), s_along = want == PRODUCT ? BO_VW_CONST(w->s_along + i) : (bo_vw){0};
        bo_vw along = want == PRODUCT ? BO_VW_CONST(g->B_along + i) : (bo_vw){0};
        bo_vw sum = want == ENERGY || (want == HESSIAN && diagonal && fresh) ? (bo_vw){0} : BO_VW_CONST(g->B + i);
#pragma GCC unroll 4
        for (int k = 0; k < count; k++) {
            bo_vw t = BO_VW_CONST(g->t[k] + i);
            if (keep)
                t = (bo_vw)((part_mask)t & *((const part_mask *)keep + p));
            g->D[k][p] += t * s;
            BO_NOW(g->D[k][p]);
            if (want != ENERGY) {
                sum += g->xa[k] * t;
                BO_NOW(sum);
            }
            if (want == PRODUCT) {
                g->D_along[k][p] += t * s_along;
                along += g->xa_along[k] * t;
            }
            if (want == HESSIAN && !(diagonal && k == 0))
                BO_VW(g->Ea[k] + i) = fresh ? g->xb * t : BO_VW_CONST(g->Ea[k] + i) + g->xb * t;
        }
        if (want != ENERGY)
            BO_VW(g->B + i) = sum;
        if (want == PRODUCT)
            BO_VW(g->B_along + i) = along;
    }
}

/* The same for the end of the last row of all, behind which nothing may be read. B is E_b for the Hessian. */
BO_INLINE void add_end(const wanted want, const bool fresh, const double *t, size_t i, size_t length, const work *w,
                       rows *g) {
    double rest[W] = {0};
    for (size_t k = 0; k < length - i; k++)
        rest[k] = t[i + k];
    for (int p = 0, k = 0; p < PARTS; p++, k += BO_WIDTH) {
        const bo_vw end = BO_VW_CONST(rest + k);
        g->D[0][p] += end * BO_VW_CONST(w->s + i + k);
        if (want == PRODUCT)
            g->D_along[0][p] += end * BO_VW_CONST(w->s_along + i + k);
        if (want == PRODUCT && i < length)
            BO_VW(g->B_along + i + k) += g->xa_along[0] * end;
        if (want == HESSIAN && fresh && i < length)
            BO_VW(g->B + i + k) = g->xa[0] * end;
        else if (want != ENERGY && i < length)
            BO_VW(g->B + i + k) += g->xa[0] * end;
    }
}

/* Rows (a, b) .. (a + count - 1, b). Behind each of them there is another one, so that it may be read in whole vectors,
 * but behind the last. */
BO_INLINE void add_rows(const wanted want, const bool diagonal, const int count, const work *w, int32_t a, int32_t b) {
    const double *x = w->x;
    const size_t before = (size_t)b * (size_t)(b + 1) * (size_t)(b + 2) / 6;
    const size_t length = (size_t)triangle(b), full = length & ~(size_t)(W - 1);
    rows g = {.B = want == HESSIAN ? w->Ex[b] : w->Q, .xb = (bo_vw){0} + x[b], .B_along = w->Q_along};
#pragma GCC unroll 4
    for (int k = 0; k < count; k++) {
        double twice = diagonal && k == 0 ? 2 : 1;
        g.t[k] = w->ta[a + k] + before;
        g.Ea[k] = w->Ex[a + k];
        g.xa[k] = (bo_vw){0} + (want == HESSIAN ? twice : x[b]) * x[a + k];
        for (int p = 0; p < PARTS; p++)
            g.D[k][p] = g.D_along[k][p] = (bo_vw){0};
        if (want == PRODUCT)
            g.xa_along[k] = (bo_vw){0} + (x[b] * w->v[a + k] + w->v[b] * x[a + k]);
    }
    /* E_a and E_b have been written as far as the rows of b - 1 reach, in whole vectors; what lies behind is fresh */
    const size_t known = want == HESSIAN ? (size_t)padded(triangle(b - 1)) : full, old = known < full ? known : full;
    for (size_t i = 0; i < old; i += W)
        step(want, diagonal, false, count, NULL, w, i, &g);
    for (size_t i = old; i < full; i += W)
        step(want, diagonal, true, count, NULL, w, i, &g);
    if (diagonal && count == 1)
        add_end(want, full >= known, g.t[0], full, length, w, &g);
    else if (full < length && full < known)
        step(want, diagonal, false, count, &first_of[length - full], w, full, &g);
    else if (full < length)
        step(want, diagonal, true, count, &first_of[length - full], w, full, &g);
#pragma GCC unroll 4
    for (int k = 0; k < count; k++)
        w->T[triangle(a + k - 1) + b] = sum_of((const vec *)g.D[k]);
    if (want == PRODUCT) {
#pragma GCC unroll 4
        for (int k = 0; k < count; k++)
            w->T_along[triangle(a + k - 1) + b] = sum_of((const vec *)g.D_along[k]);
    }
}

/* Computes D into T, and the other outputs that are wanted. */
BO_INLINE void add_all_rows(const wanted want, const work *w) {
    make_products(w);
    if (want == PRODUCT)
        make_products_along(w);
    if (want == GRADIENT || want == PRODUCT)
        memset(w->Q, 0, sizeof *w->Q * (size_t)triangle_blocks(w->n - 1));
    if (want == PRODUCT)
        memset(w->Q_along, 0, sizeof *w->Q * (size_t)triangle_blocks(w->n - 1));
    for (int32_t b = 0; b < w->n; b++) {
        const int32_t first = (w->n - b - 1) % W + 1;
        if (first == 4)
            add_rows(want, true, 4, w, b, b);
        else if (first == 3)
            add_rows(want, true, 3, w, b, b);
        else if (first == 2)
            add_rows(want, true, 2, w, b, b);
        else
            add_rows(want, true, 1, w, b, b);
        for (int32_t a = b + first; a < w->n; a += W)
            add_rows(want, false, W, w, a, b);
    }
}

/* Sums of four vectors, as a vector. */
BO_INLINE void add_sums(const vec v[W], double *to) {
    VEC(to) += (vec){sum_of(&v[0]), sum_of(&v[1]), sum_of(&v[2]), sum_of(&v[3])};
}

/* Y = (E_x + E_x^T) X in blocks of W rows of E_x; rows that are not there, and what lies behind the diagonal, are
 * masked. */
BO_INLINE void add_mixed(const work *w, int32_t x, const double *Ex, const double *X, double *Y) {
    const vec zero = {0};
    for (int32_t i = 0; i < w->np; i += W)
        VEC(Y + i) = zero;
    for (int32_t c = 0; c <= x; c += W) {
        const double *row[W];
        vec dot[W], xc[W];
#pragma GCC unroll 4
        for (int k = 0; k < W; k++) {
            row[k] = Ex + triangle((c + k <= x ? c + k : x) - 1);
            xc[k] = zero + (c + k <= x ? X[c + k] : 0);
            dot[k] = zero;
        }
        for (int32_t d = 0; d < c; d += W) {
            vec y = LOAD(Y + d);
#pragma GCC unroll 4
            for (int k = 0; k < W; k++) {
                vec e = LOAD(row[k] + d);
                dot[k] += e * LOAD(X + d);
                y += xc[k] * e;
            }
            VEC(Y + d) = y;
        }
        vec y = zero;
#pragma GCC unroll 4
        for (int k = 0; k < W; k++) {
            vec e = (vec)((mask)LOAD(row[k] + c) & first_of[(k + 1) & (W - 1)]);
            dot[k] = c + k <= x ? dot[k] + e * LOAD(X + c) : zero;
            y += xc[k] * e;
        }
        VEC(Y + c) = y;
        add_sums(dot, Y + c);
    }
}

/* Q = sum_x x_x E_x / 2, by blocks that stay in registers. */
BO_INLINE void add_triangles(const work *w) {
    int32_t shortest = 0; /* x whose E_x reaches this block */
    for (int32_t i = 0, length = triangle(w->n - 1); i < length; i += BLOCK) {
        while (triangle(shortest) <= i)
            shortest++;
        vec q0 = {0}, q1 = {0}, q2 = {0}, q3 = {0};
        for (int32_t x = shortest; x < w->n; x++) {
            const double *E = w->Ex[x] + i, half = 0.5 * w->x[x];
            q0 += half * LOAD(E);
            q1 += half * LOAD(E + W);
            q2 += half * LOAD(E + 2 * W);
            q3 += half * LOAD(E + 3 * W);
        }
        VEC(w->Q + i) = q0, VEC(w->Q + i + W) = q1;
        VEC(w->Q + i + 2 * W) = q2, VEC(w->Q + i + 3 * W) = q3;
    }
}

/* H = G + G^T takes the place of Y. All of G is in the lower triangle, as E_x has no rows beyond x. */
BO_INLINE void make_hessian(const work *w) {
    for (int32_t a = 0, start = 0; a < w->n; start += ++a) {
        double *row = w->Y + w->np * a, *T = w->T + start, *Q = w->Q + start;
        const int32_t last = a & ~(W - 1);
        for (int32_t b = 0; b < last; b += W)
            VEC(row + b) += LOAD(T + b) + LOAD(Q + b);
        vec end = LOAD(row + last) + LOAD(T + last) + LOAD(Q + last);
        VEC(row + last) = (vec)((mask)end & first_of[(a + 1) & (W - 1)]);
        for (int32_t b = 0; b < a; b++)
            w->Y[w->np * b + a] = row[b];
        row[a] *= 2;
    }
}

/* H x / 3 = dE/dx; returns E. */
BO_INLINE double finish_hessian(const work *w, double *gradient, double *hessian) {
    const int32_t n = w->n, r = n - 1;
    make_hessian(w);
    double energy = 0;
    for (int32_t a = 0; a < n; a++) {
        const double *row = w->Y + w->np * a;
        vec dot = {0};
        for (int32_t b = 0; b < n; b += W)
            dot += LOAD(row + b) * LOAD(w->x + b);
        double g = sum_of(&dot) / 3;
        energy += w->x[a] * g;
        if (a == 0)
            continue;
        if (gradient)
            gradient[a - 1] = g;
        double *out = hessian + (size_t)r * (size_t)(a - 1);
        for (int32_t b = 0; b < r; b++)
            out[b] = row[b + 1];
    }
    return energy / 4;
}

BO_MULTIVERSION static double with_hessian(const work *w, double *gradient, double *hessian) {
    for (int32_t x = 0; x < w->n; x++) /* what fills up the last block */
        for (int32_t i = padded(triangle(x)); i < triangle_blocks(x); i += W)
            VEC(w->Ex[x] + i) = (vec){0};
    add_all_rows(HESSIAN, w);
    for (int32_t x = 0; x < w->n; x++)
        add_mixed(w, x, w->Ex[x], w->x, w->Y + (size_t)w->np * (size_t)x);
    add_triangles(w);
    return finish_hessian(w, gradient, hessian);
}

/* dE/dx = (T + T^T) x: the same product as that of the last E_x. */
BO_MULTIVERSION static double with_gradient(const work *w, double *gradient) {
    const int32_t r = w->n - 1;
    add_all_rows(GRADIENT, w);
    for (int32_t i = 0; i < triangle(r); i += W)
        VEC(w->T + i) += LOAD(w->Q + i);
    add_mixed(w, r, w->T, w->x, w->Y);
    const double *g = w->Y;
    double energy = 0;
    for (int32_t a = 0; a < w->n; a++)
        energy += w->x[a] * g[a];
    for (int32_t l = 0; l < r; l++)
        gradient[l] = g[l + 1];
    return energy / 4;
}

BO_MULTIVERSION static void with_product(const work *w, double *gradient, double *product) {
    const int32_t r = w->n - 1;
    add_all_rows(PRODUCT, w);
    for (int32_t i = 0; i < triangle(r); i += W) {
        VEC(w->T + i) += LOAD(w->Q + i);
        VEC(w->T_along + i) += LOAD(w->Q_along + i);
    }
    add_mixed(w, r, w->T, w->x, w->Y);
    add_mixed(w, r, w->T, w->v, w->first);
    add_mixed(w, r, w->T_along, w->x, w->second);
    for (int32_t l = 0; l < r; l++) {
        gradient[l] = w->Y[l + 1];
        product[l] = w->first[l + 1] + w->second[l + 1];
    }
}

BO_MULTIVERSION static double energy_only(const work *w) {
    add_all_rows(ENERGY, w);
    double energy = 0;
    for (int32_t i = 0, count = triangle(w->n - 1); i < count; i++)
        energy += w->T[i] * w->s[i];
    return energy;
}

void bo_quartic_evaluate(int32_t r, const double *t, const double *q, double *scratch, double *energy, double *gradient,
                         double *hessian) {
    work w;
    make_work(r, t, q, scratch, &w);
    double E = 0;
    if (hessian)
        E = with_hessian(&w, gradient, hessian);
    else if (gradient)
        E = with_gradient(&w, gradient);
    else if (energy)
        E = energy_only(&w);
    if (energy)
        *energy = E;
}

void bo_quartic_product(int32_t r, const double *t, const double *q, const double *v, double *scratch, double *gradient,
                        double *product) {
    work w;
    make_work(r, t, q, scratch, &w);
    make_work_along(r, v, &w);
    with_product(&w, gradient, product);
}
