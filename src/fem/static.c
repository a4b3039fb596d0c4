/* Equilibrium: Newton's method with load steps. */
#include "fem/body.h"

#include "linalg/factor.h"

#include <string.h>

#define STATIC_COOKIE 0xB0061012u

bough_static_def bough_default_static_def(void) {
    return (bough_static_def){
        .cookie = STATIC_COOKIE, .tolerance = 1e-9, .load_steps = 1, .max_iterations = 40, .min_step = 1e-4};
}

typedef struct {
    bough_context *ctx;
    const bough_body *body;
    const bough_load_case *load_case;
    const bough_static_def *def;
    bough_static_result *result;
    int32_t n;
    double load, next_load; /* fractions: reached, tried */
    double *u;              /* the iterate */
    double *trial, *step;   /* u + alpha step */
    double *residual;       /* internal + external force; 0 at free degrees of freedom in equilibrium */
    double *external;       /* at full load */
    double *accepted;       /* u of the last accepted load step */
    bough_sparse *K;
    bo_factor *factor;
    double norm, scale, energy; /* of the residual; of the forces in play; total potential */
    double elastic;             /* energy at the state evaluated last, J */
    double stiffness;           /* largest diagonal entry of K, N/m */
    double size;                /* edge of the cube with the body's volume, m */
    bool loaded_supports;       /* some prescribed displacement is not zero */
    double relative;            /* norm / scale after the last iteration */
    bool stable;                /* the last tangent was positive definite as it was */
} solver;

static void destroy(solver *s) {
    bough_context *ctx = s->ctx;
    bo_free(ctx, s->u);
    bo_free(ctx, s->trial);
    bo_free(ctx, s->step);
    bo_free(ctx, s->residual);
    bo_free(ctx, s->external);
    bo_free(ctx, s->accepted);
    bough_sparse_destroy(ctx, s->K);
    bo_factor_destroy(ctx, s->factor);
}

static bough_status prepare(solver *s) {
    bough_context *ctx = s->ctx;
    s->n = bo_body_size(s->body);
    s->u = BO_NEW_ARRAY(ctx, double, s->n);
    s->trial = BO_NEW_ARRAY(ctx, double, s->n);
    s->step = BO_NEW_ARRAY(ctx, double, s->n);
    s->residual = BO_NEW_ARRAY(ctx, double, s->n);
    s->external = BO_NEW_ARRAY(ctx, double, s->n);
    s->accepted = BO_NEW_ARRAY(ctx, double, s->n);
    if (!s->u || !s->trial || !s->step || !s->residual || !s->external || !s->accepted)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(bough_body_matrix_create(ctx, s->body, &s->K));
    if (!bo_progress(ctx, "analysing", 0, "%d unknowns", s->n - s->load_case->fixed_count))
        return bo_fail_cancelled(ctx);
    BO_TRY(bo_factor_analyse(ctx, s->K, 3, s->load_case->fixed, &s->factor));
    s->size = cbrt(bo_body_volume(s->body));
    for (int32_t i = 0; i < s->n; i++)
        s->loaded_supports |= s->load_case->fixed[i] && s->load_case->prescribed[i] != 0;
    bough_load_case_forces(s->load_case, NULL, s->external);
    return BOUGH_OK;
}

/* Residual, its norm over the free degrees of freedom, and the potential E - load * f.u at displacement u. With
 * pressure there is no potential in general: NAN then. The tangent too when asked for. */
