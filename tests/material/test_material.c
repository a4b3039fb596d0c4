/* Materials at one point: what all of them share. */
#include "test.h"

#include "material/elastic.h"

static bo_elastic make(int model, double poisson) {
    bough_material m = bough_default_material();
    m.model = (bough_material_model)model;
    m.young = 2.5, m.poisson = poisson;
    return bo_elastic_of(&m);
}

static bo_mat3 random_matrix(test_random *r, double size) {
    bo_mat3 A;
    for (int i = 0; i < 9; i++)
        A.m[i] = test_uniform(r, -size, size);
    return A;
}

/* No energy and no stress at rest; the tangent there is that of linear elasticity with the same E and nu. */
static void small_strains_are_linear_elasticity(void **state) {
    (void)state;
    for (int model = 0; model < BOUGH_MATERIAL_MODEL_COUNT; model++)
        for (double nu = -0.2; nu < 0.5; nu += 0.23) {
            bo_elastic e = make(model, nu), linear = make(BOUGH_MATERIAL_LINEAR, nu);
            if (model == BOUGH_MATERIAL_ARAP)
                linear.lambda = 0;
            bo_mat3 I = bo_identity3(), P;
            double psi, C[81], expected[81], rest;
            check(bo_elastic_eval(&e, &I, &psi, &P, C));
            check(bo_elastic_eval(&linear, &I, &rest, NULL, expected));
            check_near(psi, 0, 1e-14);
            for (int i = 0; i < 9; i++)
                check_near(P.m[i], 0, 1e-14);
            for (int i = 0; i < 81; i++)
                check_near(C[i], expected[i], 1e-13);
        }
}

/* psi(Q F) = psi(F), P(Q F) = Q P(F) for rotations Q, and psi(F Q) = psi(F): isotropy. */
static void energy_does_not_see_rotations(void **state) {
    (void)state;
    const bo_mat3 Q = {{0.36, 0.48, -0.8, -0.8, 0.6, 0, 0.48, 0.64, 0.6}};
    test_random r = {3};
    for (int model = 0; model < BOUGH_MATERIAL_MODEL_COUNT; model++)
        for (int trial = 0; trial < 100; trial++) {
            bo_elastic e = make(model, 0.3);
            bo_mat3 F = bo_mat_add(bo_identity3(), random_matrix(&r, 0.25)), QF = bo_mat_mul(Q, F), P, PQ;
            bo_mat3 FQ = bo_mat_mul(F, Q);
            double psi, turned, spun;
            check(bo_elastic_eval(&e, &F, &psi, &P, NULL));
            if (!bo_elastic_is_objective(e.model))
                continue;
            check(bo_elastic_eval(&e, &QF, &turned, &PQ, NULL));
            check(bo_elastic_eval(&e, &FQ, &spun, NULL, NULL));
            check_near(turned, psi, 1e-13);
            check_near(spun, psi, 1e-13);
            bo_mat3 QP = bo_mat_mul(Q, P);
            for (int i = 0; i < 9; i++)
                check_near(PQ.m[i], QP.m[i], 1e-12);
        }
}

/* Stress is the slope of the energy, the tangent that of the stress; differences of fourth order. */
static void stresses_and_tangents_are_derivatives(void **state) {
    (void)state;
    static const double at[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1}, h = 1e-3;
    test_random r = {7};
    for (int model = 0; model < BOUGH_MATERIAL_MODEL_COUNT; model++)
        for (int trial = 0; trial < 50; trial++) {
            const bo_elastic e = make(model, 0.3);
            const bo_mat3 F = bo_mat_add(bo_identity3(), random_matrix(&r, 0.15));
            bo_mat3 P;
            double psi, C[81];
            check(bo_elastic_eval(&e, &F, &psi, &P, C));
            for (int i = 0; i < 9; i++) {
                double slope = 0, turn[9] = {0};
                for (int k = 0; k < 4; k++) {
                    bo_mat3 G = F, there;
                    G.m[i] += at[k] * h;
                    check(bo_elastic_eval(&e, &G, &psi, &there, NULL));
                    slope += weight[k] * psi / (12 * h);
                    for (int j = 0; j < 9; j++)
                        turn[j] += weight[k] * there.m[j] / (12 * h);
                }
                check_near(P.m[i], slope, 1e-8);
                for (int j = 0; j < 9; j++)
                    check_near(C[9 * j + i], turn[j], 1e-8);
            }
        }
}

static void tangents_are_symmetric(void **state) {
    (void)state;
    test_random r = {4};
    for (int model = 0; model < BOUGH_MATERIAL_MODEL_COUNT; model++)
        for (int trial = 0; trial < 100; trial++) {
            bo_elastic e = make(model, 0.3);
            bo_mat3 F = bo_mat_add(bo_identity3(), random_matrix(&r, 0.3));
            double psi, C[81];
            check(bo_elastic_eval(&e, &F, &psi, NULL, C));
            for (int i = 0; i < 9; i++)
                for (int j = 0; j < i; j++)
                    check_near(C[9 * i + j], C[9 * j + i], 1e-12);
        }
}

