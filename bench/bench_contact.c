/* Full bodies in contact: generated scenes in which nothing may cross anything, what contact costs, Hertz's force,
 * momentum of bodies that collide, and sliding on inclines. */
#include "bench.h"
#include "bench_contact.h"
#include "contact_case.h"
#include "linalg/sparse.h"
#include "tree_scene.h"

#include <stdlib.h>
#include <string.h>

/* ---- random numbers ---- */

static double uniform(uint64_t *state, double low, double high) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return low + (high - low) * (double)(z >> 11) * 0x1p-53;
}

static double over_decades(uint64_t *state, double low, double high) {
    return low * pow(high / low, uniform(state, 0, 1));
}

static bo_mat3 any_turn(uint64_t *state, double most) {
    return bo_exp3(bo_v3(uniform(state, -most, most), uniform(state, -most, most), uniform(state, -most, most)));
}

static bo_vec3 any_spin(uint64_t *state, double most) {
    return bo_v3(uniform(state, -most, most), uniform(state, -most, most), uniform(state, -most, most));
}

/* ---- generated scenes ---- */

typedef struct scene_facts {
    const char *family, *material;
    double dt, young, speed, mu;
    int32_t vertices, pieces;
    int crossings, inside, inverted, steps;
    int64_t failures;
    int32_t most_contacts;
    double seconds; /* of CPU */
    double gain;    /* the most energy above the start and the work, over the largest energy */
    bool finished;
} scene_facts;

enum { SCENES = 50, FAMILIES = 6 };
enum { SCENE_STEPS = 40, SCENE_MOST_STEPS = 1000 }; /* from the first that something touches in; in all */

/* Something heavy and soft falls onto one obstacle of every kind. */
static bool make_drop(contact_case *c, uint64_t *random, int number, double speed, double apart) {
    static const bo_obstacle_kind kinds[] = {BO_OBSTACLE_PLANE, BO_OBSTACLE_SPHERE, BO_OBSTACLE_CAPSULE,
                                             BO_OBSTACLE_BOX,   BO_OBSTACLE_HEIGHT, BO_OBSTACLE_GRID};
    const bo_obstacle_kind kind = kinds[number % 6];
    const bo_mat3 lying = bo_exp3(bo_v3(0.5 * M_PI, 0, 0)), upright = bo_identity3();
    bo_touch_obstacle *o = contact_case_obstacle(c, kind, kind == BO_OBSTACLE_CAPSULE ? lying : upright,
                                                 bo_v3(0, 0, kind == BO_OBSTACLE_PLANE ? 0 : -0.2));
    double heights[81], distances[15 * 15 * 15], top = 0;
    o->shape.radius = 0.2, o->shape.half = 0.3, o->shape.halves = bo_v3(0.3, 0.2, 0.2);
    if (kind == BO_OBSTACLE_HEIGHT) {
        for (int i = 0; i < 81; i++)
            heights[i] = 0.03 * sin(1.3 * (i % 9)) * cos(0.9 * (i / 9));
        if (bo_height_spline_make(c->ctx, 9, 9, (double[]){0.1, 0.1}, heights, &c->height))
            return false;
        o->shape.height = &c->height, o->shape.pose.t = bo_v3(-0.4, -0.4, 0), top = 0.035;
    }
    if (kind == BO_OBSTACLE_GRID) { /* a torus that lies */
        for (int k = 0; k < 15 * 15 * 15; k++) {
            const double x = 0.05 * (k % 15 - 7), y = 0.05 * (k / 15 % 15 - 7), z = 0.05 * (k / 225 - 7);
            distances[k] = hypot(hypot(x, y) - 0.16, z) - 0.07;
        }
        if (bo_distance_grid_make(c->ctx, (int32_t[]){15, 15, 15}, 0.05, bo_v3(-0.35, -0.35, -0.35), distances,
                                  &c->grid))
            return false;
        o->shape.grid = &c->grid, o->shape.pose.t = bo_v3(0, 0, -0.07), top = 0.01;
    }
    const bo_mat3 turn = any_turn(random, 1);
    const double radius = 0.5 * sqrt(0.2 * 0.2 + 0.16 * 0.16 + 0.12 * 0.12);
    return contact_case_add(c, contact_case_box(c->ctx, c->type, 0.2, 0.16, 0.12, 4, 3, 3), turn,
                            bo_v3(0.01, 0.02, top + radius + apart), bo_v3(0.3 * speed, 0, -speed),
                            any_spin(random, 0.5 * speed / radius));
}

