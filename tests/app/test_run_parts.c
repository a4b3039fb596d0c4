/* bough run and bough static of scenes of parts as their users meet them. */
#include "program.h"

#include <bough/tree.h>

#define CHAIN(more)                                                                                               \
    "{\"bough\": 1, \"object\": {\"mesh\": {\"generate\": \"box\", \"type\": \"hex8\", \"size\": [1, 0.1, 0.1], " \
    "\"cells\": [10, 1, 1]}, \"sets\": {\"a\": {\"elements\": \"x<0.51\"}, \"b\": {\"elements\": \"x>0.49\"}}, "  \
    "\"material\": {\"young\": 4e6}, \"fix\": \"x0\", \"basis\": {\"r\": 10}}, \"gravity\": [0, 0, -2], "         \
    "\"time\": {\"dt\": 0.01, \"duration\": 0.2}, "                                                               \
    "\"probes\": [{\"name\": \"the tip\", \"part\": \"b\", \"nearest\": [1, 0, 0]}]" more "}"

static int prepare(void **state) {
    (void)state;
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    unsetenv("ARGP_HELP_FMT");
    mkdir(work(""), 0700);
    test_write_text(work("chain.json"), CHAIN(""));
    return 0;
}

static double final(const json_t *answer, const char *column) {
    return number(json_object_get(answer, "values"), column);
}

static void a_scene_runs_in_both_engines(void **state) {
    (void)state;
    json_t *tree, *full, *lumped;
    check_json(tree, 0, "run", "chain.json", "--json", "--record", "t.csv", "--record", "t.npy", "--frames", "t",
               "--picture", "t.png");
    check(!strcmp(text(tree, "engine"), "tree") && !strcmp(text(tree, "coupling"), "L3") && truth(tree, "done"));
    check(exists("chain.cooked/a.bough") && exists("t.csv") && exists("t.npy") && exists("t/frames.pvd"));
    check(exists("t.png"));
    check_json(full, 0, "run", "chain.json", "--json", "--engine", "full", "--integrator", "hht", "--record", "f.csv",
               "--picture", "f.png");
    check(!strcmp(text(full, "engine"), "full") && json_is_null(json_object_get(full, "coupling")));
    check_near(final(tree, "the tip.uz"), final(full, "the tip.uz"), 0.01 * fabs(final(full, "the tip.uz")));
    check_json(lumped, 0, "run", "chain.json", "--json", "--coupling", "L1", "--passes", "2", "--integrator",
               "newmark");
    check(!strcmp(text(lumped, "coupling"), "L1") && !strcmp(text(lumped, "integrator"), "newmark"));
    check(fabs(final(lumped, "the tip.uz") - final(full, "the tip.uz")) > 0.01 * fabs(final(full, "the tip.uz")));
    json_decref(tree);
    json_decref(full);
    json_decref(lumped);
    check_run(0, "run", "chain.json");
    check(strstr(out, "engine                 tree, L3\n") && strstr(out, "the tip.z ") && !strstr(out, "Newton"));
}

static void a_run_goes_on_from_its_checkpoint(void **state) {
    (void)state;
    check_run(0, "run", "chain.json", "--record", "whole.csv");
    check_run(0, "run", "chain.json", "--record", "parts.csv", "--time", "0.07", "--checkpoint", "c.state");
    check_run(0, "run", "chain.json", "--record", "parts.csv", "--resume", "c.state");
    static char whole[1 << 16], parts[1 << 16];
    FILE *a = fopen(work("whole.csv"), "rb"), *b = fopen(work("parts.csv"), "rb");
    check(a && b);
    size_t size = fread(whole, 1, sizeof whole, a);
    check(size > 1000 && size == fread(parts, 1, sizeof parts, b) && memcmp(whole, parts, size) == 0);
    fclose(a);
    fclose(b);
    check_mistake(1, "c.state: is a checkpoint of another scene", "run", "chain.json", "--resume", "c.state",
                  "--coupling", "L2");
}

