/* Contacts and obstacles in the files that the program writes. */
#include "program.h"

#include "record/glb_reader.h"
#include "record/npz_reader.h"
#include "record/png_reader.h"

#include <math.h>

#define G 9.81

/* A cube of 1 kg that comes to rest on a plate, which rises slowly, beside a ball. */
static const char scene[] =
    "{\"bough\": 1, \"mesh\": {\"generate\": \"box\", \"type\": \"hex8\", \"size\": [0.1, 0.1, 0.1], \"cells\": [2, 2, "
    "2]}, "
    "\"material\": {\"model\": \"neo-hookean\", \"young\": 1e6, \"poisson\": 0.3, \"density\": 1000}, \"damping\": "
    "{\"stiffness\": 0.002}, \"gravity\": [0, 0, -9.81], \"obstacles\": [{\"name\": \"plate\", \"shape\": {\"box\": "
    "[0.3, "
    "0.3, 0.02], \"colour\": [1, 0, 0]}, \"track\": [{\"time\": 0, \"position\": [0.05, 0.05, -0.0102]}, {\"time\": "
    "0.2, "
    "\"position\": [0.05, 0.05, 0.0098]}, {\"time\": 1, \"position\": [0.05, 0.05, 0.0098]}]}, {\"name\": \"ball\", "
    "\"shape\": {\"sphere\": 0.05}, \"position\": [0.3, 0, 0]}], \"time\": {\"integrator\": \"backward-euler\", "
    "\"dt\": "
    "0.005, \"duration\": 0.5}, \"probes\": [{\"name\": \"on\", \"contact\": \"body\"}]}";

/* A soft cube of 1 kg on such a plate, as a part that flies, beside a ball. */
static const char parts[] =
    "{\"bough\": 1, \"components\": {\"cube\": {\"mesh\": {\"generate\": \"box\", \"type\": \"hex8\", \"size\": [0.1, "
    "0.1, 0.1], \"cells\": [2, 2, 2]}, \"material\": {\"young\": 1e6, \"poisson\": 0.3, \"density\": 1000}, "
    "\"damping\": {\"stiffness\": 0.002}, \"basis\": {\"r\": 6}}}, \"parts\": [{\"name\": \"soft\", "
    "\"component\": \"cube\", \"position\": [0.05, 0.05, 0.0501]}], \"gravity\": [0, 0, -9.81], \"obstacles\": "
    "[{\"name\": \"plate\", \"shape\": {\"box\": [0.3, 0.3, 0.02], \"colour\": [1, 0, 0]}, \"track\": [{\"time\": "
    "0, \"position\": [0.05, 0.05, -0.0102]}, {\"time\": 0.2, \"position\": [0.05, 0.05, 0.0098]}, {\"time\": 1, "
    "\"position\": [0.05, 0.05, 0.0098]}]}, {\"name\": \"ball\", \"shape\": {\"sphere\": 0.05}, \"position\": "
    "[0.3, 0, 0]}], \"engine\": {\"kind\": \"tree\"}, \"time\": {\"integrator\": \"hht\", \"dt\": 0.005, "
    "\"duration\": 0.5}, \"probes\": [{\"name\": \"under\", \"contact\": \"plate\"}]}";

static int prepare(void **state) {
    (void)state;
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    mkdir(work(""), 0700);
    test_write_text(work("plate.json"), scene);
    test_write_text(work("parts.json"), parts);
    check_run(0, "cook", "parts.json");
    return 0;
}

