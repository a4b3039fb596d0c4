/* bough retarget: a small robot from its scene to a table of motors, and back; interruptions and mistakes. */
#include "../scene/texts.h"
#include "program.h"

#include <sys/resource.h>

/* A coarse rod that a motor turns by 20 degrees in 0.2 s. more: further members of the scene. */
static void write_rod(const char *name, const char *retarget, const char *more) {
    char scene[2400];
    snprintf(scene, sizeof scene,
             "{'bough': 1, 'components': {'rod': {"
             "'mesh': {'generate': 'box', 'type': 'tet10', 'origin': [0, -0.002, -0.002], 'size': [0.5, 0.004, 0.004], "
             "'cells': [6, 1, 1]}, 'material': {'model': 'stvk', 'young': 2e11, 'poisson': 0.3, 'density': 8000}, "
             "'damping': {'mass': 0.05, 'stiffness': 0.0002}, "
             "'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}, 'basis': {'r': 8, 'kind': "
             "'mass-loaded+derivatives'}}}, "
             "'bodies': [{'name': 'hub', 'mass': 0.2, 'shape': {'sphere': 0.02}}, "
             "{'name': 'weight', 'position': [0.5, 0, 0], 'mass': 0.1, 'shape': {'sphere': 0.015}}], "
             "'parts': [{'name': 'rod', 'component': 'rod', 'clamp': 'hub'}], "
             "'joints': [{'name': 'shoulder', 'kind': 'hinge', 'parent': 'world', 'child': 'hub', 'axis': [0, 1, 0], "
             "'position': [0, 0, 0]}, {'name': 'grip', 'kind': 'weld', 'parent': {'part': 'rod', 'interface': 'tip'}, "
             "'child': 'weight'}], 'motors': {'csv': 'animation.csv', 'degrees': true, 'between': 'stops'}, "
             "'retarget': {%s}, 'gravity': [0, 0, -9.81], 'time': {'dt': 0.004, 'duration': 0.8}, "
             "'probes': [{'name': 'weight', 'body': 'weight'}]%s}",
             retarget, more);
    write_quoted(work(name), scene);
}

static int prepare(void **state) {
    (void)state;
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    unsetenv("ARGP_HELP_FMT");
    mkdir(work(""), 0700);
    test_write_text(work("animation.csv"), "time,shoulder\n0.1,0\n0.3,20\n");
    write_rod("rod.json", "'dt': 0.004, 'iterations': 3", "");
    return 0;
}

static double deviation(const json_t *answer, const char *of, const char *what) {
    return number(json_object_get(json_object_get(json_object_get(answer, "deviations"), of), "weight"), what);
}

/* Both answers of the same search have the same numbers, and the curves make the robot calm. */
static void text_and_json_agree(void **state) {
    (void)state;
    json_t *answer;
    check_json(answer, 0, "retarget", "rod.json", "-o", "one.csv", "--json");
    check_int(number(answer, "motors"), 1);
    check_int(number(answer, "steps"), 200);
    check_below(number(answer, "objective"), 0.01 * number(answer, "objective_first"));
    check_below(deviation(answer, "retargeted", "pause_rms"), 0.2 * deviation(answer, "animation", "pause_rms"));
    check(strcmp(text(answer, "output"), "one.csv") == 0);
    check_near(number(json_object_get(answer, "delays"), "retargeted"), 0, 0);
    check(number(json_object_get(answer, "delays"), "ZVD") > 0.1); /* a period of the rod */
    check_run(0, "retarget", "rod.json", "-o", "two.csv", "--report", "report.html");
    check(strstr(out, "rod.json: 1 motor, 19 points each, 200 steps of 0.004 s;") != NULL);
    static const char *const cases[] = {"animation", "retargeted", "ZVD"};
    static const char *const keys[] = {"rms", "peak", "pause_rms", "end_rms", "tilt_peak"};
    const char *at = strstr(out, "tilt deg");
    for (int i = 0; i < 3; i++) {
        check(at != NULL && (at = strstr(at, cases[i])) != NULL);
        at += strlen(cases[i]);
        for (int k = 0; k < 5; k++) {
            char *end;
            const double unit = k < 4 ? 100 : 180 / M_PI;
            check_near(strtod(at, &end), unit * deviation(answer, cases[i], keys[k]), 5.1e-4);
            at = end;
        }
    }
    check(strstr(out, " s late\n") != NULL);
    double first = 0, value = 0;
    const char *objective = strstr(out, "objective ");
    check(objective && sscanf(objective, "objective %lf -> %lf", &first, &value) == 2);
    check_near(first / number(answer, "objective_first"), 1, 1e-3);
    check_near(value / number(answer, "objective"), 1, 1e-3);
    check_begins("report.html", "<!DOCTYPE html>", 15, 10000);
    json_decref(answer);
}

