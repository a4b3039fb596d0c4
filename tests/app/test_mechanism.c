/* bough mechanism: what it tells of an arm that is known on paper, and of the example's. */
#include "program.h"

#define ARM BOUGH_SOURCE_DIR "/examples/urdf-arm/arm.urdf"
#define SPRINGS BOUGH_SOURCE_DIR "/examples/urdf-arm/arm.dynamics.json"

/* Two links of 0.5 m with 50 and 20 N m / rad, and a tool at 0.4 m of the second: levers of 0.9 and 0.4 m. */
static void write_paper_arm(void) {
    mkdir(work(""), 0700);
    test_write_text(
        work("arm.urdf"),
        "<robot name='paper'><link name='base'/>"
        "<link name='a'><inertial><mass value='2'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "
        "iyz='0'/></inertial></link>"
        "<link name='b'><inertial><mass value='3'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "
        "iyz='0'/></inertial></link><link name='tool'/>"
        "<joint name='one' type='continuous'><parent link='base'/><child link='a'/><axis xyz='0 0 1'/></joint>"
        "<joint name='two' type='continuous'><parent link='a'/><child link='b'/><origin xyz='0.5 0 0'/><axis xyz='0 0 "
        "1'/></joint>"
        "<joint name='weld' type='fixed'><parent link='b'/><child link='tool'/><origin xyz='0.4 0 0'/></joint>"
        "</robot>");
    test_write_text(work("springs.json"),
                    "{\"bough\": 1, \"joints\": {\"one\": {\"stiffness\": 50}, \"two\": {\"stiffness\": 20}}}");
}

/* The second link turns with the first: M = [1 + 1 + 3 / 4, 1; 1, 1] for the angles of a and of b against a. */
static void info_tells_what_is_there(void **state) {
    (void)state;
    json_t *o;
    write_paper_arm();
    check_json(o, 0, "mechanism", "info", "arm.urdf", "--dynamics", "springs.json", "--json");
    check_int(json_array_size(json_object_get(o, "links")), 3);
    check_int(json_array_size(json_object_get(o, "joints")), 2);
    check(!strcmp(text(o, "base"), "base"));
    check(!truth(o, "free_base"));
    check_int(number(o, "coordinates"), 2);
    check_int(number(o, "loops"), 0);
    check_int(number(o, "rank"), 2);
    check_near(number(o, "mass"), 5, 0);
    check(!strcmp(text(json_array_get(json_object_get(o, "end_effectors"), 0), "name"), "tool"));
    /* det(K - w^2 M) = 0 with K = diag(50, 20), M = [2.75, 1; 1, 1] */
    const double a = 2.75 - 1, b = -(50 + 20 * 2.75), c = 50 * 20;
    const double low = (-b - sqrt(b * b - 4 * a * c)) / (2 * a), high = (-b + sqrt(b * b - 4 * a * c)) / (2 * a);
    check_near(item(o, "frequencies_hz", 0), sqrt(low) / (2 * M_PI), 1e-9);
    check_near(item(o, "frequencies_hz", 1), sqrt(high) / (2 * M_PI), 1e-9);
    json_decref(o);
    check_run(0, "mechanism", "info", "arm.urdf", "--dynamics", "springs.json", "-n", "1");
    check(strstr(out, "paper") && strstr(out, "2 hinge; 0 with limits") && strstr(out, "base, held"));
    check(strstr(out, "tool                 on b; cannot move along or about its x, z, rx, ry"));
    check(!err[0]);
}

static void compliance_is_that_of_levers(void **state) {
    (void)state;
    json_t *o;
    write_paper_arm();
    check_json(o, 0, "mechanism", "compliance", "arm.urdf", "--dynamics", "springs.json", "--json", "--npy", "C.npy");
    json_t *rows = json_object_get(o, "compliance");
    check_int(json_array_size(rows), 6);
    const double lever = 0.9 * 0.9 / 50 + 0.4 * 0.4 / 20;
    check_near(json_number_value(json_array_get(json_array_get(rows, 1), 1)), lever, 1e-14);
    check_int(number(o, "rank"), 2);
    check_below(number(o, "difference_of_methods"), 1e-12);
    check_int(json_array_size(json_object_get(o, "rigid")), 4);
    json_decref(o);
    size_t size;
    unsigned char *npy = test_read(work("C.npy"), &size);
    double C[36];
    check(size >= sizeof C);
    memcpy(C, npy + size - sizeof C, sizeof C);
    check_near(C[7], lever, 1e-14);
    check_near(C[35], 1.0 / 50 + 1.0 / 20, 1e-14);
    free(npy);
    check_run(0, "mechanism", "compliance", "arm.urdf", "--dynamics", "springs.json", "-e", "a,tool", "--method",
              "recursive");
    check(strstr(out, "directions that give way: 2 of 12"));
    check(strstr(out, "a cannot move along or about its x, y, z, rx, ry"));
    check(strstr(out, "tool cannot move along or about its x, z, rx, ry"));
    /* a turns by 1, b by 1 + u: y = 0.9 + 0.4 u = 0.5 of a's turn + 0.4 of the tool's */
    const char *combined = strstr(out, "\n  cannot move along ");
    double a = 0, y = 0, rz = 0, radius = 0;
    check(combined &&
          sscanf(combined, " cannot move along %lf a.rz %*c %lf tool.y %*c %lf tool.rz, with angles times %lf", &a, &y,
                 &rz, &radius) == 4);
    check_near(fabs(a / y) * radius, 0.5, 0.002);
    check_near(fabs(rz / y) * radius, 0.4, 0.002);
}

