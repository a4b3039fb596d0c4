/* Scenes that are made by code. */
#include "example.h"

#include <string.h>
#include <sys/stat.h>

/* A new example is one row here and one file beside this one. */
static const struct {
    const char *name;
    int (*make)(bough_context *ctx, example *e);
    bool grows;      /* by --leaves and --seed */
    bool takes_mesh; /* by --mesh */
    const char *about;
} examples[] = {
    {"oak", example_oak, true, false, "an oak in wind: 41 branches, 1,394 leaves, 11,972 coordinates"},
    {"storm", example_storm, true, false, "the same oak in gusts that rise until leaves and branches break off"},
    {"ball", example_ball, true, false, "a heavy ball that falls through the crown of the oak and lands on the ground"},
    {"flower", example_flower, false, false,
     "a lily cut into 12 domains from one mesh, for comparisons with full order"},
    {"dragon", example_dragon, false, true, "a dragon of 160,000 tets, cut into 40 domains with 454 coordinates"},
    {"letters", example_letters, false, false,
     "a word of 8 soft letters and 7 rigid links that flies, 160 coordinates"},
    {"pile", example_pile, false, false, "16 soft letters that fall and pile up, 320 coordinates"},
    {"station", example_station, false, false,
     "a space station of 48 parts that flies, 108,000 bricks, 921 coordinates"},
    {"ring", example_ring, false, false, "an elastic ring of 16 segments that flies, closed by a tie"},
    {"bridge", example_bridge, false, false, "a footbridge of 16 segments, held at one end and tied at the other"},
    {"chandelier", example_chandelier, false, false, "a chandelier whose chain, arms and lamps hang from ball joints"},
    {"forest", example_forest, true, false,
     "100 oaks of three species in wind: 143,500 parts, 1.2 million coordinates"},
    {"hand", example_hand, false, false, "a compliant hand of four fingers that takes a ball, and turns it over"},
    {"walker", example_walker, false, false, "a robot on six legs that walks over uneven ground"},
    {"trampoline", example_trampoline, false, false, "two figures with a trampoline, which catches a bunny"},
    {"dancer", example_dancer, false, false,
     "a robot that waves and dances: 4 motors, 7 rigid bodies, steel rods with 76 coordinates"},
    {"bartender", example_bartender, false, false,
     "an arm that carries a glass: 4 motors, 6 rigid bodies, steel rods with 67 coordinates"},
    {"rapper", example_rapper, false, false,
     "an arm with a four-bar loop: 4 motors, 9 rigid bodies, plastic bars with 82 coordinates"},
    {"drummer", example_drummer, false, false,
     "a figure on two steel legs that drums: 13 motors, 16 rigid bodies, rods with 76 coordinates"},
    {"boxer", example_boxer, false, false, "the same figure with gloves, which boxes"},
    {"squeeze", example_squeeze, false, false, "a soft creature in full order, squeezed between two plates"},
};

enum { EXAMPLE_COUNT = sizeof examples / sizeof *examples };

typedef struct {
    const char *name;
    example e;
    const char *growth; /* an option that was given and is about growing */
    bool json;
} arguments;

