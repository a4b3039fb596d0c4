/* The basis: candidates of several kinds, weighted and combined. docs/theory/reduction.md, "Bases". */
#include "reduce/basis.h"

#include "dense/symmetric_eigen.h"
#include "linalg/blas.h"
#include "linalg/sparse.h"

#include <string.h>

/* Candidates whose principal components can be computed: so many take ten minutes. */
#define MOST_CANDIDATES 8192
/* Modes with derivatives when their number is left open: 3240 derivatives. */
#define MOST_DERIVED_MODES 80

/* Coordinates that are always chosen by motion. */
#define LEAST_MOTION 10
/* Answers to unit wrenches count so much beside the lowest mode of the same energy: interfaces are where components are
 * pulled. */
#define ANSWER_WEIGHT 3
#define MODE_WEIGHT 3
/* The part of its energy without which one of the lowest modes counts as lost. */
#define MODE_LOST 0.08
/* A tolerance of the basis makes that of the energy no smaller than this: a thousandth of it may be left out. */
#define ENERGY_TOLERANCE 0.03

/* ---- what goes in ---- */

/* Small-strain materials have no modal derivatives. */
static bool is_linear(const bough_body *body) {
    bool linear = true;
    for (int32_t i = 0; i < body->material_count; i++)
        linear = linear && body->elastic[i].model == BOUGH_MATERIAL_LINEAR;
    return linear;
}

static uint32_t kinds_of(const bo_cook *cook) {
    uint32_t kinds = cook->def->basis;
    if (kinds == 0)
        kinds = BOUGH_BASIS_MODES | BOUGH_BASIS_DERIVATIVES | BOUGH_BASIS_WRENCHES |
                (cook->load_count ? BOUGH_BASIS_LOADED : 0);
    if (kinds & BOUGH_BASIS_LOADED)
        kinds |= BOUGH_BASIS_MODES;
    if (is_linear(cook->body))
        kinds &= ~(uint32_t)BOUGH_BASIS_DERIVATIVES;
    return kinds;
}

static int32_t free_count(const bo_cook *cook) {
    return cook->n - cook->held_count - (cook->rigid ? 6 : 0);
}

/* With derivatives half of r: k modes bring k (k + 1) / 2 more candidates. */
static int32_t mode_count_of(const bo_cook *cook, uint32_t kinds) {
    if (!(kinds & BOUGH_BASIS_MODES))
        return 0;
    int32_t count = cook->def->mode_count                   ? cook->def->mode_count
                    : !(kinds & BOUGH_BASIS_DERIVATIVES)    ? cook->def->r
                    : cook->def->r < 2 * MOST_DERIVED_MODES ? (cook->def->r + 1) / 2
                                                            : MOST_DERIVED_MODES;
    int32_t most = free_count(cook) - 1;
    return count < most ? count : most;
}

/* Before anything is computed. */
static bough_status check_candidates(bo_cook *cook, uint32_t kinds, int32_t mode_count) {
    const int64_t children = cook->def->interface_count - (cook->def->parent >= 0);
    const int64_t seeds = mode_count + 6 * children * (!!(kinds & BOUGH_BASIS_ATTACHMENT)) +
                          6 * children * (!!(kinds & BOUGH_BASIS_CONSTRAINT));
    const int64_t derivatives = kinds & BOUGH_BASIS_DERIVATIVES ? seeds * (seeds + 1) / 2 : 0;
    const int64_t wrenches = kinds & BOUGH_BASIS_WRENCHES ? BO_MOST_WRENCH_SHAPES : 0;
    const int64_t snapshots = kinds & BOUGH_BASIS_SNAPSHOTS ? cook->def->snapshot_count : 0;
    if (seeds + derivatives + snapshots + wrenches <= MOST_CANDIDATES)
        return BOUGH_OK;
    return bo_fail(cook->ctx, BOUGH_ERROR_ARGUMENT,
                   "%lld modes, %lld derivatives and %lld snapshots are too many to choose a basis from (at most %d); "
                   "use fewer modes or snapshots",
                   (long long)seeds, (long long)derivatives, (long long)snapshots, MOST_CANDIDATES);
}

