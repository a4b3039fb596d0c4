#include "app.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum {
    OPT_YOUNG = 256,
    OPT_POISSON,
    OPT_DENSITY,
    OPT_MOONEY,
    OPT_MASS,
    OPT_MOVE,
    OPT_PRESSURE,
    OPT_DAMPING,
    OPT_REPAIR,
    OPT_JSON = 'j'
};

static const struct argp_option options[] = {
    {0, 0, 0, 0, "Material (of a mesh; a body file brings its own):", 1},
    {"material", 'm', "MODEL", 0,
     "linear, corotated, stvk (default), neo-hookean, stable-neo-hookean, mooney-rivlin, arap", 0},
    {"young", OPT_YOUNG, "PA", 0, "Young's modulus (default 1e6, or what the mesh file says)", 0},
    {"poisson", OPT_POISSON, "NU", 0, "Poisson's ratio (default 0.4)", 0},
    {"density", OPT_DENSITY, "KG/M3", 0, "density (default 1000)", 0},
    {"mooney-ratio", OPT_MOONEY, "C", 0, "C01 / (C10 + C01) of mooney-rivlin (default 0.2)", 0},
    {"mass", OPT_MASS, "KIND", 0, "consistent (default), reduced (CalculiX' quadrature) or lumped", 0},
    {"damping", OPT_DAMPING, "A,B", 0, "Rayleigh damping A M + B K", 0},
    {0, 0, 0, 0, "Supports and loads (SELECT: a set's name, x<0.01, 'x<0.1 & z>0', nearest:x,y,z, ...):", 2},
    {"fix", 'f', "SELECT", 0, "hold these vertices; may be repeated; \"xy@SELECT\" holds only those axes", 0},
    {"move", OPT_MOVE, "DX,DY,DZ@SELECT", 0, "hold these vertices at a displacement", 0},
    {"gravity", 'g', "X,Y,Z", 0, "acceleration, for example 0,0,-9.81", 0},
    {"force", 'F', "X,Y,Z@SELECT", 0, "total force (N) shared out over the vertices", 0},
    {"pressure", OPT_PRESSURE, "P@FACESET", 0, "follower pressure (Pa) on a face set of the mesh", 0},
    {0, 0, 0, 0, "General:", 3},
    APP_OPTION_THREADS('t'),
    {"repair", OPT_REPAIR, 0, 0, "flip inverted elements of the mesh", 0},
    APP_OPTION_JSON(OPT_JSON),
    {0},
};

app_body_options app_default_body_options(void) {
    return (app_body_options){.young = NAN, .poisson = NAN, .density = NAN, .mooney_ratio = NAN};
}

static void append(struct argp_state *state, app_list *list, const char *option, const char *item) {
    if (list->count == (int)(sizeof list->items / sizeof *list->items))
        argp_error(state, "--%s: more than %d of them; use a body file", option, list->count);
    list->items[list->count++] = item;
}

static double number(struct argp_state *state, const char *option, const char *text) {
    double value;
    if (!app_parse_numbers(text, 1, &value))
        argp_error(state, "--%s: \"%s\" is not a number", option, text);
    return value;
}

