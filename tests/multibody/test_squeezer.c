/* Andrews' squeezing mechanism: seven bodies in a plane, three loops, a spring, and 2.5 turns in 0.03 s.
 *
 * Hairer and Wanner, Solving Ordinary Differential Equations II, VII.7; angles at the end are those of the test set for
 * initial value problem solvers. Bodies and angles have the names of the book. Hinges of a plane mechanism hold three
 * directions each that its loops hold already. */
#include "build.h"

enum { K1, K2, K3, K4, K5, K6, K7, BARREL, PISTON };

static const bo_vec3 Z = {0, 0, 1}, O = {0, 0, 0};
static const bo_vec3 A = {-0.06934, -0.00227, 0}, B = {-0.03635, 0.03273, 0}, C = {0.014, 0.072, 0};
static const double rr = 0.007, ra = 0.00092, d = 0.028, da = 0.0115, e = 0.02, ea = 0.01421, sa = 0.01874,
                    sb = 0.01043, sc = 0.018, sd = 0.02, ta = 0.02308, tb = 0.00916, uu = 0.04, ua = 0.01228,
                    ub = 0.00449, zf = 0.02, zt = 0.04, fa = 0.01421, l0 = 0.07785, c0 = 4530, drive = 0.033;

/* beta, Theta, gamma, Phi, delta, Omega, epsilon */
static const double begin[7] = {
    -0.0617138900142764496, 0, 0.45527981916307038, 0.22266839016588588, 0.48736497954384255, -0.22266839016588588,
    1.2305474445498212};
static const double end[7] = {15.81077119629904,  -15.75637105984298, 0.04082224013073101, -0.5347301163226948,
                              0.5244099658805304, 0.5347301163226948, 1.048080741042263};

/* A point at (x, y) of axes that are turned by an angle, from another point. */
static bo_vec3 from(bo_vec3 origin, double angle, double x, double y) {
    return bo_add(origin, bo_v3(x * cos(angle) - y * sin(angle), x * sin(angle) + y * cos(angle), 0));
}

static int32_t add_flat(build *b, double mass, double inertia, bo_vec3 centre, double angle) {
    return add_body(b, mass, bo_v3(inertia, inertia, inertia), (bo_se3){bo_exp3(bo_v3(0, 0, angle)), centre});
}

/* The spring is a barrel on a hinge at C and a piston in it, as good as without mass. */
static void add_spring(build *b, bo_vec3 D) {
    const bo_vec3 along = bo_sub(D, C);
    const double length = bo_norm(along), light = 1e-9;
    add_flat(b, light, light * 1e-4, C, 0);
    add_flat(b, light, light * 1e-4, D, 0);
    add_hinge(b, BOUGH_WORLD, BARREL, C, Z);
    const int32_t slide = add_joint(b, BOUGH_JOINT_PRISMATIC, BARREL, PISTON, place_along(D, along));
    b->joints[slide].stiffness[0] = c0, b->joints[slide].offset[0] = l0 - length;
    add_hinge(b, PISTON, K3, D, Z);
}

static build *make_squeezer(void) {
    build *b = start_build();
    const double beta = begin[0], theta = begin[1], gamma = begin[2], phi = begin[3], delta = begin[4],
                 omega = begin[5], epsilon = begin[6];
    const bo_vec3 E = from(O, beta, rr, 0), F = from(E, beta + theta, -d, 0); /* the crank's pin; all loops meet in F */
    const bo_vec3 G = from(A, delta, zt, 0), H = from(A, epsilon, 0, -uu);
    add_flat(b, 0.04325, 2.194e-6, from(O, beta, ra, 0), beta);
    add_flat(b, 0.00365, 4.410e-7, from(E, beta + theta, -da, 0), beta + theta);
    add_flat(b, 0.02373, 5.255e-6, from(B, gamma, sb, -sa), gamma);
    add_flat(b, 0.00706, 5.667e-7, from(G, phi + delta, 0, -(e - ea)), phi + delta);
    add_flat(b, 0.07050, 1.169e-5, from(A, delta, ta, tb), delta);
    add_flat(b, 0.00706, 5.667e-7, from(H, omega + epsilon, zf - fa, 0), omega + epsilon);
    add_flat(b, 0.05498, 1.912e-5, from(A, epsilon, -ub, -ua), epsilon);
    add_hinge(b, BOUGH_WORLD, K1, O, Z);
    add_hinge(b, K1, K2, E, Z);
    add_hinge(b, BOUGH_WORLD, K3, B, Z);
    add_hinge(b, BOUGH_WORLD, K5, A, Z);
    add_hinge(b, K5, K4, G, Z);
    add_hinge(b, BOUGH_WORLD, K7, A, Z);
    add_hinge(b, K7, K6, H, Z);
    add_hinge(b, K2, K3, F, Z);
    add_hinge(b, K2, K4, F, Z);
    add_hinge(b, K2, K6, F, Z);
    add_spring(b, from(B, gamma, sd, -sc));
    finish_build(b);
    return b;
}

/* The seven angles from the turns of the hinges. */
static void read_angles(const build *b, double angles[7]) {
    static const int32_t hinges[7] = {0, 1, 2, 4, 3, 6, 5};
    for (int i = 0; i < 7; i++)
        angles[i] = begin[i] + coordinate_of(b, hinges[i], 0);
}

static double worst_angle(build *b, const char *method, int steps) {
    renew_state(b);
    if (method)
        use_method(b, method);
    for (int i = 0; i < steps; i++) {
        b->state->force[5] = drive;
        take_step(b, 0.03 / steps);
    }
    double angles[7], worst = 0;
    read_angles(b, angles);
    for (int i = 0; i < 7; i++)
        worst = fmax(worst, fabs(angles[i] - end[i]));
    return worst;
}

static void squeezers_end_where_the_test_set_says(void **unused) {
    (void)unused;
    build *b = make_squeezer();
    const double coarse = worst_angle(b, NULL, 6000), fine = worst_angle(b, NULL, 12000);
    check_below(fine, 1e-4);
    check_below(b->state->drift, 1e-6);
    check_order(coarse, fine, 2, 0.5);
    check_below(worst_angle(b, "generalised-alpha", 3000), 5e-4);
    check_below(b->state->drift, 1e-12);
    free_build(b);
}

/* Loops that lie in a plane hold three directions of each joint that closes them twice. */
static void flat_loops_are_redundant_by_three_each(void **unused) {
    (void)unused;
    build *b = make_squeezer();
    const int32_t count = bough_multibody_redundant(b->model, 0, NULL);
    check_int(count, 3 * 4); /* three loops and that of the spring */
    for (int32_t i = 0; i < count; i++) {
        int32_t joint = -1;
        check_int(bough_multibody_redundant(b->model, i, &joint), count);
        check(joint >= 0 && joint < b->def.joint_count);
    }
    free_build(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squeezers_end_where_the_test_set_says),
        cmocka_unit_test(flat_loops_are_redundant_by_three_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
