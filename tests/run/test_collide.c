/* <collision> shapes of URDF files touch where a scene says so, and so do the round shapes of scenes. */
#include "play.h"

#include "scene/scene.h"

#include <math.h>

/* A carriage on a vertical slide, with a spring that would let it sink by 2 m: the link "a" has the shape. */
#define ROBOT(base, shape)                                                                                    \
    "<robot name='slide'><link name='base'>" base "</link><link name='a'><inertial><mass value='2'/>"         \
    "<inertia ixx='0.02' iyy='0.02' izz='0.02' ixy='0' ixz='0' iyz='0'/></inertial>" shape                    \
    "</link><joint name='slide' type='prismatic'><parent link='base'/><child link='a'/><origin xyz='0 0 1'/>" \
    "<axis xyz='0 0 1'/><limit lower='-5' upper='5' effort='1' velocity='1'/><dynamics damping='20'/></joint></robot>"
#define COLLISION(geometry) "<collision><origin xyz='0 0 0.1'/><geometry>" geometry "</geometry></collision>"

static void write_robot(const char *text) {
    test_write_text(test_path("slide.urdf"), text);
    write_scene("slide.dynamics.json", "{'bough': 1, 'joints': {'slide': {'stiffness': 9.81}}}");
}
/* settings: more keys of the scene */
static const char *slide_scene(const char *settings) {
    char text[2000];
    snprintf(text, sizeof text,
             "{'bough': 1, 'urdf': 'slide.urdf', 'gravity': [0, 0, -9.81],"
             "'obstacles': [{'name': 'floor', 'shape': {'plane': true}}],"
             "'probes': [{'name': 'a', 'link': 'a'}%s], 'time': {'dt': 0.002, 'duration': 2}%s}",
             strstr(settings, "'block'") ? ", {'name': 'block', 'body': 'block'}" : "", settings);
    return write_scene("slide.json", text);
}
static double height_of(bough_context *ctx, const char *settings, const char *engine) {
    bough_run_def def = bough_default_run_def();
    def.engine = engine;
    play p = begin_file(ctx, slide_scene(settings), &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    const double z = value(&p, "a.z");
    end(ctx, &p);
    return z;
}

/* A cube of 0.4 m with 26 x 26 points on each side: more vertices than a hull has corners. */
static void write_cube(void) {
    FILE *f = fopen(test_path("cube.obj"), "w");
    enum { N = 26 };
    int count = 0;
    for (int side = 0; side < 6; side++) {
        for (int i = 0; i < N * N; i++) {
            double x[3];
            x[side % 3] = side < 3 ? -0.2 : 0.2;
            x[(side + 1) % 3] = -0.2 + 0.4 * (i % N) / (N - 1);
            x[(side + 2) % 3] = -0.2 + 0.4 * (int)(i / N) / (N - 1);
            fprintf(f, "v %.17g %.17g %.17g\n", x[0], x[1], x[2]);
        }
        for (int i = 0; i < N - 1; i++)
            for (int j = 0; j < N - 1; j++) {
                const int a = count + 1 + N * j + i, flip = side >= 3;
                fprintf(f, "f %d %d %d\nf %d %d %d\n", a, flip ? a + 1 : a + N, flip ? a + N : a + 1, a + 1,
                        flip ? a + N + 1 : a + N, flip ? a + N : a + N + 1);
            }
        count += N * N;
    }
    fclose(f);
}

/* The carriage comes to rest on the lowest point of its shape, whatever that is, reduced and in full; without "collide"
 * it sinks into the floor. */
static void what_collides_stands_on_the_floor(void **unused) {
    (void)unused;
    static const struct {
        const char *robot;
        double below; /* m, under the link's origin */
    } cases[] = {{ROBOT("", COLLISION("<sphere radius='0.3'/>")), 0.2},
                 {ROBOT("", COLLISION("<box size='0.2 0.2 0.6'/>")), 0.2},
                 {ROBOT("", COLLISION("<cylinder radius='0.2' length='0.6'/>")), 0.2},
                 {ROBOT("", COLLISION("<capsule radius='0.1' length='0.4'/>")), 0.2},
                 {ROBOT("", COLLISION("<mesh filename='cube.obj' scale='1 1 2'/>")), 0.3},
                 {ROBOT("", COLLISION("<sphere radius='0.15'/>") COLLISION("<box size='0.1 0.1 0.6'/>")), 0.2}};
    bough_context *ctx = test_context(1);
    write_cube();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_robot(cases[i].robot);
        check_near(height_of(ctx, ", 'collide': true", "mechanism"), cases[i].below, 1e-13);
        check_near(height_of(ctx, ", 'collide': {'friction': 0.1}", "full"), cases[i].below, 1e-13);
        const double without = height_of(ctx, "", "mechanism");
        check(without < 0);
        check(height_of(ctx, ", 'collide': false", "mechanism") == without);
    }
    bough_context_destroy(ctx);
}

