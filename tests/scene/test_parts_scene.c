/* Scenes of parts that are run: settings, wind, tracks, probes, and the model that they make. */
#include "hostile.h"

#include "base/rotation.h"
#include "fem/body.h"
#include "scene/cook_plan.h"
#include "scene/scene.h"

#define BOX(more)                                                                                                  \
    "{'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.2, 0.1], 'cells': [2, 1, 1]}, 'basis': {'r': 4}, " \
    "'samples': {'wind': 0, 'contact': 0, 'stress': 0}" more "}"
#define ARM BOX(", 'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}")
#define LEAF BOX(", 'interfaces': {'base': {'select': 'x0'}}")
#define SCENE(parts, more) \
    "{'bough': 1, 'components': {'arm': " ARM ", 'leaf': " LEAF ", 'bird': " BOX("") "}, 'parts': [" parts "]" more "}"
#define TWO "{'name': 'a', 'component': 'arm'}, {'name': 'b', 'component': 'leaf', 'parent': 'a', 'scale': 2}"
#define OBJECT(more) OBJECT_THAT("", more)
#define OBJECT_THAT(says, more)                                                                                        \
    "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', 'origin': [5, 6, 7], 'size': [3, 0.2, 0.1], " \
    "'cells': [6, 2, 2]}, 'sets': {'a': {'elements': 'x<6.1'}, 'b': {'elements': 'x>5.9'}}, 'fix': 'x0', 'basis': "    \
    "{'r': 4}" says "}" more "}"

/* ---- what becomes of it ---- */

