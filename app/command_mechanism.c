#include "app.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_DYNAMICS = 300, OPT_METHOD, OPT_NPY, OPT_STEPS, OPT_JSON = 'j', OPT_THREADS = 't' };
enum { FREQUENCIES = 6 };

typedef struct {
    const char *action, *path, *dynamics, *npy, *output;
    bough_mechanism_method method;
    app_list choices;
    int32_t frequencies, steps, threads;
    bool json;
} arguments;

static const struct argp_option options[] = {
    {"dynamics", OPT_DYNAMICS, "FILE.json", 0,
     "what URDF cannot say: stiffness of the joints, end effectors (default: ROBOT.dynamics.json beside ROBOT.urdf)",
     0},
    {"end-effectors", 'e', "A,B,...", 0,
     "links to reduce to, or all; reduce: one choice each time it is given, A,B+N with N internal modes (auto: as many "
     "as are needed) of what is "
     "between them (default: those of the file)",
     0},
    {"method", OPT_METHOD, "METHOD", 0, "of statics: exact (default) or recursive", 0},
    {"frequencies", 'n', "N", 0, "info: how many of the lowest frequencies (default 6)", 0},
    {"npy", OPT_NPY, "FILE.npy", 0, "compliance: write the matrix for NumPy", 0},
    {"output", 'o', "FILE", 0, "reduce: write the reduced model as .npz or .json, for use elsewhere", 0},
    {"steps", OPT_STEPS, "N", 0, "reduce: steps that are timed (default 1000; 0: none)", 0},
    APP_OPTION_THREADS(OPT_THREADS),
    APP_OPTION_JSON(OPT_JSON),
    {0},
};

static void take_word(struct argp_state *state, arguments *a, const char *text) {
    static const char *const actions[] = {"info", "compliance", "reduce"};
    if (a->action && a->path)
        argp_error(state, "one file is enough");
    if (a->action) {
        a->path = text;
        return;
    }
    for (int k = 0; k < 3; k++)
        if (!strcmp(text, actions[k]))
            a->action = actions[k];
    if (!strcmp(text, "run"))
        argp_error(state, "run comes first, and its options after it: bough mechanism run FILE [OPTION...]");
    if (!a->action)
        argp_error(state, "\"%s\" should be info, compliance, reduce or run", text);
}

static void check_together(struct argp_state *state, const arguments *a) {
    if (!a->action || !a->path)
        argp_error(state, a->action ? "name a scene of a mechanism or a .urdf file"
                                    : "say what to do: info, compliance, reduce or run");
    const bool reduces = !strcmp(a->action, "reduce");
    if (a->output && !reduces)
        argp_error(state, "--output is for reduce");
    if (a->npy && strcmp(a->action, "compliance") != 0)
        argp_error(state, "--npy is for compliance");
    if (a->choices.count > 1 && (!reduces || a->output))
        argp_error(state, "--end-effectors: one choice is enough %s",
                   reduces ? "where --output writes a model" : "here; reduce compares several");
    if ((a->output && app_is_same_file(a->output, a->path)) || (a->npy && app_is_same_file(a->npy, a->path)) ||
        (a->output && a->dynamics && app_is_same_file(a->output, a->dynamics)))
        argp_error(state, "what is written would go over a file that is read; give it another name");
}

