/* Things of every engine: frames and surfaces move as they say, and contacts name those that touch. */
#include "run/stages.h"

#include "base/pose.h"
#include "base/rotation.h"

/* ---- motion ---- */

#define BALL_JOINT(name, parent, child, x)                                                            \
    "{'name': '" name "', 'kind': 'ball', 'parent': '" parent "', 'child': '" child "', 'position': " \
    "[" x ", 0, 0], 'stiffness': [20, 20, 20], 'damping': 0.1}"
/* Three rods that are pushed and turned out of their plane, a box that spins as it falls, and an obstacle. */
#define RODS ROD("a", "0.1") "," ROD("b", "0.3") "," ROD("c", "0.5")
#define BALL_JOINTS BALL_JOINT("h1", "a", "b", "0.2") "," BALL_JOINT("h2", "b", "c", "0.4")
#define PUSHED(settings)                                                                                             \
    "{'bough': 1, 'links': [" RODS "], 'joints': [" BALL_JOINTS                                                      \
    "], 'end_effectors': [{'name': 'middle', 'link': 'b', "                                                          \
    "'position': [0.3, 0, 0]}, {'name': 'tip', 'link': 'c', 'position': [0.6, 0, 0]}], 'forces': [{'link': 'b', "    \
    "'force': [0, 3, 1], 'torque': [0.01, 0, 0]}, {'link': 'c', 'force': [0, -2, 4], 'torque': [0.002, 0, 0]}], "    \
    "'bodies': [{'name': 'box', 'mass': 2, 'shape': {'box': [0.1, 0.2, 0.3]}, 'position': [0, 0, 3], 'rotate_deg': " \
    "[20, 40, 60], 'spin': [1, -2, 3], 'velocity': [0.5, 1, -2]}], 'obstacles': [{'name': 'step', 'shape': {'box': " \
    "[1, 1, 0.1]}, 'position': [0, 0, -9], 'rotate_deg': [0, 10, 0]}], 'gravity': [1, 0, -9.81], 'time': {'dt': "    \
    "1e-4, 'duration': 1}" settings "}"
#define FREE ", 'free_base': true"
#define FLYING_PUSHED CHAIN("2e6", "", ", 'forces': [{'part': 'c', 'nearest': [1.5, 0, 0], 'force': [0, 30, 20]}]")

/* Rigid things are placed by the run, parts and bodies by their engines. */
static const struct {
    const char *name, *text, *engine, *integrator;
} scenes[] = {
    {"tree, held", HELD("-4"), "tree", NULL},
    {"tree, flying", FLYING_PUSHED, "tree", NULL},
    {"tree by bdf2", HELD("-4"), "tree", "bdf2"},
    {"whole chain", HELD("-4"), "full", NULL},
    {"body", BODY("", "-4"), NULL, NULL},
    {"links, reduced", PUSHED(", 'engine': " REDUCED), NULL, NULL},
    {"links, reduced and free", PUSHED(FREE ", 'engine': " REDUCED), NULL, NULL},
    {"links, blended", PUSHED(", 'engine': " BLEND), NULL, NULL},
    {"links, full", PUSHED(""), "full", NULL},
    {"links, full and free", PUSHED(FREE), "full", NULL},
    {"a ball", BALL("-4"), NULL, NULL},
};

typedef struct {
    bough_frame frames[8];
    int32_t thing_count;
    double *x, *v; /* 3 vertices: displacement and velocity */
    size_t size;
} glance;

static glance look(const play *p) {
    glance g = {.thing_count = bough_run_thing_count(p->run), .size = 3 * (size_t)bough_run_mesh(p->run)->vertex_count};
    check(g.thing_count > 0 && g.thing_count <= 8);
    for (int32_t i = 0; i < g.thing_count; i++)
        g.frames[i] = frame_of(p, i);
    g.x = calloc(g.size, sizeof *g.x), g.v = calloc(g.size, sizeof *g.v);
    memcpy(g.x, bough_run_displacement(p->run), g.size * sizeof *g.x);
    memcpy(g.v, bough_run_velocity(p->run), g.size * sizeof *g.v);
    return g;
}

static void drop(glance *g) {
    free(g->x), free(g->v);
}

