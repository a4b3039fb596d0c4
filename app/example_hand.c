/* A compliant hand of four fingers that takes a ball, and holds it when its stand is gone, while the hand turns to both
 * sides, or turns the ball over. */
#include "example.h"

/* The reduced model is linear about one pose: that of the fingers at the ball. They open from there, and the hand turns
 * about an axis through the ball, so that what is not linear stays small. */
#define FINGERS 4

static const double ball_radius = 0.045, pad_radius = 0.012, bone_radius = 0.009; /* m */
static const v3 ball_at = {0, 0, 0.14}, palm_at = {0, 0, 0.225};
static const v3 bone_colour = {0.80, 0.82, 0.85}, pad_colour = {0.20, 0.22, 0.26}, arm_colour = {0.93, 0.55, 0.16},
                post_colour = {0.45, 0.48, 0.52}, ball_colour = {0.83, 0.20, 0.19}, stand_colour = {0.30, 0.52, 0.42},
                floor_colour = {0.86, 0.87, 0.88};

/* At a distance from the ball's vertical axis, on the side of a finger, and at a height above its middle. */
static v3 beside_ball(int finger, double distance, double height) {
    const double angle = (finger + 0.5) * 2 * M_PI / FINGERS;
    return v3_add(ball_at, (v3){distance * cos(angle), distance * sin(angle), height});
}
/* About which positive angles close the finger. */
static v3 closing_axis(int finger) {
    const double angle = (finger + 0.5) * 2 * M_PI / FINGERS;
    return (v3){-sin(angle), cos(angle), 0};
}

/* Three bones around the ball, with a pad at the tip, below the ball's middle, and one at the middle bone. */
static void add_finger(json_t *scene, int finger) {
    static const double distance[] = {0.036, 0.065, 0.067, 0.0467}, height[] = {0.085, 0.040, -0.004, -0.0327};
    static const double opens[] = {-0.42, -0.1, -0.1}, closes[] = {0.16, 0.2, 0.3};
    const v3 knuckle = beside_ball(finger, 0.0515, 0.018);
    char parent[32] = "palm", bone[32], joint[32], curve[32], pad[32];
    for (int i = 0; i < 3; i++) {
        const v3 from = beside_ball(finger, distance[i], height[i]),
                 to = beside_ball(finger, distance[i + 1], height[i + 1]);
        snprintf(bone, sizeof bone, "bone%d.%d", finger + 1, i + 1);
        snprintf(joint, sizeof joint, "joint%d.%d", finger + 1, i + 1);
        snprintf(curve, sizeof curve, "close%d", i + 1);
        example_limb(scene, bone, from, to, bone_radius, 0.015, bone_colour);
        example_hinge(scene, joint, parent, bone, from, closing_axis(finger), (example_spring){6, 0.05});
        example_motor(scene, joint, curve, 1);
        if (finger == 0)
            example_ease(scene, curve, 0.3, 1.0, opens[i], closes[i]);
        if (i > 0) {
            snprintf(pad, sizeof pad, i == 1 ? "pad%d" : "tip%d", finger + 1);
            example_touch(scene, pad, bone, i == 1 ? knuckle : to,
                          example_sphere(pad_radius, (v3){0, 0, 0}, pad_colour), 1);
        }
        snprintf(parent, sizeof parent, "%s", bone);
    }
}

/* As example_limb() draws it, for links of several shapes. */
static json_t *rod(v3 from, v3 to, double radius, v3 colour) {
    const v3 along = v3_along(to, -1, from);
    const axes turned = axes_around(along, (v3){0, 0, 1});
    json_t *shape = example_shape("capsule", example_numbers(2, radius, sqrt(v3_dot(along, along))),
                                  v3_scale(0.5, v3_add(from, to)), colour);
    json_object_set_new(shape, "rotate_deg", example_turn(&turned));
    return shape;
}

/* The hand turns to both sides by 0.9 rad and back, or over: by half a turn, so that the ball lies in it, and back. */
static void add_turns(json_t *scene, bool over) {
    if (over) {
        example_ease(scene, "turn", 2.0, 3.5, 0, M_PI);
        example_ease(scene, "turn", 4.25, 5.75, M_PI, 0);
        return;
    }
    example_ease(scene, "turn", 2.0, 3.0, 0, 0.9);
    example_ease(scene, "turn", 3.5, 5.0, 0.9, -0.9);
    example_ease(scene, "turn", 5.5, 6.5, -0.9, 0);
}

