/* Scenes with meshes that are not convex and touch: rings over pegs, cups that catch, and parts with several shapes. */
#include "../rig/rings.h"
#include "play.h"

#define G 9.81

/* Rings and cups as files, beside the scenes. open: one triangle is missing. */
static void write_mesh(const char *name, const revolved *mesh, bool open) {
    FILE *f = fopen(test_path(name), "w");
    for (int32_t i = 0; i < mesh->vertex_count; i++)
        fprintf(f, "v %.17g %.17g %.17g\n", mesh->vertices[3 * i], mesh->vertices[3 * i + 1],
                mesh->vertices[3 * i + 2]);
    for (int32_t t = open; t < mesh->triangle_count; t++)
        fprintf(f, "f %d %d %d\n", mesh->triangles[3 * t] + 1, mesh->triangles[3 * t + 1] + 1,
                mesh->triangles[3 * t + 2] + 1);
    fclose(f);
}
static void write_meshes(void) {
    static revolved mesh;
    make_torus(0.2, 0.03, 24, 8, &mesh);
    write_mesh("ring.obj", &mesh, false), write_mesh("open.obj", &mesh, true);
    make_cup(0.3, 0.25, 0.05, 20, &mesh);
    write_mesh("cup.obj", &mesh, false);
}

static play begin_text(bough_context *ctx, const char *engine, const char *text) {
    bough_run_def def = bough_default_run_def();
    def.engine = engine;
    return begin_file(ctx, write_scene("rings.json", text), &def);
}
static void advance(bough_context *ctx, play *p, int steps) {
    for (int i = 0; i < steps; i++)
        check_ok(ctx, bough_run_step(ctx, p->run));
}
static double balance_rises(bough_context *ctx, play *p, int steps) {
    double least = value(p, "balance"), rise = 0;
    for (int i = 0; i < steps; i++) {
        advance(ctx, p, 1);
        rise = fmax(rise, value(p, "balance") - least), least = fmin(least, value(p, "balance"));
    }
    return rise;
}

#define RING "{'mesh': {'file': 'ring.obj', 'cells': 24}, 'rotate_deg': [90, 0, 0]}"
#define PEG "{'name': 'peg', 'shape': {'cylinder': [0.05, 0.6]}, 'rotate_deg': [90, 0, 0], 'position': [0.01, 0, 0.1]}"

/* A mechanism of two links, a ring and a weight that hangs on it, hangs on a peg that goes through the ring, reduced and in
 * full: its hull would lie on it from outside. The same as a multibody system. */
#define MECHANISM                                                                                                     \
    "{'bough': 1, 'gravity': [0, 0, -9.81], 'free_base': true, 'links': [{'name': 'ring', 'density': 1000, "          \
    "'shape': " RING "}, {'name': 'weight', 'position': [0, 0, -0.4], 'density': 1000, 'shape': {'sphere': 0.05}}], " \
    "'joints': [{'name': "                                                                                            \
    "'neck', 'kind': 'hinge', 'parent': 'ring', 'child': 'weight', 'position': [0, 0, -0.2], 'axis': [0, 1, 0], "     \
    "'stiffness': 20, 'damping': 0.5}], 'base_touch': {'shape': " RING                                                \
    ", 'friction': 0.5}, 'end_effectors': [{'name': 'tip', 'link': 'weight', 'position': [0, 0, -0.4]}], "            \
    "'obstacles': [" PEG "], 'probes': [{'name': 'peg', 'contact': 'peg'}, {'name': 'ring', 'link': 'ring', "         \
    "'position': [0, 0, 0]}], 'time': {'dt': 0.004, 'duration': 9}}"
#define SYSTEM                                                                                                         \
    "{'bough': 1, 'gravity': [0, 0, -9.81], 'engine': {'kind': 'multibody'}, 'bodies': [{'name': 'ring', 'density': "  \
    "1000, 'touch': true, 'shape': " RING "}, {'name': 'weight', 'position': [0, 0, -0.4], 'density': 1000, 'shape': " \
    "{'sphere': 0.05}}], 'joints': [{'name': "                                                                         \
    "'neck', 'kind': 'hinge', 'parent': 'ring', 'child': 'weight', 'position': [0, 0, -0.2], 'axis': [0, 1, 0], "      \
    "'stiffness': 20, 'damping': 0.5}], 'obstacles': [" PEG                                                            \
    "], 'probes': [{'name': 'peg', 'contact': 'peg'}, {'name': 'ring', 'body': 'ring'}], 'time': {'dt': 0.004, "       \
    "'duration': 9}}"

