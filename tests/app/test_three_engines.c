/* The same robot with springs in its joints as a mechanism, linear and in full, and as a multibody system: where motions
 * are small, all three are to agree. */
#include "program.h"

enum { LINKS = 4, KINDS = 3 };
typedef enum { LINEAR, FULL, MULTIBODY } kind;
static const char *const files[KINDS] = {"links.json", "links.json", "bodies.json"};
static const char *const engines[KINDS] = {"mechanism", "full", "multibody"};

/* An arm along x of four links under a weight `scale` times as large as on earth, and some to the side. */
static void write_scene(kind as, double scale, double dt) {
    static const char *const axes[LINKS] = {"[0, 1, 0]", "[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]"};
    static char text[8000];
    const bool bodies = as == MULTIBODY;
    char *at = text;
    at += sprintf(at,
                  "{\"bough\": 1, \"gravity\": [0, %.17g, %.17g], \"time\": {\"dt\": %g, \"duration\": 0.5}, \"%s\": [",
                  3 * scale, -9.81 * scale, dt, bodies ? "bodies" : "links");
    if (!bodies)
        at += sprintf(at, "{\"name\": \"foot\", \"shape\": {\"sphere\": 0.05}}, ");
    for (int i = 0; i < LINKS; i++)
        at += sprintf(at,
                      "%s{\"name\": \"l%d\", \"position\": [%g, 0, 0], \"mass\": %g, \"shape\": {\"box\": [0.28, 0.06, "
                      "0.05]}}",
                      i ? ", " : "", i, 0.15 + 0.3 * i, 1 - 0.2 * i);
    at += sprintf(at, "], \"joints\": [");
    for (int i = 0; i < LINKS; i++) {
        char parent[16];
        snprintf(parent, sizeof parent, "l%d", i - 1);
        at +=
            sprintf(at,
                    "%s{\"name\": \"j%d\", \"kind\": \"hinge\", \"parent\": \"%s\", \"child\": \"l%d\", \"position\": "
                    "[%g, 0, 0], \"axis\": %s, \"stiffness\": %d, \"damping\": 2}",
                    i ? ", " : "", i,
                    i        ? parent
                    : bodies ? "world"
                             : "foot",
                    i, 0.3 * i, axes[i], 500 - 100 * i);
    }
    sprintf(at, bodies ? "], \"probes\": [{\"name\": \"tool\", \"body\": \"l3\"}]}"
                       : "], \"end_effectors\": [{\"name\": \"tool\", \"link\": \"l3\"}], \"probes\": [{\"name\": "
                         "\"tool\", \"end_effector\": \"tool\"}]}");
    mkdir(work(""), 0700);
    test_write(work(files[as]), text, strlen(text));
}

static double apart(const double *a, const double *b) {
    return sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
}

static void settle_as(kind as, double scale, double u[3]) {
    json_t *told;
    write_scene(as, scale, 1e-3);
    check_json(told, 0, "static", files[as], "--engine", engines[as], "--json");
    const json_t *tool = json_object_get(json_object_get(told, "probes"), "tool");
    for (size_t d = 0; d < 3; d++)
        u[d] = json_number_value(json_array_get(json_object_get(tool, "displacement"), d));
    json_decref(told);
}

/* In full as the multibody system to rounding; the linear one is off by a part that falls with the load. */
static void they_sag_alike(void **state) {
    (void)state;
    const double none[3] = {0, 0, 0};
    double off[2];
    for (int i = 0; i < 2; i++) {
        double u[KINDS][3];
        for (int k = 0; k < KINDS; k++)
            settle_as((kind)k, i ? 0.05 : 0.1, u[k]);
        const double size = apart(u[MULTIBODY], none);
        check_below(apart(u[FULL], u[MULTIBODY]) / size, 1e-12);
        off[i] = apart(u[LINEAR], u[MULTIBODY]) / size;
    }
    check_below(off[0], 5e-4);
    check_near(off[0] / off[1], 2, 0.05);
}

/* Displacements of the tool after the weight begins to act, every millisecond. */
static void run_as(kind as, double dt, double (*u)[3]) {
    static const char *const names[] = {"tool.ux", "tool.uy", "tool.uz"};
    int rows;
    write_scene(as, 0.05, dt);
    check_run(0, "run", files[as], "--engine", engines[as], "--record", "way.csv");
    const int each = (int)lround(1e-3 / dt);
    for (int d = 0; d < 3; d++) {
        double *values = test_column(work("way.csv"), names[d], &rows);
        check_int(rows, 500 * each + 1);
        for (int i = 0; i <= 500; i++)
            u[i][d] = values[each * i];
        free(values);
    }
}

/* Steps of mechanisms are of first order: two lengths of them are extrapolated. */
static void they_vibrate_alike(void **state) {
    (void)state;
    static double exact[501][3], coarse[501][3], fine[501][3];
    run_as(MULTIBODY, 5e-4, exact);
    for (int k = LINEAR; k <= FULL; k++) {
        double most = 0, off[2] = {0, 0};
        run_as((kind)k, 5e-4, coarse);
        run_as((kind)k, 2.5e-4, fine);
        for (int i = 0; i <= 500; i++) {
            const double none[3] = {0, 0, 0};
            double limit[3];
            for (int d = 0; d < 3; d++)
                limit[d] = 2 * fine[i][d] - coarse[i][d];
            most = fmax(most, apart(exact[i], none));
            off[0] = fmax(off[0], apart(fine[i], exact[i])), off[1] = fmax(off[1], apart(limit, exact[i]));
        }
        print_message("%s: %.2e off with steps of 0.25 ms, %.2e extrapolated\n", engines[k], off[0] / most,
                      off[1] / most);
        check_below(off[0] / most, 0.03);
        check_below(off[1] / most, 1e-3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(they_sag_alike), cmocka_unit_test(they_vibrate_alike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
