/* Full bodies in motion, by public headers alone: what a program without scene files can do. */
#include "test.h"

#include <bough/fem.h>

/* ---- a block and the ground ---- */

typedef struct {
    bough_context *ctx;
    bough_mesh *mesh;
    bough_body *body;
    bough_load_case *load_case;
    double mass;
} block;

/* 0.2 x 0.2 x 0.1 m above the origin. */
static bough_status make_block(bough_context *ctx, double lift, double young, block *b) {
    bough_box_def box = bough_default_box_def();
    bough_body_def def = bough_default_body_def();
    bough_body_properties whole;
    const double size[3] = {0.2, 0.2, 0.1};
    const int32_t cells[3] = {2, 2, 1};
    *b = (block){.ctx = ctx};
    box.type = BOUGH_HEX8;
    memcpy(box.size, size, sizeof size), memcpy(box.cells, cells, sizeof cells);
    box.origin[0] = box.origin[1] = -0.1, box.origin[2] = lift;
    def.material.model = BOUGH_MATERIAL_NEO_HOOKEAN;
    def.material.young = young, def.material.poisson = 0.3, def.material.density = 1000;
    bough_status status = bough_mesh_generate_box(ctx, &box, &b->mesh);
    if (status == BOUGH_OK)
        status = bough_body_create(ctx, b->mesh, &def, &b->body);
    if (status == BOUGH_OK)
        status = bough_load_case_create(ctx, b->body, &b->load_case);
    if (status == BOUGH_OK)
        status = bough_body_measure(ctx, b->body, &whole);
    b->mass = status == BOUGH_OK ? whole.mass : 0;
    return status;
}

static void free_block(block *b) {
    bough_load_case_destroy(b->ctx, b->load_case);
    bough_body_destroy(b->ctx, b->body);
    bough_mesh_destroy(b->ctx, b->mesh);
}

static bough_shape_def plane(void) {
    bough_shape_def shape = bough_default_shape_def();
    shape.kind = BOUGH_SHAPE_PLANE;
    return shape;
}

static bough_obstacle_def obstacle(const char *name, const bough_shape_def *shape, double friction) {
    bough_obstacle_def def = bough_default_obstacle_def();
    def.name = name, def.shape_count = 1, def.shapes = shape, def.friction = friction;
    return def;
}

static bough_body_touch_def touch_of(int32_t count, const bough_obstacle_def *obstacles, double friction) {
    bough_body_touch_def def = bough_default_body_touch_def();
    def.obstacle_count = count, def.obstacles = obstacles, def.friction = friction, def.distance = 1e-3;
    return def;
}

static bough_body_state *make_state(const block *b, const bough_body_touch *touch, const char *method) {
    bough_body_state_def def = bough_default_body_state_def();
    bough_body_state *state;
    def.load_case = b->load_case, def.touch = touch;
    if (method)
        def.integrator.name = method;
    check_ok(b->ctx, bough_body_state_create(b->ctx, b->body, &def, &state));
    return state;
}

enum { MOST = 256 };

/* The sum of all forces on the body: *up along the normals, *across them. */
static void add_forces(const bough_body_state *state, double up[3], double across[3]) {
    bough_contact contacts[MOST];
    const int32_t count = bough_body_state_contacts(state, MOST, contacts);
    check(count <= MOST);
    for (int d = 0; d < 3; d++)
        up[d] = across[d] = 0;
    for (int32_t i = 0; i < count; i++) {
        const bough_contact *c = &contacts[i];
        const double push = c->force[0] * c->normal[0] + c->force[1] * c->normal[1] + c->force[2] * c->normal[2];
        check_int(c->sides[0].kind, BOUGH_CONTACT_OF_PART);
        check(push >= 0 && c->gap > 0);
        for (int d = 0; d < 3; d++) {
            up[d] += push * c->normal[d];
            across[d] += c->force[d] - push * c->normal[d];
        }
    }
}

static bough_body_energies energies_of(const block *b, const bough_body_state *state) {
    bough_body_energies e;
    check_ok(b->ctx, bough_body_state_measure(b->ctx, state, &e));
    return e;
}

/* ---- facts ---- */

