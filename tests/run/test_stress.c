/* Stress in runs: probes of both engines tell the same of the same scene; recordings hold what probes do. */
#include "run/play.h"

#include "run/run.h"

/* A beam of three domains along x, held at x = 0. */
#define BEAM(samples, probes, more)                                                                                  \
    "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1.5, 0.1, 0.1], 'cells': "         \
    "[30, 2, 2]}, 'sets': {'a': {'elements': 'x<0.51'}, 'b': {'elements': 'x>0.49 & x<1.01'}, 'c': "                 \
    "{'elements': 'x>0.99'}}, 'material': {'young': 2e6, 'poisson': 0.3, 'density': 1000}, 'basis': {'r': 16}, "     \
    "'fix': 'x0', 'samples': {'contact': 0, 'wind': 0, 'stress': " samples "}}, 'gravity': [0, 0, -0.5], 'settle': " \
    "true, 'time': {'integrator': 'hht', 'dt': 0.01, 'duration': 0.06}, 'probes': [" probes "]" more "}"
#define PLACES                                                           \
    "{'name': 'foot', 'part': 'a', 'stress_at': [0.12, 0.02, 0.09]}, "   \
    "{'name': 'tip', 'part': 'c'}, "                                     \
    "{'name': 'middle', 'part': 'b', 'stress_at': [0.77, 0.02, 0.02]}, " \
    "{'name': 'root', 'part': 'a', 'stress': 'max'}"

static double of(const play *p, const char *probe, const char *what) {
    char column[80];
    snprintf(column, sizeof column, "%s.%s", probe, what);
    return value(p, column);
}

/* Von Mises follows from the principal stresses, which descend. */
static void check_probe(const play *p, const char *probe) {
    const double s1 = of(p, probe, "s1"), s2 = of(p, probe, "s2"), s3 = of(p, probe, "s3");
    const double squares = (s1 - s2) * (s1 - s2) + (s2 - s3) * (s2 - s3) + (s3 - s1) * (s3 - s1);
    check(s1 >= s2 && s2 >= s3);
    check_near(of(p, probe, "von_mises"), sqrt(0.5 * squares), 1e-12 * s1);
}

/* Bending: tension above and pressure below, M y / I of a beam with its weight behind the place. */
static double beam_stress(double x, double z) {
    const double h = 0.1, rest = 1.5 - x, moment = 1000 * 0.5 * h * h * rest * rest / 2;
    return moment * (z - h / 2) / (h * h * h * h / 12);
}

static void both_engines_tell_the_same_stress(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = write_scene("beam.json", BEAM("12", PLACES, ""));
    bough_run_def def = bough_default_run_def();
    play tree = begin_file(ctx, path, &def);
    def.engine = "full";
    play full = begin_file(ctx, path, &def);
    check_int(bough_run_column_count(tree.run), bough_run_column_count(full.run));
    for (int32_t c = 0; c < bough_run_column_count(tree.run); c++)
        check(!strcmp(bough_run_column_name(tree.run, c), bough_run_column_name(full.run, c)));
    static const char *const probes[] = {"foot", "middle", "root"};
    for (int i = 0; i < 3; i++) {
        const double a = of(&tree, probes[i], "von_mises"), b = of(&full, probes[i], "von_mises");
        print_message("%s: von Mises %.0f by the tree, %.0f by the full body: %+.1f %%\n", probes[i], a, b,
                      100 * (a / b - 1));
        check_probe(&tree, probes[i]);
        check_probe(&full, probes[i]);
        check_near(a, b, 0.05 * b);
    }
    /* Elements of 0.05 m: middles at a quarter and at three quarters of the height. Two bricks are too stiff for
     * bending, by an eighth. */
    check_near(of(&tree, "foot", "s1"), beam_stress(0.125, 0.075), 0.15 * beam_stress(0.125, 0.075));
    check_near(of(&tree, "middle", "s3"), beam_stress(0.775, 0.025), -0.15 * beam_stress(0.775, 0.025));
    check(of(&tree, "root", "von_mises") >= of(&tree, "foot", "von_mises"));
    check(fabs(of(&tree, "tip", "uz")) > 0.01); /* probes beside them are where they belong */
    check_near(of(&tree, "tip", "uz"), of(&full, "tip", "uz"), 0.05 * fabs(of(&full, "tip", "uz")));
    end(ctx, &tree);
    end(ctx, &full);
    bough_context_destroy(ctx);
}

