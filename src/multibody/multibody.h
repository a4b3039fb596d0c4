/* Inside of the multibody engine. docs/theory/multibody.md has the equations.
 *
 * Unknowns: V holds (velocity of the origin; angular velocity) of each body, world axes, then the rates of the parts'
 * coordinates; U positions, quaternions and the parts' coordinates; lambda the multipliers. A displacement xi is ordered
 * as V: (shift of the origin; turn, world axes) and changes of coordinates. */
#ifndef BO_MULTIBODY_MULTIBODY_H
#define BO_MULTIBODY_MULTIBODY_H

#include "base/context.h"
#include "base/rotation.h"
#include "contact/field.h"
#include "dense/block_lu.h"
#include "multibody/full.h"
#include "rig/body.h"
#include "time/integrator.h"

#include <bough/multibody.h>

/* ---- description, checked and prepared ---- */

/* Mass, first moment and inertia about the origin, in the body's axes. */
typedef struct bo_mb_body {
    double mass;
    bo_vec3 S;
    bo_mat3 I;
} bo_mb_body;

/* A flexible part. Its material point X moves to X + sum_l u_l Phi_l in the axes of the body that it is clamped to,
 * which all constants are in: the component's, moved by the clamp's pose. */
typedef struct bo_mb_part {
    const bough_component *component;
    int32_t body; /* BOUGH_WORLD: held */
    int32_t r;
    int32_t first;   /* of its coordinates among V; among U it is first + bodies */
    double strength; /* factor on elastic forces */
    double mass;
    bool shares;        /* its arrays belong to another part */
    bo_vec3 S0;         /* int X */
    bo_mat3 J0;         /* int X X^T */
    bo_vec3 *s;         /* r: int Phi_l */
    bo_mat3 *W5;        /* r: int Phi_l X^T */
    bo_mat3 *W7;        /* r x r: int Phi_l Phi_p^T at [r p + l] */
    bo_vec3 *turns;     /* r x r: int Phi_l x Phi_p */
    double *M;          /* r x r: mass */
    double alpha, beta; /* damping alpha M + beta K(u) */
    int32_t seen;       /* coordinates that joints see: r; in full order BO_MB_FACE for each interface */
    /* In full order (none of the arrays above is there) */
    const bough_full_part *full; /* NULL: reduced */
    bo_mat3 turn;                /* from the component's axes to the body's */
    bo_vec3 shift;               /* from the body's origin to the component's, in the component's axes */
} bo_mb_part;

/* An interface of a part that frames lie on: its centre, and the matrix whose nearest rotation turns it, in the body's
 * axes. */
typedef struct bo_mb_face {
    int32_t part, interface_index;
    bo_vec3 centre;
    bo_vec3 *moves; /* of the centre, by each coordinate that joints see */
    bo_mat3 A0, *A; /* likewise */
} bo_mb_face;

typedef struct bo_mb_frame {
    int32_t body; /* BOUGH_WORLD: it does not move */
    int32_t face; /* -1: it moves with the body */
    bo_se3 local; /* in the axes of the body, or of the face at rest */
} bo_mb_frame;

enum { BO_MB_MOST_ROWS = 6, BO_MB_MOST_FRAMES = 4, BO_MB_MOST_SPACE = 6 * BO_MB_MOST_FRAMES };

typedef struct bo_mb_joint {
    bough_joint_kind kind;
    int32_t def; /* of the model's joints; of a gear: joints + its number; of a clamp: -1 - part */
    int32_t frames[BO_MB_MOST_FRAMES], frame_count; /* parent, child; of a gear those of both joints */
    int32_t row, row_count;                         /* multipliers */
    int32_t motors[BOUGH_MOST_FREEDOMS];            /* of each freedom; -1: none */
    int32_t gear[2];                                /* of a gear: joints; else -1 */
    double distance, ratio, start;                  /* of a distance; of a gear */
    bool springs;                                   /* forces act on its coordinates */
    bool closes;                                    /* it is not in the tree of elimination */
    double soft[BO_MB_MOST_ROWS];                   /* compliance of rows that are redundant: rate per multiplier */
} bo_mb_joint;

