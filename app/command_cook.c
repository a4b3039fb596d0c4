#include "app.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    OPT_FORCE = 300,
    OPT_R,
    OPT_KIND,
    OPT_TOLERANCE,
    OPT_MODES,
    OPT_KEEP_BOUNDARY,
    OPT_ELASTIC,
    OPT_ELASTIC_TOLERANCE,
    OPT_POINTS,
    OPT_SEED,
    OPT_INTERFACE,
    OPT_PARENT,
    OPT_WIND,
    OPT_CONTACT,
    OPT_STRESS,
    OPT_INT16,
    OPT_KEEP_VOLUME,
    OPT_YOUNG,
    OPT_POISSON,
    OPT_DENSITY,
    OPT_QUALITY,
    OPT_JSON = 'j'
};

typedef struct {
    const char *input, *output;
    int32_t threads;
    bool force, json;
    bough_grade grade;
    json_t *changes; /* what options say, as members of a component file */
} arguments;

static const struct argp_option options[] = {
    {0, 0, 0, 0, "General:", 1},
    {"output", 'o', "FILE.bough", 0, "default: beside the input, with the extension .bough", 0},
    {"force", OPT_FORCE, 0, 0, "cook also when the output is up to date", 0},
    {"quality", OPT_QUALITY, "good|fair", 0,
     "raise r, and lower the cubature's tolerance, until every verdict is so, or say what else is the reason", 0},
    APP_OPTION_THREADS('t'),
    APP_OPTION_JSON(OPT_JSON),
    {0, 0, 0, 0, "Of a mesh, or instead of what the component file says:", 2},
    {"material", 'm', "MODEL", 0, "bough materials lists them (default stvk)", 0},
    {"young", OPT_YOUNG, "PA", 0, "Young's modulus", 0},
    {"poisson", OPT_POISSON, "NU", 0, "Poisson's ratio", 0},
    {"density", OPT_DENSITY, "KG/M3", 0, "density", 0},
    {"fix", 'f', "SELECT", 0, "a root: hold these vertices; may be repeated", 0},
    {"r", OPT_R, "N", 0, "coordinates (default 20; 0: rigid); with --tolerance the most", 0},
    {"kind", OPT_KIND, "WORDS", 0,
     "basis: modes, mass-loaded, derivatives, wrenches, attachment, craig-bampton, snapshots, columns, joined by +", 0},
    {"tolerance", OPT_TOLERANCE, "T", 0, "as many coordinates as keep the basis error below T", 0},
    {"modes", OPT_MODES, "N", 0, "vibration modes among the candidates (default: half of r)", 0},
    {"keep-boundary", OPT_KEEP_BOUNDARY, 0, 0, "keep boundary modes exactly", 0},
    {"elastic", OPT_ELASTIC, "KIND", 0, "polynomial, linear or cubature (default: by the material)", 0},
    {"elastic-tolerance", OPT_ELASTIC_TOLERANCE, "T", 0, "force error of the cubature", 0},
    {"points", OPT_POINTS, "N", 0, "most cubature points", 0},
    {"seed", OPT_SEED, "N", 0, "of the random poses", 0},
    {"interface", OPT_INTERFACE, "NAME=SELECT", 0, "where something can be attached; may be repeated", 0},
    {"parent", OPT_PARENT, "NAME", 0, "interface by which it hangs (default: base, when nothing is fixed)", 0},
    {"wind", OPT_WIND, "N", 0, "points that feel the wind, 0 to 32", 0},
    {"contact", OPT_CONTACT, "N", 0, "points that may touch something, 0 to 500", 0},
    {"stress", OPT_STRESS, "N", 0, "points whose stress is recovered, 0 to 64", 0},
    {"int16", OPT_INT16, 0, 0, "the surface's basis in 16 bits", 0},
    {"keep-volume", OPT_KEEP_VOLUME, 0, 0, "keep volume mesh and whole basis for comparisons", 0},
    {0},
};

/* ---- options become members ---- */

static void set_member(arguments *a, const char *block, const char *key, json_t *value) {
    json_t *object = block ? json_object_get(a->changes, block) : a->changes;
    if (!object)
        json_object_set_new(a->changes, block, object = json_object());
    json_object_set_new(object, key, value);
}

static void set_integer(arguments *a, struct argp_state *state, const char *option, const char *text, const char *block,
                        const char *key) {
    int32_t value;
    if (!app_parse_int(text, 0, INT32_MAX, &value))
        argp_error(state, "--%s: \"%s\" should be a whole number that is not negative", option, text);
    set_member(a, block, key, json_integer(value));
}

static void set_number(arguments *a, struct argp_state *state, const char *option, const char *text, const char *block,
                       const char *key) {
    double value;
    if (!app_parse_numbers(text, 1, &value))
        argp_error(state, "--%s: \"%s\" is not a number", option, text);
    set_member(a, block, key, json_real(value));
}

static void set_interface(arguments *a, struct argp_state *state, const char *text) {
    const char *sign = strchr(text, '=');
    char name[256];
    if (!sign || sign == text || !sign[1] || (size_t)(sign - text) >= sizeof name)
        argp_error(state, "--interface: \"%s\" should be NAME=SELECT, for example tip=x>0.99", text);
    snprintf(name, sizeof name, "%.*s", (int)(sign - text), text);
    json_t *valid = json_string(name);
    if (!valid)
        argp_error(state, "--interface: the name in \"%s\" is not UTF-8", text);
    json_decref(valid);
    set_member(a, "interfaces", name, json_pack("{s:o}", "select", app_json_text(sign + 1)));
}

