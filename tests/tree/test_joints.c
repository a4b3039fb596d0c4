/* Connections with freedom: hinges and balls. */
#include "rods.h"

enum { LINKS = 4, MOST = LINKS + 1 };

typedef struct {
    bough_context *ctx;
    rod rod;
    bough_tree_model *model;
    bough_tree_state *state;
} chain;

static chain *hang(int32_t links, const bough_joint_def *joint) {
    chain *c = calloc(1, sizeof *c);
    const bough_component *components[] = {&c->rod.c};
    bough_part_def parts[MOST];
    bough_tree_model_def def = bough_default_tree_model_def();
    make_rod(&c->rod);
    c->ctx = test_context(1);
    for (int32_t i = 0; i <= links; i++) { /* the first is the ceiling */
        parts[i] = bough_default_part_def();
        parts[i].parent = i - 1, parts[i].interface_index = 1;
        if (i > 0)
            parts[i].joint = joint;
    }
    def.component_count = 1, def.components = components;
    def.part_count = links + 1, def.parts = parts;
    def.gravity[2] = -weight;
    check_ok(c->ctx, bough_tree_model_create(c->ctx, &def, &c->model));
    check_ok(c->ctx, bough_tree_state_create(c->ctx, c->model, &c->state));
    return c;
}

static void unhang(chain *c) {
    bough_tree_state_destroy(c->ctx, c->state);
    bough_tree_model_destroy(c->ctx, c->model);
    bough_context_destroy(c->ctx);
    free(c);
}

static double energy_of(chain *c) {
    bough_tree_energies e;
    check_ok(c->ctx, bough_tree_state_energies(c->ctx, c->model, c->state, &e));
    return e.elastic + e.kinetic + e.gravity;
}

static void use(chain *c, const char *method) {
    bough_integrator_def def = bough_default_integrator_def();
    def.name = method;
    check_ok(c->ctx, bough_tree_state_use_integrator(c->ctx, c->model, c->state, &def));
}

/* ---- the multi-pendulum in closed form ---- */

/* Lagrange's equations of n equal rods in a plane, by the angles t of the rods against the vertical:
 *     sum_j B_ij cos(t_i - t_j) t_j" + B_ij sin(t_i - t_j) t_j'^2 + g G_i sin t_i = 0
 * with B_ij = m l^2 (rods beyond both + 1/2, or + 1/4 for i = j), and the spin of rod i beside B_ii; rods are numbered
 * from 0. */
static void pendulum(int n, const double *t, const double *w, double *out) {
    double M[LINKS][LINKS + 1];
    const double spin = mass * (length * length + breadth * breadth) / 12; /* about the rod's centre */
    for (int i = 0; i < n; i++) {
        M[i][n] = -weight * mass * length * (n - i - 0.5) * sin(t[i]);
        for (int j = 0; j < n; j++) {
            /* rods k > max(i, j) carry l of both, rod k = max carries l / 2 of itself and l of the other */
            const int most = i > j ? i : j;
            const double B = mass * length * length * (n - 1 - most + (i == j ? 0.25 : 0.5));
            M[i][j] = B * cos(t[i] - t[j]) + (i == j ? spin : 0);
            M[i][n] -= B * sin(t[i] - t[j]) * w[j] * w[j];
        }
    }
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++)
            for (int j = n; j >= k; j--)
                M[i][j] -= M[i][k] / M[k][k] * M[k][j];
    for (int i = n - 1; i >= 0; i--) {
        out[i] = M[i][n];
        for (int j = i + 1; j < n; j++)
            out[i] -= M[i][j] * out[j];
        out[i] /= M[i][i];
    }
}

