#include "fem/system.h"

#include "fem/body.h"
#include "fem/touch.h"
#include "linalg/factor.h"

#include <math.h>
#include <string.h>

typedef struct {
    bough_context *ctx;
    const bough_body *body;
    const bough_load_case *load_case;
    double gravity[3];          /* m/s^2: the load case's, until bo_body_system_weigh() */
    bo_pressure_face *pressure; /* the load case's, with the pressures at the time of the last force() */
    bough_sparse *M, *K, *A;
    bough_sparse *K_damping; /* NULL where damping does not follow the stiffness */
    bo_factor *factor;
    bo_joined joined;      /* for what touches itself */
    bool joined_holds;     /* the factor of the last matrix is there, not in `factor` */
    const bo_drive *drive; /* NULL: nothing changes with time */
    bo_touch *touch;       /* NULL: it touches nothing */
    const bo_point_force *pushes;
    int32_t push_count;
    double *dead;                              /* loads that are always the same */
    double *loads;                             /* all of them, at the time of the last force() */
    double *q, *v_held;                        /* see at_time() */
    double *x, *y;                             /* scratch */
    double *q_start, *v_start, *pushed, *held; /* at the start of a step: see bo_body_system_begin_work() */
    bool dead_known;
    bool by_q; /* supports are where q has them */
} body_system;

/* Supports are elsewhere than q has them. */
static bool moves(const body_system *s) {
    return s->drive && s->drive->moves && !s->by_q;
}

/* Supports that move are a force that depends on time: whatever an integrator thinks of the held entries of q and v,
 * the forces of elasticity and damping see them as they are prescribed to be at t. v_held is zero at free entries. */
static const double *at_time(body_system *s, double t, const double *q) {
    if (!moves(s))
        return q;
    memcpy(s->q, q, (size_t)s->M->size * sizeof *q);
    bo_drive_hold(s->drive, s->load_case, t, s->q, s->v_held);
    return s->q;
}

/* Hence held entries must not act a second time through K and D. Nor through M: on the segments of a curve a support
 * has no acceleration. */
static const double *masked(body_system *s, const double *x) {
    if (!moves(s))
        return x;
    for (int32_t i = 0; i < s->M->size; i++)
        s->x[i] = s->load_case->fixed[i] ? 0 : x[i];
    return s->x;
}

static void know_dead_loads(body_system *s) {
    if (!s->dead_known)
        bo_load_case_dead_loads(s->load_case, s->gravity, s->dead);
    s->dead_known = true;
}

/* loads += those that change with time, pressure aside */
static void add_changing_loads(const body_system *s, double t, double *loads) {
    bo_drive_add_loads(s->drive, s->body, t, loads);
    for (int32_t i = 0; i < s->push_count; i++)
        for (size_t d = 0; d < 3; d++)
            loads[3 * (size_t)s->pushes[i].vertex + d] += s->pushes[i].force[d];
}

static void dead_loads_at(body_system *s, double t) {
    know_dead_loads(s);
    memcpy(s->loads, s->dead, (size_t)s->M->size * sizeof *s->loads);
    add_changing_loads(s, t, s->loads);
}

static void zero_held(const body_system *s, double *x) {
    for (int32_t i = 0; i < s->M->size; i++)
        if (s->load_case->fixed[i])
            x[i] = 0;
}

static void multiply_damping(const body_system *s, const double *x, double *y) {
    const double mass = s->body->def.damping_mass, stiffness = s->body->def.damping_stiffness;
    const int32_t n = s->M->size;
    memset(y, 0, (size_t)n * sizeof *y);
    if (mass > 0)
        bo_sparse_mul(s->M, x, y, false);
    for (int32_t i = 0; i < n; i++)
        y[i] *= mass / (s->K_damping ? stiffness : 1);
    if (s->K_damping) {
        bo_sparse_mul(s->K_damping, x, y, true);
        for (int32_t i = 0; i < n; i++)
            y[i] *= stiffness;
    }
}

