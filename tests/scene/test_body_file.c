/* Body files: every key does what it says, every wrong file gets one sentence, nothing crashes or leaks. */
#include "texts.h"

#include "fem/body.h"
#include "scene/entries.h"

#include <bough/scene.h>

/* The body alone; its load case goes. */
static bough_status load_path(bough_context *ctx, const char *path, bough_body **body) {
    bough_load_case *load_case;
    const bough_status status = bough_body_load(ctx, path, body, &load_case);
    check_int(load_case != NULL, status == BOUGH_OK);
    bough_load_case_destroy(ctx, load_case);
    return status;
}

static bough_status load_text(bough_context *ctx, const char *text, bough_body **body) {
    const char *path = test_path("body.json");
    write_quoted(path, text);
    return load_path(ctx, path, body);
}

static bough_body *must_load(bough_context *ctx, const char *text) {
    bough_body *body;
    check_ok(ctx, load_text(ctx, text, &body));
    return body;
}

static bough_body *must_load_both(bough_context *ctx, const char *text, bough_load_case **load_case) {
    const char *path = test_path("body.json");
    bough_body *body;
    write_quoted(path, text);
    check_ok(ctx, bough_body_load(ctx, path, &body, load_case));
    check(bough_load_case_body(*load_case) == body);
    return body;
}

static double mass_of(bough_context *ctx, bough_body *body) {
    bough_body_properties p;
    check_ok(ctx, bough_body_measure(ctx, body, &p));
    return p.mass;
}

static double mass_of_text(bough_context *ctx, const char *text) {
    bough_body *body = must_load(ctx, text);
    double mass = mass_of(ctx, body);
    bough_body_destroy(ctx, body);
    return mass;
}

/* A bar of two unit cubes along x, "left" and "right", of mesh materials with densities 2000 and 3000. */
static const char bar_text[] =
    "*VERTICES\n12 3 0 0\n1 0 0 0\n2 0 1 0\n3 0 1 1\n4 0 0 1\n5 1 0 0\n6 1 1 0\n7 1 1 1\n8 1 0 1\n"
    "9 2 0 0\n10 2 1 0\n11 2 1 1\n12 2 0 1\n*ELEMENTS\nCUBIC\n2 8 0\n1 1 2 3 4 5 6 7 8\n"
    "2 5 6 7 8 9 10 11 12\n*MATERIAL A\nENU, 2000, 5e6, 0.3\n*MATERIAL B\nENU, 3000, 7e6, 0.2\n"
    "*SET left\n1\n*SET right\n2\n*REGION\nleft, A\n*REGION\nright, B\n";

static const char *write_bar(const char *name) {
    const char *path = test_path(name);
    test_write_text(path, bar_text);
    return path;
}

#define UNIT_BOX "{'bough': 1, 'mesh': {'generate': 'box', 'size': [1, 1, 1]}"

static void hello_body(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    check_near(mass_of_text(ctx, UNIT_BOX "}"), 1000, 1e-9);
    check_near(mass_of_text(ctx, "\xEF\xBB\xBF" UNIT_BOX ", 'name': 'x', '$schema': 'y'}"), 1000, 1e-9);
    bough_context_destroy(ctx);
}

/* ---- meshes ---- */

static void check_mesh(bough_context *ctx, const char *entry, bough_element_type type, int32_t elements, double volume,
                       double tolerance) {
    char text[400];
    snprintf(text, sizeof text, "{'bough': 1, 'mesh': %s, 'material': {'density': 1}}", entry);
    bough_body *body = must_load(ctx, text);
    check_int(bough_body_mesh(body)->type, type);
    if (elements)
        check_int(bough_body_mesh(body)->element_count, elements);
    check_near(mass_of(ctx, body), volume, tolerance);
    bough_body_destroy(ctx, body);
}

static void meshes_come_from_generators(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    check_mesh(ctx, "{'generate': 'box', 'type': 'tet10', 'size': [1, 2, 3], 'cells': [2, 1, 1], 'tets_per_cell': 5}",
               BOUGH_TET10, 10, 6, 1e-12);
    check_mesh(ctx, "{'generate': 'box', 'type': 'hex8', 'size': [1, 2, 3], 'cells': [2, 3, 4.0]}", BOUGH_HEX8, 24, 6,
               1e-12);
    check_mesh(ctx, "{'generate': 'rod', 'type': 'hex8', 'length': 2, 'radius': 0.5, 'cells': [3, 1]}", BOUGH_HEX8,
               3 * (16 + 16), 2 * M_PI * 0.25, 0.05);
    check_mesh(ctx,
               "{'generate': 'rod', 'type': 'hex8', 'length': 2, 'radius': 0.5, 'top_radius': 0.25, 'cells_along': 2, "
               "'core_cells': 2, 'rings': 3, 'grading': 0.5}",
               BOUGH_HEX8, 2 * (4 + 24), 2 * M_PI / 3 * (0.25 + 0.125 + 0.0625), 0.2);
    bough_body *body =
        must_load(ctx, "{'bough': 1, 'mesh': {'generate': 'box', 'origin': [5, 6, 7], 'size': [1, 1, 1]}}");
    check_near(bough_body_mesh(body)->vertices[0], 5, 0);
    check_near(bough_body_mesh(body)->vertices[2], 7, 0);
    bough_body_destroy(ctx, body);
    bough_context_destroy(ctx);
}

