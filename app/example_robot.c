/* Functions that the examples of robots share: rigid bodies, flexible rods, servos and a table of poses. Bodies are not
 * turned at the start, where all motors are at 0. */
#include "example.h"

#include <string.h>

static const v3 servo_colour = {0.24, 0.25, 0.28};

json_t *example_robot(const char *name, double duration) {
    return json_pack("{s:i, s:s, s:{}, s:[], s:[], s:[], s:{}, s:[], s:o, s:b, s:{s:f, s:f}, s:[]}", "bough", 1, "name",
                     name, "components", "bodies", "parts", "joints", "curves", "motors", "gravity",
                     example_numbers(3, 0.0, 0.0, -9.81), "settle", 1, "time", "dt", 0.0005, "duration", duration,
                     "probes");
}

/* A bar along x, one cell across. */
static void add_bar(json_t *scene, const char *name, v3 size, double young, double density, double damping, int r) {
    const int cells = (int)ceil(size.x / 0.02);
    json_t *mesh =
        json_pack("{s:s, s:s, s:o, s:o, s:[i, i, i]}", "generate", "box", "type", "tet10", "origin",
                  example_place((v3){0, -size.y / 2, -size.z / 2}), "size", example_place(size), "cells", cells, 1, 1);
    json_t *component =
        json_pack("{s:o, s:{s:s, s:f, s:f, s:f}, s:{s:f, s:f}, s:{s:{s:s}, s:{s:s}}, s:{s:i, s:s}}", "mesh", mesh,
                  "material", "model", "stvk", "young", young, "poisson", 0.3, "density", density, "damping", "mass",
                  0.05, "stiffness", damping, "interfaces", "base", "select", "x0", "tip", "select", "x1", "basis", "r",
                  r, "kind", "mass-loaded+derivatives");
    json_object_set_new(json_object_get(scene, "components"), name, component);
}

/* A square bends as the round rod does if s^4 / 12 = pi d^4 / 64; its density makes up for its larger section. */
void example_steel_rod(json_t *scene, const char *name, double length, double diameter, int r) {
    const double side = diameter * pow(3 * M_PI / 16, 0.25), area = M_PI / 4 * diameter * diameter;
    add_bar(scene, name, (v3){length, side, side}, 2.1e11, round(7850 * area / (side * side)), 2e-4, r);
}

void example_plastic_bar(json_t *scene, const char *name, v3 size, int r) {
    add_bar(scene, name, size, 2.6e9, 1170, 4e-4, r);
}

/* ---- bodies and parts ---- */

void example_body(json_t *scene, const char *name, v3 at, double mass, json_t *shapes) {
    example_add(
        scene, "bodies",
        json_pack("{s:s, s:o, s:f, s:o}", "name", name, "position", example_place(at), "mass", mass, "shape", shapes));
}

/* The entry of this name in a list; NULL: there is none. */
static json_t *find_entry(json_t *scene, const char *list, const char *name) {
    json_t *entry;
    size_t i;
    json_array_foreach(json_object_get(scene, list), i, entry) {
        if (strcmp(json_string_value(json_object_get(entry, "name")), name) == 0)
            return entry;
    }
    return NULL;
}

static v3 place_of(const json_t *body) {
    const json_t *p = json_object_get(body, "position");
    return (v3){json_number_value(json_array_get(p, 0)), json_number_value(json_array_get(p, 1)),
                json_number_value(json_array_get(p, 2))};
}

void example_flexible(json_t *scene, const char *name, const char *component, const char *body, v3 at, v3 along,
                      v3 across) {
    const axes turned = axes_around(along, across), bar = {turned.z, turned.x, turned.y};
    const json_t *on = find_entry(scene, "bodies", body);
    json_t *clamp =
        json_pack("{s:s, s:o, s:o}", "body", body, "position", example_place(on ? v3_along(at, -1, place_of(on)) : at),
                  "rotate_deg", example_turn(&bar));
    example_add(scene, "parts", json_pack("{s:s, s:s, s:o}", "name", name, "component", component, "clamp", clamp));
}

json_t *example_tip_joint(json_t *scene, const char *kind, const char *part, const char *child) {
    char name[48];
    snprintf(name, sizeof name, "%s end", part);
    return example_add(scene, "joints",
                       json_pack("{s:s, s:s, s:{s:s, s:s}, s:s}", "name", name, "kind", kind, "parent", "part", part,
                                 "interface", "tip", "child", child));
}

