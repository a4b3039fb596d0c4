/* The page of bough retarget: a real retargeting of a rod, and what the page says of it. */
#include "../scene/texts.h"

#include "../../app/retarget_report.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

enum { CASES = 5, ROUNDS = 40 };
#define NASTY "a \"b\" <i>&amp;'</script><!--\xe2\x80\xa8\xff"

typedef struct {
    bough_context *ctx;
    bough_scene *scene;
    bough_retarget *retarget;
    bough_motion *motions[3];
    app_retarget_case cases[CASES];
    app_retarget_round rounds[ROUNDS];
    app_retarget_report report;
} session;

static void write_scene(const char *path) {
    write_quoted(
        path,
        "{'bough': 1, 'components': {'rod': {"
        "'mesh': {'generate': 'box', 'type': 'tet10', 'origin': [0, -0.002, -0.002], 'size': [0.6, 0.004, 0.004], "
        "'cells': [10, 1, 1]}, "
        "'material': {'model': 'stvk', 'young': 2e11, 'poisson': 0.3, 'density': 8000}, "
        "'damping': {'mass': 0.05, 'stiffness': 0.0002}, "
        "'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}, "
        "'basis': {'r': 6, 'kind': 'mass-loaded'}}}, "
        "'bodies': [{'name': 'hub', 'mass': 0.2, 'shape': {'sphere': 0.02}}, "
        "{'name': 'weight', 'position': [0, 0, 0.6], 'mass': 0.1, 'shape': {'sphere': 0.015}}], "
        "'parts': [{'name': 'rod', 'component': 'rod', 'clamp': {'body': 'hub', 'rotate_deg': [0, -90, 0]}}], "
        "'joints': [{'name': 'shoulder', 'kind': 'hinge', 'parent': 'world', 'child': 'hub', 'axis': [0, 1, 0], "
        "'position': [0, 0, 0], 'limits_deg': [-90, 90]}, "
        "{'name': 'grip', 'kind': 'weld', 'parent': {'part': 'rod', 'interface': 'tip'}, 'child': 'weight'}], "
        "'curves': {'turn': [[0.2, 0], [0.5, 30], [1.0, 30], [1.3, 0]]}, "
        "'motors': [{'name': 'motor', 'joint': 'shoulder', 'curve': 'turn', 'degrees': true}], "
        "'retarget': {'dt': 0.004, 'limits': [{'motor': 'motor', 'speed_deg': 240, 'acceleration_deg': 4000}]}, "
        "'gravity': [0, 0, -9.81], 'time': {'dt': 0.004, 'duration': 2}}");
}

static bool tell(void *data, const bough_retarget_progress *p) {
    session *s = data;
    if (s->report.round_count < ROUNDS)
        s->rounds[s->report.round_count++] =
            (app_retarget_round){p->window, p->value, p->deviation, 0.1 * p->iteration};
    return true;
}

static bough_motion *play(session *s, bough_replay_source source, double mass) {
    bough_replay_def def = bough_default_replay_def();
    bough_motion *motion = NULL;
    def.source = source, def.mass = mass;
    check_ok(s->ctx, bough_retarget_replay(s->ctx, s->retarget, &def, &motion));
    return motion;
}