/* A post with a beam, at the end of which the hand turns about the beam: a fork takes the palm above the ball. */
static void add_arm(json_t *scene) {
    const v3 foot = {-0.34, 0, 0}, top = {foot.x, 0, ball_at.z}, wrist = {-0.15, 0, ball_at.z};
    const v3 in_palm = v3_along(wrist, -1, palm_at), bend = {-0.13, 0, -0.055}, rim = {-0.04, 0, 0};
    json_t *palm = example_shape("cylinder", example_numbers(2, 0.048, 0.022), (v3){0, 0, 0}, arm_colour);
    example_add(scene, "links",
                json_pack("{s:s, s:[o, o]}", "name", "post", "shape", rod(foot, top, 0.022, post_colour),
                          rod(top, wrist, 0.022, post_colour)));
    example_add(scene, "links",
                json_pack("{s:s, s:o, s:f, s:[o, o, o]}", "name", "palm", "position", example_place(palm_at), "mass",
                          0.3, "shape", palm, rod(in_palm, bend, 0.012, arm_colour),
                          rod(bend, rim, 0.012, arm_colour)));
    example_hinge(scene, "wrist", "post", "palm", wrist, (v3){1, 0, 0}, (example_spring){60, 1});
    example_motor(scene, "wrist", "turn", 1);
}

/* The stand is a body of its own, which a force pulls away when the fingers have closed. */
static void add_ball(json_t *scene) {
    const double top = ball_at.z - ball_radius;
    example_add(scene, "bodies",
                json_pack("{s:s, s:f, s:o, s:o, s:f}", "name", "ball", "mass", 0.2, "position", example_place(ball_at),
                          "shape", example_sphere(ball_radius, (v3){0, 0, 0}, ball_colour), "friction", 1.0));
    example_add(scene, "bodies",
                json_pack("{s:s, s:f, s:o, s:o, s:f}", "name", "stand", "mass", 0.3, "position",
                          example_place((v3){0, 0, top / 2}), "shape",
                          example_shape("box", example_numbers(3, 0.05, 0.03, top), (v3){0, 0, 0}, stand_colour),
                          "friction", 0.4));
    example_add(scene, "obstacles",
                json_pack("{s:s, s:o}", "name", "floor", "shape",
                          example_shape("plane", example_numbers(2, 1.0, 0.7), (v3){0, 0, 0}, floor_colour)));
    example_add(scene, "forces",
                json_pack("{s:s, s:o, s:o, s:f, s:f}", "body", "stand", "position", example_place((v3){0, 0, 0.04}),
                          "force", example_numbers(3, 3.0, 0.0, 0.0), "from", 1.2, "until", 1.35));
}

static void add_probes(json_t *scene) {
    example_add(scene, "probes", json_pack("{s:s, s:s}", "name", "ball", "body", "ball"));
    example_add(scene, "probes", json_pack("{s:s, s:s}", "name", "stand", "body", "stand"));
    example_add(scene, "probes", json_pack("{s:s, s:s}", "name", "palm", "end_effector", "palm"));
    for (int i = 0; i < 2 * FINGERS; i++) {
        char pad[16];
        snprintf(pad, sizeof pad, i % 2 ? "pad%d" : "tip%d", i / 2 + 1);
        example_add(scene, "probes", json_pack("{s:s, s:s}", "name", pad, "touch", pad));
    }
}

static json_t *make_scene(const char *name, bool over) {
    json_t *scene = example_scene(name);
    add_arm(scene);
    add_turns(scene, over);
    for (int i = 0; i < FINGERS; i++)
        add_finger(scene, i);
    /* A little thinner than the palm, in which it is not seen. */
    example_touch(scene, "palm", "palm", palm_at, json_pack("{s:o}", "box", example_numbers(3, 0.06, 0.06, 0.02)), 1);
    add_ball(scene);
    add_probes(scene);
    json_object_set_new(scene, "settle", json_true());
    json_object_set_new(scene, "time", json_pack("{s:f, s:i}", "dt", 0.002, "duration", 7));
    return scene;
}

/* The same hand in two scenes: half a turn is more than models of one pose can follow. */
int example_hand(bough_context *ctx, example *e) {
    const int made = example_write_scene(ctx, e, make_scene("A hand that holds a ball", false));
    return made == APP_OK
               ? example_write_scene_as(ctx, e, "over.json", make_scene("A hand that turns a ball over", true))
               : made;
}