/* They may be of any length, so that rounding at held vertices is judged by their own size. What they do at vertices in
 * no element does not matter. */
static bough_status check_given(bo_cook *cook, const char *what, int32_t count, const double *vectors) {
    size_t n = (size_t)cook->n;
    for (size_t c = 0; c < (size_t)count; c++) {
        const double *x = vectors + c * n;
        double largest = 0;
        for (size_t i = 0; i < n; i++) {
            if (!isfinite(x[i]))
                return bo_fail(cook->ctx, BOUGH_NOT_FINITE, "%s %zu of the basis is not finite", what, c);
            largest = fmax(largest, fabs(x[i]));
        }
        for (size_t i = 0; i < n; i++)
            if (cook->held[i] && cook->body->used[i / 3] && fabs(x[i]) > 1e-9 * largest)
                return bo_fail(cook->ctx, BOUGH_ERROR_ARGUMENT,
                               "%s %zu of the basis moves vertex %zu, where the component is held", what, c, i / 3);
    }
    return BOUGH_OK;
}

/* ---- seeds: modes and boundary modes ---- */

typedef struct {
    bo_columns seeds;
    int32_t mode_count; /* of the seeds: the first ones */
    double *eigenvalues;
    double amplitude; /* of the lowest seed when its largest displacement is that of the poses */
} seed_set;

/* Boundary modes get length 1 in the (loaded) mass and Rayleigh's quotient for an eigenvalue, like modes. False for a
 * zero: a force on vertices that are held has no response. */
static bool normalise_seed(bo_cook *cook, double *x, double *product, double *eigenvalue) {
    size_t n = (size_t)cook->n;
    bo_cook_mass(cook, x, product, 1);
    if (cook->loaded)
        bo_cook_add_loads(cook, x, product);
    double mass = bo_dot_n(cook->n, x, product);
    if (!(mass > 0))
        return false;
    bo_sparse_mul(cook->K, x, product, false);
    *eigenvalue = bo_dot_n(cook->n, x, product) / mass;
    for (size_t i = 0; i < n; i++)
        x[i] /= sqrt(mass);
    return true;
}

static bough_status finish_seeds(bo_cook *cook, seed_set *set) {
    size_t n = (size_t)cook->n, count = (size_t)set->seeds.count;
    double *product = BO_NEW_ARRAY(cook->ctx, double, n), lowest = INFINITY;
    set->eigenvalues = BO_NEW_ARRAY(cook->ctx, double, count);
    if (!product || !set->eigenvalues) {
        bo_free(cook->ctx, product);
        return BOUGH_ERROR_MEMORY;
    }
    size_t kept = 0;
    for (size_t k = 0; k < count; k++) {
        double *x = set->seeds.values + kept * n;
        if (kept < k)
            memcpy(x, set->seeds.values + k * n, n * sizeof *x);
        bo_cook_remove_rigid(cook, x, product);
        if (!normalise_seed(cook, x, product, &set->eigenvalues[kept]))
            continue;
        if (set->eigenvalues[kept] < lowest) {
            lowest = set->eigenvalues[kept];
            set->amplitude = cook->def->pose_amplitude * cook->size / bo_cook_largest(cook, x);
        }
        kept++;
    }
    set->seeds.count = (int32_t)kept;
    bo_free(cook->ctx, product);
    return BOUGH_OK;
}

