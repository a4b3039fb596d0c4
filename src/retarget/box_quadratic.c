/* Projected Newton steps: variables at a bound that the slope leads outwards are held, the others go to where the slope
 * vanishes, and a way that meets bounds is bent along them, or ends at the first where that does not help. */
#include "retarget/box_quadratic.h"

#include "dense/cholesky.h"

#include <math.h>
#include <string.h>

#define ENOUGH 1e-4   /* of the decrease that the slope promises */
#define REACHED 1e-12 /* of the first decrease: the rest is rounding */
enum { MOST_ROUNDS = 200, MOST_HALVINGS = 4 };

bough_status bo_box_quadratic_make(bough_context *ctx, int32_t n, bo_box_quadratic *b) {
    const size_t size = (size_t)n;
    *b = (bo_box_quadratic){.n = n};
    b->memory = BO_NEW_ZEROS(ctx, double, size *size + 4 * size);
    b->free = BO_NEW_ZEROS(ctx, int32_t, size);
    b->held = BO_NEW_ZEROS(ctx, bool, 2 * size);
    if (!b->memory || !b->free || !b->held)
        return BOUGH_ERROR_MEMORY;
    b->L = b->memory, b->slope = b->L + size * size, b->way = b->slope + size, b->next = b->way + size;
    b->next_slope = b->next + size;
    b->factored = b->held + size;
    return BOUGH_OK;
}

void bo_box_quadratic_free(bough_context *ctx, bo_box_quadratic *b) {
    bo_free(ctx, b->memory);
    bo_free(ctx, b->free);
    bo_free(ctx, b->held);
    *b = (bo_box_quadratic){0};
}

/* Slope g + A x; returns the value g . x + x . A x / 2. */
static double look(const bo_box_quadratic *b, const double *A, const double *g, const double *x, double *slope) {
    double value = 0;
    memcpy(slope, g, (size_t)b->n * sizeof *slope);
    for (int32_t j = 0; j < b->n; j++) /* A is symmetric: its rows are its columns */
        for (int32_t i = 0; i < b->n && x[j] != 0; i++)
            slope[i] += A[(int64_t)b->n * j + i] * x[j];
    for (int32_t i = 0; i < b->n; i++)
        value += 0.5 * (g[i] + slope[i]) * x[i];
    return value;
}

/* Factors A over the variables that are not held, unless it has that factor. */
static bool factor(bo_box_quadratic *b, const double *A, bool again, int32_t *count) {
    *count = 0;
    for (int32_t i = 0; i < b->n; i++)
        if (!b->held[i])
            b->free[(*count)++] = i;
    if (!again && memcmp(b->held, b->factored, (size_t)b->n * sizeof *b->held) == 0)
        return true;
    for (int32_t i = 0; i < *count; i++)
        for (int32_t j = 0; j <= i; j++)
            b->L[(int64_t)*count * i + j] = A[(int64_t)b->n * b->free[i] + b->free[j]];
    memcpy(b->factored, b->held, (size_t)b->n * sizeof *b->held);
    return bo_cholesky_factor(*count, b->L);
}

/* The way to where the slope of all free variables vanishes. Variables at a bound that it leads outwards are held, too.
 * False: A is not positive definite. */
static bool find_way(bo_box_quadratic *b, const double *A, const double *lowest, const double *highest, const double *x,
                     bool first) {
    for (bool again = true; again; first = false) {
        int32_t count;
        again = false;
        if (!factor(b, A, first, &count))
            return false;
        for (int32_t i = 0; i < count; i++)
            b->next[i] = -b->slope[b->free[i]];
        bo_cholesky_solve(count, b->L, b->next);
        memset(b->way, 0, (size_t)b->n * sizeof *b->way);
        for (int32_t i = 0; i < count; i++) {
            const int32_t at = b->free[i];
            b->way[at] = b->next[i];
            if ((x[at] <= lowest[at] && b->way[at] < 0) || (x[at] >= highest[at] && b->way[at] > 0))
                b->held[at] = again = true;
        }
    }
    return true;
}

/* Goes along the way, bent along bounds, where that decreases the value enough, perhaps after a few halvings. Returns
 * the decrease; 0: it does not. */
static double go_bent(bo_box_quadratic *b, const double *A, const double *g, const double *lowest,
                      const double *highest, double value, double *x) {
    double t = 1;
    for (int k = 0; k < MOST_HALVINGS; k++, t *= 0.5) {
        double promised = 0;
        for (int32_t i = 0; i < b->n; i++) {
            b->next[i] = fmin(fmax(x[i] + t * b->way[i], lowest[i]), highest[i]);
            promised -= b->slope[i] * (b->next[i] - x[i]);
        }
        const double found = value - look(b, A, g, b->next, b->next_slope);
        if (found >= ENOUGH * promised && found > 0) {
            memcpy(x, b->next, (size_t)b->n * sizeof *x);
            return found;
        }
    }
    return 0;
}

/* Goes straight to the first bound on the way, which always decreases the value. */
static double go_straight(bo_box_quadratic *b, const double *A, const double *g, const double *lowest,
                          const double *highest, double value, double *x) {
    double t = 1;
    int32_t met = -1;
    for (int32_t i = 0; i < b->n; i++) {
        const double to = b->way[i] < 0 ? lowest[i] : highest[i], way = b->way[i];
        if (way != 0 && (to - x[i]) / way < t)
            t = (to - x[i]) / way, met = i;
    }
    for (int32_t i = 0; i < b->n; i++)
        x[i] = fmin(fmax(x[i] + t * b->way[i], lowest[i]), highest[i]);
    if (met >= 0)
        x[met] = b->way[met] < 0 ? lowest[met] : highest[met];
    return value - look(b, A, g, x, b->next_slope);
}

bool bo_box_quadratic_solve(bo_box_quadratic *b, const double *A, const double *g, const double *lowest,
                            const double *highest, double *x) {
    double first = 0;
    memset(x, 0, (size_t)b->n * sizeof *x);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        const double value = look(b, A, g, x, b->slope);
        for (int32_t i = 0; i < b->n; i++)
            b->held[i] = (x[i] <= lowest[i] && b->slope[i] >= 0) || (x[i] >= highest[i] && b->slope[i] <= 0);
        if (!find_way(b, A, lowest, highest, x, round == 0))
            return false;
        double found = go_bent(b, A, g, lowest, highest, value, x);
        if (found == 0)
            found = go_straight(b, A, g, lowest, highest, value, x);
        first = fmax(first, found);
        if (!(found > REACHED * first))
            break;
    }
    return true;
}
