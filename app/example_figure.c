/* A figure on two steel legs with thirteen motors: five from the pelvis to the head, three at each shoulder and one at
 * each elbow. It drums, or it boxes. */
#include "example.h"

enum { LEG_R = 26, FOREARM_R = 12 };
static const double leg_length = 0.45, forearm_length = 0.1, hip_width = 0.05, shoulder_width = 0.1;
static const v3 grey = {0.60, 0.62, 0.66};

/* All in which the two figures differ. */
typedef struct figure {
    const char *name;
    double duration;
    v3 shirt;                     /* colour */
    json_t *(*hand)(double sign); /* shapes, about the end of the forearm, which points forwards */
    double hand_mass;             /* kg */
    const double (*poses)[14];    /* s, pelvis, spine, torso, neck, head, left and right arm */
    int pose_count;
    const char *between; /* poses */
    double hips;         /* their weight in the search for curves */
    double point_rate;   /* Hz: of these curves */
    double window;       /* s: in which they are searched one after the other; 0: all at once */
} figure;

/* ---- the body ---- */

static void add_legs(json_t *scene) {
    const v3 up = {0, 0, 1}, forwards = {1, 0, 0};
    example_flexible(scene, "left leg", "leg", "world", (v3){0, hip_width, 0}, up, forwards);
    example_flexible(scene, "right leg", "leg", "world", (v3){0, -hip_width, 0}, up, forwards);
    example_tip_joint(scene, "weld", "left leg", "hips");
    example_tip_joint(scene, "weld", "right leg", "hips");
}

/* From the hips to the head; each motor's case moves with the body before it. */
static void add_trunk(json_t *scene, v3 shirt) {
    const v3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
    const v3 hips = {0, 0, leg_length}, pelvis = {0, 0, leg_length + 0.03}, spine = {0, 0, leg_length + 0.07},
             torso = {0, 0, leg_length + 0.11}, neck = {0, 0, leg_length + 0.24}, head = {0, 0, leg_length + 0.27};
    const v3 servo = {0.036, 0.046, 0.03};
    example_body(
        scene, "hips", hips, 0.16,
        json_pack("[o, o]",
                  example_shape("box", example_numbers(3, 0.03, 2 * hip_width + 0.02, 0.012), (v3){0, 0, 0}, grey),
                  example_servo_box((v3){0, 0, 0.018}, servo)));
    example_body(scene, "pelvis", pelvis, 0.1, json_pack("[o]", example_servo_box((v3){0, 0, 0.025}, servo)));
    example_body(scene, "spine", spine, 0.1, json_pack("[o]", example_servo_box((v3){0, 0, 0.022}, servo)));
    example_body(scene, "chest", torso, 0.3,
                 json_pack("[o, o]",
                           example_shape("box", example_numbers(3, 0.05, 0.11, 0.1), (v3){0, 0, 0.065}, shirt),
                           example_shape("box", example_numbers(3, 0.03, 0.05, 0.02), (v3){0, 0, 0.01}, shirt)));
    example_body(scene, "neck", neck, 0.09,
                 json_pack("[o]", example_servo_box((v3){0, 0, 0.012}, (v3){0.03, 0.03, 0.024})));
    example_body(scene, "head", head, 0.12,
                 json_pack("[o, o]", example_sphere(0.045, (v3){0, 0, 0.055}, shirt),
                           example_shape("box", example_numbers(3, 0.02, 0.05, 0.012), (v3){0.04, 0, 0.06}, grey)));
    example_servo(scene, "pelvis", "hips", "pelvis", pelvis, z, -90, 90);
    example_servo(scene, "spine", "pelvis", "spine", spine, y, -60, 60);
    example_servo(scene, "torso", "spine", "chest", torso, x, -45, 45);
    example_servo(scene, "neck", "chest", "neck", neck, z, -90, 90);
    example_servo(scene, "head", "neck", "head", head, y, -45, 45);
}

