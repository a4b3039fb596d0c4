/* The quartic energy of eight parts at a time, from a table of its tangent.
 *
 * Entry (i, j) of the tangent is K_ij = c + sum_m c_m q_m + sum_(m>=p) c_mp q_m q_p = K0 + A1 + A2: homogeneous parts
 * of degree 0, 1, 2. By Euler's theorem the gradient is f = f0 + (K0 + A1/2 + A2/3) q, so that one table gives both. */
#include "tree/tree.h"

#include "component/polynomial.h"

#include <string.h>

static int32_t entries(int32_t r) {
    return r * (r + 1) / 2;
}
/* Linear, then quadratic ones. */
static int32_t monomials(int32_t r) {
    return r + entries(r);
}
static int32_t groups(int32_t r) {
    return (entries(r) + BO_ROWS - 1) / BO_ROWS;
}

/* f0 (r), then an affine map from monomials to entries. */
size_t bo_tangent_table_size(int32_t r) {
    return (size_t)r + bo_affine_size(entries(r), monomials(r));
}

size_t bo_tangent_scratch(int32_t r) {
    return (size_t)entries(r) * BO_WIDE;
}

static double *coefficient(int32_t r, double *table, int32_t i, int32_t j, int32_t c, int32_t d) {
    const int32_t entry = i * (i + 1) / 2 + j;
    const int32_t monomial = c == 0 ? 0 : d == 0 ? c : 1 + r + (c - 1) * c / 2 + d - 1;
    return table + r + bo_affine_at(monomials(r), entry, monomial);
}

/* Second derivatives of t x_a x_b x_c x_d by the pairs of its factors: x_0 = 1 is none to derive by. */
static void add_derivatives(int32_t r, double *table, const int32_t x[4], double t) {
    for (int p = 0; p < 4; p++)
        for (int s = 0; s < 4; s++) {
            if (p == s || x[p] < x[s] || x[s] == 0)
                continue;
            int32_t rest[2], count = 0;
            for (int k = 0; k < 4; k++)
                if (k != p && k != s)
                    rest[count++] = x[k];
            *coefficient(r, table, x[p] - 1, x[s] - 1, rest[0], rest[1]) += t; /* x descends, so does rest */
        }
}

void bo_tangent_table_fill(const bough_component *component, double *table) {
    const int32_t r = component->r;
    const double *t = component->quartic;
    memset(table, 0, bo_tangent_table_size(r) * sizeof *table);
    for (int32_t a = 0; a <= r; a++)
        for (int32_t b = 0; b <= a; b++)
            for (int32_t c = 0; c <= b; c++)
                for (int32_t d = 0; d <= c; d++)
                    add_derivatives(r, table, (const int32_t[4]){a, b, c, d}, t[bo_quartic_index(a, b, c, d)]);
    for (int32_t l = 0; l < r; l++)
        table[l] = t[bo_quartic_index(l + 1, 0, 0, 0)];
}

BO_MULTIVERSION
static void evaluate(int32_t r, const double *restrict table, const double *restrict q, double *restrict products,
                     double *restrict f, double *restrict K) {
    double *next = products;
    for (int32_t c = 0; c < r; c++)
        for (int32_t d = 0; d <= c; d++, next += BO_WIDE)
            for (int h = 0; h < BO_WIDE; h += 4)
                BO_V4(next + h) = BO_V4_CONST(q + BO_WIDE * c + h) * BO_V4_CONST(q + BO_WIDE * d + h);
    for (int32_t l = 0; l < r; l++)
        for (int h = 0; h < BO_WIDE; h += 4)
            BO_V4(f + BO_WIDE * l + h) = table[l] + (bo_v4){0};
    const double *c = table + r;
    int32_t i = 0, j = 0;
    for (int32_t g = 0; g < groups(r); g++) {
        bo_v4 linear[BO_ROWS][2] = {{{0}}}, square[BO_ROWS][2] = {{{0}}};
        const double *K0 = c;
        bo_add_columns(r, c + BO_ROWS, q, linear);
        bo_add_columns(entries(r), c + BO_ROWS * (r + 1), products, square);
        c += BO_ROWS * (monomials(r) + 1);
        for (int k = 0; k < BO_ROWS && i < r; k++) {
            for (int h = 0; h < 2; h++) {
                const bo_v4 A1 = linear[k][h], A2 = square[k][h];
                const bo_v4 G = K0[k] + 0.5 * A1 + (1.0 / 3) * A2;
                double *fi = f + BO_WIDE * i + 4 * h, *fj = f + BO_WIDE * j + 4 * h;
                BO_V4(K + BO_WIDE * (g * BO_ROWS + k) + 4 * h) = K0[k] + A1 + A2;
                BO_V4(fi) += G * BO_V4_CONST(q + BO_WIDE * j + 4 * h);
                if (i != j)
                    BO_V4(fj) += G * BO_V4_CONST(q + BO_WIDE * i + 4 * h);
            }
            if (j++ == i)
                i++, j = 0;
        }
    }
}

void bo_tangent_evaluate(int32_t r, const double *table, const double *q, double *scratch, double *gradient,
                         double *hessian) {
    evaluate(r, table, q, scratch, gradient, hessian);
}
