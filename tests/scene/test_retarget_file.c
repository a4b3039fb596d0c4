/* "retarget" of scene files: what it says, and every mistake one sentence. */
#include "hostile.h"

#include "scene/entries.h"
#include "scene/multibody_scene.h"
#include "scene/scene.h"

#define ROD                                                                                                          \
    "'rod': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.1, 0.1], 'cells': [4, 1, 1]}, 'interfaces': " \
    "{'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}, 'basis': {'r': 4}, 'samples': {'wind': 0, 'contact': 0, "  \
    "'stress': 0}}"
/* A hub that turns and carries a rod with a ball; beside them a cart that slides, and a wheel whose motor gives way. */
#define SCENE(block)                                                                                                  \
    "{'bough': 1, 'components': {" ROD "}, 'bodies': [{'name': 'hub', 'mass': 3, 'shape': {'sphere': 0.1}}, "         \
    "{'name': 'ball', 'position': [1, 0, 0], 'mass': 2, 'shape': {'sphere': 0.1}}, {'name': 'cart', 'mass': 1, "      \
    "'shape': {'sphere': 0.1}}, {'name': 'wheel', 'mass': 1, 'shape': {'sphere': 0.1}}], 'parts': [{'name': 'arm', "  \
    "'component': 'rod', 'clamp': 'hub'}], 'joints': [{'name': 'turn', 'kind': 'hinge', 'parent': 'world', 'child': " \
    "'hub', 'position': [0, 0, 0], 'limits_deg': [-90, 90]}, {'name': 'grip', 'kind': 'weld', 'parent': {'part': "    \
    "'arm', 'interface': 'tip'}, 'child': 'ball'}, {'name': 'slide', 'kind': 'prismatic', 'parent': 'world', "        \
    "'child': 'cart', 'position': [0, 0, 0]}, {'name': 'soft', 'kind': 'hinge', 'parent': 'cart', 'child': 'wheel', " \
    "'position': [0, 0, 0]}], 'curves': {'c': [[0, 0], [1, 30]], 'm': [[0, 0], [1, 0.1]], 'w': [[0, 1], [1, -2]]}, "  \
    "'motors': [{'joint': 'turn', 'curve': 'c', 'degrees': true}, {'joint': 'slide', 'curve': 'm'}, {'joint': "       \
    "'soft', 'name': 'spring', 'curve': 'm', 'stiffness': 9, 'damping': 1, 'limit': 3}], 'retarget': " block "}"
#define TRACK(item) SCENE("{'track': [" item "]}")
#define LIMIT(item) SCENE("{'limits': [" item "]}")

static const bo_retarget_plan *load_plan(bough_context *ctx, const char *text, bough_scene **scene) {
    check_ok(ctx, load_text(ctx, text, scene));
    return &((const bo_multibody_scene *)(*scene)->content)->retarget;
}

