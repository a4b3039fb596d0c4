/* Component files: every key reaches the definition of the cooking, every wrong file gets one sentence with its place,
 * and the hash knows what matters. */
#include "texts.h"

#include "base/npy.h"
#include "scene/entries.h"

#include <bough/scene.h>

static bough_status load_changed(bough_context *ctx, const char *text, const char *changes, bough_cook_job **job) {
    const char *path = test_path("part.json");
    char *over = changes ? quoted(changes) : NULL;
    write_quoted(path, text);
    bough_status status = bough_cook_job_load(ctx, path, over, job);
    free(over);
    return status;
}

static bough_cook_job *must_load(bough_context *ctx, const char *text) {
    bough_cook_job *job;
    check_ok(ctx, load_changed(ctx, text, NULL, &job));
    return job;
}

/* A bar along x: 4 x 1 x 1 hexes, 20 vertices in planes of 4. */
#define BAR "{'bough': 1, 'mesh': {'generate': 'box', 'type': 'hex8', 'size': [4, 1, 1], 'cells': [4, 1, 1]}"
#define ENDS "'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}"

/* ---- what the keys do ---- */

static void defaults_are_the_librarys(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_cook_def expected = bough_default_cook_def();
    bough_cook_job *job = must_load(ctx, BAR ", " ENDS "}");
    const bough_cook_def *def = bough_cook_job_def(job);
    check_int(def->r, expected.r);
    check_int(def->basis, 0);
    check_int(def->elastic, -1);
    check_int(def->interface_count, 2);
    check_int(def->parent, 0);
    check_int(def->wind_count, expected.wind_count);
    check_near(def->cubature_tolerance, expected.cubature_tolerance, 0);
    check(def->surface == NULL && !def->keep_volume && def->resume_path == NULL);
    check(strcmp(bough_cook_job_name(job), "part") == 0);
    check_int(bough_body_mesh(bough_cook_job_body(job))->vertex_count, 20);
    check_ok(ctx, bough_cook_job_set_resume_path(ctx, job, "x.part"));
    check_ok(ctx, bough_cook_job_set_resume_path(ctx, job, "y.part"));
    check(strcmp(def->resume_path, "y.part") == 0);
    bough_cook_job_destroy(ctx, job);
    bough_cook_job_destroy(ctx, NULL);
    bough_context_destroy(ctx);
}

static void settings_are_passed_on(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_cook_job *job = must_load(
        ctx, BAR ", 'name': 'arm', " ENDS
                 ", 'basis': {'r': 12, 'tolerance': 1e-3, 'modes': 8, 'kind': 'mass-loaded+derivatives+attachment', "
                 "'keep_boundary': true}, 'elastic': {'kind': 'cubature', 'tolerance': 0.02, 'points': 300, "
                 "'training': 50, 'amplitude': 0.3, 'seed': 7}, 'samples': {'wind': 8, 'contact': 100, 'stress': 5}, "
                 "'surface': {'int16': true}, 'keep_volume': true}");
    const bough_cook_def *def = bough_cook_job_def(job);
    check_int(def->r, 12);
    check_near(def->tolerance, 1e-3, 0);
    check_int(def->mode_count, 8);
    check_int(def->basis, BOUGH_BASIS_MODES | BOUGH_BASIS_LOADED | BOUGH_BASIS_DERIVATIVES | BOUGH_BASIS_ATTACHMENT);
    check(def->keep_boundary && def->surface_int16 && def->keep_volume);
    check_int(def->elastic, BOUGH_REDUCED_CUBATURE);
    check_near(def->cubature_tolerance, 0.02, 0);
    check_int(def->cubature_most, 300);
    check_int(def->training_count, 50);
    check_near(def->pose_amplitude, 0.3, 0);
    check_int(def->seed, 7);
    check_int(def->wind_count, 8);
    check_int(def->contact_count, 100);
    check_int(def->stress_count, 5);
    check(strcmp(bough_cook_job_name(job), "arm") == 0);
    bough_cook_job_destroy(ctx, job);
    bough_context_destroy(ctx);
}

