/* Shapes that parts carry, or are: several of them, of every kind, as others touch them. */
#include "../rig/rings.h"
#include "bars.h"

#include "tree/touch.h"

static double energy_of(bars *b) {
    bough_tree_energies e;
    check_ok(b->ctx, bough_tree_state_energies(b->ctx, b->model, b->state, &e));
    return e.kinetic + e.elastic + e.gravity;
}

/* Bars that hang on each other (none: count 0) and rigid stones, without weight, all of which fly. Their places are to be
 * set before. */
static void grow_stones(bars *b, int32_t bar_count, int32_t stone_count) {
    bough_component *stone = cook_one(b->ctx, 0, 0.5, 0, true);
    const bough_component *components[3] = {b->root, b->limb, stone};
    for (int32_t i = 0; i < stone_count; i++)
        b->parts[bar_count + i].component = 2, b->parts[bar_count + i].parent = -1, b->parts[bar_count + i].scale = 1;
    b->def.component_count = 3, b->def.components = components, b->def.parts = b->parts;
    b->def.part_count = bar_count + stone_count;
    check_ok(b->ctx, bough_tree_model_create(b->ctx, &b->def, &b->model));
    check_ok(b->ctx, bough_tree_state_create(b->ctx, b->model, &b->state));
    b->stone = stone;
}
static void clear_stones(bars *b) {
    bough_component *stone = b->stone;
    clear_bars(b);
    bough_component_destroy(b->ctx, stone);
}
static void place(bough_part_def *part, double x, double y, double z) {
    *part = bough_default_part_def();
    bo_store3(part->position, bo_v3(x, y, z));
}
static bough_tree_solid solid_on(int32_t part, bough_shape_def shape, double x, double y, double z) {
    bo_store3(shape.frame.position, bo_v3(x, y, z));
    return (bough_tree_solid){part, shape};
}
static void touch(bars *b, int32_t count, const bough_tree_solid *solids, const bough_obstacle_def *obstacle,
                  double friction) {
    bough_tree_touch_def def = bough_default_tree_touch_def();
    def.solid_count = count, def.solids = solids, def.friction = friction, def.rest_speed = 0;
    def.obstacle_count = obstacle != NULL, def.obstacles = obstacle;
    check_ok(b->ctx, bough_tree_state_touch(b->ctx, b->model, b->state, &def));
}
static bo_vec3 at_rest(const bars *b, int32_t part) {
    return bo_load3(b->state->frames[part].pose.position);
}

static const bo_vec3 corners[] = {
    {-0.2, -0.15, -0.12}, {0.2, -0.12, -0.12}, {0.17, 0.2, -0.1}, {-0.15, 0.17, -0.12}, {0.05, 0.02, 0.2}};

/* A stone of any shape hits bars that bend, or a bar that carries such a shape is hit by a ball: all together keep their
 * momenta, and lose energy. */
static void solids_of_all_kinds_keep_momenta(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double heights[9] = {0.02, 0.03, 0.01, 0.05, 0.08, 0.04, 0, 0.02, 0.03};
    bough_shape_mesh *ring = torus_of(ctx, 0.2, 0.08, 12, 8, 16);
    const bough_shape_def kinds[] = {mesh_def(ring), hull_def(5, corners), field_def(3, 3, 0.2, heights),
                                     box_def(0.4, 0.3, 0.3), sphere_def(0.2)};
    for (int k = 0; k < 10; k++) {
        bars b;
        const int kind = k % 5;
        const bool carried = k >= 5;
        prepare_bars(&b, ctx, 3, 0, true);
        memset(b.def.gravity, 0, sizeof b.def.gravity);
        place(&b.parts[3], 0.2, 0.03, 0.65);
        grow_stones(&b, 3, 1);
        const bough_tree_solid falling[] = {solid_on(3, kinds[kind], 0, 0, 0), solid_on(3, kinds[4], 0.3, 0, 0.1)},
                               held[] = {solid_on(3, kinds[4], 0, 0, 0), solid_on(0, kinds[kind], 0.2, 0, 0.1),
                                         solid_on(0, kinds[(kind + 1) % 5], 0.7, 0, 0.1)};
        touch(&b, carried ? 3 : 2, carried ? held : falling, NULL, k % 2 ? 0.6 : 0);
        bo_store3(b.state->roots[1].velocity, bo_v3(0.7, 0, -2));
        b.state->roots[1].angular_velocity[1] = 3;
        check_ok(ctx, bough_tree_state_update(ctx, b.model, b.state));
        double P[3] = {0}, L[3] = {0};
        for (int r = 0; r < 2; r++)
            for (int d = 0; d < 3; d++)
                P[d] += b.state->roots[r].momentum[d], L[d] += b.state->roots[r].angular_momentum[d];
        const double before = energy_of(&b);
        double last = before, gained = 0;
        int32_t touched = 0;
        for (int step = 0; step < 120; step++) {
            check_ok(ctx, bough_tree_advance(ctx, b.model, b.state, 1.0 / 240, NULL));
            touched += bough_tree_state_contacts(b.state, 0, NULL) > 0;
            const double now = energy_of(&b);
            gained = fmax(gained, now - last), last = now;
        }
        check(touched > 0);
        check_below(gained / before, 0.03);
        check(last < before);
        for (int d = 0; d < 3; d++) {
            const double *p = b.state->roots[0].momentum, *q = b.state->roots[1].momentum;
            const double *l = b.state->roots[0].angular_momentum, *m = b.state->roots[1].angular_momentum;
            check_near((p[d] + q[d] - P[d]) / fabs(P[2]), 0, 1e-12);
            check_near((l[d] + m[d] - L[d]) / fabs(L[1]), 0, 1e-12);
        }
        check(fabs(b.state->roots[0].momentum[2]) > 0.5);
        clear_stones(&b);
    }
    bough_shape_mesh_destroy(ctx, ring);
    bough_context_destroy(ctx);
}

