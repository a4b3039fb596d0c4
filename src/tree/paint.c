/* Painting: frequencies and damping ratios of parts. docs/theory/tree.md, "Painting".
 *
 * The frequency that a ratio belongs to is the lowest of the part held where it hangs (a root that flies: free), with
 * all that hangs on it at rest as one rigid body: of s^3 k^2 K x = w^2 (s^5 M + loads) x at scale s and stiffness k. */
#include "tree/paint.h"

#include "base/polar.h"
#include "dense/cholesky.h"
#include "dense/symmetric_eigen.h"

#include <math.h>
#include <string.h>

/* ---- rigid matter at rest ---- */

/* Integrals of 1, x and x x^T over the mass. */
typedef struct {
    double m;
    bo_vec3 mc;
    bo_mat3 Sigma;
} matter;

static matter matter_of(const bo_tree_part *part, const bough_component *c) {
    matter a = {part->scale3 * c->mass, bo_scale(part->scale4, bo_load3(c->mc0)), {{0}}};
    for (int k = 0; k < 9; k++)
        a.Sigma.m[k] = part->scale5 * c->Sigma0[k];
    return a;
}

static matter turned(bo_mat3 R, matter a) {
    a.mc = bo_mat_vec(R, a.mc);
    a.Sigma = bo_mat_mul(bo_mat_mul(R, a.Sigma), bo_transpose(R));
    return a;
}

/* Adds what is a about a point that is at d. */
static void add_moved(matter *sum, bo_vec3 d, const matter *a) {
    const bo_mat3 mixed = bo_outer(d, a->mc);
    sum->m += a->m;
    sum->mc = bo_add(sum->mc, bo_mul_add(a->mc, a->m, d));
    sum->Sigma = bo_mat_add(sum->Sigma, bo_mat_add(a->Sigma, bo_mat_scale(a->m, bo_outer(d, d))));
    sum->Sigma = bo_mat_add(sum->Sigma, bo_mat_add(mixed, bo_transpose(mixed)));
}

static const bough_component *component_of(const bough_tree_model *model, const bo_tree_part *part) {
    return model->components[part->component].c;
}

/* Place of the interface that a part hangs at, from its parent's origin in the parent's axes. */
static bo_vec3 seat_of(const bough_tree_model *model, const bo_tree_part *part) {
    const bo_tree_part *parent = &model->parts[part->parent];
    return bo_scale(parent->scale, bo_load3(component_of(model, parent)->interfaces[part->interface_index].centre));
}

/* Sums up the matter of each part with all that hangs on it, about its origin in its axes. Parents come before their
 * children. */
static void compose(const bough_tree_model *model, matter *trees) {
    for (int32_t i = 0; i < model->part_count; i++)
        trees[i] = matter_of(&model->parts[i], component_of(model, &model->parts[i]));
    for (int32_t i = model->part_count - 1; i >= 0; i--) {
        const bo_tree_part *part = &model->parts[i];
        if (part->parent < 0)
            continue;
        const matter seen = turned(part->rest, trees[i]);
        add_moved(&trees[part->parent], bo_add(seat_of(model, part), part->arm), &seen);
    }
}

/* ---- the lowest frequency of a part ---- */

/* Motion of a frame by one coordinate. */
typedef struct {
    bo_vec3 v, w;
} twist;

/* sum over the mass of (a.v + a.w x x) . (b.v + b.w x x) */
static double product(const matter *m, twist a, twist b) {
    const double tilt = bo_dot(a.v, bo_cross(b.w, m->mc)) + bo_dot(b.v, bo_cross(a.w, m->mc));
    const double turn = bo_trace(m->Sigma) * bo_dot(a.w, b.w) - bo_dot(b.w, bo_mat_vec(m->Sigma, a.w));
    return m->m * bo_dot(a.v, b.v) + tilt + turn;
}

/* The six rigid motions of a root that flies, seen at x; then its r coordinates at the interface. */
static void twists_at(const bo_tree_part *part, const bough_interface *face, bo_vec3 x, twist *out) {
    double Op[27];
    bo_mat3 A0, R, S;
    for (int k = 0; k < 6 && part->free; k++, out++) {
        const bo_vec3 e = {k % 3 == 0, k % 3 == 1, k % 3 == 2}, none = {0, 0, 0};
        *out = k < 3 ? (twist){e, none} : (twist){bo_cross(e, x), e};
    }
    memcpy(A0.m, face->A, sizeof A0.m);
    bo_polar(A0, &R, &S);
    bo_polar_operator(R, S, Op);
    for (int32_t l = 0; l < part->r; l++) {
        double w[3] = {0};
        for (int k = 0; k < 27; k++)
            w[k / 9] += Op[k] * face->A[9 * (l + 1) + k % 9];
        out[l] = (twist){bo_scale(part->scale, bo_load3(face->translation + 3 * l)), bo_load3(w)};
    }
}