/* The table is one of motors: a scene that follows it, a row in each step, is as far from the equilibria as the replay
 * said, to a thousandth of that. */
static void the_scene_moves_as_was_said(void **state) {
    (void)state;
    json_t *answer, *scene;
    int rows, count;
    check_json(answer, 0, "retarget", "rod.json", "-o", "calm.csv", "--scene", "calm.json", "--rate", "250", "--json");
    double *times = test_column(work("calm.csv"), "time", &rows),
           *places = test_column(work("calm.csv"), "shoulder", &rows);
    check_int(rows, 201);
    check_near(times[1], 0.004, 1e-9);
    check_near(places[0], 0, 1e-12);
    check_near(places[200], 20, 1); /* degrees, as in the animation */
    free(times), free(places);
    scene = json_load_file(work("calm.json"), 0, NULL);
    check(truth(scene, "settle") && strcmp(text(json_object_get(scene, "motors"), "csv"), "calm.csv") == 0);
    json_decref(scene);
    check_run(0, "run", "calm.json", "--record", "calm-run.csv");
    check_run(0, "static", "rod.json", "--along", "--csv", "slow.csv", "--every", "0.004");
    double squares[201] = {0}, sum = 0, peak = 0;
    for (int d = 0; d < 3; d++) {
        const char column[] = {'w', 'e', 'i', 'g', 'h', 't', '.', "xyz"[d], 0};
        double *moved = test_column(work("calm-run.csv"), column, &count),
               *slow = test_column(work("slow.csv"), column, &rows);
        check_int(count, 201);
        check_int(rows, 201);
        for (int k = 0; k < 201; k++)
            squares[k] += (moved[k] - slow[k]) * (moved[k] - slow[k]);
        free(moved), free(slow);
    }
    for (int k = 0; k < 201; k++)
        sum += squares[k], peak = fmax(peak, sqrt(squares[k]));
    check_near(sqrt(sum / 201), deviation(answer, "retargeted", "rms"), 1e-7); /* m */
    check_near(peak, deviation(answer, "retargeted", "peak"), 1e-6);
    json_decref(answer);
}

/* A second search begins where the first one ended, but for the digits of the table. */
static void a_search_goes_on(void **state) {
    (void)state;
    json_t *first, *second;
    check_json(first, 0, "retarget", "rod.json", "-o", "first.csv", "--iterations", "2", "--json");
    check_json(second, 0, "retarget", "rod.json", "--from", "first.csv", "-o", "second.csv", "--iterations", "1",
               "--json");
    check_near(number(second, "objective_first") / number(first, "objective"), 1, 1e-7);
    check(number(second, "objective") <= number(second, "objective_first"));
    json_decref(first), json_decref(second);
    check_mistake(1, "gone.csv", "retarget", "rod.json", "--from", "gone.csv", "-o", "third.csv");
    test_write_text(work("other.csv"), "time,sholder\n0,0\n1,1\n");
    check_mistake(1, "no column \"shoulder\"; did you mean \"sholder\"?", "retarget", "rod.json", "--from", "other.csv",
                  "-o", "third.csv");
    check(!exists("third.csv"));
}

/* Windows, other searches and a robot that differs have the same output. */
static void options_are_taken(void **state) {
    (void)state;
    json_t *answer;
    if (TEST_SANITIZED)
        test_skip("too slow with sanitizers");
    check_json(answer, 0, "retarget", "rod.json", "-o", "w.csv", "--window", "0.3", "--overlap", "0.2", "--json");
    check_below(number(answer, "objective"), 0.01 * number(answer, "objective_first"));
    json_decref(answer);
    check_json(answer, 0, "retarget", "rod.json", "-o", "l.csv", "--search", "lbfgs", "--iterations", "12", "--check",
               "--json");
    check_below(number(answer, "objective"), 0.01 * number(answer, "objective_first"));
    check(deviation(answer, "other robot: retargeted", "rms") < deviation(answer, "other robot: animation", "rms"));
    check(deviation(answer, "other robot: feedback", "rms") > 0);
    json_decref(answer);
}