static void open_session(session *s) {
    const char *path = test_path("rod.json");
    bough_retarget_def def = bough_default_retarget_def();
    *s = (session){.ctx = test_context(2)};
    write_scene(path);
    check_ok(s->ctx, bough_scene_load(s->ctx, path, &s->scene));
    def.iterations = TEST_SANITIZED ? 2 : 15, def.tell = tell, def.tell_data = s;
    check_ok(s->ctx, bough_retarget_create(s->ctx, s->scene, &def, &s->retarget));
    check_ok(s->ctx, bough_retarget_run(s->ctx, s->retarget));
    s->motions[0] = play(s, BOUGH_REPLAY_ANIMATION, 1);
    s->motions[1] = play(s, BOUGH_REPLAY_CURVES, 1);
    s->motions[2] = play(s, BOUGH_REPLAY_CURVES, 1.05);
    bough_retarget_look(s->retarget, &s->report.view);
    const bough_motion *target = s->report.view.target;
    s->cases[0] = (app_retarget_case){"animation", "the animation as it is", true, s->motions[0], target, 0};
    s->cases[1] = (app_retarget_case){"retargeted", "the curves that were found", true, s->motions[1], target, 0};
    s->cases[2] = (app_retarget_case){"heavier", "a weight of 105 g", false, s->motions[2], target, 0.125};
    s->cases[3] = (app_retarget_case){NASTY, NASTY, false, s->motions[0], s->motions[1], 0};
    s->cases[4] = (app_retarget_case){"ZV", "it lost " NASTY, false, NULL, NULL, 0};
    s->report.scene = "some/folder/" NASTY ".json", s->report.retarget = s->retarget;
    s->report.case_count = CASES, s->report.cases = s->cases;
    s->report.rounds = s->rounds, s->report.seconds = 1.5;
}

static void close_session(session *s) {
    for (int i = 0; i < 3; i++)
        bough_motion_destroy(s->ctx, s->motions[i]);
    bough_retarget_destroy(s->ctx, s->retarget);
    bough_scene_destroy(s->ctx, s->scene);
    bough_context_destroy(s->ctx);
}

static char *write_report(const session *s, const char *name) {
    const char *path = test_path(name);
    check_int(app_write_retarget_report(&s->report, path), APP_OK);
    return (char *)test_read(path, NULL);
}

/* The JSON object that the plots are drawn from. */
static json_t *data_of(const char *page) {
    static const char opens[] = "<script id=\"data\" type=\"application/json\">";
    const char *start = strstr(page, opens);
    check(start != NULL);
    start += strlen(opens);
    const char *end = strstr(start, "</script>");
    json_error_t error;
    json_t *data = json_loadb(start, (size_t)(end - start), 0, &error);
    if (!data)
        fail_msg("the page's data are no JSON: %s", error.text);
    return data;
}

static const json_t *plot_named(const json_t *data, const char *title) {
    const json_t *plots = json_object_get(data, "plots");
    for (size_t i = 0; i < json_array_size(plots); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(plots, i), "title")), title) == 0)
            return json_array_get(plots, i);
    fail_msg("no plot shows \"%s\"", title);
    return NULL;
}

static const json_t *line_of(const json_t *data, const char *title, size_t index) {
    return json_array_get(json_object_get(plot_named(data, title), "lines"), index);
}

static double value_at(const json_t *line, size_t i) {
    return json_number_value(json_array_get(line, i));
}

static double largest_of(const json_t *line, size_t *at) {
    double most = 0;
    for (size_t i = 0; i < json_array_size(line); i++)
        if (fabs(value_at(line, i)) > most)
            most = fabs(value_at(line, i)), *at = i;
    return most;
}

static int count_of(const char *text, const char *part) {
    int count = 0;
    for (const char *c = text; (c = strstr(c, part)); c += strlen(part))
        count++;
    return count;
}

/* ---- facts ---- */

/* Reads the number of a row's next cell. */
static double read_cell(const char **row) {
    const char *cell = strstr(*row, "<td>");
    check(cell != NULL);
    *row = cell + 4;
    return (*row)[0] == '-' && !isdigit((unsigned char)(*row)[1]) ? NAN : strtod(*row, NULL);
}

static void check_row(const session *s, const char *page, int index, const char *name) {
    char opens[80];
    bough_deviation d;
    snprintf(opens, sizeof opens, "<span data-mark=\"%d\"></span>%s</td>", index, name);
    const char *row = strstr(page, opens);
    check(row != NULL);
    bough_motion_compare(s->retarget, s->cases[index].motion, s->cases[index].target, 0, &d);
    const double expected[] = {
        100 * d.rms, 100 * d.peak, 100 * d.pause_rms, 100 * d.end_rms, 180 / M_PI * d.tilt_peak, s->cases[index].delay};
    for (int i = 0; i < 6; i++)
        check_near(read_cell(&row), expected[i], 6e-4 * fabs(expected[i]));
}

