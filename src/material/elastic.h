/* Energy density, first Piola stress and tangent of a material at one point. */
#ifndef BO_MATERIAL_ELASTIC_H
#define BO_MATERIAL_ELASTIC_H

#include "base/vec.h"

#include <bough/material.h>

/* Constants derived once from a bough_material. */
typedef struct bo_elastic {
    bough_material_model model;
    double lambda, mu; /* Lamé */
    double a, b, c;    /* of the model: see elastic.c */
} bo_elastic;

bo_elastic bo_elastic_of(const bough_material *material);

/* psi: energy density (J/m^3). P = dpsi/dF. C[9 (3i+j) + 3k+l] = dP_ij/dF_kl, symmetric 9 x 9. P and C may be NULL.
 * False when F is outside of the model's domain (J <= 0 where the energy has log J): outputs are then undefined. */
bool bo_elastic_eval(const bo_elastic *e, const bo_mat3 *F, double *psi, bo_mat3 *P, double *C);

/* Cauchy stress P F^T / J (xx yy zz yz xz xy); of the linear model P. False as above. */
bool bo_elastic_cauchy(const bo_elastic *e, const bo_mat3 *F, double stress[6]);

/* True when the energy does not change under F -> Q F for rotations Q (all but linear). */
static inline bool bo_elastic_is_objective(bough_material_model model) {
    return model != BOUGH_MATERIAL_LINEAR;
}

#endif
