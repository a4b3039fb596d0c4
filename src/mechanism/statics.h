/* Statics about the reference pose. Everything inside is spatial: twists and wrenches in the world's axes about the
 * middle of the mechanism, where wrenches pass from link to link unchanged and twists add up.
 * docs/theory/mechanism.md, "Exact statics". */
#ifndef BO_MECHANISM_STATICS_H
#define BO_MECHANISM_STATICS_H

#include "mechanism/mechanism.h"

/* Spatial data of one joint. */
typedef struct bo_spatial_joint {
    bo_twist columns[BO_MOST_FREEDOMS]; /* J: twist of the child against the parent by the coordinates */
    double G[36];                       /* J K^-1 J^T */
} bo_spatial_joint;

typedef struct bo_statics {
    const bough_mechanism *mechanism;
    int32_t end_effector_count;
    const bough_frame_def *end_effectors;
    bo_spatial_joint *joints;
    /* For a unit spatial wrench at each end effector, 6 x 6 blocks by joint or link and end effector: */
    double *carried; /* wrench that the joint carries from child to parent */
    double *twists;  /* of the links */
    /* By the springs' offsets, then by a unit of each motor's: 6 a joint and 6 a link, one after the other. */
    int32_t motor_count;
    const int32_t *motors; /* coordinates */
    double *offset_carried, *offset_twists;
} bo_statics;

static inline double *bo_block(double *blocks, int32_t count, int32_t row, int32_t column) {
    return blocks + 36 * ((size_t)row * (size_t)count + (size_t)column);
}

/* 6 x 6 blocks: C += s A, C += s A B */
void bo_add6(double *C, double s, const double *A);
void bo_multiply_add6(double *C, double s, const double *A, const double *B);
/* (v; w) += A (v; w) of another */
void bo_apply_add6(double *y, double s, const double *A, const double *x);

void bo_place_joint(const bough_mechanism *m, const bo_mechanism_joint *joint, bo_spatial_joint *out);

/* Lam (6 loops x 6 loops, zeros before) of all loops; marks: one a joint, zeros before and after. */
void bo_fill_loops(const bough_mechanism *m, const bo_spatial_joint *joints, int32_t *marks, double *Lam);
/* Solves Lam f = b for `count` columns (row-major, in place) with a symmetric positive semidefinite Lam of 6 x 6 blocks
 * (size n = 6 blocks, destroyed) whose range holds b. `scratch`: n (n + 2 count). `radius` makes radians into metres.
 */
bough_status bo_close_loops(bough_context *ctx, int32_t n, double *Lam, double radius, int32_t count, double *b,
                            double *scratch);
/* The same in two steps, L: n x n, and scratch: 2 n count. */
bough_status bo_factor_loops(bough_context *ctx, int32_t n, const double *Lam, double radius, double *L);
void bo_solve_loops(int32_t n, const double *Lam, const double *L, int32_t count, double *b, double *scratch);

/* The two ways to fill `carried` and `twists`; offsets only by the first. */
bough_status bo_statics_exact(bough_context *ctx, bo_statics *s);
bough_status bo_statics_recursive(bough_context *ctx, bo_statics *s);

#endif