static bough_status make_seeds(bo_cook *cook, uint32_t kinds, seed_set *set) {
    int32_t count = mode_count_of(cook, kinds);
    bo_cook_clock(cook, BOUGH_COOK_EIGEN);
    if (count > 0 && !(kinds & BOUGH_BASIS_CONSTRAINT) && !(cook->modes_done && cook->mode_count == count))
        BO_TRY(bo_cook_modes(cook, count));
    cook->modes_done = count > 0 && !(kinds & BOUGH_BASIS_CONSTRAINT);
    if (cook->modes_done)
        BO_TRY(bo_cook_lower_shift(cook));
    bo_columns boundary = {0};
    bough_status status = BOUGH_OK;
    if (kinds & BOUGH_BASIS_CONSTRAINT)
        status = bo_cook_craig_bampton(cook, count, &boundary);
    bo_cook_clock(cook, BOUGH_COOK_DERIVATIVES);
    if (status == BOUGH_OK && kinds & BOUGH_BASIS_ATTACHMENT)
        status = bo_cook_attachment(cook, &boundary);
    set->mode_count = cook->mode_count;
    double *to = status == BOUGH_OK ? bo_columns_add(cook, &set->seeds, cook->mode_count + boundary.count) : NULL;
    if (to) {
        size_t n = (size_t)cook->n, modes = (size_t)cook->mode_count * n;
        if (modes)
            memcpy(to, cook->modes, modes * sizeof *to);
        if (boundary.count)
            memcpy(to + modes, boundary.values, (size_t)boundary.count * n * sizeof *to);
        status = finish_seeds(cook, set);
    } else if (status == BOUGH_OK) {
        status = BOUGH_ERROR_MEMORY;
    }
    bo_free(cook->ctx, boundary.values);
    return status;
}

static void free_seeds(bo_cook *cook, seed_set *set) {
    bo_free(cook->ctx, set->seeds.values);
    bo_free(cook->ctx, set->eigenvalues);
}

/* ---- candidates ---- */

static void scale(size_t n, double factor, double *x) {
    for (size_t i = 0; i < n; i++)
        x[i] *= factor;
}

/* Barbic and James (2005) weigh a mode by lambda_1 / lambda_i and a derivative by lambda_1^2 / (lambda_i lambda_j).
 * Between the two stands an amplitude, so that the result does not depend on units: u = a phi + a^2/2 Phi when the
 * lowest mode moves as far as the poses do. */
static bough_status weigh_seeds(bo_cook *cook, const seed_set *set, bool derivatives, bo_columns *candidates) {
    size_t n = (size_t)cook->n;
    int32_t count = set->seeds.count, pairs = derivatives ? count * (count + 1) / 2 : 0;
    double lowest = INFINITY;
    for (int32_t k = 0; k < count; k++)
        lowest = fmin(lowest, set->eigenvalues[k]);
    double *x = bo_columns_add(cook, candidates, count + pairs);
    if (!x)
        return BOUGH_ERROR_MEMORY;
    memcpy(x, set->seeds.values, (size_t)count * n * sizeof *x);
    if (derivatives)
        BO_TRY(bo_cook_derivatives(cook, count, set->seeds.values, x + (size_t)count * n));
    const double a = set->amplitude;
    for (int32_t i = 0; i < count; i++, x += n)
        scale(n, a * lowest / set->eigenvalues[i], x);
    for (int32_t i = 0; i < count && derivatives; i++)
        for (int32_t j = 0; j <= i; j++, x += n)
            scale(n, 0.5 * a * a * lowest * lowest / (set->eigenvalues[i] * set->eigenvalues[j]), x);
    return BOUGH_OK;
}

