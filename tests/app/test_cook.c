/* bough cook and bough info as their users meet them. */
#include "program.h"

#include <bough/component.h>

#include <sys/resource.h>

/* A soft beam of hexes, 1 m x 0.1 m x 0.1 m, that hangs by its left end: 36 vertices, 96 unknowns. */
#define BEAM(more)                                                                                   \
    "{\"bough\": 1, \"mesh\": {\"generate\": \"box\", \"type\": \"hex8\", \"size\": [1, 0.1, 0.1], " \
    "\"cells\": [8, 1, 1]}, \"interfaces\": {\"base\": {\"select\": \"x0\"}, \"tip\": {\"select\": \"x1\"}}" more "}"

static void write_beam(const char *name, const char *content) {
    test_write_text(work(name), content);
}

static int prepare(void **state) {
    (void)state;
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    unsetenv("ARGP_HELP_FMT");
    mkdir(work(""), 0700);
    write_beam("beam.json", BEAM(", \"basis\": {\"r\": 8}"));
    return 0;
}

static long long changed_at(const char *name) {
    struct stat info;
    check(stat(work(name), &info) == 0);
    return (long long)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
}

static void a_beam_is_cooked_once(void **state) {
    (void)state;
    check_run(0, "cook", "beam.json");
    check(exists("beam.bough") && !exists("beam.bough.part") && !err[0]);
    check(strncmp(out, "beam.bough: r = 8, polynomial, ", 31) == 0);
    check(strstr(out, "frequencies     good") && strstr(out, "\n  mode 1 ") && strstr(out, "force_random"));
    check(strstr(out, "\ntimes\n") && strstr(out, "factorisation"));
    long long first = changed_at("beam.bough");

    check_run(0, "cook", "beam.json");
    check(strstr(out, "beam.bough: up to date") && line_count(out) == 1);
    check(changed_at("beam.bough") == first);

    write_beam("beam.json", BEAM(",\n  \"basis\": {\"r\": 8.0}\n")); /* the same in other words */
    check_run(0, "cook", "beam.json");
    check(strstr(out, "up to date") != NULL);

    check_run(0, "cook", "beam.json", "--force");
    check(strstr(out, "cooked in") && changed_at("beam.bough") != first);

    write_beam("beam.json", BEAM(", \"basis\": {\"r\": 6}"));
    check_run(0, "cook", "beam.json");
    check(strstr(out, "r = 6, ") != NULL);
    write_beam("beam.json", BEAM(", \"basis\": {\"r\": 8}"));
    check_run(0, "cook", "beam.json");
    check(strstr(out, "r = 8, ") != NULL);

    test_write_text(work("beam.bough"), "not a component"); /* a damaged output is no reason to give up */
    check_run(0, "cook", "beam.json");
    check(strstr(out, "cooked in") != NULL);
}

static void a_changed_mesh_is_cooked_again(void **state) {
    (void)state;
    check_run(0, "mesh", "generate", "box", "--size", "1,0.1,0.1", "--cells", "6,1,1", "-o", "bar.msh");
    write_beam("bar.json", "{\"bough\": 1, \"mesh\": \"bar.msh\", \"fix\": \"x0\", \"basis\": {\"r\": 4}}");
    check_run(0, "cook", "bar.json");
    check_run(0, "cook", "bar.json");
    check(strstr(out, "up to date") != NULL);
    check_run(0, "mesh", "generate", "box", "--size", "1.01,0.1,0.1", "--cells", "6,1,1", "-o", "bar.msh");
    check_run(0, "cook", "bar.json");
    check(strstr(out, "cooked in") != NULL);
}

