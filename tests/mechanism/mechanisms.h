/* Mechanisms to test with: random ones, and those of the reference data. */
#ifndef BOUGH_TEST_MECHANISMS_H
#define BOUGH_TEST_MECHANISMS_H

#include "test.h"

#include "../../bench/linkages.h"

#include <jansson.h>

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

/* ---- the reference data ---- */

static inline void read_numbers(const json_t *array, double *x, size_t *count) {
    if (json_is_array(array)) {
        size_t i;
        json_t *item;
        json_array_foreach(array, i, item) read_numbers(item, x, count);
    } else {
        x[(*count)++] = json_number_value(array);
    }
}
static inline double *numbers_of(const json_t *object, const char *key, size_t expected) {
    double *x = calloc(expected + 65536, sizeof *x);
    size_t count = 0;
    check(json_object_get(object, key));
    read_numbers(json_object_get(object, key), x, &count);
    check_int(count, expected);
    return x;
}
static inline bo_se3 pose_of(const double *H) {
    return (bo_se3){{{H[0], H[1], H[2], H[4], H[5], H[6], H[8], H[9], H[10]}}, {H[3], H[7], H[11]}};
}

static inline sketch *reference_sketch(const json_t *file) {
    static const char *const names[] = {"hinge", "prismatic", "universal", "ball", "fixed6"};
    sketch *s = new_sketch();
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(file, "bodies"), i, item) {
        double *H = numbers_of(item, "H", 16), *inertia = numbers_of(item, "inertia", 9);
        const int32_t link = add_link(s, pose_of(H), json_number_value(json_object_get(item, "mass")), 1, 1, 1);
        memcpy(s->links[link].inertia, inertia, 9 * sizeof(double));
        free(H);
        free(inertia);
    }
    json_array_foreach(json_object_get(file, "joints"), i, item) {
        const char *type = json_string_value(json_object_get(item, "type"));
        int kind = 0;
        while (strcmp(type, names[kind]) != 0)
            check(++kind < SKETCH_KINDS);
        double *H = numbers_of(item, "Hj", 16);
        bough_joint_def *joint =
            add_joint(s, sketch_kind(kind), (int32_t)json_integer_value(json_object_get(item, "parent")),
                      (int32_t)json_integer_value(json_object_get(item, "child")), pose_of(H), 1, 0);
        const size_t n = (size_t)bough_joint_freedoms(joint->kind);
        double *K = numbers_of(item, "K", n * n);
        for (size_t k = 0; k < n; k++)
            joint->stiffness[k] = K[n * k + k];
        free(H);
        free(K);
    }
    json_array_foreach(json_object_get(file, "ee"), i, item)
        add_effector(s, (int32_t)json_integer_value(item), bo_se3_identity());
    return s;
}

static const char *const reference_names[] = {"Y_ball",  "chain_mixed", "farloop",          "fig3",
                                              "fourbar", "hinge_chain", "ladder_cut_hinge", "nested_split"};
enum { REFERENCE_COUNT = sizeof reference_names / sizeof *reference_names };

/* NULL when the reference data is not there. */
static inline json_t *reference_file(int index) {
    char name[128];
    snprintf(name, sizeof name, "reference/mechanisms/A_mech_%s.json", reference_names[index]);
    const char *path = test_shared(name);
    json_t *file = path ? json_load_file(path, 0, NULL) : NULL;
    check(!path || file);
    return file;
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
