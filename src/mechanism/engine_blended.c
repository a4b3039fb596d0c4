/* The mechanism reduced about several poses, which are blended. */
#include "mechanism/engine_linkage.h"

#include <math.h>
#include <string.h>

typedef struct {
    bough_mechanism_blend *blend;
    bough_blend_state *state;
    int32_t most_points;
    double *twists; /* 6 links: of the last step, between where links were and are */
} blended;

static const blended *of(const bo_linkage *l) {
    return l->data;
}

static const bough_mechanism_model *first_model(const bo_linkage *l) {
    return bough_mechanism_blend_model(of(l)->blend, 0);
}

static void destroy(bo_linkage *l) {
    blended *b = l->data;
    if (!b)
        return;
    bough_blend_state_destroy(l->ctx, b->state);
    bough_mechanism_blend_destroy(l->ctx, b->blend);
    bo_free(l->ctx, b->twists);
    bo_free(l->ctx, b);
}

/* ---- making ---- */

/* Largest wrenches that are tried, one end effector at a time. */
static void fill_loads(const bo_mechanism_plan *m, double *loads, double *box) {
    const size_t n = 6 * (size_t)m->end_effector_count;
    for (int32_t i = 0; i < m->blend.load_count; i++) {
        const bo_blend_load *load = &m->blend.loads[i];
        double *to = loads + n * (size_t)i + 6 * (size_t)load->end_effector;
        memcpy(to, load->force, sizeof load->force);
        memcpy(to + 3, load->torque, sizeof load->torque);
    }
    for (size_t k = 0; k < n; k++)
        box[k] = k % 6 < 3 ? m->blend.random_force : m->blend.random_torque;
}

/* The path of the motors by their curves, at even times: PATH_TIMES x motors. */
enum { PATH_TIMES = 81 };
static void fill_path(const bo_linkage *l, double *path) {
    const bo_mechanism_plan *m = l->m;
    const double end = bo_linkage_motors_end(l, l->m->duration > 0 ? l->m->duration : INFINITY);
    for (int32_t i = 0; i < PATH_TIMES; i++)
        for (int32_t k = 0; k < m->motor_count; k++)
            *path++ = bo_motor_offset(&m->motors[k], m->curves, end * i / (PATH_TIMES - 1));
}

static bough_status make_blend(const bo_linkage *l, const bough_mechanism_statics_def *statics, blended *b) {
    const bo_mechanism_plan *m = l->m;
    const size_t n = 6 * (size_t)m->end_effector_count;
    bough_mechanism_blend_def def = bough_default_mechanism_blend_def();
    bough_workspace_def space = bough_default_workspace_def();
    bough_workspace_report report;
    double *loads =
        BO_NEW_ZEROS(l->ctx, double, n *(size_t)m->blend.load_count + n + PATH_TIMES * (size_t)m->motor_count);
    if (!loads)
        return BOUGH_ERROR_MEMORY;
    double *box = loads + n * (size_t)m->blend.load_count;
    fill_loads(m, loads, box);
    def.most_points = b->most_points = m->blend.points;
    def.statics = statics;
    space.load_count = m->blend.load_count, space.loads = loads;
    space.random_count = m->blend.random_count, space.box = box, space.seed = m->blend.seed;
    space.tolerance = m->blend.tolerance;
    if (m->motor_count > 0) {
        space.path_count = PATH_TIMES, space.path = box + n;
        fill_path(l, box + n);
    }
    memcpy(space.gravity, l->m->gravity, sizeof space.gravity);
    bough_status status =
        bough_mechanism_blend_create_automatic(l->ctx, m->mechanism, &def, &space, &report, &b->blend);
    bo_free(l->ctx, loads);
    if (status == BOUGH_OK && !report.reached)
        bo_warn(l->ctx, "%s: with %d points the joints of the blended mechanism are off by %.3g radii, more than %g",
                l->m->path, report.round_count, report.round_count > 0 ? report.worst[report.round_count - 1] : NAN,
                space.tolerance);
    return status;
}

static bough_status check(const bo_linkage *l) {
    if (strcmp(l->integrator.name, "backward-euler") != 0)
        return bo_fail(l->ctx, BOUGH_ERROR_UNSUPPORTED,
                       "a blended mechanism is stepped by \"backward-euler\", not by \"%.60s\"", l->integrator.name);
    return BOUGH_OK;
}

