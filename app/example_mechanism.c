/* Functions that the examples of mechanisms share: a scene file put together entry by entry. */
#include "example.h"

#include <stdarg.h>
#include <bough/scene.h>

/* To the micrometre, as a person would write it. */
static json_t *tidy(double x) {
    const double rounded = round(1e6 * x) / 1e6;
    return rounded == floor(rounded) && fabs(rounded) < 1e6 ? json_integer((json_int_t)rounded) : json_real(rounded);
}

json_t *example_numbers(int count, ...) {
    va_list numbers;
    json_t *list = json_array();
    va_start(numbers, count);
    for (int i = 0; i < count; i++)
        json_array_append_new(list, tidy(va_arg(numbers, double)));
    va_end(numbers);
    return list;
}

json_t *example_place(v3 p) {
    return example_numbers(3, p.x, p.y, p.z);
}

json_t *example_turn(const axes *a) {
    static const axes world = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double degrees[3];
    axes_degrees(&world, a, degrees);
    return example_numbers(3, degrees[0], degrees[1], degrees[2]);
}

/* ---- shapes ---- */

json_t *example_shape(const char *form, json_t *size, v3 place, v3 colour) {
    json_t *shape = json_pack("{s:o}", form, size);
    if (v3_dot(place, place) > 0)
        json_object_set_new(shape, "position", example_place(place));
    json_object_set_new(shape, "colour", example_place(colour));
    return shape;
}

json_t *example_sphere(double radius, v3 place, v3 colour) {
    return example_shape("sphere", tidy(radius), place, colour);
}

/* Points of a Fibonacci spiral, evenly over the ellipsoid. */
json_t *example_ellipsoid(int points, v3 half, const axes *turned, v3 place, v3 colour) {
    json_t *list = json_array();
    for (int i = 0; i < points; i++) {
        const double z = 1 - (2 * i + 1.0) / points, r = sqrt(1 - z * z), angle = i * M_PI * (3 - sqrt(5));
        const v3 on = {half.x * r * cos(angle), half.y * r * sin(angle), half.z * z};
        json_array_append_new(list, example_place(v3_add(place, axes_apply(turned, on))));
    }
    return json_pack("{s:o, s:o}", "hull", list, "colour", example_place(colour));
}

/* ---- entries ---- */

json_t *example_scene(const char *name) {
    return json_pack("{s:i, s:s, s:[], s:[], s:[], s:o}", "bough", 1, "name", name, "links", "joints", "end_effectors",
                     "gravity", example_numbers(3, 0.0, 0.0, -9.81));
}

json_t *example_add(json_t *scene, const char *list, json_t *entry) {
    json_t *to = json_object_get(scene, list);
    if (!to)
        json_object_set_new(scene, list, to = json_array());
    json_array_append_new(to, entry);
    return entry;
}

void example_limb(json_t *scene, const char *name, v3 from, v3 to, double radius, double mass, v3 colour) {
    const v3 along = v3_along(to, -1, from), middle = v3_scale(0.5, v3_add(from, to));
    const axes turned = axes_around(along, (v3){1, 0, 0});
    json_t *capsule = example_numbers(2, radius, sqrt(v3_dot(along, along)));
    example_add(scene, "links",
                json_pack("{s:s, s:o, s:o, s:o, s:[o]}", "name", name, "position", example_place(middle), "rotate_deg",
                          example_turn(&turned), "mass", tidy(mass), "shape",
                          example_shape("capsule", capsule, (v3){0, 0, 0}, colour)));
}

json_t *example_joint(json_t *scene, const char *kind, const char *name, const char *parent, const char *child, v3 at) {
    return example_add(scene, "joints",
                       json_pack("{s:s, s:s, s:s, s:s, s:o}", "name", name, "kind", kind, "parent", parent, "child",
                                 child, "position", example_place(at)));
}

void example_hinge(json_t *scene, const char *name, const char *parent, const char *child, v3 at, v3 axis,
                   example_spring spring) {
    json_t *joint = example_joint(scene, "hinge", name, parent, child, at);
    json_object_set_new(joint, "axis", example_place(axis));
    json_object_set_new(joint, "stiffness", tidy(spring.stiffness));
    json_object_set_new(joint, "damping", tidy(spring.damping));
}

