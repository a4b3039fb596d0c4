/* Two figures that hold a trampoline, which catches a bunny. Everything but the bunny is one mechanism: both figures
 * stand on the same ground, and four arms and the sheet between them close loops. */
#include "example.h"

static const v3 skin = {0.87, 0.68, 0.53}, bunny_colour = {0.62, 0.50, 0.40}, dark_tile = {0.13, 0.36, 0.54},
                light_tile = {0.93, 0.94, 0.92}, ground_colour = {0.62, 0.70, 0.52}, shoe_colour = {0.17, 0.16, 0.16};
static const v3 shirts[2] = {{0.80, 0.25, 0.20}, {0.24, 0.52, 0.32}}, trousers = {0.23, 0.26, 0.36};

/* ---- the sheet: tiles with springs between them ---- */

enum { TILES_X = 6, TILES_Y = 5 };
static const double tile_x = 0.2, tile_y = 0.18, tile_thickness = 0.02, sheet_height = 1.0, tile_mass = 0.04;

static v3 tile_place(double i, double j) {
    return (v3){(i - 0.5 * (TILES_X - 1)) * tile_x, (j - 0.5 * (TILES_Y - 1)) * tile_y, sheet_height};
}

static void tile_name(int i, int j, char name[32]) {
    snprintf(name, 32, "tile%d.%d", i + 1, j + 1);
}

static json_t *tile_shape(int i, int j) {
    return example_shape("box", example_numbers(3, tile_x - 0.006, tile_y - 0.006, tile_thickness), (v3){0, 0, 0},
                         (i + j) % 2 ? dark_tile : light_tile);
}

static void add_tile(json_t *scene, int i, int j) {
    char name[32];
    tile_name(i, j, name);
    example_add(scene, "links",
                json_pack("{s:s, s:o, s:f, s:o}", "name", name, "position", example_place(tile_place(i, j)), "mass",
                          tile_mass, "shape", tile_shape(i, j)));
    example_touch(scene, name, name, tile_place(i, j), tile_shape(i, j), 0.8);
}

/* Stiff in the plane; across it the edge is a soft hinge. */
static void add_seam(json_t *scene, int i, int j, int k, int l) {
    char one[32], other[32], seam[80];
    tile_name(i, j, one), tile_name(k, l, other);
    snprintf(seam, sizeof seam, "%s-%s", one, other);
    const bool along_x = k > i;
    const double hinge = 10, stiff = 100;
    json_t *joint = example_joint(scene, "fixed", seam, one, other, tile_place(0.5 * (i + k), 0.5 * (j + l)));
    json_object_set_new(joint, "stiffness",
                        example_numbers(6, 2e4, 2e4, 2e4, along_x ? stiff : hinge, along_x ? hinge : stiff, stiff));
    json_object_set_new(joint, "damping",
                        example_numbers(6, 20.0, 20.0, 20.0, along_x ? 0.1 : 0.03, along_x ? 0.03 : 0.1, 0.1));
}

static void add_sheet(json_t *scene) {
    for (int j = 0; j < TILES_Y; j++)
        for (int i = 0; i < TILES_X; i++)
            add_tile(scene, i, j);
    for (int j = 0; j < TILES_Y; j++)
        for (int i = 0; i < TILES_X; i++) {
            if (i + 1 < TILES_X)
                add_seam(scene, i, j, i + 1, j);
            if (j + 1 < TILES_Y)
                add_seam(scene, i, j, i, j + 1);
        }
}

/* ---- figures ---- */

static void add_spring_joint(json_t *scene, const char *kind, const char *name, const char *parent, const char *child,
                             v3 at, double stiffness) {
    json_t *joint = example_joint(scene, kind, name, parent, child, at);
    json_object_set_new(joint, "stiffness", json_real(stiffness));
    json_object_set_new(joint, "damping", json_real(0.01 * stiffness));
}