static void everything_that_is_said_reaches_the_model(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    bough_tree_model *model;
    check_ok(ctx, load_text(ctx,
                            SCENE("{'name': 'b', 'component': 'leaf', 'parent': 'a', 'scale': 2, 'stiffness': 0.5, "
                                  "'rotate_deg': [0, 90, 0], 'damping': {'mass': 3, 'stiffness': 0.25}}, {'name': 'a', "
                                  "'component': 'arm', 'position': [1, 2, 3]}",
                                  ", 'gravity': [1, 2, 3], 'engine': {'kind': 'tree', 'coupling': 'L2R', 'passes': 2}, "
                                  "'time': {'integrator': 'newmark', 'dt': 0.125, 'duration': 4}, 'settle': true, "
                                  "'wind': {'velocity': [4, 5, 6], 'gust': 0.25, 'length': 3, 'density': 1.5, 'drag': "
                                  "0.75, 'seed': 77}"),
                            &scene));
    check(scene->settle && !strcmp(scene->engine->kind->name, "tree") && scene->dt == 0.125 && scene->duration == 4);
    check(!strcmp(scene->integrator.name, "newmark") && !bough_scene_body(scene));
    check_ok(ctx, bough_scene_model(ctx, scene, &model));
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    check(def->coupling == BOUGH_COUPLING_L2R && def->passes == 2 && def->gravity[1] == 2 && def->alpha == 0);
    check(def->wind.velocity[0] == 4 && def->wind.velocity[2] == 6 && def->wind.gust == 0.25 && def->wind.length == 3);
    check(def->wind.density == 1.5 && def->wind.drag == 0.75 && def->wind.seed == 77);
    check_int(def->part_count, 2);
    check_int(bough_tree_model_find_part(model, "a"), 1);
    const bough_part_def *b = &def->parts[0], *a = &def->parts[1];
    check(b->parent == 1 && b->scale == 2 && b->stiffness == 0.5 && b->damping_mass == 3 &&
          b->damping_stiffness == 0.25);
    check_near(b->rotation[2], 1, 1e-15); /* z to x, about y */
    check_near(b->rotation[6], -1, 1e-15);
    check(a->parent == -1 && a->position[0] == 1 && a->position[2] == 3);
    check_int(def->components[b->component]->r, 4);
    bough_tree_model *again; /* the components are there */
    check_ok(ctx, bough_scene_model(ctx, scene, &again));
    check(bough_tree_model_describe(again)->components[0] == def->components[0]);
    bough_tree_model_destroy(ctx, again);
    bough_tree_model_destroy(ctx, model);
    bough_scene_destroy(ctx, scene);

    check_ok(ctx, load_text(ctx, SCENE(TWO, ", 'time': {'alpha': -0.25}"), &scene));
    check(scene->model.alpha == -0.25);
    bough_scene_destroy(ctx, scene);
    check_ok(ctx, load_text(ctx, SCENE(TWO, ""), &scene)); /* defaults */
    const bough_tree_model_def *settings = &scene->model;
    check(settings->coupling == BOUGH_COUPLING_L3 && settings->passes == 0 && settings->alpha == -0.05 &&
          !scene->settle && scene->gravity[2] == 0);
    check(settings->wind.velocity[0] == 0 && settings->wind.seed == 1 && !scene->names_integrator);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* Parts of an object stay where its mesh is, whatever its coordinates. */
static void objects_stay_where_they_are(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    bough_tree_model *model;
    bough_tree_state *rest;
    check_ok(ctx, load_text(ctx, OBJECT(""), &scene));
    check_ok(ctx, bough_scene_model(ctx, scene, &model));
    check_ok(ctx, bough_tree_state_create(ctx, model, &rest));
    const double middle[2][3] = {{5, 6.1, 7.05}, {6, 6.1, 7.05}};
    for (int p = 0; p < 2; p++)
        for (int d = 0; d < 3; d++)
            check_near(rest->frames[p].pose.position[d], middle[p][d], 1e-12);
    bough_tree_state_destroy(ctx, rest);
    bough_tree_model_destroy(ctx, model);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* A box of tets in two element sets, each where most of its tets are: the cut between them is jagged. */
static void write_jagged(bough_context *ctx, const char *path) {
    bough_box_def def = bough_default_box_def();
    bough_mesh *mesh;
    def.cells[0] = 9, def.cells[1] = def.cells[2] = 3, def.size[0] = 3, def.size[1] = def.size[2] = 1;
    check_ok(ctx, bough_mesh_generate_box(ctx, &def, &mesh));
    int32_t *sets[2], count[2] = {0, 0};
    for (int k = 0; k < 2; k++)
        sets[k] = calloc((size_t)mesh->element_count, sizeof *sets[k]);
    for (int32_t e = 0; e < mesh->element_count; e++) {
        double x = 0;
        for (int i = 0; i < 4; i++)
            x += mesh->vertices[3 * mesh->elements[4 * e + i]] / 4;
        sets[x > 1.15][count[x > 1.15]++] = e;
    }
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, "a", sets[0], count[0]));
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, "b", sets[1], count[1]));
    check_ok(ctx, bough_mesh_write(ctx, mesh, path));
    free(sets[0]), free(sets[1]);
    bough_mesh_destroy(ctx, mesh);
}

