/* bough cook of a scene as its users meet it. */
#include "program.h"

/* Three beams of hexes in a chain, c at b at a; `b` is what b is made of. */
#define BEAM(more)                                                                                            \
    "{\"mesh\": {\"generate\": \"box\", \"type\": \"hex8\", \"size\": [1, 0.1, 0.1], \"cells\": [8, 1, 1]}, " \
    "\"interfaces\": {\"base\": {\"select\": \"x0\"}, \"tip\": {\"select\": \"x1\"}}, \"basis\": {\"r\": 6}" more "}"
#define CHAIN(b)                                                                                                    \
    "{\"bough\": 1, \"components\": {\"a\": " BEAM("") ", \"b\": " BEAM(b) ", \"c\": " BEAM(                        \
        "") "}, \"parts\": ["                                                                                       \
            "{\"name\": \"1\", \"component\": \"a\"}, {\"name\": \"2\", \"component\": \"b\", \"parent\": \"1\"}, " \
            "{\"name\": \"3\", \"component\": \"c\", \"parent\": \"2\", \"rotate_deg\": [0, 30, 0]}]}"

static int prepare(void **state) {
    (void)state;
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    unsetenv("ARGP_HELP_FMT");
    mkdir(work(""), 0700);
    return 0;
}

static const json_t *component(const json_t *answer, size_t index) {
    const json_t *found = json_array_get(json_object_get(answer, "components"), index);
    if (!json_is_object(found))
        fail_msg("the answer has no component %zu", index);
    return found;
}

static void check_cooked(const char *scene, bool a, bool b, bool c) {
    const bool expected[] = {a, b, c};
    json_t *answer;
    check_json(answer, 0, "cook", scene, "--json");
    check_int(number(answer, "cooked"), a + b + c);
    for (size_t i = 0; i < 3; i++) {
        check_int(text(component(answer, i), "name")[0], 'a' + (int)i);
        check_int(truth(component(answer, i), "cooked"), expected[i]);
        check_int(number(component(answer, i), "elements"), 8);
    }
    json_decref(answer);
}

static void a_scene_is_cooked_once_and_only_what_changed_again(void **state) {
    (void)state;
    test_write_text(work("chain.json"), CHAIN(""));
    check_run(0, "cook", "chain.json");
    check(exists("chain.cooked/a.bough") && exists("chain.cooked/b.bough") && exists("chain.cooked/c.bough"));
    check(!exists("chain.cooked/a.bough.part") && !err[0]);
    check(strstr(out, "b: 8 elements, r = 6, ") && strstr(out, "component   elements     r  elastic "));
    check(strstr(out, "\nchain.cooked: 3 components, 3 of them cooked now in ") && strstr(out, "; 18 coordinates, "));
    check_int(line_count(out), 3 + 2 + 3 + 1 + 1);
    check(strstr(out, "\njoints: good; "));

    check_run(0, "cook", "chain.json");
    check(strncmp(out, "chain.cooked: 3 components, all up to date (--force cooks them all the same)\njoints: ", 85) ==
          0);
    check_int(line_count(out), 2);
    check_run(0, "cook", "chain.json", "--force");
    check(strstr(out, "3 of them cooked now") != NULL);

    test_write_text(work("chain.json"), CHAIN(", \"material\": {\"density\": 900}"));
    check_cooked("chain.json", true, true, false); /* lighter: what carries it moves otherwise */
    test_write_text(work("chain.json"), CHAIN(", \"material\": {\"density\": 900, \"young\": 3e6}"));
    check_cooked("chain.json", false, true, false);
    check_cooked("chain.json", false, false, false);
    check_run(0, "info", "chain.cooked/b.bough");
    check(strstr(out, "basis of mass-loaded+derivatives") != NULL);
}

static size_t read_bytes(const char *name, char *to, size_t room) {
    FILE *f = fopen(work(name), "rb");
    if (!f)
        fail_msg("%s was not made", name);
    size_t size = fread(to, 1, room, f);
    fclose(f);
    return size;
}

