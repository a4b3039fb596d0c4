/* Inertia forces against sums over the mass points of the parts. */
#include "lumps.h"

#include "multibody/multibody.h"

/* A body that moves anyhow, with a part on it: forces are sums of m_k times the acceleration of point k, along unit
 * motions. Accelerations come from differences of positions. */
static void inertia_is_the_sum_over_points(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random random = {7};
    for (int round = 0; round < 50; round++) {
        lump *b = make_lump(&random, 1 + round % 7, 0.5);
        b->c.damping_mass = b->c.damping_stiffness = 0;
        bough_rigid_body_def hub = bough_default_rigid_body_def();
        bough_flexible_def part = bough_default_flexible_def();
        part.component = &b->c, part.clamp.body = 0, part.stiffness = 1e-30;
        const bo_se3 g = {draw_rotation(&random), draw3(&random, 0.3)};
        part.clamp.pose = bo_put_pose(g);
        bough_multibody_def def = bough_default_multibody_def();
        def.body_count = def.part_count = 1, def.bodies = &hub, def.parts = &part;
        bough_multibody *model;
        bough_multibody_state *state;
        check_ok(ctx, bough_multibody_create(ctx, &def, &model));
        check_ok(ctx, bough_multibody_state_create(ctx, model, &state));
        bo_mb_state *s = bo_mb(state);
        const int r = b->r;
        double v[6 + LUMP_MOST], a[6 + LUMP_MOST], R[6 + LUMP_MOST], alone[6];
        const bo_mat3 Q = draw_rotation(&random);
        const bo_quat q = bo_quat_from_matrix(Q);
        const double turned[4] = {q.w, q.x, q.y, q.z};
        memcpy(state->u + 3, turned, sizeof turned);
        for (int i = 0; i < 6 + r; i++)
            v[i] = test_uniform(&random, -2, 2), a[i] = test_uniform(&random, -5, 5);
        for (int l = 0; l < r; l++)
            state->u[7 + l] = test_uniform(&random, -0.3, 0.3);
        bo_store3(state->gravity, draw3(&random, 10));
        const bo_mb_drive drive = bo_mb_drive_at(s, 0);
        check(bo_mb_evaluate(model, &s->work, &drive, state->u, v, a, state->lambda, R, s->c, s->rate));
        /* without the hub */
        bo_vec3 force, torque;
        bo_mb_body_inertia(&model->bodies[0], s->work.shapes[0].w, s->work.shapes[0].a0, s->work.shapes[0].alpha,
                           &force, &torque);
        bo_store3(alone, bo_mat_vec(Q, force)), bo_store3(alone + 3, bo_mat_vec(Q, torque));
        double sum[6 + LUMP_MOST] = {0};
        for (int k = 0; k < LUMP_POINTS; k++) {
            bo_vec3 y = bo_se3_apply(g, b->X[k]), rate = {0, 0, 0}, bend = {0, 0, 0};
            for (int l = 0; l < r; l++) {
                const bo_vec3 Phi = bo_mat_vec(g.R, b->Phi[l][k]);
                y = bo_mul_add(y, state->u[7 + l], Phi);
                rate = bo_mul_add(rate, v[6 + l], Phi), bend = bo_mul_add(bend, a[6 + l], Phi);
            }
            const bo_vec3 w = bo_load3(v + 3), arm = bo_mat_vec(Q, y), slide = bo_mat_vec(Q, rate);
            bo_vec3 f = bo_sub(bo_load3(a), bo_load3(state->gravity));
            f = bo_add(f, bo_add(bo_cross(bo_load3(a + 3), arm), bo_cross(w, bo_cross(w, arm))));
            f = bo_scale(b->m[k], bo_add(bo_mul_add(f, 2, bo_cross(w, slide)), bo_mat_vec(Q, bend)));
            bo_store3(sum, bo_add(bo_load3(sum), f));
            bo_store3(sum + 3, bo_add(bo_load3(sum + 3), bo_cross(arm, f)));
            for (int l = 0; l < r; l++)
                sum[6 + l] += bo_dot(f, bo_mat_vec(Q, bo_mat_vec(g.R, b->Phi[l][k])));
        }
        for (int i = 0; i < 6 + r; i++)
            check_near(R[i] - (i < 6 ? alone[i] : 0), sum[i], 1e-13);
        bough_multibody_state_destroy(ctx, state);
        bough_multibody_destroy(ctx, model);
        free_lump(b);
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(inertia_is_the_sum_over_points)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