/* Snapshots count together as much as the lowest mode does; how far a free body flies does not count. */
static bough_status add_snapshots(bo_cook *cook, double amplitude, bo_columns *candidates) {
    int32_t count = cook->def->snapshot_count;
    size_t n = (size_t)cook->n, size = (size_t)count * n;
    BO_TRY(check_given(cook, "snapshot", count, cook->def->snapshots));
    double *x = bo_columns_add(cook, candidates, count), *product = BO_NEW_ARRAY(cook->ctx, double, n), sum = 0;
    if (!x || !product) {
        bo_free(cook->ctx, product);
        return BOUGH_ERROR_MEMORY;
    }
    memcpy(x, cook->def->snapshots, size * sizeof *x);
    for (int32_t c = 0; c < count; c++) {
        bo_cook_remove_rigid(cook, x + (size_t)c * n, product);
        bo_cook_mass(cook, x + (size_t)c * n, product, 1);
        sum += bo_dot_n(cook->n, x + (size_t)c * n, product);
    }
    bo_free(cook->ctx, product);
    if (amplitude > 0 && sum > 0)
        scale(size, amplitude / sqrt(sum), x);
    return BOUGH_OK;
}

/* ---- from vectors to U ---- */

/* The vibration modes of the reduced body, V (r x r, a column each) and the eigenvalues, ascending (3 r of room). */
static bough_status reduced_modes(bo_cook *cook, const bo_columns *basis, double *values, double *V) {
    const size_t n = (size_t)cook->n, r = (size_t)basis->count;
    double *KQ = BO_NEW_ARRAY(cook->ctx, double, r *n), *K = BO_NEW_ARRAY(cook->ctx, double, r *r);
    bough_status status = KQ && K ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        for (size_t k = 0; k < r; k++)
            bo_sparse_mul(cook->K, basis->values + k * n, KQ + k * n, false);
        bo_gemm(false, true, basis->count, basis->count, cook->n, 1, basis->values, cook->n, KQ, cook->n, 0, K,
                basis->count);
        if (!bo_sym_eigen(basis->count, K, values, V, values + r))
            status = bo_fail(cook->ctx, BOUGH_NOT_FINITE, "the reduced stiffness is not finite");
    }
    bo_free(cook->ctx, KQ);
    bo_free(cook->ctx, K);
    return status;
}

/* Coordinates are the vibration modes of the reduced body: K is diagonal and ascends. Each has its largest entry
 * positive, so that nothing depends on the eigensolver's choice of signs. */
static bough_status rotate(bo_cook *cook, const bo_columns *basis) {
    const size_t n = (size_t)cook->n, r = (size_t)basis->count;
    double *V = BO_NEW_ARRAY(cook->ctx, double, r *r), *values = BO_NEW_ARRAY(cook->ctx, double, 3 * r);
    cook->U = BO_COOK_ARRAY(cook, double, n *r);
    cook->r = basis->count;
    bough_status status = V && values && cook->U ? reduced_modes(cook, basis, values, V) : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        bo_gemm(true, false, cook->n, cook->r, cook->r, 1, basis->values, cook->n, V, cook->r, 0, cook->U, cook->r);
    bo_free(cook->ctx, V);
    bo_free(cook->ctx, values);
    return status;
}

/* Coordinates are those of the basis, as it is. */
static bough_status keep_as_given(bo_cook *cook, const bo_columns *basis) {
    const size_t n = (size_t)cook->n, r = (size_t)basis->count;
    cook->r = basis->count;
    if (!(cook->U = BO_COOK_ARRAY(cook, double, n *r)))
        return BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < r; l++)
            cook->U[r * i + l] = cook->held[i] ? 0 : basis->values[n * l + i];
    return BOUGH_OK;
}

static bough_status fix_signs(bo_cook *cook) {
    size_t n = (size_t)cook->n, r = (size_t)cook->r;
    double *largest = BO_NEW_ZEROS(cook->ctx, double, r);
    if (!largest)
        return BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < n * r; i++)
        if (fabs(cook->U[i]) > fabs(largest[i % r]) * (1 + 1e-9))
            largest[i % r] = cook->U[i];
    for (size_t i = 0; i < n * r; i++)
        cook->U[i] = cook->held[i / r] ? 0 : largest[i % r] < 0 ? -cook->U[i] : cook->U[i];
    bo_free(cook->ctx, largest);
    return BOUGH_OK;
}

