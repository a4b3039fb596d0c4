/* Scene files of multibody systems: what they say, every mistake one sentence, nothing crashes or leaks. */
#include "hostile.h"

#include "scene/cook_plan.h"
#include "scene/entries.h"
#include "scene/multibody_scene.h"
#include "scene/scene.h"

#define ROD                                                                                                          \
    "'rod': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.1, 0.1], 'cells': [4, 1, 1]}, 'interfaces': " \
    "{'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}, 'basis': {'r': 4}, 'samples': {'wind': 0, 'contact': 0, "  \
    "'stress': 0}}"
#define HUB "{'name': 'hub', 'position': [0, 0, 2], 'mass': 3, 'inertia': [1, 1, 1, 0, 0, 0], 'centre': [0.1, 0, 0]}"
#define BALL "{'name': 'ball', 'position': [1, 0, 2], 'mass': 2, 'shape': {'sphere': 0.1}}"
#define ARM "{'name': 'arm', 'component': 'rod', 'clamp': 'hub'}"
#define TURN "{'name': 'turn', 'kind': 'hinge', 'parent': 'world', 'child': 'hub', 'position': [0, 0, 2]}"
#define GRIP "{'name': 'grip', 'kind': 'weld', 'parent': {'part': 'arm', 'interface': 'tip'}, 'child': 'ball'}"
#define SCENE_OF(bodies, parts, joints, more)                                                                      \
    "{'bough': 1, 'components': {" ROD "}, 'bodies': [" bodies "], 'parts': [" parts "], 'joints': [" joints "], " \
    "'curves': {'c': [[0, 0], [1, 30]]}" more "}"
#define SCENE(more) SCENE_OF(HUB "," BALL, ARM, TURN "," GRIP, more)
#define WITH_BODY(body) SCENE_OF(HUB "," body, ARM, TURN, "")
#define WITH_PART(part) SCENE_OF(HUB "," BALL, part, TURN, "")
#define WITH_JOINT(joint) SCENE_OF(HUB "," BALL, ARM, TURN "," joint, "")
#define TOUCHING(keys)                                                                                              \
    "{'bough': 1, 'engine': {'kind': 'multibody'}, 'bodies': [{'name': 'a', 'mass': 1, 'inertia': [1, 1, 1, 0, 0, " \
    "0], " keys "}]}"
#define WITH_MOTOR(motor) SCENE(", 'motors': [" motor "]")

static void check_refused(const char *text, const char *why) {
    check_refused_by(read_scene, text, why);
}

static bough_scene *load(bough_context *ctx, const char *text) {
    bough_scene *scene;
    check_ok(ctx, load_text(ctx, text, &scene));
    return scene;
}

/* ---- what is read ---- */

static void frames_lie_where_the_file_has_them(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene = load(ctx, SCENE(""));
    const bo_multibody_scene *m = scene->content;
    assert_string_equal(scene->kind->name, "multibody");
    assert_string_equal(scene->integrator.name, "bdf2");
    check_int(m->def.body_count, 2);
    check_int(m->joints[0].parent.body, BOUGH_WORLD);
    check_near(m->joints[0].parent.pose.position[2], 2, 0);
    check_near(m->joints[0].child.pose.position[2], 0, 0);
    /* the grip: in the centre of the tip, which is 1 m from the hub, where the ball is */
    check_int(m->joints[1].parent.body, 2);
    check_int(m->joints[1].parent.interface_index, 1);
    for (int d = 0; d < 3; d++) {
        check_near(m->joints[1].parent.pose.position[d], 0, 1e-12);
        check_near(m->joints[1].child.pose.position[d], 0, 1e-12);
    }
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* Velocities are those of the centre of mass, in world axes; the engine wants them at the origin, in the body's. */
/* Without joints, too, and whichever of its engines steps it. */
static void scenes_are_known_by_what_they_have(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{'bough': 1, 'components': {" ROD "}, 'bodies': [" HUB "], 'parts': [" ARM "]}",
        "{'bough': 1, 'engine': {'kind': 'full'}, 'components': {" ROD "}, 'bodies': [" HUB "], 'parts': [" ARM "]}",
        "{'bough': 1, 'engine': {'kind': 'full'}, 'components': {" ROD
        "}, 'parts': [{'name': 'arm', 'component': 'rod', 'clamp': 'world'}]}",
        "{'bough': 1, 'engine': {'kind': 'full'}, 'bodies': [" HUB "]}"};
    bough_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        bough_scene *scene = load(ctx, texts[i]);
        assert_string_equal(scene->kind->name, "multibody");
        assert_string_equal(scene->engine->kind->name, i > 0 ? "full" : "multibody");
        bough_scene_destroy(ctx, scene);
    }
    bough_scene *scene = load(ctx, "{'bough': 1, 'bodies': [" BALL "]}"); /* a mechanism's free body */
    assert_string_equal(scene->kind->name, "mechanism");
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