/* A beam falls on three steps. */
static bool make_stairs(contact_case *c, uint64_t *random, double speed, double apart) {
    for (int k = 0; k < 3; k++) {
        bo_touch_obstacle *o =
            contact_case_obstacle(c, BO_OBSTACLE_BOX, bo_identity3(), bo_v3(-0.3 + 0.3 * k, 0, -0.1 * k - 0.25));
        o->shape.halves = bo_v3(0.15, 0.3, 0.25);
    }
    const bo_mat3 turn =
        bo_exp3(bo_v3(uniform(random, -0.2, 0.2), uniform(random, 0, 0.6), uniform(random, -0.3, 0.3)));
    return contact_case_add(c, contact_case_box(c->ctx, c->type, 0.6, 0.05, 0.05, 14, 2, 2), turn,
                            bo_v3(0.05, 0, 0.24 + apart), bo_v3(0.2 * speed, 0, -speed), bo_v3(0, 0, 0));
}

/* Two to five cubes fly at each other. */
static bool make_collision(contact_case *c, uint64_t *random, double speed, double apart) {
    const int count = 2 + (int)uniform(random, 0, 3.999);
    bool good = true;
    for (int k = 0; k < count && good; k++) {
        static const bo_vec3 ways[] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}};
        const double ring = k < 2 ? 0.09 : 0.27;
        good = contact_case_add(c, contact_case_box(c->ctx, c->type, 0.1, 0.1, 0.1, 3, 3, 3), any_turn(random, 2),
                                bo_scale(ring + 0.5 * apart, ways[k]), bo_scale(-speed, ways[k]),
                                any_spin(random, 0.5 * speed / 0.1));
    }
    return good;
}

/* A strip bent to a C whose ends meet. */
static bool make_hook(contact_case *c, double speed, double apart) {
    bough_mesh *mesh = contact_case_box(c->ctx, c->type, 1, 0.08, 0.04, 24, 2, 2);
    const double radius = 0.15, span = 2 * M_PI - (0.01 + apart) / radius;
    if (!mesh)
        return false;
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        double *x = mesh->vertices + 3 * (size_t)i;
        const double angle = span * x[0], r = radius - x[2];
        x[0] = r * sin(angle), x[2] = -r * cos(angle);
    }
    if (!contact_case_add(c, mesh, bo_identity3(), bo_v3(0, 0, 0), bo_v3(0, 0, 0), bo_v3(0, 0, 0)))
        return false;
    for (int32_t i = 0; i < c->vertex_count; i++) { /* ends towards each other, and a little past each other */
        const double *x = c->x + 3 * (size_t)i, up = fmax(0, x[2] / radius);
        c->v[3 * i] = -speed * up * (x[0] > 0 ? 1 : -1);
        c->v[3 * i + 1] = 0.1 * speed * up * (x[0] > 0 ? 1 : -1);
    }
    return true;
}

typedef struct {
    double top, speed;
} press;

static bo_se3 press_at(const void *data, double t) {
    const press *p = data;
    return (bo_se3){bo_exp3(bo_v3(M_PI, 0, 0)), bo_v3(0, 0, fmax(p->top - p->speed * t, 0.6 * p->top))};
}

/* Three cubes, one on the other, under a plate that comes down to 0.6 of their height, in ten steps or more. */
static bool make_press(contact_case *c, uint64_t *random, double speed, press *plate) {
    bool good = true;
    for (int k = 0; k < 3 && good; k++)
        good = contact_case_add(c, contact_case_box(c->ctx, c->type, 0.1, 0.1, 0.1, 3, 3, 3),
                                bo_exp3(bo_v3(0, 0, uniform(random, -1, 1))), bo_v3(0, 0, 0.052 + 0.104 * k),
                                bo_v3(0, 0, 0), bo_v3(0, 0, 0));
    contact_case_obstacle(c, BO_OBSTACLE_PLANE, bo_identity3(), bo_v3(0, 0, 0));
    *plate = (press){0.314, speed};
    bo_touch_obstacle *o = contact_case_obstacle(c, BO_OBSTACLE_PLANE, bo_identity3(), bo_v3(0, 0, 0.314));
    o->pose = press_at, o->pose_data = plate;
    return good;
}

