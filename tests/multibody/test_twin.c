/* Parts in full order against reduced ones, against differences, and in free flight. */
#include "../reduce/cooked.h"

#include "build.h"

#include "multibody/multibody.h"

#include <bough/twin.h>

/* A bar of tet10, hung by its start, and its full order. */
typedef struct {
    bough_context *ctx;
    bough_body *body;
    bough_component *component;
    bough_full_part *full;
} twin_bar;

static twin_bar make_twin(int32_t cells, int32_t across, double young, int32_t r) {
    twin_bar b = {.ctx = test_context(1)};
    bar_def def = default_bar();
    def.type = BOUGH_TET10, def.young = young, def.poisson = 0.3;
    def.size[0] = 0.5, def.size[1] = 0.05, def.size[2] = 0.07;
    def.cells[0] = cells, def.cells[1] = def.cells[2] = across;
    b.component = cook_bar(b.ctx, def, r, &b.body);
    check_ok(b.ctx, bough_full_part_create(b.ctx, b.body, b.component, &b.full));
    return b;
}
static void free_twin(twin_bar *b) {
    bough_full_part_destroy(b->ctx, b->full);
    bough_component_destroy(b->ctx, b->component);
    bough_body_destroy(b->ctx, b->body);
    bough_context_destroy(b->ctx);
}

/* A hub that flies, a bar on it, clamped at an angle, a ball at the bar's end on a hinge with a spring, and a bar on
 * the first one's end. */
static build *make_flyer(const twin_bar *bar, bool full, bool two) {
    build *b = start_build();
    const bo_se3 lies = {bo_quat_to_matrix(bo_quat_exp(bo_v3(0.3, -0.5, 0.4))), {0.1, -0.05, 0.02}};
    const double length = 0.5;
    add_body(b, 2, bo_v3(0.02, 0.03, 0.04), place_at(bo_v3(0, 0, 0)));
    add_body(b, 0.6, bo_v3(2e-3, 3e-3, 4e-3), (bo_se3){lies.R, bo_se3_apply(lies, bo_v3(length - 0.02, 0, 0.01))});
    const int32_t part = add_part(b, bar->component, 0, lies);
    if (two) {
        bough_flexible_def *other = &b->parts[b->def.part_count++];
        *other = b->parts[part];
        other->clamp.body = b->def.body_count + part, other->clamp.interface_index = 1;
        other->clamp.pose = bo_put_pose((bo_se3){bo_quat_to_matrix(bo_quat_exp(bo_v3(0, 1, 0.2))), {0, 0, 0}});
    }
    for (int32_t p = 0; p < b->def.part_count; p++) {
        b->parts[p].full = full ? bar->full : NULL;
        b->parts[p].damping_mass = 0.7, b->parts[p].damping_stiffness = 2e-3, b->parts[p].stiffness = 1.2;
    }
    bough_joint_def *hinge = &b->joints[b->def.joint_count++];
    *hinge = bough_default_joint_def();
    hinge->kind = BOUGH_JOINT_HINGE;
    hinge->parent.body = b->def.body_count + part, hinge->parent.interface_index = 1;
    hinge->parent.pose.position[2] = 0.01;
    hinge->child.body = 1, hinge->child.pose.position[0] = 0.02;
    hinge->stiffness[0] = 3, hinge->damping[0] = 0.1;
    finish_build(b);
    return b;
}

/* ---- against a reduced part ---- */

static void lift(const twin_bar *bar, const double *q, double *u) {
    const int32_t r = bar->component->r;
    for (int32_t i = 0; i < bar->full->size; i++) {
        u[i] = 0;
        for (int32_t l = 0; l < r; l++)
            u[i] += bar->component->volume.U[(size_t)r * (size_t)i + (size_t)l] * q[l];
    }
}

