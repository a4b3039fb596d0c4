/* A multibody scene as a function: material and start -> where a marker is at given times. */
#ifndef BO_RETARGET_SIMULATE_H
#define BO_RETARGET_SIMULATE_H

#include "multibody/engine.h"

#include <bough/retarget.h>

/* Pulls that soft directions of the marker need: its compliance at the start, by its own axes. */
typedef struct bo_release {
    int32_t count;           /* soft directions; 0: nobody pulls */
    double directions[3][3]; /* of length 1, world axes */
    double compliance[3];    /* m/N, of the scene's own material, largest first */
    double rest[3];          /* where the marker is in equilibrium */
} bo_release;

/* All that simulations share, constant while they run. */
typedef struct bo_fit_scene {
    const bough_scene *scene;
    const bo_multibody_plan *plan;
    const bough_component **components;
    bo_multibody_spot marker;
    bool *chosen; /* of the parts: their material is fitted */
    int32_t chosen_count;
    double damping_mass, damping_stiffness; /* of the first chosen part */
    double young;                           /* Pa, of all chosen parts; NAN: not known, or they differ */
    double dt;
    bool settle;
    bo_release release;
    char news[120]; /* shown as progress: how far the fit is */
} bo_fit_scene;

/* Material and start of one simulation. */
typedef struct bo_fit_values {
    double factor; /* on Young's modulus */
    double damping_mass, damping_stiffness;
    double start;      /* s: the time of the measurement at which the scene begins */
    double release[3]; /* m, along release.directions */
} bo_fit_values;

/* Understands the def's names; cooks what is missing. To be freed, also when it fails. */
bough_status bo_fit_scene_make(bough_context *ctx, const bough_scene *scene, const bough_fit_def *def,
                               bo_fit_scene *fit);
void bo_fit_scene_free(bough_context *ctx, bo_fit_scene *fit);
/* The scene's own values. */
bo_fit_values bo_fit_scene_values(const bo_fit_scene *fit);

/* Positions of the marker (3 each, m) at ascending times of the measurement, and velocities unless they are NULL; in
 * between steps by Hermite's cubic. Before the start the marker is where it begins. */
bough_status bo_fit_simulate(bough_context *ctx, const bo_fit_scene *fit, const bo_fit_values *values, double dt,
                             int32_t count, const double *times, double *positions, double *velocities);

#endif
