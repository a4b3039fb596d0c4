/* Cubature: few quadrature points with new, positive weights whose forces add up to those of all points on training
 * poses (An, Kim, James 2008; with non-negative least squares as in Farhat et al. 2014, "ECSW").
 *
 * A point's force is P(F) : G_l times its volume. With the same points and weights energy, force and tangent stay
 * derivatives of each other, and positive weights keep the energy of a stable material bounded from below.
 *
 * The rest stiffness is among the equations, per sqrt(K_ll K_mm): its entries are then about 1 on the diagonal. A
 * pose's force is dominated by its stiffest coordinates; these equations see to it that the soft ones, in which the
 * body moves most, are right as well. */
#include "reduce/cook.h"

#include "base/threads.h"
#include "component/polynomial.h"
#include "dense/cholesky.h"
#include "linalg/blas.h"
#include "linalg/nnls.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_CANDIDATES = 12000,
    MOST_POSE_ROWS = 16000,   /* equations from poses, unless others are asked for */
    MOST_ASKED_ROWS = 120000, /* so many that more than a thousand candidates fit into MOST_ENTRIES */
    MOST_REST_ROWS = 8192,    /* equations from the stiffness at rest */
    MOST_ENTRIES = 150000000, /* of the matrix of candidates: 600 MB */
    CANDIDATES_A_TASK = 16,
    TEST_SEED_OFFSET = 0x7E57ED /* test poses differ from training poses */
};

/* Equations that the weights should fulfil: r for each pose, divided by the length of the pose's force, then entries
 * (l, m) of K(0) with l - band < m <= l. Those outside of the diagonal stand for two. */
typedef struct {
    const bo_cook *cook;
    const bough_component *like; /* whose equilibria are poses too, every other one; NULL: there are none */
    int32_t pose_count, band, rows;
    double *q;      /* pose_count x r */
    double *target; /* rows: what all points together give */
    double *factor; /* pose_count: 1 / length of the force */
    double *unit;   /* r: 1 / sqrt(K_ll) */
} equations;

static void discard_equations(bough_context *ctx, equations *e) {
    bo_free(ctx, e->q);
    bo_free(ctx, e->target);
    bo_free(ctx, e->factor);
    bo_free(ctx, e->unit);
}

static int32_t least(int32_t a, int32_t b) {
    return a < b ? a : b;
}

static int32_t first_of_band(const equations *e, int32_t l) {
    return l - e->band + 1 > 0 ? l - e->band + 1 : 0;
}

/* To be discarded also when it fails. */
static bough_status allocate_equations(bo_cook *cook, int32_t pose_count, equations *e) {
    const int32_t r = cook->r;
    *e = (equations){.cook = cook, .pose_count = pose_count, .band = MOST_REST_ROWS / r};
    e->band = e->band < 1 ? 1 : least(e->band, r);
    e->rows = pose_count * r;
    for (int32_t l = 0; l < r; l++)
        e->rows += l + 1 - first_of_band(e, l);
    e->q = BO_NEW_ARRAY(cook->ctx, double, (size_t)pose_count *(size_t)r);
    e->target = BO_NEW_ARRAY(cook->ctx, double, e->rows);
    e->factor = BO_NEW_ARRAY(cook->ctx, double, pose_count);
    e->unit = BO_NEW_ARRAY(cook->ctx, double, r);
    if (!e->q || !e->target || !e->factor || !e->unit)
        return BOUGH_ERROR_MEMORY;
    for (int32_t l = 0; l < r; l++) {
        double stiffness = cook->draft.K[(size_t)l * (size_t)(r + 1)];
        e->unit[l] = stiffness > 0 ? 1 / sqrt(stiffness) : 1;
    }
    return BOUGH_OK;
}

/* Reduced force dE/dq of the full body at a pose, and its length. u, f: scratch of n. */
static bough_status full_force(bo_cook *cook, const double *q, double *u, double *f, double *target, double *length) {
    bo_cook_displace(cook, q, u);
    BO_TRY(bough_body_evaluate(cook->ctx, cook->body, u, false, NULL, f, NULL));
    bo_cook_project(cook, f, target);
    double sum = 0;
    for (int32_t l = 0; l < cook->r; l++) {
        target[l] = -target[l]; /* the body's force is -dE/du */
        sum += target[l] * target[l];
    }
    *length = sqrt(sum);
    return BOUGH_OK;
}

