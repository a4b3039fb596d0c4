/* The mechanism reduced to its end effectors. */
#include "mechanism/links.h"
#include "mechanism/engine_linkage.h"

#include <math.h>
#include <string.h>

#define MOST_END_EFFECTORS 200 /* of a reduced model */
#define MOST_MAPS 1000000      /* links x end effectors: their maps then take 300 MB */

typedef struct {
    bough_mechanism_model *model;
    bough_mechanism_state *state;
    bough_mechanism_stepper *stepper; /* NULL: backward Euler */
    double *z, *rate;                 /* rank, for placing */
} reduced;

static const reduced *of(const bo_linkage *l) {
    return l->data;
}

/* ---- making ---- */

static void destroy(bo_linkage *l) {
    reduced *r = l->data;
    if (!r)
        return;
    bough_mechanism_stepper_destroy(l->ctx, r->stepper);
    bough_mechanism_state_destroy(l->ctx, r->state);
    bough_mechanism_model_destroy(l->ctx, r->model);
    bo_free(l->ctx, r->z);
    bo_free(l->ctx, r->rate);
    bo_free(l->ctx, r);
}

static bough_status check_size(const bo_linkage *l, int32_t count) {
    if (count == 0)
        return bo_fail(l->ctx, BOUGH_ERROR_ARGUMENT,
                       "a mechanism is reduced to its \"end_effectors\", and there are none; the engine \"full\" "
                       "needs none");
    if (count > MOST_END_EFFECTORS || (double)count * l->m->link_count > MOST_MAPS)
        return bo_fail(l->ctx, BOUGH_ERROR_UNSUPPORTED,
                       "%d end effectors of %d links are too many for a reduced model; name fewer in \"engine\"", count,
                       l->m->link_count);
    return BOUGH_OK;
}

void bo_linkage_free_statics(const bo_linkage *l, bo_kept_statics *kept) {
    bo_free(l->ctx, kept->end_effectors);
    bo_free(l->ctx, kept->motors);
}

bough_status bo_linkage_statics(const bo_linkage *l, bo_kept_statics *kept) {
    const bo_mechanism_plan *m = l->m;
    const int32_t count = m->kept_count ? m->kept_count : m->end_effector_count;
    *kept = (bo_kept_statics){.def = bough_default_mechanism_statics_def()};
    BO_TRY(check_size(l, count));
    kept->end_effectors = BO_NEW_ARRAY(l->ctx, bough_frame_def, count);
    kept->motors = BO_NEW_ARRAY(l->ctx, int32_t, m->motor_count);
    if (!kept->end_effectors || !kept->motors) {
        bo_linkage_free_statics(l, kept);
        return BOUGH_ERROR_MEMORY;
    }
    for (int32_t i = 0; i < count; i++)
        kept->end_effectors[i] = m->end_effectors[m->kept_count ? m->kept[i] : i];
    for (int32_t i = 0; i < m->motor_count; i++)
        kept->motors[i] = bough_mechanism_coordinate_offset(m->mechanism, m->motors[i].joint) + m->motors[i].freedom;
    kept->def.method = m->method;
    kept->def.end_effector_count = count, kept->def.end_effectors = kept->end_effectors;
    kept->def.motor_count = m->motor_count, kept->def.motors = kept->motors;
    return BOUGH_OK;
}

bough_status bo_linkage_make_model(const bo_linkage *l, int32_t modes, bough_mechanism_model **model) {
    bo_kept_statics kept;
    bough_mechanism_statics *statics = NULL;
    bough_mechanism_model_def def = bough_default_mechanism_model_def();
    def.internal_modes = modes;
    BO_TRY(bo_linkage_statics(l, &kept));
    bough_status status = bough_mechanism_statics_create(l->ctx, l->m->mechanism, &kept.def, &statics);
    bo_linkage_free_statics(l, &kept);
    if (status == BOUGH_OK)
        status = bough_mechanism_model_create(l->ctx, l->m->mechanism, statics, &def, model);
    bough_mechanism_statics_destroy(l->ctx, statics);
    return status;
}

static bough_status create_actor(bo_linkage *l, int32_t touch_count, const bough_touch_def *touches,
                                 bough_contact_actor *actor) {
    return bough_mechanism_actor_create(l->ctx, of(l)->model, of(l)->state, touch_count, touches, actor);
}