/* At the start the upper arm hangs and the forearm points forwards. */
static void add_arm(json_t *scene, const figure *f, const char *side, double sign) {
    static const char *const names[] = {"shoulder", "upper arm", "twist", "forearm", "hand"};
    static const char *const motors[] = {"swing", "lift", "twist", "elbow"};
    char name[5][32], motor[4][32], rod[32];
    const v3 shoulder = {0, sign * shoulder_width, leg_length + 0.205}, elbow = v3_add(shoulder, (v3){0, 0, -0.12}),
             root = v3_add(elbow, (v3){0.03, 0, 0}), hand = v3_add(root, (v3){forearm_length, 0, 0});
    for (int i = 0; i < 5; i++)
        snprintf(name[i], sizeof name[i], "%s %s", side, names[i]);
    for (int i = 0; i < 4; i++)
        snprintf(motor[i], sizeof motor[i], "%s %s", side, motors[i]);
    snprintf(rod, sizeof rod, "%s rod", side);
    example_body(scene, name[0], shoulder, 0.09,
                 json_pack("[o, o]", example_servo_box((v3){0, 0, 0}, (v3){0.036, 0.03, 0.034}),
                           example_horn((v3){0, -sign * 0.025, 0}, (v3){0, 1, 0}, 0.03)));
    example_body(scene, name[1], shoulder, 0.09,
                 json_pack("[o, o]", example_servo_box((v3){0, 0, -0.045}, (v3){0.03, 0.03, 0.04}),
                           example_horn((v3){0, 0, 0}, (v3){1, 0, 0}, 0.05)));
    example_body(scene, name[2], elbow, 0.1,
                 json_pack("[o, o]", example_servo_box((v3){0, 0, 0}, (v3){0.036, 0.03, 0.034}),
                           example_horn((v3){0, 0, 0.04}, (v3){0, 0, 1}, 0.05)));
    example_body(scene, name[3], elbow, 0.03,
                 json_pack("[o, o]", example_horn((v3){0, 0, 0}, (v3){0, 1, 0}, 0.044),
                           example_shape("box", example_numbers(3, 0.012, 0.044, 0.012), (v3){0.024, 0, 0}, grey)));
    example_flexible(scene, rod, "forearm", name[3], root, (v3){1, 0, 0}, (v3){0, 1, 0});
    example_body(scene, name[4], hand, f->hand_mass, f->hand(sign));
    example_servo(scene, motor[0], "chest", name[0], shoulder, (v3){0, -1, 0}, -90, 180);
    example_servo(scene, motor[1], name[0], name[1], shoulder, (v3){sign, 0, 0}, -30, 150);
    example_servo(scene, motor[2], name[1], name[2], elbow, (v3){0, 0, sign}, -90, 90);
    example_servo(scene, motor[3], name[2], name[3], elbow, (v3){0, -1, 0}, -90, 80);
    example_tip_joint(scene, "weld", rod, name[4]);
}

static int make(bough_context *ctx, example *e, const figure *f) {
    json_t *scene = example_robot(f->name, f->duration);
    example_steel_rod(scene, "leg", leg_length, 0.006, LEG_R);
    example_steel_rod(scene, "forearm", forearm_length, 0.004, FOREARM_R);
    add_trunk(scene, f->shirt);
    add_legs(scene);
    add_arm(scene, f, "left", 1);
    add_arm(scene, f, "right", -1);
    example_poses(scene, f->pose_count, f->poses[0], f->between);
    example_watch(scene, "head"), example_track(scene, "head");
    example_watch(scene, "hips"), json_object_set_new(example_track(scene, "hips"), "weight", json_real(f->hips));
    example_watch(scene, "left hand"), example_track(scene, "left hand");
    example_watch(scene, "right hand"), example_track(scene, "right hand");
    json_t *retarget = example_limit_servos(scene, 570, 0, 3.7); /* Dynamixel XM430-W210 at 14.8 V */
    json_object_set_new(retarget, "point_rate", json_real(f->point_rate));
    json_object_set_new(retarget, "keep", json_real(1e-3));
    if (f->window > 0)
        example_windows(retarget, f->window, 0.75);
    return example_write_robot(ctx, e, scene);
}

/* ---- the drummer ---- */

/* A fist with a stick that points forwards. */
static json_t *stick(double sign) {
    const axes turned = axes_around((v3){1, -0.15 * sign, 0}, (v3){0, 0, 1});
    json_t *wood =
        example_shape("capsule", example_numbers(2, 0.004, 0.14), (v3){0.06, -0.01 * sign, 0}, (v3){0.76, 0.60, 0.42});
    json_object_set_new(wood, "rotate_deg", example_turn(&turned));
    return json_pack("[o, o]", example_sphere(0.018, (v3){0.01, 0, 0}, (v3){0.76, 0.60, 0.42}), wood);
}

