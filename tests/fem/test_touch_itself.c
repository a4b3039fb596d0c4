/* Full bodies that touch themselves, and each other as pieces of one body: forces are those of a potential, nothing
 * crosses anything (by an exact test of its own), and weights are borne. */
#include "block.h"

#include "contact/crossing.h"
#include "linalg/sparse.h"

static void check_no_crossing(const block *b) {
    double *x = places_of(b);
    const int crossings = count_crossings(bo_touch_skin(b->touch), x);
    free(x);
    check_int(crossings, 0);
}

static void forces_are_those_of_the_potential(void **unused) {
    (void)unused;
    block_def def = default_block();
    def.copies = 2, def.apart = 4e-4, def.friction = 0.5, def.cells[0] = def.cells[1] = 1;
    block b = make_block(&def);
    start_block(&b, "backward-euler");
    check_ok(b.ctx, bo_touch_begin(b.touch, 0, 0.01, b.motion.q, b.motion.v));
    test_random random = {5};
    const size_t n = (size_t)b.system.size;
    double *q = calloc(n, sizeof *q), *way = calloc(n, sizeof *way), *f = calloc(n, sizeof *f), *g[2], *way_up;
    double worst = 0, worst_force = 0;
    way_up = calloc(n, sizeof *way_up);
    for (int k = 0; k < 2; k++)
        g[k] = calloc(n, sizeof *g[k]);
    for (int trial = 0; trial < 20; trial++) {
        const double t = 0.01, h = 1e-9;
        double U[2] = {0, 0}, along = 0, ignored = 0, most = 0;
        const bo_joined_block *blocks;
        bough_sparse *K;
        for (size_t i = 0; i < n; i++) {
            q[i] = test_uniform(&random, -4e-5, 4e-5), way[i] = test_uniform(&random, -1, 1), f[i] = 0;
            way_up[i] = 1e-5 * way[i];
        }
        bo_touch_bound(b.touch, t, q, way_up); /* finds who is near */
        check_ok(b.ctx, bo_touch_force(b.touch, t, q, &ignored, f));
        check_ok(b.ctx, bough_body_matrix_create(b.ctx, b.body, &K));
        bo_touch_tangent(b.touch, t, q, false, K);
        const int32_t count = bo_touch_blocks(b.touch, &blocks);
        check(count > 4);
        for (size_t i = 0; i < n; i++)
            along -= f[i] * way[i];
        for (int k = 0; k < 2; k++) {
            for (size_t i = 0; i < n; i++)
                g[k][i] = 0, q[i] += (k ? 2 : -1) * h * way[i];
            check_ok(b.ctx, bo_touch_force(b.touch, t, q, &U[k], g[k]));
        }
        worst_force = fmax(worst_force, fabs((U[1] - U[0]) / (2 * h) - along) / fabs(along));
        bo_sparse_mul(K, way, f, false);
        for (int32_t i = 0; i < count; i++)
            for (int r = 0; r < 12; r++)
                for (int c = 0; c < 12; c++)
                    f[3 * blocks[i].vertices[r / 3] + r % 3] +=
                        blocks[i].H[12 * r + c] * way[3 * blocks[i].vertices[c / 3] + c % 3];
        for (size_t i = 0; i < n; i++)
            most = fmax(most, fabs(f[i]));
        for (size_t i = 0; i < n; i++)
            worst = fmax(worst, fabs((g[0][i] - g[1][i]) / (2 * h) - f[i]) / most);
        bough_sparse_destroy(b.ctx, K);
    }
    printf("forces within %.2g, second derivatives within %.2g\n", worst_force, worst);
    check_below(worst_force, 1e-6);
    check_below(worst, 1e-6);
    free(q), free(way), free(way_up), free(f), free(g[0]), free(g[1]);
    free_block(&b);
}

/* Friction between two blocks, found as the difference to the same blocks without it, neither pushes nor turns both
 * together, though it acts at points that are a gap apart. */
static void friction_has_no_torque_on_both(void **unused) {
    (void)unused;
    block blocks[2];
    double *f[2], *q;
    test_random random = {8};
    for (int k = 0; k < 2; k++) {
        block_def def = default_block();
        def.copies = 2, def.apart = 4e-4, def.friction = k ? 0.5 : 0;
        blocks[k] = make_block(&def);
        start_block(&blocks[k], "backward-euler");
        check_ok(blocks[k].ctx, bo_touch_begin(blocks[k].touch, 0, 0.01, blocks[k].motion.q, blocks[k].motion.v));
        f[k] = calloc((size_t)blocks[k].system.size, sizeof *f[k]);
    }
    const size_t n = (size_t)blocks[0].system.size;
    bo_vec3 push = {0, 0, 0}, turn = {0, 0, 0};
    double size = 0;
    q = calloc(n, sizeof *q);
    for (size_t i = 0; i < n; i++)
        q[i] = test_uniform(&random, -2e-5, 2e-5);
    for (int k = 0; k < 2; k++)
        check_ok(blocks[k].ctx, bo_touch_force(blocks[k].touch, 0.01, q, NULL, f[k]));
    for (size_t i = 0; i < n; i += 3) {
        const bo_vec3 force = bo_sub(bo_load3(f[1] + i), bo_load3(f[0] + i));
        push = bo_add(push, force), turn = bo_add(turn, bo_cross(bo_load3(blocks[0].mesh->vertices + i), force));
        size += bo_norm(force);
    }
    printf("friction of %.3g N: push %.2g, torque %.2g m of it\n", size, bo_norm(push) / size, bo_norm(turn) / size);
    check(size > 0);
    check_below(bo_norm(push) / size, 1e-13);
    check_below(bo_norm(turn) / size, 1e-15);
    free(q), free(f[0]), free(f[1]);
    free_block(&blocks[0]), free_block(&blocks[1]);
}