static bough_status create(bo_linkage *l) {
    reduced *r = l->data = BO_NEW(l->ctx, reduced);
    if (!r)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(bo_linkage_make_model(l, l->m->internal_modes, &r->model));
    BO_TRY(bough_mechanism_state_create(l->ctx, r->model, &r->state));
    memcpy(r->state->gravity, l->m->gravity, sizeof r->state->gravity);
    r->z = BO_NEW_ZEROS(l->ctx, double, r->model->rank);
    r->rate = BO_NEW_ZEROS(l->ctx, double, r->model->rank);
    if (!r->z || !r->rate)
        return BOUGH_ERROR_MEMORY;
    const bool plain = strcmp(l->integrator.name, "backward-euler") == 0, touches = bo_linkage_needs_around(l->m);
    if (touches && !plain)
        return bo_fail(l->ctx, BOUGH_ERROR_UNSUPPORTED,
                       "what touches is stepped by \"backward-euler\", not by \"%.60s\"", l->integrator.name);
    if (touches)
        return bo_linkage_make_around(l, create_actor);
    return plain ? BOUGH_OK : bough_mechanism_stepper_create(l->ctx, r->model, r->state, &l->integrator, &r->stepper);
}

/* ---- links ---- */

/* z and its rate, of end effectors and modes. */
static void read_coordinates(const reduced *r) {
    const bough_mechanism_model *model = r->model;
    const int32_t n = 6 * model->end_effector_count, modes = model->rank - model->internal_count;
    for (int32_t k = 0; k < model->rank; k++) {
        double z = 0, rate = 0;
        for (int32_t i = 0; i < n && k < modes; i++) {
            z += model->P[k * n + i] * r->state->xi[i];
            rate += model->P[k * n + i] * r->state->phi[i];
        }
        r->z[k] = k < modes ? z : r->state->internal[k - modes];
        r->rate[k] = k < modes ? rate : r->state->internal_rate[k - modes];
    }
}

/* Twist of a link against its rest, in axes that were the world's then, and its rate: by z, and by motors that it
 * follows at once. */
static void displace(const bo_linkage *l, int32_t link, bo_twist *twist, bo_twist *rate) {
    const reduced *r = of(l);
    const bo_mechanism_lanes *lanes = bo_mechanism_lanes_of(r->model);
    *twist = bo_lanes_twist(lanes, link, 0);
    *rate = (bo_twist){0};
    for (int32_t k = 0; k < r->model->rank + r->model->motor_count; k++) {
        const int32_t motor = k - r->model->rank;
        const bo_twist column = bo_lanes_twist(lanes, link, 1 + k);
        *twist = bo_twist_mul_add(*twist, motor < 0 ? r->z[k] : l->offsets[motor], column);
        *rate = bo_twist_mul_add(*rate, motor < 0 ? r->rate[k] : l->rates[motor], column);
    }
}

static double *kept_gravity(const bo_linkage *l) {
    return of(l)->state->gravity;
}

static void place(const bo_linkage *l) {
    const reduced *r = of(l);
    bough_mechanism_state_place(r->model, r->state);
    memcpy(l->poses, r->state->poses, (size_t)r->model->link_count * sizeof *l->poses);
}

/* A link is at H = H_base H_base,rest^-1 T exp(t) R, where T R is its rest. In its own axes it moves by R^T of the
 * right Jacobian of t's rate, and with the base. */
static void move(const bo_linkage *l) {
    const reduced *r = of(l);
    read_coordinates(r);
    const bo_se3 base = bo_se3_inverse(bo_pose(&r->state->base));
    for (int32_t i = 0; i < r->model->link_count; i++) {
        const bo_mat3 R = bo_pose(&r->model->rest[i]).R;
        bo_twist t, rate;
        displace(l, i, &t, &rate);
        rate = bo_se3_right_jacobian(t, rate);
        rate = (bo_twist){bo_mat_tvec(R, rate.v), bo_mat_tvec(R, rate.w)};
        if (r->model->free_base) {
            const bo_se3 to = bo_se3_inverse(bo_se3_mul(base, bo_pose(&l->poses[i])));
            rate = bo_twist_mul_add(rate, 1, bo_ad(to, bo_load_twist(r->state->base_twist)));
        }
        bo_store_twist(l->twists + 6 * (size_t)i, rate);
    }
}

static void drive(const bo_linkage *l, const double *offsets) {
    memcpy(of(l)->state->motors, offsets, (size_t)l->m->motor_count * sizeof *offsets);
}

/* ---- loads ---- */

static void list_loads(const bo_linkage *l, bo_state_block blocks[BO_LOAD_BLOCKS]) {
    bough_mechanism_state *s = of(l)->state;
    blocks[0] = (bo_state_block){s->load, (size_t)of(l)->model->rank, false};
    blocks[1] = (bo_state_block){s->base_wrench, sizeof s->base_wrench / sizeof(double), false};
}