/* The mean velocity between two moments is that which the thing has in between, which is nearly that of either. */
static void check_frame(const bough_frame *a, const bough_frame *b, double dt, bool held) {
    const bo_mat3 turn = bo_mat_mul(bo_pose(&b->pose).R, bo_transpose(bo_pose(&a->pose).R));
    const bo_vec3 v = bo_scale(1 / dt, bo_sub(bo_load3(b->pose.position), bo_load3(a->pose.position)));
    const bo_vec3 w = bo_scale(1 / dt, bo_log3(turn));
    const bo_vec3 own_v = bo_scale(0.5, bo_add(bo_load3(a->velocity), bo_load3(b->velocity)));
    const bo_vec3 own_w = bo_scale(0.5, bo_add(bo_load3(a->angular_velocity), bo_load3(b->angular_velocity)));
    const double v_error = bo_norm(bo_sub(own_v, v)), w_error = bo_norm(bo_sub(own_w, w));
    check_below(v_error, held ? 0 : 0.004 * bo_norm(v) + 1e-9);
    check_below(w_error, held ? 0 : 0.004 * bo_norm(w) + 1e-9);
}

/* rounded: m, by which positions are rounded */
static void check_surface(const glance *a, const glance *b, double dt, double rounded) {
    double fastest = 0, error = 0;
    check(a->size == b->size);
    for (size_t k = 0; k < a->size; k++) {
        fastest = fmax(fastest, fabs(b->v[k]));
        error = fmax(error, fabs((b->x[k] - a->x[k]) / dt - 0.5 * (a->v[k] + b->v[k])));
    }
    check(fastest > 1e-2);
    check_below(error, 0.004 * fastest + rounded / dt);
}

