/* An oak: parts of five classes of branches and one of leaves, put together by a few rules of growth. */
#include "example_oak.h"

#include <stdlib.h>
#include <string.h>

enum { BRANCH_COUNT = 41, BRANCH_R = 20, LEAF_R = 8, BRANCH_WIND = 24, LEAF_WIND = 8 };

/* One branch where it stands. */
typedef struct branch {
    int32_t class, parent;
    char interface[16];
    axes directions;
    v3 origin; /* as planned; the centre of the interface is near it */
    double scale;
} branch;

typedef struct oak {
    const oak_species *species;
    branch_class classes[BRANCH_CLASSES];
    branch branches[BRANCH_COUNT];
    int32_t branch_count;
    example_random random;
} oak;

oak_species oak_common(void) {
    return (oak_species){.about = "an oak",
                         .seed = OAK_SEED,
                         .length = 1,
                         .girth = 1,
                         .stiffness = 1,
                         .leaf = 1,
                         .leaf_density = 80,
                         .detail = oak_seen_near};
}

static void shape_classes(oak *o) {
    for (int c = 0; c < BRANCH_CLASSES; c++) {
        branch_class *class = &o->classes[c];
        *class = oak_classes[c];
        class->length *= o->species->length;
        class->base_radius *= o->species->girth, class->tip_radius *= o->species->girth;
        class->young *= o->species->stiffness;
    }
}

static const branch_class *class_of(const oak *o, const branch *b) {
    return &o->classes[b->class];
}

static double jitter(oak *o, double size) {
    return example_uniform(&o->random, -size, size);
}

static v3 jitter3(oak *o, double size) {
    double x = jitter(o, size), y = jitter(o, size), z = jitter(o, size);
    return (v3){x, y, z};
}

/* ---- growth ---- */

/* Directions of a branch at a place, in the world. */
static axes directions_at(const oak *o, const branch *b, double along) {
    axes local = oak_directions(class_of(o, b), along);
    return (axes){axes_apply(&b->directions, local.x), axes_apply(&b->directions, local.y),
                  axes_apply(&b->directions, local.z)};
}

static v3 outwards_at(const oak *o, const branch *b, place at) {
    axes a = directions_at(o, b, at.along);
    return v3_along(v3_scale(cos(at.azimuth), a.x), sin(at.azimuth), a.y);
}

static v3 middle_at(const oak *o, const branch *b, double along) {
    return v3_along(b->origin, b->scale, axes_apply(&b->directions, oak_middle(class_of(o, b), along)));
}

/* The place where a branch grows from its parent. */
typedef struct bud {
    int32_t parent;
    int32_t side;   /* of the parent's class; -1: at its tip, and then towards azimuth */
    double azimuth; /* at the tip only */
    double angle;   /* from the parent's direction */
    double lift;    /* towards the light */
    double roll;    /* it bends up, or as far from that, at most */
    double scale;
} bud;

/* Bends (towards its x) against its weight. */
static int32_t grow(oak *o, int32_t class, bud u) {
    const branch *p = &o->branches[u.parent];
    const branch_class *c = class_of(o, p);
    place at = u.side < 0 ? (place){1, u.azimuth} : c->children[u.side];
    branch b = {.class = class, .parent = u.parent, .scale = u.scale * (1 + jitter(o, 0.06))};
    if (u.side < 0)
        snprintf(b.interface, sizeof b.interface, "tip");
    else
        snprintf(b.interface, sizeof b.interface, "side%d", u.side);
    v3 across = outwards_at(o, p, at);
    v3 growth = v3_add(v3_scale(cos(u.angle), directions_at(o, p, at.along).z), v3_scale(sin(u.angle), across));
    growth = v3_add(v3_along(growth, u.lift, (v3){0, 0, 1}), jitter3(o, 0.12));
    b.directions = axes_around(growth, v3_add((v3){0, 0, 1}, jitter3(o, u.roll)));
    double depth = u.side < 0 ? 0 : 0.6 * p->scale * oak_radius(c, at.along);
    b.origin = v3_along(middle_at(o, p, at.along), depth, across);
    o->branches[o->branch_count] = b;
    return o->branch_count++;
}

