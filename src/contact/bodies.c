/* Free rigid bodies: their rates without contact, and where they are after a step. docs/theory/contact.md, "Bodies". */
#include "contact/world.h"

#include <string.h>

void bo_body_make(const bough_rigid_body_def *def, bo_body *body, bough_rigid_body *now) {
    const bo_se3 g = bo_pose(&def->pose);
    body->mass = def->mass;
    memcpy(body->inertia.m, def->inertia, sizeof def->inertia);
    body->inertia = bo_sym(body->inertia);
    body->inverse_inertia = bo_sym(bo_inverse(body->inertia));
    for (int k = 0; k < 3; k++) {
        body->inverse[7 * k] = 1 / def->mass;
        for (int l = 0; l < 3; l++)
            body->inverse[6 * (3 + k) + 3 + l] = body->inverse_inertia.m[3 * k + l];
    }
    *now = (bough_rigid_body){.pose = def->pose};
    bo_store3(now->velocity, bo_mat_vec(g.R, bo_load3(def->twist)));
    bo_store3(now->spin, bo_load3(def->twist + 3));
}

/* The spin at the end of a short step in which the angular momentum in the world stays L, given in the axes at its
 * start: I w = exp(h w)^T L, by Newton with the slope I - h T~, T = exp(h w)^T L. */
static bo_vec3 spin_of(const bo_body *body, bo_vec3 L, double dt) {
    enum { MOST_ROUNDS = 20 };
    bo_vec3 w = bo_mat_vec(body->inverse_inertia, L);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        const bo_vec3 T = bo_mat_tvec(bo_exp3(bo_scale(dt, w)), L), miss = bo_sub(T, bo_mat_vec(body->inertia, w));
        const bo_mat3 slope = bo_mat_sub(body->inertia, bo_mat_scale(dt, bo_hat(T)));
        const bo_vec3 step = bo_mat_vec(bo_inverse(slope), miss);
        w = bo_add(w, step);
        if (bo_norm(step) <= 1e-15 * bo_norm(w))
            break;
    }
    return w;
}

typedef struct {
    bo_mat3 R;    /* what it turns by */
    bo_vec3 spin; /* at the end, in the axes there */
} turn;

/* A body turns under the angular momentum L, given in the axes at the start. The equation for the spin has several
 * solutions when it turns far, and most of them have more energy; so it turns in parts. Whatever is left after many of
 * them it turns about L by the spin along it: momentum and energy stay as they are. */
static turn turn_by(const bo_body *body, bo_vec3 L, double dt) {
    enum { MOST_PARTS = 64 };
    const double farthest = 0.2; /* rad, of a part */
    turn t = {bo_identity3(), bo_mat_vec(body->inverse_inertia, L)};
    for (int part = 0; part < MOST_PARTS && dt > 0; part++) {
        const double speed = bo_norm(t.spin), h = speed * dt > farthest ? farthest / speed : dt;
        t.spin = spin_of(body, L, h);
        const bo_mat3 R = bo_exp3(bo_scale(h, t.spin));
        t.R = bo_mat_mul(t.R, R);
        L = bo_mat_tvec(R, L);
        dt -= h;
    }
    if (dt > 0)
        t.R = bo_mat_mul(t.R, bo_exp3(bo_scale(dt * bo_dot(t.spin, L) / bo_dot(L, L), L)));
    return t;
}

static bo_vec3 velocity_without_contact(const bough_contact_world *world, int32_t i, double dt) {
    const bo_vec3 v = bo_mul_add(bo_load3(world->bodies[i].velocity), dt, bo_load3(world->gravity));
    return bo_mul_add(v, dt / bo_world_work(world)->bodies[i].mass, bo_load3(world->bodies[i].force));
}

static void fill_motion(const bough_rigid_body *now, double motion[36]) {
    memset(motion, 0, 36 * sizeof(double));
    for (int r = 0; r < 3; r++) {
        motion[7 * r] = 1;
        for (int k = 0; k < 3; k++)
            motion[6 * (3 + r) + 3 + k] = now->pose.rotation[3 * r + k];
    }
}

/* Half of f . A f, where f is what forces change of the rates. */
static double half_square(const bo_body *body) {
    const bo_vec3 v = bo_sub(bo_load3(body->y), bo_load3(body->before)),
                  w = bo_sub(bo_load3(body->y + 3), bo_load3(body->before + 3));
    return 0.5 * (body->mass * bo_dot(v, v) + bo_dot(w, bo_mat_vec(body->inertia, w)));
}

/* Rates without contact are those in the axes at the start, before the body turns: there an impulse p changes the spin by
 * I^-1 p exactly, and the turn that follows keeps momentum and energy. Rates after the turn would belong to other axes,
 * and where a light body is spun up its energy would rise by p . (change of the spin by the turn). */
void bo_bodies_predict(bough_contact_world *world, double dt) {
    for (int32_t i = 0; i < world->body_count; i++) {
        const bough_rigid_body *now = &world->bodies[i];
        bo_body *body = &bo_world_work(world)->bodies[i];
        const bo_vec3 spin = bo_load3(now->spin), torque = bo_mat_tvec(bo_pose(&now->pose).R, bo_load3(now->torque));
        body->momentum = bo_mul_add(bo_mat_vec(body->inertia, spin), dt, torque);
        bo_store3(body->before, bo_load3(now->velocity));
        bo_store3(body->before + 3, spin);
        bo_store3(body->start, bo_scale(body->mass, bo_load3(now->velocity)));
        bo_store3(body->start + 3, bo_mat_vec(body->inertia, spin));
        bo_store3(body->y, velocity_without_contact(world, i, dt));
        bo_store3(body->y + 3, bo_mat_vec(body->inverse_inertia, body->momentum)); /* before it turns: see above */
        bo_world_work(world)->groups[bo_world_work(world)->actor_count + i].by_forces = half_square(body);
        fill_motion(now, body->motion);
    }
}

/* By the sums of impulses: the rates of the search differ from that by rounding, which would not add up to zero. */
bool bo_bodies_move(bough_contact_world *world, double dt) {
    bool good = true;
    for (int32_t i = 0; i < world->body_count; i++) {
        const bough_rigid_body *now = &world->bodies[i];
        bo_body *body = &bo_world_work(world)->bodies[i];
        const bo_vec3 v = bo_mul_add(velocity_without_contact(world, i, dt), 1 / body->mass, bo_load3(body->impulse));
        const turn t = turn_by(body, bo_add(body->momentum, bo_load3(body->impulse + 3)), dt);
        const bo_se3 g = bo_pose(&now->pose);
        const bo_mat3 R = bo_mat_mul(g.R, t.R);
        body->next = (bough_rigid_body){0}; /* what pushed it is gone */
        body->next.pose = bo_put_pose(
            (bo_se3){bo_quat_to_matrix(bo_quat_from_matrix(R)) /* products drift */, bo_mul_add(g.t, dt, v)});
        bo_store3(body->next.velocity, v);
        bo_store3(body->next.spin, t.spin);
        good = good && bo_all_finite(sizeof body->next / sizeof(double), (const double *)&body->next);
    }
    return good;
}
