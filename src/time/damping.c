/* Numerical damping of a method, measured on the method itself. */
#include "time/integrator.h"

#include <math.h>
#include <string.h>

/* q'' = -w^2 q as a system of size one. */
typedef struct {
    double stiffness, A;
} oscillator;

static bough_status force(void *data, double t, const double *q, double *U, double *f) {
    const oscillator *o = data;
    (void)t;
    if (U)
        *U = 0.5 * o->stiffness * q[0] * q[0];
    f[0] = -o->stiffness * q[0];
    return BOUGH_OK;
}

static void multiply(void *data, bo_matrix which, const double *x, double *y) {
    y[0] = x[0] * (which == BO_MATRIX_M ? 1 : which == BO_MATRIX_D ? 0 : ((const oscillator *)data)->stiffness);
}

static bough_status factor(void *data, double a, double b, double c) {
    oscillator *o = data;
    (void)b;
    o->A = a + c * o->stiffness;
    return o->A > 0 ? BOUGH_OK : BOUGH_ERROR_SINGULAR;
}

static bough_status solve(void *data, const double *b, double *x) {
    x[0] = b[0] / ((const oscillator *)data)->A;
    return BOUGH_OK;
}

enum { N = 5 }; /* q, v, a and the q, v of the step before: all that a method can carry from step to step */

/* Column of the map of one step with h = 1 (the frequency takes the place of h w). */
static bough_status map_column(bo_integrator *I, int column, double T[N][N]) {
    double x[N] = {0};
    x[column] = 1;
    bo_motion m = {.q = &x[0], .v = &x[1], .a = &x[2]};
    I->has_acceleration = true;
    I->h_before = 1;
    I->q_before[0] = x[3], I->v_before[0] = x[4];
    double q = x[0], v = x[1];
    BO_TRY(bo_integrator_step(I, 1, &m));
    bool history = I->method->uses_history;
    const double out[N] = {x[0], x[1], I->method->uses_acceleration ? x[2] : 0, history ? q : 0, history ? v : 0};
    for (int row = 0; row < N; row++)
        T[row][column] = out[row];
    return BOUGH_OK;
}

/* log of the spectral radius, from the growth of the powers 2, 4, 8, ...: T <- T^2 / m, log rho = sum log(m_k) / 2^k.
 */
static double log_spectral_radius(double T[N][N]) {
    double sum = 0, power = 2;
    for (int k = 0; k < 40; k++, power *= 2) {
        double S[N][N] = {{0}}, largest = 0;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                for (int l = 0; l < N; l++)
                    S[i][j] += T[i][l] * T[l][j];
                largest = fmax(largest, fabs(S[i][j]));
            }
        if (largest == 0)
            return -INFINITY;
        sum += log(largest) / power;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                T[i][j] = S[i][j] / largest;
    }
    return sum;
}

bough_status bough_integrator_damping(bough_context *ctx, const bough_integrator_def *def, double hw, double *damping) {
    if (!(hw > 0) || !isfinite(hw))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "h w is %g; it must be positive", hw);
    oscillator o = {.stiffness = hw * hw};
    const bo_system system = {.data = &o,
                              .size = 1,
                              .position_size = 1,
                              .has_potential = true,
                              .force = force,
                              .linearise = bo_system_keep_stiffness,
                              .damp = bo_system_keep_damping,
                              .multiply = multiply,
                              .factor = factor,
                              .solve = solve};
    bough_integrator_def tight = *def;
    tight.tolerance = 1e-13;
    bo_integrator *I;
    BO_TRY(bo_integrator_create(ctx, &system, &tight, &I));
    double T[N][N] = {{0}};
    bough_status status = BOUGH_OK;
    for (int column = 0; status == BOUGH_OK && column < N; column++)
        status = map_column(I, column, T);
    bo_integrator_destroy(ctx, I);
    if (status == BOUGH_OK)
        *damping = -2 * log_spectral_radius(T) / hw;
    return status;
}
