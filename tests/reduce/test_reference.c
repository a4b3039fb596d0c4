/* Components of the reference tree (four domains, 648 tets) against the figures of an independent implementation. */
#include "ytree.h"

#include "reduce/basis.h"

static void check_all(const char *what, int count, const double *actual, const double *expected, double tolerance) {
    double largest = 1e-3;
    for (int i = 0; i < count; i++)
        largest = fmax(largest, fabs(expected[i]));
    for (int i = 0; i < count; i++)
        if (!(fabs(actual[i] - expected[i]) <= tolerance * largest))
            fail_msg("%s[%d] = %.15g, the reference has %.15g", what, i, actual[i], expected[i]);
}

/* Our coordinates are an orthogonal change of the reference's: q = T q_ref. out (R x width) = T^T in. */
static void to_reference(const double *T, int width, const double *in, double *out) {
    for (int l = 0; l < R; l++)
        for (int k = 0; k < width; k++) {
            out[l * width + k] = 0;
            for (int a = 0; a < R; a++)
                out[l * width + k] += T[a * R + l] * in[a * width + k];
        }
}

static void compare_inertia(const bough_component *c, const json_t *ref, const double *T) {
    double value[R * R * 9], turned[R * R * 9], again[R * R * 9], other[R * R * 9], expected[R * R * 9];
    get(ref, "m", 1, value);
    check_near(c->mass, value[0], 1e-11);
    get(ref, "origin", 3, value);
    check_all("origin", 3, c->origin, (double[]){value[0], value[1], value[2]}, 1e-12);
    get(ref, "mc0", 3, value);
    check_all("mc0", 3, c->mc0, value, 1e-12);
    get(ref, "Sigma0", 9, value);
    check_all("Sigma0", 9, c->Sigma0, value, 1e-12);
    get(ref, "s_minusW1", 3 * R, expected);
    to_reference(T, 3, c->s, turned);
    check_all("s", 3 * R, turned, expected, 1e-10);
    get(ref, "W5", 9 * R, expected);
    to_reference(T, 9, c->W5, turned);
    check_all("W5", 9 * R, turned, expected, 1e-10);
    get(ref, "W7", 9 * R * R, expected);
    to_reference(T, 9 * R, c->W7, turned); /* first index; then the second one, transposed to the front and back */
    for (int l = 0; l < R; l++)
        for (int p = 0; p < R; p++)
            memcpy(again + 9 * (p * R + l), turned + 9 * (l * R + p), 9 * sizeof *again);
    to_reference(T, 9 * R, again, other);
    for (int l = 0; l < R; l++)
        for (int p = 0; p < R; p++)
            memcpy(again + 9 * (p * R + l), other + 9 * (l * R + p), 9 * sizeof *again);
    check_all("W7", 9 * R * R, again, expected, 1e-10);
}

static void compare_elastic(const bough_component *c, const json_t *check_state, int domain, const double *T) {
    double all[DOMAINS * R], q[R], forces[DOMAINS * R], stiffness[DOMAINS * R * R], g[R], H[R * R], turned[R * R],
        again[R * R];
    double *scratch = calloc(bough_component_scratch(c), sizeof *scratch);
    get(check_state, "q", DOMAINS * R, all);
    get(check_state, "fint", DOMAINS * R, forces);
    get(check_state, "K", DOMAINS * R * R, stiffness);
    for (int a = 0; a < R; a++) {
        q[a] = 0;
        for (int l = 0; l < R; l++)
            q[a] += T[a * R + l] * all[domain * R + l];
    }
    check(bough_component_evaluate(c, q, scratch, NULL, g, H));
    to_reference(T, 1, g, turned);
    check_all("fint", R, turned, forces + domain * R, 1e-10);
    to_reference(T, R, H, again);
    for (int l = 0; l < R; l++)
        for (int p = 0; p < R; p++)
            H[p * R + l] = again[l * R + p];
    to_reference(T, R, H, turned);
    check_all("K", R * R, turned, stiffness + domain * R * R, 1e-10);
    free(scratch);
}

static void compare_interface(const tree *t, const json_t *domains, const char names[][8], int count,
                              const bough_component *c, int domain, const double *T) {
    for (int k = 1; k < count; k++) { /* children */
        int child = atoi(names[k]);
        const json_t *ref = json_object_get(json_array_get(domains, (size_t)child), "interface");
        const bough_interface *face = &c->interfaces[k];
        double value[9 * R], expected[9 * R], mine[9 * R];
        (void)t, (void)domain;
        get(ref, "xhat", 3, value);
        check_all("xhat", 3, face->centre, value, 1e-12);
        check_int(flatten(json_object_get(ref, "ahat"), value), 3 * R);
        for (int i = 0; i < 3 * R; i++) /* theirs is 3 x R or R x 3 */
            expected[json_array_size(json_object_get(ref, "ahat")) == 3 ? 3 * (i % R) + i / R : i] = value[i];
        to_reference(T, 3, face->translation, mine);
        check_all("ahat", 3 * R, mine, expected, 1e-10);
        get(ref, "A0_procrustes", 9, value);
        check_all("A0_procrustes", 9, face->A, value, 1e-12);
        get(ref, "Al_procrustes", 9 * R, expected);
        to_reference(T, 9, face->A + 9, mine);
        check_all("Al", 9 * R, mine, expected, 1e-10);
    }
}

