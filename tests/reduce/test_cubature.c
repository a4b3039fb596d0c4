/* Cubature: a few weighted points give the forces of the whole body, for every material and element. */
#include "cooked.h"

#include "reduce/cook.h"

#include <time.h>

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Coordinates of about equal energy whose largest displacement is `amplitude`; u = U q. */
static void random_pose(const bough_component *c, test_random *random, double amplitude, double *q, double *u) {
    double most = 0;
    for (int32_t l = 0; l < c->r; l++)
        q[l] = test_uniform(random, -1, 1) / sqrt(c->K[(size_t)l * (size_t)(c->r + 1)]);
    displace(c, q, u);
    for (size_t v = 0; v < (size_t)c->volume.vertex_count; v++)
        most = fmax(most, norm_of(3, u + 3 * v));
    for (int32_t l = 0; l < c->r; l++)
        q[l] *= amplitude / most;
    displace(c, q, u);
}

/* Root mean square and worst error of the reduced force on new poses. */
static void held_out_errors(bough_context *ctx, bough_body *body, const bough_component *c, int poses, double *rms,
                            double *worst) {
    size_t n = 3 * (size_t)c->volume.vertex_count, r = (size_t)c->r;
    double *u = calloc(2 * n, sizeof *u), *f = u + n, sum = 0;
    double *q = calloc(3 * r + bough_component_scratch(c), sizeof *q), *full = q + r, *reduced = q + 2 * r;
    test_random random = {77};
    *worst = 0;
    for (int pose = 0; pose < poses; pose++) {
        random_pose(c, &random, test_uniform(&random, 0.02, 0.2), q, u);
        check_ok(ctx, bough_body_evaluate(ctx, body, u, false, NULL, f, NULL));
        project(c, f, full);
        check(bough_component_evaluate(c, q, q + 3 * r, NULL, reduced, NULL));
        double error = relative(r, reduced, -1, full);
        sum += error * error;
        *worst = fmax(*worst, error);
    }
    *rms = sqrt(sum / poses);
    free(u), free(q);
}

/* Largest |K_cubature - K| of one column, per sqrt(K_ll K_mm). */
static double rest_stiffness_error(const bough_component *c) {
    size_t r = (size_t)c->r;
    double *q = calloc(r + r * r + bough_component_scratch(c), sizeof *q), *H = q + r, worst = 0;
    check(bough_component_evaluate(c, q, H + r * r, NULL, NULL, H));
    for (size_t l = 0; l < r; l++) {
        double sum = 0;
        for (size_t m = 0; m < r; m++)
            sum += pow(H[l * r + m] - c->K[l * r + m], 2) / (c->K[l * r + l] * c->K[m * r + m]);
        worst = fmax(worst, sqrt(sum));
    }
    free(q);
    return worst;
}

static void check_weights(const bough_component *c, const bough_body *body) {
    for (int32_t i = 0; i < c->cubature.count; i++) {
        check(c->cubature.weight[i] > 0);
        check(c->cubature.element[i] >= 0 && c->cubature.element[i] < c->volume.element_count);
        check_int(c->cubature.material[i], body->element_material[c->cubature.element[i]]);
    }
}

/* Twenty coordinates of a rubber bar: under one percent on poses it has never seen. */
static void rubber_bar_within_one_percent(void **state) {
    (void)state;
    bough_context *ctx = test_context(2);
    bar_def bar = default_bar();
    bar.model = BOUGH_MATERIAL_STABLE_NEO_HOOKEAN;
    bar.cells[0] = TEST_SANITIZED ? 10 : 24;
    bar.cells[1] = bar.cells[2] = TEST_SANITIZED ? 3 : 5;
    bough_body *body = make_bar(ctx, bar);
    bar_ends ends = find_ends(ctx, body);
    bough_cook_def def = bar_cook_def(&ends, 20);
    bough_component *c;
    double times[BOUGH_COOK_PHASE_COUNT], rms, worst, begin = seconds();
    check_ok(ctx, bough_cook(ctx, body, NULL, &def, times, &c));
    double took = seconds() - begin;
    check_int(c->elastic, BOUGH_REDUCED_CUBATURE);
    check_weights(c, body);
    held_out_errors(ctx, body, c, 200, &rms, &worst);
    printf("%d elements, r = %d: %d points; force error %.3f %% training, %.3f %% test, %.3f %% new poses (worst %.2f "
           "%%), rest stiffness %.3f %%; cubature %.2f s of %.2f s\n",
           c->volume.element_count, c->r, c->cubature.count, 100 * c->quality.cubature_training,
           100 * c->quality.cubature_test, 100 * rms, 100 * worst, 100 * rest_stiffness_error(c),
           times[BOUGH_COOK_ELASTIC], took);
    check_below(c->quality.cubature_training, 1.001 * def.cubature_tolerance);
    check_below(c->quality.cubature_test, 0.01);
    check_below(rms, 0.01);
    check_below(rest_stiffness_error(c), 0.01);
    bough_component_destroy(ctx, c);
    free_ends(ctx, &ends);
    bough_body_destroy(ctx, body);
    bough_context_destroy(ctx);
}

