/* States: made, asked, measured. */
#include "multibody/multibody.h"

#include "base/polar.h"
#include "base/pose.h"
#include "rig/joint.h"

#include <string.h>

/* ---- memory ---- */

static bough_status reserve(bough_context *ctx, const bough_multibody *model, bo_mb_state *s) {
    const size_t nv = (size_t)model->nv, nu = (size_t)model->nu, nc = (size_t)model->nc;
    const struct {
        double **to;
        size_t count;
    } arrays[] = {{&s->face.u, nu},
                  {&s->face.v, nv},
                  {&s->face.lambda, nc},
                  {&s->face.force, nv},
                  {&s->a, nv},
                  {&s->u_before, nu},
                  {&s->v_before, nv},
                  {&s->u_next, nu},
                  {&s->v_next, nv},
                  {&s->lambda_next, nc},
                  {&s->a_next, nv},
                  {&s->residual, nv},
                  {&s->rate, nc},
                  {&s->c, nc},
                  {&s->zeros, nv},
                  {&s->push, nv},
                  {&s->zeros_c, nc},
                  {&s->lambda_trial, nc},
                  {&s->u_base, nu},
                  {&s->v_base, nv},
                  {&s->v_guess, nv},
                  {&s->force_kept, nv},
                  {&s->lambda_before, nc},
                  {&s->v_start, nv},
                  {&s->lambda_start, nc},
                  {&s->trust, nv},
                  {&s->impulses, bo_mb_momenta_size(model)}};
    size_t total = 0;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        total += arrays[i].count;
    double *block = BO_NEW_ZEROS(ctx, double, total);
    if (!(s->memory = block))
        return BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i].to = block, block += arrays[i].count;
    const size_t flyers = (size_t)model->flyer_count;
    if (flyers > 0)
        s->flown = s->impulses + 6 * flyers, s->u_flown = s->flown + 9 * flyers, s->v_flown = s->u_flown + nu;
    return bo_mb_work_make(ctx, model, &s->work);
}

static void begin(const bough_multibody *model, bo_mb_state *s) {
    for (int32_t b = 0; b < model->body_count; b++) {
        const bo_se3 g = model->starts[b];
        const bo_quat q = bo_quat_from_matrix(g.R);
        double *u = s->face.u + 7 * b, *v = s->face.v + 6 * b;
        bo_store3(u, g.t);
        u[3] = q.w, u[4] = q.x, u[5] = q.y, u[6] = q.z;
        bo_store3(v, bo_mat_vec(g.R, model->start_twists[b].v));
        bo_store3(v + 3, bo_mat_vec(g.R, model->start_twists[b].w));
    }
    memcpy(s->face.gravity, model->def.gravity, sizeof s->face.gravity);
}

bough_status bough_multibody_state_create(bough_context *ctx, const bough_multibody *model,
                                          bough_multibody_state **out) {
    *out = NULL;
    bo_mb_state *s = BO_NEW(ctx, bo_mb_state);
    if (!s)
        return BOUGH_ERROR_MEMORY;
    s->model = model, s->exact = 1;
    s->path_time = NAN, s->apart = -1;
    const bough_status status = reserve(ctx, model, s);
    if (status != BOUGH_OK) {
        bough_multibody_state_destroy(ctx, &s->face);
        return status;
    }
    begin(model, s);
    const bo_mb_drive drive = bo_mb_drive_at(s, 0);
    bo_mb_evaluate(model, &s->work, &drive, s->face.u, s->face.v, s->zeros, s->face.lambda, s->residual, s->c, s->rate);
    bo_mb_keep_coordinates(model, &s->work);
    bo_mb_fill_system(s);
    *out = &s->face;
    return BOUGH_OK;
}

void bough_multibody_state_destroy(bough_context *ctx, bough_multibody_state *state) {
    if (!state)
        return;
    bo_mb_state *s = bo_mb(state);
    bo_integrator_destroy(ctx, s->method);
    bo_mb_work_free(ctx, s->model, &s->work);
    bo_free(ctx, s->memory);
    bo_free(ctx, s);
}

