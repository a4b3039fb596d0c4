/* "events", "break", "remove_below" and the curve of the wind: what is read, and what is refused. */
#include "hostile.h"

#include "scene/cook_plan.h"
#include "scene/scene.h"

#define BOX(more)                                                                                                  \
    "{'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.2, 0.1], 'cells': [2, 1, 1]}, 'basis': {'r': 4}, " \
    "'samples': {'wind': 0, 'contact': 0, 'stress': 0}" more "}"
#define ARM BOX(", 'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1'}, 'side': {'select': 'y1'}}")
#define LEAF BOX(", 'interfaces': {'base': {'select': 'x0'}}")
#define SCENE(more)                                                                                                    \
    "{'bough': 1, 'components': {'arm': " ARM ", 'leaf': " LEAF "}, 'parts': [{'name': 'stem', 'component': 'arm'}, "  \
    "{'name': 'leaf1', 'component': 'leaf', 'parent': 'stem', 'interface': 'tip'}, {'name': 'leaf2', 'component': "    \
    "'leaf', 'parent': 'stem', 'interface': 'side'}, {'name': 'seed', 'component': 'leaf', 'absent': true, 'position'" \
    ": [1, 2, 3]}], 'curves': {'up': [[0, 0], [2, 1]], 'down': [[0, 1], [1, -1]]}" more "}"
#define EVENTS(list) SCENE(", 'events': [" list "]")
#define TIES                                                                                                           \
    ", 'ties': [{'parts': ['leaf1'], 'interfaces': ['base'], 'stiffness': 1}, {'name': 'string1', 'parts': ['leaf1', " \
    "'leaf2'], 'interfaces': ['base', 'base'], 'stiffness': 1}, {'name': 'string2', 'parts': ['leaf2'], "              \
    "'interfaces': ['base'], 'stiffness': 1}]"
#define TIED(more) SCENE(TIES more)
#define TRACKED(list)                                                                                              \
    "{'bough': 1, 'components': {'arm': " ARM "}, 'parts': [{'name': 'cart', 'component': 'arm', 'absent': true, " \
    "'track': [{'time': 0}, {'time': 1, 'position': [1, 0, 0]}]}], 'events': [" list "]}"

