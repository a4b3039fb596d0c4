/* A part in full order, as the multibody engine knows it: a table of functions around all nodes of a mesh. The runtime
 * has no finite elements; `twin` fills the table.
 *
 * Coordinates are displacements u of all vertices (x y z of each), in the component's axes; those of vertices that are
 * held stay zero. Joints see of each interface but the one it hangs by how its centre is shifted (3) and how its matrix
 * A changes (9, row-major), which are linear in u: seen = B u. */
#ifndef BO_MULTIBODY_FULL_H
#define BO_MULTIBODY_FULL_H

#include "base/context.h"
#include "base/rotation.h"

#include <bough/multibody.h>

enum { BO_MB_FACE = 12 };

/* The motion of the part and of the body that carries it, in the component's axes. */
typedef struct bo_mb_full_motion {
    bo_vec3 w, a0, alpha;    /* spin, acceleration of the body's origin less gravity, angular acceleration */
    bo_vec3 shift;           /* from the body's origin to the component's */
    const double *u, *v, *a; /* size: displacements, rates, accelerations */
    double strength;         /* factor on elastic forces */
    double damping_mass, damping_stiffness;
} bo_mb_full_motion;

/* Integrals over the mass and energies; all about the body's origin. */
typedef struct bo_mb_sums {
    bo_vec3 S, Sdot, swirl;  /* int y, int v, int y x v */
    bo_mat3 I;               /* inertia */
    double kinetic, elastic; /* 1/2 int v^2; of unit strength */
} bo_mb_sums;

typedef struct bo_mb_full_kind {
    /* Scratch of one state; end() takes NULL. */
    bough_status (*begin)(bough_context *ctx, const bough_full_part *part, void **scratch);
    void (*end)(bough_context *ctx, void *scratch);
    /* 12 numbers of an interface; rows += B^T face. */
    void (*gather)(const bough_full_part *part, int32_t interface_index, const double *u, double face[BO_MB_FACE]);
    void (*spread)(const bough_full_part *part, int32_t interface_index, const double face[BO_MB_FACE], double *rows);
    /* Makes the entries of held vertices zero. */
    void (*hold)(const bough_full_part *part, double *rows);
    void (*measure)(void *scratch, const bo_mb_full_motion *motion, bo_mb_sums *sums);
    /* Inertia, elastic forces and damping on all vertices: rows; gradient: the elastic ones alone. False: an element is
     * inverted. */
    bool (*forces)(void *scratch, const bo_mb_full_motion *motion, bo_vec3 *force, bo_vec3 *torque, double *rows,
                   double *gradient);
    /* The derivative of (force; torque; rows), with ca, cv, cq and gamma as for bo_mb_part_tangent(), at the motion
     * of the last forces(), is
     *   [ T0 D ]   by the body's motion and u.
     *   [ C  A ]
     * Factors A, whose skew-symmetric terms (of Coriolis and Euler) are left out, and sets T, (6 + seen) square, to
     * T0 - (D; B) A^-1 (C, B^T). False: A is not positive definite. */
    bool (*factor)(void *scratch, const bo_mb_full_motion *motion, double ca, double cv, double cq, bo_mat3 gamma,
                   double *T);
    /* Keeps z = A^-1 b; t (6 + seen) = (D; B) z. */
    void (*solve)(void *scratch, const double *b, double *t);
    /* x = z - A^-1 (C, B^T) t */
    void (*correct)(void *scratch, const double *t, double *x);
    /* Cauchy stress of an element; false: it is inverted. */
    bool (*stress)(const bough_full_part *part, const double *u, int32_t element, double stress[6]);
    /* The element's centre at rest, in the component's frame. */
    bo_vec3 (*centre)(const bough_full_part *part, int32_t element);
    /* Takes NULL too. */
    void (*destroy)(bough_context *ctx, bough_full_part *part);
} bo_mb_full_kind;

struct bough_full_part {
    const bo_mb_full_kind *kind;
    int32_t size; /* 3 vertices */
    int32_t element_count;
    int32_t interface_count, parent; /* parent: the interface it hangs by, which joints do not see */
};

/* The place of an interface among what joints see, counted in interfaces; -1: it is held. */
static inline int32_t bo_mb_full_slot(const bough_full_part *part, int32_t interface_index) {
    return interface_index == part->parent ? -1 : interface_index - (interface_index > part->parent);
}
static inline int32_t bo_mb_full_seen(const bough_full_part *part) {
    return BO_MB_FACE * (part->interface_count - 1);
}

#endif