static void links_hang_on_a_peg(void **unused) {
    (void)unused;
    static const struct {
        const char *engine, *text;
    } cases[] = {{"mechanism", MECHANISM}, {"full", MECHANISM}, {"multibody", SYSTEM}};
    bough_context *ctx = test_context(1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        play p = begin_text(ctx, cases[k].engine, cases[k].text);
        check_below(balance_rises(ctx, &p, 700), 2e-3);
        double force = 0;
        for (int i = 0; i < 300; i++, force += value(&p, "peg.fz") / 300)
            advance(ctx, &p, 1);
        const double ring = 2 * M_PI * M_PI * 0.2 * 0.03 * 0.03 * 1000,
                     weight = 4 * M_PI / 3 * 0.05 * 0.05 * 0.05 * 1000;
        check_near(fabs(force) / (G * (ring + weight)), 1, 0.2); /* it swings, on corners */
        check_near(value(&p, "ring.z"), 0.1 + 0.05 - 0.17, 0.01);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* A cup catches a ball and a bar that bends, and bears both; another one carries a ball up. */
#define CUP                                                                                                          \
    "{'bough': 1, 'gravity': [0, 0, -9.81], 'engine': {'kind': 'multibody'}, 'components': {'bar': {'mesh': "        \
    "{'generate': 'box', 'type': 'tet10', 'size': [0.2, 0.04, 0.04], 'cells': [4, 1, 1]}, 'material': {'young': "    \
    "1e6, 'poisson': 0.3, 'density': 1000}, 'interfaces': {'base': {'select': 'x0'}}, 'basis': {'r': 6}, "           \
    "'damping': {'stiffness': 0.004}, 'samples': {'contact': 60}}}, 'bodies': [{'name': 'end', 'position': [-0.1, "  \
    "0.05, 0.4], 'rotate_deg': [0, 10, 0], 'mass': 0.05, 'inertia': [1e-4, 1e-4, 1e-4, 0, 0, 0]}, {'name': 'ball', " \
    "'density': 500, 'shape': {'sphere': 0.06}, 'position': [0, -0.1, 0.3], 'touch': true}, {'name': 'rider', "      \
    "'density': 500, 'shape': {'sphere': 0.06}, 'position': [2, 0, 0.2], 'touch': true}], 'parts': [{'name': "       \
    "'bar', 'component': 'bar', 'clamp': 'end', 'touch': true}], 'joints': [], 'obstacles': [{'name': 'cup', "       \
    "'shape': {'mesh': 'cup.obj'}}, {'name': 'lift', 'shape': {'mesh': 'cup.obj'}, 'track': [{'time': 0, "           \
    "'position': [2, 0, 0]}, {'time': 2, 'position': [2.3, 0, 0.5]}]}], 'probes': [{'name': 'cup', 'contact': "      \
    "'cup'}, {'name': 'ball', 'body': 'ball'}, {'name': 'end', 'body': 'end'}, {'name': 'rider', 'body': "           \
    "'rider'}], 'time': {'dt': 0.005, 'duration': 4}}"

static void a_cup_catches_a_ball_and_a_bar(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p = begin_text(ctx, "multibody", CUP);
    advance(ctx, &p, 600);
    double force = 0;
    for (int i = 0; i < 100; i++, force += value(&p, "cup.fz") / 100)
        advance(ctx, &p, 1);
    const double mass = 0.2 * 0.04 * 0.04 * 1000 + 0.05 + 4 * M_PI / 3 * 0.06 * 0.06 * 0.06 * 500;
    check_near(fabs(force) / (G * mass), 1, 0.02);
    check_below(hypot(value(&p, "ball.x"), value(&p, "ball.y")), 0.25);
    check(value(&p, "ball.z") > 0.1 && value(&p, "ball.z") < 0.25);
    check_below(hypot(value(&p, "end.x"), value(&p, "end.y")), 0.3);
    check(value(&p, "end.z") > 0 && value(&p, "end.z") < 0.3);
    check_below(hypot(value(&p, "rider.x") - 2.3, value(&p, "rider.y")), 0.25);
    check_near(value(&p, "rider.z"), 0.5 + 0.05 + 0.06, 2e-3);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* A stone that is a part, half as large as its component, falls with shapes of all kinds onto the ground, another falls into the
 * cup that a held bar carries; both come to rest. */
#define PARTS                                                                                                      \
    "{'bough': 1, 'gravity': [0, 0, -9.81], 'components': {'stone': {'mesh': {'generate': 'box', 'type': 'hex8', " \
    "'size': [0.2, 0.2, 0.2], 'origin': [-0.1, -0.1, -0.1], 'cells': [2, 2, 2]}, 'material': {'young': 1e9, "      \
    "'poisson': 0.3, 'density': 500}, 'basis': {'r': 0}}, 'bar': {'mesh': {'generate': 'box', 'type': 'hex8', "    \
    "'size': [1, 0.1, 0.1], 'cells': [8, 1, 1]}, 'material': {'young': 1e8, 'poisson': 0.3, 'density': 500}, "     \
    "'fix': {'select': 'x0'}, 'basis': {'r': 4}, 'damping': {'stiffness': 0.01}, 'samples': {'contact': 40}}}, "   \
    "'parts': [{'name': 'stone', 'component': 'stone', 'scale': 0.5, 'position': [0, 2, 0.3], 'flies': true}, "    \
    "{'name': 'ball', 'component': 'stone', 'scale': 0.5, 'position': [0.95, 0.1, 0.5], 'flies': true}, {'name': " \
    "'bar', 'component': 'bar'}], 'obstacles': [{'name': 'ground', 'shape': {'plane': true}, 'position': [0, 0, "  \
    "-0.5]}], 'contact': {'solids': [{'part': 'stone', 'shape': [{'cylinder': [0.1, 0.4]}, {'hull': [[0, 0, 0], "  \
    "[0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3]]}]}, {'part': 'stone', 'shape': {'height_field': {'size': [0.2, 0.3], " \
    "'heights': [[0, 0.02], [0.03, 0], [0.01, 0.04]]}, 'position': [0.3, 0.3, 0]}}, {'part': 'stone', 'shape': "   \
    "{'capsule': [0.05, 0.2], 'position': [0, -0.2, 0]}}, {'part': 'ball', 'shape': {'sphere': 0.16}}, {'part': "  \
    "'bar', 'shape': {'mesh': {'file': 'cup.obj', 'cells': 24}, 'position': [0.9, 0.05, 0.1]}}]}, 'probes': "      \
    "[{'name': 'stone', 'part': 'stone'}, {'name': 'ball', 'part': 'ball'}, {'name': 'tip', 'part': 'bar', "       \
    "'nearest': [1, 0, 0]}, {'name': 'ground', 'contact': 'ground'}], 'time': {'dt': 0.004166666666666667, "       \
    "'duration': 4}}"

static void parts_have_several_shapes(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    play p = begin_text(ctx, "tree", PARTS);
    double force = 0;
    advance(ctx, &p, 700);
    for (int i = 0; i < 50; i++, force += value(&p, "ground.fz") / 50)
        advance(ctx, &p, 1);
    const double mass = 0.1 * 0.1 * 0.1 * 500;
    check_near(fabs(force) / (G * mass), 1, 0.02);
    check_below(value(&p, "stone.z"), -0.35); /* by its origin, which is inside of it */
    check(value(&p, "stone.z") > -0.5);
    check_below(hypot(value(&p, "ball.x") - 0.9, value(&p, "ball.y") - 0.05), 0.25);
    check_near(value(&p, "ball.z"), 0.1 + 0.05 + 0.08 + value(&p, "tip.uz"), 0.02);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* Meshes without an inside, or of a resolution that cannot be, are refused where they are to touch, and drawn elsewhere. */
#define BALL_AND(obstacle)                                                                                           \
    "{'bough': 1, 'engine': {'kind': 'multibody'}, 'bodies': [{'name': 'ball', 'density': 300, 'shape': {'sphere': " \
    "0.06}, 'touch': true}], 'obstacles': [" obstacle "], 'time': {'dt': 0.005, 'duration': 0.5}}"

static void meshes_that_touch_are_closed(void **unused) {
    (void)unused;
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {BALL_AND("{'name': 'o', 'shape': {'mesh': 'open.obj'}}"), "obstacles[0].shape: the surface has 3 open edges"},
        {BALL_AND("{'name': 'o', 'shape': {'mesh': 'open.obj'}, 'touch': false}"), NULL},
        {BALL_AND("{'name': 'o', 'shape': {'mesh': {'file': 'ring.obj', 'cells': 1000}}}"), "cells"},
        {BALL_AND("{'name': 'o', 'shape': {'mesh': 'nothing.obj'}}"), "nothing.obj"},
        {BALL_AND("{'name': 'o', 'shape': [{'mesh': 'ring.obj'}, {'mesh': 'ring.obj'}]}"), NULL}};
    bough_context *ctx = test_context(1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bough_scene *scene = NULL;
        const bough_status status = bough_scene_load(ctx, write_scene("mesh.json", cases[k].text), &scene);
        if ((status == BOUGH_OK) != !cases[k].sentence ||
            (cases[k].sentence && !strstr(bough_message(ctx), cases[k].sentence)))
            fail_msg("scene %zu: status %d, %s", k, (int)status, bough_message(ctx));
        bough_scene_destroy(ctx, scene);
    }
    bough_context_destroy(ctx);
}

static int make_meshes(void **unused) {
    (void)unused;
    write_meshes();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_hang_on_a_peg), cmocka_unit_test(a_cup_catches_a_ball_and_a_bar),
        cmocka_unit_test(parts_have_several_shapes), cmocka_unit_test(meshes_that_touch_are_closed)};
    return cmocka_run_group_tests(tests, make_meshes, NULL);
}
