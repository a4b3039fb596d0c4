/* Roots that fly: their motion, and the momenta of their trees. docs/theory/tree.md, "Free flight". */
#include "tree/couple.h"

#include "base/rotation.h"
#include "dense/cholesky.h"

#include <string.h>

static bo_mat3 axes_of(const bough_root *root) {
    bo_mat3 R;
    memcpy(R.m, root->rotation, sizeof R.m);
    return R;
}

/* The part inside of the model. */
static int32_t inside(const bough_model *model, const bough_root *root) {
    return model->inside[root->part];
}

void bo_tree_place_roots(const bough_model *model, bo_tree_work *work, const bough_root *roots) {
    for (int32_t k = 0; k < model->free_count; k++) {
        bo_tree_motion *m = &work->motion[inside(model, &roots[k])];
        m->world = axes_of(&roots[k]);
        m->origin = bo_load3(roots[k].origin);
        m->v = bo_mat_tvec(m->world, bo_load3(roots[k].velocity));
        m->w = bo_mat_tvec(m->world, bo_load3(roots[k].angular_velocity));
    }
}

/* Momentum h and rigid inertia I of a root's tree about its origin, in its axes: leaves to root. The tree's parts are
 * those whose path ends there; sums of other trees stay apart, since parents only add to their own. */
static void sum_up(const bough_model *model, bo_tree_work *work, const double *q, const double *v) {
    bo_tree_inertia(model, work, q, v);
    bo_tree_own_terms(model, work, q, v);
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        const bo_tree_motion *m = &work->motion[i];
        bo_tree_solve_state *s = &work->solve[i];
        const double *Mrq = work->Mrq + 6 * part->offset, *vi = v + part->offset;
        const double V[6] = {m->v.x, m->v.y, m->v.z, m->w.x, m->w.y, m->w.z};
        for (int d = 0; d < 6; d++) {
            s->p[d] = 0;
            for (int e = 0; e < 6; e++)
                s->p[d] += s->I[6 * d + e] * V[e];
            for (int32_t l = 0; l < part->r; l++)
                s->p[d] += Mrq[d * part->r + l] * vi[l];
        }
    }
    for (int32_t j = model->part_count - 1; j >= 0; j--) {
        const int32_t i = model->parts[j].parent;
        if (i < 0)
            continue;
        const bo_tree_motion *m = &work->motion[j];
        double I[36], p[6];
        bo_tree_turn(m->R, work->solve[j].I, I);
        bo_store3(p, bo_mat_vec(m->R, bo_load3(work->solve[j].p)));
        bo_store3(p + 3, bo_mat_vec(m->R, bo_load3(work->solve[j].p + 3)));
        bo_tree_shift(m->x, I, p);
        for (int k = 0; k < 36; k++)
            work->solve[i].I[k] += I[k];
        for (int k = 0; k < 6; k++)
            work->solve[i].p[k] += p[k];
    }
}

/* Mass and centre of each root's tree, after sum_up(). */
static void measure(const bough_model *model, const bo_tree_work *work, bough_root *root) {
    const double *I = work->solve[inside(model, root)].I;
    bo_vec3 mc = {I[6 * 5 + 1], I[6 * 3 + 2], I[6 * 4 + 0]};
    root->mass = I[0];
    bo_store3(root->centre, bo_add(bo_load3(root->origin), bo_mat_vec(axes_of(root), bo_scale(1 / I[0], mc))));
}

bool bo_tree_set_momenta(const bough_model *model, bo_tree_work *work, const double *q, const double *v,
                         bough_root *roots) {
    if (model->free_count == 0)
        return true;
    sum_up(model, work, q, v);
    for (int32_t k = 0; k < model->free_count; k++) {
        const bo_tree_solve_state *s = &work->solve[inside(model, &roots[k])];
        bo_mat3 R = axes_of(&roots[k]);
        bo_vec3 P = bo_mat_vec(R, bo_load3(s->p)), L = bo_mat_vec(R, bo_load3(s->p + 3));
        measure(model, work, &roots[k]);
        bo_store3(roots[k].momentum, P);
        bo_store3(roots[k].angular_momentum, bo_add(L, bo_cross(bo_load3(roots[k].origin), P)));
    }
    return true;
}

