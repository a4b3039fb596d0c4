/* The polar decomposition is the best rotation, from any start, for any matrix; and its rates are derivatives. */
#include "rotations.h"

#include "base/eigen3.h"
#include "base/polar.h"

#include <jansson.h>

/* Q1 diag(s) Q2^T */
static bo_mat3 with_singular_values(test_random *r, double a, double b, double c) {
    return bo_mat_mul(bo_mat_mul(random_rotation(r), diagonal(a, b, c)), bo_transpose(random_rotation(r)));
}

static double smallest_pair_sum(bo_mat3 S) {
    bo_vec3 s;
    bo_mat3 V;
    bo_eigen3(S, &s, &V);
    return s.x + s.y;
}

/* Nine sums of three products, each off by a few units in the last place; compilers differ in how many. */
static const double rounding = 16 * 0x1p-52;

static void check_polar(bo_mat3 A, bo_mat3 R, bo_mat3 S) {
    double size = mat_norm(A);
    check_below(orthogonality(R), rounding);
    check_near(bo_det(R), 1, rounding);
    check_below(mat_distance(bo_mat_mul(R, S), A), 1e-14 * size);
    check(mat_distance(S, bo_transpose(S)) == 0);
    check(smallest_pair_sum(S) >= -1e-14 * size);
}

static void factors_of_any_matrix(void **state) {
    (void)state;
    test_random r = {1};
    for (int k = 0; k < 5000; k++) {
        bo_mat3 A = random_matrix(&r, k % 3 == 0 ? 1e-30 : k % 3 == 1 ? 1 : 1e30), R, S;
        if (bo_polar(A, &R, &S)) /* negative determinants can come near two equal maxima */
            check_polar(A, R, S);
        else
            check_below(smallest_pair_sum(S), 1e-9 * mat_norm(A));
    }
}

static void no_rotation_is_better(void **state) {
    (void)state;
    test_random r = {2};
    for (int k = 0; k < 200; k++) {
        bo_mat3 A = random_matrix(&r, 1), R, S;
        bo_polar(A, &R, &S);
        double best = bo_contract(R, A);
        for (int i = 0; i < 200; i++)
            check(bo_contract(random_rotation(&r), A) <= best + 1e-14);
        for (int i = 0; i < 20; i++) {
            bo_mat3 near = bo_mat_mul(bo_exp3(random_vector(&r, 1e-3)), R);
            check(bo_contract(near, A) <= best + 1e-14);
        }
    }
}

static void rank_two_and_negative_determinant(void **state) {
    (void)state;
    test_random r = {3};
    const double cases[][3] = {{1, 0.3, 0},     {1, 1, 0},    {2, 1, -0.1}, {1, 0.5, -0.4},  {1, 1, 1},
                               {1, 1e-6, 1e-6}, {1, 1e-8, 0}, {1, 1, -0.9}, {3, 1e-3, -9e-4}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int k = 0; k < 100; k++) {
            bo_mat3 Q = random_rotation(&r), V = random_rotation(&r), R, S;
            bo_mat3 D = diagonal(cases[i][0], cases[i][1], cases[i][2]);
            bo_mat3 stretch = bo_mat_mul(bo_mat_mul(V, D), bo_transpose(V)), A = bo_mat_mul(Q, stretch);
            check(bo_polar(A, &R, &S));
            check_polar(A, R, S);
            double gap = cases[i][1] + cases[i][2];
            check_below(mat_distance(R, Q), 1e-15 * cases[i][0] / gap * 20);
        }
}

static void not_unique_is_said(void **state) {
    (void)state;
    test_random r = {4};
    bo_mat3 R, S;
    check(!bo_polar((bo_mat3){{0}}, &R, &S));
    check(mat_distance(R, bo_identity3()) == 0 && mat_norm(S) == 0);
    check(!bo_polar(diagonal(NAN, 1, 1), &R, &S));
    check(mat_distance(R, bo_identity3()) == 0);
    check(!bo_polar(diagonal(INFINITY, 1, 1), &R, &S));
    check(!bo_polar(diagonal(1, 1, -1), &R, &S));
    check_below(orthogonality(R), 1e-15);
    check(!bo_polar(diagonal(-1, -1, -1), &R, &S));
    check_near(bo_trace(S), 1, 1e-15);
    /* rank 1: the shortest turn from b to a */
    for (int k = 0; k < 50; k++) {
        bo_vec3 a = random_direction(&r), b = random_direction(&r);
        check(!bo_polar(bo_outer(a, b), &R, &S));
        check_below(orthogonality(R), rounding);
        check_below(distance(bo_mat_vec(R, b), a), 1e-14);
        check_near(bo_norm(bo_log3(R)), acos(bo_dot(a, b)), 1e-13);
        bo_vec3 omega;
        bo_mat3 Rdot, Sdot, dR;
        double Op[27];
        check(!bo_polar_rates(bo_outer(a, b), R, S, random_matrix(&r, 1), &omega, &Rdot, &Sdot));
        check(bo_norm(omega) == 0 && mat_norm(Rdot) == 0 && mat_norm(Sdot) == 0);
        check(!bo_polar_operator(R, S, Op) && Op[5] == 0);
        check(!bo_polar_derivative(R, S, random_matrix(&r, 1), &dR) && mat_norm(dR) == 0);
    }
}

