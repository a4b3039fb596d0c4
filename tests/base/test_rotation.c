/* Exponentials, logarithms and the algebra of rotations, from angles of 1e-12 to pi; eigenvalues of 3x3 matrices. */
#include "rotations.h"

#include "base/eigen3.h"

static const double angles[] = {0,   1e-300, 1e-160, 1e-20, 1e-12, 1e-9,        1e-6,        1e-5,        1e-4, 1e-3,
                                0.1, 0.9,    1.1,    2,     3,     M_PI - 1e-3, M_PI - 1e-6, M_PI - 1e-9, M_PI};
enum { ANGLE_COUNT = sizeof angles / sizeof angles[0] };

static void log_undoes_exp(void **state) {
    (void)state;
    test_random r = {1};
    for (int i = 0; i < ANGLE_COUNT; i++)
        for (int k = 0; k < 50; k++) {
            double angle = angles[i];
            bo_vec3 w = bo_scale(angle, random_direction(&r));
            bo_mat3 R = bo_exp3(w);
            check_below(orthogonality(R), 2e-15);
            check_near(bo_det(R), 1, 2e-15);
            check_below(mat_distance(bo_exp3(bo_log3(R)), R), 2e-15);
            bo_vec3 back = bo_log3(R), back_q = bo_quat_log(bo_quat_exp(w));
            if (angle == M_PI && bo_dot(back, w) < 0)
                back = bo_scale(-1, back);
            if (angle == M_PI && bo_dot(back_q, w) < 0)
                back_q = bo_scale(-1, back_q);
            check_below(distance(back, w), 1e-14 * angle);
            check_below(distance(back_q, w), 1e-14 * angle);
            check(bo_norm(back) <= M_PI * (1 + 1e-15));
        }
}

static void exp_is_the_sum_of_its_series(void **state) {
    (void)state;
    test_random r = {2};
    for (int k = 0; k < 50; k++) {
        bo_vec3 w = random_vector(&r, 2);
        bo_mat3 sum = bo_identity3(), term = sum;
        for (int n = 1; n < 60; n++) {
            term = bo_mat_scale(1.0 / n, bo_mat_mul(term, bo_hat(w)));
            sum = bo_mat_add(sum, term);
        }
        check_below(mat_distance(bo_exp3(w), sum), 1e-14);
    }
}

static void half_turns_about_the_axes(void **state) {
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        bo_mat3 R = diagonal(axis == 0 ? 1 : -1, axis == 1 ? 1 : -1, axis == 2 ? 1 : -1);
        bo_vec3 w = bo_log3(R);
        check_near(bo_norm(w), M_PI, 1e-15);
        check_below(mat_distance(bo_exp3(w), R), 1e-15);
    }
}

static void quaternions_multiply_like_matrices(void **state) {
    (void)state;
    test_random r = {3};
    for (int k = 0; k < 200; k++) {
        bo_mat3 A = random_rotation(&r), B = random_rotation(&r);
        bo_quat a = bo_quat_from_matrix(A), b = bo_quat_from_matrix(B), ab = bo_quat_mul(a, b);
        bo_vec3 v = random_vector(&r, 1);
        check_below(mat_distance(bo_quat_to_matrix(a), A), 2e-15);
        check_below(mat_distance(bo_quat_to_matrix(ab), bo_mat_mul(A, B)), 3e-15);
        check_below(distance(bo_quat_rotate(ab, v), bo_mat_vec(A, bo_mat_vec(B, v))), 3e-15);
        check_below(distance(bo_quat_rotate(bo_quat_conj(a), v), bo_mat_tvec(A, v)), 3e-15);
        bo_quat long_one = {3 * a.w, 3 * a.x, 3 * a.y, 3 * a.z}, unit = bo_quat_normalize(long_one);
        check_near(bo_quat_dot(unit, a), 1, 1e-15);
        check_below(mat_distance(bo_quat_to_matrix(long_one), A), 2e-15);
    }
    check(bo_quat_normalize((bo_quat){0, 0, 0, 0}).w == 1);
    check(bo_quat_normalize((bo_quat){NAN, 0, 0, 0}).w == 1);
}

/* Rdot R^T = (J wdot)~, by central differences; and J J^-1 = I from tiny angles to beyond pi. */
static void left_jacobian_takes_rates_to_angular_velocity(void **state) {
    (void)state;
    test_random r = {4};
    for (int k = 0; k < 100; k++) {
        bo_vec3 w = random_vector(&r, 1.8), d = random_vector(&r, 1);
        double h = 1e-5;
        bo_mat3 Rdot = bo_mat_scale(0.5 / h, bo_mat_sub(bo_exp3(bo_mul_add(w, h, d)), bo_exp3(bo_mul_add(w, -h, d))));
        bo_vec3 omega = bo_skew(bo_mat_mul(Rdot, bo_transpose(bo_exp3(w))));
        check_below(distance(bo_mat_vec(bo_left_jacobian(w), d), omega), 1e-9);
    }
    for (int i = 0; i < ANGLE_COUNT; i++)
        for (int k = 0; k < 20; k++) {
            bo_vec3 w = bo_scale(1.5 * angles[i], random_direction(&r));
            bo_mat3 product = bo_mat_mul(bo_left_jacobian(w), bo_left_jacobian_inverse(w));
            check_below(mat_distance(product, bo_identity3()), 2e-14);
        }
}