bool bo_tree_project_momenta(const bough_model *model, bo_tree_work *work, const double *q, const double *v,
                             bough_root *roots) {
    if (model->free_count == 0)
        return true;
    sum_up(model, work, q, v);
    for (int32_t k = 0; k < model->free_count; k++) {
        const bo_tree_solve_state *s = &work->solve[inside(model, &roots[k])];
        bo_mat3 R = axes_of(&roots[k]);
        bo_vec3 P = bo_load3(roots[k].momentum), x = bo_load3(roots[k].origin);
        bo_vec3 L = bo_sub(bo_load3(roots[k].angular_momentum), bo_cross(x, P));
        double I[36], dV[6];
        memcpy(I, s->I, sizeof I);
        bo_store3(dV, bo_sub(bo_mat_tvec(R, P), bo_load3(s->p)));
        bo_store3(dV + 3, bo_sub(bo_mat_tvec(R, L), bo_load3(s->p + 3)));
        if (!bo_cholesky_factor(6, I))
            return false;
        bo_cholesky_solve(6, I, dV);
        measure(model, work, &roots[k]);
        bo_store3(roots[k].velocity, bo_add(bo_load3(roots[k].velocity), bo_mat_vec(R, bo_load3(dV))));
        bo_store3(roots[k].angular_velocity,
                  bo_add(bo_load3(roots[k].angular_velocity), bo_mat_vec(R, bo_load3(dV + 3))));
    }
    return true;
}

/* The weight acts in the centre of mass, which flies along a parabola: the integral of x x m g is exact. */
static void weigh(const bough_root *from, bo_vec3 g, double dt, bough_root *to) {
    bo_vec3 P = bo_load3(from->momentum), force = bo_scale(from->mass, g);
    bo_vec3 middle = bo_mul_add(bo_load3(from->centre), 0.5 * dt / from->mass, P);
    bo_store3(to->momentum, bo_mul_add(P, dt, force));
    bo_store3(to->angular_momentum, bo_mul_add(bo_load3(from->angular_momentum), dt, bo_cross(middle, force)));
}

/* Forces from outside, as they stood at the start of the step, where the frames were published. */
static void add_wrenches(const bough_model *model, const bo_tree_work *work, const bough_frame *frames, double dt,
                         bough_root *to) {
    for (int32_t i = 0; i < model->part_count; i++) {
        if (model->parts[i].flight < 0)
            continue;
        bough_root *root = &to[model->parts[i].flight];
        const bough_frame *frame = &frames[model->parts[i].user];
        bo_mat3 R;
        memcpy(R.m, frame->rotation, sizeof R.m);
        bo_vec3 force = bo_mat_vec(R, bo_load3(work->load_wrench + 6 * i));
        bo_vec3 torque = bo_mat_vec(R, bo_load3(work->load_wrench + 6 * i + 3));
        torque = bo_add(torque, bo_cross(bo_load3(frame->origin), force));
        bo_store3(root->momentum, bo_mul_add(bo_load3(root->momentum), dt, force));
        bo_store3(root->angular_momentum, bo_mul_add(bo_load3(root->angular_momentum), dt, torque));
    }
}

/* Newmark's rule for velocities, the mean of both for positions and turns. */
static void fly_one(const bough_model *model, const bo_tree_work *work, double dt, double gamma, const bough_root *from,
                    bough_root *to) {
    const double *A = work->solve[inside(model, from)].A;
    bo_vec3 g = bo_load3(model->def.gravity);
    bo_mat3 R = axes_of(from);
    *to = *from;
    /* angular velocity in the root's own axes, where its rate is the angular acceleration */
    bo_vec3 w = bo_mat_tvec(R, bo_load3(from->angular_velocity));
    bo_vec3 alpha = bo_mat_tvec(R, bo_load3(from->angular_acceleration));
    bo_vec3 wn = bo_mul_add(bo_mul_add(w, dt * (1 - gamma), alpha), dt * gamma, bo_load3(A + 3));
    bo_mat3 Rn = bo_mat_mul(R, bo_exp3(bo_scale(0.5 * dt, bo_add(w, wn))));
    bo_vec3 an = bo_add(bo_mat_vec(Rn, bo_load3(A)), g), v = bo_load3(from->velocity);
    bo_vec3 vn = bo_mul_add(bo_mul_add(v, dt * (1 - gamma), bo_load3(from->acceleration)), dt * gamma, an);
    memcpy(to->rotation, Rn.m, sizeof to->rotation);
    bo_store3(to->origin, bo_mul_add(bo_load3(from->origin), 0.5 * dt, bo_add(v, vn)));
    bo_store3(to->velocity, vn);
    bo_store3(to->angular_velocity, bo_mat_vec(Rn, wn));
    bo_store3(to->acceleration, an);
    bo_store3(to->angular_acceleration, bo_mat_vec(Rn, bo_load3(A + 3)));
}

void bo_tree_fly(const bough_model *model, const bo_tree_work *work, const bough_frame *frames, double dt, double gamma,
                 const bough_root *from, bough_root *to) {
    for (int32_t k = 0; k < model->free_count; k++)
        fly_one(model, work, dt, gamma, &from[k], &to[k]);
    for (int32_t k = 0; k < model->free_count; k++)
        weigh(&from[k], bo_load3(model->def.gravity), dt, &to[k]);
    add_wrenches(model, work, frames, dt, to);
}
