/* A step of a mechanism and free rigid bodies among obstacles. docs/theory/contact.md, "Among obstacles". */
#include "mechanism/links.h"
#include "mechanism/step.h"
#include "mechanism/surroundings.h"

#include <string.h>

/* ---- bodies ---- */

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

static bo_vec3 velocity_without_contact(const bough_surroundings *s, int32_t i, double dt) {
    const bo_vec3 v = bo_mul_add(bo_load3(s->bodies[i].velocity), dt, bo_load3(s->gravity));
    return bo_mul_add(v, dt / s->work->bodies[i].mass, bo_load3(s->bodies[i].force));
}

static void predict_bodies(bough_surroundings *s, double dt) {
    for (int32_t i = 0; i < s->body_count; i++) {
        const bough_rigid_body *now = &s->bodies[i];
        bo_body *body = &s->work->bodies[i];
        const bo_vec3 spin = bo_load3(now->spin), torque = bo_mat_tvec(bo_pose(&now->pose).R, bo_load3(now->torque));
        body->momentum = bo_mul_add(bo_mat_vec(body->inertia, spin), dt, torque);
        bo_store3(body->before, bo_load3(now->velocity));
        bo_store3(body->before + 3, spin);
        bo_store3(body->y, velocity_without_contact(s, i, dt));
        bo_store3(body->y + 3, turn_by(body, body->momentum, dt).spin);
    }
}

/* Where bodies will be; false where that is nowhere. By the sums of impulses: the rates of the search differ from that
 * by rounding, which would not add up to zero. */
static bool move_bodies(bough_surroundings *s, double dt) {
    bool good = true;
    for (int32_t i = 0; i < s->body_count; i++) {
        const bough_rigid_body *now = &s->bodies[i];
        bo_body *body = &s->work->bodies[i];
        const bo_vec3 v = bo_mul_add(velocity_without_contact(s, i, dt), 1 / body->mass, bo_load3(body->impulse));
        const turn t = turn_by(body, bo_add(body->momentum, bo_load3(body->impulse + 3)), dt);
        const bo_se3 g = bo_pose(&now->pose);
        const bo_mat3 R = bo_mat_mul(g.R, t.R);
        body->next = *now;
        body->next.pose = bo_put_pose(
            (bo_se3){bo_quat_to_matrix(bo_quat_from_matrix(R)) /* products drift */, bo_mul_add(g.t, dt, v)});
        bo_store3(body->next.velocity, v);
        bo_store3(body->next.spin, t.spin);
        good = good && bo_all_finite(sizeof body->next / sizeof(double), body->next.pose.rotation);
    }
    return good;
}

/* ---- where things are and how they move ---- */

static void place_body(const bough_surroundings *s, bo_place *place) {
    place->pose = bo_pose(&s->bodies[place->index].pose);
    memset(place->motion, 0, 36 * sizeof(double));
    for (int r = 0; r < 3; r++) {
        place->motion[7 * r] = 1;
        for (int k = 0; k < 3; k++)
            place->motion[6 * (3 + r) + 3 + k] = place->pose.R.m[3 * r + k];
    }
}

static void place_all(const bo_mover *mover, bough_surroundings *s) {
    struct bo_surroundings_work *w = s->work;
    for (int32_t i = 0; i < w->place_count; i++) {
        bo_place *place = &w->places[i];
        if (place->kind == BOUGH_CONTACT_OF_OBSTACLE)
            continue;
        if (place->kind == BOUGH_CONTACT_OF_BODY)
            place_body(s, place);
        else
            mover->place(mover->data, place);
        const bo_group *group = &w->groups[place->group];
        double rates[6] = {0};
        for (int r = 0; r < 6; r++)
            for (int32_t k = 0; k < group->size; k++)
                rates[r] += place->motion[r * group->size + k] * group->y[k];
        place->velocity = bo_load3(rates), place->spin = bo_load3(rates + 3);
    }
}