/* Force and stiffness are derivatives of the energy, also far from rest. */
static void forces_are_derivatives(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bar_def bar = default_bar();
    bar.model = BOUGH_MATERIAL_NEO_HOOKEAN;
    bough_body *body;
    bough_component *c = cook_bar(ctx, bar, 8, &body);
    enum { R = 8 };
    size_t n = 3 * (size_t)c->volume.vertex_count;
    double *u = calloc(n, sizeof *u), *scratch = calloc(bough_component_scratch(c), sizeof *scratch);
    double q[R], f[R], H[R * R], above[R], below[R];
    test_random random = {3};
    for (int pose = 0; pose < 20; pose++) {
        random_pose(c, &random, 0.1, q, u);
        check(bough_component_evaluate(c, q, scratch, NULL, f, H));
        for (int l = 0; l < R; l++) {
            double E[2], size = norm_of(R, f), old = q[l], h = 1e-5 * sqrt(c->K[0] / c->K[(R + 1) * l]) * norm_of(R, q);
            q[l] = old + h;
            check(bough_component_evaluate(c, q, scratch, &E[1], above, NULL));
            q[l] = old - h;
            check(bough_component_evaluate(c, q, scratch, &E[0], below, NULL));
            q[l] = old;
            check_near((E[1] - E[0]) / (2 * h), f[l], 1e-6 * size);
            for (int m = 0; m < R; m++)
                check_near((above[m] - below[m]) / (2 * h), H[R * m + l],
                           1e-6 * sqrt(c->K[(R + 1) * l] * c->K[(R + 1) * m]));
        }
    }
    free(u), free(scratch);
    bough_component_destroy(ctx, c);
    bough_body_destroy(ctx, body);
    bough_context_destroy(ctx);
}

static void cook_and_compare(bough_context *ctx, bough_body *body, const char *what) {
    bar_ends ends = find_ends(ctx, body);
    bough_cook_def def = bar_cook_def(&ends, 6);
    bough_component *c;
    double rms, worst;
    def.elastic = BOUGH_REDUCED_CUBATURE;
    def.cubature_tolerance = 0.002;
    check_ok(ctx, bough_cook(ctx, body, NULL, &def, NULL, &c));
    check_weights(c, body);
    check(c->cubature.count < body->mesh->element_count * body->rule->point_count);
    held_out_errors(ctx, body, c, 30, &rms, &worst);
    if (rms > 0.01 || rest_stiffness_error(c) > 0.01)
        fail_msg("%s: force error %g, rest stiffness error %g with %d points", what, rms, rest_stiffness_error(c),
                 c->cubature.count);
    bough_component_destroy(ctx, c);
    free_ends(ctx, &ends);
}

static void serves_every_material_and_element(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int model = 0; model < BOUGH_MATERIAL_MODEL_COUNT; model++)
        for (int type = BOUGH_TET4; type <= BOUGH_HEX8; type++) {
            bar_def bar = default_bar();
            bar.model = (bough_material_model)model;
            bar.type = (bough_element_type)type;
            bar.poisson = 0.3;
            if (type != BOUGH_TET4)
                bar.cells[0] = 4, bar.cells[1] = bar.cells[2] = 1;
            bough_body *body = make_bar(ctx, bar);
            cook_and_compare(ctx, body, bough_material_name(bar.model));
            bough_body_destroy(ctx, body);
        }
    bough_context_destroy(ctx);
}

/* A stiff half that cannot invert, and a soft one. */
static void serves_mixed_materials(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_box_def box = bough_default_box_def();
    box.size[1] = box.size[2] = 0.2;
    box.cells[0] = 8, box.cells[1] = box.cells[2] = 2;
    bough_mesh *mesh;
    check_ok(ctx, bough_mesh_generate_box(ctx, &box, &mesh));
    int32_t *half = calloc((size_t)mesh->element_count, sizeof *half), count = 0;
    for (int32_t e = 0; e < mesh->element_count; e++)
        if (mesh->vertices[3 * (size_t)mesh->elements[4 * e]] > 0.5)
            half[count++] = e;
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, "soft", half, count));
    bough_body_def def = bough_default_body_def();
    bough_body_region region = {"soft", bough_default_material()};
    def.material.model = BOUGH_MATERIAL_NEO_HOOKEAN, def.material.young = 5e6;
    region.material.model = BOUGH_MATERIAL_COROTATED;
    def.regions = &region, def.region_count = 1;
    bough_body *body;
    check_ok(ctx, bough_body_create(ctx, mesh, &def, &body));
    cook_and_compare(ctx, body, "mixed");
    free(half);
    bough_body_destroy(ctx, body);
    bough_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