static void options_go_over_the_file(void **state) {
    (void)state;
    json_t *cooked;
    check_json(cooked, 0, "cook", "beam.json", "-o", "other.bough", "--r", "5", "--kind", "modes", "--elastic",
               "linear", "--parent", "tip", "-t", "2", "--wind", "4", "--contact", "0", "--keep-volume", "--json");
    check_int(number(cooked, "r"), 5);
    check(truth(cooked, "cooked") && truth(cooked, "volume_kept"));
    check(strcmp(text(cooked, "elastic"), "linear") == 0 && strcmp(text(cooked, "parent"), "tip") == 0);
    check_int(number(cooked, "wind_points"), 4);
    check_int(number(cooked, "contact_points"), 0);
    const json_t *options = json_object_get(json_object_get(cooked, "provenance"), "options");
    check(strcmp(text(options, "kind"), "modes") == 0);
    check(number(json_object_get(cooked, "phase_seconds"), "modes") >= 0);
    json_decref(cooked);
    check_json(cooked, 0, "cook", "beam.json", "-o", "other.bough", "--r", "5", "--kind", "modes", "--elastic",
               "linear", "--parent", "tip", "--wind", "4", "--contact", "0", "--keep-volume", "--json");
    check(!truth(cooked, "cooked"));
    json_decref(cooked);
    check_json(cooked, 0, "cook", "beam.json", "-o", "rigid.bough", "--r", "0", "--json");
    check_int(number(cooked, "r"), 0);
    check(strcmp(text(cooked, "elastic"), "rigid") == 0);
    json_decref(cooked);
}

static void meshes_need_no_file(void **state) {
    (void)state;
    check_run(0, "mesh", "generate", "box", "--size", "1,0.1,0.1", "--cells", "6,1,1", "-o", "mesh.msh");
    json_t *cooked;
    check_json(cooked, 0, "cook", "mesh.msh", "--r", "4", "--young", "1e7", "--density", "500", "--interface",
               "base=x0", "--interface", "tip=x>0.99", "--json");
    check(exists("mesh.bough"));
    check_near(number(cooked, "mass"), 5, 1e-9);
    check(strcmp(text(cooked, "support"), "interface") == 0 && strcmp(text(cooked, "parent"), "base") == 0);
    json_decref(cooked);
    check_json(cooked, 0, "cook", "mesh.msh", "--r", "4", "--fix", "x0", "--json");
    check(strcmp(text(cooked, "support"), "fixed") == 0);
    json_decref(cooked);
    /* With nothing said it flies free, which may not be what was meant. */
    check_json(cooked, 0, "cook", "mesh.msh", "--r", "4", "--json");
    check(strcmp(text(cooked, "support"), "free") == 0);
    check(strstr(err, "bough: warning: mesh.msh: has neither \"interfaces\" nor \"fix\"") && line_count(err) == 1);
    json_decref(cooked);
}

static void info_is_a_card(void **state) {
    (void)state;
    check_run(0, "cook", "beam.json", "-o", "card.bough", "--force");
    check_run(0, "info", "card.bough");
    static const char *const parts[] = {
        "card.bough (beam): ",
        "from beam.json: 36 vertices, 8 hex8 elements; basis of modes+derivatives",
        "r = 8",
        "polynomial, 495 coefficients",
        "hangs by the interface \"base\"",
        "mass            10 kg, its centre at (0.5, 0, 0) m",
        "interface       \"tip\": 4 vertices, radius 0.07071 m, centre (1, 0, 0)\n",
        "operations for forces and tangent, reads 4.0 kB",
        "frequencies     good",
        "forces          good",
        "projection_gravity",
        "worst wrench    a ",
        "mode 1",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(out, parts[i]))
            fail_msg("the card lacks \"%s\":\n%s", parts[i], out);

    json_t *info;
    check_json(info, 0, "info", "card.bough", "--json");
    check_int(number(info, "r"), 8);
    check_int(number(info, "coefficients"), 495);
    check_near(number(info, "mass"), 10, 1e-9);
    check_near(item(info, "centre", 0), 0.5, 1e-12);
    check_near(item(info, "origin", 1), 0.05, 1e-12);
    check(strcmp(text(info, "support"), "interface") == 0);
    const json_t *tip = json_array_get(json_object_get(info, "interfaces"), 1);
    check(strcmp(text(tip, "name"), "tip") == 0);
    check_int(number(tip, "vertices"), 4);
    struct stat file;
    check(stat(work("card.bough"), &file) == 0);
    check_int(number(json_object_get(info, "memory"), "file"), file.st_size);
    const json_t *quality = json_object_get(info, "quality");
    check_below(number(quality, "force_random"), 1e-10);
    check_below(fabs(item(quality, "reduced_hz", 0) / item(quality, "full_hz", 0) - 1), 1e-10);
    check(strcmp(text(info, "input_hash"), text(json_object_get(info, "provenance"), "input_hash")) == 0);
    json_decref(info);
}