/* Hulls reach to within what the documents say of the surface that they stand for, and never beyond it. */
static void hulls_of_what_is_round_are_as_round_as_is_said(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {5};
    for (int capsule = 0; capsule < 2; capsule++) {
        bough_scene *scene = NULL;
        write_robot(capsule ? ROBOT("", COLLISION("<capsule radius='0.2' length='0.6'/>"))
                            : ROBOT("", COLLISION("<cylinder radius='0.2' length='0.6'/>")));
        check_ok(ctx, bough_scene_load(ctx, slide_scene(", 'collide': true"), &scene));
        check_int(scene->mechanism->link_touch_count, 1);
        const bough_shape_def *hull = &scene->mechanism->link_touches[0].touch.shapes.shapes[0].def;
        check_int(hull->kind, BOUGH_SHAPE_HULL);
        double worst = 0;
        for (int k = 0; k < 2000; k++) {
            double d[3], reach = -INFINITY;
            for (int c = 0; c < 3; c++)
                d[c] = test_uniform(&r, -1, 1);
            const double across = hypot(d[0], d[1]), length = hypot(across, d[2]);
            for (int32_t i = 0; i < hull->point_count; i++)
                reach = fmax(reach, d[0] * hull->points[3 * i] + d[1] * hull->points[3 * i + 1] +
                                        d[2] * hull->points[3 * i + 2]);
            const double whole = 0.3 * fabs(d[2]) + 0.2 * (capsule ? length : across);
            check(reach <= whole + 1e-12);
            worst = fmax(worst, (whole - reach) / (0.2 * length));
        }
        check_below(worst, capsule ? 0.067 : 0.0193);
        check(worst > (capsule ? 0.05 : 0.017));
        bough_scene_destroy(ctx, scene);
    }
    bough_context_destroy(ctx);
}

/* A block lies on the carriage, which stands on the floor. Where the base has a shape in the way, 0.85 m high, the
 * block lies on that; the carriage goes through it, since links of one robot leave each other alone. */