struct bough_multibody {
    bough_multibody_def def;
    bo_mb_body *bodies; /* body_count, then one without mass for each part that is clamped to another part */
    int32_t body_count;
    bo_se3 *starts;         /* of the bodies */
    bo_twist *start_twists; /* in the bodies' axes */
    bo_mb_part *parts;
    int32_t face_count, frame_count, joint_count;
    bo_mb_face *faces;
    bo_mb_frame *frames;
    bo_mb_joint *joints; /* those of the def, then gears, then welds of parts that are clamped to parts */
    int32_t nv, nu, nc;
    int32_t room; /* 6 and the most coordinates that joints see of a part */
    bool in_full; /* some parts are in full order */
    double *motor_starts;
    double *rests;                               /* coordinate_count: coordinates at which springs are at rest */
    int32_t coordinate_count, *coordinate_first; /* of the joints of the def */
    double *units;                               /* nv: a length for what moves, 1 for what turns */
    double length;                               /* of the whole, m */
    /* Blocks of the matrix: bodies, parts, joints with rows, by their place in the elimination; -1: none. */
    int32_t *body_block, *part_block, *joint_block;
    int32_t block_count, *block_rows;
    int64_t pair_count;
    int32_t *pairs;
    int32_t *place; /* nv + nc: where an unknown stands in the order of the blocks; those of parts in full order, whose
                       blocks hold the coordinates that joints see and the forces on them instead, stand behind all */
    int32_t redundant_count, *redundant; /* joints of redundant rows */
    int32_t flyer_count, *flyer;         /* of each body: which flyer it belongs to; -1: something holds it */
};

/* ---- at one state ---- */

/* A part: integrals over the shape that it has. */
typedef struct bo_mb_shape {
    bo_vec3 S, Sdot;
    bo_mat3 I, N;
    bo_mat3 *Z;            /* r: int Phi_l y^T */
    bo_vec3 *p;            /* r: int y x Phi_l */
    bo_vec3 *swirl;        /* r: sum_k v_k int Phi_k x Phi_l */
    double *gradient, *Kv; /* r each: elastic forces, and stiffness times the rates of the coordinates */
    double *K, *dK;        /* r x r each, where derivatives are wanted: stiffness, and the change of K v with u */
    bo_vec3 w, a0, alpha;  /* of the body in its axes: spin, acceleration less gravity, angular acceleration */
    bo_vec3 force, torque; /* of inertia, in the body's axes */
} bo_mb_shape;

typedef struct bo_mb_turn {
    bo_vec3 centre;     /* in the body's axes */
    bo_mat3 P, S, Ginv; /* A = P S, G = tr(S) 1 - S */
    bo_vec3 *Jw, *Jo;   /* r: turn by unit rates, in the axes of the face and in those of the body */
} bo_mb_turn;

/* A frame in the world, with what moves it. */
typedef struct bo_mb_place {
    bo_vec3 x, v, w;
    bo_mat3 Q;
    bo_vec3 arm;     /* from the body's origin */
    bo_vec3 lever;   /* of the frame from the face's centre, in the body's axes */
    bo_vec3 *L, *Jo; /* r: velocity and spin by unit rates, world axes */
} bo_mb_place;

/* A joint in the space of its frames: displacements (shift, turn) and twists of each, one after the other. */
typedef struct bo_mb_rows {
    int32_t count, space; /* rows; 6 for each frame */
    double c[BO_MB_MOST_ROWS];
    double rate[BO_MB_MOST_ROWS];                                     /* of c */
    double G[BO_MB_MOST_ROWS][BO_MB_MOST_SPACE];                      /* dc/dxi */
    double D[BO_MB_MOST_ROWS][BO_MB_MOST_SPACE];                      /* d rate / dxi */
    double C[BO_MB_MOST_ROWS][BO_MB_MOST_SPACE];                      /* dc/dxi where the constraint is not obeyed */
    double W[BO_MB_MOST_SPACE];                                       /* wrenches on the frames */
    double H[BO_MB_MOST_SPACE][BO_MB_MOST_SPACE];                     /* dW/dxi */
    double E[BO_MB_MOST_SPACE][BO_MB_MOST_SPACE];                     /* dW by the twists */
    double by_motor[BO_MB_MOST_ROWS], by_motor_rate[BO_MB_MOST_ROWS]; /* d(rate + alpha c) by the place of an exact
                                                                          motor and by its rate */
    double W_by_motor[12];                                            /* dW by the place of an exact motor */
} bo_mb_rows;

