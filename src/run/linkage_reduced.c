/* The mechanism reduced to its end effectors. */
#include "run/linkage.h"

#include <math.h>
#include <string.h>

#define MOST_END_EFFECTORS 200 /* of a reduced model */
#define MOST_MAPS 1000000      /* links x end effectors: their maps then take 300 MB */

typedef struct {
    bough_mechanism_statics *statics; /* of the motors' twists */
    bough_mechanism_model *model;
    bough_mechanism_state *state;
    bough_mechanism_stepper *stepper; /* NULL: backward Euler */
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
    bough_mechanism_statics_destroy(l->ctx, r->statics);
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

static bough_status make_statics(const bo_linkage *l, int32_t count, bough_end_effector *kept, int32_t *motors,
                                 reduced *r) {
    const bo_mechanism_scene *m = l->m;
    bough_mechanism_statics_def def = bough_default_mechanism_statics_def();
    for (int32_t i = 0; i < count; i++)
        kept[i] = m->end_effectors[m->kept_count ? m->kept[i] : i];
    for (int32_t i = 0; i < m->motor_count; i++)
        motors[i] = bough_mechanism_coordinate_offset(m->mechanism, m->motors[i].joint) + m->motors[i].freedom;
    def.method = m->method;
    def.end_effector_count = count, def.end_effectors = kept;
    def.motor_count = m->motor_count, def.motors = motors;
    return bough_mechanism_statics_create(l->ctx, m->mechanism, &def, &r->statics);
}

static bough_status create(bo_linkage *l) {
    const bo_mechanism_scene *m = l->m;
    const int32_t count = m->kept_count ? m->kept_count : m->end_effector_count;
    BO_TRY(check_size(l, count));
    reduced *r = l->data = BO_NEW(l->ctx, reduced);
    bough_end_effector *kept = BO_NEW_ARRAY(l->ctx, bough_end_effector, count);
    int32_t *motors = BO_NEW_ARRAY(l->ctx, int32_t, m->motor_count);
    bough_status status = r && kept && motors ? make_statics(l, count, kept, motors, r) : BOUGH_ERROR_MEMORY;
    bo_free(l->ctx, kept);
    bo_free(l->ctx, motors);
    if (status == BOUGH_OK)
        status = bough_mechanism_model_create(l->ctx, m->mechanism, r->statics, NULL, &r->model);
    if (status == BOUGH_OK)
        status = bough_mechanism_state_create(l->ctx, r->model, &r->state);
    if (status == BOUGH_OK)
        memcpy(r->state->gravity, l->scene->model.gravity, sizeof r->state->gravity);
    if (status == BOUGH_OK && strcmp(l->integrator.name, "backward-euler") != 0)
        status = bough_mechanism_stepper_create(l->ctx, r->model, r->state, &l->integrator, &r->stepper);
    return status;
}

/* ---- links ---- */

/* The rows of a link in Psi. */
static const double *map_of(const bough_mechanism_model *model, int32_t link) {
    return model->Psi + 36 * (size_t)link * (size_t)model->end_effector_count;
}

/* Psi x of a link (6) for x (n) */
static bo_twist mapped(const bough_mechanism_model *model, int32_t link, const double *x) {
    const int32_t n = 6 * model->end_effector_count;
    const double *Psi = map_of(model, link);
    double y[6] = {0};
    for (int r = 0; r < 6; r++)
        for (int32_t k = 0; k < n; k++)
            y[r] += Psi[r * n + k] * x[k];
    return bo_load_twist(y);
}

/* Twist of a link against its rest, and its rate. A motor moves a link by its own twist, less what end effectors that
 * it takes along are counted for already. */
static void displace(const bo_linkage *l, int32_t link, bo_twist *twist, bo_twist *rate) {
    const reduced *r = of(l);
    const bough_mechanism_model *model = r->model;
    const size_t n = 6 * (size_t)model->end_effector_count, links = (size_t)model->link_count;
    *twist = bo_twist_mul_add(mapped(model, link, r->state->xi), -1, mapped(model, link, model->rest_xi));
    *twist = bo_twist_mul_add(*twist, 1, bo_load_twist(model->rest_twists + 6 * (size_t)link));
    *rate = mapped(model, link, r->state->phi);
    for (size_t k = 0; k < (size_t)model->motor_count; k++) {
        const bo_twist by = bo_load_twist(r->statics->motor_twists + 6 * (links * k + (size_t)link));
        const bo_twist own = bo_twist_mul_add(by, -1, mapped(model, link, model->motor_xi + n * k));
        *twist = bo_twist_mul_add(*twist, l->offsets[k], own);
        *rate = bo_twist_mul_add(*rate, l->rates[k], own);
    }
}

/* The frame of the base in that of a link at the reference pose. */
static bo_se3 base_in_link(const bough_mechanism_model *model, int32_t link) {
    return bo_se3_mul(bo_se3_inverse(bo_pose(&model->rest[link])), bo_pose(&model->rest[model->base]));
}

static double *kept_gravity(const bo_linkage *l) {
    return of(l)->state->gravity;
}

/* H = H_base H_base,rest^-1 H_rest exp(t): in its own axes the link moves with the right Jacobian of its own twist's
 * rate, and with the base. */
static void place(const bo_linkage *l) {
    const reduced *r = of(l);
    bough_mechanism_state_place(r->model, r->state);
    memcpy(l->poses, r->state->poses, (size_t)r->model->link_count * sizeof *l->poses);
    for (int32_t i = 0; i < r->model->link_count; i++) {
        bo_twist t, rate;
        displace(l, i, &t, &rate);
        rate = bo_se3_right_jacobian(t, rate);
        if (r->model->free_base) {
            const bo_se3 to = bo_se3_mul(bo_se3_inverse(bo_se3_exp(t)), base_in_link(r->model, i));
            rate = bo_twist_mul_add(rate, 1, bo_ad(to, bo_load_twist(r->state->base_twist)));
        }
        bo_store_twist(l->twists + 6 * (size_t)i, rate);
    }
}

static void drive(const bo_linkage *l, const double *offsets) {
    memcpy(of(l)->state->motors, offsets, (size_t)l->m->motor_count * sizeof *offsets);
}

/* ---- loads ---- */

static void clear_loads(const bo_linkage *l) {
    bough_mechanism_state *s = of(l)->state;
    memset(s->load, 0, (size_t)of(l)->model->rank * sizeof *s->load);
    memset(s->base_wrench, 0, sizeof s->base_wrench);
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
    return of(l)->stepper ? bough_mechanism_stepper_step(l->ctx, of(l)->stepper, h)
                          : bough_mechanism_step(l->ctx, of(l)->model, of(l)->state, h);
}

/* K (z - goal) = weight + load, in the directions z in which K is diagonal. */
static bough_status settle(const bo_linkage *l, double *residual) {
    const bough_mechanism_model *model = of(l)->model;
    bough_mechanism_state *s = of(l)->state;
    const int32_t n = 6 * model->end_effector_count, rank = model->rank;
    if (model->free_base)
        return bo_fail(l->ctx, BOUGH_ERROR_UNSUPPORTED, "a mechanism with a free base has no equilibrium");
    double g[3];
    bo_store3(g, bo_mat_tvec(bo_pose(&s->base).R, bo_load3(s->gravity)));
    memset(s->xi, 0, (size_t)n * sizeof *s->xi);
    memset(s->phi, 0, (size_t)n * sizeof *s->phi);
    for (int32_t k = 0; k < rank; k++) {
        double z = model->rest_z[k], force = s->load[k];
        for (int32_t j = 0; j < model->motor_count; j++)
            z += model->motor_z[j * rank + k] * s->motors[j];
        for (int d = 0; d < 3; d++)
            force += model->weight[3 * k + d] * g[d];
        z += force / model->Kz[k];
        for (int32_t i = 0; i < n; i++)
            s->xi[i] += model->Q[i * rank + k] * z;
    }
    *residual = 0;
    return BOUGH_OK;
}

static void energies(const bo_linkage *l, double *kinetic, double *elastic, double *gravity) {
    const bough_mechanism_energies e = bough_mechanism_state_energies(of(l)->model, of(l)->state);
    *kinetic = e.kinetic, *elastic = e.elastic, *gravity = e.gravity;
}

/* ---- saving: xi, phi, the base's pose and twist, what the integrator remembers ---- */

enum { BASE_NUMBERS = 9 + 3 + 6 };

static int64_t state_size(const bo_linkage *l) {
    const bough_mechanism_stepper *stepper = of(l)->stepper;
    return 12 * (int64_t)of(l)->model->end_effector_count + BASE_NUMBERS +
           (stepper ? bough_mechanism_stepper_memory_size(stepper) : 0);
}

static void save(const bo_linkage *l, double *to) {
    const bough_mechanism_state *s = of(l)->state;
    const size_t n = 6 * (size_t)of(l)->model->end_effector_count;
    memcpy(to, s->xi, n * sizeof *to), to += n;
    memcpy(to, s->phi, n * sizeof *to), to += n;
    memcpy(to, s->base.rotation, sizeof s->base.rotation), to += 9;
    memcpy(to, s->base.position, sizeof s->base.position), to += 3;
    memcpy(to, s->base_twist, sizeof s->base_twist), to += 6;
    if (of(l)->stepper)
        bough_mechanism_stepper_save(of(l)->stepper, to);
}

static void restore(const bo_linkage *l, const double *from) {
    bough_mechanism_state *s = of(l)->state;
    const size_t n = 6 * (size_t)of(l)->model->end_effector_count;
    memcpy(s->xi, from, n * sizeof *from), from += n;
    memcpy(s->phi, from, n * sizeof *from), from += n;
    memcpy(s->base.rotation, from, sizeof s->base.rotation), from += 9;
    memcpy(s->base.position, from, sizeof s->base.position), from += 3;
    memcpy(s->base_twist, from, sizeof s->base_twist), from += 6;
    if (of(l)->stepper)
        bough_mechanism_stepper_restore(of(l)->stepper, from);
}

const bo_linkage_kind bo_reduced_linkage = {.create = create,
                                            .destroy = destroy,
                                            .gravity = kept_gravity,
                                            .place = place,
                                            .drive = drive,
                                            .clear_loads = clear_loads,
                                            .push = push,
                                            .step = step,
                                            .settle = settle,
                                            .energies = energies,
                                            .state_size = state_size,
                                            .save = save,
                                            .restore = restore,
                                            .answers_at_once = true};