static void bodies_lie_on_links_and_links_leave_each_other_alone(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const bough_run_def def = bough_default_run_def();
    for (int in_the_way = 0; in_the_way < 2; in_the_way++) {
        write_robot(in_the_way ? ROBOT(COLLISION("<box size='3 3 1.5'/>"), COLLISION("<box size='0.5 0.5 0.2'/>"))
                               : ROBOT("", COLLISION("<box size='0.5 0.5 0.2'/>")));
        play p = begin_file(ctx,
                            slide_scene(", 'collide': {'friction': 1}, 'bodies': [{'name': 'block', 'density': 100,"
                                        "'shape': {'box': [0.1, 0.1, 0.1]}, 'position': [0.05, 0, 1.4]}]"),
                            &def);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        check_near(value(&p, "a.z"), 0, 1e-13);
        check_near(value(&p, "block.z"), in_the_way ? 0.9 : 0.25, 1e-13);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

static void wrong_wishes_are_refused(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_scene *scene = NULL;
#define REFUSED(settings, part) \
    check_fails(ctx, bough_scene_load(ctx, slide_scene(settings), &scene), BOUGH_ERROR_FORMAT, (part))
    write_robot(ROBOT("", ""));
    REFUSED(", 'collide': true", "no link of the URDF has a <collision>");
    REFUSED(", 'collide': 3", "collide");
    REFUSED(", 'collide': {'frictoin': 1}", "did you mean \"friction\"");
    REFUSED(", 'collide': {'friction': -1}", "friction");
    write_robot(ROBOT("", COLLISION("<mesh filename='gone.stl'/>")));
    REFUSED(", 'collide': true", "\"gone.stl\" of a <collision> is not there");
    test_write_text(test_path("flat.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n");
    write_robot(ROBOT("", COLLISION("<mesh filename='flat.obj'/>")));
    REFUSED(", 'collide': true", "a <collision> of the link \"a\": ");
    test_write_text(test_path("broken.obj"), "v 0 0\n");
    write_robot(ROBOT("", COLLISION("<mesh filename='broken.obj'/>")));
    REFUSED(", 'collide': true", "broken.obj");
    write_robot(ROBOT("", COLLISION("<box size='1e20 1 1'/>")));
    REFUSED(", 'collide': true", "a <collision> of the link \"a\": ");
    write_robot(ROBOT("", COLLISION("<mesh filename='cube.obj' scale='1e20 1e20 0'/>")));
    write_cube();
    REFUSED(", 'collide': true", "a <collision> of the link \"a\": ");
    check_fails(ctx,
                bough_scene_load(ctx,
                                 write_scene("bodies.json",
                                             "{'bough': 1, 'collide': true, 'bodies': [{'name': 'a', 'density': 1,"
                                             "'shape': {'sphere': 1}}]}"),
                                 &scene),
                BOUGH_ERROR_FORMAT, "and there is none");
    bough_context_destroy(ctx);
}

static void failed_allocations_leak_nothing(void **unused) {
    (void)unused;
    test_write_text(test_path("wedge.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
    write_robot(
        ROBOT("", COLLISION("<mesh filename='wedge.obj'/>") COLLISION("<cylinder radius='0.1' length='0.2'/>")));
    const char *path = slide_scene(", 'collide': true");
    for (long fail_at = 0;; fail_at++) {
        test_memory memory = {.fail_at = fail_at};
        bough_context *ctx = test_counting_context(&memory);
        bough_scene *scene = NULL;
        const bough_status status = ctx ? bough_scene_load(ctx, path, &scene) : BOUGH_ERROR_MEMORY;
        check(status == BOUGH_OK || status == BOUGH_ERROR_MEMORY);
        bough_scene_destroy(ctx, scene);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
        if (status == BOUGH_OK)
            break;
    }
}

/* A capsule or a cylinder that falls onto the floor lies there on its side, and a ball on two that are obstacles, within what
 * their hulls take off their radii; the floor bears the weight. */
static void round_shapes_bear_and_are_borne(void **unused) {
    (void)unused;
    static const char *shapes[] = {"capsule", "cylinder"}, *engines[] = {"mechanism", "multibody"};
    static const double within[] = {1 - 0.067, 1 - 0.02};
    for (int k = 0; k < 4; k++) {
        bough_context *ctx = test_context(1);
        const bool system = k / 2;
        char text[2000];
        snprintf(
            text, sizeof text,
            "{'bough': 1, %s 'bodies': [{'name': 'roll', 'density': 500, 'shape': {'%s': [0.05, 0.2], 'rotate_deg': "
            "[90, 0, 0]}, 'position': [0, 0, 0.1], 'spin': [0, 0.5, 0]%s}, {'name': 'ball', 'density': 500, 'shape': "
            "{'sphere': 0.1}, "
            "'position': [3, 0, 0.5]%s}], 'obstacles': [{'name': 'floor', 'shape': {'plane': true}}, {'name': 'rails', "
            "'shape': [{'%s': [0.1, 1], 'rotate_deg': [90, 0, 0], 'position': [2.9, 0, 0.2]}, {'%s': [0.1, 1], "
            "'rotate_deg': [90, 0, 0], 'position': [3.1, 0, 0.2]}]}], 'gravity': [0, 0, -9.81], 'probes': [{'name': "
            "'roll', 'body': 'roll'}, {'name': 'ball', 'body': 'ball'}, {'name': 'borne', 'contact': 'roll', "
            "'against': 'floor'}], 'time': {'dt': 0.005, 'duration': 3}}",
            system ? "'engine': {'kind': 'multibody'}, " : "", shapes[k % 2], system ? ", 'touch': true" : "",
            system ? ", 'touch': true" : "", shapes[k % 2], shapes[k % 2]);
        const bough_run_def def = bough_default_run_def();
        play p = begin_file(ctx, write_scene("round.json", text), &def);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        const double r = 0.05, length = 0.2, volume = acos(-1) * r * r * (length + (k % 2 ? 0 : 4. / 3 * r));
        const double z = value(&p, "roll.z"), ball = value(&p, "ball.z"), high = 0.2 + sqrt(0.2 * 0.2 - 0.1 * 0.1);
        printf("%s, %s: lies at %.4f m with %.6g N; the ball at %.4f of %.4f m\n", engines[k / 2], shapes[k % 2], z,
               value(&p, "borne.fz"), ball, high);
        check(z > within[k % 2] * r - 1e-4 && z < r + 1e-4);
        check_near(value(&p, "borne.fz"), 500 * volume * 9.81, 2e-5);
        check(ball > high - 0.0134 && ball < high + 1e-4);
        end(ctx, &p);
        bough_context_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_collides_stands_on_the_floor),
        cmocka_unit_test(round_shapes_bear_and_are_borne),
        cmocka_unit_test(hulls_of_what_is_round_are_as_round_as_is_said),
        cmocka_unit_test(bodies_lie_on_links_and_links_leave_each_other_alone),
        cmocka_unit_test(wrong_wishes_are_refused),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