/* Fills an array of a reduced state at random, and that of its twin alike. */
static void draw_alike(const twin_bar *bar, int32_t parts, int32_t head, double bend, double rigid, test_random *random,
                       double *of_b, double *of_twin) {
    for (int32_t i = 0; i < head; i++)
        of_b[i] = of_twin[i] += test_uniform(random, -rigid, rigid);
    for (int32_t p = 0; p < parts; p++) {
        double *q = of_b + head + bar->component->r * p;
        for (int32_t l = 0; l < bar->component->r; l++)
            q[l] = test_uniform(random, -bend, bend);
        lift(bar, q, of_twin + head + bar->full->size * p);
    }
}

static void twins_in_the_same_shape_feel_the_same_forces(void **unused) {
    (void)unused;
    twin_bar bar = make_twin(2, 1, 1e7, 6);
    build *b = make_flyer(&bar, false, true), *t = make_flyer(&bar, true, true);
    bo_mb_state *s = bo_mb(b->state), *f = bo_mb(t->state);
    const int32_t nv = b->model->nv, nc = b->model->nc, bodies = b->model->body_count, r = bar.component->r;
    test_random random = {5};
    check_int(t->model->nc, nc);
    draw_alike(&bar, 2, 7 * bodies, 0.02, 0.1, &random, b->state->u, t->state->u);
    draw_alike(&bar, 2, 6 * bodies, 0.5, 2, &random, b->state->v, t->state->v);
    draw_alike(&bar, 2, 6 * bodies, 5, 10, &random, s->a, f->a);
    for (int32_t i = 0; i < nc; i++)
        b->state->lambda[i] = t->state->lambda[i] = test_uniform(&random, -5, 5);
    for (int k = 0; k < 3; k++)
        b->state->gravity[k] = t->state->gravity[k] = test_uniform(&random, -9, 9);
    const bo_mb_drive drive = bo_mb_drive_at(s, 0), same = bo_mb_drive_at(f, 0);
    check(bo_mb_evaluate(b->model, &s->work, &drive, b->state->u, b->state->v, s->a, b->state->lambda, s->residual,
                         s->c, s->rate));
    check(bo_mb_evaluate(t->model, &f->work, &same, t->state->u, t->state->v, f->a, t->state->lambda, f->residual, f->c,
                         f->rate));
    double most = 0, error = 0;
    for (int32_t i = 0; i < nv; i++) {
        double force = f->residual[i];
        if (i >= 6 * bodies) {
            const int32_t p = (i - 6 * bodies) / r, l = (i - 6 * bodies) % r;
            force = 0;
            for (int32_t k = 0; k < bar.full->size; k++)
                force += bar.component->volume.U[(size_t)r * (size_t)k + (size_t)l] *
                         f->residual[6 * bodies + bar.full->size * p + k];
        }
        most = fmax(most, fabs(s->residual[i])), error = fmax(error, fabs(force - s->residual[i]));
    }
    check_below(error / most, 1e-9);
    for (int32_t i = 0; i < nc; i++) {
        check_near(f->c[i], s->c[i], 1e-12);
        check_near(f->rate[i], s->rate[i], 1e-11);
    }
    const bough_multibody_energies e = measure(b), g = measure(t);
    check_near(g.kinetic / e.kinetic, 1, 1e-11);
    check_near(g.elastic / e.elastic, 1, 1e-9);
    check_near(g.gravity / e.gravity, 1, 1e-11);
    for (int k = 0; k < 3; k++) {
        check_near(g.momentum[k], e.momentum[k], 1e-11 * bo_norm(bo_load3(e.momentum)));
        check_near(g.angular_momentum[k], e.angular_momentum[k], 1e-11 * bo_norm(bo_load3(e.angular_momentum)));
    }
    free_build(b), free_build(t);
    free_twin(&bar);
}

/* ---- against differences ---- */

typedef struct {
    build *b;
    bo_mb_drive drive;
    double h, *base, *v_base, *v, *lambda, *u, *a;
} point;

