/* bough modes of scenes: a chain cut from one beam against the beam, mechanisms, and what can be written of them. */
#include "program.h"

#define BEAM                                                                                          \
    "{\"generate\": \"box\", \"size\": [3, 0.25, 0.25], \"cells\": [24, 2, 2], \"type\": \"tet4\"}, " \
    "\"material\": {\"model\": \"stvk\", \"young\": 1e7, \"poisson\": 0.4, \"density\": 1000}"

static void write_chain(void) {
    static const char body[] = "{\"bough\": 1, \"mesh\": " BEAM ", \"fix\": [{\"select\": \"x<0.001\"}]}";
    static const char scene[] =
        "{\"bough\": 1, \"object\": {\"mesh\": " BEAM ", \"sets\": {\"a\": {\"elements\": \"x<1.001\"},"
        " \"b\": {\"elements\": \"x>0.999 & x<2.001\"}, \"c\": {\"elements\": \"x>1.999\"},"
        " \"wall\": {\"vertices\": \"x<0.001\"}}, \"domains\": [\"a\", \"b\", \"c\"], \"root\": \"a\","
        " \"fix\": \"wall\", \"basis\": {\"r\": 10}}, \"gravity\": [0, 0, -9.81]}";
    mkdir(work(""), 0700);
    test_write(work("beam.json"), body, sizeof body - 1);
    test_write(work("chain.json"), scene, sizeof scene - 1);
}

/* An independent implementation found 2.91, 1.18 and 1.00 times the full beam's lowest frequency. */
static void a_chain_vibrates_as_the_beam_it_was_cut_from(void **state) {
    (void)state;
    json_t *full, *tree;
    static const struct {
        const char *coupling;
        double ratio, within;
    } rows[] = {{"L1", 2.907, 0.03}, {"L2", 1.177, 0.02}, {"L3", 0.998, 0.005}};
    write_chain();
    check_json(full, 0, "modes", "beam.json", "-n", "4", "--json");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_json(tree, 0, "modes", "chain.json", "-n", "4", "--coupling", rows[i].coupling, "--json");
        check(strcmp(text(tree, "coupling"), rows[i].coupling) == 0);
        check_near(item(tree, "frequencies_hz", 0) / item(full, "frequencies_hz", 0), rows[i].ratio,
                   rows[i].within * rows[i].ratio);
        for (size_t k = 0; k < 4 && i == 2; k++) /* two bending pairs */
            check_near(item(tree, "frequencies_hz", k) / item(full, "frequencies_hz", k), 1, 0.03);
        json_decref(tree);
    }
    json_decref(full);
}

static void shapes_are_drawn_and_written(void **state) {
    (void)state;
    json_t *tree;
    write_chain();
    check_json(tree, 0, "modes", "chain.json", "-n", "3", "--settle", "--shape", "2", "--picture", "mode.png",
               "--output", "modes.vtu", "--json");
    check(truth(tree, "settled") && number(tree, "settle_residual") < 1e-6);
    json_decref(tree);
    check_is_png("mode.png");
    check_is_vtu("modes.vtu");
    check_run(0, "modes", "chain.json", "-n", "2");
    check(strstr(out, "mode   frequency (Hz)") != NULL);
    check_mistake(2, "leave out options", "modes", "chain.json", "--young", "1e6");
    check_mistake(2, "scenes of parts", "modes", "beam.json", "--settle");
    check_mistake(1, "L4", "modes", "chain.json", "--coupling", "L4");
}

static void mechanisms_have_modes(void **state) {
    (void)state;
    json_t *modes, *info;
    const char *arm = BOUGH_SOURCE_DIR "/examples/urdf-arm/arm.urdf";
    if (access(arm, R_OK) != 0)
        arm = NULL;
    check(arm != NULL);
    check_json(modes, 0, "modes", arm, "-n", "3", "--json", "--picture", "arm.png", "-o", "arm.vtu");
    check_json(info, 0, "mechanism", "info", arm, "--frequencies", "3", "--json");
    for (size_t k = 0; k < 3; k++)
        check_near(item(modes, "frequencies_hz", k), item(info, "frequencies_hz", k), 1e-9);
    check(item(modes, "reduced_frequencies_hz", 0) >= item(modes, "frequencies_hz", 0) * (1 - 1e-9));
    check_is_png("arm.png");
    check_is_vtu("arm.vtu");
    json_decref(modes);
    json_decref(info);
}

/* A rod that stands upright in a motor, with a weight at its end, against a beam with the weight of both pressing on it:
 * k = 3 E I / l^3 - 6/5 m g / l - 3/8 rod g / l, against m + 33/140 of the rod. */
static void multibody_systems_have_modes(void **state) {
    (void)state;
    const char *rod = BOUGH_SOURCE_DIR "/examples/one-rod/scene.json";
    const double EI = 2e11 * M_PI * pow(0.004, 4) / 64, l = 0.7, m = 0.1, own = 0.069, g = 9.81;
    const double stiff = 3 * EI / (l * l * l), press = 1.2 * m * g / l + 0.375 * own * g / l,
                 heavy = m + 33. / 140 * own;
    json_t *modes;
    check_json(modes, 0, "modes", rod, "-n", "2", "--json");
    for (size_t k = 0; k < 2; k++) /* in both planes */
        check_near(item(modes, "frequencies_hz", k) / (sqrt(stiff / heavy) / (2 * M_PI)), 1, 0.02);
    json_decref(modes);
    check_json(modes, 0, "modes", rod, "-n", "2", "--settle", "--json", "--picture", "rod.png", "-o", "rod.vtu");
    for (size_t k = 0; k < 2; k++)
        check_near(item(modes, "frequencies_hz", k) / (sqrt((stiff - press) / heavy) / (2 * M_PI)), 1, 0.02);
    check(json_is_true(json_object_get(modes, "settled")));
    check_is_vtu("rod.vtu");
    json_decref(modes);
    check_mistake(2, "--coupling is for scenes of parts", "modes", rod, "--coupling", "L2");
    check_mistake(1, "the tree engine steps scenes of parts only", "pack", rod);
}

static void a_scene_of_a_body_has_its_modes(void **state) {
    (void)state;
    json_t *modes;
    check_json(modes, 0, "modes", BOUGH_SOURCE_DIR "/examples/beam/scene.json", "-n", "2", "--json");
    check(item(modes, "frequencies_hz", 0) > 0.1);
    json_decref(modes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_vibrates_as_the_beam_it_was_cut_from),
        cmocka_unit_test(shapes_are_drawn_and_written),
        cmocka_unit_test(mechanisms_have_modes),
        cmocka_unit_test(multibody_systems_have_modes),
        cmocka_unit_test(a_scene_of_a_body_has_its_modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
