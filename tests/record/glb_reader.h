/* Binary glTF read by the rules of the format alone. */
#ifndef TEST_GLB_READER_H
#define TEST_GLB_READER_H

#include "test.h"

#include "base/rotation.h"

#include <jansson.h>

typedef struct {
    unsigned char *bytes, *binary;
    size_t size, binary_size;
    json_t *json;
} glb_file;

static inline uint32_t u32(const unsigned char *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline size_t whole(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value))
        fail_msg("\"%s\" is missing", key);
    return (size_t)json_integer_value(value);
}

static inline const json_t *entry(const glb_file *file, const char *list, size_t index) {
    const json_t *found = json_array_get(json_object_get(file->json, list), index);
    if (!json_is_object(found))
        fail_msg("there is no %s[%zu]", list, index);
    return found;
}

/* Chunks follow each other, aligned to 4 bytes, and fill the file. */
static inline glb_file read_glb(const char *path) {
    glb_file file = {0};
    file.bytes = test_read(path, &file.size);
    check(file.size > 28 && memcmp(file.bytes, "glTF", 4) == 0);
    check_int(u32(file.bytes + 4), 2);
    check_int(u32(file.bytes + 8), file.size);
    size_t json_size = u32(file.bytes + 12);
    check(memcmp(file.bytes + 16, "JSON", 4) == 0 && json_size % 4 == 0 && 20 + json_size + 8 <= file.size);
    json_error_t error;
    file.json = json_loadb((const char *)file.bytes + 20, json_size, JSON_REJECT_DUPLICATES, &error);
    if (!file.json)
        fail_msg("JSON: %s", error.text);
    const unsigned char *head = file.bytes + 20 + json_size;
    file.binary_size = u32(head);
    check(memcmp(head + 4, "BIN\0", 4) == 0 && file.binary_size % 4 == 0);
    check_int(20 + json_size + 8 + file.binary_size, file.size);
    file.binary = file.bytes + 28 + json_size;
    return file;
}

static inline void close_glb(glb_file *file) {
    json_decref(file->json);
    free(file->bytes);
}

static inline size_t width_of(const json_t *accessor) {
    const char *type = json_string_value(json_object_get(accessor, "type"));
    return !strcmp(type, "SCALAR") ? 1 : !strcmp(type, "VEC3") ? 3 : 4;
}

/* Scalar c of item i. */
static inline double scalar(const glb_file *file, size_t index, size_t i, size_t c) {
    const json_t *a = entry(file, "accessors", index), *view = entry(file, "bufferViews", whole(a, "bufferView"));
    size_t type = whole(a, "componentType"), size = type == 5122 ? 2 : 4, width = width_of(a);
    check(i < whole(a, "count") && c < width);
    size_t at = whole(a, "byteOffset") + (i * width + c) * size;
    check(at + size <= whole(view, "byteLength") && at % size == 0);
    at += whole(view, "byteOffset");
    check(at + size <= file->binary_size && whole(view, "byteOffset") % 4 == 0);
    const unsigned char *p = file->binary + at;
    if (type == 5122) {
        check(json_is_true(json_object_get(a, "normalized")));
        return fmax(-1, (double)(int16_t)(p[0] | p[1] << 8) / 32767);
    }
    uint32_t bits = u32(p);
    float x;
    memcpy(&x, &bits, sizeof x);
    return type == 5125 ? (double)bits : (double)x;
}

/* Every accessor lies in its view; bounds are those of the numbers; vertex positions and times have bounds. */
static inline void check_accessors(const glb_file *file) {
    size_t count = json_array_size(json_object_get(file->json, "accessors"));
    check_int(whole(entry(file, "buffers", 0), "byteLength"), file->binary_size);
    for (size_t a = 0; a < count; a++) {
        const json_t *accessor = entry(file, "accessors", a), *min = json_object_get(accessor, "min");
        size_t width = width_of(accessor), items = whole(accessor, "count");
        for (size_t c = 0; c < width; c++) {
            double lower = INFINITY, upper = -INFINITY;
            for (size_t i = 0; i < items; i++) {
                double x = scalar(file, a, i, c);
                lower = fmin(lower, x), upper = fmax(upper, x);
            }
            check(isfinite(lower) && isfinite(upper));
            if (!min)
                continue;
            check((float)json_number_value(json_array_get(min, c)) == (float)lower);
            check((float)json_number_value(json_array_get(json_object_get(accessor, "max"), c)) == (float)upper);
        }
    }
}

/* The sampler of what animates a node, or NULL when it does not change. */
static inline const json_t *sampler_of(const glb_file *file, size_t node, const char *path) {
    const json_t *animation = json_array_get(json_object_get(file->json, "animations"), 0), *item;
    size_t i;
    json_array_foreach(json_object_get(animation, "channels"), i, item) {
        const json_t *target = json_object_get(item, "target");
        if (whole(target, "node") != node || strcmp(json_string_value(json_object_get(target, "path")), path) != 0)
            continue;
        const json_t *sampler = json_array_get(json_object_get(animation, "samplers"), whole(item, "sampler"));
        check(json_object_get(entry(file, "accessors", whole(sampler, "input")), "min") != NULL);
        return sampler;
    }
    return NULL;
}