static bough_status fill_poses(bo_cook *cook, bo_pose_random *random, double begin, equations *e, double *u,
                               double *f) {
    const size_t r = (size_t)cook->r;
    for (int32_t p = 0; p < e->pose_count; p++) {
        double *q = e->q + (size_t)p * r, *target = e->target + (size_t)p * r, length;
        if (!bo_cook_tell(cook, begin + 0.2 * p / e->pose_count, "pose %d of %d", p + 1, e->pose_count))
            return bo_fail_cancelled(cook->ctx);
        BO_TRY(e->like && p % 2 ? bo_cook_settled_pose(cook, e->like, random, q) : bo_cook_pose(cook, random, q));
        BO_TRY(full_force(cook, q, u, f, target, &length));
        e->factor[p] = length > 0 ? 1 / length : 0;
        for (size_t l = 0; l < r; l++)
            target[l] *= e->factor[p];
    }
    return BOUGH_OK;
}

static void fill_rest(const bo_cook *cook, equations *e) {
    double *target = e->target + (size_t)e->pose_count * (size_t)cook->r;
    for (int32_t l = 0; l < cook->r; l++)
        for (int32_t m = first_of_band(e, l); m <= l; m++) {
            double K = cook->draft.K[(size_t)l * (size_t)cook->r + (size_t)m] * e->unit[l] * e->unit[m];
            *target++ = m < l ? M_SQRT2 * K : K;
        }
}

/* begin: how far the phase is, for progress. To be discarded also when it fails. */
static bough_status make_equations(bo_cook *cook, const bough_component *like, uint64_t seed, int32_t pose_count,
                                   double begin, equations *e) {
    bo_pose_random random = {seed};
    BO_TRY(allocate_equations(cook, pose_count, e));
    e->like = like;
    double *u = BO_NEW_ARRAY(cook->ctx, double, cook->n), *f = BO_NEW_ARRAY(cook->ctx, double, cook->n);
    bough_status status = u && f ? fill_poses(cook, &random, begin, e, u, f) : BOUGH_ERROR_MEMORY;
    fill_rest(cook, e);
    bo_free(cook->ctx, u);
    bo_free(cook->ctx, f);
    return status;
}

/* ---- what one point contributes to each equation ---- */

/* One of the two is there. */
typedef struct {
    float *single;
    double *exact;
} column;

static void put(column *to, double value) {
    if (to->single)
        *to->single++ = (float)value;
    else
        *to->exact++ = value;
}

static const bo_elastic *elastic_at(const bo_cook *cook, int32_t element) {
    return &cook->body->elastic[cook->body->element_material[element]];
}

/* w P(F) : G_l with F = I + sum_l q_l G_l. A point that is inverted contributes nothing: bo_cook_pose() sees to it that
 * there is none. */
static void put_forces(const equations *e, const bo_elastic *elastic, double weight, const double *G, column *to) {
    const int32_t r = e->cook->r;
    for (int32_t p = 0; p < e->pose_count; p++) {
        const double *q = e->q + (size_t)p * (size_t)r;
        bo_mat3 F = bo_identity3(), P;
        double psi, force[BOUGH_MAX_COORDINATES] = {0};
        for (int k = 0; k < 9; k++)
            for (int32_t l = 0; l < r; l++)
                F.m[k] += G[k * r + l] * q[l];
        if (!bo_elastic_eval(elastic, &F, &psi, &P, NULL))
            P = (bo_mat3){{0}};
        for (int k = 0; k < 9; k++)
            for (int32_t l = 0; l < r; l++)
                force[l] += P.m[k] * G[k * r + l];
        for (int32_t l = 0; l < r; l++)
            put(to, weight * e->factor[p] * force[l]);
    }
}

/* w G_l : C(I) : G_m */
static void put_stiffness(const equations *e, const bo_elastic *elastic, double weight, const double *G, column *to) {
    const int32_t r = e->cook->r;
    const bo_mat3 rest = bo_identity3();
    double psi, C[81], CG[9 * BOUGH_MAX_COORDINATES];
    bo_mat3 P;
    bo_elastic_eval(elastic, &rest, &psi, &P, C);
    memset(CG, 0, 9 * (size_t)r * sizeof *CG);
    for (int k = 0; k < 9; k++)
        for (int j = 0; j < 9; j++)
            for (int32_t l = 0; l < r; l++)
                CG[k * r + l] += C[9 * k + j] * G[j * r + l];
    for (int32_t l = 0; l < r; l++)
        for (int32_t m = first_of_band(e, l); m <= l; m++) {
            double K = 0;
            for (int k = 0; k < 9; k++)
                K += G[k * r + l] * CG[k * r + m];
            put(to, weight * (m < l ? M_SQRT2 : 1) * e->unit[l] * e->unit[m] * K);
        }
}