/* Influences on the system beside its own state. */
typedef struct bo_mb_drive {
    double time;
    const double *gravity, *force, *push;
    const double *place, *rate; /* motors */
} bo_mb_drive;

/* A part in full order at one state. */
typedef struct bo_mb_full {
    void *scratch;        /* of its kind */
    double *seen, *rates; /* seen: the coordinates that joints see, and their rates */
    double *force;        /* seen: forces of joints on them */
    bo_mat3 Q;            /* from the component's axes to the world's, where the matrix was factored */
} bo_mb_full;

/* Bodies that nothing holds, with their parts, at one end of a step. */
typedef struct bo_mb_flight {
    bo_vec3 from; /* its first body */
    double mass;
    bo_vec3 centre, p, L;     /* of mass; momentum, and angular momentum about the centre */
    bo_mat3 I;                /* as one rigid body, about the centre */
    bo_vec3 force, torque;    /* from outside, about the centre */
    bo_vec3 push, twist;      /* changes of p and L in the step */
    bo_vec3 p_error, L_error; /* what is missing of p and L */
    bo_vec3 spin, turn;       /* by which L is mended */
    bo_vec3 aim;              /* where the centre should be */
    bool touches;
} bo_mb_flight;

/* Scratch of an evaluation: everything at one state. */
typedef struct bo_mb_work {
    bo_mat3 *R; /* bodies */
    bo_mb_shape *shapes;
    bo_mb_turn *turns;
    bo_mb_place *places;
    double *coordinates; /* of the joints' coordinates: angles near which others are looked for */
    double *motor_place, *motor_rate;
    double *element; /* scratch of components */
    double *blocks;  /* of one element's matrix */
    bo_mb_rows rows;
    bo_mb_full *full; /* parts; only those in full order are filled */
    bool sound;       /* all parts in full order have a factor */
    bo_block_lu lu;
    double *rhs;           /* of the blocks, and one place behind them */
    double way;            /* m: of the difference by which damping changes with the shape */
    bo_mb_flight *flights; /* two of each flyer */
    void *memory;
} bo_mb_work;

typedef struct bo_mb_state {
    bough_multibody_state face;
    const bough_multibody *model;
    bo_mb_work work;
    double *a;               /* nv: accelerations of the last step */
    double h;                /* of the implicit equation of the step that is searched */
    double *push;            /* nv: forces by what touches the bodies, in that step */
    double *u_base, *v_base; /* of the implicit equation */
    double *u_before, *v_before, *u_next, *v_next, *lambda_next, *a_next; /* of the step before, and to come */
    double *lambda_before;                                                /* nc: of the step before */
    bool knows_lambda;                                                    /* there was such a step */
    double *residual, *rate, *c;                                          /* nv, nc, nc */
    double *v_start, *lambda_start;                                       /* nv, nc: where a search began */
    double exact;                 /* factor on how far Newton's method may be off; 1 */
    double *trust;                /* nv: which guess of velocities was best in the last step */
    double *v_guess, *force_kept; /* nv */
    double suits;                 /* a step that suits the motion; 0: not known */
    double h_before;              /* 0: the next step is a first one */
    double factored_h;            /* of the factor that is kept; 0: none */
    double path_time;             /* of the equilibrium in u_before; NAN: there is none */
    int32_t apart;                /* the joint that missed most in an assembly that failed; -1: none */
    int path_sign; /* of the determinant at the last equilibrium of the path: -1 unstable; 0: not known */
    double *zeros, *zeros_c, *lambda_trial; /* nv, nc, nc */
    bool keeps;                             /* steps keep the momenta of flyers */
    /* Changes of both momenta of flyers in the last step (6 each); then, one after the other, centre and momenta (9 each)
     * at its end, and this end, u (nu) and v (nv). */
    double *impulses, *flown, *u_flown, *v_flown;
    void *memory;
    bo_system system;      /* for the methods of `time` */
    bo_integrator *method; /* NULL: the engine's own */
    bo_motion motion;
} bo_mb_state;

static inline bo_mb_state *bo_mb(bough_multibody_state *state) {
    return (bo_mb_state *)state;
}
static inline const bo_mb_state *bo_mb_const(const bough_multibody_state *state) {
    return (const bo_mb_state *)state;
}

/* ---- describe.c, model.c, order.c ---- */

