/* Multibody systems on the command line: examples run, resume, are drawn, and settle. */
#include "program.h"

static void copy_file(const char *name, const char *file) {
    char from[400];
    size_t size;
    snprintf(from, sizeof from, "%s/examples/%s/%s", BOUGH_SOURCE_DIR, name, file);
    unsigned char *text = test_read(from, &size);
    mkdir(work(""), 0700);
    test_write(work(file), text, size);
    free(text);
}

static void copy_example(const char *name) {
    copy_file(name, "scene.json");
}

/* After the motor has come back the weight swings as a beam with a weight, its own weight and that of what it carries
 * pressing on it: k = 3 E I / l^3 - 6/5 m g / l - 3/8 rod g / l, against m + 33/140 of the rod. Swings of 0.3 m are somewhat faster. */
static void one_rod_swings_as_it_should(void **state) {
    (void)state;
    int rows, same;
    copy_example("one-rod");
    check_run(0, "run", "scene.json", "--record", "rod.csv");
    double *t = test_column(work("rod.csv"), "time", &rows), *x = test_column(work("rod.csv"), "weight.x", &same);
    double *balance = test_column(work("rod.csv"), "balance", &same),
           *angle = test_column(work("rod.csv"), "motor.value", &same);
    double first = 0, last = 0;
    int count = 0;
    for (int i = 1; i < rows; i++) {
        check_below(balance[i], 0.005); /* nothing comes out of nothing */
        if (t[i] > 0.55 && t[i] < 1.15)
            check_near(angle[i], M_PI / 6, 1e-4);
        if (t[i] > 1.55 && x[i - 1] < 0 && x[i] >= 0) {
            last = t[i] - (t[i] - t[i - 1]) * x[i] / (x[i] - x[i - 1]);
            first = count++ ? first : last;
        }
    }
    const double EI = 2e11 * M_PI * pow(0.004, 4) / 64, l = 0.7, m = 0.1, rod = 0.069, g = 9.81;
    const double k = 3 * EI / (l * l * l) - 1.2 * m * g / l - 0.375 * rod * g / l;
    const double hz = sqrt(k / (m + 33.0 / 140 * rod)) / (2 * M_PI);
    check(count >= 2);
    print_message("%g Hz, theory of small swings %g Hz\n", (count - 1) / (last - first), hz);
    check_near((count - 1) / (last - first), hz, 0.02 * hz);
    free(t), free(x), free(balance), free(angle);
}

static void two_rods_resume_and_are_drawn(void **state) {
    (void)state;
    size_t sizes[2];
    copy_example("two-rods");
    check_run(0, "run", "scene.json", "--time", "1", "--record", "whole.csv");
    check_run(0, "run", "scene.json", "--time", "0.4", "--record", "half.csv", "--checkpoint", "half.state");
    check_run(0, "run", "scene.json", "--time", "1", "--record", "half.csv", "--resume", "half.state");
    unsigned char *whole = test_read(work("whole.csv"), &sizes[0]), *half = test_read(work("half.csv"), &sizes[1]);
    check(sizes[0] == sizes[1] && !memcmp(whole, half, sizes[0]));
    free(whole), free(half);
    check_run(0, "picture", "scene.json", "--time", "0.1", "--size", "160x90", "-o", "picture.png");
    check_run(0, "movie", "scene.json", "--time", "0.1", "--size", "160x90", "-o", "film.png");
    check_run(0, "run", "scene.json", "--time", "0.1", "--record", "film.glb", "--record", "u.npy", "--record",
              "all.npz", "--record", "surface/s.obj", "--frames", "frames");
    check_run(0, "static", "scene.json", "--json");
    json_t *told = json_loads(out, 0, NULL);
    check(told && !strcmp(json_string_value(json_object_get(told, "engine")), "multibody"));
    check_below(json_number_value(json_object_get(told, "residual")), 1e-9);
    json_decref(told);
    check_run(0, "cook", "scene.json");
    check_run(0, "modes", "scene.json", "-n", "2");
    check_run(1, "pack", "scene.json");
    check(strstr(err, "steps scenes of parts only"));
}

