#include "app.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

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
    OPT_JSON
};

#define PATH_SIZE 4096

typedef struct {
    const char *input, *output;
    int32_t threads;
    bool force, json;
    json_t *changes; /* what options say, as members of a component file */
} arguments;

static const struct argp_option options[] = {
    {0, 0, 0, 0, "General:", 1},
    {"output", 'o', "FILE.bough", 0, "default: beside the input, with the extension .bough", 0},
    {"force", OPT_FORCE, 0, 0, "cook also when the output is up to date", 0},
    {"threads", 'j', "N", 0, "threads (default: one per core)", 0},
    {"json", OPT_JSON, 0, 0, "print one JSON object instead of text", 0},
    {0, 0, 0, 0, "Of a mesh, or instead of what the component file says:", 2},
    {"material", 'm', "MODEL", 0, "bough materials lists them (default stvk)", 0},
    {"young", OPT_YOUNG, "PA", 0, "Young's modulus", 0},
    {"poisson", OPT_POISSON, "NU", 0, "Poisson's ratio", 0},
    {"density", OPT_DENSITY, "KG/M3", 0, "density", 0},
    {"fix", 'f', "SELECT", 0, "a root: hold these vertices; may be repeated", 0},
    {"r", OPT_R, "N", 0, "coordinates (default 20; 0: rigid); with --tolerance the most", 0},
    {"kind", OPT_KIND, "WORDS", 0,
     "basis: modes, mass-loaded, derivatives, attachment, craig-bampton, snapshots, columns, joined by +", 0},
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
    case 'j':
        if (!app_parse_int(text, 1, 256, &a->threads))
            argp_error(state, "--threads: \"%s\" should be a number from 1 to 256", text);
        break;
    case OPT_FORCE:
        a->force = true;
        break;
    case OPT_JSON:
        a->json = true;
        break;
    case OPT_INTERFACE:
        set_interface(a, state, text);
        break;
    case 'f':
        add_support(a, text);
        break;
    case ARGP_KEY_ARG:
        if (a->input)
            argp_error(state, "one component file or mesh is enough");
        if (ends_in_bough(text))
            argp_error(state, "%s is cooked already; bough info %s tells what is in it", text, text);
        a->input = text;
        break;
    case ARGP_KEY_END:
        if (!a->input)
            argp_error(state, "name a component file or a mesh");
        break;
    default:
        return parse_setting(key, text, a, state) ? 0 : ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {
    options,
    parse,
    "COMPONENT.json|MESH",
    "Cooks a body: reduces it to a component of few coordinates, and tells how good that is. docs/scene-format.md has "
    "the keys of a component file."
    "\vExamples:\n"
    "  bough cook examples/twig/twig.json -o twig.bough\n"
    "  bough cook twig.json --r 30 --kind modes+derivatives --force\n"
    "  bough cook beam.msh --young 1e7 --interface base=x0 --interface tip=x1\n\n"
    "What is up to date is not cooked again. Ctrl-C keeps the basis in FILE.bough.part; the same command goes on from "
    "there.",
    NULL,
    NULL,
    NULL,
};

/* ---- before the work ---- */

/* Where the component goes, and whether it can; told before minutes are spent. */
static int choose_output(const arguments *a, char output[PATH_SIZE]) {
    const char *input = a->input, *slash = strrchr(input, '/'), *dot = strrchr(input, '.');
    int stem = dot && (!slash || dot > slash + 1) && dot > input ? (int)(dot - input) : (int)strlen(input);
    int length = a->output ? snprintf(output, PATH_SIZE, "%s", a->output)
                           : snprintf(output, PATH_SIZE, "%.*s.bough", stem, input);
    slash = strrchr(output, '/');
    if (length >= PATH_SIZE - 8 || strlen(slash ? slash + 1 : output) > NAME_MAX)
        return app_fail_with("the name of the output is too long");
    struct stat info;
    if (stat(output, &info) == 0 && S_ISDIR(info.st_mode))
        return app_fail_with("%s: is a folder, so no file of that name can be written", output);
    char folder[PATH_SIZE] = ".";
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - output + 1), output);
    return access(folder, W_OK)
               ? app_fail_with("%s: the folder %s cannot be written to: %s", output, folder, strerror(errno))
               : APP_OK;
}

