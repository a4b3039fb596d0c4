/* Elementary functions with the same bits everywhere: made of +, -, *, / and sqrt, which IEEE 754 defines to the last
 * bit. The C library's differ between its versions and, by kernels with and without FMA, between processors; compilers
 * also compute constant ones by rules of their own. About 1 to 2 units in the last place from exact.
 *
 * With BOUGH_PORTABLE_BITS every file of the libraries is compiled with this header in front (CMakeLists.txt), so that
 * sin() means bo_portable_sin(). */
#ifndef BO_BASE_PORTABLE_H
#define BO_BASE_PORTABLE_H

#include <math.h>

double bo_portable_sin(double x); /* |x| up to 1e6; beyond that the error grows with x */
double bo_portable_cos(double x);
double bo_portable_tan(double x);
double bo_portable_atan(double x);
double bo_portable_atan2(double y, double x);
double bo_portable_acos(double x);
double bo_portable_exp(double x);
double bo_portable_exp2(double x);
double bo_portable_log(double x);
double bo_portable_pow(double x, double y); /* small whole powers are products; others exp(y log x) */
double bo_portable_cbrt(double x);
double bo_portable_hypot(double x, double y);

#ifdef BO_PORTABLE_BITS
#define sin(x) bo_portable_sin(x)
#define cos(x) bo_portable_cos(x)
#define tan(x) bo_portable_tan(x)
#define atan(x) bo_portable_atan(x)
#define atan2(y, x) bo_portable_atan2(y, x)
#define acos(x) bo_portable_acos(x)
#define exp(x) bo_portable_exp(x)
#define exp2(x) bo_portable_exp2(x)
#define log(x) bo_portable_log(x)
#define pow(x, y) bo_portable_pow(x, y)
#define cbrt(x) bo_portable_cbrt(x)
#define hypot(x, y) bo_portable_hypot(x, y)
#endif

#endif
