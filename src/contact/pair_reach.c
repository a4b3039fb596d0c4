/* Safe steps: pairs move as far as they can without coming too near. */
#include "contact/pair_frame.h"

#include <float.h>

/* Errors of computed distances, and of x + t p, are well below this many units of the largest coordinate's last place.
 * They are sums of some twenty roundings. */
static const double ROUNDINGS = 64;
/* Fourth powers of lengths below this underflow, m. */
static const double LEAST_LENGTH = 1e-60;
/* The gap to what must be kept falls by a factor a round where a pair approaches steadily. */
enum { MOST_ROUNDS = 256 };
/* The rest of the way that is given up in the end. */
static const double ENOUGH = 0.01;

static int first_count(bo_pair_kind kind) {
    return kind == BO_PAIR_EDGES ? 2 : 1;
}

static double larger(double a, double b) {
    return a > b ? a : b;
}
static double largest_of(bo_vec3 a) {
    return larger(larger(fabs(a.x), fabs(a.y)), fabs(a.z));
}

/* Returns how wrong distances may be. Not finite if any coordinate is not. p may be NULL. */
static double rounding_of(const bo_vec3 x[4], const bo_vec3 p[4]) {
    double largest = 0, zero = 0; /* comparisons leave NAN out, products do not */
    for (int i = 0; i < 4; i++) {
        largest = larger(largest_of(x[i]) + (p ? largest_of(p[i]) : 0), largest);
        zero += 0 * (x[i].x + x[i].y + x[i].z) + (p ? 0 * (p[i].x + p[i].y + p[i].z) : 0);
    }
    return ROUNDINGS * DBL_EPSILON * largest + LEAST_LENGTH + zero;
}

/* The points of a piece are between its corners, hence velocities of one piece against the other are between those of
 * their corners: no distance changes faster than the fastest of them. */
static double fastest_approach(bo_pair_kind kind, const bo_vec3 p[4]) {
    double fastest = 0;
    for (int i = 0; i < first_count(kind); i++)
        for (int k = first_count(kind); k < 4; k++) {
            const bo_vec3 v = bo_sub(p[i], p[k]);
            fastest = larger(bo_dot(v, v), fastest);
        }
    return sqrt(fastest);
}

/* Returns a time during which the distance stays above `goal`, from z on. By the speed of approach it is
 * (d - goal) / fastest. Along the direction n of the nearest points, corners i of the first piece are
 * n.(z_i - z_k) + t n.(p_i - p_k) before corners k of the second, and the pieces are apart by no less than the least of
 * these. That is mostly the longer time: n.(z_i - z_k) >= d, and it knows of no speed but that along n. */
static double safe_time(bo_pair_kind kind, const bo_vec3 z[4], const bo_vec3 p[4], bo_vec3 y, double d, double goal,
                        double fastest) {
    const bo_vec3 n = bo_scale(1 / d, y);
    double along = INFINITY;
    for (int i = 0; i < first_count(kind); i++)
        for (int k = first_count(kind); k < 4; k++) {
            const double gap = bo_dot(n, bo_sub(z[i], z[k])), speed = bo_dot(n, bo_sub(p[i], p[k]));
            if (gap <= goal)
                along = 0;
            else if (speed < 0)
                along = fmin(along, (gap - goal) / -speed);
        }
    return fmax(along, (d - goal) / fastest);
}

double bo_pair_reach(bo_pair_kind kind, const bo_vec3 x[4], const bo_vec3 p[4], double keep) {
    const double fastest = fastest_approach(kind, p), rounding = rounding_of(x, p);
    bo_pair_nearest nearest;
    bo_pair_find_nearest(kind, x, &nearest);
    double d = bo_norm(nearest.y), t = 0;
    const double goal = fmax(keep, 0) * d + rounding, enough = goal + ENOUGH * (d - goal);
    if (!isfinite(fastest) || !isfinite(rounding) || !isfinite(d) || !(keep < 1) || !(d > goal))
        return 0;
    bo_vec3 z[4] = {x[0], x[1], x[2], x[3]};
    for (int round = 0; round < MOST_ROUNDS && d > enough; round++) {
        t += safe_time(kind, z, p, nearest.y, d, goal, fastest);
        if (!(t < 1))
            return 1;
        for (int i = 0; i < 4; i++)
            z[i] = bo_mul_add(x[i], t, p[i]);
        bo_pair_find_nearest(kind, z, &nearest);
        d = bo_norm(nearest.y);
    }
    return t;
}

bool bo_pair_stays_apart(bo_pair_kind kind, const bo_vec3 x[4], const bo_vec3 p[4], double distance) {
    bo_pair_nearest nearest;
    bo_pair_find_nearest(kind, x, &nearest);
    const double d = bo_norm(nearest.y), goal = distance + rounding_of(x, p);
    if (!(d > goal))
        return false;
    return !p || !(safe_time(kind, x, p, nearest.y, d, goal, fastest_approach(kind, p)) < 1);
}
