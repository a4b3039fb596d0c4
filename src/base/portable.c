#include "base/portable.h"

#include <stdint.h>
#include <string.h>

/* Compilers must not join products with sums here, whatever the flags of the other files are. gcc knows no such pragma
 * and is told on the command line (CMakeLists.txt). */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* pi/2 and log 2 in pieces: the first have so few bits that their product with a whole number below 2^20 is exact. */
#define HALF_PI_1 0x1.921fb544p+0
#define HALF_PI_2 0x1.0b4611a6p-34
#define HALF_PI_3 0x1.3198a2e037073p-69
#define LN2_1 0x1.62e42fee00000p-1
#define LN2_2 0x1.a39ef35793c76p-33

/* sum of c[i] x^i, Horner */
static double polynomial(const double *c, int count, double x) {
    double sum = c[count - 1];
    for (int i = count - 2; i >= 0; i--)
        sum = sum * x + c[i];
    return sum;
}

/* ---- sin, cos, tan ---- */

/* Taylor's series for |x| <= pi/4: the first term left out is 3e-20 of the result. */
static double sin_near(double x) {
    static const double c[] = {-1 / 6.0,        1 / 120.0,        -1 / 5040.0,          1 / 362880.0,
                               -1 / 39916800.0, 1 / 6227020800.0, -1 / 1307674368000.0, 1 / 355687428096000.0};
    const double z = x * x;
    return x + x * (z * polynomial(c, 8, z));
}

static double cos_near(double x) {
    static const double c[] = {1 / 24.0,        -1 / 720.0,         1 / 40320.0,          -1 / 3628800.0,
                               1 / 479001600.0, -1 / 87178291200.0, 1 / 20922789888000.0, -1 / 6402373705728000.0};
    const double z = x * x, half = 0.5 * z, near = 1 - half;
    return near + (((1 - near) - half) + z * (z * polynomial(c, 8, z))); /* what 1 - half has lost is put back */
}

/* x = k pi/2 + *rest; k mod 4 */
static int quadrant(double x, double *rest) {
    const double k = rint(x / (HALF_PI_1 + HALF_PI_2));
    *rest = ((x - k * HALF_PI_1) - k * HALF_PI_2) - k * HALF_PI_3;
    return (int)(int64_t)(k - 4 * floor(k / 4));
}

double bo_portable_sin(double x) {
    double r;
    if (!(fabs(x) < 0x1p50))
        return NAN; /* there is no angle in such a number */
    if (fabs(x) < 0x1p-27)
        return x; /* with its sign, of zeros too */
    const int q = quadrant(x, &r);
    const double s = q % 2 ? cos_near(r) : sin_near(r);
    return q >= 2 ? -s : s;
}

double bo_portable_cos(double x) {
    double r;
    if (!(fabs(x) < 0x1p50))
        return NAN;
    const int q = quadrant(x, &r);
    const double c = q % 2 ? sin_near(r) : cos_near(r);
    return q == 1 || q == 2 ? -c : c;
}

double bo_portable_tan(double x) {
    return bo_portable_sin(x) / bo_portable_cos(x);
}

/* ---- atan, atan2, acos ---- */

/* atan x = atan a + atan((x - a) / (1 + a x)), with a the nearest of 0, 1/8, ... 1: the rest is at most 1/16. */
static double atan_unit(double x) {
    static const double at[9] = {0x0p+0,
                                 0x1.fd5ba9aac2f6ep-4,
                                 0x1.f5b75f92c80ddp-3,
                                 0x1.6f61941e4def1p-2,
                                 0x1.dac670561bb4fp-2,
                                 0x1.1e00babdefeb4p-1,
                                 0x1.4978fa3269ee1p-1,
                                 0x1.700a7c5784634p-1,
                                 0x1.921fb54442d18p-1};
    static const double c[] = {-1 / 3.0, 1 / 5.0, -1 / 7.0, 1 / 9.0, -1 / 11.0, 1 / 13.0, -1 / 15.0};
    const int i = (int)(8 * x + 0.5);
    const double a = 0.125 * i, t = (x - a) / (1 + a * x), z = t * t;
    return at[i] + (t + t * (z * polynomial(c, 7, z)));
}

