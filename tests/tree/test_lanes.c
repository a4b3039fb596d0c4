/* Quantities that the tree computes side by side, against the same one by one: tangents of quartics, frames of
 * interfaces. */
#include "grown.h"

#include "base/polar.h"
#include "base/rotation.h"

/* ---- tangents ---- */

static void check_tangent(int32_t r) {
    grown *g = grow(r, 1, BOUGH_REDUCED_POLYNOMIAL, false, (uint64_t)r);
    const size_t entries = (size_t)(r * (r + 1) / 2), n = (size_t)r;
    double *table = malloc(bo_tangent_table_size(r) * sizeof *table);
    double *scratch = malloc(bo_tangent_scratch(r) * sizeof *scratch);
    double *K = malloc(BO_WIDE * entries * sizeof *K), *f = malloc(BO_WIDE * n * sizeof *f);
    double *q = malloc(BO_WIDE * n * sizeof *q), *one = malloc(n * sizeof *one),
           *gradient = malloc(n * sizeof *gradient);
    double *H = malloc(n * n * sizeof *H), *rest = malloc(bough_component_scratch(&g->c) * sizeof *rest);
    test_random random = {(uint64_t)(r + 1000)};
    ((double *)g->c.quartic)[bo_quartic_index(1, 0, 0, 0)] = 3; /* a force at rest */
    bo_tangent_table_fill(&g->c, table);
    for (size_t i = 0; i < BO_WIDE * n; i++)
        q[i] = test_uniform(&random, -1, 1);
    bo_tangent_evaluate(r, table, q, scratch, f, K);
    for (size_t k = 0; k < BO_WIDE; k++) {
        double most_f = 0, most_K = 0;
        for (size_t l = 0; l < n; l++)
            one[l] = q[BO_WIDE * l + k];
        check(bough_component_evaluate(&g->c, one, rest, NULL, gradient, H));
        for (size_t i = 0; i < n; i++)
            most_f = fmax(most_f, fabs(gradient[i]));
        for (size_t i = 0; i < n * n; i++)
            most_K = fmax(most_K, fabs(H[i]));
        for (size_t i = 0; i < n; i++) {
            check_near(f[BO_WIDE * i + k], gradient[i], 1e-13 * most_f);
            for (size_t j = 0; j <= i; j++)
                check_near(K[BO_WIDE * (i * (i + 1) / 2 + j) + k], H[n * i + j], 1e-13 * most_K);
        }
    }
    free(table), free(scratch), free(K), free(f), free(q), free(one), free(gradient), free(H), free(rest);
    grown_free(g);
}

static void tangents_are_those_of_the_component(void **state) {
    (void)state;
    for (int32_t r = 1; r <= 32; r++)
        check_tangent(r);
}

/* ---- frames of interfaces ---- */

enum { FACES = 11, R = 5 };

/* A part with something at all its interfaces but the first. */
typedef struct {
    bough_context *ctx;
    grown *root, *leaf;
    bough_part_def parts[FACES];
    bough_tree_model *model;
    bough_tree_state *state;
} hedge;

static void prepare_hedge(hedge *h, uint64_t seed) {
    *h = (hedge){.ctx = test_context(1)};
    h->root = grow(R, FACES, BOUGH_REDUCED_LINEAR, false, seed);
    h->leaf = grow(1, 1, BOUGH_REDUCED_LINEAR, false, seed + 1);
    for (int i = 0; i < FACES; i++) {
        h->parts[i] = bough_default_part_def();
        h->parts[i].component = i > 0;
        h->parts[i].parent = i > 0 ? 0 : -1;
        h->parts[i].interface_index = i;
    }
    h->parts[0].scale = 1.3;
}

static double *rest_of(hedge *h, int32_t face) {
    return (double *)h->root->faces[face].A;
}

static bough_status plant_hedge(hedge *h) {
    const bough_component *components[2] = {&h->root->c, &h->leaf->c};
    bough_tree_model_def def = bough_default_tree_model_def();
    test_weigh(def.gravity);
    def.component_count = 2, def.components = components;
    def.part_count = FACES, def.parts = h->parts;
    BO_TRY(bough_tree_model_create(h->ctx, &def, &h->model));
    return bough_tree_state_create(h->ctx, h->model, &h->state);
}

static void clear_hedge(hedge *h) {
    bough_tree_state_destroy(h->ctx, h->state);
    bough_tree_model_destroy(h->ctx, h->model);
    grown_free(h->root), grown_free(h->leaf);
    bough_context_destroy(h->ctx);
}

static bo_mat3 combination(const bough_interface *face, const double *x, double rest) {
    bo_mat3 A;
    for (int k = 0; k < 9; k++) {
        A.m[k] = rest * face->A[k];
        for (int l = 0; l < R; l++)
            A.m[k] += x[l] * face->A[9 * (l + 1) + k];
    }
    return A;
}

static bo_tree_faces *lanes_of(hedge *h, int32_t i, int *lane) {
    const bo_tree_part *part = &h->model->parts[h->model->inside[i]];
    *lane = part->face % 4;
    return &bo_tree_work_of(h->state)->faces[part->face / 4];
}