static bough_status create_actor(bo_linkage *l, int32_t touch_count, const bough_touch_def *touches,
                                 bough_contact_actor *actor) {
    return bough_blend_actor_create(l->ctx, of(l)->blend, of(l)->state, touch_count, touches, actor);
}

static bough_status create(bo_linkage *l) {
    bo_kept_statics kept;
    BO_TRY(check(l));
    blended *b = l->data = BO_NEW(l->ctx, blended);
    if (!b || !(b->twists = BO_NEW_ZEROS(l->ctx, double, 6 * (size_t)l->m->link_count)))
        return BOUGH_ERROR_MEMORY;
    BO_TRY(bo_linkage_statics(l, &kept));
    kept.def.end_effector_count = 0; /* all of the description, on which the loads are */
    bough_status status = make_blend(l, &kept.def, b);
    bo_linkage_free_statics(l, &kept);
    if (status == BOUGH_OK)
        status = bough_blend_state_create(l->ctx, b->blend, &b->state);
    if (status == BOUGH_OK)
        memcpy(b->state->gravity, l->m->gravity, sizeof b->state->gravity);
    l->keeps_all = true;
    if (status == BOUGH_OK && bo_linkage_needs_around(l->m))
        status = bo_linkage_make_around(l, create_actor);
    return status;
}

/* ---- links ---- */

static void place(const bo_linkage *l) {
    bough_blend_state_place(of(l)->blend, of(l)->state);
    memcpy(l->poses, of(l)->state->poses, (size_t)l->m->link_count * sizeof *l->poses);
}

static void move(const bo_linkage *l) {
    memcpy(l->twists, of(l)->twists, 6 * (size_t)l->m->link_count * sizeof *l->twists);
}

static double *kept_gravity(const bo_linkage *l) {
    return of(l)->state->gravity;
}

static void drive(const bo_linkage *l, const double *offsets) {
    memcpy(of(l)->state->motors, offsets, (size_t)l->m->motor_count * sizeof *offsets);
}

static void list_loads(const bo_linkage *l, bo_state_block blocks[BO_LOAD_BLOCKS]) {
    blocks[0] = (bo_state_block){of(l)->state->wrench, 6 * (size_t)first_model(l)->end_effector_count, false};
    blocks[1] = (bo_state_block){of(l)->state->wrench, 0, false}; /* there are no others */
}

static void add_wrench(const bo_linkage *l, int32_t e, bo_vec3 force, bo_vec3 torque) {
    double *to = of(l)->state->wrench + 6 * (size_t)e;
    bo_store3(to, bo_add(bo_load3(to), force));
    bo_store3(to + 3, bo_add(bo_load3(to + 3), torque));
}

/* On a link that has an end effector: at that. */
static bool push_end_effector(const bo_linkage *l, int32_t link, const double at[3], bo_vec3 force, bo_vec3 torque) {
    const bough_blend_state *s = of(l)->state;
    const bough_mechanism_model *model = first_model(l);
    for (int32_t e = 0; e < model->end_effector_count; e++) {
        const bough_frame_def *effector = &model->end_effectors[e];
        if (effector->body != link)
            continue;
        const bo_mat3 R = bo_mat_mul(bo_mat_mul(bo_pose(&s->base).R, bo_pose(&s->effectors[e]).R),
                                     bo_transpose(bo_pose(&effector->pose).R)); /* of the link */
        const bo_vec3 arm = bo_mat_vec(R, bo_sub(bo_load3(at), bo_load3(effector->pose.position)));
        add_wrench(l, e, force, bo_add(torque, bo_cross(arm, force)));
        return true;
    }
    return false;
}

/* A wrench on any other link acts on an end effector as Psi^T w in each model, in axes that go along; blended by the
 * weights of the models. */
static void push(const bo_linkage *l, int32_t link, const double at[3], bo_vec3 force, bo_vec3 torque) {
    const bough_blend_state *s = of(l)->state;
    if (push_end_effector(l, link, at, force, torque))
        return;
    const int32_t effectors = first_model(l)->end_effector_count, n = 6 * effectors;
    const bo_mat3 R = bo_pose(&l->poses[link]).R;
    const bo_vec3 f = bo_mat_tvec(R, force);
    double w[6];
    bo_store_twist(w, (bo_twist){f, bo_add(bo_mat_tvec(R, torque), bo_cross(bo_load3(at), f))});
    for (int32_t e = 0; e < effectors; e++) {
        double share[6] = {0};
        for (int32_t p = 0; p < bough_mechanism_blend_count(of(l)->blend); p++) {
            const double *Psi = bough_mechanism_blend_model(of(l)->blend, p)->Psi + 6 * (size_t)link * (size_t)n;
            for (int r = 0; r < 6; r++)
                for (int k = 0; k < 6; k++)
                    share[k] += s->weights[p] * Psi[r * n + 6 * e + k] * w[r];
        }
        const bo_mat3 axes = bo_mat_mul(bo_pose(&s->base).R, bo_pose(&s->effectors[e]).R);
        add_wrench(l, e, bo_mat_vec(axes, bo_load3(share)), bo_mat_vec(axes, bo_load3(share + 3)));
    }
}