/* Two wide and thin plates in a row twist at the joint, which a tree does not let them: told when the scene is cooked,
 * to programs, and at every run. */
static void joints_that_deform_are_told_of(void **state) {
    (void)state;
    write_beam("wide.json",
               "{\"bough\": 1, \"components\": {\"plate\": {\"mesh\": {\"generate\": \"box\", \"type\": \"hex8\", "
               "\"size\": [1, 1, 0.05], \"cells\": [8, 8, 1]}, \"material\": {\"model\": \"stvk\", \"young\": 1e7, "
               "\"poisson\": 0.3, \"density\": 1000}, \"interfaces\": {\"base\": {\"select\": \"x0\"}, \"edge\": "
               "{\"select\": \"x1\"}}, \"basis\": {\"r\": 12}}}, \"parts\": [{\"name\": \"first\", \"component\": "
               "\"plate\"}, {\"name\": \"second\", \"component\": \"plate\", \"parent\": \"first\", \"interface\": "
               "\"edge\"}], \"time\": {\"dt\": 0.01, \"duration\": 0.02}}");
    json_t *info;
    check_json(info, 0, "cook", "wide.json", "--json");
    const json_t *joints = json_object_get(info, "joints");
    check_near(number(joints, "frequency_error"), 0.07, 0.03); /* docs/validation/trees.md */
    check(strcmp(text(joints, "frequency_joint"), "second") == 0);
    json_decref(info);
    check_run(0, "cook", "wide.json");
    check(strstr(out, "joints: poor; ") && strstr(out, "the cut is the reason, not r"));
    for (int start = 0; start < 2; start++) {
        check_run(0, "run", "wide.json");
        check(strstr(err, "bough: warning: wide.json: the cut where \"second\" hangs costs accuracy: "));
    }
}

/* A part that is too coarse is given more coordinates until it is good; what is up to date stays so. */
static void a_quality_that_is_wanted_is_found(void **state) {
    (void)state;
    write_beam("coarse.json", BEAM(", \"basis\": {\"r\": 2}"));
    json_t *info;
    check_json(info, 0, "cook", "coarse.json", "--json");
    check(number(info, "r") == 2 && json_array_size(json_object_get(info, "warnings")) > 0);
    json_decref(info);
    check_json(info, 0, "cook", "coarse.json", "--quality", "good", "--json");
    check(number(info, "r") > 4 && truth(info, "cooked"));
    check_int(json_array_size(json_object_get(info, "warnings")), 0);
    json_decref(info);
    check_json(info, 0, "cook", "coarse.json", "--json"); /* the same inputs */
    check(number(info, "r") > 4 && !truth(info, "cooked"));
    json_decref(info);
    /* so are modes, where the file counts them */
    write_beam("moded.json", BEAM(", \"basis\": {\"r\": 4, \"modes\": 3}"));
    check_json(info, 0, "cook", "moded.json", "--json");
    check_int(json_array_size(json_object_get(json_object_get(info, "quality"), "full_hz")), 3);
    json_decref(info);
    check_json(info, 0, "cook", "moded.json", "--quality", "good", "--json");
    check(number(info, "r") > 4);
    check(json_array_size(json_object_get(json_object_get(info, "quality"), "full_hz")) > 3);
    json_decref(info);
    /* what coordinates cannot mend is told */
    check_run(0, "cook", "coarse.json", "--elastic", "linear", "--quality", "fair");
    check(strstr(err, "forces are within ") && strstr(err, "its forces are linear"));
    check_mistake(2, "--quality: \"better\" should be good or fair", "cook", "coarse.json", "--quality", "better");
}