/* Points are numbered element by element. */
static double own_weight(const bo_cook *cook, int32_t point) {
    return cook->body->geometry[point].weight;
}

static void put_point(const equations *e, int32_t point, column to) {
    const int32_t a_element = e->cook->body->rule->point_count, element = point / a_element;
    const bo_elastic *elastic = elastic_at(e->cook, element);
    double G[9 * BOUGH_MAX_COORDINATES];
    bo_cook_gradient(e->cook, element, point % a_element, G);
    put_forces(e, elastic, own_weight(e->cook, point), G, &to);
    put_stiffness(e, elastic, own_weight(e->cook, point), G, &to);
}

typedef struct {
    const equations *e;
    const int32_t *points;
    float *single;
    double *exact;
} columns;

static void put_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const columns *c = data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        size_t at = (size_t)i * (size_t)c->e->rows;
        put_point(c->e, c->points[i], (column){c->single ? c->single + at : NULL, c->exact ? c->exact + at : NULL});
    }
}

/* ---- candidates ---- */

/* One point at random out of each of `wanted` equal stretches: neighbours in the numbering are mostly neighbours in
 * space, so that no region is left out. */
static bough_status choose_candidates(const bo_cook *cook, int32_t wanted, int32_t **points, int32_t *count) {
    const int64_t all = (int64_t)cook->body->mesh->element_count * cook->body->rule->point_count;
    bo_pose_random random = {cook->def->seed};
    *count = (int32_t)(all < wanted ? all : wanted);
    *points = BO_NEW_ARRAY(cook->ctx, int32_t, *count);
    if (!*points)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < *count; i++) {
        int64_t begin = all * i / *count, end = all * (i + 1) / *count;
        int64_t step = (int64_t)(bo_pose_uniform(&random) * (double)(end - begin));
        (*points)[i] = (int32_t)(begin + step < end ? begin + step : end - 1);
    }
    return BOUGH_OK;
}

/* ---- weights ---- */

typedef struct {
    int32_t count;
    int32_t *points; /* count */
    double *weights; /* count: factors of the points' own weights */
    double *matrix;  /* count x e->rows: their columns in double precision */
} selection;

static void discard_selection(bough_context *ctx, selection *s) {
    bo_free(ctx, s->points);
    bo_free(ctx, s->weights);
    bo_free(ctx, s->matrix);
}

static bool report(void *user, int32_t count, double error, double within) {
    bo_cook *cook = user;
    return bo_cook_tell(cook, 0.2 + 0.6 * within, "%d points, error %.2g", count, error);
}

/* |targets of the poses| / |all targets|: even if all of the error were in the poses, theirs is then within the
 * tolerance. */
static double pose_share(const equations *e) {
    double poses = 0, all = 0;
    for (int32_t i = 0; i < e->rows; i++) {
        all += e->target[i] * e->target[i];
        if (i < e->pose_count * e->cook->r)
            poses = all;
    }
    return all > 0 ? sqrt(poses / all) : 1;
}

/* The matrix of all candidates lives only as long as this runs. */
static bough_status fit(bo_cook *cook, const equations *e, const int32_t *candidates, int32_t count,
                        bo_nnls_result *result) {
    const bough_cook_def *def = cook->def;
    float *G = BO_NEW_ARRAY(cook->ctx, float, (size_t)count *(size_t)e->rows);
    if (!G)
        return BOUGH_ERROR_MEMORY;
    columns all = {e, candidates, G, NULL};
    bo_parallel_for(cook->ctx, count, CANDIDATES_A_TASK, put_range, &all);
    bo_nnls problem = {.rows = e->rows,
                       .columns = count,
                       .G = G,
                       .b = e->target,
                       .tolerance = def->cubature_tolerance * pose_share(e),
                       .most = def->cubature_most > 0 ? def->cubature_most : e->rows,
                       .report = report,
                       .user = cook};
    bough_status status = bo_nnls_solve(cook->ctx, &problem, result);
    bo_free(cook->ctx, G);
    if (status == BOUGH_OK && result->count == 0)
        return bo_fail(cook->ctx, BOUGH_NO_CONVERGENCE,
                       "no cubature points were found; the tolerance %g must be below 1 and the body must be elastic",
                       def->cubature_tolerance);
    return status;
}