static void a_block_that_falls_lies_on_the_ground_with_its_weight(void **unused) {
    (void)unused;
    block b;
    bough_body_touch *touch;
    const bough_shape_def shape = plane();
    const bough_obstacle_def ground = obstacle("the ground", &shape, 0.5);
    const bough_body_touch_def def = touch_of(1, &ground, 0.5);
    double up[3], across[3], energy = INFINITY;
    check_ok(NULL, make_block(test_context(1), 0.02, 1e6, &b));
    check_ok(b.ctx, bough_load_case_set_gravity(b.ctx, b.load_case, (double[]){0, 0, -9.81}));
    check_ok(b.ctx, bough_body_touch_create(b.ctx, &def, &touch));
    bough_body_state *state = make_state(&b, touch, "backward-euler");
    check_near(energies_of(&b, state).gap, 0.02, 1e-15);
    for (int i = 0; i < 200; i++) {
        check_ok(b.ctx, bough_body_state_step(b.ctx, state, 1. / 120));
        const bough_body_energies e = energies_of(&b, state);
        const double total = e.elastic + e.kinetic + e.external + e.contact - e.work;
        check(e.gap > 0);
        check(total <= energy + 1e-9);
        energy = total;
    }
    check_near(state->time, 200. / 120, 1e-12);
    check(state->iterations > 0);
    add_forces(state, up, across);
    check_near(up[2] / (9.81 * b.mass), 1, 1e-8);
    check_near(across[0], 0, 1e-7);
    check_below(energies_of(&b, state).kinetic, 1e-15);
    bough_body_state_destroy(b.ctx, state);

    /* An equilibrium is where it comes to rest. */
    state = make_state(&b, touch, NULL);
    memset(state->u, 0, 3 * (size_t)b.mesh->vertex_count * sizeof *state->u);
    check_ok(b.ctx, bough_body_state_settle(b.ctx, state));
    add_forces(state, up, across);
    check_near(up[2] / (9.81 * b.mass), 1, 1e-13);
    check(energies_of(&b, state).gap > 0);
    for (int i = 0; i < 5; i++) {
        check_ok(b.ctx, bough_body_state_step(b.ctx, state, 0.01));
    }
    check_below(energies_of(&b, state).kinetic, 0.5 * b.mass * 1e-8); /* friction creeps at a tenth of the slip speed */
    bough_body_state_destroy(b.ctx, state);
    bough_body_touch_destroy(b.ctx, touch);
    bough_context *ctx = b.ctx;
    free_block(&b);
    bough_context_destroy(ctx);
}

static void on_an_incline_friction_is_coulombs(void **unused) {
    (void)unused;
    const double angle = 30 * M_PI / 180, mu = 0.3, h = 1. / 120;
    block b;
    bough_body_touch *touch;
    bough_shape_def shape = plane();
    const bough_obstacle_def slope = obstacle("slope", &shape, mu);
    const bough_body_touch_def def = touch_of(1, &slope, mu);
    double up[3], across[3];
    check_ok(NULL, make_block(test_context(1), 6e-4, 1e7, &b));
    const double gravity[3] = {9.81 * sin(angle), 0, -9.81 * cos(angle)};
    check_ok(b.ctx, bough_load_case_set_gravity(b.ctx, b.load_case, gravity));
    check_ok(b.ctx, bough_body_touch_create(b.ctx, &def, &touch));
    bough_body_state *state = make_state(&b, touch, "backward-euler");
    double speed[2];
    for (int k = 0; k < 120; k++) {
        check_ok(b.ctx, bough_body_state_step(b.ctx, state, h));
        if (k == 59 || k == 119)
            speed[k == 119] = energies_of(&b, state).momentum[0] / b.mass;
    }
    const double expected = 9.81 * (sin(angle) - mu * cos(angle)), found = (speed[1] - speed[0]) / 0.5;
    add_forces(state, up, across);
    printf("slides by %.6g m/s^2, Coulomb %.6g; friction %.6g of its limit\n", found, expected,
           -across[0] / (mu * up[2]));
    check_near(found / expected, 1, 1e-10);
    check_near(-across[0] / (mu * up[2]), 1, 1e-11);
    bough_body_state_destroy(b.ctx, state);
    bough_body_touch_destroy(b.ctx, touch);
    bough_context *ctx = b.ctx;
    free_block(&b);
    bough_context_destroy(ctx);
}