/* Looks along x, inwards. The two sides of its body are 1 and -1: those of positive and negative y. */
typedef struct {
    json_t *scene;
    int number; /* 1 or 2 */
    double x, inwards;
} figure;

static v3 on(const figure *f, double ahead, double y, double z) {
    return (v3){f->x + f->inwards * ahead, y, z};
}

static void name_of(const figure *f, const char *what, int side, char name[24]) {
    snprintf(name, 24, "%s%d%s", what, f->number, side > 0 ? ".a" : side < 0 ? ".b" : "");
}

static void add_leg(const figure *f, int side) {
    const v3 ankle = on(f, 0, 0.13 * side, 0.06), knee = on(f, 0.05, 0.12 * side, 0.48),
             hip = on(f, 0, 0.09 * side, 0.9);
    char shin[24], thigh[24], torso[24], joint[24];
    name_of(f, "shin", side, shin), name_of(f, "thigh", side, thigh), name_of(f, "torso", 0, torso);
    example_limb(f->scene, shin, ankle, knee, 0.055, 4, trousers);
    example_limb(f->scene, thigh, knee, hip, 0.07, 8, trousers);
    name_of(f, "ankle", side, joint);
    add_spring_joint(f->scene, "universal", joint, "ground", shin, ankle, 2500);
    name_of(f, "knee", side, joint);
    example_hinge(f->scene, joint, shin, thigh, knee, (v3){0, 1, 0}, (example_spring){2500, 40});
    name_of(f, "hip", side, joint);
    add_spring_joint(f->scene, "ball", joint, thigh, torso, hip, 2500);
}

static void add_arm(const figure *f, int side, const char *tile) {
    const v3 shoulder = on(f, 0.02, 0.21 * side, 1.36), hand = on(f, 0.35, 0.36 * side, sheet_height);
    const v3 elbow = on(f, 0.08, 0.33 * side, 1.12);
    char upper[24], lower[24], torso[24], joint[24];
    name_of(f, "upper arm", side, upper), name_of(f, "forearm", side, lower), name_of(f, "torso", 0, torso);
    example_limb(f->scene, upper, shoulder, elbow, 0.045, 2, shirts[f->number - 1]);
    example_limb(f->scene, lower, elbow, hand, 0.035, 1.5, skin);
    name_of(f, "shoulder", side, joint);
    add_spring_joint(f->scene, "ball", joint, torso, upper, shoulder, 300);
    name_of(f, "elbow", side, joint);
    add_spring_joint(f->scene, "ball", joint, upper, lower, elbow, 200);
    name_of(f, "hand", side, joint);
    add_spring_joint(f->scene, "ball", joint, lower, tile, hand, 4);
}

static void add_torso(const figure *f) {
    char name[24];
    name_of(f, "torso", 0, name);
    const v3 middle = on(f, 0, 0, 1.17), colour = shirts[f->number - 1];
    json_t *trunk = example_shape("capsule", example_numbers(2, 0.13, 0.32), (v3){0, 0, 0}, colour);
    json_t *shoulders = example_shape("capsule", example_numbers(2, 0.07, 0.36), (v3){0, 0, 0.18}, colour);
    json_object_set_new(shoulders, "rotate_deg", example_numbers(3, 90.0, 0.0, 0.0));
    example_add(f->scene, "links",
                json_pack("{s:s, s:o, s:f, s:[o, o]}", "name", name, "position", example_place(middle), "mass", 32.0,
                          "shape", trunk, shoulders));
    char head[24];
    name_of(f, "head", 0, head);
    json_t *throat = example_shape("capsule", example_numbers(2, 0.05, 0.1), (v3){0, 0, -0.12}, skin);
    example_add(f->scene, "links",
                json_pack("{s:s, s:o, s:f, s:[o, o]}", "name", head, "position", example_place(on(f, 0.02, 0, 1.6)),
                          "mass", 5.0, "shape", example_sphere(0.115, (v3){0, 0, 0}, skin), throat));
    char neck[24];
    name_of(f, "neck", 0, neck);
    add_spring_joint(f->scene, "ball", neck, name, head, on(f, 0, 0, 1.48), 150);
}