/* Names come from files of others, and go to terminals that obey control characters. */
static void cards_are_harmless(void **state) {
    (void)state;
    write_beam("evil.json", BEAM(", \"name\": \"\\u001b[2Jx\\u009b1m\\nmass 7\", \"basis\": {\"r\": 2}"));
    check_run(0, "cook", "evil.json");
    check_run(0, "info", "evil.bough");
    check(strncmp(out, "evil.bough ( [2Jx  1m mass 7): ", 31) == 0);
    check(!strchr(out, 0x1b) && !strstr(out, "\xC2\x9B"));
    json_t *info;
    check_json(info, 0, "cook", "beam.json", "-o", "kept.bough", "--r", "0", "--keep-volume", "--json");
    check(truth(info, "volume_kept") && number(json_object_get(info, "memory"), "volume") == 36 * 24 + 8 * 32);
    json_decref(info);
}

static void mistakes_are_one_sentence(void **state) {
    (void)state;
    check_mistake(1, "r = 97 is more than the 96 unknowns", "cook", "beam.json", "-o", "no.bough", "--r", "97");
    check_mistake(1, "basis.r: must be from 0 to 512", "cook", "beam.json", "-o", "no.bough", "--r", "513");
    check_mistake(1, "basis.kind: unknown \"mods\"; did you mean \"modes\"?", "cook", "beam.json", "--kind", "mods");
    check_mistake(1, "elastic.kind: unknown \"cubic\"", "cook", "beam.json", "--elastic", "cubic");
    check_mistake(1, "interfaces.end.select: selection \"x>5\" contains no vertex; x ranges from 0 to 1", "cook",
                  "beam.json", "--interface", "end=x>5");
    check_mistake(1, "nowhere/x.bough: the folder nowhere/ cannot be written to", "cook", "beam.json", "-o",
                  "nowhere/x.bough");
    check_mistake(1, "none.json", "cook", "none.json");
    check_mistake(1, "none.msh", "cook", "none.msh", "--fix", "x0");
    check_mistake(2, "should be a file whose name ends in .bough", "cook", "beam.json", "-o", "x.json");
    check_mistake(2, "x.bough is cooked already; bough info x.bough", "cook", "x.bough");
    check_mistake(2, "name a component file, a mesh or a scene", "cook");
    check_mistake(2, "one file is enough", "cook", "a.json", "b.json");
    check_mistake(2, "--r: \"many\" should be a whole number", "cook", "beam.json", "--r", "many");
    check_mistake(2, "--interface: \"x0\" should be NAME=SELECT", "cook", "beam.json", "--interface", "x0");
    check_mistake(2, "is not UTF-8", "cook", "beam.json", "--interface", "\xFFtop=x1");
    write_beam("two.json", BEAM(", \"basis\": {\"rr\": 8}"));
    check_mistake(1, "two.json:1:", "cook", "two.json");
    write_beam("scene.json", "{\"bough\": 1, \"components\": {}}");
    check_mistake(1, "components: names no component", "cook", "scene.json");
    check(!exists("no.bough") && !exists("no.bough.part"));

    check_mistake(2, "bough cook beam.json makes one", "info", "beam.json");
    check_mistake(2, "bough mesh info beam.msh tells about a mesh", "info", "beam.msh");
    check_mistake(2, "name a component file", "info");
    check_mistake(1, "none.bough", "info", "none.bough");
}

static void damaged_components_are_refused(void **state) {
    (void)state;
    static char image[1 << 20];
    check_run(0, "cook", "beam.json", "-o", "whole.bough");
    FILE *f = fopen(work("whole.bough"), "rb");
    check(f != NULL);
    size_t size = fread(image, 1, sizeof image, f);
    fclose(f);
    check(size > 1000 && size < sizeof image);
    test_write(work("cut.bough"), image, size / 2);
    check_mistake(1, "cut.bough", "info", "cut.bough");
    check(strstr(err, "cut short") != NULL);
    image[size / 2] ^= 1;
    test_write(work("bit.bough"), image, size);
    check_mistake(1, "bit.bough", "info", "bit.bough");
    test_write_text(work("text.bough"), "{}");
    check_mistake(1, "text.bough", "info", "text.bough");
}