/* Rods, crosswise in three layers, fall onto each other and the ground. */
static bool make_pile(contact_case *c, uint64_t *random, double speed, double apart) {
    bool good = true;
    contact_case_obstacle(c, BO_OBSTACLE_PLANE, bo_identity3(), bo_v3(0, 0, 0));
    for (int k = 0; k < 3 && good; k++)
        good = contact_case_add(c, contact_case_box(c->ctx, c->type, 0.4, 0.04, 0.04, 10, 1, 1),
                                bo_exp3(bo_v3(0, 0, 0.5 * M_PI * k + uniform(random, -0.3, 0.3))),
                                bo_v3(0, 0, 0.02 + apart + (0.04 + apart) * k), bo_v3(0, 0, -speed), bo_v3(0, 0, 0));
    return good;
}

/* All settings of a scene follow from its number. */
static bool make_scene(bough_context *ctx, int number, contact_case *c, press *plate, scene_facts *f) {
    static const bough_material_model models[] = {BOUGH_MATERIAL_NEO_HOOKEAN, BOUGH_MATERIAL_STABLE_NEO_HOOKEAN,
                                                  BOUGH_MATERIAL_NEO_HOOKEAN, BOUGH_MATERIAL_COROTATED};
    static const char *const names[] = {"neo-hookean", "stable-neo-hookean", "neo-hookean", "corotated"};
    static const char *const families[] = {"drop", "stairs", "collision", "hook", "press", "pile"};
    static const char *const methods[] = {"backward-euler", "backward-euler", "bdf2", "sdirk", "tr-bdf2"};
    uint64_t random = 1000u + (uint64_t)number;
    const int family = number % FAMILIES, round = number / FAMILIES;
    *c = contact_case_new(ctx, round % 3 == 2 ? BOUGH_HEX8 : BOUGH_TET4);
    f->family = families[family], f->material = names[round % 4];
    f->dt = number % 10 == 9 ? 1. / 30 : over_decades(&random, 1e-4, 1. / 30);
    const bool tame = round % 4 == 3; /* corotated elements would turn inside out */
    f->young = number % 10 == 8 && !tame ? 1e4 : number % 10 == 7 ? 1e9 : over_decades(&random, tame ? 1e7 : 1e4, 1e9);
    f->speed = number % 5 == 4 ? 50 : over_decades(&random, 0.1, 50);
    f->mu = number % 3 == 0 ? 0 : uniform(&random, 0.1, 1);
    c->body_def.material.model = models[round % 4];
    c->body_def.material.young = f->young, c->body_def.material.poisson = uniform(&random, 0.1, 0.45);
    c->method = methods[(number / 2) % 5], c->dt = f->dt;
    c->gravity[2] = -9.81, c->keeps_energy = true;
    c->touch.friction = f->mu, c->touch.support = 1e-3, c->touch.itself = true;
    const double apart = fmin(fmax(5 * f->speed * f->dt, 2e-3), 0.1);
    switch (family) {
    case 0:
        return make_drop(c, &random, round, f->speed, apart);
    case 1:
        return make_stairs(c, &random, f->speed, apart);
    case 2:
        return make_collision(c, &random, f->speed, apart);
    case 3:
        return make_hook(c, f->speed, fmin(apart, 0.05));
    case 4:
        return make_press(c, &random, f->speed = fmin(f->speed, 0.0125 / f->dt), plate);
    default:
        return make_pile(c, &random, f->speed, apart);
    }
}

static void count_faults(contact_case *c, scene_facts *f) {
    f->crossings += contact_case_crossings(c);
    f->inside += contact_case_inside(c);
    f->inverted += contact_case_inverted(c);
    const int32_t contacts = c->engine.kind->contacts(c->engine.data, 0, NULL);
    f->most_contacts = contacts > f->most_contacts ? contacts : f->most_contacts;
}

