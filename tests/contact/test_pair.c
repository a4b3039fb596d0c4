/* Distances of pairs, their derivatives, barriers and safe steps. */
#include "pairs.h"

#include "contact/barrier.h"
#include "dense/symmetric_eigen.h"

#include <float.h>

static const double REST = 1e-3; /* e of the mollifier in terms of |ea|^2 |eb|^2 */

static double largest(int count, const double *a) {
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs(a[i]));
    return most;
}

static double difference(int count, const double *a, const double *b) {
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static bool are_finite(int count, const double *a) {
    double zero = 0;
    for (int i = 0; i < count; i++)
        zero += 0 * a[i];
    return zero == 0;
}

static int first_of(bo_pair_kind kind) {
    return kind == BO_PAIR_EDGES ? 2 : 1;
}

/* ---- the distance ---- */

/* Weights of points that exist bound the distance from above. A plane between the pieces bounds it from below: the gap
 * between their corners along n. */
static void check_distance(bo_pair_kind kind, const bo_vec3 x[4], const bo_pair *pair, double tolerance) {
    const int first = first_of(kind);
    double sums[2] = {0};
    bo_vec3 y = {0}, n = {0};
    for (int i = 0; i < 4; i++) {
        const double sign = i < first ? 1 : -1;
        sums[i >= first] += pair->weights[i];
        check(sign * pair->weights[i] >= 0 && sign * pair->weights[i] <= 1);
        y = bo_mul_add(y, pair->weights[i], x[i]);
    }
    check_near(sums[0], 1, 1e-15);
    check_near(sums[1], -1, 1e-15);
    check_near(bo_norm(y), pair->d, tolerance);
    if (pair->d <= tolerance)
        return;
    for (int i = 0; i < first; i++)
        n = bo_add(n, bo_load3(pair->gradient + 3 * i));
    check_near(bo_norm(n), 1, 1e-14);
    check_below(bo_norm(bo_mul_add(y, -pair->d, n)), tolerance);
    for (int i = 0; i < first; i++)
        for (int k = first; k < 4; k++)
            check_below(pair->d - bo_dot(n, bo_sub(x[i], x[k])), tolerance);
}

static void nearest_points_are_nearest(void **state) {
    (void)state;
    test_random random = {1};
    bo_pair pair;
    for (bo_pair_kind kind = 0; kind < 2; kind++) {
        int seen[16] = {0}, regions = 0;
        for (int k = 0; k < 20000; k++) {
            bo_vec3 x[4];
            random_points(&random, x);
            bo_pair_at(kind, x, false, &pair);
            check_distance(kind, x, &pair, 1e-14);
            seen[region_of(pair.weights)]++;
        }
        for (int r = 0; r < 16; r++)
            regions += seen[r] > 200;
        check_int(regions, kind == BO_PAIR_EDGES ? 9 : 7);
    }
}

/* Lattices of a few points have triangles without area, edges without length, edges that are parallel, cross or lie on
 * each other, points in planes and on edges. */
static void degenerate_pieces_have_a_distance(void **state) {
    (void)state;
    test_random random = {2};
    bo_pair pair;
    for (int k = 0; k < 20000; k++) {
        bo_vec3 x[4];
        for (int i = 0; i < 4; i++) {
            const uint64_t bits = test_bits(&random);
            x[i] = bo_v3((double)(bits % 3), (double)(bits / 3 % 3), (double)(bits / 9 % 2));
        }
        for (bo_pair_kind kind = 0; kind < 2; kind++) {
            bo_pair_at(kind, x, true, &pair);
            check_distance(kind, x, &pair, 4e-15);
            check(are_finite(144, pair.H) && are_finite(144, pair.bent));
            if (pair.d == 0)
                check(largest(12, pair.gradient) == 0 && largest(144, pair.H) == 0 && largest(144, pair.bent) == 0);
        }
    }
}

/* Edges at any angle down to parallel, triangles as thin: the distance stays right within rounding. */
static void slender_pieces_have_a_distance(void **state) {
    (void)state;
    test_random random = {3};
    bo_pair pair;
    double worst = 0;
    for (int k = 0; k < 20000; k++) {
        const double angle = random_power(&random, -17, -1), d = random_power(&random, -12, 0);
        bo_vec3 x[4];
        random_crossing(&random, angle, d, x);
        bo_pair_at(BO_PAIR_EDGES, x, false, &pair);
        check_distance(BO_PAIR_EDGES, x, &pair, 1e-13);
        check_below(pair.d, d + 3e-15);
        worst = fmax(worst, d - pair.d);
        /* the second edge as two sides of a triangle, the first as the way from a point into it */
        const bo_vec3 turn = bo_mul_add(x[2], angle, random_direction(&random)),
                      over[4] = {x[0], x[2], x[3], bo_mul_add(turn, 1.5, bo_sub(x[3], x[2]))};
        bo_pair_at(BO_PAIR_POINT_TRIANGLE, over, false, &pair);
        check_distance(BO_PAIR_POINT_TRIANGLE, over, &pair, 1e-13);
        for (int i = 0; i <= 10; i++)
            for (int l = 0; l <= 10 - i; l++) {
                const bo_vec3 e1 = bo_sub(over[2], over[1]), e2 = bo_sub(over[3], over[1]),
                              at = bo_mul_add(bo_mul_add(over[1], 0.1 * i, e1), 0.1 * l, e2);
                check(pair.d <= bo_norm(bo_sub(over[0], at)) + 3e-15);
            }
    }
    check_below(worst, 3e-15);
}

/* The direction between pieces that nearly touch is that of a normal, not that of a difference that is all rounding. */
static void directions_survive_small_distances(void **state) {
    (void)state;
    test_random random = {12};
    for (int k = 0; k < 1000; k++) {
        const double d = random_power(&random, -12, -6);
        bo_vec3 x[4];
        bo_pair pair;
        random_crossing(&random, test_uniform(&random, 0.3, 1.5), d, x);
        const bo_vec3 n = bo_normalize(bo_cross(bo_sub(x[1], x[0]), bo_sub(x[3], x[2])));
        bo_pair_at(BO_PAIR_EDGES, x, false, &pair);
        check_near(pair.d, d, 1e-14);
        check_below(bo_norm(bo_cross(n, bo_load3(pair.gradient))), 3e-15);
        /* a point over the triangle of the first edge and an end of the second */
        const bo_vec3 middle = bo_scale(1. / 3, bo_add(bo_add(x[0], x[1]), x[2])),
                      up = bo_normalize(bo_cross(bo_sub(x[1], x[0]), bo_sub(x[2], x[0]))),
                      over[4] = {bo_mul_add(middle, d, up), x[0], x[1], x[2]};
        bo_pair_at(BO_PAIR_POINT_TRIANGLE, over, false, &pair);
        check_near(pair.d, d, 1e-14);
        check_below(bo_norm(bo_sub(up, bo_load3(pair.gradient))), 3e-14);
    }
}

/* ---- derivatives ---- */

/* f = the value, its gradient and second derivatives; false where it is not smooth around x. */
typedef bool (*function_of)(const void *data, const bo_vec3 x[4], double *value, double gradient[12], double H[144]);

static bool pair_function(const void *data, const bo_vec3 x[4], double *value, double gradient[12], double H[144]) {
    const bo_pair_kind kind = *(const bo_pair_kind *)data;
    bo_pair pair;
    bo_pair_at(kind, x, H != NULL, &pair);
    *value = pair.d;
    memcpy(gradient, pair.gradient, sizeof pair.gradient);
    if (H)
        memcpy(H, pair.H, sizeof pair.H);
    return true;
}

static bool mollifier_function(const void *data, const bo_vec3 x[4], double *value, double gradient[12],
                               double H[144]) {
    bo_mollifier mollifier;
    bo_mollifier_at(x, *(const double *)data, H != NULL, &mollifier);
    *value = mollifier.value;
    memcpy(gradient, mollifier.gradient, sizeof mollifier.gradient);
    if (H)
        memcpy(H, mollifier.H, sizeof mollifier.H);
    return mollifier.value < 1;
}

typedef struct barrier_of {
    bo_pair_kind kind;
    double kappa, support, e;
} barrier_of;

static bool barrier_function(const void *data, const bo_vec3 x[4], double *value, double gradient[12], double H[144]) {
    const barrier_of *b = data;
    double unused[144];
    *value = bo_pair_barrier(b->kind, x, b->kappa, b->support, b->e, false, gradient, H ? H : unused);
    return *value > 0;
}

/* Central differences of fourth order of values and gradients. Errors are those of the largest entry. */
static bool compare(function_of f, const void *data, const bo_vec3 at[4], double h, double errors[2]) {
    static const double weights[4] = {1. / 12, -8. / 12, 8. / 12, -1. / 12}, steps[4] = {-2, -1, 1, 2};
    double value, gradient[12], H[144], slopes[12], bends[144];
    bool smooth = f(data, at, &value, gradient, H);
    for (int i = 0; i < 12 && smooth; i++) {
        slopes[i] = 0;
        memset(bends + 12 * i, 0, 12 * sizeof *bends);
        for (int s = 0; s < 4; s++) {
            bo_vec3 x[4];
            double there[12], v;
            memcpy(x, at, sizeof x);
            ((double *)x)[i] += steps[s] * h;
            smooth &= f(data, x, &v, there, NULL);
            slopes[i] += weights[s] / h * v;
            for (int k = 0; k < 12; k++)
                bends[12 * i + k] += weights[s] / h * there[k];
        }
    }
    if (!smooth)
        return false;
    errors[0] = difference(12, gradient, slopes) / largest(12, gradient);
    errors[1] = difference(144, H, bends) / largest(144, H);
    return true;
}

/* Far enough from other regions, from touching and from parallel edges that differences with small steps make sense. */
static bool is_well_inside(bo_pair_kind kind, const bo_vec3 x[4], bo_pair *pair) {
    bo_pair_at(kind, x, false, pair);
    if (pair->d < 0.1)
        return false;
    const bo_vec3 e = bo_sub(x[kind == BO_PAIR_EDGES ? 1 : 2], x[kind == BO_PAIR_EDGES ? 0 : 1]),
                  f = bo_sub(x[3], x[kind == BO_PAIR_EDGES ? 2 : 1]);
    if (bo_norm(bo_cross(e, f)) < 0.2 || bo_norm(e) < 0.2 || bo_norm(f) < 0.2)
        return false;
    for (int i = 0; i < 12; i++)
        for (int side = -1; side <= 1; side += 2) {
            bo_vec3 z[4];
            bo_pair moved;
            memcpy(z, x, sizeof z);
            ((double *)z)[i] += side * 0.02;
            bo_pair_at(kind, z, false, &moved);
            if (region_of(moved.weights) != region_of(pair->weights))
                return false;
        }
    return true;
}

static void derivatives_are_those_of_every_region(void **state) {
    (void)state;
    enum { EACH = 1000 };
    test_random random = {4};
    for (bo_pair_kind kind = 0; kind < 2; kind++) {
        int seen[16] = {0}, full = 0;
        while (full < (kind == BO_PAIR_EDGES ? 9 : 7)) {
            bo_vec3 x[4];
            bo_pair pair;
            random_points(&random, x);
            bo_pair_at(kind, x, false, &pair);
            int *count = &seen[region_of(pair.weights)];
            if (*count == EACH || !is_well_inside(kind, x, &pair))
                continue;
            full += ++*count == EACH;
            double errors[2];
            check(compare(pair_function, &kind, x, 1e-3, errors));
            check_below(errors[0], 1e-7);
            check_below(errors[1], 5e-7);
            const barrier_of barrier = {kind, 3, 1.2 * pair.d, 0};
            check(compare(barrier_function, &barrier, x, 5e-4, errors));
            check_below(errors[0], 3e-7);
            check_below(errors[1], 1e-7);
        }
    }
}

/* Angles from a degree down to a millionth: with d they are those at which edges begin to touch. */
static void derivatives_hold_for_nearly_parallel_edges(void **state) {
    (void)state;
    if (LDBL_MANT_DIG == DBL_MANT_DIG)
        test_skip("long double is no longer than double here");
    test_random random = {5};
    for (int k = 0; k < (TEST_SANITIZED ? 20 : 1000); k++) {
        const double angle = random_power(&random, -6, -1.8), d = random_power(&random, -6, -3);
        bo_vec3 x[4];
        random_crossing(&random, angle, d, x);
        /* lengths over which the energy changes: d, and the ways that move the nearest points along the edges */
        const double h = 1e-6 * fmin(d, fmin(angle, angle * angle / d));
        const exact_barrier plain = {0, 0}, faded = {2 * d, REST};
        double gradient[12], H[144], slopes[12], bends[144];
        bo_pair pair;
        bo_pair_at(BO_PAIR_EDGES, x, true, &pair);
        exact_derivatives(&plain, x, h, slopes, bends);
        check_below(difference(12, pair.gradient, slopes) / largest(12, slopes), 1e-6);
        check_below(difference(144, pair.H, bends) / largest(144, bends), 3e-8);
        check(bo_pair_barrier(BO_PAIR_EDGES, x, 1, faded.support, faded.e, false, gradient, H) > 0);
        exact_derivatives(&faded, x, h, slopes, bends);
        check_below(difference(12, gradient, slopes) / largest(12, slopes), 1e-8);
        check_below(difference(144, H, bends) / largest(144, bends), 2e-8);
    }
}

/* Edges that are nearly parallel, in all regions: corners are nearest mostly. */
static void mollified_barriers_have_their_derivatives(void **state) {
    (void)state;
    test_random random = {6};
    int count = 0, seen[16] = {0};
    while (count < 1000) {
        bo_vec3 x[4];
        bo_pair pair;
        random_crossing(&random, test_uniform(&random, 0, 0.5), 0.2, x);
        const bo_vec3 shift = random_vector(&random, 0.8);
        for (int i = 2; i < 4; i++)
            x[i] = bo_add(x[i], shift);
        bo_pair_at(BO_PAIR_EDGES, x, false, &pair);
        const double e = 0.3;
        double errors[2];
        if (!compare(mollifier_function, &e, x, 1e-3, errors))
            continue;
        check_below(errors[0], 1e-11);
        check_below(errors[1], 1e-11);
        bool inside = pair.d > 0.1;
        for (int i = 0; i < 24 && inside; i++) {
            bo_vec3 z[4];
            bo_pair moved;
            memcpy(z, x, sizeof z);
            ((double *)z)[i / 2] += i % 2 ? 0.005 : -0.005;
            bo_pair_at(BO_PAIR_EDGES, z, false, &moved);
            inside = region_of(moved.weights) == region_of(pair.weights);
        }
        const barrier_of barrier = {BO_PAIR_EDGES, 2, 1.5 * pair.d, e};
        if (!inside || !compare(barrier_function, &barrier, x, 2e-4, errors))
            continue;
        check_below(errors[0], 2e-8);
        check_below(errors[1], 5e-9);
        seen[region_of(pair.weights)]++, count++;
    }
    int regions = 0;
    for (int r = 0; r < 16; r++)
        regions += seen[r] > 0;
    check_int(regions, 9);
}

static void the_mollifier_ends_where_it_should(void **state) {
    (void)state;
    const bo_vec3 across[4] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {0, 1, 1}},
                  parallel[4] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {1, 0, 1}};
    bo_mollifier m;
    bo_mollifier_at(across, 1, true, &m); /* c = e */
    check(m.value == 1 && largest(12, m.gradient) == 0 && largest(144, m.H) == 0);
    bo_mollifier_at(across, 1 + 1e-9, true, &m);
    check_near(m.value, 1, 1e-15);
    check_below(largest(12, m.gradient), 1e-8);
    check_near(largest(144, m.H), 8, 1e-6); /* bends there: -2 / e^2 (dc)^2 */
    bo_mollifier_at(parallel, REST, true, &m);
    check(m.value == 0 && largest(12, m.gradient) == 0);
    check_near(m.H[13], 2 * 2 / REST, 1e-11);
    bo_mollifier_at(parallel, 0, true, &m);
    check(m.value == 1 && largest(144, m.H) == 0);
}

