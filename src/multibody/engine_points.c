/* Points of bodies and parts, and forces on them. */
#include "multibody/engine_inside.h"

#include "base/pose.h"
#include "component/surface.h"
#include "dense/lu.h"
#include "rig/joint.h"

#include <float.h>
#include <string.h>

/* ---- frames ---- */

bo_se3 bo_multibody_thing(const multibody_engine *e, int32_t thing, bo_twist *twist) {
    const int32_t obstacle = thing - bo_multibody_first_obstacle(e);
    *twist = (bo_twist){0};
    if (obstacle >= 0 && e->plan->leads && e->plan->leads[obstacle].pose)
        return bo_lead_at(&e->plan->leads[obstacle], e->state->time, &twist->v, &twist->w);
    if (obstacle >= 0)
        return bo_pose(&e->plan->obstacles[obstacle].pose);
    const bough_frame_def frame = bo_frame_on(thing, bough_default_pose());
    bough_pose pose;
    double t[6];
    bough_multibody_frame(e->model, e->state, &frame, &pose, t);
    *twist = bo_load_twist(t);
    return bo_pose(&pose);
}

/* A vertex of a part in the axes of its component: sum_l q_l U_l, and X where it is at rest. */
static bo_vec3 bend_of(const bo_mb_part *part, int32_t vertex, const double *q) {
    const bough_component *c = part->component;
    double x[3] = {0};
    if (part->full)
        return bo_multibody_vertex_of(c, vertex) < 0 ? bo_v3(0, 0, 0)
                                                     : bo_load3(q + 3 * bo_multibody_vertex_of(c, vertex));
    for (int32_t d = 0; d < 3; d++)
        for (int32_t l = 0; l < c->r; l++)
            x[d] += q[l] * bo_surface_basis(&c->surface, c->r, 3 * vertex + d, l);
    return bo_load3(x);
}
static bo_vec3 rest_of(const bough_component *c, int32_t vertex) {
    const float *x = c->surface.position + 3 * (size_t)vertex;
    return bo_v3((double)x[0], (double)x[1], (double)x[2]);
}

void bo_multibody_point(const multibody_engine *e, const bough_frame_def *frame, int32_t vertex, double x[3],
                        double v[3]) {
    if (vertex < 0) {
        bough_pose pose;
        double twist[6];
        bough_multibody_frame(e->model, e->state, frame, &pose, twist);
        memcpy(x, pose.position, 3 * sizeof *x);
        memcpy(v, twist, 3 * sizeof *v);
        return;
    }
    const int32_t p = bo_multibody_part_of(e, frame->body);
    const bo_mb_part *part = &e->model->parts[p];
    bo_twist t;
    const bo_se3 g = bo_multibody_thing(e, frame->body, &t);
    const bo_vec3 bent = bend_of(part, vertex, bo_multibody_q(e, p));
    const bo_vec3 arm = bo_mat_vec(g.R, bo_add(rest_of(part->component, vertex), bent));
    const bo_vec3 rate = bo_mat_vec(g.R, bend_of(part, vertex, e->state->v + part->first));
    bo_store3(x, bo_add(g.t, arm));
    bo_store3(v, bo_add(bo_add(t.v, bo_cross(t.w, arm)), rate));
}

/* ---- forces ---- */

/* On the body: force and torque about its origin. */
static void push_body(const multibody_engine *e, int32_t body, bo_vec3 at, bo_vec3 force, bo_vec3 torque,
                      double *forces) {
    double *to = forces + 6 * (ptrdiff_t)body;
    if (body < 0)
        return;
    const bo_vec3 arm = bo_sub(at, bo_load3(e->state->u + 7 * (ptrdiff_t)body));
    bo_store3(to, bo_add(bo_load3(to), force));
    bo_store3(to + 3, bo_add(bo_load3(to + 3), bo_add(torque, bo_cross(arm, force))));
}