/* loads -= D v of the supports */
static void add_drag_of_supports(body_system *s) {
    if (!moves(s) || (!(s->body->def.damping_mass > 0) && !s->K_damping))
        return;
    multiply_damping(s, s->v_held, s->y);
    for (int32_t i = 0; i < s->M->size; i++)
        s->loads[i] -= s->load_case->fixed[i] ? 0 : s->y[i];
}

static bough_status force(void *data, double t, const double *q, double *U, double *f) {
    body_system *s = data;
    q = at_time(s, t, q);
    BO_TRY(bough_body_evaluate(s->ctx, s->body, q, false, U, f, NULL));
    dead_loads_at(s, t);
    add_drag_of_supports(s);
    if (U)
        *U -= bo_dot_n(s->M->size, s->loads, q);
    bo_drive_set_pressures(s->drive, t, s->pressure);
    bo_body_pressure_force(s->body, s->load_case->pressure_count, s->pressure, q, s->loads);
    for (int32_t i = 0; i < s->M->size; i++)
        f[i] += s->loads[i];
    if (s->touch)
        BO_TRY(bo_touch_force(s->touch, t, q, U, f));
    zero_held(s, f);
    return BOUGH_OK;
}

static bough_status linearise(void *data, double t, const double *q, bool project) {
    body_system *s = data;
    q = at_time(s, t, q);
    BO_TRY(bough_body_evaluate(s->ctx, s->body, q, project, NULL, NULL, s->K));
    bo_drive_set_pressures(s->drive, t, s->pressure);
    if (s->load_case->pressure_count)
        bo_body_pressure_tangent(s->body, s->load_case->pressure_count, s->pressure, q, 1, s->K);
    if (s->touch)
        bo_touch_tangent(s->touch, t, q, project, s->K);
    return BOUGH_OK;
}

/* A body that touches may be squeezed until its stiffness has negative eigenvalues. Damping by these would drive the
 * motion, and no step would be short enough for a positive definite matrix: the positive part of each element counts.
 */
static bough_status damp(void *data, const double *q) {
    body_system *s = data;
    const bool project = s->touch != NULL;
    return s->K_damping ? bough_body_evaluate(s->ctx, s->body, q, project, NULL, NULL, s->K_damping) : BOUGH_OK;
}

static void multiply(void *data, bo_matrix which, const double *x, double *y) {
    body_system *s = data;
    switch (which) {
    case BO_MATRIX_M:
        bo_sparse_mul(s->M, masked(s, x), y, false);
        break;
    case BO_MATRIX_K:
        bo_sparse_mul(s->K, masked(s, x), y, false);
        break;
    case BO_MATRIX_D:
        multiply_damping(s, masked(s, x), y);
        break;
    }
    zero_held(s, y);
}

static bough_status factor(void *data, double a, double b, double c) {
    body_system *s = data;
    const double m = a + b * s->body->def.damping_mass, d = b * s->body->def.damping_stiffness;
    const int32_t entries = s->M->column_start[s->M->size];
    for (int32_t k = 0; k < entries; k++)
        s->A->values[k] = m * s->M->values[k] + c * s->K->values[k];
    if (s->K_damping)
        for (int32_t k = 0; k < entries; k++)
            s->A->values[k] += d * s->K_damping->values[k];
    const bo_joined_block *blocks;
    const int32_t count = s->touch && c != 0 ? bo_touch_blocks(s->touch, &blocks) : 0;
    s->joined_holds = count > 0;
    if (count < 0)
        return BOUGH_ERROR_MEMORY;
    return count > 0 ? bo_joined_factor(s->ctx, &s->joined, s->A, count, blocks, c, s->load_case->fixed)
                     : bo_factor_numeric(s->ctx, s->factor, s->A);
}

static bough_status solve(void *data, const double *b, double *x) {
    body_system *s = data;
    BO_TRY(bo_factor_solve(s->ctx, s->joined_holds ? s->joined.factor : s->factor, b, x, 1));
    zero_held(s, x);
    return BOUGH_OK;
}