static void choices_are_compared(void **state) {
    (void)state;
    json_t *o;
    check_json(o, 0, "mechanism", "reduce", ARM, "--dynamics", SPRINGS, "--json", "--steps", "50", "-e", "tool", "-e",
               "tool,forearm", "-e", "all");
    json_t *choices = json_object_get(o, "choices");
    check_int(json_array_size(choices), 3);
    double before = INFINITY;
    for (size_t k = 0; k < 3; k++) { /* more end effectors, less is lost */
        json_t *choice = json_array_get(choices, k);
        const double lost = number(choice, "frequency_error");
        check(lost >= -1e-9 && lost <= before + 1e-9);
        before = lost;
        check(number(choice, "step_seconds") > 0);
    }
    check_below(number(json_array_get(choices, 2), "frequency_error"), 1e-9);
    check_below(number(json_array_get(choices, 2), "static_error"), 1e-9);
    check_int(number(json_array_get(choices, 2), "rank"), 7);
    json_decref(o);
    /* what is beyond the forearm swings by itself: internal modes see it */
    check_json(o, 0, "mechanism", "reduce", ARM, "--json", "--steps", "0", "-e", "forearm", "-e", "forearm+2");
    choices = json_object_get(o, "choices");
    check_int(number(json_array_get(choices, 1), "internal_modes"), 2);
    check(number(json_array_get(choices, 0), "frequency_error") > 0.01);
    check_below(number(json_array_get(choices, 1), "frequency_error"), 1e-11);
    json_decref(o);
    check_mistake(1, "internal modes are not written", "mechanism", "reduce", ARM, "-e", "tool+1", "-o", "m.npz");
    check_mistake(1, "internal modes (+1) are for reduce", "mechanism", "info", ARM, "-e", "tool+1");
    check_run(0, "mechanism", "reduce", ARM, "--dynamics", SPRINGS, "--steps", "10");
    check(strstr(out, "tool,finger_left,finger_ri..."));
}

static void reduced_models_are_written(void **state) {
    (void)state;
    write_paper_arm();
    check_run(0, "mechanism", "reduce", "arm.urdf", "--dynamics", "springs.json", "--steps", "0", "-o", "model.json");
    json_t *o = json_load_file(work("model.json"), JSON_REJECT_DUPLICATES, NULL);
    check(o);
    check(!strcmp(json_string_value(json_array_get(json_object_get(o, "links"), 2)), "b"));
    check_int(json_array_size(json_object_get(o, "Psi")), 18);
    /* K C K = K along y, and the twist maps give the tool's own motion back: b at the tool turns as the tool does */
    json_t *K = json_object_get(o, "K"), *C = json_object_get(o, "C");
    double product = 0;
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++)
            product += json_number_value(json_array_get(json_array_get(K, 1), i)) *
                       json_number_value(json_array_get(json_array_get(C, i), j)) *
                       json_number_value(json_array_get(json_array_get(K, j), 1));
    check_near(product, json_number_value(json_array_get(json_array_get(K, 1), 1)), 1e-10);
    json_t *turn = json_array_get(json_object_get(o, "Psi"), 17);
    check_near(json_number_value(json_array_get(turn, 5)), 1, 1e-9);
    check_near(json_number_value(json_array_get(turn, 1)), 0, 1e-9);
    json_decref(o);
    check_run(0, "mechanism", "reduce", "arm.urdf", "--dynamics", "springs.json", "--steps", "0", "-o", "model.npz");
    size_t size;
    unsigned char *npz = test_read(work("model.npz"), &size);
    check(size > 1000 && npz[0] == 'P' && npz[1] == 'K');
    free(npz);
}