/* When the search has begun depends on the machine: tries again with more patience. */
static void an_interrupted_search_leaves_its_best(void **state) {
    (void)state;
    int status = 0;
    /* Tolerance 0 and a long scene: it goes on for minutes. */
    write_rod("long.json", "'dt': 0.002, 'duration': 3, 'iterations': 100000, 'tolerance': 0, 'search': 'lbfgs'", "");
    long milliseconds = 1000;
    for (; milliseconds < 60000; milliseconds *= 2) { /* until it is past cooking */
        const pid_t child = start_with_output(WORDS("retarget", "long.json", "-o", "best.csv", "--report", "no.html"),
                                              test_path("stdout"));
        nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000}, NULL);
        check_int(kill(child, SIGINT), 0);
        status = finish(child);
        if (exists("best.csv"))
            break;
        check(status == 1 || status == -SIGINT); /* before there was anything to keep */
    }
    check_int(status, 1);
    if (!is_one_sentence() ||
        !strstr(err, "cancelled; best.csv has the best curves so far, and --from best.csv goes on"))
        fail_msg("\"%s\"", err);
    check(out[0] == 0 && !exists("no.html"));
    int rows;
    free(test_column(work("best.csv"), "shoulder", &rows));
    check_int(rows, 301);
    check_run(0, "retarget", "long.json", "--from", "best.csv", "-o", "best.csv", "--iterations", "1");
}

/* Files may not grow beyond so many bytes: a full disk, or what feels like one. */
static void limit_files(rlim_t bytes, struct rlimit *before) {
    struct rlimit few;
    check(getrlimit(RLIMIT_FSIZE, before) == 0);
    few = *before, few.rlim_cur = bytes;
    signal(SIGXFSZ, SIG_DFL);
    check(setrlimit(RLIMIT_FSIZE, &few) == 0);
}

static void a_full_disk_is_told(void **state) {
    (void)state;
    struct rlimit before;
    check_run(0, "retarget", "rod.json", "-o", "full.csv", "--iterations", "1"); /* with what is cooked */
    check(remove(work("full.csv")) == 0);
    test_write_text(work("kept.json"), "an older scene");
    const int files = file_count();
    limit_files(700, &before);
    run(WORDS("retarget", "rod.json", "-o", "full.csv", "--iterations", "1"));
    const bool told = is_one_sentence() && strstr(err, "full.csv: cannot be written") && !out[0];
    check(setrlimit(RLIMIT_FSIZE, &before) == 0);
    if (!told)
        fail_msg("\"%s\", \"%s\"", err, out);
    check_int(file_count(), files);
    /* The table of 10 rows fits, the scene does not. */
    limit_files(700, &before);
    const int status = run(
        WORDS("retarget", "rod.json", "-o", "full.csv", "--rate", "10", "--scene", "kept.json", "--iterations", "1"));
    check(setrlimit(RLIMIT_FSIZE, &before) == 0);
    check_int(status, 1);
    if (!is_one_sentence() || !strstr(err, "kept.json: cannot be written"))
        fail_msg("\"%s\"", err);
    char left[64];
    slurp(work("kept.json"), left, sizeof left);
    check(strcmp(left, "an older scene") == 0);
    check_int(file_count(), files + 1);
}

static void limits_that_are_not_met_are_told(void **state) {
    (void)state;
    write_rod("narrow.json",
              "'dt': 0.004, 'iterations': 3, 'limits': [{'motor': 'shoulder', 'range_deg': [-5, 5], 'speed_deg': 20}]",
              "");
    check_run(0, "retarget", "narrow.json");
    check(exists("narrow.retargeted.csv") && strstr(out, "Curves: narrow.retargeted.csv"));
    check(strstr(err, "bough: warning: \"weight\" is ") && strstr(err, "limits of motors"));
    check(strstr(err, "bough: warning: motor \"shoulder\" goes to ") && strstr(err, "and its limit is 20"));
}

