/* Loads and supports that change with time: they follow curves. */
#ifndef BO_FEM_DRIVE_H
#define BO_FEM_DRIVE_H

#include "fem/body.h"
#include "rig/curve.h"

#include <bough/fem.h>

/* Faces of the load case's pressure list whose pressure follows a curve. */
typedef struct bo_drive_pressure {
    int32_t curve;
    size_t first, count; /* in load_case->pressure */
    double pressure;     /* Pa, at a curve value of 1 */
} bo_drive_pressure;

/* Zero bytes are an empty drive. It belongs to one load case. */
typedef struct bo_drive {
    int32_t curve_count;
    bo_curve *curves;
    double **forces;        /* curve_count: 3 vertex_count, N at a curve value of 1, or NULL */
    double **displacements; /* curve_count: likewise, m, of supports */
    bo_drive_pressure *pressures;
    size_t curve_capacity, pressure_count, pressure_capacity;
    bool moves; /* a support follows a curve */
} bo_drive;

void bo_drive_free(bough_context *ctx, bo_drive *drive);

/* times and values are copied. */
bough_status bo_drive_add_curve(bough_context *ctx, bo_drive *drive, const char *name, int32_t count,
                                const double *times, const double *values);
/* -1: there is none of that name. */
int32_t bo_drive_find(const bo_drive *drive, const char *name);

/* The functions of bough/fem.h of like names, scaled by a curve. */
bough_status bo_drive_force(bough_context *ctx, bo_drive *drive, const bough_body *body, int32_t curve,
                            const int32_t *vertices, int32_t count, const double force[3]);
bough_status bo_drive_gravity(bough_context *ctx, bo_drive *drive, const bough_body *body, int32_t curve,
                              const double gravity[3]);
bough_status bo_drive_add_pressure(bough_context *ctx, bo_drive *drive, bough_load_case *load_case, int32_t curve,
                                   const int32_t *faces, int32_t count, double pressure);
/* curve -1: held at the displacement, whatever held it before. */
bough_status bo_drive_fix(bough_context *ctx, bo_drive *drive, bough_load_case *load_case, int32_t curve,
                          const int32_t *vertices, int32_t count, int axes, const double displacement[3]);

/* led (3 vertex_count): 1 where a support is led from the place at rest, by a curve or at once; 0 elsewhere. drive may be
 * NULL. Returns whether there is any. */
bool bo_drive_leads(const bo_drive *drive, const bough_load_case *load_case, unsigned char *led);

/* ---- at time t; drive may be NULL ---- */

/* Puts position and velocity of the held degrees of freedom into q and v (v may be NULL). */
void bo_drive_hold(const bo_drive *drive, const bough_load_case *load_case, double t, double *q, double *v);
/* force += dead loads that follow curves. */
void bo_drive_add_loads(const bo_drive *drive, const bough_body *body, double t, double *force);
/* Sets those of the faces (a copy of the load case's) that follow curves to their pressures at t. */
void bo_drive_set_pressures(const bo_drive *drive, double t, bo_pressure_face *faces);

#endif