static void warm_start_never_takes_a_wrong_branch(void **state) {
    (void)state;
    test_random r = {5};
    int warm = 0, most = 0, cold_far = 0;
    for (int k = 0; k < 20000; k++) {
        bo_mat3 A = k % 4 == 0   ? with_singular_values(&r, 1, 0.4, 0)
                    : k % 4 == 1 ? with_singular_values(&r, 1, 0.5, -0.2)
                                 : random_matrix(&r, 1);
        bo_mat3 R, S, R_warm, S_warm;
        if (!bo_polar(A, &R, &S) || smallest_pair_sum(S) < 1e-3)
            continue;
        double error = k < 10000 ? 0.09 : test_uniform(&r, 0, 3.14);
        int iterations;
        bo_mat3 start = bo_mat_mul(R, bo_exp3(bo_scale(error, random_direction(&r))));
        check(bo_polar_warm(A, start, &R_warm, &S_warm, &iterations));
        check_polar(A, R_warm, S_warm);
        check_below(mat_distance(R, R_warm), 1e-14 * mat_norm(A) / smallest_pair_sum(S));
        if (k < 10000 && smallest_pair_sum(S) > 0.3) {
            warm++;
            check(iterations > 0);
            most = iterations > most ? iterations : most;
        }
        cold_far += iterations < 0;
    }
    check(warm > 1000);
    check_below(most, 6);
    check(cold_far > 100);
    bo_mat3 R, S, junk = diagonal(NAN, 0, 0);
    check(bo_polar_warm(diagonal(1, 2, 3), junk, &R, &S, NULL));
    check(mat_distance(R, bo_identity3()) < 1e-15);
}

/* Ten thousand warm starts in a row do not let R drift from a rotation. */
static void chained_warm_starts_stay_rotations(void **state) {
    (void)state;
    bo_mat3 R = bo_identity3(), S, stretch = diagonal(1, 2, 0.5);
    for (int k = 0; k < 10000; k++) {
        bo_mat3 Q = bo_exp3(bo_v3(0.01 * k, sin(0.003 * k), 0.5));
        check(bo_polar_warm(bo_mat_mul(Q, stretch), R, &R, &S, NULL));
        check_below(mat_distance(R, Q), 1e-14);
    }
    check_below(orthogonality(R), rounding);
}

/* A(t) = A0 + t A1 + t^2/2 A2 */
static bo_mat3 along(bo_mat3 A0, bo_mat3 A1, bo_mat3 A2, double t) {
    return bo_mat_add(A0, bo_mat_add(bo_mat_scale(t, A1), bo_mat_scale(t * t / 2, A2)));
}

static bo_vec3 omega_at(bo_mat3 A0, bo_mat3 A1, bo_mat3 A2, double t) {
    bo_mat3 A = along(A0, A1, A2, t), Adot = bo_mat_add(A1, bo_mat_scale(t, A2)), R, S, Rdot, Sdot;
    bo_vec3 omega;
    check(bo_polar(A, &R, &S));
    check(bo_polar_rates(A, R, S, Adot, &omega, &Rdot, &Sdot));
    return omega;
}