/* The mass matrix of the part alone: rigid motions of a root that flies, then coordinates. */
static void own_mass(const bo_tree_part *part, const bough_component *c, int32_t width, double *M) {
    const int32_t r = part->r, rigid = width - r;
    const matter whole = matter_of(part, c);
    twist motions[6];
    for (int k = 0; k < rigid; k++) {
        const bo_vec3 e = {k % 3 == 0, k % 3 == 1, k % 3 == 2}, none = {0, 0, 0};
        motions[k] = k < 3 ? (twist){e, none} : (twist){none, e};
    }
    for (int32_t a = 0; a < width; a++)
        for (int32_t b = 0; b <= a; b++) {
            double *entry = &M[a * width + b];
            if (a < rigid) {
                *entry = product(&whole, motions[a], motions[b]);
            } else if (b < rigid) { /* int U_l, then int X x U_l */
                const double *W = c->W5 + 9 * (a - rigid), turn[3] = {W[7] - W[5], W[2] - W[6], W[3] - W[1]};
                *entry = b < 3 ? part->scale4 * c->s[3 * (a - rigid) + b] : part->scale5 * turn[b - 3];
            } else {
                const double *W = c->W7 + 9 * ((size_t)(a - rigid) * (size_t)r + (size_t)(b - rigid));
                *entry = part->scale5 * (W[0] + W[4] + W[8]);
            }
        }
}

/* Adds what hangs on the part. */
static void hang_loads(const bough_tree_model *model, const bo_tree_part *part, const matter *trees, int32_t width,
                       twist *twists, double *M) {
    for (int32_t k = 0; k < part->child_count; k++) {
        const int32_t child = model->children[part->first_child + k];
        const bo_tree_part *hung = &model->parts[child];
        const matter seen = turned(hung->rest, trees[child]);
        matter load = {0}; /* about the interface's centre */
        add_moved(&load, hung->arm, &seen);
        twists_at(part, &component_of(model, part)->interfaces[hung->interface_index], seat_of(model, hung), twists);
        for (int32_t a = 0; a < width; a++)
            for (int32_t b = 0; b <= a; b++)
                M[a * width + b] += product(&load, twists[a], twists[b]);
    }
}

/* Eliminates the first p coordinates, which have no stiffness and follow the others, from the lower triangle of M; then
 * packs the entries of the rest: r x r. */
static void follow(int32_t width, int32_t p, double *M) {
    const int32_t r = width - p;
    for (int32_t k = 0; k < p; k++)
        for (int32_t a = k + 1; a < width; a++)
            for (int32_t b = k + 1; b <= a; b++)
                M[a * width + b] -= M[a * width + k] * M[b * width + k] / M[k * width + k];
    for (int32_t a = 0; a < r; a++)
        for (int32_t b = 0; b <= a; b++)
            M[a * r + b] = M[(a + p) * width + b + p];
}

/* Smallest w of K x = w^2 M x: with K = L L^T the largest eigenvalue of L^-1 M L^-T is 1 / w^2. Lower triangles; both
 * are destroyed. NAN when K is not positive definite. */
static double smallest(int32_t r, double *K, double *M, double *values) {
    const size_t n = (size_t)r;
    if (!bo_cholesky_factor(r, K))
        return NAN;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            M[i * n + j] = M[j * n + i];
    bo_cholesky_congruence(r, K, M);
    return bo_sym_eigen(r, M, values, NULL, values + n) ? 1 / sqrt(values[n - 1]) : NAN;
}

/* rad/s at stiffness 1. */
static double lowest(const bough_tree_model *model, const bo_tree_part *part, const matter *trees, double *work) {
    const int32_t r = part->r, width = r + (part->free ? 6 : 0);
    const bough_component *c = component_of(model, part);
    double *K = work, *M = K + (size_t)r * (size_t)r, *values = M + (size_t)width * (size_t)width;
    twist *twists = (twist *)(values + 3 * (size_t)r);
    own_mass(part, c, width, M);
    hang_loads(model, part, trees, width, twists, M);
    follow(width, width - r, M);
    for (size_t k = 0; k < (size_t)r * (size_t)r; k++)
        K[k] = part->scale3 * c->K[k];
    return smallest(r, K, M, values);
}