/* The faces that the vertices of a jagged cut span differ on both sides; domains meet all the same. */
static void jagged_cuts_close_at_rest(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    bough_tree_model *model;
    bough_tree_state *rest;
    bough_tree_gap gap;
    write_jagged(ctx, test_path("jagged.msh"));
    check_ok(ctx,
             load_text(ctx, "{'bough': 1, 'object': {'mesh': 'jagged.msh', 'fix': 'x0', 'basis': {'r': 4}}}", &scene));
    check_ok(ctx, bough_scene_model(ctx, scene, &model));
    check_ok(ctx, bough_tree_state_create(ctx, model, &rest));
    check_ok(ctx, bough_tree_state_gap(ctx, model, rest, &gap));
    check(gap.count > 10);
    check_below(gap.distance, 1e-6);
    bough_tree_state_destroy(ctx, rest);
    bough_tree_model_destroy(ctx, model);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

static void components_that_are_finished_are_used(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    bough_tree_model *model;
    check_ok(ctx, load_text(ctx, SCENE(TWO, ""), &scene));
    check_ok(ctx, bough_scene_model(ctx, scene, &model));
    bough_tree_model_destroy(ctx, model);
    uint64_t before = scene->hash;
    bough_scene_destroy(ctx, scene);
    check_ok(ctx,
             load_text(ctx,
                       "{'bough': 1, 'components': {'arm': {'file': 'scene.cooked/arm.bough'}}, 'parts': [{'name': "
                       "'a', 'component': 'arm'}]}",
                       &scene));
    check(scene->hash != before);
    check_ok(ctx, bough_scene_model(ctx, scene, &model));
    check_int(bough_tree_model_size(model), 4);
    bough_tree_model_destroy(ctx, model);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* ---- tracks ---- */

static void tracks_become_quaternions_that_go_the_short_way(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    bough_tree_model *model;
    check_ok(ctx, load_text(ctx,
                            SCENE("{'name': 'a', 'component': 'arm', 'track': [{'time': -1, 'position': [1, 2, 3], "
                                  "'rotate_deg': [0, 0, 150]}, {'time': 0.5, 'rotate_deg': [0, 0, 210]}, {'time': 2, "
                                  "'position': [0, 0, 1], 'rotate_deg': [90, 90, 0]}]}",
                                  ""),
                            &scene));
    check_ok(ctx, bough_scene_model(ctx, scene, &model));
    const bough_part_def *part = &bough_tree_model_describe(model)->parts[0];
    const bough_track *track = &part->track;
    check_int(track->count, 3);
    check(track->time[0] == -1 && track->time[2] == 2 && track->position[1] == 2 && track->position[8] == 1);
    const double degrees[3][3] = {{0, 0, 150}, {0, 0, 210}, {90, 90, 0}};
    for (int k = 0; k < 3; k++) {
        const double *q = track->rotation + 4 * k;
        bo_mat3 R = bo_quat_to_matrix((bo_quat){q[0], q[1], q[2], q[3]}), expected = bo_turn_degrees(degrees[k]);
        check_near(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1, 1e-14);
        for (int e = 0; e < 9; e++)
            check_near(R.m[e], expected.m[e], 1e-14);
        if (k)
            check(q[0] * q[-4] + q[1] * q[-3] + q[2] * q[-2] + q[3] * q[-1] >= 0);
    }
    /* the part begins at the first key */
    check(part->position[0] == 1 && part->position[2] == 3);
    check_near(part->rotation[0], cos(150 * M_PI / 180), 1e-14);
    bough_tree_model_destroy(ctx, model);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* ---- forces ---- */

static void forces_name_parts_points_and_times(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    check_ok(ctx,
             load_text(ctx,
                       OBJECT(", 'forces': [{'part': 'b', 'nearest': [9, 7, 9], 'force': [1, 2, 3]}, {'part': 'b', "
                              "'torque': [4, 5, 6], 'from': 0.5, 'until': 0.75}, {'part': 'a', 'force': [7, 8, "
                              "9], 'until': 2}, {'part': 'a', 'force': [7, 8, 9], 'from': 2}]"),
                       &scene));
    check_int(scene->tree.force_count, 4);
    const bo_tree_force *f = scene->tree.forces;
    check(f[0].at_surface && f[0].part == 1 && f[0].force[2] == 3 && bo_force_is_steady(&f[0]));
    const double corner[3] = {8, 6.2, 7.1}; /* of the box */
    for (int d = 0; d < 3; d++)
        check_near(f[0].rest[d], corner[d], 1e-12);
    check(!f[1].at_surface && f[1].torque[1] == 5 && f[1].force[1] == 0 && f[1].from == 0.5 && f[1].until == 0.75);
    for (int i = 1; i < 4; i++)
        check(!bo_force_is_steady(&f[i]));
    bough_scene_destroy(ctx, scene);
    /* on the whole mesh: at that corner */
    check_ok(ctx,
             load_text(ctx, OBJECT(", 'forces': [{'part': 'b', 'nearest': [9, 7, 9], 'force': [1, 2, 3]}]"), &scene));
    bo_whole *whole;
    check_ok(ctx, bo_scene_make_whole(ctx, scene, &whole));
    const bough_mesh *mesh = bough_body_mesh(whole->body);
    const size_t size = 3 * (size_t)mesh->vertex_count;
    double *u = calloc(size, sizeof *u), *force = calloc(size, sizeof *force);
    bough_load_case_forces(whole->load_case, u, force);
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        const double *x = mesh->vertices + 3 * v;
        const bool there = fabs(x[0] - 8) + fabs(x[1] - 6.2) + fabs(x[2] - 7.1) < 1e-9;
        for (int d = 0; d < 3; d++)
            check_near(force[3 * v + d], there ? 1 + d : 0, 1e-12);
    }
    free(u);
    free(force);
    bo_whole_destroy(ctx, whole);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* ---- probes ---- */

static void probes_name_parts_and_points(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    check_ok(ctx, load_text(ctx,
                            OBJECT(", 'probes': [{'name': 'tip', 'part': 'b', 'nearest': [9, 7, 9]}, {'name': 'joint', "
                                   "'part': 'b'}]"),
                            &scene));
    const bo_probe *tip = &scene->probes[0], *joint = &scene->probes[1];
    check(tip->at_surface && tip->part == 1 && !joint->at_surface && joint->part == 1);
    const double corner[3] = {8, 6.2, 7.1}; /* of the box */
    for (int d = 0; d < 3; d++)
        check_near(tip->rest[d], corner[d], 1e-12);
    /* on the whole mesh: that corner, and a mean of the nine vertices between the parts */
    bo_whole *whole;
    check_ok(ctx, bo_scene_make_whole(ctx, scene, &whole));
    const bough_mesh *mesh = bough_body_mesh(whole->body);
    check(!tip->vertices && !joint->vertices); /* the scene itself stays as it was */
    tip = &whole->probes[0], joint = &whole->probes[1];
    check_int(mesh->element_count, 24);
    check_int(tip->count, 1);
    for (int d = 0; d < 3; d++)
        check_near(mesh->vertices[3 * tip->vertices[0] + d], corner[d], 1e-12);
    check_int(joint->count, 9);
    double sum = 0;
    for (int i = 0; i < 9; i++) {
        check_near(mesh->vertices[3 * joint->vertices[i]], 6, 1e-12);
        sum += joint->weights[i];
    }
    check_near(sum, 1, 1e-12);
    check_near(joint->rest[0], 6, 1e-12);
    bo_whole_destroy(ctx, whole);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* Selections of "fix" are the root's: what lies on the same plane elsewhere is not held in the whole, either. */
static void the_whole_is_held_where_the_root_is(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    check_ok(ctx, load_text(ctx,
                            "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [2, 1, 1], "
                            "'cells': [2, 1, 1]}, 'sets': {'a': {'elements': 'x<1.1'}, 'b': {'elements': 'x>0.9'}}, "
                            "'fix': 'z0'}, 'gravity': [0, 0, -2]}",
                            &scene));
    bo_whole *whole;
    check_ok(ctx, bo_scene_make_whole(ctx, scene, &whole));
    const bough_mesh *mesh = bough_body_mesh(whole->body);
    int held = 0;
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        bool expected = mesh->vertices[3 * v] < 1.5 && mesh->vertices[3 * v + 2] < 0.5;
        for (int d = 0; d < 3; d++)
            check_int(whole->load_case->fixed[3 * v + d], expected);
        held += expected;
    }
    check_int(held, 4);
    check(whole->load_case->gravity[2] == -2);
    bo_whole_destroy(ctx, whole);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* ---- what is refused ---- */

/* Cooking finds the same slip. */
static void check_refused(const char *text, const char *why) {
    check_refused_by(read_scene, text, why);
    check_refused_by(read_plan, text, why);
}

#define TRACK(keys) SCENE("{'name': 'a', 'component': 'arm', 'track': " keys "}", "")
#define FORCE(force) SCENE(TWO, ", 'forces': [{'part': 'a', 'force': [1, 2, 3]}, " force "]")
#define PROBE(probe) SCENE(TWO, ", 'probes': [" probe "]")

static void wrong_scenes_are_told_in_one_sentence(void **state) {
    (void)state;
    check_refused(SCENE(TWO, ", 'engine': {'kind': 'three'}"),
                  "engine.kind: unknown \"three\"; did you mean \"tree\"?");
    check_refused(SCENE(TWO, ", 'engine': {'coupling': 'L4'}"), "engine.coupling: unknown \"L4\"; did you mean");
    check_refused(SCENE(TWO, ", 'engine': {'passes': 3}"), "engine.passes: must be from 1 to 2, not 3");
    check_refused(SCENE(TWO, ", 'engine': {'pases': 1}"), "unknown key \"pases\"; did you mean \"passes\"?");
    check_refused(SCENE(TWO, ", 'engine': {'kind': 'full'}"), "engine.kind: the full engine steps the mesh of an");
    check_refused(SCENE(TWO, ", 'time': {'integrator': 'rk5'}"),
                  "time.integrator: unknown \"rk5\"; did you mean \"rk4\"?");
    check_refused(SCENE(TWO, ", 'time': {'alpha': 0.5}"), "time.alpha: ");
    check_refused(SCENE(TWO, ", 'settle': 1"), "settle: must be true or false");
    check_refused(SCENE(TWO, ", 'wind': {}"), "wind: \"velocity\" is missing");
    check_refused(SCENE(TWO, ", 'wind': {'velocity': [1, 2]}"), "wind.velocity: ");
    check_refused(SCENE(TWO, ", 'wind': {'velocity': [1, 2, 1e99]}"), "wind.velocity[2]: ");
    check_refused(SCENE(TWO, ", 'wind': {'velocity': [1, 2, 3], 'gust': -1}"), "wind.gust: ");
    check_refused(SCENE(TWO, ", 'wind': {'velocity': [1, 2, 3], 'length': 0}"), "wind.length: ");
    check_refused(SCENE(TWO, ", 'wind': {'velocity': [1, 2, 3], 'seed': 1.5}"), "wind.seed: ");
    check_refused(SCENE(TWO, ", 'wind': {'velocity': [1, 2, 3], 'gusts': 1}"), "did you mean \"gust\"?");

    check_refused(FORCE("{'force': [1, 2, 3]}"), "forces[1]: \"part\" is missing");
    check_refused(FORCE("{'part': 'c', 'force': [1, 2, 3]}"), "forces[1].part: unknown \"c\"; did you mean");
    check_refused(FORCE("{'part': 'b'}"), "forces[1]: needs a \"force\" or a \"torque\"");
    check_refused(FORCE("{'part': 'b', 'force': [1, 2]}"), "forces[1].force: ");
    check_refused(FORCE("{'part': 'b', 'force': [1, 2, 1e31]}"), "forces[1].force[2]: ");
    check_refused(FORCE("{'part': 'b', 'force': [1, 2, 1e400]}"), "scene.json:1:");
    check_refused(FORCE("{'part': 'b', 'force': [1, 2, NaN]}"), "scene.json:1:");
    check_refused(FORCE("{'part': 'b', 'torque': ['x', 2, 3]}"), "forces[1].torque[0]: ");
    check_refused(FORCE("{'part': 'b', 'nearest': [0, 0, 0], 'torque': [1, 2, 3]}"),
                  "forces[1].torque: acts on the frame of a part; leave \"nearest\" out");
    check_refused(FORCE("{'part': 'b', 'nearest': [0, 0, 0], 'force': [1, 2, 3], 'torque': [1, 2, 3]}"),
                  "forces[1].torque: acts on the frame");
    check_refused(FORCE("{'part': 'b', 'nearest': [0, 0], 'force': [1, 2, 3]}"), "forces[1].nearest: ");
    check_refused(FORCE("{'part': 'b', 'force': [1, 2, 3], 'from': 2, 'until': 1}"),
                  "forces[1].until: must be after \"from\", which is 2, not 1");
    check_refused(FORCE("{'part': 'b', 'force': [1, 2, 3], 'from': 2, 'until': 2}"), "forces[1].until: must be after");
    check_refused(FORCE("{'part': 'b', 'force': [1, 2, 3], 'from': -1}"), "forces[1].from: must not be negative");
    check_refused(FORCE("{'part': 'b', 'force': [1, 2, 3], 'select': 'x0'}"), "forces[1]: unknown key \"select\"");
    check_refused(FORCE("3"), "forces[1]: ");
    check_refused(SCENE(TWO, ", 'forces': {}"), "forces: ");
    check_refused(SCENE("", ", 'forces': [{'part': 'a', 'force': [1, 2, 3]}]"), "the scene has no parts");

    check_refused(PROBE("{'name': 'x'}"), "probes[0]: \"part\" is missing");
    check_refused(PROBE("{'part': 'a'}"), "probes[0]: \"name\" is missing");
    check_refused(PROBE("{'name': 'x', 'part': 'c'}"), "probes[0].part: unknown \"c\"; did you mean");
    check_refused(PROBE("{'name': 'x', 'part': 'a', 'select': 'all'}"), "probes[0]: unknown key \"select\"");
    check_refused(PROBE("{'name': 'x', 'part': 'a', 'nearest': [0, 0]}"), "probes[0].nearest: ");
    check_refused(PROBE("{'name': 'x,y', 'part': 'a'}"), "probes[0].name: is a column of a table");
    check_refused(PROBE("{'name': 'x', 'part': 'a'}, {'name': 'x', 'part': 'b'}"), "the name of another probe already");
    check_refused(SCENE("", ", 'probes': [{'name': 'x', 'part': 'a'}]"), "the scene has no parts");

    check_refused(TRACK("[]"), "track: a track has 1 to 1000000 keys, not 0");
    check_refused(TRACK("3"), "parts[0].track: ");
    check_refused(TRACK("[{}]"), "track[0]: \"time\" is missing");
    check_refused(TRACK("[{'time': 1}, {'time': 1}]"), "track[1].time: times must ascend, but 1 comes after 1");
    check_refused(TRACK("[{'time': 1, 'rotate_dog': [0, 0, 0]}]"), "did you mean \"rotate_deg\"?");
    check_refused(TRACK("[{'time': 1}], 'position': [0, 0, 0]"), "parts[0].position: is for the keys of the \"track\"");
    check_refused(TRACK("[{'time': 1}], 'rotate_deg': [0, 0, 0]"), "parts[0].rotate_deg: is for the keys of");
    check_refused(SCENE("{'name': 'a', 'component': 'arm'}, {'name': 'b', 'component': 'leaf', 'parent': 'a', 'track': "
                        "[{'time': 0}]}",
                        ""),
                  "parts[1].track: is for roots, but this part hangs at \"parent\"");
    check_refused(SCENE("{'name': 'a', 'component': 'arm', 'velocity': [0, 0, 1]}", ""),
                  "parts[0].velocity: is for roots that fly free, but the component \"arm\" is held");
    check_refused(SCENE("{'name': 'a', 'component': 'bird', 'angular_velocity': [0, 1]}", ""),
                  "parts[0].angular_velocity: ");
    check_refused(SCENE("{'name': 'a', 'component': 'arm'}, {'name': 'b', 'component': 'leaf', 'parent': 'a', "
                        "'angular_velocity': [1, 0, 0]}",
                        ""),
                  "parts[1].angular_velocity: is for roots, but this part hangs at \"parent\"");
    check_refused(SCENE("{'name': 'a', 'component': 'bird', 'track': [{'time': 0}]}", ""),
                  "the component \"bird\" flies free, so that nothing holds it on a track");
    /* keys of the other kind of scene */
    check_refused(SCENE(TWO, ", 'initial': {}"), "unknown key \"initial\"");
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    check_fails(ctx,
                load_text(ctx, "{'bough': 1, 'mesh': {'generate': 'box', 'size': [1, 1, 1]}, 'settle': 1}", &scene),
                BOUGH_ERROR_FORMAT, "settle: must be true or false");
    check_fails(ctx,
                load_text(ctx,
                          "{'bough': 1, 'mesh': {'generate': 'box', 'size': [1, 1, 1]}, 'engine': {'kind': 'tree'}}",
                          &scene),
                BOUGH_ERROR_FORMAT, "engine.kind: \"tree\" is for scenes of parts");
    bough_tree_model *model;
    check_ok(ctx, load_text(ctx, SCENE("", ""), &scene));
    check_fails(ctx, bough_scene_model(ctx, scene, &model), BOUGH_ERROR_FORMAT,
                "the scene has components, but no parts");
    check(!model);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* Whatever comes out, it is a scene or a sentence. */
static void mutations_do_no_harm(void **state) {
    (void)state;
    const char *const texts[] = {
        SCENE(
            "{'name': 'a', 'component': 'arm', 'track': [{'time': 1, 'position': [1, 2, 3]}, {'time': 2, 'rotate_deg': "
            "[1, 2, 3]}]}",
            ", 'wind': {'velocity': [1, 2, 3], 'seed': 3}, 'probes': [{'name': 'x', 'part': 'a', 'nearest': [0, 0, "
            "1]}], 'forces': [{'part': 'a', 'torque': [1, 2, 3], 'from': 1, 'until': 2}], 'engine': {'kind': 'tree', "
            "'coupling': 'L3', 'passes': 1}"),
        OBJECT(
            ", 'probes': [{'name': 'x', 'part': 'a', 'nearest': [0, 0, 1]}, {'name': 'y', 'part': 'b'}], 'engine': "
            "{'kind': 'full'}, 'forces': [{'part': 'b', 'nearest': [9, 7, 9], 'force': [1, 2, 3]}], 'settle': true")};
    check_mutations(read_scene, texts, 2, 3); /* the settings */
}

static void the_examples_work(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    check_ok(ctx, load_text(ctx, example_of_docs("## Scenes of parts"), &scene));
    check(scene->plan && scene->probe_count == 1 && scene->tree.force_count == 1 && scene->model.wind.velocity[0] > 0);
    bough_scene_destroy(ctx, scene);
    check_ok(ctx, bough_scene_load(ctx, BOUGH_SOURCE_DIR "/examples/two-leaves/scene.json", &scene));
    check(scene->settle && scene->probe_count == 3);
    bough_scene_destroy(ctx, scene);
    check_ok(ctx, bough_scene_load(ctx, BOUGH_SOURCE_DIR "/examples/y-tree/scene.json", &scene));
    check(!strcmp(scene->engine->kind->name, "tree") && scene->probe_count == 2);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_that_is_said_reaches_the_model),
        cmocka_unit_test(objects_stay_where_they_are),
        cmocka_unit_test(jagged_cuts_close_at_rest),
        cmocka_unit_test(components_that_are_finished_are_used),
        cmocka_unit_test(tracks_become_quaternions_that_go_the_short_way),
        cmocka_unit_test(forces_name_parts_points_and_times),
        cmocka_unit_test(probes_name_parts_and_points),
        cmocka_unit_test(the_whole_is_held_where_the_root_is),
        cmocka_unit_test(wrong_scenes_are_told_in_one_sentence),
        cmocka_unit_test(mutations_do_no_harm),
        cmocka_unit_test(the_examples_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
