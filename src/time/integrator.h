/* Time integrators, each written once against a system. */
#ifndef BO_TIME_INTEGRATOR_H
#define BO_TIME_INTEGRATOR_H

#include "base/arena.h"
#include "time/system.h"

#include <bough/time.h>

typedef struct bo_integrator bo_integrator;
typedef struct bo_mode_set bo_mode_set;

/* The motion at one time. Arrays belong to whoever made the state. */
typedef struct bo_motion {
    double t;
    double *q; /* position_size */
    double *v; /* size */
    double *a; /* size: acceleration at t, as the method left it; methods that need none leave it alone */
    /* Systems in residual form only; there a has momentum_size entries where the system has momenta. */
    double *lambda; /* constraint_count: multipliers at t; where a step begins, the first guess */
    double *p;      /* momentum_size: momenta at t; NULL where the system has none */
} bo_motion;

/* One row of the registry. */
typedef struct bo_method {
    bough_integrator_info info;
    /* Takes one step from `from` to `to` (t is set by the caller). On failure `to` is undefined and `from` untouched.
     */
    bough_status (*step)(bo_integrator *I, double h, const bo_motion *from, bo_motion *to);
    /* The same for systems in residual form; NULL: the method needs the matrices. */
    bough_status (*step_residual)(bo_integrator *I, double h, const bo_motion *from, bo_motion *to);
    const char *no_constraints; /* why step_residual cannot have constraints; NULL: it can */
    bool steps_acceleration;    /* of step_residual: p must be v */
    int32_t residual_vectors;   /* of scratch that step_residual takes */
    int32_t vector_count;       /* of scratch that step takes, those of the functions below included */
    bool uses_acceleration;     /* reads from->a and leaves to->a */
    bool ends_at_stage;         /* a step ends where its last stage does, so that it cannot end in an obstacle */
    bool ends_beyond; /* it ends as far beyond its only stage as that is from the start: somebody has to look there */
    bool carries_balance; /* that acceleration is of the method's own balance (Newmark's family): not to be made anew */
    bool uses_history;    /* reads the step before; without one its first step is another method's */
    bool uses_modes;      /* keeps a set of low modes */
    bool uses_krylov;     /* takes krylov_limit + 1 vectors and bo_krylov_bytes() more */
} bo_method;

struct bo_integrator {
    bough_context *ctx;
    const bo_system *system;
    const bo_method *method;
    bough_integrator_def def;
    bo_arena arena;
    size_t length;               /* entries of a vector from the arena: any of the system's fits */
    bo_motion next;              /* where a step is built before it is accepted */
    double *q_before, *v_before; /* of the step before, for multistep methods */
    double *move_scratch;
    const double *q_start; /* of the step that is taken */
    const double *guess;   /* size: v of the stage, for steps of methods that end beyond it; NULL: v at the start */
    double *p_before;      /* of the step before; residual form only, as the next */
    double *alpha_rate, *alpha_next; /* the acceleration that generalised-alpha carries beside v', before and after */
    bo_mode_set *modes;              /* NULL for methods without */
    double h_before;                 /* 0: there is no step before */
    bool has_acceleration;
    bool mass_factored; /* the factor kept is that of M */
    int32_t iterations; /* Newton iterations of the last step */
    int32_t factors;    /* factorisations of the last step */
};

bough_status bo_integrator_create(bough_context *ctx, const bo_system *system, const bough_integrator_def *def,
                                  bo_integrator **integrator);
void bo_integrator_destroy(bough_context *ctx, bo_integrator *integrator);

/* One step of size h. A transaction: when it fails, the motion is what it was before, and so is the history. Allocates
 * nothing. */
bough_status bo_integrator_step(bo_integrator *integrator, double h, bo_motion *motion);
/* Forgets history and acceleration: after a jump in the state or in the forces. */
void bo_integrator_restart(bo_integrator *integrator);
/* The forces have changed by `change` (size entries) since the last step, at once or from one step to the next: the
 * acceleration that the next step starts from follows. at_once: a method that reads the step before begins anew. */
bough_status bo_integrator_jump(bo_integrator *integrator, const double *change, bool at_once, bo_motion *motion);

/* Residual form: moves q, then v, to where the constraints are obeyed, by the shortest way in the metric of the masses.
 * BOUGH_NO_CONVERGENCE with a sentence that says what is left; the motion is then where the search ended. */
bough_status bo_integrator_assemble(bo_integrator *integrator, bo_motion *motion);

/* All that a step needs besides the motion, as numbers, so that a run can be continued with the same bits. */
int64_t bo_integrator_history_size(const bo_integrator *integrator);
void bo_integrator_save(const bo_integrator *integrator, double *history);
void bo_integrator_restore(bo_integrator *integrator, const double *history);

/* ---- for the methods ---- */

/* A vector from the arena, long enough for q and v; the step gives them all back. */
double *bo_take(bo_integrator *I);