void bough_multibody_restart(bough_multibody_state *state) {
    bo_mb_state *s = bo_mb(state);
    s->h_before = s->factored_h = s->suits = 0;
    s->path_time = NAN, s->path_sign = 0;
    s->knows_lambda = false;
    if (s->method)
        bo_integrator_restart(s->method);
}

bo_mb_drive bo_mb_drive_at(bo_mb_state *s, double time) {
    for (int32_t m = 0; m < s->model->def.motor_count; m++) {
        s->work.motor_place[m] = s->model->motor_starts[m], s->work.motor_rate[m] = 0;
        if (s->face.drive)
            s->face.drive(s->face.drive_data, m, time, &s->work.motor_place[m], &s->work.motor_rate[m]);
    }
    return (bo_mb_drive){time, s->face.gravity, s->face.force, s->push, s->work.motor_place, s->work.motor_rate};
}

/* ---- questions ---- */

/* The scratch of the state is that of its present positions and velocities. */
static bo_mb_drive look(const bough_multibody *model, const bough_multibody_state *state) {
    bo_mb_state *s = (bo_mb_state *)(uintptr_t)bo_mb_const(state);
    const bo_mb_drive drive = bo_mb_drive_at(s, state->time);
    bo_mb_look(model, &s->work, &drive, state->u, state->v, state->lambda, s->c, s->rate);
    return drive;
}

/* Centre and A of an interface of a part in full order, and their rates, in the component's axes; *A is that at rest. */
static void full_face_at(const bo_mb_part *part, int32_t interface_index, const double *u, const double *v,
                         bo_vec3 *centre, bo_mat3 *A, bo_vec3 *slide, bo_mat3 *Adot) {
    double seen[BO_MB_FACE] = {0}, rates[BO_MB_FACE] = {0};
    if (bo_mb_full_slot(part->full, interface_index) >= 0) {
        part->full->kind->gather(part->full, interface_index, u, seen);
        part->full->kind->gather(part->full, interface_index, v, rates);
    }
    *centre = bo_add(bo_load3(part->component->interfaces[interface_index].centre), bo_load3(seen));
    *slide = bo_load3(rates);
    for (int i = 0; i < 9; i++)
        A->m[i] += seen[3 + i], Adot->m[i] = rates[3 + i];
}

static void frame_at(const bough_multibody *model, const bough_multibody_state *state, const bough_frame_def *frame,
                     bo_se3 *pose, bo_twist *twist) {
    *twist = (bo_twist){{0, 0, 0}, {0, 0, 0}};
    *pose = bo_pose(&frame->pose);
    int32_t body = frame->body;
    if (body >= model->def.body_count) {
        const int32_t p = body - model->def.body_count;
        const bo_mb_part *part = &model->parts[p];
        const bough_component *c = part->component;
        const double *u = state->u + part->first + model->body_count, *v = state->v + part->first;
        const bough_frame_def *clamp = &model->def.parts[p].clamp;
        bo_se3 face = bo_se3_identity(), g = clamp->body >= model->def.body_count ? face : bo_pose(&clamp->pose);
        if (frame->interface_index >= 0) {
            const bough_interface *from = &c->interfaces[frame->interface_index];
            double centre[3];
            bo_mat3 A, Adot = {{0}}, S, Rdot, Sdot;
            bo_vec3 slide = {0, 0, 0};
            memcpy(A.m, from->A, sizeof A.m);
            if (part->full)
                full_face_at(part, frame->interface_index, u, v, &face.t, &A, &slide, &Adot);
            else {
                bough_component_interface_frame(c, frame->interface_index, u, centre, face.R.m);
                face.t = bo_load3(centre);
            }
            for (int32_t k = 0; k < part->r && !part->full; k++) {
                slide = bo_mul_add(slide, v[k], bo_load3(from->translation + 3 * k));
                for (int i = 0; i < 9; i++) {
                    A.m[i] += u[k] * from->A[9 * (k + 1) + i];
                    Adot.m[i] += v[k] * from->A[9 * (k + 1) + i];
                }
            }
            if (part->full)
                bo_polar(A, &face.R, &S);
            S = bo_mat_tmul(face.R, A);
            bo_polar_rates(A, face.R, S, Adot, &twist->w, &Rdot, &Sdot);
            twist->v = bo_add(slide, bo_cross(twist->w, bo_mat_vec(face.R, pose->t)));
            *twist = (bo_twist){bo_mat_vec(g.R, twist->v), bo_mat_vec(g.R, twist->w)};
        }
        *pose = bo_se3_mul(bo_se3_mul(g, face), *pose);
        body = part->body;
    }
    if (body < 0)
        return;
    const double *u = state->u + 7 * body, *v = state->v + 6 * body;
    const bo_se3 at = {bo_quat_to_matrix((bo_quat){u[3], u[4], u[5], u[6]}), bo_load3(u)};
    const bo_vec3 arm = bo_mat_vec(at.R, pose->t), w = bo_load3(v + 3);
    twist->v = bo_add(bo_mat_vec(at.R, twist->v), bo_add(bo_load3(v), bo_cross(w, arm)));
    twist->w = bo_add(bo_mat_vec(at.R, twist->w), w);
    *pose = bo_se3_mul(at, *pose);
}

