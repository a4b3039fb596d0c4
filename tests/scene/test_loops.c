/* Joints, ties and roots that fly in scene files: what is said reaches the model, copies have their own, and slips are
 * told when the scene is loaded. */
#include "hostile.h"

#include "rig/joint.h"
#include "scene/cook_plan.h"
#include "scene/scene.h"

#define BOX(more)                                                                                                  \
    "{'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.2, 0.1], 'cells': [2, 1, 1]}, 'basis': {'r': 4}, " \
    "'samples': {'wind': 0, 'contact': 0, 'stress': 0}" more "}"
#define COMPONENTS                                                                  \
    "'components': {'arm': " BOX(                                                   \
        ", 'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}") ", " \
                                                                               "'bird': " BOX("") "}"
#define SCENE(parts, more) "{'bough': 1, " COMPONENTS ", 'parts': [" parts "]" more "}"
#define PART(more) \
    SCENE("{'name': 'a', 'component': 'arm'}, {'name': 'b', 'component': 'arm', 'parent': 'a'" more "}", "")
#define ROOT(more) SCENE("{'name': 'a', 'component': 'arm'" more "}", "")
#define PAIR "{'name': 'a', 'component': 'arm'}, {'name': 'b', 'component': 'arm', 'parent': 'a'}"
#define TIE "{'name': 't', 'parts': ['b', 'a'], 'interfaces': ['tip', 'base'], 'stiffness': 100}"
#define TIED(tie) SCENE(PAIR, ", 'ties': [" tie "]")

/* ---- what becomes of it ---- */

static void everything_that_is_said_reaches_the_model(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    built l =
        build(ctx, SCENE("{'name': 'a', 'component': 'arm', 'flies': true, 'velocity': [1, 2, 3], 'locked': true}, "
                         "{'name': 'b', 'component': 'arm', 'parent': 'a', 'offset': [0.5, 0.25, -1], 'joint': "
                         "{'kind': 'hinge', 'axis': [0, 3, 0], 'stiffness': 5, 'damping': 7, 'angle_deg': 90}}, "
                         "{'name': 'c', 'component': 'arm', 'parent': 'b', 'joint': {'kind': 'ball', 'angle_deg': "
                         "[0, 0, 180]}}",
                         ", 'ties': [{'name': 'near', 'parts': ['c', 'a'], 'interfaces': ['tip', 'base'], "
                         "'stiffness': 1, 'damping': 2, 'turning_stiffness': 3, 'turning_damping': 4}, {'parts': "
                         "['c'], 'interfaces': ['base'], 'stiffness': 5}]"));
    const bough_tree_model_def *def = bough_tree_model_describe(l.model);
    const bough_part_def *a = &def->parts[0], *b = &def->parts[1], *c = &def->parts[2];
    check(a->free && a->locked && !b->free && !b->locked && !a->joint);
    check_int(l.rest->root_count, 1);
    check(b->offset[0] == 0.5 && b->offset[1] == 0.25 && b->offset[2] == -1);
    check(b->joint->kind == BOUGH_JOINT_HINGE && bo_joint_axis(b->joint).y == 1 && b->joint->stiffness[0] == 5 &&
          b->joint->damping[0] == 7);
    check_near(b->joint->start[0], M_PI / 2, 1e-15);
    check(c->joint->kind == BOUGH_JOINT_BALL && c->joint->stiffness[0] == 0 && c->joint->start[0] == 0);
    check_near(c->joint->start[2], M_PI, 1e-15);
    check_int(def->tie_count, 2);
    const bough_joint_def *tie = &def->ties[0], *world = &def->ties[1];
    check(!strcmp(tie->name, "near") && tie->kind == BOUGH_JOINT_COMPLIANT);
    check(tie->parent.body == 2 && tie->child.body == 0);
    check(!strcmp(def->components[0]->interfaces[tie->parent.interface_index].name, "tip"));
    check(!strcmp(def->components[0]->interfaces[tie->child.interface_index].name, "base"));
    check(tie->stiffness[2] == 1 && tie->damping[2] == 2 && tie->stiffness[3] == 3 && tie->damping[3] == 4);
    check(world->parent.body == 2 && world->child.body == BOUGH_WORLD);
    check(world->stiffness[0] == 5 && world->damping[0] == 0);
    /* a's tip is at (1, 0.1, 0.05) from the middle of its base; b is there, beside it */
    check_near(l.rest->frames[1].pose.position[0] - l.rest->frames[0].pose.position[0], 1.5, 1e-12);
    check_near(l.rest->frames[1].pose.position[2] - l.rest->frames[0].pose.position[2], -1, 1e-12);
    demolish(ctx, &l);
    bough_context_destroy(ctx);
}

