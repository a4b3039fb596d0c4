/* A viewer without a screen: understands stages and frames as docs/viewer-protocol.md tells, and finds where every
 * vertex is drawn. */
#ifndef TESTS_APP_VIEWER_H
#define TESTS_APP_VIEWER_H

#include "test.h"

#include <jansson.h>

enum { MOST_LAYERS = 2, VIEWER_JOINT = 13, VIEWER_CONTACT = 11, VIEWER_CONTACTS = 256 };

typedef struct {
    int32_t part_count, vertex_count, place_count;
    const int32_t *component, *parent, *q, *first, *place, *member;
    const float *scale;
    float *pose;    /* part_count x 7 */
    float **own;    /* of each part: its q, or its vertices */
    int32_t *count; /* numbers of each */
    int32_t joint_count;
    float *joints; /* joint_count x 13: origin, quaternion, force, torque */
    int32_t contact_count;
    float contacts[VIEWER_CONTACT * VIEWER_CONTACTS]; /* of each: two parts, position, normal force, friction */
    float *drawn;                                     /* 3 x vertex_count */
    double time;
    int32_t sent; /* parts of the last frame */
    json_t *json;
} viewer_layer;

typedef struct {
    unsigned char *bytes; /* of the stage */
    size_t size;
    const unsigned char *numbers;
    uint32_t generation, frame;
    json_t *stage;
    viewer_layer layers[MOST_LAYERS];
} viewer;

static inline uint32_t word_at(const unsigned char *bytes) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* All of an array lies within the message. */
static inline const void *viewer_array(const viewer *v, const json_t *array, size_t *count) {
    const json_int_t at = json_integer_value(json_object_get(array, "at"));
    *count = (size_t)json_integer_value(json_object_get(array, "count"));
    check(at >= 0 && at % 8 == 0);
    check(v->numbers + at + 4 * *count <= v->bytes + v->size);
    return v->numbers + at;
}

static inline const json_t *viewer_component(const viewer_layer *l, int32_t part) {
    return json_array_get(json_object_get(l->json, "components"), (size_t)l->component[part]);
}

static inline int32_t viewer_int(const json_t *object, const char *key) {
    check(json_is_integer(json_object_get(object, key)));
    return (int32_t)json_integer_value(json_object_get(object, key));
}

static inline bool viewer_streamed(const viewer_layer *l, int32_t part) {
    return json_is_true(json_object_get(viewer_component(l, part), "streamed"));
}

static inline void viewer_drop_layer(viewer_layer *l) {
    for (int32_t p = 0; p < l->part_count; p++)
        free(l->own[p]);
    free(l->own), free(l->pose), free(l->count), free(l->drawn), free(l->joints);
    *l = (viewer_layer){0};
}

static inline void viewer_drop(viewer *v) {
    for (int k = 0; k < MOST_LAYERS; k++)
        viewer_drop_layer(&v->layers[k]);
    json_decref(v->stage);
    free(v->bytes);
    *v = (viewer){0};
}

static inline void viewer_open_layer(const viewer *v, json_t *json, viewer_layer *l) {
    const json_t *parts = json_object_get(json, "parts"), *seams = json_object_get(json, "seams");
    size_t count, other;
    l->json = json;
    l->component = viewer_array(v, json_object_get(parts, "component"), &count);
    l->part_count = (int32_t)count;
    l->parent = viewer_array(v, json_object_get(parts, "parent"), &other);
    check_int(other, count);
    l->scale = viewer_array(v, json_object_get(parts, "scale"), &other);
    check_int(other, count);
    l->q = viewer_array(v, json_object_get(parts, "q"), &other);
    check_int(other, count);
    l->first = viewer_array(v, json_object_get(parts, "first"), &other);
    check_int(other, count);
    check_int(json_array_size(json_object_get(json, "names")), count);
    l->place = viewer_array(v, json_object_get(seams, "place"), &other);
    l->place_count = (int32_t)other - 1;
    l->member = viewer_array(v, json_object_get(seams, "member"), &other);
    l->pose = calloc(7 * count, sizeof *l->pose);
    l->own = calloc(count, sizeof *l->own), l->count = calloc(count, sizeof *l->count);
    for (int32_t p = 0; p < l->part_count; p++) {
        const json_t *c = viewer_component(l, p);
        check_int(l->first[p], l->vertex_count);
        l->vertex_count += viewer_int(c, "vertices");
        l->count[p] =
            viewer_streamed(l, p) ? 3 * (viewer_int(c, "vertices") + viewer_int(c, "inner")) : viewer_int(c, "r");
        l->own[p] = calloc((size_t)l->count[p] + 1, sizeof *l->own[p]);
    }
    l->drawn = calloc(3 * (size_t)l->vertex_count, sizeof *l->drawn);
    l->joint_count = (int32_t)json_array_size(json_object_get(json, "joints"));
    l->joints = calloc(VIEWER_JOINT * (size_t)l->joint_count + 1, sizeof *l->joints);
}

static inline void viewer_take_stage(viewer *v, const unsigned char *bytes, size_t size) {
    viewer_drop(v);
    v->bytes = malloc(size), v->size = size;
    memcpy(v->bytes, bytes, size);
    v->generation = word_at(bytes + 4);
    const uint32_t json_size = word_at(bytes + 8);
    check_int(json_size % 8, 0);
    check(16 + (size_t)json_size <= size);
    v->numbers = v->bytes + 16 + json_size;
    v->stage = json_loadb((const char *)v->bytes + 16, json_size, 0, NULL);
    check(json_is_object(v->stage));
    viewer_open_layer(v, v->stage, &v->layers[0]);
    if (json_is_object(json_object_get(v->stage, "ghost")))
        viewer_open_layer(v, json_object_get(v->stage, "ghost"), &v->layers[1]);
}

