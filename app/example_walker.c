/* A robot on six legs that walks over uneven ground: three legs carry it while the three others step. */
#include "example.h"

static const double period = 0.9;                      /* s: two steps */
static const double stride = 0.24, lift = 0.34;        /* rad: of hips to both sides, of knees up */
static const double start = 0.4, last = 7;             /* s: it stands before, and walks until then */
static const double foot_radius = 0.02, height = 0.15; /* m */
static const v3 body_colour = {0.16, 0.42, 0.60}, hip_colour = {0.25, 0.28, 0.32}, thigh_colour = {0.93, 0.62, 0.18},
                shin_colour = {0.80, 0.82, 0.85}, foot_colour = {0.15, 0.16, 0.18};

/* Hips swing from one side to the other while the foot stands, and back while it is lifted: `phase` 0 .. 0.5 and
 * 0.5 .. 1. The first half period grows from standing. */
static void add_gait(json_t *scene, const char *hips, const char *knees, double offset) {
    enum { KEYS = 20 }; /* a period */
    const int count = (int)((last - start) / period * KEYS);
    example_key(scene, hips, 0, 0);
    example_key(scene, knees, 0, 0);
    for (int i = 0; i <= count; i++) {
        const double cycles = (double)i / KEYS, p = fmod(cycles + offset, 1), s = 2 * p - 1;
        const double most = fmin(1, 2 * cycles) * fmin(1, 2.0 * (count - i) / KEYS);
        const double swing = p < 0.5 ? 1 - 4 * p : -cos(M_PI * s);
        example_key(scene, hips, start + cycles * period, most * swing);
        example_key(scene, knees, start + cycles * period, p < 0.5 ? 0 : most * sin(M_PI * s));
    }
}

/* Legs 1, 4, 5 and 2, 3, 6 step together: on each side front, middle and rear, odd ones left. */
static void add_leg(json_t *scene, int leg) {
    const int row = leg / 2;
    const bool left = leg % 2 == 0, first = left == (row != 1);
    const double side = left ? 1 : -1, fan = side * (1 - row) * 0.45; /* rad: front legs point ahead */
    const v3 out = {sin(side * fan), side * cos(fan), 0}, up = {0, 0, 1}, axis = v3_cross(out, up);
    const v3 hip = {0.15 * (1 - row), side * 0.07, height};
    const v3 thigh = v3_along(hip, 0.045, out), knee = v3_along(v3_along(thigh, 0.09, out), 0.055, up);
    v3 foot = v3_along(knee, 0.06, out);
    foot.z = foot_radius;
    char names[4][16], joints[3][16];
    const char *const bones[] = {"hip", "thigh", "shin", "foot"};
    for (int i = 0; i < 4; i++)
        snprintf(names[i], sizeof names[i], "%s%d", bones[i], leg + 1);
    for (int i = 0; i < 3; i++)
        snprintf(joints[i], sizeof joints[i], "%s%d", (const char *[]){"turn", "raise", "bend"}[i], leg + 1);
    example_limb(scene, names[0], hip, thigh, 0.02, 0.06, hip_colour);
    example_limb(scene, names[1], thigh, knee, 0.014, 0.08, thigh_colour);
    example_limb(scene, names[2], knee, foot, 0.011, 0.06, shin_colour);
    example_hinge(scene, joints[0], "body", names[0], hip, up, (example_spring){60, 0.8});
    example_hinge(scene, joints[1], names[0], names[1], thigh, axis, (example_spring){60, 0.8});
    example_hinge(scene, joints[2], names[1], names[2], knee, axis, (example_spring){60, 0.8});
    /* forward is x: while the foot stands it goes back against the body */
    example_motor(scene, joints[0], first ? "swing A" : "swing B", -side * stride);
    example_motor(scene, joints[1], first ? "lift A" : "lift B", lift);
    example_touch(scene, names[3], names[2], foot, example_sphere(foot_radius, (v3){0, 0, 0}, foot_colour), 1);
}

int example_walker(bough_context *ctx, example *e) {
    json_t *scene = example_scene("A robot that walks over uneven ground");
    json_object_set_new(scene, "free_base", json_true());
    json_t *trunk = example_shape("box", example_numbers(3, 0.38, 0.13, 0.05), (v3){0, 0, 0}, body_colour);
    json_t *head = example_shape("box", example_numbers(3, 0.06, 0.09, 0.04), (v3){0.215, 0, 0.02}, hip_colour);
    example_add(scene, "links",
                json_pack("{s:s, s:o, s:f, s:[o, o]}", "name", "body", "position", example_place((v3){0, 0, height}),
                          "mass", 2.0, "shape", trunk, head));
    for (int i = 0; i < 6; i++)
        add_leg(scene, i);
    add_gait(scene, "swing A", "lift A", 0.25);
    add_gait(scene, "swing B", "lift B", 0.75);
    json_t *noise = json_pack("{s:[i, i], s:f, s:f, s:i}", "cells", 80, 40, "height", 0.05, "length", 0.22, "seed", 5);
    json_t *field = json_pack("{s:o, s:o}", "size", example_numbers(2, 3.2, 1.6), "noise", noise);
    example_add(scene, "obstacles",
                json_pack("{s:s, s:o, s:o, s:f}", "name", "ground", "position", example_place((v3){0.9, 0, -0.045}),
                          "shape", example_shape("height_field", field, (v3){0, 0, 0}, (v3){0.56, 0.60, 0.48}),
                          "friction", 1.0));
    example_add(scene, "probes", json_pack("{s:s, s:s}", "name", "body", "link", "body"));
    example_add(scene, "probes",
                json_pack("{s:s, s:s, s:o}", "name", "top", "link", "body", "position",
                          example_place((v3){0, 0, height + 0.1})));
    for (int i = 0; i < 6; i++) {
        char foot[16];
        snprintf(foot, sizeof foot, "foot%d", i + 1);
        example_add(scene, "probes", json_pack("{s:s, s:s}", "name", foot, "touch", foot));
    }
    json_object_set_new(scene, "time", json_pack("{s:f, s:i}", "dt", 0.004, "duration", 8));
    return example_write_scene(ctx, e, scene);
}
