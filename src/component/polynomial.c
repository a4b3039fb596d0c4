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
 * Hessian two multiply-adds are enough: dE/dx = (T + T^T) x with T = D + Q; for the energy alone one: E = x . D x. */
#include "component/polynomial.h"

#include "base/simd.h"

#include <stdbool.h>
#include <string.h>

/* Four doubles at any address. Wider vectors than the machine's are slower than narrower ones. */
typedef double vec __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t mask __attribute__((vector_size(32)));
#define VEC(address) (*(vec *)(address))
#define LOAD(address) (*(const vec *)(address))
enum { W = 4 };

static const mask first_of[W] = {{-1, -1, -1, -1}, {-1, 0, 0, 0}, {-1, -1, 0, 0}, {-1, -1, -1, 0}};

BO_INLINE int32_t padded(int32_t n) {
    return (n + (W - 1)) & ~(W - 1);
}
/* Length of the packed lower triangle with rows 0 .. b. */
BO_INLINE int32_t triangle(int32_t b) {
    return (b + 1) * (b + 2) / 2;
}
/* Doubles of all E_x, x < n, each in whole vectors. */
static size_t all_triangles(int32_t n) {
    size_t sum = 0;
    for (int32_t x = 0; x < n; x++)
        sum += (size_t)padded(triangle(x));
    return sum;
}

/* The parts of the scratch. Whatever is read in whole vectors has W doubles of space behind it. */
typedef struct work {
    int32_t n, np; /* r + 1, in whole vectors */
    double *x;     /* np, zeros behind the last */
    double *s;     /* triangle(r) */
    double *T;     /* triangle(r): D, then D + Q */
    double *Q;     /* triangle(r) */
    double *Y;     /* n x np */
    double *E;     /* all_triangles(n) */
} work;

static size_t vector_space(int32_t count) {
    return (size_t)padded(count) + W;
}

size_t bo_quartic_scratch(int32_t r) {
    int32_t n = r + 1;
    return vector_space(n) + 3 * vector_space(triangle(r)) + (size_t)n * (size_t)padded(n) + W + all_triangles(n) + W;
}

static work make_work(int32_t r, const double *q, double *scratch) {
    work w = {.n = r + 1, .np = padded(r + 1)};
    w.x = scratch;
    w.s = w.x + vector_space(w.n);
    w.T = w.s + vector_space(triangle(r));
    w.Q = w.T + vector_space(triangle(r));
    w.Y = w.Q + vector_space(triangle(r));
    w.E = w.Y + (size_t)w.n * (size_t)w.np + W;
    w.x[0] = 1;
    for (int32_t l = 0; l < r; l++)
        w.x[l + 1] = q[l];
    for (int32_t l = w.n; l < w.np + W; l++)
        w.x[l] = 0;
    return w;
}

/* s. Rows are written in whole vectors; the next row overwrites what is too much. */
BO_INLINE void make_products(const work *w) {
    double *row = w->s;
    for (int32_t c = 0; c < w->n; row += ++c)
        for (int32_t d = 0; d <= c; d += W)
            VEC(row + d) = w->x[c] * LOAD(w->x + d);
    VEC(row) = (vec){0}; /* read together with the last products */
}

BO_INLINE double sum_of(const vec *v) {
    return ((*v)[0] + (*v)[1]) + ((*v)[2] + (*v)[3]);
}

/* One vector of `count` rows (a, b) with the same b and a > b. `keep` masks a vector that is the end of its row. */
BO_INLINE void step(const int count, const bool end, const mask *keep, int32_t i, const double *s,
                    const double *const *t, const double *xa, double xb, double *const *Ea, double *Eb, vec *D) {
    vec eb = LOAD(Eb + i);
    for (int k = 0; k < count; k++) {
        vec tk = LOAD(t[k] + i);
        if (end)
            tk = (vec)((mask)tk & *keep);
        D[k] += tk * LOAD(s + i);
        eb += xa[k] * tk;
        VEC(Ea[k] + i) += xb * tk;
    }
    VEC(Eb + i) = eb;
}

