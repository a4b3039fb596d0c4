#include "app.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    OPT_TYPE = 300,
    OPT_SIZE,
    OPT_ORIGIN,
    OPT_CELLS,
    OPT_TETS,
    OPT_LENGTH,
    OPT_RADIUS,
    OPT_TOP_RADIUS,
    OPT_CORE,
    OPT_RINGS,
    OPT_GRADING,
    OPT_CELL,
    OPT_PROGRAM,
    OPT_EDGE,
    OPT_REPAIR,
    OPT_RAISE,
    OPT_EMBEDDING,
    OPT_SCALE,
    OPT_UP,
    OPT_ROTATE,
    OPT_JSON = 'j'
};

typedef struct {
    const char *action, *words[2];
    int word_count;
    const char *output, *program, *picture, *embedding;
    bool repair, json, raise;
    bough_box_def box;
    bough_rod_def rod;
    bough_element_type type;
    const char *cells;
    double cell, max_edge;
    bough_mesh_transform_def transform;
    bool transforms;
} arguments;

static const struct argp_option options[] = {
    {0, 0, 0, 0, "All actions:", 1},
    {"json", OPT_JSON, 0, 0, "print one JSON object instead of text", 0},
    {"repair", OPT_REPAIR, 0, 0, "flip inverted elements while reading", 0},
    {"output", 'o', "FILE", 0, "mesh to write (generate); .msh .vtu .inp, or .obj .stl for the surface", 0},
    {"picture", 'p', "FILE.png", 0, "draw the mesh", 0},
    {"raise", OPT_RAISE, 0, 0, "convert: tet4 to tet10", 0},
    {0, 0, 0, 0, "convert, and the surface of generate voxels|tets, in this order:", 2},
    {"scale", OPT_SCALE, "S", 0, "multiply all coordinates: 0.001 makes metres of millimetres", 0},
    {"up", OPT_UP, "x|y|z", 0, "the axis that points up in the file; it becomes z", 0},
    {"rotate", OPT_ROTATE, "X,Y,Z", 0, "turn by these degrees about x, then y, then z", 0},
    {0, 0, 0, 0, "generate box:", 3},
    {"type", OPT_TYPE, "TYPE", 0, "tet4 (default), tet10 or hex8; also for rod", 0},
    {"size", OPT_SIZE, "X,Y,Z", 0, "edge lengths (default 1,1,1)", 0},
    {"origin", OPT_ORIGIN, "X,Y,Z", 0, "lowest corner (default 0,0,0)", 0},
    {"cells", OPT_CELLS, "NX,NY,NZ", 0, "number of cells; for rod the number along its length", 0},
    {"tets-per-cell", OPT_TETS, "5|6", 0, "how cells are cut into tets (default 6)", 0},
    {0, 0, 0, 0, "generate rod (along z):", 4},
    {"length", OPT_LENGTH, "L", 0, "", 0},
    {"radius", OPT_RADIUS, "R", 0, "", 0},
    {"top-radius", OPT_TOP_RADIUS, "R", 0, "another radius at the top: a cone", 0},
    {"core", OPT_CORE, "N", 0, "cells across the core square", 0},
    {"rings", OPT_RINGS, "N", 0, "rings of cells around the core", 0},
    {"grading", OPT_GRADING, "G", 0, "thickness of a ring over that of the ring inside it", 0},
    {0, 0, 0, 0, "generate voxels|tets SURFACE:", 5},
    {"cell", OPT_CELL, "H", 0, "edge length of the voxels (default: 1/20 of the size)", 0},
    {"embedding", OPT_EMBEDDING, "FILE.csv", 0, "voxels: write where each surface vertex sits: element, 8 weights", 0},
    {"max-edge", OPT_EDGE, "H", 0, "longest edge of the tets (default: the program's choice)", 0},
    {"program", OPT_PROGRAM, "NAME", 0, "gmsh or tetgen (default: whichever is installed)", 0},
    {0},
};

