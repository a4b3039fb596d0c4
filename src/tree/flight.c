/* Roots that fly: their motion, and the momenta of their trees. docs/theory/tree.md, "Free flight". */
#include "tree/couple.h"

#include "base/rotation.h"
#include "dense/cholesky.h"

#include <string.h>

static bo_mat3 axes_of(const bough_tree_root *root) {
    bo_mat3 R;
    memcpy(R.m, root->pose.rotation, sizeof R.m);
    return R;
}

static int32_t slot_of(const bough_tree_model *model, const bough_tree_root *root) {
    return model->parts[model->inside[root->part]].slot;
}

static void lanes_of(const bo_v4 *vectors, int count, int32_t lane, double *out) {
    for (int k = 0; k < count; k++)
        out[k] = BO_LANE_CONST(vectors[k], lane);
}

static void place(bo_tree_work *work, int32_t slot, bo_vec3 origin, bo_mat3 R, bo_vec3 velocity,
                  bo_vec3 angular_velocity) {
    bo_tree_frames *f = &work->frames[slot / 4];
    const int32_t lane = slot % 4;
    double x[3], v[3], w[3];
    bo_store3(x, origin);
    bo_store3(v, bo_mat_tvec(R, velocity));
    bo_store3(w, bo_mat_tvec(R, angular_velocity));
    for (int d = 0; d < 9; d++)
        BO_LANE(f->world[d], lane) = R.m[d];
    for (int d = 0; d < 3; d++) {
        BO_LANE(f->origin[d], lane) = x[d];
        BO_LANE(f->v[d], lane) = v[d];
        BO_LANE(f->w[d], lane) = w[d];
    }
}

void bo_tree_place_roots(const bough_tree_model *model, bo_tree_work *work, const bough_tree_root *roots, double t,
                         bool still) {
    for (int32_t k = model->first_flight; k < model->end_flight; k++)
        place(work, slot_of(model, &roots[k]), bo_load3(roots[k].pose.position), axes_of(&roots[k]),
              bo_load3(roots[k].velocity), bo_load3(roots[k].angular_velocity));
    for (int32_t i = model->levels[0].first_part; i < model->levels[0].end_part && model->led; i++) {
        bo_track_pose pose;
        if (!model->parts[i].track)
            continue;
        bo_track_at(model->parts[i].track, t, &pose);
        if (still)
            pose.velocity = pose.angular_velocity = bo_v3(0, 0, 0);
        place(work, model->parts[i].slot, pose.position, pose.rotation, pose.velocity, pose.angular_velocity);
    }
}

/* I of six freedoms, packed: times V. */
static void six_times(const bo_tree_inertias *s, int32_t lane, const double V[6], double out[6]) {
    bo_v4 x[6], y[6];
    for (int k = 0; k < 6; k++)
        x[k] = V[k] + (bo_v4){0};
    bo_six_mul4(s->I, x, y);
    lanes_of(y, 6, lane, out);
}

void bo_tree_momentum(const bough_tree_model *model, const bo_tree_work *work, const bo_tree_part *part,
                      const double *v, double h[6]) {
    double V[6];
    bo_tree_velocity(work, part, V);
    six_times(&work->inertias[part->slot / 4], part->slot % 4, V, h);
    for (int d = 0; d < 6; d++)
        for (int32_t l = 0; l < part->r; l++)
            h[d] += bo_tree_Mrq(model, work, part, d, l) * v[part->offset + l];
}

/* p and I of each root: momentum and rigid inertia of its tree about its origin, in its axes. */
static void sum_up(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state, const double *q,
                   const double *v) {
    static const bo_tree_mode flights = {.only_flights = true};
    bo_tree_weigh(ctx, model, state, &flights, q, v);
    for (int32_t d = 0; d < model->level_count; d++)
        for (int32_t i = model->levels[d].first_part; i < model->levels[d].end_part; i++) {
            const bo_tree_part *part = &model->parts[i];
            double h[6];
            if (!part->flies)
                continue;
            bo_tree_momentum(model, bo_tree_work_of(state), part, v, h);
            for (int k = 0; k < 6; k++)
                BO_LANE(bo_tree_work_of(state)->inertias[part->slot / 4].p[k], part->slot % 4) = h[k];
        }
    bo_tree_compose(model, bo_tree_work_of(state), &flights);
}

