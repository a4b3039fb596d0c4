/* Inside view of the tree engine. Letters are those of docs/theory/tree.md: F_i is the frame of part i, everything
 * about a part is in its own axes and from its own origin unless said otherwise. */
#ifndef BO_TREE_TREE_H
#define BO_TREE_TREE_H

#include "base/context.h"
#include "base/vec.h"
#include "tree/track.h"

#include <bough/tree.h>

/* What the steps need of an interface, with coordinates innermost: [3][r] and [9][r]. */
typedef struct bo_interface_tables {
    double centre[3], A0[9];
    const double *a; /* 3 x r: translation */
    const double *A; /* 9 x r */
} bo_interface_tables;

/* What the steps need of a component. */
typedef struct bo_component_tables {
    const bough_component *c;
    int32_t r;
    const double *M;  /* r x r: tr W7 */
    const double *s;  /* 3 x r */
    const double *W5; /* 9 x r */
    const double *W7; /* r x 9 x r: [p][3 c + d][l] = W7_lp[c,d] */
    const double *k7; /* r x 3 x r: [p][.][l] = axial W7_lp */
    bo_interface_tables *interfaces;
} bo_component_tables;

/* Parts are numbered inside by depth, then component, so that parents come first and equal ones stand together. */
typedef struct bo_tree_part {
    int32_t component, parent, interface;
    int32_t r, offset; /* in q */
    int32_t user;      /* its number outside */
    double scale, scale3, scale4, scale5;
    bo_mat3 rest;     /* rotation against the parent's axes at rest */
    bo_vec3 position; /* of a root */
    bool free;        /* a root that flies */
    int32_t flight;   /* which of the flying roots carries it; -1: none */
    bo_spline *track; /* of a root that is led; NULL: none */
} bo_tree_part;

struct bough_model {
    bough_model_def def; /* with copies of the parts, their names and tracks */
    bool owns_components;
    int32_t component_count, part_count, size;
    bo_component_tables *components;
    bo_tree_part *parts;
    int32_t *inside;               /* outside number -> inside number */
    double *numbers;               /* all tables */
    int32_t largest_r, free_count; /* roots that fly */
    size_t elastic_scratch;
    int64_t square_size; /* sum of r^2 */
};

/* Motion of a part and its place in its parent, from q and v. */
typedef struct bo_tree_motion {
    bo_mat3 polar;        /* rotation of the parent's interface, kept for the next warm start */
    bo_mat3 R;            /* its axes in the parent's */
    bo_vec3 x, xdot;      /* of its origin in the parent, and how it moves there */
    bo_vec3 turning;      /* angular velocity against the parent, in the parent's axes */
    bo_vec3 turning_bias; /* what that angular velocity gains without accelerations of q */
    bo_vec3 v, w;         /* velocity and angular velocity of the frame, in its own axes */
    bo_mat3 world;        /* axes in the world */
    bo_vec3 origin;       /* in the world */
} bo_tree_motion;

/* What the solve keeps of a part between its two sweeps. */
typedef struct bo_tree_solve_state {
    double I[36], p[6]; /* articulated inertia and bias force about the origin, own axes */
    double A[6];        /* acceleration of the frame (less gravity), own axes */
} bo_tree_solve_state;

typedef struct bo_tree_integrator bo_tree_integrator;

typedef struct bo_tree_work {
    bo_tree_motion *motion;
    bo_tree_solve_state *solve;
    double *J;      /* 6 x r of each part: motion of its frame in the parent by the parent's coordinates */
    double *Y;      /* r x 7 of each part */
    double *V;      /* 9 x r of each part */
    double *N;      /* 3 x r of each part: axial part of sum_p v_p W7_lp */
    double *H;      /* r x r of each part: mass and what an implicit step adds to it */
    double *L;      /* r x r of each part: H with what hangs on the part, then its factor */
    double *p;      /* r of each part: elastic, damping and other forces that do not come from motion of frames */
    double *force;  /* r of each part: given from outside */
    double *wrench; /* 6 of each part: given from outside, about the origin, own axes */
    double *load, *load_wrench; /* the same with the wind, of the step in progress */
    double *Mrq;                /* 6 x r of each part */
    double *p_q;                /* r of each part */
    int64_t *J_offset, *square_offset;
    double *next_q, *next_v, *next_a; /* of the step in progress */
    bough_root *next_roots;
    double *scratch;
    double *block; /* all of the above */
    bo_tree_integrator *integrator; /* of the time room; NULL: the tree's own step */
} bo_tree_work;

/* Where the next polar decomposition of a part (inside number) starts. */
static inline bo_mat3 *bo_tree_polar(const bo_tree_work *work, int32_t part) {
    return &work->motion[part].polar;
}

/* kinematics.c: frames and velocities from q and v; false when an interface is crushed to a line. */
bool bo_tree_move(const bough_model *model, bo_tree_work *work, const double *q, const double *v);

/* inertia.c: V and N of all parts at q, v. */
void bo_tree_inertia(const bough_model *model, bo_tree_work *work, const double *q, const double *v);

/* couple.c: inertia (solve->I), Mrq and bias forces of every part alone, after bo_tree_move and bo_tree_inertia. */
void bo_tree_own_terms(const bough_model *model, bo_tree_work *work, const double *q, const double *v);

/* couple.c: accelerations of all coordinates with work->H for the masses of parts alone and work->p added to the
 * forces; at q, v and after bo_tree_move and bo_tree_inertia. False when a matrix is not positive definite. */
bool bo_tree_solve(const bough_model *model, bo_tree_work *work, const double *q, const double *v, double *a);

/* step.c: accelerations at q, v under the forces on the state and the generalised ones in `force` (may be NULL), without
 * elastic forces and damping. */
bough_status bo_tree_accelerations(bough_context *ctx, const bough_model *model, bough_state *state, const double *q,
                                   const double *v, const double *force, double *a);

/* flight.c */

/* The motion of the frames of roots that fly, from the state's. */
void bo_tree_place_roots(const bough_model *model, bo_tree_work *work, const bough_root *roots);
/* One step of the roots with the accelerations that were solved for (work->solve[].A, less gravity); frames: at its
 * start.
 */
void bo_tree_fly(const bough_model *model, const bo_tree_work *work, const bough_frame *frames, double dt, double gamma,
                 const bough_root *from, bough_root *to);
/* Momenta of each root's tree from its velocities; after bo_tree_move() at q, v. */
bool bo_tree_set_momenta(const bough_model *model, bo_tree_work *work, const double *q, const double *v,
                         bough_root *roots);
/* Velocities of each root from its tree's momenta, the rest of the motion as it is; likewise. False when an inertia is
 * singular. */
bool bo_tree_project_momenta(const bough_model *model, bo_tree_work *work, const double *q, const double *v,
                             bough_root *roots);

#endif
