/* Accuracy and cost of a choice of end effectors. docs/theory/mechanism.md, "Level of detail". */
#include "mechanism/flexibility.h"
#include "mechanism/links.h"

#include "dense/cholesky.h"
#include "dense/symmetric_eigen.h"

#include <string.h>
#include <time.h>

#define DETAIL_COOKIE 0xB0061066u
#define TURN 6.283185307179586
#define STILL 1e-9 /* scaled compliance against the largest of all: nothing moves */

bough_mechanism_detail_def bough_default_mechanism_detail_def(void) {
    return (bough_mechanism_detail_def){.cookie = DETAIL_COOKIE, .frequency_count = 3, .steps = 1000};
}

/* ---- frequencies ---- */

static bough_status check_count(bough_context *ctx, int32_t count) {
    return count > 0
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%d frequencies were asked for; one at least is needed", count);
}

bough_status bough_mechanism_modes(bough_context *ctx, const bough_mechanism *mechanism, int32_t count,
                                   double *frequencies, double *twists, int32_t *found) {
    bo_flexibility *f = NULL;
    *found = 0;
    BO_TRY(check_count(ctx, count));
    BO_TRY(bo_flexibility_create(ctx, mechanism, &f));
    const bough_status status = bo_flexibility_modes(ctx, f, NULL, count, frequencies, twists, found);
    const size_t links = (size_t)mechanism->def.link_count;
    for (int32_t k = 0; k < *found && status == BOUGH_OK; k++) {
        frequencies[k] = sqrt(frequencies[k]) / TURN;
        for (size_t i = 0; twists && i < links; i++) { /* from the middle to the world's origin */
            double *t = twists + 6 * ((size_t)k * links + i);
            bo_store3(t, bo_sub(bo_load3(t), bo_cross(bo_load3(t + 3), mechanism->middle)));
        }
    }
    bo_flexibility_destroy(ctx, f);
    return status;
}

bough_status bough_mechanism_frequencies(bough_context *ctx, const bough_mechanism *mechanism, int32_t count,
                                         double *frequencies, int32_t *found) {
    return bough_mechanism_modes(ctx, mechanism, count, frequencies, NULL, found);
}

/* Inertia of z; where the base is free it gives way, and takes M_c^T M_b^-1 M_c of it. False: the base has none. */
static bool free_inertia(const bough_mechanism_model *model, double *M) {
    const int32_t n = model->rank;
    memcpy(M, model->Mz, (size_t)n * (size_t)n * sizeof(double));
    if (!model->free_base)
        return true;
    double base[36];
    memcpy(base, model->M_base, sizeof base);
    if (!bo_cholesky_factor(6, base))
        return false;
    for (int32_t j = 0; j < n; j++) {
        double x[6];
        for (int r = 0; r < 6; r++)
            x[r] = model->M_coupling[r * n + j];
        bo_cholesky_solve(6, base, x);
        for (int32_t i = 0; i < n; i++)
            for (int r = 0; r < 6; r++)
                M[i * n + j] -= model->M_coupling[r * n + i] * x[r];
    }
    return true;
}

/* K^-1/2 M K^-1/2 has the eigenvalues 1 / omega^2. */
bough_status bough_mechanism_model_frequencies(bough_context *ctx, const bough_mechanism_model *model, int32_t count,
                                               double *frequencies, int32_t *found) {
    const int32_t n = model->rank;
    *found = 0;
    BO_TRY(check_count(ctx, count));
    double *A = BO_NEW_ARRAY(ctx, double, (size_t)n *(size_t)n + 3 * (size_t)n);
    if (!A)
        return bo_fail_memory(ctx);
    double *values = A + (size_t)n * (size_t)n;
    bool good = free_inertia(model, A);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            A[i * n + j] /= sqrt(model->Kz[i] * model->Kz[j]);
    good = good && bo_sym_eigen(n, A, values, NULL, values + n);
    for (int32_t k = 0; k < n && k < count && good; k++)
        if (values[n - 1 - k] > 0)
            frequencies[(*found)++] = 1 / (sqrt(values[n - 1 - k]) * TURN);
    bo_free(ctx, A);
    return good
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_ERROR_SINGULAR, "the model's frequencies cannot be found: its inertia is singular");
}

bough_status bough_mechanism_model_frequency_error(bough_context *ctx, const bough_mechanism *mechanism,
                                                   const bough_mechanism_model *model, double *error) {
    double whole, reduced;
    int32_t found;
    *error = NAN;
    BO_TRY(bough_mechanism_frequencies(ctx, mechanism, 1, &whole, &found));
    if (found == 0)
        return BOUGH_OK;
    BO_TRY(bough_mechanism_model_frequencies(ctx, model, 1, &reduced, &found));
    if (found > 0)
        *error = reduced / whole - 1;
    return BOUGH_OK;
}

