/* bough mesh, and the mesh entries of files, with meshes as other programs leave them. */
#include "program.h"

static void write_text(const char *name, const char *words) {
    mkdir(work(""), 0700);
    test_write(work(name), words, strlen(words));
}

/* A brick of 10 x 20 x 40 mm that stands on y, with a byte-order mark and its letters in upper case. */
static void write_brick(void) {
    write_text("brick.obj", "\xEF\xBB\xBFV 0 0 0\nV 10 0 0\nV 10 0 40\nV 0 0 40\nV 0 20 0\nV 10 20 0\nV 10 20 40\n"
                            "V 0 20 40\nF 1 2 3 4\nF 5 8 7 6\nF 1 5 6 2\nF 2 6 7 3\nF 3 7 8 4\nF 4 8 5 1\n");
}

static void check_brick(const json_t *info) {
    static const double lower[3] = {0, -0.04, 0}, upper[3] = {0.01, 0, 0.02};
    for (size_t d = 0; d < 3; d++) {
        check_near(item(info, "lower", d), lower[d], 1e-15);
        check_near(item(info, "upper", d), upper[d], 1e-15);
    }
}

static void a_brick_in_mm_with_y_up_becomes_one_in_m_with_z_up(void **state) {
    (void)state;
    json_t *info;
    write_brick();
    check_json(info, 0, "mesh", "convert", "brick.obj", "brick.stl", "--scale", "0.001", "--up", "y", "--json");
    check_brick(info);
    check_int((int)number(info, "vertices"), 8);
    json_decref(info);
    check_json(info, 0, "mesh", "info", "brick.stl", "--json");
    for (size_t d = 0; d < 3; d++) /* .stl holds single precision */
        check_near(item(info, "upper", d), ((double[]){0.01, 0, 0.02})[d], 1e-8);
    json_decref(info);
    check_json(info, 0, "mesh", "convert", "brick.obj", "turned.obj", "--rotate", "0,0,90", "--json");
    check_near(item(info, "lower", 0), -20, 0);
    json_decref(info);
}

static void generated_meshes_answer_in_json(void **state) {
    (void)state;
    json_t *info;
    write_brick();
    check_json(info, 0, "mesh", "generate", "voxels", "brick.obj", "--scale", "0.001", "--up", "y", "--cell", "0.005",
               "-o", "brick.msh", "--json");
    check_brick(info);
    check_int((int)number(info, "elements"), 2 * 4 * 8);
    check(strcmp(text(info, "file"), "brick.msh") == 0);
    json_decref(info);
    check_json(info, 0, "mesh", "generate", "box", "--cells", "2", "-o", "box.msh", "--json");
    check_near(number(info, "volume"), 1, 1e-12);
    json_decref(info);
}

static void wrong_transformations_get_a_sentence(void **state) {
    (void)state;
    write_brick();
    check_mistake(2, "should be a positive number", "mesh", "convert", "brick.obj", "a.stl", "--scale", "-1");
    check_mistake(1, "outside", "mesh", "convert", "brick.obj", "a.stl", "--scale", "1e9");
    check_mistake(2, "should be x, y or z", "mesh", "convert", "brick.obj", "a.stl", "--up", "w");
    check_mistake(2, "three numbers", "mesh", "convert", "brick.obj", "a.stl", "--rotate", "90");
    check_mistake(2, "mesh convert", "mesh", "info", "brick.obj", "--up", "y");
    check_mistake(2, "from files", "mesh", "generate", "box", "--up", "y", "-o", "a.msh");
    check(!exists("a.stl") && !exists("a.msh"));
}

/* Selections are made in metres with z up: the brick stands on z = 0. */
static void files_transform_their_meshes_before_they_select(void **state) {
    (void)state;
    json_t *info;
    write_brick();
    write_text(
        "brick.json",
        "\xEF\xBB\xBF{\"bough\": 1, \"mesh\": {\"generate\": \"voxels\", \"surface\": \"brick.obj\", \"scale\": 0.001,"
        " \"up\": \"y\", \"cell\": 0.005}, \"material\": {\"young\": 1e6, \"poisson\": 0.3, \"density\": 1000},"
        " \"fix\": [{\"select\": \"z<0.0001\"}], \"gravity\": [0, 0, -9.81]}");
    check_json(info, 0, "static", "brick.json", "--probe", "z>0.0199", "--json");
    const json_t *top = json_object_get(json_object_get(info, "probes"), "z>0.0199");
    check_int((int)number(top, "vertices"), 3 * 9);
    check(item(top, "displacement", 2) < 0);
    json_decref(info);
    check_run(0, "mesh", "generate", "box", "--size", "10,20,40", "--cells", "2", "-o", "mm.msh");
    write_text("file.json",
               "{\"bough\": 1, \"mesh\": {\"file\": \"mm.msh\", \"scale\": 0.001, \"rotate_deg\": [90, 0, 0]},"
               " \"material\": {\"young\": 1e6, \"poisson\": 0.3, \"density\": 1000},"
               " \"fix\": [{\"select\": \"z<0.0001\"}], \"gravity\": [0, 0, -9.81]}");
    check_json(info, 0, "static", "file.json", "--probe", "z>0.0199", "--json");
    check(number(info, "max_displacement") < 1e-4);
    json_decref(info);
    write_text("wrong.json", "{\"bough\": 1, \"mesh\": {\"file\": \"mm.msh\", \"up\": \"w\"}}");
    check_mistake(1, "up", "static", "wrong.json");
    write_text("wrong.json", "{\"bough\": 1, \"mesh\": {\"file\": \"mm.msh\", \"scale\": 0}}");
    check_mistake(1, "scale", "static", "wrong.json");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_brick_in_mm_with_y_up_becomes_one_in_m_with_z_up),
        cmocka_unit_test(generated_meshes_answer_in_json),
        cmocka_unit_test(wrong_transformations_get_a_sentence),
        cmocka_unit_test(files_transform_their_meshes_before_they_select),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
