#include "fem/shape.h"

#include <math.h>
#include <pthread.h>

static void tet4(const double x[3], double *N, double (*dN)[3]) {
    const double L[4] = {1 - x[0] - x[1] - x[2], x[0], x[1], x[2]};
    static const double dL[4][3] = {{-1, -1, -1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int a = 0; a < 4; a++) {
        N[a] = L[a];
        for (int d = 0; d < 3; d++)
            dN[a][d] = dL[a][d];
    }
}

/* Corners L (2L - 1), edge nodes 4 La Lb. */
static void tet10(const double x[3], double *N, double (*dN)[3]) {
    static const int edges[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
    double L[4], dL[4][3];
    tet4(x, L, dL);
    for (int a = 0; a < 4; a++) {
        N[a] = L[a] * (2 * L[a] - 1);
        for (int d = 0; d < 3; d++)
            dN[a][d] = (4 * L[a] - 1) * dL[a][d];
    }
    for (int e = 0; e < 6; e++) {
        int a = edges[e][0], b = edges[e][1];
        N[4 + e] = 4 * L[a] * L[b];
        for (int d = 0; d < 3; d++)
            dN[4 + e][d] = 4 * (dL[a][d] * L[b] + L[a] * dL[b][d]);
    }
}

static void hex8(const double x[3], double *N, double (*dN)[3]) {
    static const int sign[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                   {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
    for (int a = 0; a < 8; a++) {
        double f[3];
        for (int d = 0; d < 3; d++)
            f[d] = 1 + sign[a][d] * x[d];
        N[a] = f[0] * f[1] * f[2] / 8;
        dN[a][0] = sign[a][0] * f[1] * f[2] / 8;
        dN[a][1] = sign[a][1] * f[0] * f[2] / 8;
        dN[a][2] = sign[a][2] * f[0] * f[1] / 8;
    }
}

static void add_point(bo_rule *rule, bough_element_type type, double weight, double x, double y, double z) {
    const double at[3] = {x, y, z};
    int32_t q = rule->point_count++;
    rule->weight[q] = weight;
    if (type == BOUGH_TET4)
        tet4(at, rule->N[q], rule->dN[q]);
    else if (type == BOUGH_TET10)
        tet10(at, rule->N[q], rule->dN[q]);
    else
        hex8(at, rule->N[q], rule->dN[q]);
}

/* The four points with barycentric coordinates (1-3a, a, a, a). */
static void add_orbit4(bo_rule *rule, bough_element_type type, double weight, double a) {
    double b = 1 - 3 * a;
    add_point(rule, type, weight, a, a, a);
    add_point(rule, type, weight, b, a, a);
    add_point(rule, type, weight, a, b, a);
    add_point(rule, type, weight, a, a, b);
}

/* The six points with barycentric coordinates (a, a, b, b), b = 1/2 - a. */
static void add_orbit6(bo_rule *rule, bough_element_type type, double weight, double a) {
    double b = 0.5 - a;
    add_point(rule, type, weight, a, a, b);
    add_point(rule, type, weight, a, b, a);
    add_point(rule, type, weight, b, a, a);
    add_point(rule, type, weight, a, b, b);
    add_point(rule, type, weight, b, a, b);
    add_point(rule, type, weight, b, b, a);
}

static void tet_rule(bo_rule *rule, bough_element_type type, int degree) {
    if (degree == 1) {
        add_point(rule, type, 1.0 / 6, 0.25, 0.25, 0.25);
    } else if (degree == 2) {
        add_orbit4(rule, type, 1.0 / 24, (5 - sqrt(5.0)) / 20);
    } else {
        /* Keast's 15 points, degree 5: centre, two orbits of 4, one of 6 (all in closed form). */
        const double s = sqrt(15.0);
        add_point(rule, type, 16.0 / 135 / 6, 0.25, 0.25, 0.25);
        add_orbit4(rule, type, (2665 + 14 * s) / 37800 / 6, (7 - s) / 34);
        add_orbit4(rule, type, (2665 - 14 * s) / 37800 / 6, (7 + s) / 34);
        add_orbit6(rule, type, 20.0 / 378 / 6, (10 - 2 * s) / 40);
    }
}

static void hex_rule(bo_rule *rule, int points) {
    const double g2 = 1 / sqrt(3.0), g3 = sqrt(0.6);
    const double at[2][3] = {{-g2, g2, 0}, {-g3, 0, g3}};
    const double weight[2][3] = {{1, 1, 0}, {5.0 / 9, 8.0 / 9, 5.0 / 9}};
    const double *x = at[points - 2], *w = weight[points - 2];
    for (int k = 0; k < points; k++)
        for (int j = 0; j < points; j++)
            for (int i = 0; i < points; i++)
                add_point(rule, BOUGH_HEX8, w[i] * w[j] * w[k], x[i], x[j], x[k]);
}

static bo_rule rules[4][2];
static pthread_once_t rules_once = PTHREAD_ONCE_INIT;

static void build_rules(void) {
    tet_rule(&rules[BOUGH_TET4][BO_RULE_STIFFNESS], BOUGH_TET4, 1);
    tet_rule(&rules[BOUGH_TET4][BO_RULE_MASS], BOUGH_TET4, 2);
    tet_rule(&rules[BOUGH_TET10][BO_RULE_STIFFNESS], BOUGH_TET10, 2);
    tet_rule(&rules[BOUGH_TET10][BO_RULE_MASS], BOUGH_TET10, 5);
    hex_rule(&rules[BOUGH_HEX8][BO_RULE_STIFFNESS], 2);
    hex_rule(&rules[BOUGH_HEX8][BO_RULE_MASS], 3);
    for (int type = BOUGH_TET4; type <= BOUGH_HEX8; type++)
        for (int kind = 0; kind < 2; kind++)
            rules[type][kind].node_count = bough_element_node_count((bough_element_type)type);
}

const bo_rule *bo_rule_of(bough_element_type type, bo_rule_kind kind) {
    pthread_once(&rules_once, build_rules);
    return &rules[type][kind];
}

bo_mat3 bo_rule_gradient(const bo_rule *rule, int32_t q, const double *x, const int32_t *nodes) {
    bo_mat3 gradient = {{0}};
    for (int32_t a = 0; a < rule->node_count; a++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                gradient.m[3 * i + j] += x[3 * (size_t)nodes[a] + (size_t)i] * rule->dN[q][a][j];
    return gradient;
}
