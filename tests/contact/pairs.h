/* Random pairs, and energies of nearly parallel edges in a precision that leaves finite differences exact enough. */
#ifndef BOUGH_TEST_PAIRS_H
#define BOUGH_TEST_PAIRS_H

#include "contact/pair.h"
#include "../test.h"

/* Both kinds take turns. */
static inline bo_pair_kind kind_of(int number) {
    return number % 2 ? BO_PAIR_EDGES : BO_PAIR_POINT_TRIANGLE;
}

static inline bo_vec3 random_vector(test_random *random, double size) {
    const double x = test_uniform(random, -size, size), y = test_uniform(random, -size, size);
    return bo_v3(x, y, test_uniform(random, -size, size));
}

static inline bo_vec3 random_direction(test_random *random) {
    for (;;) {
        const bo_vec3 v = random_vector(random, 1);
        const double length = bo_norm(v);
        if (length > 0.1 && length < 1)
            return bo_scale(1 / length, v);
    }
}

static inline void random_points(test_random *random, bo_vec3 x[4]) {
    for (int i = 0; i < 4; i++)
        x[i] = random_vector(random, 1);
}

/* 10^lower to 10^upper, evenly in the exponent. */
static inline double random_power(test_random *random, double lower, double upper) {
    return pow(10, test_uniform(random, lower, upper));
}

/* Two edges of about unit length that cross at a distance of d under a given angle, turned any way. */
static inline void random_crossing(test_random *random, double angle, double d, bo_vec3 x[4]) {
    const bo_vec3 n = random_direction(random), u = bo_normalize(bo_cross(n, random_direction(random))),
                  v = bo_add(bo_scale(cos(angle), u), bo_scale(sin(angle), bo_cross(n, u))),
                  middle = random_vector(random, 0.5);
    const double s = test_uniform(random, 0.2, 0.8), t = test_uniform(random, 0.2, 0.8);
    x[0] = bo_mul_add(middle, -s, u), x[1] = bo_mul_add(middle, 1 - s, u);
    x[2] = bo_mul_add(bo_mul_add(middle, d, n), -t, v), x[3] = bo_mul_add(bo_mul_add(middle, d, n), 1 - t, v);
}

/* One bit for each point that has a weight. */
static inline int region_of(const double weights[4]) {
    int region = 0;
    for (int i = 0; i < 4; i++)
        region |= (weights[i] != 0) << i;
    return region;
}

/* ---- in twice the precision ---- */

#ifdef __SIZEOF_FLOAT128__
typedef __float128 exact;
#else
typedef long double exact;
#endif

static inline exact exact_dot(const exact a[3], const exact b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline void exact_cross(const exact a[3], const exact b[3], exact c[3]) {
    for (int i = 0; i < 3; i++)
        c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}
static inline exact exact_sqrt(exact x) {
    exact y = (exact)sqrt((double)x);
    for (int i = 0; i < 2; i++)
        y = (y + x / y) / 2; /* Newton doubles the digits */
    return y;
}
/* log x = y + log(x / e^y) for y = log x in double, by the series of both functions. */
static inline exact exact_log(exact x) {
    enum { HALVINGS = 6, TERMS = 18 };
    const exact y = (exact)log((double)x), z = y / (1 << HALVINGS);
    exact power = 1;
    for (int k = TERMS; k > 0; k--)
        power = 1 + power * z / k;
    for (int i = 0; i < HALVINGS; i++)
        power *= power;
    const exact rest = x / power - 1;
    return y + rest - rest * rest / 2;
}

/* Two lines: d = |r.N| / |N|, N = ea x eb; and c = |N|^2. */
static inline exact exact_distance(const exact x[12], exact *c) {
    exact ea[3], eb[3], r[3], N[3];
    for (int i = 0; i < 3; i++)
        ea[i] = x[3 + i] - x[i], eb[i] = x[9 + i] - x[6 + i], r[i] = x[6 + i] - x[i];
    exact_cross(ea, eb, N);
    *c = exact_dot(N, N);
    const exact along = exact_dot(r, N);
    return (along < 0 ? -along : along) / exact_sqrt(*c);
}

typedef struct exact_barrier {
    double support, e; /* support = 0: the distance itself; e = 0: no mollifier */
} exact_barrier;

static inline exact exact_energy(const exact_barrier *barrier, const exact x[12]) {
    exact c, d = exact_distance(x, &c), m = 1;
    if (barrier->support == 0)
        return d;
    if (barrier->e > 0 && c < barrier->e)
        m = c / barrier->e * (2 - c / barrier->e);
    const exact D = barrier->support;
    return -m * (d - D) * (d - D) * exact_log(d / D);
}

/* Central differences with steps of h. */
static inline void exact_derivatives(const exact_barrier *barrier, const bo_vec3 points[4], double h,
                                     double gradient[12], double H[144]) {
    exact x[12];
    for (int i = 0; i < 4; i++)
        x[3 * i] = points[i].x, x[3 * i + 1] = points[i].y, x[3 * i + 2] = points[i].z;
    const exact middle = exact_energy(barrier, x);
    for (int i = 0; i < 12; i++) {
        const exact xi = x[i];
        x[i] = xi + h;
        const exact above = exact_energy(barrier, x);
        x[i] = xi - h;
        const exact below = exact_energy(barrier, x);
        gradient[i] = (double)((above - below) / (2 * (exact)h));
        H[13 * i] = (double)((above - 2 * middle + below) / ((exact)h * h));
        for (int k = 0; k < i; k++) {
            const exact xk = x[k];
            exact sum = 0;
            for (int corner = 0; corner < 4; corner++) {
                x[i] = corner < 2 ? xi + h : xi - h, x[k] = corner % 2 ? xk - h : xk + h;
                sum += corner == 0 || corner == 3 ? exact_energy(barrier, x) : -exact_energy(barrier, x);
            }
            H[12 * i + k] = H[12 * k + i] = (double)(sum / (4 * (exact)h * h));
            x[k] = xk;
        }
        x[i] = xi;
    }
}

#endif
