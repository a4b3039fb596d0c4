/* The full-order finite element body (mesh + materials), load cases (how a body is held and what acts on it), statics,
 * modes, and motion with contact. This is the ground truth that everything reduced is compared with.
 *
 * A body never changes after it was made: any number of threads may use it at the same time, each with a context of
 * its own. The same holds for a load case as long as nobody adds to it. Ownership and failure: as <bough/base.h> says,
 * with BOUGH_NOT_FINITE where a displacement turns an element inside out or is no number.
 *
 * Displacements u and forces are arrays of 3 x vertex_count doubles (x y z of vertex 0, of vertex 1, ...), in m and N.
 */
#ifndef BOUGH_FEM_H
#define BOUGH_FEM_H

#include <bough/contact.h>
#include <bough/linalg.h>
#include <bough/material.h>
#include <bough/mesh.h>
#include <bough/time.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bough_body bough_body;
typedef struct bough_load_case bough_load_case;

typedef enum bough_mass_kind {
    BOUGH_MASS_CONSISTENT, /* integrated exactly (default) */
    BOUGH_MASS_REDUCED,    /* with the points of the stiffness: tet4 1, tet10 4, hex8 8, as CalculiX does */
    BOUGH_MASS_LUMPED      /* diagonal: row sums; tet10 by scaled diagonals, which are positive */
} bough_mass_kind;

/* Elements of `set` (an element set of the mesh) are made of `material`. */
typedef struct bough_body_region {
    const char *set;
    bough_material material;
} bough_body_region;

typedef struct bough_body_def {
    uint32_t cookie;
    bough_material material; /* for all elements that no region names */
    bool use_mesh_materials; /* constants that came with the mesh file go over `material` (default true) */
    int32_t region_count;    /* regions win over both; later ones over earlier ones */
    const bough_body_region *regions;
    bough_mass_kind mass;
    double damping_mass;      /* Rayleigh damping D = damping_mass M + damping_stiffness K, 1/s */
    double damping_stiffness; /* s */
    uint64_t reserved[4];     /* zeros: room for fields of later versions */
} bough_body_def;

/* bough_default_material() and the constants of the mesh, consistent mass, no damping. */
BOUGH_API bough_body_def bough_default_body_def(void);

/* Makes a body of a volume mesh with positive elements, which is copied; def NULL: the defaults. Vertices in no element
 * stay at rest and take no loads. Fails with BOUGH_ERROR_ARGUMENT on a mesh or def that makes no body. Destroy the body
 * after its load cases and matrices. */
BOUGH_API bough_status bough_body_create(bough_context *ctx, const bough_mesh *mesh, const bough_body_def *def,
                                         bough_body **body);
BOUGH_API void bough_body_destroy(bough_context *ctx, bough_body *body);
/* Returns the body's own copy of the mesh. */
BOUGH_API const bough_mesh *bough_body_mesh(const bough_body *body);

/* ---- load cases: supports and loads ---- */

enum { BOUGH_AXIS_X = 1, BOUGH_AXIS_Y = 2, BOUGH_AXIS_Z = 4, BOUGH_AXES = 7 };

/* Makes a load case of the body in which nothing is held and nothing acts. The functions below add to it; to take
 * something away, make another. The body must outlive its load cases. Wherever a function takes a load case, NULL
 * stands for one to which nothing was added, and one of another body is refused with BOUGH_ERROR_ARGUMENT. The
 * functions that add fail with BOUGH_ERROR_ARGUMENT (no vertex or face, or one that does not exist), BOUGH_NOT_FINITE
 * or BOUGH_ERROR_MEMORY, and leave the load case as it was then. */
BOUGH_API bough_status bough_load_case_create(bough_context *ctx, const bough_body *body, bough_load_case **load_case);
BOUGH_API void bough_load_case_destroy(bough_context *ctx, bough_load_case *load_case);
/* Returns the body that it is a load case of. */
BOUGH_API const bough_body *bough_load_case_body(const bough_load_case *load_case);
/* Holds the given axes of the vertices at rest + displacement (NULL: at rest). What was held before is held anew. */
BOUGH_API bough_status bough_load_case_fix(bough_context *ctx, bough_load_case *load_case, const int32_t *vertices,
                                           int32_t count, int axes, const double displacement[3]);
/* Sets gravity, m/s^2, instead of what was set before. */
BOUGH_API bough_status bough_load_case_set_gravity(bough_context *ctx, bough_load_case *load_case,
                                                   const double gravity[3]);
