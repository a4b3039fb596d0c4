/* States of reduced models and their steps. docs/theory/mechanism.md, "Steps". */
#include "mechanism/step.h"

#include "mechanism/links.h"

#include "dense/cholesky.h"
#include "dense/lu.h"

#include <string.h>

static int32_t size_of(const bough_mechanism_model *model) {
    return model->rank + (model->free_base ? 6 : 0);
}

bough_status bough_mechanism_state_create(bough_context *ctx, const bough_mechanism_model *model,
                                          bough_mechanism_state **state) {
    *state = NULL;
    const size_t n = 6 * (size_t)model->end_effector_count, size = (size_t)size_of(model),
                 motors = (size_t)model->motor_count, internal = (size_t)model->internal_count;
    bo_mechanism_state *made = BO_NEW(ctx, bo_mechanism_state);
    double *memory =
        made ? BO_NEW_ZEROS(ctx, double, 3 * n + 2 * size * size + 8 * size + 2 * motors + 2 * internal) : NULL;
    bough_pose *poses = memory ? BO_NEW_ARRAY(ctx, bough_pose, model->link_count) : NULL;
    if (!poses) {
        bo_free(ctx, memory);
        bo_free(ctx, made);
        return bo_fail_memory(ctx);
    }
    bough_mechanism_state *s = &made->seen;
    struct bo_mechanism_work *w = &made->work;
    w->memory = memory, w->size = (int32_t)size;
    s->xi = memory, s->phi = s->xi + n, s->wrench = s->phi + n;
    w->inverse = s->wrench + n, w->factor = w->inverse + size * size;
    w->z = w->factor + size * size, w->rate = w->z + size, w->right = w->rate + size, w->next = w->right + size;
    w->transported = w->next + size, w->goal = w->transported + size, w->columns = w->goal + size;
    s->motors = w->columns + size + motors, s->load = s->motors + motors;
    s->internal = s->load + size, s->internal_rate = s->internal + internal;
    s->poses = poses;
    s->base = model->rest[model->base];
    bough_mechanism_state_place(model, s);
    *state = s;
    return BOUGH_OK;
}

void bough_mechanism_state_destroy(bough_context *ctx, bough_mechanism_state *state) {
    if (!state)
        return;
    bo_free(ctx, bo_mechanism_work_of(state)->memory);
    bo_free(ctx, state->poses);
    bo_free(ctx, state);
}

/* ---- parts of a step ---- */

/* y = A x for A (rows x columns) */
static void multiply(int32_t rows, int32_t columns, const double *restrict A, const double *restrict x,
                     double *restrict y) {
    for (int32_t i = 0; i < rows; i++) {
        double sum = 0;
        for (int32_t k = 0; k < columns; k++)
            sum += A[(size_t)i * (size_t)columns + (size_t)k] * x[k];
        y[i] = sum;
    }
}
/* y += s A^T x for A (rows x columns) */
static void add_transposed(int32_t rows, int32_t columns, double s, const double *restrict A, const double *restrict x,
                           double *restrict y) {
    for (int32_t i = 0; i < rows; i++)
        for (int32_t k = 0; k < columns; k++)
            y[k] += s * A[(size_t)i * (size_t)columns + (size_t)k] * x[i];
}

void bo_mechanism_coordinates(const bough_mechanism_model *model, const double *xi, const double *internal, double *z) {
    const int32_t directions = model->rank - model->internal_count;
    multiply(directions, 6 * model->end_effector_count, model->P, xi, z);
    memcpy(z + directions, internal, (size_t)model->internal_count * sizeof(double));
}

/* The inertia of y: mass (size x size) at the lower right, with the base's before it. */
static double inertia_at(const bough_mechanism_model *model, int32_t i, int32_t j) {
    const int32_t b = model->free_base ? 6 : 0;
    if (i < b)
        return j < b ? model->M_base[6 * i + j] : model->M_coupling[i * model->rank + j - b];
    return j < b ? model->M_coupling[j * model->rank + i - b] : model->Mz[(i - b) * model->rank + j - b];
}

static bough_status invert(bough_context *ctx, const bough_mechanism_model *model, struct bo_mechanism_work *w,
                           double dt) {
    const int32_t n = w->size, b = n - model->rank;
    w->dt = 0;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            double a = inertia_at(model, i, j);
            if (i >= b && j >= b)
                a += dt * model->Dz[(i - b) * model->rank + j - b] + (i == j ? dt * dt * model->Kz[i - b] : 0);
            w->factor[i * n + j] = a;
            w->inverse[i * n + j] = i == j;
        }
    if (!bo_cholesky_factor(n, w->factor))
        return bo_fail(
            ctx, BOUGH_ERROR_SINGULAR,
            "the mass of the end effectors' motion is singular with steps of %g s: masses or stiffnesses are "
            "too far apart",
            dt);
    bo_cholesky_solve_many(n, w->factor, n, w->inverse);
    w->dt = dt;
    return BOUGH_OK;
}