static error_t parse(int key, char *text, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case OPT_DYNAMICS:
        a->dynamics = text;
        break;
    case 'e':
        if (a->choices.count == (int)(sizeof a->choices.items / sizeof *a->choices.items))
            argp_error(state, "--end-effectors: %d choices are enough", a->choices.count);
        a->choices.items[a->choices.count++] = text;
        break;
    case OPT_METHOD:
        if (strcmp(text, "exact") != 0 && strcmp(text, "recursive") != 0)
            argp_error(state, "--method: \"%s\" should be exact or recursive", text);
        a->method = text[0] == 'e' ? BOUGH_MECHANISM_EXACT : BOUGH_MECHANISM_RECURSIVE;
        break;
    case 'n':
        if (!app_parse_int(text, 1, 1000, &a->frequencies))
            argp_error(state, "--frequencies: \"%s\" should be a number from 1 to 1000", text);
        break;
    case OPT_STEPS:
        if (!app_parse_int(text, 0, 1000000, &a->steps))
            argp_error(state, "--steps: \"%s\" should be a number from 0 to 1000000", text);
        break;
    case OPT_NPY:
        app_need_extension(state, "npy", text, ".npy");
        a->npy = text;
        break;
    case 'o':
        if (!app_has_extension(text, ".npz") && !app_has_extension(text, ".json"))
            argp_error(state, "--output: \"%s\" should be a file whose name ends in .npz or .json", text);
        a->output = text;
        break;
    case OPT_THREADS:
        app_need_threads(state, text, &a->threads);
        break;
    case OPT_JSON:
        a->json = true;
        break;
    case ARGP_KEY_ARG:
        take_word(state, a, text);
        break;
    case ARGP_KEY_END:
        check_together(state, a);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {
    options,
    parse,
    "info|compliance|reduce|run SCENE.json|ROBOT.urdf",
    "Mechanisms: rigid links with springs in their joints, reduced to their end effectors. docs/mechanisms.md."
    "\vinfo        links, joints, loops, masses, frequencies\n"
    "compliance  how end effectors move by forces and torques at them\n"
    "reduce      what choices of end effectors keep of the mechanism, and what they cost\n"
    "run         through time: bough run, with all its options\n\n"
    "Examples:\n"
    "  bough mechanism info examples/urdf-arm/arm.urdf\n"
    "  bough mechanism compliance arm.urdf --dynamics springs.json --end-effectors tool --npy C.npy\n"
    "  bough mechanism reduce arm.urdf -e forearm -e forearm+2 -e tool -e all\n"
    "  bough mechanism reduce arm.urdf -e tool -o arm.npz\n"
    "  bough mechanism run arm.urdf --time 2 --record arm.csv",
    NULL,
    NULL,
    NULL};

static const char *const axes[6] = {"x", "y", "z", "rx", "ry", "rz"};

/* ---- statics and models ---- */

static bough_status find_statics(bough_context *ctx, const app_mechanism *m, const app_effectors *chosen,
                                 bough_mechanism_method method, bough_mechanism_statics **statics) {
    bough_mechanism_statics_def def = bough_default_mechanism_statics_def();
    def.method = method;
    def.end_effector_count = chosen->count, def.end_effectors = chosen->at;
    return bough_mechanism_statics_create(ctx, m->mechanism, &def, statics);
}

static bough_status find_model(bough_context *ctx, const app_mechanism *m, const app_effectors *chosen,
                               bough_mechanism_method method, int32_t modes, bough_mechanism_model **model) {
    bough_mechanism_model_def def = bough_default_mechanism_model_def();
    bough_mechanism_statics *statics;
    def.internal_modes = modes;
    bough_status status = find_statics(ctx, m, chosen, method, &statics);
    if (status != BOUGH_OK)
        return status;
    status = bough_mechanism_model_create(ctx, m->mechanism, statics, &def, model);
    bough_mechanism_statics_destroy(ctx, statics);
    return status;
}

/* With radians made into metres: a rotation moves what is a radius away. */
static double scaled(const bough_mechanism_model *model, const double *C, int32_t i, int32_t j) {
    const double length = model->radius;
    return C[(size_t)i * (size_t)(6 * model->end_effector_count) + (size_t)j] * (i % 6 < 3 ? 1 / length : 1) *
           (j % 6 < 3 ? 1 / length : 1);
}

/* A coordinate that no wrench moves. */
static bool is_rigid(const bough_mechanism_model *model, int32_t i) {
    const double most = model->rank ? model->compliances[0] : 0;
    return scaled(model, model->C, i, i) <= 1e-8 * most;
}

/* Those that are rigid of an end effector: "x, rz", and how many there are. */
static int name_rigid(const bough_mechanism_model *model, int32_t effector, char *text, size_t size) {
    int count = 0;
    size_t used = 0;
    text[0] = 0;
    for (int k = 0; k < 6; k++)
        if (is_rigid(model, 6 * effector + k)) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", count ? ", " : "", axes[k]);
            count++;
        }
    return count;
}