/* A ball flies through a ring and touches nothing; one that is too large takes the ring along. */
static void a_ball_flies_through_a_ring(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_shape_mesh *ring = torus_of(ctx, 0.4, 0.1, 24, 10, 24);
    for (int large = 0; large < 2; large++) {
        bars b;
        prepare_bars(&b, ctx, 0, 0, true);
        memset(b.def.gravity, 0, sizeof b.def.gravity);
        place(&b.parts[0], 0, 0, 0), place(&b.parts[1], 0.005, 0, 0.8);
        grow_stones(&b, 0, 2);
        const bough_tree_solid solids[] = {solid_on(0, mesh_def(ring), 0, 0, 0),
                                           solid_on(1, sphere_def(large ? 0.33 : 0.28), 0, 0, 0)};
        touch(&b, 2, solids, NULL, 0.5);
        b.state->roots[1].velocity[2] = -4;
        check_ok(ctx, bough_tree_state_update(ctx, b.model, b.state));
        const double start = at_rest(&b, 1).z;
        for (int step = 0; step < 120; step++)
            check_ok(ctx, bough_tree_advance(ctx, b.model, b.state, 1.0 / 240, NULL));
        if (large)
            check(b.state->roots[1].velocity[2] > -3.9 && b.state->roots[0].velocity[2] < -0.1);
        else
            check_near(at_rest(&b, 1).z, start - 2, 1e-9);
        clear_stones(&b);
    }
    bough_shape_mesh_destroy(ctx, ring);
    bough_context_destroy(ctx);
}

/* Rings, hulls, blocks and a part with several solids fall on obstacles of all kinds that programs can describe, come to rest on
 * them, and these bear their weight. */
static void solids_rest_on_obstacles_of_all_kinds(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    double heights[25];
    for (int i = 0; i < 25; i++)
        heights[i] = -0.02 * ((i % 5 - 2) * (i % 5 - 2) - 4) * (i / 5 == 0 || i / 5 == 4 ? 1 : 0.5);
    const bo_vec3 plate[] = {{-1, -1, 0},    {1, -1, 0},    {1, 1, 0},    {-1, 1, 0},
                             {-1, -1, -0.5}, {1, -1, -0.5}, {1, 1, -0.5}, {-1, 1, -0.5}};
    bough_shape_mesh *ring = torus_of(ctx, 0.2, 0.06, 14, 8, 16), *cup = cup_of(ctx, 0.9, 0.4, 0.1, 24);
    const bough_shape_def grounds[] = {plane_def(), hull_def(8, plate), field_def(5, 5, 0.5, heights), mesh_def(cup),
                                       box_def(2, 2, 0.2)};
    for (int k = 0; k < 5; k++)
        for (int what = 0; what < 2; what++) {
            bars b;
            prepare_bars(&b, ctx, 0, 0, true);
            place(&b.parts[0], 0.1, 0.05, 0.6);
            grow_stones(&b, 0, 1);
            const bough_tree_solid one[] = {solid_on(0, mesh_def(ring), 0, 0, 0)},
                                   more[] = {solid_on(0, hull_def(5, corners), 0.1, 0, 0),
                                             solid_on(0, sphere_def(0.1), -0.25, 0.1, 0),
                                             solid_on(0, box_def(0.1, 0.3, 0.1), 0, 0.2, 0)};
            bough_obstacle_def ground = bough_default_obstacle_def();
            ground.shapes = &grounds[k], ground.shape_count = 1;
            touch(&b, what ? 3 : 1, what ? more : one, &ground, 0.5);
            b.state->roots[0].angular_velocity[1] = 2;
            check_ok(ctx, bough_tree_state_update(ctx, b.model, b.state));
            const double mass = bo_tree_work_of(b.state)->touch->mass, scale = mass * 9.81 * 0.5;
            double last = energy_of(&b), gained = 0, force = 0, deepest = 0;
            int32_t counted = 0;
            for (int step = 0; step < 500; step++) {
                check_ok(ctx, bough_tree_advance(ctx, b.model, b.state, 1.0 / 240, NULL));
                const double now = energy_of(&b);
                gained = fmax(gained, now - last), last = now;
                int32_t count;
                const bo_tree_contact *contacts = bo_tree_contacts(b.state, &count);
                for (int32_t i = 0; i < count && step >= 440; i++)
                    force += contacts[i].force.z, deepest = fmin(deepest, contacts[i].gap);
                counted += step >= 440;
            }
            check_below(gained / scale, 3e-3);
            check_near(force / counted / (9.81 * mass), 1, 2e-4);
            check(deepest > -0.005);
            const bo_vec3 x = at_rest(&b, 0);
            check(fabs(x.x) < 1.2 && fabs(x.y) < 1.2 && x.z > -0.1 && x.z < 0.5);
            clear_stones(&b);
        }
    bough_shape_mesh_destroy(ctx, ring);
    bough_shape_mesh_destroy(ctx, cup);
    bough_context_destroy(ctx);
}