static void meshes_come_from_files_beside_the_body(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    mkdir(test_path("inner"), 0700);
    write_bar("inner/bar.veg");
    write_quoted(test_path("inner/body.json"), "{'bough': 1, 'mesh': 'bar.veg', 'material': {'density': 1}}");
    bough_body *body;
    check_ok(ctx, load_path(ctx, test_path("inner/body.json"), &body));
    check_near(mass_of(ctx, body), 2, 1e-12);
    bough_body_destroy(ctx, body);
    check_mesh(ctx, "'inner/../inner/bar.veg'", BOUGH_HEX8, 2, 2, 1e-12);

    /* The same bar with one cube inside out. */
    char turned[sizeof bar_text];
    memcpy(turned, bar_text, sizeof turned);
    char *row = strstr(turned, "1 1 2 3 4 5 6 7 8");
    memcpy(row, "1 5 6 7 8 1 2 3 4", 17);
    test_write_text(test_path("turned.veg"), turned);
    check_fails(ctx, load_text(ctx, "{'bough': 1, 'mesh': 'turned.veg'}", &body), BOUGH_ERROR_FORMAT, ": mesh: ");
    check(strstr(bough_message(ctx), "turned.veg") != NULL);
    check_mesh(ctx, "{'file': 'turned.veg', 'repair': true}", BOUGH_HEX8, 2, 2, 1e-12);
    bough_context_destroy(ctx);
}

static void write_box_surface(bough_context *ctx) {
    bough_box_def def = bough_default_box_def();
    bough_mesh *box;
    check_ok(ctx, bough_mesh_generate_box(ctx, &def, &box));
    check_ok(ctx, bough_mesh_write(ctx, box, test_path("box.obj")));
    bough_mesh_destroy(ctx, box);
}

static void surfaces_are_filled_with_voxels(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    write_box_surface(ctx);
    check_mesh(ctx, "{'generate': 'voxels', 'surface': 'box.obj', 'cell': 0.5}", BOUGH_HEX8, 0, 1, 3);
    bough_body *body;
    check_fails(ctx, load_text(ctx, "{'bough': 1, 'mesh': 'box.obj'}", &body), BOUGH_ERROR_FORMAT, "a volume mesh");
    check_fails(ctx,
                load_text(ctx, "{'bough': 1, 'mesh': {'generate': 'voxels', 'surface': 'no.obj', 'cell': 1}}", &body),
                BOUGH_ERROR_FILE, ": mesh.surface: ");
    bough_context_destroy(ctx);
}

static void surfaces_are_filled_with_tets(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    write_box_surface(ctx);
    bough_body *body;
    const bough_status status =
        load_text(ctx, "{'bough': 1, 'mesh': {'generate': 'tets', 'surface': 'box.obj', 'max_edge': 2}}", &body);
    if (status != BOUGH_ERROR_MISSING_PROGRAM) {
        check_ok(ctx, status);
        check_near(mass_of(ctx, body), 1000, 1e-9);
    }
    bough_body_destroy(ctx, body);
    bough_context_destroy(ctx);
    if (status == BOUGH_ERROR_MISSING_PROGRAM)
        test_skip("neither gmsh nor tetgen is installed: ./bough setup tools");
}

/* ---- materials ---- */

static void regions_inherit_from_the_material(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    write_bar("bar.veg");
    bough_body *body = must_load(ctx, "{'bough': 1, 'mesh': 'bar.veg',"
                                      "'material': {'model': 'mooney-rivlin', 'young': 4e5, 'poisson': 0.1, "
                                      "'density': 500, 'mooney_ratio': 0.5},"
                                      "'regions': [{'set': 'right', 'material': {'density': 100}},"
                                      "{'set': 'right', 'material': {'young': 2e5}}]}");
    check_near(mass_of(ctx, body), 1000, 1e-9);
    int32_t left = body->element_material[0], right = body->element_material[1];
    check_near(body->young[left], 4e5, 0);
    check_near(body->young[right], 2e5, 0);
    check_int(body->elastic[right].model, BOUGH_MATERIAL_MOONEY_RIVLIN);
    check_near(body->elastic[left].a, body->elastic[left].b, 1e-9);
    bough_body_destroy(ctx, body);
    bough_context_destroy(ctx);
}

static double young_of(bough_context *ctx, const char *keys, double *mass) {
    char text[300];
    snprintf(text, sizeof text, "{'bough': 1, 'mesh': 'bar.veg'%s}", keys);
    bough_body *body = must_load(ctx, text);
    double young = body->young[body->element_material[0]];
    *mass = mass_of(ctx, body);
    bough_body_destroy(ctx, body);
    return young;
}