/* Combinations of coordinates that cannot move, beside single ones: what is orthogonal to all directions that can, with
 * radians made into metres. From the coordinates that are left over most, so that few take part in each. vectors: of n
 * numbers each; returns how many there are, at most COMBINATIONS. */
enum { COMBINATION_SIZE = 72, COMBINATIONS = 12 };

static void take_out(int32_t n, int32_t count, double (*basis)[COMBINATION_SIZE], double *x) {
    for (int pass = 0; pass < 2; pass++)
        for (int32_t b = 0; b < count; b++) {
            double along = 0;
            for (int32_t i = 0; i < n; i++)
                along += basis[b][i] * x[i];
            for (int32_t i = 0; i < n; i++)
                x[i] -= along * basis[b][i];
        }
}

static double make_unit(int32_t n, double *x) {
    double length = 0;
    for (int32_t i = 0; i < n; i++)
        length += x[i] * x[i];
    length = sqrt(length);
    for (int32_t i = 0; i < n && length > 0; i++)
        x[i] /= length;
    return length;
}

static int combine_rigid(const bough_mechanism_model *model, double (*vectors)[COMBINATION_SIZE]) {
    const int32_t n = 6 * model->end_effector_count;
    static double basis[COMBINATION_SIZE][COMBINATION_SIZE];
    int32_t used = 0;
    int count = 0;
    if (n > COMBINATION_SIZE)
        return 0; /* nobody would read them */
    for (int32_t k = 0; k < model->rank; k++, used++) {
        for (int32_t i = 0; i < n; i++)
            basis[used][i] = model->Q[i * model->rank + k] / (i % 6 < 3 ? model->radius : 1);
        take_out(n, used, basis, basis[used]);
        make_unit(n, basis[used]);
    }
    for (int32_t i = 0; i < n && used < n; i++)
        if (is_rigid(model, i)) {
            memset(basis[used], 0, sizeof basis[used]);
            basis[used++][i] = 1;
        }
    while (used < n) {
        double best[COMBINATION_SIZE] = {0}, longest = 0;
        for (int32_t i = 0; i < n; i++) {
            double x[COMBINATION_SIZE] = {0};
            x[i] = 1;
            take_out(n, used, basis, x);
            const double length = make_unit(n, x);
            if (length > longest + 1e-9)
                longest = length, memcpy(best, x, sizeof best);
        }
        memcpy(basis[used++], best, sizeof best);
        if (count < COMBINATIONS)
            memcpy(vectors[count++], best, sizeof best);
    }
    return count;
}

static void print_combinations(const app_effectors *chosen, const bough_mechanism_model *model) {
    double vectors[COMBINATIONS][COMBINATION_SIZE];
    const int count = combine_rigid(model, vectors);
    for (int k = 0; k < count; k++) {
        printf("  cannot move along");
        for (int32_t i = 0, first = 1; i < 6 * model->end_effector_count; i++)
            if (fabs(vectors[k][i]) > 5e-4) {
                printf(" %s%.3f %s.%s",
                       first               ? ""
                       : vectors[k][i] < 0 ? "- "
                                           : "+ ",
                       first ? vectors[k][i] : fabs(vectors[k][i]), chosen->effectors[i / 6].name, axes[i % 6]);
                first = 0;
            }
        printf(k ? "\n" : ", with angles times %.4g m\n", model->radius);
    }
}

/* ---- info ---- */

typedef struct {
    int kinds[BOUGH_JOINT_KIND_COUNT];
    int32_t freedoms, limited;
    double mass;
    int32_t found;
    double frequencies[1000];
    double error, error_with_modes; /* of the lowest frequency when reduced; NAN: not known */
    int32_t modes;                  /* that a run would add by itself */
} facts;