static void kinds_are_words_joined_by_plus(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const struct {
        const char *kind;
        uint32_t basis;
    } cases[] = {
        {"modes", BOUGH_BASIS_MODES},
        {"mass-loaded", BOUGH_BASIS_MODES | BOUGH_BASIS_LOADED},
        {"craig-bampton", BOUGH_BASIS_CONSTRAINT},
        {"derivatives+modes", BOUGH_BASIS_MODES | BOUGH_BASIS_DERIVATIVES},
        {"modes+attachment+craig-bampton", BOUGH_BASIS_MODES | BOUGH_BASIS_ATTACHMENT | BOUGH_BASIS_CONSTRAINT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        snprintf(text, sizeof text, BAR ", " ENDS ", 'basis': {'kind': '%s'}}", cases[i].kind);
        bough_cook_job *job = must_load(ctx, text);
        check_int(bough_cook_job_def(job)->basis, cases[i].basis);
        bough_cook_job_destroy(ctx, job);
    }
    static const char *const elastic[] = {"linear", "polynomial", "cubature"};
    for (int i = 0; i < 3; i++) {
        char text[400];
        snprintf(text, sizeof text, BAR ", " ENDS ", 'elastic': {'kind': '%s'}}", elastic[i]);
        bough_cook_job *job = must_load(ctx, text);
        check_int(bough_cook_job_def(job)->elastic, BOUGH_REDUCED_LINEAR + i);
        bough_cook_job_destroy(ctx, job);
    }
    bough_context_destroy(ctx);
}

static void interfaces_are_selected_or_patches(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_cook_job *job =
        must_load(ctx, BAR ", 'interfaces': {'end': {'select': 'x1'}, 'side': {'patch': [2, 0.5, 1], 'radius': 1.2}, "
                           "'corner': {'patch': [0, 0, 0], 'radius': 1.01}}}");
    const bough_cook_def *def = bough_cook_job_def(job);
    const bough_mesh *mesh = bough_body_mesh(bough_cook_job_body(job));
    check_int(def->interface_count, 3);
    check_int(def->interfaces[0].vertex_count, 4);
    check(!def->interfaces[0].patch && def->interfaces[1].patch && def->interfaces[2].patch);
    check_int(def->interfaces[2].vertex_count, 4); /* itself and its neighbours along x, y and z */
    check(strcmp(def->interfaces[2].name, "corner") == 0 && def->interfaces[0].weights == NULL);
    check_int(def->parent, -1); /* none is called base */
    for (int32_t i = 0; i < 4; i++) {
        const double *x = mesh->vertices + 3 * def->interfaces[2].vertices[i];
        check_below(sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), 1.01);
        check_near(mesh->vertices[3 * def->interfaces[0].vertices[i]], 4, 1e-12);
    }
    bough_cook_job_destroy(ctx, job);
    bough_context_destroy(ctx);
}

/* 5 x 5 x 5 vertices: the one in the middle of the box is inside, and no patch has it. */
static void patches_stay_on_the_boundary(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_cook_job *job =
        must_load(ctx, "{'bough': 1, 'mesh': {'generate': 'box', 'size': [1, 1, 1], 'cells': [4, 4, 4]},"
                       "'interfaces': {'all': {'patch': [0.5, 0.5, 0.5], 'radius': 9}}}");
    check_int(bough_cook_job_def(job)->interfaces[0].vertex_count, 5 * 5 * 5 - 3 * 3 * 3);
    bough_cook_job_destroy(ctx, job);
    bough_context_destroy(ctx);
}

static void loads_are_felt_about_the_interface(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_cook_job *job =
        must_load(ctx, BAR ", 'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1', 'load': {'mass': 2, "
                           "'centre': [0.5, 0, -1], 'inertia': [3, 4, 5, 0.1, 0.2, 0.3]}}, "
                           "'side': {'patch': [2, 0.5, 1], 'radius': 1.2, 'load': {'mass': 7}}}}");
    const bough_interface_def *interfaces = bough_cook_job_def(job)->interfaces;
    const bough_inertia *load = &interfaces[1].load;
    check(!interfaces[0].has_load && interfaces[1].has_load && interfaces[2].has_load);
    check_near(load->mass, 2, 0);
    check_near(load->moment[0], 1, 1e-15);
    check_near(load->moment[2], -2, 1e-15);
    /* The load as point masses: own inertia + m (c.c 1 - c c^T). */
    static const double expected[9] = {3 + 2 * 1, 0.3, 0.2 + 2 * 0.5, 0.3, 4 + 2 * 1.25, 0.1, 0.2 + 2 * 0.5, 0.1, 5.5};
    for (int i = 0; i < 9; i++)
        check_near(load->inertia[i], expected[i], 1e-14);
    check_near(interfaces[2].load.mass, 7, 0);
    for (int i = 0; i < 9; i++)
        check_near(interfaces[2].load.inertia[i], 0, 0);
    bough_cook_job_destroy(ctx, job);
    bough_context_destroy(ctx);
}