/* Mass and centre of each root's tree, after sum_up(). */
static void measure(const bo_tree_inertias *s, int32_t lane, bough_tree_root *root) {
    double mc[3];
    root->mass = BO_LANE_CONST(s->I[0], lane);
    bo_tree_first_moment(s, lane, mc);
    bo_store3(root->centre,
              bo_add(bo_load3(root->pose.position), bo_mat_vec(axes_of(root), bo_scale(1 / root->mass, bo_load3(mc)))));
}

void bo_tree_set_momenta(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state) {
    if (model->free_count == 0)
        return;
    sum_up(ctx, model, state, state->q, state->v);
    for (int32_t k = model->first_flight; k < model->end_flight; k++) {
        bough_tree_root *root = &state->roots[k];
        const int32_t slot = slot_of(model, root);
        const bo_tree_inertias *s = &bo_tree_work_of(state)->inertias[slot / 4];
        double h[6];
        lanes_of(s->p, 6, slot % 4, h);
        const bo_mat3 R = axes_of(root);
        const bo_vec3 P = bo_mat_vec(R, bo_load3(h)), L = bo_mat_vec(R, bo_load3(h + 3));
        measure(s, slot % 4, root);
        bo_store3(root->momentum, P);
        bo_store3(root->angular_momentum, bo_add(L, bo_cross(bo_load3(root->pose.position), P)));
    }
    memcpy(bo_tree_work_of(state)->next_roots, state->roots, (size_t)model->free_count * sizeof *state->roots);
}

bool bo_tree_project_momenta(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                             const double *q, const double *v, bough_tree_root *roots) {
    sum_up(ctx, model, state, q, v);
    for (int32_t k = model->first_flight; k < model->end_flight; k++) {
        bough_tree_root *root = &roots[k];
        const int32_t slot = slot_of(model, root);
        const bo_tree_inertias *s = &bo_tree_work_of(state)->inertias[slot / 4];
        const bo_mat3 R = axes_of(root);
        const bo_vec3 P = bo_load3(root->momentum), x = bo_load3(root->pose.position);
        const bo_vec3 L = bo_sub(bo_load3(root->angular_momentum), bo_cross(x, P));
        double h[6], dV[6], I[36];
        lanes_of(s->p, 6, slot % 4, h);
        bo_store3(dV, bo_sub(bo_mat_tvec(R, P), bo_load3(h)));
        bo_store3(dV + 3, bo_sub(bo_mat_tvec(R, L), bo_load3(h + 3)));
        bo_tree_unpack_six(s, slot % 4, I);
        if (!bo_cholesky_factor(6, I))
            return false;
        bo_cholesky_solve(6, I, dV);
        measure(s, slot % 4, root);
        bo_store3(root->velocity, bo_add(bo_load3(root->velocity), bo_mat_vec(R, bo_load3(dV))));
        bo_store3(root->angular_velocity, bo_add(bo_load3(root->angular_velocity), bo_mat_vec(R, bo_load3(dV + 3))));
    }
    return true;
}

/* The weight acts in the centre of mass, which flies along a parabola: the integral of x x m g is exact. */
static void weigh(const bough_tree_root *from, bo_vec3 g, double dt, bough_tree_root *to) {
    bo_vec3 P = bo_load3(from->momentum), force = bo_scale(from->mass, g);
    bo_vec3 middle = bo_mul_add(bo_load3(from->centre), 0.5 * dt / from->mass, P);
    bo_store3(to->momentum, bo_mul_add(P, dt, force));
    bo_store3(to->angular_momentum, bo_mul_add(bo_load3(from->angular_momentum), dt, bo_cross(middle, force)));
}