/* Shares `force` (N) out over the vertices: evenly, or by the area of the boundary faces all of whose corners are among
 * them (consistent with a uniform traction) where there are such faces. */
BOUGH_API bough_status bough_load_case_add_force(bough_context *ctx, bough_load_case *load_case,
                                                 const int32_t *vertices, int32_t count, const double force[3]);
/* Pressure (Pa, positive pushes inwards) on faces as in face sets; it follows the deforming surface. */
BOUGH_API bough_status bough_load_case_add_pressure(bough_context *ctx, bough_load_case *load_case,
                                                    const int32_t *faces, int32_t count, double pressure);
/* The external forces at displacement u (NULL: rest), 3 x vertex_count: gravity, point forces, pressure. Never fails.
 */
BOUGH_API void bough_load_case_forces(const bough_load_case *load_case, const double *u, double *force);

/* ---- evaluation ---- */

/* Elastic energy (J), elastic force -dE/du (N) and tangent d2E/du2 at displacement u (NULL: rest); any output may be
 * NULL. The tangent's pattern comes from bough_body_matrix_create(). project: each element's tangent is made positive
 * semidefinite. BOUGH_NOT_FINITE when an element is inverted in a material that forbids it: the outputs are of no use
 * then. Supports and loads do not count here. */
BOUGH_API bough_status bough_body_evaluate(bough_context *ctx, const bough_body *body, const double *u, bool project,
                                           double *energy, double *force, bough_sparse *tangent);
/* Makes a zero matrix with the body's pattern; destroy it before the body. */
BOUGH_API bough_status bough_body_matrix_create(bough_context *ctx, const bough_body *body, bough_sparse **matrix);
/* Fills in the mass matrix; the matrix is one of bough_body_matrix_create(). */
BOUGH_API bough_status bough_body_mass_matrix(bough_context *ctx, const bough_body *body, bough_sparse *mass);
/* Rayleigh's damping matrix damping_mass M + damping_stiffness K(u); u may be NULL for rest. */
BOUGH_API bough_status bough_body_damping_matrix(bough_context *ctx, const bough_body *body, const double *u,
                                                 bough_sparse *damping);

typedef struct bough_body_properties {
    double mass;         /* kg */
    double centre[3];    /* of mass, m */
    double inertia[9];   /* about the centre of mass, kg m^2 */
    double strain_scale; /* sqrt(E/rho), m/s: the speed of sound that sets time scales */
} bough_body_properties;
/* Measures the body at rest. */
BOUGH_API bough_status bough_body_measure(bough_context *ctx, const bough_body *body,
                                          bough_body_properties *properties);

/* Cauchy stress of each element, at its mean deformation gradient: 6 values xx yy zz yz xz xy, and von Mises'
 * equivalent. Either may be NULL. docs/theory/elements.md, "Stress". */
BOUGH_API bough_status bough_body_stress(bough_context *ctx, const bough_body *body, const double *u, double *stress,
                                         double *von_mises);

/* ---- statics ---- */

