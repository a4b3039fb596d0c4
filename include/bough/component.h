/* The component: a body reduced to r coordinates q, with u = U q. Cooking (<bough/reduce.h>) makes it, a .bough file
 * holds it (docs/component-format.md), and the engines step it.
 *
 * A component is immutable and may be shared by any number of threads; all its arrays belong to it. Positions and
 * moments are in the component's frame: axes of the mesh, origin at the centre of the interface by which it hangs (see
 * bough_component.origin).
 * */
#ifndef BOUGH_COMPONENT_H
#define BOUGH_COMPONENT_H

#include <bough/material.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Most coordinates of a component with each elastic model; beyond them the tables outgrow any cache. */
enum { BOUGH_MAX_COORDINATES = 512, BOUGH_MAX_POLYNOMIAL_COORDINATES = 64 };

typedef enum bough_reduced_elastic {
    BOUGH_REDUCED_RIGID,      /* r = 0 */
    BOUGH_REDUCED_LINEAR,     /* f = K q */
    BOUGH_REDUCED_POLYNOMIAL, /* St. Venant-Kirchhoff, exact: a quartic energy */
    BOUGH_REDUCED_CUBATURE    /* any material: a weighted sum over few points */
} bough_reduced_elastic;

typedef enum bough_component_support {
    BOUGH_SUPPORT_INTERFACE, /* hangs by the interface `parent`, where U = 0 */
    BOUGH_SUPPORT_FIXED,     /* a root, held at fixed vertices */
    BOUGH_SUPPORT_FREE       /* a free-flying root in mean axes: the origin is the centre of mass */
} bough_component_support;

/* A place where something can be attached. Its centre moves to centre + sum_l q_l translation_l; its rotation is the
 * rotation nearest to A(q) = A_0 + sum_l q_l A_l (signed polar decomposition), which is exact for rigid motions:
 *   A = B / tr C,  C = sum_k w_k d_k d_k^T,  B = sum_k w_k (x_k - x) d_k^T,  d_k = X_k - centre */
typedef struct bough_interface {
    const char *name;
    double centre[3];
    double radius;             /* sqrt(tr C): root mean square distance of the vertices from the centre, m */
    const double *translation; /* r x 3 */
    const double *A;           /* (r + 1) x 9, A_0 first, row-major */
    const double *bend;        /* (r + 1) x 18, that at rest first: sum w x_i (d_j d_k - C_jk) / radius^3 with
                                * d = X - centre and C the mean of d d^T; rows i, columns jk as in strains. NULL:
                                * unknown */
    int32_t vertex_count;
    const int32_t *vertices; /* of the volume mesh */
    const double *weights;   /* positive, sum 1 */
} bough_interface;

/* Points of the surface at which wind or contact acts. */
typedef struct bough_sample_points {
    int32_t count;
    const double *position; /* count x 3, at rest */
    const double *normal;   /* count x 3: wind: area vector, m^2 (outward); contact: unit normal */
    const double *area;     /* count: wind: m^2 of the surface it stands for; NULL for contact */
    const double *U;        /* count x 3 x r: displacement is sum_l U[.][.][l] q_l */
} bough_sample_points;

/* Points inside of the material: F = I + sum_l q_l gradient_l. At a stress point F is the mean of its element. */
typedef struct bough_material_points {
    int32_t count;
    const double *weight;    /* count, m^3, for cubature; NULL for stress points */
    const double *position;  /* count x 3, for stress points; NULL for cubature */
    const int32_t *element;  /* count: element of the volume mesh */
    const int32_t *material; /* count: index into materials */
    const double *gradient;  /* count x 9 x r: d u_i / d X_j in row 3 i + j */
} bough_material_points;

/* Gauges: corrections of the strain near interfaces, where a part is strained by its own strain elsewhere and by its
 * parent. Gauges are Green's strains (xx yy zz yz xz xy) at `count` points of the component, and then the seam: how the
 * parent's interface is strained, S - S_0 with A = R S, and how it is bent, R^T bend - bend_0. Strain at stress point i
 * is that of its F plus D_i times the gauges. */