/* Forces from outside, as they stood at the start of the step, where the frame was published. */
static void add_wrench(const double wrench[6], const bough_frame *frame, double dt, bough_tree_root *root) {
    bo_mat3 R;
    memcpy(R.m, frame->pose.rotation, sizeof R.m);
    bo_vec3 force = bo_mat_vec(R, bo_load3(wrench)), torque = bo_mat_vec(R, bo_load3(wrench + 3));
    torque = bo_add(torque, bo_cross(bo_load3(frame->pose.position), force));
    bo_store3(root->momentum, bo_mul_add(bo_load3(root->momentum), dt, force));
    bo_store3(root->angular_momentum, bo_mul_add(bo_load3(root->angular_momentum), dt, torque));
}

static void add_wrenches(const bough_tree_model *model, const bo_tree_work *work, const bough_frame *frames, double dt,
                         bough_tree_root *to) {
    for (int32_t d = 0; d < model->level_count && work->loaded; d++)
        for (int32_t i = model->levels[d].first_part; i < model->levels[d].end_part; i++)
            if (model->parts[i].flight >= 0)
                add_wrench(work->load_wrench + 6 * i, &frames[model->parts[i].user], dt, &to[model->parts[i].flight]);
}

/* Newmark's rule for velocities, the mean of both for positions and turns. A force of contact F that the last step ended with
 * is taken back by a load -(1 - gamma) / gamma F in this one (touch.c), which turns with the part: for both to cancel,
 *     (1 - gamma) a + gamma a+ = 0   where a+ = -(1 - gamma) / gamma a,
 * its part `blow` of the last acceleration has to turn, too. Angular accelerations do so anyway, in the root's axes. */
static void fly_one(const bough_tree_model *model, const bo_tree_work *work, double dt, double gamma,
                    const bough_tree_root *from, bough_tree_root *to) {
    const int32_t slot = slot_of(model, from);
    double A[6];
    lanes_of(work->inertias[slot / 4].A, 6, slot % 4, A);
    bo_vec3 g = bo_load3(work->gravity), blow = bo_load3(from->blow);
    bo_mat3 R = axes_of(from);
    *to = *from;
    /* angular velocity in the root's own axes, where its rate is the angular acceleration */
    bo_vec3 w = bo_mat_tvec(R, bo_load3(from->angular_velocity));
    bo_vec3 alpha = bo_mat_tvec(R, bo_load3(from->angular_acceleration));
    bo_vec3 wn = bo_mul_add(bo_mul_add(w, dt * (1 - gamma), alpha), dt * gamma, bo_load3(A + 3));
    bo_mat3 Rn = bo_mat_mul(R, bo_exp3(bo_scale(0.5 * dt, bo_add(w, wn))));
    bo_vec3 a = bo_add(bo_load3(from->acceleration), bo_sub(bo_mat_vec(Rn, blow), bo_mat_vec(R, blow)));
    bo_vec3 an = bo_add(bo_mat_vec(Rn, bo_load3(A)), g), v = bo_load3(from->velocity);
    bo_vec3 vn = bo_mul_add(bo_mul_add(v, dt * (1 - gamma), a), dt * gamma, an);
    memcpy(to->pose.rotation, Rn.m, sizeof to->pose.rotation);
    bo_store3(to->pose.position, bo_mul_add(bo_load3(from->pose.position), 0.5 * dt, bo_add(v, vn)));
    bo_store3(to->velocity, vn);
    bo_store3(to->angular_velocity, bo_mat_vec(Rn, wn));
    bo_store3(to->acceleration, an);
    bo_store3(to->angular_acceleration, bo_mat_vec(Rn, bo_load3(A + 3)));
    bo_store3(to->blow, bo_scale(-(1 - gamma) / gamma, blow));
}

void bo_tree_fly(const bough_tree_model *model, const bo_tree_work *work, const bough_frame *frames, double dt,
                 double gamma, const bough_tree_root *from, bough_tree_root *to) {
    for (int32_t k = model->first_flight; k < model->end_flight; k++)
        fly_one(model, work, dt, gamma, &from[k], &to[k]);
    for (int32_t k = model->first_flight; k < model->end_flight; k++)
        weigh(&from[k], bo_load3(work->gravity), dt, &to[k]);
    add_wrenches(model, work, frames, dt, to);
    bo_tree_fly_ties(model, work, dt, gamma, to);
}
