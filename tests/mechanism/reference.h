/* The mechanisms of the reference data. */
#ifndef BOUGH_TEST_REFERENCE_H
#define BOUGH_TEST_REFERENCE_H

#include "mechanisms.h"

#include <jansson.h>

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

#endif
