/* Energies, forces and stiffnesses belong together; the fast quartic kernel is the plain sum. */
#include "draft.h"

#include "base/rotation.h"
#include "component/joints.h"
#include "material/elastic.h"

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
        double *v = malloc(sizeof *v * (size_t)r), *product = malloc(sizeof *product * (size_t)r);
        draft_randoms(&random, t, (int)count, 1);
        draft_randoms(&random, q, r, 2);
        memset(scratch, 0xFF, sizeof *scratch * bo_quartic_scratch(r)); /* no numbers */
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
        draft_randoms(&random, v, r, 2);
        memset(scratch, 0xFF, sizeof *scratch * bo_quartic_scratch(r));
        bo_quartic_product(r, t, q, v, scratch, g, product);
        for (int a = 0; a < r; a++) {
            double sum = 0;
            for (int b = 0; b < r; b++)
                sum += Hn[n * (a + 1) + b + 1] * v[b];
            check_near(product[a], sum, 1e-13 * size * n);
            check_near(g[a], gn[a + 1], 1e-13 * gsize * n);
        }
        free(t), free(scratch), free(q), free(g), free(H), free(gn), free(Hn);
        free(v), free(product);
    }
}

typedef struct evaluation {
    double E, g[DRAFT_MOST_R], H[DRAFT_MOST_R * DRAFT_MOST_R];
} evaluation;

static evaluation evaluate(const bough_component *c, const double *q) {
    evaluation e = {0};
    double *scratch = malloc(sizeof *scratch * bough_component_scratch(c));
    check(bough_component_evaluate(c, q, scratch, &e.E, e.g, e.H));
    free(scratch);
    return e;
}

/* f(h) - f(-h) over 2 h, of fourth order: (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12 h */
static void check_derivatives(const bough_component *c, const double *q) {
    const double h = 1e-3;
    int r = c->r;
    evaluation at = evaluate(c, q);
    double size = 1;
    for (int i = 0; i < r * r; i++)
        size = fmax(size, fabs(at.H[i]));
    for (int l = 0; l < r; l++) {
        double dE = 0, dg[DRAFT_MOST_R] = {0}, step[DRAFT_MOST_R];
        for (int k = -2; k <= 2; k++) {
            static const double factors[] = {1, -8, 0, 8, -1};
            memcpy(step, q, sizeof *q * (size_t)r);
            step[l] += k * h;
            evaluation e = evaluate(c, step);
            dE += factors[k + 2] * e.E / (12 * h);
            for (int p = 0; p < r; p++)
                dg[p] += factors[k + 2] * e.g[p] / (12 * h);
        }
        check_near(dE, at.g[l], 1e-10 * size);
        for (int p = 0; p < r; p++) {
            check_near(dg[p], at.H[r * l + p], 1e-10 * size);
            check(at.H[r * l + p] == at.H[r * p + l]);
        }
    }
}

/* Any combination of outputs gives the same numbers to rounding. */
static void check_partial_calls(const bough_component *c, const double *q) {
    int r = c->r;
    evaluation all = evaluate(c, q), part = {0};
    double *scratch = malloc(sizeof *scratch * bough_component_scratch(c));
    double size = fabs(all.E) + 1;
    for (int l = 0; l < r; l++)
        size = fmax(size, fabs(all.g[l]));
    check(bough_component_evaluate(c, q, scratch, &part.E, NULL, NULL));
    check_near(part.E, all.E, 1e-12 * size);
    check(bough_component_evaluate(c, q, scratch, NULL, part.g, NULL));
    for (int l = 0; l < r; l++)
        check_near(part.g[l], all.g[l], 1e-12 * size);
    check(bough_component_evaluate(c, q, scratch, NULL, NULL, part.H));
    for (int i = 0; i < r * r; i++)
        check_near(part.H[i], all.H[i], 1e-12 * size);
    check(bough_component_evaluate(c, q, scratch, NULL, NULL, NULL));
    double v[DRAFT_MOST_R], product[DRAFT_MOST_R];
    for (int l = 0; l < r; l++)
        v[l] = cos(l), part.g[l] = NAN;
    check(bough_component_product(c, q, v, scratch, part.g, product));
    for (int l = 0; l < r; l++) {
        double sum = 0, most = size;
        for (int k = 0; k < r; k++)
            sum += all.H[r * l + k] * v[k], most += fabs(all.H[r * l + k]);
        check_near(part.g[l], all.g[l], 1e-12 * size);
        check_near(product[l], sum, 1e-12 * most);
    }
    free(scratch);
}

