/* Energies, forces and stiffnesses belong together; the fast quartic kernel is the plain sum. */
#include "draft.h"

#include <time.h>

/* E by the definition. */
static double naive_energy(int r, const double *t, const double *q) {
    double x[DRAFT_MOST_R + 1] = {1}, E = 0;
    for (int l = 0; l < r; l++)
        x[l + 1] = q[l];
    for (int a = 0; a <= r; a++)
        for (int b = 0; b <= a; b++)
            for (int c = 0; c <= b; c++)
                for (int d = 0; d <= c; d++)
                    E += t[bo_quartic_index(a, b, c, d)] * x[a] * x[b] * x[c] * x[d];
    return E;
}

/* Gradient and Hessian (n x n with n = r + 1, all variables) by differentiating each monomial. */
static void naive_derivatives(int r, const double *t, const double *q, double *g, double *H) {
    int n = r + 1;
    double x[DRAFT_MOST_R + 1] = {1};
    for (int l = 0; l < r; l++)
        x[l + 1] = q[l];
    memset(g, 0, sizeof *g * (size_t)n);
    memset(H, 0, sizeof *H * (size_t)(n * n));
    for (int a = 0; a <= r; a++)
        for (int b = 0; b <= a; b++)
            for (int c = 0; c <= b; c++)
                for (int d = 0; d <= c; d++) {
                    int v[4] = {a, b, c, d};
                    double k = t[bo_quartic_index(a, b, c, d)];
                    for (int i = 0; i < 4; i++) {
                        double one = k;
                        for (int j = 0; j < 4; j++)
                            one *= j == i ? 1 : x[v[j]];
                        g[v[i]] += one;
                        for (int j = 0; j < 4; j++) {
                            double two = k;
                            for (int m = 0; m < 4; m++)
                                two *= m == i || m == j ? 1 : x[v[m]];
                            H[n * v[i] + v[j]] += i == j ? 0 : two;
                        }
                    }
                }
}

static void quartic_indices_are_a_gapless_enumeration(void **state) {
    (void)state;
    size_t next = 0;
    for (int a = 0; a <= 20; a++)
        for (int b = 0; b <= a; b++)
            for (int c = 0; c <= b; c++)
                for (int d = 0; d <= c; d++)
                    check_int(bo_quartic_index(a, b, c, d), next++);
    check_int(bo_quartic_count(20), next);
}

/* All three forms of the call, for every remainder of vector lengths. */
static void the_quartic_kernel_is_the_plain_sum(void **state) {
    (void)state;
    test_random random = {7};
    for (int r = 1; r <= 64; r += r < 24 ? 1 : 13) {
        int n = r + 1;
        size_t count = bo_quartic_count(r);
        /* exact sizes, so that a sanitizer sees every step aside */
        double *t = malloc(sizeof *t * count), *scratch = malloc(sizeof *scratch * bo_quartic_scratch(r));
        double *q = malloc(sizeof *q * (size_t)r), *g = malloc(sizeof *g * (size_t)r);
        double *H = malloc(sizeof *H * (size_t)(r * r)), *gn = malloc(sizeof *gn * (size_t)n);
        double *Hn = malloc(sizeof *Hn * (size_t)(n * n)), E, size = 0, gsize = 0;
        draft_randoms(&random, t, (int)count, 1);
        draft_randoms(&random, q, r, 2);
        memset(scratch, 0x7F, sizeof *scratch * bo_quartic_scratch(r)); /* large numbers */
        naive_derivatives(r, t, q, gn, Hn);
        for (int i = 0; i < n * n; i++)
            size = fmax(size, fabs(Hn[i]));
        for (int i = 0; i < n; i++)
            gsize = fmax(gsize, fabs(gn[i]));
        bo_quartic_evaluate(r, t, q, scratch, &E, g, H);
        double esize = gsize * 2 * n;
        check_near(E, naive_energy(r, t, q), 1e-13 * esize);
        for (int a = 0; a < r; a++) {
            check_near(g[a], gn[a + 1], 1e-13 * gsize * n);
            for (int b = 0; b < r; b++) {
                check_near(H[r * a + b], Hn[n * (a + 1) + b + 1], 1e-13 * size);
                check(H[r * a + b] == H[r * b + a]);
            }
        }
        bo_quartic_evaluate(r, t, q, scratch, NULL, NULL, H);
        bo_quartic_evaluate(r, t, q, scratch, &E, g, NULL);
        check_near(E, naive_energy(r, t, q), 1e-13 * esize);
        for (int a = 0; a < r; a++)
            check_near(g[a], gn[a + 1], 1e-13 * gsize * n);
        bo_quartic_evaluate(r, t, q, scratch, &E, NULL, NULL);
        check_near(E, naive_energy(r, t, q), 1e-13 * esize);
        free(t), free(scratch), free(q), free(g), free(H), free(gn), free(Hn);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quartic_indices_are_a_gapless_enumeration),
        cmocka_unit_test(the_quartic_kernel_is_the_plain_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