static void pendulum_step(int n, double h, double *t, double *w) {
    static const double ahead[4] = {0, 0.5, 0.5, 1}, share[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double dt[LINKS] = {0}, dw[LINKS] = {0}, st[LINKS] = {0}, sw[LINKS] = {0};
    for (int s = 0; s < 4; s++) {
        double at[LINKS], aw[LINKS];
        for (int i = 0; i < n; i++)
            at[i] = t[i] + ahead[s] * h * dt[i], aw[i] = w[i] + ahead[s] * h * dw[i];
        pendulum(n, at, aw, dw);
        for (int i = 0; i < n; i++) {
            dt[i] = aw[i];
            st[i] += share[s] * dt[i], sw[i] += share[s] * dw[i];
        }
    }
    for (int i = 0; i < n; i++)
        t[i] += h * st[i], w[i] += h * sw[i];
}

/* Rods that hang along -z turn about -y: by t to the side of +x, as the pendulum's angles have it. */
static const bough_joint_def *hinge(double stiffness, double damping) {
    return hinge_about(0, -3, 0, stiffness, damping);
}

static void a_chain_of_hinges_is_a_multi_pendulum(void **unused) {
    (void)unused;
    chain *c = hang(LINKS, hinge(0, 0));
    double t[LINKS] = {0.9, -0.4, 1.3, 0.2}, w[LINKS] = {0.5, -1, 2, 0}, a[LINKS], worst = 0;
    for (int i = 0; i < LINKS; i++) {
        const int32_t at = bough_tree_model_joint_offset(c->model, i + 1);
        c->state->q[at] = t[i] - (i ? t[i - 1] : 0);
        c->state->v[at] = w[i] - (i ? w[i - 1] : 0);
    }
    check_int(bough_tree_model_size(c->model), LINKS);
    check_int(bough_tree_model_joint_offset(c->model, 0), -1);
    check_ok(c->ctx, bough_tree_state_update(c->ctx, c->model, c->state));
    /* accelerations of a first look */
    check_ok(c->ctx, bough_tree_step(c->ctx, c->model, c->state, 0));
    pendulum(LINKS, t, w, a);
    for (int i = 0; i < LINKS; i++) {
        const double relative = a[i] - (i ? a[i - 1] : 0);
        check_near(c->state->a[bough_tree_model_joint_offset(c->model, i + 1)], relative, 1e-11);
    }
    use(c, "rk4");
    for (int step = 0; step < 2000; step++) {
        check_ok(c->ctx, bough_tree_step(c->ctx, c->model, c->state, 1e-3));
        for (int k = 0; k < 4; k++)
            pendulum_step(LINKS, 0.25e-3, t, w);
        double x = 0, z = -length;
        for (int i = 0; i < LINKS; i++) {
            const double *origin = c->state->frames[i + 1].pose.position;
            worst = fmax(worst, hypot(origin[0] - x, origin[2] - z));
            x += length * sin(t[i]), z -= length * cos(t[i]);
        }
    }
    printf("four rods on hinges, 2 s of chaos: joints within %.1e m of the closed form\n", worst);
    check_below(worst, 1e-6);
    unhang(c);
}

/* Largest departure of the energy in a second. */
static double drift(chain *c, double dt) {
    const double start = energy_of(c);
    double worst = 0;
    for (int i = 0; i < lround(1 / dt); i++) {
        check_ok(c->ctx, bough_tree_step(c->ctx, c->model, c->state, dt));
        worst = fmax(worst, fabs(energy_of(c) - start));
    }
    return worst;
}

static double drift_of(const bough_joint_def *joint, const char *method, double dt) {
    chain *c = hang(3, joint);
    for (int32_t k = 0; k < bough_tree_model_size(c->model); k++) {
        c->state->q[k] = 0.3 + 0.1 * k;
        c->state->v[k] = k % 2 ? -1 : 2;
    }
    check_ok(c->ctx, bough_tree_state_update(c->ctx, c->model, c->state));
    if (method)
        use(c, method);
    else
        check_ok(c->ctx, bough_tree_step(c->ctx, c->model, c->state, 0)); /* begins with the right accelerations */
    c->state->passes = 2, c->state->alpha = 0;
    const double found = drift(c, dt);
    unhang(c);
    return found;
}

static void energy_drifts_with_the_order_of_the_method(void **unused) {
    (void)unused;
    const struct {
        const char *name;
        double dt, order;
    } methods[] = {{"rk4", 1.0 / 200, 3.7}, {"midpoint", 1.0 / 400, 1.8}, {NULL, 1.0 / 400, 1.8}};
    for (int j = 0; j < 2; j++)
        for (int m = 0; m < 3; m++) {
            double found[2];
            for (int k = 0; k < 2; k++)
                found[k] = drift_of(j ? ball_joint(2, 0) : hinge(0, 0), methods[m].name, methods[m].dt / (k + 1));
            const double order = log2(found[0] / found[1]);
            printf("%s, %s: drift %.2e then %.2e J, order %.2f\n", j ? "balls" : "hinges",
                   methods[m].name ? methods[m].name : "own step", found[0], found[1], order);
            check(order > methods[m].order);
        }
}

/* A rod that whirls about the vertical keeps its spin about it; its rotation vector passes pi again and again. */
static void balls_turn_on_and_on(void **unused) {
    (void)unused;
    chain *c = hang(1, ball_joint(0, 0));
    c->state->q[1] = 0.8;
    c->state->v[0] = 1, c->state->v[2] = 7;
    check_ok(c->ctx, bough_tree_state_update(c->ctx, c->model, c->state));
    bough_tree_energies start, end;
    check_ok(c->ctx, bough_tree_state_energies(c->ctx, c->model, c->state, &start));
    double least = 9, most = 0;
    int wraps = 0;
    c->state->passes = 2, c->state->alpha = 0;
    for (int i = 0; i < 8000; i++) {
        const double before = c->state->q[2];
        check_ok(c->ctx, bough_tree_step(c->ctx, c->model, c->state, 1.0 / 2000));
        const double turned =
            sqrt(c->state->q[0] * c->state->q[0] + c->state->q[1] * c->state->q[1] + c->state->q[2] * c->state->q[2]);
        wraps += fabs(c->state->q[2] - before) > 1;
        least = fmin(least, turned), most = fmax(most, turned);
    }
    check_ok(c->ctx, bough_tree_state_energies(c->ctx, c->model, c->state, &end));
    printf("%d times round: spin %.6f then %.6f, energy %.6f then %.6f\n", wraps, start.angular_momentum[2],
           end.angular_momentum[2], start.kinetic + start.gravity, end.kinetic + end.gravity);
    check(wraps >= 3 && most <= 3.15);
    check_near(end.angular_momentum[2], start.angular_momentum[2], 1e-4 * fabs(start.angular_momentum[2]));
    check_near(end.kinetic + end.gravity, start.kinetic + start.gravity, 1e-3);
    unhang(c);
}

static void springs_dampers_and_motors_act(void **unused) {
    (void)unused;
    bough_joint_def joint = *hinge(300, 5);
    joint.start[0] = 0.5;
    chain *c = hang(1, &joint);
    check_near(c->state->q[0], 0.5, 0);
    double residual;
    const double torque[3] = {1.5, 0, 0};
    check_ok(c->ctx, bough_tree_state_add_joint_torque(c->ctx, c->model, c->state, 1, torque));
    check_ok(c->ctx, bough_tree_state_settle(c->ctx, c->model, c->state, NULL, &residual));
    const double t = c->state->q[0];
    check_near(300 * t + 0.5 * mass * weight * length * sin(t), 1.5, 1e-8);
    for (int i = 0; i < 100; i++) {
        check_ok(c->ctx, bough_tree_state_add_joint_torque(c->ctx, c->model, c->state, 1, torque));
        check_ok(c->ctx, bough_tree_step(c->ctx, c->model, c->state, 1.0 / 60));
    }
    check_near(c->state->q[0], t, 1e-9);
    check_fails(c->ctx, bough_tree_state_add_joint_torque(c->ctx, c->model, c->state, 0, torque), BOUGH_ERROR_ARGUMENT,
                "joint");
    c->state->coupling = BOUGH_COUPLING_L1;
    check_fails(c->ctx, bough_tree_step(c->ctx, c->model, c->state, 0.01), BOUGH_ERROR_UNSUPPORTED, "L3");
    unhang(c);
}

/* A spring and a damper in a hinge, without weight, are linear: a step obeys Hilber, Hughes and Taylor to the last
 * digits. */
static void steps_of_a_spring_are_those_of_hht(void **unused) {
    (void)unused;
    chain *c = hang(1, hinge(30, 2));
    bough_tree_model_def def = *bough_tree_model_describe(c->model);
    bough_tree_model *model;
    bough_tree_state *state;
    def.gravity[2] = 0, def.alpha = -0.2;
    check_ok(c->ctx, bough_tree_model_create(c->ctx, &def, &model));
    check_ok(c->ctx, bough_tree_state_create(c->ctx, model, &state));
    const double inertia = mass * (length * length / 3 + breadth * breadth / 12);
    state->q[0] = 0.4, state->v[0] = -3, state->a[0] = 11;
    for (int passes = 1; passes <= 2; passes++)
        for (int i = 0; i < 5; i++) {
            const double before = 30 * state->q[0] + 2 * state->v[0];
            state->passes = passes;
            check_ok(c->ctx, bough_tree_step(c->ctx, model, state, 0.02));
            const double after = 30 * state->q[0] + 2 * state->v[0];
            check_near(inertia * state->a[0], -0.8 * after - 0.2 * before, 1e-11);
        }
    bough_tree_state_destroy(c->ctx, state);
    bough_tree_model_destroy(c->ctx, model);
    unhang(c);
}

/* Without springs a chain hangs straight down. */
static void chains_settle(void **unused) {
    (void)unused;
    for (int ball = 0; ball < 2; ball++) {
        chain *c = hang(LINKS, ball ? ball_joint(0, 0) : hinge(0, 0));
        for (int32_t k = 0; k < bough_tree_model_size(c->model); k++)
            c->state->q[k] = k % 2 ? -0.3 : 0.4;
        check_ok(c->ctx, bough_tree_state_update(c->ctx, c->model, c->state));
        bough_tree_settle_def def = bough_default_tree_settle_def();
        def.max_iterations = 60; /* 30 are enough; without the stiffness of weights 350 are not */
        check_ok(c->ctx, bough_tree_state_settle(c->ctx, c->model, c->state, &def, NULL));
        check_near(c->state->frames[LINKS].pose.position[2], -LINKS * length, 1e-9);
        unhang(c);
    }
}

/* A part that is detached from a joint flies; back on it, it swings again. */
static void jointed_parts_come_off_and_back(void **unused) {
    (void)unused;
    chain *c = hang(3, hinge(0, 0));
    c->state->q[0] = 1;
    check_ok(c->ctx, bough_tree_state_update(c->ctx, c->model, c->state));
    for (int i = 0; i < 40; i++)
        check_ok(c->ctx, bough_tree_step(c->ctx, c->model, c->state, 1.0 / 240));
    const double before = energy_of(c);
    check_ok(c->ctx, bough_tree_state_detach(c->ctx, c->model, c->state, 2));
    check_near(energy_of(c), before, 1e-12 * fabs(before));
    for (int i = 0; i < 40; i++)
        check_ok(c->ctx, bough_tree_step(c->ctx, c->model, c->state, 1.0 / 240));
    check_near(energy_of(c), before, 2e-2); /* accelerations start as those of the chain, which costs a first step */
    const bough_change back = {.kind = BOUGH_CHANGE_REATTACH, .part = 2};
    check_ok(c->ctx, bough_tree_state_change(c->ctx, c->model, c->state, 1, &back));
    for (int i = 0; i < 40; i++)
        check_ok(c->ctx, bough_tree_step(c->ctx, c->model, c->state, 1.0 / 240));
    const size_t size = bough_tree_state_snapshot_size(c->model, c->state);
    void *bytes = malloc(size);
    bough_tree_state_save(c->model, c->state, bytes);
    check_ok(c->ctx, bough_tree_state_restore(c->ctx, c->model, c->state, bytes, size));
    check(c->state->v[1] != 0);
    free(bytes);
    unhang(c);
}

static void impossible_joints_are_refused(void **unused) {
    (void)unused;
    chain *c = hang(1, hinge(0, 0));
    bough_tree_model_def def = *bough_tree_model_describe(c->model);
    bough_part_def parts[2] = {def.parts[0], def.parts[1]};
    bough_tree_model *model;
    bough_joint_def joint;
    parts[1].joint = &joint;
    def.parts = parts;
#define REFUSED(change, status, why)                                                     \
    do {                                                                                 \
        joint = *ball_joint(1, 1);                                                       \
        change;                                                                          \
        check_fails(c->ctx, bough_tree_model_create(c->ctx, &def, &model), status, why); \
    } while (0)
    REFUSED(joint.cookie = 0, BOUGH_ERROR_ARGUMENT, "bough_default_joint_def()");
    REFUSED(joint.kind = (bough_joint_kind)99, BOUGH_ERROR_ARGUMENT, "kind 99");
    REFUSED(joint = *hinge_about(0, 0, 0, 1, 1), BOUGH_ERROR_ARGUMENT, "rotation matrices");
    REFUSED(joint = *hinge_about(NAN, 0, 0, 1, 1), BOUGH_ERROR_ARGUMENT, "rotation matrices");
    REFUSED(joint.stiffness[1] = -1, BOUGH_ERROR_ARGUMENT, "the stiffness of freedom 1 is -1");
    REFUSED(joint.damping[0] = INFINITY, BOUGH_ERROR_ARGUMENT, "the damping of freedom 0");
    /* what joints may have, but trees have not */
    REFUSED(joint.kind = BOUGH_JOINT_PRISMATIC, BOUGH_ERROR_UNSUPPORTED, "hang by hinges and balls");
    REFUSED(joint.kind = BOUGH_JOINT_FREE, BOUGH_ERROR_UNSUPPORTED, "hang by hinges and balls");
    REFUSED(joint.stiffness[2] = 2, BOUGH_ERROR_UNSUPPORTED, "one stiffness");
    REFUSED(joint.offset[0] = 1, BOUGH_ERROR_UNSUPPORTED, "no offset, limits and friction");
    REFUSED(joint.upper[0] = 1, BOUGH_ERROR_UNSUPPORTED, "no offset, limits and friction");
    REFUSED(joint.friction[2] = 1, BOUGH_ERROR_UNSUPPORTED, "no offset, limits and friction");
    REFUSED(joint.child.pose.position[1] = 1, BOUGH_ERROR_UNSUPPORTED, "about its own origin");
    REFUSED(joint.child.pose = hinge(0, 0)->child.pose, BOUGH_ERROR_UNSUPPORTED, "in the axes of its part");
#undef REFUSED
    joint.kind = BOUGH_JOINT_WELD; /* is as good as none */
    check_ok(c->ctx, bough_tree_model_create(c->ctx, &def, &model));
    check(!bough_tree_model_describe(model)->parts[1].joint);
    bough_tree_model_destroy(c->ctx, model);
    unhang(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_of_hinges_is_a_multi_pendulum),
        cmocka_unit_test(energy_drifts_with_the_order_of_the_method),
        cmocka_unit_test(balls_turn_on_and_on),
        cmocka_unit_test(springs_dampers_and_motors_act),
        cmocka_unit_test(steps_of_a_spring_are_those_of_hht),
        cmocka_unit_test(chains_settle),
        cmocka_unit_test(jointed_parts_come_off_and_back),
        cmocka_unit_test(impossible_joints_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
