/* Runs: physics that any engine must respect, failing steps, checkpoints, recordings. */
#include "run/play.h"

#include "run/run.h"

static play begin(bough_context *ctx, const char *text, const bough_run_def *def) {
    return begin_file(ctx, write_scene("scene.json", text), def);
}

static char *read_text(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    check(f != NULL);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    char *text = calloc(*size + 1, 1);
    check(text && fread(text, 1, *size, f) == *size);
    fclose(f);
    return text;
}

#define BAR "'bough': 1, 'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.25, 0.25], 'cells': [4, 1, 1]}"
#define SOFT "'material': {'young': 1e5, 'poisson': 0.3, 'density': 1000}"

static void hello_run(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin(ctx, "{" BAR ", 'gravity': [0, 0, -10], 'time': {'dt': 0.1, 'duration': 1}}", NULL);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check_near(value(&p, "time"), 1, 1e-15);
    check_near(value(&p, "momentum.z"), -62.5 * 10, 1e-9);
    check_near(value(&p, "kinetic"), 0.5 * 62.5 * 100, 1e-8);
    check_near(value(&p, "external"), -62.5 * 10 * 5, 1e-8);
    check_near(value(&p, "total"), 0, 1e-8);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* Every method of second order integrates a constant acceleration without error. */
static void free_fall_is_exact(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int32_t m = 0; m < bough_integrator_count(); m++) {
        const bough_integrator_info *info = bough_integrator_describe(m);
        if (info->order < 2)
            continue;
        bough_run_def def = bough_default_run_def();
        def.integrator = info->name;
        play p = begin(ctx,
                       "{" BAR ", " SOFT ", 'gravity': [0, 0, -10], 'initial': {'velocity': [3, 0, 2]},"
                       "'time': {'dt': 0.005, 'duration': 0.5}, 'probes': [{'name': 'tip', 'select': 'x1'}]}",
                       &def);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        check_near(value(&p, "tip.ux"), 1.5, 1e-10);
        check_near(value(&p, "tip.uz"), 2 * 0.5 - 5 * 0.25, 1e-10);
        check_near(value(&p, "tip.vz"), 2 - 5, 1e-10);
        check_near(value(&p, "tip.x"), 2.5, 1e-10);
        check_below(value(&p, "elastic"), 1e-12);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

static void energy_is_kept_by_the_midpoint_rule(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin(ctx,
                   "{" BAR ", " SOFT ", 'fix': 'x0', 'gravity': [0, 0, -5],"
                   "'time': {'integrator': 'midpoint', 'dt': 0.005, 'duration': 1}}",
                   NULL);
    double largest = 0, off = 0;
    for (int i = 0; i < 200; i++) {
        check_ok(ctx, bough_run_step(ctx, p.run));
        largest = fmax(largest, value(&p, "kinetic"));
        off = fmax(off, fabs(value(&p, "total")));
    }
    check(largest > 1);
    check_below(off, 5e-3 * largest);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- curves ---- */

/* Seen from a train at constant speed nothing happens: support and body move on together, unstrained. (Linear, because
 * methods that linearise see the support ahead of the body; that is of higher order, but not nothing.) */
static void a_support_at_constant_speed_is_a_support_at_rest(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int32_t m = 0; m < bough_integrator_count(); m++) {
        bough_run_def def = bough_default_run_def();
        def.integrator = bough_integrator_describe(m)->name;
        play p = begin(ctx,
                       "{" BAR ", 'material': {'model': 'linear', 'young': 1e5},"
                       "'damping': {'stiffness': 1e-4}, 'curves': {'on': [[0, 0], [10, 20]]},"
                       "'fix': {'select': 'x0', 'displacement': [1, -0.5, 0], 'curve': 'on'},"
                       "'initial': {'velocity': [2, -1, 0]}, 'time': {'dt': 0.002, 'duration': 0.1},"
                       "'probes': [{'name': 'tip', 'select': 'x1'}, {'name': 's', 'stress_at': [0.1, 0.1, 0.1]}]}",
                       &def);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        /* Exponential methods hold the support still in the middle of a step: near, not exact. */
        bool exponential = strstr(def.integrator, "ere") != NULL;
        check_near(value(&p, "tip.ux"), 0.2, exponential ? 1e-4 : 1e-9);
        check_near(value(&p, "tip.uy"), -0.1, exponential ? 1e-4 : 1e-9);
        if (exponential) {
            end(ctx, &p);
            continue;
        }
        check_near(value(&p, "tip.vx"), 2, 1e-12);
        check_near(value(&p, "momentum.x"), 125, 2e-11);
        check_below(value(&p, "elastic"), 1e-12);
        check_below(value(&p, "s.von_mises"), 1e-7);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* A support that is moved and stops carries the body there; on the way all methods agree. */
static void a_moving_support_carries_the_body(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const char *const names[] = {"tr-bdf2", "bdf2",        "generalised-alpha", "si",
                                        "sbdf2",   "s-sdirk",     "hht-linear",        "str-sbdf2",
                                        "rk4",     "trapezoidal", "midpoint",          "backward-euler"};
    double reference = 0;
    for (size_t m = 0; m < sizeof names / sizeof *names; m++) {
        bough_run_def def = bough_default_run_def();
        def.integrator = names[m];
        play p = begin(ctx,
                       "{" BAR ", " SOFT ", 'damping': {'mass': 8, 'stiffness': 2e-4},"
                       "'curves': {'ramp': [[0, 0], [0.1, 0.5], [0.3, 1]]},"
                       "'fix': {'select': 'x0', 'displacement': [0.1, 0, 0], 'curve': 'ramp'},"
                       "'time': {'dt': 0.0005, 'duration': 2}, 'probes': [{'name': 'tip', 'select': 'x1'},"
                       "{'name': 'root', 'select': 'x0'}]}",
                       &def);
        for (int i = 0; i < 200; i++)
            check_ok(ctx, bough_run_step(ctx, p.run));
        check_near(value(&p, "root.ux"), 0.05, 1e-15);
        check_near(value(&p, "root.vx"), 0.05 / 0.2, 1e-12); /* from here on */
        for (int i = 0; i < 200; i++)
            check_ok(ctx, bough_run_step(ctx, p.run));
        double tip = value(&p, "tip.ux");
        if (m == 0)
            reference = tip;
        check_near(tip, reference, 5e-4);
        if (m < 3) {
            check_ok(ctx, bough_run_advance(ctx, p.run));
            check_near(value(&p, "tip.ux"), 0.1, 1e-3);
        }
        end(ctx, &p);
    }
    check(reference > 0.01);
    bough_context_destroy(ctx);
}

/* Impulse of a force, of gravity and of a pressure that follow curves is the area under them. */
static void curves_scale_loads(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const struct {
        const char *load;
        double momentum; /* along z, after 1 s */
    } cases[] = {{"'forces': [{'select': 'all', 'force': [0, 0, 4], 'curve': 'pulse'}]", 4 * 0.25},
                 {"'gravity': {'acceleration': [0, 0, -2], 'curve': 'pulse'}", -62.5 * 2 * 0.25},
                 {"'pressures': [{'faces': 'z0', 'pressure': 10, 'curve': 'pulse'}]", 10 * 0.25 * 0.25}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "{" BAR ", 'curves': {'pulse': [[0.25, 0], [0.5, 1], [0.75, 0]]}, %s,"
                 "'time': {'integrator': 'trapezoidal', 'dt': 0.0125, 'duration': 1}}",
                 cases[i].load);
        play p = begin(ctx, text, NULL);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        check_near(value(&p, "momentum.z"), cases[i].momentum, 1e-3 * fabs(cases[i].momentum));
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

static void the_stress_probe_is_the_stress_of_its_element(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    /* A bar pulled out by its supports at once: uniaxial strain e, mises = 2 mu e in a linear material. */
    play p = begin(ctx,
                   "{" BAR ", 'material': {'model': 'linear', 'young': 1e5, 'poisson': 0.25},"
                   "'fix': ['x0', {'select': 'x1', 'displacement': [0.1, 0, 0]}, {'select': 'all', 'axes': 'yz'}],"
                   "'time': {'dt': 0.01, 'duration': 1, 'integrator': 'backward-euler'}, 'damping': {'mass': 50},"
                   "'probes': [{'name': 's', 'stress_at': [0.6, 0.1, 0.1]}]}",
                   NULL);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check_near(value(&p, "s.von_mises"), 2 * 0.4e5 * 0.1, 2e-5);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- failing steps ---- */

/* Newton's method ends at the limit of rounding also where a follower pressure leaves no energy to look at. */
static void pressure_needs_no_retries(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const char *const names[] = {"generalised-alpha", "hht", "tr-bdf2", "bdf2"};
    for (size_t m = 0; m < 4; m++) {
        bough_run_def def = bough_default_run_def();
        def.integrator = names[m];
        play p = begin(ctx,
                       "{'bough': 1, 'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.5, 0.05, 0.05],"
                       "'cells': [8, 1, 1]}, 'material': {'young': 2e6}, 'fix': 'x0 & z1', 'gravity': [0, 0, -10],"
                       "'curves': {'pulse': [[0.5, 0], [0.55, 1], [0.6, 0]]},"
                       "'pressures': [{'faces': 'z1', 'pressure': 200, 'curve': 'pulse'}],"
                       "'time': {'dt': 0.005, 'duration': 1}}",
                       &def);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        check_int(p.run->place.retries, 0);
        check_below((double)p.run->place.iterations, 1600);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

#define HARD_HIT                                                                                                       \
    "{" BAR ", 'material': {'model': 'neo-hookean', 'young': 1e5, 'poisson': 0.3}, 'fix': 'x0',"                       \
    "'initial': {'select': 'x1', 'velocity': [-8, 3, 1]}, 'time': {'dt': 0.02, 'duration': 0.2, 'max_iterations': 3}," \
    "'probes': [{'name': 'tip', 'select': 'x1'}]}"

static int warnings;
static void count_warning(void *user, const char *sentence) {
    (void)user;
    check(strstr(sentence, "going on with halves") != NULL);
    warnings++;
}

static bough_context *warned_context(void) {
    bough_context_def def = bough_default_context_def();
    def.thread_count = 1;
    def.warn = count_warning;
    warnings = 0;
    bough_context *ctx = bough_context_create(&def);
    check(ctx != NULL);
    return ctx;
}

static void failing_steps_are_halved_and_grow_again(void **state) {
    (void)state;
    bough_context *ctx = warned_context();
    play p = begin(ctx, HARD_HIT, NULL);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    bough_run_report report;
    bough_run_look(p.run, &report);
    check_int(report.steps, 10);
    check_near(report.time, 0.2, 1e-15);
    check(report.retries >= warnings && warnings >= 1 && warnings <= 10);
    check_near(report.smallest_dt, 0.02 / (1 << warnings), 1e-15);
    check_int(p.run->place.unit, 0);
    check(p.run->place.halvings < p.run->place.deepest);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* Twice the stable step: the energy that it makes is noticed before it grows, and halves of it go where fine steps go.
 */
static void explicit_methods_get_the_step_they_need(void **state) {
    (void)state;
    bough_context *ctx = warned_context();
    bough_run_def def = bough_default_run_def();
    double tip[2][3];
    for (int fine = 0; fine < 2; fine++) {
        def.integrator = "central-differences", def.dt = fine ? 0.0005 : 0;
        play p = begin(ctx, HARD_HIT, &def);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        bough_run_report report;
        bough_run_look(p.run, &report);
        check_near(report.time, 0.2, 1e-15);
        check(fine ? report.retries == 0 : report.retries > 0 && report.smallest_dt < 0.02);
        check_below(fabs(report.balance), fine ? 0.005 * report.start_energy[3] : 0.06 * report.start_energy[3]);
        tip[fine][0] = value(&p, "tip.ux"), tip[fine][1] = value(&p, "tip.uy"), tip[fine][2] = value(&p, "tip.uz");
        end(ctx, &p);
    }
    for (int d = 0; d < 3; d++)
        check_near(tip[0][d], tip[1][d], 0.1);
    check(hypot(tip[1][0], hypot(tip[1][1], tip[1][2])) > 0.2);
    bough_context_destroy(ctx);
}

static void after_the_last_halving_the_last_good_state_is_on_disk(void **state) {
    (void)state;
    bough_context *ctx = warned_context();
    char record[200], checkpoint[200];
    snprintf(record, sizeof record, "%s", test_path("failed.csv"));
    snprintf(checkpoint, sizeof checkpoint, "%s", test_path("failed.state"));
    bough_run_def def = bough_default_run_def();
    def.max_halvings = 1;
    def.record = record;
    def.checkpoint = checkpoint;
    play p = begin(ctx, HARD_HIT, &def);
    check_fails(ctx, bough_run_advance(ctx, p.run), BOUGH_NO_CONVERGENCE, "even a step of 0.01 s fails: ");
    double last = value(&p, "time");
    double *values = malloc((size_t)bough_run_column_count(p.run) * sizeof *values);
    check(values != NULL && last < 0.2);
    memcpy(values, bough_run_values(p.run), (size_t)bough_run_column_count(p.run) * sizeof *values);
    end(ctx, &p);

    size_t size;
    char *text = read_text(record, &size);
    check(size > 1 && text[size - 1] == '\n');
    text[size - 1] = 0;
    check_near(strtod(strrchr(text, '\n') + 1, NULL), last, 0);
    free(text);

    /* With more patience the run can be continued from there. */
    def = bough_default_run_def();
    def.resume = checkpoint;
    p = begin_file(ctx, test_path("scene.json"), &def);
    check(memcmp(values, bough_run_values(p.run), (size_t)bough_run_column_count(p.run) * sizeof *values) == 0);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check_near(value(&p, "time"), 0.2, 1e-15);
    end(ctx, &p);
    free(values);
    bough_context_destroy(ctx);
}

/* ---- checkpoints ---- */

static void save_bits(const play *p, double **bits, size_t *size) {
    *size = (size_t)p->run->engine.kind->state_size(p->run->engine.data) * sizeof **bits;
    *bits = malloc(*size);
    check(*bits != NULL);
    p->run->engine.kind->save(p->run->engine.data, *bits);
}

/* `steps` in one go, and in two runs with a checkpoint and a recording between them. */
static void check_resume(bough_context *ctx, const char *scene, const char *integrator, int steps) {
    char whole[200], halves[200], checkpoint[200], frames[200];
    snprintf(whole, sizeof whole, "%s", test_path("whole.csv"));
    snprintf(halves, sizeof halves, "%s", test_path("halves.csv"));
    snprintf(checkpoint, sizeof checkpoint, "%s", test_path("half.state"));
    snprintf(frames, sizeof frames, "%s", test_path("frames"));
    remove(halves);
    double *expected, *got;
    size_t size, same_size;
    bough_run_def def = bough_default_run_def();
    def.integrator = integrator;
    def.record = whole;
    def.duration = 0.005 * steps;
    play p = begin_file(ctx, scene, &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    save_bits(&p, &expected, &size);
    end(ctx, &p);

    def.record = halves;
    def.frames = frames;
    def.checkpoint = checkpoint;
    def.duration = 0.005 * (steps / 2);
    p = begin_file(ctx, scene, &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check_ok(ctx, bough_run_step(ctx, p.run)); /* beyond the checkpoint: its row must go again */
    end(ctx, &p);
    def.checkpoint = NULL;
    def.resume = checkpoint;
    def.duration = 0.005 * steps;
    p = begin_file(ctx, scene, &def);
    check_int(p.run->place.step, steps / 2);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    save_bits(&p, &got, &same_size);
    end(ctx, &p);
    check(size == same_size && memcmp(expected, got, size) == 0);
    free(expected), free(got);

    char *a = read_text(whole, &size), *b = read_text(halves, &same_size);
    check(size == same_size && memcmp(a, b, size) == 0);
    free(a), free(b);
}

static void resumed_runs_have_the_same_bits(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const char *scene = BOUGH_SOURCE_DIR "/examples/pendulum/scene.json";
    check_resume(ctx, scene, "bdf2", 100);
    check_resume(ctx, scene, "tr-bdf2", 100);
    check_resume(ctx, scene, "generalised-alpha", 100);
    for (int32_t m = 0; m < bough_integrator_count(); m++) {
        const bough_integrator_info *info = bough_integrator_describe(m);
        if (!info->explicit_method || info->a_stable) /* the others cannot take this scene's steps */
            check_resume(ctx, scene, info->name, 10);
    }
    bough_context_destroy(ctx);
}

#define SMALL                                                                                   \
    "{'bough': 1, 'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 1, 1]}, 'fix': 'x0'," \
    "'gravity': [0, 0, -10], 'time': {'integrator': 'bdf2', 'dt': 0.01, 'duration': 0.1}}"

static void check_refused(bough_context *ctx, play *p, const char *data, size_t size) {
    const char *path = test_path("hostile.state");
    test_write(path, data, size);
    bough_status status = bough_run_restore(ctx, p->run, path);
    if (status != BOUGH_ERROR_FORMAT || !strstr(bough_message(ctx), "hostile.state: is "))
        fail_msg("%zu bytes: %s (%s)", size, bough_status_name(status), bough_message(ctx));
}

static void damaged_checkpoints_are_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    play p = begin(ctx, SMALL, NULL);
    char path[200];
    snprintf(path, sizeof path, "%s", test_path("good.state"));
    for (int i = 0; i < 5; i++)
        check_ok(ctx, bough_run_step(ctx, p.run));
    check_ok(ctx, bough_run_save(ctx, p.run, path));
    check_ok(ctx, bough_run_step(ctx, p.run));
    double *before, *after;
    size_t size, bits;
    save_bits(&p, &before, &bits);
    char *data = read_text(path, &size);
    for (size_t length = 0; length < size; length++)
        check_refused(ctx, &p, data, length);
    for (size_t at = 0; at < size; at++) {
        data[at] = (char)(data[at] ^ (1 << at % 8));
        check_refused(ctx, &p, data, size);
        data[at] = (char)(data[at] ^ (1 << at % 8));
    }
    /* Forged: numbers out of range with a hash that is right. */
    test_random r = {7};
    for (int i = 0; i < 3000; i++) {
        char *forged = malloc(size);
        check(forged != NULL);
        memcpy(forged, data, size);
        for (int k = 0; k < 4; k++)
            forged[24 + test_bits(&r) % (i % 2 ? 80 : size - 32)] = (char)test_bits(&r);
        uint64_t hash = bo_hash_bytes(BO_HASH_START, forged, size - sizeof hash);
        memcpy(forged + size - sizeof hash, &hash, sizeof hash);
        test_write(test_path("forged.state"), forged, size);
        bough_status status = bough_run_restore(ctx, p.run, test_path("forged.state"));
        check(status == BOUGH_OK || status == BOUGH_ERROR_FORMAT || status == BOUGH_NOT_FINITE);
        if (status == BOUGH_OK) {
            (void)bough_run_step(ctx, p.run);
            check_ok(ctx, p.run->engine.kind->restore(p.run->engine.data, before, (int64_t)(bits / sizeof *before)));
        }
        free(forged);
        save_bits(&p, &after, &bits);
        check(memcmp(before, after, bits) == 0);
        free(after);
    }
    check_fails(ctx, bough_run_restore(ctx, p.run, test_path("nowhere.state")), BOUGH_ERROR_FILE, "nowhere.state");
    check_ok(ctx, bough_run_restore(ctx, p.run, path));
    check_int(p.run->place.step, 5);
    end(ctx, &p);

    /* Another integrator, another step, another scene. */
    bough_run_def def = bough_default_run_def();
    bough_scene *scene;
    bough_run *run;
    check_ok(ctx, bough_scene_load(ctx, test_path("scene.json"), &scene));
    def.resume = path;
    def.integrator = "tr-bdf2";
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_FORMAT, "another scene");
    def.integrator = NULL;
    def.dt = 0.02;
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_FORMAT, "another scene");
    bough_scene_destroy(ctx, scene);
    free(before), free(data);
    bough_context_destroy(ctx);
}

/* ---- recordings ---- */

static void recordings_have_all_rows_and_frames(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    char record[200], frames[200], one[260];
    snprintf(record, sizeof record, "%s", test_path("rows.csv"));
    snprintf(frames, sizeof frames, "%s", test_path("series"));
    bough_run_def def = bough_default_run_def();
    def.record = record;
    def.frames = frames;
    def.fps = 50; /* every second step */
    play p = begin(ctx, SMALL, &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    bough_run_report report;
    bough_run_look(p.run, &report);
    check_int(report.rows, 11);
    check_int(report.frames, 6);
    end(ctx, &p);
    size_t size;
    char *text = read_text(record, &size);
    int lines = 0;
    for (char *c = text; *c; c++)
        lines += *c == '\n';
    check_int(lines, 12);
    check(strncmp(text, "time,elastic,kinetic,external,total,momentum.x,", 47) == 0);
    free(text);
    snprintf(one, sizeof one, "%s/frames.pvd", frames);
    text = read_text(one, &size);
    check(strstr(text, "file=\"frame_000005.vtu\"") && !strstr(text, "frame_000006"));
    check(strstr(text, "</VTKFile>\n") == text + size - 11);
    free(text);
    snprintf(one, sizeof one, "%s/frame_000005.vtu", frames);
    text = read_text(one, &size);
    check(strstr(text, "\"velocity\"") && strstr(text, "\"displacement\""));
    free(text);
    bough_context_destroy(ctx);
}

/* Displacements at the times of the frames, in one go and in two runs with a checkpoint between them. */
static void displacements_are_recorded_frame_by_frame(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    char whole[200], halves[200], checkpoint[200];
    snprintf(whole, sizeof whole, "%s", test_path("whole.npy"));
    snprintf(halves, sizeof halves, "%s", test_path("halves.npy"));
    snprintf(checkpoint, sizeof checkpoint, "%s", test_path("half.state"));
    bough_run_def def = bough_default_run_def();
    def.displacements = whole;
    def.fps = 50; /* every second step */
    play p = begin(ctx, SMALL, &def);
    check_ok(ctx, bough_run_step(ctx, p.run));
    check(access(whole, F_OK) != 0);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    int32_t rows, columns, vertices = bough_body_mesh(bough_scene_body(p.scene))->vertex_count;
    double *values;
    check_ok(ctx, bo_npy_read(ctx, whole, &rows, &columns, &values));
    check_int(rows, 6);
    check_int(columns, 3 * vertices);
    for (int32_t i = 0; i < columns; i++) {
        check_near(values[i], 0, 0);
        check_near(values[5 * columns + i], bough_run_displacement(p.run)[i], 0);
    }
    bo_free(ctx, values);
    bough_run_report report;
    bough_run_look(p.run, &report);
    check_int(report.displacement_rows, 6);
    check_ok(ctx, bough_run_step(ctx, p.run)); /* beyond the end: frame 6 comes with step 12 */
    check_ok(ctx, bough_run_step(ctx, p.run));
    end(ctx, &p);

    def.displacements = halves;
    def.checkpoint = checkpoint;
    def.duration = 0.05;
    p = begin(ctx, SMALL, &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    end(ctx, &p);
    def.resume = checkpoint;
    def.duration = 0.12;
    for (int again = 0; again < 2; again++) { /* the second time later rows are replaced */
        def.checkpoint = NULL;
        p = begin(ctx, SMALL, &def);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        end(ctx, &p);
        size_t size[2];
        char *text[2] = {read_text(whole, &size[0]), read_text(halves, &size[1])};
        check_int(size[0], 128 + 7 * 8 * 3 * vertices);
        check_int(size[1], size[0]);
        check_int(memcmp(text[0], text[1], size[0]), 0);
        free(text[0]), free(text[1]);
    }
    bough_context_destroy(ctx);
}

static bool cancel_at_three(void *user, const bough_progress *progress) {
    return !(strcmp(progress->what, "running") == 0 && ++*(int *)user == 3);
}

static void cancelled_runs_keep_what_was_recorded(void **state) {
    (void)state;
    int calls = 0;
    bough_context_def context_def = bough_default_context_def();
    context_def.progress = cancel_at_three;
    context_def.progress_user = &calls;
    bough_context *ctx = bough_context_create(&context_def);
    char checkpoint[200];
    snprintf(checkpoint, sizeof checkpoint, "%s", test_path("cancelled.state"));
    bough_run_def def = bough_default_run_def();
    def.checkpoint = checkpoint;
    def.record = test_path("cancelled.csv");
    def.displacements = test_path("cancelled.npy");
    def.fps = 100;
    play p = begin(ctx, SMALL, &def);
    check_int(bough_run_advance(ctx, p.run), BOUGH_CANCELLED);
    bough_run_report report;
    bough_run_look(p.run, &report);
    check_int(report.steps, 3);
    check_int(report.rows, 4);
    int32_t rows, columns;
    double *values;
    check_ok(ctx, bo_npy_read(ctx, test_path("cancelled.npy"), &rows, &columns, &values));
    check_int(rows, 4);
    bo_free(ctx, values);
    check_ok(ctx, bough_run_restore(ctx, p.run, checkpoint));
    check_int(p.run->place.step, 3);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

static void threads_do_not_change_bits(void **state) {
    (void)state;
    double *expected = NULL, *got;
    size_t size, same_size;
    for (int32_t threads = 1; threads <= 4; threads += 3) {
        bough_context *ctx = test_context(threads);
        bough_run_def def = bough_default_run_def();
        def.duration = 0.03;
        play p = begin_file(ctx, BOUGH_SOURCE_DIR "/examples/beam/scene.json", &def);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        save_bits(&p, threads == 1 ? &expected : &got, threads == 1 ? &size : &same_size);
        end(ctx, &p);
        bough_context_destroy(ctx);
    }
    check(size == same_size && memcmp(expected, got, size) == 0);
    free(expected), free(got);
}

/* ---- memory ---- */

static void steps_allocate_nothing(void **state) {
    (void)state;
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    play p = begin_file(ctx, BOUGH_SOURCE_DIR "/examples/pendulum/scene.json", NULL);
    check_ok(ctx, bough_run_step(ctx, p.run));
    long calls = memory.calls;
    for (int i = 0; i < 20; i++)
        check_ok(ctx, bough_run_step(ctx, p.run));
    check_int(memory.calls, calls);
    end(ctx, &p);
    bough_context_destroy(ctx);
    check_int(memory.live, 0);
}

static void failed_allocations_leak_nothing(void **state) {
    (void)state;
    bough_status status = BOUGH_ERROR_MEMORY;
    const char *path = write_scene("scene.json", SMALL);
    char record[200], frames[200], displacements[200];
    snprintf(record, sizeof record, "%s", test_path("memory.csv"));
    snprintf(displacements, sizeof displacements, "%s", test_path("memory.npy"));
    snprintf(frames, sizeof frames, "%s", test_path("memory"));
    for (long fail_at = 1; status != BOUGH_OK; fail_at++) {
        test_memory memory = {.fail_at = fail_at};
        bough_context *ctx = test_counting_context(&memory);
        if (!ctx)
            continue;
        bough_scene *scene = NULL;
        bough_run *run = NULL;
        bough_run_def def = bough_default_run_def();
        def.record = record;
        def.frames = frames;
        def.displacements = displacements;
        status = bough_scene_load(ctx, path, &scene);
        if (status == BOUGH_OK)
            status = bough_run_create(ctx, scene, &def, &run);
        if (status == BOUGH_OK)
            status = bough_run_step(ctx, run);
        check(status == BOUGH_OK || bough_message(ctx)[0]);
        bough_run_destroy(ctx, run);
        bough_scene_destroy(ctx, scene);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
        check(fail_at < 100000);
    }
}

static void wrong_defs_are_told(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    bough_run *run;
    check_ok(ctx, bough_scene_load(ctx, write_scene("scene.json", "{" BAR "}"), &scene));
    bough_run_def def = {0};
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_ARGUMENT, "bough_default_run_def()");
    def = bough_default_run_def();
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_ARGUMENT, "time.duration");
    def.duration = 1;
    def.dt = 1e-12;
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_ARGUMENT, "limit");
    def.dt = 0.1;
    def.integrator = "eulr";
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_ARGUMENT, "eulr");
    def.integrator = NULL;
    def.record = test_path("no/such/folder.csv");
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_FILE, "cannot be written");
    def.record = NULL;
    def.displacements = test_path("no/such/folder.npy");
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_FILE, "cannot be written");
    def.displacements = NULL;
    def.checkpoint = test_path("no/such/folder.state");
    check_fails(ctx, bough_run_create(ctx, scene, &def, &run), BOUGH_ERROR_FILE, "cannot be written");
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hello_run),
        cmocka_unit_test(free_fall_is_exact),
        cmocka_unit_test(energy_is_kept_by_the_midpoint_rule),
        cmocka_unit_test(a_support_at_constant_speed_is_a_support_at_rest),
        cmocka_unit_test(a_moving_support_carries_the_body),
        cmocka_unit_test(curves_scale_loads),
        cmocka_unit_test(the_stress_probe_is_the_stress_of_its_element),
        cmocka_unit_test(pressure_needs_no_retries),
        cmocka_unit_test(failing_steps_are_halved_and_grow_again),
        cmocka_unit_test(explicit_methods_get_the_step_they_need),
        cmocka_unit_test(after_the_last_halving_the_last_good_state_is_on_disk),
        cmocka_unit_test(resumed_runs_have_the_same_bits),
        cmocka_unit_test(damaged_checkpoints_are_refused),
        cmocka_unit_test(recordings_have_all_rows_and_frames),
        cmocka_unit_test(displacements_are_recorded_frame_by_frame),
        cmocka_unit_test(cancelled_runs_keep_what_was_recorded),
        cmocka_unit_test(threads_do_not_change_bits),
        cmocka_unit_test(steps_allocate_nothing),
        cmocka_unit_test(failed_allocations_leak_nothing),
        cmocka_unit_test(wrong_defs_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