static void vector(struct argp_state *state, const char *option, const char *text, double v[3]) {
    if (!app_parse_numbers(text, 3, v))
        argp_error(state, "--%s: \"%s\" should be three numbers X,Y,Z", option, text);
}

static double positive(struct argp_state *state, const char *option, const char *text) {
    double value;
    if (!app_parse_numbers(text, 1, &value) || value <= 0)
        argp_error(state, "--%s: \"%s\" should be a positive number", option, text);
    return value;
}

static int32_t count(struct argp_state *state, const char *option, const char *text) {
    int32_t value = 1;
    if (!app_parse_int(text, 1, 1000000, &value))
        argp_error(state, "--%s: \"%s\" should be a positive whole number", option, text);
    return value;
}

static bough_element_type element_type(struct argp_state *state, const char *text) {
    for (int type = BOUGH_TET4; type <= BOUGH_HEX8; type++)
        if (!strcmp(text, bough_element_name((bough_element_type)type)))
            return (bough_element_type)type;
    argp_error(state, "--type: \"%s\" should be tet4, tet10 or hex8", text);
    return BOUGH_TET4;
}

/* Three numbers for a box; one for a rod, or for a box with as many cells along each axis. */
static void parse_cells(struct argp_state *state, arguments *a) {
    double n[3];
    if (!a->cells)
        return;
    bool rod = a->word_count > 0 && !strcmp(a->words[0], "rod"), one = app_parse_numbers(a->cells, 1, n);
    bool good = one || (!rod && app_parse_numbers(a->cells, 3, n));
    if (one)
        n[1] = n[2] = n[0];
    for (int d = 0; good && d < 3; d++) {
        good = n[d] >= 1 && n[d] <= 1e6 && n[d] == floor(n[d]);
        a->box.cells[d] = good ? (int32_t)n[d] : 1;
    }
    if (!good)
        argp_error(state, "--cells: \"%s\" should be %s", a->cells,
                   rod ? "one whole number" : "NX,NY,NZ or one number, all of them whole");
    a->rod.cells_along = a->box.cells[0];
}