static size_t work_size(const bough_tree_model *model) {
    size_t most = 0;
    for (int32_t c = 0; c < model->component_count; c++)
        most = (size_t)model->components[c].r > most ? (size_t)model->components[c].r : most;
    return most * most + (most + 6) * (most + 6) + 3 * most + (most + 6) * (sizeof(twist) / sizeof(double));
}

/* Finds the frequencies of the parts that are wanted. Parts of one component with nothing on them differ in scale
 * alone. */
static bough_status find_frequencies(bough_context *ctx, const bough_tree_model *model, const bool *wanted,
                                     matter *trees, double *work, double *bare, double *omega) {
    compose(model, trees);
    for (int32_t c = 0; c < model->component_count; c++)
        bare[c] = 0;
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        const bool alike = part->child_count == 0 && !part->free;
        double *found = &omega[part->user], *kept = &bare[part->component];
        if (wanted && !wanted[part->user])
            continue;
        if (part->r == 0)
            *found = INFINITY;
        else if (alike && *kept > 0)
            *found = *kept / part->scale;
        else
            *found = lowest(model, part, trees, work);
        if (alike)
            *kept = *found * part->scale;
        if (!(*found > 0))
            return bo_fail(ctx, BOUGH_ERROR_SINGULAR, "part \"%s\" has no lowest frequency: it is not stiff",
                           model->def.parts[part->user].name);
    }
    return BOUGH_OK;
}

bough_status bo_tree_frequencies(bough_context *ctx, const bough_tree_model *model, const bool *wanted, double *omega) {
    matter *trees = BO_NEW_ARRAY(ctx, matter, model->part_count);
    double *work = BO_NEW_ARRAY(ctx, double, work_size(model));
    double *bare = BO_NEW_ARRAY(ctx, double, model->component_count);
    bough_status status =
        trees && work && bare ? find_frequencies(ctx, model, wanted, trees, work, bare, omega) : BOUGH_ERROR_MEMORY;
    bo_free(ctx, trees);
    bo_free(ctx, work);
    bo_free(ctx, bare);
    return status;
}

/* ---- damping ---- */

/* Rayleigh's a M + b K damps a vibration of w by the ratio a / (2 w) + b w / 2: which part of it is the mass's; NAN for
 * none at all. */
static double share_of_mass(double w, double a, double b) {
    const double of_mass = 0.5 * a / w, of_stiffness = 0.5 * b * w;
    return of_mass / (of_mass + of_stiffness);
}

/* The ratio at w, in the shares that a and b have now; where they are zero, by stiffness. */
static void set_ratio(double w, double share, double ratio, double *a, double *b) {
    share = isfinite(share) ? share : 0;
    *a = isfinite(w) ? 2 * w * ratio * share : 0; /* a rigid part has nothing to damp */
    *b = isfinite(w) ? 2 * ratio * (1 - share) / w : 0;
}

bough_status bo_tree_paint_damping(bough_context *ctx, bough_tree_model *model) {
    const size_t count = (size_t)model->def.part_count;
    bough_part_def *parts = (bough_part_def *)model->def.parts; /* the model's own */
    bool any = false, *wanted = BO_NEW_ZEROS(ctx, bool, count);
    double *omega = BO_NEW_ZEROS(ctx, double, count);
    bough_status status = wanted && omega ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < count && status == BOUGH_OK; i++)
        any = (wanted[i] = !isnan(parts[i].damping_ratio)) || any;
    if (status == BOUGH_OK && any)
        status = bo_tree_frequencies(ctx, model, wanted, omega);
    for (size_t i = 0; i < count && status == BOUGH_OK; i++)
        if (wanted[i]) {
            const double w = omega[i] * parts[i].stiffness;
            const double share = share_of_mass(w, parts[i].damping_mass, parts[i].damping_stiffness);
            set_ratio(w, share, parts[i].damping_ratio, &parts[i].damping_mass, &parts[i].damping_stiffness);
        }
    bo_free(ctx, wanted);
    bo_free(ctx, omega);
    return status;
}

/* ---- while it runs ---- */

static bough_status check_part(bough_context *ctx, const bough_tree_model *model, int32_t part) {
    const int32_t count = model->def.part_count;
    return part >= 0 && part < count
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there is no part %d; the model has %d", part, count);
}