static inline size_t key_count(const glb_file *file, const json_t *sampler) {
    return whole(entry(file, "accessors", whole(sampler, "input")), "count");
}

static inline double node_number(const json_t *node, const char *key, size_t c) {
    return json_number_value(json_array_get(json_object_get(node, key), c));
}

/* The last key at or before a time, and how far it is to the next one, 0..1; the ends hold beyond them. */
static inline size_t key_before(const glb_file *file, const json_t *sampler, double time, double *along) {
    const size_t input = whole(sampler, "input"), count = key_count(file, sampler);
    const json_t *mode = json_object_get(sampler, "interpolation");
    size_t key = 0;
    while (key + 1 < count && scalar(file, input, key + 1, 0) <= time + 1e-6)
        key++;
    const double start = scalar(file, input, key, 0);
    *along = key + 1 < count && !(mode && !strcmp(json_string_value(mode), "STEP"))
                 ? fmin(1, fmax(0, (time - start) / (scalar(file, input, key + 1, 0) - start)))
                 : 0;
    return key;
}

/* A value of a node (translation, rotation, scale or weights) at a time; of rotations that of keys only. */
static inline double animated(const glb_file *file, size_t node, const char *path, double time, size_t c,
                              size_t width) {
    const json_t *sampler = sampler_of(file, node, path);
    if (!sampler)
        return node_number(entry(file, "nodes", node), path, c);
    double along, value = 0;
    const size_t output = whole(sampler, "output"), key = key_before(file, sampler, time, &along);
    for (size_t k = 0; k < (along > 0 ? 2 : 1); k++)
        value +=
            (k ? along : 1 - along) * (strcmp(path, "weights") == 0 ? scalar(file, output, (key + k) * width + c, 0)
                                                                    : scalar(file, output, key + k, c));
    return value;
}

/* Along the great circle from one key to the next, as the format says. */
static inline bo_quat rotation_at(const glb_file *file, size_t node, double time) {
    double q[2][4], along = 0, cosine = 0;
    const json_t *sampler = sampler_of(file, node, "rotation");
    size_t key = sampler ? key_before(file, sampler, time, &along) : 0;
    for (size_t k = 0; k < 2; k++) {
        double square = 0;
        for (size_t c = 0; c < 4; c++) {
            q[k][c] = sampler ? scalar(file, whole(sampler, "output"), key + (along > 0 ? k : 0), c)
                              : node_number(entry(file, "nodes", node), "rotation", c);
            square += q[k][c] * q[k][c];
        }
        check_near(square, 1, 2e-4);
    }
    for (size_t c = 0; c < 4; c++)
        cosine += q[0][c] * q[1][c];
    const double w = acos(fmin(1, fmax(-1, cosine)));
    const double a = w > 1e-6 ? sin((1 - along) * w) / sin(w) : 1, b = w > 1e-6 ? sin(along * w) / sin(w) : 0;
    for (size_t c = 0; c < 4; c++)
        q[0][c] = a * q[0][c] + b * q[1][c];
    return bo_quat_normalize((bo_quat){q[0][3], q[0][0], q[0][1], q[0][2]});
}

/* Returns the place at which the file shows a vertex of a node, y up. */
static inline bo_vec3 shown(const glb_file *file, size_t node, size_t vertex, double time) {
    const json_t *n = entry(file, "nodes", node), *mesh = entry(file, "meshes", whole(n, "mesh"));
    const json_t *primitive = json_array_get(json_object_get(mesh, "primitives"), 0);
    const json_t *targets = json_object_get(primitive, "targets"), *root = entry(file, "nodes", 0);
    size_t positions = whole(json_object_get(primitive, "attributes"), "POSITION"), count = json_array_size(targets);
    double x[3];
    for (size_t c = 0; c < 3; c++) {
        x[c] = scalar(file, positions, vertex, c);
        for (size_t k = 0; k < count; k++)
            x[c] += animated(file, node, "weights", time, k, count) *
                    scalar(file, whole(json_array_get(targets, k), "POSITION"), vertex, c);
        x[c] *= animated(file, node, "scale", time, c, 3);
    }
    bo_vec3 p = bo_quat_rotate(rotation_at(file, node, time), bo_load3(x));
    p = bo_add(p,
               bo_v3(animated(file, node, "translation", time, 0, 3), animated(file, node, "translation", time, 1, 3),
                     animated(file, node, "translation", time, 2, 3)));
    if (!json_object_get(root, "rotation"))
        return p;
    bo_quat up = {node_number(root, "rotation", 3), node_number(root, "rotation", 0), node_number(root, "rotation", 1),
                  node_number(root, "rotation", 2)};
    return bo_quat_rotate(up, p);
}

#endif