static error_t parse(int key, char *text, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case OPT_JSON:
        a->json = true;
        break;
    case OPT_REPAIR:
        a->repair = true;
        break;
    case OPT_SCALE:
        a->transform.scale = positive(state, "scale", text);
        a->transforms = true;
        break;
    case OPT_UP:
        if (strlen(text) != 1 || text[0] < 'x' || text[0] > 'z')
            argp_error(state, "--up: \"%s\" should be x, y or z", text);
        a->transform.up = text[0];
        a->transforms = true;
        break;
    case OPT_ROTATE:
        vector(state, "rotate", text, a->transform.rotate_deg);
        a->transforms = true;
        break;
    case OPT_RAISE:
        a->raise = true;
        break;
    case 'o':
        a->output = text;
        break;
    case 'p':
        app_need_extension(state, "picture", text, ".png");
        a->picture = text;
        break;
    case OPT_TYPE:
        a->type = element_type(state, text);
        break;
    case OPT_SIZE:
        vector(state, "size", text, a->box.size);
        break;
    case OPT_ORIGIN:
        vector(state, "origin", text, a->box.origin);
        break;
    case OPT_CELLS:
        a->cells = text;
        break;
    case OPT_TETS:
        a->box.tets_per_cell = count(state, "tets-per-cell", text);
        break;
    case OPT_LENGTH:
        a->rod.length = positive(state, "length", text);
        break;
    case OPT_RADIUS:
        a->rod.radius = positive(state, "radius", text);
        break;
    case OPT_TOP_RADIUS:
        a->rod.top_radius = positive(state, "top-radius", text);
        break;
    case OPT_CORE:
        a->rod.core_cells = count(state, "core", text);
        break;
    case OPT_RINGS:
        a->rod.rings = count(state, "rings", text);
        break;
    case OPT_GRADING:
        a->rod.grading = positive(state, "grading", text);
        break;
    case OPT_CELL:
        a->cell = positive(state, "cell", text);
        break;
    case OPT_EDGE:
        a->max_edge = positive(state, "max-edge", text);
        break;
    case OPT_EMBEDDING:
        a->embedding = text;
        break;
    case OPT_PROGRAM:
        a->program = text;
        break;
    case ARGP_KEY_ARG:
        if (!a->action)
            a->action = text;
        else if (a->word_count < 2)
            a->words[a->word_count++] = text;
        else
            argp_error(state, "too many words: \"%s\"", text);
        break;
    case ARGP_KEY_END:
        if (!a->action)
            argp_error(state, "say what to do: info, check, convert or generate");
        parse_cells(state, a);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {
    options,
    parse,
    "info FILE\ncheck FILE\nconvert FROM TO\ngenerate box|rod\ngenerate voxels|tets SURFACE",
    "Looks at, checks, converts and generates meshes. Reads .msh .veg .node/.ele .mesh .vtk .inp .obj .stl .ply; "
    "writes "
    ".msh .vtu .inp .obj .stl."
    "\vExamples:\n"
    "  bough mesh generate box --size 1,0.05,0.05 --cells 40,2,2 --type tet10 -o beam.msh\n"
    "  bough mesh generate rod --length 0.4 --radius 0.006 --cells 24 -o twig.msh --picture twig.png\n"
    "  bough mesh generate voxels dragon.obj --cell 0.02 -o dragon.msh\n"
    "  bough mesh info beam.msh\n"
    "  bough mesh convert beam.msh beam.inp\n"
    "  bough mesh convert part.stl part.msh --scale 0.001 --up y",
    NULL,
    NULL,
    NULL};

static int read_mesh(bough_context *ctx, const arguments *a, const char *path, bough_volume_policy policy,
                     bough_mesh **mesh) {
    bough_mesh_read_def def = bough_default_mesh_read_def();
    def.volumes = a->repair ? BOUGH_VOLUME_REPAIR : policy;
    return bough_mesh_read(ctx, path, &def, mesh) ? app_fail(ctx) : APP_OK;
}

/* ---- info, check ---- */

static const char *const kind_names[] = {"vertex", "face", "element"};

static json_t *describe(const char *path, const bough_mesh *mesh, const bough_mesh_report *r) {
    json_t *sets = json_array(), *materials = json_array();
    for (int32_t i = 0; i < mesh->set_count; i++)
        json_array_append_new(sets, json_pack("{s:o, s:s, s:i}", "name", app_json_text(mesh->sets[i].name), "kind",
                                              kind_names[mesh->sets[i].kind], "count", (int)mesh->sets[i].count));
    for (int32_t i = 0; i < mesh->material_count; i++)
        json_array_append_new(materials,
                              json_pack("{s:o, s:f, s:f, s:f}", "name", app_json_text(mesh->materials[i].name), "young",
                                        mesh->materials[i].young, "poisson", mesh->materials[i].poisson, "density",
                                        mesh->materials[i].density));
    json_t *object = json_pack("{s:o, s:s, s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "file", app_json_text(path), "type",
                               bough_element_name(mesh->type), "vertices", (int)mesh->vertex_count, "elements",
                               (int)mesh->element_count, "volume", app_json_number(r->volume), "area",
                               app_json_number(r->area), "centroid", app_json_numbers(r->centroid, 3), "lower",
                               app_json_numbers(r->lower, 3), "upper", app_json_numbers(r->upper, 3));
    json_t *health = json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o}", "inverted", (int)r->inverted_count, "flat",
                               (int)r->flat_count, "unused_vertices", (int)r->unused_vertex_count, "duplicate_elements",
                               (int)r->duplicate_element_count, "nonmanifold", (int)r->nonmanifold_count,
                               "boundary_faces", (int)r->boundary_face_count, "pieces", (int)r->piece_count,
                               "worst_quality", app_json_number(r->worst_quality));
    json_object_update_new(object, health);
    json_object_set_new(object, "sets", sets);
    json_object_set_new(object, "materials", materials);
    return object;
}