/* ---- what touches ---- */

/* How far a thing moves in the step, and a box around all that it may touch. */
static void find_boxes(struct bo_surroundings_work *w, double dt) {
    const double most_radii = 100; /* beyond, the search among cells of a field would have no end */
    for (int32_t i = 0; i < w->thing_count; i++) {
        bo_thing *thing = &w->things[i];
        const bo_place *place = &w->places[thing->place];
        bo_shape_bounds(thing->shape, place->pose, &w->boxes[i].lower, &w->boxes[i].upper);
        if (place->group < 0)
            continue;
        const bo_vec3 middle = bo_se3_apply(thing->shape->frame, thing->shape->centre);
        const bo_vec3 v = bo_add(place->velocity, bo_cross(place->spin, bo_mat_vec(place->pose.R, middle)));
        const double radius = thing->shape->radius;
        thing->reach = fmin(dt * (bo_norm(v) + bo_norm(place->spin) * radius), most_radii * radius);
        const double more = thing->reach + w->def.margin * radius;
        w->boxes[i].lower = bo_sub(w->boxes[i].lower, bo_v3(more, more, more));
        w->boxes[i].upper = bo_add(w->boxes[i].upper, bo_v3(more, more, more));
    }
}

static bool may_touch(const void *user, int32_t a, int32_t b) {
    const struct bo_surroundings_work *w = user;
    const bo_place *p = &w->places[w->things[a].place], *q = &w->places[w->things[b].place];
    if (p == q || (p->group < 0 && q->group < 0))
        return false;
    return p->group != q->group || w->def.touch_each_other;
}

/* Two directions across a normal, the same for the same one. */
static void find_tangents(bo_meeting *m) {
    const bo_vec3 n = m->normal;
    const bo_vec3 least = fabs(n.x) <= fabs(n.y) && fabs(n.x) <= fabs(n.z) ? bo_v3(1, 0, 0)
                          : fabs(n.y) <= fabs(n.z)                         ? bo_v3(0, 1, 0)
                                                                           : bo_v3(0, 0, 1);
    m->tangents[0] = bo_normalize(bo_cross(n, least));
    m->tangents[1] = bo_cross(n, m->tangents[0]);
}

static bough_status meet(bough_context *ctx, struct bo_surroundings_work *w, int32_t a, int32_t b) {
    const bo_thing *p = &w->things[a], *q = &w->things[b];
    const bough_pose at_a = bo_put_pose(w->places[p->place].pose), at_b = bo_put_pose(w->places[q->place].pose);
    const double margin = w->def.margin * fmin(p->shape->radius, q->shape->radius) + p->reach + q->reach;
    bough_touching points[BOUGH_MOST_TOUCHING];
    const int32_t count = bough_shapes_touch(p->shape, &at_a, q->shape, &at_b, margin, points);
    if (!BO_RESERVE(ctx, w->meetings, w->meeting_capacity, w->meeting_count + (size_t)count))
        return bo_fail_memory(ctx);
    for (int32_t i = 0; i < count; i++) {
        bo_meeting *m = &w->meetings[w->meeting_count++];
        *m = (bo_meeting){.a = a, .b = b, .feature = points[i].feature, .gap = points[i].gap};
        /* one point for both: equal and opposite impulses then have no torque. Where one of them stays, that of the
         * other, which will come there. */
        const double part = points[i].gap > 0 && w->places[q->place].group < 0 ? 0 : 0.5;
        m->position = bo_mul_add(bo_load3(points[i].on_a), -part * points[i].gap, bo_load3(points[i].normal));
        m->normal = bo_load3(points[i].normal);
        find_tangents(m);
    }
    return BOUGH_OK;
}