/* ---- all ---- */

/* As many coordinates as unknowns: every displacement. */
static bough_status whole_space(bo_cook *cook, bo_columns *basis) {
    size_t n = (size_t)cook->n;
    double *unit = BO_NEW_ZEROS(cook->ctx, double, n);
    bough_status status = unit ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < n && status == BOUGH_OK && basis->count < cook->def->r; i++) {
        if (cook->held[i])
            continue;
        unit[i] = 1;
        status = bo_cook_orthonormalise(cook, 1, unit, basis);
        unit[i] = 0;
    }
    bo_free(cook->ctx, unit);
    return status;
}

/* Modes and derivatives by their motion, in the mass norm; the rest of the room for what has energy. A stiff answer (a
 * rod that is twisted or pulled) hardly moves, and the first choice does not see it. A small basis has no such room: it
 * must bend first of all. */
static int32_t room_of_motion(const bo_cook *cook) {
    const int32_t most = 3 * cook->def->r / 5;
    return most > LEAST_MOTION ? most : LEAST_MOTION;
}

/* The part of a mode's energy that the basis cannot show: x.K x - a.Kr^-1 a with a = Q K x. */
static double energy_missed(bo_cook *cook, const bo_columns *basis, const double *values, const double *V,
                            const double *mode, double *product, double *a) {
    bo_sparse_mul(cook->K, mode, product, false);
    const double energy = bo_dot_n(cook->n, mode, product);
    double missed = energy;
    bo_gemm(false, false, basis->count, 1, cook->n, 1, basis->values, cook->n, product, 1, 0, a, 1);
    for (int32_t l = 0; l < basis->count; l++) {
        double along = 0;
        for (int32_t k = 0; k < basis->count; k++)
            along += V[(size_t)k * (size_t)basis->count + (size_t)l] * a[k];
        missed -= along * along / values[l];
    }
    return missed / energy;
}

/* The last directions of all give way to those of the lowest modes that were lost among answers and derivatives: a mode
 * of which a twelfth of the energy is missed vibrates 4 % too fast or more. kept: columns, the first ones, that stay.
 */
static bough_status keep_low_modes(bo_cook *cook, const seed_set *set, int32_t kept, bo_columns *basis) {
    const size_t n = (size_t)cook->n, r = (size_t)basis->count;
    const int32_t most = cook->def->r / 4 < set->mode_count ? cook->def->r / 4 : set->mode_count;
    double *V = BO_NEW_ARRAY(cook->ctx, double, r *r), *values = BO_NEW_ARRAY(cook->ctx, double, 4 * r + n);
    const double *lost[BOUGH_MAX_COORDINATES / 4];
    int32_t count = 0;
    bough_status status = V && values ? reduced_modes(cook, basis, values, V) : BOUGH_ERROR_MEMORY;
    for (int32_t k = 0; k < most && status == BOUGH_OK; k++) {
        const double *mode = set->seeds.values + (size_t)k * n;
        if (energy_missed(cook, basis, values, V, mode, values + 4 * r, values + 3 * r) > MODE_LOST)
            lost[count++] = mode;
    }
    count = count < cook->def->r - kept ? count : cook->def->r - kept;
    if (basis->count + count > cook->def->r)
        basis->count = cook->def->r - count;
    for (int32_t k = 0; k < count && status == BOUGH_OK; k++)
        status = bo_cook_orthonormalise(cook, 1, lost[k], basis);
    bo_free(cook->ctx, V);
    bo_free(cook->ctx, values);
    return status;
}