static bool run_scene(bough_context *ctx, int number, scene_facts *f) {
    contact_case c;
    press plate;
    double values[BOUGH_COLUMN_PROBES] = {0}, doubt;
    *f = (scene_facts){.seconds = app_cpu_seconds()};
    bool good = make_scene(ctx, number, &c, &plate, f) && contact_case_start(&c) && contact_case_measure(&c, values);
    const double start = values[BOUGH_COLUMN_TOTAL];
    double most = fabs(start), gain = -INFINITY;
    f->vertices = c.vertex_count, f->pieces = c.piece_count;
    for (int touched = 0; touched < SCENE_STEPS && f->steps < SCENE_MOST_STEPS && good; f->steps++) {
        if (!(good = contact_case_step(&c) && contact_case_measure(&c, values)))
            break;
        count_faults(&c, f);
        touched += f->most_contacts > 0 || c.failures > 0; /* steps are halved where something is in the way */
        most = fmax(most, values[BOUGH_COLUMN_KINETIC] + values[BOUGH_COLUMN_ELASTIC]);
        gain = fmax(gain, values[BOUGH_COLUMN_TOTAL] - start - c.engine.kind->work(c.engine.data, &doubt));
    }
    f->seconds = app_cpu_seconds() - f->seconds;
    f->gain = gain / most, f->failures = c.failures, f->finished = good;
    contact_case_free(&c);
    return !app_interrupted();
}

static bool bench_scenes(bough_context *ctx, json_t *rows) {
    int finished = 0, crossings = 0, inside = 0, inverted = 0, inverted_others = 0, steps = 0;
    for (int i = 0; i < SCENES; i++) {
        scene_facts f;
        if (!run_scene(ctx, i, &f))
            return false;
        const bool neo = !strcmp(f.material, "neo-hookean");
        finished += f.finished, crossings += f.crossings, inside += f.inside, steps += f.steps;
        inverted += neo ? f.inverted : 0, inverted_others += neo ? 0 : f.inverted;
        if (rows)
            json_array_append_new(
                rows, json_pack("{s:i, s:s, s:s, s:f, s:f, s:f, s:f, s:i, s:i, s:i, s:i, s:i, s:i, s:I, s:i, s:f, s:b}",
                                "scene", i, "family", f.family, "material", f.material, "dt", f.dt, "young", f.young,
                                "speed", f.speed, "friction", f.mu, "vertices", (int)f.vertices, "pieces",
                                (int)f.pieces, "steps", f.steps, "crossings", f.crossings, "inside", f.inside,
                                "inverted", f.inverted, "halved", (json_int_t)f.failures, "most_contacts",
                                (int)f.most_contacts, "energy_gain", f.gain, "finished", (int)f.finished));
        else
            printf("  %2d %-9s %-18s dt %.1e E %.1e %5.1f m/s mu %.2f: %4d contacts, %3d halved, %d crossings, %d "
                   "inside, %d inverted, gain %.1e, %.1f s%s\n",
                   i, f.family, f.material, f.dt, f.young, f.speed, f.mu, (int)f.most_contacts, (int)f.failures,
                   f.crossings, f.inside, f.inverted, f.gain, f.seconds, f.finished ? "" : ", DID NOT FINISH");
        fflush(stdout);
        if (!f.finished)
            fprintf(stderr, "scene %d: %s\n", i, bough_message(ctx));
    }
    if (rows)
        json_array_append_new(rows, json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "scenes", SCENES, "finished",
                                              finished, "steps", steps, "crossings", crossings, "inside", inside,
                                              "inverted_neo_hookean", inverted, "inverted_others", inverted_others));
    else
        printf("  %d of %d scenes finished, %d steps: %d crossings, %d vertices in obstacles, %d inverted elements of "
               "neo-Hookean bodies (%d of others)\n",
               finished, SCENES, steps, crossings, inside, inverted, inverted_others);
    return true;
}

/* ---- what contact costs ---- */

typedef struct {
    double ms, iterations; /* medians, of a step */
    int32_t pairs;
} cost;

enum { COST_STEPS = 41, COST_SETTLES = 60 };