/* A probe's element is cooked also where no other points are wanted; then it is the largest too. */
static void a_probe_makes_its_point(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin_file(ctx, write_scene("few.json", BEAM("0", PLACES, "")), NULL);
    check_near(of(&p, "foot", "von_mises"), of(&p, "root", "von_mises"), 0);
    check(of(&p, "foot", "von_mises") > 1000);
    end(ctx, &p);
    bough_scene *scene;
    bough_run *run;
    const char *path = write_scene("none.json", BEAM("0", "{'name': 's', 'part': 'c', 'stress': 'max'}", ""));
    check_ok(ctx, bough_scene_load(ctx, path, &scene));
    check_fails(ctx, bough_run_create(ctx, scene, NULL, &run), BOUGH_ERROR_FORMAT,
                "the probe \"s\" asks for the stress of a part without stress points");
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

/* Tets that share a corner: points beside it lie in one, and may be nearer to the middle of another. */
static void the_element_is_the_one_that_holds_the_point(void **state) {
    (void)state;
    static const double beside[8][3] = {{4, 2, 1},  {2, 4, 1},  {-4, 2, 1},  {-2, 4, 1},
                                        {4, -2, 1}, {1, -4, 2}, {-1, -2, 4}, {1, 2, 4}}; /* mm */
    bough_context *ctx = test_context(1);
    char text[3000];
    int n = snprintf(text, sizeof text,
                     "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'tet4', 'size': [1.5, 0.2, 0.2], "
                     "'cells': [15, 2, 2]}, 'sets': {'a': {'elements': 'x<0.51'}, 'b': {'elements': 'x>0.49'}}, "
                     "'material': {'young': 2e6}, 'basis': {'r': 16}, 'fix': 'x0', 'samples': {'stress': 8}}, "
                     "'gravity': [0, 0.2, -0.5], 'settle': true, 'time': {'dt': 0.01, 'duration': 0.1}, 'probes': [");
    for (int i = 0; i < 8; i++)
        n +=
            snprintf(text + n, sizeof text - (size_t)n, "%s{'name': '%d', 'part': 'a', 'stress_at': [%g, %g, %g]}",
                     i ? ", " : "", i, 0.2 + 1e-3 * beside[i][0], 0.1 + 1e-3 * beside[i][1], 0.2 - 1e-3 * beside[i][2]);
    snprintf(text + n, sizeof text - (size_t)n, "]}");
    const char *path = write_scene("tets.json", text);
    bough_run_def def = bough_default_run_def();
    play tree = begin_file(ctx, path, &def);
    def.engine = "full";
    play full = begin_file(ctx, path, &def);
    for (char name[2] = "0"; name[0] < '8'; name[0]++)
        check_near(of(&tree, name, "von_mises"), of(&full, name, "von_mises"), 0.06 * of(&full, name, "von_mises"));
    end(ctx, &tree);
    end(ctx, &full);
    bough_context_destroy(ctx);
}

/* In a scene of components, the stress point that is nearest at rest, where the part is, and in its size. */
static void points_are_found_where_parts_are(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = write_scene(
        "bars.json",
        "{'bough': 1, 'components': {'bar': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.1, 0.1], "
        "'cells': [10, 2, 2]}, 'material': {'young': 2e6}, 'interfaces': {'base': {'select': 'x0'}, 'end': {'select': "
        "'x1'}}, 'basis': {'r': "
        "10}, 'samples': {'stress': 0, 'stress_at': ['nearest:0.2,0,0', 'nearest:0.8,0,0']}}}, 'parts': [{'name': 'a', "
        "'component': 'bar', 'position': [5, 0, 0]}, {'name': 'b', 'component': 'bar', 'parent': 'a', 'interface': "
        "'end', 'rotate_deg': [0, 90, 0], 'scale': 0.5}], 'gravity': [0, 3, 0], 'settle': true, 'time': {'dt': 0.01, "
        "'duration': 0.1}, 'probes': [{'name': 'near', 'part': 'b', 'stress_at': [6, 0, -0.1]}, {'name': 'far', "
        "'part': "
        "'b', 'stress_at': [6, 0, -0.4]}, {'name': 'most', 'part': 'b', 'stress': 'max'}, {'name': 'a', 'part': 'a', "
        "'stress_at': [5.2, 0, 0]}]}");
    play p = begin_file(ctx, path, NULL);
    check(of(&p, "near", "von_mises") > 5 * of(&p, "far", "von_mises")); /* 0.4 and 0.1 of the bar are behind them */
    check(of(&p, "far", "von_mises") > 0);
    check_near(of(&p, "most", "von_mises"), of(&p, "near", "von_mises"), 0);
    check(of(&p, "a", "von_mises") > 2 * of(&p, "near", "von_mises"));
    end(ctx, &p);
    bough_context_destroy(ctx);
}

static void wrong_probes_are_told(void **state) {
    (void)state;
    static const struct {
        const char *probe, *sentence;
    } wrong[] = {
        {"{'name': 's', 'part': 'a', 'stress': 'max', 'stress_at': [0, 0, 0]}", "leave it or \"stress_at\" out"},
        {"{'name': 's', 'part': 'a', 'stress': 'min'}", "\"max\""},
        {"{'name': 's', 'part': 'z', 'stress': 'max'}", "probes[0].part"},
        {"{'name': 's', 'stress': 'max'}", "\"part\" is missing"},
        {"{'name': 's', 'part': 'a', 'stress_at': [0, 0]}", "probes[0].stress_at"},
        {"{'name': 's', 'part': 'a', 'stress_at': [0, 0, 0], 'nearest': [0, 0, 0]}", "unknown key \"nearest\""},
    };
    bough_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[2000];
        bough_scene *scene;
        snprintf(text, sizeof text, BEAM("4", "%s", ""), wrong[i].probe);
        check_fails(ctx, bough_scene_load(ctx, write_scene("wrong.json", text), &scene), BOUGH_ERROR_FORMAT,
                    wrong[i].sentence);
    }
    bough_context_destroy(ctx);
}