enum { BOUGH_MAX_GAUGES = 12, BOUGH_SEAM = 24 };
typedef struct bough_stress_gauges {
    int32_t count;          /* number of points; 0: there are no gauges, and strain is that of F */
    const double *gradient; /* count x 9 x r, as for stress points */
    const double *D;        /* stress.count x 6 x (6 count + BOUGH_SEAM) */
} bough_stress_gauges;

/* The field of stress over the surface, to draw: F = I + sum_l q_l gradient_l at points spread over the boundary, each
 * the mean of the material around it. Values between them are bough_tree_state_surface_stress()'s. */
enum { BOUGH_MAX_FIELD_POINTS = 1024 };
typedef struct bough_stress_field {
    int32_t count;           /* 0: none was cooked */
    const double *position;  /* count x 3, at rest */
    const int32_t *material; /* count: index into materials */
    const float *gradient;   /* count x 9 x r: d u_i / d X_j in row 3 i + j */
} bough_stress_field;

/* The surface to draw, float32. U comes in panels of 16 consecutive scalars (x y z of vertex 0, 1, ...; zeros behind
 * the last): panel p, coordinate l, scalar i at [(p r + l) 16 + i]. Exactly one of U and U16 is there when r > 0;
 * U16 times scale[l] is U. */
typedef struct bough_surface {
    int32_t vertex_count, triangle_count;
    const float *position; /* vertex_count x 3, at rest */
    const int32_t *triangles;
    const int32_t *mesh_vertex; /* vertex_count: vertex of the volume mesh that it is, or -1 when it is embedded */
    const float *U;
    const int16_t *U16;
    const float *scale; /* r */
} bough_surface;

/* The edges of the volume mesh, to be drawn, float32. Ends below surface.vertex_count are vertices of the surface; then
 * come those vertices of the mesh that the surface does not have. */
typedef struct bough_wire {
    int32_t vertex_count, edge_count;
    const float *position; /* vertex_count x 3, at rest */
    const float *U;        /* vertex_count x 3 x r */
    const int32_t *edges;  /* edge_count x 2 */
} bough_wire;

/* The volume mesh and the whole basis, when asked for at cooking: for comparisons with full order. */
typedef struct bough_component_volume {
    int32_t type; /* bough_element_type */
    int32_t vertex_count, element_count;
    const double *position;  /* vertex_count x 3 */
    const int32_t *elements; /* element_count x nodes */
    const double *U;         /* 3 vertex_count x r, row-major; NULL without volume */
} bough_component_volume;

/* The deformation of the interfaces, from which Bough predicts the errors that a tree makes because its interfaces are
 * rigid. docs/theory/reduction.md, "Interfaces that deform", has the functions that each interface has; `joints` are
 * the interfaces that carry most. */
enum { BOUGH_JOINT_FUNCTIONS = 12, BOUGH_JOINT_GEOMETRY = 45, BOUGH_MAX_JOINTS = 10 };
typedef struct bough_component_joints {
    int32_t count;
    const int32_t *interface_index; /* count */
    const double *geometry;         /* count x BOUGH_JOINT_GEOMETRY: directions, moments */
    const double *flexibility;      /* (12 count) x (12 count), m/N: motion along functions by forces along functions */
    const double *U;                /* (12 count) x r: how the coordinates deform the interfaces */
} bough_component_joints;
/* The same for the interface by which the component hangs; all NULL if there is none. */
typedef struct bough_component_foot {
    const double *geometry;  /* BOUGH_JOINT_GEOMETRY */
    const double *stiffness; /* 12 x 12, N/m: forces along functions that deform the foot by them */
    const double *inertia;   /* 12 x 6, kg and kg m: forces along functions by unit accelerations of its frame */
    const double *U;         /* 12 x r: the same by accelerations of the coordinates */
    const double *passes;    /* 12 x (6 joints.count): motion of the joints when the foot deforms by a function */
} bough_component_foot;