/* on_ground: one block on the ground; else a block on another one, which is held below. All of them shake a little. */
static bool make_blocks(bough_context *ctx, bool on_ground, bool touches, contact_case *c) {
    *c = contact_case_new(ctx, BOUGH_HEX8);
    c->touches = touches;
    c->body_def.material.young = 1e6;
    c->touch.support = 1e-3, c->touch.friction = 0.3, c->touch.itself = !on_ground, c->gravity[2] = touches ? -9.81 : 0;
    c->dt = 1. / 240;
    contact_case_obstacle(c, BO_OBSTACLE_PLANE, bo_identity3(), bo_v3(0, 0, 0));
    const int32_t n = on_ground ? 31 : 10, high = on_ground ? 4 : 10;
    bool good = true;
    for (int k = 0; k < (on_ground ? 1 : 2) && good; k++)
        good = contact_case_add(c, contact_case_box(ctx, BOUGH_HEX8, 0.3, 0.3, 0.1, n, n, high),
                                bo_exp3(bo_v3(0, 0, 0.2 * k)), bo_v3(0, 0, 0.051 + 0.101 * k), bo_v3(0.1 * k, 0, 0),
                                bo_v3(0, 0, 0));
    for (int32_t i = 0; i < c->vertex_count && good; i++)
        c->v[3 * i + 2] += 0.02 * sin(20 * c->x[3 * i]) * cos(15 * c->x[3 * i + 1]);
    return good;
}

static bool measure_cost(bough_context *ctx, bool on_ground, bool touches, cost *to) {
    contact_case c;
    double ms[COST_STEPS], iterations[COST_STEPS], pairs[COST_STEPS];
    bool good = make_blocks(ctx, on_ground, touches, &c) && contact_case_start(&c);
    for (int i = 0; i < COST_SETTLES && good && touches; i++)
        good = contact_case_step(&c);
    for (int i = 0; i < COST_STEPS && good; i++) {
        const int64_t before = c.iterations;
        const double start = app_cpu_seconds();
        good = contact_case_step(&c);
        ms[i] = 1e3 * (app_cpu_seconds() - start), iterations[i] = (double)(c.iterations - before);
        pairs[i] = touches ? c.engine.kind->contacts(c.engine.data, 0, NULL) : 0;
    }
    if (good)
        *to =
            (cost){median_of(COST_STEPS, ms), median_of(COST_STEPS, iterations), (int32_t)median_of(COST_STEPS, pairs)};
    contact_case_free(&c);
    return good;
}

static bool bench_costs(bough_context *ctx, json_t *rows) {
    for (int on_ground = 0; on_ground < 2; on_ground++) {
        cost with, without;
        if (!measure_cost(ctx, on_ground, true, &with) || !measure_cost(ctx, on_ground, false, &without))
            return false;
        const char *name = on_ground ? "block on the ground" : "block on a block";
        if (rows)
            json_array_append_new(rows, json_pack("{s:s, s:i, s:f, s:f, s:f, s:f, s:f}", "cost", name, "pairs",
                                                  (int)with.pairs, "step_ms", with.ms, "iterations", with.iterations,
                                                  "step_ms_without", without.ms, "iterations_without",
                                                  without.iterations, "ratio", with.ms / without.ms));
        else
            printf("  %-20s %5d pairs: %.1f ms a step (%g iterations), without contact %.1f ms (%g): %.2f times\n",
                   name, (int)with.pairs, with.ms, with.iterations, without.ms, without.iterations,
                   with.ms / without.ms);
    }
    return true;
}

/* ---- momentum ---- */

/* The sum of x x M v over the vertices. */
static bo_vec3 turning(int32_t count, const double *x, const double *Mv) {
    bo_vec3 sum = {0, 0, 0};
    for (int32_t i = 0; i < count; i++)
        sum = bo_add(sum, bo_cross(bo_load3(x + 3 * (size_t)i), bo_load3(Mv + 3 * (size_t)i)));
    return sum;
}

static bool make_flight(bough_context *ctx, double mu, const char *method, double dt, contact_case *c) {
    *c = contact_case_new(ctx, BOUGH_HEX8);
    c->body_def.material.young = 1e6, c->method = method, c->dt = dt;
    c->touch.support = 1e-3, c->touch.friction = mu, c->touch.itself = true;
    return contact_case_add(c, contact_case_box(ctx, BOUGH_HEX8, 0.1, 0.12, 0.1, 3, 3, 3), bo_exp3(bo_v3(0.3, 0.2, 0)),
                            bo_v3(0, 0, 0), bo_v3(2, 0, 0), bo_v3(0, 3, 5)) &&
           contact_case_add(c, contact_case_box(ctx, BOUGH_HEX8, 0.1, 0.1, 0.1, 3, 3, 3), bo_exp3(bo_v3(0, 0.5, 0.4)),
                            bo_v3(0.145, 0.03, 0.02), bo_v3(-1, 0, 0), bo_v3(2, 0, 0)) &&
           contact_case_start(c);
}

