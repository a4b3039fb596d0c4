/* Gaps of planes, spheres, capsules and boxes; obstacles in the world, and how far a point may go. */
#include "contact/gap.h"

/* ---- in their own axes ---- */

/* A vector shorter than this has no direction: its square would underflow. */
#define NO_LENGTH 1e-140

void bo_gap_plane(bo_vec3 x, bo_gap *gap) {
    *gap = (bo_gap){.d = x.z, .n = {0, 0, 1}};
}

/* The distance |y| - radius of a point from the nearest point of a core (a point, a segment, a box), y apart from it.
 * free_axes: 1 along those axes in which y changes with x, 0 along the others.
 *     n = y / |y|,   H = (diag(free_axes) - n n^T) / |y|
 * On the core itself n is `otherwise`, and H = 0. */
static void gap_of_core(bo_vec3 y, bo_vec3 free_axes, double radius, bo_vec3 otherwise, bo_gap *gap) {
    const double length = bo_norm(y);
    *gap = (bo_gap){.d = length - radius, .n = otherwise};
    if (!(length > NO_LENGTH))
        return;
    gap->n = bo_scale(1 / length, y);
    gap->H = bo_mat_scale(-1, bo_outer(gap->n, gap->n));
    gap->H.m[0] += free_axes.x, gap->H.m[4] += free_axes.y, gap->H.m[8] += free_axes.z;
    gap->H = bo_mat_scale(1 / length, gap->H);
}

void bo_gap_sphere(double radius, bo_vec3 x, bo_gap *gap) {
    gap_of_core(x, bo_v3(1, 1, 1), radius, bo_v3(0, 0, 1), gap);
}

void bo_gap_capsule(double radius, double half, bo_vec3 x, bo_gap *gap) {
    const double nearest = x.z > half ? half : x.z < -half ? -half : x.z;
    const bool beside = x.z > -half && x.z < half;
    gap_of_core(bo_v3(x.x, x.y, x.z - nearest), bo_v3(1, 1, beside ? 0 : 1), radius, bo_v3(1, 0, 0), gap);
}

/* Inside, the nearest face is a plane. Outside, the nearest point of the box is |x| - half away along those axes along
 * which x is beyond it. NAN counts as beyond, so that it is passed on. */
void bo_gap_box(bo_vec3 half, bo_vec3 x, bo_gap *gap) {
    const double at[3] = {x.x, x.y, x.z}, q[3] = {fabs(x.x) - half.x, fabs(x.y) - half.y, fabs(x.z) - half.z};
    double y[3], beyond[3], most = -INFINITY;
    int face = 0;
    for (int k = 0; k < 3; k++) {
        beyond[k] = q[k] <= 0 ? 0 : 1;
        y[k] = q[k] <= 0 ? 0 : copysign(q[k], at[k]);
        if (q[k] > most)
            most = q[k], face = k;
    }
    double out[3] = {0, 0, 0};
    out[face] = copysign(1, at[face]);
    if (beyond[0] + beyond[1] + beyond[2] == 0)
        *gap = (bo_gap){.d = most, .n = bo_load3(out)};
    else
        gap_of_core(bo_load3(y), bo_load3(beyond), 0, bo_load3(out), gap);
}

/* ---- in the world ---- */

static void gap_in_own_axes(const bo_obstacle *obstacle, bo_vec3 x, bo_gap *gap) {
    switch (obstacle->kind) {
    case BO_OBSTACLE_PLANE:
        bo_gap_plane(x, gap);
        return;
    case BO_OBSTACLE_SPHERE:
        bo_gap_sphere(obstacle->radius, x, gap);
        return;
    case BO_OBSTACLE_CAPSULE:
        bo_gap_capsule(obstacle->radius, obstacle->half, x, gap);
        return;
    case BO_OBSTACLE_BOX:
        bo_gap_box(obstacle->halves, x, gap);
        return;
    case BO_OBSTACLE_HEIGHT:
        bo_gap_height(obstacle->height, x, gap);
        return;
    case BO_OBSTACLE_GRID:
        bo_gap_grid(obstacle->grid, x, gap);
        return;
    }
    *gap = (bo_gap){.d = NAN};
}