static int find_facts(bough_context *ctx, const app_mechanism *m, int32_t count, facts *f) {
    const bough_mechanism_def *def = bough_mechanism_describe(m->mechanism);
    *f = (facts){.error = NAN, .error_with_modes = NAN, .freedoms = bough_mechanism_coordinate_count(m->mechanism)};
    for (int32_t j = 0; j < def->joint_count; j++) {
        const bough_joint_def *joint = &def->joints[j];
        bool limited = false;
        for (int k = 0; k < bough_joint_freedoms(joint->kind); k++)
            limited = limited || isfinite(joint->lower[k]) || isfinite(joint->upper[k]);
        f->kinds[joint->kind]++;
        f->limited += limited;
    }
    for (int32_t i = 0; i < def->link_count; i++)
        f->mass += def->links[i].mass;
    return bough_mechanism_frequencies(ctx, m->mechanism, count, f->frequencies, &f->found) ? app_fail(ctx) : APP_OK;
}

static const char *link_name(const bough_mechanism_def *def, int32_t link) {
    return def->links[link].name && def->links[link].name[0] ? def->links[link].name : "(no name)";
}

static void print_info(const app_mechanism *m, const app_effectors *chosen, const bough_mechanism_model *model,
                       const facts *f) {
    const bough_mechanism_def *def = bough_mechanism_describe(m->mechanism);
    if (m->urdf)
        printf("name             %s\n", m->urdf->name);
    printf("links            %d, %.6g kg%s\n", def->link_count, f->mass,
           def->free_base || !(def->links[def->base].mass > 0) ? "" : ", of which the base does not move");
    printf("base             %s, %s\n", link_name(def, def->base), def->free_base ? "free" : "held");
    printf("joints           %d:", def->joint_count);
    static const bough_joint_kind order[] = {BOUGH_JOINT_HINGE, BOUGH_JOINT_PRISMATIC, BOUGH_JOINT_UNIVERSAL,
                                             BOUGH_JOINT_BALL, BOUGH_JOINT_COMPLIANT};
    for (size_t k = 0, first = 1; k < sizeof order / sizeof *order; k++)
        if (f->kinds[order[k]])
            printf("%s %d %s", first ? "" : ",", f->kinds[order[k]], bough_joint_name(order[k])), first = 0;
    printf("; %d with limits\n", f->limited);
    printf("coordinates      %d, loops %d\n", f->freedoms, bough_mechanism_loop_count(m->mechanism));
    printf("radius           %.6g m\n", bough_mechanism_radius(m->mechanism));
    printf("end effectors    %d, which move in %d of %d directions\n", chosen->count, model ? model->rank : 0,
           6 * chosen->count);
    for (int32_t k = 0; k < chosen->count; k++) {
        char rigid[64];
        const int count = name_rigid(model, k, rigid, sizeof rigid);
        printf("  %-20s on %s%s%s\n", chosen->effectors[k].name, link_name(def, chosen->at[k].body),
               count ? "; cannot move along or about its " : "", rigid);
    }
    if (model && !isnan(f->error)) {
        printf("reduced          lowest frequency %.3g %% above that of the whole", 100 * fmax(0, f->error));
        if (f->modes > 0)
            printf("; %d internal mode%s, which a run adds by itself, make%s that %.2g %%", f->modes,
                   f->modes > 1 ? "s" : "", f->modes > 1 ? "" : "s", 100 * fmax(0, f->error_with_modes));
        putchar('\n');
    }
    printf("frequencies      ");
    for (int32_t k = 0; k < f->found; k++)
        printf("%s%.6g", k ? ", " : "", f->frequencies[k]);
    puts(" Hz");
}