static void the_parent_is_base_unless_said_otherwise(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const struct {
        const char *keys;
        int32_t parent;
    } cases[] = {{ENDS, 0},
                 {ENDS ", 'parent': 'tip'", 1},
                 {ENDS ", 'fix': 'x0'", -1},
                 {ENDS ", 'fix': []", 0},
                 {"'interfaces': {'tip': {'select': 'x1'}}", -1},
                 {"'interfaces': {}, 'fix': 'x0'", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        snprintf(text, sizeof text, BAR ", %s}", cases[i].keys);
        bough_cook_job *job = must_load(ctx, text);
        check_int(bough_cook_job_def(job)->parent, cases[i].parent);
        bough_cook_job_destroy(ctx, job);
    }
    bough_context_destroy(ctx);
}

static void stress_points_are_elements_at_vertices(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_cook_job *job =
        must_load(ctx, BAR ", " ENDS ", 'samples': {'stress_at': ['x0', 'nearest:3.9,0,0', 'x=4 & y<0.5']}}");
    const bough_cook_def *def = bough_cook_job_def(job);
    check_int(def->stress_count, bough_default_cook_def().stress_count);
    check_int(def->stress_element_count, 2); /* the first and the last of four, each once */
    check_int(def->stress_elements[0], 0);
    check_int(def->stress_elements[1], 3);
    bough_cook_job_destroy(ctx, job);
    bough_context_destroy(ctx);
}

static void write_box(bough_context *ctx, const char *name, double length) {
    bough_box_def def = bough_default_box_def();
    def.size[0] = length;
    bough_mesh *box;
    check_ok(ctx, bough_mesh_generate_box(ctx, &def, &box));
    check_ok(ctx, bough_mesh_write(ctx, box, test_path(name)));
    bough_mesh_destroy(ctx, box);
}

static void surfaces_come_from_files(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    write_box(ctx, "skin.obj", 4);
    bough_cook_job *job = must_load(ctx, BAR ", " ENDS ", 'surface': {'file': 'skin.obj'}}");
    const bough_cook_def *def = bough_cook_job_def(job);
    check(def->surface && def->surface->type == BOUGH_TRI3 && !def->surface_int16);
    check_int(def->surface->element_count, 12);
    bough_cook_job_destroy(ctx, job);
    bough_context_destroy(ctx);
}

/* Rows of a .npy file with these numbers of rows and columns, counted through. */
static void write_npy(bough_context *ctx, const char *name, int32_t rows, int32_t columns) {
    bo_npy_writer writer;
    double *row = calloc((size_t)columns, sizeof *row);
    check_ok(ctx, bo_npy_open(ctx, test_path(name), columns, &writer));
    for (int32_t r = 0; r < rows; r++) {
        for (int32_t c = 0; c < columns; c++)
            row[c] = r * columns + c;
        check_ok(ctx, bo_npy_append(ctx, &writer, row));
    }
    check_ok(ctx, bo_npy_commit(ctx, &writer));
    free(row);
}

static void vectors_come_from_numpy(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    write_npy(ctx, "u.npy", 4, 60);
    write_npy(ctx, "c.npy", 2, 60);
    bough_cook_job *job = must_load(ctx, BAR ", " ENDS ", 'basis': {'snapshots': 'u.npy', 'columns': 'c.npy'}}");
    const bough_cook_def *def = bough_cook_job_def(job);
    check_int(def->basis, BOUGH_BASIS_MODES | BOUGH_BASIS_DERIVATIVES | BOUGH_BASIS_SNAPSHOTS | BOUGH_BASIS_COLUMNS);
    check_int(def->snapshot_count, 4);
    check_int(def->column_count, 2);
    check_near(def->snapshots[3 * 60 + 59], 239, 0);
    check_near(def->columns[61], 61, 0);
    uint64_t hash = def->input_hash;
    bough_cook_job_destroy(ctx, job);
    write_npy(ctx, "u.npy", 3, 60);
    job = must_load(ctx, BAR ", " ENDS ", 'basis': {'snapshots': 'u.npy', 'columns': 'c.npy'}}");
    check(bough_cook_job_def(job)->input_hash != hash);
    bough_cook_job_destroy(ctx, job);
    job = must_load(ctx, BAR ", " ENDS ", 'basis': {'kind': 'snapshots', 'snapshots': 'u.npy'}}");
    check_int(bough_cook_job_def(job)->basis, BOUGH_BASIS_SNAPSHOTS);
    bough_cook_job_destroy(ctx, job);
    write_npy(ctx, "u.npy", 3, 57);
    check_fails(ctx, load_changed(ctx, BAR ", " ENDS ", 'basis': {'snapshots': 'u.npy'}}", NULL, &job),
                BOUGH_ERROR_FORMAT,
                "basis.snapshots: its rows have 57 numbers; they need 3 for each of the 20 vertices, 60");
    check_fails(ctx, load_changed(ctx, BAR ", " ENDS ", 'basis': {'columns': 'no.npy'}}", NULL, &job), BOUGH_ERROR_FILE,
                "basis.columns: ");
    bough_context_destroy(ctx);
}

/* ---- changes, bare meshes ---- */

static void changes_go_over_the_file(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_cook_job *job;
    check_ok(ctx, load_changed(ctx, BAR ", " ENDS ", 'basis': {'r': 30, 'modes': 9}}",
                               "{'basis': {'r': 4, 'kind': 'modes'}, 'interfaces': {'mid': {'select': 'x=2'}}}", &job));
    const bough_cook_def *def = bough_cook_job_def(job);
    check_int(def->r, 4);
    check_int(def->mode_count, 9);
    check_int(def->basis, BOUGH_BASIS_MODES);
    check_int(def->interface_count, 3);
    uint64_t changed = def->input_hash;
    bough_cook_job_destroy(ctx, job);
    job = must_load(ctx, BAR ", 'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1'}, 'mid': {'select': "
                             "'x=2'}}, 'basis': {'r': 4, 'modes': 9, 'kind': 'modes'}}");
    check(bough_cook_job_def(job)->input_hash == changed); /* as if the file had said it */
    bough_cook_job_destroy(ctx, job);
    check_fails(ctx, load_changed(ctx, BAR "}", "{'basis': {'rr': 4}}", &job), BOUGH_ERROR_FORMAT,
                "basis: unknown key \"rr\"");
    check_fails(ctx, load_changed(ctx, BAR "}", "[1]", &job), BOUGH_ERROR_ARGUMENT, "not a JSON object");
    check_fails(ctx, load_changed(ctx, BAR "}", "{", &job), BOUGH_ERROR_ARGUMENT, "not a JSON object");
    check(job == NULL);
    bough_context_destroy(ctx);
}

static int warnings;
static void count_warning(void *user, const char *sentence) {
    (void)user;
    warnings++;
    check(strstr(sentence, "fly free") || strstr(sentence, "mass-loaded"));
}

static void a_mesh_alone_flies_free(void **state) {
    (void)state;
    bough_context_def context = bough_default_context_def();
    context.warn = count_warning;
    bough_context *ctx = bough_context_create(&context);
    bough_cook_job *job;
    write_box(ctx, "alone.msh", 1);
    check_ok(ctx, bough_cook_job_load(ctx, test_path("alone.msh"), NULL, &job));
    check_int(bough_cook_job_def(job)->parent, -1);
    check_int(bough_body_mesh(bough_cook_job_body(job))->element_count, 6);
    check(strcmp(bough_cook_job_name(job), "alone") == 0);
    check_int(warnings, 1);
    bough_cook_job_destroy(ctx, job);
    check_ok(ctx, bough_cook_job_load(ctx, test_path("alone.msh"), "{\"fix\": \"x0\"}", &job));
    check_int(warnings, 1);
    bough_cook_job_destroy(ctx, job);
    check_ok(ctx, bough_cook_job_load(ctx, test_path("alone.msh"), "{\"basis\": {\"r\": 0}}", &job));
    check_int(warnings, 1); /* a stone is meant to */
    bough_cook_job_destroy(ctx, job);
    check_ok(ctx, load_changed(ctx, BAR ", " ENDS ", 'basis': {'kind': 'mass-loaded'}}", NULL, &job));
    check_int(warnings, 2);
    bough_cook_job_destroy(ctx, job);
    check_fails(ctx, bough_cook_job_load(ctx, test_path("none.msh"), NULL, &job), BOUGH_ERROR_FILE, "none.msh");
    bough_context_destroy(ctx);
}

/* ---- the hash and the provenance ---- */

static uint64_t hash_of(bough_context *ctx, const char *text) {
    bough_cook_job *job = must_load(ctx, text);
    uint64_t hash = bough_cook_job_def(job)->input_hash;
    bough_cook_job_destroy(ctx, job);
    return hash;
}

static void the_same_content_has_the_same_hash(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    uint64_t hash = hash_of(ctx, BAR ", " ENDS ", 'basis': {'r': 12, 'modes': 6}}");
    check(hash == hash_of(ctx, BAR ", " ENDS ", 'basis': {'r': 12, 'modes': 6}}"));
    check(hash == hash_of(ctx, BAR ",\n\n 'basis' : {'modes': 6.0, 'r':12.0},\n " ENDS "}"));
    check(hash == hash_of(ctx, BAR ", '$schema': 'editor', " ENDS ", 'basis': {'r': 12, 'modes': 6}}"));
    static const char *const others[] = {
        BAR ", " ENDS "}",
        BAR ", " ENDS ", 'basis': {'r': 6, 'modes': 12}}",
        BAR ", " ENDS ", 'basis': {'r': 13, 'modes': 6}}",
        BAR ", " ENDS ", 'basis': {'r': 12, 'modes': 6}, 'keep_volume': true}",
        BAR ", " ENDS ", 'basis': {'r': 12, 'modes': 6}, 'material': {'young': 2e6}}",
        BAR ", 'interfaces': {'base': {'select': 'x1'}, 'tip': {'select': 'x0'}}, 'basis': {'r': 12, 'modes': 6}}",
        "{'bough': 1, 'mesh': {'generate': 'box', 'type': 'hex8', 'size': [4, 1, 1], 'cells': [5, 1, 1]}, " ENDS
        ", 'basis': {'r': 12, 'modes': 6}}",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (hash == hash_of(ctx, others[i]))
            fail_msg("the hash does not see the difference of %s", others[i]);
    bough_context_destroy(ctx);
}

static void the_hash_sees_inside_of_files(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const char of_mesh[] = "{'bough': 1, 'mesh': 'box.msh', " ENDS "}";
    write_box(ctx, "box.msh", 1);
    uint64_t hash = hash_of(ctx, of_mesh);
    write_box(ctx, "box.msh", 1 + 1e-15); /* x1 moves by the last bits */
    check(hash != hash_of(ctx, of_mesh));
    write_box(ctx, "box.msh", 1);
    check(hash == hash_of(ctx, of_mesh));

    static const char of_surface[] = BAR ", " ENDS ", 'surface': {'file': 'skin.obj'}}";
    write_box(ctx, "skin.obj", 1);
    hash = hash_of(ctx, of_surface);
    write_box(ctx, "skin.obj", 1.001);
    check(hash != hash_of(ctx, of_surface));
    bough_context_destroy(ctx);
}

static void provenance_tells_where_it_came_from(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_cook_job *job = must_load(ctx, BAR ", 'name': 'arm', " ENDS ", 'basis': {'r': 7}}");
    const bough_cook_def *def = bough_cook_job_def(job);
    json_t *p = json_loads(def->provenance, JSON_REJECT_DUPLICATES, NULL);
    const json_t *mesh = json_object_get(p, "mesh"), *options = json_object_get(p, "options");
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)def->input_hash);
#define TEXT(object, key) json_string_value(json_object_get(object, key))
    check(strcmp(TEXT(p, "program"), "bough") == 0 && strcmp(TEXT(p, "version"), bough_version()) == 0);
    check(strcmp(TEXT(p, "name"), "arm") == 0 && strcmp(TEXT(p, "file"), "part.json") == 0);
    check(strcmp(TEXT(p, "input_hash"), hash) == 0 && strcmp(TEXT(mesh, "type"), "hex8") == 0);
    check(strcmp(TEXT(options, "kind"), "modes+derivatives+wrenches") == 0);
#undef TEXT
    check_int(json_integer_value(json_object_get(mesh, "vertices")), 20);
    check_int(json_integer_value(json_object_get(options, "r")), 7);
    check_int(json_integer_value(json_object_get(options, "modes")), 4);
    json_decref(p);
    bough_cook_job_destroy(ctx, job);
    bough_context_destroy(ctx);
}