static void add_figure(json_t *scene, int number) {
    const double inwards = number == 1 ? 1 : -1;
    const figure f = {scene, number, -inwards * 0.92, inwards};
    char tile[32];
    add_torso(&f);
    for (int side = -1; side <= 1; side += 2) {
        tile_name(number == 1 ? 0 : TILES_X - 1, side < 0 ? 0 : TILES_Y - 1, tile);
        add_leg(&f, side);
        add_arm(&f, side, tile);
    }
}

/* The base: drawn as four shoes, which stay where they are. */
static void add_ground(json_t *scene) {
    json_t *shoes = json_array();
    for (int i = 0; i < 4; i++)
        json_array_append_new(shoes, example_shape("box", example_numbers(3, 0.24, 0.10, 0.07),
                                                   (v3){(i < 2 ? -1 : 1) * 0.88, (i % 2 ? 1 : -1) * 0.13, 0.035},
                                                   shoe_colour));
    example_add(scene, "links", json_pack("{s:s, s:o}", "name", "ground", "shape", shoes));
}

/* ---- the bunny: hulls of points on ellipsoids ---- */

static void add_bunny(json_t *scene) {
    static const axes level = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    json_t *shapes = json_array();
    json_array_append_new(shapes, example_ellipsoid(80, (v3){0.13, 0.09, 0.10}, &level, (v3){0, 0, 0}, bunny_colour));
    json_array_append_new(shapes,
                          example_ellipsoid(50, (v3){0.075, 0.06, 0.065}, &level, (v3){0.125, 0, 0.10}, bunny_colour));
    json_array_append_new(shapes,
                          example_ellipsoid(24, (v3){0.03, 0.03, 0.03}, &level, (v3){-0.135, 0, 0.02}, bunny_colour));
    for (int side = -1; side <= 1; side += 2) {
        const axes back = axes_around((v3){-0.45, 0.22 * side, 1}, (v3){1, 0, 0});
        json_array_append_new(shapes, example_ellipsoid(36, (v3){0.014, 0.028, 0.085}, &back,
                                                        (v3){0.075, 0.045 * side, 0.215}, bunny_colour));
        json_array_append_new(shapes, example_ellipsoid(30, (v3){0.06, 0.03, 0.025}, &level,
                                                        (v3){0.05, 0.065 * side, -0.085}, bunny_colour));
    }
    example_add(scene, "bodies",
                json_pack("{s:s, s:f, s:o, s:o, s:o, s:f, s:f}", "name", "bunny", "mass", 1.2, "position",
                          example_place((v3){-0.04, 0, 1.95}), "rotate_deg", example_numbers(3, 0.0, -6.0, -20.0),
                          "shape", shapes, "friction", 0.8, "restitution", 0.1));
}

int example_trampoline(bough_context *ctx, example *e) {
    json_t *scene = example_scene("A trampoline that catches a bunny");
    add_ground(scene);
    add_sheet(scene);
    add_figure(scene, 1);
    add_figure(scene, 2);
    add_bunny(scene);
    example_add(scene, "obstacles",
                json_pack("{s:s, s:o}", "name", "meadow", "shape",
                          example_shape("plane", example_numbers(2, 4.0, 3.0), (v3){0, 0, 0}, ground_colour)));
    example_add(scene, "probes", json_pack("{s:s, s:s}", "name", "bunny", "body", "bunny"));
    example_add(scene, "probes", json_pack("{s:s, s:s}", "name", "middle", "end_effector", "tile3.3"));
    json_object_set_new(scene, "settle", json_true());
    json_object_set_new(scene, "time", json_pack("{s:f, s:i}", "dt", 0.003, "duration", 6));
    return example_write_scene(ctx, e, scene);
}
