/* bough fit: a scene, a recording of it with another material, and mistakes. */
#include "../retarget/rod_scene.h"
#include "program.h"

/* A scene of the rod that is kicked; `part`: members that go over those of its part. */
static void write_scene(const char *name, const char *part) {
    write_rod(work(name), KICK);
    json_t *scene = json_load_file(work(name), 0, NULL), *changes = json_loads(part, 0, NULL);
    check(scene && changes);
    json_object_set_new(json_object_get(scene, "time"), "duration", json_real(0.5));
    json_object_update(json_array_get(json_object_get(scene, "parts"), 0), changes);
    check_int(json_dump_file(scene, work(name), 0), 0);
    json_decref(scene), json_decref(changes);
}

static int prepare(void **state) {
    (void)state;
    mkdir(work(""), 0700);
    write_scene("rod.json", "{}");
    write_scene("real.json", "{\"stiffness\": 1.05, \"damping\": {\"mass\": 0.02, \"stiffness\": 0.0008}}");
    check_run(0, "run", "real.json", "--record", "seen.csv");
    return 0;
}

/* Recordings of a run are measurements: columns time, tip.x, tip.y, tip.z. */
static void a_recording_gives_back_its_material(void **state) {
    (void)state;
    json_t *answer;
    check_json(answer, 0, "fit", "rod.json", "--marker", "tip=seen.csv", "--json", "--plot", "fit.svg", "-o",
               "fitted.json");
    const json_t *values = json_object_get(answer, "values"), *young = json_object_get(values, "young");
    check_near(number(young, "value") / (1.05 * 1.05 * ROD_YOUNG), 1, 1e-12);
    check(truth(young, "known") && strcmp(text(young, "unit"), "Pa") == 0);
    check_near(number(json_object_get(values, "damping_stiffness"), "value"), 0.0008, 1e-14);
    check_near(number(json_object_get(values, "start"), "value"), 0, 1e-13);
    check_below(number(answer, "rms"), 1e-13);
    check(truth(answer, "converged") && exists("fit.svg"));
    json_decref(answer);
    /* The fitted scene moves as the real one, to what the recording's digits leave. */
    check_run(0, "run", "fitted.json", "--record", "again.csv");
    check_json(answer, 0, "fit", "fitted.json", "--marker", "tip=seen.csv", "--json", "--young");
    check_below(number(answer, "rms_scene"), 1e-14);
    json_decref(answer);
}

static void the_table_is_for_people(void **state) {
    (void)state;
    check_run(0, "fit", "rod.json", "--marker", "tip=seen.csv", "--parts", "rod", "--synced", "--plot", "fit.png");
    check(strstr(out, "Young's modulus") && strstr(out, "95 % interval") && strstr(out, "damping by stiffness"));
    check(strstr(out, "distance from marker to measurement") && !strstr(out, "begins at"));
    check(exists("fit.png"));
}

static void units_are_read_from_names_and_options(void **state) {
    (void)state;
    FILE *mm = fopen(work("mm.csv"), "w"), *cm = fopen(work("cm.csv"), "w");
    fputs("time (ms),x_mm,y [mm],z (mm),who\n", mm), fputs("t,x,y,z\n", cm);
    for (int i = 0; i < 40; i++) {
        fprintf(mm, "%d,%g,0,500,7\n", 10 * i, 10 * sin(0.3 * i));
        fprintf(cm, "%g,%g,0,50\n", 0.01 * i, sin(0.3 * i));
    }
    fclose(mm), fclose(cm);
    json_t *first, *second;
    check_json(first, 0, "fit", "rod.json", "--marker", "tip=mm.csv", "--json", "--young");
    check_json(second, 0, "fit", "rod.json", "--marker", "weight=cm.csv", "--json", "--young", "--unit", "cm");
    check_near(number(first, "rms_scene"), number(second, "rms_scene"), 1e-9);
    json_decref(first), json_decref(second);
}

static void mistakes_are_one_sentence(void **state) {
    (void)state;
    static const struct {
        const char *text, *part;
    } files[] = {
        {"1,2,3,4\n2,3,4,5\n", "the first line should hold the names"},
        {"time,x,y\n0,0,0\n", "no column \"z\"; the columns are time, x, y"},
        {"x,y,z\n0,0,0\n", "no column \"time\""},
        {"time,x,y,z\n0,0,0,0\n", "there are 1 rows; a fit needs at least 8"},
        {"time,x_inch,y,z\n0,0,0,0\n", "\"inch\" is no unit here; say m, cm or mm"},
        {"time_h,x,y,z\n0,0,0,0\n", "\"h\" is no unit here; say s or ms"},
        {"time,x,y,z\n0,0,0,0\n1,0,0,0\n2,0,0,0\n3,0,0,0\n4,0,0,0\n3.5,0,0,0\n6,0,0,0\n7,0,0,0\n",
         "row 6: time must ascend, but 3.5 follows 4; sort the rows"},
        {"time,x,y,z\n0,0,0,0\n1,0,,0\n2,0,0,0\n3,0,0,0\n4,0,0,0\n5,0,0,0\n6,0,0,0\n7,0,0,0\n",
         "row 2: \"y\" is empty or not finite; leave rows out"},
        {"time,x,y,z\n0,0,0,zero\n", "\"zero\" is not a number"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        test_write_text(work("wrong.csv"), files[i].text);
        check_mistake(1, files[i].part, "fit", "rod.json", "--marker", "tip=wrong.csv");
    }
    check_mistake(1, "is no unit here", "fit", "rod.json", "--marker", "tip=seen.csv", "--unit", "inch");
    check_mistake(1, "cannot be opened", "fit", "rod.json", "--marker", "tip=gone.csv");
    check_mistake(1, "did you mean \"tip\"?", "fit", "rod.json", "--marker", "tipp=cm.csv");
    check_mistake(1, "did you mean \"rod\"?", "fit", "rod.json", "--marker", "tip=seen.csv", "--parts", "rood");
    check_mistake(1, "is the scene itself", "fit", "rod.json", "--marker", "tip=seen.csv", "-o", "rod.json");
    check_mistake(2, "Say --marker NAME=FILE.csv", "fit", "rod.json");
    check_mistake(2, "should be NAME=FILE.csv", "fit", "rod.json", "--marker", "tip");
    check_mistake(2, "should be stiffness, mass or both", "fit", "rod.json", "--marker", "a=b", "--damping=air");
    check_mistake(2, ".svg or .png", "fit", "rod.json", "--marker", "a=b", "--plot", "a.pdf");
}

static void scenes_of_other_kinds_are_refused(void **state) {
    (void)state;
    check_run(0, "mesh", "generate", "box", "-o", "box.msh");
    test_write_text(work("body.json"), "{\"bough\": 1, \"mesh\": \"box.msh\", \"time\": {\"duration\": 1}}");
    check_mistake(1, "only scenes of bodies with joints can be fitted", "fit", "body.json", "--marker", "tip=cm.csv");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_gives_back_its_material),   cmocka_unit_test(the_table_is_for_people),
        cmocka_unit_test(units_are_read_from_names_and_options), cmocka_unit_test(mistakes_are_one_sentence),
        cmocka_unit_test(scenes_of_other_kinds_are_refused),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