/* ---- wrong files ---- */

static void check_refused(const char *text, const char *part) {
    bough_context *ctx = test_context(1);
    bough_cook_job *job;
    bough_status status = load_changed(ctx, text, NULL, &job);
    const char *message = bough_message(ctx), *path = test_path("part.json");
    if (status != BOUGH_ERROR_FORMAT || job || strncmp(message, path, strlen(path)) != 0 || !strstr(message, part))
        fail_msg("%s: expected \"%s\", got status %d with \"%s\"", text, part, (int)status, message);
    bough_context_destroy(ctx);
}

static void wrong_keys_get_a_suggestion(void **state) {
    (void)state;
    check_refused(BAR ", 'interface': {}}", "unknown key \"interface\"; did you mean \"interfaces\"?");
    check_refused(BAR ", 'interfaces': {'a': {'selct': 'x0'}}}", "interfaces.a: unknown key \"selct\"; did you mean");
    check_refused(BAR ", 'interfaces': {'a': {'patch': [0, 0, 0], 'radios': 1}}}", "did you mean \"radius\"?");
    check_refused(BAR ", 'interfaces': {'a': {'select': 'x0', 'load': {'weight': 1}}}}", "interfaces.a.load: unknown");
    check_refused(BAR ", 'basis': {'R': 1}}", "basis: unknown key \"R\"");
    check_refused(BAR ", 'basis': {'kind': 'modes+derivs'}}", "basis.kind: unknown \"derivs\"");
    check_refused(BAR ", 'basis': {'kind': 'mode'}}", "basis.kind: unknown \"mode\"; did you mean \"modes\"?");
    check_refused(BAR ", 'basis': {'kind': 'modes+'}}", "basis.kind: unknown \"\"; there are modes, mass-loaded");
    check_refused(BAR ", 'elastic': {'kind': 'polynomal'}}", "elastic.kind: unknown \"polynomal\"; did you mean");
    check_refused(BAR ", 'elastic': {'kid': 'linear'}}", "elastic: unknown key \"kid\"; did you mean \"kind\"?");
    check_refused(BAR ", 'samples': {'winds': 3}}", "samples: unknown key \"winds\"; did you mean \"wind\"?");
    check_refused(BAR ", 'surface': {'files': 'a.obj'}}", "surface: unknown key \"files\"; did you mean \"file\"?");
    check_refused(BAR ", 'time': {'dt': 1}}", "is a scene of one body, which bough run steps");
    check_refused("{'bough': 1, 'components': {}, 'parts': []}",
                  "is a scene of several components, not a component file");
}

