/* The soft beam of the integrator benchmarks: 1 x 0.125 x 0.125 m, 2,560 tets, fixed at both ends, under gravity. */
#ifndef BOUGH_SWINGING_BEAM_H
#define BOUGH_SWINGING_BEAM_H

#include "bench.h"

#include "fem/system.h"
#include "time/integrator.h"

typedef struct swinging_beam {
    bough_mesh *mesh;
    bough_body *body;
    bough_load_case *load_case;
    bo_system system;
    double *q, *v, *a, *w; /* w: scratch */
} swinging_beam;

bough_status swinging_beam_create(bough_context *ctx, double young, swinging_beam *beam);
void swinging_beam_destroy(bough_context *ctx, swinging_beam *beam);
/* Elastic, gravitational and kinetic. */
bough_status swinging_beam_energy(swinging_beam *beam, double *energy);

#endif
