/* Momenta of all parts, from the constants of their components. docs/theory/tree.md, "Inertia". */
#include "tree/tree.h"

#include <string.h>

static void add(double factor, int32_t count, const double *from, double *to) {
    for (int32_t k = 0; k < count; k++)
        to[k] += factor * from[k];
}

/* Momentum P and angular momentum L about the origin of its frame, in its axes, that moves with v and w:
 *   P = m v + w x mc + sum_l qdot_l s_l,   L = mc x v + (tr(Sigma) 1 - Sigma) w + 2 skew(sum_l qdot_l V_l)
 * with V_l = W5_l + sum_p q_p W7_lp and Sigma = Sigma0 + sum_l q_l (V_l + W5_l^T). */
static void momenta_of(const bough_component *c, double scale, const double *q, const double *rate, bo_vec3 v,
                       bo_vec3 w, bo_vec3 *P, bo_vec3 *L) {
    double mc[3], flow[3] = {0};
    bo_mat3 Sigma, Dm = {{0}};
    memcpy(mc, c->mc0, sizeof mc);
    memcpy(Sigma.m, c->Sigma0, sizeof Sigma.m);
    for (int32_t l = 0; l < c->r; l++) {
        bo_mat3 V, W5;
        memcpy(W5.m, c->W5 + 9 * l, sizeof W5.m);
        V = W5;
        for (int32_t p = 0; p < c->r; p++)
            add(q[p], 9, c->W7 + 9 * ((size_t)l * (size_t)c->r + (size_t)p), V.m);
        add(q[l], 3, c->s + 3 * l, mc);
        add(rate[l], 3, c->s + 3 * l, flow);
        add(rate[l], 9, V.m, Dm.m);
        add(q[l], 9, bo_mat_add(V, bo_transpose(W5)).m, Sigma.m);
    }
    const double s3 = scale * scale * scale, s4 = s3 * scale, s5 = s4 * scale;
    bo_vec3 centre = bo_scale(s4, bo_load3(mc));
    *P = bo_add(bo_add(bo_scale(s3 * c->mass, v), bo_cross(w, centre)), bo_scale(s4, bo_load3(flow)));
    bo_vec3 turning = bo_sub(bo_scale(bo_trace(Sigma), w), bo_mat_vec(Sigma, w));
    *L = bo_add(bo_cross(centre, v), bo_scale(s5, bo_mul_add(turning, 2, bo_skew(Dm))));
}

void bough_state_momenta(const bough_model *model, const bough_state *state, double momentum[3],
                         double angular_momentum[3]) {
    bo_vec3 sum = {0, 0, 0}, angular = {0, 0, 0};
    for (int32_t part = 0; part < model->part_count; part++) {
        const bough_part_def *def = &model->def.parts[part];
        const bough_frame *frame = &state->frames[part];
        const int32_t offset = bough_model_offset(model, part);
        bo_mat3 R;
        bo_vec3 P, L;
        memcpy(R.m, frame->rotation, sizeof R.m);
        momenta_of(model->def.components[def->component], def->scale, state->q + offset, state->v + offset,
                   bo_mat_tvec(R, bo_load3(frame->velocity)), bo_mat_tvec(R, bo_load3(frame->angular_velocity)), &P,
                   &L);
        P = bo_mat_vec(R, P);
        sum = bo_add(sum, P);
        angular = bo_add(angular, bo_add(bo_mat_vec(R, L), bo_cross(bo_load3(frame->origin), P)));
    }
    bo_store3(momentum, sum);
    bo_store3(angular_momentum, angular);
}