/* Without the block, and with an empty one, all is as docs/retarget.md has it. */
static void what_is_left_out_has_its_default(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    const bo_retarget_plan *plan = load_plan(ctx, SCENE("{}"), &scene);
    check_near(plan->duration, 0, 0);
    check_near(plan->dt, 0.002, 0);
    check_near(plan->point_rate, 20, 0);
    check_int(plan->degree, 3);
    check_int(plan->track_count, 0);
    check_near(plan->moving, 1, 0);
    check_near(plan->keep, 1e-5, 0);
    check_near(plan->smooth, 1e-9, 0);
    check_near(plan->limit_weight, 1, 0);
    check_near(plan->rate, 100, 0);
    check_int(plan->search, 0);
    check_int(plan->iterations, 100);
    check_near(plan->tolerance, 1e-4, 0);
    check_near(plan->window, 0, 0);
    check_near(plan->overlap, 1, 0);
    /* motors stay within the limits of their joints */
    check_near(plan->limits[0].lowest, -M_PI / 2, 1e-15);
    check_near(plan->limits[0].highest, M_PI / 2, 1e-15);
    check(isinf(plan->limits[0].speed) && isinf(plan->limits[1].highest));
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

static const char whole[] =
    SCENE("{'duration': 2, 'dt': 0.004, 'point_rate': 25, 'degree': 4, 'track': [{'body': 'ball', 'position': [1, 0, "
          "0.1], 'weight': 2, 'orientation': 0.01, 'curve': 'm'}, {'name': 'tip', 'part': 'arm', 'interface': 'tip'}], "
          "'moving': 0.1, 'keep': 1e-6, 'smooth': 1e-8, 'limit_weight': 10, 'rate': 50, 'search': 'lbfgs', "
          "'iterations': 7, 'tolerance': 0.001, 'window': 0.5, 'overlap': 0.25, 'limits': [{'motor': 'turn', "
          "'range_deg': [-30, 45], 'speed_deg': 180, 'acceleration_deg': 900, 'force': 4}, {'motor': 'slide', "
          "'range': [0, 0.2], 'speed': 1, 'acceleration': 9}]}");

static void all_keys_are_read(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    const bo_retarget_plan *plan = load_plan(ctx, whole, &scene);
    const double numbers[][2] = {{plan->duration, 2},  {plan->dt, 0.004},        {plan->point_rate, 25},
                                 {plan->degree, 4},    {plan->moving, 0.1},      {plan->keep, 1e-6},
                                 {plan->smooth, 1e-8}, {plan->limit_weight, 10}, {plan->rate, 50},
                                 {plan->search, 1},    {plan->iterations, 7},    {plan->tolerance, 0.001},
                                 {plan->window, 0.5},  {plan->overlap, 0.25}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        check_near(numbers[i][0], numbers[i][1], 0);
    check_int(plan->track_count, 2);
    assert_string_equal(plan->tracks[0].name, "ball"); /* the body's, where it has none of its own */
    check_near(plan->tracks[0].frame.pose.position[2], 0.1, 1e-15);
    check_near(plan->tracks[0].weight, 2, 0);
    check_near(plan->tracks[0].orientation, 0.01, 0);
    check_int(plan->tracks[0].curve, 1);
    assert_string_equal(plan->tracks[1].name, "tip");
    check_int(plan->tracks[1].frame.interface_index, 1);
    check_near(plan->tracks[1].weight, 1, 0);
    check_near(plan->limits[0].lowest, -M_PI / 6, 1e-15);
    check_near(plan->limits[0].highest, M_PI / 4, 1e-15);
    check_near(plan->limits[0].speed, M_PI, 1e-14);
    check_near(plan->limits[0].acceleration, 5 * M_PI, 1e-14);
    check_near(plan->limits[0].force, 4, 0);
    check_near(plan->limits[1].highest, 0.2, 0);
    check_near(plan->limits[1].speed, 1, 0);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

static void mistakes_are_told_in_a_sentence(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } wrong[] = {
        {SCENE("{'durations': 2}"), "did you mean \"duration\"?"},
        {SCENE("[]"), "retarget"},
        {SCENE("{'duration': 0}"), "must be positive"},
        {SCENE("{'duration': 2000000}"), "retarget.duration: 2e+06 s in steps of 0.002 s are too many steps; is it in"},
        {SCENE("{'dt': -0.001}"), "must be positive"},
        {SCENE("{'point_rate': 0}"), "must be positive"},
        {SCENE("{'degree': 1}"), "retarget.degree"},
        {SCENE("{'degree': 6}"), "retarget.degree"},
        {SCENE("{'moving': -1}"), "retarget.moving"},
        {SCENE("{'keep': -1}"), "retarget.keep"},
        {SCENE("{'smooth': -1}"), "retarget.smooth"},
        {SCENE("{'limit_weight': -1}"), "retarget.limit_weight"},
        {SCENE("{'rate': 0}"), "retarget.rate: must be positive"},
        {SCENE("{'search': 'lbfs'}"), "did you mean \"lbfgs\"?"},
        {SCENE("{'iterations': 0}"), "retarget.iterations"},
        {SCENE("{'tolerance': 2}"), "retarget.tolerance"},
        {SCENE("{'window': 0}"), "retarget.window: must be positive"},
        {SCENE("{'overlap': -1}"), "retarget.overlap: must be positive"},
        {SCENE("{'track': []}"), "retarget.track: is empty; leave it out to track the bodies at the ends"},
        {TRACK("{'weight': 1}"), "needs a \"body\" or a \"part\""},
        {TRACK("{'body': 'bal'}"), "did you mean \"ball\"?"},
        {TRACK("{'body': 'arm'}"), "is a part; say {\"part\": ...}"},
        {TRACK("{'part': 'hub', 'interface': 'tip'}"), "is a rigid body"},
        {TRACK("{'part': 'arm'}"), "of a part an \"interface\" is tracked, which is missing"},
        {TRACK("{'part': 'arm', 'interface': 'tap'}"), "did you mean \"tip\"?"},
        {TRACK("{'body': 'ball', 'part': 'arm'}"), "is one too many beside \"body\""},
        {TRACK("{'part': 'arm', 'interface': 'tip', 'position': [0, 0, 0]}"), "is for bodies"},
        {TRACK("{'body': 'ball', 'nearest': [0, 0, 0]}"), "unknown key \"nearest\""},
        {TRACK("{'body': 'ball'}, {'body': 'ball'}"), "\"ball\" is the name of another tracked frame already"},
        {TRACK("{'body': 'ball', 'weight': -1}"), "retarget.track[0].weight"},
        {TRACK("{'body': 'ball', 'orientation': -1}"), "retarget.track[0].orientation"},
        {TRACK("{'body': 'ball', 'weight': 0}"), "has neither a \"weight\" nor an \"orientation\" above 0"},
        {TRACK("{'body': 'ball', 'curve': 'd'}"), "retarget.track[0].curve"},
        {TRACK("{'body': 'ball', 'curve': 'w'}"), "track[0].curve: is -2 at 1 s; a weight is 0 or more"},
        {LIMIT("{'speed': 1}"), "limits[0]: \"motor\" is missing"},
        {LIMIT("{'motor': 'tern'}"), "did you mean \"turn\"?"},
        {LIMIT("{'motor': 'soft'}"), "limits[0].motor"}, /* the joint; its motor has a name of its own */
        {LIMIT("{'motor': 'turn', 'sped': 1}"), "did you mean \"speed\"?"},
        {LIMIT("{'motor': 'turn', 'speed': 1, 'speed_deg': 60}"), "speed_deg: is one too many beside \"speed\""},
        {LIMIT("{'motor': 'turn', 'acceleration': 1, 'acceleration_deg': 60}"), "beside \"acceleration\""},
        {LIMIT("{'motor': 'turn', 'range': [-1, 1], 'range_deg': [-60, 60]}"), "beside \"range\""},
        {LIMIT("{'motor': 'turn', 'range_deg': [30, -30]}"), "goes from 30 to -30; the first must be the smaller"},
        {LIMIT("{'motor': 'turn', 'range': [1, 1]}"), "goes from 1 to 1"},
        {LIMIT("{'motor': 'turn', 'range': [1]}"), "limits[0].range"},
        {LIMIT("{'motor': 'turn', 'speed': 0}"), "limits[0].speed: must be positive"},
        {LIMIT("{'motor': 'slide', 'speed_deg': 1}"), "speed_deg: is for joints that turn; this one slides"},
        {LIMIT("{'motor': 'slide', 'acceleration_deg': 1}"), "acceleration_deg: is for joints that turn"},
        {LIMIT("{'motor': 'slide', 'range_deg': [0, 1]}"), "range_deg: is for joints that turn; this one slides"},
        {LIMIT("{'motor': 'spring', 'force': 1}"), "is for motors that hold exactly; this one gives way"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_refused_by(read_scene, wrong[i].text, wrong[i].why);
}

static void mangled_files_are_refused_or_read(void **state) {
    (void)state;
    const char *const texts[] = {whole};
    check_mutations(read_scene, texts, 1, 3);
}

static void memory_may_run_out(void **state) {
    (void)state;
    const char *const texts[] = {whole};
    check_failed_allocations(read_scene, texts, 1);
}

static void the_schema_has_the_readers_keys(void **state) {
    (void)state;
    json_t *schema = load_schema(BOUGH_SOURCE_DIR "/docs/multibody.schema.json");
    const json_t *defs = json_object_get(schema, "$defs");
    check_same_keys("retarget", json_object_get(defs, "retarget"), KEYS(BO_RETARGET_KEYS));
    check_same_keys("tracked", json_object_get(defs, "tracked"), KEYS(BO_TRACKED_KEYS));
    check_same_keys("motor_limits", json_object_get(defs, "motor_limits"), KEYS(BO_MOTOR_LIMIT_KEYS));
    json_decref(schema);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_left_out_has_its_default),
                                       cmocka_unit_test(all_keys_are_read),
                                       cmocka_unit_test(mistakes_are_told_in_a_sentence),
                                       cmocka_unit_test(mangled_files_are_refused_or_read),
                                       cmocka_unit_test(memory_may_run_out),
                                       cmocka_unit_test(the_schema_has_the_readers_keys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
