/* Several objects in one scene: copies are the object moved, components are there once; and paint over all of it. */
#include "hostile.h"

#include "scene/cook_plan.h"
#include "scene/scene.h"

#define BOX(more)                                                                                                  \
    "{'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.2, 0.1], 'cells': [2, 1, 1]}, 'basis': {'r': 4}, " \
    "'samples': {'wind': 0, 'contact': 0, 'stress': 0}" more "}"
#define ARM BOX(", 'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}")
#define LEAF BOX(", 'damping': {'stiffness': 0.001}, 'interfaces': {'base': {'select': 'x0'}}")
#define COMPONENTS "'components': {'arm': " ARM ", 'leaf': " LEAF "}"
#define PARTS                                                                                                      \
    "'parts': [{'name': 'leaf1', 'component': 'leaf', 'parent': 'stem', 'rotate_deg': [10, 20, 30], 'scale': 2}, " \
    "{'name': 'stem', 'component': 'arm', 'position': [1, 2, 3], 'rotate_deg': [0, 40, 0]}]"
#define MESH                                                                                                        \
    "'mesh': {'generate': 'box', 'type': 'hex8', 'origin': [5, 6, 7], 'size': [3, 0.2, 0.1], 'cells': [6, 2, 2]}, " \
    "'sets': {'a': {'elements': 'x<6.1'}, 'b': {'elements': 'x>5.9'}}, 'fix': 'x0', 'basis': {'r': 4}, 'samples': " \
    "{'wind': 0, 'contact': 0, 'stress': 0}"
#define SCENE(objects, more) "{'bough': 1, 'objects': {" objects "}" more "}"
#define SHARED(objects, more) "{'bough': 1, " COMPONENTS ", 'objects': {" objects "}" more "}"
#define BUSH "'bush': {" PARTS "}"

static int32_t part_named(const bough_tree_model *model, const char *name) {
    int32_t part = bough_tree_model_find_part(model, name);
    if (part < 0)
        fail_msg("there is no part %s", name);
    return part;
}

/* ---- places ---- */

/* The frame of `copy` is that of `one`, turned, grown and moved. */
static void check_moved(const bough_frame *copy, const bough_frame *one, const double degrees[3], double scale,
                        const double position[3]) {
    bo_mat3 R = bo_turn_degrees(degrees), own;
    memcpy(own.m, one->pose.rotation, sizeof own.m);
    own = bo_mat_mul(R, own);
    double origin[3];
    bo_store3(origin, bo_mul_add(bo_load3(position), scale, bo_mat_vec(R, bo_load3(one->pose.position))));
    for (int d = 0; d < 3; d++)
        check_near(copy->pose.position[d], origin[d], 1e-12);
    for (int d = 0; d < 9; d++)
        check_near(copy->pose.rotation[d], own.m[d], 1e-12);
}

/* Each kind of object has the same frames as a scene of it alone. */
static void copies_are_the_object_moved(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const char *const alone[] = {"{'bough': 1, " COMPONENTS ", " PARTS "}",
                                        "{'bough': 1, 'object': {" MESH "}}"};
    static const char *const objects[] = {"'x': {" COMPONENTS ", " PARTS "}", "'x': {" MESH "}",
                                          "'x': {'scene': 'other.json'}", "'x': {'scene': 'other.json'}"};
    const double degrees[3] = {10, -70, 130}, position[3] = {-3, 4, 11}, none[3] = {0, 0, 0};
    for (int kind = 0; kind < 4; kind++) {
        char text[4000];
        write_quoted(test_path("other.json"), alone[kind % 2]);
        built one = build(ctx, alone[kind % 2]);
        snprintf(text, sizeof text,
                 "{'bough': 1, 'objects': {%s}, 'place': [{'object': 'x', 'position': [-3, 4, 11], 'rotate_deg': "
                 "[10, -70, 130], 'scale': 1.5}, {'object': 'x', 'name': 'y'}]}",
                 objects[kind]);
        built two = build(ctx, text);
        check_int(bough_tree_model_part_count(two.model), 4);
        check_int(bough_tree_model_describe(two.model)->component_count, 2);
        for (int p = 0; p < 2; p++) {
            char name[64];
            const bough_part_def *def = &bough_tree_model_describe(one.model)->parts[p];
            snprintf(name, sizeof name, "x/%s", def->name);
            const int32_t first = part_named(two.model, name);
            snprintf(name, sizeof name, "y/%s", def->name);
            const int32_t second = part_named(two.model, name);
            check_moved(&two.rest->frames[first], &one.rest->frames[p], degrees, 1.5, position);
            check_moved(&two.rest->frames[second], &one.rest->frames[p], none, 1, none);
            check_near(bough_tree_model_describe(two.model)->parts[first].scale, 1.5 * def->scale, 1e-15);
            check(bough_tree_model_describe(two.model)->parts[second].component ==
                  bough_tree_model_describe(two.model)->parts[first].component);
        }
        demolish(ctx, &two);
        demolish(ctx, &one);
    }
    bough_context_destroy(ctx);
}

