/* The model of an independent program, from the reference data: a motor, a rod and a weight at its end. */
#ifndef BOUGH_TEST_REFERENCE_ROD_H
#define BOUGH_TEST_REFERENCE_ROD_H

#include "../test.h"

#include "component/polynomial.h"

#include <bough/multibody.h>

#include <jansson.h>

typedef struct {
    bough_component c;
    bough_interface face;
    double s[15], W5[45], W7[225], K[25], moves[15], A[54];
    double *quartic;
    bough_rigid_body_def bodies[2];
    bough_flexible_def part;
    bough_joint_def joints[2];
    bough_motor_def motor;
    bough_multibody_def def;
    json_t *json;
} reference_rod;

static inline double number(const json_t *x) {
    return json_number_value(x);
}
static inline void read3(const json_t *x, double *to) {
    for (size_t i = 0; i < 3; i++)
        to[i] = number(json_array_get(x, i));
}
static inline void read9(const json_t *x, double *to) {
    for (size_t i = 0; i < 3; i++)
        read3(json_array_get(x, i), to + 3 * i);
}
/* Adds x times the product of coordinates (numbered from 1; 0: no factor). */
static inline void add_monomial(double *quartic, int a, int b, int c, int d, double x) {
    int n[4] = {a, b, c, d};
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++)
            if (n[j] > n[i]) {
                const int t = n[i];
                n[i] = n[j], n[j] = t;
            }
    quartic[bo_quartic_index(n[0], n[1], n[2], n[3])] += x;
}

static inline void read_elastic(reference_rod *m, const json_t *flex) {
    const json_t *c1 = json_object_get(flex, "c1"), *q2 = json_object_get(flex, "q2"),
                 *q3 = json_object_get(flex, "q3");
    m->quartic = calloc(bo_quartic_count(5), sizeof(double));
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++) {
            const json_t *row2 = json_array_get(json_array_get(q2, i), j),
                         *row3 = json_array_get(json_array_get(q3, i), j);
            const double k = number(json_array_get(json_array_get(c1, i), j));
            const int a = (int)i + 1, b = (int)j + 1;
            m->K[5 * i + j] = k;
            add_monomial(m->quartic, a, b, 0, 0, k / 2);
            for (size_t l = 0; l < 5; l++) {
                add_monomial(m->quartic, a, b, (int)l + 1, 0, number(json_array_get(row2, l)) / 3);
                for (size_t n = 0; n < 5; n++)
                    add_monomial(m->quartic, a, b, (int)l + 1, (int)n + 1,
                                 number(json_array_get(json_array_get(row3, l), n)) / 4);
            }
        }
}

static inline void read_component(reference_rod *m, const json_t *flex) {
    bough_component *c = &m->c;
    const json_t *face = json_object_get(flex, "interface");
    c->r = 5, c->elastic = BOUGH_REDUCED_POLYNOMIAL, c->parent = -1;
    c->mass = number(json_object_get(flex, "mass"));
    read3(json_object_get(flex, "S0"), c->mc0), read9(json_object_get(flex, "J0"), c->Sigma0);
    for (size_t l = 0; l < 5; l++) {
        double M4[9];
        read3(json_array_get(json_object_get(flex, "M3"), l), m->s + 3 * l);
        read9(json_array_get(json_object_get(flex, "M4"), l), M4);
        for (int i = 0; i < 9; i++) /* int X phi^T */
            m->W5[9 * l + (size_t)i] = M4[3 * (i % 3) + i / 3];
        for (size_t p = 0; p < 5; p++)
            read9(json_array_get(json_array_get(json_object_get(flex, "B"), l), p), m->W7 + 9 * (5 * l + p));
        for (size_t i = 0; i < 3; i++)
            m->moves[3 * l + i] = number(json_array_get(json_array_get(json_object_get(face, "Ac"), i), l));
        read9(json_array_get(json_object_get(face, "Ak"), l), m->A + 9 * (l + 1));
    }
    read9(json_object_get(face, "A0"), m->A);
    for (int i = 0; i < 54; i++)
        m->A[i] /= number(json_object_get(face, "scale"));
    m->face = (bough_interface){.name = "tip", .translation = m->moves, .A = m->A};
    read3(json_object_get(face, "Xh"), m->face.centre);
    read_elastic(m, flex);
    c->damping_mass = number(json_object_get(flex, "alpha")),
    c->damping_stiffness = number(json_object_get(flex, "beta"));
    c->s = m->s, c->W5 = m->W5, c->W7 = m->W7, c->K = m->K, c->quartic = m->quartic;
    c->interface_count = 1, c->interfaces = &m->face;
}