/* z where the springs pull, with the motors as they are. */
static void find_goal(const bough_mechanism_model *model, const bough_mechanism_state *state) {
    double *goal = bo_mechanism_work_of(state)->goal;
    memcpy(goal, model->rest_z, (size_t)model->rank * sizeof(double));
    add_transposed(model->motor_count, model->rank, 1, model->motor_z, state->motors, goal);
}

/* z and its rate from xi and phi, the base's twist before them; gravity in the base's axes. */
static void read_state(const bough_mechanism_model *model, const bough_mechanism_state *state, double g[3]) {
    struct bo_mechanism_work *w = bo_mechanism_work_of(state);
    const int32_t b = w->size - model->rank;
    bo_mechanism_coordinates(model, state->xi, state->internal, w->z + b);
    bo_mechanism_coordinates(model, state->phi, state->internal_rate, w->rate + b);
    if (b > 0)
        memcpy(w->rate, state->base_twist, sizeof state->base_twist);
    bo_store3(g, bo_mat_tvec(bo_pose(&state->base).R, bo_load3(state->gravity)));
    find_goal(model, state);
}

/* M rate + h (w + weight - K (z - z_rest)); of the base in *momentum, and zero here. */
static void fill_right(const bough_mechanism_model *model, const bough_mechanism_state *state, double dt,
                       const double g[3], double momentum[6]) {
    struct bo_mechanism_work *w = bo_mechanism_work_of(state);
    const int32_t n = 6 * model->end_effector_count, size = w->size, b = size - model->rank;
    for (int32_t i = 0; i < size; i++) {
        double sum = 0;
        for (int32_t j = 0; j < size; j++)
            sum += inertia_at(model, i, j) * w->rate[j];
        w->right[i] = sum;
    }
    for (int32_t k = 0; k < model->rank; k++) {
        const double pull =
            model->weight[3 * k] * g[0] + model->weight[3 * k + 1] * g[1] + model->weight[3 * k + 2] * g[2];
        w->right[b + k] += dt * (pull + state->load[k] - model->Kz[k] * (w->z[b + k] - w->goal[k]));
    }
    add_transposed(n, model->rank, dt, model->Q, state->wrench, w->right + b);
    if (b == 0)
        return;
    double push[6];
    multiply(6, 3, model->base_weight, g, push);
    bo_twist sum = bo_twist_mul_add(bo_load_twist(push), 1, bo_load_twist(state->base_wrench));
    const bo_se3 from_world = bo_se3_inverse(bo_pose(&model->rest[model->base]));
    for (int32_t e = 0; e < model->end_effector_count; e++) {
        /* Ad(e<-b)^T w: of the frame of the base in that of the end effector */
        const bo_se3 effector =
            bo_se3_mul(bo_pose(&model->rest[model->end_effectors[e].body]), bo_pose(&model->end_effectors[e].pose));
        const bo_se3 to = bo_se3_inverse(bo_se3_mul(from_world, effector));
        sum = bo_twist_mul_add(sum, 1, bo_ad_transposed(to, bo_load_twist(state->wrench + 6 * (size_t)e)));
    }
    bo_store_twist(push, sum);
    for (int k = 0; k < 6; k++) {
        momentum[k] = w->right[k] + dt * push[k];
        w->right[k] = 0;
    }
}

/* d/dt Ad(exp(t x))^T f at t = 0, of a wrench or momentum f */
static bo_twist turned(bo_twist x, bo_twist f) {
    return (bo_twist){bo_cross(f.v, x.w), bo_add(bo_cross(f.w, x.w), bo_cross(f.v, x.v))};
}

/* The body momentum p of a free base, with the impulses of the step, is seen from axes that have moved on, as
 * T = Ad(exp(h phi+))^T p. That keeps the momentum in the world, and phi+ stands on both sides. Only the base's rows
 * do: phi+ = S T(phi+) + k with S and k those rows of the inverse, by Newton with T' = h ad^T(T), which lacks terms of
 * h^2 only. */