static void wrong_values_are_named(void **state) {
    (void)state;
    check_refused(BAR ", 'interfaces': []}", "interfaces: must be an object of named interfaces");
    check_refused(BAR ", 'interfaces': {'a': 'x0'}}", "interfaces.a: must be an object, not a string");
    check_refused(BAR ", 'interfaces': {'': {'select': 'x0'}}}", "an interface needs a name");
    check_refused(BAR ", 'interfaces': {'a\\u001b[1m': {'select': 'x0'}}}",
                  "interfaces.a [1m: the name of an interface");
    check_refused(BAR ", 'interfaces': {'a\\u0085': {'select': 'x0'}}}", "no control characters");
    char text[1024], name[300] = "";
    memset(name, 'n', 256);
    snprintf(text, sizeof text, BAR ", 'interfaces': {'%s': {'select': 'x0'}}}", name);
    check_refused(text, "must have at most 255 bytes");
    check_refused(BAR ", 'interfaces': {'a': {}}}", "interfaces.a: \"select\" is missing");
    check_refused(BAR ", 'interfaces': {'a': {'patch': [0, 0, 0]}}}", "interfaces.a: \"radius\" is missing");
    check_refused(BAR ", 'interfaces': {'a': {'patch': [0, 0, 0], 'select': 'x0', 'radius': 1}}}", "needs either");
    check_refused(BAR ", 'interfaces': {'a': {'patch': [0, 0], 'radius': 1}}}",
                  "interfaces.a.patch: must be a list of 3");
    check_refused(BAR ", 'interfaces': {'a': {'patch': [0, 0, 0], 'radius': 0}}}", "interfaces.a.radius: must be posi");
    check_refused(BAR ", 'parent': 'base'}", "parent: is the name of an interface, but there are none");
    check_refused(BAR ", " ENDS ", 'parent': 'bsae'}", "parent: unknown \"bsae\"; did you mean \"base\"?");
    check_refused(BAR ", " ENDS ", 'parent': 3}", "parent: must be a string");
    check_refused(BAR ", " ENDS ", 'parent': 'base', 'fix': 'x0'}", "parent: the component hangs by this interface");
    check_refused(BAR ", 'basis': {'r': -1}}", "basis.r: must be from 0 to 512, not -1");
    check_refused(BAR ", 'basis': {'r': 513}}", "basis.r: must be from 0 to 512, not 513");
    check_refused(BAR ", 'basis': {'r': 1.5}}", "basis.r: must be an integer");
    check_refused(BAR ", 'basis': {'tolerance': 0}}", "basis.tolerance: must lie between 0 and 1");
    check_refused(BAR ", 'basis': {'modes': 0}}", "basis.modes: must be from 1");
    check_refused(BAR ", 'basis': {'kind': ''}}", "basis.kind: must not be empty");
    check_refused(BAR ", 'basis': {'keep_boundary': 1}}", "basis.keep_boundary: must be true or false");
    check_refused(BAR ", 'basis': {'kind': 'snapshots'}}",
                  "basis.kind: has snapshots, but \"snapshots\" names no file");
    check_refused(BAR ", 'basis': {'kind': 'modes', 'columns': 'c.npy'}}", "basis.kind: leaves out columns");
    check_refused(BAR ", 'elastic': {'tolerance': 1}}", "elastic.tolerance: must lie between 0 and 1");
    check_refused(BAR ", 'elastic': {'points': 0}}", "elastic.points: must be from 1");
    check_refused(BAR ", 'elastic': {'training': 0}}", "elastic.training: must be from 1");
    check_refused(BAR ", 'elastic': {'amplitude': -1}}", "elastic.amplitude: must lie between");
    check_refused(BAR ", 'elastic': {'seed': -1}}", "elastic.seed: must be from 0");
    check_refused(BAR ", 'basis': {'r': 65}, 'elastic': {'kind': 'polynomial'}}",
                  "at most 64 coordinates, but basis.r");
    check_refused(BAR ", 'samples': {'wind': 33}}", "samples.wind: must be from 0 to 32, not 33");
    check_refused(BAR ", 'samples': {'contact': 501}}", "samples.contact: must be from 0 to 500, not 501");
    check_refused(BAR ", 'samples': {'stress': 65}}", "samples.stress: must be from 0 to 64, not 65");
    check_refused(BAR ", 'samples': {'stress_at': 'x0'}}", "samples.stress_at: must be a list");
    check_refused(BAR ", 'samples': {'stress_at': [3]}}", "samples.stress_at[0]: must be a string");
    check_refused(BAR ", 'surface': 'a.obj'}", "surface: must be an object");
    check_refused(BAR ", 'surface': {'int16': 'yes'}}", "surface.int16: must be true or false");
    check_refused(BAR ", 'keep_volume': 1}", "keep_volume: must be true or false");
    check_refused("{'mesh': 'a.msh'}", "\"bough\" is missing");
    check_refused("[]", "must be an object, not a list");
}