/* ---- motors ---- */

json_t *example_servo_box(v3 place, v3 size) {
    return example_shape("box", example_place(size), place, servo_colour);
}

json_t *example_horn(v3 place, v3 axis, double length) {
    const axes turned = axes_around(axis, (v3){1, 0, 0});
    json_t *shape = example_shape("cylinder", example_numbers(2, 0.011, length), place, (v3){0.62, 0.65, 0.70});
    json_object_set_new(shape, "rotate_deg", example_turn(&turned));
    return shape;
}

void example_drive(json_t *scene, json_t *joint, double lower, double upper) {
    const char *name = json_string_value(json_object_get(joint, "name"));
    json_object_set_new(joint, "limits_deg", example_numbers(2, lower, upper));
    example_add(scene, "motors", json_pack("{s:s, s:s, s:b}", "joint", name, "curve", name, "degrees", 1));
}

void example_servo(json_t *scene, const char *name, const char *parent, const char *child, v3 at, v3 axis, double lower,
                   double upper) {
    json_t *joint = example_joint(scene, "hinge", name, parent, child, at);
    json_object_set_new(joint, "axis", example_place(axis));
    example_drive(scene, joint, lower, upper);
}

void example_poses(json_t *scene, int count, const double *poses, const char *between) {
    json_t *motors = json_object_get(scene, "motors");
    const size_t motor_count = json_array_size(motors);
    for (size_t m = 0; m < motor_count; m++) {
        json_t *motor = json_array_get(motors, m);
        const char *curve = json_string_value(json_object_get(motor, "curve"));
        json_object_set_new(motor, "between", json_string(between));
        for (int i = 0; i < count; i++) {
            const double *row = poses + (motor_count + 1) * (size_t)i;
            example_key(scene, curve, row[0], row[1 + m]);
        }
    }
}

void example_watch(json_t *scene, const char *body) {
    example_add(scene, "probes", json_pack("{s:s, s:s}", "name", body, "body", body));
}

void example_watch_point(json_t *scene, const char *name, const char *body, v3 at) {
    example_add(scene, "probes",
                json_pack("{s:s, s:s, s:o}", "name", name, "body", body, "position", example_place(at)));
}

/* ---- retargeting ---- */

static json_t *retargeting_of(json_t *scene) {
    json_t *retarget = json_object_get(scene, "retarget");
    if (!retarget)
        json_object_set_new(scene, "retarget", retarget = json_pack("{s:[]}", "track"));
    return retarget;
}

json_t *example_track(json_t *scene, const char *body) {
    return example_add(retargeting_of(scene), "track", json_pack("{s:s}", "body", body));
}

json_t *example_limit_servos(json_t *scene, double speed, double acceleration, double torque) {
    json_t *retarget = retargeting_of(scene), *motor;
    size_t i;
    json_object_set_new(retarget, "limits", json_array());
    json_array_foreach(json_object_get(scene, "motors"), i, motor) {
        json_t *limits =
            json_pack("{s:O, s:f, s:f}", "motor", json_object_get(motor, "joint"), "speed_deg", speed, "force", torque);
        if (acceleration > 0)
            json_object_set_new(limits, "acceleration_deg", json_real(acceleration));
        example_add(retarget, "limits", limits);
    }
    return retarget;
}

void example_windows(json_t *retarget, double window, double overlap) {
    json_object_set_new(retarget, "window", json_real(window));
    json_object_set_new(retarget, "overlap", json_real(overlap));
}

/* ---- writing ---- */

int example_write_robot(bough_context *ctx, example *e, json_t *scene) {
    json_t *part;
    size_t i;
    e->bodies = (int32_t)json_array_size(json_object_get(scene, "bodies"));
    e->motors = (int32_t)json_array_size(json_object_get(scene, "motors"));
    json_array_foreach(json_object_get(scene, "parts"), i, part) {
        const json_t *component = json_object_get(json_object_get(scene, "components"),
                                                  json_string_value(json_object_get(part, "component")));
        e->coordinates += (int32_t)json_integer_value(json_object_get(json_object_get(component, "basis"), "r"));
        e->parts++;
    }
    return example_write_scene(ctx, e, scene);
}