static void solve_free(struct bo_mechanism_work *w, double dt, const double momentum[6]) {
    enum { MOST_ROUNDS = 30 };
    const bo_twist p = bo_load_twist(momentum);
    const int32_t size = w->size;
    double phi[6], k[6], T[6];
    multiply(6, size, w->inverse, w->right, k);
    memcpy(phi, w->rate, sizeof phi);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        const bo_twist t = bo_load_twist(phi);
        const bo_twist seen = bo_ad_transposed(bo_se3_exp((bo_twist){bo_scale(dt, t.v), bo_scale(dt, t.w)}), p);
        double slope[6][6], J[36], step[6], change = 0, length = 0;
        int32_t pivots[6];
        bo_store_twist(T, seen);
        for (int c = 0; c < 6; c++) {
            double x[6] = {0};
            x[c] = dt;
            bo_store_twist(slope[c], turned(bo_load_twist(x), seen));
        }
        for (int r = 0; r < 6; r++) {
            const double *S = w->inverse + (ptrdiff_t)r * size;
            step[r] = k[r] - phi[r];
            for (int i = 0; i < 6; i++)
                step[r] += S[i] * T[i];
            for (int c = 0; c < 6; c++) {
                J[6 * r + c] = r == c;
                for (int i = 0; i < 6; i++)
                    J[6 * r + c] -= S[i] * slope[c][i];
            }
        }
        if (!bo_lu_factor(6, J, pivots))
            break;
        bo_lu_solve(6, J, pivots, step);
        for (int i = 0; i < 6; i++) {
            phi[i] += step[i];
            change += step[i] * step[i];
            length += phi[i] * phi[i];
        }
        if (!(change > 1e-28 * length))
            break;
    }
    memcpy(w->transported, w->right, (size_t)size * sizeof(double));
    for (int i = 0; i < 6; i++)
        w->transported[i] += T[i];
    multiply(size, size, w->inverse, w->transported, w->next);
}

/* ---- steps ---- */

/* The rates by what acts now: work->right and work->momentum. */
static void find_rates(struct bo_mechanism_work *w, int32_t rank, double dt) {
    if (w->size > rank)
        solve_free(w, dt, w->momentum);
    else
        multiply(w->size, w->size, w->inverse, w->right, w->next);
}