/* out = q (+) s dq */
void bo_move(bo_integrator *I, const double *q, double s, const double *dq, double *out);
/* Keeps D at q (+) s v. A method's D belongs where the force stands that it goes with: the middle of the step where one
 * D serves the whole step, else the end of each stage, foreseen to second order. Another choice is of first order. */
bough_status bo_damp_ahead(bo_integrator *I, const double *q, double s, const double *v);
/* dq = to (-) from */
void bo_difference(bo_integrator *I, const double *to, const double *from, double *dq);
/* out = x + s y; out may be x or y. */
void bo_add_scaled(const bo_integrator *I, const double *x, double s, const double *y, double *out);
/* F = f(q, t) - D v; one vector of scratch. */
bough_status bo_total_force(bo_integrator *I, double t, const double *q, const double *v, double *F);

/* a <- M^-1 a */
bough_status bo_mass_solve(bo_integrator *I, double *a);
/* a = M^-1 (f - D v) with D at q; only at the start, explicit methods aside. */
bough_status bo_acceleration(bo_integrator *I, double t, const double *q, const double *v, double *a);

/* The one nonlinear problem behind all implicit methods. Find z with
 *     R(z) = cm M z + r - f(q_base (+) cq z, t) + D (v_base + cv z) = 0
 * by Newton's method with the matrix cm M + cv D + cq K. Where f has a potential U this minimises
 *     cm/2 z'Mz + r'z + U(q_base (+) cq z) / cq + |v_base + cv z|_D^2 / (2 cv),
 * on which steps are held to Armijo's rule; elsewhere on the norm of R. z is the first guess and the result. */
typedef struct bo_implicit {
    double t, cm, cq, cv;
    const double *q_base, *v_base; /* v_base NULL: zero */
    const double *r;
    bool hold_modes; /* W^T z stays what it is: forces W mu are free, R is measured without them */
} bo_implicit;
#define BO_IMPLICIT_VECTORS 6
bough_status bo_solve_implicit(bo_integrator *I, const bo_implicit *problem, double *z);

/* A stage: v with M (v - vh) = tau [f(qh + tau v) - D v]; q = qh (+) tau v. */
#define BO_STAGE_VECTORS (BO_IMPLICIT_VECTORS + 1)
bough_status bo_stage(bo_integrator *I, double t, const double *qh, const double *vh, double tau, double *q, double *v);
/* The same, where v is the first guess, too, and not vh. */
bough_status bo_stage_from(bo_integrator *I, double t, const double *qh, const double *vh, double tau, double *q,
                           double *v);

/* The same problem in residual form: z and lambda with
 *     R(t, q, v, a, lambda) = 0 at q = q_base (+) (dq_base + cq z - s), v = v_base + cv z,
 *     a = ca (p(q, v) - p_base), or ca (z - p_base) where p is v,
 *     c(t, q) = 0 and, where the system has constraint_rate, G v + dc/dt = 0.
 * s is the correction of the position that the last condition leaves room for (Gear, Gupta and Leimkuhler 1985): along
 * G^T in the metric of the tangent, of the order of the error of a step. z and lambda are first guess and result; q, v,
 * a (not an input) are left at the solution. ca = cv = 0, cq = 1 finds equilibria. */
typedef struct bo_residual_problem {
    double t, ca, cv, cq;
    const double *q_base;
    const double *dq_base, *v_base, *p_base; /* NULL: zero */
    bool factored;     /* the factor that the system keeps is that of a state nearby, and is tried first */
    double force_left; /* result: what is left of the forces against their magnitude */
    double gap;        /* result: the largest of c in its units */
} bo_residual_problem;
#define BO_RESIDUAL_VECTORS 17
bough_status bo_solve_residual(bo_integrator *I, bo_residual_problem *problem, double *z, double *lambda, double *q,
                               double *v, double *a);

/* A stage in residual form: p(q, v) - ph = tau a, q = qh (+) (tau v - s). to->v and to->lambda are first guess and
 * result; q, a and, where the system has momenta, p are results. */
#define BO_RESIDUAL_STAGE_VECTORS (BO_RESIDUAL_VECTORS + 1)
bough_status bo_residual_stage(bo_integrator *I, double t, const double *qh, const double *ph, double tau,
                               bo_motion *to);

/* At t, for q and v that obey the constraints: lambda, a and, where the system has momenta, p. h: the step to come, of
 * which derivatives along the motion take a small part. */
#define BO_START_VECTORS 8
bough_status bo_start_residual(bo_integrator *I, double h, bo_motion *motion);

/* A linear stage: (M + tau D + tau^2 K) dv = Mbv - tau K bq, dq = bq + tau dv, with K kept before; factor false reuses
 * the last factor. dq may be bq. */
#define BO_LINEAR_STAGE_VECTORS 1
bough_status bo_linear_stage(bo_integrator *I, double tau, bool factor, const double *bq, double *Mbv, double *dq,
                             double *dv);

const bo_method *bo_method_at(int32_t index);
size_t bo_krylov_bytes(int32_t limit);

#endif