static bough_status evaluate(solver *s, const double *u, bool project, bool want_tangent) {
    BO_TRY(bough_body_evaluate(s->ctx, s->body, u, project, &s->elastic, s->residual, want_tangent ? s->K : NULL));
    const bough_load_case *load_case = s->load_case;
    if (want_tangent)
        s->stiffness = bo_sparse_largest_diagonal(s->K);
    if (load_case->pressure_count) {
        bough_load_case_forces(load_case, u, s->external);
        if (want_tangent)
            bo_body_pressure_tangent(s->body, load_case->pressure_count, load_case->pressure, u, s->next_load, s->K);
    }
    double sum = 0, applied = 0, reaction = 0, work = 0;
    for (int32_t i = 0; i < s->n; i++) {
        double external = s->next_load * s->external[i];
        work += external * u[i];
        if (load_case->fixed[i]) {
            reaction += s->residual[i] * s->residual[i];
        } else {
            applied += external * external;
            s->residual[i] += external;
            sum += s->residual[i] * s->residual[i];
        }
    }
    s->norm = sqrt(sum);
    s->scale = sqrt(applied) + sqrt(reaction);
    /* A body without loads comes to rest where all forces vanish: measured by those of a strain of 1e-5. */
    if (applied == 0 && !s->loaded_supports)
        s->scale = fmax(s->scale, 1e-5 * s->stiffness * s->size);
    s->energy = load_case->pressure_count ? NAN : s->elastic - work;
    return isfinite(s->norm) ? BOUGH_OK : bo_fail(s->ctx, BOUGH_NOT_FINITE, "a force is not finite");
}

/* Moves the held degrees of freedom to their prescribed place for the load tried now; the free ones follow by the
 * linear response K_ff du_f = r_f - K_fc du_c, so that no element next to the support is torn. Called with K and
 * residual valid at u. Returns false when all held ones are where they should be, but for rounding. */
static bool add_prescribed_motion(solver *s) {
    const bough_load_case *load_case = s->load_case;
    bool moves = false;
    for (int32_t i = 0; i < s->n; i++) {
        s->step[i] = load_case->fixed[i] ? s->next_load * load_case->prescribed[i] - s->u[i] : 0;
        moves |= fabs(s->step[i]) > 1e-12 * s->size;
    }
    if (!moves)
        return false;
    bo_sparse_mul(s->K, s->step, s->trial, false);
    for (int32_t i = 0; i < s->n; i++)
        if (!load_case->fixed[i])
            s->residual[i] -= s->trial[i];
    return true;
}

static bough_status fail_loose(bough_context *ctx) {
    return bo_fail(ctx, BOUGH_ERROR_SINGULAR,
                   "the body can move without resistance: fix more vertices (at least three that are not in line)");
}

/* Puts the right-hand side together and factors the tangent; when that is not positive definite (buckling, strong
 * compression) the projected one instead. *moves as in add_prescribed_motion(). */
static bough_status factorise(solver *s, bool *moves) {
    s->stable = true;
    *moves = add_prescribed_motion(s);
    bough_status status = bo_factor_numeric(s->ctx, s->factor, s->K);
    if (status == BOUGH_ERROR_SINGULAR) {
        s->stable = false;
        BO_TRY(evaluate(s, s->u, true, true));
        *moves = add_prescribed_motion(s);
        status = bo_factor_numeric(s->ctx, s->factor, s->K);
    }
    return status == BOUGH_ERROR_SINGULAR ? fail_loose(s->ctx) : status;
}

/* u + alpha step for the largest alpha = 1, 1/2, 1/4, ... that the material admits and, when guarded, that lowers
 * the potential (the residual where there is none) by Armijo's rule. */
static bough_status take_step(solver *s, bool guarded, double *alpha) {
    double slope = 0, energy = s->energy, norm = s->norm;
    for (int32_t i = 0; i < s->n; i++)
        if (!s->load_case->fixed[i])
            slope -= s->residual[i] * s->step[i];
    bough_status status = BOUGH_NO_CONVERGENCE;
    for (*alpha = 1; *alpha > 1e-6; *alpha *= 0.5) {
        for (int32_t i = 0; i < s->n; i++)
            s->trial[i] = s->u[i] + *alpha * s->step[i];
        status = evaluate(s, s->trial, false, false);
        if (status != BOUGH_OK && status != BOUGH_NOT_FINITE)
            return status;
        if (status != BOUGH_OK)
            continue;
        /* Near convergence the potential changes by less than its rounding: then a smaller residual is proof enough. */
        bool lower = isnan(energy) ? s->norm <= (1 - 1e-4 * *alpha) * norm
                                   : s->energy <= energy + 1e-4 * *alpha * slope || s->norm < 0.5 * norm;
        if (!guarded || lower) {
            memcpy(s->u, s->trial, (size_t)s->n * sizeof *s->u);
            return BOUGH_OK;
        }
    }
    return status == BOUGH_OK ? BOUGH_NO_CONVERGENCE : status;
}

