/* run_robot STEPS: a pendulum of two bodies, whose first joint a motor drives; prints positions and velocities. Tests of the
 * npm package compare what WebAssembly makes of the same. */
#include <bough/multibody.h>

#include <stdio.h>
#include <stdlib.h>

/* To and fro by a line that is bent at 1 s. */
static void drive(void *data, int32_t motor, double time, double *place, double *rate) {
    (void)data, (void)motor;
    *place = time < 1 ? time : 2 - time, *rate = time < 1 ? 1 : -1;
}

/* Hinges about y. */
static bough_frame_def frame_on(int32_t body, double z) {
    static const double about_y[9] = {1, 0, 0, 0, 0, 1, 0, -1, 0};
    bough_frame_def frame = bough_default_frame_def();
    frame.body = body, frame.pose.position[2] = z;
    for (int i = 0; i < 9; i++)
        frame.pose.rotation[i] = about_y[i];
    return frame;
}

static bough_status make(bough_context *ctx, bough_multibody **model) {
    bough_multibody_def def = bough_default_multibody_def();
    bough_rigid_body_def bodies[2];
    bough_joint_def joints[2];
    bough_motor_def motor = bough_default_motor_def();
    for (int i = 0; i < 2; i++) {
        bodies[i] = bough_default_rigid_body_def(), joints[i] = bough_default_joint_def();
        bodies[i].mass = 2 - i, bodies[i].pose.position[2] = -0.5 - i;
        joints[i].parent = frame_on(i - 1, i ? -0.5 : 0), joints[i].child = frame_on(i, 0.5);
    }
    motor.stiffness = 1000, motor.damping = 50;
    def.body_count = def.joint_count = 2, def.bodies = bodies, def.joints = joints;
    def.motor_count = 1, def.motors = &motor, def.gravity[2] = -9.81;
    return bough_multibody_create(ctx, &def, model);
}

int main(int argc, char **argv) {
    const int steps = argc == 2 ? atoi(argv[1]) : 0;
    if (steps < 1) {
        fprintf(stderr, "usage: run_robot STEPS\n");
        return 2;
    }
    bough_context *ctx = bough_context_create(NULL);
    bough_multibody *model = NULL;
    bough_multibody_state *state = NULL;
    bough_status status = make(ctx, &model);
    if (!status)
        status = bough_multibody_state_create(ctx, model, &state);
    if (!status)
        state->drive = drive;
    for (int i = 0; i < steps && !status; i++)
        status = bough_multibody_step(ctx, model, state, 0.005);
    if (status)
        fprintf(stderr, "%s\n", bough_message(ctx));
    for (int32_t i = 0; !status && i < bough_multibody_position_count(model); i++)
        printf("%.17g\n", state->u[i]);
    for (int32_t i = 0; !status && i < bough_multibody_velocity_count(model); i++)
        printf("%.17g\n", state->v[i]);
    bough_multibody_state_destroy(ctx, state);
    bough_multibody_destroy(ctx, model);
    bough_context_destroy(ctx);
    return status ? 1 : 0;
}
