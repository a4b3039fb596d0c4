/* The reference tree against the figures of an independent implementation: frames, accelerations, steps. */
#include "../reduce/ytree.h"

#include "dense/symmetric_eigen.h"
#include "tree/tree.h"

typedef struct {
    tree bodies;
    bough_component *components[DOMAINS];
    bough_tree_model *model;
    bough_tree_state *state;
    double T[DOMAINS][R * R]; /* our coordinates = T times the reference's */
    json_t *root;
} fixture;

static fixture load(const char *folder, bough_coupling coupling, double alpha, int32_t passes, const double *gravity) {
    static const int parents[DOMAINS] = {-1, 0, 0, 1};
    fixture f = {.bodies = make_tree()};
    bough_context *ctx = f.bodies.ctx;
    char name[128];
    snprintf(name, sizeof name, "reference/ytree/%s/state.json", folder);
    f.root = json_load_file(test_shared(name), 0, NULL);
    check(f.root);
    bough_part_def parts[DOMAINS];
    for (int i = 0; i < DOMAINS; i++) {
        bough_interface_def defs[4] = {0};
        int32_t base[64];
        char names[4][8];
        bough_cook_def def = bough_default_cook_def();
        double *columns = read_basis(&f.bodies, folder, i);
        def.interface_count = interfaces_of(&f.bodies, i, defs, base, names);
        def.interfaces = defs;
        def.parent = 0;
        def.r = R, def.keep_volume = true;
        def.basis = BOUGH_BASIS_COLUMNS, def.columns = columns, def.column_count = R;
        check_ok(ctx, bough_cook(ctx, f.bodies.body[i], NULL, &def, NULL, &f.components[i]));
        change_of_basis(&f.bodies, i, f.components[i], columns, f.T[i]);
        free(columns);
        parts[i] = bough_default_part_def();
        parts[i].component = i;
        parts[i].parent = parents[i];
        if (parents[i] >= 0) {
            snprintf(name, sizeof name, "%d", i);
            parts[i].interface_index = bough_component_find_interface(f.components[parents[i]], name);
        }
    }
    bough_tree_model_def def = bough_default_tree_model_def();
    def.component_count = DOMAINS, def.components = (const bough_component *const *)f.components;
    def.part_count = DOMAINS, def.parts = parts;
    def.coupling = coupling, def.alpha = alpha, def.passes = passes;
    for (int d = 0; d < 3; d++)
        def.gravity[d] = gravity ? gravity[d] : 0;
    check_ok(ctx, bough_tree_model_create(ctx, &def, &f.model));
    check_ok(ctx, bough_tree_state_create(ctx, f.model, &f.state));
    return f;
}

static void unload(fixture *f) {
    bough_context *ctx = f->bodies.ctx;
    bough_tree_state_destroy(ctx, f->state);
    bough_tree_model_destroy(ctx, f->model);
    for (int i = 0; i < DOMAINS; i++)
        bough_component_destroy(ctx, f->components[i]);
    json_decref(f->root);
    free_tree(&f->bodies);
}

/* Into our coordinates, part by part. */
static void from_reference(const fixture *f, const double *theirs, double *ours) {
    for (int i = 0; i < DOMAINS; i++)
        for (int a = 0; a < R; a++) {
            double *to = ours + bough_tree_model_offset(f->model, i) + a;
            *to = 0;
            for (int l = 0; l < R; l++)
                *to += f->T[i][a * R + l] * theirs[R * i + l];
        }
}
static void to_reference(const fixture *f, const double *ours, double *theirs) {
    for (int i = 0; i < DOMAINS; i++)
        for (int l = 0; l < R; l++) {
            theirs[R * i + l] = 0;
            for (int a = 0; a < R; a++)
                theirs[R * i + l] += f->T[i][a * R + l] * ours[bough_tree_model_offset(f->model, i) + a];
        }
}

