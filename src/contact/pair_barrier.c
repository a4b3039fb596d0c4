/* Barrier potentials of pairs, and the positive semidefinite parts of their second derivatives. */
#include "contact/pair_frame.h"

#include "contact/barrier.h"
#include "dense/symmetric_eigen.h"

#include <string.h>

/* Weights that add up to 0 are combinations of these three; they are orthonormal. Rows: the four points. */
static const double SPREAD[4][3] = {
    {M_SQRT1_2, 0, 0.5}, {-M_SQRT1_2, 0, 0.5}, {0, M_SQRT1_2, -0.5}, {0, -M_SQRT1_2, -0.5}};

enum { MOST = 9 }; /* dimensions in which a pair can move, but for shifts of all four points */

/* M (n x n, symmetric, n <= MOST) becomes its positive part, sum over the eigenvalues above 0. */
static void keep_positive(int n, double *M) {
    double A[MOST * MOST], V[MOST * MOST], values[MOST], scratch[2 * MOST];
    memcpy(A, M, (size_t)(n * n) * sizeof *A);
    memset(M, 0, (size_t)(n * n) * sizeof *M);
    if (!bo_sym_eigen(n, A, values, V, scratch))
        return; /* not finite: nothing is positive */
    for (int e = 0; e < n; e++) {
        if (!(values[e] > 0))
            continue;
        for (int i = 0; i < n; i++) {
            const double scaled = values[e] * V[n * i + e];
            for (int k = 0; k <= i; k++)
                M[n * i + k] += scaled * V[n * k + e];
        }
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            M[n * k + i] = M[n * i + k];
}

/* Keeps the positive part of a form whose tt has no part along the tangents and is nowhere positive, as b' < 0 times
 * the second derivatives of d. In the orthonormal basis SPREAD (x) n and (w / |w|) (x) u_j, of 4 or 5 vectors, it is
 *   ( SPREAD^T nn SPREAD    |w| SPREAD^T (nt.u) )
 *   (       transposed               0          )
 * and tt, which acts on what is orthogonal to all of these, is dropped. */
static void keep_positive_form(const bo_pair_frame *frame, bo_pair_form *form) {
    const int r = frame->tangent_count, n = 3 + r;
    if (r == 0) {
        form->tt = (bo_mat3){{0}};
        return; /* b'' w w^T is positive */
    }
    const double *w = frame->weights;
    const double length = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2] + w[3] * w[3]);
    double M[25] = {0}, half[4][5] = {{0}}; /* half: SPREAD^T on one side only, later SPREAD M */
    for (int i = 0; i < 4; i++)
        for (int s = 0; s < 3; s++)
            for (int k = 0; k < 4; k++)
                half[i][s] += form->nn[4 * i + k] * SPREAD[k][s];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < r; j++)
            half[i][3 + j] = length * bo_dot(form->nt[i], frame->u[j]);
    for (int s = 0; s < 3; s++)
        for (int q = s; q < n; q++) {
            for (int i = 0; i < 4; i++)
                M[n * s + q] += SPREAD[i][s] * half[i][q];
            M[n * q + s] = M[n * s + q];
        }
    keep_positive(n, M);
    for (int i = 0; i < 4; i++)
        for (int q = 0; q < n; q++)
            half[i][q] = SPREAD[i][0] * M[q] + SPREAD[i][1] * M[n + q] + SPREAD[i][2] * M[2 * n + q];
    *form = (bo_pair_form){0};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            form->nn[4 * i + k] = half[i][0] * SPREAD[k][0] + half[i][1] * SPREAD[k][1] + half[i][2] * SPREAD[k][2];
    for (int j = 0; j < r; j++) {
        for (int i = 0; i < 4; i++)
            form->nt[i] = bo_mul_add(form->nt[i], half[i][3 + j] / length, frame->u[j]);
        for (int l = 0; l < r; l++)
            form->tt = bo_mat_add(
                form->tt, bo_mat_scale(M[n * (3 + j) + 3 + l] / (length * length), bo_outer(frame->u[j], frame->u[l])));
    }
}