static void forces_are_derivatives_of_the_energy(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    test_random random = {3};
    for (int i = 0; i < DRAFT_CASES; i++)
        for (int model = 0; model < BOUGH_MATERIAL_MODEL_COUNT; model++) {
            if (model > 0 && draft_cases[i].elastic != BOUGH_REDUCED_CUBATURE)
                continue;
            draft *d = draft_make(draft_cases[i].r, draft_cases[i].elastic, (bough_material_model)model, 1);
            bough_component *c = draft_pack(ctx, d);
            double q[DRAFT_MOST_R];
            draft_randoms(&random, q, c->r, 0.4);
            check_derivatives(c, q);
            check_partial_calls(c, q);
            check(bough_component_operations(c) >= 0);
            bough_component_destroy(ctx, c);
            draft_free(d);
        }
    bough_context_destroy(ctx);
}

/* Also: the stiffness at rest of polynomial and linear components is K. */
static void there_is_no_energy_and_no_force_at_rest(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int i = 0; i < DRAFT_CASES; i++)
        for (int model = 0; model < BOUGH_MATERIAL_MODEL_COUNT; model++) {
            draft *d = draft_make(draft_cases[i].r, draft_cases[i].elastic, (bough_material_model)model, 1);
            bough_component *c = draft_pack(ctx, d);
            double q[DRAFT_MOST_R] = {0};
            evaluation e = evaluate(c, q);
            check_near(e.E, 0, 1e-15);
            for (int l = 0; l < c->r; l++)
                check_near(e.g[l], 0, 1e-14);
            if (c->elastic != BOUGH_REDUCED_CUBATURE)
                for (int k = 0; k < c->r * c->r; k++)
                    check_near(e.H[k], c->K[k], 1e-14 * c->r);
            bough_component_destroy(ctx, c);
            draft_free(d);
        }
    bough_context_destroy(ctx);
}

/* With coefficients of the fourth degree in q alone, E(s q) = s^4 E(q), g s^3, H s^2. */
static void a_quartic_is_homogeneous(void **state) {
    (void)state;
    test_random random = {11};
    enum { R = 9 };
    double t[715], q[R], q3[R], g[R], g3[R], H[R * R], H3[R * R], E, E3;
    check_int(bo_quartic_count(R), 715);
    double *scratch = malloc(sizeof *scratch * bo_quartic_scratch(R));
    draft_randoms(&random, t, 715, 1);
    for (int a = 0; a <= R; a++)
        for (int b = 0; b <= a; b++)
            for (int c = 0; c <= b; c++)
                t[bo_quartic_index(a, b, c, 0)] = 0;
    draft_randoms(&random, q, R, 1);
    for (int l = 0; l < R; l++)
        q3[l] = 3 * q[l];
    bo_quartic_evaluate(R, t, q, scratch, &E, g, H);
    bo_quartic_evaluate(R, t, q3, scratch, &E3, g3, H3);
    check_near(E3, 81 * E, 1e-12 * fabs(E3) + 1e-12);
    for (int l = 0; l < R; l++)
        check_near(g3[l], 27 * g[l], 1e-11);
    for (int i = 0; i < R * R; i++)
        check_near(H3[i], 9 * H[i], 1e-11);
    free(scratch);
}

static void cubature_points_that_are_inverted_are_reported(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    draft *d = draft_make(1, BOUGH_REDUCED_CUBATURE, BOUGH_MATERIAL_NEO_HOOKEAN, 1);
    for (int k = 0; k < 9; k++)
        d->gradient[k] = k == 0; /* F = diag(1 + q, 1, 1) */
    bough_component *c = draft_pack(ctx, d);
    double scratch[64], E, q = -1.5, s[6];
    check(!bough_component_evaluate(c, &q, scratch, &E, NULL, NULL));
    check(!bough_component_stress(c, 0, &q, s, NULL));
    bough_component_destroy(ctx, c);
    draft_free(d);
    bough_context_destroy(ctx);
}