/* Measures of how good the component is; NAN if it was not measured. Errors are relative. */
#define BOUGH_QUALITY_LIST(X)                                                                                      \
    X(force_random, "reduced against projected full force, random poses (worst)")                                  \
    X(force_gravity, "the same at the equilibrium under weight")                                                   \
    X(force_impulse, "the same after small blows at the far end (worst)")                                          \
    X(response_gravity, "reduced against full equilibrium under weight (mass norm)")                               \
    X(response_moderate, "the same under a weight that bends it two fifths as far")                                \
    X(projection_gravity, "part of the full equilibrium under weight that U cannot show (mass norm)")              \
    X(projection_impulse, "the same after blows at the heaviest interface or the free end, of the largest motion") \
    X(wrench_error, "part of its work that the worst unit force or torque at an interface does in vain")           \
    X(load_error, "the same, by what hangs there and of what the softest of its kind does (worst)")                \
    X(basis_error, "part of the weighted candidate columns that was left out (mass norm)")                         \
    X(energy_captured, "squared singular values kept, of all candidates")                                          \
    X(interface_deviation, "worst rms departure of an interface from rigid motion in these poses, of its radius")  \
    X(cubature_training, "force error of the cubature on its training poses (rms)")                                \
    X(cubature_test, "force error of the cubature on poses it was not trained on (rms)")

/* A unit force or torque at an interface. */
typedef struct bough_unit_wrench {
    int32_t interface_index; /* -1: the free end of a component that has no interface beside its parent's */
    bool torque;
    double axis[3]; /* unit vector, component's axes */
} bough_unit_wrench;

typedef struct bough_component_quality {
#define BOUGH_QUALITY_FIELD(name, about) double name;
    BOUGH_QUALITY_LIST(BOUGH_QUALITY_FIELD)
#undef BOUGH_QUALITY_FIELD
    bough_unit_wrench wrench; /* the worst, whose error is wrench_error */
    int32_t mode_count;
    const double *full_hz;    /* mode_count: frequencies of the full body with the basis's loads and supports */
    const double *reduced_hz; /* mode_count: frequencies of the component */
} bough_component_quality;

typedef struct bough_component {
    int32_t r;
    bough_reduced_elastic elastic;
    bough_component_support support;
    int32_t parent; /* interface by which it hangs, or -1 */

    double origin[3]; /* origin of the component's frame, in mesh coordinates */
    /* Inertia about the origin: with u = U q and X at rest, integrals over the mass,
     *   mc0 = int X, Sigma0 = int X X^T, s_l = int U_l, W5_l = int U_l X^T, W7_lp = int U_l U_p^T.
     * The reduced mass matrix is M_lp = tr W7_lp. */
    double mass;
    double mc0[3], Sigma0[9];
    const double *s;                        /* r x 3 */
    const double *W5;                       /* r x 9 */
    const double *W7;                       /* r x r x 9 */
    double damping_mass, damping_stiffness; /* Rayleigh: D = damping_mass M + damping_stiffness K(0) */

    const double *K;       /* r x r: d2E/dq2 at rest; all elastic models */
    const double *quartic; /* polynomial: see docs/component-format.md#polynomial */
    bough_material_points cubature;
    int32_t material_count;
    const bough_material *materials;

    int32_t interface_count;
    const bough_interface *interfaces;
    bough_sample_points wind, contact;
    bough_material_points stress;
    bough_stress_gauges gauges;
    bough_stress_field field;
    bough_surface surface;
    bough_wire wire;
    bough_component_volume volume;
    bough_component_joints joints;
    bough_component_foot foot;

    bough_component_quality quality;
    const char *provenance; /* JSON: program version, hash of the inputs, options */
    uint64_t input_hash;    /* hash of everything that went into cooking */
    const void *image;      /* the bytes of the .bough file */
    size_t image_size;
} bough_component;

/* Maps the file and checks all of it: structure, checksums, sizes, finiteness, symmetry, definiteness, ranges. The file
 * may be replaced or deleted while the component lives, as bough_component_save() and most programs do, but not written
 * into or cut short: the checks would no longer hold, and reading beyond the new end is a bus error. If that cannot be
 * promised, read the bytes and use bough_component_read(). BOUGH_ERROR_FILE, BOUGH_ERROR_FORMAT, or
 * BOUGH_ERROR_UNSUPPORTED for another version of the format. */