static void rates_are_derivatives(void **state) {
    (void)state;
    test_random r = {6};
    const double h = 1e-5;
    int used = 0;
    for (int k = 0; k < 400; k++) {
        bo_mat3 A = k % 3 == 0 ? with_singular_values(&r, 1, 0.7, 0) : random_matrix(&r, 1), R, S;
        bo_mat3 Adot = random_matrix(&r, 1), Addot = random_matrix(&r, 1);
        if (!bo_polar(A, &R, &S) || smallest_pair_sum(S) < 0.4)
            continue;
        used++;
        bo_vec3 omega, omegadot;
        bo_mat3 Rdot, Sdot, Rddot, R_plus, S_plus, R_minus, S_minus, dR;
        check(bo_polar_rates(A, R, S, Adot, &omega, &Rdot, &Sdot));
        check(bo_polar_accelerations(R, S, Adot, Addot, omega, Sdot, &omegadot, &Rddot));
        bo_polar(along(A, Adot, Addot, h), &R_plus, &S_plus);
        bo_polar(along(A, Adot, Addot, -h), &R_minus, &S_minus);
        bo_mat3 Rdot_fd = bo_mat_scale(0.5 / h, bo_mat_sub(R_plus, R_minus));
        check_below(mat_distance(Rdot, Rdot_fd), 5e-8 * (mat_norm(Rdot) + 1));
        check_below(mat_distance(Sdot, bo_mat_scale(0.5 / h, bo_mat_sub(S_plus, S_minus))),
                    3e-8 * (mat_norm(Sdot) + 1));
        bo_vec3 omega_fd = bo_scale(0.5 / h, bo_log3(bo_mat_mul(R_plus, bo_transpose(R_minus))));
        check_below(distance(omega, omega_fd), 3e-8 * (bo_norm(omega) + 1));
        bo_vec3 change = bo_sub(omega_at(A, Adot, Addot, h), omega_at(A, Adot, Addot, -h));
        check_below(distance(omegadot, bo_scale(0.5 / h, change)), 1e-6 * (bo_norm(omegadot) + 1));
        check(bo_polar_derivative(R, S, Adot, &dR));
        check_below(mat_distance(dR, Rdot), 1e-13 * (mat_norm(Rdot) + 1));
        double Op[27];
        check(bo_polar_operator(R, S, Op));
        for (int i = 0; i < 3; i++) {
            double sum = 0;
            for (int j = 0; j < 9; j++)
                sum += Op[9 * i + j] * Adot.m[j];
            check_near(sum, (&omega.x)[i], 1e-13 * (bo_norm(omega) + 1));
        }
    }
    check(used > 100);
}

static void read_numbers(const json_t *value, double *out) {
    size_t next = 0;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *row = json_array_get(value, i);
        if (json_is_number(row))
            out[next++] = json_number_value(row);
        else
            for (size_t j = 0; j < json_array_size(row); j++)
                out[next++] = json_number_value(json_array_get(row, j));
    }
}
static bo_mat3 read_matrix(const json_t *object, const char *key) {
    bo_mat3 A = {{0}};
    check(json_array_size(json_object_get(object, key)) == 3);
    read_numbers(json_object_get(object, key), A.m);
    return A;
}
static bo_vec3 read_vector(const json_t *object, const char *key) {
    double v[9] = {0};
    check(json_array_size(json_object_get(object, key)) == 3);
    read_numbers(json_object_get(object, key), v);
    return bo_load3(v);
}

static void check_reference(const json_t *c) {
    bo_mat3 A = read_matrix(c, "A"), Adot = read_matrix(c, "Adot"), Addot = read_matrix(c, "Addot");
    bo_mat3 R, S, Rdot, Sdot, Rddot, expected;
    bo_vec3 omega, omegadot, turn;
    check(bo_polar(A, &R, &S));
    check(bo_polar_rates(A, R, S, Adot, &omega, &Rdot, &Sdot));
    check(bo_polar_accelerations(R, S, Adot, Addot, omega, Sdot, &omegadot, &Rddot));
    const struct {
        const char *key;
        bo_mat3 value;
    } matrices[] = {{"R", R}, {"S", S}, {"Rdot", Rdot}, {"Sdot", Sdot}, {"Rddot", Rddot}};
    for (int i = 0; i < 5; i++) {
        expected = read_matrix(c, matrices[i].key);
        check_below(mat_distance(matrices[i].value, expected), 1e-10 * mat_norm(expected));
    }
    turn = read_vector(c, "omega");
    check_below(distance(omega, turn), 1e-10 * bo_norm(turn));
    turn = read_vector(c, "omegadot");
    check_below(distance(omegadot, turn), 1e-10 * bo_norm(turn));
}

static void agrees_with_the_reference(void **state) {
    (void)state;
    const char *path = test_shared("reference/polar_cases.json");
    if (!path)
        test_skip("the reference data ../shared is not there");
    json_t *cases = json_load_file(path, 0, NULL);
    check(json_array_size(cases) > 0);
    for (size_t i = 0; i < json_array_size(cases); i++)
        check_reference(json_array_get(cases, i));
    json_decref(cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_of_any_matrix),
        cmocka_unit_test(no_rotation_is_better),
        cmocka_unit_test(rank_two_and_negative_determinant),
        cmocka_unit_test(not_unique_is_said),
        cmocka_unit_test(warm_start_never_takes_a_wrong_branch),
        cmocka_unit_test(chained_warm_starts_stay_rotations),
        cmocka_unit_test(rates_are_derivatives),
        cmocka_unit_test(agrees_with_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