static void copies_stand_in_rows_and_grids(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    built g = build(ctx, SHARED(BUSH, ", 'place': [{'object': 'bush', 'name': 'row', 'copies': 3, 'spacing': [1, 2, "
                                      "3]}, {'object': 'bush', 'name': 'grid', 'position': [0, 0, 100], 'copies': [2, "
                                      "3, 1], 'spacing': [10, 20, 5]}, {'object': 'bush', 'name': 'row'}]"));
    check_int(bough_tree_model_part_count(g.model), 20);
    for (int k = 0; k < 3; k++) {
        char name[32];
        snprintf(name, sizeof name, "row%d/stem", k + 1);
        const double *x = g.rest->frames[part_named(g.model, name)].pose.position;
        for (int d = 0; d < 3; d++)
            check_near(x[d], 1 + d + k * (1 + d), 1e-12);
    }
    for (int k = 0; k < 6; k++) {
        char name[32];
        snprintf(name, sizeof name, "grid%d/stem", k + 1);
        const double *x = g.rest->frames[part_named(g.model, name)].pose.position;
        check_near(x[0], 1 + 10 * (k % 2), 1e-12);
        check_near(x[1], 2 + 20 * (k / 2), 1e-12);
        check_near(x[2], 103, 1e-12);
    }
    check_near(g.rest->frames[part_named(g.model, "row4/stem")].pose.position[0], 1, 1e-12);
    const int32_t leaf = part_named(g.model, "grid5/leaf1");
    check_int(bough_tree_model_describe(g.model)->parts[leaf].parent, part_named(g.model, "grid5/stem"));
    demolish(ctx, &g);
    bough_context_destroy(ctx);
}

/* A track is led where the object stands. */
static void tracks_are_placed(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    built g = build(ctx, SHARED("'bush': {'parts': [{'name': 'stem', 'component': 'arm', 'track': [{'time': 0, "
                                "'position': [1, 0, 0]}, {'time': 1, 'position': [1, 0, 2], 'rotate_deg': [0, 90, "
                                "0]}]}]}",
                                ", 'place': [{'object': 'bush', 'position': [5, 0, 0], 'rotate_deg': [0, 0, 90], "
                                "'scale': 3}]"));
    const bough_track *track = &bough_tree_model_describe(g.model)->parts[0].track;
    const double places[2][3] = {{5, 3, 0}, {5, 3, 6}}, both[3] = {0, 90, 90};
    for (int k = 0; k < 6; k++)
        check_near(track->position[k], places[k / 3][k % 3], 1e-12);
    const double *q = track->rotation + 4;
    bo_mat3 R = bo_quat_to_matrix((bo_quat){q[0], q[1], q[2], q[3]}), expected = bo_turn_degrees(both);
    for (int d = 0; d < 9; d++)
        check_near(R.m[d], expected.m[d], 1e-12);
    demolish(ctx, &g);
    bough_context_destroy(ctx);
}