/* Forces, wind and a settled start are recorded as the run does them; probes look at every step. */
static void a_run_is_replayed(void **state) {
    (void)state;
    json_t *answer, *ran;
    test_write_text(work("gale.json"),
                    CHAIN(", \"wind\": {\"velocity\": [3, 1, 0]}, \"settle\": true, \"forces\": [{\"part\": \"b\", "
                          "\"nearest\": [1, 0, 0], \"force\": [0, 0, 2], \"from\": 0.05, \"until\": 0.1}]"));
    check_json(ran, 0, "run", "gale.json", "--json", "--inputs", "gale.log", "--threads", "1");
    check_json(answer, 0, "replay", "gale.json", "gale.log", "--json", "--threads", "2", "--record", "again.csv");
    check(truth(answer, "same"));
    check_int(number(answer, "steps"), 20);
    check_near(number(answer, "time"), number(ran, "time"), 0);
    static char table[1 << 16];
    slurp(work("again.csv"), table, sizeof table);
    const char *last = table;
    int rows = 0;
    for (const char *c = table; *c; c++)
        if (*c == '\n' && ++rows < 21)
            last = c + 1;
    double time, elastic;
    check_int(sscanf(last, "%lf,%lf", &time, &elastic), 2);
    check_int(rows, 21);
    check(time == number(ran, "time") && elastic == final(ran, "elastic"));
    json_decref(answer);
    json_decref(ran);
    /* other settings of the run, which the scene does not know; a run that was resumed */
    check_run(0, "run", "gale.json", "--inputs", "l1.log", "--coupling", "L1", "--passes", "2", "--checkpoint",
              "g.state", "--time", "0.1");
    check_run(0, "replay", "gale.json", "l1.log");
    check(strstr(out, "10 steps from t = 0 s to 0.1 s") && strstr(out, "the end is the same, to the bit\n"));
    check_run(0, "run", "gale.json", "--inputs", "l2.log", "--coupling", "L1", "--passes", "2", "--resume", "g.state");
    check_run(0, "replay", "gale.json", "l2.log");
    check(strstr(out, "10 steps from t = 0.1 s to 0.2 s"));
    check_run(0, "run", "gale.json", "--inputs", "bdf2.log", "-i", "bdf2");
    check_run(0, "replay", "gale.json", "bdf2.log");
    check_run(0, "replay", "chain.json", "gale.log"); /* wind and forces are in the recording */
    char moon[] = CHAIN("");
    strstr(moon, "[0, 0, -2]")[7] = '1';
    test_write_text(work("moon.json"), moon);
    check_mistake(1, "gale.log: the recording is of a state of another model", "replay", "moon.json", "gale.log");
    check_mistake(1, "again.csv: this is no recording", "replay", "gale.json", "again.csv");
    check_mistake(1, "not of the engine \"full\"", "run", "chain.json", "--engine", "full", "--inputs", "f.log");
    check(!exists("f.log"));
    check_mistake(2, "name a scene file and a recording", "replay", "gale.json");
}