static const double drumming[][14] = {
    /* s, pelvis, spine, torso, neck, head; swing, lift, twist, elbow of the left arm and of the right one */
    {0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0.4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0.9, 0, 8, 0, 0, 5, 25, 15, 15, 30, 25, 15, 15, 30},
    {1.3, 0, 8, 0, 0, 10, 25, 15, 15, -20, 35, 15, 15, 45},
    {1.7, 0, 8, 0, 0, 0, 35, 15, 15, 45, 25, 15, 15, -20},
    {2.1, 0, 8, 0, 0, 10, 25, 15, 15, -20, 35, 15, 15, 45},
    {2.5, 0, 8, 0, 0, 0, 35, 15, 15, 45, 25, 15, 15, -20},
    {2.9, 15, 12, 0, 20, 10, 25, 25, 10, -20, 35, 15, 15, 45},
    {3.3, 15, 5, 0, 20, 0, 45, 25, 10, 45, 25, 15, 15, -20},
    {3.7, 15, 12, 0, 20, 10, 25, 25, 10, -20, 35, 15, 15, 45},
    {4.1, -15, 5, 0, -20, 0, 35, 15, 15, 45, 25, 25, 10, -20},
    {4.5, -15, 12, 0, -20, 10, 25, 15, 15, -20, 45, 25, 10, 45},
    {4.9, -15, 5, 0, -20, 0, 35, 15, 15, 45, 25, 25, 10, -20},
    {5.3, 0, 14, 0, 0, 12, 20, 15, 15, -25, 20, 15, 15, -25},
    {5.7, 0, 0, 5, 0, -5, 60, 20, 15, 50, 60, 20, 15, 50},
    {6.1, 0, 14, -5, 0, 12, 20, 15, 15, -25, 20, 15, 15, -25},
    {6.5, 0, 0, 5, 0, -5, 60, 20, 15, 50, 60, 20, 15, 50},
    {6.9, 0, 14, -5, 0, 12, 20, 15, 15, -25, 20, 15, 15, -25},
    {7.3, 20, 4, 0, 15, 0, 30, 40, 0, 30, 30, 15, 15, 20},
    {7.6, 20, 8, 0, 15, 5, 30, 40, 0, -15, 30, 15, 15, 45},
    {7.9, 20, 4, 0, 15, 0, 30, 40, 0, 30, 30, 15, 15, -15},
    {8.3, 0, 14, 0, 0, 12, 20, 15, 15, -25, 20, 15, 15, -25},
    {9.2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {10.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
};

int example_drummer(bough_context *ctx, example *e) {
    const figure f = {.name = "a figure with thirteen motors on steel legs that drums",
                      .duration = 10,
                      .shirt = {0.20, 0.45, 0.62},
                      .hand = stick,
                      .hand_mass = 0.06,
                      .poses = drumming,
                      .pose_count = sizeof drumming / sizeof *drumming,
                      .between = "spline",
                      .hips = 9,
                      .point_rate = 10};
    return make(ctx, e, &f);
}

/* ---- the boxer ---- */

static json_t *glove(double sign) {
    const axes straight = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    (void)sign;
    return json_pack(
        "[o]", example_ellipsoid(60, (v3){0.036, 0.028, 0.03}, &straight, (v3){0.02, 0, 0}, (v3){0.80, 0.16, 0.14}));
}

static const double boxing[][14] = {
    /* the same columns */
    {0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0.4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {1.0, -15, 5, 0, 15, 5, 30, 10, 10, 40, 20, 10, 10, 45},
    {1.3, -15, 5, 0, 15, 5, 30, 10, 10, 40, 20, 10, 10, 45},
    {1.6, 10, 10, 0, -10, 5, 70, 10, 0, -45, 20, 10, 10, 45},
    {1.9, -15, 5, 0, 15, 5, 30, 10, 10, 40, 20, 10, 10, 45},
    {2.2, -15, 5, 0, 15, 5, 30, 10, 10, 40, 20, 10, 10, 45},
    {2.5, 10, 10, 0, -10, 5, 70, 10, 0, -45, 20, 10, 10, 45},
    {2.8, -25, 5, 0, 25, 5, 30, 10, 10, 40, 20, 10, 10, 45},
    {3.1, 35, 12, 0, -35, 5, 30, 10, 10, 40, 75, 10, 0, -45},
    {3.4, -15, 5, 0, 15, 5, 30, 10, 10, 40, 20, 10, 10, 45},
    {3.8, -15, 5, 0, 15, 5, 30, 10, 10, 40, 20, 10, 10, 45},
    {4.1, -10, -6, 10, 10, -5, 35, 10, 10, 50, 25, 10, 10, 45},
    {4.5, -10, 10, -15, 10, 10, 35, 10, 10, 50, 25, 10, 10, 45},
    {4.9, 10, 5, 15, -10, 5, 35, 10, 10, 50, 25, 10, 10, 45},
    {5.2, -20, 5, 0, 20, 5, 30, 10, 10, 40, 20, 10, 10, 45},
    {5.5, 40, 10, 0, -40, 5, 30, 10, 10, 40, 60, 70, 60, 20},
    {5.8, -15, 5, 0, 15, 5, 30, 10, 10, 40, 20, 10, 10, 45},
    {6.2, -15, 5, 0, 15, 5, 30, 10, 10, 40, 20, 10, 10, 45},
    {6.5, -10, -8, 0, 10, -5, 35, 10, 10, 50, 25, 10, 10, 50},
    {6.8, -15, 5, 0, 15, 5, 30, 10, 10, 40, 20, 10, 10, 45},
    {7.1, 10, 12, 0, -10, 5, 70, 10, 0, -45, 20, 10, 10, 45},
    {7.4, 35, 12, 0, -35, 5, 30, 10, 10, 40, 75, 10, 0, -45},
    {7.7, -15, 5, 0, 15, 5, 30, 10, 10, 40, 20, 10, 10, 45},
    {8.2, -15, 5, 0, 15, 5, 30, 10, 10, 40, 20, 10, 10, 45},
    {9.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {9.75, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
};

int example_boxer(bough_context *ctx, example *e) {
    const figure f = {.name = "a figure with thirteen motors on steel legs that boxes",
                      .duration = 9.75,
                      .shirt = {0.85, 0.52, 0.20},
                      .hand = glove,
                      .hand_mass = 0.08,
                      .poses = boxing,
                      .pose_count = sizeof boxing / sizeof *boxing,
                      .between = "stops",
                      .hips = 4,
                      .point_rate = 20,
                      .window = 2};
    return make(ctx, e, &f);
}