#define TIP_LOAD(load) BAR ", 'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1', 'load': " load "}}}"

static void wrong_loads_are_named(void **state) {
    (void)state;
    check_refused(TIP_LOAD("{}"), "interfaces.tip.load: \"mass\" is missing");
    check_refused(TIP_LOAD("{'mass': 0}"), "interfaces.tip.load.mass: must be positive");
    check_refused(TIP_LOAD("{'mass': 1, 'centre': 3}"), "interfaces.tip.load.centre: must be a list");
    check_refused(TIP_LOAD("{'mass': 1, 'inertia': [1, 1, 1]}"), "load.inertia: must be a list of 6 numbers, not of 3");
    check_refused(TIP_LOAD("{'mass': 1, 'inertia': [1, 1, -1, 0, 0, 0]}"), "load.inertia: is no body's inertia");
    check_refused(TIP_LOAD("{'mass': 1, 'inertia': [1, 1, 3, 0, 0, 0]}"), "none larger than the two others together");
    check_refused(BAR ", 'interfaces': {'base': {'select': 'x0', 'load': {'mass': 1}}}}",
                  "interfaces.base.load: the component hangs by this interface");
}

static void what_the_mesh_lacks_is_told_with_its_place(void **state) {
    (void)state;
    check_refused(BAR ", 'interfaces': {'a': {'select': 'x>5'}}}",
                  "interfaces.a.select: selection \"x>5\" contains no vertex; x ranges from 0 to 4");
    check_refused(BAR ", 'interfaces': {'a': {'select': 'vertex:3'}}}",
                  "interfaces.a.select: contains 1 vertex, but an interface needs at least 3");
    check_refused(
        BAR ", 'interfaces': {'a': {'patch': [4, 0, 0], 'radius': 0.1}}}",
        "interfaces.a: 1 boundary vertex lies within 0.1 m of (4, 0, 0), but a patch needs 3; the radius would "
        "have to be at least 1 m");
    check_refused(BAR ", 'interfaces': {'a': {'patch': [4, 0, 5], 'radius': 0.1}}}", "0 boundary vertices lie within");
    check_refused(BAR ", " ENDS ", 'samples': {'stress_at': ['x>5']}}", "samples.stress_at[0]: selection");
    bough_context *ctx = test_context(1);
    bough_cook_job *job;
    write_box(ctx, "volume.msh", 1);
    check_fails(ctx, load_changed(ctx, BAR ", 'surface': {'file': 'none.obj'}}", NULL, &job), BOUGH_ERROR_FILE,
                "surface.file: ");
    check_fails(ctx, load_changed(ctx, BAR ", 'surface': {'file': 'volume.msh'}}", NULL, &job), BOUGH_ERROR_FORMAT,
                "surface.file: must be a triangle surface, but has tet4 elements");
    /* Slips are told before the mesh is looked for. */
    check_fails(ctx, load_changed(ctx, "{'bough': 1, 'mesh': 'none.msh', 'basis': {'r': 'a'}}", NULL, &job),
                BOUGH_ERROR_FORMAT, "basis.r");
    bough_context_destroy(ctx);
}