static bough_status build(bough_context *ctx, const bough_load_case *load_case, body_system *s) {
    const bough_body *body = load_case->body;
    s->ctx = ctx;
    s->body = body;
    s->load_case = load_case;
    memcpy(s->gravity, load_case->gravity, sizeof s->gravity);
    s->pressure = BO_NEW_ARRAY(ctx, bo_pressure_face, load_case->pressure_count);
    if (!s->pressure)
        return BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < load_case->pressure_count; i++)
        s->pressure[i] = load_case->pressure[i];
    BO_TRY(bough_body_matrix_create(ctx, body, &s->M));
    BO_TRY(bough_body_matrix_create(ctx, body, &s->K));
    BO_TRY(bough_body_matrix_create(ctx, body, &s->A));
    if (body->def.damping_stiffness > 0)
        BO_TRY(bough_body_matrix_create(ctx, body, &s->K_damping));
    double **vectors[] = {&s->dead, &s->loads,   &s->q,       &s->v_held, &s->x,
                          &s->y,    &s->q_start, &s->v_start, &s->pushed, &s->held};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = BO_NEW_ZEROS(ctx, double, bo_body_size(body))))
            return BOUGH_ERROR_MEMORY;
    BO_TRY(bough_body_mass_matrix(ctx, body, s->M));
    return bo_factor_analyse(ctx, s->A, 3, load_case->fixed, &s->factor);
}

static void destroy(bough_context *ctx, body_system *s) {
    bough_sparse_destroy(ctx, s->M);
    bough_sparse_destroy(ctx, s->K);
    bough_sparse_destroy(ctx, s->A);
    bough_sparse_destroy(ctx, s->K_damping);
    bo_factor_destroy(ctx, s->factor);
    bo_joined_free(ctx, &s->joined);
    bo_free(ctx, s->pressure);
    bo_free(ctx, s->dead);
    bo_free(ctx, s->loads);
    bo_free(ctx, s->q);
    bo_free(ctx, s->v_held);
    bo_free(ctx, s->x);
    bo_free(ctx, s->y);
    bo_free(ctx, s->q_start);
    bo_free(ctx, s->v_start);
    bo_free(ctx, s->pushed);
    bo_free(ctx, s->held);
    bo_free(ctx, s);
}

bough_status bo_body_system_create(bough_context *ctx, const bough_body *body, const bough_load_case *load_case,
                                   bo_system *system) {
    memset(system, 0, sizeof *system);
    BO_TRY(bo_load_case_of(ctx, body, load_case, &load_case));
    body_system *s = BO_NEW(ctx, body_system);
    if (!s)
        return BOUGH_ERROR_MEMORY;
    bough_status status = build(ctx, load_case, s);
    if (status != BOUGH_OK) {
        destroy(ctx, s);
        return status;
    }
    *system = (bo_system){.data = s,
                          .size = bo_body_size(body),
                          .position_size = bo_body_size(body),
                          .has_potential = load_case->pressure_count == 0,
                          .rayleigh_mass = body->def.damping_mass,
                          .rayleigh_stiffness = body->def.damping_stiffness,
                          .force = force,
                          .linearise = linearise,
                          .damp = damp,
                          .multiply = multiply,
                          .factor = factor,
                          .solve = solve};
    return BOUGH_OK;
}

void bo_body_system_use_context(bo_system *system, bough_context *ctx) {
    body_system *s = system->data;
    s->ctx = ctx;
}

void bo_body_system_drive(bo_system *system, const bo_drive *drive) {
    body_system *s = system->data;
    s->drive = drive;
}

/* Within a search supports are where they are at its time. */
static double step_bound(void *data, double t, const double *q, const double *dq) {
    body_system *s = data;
    return bo_touch_bound(s->touch, t, at_time(s, t, q), masked(s, dq));
}

static void escape(void *data, double t, double *q) {
    body_system *s = data;
    if (moves(s))
        bo_drive_hold(s->drive, s->load_case, t, q, NULL);
    bo_touch_escape(s->touch, t, q);
}

void bo_body_system_touch(bo_system *system, struct bo_touch *touch) {
    body_system *s = system->data;
    s->touch = touch;
    bough_body_properties whole = {0};
    const bool measured = touch && bough_body_measure(s->ctx, s->body, &whole) == BOUGH_OK;
    system->norm_of_size = measured ? sqrt(whole.mass) * bo_touch_size(touch) : 0;
    system->step_bound = touch ? step_bound : NULL;
    system->escape = touch ? escape : NULL;
}