static void residual_at(point *p, const double *z, double e, double *R, double *rate) {
    const bough_multibody *model = p->b->model;
    bo_mb_state *s = bo_mb(p->b->state);
    double *v = s->v_next, *lambda = s->lambda_next;
    for (int32_t i = 0; i < model->nv; i++) {
        v[i] = p->v[i] + e * z[i];
        p->a[i] = (v[i] - p->v_base[i]) / p->h;
    }
    for (int32_t i = 0; i < model->nc; i++)
        lambda[i] = p->lambda[i] + e * z[model->nv + i];
    bo_mb_advance(model, p->base, p->h, v, p->u);
    check(bo_mb_evaluate(model, &s->work, &p->drive, p->u, v, p->a, lambda, R, s->c, rate));
    for (int32_t i = 0; i < model->nc; i++)
        rate[i] += model->def.baumgarte * s->c[i];
}

/* The largest error with which the matrix, which differences give the product z of, leads back to z. */
static double error_of_solution(const twin_bar *bar, double h, double spin) {
    build *b = make_flyer(bar, true, true);
    bo_mb_part *parts = b->model->parts;
    for (int p = 0; p < 2; p++)
        parts[p].beta = 0; /* the change of K v with u is left to Newton's method, too */
    bo_mb_state *s = bo_mb(b->state);
    const int32_t nv = b->model->nv, nc = b->model->nc, size = nv + nc, bodies = b->model->body_count;
    double *memory = calloc((size_t)(12 * (size + bodies)), sizeof *memory), *next = memory;
    point p = {.b = b, .h = h};
    double **const arrays[] = {&p.base, &p.v_base, &p.v, &p.lambda, &p.u, &p.a};
    for (int i = 0; i < 6; i++, next += size + bodies)
        *arrays[i] = next;
    double *z = next, *found = z + size, *R = found + size, *more = R + size;
    test_random random = {7};
    bo_store3(b->state->gravity, bo_v3(1, 2, -9));
    p.drive = bo_mb_drive_at(s, 0);
    for (int32_t i = 0; i < nv; i++) {
        const bool rigid = i < 6 * bodies, turns = rigid && i % 6 >= 3;
        p.v[i] = rigid ? (turns ? spin : 1) * test_uniform(&random, -1, 1) : test_uniform(&random, -0.05, 0.05);
        p.v_base[i] = p.v[i] - h * (turns ? spin : 1) * test_uniform(&random, -1, 1);
        z[i] = (rigid ? 1 : 0.1) * test_uniform(&random, -1, 1);
    }
    for (int q = 0; q < 2; q++)
        for (int k = 0; k < 4; k++) {
            double *const of[4] = {z, p.v, p.v_base, p.base + bodies};
            b->parts[q].full->kind->hold(b->parts[q].full, of[k] + parts[q].first);
        }
    for (int32_t i = 0; i < nc; i++)
        p.lambda[i] = test_uniform(&random, -1, 1), z[nv + i] = test_uniform(&random, -1, 1);
    for (int32_t i = 0; i < b->model->nu; i++)
        p.base[i] = b->state->u[i];
    /* J z by differences */
    const double e = 1e-4;
    residual_at(&p, z, -e, R, R + nv);
    residual_at(&p, z, e, more, more + nv);
    for (int32_t i = 0; i < size; i++)
        found[i] = (more[i] - R[i]) / (2 * e);
    residual_at(&p, z, 0, R, R + nv);
    bo_mb_tangent(b->model, &s->work, &p.drive, p.u, s->v_next, p.a, s->lambda_next, 1 / h, 1, h, h,
                  b->model->def.baumgarte, false);
    check(bo_mb_factor(&s->work));
    bo_mb_solve(b->model, &s->work, found, found + nv, found, found + nv);
    double worst = 0;
    for (int32_t i = 0; i < size; i++)
        worst = fmax(worst, fabs(found[i] - z[i]));
    free(memory);
    free_build(b);
    return worst;
}