/* No force, no torque; and the same distance wherever the pair is. */
static void a_pair_moves_as_one(void **state) {
    (void)state;
    test_random random = {7};
    for (int k = 0; k < 2000; k++) {
        bo_vec3 x[4];
        const bo_pair_kind kind = kind_of(k);
        random_points(&random, x);
        if (k % 4 == 3)
            random_crossing(&random, random_power(&random, -6, -2), 1e-3, x);
        bo_pair pair;
        double gradient[12], H[144];
        bo_pair_at(kind, x, true, &pair);
        for (int faded = 0; faded < 2; faded++) {
            if (faded)
                bo_pair_barrier(kind, x, 1 / (pair.d * pair.d), 2 * pair.d, REST, k % 8 < 4, gradient, H);
            else
                memcpy(gradient, pair.gradient, sizeof gradient), memcpy(H, pair.H, sizeof H);
            bo_vec3 force = {0}, torque = {0};
            for (int i = 0; i < 4; i++) {
                force = bo_add(force, bo_load3(gradient + 3 * i));
                torque = bo_add(torque, bo_cross(x[i], bo_load3(gradient + 3 * i)));
            }
            check_below(bo_norm(force), 1e-13 * largest(12, gradient));
            check_below(bo_norm(torque), 3e-13 * fmax(1, largest(12, gradient)));
            for (int row = 0; row < 12; row++)
                for (int c = 0; c < 3; c++)
                    check_below(fabs(H[12 * row + c] + H[12 * row + 3 + c] + H[12 * row + 6 + c] + H[12 * row + 9 + c]),
                                1e-13 * largest(144, H));
        }
    }
}

