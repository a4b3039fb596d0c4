/* run_world STEPS: eight spheres and boxes fall onto the ground; prints all numbers of the bodies. Tests of the npm package
 * compare what WebAssembly makes of the same. */
#include <bough/contact.h>

#include <stdio.h>
#include <stdlib.h>

enum { BODIES = 8 };

static bough_status make(bough_context *ctx, bough_contact_world **world) {
    bough_contact_world_def def = bough_default_contact_world_def();
    bough_shape_def plane = bough_default_shape_def(), shapes[BODIES];
    bough_obstacle_def ground = bough_default_obstacle_def();
    bough_rigid_body_def bodies[BODIES];
    plane.kind = BOUGH_SHAPE_PLANE;
    ground.shape_count = 1, ground.shapes = &plane;
    for (int i = 0; i < BODIES; i++) {
        const double half[3] = {0.125, 0.1, 0.075}, position[3] = {0.03 * i, 0.01 * i, 0.2 + 0.25 * i};
        shapes[i] = bough_default_shape_def(), bodies[i] = bough_default_rigid_body_def();
        shapes[i].kind = i % 2 ? BOUGH_SHAPE_SPHERE : BOUGH_SHAPE_BOX, shapes[i].radius = 0.1;
        for (int k = 0; k < 3; k++) {
            shapes[i].half[k] = i % 2 ? shapes[i].half[k] : half[k];
            bodies[i].inertia[4 * k] = 0.01 * (k + 1), bodies[i].pose.position[k] = position[k];
        }
        bodies[i].mass = 1 + i, bodies[i].restitution = 0.25;
        bodies[i].shape_count = 1, bodies[i].shapes = &shapes[i];
    }
    def.obstacle_count = 1, def.obstacles = &ground, def.body_count = BODIES, def.bodies = bodies;
    return bough_contact_world_create(ctx, &def, world);
}

int main(int argc, char **argv) {
    const int steps = argc == 2 ? atoi(argv[1]) : 0;
    if (steps < 1) {
        fprintf(stderr, "usage: run_world STEPS\n");
        return 2;
    }
    bough_context *ctx = bough_context_create(NULL);
    bough_contact_world *world = NULL;
    bough_status status = make(ctx, &world);
    if (!status)
        world->gravity[2] = -9.81;
    for (int i = 0; i < steps && !status; i++)
        status = bough_contact_world_step(ctx, world, 0.005);
    if (status)
        fprintf(stderr, "%s\n", bough_message(ctx));
    else
        for (int b = 0; b < BODIES; b++) {
            const double *numbers = world->bodies[b].pose.position;
            for (size_t k = 0; k < sizeof *world->bodies / sizeof *numbers; k++)
                printf("%.17g\n", numbers[k]);
        }
    bough_contact_world_destroy(ctx, world);
    bough_context_destroy(ctx);
    return status ? 1 : 0;
}