static const struct argp_option options[] = {
    {"output", 'o', "FOLDER", 0, "where the files go (default: the name of the example)", 0},
    {"leaves", 'l', "N", 0,
     "leaves of the oak, or of each in the forest (default 1394; beyond that they are smaller, and share places)", 0},
    {"seed", 's', "S", 0, "of the random numbers: another seed is another oak, or another forest (default 4)", 0},
    {"mesh", 'm', "FILE", 0, "of the dragon: a volume mesh of your own, cut into domains by its element sets", 0},
    APP_OPTION_JSON('j'),
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state) {
    arguments *a = state->input;
    int32_t seed;
    switch (key) {
    case 'o':
        a->e.folder = text;
        break;
    case 'l':
        if (!app_parse_int(text, 0, OAK_MOST_LEAVES, &a->e.leaves))
            argp_error(state, "--leaves: \"%s\" should be a number from 0 to %d", text, OAK_MOST_LEAVES);
        a->growth = "--leaves";
        break;
    case 's':
        if (!app_parse_int(text, 0, INT32_MAX, &seed))
            argp_error(state, "--seed: \"%s\" should be a number from 0 to %d", text, INT32_MAX);
        a->e.seed = (uint64_t)seed;
        a->growth = "--seed";
        break;
    case 'm':
        a->e.mesh = text;
        break;
    case 'j':
        a->json = true;
        break;
    case ARGP_KEY_ARG:
        if (a->name)
            argp_error(state, "one example at a time");
        a->name = text;
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
    "Makes an example: scene.json with its meshes. Without a name, lists what there is."
    "\vExamples:\n  bough example oak -o oak && bough cook oak/scene.json\n"
    "  bough example oak --leaves 50 -o sapling\n  bough example forest --leaves 50 -o grove\n  bough example flower\n"
    "  bough example dragon --mesh scan.msh -o scan",
    NULL,
    NULL,
    NULL};

static int list(bool json) {
    app_choice choices[EXAMPLE_COUNT];
    for (int i = 0; i < EXAMPLE_COUNT; i++)
        choices[i] = (app_choice){examples[i].name, examples[i].about};
    app_print_choices("examples", choices, EXAMPLE_COUNT, json);
    return APP_OK;
}

/* EXAMPLE_COUNT when there is none of that name. */
static int find(const char *name) {
    int i = 0;
    while (i < EXAMPLE_COUNT && strcmp(examples[i].name, name) != 0)
        i++;
    return i;
}

int example_make(bough_context *ctx, const char *name, example *e) {
    return examples[find(name)].make(ctx, e);
}

static void report_mechanism(const arguments *a) {
    const example *e = &a->e;
    if (a->json)
        app_print_json(json_pack("{s:s, s:o, s:i, s:i}", "name", a->name, "folder", app_json_text(e->folder), "links",
                                 (int)e->links, "joints", (int)e->joints));
    else
        printf("%s/scene.json: %d links, %d joints\nNext: %s view %s/scene.json\n", e->folder, e->links, e->joints,
               app_name(), e->folder);
}

static void report_robot(const arguments *a) {
    const example *e = &a->e;
    if (a->json)
        app_print_json(json_pack("{s:s, s:o, s:i, s:i, s:i, s:i, s:i}", "name", a->name, "folder",
                                 app_json_text(e->folder), "bodies", (int)e->bodies, "parts", (int)e->parts,
                                 "coordinates", (int)e->coordinates, "joints", (int)e->joints, "motors",
                                 (int)e->motors));
    else
        printf("%s/scene.json: %d bodies, %d flexible parts with %d coordinates, %d joints, %d motors\n"
               "Next: %s view %s/scene.json\n",
               e->folder, e->bodies, e->parts, e->coordinates, e->joints, e->motors, app_name(), e->folder);
}

static void report_body(const arguments *a) {
    const example *e = &a->e;
    if (a->json)
        app_print_json(json_pack("{s:s, s:o, s:I, s:I}", "name", a->name, "folder", app_json_text(e->folder),
                                 "vertices", (json_int_t)e->vertices, "elements", (json_int_t)e->elements));
    else
        printf("%s/scene.json: a body of %lld vertices and %lld elements\nNext: %s run %s/scene.json\n", e->folder,
               (long long)e->vertices, (long long)e->elements, app_name(), e->folder);
}

static void report(const arguments *a) {
    const example *e = &a->e;
    if (e->parts == 0 && e->links == 0 && e->motors == 0)
        report_body(a);
    else if (e->links > 0)
        report_mechanism(a);
    else if (e->motors > 0)
        report_robot(a);
    else if (a->json)
        app_print_json(json_pack("{s:s, s:o, s:i, s:i, s:I, s:I, s:I, s:I}", "name", a->name, "folder",
                                 app_json_text(e->folder), "parts", (int)e->parts, "coordinates", (int)e->coordinates,
                                 "vertices", (json_int_t)e->vertices, "elements", (json_int_t)e->elements,
                                 "surface_vertices", (json_int_t)e->surface_vertices, "surface_triangles",
                                 (json_int_t)e->surface_triangles));
    else
        printf("%s/scene.json: %d parts, %d coordinates; %lld vertices and %lld triangles to be drawn\n"
               "Next: bough cook %s/scene.json\n",
               e->folder, e->parts, e->coordinates, (long long)e->surface_vertices, (long long)e->surface_triangles,
               e->folder);
}

int command_example(int argc, char **argv) {
    arguments a = {.e = {.leaves = OAK_LEAVES, .seed = OAK_SEED}};
    app_parse(&parser, argc, argv, &a);
    if (!a.name)
        return list(a.json);
    const int chosen = find(a.name);
    if (chosen == EXAMPLE_COUNT) {
        app_fail_with("there is no example \"%s\"; bough example lists them", a.name);
        return APP_USAGE;
    }
    if (a.growth && !examples[chosen].grows) {
        app_fail_with("%s is for the oak and the forest; the %s is always the same", a.growth, a.name);
        return APP_USAGE;
    }
    if (a.e.mesh && !examples[chosen].takes_mesh) {
        app_fail_with("--mesh is for the dragon; the %s has its own", a.name);
        return APP_USAGE;
    }
    if (!a.e.folder)
        a.e.folder = a.name;
    if (!app_make_folder(a.e.folder))
        return APP_FAILED;
    bough_context *ctx = app_context(1);
    int status = examples[chosen].make(ctx, &a.e);
    if (status == APP_OK)
        report(&a);
    bough_context_destroy(ctx);
    return status;
}
