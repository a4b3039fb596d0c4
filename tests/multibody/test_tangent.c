/* The matrix of a step against differences of the residual, for random assemblies with all kinds of joints. */
#include "lumps.h"

#include "vibrations.h"
#include "rig/joint.h"

enum { BODIES = 4, PARTS = 3, JOINTS = 12, MOTORS = 4, MOST = 200 };

typedef struct {
    lump *lumps[PARTS];
    bough_rigid_body_def bodies[BODIES];
    bough_flexible_def parts[PARTS];
    bough_joint_def joints[JOINTS];
    bough_motor_def motors[MOTORS];
    bough_gear_def gear;
    bough_multibody_def def;
} assembly;

static bough_frame_def draw_frame(test_random *random, const assembly *s, int32_t not_on) {
    bough_frame_def f = bough_default_frame_def();
    do
        f.body = (int32_t)(test_bits(random) % (uint64_t)(s->def.body_count + s->def.part_count + 1)) - 1;
    while (f.body == not_on);
    if (f.body >= s->def.body_count)
        f.interface_index = (int32_t)(test_bits(random) % 3) - 1;
    f.pose = bo_put_pose((bo_se3){draw_rotation(random), draw3(random, 0.2)});
    return f;
}

static void draw_springs(test_random *random, bough_joint_def *joint) {
    const bool same = joint->kind == BOUGH_JOINT_BALL || joint->kind == BOUGH_JOINT_COMPLIANT;
    if (joint->kind == BOUGH_JOINT_FREE)
        return;
    for (int k = 0; k < bough_joint_freedoms(joint->kind); k++) {
        joint->stiffness[k] = test_uniform(random, 1, 3), joint->damping[k] = test_uniform(random, 0.1, 0.3);
        if (same)
            joint->stiffness[k] = k < 3 && joint->kind == BOUGH_JOINT_COMPLIANT ? 3 + k : 2, joint->damping[k] = 0.2;
        else {
            joint->friction[k] = 0.4, joint->offset[k] = test_uniform(random, -1, 1);
            joint->lower[k] = -20, joint->upper[k] = -10; /* beyond: differences must not meet the kink */
            joint->limit_stiffness = 3;
        }
    }
}

static assembly *draw_assembly(test_random *random, int round) {
    assembly *s = calloc(1, sizeof *s);
    s->def = bough_default_multibody_def();
    s->def.friction_speed = 1; /* slips smoothly enough for differences */
    s->def.body_count = BODIES, s->def.bodies = s->bodies;
    for (int b = 0; b < BODIES; b++) {
        s->bodies[b] = bough_default_rigid_body_def();
        s->bodies[b].mass = test_uniform(random, 0.2, 2);
        bo_store3(s->bodies[b].centre, draw3(random, 0.1));
        s->bodies[b].pose = bo_put_pose((bo_se3){draw_rotation(random), draw3(random, 0.5)});
    }
    s->def.part_count = PARTS, s->def.parts = s->parts;
    for (int p = 0; p < PARTS; p++) {
        s->lumps[p] = make_lump(random, 2 + (round + p) % 4, 0.4);
        s->parts[p] = bough_default_flexible_def();
        s->parts[p].component = &s->lumps[p]->c, s->parts[p].stiffness = 1.1;
        /* on a body, on the part before it, on the world or a body */
        s->parts[p].clamp.body = p == 0 ? round % BODIES : p == 1 ? BODIES : (int32_t)(test_bits(random) % 3) - 1;
        s->parts[p].clamp.interface_index = p == 1 ? round % 2 : -1;
        s->parts[p].clamp.pose = bo_put_pose((bo_se3){draw_rotation(random), draw3(random, 0.2)});
    }
    s->def.joints = s->joints;
    for (int j = 0; j < JOINTS; j++) {
        bough_joint_def *joint = &s->joints[s->def.joint_count++];
        *joint = bough_default_joint_def();
        joint->kind = (bough_joint_kind)((round + j) % BOUGH_JOINT_KIND_COUNT);
        joint->parent = draw_frame(random, s, -2);
        joint->child = draw_frame(random, s, joint->parent.body);
        if (j % 2 == 0)
            draw_springs(random, joint);
    }
    s->def.motors = s->motors;
    for (int j = 0; j < JOINTS && s->def.motor_count < MOTORS; j++) {
        const bough_joint_kind kind = s->joints[j].kind;
        const bool exact =
            kind == BOUGH_JOINT_HINGE || kind == BOUGH_JOINT_PRISMATIC || kind == BOUGH_JOINT_CYLINDRICAL;
        if (!exact && kind != BOUGH_JOINT_UNIVERSAL && kind != BOUGH_JOINT_PLANAR)
            continue;
        bough_motor_def *motor = &s->motors[s->def.motor_count++];
        *motor = bough_default_motor_def();
        motor->joint = j, motor->freedom = bough_joint_freedoms(kind) - 1;
        if (!exact || round % 3 == 0)
            motor->stiffness = 5, motor->damping = 0.3, motor->limit = round % 2 ? 4 : INFINITY;
    }
    for (int j = 0; j + 1 < JOINTS && s->def.gear_count == 0; j++)
        if ((s->joints[j].kind == BOUGH_JOINT_PLANAR || s->joints[j].kind == BOUGH_JOINT_UNIVERSAL)) {
            s->gear = bough_default_gear_def();
            s->gear.joints[0] = j, s->gear.freedoms[0] = 1, s->gear.ratio = 0.7;
            for (int i = 0; i < JOINTS; i++)
                if (i != j && s->joints[i].kind == BOUGH_JOINT_HINGE)
                    s->gear.joints[1] = i, s->def.gears = &s->gear, s->def.gear_count = 1;
        }
    return s;
}