static void print_info(const char *path, const bough_mesh *mesh, const bough_mesh_report *r) {
    printf("%s: %d vertices, %d %s elements\n", path, mesh->vertex_count, mesh->element_count,
           bough_element_name(mesh->type));
    printf("  box       %g..%g  %g..%g  %g..%g m\n", r->lower[0], r->upper[0], r->lower[1], r->upper[1], r->lower[2],
           r->upper[2]);
    printf("  volume    %.9g m^3, surface %.6g m^2, centroid %.6g %.6g %.6g\n", r->volume, r->area, r->centroid[0],
           r->centroid[1], r->centroid[2]);
    printf("  elements  %.3g to %.3g m^%d, worst quality %.3f (element %d)\n", r->smallest, r->largest,
           mesh->type == BOUGH_TRI3 ? 2 : 3, r->worst_quality, r->worst_element);
    for (int32_t i = 0; i < mesh->set_count; i++)
        printf("  %s set \"%s\": %d\n", kind_names[mesh->sets[i].kind], mesh->sets[i].name, mesh->sets[i].count);
    for (int32_t i = 0; i < mesh->region_count; i++) {
        const bough_mesh_material *m = &mesh->materials[mesh->regions[i].material];
        printf("  material \"%s\": E %g Pa, nu %g, %g kg/m^3 (%s)\n", m->name, m->young, m->poisson, m->density,
               mesh->regions[i].set[0] ? mesh->regions[i].set : "all elements");
    }
}

/* One line for each thing that is wrong; returns how many kinds of trouble there are. */
static int print_troubles(const bough_mesh *mesh, const bough_mesh_report *r) {
    const struct {
        int32_t count;
        const char *what;
        bool fatal;
    } rows[] = {
        {r->inverted_count, "inverted elements (bough mesh convert --repair flips them)", true},
        {r->flat_count, "flat elements, without volume", true},
        {r->duplicate_element_count, "elements that stand there twice", true},
        {r->nonmanifold_count,
         mesh->type == BOUGH_TRI3 ? "edges with other than two triangles: the surface is not closed"
                                  : "faces of three or more elements",
         mesh->type != BOUGH_TRI3},
        {r->unused_vertex_count, "vertices in no element; they take no part", false},
        {r->piece_count > 1 ? r->piece_count : 0, "pieces that do not touch each other", false},
    };
    int troubles = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].count > 0) {
            printf("  %d %s%s\n", rows[i].count, rows[i].what, rows[i].fatal ? "" : " (may be meant)");
            troubles += rows[i].fatal;
        }
    if (r->inverted_count)
        printf("  the first inverted element is %d (counted from 0)\n", r->first_inverted);
    if (r->flat_count)
        printf("  the first flat element is %d (counted from 0)\n", r->first_flat);
    return troubles;
}

static bool is_sound(const bough_mesh *mesh, const bough_mesh_report *r) {
    return !r->inverted_count && !r->flat_count && !r->duplicate_element_count &&
           (mesh->type == BOUGH_TRI3 || !r->nonmanifold_count);
}

static int draw(bough_context *ctx, const arguments *a, const bough_mesh *mesh) {
    if (!a->picture)
        return APP_OK;
    const char *slash = strrchr(a->words[0], '/');
    const char *title = slash ? slash + 1 : a->words[0];
    return app_picture(ctx, mesh, NULL, 1, title, "", a->picture) ? app_fail(ctx) : APP_OK;
}