static bough_status select_points(bo_cook *cook, const equations *e, selection *s) {
    const int32_t wanted = least(MOST_CANDIDATES, MOST_ENTRIES / e->rows);
    int32_t *candidates = NULL, count;
    bo_nnls_result result = {0};
    bough_status status = choose_candidates(cook, wanted, &candidates, &count);
    if (status == BOUGH_OK)
        status = fit(cook, e, candidates, count, &result);
    if (status == BOUGH_OK) {
        s->count = result.count;
        s->points = result.active, s->weights = result.x;
        result.active = NULL, result.x = NULL;
        for (int32_t i = 0; i < s->count; i++)
            s->points[i] = candidates[s->points[i]];
        if (result.residual > cook->def->cubature_tolerance * pose_share(e))
            bo_warn(cook->ctx, "the cubature ends at %d points with a force error of up to %.2g; %.2g was asked for",
                    s->count, result.residual / pose_share(e), cook->def->cubature_tolerance);
    }
    bo_nnls_free(cook->ctx, &result);
    bo_free(cook->ctx, candidates);
    return status;
}

/* Columns of the selection in double precision. */
static bough_status make_matrix(bo_cook *cook, const equations *e, selection *s) {
    bo_free(cook->ctx, s->matrix);
    s->matrix = BO_NEW_ARRAY(cook->ctx, double, (size_t)s->count *(size_t)e->rows);
    if (!s->matrix)
        return BOUGH_ERROR_MEMORY;
    columns chosen = {e, s->points, NULL, s->matrix};
    bo_parallel_for(cook->ctx, s->count, CANDIDATES_A_TASK, put_range, &chosen);
    return BOUGH_OK;
}

/* Drops points whose new weight is not positive (rounding may have made them so). Returns how many. */
static int32_t drop_negative(const equations *e, const double *x, selection *s) {
    int32_t kept = 0, before = s->count;
    for (int32_t i = 0; i < before; i++)
        if (x[i] > 0) {
            s->points[kept] = s->points[i];
            s->weights[kept] = x[i];
            if (kept != i)
                memcpy(s->matrix + (size_t)kept * (size_t)e->rows, s->matrix + (size_t)i * (size_t)e->rows,
                       (size_t)e->rows * sizeof *s->matrix);
            kept++;
        }
    s->count = kept;
    return before - kept;
}

/* The weights once more from columns in double precision. Keeps the old ones where that cannot be done. */
static bough_status polish(bo_cook *cook, const equations *e, selection *s) {
    BO_TRY(make_matrix(cook, e, s));
    const size_t count = (size_t)s->count;
    double *gram = BO_NEW_ARRAY(cook->ctx, double, count *count), *x = BO_NEW_ARRAY(cook->ctx, double, count);
    bool again = gram && x;
    while (again && s->count > 0) {
        const int32_t k = s->count;
        bo_gemm(false, true, k, k, e->rows, 1, s->matrix, e->rows, s->matrix, e->rows, 0, gram, k);
        bo_gemm(false, false, k, 1, e->rows, 1, s->matrix, e->rows, e->target, 1, 0, x, 1);
        if (!bo_cholesky_factor(k, gram))
            break;
        bo_cholesky_solve(k, gram, x);
        again = drop_negative(e, x, s) > 0;
    }
    bough_status status = gram && x ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    bo_free(cook->ctx, gram);
    bo_free(cook->ctx, x);
    return status;
}

/* ---- errors ---- */

/* Root mean square over the poses of |cubature force - full force| / |full force|. */
static bough_status measure(bo_cook *cook, const equations *e, const selection *s, double *error) {
    const int32_t pose_rows = e->pose_count * cook->r;
    double *residual = BO_NEW_ARRAY(cook->ctx, double, e->rows), sum = 0;
    if (!residual)
        return BOUGH_ERROR_MEMORY;
    memcpy(residual, e->target, (size_t)e->rows * sizeof *residual);
    bo_gemm(false, false, 1, e->rows, s->count, -1, s->weights, s->count, s->matrix, e->rows, 1, residual, e->rows);
    for (int32_t i = 0; i < pose_rows; i++)
        sum += residual[i] * residual[i];
    *error = sqrt(sum / e->pose_count);
    bo_free(cook->ctx, residual);
    return BOUGH_OK;
}

static bough_status test(bo_cook *cook, const bough_component *like, int32_t pose_count, selection *s) {
    equations fresh;
    bough_status status = make_equations(cook, like, cook->def->seed + TEST_SEED_OFFSET, pose_count, 0.8, &fresh);
    if (status == BOUGH_OK)
        status = make_matrix(cook, &fresh, s);
    if (status == BOUGH_OK)
        status = measure(cook, &fresh, s, &cook->draft.quality.cubature_test);
    discard_equations(cook->ctx, &fresh);
    return status;
}