/* The same for any H that a shift of all four points leaves alone: in the basis SPREAD (x) 1, of 9 vectors. */
static void keep_positive_matrix(double H[144]) {
    double half[12][MOST] = {{0}}, M[MOST * MOST] = {0};
    for (int row = 0; row < 12; row++)
        for (int i = 0; i < 4; i++)
            for (int s = 0; s < 3; s++)
                for (int a = 0; a < 3; a++)
                    half[row][3 * s + a] += H[12 * row + 3 * i + a] * SPREAD[i][s];
    for (int i = 0; i < 4; i++)
        for (int s = 0; s < 3; s++)
            for (int a = 0; a < 3; a++)
                for (int q = 0; q < MOST; q++)
                    M[MOST * (3 * s + a) + q] += SPREAD[i][s] * half[3 * i + a][q];
    keep_positive(MOST, M);
    for (int i = 0; i < 4; i++)
        for (int a = 0; a < 3; a++)
            for (int q = 0; q < MOST; q++)
                half[3 * i + a][q] = SPREAD[i][0] * M[MOST * a + q] + SPREAD[i][1] * M[MOST * (3 + a) + q] +
                                     SPREAD[i][2] * M[MOST * (6 + a) + q];
    for (int row = 0; row < 12; row++)
        for (int i = 0; i < 4; i++)
            for (int a = 0; a < 3; a++)
                H[12 * row + 3 * i + a] =
                    half[row][a] * SPREAD[i][0] + half[row][3 + a] * SPREAD[i][1] + half[row][6 + a] * SPREAD[i][2];
}

/* Adds the terms of the product rule: d2(m B) = m d2B + dm dB^T + dB dm^T + B d2m; H holds m d2B, B = kappa b. */
static void add_mollifier(const bo_mollifier *mollifier, double value, const double slope[12], double H[144]) {
    const double *g = mollifier->gradient;
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 12; k++)
            H[12 * i + k] += g[i] * slope[k] + slope[i] * g[k] + value * mollifier->H[12 * i + k];
}

/* kappa m b(d): d2 is kappa m (b'' g g^T + b' H) for the gradient g = w (x) n of d. */
static void form_of_barrier(const bo_pair_frame *frame, double slope, double bend, bo_pair_form *form) {
    bo_pair_form_of_distance(frame, form);
    const double *w = frame->weights;
    for (int i = 0; i < 4; i++) {
        form->nt[i] = bo_scale(slope, form->nt[i]);
        for (int k = 0; k < 4; k++)
            form->nn[4 * i + k] = slope * form->nn[4 * i + k] + bend * w[i] * w[k];
    }
    form->tt = bo_mat_scale(slope, form->tt);
}

double bo_pair_barrier(bo_pair_kind kind, const bo_vec3 x[4], double kappa, double support, double mollified,
                       bool project, double gradient[12], double H[144]) {
    bo_pair_frame frame;
    bo_pair_frame_at(kind, x, &frame);
    if (frame.d >= support)
        return 0;
    const bo_barrier b = bo_barrier_at(frame.d, support);
    if (!(frame.d > 0) || !isfinite(b.bend)) {
        memset(gradient, 0, 12 * sizeof *gradient), memset(H, 0, 144 * sizeof *H);
        return INFINITY;
    }
    bo_mollifier mollifier;
    mollifier.value = 1;
    const bool fades = kind == BO_PAIR_EDGES && bo_pair_area_squared(x) < mollified;
    if (fades)
        bo_mollifier_at(x, mollified, true, &mollifier);
    const double m = mollifier.value;
    bo_pair_form form;
    form_of_barrier(&frame, kappa * m * b.slope, kappa * m * b.bend, &form);
    if (project && !fades)
        keep_positive_form(&frame, &form);
    bo_pair_unfold(&frame, &form, H);
    double slope[12];
    for (int i = 0; i < 4; i++)
        bo_store3(slope + 3 * i, bo_scale(kappa * b.slope * frame.weights[i], frame.n));
    for (int i = 0; i < 12; i++)
        gradient[i] = m * slope[i] + (fades ? kappa * b.value * mollifier.gradient[i] : 0);
    if (fades) {
        add_mollifier(&mollifier, kappa * b.value, slope, H);
        if (project)
            keep_positive_matrix(H);
    }
    return kappa * m * b.value;
}
