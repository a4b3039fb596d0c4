/* Inside view of the full-order body. */
#ifndef BO_FEM_BODY_H
#define BO_FEM_BODY_H

#include "fem/pattern.h"
#include "fem/shape.h"
#include "material/elastic.h"

#include <bough/fem.h>

/* Inverse Jacobian d(natural)/dX (row-major) and weight * det J at one quadrature point of one element. */
typedef struct bo_point_geometry {
    double inverse[9];
    double weight;
} bo_point_geometry;

typedef struct bo_pressure_face {
    int32_t face; /* element * face_count + local face */
    double pressure;
} bo_pressure_face;

/* Nothing in it changes after bough_body_create(). */
struct bough_body {
    bough_mesh *mesh;
    bough_body_def def; /* regions and names are not kept: see elastic and density */

    int32_t material_count;
    bough_material *materials; /* material_count */
    bo_elastic *elastic;       /* material_count */
    double *density, *young;   /* material_count */
    int32_t *element_material; /* element_count */

    const bo_rule *rule;         /* stiffness */
    bo_point_geometry *geometry; /* element_count x rule->point_count */
    bo_pattern *pattern;

    unsigned char *used; /* vertex_count: 1 where the vertex is in an element; the others are always held */

    bough_load_case *free_case; /* nothing is held, nothing acts: stands for a load case that is NULL */
};

/* Supports and loads of one body. */
struct bough_load_case {
    const bough_body *body;
    unsigned char *fixed; /* 3 vertex_count: 1 where the degree of freedom is held; so are vertices in no element */
    double *prescribed;   /* 3 vertex_count: displacement there */
    int32_t fixed_count;
    double gravity[3];
    double *point_force; /* 3 vertex_count */
    bo_pressure_face *pressure;
    size_t pressure_count, pressure_capacity;
};

/* *used becomes load_case, or body->free_case for NULL. Fails when it was made for another body. */
bough_status bo_load_case_of(bough_context *ctx, const bough_body *body, const bough_load_case *load_case,
                             const bough_load_case **used);

static inline int32_t bo_body_size(const bough_body *body) {
    return 3 * body->mesh->vertex_count;
}

/* Adds a 3x3 block (row-major, the contribution of local nodes a, b of element e) to A. */
void bo_scatter_block(const bo_pattern *pattern, const bough_mesh *mesh, int32_t element, int32_t a, int32_t b,
                      const double block[9], bough_sparse *A);

/* Adds scale times the symmetric part of -d(pressure force)/du to A (to be used in a Newton matrix). */
void bo_body_pressure_tangent(const bough_body *body, size_t count, const bo_pressure_face *faces, const double *u,
                              double scale, bough_sparse *A);
void bo_body_pressure_force(const bough_body *body, size_t count, const bo_pressure_face *faces, const double *u,
                            double *force);

/* Number of independent rigid motions of the rest shape that are left when the degrees of freedom marked in `fixed`
 * (3 vertex_count) are held, summed over its connected pieces. */
bough_status bo_body_rigid_motions(bough_context *ctx, const bough_body *body, const unsigned char *fixed,
                                   int32_t *count);

/* The mass matrix is the same number for x, y and z of two vertices: m_ab alone (vertex_count square), and A += scale
 * (m (x) I3) for a matrix with the body's pattern. */
bough_status bo_body_scalar_mass(bough_context *ctx, const bough_body *body, bough_sparse **m);
void bo_body_add_mass(const bough_sparse *m, double scale, bough_sparse *A);
/* y = (m (x) I3) x for `count` vectors one after the other; held unknowns (may be NULL) are zero on both sides.
 * scratch: bo_mass_scratch() doubles. y is not x. */
size_t bo_mass_scratch(const bough_sparse *m);
void bo_mass_multiply(const bough_sparse *m, const unsigned char *held, double *scratch, const double *x, double *y,
                      int32_t count);

/* Adds `force`, shared out as by bough_load_case_add_force(), to `out`. */
bough_status bo_body_share_force(bough_context *ctx, const bough_body *body, const int32_t *vertices, int32_t count,
                                 const double force[3], double *out);
/* Adds the weight of the body under `gravity` to `force`. */
void bo_body_gravity_force(const bough_body *body, const double gravity[3], double *force);
/* Sets `force` to the loads that do not depend on the displacement: the load case's point forces, and the weight under
 * `gravity`, which need not be the load case's. */
void bo_load_case_dead_loads(const bough_load_case *load_case, const double gravity[3], double *force);

/* About the lowest flexible eigenvalue, 1/s^2. */
double bo_body_typical_eigenvalue(const bough_body *body, const bough_body_properties *p);

/* Cauchy stress (xx yy zz yz xz xy) of one element, at its mean F; BOUGH_NOT_FINITE when it is inverted and must not
 * be. */
bough_status bo_body_element_stress(bough_context *ctx, const bough_body *body, int32_t element, const double *u,
                                    double stress[6]);

/* The same; false when it is inverted. */
bool bo_body_try_stress(const bough_body *body, int32_t element, const double *u, double stress[6]);

/* m^3 */
double bo_body_volume(const bough_body *body);

/* sum over a_i b_i */
double bo_dot_n(int32_t n, const double *a, const double *b);

#endif
