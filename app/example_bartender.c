/* A bartender: an arm with four motors on a steel post, whose links are steel rods. It takes a glass to three
 * places of the bar, and its last motor holds the glass upright. */
#include "example.h"

enum { POST_R = 11, UPPER_R = 28, FORE_R = 28 };
static const double post_length = 0.1, upper_length = 0.2, fore_length = 0.18;
static const v3 pitch_at = {0, 0, 0.14}, steel = {0.70, 0.72, 0.75}, glass = {0.55, 0.75, 0.85},
                shell = {0.20, 0.42, 0.40};

/* The upper arm stands, the forearm points forwards. */
static void add_bodies(json_t *scene, v3 elbow, v3 wrist) {
    const v3 plate = {0.02, 0.05, 0.008};
    example_body(scene, "turret", v3_along(pitch_at, -1, (v3){0, 0, 0.04}), 0.12,
                 json_pack("[o, o]", example_servo_box((v3){0, 0, 0.032}, (v3){0.036, 0.05, 0.036}),
                           example_shape("cylinder", example_numbers(2, 0.03, 0.012), (v3){0, 0, 0.006}, shell)));
    example_body(scene, "shoulder", pitch_at, 0.04,
                 json_pack("[o, o]", example_shape("box", example_place(plate), (v3){0, 0, 0.026}, steel),
                           example_horn((v3){0, 0, 0}, (v3){0, 1, 0}, 0.066)));
    example_body(scene, "elbow", elbow, 0.11,
                 json_pack("[o, o]", example_servo_box((v3){0, 0, 0}, (v3){0.036, 0.05, 0.03}),
                           example_shape("box", example_place(plate), (v3){0, 0, -0.018}, steel)));
    example_body(scene, "fork", elbow, 0.04,
                 json_pack("[o, o]",
                           example_shape("box", example_numbers(3, 0.008, 0.05, 0.02), (v3){0.026, 0, 0}, steel),
                           example_horn((v3){0, 0, 0}, (v3){0, 1, 0}, 0.066)));
    example_body(scene, "wrist", wrist, 0.09,
                 json_pack("[o]", example_servo_box((v3){0, 0, 0}, (v3){0.03, 0.05, 0.03})));
    example_body(scene, "glass", wrist, 0.2,
                 json_pack("[o, o, o]",
                           example_shape("cylinder", example_numbers(2, 0.03, 0.1), (v3){0.06, 0, 0}, glass),
                           example_horn((v3){0, 0, 0}, (v3){0, 1, 0}, 0.066),
                           example_shape("box", example_numbers(3, 0.03, 0.066, 0.012), (v3){0.022, 0, 0}, steel)));
}

/* From the shelf to the left over the middle to the guest on the right, and back. */
static void add_motion(json_t *scene) {
    static const double poses[][5] = {
        /* s, turn, shoulder, elbow, wrist */
        {0.0, 0, 0, 0, 0},      {0.4, 0, 0, 0, 0},    {1.1, 60, 0, 0, 0},     {1.6, 60, 35, 5, -40},
        {2.2, 60, 35, 5, -40},  {2.7, 60, 5, -5, 0},  {3.4, 0, 5, -5, 0},     {3.9, 0, 35, -5, -30},
        {4.5, 0, 35, -5, -30},  {5.0, 0, 0, -10, 10}, {5.6, -60, 0, -10, 10}, {6.1, -60, 35, 0, -35},
        {6.6, -60, 35, 0, -35}, {7.1, -60, 0, 0, 0},  {7.8, 0, 0, 0, 0},      {8.5, 0, 0, 0, 0},
    };
    example_poses(scene, sizeof poses / sizeof *poses, poses[0], "stops");
}

/* The glass goes where it should and stays as upright as it should. Its bottom and the surface of the drink, 25 mm below
 * the rim, are watched: they tell whether it spills. */
static void add_retargeting(json_t *scene) {
    example_watch(scene, "elbow");
    example_watch(scene, "glass");
    example_watch_point(scene, "bottom", "glass", (v3){0.06, 0, -0.05});
    example_watch_point(scene, "surface", "glass", (v3){0.06, 0, 0.025});
    example_track(scene, "elbow");
    json_object_set_new(example_track(scene, "glass"), "orientation", json_real(0.1));
    /* A servo of 82 g: 77 turns a minute, 3 N m when held; its acceleration is an estimate. */
    json_object_set_new(example_limit_servos(scene, 460, 8000, 3), "limit_weight", json_real(0.01));
}

int example_bartender(bough_context *ctx, example *e) {
    json_t *scene = example_robot("a bartender's arm that carries a glass", 8.5);
    const v3 upper_at = v3_add(pitch_at, (v3){0, 0, 0.03}), elbow = v3_add(upper_at, (v3){0, 0, upper_length + 0.022}),
             fore_at = v3_add(elbow, (v3){0.03, 0, 0}), wrist = v3_add(fore_at, (v3){fore_length + 0.015, 0, 0});
    example_steel_rod(scene, "post", post_length, 0.006, POST_R);
    example_steel_rod(scene, "upper", upper_length, 0.005, UPPER_R);
    example_steel_rod(scene, "fore", fore_length, 0.004, FORE_R);
    add_bodies(scene, elbow, wrist);
    example_flexible(scene, "post", "post", "world", (v3){0, 0, 0}, (v3){0, 0, 1}, (v3){1, 0, 0});
    json_t *turn = example_tip_joint(scene, "hinge", "post", "turret");
    json_object_set_new(turn, "axis", example_place((v3){0, 0, 1}));
    example_drive(scene, turn, -120, 120);
    example_servo(scene, "lean", "turret", "shoulder", pitch_at, (v3){0, 1, 0}, -90, 90);
    example_flexible(scene, "upper", "upper", "shoulder", upper_at, (v3){0, 0, 1}, (v3){0, 1, 0});
    example_tip_joint(scene, "weld", "upper", "elbow");
    example_servo(scene, "bend", "elbow", "fork", elbow, (v3){0, 1, 0}, -90, 120);
    example_flexible(scene, "fore", "fore", "fork", fore_at, (v3){1, 0, 0}, (v3){0, 1, 0});
    example_tip_joint(scene, "weld", "fore", "wrist");
    example_servo(scene, "level", "wrist", "glass", wrist, (v3){0, 1, 0}, -120, 120);
    add_motion(scene);
    add_retargeting(scene);
    return example_write_robot(ctx, e, scene);
}