static void tables_say_what_was_compared(void **state) {
    const session *s = *state;
    char *page = write_report(s, "report.html");
    check_row(s, page, 0, "animation");
    check_row(s, page, 1, "retargeted");
    check_row(s, page, 2, "heavier");
    check(strstr(page, "<td colspan=\"6\">failed: it lost ") != NULL);
    check(strstr(page, " times smaller") != NULL);
    free(page);
}

/* Peaks are not lost between samples, and both tell of the same distances. */
static void plots_have_the_peaks_of_the_table(void **state) {
    const session *s = *state;
    char *page = write_report(s, "report.html");
    json_t *data = data_of(page);
    for (int i = 0; i < 3; i++) {
        bough_deviation d;
        size_t at = 0;
        bough_motion_compare(s->retarget, s->cases[i].motion, s->cases[i].target, 0, &d);
        check_near(largest_of(line_of(data, "Distance from target", (size_t)i), &at), 100 * d.peak,
                   1e-5 * 100 * d.peak);
    }
    check(json_is_null(line_of(data, "Distance from target", 4)));
    check_int(json_integer_value(line_of(data, "Rate", 2)), 1); /* the same curves drive it */
    check_near(value_at(json_object_get(plot_named(data, "Rate"), "limits"), 1), 240, 1e-3);
    check(json_is_null(json_array_get(json_object_get(plot_named(data, "Torque"), "limits"), 1)));
    check_int(json_array_size(line_of(data, "Objective", 0)), s->report.round_count);
    json_decref(data);
    free(page);
}

/* Accelerations of the curves themselves, not of their samples. */
static void accelerations_are_those_of_the_curves(void **state) {
    const session *s = *state;
    char *page = write_report(s, "report.html");
    json_t *data = data_of(page);
    const json_t *line = line_of(data, "Acceleration", 1);
    size_t at = 0;
    const double most = largest_of(line, &at);
    for (size_t k = 0; k < json_array_size(line); k++) {
        double a;
        bough_motor_curves_at(s->report.view.curves, 0, (double)k * s->report.view.dt, NULL, NULL, &a);
        check_near(value_at(line, k), 180 / M_PI * a, 2e-5 * most);
    }
    json_decref(data);
    free(page);
}

static void the_page_needs_nothing_else(void **state) {
    char *page = write_report(*state, "report.html");
    static const char *const others[] = {"http:", "https:", "src=", "href=", "@import", "url(http", "fetch("};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(page, others[i]))
            fail_msg("the page has \"%s\" in it", others[i]);
    check_below((double)strlen(page), 2e6);
    free(page);
}

static void names_do_not_break_out(void **state) {
    session s = *(session *)*state;
    static const char *const names[] = {NASTY};
    s.report.view.motors = s.report.view.frames = names;
    char *page = write_report(&s, "report.html");
    json_t *data = data_of(page);
    check_int(count_of(page, "<script"), 2);
    check_int(count_of(page, "</script"), 2);
    check_int(count_of(page, "<!--"), 0);
    check_int(count_of(page, "<i>"), 0);
    check_int(count_of(strstr(page, "id=\"data\""), "\xe2\x80\xa8"), 0);
    check_int(count_of(page, "\xff"), 0);
    check(strstr(page, "a &quot;b&quot; &lt;i&gt;&amp;amp;&#39;&lt;/script&gt;&lt;!--") != NULL);
    const char *name = json_string_value(json_object_get(json_array_get(json_object_get(data, "cases"), 3), "name"));
    check(strcmp(name, "a \"b\" <i>&amp;'</script><!--\xe2\x80\xa8?") == 0);
    json_decref(data);
    free(page);
}

