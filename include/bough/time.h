/* The time integrators: which there are, and their settings.
 *
 * Strings and descriptions are constants of the library. Functions have no state: any number of threads may call them,
 * each with a context of its own. Failure: as <bough/base.h> says.
 */
#ifndef BOUGH_TIME_H
#define BOUGH_TIME_H

#include <bough/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The registry's entry of a method. */
typedef struct bough_integrator_info {
    const char *name;  /* "tr-bdf2" */
    const char *about; /* one line */
    int32_t order;     /* of accuracy */
    bool a_stable, l_stable;
    bool explicit_method;
    int32_t factorisations; /* per step (per Newton iteration and stage for fully implicit methods) */
    int32_t solves;         /* likewise */
    bool constraints;       /* also moves systems with constraints */
    const char *needs;      /* "", "rho", "alpha", "beta, gamma": which parameters of the def it reads */
} bough_integrator_info;

/* Counts the methods. */
BOUGH_API int32_t bough_integrator_count(void);
/* Returns the description of a method, 0 .. count-1; NULL: there is none of that number. */
BOUGH_API const bough_integrator_info *bough_integrator_describe(int32_t index);

typedef struct bough_integrator_def {
    uint32_t cookie;
    const char *name;
    double rho;         /* spectral radius at infinity of generalised-alpha, 0..1 */
    double alpha;       /* of HHT, -1/3..0 */
    double beta, gamma; /* of Newmark */
    double tolerance;   /* Newton stops when a step is below this part of the solution, in the norm of M */
    int32_t max_iterations;
    int32_t mode_count;   /* low modes that the hybrids move exactly */
    int32_t mode_refresh; /* steps between updates of the modes: 1 every step; larger lowers second order to first */
    int32_t krylov_limit; /* most Lanczos vectors of ere */
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_integrator_def;

/* "tr-bdf2", rho 0.8, alpha -0.05, beta 1/4, gamma 1/2 */
BOUGH_API bough_integrator_def bough_default_integrator_def(void);

/* Finds the numerical damping d/w = -2 ln(rho) / (h w) of a method on an undamped oscillator, where rho is the spectral
 * radius of its step, measured by stepping. 0: energy is kept; negative: unstable. BOUGH_ERROR_ARGUMENT for a method
 * that does not exist. */
BOUGH_API bough_status bough_integrator_damping(bough_context *ctx, const bough_integrator_def *def, double hw,
                                                double *damping);

#ifdef __cplusplus
}
#endif

#endif