static void everything_that_is_said_is_read(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    check_ok(ctx, load_text(ctx,
                            SCENE(", 'wind': {'velocity': [3, 0, 0], 'gust': 0.2, 'curve': 'up'}, 'events': [{'time': "
                                  "3, 'wind': {'velocity': [0, 9, 0]}}, {'time': 2, 'attach': 'leaf1', 'parent': "
                                  "'stem', 'interface': 'side'}, {'time': 1, 'detach': 'leaf*'}, {'time': 1, 'add': "
                                  "'seed', 'position': [4, 5, 6], 'rotate_deg': [0, 90, 0], 'velocity': [7, 0, 0]}, "
                                  "{'time': 4, 'wind': {'gust': 0.7}}, {'time': 2, 'attach': 'leaf2'}], 'break': "
                                  "[{'parts': '*', 'stress': 5}, {'component': 'leaf', 'parts': 'leaf?', 'stress': 2, "
                                  "'lock': true}], 'remove_below': -4"),
                            &scene));
    check_int(scene->tree.event_count, 6);
    const bo_tree_event *e = scene->tree.events;
    check(e[0].kind == BOUGH_CHANGE_DETACH && e[0].part_count == 2 && e[0].parts[0] == 1 && e[0].parts[1] == 2);
    check(e[1].kind == BOUGH_CHANGE_ADD && e[1].placed && e[1].frame.pose.position[1] == 5 &&
          e[1].frame.velocity[0] == 7);
    check_near(e[1].frame.pose.rotation[2], 1, 1e-15);
    check(e[2].kind == BOUGH_CHANGE_ATTACH && e[2].parts[0] == 1 && e[2].parent == 0);
    check(!strcmp(scene->plan->assembly.components[0].rigid->interfaces[e[2].interface_index].name, "side"));
    check(e[3].kind == BOUGH_CHANGE_ATTACH && e[3].parent == -1);
    check(e[4].kind == BO_EVENT_WIND && e[4].wind.velocity[0] == 0 && e[4].wind.velocity[1] == 9 &&
          e[4].wind.gust == 0.2);
    check(e[5].kind == BO_EVENT_WIND && e[5].wind.velocity[1] == 9 &&
          e[5].wind.gust == 0.7); /* what it does not say stays */
    for (int i = 1; i < 6; i++)
        check(e[i].time >= e[i - 1].time);
    check(scene->tree.strength[0].stress == 5 && !scene->tree.strength[0].lock && scene->tree.strength[3].stress == 5);
    check(scene->tree.strength[1].stress == 2 && scene->tree.strength[1].lock && scene->tree.strength[2].stress == 2);
    check(scene->tree.remove_below == -4 && scene->tree.wind_curve == 0);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* By patterns of names; those without a name are never chosen. The last rule counts. */
static void what_is_said_of_ties_is_read(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    check_ok(ctx, load_text(ctx,
                            TIED(", 'events': [{'time': 2, 'join_tie': 'string2'}, {'time': 1, 'cut_tie': '*'}], "
                                 "'break': [{'ties': '*', 'force': 5}, {'ties': '*2', 'torque': 3}]"),
                            &scene));
    const bo_tree_event *e = scene->tree.events;
    check(e[0].kind == BO_EVENT_CUT_TIE && e[0].tie_count == 2 && e[0].ties[0] == 1 && e[0].ties[1] == 2);
    check(e[1].kind == BO_EVENT_JOIN_TIE && e[1].tie_count == 1 && e[1].ties[0] == 2 && e[1].part_count == 0);
    const bo_tie_strength *s = scene->tree.tie_strength;
    check(s[0].force == INFINITY && s[0].torque == INFINITY);
    check(s[1].force == 5 && s[1].torque == INFINITY);
    check(s[2].force == INFINITY && s[2].torque == 3);
    check(!scene->tree.strength);
    bough_scene_destroy(ctx, scene);
    /* those of copies have their names */
    check_ok(ctx, load_text(ctx,
                            "{'bough': 1, 'components': {'arm': " ARM
                            "}, 'objects': {'x': {'parts': [{'name': 'a', 'component': 'arm'}], 'ties': [{'name': 't', "
                            "'parts': ['a'], 'interfaces': ['tip'], 'stiffness': 1}]}}, 'place': [{'object': 'x', "
                            "'copies': 3, 'spacing': [0, 3, 0]}], 'events': [{'time': 1, 'cut_tie': '*2/t'}]}",
                            &scene));
    check(scene->tree.events[0].tie_count == 1 && scene->tree.events[0].ties[0] == 1);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

static void check_refused(const char *text, const char *why) {
    check_refused_by(read_scene, text, why);
}

static void mistakes_are_named(void **state) {
    (void)state;
    check_refused(EVENTS("{'detach': 'leaf1'}"), "events[0]: \"time\" is missing");
    check_refused(EVENTS("{'time': -1, 'detach': 'leaf1'}"), "events[0].time: must not be negative");
    check_refused(EVENTS("{'time': 1}"), "events[0]: nothing happens");
    check_refused(EVENTS("{'time': 1, 'lock': 'stem', 'detach': 'leaf1'}"), "make it an event of its own");
    check_refused(EVENTS("{'time': 1, 'detatch': 'leaf1'}"), "did you mean \"detach\"?");
    check_refused(EVENTS("{'time': 1, 'detach': 'lief1'}"), "did you mean \"leaf1\"?");
    check_refused(EVENTS("{'time': 1, 'detach': 'leaf1'}, {'time': 2, 'lock': 'lief1'}"),
                  ": events[1].lock: unknown part \"lief1\"; did you mean \"leaf1\"?");
    check_refused(EVENTS("{'time': 1, 'detach': 'loaf*'}"), "did you mean \"leaf*\"?");
    check_refused(EVENTS("{'time': 1, 'detach': 'zzzzzzz*'}"), "there are stem*, leaf*, seed*");
    check_refused(EVENTS("{'time': 1, 'detach': 3}"), "events[0].detach: ");
    check_refused(EVENTS("{'time': 1, 'detach': 'leaf1', 'parent': 'stem'}"), "is for events that \"attach\" a part");
    check_refused(EVENTS("{'time': 1, 'lock': 'leaf1', 'velocity': [1, 0, 0]}"), "is for events that \"add\" one");
    check_refused(EVENTS("{'time': 1, 'attach': 'leaf1', 'interface': 'tip'}"), "\"parent\" is missing");
    check_refused(EVENTS("{'time': 1, 'attach': 'leaf1', 'parent': 'stam', 'interface': 'tip'}"),
                  "did you mean \"stem\"?");
    check_refused(EVENTS("{'time': 1, 'attach': 'leaf1', 'parent': 'stem', 'interface': 'tap'}"),
                  "did you mean \"tip\"?");
    check_refused(EVENTS("{'time': 1, 'attach': 'leaf1', 'parent': 'stem'}"), "\"interface\" is missing");
    check_refused(EVENTS("{'time': 1, 'attach': '*', 'parent': 'stem', 'interface': 'tip'}"), "to itself");
    check_refused(EVENTS("{'time': 1, 'add': '*', 'position': [0, 0, 0]}"), "puts 4 parts into one place");
    check_refused(TRACKED("{'time': 1, 'add': 'cart', 'position': [0, 0, 0]}"),
                  "events[0].position: \"cart\" goes where");
    check_refused(TRACKED("{'time': 1, 'add': 'cart', 'rotate_deg': [0, 0, 0]}"),
                  "events[0].rotate_deg: \"cart\" goes");
    check_refused(EVENTS("{'time': 1, 'wind': {'curve': 'up'}}"), "events[0].wind: unknown key \"curve\"");
    check_refused(EVENTS("{'time': 1, 'wind': {'length': 0}}"), "events[0].wind.length: must be positive");
    check_refused(TIED(", 'events': [{'time': 1, 'cut_tie': 'strin1'}]"),
                  "events[0].cut_tie: unknown tie \"strin1\"; did you mean \"string1\"?");
    check_refused(TIED(", 'events': [{'time': 1, 'join_tie': 'strng*'}]"), "did you mean \"string*\"?");
    check_refused(TIED(", 'events': [{'time': 1, 'cut_ties': '*'}]"), "did you mean \"cut_tie\"?");
    check_refused(TIED(", 'events': [{'time': 1, 'cut_tie': 2}]"), "events[0].cut_tie: ");
    check_refused(TIED(", 'events': [{'time': 1, 'cut_tie': null}]"), "events[0].cut_tie: ");
    check_refused(TIED(", 'events': [{'time': 1, 'cut_tie': '*', 'join_tie': '*'}]"), "make it an event of its own");
    check_refused(TIED(", 'events': [{'time': 1, 'cut_tie': '*', 'parent': 'stem'}]"), "is for events that");
    check_refused(EVENTS("{'time': 1, 'cut_tie': '*'}"), "there is no tie with a \"name\" in the scene");
    check_refused(SCENE(", 'ties': [{'parts': ['leaf1'], 'interfaces': ['base'], 'stiffness': 1}], 'events': [{'time': "
                        "1, 'cut_tie': '*'}]"),
                  "there is no tie with a \"name\" in the scene");
    check_refused(TIED(", 'break': [{'ties': '*'}]"), "break[0]: needs \"force\" or \"torque\"");
    check_refused(TIED(", 'break': [{'ties': 'rope', 'force': 1}]"), "break[0].ties: unknown tie \"rope\"");
    check_refused(TIED(", 'break': [{'ties': '*', 'force': 0}]"), "break[0].force: must be positive");
    check_refused(TIED(", 'break': [{'ties': '*', 'torque': -1}]"), "break[0].torque: must be positive");
    check_refused(TIED(", 'break': [{'ties': '*', 'stress': 1}]"), "break[0].stress: is for rules of parts");
    check_refused(TIED(", 'break': [{'parts': '*', 'force': 1}]"), "break[0].force: is for rules of \"ties\"");
    check_refused(SCENE(", 'break': [{'ties': '*', 'force': 1}]"), "there is no tie with a \"name\" in the scene");
    check_refused(SCENE(", 'break': [7]"), "break[0]: ");
    check_refused(SCENE(", 'events': {}"), "events: ");
    check_refused(SCENE(", 'break': [{'stress': 1}]"), "break[0]: needs \"parts\", \"component\" or \"ties\"");
    check_refused(SCENE(", 'break': [{'parts': '*'}]"), "break[0]: \"stress\" is missing");
    check_refused(SCENE(", 'break': [{'parts': '*', 'stress': 0}]"), "break[0].stress: must be positive");
    check_refused(SCENE(", 'break': [{'component': 'laef', 'stress': 1}]"), "did you mean \"leaf\"?");
    check_refused(SCENE(", 'break': [{'parts': 'stem', 'component': 'leaf', 'stress': 1}]"), "nothing breaks");
    check_refused(SCENE(", 'wind': {'velocity': [1, 0, 0], 'curve': 'down'}"), "must not be negative");
    check_refused(SCENE(", 'wind': {'velocity': [1, 0, 0], 'curve': 'upp'}"), "did you mean \"up\"?");
    check_refused(SCENE(", 'remove_below': 'ground'"), "remove_below: ");
    check_refused("{'bough': 1, 'components': {'arm': " ARM "}, 'events': [{'time': 1, 'detach': '*'}]}",
                  "the scene has no parts");
}

static const char *const everything[] = {SCENE(
    TIES ", 'wind': {'velocity': [3, 0, 0], 'curve': 'up'}, 'events': [{'time': 2, 'attach': 'leaf1', 'parent': "
         "'stem', 'interface': 'side'}, {'time': 1, 'cut_tie': 'string*'}, {'time': 1, 'add': 'seed', 'position': "
         "[4, 5, 6], 'rotate_deg': [0, 90, 0]}, {'time': 3, 'join_tie': 'string1'}, {'time': 4, 'wind': {'gust': "
         "0.7}}], 'break': [{'parts': '*', 'stress': 5}, {'ties': 'string?', 'force': 2, 'torque': 3}], "
         "'remove_below': -4")};

static void mutations_do_no_harm(void **state) {
    (void)state;
    check_mutations(read_scene, everything, 1, 2);
}

static void failed_allocations_leak_nothing(void **state) {
    (void)state;
    check_failed_allocations(read_scene, everything, 1);
}

static void the_example_of_the_docs_works(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    test_write_text(test_path("docs.json"), example_of_docs("### Events"));
    check_ok(ctx, bough_scene_load(ctx, test_path("docs.json"), &scene));
    check_int(scene->tree.event_count, 5);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_that_is_said_is_read),
        cmocka_unit_test(what_is_said_of_ties_is_read),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(mutations_do_no_harm),
        cmocka_unit_test(failed_allocations_leak_nothing),
        cmocka_unit_test(the_example_of_the_docs_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