int64_t bo_body_system_joined_size(const bo_system *system) {
    const body_system *s = system->data;
    return (int64_t)s->joined.key_count;
}

void bo_body_system_joined_save(const bo_system *system, double *numbers) {
    const body_system *s = system->data;
    bo_joined_save(&s->joined, s->M->size / 3, numbers);
}

bough_status bo_body_system_joined_restore(bo_system *system, int64_t count, const double *numbers) {
    body_system *s = system->data;
    return bo_joined_restore(s->ctx, &s->joined, s->M->size / 3, count, numbers);
}

void bo_body_system_push(bo_system *system, int32_t count, const bo_point_force *forces) {
    body_system *s = system->data;
    s->pushes = forces;
    s->push_count = count;
}

void bo_body_system_weigh(bo_system *system, const double gravity[3], double *change) {
    body_system *s = system->data;
    know_dead_loads(s);
    for (int32_t i = 0; i < s->M->size; i++)
        change[i] -= s->dead[i];
    memcpy(s->gravity, gravity, sizeof s->gravity);
    s->dead_known = false;
    know_dead_loads(s);
    for (int32_t i = 0; i < s->M->size; i++)
        change[i] += s->dead[i];
}

void bo_body_system_hold(const bo_system *system, double t, double *q, double *v) {
    const body_system *s = system->data;
    bo_drive_hold(s->drive, s->load_case, t, q, v);
}

bough_status bo_body_system_measure(const bo_system *system, const double *q, const double *v, bo_body_measures *m) {
    body_system *s = system->data;
    const bough_mesh *mesh = s->body->mesh;
    *m = (bo_body_measures){0};
    BO_TRY(bough_body_evaluate(s->ctx, s->body, q, false, &m->elastic, NULL, NULL));
    know_dead_loads(s);
    m->external = 0 - bo_dot_n(s->M->size, s->dead, q); /* no -0 */
    bo_sparse_mul(s->M, v, s->x, false);
    m->kinetic = 0.5 * bo_dot_n(s->M->size, v, s->x);
    for (int32_t k = 0; k < mesh->vertex_count; k++) {
        bo_vec3 x = bo_add(bo_load3(mesh->vertices + 3 * (size_t)k), bo_load3(q + 3 * (size_t)k));
        bo_vec3 p = bo_load3(s->x + 3 * (size_t)k);
        bo_store3(m->momentum, bo_add(bo_load3(m->momentum), p));
        bo_store3(m->angular_momentum, bo_add(bo_load3(m->angular_momentum), bo_cross(x, p)));
    }
    return BOUGH_OK;
}

void bo_body_system_hold_by_q(bo_system *system, bool by_q) {
    body_system *s = system->data;
    s->by_q = by_q;
}

bough_status bo_body_system_magnitude(const bo_system *system, double t, const double *q, double *magnitude) {
    body_system *s = system->data;
    const int32_t n = s->M->size;
    double applied = 0, touching = 0, reaction = 0;
    q = at_time(s, t, q);
    memset(s->y, 0, (size_t)n * sizeof *s->y);
    if (s->touch)
        BO_TRY(bo_touch_force(s->touch, t, q, NULL, s->y));
    BO_TRY(bough_body_evaluate(s->ctx, s->body, q, false, NULL, s->x, NULL));
    dead_loads_at(s, t);
    bo_drive_set_pressures(s->drive, t, s->pressure);
    bo_body_pressure_force(s->body, s->load_case->pressure_count, s->pressure, q, s->loads);
    for (int32_t i = 0; i < n; i++) {
        const double held = s->x[i] + s->y[i] + s->loads[i];
        if (s->load_case->fixed[i])
            reaction += held * held;
        else
            applied += s->loads[i] * s->loads[i], touching += s->y[i] * s->y[i];
    }
    *magnitude = sqrt(applied) + sqrt(touching) + sqrt(reaction);
    return BOUGH_OK;
}

/* ---- work ---- */