static void the_body_file_wins_over_the_mesh_file(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    write_bar("bar.veg");
    const struct {
        const char *keys;
        double young, mass;
    } cases[] = {
        {"", 5e6, 5000},
        {", 'material': {'model': 'linear'}", 5e6, 5000},
        {", 'material': {'density': 10}", 5e6, 20},
        {", 'material': {'young': 1}", 1, 2000},
        {", 'material': {'young': 1, 'density': 10}", 1, 20},
        {", 'material': {'young': 1, 'density': 10}, 'use_mesh_materials': true", 5e6, 5000},
        {", 'use_mesh_materials': false", 1e6, 2000},
        {", 'regions': [{'set': 'left', 'material': {'young': 3, 'density': 1}}]", 3, 3001},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double mass;
        check_near(young_of(ctx, cases[i].keys, &mass), cases[i].young, 0);
        check_near(mass, cases[i].mass, 1e-9);
    }
    bough_context_destroy(ctx);
}

static void mass_and_damping_are_passed_on(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_body *body = must_load(ctx, UNIT_BOX ", 'mass': 'lumped', 'damping': {'mass': 0.5, 'stiffness': 1e-3}}");
    check_int(body->def.mass, BOUGH_MASS_LUMPED);
    check_near(body->def.damping_mass, 0.5, 0);
    check_near(body->def.damping_stiffness, 1e-3, 0);
    bough_body_destroy(ctx, body);
    body = must_load(ctx, UNIT_BOX ", 'mass': 'reduced'}");
    check_int(body->def.mass, BOUGH_MASS_REDUCED);
    bough_body_destroy(ctx, body);
    bough_context_destroy(ctx);
}

/* ---- supports and loads ---- */

/* A bar 2 x 1 x 1 of E = 1000, nu = 0.25 on rollers: it can stretch along x and thin across. */
#define ROLLERS "{'select': 'x0', 'axes': 'x'}, {'select': 'y0', 'axes': 'y'}, {'select': 'z0', 'axes': 'z'}"
#define BAR                                                                                            \
    "{'bough': 1, 'mesh': {'generate': 'box', 'type': 'hex8', 'size': [2, 1, 1], 'cells': [2, 2, 1]}," \
    "'material': {'model': 'linear', 'young': 1000, 'poisson': 0.25},"

static void check_stretch(bough_context *ctx, const char *text, double strain, double tolerance) {
    bough_load_case *load_case;
    bough_body *body = must_load_both(ctx, text, &load_case);
    const bough_mesh *mesh = bough_body_mesh(body);
    double *u = calloc(3 * (size_t)mesh->vertex_count, sizeof *u);
    bough_static_result result;
    check_ok(ctx, bough_body_static(ctx, body, load_case, NULL, u, &result));
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        const double *x = mesh->vertices + 3 * v;
        check_near(u[3 * v], strain * x[0], tolerance);
        check_near(u[3 * v + 1], -0.25 * strain * x[1], tolerance);
        check_near(u[3 * v + 2], -0.25 * strain * x[2], tolerance);
    }
    free(u);
    bough_load_case_destroy(ctx, load_case);
    bough_body_destroy(ctx, body);
}

static void bars_stretch_as_the_file_says(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    check_stretch(ctx, BAR "'fix': [" ROLLERS ", {'select': 'x1', 'axes': 'x', 'displacement': [0.1, 0, 0]}]}", 0.05,
                  1e-12);
    check_stretch(ctx, BAR "'fix': [" ROLLERS "], 'forces': [{'select': 'x1', 'force': [8, 0, 0]}]}", 0.008, 1e-10);
    check_stretch(ctx, BAR "'fix': [" ROLLERS "], 'pressures': [{'faces': 'x1', 'pressure': -0.001}]}", 1e-6, 1e-11);
    check_stretch(ctx,
                  BAR "'sets': {'end': {'vertices': 'x>1.9'}, 'far': {'vertices': 'end'}}, 'fix': [" ROLLERS
                      "], 'forces': [{'select': 'far', 'force': [4, 0, 0]}, {'select': 'end', 'force': [4, 0, 0]}]}",
                  0.008, 1e-10);
    bough_context_destroy(ctx);
}

static void supports_take_three_forms(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const struct {
        const char *fix;
        int32_t count;
    } cases[] = {{"'x0'", 12},
                 {"['x<0.5']", 12},
                 {"{'select': 'x=0'}", 12},
                 {"{'select': 'x0', 'axes': 'zx'}", 8},
                 {"[{'select': 'x0', 'axes': 'y'}, 'vertex:0']", 6},
                 {"[]", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text, UNIT_BOX ", 'fix': %s}", cases[i].fix);
        bough_load_case *load_case;
        bough_body *body = must_load_both(ctx, text, &load_case);
        check_int(load_case->fixed_count, cases[i].count);
        bough_load_case_destroy(ctx, load_case);
        bough_body_destroy(ctx, body);
    }
    bough_context_destroy(ctx);
}