static error_t parse(int key, char *text, struct argp_state *state) {
    app_body_options *o = state->input;
    switch (key) {
    case 'm':
        o->material = text;
        break;
    case OPT_YOUNG:
        o->young = number(state, "young", text);
        break;
    case OPT_POISSON:
        o->poisson = number(state, "poisson", text);
        break;
    case OPT_DENSITY:
        o->density = number(state, "density", text);
        break;
    case OPT_MOONEY:
        o->mooney_ratio = number(state, "mooney-ratio", text);
        break;
    case OPT_MASS:
        o->mass = text;
        break;
    case OPT_DAMPING:
        if (!app_parse_numbers(text, 2, o->damping))
            argp_error(state, "--damping: \"%s\" should be two numbers A,B", text);
        break;
    case 'f':
        append(state, &o->fix, "fix", text);
        break;
    case OPT_MOVE:
        append(state, &o->move, "move", text);
        break;
    case 'g':
        o->has_gravity = app_parse_numbers(text, 3, o->gravity);
        if (!o->has_gravity)
            argp_error(state, "--gravity: \"%s\" should be three numbers X,Y,Z", text);
        break;
    case 'F':
        append(state, &o->force, "force", text);
        break;
    case OPT_PRESSURE:
        append(state, &o->pressure, "pressure", text);
        break;
    case 't':
        app_need_threads(state, text, &o->threads);
        break;
    case OPT_REPAIR:
        o->repair = true;
        break;
    case OPT_JSON:
        o->json = true;
        break;
    case ARGP_KEY_ARG:
        if (o->input)
            argp_error(state, "one mesh or body file is enough");
        o->input = text;
        break;
    case ARGP_KEY_END:
        if (!o->input)
            argp_error(state, "name a mesh or a body file");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

const struct argp app_body_argp = {options, parse, NULL, NULL, NULL, NULL, NULL};

static bool is_body_file(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ".json") == 0;
}

static bool gives_material(const app_body_options *o) {
    return o->material || o->mass || !isnan(o->young) || !isnan(o->poisson) || !isnan(o->density) ||
           !isnan(o->mooney_ratio) || o->damping[0] != 0 || o->damping[1] != 0;
}

bool app_changes_body(const app_body_options *o) {
    return gives_material(o) || o->has_gravity || o->repair || o->fix.count || o->move.count || o->force.count ||
           o->pressure.count;
}

static int usage(const char *sentence, const char *text) {
    app_fail_with(sentence, text);
    return APP_USAGE;
}

static int fill_def(bough_context *ctx, const app_body_options *o, bough_body_def *def) {
    if (o->material && bough_material_find(ctx, o->material, &def->material.model)) {
        app_fail(ctx);
        return APP_USAGE;
    }
    /* Constants on the command line override those of the mesh file. */
    def->use_mesh_materials = isnan(o->young) && isnan(o->poisson) && isnan(o->density);
    if (!isnan(o->young))
        def->material.young = o->young;
    if (!isnan(o->poisson))
        def->material.poisson = o->poisson;
    if (!isnan(o->density))
        def->material.density = o->density;
    if (!isnan(o->mooney_ratio))
        def->material.mooney_ratio = o->mooney_ratio;
    def->damping_mass = o->damping[0];
    def->damping_stiffness = o->damping[1];
    static const char *const kinds[] = {"consistent", "reduced", "lumped"};
    for (int k = 0; k < 3; k++)
        if (o->mass && !strcmp(o->mass, kinds[k])) {
            def->mass = (bough_mass_kind)k;
            return APP_OK;
        }
    return o->mass ? usage("--mass: \"%s\" should be consistent, reduced or lumped", o->mass) : APP_OK;
}

static int body_from_mesh(bough_context *ctx, const app_body_options *o, bough_body **body) {
    bough_body_def def = bough_default_body_def();
    int status = fill_def(ctx, o, &def);
    if (status != APP_OK)
        return status;
    bough_mesh_read_def read = bough_default_mesh_read_def();
    read.volumes = o->repair ? BOUGH_VOLUME_REPAIR : BOUGH_VOLUME_REFUSE;
    bough_mesh *mesh;
    if (bough_mesh_read(ctx, o->input, &read, &mesh))
        return app_fail(ctx);
    bough_status made = bough_body_create(ctx, mesh, &def, body);
    bough_mesh_destroy(ctx, mesh);
    return made ? app_fail(ctx) : APP_OK;
}

/* "VALUES@SELECT": splits at the first '@'; NULL when there is none. */
static const char *behind_at(const char *text) {
    const char *at = strchr(text, '@');
    return at ? at + 1 : NULL;
}

static bool numbers_before_at(const char *text, int count, double *values) {
    char copy[256];
    size_t length = (size_t)(strchr(text, '@') - text);
    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = 0;
    return app_parse_numbers(copy, count, values);
}

static int axes_before_at(const char *text, const char *select) {
    static const char names[] = "xyz";
    int axes = 0;
    for (; text < select - 1; text++) {
        const char *axis = *text ? strchr(names, *text) : NULL;
        if (!axis)
            return 0;
        axes |= 1 << (axis - names);
    }
    return axes;
}

static int hold(bough_context *ctx, bough_load_case *load_case, const char *select, int axes,
                const double *displacement) {
    int32_t *vertices, count;
    if (bough_mesh_select(ctx, bough_body_mesh(bough_load_case_body(load_case)), select, &vertices, &count))
        return app_fail(ctx);
    bough_status status = bough_load_case_fix(ctx, load_case, vertices, count, axes, displacement);
    bough_release(ctx, vertices);
    return status ? app_fail(ctx) : APP_OK;
}

static int apply_supports(bough_context *ctx, const app_body_options *o, bough_load_case *load_case) {
    int status = APP_OK;
    for (int i = 0; i < o->fix.count && status == APP_OK; i++) {
        const char *text = o->fix.items[i], *select = behind_at(text);
        int axes = select ? axes_before_at(text, select) : BOUGH_AXES;
        if (axes == 0)
            return usage("--fix: \"%s\": before the @ only the axes x, y, z may stand", text);
        status = hold(ctx, load_case, select ? select : text, axes, NULL);
    }
    for (int i = 0; i < o->move.count && status == APP_OK; i++) {
        const char *text = o->move.items[i], *select = behind_at(text);
        double displacement[3];
        if (!select || !numbers_before_at(text, 3, displacement))
            return usage("--move: \"%s\" should be DX,DY,DZ@SELECT", text);
        status = hold(ctx, load_case, select, BOUGH_AXES, displacement);
    }
    return status;
}

static int apply_force(bough_context *ctx, bough_load_case *load_case, const char *text) {
    const char *select = behind_at(text);
    double force[3];
    if (!select || !numbers_before_at(text, 3, force))
        return usage("--force: \"%s\" should be X,Y,Z@SELECT, for example 0,0,-10@x>0.99", text);
    int32_t *vertices, count;
    if (bough_mesh_select(ctx, bough_body_mesh(bough_load_case_body(load_case)), select, &vertices, &count))
        return app_fail(ctx);
    bough_status status = bough_load_case_add_force(ctx, load_case, vertices, count, force);
    bough_release(ctx, vertices);
    return status ? app_fail(ctx) : APP_OK;
}

static int apply_pressure(bough_context *ctx, bough_load_case *load_case, const char *text) {
    const char *name = behind_at(text);
    double pressure;
    if (!name || !numbers_before_at(text, 1, &pressure))
        return usage("--pressure: \"%s\" should be P@FACESET", text);
    const bough_set *set = bough_mesh_find_set(bough_body_mesh(bough_load_case_body(load_case)), BOUGH_SET_FACE, name);
    if (!set)
        return app_fail_with("--pressure: the mesh has no face set \"%s\"; bough mesh info lists its sets", name);
    return bough_load_case_add_pressure(ctx, load_case, set->items, set->count, pressure) ? app_fail(ctx) : APP_OK;
}

int app_make_body(bough_context *ctx, const app_body_options *o, bough_body **body, bough_load_case **load_case) {
    *body = NULL;
    *load_case = NULL;
    int status;
    if (is_body_file(o->input)) {
        if (gives_material(o))
            return usage("%s: a body file brings its own material; leave out the material options", o->input);
        status = bough_body_load(ctx, o->input, body, load_case) ? app_fail(ctx) : APP_OK;
    } else {
        status = body_from_mesh(ctx, o, body);
        if (status == APP_OK && bough_load_case_create(ctx, *body, load_case))
            status = app_fail(ctx);
    }
    if (status == APP_OK)
        status = apply_supports(ctx, o, *load_case);
    if (status == APP_OK && o->has_gravity && bough_load_case_set_gravity(ctx, *load_case, o->gravity))
        status = app_fail(ctx);
    for (int i = 0; i < o->force.count && status == APP_OK; i++)
        status = apply_force(ctx, *load_case, o->force.items[i]);
    for (int i = 0; i < o->pressure.count && status == APP_OK; i++)
        status = apply_pressure(ctx, *load_case, o->pressure.items[i]);
    if (status != APP_OK) {
        bough_load_case_destroy(ctx, *load_case);
        bough_body_destroy(ctx, *body);
        *load_case = NULL;
        *body = NULL;
    }
    return status;
}