/* All decompositions start this far from where the last ones ended. */
static void turn_starts(hedge *h, test_random *random, double angle) {
    for (int i = 1; i < FACES; i++) {
        int lane;
        bo_tree_faces *f = lanes_of(h, i, &lane);
        bo_mat3 before;
        bo_vec3 axis = bo_v3(test_uniform(random, -1, 1), test_uniform(random, -1, 1), test_uniform(random, -1, 1));
        for (int k = 0; k < 9; k++)
            before.m[k] = BO_LANE(f->polar[k], lane);
        bo_mat3 turned = bo_mat_mul(before, bo_exp3(bo_scale(angle / bo_norm(axis), axis)));
        for (int k = 0; k < 9; k++)
            BO_LANE(f->polar[k], lane) = turned.m[k];
    }
}

/* Rotation, its derivatives, position and velocity of all faces at q, v. */
static void check_faces(hedge *h, const double *q, const double *v, double tolerance) {
    check(bo_tree_move_faces(h->ctx, h->model, bo_tree_work_of(h->state), &(bo_tree_mode){0}, q, v));
    for (int i = 1; i < FACES; i++) {
        const bough_interface *face = &h->root->faces[i];
        int lane;
        const bo_tree_faces *f = lanes_of(h, i, &lane);
        const bo_mat3 A = combination(face, q, 1), Adot = combination(face, v, 0), zero = {{0}};
        bo_mat3 rotation, S, Rdot, Sdot, Rddot;
        bo_vec3 turning, bias;
        double Op[27], expected[3];
        check(bo_polar(A, &rotation, &S));
        check(bo_polar_rates(A, rotation, S, Adot, &turning, &Rdot, &Sdot));
        check(bo_polar_accelerations(rotation, S, Adot, zero, turning, Sdot, &bias, &Rddot));
        check(bo_polar_operator(rotation, S, Op));
        double size = 0;
        for (int k = 0; k < 27; k++)
            size = fmax(size, fabs(Op[k]));
        for (int k = 0; k < 9; k++)
            check_near(BO_LANE_CONST(f->polar[k], lane), rotation.m[k], tolerance);
        for (int k = 0; k < 27; k++)
            check_near(BO_LANE_CONST(f->Op[k], lane), Op[k], tolerance * size);
        bo_store3(expected, turning);
        for (int k = 0; k < 3; k++)
            check_near(BO_LANE_CONST(f->turning[k], lane), expected[k], tolerance * size);
        bo_store3(expected, bias);
        for (int k = 0; k < 3; k++)
            check_near(BO_LANE_CONST(f->turning_bias[k], lane), expected[k], tolerance * size * size);
        for (int k = 0; k < 3; k++) {
            double x = face->centre[k], xdot = 0;
            for (int l = 0; l < R; l++)
                x += q[l] * face->translation[3 * l + k], xdot += v[l] * face->translation[3 * l + k];
            check_near(BO_LANE_CONST(f->x[k], lane), 1.3 * x, 1e-14);
            check_near(BO_LANE_CONST(f->xdot[k], lane), 1.3 * xdot, 1e-14);
        }
    }
}

static void frames_do_not_depend_on_where_they_start(void **state) {
    (void)state;
    static const double angles[] = {0, 1e-9, 1e-3, 0.3, 1.5, 3, M_PI};
    test_random random = {1};
    for (uint64_t seed = 1; seed < 6; seed++) {
        hedge h;
        prepare_hedge(&h, seed);
        for (int k = 0; k < 9; k++) /* a reflection: its least singular value counts as negative */
            rest_of(&h, 3)[k] = (const double[9]){0.5, 0.05, 0, 0.05, 0.4, 0.02, 0, 0.02, -0.1}[k];
        check_ok(h.ctx, plant_hedge(&h));
        const int32_t n = bough_tree_model_size(h.model);
        double *q = calloc(2 * (size_t)n, sizeof *q), *v = q + n;
        for (int round = 0; round < 20; round++)
            for (size_t a = 0; a < sizeof angles / sizeof *angles; a++) {
                for (int l = 0; l < R; l++)
                    q[l] = test_uniform(&random, -0.2, 0.2), v[l] = test_uniform(&random, -1, 1);
                turn_starts(&h, &random, angles[a]);
                check_faces(&h, q, v, 1e-10);
            }
        free(q);
        clear_hedge(&h);
    }
}

/* Also where an interface is nearly a line, and Newton's iteration takes long from far away. */
static void nearly_crushed_frames_do_not_depend_on_it_either(void **state) {
    (void)state;
    for (int power = 1; power < 9; power++) {
        test_random random = {(uint64_t)power};
        const double e = pow(10, -power);
        hedge h;
        prepare_hedge(&h, 7);
        for (int i = 1; i < FACES; i++) {
            bo_mat3 Q, V, A = {{1, 0, 0, 0, e, 0, 0, 0, e * test_uniform(&random, -0.8, 0.8)}};
            grown_rotation(&random, Q.m), grown_rotation(&random, V.m);
            A = bo_mat_mul(Q, bo_mat_mul(V, bo_mat_mul(A, bo_transpose(V))));
            memset(rest_of(&h, i), 0, 9 * (R + 1) * sizeof(double));
            memcpy(rest_of(&h, i), A.m, sizeof A.m);
        }
        check_ok(h.ctx, plant_hedge(&h));
        double q[FACES + R] = {0}, v[FACES + R] = {0};
        for (int round = 0; round < 300; round++) {
            turn_starts(&h, &random, test_uniform(&random, 0, M_PI));
            check_faces(&h, q, v, 1e-13 / e);
        }
        clear_hedge(&h);
    }
}