/* ---- positive parts ---- */

static void positive_part(const double H[144], double part[144], double *lowest, double *highest) {
    double A[144], V[144], values[12], scratch[24];
    memcpy(A, H, sizeof A);
    check(bo_sym_eigen(12, A, values, V, scratch));
    memset(part, 0, 144 * sizeof *part);
    for (int e = 0; e < 12; e++)
        for (int i = 0; i < 144 && values[e] > 0; i++)
            part[i] += values[e] * V[12 * (i / 12) + e] * V[12 * (i % 12) + e];
    *lowest = values[0], *highest = fmax(fabs(values[0]), fabs(values[11]));
}

static void projected_barriers_are_the_positive_part(void **state) {
    (void)state;
    test_random random = {8};
    for (int k = 0; k < 3000; k++) {
        bo_vec3 x[4];
        const bo_pair_kind kind = k % 3 ? BO_PAIR_EDGES : BO_PAIR_POINT_TRIANGLE;
        random_points(&random, x);
        if (k % 3 == 2)
            random_crossing(&random, random_power(&random, -6, -1.2), random_power(&random, -5, -1), x);
        bo_pair pair;
        bo_pair_at(kind, x, true, &pair);
        const double support = pair.d * test_uniform(&random, 1.001, 30), e = k % 3 == 2 ? REST : 0;
        double exact_g[12], gradient[12], H[144], projected[144], part[144], lowest, highest;
        const double value = bo_pair_barrier(kind, x, 5, support, e, false, exact_g, H);
        check(value == bo_pair_barrier(kind, x, 5, support, e, true, gradient, projected));
        check(difference(12, exact_g, gradient) == 0);
        positive_part(H, part, &lowest, &highest);
        check_below(difference(144, part, projected), 1e-12 * highest);
        positive_part(projected, part, &lowest, &highest);
        check_below(-lowest, 1e-13 * highest);
        /* bent and bent + H are positive */
        double sum[144];
        positive_part(pair.bent, part, &lowest, &highest);
        check_below(-lowest, 1e-13 * highest);
        for (int i = 0; i < 144; i++)
            sum[i] = pair.bent[i] + pair.H[i];
        const double scale = highest;
        positive_part(sum, part, &lowest, &highest);
        check_below(-lowest, 1e-13 * fmax(scale, highest));
    }
}