BOUGH_API bough_status bough_component_load(bough_context *ctx, const char *path, bough_component **component);
/* The same from memory; the bytes are copied. */
BOUGH_API bough_status bough_component_read(bough_context *ctx, const void *bytes, size_t size,
                                            bough_component **component);
/* Writes the .bough file, which appears under its name only when it is complete. */
BOUGH_API bough_status bough_component_save(bough_context *ctx, const bough_component *component, const char *path);
BOUGH_API void bough_component_destroy(bough_context *ctx, bough_component *component);

/* The four verdicts that sum up the quality: relative errors, NAN if nothing was measured. */
typedef enum bough_verdict {
    BOUGH_VERDICT_FREQUENCIES, /* frequencies of the lower half of the modes */
    BOUGH_VERDICT_FORCES,      /* elastic forces in poses in which the basis can follow the full body */
    BOUGH_VERDICT_MOTION,      /* motion under a weight that bends it moderately, and after blows */
    BOUGH_VERDICT_LOADS,       /* forces and torques at the interfaces */
    BOUGH_VERDICT_COUNT
} bough_verdict;
typedef enum bough_grade { BOUGH_GRADE_POOR, BOUGH_GRADE_FAIR, BOUGH_GRADE_GOOD } bough_grade;
/* Returns the error that a verdict is about. */
BOUGH_API double bough_component_error(const bough_component *component, bough_verdict verdict);
/* Returns the grade of such an error; good if nothing was measured. */
BOUGH_API bough_grade bough_verdict_grade(bough_verdict verdict, double error);
/* Returns the verdict that is farthest beyond what is fair, and its error; NAN for a rigid component. */
BOUGH_API bough_verdict bough_component_worst(const bough_component *component, double *error);
/* The same for a part whose bending is only this share of its motion in the scene: its errors of motion and of loads
 * are multiplied by the share. */
BOUGH_API bough_verdict bough_component_worst_in_scene(const bough_component *component, double share, double *error);

/* Returns the index of the interface of that name; -1 when there is none. */
BOUGH_API int32_t bough_component_find_interface(const bough_component *component, const char *name);

/* Returns the number of doubles of scratch that the functions below need. */
BOUGH_API size_t bough_component_scratch(const bough_component *component);
/* Computes the elastic energy E, its gradient dE/dq (r) and Hessian (r x r, both triangles) at q; outputs may be NULL.
 * False when a cubature point is inverted in a material that forbids it: outputs are then undefined. */
BOUGH_API bool bough_component_evaluate(const bough_component *component, const double *q, double *scratch,
                                        double *energy, double *gradient, double *hessian);
/* Computes the gradient at q and the product of the Hessian there with v (r each), for polynomials in about half the
 * time of the Hessian. False as above. */
BOUGH_API bool bough_component_product(const bough_component *component, const double *q, const double *v,
                                       double *scratch, double *gradient, double *product);
/* Returns the floating-point operations of one evaluation of gradient and Hessian. */
BOUGH_API double bough_component_operations(const bough_component *component);

/* Computes the position of an interface's centre and its rotation (row-major) at q, in the component's frame. False
 * when the interface is crushed to a line. */
BOUGH_API bool bough_component_interface_frame(const bough_component *component, int32_t interface_index,
                                               const double *q, double centre[3], double rotation[9]);
/* Computes the Cauchy stress (xx yy zz yz xz xy, in the component's frame) at stress point i and von Mises' equivalent,
 * for a component whose parent is not strained; either may be NULL. False when the point is inverted.
 * bough_principal_stresses() of <bough/material.h> takes the stress further apart. */
BOUGH_API bool bough_component_stress(const bough_component *component, int32_t i, const double *q, double stress[6],
                                      double *von_mises);
/* Computes the positions of the surface's vertices at q, in the component's frame: vertex_count x 3. */
BOUGH_API void bough_component_surface_positions(const bough_component *component, const double *q, float *positions);

#ifdef __cplusplus
}
#endif

#endif