static json_t *json_effectors(const app_effectors *chosen, const bough_mechanism_def *def) {
    json_t *list = json_array();
    for (int32_t k = 0; k < chosen->count; k++)
        json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "name", app_json_text(chosen->effectors[k].name),
                                              "link", app_json_text(link_name(def, chosen->at[k].body)), "position",
                                              app_json_numbers(chosen->at[k].pose.position, 3)));
    return list;
}

static void print_info_json(const app_mechanism *m, const app_effectors *chosen, const bough_mechanism_model *model,
                            const facts *f) {
    const bough_mechanism_def *def = bough_mechanism_describe(m->mechanism);
    json_t *links = json_array(), *joints = json_array();
    for (int32_t i = 0; i < def->link_count; i++)
        json_array_append_new(links, json_pack("{s:o, s:f, s:o}", "name", app_json_text(link_name(def, i)), "mass",
                                               def->links[i].mass, "position",
                                               app_json_numbers(def->links[i].pose.position, 3)));
    for (int32_t j = 0; j < def->joint_count; j++) {
        const bough_joint_def *joint = &def->joints[j];
        json_array_append_new(
            joints,
            json_pack("{s:o, s:s, s:o, s:o, s:o, s:o}", "name", app_json_text(joint->name ? joint->name : ""), "kind",
                      bough_joint_name(joint->kind), "parent", app_json_text(link_name(def, joint->parent.body)),
                      "child", app_json_text(link_name(def, joint->child.body)), "stiffness",
                      joint->compliance ? json_null()
                                        : app_json_numbers(joint->stiffness, bough_joint_freedoms(joint->kind)),
                      "damping", app_json_numbers(joint->damping, bough_joint_freedoms(joint->kind))));
    }
    app_print_json(json_pack(
        "{s:o, s:o, s:o, s:b, s:i, s:i, s:f, s:f, s:i, s:o, s:o, s:o, s:i, s:o}", "links", links, "joints", joints,
        "base", app_json_text(link_name(def, def->base)), "free_base", (int)def->free_base, "coordinates",
        (int)f->freedoms, "loops", (int)bough_mechanism_loop_count(m->mechanism), "mass", f->mass, "radius",
        bough_mechanism_radius(m->mechanism), "rank", model ? (int)model->rank : 0, "end_effectors",
        json_effectors(chosen, def), "frequencies_hz", app_json_numbers(f->frequencies, f->found), "frequency_error",
        app_json_number(f->error), "automatic_modes", (int)f->modes, "frequency_error_with_modes",
        app_json_number(f->error_with_modes)));
}

/* Finds the internal modes that a run would add for the lowest frequency. */
static bough_status find_modes(bough_context *ctx, const app_mechanism *m, const app_effectors *chosen,
                               bough_mechanism_method method, const bough_mechanism_model *plain, facts *f) {
    bough_mechanism_model *model;
    bough_status status = bough_mechanism_model_frequency_error(ctx, m->mechanism, plain, &f->error);
    if (status == BOUGH_OK)
        status = find_model(ctx, m, chosen, method, BOUGH_INTERNAL_AUTOMATIC, &model);
    if (status != BOUGH_OK)
        return status;
    f->modes = model->internal_count, f->error_with_modes = model->frequency_error;
    bough_mechanism_model_destroy(ctx, model);
    return BOUGH_OK;
}

static int show_info(bough_context *ctx, const app_mechanism *m, const app_effectors *chosen, const arguments *a) {
    bough_mechanism_model *model = NULL;
    static facts f;
    int status = find_facts(ctx, m, a->frequencies, &f);
    if (status == APP_OK && chosen->count > 0 &&
        (find_model(ctx, m, chosen, a->method, 0, &model) || find_modes(ctx, m, chosen, a->method, model, &f)))
        status = app_fail(ctx);
    if (status == APP_OK && a->json)
        print_info_json(m, chosen, model, &f);
    else if (status == APP_OK)
        print_info(m, chosen, model, &f);
    bough_mechanism_model_destroy(ctx, model);
    return status;
}

/* ---- compliance ---- */