/* On the coordinates of a part whose interface is pushed: the power by a unit rate of each. */
static void push_interface(multibody_engine *e, int32_t p, const bough_frame_def *frame, bo_vec3 force, bo_vec3 torque,
                           double *forces) {
    const bo_mb_part *part = &e->model->parts[p];
    if (part->full) {
        bo_mb_full_push(e->model, e->state, frame, force, torque, forces + part->first);
        return;
    }
    bough_multibody_state unit = *e->state; /* which positions and velocities are read of */
    unit.v = e->unit;
    for (int32_t l = 0; l < part->r; l++) {
        double twist[6];
        e->unit[part->first + l] = 1;
        bough_multibody_frame(e->model, &unit, frame, NULL, twist);
        e->unit[part->first + l] = 0;
        forces[part->first + l] += bo_dot(bo_load3(twist), force) + bo_dot(bo_load3(twist + 3), torque);
    }
}

static void push_vertex(const multibody_engine *e, int32_t p, int32_t vertex, bo_vec3 force, double *forces) {
    const bo_mb_part *part = &e->model->parts[p];
    const bough_component *c = part->component;
    bo_twist ignored;
    const bo_se3 g = bo_multibody_thing(e, e->model->def.body_count + p, &ignored);
    const bo_vec3 f = bo_mat_tvec(g.R, force);
    const double own[3] = {f.x, f.y, f.z};
    if (part->full) {
        double *to = forces + part->first + 3 * bo_multibody_vertex_of(c, vertex);
        if (bo_multibody_vertex_of(c, vertex) >= 0)
            bo_store3(to, bo_add(bo_load3(to), f));
        return;
    }
    for (int32_t l = 0; l < part->r; l++)
        for (int32_t d = 0; d < 3; d++)
            forces[part->first + l] += own[d] * bo_surface_basis(&c->surface, c->r, 3 * vertex + d, l);
}

void bo_multibody_push(multibody_engine *e, const bough_frame_def *frame, int32_t vertex, bo_vec3 force, bo_vec3 torque,
                       double *forces) {
    const int32_t p = bo_multibody_part_of(e, frame->body);
    double x[3], v[3];
    if (frame->body < 0)
        return;
    bo_multibody_point(e, frame, vertex, x, v);
    push_body(e, p < 0 ? frame->body : e->model->parts[p].body, bo_load3(x), force, torque, forces);
    if (vertex >= 0)
        push_vertex(e, p, vertex, force, forces);
    else if (p >= 0 && frame->interface_index >= 0)
        push_interface(e, p, frame, force, torque, forces);
}

int32_t bo_multibody_nearest(const multibody_engine *e, int32_t part, const double point[3]) {
    const bough_component *c = e->given.parts[part].component;
    bo_twist ignored;
    const bo_se3 g = bo_multibody_thing(e, e->given.body_count + part, &ignored);
    const bo_vec3 at = bo_se3_apply(bo_se3_inverse(g), bo_load3(point));
    double least = INFINITY;
    int32_t nearest = 0;
    for (int32_t v = 0; v < c->surface.vertex_count; v++) {
        const bo_vec3 d = bo_sub(rest_of(c, v), at);
        if (bo_dot(d, d) < least)
            least = bo_dot(d, d), nearest = v;
    }
    return nearest;
}

void bo_multibody_vertex(const multibody_engine *e, int32_t thing, int32_t vertex, double x[3]) {
    const int32_t part = thing - e->given.body_count;
    if (part >= 0 && part < e->given.part_count)
        bo_store3(x, rest_of(e->given.parts[part].component, vertex));
    else
        memcpy(x, e->looks[e->things[thing].look].vertices + 3 * (size_t)vertex, 3 * sizeof *x);
}

/* ---- hands ---- */

typedef struct {
    const bo_hand *hand;
    bough_frame_def frame;
    int32_t vertex; /* -1: of a rigid body */
} grip;

static grip grip_of(const multibody_engine *e, const bo_hand *hand) {
    const bool rigid = hand->part < e->model->def.body_count;
    grip g = {hand, bo_frame_on(hand->part, bough_default_pose()), rigid ? -1 : hand->vertex};
    if (rigid)
        bo_multibody_vertex(e, hand->part, hand->vertex, g.frame.pose.position);
    return g;
}