static bough_status find_meetings(bough_context *ctx, struct bo_surroundings_work *w, double dt) {
    find_boxes(w, dt);
    BO_TRY(bo_sweep_find(ctx, &w->sweep, w->boxes, may_touch, w));
    w->meeting_count = 0;
    for (size_t i = 0; i < w->sweep.pair_count; i++)
        BO_TRY(meet(ctx, w, (int32_t)(w->sweep.pairs[i] >> 32), (int32_t)(w->sweep.pairs[i] & 0xFFFFFFFFu)));
    return BOUGH_OK;
}

/* ---- constraints ---- */

/* rows += sign (velocity of the point along d), for d the normal and the tangents:
 * d . (v + w x r) = d . v + (r x d) . w */
static void add_rows(const bo_place *place, int32_t size, const bo_meeting *m, double sign, double *rows) {
    const bo_vec3 r = bo_sub(m->position, place->pose.t);
    for (int i = 0; i < 3; i++, rows += size) {
        double d[6];
        const bo_vec3 direction = i == 0 ? m->normal : m->tangents[i - 1];
        bo_store3(d, direction), bo_store3(d + 3, bo_cross(r, direction));
        for (int l = 0; l < 6; l++)
            for (int32_t k = 0; k < size; k++)
                rows[k] += sign * d[l] * place->motion[l * size + k];
    }
}

/* The speed at which they must part: as much as brings them together when they are apart; undoing part of an overlap.
 */
static double least_speed(const bough_surroundings_def *def, double gap, double dt) {
    return gap > 0 ? -gap / dt : fmin(-def->correction * gap / dt, def->push_speed);
}

static void fill_constraint(const struct bo_surroundings_work *w, const bo_meeting *m, double dt, size_t *row,
                            bo_constraint *c) {
    const bo_thing *things[2] = {&w->things[m->a], &w->things[m->b]};
    *c = (bo_constraint){.groups = {-1, -1}, .speed = least_speed(&w->def, m->gap, dt)};
    c->friction = sqrt(things[0]->friction * things[1]->friction);
    c->restitution = fmax(things[0]->restitution, things[1]->restitution);
    for (int s = 0; s < 2; s++) {
        const bo_place *place = &w->places[things[s]->place];
        if (place->group < 0)
            continue;
        const int32_t size = w->groups[place->group].size;
        const bool same = s == 1 && place->group == c->groups[0]; /* both of the mechanism: one set of rows */
        if (!same) {
            c->groups[s] = place->group, c->rows[s] = *row;
            memset(w->rows + *row, 0, 3 * (size_t)size * sizeof(double));
            *row += 3 * (size_t)size;
        }
        add_rows(place, size, m, s ? -1 : 1, w->rows + c->rows[same ? 0 : s]);
    }
}

/* Impulses of the last step at the same features. Both lists ascend by pairs. */
static void remember(const struct bo_surroundings_work *w, double dt) {
    size_t k = 0;
    for (size_t i = 0; i < w->meeting_count; i++) {
        const bo_meeting *m = &w->meetings[i];
        while (k < w->kept_count && (w->kept[k].a < m->a || (w->kept[k].a == m->a && w->kept[k].b < m->b)))
            k++;
        for (size_t l = k; l < w->kept_count && w->kept[l].a == m->a && w->kept[l].b == m->b; l++) {
            if (w->kept[l].feature != m->feature)
                continue;
            const bo_vec3 p = bo_scale(dt / w->kept_dt, w->kept[l].impulse);
            double *impulse = w->constraints[i].impulse;
            impulse[0] = fmax(0, bo_dot(p, m->normal));
            impulse[1] = bo_dot(p, m->tangents[0]), impulse[2] = bo_dot(p, m->tangents[1]);
            break;
        }
    }
}