typedef struct bough_static_def {
    uint32_t cookie;
    double tolerance;   /* residual force over applied and support forces (without any: those of a strain of 1e-5) */
    int32_t load_steps; /* even steps to begin with; steps are halved when one fails and grow again */
    int32_t max_iterations; /* Newton iterations of one load step */
    double min_step;        /* give up when a load step has shrunk below this fraction of the first one */
    /* Called after every accepted load step; false cancels and keeps that state. May be NULL. */
    bool (*on_step)(void *user, double load_fraction, const double *u);
    void *on_step_user;
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_static_def;
/* Tolerance 1e-9, one load step, 40 iterations, down to 1e-4 of the first step. */
BOUGH_API bough_static_def bough_default_static_def(void);

typedef struct bough_static_result {
    bool converged;
    double load_fraction; /* of the loads, reached by the last accepted step; 1 when converged */
    int32_t steps;        /* accepted load steps */
    int32_t iterations;   /* Newton iterations, rejected steps included */
    double residual;      /* relative, of the last iteration, also when its load step was rejected */
    double energy;        /* elastic, J, of the last accepted step */
    double max_displacement;
    int32_t max_vertex;
    bool stable; /* the last tangent was positive definite without projection */
} bough_static_result;

/* Equilibrium of the body, held and loaded as the load case says. u is the start (zeros: rest) and the result. On
 * BOUGH_NO_CONVERGENCE and BOUGH_CANCELLED u is the last accepted step, result tells how far it went. */
BOUGH_API bough_status bough_body_static(bough_context *ctx, const bough_body *body, const bough_load_case *load_case,
                                         const bough_static_def *def, double *u, bough_static_result *result);

/* ---- modes ---- */

typedef struct bough_modes {
    int32_t count;
    int32_t vertex_count;
    double *frequencies_hz; /* count, ascending; rigid modes are about 0 */
    double *eigenvalues;    /* count, (2 pi f)^2 */
    double *shapes;         /* count x (3 vertex_count), mass-orthonormal */
    double *damping;        /* count, ratio of critical damping from Rayleigh's constants */
    double *participation;  /* count x 6: translations x y z, rotations about the centre of mass x y z */
    double *effective_mass; /* count x 6: participation squared, kg and kg m^2; sums to the total over all modes */
    double total_mass[6];   /* mass (3 times) and moments of inertia of the parts that can move */
    int32_t rigid_count;    /* modes below 1e-4 of the first flexible one */
} bough_modes;

/* The lowest `count` modes of small vibrations about displacement u (NULL: rest), with the supports of the load case.
 * Of its loads only pressure counts, by how it follows the motion about u; at rest it does not. */
BOUGH_API bough_status bough_body_modes(bough_context *ctx, const bough_body *body, const bough_load_case *load_case,
                                        int32_t count, const double *u, bough_modes **modes);
/* Frees modes. Takes NULL. */
BOUGH_API void bough_modes_destroy(bough_context *ctx, bough_modes *modes);

/* ---- contact ---- */

/* Tells where an obstacle is at a time, by a pose that changes smoothly; *pose is where its def has it. Returns false for
 * an obstacle that stays there: each is asked once, for time 0, when the contact is made. The same time gives the same
 * pose, and threads may ask at once. How fast the obstacle moves in a step follows from the poses at its ends. */
typedef bool (*bough_obstacle_lead)(void *data, int32_t obstacle, double time, bough_pose *pose);

/* All that a body touches: obstacles, and itself. A barrier keeps each point of its surface out of them; it begins at a
 * small distance and is as stiff as it must be. docs/theory/contact.md, "Barriers". */
typedef struct bough_body_touch_def {
    uint32_t cookie;
    int32_t obstacle_count;
    const bough_obstacle_def *obstacles; /* of all kinds of shapes; meshes must outlive the contact */
    bough_obstacle_lead lead;            /* NULL: no obstacle moves */
    void *lead_data;
    double friction;   /* of the body; of two that touch the square root of the product counts */
    double distance;   /* m: within it something repels; 0: a thousandth of the body's size */
    double slip_speed; /* m/s: friction holds by creeping slower than this */
    double stiffness;  /* factor on the barriers, which are as stiff as inertia in a step */
    double spacing;    /* m: points on edges and faces between vertices are no further apart; 0: vertices alone touch */
    bool itself;       /* pieces of the body's surface touch each other, too */
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_body_touch_def;
/* Nothing to touch; friction 0.5, slip speed 1e-3 m/s, stiffness 1, vertices alone. */
BOUGH_API bough_body_touch_def bough_default_body_touch_def(void);

/* Contact that was prepared: distances from hulls and surfaces are on grids, heights on splines. Constant: states of any
 * bodies, in any threads, may share one. */
typedef struct bough_body_touch bough_body_touch;
/* Checks and copies all of the def, but not lead_data and the meshes of shapes. The caller destroys it, after the states
 * that use it. Each hull takes a part of a second. BOUGH_ERROR_ARGUMENT, with a sentence that names the obstacle, for what
 * is none; BOUGH_CANCELLED by progress() of the context. */
BOUGH_API bough_status bough_body_touch_create(bough_context *ctx, const bough_body_touch_def *def,
                                               bough_body_touch **touch);
/* Takes NULL too. */
BOUGH_API void bough_body_touch_destroy(bough_context *ctx, bough_body_touch *touch);

/* ---- motion ---- */

typedef struct bough_body_state_def {
    uint32_t cookie;
    const bough_load_case *load_case; /* of the body; supports stay where they hold it. NULL: nothing holds or acts */
    const bough_body_touch *touch;    /* NULL: it touches nothing */
    const double *u, *v;              /* 3 vertex_count: at the start, m and m/s; NULL: at rest. Copied */
    /* With contact one whose steps end at a stage ("backward-euler", "bdf2", "tr-bdf2", "sdirk"), or "midpoint". */
    bough_integrator_def integrator;
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_body_state_def;
/* bough_default_integrator_def(), nothing else. */
BOUGH_API bough_body_state_def bough_default_body_state_def(void);

/* A body in motion. Part of something larger: only bough_body_state_create() makes one. */
typedef struct bough_body_state {
    double time; /* s */
    /* 3 vertex_count: displacements and velocities. They and the time may be written between steps; call
     * bough_body_state_restart() then. */
    double *u, *v;
    int32_t iterations; /* of Newton's method, in the last step or search for an equilibrium */
} bough_body_state;

/* Makes a state at time 0; the caller destroys it. Body, load case and touch must outlive it, and nothing may be added to
 * the load case. One thread at a time may use it. BOUGH_ERROR_ARGUMENT where the body is in an obstacle, or something in
 * the body, at the start; BOUGH_ERROR_UNSUPPORTED for a method that knows no contact. */
BOUGH_API bough_status bough_body_state_create(bough_context *ctx, const bough_body *body,
                                               const bough_body_state_def *def, bough_body_state **state);
/* Takes NULL too. */
BOUGH_API void bough_body_state_destroy(bough_context *ctx, bough_body_state *state);
/* Forgets the steps before, and puts supports where the load case has them: after u, v or the time were written. Refuses
 * what bough_body_state_create() refuses; write others then. */
BOUGH_API bough_status bough_body_state_restart(bough_context *ctx, bough_body_state *state);

/* One step. When it fails, the state is what it was: positive codes (BOUGH_NO_CONVERGENCE, BOUGH_NOT_FINITE) ask for a
 * shorter step. It never ends in an obstacle, nor has it passed through one, or through the body itself. Allocates only
 * while more points touch than ever before. */
BOUGH_API bough_status bough_body_state_step(bough_context *ctx, bough_body_state *state, double dt);
/* Goes on by dt, in one step or, where that fails, in halves of it, down to a thousandth. *steps (may be NULL): how many.
 * When it fails the state is the last good one, on the way. */
BOUGH_API bough_status bough_body_state_advance(bough_context *ctx, bough_body_state *state, double dt, int32_t *steps);
/* Goes to an equilibrium with what acts on it and what it touches, obstacles being where they are at the state's time. It
 * passes through nothing on the way, and is at rest then. Friction holds points near to where they began to touch.
 * BOUGH_NO_CONVERGENCE where the body would slide or fall away; the state is what it was then. */
BOUGH_API bough_status bough_body_state_settle(bough_context *ctx, bough_body_state *state);

/* Further forces on the vertices (3 vertex_count, N; copied), which act until others are given; NULL: none. Held axes do
 * not feel them. BOUGH_ERROR_ARGUMENT for what is not finite; those before go on then. */
BOUGH_API bough_status bough_body_state_push(bough_context *ctx, bough_body_state *state, const double *force);

/* Lists what touches, at most so many; returns how many there are. The first side is a vertex of the body: of kind
 * BOUGH_CONTACT_OF_PART with its number; the other an obstacle, or another vertex. Force is that of the barrier, along the
 * normal, plus friction, across it; their sum over all contacts is what obstacles do to the body. Positions are where they
 * are now, and friction is that of the last step (none before the first). */
BOUGH_API int32_t bough_body_state_contacts(const bough_body_state *state, int32_t most, bough_contact *contacts);

typedef struct bough_body_energies {
    double elastic, kinetic;                 /* J */
    double external;                         /* J: potential of the load case but for pressure; 0 at rest */
    double contact;                          /* J: of the barriers */
    double work;                             /* J done so far by pressure, pushes, friction and obstacles that move: by
                                                the mean of the forces at both ends of each step */
    double momentum[3], angular_momentum[3]; /* kg m/s; kg m^2/s about the world's origin */
    double
        gap; /* m: the smallest, to obstacles and, within the distance of contact, to itself; INFINITY: none is near */
} bough_body_energies;
/* Measures the state as it is. */
BOUGH_API bough_status bough_body_state_measure(bough_context *ctx, const bough_body_state *state,
                                                bough_body_energies *energies);

#ifdef __cplusplus
}
#endif

#endif
