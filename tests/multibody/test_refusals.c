/* Descriptions that cannot be, memory that is short, and steps that fail. */
#include "build.h"
#include "lumps.h"

static const bo_vec3 X = {1, 0, 0}, Z = {0, 0, 1}, O = {0, 0, 0};

/* A small model with one of everything: four bodies in a loop, two parts, all kinds of joints, a gear and two motors. */
typedef struct {
    build *b;
    lump *lumps[2];
} zoo;

static zoo make_zoo(void) {
    test_random random = {3};
    zoo z = {.b = start_build(), .lumps = {make_lump(&random, 3, 0.4), make_lump(&random, 2, 0.3)}};
    build *b = z.b;
    const bo_vec3 corners[4] = {{0, 0, 0}, {0, 0.3, 0}, {0.5, 0.4, 0}, {0.5, 0, 0}};
    for (int i = 0; i < 3; i++)
        add_link(b, 0.5, corners[i], corners[i + 1]);
    for (int i = 0; i < 4; i++)
        add_hinge(b, i - 1, i == 3 ? BOUGH_WORLD : i, corners[i], Z);
    add_body(b, 0.2, bo_v3(1e-3, 1e-3, 1e-3), place_at(bo_v3(0.2, 0, 0.5)));
    const int32_t screw = add_joint(b, BOUGH_JOINT_CYLINDRICAL, BOUGH_WORLD, 3, place_at(bo_v3(0.2, 0, 0.5)));
    add_gear(b, 0, 0, screw, 1, 2);
    bough_motor_def *motor = add_motor(b, screw, 0);
    motor->stiffness = 50, motor->damping = 1;
    add_part(b, &z.lumps[0]->c, 1, place_along(bo_v3(0.1, 0.3, 0), X));
    add_part(b, &z.lumps[1]->c, BOUGH_WORLD, place_at(O));
    b->parts[1].clamp = (bough_frame_def){.body = 4, .interface_index = 0, .pose = bough_default_pose()};
    b->bodies[0].name = "crank", b->joints[0].name = "main", b->parts[0].name = "whip", b->motors[0].name = "lift";
    b->gears[0].name = "worm";
    b->def.gravity[1] = -9.81;
    return z;
}
static void free_zoo(zoo *z) {
    for (int i = 0; i < 2; i++)
        free_lump(z->lumps[i]);
    free_build(z->b);
}

/* ---- descriptions ---- */

typedef void (*damage)(zoo *z);

static void zero_mass(zoo *z) {
    z->b->bodies[0].mass = 0;
}
static void no_number(zoo *z) {
    z->b->bodies[0].mass = NAN;
}
static void thin_inertia(zoo *z) {
    z->b->bodies[0].inertia[4] = -1;
}
static void missing_interface(zoo *z) {
    z->b->parts[1].clamp.interface_index = 7;
}
static void clamped_to_itself(zoo *z) {
    z->b->parts[1].clamp.body = 5;
}
static void clamped_in_a_ring(zoo *z) {
    z->b->parts[0].clamp = (bough_frame_def){.body = 5, .interface_index = 0, .pose = bough_default_pose()};
}
static void no_component(zoo *z) {
    z->b->parts[0].component = NULL;
}
static void flies(zoo *z) {
    z->lumps[0]->c.support = BOUGH_SUPPORT_FREE;
}
static void no_such_body(zoo *z) {
    z->b->joints[0].child.body = 6;
}
static void bent_frame(zoo *z) {
    z->b->joints[0].child.pose.rotation[0] = 0.9;
}
static void to_itself(zoo *z) {
    z->b->joints[0].parent.body = 0;
}
static void face_of_a_rigid_body(zoo *z) {
    z->b->joints[0].child.interface_index = 0;
}
static void two_motors(zoo *z) {
    *add_motor(z->b, 4, 0) = z->b->motors[0];
}
static void no_such_joint(zoo *z) {
    z->b->motors[0].joint = 5;
}
static void no_such_freedom(zoo *z) {
    z->b->motors[0].freedom = 2;
}
static void weak_motor(zoo *z) {
    z->b->motors[0].stiffness = 0;
}
static void geared_to_itself(zoo *z) {
    z->b->gears[0].joints[1] = 0, z->b->gears[0].freedoms[1] = 0;
}
static void no_ratio(zoo *z) {
    z->b->gears[0].ratio = 0;
}
static void exact_on_a_plane(zoo *z) {
    z->b->joints[4].kind = BOUGH_JOINT_PLANAR, z->b->motors[0].stiffness = INFINITY;
}
static void no_distance(zoo *z) {
    z->b->joints[3].kind = BOUGH_JOINT_DISTANCE;
}
static void uneven_ball(zoo *z) {
    z->b->joints[3].kind = BOUGH_JOINT_BALL, z->b->joints[3].stiffness[1] = 1;
}
static void endless_gravity(zoo *z) {
    z->b->def.gravity[2] = INFINITY;
}
static void nobody(zoo *z) {
    z->b->def.body_count = z->b->def.part_count = z->b->def.joint_count = z->b->def.motor_count = z->b->def.gear_count =
        0;
}
static void no_cookie(zoo *z) {
    z->b->def.cookie = 0;
}
static void less_than_none(zoo *z) {
    z->b->def.joint_count = -1;
}

