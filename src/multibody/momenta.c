/* Momenta of what flies: bodies that joints connect with each other, but nothing with the world. A step balances mass
 * times the change of velocities with the mass matrix at its end, which is not the change of momenta; what is left over
 * is of the order of the step's error. Here it is made good by a motion of all bodies of the flyer as one rigid body,
 * which no joint feels. docs/theory/multibody.md, "Momenta". */
#include "multibody/multibody.h"

#include <string.h>

#define EASE \
    1e-4 /* against spin that turns a flyer as far in a step: the price of turning it, where nothing touches it */

/* ---- which bodies fly together ---- */

static int32_t root_of(int32_t *up, int32_t i) {
    while (up[i] != i)
        i = up[i] = up[up[i]];
    return i;
}

/* Bodies that joints with rows or springs connect have one root; that of the world is body_count. Flyers are numbered
 * by their first bodies. */
bough_status bo_mb_find_flyers(bough_context *ctx, bough_multibody *model) {
    const int32_t world = model->body_count;
    int32_t *up = BO_NEW_ARRAY(ctx, int32_t, world + 1), *number = BO_NEW_ARRAY(ctx, int32_t, world + 1);
    model->flyer = BO_NEW_ARRAY(ctx, int32_t, world);
    const bool there = up && number && model->flyer;
    for (int32_t i = 0; there && i <= world; i++)
        up[i] = i, number[i] = -1;
    for (int32_t j = 0; there && j < model->joint_count; j++) {
        const bo_mb_joint *joint = &model->joints[j];
        for (int32_t f = 1; f < joint->frame_count && (joint->row_count > 0 || joint->springs); f++) {
            const int32_t a = model->frames[joint->frames[0]].body, b = model->frames[joint->frames[f]].body;
            up[root_of(up, a < 0 ? world : a)] = root_of(up, b < 0 ? world : b);
        }
    }
    for (int32_t b = 0; there && b < world; b++) {
        const int32_t root = root_of(up, b);
        if (root == root_of(up, world)) {
            model->flyer[b] = -1;
            continue;
        }
        if (number[root] < 0)
            number[root] = model->flyer_count++;
        model->flyer[b] = number[root];
    }
    bo_free(ctx, up);
    bo_free(ctx, number);
    return there ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

size_t bo_mb_momenta_size(const bough_multibody *model) {
    const size_t flyers = (size_t)model->flyer_count;
    return flyers > 0 ? 15 * flyers + (size_t)model->nu + (size_t)model->nv : 0;
}

void bo_mb_keep_momenta(bo_mb_state *s) {
    s->keeps = s->model->flyer_count > 0;
}

/* ---- what they have ---- */

void bo_mb_momenta_of(double mass, const bo_mb_sums *m, bo_mat3 R, bo_vec3 v, bo_vec3 w, bo_vec3 *p, bo_vec3 *about) {
    const bo_vec3 arm = bo_mat_vec(R, m->S), spin = bo_mat_vec(m->I, bo_mat_tvec(R, w));
    *p = bo_add(bo_add(bo_scale(mass, v), bo_cross(w, arm)), bo_mat_vec(R, m->Sdot));
    *about = bo_add(bo_cross(arm, v), bo_mat_vec(R, bo_add(spin, m->swirl)));
}

/* d . e 1 - (d e^T + e d^T) / 2 */
static bo_mat3 inertia_of_arms(bo_vec3 d, bo_vec3 e) {
    return bo_mat_sub(bo_mat_scale(bo_dot(d, e), bo_identity3()), bo_sym(bo_outer(d, e)));
}

static void add_body(bo_mb_flight *f, double mass, const bo_mb_sums *m, bo_mat3 R, const double *u, const double *v) {
    const bo_vec3 d = bo_sub(bo_load3(u), f->from), arm = bo_mat_vec(R, m->S);
    bo_vec3 p, about;
    bo_mb_momenta_of(mass, m, R, bo_load3(v), bo_load3(v + 3), &p, &about);
    f->mass += mass;
    f->centre = bo_add(bo_mul_add(f->centre, mass, d), arm);
    f->p = bo_add(f->p, p);
    f->L = bo_add(f->L, bo_add(about, bo_cross(d, p)));
    f->I = bo_mat_add(f->I, bo_mat_mul(bo_mat_mul(R, m->I), bo_transpose(R)));
    f->I = bo_mat_add(f->I, inertia_of_arms(d, bo_mul_add(bo_scale(2, arm), mass, d)));
}

/* From sums about `from` to those about the centre of mass. */
static void move_to_centre(bo_mb_flight *f) {
    const bo_vec3 e = bo_scale(1 / f->mass, f->centre);
    f->centre = bo_add(f->from, e);
    f->L = bo_sub(f->L, bo_cross(e, f->p));
    f->I = bo_mat_sub(f->I, bo_mat_scale(f->mass, inertia_of_arms(e, e)));
}

/* Overwrites axes, and what is left of shapes. */
static void measure(const bough_multibody *model, bo_mb_work *work, const double *u, const double *v,
                    bo_mb_flight *flights) {
    int32_t begun = 0;
    memset(flights, 0, (size_t)model->flyer_count * sizeof *flights);
    for (int32_t b = 0; b < model->body_count; b++) {
        const double *q = u + 7 * b + 3;
        const bo_mb_body *body = &model->bodies[b];
        const bo_mb_sums rigid = {.S = body->S, .I = body->I};
        work->R[b] = bo_quat_to_matrix((bo_quat){q[0], q[1], q[2], q[3]});
        if (model->flyer[b] < 0)
            continue;
        bo_mb_flight *f = &flights[model->flyer[b]];
        if (model->flyer[b] == begun)
            f->from = bo_load3(u + 7 * b), begun++;
        add_body(f, body->mass, &rigid, work->R[b], u + 7 * b, v + 6 * b);
    }
    for (int32_t p = 0; p < model->def.part_count; p++) {
        const bo_mb_part *part = &model->parts[p];
        const int32_t b = part->body;
        bo_mb_sums m;
        if (b < 0 || model->flyer[b] < 0)
            continue;
        const double *x = u + part->first + model->body_count, *rates = v + part->first;
        if (part->full)
            bo_mb_full_measure(part, &work->full[p], x, rates, &m);
        else
            bo_mb_part_sums(part, x, rates, work->shapes[p].Z, &m);
        add_body(&flights[model->flyer[b]], part->mass, &m, work->R[b], u + 7 * b, v + 6 * b);
    }
    for (int32_t k = 0; k < model->flyer_count; k++)
        move_to_centre(&flights[k]);
}

/* ---- what they should have ---- */

/* Forces act at the end of the step, pushes of contacts where the bodies were at its start, where they are equal and
 * opposite in the same places. */
static void add_forces(const bo_mb_state *s, const bo_mb_flight *before, bo_mb_flight *now) {
    const bough_multibody *model = s->model;
    for (int32_t b = 0; b < model->body_count; b++) {
        const int32_t k = model->flyer[b];
        if (k < 0)
            continue;
        const double *f = s->face.force + 6 * b, *p = s->push + 6 * b;
        const bo_vec3 there = bo_sub(bo_load3(s->u_next + 7 * b), now[k].centre),
                      here = bo_sub(bo_load3(s->face.u + 7 * b), before[k].centre);
        now[k].touches = now[k].touches || p[0] != 0 || p[1] != 0 || p[2] != 0;
        now[k].force = bo_add(now[k].force, bo_add(bo_load3(f), bo_load3(p)));
        now[k].torque = bo_add(now[k].torque, bo_add(bo_load3(f + 3), bo_cross(there, bo_load3(f))));
        now[k].torque = bo_add(now[k].torque, bo_add(bo_load3(p + 3), bo_cross(here, bo_load3(p))));
    }
    for (int32_t k = 0; k < model->flyer_count; k++)
        now[k].force = bo_mul_add(now[k].force, now[k].mass, bo_load3(s->face.gravity));
}

/* Measures them at the start of a step, unless the last one ended there. */
static void look_back(bo_mb_state *s, bo_mb_flight *before) {
    const bough_multibody *model = s->model;
    if (memcmp(s->u_flown, s->face.u, (size_t)model->nu * sizeof(double)) != 0 ||
        memcmp(s->v_flown, s->face.v, (size_t)model->nv * sizeof(double)) != 0) {
        measure(model, &s->work, s->face.u, s->face.v, before);
        return;
    }
    for (int32_t k = 0; k < model->flyer_count; k++) {
        const double *from = s->flown + 9 * k;
        before[k].centre = bo_load3(from), before[k].p = bo_load3(from + 3), before[k].L = bo_load3(from + 6);
    }
}

void bo_mb_remember_momenta(bo_mb_state *s) {
    const bough_multibody *model = s->model;
    const bo_mb_flight *before = s->work.flights, *now = before + model->flyer_count;
    if (!s->keeps)
        return;
    for (int32_t k = 0; k < model->flyer_count; k++) {
        double *to = s->flown + 9 * k;
        bo_store3(to, now[k].aim);
        bo_store3(to + 3, bo_add(before[k].p, now[k].push));
        bo_store3(to + 6, bo_add(before[k].L, now[k].twist));
    }
    memcpy(s->u_flown, s->face.u, (size_t)model->nu * sizeof(double));
    memcpy(s->v_flown, s->face.v, (size_t)model->nv * sizeof(double));
}

/* Measures both ends of a step of dt, and finds how much linear and angular momentum change in it: by the step's own
 * formula, p = p_before + history (p_before - p_before_that) + h force. */
static void balance(bo_mb_state *s, double dt) {
    const int32_t count = s->model->flyer_count;
    bo_mb_flight *before = s->work.flights, *now = before + count;
    look_back(s, before);
    measure(s->model, &s->work, s->u_next, s->v_next, now);
    add_forces(s, before, now);
    const double history = s->h < dt ? (dt - s->h) / s->h_before : 0;
    for (int32_t k = 0; k < count; k++) {
        bo_mb_flight *f = &now[k];
        f->push = bo_mul_add(bo_scale(history, bo_load3(s->impulses + 6 * k)), s->h, f->force);
        f->twist = bo_mul_add(bo_scale(history, bo_load3(s->impulses + 6 * k + 3)), s->h, f->torque);
        f->p_error = bo_sub(bo_add(before[k].p, f->push), f->p);
        f->L_error = bo_sub(bo_add(before[k].L, f->twist), f->L);
    }
}

/* I^-1 L */
static bo_vec3 spin_of(bo_mat3 I, bo_vec3 L) {
    return bo_det(I) > 0 ? bo_mat_vec(bo_inverse(I), L) : bo_v3(0, 0, 0);
}

/* Missing angular momentum comes by spin w, L_error = I w, or by turning the whole flyer, velocities too, by t,
 * L_error = t x L. Spin alone would set slender things rolling, whose inertia about one axis is next to nothing. So
 * w . I w + t . t i / h^2 is made least, which gives t = h^2 / i L x w and
 *   (I + h^2 / i (|L|^2 - L L^T)) w = L_error
 * with i the mean inertia, or EASE times that. */
static void share_missing(bo_mb_flight *f, double dt) {
    if (!(bo_trace(f->I) > 0)) /* a point: there is nothing to turn */
        return;
    const double s = dt * dt / ((f->touches ? 1 : EASE) * bo_trace(f->I) / 3);
    f->spin = spin_of(bo_mat_add(f->I, bo_mat_scale(s, inertia_of_arms(f->L, f->L))), f->L_error);
    f->turn = bo_scale(s, bo_cross(f->L, f->spin));
}

/* v += the motion of the flyers as rigid bodies that has the missing momenta. */
static void add_missing(const bo_mb_state *s, double *v) {
    const bough_multibody *model = s->model;
    const bo_mb_flight *now = s->work.flights + model->flyer_count;
    for (int32_t b = 0; b < model->body_count; b++) {
        if (model->flyer[b] < 0)
            continue;
        const bo_mb_flight *f = &now[model->flyer[b]];
        const bo_vec3 arm = bo_sub(bo_load3(s->u_next + 7 * b), f->centre);
        const bo_vec3 moves = bo_mul_add(bo_cross(f->spin, arm), 1 / f->mass, f->p_error);
        bo_store3(v + 6 * b, bo_add(bo_load3(v + 6 * b), moves));
        bo_store3(v + 6 * b + 3, bo_add(bo_load3(v + 6 * b + 3), f->spin));
    }
}

void bo_mb_lead_to_momenta(bo_mb_state *s, double dt) {
    const int32_t count = s->model->flyer_count;
    if (!s->keeps)
        return;
    bo_mb_advance(s->model, s->u_base, s->h, s->v_next, s->u_next);
    balance(s, dt);
    for (int32_t k = 0; k < count; k++)
        share_missing(&s->work.flights[count + k], dt);
    add_missing(s, s->v_base);
    add_missing(s, s->v_next);
}

/* Turns all of a body's motion but that of the flyer's centre, which goes to where momentum takes it. */
static void turn_body(const bo_mb_flight *f, bo_quat Q, double *u, double *v) {
    const bo_vec3 mean = bo_scale(1 / f->mass, f->p), arm = bo_sub(bo_load3(u), f->centre);
    const bo_quat q = bo_quat_mul(Q, (bo_quat){u[3], u[4], u[5], u[6]});
    bo_store3(u, bo_add(f->aim, bo_quat_rotate(Q, arm)));
    u[3] = q.w, u[4] = q.x, u[5] = q.y, u[6] = q.z;
    bo_store3(v, bo_add(mean, bo_quat_rotate(Q, bo_sub(bo_load3(v), mean))));
    bo_store3(v + 3, bo_quat_rotate(Q, bo_load3(v + 3)));
}

/* The rest, after all has been turned, comes by spin to the last digit. */
static void take_rest(bo_mb_flight *f) {
    const bo_mat3 R = bo_quat_to_matrix(bo_quat_exp(f->turn));
    f->I = bo_mat_mul(bo_mat_mul(R, f->I), bo_transpose(R));
    f->L_error = bo_sub(bo_add(f->L, f->L_error), bo_mat_vec(R, f->L));
    f->spin = spin_of(f->I, f->L_error);
    f->centre = f->aim;
}

void bo_mb_mend_momenta(bo_mb_state *s, double dt) {
    const bough_multibody *model = s->model;
    const bo_mb_flight *before = s->work.flights;
    bo_mb_flight *now = s->work.flights + model->flyer_count;
    if (!s->keeps)
        return;
    balance(s, dt);
    for (int32_t k = 0; k < model->flyer_count; k++) {
        /* The centre moves by the momentum at the end, or, in steps of second order, by that of the middle. */
        const bo_vec3 p = bo_mul_add(before[k].p, s->h < dt ? 0.5 : 1, now[k].push);
        now[k].aim = bo_mul_add(before[k].centre, dt / now[k].mass, p);
        share_missing(&now[k], dt);
        bo_store3(s->impulses + 6 * k, now[k].push), bo_store3(s->impulses + 6 * k + 3, now[k].twist);
    }
    for (int32_t b = 0; b < model->body_count; b++)
        if (model->flyer[b] >= 0) {
            const bo_mb_flight *f = &now[model->flyer[b]];
            turn_body(f, bo_quat_exp(f->turn), s->u_next + 7 * b, s->v_next + 6 * b);
        }
    for (int32_t k = 0; k < model->flyer_count; k++)
        take_rest(&now[k]);
    add_missing(s, s->v_next);
}