/* A frame as the model keeps them, and the face that it lies on; bo_mb_face_free() is owed also when it fails. */
bough_status bo_mb_frame_make(bough_context *ctx, const bough_multibody *model, const bough_frame_def *def,
                              bo_mb_frame *frame, bo_mb_face *face);
void bo_mb_face_free(bough_context *ctx, bo_mb_face *face);

bough_status bo_mb_check(bough_context *ctx, const bough_multibody_def *def);
/* label: what the frame belongs to, in sentences. */
bough_status bo_mb_check_frame(bough_context *ctx, const bough_multibody_def *def, const char *label,
                               const bough_frame_def *frame);
/* "joint 3 (elbow)", in sentences. */
bo_label bo_mb_joint_label(const bough_multibody *model, int32_t joint);
bough_status bo_mb_order(bough_context *ctx, bough_multibody *model);

/* ---- start.c ---- */

/* Reads at the start what the model keeps of it: motors, distances, gears; and finds redundant rows. */
bough_status bo_mb_look_at_start(bough_context *ctx, bough_multibody *model);

/* ---- work.c: scratch ---- */

bough_status bo_mb_work_make(bough_context *ctx, const bough_multibody *model, bo_mb_work *work);
void bo_mb_work_free(bough_context *ctx, const bough_multibody *model, bo_mb_work *work);

/* ---- inertia.c ---- */

/* like: a part with the same constants, which it shares; NULL: none. */
bough_status bo_mb_part_make(bough_context *ctx, const bough_flexible_def *def, bo_se3 clamp, const bo_mb_part *like,
                             bo_mb_part *part);
void bo_mb_part_free(bough_context *ctx, bo_mb_part *part);
/* Integrals over the part's shape at its coordinates u and rates v. */
void bo_mb_shape_at(const bo_mb_part *part, const double *u, const double *v, bo_mb_shape *shape);
/* Integrals over the part, without energies, at a shape and its rates; and without all else that a shape has, for which
 * Z (r) is scratch. */
void bo_mb_shape_sums(const bo_mb_part *part, const bo_mb_shape *shape, const double *v, bo_mb_sums *sums);
void bo_mb_part_sums(const bo_mb_part *part, const double *u, const double *v, bo_mat3 *Z, bo_mb_sums *sums);
/* Inertia, elastic forces and damping of the part at those; w, a0, alpha, gradient and K of the shape are set. rows (r):
 * on its coordinates. */
void bo_mb_part_forces(const bo_mb_part *part, const double *v, const double *vdot, bo_mb_shape *shape, double *rows);
/* Sets dK of the shape by a difference over `way`, m; scratch: r + r x r. */
void bo_mb_damping_change(const bo_mb_part *part, const double *u, const double *v, double way, double *element,
                          double *scratch, bo_mb_shape *shape);
/* The derivative of (force; torque; rows), in the body's axes, as ca d/d(acceleration) + cv d/d(velocity) +
 * cq d/d(displacement), where turns are gamma times those of cq: (6 + r) x (6 + r), all in the body's axes. */
void bo_mb_part_tangent(const bo_mb_part *part, const double *v, const double *vdot, const bo_mb_shape *shape,
                        double ca, double cv, double cq, bo_mat3 gamma, double *T);
/* Force, torque and rows by accelerations alone: a0 and alpha of the body in its axes, x (r) of the coordinates. */
void bo_mb_part_mass(const bo_mb_part *part, const bo_mb_shape *shape, bo_vec3 a0, bo_vec3 alpha, const double *x,
                     bo_vec3 *force, bo_vec3 *torque, double *rows);
/* The same of a rigid body: 6, 6 x 6. */
void bo_mb_body_inertia(const bo_mb_body *body, bo_vec3 w, bo_vec3 a0, bo_vec3 alpha, bo_vec3 *force, bo_vec3 *torque);
void bo_mb_body_tangent(const bo_mb_body *body, bo_vec3 w, bo_vec3 a0, bo_vec3 alpha, double ca, double cv, double cq,
                        bo_mat3 gamma, double T[36]);

/* ---- full.c: parts in full order ---- */

