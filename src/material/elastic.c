#include "material/elastic.h"
#include "base/polar.h"

/* In this file an index pair (i,j) of a 3x3 matrix is the single index 3i+j, and C is a row-major 9 x 9 matrix. */

static bool eval_linear(const bo_elastic *e, const bo_mat3 *F, double *psi, bo_mat3 *P, double *C) {
    bo_mat3 s = bo_mat_sub(bo_sym(*F), bo_identity3());
    double t = bo_trace(s);
    *psi = e->mu * bo_contract(s, s) + 0.5 * e->lambda * t * t;
    if (P) {
        *P = bo_mat_scale(2 * e->mu, s);
        for (int i = 0; i < 3; i++)
            P->m[4 * i] += e->lambda * t;
    }
    if (C)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < 3; k++)
                    for (int l = 0; l < 3; l++)
                        C[9 * (3 * i + j) + 3 * k + l] =
                            e->lambda * (i == j && k == l) + e->mu * ((i == k && j == l) + (i == l && j == k));
    return true;
}

/* S = 2 mu E + lambda tr(E) I, P = F S,
 * dP_ij/dF_kl = d_ik S_lj + lambda F_ij F_kl + mu (F_il F_kj + (F F^T)_ik d_jl). */
static bool eval_stvk(const bo_elastic *e, const bo_mat3 *F, double *psi, bo_mat3 *P, double *C) {
    const double lambda = e->lambda, mu = e->mu, *f = F->m;
    bo_mat3 E = bo_mat_tmul(*F, *F);
    for (int i = 0; i < 9; i++)
        E.m[i] = 0.5 * (E.m[i] - (i % 4 == 0));
    double t = bo_trace(E);
    *psi = mu * bo_contract(E, E) + 0.5 * lambda * t * t;
    if (!P && !C)
        return true;
    bo_mat3 S = bo_mat_scale(2 * mu, E);
    for (int i = 0; i < 3; i++)
        S.m[4 * i] += lambda * t;
    if (P)
        *P = bo_mat_mul(*F, S);
    if (!C)
        return true;
    bo_mat3 B = bo_mat_mul(*F, bo_transpose(*F));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double *row = C + 9 * (3 * i + j);
            const double lf = lambda * f[3 * i + j];
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++)
                    row[3 * k + l] = lf * f[3 * k + l] + mu * f[3 * i + l] * f[3 * k + j];
            for (int k = 0; k < 3; k++)
                row[3 * k + j] += mu * B.m[3 * i + k];
            for (int l = 0; l < 3; l++)
                row[3 * i + l] += S.m[3 * l + j];
        }
    return true;
}

/* psi = mu |F-R|^2 + lambda/2 (tr S - 3)^2, P = 2 mu (F-R) + lambda (tr S - 3) R; R varies with
 * dR = R d~, d = (tr(S) I - S)^-1 2 skew(R^T dF), and d tr S = R : dF. Covers arap with lambda = 0. */
static bool eval_corotated(const bo_elastic *e, const bo_mat3 *F, double *psi, bo_mat3 *P, double *C) {
    bo_mat3 R, S;
    bo_polar(*F, &R, &S);
    bo_mat3 D = bo_mat_sub(*F, R);
    double t = bo_trace(S) - 3;
    *psi = e->mu * bo_contract(D, D) + 0.5 * e->lambda * t * t;
    if (P)
        *P = bo_mat_add(bo_mat_scale(2 * e->mu, D), bo_mat_scale(e->lambda * t, R));
    if (!C)
        return true;
    for (int column = 0; column < 9; column++) {
        bo_mat3 dF = {{0}};
        dF.m[column] = 1;
        bo_mat3 dR;
        bo_polar_derivative(R, S, dF, &dR);
        const double spread = e->lambda * t - 2 * e->mu, grow = e->lambda * R.m[column];
        for (int i = 0; i < 9; i++)
            C[9 * i + column] = spread * dR.m[i] + grow * R.m[i];
        C[10 * column] += 2 * e->mu;
    }
    return true;
}

/* ---- materials that are functions of I1 = tr C, I2 = (I1^2 - tr C^2)/2 and J, with C = F^T F ---- */

typedef struct {
    double psi;
    double d1, d2, dJ;         /* derivatives with respect to I1, I2, J */
    double d11, d1J, d2J, dJJ; /* second derivatives; d12 = d22 = 0 for all models here */
} invariant_energy;

static bool neo_hookean(const bo_elastic *e, double I1, double J, invariant_energy *w) {
    if (!(J > 0))
        return false;
    double logJ = log(J);
    *w = (invariant_energy){.psi = 0.5 * e->mu * (I1 - 3) - e->mu * logJ + 0.5 * e->lambda * logJ * logJ,
                            .d1 = 0.5 * e->mu,
                            .dJ = (e->lambda * logJ - e->mu) / J,
                            .dJJ = (e->lambda * (1 - logJ) + e->mu) / (J * J)};
    return true;
}

static bool stable_neo_hookean(const bo_elastic *e, double I1, double J, invariant_energy *w) {
    *w = (invariant_energy){.psi =
                                0.5 * e->a * (I1 - 3) + 0.5 * e->b * (J - e->c) * (J - e->c) - 0.5 * e->a * log(I1 + 1),
                            .d1 = 0.5 * e->a * (1 - 1 / (I1 + 1)),
                            .dJ = e->b * (J - e->c),
                            .d11 = 0.5 * e->a / ((I1 + 1) * (I1 + 1)),
                            .dJJ = e->b};
    /* Zero at rest: psi(I) = b/2 (1-c)^2 - a/2 log 4. */
    w->psi -= 0.5 * e->b * (1 - e->c) * (1 - e->c) - 0.5 * e->a * log(4.0);
    return true;
}

