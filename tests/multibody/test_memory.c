/* Memory that is short: each allocation fails in turn while models, states, integrators and actors are made. */
#include "rods.h"

static const bo_vec3 O = {0, 0, 0}, Y = {0, 1, 0};

/* Bodies, parts on a body and on another part, joints in a loop of redundant rows, a motor, a gear, and names. */
static build *describe_everything(const bough_component *rod) {
    build *b = start_build();
    const bo_vec3 round = {1e-4, 1e-4, 1e-4};
    for (int i = 0; i < 3; i++) {
        add_body(b, 0.1, round, place_at(bo_v3(0.1 * i, 0, 0)));
        b->bodies[i].name = i == 1 ? NULL : "a body";
    }
    add_motor(b, add_hinge(b, BOUGH_WORLD, 0, O, Y), 0)->name = "motor";
    add_hinge(b, 0, 1, bo_v3(0.1, 0, 0), Y);
    add_hinge(b, 1, 2, bo_v3(0.2, 0, 0), Y);
    add_hinge(b, 2, BOUGH_WORLD, bo_v3(0.3, 0, 0), Y);
    b->joints[0].name = "joint";
    add_gear(b, 1, 0, 2, 0, 1);
    b->gears[0].name = "gear";
    add_part(b, rod, 0, place_at(O));
    bough_flexible_def *second = &b->parts[add_part(b, rod, 0, place_at(O))];
    second->clamp = bough_default_frame_def();
    second->clamp.body = b->def.body_count, second->clamp.interface_index = 1;
    second->name = "on the first";
    return b;
}

typedef struct {
    bough_multibody *model;
    bough_multibody_state *state;
    bough_contact_actor actor;
    bool has_actor;
} made;

static bough_status make_all(bough_context *ctx, const build *b, made *m) {
    bough_integrator_def method = bough_default_integrator_def();
    const bough_contact_shape_def shape = {.shape = bough_default_shape_def()};
    method.name = "generalised-alpha";
    bough_status status = bough_multibody_create(ctx, &b->def, &m->model);
    if (status == BOUGH_OK)
        status = bough_multibody_state_create(ctx, m->model, &m->state);
    if (status == BOUGH_OK)
        status = bough_multibody_use_integrator(ctx, m->model, m->state, &method);
    if (status == BOUGH_OK) {
        status = bough_multibody_use_integrator(ctx, m->model, m->state, NULL);
        check_int(status, BOUGH_OK);
        status = bough_multibody_actor_create(ctx, m->model, m->state, 1, &shape, &m->actor);
        m->has_actor = status == BOUGH_OK;
    }
    return status;
}

static void whatever_cannot_be_had_leaks_nothing(void **unused) {
    (void)unused;
    bough_context *own = test_context(1);
    rod_def def = default_rod();
    def.length = 0.1, def.cells = 4, def.modes = 2, def.r = 4, def.tip_mass = 0;
    bough_component *rod = cook_rod(own, &def);
    build *b = describe_everything(rod);
    long refused = 0;
    bough_status status = BOUGH_ERROR_MEMORY;
    for (long fail_at = 0; status != BOUGH_OK; fail_at++) {
        test_memory memory = {.fail_at = -1};
        bough_context *ctx = test_counting_context(&memory);
        const long before = memory.live;
        made m = {0};
        memory.fail_at = memory.calls + fail_at;
        status = make_all(ctx, b, &m);
        check(status == BOUGH_OK || status == BOUGH_ERROR_MEMORY);
        refused += status == BOUGH_ERROR_MEMORY;
        if (m.has_actor)
            bough_contact_actor_destroy(ctx, &m.actor);
        bough_multibody_state_destroy(ctx, m.state);
        bough_multibody_destroy(ctx, m.model);
        check_int(memory.live, before);
        bough_context_destroy(ctx);
    }
    check(refused > 60);
    b->model = NULL;
    free_build(b);
    bough_component_destroy(own, rod);
    bough_context_destroy(own);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatever_cannot_be_had_leaks_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
