/* Facts about all engines: names of what they can do, names of columns, things that are gathered once, their end. */
#include "test.h"

#include "engine/engine.h"

static void abilities_have_names_of_their_own(void **state) {
    (void)state;
    int32_t count = 0;
    while (bough_capability_name(count))
        count++;
    check_int(1 << (count - 1), BOUGH_CAN_MODES); /* the last */
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = 0; k < i; k++)
            check(strcmp(bough_capability_name(i), bough_capability_name(k)) != 0);
    check(!strcmp(bough_capability_name(0), "pull"));
    check(!bough_capability_name(-1) && !bough_capability_name(INT32_MIN));
    for (int32_t i = count; i < count + 200; i++)
        check(!bough_capability_name(i));
}

static bo_probe probe_of(char *name, bo_probe_kind kind) {
    return (bo_probe){.name = name, .kind = kind};
}

/* Nobody who reads a table by its header must guess: time first, then energies and momenta, then each probe. */
static void columns_are_named_after_probes(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    char tip[] = "tip", root[] = "root", hand[] = "hand", elbow[] = "elbow";
    const bo_probe probes[] = {probe_of(tip, BO_PROBE_MOTION), probe_of(root, BO_PROBE_STRESS),
                               probe_of(hand, BO_PROBE_TOUCH), probe_of(elbow, BO_PROBE_JOINT)};
    const char *const expected[] = {"time",
                                    "elastic",
                                    "kinetic",
                                    "external",
                                    "total",
                                    "momentum.x",
                                    "momentum.y",
                                    "momentum.z",
                                    "angular_momentum.x",
                                    "angular_momentum.y",
                                    "angular_momentum.z",
                                    "work",
                                    "balance",
                                    "tip.x",
                                    "tip.y",
                                    "tip.z",
                                    "tip.ux",
                                    "tip.uy",
                                    "tip.uz",
                                    "tip.vx",
                                    "tip.vy",
                                    "tip.vz",
                                    "root.von_mises",
                                    "root.s1",
                                    "root.s2",
                                    "root.s3",
                                    "hand.fx",
                                    "hand.fy",
                                    "hand.fz",
                                    "elbow.value",
                                    "elbow.gap",
                                    "elbow.tilt"};
    bo_engine engine = {0};
    check_ok(ctx, bo_engine_name_columns(ctx, &engine, 4, probes));
    check_int(engine.column_count, sizeof expected / sizeof *expected);
    for (int32_t i = 0; i < engine.column_count; i++)
        check(!strcmp(engine.columns[i], expected[i]));
    bo_engine_destroy(ctx, &engine);
    /* many that are wide, and none */
    bo_probe many[50];
    for (int i = 0; i < 50; i++)
        many[i] = probes[0];
    check_ok(ctx, bo_engine_name_columns(ctx, &engine, 50, many));
    check_int(engine.column_count, BOUGH_COLUMN_PROBES + 450);
    check(!strcmp(engine.columns[engine.column_count - 1], "tip.vz"));
    bo_engine_destroy(ctx, &engine);
    check_ok(ctx, bo_engine_name_columns(ctx, &engine, 0, NULL));
    check_int(engine.column_count, BOUGH_COLUMN_PROBES);
    bo_engine_destroy(ctx, &engine);
    bough_context_destroy(ctx);
}

static void memory_may_be_short(void **state) {
    (void)state;
    char tip[] = "tip";
    const bo_probe probe = probe_of(tip, BO_PROBE_MOTION);
    for (long fail_at = 1;; fail_at++) {
        test_memory memory = {.fail_at = fail_at};
        bough_context *ctx = test_counting_context(&memory);
        bo_engine engine = {0};
        const bough_status status = bo_engine_name_columns(ctx, &engine, 1, &probe);
        bo_engine_destroy(ctx, &engine);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
        if (status == BOUGH_OK)
            break;
        check_int(status, BOUGH_ERROR_MEMORY);
    }
}

static void integrators_are_known_by_name(void **state) {
    (void)state;
    check(bough_integrator_count() > 1);
    for (int32_t i = 0; i < bough_integrator_count(); i++) {
        char copy[64];
        snprintf(copy, sizeof copy, "%s", bough_integrator_describe(i)->name);
        check(bo_registered_integrator(copy) ==
              bough_integrator_describe(i)->name); /* it stays when the copy is gone */
        copy[strlen(copy) - 1] = '?';
        check(!bo_registered_integrator(copy));
    }
    check(!bo_registered_integrator(""));
}

/* ---- an engine with one thing, which counts ---- */

typedef struct {
    int gathered, destroyed;
    bool refuses;
} counting;

static const bough_thing the_thing = {.name = "thing"};

static bough_status gather(bo_engine *engine) {
    counting *c = engine->data;
    c->gathered++;
    if (c->refuses)
        return BOUGH_ERROR_MEMORY;
    engine->thing_count = 1, engine->things = &the_thing;
    return BOUGH_OK;
}

static void destroy(bough_context *ctx, void *data) {
    (void)ctx;
    ((counting *)data)->destroyed++;
}

static void things_are_gathered_once_and_engines_end_once(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const bo_engine_kind kind = {.name = "counting", .gather = gather, .destroy = destroy};
    counting c = {.refuses = true};
    bo_engine engine = {.kind = &kind, .data = &c};
    check_int(bo_engine_need_things(&engine), BOUGH_ERROR_MEMORY);
    c.refuses = false;
    for (int i = 0; i < 3; i++)
        check_int(bo_engine_need_things(&engine), BOUGH_OK);
    check_int(engine.thing_count, 1);
    check_int(c.gathered, 2); /* once in vain */
    for (int i = 0; i < 2; i++)
        bo_engine_destroy(ctx, &engine); /* then it is none */
    check_int(c.destroyed, 1);
    check(!engine.kind && !engine.data && !engine.things && engine.thing_count == 0);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(abilities_have_names_of_their_own),
        cmocka_unit_test(columns_are_named_after_probes),
        cmocka_unit_test(memory_may_be_short),
        cmocka_unit_test(integrators_are_known_by_name),
        cmocka_unit_test(things_are_gathered_once_and_engines_end_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