void bo_obstacle_gap(const bo_obstacle *obstacle, bo_vec3 x, bo_gap *gap) {
    const bo_mat3 R = obstacle->pose.R;
    gap_in_own_axes(obstacle, bo_mat_tvec(R, bo_sub(x, obstacle->pose.t)), gap);
    gap->n = bo_mat_vec(R, gap->n);
    gap->H = bo_sym(bo_mat_mul(bo_mat_mul(R, gap->H), bo_transpose(R)));
}

double bo_obstacle_distance(const bo_obstacle *obstacle, bo_vec3 x) {
    const bo_vec3 y = bo_mat_tvec(obstacle->pose.R, bo_sub(x, obstacle->pose.t));
    if (obstacle->kind == BO_OBSTACLE_PLANE)
        return y.z;
    if (obstacle->kind == BO_OBSTACLE_SPHERE)
        return bo_norm(y) - obstacle->radius;
    bo_gap gap;
    gap_in_own_axes(obstacle, y, &gap);
    return gap.d;
}

bool bo_obstacle_of_shape(const bough_shape_def *def, bo_obstacle *to) {
    *to = (bo_obstacle){.pose = bo_pose(&def->frame)};
    switch (def->kind) {
    case BOUGH_SHAPE_PLANE:
        to->kind = BO_OBSTACLE_PLANE;
        return true;
    case BOUGH_SHAPE_SPHERE:
        to->kind = BO_OBSTACLE_SPHERE, to->radius = def->radius;
        return true;
    case BOUGH_SHAPE_BOX:
        to->kind = BO_OBSTACLE_BOX, to->halves = bo_load3(def->half);
        return true;
    case BOUGH_SHAPE_CAPSULE:
        to->kind = BO_OBSTACLE_CAPSULE, to->radius = def->radius, to->half = def->half[2];
        return true;
    case BOUGH_SHAPE_HULL:
    case BOUGH_SHAPE_HEIGHT_FIELD:
    case BOUGH_SHAPE_MESH:
        break;
    }
    return false;
}

/* Over heights z - h, over the slope there. */
double bo_obstacle_near(const bo_obstacle *obstacle, bo_vec3 x, bo_vec3 *n) {
    const bo_vec3 y = bo_mat_tvec(obstacle->pose.R, bo_sub(x, obstacle->pose.t));
    bo_gap gap;
    if (obstacle->kind == BO_OBSTACLE_GRID)
        bo_grid_distance(obstacle->grid, y, &gap);
    else
        gap_in_own_axes(obstacle, y, &gap);
    if (n)
        *n = bo_normalize(bo_mat_vec(obstacle->pose.R, gap.n));
    return obstacle->kind == BO_OBSTACLE_HEIGHT ? gap.d / bo_norm(gap.n) : gap.d;
}

/* ---- reach ---- */

#define MOST_ROUNDS 100
#define LITTLE 1e-6  /* of what the gap may lose: so much may be left */
#define LARGEST 1e60 /* m: nothing real is so far away */

/* A moving point as a moving obstacle sees it: y(s) = R(s)^T r(s), R(s) = exp(s spin) R(0). Its rates by s are
 *     y'  = R^T (velocity - spin x r)
 *     y'' = R^T (-2 spin x velocity + spin x (spin x r)) */
typedef struct {
    const bo_obstacle *obstacle;
    bo_vec3 start, velocity; /* r(s) = start + s velocity: from the obstacle's origin, in the world's axes */
    bo_vec3 spin;            /* rad */
} path;

static path path_of(const bo_obstacle *obstacle, const bo_se3 *to, bo_vec3 x, bo_vec3 p) {
    path way = {obstacle, bo_sub(x, obstacle->pose.t), p, {0, 0, 0}};
    if (to) {
        way.velocity = bo_sub(p, bo_sub(to->t, obstacle->pose.t));
        way.spin = bo_log3(bo_mat_mul(to->R, bo_transpose(obstacle->pose.R)));
    }
    return way;
}
/* False for NAN too. Squares and cubes of what passes do not overflow. */
static bool path_is_sane(const path *way) {
    const bo_vec3 vectors[3] = {way->start, way->velocity, way->spin};
    for (int k = 0; k < 3; k++)
        if (!(fabs(vectors[k].x) < LARGEST && fabs(vectors[k].y) < LARGEST && fabs(vectors[k].z) < LARGEST))
            return false;
    return true;
}