/* ---- poses ---- */

static void prepare(bough_context *ctx, bough_body *body, const bough_cook_def *def, bo_cook *cook) {
    check_ok(ctx, bo_cook_open(ctx, body, NULL, def, cook));
    check_ok(ctx, bo_cook_setup(cook));
    check_ok(ctx, bo_cook_basis(cook));
    check_ok(ctx, bo_cook_stiffness(cook));
}

/* As large as asked for, inside of the material's domain, and the same again from the same seed. */
static void poses_are_as_asked(void **state) {
    (void)state;
    enum { R = 10 };
    bough_context *ctx = test_context(1);
    for (int strict = 0; strict < 2; strict++) {
        bar_def bar = default_bar();
        bar.model = strict ? BOUGH_MATERIAL_NEO_HOOKEAN : BOUGH_MATERIAL_STABLE_NEO_HOOKEAN;
        bough_body *body = make_bar(ctx, bar);
        bar_ends ends = find_ends(ctx, body);
        bough_cook_def def = bar_cook_def(&ends, R);
        def.pose_amplitude = strict ? 2 : 0.3; /* 2: many would be inverted */
        bo_cook cook;
        prepare(ctx, body, &def, &cook);
        bo_pose_random random = {5}, again = {5};
        double *u = calloc((size_t)cook.n, sizeof *u), q[R], same[R], share[R] = {0}, largest = 0;
        for (int pose = 0; pose < 30; pose++) {
            double most = 0;
            check_ok(ctx, bo_cook_pose(&cook, &random, q));
            check_ok(ctx, bo_cook_pose(&cook, &again, same));
            check(memcmp(q, same, sizeof q) == 0);
            double all = 0;
            for (int l = 0; l < R; l++)
                all += cook.draft.K[l * (R + 1)] * q[l] * q[l];
            for (int l = 0; l < R; l++)
                share[l] += cook.draft.K[l * (R + 1)] * q[l] * q[l] / all / 30;
            bo_cook_displace(&cook, q, u);
            check_ok(ctx, bough_body_evaluate(ctx, body, u, false, NULL, NULL, NULL));
            for (int32_t v = 0; v < cook.n / 3; v++)
                most = fmax(most, norm_of(3, u + 3 * v));
            largest = fmax(largest, most);
            check_below(most, def.pose_amplitude * cook.size * (1 + 1e-12));
            if (!strict)
                check(most >= 0.1 * def.pose_amplitude * cook.size);
        }
        for (int l = 0; l < R; l++) /* stiff and soft coordinates take part alike */
            check(share[l] > 0.2 / R && share[l] < 3.0 / R);
        if (!strict)
            check(largest > 0.8 * def.pose_amplitude * cook.size);
        free(u);
        bo_cook_close(&cook);
        free_ends(ctx, &ends);
        bough_body_destroy(ctx, body);
    }
    bough_context_destroy(ctx);
}

/* (U q) . f = q . (U^T f) */
static void displacing_and_projecting_are_transposed(void **state) {
    (void)state;
    enum { N = 30, R = 19 };
    double U[N * R], q[R], u[N], f[N], reduced[R], left = 0, right = 0;
    test_random random = {6};
    for (int i = 0; i < N * R; i++)
        U[i] = test_uniform(&random, -1, 1);
    for (int i = 0; i < N; i++)
        f[i] = test_uniform(&random, -1, 1);
    for (int l = 0; l < R; l++)
        q[l] = test_uniform(&random, -1, 1);
    bo_cook cook = {.n = N, .r = R, .U = U};
    bo_cook_displace(&cook, q, u);
    bo_cook_project(&cook, f, reduced);
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int l = 0; l < R; l++)
            sum += U[R * i + l] * q[l];
        check_near(u[i], sum, 1e-13);
        left += u[i] * f[i];
    }
    for (int l = 0; l < R; l++)
        right += q[l] * reduced[l];
    check_near(left, right, 1e-12);
}

/* ---- how it behaves ---- */

typedef struct {
    double last;
    bool backwards;
} progress_seen;

static bool stop_in_cubature(void *user, const bough_progress *progress) {
    progress_seen *seen = user;
    seen->backwards |= progress->fraction < seen->last - 1e-12 || progress->fraction > 1;
    seen->last = progress->fraction;
    return !strstr(progress->detail, " points");
}