static void twins_have_the_matrix_of_their_residual(void **unused) {
    (void)unused;
    twin_bar bar = make_twin(2, 1, 1e6, 6);
    check_below(error_of_solution(&bar, 0.01, 0), 1e-7);
    /* Gyroscopic terms are left to Newton's method: the error is a part of spin times step. */
    const double fast = error_of_solution(&bar, 0.01, 2), slow = error_of_solution(&bar, 0.01, 0.2);
    check_below(fast, 0.1);
    check_near(log10(fast / slow), 1, 0.1);
    free_twin(&bar);
}

/* ---- motion ---- */

/* Turns fast and bends far, with no damping. */
static build *throw(const twin_bar *bar, bool full) {
    build *b = make_flyer(bar, full, false);
    const bo_vec3 v = {0.3, -0.2, 0.4}, w = {2, 3, -4};
    for (int i = 0; i < 2; i++) {
        bo_store3(b->state->v + 6 * i, bo_add(v, bo_cross(w, position_of(b, i))));
        bo_store3(b->state->v + 6 * i + 3, w);
    }
    b->model->parts[0].alpha = b->model->parts[0].beta = 0;
    check_ok(b->ctx, bough_multibody_assemble(b->ctx, b->model, b->state));
    return b;
}

typedef struct {
    double momentum, angular; /* largest relative errors of a flight */
} losses;

static losses fly(const twin_bar *bar, double dt) {
    build *b = throw(bar, true);
    const bough_multibody_energies start = measure(b);
    const bo_vec3 P = bo_load3(start.momentum), L = bo_load3(start.angular_momentum);
    losses worst = {0};
    for (int i = 0; i < (int)lround(0.1 / dt); i++) {
        take_step(b, dt);
        const bough_multibody_energies now = measure(b);
        worst.momentum = fmax(worst.momentum, bo_norm(bo_sub(bo_load3(now.momentum), P)) / bo_norm(P));
        worst.angular = fmax(worst.angular, bo_norm(bo_sub(bo_load3(now.angular_momentum), L)) / bo_norm(L));
    }
    free_build(b);
    return worst;
}

static void twins_keep_their_momenta_in_flight(void **unused) {
    (void)unused;
    twin_bar bar = make_twin(4, 1, 1e7, 6);
    const losses coarse = fly(&bar, 1e-3), fine = fly(&bar, 5e-4);
    check_below(fine.momentum, 1e-5);
    check_below(fine.angular, 5e-6);
    check_order(coarse.momentum, fine.momentum, 2, 0.3);
    check_order(coarse.angular, fine.angular, 2, 0.3);
    free_twin(&bar);
}

/* The more coordinates, the nearer. */
static void reduced_parts_move_as_their_twins(void **unused) {
    (void)unused;
    static const int32_t r[2] = {8, 24};
    double apart[2];
    for (int k = 0; k < 2; k++) {
        twin_bar bar = make_twin(4, 1, 1e7, r[k]);
        build *b = throw(&bar, false), *t = throw(&bar, true);
        double most = 0, way = 0;
        const bo_vec3 start = position_of(t, 1);
        for (int i = 0; i < 100; i++) {
            take_step(b, 1e-3), take_step(t, 1e-3);
            most = fmax(most, bo_norm(bo_sub(position_of(b, 1), position_of(t, 1))));
            way = fmax(way, bo_norm(bo_sub(position_of(t, 1), start)));
        }
        apart[k] = most / way;
        free_build(b), free_build(t);
        free_twin(&bar);
    }
    check_below(apart[0], 1e-3);
    check_below(apart[1], 2e-5);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(twins_in_the_same_shape_feel_the_same_forces),
                                       cmocka_unit_test(twins_have_the_matrix_of_their_residual),
                                       cmocka_unit_test(twins_keep_their_momenta_in_flight),
                                       cmocka_unit_test(reduced_parts_move_as_their_twins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