/* Returns the largest difference of two matrices, scaled, over the largest number of the first. */
static double difference(const bough_mechanism_model *model, const double *A, const double *B) {
    double most = 0, off = 0;
    for (int32_t i = 0; i < 6 * model->end_effector_count; i++)
        for (int32_t j = 0; j < 6 * model->end_effector_count; j++) {
            most = fmax(most, fabs(scaled(model, A, i, j)));
            off = fmax(off, fabs(scaled(model, A, i, j) - scaled(model, B, i, j)));
        }
    return most > 0 ? off / most : 0;
}

/* off: NAN where the other method cannot do it, and why. */
static void print_compliance(const app_effectors *chosen, const bough_mechanism_model *model, double off,
                             const char *why_not) {
    const size_t n = 6 * (size_t)chosen->count;
    int32_t named = 0;
    for (int32_t e = 0; e < chosen->count; e++) {
        printf("%s: m and rad by 1 N and 1 N m, in its own axes\n    ", chosen->effectors[e].name);
        for (int k = 0; k < 6; k++)
            printf(" %12s%s", k < 3 ? "f" : "t", axes[k % 3]);
        putchar('\n');
        for (size_t i = 0; i < 6; i++) {
            printf("%4s", axes[i]);
            for (size_t j = 0; j < 6; j++)
                printf(" %13.6g", model->C[n * (6 * (size_t)e + i) + 6 * (size_t)e + j]);
            putchar('\n');
        }
    }
    printf("directions that give way: %d of %d", model->rank, 6 * chosen->count);
    if (model->rank)
        printf("; the stiffest is %.3g times as stiff as the softest",
               model->compliances[0] / model->compliances[model->rank - 1]);
    putchar('\n');
    for (int32_t e = 0; e < chosen->count; e++) {
        char rigid[64];
        const int count = name_rigid(model, e, rigid, sizeof rigid);
        named += count;
        if (count)
            printf("  %s cannot move along or about its %s\n", chosen->effectors[e].name, rigid);
    }
    if (6 * chosen->count - model->rank > named)
        print_combinations(chosen, model);
    if (isnan(off))
        printf("the two methods cannot be compared: %s\n", why_not);
    else
        printf("exact and recursive differ by %.2g of the largest compliance\n", off);
    if (chosen->count > 1)
        puts("How end effectors move each other: --json or --npy FILE");
}

static void print_compliance_json(const app_effectors *chosen, const bough_mechanism_model *model, double off,
                                  const arguments *a) {
    const int32_t n = 6 * chosen->count;
    json_t *rows = json_array(), *names = json_array(), *rigid = json_array(), *combined = json_array();
    double vectors[COMBINATIONS][COMBINATION_SIZE];
    const int count = combine_rigid(model, vectors);
    for (int k = 0; k < count; k++)
        json_array_append_new(combined, app_json_numbers(vectors[k], n));
    for (int32_t i = 0; i < n; i++) {
        json_array_append_new(rows, app_json_numbers(model->C + (size_t)i * (size_t)n, n));
        if (is_rigid(model, i))
            json_array_append_new(rigid,
                                  json_pack("[o, s]", app_json_text(chosen->effectors[i / 6].name), axes[i % 6]));
    }
    for (int32_t e = 0; e < chosen->count; e++)
        json_array_append_new(names, app_json_text(chosen->effectors[e].name));
    app_print_json(json_pack("{s:o, s:s, s:o, s:i, s:f, s:o, s:o, s:o, s:o}", "end_effectors", names, "method",
                             a->method == BOUGH_MECHANISM_EXACT ? "exact" : "recursive", "compliance", rows, "rank",
                             (int)model->rank, "radius", model->radius, "scaled_compliances",
                             app_json_numbers(model->compliances, model->rank), "rigid", rigid, "rigid_combinations",
                             combined, "difference_of_methods", app_json_number(off)));
}