static void bad_descriptions_are_refused_by_name(void **unused) {
    (void)unused;
    static const struct {
        damage what;
        const char *sentence;
    } cases[] = {
        {zero_mass, "body 0 (crank)"},
        {no_number, "body 0 (crank)"},
        {thin_inertia, "body 0 (crank)"},
        {missing_interface, "the clamp of part 1 lies on interface 7 of a part whose component has 2"},
        {clamped_to_itself, "part 1 is clamped to itself"},
        {clamped_in_a_ring, "part 0 (whip) is clamped to itself, by way of other parts"},
        {no_component, "part 0 (whip) has no component"},
        {flies, "part 0 (whip) was cooked to fly free"},
        {no_such_body, "joint 0 (main) lies on body 6; there are 4 bodies and 2 parts"},
        {bent_frame, "joint 0 (main): its frames need rotation matrices"},
        {to_itself, "joint 0 (main) connects something with itself"},
        {face_of_a_rigid_body, "joint 0 (main) lies on an interface of a rigid body"},
        {two_motors, "drive the same coordinate of joint 4"},
        {no_such_joint, "motor 0 (lift) names joint 5; there are 5"},
        {no_such_freedom, "motor 0 (lift) names freedom 2 of a joint that has 2"},
        {weak_motor, "motor 0 (lift): its stiffness and limit must be positive"},
        {geared_to_itself, "gear 0 (worm) connects a coordinate with itself"},
        {no_ratio, "gear 0 (worm): its ratio is 0"},
        {exact_on_a_plane, "motor 0 (lift) drives a joint of kind \"planar\" exactly"},
        {no_distance, "joint 3 keeps a distance of 0"},
        {uneven_ball, "joint 3 needs the same stiffness and damping about all axes"},
        {endless_gravity, "gravity must be finite"},
        {nobody, "there are no bodies and no parts"},
        {no_cookie, "bough_default_multibody_def()"},
        {less_than_none, "not -1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zoo z = make_zoo();
        cases[i].what(&z);
        bough_multibody *model = NULL;
        const bough_status status = bough_multibody_create(z.b->ctx, &z.b->def, &model);
        if (status == BOUGH_OK || !strstr(bough_message(z.b->ctx), cases[i].sentence))
            fail_msg("case %d: \"%s\" instead of \"%s\"", (int)i, bough_message(z.b->ctx), cases[i].sentence);
        check(model == NULL);
        free_zoo(&z);
    }
}

/* ---- assembly ---- */

/* Two links of 1 m between places that are `apart`. */
static build *make_span(double apart) {
    build *b = start_build();
    add_link(b, 1, O, X), add_link(b, 1, X, bo_v3(2, 0, 0));
    add_joint(b, BOUGH_JOINT_BALL, BOUGH_WORLD, 0, place_at(O));
    add_joint(b, BOUGH_JOINT_BALL, 0, 1, place_at(X));
    const int32_t last = add_joint(b, BOUGH_JOINT_BALL, 1, BOUGH_WORLD, place_at(bo_v3(2, 0, 0)));
    b->joints[last].name = "far end";
    bo_store3(b->joints[last].child.pose.position, bo_v3(apart, 0.1, 0.2));
    finish_build(b);
    return b;
}

static void parts_that_cannot_meet_are_named(void **unused) {
    (void)unused;
    build *b = make_span(3);
    double before[14];
    memcpy(before, b->state->u, sizeof before);
    check_fails(b->ctx, bough_multibody_assemble(b->ctx, b->model, b->state), BOUGH_NO_CONVERGENCE,
                "the parts do not fit together: joint");
    check(strstr(bough_message(b->ctx), "misses by") && strstr(bough_message(b->ctx), " m"));
    double miss = 0;
    check_int(sscanf(strstr(bough_message(b->ctx), "misses by"), "misses by %lf", &miss), 1);
    check(miss > 0.1 && miss < 3);
    check(memcmp(before, b->state->u, sizeof before) == 0);
    free_build(b);
    b = make_span(1.7); /* these can */
    check_ok(b->ctx, bough_multibody_assemble(b->ctx, b->model, b->state));
    bough_pose at;
    bough_multibody_frame(b->model, b->state, &b->joints[2].parent, &at, NULL);
    check_below(bo_norm(bo_sub(bo_load3(at.position), bo_v3(1.7, 0.1, 0.2))), 1e-13);
    free_build(b);
}

/* ---- motors against each other ---- */

static void run_apart(void *data, int32_t motor, double time, double *place, double *rate) {
    (void)data;
    const double speed = motor == 0 ? 1 : 1.5;
    *place += speed * time, *rate = speed;
}

/* Both cranks of a parallelogram are driven; one freedom cannot have two speeds. */
static void motors_that_fight_are_named(void **unused) {
    (void)unused;
    build *b = start_build();
    const bo_vec3 B = {0.5, 0, 0}, C = {0, 0.2, 0}, D = {0.5, 0.2, 0};
    add_link(b, 0.3, O, C), add_link(b, 0.3, B, D), add_link(b, 0.6, C, D);
    add_motor(b, add_hinge(b, BOUGH_WORLD, 0, O, Z), 0);
    add_motor(b, add_hinge(b, BOUGH_WORLD, 1, B, Z), 0);
    add_hinge(b, 0, 2, C, Z), add_hinge(b, 1, 2, D, Z);
    finish_build(b);
    check_int(bough_multibody_redundant(b->model, 0, NULL), 4);
    b->state->drive = run_apart;
    bough_status status = BOUGH_OK;
    for (int i = 0; i < 100 && status == BOUGH_OK; i++)
        status = bough_multibody_step(b->ctx, b->model, b->state, 1e-3);
    check_int(status, BOUGH_NO_CONVERGENCE);
    check(strstr(bough_message(b->ctx), "joint 3 is torn apart"));
    free_build(b);
}

/* ---- memory ---- */

static void memory_may_be_short_at_any_time(void **unused) {
    (void)unused;
    zoo z = make_zoo();
    for (long fail_at = 1;; fail_at++) {
        test_memory memory = {.fail_at = fail_at};
        bough_context *ctx = test_counting_context(&memory);
        bough_multibody *model = NULL;
        bough_multibody_state *state = NULL;
        bough_integrator_def method = bough_default_integrator_def();
        bough_status status = bough_multibody_create(ctx, &z.b->def, &model);
        check((status == BOUGH_OK) == (model != NULL));
        if (status == BOUGH_OK)
            status = bough_multibody_state_create(ctx, model, &state);
        if (status == BOUGH_OK)
            status = bough_multibody_use_integrator(ctx, model, state, &method);
        if (state) { /* whatever is there works */
            check_ok(ctx, bough_multibody_assemble(ctx, model, state));
            check_ok(ctx, bough_multibody_step(ctx, model, state, 1e-3));
        }
        bough_multibody_state_destroy(ctx, state);
        bough_multibody_destroy(ctx, model);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
        if (status == BOUGH_OK) {
            check(fail_at > 30);
            break;
        }
        check_int(status, BOUGH_ERROR_MEMORY);
    }
    free_zoo(&z);
}

static void steps_allocate_nothing(void **unused) {
    (void)unused;
    static const char *const methods[] = {NULL, "bdf2", "generalised-alpha", "tr-bdf2", "sdirk"};
    zoo z = make_zoo();
    for (int m = 0; m < 5; m++) {
        test_memory memory = {.fail_at = -1};
        bough_context *ctx = test_counting_context(&memory);
        bough_multibody *model;
        bough_multibody_state *state;
        bough_multibody_energies energies;
        bough_integrator_def method = bough_default_integrator_def();
        method.name = methods[m];
        check_ok(ctx, bough_multibody_create(ctx, &z.b->def, &model));
        check_ok(ctx, bough_multibody_state_create(ctx, model, &state));
        check_ok(ctx, bough_multibody_use_integrator(ctx, model, state, m > 0 ? &method : NULL));
        const long calls = memory.calls;
        check_ok(ctx, bough_multibody_assemble(ctx, model, state));
        for (int i = 0; i < 100; i++) {
            check_ok(ctx, bough_multibody_step(ctx, model, state, 1e-3));
            bough_multibody_measure(model, state, &energies);
        }
        check_int(memory.calls, calls);
        bough_multibody_state_destroy(ctx, state);
        bough_multibody_destroy(ctx, model);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
    }
    free_zoo(&z);
}

/* ---- steps that fail ---- */

static void lose_the_way(void *data, int32_t motor, double time, double *place, double *rate) {
    (void)motor;
    *place += time > *(double *)data ? NAN : 0.1 * time, *rate = 0.1;
}

/* A motor that is told no number: the step fails with a sentence, and all that can be seen of the state is as it was. */
static void failed_steps_leave_the_state_as_it_was(void **unused) {
    (void)unused;
    static const char *const methods[] = {NULL, "bdf2", "generalised-alpha", "tr-bdf2", "sdirk"};
    zoo z = make_zoo();
    finish_build(z.b);
    build *b = z.b;
    const int32_t nu = bough_multibody_position_count(b->model), nv = bough_multibody_velocity_count(b->model),
                  nc = bough_multibody_constraint_count(b->model);
    const size_t count = (size_t)(nu + 2 * nv + nc) + 4;
    double *kept = calloc(count, sizeof *kept), *now = calloc(count, sizeof *now), limit;
    for (int m = 0; m < 5; m++) {
        renew_state(b);
        b->state->drive = lose_the_way, b->state->drive_data = &limit;
        limit = INFINITY;
        use_method(b, methods[m]);
        run_for(b, 0.05, 50);
        b->state->force[2] = 0.25;
        for (int round = 0; round < 4; round++) {
            double *to = round == 0 ? kept : now;
            memcpy(to, b->state->u, (size_t)nu * sizeof *to);
            memcpy(to + nu, b->state->v, (size_t)nv * sizeof *to);
            memcpy(to + nu + nv, b->state->force, (size_t)nv * sizeof *to);
            memcpy(to + nu + 2 * nv, b->state->lambda, (size_t)nc * sizeof *to);
            memcpy(to + nu + 2 * nv + nc, b->state->gravity, sizeof b->state->gravity);
            to[count - 1] = b->state->time;
            if (round > 0 && memcmp(kept, now, count * sizeof *kept) != 0)
                fail_msg("%s changed the state in round %d", methods[m] ? methods[m] : "the engine's own", round);
            limit = round < 2 ? b->state->time : INFINITY;
            const bough_status status = bough_multibody_step(b->ctx, b->model, b->state, round == 2 ? -1 : 1e-3);
            check(status != BOUGH_OK || round == 3);
            check(strstr(bough_message(b->ctx), round < 2 ? "not finite" : "the time step is -1 s"));
        }
        check_near(b->state->time, 0.051, 2e-14); /* and it goes on */
    }
    free(kept), free(now);
    free_zoo(&z);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_descriptions_are_refused_by_name),
        cmocka_unit_test(parts_that_cannot_meet_are_named),
        cmocka_unit_test(motors_that_fight_are_named),
        cmocka_unit_test(memory_may_be_short_at_any_time),
        cmocka_unit_test(steps_allocate_nothing),
        cmocka_unit_test(failed_steps_leave_the_state_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