/* A limb with all that grows from it: a bough at its tip, three branches to the left and right, a twig on each. */
static void grow_limb(oak *o, bud at, bool leader) {
    const double left = 1.5, right = 4.8;
    int32_t limb = grow(o, LIMB, at);
    int32_t bough = grow(o, BOUGH, (bud){limb, -1, right, 0.4, leader ? 0.1 : -0.1, 0.5, 1});
    int32_t branches[3] = {grow(o, BRANCH, (bud){limb, 0, 0, 0.95, leader ? 0 : 0.35, 0.9, 1}),
                           grow(o, BRANCH, (bud){bough, 0, 0, 0.95, 0.35, 0.9, 1}),
                           grow(o, BRANCH, (bud){bough, -1, left, 0.5, -0.1, 0.9, 0.85})};
    for (int32_t i = 0; i < 3; i++)
        grow(o, TWIG, (bud){branches[i], 0, 0, 1, 0.3, 0.9, 1.05});
}

/* 1 + 5 (1 + 1 + 3 + 3) = 41: a trunk, four limbs around it, and a leader. */
static void grow_all(oak *o) {
    o->branches[0] =
        (branch){.class = TRUNK, .parent = -1, .scale = 1, .directions = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    o->branch_count = 1;
    for (int32_t k = 0; k < 4; k++)
        grow_limb(o, (bud){0, k, 0, 1.0 - 0.07 * k, o->species->lift, 0.35, 1.2 - 0.02 * k}, false);
    grow_limb(o, (bud){0, -1, 2.5, 0.2, 0.1, 0.5, 1.05}, true);
}

/* ---- leaves ---- */

typedef struct slot {
    int32_t branch, index;
} slot;

/* All places for leaves in random order, so that few leaves are spread over the crown too. */
static int32_t collect_slots(oak *o, slot *slots) {
    int32_t count = 0;
    for (int32_t b = 0; b < o->branch_count; b++)
        for (int32_t i = 0; i < class_of(o, &o->branches[b])->leaf_slots; i++)
            slots[count++] = (slot){b, i};
    for (int32_t i = count - 1; i > 0; i--) {
        int32_t other = (int32_t)(example_bits(&o->random) % (uint64_t)(i + 1));
        slot kept = slots[i];
        slots[i] = slots[other], slots[other] = kept;
    }
    return count;
}

/* Outwards and ahead, face up; those that share a place fan out around the branch. */
static axes leaf_directions(oak *o, const branch *b, place at, int32_t layer) {
    at.azimuth += 2.4 * layer;
    v3 ahead = directions_at(o, b, at.along).z;
    v3 growth = v3_add(v3_along(v3_scale(0.9, outwards_at(o, b, at)), 0.6, ahead), jitter3(o, 0.45));
    growth.z += 0.15;
    v3 x = v3_unit(growth), up = v3_add((v3){0, 0, 1}, jitter3(o, 0.55));
    axes a = axes_around(v3_along(up, -v3_dot(up, x), x), x);
    return a;
}

/* ---- the scene ---- */

static void write_part(FILE *f, const oak *o, int32_t index) {
    const branch *b = &o->branches[index];
    const char *class = class_of(o, b)->name;
    if (b->parent < 0) {
        fprintf(f, "    {\"name\": \"b%d\", \"component\": \"%s\", \"fix\": \"base\"}", index, class);
        return;
    }
    double degrees[3];
    axes_degrees(&o->branches[b->parent].directions, &b->directions, degrees);
    fprintf(f,
            ",\n    {\"name\": \"b%d\", \"component\": \"%s\", \"parent\": \"b%d\", \"interface\": \"%s\", "
            "\"rotate_deg\": [%.2f, %.2f, %.2f], \"scale\": %.4f}",
            index, class, b->parent, b->interface, degrees[0], degrees[1], degrees[2], b->scale);
}

/* More leaves than the oak has are smaller: their area in all, and so the pull of the wind, stays. Without blanks, half
 * a million of them stay below the 64 MB that a scene file may have. */
static bool write_leaves(FILE *f, oak *o, int32_t leaves) {
    slot *slots = malloc(sizeof *slots * BRANCH_COUNT * 64);
    if (!slots)
        return false;
    int32_t slot_count = collect_slots(o, slots);
    double size = o->species->leaf * (leaves > OAK_LEAVES ? sqrt((double)OAK_LEAVES / leaves) : 1);
    for (int32_t i = 0; i < leaves; i++) {
        slot s = slots[i % slot_count];
        const branch *b = &o->branches[s.branch];
        place at = oak_leaf_slot(class_of(o, b), s.index);
        axes a = leaf_directions(o, b, at, i / slot_count);
        double degrees[3];
        axes_degrees(&b->directions, &a, degrees);
        fprintf(f,
                ",\n{\"name\":\"l%d\",\"component\":\"leaf\",\"parent\":\"b%d\",\"interface\":\"leaf%d\","
                "\"rotate_deg\":[%.1f,%.1f,%.1f],\"scale\":%.4f}",
                i, s.branch, s.index, degrees[0], degrees[1], degrees[2],
                size * example_uniform(&o->random, 0.8, 1.25));
    }
    free(slots);
    return true;
}

static void write_patch(FILE *f, const branch_class *c, const char *kind, int32_t index, place at) {
    axes a = oak_directions(c, at.along);
    v3 out = v3_add(v3_scale(cos(at.azimuth), a.x), v3_scale(sin(at.azimuth), a.y));
    v3 p = v3_along(oak_middle(c, at.along), oak_radius(c, at.along), out);
    fprintf(f, ",\n        \"%s%d\": {\"patch\": [%.4f, %.4f, %.4f], \"radius\": %.4f}", kind, index, p.x, p.y, p.z,
            oak_patch_radius(c, at.along));
}

/* As many points that can touch as cooking takes where nobody says how many. */
static void write_samples(FILE *f, int32_t r, int32_t wind, int32_t contact) {
    fprintf(f, "      \"basis\": {\"r\": %d}, \"samples\": {\"wind\": %d", r, wind);
    if (contact > 0)
        fprintf(f, ", \"contact\": %d", contact);
    fprintf(f, "}\n    }");
}

static void write_branch_class(FILE *f, const branch_class *c, const oak_visitor *visitor) {
    fprintf(f,
            "    \"%s\": {\n      \"mesh\": \"%s.msh\", \"surface\": {\"file\": \"%s.obj\"},\n"
            "      \"material\": {\"model\": \"stvk\", \"young\": %g, \"poisson\": 0.35, \"density\": 850},\n"
            "      \"damping\": {\"mass\": 0.12, \"stiffness\": 0.002},\n"
            "      \"interfaces\": {\n        \"base\": {\"select\": \"bottom\"},\n"
            "        \"tip\": {\"select\": \"top\"}",
            c->name, c->name, c->name, c->young);
    for (int32_t i = 0; i < c->child_count; i++)
        write_patch(f, c, "side", i, c->children[i]);
    for (int32_t i = 0; i < c->leaf_slots; i++)
        write_patch(f, c, "leaf", i, oak_leaf_slot(c, i));
    fprintf(f, "\n      },\n");
    write_samples(f, BRANCH_R, BRANCH_WIND, visitor ? visitor->branch_samples : 0);
    fprintf(f, ",\n");
}

static void write_leaf_class(FILE *f, double density, const oak_visitor *visitor) {
    fprintf(f,
            "    \"leaf\": {\n      \"mesh\": \"leaf.msh\", \"surface\": {\"file\": \"leaf.obj\"},\n"
            "      \"material\": {\"model\": \"stvk\", \"young\": 2.5e8, \"poisson\": 0.3, \"density\": %g},\n"
            "      \"damping\": {\"mass\": 0.6, \"stiffness\": 0.0015},\n"
            "      \"interfaces\": {\"base\": {\"select\": \"x0\"}},\n",
            density);
    write_samples(f, LEAF_R, LEAF_WIND, visitor ? visitor->leaf_samples : 0);
}

static void write_head(FILE *f, const oak *o, int32_t leaves) {
    fprintf(f, "{\n  \"bough\": 1,\n  \"name\": \"%s with %d leaves\",\n  \"components\": {\n", o->species->about,
            leaves);
    for (int c = 0; c < BRANCH_CLASSES; c++)
        write_branch_class(f, &o->classes[c], o->species->visitor);
    write_leaf_class(f, o->species->leaf_density, o->species->visitor);
    if (o->species->visitor)
        oak_ball_write_component(f);
    else
        fputc('\n', f);
    fprintf(f, "  },\n  \"parts\": [\n");
}

/* Strength of the parts, Pa: leaves tear off one by one, and twigs and branches break. Leaves then fly as rigid bodies,
 * since the stalk of a leaf that snaps back weighs so little that its steps would have to be very short. */
static const struct {
    const char *class;
    double strength;
    bool rigid;
} strengths[] = {{"leaf", 4.5e6, true},
                 {"twig", 1.6e7, false},
                 {"branch", 9.5e6, false},
                 {"bough", 7e6, false},
                 {"limb", 5e6, false}};

/* The mean wind rises from 7.6 to 38 m/s within 14 s and stays; what has fallen 3 m below the ground is gone. */
static void write_storm(FILE *f) {
    fprintf(f, "  \"curves\": {\"rising\": [[0, 0.2], [14, 1]]},\n"
               "  \"wind\": {\"velocity\": [38, 0, 0], \"gust\": 0.35, \"drag\": 0.4, \"seed\": 7, \"curve\": "
               "\"rising\"},\n  \"break\": [\n");
    for (size_t i = 0; i < sizeof strengths / sizeof *strengths; i++)
        fprintf(f, "%s    {\"component\": \"%s\", \"stress\": %g%s}", i ? ",\n" : "", strengths[i].class,
                strengths[i].strength, strengths[i].rigid ? ", \"lock\": true" : "");
    fprintf(f, "\n  ],\n  \"obstacles\": [{\"name\": \"ground\", \"shape\": {\"plane\": true}, \"friction\": 0.6}],\n");
}

static void write_tail(FILE *f, const oak *o) {
    int32_t top = 0;
    for (int32_t b = 0; b < o->branch_count; b++)
        if (middle_at(o, &o->branches[b], 1).z > middle_at(o, &o->branches[top], 1).z)
            top = b;
    v3 tip = middle_at(o, &o->branches[top], 1);
    if (o->species->visitor)
        oak_ball_write_part(f);
    fprintf(f, "\n  ],\n  \"gravity\": [0, 0, -9.81],\n");
    if (o->species->storm)
        write_storm(f);
    else if (o->species->visitor)
        oak_ball_write_contact(f);
    else
        fprintf(f, "  \"wind\": {\"velocity\": [6, 0, 0], \"gust\": 0.5, \"drag\": 0.4, \"seed\": 7},\n");
    fprintf(
        f,
        "  \"engine\": {\"kind\": \"tree\", \"coupling\": \"L3\"},\n"
        "  \"time\": {\"integrator\": \"hht\", \"alpha\": -0.05, \"dt\": 0.0041666666666666666, \"duration\": %d},\n"
        "  \"settle\": true,\n"
        "  \"probes\": [{\"name\": \"top\", \"part\": \"b%d\", \"nearest\": [%.4f, %.4f, %.4f]}",
        o->species->storm     ? 16
        : o->species->visitor ? 4
                              : 10,
        top, tip.x, tip.y, tip.z);
    if (o->species->visitor)
        oak_ball_write_probes(f);
    fprintf(f, "]\n}\n");
}

static bool write_scene(const example *e, oak *o) {
    example_file file;
    if (!example_open(e, "scene.json", &file))
        return false;
    write_head(file.stream, o, e->leaves);
    for (int32_t b = 0; b < o->branch_count; b++)
        write_part(file.stream, o, b);
    bool enough = write_leaves(file.stream, o, e->leaves);
    write_tail(file.stream, o);
    return example_close(&file, enough) || (enough ? false : !app_fail_with("out of memory"));
}

/* ---- meshes ---- */

static bough_status write_branch_meshes(bough_context *ctx, example *e, const oak *o, int32_t class) {
    const branch_class *c = &o->classes[class];
    bough_mesh *volume = NULL, *surface = NULL;
    int32_t uses = 0;
    for (int32_t b = 0; b < o->branch_count; b++)
        uses += o->branches[b].class == class;
    bough_status s = oak_branch_volume(ctx, c, &volume);
    if (!s)
        s = oak_branch_surface(ctx, c, &o->species->detail, &surface);
    return example_write_pair(ctx, e, s, volume, surface, c->name, uses);
}

static bough_status write_leaf_meshes(bough_context *ctx, example *e, const oak_detail *detail) {
    bough_mesh *volume = NULL, *surface = NULL;
    bough_status s = oak_leaf_volume(ctx, &volume);
    if (!s)
        s = oak_leaf_surface(ctx, detail, &surface);
    return example_write_pair(ctx, e, s, volume, surface, "leaf", e->leaves);
}

int oak_make(bough_context *ctx, const oak_species *species, example *e) {
    static oak o;
    o = (oak){.species = species, .random = {species->seed}};
    shape_classes(&o);
    grow_all(&o);
    bough_status s = BOUGH_OK;
    for (int32_t class = 0; class < BRANCH_CLASSES && !s; class ++)
        s = write_branch_meshes(ctx, e, &o, class);
    if (!s)
        s = write_leaf_meshes(ctx, e, &species->detail);
    if (!s && species->visitor)
        s = oak_ball_write_mesh(ctx, e);
    if (s)
        return app_fail(ctx);
    e->parts = o.branch_count + e->leaves + (species->visitor ? 1 : 0);
    e->coordinates = BRANCH_R * o.branch_count + LEAF_R * e->leaves;
    return write_scene(e, &o) ? APP_OK : APP_FAILED;
}

int example_oak(bough_context *ctx, example *e) {
    oak_species species = oak_common();
    species.seed = e->seed;
    return oak_make(ctx, &species, e);
}

int example_storm(bough_context *ctx, example *e) {
    oak_species species = oak_common();
    species.seed = e->seed;
    species.storm = true;
    return oak_make(ctx, &species, e);
}