/* Rows (a, b) .. (a + count - 1, b), a > b. Behind each of them there is another one, so that it may be read in whole
 * vectors. */
BO_INLINE void add_rows(const int count, const work *w, const double *t, int32_t a, int32_t b, double *const *E) {
    const double *rows[W];
    double *Ea[W];
    vec D[W] = {{0}};
    for (int k = 0; k < count; k++) {
        rows[k] = t + bo_quartic_row(a + k, b);
        Ea[k] = E[a + k];
    }
    const int32_t length = triangle(b), full = length & ~(W - 1);
    for (int32_t i = 0; i < full; i += W)
        step(count, false, NULL, i, w->s, rows, w->x + a, w->x[b], Ea, E[b], D);
    if (full < length)
        step(count, true, &first_of[length - full], full, w->s, rows, w->x + a, w->x[b], Ea, E[b], D);
    for (int k = 0; k < count; k++)
        w->T[triangle(a + k - 1) + b] = sum_of(&D[k]);
}

/* Row (b, b), the first of its b: E_b takes both shares. The last row of all ends where t ends. */
BO_INLINE void add_diagonal_row(const work *w, const double *t, int32_t b, double *Eb) {
    const double *row = t + bo_quartic_row(b, b), twice = 2 * w->x[b];
    const int32_t length = triangle(b), full = length & ~(W - 1);
    vec D = {0};
    for (int32_t i = 0; i < full; i += W) {
        vec tk = LOAD(row + i);
        D += tk * LOAD(w->s + i);
        VEC(Eb + i) += twice * tk;
    }
    if (full < length) {
        double rest[W] = {0};
        for (int32_t i = full; i < length; i++)
            rest[i - full] = row[i];
        vec tk = LOAD(rest);
        D += tk * LOAD(w->s + full);
        VEC(Eb + full) += twice * tk;
    }
    w->T[triangle(b - 1) + b] = sum_of(&D);
}

/* Y_x = (E_x + E_x^T) x, and Q += x_x E_x / 2 */
BO_INLINE void add_mixed(const work *w, int32_t x, const double *Ex) {
    double *Y = w->Y + (size_t)w->np * (size_t)x;
    const vec zero = {0};
    for (int32_t i = 0; i < w->np; i += W)
        VEC(Y + i) = zero;
    const double half = 0.5 * w->x[x];
    for (int32_t i = 0, length = triangle(x); i < length; i += W)
        VEC(w->Q + i) += half * LOAD(Ex + i);
    const double *row = Ex;
    for (int32_t c = 0; c <= x; row += ++c) {
        const double xc = w->x[c];
        const int32_t last = c & ~(W - 1);
        vec dot = zero;
        for (int32_t d = 0; d < last; d += W) {
            vec e = LOAD(row + d);
            dot += e * LOAD(w->x + d);
            VEC(Y + d) += xc * e;
        }
        vec e = (vec)((mask)LOAD(row + last) & first_of[(c + 1) & (W - 1)]);
        dot += e * LOAD(w->x + last);
        VEC(Y + last) += xc * e;
        Y[c] += sum_of(&dot);
    }
}

/* H x / 3 = dE/dx; returns E. H is written where Y was. */
BO_INLINE double finish_hessian(const work *w, double *gradient, double *hessian) {
    const int32_t n = w->n, r = n - 1;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b <= a; b++) {
            double *upper = &w->Y[w->np * b + a], *lower = &w->Y[w->np * a + b];
            double G = w->T[triangle(a - 1) + b] + w->Q[triangle(a - 1) + b];
            *upper = *lower = *upper + *lower + (a == b ? 2 * G : G);
        }
    double energy = 0;
    for (int32_t a = 0; a < n; a++) {
        const double *row = w->Y + w->np * a;
        vec dot = {0};
        for (int32_t b = 0; b < n; b += W)
            dot += LOAD(row + b) * LOAD(w->x + b);
        double g = sum_of(&dot) / 3;
        energy += w->x[a] * g;
        if (a > 0 && gradient)
            gradient[a - 1] = g;
        if (a > 0)
            memcpy(hessian + (size_t)r * (size_t)(a - 1), row + 1, sizeof *row * (size_t)r);
    }
    return energy / 4;
}