/* Finds the distance of the tool from that of an arm that does not bend: at the start, and at most. */
static void find_distance(const char *a, const char *b, double *start, double *most) {
    static const char *const names[] = {"tool.x", "tool.y", "tool.z"};
    double *x[3], *y[3];
    int rows, same;
    for (int d = 0; d < 3; d++)
        x[d] = test_column(work(a), names[d], &rows), y[d] = test_column(work(b), names[d], &same);
    check_int(rows, same);
    *most = 0;
    for (int i = 0; i < rows; i++) {
        const double apart = hypot(hypot(x[0][i] - y[0][i], x[1][i] - y[1][i]), x[2][i] - y[2][i]);
        *start = i == 0 ? apart : *start;
        *most = fmax(*most, apart);
    }
    for (int d = 0; d < 3; d++)
        free(x[d]), free(y[d]);
}

/* The example's page has these figures. Its scene, written out, moves alike. */
static void an_arm_from_urdf_bends(void **state) {
    (void)state;
    double start, most;
    copy_example("bending-arm");
    copy_file("bending-arm", "arm.urdf");
    copy_file("bending-arm", "motors.csv");
    check_run(0, "run", "scene.json", "--record", "bends.csv");
    check_run(0, "robot", "scene.json", "-o", "all.json");
    check_run(0, "run", "all.json", "--record", "all.csv");
    find_distance("bends.csv", "all.csv", &start, &most);
    check_below(most, 2e-11);
    json_t *scene = json_load_file(work("scene.json"), 0, NULL);
    json_object_del(json_object_get(scene, "robot"), "flexible");
    json_object_del(scene, "components");
    json_array_remove(json_object_get(scene, "probes"), 2); /* at a part, which is none now */
    check(json_dump_file(scene, work("rigid.json"), 0) == 0);
    json_decref(scene);
    check_run(0, "run", "rigid.json", "--record", "rigid.csv");
    find_distance("bends.csv", "rigid.csv", &start, &most);
    check_near(start, 0.0284, 0.0002);
    check_near(most, 0.0975, 0.0004);
    check_run(0, "robot", "arm.urdf", "-o", "falls.json");
    check_run(0, "run", "falls.json", "--time", "0.5");
    test_write_text(work("ball.xml"),
                    "<mujoco><worldbody><body><freejoint/><geom size='0.1'/></body></worldbody></mujoco>");
    check_run(0, "run", "ball.xml", "--time", "0.1", "--json");
    check_run(1, "run", "arm.urdf", "--time", "0.1"); /* a mechanism, without its springs */
    check(strstr(err, "bough robot"));
    check_run(1, "robot", "rigid.csv", "-o", "x.json");
    check_run(2, "robot", "arm.urdf");
    check(strstr(err, "-o SCENE.json"));
}

/* Writes the scene with another damping of its rod. */
static void damp(const char *stiffness) {
    size_t size;
    unsigned char *text = test_read(work("scene.json"), &size);
    char *other = calloc(size + 100, 1), *at;
    memcpy(other, text, size);
    check((at = strstr(other, "\"stiffness\": 0.0002")) != NULL);
    char *rest = strdup(strpbrk(at, "}"));
    snprintf(at, 100, "\"stiffness\": %s", stiffness);
    strcat(other, rest);
    test_write(work("damped.json"), other, strlen(other));
    free(rest), free(other), free(text);
}

/* Six times the damping by the engine's own steps, and fifty times by a method that can bear it. */
static void damped_rods_go_through_the_straight(void **state) {
    (void)state;
    copy_example("one-rod");
    for (int i = 0; i < 2; i++) {
        damp(i == 0 ? "0.0012" : "0.01");
        check_run(0, "run", "damped.json", "--time", "0.6", "--json", "--integrator", i == 0 ? "bdf2" : "tr-bdf2");
        json_t *told = json_loads(out, 0, NULL);
        check(told && json_integer_value(json_object_get(told, "retries")) == 0);
        json_decref(told);
    }
}