/* Limbs peak at their feet, beside the cut: in the last third of the beam the layer of bricks after the first has a fifth
 * less. */
static void parts_peak_at_their_feet(void **state) {
    (void)state;
    static const char *const parts[3] = {"a", "b", "c"};
    bough_context *ctx = test_context(1);
    const char *path = write_scene("feet.json", BEAM("12",
                                                     "{'name': 'a', 'part': 'a', 'stress': 'max'}, {'name': 'b', 'part': "
                                                     "'b', 'stress': 'max'}, {'name': 'c', 'part': 'c', 'stress': 'max'}",
                                                     ""));
    bough_run_def def = bough_default_run_def();
    play tree = begin_file(ctx, path, &def);
    def.engine = "full";
    play full = begin_file(ctx, path, &def);
    for (int i = 0; i < 3; i++) {
        const double found = of(&tree, parts[i], "von_mises"), wanted = of(&full, parts[i], "von_mises");
        print_message("largest of part %s: %.0f Pa, of the full body there %.0f Pa\n", parts[i], found, wanted);
        check_near(found, wanted, 0.05 * wanted);
    }
    end(ctx, &tree);
    end(ctx, &full);
    bough_context_destroy(ctx);
}

/* ---- the field ---- */

static float at_place(const play *p, const float *field, const double place[3]) {
    const bough_mesh *mesh = bough_run_mesh(p->run);
    double least = INFINITY;
    int32_t best = 0;
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        double d = 0;
        for (int k = 0; k < 3; k++)
            d += pow(mesh->vertices[3 * v + k] - place[k], 2);
        if (d < least)
            least = d, best = v;
    }
    return field[best];
}