/* The same as bo_mb_part_make(); its `component` has the interfaces. */
void bo_mb_full_make(const bough_flexible_def *def, bo_se3 clamp, bo_mb_part *part);
/* A unit of the k-th coordinate that joints see shifts an interface, and changes its A, in the component's axes. */
void bo_mb_full_face(const bo_mb_part *part, int32_t interface_index, int32_t k, double translation[3], double A[9]);
/* Makes the scratch of all such parts. */
bough_status bo_mb_full_begin(bough_context *ctx, const bough_multibody *model, bo_mb_work *work);
void bo_mb_full_end(bough_context *ctx, const bough_multibody *model, bo_mb_work *work);
/* Gathers the coordinates that joints see, and their rates. */
void bo_mb_full_look(const bo_mb_part *part, const double *u, const double *v, bo_mb_full *full);
/* Inertia, elastic forces and damping: rows (r), and force and torque of the shape, in the body's axes; w, a0 and alpha
 * of the shape are set. False: an element is inverted. */
bool bo_mb_full_forces(const bo_mb_part *part, bo_mb_full *full, const double *u, const double *v, const double *a,
                       bo_mb_shape *shape, double *rows);
/* Integrals and energies, in the body's axes. */
void bo_mb_full_measure(const bo_mb_part *part, const bo_mb_full *full, const double *u, const double *v,
                        bo_mb_sums *sums);
/* Adds the forces of joints to the rows, and makes those of held vertices zero. */
void bo_mb_full_finish(const bo_mb_part *part, const bo_mb_full *full, double *rows);
/* Adds a force on the coordinates that joints see to the rows. */
void bo_mb_full_spread(const bo_mb_part *part, const double *seen, double *rows);
/* Factors the part's own matrix and puts what is left into the blocks of the part and of its body. False: the matrix is
 * not positive definite. */
bool bo_mb_full_tangent(const bough_multibody *model, bo_mb_work *work, int32_t p, const double *u, const double *v,
                        const double *a, double ca, double cv, double cq, double h);
/* Adds a force and a torque (world axes) at a frame on an interface of such a part to the rows. */
void bo_mb_full_push(const bough_multibody *model, const bough_multibody_state *state, const bough_frame_def *frame,
                     bo_vec3 force, bo_vec3 torque, double *rows);
/* Before and after the blocks are solved for work->rhs. b, x (r): right-hand side and solution. */
void bo_mb_full_before(const bough_multibody *model, bo_mb_work *work, int32_t p, const double *b);
void bo_mb_full_after(const bough_multibody *model, bo_mb_work *work, int32_t p, double *x);

/* The coordinates of a part that joints see, and their rates, at the state that was looked at last. */
static inline const double *bo_mb_seen(const bough_multibody *model, const bo_mb_work *work, int32_t p,
                                       const double *u) {
    return model->parts[p].full ? work->full[p].seen : u + model->parts[p].first + model->body_count;
}
static inline const double *bo_mb_seen_rates(const bough_multibody *model, const bo_mb_work *work, int32_t p,
                                             const double *v) {
    return model->parts[p].full ? work->full[p].rates : v + model->parts[p].first;
}

/* ---- frames.c ---- */

bool bo_mb_turn_at(const bo_mb_face *face, int32_t r, const double *u, bo_mb_turn *turn);
/* A frame that need not be one of the model's. face, rates (of the `seen` coordinates of its part) and turn: NULL where
 * it moves with the body, whose axes are R (those of the world where there is no body). */
void bo_mb_place_on(const bo_mb_frame *frame, const bo_mb_face *face, int32_t seen, const double *rates,
                    const bo_mb_turn *turn, bo_mat3 R, const double *u, const double *v, bo_mb_place *place);
/* forces (nv) += s F^T W for a frame at a place, on its body (-1: none); the same for on_part (seen). */
void bo_mb_add_wrench(int32_t body, int32_t seen, const bo_mb_place *place, double s, const double *W, double *forces,
                      double *on_part);
/* The same for a frame of the model, where it was placed last. */
void bo_mb_push_frame(const bough_multibody *model, const bo_mb_work *work, int32_t frame, double s, const double *W,
                      double *forces);
/* F v, for velocities that need not be those of the state. */
void bo_mb_frame_twist(const bough_multibody *model, const bo_mb_work *work, int32_t frame, const double *v,
                       double twist[6]);
void bo_mb_place_at(const bough_multibody *model, const bo_mb_work *work, int32_t frame, const double *u,
                    const double *v, bo_mb_place *place);