/* A part beside an interface is felt there: a mass m at d is m more at the centre, with a first moment of m d more. */
static void loads_are_where_offsets_have_them(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_inertia loads[2];
    static const char *const texts[] = {PART(""), PART(", 'offset': [0, 2, 3]")};
    for (int i = 0; i < 2; i++) {
        bough_scene *scene;
        check_ok(ctx, load_text(ctx, texts[i], &scene));
        const bough_cook_def *def = &scene->plan->assembly.components[0].job->def;
        int32_t tip = 0;
        while (strcmp(def->interfaces[tip].name, "tip"))
            tip++;
        check(def->interfaces[tip].has_load);
        loads[i] = def->interfaces[tip].load;
        bough_scene_destroy(ctx, scene);
    }
    const double mass = loads[0].mass, d[3] = {0, 2, 3};
    check_near(loads[1].mass, mass, 1e-12 * mass);
    for (int k = 0; k < 3; k++)
        check_near(loads[1].moment[k], loads[0].moment[k] + mass * d[k], 1e-12 * mass);
    bough_context_destroy(ctx);
}

/* A copy that is s times as large: its lowest vibrations are s times as slow, so that springs go with s, and those that
 * turn with s^3. */
static void copies_have_their_own_ties(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const char *const objects[] = {
        "{'bough': 1, " COMPONENTS ", 'objects': {'x': {'parts': [" PAIR "], 'ties': [" TIE "]}}, 'place': [%s]%s}",
        "{'bough': 1, 'objects': {'x': {" COMPONENTS ", 'parts': [" PAIR "], 'ties': [" TIE "]}}, 'place': [%s]%s}",
        "{'bough': 1, 'objects': {'x': {'scene': 'other.json'}}, 'place': [%s]%s}"};
    write_quoted(test_path("other.json"), TIED(TIE));
    for (int kind = 0; kind < 3; kind++) {
        char text[4000];
        snprintf(text, sizeof text, objects[kind],
                 "{'object': 'x', 'name': 'p'}, {'object': 'x', 'name': 'q', 'scale': 2, 'position': [0, 0, 9]}",
                 ", 'ties': [{'parts': ['q/b', 'p/a'], 'interfaces': ['tip', 'tip'], 'stiffness': 3}]");
        built l = build(ctx, text);
        const bough_tree_model_def *def = bough_tree_model_describe(l.model);
        check_int(def->tie_count, 3);
        check(!strcmp(def->ties[0].name, "p/t") && !strcmp(def->ties[1].name, "q/t"));
        for (int i = 0; i < 2; i++) {
            check(def->ties[i].parent.body == bough_tree_model_find_part(l.model, i ? "q/b" : "p/b"));
            check(def->ties[i].child.body == bough_tree_model_find_part(l.model, i ? "q/a" : "p/a"));
            check_near(def->ties[i].stiffness[0], i ? 200 : 100, 1e-12);
        }
        check(def->ties[2].parent.body == bough_tree_model_find_part(l.model, "q/b") &&
              def->ties[2].child.body == bough_tree_model_find_part(l.model, "p/a") && def->ties[2].stiffness[1] == 3);
        demolish(ctx, &l);
    }
    built l = build(ctx, "{'bough': 1, " COMPONENTS
                         ", 'objects': {'x': {'parts': [{'name': 'a', 'component': 'arm'}, {'name': 'b', 'component': "
                         "'arm', 'parent': 'a', 'offset': [1, 2, 3], 'joint': {'kind': 'ball', 'stiffness': 1, "
                         "'damping': 1}}], 'ties': [{'parts': ['b'], 'interfaces': ['tip'], 'stiffness': 1, 'damping': "
                         "1, 'turning_stiffness': 1, 'turning_damping': 1}]}}, 'place': [{'object': 'x', 'name': 'w'}, "
                         "{'object': 'x', 'scale': 2}]}");
    const bough_part_def *b = &bough_tree_model_describe(l.model)->parts[3];
    const bough_joint_def *tie = bough_tree_model_describe(l.model)->ties + 1;
    check(b->offset[0] == 2 && b->offset[2] == 6 && b->joint->stiffness[2] == 8 && b->joint->damping[2] == 16);
    check(tie->parent.body == 3 && tie->child.body == BOUGH_WORLD && tie->stiffness[0] == 2 && tie->damping[0] == 4 &&
          tie->stiffness[5] == 8 && tie->damping[5] == 16);
    demolish(ctx, &l);
    bough_context_destroy(ctx);
}

/* ---- what is refused ---- */

static void check_refused(const char *text, const char *why) {
    check_refused_by(read_scene, text, why);
}

#define OBJECT(more)                                                                                                   \
    "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [3, 0.2, 0.1], 'cells': [6, 1, 1]}, " \
    "'sets': {'a': {'elements': 'x<1.1'}, 'b': {'elements': 'x>0.9'}}, 'fix': 'x0', 'basis': {'r': 4}}" more "}"