/* ---- static error ---- */

typedef struct {
    const bough_mechanism *mechanism;
    const bough_mechanism_model *model;
    bo_flexibility *f;
    double *wrenches, *twists; /* 6 links, spatial */
    double *z;                 /* rank */
    double sum, sum_of_motion; /* of squares */
    double worst;              /* of those that move at all */
    double most;               /* scaled motion under any wrench */
} comparison;

/* Returns the square of the twist of a link about its origin, in the world's axes, in radii and radians. */
static double scaled_square(const bough_mechanism *m, bo_twist t) {
    return bo_dot(t.v, t.v) / (m->radius * m->radius) + bo_dot(t.w, t.w);
}

static bo_vec3 origin_of(const bough_mechanism *m, int32_t link) {
    return bo_sub(bo_load3(m->links[link].pose.position), m->middle);
}

/* A wrench on the origin of a link, in the world's axes: exact twists of all links, and those of the model. */
static void compare_wrench(comparison *c, int32_t link, bo_twist w) {
    const bough_mechanism *m = c->mechanism;
    const bough_mechanism_model *model = c->model;
    double largest = 0, motion = 0;
    memset(c->wrenches, 0, 6 * (size_t)m->def.link_count * sizeof(double));
    bo_store_twist(c->wrenches + 6 * (size_t)link, (bo_twist){w.v, bo_add(w.w, bo_cross(origin_of(m, link), w.v))});
    bo_flexibility_solve(c->f, c->wrenches, c->twists);
    for (int32_t k = 0; k < model->rank; k++)
        c->z[k] = bo_twist_dot(w, bo_lanes_twist(bo_mechanism_lanes_of(model), link, 1 + k)) / model->Kz[k];
    for (int32_t i = 0; i < m->def.link_count; i++) {
        bo_twist t = bo_load_twist(c->twists + 6 * (size_t)i);
        t.v = bo_add(t.v, bo_cross(t.w, origin_of(m, i)));
        const double all = scaled_square(m, t);
        for (int32_t k = 0; k < model->rank; k++)
            t = bo_twist_mul_add(t, -c->z[k], bo_lanes_twist(bo_mechanism_lanes_of(model), i, 1 + k));
        const double left = scaled_square(m, t);
        c->sum += left, c->sum_of_motion += all;
        largest = fmax(largest, left), motion = fmax(motion, all);
    }
    c->most = fmax(c->most, motion);
    if (motion > STILL * STILL * c->most)
        c->worst = fmax(c->worst, largest / motion);
}

static void compare_link(comparison *c, int32_t link) {
    for (int d = 0; d < 6; d++) {
        double x[6] = {0};
        x[d] = d < 3 ? 1 / c->mechanism->radius : 1;
        compare_wrench(c, link, bo_load_twist(x));
    }
}

static bough_status compare(bough_context *ctx, const bough_mechanism_detail_def *def, comparison *c,
                            bough_mechanism_detail *detail) {
    const bough_mechanism *m = c->mechanism;
    const size_t numbers = 6 * (size_t)m->def.link_count;
    c->wrenches = BO_NEW_ARRAY(ctx, double, 2 * numbers + (size_t)c->model->rank);
    if (!c->wrenches)
        return bo_fail_memory(ctx);
    c->twists = c->wrenches + numbers, c->z = c->twists + numbers;
    for (int pass = 0; pass < 2; pass++) { /* the first finds what moves most */
        c->sum = c->sum_of_motion = c->worst = 0;
        for (int32_t k = 0; k < (def->load_count ? def->load_count : m->def.link_count); k++)
            if ((def->load_count ? def->loads[k] : k) != m->def.base)
                compare_link(c, def->load_count ? def->loads[k] : k);
    }
    detail->static_error = c->sum_of_motion > 0 ? sqrt(c->sum / c->sum_of_motion) : 0;
    detail->static_worst = sqrt(c->worst);
    bo_free(ctx, c->wrenches);
    return BOUGH_OK;
}