static void can_be_cancelled(void **state) {
    (void)state;
    progress_seen seen = {0};
    bough_context_def context_def = bough_default_context_def();
    context_def.progress = stop_in_cubature, context_def.progress_user = &seen;
    bough_context *ctx = bough_context_create(&context_def);
    bar_def bar = default_bar();
    bar.model = BOUGH_MATERIAL_STABLE_NEO_HOOKEAN;
    bough_body *body = make_bar(ctx, bar);
    bar_ends ends = find_ends(ctx, body);
    bough_cook_def def = bar_cook_def(&ends, 12);
    bo_cook cook;
    prepare(ctx, body, &def, &cook);
    bo_cook_clock(&cook, BOUGH_COOK_ELASTIC);
    check_int(bo_cook_cubature(&cook), BOUGH_CANCELLED);
    check(seen.last > 0.3 && !seen.backwards);
    bo_cook_close(&cook);
    free_ends(ctx, &ends);
    bough_body_destroy(ctx, body);
    bough_context_destroy(ctx);
}

static void remember(void *user, const char *sentence) {
    snprintf(user, 200, "%s", sentence);
}

static void says_when_points_do_not_suffice(void **state) {
    (void)state;
    char sentence[200] = "";
    bough_context_def context_def = bough_default_context_def();
    context_def.warn = remember, context_def.warn_user = sentence;
    bough_context *ctx = bough_context_create(&context_def);
    bar_def bar = default_bar();
    bar.model = BOUGH_MATERIAL_STABLE_NEO_HOOKEAN;
    bough_body *body = make_bar(ctx, bar);
    bar_ends ends = find_ends(ctx, body);
    bough_cook_def def = bar_cook_def(&ends, 12);
    def.cubature_most = 15;
    bough_component *c;
    check_ok(ctx, bough_cook(ctx, body, NULL, &def, NULL, &c));
    check(c->cubature.count <= 15);
    check(strstr(sentence, "ends at 15 points"));
    bough_component_destroy(ctx, c);
    free_ends(ctx, &ends);
    bough_body_destroy(ctx, body);
    bough_context_destroy(ctx);
}

static void thread_count_does_not_matter(void **state) {
    (void)state;
    bar_def bar = default_bar();
    bar.model = BOUGH_MATERIAL_STABLE_NEO_HOOKEAN;
    void *image = NULL;
    size_t size = 0;
    for (int32_t threads = 1; threads <= 3; threads++) {
        bough_context *ctx = test_context(threads);
        bough_body *body;
        bough_component *c = cook_bar(ctx, bar, 10, &body);
        if (threads == 1) {
            size = c->image_size;
            image = malloc(size);
            memcpy(image, c->image, size);
        }
        check_int(c->image_size, size);
        check(memcmp(c->image, image, size) == 0);
        bough_component_destroy(ctx, c);
        bough_body_destroy(ctx, body);
        bough_context_destroy(ctx);
    }
    free(image);
}

/* Every allocation of the phases in cubature.c, samples.c and surface.c, one by one. */
static void failing_allocations_are_reported(void **state) {
    (void)state;
    bough_status (*const phases[])(bo_cook *) = {bo_cook_cubature, bo_cook_samples, bo_cook_surface};
    for (size_t phase = 0; phase < 3; phase++) {
        test_memory memory = {.fail_at = -1};
        bough_context *ctx = test_counting_context(&memory);
        bar_def bar = default_bar();
        bar.model = BOUGH_MATERIAL_STABLE_NEO_HOOKEAN;
        bar.cells[0] = 2, bar.cells[1] = bar.cells[2] = 1;
        bough_body *body = make_bar(ctx, bar);
        bar_ends ends = find_ends(ctx, body);
        bough_cook_def def = bar_cook_def(&ends, 3);
        bo_cook cook;
        def.training_count = 4;
        prepare(ctx, body, &def, &cook);
        bough_status status = BOUGH_ERROR_MEMORY;
        for (long fail_at = 0; status != BOUGH_OK; fail_at++) {
            check(fail_at < 500);
            memory.fail_at = memory.calls + fail_at;
            status = phases[phase](&cook);
            check(status == BOUGH_OK || status == BOUGH_ERROR_MEMORY);
        }
        memory.fail_at = -1;
        bo_cook_close(&cook);
        free_ends(ctx, &ends);
        bough_body_destroy(ctx, body);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rubber_bar_within_one_percent),
        cmocka_unit_test(forces_are_derivatives),
        cmocka_unit_test(serves_every_material_and_element),
        cmocka_unit_test(serves_mixed_materials),
        cmocka_unit_test(poses_are_as_asked),
        cmocka_unit_test(displacing_and_projecting_are_transposed),
        cmocka_unit_test(can_be_cancelled),
        cmocka_unit_test(says_when_points_do_not_suffice),
        cmocka_unit_test(thread_count_does_not_matter),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