static bough_status fill_constraints(bough_context *ctx, struct bo_surroundings_work *w, double dt) {
    size_t numbers = 0, row = 0;
    for (size_t i = 0; i < w->meeting_count; i++)
        for (int s = 0; s < 2; s++) {
            const int32_t thing = s ? w->meetings[i].b : w->meetings[i].a;
            const int32_t group = w->places[w->things[thing].place].group;
            numbers += group < 0 ? 0 : 3 * (size_t)w->groups[group].size;
        }
    if (!BO_RESERVE(ctx, w->constraints, w->constraint_capacity, w->meeting_count) ||
        !BO_RESERVE(ctx, w->rows, w->row_capacity, numbers) ||
        !BO_RESERVE(ctx, w->answers, w->answer_capacity, numbers))
        return bo_fail_memory(ctx);
    for (size_t i = 0; i < w->meeting_count; i++)
        fill_constraint(w, &w->meetings[i], dt, &row, &w->constraints[i]);
    remember(w, dt);
    return BOUGH_OK;
}

static void solve(bough_surroundings *s) {
    struct bo_surroundings_work *w = s->work;
    bo_contact_problem p = {.group_count = w->group_count,
                            .constraint_count = (int32_t)w->meeting_count,
                            .groups = w->groups,
                            .constraints = w->constraints,
                            .rows = w->rows,
                            .answers = w->answers,
                            .most_rounds = w->def.most_rounds,
                            .tolerance = w->def.tolerance,
                            .bounce_speed = w->def.bounce_speed};
    bo_contact_solve(&p);
    s->rounds = p.rounds, s->residual = p.residual;
}

/* ---- the end of a step ---- */

bo_vec3 bo_among_impulse(const struct bo_surroundings_work *w, size_t meeting) {
    const bo_meeting *m = &w->meetings[meeting];
    const bo_constraint *c = &w->constraints[meeting];
    return bo_add(bo_scale(c->impulse[0], m->normal),
                  bo_add(bo_scale(c->impulse[1], m->tangents[0]), bo_scale(c->impulse[2], m->tangents[1])));
}

static bough_status reserve_results(bough_context *ctx, bough_surroundings *s) {
    struct bo_surroundings_work *w = s->work;
    if (!BO_RESERVE(ctx, w->kept, w->kept_capacity, w->meeting_count) ||
        !BO_RESERVE(ctx, s->contacts, w->contact_capacity, w->meeting_count))
        return bo_fail_memory(ctx);
    return BOUGH_OK;
}

void bo_among_keep(bough_surroundings *s, double dt) {
    struct bo_surroundings_work *w = s->work;
    for (size_t i = 0; i < w->meeting_count; i++) {
        const bo_meeting *m = &w->meetings[i];
        bough_contact *c = &s->contacts[i];
        w->kept[i] = (bo_memory_of_impulse){m->a, m->b, m->feature, bo_among_impulse(w, i)};
        *c = bo_contact_of(w, &w->kept[i], dt);
        bo_store3(c->position, m->position);
        bo_store3(c->normal, m->normal);
        c->gap = m->gap;
    }
    s->contact_count = (int32_t)w->meeting_count;
    w->kept_count = w->meeting_count, w->kept_dt = dt;
    for (int32_t i = 0; i < s->body_count; i++)
        s->bodies[i] = w->bodies[i].next;
}