static void free_assembly(assembly *s) {
    for (int p = 0; p < PARTS; p++)
        free_lump(s->lumps[p]);
    free(s);
}

static void drive(void *data, int32_t motor, double time, double *place, double *rate) {
    (void)data, (void)time;
    *place += 0.1 * motor + 0.2, *rate = 0.7 - 0.3 * motor;
}

typedef struct {
    const bough_multibody *model;
    bo_mb_state *s;
    bo_mb_drive drive;
    double h;
    double base[MOST], v_base[MOST], v[MOST], lambda[MOST], u[MOST], a[MOST];
} point;

/* Residual and constraints, in the order of the blocks, at the unknowns z. */
static void residual_at(point *p, double *out) {
    double R[MOST], c[MOST], rate[MOST];
    const bough_multibody *model = p->model;
    bo_mb_advance(model, p->base, p->h, p->v, p->u);
    for (int32_t i = 0; i < model->nv; i++)
        p->a[i] = (p->v[i] - p->v_base[i]) / p->h;
    check(bo_mb_evaluate(model, &p->s->work, &p->drive, p->u, p->v, p->a, p->lambda, R, c, rate));
    for (int32_t i = 0; i < model->nv; i++)
        out[model->place[i]] = R[i];
    for (int32_t i = 0; i < model->nc; i++)
        out[model->place[model->nv + i]] = rate[i] + model->def.baumgarte * c[i];
}

static void matrices_are_derivatives(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random random = {11};
    const int rounds = test_long() ? 1000 : 100;
    double *A = malloc(sizeof *A * MOST * MOST);
    for (int round = 0; round < rounds; round++) {
        assembly *s = draw_assembly(&random, round);
        point p = {.h = test_uniform(&random, 0.01, 0.3)};
        bough_multibody *model;
        bough_multibody_state *state;
        check_ok(ctx, bough_multibody_create(ctx, &s->def, &model));
        check_ok(ctx, bough_multibody_state_create(ctx, model, &state));
        p.model = model, p.s = bo_mb(state);
        state->drive = drive;
        bo_store3(state->gravity, draw3(&random, 10));
        const int32_t size = model->nv + model->nc;
        check(size <= MOST);
        for (int32_t i = 0; i < model->nu; i++)
            p.base[i] = state->u[i] + test_uniform(&random, -0.1, 0.1);
        for (int32_t i = 0; i < model->nv; i++)
            p.v[i] = test_uniform(&random, -1, 1), p.v_base[i] = p.v[i] + p.h * test_uniform(&random, -1, 1);
        for (int32_t i = 0; i < model->nc; i++)
            p.lambda[i] = test_uniform(&random, -2, 2);
        p.drive = bo_mb_drive_at(p.s, 0.1);
        double f[MOST], at[4][MOST];
        residual_at(&p, f);
        bo_mb_tangent(model, &p.s->work, &p.drive, p.u, p.v, p.a, p.lambda, 1 / p.h, 1, p.h, p.h, model->def.baumgarte,
                      false);
        bo_block_lu_unfold(&p.s->work.lu, A);
        double largest = 0;
        for (int32_t i = 0; i < size * size; i++)
            largest = fmax(largest, fabs(A[i]));
        for (int32_t k = 0; k < size; k++) {
            double *x = k < model->nv ? &p.v[k] : &p.lambda[k - model->nv], worst = INFINITY;
            const double kept = *x;
            for (double e = 2e-4; e > 5e-6 && worst > 1e-7; e /= 6) { /* shorter where an angle is hardly defined */
                double error = 0;
                for (int n = 0; n < 4; n++) {
                    static const double steps[4] = {-2, -1, 1, 2};
                    *x = kept + steps[n] * e;
                    residual_at(&p, at[n]);
                }
                *x = kept;
                for (int32_t i = 0; i < size; i++) {
                    const double d = (at[0][i] - 8 * at[1][i] + 8 * at[2][i] - at[3][i]) / (12 * e);
                    const double told = A[size * i + model->place[k]];
                    error = fmax(error, fabs(d - told) / (largest + fabs(told)));
                }
                worst = fmin(worst, error);
            }
            check_below(worst, 1e-7);
        }
        bough_multibody_state_destroy(ctx, state);
        bough_multibody_destroy(ctx, model);
        free_assembly(s);
    }
    free(A);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(matrices_are_derivatives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