/* A chain of 40 links that falls from level whips at t = 2.78 s: steps of 15 ms are too long for that one moment, and half
 * of one gets over it. */
static void whips_are_stepped_in_halves(void **state) {
    (void)state;
    enum { LINKS = 40 };
    static char text[20000];
    char *at = text;
    at += sprintf(
        at, "{\"bough\": 1, \"gravity\": [0, 0, -9.81], \"time\": {\"dt\": 0.015, \"duration\": 3}, \"bodies\": [");
    for (int i = 0; i < LINKS; i++)
        at += sprintf(
            at,
            "%s{\"name\": \"b%d\", \"position\": [%g, 0, 0], \"mass\": 0.03, \"shape\": {\"box\": [0.09, 0.02, 0.02]}}",
            i ? ", " : "", i, 0.05 + 0.1 * i);
    at += sprintf(at, "], \"joints\": [");
    for (int i = 0; i < LINKS; i++) {
        char parent[16];
        snprintf(parent, sizeof parent, "b%d", i - 1);
        at += sprintf(at,
                      "%s{\"name\": \"j%d\", \"kind\": \"hinge\", \"parent\": \"%s\", \"child\": \"b%d\", "
                      "\"position\": [%g, 0, 0], \"axis\": [0, 1, 0], \"damping\": 1e-4}",
                      i ? ", " : "", i, i ? parent : "world", i, 0.1 * i);
    }
    sprintf(at, "]}");
    mkdir(work(""), 0700);
    test_write(work("whip.json"), text, strlen(text));
    check_run(0, "run", "whip.json", "--json", "--record", "whip.csv");
    check(strstr(err, "going on with halves of it"));
    json_t *told = json_loads(out, 0, NULL);
    const int64_t retries = json_integer_value(json_object_get(told, "retries"));
    check(retries >= 1 && retries < 10);
    json_decref(told);
    int rows;
    double *balance = test_column(work("whip.csv"), "balance", &rows),
           *kinetic = test_column(work("whip.csv"), "kinetic", &rows);
    double most = 0;
    for (int i = 0; i < rows; i++)
        most = fmax(most, kinetic[i]);
    for (int i = 0; i < rows; i++)
        check(balance[i] < 0.02 * most); /* none of it out of nothing */
    free(balance), free(kinetic);
}

/* The table begins in the equilibrium of `static`, returns to it with the motor, and holds the weight to the side in
 * between; quaternions are unit ones. */
static void two_rods_have_targets(void **state) {
    (void)state;
    int rows, same;
    copy_example("two-rods");
    check_run(0, "static", "scene.json", "--along", "--every", "0.05", "--csv", "targets.csv", "--json");
    json_t *told = json_loads(out, 0, NULL);
    check(told && json_is_true(json_object_get(told, "complete")));
    check_int(json_integer_value(json_object_get(told, "times")), 81);
    check_int(json_integer_value(json_object_get(told, "snap_count")), 0);
    json_decref(told);
    check_run(0, "static", "scene.json", "--json");
    told = json_loads(out, 0, NULL);
    const json_t *weight = json_object_get(json_object_get(told, "probes"), "weight");
    const double expected = json_number_value(json_array_get(json_object_get(weight, "position"), 2));
    double *t = test_column(work("targets.csv"), "time", &rows),
           *z = test_column(work("targets.csv"), "weight.z", &same);
    double *angle = test_column(work("targets.csv"), "elbow.value", &same);
    check_int(rows, 81);
    check_near(z[0], expected, 1e-9);
    check_near(z[rows - 1], expected, 1e-9);
    for (int i = 0; i < rows; i++) {
        check_near(t[i], 0.05 * i, 1e-12);
        if (t[i] >= 1 && t[i] <= 2)
            check(fabs(angle[i] - M_PI / 2) < 1e-9 && z[i] < 0.3); /* it hangs down by its weight */
    }
    double *q[4];
    static const char *const names[] = {"weight.qw", "weight.qx", "weight.qy", "weight.qz"};
    for (int k = 0; k < 4; k++)
        q[k] = test_column(work("targets.csv"), names[k], &same);
    for (int i = 0; i < rows; i++)
        check_near(q[0][i] * q[0][i] + q[1][i] * q[1][i] + q[2][i] * q[2][i] + q[3][i] * q[3][i], 1, 1e-13);
    for (int k = 0; k < 4; k++)
        free(q[k]);
    free(t), free(z), free(angle);
    json_decref(told);
    check_mistake(2, "--every, --time and --csv are for --along", "static", "scene.json", "--csv", "a.csv");
    check_mistake(2, "--along writes a table", "static", "scene.json", "--along", "--picture", "a.png");
}

