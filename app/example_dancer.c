/* A dancer: a body on one steel rod, and two arms of steel rods with weights for hands, which two motors turn at each
 * shoulder. */
#include "example.h"

enum { BODY_R = 28, ARM_R = 24 };
static const double body_length = 0.25, arm_length = 0.2, shoulder_width = 0.07;
static const v3 clavicle_at = {0, 0, 0.25};
static const v3 shirt = {0.78, 0.24, 0.30}, skin = {0.93, 0.76, 0.62}, brass = {0.85, 0.65, 0.28};

/* The clavicle with the first motor of each shoulder, and a head above. */
static void add_body(json_t *scene) {
    example_body(scene, "clavicle", clavicle_at, 0.32,
                 json_pack("[o, o, o, o, o]",
                           example_shape("box", example_numbers(3, 0.03, 0.05, 0.03), (v3){0, 0, 0.012}, shirt),
                           example_servo_box((v3){0, shoulder_width - 0.025, 0.012}, (v3){0.034, 0.046, 0.028}),
                           example_servo_box((v3){0, 0.025 - shoulder_width, 0.012}, (v3){0.034, 0.046, 0.028}),
                           example_shape("capsule", example_numbers(2, 0.008, 0.04), (v3){0, 0, 0.045}, skin),
                           example_sphere(0.032, (v3){0, 0, 0.09}, skin)));
    example_flexible(scene, "body", "body", "world", (v3){0, 0, 0}, (v3){0, 0, 1}, (v3){1, 0, 0});
    example_tip_joint(scene, "weld", "body", "clavicle");
}

/* The first motor swings the arm forwards, about y; the second lifts it sideways. Arms hang at the start. */
static void add_arm(json_t *scene, const char *side, double sign) {
    char bracket[32], horn[32], hand[32], arm[32], swing[32], lift[32];
    const v3 shoulder = v3_add(clavicle_at, (v3){0, sign * shoulder_width, 0.012}),
             second = v3_add(shoulder, (v3){0, sign * 0.03, 0}), clamp = v3_add(second, (v3){0, 0, -0.02});
    snprintf(bracket, sizeof bracket, "%s bracket", side);
    snprintf(horn, sizeof horn, "%s horn", side);
    snprintf(hand, sizeof hand, "%s hand", side);
    snprintf(arm, sizeof arm, "%s arm", side);
    snprintf(swing, sizeof swing, "%s swing", side);
    snprintf(lift, sizeof lift, "%s lift", side);
    example_body(scene, bracket, second, 0.1,
                 json_pack("[o, o]", example_servo_box((v3){0, 0, 0}, (v3){0.04, 0.03, 0.034}),
                           example_horn((v3){0, -sign * 0.022, 0}, (v3){0, 1, 0}, 0.014)));
    example_body(scene, horn, second, 0.03,
                 json_pack("[o, o]", example_horn((v3){0, 0, 0}, (v3){1, 0, 0}, 0.05),
                           example_shape("box", example_numbers(3, 0.05, 0.012, 0.006), (v3){0, 0, -0.021}, shirt)));
    example_flexible(scene, arm, "arm", horn, clamp, (v3){0, 0, -1}, (v3){1, 0, 0});
    example_body(scene, hand, v3_add(clamp, (v3){0, 0, -arm_length}), 0.2,
                 json_pack("[o]", example_shape("cylinder", example_numbers(2, 0.0165, 0.028), (v3){0, 0, 0}, brass)));
    example_servo(scene, swing, "clavicle", bracket, shoulder, (v3){0, -1, 0}, -180, 180);
    example_servo(scene, lift, bracket, horn, second, (v3){sign, 0, 0}, -30, 180);
    example_tip_joint(scene, "weld", arm, hand);
}

/* It waves with the left hand, then dances with both arms. */
static void add_motion(json_t *scene) {
    static const double poses[][5] = {
        /* s, left swing, left lift, right swing, right lift */
        {0.0, 0, 0, 0, 0},      {0.4, 0, 0, 0, 0},       {1.1, 20, 135, 0, 15},  {1.45, 20, 100, 0, 15},
        {1.8, 20, 145, 0, 15},  {2.15, 20, 100, 0, 15},  {2.5, 20, 145, 0, 15},  {2.85, 20, 100, 0, 15},
        {3.6, 0, 25, 0, 25},    {4.1, 70, 40, -40, 40},  {4.6, -40, 40, 70, 40}, {5.1, 70, 40, -40, 40},
        {5.6, -40, 40, 70, 40}, {6.2, 30, 100, 30, 100}, {6.6, 0, 70, 0, 130},   {7.0, 0, 130, 0, 70},
        {7.5, 40, 60, 40, 60},  {8.1, 0, 0, 0, 0},       {8.5, 0, 0, 0, 0},
    };
    example_poses(scene, sizeof poses / sizeof *poses, poses[0], "spline");
}

/* All that is tracked weighs the same; a second more shows how it swings when the motors have stopped. Where an arm
 * points along the axis of its first motor, that motor does not move the hand: it keeps to the animation. */
static void add_retargeting(json_t *scene) {
    example_track(scene, "clavicle");
    example_track(scene, "left hand");
    example_track(scene, "right hand");
    /* A servo of 82 g: 77 turns a minute, 3 N m when held; its acceleration is an estimate. */
    json_object_set_new(example_limit_servos(scene, 460, 8000, 3), "limit_weight", json_real(0.01));
    json_t *retarget = json_object_get(scene, "retarget");
    json_object_set_new(retarget, "duration", json_real(9.5));
    json_object_set_new(retarget, "keep", json_real(1e-3));
    json_object_set_new(retarget, "smooth", json_real(3e-9));
}

/* The same dancer with other weights: the clavicle has a hundred times as much, and with `waving` so has the left hand
 * while it waves. */
static int write_variant(bough_context *ctx, example *e, const char *name, const json_t *scene, bool waving) {
    static const double keys[][2] = {{0.9, 1}, {1.1, 100}, {2.85, 100}, {3.05, 1}};
    json_t *copy = json_deep_copy(scene), *track = json_object_get(json_object_get(copy, "retarget"), "track");
    json_object_set_new(json_array_get(track, 0), "weight", json_integer(100));
    if (waving)
        json_object_set_new(json_array_get(track, 1), "curve", json_string("waving"));
    for (size_t i = 0; waving && i < sizeof keys / sizeof *keys; i++)
        example_key(copy, "waving", keys[i][0], keys[i][1]);
    return example_write_scene_as(ctx, e, name, copy);
}

int example_dancer(bough_context *ctx, example *e) {
    json_t *scene = example_robot("a dancer of steel rods that waves and dances", 8.5);
    example_steel_rod(scene, "body", body_length, 0.004, BODY_R);
    example_steel_rod(scene, "arm", arm_length, 0.004, ARM_R);
    add_body(scene);
    add_arm(scene, "left", 1);
    add_arm(scene, "right", -1);
    add_motion(scene);
    example_watch(scene, "clavicle");
    example_watch(scene, "left hand");
    example_watch(scene, "right hand");
    add_retargeting(scene);
    int status = write_variant(ctx, e, "scene-clavicle.json", scene, false);
    if (status == APP_OK)
        status = write_variant(ctx, e, "scene-waving.json", scene, true);
    if (status == APP_OK)
        return example_write_robot(ctx, e, scene);
    json_decref(scene);
    return status;
}
