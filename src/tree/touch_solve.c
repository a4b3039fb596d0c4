/* Forces of contacts: the laws, and the search for forces that obey them. docs/theory/tree.md, "Contact". */
#include "tree/touch.h"

#include <math.h>
#include <string.h>

enum { MOST_LAGS = 6, MOST_ROUNDS = 30, MOST_TRIALS = 30, MOST_HANDED = 128 };
#define SETTLED 1e-3 /* of the largest force: what is missing in balance is less */
#define LAGGED 1e-2  /* of the largest force: friction is measured by forces that are off by less */

/* ---- laws ---- */

/* Motions of a point that go with its answer y: v + dt y. Its forces have a potential,
 *     f_n = max(0, m - hardness (v_n + gap / dt) / dt),   f_t = -mu N s(|v_t|) v_t / |v_t|
 * s(u) = 2 u / e - u^2 / e^2 below the slip speed e, then 1. The multiplier m becomes the force f_n that was found, until
 * v_n is 0 where there is a force (the method of multipliers: contacts may be soft, so that those of one body share its
 * weight well, and still do not give way); and so does N, by which friction is measured. */
typedef struct {
    double force[3];
    double hard;          /* derivative of the normal force by -y */
    double slide[2];      /* unit, along the tangents: the direction of sliding; (1, 0) where there is none */
    double along, beside; /* derivatives of the friction by -y along it and across */
} law;

static law law_of(const bo_tree_touch *touch, const bo_tree_point *point, const double y[3], double dt) {
    const double e = touch->def.slip, limit = point->friction * point->pressed, hardness = point->hardness;
    const double v[3] = {point->velocity[0] + dt * y[0], point->velocity[1] + dt * y[1],
                         point->velocity[2] + dt * y[2]};
    const double speed = sqrt(v[1] * v[1] + v[2] * v[2]);
    const double normal = point->multiplier - hardness / dt * (v[0] + point->slack);
    law l = {.slide = {1, 0}};
    if (normal > 0)
        l.force[0] = normal, l.hard = hardness;
    if (speed > 0)
        l.slide[0] = v[1] / speed, l.slide[1] = v[2] / speed;
    const double drag = speed < e ? limit * (2 - speed / e) / e : limit / speed;
    l.beside = dt * drag;
    l.along = speed < e ? dt * limit * 2 * (1 - speed / e) / e : 0;
    l.force[1] = -drag * v[1], l.force[2] = -drag * v[2];
    return l;
}

/* K v: the derivative of the forces of a point by -y, in its axes. */
static void stiffness_times(const bo_tree_point *point, const double v[3], double out[3]) {
    const double *u = point->law_slide, *K = point->law_stiff;
    const double along = K[1] * (u[0] * v[1] + u[1] * v[2]), beside = K[2] * (-u[1] * v[1] + u[0] * v[2]);
    out[0] = K[0] * v[0];
    out[1] = along * u[0] - beside * u[1];
    out[2] = along * u[1] + beside * u[0];
}

static bool takes_part(const bo_tree_touch *touch, size_t i) {
    return !touch->islands[touch->points[i].island].balanced;
}

/* One step of Newton's method from the answers y: forces are f(y) + K (y - y+). */
static bool improve(const bough_tree_model *model, bo_tree_work *w, double dt) {
    bo_tree_touch *touch = w->touch;
    bool any = false;
    bo_tree_touch_clear(model, w);
    for (size_t i = 0; i < touch->point_count; i++) {
        bo_tree_point *point = &touch->points[i];
        if (!takes_part(touch, i))
            continue;
        const law l = law_of(touch, point, point->answer, dt);
        const double across[2] = {-l.slide[1], l.slide[0]};
        memcpy(point->last_answer, point->answer, sizeof point->answer);
        memcpy(point->last_force, point->force, sizeof point->force);
        memcpy(point->law_force, l.force, sizeof l.force);
        memcpy(point->law_slide, l.slide, sizeof l.slide);
        point->law_stiff[0] = l.hard, point->law_stiff[1] = l.along, point->law_stiff[2] = l.beside;
        if (touch->islands[point->island].left_out)
            continue;
        any = true;
        if (l.hard > 0)
            bo_tree_touch_add_row(touch, point, NULL, l.hard);
        if (l.along > 0)
            bo_tree_touch_add_row(touch, point, l.slide, l.along);
        if (l.beside > 0)
            bo_tree_touch_add_row(touch, point, across, l.beside);
        double f[3];
        stiffness_times(point, point->answer, f);
        for (int k = 0; k < 3; k++)
            f[k] += l.force[k];
        bo_tree_touch_load(touch, point, f);
    }
    if (!bo_tree_touch_improve_few(touch) || (any && !bo_tree_touch_eliminate(model, w)))
        return false;
    for (size_t i = 0; i < touch->point_count; i++) {
        bo_tree_point *point = &touch->points[i];
        double d[3], Kd[3];
        if (!takes_part(touch, i))
            continue;
        for (int k = 0; k < 3; k++)
            d[k] = point->last_answer[k] - point->answer[k];
        stiffness_times(point, d, Kd);
        for (int k = 0; k < 3; k++)
            point->force[k] = point->law_force[k] + Kd[k];
    }
    return true;
}

