/* Example scenes that are shaken: in their wind, and pulled hard at one random vertex after the other. */
#ifndef TESTS_APP_SHAKEN_H
#define TESTS_APP_SHAKEN_H

#include "program.h"

#include <bough/scene.h>
#include <bough/tree.h>

/* A spring from a vertex to a point of the world, which acts from `begin` to `end`. The point goes along with what
 * flies: as its centre of mass did at `begin`. */
typedef struct {
    int32_t part, vertex;
    double begin, end;
    double target[3], drift[3], stiffness, damping;
} pull;

typedef struct {
    bough_context *ctx;
    bough_scene *scene;
    bough_tree_model *model;
    bough_tree_state *state; /* at rest under its weight when it is made; what flies floats, in a wind of its own */
    double *carried; /* of each part: its mass with all that hangs on it; in flight and in loops: its mass alone */
    test_random random;
    double reach; /* m: how far a pull begins from its target, at most */
    pull now;
    int32_t pulls;
    double most_work; /* J: what the largest of them can have put in */
    double flight;    /* J: of what flies, when it goes twice as fast as the wind; else 0 */
    int64_t refused;  /* steps */
} shaken;

/* A root that flies is held by nothing but its inertia, and what hangs on it gives way; in a loop, what hangs on a part
 * is held at the other end too. */
static inline double *find_carried(const bough_tree_model *model, bool alone) {
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    double *carried = calloc((size_t)def->part_count, sizeof *carried);
    for (int32_t i = 0; i < def->part_count; i++)
        for (int32_t on = i; on >= 0; on = alone ? -1 : def->parts[on].parent)
            carried[on] += def->components[def->parts[i].component]->mass * pow(def->parts[i].scale, 3);
    return carried;
}

/* With ties so many times as strong as the scene has them. */
static inline shaken start_shaking_tied(bough_context *ctx, const char *path, double reach, uint64_t seed,
                                        double strength) {
    shaken s = {.ctx = ctx, .random = {seed}, .reach = reach};
    check_ok(ctx, bough_scene_load(ctx, path, &s.scene));
    check_ok(ctx, bough_scene_model(ctx, s.scene, &s.model));
    check_ok(ctx, bough_tree_state_create(ctx, s.model, &s.state));
    for (int32_t t = 0; t < bough_tree_model_describe(s.model)->tie_count; t++)
        s.state->tie_strength[t] = strength;
    s.carried = find_carried(s.model, s.state->root_count > 0 || bough_tree_model_describe(s.model)->tie_count > 0);
    if (s.state->root_count == 0) {
        check_ok(ctx, bough_tree_state_settle(ctx, s.model, s.state, NULL, NULL));
    } else {
        s.state->wind.velocity[0] = 6;
        s.flight = 0.5 * s.state->roots[0].mass * 12 * 12;
    }
    check(s.state->wind.velocity[0] != 0 && s.state->coupling == BOUGH_COUPLING_L3);
    return s;
}

static inline shaken start_shaking(bough_context *ctx, const char *path, double reach, uint64_t seed) {
    return start_shaking_tied(ctx, path, reach, seed, 1);
}

static inline void stop_shaking(shaken *s) {
    free(s->carried);
    bough_tree_state_destroy(s->ctx, s->state);
    bough_tree_model_destroy(s->ctx, s->model);
    bough_scene_destroy(s->ctx, s->scene);
}

/* Any component, then any part of it: few branches are as likely as many leaves. */
static inline int32_t any_part(shaken *s) {
    const bough_tree_model_def *def = bough_tree_model_describe(s->model);
    const int32_t component = (int32_t)test_uniform(&s->random, 0, def->component_count);
    int32_t i = (int32_t)test_uniform(&s->random, 0, def->part_count);
    for (int32_t k = 0; k < def->part_count && def->parts[i].component != component; k++)
        i = (i + 1) % def->part_count;
    return i;
}

/* 2 to 20 times the weight of all that the part carries, for some tenths of a second: far beyond what the wind does.
 * The mass that is carried would swing in the spring with sqrt(20 g / reach) at most: for 1 / 60 s, which the spring,
 * known at the start of a step alone, must be slow against, 0.2 m is enough. */
static inline void next_pull(shaken *s) {
    const bough_tree_model_def *def = bough_tree_model_describe(s->model);
    pull *p = &s->now;
    p->part = any_part(s);
    const int32_t vertices = def->components[def->parts[p->part].component]->surface.vertex_count;
    p->vertex = (int32_t)test_uniform(&s->random, 0, vertices);
    p->begin = s->state->time + test_uniform(&s->random, 0, 0.4);
    p->end = p->begin + test_uniform(&s->random, 0.1, 0.6);
    double position[3], velocity[3];
    check_ok(s->ctx, bough_tree_state_vertex(s->ctx, s->model, s->state, p->part, p->vertex, position, velocity));
    for (int d = 0; d < 3; d++)
        p->target[d] = position[d] + test_uniform(&s->random, -s->reach, s->reach);
    const double mass = s->carried[p->part], force = 9.81 * mass * exp(test_uniform(&s->random, log(2), log(20)));
    p->stiffness = force / s->reach;
    p->damping = test_uniform(&s->random, 0, 0.6) * sqrt(p->stiffness * mass);
    s->pulls++;
}

/* Begins a pull where the vertex is now. */
static inline void begin_pull(shaken *s) {
    double position[3], velocity[3];
    check_ok(s->ctx,
             bough_tree_state_vertex(s->ctx, s->model, s->state, s->now.part, s->now.vertex, position, velocity));
    for (int d = 0; d < 3 && s->state->root_count > 0; d++) {
        s->now.target[d] = position[d] + test_uniform(&s->random, -s->reach, s->reach);
        s->now.drift[d] = s->state->roots[0].momentum[d] / s->state->roots[0].mass;
        s->now.damping = 0; /* which would hold it against the wind */
    }
}

/* A spring with a fixed end gives back no more than what it is stretched by when it begins to act: k d^2 / 2. */
static inline void note_work(shaken *s) {
    double position[3], velocity[3], square = 0;
    check_ok(s->ctx,
             bough_tree_state_vertex(s->ctx, s->model, s->state, s->now.part, s->now.vertex, position, velocity));
    for (int d = 0; d < 3; d++)
        square += pow(position[d] - s->now.target[d], 2);
    s->most_work = fmax(s->most_work, 0.5 * s->now.stiffness * square);
}

/* dt of time, with the pull of that time. */
static inline void shake(shaken *s, double dt) {
    const double t = s->state->time;
    int32_t refused = 0;
    if (!(t < s->now.end))
        next_pull(s);
    if (t >= s->now.begin) {
        if (t - dt < s->now.begin) {
            begin_pull(s);
            note_work(s);
        }
        check_ok(s->ctx, bough_tree_state_pull(s->ctx, s->model, s->state, s->now.part, s->now.vertex, s->now.target,
                                               s->now.stiffness, s->now.damping));
        for (int d = 0; d < 3; d++)
            s->now.target[d] += dt * s->now.drift[d];
    }
    const bough_status status = bough_tree_advance(s->ctx, s->model, s->state, dt, &refused);
    s->refused += refused;
    if (status)
        fail_msg("t = %.4f s, a pull on part %d: %s (%s)", t, s->now.part, bough_status_name(status),
                 bough_message(s->ctx));
}

/* The wall's time, s. */
static inline double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
