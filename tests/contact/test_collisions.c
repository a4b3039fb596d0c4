/* Two bodies that collide keep their momenta; random scenes of any masses, spins and shapes stay finite and gain no
 * energy. */
#include "../rig/rings.h"
#include "worlds.h"

static const bo_vec3 corners[] = {
    {-0.08, -0.06, -0.05}, {0.09, -0.05, -0.05}, {0.07, 0.08, -0.04}, {-0.06, 0.07, -0.05}, {0.02, 0.01, 0.09}};

static bough_shape_mesh *ring; /* one mesh for all that are rings */

static bough_shape_def shape_number(int k) {
    return k == 0 ? sphere_def(0.1) : k == 1 ? box_def(0.2, 0.15, 0.1) : k == 2 ? hull_def(5, corners) : mesh_def(ring);
}

/* The change of momentum and angular momentum, of what the bodies have on their own, when two collide. */
static bo_vec3 collide_two(bough_context *ctx, test_random *random, int a, int b, double e, double mu) {
    plan *p = new_plan();
    for (int i = 0; i < 2; i++) {
        bough_rigid_body_def *body =
            add_body(ctx, p, shape_number(i ? b : a), pow(10, test_uniform(random, 2, 4)),
                     (bo_se3){bo_exp3(random_vector(random, 2)), bo_v3(i ? 0.3 : 0, 0, test_uniform(random, 0, 0.03))});
        body->friction = mu, body->restitution = e;
        for (int k = 0; k < 6; k++)
            body->twist[k] = k < 3 ? 0 : test_uniform(random, -10, 10);
        bo_mat3 R = bo_pose(&body->pose).R;
        bo_store3(body->twist, bo_mat_tvec(R, bo_v3(i ? -2 : 2, test_uniform(random, -0.3, 0.3), 0)));
    }
    bough_contact_world *w = make_world(ctx, p);
    bo_store3(w->gravity, bo_v3(0, 0, 0));
    const momenta before = momenta_of(p, w);
    double linear = 0, angular = 0;
    int touched = 0;
    for (int32_t i = 0; i < 2; i++) {
        const double mv = p->bodies[i].mass * bo_norm(velocity_of(w, i));
        linear += mv, angular += 0.3 * mv;
    }
    for (int k = 0; k < 100; k++) {
        run(ctx, w, 1. / 500, 1);
        touched += w->contact_count > 0 && bo_norm(bo_load3(w->contacts[0].force)) > 0;
    }
    const momenta after = momenta_of(p, w);
    bough_contact_world_destroy(ctx, w);
    free(p);
    return bo_v3(bo_norm(bo_sub(after.linear, before.linear)) / linear,
                 bo_norm(bo_sub(after.angular, before.angular)) / angular, touched > 0);
}

static void colliding_bodies_keep_their_momenta(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random random = {11};
    bo_vec3 worst = {0, 0, 0};
    int count = 0;
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++)
            for (int e = 0; e <= 4; e++)
                for (int mu = 0; mu < 3; mu++) {
                    const bo_vec3 lost = collide_two(ctx, &random, a, b, 0.25 * e, 0.5 * mu);
                    worst = bo_v3(fmax(worst.x, lost.x), fmax(worst.y, lost.y), 0), count += lost.z > 0;
                }
    printf("%d of 150 collided: momentum changed by %.2g, angular momentum by %.2g at most\n", count, worst.x, worst.y);
    check(count >= 135);
    check_below(worst.x, 1e-13);
    check_below(worst.y, 1e-8);
    bough_context_destroy(ctx);
}

/* ---- any scenes ---- */

static bo_vec3 loose[8]; /* corners of the hull that is made next */

static bough_shape_def any_shape(test_random *random, double size) {
    switch (test_bits(random) % 5) {
    case 0:
        return sphere_def(size);
    case 4:
        return mesh_def(ring);
    case 1:
        return box_def(size, size * pow(10, test_uniform(random, -3, 0)), size * pow(10, test_uniform(random, -3, 0)));
    case 2: { /* needles and plates, or flat: those are refused */
        const double flat = test_bits(random) % 3 ? pow(10, test_uniform(random, -5, 0)) : 0;
        for (int k = 0; k < 8; k++) {
            loose[k] = random_vector(random, size);
            loose[k].z *= flat;
        }
        return hull_def(8, loose);
    }
    default: /* the same point many times */
        for (int k = 0; k < 8; k++)
            loose[k] = bo_scale(size / 0.1, corners[k % 5]);
        return hull_def(8, loose);
    }
}

typedef struct {
    int refused, stepped;
    double rise, pushed; /* of energy, in a step in which nothing overlaps, or something does */
} tally;