void example_touch(json_t *scene, const char *name, const char *link, v3 at, json_t *shape, double friction) {
    example_add(scene, "end_effectors",
                json_pack("{s:s, s:s, s:o, s:o, s:o}", "name", name, "link", link, "position", example_place(at),
                          "shape", shape, "friction", tidy(friction)));
}

void example_motor(json_t *scene, const char *joint, const char *curve, double scale) {
    example_add(scene, "motors", json_pack("{s:s, s:s, s:o}", "joint", joint, "curve", curve, "scale", tidy(scale)));
}

void example_key(json_t *scene, const char *curve, double time, double value) {
    json_t *curves = json_object_get(scene, "curves"), *to;
    if (!curves)
        json_object_set_new(scene, "curves", curves = json_object());
    if (!(to = json_object_get(curves, curve)))
        json_object_set_new(curves, curve, to = json_array());
    json_array_append_new(to, example_numbers(2, time, value));
}

/* With s = 0 .. 1 as 3 s^2 - 2 s^3, which starts and ends at rest. */
void example_ease(json_t *scene, const char *curve, double from, double until, double first, double last) {
    enum { KEYS = 12 };
    for (int i = 0; i <= KEYS; i++) {
        const double s = (double)i / KEYS;
        example_key(scene, curve, from + s * (until - from), first + (last - first) * s * s * (3 - 2 * s));
    }
}

/* ---- writing: lists of objects with a line for each ---- */

static const size_t flags = JSON_ENCODE_ANY | JSON_REAL_PRECISION(9);

/* Objects by name, such as components. */
static void write_named(FILE *stream, json_t *values) {
    const char *key;
    json_t *value;
    bool first = true;
    json_object_foreach(values, key, value) {
        fprintf(stream, "%s\n    \"%s\": ", first ? "{" : ",", key);
        json_dumpf(value, stream, flags);
        first = false;
    }
    fputs("\n  }", stream);
}

static void write_value(FILE *stream, const json_t *value) {
    const bool lines = json_is_object(json_array_get(value, 0));
    for (size_t i = 0; lines && i < json_array_size(value); i++) {
        fputs(i ? ",\n    " : "[\n    ", stream);
        json_dumpf(json_array_get(value, i), stream, flags);
    }
    if (lines)
        fputs("\n  ]", stream);
    else
        json_dumpf(value, stream, flags);
}

/* The object has objects in it, or lists of objects. */
static bool is_deep(json_t *value) {
    const char *key;
    json_t *entry;
    json_object_foreach(value, key, entry) {
        if (json_is_object(entry) || json_is_object(json_array_get(entry, 0)))
            return true;
    }
    return false;
}

static int check_scene(bough_context *ctx, const char *path) {
    bough_scene *scene;
    if (bough_scene_load(ctx, path, &scene))
        return app_fail(ctx);
    bough_scene_destroy(ctx, scene);
    return APP_OK;
}

int example_write_scene(bough_context *ctx, example *e, json_t *scene) {
    return example_write_scene_as(ctx, e, "scene.json", scene);
}

int example_write_scene_as(bough_context *ctx, example *e, const char *name, json_t *scene) {
    example_file file;
    const char *key;
    json_t *value;
    bool first = true;
    e->links = (int32_t)json_array_size(json_object_get(scene, "links"));
    e->joints = (int32_t)json_array_size(json_object_get(scene, "joints"));
    if (!scene || !example_open(e, name, &file)) {
        json_decref(scene);
        return APP_FAILED;
    }
    json_object_foreach(scene, key, value) {
        fprintf(file.stream, "%s\n  \"%s\": ", first ? "{" : ",", key);
        if (is_deep(value))
            write_named(file.stream, value);
        else
            write_value(file.stream, value);
        first = false;
    }
    fputs("\n}\n", file.stream);
    json_decref(scene);
    return example_close(&file, true) ? check_scene(ctx, file.path) : APP_FAILED;
}
