/* A step of a reduced model in pieces, between which contact may act. docs/theory/mechanism.md, "Steps". */
#ifndef BO_MECHANISM_STEP_H
#define BO_MECHANISM_STEP_H

#include "mechanism/mechanism.h"

/* Coordinates y = z, or (base; z) when the base is free. */
struct bo_mechanism_work {
    int32_t size;
    double dt;                                     /* that of the inverse; 0: none yet */
    double *inverse;                               /* size x size: (M + h D + h^2 K)^-1 */
    double *factor;                                /* size x size */
    double *z, *rate, *right, *next, *transported; /* size each */
    double *goal;                                  /* rank: z where the springs pull */
    double *columns;                               /* rank + motors: what moves the links */
    double momentum[6];                            /* of a free base, with the impulses of the step */
    double *memory;
};

/* A state as the library makes it. */
typedef struct bo_mechanism_state {
    bough_mechanism_state seen; /* first: what the user sees */
    struct bo_mechanism_work work;
} bo_mechanism_state;
static inline struct bo_mechanism_work *bo_mechanism_work_of(const bough_mechanism_state *state) {
    return &((bo_mechanism_state *)(uintptr_t)state)->work;
}

/* z (rank) of xi and internal coordinates, or their rates. */
void bo_mechanism_coordinates(const bough_mechanism_model *model, const double *xi, const double *internal, double *z);

/* The rates at the end of a step (work->next) and the matrix that leads to them (work->inverse). The state stays. */
bough_status bo_mechanism_predict(bough_context *ctx, const bough_mechanism_model *model, bough_mechanism_state *state,
                                  double dt);
/* Impulses on y (size) beside those of the prediction. */
void bo_mechanism_kick(const bough_mechanism_model *model, bough_mechanism_state *state, double dt,
                       const double *impulse);
/* Moves work->z by the rates; fails where that is not finite. The state stays. */
bough_status bo_mechanism_advance(bough_context *ctx, const bough_mechanism_model *model, bough_mechanism_state *state,
                                  double dt);
/* Moves the state to where bo_mechanism_advance() went; the loads of the step are gone. */
void bo_mechanism_publish(const bough_mechanism_model *model, bough_mechanism_state *state, double dt);

/* Makes wrench, load and base_wrench zero, as they are after each step that succeeds. */
void bo_mechanism_clear_loads(const bough_mechanism_model *model, bough_mechanism_state *state);

#endif
