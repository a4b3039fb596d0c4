/* Elementary functions made of arithmetic: near the exact ones, and the same everywhere. */
#include "test.h"

#include "base/portable.h"

#include <float.h>

#undef sin
#undef cos
#undef tan
#undef atan
#undef atan2
#undef acos
#undef exp
#undef exp2
#undef log
#undef pow
#undef cbrt
#undef hypot

static long double pow_of_x(long double x) {
    return powl(x, 1.7L);
}
static double portable_pow_of_x(double x) {
    return bo_portable_pow(x, 1.7);
}
static long double atan_of_x(long double x) {
    return atan2l(x, -0.3L);
}
static double portable_atan_of_x(double x) {
    return bo_portable_atan2(x, -0.3);
}
static long double hypot_of_x(long double x) {
    return hypotl(x, 0.75L);
}
static double portable_hypot_of_x(double x) {
    return bo_portable_hypot(x, 0.75);
}

static const struct {
    const char *name;
    double (*portable)(double);
    long double (*exact)(long double);
    double lower, upper;
    double units; /* error, in 2^-52 of the result; near zeros of sin and cos, of 1 */
    bool absolute;
} functions[] = {
    {"sin", bo_portable_sin, sinl, -10, 10, 1.5, true},
    {"sin", bo_portable_sin, sinl, -1e-3, 1e-3, 1, false},
    {"sin", bo_portable_sin, sinl, -1e6, 1e6, 1.5, true},
    {"cos", bo_portable_cos, cosl, -10, 10, 1.5, true},
    {"tan", bo_portable_tan, tanl, -1.2, 1.2, 3, false},
    {"atan", bo_portable_atan, atanl, -3, 3, 1.5, false},
    {"atan", bo_portable_atan, atanl, -1e-5, 1e-5, 1, false},
    {"atan", bo_portable_atan, atanl, -1e9, 1e9, 1.5, false},
    {"atan2", portable_atan_of_x, atan_of_x, -2, 2, 1.5, false},
    {"acos", bo_portable_acos, acosl, -1, 1, 2, true},
    {"exp", bo_portable_exp, expl, -2, 2, 1.5, false},
    {"exp", bo_portable_exp, expl, -700, 700, 1.5, false},
    {"exp2", bo_portable_exp2, exp2l, -30, 30, 1.5, false},
    {"log", bo_portable_log, logl, 1e-3, 3, 1.5, false},
    {"log", bo_portable_log, logl, 1, 1e300, 1.5, false},
    {"pow", portable_pow_of_x, pow_of_x, 0.1, 10, 8, false},
    {"cbrt", bo_portable_cbrt, cbrtl, -30, 30, 1.5, false},
    {"hypot", portable_hypot_of_x, hypot_of_x, -5, 5, 1.5, false},
};
enum { COUNT = sizeof functions / sizeof *functions };

static void they_are_near_the_exact_ones(void **state) {
    (void)state;
    if (LDBL_MANT_DIG == DBL_MANT_DIG)
        test_skip("long double is no longer than double here");
    for (int k = 0; k < COUNT; k++) {
        test_random random = {(uint64_t)k};
        double worst = 0, at = 0;
        for (int i = 0; i < 20000; i++) {
            const double x = test_uniform(&random, functions[k].lower, functions[k].upper);
            const long double exact = functions[k].exact((long double)x);
            const double size = functions[k].absolute ? fmax(1, fabs((double)exact)) : fabs((double)exact);
            const double error = (double)fabsl((long double)functions[k].portable(x) - exact) / (0x1p-52 * size);
            if (error > worst)
                worst = error, at = x;
        }
        if (!(worst <= functions[k].units))
            fail_msg("%s(%.17g) is %g units off", functions[k].name, at, worst);
    }
}

static void they_know_the_ends(void **state) {
    (void)state;
    check(bo_portable_sin(0) == 0 && signbit(bo_portable_sin(-0.0)) && bo_portable_cos(0) == 1);
    check(isnan(bo_portable_sin(INFINITY)) && isnan(bo_portable_cos(NAN)) && isnan(bo_portable_sin(1e300)));
    check(bo_portable_exp(0) == 1 && bo_portable_exp(-1e4) == 0 && bo_portable_exp(1e4) == INFINITY);
    check(isnan(bo_portable_exp(NAN)) && bo_portable_exp(-INFINITY) == 0 && bo_portable_exp2(10) == 1024);
    check(bo_portable_log(1) == 0 && bo_portable_log(0) == -INFINITY && bo_portable_log(INFINITY) == INFINITY);
    check(isnan(bo_portable_log(-1)) && isnan(bo_portable_log(NAN)) && isfinite(bo_portable_log(5e-324)));
    check(bo_portable_pow(-3, 3) == -27 && bo_portable_pow(2, -2) == 0.25 && bo_portable_pow(0, 0.5) == 0);
    check(bo_portable_pow(0, 0) == 1 && isnan(bo_portable_pow(-1, 0.5)));
    check(bo_portable_cbrt(0) == 0 && bo_portable_cbrt(-8) == -2 && bo_portable_cbrt(INFINITY) == INFINITY);
    check(fabs(bo_portable_hypot(3e200, 4e200) / 5e200 - 1) < 1e-15 && bo_portable_hypot(0, 0) == 0);
    check(bo_portable_hypot(3e-320, 4e-320) > 0 && bo_portable_hypot(NAN, INFINITY) == INFINITY);
    check(isnan(bo_portable_hypot(NAN, 1)) && bo_portable_hypot(0, -3) == 3 && bo_portable_hypot(-3, 0) == 3);
    const double ends[] = {0, -0.0, 1, -1, INFINITY, -INFINITY};
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 6; k++) {
            const double ours = bo_portable_atan2(ends[i], ends[k]), libc = atan2(ends[i], ends[k]);
            if (!(fabs(ours - libc) < 1e-15) || signbit(ours) != signbit(libc))
                fail_msg("atan2(%g, %g) = %g", ends[i], ends[k], ours);
        }
}

/* Whatever compiled them, and on whichever processor. */
static void they_have_the_same_bits_everywhere(void **state) {
    (void)state;
    uint64_t hash = 0xcbf29ce484222325u;
    for (int k = 0; k < COUNT; k++) {
        test_random random = {100 + (uint64_t)k};
        for (int i = 0; i < 2000; i++) {
            const double unit = (double)(test_bits(&random) >> 11) * 0x1p-53,
                         span = functions[k].upper - functions[k].lower;
            volatile const double part = span * unit; /* no product joined with a sum here either */
            const double y = functions[k].portable(functions[k].lower + part);
            uint64_t bits;
            memcpy(&bits, &y, sizeof bits);
            hash = (hash ^ bits) * 0x100000001b3u;
        }
    }
    check_int(hash, -6755228506997999961);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_near_the_exact_ones),
        cmocka_unit_test(they_know_the_ends),
        cmocka_unit_test(they_have_the_same_bits_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