/* Belts run along x at a steady speed. */
static bool run_belt(void *data, int32_t i, double t, bough_pose *pose) {
    const double *speed = data;
    pose->position[0] = *speed * t;
    return i == 1;
}

static void what_lies_on_a_belt_is_taken_along(void **unused) {
    (void)unused;
    double speed = 0.5, up[3], across[3];
    block b;
    bough_body_touch *touch;
    bough_shape_def shapes[2] = {bough_default_shape_def(), plane()};
    shapes[0].kind = BOUGH_SHAPE_CAPSULE, shapes[0].radius = 0.05, shapes[0].half[2] = 0.1;
    shapes[0].frame.position[0] = 5;
    const bough_obstacle_def things[2] = {obstacle("far", &shapes[0], 1), obstacle("belt", &shapes[1], 1)};
    bough_body_touch_def def = touch_of(2, things, 1);
    def.lead = run_belt, def.lead_data = &speed;
    check_ok(NULL, make_block(test_context(1), 6e-4, 1e7, &b));
    check_ok(b.ctx, bough_load_case_set_gravity(b.ctx, b.load_case, (double[]){0, 0, -9.81}));
    check_ok(b.ctx, bough_body_touch_create(b.ctx, &def, &touch));
    bough_body_state *state = make_state(&b, touch, "backward-euler");
    int32_t steps;
    double most = 0;
    for (int k = 0; k < 20; k++) {
        check_ok(b.ctx, bough_body_state_advance(b.ctx, state, 0.01, &steps));
        check(steps >= 1);
        most = fmax(most, energies_of(&b, state).work);
    }
    check_near(state->time, 0.2, 1e-12);
    check_near(energies_of(&b, state).momentum[0] / b.mass, speed, 5e-5 * speed);
    check(most > 0.5 * b.mass * speed * speed * 0.9);
    add_forces(state, up, across);
    check_below(fabs(across[0]), 1e-3);
    bough_body_state_destroy(b.ctx, state);
    bough_body_touch_destroy(b.ctx, touch);
    bough_context *ctx = b.ctx;
    free_block(&b);
    bough_context_destroy(ctx);
}

/* ---- a body of two pieces, which touches itself ---- */

static void join(bough_context *ctx, const bough_mesh *one, double apart, bough_mesh **both) {
    const size_t n = (size_t)one->vertex_count, m = 8 * (size_t)one->element_count;
    double *x = malloc(6 * n * sizeof *x);
    int32_t *e = malloc(2 * m * sizeof *e);
    for (size_t i = 0; i < 6 * n; i++)
        x[i] = one->vertices[i % (3 * n)] + (i >= 3 * n && i % 3 == 2 ? 0.1 + apart : 0) +
               (i >= 3 * n && i % 3 == 0 ? 0.013 : 0);
    for (size_t i = 0; i < 2 * m; i++)
        e[i] = one->elements[i % m] + (i >= m ? (int32_t)n : 0);
    check_ok(ctx, bough_mesh_create(ctx, BOUGH_HEX8, (int32_t)(2 * n), x, (int32_t)(2 * m / 8), e, both));
    free(x), free(e);
}

