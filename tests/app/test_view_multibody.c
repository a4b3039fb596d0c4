/* Multibody systems in a session of bough view: bodies placed by their frames beside parts drawn by modes, both pulled;
 * motors are sliders. */
#include "app/view_table.h"

#define SCENE                                                                                                          \
    "{'bough': 1, 'components': {'rod': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.1, 0.1], 'cells': " \
    "[10, 1, 1]}, 'material': {'young': 2e7, 'density': 1000}, 'damping': {'mass': 2}, 'interfaces': {'base': "        \
    "{'select': 'x0'}, 'tip': {'select': 'x1'}}, 'basis': {'r': 10}}}, 'bodies': [{'name': 'hub', 'mass': 5, "         \
    "'shape': {'sphere': 0.1}}, {'name': 'ball', 'position': [1, 0, 0], 'mass': 1, 'shape': {'sphere': 0.08}}], "      \
    "'parts': [{'name': 'rod', 'component': 'rod', 'clamp': 'hub'}], 'joints': [{'name': 'turn', 'kind': 'hinge', "    \
    "'parent': 'world', 'child': 'hub', 'position': [0, 0, 0], 'axis': [0, 1, 0], 'limits_deg': [-90, 90]}, {'name': " \
    "'grip', 'kind': 'weld', 'parent': {'part': 'rod', 'interface': 'tip'}, 'child': 'ball'}], 'curves': {'stay': "    \
    "[[0, 0]]}, 'motors': [{'joint': 'turn', 'curve': 'stay'}], 'gravity': [0, 0, -9.81], 'time': {'dt': 0.002}}"

/* With all continuities, of which surfaces that are never joined have nothing. */
static void frames_are_the_surface(void **state) {
    (void)state;
    const char *path = write_scene("system.json", SCENE);
    static const char *const continuities[] = {"C0", "C1"};
    for (int k = 0; k < 2; k++) {
        table t = sit_down(path, NULL, true);
        look_until(&t, t.frames > 0);
        check_int(t.seen.layers[0].part_count, 3);
        if (k)
            order(&t, "{'do': 'continuity', 'name': 'C1'}");
        steps(&t, 60);
        viewer_draw(&t.seen, 0);
        bough_run_def def = bough_default_run_def();
        def.live = true, def.continuity = continuities[k];
        bough_context *ctx = test_context(1);
        play p = begin_file(ctx, path, &def);
        for (int i = 0; i < 60; i++)
            check_ok(ctx, bough_run_step(ctx, p.run));
        const bough_mesh *mesh = bough_run_mesh(p.run);
        const double *u = bough_run_displacement(p.run);
        check_int(t.seen.layers[0].vertex_count, mesh->vertex_count);
        double worst = 0, moved = 0;
        for (int32_t i = 0; i < 3 * mesh->vertex_count; i++) {
            worst = fmax(worst, fabs((double)t.seen.layers[0].drawn[i] - mesh->vertices[i] - u[i]));
            moved = fmax(moved, fabs(u[i]));
        }
        check(moved > 0.001);
        check_below(worst, 2e-6);
        end(ctx, &p);
        bough_context_destroy(ctx);
        leave(&t);
    }
}

/* By a vertex of the rod's end, and by one of the ball. */
static void what_is_pulled_comes(void **state) {
    (void)state;
    for (int32_t part = 1; part < 3; part++) {
        table t = sit_down(write_scene("system.json", SCENE), NULL, true);
        look_until(&t, t.frames > 0);
        const int32_t vertex = viewer_nearest(&t.seen, part, 1, 0, 0.05);
        const double before = (double)viewer_at(&t.seen, part, vertex)[2];
        char text[200];
        snprintf(text, sizeof text, "{'do': 'pull', 'hand': 1, 'part': %d, 'vertex': %d, 'target': [1, 0, 1]}", part,
                 vertex);
        order(&t, text);
        steps(&t, 200);
        const double lifted = (double)viewer_at(&t.seen, part, vertex)[2] - before;
        print_message("lifted by %g m\n", lifted);
        check(lifted > 0.02 && lifted < 1);
        leave(&t);
    }
}

static void motors_are_sliders(void **state) {
    (void)state;
    table t = sit_down(write_scene("system.json", SCENE), NULL, true);
    look_until(&t, t.frames > 0);
    const json_t *motor = json_array_get(json_object_get(t.seen.layers[0].json, "motors"), 0);
    check(motor && !strcmp(json_string_value(json_object_get(motor, "name")), "turn"));
    check_near(json_number_value(json_object_get(motor, "high")), M_PI / 2, 1e-6);
    order(&t, "{'do': 'motor', 'motor': 0, 'value': -1}");
    for (int i = 0; i < 5; i++)
        steps(&t, 200);
    const int32_t vertex = viewer_nearest(&t.seen, 1, 1, 0, 0.08);
    check(vertex >= 0);
    viewer_draw(&t.seen, 0);
    double highest = -1;
    for (int32_t v = 0; v < t.seen.layers[0].vertex_count; v++)
        highest = fmax(highest, (double)t.seen.layers[0].drawn[3 * v + 2]);
    check_near(highest, sin(1) + 0.08, 0.1); /* -1 rad about y lifts what lies along x */
    leave(&t);
}

/* Joints come with each frame, in scene and ghost: the grip moves with the ball, and at rest the weld bears its weight. */
static void joints_come_with_frames(void **state) {
    (void)state;
    table t = sit_down(write_scene("system.json", SCENE), NULL, true);
    look_until(&t, t.frames > 0);
    const viewer_layer *l = &t.seen.layers[0];
    check_int(l->joint_count, 2);
    const json_t *grip = json_array_get(json_object_get(l->json, "joints"), 1);
    assert_string_equal(json_string_value(json_object_get(grip, "name")), "grip");
    assert_string_equal(json_string_value(json_object_get(grip, "kind")), "weld");
    check_int(json_integer_value(json_object_get(grip, "parent")), 2);
    check_int(json_integer_value(json_object_get(grip, "child")), 1);
    order(&t, "{'do': 'dt', 'seconds': 0.02}");
    t.dt = 0.02;
    steps(&t, 500);
    const float *joint = l->joints + VIEWER_JOINT;
    for (int d = 0; d < 3; d++)
        check_near((double)joint[d], (double)l->pose[7 + d], 1e-3); /* the ball's frame is where the weld is */
    check_near((double)joint[9], 9.81, 0.05);
    order(&t, "{'do': 'ghost', 'engine': 'rigid'}");
    look_until(&t, t.seen.layers[1].part_count == 3);
    check_int(t.seen.layers[1].joint_count, 2);
    leave(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames_are_the_surface), cmocka_unit_test(what_is_pulled_comes),
                                       cmocka_unit_test(motors_are_sliders), cmocka_unit_test(joints_come_with_frames)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