bough_status bo_among_check(bough_context *ctx, const bough_surroundings *s, int32_t end_effector_count, int32_t size,
                            double dt) {
    const struct bo_surroundings_work *w = s->work;
    if (!(dt > 0 && isfinite(dt)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the step is %g s; it must be above 0", dt);
    if (w->has_mechanism != (size >= 0) ||
        (w->has_mechanism && (size != w->size || end_effector_count != w->end_effector_count)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the surroundings were made for another model");
    return BOUGH_OK;
}

static bough_status fail_not_finite(bough_context *ctx) {
    return bo_fail(ctx, BOUGH_NOT_FINITE,
                   "a step of rigid bodies is not finite: check their forces, velocities and masses");
}

static bool rates_are_finite(const struct bo_surroundings_work *w) {
    for (int32_t g = 0; g < w->group_count; g++)
        if (!bo_all_finite(w->groups[g].size, w->groups[g].y))
            return false;
    return true;
}

bough_status bo_among_solve(bough_context *ctx, bough_surroundings *s, const bo_mover *mover, double dt) {
    struct bo_surroundings_work *w = s->work;
    if (mover) {
        memcpy(w->y, mover->y, (size_t)w->size * sizeof(double));
        w->groups[0].before = mover->before;
    }
    predict_bodies(s, dt);
    if (!rates_are_finite(w))
        return fail_not_finite(ctx);
    place_all(mover, s);
    BO_TRY(find_meetings(ctx, w, dt));
    BO_TRY(fill_constraints(ctx, w, dt));
    BO_TRY(reserve_results(ctx, s));
    if (mover && w->meeting_count > 0)
        BO_TRY(mover->answer(mover->data, &w->groups[0].inverse, &w->groups[0].least));
    solve(s);
    return move_bodies(s, dt) ? BOUGH_OK : fail_not_finite(ctx);
}

bough_status bo_among_solve_again(bough_context *ctx, bough_surroundings *s, const double *y, double dt) {
    struct bo_surroundings_work *w = s->work;
    const int32_t rounds = s->rounds;
    memcpy(w->y, y, (size_t)w->size * sizeof(double));
    predict_bodies(s, dt);
    if (!rates_are_finite(w))
        return fail_not_finite(ctx);
    solve(s);
    s->rounds += rounds;
    return move_bodies(s, dt) ? BOUGH_OK : fail_not_finite(ctx);
}

/* ---- with a reduced mechanism ---- */

typedef struct {
    const bough_mechanism_model *model;
    const bough_mechanism_state *state;
} reduced;

/* By a free base's twist (v; w) in its axes a point at r from it moves with v + w x r. */
static void move_with_base(bo_se3 base, int32_t base_size, int32_t size, bo_place *place) {
    const bo_vec3 r = bo_sub(place->pose.t, base.t);
    for (int k = 0; k < base_size; k++) {
        const bo_vec3 axis = bo_v3(base.R.m[k % 3], base.R.m[3 + k % 3], base.R.m[6 + k % 3]);
        bo_put_column(place->motion, size, k, k < 3 ? axis : bo_cross(axis, r), k < 3 ? bo_v3(0, 0, 0) : axis);
    }
}

/* H = H_base H_e0 exp(xi): by z the twist in its own axes is Jr(xi) Q_e, Jr the right Jacobian of SE(3). By a free
 * base's twist (v; w) in its axes a point at r from it moves with v + w x r. */
/* A link is at H = H_base H_base,rest^-1 (exp(t) R, p + J t): with t in axes that were the world's at rest, by z it
 * moves by exp(t) Jr(t) of its maps. The base moves along. */
static void place_link(const reduced *r, bo_place *place) {
    const bough_mechanism_model *model = r->model;
    const int32_t b = model->free_base ? 6 : 0, size = b + model->rank, link = place->index;
    const double *z = r->state->work->z + b;
    const bo_se3 rest = bo_pose(&model->rest[link]), base = bo_pose(&r->state->base),
                 moved = bo_se3_mul(base, bo_se3_inverse(bo_pose(&model->rest[model->base])));
    bo_twist t = bo_lanes_twist(model->lanes, link, 0);
    for (int32_t k = 0; k < model->rank; k++)
        t = bo_twist_mul_add(t, z[k], bo_lanes_twist(model->lanes, link, 1 + k));
    for (int32_t k = 0; k < model->motor_count; k++)
        t = bo_twist_mul_add(t, r->state->motors[k], bo_lanes_twist(model->lanes, link, 1 + model->rank + k));
    const bo_se3 bend = bo_se3_exp(t);
    const bo_mat3 axes = bo_mat_mul(moved.R, bend.R);
    place->pose = bo_se3_mul(moved, (bo_se3){bo_mat_mul(bend.R, rest.R), bo_add(rest.t, bend.t)});
    memset(place->motion, 0, 6 * (size_t)size * sizeof(double));
    for (int32_t k = 0; k < model->rank; k++) {
        const bo_twist by = bo_se3_right_jacobian(t, bo_lanes_twist(model->lanes, link, 1 + k));
        bo_put_column(place->motion, size, b + k, bo_mat_vec(axes, by.v), bo_mat_vec(axes, by.w));
    }
    move_with_base(base, b, size, place);
}

static void place_effector(const void *data, bo_place *place) {
    if (place->kind == BOUGH_CONTACT_OF_LINK) {
        place_link(data, place);
        return;
    }
    const bough_mechanism_model *model = ((const reduced *)data)->model;
    const bough_mechanism_state *state = ((const reduced *)data)->state;
    const bo_se3 base = bo_pose(&state->base);
    const int32_t b = model->free_base ? 6 : 0, size = b + model->rank, e = place->index;
    place->pose = base;
    memset(place->motion, 0, 6 * (size_t)size * sizeof(double));
    if (e != BOUGH_TOUCH_BY_BASE) {
        const bough_pose pose = bough_mechanism_state_end_effector(model, state, e);
        const bo_twist xi = bo_load_twist(state->xi + 6 * (size_t)e);
        place->pose = bo_pose(&pose);
        bo_twist jacobian[6]; /* columns */
        for (int k = 0; k < 6; k++) {
            double unit[6] = {0};
            unit[k] = 1;
            jacobian[k] = bo_se3_right_jacobian(xi, bo_load_twist(unit));
        }
        for (int32_t z = 0; z < model->rank; z++) {
            bo_twist t = {{0, 0, 0}, {0, 0, 0}};
            for (int k = 0; k < 6; k++)
                t = bo_twist_mul_add(t, model->Q[(6 * (ptrdiff_t)e + k) * model->rank + z], jacobian[k]);
            bo_put_column(place->motion, size, b + z, bo_mat_vec(place->pose.R, t.v), bo_mat_vec(place->pose.R, t.w));
        }
    }
    move_with_base(base, b, size, place);
}

/* The matrix of the step. Directions that it does not allow have an answer of rounding only: 1e-18 of the largest. */
static bough_status answer_reduced(void *data, const double **inverse, double *least) {
    const bough_mechanism_model *model = ((const reduced *)data)->model;
    const struct bo_mechanism_work *m = ((const reduced *)data)->state->work;
    double most = 0;
    for (int32_t k = 0; k < m->size; k++)
        most =
            fmax(most, m->inverse[k * m->size + k] * (k < m->size - model->rank ? 1 : model->radius * model->radius));
    *inverse = m->inverse, *least = 1e-18 * most;
    return BOUGH_OK;
}

bough_status bough_mechanism_step_among(bough_context *ctx, const bough_mechanism_model *model,
                                        bough_mechanism_state *state, bough_surroundings *s, double dt) {
    reduced r = {model, state};
    bo_mover mover = {.data = &r, .place = place_effector, .answer = answer_reduced};
    if (!model != !state)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a mechanism needs its state, and a state its model");
    BO_TRY(bo_among_check(ctx, s, model ? model->end_effector_count : 0,
                          model ? model->rank + (model->free_base ? 6 : 0) : -1, dt));
    if (model) {
        BO_TRY(bo_mechanism_predict(ctx, model, state, dt));
        mover.y = state->work->next, mover.before = state->work->rate;
    }
    BO_TRY(bo_among_solve(ctx, s, model ? &mover : NULL, dt));
    if (model) {
        if (s->work->meeting_count > 0)
            bo_mechanism_kick(model, state, dt, s->work->impulse);
        BO_TRY(bo_mechanism_finish(ctx, model, state, dt));
    }
    bo_among_keep(s, dt);
    return BOUGH_OK;
}