/* Derivatives have the weights they had; modes all have the energy of the lowest; answers to wrenches count more. */
static bough_status add_by_energy(bo_cook *cook, uint32_t kinds, const seed_set *set, int32_t kept,
                                  bo_columns *candidates, bo_columns *basis) {
    const size_t n = (size_t)cook->n;
    const double tolerance = cook->def->tolerance > 0 ? fmax(cook->def->tolerance, ENERGY_TOLERANCE) : 0;
    const bo_pca_def by_energy = {cook->def->r, tolerance, true};
    const int32_t own = candidates->count;
    double lowest = INFINITY;
    for (int32_t k = 0; k < set->seeds.count; k++)
        lowest = fmin(lowest, set->eigenvalues[k]);
    for (int32_t k = 0; k < set->seeds.count; k++)
        scale(n, MODE_WEIGHT * sqrt(set->eigenvalues[k] / lowest), candidates->values + (size_t)k * n);
    int32_t linear;
    BO_TRY(bo_cook_wrench_shapes(cook, kinds & BOUGH_BASIS_DERIVATIVES, candidates, &linear));
    bo_cook_share_wrenches(cook, linear, candidates->count - own, candidates->values + (size_t)own * n);
    const double energy = set->seeds.count ? set->amplitude * sqrt(lowest) : 1;
    for (int32_t k = own; k < candidates->count; k++)
        scale(n, k < own + linear ? ANSWER_WEIGHT * energy : energy, candidates->values + (size_t)k * n);
    BO_TRY(bo_cook_pca(cook, candidates, &by_energy, basis));
    BO_TRY(keep_low_modes(cook, set, kept, basis));
    candidates->count = own;
    for (int32_t k = 0; k < set->seeds.count; k++)
        scale(n, sqrt(lowest / set->eigenvalues[k]) / MODE_WEIGHT, candidates->values + (size_t)k * n);
    return bo_cook_left_out(cook, candidates, basis);
}

static bough_status choose_directions(bo_cook *cook, uint32_t kinds, const seed_set *set, bo_columns *candidates,
                                      bo_columns *basis) {
    const int32_t r = cook->def->r, kept = basis->count;
    const bool wrenches = kinds & BOUGH_BASIS_WRENCHES;
    bo_pca_def by_motion = {r, cook->def->tolerance, false};
    if (wrenches && room_of_motion(cook) < r && cook->def->tolerance == 0)
        by_motion.most = room_of_motion(cook);
    BO_TRY(bo_cook_pca(cook, candidates, &by_motion, basis));
    return wrenches && basis->count < r ? add_by_energy(cook, kinds, set, kept, candidates, basis) : BOUGH_OK;
}

static bough_status answer_forces(bo_cook *cook, bo_columns *basis) {
    const int32_t count = cook->def->force_count;
    const size_t size = (size_t)count * (size_t)cook->n;
    double *forces = BO_NEW_ARRAY(cook->ctx, double, size), *answers = BO_NEW_ARRAY(cook->ctx, double, size);
    bough_status status = forces && answers ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < size && status == BOUGH_OK; i++) {
        forces[i] = cook->def->forces[i];
        if (!isfinite(forces[i]))
            status = bo_fail(cook->ctx, BOUGH_NOT_FINITE, "force %zu of the basis is not finite", i / (size_t)cook->n);
    }
    if (status == BOUGH_OK)
        status = bo_cook_solve(cook, forces, answers, count);
    if (status == BOUGH_OK)
        status = bo_cook_orthonormalise(cook, count, answers, basis);
    bo_free(cook->ctx, forces);
    bo_free(cook->ctx, answers);
    return status;
}