static void accelerations_agree(bough_coupling coupling, const char *key) {
    if (!test_shared("reference/ytree/r10_massloaded/state.json"))
        test_skip("the reference data ../shared is not there");
    json_t *root = json_load_file(test_shared("reference/ytree/r10_massloaded/state.json"), 0, NULL);
    double g[3], values[DOMAINS * R], theirs[DOMAINS * R];
    get(json_object_get(root, "state_check"), "g", 3, g);
    json_decref(root);
    fixture f = load("r10_massloaded", coupling, 0, 1, g);
    const json_t *check_state = json_object_get(f.root, "state_check");
    get(check_state, "q", DOMAINS * R, values);
    from_reference(&f, values, f.state->q);
    get(check_state, "qd", DOMAINS * R, values);
    from_reference(&f, values, f.state->v);
    check_ok(f.bodies.ctx, bough_tree_state_update(f.bodies.ctx, f.model, f.state));
    const json_t *frames = json_object_get(check_state, "frames");
    for (int i = 0; i < DOMAINS; i++) {
        const json_t *frame = json_array_get(frames, (size_t)i);
        double rotation[9], origin[3];
        get(frame, "pos", 3, origin);
        get(frame, "rot", 9, rotation);
        for (int k = 0; k < 3; k++)
            check_near(f.state->frames[i].pose.position[k], origin[k], 1e-11);
        for (int k = 0; k < 9; k++)
            check_near(f.state->frames[i].pose.rotation[k], rotation[k], 1e-11);
    }
    check_ok(f.bodies.ctx, bough_tree_step(f.bodies.ctx, f.model, f.state, 0));
    to_reference(&f, f.state->a, theirs);
    get(check_state, key, DOMAINS * R, values);
    check_below(relative(DOMAINS * R, theirs, 1, values), 1e-9);
    unload(&f);
}

static void exact_coupling_agrees(void **state) {
    (void)state;
    accelerations_agree(BOUGH_COUPLING_L3, "qdd_L3");
}

/* ---- steps ---- */

static void read_row(FILE *file, int count, double *row) {
    static char line[65536];
    do
        check(fgets(line, sizeof line, file));
    while (line[0] == '#' || line[0] == 't');
    char *p = line;
    for (int i = 0; i < count; i++) {
        row[i] = strtod(p, &p);
        p += *p == ',';
    }
}

/* Forty steps of Newmark's method, undamped and without gravity, from the state of the first row. */
static void steps_agree(const char *folder, bough_coupling coupling, const char *name) {
    enum { N = DOMAINS * R };
    char path[128];
    snprintf(path, sizeof path, "reference/ytree/%s/steps_%s_newmark_dt0.0025.csv", folder, name);
    if (!test_shared(path))
        test_skip("the reference data ../shared is not there");
    fixture f = load(folder, coupling, 0, 1, NULL);
    FILE *file = fopen(test_shared(path), "r");
    check(file);
    double row[1 + 3 * N], theirs[N];
    read_row(file, 1 + 3 * N, row);
    from_reference(&f, row + 1, f.state->q);
    from_reference(&f, row + 1 + N, f.state->v);
    from_reference(&f, row + 1 + 2 * N, f.state->a);
    for (int step = 1; step <= 40; step++) {
        check_ok(f.bodies.ctx, bough_tree_step(f.bodies.ctx, f.model, f.state, 0.0025));
        read_row(file, 1 + 3 * N, row);
        check_near(row[0], f.state->time, 1e-12);
        to_reference(&f, f.state->q, theirs);
        check_below(relative(N, theirs, 1, row + 1), 1e-10);
        to_reference(&f, f.state->v, theirs);
        check_below(relative(N, theirs, 1, row + 1 + N), 1e-10);
        to_reference(&f, f.state->a, theirs);
        check_below(relative(N, theirs, 1, row + 1 + 2 * N), 1e-10);
    }
    fclose(file);
    unload(&f);
}