typedef struct {
    double momentum, turning; /* changes over the sums of the bodies' own */
    double torque;            /* the same of the impulses of torque by contact alone; NAN: not known */
    int32_t most;
} kept;

/* Backward Euler: x+ = x + h v+ and M v+ = M v + h f+, so that the angular momentum changes by
 *     sum x+ x M v+ - x x M v = sum (x+ - x) x M v + h sum x+ x f+
 * The first sum is the method's, with or without contact; elastic forces have no torque, and the last sum is that of
 * the contact. */
static bool measure_momentum(bough_context *ctx, double mu, const char *method, double dt, kept *k) {
    contact_case c;
    double before[BOUGH_COLUMN_PROBES], values[BOUGH_COLUMN_PROBES];
    bool good = make_flight(ctx, mu, method, dt, &c) && contact_case_measure(&c, before);
    const size_t n = 3 * (size_t)c.vertex_count;
    double *x = calloc(n, sizeof *x), *way = calloc(n, sizeof *way), *Mv = calloc(n, sizeof *Mv);
    bough_sparse *M = NULL;
    bo_vec3 contact = {0, 0, 0};
    good =
        good && x && way && Mv && !bough_body_matrix_create(ctx, c.body, &M) && !bough_body_mass_matrix(ctx, c.body, M);
    *k = (kept){0};
    for (double end = 0.04; c.t < end - 0.5 * dt && good;) {
        for (size_t i = 0; i < n; i++)
            x[i] = c.mesh->vertices[i] + c.engine.displacement[i];
        bo_sparse_mul(M, c.engine.velocity, Mv, false);
        const bo_vec3 L = turning(c.vertex_count, x, Mv);
        const int64_t failures = c.failures;
        good = contact_case_step(&c);
        for (size_t i = 0; i < n; i++)
            way[i] = c.mesh->vertices[i] + c.engine.displacement[i] - x[i];
        const bo_vec3 own = turning(c.vertex_count, way, Mv);
        for (size_t i = 0; i < n; i++)
            x[i] += way[i];
        bo_sparse_mul(M, c.engine.velocity, Mv, false);
        contact = bo_add(contact, bo_sub(bo_sub(turning(c.vertex_count, x, Mv), L), own));
        if (c.failures > failures)
            contact.x = NAN; /* halves of steps were not looked at */
        const int32_t pairs = c.engine.kind->contacts(c.engine.data, 0, NULL);
        k->most = pairs > k->most ? pairs : k->most;
    }
    good = good && contact_case_measure(&c, values);
    const double *p0 = before + BOUGH_COLUMN_MOMENTUM, *p1 = values + BOUGH_COLUMN_MOMENTUM,
                 *L0 = before + BOUGH_COLUMN_ANGULAR_MOMENTUM, *L1 = values + BOUGH_COLUMN_ANGULAR_MOMENTUM;
    const double scale = bo_norm(bo_load3(L0));
    k->momentum = bo_norm(bo_sub(bo_load3(p1), bo_load3(p0))) / bo_norm(bo_load3(p0));
    k->turning = bo_norm(bo_sub(bo_load3(L1), bo_load3(L0))) / scale;
    k->torque = strcmp(method, "backward-euler") == 0 ? bo_norm(contact) / scale : NAN;
    bough_sparse_destroy(ctx, M);
    free(x), free(way), free(Mv);
    contact_case_free(&c);
    return good;
}

static bool bench_momentum(bough_context *ctx, json_t *rows) {
    static const char *const methods[] = {"backward-euler", "bdf2", "tr-bdf2", "sdirk", "midpoint"};
    for (int slow = 0; slow < 2; slow++)
        for (int m = 0; m < 5; m++)
            for (int rough = 0; rough < 2; rough++) {
                kept k;
                const double dt = slow ? 1e-4 : 1e-3, mu = rough ? 0.5 : 0;
                if (!measure_momentum(ctx, mu, methods[m], dt, &k))
                    return false;
                if (rows)
                    json_array_append_new(rows,
                                          json_pack("{s:s, s:f, s:f, s:i, s:f, s:f, s:o}", "momentum", methods[m], "dt",
                                                    dt, "friction", mu, "most_pairs", (int)k.most, "linear", k.momentum,
                                                    "angular", k.turning, "contact_torque", app_json_number(k.torque)));
                else
                    printf("  two blocks collide, %-14s dt %g, mu %.1f, %d pairs: momentum changes by %.1e, angular by "
                           "%.1e, by contact %.1e\n",
                           methods[m], dt, mu, (int)k.most, k.momentum, k.turning, k.torque);
            }
    return true;
}

