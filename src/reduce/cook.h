/* Inside view of cooking: what the phases hand to each other. Each phase fills its part of `draft`. */
#ifndef BO_REDUCE_COOK_H
#define BO_REDUCE_COOK_H

#include "base/context.h"
#include "fem/body.h"
#include "linalg/factor.h"

#include <bough/reduce.h>

typedef struct bo_cook_block bo_cook_block;

/* Rest inertia carried at an interface: y += sum over axes of columns Q (I6 (Q^T x)). Q maps vertex displacements to
 * the interface's least-squares rigid motion (translation, rotation about its centre). */
typedef struct bo_cook_load {
    int32_t interface_index;
    int32_t vertex_count;
    const int32_t *vertices;
    double *Q; /* vertex_count x 3 x 6: row (vertex, axis) */
    double I6[36];
} bo_cook_load;

/* A place where unit wrenches act, along the columns of `axes`: an interface (-1: the free end of a component that has
 * none beside its parent's). */
typedef struct bo_cook_site {
    int32_t interface_index;
    bo_mat3 axes;
} bo_cook_site;

typedef struct bo_cook {
    bough_context *ctx;
    const bough_body *body;
    const bough_load_case *load_case;
    const bough_cook_def *def;
    bough_component draft;
    bough_interface *interfaces; /* of the draft, to be filled in */
    bo_cook_block *blocks;       /* memory that lives as long as this */

    /* The hooks of the context while it is replaced: its progress callback is told of phases, not of what goes on below
     * them. */
    bough_context_def own_hooks;
    double told; /* fraction */

    int32_t n;           /* 3 vertex_count */
    unsigned char *held; /* n: 1 where the basis is zero */
    int32_t held_count;
    double size; /* of the body: diagonal of its bounding box, m */

    /* The body's boundary, made when it is first asked for: see bo_cook_boundary(). */
    bough_mesh *boundary;
    int32_t *boundary_vertices, *boundary_faces;

    double *mass_scratch;
    bough_sparse *m;   /* vertex_count: scalar mass matrix m_ab */
    bough_sparse *K;   /* at rest */
    bo_factor *factor; /* of K, held unknowns left out; of K + shift M when the body flies free */
    double shift;      /* 0, or the shift */
    double *rigid;     /* free: 6 x n, mass-orthonormal rigid motions; else NULL */
    int32_t load_count;
    bo_cook_load *loads;
    bool loaded; /* the modes are those of the body that carries its loads */

    int32_t mode_count;
    double *eigenvalues;    /* mode_count: of the modes the basis was made from, ascending */
    bool modes_held;        /* ... with the child interfaces held (Craig-Bampton) */
    double *modes;          /* mode_count x n, orthonormal in the (loaded) mass */
    double candidate_total; /* squared length of all candidates of the basis together */
    bool modes_done;        /* they are complete, */
    bool basis_done;        /* and so is U */

    int32_t site_count; /* of wrenches.c; 0: not looked for yet, or none */
    bo_cook_site *sites;
    double *wrench_answers; /* site_count x 6 x n: static responses to unit forces, then torques */

    int32_t r;
    double *U; /* n x r, row-major (scalar i of the mesh, coordinate l): zero where held */

    double times[BOUGH_COOK_PHASE_COUNT], phase_begin;
    bough_cook_phase phase;
    bool clock_running;
} bo_cook;

/* load_case as in bough_cook(). Close also after open failed. */
bough_status bo_cook_open(bough_context *ctx, const bough_body *body, const bough_load_case *load_case,
                          const bough_cook_def *def, bo_cook *cook);
void bo_cook_close(bo_cook *cook);