static void forty_steps_agree(void **state) {
    (void)state;
    steps_agree("r10_massloaded", BOUGH_COUPLING_L3, "L3");
    steps_agree("r10_clamped", BOUGH_COUPLING_L3, "L3");
}

/* ---- frequencies ---- */

/* Accelerations at rest that a unit force on coordinate k makes, without elastic forces: column k of M^-1. */
static void unit_response(fixture *f, int32_t k, double *a) {
    double zero[DOMAINS * R] = {0}, force[DOMAINS * R] = {0};
    force[k] = 1;
    check_ok(f->bodies.ctx, bo_tree_accelerations(f->bodies.ctx, f->model, f->state, false, zero, zero, force, a));
}

/* Lowest frequency of K x = lambda M x from M^-1 (n x n): with K = G G^T diagonal, eigenvalues of G M^-1 G. */
static double lowest(int n, const double *inverse, const double *K) {
    double A[DOMAINS * R * DOMAINS * R], values[DOMAINS * R], scratch[2 * DOMAINS * R];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i * n + j] = sqrt(K[i] * K[j]) * 0.5 * (inverse[i * n + j] + inverse[j * n + i]);
    check(bo_sym_eigen(n, A, values, NULL, scratch));
    return sqrt(values[0]) / (2 * M_PI);
}

/* The whole tree with the exact coupling, its softest part alone with what it carries else. */
static double tree_frequency(const char *folder, bough_coupling coupling) {
    enum { N = DOMAINS * R };
    fixture f = load(folder, coupling, 0, 1, NULL);
    double inverse[N * N], a[N], K[N], block[R * R], best = INFINITY;
    for (int32_t k = 0; k < N; k++) {
        unit_response(&f, k, a);
        for (int32_t i = 0; i < N; i++)
            inverse[i * N + k] = a[i];
    }
    for (int32_t p = 0; p < DOMAINS; p++)
        for (int l = 0; l < R; l++)
            K[bough_tree_model_offset(f.model, p) + l] = f.components[p]->K[l * (R + 1)];
    if (coupling == BOUGH_COUPLING_L3)
        best = lowest(N, inverse, K);
    for (int p = 0; p < DOMAINS && coupling != BOUGH_COUPLING_L3; p++) {
        for (int e = 0; e < R * R; e++)
            block[e] = inverse[(p * R + e / R) * N + p * R + e % R];
        best = fmin(best, lowest(R, block, K + p * R));
    }
    unload(&f);
    return best;
}

static void frequencies_agree(void **state) {
    (void)state;
    if (!test_shared("reference/ytree/freqs.json"))
        test_skip("the reference data ../shared is not there");
    json_t *root = json_load_file(test_shared("reference/ytree/freqs.json"), 0, NULL);
    static const char *const folders[] = {"r10_clamped", "r10_massloaded"};
    static const struct {
        bough_coupling coupling;
        const char *name;
    } couplings[] = {{BOUGH_COUPLING_L1, "L1"}, {BOUGH_COUPLING_L2, "L2"}, {BOUGH_COUPLING_L3, "L3"}};
    double full[10];
    get(root, "full_consistent", 10, full);
    for (int b = 0; b < 2; b++)
        for (int c = 0; c < 3; c++) {
            double list[64];
            flatten(json_object_get(json_object_get(root, folders[b]), couplings[c].name), list);
            double found = tree_frequency(folders[b], couplings[c].coupling);
            print_message("%s %s: %.4f of the full body's\n", folders[b], couplings[c].name, found / full[0]);
            check_near(found, list[0], 1e-9 * list[0]);
            if (couplings[c].coupling == BOUGH_COUPLING_L3)
                check_near(found, full[0], 0.025 * full[0]);
        }
    json_decref(root);
}

/* ---- free vibration ---- */

static const int32_t tracked[3] = {244, 144, 135}; /* vertices of the whole mesh */