static void compare(const char *folder) {
    char name[128];
    snprintf(name, sizeof name, "reference/ytree/%s/state.json", folder);
    if (!test_shared(name))
        test_skip("the reference data ../shared is not there");
    json_t *root = json_load_file(test_shared(name), 0, NULL), *domains = json_object_get(root, "domains");
    check(root && domains);
    tree t = make_tree();
    for (int i = 0; i < DOMAINS; i++) {
        bough_interface_def defs[4] = {0};
        int32_t base[64];
        char names[4][8];
        bough_cook_def def = bough_default_cook_def();
        double *columns = read_basis(&t, folder, i), T[R * R];
        def.interface_count = interfaces_of(&t, i, defs, base, names);
        def.interfaces = defs;
        def.parent = 0;
        def.r = R, def.keep_volume = true;
        def.basis = BOUGH_BASIS_COLUMNS, def.columns = columns, def.column_count = R;
        bough_component *c;
        check_ok(t.ctx, bough_cook(t.ctx, t.body[i], NULL, &def, NULL, &c));
        check_int(c->r, R);
        change_of_basis(&t, i, c, columns, T);
        compare_inertia(c, json_array_get(domains, (size_t)i), T);
        compare_elastic(c, json_object_get(root, "state_check"), i, T);
        compare_interface(&t, domains, names, def.interface_count, c, i, T);
        free(columns);
        bough_component_destroy(t.ctx, c);
    }
    json_decref(root);
    free_tree(&t);
}

/* ---- the same bases ---- */

static void add_inertia(const tree *t, int domain, const double about[3], bough_inertia *sum) {
    bough_body_properties p;
    check_ok(t->ctx, bough_body_measure(t->ctx, t->body[domain], &p));
    double x[3], square = 0;
    for (int d = 0; d < 3; d++) {
        x[d] = p.centre[d] - about[d];
        square += x[d] * x[d];
        sum->moment[d] += p.mass * x[d];
    }
    sum->mass += p.mass;
    for (int k = 0; k < 9; k++)
        sum->inertia[k] += p.inertia[k] + p.mass * ((k % 4 == 0 ? square : 0) - x[k / 3] * x[k % 3]);
}

/* Returns the load at the interface towards `child`. */
static void load_interface(const tree *t, int domain, int child, bough_interface_def *def) {
    double centre[3] = {0};
    bough_context *ctx = t->ctx;
    bough_cook_def cook = bough_default_cook_def();
    bough_component *rigid;
    cook.r = 0, cook.interfaces = def, cook.interface_count = 1;
    cook.parent = 0; /* its origin is the interface's centre */
    check_ok(ctx, bough_cook(ctx, t->body[domain], NULL, &cook, NULL, &rigid));
    memcpy(centre, rigid->origin, sizeof centre);
    bough_component_destroy(ctx, rigid);
    def->has_load = true;
    add_inertia(t, child, centre, &def->load);
    if (child == 1)
        add_inertia(t, 3, centre, &def->load);
}

/* Largest displacement of the lowest mode with these loads, for the amplitude that makes weights those of the
 * reference: modes by 1, derivatives by 1 instead of a and a^2 / 2. */
static double reference_amplitude(const tree *t, int i, bough_cook_def def) {
    bo_cook cook;
    check_ok(t->ctx, bo_cook_open(t->ctx, t->body[i], NULL, &def, &cook));
    check_ok(t->ctx, bo_cook_setup(&cook));
    cook.loaded = cook.load_count > 0;
    check_ok(t->ctx, bo_cook_factor(&cook));
    check_ok(t->ctx, bo_cook_modes(&cook, 1));
    double largest = 0;
    for (int32_t v = 0; v < cook.n; v += 3)
        largest = fmax(largest, norm_of(3, cook.modes + v));
    double amplitude = 2 * largest / cook.size;
    bo_cook_close(&cook);
    return amplitude;
}

static void same_span(const char *folder, bool loaded) {
    char name[128];
    snprintf(name, sizeof name, "reference/ytree/%s/state.json", folder);
    if (!test_shared(name))
        test_skip("the reference data ../shared is not there");
    tree t = make_tree();
    for (int i = 0; i < DOMAINS; i++) {
        bough_interface_def defs[4] = {0};
        int32_t base[64];
        char names[4][8];
        bough_cook_def def = bough_default_cook_def();
        double *columns = read_basis(&t, folder, i), T[R * R];
        def.interface_count = interfaces_of(&t, i, defs, base, names);
        for (int k = 1; k < def.interface_count && loaded; k++)
            load_interface(&t, i, atoi(names[k]), &defs[k]);
        def.interfaces = defs;
        def.parent = 0;
        def.r = R, def.mode_count = 5, def.keep_volume = true;
        def.pose_amplitude = reference_amplitude(&t, i, def);
        bough_component *c;
        check_ok(t.ctx, bough_cook(t.ctx, t.body[i], NULL, &def, NULL, &c));
        change_of_basis(&t, i, c, columns, T);
        double kept = 0;
        for (int k = 0; k < R * R; k++)
            kept += T[k] * T[k];
        check_near(kept, R, 5e-12);
        free(columns);
        bough_component_destroy(t.ctx, c);
    }
    free_tree(&t);
}

static void clamped_bases_span_the_same(void **state) {
    (void)state;
    same_span("r10_clamped", false);
}
static void mass_loaded_bases_span_the_same(void **state) {
    (void)state;
    same_span("r10_massloaded", true);
}

static void clamped_components_agree(void **state) {
    (void)state;
    compare("r10_clamped");
}
static void mass_loaded_components_agree(void **state) {
    (void)state;
    compare("r10_massloaded");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clamped_components_agree),
        cmocka_unit_test(mass_loaded_components_agree),
        cmocka_unit_test(clamped_bases_span_the_same),
        cmocka_unit_test(mass_loaded_bases_span_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