static double norm_of(int32_t n, const double *x) {
    return sqrt(bo_dot_n(n, x, x));
}

/* One Newton iteration from (u, K, residual). *done tells that it has converged. */
static bough_status iterate(solver *s, bool guarded, bool *done) {
    double *rhs = s->trial;
    bool moves;
    BO_TRY(factorise(s, &moves));
    for (int32_t i = 0; i < s->n; i++)
        rhs[i] = s->load_case->fixed[i] ? s->step[i] : s->residual[i];
    BO_TRY(bo_factor_solve(s->ctx, s->factor, rhs, s->step, 1));
    for (int32_t i = 0; i < s->n; i++)
        if (s->load_case->fixed[i])
            s->step[i] = s->next_load * s->load_case->prescribed[i] - s->u[i]; /* without the solver's rounding */
    double alpha;
    /* While supports move, the potential may rise: descent is a rule for the iterations after that. */
    BO_TRY(take_step(s, guarded && !moves, &alpha));
    s->result->iterations++;
    s->relative = s->scale > 0 ? s->norm / s->scale : s->norm;
    /* Rounding in stiff, slender bodies can keep the residual above a tight tolerance: a step that no longer moves
     * anything is convergence too, when the residual is small already or when the step is lost beside the body. */
    double moved = norm_of(s->n, s->step), size = norm_of(s->n, s->u);
    bool still =
        alpha == 1 && ((moved <= 1e-11 * size && s->relative <= 1e-4) || moved <= 1e-13 * s->size * sqrt(s->n / 3.0));
    *done = (alpha == 1 || !moves) && (s->relative <= s->def->tolerance || still);
    if (!bo_progress(s->ctx, "equilibrium", s->load, "load %.4g, iteration %d, residual %.2e", s->next_load,
                     s->result->iterations, s->relative))
        return bo_fail_cancelled(s->ctx);
    return BOUGH_OK;
}

/* Newton's method for the load tried now. Free: full steps; a slender body must pass through states of higher
 * potential (rotations look like stretch to a straight step), which a descent rule would refuse. Guarded: descent. */
static bough_status solve_load(solver *s, bool guarded) {
    memcpy(s->u, s->accepted, (size_t)s->n * sizeof *s->u);
    double least = INFINITY;
    int32_t since_least = 0, limit = guarded ? 5 * s->def->max_iterations : s->def->max_iterations;
    for (int32_t i = 0; i < limit; i++) {
        BO_TRY(evaluate(s, s->u, false, true));
        if (i == 0)
            s->result->energy = s->elastic; /* of the accepted state: stays when this load fails */
        bool done = false;
        bough_status status = iterate(s, guarded, &done);
        /* At rest a singular tangent means missing supports; later on it means that the iterate has run away. */
        if (status == BOUGH_ERROR_SINGULAR && (i > 0 || s->result->steps > 0))
            break;
        BO_TRY(status);
        if (done)
            return BOUGH_OK;
        since_least = s->norm < least ? 0 : since_least + 1;
        least = fmin(least, s->norm);
        if (!guarded && since_least > 8)
            break; /* wandering */
    }
    return bo_fail(s->ctx, BOUGH_NO_CONVERGENCE, "no equilibrium was found at %.4g of the load", s->next_load);
}

static bool recoverable(bough_status status) {
    return status == BOUGH_NO_CONVERGENCE || status == BOUGH_NOT_FINITE;
}