static void mistakes_are_one_sentence(void **state) {
    (void)state;
    const int files = file_count();
    check_mistake(2, "should be lbfgs, bfgs or gauss-newton", "retarget", "rod.json", "--search", "newton");
    check_mistake(2, "--iterations: \"0\" should be", "retarget", "rod.json", "--iterations", "0");
    check_mistake(2, "--dt", "retarget", "rod.json", "--dt", "-1");
    check_mistake(2, "--window: \"two\" should be", "retarget", "rod.json", "--window", "two");
    check_mistake(2, ".csv", "retarget", "rod.json", "-o", "motors.txt");
    check_mistake(2, ".json", "retarget", "rod.json", "--scene", "scene.txt");
    check_mistake(2, ".html", "retarget", "rod.json", "--report", "page.pdf");
    check_mistake(1, "rod.json: is named twice", "retarget", "rod.json", "--scene", "rod.json");
    check_mistake(1, "./rod.json: is named twice", "retarget", "rod.json", "--scene", "./rod.json");
    test_write_text(work("a.csv"), "");
    check_mistake(1, "animation.csv: is the animation itself", "retarget", "rod.json", "-o", "animation.csv");
    check_mistake(1, "must be in the folder of the scene", "retarget", "rod.json", "--scene", "/tmp/calm.json");
    check_mistake(1, "gone.json", "retarget", "gone.json");
    check_mistake(1, "are too many steps; is time in seconds?", "retarget", "rod.json", "--dt", "1e-7");
    check_mistake(1, "are too short for steps of 0.7 s", "retarget", "rod.json", "--dt", "0.7");
    check_mistake(1, "200 steps need ", "retarget", "rod.json", "--megabytes", "0.001"); /* and leaves no table */
    write_rod("pushed.json", "", ", 'forces': [{'body': 'weight', 'force': [1, 0, 0]}]");
    check_mistake(1, "pushed.json: has \"forces\", which retargeting does not know", "retarget", "pushed.json");
    write_quoted(work("rigid.json"),
                 "{'bough': 1, 'bodies': [{'name': 'hub', 'mass': 1, 'shape': {'sphere': 1}}], 'joints': [{'name': "
                 "'shoulder', 'kind': 'hinge', 'parent': 'world', 'child': 'hub', 'position': [0, 0, 0]}], 'motors': "
                 "{'csv': 'animation.csv', 'degrees': true}}");
    check_mistake(1, "rigid.json: nothing bends, so that nothing vibrates", "retarget", "rigid.json");
    check_int(file_count(), files + 3); /* the three that were written here */
}

/* Motors tables with mistakes are told with their line. */
static void tables_are_told_by_line(void **state) {
    (void)state;
    static const char *const wrong[][2] = {
        {"time,shoulder\n0.1,0\n0.3,\n", "animation.csv:3: shoulder is empty"},
        {"time,shoulder\n0.1,0\n0.3\n", "animation.csv:3: has 1 numbers, and there are 2 columns"},
        {"time,shoulder\n0.1,0\n0.1,20\n", "animation.csv:3: times must ascend, but 0.1 comes after 0.1"},
        {"time,shoulder\n0.1,0\n0.3,nan\n", "animation.csv:3: shoulder: \"nan\" is no number"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        test_write_text(work("animation.csv"), wrong[i][0]);
        check_mistake(1, wrong[i][1], "retarget", "rod.json", "-o", "never.csv");
    }
    check(!exists("never.csv"));
    test_write_text(work("animation.csv"), "time,shoulder\n0.1,0\n0.3,0.35\n"); /* radians */
    check_run(0, "retarget", "rod.json", "-o", "small.csv", "--iterations", "1");
    check(strstr(err, "no motor moves by more than 0.35 degrees; if these are radians") != NULL);
    test_write_text(work("animation.csv"), "time,shoulder\n100,0\n300,20\n"); /* milliseconds */
    check_run(0, "retarget", "rod.json", "-o", "small.csv", "--iterations", "1");
    check(strstr(err, "the animation goes on until 300 s, of which 0.8 s are retargeted; is time in seconds?") != NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_and_json_agree),
        cmocka_unit_test(the_scene_moves_as_was_said),
        cmocka_unit_test(a_search_goes_on),
        cmocka_unit_test(options_are_taken),
        cmocka_unit_test(an_interrupted_search_leaves_its_best),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(limits_that_are_not_met_are_told),
        cmocka_unit_test(mistakes_are_one_sentence),
        cmocka_unit_test(tables_are_told_by_line), /* changes the animation */
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