#define BALL ", 'joint': {'kind': 'ball'}"

static void wrong_scenes_are_told_in_one_sentence(void **state) {
    (void)state;
    check_refused(PART(", 'joint': {'kind': 'hing'}"), "joint.kind: unknown \"hing\"; did you mean \"hinge\"?");
    check_refused(PART(", 'joint': {}"), "joint: \"kind\" is missing");
    check_refused(PART(", 'joint': 'ball'"), "parts[1].joint: ");
    check_refused(PART(", 'joint': {'kind': 'hinge'}"), "\"axis\" is missing");
    check_refused(PART(", 'joint': {'kind': 'hinge', 'axis': [0, 0, 0]}"), "joint.axis: must have a direction");
    check_refused(PART(", 'joint': {'kind': 'ball', 'axis': [0, 0, 1]}"), "joint.axis: is for a \"hinge\"");
    check_refused(PART(", 'joint': {'kind': 'ball', 'angle_deg': 3}"), "joint.angle_deg: ");
    check_refused(PART(", 'joint': {'kind': 'ball', 'stiffness': -1}"), "joint.stiffness: must not be negative");
    check_refused(PART(", 'joint': {'kind': 'ball', 'stifness': 1}"), "did you mean \"stiffness\"?");
    check_refused(PART(", 'offset': [1, 2]"), "parts[1].offset: ");
    check_refused(PART(", 'flies': true"), "parts[1].flies: is for roots, but this part hangs at \"parent\"");
    check_refused(PART(", 'locked': 1"), "parts[1].locked: must be true or false");
    check_refused(ROOT(BALL), "parts[0].joint: is for parts that hang at a \"parent\"");
    check_refused(ROOT(", 'offset': [0, 0, 1]"), "parts[0].offset: is for parts that hang at a \"parent\"");
    check_refused(ROOT(", 'flies': true, 'fix': 'base'"), "parts[0].fix: is for roots that are held");
    check_refused(ROOT(", 'flies': true, 'track': [{'time': 0}]"), "parts[0].track: is for roots that are held");
    check_refused(ROOT(", 'velocity': [0, 0, 1]"), "say \"flies\": true, or move it by a \"track\"");

    check_refused(TIED("{'parts': ['b', 'c'], 'interfaces': ['tip', 'base'], 'stiffness': 1}"),
                  "ties[0].parts[1]: unknown \"c\"; did you mean");
    check_refused(TIED("{'parts': ['b', 'a'], 'interfaces': ['tip', 'bas'], 'stiffness': 1}"),
                  "ties[0].interfaces[1]: unknown \"bas\"; did you mean \"base\"?");
    check_refused(TIED("{'parts': ['b', 'a'], 'interfaces': ['tip'], 'stiffness': 1}"),
                  "ties[0].interfaces: must name an interface for each of the \"parts\": 2, not 1");
    check_refused(TIED("{'parts': [], 'interfaces': [], 'stiffness': 1}"),
                  "ties[0].parts: must name two parts, or one");
    check_refused(TIED("{'parts': ['a', 'b', 'a'], 'interfaces': ['tip', 'tip', 'tip'], 'stiffness': 1}"),
                  "ties[0].parts: must name two parts, or one that is tied to the world, not 3");
    check_refused(TIED("{'parts': ['a', 'a'], 'interfaces': ['tip', 'base'], 'stiffness': 1}"),
                  "ties[0].parts: would tie a part to itself");
    check_refused(TIED("{'parts': ['b'], 'interfaces': ['tip']}"), "ties[0]: \"stiffness\" is missing");
    check_refused(TIED("{'parts': ['b'], 'interfaces': ['tip'], 'stiffness': -2}"), "ties[0].stiffness: ");
    check_refused(TIED("{'parts': ['b'], 'interfaces': ['tip'], 'stiffness': 1, 'dampin': 3}"),
                  "did you mean \"damping\"?");
    check_refused(TIED("{'interfaces': ['tip'], 'stiffness': 1}"), "\"parts\" is missing");
    check_refused(TIED("{'parts': ['b'], 'stiffness': 1}"), "\"interfaces\" is missing");
    check_refused(TIED(TIE ", " TIE), "ties[1].name: \"t\" is the name of another tie already");
    check_refused(TIED("3"), "ties[0]: ");
    check_refused(SCENE(PAIR, ", 'ties': {}"), "ties: ");
    check_refused(SCENE("", ", 'ties': [" TIE "]"), "ties: the scene has no parts");
    check_refused(SCENE("{'name': 'a', 'component': 'bird'}",
                        ", 'ties': [{'parts': ['a'], 'interfaces': ['tip'], 'stiffness': 1}]"),
                  "the component \"bird\" has no interfaces");
    check_refused("{'bough': 1, " COMPONENTS ", 'objects': {'x': {'parts': [" PAIR "], 'ties': [" TIE
                  "]}}, 'place': [{'object': 'x', 'copies': 513, 'spacing': [0, 3, 0]}]}",
                  "the copies would have 513 ties; 512 is the limit of a scene");
    /* engines that know neither */
    check_refused(SCENE(PAIR, ", 'ties': [" TIE "], 'engine': {'coupling': 'L1'}"),
                  "engine.coupling: joints and ties need the exact coupling, \"L3\"");
    check_refused(SCENE("{'name': 'a', 'component': 'arm'}, {'name': 'b', 'component': 'arm', 'parent': 'a'" BALL "}",
                        ", 'engine': {'coupling': 'L2R'}"),
                  "engine.coupling: joints and ties need the exact coupling, \"L3\"");
    check_refused(OBJECT(", 'ties': [{'parts': ['b'], 'interfaces': ['a'], 'stiffness': 1}], 'engine': {'kind': "
                         "'full'}"),
                  "engine.kind: the full engine steps the mesh as it is, and knows no \"ties\"");
}