static bough_status accept_step(solver *s, double *u) {
    memcpy(s->accepted, s->u, (size_t)s->n * sizeof *s->u);
    memcpy(u, s->u, (size_t)s->n * sizeof *s->u);
    s->load = s->next_load;
    s->result->load_fraction = s->load;
    s->result->energy = s->elastic;
    s->result->residual = s->relative;
    s->result->stable = s->stable;
    s->result->steps++;
    if (s->def->on_step && !s->def->on_step(s->def->on_step_user, s->load, s->u))
        return bo_fail_cancelled(s->ctx);
    return BOUGH_OK;
}

/* Rounding can turn the zero pivots of a loose body into small positive ones, so the supports are looked at first.
 * Away from rest stress may hold the body (a pendulum that pulls at its hinge): there the factor decides. */
static bough_status check_supports(const solver *s) {
    for (int32_t i = 0; i < s->n; i++)
        if (s->accepted[i] != 0)
            return BOUGH_OK;
    int32_t loose;
    BO_TRY(bo_body_rigid_motions(s->ctx, s->body, s->load_case->fixed, &loose));
    return loose ? fail_loose(s->ctx) : BOUGH_OK;
}

static bough_status advance(solver *s, double *u) {
    BO_TRY(check_supports(s));
    const double largest = 1.0 / s->def->load_steps, smallest = s->def->min_step * largest;
    double size = largest;
    while (s->load < 1) {
        s->next_load = s->load + size > 1 - 1e-9 ? 1 : s->load + size;
        int32_t before = s->result->iterations;
        bough_status status = solve_load(s, false);
        if (recoverable(status) && size < 4 * smallest)
            status = solve_load(s, true);
        if (status == BOUGH_OK) {
            BO_TRY(accept_step(s, u));
            if (s->result->iterations - before <= 8)
                size = fmin(2 * size, largest);
            continue;
        }
        if (!recoverable(status))
            return status;
        size *= 0.5;
        if (size < smallest)
            return bo_fail(
                s->ctx, BOUGH_NO_CONVERGENCE,
                "no equilibrium was found beyond %.4g of the load, not even with steps of %.1e: the body may "
                "buckle or fold there; lower the load or use another material",
                s->load, size);
    }
    return BOUGH_OK;
}

static void summarise(solver *s, const double *u) {
    for (int32_t v = 0; v < s->n / 3; v++) {
        double d = norm_of(3, u + 3 * (size_t)v);
        if (d > s->result->max_displacement) {
            s->result->max_displacement = d;
            s->result->max_vertex = v;
        }
    }
}

bough_status bough_body_static(bough_context *ctx, const bough_body *body, const bough_load_case *load_case,
                               const bough_static_def *def, double *u, bough_static_result *result) {
    bough_static_def defaults = bough_default_static_def();
    def = def ? def : &defaults;
    memset(result, 0, sizeof *result);
    BO_TRY(bo_load_case_of(ctx, body, load_case, &load_case));
    if (def->cookie != STATIC_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the static def was not made by bough_default_static_def()");
    if (def->load_steps < 1 || def->max_iterations < 1 || !(def->tolerance > 0) || !(def->min_step > 0))
        return bo_fail(
            ctx, BOUGH_ERROR_ARGUMENT,
            "statics needs at least one load step and iteration, and a positive tolerance and smallest step");
    for (int32_t i = 0; i < bo_body_size(body); i++)
        if (!isfinite(u[i]))
            return bo_fail(ctx, BOUGH_NOT_FINITE, "the displacement to start from is not finite");
    solver s = {.ctx = ctx, .body = body, .load_case = load_case, .def = def, .result = result};
    bough_status status = prepare(&s);
    if (status == BOUGH_OK) {
        memcpy(s.accepted, u, (size_t)s.n * sizeof *u);
        status = advance(&s, u);
        summarise(&s, u);
        result->converged = status == BOUGH_OK;
    }
    destroy(&s);
    return status;
}