void bough_multibody_frame(const bough_multibody *model, const bough_multibody_state *state,
                           const bough_frame_def *frame, bough_pose *pose, double twist[6]) {
    bo_se3 g;
    bo_twist t;
    frame_at(model, state, frame, &g, &t);
    if (pose)
        *pose = bo_put_pose(g);
    if (twist)
        bo_store_twist(twist, t);
}

void bough_multibody_joint_coordinates(const bough_multibody *model, const bough_multibody_state *state, int32_t joint,
                                       double *coordinates, double *rates) {
    const bough_joint_def *def = &model->def.joints[joint];
    const int n = bough_joint_freedoms(def->kind);
    bo_se3 a, b;
    bo_twist ta, tb;
    frame_at(model, state, &def->parent, &a, &ta);
    frame_at(model, state, &def->child, &b, &tb);
    if (def->kind == BOUGH_JOINT_BALL || def->kind == BOUGH_JOINT_COMPLIANT || def->kind == BOUGH_JOINT_FREE) {
        double q[BOUGH_MOST_FREEDOMS];
        bo_joint_read(def->kind, bo_se3_mul(bo_se3_inverse(a), b), q);
        if (coordinates)
            memcpy(coordinates, q, (size_t)n * sizeof *q);
        if (rates) /* not those of the rotation vector: relative velocity and spin, in the parent's axes */
            for (int k = 0; k < n; k++) {
                const bo_vec3 v = bo_mat_tvec(a.R, bo_sub(tb.v, bo_add(ta.v, bo_cross(ta.w, bo_sub(b.t, a.t)))));
                const bo_vec3 w = bo_mat_tvec(a.R, bo_sub(tb.w, ta.w));
                const double all[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
                rates[k] = all[n == 3 ? 3 + k : k];
            }
        return;
    }
    const bo_mb_place pa = {.x = a.t, .v = ta.v, .w = ta.w, .Q = a.R}, pb = {.x = b.t, .v = tb.v, .w = tb.w, .Q = b.R};
    for (int k = 0; k < n; k++) {
        bo_mb_coordinate y;
        bo_mb_coordinate_at(def->kind, k, &pa, &pb,
                            bo_mb_const(state)->work.coordinates[model->coordinate_first[joint] + k], false, &y);
        if (coordinates)
            coordinates[k] = y.value;
        if (rates)
            rates[k] = y.rate;
    }
}

void bough_multibody_joint_wrench(const bough_multibody *model, const bough_multibody_state *state, int32_t joint,
                                  double wrench[6]) {
    bo_mb_work *work = (bo_mb_work *)(uintptr_t)&bo_mb_const(state)->work;
    const bo_mb_drive drive = look(model, state);
    bo_mb_joint_rows(model, work, joint, &drive, state->lambda, false, &work->rows);
    bo_mb_joint_springs(model, work, &model->joints[joint], &drive, false, &work->rows);
    memcpy(wrench, work->rows.W + 6, 6 * sizeof *wrench);
}

/* ---- energies ---- */

typedef struct {
    bo_vec3 p, L, g;
    bough_multibody_energies *e;
} sums;

/* Energies and momenta of a body or a part, whose body has the axes R and moves at x by v and w. */
static void add_body(sums *s, double mass, const bo_mb_sums *m, bo_vec3 x, bo_mat3 R, bo_vec3 v, bo_vec3 w) {
    bo_vec3 p, about;
    bo_mb_momenta_of(mass, m, R, v, w, &p, &about);
    s->p = bo_add(s->p, p);
    s->L = bo_add(s->L, bo_add(about, bo_cross(x, p)));
    s->e->kinetic += 0.5 * (bo_dot(v, p) + bo_dot(w, about)) +
                     0.5 * (bo_dot(v, bo_mat_vec(R, m->Sdot)) + bo_dot(bo_mat_tvec(R, w), m->swirl));
    s->e->gravity -= bo_dot(s->g, bo_add(bo_scale(mass, x), bo_mat_vec(R, m->S)));
}

static void measure_part(const bough_multibody *model, bo_mb_work *work, int32_t p, const bough_multibody_state *state,
                         bo_mb_sums *m) {
    const bo_mb_part *part = &model->parts[p];
    const double *u = state->u + part->first + model->body_count, *rate = state->v + part->first;
    if (part->full) {
        bo_mb_full_measure(part, &work->full[p], u, rate, m);
        return;
    }
    bo_mb_shape_sums(part, &work->shapes[p], rate, m);
    for (int32_t l = 0; l < part->r; l++)
        for (int32_t k = 0; k < part->r; k++)
            m->kinetic += 0.5 * rate[l] * part->M[part->r * l + k] * rate[k];
    bough_component_evaluate(part->component, u, work->element, &m->elastic, NULL, NULL);
}

void bough_multibody_measure(const bough_multibody *model, const bough_multibody_state *state,
                             bough_multibody_energies *energies) {
    *energies = (bough_multibody_energies){0};
    bo_mb_work *work = (bo_mb_work *)(uintptr_t)&bo_mb_const(state)->work;
    const bo_mb_drive drive = look(model, state);
    sums s = {.g = bo_load3(state->gravity), .e = energies};
    const bo_vec3 none = {0, 0, 0};
    for (int32_t b = 0; b < model->body_count; b++) {
        const bo_mb_body *body = &model->bodies[b];
        const bo_mb_sums rigid = {.S = body->S, .I = body->I};
        add_body(&s, body->mass, &rigid, bo_load3(state->u + 7 * b), work->R[b], bo_load3(state->v + 6 * b),
                 bo_load3(state->v + 6 * b + 3));
    }
    for (int32_t i = 0; i < model->def.part_count; i++) {
        const bo_mb_part *part = &model->parts[i];
        const int32_t b = part->body;
        bo_mb_sums m;
        measure_part(model, work, i, state, &m);
        add_body(&s, part->mass, &m, b < 0 ? none : bo_load3(state->u + 7 * b), b < 0 ? bo_identity3() : work->R[b],
                 b < 0 ? none : bo_load3(state->v + 6 * b), b < 0 ? none : bo_load3(state->v + 6 * b + 3));
        energies->kinetic += m.kinetic;
        energies->elastic += part->strength * m.elastic;
    }
    for (int32_t j = 0; j < model->joint_count; j++) {
        bo_mb_joint_rows(model, work, j, &drive, state->lambda, false, &work->rows);
        energies->springs += bo_mb_joint_springs(model, work, &model->joints[j], &drive, false, &work->rows);
    }
    bo_store3(energies->momentum, s.p), bo_store3(energies->angular_momentum, s.L);
}