/* A cup at the end of a bar that bends, made of a mesh or of five boxes, carries a ball, and the bar bears it. */
static void a_bar_carries_a_cup_with_a_ball(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_shape_mesh *cup = cup_of(ctx, 0.3, 0.3, 0.06, 24);
    for (int boxes = 0; boxes < 2; boxes++) {
        bars b;
        prepare_bars(&b, ctx, 1, 1e-3, false);
        place(&b.parts[1], 0.95, 0.02, 0.4);
        grow_stones(&b, 1, 1);
        bough_tree_solid solids[6] = {solid_on(1, sphere_def(0.1), 0, 0, 0), solid_on(0, mesh_def(cup), 0.9, 0, 0.1)};
        for (int i = 0; i < 5 && boxes; i++) {
            const double x = i == 0 ? -0.3 : i == 1 ? 0.3 : 0, y = i == 2 ? -0.3 : i == 3 ? 0.3 : 0;
            solids[1 + i] = solid_on(0,
                                     i < 2   ? box_def(0.06, 0.6, 0.3)
                                     : i < 4 ? box_def(0.6, 0.06, 0.3)
                                             : box_def(0.6, 0.6, 0.06),
                                     0.9 + x, y, i < 4 ? 0.25 : 0.13);
        }
        touch(&b, boxes ? 6 : 2, solids, NULL, 0.4);
        for (int step = 0; step < 400; step++)
            check_ok(ctx, bough_tree_advance(ctx, b.model, b.state, 1.0 / 240, NULL));
        const bo_vec3 x = at_rest(&b, 1);
        check_below(hypot(x.x - 0.9, x.y), 0.3);
        check(x.z > 0 && x.z < 0.35);
        int32_t count;
        double force = 0;
        const bo_tree_contact *contacts = bo_tree_contacts(b.state, &count);
        for (int32_t i = 0; i < count; i++)
            force += (contacts[i].part == 1 ? 1 : -1) * contacts[i].force.z;
        check(count > 0 && force > 0);
        clear_stones(&b);
    }
    bough_shape_mesh_destroy(ctx, cup);
    bough_context_destroy(ctx);
}

/* Wherever memory ends, what programs say of shapes is refused, and leaves the state and no memory behind. */
static void memory_of_solids_may_be_short(void **unused) {
    (void)unused;
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    const double heights[4] = {0, 0.1, 0, 0};
    const bo_vec3 flat[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.3, 0.3, 0.05}}; /* whose grid is small */
    const bough_shape_def shapes[] = {field_def(2, 2, 1, heights), hull_def(4, flat)};
    bars b;
    prepare_bars(&b, ctx, 0, 0, true);
    place(&b.parts[0], 0, 0, 1);
    grow_stones(&b, 0, 1);
    const bough_tree_solid solids[] = {solid_on(0, shapes[1], 0, 0, 0), solid_on(0, sphere_def(0.1), 0, 0, 0)};
    bough_obstacle_def ground = bough_default_obstacle_def();
    ground.shapes = shapes, ground.shape_count = 1;
    bough_tree_touch_def def = bough_default_tree_touch_def();
    def.solid_count = 2, def.solids = solids, def.obstacle_count = 1, def.obstacles = &ground;
    const long live = memory.live;
    bough_status status = BOUGH_ERROR_MEMORY;
    for (long k = 0; status != BOUGH_OK; k++) {
        memory.fail_at = memory.calls + k;
        status = bough_tree_state_touch(ctx, b.model, b.state, &def);
        check(status == BOUGH_OK || (status == BOUGH_ERROR_MEMORY && memory.live == live));
    }
    memory.fail_at = -1;
    clear_stones(&b);
    bough_context_destroy(ctx);
    check_int(memory.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solids_of_all_kinds_keep_momenta), cmocka_unit_test(a_ball_flies_through_a_ring),
        cmocka_unit_test(solids_rest_on_obstacles_of_all_kinds), cmocka_unit_test(a_bar_carries_a_cup_with_a_ball),
        cmocka_unit_test(memory_of_solids_may_be_short)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