/* World position of a vertex of the whole mesh, on the first part that has it. */
/* Lowest frequencies over that of the full body, 1.0039 Hz: the figures of the reference have three decimals. */
static void modes_of_all_couplings_agree(void **state) {
    (void)state;
    static const struct {
        const char *folder;
        bough_coupling coupling;
        double ratio;
    } rows[] = {{"r10_massloaded", BOUGH_COUPLING_L1, 1.790}, {"r10_massloaded", BOUGH_COUPLING_L2, 1.109},
                {"r10_massloaded", BOUGH_COUPLING_L3, 0.979}, {"r10_clamped", BOUGH_COUPLING_L1, 1.771},
                {"r10_clamped", BOUGH_COUPLING_L2, 1.151},    {"r10_clamped", BOUGH_COUPLING_L3, 1.020}};
    if (!test_shared("reference/ytree/r10_massloaded/state.json"))
        test_skip("the reference data ../shared is not there");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f = load(rows[i].folder, rows[i].coupling, 0, 1, NULL);
        bough_tree_modes *modes;
        check_ok(f.bodies.ctx, bough_tree_state_modes(f.bodies.ctx, f.model, f.state, 3, &modes));
        check_near(modes->frequencies_hz[0] / 1.0039, rows[i].ratio, 6e-4);
        bough_tree_modes_destroy(f.bodies.ctx, modes);
        unload(&f);
    }
}

static void track(const fixture *f, int32_t global, double x[3]) {
    for (int p = 0; p < DOMAINS; p++) {
        const bough_domain *d = &f->bodies.split->domains[p];
        const bough_component *c = f->components[p];
        for (int32_t v = 0; v < d->mesh->vertex_count; v++) {
            if (d->vertex_map[v] != global)
                continue;
            double local[3];
            const bough_frame *frame = &f->state->frames[p];
            for (int k = 0; k < 3; k++) {
                local[k] = c->volume.position[3 * v + k];
                for (int l = 0; l < R; l++)
                    local[k] +=
                        c->volume.U[(3 * v + k) * R + l] * f->state->q[bough_tree_model_offset(f->model, p) + l];
            }
            for (int k = 0; k < 3; k++)
                x[k] = frame->pose.position[k] + frame->pose.rotation[3 * k] * local[0] +
                       frame->pose.rotation[3 * k + 1] * local[1] + frame->pose.rotation[3 * k + 2] * local[2];
            return;
        }
    }
    fail_msg("vertex %d is nowhere", global);
}

/* The recommended integrator, step by step, and the full body's motion beside it. */
static void free_vibration_agrees(void **state) {
    (void)state;
    enum { N = DOMAINS * R };
    const char *steps = "reference/ytree/r10_massloaded/steps_L3_newmark_dt0.0025.csv";
    const char *theirs = "reference/ytree/r10_massloaded/traj_L3_HHT0.05_twopass_dt1_120.csv";
    if (!test_shared(theirs))
        test_skip("the reference data ../shared is not there");
    fixture f = load("r10_massloaded", BOUGH_COUPLING_L3, -0.05, 2, NULL);
    double row[1 + 3 * N], expected[11], full[11], x[3], square = 0;
    FILE *file = fopen(test_shared(steps), "r");
    read_row(file, 1 + 3 * N, row); /* the start is that of the other runs */
    fclose(file);
    from_reference(&f, row + 1, f.state->q);
    from_reference(&f, row + 1 + N, f.state->v);
    from_reference(&f, row + 1 + 2 * N, f.state->a);
    FILE *ours = fopen(test_shared(theirs), "r");
    FILE *exact = fopen(test_shared("reference/ytree/ytree_full_free_vibration.csv"), "r");
    read_row(ours, 11, expected);
    read_row(exact, 11, full);
    int count = 0;
    for (int step = 1; step <= 240; step++) {
        check_ok(f.bodies.ctx, bough_tree_step(f.bodies.ctx, f.model, f.state, 1.0 / 120));
        read_row(ours, 11, expected);
        for (int t = 0; t < 3; t++) {
            track(&f, tracked[t], x);
            for (int d = 0; d < 3; d++)
                check_near(x[d], expected[1 + 3 * t + d], 1e-9); /* they have 12 digits; errors grow with time */
        }
        if (step % 3 == 0) { /* every 5 steps of the full run are 3 of these */
            for (int skipped = 0; skipped < 5; skipped++)
                read_row(exact, 11, full);
            check_near(full[0], f.state->time, 1e-9);
            track(&f, tracked[0], x);
            for (int d = 0; d < 3; d++)
                square += (x[d] - full[1 + d]) * (x[d] - full[1 + d]);
            count++;
        }
    }
    print_message("rms distance of the tip from the full body over 2 s at 1/120 s: %.4f m\n", sqrt(square / count));
    check_below(sqrt(square / count), 0.07);
    fclose(ours), fclose(exact);
    unload(&f);
}

