/* Derivatives of the full mechanism's balance against differences. */
#include "mechanisms.h"

#include "dense/lu.h"
#include "mechanism/full.h"

/* R and c at coordinates and wrenches of loops, with momenta and dampers of a step as the integrator makes them. */
static void balance_at(bough_full_mechanism *full, const double *x, double *out) {
    struct bo_full_work *w = bo_full_work_of(full);
    const bo_system *system = &w->system;
    double *v = calloc((size_t)w->n, sizeof *v), *a = calloc((size_t)system->momentum_size, sizeof *a), magnitude;
    if (w->dt > 0) {
        system->momentum(system->data, 0, x, v, a);
        for (int32_t k = 0; k < w->n; k++)
            v[k] = (x[k] - w->q_before[k]) / w->dt;
        for (int32_t k = 0; k < system->momentum_size; k++)
            a[k] = (a[k] - ((const double *)w->momenta)[k]) / w->dt;
    }
    const bo_instant at = {0, x, NULL, v, a, x + w->n};
    check(system->residual(system->data, &at, out, out + w->n, &magnitude) == BOUGH_OK);
    free(v), free(a);
}

static int compared[2]; /* solutions without and with loops */

/* The factor along the tree against dense LU; what holds redundant loops regular makes a difference. */
static void check_solution(bough_context *ctx, bough_full_mechanism *full, const bo_instant *at, double *A,
                           test_random *r) {
    struct bo_full_work *w = bo_full_work_of(full);
    const size_t size = (size_t)w->size;
    const double rate = w->dt > 0 ? 1 / (w->dt * w->dt) : 0, damp = w->dt > 0 ? 1 / w->dt : 0;
    double *x = calloc(size, sizeof *x), *y = calloc(size, sizeof *y), *R = calloc(size, sizeof *R), hardest = 0,
           most = 0;
    int32_t *pivots = calloc(size, sizeof *pivots);
    bo_full_factor *factor;
    for (size_t k = 0; k < size; k++)
        x[k] = y[k] = spread(r);
    check_ok(ctx, bo_full_factor_create(ctx, w->mechanism, w->base_size, &factor));
    bo_full_balance(full, at, R, R + w->n);
    check(bo_full_factor_make(full, factor, at, rate, damp, &hardest));
    for (int32_t k = w->base_size; k < w->n; k++)
        most = fmax(most, fabs(A[(size_t)k * (size + 1)]) * w->unit[k] * w->unit[k]);
    check_near(hardest / most, 1, 1e-13);
    bo_full_factor_solve(full, factor, x, x);
    if (bo_lu_factor(w->size, A, pivots)) { /* loops are not redundant */
        bo_lu_solve(w->size, A, pivots, y);
        const double motion = difference((size_t)w->n, x, y);
        const double wrench = size > (size_t)w->n ? difference(size - (size_t)w->n, x + w->n, y + w->n) : 0;
        check_below(motion, w->mechanism->topology.loop_count > 0 ? 1e-6 : 1e-9);
        check_below(wrench, 1e-6);
        compared[w->mechanism->topology.loop_count > 0]++;
    }
    bo_full_factor_destroy(ctx, factor);
    free(x), free(y), free(R), free(pivots);
}