static void gravity_is_weight(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_load_case *load_case;
    bough_body *body = must_load_both(ctx, UNIT_BOX ", 'gravity': [1, 2, -9.81]}", &load_case);
    double f[24], sum[3] = {0};
    bough_load_case_forces(load_case, NULL, f);
    for (int i = 0; i < 24; i++)
        sum[i % 3] += f[i];
    check_near(sum[0], 1000, 1e-9);
    check_near(sum[1], 2000, 1e-9);
    check_near(sum[2], -9810, 1e-9);
    bough_load_case_destroy(ctx, load_case);
    bough_body_destroy(ctx, body);
    bough_context_destroy(ctx);
}

/* ---- wrong files ---- */

static void check_refused_text(const char *text, bough_status expected, const char *part) {
    bough_context *ctx = test_context(1);
    bough_body *body;
    bough_status status = load_text(ctx, text, &body);
    const char *message = bough_message(ctx), *path = test_path("body.json");
    if (status != expected || body || strncmp(message, path, strlen(path)) != 0 || !strstr(message, part))
        fail_msg("%s: expected \"%s\", got status %d with \"%s\"", text, part, (int)status, message);
    bough_context_destroy(ctx);
}
static void check_refused(const char *text, const char *part) {
    check_refused_text(text, BOUGH_ERROR_FORMAT, part);
}

static void wrong_syntax_is_refused_with_its_place(void **state) {
    (void)state;
    check_refused("", "json:1:0: ");
    check_refused("  \n\n", "expected near end of file");
    check_refused("{\n'bough': 1,,\n}", "json:2:12: ");
    check_refused(UNIT_BOX "} x", "end of file expected");
    check_refused(UNIT_BOX "}}", "end of file expected");
    check_refused("{'bough': 1, 'bough': 1}", "duplicate object key");
    check_refused("{'bough': 1, // version\n'mesh': 'a.msh'}", "JSON has no comments");
    check_refused("{/* */ 'bough': 1}", "JSON has no comments");
    check_refused("# hello\n{'bough': 1}", "JSON has no comments");
    check_refused("{'bough': 1, 'name': '\xff'}", "unable to decode byte 0xff");
    check_refused("{'bough': 1, 'name': 'a\\u0000b'}", "\\u0000 is not allowed");
    check_refused(UNIT_BOX ", 'gravity': [0, 0, 1e999]}", "real number overflow");
    check_refused(UNIT_BOX ", 'gravity': [0, 0, NaN]}", "json:1:");
    check_refused(UNIT_BOX ", 'gravity': [0, 0, 99999999999999999999]}", "too big integer");
    check_refused("[]", ": must be an object, not a list");
    check_refused("17", "json:1:");
}

static void deep_and_large_files_are_refused(void **state) {
    (void)state;
    static const int depths[] = {33, 1000, 100000};
    for (int i = 0; i < 3; i++) {
        size_t depth = (size_t)depths[i];
        char *text = malloc(2 * depth + 1);
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        text[2 * depth] = 0;
        check_refused(text, "nested deeper than 32");
        free(text);
    }
    check_refused("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", "must be an object"); /* 32 */

    bough_context *ctx = test_context(1);
    bough_body *body;
    const char *path = test_path("large.json");
    test_write_text(path, "");
    check_int(truncate(path, (64 << 20) + 1), 0); /* a hole: takes no disk */
    check_fails(ctx, load_path(ctx, path, &body), BOUGH_ERROR_FORMAT, "larger than 64 MB");
    unlink(path);
    check_fails(ctx, load_path(ctx, test_path("none.json"), &body), BOUGH_ERROR_FILE, "cannot be opened");
    check_fails(ctx, load_path(ctx, test_path(""), &body), BOUGH_ERROR_FILE, "is a folder");
    bough_context_destroy(ctx);
}

static void wrong_keys_get_a_suggestion(void **state) {
    (void)state;
    check_refused(UNIT_BOX ", 'materail': {}}", ": unknown key \"materail\"; did you mean \"material\"?");
    check_refused(UNIT_BOX ", 'fix': ['x0', {'selct': 'x0'}]}",
                  ": fix[1]: unknown key \"selct\"; did you mean \"select\"?");
    check_refused(UNIT_BOX ", 'fix': {'quux': 'x0'}}", "unknown key \"quux\"; there are select, axes, displacement");
    check_refused(UNIT_BOX ", 'material': {'youngs': 1}}", "material: unknown key \"youngs\"; did you mean \"young\"?");
    check_refused(UNIT_BOX ", 'regions': [{'set': 'a', 'matter': {}}]}", "regions[0]: unknown key \"matter\"");
    check_refused(UNIT_BOX ", 'damping': {'masss': 1}}", "damping: unknown key");
    check_refused(UNIT_BOX ", 'sets': {'a': {'faces': 'x0'}}}", "sets.a: unknown key \"faces\"");
    check_refused(UNIT_BOX ", 'forces': [{'selection': 'x0'}]}", "forces[0]: unknown key");
    check_refused(UNIT_BOX ", 'pressures': [{'face': 'x0'}]}", "did you mean \"faces\"?");
    check_refused("{'bough': 1, 'mesh': {'generate': 'box', 'radius': 1}}", "mesh: unknown key \"radius\"");
    check_refused("{'bough': 1, 'mesh': {'generate': 'bix'}}", "mesh.generate: unknown \"bix\"; did you mean \"box\"?");
    check_refused(UNIT_BOX ", 'material': {'model': 'neohookean'}}", "did you mean \"neo-hookean\"?");
    check_refused(UNIT_BOX ", 'mass': 'lump'}", "mass: unknown \"lump\"");
    check_refused(UNIT_BOX ", '\\u001b[31m\\n': 1}", "unknown key \" [31m \"");
}

