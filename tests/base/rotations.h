/* Random rotations and matrix norms for the tests of this room. */
#ifndef BOUGH_TEST_ROTATIONS_H
#define BOUGH_TEST_ROTATIONS_H

#include "test.h"

#include "base/rotation.h"

/* One after the other: compilers differ in which argument of a call they compute first. */
static inline bo_vec3 random_vector(test_random *r, double size) {
    const double z = test_uniform(r, -size, size), y = test_uniform(r, -size, size), x = test_uniform(r, -size, size);
    return bo_v3(x, y, z);
}
static inline bo_vec3 random_direction(test_random *r) {
    for (;;) {
        bo_vec3 v = random_vector(r, 1);
        if (bo_norm(v) > 0.1 && bo_norm(v) < 1)
            return bo_normalize(v);
    }
}
static inline bo_mat3 random_matrix(test_random *r, double size) {
    bo_mat3 A;
    for (int i = 0; i < 9; i++)
        A.m[i] = test_uniform(r, -size, size);
    return A;
}
static inline bo_mat3 random_rotation(test_random *r) {
    return bo_exp3(bo_scale(test_uniform(r, 0, 3.1415), random_direction(r)));
}
static inline double mat_norm(bo_mat3 A) {
    return sqrt(bo_contract(A, A));
}
static inline double mat_distance(bo_mat3 A, bo_mat3 B) {
    return mat_norm(bo_mat_sub(A, B));
}
static inline double distance(bo_vec3 a, bo_vec3 b) {
    return bo_norm(bo_sub(a, b));
}
/* |R^T R - I| */
static inline double orthogonality(bo_mat3 R) {
    return mat_distance(bo_mat_tmul(R, R), bo_identity3());
}
static inline bo_mat3 diagonal(double a, double b, double c) {
    return (bo_mat3){{a, 0, 0, 0, b, 0, 0, 0, c}};
}

#endif