double bo_portable_atan2(double y, double x) {
    const double a = fabs(x), b = fabs(y);
    if (isnan(x) || isnan(y))
        return x + y;
    double angle;
    if (a == INFINITY && b == INFINITY)
        angle = 0.5 * HALF_PI_1 + 0.5 * HALF_PI_2;
    else if (b > a)
        angle = HALF_PI_1 + (HALF_PI_2 - atan_unit(a / b));
    else
        angle = a > 0 ? atan_unit(b / a) : 0;
    if (signbit(x))
        angle = 2 * HALF_PI_1 + (2 * HALF_PI_2 - angle);
    return copysign(angle, y);
}

double bo_portable_atan(double x) {
    return bo_portable_atan2(x, 1);
}

double bo_portable_acos(double x) {
    return bo_portable_atan2(sqrt((1 - x) * (1 + x)), x);
}

/* ---- exp, log, pow ---- */

/* 2^k e^r for |r| <= log(2) / 2 */
static double exp_near(double r, double k) {
    static const double c[] = {1 / 2.0,       1 / 6.0,        1 / 24.0,        1 / 120.0,
                               1 / 720.0,     1 / 5040.0,     1 / 40320.0,     1 / 362880.0,
                               1 / 3628800.0, 1 / 39916800.0, 1 / 479001600.0, 1 / 6227020800.0};
    return ldexp(1 + (r + r * (r * polynomial(c, 12, r))), (int)k);
}

double bo_portable_exp(double x) {
    if (!(x < 1000))
        return x > 0 ? INFINITY : x; /* or NaN */
    if (x < -1000)
        return 0;
    const double k = rint(x / (LN2_1 + LN2_2));
    return exp_near((x - k * LN2_1) - k * LN2_2, k);
}

double bo_portable_exp2(double x) {
    if (!(x < 2000))
        return x > 0 ? INFINITY : x;
    if (x < -2000)
        return 0;
    const double k = rint(x);
    return exp_near((x - k) * (LN2_1 + LN2_2), k);
}

/* x = 2^e m with m from sqrt(1/2) to sqrt(2); log m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.172. */
double bo_portable_log(double x) {
    static const double c[] = {2 / 3.0,  2 / 5.0,  2 / 7.0,  2 / 9.0,  2 / 11.0, 2 / 13.0,
                               2 / 15.0, 2 / 17.0, 2 / 19.0, 2 / 21.0, 2 / 23.0};
    int e;
    if (!(x > 0) || x == INFINITY)
        return x == 0 ? -INFINITY : x > 0 ? x : x - x == 0 ? NAN : x + NAN;
    double m = frexp(x, &e);
    if (m < 0x1.6a09e667f3bcdp-1)
        m *= 2, e--;
    /* 2 s = f - s f with f = m - 1, which is exact: the small terms are added to a number without error */
    const double f = m - 1, s = f / (2 + f), z = s * s;
    return e * LN2_1 + (f - (s * (f - z * polynomial(c, 11, z)) - e * LN2_2));
}

double bo_portable_pow(double x, double y) {
    if (y == rint(y) && fabs(y) <= 64) {
        double result = 1, power = x;
        for (int n = (int)fabs(y); n > 0; n >>= 1, power *= power)
            result = n & 1 ? result * power : result;
        return y < 0 ? 1 / result : result;
    }
    if (x < 0)
        return NAN; /* whole powers beyond 64 of negative numbers are nobody's */
    return x == 0 ? (y > 0 ? 0 : INFINITY) : bo_portable_exp(y * bo_portable_log(x));
}

double bo_portable_cbrt(double x) {
    if (x == 0 || x - x != 0)
        return x;
    const double a = fabs(x);
    double y = bo_portable_exp(bo_portable_log(a) / 3);
    y -= (y - a / (y * y)) / 3; /* Newton */
    return copysign(y, x);
}

double bo_portable_hypot(double x, double y) {
    const double a = fabs(x), b = fabs(y);
    int e;
    if (a == INFINITY || b == INFINITY)
        return INFINITY;
    frexp(a > b ? a : b, &e);
    const double p = ldexp(a, -e), q = ldexp(b, -e); /* so that squares neither overflow nor vanish */
    return a == 0 && b == 0 ? 0 : ldexp(sqrt(p * p + q * q), e);
}