static void missing_keys_are_named(void **state) {
    (void)state;
    check_refused("{}", ": \"bough\" is missing");
    check_refused("{'bough': 1}", ": \"mesh\" is missing");
    check_refused("{'bough': 2, 'mesh': 'a.msh'}", "bough: version 2 is unknown; this program reads version 1");
    check_refused("{'bough': '1', 'mesh': 'a.msh'}", "bough: must be an integer, not a string");
    check_refused("{'bough': 1, 'mesh': {}}", "mesh: needs either \"file\" or \"generate\"");
    check_refused("{'bough': 1, 'mesh': {'file': 'a.msh', 'generate': 'box'}}", "needs either");
    check_refused("{'bough': 1, 'mesh': {'generate': 'box'}}", "mesh: \"size\" is missing");
    check_refused("{'bough': 1, 'mesh': {'generate': 'rod', 'length': 1}}", "mesh: \"radius\" is missing");
    check_refused("{'bough': 1, 'mesh': {'generate': 'voxels', 'cell': 1}}", "mesh: \"surface\" is missing");
    check_refused("{'bough': 1, 'mesh': {'generate': 'tets'}}", "mesh: \"surface\" is missing");
    check_refused(UNIT_BOX ", 'fix': [{}]}", "fix[0]: \"select\" is missing");
    check_refused(UNIT_BOX ", 'forces': [{'select': 'x0'}]}", "forces[0]: \"force\" is missing");
    check_refused(UNIT_BOX ", 'pressures': [{'faces': 'x0'}]}", "pressures[0]: \"pressure\" is missing");
    check_refused(UNIT_BOX ", 'sets': {'a': {}}}", "sets.a: needs either \"vertices\" or \"elements\"");
    check_refused(UNIT_BOX ", 'regions': [{'set': 'a'}]}", "regions[0]: \"material\" is missing");
    check_refused_text("{'bough': 1, 'mesh': 'none.msh'}", BOUGH_ERROR_FILE, "none.msh: cannot be opened");
    check_refused_text("{'bough': 1, 'mesh': 'none.xyz'}", BOUGH_ERROR_UNSUPPORTED, "extension");
}