static bough_status combine(bo_cook *cook, uint32_t kinds, seed_set *set, bo_columns *candidates, bo_columns *basis) {
    if (kinds & BOUGH_BASIS_FORCES)
        return answer_forces(cook, basis);
    if (cook->def->r == free_count(cook)) {
        cook->draft.quality.basis_error = 0;
        cook->draft.quality.energy_captured = 1;
        return whole_space(cook, basis);
    }
    BO_TRY(check_candidates(cook, kinds, mode_count_of(cook, kinds)));
    if (kinds & (BOUGH_BASIS_MODES | BOUGH_BASIS_ATTACHMENT | BOUGH_BASIS_CONSTRAINT))
        BO_TRY(make_seeds(cook, kinds, set));
    if (kinds & BOUGH_BASIS_COLUMNS) {
        BO_TRY(check_given(cook, "column", cook->def->column_count, cook->def->columns));
        BO_TRY(bo_cook_orthonormalise(cook, cook->def->column_count, cook->def->columns, basis));
    }
    bo_cook_clock(cook, BOUGH_COOK_DERIVATIVES);
    int32_t boundary = set->seeds.count - set->mode_count;
    if (cook->def->keep_boundary && boundary > 0)
        BO_TRY(bo_cook_orthonormalise(cook, boundary, set->seeds.values + (size_t)set->mode_count * (size_t)cook->n,
                                      basis));
    if (basis->count > cook->def->r)
        return bo_fail(cook->ctx, BOUGH_ERROR_ARGUMENT,
                       "%d columns are to be kept exactly, but r is %d; raise r or keep fewer", basis->count,
                       cook->def->r);
    if (set->seeds.count)
        BO_TRY(weigh_seeds(cook, set, kinds & BOUGH_BASIS_DERIVATIVES, candidates));
    if (kinds & BOUGH_BASIS_SNAPSHOTS)
        BO_TRY(add_snapshots(cook, set->amplitude, candidates));
    bo_cook_clock(cook, BOUGH_COOK_BASIS);
    return choose_directions(cook, kinds, set, candidates, basis);
}

static void remark(const bo_cook *cook) {
    const double error = cook->draft.quality.basis_error;
    if (cook->def->tolerance > 0 && error > cook->def->tolerance)
        bo_warn(cook->ctx, "the basis misses its tolerance: %.2g instead of %.2g with %d coordinates; raise r or modes",
                error, cook->def->tolerance, cook->r);
    else if (cook->r < cook->def->r && cook->def->tolerance == 0)
        bo_warn(cook->ctx, "only %d independent coordinates were found, not %d; ask for more modes", cook->r,
                cook->def->r);
}

bough_status bo_cook_basis(bo_cook *cook) {
    if (cook->def->r == 0)
        return BOUGH_OK;
    const uint32_t kinds = kinds_of(cook);
    cook->modes_held = kinds & BOUGH_BASIS_CONSTRAINT;
    cook->loaded = kinds & BOUGH_BASIS_LOADED && cook->load_count > 0 && !cook->modes_held;
    bo_cook_clock(cook, BOUGH_COOK_FACTOR);
    BO_TRY(bo_cook_factor(cook));
    if (cook->def->r > free_count(cook))
        return bo_fail(cook->ctx, BOUGH_ERROR_ARGUMENT, "r = %d is more than the %d unknowns of the body that can move",
                       cook->def->r, free_count(cook));
    if (bo_cook_resume(cook)) /* what is measured on it wants the same factor as if nothing had happened */
        return cook->modes_done ? bo_cook_lower_shift(cook) : BOUGH_OK;
    seed_set set = {0};
    bo_columns candidates = {0}, basis = {0};
    bough_status status = combine(cook, kinds, &set, &candidates, &basis);
    if (status == BOUGH_OK && basis.count == 0)
        status = bo_fail(cook->ctx, BOUGH_ERROR_ARGUMENT, "the basis is empty: none of its columns is other than zero");
    const bool as_given = kinds & BOUGH_BASIS_FORCES;
    if (status == BOUGH_OK)
        status = as_given ? keep_as_given(cook, &basis) : rotate(cook, &basis);
    if (status == BOUGH_OK && !as_given)
        status = fix_signs(cook);
    cook->basis_done = status == BOUGH_OK;
    if (status == BOUGH_OK)
        remark(cook);
    free_seeds(cook, &set);
    bo_free(cook->ctx, candidates.values);
    bo_free(cook->ctx, basis.values);
    return status;
}