bough_status bo_mechanism_predict(bough_context *ctx, const bough_mechanism_model *model, bough_mechanism_state *state,
                                  double dt) {
    struct bo_mechanism_work *w = bo_mechanism_work_of(state);
    double g[3];
    if (!(dt > 0 && isfinite(dt)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the step of a mechanism is %g s; it must be above 0", dt);
    if (dt != w->dt)
        BO_TRY(invert(ctx, model, w, dt));
    read_state(model, state, g);
    fill_right(model, state, dt, g, w->momentum);
    find_rates(w, model->rank, dt);
    return BOUGH_OK;
}

void bo_mechanism_kick(const bough_mechanism_model *model, bough_mechanism_state *state, double dt,
                       const double *impulse) {
    struct bo_mechanism_work *w = bo_mechanism_work_of(state);
    const int32_t b = w->size - model->rank;
    for (int32_t k = 0; k < b; k++)
        w->momentum[k] += impulse[k];
    for (int32_t k = b; k < w->size; k++)
        w->right[k] += impulse[k];
    find_rates(w, model->rank, dt);
}

bough_status bo_mechanism_advance(bough_context *ctx, const bough_mechanism_model *model, bough_mechanism_state *state,
                                  double dt) {
    struct bo_mechanism_work *w = bo_mechanism_work_of(state);
    const int32_t b = w->size - model->rank;
    for (int32_t k = b; k < w->size; k++)
        w->z[k] += dt * w->next[k];
    if (!bo_all_finite(w->size, w->next) || !bo_all_finite(model->rank, w->z + b))
        return bo_fail(ctx, BOUGH_NOT_FINITE,
                       "a step of the mechanism is not finite: check its wrenches and velocities");
    return BOUGH_OK;
}

void bo_mechanism_clear_loads(const bough_mechanism_model *model, bough_mechanism_state *state) {
    memset(state->wrench, 0, 6 * (size_t)model->end_effector_count * sizeof *state->wrench);
    memset(state->load, 0, (size_t)model->rank * sizeof *state->load);
    memset(state->base_wrench, 0, sizeof state->base_wrench);
}

void bo_mechanism_publish(const bough_mechanism_model *model, bough_mechanism_state *state, double dt) {
    const struct bo_mechanism_work *w = bo_mechanism_work_of(state);
    const int32_t n = 6 * model->end_effector_count, b = w->size - model->rank;
    multiply(n, model->rank, model->Q, w->z + b, state->xi);
    multiply(n, model->rank, model->Q, w->next + b, state->phi);
    const size_t internal = (size_t)model->internal_count;
    memcpy(state->internal, w->z + (size_t)w->size - internal, internal * sizeof(double));
    memcpy(state->internal_rate, w->next + (size_t)w->size - internal, internal * sizeof(double));
    if (b > 0) {
        memcpy(state->base_twist, w->next, sizeof state->base_twist);
        const bo_twist t = bo_load_twist(w->next);
        bo_se3 base = bo_se3_mul(bo_pose(&state->base), bo_se3_exp((bo_twist){bo_scale(dt, t.v), bo_scale(dt, t.w)}));
        base.R = bo_quat_to_matrix(bo_quat_from_matrix(base.R)); /* products drift from rotations */
        state->base = bo_put_pose(base);
    }
    bo_mechanism_clear_loads(model, state);
    state->time += dt;
}

bough_status bough_mechanism_step(bough_context *ctx, const bough_mechanism_model *model, bough_mechanism_state *state,
                                  double dt) {
    BO_TRY(bo_mechanism_predict(ctx, model, state, dt));
    BO_TRY(bo_mechanism_advance(ctx, model, state, dt));
    bo_mechanism_publish(model, state, dt);
    return BOUGH_OK;
}

/* Finds the motion of the whole mechanism in the world; false: there is none. */
static bool moved_by(const bough_mechanism_model *model, const bough_mechanism_state *state, bo_se3 *moved) {
    const bough_pose *rest = &model->rest[model->base];
    if (!memcmp(&state->base, rest, sizeof *rest))
        return false;
    *moved = bo_se3_mul(bo_pose(&state->base), bo_se3_inverse(bo_pose(rest)));
    return true;
}

void bough_mechanism_state_place_parallel(bough_context *ctx, const bough_mechanism_model *model,
                                          bough_mechanism_state *state) {
    struct bo_mechanism_work *w = bo_mechanism_work_of(state);
    bo_se3 moved;
    bo_mechanism_coordinates(model, state->xi, state->internal, w->columns);
    memcpy(w->columns + model->rank, state->motors, (size_t)model->motor_count * sizeof(double));
    const bool moves = moved_by(model, state, &moved);
    bo_lanes_place(ctx, bo_mechanism_lanes_of(model), model->link_count, w->columns, moves ? &moved : NULL,
                   state->poses);
}

void bough_mechanism_state_place(const bough_mechanism_model *model, bough_mechanism_state *state) {
    bough_mechanism_state_place_parallel(NULL, model, state);
}

/* ---- looking at states ---- */

static bo_se3 effector_at_rest(const bough_mechanism_model *model, const bough_mechanism_state *state, int32_t e) {
    const bough_frame_def *effector = &model->end_effectors[e];
    const bo_se3 rest = bo_se3_mul(bo_pose(&model->rest[effector->body]), bo_pose(&effector->pose));
    bo_se3 moved;
    return moved_by(model, state, &moved) ? bo_se3_mul(moved, rest) : rest;
}

bough_pose bough_mechanism_state_end_effector(const bough_mechanism_model *model, const bough_mechanism_state *state,
                                              int32_t e) {
    return bo_put_pose(
        bo_se3_mul(effector_at_rest(model, state, e), bo_se3_exp(bo_load_twist(state->xi + 6 * (size_t)e))));
}

void bough_mechanism_state_push(const bough_mechanism_model *model, bough_mechanism_state *state, int32_t e,
                                const double force[3], const double torque[3]) {
    const bo_mat3 R = effector_at_rest(model, state, e).R;
    double *w = state->wrench + 6 * (size_t)e;
    bo_store3(w, bo_add(bo_load3(w), bo_mat_tvec(R, bo_load3(force))));
    bo_store3(w + 3, bo_add(bo_load3(w + 3), bo_mat_tvec(R, bo_load3(torque))));
}

bough_mechanism_energies bough_mechanism_state_energies(const bough_mechanism_model *model,
                                                        const bough_mechanism_state *state) {
    struct bo_mechanism_work *w = bo_mechanism_work_of(state);
    const int32_t b = w->size - model->rank;
    bough_mechanism_energies e = {0};
    double g[3];
    read_state(model, state, g);
    for (int32_t i = 0; i < w->size; i++)
        for (int32_t j = 0; j < w->size; j++)
            e.kinetic += 0.5 * w->rate[i] * inertia_at(model, i, j) * w->rate[j];
    for (int32_t k = 0; k < model->rank; k++) {
        const double z = w->z[b + k], d = z - w->goal[k];
        e.elastic += 0.5 * model->Kz[k] * d * d;
        e.gravity -=
            z * (model->weight[3 * k] * g[0] + model->weight[3 * k + 1] * g[1] + model->weight[3 * k + 2] * g[2]);
    }
    if (b > 0) { /* base_weight = [m 1; m c~] */
        const double *W = model->base_weight, mass = W[0];
        const bo_vec3 mc = bo_v3(W[16], W[11], W[12]);
        const bo_se3 rest = bo_pose(&model->rest[model->base]), now = bo_pose(&state->base);
        const bo_vec3 moved = bo_sub(bo_add(bo_scale(mass, now.t), bo_mat_vec(now.R, mc)),
                                     bo_add(bo_scale(mass, rest.t), bo_mat_vec(rest.R, mc)));
        e.gravity -= bo_dot(bo_load3(state->gravity), moved);
    }
    return e;
}