static void one_piece_of_a_body_carries_another(void **unused) {
    (void)unused;
    block b;
    bough_mesh *both;
    bough_body_touch *touch;
    const bough_shape_def shape = plane();
    const bough_obstacle_def ground = obstacle("ground", &shape, 0.5);
    bough_body_touch_def def = touch_of(1, &ground, 0.5);
    double up[3], across[3], lower, force = 0;
    bough_contact contacts[MOST];
    check_ok(NULL, make_block(test_context(1), 2e-3, 1e6, &b));
    bough_context *ctx = b.ctx;
    join(ctx, b.mesh, 3e-3, &both);
    const int32_t half = b.mesh->vertex_count;
    const double mass = b.mass;
    free_block(&b);
    bough_body_def body = bough_default_body_def();
    body.material.model = BOUGH_MATERIAL_NEO_HOOKEAN;
    body.material.young = 1e6, body.material.poisson = 0.3, body.material.density = 1000;
    b = (block){.ctx = ctx, .mesh = both};
    check_ok(ctx, bough_body_create(ctx, both, &body, &b.body));
    check_ok(ctx, bough_load_case_create(ctx, b.body, &b.load_case));
    check_ok(ctx, bough_load_case_set_gravity(ctx, b.load_case, (double[]){0, 0, -9.81}));
    def.itself = true;
    check_ok(ctx, bough_body_touch_create(ctx, &def, &touch));
    bough_body_state *state = make_state(&b, touch, "backward-euler");
    for (int i = 0; i < 60; i++) {
        check_ok(ctx, bough_body_state_step(ctx, state, 0.01));
        check(energies_of(&b, state).gap > 0);
    }
    const int32_t count = bough_body_state_contacts(state, MOST, contacts);
    check(count <= MOST);
    for (int32_t i = 0; i < count; i++)
        if (contacts[i].sides[1].kind == BOUGH_CONTACT_OF_PART)
            force += contacts[i].sides[0].index >= half ? contacts[i].force[2] : -contacts[i].force[2];
    add_forces(state, up, across);
    lower = 0;
    for (int32_t i = 0; i < count; i++)
        if (contacts[i].sides[1].kind == BOUGH_CONTACT_OF_OBSTACLE)
            lower += contacts[i].force[2];
    printf("the ground bears %.6g of both weights, the lower piece %.6g of the upper one's\n", lower / (19.62 * mass),
           force / (9.81 * mass));
    check_near(lower / (19.62 * mass), 1, 5e-5);
    check_near(force / (9.81 * mass), 1, 5e-3);
    bough_body_state_destroy(ctx, state);
    bough_body_touch_destroy(ctx, touch);
    free_block(&b);
    bough_context_destroy(ctx);
}

/* ---- without contact ---- */

/* A body that is pushed by F for a time t has the momentum F t, and the work is the energy. */
static void pushes_act_until_others_are_given(void **unused) {
    (void)unused;
    block b;
    check_ok(NULL, make_block(test_context(1), 0, 1e6, &b));
    const size_t n = 3 * (size_t)b.mesh->vertex_count;
    bough_body_state *state = make_state(&b, NULL, "midpoint");
    double *force = calloc(n, sizeof *force);
    for (size_t i = 0; i < n; i += 3)
        force[i] = 0.5, force[i + 2] = -0.25;
    check_ok(b.ctx, bough_body_state_push(b.ctx, state, force));
    for (int i = 0; i < 10; i++)
        check_ok(b.ctx, bough_body_state_step(b.ctx, state, 0.002));
    bough_body_energies e = energies_of(&b, state);
    check_near(e.momentum[0], 0.02 * 0.5 * (double)n / 3, 1e-12);
    check_near(e.momentum[2], -0.02 * 0.25 * (double)n / 3, 1e-12);
    check_near(e.work, e.kinetic + e.elastic, 1e-11);
    check(isinf(e.gap) && e.contact == 0 && bough_body_state_contacts(state, 0, NULL) == 0);
    check_ok(b.ctx, bough_body_state_push(b.ctx, state, NULL));
    check_ok(b.ctx, bough_body_state_step(b.ctx, state, 0.002));
    check_near(energies_of(&b, state).momentum[0], e.momentum[0], 1e-12);

    /* Another start. */
    memset(state->u, 0, n * sizeof *state->u), memset(state->v, 0, n * sizeof *state->v);
    state->time = 0;
    check_ok(b.ctx, bough_body_state_restart(b.ctx, state));
    check_ok(b.ctx, bough_body_state_step(b.ctx, state, 0.01));
    check_near(energies_of(&b, state).kinetic, 0, 1e-20);
    force[7] = NAN;
    check_fails(b.ctx, bough_body_state_push(b.ctx, state, force), BOUGH_ERROR_ARGUMENT, "force of vertex 2");
    free(force);
    bough_body_state_destroy(b.ctx, state);
    bough_context *ctx = b.ctx;
    free_block(&b);
    bough_context_destroy(ctx);
}

/* ---- wrong uses ---- */