static int look(bough_context *ctx, const arguments *a, bool check) {
    bough_mesh *mesh;
    bough_mesh_report report;
    int status = read_mesh(ctx, a, a->words[0], BOUGH_VOLUME_ACCEPT, &mesh);
    if (status != APP_OK)
        return status;
    if (bough_mesh_measure(ctx, mesh, &report)) {
        status = app_fail(ctx);
    } else if (a->json) {
        json_t *object = describe(a->words[0], mesh, &report);
        json_object_set_new(object, "sound", json_boolean(is_sound(mesh, &report)));
        app_print_json(object);
        status = check && !is_sound(mesh, &report) ? APP_FAILED : APP_OK;
    } else if (check) {
        int troubles = print_troubles(mesh, &report);
        printf("%s: %s\n", a->words[0], troubles ? "not fit for simulation" : "sound");
        status = troubles ? APP_FAILED : APP_OK;
    } else {
        print_info(a->words[0], mesh, &report);
        print_troubles(mesh, &report);
    }
    if (status == APP_OK)
        status = draw(ctx, a, mesh);
    bough_mesh_destroy(ctx, mesh);
    return status;
}

/* ---- convert, generate ---- */

static bool holds_materials(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && !strcasecmp(dot, ".inp");
}

/* Says what was written; a program gets what `mesh info` says of it. */
static int tell_written(bough_context *ctx, const arguments *a, const char *path, const char *verb,
                        const bough_mesh *mesh) {
    bough_mesh_report report;
    if (!a->json) {
        printf("%s: %s%d vertices, %d %s elements\n", path, verb, mesh->vertex_count, mesh->element_count,
               bough_element_name(mesh->type));
        return APP_OK;
    }
    if (bough_mesh_measure(ctx, mesh, &report))
        return app_fail(ctx);
    app_print_json(describe(path, mesh, &report));
    return APP_OK;
}

static int write_converted(bough_context *ctx, const arguments *a, const bough_mesh *mesh) {
    if (bough_mesh_write(ctx, mesh, a->words[1]))
        return app_fail(ctx);
    if (mesh->material_count && !holds_materials(a->words[1]))
        fprintf(stderr, "bough: warning: %s: materials are left out; only .inp holds them\n", a->words[1]);
    int status = tell_written(ctx, a, a->words[1], "written from ", mesh);
    return status == APP_OK ? draw(ctx, a, mesh) : status;
}

static int convert(bough_context *ctx, const arguments *a) {
    bough_mesh *mesh, *raised = NULL;
    int status = read_mesh(ctx, a, a->words[0], BOUGH_VOLUME_REFUSE, &mesh);
    if (status != APP_OK)
        return status;
    if (bough_mesh_transform(ctx, mesh, &a->transform))
        status = app_fail(ctx);
    if (status == APP_OK && a->raise && bough_mesh_raise_order(ctx, mesh, &raised))
        status = app_fail(ctx);
    if (status == APP_OK)
        status = write_converted(ctx, a, raised ? raised : mesh);
    bough_mesh_destroy(ctx, raised);
    bough_mesh_destroy(ctx, mesh);
    return status;
}

static double default_cell(bough_context *ctx, const bough_mesh *surface) {
    bough_mesh_report r;
    if (bough_mesh_measure(ctx, surface, &r))
        return 0;
    return fmax(r.upper[0] - r.lower[0], fmax(r.upper[1] - r.lower[1], r.upper[2] - r.lower[2])) / 20;
}

static bool write_embedding(const bough_embedding *embedding, const char *path) {
    FILE *f = fopen(path, "w");
    if (!f)
        return false;
    fputs("element,w0,w1,w2,w3,w4,w5,w6,w7\n", f);
    for (int32_t v = 0; v < embedding->vertex_count; v++) {
        fprintf(f, "%d", embedding->elements[v]);
        for (int k = 0; k < 8; k++)
            fprintf(f, ",%.17g", embedding->weights[BOUGH_MAX_ELEMENT_NODES * (size_t)v + (size_t)k]);
        fputc('\n', f);
    }
    bool good = !ferror(f);
    return fclose(f) == 0 && good;
}