static void push(const bo_linkage *l, int32_t link, const double at[3], bo_vec3 force, bo_vec3 torque) {
    double f[3], t[3];
    bo_store3(f, force);
    bo_store3(t, torque);
    bough_mechanism_state_push_link(of(l)->model, of(l)->state, link, at, f, t);
}

/* ---- steps ---- */

static bough_status step(const bo_linkage *l, double h, int64_t *iterations) {
    (void)iterations;
    if (l->around && !l->alone)
        return bough_contact_world_step(l->ctx, l->around, h);
    return of(l)->stepper ? bough_mechanism_stepper_step(l->ctx, of(l)->stepper, h)
                          : bough_mechanism_step(l->ctx, of(l)->model, of(l)->state, h);
}

/* K (z - goal) = weight + load, in the directions z in which K is diagonal. */
static bough_status settle(const bo_linkage *l, double part, double *residual) {
    const bough_mechanism_model *model = of(l)->model;
    bough_mechanism_state *s = of(l)->state;
    const int32_t n = 6 * model->end_effector_count, rank = model->rank, modes = rank - model->internal_count;
    if (model->free_base)
        return bo_fail(l->ctx, BOUGH_ERROR_UNSUPPORTED, "a mechanism with a free base has no equilibrium");
    double g[3];
    bo_store3(g, bo_mat_tvec(bo_pose(&s->base).R, bo_load3(s->gravity)));
    for (int32_t i = 0; i < n; i++)
        s->xi[i] *= 1 - part;
    memset(s->phi, 0, (size_t)n * sizeof *s->phi);
    for (int32_t k = 0; k < rank; k++) {
        double z = model->rest_z[k], force = s->load[k];
        for (int32_t j = 0; j < model->motor_count; j++)
            z += model->motor_z[j * rank + k] * s->motors[j];
        for (int d = 0; d < 3; d++)
            force += model->weight[3 * k + d] * g[d];
        z += force / model->Kz[k];
        for (int32_t i = 0; i < n; i++)
            s->xi[i] += part * model->Q[i * rank + k] * z;
        if (k >= modes)
            s->internal[k - modes] = (1 - part) * s->internal[k - modes] + part * z, s->internal_rate[k - modes] = 0;
    }
    *residual = 0;
    return BOUGH_OK;
}

static void energies(const bo_linkage *l, double *kinetic, double *elastic, double *gravity) {
    const bough_mechanism_energies e = bough_mechanism_state_energies(of(l)->model, of(l)->state);
    *kinetic = e.kinetic, *elastic = e.elastic, *gravity = e.gravity;
}

/* ---- saving: end effectors, modes, the base, and what the integrator remembers ---- */

static int list_state(const bo_linkage *l, bo_state_block blocks[BO_MOST_BLOCKS]) {
    bough_mechanism_state *s = of(l)->state;
    const size_t n = 6 * (size_t)of(l)->model->end_effector_count, modes = (size_t)of(l)->model->internal_count;
    blocks[0] = (bo_state_block){s->xi, n, false};
    blocks[1] = (bo_state_block){s->phi, n, true};
    blocks[2] = (bo_state_block){s->internal, modes, false};
    blocks[3] = (bo_state_block){s->internal_rate, modes, true};
    blocks[4] = (bo_state_block){(double *)&s->base, sizeof s->base / sizeof(double), false};
    blocks[5] = (bo_state_block){s->base_twist, 6, true};
    return 6;
}

static int64_t memory_size(const bo_linkage *l) {
    return of(l)->stepper ? bough_mechanism_stepper_memory_size(of(l)->stepper) : 0;
}

static void save_memory(const bo_linkage *l, double *memory) {
    if (of(l)->stepper)
        bough_mechanism_stepper_save(of(l)->stepper, memory);
}

static void restore_memory(const bo_linkage *l, const double *memory) {
    if (of(l)->stepper)
        bough_mechanism_stepper_restore(of(l)->stepper, memory);
}

static void detail(const bo_linkage *l, int32_t *internal_modes, double *frequency_error) {
    *internal_modes = of(l)->model->internal_count;
    *frequency_error = of(l)->model->frequency_error;
}

const bo_linkage_kind bo_reduced_linkage = {.create = create,
                                            .destroy = destroy,
                                            .gravity = kept_gravity,
                                            .place = place,
                                            .move = move,
                                            .drive = drive,
                                            .loads = list_loads,
                                            .push = push,
                                            .step = step,
                                            .settle = settle,
                                            .energies = energies,
                                            .list_state = list_state,
                                            .memory_size = memory_size,
                                            .save_memory = save_memory,
                                            .restore_memory = restore_memory,
                                            .detail = detail};