static bool lead_nowhere(void *data, int32_t i, double t, bough_pose *pose) {
    (void)i;
    if (t > *(const double *)data)
        pose->position[1] = NAN;
    return true;
}

static void wrong_descriptions_are_refused(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_body_touch *touch;
    bough_shape_def shape = plane();
    bough_obstacle_def ground = obstacle("ground", &shape, 0.5);
    bough_body_touch_def def = touch_of(1, &ground, 0.5);
#define refused(sentence) check_fails(ctx, bough_body_touch_create(ctx, &def, &touch), BOUGH_ERROR_ARGUMENT, sentence)
    def.cookie = 0;
    refused("bough_default_body_touch_def()");
    def = touch_of(1, &ground, -1);
    refused("friction of contact must be 0 or more");
    def = touch_of(-1, &ground, 0.5);
    refused("0 to 100000 obstacles");
    def = touch_of(1, &ground, 0.5), def.slip_speed = 0;
    refused("speed of slip");
    def = touch_of(1, &ground, 0.5), ground.friction = NAN;
    refused("ground");
    ground.friction = 0.5, ground.pose.rotation[0] = 2;
    refused("ground");
    ground.pose = bough_default_pose(), shape.kind = BOUGH_SHAPE_CAPSULE, shape.half[2] = 0;
    refused("obstacle 0 (ground): the radius of a capsule is 0.1 m and its axis 0 m long");
    shape = plane(), shape.kind = BOUGH_SHAPE_MESH;
    refused("obstacle 0 (ground): the shape is a mesh without triangles");
    shape = plane();
    double never = -1;
    def = touch_of(1, &ground, 0.5), def.lead = lead_nowhere, def.lead_data = &never;
    refused("obstacle 0 (ground) is led to what is no pose at t = 0");
#undef refused
    bough_context_destroy(ctx);
}

static void wrong_states_are_refused(void **unused) {
    (void)unused;
    block b;
    bough_body_touch *touch;
    bough_body_state *state;
    bough_shape_def shape = plane();
    bough_obstacle_def ground = obstacle("the ground", &shape, 0.5);
    bough_body_touch_def def = touch_of(1, &ground, 0.5);
    double when = 0.015;
    def.lead = lead_nowhere, def.lead_data = &when;
    check_ok(NULL, make_block(test_context(1), 0.01, 1e6, &b));
    check_ok(b.ctx, bough_load_case_set_gravity(b.ctx, b.load_case, (double[]){0, 0, 9.81}));
    bough_context *ctx = b.ctx;
    check_ok(ctx, bough_body_touch_create(ctx, &def, &touch));
    bough_body_state_def made = bough_default_body_state_def();
#define refused(status, sentence) \
    check_fails(ctx, bough_body_state_create(ctx, b.body, &made, &state), status, sentence)
    made.cookie = 1;
    refused(BOUGH_ERROR_ARGUMENT, "bough_default_body_state_def()");
    made = bough_default_body_state_def(), made.touch = touch, made.integrator.name = "newmark";
    refused(BOUGH_ERROR_UNSUPPORTED, "\"newmark\" ends its steps where it has not looked");
    made.integrator.name = "newmarc";
    refused(BOUGH_ERROR_ARGUMENT, "newmark");
    made = bough_default_body_state_def(), made.touch = touch, made.load_case = b.load_case;
    const size_t n = 3 * (size_t)b.mesh->vertex_count;
    double *u = calloc(n, sizeof *u);
    made.u = u, u[5] = INFINITY;
    refused(BOUGH_ERROR_ARGUMENT, "the displacement of vertex 1 is not finite");
    for (size_t i = 0; i < n; i++)
        u[i] = i % 3 == 2 ? -0.02 : 0;
    refused(BOUGH_ERROR_ARGUMENT, "0.01 m inside the ground");
#undef refused
    made.u = NULL;
    check_ok(ctx, bough_body_state_create(ctx, b.body, &made, &state));
    check_fails(ctx, bough_body_state_step(ctx, state, 0), BOUGH_ERROR_ARGUMENT, "must be positive");
    check_ok(ctx, bough_body_state_step(ctx, state, 0.01));
    check_fails(ctx, bough_body_state_step(ctx, state, 0.01), BOUGH_ERROR_ARGUMENT, "no pose at t = 0.02");
    check_near(state->time, 0.01, 0);
    const double before = state->u[2];
    /* It falls upwards. */
    check_fails(ctx, bough_body_state_settle(ctx, state), BOUGH_NO_CONVERGENCE, "no equilibrium");
    check_near(state->u[2], before, 0);
    memcpy(state->u, u, n * sizeof *u);
    check_fails(ctx, bough_body_state_restart(ctx, state), BOUGH_ERROR_ARGUMENT, "inside the ground");
    free(u);
    bough_body_state_destroy(ctx, state);
    bough_body_touch_destroy(ctx, touch);
    free_block(&b);
    bough_context_destroy(ctx);
}