/* Slopes of the potentials of all islands, each at its own part of the way from the last answers to the new ones:
 * (F - f(y)) . dy. Accelerations are A^-1 J^T F, so that their part of the slope is F . dy, too. */
static void find_slopes(bo_tree_touch *touch, double dt) {
    for (size_t i = 0; i < touch->point_count; i++)
        touch->islands[touch->points[i].island].slope = 0;
    for (size_t i = 0; i < touch->point_count; i++) {
        const bo_tree_point *point = &touch->points[i];
        bo_tree_island *island = &touch->islands[point->island];
        if (island->balanced || island->low == island->high)
            continue;
        double y[3];
        for (int k = 0; k < 3; k++)
            y[k] = point->last_answer[k] + island->at * (point->answer[k] - point->last_answer[k]);
        const law l = law_of(touch, point, y, dt);
        for (int k = 0; k < 3; k++) {
            const double F = point->last_force[k] + island->at * (point->force[k] - point->last_force[k]);
            island->slope += (F - l.force[k]) * (point->answer[k] - point->last_answer[k]);
        }
    }
}

/* Whether something is to be done with an island that the first of its points stands for; `at` is where it goes. */
static bo_tree_island *first_of(bo_tree_touch *touch, size_t i) {
    bo_tree_island *island = &touch->islands[touch->points[i].island];
    return island->balanced || island->low == island->high || island->seen == touch->round_of_look ? NULL : island;
}

/* The potentials are convex: their least value on the way is where the slope vanishes. Islands know nothing of each
 * other, and each goes as far as it should. */
static void shorten(bo_tree_touch *touch, double dt) {
    for (size_t i = 0; i < touch->point_count; i++) {
        bo_tree_island *island = &touch->islands[touch->points[i].island];
        island->low = 0, island->high = 1, island->at = 0;
    }
    find_slopes(touch, dt);
    for (size_t i = 0; i < touch->point_count; i++) {
        bo_tree_island *island = &touch->islands[touch->points[i].island];
        island->start = fabs(island->slope), island->at = 1;
    }
    bool any = true;
    for (int trial = 0; trial <= MOST_TRIALS && any; trial++) {
        find_slopes(touch, dt);
        any = false;
        touch->round_of_look++;
        for (size_t i = 0; i < touch->point_count; i++) {
            bo_tree_island *island = first_of(touch, i);
            if (!island)
                continue;
            island->seen = touch->round_of_look;
            if (island->slope > 0)
                island->high = island->at;
            else
                island->low = island->at;
            if (fabs(island->slope) < 0.1 * island->start || (trial == 0 && !(island->slope > 0))) {
                island->low = island->high = island->at; /* far enough */
                continue;
            }
            island->at = 0.5 * (island->low + island->high), any = true;
        }
    }
    for (size_t i = 0; i < touch->point_count; i++) {
        bo_tree_point *point = &touch->points[i];
        const bo_tree_island *island = &touch->islands[point->island];
        const double s = island->low == island->high ? island->low : island->low > 0 ? island->low : island->high;
        for (int k = 0; k < 3 && !island->balanced && s != 1; k++) {
            point->answer[k] = point->last_answer[k] + s * (point->answer[k] - point->last_answer[k]);
            point->force[k] = point->last_force[k] + s * (point->force[k] - point->last_force[k]);
        }
    }
}

static void start_islands(bo_tree_touch *touch) {
    for (size_t i = 0; i < touch->point_count; i++) {
        bo_tree_island *island = &touch->islands[touch->points[i].island];
        island->off = island->most = 0;
    }
}

/* Finds the islands whose forces are those of the laws at their answers; true: all are. */
static bool are_balanced(bo_tree_touch *touch, double dt) {
    bool all = true;
    start_islands(touch);
    for (size_t i = 0; i < touch->point_count; i++) {
        const bo_tree_point *point = &touch->points[i];
        bo_tree_island *island = &touch->islands[point->island];
        if (island->finished)
            continue;
        const law l = law_of(touch, point, point->answer, dt);
        for (int k = 0; k < 3; k++) {
            island->off = fmax(island->off, fabs(point->force[k] - l.force[k]));
            island->most = fmax(island->most, fabs(l.force[k]));
        }
    }
    for (size_t i = 0; i < touch->point_count; i++) {
        bo_tree_island *island = &touch->islands[touch->points[i].island];
        island->balanced = island->finished || island->off <= SETTLED * island->most;
        all = all && island->balanced;
    }
    return all;
}

/* Friction is measured by the normal forces that were found; later on by the mean of these and of those before, since
 * points may bear a weight in turns. True: some have changed. */
