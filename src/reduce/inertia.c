/* Inertia constants: integrals of the basis over the mass. docs/theory/reduction.md, "Inertia". */
#include "reduce/cook.h"

#include "linalg/blas.h"

/* Rows (1, X) of each vertex from the component's origin. */
static double *positions(const bo_cook *cook) {
    size_t n = (size_t)cook->m->size;
    double *X = BO_NEW_ARRAY(cook->ctx, double, 4 * n);
    for (size_t v = 0; v < n && X; v++) {
        X[4 * v] = 1;
        for (size_t d = 0; d < 3; d++)
            X[4 * v + 1 + d] = cook->body->mesh->vertices[3 * v + d] - cook->draft.origin[d];
    }
    return X;
}

/* m, mc0, Sigma0 from (1, X)^T m (1, X); s and W5 from U^T m (1, X). */
static bough_status first_moments(bo_cook *cook, double *s, double *W5) {
    size_t n = (size_t)cook->m->size, r = (size_t)cook->r;
    double *X = positions(cook), *mX = BO_NEW_ARRAY(cook->ctx, double, 4 * n), gram[16] = {0};
    if (!X || !mX) {
        bo_free(cook->ctx, X);
        bo_free(cook->ctx, mX);
        return BOUGH_ERROR_MEMORY;
    }
    bo_sparse_mul_rows(cook->m, 4, X, mX);
    for (size_t v = 0; v < n; v++)
        for (size_t k = 0; k < 16; k++)
            gram[k] += X[4 * v + k / 4] * mX[4 * v + k % 4];
    cook->draft.mass = gram[0];
    for (size_t d = 0; d < 3; d++)
        cook->draft.mc0[d] = gram[1 + d];
    for (size_t k = 0; k < 9; k++) /* symmetric but for rounding */
        cook->draft.Sigma0[k] = 0.5 * (gram[4 * (1 + k / 3) + 1 + k % 3] + gram[4 * (1 + k % 3) + 1 + k / 3]);
    for (size_t v = 0; v < n; v++)
        for (size_t c = 0; c < 3; c++)
            for (size_t l = 0; l < r; l++) {
                double u = cook->U[(3 * v + c) * r + l];
                s[3 * l + c] += u * mX[4 * v];
                for (size_t d = 0; d < 3; d++)
                    W5[9 * l + 3 * c + d] += u * mX[4 * v + 1 + d];
            }
    bo_free(cook->ctx, X);
    bo_free(cook->ctx, mX);
    return BOUGH_OK;
}

/* W7_lp[c,d] = sum m_ab U_l,a[c] U_p,b[d]: nine products of the rows of one axis. Symmetric by construction:
 * W7_pl[d,c] = W7_lp[c,d]. */
static bough_status second_moments(bo_cook *cook, double *W7) {
    size_t n = (size_t)cook->m->size, r = (size_t)cook->r;
    int32_t R = cook->r, row = 3 * R;
    double *mU = BO_NEW_ARRAY(cook->ctx, double, 3 * n * r), *block = BO_NEW_ARRAY(cook->ctx, double, r *r);
    bough_status status = mU && block ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        bo_sparse_mul_rows(cook->m, 3 * R, cook->U, mU);
    for (size_t c = 0; c < 3 && status == BOUGH_OK; c++)
        for (size_t d = 0; d <= c; d++) {
            bo_gemm(true, false, R, R, (int32_t)n, 1, cook->U + c * r, row, mU + d * r, row, 0, block, R);
            for (size_t l = 0; l < r; l++)
                for (size_t p = 0; p < r; p++) {
                    double value = c == d ? 0.5 * (block[l * r + p] + block[p * r + l]) : block[l * r + p];
                    W7[9 * (l * r + p) + 3 * c + d] = value;
                    W7[9 * (p * r + l) + 3 * d + c] = value;
                }
        }
    bo_free(cook->ctx, mU);
    bo_free(cook->ctx, block);
    return status;
}

bough_status bo_cook_inertia(bo_cook *cook) {
    size_t r = (size_t)cook->r;
    double *s = BO_COOK_ARRAY(cook, double, 3 * r), *W5 = BO_COOK_ARRAY(cook, double, 9 * r);
    double *W7 = BO_COOK_ARRAY(cook, double, 9 * r * r);
    if (!s || !W5 || !W7)
        return BOUGH_ERROR_MEMORY;
    cook->draft.r = cook->r;
    cook->draft.s = s;
    cook->draft.W5 = W5;
    cook->draft.W7 = W7;
    BO_TRY(first_moments(cook, s, W5));
    return r ? second_moments(cook, W7) : BOUGH_OK;
}