/* The same run by both commands, and by a scene that names the robot. */
static void robots_run(void **state) {
    (void)state;
    json_t *one, *two, *three;
    write_paper_arm();
    test_write_text(work("arm.dynamics.json"),
                    "{\"bough\": 1, \"joints\": {\"one\": {\"stiffness\": 50}, \"two\": {\"stiffness\": 20}}}");
    test_write_text(work("scene.json"),
                    "{\"bough\": 1, \"urdf\": \"arm.urdf\", \"probes\": [{\"name\": \"tool\", \"link\": \"tool\"}], "
                    "\"forces\": [{\"end_effector\": \"tool\", \"force\": [0, 1, 0]}], \"settle\": true}");
    check_json(one, 0, "run", "arm.urdf", "--time", "0.1", "--json");
    check_json(two, 0, "mechanism", "run", "arm.urdf", "--time", "0.1", "--json");
    check_int(number(one, "steps"), number(two, "steps"));
    check(!strcmp(text(one, "engine"), "mechanism"));
    check_json(three, 0, "mechanism", "run", "scene.json", "--time", "0.1", "--json", "--record", "arm.csv");
    check_near(number(json_object_get(three, "values"), "tool.uy"), 0.9 * 0.9 / 50 + 0.4 * 0.4 / 20, 1e-4);
    json_decref(one);
    json_decref(two);
    json_decref(three);
    check_json(one, 0, "mechanism", "compliance", "scene.json", "--json");
    check_near(json_number_value(json_array_get(json_array_get(json_object_get(one, "compliance"), 1), 1)),
               0.9 * 0.9 / 50 + 0.4 * 0.4 / 20, 1e-14);
    json_decref(one);
    check_run(0, "mechanism", "info", "scene.json", "-e", "b");
    check(strstr(out, "b                    on b"));
    check_run(0, "mechanism", "run", "--help");
    check(strstr(out, "bough mechanism run"));
    check_mistake(2, "for another side file write a scene", "mechanism", "run", "arm.urdf", "--dynamics", "x.json");
    check_mistake(1, "is a scene without links", "mechanism", "info", BOUGH_SOURCE_DIR "/examples/beam/scene.json");
    check_mistake(1, "--dynamics is for .urdf files", "mechanism", "info", "scene.json", "--dynamics", "x.json");
    remove(work("arm.dynamics.json"));
}

static void mistakes_are_told(void **state) {
    (void)state;
    write_paper_arm();
    check_mistake(2, "say what to do", "mechanism");
    check_mistake(2, "\"look\" should be info, compliance, reduce or run", "mechanism", "look");
    check_mistake(2, "name a", "mechanism", "info");
    check_mistake(2, "one file is enough", "mechanism", "info", "a", "b");
    check_mistake(2, "exact or recursive", "mechanism", "compliance", "arm.urdf", "--method", "fast");
    check_mistake(2, "ends in .npz or .json", "mechanism", "reduce", "arm.urdf", "-o", "model.txt");
    check_mistake(2, "--output is for reduce", "mechanism", "info", "arm.urdf", "-o", "model.npz");
    check_mistake(2, "--npy is for compliance", "mechanism", "info", "arm.urdf", "--npy", "C.npy");
    check_mistake(2, "reduce compares several", "mechanism", "info", "arm.urdf", "-e", "a", "-e", "b");
    check_mistake(2, "where --output writes a model", "mechanism", "reduce", "arm.urdf", "-e", "a", "-e", "b", "-o",
                  "m.npz");
    check_mistake(2, "would go over a file that is read", "mechanism", "reduce", "arm.urdf", "--dynamics",
                  "springs.json", "-o", "springs.json");
    check_mistake(1, "cannot be opened", "mechanism", "info", "nowhere.urdf");
    check_mistake(1, "joint \"one\" has no stiffness", "mechanism", "info", "arm.urdf");
    check_mistake(1, "there is no link \"hand\"", "mechanism", "info", "arm.urdf", "--dynamics", "springs.json", "-e",
                  "hand");
    check_mistake(1, "\"base\" is the base", "mechanism", "info", "arm.urdf", "--dynamics", "springs.json", "-e",
                  "base");
    check_run(0, "mechanism", "--help");
    check(strstr(out, "Examples:") && strstr(out, "bough mechanism info"));
}

/* A ring closes at its base, which the recursive method refuses; the exact one does not need it. */
static void compliance_needs_one_method_only(void **state) {
    (void)state;
    json_t *o;
    const char *ring = BOUGH_SOURCE_DIR "/examples/loop/scene.json";
    check_run(0, "mechanism", "compliance", ring);
    check(strstr(out, "directions that give way: 6 of 6"));
    check(strstr(out, "the two methods cannot be compared: recursive statics need"));
    check_json(o, 0, "mechanism", "compliance", ring, "--json");
    check(json_is_null(json_object_get(o, "difference_of_methods")));
    check_int(number(o, "rank"), 6);
    json_decref(o);
    check_mistake(1, "recursive statics need", "mechanism", "compliance", ring, "--method", "recursive");
}