static void wrong_values_are_named(void **state) {
    (void)state;
    check_refused(UNIT_BOX ", 'material': {'young': -5}}", ": material.young: must be positive, not -5");
    check_refused(UNIT_BOX ", 'material': {'young': 0}}", "material.young: must be positive");
    check_refused(UNIT_BOX ", 'material': {'young': 1e31}}", "material.young: 1e+31 is too large");
    check_refused(UNIT_BOX ", 'material': {'young': '5'}}", "material.young: must be a number, not a string");
    check_refused(UNIT_BOX ", 'material': {'young': null}}", "material.young: must be a number, not null");
    check_refused(UNIT_BOX ", 'material': {'poisson': 0.5}}", "material.poisson: must lie between -1 and 0.5");
    check_refused(UNIT_BOX ", 'material': {'density': -1}}", "material.density: must be positive");
    check_refused(UNIT_BOX ", 'material': {'mooney_ratio': 1.1}}", "must be from 0 to 1, not 1.1");
    check_refused(UNIT_BOX ", 'material': []}", "material: must be an object, not a list");
    check_refused(UNIT_BOX ", 'material': {'model': 3}}", "material.model: must be a string, not a number");
    check_refused(UNIT_BOX ", 'use_mesh_materials': 1}", "use_mesh_materials: must be true or false, not a number");
    check_refused(UNIT_BOX ", 'damping': {'mass': -1}}", "damping.mass: must not be negative");
    check_refused(UNIT_BOX ", 'gravity': -9.81}", "gravity: must be a list, not a number");
    check_refused(UNIT_BOX ", 'gravity': [0, -9.81]}", "gravity: must be a list of 3 numbers, not of 2");
    check_refused(UNIT_BOX ", 'gravity': [0, 0, true]}", "gravity[2]: must be a number, not true");
    check_refused(UNIT_BOX ", 'forces': {'select': 'x0'}}", "forces: must be a list, not an object");
    check_refused(UNIT_BOX ", 'fix': 3}", "fix: must be a list, not a number");
    check_refused(UNIT_BOX ", 'fix': [3]}", "fix[0]: must be an object, not a number");
    check_refused(UNIT_BOX ", 'fix': ''}", "fix: must not be empty");
    check_refused(UNIT_BOX ", 'fix': {'select': 'x0', 'axes': 'xw'}}", "fix.axes: must be some of the letters");
    check_refused(UNIT_BOX ", 'fix': {'select': 'x0', 'axes': 'xx'}}", "each once");
    check_refused(UNIT_BOX ", 'fix': {'select': 'x0', 'axes': 'x', 'displacement': [0, 1, 0]}}",
                  "fix.displacement: moves along y");
    check_refused(UNIT_BOX ", 'sets': {'': {'vertices': 'all'}}}", "a set needs a name");
    check_refused(UNIT_BOX ", 'sets': {'x0': {'vertices': 'all'}}}", "sets.x0: the mesh has a vertex set of this name");
    check_refused(UNIT_BOX ", 'sets': []}", "sets: must be an object");
    check_refused("{'bough': 1, 'mesh': 3}", "mesh: must be an object");
    check_refused("{'bough': 1, 'mesh': ''}", "mesh: must not be empty");
    check_refused("{'bough': 1, 'mesh': {'file': 'a.msh', 'repair': 'yes'}}", "mesh.repair: must be true or false");
    check_refused("{'bough': 1, 'mesh': {'generate': 'box', 'size': [1, 0, 1]}}", "mesh.size[1]: must be positive");
    check_refused("{'bough': 1, 'mesh': {'generate': 'box', 'size': [1, 1, 1], 'cells': [1, 1, 0.5]}}",
                  "mesh.cells[2]: must be an integer, not 0.5");
    check_refused("{'bough': 1, 'mesh': {'generate': 'box', 'size': [1, 1, 1], 'cells': [1, 1, 1000000000000]}}",
                  "mesh.cells[2]: must be from 1 to 1000000, not 1000000000000");
    check_refused("{'bough': 1, 'mesh': {'generate': 'box', 'size': [1, 1, 1], 'cells': [1000000, 1000000, 1]}}",
                  ": mesh: the mesh would have");
    check_refused("{'bough': 1, 'mesh': {'generate': 'box', 'size': [1, 1, 1], 'tets_per_cell': 7}}", "from 5 to 6");
    check_refused("{'bough': 1, 'mesh': {'generate': 'rod', 'length': 1, 'radius': 1, 'cells': [2, 2], 'rings': 2}}",
                  "mesh.cells: says [cells_along, rings]");
}

static void unknown_sets_and_empty_selections_are_told(void **state) {
    (void)state;
    check_refused(UNIT_BOX ", 'fix': ['x0', 'x>5']}",
                  ": fix[1]: selection \"x>5\" contains no vertex; x ranges from 0 to 1");
    check_refused(UNIT_BOX ", 'fix': 'x>5'}", ": fix: selection");
    check_refused(UNIT_BOX ", 'fix': {'select': 'xx0'}}", ": fix.select: selection \"xx0\"");
    check_refused(UNIT_BOX ", 'forces': [{'select': 'x<', 'force': [0, 0, 1]}]}", ": forces[0].select: ");
    check_refused(UNIT_BOX ", 'sets': {'a': {'vertices': 'b'}}}", ": sets.a.vertices: ");
    check_refused(UNIT_BOX ", 'pressures': [{'faces': 'x3', 'pressure': 1}]}",
                  "pressures[0].faces: the mesh has no face set \"x3\"; did you mean");
    check_refused(UNIT_BOX ", 'pressures': [{'faces': 'leftmost', 'pressure': 1}]}", "(face sets: x0, x1, ");
    check_refused(UNIT_BOX ", 'regions': [{'set': 'left', 'material': {}}]}",
                  "regions[0].set: the mesh has no element set \"left\" (element sets: none)");
}

/* ---- hostile files ---- */

static const char whole[] =
    "{'bough': 1, 'name': 'w', 'mesh': 'bar.veg', 'sets': {'end': {'vertices': 'x>1.9'}},\n"
    "'material': {'model': 'stvk', 'young': 8e7, 'poisson': 0.35, 'density': 700, 'mooney_ratio': 0.2},\n"
    "'regions': [{'set': 'left', 'material': {'young': 1}}], 'use_mesh_materials': true, 'mass': 'lumped',\n"
    "'damping': {'mass': 0, 'stiffness': 1e-3}, 'fix': ['x<0.01', {'select': 'end', 'axes': 'xz',\n"
    "'displacement': [0.1, 0, 0]}], 'gravity': [0, 0, -9.81],\n"
    "'forces': [{'select': 'end', 'force': [0, 0, -10]}], 'pressures': []}\n";
static const char generated[] =
    "{'bough': 1, 'mesh': {'generate': 'box', 'type': 'hex8', 'origin': [0, 0, 0], 'size': [1, 2, 3], 'cells': "
    "[2, 1, 1], 'tets_per_cell': 6}, 'fix': 'x0', 'pressures': [{'faces': 'x1', 'pressure': 1000}]}\n";

