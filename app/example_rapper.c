/* A rapper's arm of printed plastic: three motors at the shoulder, and a forearm that is a four-bar loop of two flexible
 * bars. Two hinges, a universal joint and a ball leave the loop the one freedom that the motor at the elbow has. */
#include "example.h"

enum { UPPER_R = 28, BAR_R = 27 };
static const double upper_length = 0.2, bar_length = 0.2, lever = 0.045; /* m */
static const v3 shoulder = {0, 0, 0.6}, shell = {0.35, 0.22, 0.48}, gold = {0.88, 0.70, 0.25},
                grey = {0.60, 0.62, 0.66};

/* Turns about z, y and x, each of which carries the next; the arm hangs from the last. */
static void add_shoulder(json_t *scene) {
    example_body(scene, "yaw", shoulder, 0.1,
                 json_pack("[o, o, o, o]", example_servo_box((v3){0, 0, 0.05}, (v3){0.036, 0.048, 0.03}),
                           example_shape("box", example_numbers(3, 0.024, 0.004, 0.07), (v3){0, 0.024, 0.02}, shell),
                           example_shape("box", example_numbers(3, 0.024, 0.004, 0.07), (v3){0, -0.024, 0.02}, shell),
                           example_horn((v3){0, 0, 0.075}, (v3){0, 0, 1}, 0.02)));
    example_body(scene, "pitch", shoulder, 0.1,
                 json_pack("[o]", example_servo_box((v3){0, 0, 0}, (v3){0.048, 0.036, 0.04})));
    example_body(scene, "roll", shoulder, 0.05,
                 json_pack("[o, o]",
                           example_shape("box", example_numbers(3, 0.06, 0.03, 0.01), (v3){0, 0, -0.03}, shell),
                           example_horn((v3){0, 0, 0}, (v3){1, 0, 0}, 0.064)));
    example_servo(scene, "yaw", "world", "yaw", shoulder, (v3){0, 0, 1}, -120, 120);
    example_servo(scene, "pitch", "yaw", "pitch", shoulder, (v3){0, -1, 0}, -60, 150);
    example_servo(scene, "roll", "pitch", "roll", shoulder, (v3){1, 0, 0}, -60, 120);
}

/* A bar of the loop: clamped to a body at the elbow, a clevis at its tip. */
static void add_bar(json_t *scene, const char *name, const char *root, const char *clevis, v3 at) {
    example_body(scene, root, at, 0.03,
                 json_pack("[o, o]", example_horn((v3){0, 0, 0}, (v3){0, 1, 0}, 0.05),
                           example_shape("box", example_numbers(3, 0.012, 0.02, 0.012), (v3){0.012, 0, 0}, grey)));
    example_flexible(scene, name, "bar", root, v3_add(at, (v3){0.018, 0, 0}), (v3){1, 0, 0}, (v3){0, 1, 0});
    example_body(scene, clevis, v3_add(at, (v3){0.018 + bar_length, 0, 0}), 0.02,
                 json_pack("[o]", example_shape("box", example_numbers(3, 0.02, 0.02, 0.014), (v3){0.01, 0, 0}, grey)));
    example_tip_joint(scene, "weld", name, clevis);
}