static void the_same_report_has_the_same_bytes(void **state) {
    char *one = write_report(*state, "one.html"), *two = write_report(*state, "two.html");
    check(strcmp(one, two) == 0);
    free(one), free(two);
}

/* Two millimetres at 7 Hz in a slanted direction, on top of a displacement that stays. */
static void a_vibration_is_a_peak_at_its_frequency(void **state) {
    session s = *(session *)*state;
    bough_motion shaken = *s.report.view.target;
    const size_t count = (size_t)shaken.step_count + 1;
    double *positions = malloc(3 * count * sizeof *positions);
    check(positions != NULL);
    for (size_t k = 0; k < count; k++)
        for (size_t d = 0; d < 3; d++)
            positions[3 * k + d] = shaken.positions[3 * k + d] + 0.01 +
                                   0.002 *
                                       (d == 0   ? 0.6
                                        : d == 1 ? 0.8
                                                 : 0) *
                                       sin(2 * M_PI * 7 * (double)k * shaken.dt);
    shaken.positions = positions;
    s.cases[0].motion = &shaken, s.report.cases = s.cases;
    char *page = write_report(&s, "report.html");
    json_t *data = data_of(page);
    size_t at = 0;
    const json_t *axis = json_object_get(json_object_get(data, "axes"), "frequency");
    const double step = json_number_value(json_object_get(axis, "step"));
    const double height = largest_of(line_of(data, "Amplitude spectrum", 0), &at);
    check_near((double)at * step, 7, 0.6 * step);
    check_near(height, 2, 0.02);
    json_decref(data);
    free(page), free(positions);
}

static int files_in(const char *folder) {
    DIR *stream = opendir(folder);
    int count = 0;
    check(stream != NULL);
    for (const struct dirent *e; (e = readdir(stream));)
        count += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    closedir(stream);
    return count;
}

/* A full disk, or what feels like one: files may not grow beyond 20 kB. */
static void no_half_page_is_left(void **state) {
    const session *s = *state;
    const char *folder = test_path("full"), *path = test_path("full/report.html");
    struct rlimit before, small;
    check(mkdir(folder, 0700) == 0);
    test_write_text(path, "an older page");
    check(getrlimit(RLIMIT_FSIZE, &before) == 0);
    small = before, small.rlim_cur = 20000;
    signal(SIGXFSZ, SIG_IGN);
    check(setrlimit(RLIMIT_FSIZE, &small) == 0);
    const int status = app_write_retarget_report(&s->report, path);
    check(setrlimit(RLIMIT_FSIZE, &before) == 0);
    check_int(status, APP_FAILED);
    char *left = (char *)test_read(path, NULL);
    check(strcmp(left, "an older page") == 0);
    check_int(files_in(folder), 1);
    check_int(app_write_retarget_report(&s->report, test_path("missing/report.html")), APP_FAILED);
    free(left);
}

/* A motion of one line and no search: the page is smaller, not broken. */
static void a_page_without_cases_is_written(void **state) {
    session s = *(session *)*state;
    s.report.case_count = s.report.round_count = 0;
    char *page = write_report(&s, "report.html");
    json_t *data = data_of(page);
    check(strstr(page, "NAN") == NULL && strstr(page, "nan") == NULL);
    check(json_array_size(json_object_get(data, "plots")) > 0);
    json_decref(data);
    free(page);
}

static int open_all(void **state) {
    static session s;
    open_session(&s);
    *state = &s;
    return 0;
}

static int close_all(void **state) {
    close_session(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_say_what_was_compared),
        cmocka_unit_test(plots_have_the_peaks_of_the_table),
        cmocka_unit_test(accelerations_are_those_of_the_curves),
        cmocka_unit_test(the_page_needs_nothing_else),
        cmocka_unit_test(names_do_not_break_out),
        cmocka_unit_test(the_same_report_has_the_same_bytes),
        cmocka_unit_test(a_vibration_is_a_peak_at_its_frequency),
        cmocka_unit_test(no_half_page_is_left),
        cmocka_unit_test(a_page_without_cases_is_written),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