static void arrays_hold_the_contacts_of_each_frame(void **state) {
    (void)state;
    check_run(0, "run", "plate.json", "--record", "plate.npz", "--record", "plate.csv", "--fps", "20");
    npz_file file = read_npz(work("plate.npz"));
    const npz_array count = find_array(&file, "contact_count"), things = find_array(&file, "contact_things"),
                    x = find_array(&file, "contact_position"), n = find_array(&file, "contact_normal"),
                    force = find_array(&file, "contact_force"), along = find_array(&file, "contact_normal_force"),
                    friction = find_array(&file, "contact_friction"), gap = find_array(&file, "contact_gap"),
                    names = find_array(&file, "thing_names");
    int steps;
    double *on = test_column(work("plate.csv"), "on.fz", &steps), push = 0;
    size_t i = 0;
    check_int(count.count, 11);
    for (size_t k = 0; k < count.count; k++) {
        push = 0;
        for (const size_t until = i + (size_t)number_at(&count, k); i < until; i++) {
            push += number_at(&force, 3 * i + 2);
            assert_string_equal(text_at(&names, (size_t)number_at(&things, 2 * i)), "body");
            assert_string_equal(text_at(&names, (size_t)number_at(&things, 2 * i + 1)), "plate");
            check(number_at(&gap, i) > 0 && number_at(&n, 3 * i + 2) > 0.9999 && number_at(&x, 3 * i + 2) < 0.05);
            for (size_t d = 3 * i; d < 3 * i + 3; d++)
                check_near(number_at(&along, i) * number_at(&n, d) + number_at(&friction, d), number_at(&force, d),
                           1e-14);
        }
        check_near(push, on[10 * k], 1e-13); /* 20 frames and 200 steps a second */
    }
    check_int(i, gap.count);
    check_int(3 * i, x.count);
    check(push > 0.9 * G && push < 1.1 * G); /* the plate still slows down a little */
    free(on);
    free(file.bytes);
}