/* Cubes that fall on each other come to rest: each bears what is above it. */
static void stacks_stand(void **unused) {
    (void)unused;
    for (int tets = 0; tets < 2; tets++) {
        block_def def = default_block();
        def.size[0] = def.size[1] = def.size[2] = 0.1, def.cells[2] = 2;
        def.type = tets ? BOUGH_TET4 : BOUGH_HEX8, def.young = 3e5;
        def.copies = 3, def.apart = 5e-3, def.lift = 5e-3, def.friction = 0.5;
        block b = make_block(&def);
        double slip;
        int32_t count;
        check_ok(b.ctx, bough_load_case_set_gravity(b.ctx, b.load_case, (double[]){0, 0, -9.81}));
        b.obstacles[0] = ground(0.5), b.def.obstacle_count = 1;
        start_block(&b, "backward-euler");
        const double start = energy_of(&b);
        for (int i = 0; i < 150; i++) {
            step_block(&b, 1. / 120);
            check_no_crossing(&b);
            check_below(energy_of(&b), start + 1e-6 * fabs(start) + 1e-9);
        }
        const bo_vec3 push = pushes_on(&b, &slip, &count), v = velocity_of(&b);
        printf("%s: the ground bears %.5g N of %.5g, mean speed %.2g m/s, least distance %.2g of the support\n",
               tets ? "tets" : "hexahedra", push.z, 9.81 * b.mass, bo_norm(v), b.least / b.def.support);
        check_near(push.z / (9.81 * b.mass), 1, 1e-4);
        check_below(bo_norm(v), 5e-3);
        free_block(&b);
    }
}

/* Thrown at each other, in steps that would take them through each other. */
static void nothing_crosses_at_any_speed(void **unused) {
    (void)unused;
    const double speeds[] = {1, 50}, steps[] = {1e-3, 1. / 30};
    for (int s = 0; s < 2; s++)
        for (int d = 0; d < 2; d++) {
            block_def def = default_block();
            def.copies = 2, def.apart = 0.02, def.type = BOUGH_TET4, def.young = 1e6, def.friction = 0.3;
            block b = make_block(&def);
            start_block(&b, "backward-euler");
            for (int32_t i = 0; i < b.mesh->vertex_count; i++)
                b.motion.v[3 * i + 2] = b.mesh->vertices[3 * i + 2] > 0.11 ? -speeds[s] : speeds[s];
            const double start = energy_of(&b);
            int failed = 0;
            double h = steps[d];
            for (int done = 0; done < 25 && failed < 200;) {
                const bough_status status = try_step(&b, h);
                if (status != BOUGH_OK) {
                    check(status > 0);
                    h *= 0.5, failed++;
                    continue;
                }
                check_no_crossing(&b);
                check_below(energy_of(&b), start * (1 + 1e-6));
                h = fmin(2 * h, steps[d]), done++;
            }
            const bo_vec3 v = velocity_of(&b);
            printf("%g m/s, steps of %.2g s: %d failed, mean velocity %.2g m/s, %.3g J of %.3g are left\n", speeds[s],
                   steps[d], failed, bo_norm(v), energy_of(&b), start);
            check(failed < 200);
            check_below(bo_norm(v), 1e-9 * speeds[s]); /* their momenta cancel, and stay so */
            free_block(&b);
        }
}

/* Elements that are thinner than the distance of contact; other pieces may begin as near as they like. */
static void surfaces_that_are_too_near_are_refused(void **unused) {
    (void)unused;
    block_def def = default_block();
    def.copies = 2, def.apart = 5e-4, def.size[2] = 0.01, def.cells[2] = 1;
    block b = make_block(&def);
    start_block(&b, "backward-euler");
    bo_touch *none;
    bo_touch_def bad = b.def;
    bad.support = 0.011;
    check_fails(b.ctx, bo_touch_make(b.ctx, b.body, b.load_case, &bad, &none), BOUGH_ERROR_ARGUMENT,
                "nearer to itself than 0.011 m");
    check(!none);
    free_block(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(forces_are_those_of_the_potential),
                                       cmocka_unit_test(friction_has_no_torque_on_both),
                                       cmocka_unit_test(stacks_stand), cmocka_unit_test(nothing_crosses_at_any_speed),
                                       cmocka_unit_test(surfaces_that_are_too_near_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