static void what_happens_to_parts_is_told(void **state) {
    (void)state;
    json_t *answer;
    test_write_text(work("cut.json"), CHAIN(", \"events\": [{\"time\": 0.052, \"lock\": \"a\"}], \"break\": "
                                            "[{\"parts\": \"b\", \"stress\": 300}], \"remove_below\": 0.04"));
    check_json(answer, 0, "run", "cut.json", "--json", "--changes", "cut.csv", "--record", "cut.glb", "--record",
               "film.png", "--frames", "cut", "--picture", "cut.png");
    const json_t *changes = json_object_get(answer, "changes"), *one;
    static const char *const kinds[] = {"lock", "break", "remove"};
    bool seen[3] = {false};
    size_t i;
    json_array_foreach(changes, i, one) {
        check(number(one, "time") <= 0.2 && number(one, "stress") >= 0);
        for (int k = 0; k < 3; k++)
            if (!strcmp(text(one, "change"), kinds[k])) {
                check(!seen[k] && !strcmp(text(one, "part"), k == 0 ? "a" : "b"));
                seen[k] = true;
                check(k != 0 || fabs(number(one, "time") - 0.052) < 1e-12);
                check(k != 1 || number(one, "stress") > 300);
            }
    }
    check(seen[0] && seen[1] && seen[2]);
    check(json_is_null(json_object_get(json_object_get(answer, "values"), "the tip.x"))); /* it is gone */
    check(exists("cut.csv") && exists("cut.glb") && exists("film.png") && exists("cut/frames.pvd") &&
          exists("cut.png"));
    json_decref(answer);
    check_run(0, "run", "cut.json");
    check(strstr(err, "break b at ") && strstr(err, "t = 0.0520 s: lock a\n"));
    check(strstr(out, "of them 1 broke off"));
    check_mistake(1, "in the full engine parts stay together", "run", "cut.json", "--engine", "full");
    check_mistake(2, "--changes", "run", "cut.json", "--changes", "cut.txt");
    /* an event that cannot be ends the run, which keeps what came before */
    test_write_text(work("loop.json"), CHAIN(", \"events\": [{\"time\": 0.052, \"attach\": \"a\", \"parent\": "
                                             "\"b\", \"interface\": \"a\"}]"));
    check_run(1, "run", "loop.json", "--record", "loop.glb");
    check(strstr(err, "bough: events[0] at 0.052 s: part \"a\" hangs at"));
    check(strstr(out, "stopped at t = 0.05 s after 5 of 20 steps") && exists("loop.glb"));
    test_write_text(work("flying.json"), CHAIN(", \"events\": [{\"time\": 0.052, \"detach\": \"b\"}]"));
    check_run(1, "run", "flying.json", "-i", "bdf2", "--record", "flying.glb");
    check(strstr(err, "bough: events[0] at 0.052 s: integrators need roots that are held") && exists("flying.glb"));
}

static void a_scene_settles(void **state) {
    (void)state;
    json_t *tree, *full;
    check_json(tree, 0, "static", "chain.json", "--json", "--picture", "s.png", "--output", "s.vtu");
    check_json(full, 0, "static", "chain.json", "--json", "--engine", "full");
    check(exists("s.png") && exists("s.vtu") && truth(tree, "converged"));
    check(!strcmp(text(tree, "engine"), "tree") && !strcmp(text(full, "engine"), "full"));
    check_below(number(tree, "residual"), 1e-9);
    const json_t *a = json_object_get(json_object_get(tree, "probes"), "the tip");
    const json_t *b = json_object_get(json_object_get(full, "probes"), "the tip");
    check_below(item(b, "displacement", 2), -0.04);
    check_near(item(a, "displacement", 2), item(b, "displacement", 2), 0.01 * fabs(item(b, "displacement", 2)));
    check_near(number(tree, "max_displacement"), number(full, "max_displacement"), 0.01);
    check_near(item(tree, "max_at", 0), 1, 1e-6);
    json_decref(tree);
    json_decref(full);
    check_run(0, "static", "chain.json");
    check(strncmp(out, "equilibrium of the tree engine", 30) == 0 && strstr(out, "\nprobe the tip "));
}

/* Two copies of the chain sag as the chain alone does. */
static void a_scene_of_objects_settles(void **state) {
    (void)state;
    json_t *alone, *two;
    test_write_text(work("pair.json"),
                    "{\"bough\": 1, \"objects\": {\"chain\": {\"scene\": \"chain.json\"}}, \"place\": [{\"object\": "
                    "\"chain\"}, {\"object\": \"chain\", \"name\": \"other\", \"position\": [0, 3, 0]}], \"gravity\": "
                    "[0, 0, -2], \"probes\": [{\"name\": \"tip\", \"part\": \"other/b\", \"nearest\": [1, 3, 0]}]}");
    check_json(alone, 0, "static", "chain.json", "--json");
    check_json(two, 0, "static", "pair.json", "--json");
    check_near(number(two, "energy"), 2 * number(alone, "energy"), 1e-12 * number(two, "energy"));
    check_near(number(two, "max_displacement"), number(alone, "max_displacement"), 1e-6);
    json_decref(alone);
    json_decref(two);
}