static bool has_work(const body_system *s) {
    return s->push_count > 0 || s->load_case->pressure_count > 0 || (s->drive && s->drive->curve_count > 0);
}

/* pushed: all loads without a potential; held: what supports must add to them at the held entries, M a aside. */
static bough_status loads_of_work(body_system *s, double t, const double *q, const double *v, double *pushed,
                                  double *held) {
    const int32_t n = s->M->size;
    memset(pushed, 0, (size_t)n * sizeof *pushed);
    add_changing_loads(s, t, pushed);
    bo_drive_set_pressures(s->drive, t, s->pressure);
    bo_body_pressure_force(s->body, s->load_case->pressure_count, s->pressure, q, pushed);
    if (!moves(s))
        return BOUGH_OK;
    know_dead_loads(s);
    BO_TRY(bough_body_evaluate(s->ctx, s->body, q, false, NULL, held, NULL));
    if (s->touch)
        BO_TRY(bo_touch_force(s->touch, t, q, NULL, held));
    multiply_damping(s, v, s->y);
    for (int32_t i = 0; i < n; i++)
        held[i] = s->y[i] - held[i] - s->dead[i] - pushed[i];
    return BOUGH_OK;
}

bough_status bo_body_system_begin_work(const bo_system *system, double t, const double *q, const double *v) {
    body_system *s = system->data;
    const size_t bytes = (size_t)s->M->size * sizeof *q;
    if (!has_work(s))
        return BOUGH_OK;
    memcpy(s->q_start, q, bytes);
    memcpy(s->v_start, v, bytes);
    return loads_of_work(s, t, q, v, s->pushed, s->held);
}

/* Supports: the force (M dv/h + held) . dq, where their own velocities do not change on a segment of a curve. A kink at
 * the end of the step changes them, and the kinetic energy, by what the system leaves to nobody (bo_body_system_drive).
 */
static double work_of_supports(body_system *s, double h, const double *q, const double *v, const double *held,
                               double *doubt) {
    const int32_t n = s->M->size;
    double work = 0, kink = 0;
    for (int32_t i = 0; i < n; i++)
        s->x[i] = s->load_case->fixed[i] ? 0 : v[i] - s->v_start[i];
    bo_sparse_mul(s->M, s->x, s->y, false);
    for (int32_t i = 0; i < n; i++)
        if (s->load_case->fixed[i]) {
            const double way = q[i] - s->q_start[i];
            work += (0.5 * (held[i] + s->held[i]) + s->y[i] / h) * way;
            *doubt += 0.5 * (held[i] - s->held[i]) * way;
        }
    for (int32_t i = 0; i < n; i++)
        s->x[i] = s->load_case->fixed[i] ? v[i] - s->v_start[i] : 0;
    bo_sparse_mul(s->M, s->x, s->y, false);
    for (int32_t i = 0; i < n; i++) /* (v+ - v-)^T M (v+ + v-) / 2 */
        kink += 0.5 * s->y[i] * (v[i] + (s->load_case->fixed[i] ? s->v_start[i] : v[i]));
    return work + kink;
}

bough_status bo_body_system_end_work(const bo_system *system, double t, double h, const double *q, const double *v,
                                     double *work, double *doubt) {
    body_system *s = system->data;
    double *pushed = s->loads, *held = s->q; /* which every force() makes anew */
    double spread = 0;
    *work = *doubt = 0;
    if (!has_work(s))
        return BOUGH_OK;
    BO_TRY(loads_of_work(s, t, q, v, pushed, held));
    for (int32_t i = 0; i < s->M->size; i++) {
        *work += 0.5 * (pushed[i] + s->pushed[i]) * (q[i] - s->q_start[i]);
        *doubt += 0.5 * (pushed[i] - s->pushed[i]) * (q[i] - s->q_start[i]);
    }
    if (moves(s))
        *work += work_of_supports(s, h, q, v, held, &spread);
    *doubt = fabs(*doubt) + fabs(spread);
    return BOUGH_OK;
}

void bo_body_system_destroy(bough_context *ctx, bo_system *system) {
    if (system->data)
        destroy(ctx, system->data);
    memset(system, 0, sizeof *system);
}
