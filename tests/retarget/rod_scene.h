/* A rod of fibreglass with a weight at its end, pulled aside and let go; and what a camera sees of it. */
#ifndef TEST_RETARGET_ROD_SCENE_H
#define TEST_RETARGET_ROD_SCENE_H

#include "../scene/texts.h"

#include "retarget/simulate.h"

#include <bough/retarget.h>

enum { RATE = 100, SAMPLES = 4 * RATE + 1 }; /* Hz; four seconds */

#define ROD_YOUNG 2e10

/* `more`: further members of the scene, with a comma before them, or "". */
static inline void write_rod(const char *path, const char *more) {
    char text[2400];
    snprintf(
        text, sizeof text,
        "{'bough': 1, 'components': {'rod': {"
        "'mesh': {'generate': 'box', 'type': 'tet10', 'origin': [0, -0.0025, -0.0025], 'size': [0.5, 0.005, 0.005], "
        "'cells': [10, 1, 1]}, "
        "'material': {'model': 'stvk', 'young': 2e10, 'poisson': 0.3, 'density': 1900}, "
        "'damping': {'mass': 0.02, 'stiffness': 0.0005}, "
        "'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}, "
        "'basis': {'r': 8, 'kind': 'mass-loaded+derivatives'}}}, "
        "'bodies': [{'name': 'weight', 'position': [0, 0, 0.5], 'mass': 0.05, 'shape': {'sphere': 0.011}}, "
        "{'name': 'base', 'position': [0.1, 0, 0], 'mass': 1, 'shape': {'sphere': 0.02}}], "
        "'parts': [{'name': 'rod', 'component': 'rod', 'clamp': {'rotate_deg': [0, -90, 0]}}], "
        "'joints': [{'name': 'grip', 'kind': 'weld', 'parent': {'part': 'rod', 'interface': 'tip'}, 'child': "
        "'weight'}, {'name': 'foot', 'kind': 'weld', 'parent': 'world', 'child': 'base', 'position': [0, 0, 0]}], "
        "'gravity': [0, 0, -9.81], 'settle': true, 'time': {'dt': 0.005, 'duration': 4}, "
        "'probes': [{'name': 'tip', 'body': 'weight'}, {'name': 'stress', 'part': 'rod', 'stress': 'max'}]%s}",
        more);
    write_quoted(path, text);
}

/* A kick of the weight, as of a finger. */
#define KICK ", 'forces': [{'body': 'weight', 'force': [0.5, 0.1, 0], 'until': 0.05}]"

typedef struct {
    double times[SAMPLES], clean[3 * SAMPLES], seen[3 * SAMPLES];
} film;

static inline double gauss(test_random *r) {
    return sqrt(-2 * log(1 - test_uniform(r, 0, 1))) * cos(2 * M_PI * test_uniform(r, 0, 1));
}

static inline void add_noise(film *f, double noise, test_random *r) {
    for (int i = 0; i < 3 * SAMPLES; i++)
        f->seen[i] = f->clean[i] + noise * gauss(r);
}

static inline bough_fit_def fit_of(const film *f, bool release) {
    bough_fit_def def = bough_default_fit_def();
    def.marker = "tip", def.sample_count = SAMPLES, def.times = f->times, def.positions = f->seen;
    def.release = release;
    return def;
}

/* The scene itself, with another material, is what is filmed. */
static inline void shoot(bough_context *ctx, const bough_scene *scene, const bo_fit_values *truth, bool release,
                         film *f) {
    for (int i = 0; i < SAMPLES; i++)
        f->times[i] = (double)i / RATE;
    memset(f->seen, 0, sizeof f->seen);
    const bough_fit_def def = fit_of(f, release);
    bo_fit_scene fit;
    check_ok(ctx, bo_fit_scene_make(ctx, scene, &def, &fit));
    check_ok(ctx, bo_fit_simulate(ctx, &fit, truth, fit.dt, SAMPLES, f->times, f->clean, NULL));
    bo_fit_scene_free(ctx, &fit);
}

static inline const bough_fit_value *value_named(const bough_fit *fit, const char *name) {
    for (int32_t i = 0; i < fit->count; i++)
        if (strcmp(fit->values[i].name, name) == 0)
            return &fit->values[i];
    fail_msg("%s was not fitted", name);
    return NULL;
}

#endif
