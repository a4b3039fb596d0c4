#include "app.h"

#include "../bench/bench.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(const bench_options *options);
    const char *about;
    bool steps; /* a scene: takes --coupling and --threads */
} benches[] = {
    {"assembly", bench_assembly, "force, tangent, factorisation and solve of about 83,000 tets", false},
    {"modes", bench_modes, "twenty modes of a steel cantilever, beside CalculiX", false},
    {"static", bench_static, "a nonlinear bend, beside CalculiX", false},
    {"convergence", bench_convergence, "cantilever frequencies on four meshes of each element", false},
    {"energy", bench_energy, "energy that each time integrator loses on a swinging beam", false},
    {"stiffness", bench_stiffness, "cost of a step of exponential and implicit integrators from soft to stiff", false},
    {"cook", bench_cook, "cooking: exactness, bending far, cubature, times by phase", false},
    {"oak", bench_oak, "steps of the oak (1,435 parts) beside their bare kernels; surface, wind, memory", true},
    {"flower", bench_flower, "the same of the flower (12 parts)", true},
    {"dragon", bench_dragon, "the same of the dragon (40 parts)", true},
    {"letters", bench_letters, "the same of the letters (15 parts, flying)", true},
    {"station", bench_station, "the same of the station (48 parts, flying)", true},
    {"forest", bench_forest, "100 oaks in one batch beside the same oaks alone; adding and removing one; memory", true},
    {"leaves", bench_leaves, "steps of oaks with 100 to 100,000 leaves: cost by the number of parts", false},
    {"stability", bench_stability, "largest energy of a forked tree that swings far, by coupling, method and step",
     false},
    {"accuracy", bench_accuracy, "the flower swings far: couplings beside the full body; plots with --output", false},
    {"stress", bench_stress, "stress of the flower beside the full body's; what a look at all parts of the oak costs",
     false},
    {"peaks", bench_peaks,
     "largest stress of parts beside the full body's, on structures that were not used to choose the method", false},
    {"embedding", bench_embedding, "surfaces where parts meet: gaps, kinks, cost of C0 and C1; a picture with --output",
     false},
    {"boundary", bench_boundary,
     "interfaces that deform: accuracy of trees by their deviation; boundary modes that bend far", false},
    {"loops", bench_loops, "the ring and the bridge by the stiffness of their ties, beside closed bodies", false},
    {"changes", bench_changes, "what it costs to cut, lock and put back parts of the oak while it moves", false},
    {"view", bench_view, "the oak shown to one client: bytes and time of frames, share of one core", false},
    {"mechanism", bench_mechanism, "compliant mechanisms: steps with all links, making a model", false},
    {"details", bench_details, "mechanisms with one to eight end effectors: what each keeps, and what it costs", false},
    {"touch", bench_touch,
     "steps of mechanisms that touch things: hand, walker, trampoline; and of 10 to 1000 free bodies", false},
    {"contact", bench_contact,
     "full bodies that touch: 50 generated scenes, cost of 1,000 pairs, Hertz's force, momentum, inclines", false},
    {"contact-inclines", bench_contact_inclines, "its part about blocks that slide", false},
    {"contact-momentum", bench_contact_momentum, "its part about blocks that collide", false},
    {"contact-hertz", bench_contact_hertz, "its part about a sphere on a plane", false},
    {"contact-costs", bench_contact_costs, "its part about 1,000 pairs", false},
    {"contact-trees", bench_contact_trees, "its part about trees", false},
    {"contact-scenes", bench_contact_scenes, "its part about generated scenes", false},
    {"multibody", bench_multibody,
     "steps of robots with flexible limbs; chains of 5 to 500 flexible links: cost by their number", false},
    {"twin", bench_twin, "the dancer beside the same with full-order parts: how far off its hands are, time of a step",
     false},
    {"retarget", bench_retarget,
     "robots with flexible limbs: cost and error of gradients of their motions, and how long it takes to find motors "
     "that do not shake them",
     false},
    {"reduction", bench_reduction, "random mechanisms reduced to random end effectors: error of the lowest frequency",
     false},
    {"figure7", bench_figure7, "how far joints of mechanisms open, one linear model and blended; plots with --output",
     false},
};

#define BENCH_COUNT ((int)(sizeof benches / sizeof *benches))

enum { OPT_JSON = 'j' };

typedef struct {
    bench_options options;
    const char *name;
    bool coupled, threaded; /* these options were given */
} arguments;