static int show_compliance(bough_context *ctx, const app_mechanism *m, const app_effectors *chosen,
                           const arguments *a) {
    bough_mechanism_model *model = NULL;
    bough_mechanism_statics *other = NULL;
    const bool exact = a->method == BOUGH_MECHANISM_EXACT;
    if (chosen->count == 0)
        return app_fail_with("the mechanism has no end effectors; name some by --end-effectors");
    int status = find_model(ctx, m, chosen, a->method, 0, &model) ? app_fail(ctx) : APP_OK;
    if (status == APP_OK) {
        double off = NAN;
        if (!find_statics(ctx, m, chosen, exact ? BOUGH_MECHANISM_RECURSIVE : BOUGH_MECHANISM_EXACT, &other))
            off = difference(model, exact ? model->C : other->C, exact ? other->C : model->C);
        if (a->json)
            print_compliance_json(chosen, model, off, a);
        else
            print_compliance(chosen, model, off, bough_message(ctx));
        if (a->npy && bough_npy_write(ctx, a->npy, 6 * chosen->count, 6 * chosen->count, model->C))
            status = app_fail(ctx);
    }
    bough_mechanism_statics_destroy(ctx, other);
    bough_mechanism_model_destroy(ctx, model);
    return status;
}

/* ---- reduce ---- */

/* Differences that rounding explains become 0. */
static double percent(double fraction) {
    return fabs(fraction) < 1e-10 ? 0 : 100 * fraction;
}

static double frequency_error(const bough_mechanism_detail *d) {
    return d->frequency_count > 0 && d->full[0] > 0 ? d->frequencies[0] / d->full[0] - 1 : NAN;
}

static void print_details(const app_effectors *chosen, const bough_mechanism_detail *details, int count) {
    printf("                                                   lowest frequency (Hz)          statics off by       "
           "step\n");
    printf("end effectors                size   rank   memory    reduced      whole    off by    rms      worst    "
           "(us)\n");
    for (int k = 0; k < count; k++) {
        const bough_mechanism_detail *d = &details[k];
        char names[64] = "";
        size_t used = 0;
        for (int32_t e = 0; e < chosen[k].count && used < sizeof names; e++)
            used +=
                (size_t)snprintf(names + used, sizeof names - used, "%s%s", e ? "," : "", chosen[k].effectors[e].name);
        if (chosen[k].modes && used < sizeof names)
            snprintf(names + used, sizeof names - used, "+%d", d->internal_modes);
        printf("%-26.26s%s %5d  %5d %8s %10.5g %10.5g %7.3g %% %6.3g %% %6.3g %% %7.3g\n", names,
               strlen(names) > 26 ? "..." : "   ", d->size, d->rank, app_size_text((double)d->memory),
               d->frequencies[0], d->full[0], percent(frequency_error(d)), percent(d->static_error),
               percent(d->static_worst), 1e6 * d->step_seconds);
    }
}

static json_t *json_details(const app_effectors *chosen, const bough_mechanism_detail *details, int count) {
    json_t *list = json_array();
    for (int k = 0; k < count; k++) {
        const bough_mechanism_detail *d = &details[k];
        json_t *names = json_array();
        for (int32_t e = 0; e < chosen[k].count; e++)
            json_array_append_new(names, app_json_text(chosen[k].effectors[e].name));
        json_array_append_new(list, json_pack("{s:o, s:i, s:i, s:i, s:I, s:o, s:o, s:o, s:o, s:o, s:o}",
                                              "end_effectors", names, "internal_modes", (int)d->internal_modes, "size",
                                              (int)d->size, "rank", (int)d->rank, "bytes", (json_int_t)d->memory,
                                              "frequencies_hz", app_json_numbers(d->frequencies, d->frequency_count),
                                              "whole_frequencies_hz", app_json_numbers(d->full, d->frequency_count),
                                              "frequency_error", app_json_number(frequency_error(d)), "static_error",
                                              app_json_number(d->static_error), "static_worst",
                                              app_json_number(d->static_worst), "step_seconds",
                                              app_json_number(d->step_seconds)));
    }
    return list;
}

