/* Random mechanisms to test with. */
#ifndef BOUGH_TEST_MECHANISMS_H
#define BOUGH_TEST_MECHANISMS_H

#include "test.h"

#include "../../bench/linkages.h"

static inline double spread(test_random *r) {
    return test_uniform(r, -1, 1);
}
/* One after the other: compilers differ in which argument of a call they compute first. */
static inline bo_se3 random_pose(test_random *r, double reach) {
    const double c = 2 * spread(r), b = 2 * spread(r), a = 2 * spread(r);
    const double z = reach * spread(r), y = reach * spread(r), x = reach * spread(r);
    return at(x, y, z, a, b, c);
}

/* A random tree with `loops` more joints in random directions, that begins anywhere, with coordinates that are not zero
 * and springs that are coupled. The joint's frame in the child is what its coordinates make of that in the parent. */
static inline sketch *random_sketch(test_random *r, int32_t links, int32_t loops) {
    sketch *s = new_sketch();
    for (int32_t i = 0; i < links; i++) {
        double inertia[3];
        for (int d = 2; d >= 0; d--)
            inertia[d] = test_uniform(r, 0.01, 0.012);
        const double mass = test_uniform(r, 0.2, 2);
        add_link(s, random_pose(r, 0.5), mass, inertia[0], inertia[1], inertia[2]);
    }
    for (int32_t i = 0; i < links; i++)
        for (int d = 2; d >= 0; d--)
            s->links[i].centre[d] = 0.1 * spread(r);
    s->def.base = (int32_t)(test_bits(r) % (uint64_t)links);
    for (int32_t i = 1; i < links + loops; i++) {
        int32_t a = i < links ? i : (int32_t)(test_bits(r) % (uint64_t)links), b;
        do
            b = (int32_t)(test_bits(r) % (uint64_t)(i < links ? i : links));
        while (b == a);
        const int32_t parent = test_bits(r) % 2 ? a : b, child = parent == a ? b : a;
        const bough_joint_kind kind = sketch_kind((int)(test_bits(r) % SKETCH_KINDS));
        const double damping = test_uniform(r, 0.1, 1), stiffness = test_uniform(r, 20, 200);
        bough_joint_def *joint = add_joint(s, kind, parent, child, random_pose(r, 0.5), stiffness, damping);
        double theta[6];
        for (int k = 0; k < 6; k++)
            theta[k] = 0.8 * spread(r);
        joint->child.pose = bo_put_pose(bo_se3_mul(bo_pose(&joint->child.pose), bo_joint_pose(kind, theta)));
        if ((kind == BOUGH_JOINT_BALL || kind == BOUGH_JOINT_COMPLIANT) && test_bits(r) % 2) {
            const int n = bough_joint_freedoms(kind);
            double *C = s->compliances[s->def.joint_count - 1], A[36];
            for (int k = 0; k < n * n; k++)
                A[k] = spread(r);
            for (int p = 0; p < n; p++)
                for (int q = 0; q < n; q++) {
                    C[n * p + q] = p == q ? 0.01 : 0;
                    for (int k = 0; k < n; k++)
                        C[n * p + q] += 0.01 * A[n * p + k] * A[n * q + k];
                }
            joint->compliance = C;
        }
    }
    const int32_t effectors = 1 + (int32_t)(test_bits(r) % 3);
    for (int32_t e = 0; e < effectors; e++) {
        int32_t link;
        do
            link = (int32_t)(test_bits(r) % (uint64_t)links);
        while (link == s->def.base);
        add_effector(s, link, random_pose(r, 0.2));
    }
    return s;
}

/* ---- comparisons ---- */

static inline double largest(size_t count, const double *x) {
    double most = 0;
    for (size_t k = 0; k < count; k++)
        most = fmax(most, fabs(x[k]));
    return most;
}
/* Largest difference over the largest of b. */
static inline double difference(size_t count, const double *a, const double *b) {
    double most = 0;
    for (size_t k = 0; k < count; k++) {
        check(isfinite(a[k]));
        most = fmax(most, fabs(a[k] - b[k]));
    }
    return most / largest(count, b);
}

#endif