/* ---- steps ---- */

/* Links move between two poses as a screw does: log(H^-1 H+) / h. Those before are in l->poses. */
static bough_status step(const bo_linkage *l, double h, int64_t *iterations) {
    const blended *b = of(l);
    (void)iterations;
    BO_TRY(l->around && !l->alone ? bough_contact_world_step(l->ctx, l->around, h)
                                  : bough_blend_state_step(l->ctx, b->blend, b->state, h));
    bough_blend_state_place(b->blend, b->state);
    for (int32_t i = 0; i < l->m->link_count; i++) {
        const bo_twist t = bo_se3_log(bo_se3_mul(bo_se3_inverse(bo_pose(&l->poses[i])), bo_pose(&b->state->poses[i])));
        bo_store_twist(b->twists + 6 * (size_t)i, (bo_twist){bo_scale(1 / h, t.v), bo_scale(1 / h, t.w)});
    }
    return BOUGH_OK;
}

static bough_status settle(const bo_linkage *l, double part, double *residual) {
    (void)part;
    const blended *b = of(l);
    BO_TRY(bough_blend_state_settle(l->ctx, b->blend, b->state));
    memset(b->twists, 0, 6 * (size_t)l->m->link_count * sizeof *b->twists);
    *residual = 0;
    return BOUGH_OK;
}

static void energies(const bo_linkage *l, double *kinetic, double *elastic, double *gravity) {
    bough_mechanism_energies e = {NAN, NAN, NAN};
    if (bough_blend_state_energies(l->ctx, of(l)->blend, of(l)->state, &e) != BOUGH_OK)
        e = (bough_mechanism_energies){NAN, NAN, NAN};
    *kinetic = e.kinetic, *elastic = e.elastic, *gravity = e.gravity;
}

/* ---- saving: what is remembered is the nearest point ---- */

static int list_state(const bo_linkage *l, bo_state_block blocks[BO_MOST_BLOCKS]) {
    bough_blend_state *s = of(l)->state;
    const size_t effectors = (size_t)first_model(l)->end_effector_count;
    blocks[0] = (bo_state_block){(double *)s->effectors, effectors * (sizeof(bough_pose) / sizeof(double)), false};
    blocks[1] = (bo_state_block){s->phi, 6 * effectors, false};
    blocks[2] = (bo_state_block){s->carried, 6 * effectors, false};
    blocks[3] = (bo_state_block){s->weights, (size_t)of(l)->most_points, false};
    blocks[4] = (bo_state_block){of(l)->twists, 6 * (size_t)l->m->link_count, true};
    blocks[5] = (bo_state_block){s->rates, 6 * effectors, false};
    blocks[6] = (bo_state_block){s->springs, 6 * effectors, false};
    blocks[7] = (bo_state_block){&s->kinetic, 1, false};
    blocks[8] = (bo_state_block){s->driven, (size_t)l->m->motor_count, false};
    return 9;
}

static int64_t memory_size(const bo_linkage *l) {
    (void)l;
    return 1;
}

static void save_memory(const bo_linkage *l, double *memory) {
    *memory = of(l)->state->nearest;
}

static void restore_memory(const bo_linkage *l, const double *memory) {
    const double nearest = *memory;
    of(l)->state->nearest = nearest >= 0 && nearest < BOUGH_BLEND_LIMIT ? (int32_t)nearest : -1;
}

const bo_linkage_kind bo_blended_linkage = {.create = create,
                                            .destroy = destroy,
                                            .place = place,
                                            .move = move,
                                            .gravity = kept_gravity,
                                            .drive = drive,
                                            .loads = list_loads,
                                            .push = push,
                                            .step = step,
                                            .settle = settle,
                                            .energies = energies,
                                            .list_state = list_state,
                                            .memory_size = memory_size,
                                            .save_memory = save_memory,
                                            .restore_memory = restore_memory};