static bool press(bo_tree_touch *touch, bool mean) {
    bool any = false;
    start_islands(touch);
    for (size_t i = 0; i < touch->point_count; i++) {
        bo_tree_point *point = &touch->points[i];
        bo_tree_island *island = &touch->islands[point->island];
        if (island->finished)
            continue;
        const double pressed = fmax(0, point->force[0]);
        island->off = fmax(island->off, fabs(pressed - point->multiplier));
        island->off = fmax(island->off, point->friction * fabs(pressed - point->pressed));
        island->most = fmax(island->most, pressed);
        point->multiplier = pressed;
        point->pressed = mean ? 0.5 * (point->pressed + pressed) : pressed;
    }
    for (size_t i = 0; i < touch->point_count; i++) {
        bo_tree_island *island = &touch->islands[touch->points[i].island];
        island->finished = island->finished || island->off <= LAGGED * island->most;
        any = any || !island->finished;
    }
    return any;
}

/* The laws hold, whatever is left: no force pulls, and friction is within its cone, on its rim where points slide. */
static void clip(bo_tree_touch *touch, double dt) {
    for (size_t i = 0; i < touch->point_count; i++) {
        bo_tree_point *point = &touch->points[i];
        double *force = point->force;
        if (touch->islands[point->island].paired || touch->islands[point->island].single)
            continue;
        force[0] = fmax(0, force[0]);
        const double limit = point->friction * force[0], friction = hypot(force[1], force[2]);
        const double speed =
            hypot(point->velocity[1] + dt * point->answer[1], point->velocity[2] + dt * point->answer[2]);
        const bool slides = speed > 2 * touch->def.slip && friction > 0;
        for (int k = 1; k < 3 && (friction > limit || slides); k++)
            force[k] *= limit / friction;
    }
}

static bool search(const bough_tree_model *model, bo_tree_work *w, double dt) {
    bo_tree_touch *touch = w->touch;
    for (int round = 0; round < MOST_ROUNDS && !are_balanced(touch, dt); round++) {
        if (!improve(model, w, dt))
            return false;
        shorten(touch, dt);
        touch->rounds++;
    }
    return true;
}

static bool has_pairs(const bo_tree_touch *touch) {
    for (size_t i = 0; i < touch->point_count; i++)
        if (touch->islands[touch->points[i].island].paired)
            return true;
    return false;
}

/* Islands whose friction has not settled are solved for as those in which parts touch each other, if they are small:
 * there every force is within its cone and against the motion, so that no energy is made, however far the search goes. */
static void hand_over(bo_tree_touch *touch) {
    for (size_t i = 0; i < touch->point_count; i++) {
        bo_tree_island *island = &touch->islands[touch->points[i].island];
        island->paired = island->paired || (!island->finished && island->points <= MOST_HANDED);
    }
}

bool bo_tree_touch_solve(bough_context *ctx, const bough_tree_model *model, bo_tree_work *w, double dt, bool again) {
    bo_tree_touch *touch = w->touch;
    touch->rounds = 0;
    const bool recalled = again || bo_tree_touch_recall(model, touch);
    if (touch->single_count > 0 && !bo_tree_touch_solve_singles(ctx, model, w, dt, false))
        return false;
    if (touch->single_count == touch->point_count)
        return true;
    if (!bo_tree_touch_weigh_few(ctx, model, w) || (recalled && !bo_tree_touch_answer(model, w)))
        return false;
    bo_tree_touch_choose(touch, false);
    bool settled = false;
    for (int lag = 0; lag < MOST_LAGS && !settled; lag++) {
        if (!search(model, w, dt))
            return false;
        settled = !press(touch, lag > 1);
    }
    clip(touch, dt);
    if (!settled)
        hand_over(touch);
    return !has_pairs(touch) || bo_tree_touch_solve_pairs(ctx, model, w, dt, false);
}

bool bo_tree_touch_push(bough_context *ctx, const bough_tree_model *model, bo_tree_work *w, double dt) {
    bo_tree_touch *touch = w->touch;
    for (size_t i = 0; i < touch->point_count; i++) {
        bo_tree_point *point = &touch->points[i];
        memset(point->answer, 0, sizeof point->answer);
        memset(point->force, 0, sizeof point->force);
        memset(point->velocity, 0, sizeof point->velocity);
        point->slack = 0;
        point->velocity[0] = touch->push[i] > 0 ? -touch->push[i] / dt : touch->clear[i] / dt;
        point->pressed = point->multiplier = 0;
    }
    if (touch->single_count > 0 && !bo_tree_touch_solve_singles(ctx, model, w, dt, true))
        return false;
    if (touch->single_count == touch->point_count)
        return true;
    if (has_pairs(touch) && !bo_tree_touch_solve_pairs(ctx, model, w, dt, true))
        return false;
    bo_tree_touch_choose(touch, false);
    if (!search(model, w, dt))
        return false;
    clip(touch, dt);
    return true;
}