static void add_support(arguments *a, const char *select) {
    if (!json_object_get(a->changes, "fix"))
        set_member(a, NULL, "fix", json_array());
    json_array_append_new(json_object_get(a->changes, "fix"), app_json_text(select));
}

static bool parse_setting(int key, const char *text, arguments *a, struct argp_state *state) {
    static const struct {
        int option;
        const char *name, *block, *key;
        void (*set)(arguments *, struct argp_state *, const char *, const char *, const char *, const char *);
    } numbers[] = {
        {OPT_YOUNG, "young", "material", "young", set_number},
        {OPT_POISSON, "poisson", "material", "poisson", set_number},
        {OPT_DENSITY, "density", "material", "density", set_number},
        {OPT_R, "r", "basis", "r", set_integer},
        {OPT_TOLERANCE, "tolerance", "basis", "tolerance", set_number},
        {OPT_MODES, "modes", "basis", "modes", set_integer},
        {OPT_ELASTIC_TOLERANCE, "elastic-tolerance", "elastic", "tolerance", set_number},
        {OPT_POINTS, "points", "elastic", "points", set_integer},
        {OPT_SEED, "seed", "elastic", "seed", set_integer},
        {OPT_WIND, "wind", "samples", "wind", set_integer},
        {OPT_CONTACT, "contact", "samples", "contact", set_integer},
        {OPT_STRESS, "stress", "samples", "stress", set_integer},
    };
    static const struct {
        int option;
        const char *block, *key;
    } others[] = {
        {OPT_KIND, "basis", "kind"},
        {OPT_KEEP_BOUNDARY, "basis", "keep_boundary"},
        {OPT_ELASTIC, "elastic", "kind"},
        {OPT_INT16, "surface", "int16"},
        {OPT_KEEP_VOLUME, NULL, "keep_volume"},
        {OPT_PARENT, NULL, "parent"},
        {'m', "material", "model"},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].option == key) {
            numbers[i].set(a, state, numbers[i].name, text, numbers[i].block, numbers[i].key);
            return true;
        }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].option == key) {
            set_member(a, others[i].block, others[i].key, text ? app_json_text(text) : json_true());
            return true;
        }
    return false;
}

static bool ends_in_bough(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ".bough") == 0;
}

static error_t parse(int key, char *text, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case 'o':
        app_need_extension(state, "output", text, ".bough");
        a->output = text;
        break;
    case 't':
        app_need_threads(state, text, &a->threads);
        break;
    case OPT_FORCE:
        a->force = true;
        break;
    case OPT_JSON:
        a->json = true;
        break;
    case OPT_QUALITY:
        if (strcmp(text, "good") && strcmp(text, "fair"))
            argp_error(state, "--quality: \"%s\" should be good or fair", text);
        a->grade = strcmp(text, "good") ? BOUGH_GRADE_FAIR : BOUGH_GRADE_GOOD;
        break;
    case OPT_INTERFACE:
        set_interface(a, state, text);
        break;
    case 'f':
        add_support(a, text);
        break;
    case ARGP_KEY_ARG:
        if (a->input)
            argp_error(state, "one file is enough");
        if (ends_in_bough(text))
            argp_error(state, "%s is cooked already; bough info %s tells what is in it", text, text);
        a->input = text;
        break;
    case ARGP_KEY_END:
        if (!a->input)
            argp_error(state, "name a component file, a mesh or a scene");
        break;
    default:
        return parse_setting(key, text, a, state) ? 0 : ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {
    options,
    parse,
    "COMPONENT.json|MESH|SCENE.json",
    "Cooks a body: reduces it to a component of few coordinates, and tells how good that is. Of a scene, all "
    "components "
    "are cooked, side by side, into the folder SCENE.cooked. docs/scene-format.md has the keys of the files."
    "\vExamples:\n"
    "  bough cook examples/twig/twig.json -o twig.bough\n"
    "  bough cook twig.json --r 30 --kind modes+derivatives --force\n"
    "  bough cook beam.msh --young 1e7 --interface base=x0 --interface tip=x1\n"
    "  bough cook examples/y-tree/scene.json -t 2\n"
    "  bough cook examples/y-tree/scene.json --quality good\n\n"
    "What is up to date is not cooked again. Ctrl-C keeps finished components, and the basis of others in "
    "FILE.bough.part; the same command goes on from there.",
    NULL,
    NULL,
    NULL,
};

static int cook(bough_context *ctx, const arguments *a) {
    char *changes = json_object_size(a->changes) ? json_dumps(a->changes, JSON_REAL_PRECISION(17)) : NULL;
    bough_cook_plan *plan;
    bough_status loaded = bough_cook_plan_load(ctx, a->input, changes, a->output, &plan);
    free(changes);
    app_clear_progress();
    if (loaded == BOUGH_CANCELLED)
        return app_fail_with("interrupted before there was anything to keep");
    if (loaded)
        return app_fail(ctx);
    bough_cook_plan_set_grade(plan, a->grade);
    int status = app_cook(ctx, plan, a->force, a->json);
    bough_cook_plan_destroy(ctx, plan);
    return status;
}

int command_cook(int argc, char **argv) {
    arguments a = {.changes = json_object()};
    app_parse(&parser, argc, argv, &a);
    bough_context *ctx = app_context(a.threads);
    int status = cook(ctx, &a);
    bough_context_destroy(ctx);
    json_decref(a.changes);
    return status;
}