static void check_tangent(bough_context *ctx, const sketch *s, test_random *r, double dt) {
    bough_mechanism *m = NULL;
    bough_full_mechanism *full = NULL;
    check_ok(ctx, bough_mechanism_create(ctx, &s->def, &m));
    check_ok(ctx, bough_full_mechanism_create(ctx, m, &full));
    test_weigh(full->gravity);
    struct bo_full_work *w = bo_full_work_of(full);
    for (int32_t k = 0; k < 6 * s->def.end_effector_count; k++)
        full->loads[k] = 5 * spread(r);
    test_random loads = *r;
    for (int32_t k = 0; k < 6 * s->def.link_count; k++)
        full->link_loads[k] = 3 * spread(&loads);
    for (int k = 0; k < 6; k++)
        full->link_loads[6 * s->def.base + k] = 3 * spread(r);
    for (int32_t k = 0; k < 6 * s->def.link_count; k++)
        full->twists[k] = spread(r);
    if (dt > 0)
        check_ok(ctx, bo_full_begin(ctx, full, dt));
    else
        memcpy(w->q, full->coordinates, (size_t)m->coordinate_count * sizeof(double));
    if (!(dt > 0))
        for (int32_t i = 0; i < s->def.link_count; i++)
            w->before[i] = bo_pose(&full->poses[i]);
    for (int32_t i = 0; i < s->def.link_count; i++)
        w->pushes[i] = (bo_twist){{spread(r), spread(r), spread(r)}, {spread(r), spread(r), spread(r)}};
    for (int32_t k = 0; k < w->size; k++)
        w->q[k] += k < w->n ? 0.2 * spread(r) : 5 * spread(r);
    const size_t size = (size_t)w->size;
    double *A = calloc(size * size, sizeof *A), *low = calloc(size, sizeof *low), *high = calloc(size, sizeof *high);
    double *v = calloc(size, sizeof *v), *a = calloc(6 * (size_t)s->def.link_count, sizeof *a);
    if (dt > 0) {
        w->system.momentum(full, 0, w->q, v, a);
        for (int32_t k = 0; k < 6 * s->def.link_count; k++)
            a[k] = (a[k] - ((const double *)w->momenta)[k]) / dt;
    }
    const bo_instant at = {0, w->q, NULL, v, a, w->q + w->n};
    bo_full_balance(full, &at, low, low + w->n);
    bo_full_differentiate(full, &at, dt > 0 ? 1 / (dt * dt) : 0, dt > 0 ? 1 / dt : 0, A);
    double worst = 0;
    for (size_t c = 0; c < size; c++) {
        const double h = 1e-5, kept = w->q[c];
        double most = 1;
        w->q[c] = kept - h;
        balance_at(full, w->q, low);
        w->q[c] = kept + h;
        balance_at(full, w->q, high);
        w->q[c] = kept;
        for (size_t k = 0; k < size; k++)
            most = fmax(most, fabs(A[k * size + c]));
        for (size_t k = 0; k < size; k++)
            worst = fmax(worst, fabs(A[k * size + c] - (high[k] - low[k]) / (2 * h)) / most);
    }
    check_below(worst, 3e-7);
    check_solution(ctx, full, &at, A, r);
    free(A), free(low), free(high), free(v), free(a);
    bough_full_mechanism_destroy(ctx, full);
    bough_mechanism_destroy(ctx, m);
}

/* Random trees of all kinds of joints with up to three loops, held and free, in statics and in steps: far from balance
 * and with loops open, so that all terms are there. */
static void tangents_are_derivatives(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {77};
    for (int i = 0; i < 60; i++) {
        sketch *s = random_sketch(&r, 3 + i % 5, i % 4);
        if (i % 3 == 0)
            for (int32_t j = 0; j < s->def.joint_count; j++)
                for (int k = 0; k < 6; k++)
                    s->joints[j].lower[k] = -0.1, s->joints[j].upper[k] = 0.1, s->joints[j].limit_stiffness = 3;
        check_tangent(ctx, s, &r, 0);
        check_tangent(ctx, s, &r, 0.05);
        s->def.free_base = true;
        check_tangent(ctx, s, &r, 0.03);
        free(s);
    }
    printf("%d solutions of trees and %d with loops compared\n", compared[0], compared[1]);
    check(compared[0] > 20 && compared[1] > 15);
    bough_context_destroy(ctx);
}

/* Loops that are redundant (hinges in a plane) and free bases included: steps by the factor along the tree, and by that
 * of the whole matrix, which serves where there is none. */
static void either_factor_leads_to_the_same_steps(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int i = 0; i < 6; i++) {
        const bough_joint_kind kind = i % 2 ? BOUGH_JOINT_BALL : BOUGH_JOINT_HINGE;
        sketch *s = i < 2 ? ladder(3, kind) : i < 4 ? ring_of_links(5, kind) : fork_of_links(2, 3, kind);
        s->def.free_base = i % 3 == 2;
        bough_mechanism *m = NULL;
        bough_full_mechanism *full[2] = {NULL, NULL};
        check_ok(ctx, bough_mechanism_create(ctx, &s->def, &m));
        for (int way = 0; way < 2; way++) {
            check_ok(ctx, bough_full_mechanism_create(ctx, m, &full[way]));
            test_weigh(full[way]->gravity);
            if (way) {
                bo_full_factor_destroy(ctx, bo_full_work_of(full[way])->tree);
                bo_full_work_of(full[way])->tree = NULL;
            }
            full[way]->loads[0] = 3, full[way]->loads[1] = -2;
            if (!s->def.free_base)
                check_ok(ctx, bough_full_mechanism_settle(ctx, full[way]));
            for (int k = 0; k < 20; k++) {
                full[way]->loads[0] = -4, full[way]->loads[1] = -2;
                check_ok(ctx, bough_full_mechanism_step(ctx, full[way], 0.01));
            }
            check(bo_full_work_of(full[way])->by_tree == !way);
        }
        double worst = 0;
        for (int32_t l = 0; l < s->def.link_count; l++)
            for (int d = 0; d < 3; d++)
                worst = fmax(worst, fabs(full[0]->poses[l].position[d] - full[1]->poses[l].position[d]));
        check_below(worst, 3e-13);
        for (int way = 0; way < 2; way++)
            bough_full_mechanism_destroy(ctx, full[way]);
        bough_mechanism_destroy(ctx, m);
        free(s);
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tangents_are_derivatives),
                                       cmocka_unit_test(either_factor_leads_to_the_same_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
