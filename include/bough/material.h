/* Elastic materials: how energy depends on the deformation gradient. Plain data; the functions have no state and may be
 * called from any thread. <bough/base.h> has the rules on failure. */
#ifndef BOUGH_MATERIAL_H
#define BOUGH_MATERIAL_H

#include <bough/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Model, name in files and on the command line, one line about it. lambda, mu: Lamé's constants; F = R S; J = det F;
 * e = (F + F^T)/2 - I; E = (F^T F - I)/2; I1 = tr(F^T F). Equations: docs/theory/materials.md */
#define BOUGH_MATERIAL_LIST(X)                                                                             \
    X(LINEAR, "linear", "small displacements: mu e:e + lambda/2 tr(e)^2")                                  \
    X(COROTATED, "corotated", "rotations taken out: mu |F-R|^2 + lambda/2 tr(S-I)^2")                      \
    X(STVK, "stvk", "St. Venant-Kirchhoff, large rotations: mu E:E + lambda/2 tr(E)^2")                    \
    X(NEO_HOOKEAN, "neo-hookean", "never inverts: mu/2 (I1-3) - mu log J + lambda/2 log(J)^2")             \
    X(STABLE_NEO_HOOKEAN, "stable-neo-hookean", "neo-Hookean that survives inversion (Smith et al. 2018)") \
    X(MOONEY_RIVLIN, "mooney-rivlin", "rubber: C10, C01 with isochoric invariants, bulk term K/2 (J-1)^2") \
    X(ARAP, "arap", "as rigid as possible: mu |F-R|^2")

typedef enum bough_material_model {
#define BOUGH_MATERIAL_ENUM(name, text, about) BOUGH_MATERIAL_##name,
    BOUGH_MATERIAL_LIST(BOUGH_MATERIAL_ENUM)
#undef BOUGH_MATERIAL_ENUM
        BOUGH_MATERIAL_MODEL_COUNT
} bough_material_model;

/* All models take Young's modulus and Poisson's ratio and agree with linear elasticity for small strains
 * (arap: with lambda = 0). */
typedef struct bough_material {
    uint32_t cookie;
    bough_material_model model;
    double young;         /* Pa, > 0 */
    double poisson;       /* -1 < nu < 0.5 */
    double density;       /* kg/m^3, > 0 */
    double mooney_ratio;  /* C01 / (C10 + C01), 0..1, for mooney-rivlin */
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_material;

/* Returns soft rubber: stvk, 1 MPa, 0.4, 1000 kg/m^3. */
BOUGH_API bough_material bough_default_material(void);
/* BOUGH_ERROR_ARGUMENT when a constant is out of range or the material was not made by bough_default_material(). */
BOUGH_API bough_status bough_material_check(bough_context *ctx, const bough_material *material);
/* Return the name and the line about it from the list above: static texts. The model must be one of the list. */
BOUGH_API const char *bough_material_name(bough_material_model model);
BOUGH_API const char *bough_material_about(bough_material_model model);
/* Finds the model of a name. BOUGH_ERROR_ARGUMENT with a suggestion when the name is unknown. */
BOUGH_API bough_status bough_material_find(bough_context *ctx, const char *name, bough_material_model *model);

/* ---- stress: xx yy zz yz xz xy ---- */

/* Returns the uniaxial tension that is as severe: sqrt(3/2) |s - tr(s)/3 I|. */
BOUGH_API double bough_von_mises(const double stress[6]);
/* Computes the principal stresses, the largest tension first, and the unit vectors along which they act, one after the
 * other (directions may be NULL). If two stresses are equal, the vectors are any two directions of their plane. */
BOUGH_API void bough_principal_stresses(const double stress[6], double values[3], double directions[9]);

#ifdef __cplusplus
}
#endif

#endif