static double motion_of(const plan *p, const bough_contact_world *w) {
    double sum = 0;
    for (int32_t i = 0; i < w->body_count; i++) {
        const bo_vec3 v = velocity_of(w, i), spin = bo_load3(w->bodies[i].spin);
        bo_mat3 I;
        memcpy(I.m, p->bodies[i].inertia, sizeof I.m);
        sum += 0.5 * p->bodies[i].mass * bo_dot(v, v) + 0.5 * bo_dot(spin, bo_mat_vec(I, spin));
    }
    return sum;
}

static void add_any_body(bough_context *ctx, test_random *random, bool fast, plan *p, bo_vec3 *kept, tally *t) {
    bough_shape_def shape = any_shape(random, pow(10, test_uniform(random, -2, 0)));
    bough_shapes_mass mass;
    if (shape.kind == BOUGH_SHAPE_HULL) {
        memcpy(kept, loose, sizeof loose);
        shape.points = (const double *)kept;
    }
    if (bough_shapes_weigh(ctx, 1, &shape, pow(10, test_uniform(random, 0, 6)), &mass) != BOUGH_OK) {
        check(strlen(bough_message(ctx)) > 10);
        t->refused++;
        return;
    }
    const bool together = test_bits(random) % 4 == 0; /* with the one before */
    const bo_vec3 at = together ? bo_v3(0, 0, 0.5) : bo_add(bo_v3(0, 0, 0.5), random_vector(random, 1));
    bough_rigid_body_def *body = add_body(ctx, p, shape, 1, (bo_se3){bo_exp3(random_vector(random, 3)), at});
    body->mass = mass.mass;
    memcpy(body->inertia, mass.inertia, sizeof mass.inertia);
    body->friction = test_uniform(random, 0, 2), body->restitution = test_uniform(random, 0, 1);
    const double spin = fast ? 1000 : 10;
    for (int k = 0; k < 6; k++)
        body->twist[k] = test_uniform(random, -1, 1) * (k < 3 ? 10 : spin);
}

static bool overlaps(const bough_contact_world *w) {
    for (int32_t i = 0; i < w->contact_count; i++)
        if (w->contacts[i].gap < 0)
            return true;
    return false;
}

static void try_scene(bough_context *ctx, test_random *random, tally *t) {
    plan *p = new_plan();
    bo_vec3 kept[6][8];
    const int count = 2 + (int)(test_bits(random) % 5);
    const bool fast = test_bits(random) % 2;
    const double dt = pow(10, fast ? test_uniform(random, -5, -3.7) : test_uniform(random, -4, -1.7));
    if (test_bits(random) % 2)
        add_obstacle(p, plane_def(), placed(0, 0, -0.5));
    for (int i = 0; i < count; i++)
        add_any_body(ctx, random, fast, p, kept[i], t);
    bough_contact_world *w = NULL;
    if (bough_contact_world_create(ctx, &p->def, &w) != BOUGH_OK) {
        check(strlen(bough_message(ctx)) > 10);
        t->refused++;
        free(p);
        return;
    }
    double before = motion_of(p, w), scale = before;
    for (int32_t i = 0; i < w->body_count; i++) /* what is undone of overlaps */
        scale += p->bodies[i].mass * p->def.push_speed * p->def.push_speed;
    for (int k = 0; k < 20; k++) {
        check_ok(ctx, bough_contact_world_step(ctx, w, dt));
        const double now = motion_of(p, w);
        check(isfinite(now));
        double *rise = overlaps(w) ? &t->pushed : &t->rise;
        *rise = fmax(*rise, (now - before) / scale), before = now;
    }
    t->stepped++;
    bough_contact_world_destroy(ctx, w);
    free(p);
}

/* Masses from grams to tonnes, spins of up to 1,000 rad/s, needles, plates and bodies in one place: numbers stay finite,
 * and energy does not rise, not even where heavy bodies spin light ones up, or where bodies overlap. */
static void any_scene_stays_finite(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random random = {23};
    tally t = {0};
    const int scenes = test_long() ? 10000 : TEST_SANITIZED ? 100 : 400;
    for (int i = 0; i < scenes; i++)
        try_scene(ctx, &random, &t);
    printf("%d scenes, %d shapes or scenes refused: energy rose by %.2g of all at most, %.2g where things overlap\n",
           t.stepped, t.refused, t.rise, t.pushed);
    check(t.stepped > 0.9 * scenes);
    check_below(t.pushed, 1e-13);
    check_below(t.rise, 1e-13);
    bough_context_destroy(ctx);
}

static int make_ring(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    ring = torus_of(ctx, 0.08, 0.035, 14, 8, 16);
    bough_context_destroy(ctx);
    return 0;
}
static int free_ring(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_shape_mesh_destroy(ctx, ring);
    bough_context_destroy(ctx);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(colliding_bodies_keep_their_momenta),
                                       cmocka_unit_test(any_scene_stays_finite)};
    return cmocka_run_group_tests(tests, make_ring, free_ring);
}