/* The time from now on belongs to this phase. */
void bo_cook_clock(bo_cook *cook, bough_cook_phase phase);
/* Tells how far the phase is, 0 .. 1; false: cancelled. */
bool bo_cook_progress(bo_cook *cook, double within);
/* The same with numbers of the phase's own. */
bool bo_cook_tell(bo_cook *cook, double within, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Memory released when cooking ends; NULL with a message on failure. */
void *bo_cook_alloc(bo_cook *cook, size_t count, size_t size);
#define BO_COOK_ARRAY(cook, type, count) ((type *)bo_cook_alloc((cook), (size_t)(count), sizeof(type)))

/* y = M x for the body's own mass (x, y: count x n, one vector after the other). */
void bo_cook_mass(const bo_cook *cook, const double *x, double *y, int32_t count);
/* y += what the interfaces carry, times x. */
void bo_cook_add_loads(const bo_cook *cook, const double *x, double *y);
/* Takes the rigid motions out of x when the body flies free (orthogonal in the body's own mass: mean axes). scratch: n
 */
void bo_cook_remove_rigid(const bo_cook *cook, double *x, double *scratch);
/* x = K^-1 b at rest for `count` right-hand sides of n. Held unknowns are 0. A free body: the response orthogonal to
 * rigid motions, to b without its rigid part. b is destroyed. */
bough_status bo_cook_solve(bo_cook *cook, double *b, double *x, int32_t count);

/* cook->boundary with boundary_vertices and boundary_faces, as bough_mesh_surface() makes them: the cook's. */
bough_status bo_cook_boundary(bo_cook *cook);
/* Weights of vertices by area, sum 1. */
bough_status bo_cook_weights(bo_cook *cook, int32_t count, const int32_t *vertices, bool patch, double *weights);
/* Q (3 vertex_count x 6) with the interface's rigid motion (translation, rotation) = Q^T u in the least-squares sense.
 */
bough_status bo_cook_rigid_fit(bo_cook *cook, const bough_interface *face, double *Q);
/* Finds how the interface's bending follows displacements: 6 numbers (xx yy zz yz xz xy) for each vertex, the same for
 * all directions. */
void bo_cook_bends(const bo_cook *cook, const bough_interface *face, double *bends);
/* C = sum w d d^T of its vertices, in mesh coordinates, about its centre. */
bo_mat3 bo_cook_spread(const bo_cook *cook, const bough_interface *face);

/* Gradients of all basis functions at quadrature point p (of the stiffness rule) of an element: G[(3 i + j) r + l]. */
void bo_cook_gradient(const bo_cook *cook, int32_t element, int32_t point, double *G);
/* The same for any fields (n x count, row-major). */
void bo_cook_field_gradient(const bough_body *body, int32_t element, int32_t point, int32_t count, const double *fields,
                            double *G);

/* Begins with the point farthest from the mean; each next one is farthest from those chosen before. Returns how many
 * were found: fewer than wanted when the points are not all different. distance: scratch of count. */
int32_t bo_farthest_points(int32_t count, int32_t dimension, const double *points, int32_t wanted, int32_t *chosen,
                           double *distance);

/* ---- phases ---- */
bough_status bo_cook_setup(bo_cook *cook);      /* setup.c: checks, supports, interfaces, masses */
bough_status bo_cook_interfaces(bo_cook *cook); /* interfaces.c: geometry; before the basis */
bough_status bo_cook_frames(bo_cook *cook);     /* interfaces.c: how they follow q; after the basis */
bough_status bo_cook_basis(bo_cook *cook);      /* basis.c */
bough_status bo_cook_polynomial(bo_cook *cook); /* polynomial.c: draft.K, draft.quartic */
/* polynomial.c: the energy as if all materials but linear ones were stvk with the same Lame constants, into t
 * (bo_quartic_count). Small strains agree. */
bough_status bo_cook_surrogate(bo_cook *cook, double *t);
bough_status bo_cook_stiffness(bo_cook *cook); /* polynomial.c: draft.K alone */
bough_status bo_cook_cubature(bo_cook *cook);  /* cubature.c: draft.cubature and its quality */
bough_status bo_cook_inertia(bo_cook *cook);   /* inertia.c */
bough_status bo_cook_samples(bo_cook *cook);   /* samples.c: draft.wind, contact, stress, field */
bough_status bo_cook_stress(bo_cook *cook);    /* stress.c: draft.stress, draft.field */
bough_status bo_cook_surface(bo_cook *cook);   /* surface.c: draft.surface, draft.volume */
bough_status bo_cook_wire(bo_cook *cook);      /* wire.c: draft.wire, after the surface */
bough_status bo_cook_joints(bo_cook *cook);    /* joints.c: draft.joints, draft.foot, with the factor of K */
bough_status bo_cook_quality(bo_cook *cook);   /* quality.c: draft.quality, of the finished draft */

/* ---- measures of displacements: quality.c ---- */

/* The vertex farthest from the origin that can move. */
size_t bo_cook_far_vertex(const bo_cook *cook);
/* Largest strain and angle of small displacements u (n), at the first point of each element. */
double bo_cook_largest_strain(const bo_cook *cook, const double *u);
double bo_cook_largest_turn(const bo_cook *cook, const double *u);

/* ---- equilibrium.c ---- */

/* dE/dq = load, sought from q; false when it is not found: q is then where the search ended. */
bool bo_reduced_equilibrium(const bough_component *c, const double *load, double *q, double *scratch);
size_t bo_equilibrium_scratch(const bough_component *c); /* doubles */

/* ---- resume.c ---- */

/* Keeps the modes or the basis in def->resume_path, as far as there is one and they are done. */
void bo_cook_leave(bo_cook *cook);
/* Finds what was left for the same inputs; true: the basis is complete. */
bool bo_cook_resume(bo_cook *cook);
/* Removes what was left. */
void bo_cook_forget(bo_cook *cook);

/* ---- poses.c: repeatable random coordinates for training and testing ---- */

typedef struct bo_pose_random {
    uint64_t state;
} bo_pose_random;
/* Uniform in (0, 1]. */
double bo_pose_uniform(bo_pose_random *random);
/* Coordinates with about the same energy in every one (Gaussian, 1/sqrt(K_ll)), scaled so that the largest
 * displacement of a vertex is a uniform fraction (0.1 .. 1) of pose_amplitude times the body's size; made smaller until
 * no element is inverted in a material that forbids it. Needs U and draft.K. */
bough_status bo_cook_pose(bo_cook *cook, bo_pose_random *random, double *q);
/* Coordinates that occur: the equilibrium of `like`, a component with the same coordinates, under random forces
 * (Gaussian, of the same size for all) that would move it as far by small displacements. Where none is found, as above.
 */
bough_status bo_cook_settled_pose(bo_cook *cook, const bough_component *like, bo_pose_random *random, double *q);
/* Halves q and u = U q until all elements are in their material's domain. */
bough_status bo_cook_shrink(bo_cook *cook, double *q, double *u);
/* The farthest that u (n) moves a vertex. */
double bo_cook_largest(const bo_cook *cook, const double *u);
/* u = U q (n) */
void bo_cook_displace(const bo_cook *cook, const double *q, double *u);
/* U^T f (r) */
void bo_cook_project(const bo_cook *cook, const double *f, double *reduced);

#endif