/* A pack steps as its scene does. */
static void a_scene_is_packed(void **state) {
    (void)state;
    json_t *answer, *ran;
    check_json(answer, 0, "pack", "chain.json", "-o", "small.pack", "--json");
    check_int(number(answer, "parts"), 2);
    check_int(number(answer, "coordinates"), 20);
    check(exists("small.pack") && number(answer, "bytes") > 10000);
    json_decref(answer);
    check_run(0, "pack", "chain.json");
    check(strncmp(out, "chain.pack: 2 parts of 2 components, 20 coordinates, ", 53) == 0 && exists("chain.pack"));
    check_json(ran, 0, "run", "chain.json", "--json");
    bough_context *ctx = test_context(1);
    bough_tree_model *model;
    bough_tree_state *packed;
    bough_tree_energies energies;
    check_ok(ctx, bough_tree_model_load(ctx, work("small.pack"), &model));
    check_ok(ctx, bough_tree_state_create(ctx, model, &packed));
    for (int step = 0; step < 20; step++)
        check_ok(ctx, bough_tree_step(ctx, model, packed, 0.01));
    check_ok(ctx, bough_tree_state_energies(ctx, model, packed, &energies));
    check_near(energies.elastic, final(ran, "elastic"), 1e-12 * energies.elastic);
    check_near(energies.kinetic, final(ran, "kinetic"), 1e-9 * energies.kinetic);
    bough_tree_state_destroy(ctx, packed);
    bough_tree_model_destroy(ctx, model);
    bough_context_destroy(ctx);
    json_decref(ran);
}

static void mistakes_are_one_sentence(void **state) {
    (void)state;
    check_mistake(2, "--engine: \"half\" should be full, tree, mechanism, multibody or rigid", "run", "chain.json", "--engine", "half");
    check_mistake(2, "--coupling: \"L5\" should be", "run", "chain.json", "--coupling", "L5");
    check_mistake(2, "--passes: \"3\" should be 1 or 2", "run", "chain.json", "--passes", "3");
    check_mistake(2, "\"chain.json\" is the scene", "run", "chain.json", "--inputs", "chain.json");
    check_mistake(2, "\"./chain.json\" is the scene", "run", "chain.json", "--checkpoint", "./chain.json");
    check_mistake(2, "\"x.csv\" would be written twice", "run", "chain.json", "--changes", "x.csv", "--record",
                  "x.csv");
    check_run(0, "run", "chain.json", "--inputs", "/dev/null", "--checkpoint", "/dev/null");
    check_mistake(1, "integrators need the exact coupling, L3", "run", "chain.json", "-i", "rk4", "--coupling", "L2");
    check_mistake(2, "chain.json: is a scene, which brings", "static", "chain.json", "--fix", "x0");
    check_mistake(2, "chain.json: is a scene, which brings", "static", "chain.json", "--probe", "x1");
    test_write_text(work("blown.json"), CHAIN(", \"wind\": {\"velocity\": [3, 0, 0]}"));
    check_mistake(1, "blown.json: the full engine knows no wind", "run", "blown.json", "--engine", "full");
    test_write_text(work("slip.json"), CHAIN(", \"wnd\": {}"));
    check_mistake(1, "unknown key \"wnd\"; did you mean \"wind\"?", "run", "slip.json");
    check_mistake(1, "unknown key \"wnd\"; did you mean \"wind\"?", "static", "slip.json");
    test_write_text(work("body.json"), "{\"bough\": 1, \"mesh\": {\"generate\": \"box\", \"size\": [1, 1, 1]}}");
    check_mistake(2, "body.json: --engine is for scenes of parts", "static", "body.json", "--engine", "tree");
    check_mistake(1, "body.json: the scene has one body and no parts", "pack", "body.json");
    check_mistake(2, "--output: ", "pack", "chain.json", "-o", "chain.bin");
    test_write_text(work("binary.json"), "\x89\r\n");
    check_mistake(1, "binary.json: is not a text file", "run", "binary.json");
    check_mistake(1, "\"tree\" steps scenes of parts, and this one has one body", "run", "body.json", "--engine",
                  "tree", "--integrator", "hht", "--time", "1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scene_runs_in_both_engines),
        cmocka_unit_test(a_run_goes_on_from_its_checkpoint),
        cmocka_unit_test(a_run_is_replayed),
        cmocka_unit_test(what_happens_to_parts_is_told),
        cmocka_unit_test(a_scene_settles),
        cmocka_unit_test(a_scene_of_objects_settles),
        cmocka_unit_test(a_scene_is_packed),
        cmocka_unit_test(mistakes_are_one_sentence),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