/* The change of the frame's twist F V with displacements of its body and part, V fixed: 6 x (6 + r). */
void bo_mb_frame_rate(const bough_multibody *model, const bo_mb_work *work, int32_t frame, const double *v,
                      double *change);
/* The change of F^T W with displacements, W = (force; torque) fixed: (6 + r) x (6 + r). */
void bo_mb_frame_stiffness(const bough_multibody *model, const bo_mb_work *work, int32_t frame, const double *W,
                           double *change);
/* F: 6 x (6 + r) */
void bo_mb_frame_map(const bough_multibody *model, const bo_mb_work *work, int32_t frame, double *F);
int32_t bo_mb_frame_part(const bough_multibody *model, int32_t frame);

/* ---- joints.c, springs.c ---- */

/* Rows of a joint, from the places of its frames; derivatives D, H, E, C only where asked for. */
void bo_mb_joint_rows(const bough_multibody *model, const bo_mb_work *work, int32_t joint, const bo_mb_drive *drive,
                      const double *lambda, bool derivatives, bo_mb_rows *rows);
/* The multiplier of the constraint by which a motor holds its coordinate: its force or torque, up to the sign. -1: it
 * gives way. */
int32_t bo_mb_motor_row(const bough_multibody *model, int32_t motor);
/* Adds the wrenches of springs, dampers, friction, limits and motors that give way; returns their energy. */
double bo_mb_joint_springs(const bough_multibody *model, const bo_mb_work *work, const bo_mb_joint *joint,
                           const bo_mb_drive *drive, bool derivatives, bo_mb_rows *rows);
/* The force of a motor that gives way, towards where it is told to be; ahead: how far and how fast that is away. *slope:
 * the part of its stiffness and damping that is left where its force is limited. */
static inline double bo_mb_motor_force(const bough_motor_def *motor, double ahead, double ahead_rate, double *slope) {
    const double asked = motor->stiffness * ahead + motor->damping * ahead_rate;
    *slope = 1;
    if (!isfinite(motor->limit))
        return asked;
    const double share = tanh(asked / motor->limit);
    *slope = 1 - share * share;
    return motor->limit * share;
}
/* One coordinate of a joint: its value, its gradient, and the direction in which forces on it act. */
typedef struct bo_mb_coordinate {
    double value, rate;
    double gradient[12], direction[12];
    double rate_by[12];          /* d rate / dxi */
    double direction_by[12][12]; /* d direction / dxi */
} bo_mb_coordinate;
void bo_mb_coordinate_at(bough_joint_kind kind, int freedom, const bo_mb_place *a, const bo_mb_place *b, double near,
                         bool derivatives, bo_mb_coordinate *coordinate);

/* The change of the wrenches on a joint's frames by a unit of a constant of one of its coordinates, or by the place or
 * rate of a motor that gives way. A ball has its constants at freedom 0; a compliant joint at 0 to 3. */
typedef enum bo_mb_cause {
    BO_MB_BY_STIFFNESS,
    BO_MB_BY_DAMPING,
    BO_MB_BY_MOTOR_PLACE,
    BO_MB_BY_MOTOR_RATE,
    BO_MB_BY_MOTOR_STIFFNESS,
    BO_MB_BY_MOTOR_DAMPING
} bo_mb_cause;
void bo_mb_wrench_by(const bough_multibody *model, const bo_mb_work *work, const bo_mb_joint *joint, int freedom,
                     bo_mb_cause cause, const bo_mb_drive *drive, double W[12]);

/* ---- evaluate.c ---- */

/* Everything at a state: R (nv) = inertia + elastic + damping - F^T W - forces, c and rate (nc) of the constraints
 * (rate with the softness of redundant rows). False: a part is inverted or an interface crushed. */
bool bo_mb_evaluate(const bough_multibody *model, bo_mb_work *work, const bo_mb_drive *drive, const double *u,
                    const double *v, const double *a, const double *lambda, double *R, double *c, double *rate);
/* Shapes, frames and constraints at a state, without forces: much less work. False: an interface is crushed. */
bool bo_mb_look(const bough_multibody *model, bo_mb_work *work, const bo_mb_drive *drive, const double *u,
                const double *v, const double *lambda, double *c, double *rate);