/* Coordinate 0 turns the vertices of an interface by R about an axis through the origin, coordinate 1 moves them. */
static void interfaces_follow_rigid_motions_exactly(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    test_random random = {5};
    for (int face = 0; face < 2; face++) /* the first is planar */
        for (int turn = 0; turn < 30; turn++) {
            draft *d = draft_make(2, BOUGH_REDUCED_LINEAR, BOUGH_MATERIAL_STVK, 1);
            double axis[3], angle = turn < 10 ? 170 * M_PI / 180 : test_uniform(&random, 0, M_PI - 0.01);
            draft_randoms(&random, axis, 3, 1);
            bo_vec3 w = bo_scale(angle, bo_normalize(bo_load3(turn == 0   ? (double[]){1, 0, 0}
                                                              : turn == 1 ? (double[]){0, 0, 1}
                                                                          : axis)));
            bo_mat3 R = bo_exp3(w);
            bo_vec3 shift = bo_v3(0.3, -0.2, 0.7);
            for (int v = 0; v < DRAFT_VERTICES; v++) {
                bo_vec3 X = bo_load3(d->X + 3 * v), u = bo_sub(bo_mat_vec(R, X), X);
                const double moves[3] = {shift.x, shift.y, shift.z}, turns[3] = {u.x, u.y, u.z};
                for (int i = 0; i < 3; i++)
                    d->U[(3 * v + i) * 2] = turns[i], d->U[(3 * v + i) * 2 + 1] = moves[i];
            }
            memset(d->A, 0, sizeof d->A);
            memset(d->translation, 0, sizeof d->translation);
            draft_interfaces(d);
            bough_component *c = draft_pack(ctx, d);
            double q[2] = {1, 2}, centre[3], rotation[9];
            check(bough_component_interface_frame(c, face, q, centre, rotation));
            for (int i = 0; i < 9; i++)
                check_near(rotation[i], R.m[i], 1e-13);
            bo_vec3 expected = bo_mul_add(bo_mat_vec(R, bo_load3(c->interfaces[face].centre)), 2, shift);
            check_near(bo_norm(bo_sub(bo_load3(centre), expected)), 0, 1e-14);
            double rest[2] = {0};
            check(bough_component_interface_frame(c, face, rest, centre, rotation));
            for (int i = 0; i < 9; i++)
                check_near(rotation[i], i % 4 == 0, 1e-14);
            bough_component_destroy(ctx, c);
            draft_free(d);
        }
    bough_context_destroy(ctx);
}

/* A bar of linear elastic material under simple tension, sheared and turned. */
static void stresses_are_those_of_the_material(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    draft *d = draft_make(2, BOUGH_REDUCED_LINEAR, BOUGH_MATERIAL_LINEAR, 1);
    memset(d->gradient, 0, sizeof d->gradient);
    const double nu = 0.4, E = d->materials[0].young, young1 = d->materials[1].young;
    d->gradient[0] = 1, d->gradient[2 * 4] = d->gradient[2 * 8] = -nu; /* coordinate 0: tension along x */
    d->gradient[2 * 1 + 1] = 1;                                        /* coordinate 1: du_x/dy */
    double *stvk = d->gradient + 3 * 18;                               /* point 3 has the other material */
    stvk[0] = 1, stvk[2 * 1 + 1] = -1, stvk[2 * 3 + 1] = 1, stvk[2 * 0 + 1] = stvk[2 * 4 + 1] = -1; /* q1: 90 degrees */
    bough_component *c = draft_pack(ctx, d);
    double s[6], mises, shear = E / (2 * (1 + nu));
    check(bough_component_stress(c, 0, (double[]){0.01, 0}, s, &mises));
    check_near(s[0], 0.01 * E, 1e-14);
    for (int k = 1; k < 6; k++)
        check_near(s[k], 0, 1e-14);
    check_near(mises, 0.01 * E, 1e-14);
    check(bough_component_stress(c, 0, (double[]){0, 0.01}, s, &mises));
    check_near(s[5], 0.01 * shear, 1e-14);
    check_near(mises, sqrt(3) * 0.01 * shear, 1e-14);
    check(bough_component_stress(c, 3, (double[]){0, 1}, s, &mises)); /* turned as a rigid body */
    check_near(mises, 0, 1e-14 * young1);
    bough_component_destroy(ctx, c);
    draft_free(d);
    bough_context_destroy(ctx);
}

static void surfaces_move_with_the_coordinates(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    test_random random = {9};
    for (int i = 0; i < DRAFT_CASES; i++)
        for (uint64_t seed = 1; seed <= 2; seed++) { /* float and int16 */
            draft *d = draft_make(draft_cases[i].r, draft_cases[i].elastic, BOUGH_MATERIAL_STVK, seed);
            bough_component *c = draft_pack(ctx, d);
            float *positions = malloc(sizeof(float) * 3 * DRAFT_SURFACE); /* exact, for sanitizers */
            double q[DRAFT_MOST_R];
            draft_randoms(&random, q, c->r, 1);
            bough_component_surface_positions(c, q, positions);
            for (int k = 0; k < 3 * DRAFT_SURFACE; k++) {
                double expected = d->surface_position[k], size = 1;
                for (int l = 0; l < c->r; l++) {
                    double part = q[l] * (double)d->surface_U[(k / 16 * c->r + l) * 16 + k % 16];
                    expected += part, size += fabs(part);
                }
                check_near((double)positions[k], expected, 2e-7 * size);
            }
            free(positions);
            bough_component_destroy(ctx, c);
            draft_free(d);
        }
    bough_context_destroy(ctx);
}

/* ---- functions of interfaces ---- */

enum { SPOTS = 60, FUNCTIONS = BO_JOINT_FUNCTIONS };
typedef struct {
    double s[SPOTS], t[SPOTS], weight[SPOTS];
} spots;