/* ---- hostile files ---- */

static const char whole[] =
    BAR ", 'name': 'w', 'interfaces': {'base': {'select': 'x0'}, 'side': {'patch': [2, 0.5, 1], 'radius': 1.2,\n"
        "'load': {'mass': 1, 'centre': [0, 0, 1], 'inertia': [1, 1, 1, 0, 0, 0]}}}, 'parent': 'base',\n"
        "'basis': {'r': 12, 'tolerance': 0.1, 'modes': 6, 'kind': 'mass-loaded+columns', 'columns': 'c.npy'},\n"
        "'elastic': {'kind': 'linear', 'seed': 3}, 'samples': {'wind': 4, 'stress_at': ['x0', 'x=2']},\n"
        "'surface': {'file': 'skin.obj', 'int16': true}, 'keep_volume': true}\n";

static void write_what_whole_points_to(void) {
    bough_context *ctx = test_context(1);
    write_box(ctx, "skin.obj", 4);
    write_npy(ctx, "c.npy", 2, 60);
    bough_context_destroy(ctx);
}

static void failed_allocations_leak_nothing(void **state) {
    (void)state;
    write_what_whole_points_to();
    bough_status status = BOUGH_ERROR_MEMORY;
    for (long fail_at = 1; status == BOUGH_ERROR_MEMORY; fail_at++) {
        check(fail_at < 10000);
        test_memory memory = {.fail_at = fail_at};
        bough_context *ctx = test_counting_context(&memory);
        bough_cook_job *job;
        status = load_changed(ctx, whole, "{'basis': {'r': 5}}", &job);
        check((job == NULL) == (status != BOUGH_OK));
        bough_cook_job_destroy(ctx, job);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
    }
    check_int(status, BOUGH_OK);
}