typedef struct {
    int32_t material, point;
    double weight;
} chosen_point;

static int by_material(const void *a, const void *b) {
    const chosen_point *p = a, *q = b;
    return p->material != q->material ? (p->material > q->material) - (p->material < q->material)
                                      : (p->point > q->point) - (p->point < q->point);
}

/* Sorted by material, so that the runtime sets up each only once. */
static chosen_point *sort_points(bo_cook *cook, const selection *s) {
    const int32_t a_element = cook->body->rule->point_count;
    chosen_point *sorted = BO_NEW_ARRAY(cook->ctx, chosen_point, s->count);
    for (int32_t i = 0; i < s->count && sorted; i++)
        sorted[i] = (chosen_point){cook->body->element_material[s->points[i] / a_element], s->points[i],
                                   s->weights[i] * own_weight(cook, s->points[i])};
    if (sorted)
        qsort(sorted, (size_t)s->count, sizeof *sorted, by_material);
    return sorted;
}

static bough_status fill_draft(bo_cook *cook, const selection *s) {
    const int32_t a_element = cook->body->rule->point_count, count = s->count;
    double *weight = BO_COOK_ARRAY(cook, double, count);
    int32_t *element = BO_COOK_ARRAY(cook, int32_t, count), *material = BO_COOK_ARRAY(cook, int32_t, count);
    double *gradient = BO_COOK_ARRAY(cook, double, 9 * (size_t)count * (size_t)cook->r);
    chosen_point *sorted = sort_points(cook, s);
    bool enough = weight && element && material && gradient && sorted;
    for (int32_t i = 0; i < count && enough; i++) {
        weight[i] = sorted[i].weight;
        element[i] = sorted[i].point / a_element;
        material[i] = sorted[i].material;
        bo_cook_gradient(cook, element[i], sorted[i].point % a_element, gradient + 9 * (size_t)i * (size_t)cook->r);
    }
    bo_free(cook->ctx, sorted);
    cook->draft.cubature = (bough_material_points){
        .count = count, .weight = weight, .element = element, .material = material, .gradient = gradient};
    return enough ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* Enough that errors on other poses come out about the same. */
static int32_t training_poses(const bo_cook *cook) {
    if (cook->def->training_count > 0)
        return cook->def->training_count;
    int32_t wanted = 10 + 4 * cook->r, most = MOST_POSE_ROWS / cook->r;
    return least(wanted, most);
}

/* A polynomial with the same coordinates, whose equilibria cost microseconds. Random coordinates alone stretch a
 * slender body as it never is: forces that balance each other, as they do in a body that bends, would not be among the
 * equations. *like is NULL where r is too large for one. */
static bough_status make_alike(bo_cook *cook, bough_component *alike, const bough_component **like) {
    *like = NULL;
    if (cook->r > cook->def->polynomial_most || cook->r > BOUGH_MAX_POLYNOMIAL_COORDINATES)
        return BOUGH_OK;
    double *t = BO_COOK_ARRAY(cook, double, bo_quartic_count(cook->r));
    if (!t)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(bo_cook_surrogate(cook, t));
    *alike = cook->draft;
    alike->elastic = BOUGH_REDUCED_POLYNOMIAL;
    alike->quartic = t;
    alike->r = cook->r;
    *like = alike;
    return BOUGH_OK;
}

bough_status bo_cook_cubature(bo_cook *cook) {
    equations e;
    selection s = {0};
    bough_component alike;
    const bough_component *like;
    const int32_t pose_count = training_poses(cook);
    if ((int64_t)pose_count * cook->r > MOST_ASKED_ROWS)
        return bo_fail(cook->ctx, BOUGH_ERROR_ARGUMENT,
                       "%d training poses of %d coordinates are more equations than a cubature is fitted to; use at "
                       "most %d poses",
                       pose_count, cook->r, MOST_ASKED_ROWS / cook->r);
    BO_TRY(make_alike(cook, &alike, &like));
    bough_status status = make_equations(cook, like, cook->def->seed, pose_count, 0, &e);
    if (status == BOUGH_OK)
        status = select_points(cook, &e, &s);
    if (status == BOUGH_OK)
        status = polish(cook, &e, &s);
    if (status == BOUGH_OK)
        status = measure(cook, &e, &s, &cook->draft.quality.cubature_training);
    discard_equations(cook->ctx, &e);
    if (status == BOUGH_OK)
        status = test(cook, like, pose_count, &s);
    if (status == BOUGH_OK)
        status = fill_draft(cook, &s);
    discard_selection(cook->ctx, &s);
    return status;
}