static void things_move_as_they_say(void **state) {
    (void)state;
    const double dt = 1e-4;
    bough_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        print_message("%s\n", scenes[i].name);
        bough_run_def def = bough_default_run_def();
        def.live = true, def.engine = scenes[i].engine, def.integrator = scenes[i].integrator, def.dt = dt;
        play p = begin_file(ctx, write_scene("things.json", scenes[i].text), &def);
        for (int k = 0; k < 300; k++)
            check_ok(ctx, bough_run_step(ctx, p.run));
        glance before = look(&p);
        check_ok(ctx, bough_run_step(ctx, p.run));
        glance after = look(&p);
        for (int32_t k = 0; k < after.thing_count; k++)
            check_frame(&before.frames[k], &after.frames[k], dt, bough_run_thing(p.run, k)->held);
        check_surface(&before, &after, dt, bough_run_thing(p.run, 0)->drawing == BOUGH_DRAWN_MODES ? 4e-7 : 0);
        drop(&before), drop(&after);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* A thing that flies has the momentum that forces and its weight gave it. A reduced mechanism, which is linear, is off
 * by terms of second order in how it bends. */
static void momentum_is_what_forces_gave(void **state) {
    (void)state;
    static const struct {
        const char *text, *engine;
        double start[3], force[3], tolerance; /* kg m/s, N, kg m/s */
    } cases[] = {
        {FLYING_PUSHED, "tree", {0, 0, 0}, {0, 30, 20}, 1e-9},
        {FLYING_PUSHED, "full", {0, 0, 0}, {0, 30, 20}, 1e-9},
        {BODY("", "-4"), NULL, {0, 0, 0}, {0, 0, -160}, 1e-9},
        {PUSHED(FREE), "full", {1, 2, -4}, {2.24, 1, 5 - 2.24 * 9.81}, 1e-9},
        {PUSHED(FREE), "mechanism", {1, 2, -4}, {2.24, 1, 5 - 2.24 * 9.81}, 2e-3},
        {BALL("-4"), NULL, {0, 0, 0}, {0, 0, -8}, 1e-9},
    };
    bough_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bough_run_def def = bough_default_run_def();
        def.engine = cases[i].engine, def.dt = 1e-4, def.duration = 0.03;
        play p = begin_file(ctx, write_scene("momentum.json", cases[i].text), &def);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        for (int d = 0; d < 3; d++)
            check_near(bough_run_values(p.run)[BOUGH_COLUMN_MOMENTUM + d], cases[i].start[d] + 0.03 * cases[i].force[d],
                       cases[i].tolerance);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* ---- contacts ---- */

/* An arm whose tip rests on the floor, and a ball on a box beside it; more: bodies. */
#define ARM "'links': [{'name': 'wall'}," ROD("a", "0.1") "," ROD("b", "0.3") "], 'joints': [" ARM_JOINTS "]"
#define ARM_JOINTS HINGE("h1", "wall", "a", "0") "," HINGE("h2", "a", "b", "0.2")
#define RESTING_AMONG(more, settings)                                                                                \
    "{'bough': 1, " ARM ", 'obstacles': [{'name': 'floor', 'shape': {'plane': true}, 'position': [0, 0, -0.021]}], " \
    "'bodies': [{'name': 'box', 'mass': 2, 'shape': {'box': [0.2, 0.2, 0.2]}, 'position': [2, 0, 0.079]}, {'name': " \
    "'ball', 'mass': 1, 'shape': {'sphere': 0.05}, 'position': [2, 0, 0.229]}" more "], 'gravity': [0, 0, -9.81], "  \
    "'time': {'dt': 0.005, 'duration': 1}" settings "}"
#define RESTING(settings) RESTING_AMONG("", settings)
#define STONE(name, x) \
    ", {'name': '" name "', 'mass': 3, 'shape': {'sphere': 0.1}, 'position': [" x ", 1, 5], 'velocity': [0, 0, -50]}"
#define TIP "{'name': 'tip', 'link': 'b', 'position': [0.4, 0, 0], 'shape': {'sphere': 0.02}}"
#define EFFECTORS ", 'end_effectors': [{'name': 'elbow', 'link': 'a', 'position': [0.2, 0, 0]}," TIP "]"
#define LINK_TOUCHES                                                                                             \
    ", 'end_effectors': [{'name': 'elbow', 'link': 'a', 'position': [0.2, 0, 0]}, {'name': 'end', 'link': 'b', " \
    "'position': [0.4, 0, 0]}], 'link_touches': [{'link': 'b', 'shape': {'sphere': 0.02, 'position': [0.1, 0, 0]}}]"

/* The sum of the forces on one thing by another. */
static bo_vec3 force_between(const bough_run *run, int32_t on, int32_t by) {
    bough_run_contact contacts[32];
    bo_vec3 sum = {0, 0, 0};
    const int32_t count = bough_run_contacts(run, 32, contacts);
    check(count > 0 && count <= 32);
    for (int32_t i = 0; i < count; i++) {
        const bough_run_contact *c = &contacts[i];
        check(bough_run_thing(run, c->things[0]) && bough_run_thing(run, c->things[1]));
        check_near(bo_norm(bo_load3(c->normal)), 1, 1e-12);
        check_near(c->gap, 0, 2e-9);
        for (int side = 0; side < 2; side++)
            if (c->things[side] == on && c->things[!side] == by)
                sum = bo_mul_add(sum, side ? -1 : 1, bo_load3(c->force));
    }
    return sum;
}

static int32_t thing_named(const bough_run *run, const char *name) {
    for (int32_t i = 0; i < bough_run_thing_count(run); i++)
        if (!strcmp(bough_run_thing(run, i)->name, name))
            return i;
    fail_msg("there is no %s", name);
    return -1;
}

static void contacts_name_the_things_that_touch(void **state) {
    (void)state;
    static const struct {
        const char *text, *engine;
    } cases[] = {{RESTING(EFFECTORS), "mechanism"},
                 {RESTING(EFFECTORS ", 'engine': {'kind': 'mechanism', 'end_effectors': ['tip']}"), "mechanism"},
                 {RESTING(EFFECTORS ", 'engine': " BLEND), "mechanism"},
                 {RESTING(EFFECTORS), "full"},
                 {RESTING(LINK_TOUCHES), "mechanism"},
                 {RESTING(LINK_TOUCHES), "full"}};
    bough_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bough_run_def def = bough_default_run_def();
        def.engine = cases[i].engine;
        play p = begin_file(ctx, write_scene("resting.json", cases[i].text), &def);
        check(bough_run_can(p.run) & BOUGH_CAN_CONTACTS);
        check_int(bough_run_contacts(p.run, 0, NULL), 0); /* no step yet */
        check_ok(ctx, bough_run_advance(ctx, p.run));
        const int32_t b = thing_named(p.run, "b"), floor = thing_named(p.run, "floor");
        const int32_t box = thing_named(p.run, "box"), ball = thing_named(p.run, "ball");
        check_near(force_between(p.run, ball, box).z, 9.81, 1e-9);
        check_near(force_between(p.run, box, floor).z, 3 * 9.81, 1e-9);
        check(force_between(p.run, b, floor).z > 0.01);
        check_near(bo_norm(force_between(p.run, thing_named(p.run, "a"), floor)), 0, 0);
        check_near(bo_norm(force_between(p.run, ball, floor)), 0, 0);
        bough_run_contact few[2]; /* no more are written than were asked for */
        few[1].gap = 7;
        check_int(bough_run_contacts(p.run, 1, few), bough_run_contacts(p.run, 0, NULL));
        check(few[1].gap == 7);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* A base that is free is a link as others are: its weight and that of what hangs on it is on the floor. */
static void a_base_that_touches_is_its_link(void **state) {
    (void)state;
    static const char *const engines[] = {"mechanism", "full"};
    bough_context *ctx = test_context(1);
    for (int i = 0; i < 2; i++) {
        bough_run_def def = bough_default_run_def();
        def.engine = engines[i];
        play p = begin_file(
            ctx,
            write_scene(
                "base.json",
                "{'bough': 1, 'links': [{'name': 'mast', 'position': [0, 0, 0.4], 'mass': 0.5, 'shape': {'box': "
                "[0.02, 0.02, 0.4]}}, {'name': 'foot', 'position': [0, 0, 0.1], 'mass': 2, 'shape': {'box': "
                "[0.4, 0.4, 0.2]}}], 'joints': [{'name': 'h', 'kind': 'hinge', 'parent': 'foot', 'child': "
                "'mast', 'position': [0, 0, 0.2], 'axis': [0, 1, 0], 'stiffness': 50, 'damping': 1}], 'base': "
                "'foot', 'free_base': true, 'base_touch': {'shape': {'box': [0.4, 0.4, 0.2]}}, "
                "'end_effectors': [{'name': 'top', 'link': 'mast', 'position': [0, 0, 0.6]}], 'obstacles': [{"
                "'name': 'floor', 'shape': {'plane': true}}], 'gravity': [0, 0, -9.81], 'time': {'dt': 0.005, "
                "'duration': 1}}"),
            &def);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        check_near(force_between(p.run, thing_named(p.run, "foot"), thing_named(p.run, "floor")).z, 2.5 * 9.81, 1e-10);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* Stones that hit the floor elsewhere change no bit of an arm and a box that rest there. */
static void impacts_far_away_change_no_bit(void **state) {
    (void)state;
    static const char *const engines[] = {"mechanism", "full"};
    bough_context *ctx = test_context(1);
    const char *quiet = write_scene("quiet.json", RESTING(EFFECTORS));
    const char *loud = write_scene("loud.json", RESTING_AMONG(STONE("s1", "7") STONE("s2", "8"), EFFECTORS));
    for (int i = 0; i < 2; i++) {
        bough_run_def def = bough_default_run_def();
        def.engine = engines[i];
        play calm = begin_file(ctx, quiet, &def), stoned = begin_file(ctx, loud, &def);
        check_ok(ctx, bough_run_advance(ctx, calm.run));
        check_ok(ctx, bough_run_advance(ctx, stoned.run));
        for (int32_t k = 0; k < 5; k++) { /* links, box and ball */
            const bough_frame a = frame_of(&calm, k), b = frame_of(&stoned, k);
            check(memcmp(&a, &b, sizeof a) == 0);
        }
        check_near(frame_of(&stoned, thing_named(stoned.run, "s2")).pose.position[2], 0.079, 1e-2);
        end(ctx, &calm);
        end(ctx, &stoned);
    }
    bough_context_destroy(ctx);
}

/* A part on a plate that rises on a track, by 0.2 m/s in the mean and by half as much again in the middle, where it has
 * begun and not yet begun to end; and a floor far below, which has no end. */
#define LIFTED                                                                                                     \
    "{'bough': 1, 'components': {'cube': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.2, 0.2, 0.2], "   \
    "'cells': [2, 2, 2]}, 'material': {'young': 1e6, 'density': 1000}, 'basis': {'r': 6}}}, 'parts': [{'name': "   \
    "'soft', 'component': 'cube', 'position': [0, 0, 0.1]}], 'gravity': [0, 0, -9.81], 'obstacles': [{'name': "    \
    "'floor', 'shape': {'plane': true}, 'position': [0, 0, -1]}, {'name': 'lift', 'shape': {'box': [1, 1, 0.1]}, " \
    "'track': [{'time': 0, 'position': [0, 0, -0.05]}, {'time': 1, 'position': [0, 0, 0.15]}, {'time': 2, "        \
    "'position': [0, 0, 0.35]}]}], 'engine': {'kind': 'tree'}, 'time': {'integrator': 'hht', 'dt': 0.002, "        \
    "'duration': 1}}"

/* Obstacles of parts are things behind the parts, with looks of their own; the mesh of the run is that of the parts. */
static void obstacles_of_parts_stand_where_their_tracks_lead(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_run_def def = bough_default_run_def();
    def.duration = 1;
    play p = begin_file(ctx, write_scene("lifted.json", LIFTED), &def);
    check_int(bough_run_thing_count(p.run), 3);
    check_int(bough_run_mesh(p.run)->vertex_count, bough_run_thing(p.run, 0)->vertex_count);
    for (int32_t i = 1; i < 3; i++) {
        const bough_thing *thing = bough_run_thing(p.run, i);
        check(thing->held && thing->drawing == BOUGH_DRAWN_RIGID && thing->vertex_count == 0 && thing->parent == -1);
        assert_string_equal(thing->kind, "obstacle");
    }
    check(look_of(&p, 1)->vertices[0] < -0.5 && look_of(&p, 1)->vertices[0] > -5); /* as large as suits the part */
    check_near(look_of(&p, 2)->vertices[2], -0.05, 1e-12);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    const bough_frame lift = frame_of(&p, 2), floor = frame_of(&p, 1);
    check_near(lift.pose.position[2], 0.15, 1e-12);
    check_near(lift.velocity[2], 0.3, 1e-12);
    check_near(floor.pose.position[2], -1, 0);
    check_near(frame_of(&p, 0).pose.position[2], 0.3, 1e-4);
    bough_run_contact contacts[100];
    const int32_t count = bough_run_contacts(p.run, 100, contacts);
    check(count > 0);
    for (int32_t i = 0; i < count; i++)
        check(contacts[i].things[0] == 0 && contacts[i].things[1] == 2 && contacts[i].force[2] >= 0);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

static void engines_without_contacts_have_none(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const bough_run_def def = bough_default_run_def();
    bough_run_contact contact;
    play p = begin_file(ctx, write_scene("body.json", BODY("", "-4")), &def);
    check(!(bough_run_can(p.run) & BOUGH_CAN_CONTACTS));
    check_int(bough_run_contacts(p.run, 1, &contact), 0);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* Shapes of one thing keep their own colours; a thing whose shapes are alike has one. */
static void shapes_keep_their_colours(void **state) {
    (void)state;
    static const char *const kinds[] = {"", "'engine': {'kind': 'multibody'}, "};
    bough_context *ctx = test_context(1);
    for (int k = 0; k < 2; k++) {
        char text[1000];
        snprintf(
            text, sizeof text,
            "{'bough': 1, %s'bodies': [{'name': 'a', 'mass': 1, 'shape': [{'box': [1, 1, 1], 'colour': [1, 0, 0]}, "
            "{'sphere': 0.2, 'position': [0, 0, 1], 'colour': [0, 0, 1]}]}, {'name': 'b', 'mass': 1, 'position': "
            "[3, 0, 0], 'shape': [{'box': [1, 1, 1]}, {'box': [2, 1, 1]}]}], 'time': {'dt': 0.01, 'duration': 1}}",
            kinds[k]);
        const bough_run_def def = bough_default_run_def();
        play p = begin_file(ctx, write_scene("coloured.json", text), &def);
        check_int(bough_run_thing_count(p.run), 2);
        const bough_look *a = look_of(&p, 0), *b = look_of(&p, 1);
        check(a->vertex_colours && !b->vertex_colours);
        for (int32_t v = 0; v < a->vertex_count; v++) {
            const bool box = a->vertices[3 * v + 2] < 0.6;
            check(a->vertex_colours[3 * v] == (float)box && a->vertex_colours[3 * v + 2] == (float)!box);
        }
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(things_move_as_they_say),
        cmocka_unit_test(momentum_is_what_forces_gave),
        cmocka_unit_test(contacts_name_the_things_that_touch),
        cmocka_unit_test(a_base_that_touches_is_its_link),
        cmocka_unit_test(impacts_far_away_change_no_bit),
        cmocka_unit_test(obstacles_of_parts_stand_where_their_tracks_lead),
        cmocka_unit_test(engines_without_contacts_have_none),
        cmocka_unit_test(shapes_keep_their_colours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