static bool is_of_other_inputs(const char *name) {
    char content[64];
    FILE *f = fopen(work(name), "rb");
    check(f != NULL);
    size_t size = fread(content, 1, sizeof content, f);
    fclose(f);
    return size == 15 && memcmp(content, "of other inputs", 15) == 0;
}

/* A full disk is found out last of all: the sentence says so, nothing half is left, and what was there stays. */
static void what_cannot_be_written_is_told(void **state) {
    (void)state;
    check_run(0, "cook", "beam.json", "-o", "limit.bough", "--r", "0");
    long long before = changed_at("limit.bough");
    int files = file_count();
    struct rlimit all, few = {.rlim_cur = 20000};
    check(getrlimit(RLIMIT_FSIZE, &all) == 0);
    few.rlim_max = all.rlim_max;
    check(setrlimit(RLIMIT_FSIZE, &few) == 0);
    signal(SIGXFSZ, SIG_DFL);
    check_mistake(1, "limit.bough: cannot be written", "cook", "beam.json", "-o", "limit.bough", "--r", "12");
    check(setrlimit(RLIMIT_FSIZE, &all) == 0);
    check(changed_at("limit.bough") == before && file_count() == files);

    mkdir(work("folder.bough"), 0700);
    check_mistake(1, "folder.bough: is a folder", "cook", "beam.json", "-o", "folder.bough");
    char name[300] = "";
    memset(name, 'n', 256);
    strcpy(name + 250, ".bough");
    check_mistake(1, "too long", "cook", "beam.json", "-o", name);
}

/* The time until there is a basis depends on the machine: tries again with more patience. The cubature that follows
 * takes longer than everything else. */
static void interrupted_cooking_goes_on(void **state) {
    (void)state;
    write_beam("slow.json",
               "{\"bough\": 1, \"mesh\": {\"generate\": \"box\", \"size\": [1, 0.2, 0.2], \"cells\": [20, 4, 4]},"
               "\"material\": {\"model\": \"stable-neo-hookean\"}, \"fix\": \"x0\","
               "\"basis\": {\"r\": 24}, \"elastic\": {\"training\": 400, \"tolerance\": 1e-4}}");
    write_beam("slow.bough.part", "of other inputs"); /* which must not be taken for what this run keeps */
    for (long milliseconds = 100; milliseconds < 60000 && is_of_other_inputs("slow.bough.part");
         milliseconds += milliseconds / 2) {
        pid_t child = start_with_output(WORDS("cook", "slow.json", "-t", "1"), test_path("stdout"));
        struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};
        nanosleep(&pause, NULL);
        check_int(kill(child, SIGINT), 0);
        int status = finish(child);
        check(status == 1 || status == -SIGINT); /* before the program was ready */
        check(!exists("slow.bough") && !out[0]);
        check(status != 1 || strncmp(err, "bough: interrupted", 18) == 0);
        check(is_of_other_inputs("slow.bough.part") != (strstr(err, "keeps the basis") != NULL));
    }
    check(
        strcmp(err, "bough: interrupted; slow.bough.part keeps the basis, and the same command goes on from there\n") ==
        0);
    check_run(0, "cook", "slow.json", "--elastic", "linear", "-o", "quick.bough"); /* not this one's basis */
    check(exists("slow.bough.part"));
    check_run(0, "cook", "slow.json");
    check(exists("slow.bough") && !exists("slow.bough.part"));
    check(strstr(out, "modes                0.00 s") != NULL); /* they were in the basis that was kept */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_beam_is_cooked_once),
        cmocka_unit_test(a_changed_mesh_is_cooked_again),
        cmocka_unit_test(options_go_over_the_file),
        cmocka_unit_test(meshes_need_no_file),
        cmocka_unit_test(info_is_a_card),
        cmocka_unit_test(joints_that_deform_are_told_of),
        cmocka_unit_test(a_quality_that_is_wanted_is_found),
        cmocka_unit_test(cards_are_harmless),
        cmocka_unit_test(mistakes_are_one_sentence),
        cmocka_unit_test(damaged_components_are_refused),
        cmocka_unit_test(what_cannot_be_written_is_told),
        cmocka_unit_test(interrupted_cooking_goes_on),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