static float *field_of(bough_context *ctx, const play *p) {
    const bough_mesh *mesh = bough_run_mesh(p->run);
    float *field = malloc((size_t)mesh->vertex_count * sizeof *field);
    check_ok(ctx, bough_run_vertex_stresses(p->run, field));
    return field;
}

/* Along the upper edge of the beam, over both cuts: it falls towards the tip as in the full body, without steps. */
static void colours_are_those_of_the_full_body(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *path = write_scene("coloured.json", BEAM("12", PLACES, ""));
    bough_run_def def = bough_default_run_def();
    def.continuity = "C0";
    play tree = begin_file(ctx, path, &def);
    def.engine = "full", def.continuity = NULL;
    play full = begin_file(ctx, path, &def);
    float *a = field_of(ctx, &tree), *b = field_of(ctx, &full), before = 0;
    const double foot[3] = {0.1, 0.05, 0.1};
    const double most = at_place(&full, b, foot);
    for (int i = 2; i <= 28; i++) {
        const double place[3] = {0.05 * i, 0.05, 0.1};
        const float here = at_place(&tree, a, place);
        check_near(here, at_place(&full, b, place), 0.1 * most);
        check(i == 2 || fabsf(here - before) < 0.12 * most);
        before = here;
    }
    free(a), free(b);
    end(ctx, &tree);
    end(ctx, &full);
    bough_context_destroy(ctx);
}

/* ---- recordings ---- */

#define MOST "{'name': 'a', 'part': 'a', 'stress': 'max'}, {'name': 'c', 'part': 'c', 'stress': 'max'}"