static void too_many_ties_are_refused(void **state) {
    (void)state;
    static char text[200000];
    size_t used = (size_t)snprintf(text, sizeof text, "{'bough': 1, " COMPONENTS ", 'parts': [" PAIR "], 'ties': [");
    for (int i = 0; i < 513; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%s{'parts': ['b'], 'interfaces': ['tip'], 'stiffness': 1}", i ? ", " : "");
    snprintf(text + used, sizeof text - used, "]}");
    check_refused(text, "ties: the scene has more than 512 ties");
}

/* The domains of an object can be tied, and the tree then runs by itself only. */
static void objects_can_be_tied_too(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    built l = build(ctx, OBJECT(", 'ties': [{'parts': ['b'], 'interfaces': ['a'], 'stiffness': 1}]"));
    check_int(bough_tree_model_describe(l.model)->tie_count, 1);
    check_fails(ctx, bo_scene_make_whole(ctx, l.scene, &(bo_whole *){NULL}), BOUGH_ERROR_UNSUPPORTED,
                "knows no \"ties\"");
    demolish(ctx, &l);
    bough_context_destroy(ctx);
}

/* ---- hostile input ---- */

static const char *const everything =
    "{'bough': 1, " COMPONENTS ", 'objects': {'x': {'parts': [{'name': 'a', 'component': 'arm', 'flies': true}, "
    "{'name': 'b', 'component': 'arm', 'parent': 'a', 'offset': [1, 2, 3], 'joint': {'kind': 'hinge', 'axis': [1, 0, "
    "0], 'angle_deg': 3}, 'locked': true}], 'ties': [" TIE "]}}, 'place': [{'object': 'x', 'copies': 3, 'spacing': "
    "[0, 1, 0]}], 'ties': [{'name': 'more', 'parts': ['x1/a', 'x2/b'], 'interfaces': ['tip', 'base'], 'stiffness': 3, "
    "'turning_stiffness': 2}, {'parts': ['x3/a'], 'interfaces': ['base'], 'stiffness': 3}]}";

static void mutations_do_no_harm(void **state) {
    (void)state;
    check_mutations(read_scene, &everything, 1, 2);
}

static void failed_allocations_leak_nothing(void **state) {
    (void)state;
    check_failed_allocations(read_scene, &everything, 1);
}

/* Three planks between two banks: tied at the far end they sag less than they would without, and hardly move there. */
static void the_example_works(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    built l = build(ctx, example_of_docs("### Ties"));
    double end[2][3];
    for (int tied = 0; tied < 2; tied++) {
        double v[3];
        l.rest->tie_strength[0] = tied;
        check_ok(ctx, bough_tree_state_settle(ctx, l.model, l.rest, NULL, NULL));
        const bough_component *c = bough_tree_model_describe(l.model)->components[0];
        int32_t last = 0;
        for (int32_t i = 0; i < c->surface.vertex_count; i++)
            last = c->surface.position[3 * i] > c->surface.position[3 * last] ? i : last;
        check_ok(ctx, bough_tree_state_vertex(ctx, l.model, l.rest, 2, last, end[tied], v));
    }
    check(end[0][2] < -0.5 && fabs(end[1][2]) < 0.06);
    demolish(ctx, &l);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_that_is_said_reaches_the_model),
        cmocka_unit_test(loads_are_where_offsets_have_them),
        cmocka_unit_test(copies_have_their_own_ties),
        cmocka_unit_test(wrong_scenes_are_told_in_one_sentence),
        cmocka_unit_test(too_many_ties_are_refused),
        cmocka_unit_test(objects_can_be_tied_too),
        cmocka_unit_test(mutations_do_no_harm),
        cmocka_unit_test(failed_allocations_leak_nothing),
        cmocka_unit_test(the_example_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