#define LARGEST_BLOCK ((size_t)1 << 20) /* a mutated count may ask for a mesh that is valid, but slow */

static void *allocate_small(void *user, size_t size) {
    return size > LARGEST_BLOCK ? NULL : test_allocate(user, size);
}
static void *reallocate_small(void *user, void *block, size_t size) {
    return size > LARGEST_BLOCK ? NULL : test_reallocate(user, block, size);
}

static bough_status check_survives(const char *path, const char *data, size_t size) {
    test_memory memory = {.fail_at = -1};
    bough_context_def def = bough_default_context_def();
    def.allocate = allocate_small, def.reallocate = reallocate_small, def.release = test_give_back;
    def.memory_user = &memory;
    def.thread_count = 1;
    bough_context *ctx = bough_context_create(&def);
    bough_body *body;
    test_write(path, data, size);
    bough_status status = load_path(ctx, path, &body);
    bool named = status == BOUGH_OK || status == BOUGH_ERROR_MEMORY || !strncmp(bough_message(ctx), path, strlen(path));
    if ((status == BOUGH_OK) != (body != NULL) || !named)
        fail_msg("status %d with \"%s\" for: %.*s", (int)status, bough_message(ctx), (int)size, data);
    bough_body_destroy(ctx, body);
    bough_context_destroy(ctx);
    check_int(memory.live, 0);
    return status;
}

static void truncations_are_refused(void **state) {
    (void)state;
    write_bar("bar.veg");
    const char *path = test_path("cut.json");
    char *text = quoted(whole);
    size_t size = strlen(text);
    for (size_t cut = 0; cut < size - 1; cut++) /* the last byte is a line end */
        check_int(check_survives(path, text, cut), BOUGH_ERROR_FORMAT);
    check_int(check_survives(path, text, size), BOUGH_OK);
    free(text);
}

static void mutate(const char *text, int count, uint64_t seed) {
    test_random random = {seed};
    const char *path = test_path("mutated.json");
    size_t full = strlen(text);
    char *changed = malloc(2 * full);
    for (int i = 0; i < count; i++) {
        size_t size = full, at = test_bits(&random) % size, length = 1 + test_bits(&random) % 12;
        length = length < size - at ? length : size - at;
        memcpy(changed, text, size);
        switch (test_bits(&random) % 4) {
        case 0:
            memmove(changed + at, changed + at + length, size - at - length);
            size -= length;
            break;
        case 1:
            memmove(changed + at + length, changed + at, size - at);
            size += length;
            break;
        case 2:
            changed[at] = (char)test_bits(&random);
            break;
        default:
            changed[at] = "0123456789-.e{}[],:\"ntf"[test_bits(&random) % 23];
        }
        check_survives(path, changed, size);
    }
    free(changed);
}

static void mutations_do_no_harm(void **state) {
    (void)state;
    write_bar("bar.veg");
    char *text = quoted(whole);
    mutate(text, 2000, 5);
    free(text);
    text = quoted(generated);
    mutate(text, 2000, 6);
    free(text);
}

static void failed_allocations_leak_nothing(void **state) {
    (void)state;
    const char *texts[] = {whole, generated, UNIT_BOX ", 'fix': 'xx'}",
                           UNIT_BOX ", 'pressures': [{'faces': 'xx', 'pressure': 1}]}"};
    write_bar("bar.veg");
    for (int i = 0; i < 4; i++) {
        bough_status status = BOUGH_ERROR_MEMORY;
        for (long fail_at = 1; status == BOUGH_ERROR_MEMORY; fail_at++) {
            check(fail_at < 10000);
            test_memory memory = {.fail_at = fail_at};
            bough_context *ctx = test_counting_context(&memory);
            bough_body *body;
            status = load_text(ctx, texts[i], &body);
            check(body == NULL || status == BOUGH_OK);
            bough_body_destroy(ctx, body);
            bough_context_destroy(ctx);
            check_int(memory.live, 0);
        }
        check_int(status, i < 2 ? BOUGH_OK : BOUGH_ERROR_FORMAT);
    }
}

/* jansson takes its memory from malloc, past the context. It takes a failure within a token for wrong syntax, so the
 * status may be either. */
static test_memory parser_memory;

static void *parser_allocate(size_t size) {
    return test_allocate(&parser_memory, size);
}
static void parser_release(void *block) {
    if (block)
        test_give_back(&parser_memory, block);
}

static void failed_allocations_of_the_parser_leak_nothing(void **state) {
    (void)state;
    json_malloc_t allocate;
    json_free_t release;
    bough_context *ctx = test_context(1);
    bough_status status = BOUGH_ERROR_MEMORY;
    json_get_alloc_funcs(&allocate, &release);
    json_set_alloc_funcs(parser_allocate, parser_release);
    for (long fail_at = 0; (status == BOUGH_ERROR_MEMORY || status == BOUGH_ERROR_FORMAT) && fail_at < 10000;
         fail_at++) {
        bough_body *body;
        parser_memory = (test_memory){.fail_at = fail_at};
        status = load_text(ctx, generated, &body);
        bough_body_destroy(ctx, body);
        if (parser_memory.live != 0)
            break;
    }
    json_set_alloc_funcs(allocate, release);
    check_int(parser_memory.live, 0);
    check_ok(ctx, status);
    bough_context_destroy(ctx);
}