/* The sentence leads to the line of the joint that misses most. */
static void parts_that_do_not_fit_are_shown_in_the_file(void **state) {
    (void)state;
    static const char text[] =
        "{\"bough\": 1,\n"
        " \"bodies\": [{\"name\": \"a\", \"position\": [0.5, 0, 0], \"mass\": 1, \"shape\": {\"sphere\": 0.1}}],\n"
        " \"joints\": [\n"
        "  {\"name\": \"near\", \"kind\": \"ball\", \"parent\": \"world\", \"child\": \"a\", "
        "\"position\": [0, 0, 0]},\n"
        "  {\"name\": \"far\", \"kind\": \"ball\", \"parent\": {\"body\": \"world\", "
        "\"position\": [3, 0, 0]}, \"child\": {\"body\": \"a\", \"position\": [0.5, 0, 0]}}],\n"
        " \"time\": {\"dt\": 0.001, \"duration\": 1}}\n";
    mkdir(work(""), 0700);
    test_write(work("apart.json"), text, strlen(text));
    check_run(1, "run", "apart.json");
    check(strstr(err, "apart.json:5:3: joints[1]: the parts do not fit together: joint 1 (far) misses by 2 m"));
}

/* Root mean square distance of the two recordings of a probe, over that of the second from its mean. */
static double deviation(const char *probe) {
    double apart = 0, motion = 0;
    for (int d = 0; d < 3; d++) {
        char name[64];
        int rows, same;
        snprintf(name, sizeof name, "%s.%c", probe, 'x' + d);
        double *x = test_column(work("reduced.csv"), name, &rows), *y = test_column(work("full.csv"), name, &same),
               mean = 0;
        check_int(same, rows);
        for (int i = 0; i < rows; i++)
            mean += y[i] / rows;
        for (int i = 0; i < rows; i++)
            apart += (x[i] - y[i]) * (x[i] - y[i]), motion += (y[i] - mean) * (y[i] - mean);
        free(x), free(y);
    }
    return sqrt(apart / motion);
}

static void the_dancers_hands_are_where_its_twin_has_them(void **state) {
    (void)state;
    if (!test_long())
        test_skip("takes half a minute: ./bough test --long");
    mkdir(work(""), 0700);
    check_run(0, "example", "dancer", "-o", "dancer");
    check_run(0, "run", "dancer/scene.json", "--time", "2", "--record", "reduced.csv");
    check_run(0, "run", "dancer/scene.json", "--time", "2", "--record", "full.csv", "--engine", "full");
    check_below(deviation("left hand"), 3e-5);
    check_below(deviation("right hand"), 1e-4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_rod_swings_as_it_should),
                                       cmocka_unit_test(two_rods_resume_and_are_drawn),
                                       cmocka_unit_test(damped_rods_go_through_the_straight),
                                       cmocka_unit_test(whips_are_stepped_in_halves),
                                       cmocka_unit_test(two_rods_have_targets),
                                       cmocka_unit_test(parts_that_do_not_fit_are_shown_in_the_file),
                                       cmocka_unit_test(an_arm_from_urdf_bends),
                                       cmocka_unit_test(the_dancers_hands_are_where_its_twin_has_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
