/* Forces on any link. docs/theory/mechanism.md, "Steps". */
#include "mechanism/links.h"

/* z_k of a state */
static double coordinate(const bough_mechanism_model *model, const bough_mechanism_state *state, int32_t k) {
    const int32_t n = 6 * model->end_effector_count, directions = model->rank - model->internal_count;
    double sum = 0;
    if (k >= directions)
        return state->internal[k - directions];
    for (int32_t i = 0; i < n; i++)
        sum += model->P[(size_t)k * (size_t)n + (size_t)i] * state->xi[i];
    return sum;
}

/* The twist t of a link in the world's axes, as the lanes have it: the link is at (exp(t.w) R_0, p_0 + J(t.w) t.v). */
static bo_twist twist_of(const bough_mechanism_model *model, const bough_mechanism_state *state, int32_t link) {
    bo_twist t = bo_lanes_twist(bo_mechanism_lanes_of(model), link, 0);
    for (int32_t k = 0; k < model->rank; k++)
        t = bo_twist_mul_add(t, coordinate(model, state, k), bo_lanes_twist(bo_mechanism_lanes_of(model), link, 1 + k));
    for (int32_t k = 0; k < model->motor_count; k++)
        t = bo_twist_mul_add(t, state->motors[k],
                             bo_lanes_twist(bo_mechanism_lanes_of(model), link, 1 + model->rank + k));
    return t;
}

/* In axes that go with the link and were the world's at first, the link moves by the right Jacobian of its twist,
 * J_r(t) t'. Hence the power of a wrench w in these axes is w . J_r(t) Psi_k z_k', for each z_k. */
void bough_mechanism_state_push_link(const bough_mechanism_model *model, bough_mechanism_state *state, int32_t link,
                                     const double point[3], const double force[3], const double torque[3]) {
    const bo_se3 base_rest = bo_pose(&model->rest[model->base]), base = bo_pose(&state->base);
    const bo_mat3 turned = bo_mat_mul(base.R, bo_transpose(base_rest.R)); /* by the base's own motion */
    const bo_twist t = twist_of(model, state, link);
    const bo_se3 moved = bo_se3_exp(t);
    const bo_mat3 axes = bo_mat_mul(turned, moved.R), rest = bo_pose(&model->rest[link]).R;
    const bo_vec3 f = bo_mat_tvec(axes, bo_load3(force)), arm = bo_mat_vec(rest, bo_load3(point));
    const bo_twist w = {f, bo_add(bo_mat_tvec(axes, bo_load3(torque)), bo_cross(arm, f))};
    for (int32_t k = 0; k < model->rank; k++)
        state->load[k] +=
            bo_twist_dot(w, bo_se3_right_jacobian(t, bo_lanes_twist(bo_mechanism_lanes_of(model), link, 1 + k)));
    if (!model->free_base)
        return;
    /* Ad^T of the base's frame in these axes */
    const bo_se3 origin = {bo_identity3(), bo_load3(model->rest[link].position)};
    const bo_se3 to = bo_se3_mul(bo_se3_inverse(bo_se3_mul(origin, moved)), base_rest);
    bo_store_twist(state->base_wrench, bo_twist_mul_add(bo_load_twist(state->base_wrench), 1, bo_ad_transposed(to, w)));
}