/* ---- inclines ---- */

static bool bench_inclines(bough_context *ctx, json_t *rows) {
    static const double degrees[] = {15, 30, 45}, friction[] = {0.1, 0.3, 0.6};
    bool good = true;
    for (int i = 0; i < 3 && good; i++) {
        const double angle = degrees[i] * M_PI / 180;
        double values[2][BOUGH_COLUMN_PROBES], t[2] = {0};
        contact_case c = contact_case_new(ctx, BOUGH_HEX8);
        c.body_def.material.young = 1e7, c.body_def.damping_stiffness = 1e-3;
        c.gravity[0] = 9.81 * sin(angle), c.gravity[2] = -9.81 * cos(angle);
        c.touch.support = 1e-3, c.touch.friction = friction[i];
        contact_case_obstacle(&c, BO_OBSTACLE_PLANE, bo_identity3(), bo_v3(0, 0, 0))->friction = friction[i];
        good = contact_case_add(&c, contact_case_box(ctx, BOUGH_HEX8, 0.2, 0.2, 0.1, 4, 4, 2), bo_identity3(),
                                bo_v3(0, 0, 0.0508), bo_v3(0, 0, 0), bo_v3(0, 0, 0)) &&
               contact_case_start(&c);
        for (int k = 0; k < 2 && good; k++) {
            for (int s = 0; s < 60 && good; s++)
                good = contact_case_step(&c);
            good = good && contact_case_measure(&c, values[k]);
            t[k] = c.t;
        }
        const double mass = 1000 * 0.2 * 0.2 * 0.1, coulomb = 9.81 * (sin(angle) - friction[i] * cos(angle));
        const double found =
            (values[1][BOUGH_COLUMN_MOMENTUM] - values[0][BOUGH_COLUMN_MOMENTUM]) / mass / (t[1] - t[0]);
        if (good && rows)
            json_array_append_new(rows, json_pack("{s:f, s:f, s:f, s:f}", "incline", degrees[i], "friction",
                                                  friction[i], "acceleration", found, "coulomb", coulomb));
        else if (good)
            printf("  incline of %g degrees, mu %g: acceleration %.6g, Coulomb %.6g m/s^2 (%.1e)\n", degrees[i],
                   friction[i], found, coulomb, found / coulomb - 1);
        contact_case_free(&c);
    }
    return good;
}

/* ---- all of it, or one part ---- */

typedef bool (*part)(bough_context *ctx, json_t *rows);

static int run_parts(const bench_options *options, int count, const part *parts) {
    bough_context *ctx = app_context(1);
    json_t *rows = options->json ? json_array() : NULL;
    bool good = true;
    setvbuf(stdout, NULL, _IOLBF, 0); /* it takes minutes */
    for (int i = 0; i < count && good; i++)
        good = parts[i](ctx, rows);
    if (!good)
        bench_fail(ctx);
    return bench_end(ctx, rows, good);
}

int bench_contact(const bench_options *options) {
    static const part all[] = {bench_inclines, bench_momentum,     bench_hertz,
                               bench_costs,    bench_contact_tree, bench_scenes};
    return run_parts(options, (int)(sizeof all / sizeof *all), all);
}

int bench_contact_inclines(const bench_options *options) {
    return run_parts(options, 1, (const part[]){bench_inclines});
}

int bench_contact_momentum(const bench_options *options) {
    return run_parts(options, 1, (const part[]){bench_momentum});
}

int bench_contact_hertz(const bench_options *options) {
    return run_parts(options, 1, (const part[]){bench_hertz});
}

int bench_contact_costs(const bench_options *options) {
    return run_parts(options, 1, (const part[]){bench_costs});
}

int bench_contact_scenes(const bench_options *options) {
    return run_parts(options, 1, (const part[]){bench_scenes});
}