static void run_with(bough_context *ctx, const char *path, const bough_run_def *def, double most[2]) {
    play p = begin_file(ctx, path, def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    if (most)
        most[0] = of(&p, "a", "von_mises"), most[1] = of(&p, "c", "von_mises");
    if (most && !(def->engine && !strcmp(def->engine, "full"))) { /* who asks gets the same: parts a, b, c */
        double stresses[3];
        check_int(bough_run_stress_count(p.run), 3);
        check_ok(ctx, bough_run_stresses(p.run, stresses));
        check_near(stresses[0], most[0], 2e-12 * most[0]);
        check_near(stresses[2], most[1], 1e-11 * most[1]);
    }
    end(ctx, &p);
}

/* In one go, and in two runs with a checkpoint between them: the same bytes. */
static void stresses_are_recorded_frame_by_frame(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    char whole[2][200], halves[2][200], checkpoint[200];
    const char *path = write_scene("record.json", BEAM("6", MOST, ""));
    snprintf(checkpoint, sizeof checkpoint, "%s", test_path("half.state"));
    for (int kind = 0; kind < 2; kind++) {
        snprintf(whole[kind], sizeof whole[kind], "%s", test_path(kind ? "whole.npy" : "whole.csv"));
        snprintf(halves[kind], sizeof halves[kind], "%s", test_path(kind ? "halves.npy" : "halves.csv"));
        bough_run_def def = bough_default_run_def();
        double most[2];
        def.fps = 50; /* every second step */
        def.stresses = whole[kind];
        run_with(ctx, path, &def, most);
        def.stresses = halves[kind], def.checkpoint = checkpoint, def.duration = 0.03;
        run_with(ctx, path, &def, NULL);
        def.resume = checkpoint, def.checkpoint = NULL, def.duration = 0;
        run_with(ctx, path, &def, NULL);
        size_t size, other;
        char *a = (char *)test_read(whole[kind], &size), *b = (char *)test_read(halves[kind], &other);
        check(size == other && memcmp(a, b, size) == 0);
        if (kind == 0) {
            double t, v[3];
            int lines = 0;
            for (const char *c = a; *c; c++)
                lines += *c == '\n';
            check_int(lines, 5);
            check(!strncmp(a, "time,a,b,c\n", 11));
            char *last = a + strlen(a) - 1;
            while (last[-1] != '\n')
                last--;
            check_int(sscanf(last, "%lf,%lf,%lf,%lf", &t, &v[0], &v[1], &v[2]), 4);
            check_near(t, 0.06, 1e-12);
            check_near(v[0], most[0], 2e-12 * most[0]);
            check_near(v[2], most[1], 1e-11 * most[1]);
        } else {
            int32_t rows, columns;
            double *values;
            check_ok(ctx, bo_npy_read(ctx, whole[kind], &rows, &columns, &values));
            check(rows == 4 && columns == 3);
            check_near(values[9], most[0], 2e-12 * most[0]);
            check_near(values[11], most[1], 1e-11 * most[1]);
            bo_free(ctx, values);
        }
        free(a), free(b);
    }
    bough_context_destroy(ctx);
}

/* The numbers of a field of a .vtu file, as it lies in the file; their count. */
static int64_t read_field(char *text, const char *name, double **values) {
    char *at = strstr(text, name), *data = strstr(text, "<AppendedData");
    unsigned long long offset, bytes;
    check(at && (at = strstr(at, "offset=\"")) && data && (data = strchr(data, '_')));
    check_int(sscanf(at, "offset=\"%llu", &offset), 1);
    data += 1 + offset;
    memcpy(&bytes, data, sizeof bytes);
    *values = malloc(bytes);
    check(*values != NULL);
    memcpy(*values, data + sizeof bytes, bytes);
    return (int64_t)bytes / 8;
}

/* A series of frames has them on its elements, those of trees that of their part; a body has one number for each of its elements. */
static void frames_and_bodies_have_stresses(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    char frames[200], one[260], stresses[200];
    const char *path = write_scene("frames.json", BEAM("6", MOST, ""));
    snprintf(frames, sizeof frames, "%s", test_path("stress_frames"));
    snprintf(stresses, sizeof stresses, "%s", test_path("body.npy"));
    bough_run_def def = bough_default_run_def();
    def.frames = frames;
    for (int kind = 0; kind < 2; kind++) {
        def.engine = kind ? "full" : "tree";
        def.stresses = kind ? stresses : NULL;
        double most[2];
        run_with(ctx, path, &def, most);
        snprintf(one, sizeof one, "%s/frame_000001.vtu", frames);
        char *text = (char *)test_read(one, NULL);
        double *shown;
        const int64_t count = read_field(text, "\"von Mises\"", &shown);
        check(count > 6);
        if (!kind) { /* settled, so that all frames show the same */
            check_near(shown[0], most[0], 5e-9 * most[0]);
            check_near(shown[count - 1], most[1], 5e-8 * most[1]);
        }
        free(shown);
        free(text);
        if (!kind)
            continue;
        int32_t rows, columns;
        double *values, largest = 0;
        check_ok(ctx, bo_npy_read(ctx, stresses, &rows, &columns, &values));
        check_int(columns, 120);
        for (int32_t e = 0; e < columns; e++)
            largest = fmax(largest, values[(rows - 1) * columns + e]);
        check(largest > 0.5 * most[0] && largest < 2 * most[0]);
        bo_free(ctx, values);
    }
    bough_run *run;
    bough_scene *scene;
    check_ok(ctx, bough_scene_load(ctx, path, &scene));
    def.stresses = "stress.txt";
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_ARGUMENT, ".csv or .npy");
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_engines_tell_the_same_stress),
        cmocka_unit_test(parts_peak_at_their_feet),
        cmocka_unit_test(a_probe_makes_its_point),
        cmocka_unit_test(the_element_is_the_one_that_holds_the_point),
        cmocka_unit_test(points_are_found_where_parts_are),
        cmocka_unit_test(wrong_probes_are_told),
        cmocka_unit_test(colours_are_those_of_the_full_body),
        cmocka_unit_test(stresses_are_recorded_frame_by_frame),
        cmocka_unit_test(frames_and_bodies_have_stresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
