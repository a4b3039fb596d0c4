#include "time/exponential.h"

#include <math.h>

/* e^(-d t / 2) sin(r t) / r with r^2 = lambda - d^2/4, for any sign of r^2. */
static double decaying_sine(double lambda, double d, double t) {
    double sigma = 0.5 * d, y = (lambda - sigma * sigma) * t * t, decay = exp(-sigma * t);
    if (fabs(y) < 1e-6)
        return decay * t * (1 - y / 6 + y * y / 120);
    if (y > 0)
        return decay * t * sin(sqrt(y)) / sqrt(y);
    /* sinh would overflow where the decay saves it: put both into the exponents. */
    double r = sqrt(-y);
    return t * (exp(r - sigma * t) - exp(-r - sigma * t)) / (2 * r);
}

void bo_mode_functions(double lambda, double d, double h, double *S, double *C) {
    static const double at[3] = {0.2386191860831969, 0.6612093864662645, 0.9324695142031521},
                        weight[3] = {0.4679139345726910, 0.3607615730481386, 0.1713244923791704};
    *S = decaying_sine(lambda, d, h);
    if (fabs(lambda) * h * h > 1e-3) {
        /* C = (1 - e^(-sigma h)(c + sigma s)) / lambda; without damping 1 - cos as a square avoids cancellation. */
        double sigma = 0.5 * d, y = (lambda - sigma * sigma) * h * h;
        if (d == 0) {
            double half = decaying_sine(lambda, 0, 0.5 * h);
            *C = 2 * half * half;
            return;
        }
        double cosine =
            y >= 0 ? exp(-sigma * h) * cos(sqrt(y)) : 0.5 * (exp(sqrt(-y) - sigma * h) + exp(-sqrt(-y) - sigma * h));
        *C = (1 - cosine - sigma * *S) / lambda;
        return;
    }
    *C = 0; /* C = integral of S from 0 to h, six Gauss points */
    for (int k = 0; k < 3; k++)
        for (int side = -1; side <= 1; side += 2)
            *C += 0.5 * h * weight[k] * decaying_sine(lambda, d, 0.5 * h * (1 + side * at[k]));
}