/* ---- allocations that fail ---- */

static bough_status make_touch(bough_context *ctx, bough_body_touch **touch) {
    bough_shape_def shapes[2] = {bough_default_shape_def(), plane()};
    const double corners[12] = {0, 0, 0, 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1}, heights[4] = {0, 0, 0, 0.1};
    const bough_obstacle_def things[3] = {obstacle("ground", &shapes[1], 1), obstacle("stone", &shapes[0], 1)};
    shapes[0].kind = BOUGH_SHAPE_HULL, shapes[0].point_count = 4, shapes[0].points = corners;
    shapes[1].kind = BOUGH_SHAPE_HEIGHT_FIELD, shapes[1].columns = shapes[1].rows = 2, shapes[1].heights = heights;
    shapes[1].cell[0] = shapes[1].cell[1] = 1;
    const bough_body_touch_def def = touch_of(2, things, 1);
    return bough_body_touch_create(ctx, &def, touch);
}

static bough_status prepare_once(bough_context *ctx) {
    bough_body_touch *touch;
    const bough_status status = make_touch(ctx, &touch);
    bough_body_touch_destroy(ctx, touch);
    return status;
}

static bough_status live_once(bough_context *ctx) {
    block b = {.ctx = ctx};
    const bough_shape_def shape = plane();
    const bough_obstacle_def ground = obstacle("ground", &shape, 1);
    bough_body_touch_def def = touch_of(1, &ground, 1);
    bough_body_state_def made = bough_default_body_state_def();
    bough_body_touch *touch = NULL;
    bough_body_state *state = NULL;
    def.itself = true;
    bough_status status = make_block(ctx, 9e-4, 1e6, &b);
    if (status == BOUGH_OK)
        status = bough_body_touch_create(ctx, &def, &touch);
    made.touch = touch, made.load_case = b.load_case;
    if (status == BOUGH_OK)
        status = bough_body_state_create(ctx, b.body, &made, &state);
    if (status == BOUGH_OK)
        status = bough_body_state_step(ctx, state, 0.01);
    bough_body_state_destroy(ctx, state);
    bough_body_touch_destroy(ctx, touch);
    free_block(&b);
    return status;
}

static void fail_in_turn(bough_status (*once)(bough_context *ctx)) {
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    const long before = memory.live, calls = memory.calls;
    check_ok(ctx, once(ctx));
    check_int(memory.live, before);
    const long all = memory.calls - calls;
    for (long k = 0; k < all; k++) {
        memory.fail_at = memory.calls + k;
        (void)once(ctx); /* which may be able to do without */
        check_int(memory.live, before);
    }
    memory.fail_at = -1;
    check_ok(ctx, once(ctx));
    printf("%ld allocations\n", all);
    bough_context_destroy(ctx);
}

static void failing_allocations_leak_nothing(void **unused) {
    (void)unused;
    fail_in_turn(prepare_once);
    fail_in_turn(live_once);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_that_falls_lies_on_the_ground_with_its_weight),
        cmocka_unit_test(on_an_incline_friction_is_coulombs),
        cmocka_unit_test(what_lies_on_a_belt_is_taken_along),
        cmocka_unit_test(one_piece_of_a_body_carries_another),
        cmocka_unit_test(pushes_act_until_others_are_given),
        cmocka_unit_test(wrong_descriptions_are_refused),
        cmocka_unit_test(wrong_states_are_refused),
        cmocka_unit_test(failing_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