static void any_number_of_threads_gives_the_same_bytes(void **state) {
    (void)state;
    static const char *const names[] = {"same.cooked/a.bough", "same.cooked/b.bough", "same.cooked/c.bough"};
    static char first[3][1 << 18], other[1 << 18];
    size_t sizes[3];
    test_write_text(work("same.json"), CHAIN(""));
    check_run(0, "cook", "same.json", "-t", "1");
    for (int i = 0; i < 3; i++)
        sizes[i] = read_bytes(names[i], first[i], sizeof other);
    for (int repeat = 0; repeat < 3; repeat++) {
        check_run(0, "cook", "same.json", "-t", repeat ? "2" : "3", "--force");
        for (int i = 0; i < 3; i++) {
            check_int(read_bytes(names[i], other, sizeof other), sizes[i]);
            check(memcmp(first[i], other, sizes[i]) == 0);
        }
    }
}

static void nap(void) {
    nanosleep(&(struct timespec){0, 2000000}, NULL);
}

/* Two components: with one thread the one with more elements comes first, and is soon done; the other one takes as long
 * as it is asked to. */
static void write_long_scene(const char *demands) {
    char scene[2000];
    snprintf(scene, sizeof scene,
             "{\"bough\": 1, \"components\": {"
             "\"quick\": {\"mesh\": {\"generate\": \"box\", \"type\": \"hex8\", \"size\": [1, 0.1, 0.1], \"cells\": "
             "[300, 1, 1]}, \"fix\": \"x0\", \"basis\": {\"r\": 4}}, "
             "\"slow\": {\"mesh\": {\"generate\": \"box\", \"type\": \"tet10\", \"size\": [1, 0.5, 0.5], \"cells\": "
             "[5, 3, 3]}, \"fix\": \"x0\", \"material\": {\"model\": \"neo-hookean\"}, %s}}}",
             demands);
    test_write_text(work("long.json"), scene);
}

static void interrupted_scenes_go_on_where_they_were(void **state) {
    (void)state;
    write_long_scene("\"basis\": {\"r\": 80}, \"elastic\": {\"tolerance\": 1e-6, \"training\": 3000}");
    pid_t child = start_with_output(WORDS("cook", "long.json", "-t", "1"), test_path("stdout"));
    for (int i = 0; i < 30000 && !exists("long.cooked/quick.bough"); i++)
        nap();
    check(exists("long.cooked/quick.bough"));
    check_int(kill(child, SIGINT), 0);
    check_int(finish(child), 1);
    check(strcmp(err, "bough: interrupted; 1 of 2 components are done, and the same command goes on from there\n") ==
          0);
    check(exists("long.cooked/quick.bough") && !exists("long.cooked/slow.bough"));
    check(strncmp(out, "quick: 300 elements, r = 4, ", 28) == 0 && line_count(out) == 1);

    /* Finished components are kept; the rest is asked to do less, so that the test ends soon. */
    write_long_scene("\"basis\": {\"r\": 4}");
    check_run(0, "cook", "long.json", "-t", "1");
    check(strncmp(out, "slow: ", 6) == 0 && strstr(out, "2 components, 1 of them cooked now") != NULL);
}

static void mistakes_are_one_sentence(void **state) {
    (void)state;
    test_write_text(work("chain.json"), CHAIN(""));
    check_mistake(1, "chain.json: is a scene of several components", "cook", "chain.json", "--r", "3");
    check_mistake(1, "chain.json: is a scene of several components", "cook", "chain.json", "-o", "x.bough");
    test_write_text(work("wrong.json"), CHAIN(", \"material\": {\"model\": \"jelly\"}"));
    check_mistake(1, "wrong.json:1:", "cook", "wrong.json");
    check(strstr(err, "components.b.material.model: unknown \"jelly\"") && !exists("wrong.cooked"));
    /* The other components are still cooked. */
    test_write_text(work("half.json"), CHAIN(", \"material\": {\"model\": \"neo-hookean\"}, \"elastic\": {\"kind\": "
                                             "\"polynomial\"}"));
    check_run(1, "cook", "half.json");
    check(strncmp(err, "bough: half.json: components.b: only stvk and linear materials", 62) == 0);
    check(exists("half.cooked/a.bough") && !exists("half.cooked/b.bough") && exists("half.cooked/c.bough"));
    test_write_text(work("blocked.cooked"), "a file where the folder should be");
    test_write_text(work("blocked.json"), CHAIN(""));
    check_mistake(1, "the folder blocked.cooked/ cannot be written to", "cook", "blocked.json");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scene_is_cooked_once_and_only_what_changed_again),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
        cmocka_unit_test(interrupted_scenes_go_on_where_they_were),
        cmocka_unit_test(mistakes_are_one_sentence),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