/* Inverted elements: refused where the energy has log J, finite elsewhere. */
static void inversion_is_refused_or_survived(void **state) {
    (void)state;
    const bo_mat3 F = {{-0.4, 0.1, 0, 0, 1.2, 0.2, 0.1, 0, 0.9}};
    for (int model = 0; model < BOUGH_MATERIAL_MODEL_COUNT; model++) {
        bo_elastic e = make(model, 0.3);
        bo_mat3 P;
        double psi, C[81];
        bool inside = bo_elastic_eval(&e, &F, &psi, &P, C);
        check_int(inside, model != BOUGH_MATERIAL_NEO_HOOKEAN && model != BOUGH_MATERIAL_MOONEY_RIVLIN);
        for (int i = 0; inside && i < 81; i++)
            check(isfinite(C[i]));
    }
}

/* Uniaxial tension of nearly incompressible rubber by a factor L: true stress (L^2 - 1/L)(mu1 + mu2/L), the textbook
 * Mooney-Rivlin result, with mu1 = 2 C10, mu2 = 2 C01. */
static void mooney_rivlin_stretches_like_rubber(void **state) {
    (void)state;
    bough_material m = bough_default_material();
    m.model = BOUGH_MATERIAL_MOONEY_RIVLIN, m.young = 3, m.poisson = 0.49999, m.mooney_ratio = 0.3;
    bo_elastic e = bo_elastic_of(&m);
    const double mu = m.young / (2 * (1 + m.poisson));
    for (double L = 0.7; L < 2.5; L += 0.3) {
        double low = 0.2, high = 3, side = 1;
        bo_mat3 P;
        for (int i = 0; i < 200; i++) { /* side stretch with no side stress */
            side = 0.5 * (low + high);
            bo_mat3 F = {{L, 0, 0, 0, side, 0, 0, 0, side}};
            double psi;
            check(bo_elastic_eval(&e, &F, &psi, &P, NULL));
            if (P.m[4] > 0)
                high = side;
            else
                low = side;
        }
        double true_stress = P.m[0] / (side * side);
        check_near(true_stress, (L * L - 1 / L) * (0.7 * mu + 0.3 * mu / L), 2e-3);
    }
}

/* Von Mises and principal stresses of tension along a direction, with a pressure beside it that von Mises ignores; and
 * that s = sum of principal values times d d^T for any stress. */
static void stresses_have_principal_values(void **state) {
    (void)state;
    test_random random = {8};
    for (int i = 0; i < 200; i++) {
        double s[6], values[3], d[9], direction[3];
        for (int k = 0; k < 3; k++)
            direction[k] = test_uniform(&random, -1, 1);
        const bo_vec3 n = bo_normalize(bo_load3(direction));
        const double tension = 3, pressure = i % 2 ? 5 : 0;
        const double tensor[6] = {n.x * n.x, n.y * n.y, n.z * n.z, n.y * n.z, n.x * n.z, n.x * n.y};
        for (int k = 0; k < 6; k++)
            s[k] = tension * tensor[k] - (k < 3 ? pressure : 0);
        check_near(bough_von_mises(s), tension, 1e-13);
        bough_principal_stresses(s, values, d);
        check_near(values[0], tension - pressure, 1e-13);
        check_near(values[1], -pressure, 1e-13);
        check_near(values[2], -pressure, 1e-13);
        check_near(fabs(bo_dot(n, bo_load3(d))), 1, 1e-13);
        for (int k = 0; k < 6; k++)
            s[k] = test_uniform(&random, -1, 1);
        bough_principal_stresses(s, values, d);
        check(values[0] >= values[1] && values[1] >= values[2]);
        static const int row[6] = {0, 1, 2, 1, 0, 0}, column[6] = {0, 1, 2, 2, 2, 1};
        for (int k = 0; k < 6; k++) {
            double sum = 0;
            for (int p = 0; p < 3; p++)
                sum += values[p] * d[3 * p + row[k]] * d[3 * p + column[k]];
            check_near(sum, s[k], 1e-13);
        }
        const double a = values[0] - values[1], b = values[1] - values[2], c = values[2] - values[0];
        check_near(bough_von_mises(s), sqrt(0.5 * (a * a + b * b + c * c)), 1e-13);
        bough_principal_stresses(s, values, NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_strains_are_linear_elasticity),   cmocka_unit_test(energy_does_not_see_rotations),
        cmocka_unit_test(stresses_and_tangents_are_derivatives), cmocka_unit_test(tangents_are_symmetric),
        cmocka_unit_test(inversion_is_refused_or_survived),      cmocka_unit_test(mooney_rivlin_stretches_like_rubber),
        cmocka_unit_test(stresses_have_principal_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