/* The matrix of  dR, d(rate + alpha c)  by (z, lambda), where a, V and displacements change by ca z, cv z and cq z, and
 * turns of a body by cq (1 + h/2 w~) / (1 + h^2 w^2 / 4) z with the step h (0: cq z), where it was evaluated last. positions: rows are dc/dxi alone, which is what methods of `time` ask for. */
void bo_mb_tangent(const bough_multibody *model, bo_mb_work *work, const bo_mb_drive *drive, const double *u,
                   const double *v, const double *a, const double *lambda, double ca, double cv, double cq, double h,
                   double alpha, bool positions);
/* Factors it. False: it is singular. */
bool bo_mb_factor(bo_mb_work *work);
/* (x; y) with the matrix times (x; y) = (b; d). */
void bo_mb_solve(const bough_multibody *model, bo_mb_work *work, const double *b, const double *d, double *x,
                 double *y);
/* Fills the blocks with `scale` times the mass matrix alone, where the system was evaluated last. Not for parts in full order. */
void bo_mb_mass(const bough_multibody *model, bo_mb_work *work, const bo_mb_drive *drive, const double *u,
                const double *v, const double *a, double scale);
/* (1 + h/2 w~) / (1 + h^2/4 w^2): turns by what is added to the spin w in a step h, over h. */
static inline bo_mat3 bo_mb_turn_by_spin(double h, bo_vec3 w) {
    const bo_vec3 half = bo_scale(0.5 * h, w);
    return bo_mat_scale(1 / (1 + bo_dot(half, half)), bo_mat_add(bo_identity3(), bo_hat(half)));
}
/* With motors as they are told to be at that time. */
bo_mb_drive bo_mb_drive_at(bo_mb_state *s, double time);

/* u = base moved by h v: positions by h v, quaternions by (1 - h/2 w)^-1, which solves (q - base) / h = 1/2 w q. */
void bo_mb_advance(const bough_multibody *model, const double *base, double h, const double *v, double *u);
/* The largest entry of a displacement, or of velocities, in units; INFINITY: some are not finite. */
double bo_mb_length_of(const bough_multibody *model, const double *x);
/* Keeps the coordinates of the joints at the state, near which angles are looked for. */
void bo_mb_keep_coordinates(const bough_multibody *model, bo_mb_work *work);

/* ---- statics.c ---- */

/* Makes quaternions unit ones. */
void bo_mb_normalise(const bough_multibody *model, double *u);

/* ---- momenta.c: what nothing holds keeps its momenta ---- */

/* Finds which bodies fly together. */
bough_status bo_mb_find_flyers(bough_context *ctx, bough_multibody *model);
/* From now on all steps by the engine's own method keep the momenta of flyers. */
void bo_mb_keep_momenta(bo_mb_state *s);
/* Moves v_next, and the velocities that the step begins from, by what is missing of momenta at the end of the step of dt
 * that was found last: a search from there finds it with less missing. */
void bo_mb_lead_to_momenta(bo_mb_state *s, double dt);
/* Gives v_next the momenta that it should have, and u_next the centres of mass. */
void bo_mb_mend_momenta(bo_mb_state *s, double dt);
/* Remembers them when the state is there, so that the next step need not measure them. */
void bo_mb_remember_momenta(bo_mb_state *s);
/* Numbers from `impulses` on. */
size_t bo_mb_momenta_size(const bough_multibody *model);
/* Momentum, and angular momentum about the origin, of a body or a part with the axes R, and v and w of the body. */
void bo_mb_momenta_of(double mass, const bo_mb_sums *m, bo_mat3 R, bo_vec3 v, bo_vec3 w, bo_vec3 *p, bo_vec3 *about);

/* ---- step.c: a step in pieces, between which contact may act ---- */

/* Finds velocities and multipliers at the end of a step of dt, from a first guess. first: by backward Euler, whatever
 * came before. When it fails the state is what it was. */
bough_status bo_mb_find_step(bough_context *ctx, bo_mb_state *s, double dt, bool first);
/* The same from where they are, after `push` has changed. */
bough_status bo_mb_search_step(bough_context *ctx, bo_mb_state *s, double dt);
/* Moves the state there. */
void bo_mb_accept_step(bo_mb_state *s, double dt);
/* Names the joint or body whose block was found singular. */
bough_status bo_mb_fail_singular(bough_context *ctx, const bo_mb_state *s, double time);

/* ---- samples.c: points of a part's surface that touch ---- */