/* The forearm points forwards at the start. The hand is the link across its end, and holds a microphone. */
static void add_forearm(json_t *scene) {
    const v3 elbow = v3_add(shoulder, (v3){0, 0, -0.035 - upper_length}), main_at = v3_add(elbow, (v3){0, 0, -0.02}),
             second_at = v3_add(main_at, (v3){0, 0, -lever}), reach = {0.018 + bar_length + 0.02, 0, 0},
             hand = v3_add(main_at, reach);
    example_body(
        scene, "elbow", elbow, 0.12,
        json_pack("[o, o]", example_servo_box((v3){0, 0, -0.02}, (v3){0.036, 0.03, 0.034}),
                  example_shape("box", example_numbers(3, 0.02, 0.024, lever), (v3){0, 0, -0.03 - lever / 2}, shell)));
    example_tip_joint(scene, "weld", "upper", "elbow");
    add_bar(scene, "radius", "crank", "upper clevis", main_at);
    add_bar(scene, "ulna", "rocker", "lower clevis", second_at);
    example_body(
        scene, "hand", hand, 0.15,
        json_pack("[o, o, o]",
                  example_shape("box", example_numbers(3, 0.02, 0.03, lever + 0.02), (v3){0, 0, -lever / 2}, gold),
                  example_shape("cylinder", example_numbers(2, 0.009, 0.09), (v3){0.018, 0, 0.01}, gold),
                  example_sphere(0.018, (v3){0.018, 0, 0.065}, gold)));
    example_servo(scene, "elbow", "elbow", "crank", main_at, (v3){0, -1, 0}, -60, 60);
    json_object_set_new(example_joint(scene, "hinge", "rocker", "elbow", "rocker", second_at), "axis",
                        example_place((v3){0, 1, 0}));
    json_t *cross = example_joint(scene, "universal", "cross", "upper clevis", "hand", hand);
    json_object_set_new(cross, "rotate_deg", example_numbers(3, 0.0, 0.0, 0.0));
    /* Stops: the bars bend enough for the hand to turn over, and the loop closes that way, too. */
    json_object_set_new(cross, "limits_deg",
                        json_pack("[o, o]", example_numbers(2, -30.0, 30.0), example_numbers(2, -80.0, 80.0)));
    json_object_set_new(cross, "limit_stiffness", json_real(5)); /* N m / rad */
    example_joint(scene, "ball", "ball", "lower clevis", "hand", v3_add(second_at, reach));
}

static void add_motion(json_t *scene) {
    static const double poses[][5] = {
        /* s, yaw, pitch, roll, elbow */
        {0.0, 0, 0, 0, 0},     {0.4, 0, 0, 0, 0},      {1.0, 20, 40, 10, 40}, {1.5, -20, 50, 20, 20},
        {2.0, 20, 40, 10, 40}, {2.5, -20, 50, 20, 20}, {3.0, 30, 20, 40, 30}, {3.4, 30, 20, 50, -20},
        {3.8, 30, 20, 40, 30}, {4.2, 30, 20, 50, -20}, {4.8, 0, 70, 0, 10},   {5.3, -30, 70, 0, 40},
        {5.8, 30, 70, 0, 10},  {6.3, -30, 70, 0, 40},  {7.0, 0, 20, 20, 40},  {7.4, 0, 35, 20, 10},
        {7.8, 0, 20, 20, 40},  {8.2, 0, 35, 20, 10},   {8.7, 0, 0, 0, 0},     {10.0, 0, 0, 0, 0},
    };
    example_poses(scene, sizeof poses / sizeof *poses, poses[0], "stops");
}

/* With the animation as it is, simulations fail in steps longer than the scene's. A window begins in the calm that the
 * one before left. */
static void add_search(json_t *scene) {
    json_t *retarget = example_limit_servos(scene, 570, 0, 3.7); /* Dynamixel XM430-W210 at 14.8 V */
    json_object_set_new(retarget, "point_rate", json_real(10));
    json_object_set_new(retarget, "keep", json_real(1e-3));
    json_object_set_new(retarget, "dt", json_real(0.001));
    example_windows(retarget, 2, 1);
}

int example_rapper(bough_context *ctx, example *e) {
    json_t *scene = example_robot("a rapper's arm with a four-bar loop of plastic bars", 10);
    example_plastic_bar(scene, "upper", (v3){upper_length, 0.013, 0.011}, UPPER_R);
    example_plastic_bar(scene, "bar", (v3){bar_length, 0.010, 0.006}, BAR_R);
    add_shoulder(scene);
    example_flexible(scene, "upper", "upper", "roll", v3_add(shoulder, (v3){0, 0, -0.035}), (v3){0, 0, -1},
                     (v3){0, 1, 0});
    add_forearm(scene);
    add_motion(scene);
    example_watch(scene, "elbow"), example_track(scene, "elbow");
    example_watch(scene, "hand"), example_track(scene, "hand");
    add_search(scene);
    return example_write_robot(ctx, e, scene);
}