BO_MULTIVERSION static double with_hessian(int32_t r, const double *t, const work *w, double *gradient,
                                           double *hessian) {
    enum { MOST = 65 };
    double *E[MOST];
    double *next = w->E;
    for (int32_t x = 0; x <= r; next += padded(triangle(x)), x++)
        E[x] = next;
    memset(w->E, 0, sizeof *w->E * (size_t)(next - w->E));
    memset(w->Q, 0, sizeof *w->Q * vector_space(triangle(r)));
    make_products(w);
    for (int32_t b = 0; b <= r; b++) {
        add_diagonal_row(w, t, b, E[b]);
        int32_t a = b + 1;
        for (; a + 3 <= r; a += 4)
            add_rows(4, w, t, a, b, E);
        if (a + 1 <= r) {
            add_rows(2, w, t, a, b, E);
            a += 2;
        }
        if (a <= r)
            add_rows(1, w, t, a, b, E);
    }
    for (int32_t x = 0; x <= r; x++)
        add_mixed(w, x, E[x]);
    return finish_hessian(w, gradient, hessian);
}

/* D_ab of one row, and Q += x_a x_b t_ab when wanted. */
BO_INLINE double add_row(const work *w, const double *row, int32_t length, double xx, const bool want_Q) {
    const int32_t full = length & ~(W - 1);
    vec dot = {0};
    for (int32_t i = 0; i < full; i += W) {
        vec tk = LOAD(row + i);
        dot += tk * LOAD(w->s + i);
        if (want_Q)
            VEC(w->Q + i) += xx * tk;
    }
    double sum = sum_of(&dot);
    for (int32_t i = full; i < length; i++) {
        sum += row[i] * w->s[i];
        if (want_Q)
            w->Q[i] += xx * row[i];
    }
    return sum;
}

BO_MULTIVERSION static double energy_only(int32_t r, const double *t, const work *w) {
    make_products(w);
    double energy = 0;
    for (int32_t a = 0; a <= r; a++)
        for (int32_t b = 0; b <= a; t += triangle(b), b++)
            energy += w->x[a] * w->x[b] * add_row(w, t, triangle(b), 0, false);
    return energy;
}

BO_MULTIVERSION static double with_gradient(int32_t r, const double *t, const work *w, double *gradient) {
    make_products(w);
    memset(w->Q, 0, sizeof *w->Q * vector_space(triangle(r)));
    for (int32_t a = 0, ab = 0; a <= r; a++)
        for (int32_t b = 0; b <= a; t += triangle(b), b++, ab++)
            w->T[ab] = add_row(w, t, triangle(b), w->x[a] * w->x[b], true);
    double *g = w->Y;
    memset(g, 0, sizeof *g * (size_t)w->np);
    for (int32_t a = 0, ab = 0; a <= r; a++)
        for (int32_t b = 0; b <= a; b++, ab++) {
            double T = w->T[ab] + w->Q[ab];
            g[a] += T * w->x[b];
            g[b] += T * w->x[a];
        }
    double energy = 0;
    for (int32_t a = 0; a <= r; a++)
        energy += w->x[a] * g[a];
    memcpy(gradient, g + 1, sizeof *g * (size_t)r);
    return energy / 4;
}

void bo_quartic_evaluate(int32_t r, const double *t, const double *q, double *scratch, double *energy, double *gradient,
                         double *hessian) {
    work w = make_work(r, q, scratch);
    double E = 0;
    if (hessian)
        E = with_hessian(r, t, &w, gradient, hessian);
    else if (gradient)
        E = with_gradient(r, t, &w, gradient);
    else if (energy)
        E = energy_only(r, t, &w);
    if (energy)
        *energy = E;
}