/* The samples of a component on a body, in the axes of that body. */
typedef struct bo_mb_samples {
    const bough_component *component;
    int32_t body, part; /* BOUGH_WORLD: none; part -1: it does not bend */
    int32_t count, r;
    bo_se3 clamp;          /* the component's frame in the body's */
    bo_vec3 centre;        /* of a sphere around them at rest, in the body's axes */
    double radius;         /* m */
    double *most;          /* r: how far a unit of each coordinate moves any of them; NULL in full order */
    int32_t *vertices;     /* in full order: of the mesh; NULL: reduced */
    const bo_field *field; /* by which others touch it; NULL: they do not. Somebody else's */
    double *now;           /* with a field: count x 3, X + U q in the component's axes */
    double bend;           /* m: with a field: a bound on |U q| */
} bo_mb_samples;
/* part -1: of a rigid body whose frame is the component's. bo_mb_samples_free() is owed also when it fails. */
bough_status bo_mb_samples_make(bough_context *ctx, const bough_multibody *model, int32_t body, int32_t part,
                                const bough_component *component, bo_mb_samples *samples);
void bo_mb_samples_free(bough_context *ctx, bo_mb_samples *samples);
/* Positions u (nu) and rates v (nv) of the whole system give where samples are (count x 3 each). */
void bo_mb_samples_points(const bough_multibody *model, const bo_mb_samples *samples, const double *u, const double *v,
                          double *positions, double *velocities);
/* A sphere around all of them, and a bound on their speed, without looking at each. */
void bo_mb_samples_sphere(const bough_multibody *model, const bo_mb_samples *samples, const double *u, const double *v,
                          bo_vec3 *centre, double *radius, double *speed);
/* rows (3 x nv) += sign times the derivative by v of the velocity of a sample along three directions. */
void bo_mb_samples_rows(const bough_multibody *model, const bo_mb_samples *samples, const double *u, int32_t sample,
                        const double directions[9], double sign, double *rows);
/* Lets others touch the surface between the samples: finds where they are now, for bo_mb_samples_near(). */
void bo_mb_samples_bend(const bough_multibody *model, bo_mb_samples *samples, const double *u);
/* bough_contact_table.near, near_rows */
bool bo_mb_samples_near(const bo_mb_samples *samples, const double *u, bo_vec3 x, double within,
                        bough_contact_near *near);
void bo_mb_samples_near_rows(const bough_multibody *model, const bo_mb_samples *samples, const double *u,
                             const bough_contact_near *near, bo_vec3 x, const double directions[9], double sign,
                             double *rows);
/* A field of a component's surface and its samples; the caller destroys it. */
bough_status bo_mb_samples_field(bough_context *ctx, const bough_component *component, bo_field **field);
/* among.c: bough_multibody_actor_create() for a model whose first rigid bodies that stand for parts is `first` (-1:
 * there are none): their components follow. */
bough_status bo_mb_actor_create(bough_context *ctx, const bough_multibody *model, bough_multibody_state *state,
                                int32_t first, const bough_flexible_def *parts, int32_t shape_count,
                                const bough_contact_shape_def *shapes, bough_contact_actor *actor);

/* ---- snapshot.c: all there is of a state to continue with the same bits ---- */

typedef struct bo_mb_array {
    double *numbers;
    size_t count;
} bo_mb_array;
enum { BO_MB_ARRAYS = 11, BO_MB_FACTOR = 10 }; /* the last is the factor, which counts where factored_h is not 0 */
void bo_mb_list_arrays(bo_mb_state *s, bo_mb_array arrays[BO_MB_ARRAYS]);
/* Whether those that are used as indices can be such: numbers of the arrays, one after the other, and pivots. */
bool bo_mb_numbers_fit(const bo_mb_state *s, const double *numbers, const double *pivots);
/* Numbers of a snapshot: of a state that steps by the engine's own method, between steps. */
size_t bo_mb_snapshot_size(const bo_mb_state *s);
void bo_mb_snapshot_save(const bo_mb_state *s, double *to);
void bo_mb_snapshot_restore(bo_mb_state *s, const double *from);

/* ---- system.c ---- */

void bo_mb_fill_system(bo_mb_state *s);
bough_status bo_mb_method_step(bough_context *ctx, bo_mb_state *s, double dt);

#endif