/* Obstacles stay where they are. */
static bool can_hold(const multibody_engine *e, const bo_hand *hand) {
    return hand->holds && hand->part < bo_multibody_first_obstacle(e);
}

static int list_grips(const multibody_engine *e, grip *grips) {
    int count = 0;
    for (int i = 0; i < BOUGH_RUN_HANDS; i++)
        if (can_hold(e, &e->hands->pulls[i]))
            grips[count++] = grip_of(e, &e->hands->pulls[i]);
    return count;
}

/* B = J A^-1 J^T with the factor of the last step: velocities of the gripped points by forces on them. Without one the
 * springs are those of the start of the step. */
static bool find_response(multibody_engine *e, int count, const grip *grips, double *B) {
    bo_mb_state *s = bo_mb(e->state);
    const size_t nv = (size_t)e->model->nv;
    const int n = 3 * count;
    if (s->factored_h == 0)
        return false;
    memset(e->columns, 0, (size_t)n * nv * sizeof *e->columns);
    for (int c = 0; c < n; c++)
        bo_multibody_push(e, &grips[c / 3].frame, grips[c / 3].vertex, bo_v3(c % 3 == 0, c % 3 == 1, c % 3 == 2),
                          bo_v3(0, 0, 0), e->columns + (size_t)c * nv);
    for (int c = 0; c < n; c++) {
        bo_mb_solve(e->model, &s->work, e->columns + (size_t)c * nv, s->zeros_c, e->way, s->rate);
        for (int r = 0; r < n; r++) {
            B[r * n + c] = 0;
            for (size_t i = 0; i < nv; i++)
                B[r * n + c] += e->columns[(size_t)r * nv + i] * e->way[i];
        }
    }
    return true;
}

/* A spring as it is at the end of the step, however stiff: f = k (target - x - h v') - d v' with v' = v + B f. It pulls
 * no harder than from as far as the system is large. */
static bough_status pull_all(multibody_engine *e, double h, int count, const grip *grips, double *f) {
    enum { MOST = 3 * BOUGH_RUN_HANDS };
    double A[MOST * MOST] = {0};
    int32_t pivots[MOST];
    const int n = 3 * count;
    const bool known = find_response(e, count, grips, A);
    for (int i = 0; i < count; i++) {
        const bo_hand *hand = grips[i].hand;
        const double s = h * hand->stiffness + hand->damping;
        double x[3], v[3];
        bo_multibody_point(e, &grips[i].frame, grips[i].vertex, x, v);
        const bo_vec3 way = bo_sub(bo_load3(hand->target), bo_load3(x));
        const double share = fmin(1, e->model->length / fmax(bo_norm(way), DBL_MIN));
        bo_store3(f + 3 * i,
                  bo_mul_add(bo_scale(hand->stiffness * share, way), known ? -s : -hand->damping, bo_load3(v)));
        for (int r = 3 * i; r < 3 * i + 3; r++)
            for (int c = 0; c < n; c++)
                A[r * n + c] = (r == c) + (known ? s * A[r * n + c] : 0);
    }
    if (!bo_lu_factor(n, A, pivots))
        return bo_fail(e->ctx, BOUGH_NOT_FINITE, "hands pull so hard that their forces are not finite");
    bo_lu_solve(n, A, pivots, f);
    return BOUGH_OK;
}

bough_status bo_multibody_pull(multibody_engine *e, double h, double *forces) {
    grip grips[BOUGH_RUN_HANDS];
    double f[3 * BOUGH_RUN_HANDS];
    const bo_vec3 none = {0, 0, 0};
    const int count = list_grips(e, grips);
    if (count > 0)
        BO_TRY(pull_all(e, h, count, grips, f));
    for (int i = 0; i < count; i++)
        bo_multibody_push(e, &grips[i].frame, grips[i].vertex, bo_load3(f + 3 * i), none, forces);
    if (can_hold(e, &e->hands->poke)) {
        const grip poke = grip_of(e, &e->hands->poke);
        bo_multibody_push(e, &poke.frame, poke.vertex, bo_load3(e->hands->poke.target), none, forces);
    }
    return BOUGH_OK;
}