static void bodies_start_as_they_are_told(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene = load(ctx, "{'bough': 1, 'engine': {'kind': 'multibody'}, 'bodies': [{'name': 'a', 'mass': 1, "
                                   "'inertia': [1, 1, 1, 0, 0, 0], 'centre': [1, 0, 0], 'rotate_deg': [0, 0, 90], "
                                   "'velocity': [0, 0, 5], 'spin': [0, 0, 2]}]}");
    const bo_multibody_scene *m = scene->content;
    static const double twist[6] = {0, -2, 5, 0, 0, 2}; /* v - w x c with c along x */
    for (int k = 0; k < 6; k++)
        check_near(m->bodies[0].twist[k], twist[k], 1e-12);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* The rod is cooked with the ball at its tip, and a rod that carries another with both. */
static void components_carry_what_hangs_at_them(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene = load(ctx, SCENE(""));
    const bough_interface_def *tip = &scene->plan->assembly.components[0].job->interfaces[1];
    check(tip->has_load);
    check_near(tip->load.mass, 2, 1e-12);
    check_near(tip->load.moment[0], 0, 1e-9);
    bough_scene_destroy(ctx, scene);
    scene = load(ctx, SCENE_OF(HUB "," BALL,
                               ARM ", {'name': 'more', 'component': 'rod', 'clamp': {'part': 'arm', "
                                   "'interface': 'tip'}}",
                               TURN ", {'name': 'grip', 'kind': 'ball', 'parent': {'part': 'more', 'interface': "
                                    "'tip'}, 'child': {'body': 'ball', 'position': [0, 0, 0]}}",
                               ""));
    tip = &scene->plan->assembly.components[0].job->interfaces[1];
    check_near(tip->load.mass, 0.5 * (2 + (2 + 1000 * 0.01)), 1e-9); /* the mean of both, of the default density */
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* ---- mistakes ---- */

static void mistakes_are_told_in_a_sentence(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } wrong[] = {
        {WITH_BODY("{'name': 'hub', 'mass': 1, 'shape': {'sphere': 1}}"), "bodies[1].name: \"hub\""},
        {WITH_BODY("{'name': 'world', 'mass': 1, 'shape': {'sphere': 1}}"), "choose another name"},
        {WITH_BODY("{'name': 'b'}"), "needs a \"mass\""},
        {WITH_BODY("{'name': 'b', 'mass': 1, 'shape': {'sphere': 1}, 'masss': 2}"), "did you mean \"mass\"?"},
        {WITH_PART("{'name': 'arm', 'component': 'rood'}"), "did you mean \"rod\"?"},
        {WITH_PART("{'name': 'arm', 'component': 'rod', 'clamp': 'hob'}"), "did you mean \"hub\"?"},
        {WITH_PART("{'name': 'arm', 'component': 'rod', 'clamp': {'part': 'arm', 'interface': 'tip'}}"),
         "clamped to itself"},
        {WITH_PART(ARM ", {'name': 'b', 'component': 'rod', 'clamp': {'part': 'arm', 'interface': 'base'}}"),
         "by which that part itself is clamped"},
        {WITH_PART(ARM ", {'name': 'b', 'component': 'rod', 'clamp': {'part': 'arm', 'interface': 'tap'}}"),
         "did you mean \"tip\"?"},
        {WITH_JOINT("{'name': 'x', 'kind': 'weld', 'parent': 'arm', 'child': 'ball'}"),
         "say at which of its interfaces"},
        {WITH_JOINT("{'name': 'x', 'kind': 'weld', 'parent': 'hub', 'child': 'ball'}"), "\"position\" is missing"},
        {WITH_JOINT("{'name': 'x', 'kind': 'weld', 'parent': 'hub', 'child': 'hub', 'position': [0, 0, 0]}"),
         "is the parent too"},
        {WITH_JOINT("{'name': 'x', 'kind': 'weld', 'parent': 'hub', 'child': 'ball', 'position': [0, 0, 0], 'damping': "
                    "1}"),
         "joints that can move"},
        {WITH_JOINT("{'name': 'x', 'kind': 'hinged', 'parent': 'hub', 'child': 'ball', 'position': [0, 0, 0]}"),
         "did you mean \"hinge\"?"},
        {WITH_JOINT("{'name': 'turn', 'kind': 'weld', 'parent': 'hub', 'child': 'ball', 'position': [0, 0, 0]}"),
         "\"turn\""},
        {WITH_MOTOR("{'joint': 'turm', 'curve': 'c'}"), "did you mean \"turn\"?"},
        {WITH_MOTOR("{'joint': 'turn'}"), "\"curve\" is missing"},
        {WITH_MOTOR("{'joint': 'grip', 'curve': 'c'}"), "nothing can drive a joint of kind \"weld\""},
        {WITH_MOTOR("{'joint': 'turn', 'curve': 'c'}, {'joint': 'turn', 'curve': 'c', 'name': 'b'}"),
         "another motor, \"turn\""},
        {WITH_MOTOR("{'joint': 'turn', 'curve': 'c', 'limit': 4}"), "is for a motor with a \"stiffness\""},
        {SCENE(", 'gears': [{'joints': ['turn'], 'ratio': 1}]"), "must be two joints"},
        {SCENE(", 'gears': [{'joints': ['turn', 'grip'], 'ratio': 1}]"), "has 0 freedoms"},
        {SCENE(", 'forces': [{'body': 'arm', 'force': [1, 0, 0]}]"), "is a part"},
        {SCENE(", 'forces': [{'part': 'arm', 'nearest': [1, 0, 0], 'torque': [1, 0, 0]}]"), "not on a vertex"},
        {SCENE(", 'probes': [{'name': 'p', 'part': 'hub'}]"), "is a rigid body"},
        {SCENE(", 'probes': [{'name': 'p', 'motor': 'turn'}]"), "motor"},
        {SCENE(", 'engine': {'kind': 'tree'}"), "joints"},
        {SCENE(", 'obstacles': [{'name': 'ball', 'shape': {'plane': true}}]"), "the name of something else"},
        {SCENE(", 'obstacles': [{'name': 'o', 'shape': {'sphere': 1}}], 'pass_through': [['o', 'ball']]"),
         "\"ball\" touches nothing"},
        {SCENE(", 'pass_through': [['ball']]"), "must be two names"},
        {SCENE(", 'probes': [{'name': 'p', 'touch': 'ball'}]"), "touches nothing"},
        {TOUCHING("'touch': true"), "needs a \"shape\" that touches"},
        {TOUCHING("'touch': {'plane': true}"), "planes and height fields are for obstacles"},
        {TOUCHING("'shape': {'sphere': 1}, 'friction': 1"), "say \"touch\": true"},
        {"{'bough': 1, 'engine': {'kind': 'multibody'}}", "needs \"bodies\" or \"parts\""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_refused(wrong[i].text, wrong[i].why);
    check_refused(
        "{'bough': 1, 'bodies': [" HUB "], 'joints': [{'name': 'h', 'kind': 'hinge', 'parent': 'world', "
        "'child': 'hub', 'position': [0, 0, 0], 'limits_deg': [-10, 10]}], 'curves': {'c': [[0, 0], [1, 30]]},"
        "'motors': [{'joint': 'h', 'curve': 'c', 'degrees': true}]}",
        "is 30 at 1 s, beyond the limits of its joint, -10 to 10");
}

/* ---- what touches ---- */

/* Shapes that touch stand apart from those that are drawn; obstacles may be drawn only. */
static void bodies_touch_obstacles(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene =
        load(ctx, "{'bough': 1, 'engine': {'kind': 'multibody'}, 'bodies': [{'name': 'a', 'mass': 1, 'shape': {'box': "
                  "[1, 1, 1]}}, {'name': 'b', 'mass': 1, 'shape': {'capsule': [0.1, 1]}, 'touch': [{'sphere': 0.1}, "
                  "{'sphere': 0.2}], 'friction': 0.3, 'restitution': 0.2}, {'name': 'c', 'density': 2, 'touch': "
                  "{'box': [1, 1, 1]}}], 'obstacles': [{'name': 'ground', 'shape': {'plane': true}}, {'name': 'sign', "
                  "'touch': false, 'shape': {'cylinder': [1, 2]}}], 'pass_through': [['c', 'ground'], ['b', 'c']]}");
    const bo_multibody_plan *plan = &((const bo_multibody_scene *)scene->content)->plan;
    check_int(plan->touch_count, 3);
    check_int(plan->touches[0].place, 1);
    check_int(plan->touches[2].place, 2);
    check_near(plan->touches[1].friction, 0.3, 1e-15);
    check_near(plan->touches[1].restitution, 0.2, 1e-15);
    check_near(plan->def.bodies[2].mass, 2, 1e-14);
    check_int(plan->obstacle_count, 2);
    check_int(plan->obstacles[0].shape_count, 1);
    check_int(plan->obstacles[1].shape_count, 0);
    check_int(plan->pass_count, 2);
    check(plan->passes[0].sides[1].kind == BOUGH_CONTACT_OF_OBSTACLE && plan->passes[1].sides[1].index == 2);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* ---- tables ---- */

#define TABLE                                                                                            \
    "{'bough': 1, 'bodies': [" HUB "], 'joints': [{'name': 'turn', 'kind': 'hinge', 'parent': 'world', " \
    "'child': 'hub', 'position': [0, 0, 0], 'limits': [-1, 1]}], 'motors': {'csv': 'motors.csv'}}"

static void tables_are_checked_line_by_line(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"", "the table is empty"},
        {"time,turn\n", "has no rows"},
        {"t,turn\n0,0\n", "motors.csv:1: there is no column \"time\""},
        {"time,tern\n0,0\n", "its column \"tern\" is no joint; did you mean \"turn\"?"},
        {"time,left_knee\n0,0\n", "is no joint; name motors under \"list\""},
        {"Time,turn\n0,0\n", "there is no column \"time\"; did you mean it by \"Time\"?"},
        {"time,turn,\n0,0,\n", "motors.csv:1: column 3 has no name; is there a comma too many?"},
        {"time,turn\n0,0\n0.5,0.1\n0.4,0\n", "motors.csv:4: times must ascend, but 0.4 comes after 0.5"},
        {"time,turn\n0,0\n1,x\n", "motors.csv:3: turn: \"x\" is no number"},
        {"time,turn\n0,0\n1\n", "motors.csv:3: has 1 numbers, and there are 2 columns"},
        {"time,turn\n0,0\n1,2,3\n", "motors.csv:3: has more numbers"},
        {"time,turn,turn\n0,0,0\n", "is there twice"},
        {"time,turn\n0,0\n1,\n", "motors.csv:3: turn is empty; leave the row out"},
        {"time,turn\n0,0\n,1\n", "motors.csv:3: time is empty"},
        {"time,turn\n0,0\n0,1\n", "motors.csv:3: times must ascend, but 0 comes after 0"},
        {"time,turn\n0,0\n1,nan\n", "motors.csv:3: turn: \"nan\" is no number"},
        {"time,turn\n0,0\n1,-inf\n", "motors.csv:3: turn: \"-inf\" is no number"},
        {"time;turn\n0;0\n1;0,5\n", "motors.csv:1: columns are separated by semicolons"},
        {"time,turn\n0,0\n1,2\n", "turn is 2 at 1 s, beyond the limits of its joint, -1 to 1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        test_write_text(test_path("motors.csv"), wrong[i][0]);
        check_refused(TABLE, wrong[i][1]);
    }
    test_write_text(test_path("motors.csv"), "time,turn\n0,0\n1,0.5\n");
    check_refused("{'bough': 1, 'bodies': [" HUB "], 'joints': [" TURN "], 'motors': {'csv': 'motors.csv', 'list': "
                  "[{'name': 'turm', 'joint': 'turn'}]}}",
                  "there is no column \"turm\"; did you mean \"turn\"?");
    check_refused("{'bough': 1, 'bodies': [" HUB "], 'joints': [" TURN "], 'motors': {'csv': 'no.csv'}}", "no.csv");
    bough_context *ctx = test_context(1);
    bough_scene *scene = load(ctx, TABLE);
    const uint64_t hash = scene->hash;
    bough_scene_destroy(ctx, scene);
    test_write_text(test_path("motors.csv"), "time,turn\r\n0,0\r\n\r\n1,0.6\r\n");
    scene = load(ctx, TABLE);
    check(scene->hash != hash); /* a checkpoint does not go on with other motors */
    double value;
    bo_spline_at(&((const bo_multibody_scene *)scene->content)->drives[0], 1, &value, NULL, NULL);
    check_near(value, 0.6, 1e-15);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* ---- warnings ---- */

static void keep_warning(void *data, const char *sentence) {
    snprintf(data, 400, "%s", sentence);
}

/* The scene is read, with this warning last, or with none. */
static void check_warns(const char *text, const char *why) {
    char said[400] = "";
    bough_context_def def = bough_default_context_def();
    def.thread_count = 1, def.warn = keep_warning, def.warn_user = said;
    bough_context *ctx = bough_context_create(&def);
    check(ctx != NULL);
    bough_scene_destroy(ctx, load(ctx, text));
    if (why ? !strstr(said, why) : said[0])
        fail_msg("%s: expected \"%s\", got \"%s\"", text, why ? why : "no warning", said);
    bough_context_destroy(ctx);
}

#define TURNED(more) "{'bough': 1, 'bodies': [" HUB "], 'joints': [" TURN "], 'motors': {'csv': 'motors.csv'" more "}}"
#define FOLLOWS(points, more)                                                                                    \
    "{'bough': 1, 'bodies': [" HUB "], 'joints': [" TURN "], 'curves': {'c': " points "}, 'motors': [{'joint': " \
    "'turn', 'curve': 'c'" more "}]}"

static void degrees_and_radians_are_told_apart(void **state) {
    (void)state;
    static const struct {
        const char *table, *text, *why;
    } tried[] = {
        {"time,turn\n0,0\n1,1.5\n", TURNED(""), NULL},
        {"time,turn\n0,0\n1,90\n", TURNED(", 'degrees': true"), NULL},
        {"time,turn\n0,0\n1,90\n", TURNED(""), "motor \"turn\" is told to go to 90 rad, 14.3 turns"},
        {"time,turn\n0,0\n0.5,0\n0.6,12\n", TURNED(""),
         "motor \"turn\" is told to turn at 120 rad/s before 0.6 s, 1.15e+03 turns a minute; if these are degrees"},
        {"time,turn\n0,0\n0.1,9\n", TURNED(""), NULL}, /* 90 rad/s */
        {"time,turn\n0,0\n1,1.57\n", TURNED(", 'degrees': true"),
         "motors.csv: no motor moves by more than 1.57 degrees; if these are radians, say \"degrees\": false"},
        {"time,turn\n0,1\n1,1\n", TURNED(", 'degrees': true"), NULL}, /* it does not move */
        {"time,turn\n0,45\n1,46\n", TURNED(", 'degrees': true"), NULL},
        {"", FOLLOWS("[[0, 0], [1, 90]]", ""), "is told to go to 90 rad"},
        {"", FOLLOWS("[[0, 0], [0.1, 12]]", ""), "is told to turn at 120 rad/s"},
        {"", FOLLOWS("[[0, 0], [1, 3]]", ", 'degrees': true"), "no motor moves by more than 3 degrees"},
        {"", FOLLOWS("[[0, 0], [1, 3]]", ", 'degrees': true, 'scale': 20"), NULL},
        {"", FOLLOWS("[[0, 0], [1, 3]]", ""), NULL},
    };
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        test_write_text(test_path("motors.csv"), tried[i].table);
        check_warns(tried[i].text, tried[i].why);
    }
}

/* Tables that were sampled at a rate lack rows; those that are points to go to do not. */
static void rows_that_are_missing_are_told(void **state) {
    (void)state;
    for (int missing = 0; missing < 3; missing++) {
        FILE *f = fopen(test_path("motors.csv"), "w");
        check(f != NULL);
        fputs("\xef\xbb\xbftime,turn\n", f); /* as a spreadsheet begins it */
        for (int k = 0; k < 100; k++)
            if (missing == 0 || k < 40 || k >= 40 + 10 * missing)
                fprintf(f, "%g,%g\n", 0.01 * k, 0.01 * k);
        fclose(f);
        check_warns(TURNED(""), missing == 0   ? NULL
                                : missing == 1 ? "motors.csv:42: there are no rows from 0.39 s to 0.5 s, while others"
                                               : "motors.csv:42: there are no rows from 0.39 s to 0.6 s");
    }
    test_write_text(test_path("motors.csv"), "time,turn\n0,0\n0.1,1\n0.2,0\n3,1\n");
    check_warns(TURNED(""), NULL);
}

/* ---- all of it ---- */

static const char *const whole[] = {
    SCENE(", 'motors': [{'joint': 'turn', 'curve': 'c', 'degrees': true}], 'gears': [], 'forces': [{'part': 'arm', "
          "'interface': 'tip', 'force': [1, 0, 0], 'torque': [0, 1, 0]}], 'probes': [{'name': 'm', 'motor': 'turn'}, "
          "{'name': 'f', 'joint_force': 'grip'}, {'name': 'p', 'part': 'arm', 'nearest': [1, 0, 0]}]"),
    "{'bough': 1, 'bodies': [" HUB
    ", {'name': 'f', 'mass': 1, 'touch': {'sphere': 1}, 'friction': 1}], 'joints': [" TURN
    "], 'motors': {'csv': 'motors.csv'}, 'obstacles': [{'name': 'g', 'shape': {'plane': true}}], 'pass_through': "
    "[['f', 'g']], 'probes': [{'name': 't', 'touch': 'f'}]}"};

static void mangled_files_are_refused_or_read(void **state) {
    (void)state;
    test_write_text(test_path("motors.csv"), "time,turn\n0,0\n1,0.5\n");
    check_mutations(read_scene, whole, 2, 2);
}

static void memory_may_run_out(void **state) {
    (void)state;
    test_write_text(test_path("motors.csv"), "time,turn\n0,0\n1,0.5\n");
    check_failed_allocations(read_scene, whole, 2);
    check_failed_allocations(read_plan, whole, 1);
}

static void the_schema_has_the_readers_keys(void **state) {
    (void)state;
    const struct {
        const char *name;
        const char *const *keys;
    } blocks[] = {{"engine", KEYS(BO_MULTIBODY_ENGINE_KEYS)},
                  {"robot", KEYS(BO_ROBOT_KEYS)},
                  {"flexible_link", KEYS(BO_FLEXIBLE_LINK_KEYS)},
                  {"body", KEYS(BO_JOINED_BODY_KEYS)},
                  {"part", KEYS(BO_CLAMPED_PART_KEYS)},
                  {"joint", KEYS(BO_BODY_JOINT_KEYS)},
                  {"motor", KEYS(BO_JOINT_MOTOR_KEYS)},
                  {"table_motor", KEYS(BO_TABLE_MOTOR_KEYS)},
                  {"motor_table", KEYS(BO_MOTOR_TABLE_KEYS)},
                  {"gear", KEYS(BO_GEAR_KEYS)},
                  {"force", KEYS(BO_BODY_FORCE_KEYS)},
                  {"probe", KEYS(BO_BODY_PROBE_KEYS)},
                  {"coordinate_probe", KEYS(BO_COORDINATE_PROBE_KEYS)},
                  {"joint_force_probe", KEYS(BO_JOINT_FORCE_PROBE_KEYS)},
                  {"motor_probe", KEYS(BO_MOTOR_PROBE_KEYS)}};
    json_t *schema = load_schema(BOUGH_SOURCE_DIR "/docs/multibody.schema.json");
    const json_t *defs = json_object_get(schema, "$defs"), *end = json_object_get(defs, "end");
    check_same_keys("the scene", schema, KEYS(BO_MULTIBODY_KEYS));
    check_same_keys("an end", json_array_get(json_object_get(end, "oneOf"), 1), KEYS(BO_END_KEYS));
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        check_same_keys(blocks[i].name, json_object_get(defs, blocks[i].name), blocks[i].keys);
    json_decref(schema);
}

static void the_examples_work(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const char *const examples[] = {"one-rod/scene", "two-rods/scene", "bending-arm/scene", "bending-arm/wave"};
    bough_scene *scene;
    check_ok(ctx, load_text(ctx, example_of_docs("# Multibody systems"), &scene));
    check_int(scene->probe_count, 2);
    bough_scene_destroy(ctx, scene);
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        char path[400];
        snprintf(path, sizeof path, "%s/examples/%s.json", BOUGH_SOURCE_DIR, examples[i]);
        check_ok(ctx, bough_scene_load(ctx, path, &scene));
        bough_scene_destroy(ctx, scene);
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames_lie_where_the_file_has_them),
                                       cmocka_unit_test(scenes_are_known_by_what_they_have),
                                       cmocka_unit_test(bodies_start_as_they_are_told),
                                       cmocka_unit_test(components_carry_what_hangs_at_them),
                                       cmocka_unit_test(mistakes_are_told_in_a_sentence),
                                       cmocka_unit_test(bodies_touch_obstacles),
                                       cmocka_unit_test(tables_are_checked_line_by_line),
                                       cmocka_unit_test(degrees_and_radians_are_told_apart),
                                       cmocka_unit_test(rows_that_are_missing_are_told),
                                       cmocka_unit_test(mangled_files_are_refused_or_read),
                                       cmocka_unit_test(memory_may_run_out),
                                       cmocka_unit_test(the_schema_has_the_readers_keys),
                                       cmocka_unit_test(the_examples_work)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