/* ---- time ---- */

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bough_status time_steps(bough_context *ctx, const bough_mechanism_model *model, int32_t steps,
                               double *step_seconds) {
    enum { ROUNDS = 9 };
    bough_mechanism_state *state = NULL;
    double times[ROUNDS];
    BO_TRY(bough_mechanism_state_create(ctx, model, &state));
    state->gravity[2] = -9.81; /* m/s^2: so that it moves */
    const int32_t each = steps / ROUNDS + 1;
    bough_status status = BOUGH_OK;
    for (int r = 0; r < ROUNDS && status == BOUGH_OK; r++) {
        const double start = seconds();
        for (int32_t k = 0; k < each && status == BOUGH_OK; k++) {
            status = bough_mechanism_step(ctx, model, state, 1e-3);
            bough_mechanism_state_place(model, state);
        }
        double time = (seconds() - start) / each;
        for (int k = 0; k < r; k++) /* in order */
            if (time < times[k]) {
                const double later = times[k];
                times[k] = time, time = later;
            }
        times[r] = time;
    }
    *step_seconds = status == BOUGH_OK ? times[ROUNDS / 2] : 0;
    bough_mechanism_state_destroy(ctx, state);
    return status;
}

/* ---- all of it ---- */

static bough_status look_at(bough_context *ctx, const bough_mechanism *m, const bough_mechanism_detail_def *def,
                            bo_flexibility *f, const bough_mechanism_model *model, bough_mechanism_detail *detail) {
    int32_t found = 0;
    comparison c = {.mechanism = m, .model = model, .f = f};
    detail->size = 6 * model->end_effector_count, detail->rank = model->rank;
    detail->internal_modes = model->internal_count;
    detail->memory = bough_mechanism_model_memory(model);
    BO_TRY(bough_mechanism_model_frequencies(ctx, model, def->frequency_count, detail->frequencies, &found));
    detail->frequency_count = found < detail->frequency_count ? found : detail->frequency_count;
    BO_TRY(compare(ctx, def, &c, detail));
    return def->steps > 0 ? time_steps(ctx, model, def->steps, &detail->step_seconds) : BOUGH_OK;
}

static bough_status measure(bough_context *ctx, const bough_mechanism *m, const bough_mechanism_detail_def *def,
                            bo_flexibility *f, const bough_mechanism_choice *choice, bough_mechanism_detail *detail) {
    bough_mechanism_statics_def how = bough_default_mechanism_statics_def();
    bough_mechanism_model_def model_def = bough_default_mechanism_model_def();
    bough_mechanism_statics *statics = NULL;
    bough_mechanism_model *model = NULL;
    model_def.internal_modes = choice->internal_modes;
    how.end_effector_count = choice->end_effector_count, how.end_effectors = choice->end_effectors;
    bough_status status = bough_mechanism_statics_create(ctx, m, &how, &statics);
    if (status == BOUGH_OK)
        status = bough_mechanism_model_create(ctx, m, statics, &model_def, &model);
    if (status == BOUGH_OK)
        status = look_at(ctx, m, def, f, model, detail);
    bough_mechanism_model_destroy(ctx, model);
    bough_mechanism_statics_destroy(ctx, statics);
    return status;
}

static bough_status check(bough_context *ctx, const bough_mechanism *m, const bough_mechanism_detail_def *def) {
    if (def->cookie != DETAIL_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "the detail def was not made by bough_default_mechanism_detail_def()");
    if (def->choice_count < 0 || (def->choice_count > 0 && !def->choices))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%d choices of end effectors were given", def->choice_count);
    if (def->frequency_count < 1 || def->frequency_count > BOUGH_DETAIL_FREQUENCIES)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%d frequencies were asked for; 1 to %d can be", def->frequency_count,
                       BOUGH_DETAIL_FREQUENCIES);
    if (def->load_count < 0 || (def->load_count > 0 && !def->loads) || def->steps < 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "numbers of loads and of steps must be 0 or more");
    for (int32_t k = 0; k < def->load_count; k++)
        if (def->loads[k] < 0 || def->loads[k] >= m->def.link_count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "load %d is on link %d, but links are 0 .. %d", k, def->loads[k],
                           m->def.link_count - 1);
    return BOUGH_OK;
}

bough_status bough_mechanism_details(bough_context *ctx, const bough_mechanism *m,
                                     const bough_mechanism_detail_def *def, bough_mechanism_detail *details) {
    bo_flexibility *f = NULL;
    double full[BOUGH_DETAIL_FREQUENCIES] = {0};
    int32_t found = 0;
    BO_TRY(check(ctx, m, def));
    BO_TRY(bo_flexibility_create(ctx, m, &f));
    bough_status status = bo_flexibility_modes(ctx, f, NULL, def->frequency_count, full, NULL, &found);
    for (int32_t k = 0; k < def->choice_count && status == BOUGH_OK; k++) {
        details[k] = (bough_mechanism_detail){.frequency_count = found};
        for (int32_t i = 0; i < found; i++)
            details[k].full[i] = sqrt(full[i]) / TURN;
        status = measure(ctx, m, def, f, &def->choices[k], &details[k]);
    }
    bo_flexibility_destroy(ctx, f);
    return status;
}