static inline reference_rod *load_reference_rod(void) {
    const char *path = test_shared("reference/multibody/B_onerod_model.json");
    if (!path)
        return NULL;
    reference_rod *m = calloc(1, sizeof *m);
    m->json = json_load_file(path, 0, NULL);
    assert_non_null(m->json);
    for (size_t b = 0; b < 2; b++) {
        const json_t *body = json_array_get(json_object_get(m->json, "bodies"), b);
        m->bodies[b] = bough_default_rigid_body_def();
        m->bodies[b].mass = number(json_object_get(body, "m"));
        read9(json_object_get(body, "I"), m->bodies[b].inertia);
        read3(json_object_get(body, "c"), m->bodies[b].pose.position);
    }
    read_component(m, json_object_get(m->json, "flex"));
    m->part = bough_default_flexible_def();
    m->part.component = &m->c, m->part.clamp.body = 0;
    const json_t *motor = json_object_get(m->json, "motor"), *coupling = json_object_get(m->json, "coupling");
    bough_joint_def *hinge = &m->joints[0], *weld = &m->joints[1];
    *hinge = *weld = bough_default_joint_def();
    hinge->child.body = 0;
    read9(json_object_get(motor, "world_frame_cols"), hinge->parent.pose.rotation);
    read9(json_object_get(motor, "body_frame_cols"), hinge->child.pose.rotation);
    weld->kind = BOUGH_JOINT_WELD;
    weld->parent.body = 2, weld->parent.interface_index = 0, weld->child.body = 1;
    read3(json_object_get(coupling, "p"), weld->child.pose.position);
    m->motor = bough_default_motor_def();
    m->def = bough_default_multibody_def();
    read3(json_object_get(m->json, "g"), m->def.gravity);
    m->def.baumgarte = number(json_object_get(m->json, "baumgarte"));
    m->def.bodies = m->bodies, m->def.body_count = 2, m->def.parts = &m->part, m->def.part_count = 1;
    m->def.joints = m->joints, m->def.joint_count = 2, m->def.motors = &m->motor, m->def.motor_count = 1;
    return m;
}

static inline void unload_reference_rod(reference_rod *m) {
    json_decref(m->json);
    free(m->quartic);
    free(m);
}

/* ---- a motion of it: 30 degrees in 0.3 s from 0.2 s on, half a second there, and back ---- */

enum { REFERENCE_STEPS = 800 }; /* of 2 ms */

/* Columns 10 to 12 of the table: where the tip would be at rest. */
static inline bool read_reference_targets(double *positions) {
    const char *path = test_shared("reference/multibody/B_onerod_traj_dt2ms.csv");
    FILE *f = path ? fopen(path, "r") : NULL;
    char line[2000];
    int k = 0;
    while (f && k <= REFERENCE_STEPS && fgets(line, sizeof line, f)) {
        char *at = line;
        if (line[0] == '#')
            continue;
        for (int i = 0; i < 13; i++, at += *at == ',') {
            const double x = strtod(at, &at);
            if (i >= 10)
                positions[3 * k + i - 10] = x;
        }
        k++;
    }
    if (f)
        fclose(f);
    return k == REFERENCE_STEPS + 1;
}

#endif