static void check_survives(const char *text, size_t size) {
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    bough_cook_job *job;
    const char *path = test_path("mutated.json");
    test_write(path, text, size);
    bough_status status = bough_cook_job_load(ctx, path, NULL, &job);
    bool named = status == BOUGH_OK || status == BOUGH_ERROR_MEMORY || !strncmp(bough_message(ctx), path, strlen(path));
    if ((status == BOUGH_OK) != (job != NULL) || !named)
        fail_msg("status %d with \"%s\" for: %.*s", (int)status, bough_message(ctx), (int)size, text);
    bough_cook_job_destroy(ctx, job);
    bough_context_destroy(ctx);
    check_int(memory.live, 0);
}

static void truncations_and_mutations_do_no_harm(void **state) {
    (void)state;
    write_what_whole_points_to();
    char *text = quoted(whole), *changed = strdup(text);
    size_t size = strlen(text), mesh = (size_t)(strstr(text, "\"name\"") - text);
    test_random random = {3};
    for (size_t cut = 0; cut < size; cut += 3)
        check_survives(text, cut);
    for (int i = 0; i < 3000; i++) { /* behind the mesh, whose counts others mangle */
        size_t at = mesh + test_bits(&random) % (size - mesh);
        memcpy(changed, text, size);
        changed[at] = i % 2 ? (char)test_bits(&random) : "0123456789-.e{}[],:\"ntf"[test_bits(&random) % 23];
        check_survives(changed, size);
    }
    free(text);
    free(changed);
}

/* ---- docs ---- */

static void the_schema_has_the_readers_keys(void **state) {
    (void)state;
    const struct {
        const char *name;
        const char *const *keys;
    } blocks[] = {{"interface", KEYS(BO_INTERFACE_KEYS)}, {"patch", KEYS(BO_PATCH_KEYS)},
                  {"load", KEYS(BO_LOAD_KEYS)},           {"basis", KEYS(BO_BASIS_KEYS)},
                  {"elastic", KEYS(BO_ELASTIC_KEYS)},     {"samples", KEYS(BO_SAMPLES_KEYS)},
                  {"surface", KEYS(BO_SURFACE_KEYS)}};
    json_t *schema = load_schema(BOUGH_SOURCE_DIR "/docs/component.schema.json");
    json_t *of_body = load_schema(BOUGH_SOURCE_DIR "/docs/body.schema.json");
    const json_t *defs = json_object_get(schema, "$defs");
    check_same_keys("the component", schema, KEYS(BO_COMPONENT_KEYS));
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        check_same_keys(blocks[i].name, json_object_get(defs, blocks[i].name), blocks[i].keys);
    /* Keys that a body file has too read the same in both. */
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(of_body, "$defs"), key, value) {
        if (!json_equal(value, json_object_get(defs, key)))
            fail_msg("the schemas differ in \"%s\"", key);
    }
    json_object_foreach(json_object_get(of_body, "properties"), key, value) {
        if (strcmp(key, "name") && !json_equal(value, json_object_get(json_object_get(schema, "properties"), key)))
            fail_msg("the schemas differ in \"%s\"", key);
    }
    json_decref(schema);
    json_decref(of_body);
}

static void the_examples_work(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_cook_job *job = must_load(ctx, example_of_docs("## Component files"));
    check_int(bough_cook_job_def(job)->interface_count, 3);
    bough_cook_job_destroy(ctx, job);
    check_ok(ctx, bough_cook_job_load(ctx, BOUGH_SOURCE_DIR "/examples/twig/twig.json", NULL, &job));
    check_int(bough_cook_job_def(job)->parent, 0);
    bough_cook_job_destroy(ctx, job);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_the_librarys),
        cmocka_unit_test(settings_are_passed_on),
        cmocka_unit_test(kinds_are_words_joined_by_plus),
        cmocka_unit_test(interfaces_are_selected_or_patches),
        cmocka_unit_test(patches_stay_on_the_boundary),
        cmocka_unit_test(loads_are_felt_about_the_interface),
        cmocka_unit_test(the_parent_is_base_unless_said_otherwise),
        cmocka_unit_test(stress_points_are_elements_at_vertices),
        cmocka_unit_test(surfaces_come_from_files),
        cmocka_unit_test(vectors_come_from_numpy),
        cmocka_unit_test(changes_go_over_the_file),
        cmocka_unit_test(a_mesh_alone_flies_free),
        cmocka_unit_test(the_same_content_has_the_same_hash),
        cmocka_unit_test(the_hash_sees_inside_of_files),
        cmocka_unit_test(provenance_tells_where_it_came_from),
        cmocka_unit_test(wrong_keys_get_a_suggestion),
        cmocka_unit_test(wrong_values_are_named),
        cmocka_unit_test(wrong_loads_are_named),
        cmocka_unit_test(what_the_mesh_lacks_is_told_with_its_place),
        cmocka_unit_test(failed_allocations_leak_nothing),
        cmocka_unit_test(truncations_and_mutations_do_no_harm),
        cmocka_unit_test(the_schema_has_the_readers_keys),
        cmocka_unit_test(the_examples_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