/* A root that flies sets out in the direction in which the object was turned. */
static void flights_are_placed(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    check_ok(ctx, load_text(ctx,
                            SHARED("'kite': {'parts': [{'name': 'sail', 'component': 'arm', 'flies': true, 'velocity': "
                                   "[1, 0, 0], 'angular_velocity': [0, 0, 2]}]}",
                                   ", 'place': [{'object': 'kite', 'name': 'a'}, {'object': 'kite', 'name': 'b', "
                                   "'rotate_deg': [0, 90, 0], 'scale': 3}]"),
                            &scene));
    const bo_part *parts = scene->plan->assembly.parts;
    const double set_out[2][6] = {{1, 0, 0, 0, 0, 2}, {0, 0, -3, 2, 0, 0}};
    for (int i = 0; i < 2; i++)
        for (int d = 0; d < 3; d++) {
            check_near(parts[i].velocity[d], set_out[i][d], 1e-12);
            check_near(parts[i].angular_velocity[d], set_out[i][3 + d], 1e-12);
        }
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* Damping ratios are the same in copies of any size, and what is absent in an object is so in its copies. */
static void copies_are_damped_alike(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    built g = build(ctx, SHARED("'bush': {'parts': [{'name': 'stem', 'component': 'arm', 'damping': {'mass': 2, "
                                "'stiffness': 0.01}}, {'name': 'spare', 'component': 'arm', 'absent': true}]}",
                                ", 'place': [{'object': 'bush', 'name': 'a'}, {'object': 'bush', 'name': 'b', 'scale': "
                                "3, 'position': [9, 0, 0]}]"));
    double hz[4], by_mass[2], by_stiffness[2];
    check_ok(ctx, bough_tree_state_lowest_frequencies(ctx, g.model, g.rest, hz));
    for (int i = 0; i < 2; i++) {
        by_mass[i] = g.rest->damping_mass[2 * i] / hz[2 * i];
        by_stiffness[i] = g.rest->damping_stiffness[2 * i] * hz[2 * i];
        check(!bough_tree_model_describe(g.model)->parts[2 * i].absent);
        check(bough_tree_model_describe(g.model)->parts[2 * i + 1].absent);
    }
    check(g.rest->damping_mass[0] == 2);
    check_near(hz[2], hz[0] / 3, 1e-9 * hz[0]);
    check_near(by_mass[1], by_mass[0], 1e-9 * by_mass[0]);
    check_near(by_stiffness[1], by_stiffness[0], 1e-9 * by_stiffness[0]);
    demolish(ctx, &g);
    bough_context_destroy(ctx);
}

/* ---- components ---- */

static void hashes_of(bough_context *ctx, const char *text, int32_t count, uint64_t *hashes) {
    bough_scene *scene;
    check_ok(ctx, load_text(ctx, text, &scene));
    check_int(scene->plan->item_count, count);
    for (int32_t i = 0; i < count; i++)
        hashes[i] = scene->plan->items[i].job->def.input_hash;
    bough_scene_destroy(ctx, scene);
}

/* However many copies there are, and the same as of the scene alone. */
static void components_do_not_know_of_copies(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    uint64_t alone[2], one[2], many[4];
    hashes_of(ctx, "{'bough': 1, " COMPONENTS ", " PARTS "}", 2, alone);
    hashes_of(ctx, SHARED(BUSH, ""), 2, one);
    hashes_of(ctx,
              SHARED(BUSH, ", 'place': [{'object': 'bush', 'copies': 7, 'spacing': [1, 0, 0]}, {'object': 'bush', "
                           "'scale': 3.3, 'name': 'b'}]"),
              2, many);
    for (int i = 0; i < 2; i++)
        check(alone[i] == one[i] && one[i] == many[i]);
    /* what several objects share carries the mean of what all of them hang there */
    bough_scene *scene;
    check_ok(ctx,
             load_text(ctx, SHARED(BUSH ", 'post': {'parts': [{'name': 'stem', 'component': 'arm'}]}", ""), &scene));
    const bough_interface_def *tip = &scene->plan->items[0].job->def.interfaces[1];
    check(tip->has_load);
    check_near(tip->load.mass, 0.5 * 8 * scene->plan->assembly.components[1].rigid->mass, 1e-9);
    bough_scene_destroy(ctx, scene);
    /* own ones have the object's name */
    check_ok(ctx, load_text(ctx, SHARED(BUSH ", 'rock': {" MESH "}", ""), &scene));
    check_int(scene->plan->item_count, 4);
    check(!strcmp(scene->plan->items[3].shown.name, "rock/b"));
    check(strstr(scene->plan->items[3].output, "rock_b.bough") != NULL);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* A checkpoint belongs to all files of a scene. */
static void other_files_count(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *text = SCENE("'x': {'scene': 'other.json'}", "");
    uint64_t hashes[3];
    for (int k = 0; k < 3; k++) {
        bough_scene *scene;
        write_quoted(test_path("other.json"),
                     k == 2 ? "{'bough': 1, " COMPONENTS ", 'parts': [{'name': 'stem', 'component': 'arm', 'position': "
                              "[0, 0, 1]}]}"
                            : "{'bough': 1, " COMPONENTS ", 'parts': [{'name': 'stem', 'component': 'arm'}]}");
        check_ok(ctx, load_text(ctx, text, &scene));
        hashes[k] = scene->hash;
        bough_scene_destroy(ctx, scene);
    }
    check(hashes[0] == hashes[1] && hashes[1] != hashes[2]);
    bough_context_destroy(ctx);
}

/* ---- paint ---- */

static void patterns_match(void **state) {
    (void)state;
    check(bo_glob_matches("leaf*", "leaf") && bo_glob_matches("leaf*", "leaf17") && !bo_glob_matches("leaf*", "lea"));
    check(bo_glob_matches("*", "") && bo_glob_matches("*/leaf?", "oak3/leaf1") && !bo_glob_matches("leaf?", "leaf"));
    check(bo_glob_matches("*a*b", "xaxbxab") && !bo_glob_matches("*a*b", "xaxbxa") && bo_glob_matches("a**", "a"));
    check(!bo_glob_matches("", "a") && bo_glob_matches("", "") && !bo_glob_matches("a", "ab"));
    char text[2001], pattern[1001]; /* which would take ages, were every star tried with every other */
    memset(text, 'a', sizeof text - 1), text[2000] = 0;
    for (int i = 0; i < 1000; i++)
        pattern[i] = i % 2 ? 'a' : '*';
    pattern[999] = 'b', pattern[1000] = 0;
    check(!bo_glob_matches(pattern, text));
}

static void paint_goes_over_parts(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    built g = build(ctx, SHARED("'bush': {'parts': [{'name': 'stem', 'component': 'arm', 'stiffness': 2}, {'name': "
                                "'leaf1', 'component': 'leaf', 'parent': 'stem', 'damping_ratio': 0.1}]}",
                                ", 'place': [{'object': 'bush', 'copies': 3, 'spacing': [1, 0, 0]}], 'curves': {'dry': "
                                "[[0, 0.5], [1, 2]]}, 'paint': [{'parts': '*', 'stiffness': 3, 'damping_ratio': 0.02}, "
                                "{'component': 'leaf', 'stiffness': 0.7}, {'parts': 'bush2/*', 'component': 'arm', "
                                "'damping_ratio': 0.03}, {'parts': 'bush3/leaf?', 'stiffness': 4, 'curve': 'dry'}, "
                                "{'parts': 'bush1/stem', 'curve': 'dry'}, {'parts': 'bush1/stem', 'stiffness': 5}]"));
    const bough_part_def *parts = bough_tree_model_describe(g.model)->parts;
    const double stiffness[6] = {10, 0.7, 6, 0.7, 6, 2}, ratio[6] = {0.02, 0.02, 0.03, 0.02, 0.02, 0.02};
    double hz[6];
    check_ok(ctx, bough_tree_state_lowest_frequencies(ctx, g.model, g.rest, hz));
    for (int p = 0; p < 6; p++) {
        check_near(parts[p].stiffness, stiffness[p], 1e-15);
        check_near(parts[p].damping_stiffness * M_PI * hz[p], ratio[p], 1e-12); /* z = b w / 2 */
        check(parts[p].damping_mass == 0);
    }
    check_int(g.scene->tree.painted_count, 1); /* a later entry without a curve covers one with */
    check(g.scene->tree.painted[0].part == 5 && g.scene->tree.painted[0].stiffness == 4);
    demolish(ctx, &g);
    /* domains by their labels; paint of an object's own file */
    write_quoted(test_path("other.json"),
                 "{'bough': 1, 'object': {" MESH "}, 'paint': [{'parts': 'b', 'stiffness': 2}, "
                 "{'component': 'a', 'damping_ratio': 0.25}]}");
    g = build(ctx, SCENE("'x': {'scene': 'other.json'}", ", 'paint': [{'component': 'x/*', 'stiffness': 3}]"));
    check_ok(ctx, bough_tree_state_lowest_frequencies(ctx, g.model, g.rest, hz));
    parts = bough_tree_model_describe(g.model)->parts;
    check(parts[0].stiffness == 3 && parts[1].stiffness == 6);
    check_near(parts[0].damping_stiffness * M_PI * hz[0], 0.25, 1e-12);
    check(parts[1].damping_stiffness == 0);
    demolish(ctx, &g);
    bough_context_destroy(ctx);
}

/* ---- what is wrong ---- */

static void check_refused(const char *text, const char *why) {
    check_refused_by(read_scene, text, why);
}

static void wrong_scenes_are_told_in_one_sentence(void **state) {
    (void)state;
#define PLACE(what) SHARED(BUSH, ", 'place': [" what "]")
    check_refused("{'bough': 1, 'objects': {}}", "objects: must be an object of named objects");
    check_refused("{'bough': 1, 'objects': 3}", "objects: must be an object of named objects");
    check_refused(SCENE("'a/b': {}", ""), "an object needs a name, without \"/\"");
    check_refused(SCENE("'a': 3", ""), "objects.a: must be an object");
    check_refused(SCENE("'a': {}", ""), "objects.a: needs a \"mesh\"");
    check_refused(SCENE("'a': {'parts': []}", ""), "\"components\" is missing, here and in the scene");
    check_refused(SHARED("'a': {'parts': []}", ""), "objects.a: has no parts");
    check_refused(SHARED("'a': {'parts': [], 'mash': 2}", ""), "unknown key \"mash\"");
    check_refused(SHARED("'a': {'parts': [{'name': 'x', 'component': 'aim'}]}", ""), "did you mean \"arm\"?");
    check_refused(SCENE("'a': {'scene': 'scene.json'}", ""), "a scene of objects cannot be an object itself");
    check_refused("{'bough': 1, " COMPONENTS ", 'parts': [], 'place': []}", "no \"objects\" to be placed");
    check_refused("{'bough': 1, 'parts': [], 'objects': {'a': {" MESH "}}}", "\"components\" is missing");
    check_refused("{'bough': 1, 'object': {" MESH "}, 'objects': {}}", "several go under \"objects\"");
    check_refused("{'bough': 1, " COMPONENTS ", 'parts': [{'name': 'a/b', 'component': 'arm'}], 'objects': {" BUSH "}}",
                  "\"a/b\" has a \"/\" in its name");
    check_refused(PLACE("{}"), "place[0]: \"object\" is missing");
    check_refused(PLACE("{'object': 'bosh'}"), "did you mean \"bush\"?");
    check_refused(PLACE("{'object': 'bush', 'scale': 0}"), "place[0].scale: must be from 1e-06 to 1e+06, not 0");
    check_refused(PLACE("{'object': 'bush', 'name': 'a/b'}"), "place[0].name: must not contain \"/\"");
    check_refused(PLACE("{'object': 'bush', 'copies': 2}"), "would stand in one place");
    check_refused(PLACE("{'object': 'bush', 'copies': [1, 2, 1], 'spacing': [1, 0, 1]}"), "would stand in one place");
    check_refused(PLACE("{'object': 'bush', 'copies': 0}"), "must be from 1 to");
    check_refused(PLACE("{'object': 'bush', 'copies': [1, 2]}"), "must be a list of 3 integers");
    check_refused(PLACE("{'object': 'bush', 'name': 'a1'}, {'object': 'bush', 'name': 'a', 'copies': 2, 'spacing': [1, "
                        "1, 1]}"),
                  "\"a1\" is the name of another copy already");
    check_refused(SHARED("'bush': {'parts': [{'name': 'a', 'component': 'arm'}, {'name': 'b', 'component': 'leaf', "
                         "'parent': 'a', 'absent': true}]}",
                         ""),
                  "parts[1].absent: is for roots");
    /* paint */
#define PAINT(what) SHARED(BUSH, ", 'curves': {'down': [[0, 1], [1, 0]]}, 'paint': [" what "]")
    check_refused(PAINT("{'stiffness': 2}"), "paint[0]: needs \"parts\" or \"component\"");
    check_refused(PAINT("{'parts': '*'}"), "paint[0]: paints nothing");
    check_refused(PAINT("{'parts': 'bush/laef*', 'stiffness': 2}"),
                  "unknown part \"bush/laef*\"; did you mean \"bush/leaf*\"?");
    check_refused(PAINT("{'parts': 'bush/stam', 'stiffness': 2}"), "did you mean \"bush/stem\"?");
    check_refused(PAINT("{'component': 'laef', 'stiffness': 2}"), "unknown component \"laef\"; did you mean \"leaf\"?");
    check_refused(PAINT("{'parts': 'bush/stem', 'component': 'leaf', 'stiffness': 2}"), "nothing is painted");
    check_refused(PAINT("{'parts': '*', 'stiffness': 0}"), "paint[0].stiffness: must be positive");
    check_refused(PAINT("{'parts': '*', 'damping_ratio': -1}"), "paint[0].damping_ratio: must not be negative");
    check_refused(PAINT("{'parts': '*', 'curve': 'dawn'}"), "did you mean \"down\"?");
    check_refused(PAINT("{'parts': '*', 'curve': 'down'}"), "must be positive, but the curve is 0 at 1 s");
    check_refused(SHARED(BUSH, ", 'paint': [{'parts': '*', 'curve': 'x'}]"), "the scene has no \"curves\"");
    check_refused("{'bough': 1, " COMPONENTS ", 'paint': [{'parts': '*', 'stiffness': 2}]}", "the scene has no parts");
    write_quoted(test_path("other.json"), "{'bough': 1, " COMPONENTS ", " PARTS ", 'curves': {'c': [[0, 1]]}, 'paint': "
                                          "[{'parts': '*', 'curve': 'c'}]}");
    check_refused(SCENE("'x': {'scene': 'other.json'}", ""), "only the scene that is run has a time");
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    check_fails(ctx, load_text(ctx, SCENE("'a': {'scene': 'nowhere.json'}", ""), &scene), BOUGH_ERROR_FILE,
                "objects.a.scene: ");
    bough_context_destroy(ctx);
}

/* A line of text must not become gigabytes. */
static void absurd_counts_are_refused_before_memory_is_taken(void **state) {
    (void)state;
    static const char *const texts[] = {
        PLACE("{'object': 'bush', 'copies': 1000000000000, 'spacing': [1, 1, 1]}"),
        PLACE("{'object': 'bush', 'copies': [1000000, 1000000, 1000000], 'spacing': [1, 1, 1]}"),
        PLACE("{'object': 'bush', 'copies': 1500000, 'spacing': [1, 1, 1]}"),
        PLACE("{'object': 'bush', 'copies': 600000, 'spacing': [1, 1, 1]}, {'object': 'bush', 'copies': 600000, "
              "'spacing': [1, 1, 1]}")};
    static const char *const whys[] = {"must be from 1 to 2000000", "1000000000000000000 copies are more than",
                                       "the scene would have 3000000 parts; 2000000 is the limit",
                                       "the scene would have 2400000 parts"};
    for (int i = 0; i < 4; i++) {
        test_memory memory = {.fail_at = -1};
        bough_context *ctx = test_counting_context(&memory);
        bough_scene *scene;
        check_fails(ctx, load_text(ctx, texts[i], &scene), BOUGH_ERROR_FORMAT, whys[i]);
        check(memory.largest < 1 << 20);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
    }
}

/* Coordinates are there, the tree is not until it is added. */
static void absent_trees_can_be_added(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    bough_tree_model *model;
    check_ok(ctx, load_text(ctx,
                            PLACE("{'object': 'bush', 'name': 'here'}, {'object': 'bush', 'name': 'spare', "
                                  "'absent': true}"),
                            &scene));
    const bo_part *parts = scene->plan->assembly.parts;
    check(!parts[0].absent && !parts[1].absent && !parts[2].absent && parts[3].absent); /* leaf, stem; leaf, stem */
    check_ok(ctx, bough_scene_model(ctx, scene, &model));
    bough_tree_state *now;
    bough_tree_energies before, after;
    check_ok(ctx, bough_tree_state_create(ctx, model, &now));
    check_ok(ctx, bough_tree_state_energies(ctx, model, now, &before));
    const bough_change add = {.kind = BOUGH_CHANGE_ADD,
                              .part = bough_tree_model_find_part(model, "spare/stem"),
                              .frame = {{{5, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}, {0}, {0}}};
    check_ok(ctx, bough_tree_state_change(ctx, model, now, 1, &add));
    check_ok(ctx, bough_tree_state_energies(ctx, model, now, &after));
    check_near(now->frames[add.part].pose.position[0], 5, 0);
    check_near(after.gravity - before.gravity, before.gravity, 1e-9 * fabs(before.gravity)); /* as high as the other */
    check_ok(ctx, bough_tree_step(ctx, model, now, 1e-3));
    bough_tree_state_destroy(ctx, now);
    bough_tree_model_destroy(ctx, model);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

static const char *const everything = SHARED(
    BUSH ", 'rock': {" MESH "}",
    ", 'place': [{'object': 'bush', 'copies': [2, 1, 1], 'spacing': [1, 0, 0], 'position': [1, 2, 3]}, {'object': "
    "'rock', 'name': 'r', 'absent': false, 'scale': 2, 'rotate_deg': [1, 2, 3]}], 'curves': {'c': [[0, 1], [1, "
    "2]]}, 'paint': [{'parts': 'b*', 'stiffness': 2, 'curve': 'c'}, {'component': 'leaf', 'damping_ratio': 0.1}]");

static void mutations_do_no_harm(void **state) {
    (void)state;
    check_mutations(read_scene, &everything, 1, 3);
}

static void failed_allocations_leak_nothing(void **state) {
    (void)state;
    check_failed_allocations(read_scene, &everything, 1);
}

static void the_example_works(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    built g = build(ctx, example_of_docs("### Several objects"));
    check_int(bough_tree_model_part_count(g.model), 2 * 2 + 50 * 2);
    check_int(bough_tree_model_describe(g.model)->component_count, 4);
    check_near(bough_tree_model_describe(g.model)->parts[part_named(g.model, "grass7/low")].stiffness, 1.5, 0);
    demolish(ctx, &g);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_the_object_moved),
        cmocka_unit_test(copies_stand_in_rows_and_grids),
        cmocka_unit_test(tracks_are_placed),
        cmocka_unit_test(flights_are_placed),
        cmocka_unit_test(copies_are_damped_alike),
        cmocka_unit_test(components_do_not_know_of_copies),
        cmocka_unit_test(other_files_count),
        cmocka_unit_test(patterns_match),
        cmocka_unit_test(paint_goes_over_parts),
        cmocka_unit_test(wrong_scenes_are_told_in_one_sentence),
        cmocka_unit_test(absurd_counts_are_refused_before_memory_is_taken),
        cmocka_unit_test(absent_trees_can_be_added),
        cmocka_unit_test(mutations_do_no_harm),
        cmocka_unit_test(failed_allocations_leak_nothing),
        cmocka_unit_test(the_example_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