/* The gap at s with its rate, and bounds for all that may still come until s = 1. */
typedef struct {
    double gap, rate;
    double speed;     /* of y: |y'| is no more */
    double curvature; /* the second derivative of the gap by s is no less than minus this .. */
    double horizon;   /* .. as long as s grows by less than this */
} prospect;

/* The gap's second derivative along the path is y'^T H y' + n . y'', and |n| <= 1. Gaps of planes, spheres, capsules and
 * boxes are convex: their y'^T H y' is not negative, kinks included. |r| is largest at one end of the way. */
static prospect look_ahead(const path *way, double s) {
    const bo_obstacle *obstacle = way->obstacle;
    const bo_vec3 r = bo_mul_add(way->start, s, way->velocity), last = bo_add(way->start, way->velocity);
    const double turn = bo_norm(way->spin), straight = bo_norm(way->velocity), far = fmax(bo_norm(r), bo_norm(last));
    const bo_mat3 R = turn > 0 ? bo_mat_mul(bo_exp3(bo_scale(s, way->spin)), obstacle->pose.R) : obstacle->pose.R;
    const bo_vec3 y = bo_mat_tvec(R, r), rate = bo_mat_tvec(R, bo_sub(way->velocity, bo_cross(way->spin, r)));
    bo_gap gap;
    gap_in_own_axes(obstacle, y, &gap);
    prospect ahead = {gap.d, bo_dot(gap.n, rate), straight + turn * far, 2 * turn * straight + turn * turn * far,
                      INFINITY};
    if (obstacle->kind == BO_OBSTACLE_HEIGHT)
        ahead.curvature += obstacle->height->bend * ahead.speed * ahead.speed;
    if (obstacle->kind == BO_OBSTACLE_GRID) {
        const bo_distance_grid *grid = obstacle->grid;
        const double from[3] = {y.x - grid->origin.x, y.y - grid->origin.y, y.z - grid->origin.z};
        double inside = INFINITY; /* how far the faces of the grid's box are, where n jumps */
        for (int k = 0; k < 3; k++)
            inside = fmin(inside, fmin(from[k], (grid->counts[k] - 1) * grid->cell - from[k]));
        ahead.curvature += grid->bend * ahead.speed * ahead.speed;
        ahead.horizon = inside / ahead.speed;
    }
    return ahead;
}

/* Returns how much further s may go while the gap loses no more than `slack`. Two bounds hold, and the better one is taken:
 * the gap loses no more than speed s, and, up to the horizon, no more than -rate s + curvature s^2 / 2. */
static double safe_step(const prospect *ahead, double slack) {
    const double root = sqrt(ahead->rate * ahead->rate + 2 * ahead->curvature * slack);
    const double bent = ahead->rate > 0 ? (ahead->rate + root) / ahead->curvature : 2 * slack / (root - ahead->rate);
    return fmax(slack / ahead->speed, fmin(bent, ahead->horizon));
}

/* Steps as long as is safe, again and again. For convex obstacles that do not turn this is Newton's method, from the side
 * from which it cannot overshoot; for planes its first step is exact. */
double bo_obstacle_reach(const bo_obstacle *obstacle, const bo_se3 *to, bo_vec3 x, bo_vec3 p, double keep) {
    const path way = path_of(obstacle, to, x, p);
    if (!path_is_sane(&way) || !(keep < 1))
        return 0;
    prospect ahead = look_ahead(&way, 0);
    if (!(ahead.gap > 0))
        return 0;
    const double least = fmax(keep, 0) * ahead.gap, enough = LITTLE * (ahead.gap - least);
    double t = 0;
    for (int round = 0; round < MOST_ROUNDS && ahead.gap - least > enough; round++) {
        t += safe_step(&ahead, ahead.gap - least);
        if (!(t < 1))
            return 1;
        ahead = look_ahead(&way, t);
    }
    return t;
}
