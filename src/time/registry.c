#include "time/integrator.h"

/* A new integrator is one file and one line here. */
#define METHODS(X)         \
    X(backward_euler)      \
    X(bdf2)                \
    X(trapezoidal)         \
    X(midpoint)            \
    X(tr_bdf2)             \
    X(sdirk)               \
    X(newmark)             \
    X(hht)                 \
    X(generalised_alpha)   \
    X(si)                  \
    X(sbdf2)               \
    X(str_sbdf2)           \
    X(s_sdirk)             \
    X(newmark_linear)      \
    X(hht_linear)          \
    X(ere)                 \
    X(siere)               \
    X(beere)               \
    X(sbdf2ere)            \
    X(bdf2ere)             \
    X(str_sbdf2ere)        \
    X(tr_bdf2ere)          \
    X(central_differences) \
    X(symplectic_euler)    \
    X(rk4)

#define DECLARE(name) extern const bo_method bo_method_##name;
METHODS(DECLARE)

static const bo_method *const methods[] = {
#define ENTER(name) &bo_method_##name,
    METHODS(ENTER)};

int32_t bough_integrator_count(void) {
    return (int32_t)(sizeof methods / sizeof *methods);
}

const bo_method *bo_method_at(int32_t index) {
    return methods[index];
}

const bough_integrator_info *bough_integrator_describe(int32_t index) {
    return index < 0 || index >= bough_integrator_count() ? NULL : &methods[index]->info;
}