/* Commands for other things say what a mechanism is for. */
static void other_commands_know_mechanisms(void **state) {
    (void)state;
    const char *scene = BOUGH_SOURCE_DIR "/examples/arm/scene.json";
    check_mistake(1, "is a mechanism, not a body", "cook", scene);
    check_mistake(2, "leave out options", "modes", scene, "--young", "1e6");
    check_mistake(2, "bough mechanism info", "info", scene);
    check_mistake(2, "bough mechanism info", "info", ARM);
    check_mistake(1, "is a mechanism", "pack", scene, "-o", "arm.pack");
    check_mistake(1, "not of the engine \"mechanism\"", "run", scene, "--inputs", "arm.inputs");
    check_mistake(1, "a coupling was chosen", "run", scene, "--coupling", "L2");
    check_mistake(1, "passes were chosen", "run", scene, "--passes", "2");
    check_mistake(1, "steps scenes of links, and this one has one body", "view",
                  BOUGH_SOURCE_DIR "/examples/beam/scene.json", "--engine", "mechanism");
    check_mistake(1, "steps scenes of parts, and this one has links", "view", scene, "--engine", "tree");
    check_mistake(2, "run comes first", "mechanism", "--json", "run", scene);
    check_run(0, "static", ARM);
    check(strstr(out, "equilibrium of the mechanism engine"));
}

/* The example's arm with motors of 60 degrees: the program says which engine it takes and why; with the other one,
 * which joint comes apart, once, and by how much in the report. */
static void far_motors_are_told_of(void **state) {
    (void)state;
    json_t *o;
    write_paper_arm();
    test_write_text(work("reach.json"),
                    "{\"bough\": 1, \"urdf\": \"" ARM "\", \"curves\": {\"a\": [[0, 0], [0.5, 60], [1, 0]]},"
                    "\"motors\": [{\"joint\": \"lift\", \"curve\": \"a\", \"degrees\": true},"
                    "{\"joint\": \"elbow\", \"curve\": \"a\", \"degrees\": true, \"scale\": -1}],"
                    "\"gravity\": [0, 0, -9.81], \"time\": {\"dt\": 0.01, \"duration\": 1}}");
    check_run(0, "run", "reach.json");
    if (!strstr(out, "engine                 full: the motors take the mechanism beyond") || strstr(err, "two sides"))
        fail_msg("%s%s", out, err);
    check_json(o, 0, "run", "reach.json", "--json");
    check(!strcmp(text(o, "engine"), "full") && strstr(text(o, "engine_reason"), "--engine mechanism"));
    check_below(number(json_object_get(o, "joint_gap"), "error"), 1e-9);
    json_decref(o);
    check_json(o, 0, "run", "reach.json", "--engine", "mechanism", "--json");
    check(json_is_null(json_object_get(o, "engine_reason")));
    const char *joint = text(json_object_get(o, "joint_gap"), "joint");
    check(number(json_object_get(o, "joint_gap"), "distance") > 0.05);
    const char *warning = strstr(err, "two sides of joint");
    check(warning && strstr(warning, joint) && !strstr(warning + 1, "two sides of joint"));
    check_int(number(o, "internal_modes"), 0);
    check_below(number(o, "frequency_error"), 0.01);
    json_decref(o);
}

/* An arm that is reduced to its first link: its frequency is off, and a run adds what is missing. */
static void info_tells_of_frequencies_that_are_off(void **state) {
    (void)state;
    json_t *o;
    write_paper_arm();
    check_json(o, 0, "mechanism", "info", "arm.urdf", "--dynamics", "springs.json", "-e", "a", "--json");
    check(number(o, "frequency_error") > 0.01);
    check_int(number(o, "automatic_modes"), 1);
    check_below(fabs(number(o, "frequency_error_with_modes")), 1e-6); /* two freedoms, both there */
    json_decref(o);
    check_run(0, "mechanism", "info", "arm.urdf", "--dynamics", "springs.json", "-e", "a");
    check(strstr(out, "above that of the whole; 1 internal mode, which a run adds by itself, makes that"));
    check_run(0, "mechanism", "reduce", "arm.urdf", "--dynamics", "springs.json", "-e", "a+auto");
    check(strstr(out, "a+1 "));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(info_tells_what_is_there),
        cmocka_unit_test(compliance_is_that_of_levers),
        cmocka_unit_test(choices_are_compared),
        cmocka_unit_test(reduced_models_are_written),
        cmocka_unit_test(robots_run),
        cmocka_unit_test(far_motors_are_told_of),
        cmocka_unit_test(info_tells_of_frequencies_that_are_off),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(compliance_needs_one_method_only),
        cmocka_unit_test(other_commands_know_mechanisms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