static bough_status check_component(bough_context *ctx, const bough_tree_model *model, int32_t component) {
    return component >= 0 && component < model->component_count
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there is no component %d; the model has %d", component,
                         model->component_count);
}

static bough_status check_factor(bough_context *ctx, double factor) {
    return factor > 0 && isfinite(factor)
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a factor on frequencies must be positive, not %g", factor);
}

/* Frequencies go with the factor, so that the same ratios need damping by mass and one over that by stiffness to go
 * with it. */
static void stiffen(bough_tree_state *state, int32_t part, double factor) {
    const double change = factor / state->stiffness[part];
    state->stiffness[part] = factor;
    state->damping_mass[part] *= change;
    state->damping_stiffness[part] /= change;
}

bough_status bough_tree_state_set_stiffness(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                            int32_t part, double factor) {
    BO_TRY(check_part(ctx, model, part));
    BO_TRY(check_factor(ctx, factor));
    stiffen(state, part, factor);
    return BOUGH_OK;
}

bough_status bough_tree_state_set_component_stiffness(bough_context *ctx, const bough_tree_model *model,
                                                      bough_tree_state *state, int32_t component, double factor) {
    BO_TRY(check_component(ctx, model, component));
    BO_TRY(check_factor(ctx, factor));
    for (int32_t i = 0; i < model->def.part_count; i++)
        if (model->def.parts[i].component == component)
            stiffen(state, i, factor);
    return BOUGH_OK;
}

/* The shares of mass and stiffness are those of now, or of the model's def where there is no damping now. */
static void damp(const bough_tree_model *model, bough_tree_state *state, int32_t part, double omega, double ratio) {
    const bough_part_def *def = &model->def.parts[part];
    double *a = &state->damping_mass[part], *b = &state->damping_stiffness[part];
    const double w = omega * state->stiffness[part];
    double share = share_of_mass(w, *a, *b);
    if (isnan(share))
        share = share_of_mass(omega * def->stiffness, def->damping_mass, def->damping_stiffness);
    set_ratio(w, share, ratio, a, b);
}

/* part: or all parts of a component, with part -1. */
static bough_status damp_some(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, int32_t part,
                              int32_t component, double ratio) {
    if (!(ratio >= 0 && isfinite(ratio)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a damping ratio must not be negative, and finite, not %g", ratio);
    model = bo_tree_now(model, state);
    bool *wanted = BO_NEW_ZEROS(ctx, bool, model->def.part_count);
    double *omega = BO_NEW_ZEROS(ctx, double, model->def.part_count);
    bough_status status = wanted && omega ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < model->def.part_count && status == BOUGH_OK; i++)
        wanted[i] = part >= 0 ? i == part : model->def.parts[i].component == component;
    if (status == BOUGH_OK)
        status = bo_tree_frequencies(ctx, model, wanted, omega);
    for (int32_t i = 0; i < model->def.part_count && status == BOUGH_OK; i++)
        if (wanted[i] && model->inside[i] >= 0)
            damp(model, state, i, omega[i], ratio);
    bo_free(ctx, wanted);
    bo_free(ctx, omega);
    return status;
}

bough_status bough_tree_state_set_damping_ratio(bough_context *ctx, const bough_tree_model *model,
                                                bough_tree_state *state, int32_t part, double ratio) {
    BO_TRY(check_part(ctx, model, part));
    BO_TRY(bo_tree_check_present(ctx, bo_tree_now(model, state), part)); /* what is absent has no frequency */
    return damp_some(ctx, model, state, part, -1, ratio);
}

bough_status bough_tree_state_set_component_damping_ratio(bough_context *ctx, const bough_tree_model *model,
                                                          bough_tree_state *state, int32_t component, double ratio) {
    BO_TRY(check_component(ctx, model, component));
    return damp_some(ctx, model, state, -1, component, ratio);
}

bough_status bough_tree_state_lowest_frequencies(bough_context *ctx, const bough_tree_model *model,
                                                 const bough_tree_state *state, double *hz) {
    model = bo_tree_now(model, state);
    for (int32_t i = 0; i < model->def.part_count; i++)
        hz[i] = 0;
    BO_TRY(bo_tree_frequencies(ctx, model, NULL, hz));
    for (int32_t i = 0; i < model->def.part_count; i++)
        hz[i] *= state->stiffness[i] / (2 * M_PI);
    return BOUGH_OK;
}