/* Meshes are the body, then its obstacles; the plate, and the ball that stands beside it. */
static void films_of_bodies_show_obstacles(void **state) {
    (void)state;
    check_run(0, "run", "plate.json", "--record", "plate.glb", "--fps", "20");
    glb_file file = read_glb(work("plate.glb"));
    static const char *const names[] = {"body", "plate", "ball"};
    check_int(json_array_size(json_object_get(file.json, "meshes")), 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(text(entry(&file, "meshes", i), "name"), names[i]);
    close_glb(&file);
}

/* Obstacles are nodes behind those of the parts; the one on a track moves, and the other one does not. */
static void films_of_parts_show_obstacles(void **state) {
    (void)state;
    static const char *const names[] = {"soft", "plate", "ball"};
    check_run(0, "run", "parts.json", "--record", "parts.glb", "--fps", "20");
    glb_file file = read_glb(work("parts.glb"));
    check_int(json_array_size(json_object_get(file.json, "nodes")), 4); /* with the one that turns z up */
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(text(entry(&file, "nodes", i + 1), "name"), names[i]);
    size_t i;
    json_t *channel;
    int moved[4] = {0};
    json_array_foreach(json_object_get(entry(&file, "animations", 0), "channels"), i, channel) {
        moved[(int)number(json_object_get(channel, "target"), "node")]++;
    }
    check(moved[1] > 0 && moved[2] > 0 && moved[3] == 0);
    close_glb(&file);
    check_run(0, "run", "parts.json", "--baked", "--record", "baked.glb", "--fps", "20");
    file = read_glb(work("baked.glb"));
    check_int(json_array_size(json_object_get(file.json, "meshes")), 3);
    for (i = 0; i < 3; i++)
        assert_string_equal(text(entry(&file, "meshes", i), "name"), i ? names[i] : "cube");
    close_glb(&file);
}

/* The plate bears the part's weight; arrays and probes know it by its name. */
static void contacts_of_parts_name_obstacles(void **state) {
    (void)state;
    check_run(0, "run", "parts.json", "--record", "parts.npz", "--record", "parts.csv", "--fps", "20");
    npz_file file = read_npz(work("parts.npz"));
    const npz_array things = find_array(&file, "contact_things"), names = find_array(&file, "thing_names");
    check_int(names.count, 3);
    check(things.count > 0);
    for (size_t i = 0; i < things.count; i += 2) {
        assert_string_equal(text_at(&names, (size_t)number_at(&things, i)), "soft");
        assert_string_equal(text_at(&names, (size_t)number_at(&things, i + 1)), "plate");
    }
    int steps;
    double *under = test_column(work("parts.csv"), "under.fz", &steps);
    check(under[steps - 1] > -1.1 * G && under[steps - 1] < -0.9 * G);
    free(under);
    free(file.bytes);
}

static uint8_t canvas[4 * 160 * 90];

static void draw_scene(const char *name, const char *option) {
    check_run(0, "picture", name, "--time", "0.1", "--size", "160x90", option, "-o", "plate.png");
    png_file file = read_png(work("plate.png"));
    png_draw_frame(&file, 0, canvas);
    free_png(&file);
}

static void draw(const char *option) {
    draw_scene("plate.json", option);
}

static int count_red(void) {
    int red = 0;
    for (const uint8_t *c = canvas; c < canvas + sizeof canvas; c += 4)
        red += c[0] > 2 * c[1] && c[0] > 2 * c[2];
    return red;
}

/* The plate is red, and nothing else is. */
static void pictures_of_bodies_show_obstacles(void **state) {
    (void)state;
    draw("--colour=displacement");
    check(count_red() > 500);
}

static void pictures_of_parts_show_obstacles(void **state) {
    (void)state;
    static const char *const options[] = {"--colour=component", "--colour=displacement", "--background=meadow"};
    for (int i = 0; i < 3; i++) {
        draw_scene("parts.json", options[i]);
        check(count_red() > 500);
    }
}

/* Normal forces are blue, and the cube and the plate have no such blue. */
static void pictures_show_forces_by_arrows(void **state) {
    (void)state;
    int blue[2] = {0};
    for (int k = 0; k < 2; k++) {
        draw(k ? "--contacts" : "--colour=displacement");
        for (const uint8_t *c = canvas; c < canvas + sizeof canvas; c += 4)
            blue[k] += abs(c[0] - 28) < 20 && abs(c[1] - 156) < 20 && abs(c[2] - 209) < 20;
    }
    check(blue[0] == 0 && blue[1] > 20);
    test_write_text(work("bar.json"),
                    "{\"bough\": 1, \"mesh\": {\"generate\": \"box\", \"type\": \"hex8\", \"size\": [1, 1, 1], "
                    "\"cells\": [1, 1, 1]}, \"material\": {\"model\": \"stvk\", \"young\": 1e6, \"poisson\": 0.3, "
                    "\"density\": 1000}, \"time\": {\"dt\": 0.01, \"duration\": 1}}");
    check_run(1, "picture", "bar.json", "--contacts", "-o", "bar.png");
    check(strstr(err, "--contacts: the engine of this scene knows no contacts") && is_one_sentence());
}

/* At time 0 the plate is where its track begins, and the cube lies on it there. */
static void statics_of_bodies_tell_what_bears_them(void **state) {
    (void)state;
    json_t *answer;
    check_json(answer, 0, "static", "plate.json", "--json", "--picture", "rests.png");
    const json_t *contact = json_object_get(answer, "contact"), *forces = json_object_get(contact, "forces");
    check(truth(answer, "converged") && number(answer, "residual") < 1e-8);
    check_int(number(contact, "points"), 9);
    check(number(contact, "gap") > 1e-5 && number(contact, "gap") < 0.1);
    check_near(item(forces, "body", 2), G, 1e-10);
    check_near(item(forces, "plate", 2), -G, 1e-10);
    check(!json_object_get(forces, "ball"));
    check_is_png("rests.png");
    json_decref(answer);
    check_run(0, "static", "plate.json");
    check(strstr(out, "contact                at 9 points") && strstr(out, "force on plate"));
    check_mistake(2, "leave out options", "static", "plate.json", "--probe", "x0");
    test_write_text(work("falls.json"),
                    "{\"bough\": 1, \"mesh\": {\"generate\": \"box\", \"size\": [1, 1, 1]}, \"gravity\": [0, 0, -1], "
                    "\"obstacles\": [{\"name\": \"ball\", \"shape\": {\"sphere\": 0.5}, \"position\": [5, 0, -2]}]}");
    check_mistake(1, "the body slides or falls away without end", "static", "falls.json");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_hold_the_contacts_of_each_frame),
        cmocka_unit_test(films_of_bodies_show_obstacles),
        cmocka_unit_test(films_of_parts_show_obstacles),
        cmocka_unit_test(contacts_of_parts_name_obstacles),
        cmocka_unit_test(pictures_of_bodies_show_obstacles),
        cmocka_unit_test(pictures_of_parts_show_obstacles),
        cmocka_unit_test(pictures_show_forces_by_arrows),
        cmocka_unit_test(statics_of_bodies_tell_what_bears_them),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