static bo_joint_geometry geometry_of(const spots *p, bo_mat3 axes) {
    bo_joint_geometry g = {0};
    memcpy(g.axes, axes.m, sizeof g.axes);
    for (int n = 0; n < SPOTS; n++) {
        double m[BO_JOINT_MONOMIALS];
        bo_joint_monomials(p->s[n], p->t[n], m);
        for (int i = 0; i < 36; i++)
            g.moments[i] += p->weight[n] * m[i / 6] * m[i % 6];
    }
    return g;
}

static bo_vec3 function_at(const double *Z, int k, double s, double t) {
    double m[BO_JOINT_MONOMIALS], x[3] = {0};
    bo_joint_monomials(s, t, m);
    for (int i = 0; i < BO_JOINT_TERMS; i++)
        x[i % 3] += m[i / 3] * Z[i * FUNCTIONS + k];
    return bo_load3(x);
}

/* Point by point: they are orthonormal, hold no rigid motion, and what the other side says in its axes and over its
 * radius is translated without loss. */
static void functions_of_interfaces_mean_the_same_on_both_sides(void **state) {
    (void)state;
    test_random r = {8};
    for (int round = 0; round < 10; round++) {
        spots own, other;
        const double ratio = test_uniform(&r, 0.7, 1.4);
        const bo_mat3 T = bo_exp3(bo_v3(0, 0, test_uniform(&r, -3, 3))),
                      A = bo_exp3(bo_v3(test_uniform(&r, -2, 2), 1, test_uniform(&r, -2, 2))),
                      R = bo_exp3(bo_v3(0.5, test_uniform(&r, -2, 2), test_uniform(&r, -2, 2)));
        for (int n = 0; n < SPOTS; n++) {
            own.s[n] = test_uniform(&r, -1, 1), own.t[n] = test_uniform(&r, -0.8, 0.8);
            own.weight[n] = other.weight[n] = test_uniform(&r, 0.5, 1.5) / SPOTS;
            const bo_vec3 x = bo_mat_tvec(T, bo_v3(own.s[n], own.t[n], 0));
            other.s[n] = ratio * x.x, other.t[n] = ratio * x.y;
        }
        const bo_joint_geometry a = geometry_of(&own, A),
                                b = geometry_of(&other, bo_mat_mul(bo_transpose(R), bo_mat_mul(A, T)));
        double Z[BO_JOINT_TERMS * FUNCTIONS], Zo[BO_JOINT_TERMS * FUNCTIONS], D[FUNCTIONS * FUNCTIONS];
        bo_joint_functions(&a, Z);
        bo_joint_functions(&b, Zo);
        bo_joint_translate(&a, &b, R, ratio, D);
        for (int j = 0; j < FUNCTIONS; j++) {
            double rigid[6] = {0}, row = 0;
            for (int k = 0; k < FUNCTIONS; k++) {
                double own_sum = 0, sum = 0;
                for (int n = 0; n < SPOTS; n++) {
                    const bo_vec3 x = function_at(Z, j, own.s[n], own.t[n]);
                    own_sum += own.weight[n] * bo_dot(x, function_at(Z, k, own.s[n], own.t[n]));
                    sum += own.weight[n] * bo_dot(x, bo_mat_vec(T, function_at(Zo, k, other.s[n], other.t[n])));
                }
                check_near(own_sum, j == k, 1e-10);
                check_near(D[j * FUNCTIONS + k], sum, 1e-10);
                row += D[j * FUNCTIONS + k] * D[j * FUNCTIONS + k];
            }
            check_near(row, 1, 1e-10);
            for (int n = 0; n < SPOTS; n++) {
                const bo_vec3 x = function_at(Z, j, own.s[n], own.t[n]),
                              turn = bo_cross(bo_v3(own.s[n], own.t[n], 0), x);
                const double six[6] = {x.x, x.y, x.z, turn.x, turn.y, turn.z};
                for (int d = 0; d < 6; d++)
                    rigid[d] += own.weight[n] * six[d];
            }
            for (int d = 0; d < 6; d++)
                check_near(rigid[d], 0, 1e-10);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quartic_indices_are_a_gapless_enumeration),
        cmocka_unit_test(the_quartic_kernel_is_the_plain_sum),
        cmocka_unit_test(a_quartic_is_homogeneous),
        cmocka_unit_test(forces_are_derivatives_of_the_energy),
        cmocka_unit_test(there_is_no_energy_and_no_force_at_rest),
        cmocka_unit_test(cubature_points_that_are_inverted_are_reported),
        cmocka_unit_test(interfaces_follow_rigid_motions_exactly),
        cmocka_unit_test(stresses_are_those_of_the_material),
        cmocka_unit_test(surfaces_move_with_the_coordinates),
        cmocka_unit_test(functions_of_interfaces_mean_the_same_on_both_sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