/* Starts that are no rotations at all, as a step that was refused may leave them. */
static void frames_survive_lost_starts(void **state) {
    (void)state;
    hedge h;
    prepare_hedge(&h, 9);
    check_ok(h.ctx, plant_hedge(&h));
    double q[FACES + R] = {0.1, -0.1, 0.05, 0, 0.1}, v[FACES + R] = {1, 2, -1, 0.5, 0.2};
    for (int i = 1; i < FACES; i++) {
        int lane;
        bo_tree_faces *f = lanes_of(&h, i, &lane);
        for (int k = 0; k < 9; k++)
            BO_LANE(f->polar[k], lane) = i % 3 ? NAN : INFINITY;
    }
    check_faces(&h, q, v, 1e-12);
    clear_hedge(&h);
}

/* Stationary points that are no maxima: a mirrored interface whose longest axis is the one turned back, where two pair
 * sums are negative, so that neither their sum nor their product tells. Decompositions start right there. */
static void frames_do_not_rest_on_saddles(void **state) {
    (void)state;
    hedge h;
    prepare_hedge(&h, 12);
    static const double axes[3][3] = {{-0.3, 0.2, 0.15}, {0.2, -0.3, 0.15}, {0.2, 0.15, -0.3}};
    for (int i = 0; i < 3; i++) { /* four faces are decomposed together, and one bad one betrays all */
        double *A = rest_of(&h, i == 0 ? 2 : 1 + 4 * i);
        memset(A, 0, 9 * (R + 1) * sizeof *A);
        for (int k = 0; k < 3; k++)
            A[4 * k] = axes[i][k];
    }
    check_ok(h.ctx, plant_hedge(&h));
    double q[FACES + R] = {0}, v[FACES + R] = {1, -1, 0.5};
    check_faces(&h, q, v, 1e-12);
    clear_hedge(&h);
}

/* The error that rounding adds to a rotation over many steps is removed again. */
static void frames_stay_rotations(void **state) {
    (void)state;
    hedge h;
    prepare_hedge(&h, 10);
    check_ok(h.ctx, plant_hedge(&h));
    test_random random = {10};
    double q[FACES + R] = {0.1, 0, 0.1}, v[FACES + R] = {1};
    check_faces(&h, q, v, 1e-12);
    for (int i = 1; i < FACES; i++) {
        int lane;
        bo_tree_faces *f = lanes_of(&h, i, &lane);
        for (int k = 0; k < 9; k++)
            BO_LANE(f->polar[k], lane) += test_uniform(&random, -1e-7, 1e-7);
    }
    check_faces(&h, q, v, 1e-12);
    clear_hedge(&h);
}

/* Nearly flat and nearly straight interfaces have frames as long as base/polar.c says so. */
static void crushed_interfaces_are_those_of_the_decomposition(void **state) {
    (void)state;
    for (int power = 2; power < 14; power++)
        for (int turned = 0; turned < 2; turned++) {
            const double e = 1.7 * pow(10, -power);
            hedge h;
            prepare_hedge(&h, 4);
            bo_mat3 A = {{0.9, 0, 0, 0, turned ? 0.5 * e : e, 0, 0, 0, turned ? 0.5 * e : 0}}, rotation, S;
            A = bo_mat_mul(bo_exp3(bo_v3(0.3 * turned, 0.2, -0.4)), A);
            memcpy(rest_of(&h, 6), A.m, sizeof A.m);
            memset(rest_of(&h, 6) + 9, 0, 9 * R * sizeof(double));
            const bool good = bo_polar(A, &rotation, &S);
            const bough_status status = plant_hedge(&h);
            check_int(status, good ? BOUGH_OK : BOUGH_NOT_FINITE);
            if (good) {
                double q[FACES + R] = {0.01}, v[FACES + R] = {0, 1};
                test_random random = {(uint64_t)power};
                for (int round = 0; round < 20; round++) {
                    check_faces(&h, q, v, 1e-13 / e + 1e-12);
                    turn_starts(&h, &random, test_uniform(&random, 0, M_PI));
                }
            } else {
                check(strstr(bough_message(h.ctx), "crushed"));
            }
            clear_hedge(&h);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tangents_are_those_of_the_component),
        cmocka_unit_test(frames_do_not_depend_on_where_they_start),
        cmocka_unit_test(nearly_crushed_frames_do_not_depend_on_it_either),
        cmocka_unit_test(frames_survive_lost_starts),
        cmocka_unit_test(frames_do_not_rest_on_saddles),
        cmocka_unit_test(frames_stay_rotations),
        cmocka_unit_test(crushed_interfaces_are_those_of_the_decomposition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