/* ---- sag ---- */

static void sag_agrees_with_the_full_body(void **state) {
    (void)state;
    if (!test_shared("reference/ytree/ytree_static_full_u.csv"))
        test_skip("the reference data ../shared is not there");
    const double gravity[3] = {3, 1, -9.81}; /* with which the full body's sag was computed */
    FILE *file = fopen(test_shared("reference/ytree/ytree_static_full_u.csv"), "r");
    double full[3] = {0}, row[4];
    char line[512];
    int32_t index = 0;
    while (fgets(line, sizeof line, file)) { /* rows of u, with or without the vertex's number */
        int found = sscanf(line, "%lf,%lf,%lf,%lf", &row[0], &row[1], &row[2], &row[3]);
        if (found < 3)
            continue;
        int32_t vertex = found == 4 ? (int32_t)row[0] : index;
        if (vertex == tracked[0])
            memcpy(full, row + (found == 4), sizeof full);
        index++;
    }
    fclose(file);
    check(norm_of(3, full) > 0.01);
    static const char *const folders[] = {"r10_clamped", "r10_massloaded"};
    double ratio[2];
    for (int b = 0; b < 2; b++) {
        fixture f = load(folders[b], BOUGH_COUPLING_L3, 0, 1, gravity);
        double before[3], after[3], residual;
        track(&f, tracked[0], before);
        check_ok(f.bodies.ctx, bough_tree_state_settle(f.bodies.ctx, f.model, f.state, NULL, &residual));
        check_below(residual, 1e-9);
        track(&f, tracked[0], after);
        for (int d = 0; d < 3; d++)
            after[d] -= before[d];
        ratio[b] = norm_of(3, after) / norm_of(3, full);
        print_message("%s: sag %.4f of the full body's\n", folders[b], ratio[b]);
        /* it is an equilibrium: nothing moves from there */
        check_ok(f.bodies.ctx, bough_tree_step(f.bodies.ctx, f.model, f.state, 0));
        for (int step = 0; step < 10; step++)
            check_ok(f.bodies.ctx, bough_tree_step(f.bodies.ctx, f.model, f.state, 0.01));
        check_below(norm_of(DOMAINS * R, f.state->v), 5e-8);
        unload(&f);
    }
    check_near(ratio[1], 1, 0.02);
}

static void lumping_in_interfaces_agrees(void **state) {
    (void)state;
    accelerations_agree(BOUGH_COUPLING_L1, "qdd_L1");
}
static void lumping_in_centres_agrees(void **state) {
    (void)state;
    accelerations_agree(BOUGH_COUPLING_L2, "qdd_L2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_coupling_agrees),     cmocka_unit_test(lumping_in_interfaces_agrees),
        cmocka_unit_test(lumping_in_centres_agrees), cmocka_unit_test(forty_steps_agree),
        cmocka_unit_test(frequencies_agree),         cmocka_unit_test(modes_of_all_couplings_agree),
        cmocka_unit_test(free_vibration_agrees),     cmocka_unit_test(sag_agrees_with_the_full_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