static int fill_surface(bough_context *ctx, const arguments *a, bool voxels, bough_mesh **mesh) {
    *mesh = NULL;
    bough_mesh *surface;
    bough_embedding *embedding = NULL;
    bough_status s = bough_mesh_read(ctx, a->words[1], NULL, &surface);
    if (s)
        return app_fail(ctx);
    s = bough_mesh_transform(ctx, surface, &a->transform);
    if (!s && voxels)
        s = bough_mesh_voxelize(ctx, surface, a->cell > 0 ? a->cell : default_cell(ctx, surface), mesh,
                                a->embedding ? &embedding : NULL);
    else if (!s)
        s = bough_mesh_tetrahedralize(ctx, surface, a->program, a->max_edge, mesh);
    int status = s ? app_fail(ctx) : APP_OK;
    if (embedding && !write_embedding(embedding, a->embedding)) {
        status = app_fail_with("%s: cannot be written", a->embedding);
        bough_mesh_destroy(ctx, *mesh);
    }
    bough_embedding_destroy(ctx, embedding);
    bough_mesh_destroy(ctx, surface);
    return status;
}

static int generate(bough_context *ctx, arguments *a) {
    const char *kind = a->words[0];
    bool fills = !strcmp(kind, "voxels") || !strcmp(kind, "tets");
    if (!fills && strcmp(kind, "box") && strcmp(kind, "rod")) {
        app_fail_with("generate: \"%s\" should be box, rod, voxels or tets", kind);
        return APP_USAGE;
    }
    if (fills != (a->word_count == 2) || !a->output) {
        app_fail_with(fills ? "generate %s needs a surface file and -o FILE"
                            : "generate %s needs -o FILE and no other file",
                      kind);
        return APP_USAGE;
    }
    if (a->transforms && !fills) {
        app_fail_with("--scale, --up and --rotate are for meshes from files, not for generate %s", kind);
        return APP_USAGE;
    }
    if (a->embedding && strcmp(kind, "voxels")) {
        app_fail_with("--embedding is for generate voxels, not for %s", kind);
        return APP_USAGE;
    }
    bough_mesh *mesh;
    int status;
    a->box.type = a->rod.type = a->type;
    if (fills)
        status = fill_surface(ctx, a, !strcmp(kind, "voxels"), &mesh);
    else if (!strcmp(kind, "box"))
        status = bough_mesh_generate_box(ctx, &a->box, &mesh) ? app_fail(ctx) : APP_OK;
    else
        status = bough_mesh_generate_rod(ctx, &a->rod, &mesh) ? app_fail(ctx) : APP_OK;
    if (status != APP_OK)
        return status;
    if (bough_mesh_write(ctx, mesh, a->output)) {
        status = app_fail(ctx);
    } else {
        status = tell_written(ctx, a, a->output, "", mesh);
        if (status == APP_OK)
            status = draw(ctx, a, mesh);
    }
    bough_mesh_destroy(ctx, mesh);
    return status;
}

int command_mesh(int argc, char **argv) {
    arguments a = {.box = bough_default_box_def(),
                   .rod = bough_default_rod_def(),
                   .type = BOUGH_TET4,
                   .transform = bough_default_mesh_transform_def()};
    app_parse(&parser, argc, argv, &a);
    static const struct {
        const char *name;
        int words;
    } actions[] = {{"info", 1}, {"check", 1}, {"convert", 2}, {"generate", 0}};
    int action = 0;
    while (action < 4 && strcmp(a.action, actions[action].name))
        action++;
    if (action == 4) {
        app_fail_with("mesh: \"%s\" should be info, check, convert or generate", a.action);
        return APP_USAGE;
    }
    if (action < 3 ? a.word_count != actions[action].words : a.word_count < 1) {
        app_fail_with("mesh %s needs %s; see bough mesh --help", a.action,
                      action < 2    ? "one file"
                      : action == 2 ? "a file to read and a file to write"
                                    : "box, rod, voxels or tets");
        return APP_USAGE;
    }
    if (a.transforms && action < 2) {
        app_fail_with("mesh %s looks at the file as it is; --scale, --up and --rotate are for mesh convert", a.action);
        return APP_USAGE;
    }
    bough_context *ctx = app_context(0);
    int status = action == 3 ? generate(ctx, &a) : action == 2 ? convert(ctx, &a) : look(ctx, &a, action == 1);
    bough_context_destroy(ctx);
    return status;
}