static const struct argp_option options[] = {
    APP_OPTION_JSON(OPT_JSON),
    {"size", 's', "N", 0, "problem size: 1 (default), 2 larger", 0},
    {"coupling", 'c', "NAME", 0, "of scenes that are stepped: L1 (default), L2, L2R or L3", 0},
    {"plot", 'p', "FILE", 0, "of leaves: draw the result as FILE.svg or FILE.png", 0},
    {"threads", 't', "N", 0, "of scenes that are stepped: for their steps (default 1)", 0},
    {"output", 'o', "FOLDER", 0, "of accuracy, embedding and figure7: draw their plots there; made when missing", 0},
    {0},
};

static bool parse_coupling(const char *text, bough_coupling *coupling) {
    static const char *const names[] = {"L1", "L2", "L2R", "L3"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(text, names[i])) {
            *coupling = (bough_coupling)i;
            return true;
        }
    return false;
}

/* names: one or more, in a sentence */
static void need_bench(struct argp_state *state, const char *option, const char *name, const char *names) {
    const char *at = name ? strstr(names, name) : names;
    if (!at || (name && isalpha((unsigned char)at[strlen(name)])))
        argp_error(state, "%s is for %s", option, names);
}

/* There is no benchmark of another name that it could be for. */
static void need_scene(struct argp_state *state, const char *option, const char *name) {
    for (int i = 0; i < BENCH_COUNT; i++)
        if (name && !strcmp(name, benches[i].name) && !benches[i].steps)
            argp_error(state, "%s is for scenes that are stepped: oak, flower, dragon, letters, station and forest",
                       option);
}

/* An option that would do nothing is a mistake, to be told before minutes of measuring. */
static void check_options(struct argp_state *state, const arguments *a) {
    if (a->options.plot)
        need_bench(state, "--plot", a->name, "leaves");
    if (a->options.folder)
        need_bench(state, "--output", a->name, "accuracy, embedding and figure7");
    if (a->coupled)
        need_scene(state, "--coupling", a->name);
    if (a->threaded)
        need_scene(state, "--threads", a->name);
}

static error_t parse(int key, char *text, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case OPT_JSON:
        a->options.json = true;
        break;
    case 's':
        if (!app_parse_int(text, 1, 2, &a->options.size))
            argp_error(state, "--size: \"%s\" should be 1 or 2", text);
        break;
    case 'c':
        if (!parse_coupling(text, &a->options.coupling))
            argp_error(state, "--coupling: \"%s\" should be L1, L2, L2R or L3", text);
        a->coupled = true;
        break;
    case 't':
        app_need_threads(state, text, &a->options.threads);
        a->threaded = true;
        break;
    case 'p':
        app_need_plot(state, "plot", text);
        a->options.plot = text;
        break;
    case 'o':
        a->options.folder = text;
        break;
    case ARGP_KEY_ARG:
        if (a->name)
            argp_error(state, "one benchmark at a time");
        a->name = text;
        break;
    case ARGP_KEY_END:
        check_options(state, a);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {
    options,
    parse,
    "[NAME]",
    "Runs one benchmark, on one thread where it does not say otherwise; without a name, lists them."
    "\vExamples:\n  bough bench assembly\n  bough bench oak --coupling L3 --threads 2 --json",
    NULL,
    NULL,
    NULL};

static void list_benches(bool json) {
    app_choice choices[BENCH_COUNT];
    for (int i = 0; i < BENCH_COUNT; i++)
        choices[i] = (app_choice){benches[i].name, benches[i].about};
    app_print_choices("benchmarks", choices, BENCH_COUNT, json);
}

static int run(int bench, const bench_options *chosen) {
    const int status = benches[bench].run(chosen);
    return app_interrupted() ? app_fail_with("interrupted; the figures are not complete") : status;
}

int command_bench(int argc, char **argv) {
    arguments a = {.options = {.size = 1, .threads = 1, .coupling = BOUGH_COUPLING_L1}};
    app_parse(&parser, argc, argv, &a);
    if (!a.name) {
        list_benches(a.options.json);
        return APP_OK;
    }
    for (int i = 0; i < BENCH_COUNT; i++)
        if (!strcmp(a.name, benches[i].name))
            return run(i, &a.options);
    app_fail_with("there is no benchmark \"%s\"; bough bench lists them", a.name);
    return APP_USAGE;
}