static int compare(bough_context *ctx, const app_mechanism *m, const app_effectors *chosen, int count,
                   const arguments *a) {
    bough_mechanism_choice choices[64];
    bough_mechanism_detail details[64] = {0};
    bough_mechanism_detail_def def = bough_default_mechanism_detail_def();
    for (int k = 0; k < count; k++)
        choices[k] = (bough_mechanism_choice){chosen[k].count, chosen[k].at, chosen[k].modes};
    def.choice_count = count, def.choices = choices, def.steps = a->steps;
    if (bough_mechanism_details(ctx, m->mechanism, &def, details))
        return app_fail(ctx);
    app_clear_progress();
    if (a->json)
        app_print_json(json_pack("{s:o}", "choices", json_details(chosen, details, count)));
    else
        print_details(chosen, details, count);
    return APP_OK;
}

static int write_model(bough_context *ctx, const app_mechanism *m, const app_effectors *chosen, const arguments *a) {
    bough_mechanism_model *model = NULL;
    int status = find_model(ctx, m, chosen, a->method, 0, &model)
                     ? app_fail(ctx)
                     : app_write_mechanism(ctx, m, chosen, model, a->output);
    bough_mechanism_model_destroy(ctx, model);
    return status;
}

static int reduce(bough_context *ctx, const app_mechanism *m, const app_effectors *chosen, int count,
                  const arguments *a) {
    for (int k = 0; k < count; k++)
        if (chosen[k].count == 0)
            return app_fail_with("the mechanism has no end effectors; name some by --end-effectors");
    if (a->output && chosen[0].modes)
        return app_fail_with("internal modes are not written; leave them out where --output is given");
    const int status = compare(ctx, m, chosen, count, a);
    return status == APP_OK && a->output ? write_model(ctx, m, &chosen[0], a) : status;
}

/* ---- all of them ---- */

static int act(bough_context *ctx, const app_mechanism *m, const arguments *a) {
    static app_effectors chosen[64];
    const int count = a->choices.count ? a->choices.count : 1;
    int status = APP_OK;
    for (int k = 0; k < count && status == APP_OK; k++)
        status = app_choose_effectors(m, a->choices.count ? a->choices.items[k] : NULL, &chosen[k]);
    if (status == APP_OK && chosen[0].modes && strcmp(a->action, "reduce") != 0)
        status = app_fail_with("internal modes (+%s) are for reduce", strrchr(a->choices.items[0], '+') + 1);
    if (status == APP_OK)
        status = !strcmp(a->action, "info")         ? show_info(ctx, m, &chosen[0], a)
                 : !strcmp(a->action, "compliance") ? show_compliance(ctx, m, &chosen[0], a)
                                                    : reduce(ctx, m, chosen, count, a);
    for (int k = 0; k < count; k++)
        app_free_effectors(&chosen[k]);
    return status;
}

/* bough run knows scenes only. */
static int run(int argc, char **argv) {
    static char title[] = "bough mechanism run";
    for (int k = 1; k < argc; k++)
        if (!strncmp(argv[k], "--dynamics", 10)) {
            app_fail_with("a run takes ROBOT.dynamics.json beside ROBOT.urdf; for another side file write a scene: "
                          "{\"bough\": 1, \"urdf\": \"ROBOT.urdf\", \"dynamics\": \"FILE.json\"}");
            return APP_USAGE;
        }
    argv[0] = title;
    return command_run(argc, argv);
}

int command_mechanism(int argc, char **argv) {
    arguments a = {.frequencies = FREQUENCIES, .steps = 1000};
    if (argc > 1 && !strcmp(argv[1], "run"))
        return run(argc - 1, argv + 1);
    app_parse(&parser, argc, argv, &a);
    bough_context *ctx = app_context(a.threads);
    app_mechanism m;
    int status = app_mechanism_load(ctx, a.path, a.dynamics, &m);
    if (status == APP_OK)
        status = act(ctx, &m, &a);
    app_mechanism_free(ctx, &m);
    bough_context_destroy(ctx);
    return status;
}