/* ---- docs ---- */

static void the_schema_has_the_readers_keys(void **state) {
    (void)state;
    const struct {
        const char *name;
        const char *const *keys;
    } blocks[] = {{"mesh_file", KEYS(BO_MESH_FILE_KEYS)},
                  {"box", KEYS(BO_BOX_KEYS)},
                  {"rod", KEYS(BO_ROD_KEYS)},
                  {"voxels", KEYS(BO_VOXELS_KEYS)},
                  {"tets", KEYS(BO_TETS_KEYS)},
                  {"set", KEYS(BO_SET_KEYS)},
                  {"material", KEYS(BO_MATERIAL_KEYS)},
                  {"region", KEYS(BO_REGION_KEYS)},
                  {"damping", KEYS(BO_DAMPING_KEYS)},
                  {"fix", KEYS(BO_FIX_KEYS)},
                  {"force", KEYS(BO_FORCE_KEYS)},
                  {"pressure", KEYS(BO_PRESSURE_KEYS)}};
    json_t *schema = load_schema(BOUGH_SOURCE_DIR "/docs/body.schema.json");
    check_same_keys("the body", schema, KEYS(BO_BODY_KEYS));
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        check_same_keys(blocks[i].name, json_object_get(json_object_get(schema, "$defs"), blocks[i].name),
                        blocks[i].keys);
    json_decref(schema);
}

static void the_example_in_the_docs_works(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_body *body = must_load(ctx, example_of_docs("## Body files"));
    check_near(mass_of(ctx, body), 700 * 0.05 * 0.05, 1e-12);
    bough_body_destroy(ctx, body);
    bough_context_destroy(ctx);
}

/* Every complaint says where in the text it stands. */
static void complaints_have_line_and_column(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const struct {
        const char *text, *where;
    } cases[] = {
        {"{\n  \"bough\": 1,\n  \"mesh\": {\"generate\": \"box\", \"size\": [1, 1, 1]},\n  \"material\": {\"model\": "
         "\"stvk\",\n"
         "    \"young\": -5}\n}",
         "place.json:5:14: material.young: "},
        {"{\"bough\": 1, \"mesh\": {\"generate\": \"box\", \"size\": [1, 1, 1]},\n \"fix\": [\"x0\", {\"a \\\" ]\": "
         "[1, {}],\n\"select\": "
         "3}]}",
         "place.json:2:"},
        {"{\"bough\": 1,\n\"mesh\": {\"generate\": \"box\", \"size\": [1, 1, 1]},\n\"gravity\": [0, [1], 0]}",
         "place.json:3:16: gravity[1]: "},
        {"{\"bough\": 1,\n \"mesh\": {\"generate\": \"box\",\n  \"sise\": 1}}", "place.json:3:11: mesh: unknown key"},
        {"\n\n  {}", "place.json:3:3: \"bough\" is missing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = test_path("place.json");
        test_write_text(path, cases[i].text);
        bough_body *body;
        check_fails(ctx, load_path(ctx, path, &body), BOUGH_ERROR_FORMAT, cases[i].where);
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complaints_have_line_and_column),
        cmocka_unit_test(hello_body),
        cmocka_unit_test(meshes_come_from_generators),
        cmocka_unit_test(meshes_come_from_files_beside_the_body),
        cmocka_unit_test(surfaces_are_filled_with_voxels),
        cmocka_unit_test(surfaces_are_filled_with_tets),
        cmocka_unit_test(regions_inherit_from_the_material),
        cmocka_unit_test(the_body_file_wins_over_the_mesh_file),
        cmocka_unit_test(mass_and_damping_are_passed_on),
        cmocka_unit_test(bars_stretch_as_the_file_says),
        cmocka_unit_test(supports_take_three_forms),
        cmocka_unit_test(gravity_is_weight),
        cmocka_unit_test(wrong_syntax_is_refused_with_its_place),
        cmocka_unit_test(deep_and_large_files_are_refused),
        cmocka_unit_test(wrong_keys_get_a_suggestion),
        cmocka_unit_test(missing_keys_are_named),
        cmocka_unit_test(wrong_values_are_named),
        cmocka_unit_test(unknown_sets_and_empty_selections_are_told),
        cmocka_unit_test(truncations_are_refused),
        cmocka_unit_test(mutations_do_no_harm),
        cmocka_unit_test(failed_allocations_leak_nothing),
        cmocka_unit_test(failed_allocations_of_the_parser_leak_nothing),
        cmocka_unit_test(the_schema_has_the_readers_keys),
        cmocka_unit_test(the_example_in_the_docs_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