static bough_component *load_if_same(bough_context *ctx, const char *path, uint64_t hash) {
    bough_component *component;
    if (access(path, F_OK) || bough_component_load(ctx, path, &component))
        return NULL; /* not there, damaged, or of another version: cooked anew */
    if (component->input_hash == hash)
        return component;
    bough_component_destroy(ctx, component);
    return NULL;
}

/* ---- after the work ---- */

static json_t *json_times(const double *times) {
    json_t *object = json_object();
    for (int i = 0; i < BOUGH_COOK_PHASE_COUNT; i++)
        json_object_set_new(object, bough_cook_phase_name((bough_cook_phase)i), json_real(times[i]));
    return object;
}

static void report(const arguments *a, const char *path, const bough_component *c, const double *times,
                   double seconds) {
    if (a->json) {
        json_t *object = app_json_component(path, c);
        json_object_set_new(object, "cooked", json_boolean(times != NULL));
        json_object_set_new(object, "seconds", json_real(seconds));
        json_object_set_new(object, "phase_seconds", times ? json_times(times) : json_null());
        app_print_json(object);
        return;
    }
    if (!times) {
        printf("%s: up to date (--force cooks it all the same)\n", path);
        return;
    }
    printf("%s: r = %d, %s, %s, cooked in %.2f s\n", path, c->r, app_elastic_name(c),
           app_size_text((double)c->image_size), seconds);
    app_print_quality(c);
    puts("times");
    for (int i = 0; i < BOUGH_COOK_PHASE_COUNT; i++)
        printf("  %-20s %.2f s\n", bough_cook_phase_name((bough_cook_phase)i), times[i]);
}

/* before: what was there when cooking began; zeros: nothing. */
static int fail_cooking(bough_context *ctx, bough_status status, const char *part, const struct stat *before) {
    struct stat now;
    if (status != BOUGH_CANCELLED)
        return app_fail(ctx);
    if (stat(part, &now))
        return app_fail_with("interrupted before there was anything to keep");
    if (now.st_ino == before->st_ino && now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == before->st_mtim.tv_nsec)
        return app_fail_with("interrupted before there was anything to keep; %s is of an earlier run", part);
    return app_fail_with("interrupted; %s keeps the basis, and the same command goes on from there", part);
}

static int cook(bough_context *ctx, const arguments *a, bough_cook_job *job, const char *output) {
    char part[PATH_SIZE];
    double times[BOUGH_COOK_PHASE_COUNT] = {0}, began = app_seconds();
    bough_component *component;
    snprintf(part, sizeof part, "%.4080s.part", output);
    if (bough_cook_job_set_resume_path(ctx, job, part))
        return app_fail(ctx);
    struct stat before = {0};
    if (stat(part, &before))
        before = (struct stat){0};
    bough_status cooked = bough_cook_job_run(ctx, job, times, &component);
    app_clear_progress();
    if (cooked)
        return fail_cooking(ctx, cooked, part, &before);
    int status = bough_component_save(ctx, component, output) ? app_fail(ctx) : APP_OK;
    if (status == APP_OK)
        report(a, output, component, times, app_seconds() - began);
    bough_component_destroy(ctx, component);
    return status;
}

static int cook_file(bough_context *ctx, const arguments *a, const char *output) {
    char *changes = json_dumps(a->changes, JSON_REAL_PRECISION(17));
    bough_cook_job *job;
    bough_status loaded = bough_cook_job_load(ctx, a->input, changes, &job);
    free(changes);
    app_clear_progress();
    if (loaded)
        return loaded == BOUGH_CANCELLED ? app_fail_with("interrupted before there was anything to keep")
                                         : app_fail(ctx);
    bough_component *same = a->force ? NULL : load_if_same(ctx, output, bough_cook_job_def(job)->input_hash);
    int status = APP_OK;
    if (same)
        report(a, output, same, NULL, 0);
    else
        status = cook(ctx, a, job, output);
    if (same)
        bough_component_destroy(ctx, same);
    bough_cook_job_destroy(ctx, job);
    return status;
}

int command_cook(int argc, char **argv) {
    arguments a = {.changes = json_object()};
    argp_parse(&parser, argc, argv, 0, NULL, &a);
    char output[PATH_SIZE];
    int status = choose_output(&a, output);
    if (status == APP_OK) {
        bough_context *ctx = app_context(a.threads);
        status = cook_file(ctx, &a, output);
        bough_context_destroy(ctx);
    }
    json_decref(a.changes);
    return status;
}