static inline void viewer_take_frame(viewer *v, const unsigned char *bytes, size_t size) {
    if (word_at(bytes + 4) != v->generation)
        return; /* of an older stage */
    check(size >= 40);
    v->frame = word_at(bytes + 24);
    viewer_layer *l = &v->layers[word_at(bytes + 28)];
    memcpy(&l->time, bytes + 16, sizeof l->time);
    l->sent = (int32_t)word_at(bytes + 32);
    const unsigned char *bits = bytes + 40, *at = bits + 4 * (((size_t)l->part_count + 31) / 32);
    int32_t sent = 0;
    for (int32_t p = 0; p < l->part_count; p++) {
        if (!(word_at(bits + 4 * (p / 32)) >> (p % 32) & 1))
            continue;
        memcpy(l->pose + 7 * p, at, 7 * sizeof *l->pose);
        memcpy(l->own[p], at + 28, (size_t)l->count[p] * sizeof *l->own[p]);
        at += 28 + 4 * l->count[p];
        sent++;
    }
    check_int(sent, l->sent);
    l->contact_count = (int32_t)word_at(bytes + 36);
    check(l->contact_count >= 0 && l->contact_count <= VIEWER_CONTACTS);
    const unsigned char *contacts = at + 4 * VIEWER_JOINT * (size_t)l->joint_count;
    check_int(contacts + 4 * VIEWER_CONTACT * (size_t)l->contact_count - bytes, size);
    memcpy(l->contacts, contacts, 4 * VIEWER_CONTACT * (size_t)l->contact_count);
    if (l->joint_count > 0)
        memcpy(l->joints, at, VIEWER_JOINT * (size_t)l->joint_count * sizeof *l->joints);
}

/* Rotation by the quaternion x y z w. */
static inline void turn(const float *quaternion, const double from[3], double to[3]) {
    const double x = (double)quaternion[0], y = (double)quaternion[1], z = (double)quaternion[2],
                 w = (double)quaternion[3];
    check_near(x * x + y * y + z * z + w * w, 1, 1e-5);
    const double R[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                            {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                            {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}};
    for (int i = 0; i < 3; i++)
        to[i] = R[i][0] * from[0] + R[i][1] * from[1] + R[i][2] * from[2];
}

/* x + s R (X + U q), or as streamed. */
static inline void viewer_place_part(const viewer *v, viewer_layer *l, int32_t p) {
    const json_t *c = viewer_component(l, p);
    const int32_t vertices = viewer_int(c, "vertices"), r = viewer_int(c, "r");
    const bool streamed = viewer_streamed(l, p);
    size_t count;
    const float *X = viewer_array(v, json_object_get(c, "position"), &count);
    check_int(count, 3 * vertices);
    const float *U = streamed ? NULL : viewer_array(v, json_object_get(c, "U"), &count);
    check(streamed || count == 3 * (size_t)vertices * (size_t)r);
    for (int32_t i = 0; i < vertices; i++) {
        double bent[3], turned[3];
        for (int d = 0; d < 3; d++) {
            bent[d] = streamed ? (double)l->own[p][3 * i + d] : (double)X[3 * i + d];
            for (int32_t k = 0; k < r && !streamed; k++)
                bent[d] += (double)l->own[p][k] * (double)U[(i * r + k) * 3 + d];
        }
        turn(l->pose + 7 * p + 3, bent, turned);
        for (int d = 0; d < 3; d++)
            l->drawn[3 * (l->first[p] + i) + d] =
                (float)((double)l->pose[7 * p + d] + (streamed ? 1 : (double)l->scale[p]) * turned[d]);
    }
}

/* Copies of a place are drawn at their mean. */
static inline void viewer_draw(viewer *v, int layer) {
    viewer_layer *l = &v->layers[layer];
    for (int32_t p = 0; p < l->part_count; p++)
        viewer_place_part(v, l, p);
    for (int32_t k = 0; k < l->place_count; k++)
        for (int d = 0; d < 3; d++) {
            double mean = 0;
            for (int32_t i = l->place[k]; i < l->place[k + 1]; i++)
                mean += (double)l->drawn[3 * l->member[i] + d] / (l->place[k + 1] - l->place[k]);
            for (int32_t i = l->place[k]; i < l->place[k + 1]; i++)
                l->drawn[3 * l->member[i] + d] = (float)mean;
        }
}

/* The vertex of a part that is drawn nearest to a place. */
static inline int32_t viewer_nearest(viewer *v, int32_t part, double x, double y, double z) {
    viewer_layer *l = &v->layers[0];
    const int32_t vertices = viewer_int(viewer_component(l, part), "vertices");
    int32_t nearest = 0;
    double least = INFINITY;
    viewer_draw(v, 0);
    for (int32_t i = 0; i < vertices; i++) {
        const float *at = l->drawn + 3 * (l->first[part] + i);
        const double d = pow((double)at[0] - x, 2) + pow((double)at[1] - y, 2) + pow((double)at[2] - z, 2);
        if (d < least)
            least = d, nearest = i;
    }
    return nearest;
}

static inline const float *viewer_at(viewer *v, int32_t part, int32_t vertex) {
    viewer_draw(v, 0);
    return v->layers[0].drawn + 3 * (v->layers[0].first[part] + vertex);
}

#endif