/* Both forms of the coefficients must agree where one takes over from the other. */
static void jacobian_is_continuous_at_the_switch(void **state) {
    (void)state;
    for (int k = 1; k <= 2; k++) {
        bo_vec3 below = bo_v3(k * (1 - 1e-15), 0, 0), above = bo_v3(k * (1 + 1e-15), 0, 0);
        check_below(mat_distance(bo_left_jacobian(below), bo_left_jacobian(above)), 1e-14);
        check_below(mat_distance(bo_left_jacobian_inverse(below), bo_left_jacobian_inverse(above)), 1e-14);
    }
}

static void rigid_motions_form_a_group(void **state) {
    (void)state;
    test_random r = {5};
    for (int k = 0; k < 200; k++) {
        bo_se3 a = {random_rotation(&r), random_vector(&r, 2)}, b = {random_rotation(&r), random_vector(&r, 2)};
        bo_vec3 x = random_vector(&r, 2);
        check_below(distance(bo_se3_apply(bo_se3_mul(a, b), x), bo_se3_apply(a, bo_se3_apply(b, x))), 1e-14);
        check_below(distance(bo_se3_apply(bo_se3_inverse(a), bo_se3_apply(a, x)), x), 1e-14);
        bo_se3 back = bo_se3_exp(bo_se3_log(a));
        check_below(mat_distance(back.R, a.R) + distance(back.t, a.t), 2e-14);
        /* a constant twist moves along one flow: exp(2 t) = exp(t) exp(t) */
        bo_twist half = {random_vector(&r, 1), random_vector(&r, 1)};
        bo_twist full = {bo_scale(2, half.v), bo_scale(2, half.w)};
        bo_se3 once = bo_se3_exp(half), twice = bo_se3_mul(once, once), direct = bo_se3_exp(full);
        check_below(mat_distance(twice.R, direct.R) + distance(twice.t, direct.t), 1e-14);
    }
    bo_se3 e = bo_se3_exp((bo_twist){{1, 2, 3}, {0, 0, 0}});
    check_below(distance(e.t, bo_v3(1, 2, 3)), 0);
}

static void check_eigen3(bo_mat3 A, bo_vec3 *values) {
    bo_mat3 V;
    bo_eigen3(A, values, &V);
    bo_mat3 D = diagonal(values->x, values->y, values->z);
    double scale = mat_norm(A) + 1e-300;
    check(values->x <= values->y && values->y <= values->z);
    check_below(orthogonality(V), 3e-15);
    check_near(bo_det(V), 1, 3e-15);
    check_below(mat_distance(bo_mat_mul(bo_mat_mul(V, D), bo_transpose(V)), A) / scale, 4e-15);
}

static void eigenvalues_of_symmetric_matrices(void **state) {
    (void)state;
    test_random r = {6};
    const double cases[][3] = {{1, 2, 3},   {1, 1, 2},      {1, 1, 1},         {0, 0, 0},
                               {0, 0, 5},   {-2, -2, 7},    {1, 1 + 1e-15, 4}, {1e-20, 1, 1e6},
                               {-3, -1, 2}, {1e-200, 0, 1}, {1e150, 1e150, 0}, {1, 1 + 1e-8, 1 + 2e-8}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int k = 0; k < 20; k++) {
            bo_mat3 Q = k == 0 ? bo_identity3() : random_rotation(&r);
            bo_mat3 A = bo_mat_mul(bo_mat_mul(Q, diagonal(cases[i][0], cases[i][1], cases[i][2])), bo_transpose(Q));
            bo_vec3 values, expected;
            check_eigen3(bo_sym(A), &values);
            bo_mat3 V;
            bo_eigen3(diagonal(cases[i][0], cases[i][1], cases[i][2]), &expected, &V);
            check_below(distance(values, expected) / (bo_norm(expected) + 1e-300), 3e-15);
        }
    bo_vec3 values;
    bo_mat3 V;
    bo_eigen3(diagonal(NAN, 1, 2), &values, &V); /* ends */
    bo_eigen3((bo_mat3){{1, NAN, 0, NAN, 1, 2, 0, 2, 1}}, &values, &V);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_undoes_exp),
        cmocka_unit_test(exp_is_the_sum_of_its_series),
        cmocka_unit_test(half_turns_about_the_axes),
        cmocka_unit_test(quaternions_multiply_like_matrices),
        cmocka_unit_test(left_jacobian_takes_rates_to_angular_velocity),
        cmocka_unit_test(jacobian_is_continuous_at_the_switch),
        cmocka_unit_test(rigid_motions_form_a_group),
        cmocka_unit_test(eigenvalues_of_symmetric_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