static bool mooney_rivlin(const bo_elastic *e, double I1, double I2, double J, invariant_energy *w) {
    if (!(J > 0))
        return false;
    double J23 = cbrt(1 / (J * J)), J43 = J23 * J23; /* J^-2/3, J^-4/3 */
    *w = (invariant_energy){.psi = e->a * (I1 * J23 - 3) + e->b * (I2 * J43 - 3) + 0.5 * e->c * (J - 1) * (J - 1),
                            .d1 = e->a * J23,
                            .d2 = e->b * J43,
                            .dJ = -2.0 / 3 * e->a * I1 * J23 / J - 4.0 / 3 * e->b * I2 * J43 / J + e->c * (J - 1),
                            .d1J = -2.0 / 3 * e->a * J23 / J,
                            .d2J = -4.0 / 3 * e->b * J43 / J,
                            .dJJ = 10.0 / 9 * e->a * I1 * J23 / (J * J) + 28.0 / 9 * e->b * I2 * J43 / (J * J) + e->c};
    return true;
}

/* C += s d2J/dFdF: the derivative of the cofactor, d cof_ij / dF_kl = eps_ikm eps_jln F_mn. */
static void add_cofactor_derivative(double s, const bo_mat3 *F, double *C) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int a = 1; a <= 2; a++)
                for (int b = 1; b <= 2; b++) {
                    int k = (i + a) % 3, m = (i + 3 - a) % 3, l = (j + b) % 3, n = (j + 3 - b) % 3;
                    C[9 * (3 * i + j) + 3 * k + l] += (a == b ? s : -s) * F->m[3 * m + n];
                }
}

/* C += s d2 I2/dFdF, from dI2 = 2 (I1 F - F F^T F):
 * 4 F_ij F_kl + 2 I1 d_ik d_jl - 2 (d_ik C_lj + F_il F_kj + B_ik d_jl), B = F F^T. */
static void add_second_invariant(double s, const bo_mat3 *F, const bo_mat3 *Cg, double I1, double *C) {
    bo_mat3 B = bo_mat_mul(*F, bo_transpose(*F));
    const double *f = F->m;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++)
                    C[9 * (3 * i + j) + 3 * k + l] +=
                        s *
                        (4 * f[3 * i + j] * f[3 * k + l] + 2 * I1 * (i == k && j == l) -
                         2 * ((i == k) * Cg->m[3 * l + j] + f[3 * i + l] * f[3 * k + j] + B.m[3 * i + k] * (j == l)));
}

/* C += s (a b^T + b a^T) / 2 */
static void add_symmetric_product(double s, const double *a, const double *b, double *C) {
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++)
            C[9 * i + j] += 0.5 * s * (a[i] * b[j] + b[i] * a[j]);
}

static bool eval_invariants(const bo_elastic *e, const bo_mat3 *F, double *psi, bo_mat3 *P, double *C) {
    bo_mat3 Cg = bo_mat_tmul(*F, *F); /* right Cauchy-Green tensor */
    double I1 = bo_trace(Cg), I2 = 0.5 * (I1 * I1 - bo_contract(Cg, Cg)), J = bo_det(*F);
    invariant_energy w;
    bool inside = e->model == BOUGH_MATERIAL_NEO_HOOKEAN     ? neo_hookean(e, I1, J, &w)
                  : e->model == BOUGH_MATERIAL_MOONEY_RIVLIN ? mooney_rivlin(e, I1, I2, J, &w)
                                                             : stable_neo_hookean(e, I1, J, &w);
    if (!inside)
        return false;
    *psi = w.psi;
    if (!P && !C)
        return true;
    bo_mat3 g1 = bo_mat_scale(2, *F), gJ = bo_cofactor(*F);
    bo_mat3 g2 = bo_mat_scale(2, bo_mat_sub(bo_mat_scale(I1, *F), bo_mat_mul(*F, Cg)));
    if (P)
        for (int i = 0; i < 9; i++)
            P->m[i] = w.d1 * g1.m[i] + w.d2 * g2.m[i] + w.dJ * gJ.m[i];
    if (!C)
        return true;
    for (int i = 0; i < 81; i++)
        C[i] = i % 10 == 0 ? 2 * w.d1 : 0;
    add_cofactor_derivative(w.dJ, F, C);
    add_symmetric_product(w.dJJ, gJ.m, gJ.m, C);
    if (w.d11 != 0)
        add_symmetric_product(w.d11, g1.m, g1.m, C);
    if (e->model == BOUGH_MATERIAL_MOONEY_RIVLIN) {
        add_second_invariant(w.d2, F, &Cg, I1, C);
        add_symmetric_product(2 * w.d1J, g1.m, gJ.m, C);
        add_symmetric_product(2 * w.d2J, g2.m, gJ.m, C);
    }
    return true;
}

bool bo_elastic_eval(const bo_elastic *e, const bo_mat3 *F, double *psi, bo_mat3 *P, double *C) {
    switch (e->model) {
    case BOUGH_MATERIAL_LINEAR:
        return eval_linear(e, F, psi, P, C);
    case BOUGH_MATERIAL_STVK:
        return eval_stvk(e, F, psi, P, C);
    case BOUGH_MATERIAL_COROTATED:
    case BOUGH_MATERIAL_ARAP:
        return eval_corotated(e, F, psi, P, C);
    case BOUGH_MATERIAL_NEO_HOOKEAN:
    case BOUGH_MATERIAL_STABLE_NEO_HOOKEAN:
    case BOUGH_MATERIAL_MOONEY_RIVLIN:
        return eval_invariants(e, F, psi, P, C);
    case BOUGH_MATERIAL_MODEL_COUNT:
        break;
    }
    return false;
}