static void barriers_end_at_their_support(void **state) {
    (void)state;
    const bo_vec3 x[4] = {{0.2, 0.2, 0.5}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const bo_vec3 touching[3][4] = {{{0.2, 0.2, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}},      /* in the triangle */
                                    {{0.2, 0.2, 1e-160}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, /* b'' overflows */
                                    {{NAN, 0, 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
    const bo_vec3 crossing[2][4] = {{{0, 0, 0}, {1, 1, 0}, {1, 0, 0}, {0, 1, 0}},
                                    {{0, 0, 0}, {1, 0, 0}, {0.5, 0, 0}, {1.5, 0, 0}}}; /* parallel */
    double gradient[12] = {7}, H[144] = {7};
    check(bo_pair_barrier(BO_PAIR_POINT_TRIANGLE, x, 1, 0.5, 0, true, gradient, H) == 0);
    check(gradient[0] == 7 && H[0] == 7);
    const double value = bo_pair_barrier(BO_PAIR_POINT_TRIANGLE, x, 2, 1, 0, true, gradient, H);
    check_near(value, 2 * bo_barrier_at(0.5, 1).value, 1e-15);
    check_near(gradient[2], 2 * bo_barrier_at(0.5, 1).slope, 1e-14);
    for (int k = 0; k < 5; k++) {
        const bo_pair_kind kind = k < 3 ? BO_PAIR_POINT_TRIANGLE : BO_PAIR_EDGES;
        check(bo_pair_barrier(kind, k < 3 ? touching[k] : crossing[k - 3], 1, 0.5, REST, true, gradient, H) ==
              INFINITY);
        check(largest(12, gradient) == 0 && largest(144, H) == 0);
    }
}

/* ---- steps ---- */

typedef struct walk {
    double start, lowest, first; /* the distance at the start, the least on the way, the first time it is not kept */
} walk;

static double distance_at(bo_pair_kind kind, const bo_vec3 x[4], const bo_vec3 p[4], double t) {
    bo_vec3 z[4];
    bo_pair pair;
    for (int i = 0; i < 4; i++)
        z[i] = bo_mul_add(x[i], t, p[i]);
    bo_pair_at(kind, z, false, &pair);
    return pair.d;
}

/* Walks from 0 to `end`. */
static walk walk_along(bo_pair_kind kind, const bo_vec3 x[4], const bo_vec3 p[4], double keep, double end) {
    enum { STEPS = 300 };
    walk w = {distance_at(kind, x, p, 0), INFINITY, INFINITY};
    for (int s = 0; s <= STEPS; s++) {
        const double t = end * s / STEPS, d = distance_at(kind, x, p, t);
        w.lowest = fmin(w.lowest, d);
        if (d < keep * w.start && w.first == INFINITY)
            w.first = t;
    }
    return w;
}

/* Motions of many kinds: i counts them. */
static void random_motion(test_random *random, int i, bo_vec3 x[4], bo_vec3 p[4]) {
    random_points(random, x);
    if (i % 3 == 1)
        random_crossing(random, random_power(random, -9, 0), random_power(random, -4, 0), x);
    for (int k = 0; k < 4; k++)
        p[k] = random_vector(random, random_power(random, -1, i % 5 == 0 ? 3 : 0.5));
    const bo_vec3 way = random_vector(random, 3), at = random_vector(random, 0.5);
    switch (i % 7) {
    case 0: /* shifts of a piece, at speed */
        p[1] = p[0], p[3] = p[2];
        break;
    case 1: /* all in a plane */
        for (int k = 0; k < 4; k++)
            x[k].z = p[k].z = 0.25;
        break;
    case 2: /* a corner to a place on the line between others */
        p[0] = bo_sub(bo_add(bo_mul_add(bo_scale(0.4, x[3]), 0.6, x[2]), bo_mul_add(bo_scale(0.4, p[3]), 0.6, p[2])),
                      x[0]);
        break;
    case 3: /* all to one point */
        for (int k = 0; k < 4; k++)
            p[k] = bo_sub(at, x[k]);
        break;
    case 4: /* together, nearly */
        for (int k = 0; k < 4; k++)
            p[k] = bo_mul_add(way, 0.01, p[k]);
        break;
    case 5: { /* past each other, at speed */
        bo_pair pair;
        bo_pair_at(kind_of(i), x, false, &pair);
        const bo_vec3 n = bo_load3(pair.gradient + 9), aside = bo_cross(n, bo_scale(10, way));
        for (int k = 0; k < 4; k++)
            p[k] = bo_mul_add(k < first_of(kind_of(i)) ? aside : bo_v3(0, 0, 0), 1e-3, p[k]);
        break;
    }
    default:
        break;
    }
}

static int by_size(const void *a, const void *b) {
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static void steps_are_safe_and_long(void **state) {
    (void)state;
    enum { COUNT = 2000 };
    static double shares[COUNT];
    test_random random = {9};
    int arrived = 0, count = 0;
    for (int k = 0; k < COUNT; k++) {
        const bo_pair_kind kind = kind_of(k);
        const double keep = k % 4 < 2 ? 0.1 : 0.7;
        bo_vec3 x[4], p[4];
        random_motion(&random, k, x, p);
        const double t = bo_pair_reach(kind, x, p, keep), size = 10 + largest(12, (const double *)p);
        check(t >= 0 && t <= 1);
        const walk taken = walk_along(kind, x, p, keep, t), all = walk_along(kind, x, p, keep, 1);
        check_below(keep * taken.start - taken.lowest, 1e-15 * size);
        if (t == 1)
            arrived++;
        else if (all.start > 1e-9) /* they did come near */
            check_below(distance_at(kind, x, p, t), (keep + 0.02) * all.start);
        if (all.first < INFINITY && all.start > 1e-9)
            shares[count++] = t / all.first;
    }
    check(arrived > 300 && count > 300);
    qsort(shares, (size_t)count, sizeof *shares, by_size);
    check(shares[count / 10] >= 0.8 && shares[count / 2] >= 0.95 && shares[count - 1] <= 1);
}

/* Small distances, of which the direction between the nearest points is hardly known. */
static void steps_are_long_when_pieces_nearly_touch(void **state) {
    (void)state;
    test_random random = {13};
    for (int k = 0; k < 1000; k++) {
        const double d = random_power(&random, -11, -6);
        bo_vec3 x[4], p[4] = {{0}};
        random_crossing(&random, test_uniform(&random, 0.3, 1.5), d, x);
        const bo_vec3 n = bo_normalize(bo_cross(bo_sub(x[1], x[0]), bo_sub(x[3], x[2]))), r = bo_sub(x[2], x[0]);
        for (int i = 0; i < 2; i++) /* half way through */
            p[i] = bo_scale(bo_dot(n, r) > 0 ? 2 * d : -2 * d, n);
        const double t = bo_pair_reach(BO_PAIR_EDGES, x, p, 0.1);
        check(t > 0.43 && t < 0.4501);
    }
}

static void steps_end_for_any_numbers(void **state) {
    (void)state;
    static const double odd[] = {0,    -0.0,  1,      -1,    1e-320, 1e-200, -1e-60,   1e-16,
                                 1e16, 1e100, -1e200, 1e308, -1e308, NAN,    INFINITY, -INFINITY};
    test_random random = {10};
    for (int k = 0; k < 20000; k++) {
        bo_vec3 x[4], p[4];
        double *a = (double *)x, *b = (double *)p;
        bool finite = true;
        for (int i = 0; i < 12; i++) {
            a[i] = test_bits(&random) % 4 ? test_uniform(&random, -1, 1) : odd[test_bits(&random) % (k % 2 ? 16 : 10)];
            b[i] = test_bits(&random) % 4 ? test_uniform(&random, -1, 1) : odd[test_bits(&random) % (k % 4 ? 16 : 10)];
            finite &= isfinite(a[i]) && isfinite(b[i]);
        }
        for (bo_pair_kind kind = 0; kind < 2; kind++) {
            const double t = bo_pair_reach(kind, x, p, 0.1);
            check(t >= 0 && t <= 1);
            check(finite || t == 0);
            if (t > 0)
                check(distance_at(kind, x, p, t) >= 0.1 * distance_at(kind, x, p, 0));
            bo_pair pair;
            bo_pair_at(kind, x, true, &pair);
            check(!(pair.d < 0));
            check(finite || !bo_pair_stays_apart(kind, x, p, 0.1));
        }
    }
    const bo_vec3 apart[4] = {{0, 0, 1}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, down[4] = {{0, 0, -1}}, none[4] = {{0}};
    check(bo_pair_reach(BO_PAIR_POINT_TRIANGLE, apart, none, 0.1) == 1);
    check_near(bo_pair_reach(BO_PAIR_POINT_TRIANGLE, apart, down, 0.2), 0.8, 1e-12);
    check_near(bo_pair_reach(BO_PAIR_POINT_TRIANGLE, apart, down, -1), 1, 1e-12);
    check(bo_pair_reach(BO_PAIR_POINT_TRIANGLE, apart, down, -1) < 1);
    check(bo_pair_reach(BO_PAIR_POINT_TRIANGLE, apart, down, 1) == 0);
    check(bo_pair_reach(BO_PAIR_POINT_TRIANGLE, apart, down, NAN) == 0);
    check(bo_pair_reach(BO_PAIR_POINT_TRIANGLE, none, down, 0.1) == 0);
}

static void pairs_that_stay_apart_do(void **state) {
    (void)state;
    test_random random = {11};
    int apart = 0;
    for (int k = 0; k < 1000; k++) {
        const bo_pair_kind kind = kind_of(k);
        bo_vec3 x[4], p[4];
        random_motion(&random, k, x, p);
        const double distance = test_uniform(&random, 0, 1);
        const walk w = walk_along(kind, x, p, 0, 1);
        if (bo_pair_stays_apart(kind, x, p, distance)) {
            check(w.lowest > distance);
            apart++;
        }
        check(bo_pair_stays_apart(kind, x, NULL, distance) == (w.start > distance + 1e-13));
    }
    check(apart > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_points_are_nearest),
        cmocka_unit_test(degenerate_pieces_have_a_distance),
        cmocka_unit_test(slender_pieces_have_a_distance),
        cmocka_unit_test(directions_survive_small_distances),
        cmocka_unit_test(derivatives_are_those_of_every_region),
        cmocka_unit_test(derivatives_hold_for_nearly_parallel_edges),
        cmocka_unit_test(mollified_barriers_have_their_derivatives),
        cmocka_unit_test(the_mollifier_ends_where_it_should),
        cmocka_unit_test(a_pair_moves_as_one),
        cmocka_unit_test(projected_barriers_are_the_positive_part),
        cmocka_unit_test(barriers_end_at_their_support),
        cmocka_unit_test(steps_are_safe_and_long),
        cmocka_unit_test(steps_are_long_when_pieces_nearly_touch),
        cmocka_unit_test(steps_end_for_any_numbers),
        cmocka_unit_test(pairs_that_stay_apart_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
