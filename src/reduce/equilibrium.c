/* Equilibrium of a component under a load, by Newton's method held to descent on E(q) - load . q. */
#include "reduce/cook.h"

#include "dense/cholesky.h"

#include <string.h>

typedef struct {
    const bough_component *c;
    const double *load;
    double *rest, *step, *trial; /* r; rest = load - dE/dq */
    double *H, *L;               /* r x r */
    double *scratch;             /* what the component needs */
} search;

size_t bo_equilibrium_scratch(const bough_component *c) {
    size_t r = (size_t)c->r;
    return 3 * r + 2 * r * r + bough_component_scratch(c);
}

static search begin(const bough_component *c, const double *load, double *scratch) {
    size_t r = (size_t)c->r;
    double *H = scratch + 3 * r;
    return (search){c, load, scratch, scratch + r, scratch + 2 * r, H, H + r * r, H + 2 * r * r};
}

/* The potential at q, its negative gradient and their squared length, its Hessian; false when the component is
 * inverted. */
static bool potential(search *s, const double *q, double *value, double *square) {
    if (!bough_component_evaluate(s->c, q, s->scratch, value, s->rest, s->H))
        return false;
    *square = 0;
    for (int32_t l = 0; l < s->c->r; l++) {
        *value -= s->load[l] * q[l];
        s->rest[l] = s->load[l] - s->rest[l];
        *square += s->rest[l] * s->rest[l];
    }
    return true;
}

/* step = H^-1 rest, with so much of the rest stiffness's diagonal added to H that it points downhill. */
static bool downhill(search *s) {
    const size_t r = (size_t)s->c->r;
    for (double more = 0; more < 1e3; more = fmax(1e-3, 4 * more)) {
        memcpy(s->L, s->H, r * r * sizeof *s->L);
        for (size_t l = 0; l < r; l++)
            s->L[l * (r + 1)] += more * s->c->K[l * (r + 1)];
        if (!bo_cholesky_factor(s->c->r, s->L))
            continue;
        memcpy(s->step, s->rest, r * sizeof *s->step);
        bo_cholesky_solve(s->c->r, s->L, s->step);
        return true;
    }
    return false;
}

/* Goes along the step as far as the potential falls by some of what its slope promises (or by rounding, at the end). */
static bool go_down(search *s, double value, double *q) {
    enum { MOST_HALVINGS = 40 };
    const int32_t r = s->c->r;
    double slope = 0, length = 1, lower, square;
    for (int32_t l = 0; l < r; l++)
        slope += s->rest[l] * s->step[l];
    for (int halving = 0; halving < MOST_HALVINGS; halving++, length *= 0.5) {
        for (int32_t l = 0; l < r; l++)
            s->trial[l] = q[l] + length * s->step[l];
        if (potential(s, s->trial, &lower, &square) && lower <= value - 1e-4 * length * slope + 1e-13 * fabs(value)) {
            memcpy(q, s->trial, (size_t)r * sizeof *q);
            return true;
        }
    }
    return false;
}

bool bo_reduced_equilibrium(const bough_component *c, const double *load, double *q, double *scratch) {
    enum { MOST_ITERATIONS = 200 };
    search s = begin(c, load, scratch);
    double size = 0, value, square;
    for (int32_t l = 0; l < c->r; l++)
        size += load[l] * load[l];
    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
        if (!potential(&s, q, &value, &square))
            return false;
        if (square <= 1e-16 * size)
            return true;
        if (!downhill(&s) || !go_down(&s, value, q))
            return false;
    }
    return false;
}
