/* Obstacles, free rigid bodies and the shapes of end effectors: defaults, checks, memory, numbers to save. */
#include "mechanism/surroundings.h"

#include "rig/body.h"

#include <string.h>

#define OBSTACLE_COOKIE 0xB0061072u
#define TOUCH_COOKIE 0xB0061073u
#define SURROUNDINGS_COOKIE 0xB0061074u
#define MOST_THINGS 100000

bough_obstacle_def bough_default_obstacle_def(void) {
    return (bough_obstacle_def){.cookie = OBSTACLE_COOKIE, .pose = bough_default_pose(), .friction = 0.5};
}

bough_touch_def bough_default_touch_def(void) {
    return (bough_touch_def){.cookie = TOUCH_COOKIE, .shape = bough_default_shape_def(), .friction = 0.5};
}

bough_surroundings_def bough_default_surroundings_def(void) {
    return (bough_surroundings_def){.cookie = SURROUNDINGS_COOKIE,
                                    .margin = 0.05,
                                    .correction = 0.2,
                                    .push_speed = 0.2,
                                    .bounce_speed = 0.02,
                                    .most_rounds = 200,
                                    .tolerance = 1e-5};
}

/* ---- checks ---- */

static bool is_number(double x, double lower, double upper) {
    return x >= lower && x <= upper;
}

static bough_status check_body(bough_context *ctx, const bough_rigid_body_def *body, int32_t i) {
    const bo_label name = bo_rigid_body_label("body", i, body);
    BO_TRY(bo_rigid_body_check(ctx, name.text, body, false));
    if (!is_number(body->mass, 1e-12, 1e12))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: its mass is %g kg; it must be 1e-12 to 1e12 kg", name.text,
                       body->mass);
    for (int k = 0; k < 3; k++)
        if (body->centre[k] != 0)
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                           "%s: the origin of a free body must be its centre of mass: move its shapes there",
                           name.text);
    return BOUGH_OK;
}

static bough_status check_obstacle(bough_context *ctx, const bough_obstacle_def *obstacle, int32_t i) {
    const bo_label name = bo_label_of("obstacle", i, obstacle->cookie == OBSTACLE_COOKIE ? obstacle->name : NULL);
    if (obstacle->cookie != OBSTACLE_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s was not made by bough_default_obstacle_def()", name.text);
    if (!bo_good_pose(&obstacle->pose))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: its pose needs a rotation matrix and finite numbers", name.text);
    BO_TRY(bo_check_friction(ctx, name.text, obstacle->friction));
    return bo_check_shape_count(ctx, name.text, obstacle->shape_count, obstacle->shapes);
}

static bough_status check_touch(bough_context *ctx, int32_t end_effector_count, int32_t link_count, bool has_mechanism,
                                const bough_touch_def *touch, int32_t i) {
    if (touch->cookie != TOUCH_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "touch %d was not made by bough_default_touch_def()", i);
    if (!has_mechanism)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "touch %d: there is no mechanism whose end effectors could touch", i);
    if (touch->end_effector == BOUGH_TOUCH_BY_LINK && link_count == 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "touch %d: the links of a blend do not touch; make the link an end effector", i);
    if (touch->end_effector == BOUGH_TOUCH_BY_LINK && (touch->link < 0 || touch->link >= link_count))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "touch %d: it is of link %d, but they are 0 .. %d", i, touch->link,
                       link_count - 1);
    if (touch->end_effector < BOUGH_TOUCH_BY_LINK || touch->end_effector >= end_effector_count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "touch %d: it is of end effector %d, but they are 0 .. %d", i,
                       touch->end_effector, end_effector_count - 1);
    return bo_check_friction(ctx, bo_label_of("touch", i, NULL).text, touch->friction);
}

static bough_status check_count(bough_context *ctx, const char *what, int32_t count, const void *list) {
    if (!is_number(count, 0, MOST_THINGS) || (count > 0 && !list))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "surroundings can have 0 to %d %s, not %d", MOST_THINGS, what, count);
    return BOUGH_OK;
}

static bough_status check_def(bough_context *ctx, int32_t end_effector_count, int32_t link_count, bool has_mechanism,
                              const bough_surroundings_def *def) {
    if (!def || def->cookie != SURROUNDINGS_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the surroundings were not made by bough_default_surroundings_def()");
    if (!is_number(def->margin, 0, 10) || !is_number(def->correction, 0, 1) || !is_number(def->push_speed, 0, 1e6) ||
        !is_number(def->bounce_speed, 0, 1e6) || !is_number(def->most_rounds, 1, 1000000) ||
        !is_number(def->tolerance, 0, 1))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "surroundings: margin (0 .. 10), correction (0 .. 1), the speeds (0 or more), most_rounds (1 or "
                       "more) or tolerance (0 .. 1) is out of range");
    BO_TRY(check_count(ctx, "obstacles", def->obstacle_count, def->obstacles));
    BO_TRY(check_count(ctx, "bodies", def->body_count, def->bodies));
    BO_TRY(check_count(ctx, "touches", def->touch_count, def->touches));
    for (int32_t i = 0; i < def->obstacle_count; i++)
        BO_TRY(check_obstacle(ctx, &def->obstacles[i], i));
    for (int32_t i = 0; i < def->body_count; i++)
        BO_TRY(check_body(ctx, &def->bodies[i], i));
    for (int32_t i = 0; i < def->touch_count; i++)
        BO_TRY(check_touch(ctx, end_effector_count, link_count, has_mechanism, &def->touches[i], i));
    return BOUGH_OK;
}

/* ---- making ---- */

static size_t count_things(const bough_surroundings_def *def) {
    size_t count = (size_t)def->touch_count;
    for (int32_t i = 0; i < def->obstacle_count; i++)
        count += (size_t)def->obstacles[i].shape_count;
    for (int32_t i = 0; i < def->body_count; i++)
        count += (size_t)def->bodies[i].shape_count;
    return count;
}

static bough_status allocate(bough_context *ctx, struct bo_surroundings_work *w, size_t things) {
    const size_t bodies = (size_t)w->def.body_count, size = (size_t)w->size,
                 places = (size_t)w->def.touch_count + bodies + (size_t)w->def.obstacle_count;
    w->places = BO_NEW_ZEROS(ctx, bo_place, places);
    w->things = BO_NEW_ZEROS(ctx, bo_thing, things);
    w->boxes = BO_NEW_ZEROS(ctx, bo_box, things);
    w->bodies = BO_NEW_ZEROS(ctx, bo_body, bodies);
    w->groups = BO_NEW_ZEROS(ctx, bo_group, bodies + 1);
    w->numbers = BO_NEW_ZEROS(ctx, double, 36 * bodies + 6 * size * (size_t)w->def.touch_count + 2 * size);
    const bool good = w->places && w->things && w->boxes && w->bodies && w->groups && w->numbers;
    return good ? bo_sweep_create(ctx, (int32_t)things, &w->sweep) : bo_fail_memory(ctx);
}

static bough_status add_thing(bough_context *ctx, struct bo_surroundings_work *w, const char *name,
                              const bough_shape_def *shape, double friction, double restitution) {
    bo_thing *thing = &w->things[w->thing_count];
    const bough_status status = bough_shape_create(ctx, shape, &thing->shape);
    if (status != BOUGH_OK) {
        bo_prefix_message(ctx, "%s: ", name);
        return status;
    }
    thing->place = w->place_count - 1;
    thing->friction = friction, thing->restitution = restitution;
    w->thing_count++;
    if (bo_shape_is_ground(thing->shape) && w->places[thing->place].kind != BOUGH_CONTACT_OF_OBSTACLE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "%s: planes and height fields can only be obstacles: give it a sphere, a box or a hull", name);
    return BOUGH_OK;
}

static bo_place *add_place(struct bo_surroundings_work *w, bough_contact_kind kind, int32_t index, int32_t group) {
    bo_place *place = &w->places[w->place_count++];
    place->kind = kind, place->index = index, place->group = group;
    return place;
}

/* Things that touch with one end effector or link follow each other and share a place. */
static bough_status add_touches(bough_context *ctx, struct bo_surroundings_work *w, const bough_surroundings_def *def,
                                double **numbers) {
    for (int32_t e = BOUGH_TOUCH_BY_BASE; e < w->end_effector_count; e++) {
        bool first = true;
        for (int32_t i = 0; i < def->touch_count; i++) {
            const bough_touch_def *touch = &def->touches[i];
            if (touch->end_effector != e)
                continue;
            if (first) {
                add_place(w, BOUGH_CONTACT_OF_END_EFFECTOR, e, 0)->motion = *numbers;
                *numbers += 6 * w->size;
            }
            first = false;
            BO_TRY(add_thing(ctx, w, bo_label_of("touch", i, NULL).text, &touch->shape, touch->friction, 0));
        }
    }
    for (int32_t link = 0; link < w->link_count; link++) {
        bool first = true;
        for (int32_t i = 0; i < def->touch_count; i++) {
            const bough_touch_def *touch = &def->touches[i];
            if (touch->end_effector != BOUGH_TOUCH_BY_LINK || touch->link != link)
                continue;
            if (first) {
                add_place(w, BOUGH_CONTACT_OF_LINK, link, 0)->motion = *numbers;
                *numbers += 6 * w->size;
            }
            first = false;
            BO_TRY(add_thing(ctx, w, bo_label_of("touch", i, NULL).text, &touch->shape, touch->friction, 0));
        }
    }
    return BOUGH_OK;
}

static void make_body(const bough_rigid_body_def *def, bo_body *body, bough_rigid_body *now) {
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

static bough_status add_bodies(bough_context *ctx, bough_surroundings *s, const bough_surroundings_def *def,
                               double **numbers) {
    struct bo_surroundings_work *w = s->work;
    for (int32_t i = 0; i < def->body_count; i++) {
        const bough_rigid_body_def *body = &def->bodies[i];
        bo_body *made = &w->bodies[i];
        make_body(body, made, &s->bodies[i]);
        w->groups[w->group_count] = (bo_group){6, made->inverse, made->y, made->before, made->impulse, 0};
        add_place(w, BOUGH_CONTACT_OF_BODY, i, w->group_count++)->motion = *numbers;
        *numbers += 36;
        for (int32_t k = 0; k < body->shape_count; k++)
            BO_TRY(add_thing(ctx, w, bo_label_of("body", i, body->name).text, &body->shapes[k], body->friction,
                             body->restitution));
    }
    return BOUGH_OK;
}

static bough_status add_obstacles(bough_context *ctx, struct bo_surroundings_work *w,
                                  const bough_surroundings_def *def) {
    for (int32_t i = 0; i < def->obstacle_count; i++) {
        const bough_obstacle_def *obstacle = &def->obstacles[i];
        add_place(w, BOUGH_CONTACT_OF_OBSTACLE, i, -1)->pose = bo_pose(&obstacle->pose);
        for (int32_t k = 0; k < obstacle->shape_count; k++)
            BO_TRY(add_thing(ctx, w, bo_label_of("obstacle", i, obstacle->name).text, &obstacle->shapes[k],
                             obstacle->friction, 0));
    }
    return BOUGH_OK;
}

/* What moves comes before what does not: of two that touch, the first does. */
static bough_status fill(bough_context *ctx, int32_t end_effector_count, int32_t link_count, int32_t size,
                         const bough_surroundings_def *def, bough_surroundings *s) {
    struct bo_surroundings_work *w = s->work;
    w->def = *def;
    w->def.obstacles = NULL, w->def.bodies = NULL, w->def.touches = NULL;
    w->has_mechanism = size >= 0;
    if (w->has_mechanism)
        w->end_effector_count = end_effector_count, w->link_count = link_count, w->size = size;
    const size_t things = count_things(def);
    if (things > MOST_THINGS)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "surroundings can have %d shapes, not %zu", MOST_THINGS, things);
    BO_TRY(allocate(ctx, w, things));
    s->bodies = BO_NEW_ZEROS(ctx, bough_rigid_body, def->body_count);
    if (!s->bodies)
        return bo_fail_memory(ctx);
    s->body_count = def->body_count;
    s->gravity[2] = -9.81;
    double *numbers = w->numbers;
    w->y = numbers, w->impulse = numbers + w->size, numbers += 2 * w->size;
    if (w->has_mechanism)
        w->groups[w->group_count++] = (bo_group){.size = w->size, .y = w->y, .impulse = w->impulse};
    BO_TRY(add_touches(ctx, w, def, &numbers));
    BO_TRY(add_bodies(ctx, s, def, &numbers));
    return add_obstacles(ctx, w, def);
}

bough_status bo_surroundings_make(bough_context *ctx, int32_t end_effector_count, int32_t link_count, int32_t size,
                                  const bough_surroundings_def *def, bough_surroundings **surroundings) {
    *surroundings = NULL;
    BO_TRY(check_def(ctx, end_effector_count, link_count, size >= 0, def));
    bough_surroundings *s = BO_NEW(ctx, bough_surroundings);
    if (!s)
        return bo_fail_memory(ctx);
    s->work = BO_NEW(ctx, struct bo_surroundings_work);
    const bough_status status = s->work ? fill(ctx, end_effector_count, link_count, size, def, s) : bo_fail_memory(ctx);
    if (status != BOUGH_OK) {
        bough_surroundings_destroy(ctx, s);
        return status;
    }
    *surroundings = s;
    return BOUGH_OK;
}

bough_status bo_surroundings_reserve(bough_context *ctx, bough_surroundings **surroundings, size_t count) {
    bough_surroundings *s = *surroundings;
    if ((s->work->own = BO_NEW_ZEROS(ctx, double, count)))
        return BOUGH_OK;
    bough_surroundings_destroy(ctx, s);
    *surroundings = NULL;
    return bo_fail_memory(ctx);
}

bough_status bough_surroundings_create(bough_context *ctx, const bough_mechanism_model *model,
                                       const bough_surroundings_def *def, bough_surroundings **surroundings) {
    return model ? bo_surroundings_make(ctx, model->end_effector_count, model->link_count,
                                        model->rank + (model->free_base ? 6 : 0), def, surroundings)
                 : bo_surroundings_make(ctx, 0, 0, -1, def, surroundings);
}

static void destroy_work(bough_context *ctx, struct bo_surroundings_work *w) {
    for (int32_t i = 0; i < w->thing_count; i++)
        bough_shape_destroy(ctx, w->things[i].shape);
    bo_sweep_destroy(ctx, &w->sweep);
    void *const blocks[] = {w->places,   w->things,      w->boxes, w->bodies,  w->groups, w->numbers,
                            w->meetings, w->constraints, w->rows,  w->answers, w->kept,   w->own};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
    bo_free(ctx, w);
}

void bough_surroundings_destroy(bough_context *ctx, bough_surroundings *surroundings) {
    if (!surroundings)
        return;
    if (surroundings->work)
        destroy_work(ctx, surroundings->work);
    bo_free(ctx, surroundings->bodies);
    bo_free(ctx, surroundings->contacts);
    bo_free(ctx, surroundings);
}

bough_pose bough_surroundings_body_pose(const bough_surroundings *surroundings, int32_t body) {
    return surroundings->bodies[body].pose;
}

void bough_surroundings_body_twist(const bough_surroundings *surroundings, int32_t body, double twist[6]) {
    const bough_rigid_body *b = &surroundings->bodies[body];
    bo_store3(twist, bo_mat_tvec(bo_pose(&b->pose).R, bo_load3(b->velocity)));
    bo_store3(twist + 3, bo_load3(b->spin));
}

/* ---- numbers ---- */

enum { NUMBERS_OF_ALL = 7, NUMBERS_OF_A_BODY = 24, NUMBERS_OF_AN_IMPULSE = 13 };

int64_t bough_surroundings_memory_size(const bough_surroundings *s) {
    return NUMBERS_OF_ALL + (int64_t)NUMBERS_OF_A_BODY * s->body_count +
           (int64_t)NUMBERS_OF_AN_IMPULSE * (int64_t)s->work->kept_count;
}

/* Counts first: of bodies, shapes and impulses. */
void bough_surroundings_save(const bough_surroundings *s, double *memory) {
    const struct bo_surroundings_work *w = s->work;
    double *x = memory;
    *x++ = s->body_count, *x++ = w->thing_count, *x++ = (double)w->kept_count, *x++ = w->kept_dt;
    memcpy(x, s->gravity, sizeof s->gravity);
    x += 3;
    for (int32_t i = 0; i < s->body_count; i++, x += NUMBERS_OF_A_BODY)
        memcpy(x, &s->bodies[i], sizeof s->bodies[i]);
    for (size_t i = 0; i < w->kept_count; i++, x += NUMBERS_OF_AN_IMPULSE) {
        x[0] = w->kept[i].a, x[1] = w->kept[i].b, x[2] = w->kept[i].feature;
        bo_store3(x + 3, w->kept[i].impulse);
        bo_store3(x + 6, bo_load3(s->contacts[i].position));
        bo_store3(x + 9, bo_load3(s->contacts[i].normal));
        x[12] = s->contacts[i].gap;
    }
}
_Static_assert(sizeof(bough_rigid_body) == NUMBERS_OF_A_BODY * sizeof(double), "a body is numbers only");

static bool good_impulse(const struct bo_surroundings_work *w, const double *x) {
    return is_number(x[0], 0, w->thing_count - 1) && is_number(x[1], 0, w->thing_count - 1) &&
           is_number(x[2], 0, UINT32_MAX) && bo_all_finite(NUMBERS_OF_AN_IMPULSE - 3, x + 3);
}

static bough_status check_memory(bough_context *ctx, const bough_surroundings *s, int64_t size, const double *memory) {
    const struct bo_surroundings_work *w = s->work;
    const int64_t fixed = NUMBERS_OF_ALL + (int64_t)NUMBERS_OF_A_BODY * s->body_count;
    bool good = size >= fixed && memory && memory[0] == s->body_count && memory[1] == w->thing_count &&
                memory[2] == (double)((size - fixed) / NUMBERS_OF_AN_IMPULSE) &&
                (size - fixed) % NUMBERS_OF_AN_IMPULSE == 0 && (memory[3] > 0 || size == fixed);
    for (int64_t k = 3; k < fixed && good; k++)
        good = isfinite(memory[k]);
    for (int32_t i = 0; i < s->body_count && good; i++) {
        bough_pose pose;
        memcpy(&pose, memory + NUMBERS_OF_ALL + (ptrdiff_t)NUMBERS_OF_A_BODY * i, sizeof pose);
        good = bo_good_pose(&pose);
    }
    for (int64_t k = fixed; k < size && good; k += NUMBERS_OF_AN_IMPULSE)
        good = good_impulse(w, memory + k);
    if (!good)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the numbers are not those of these surroundings");
    return BOUGH_OK;
}

bough_status bough_surroundings_restore(bough_context *ctx, bough_surroundings *s, int64_t size, const double *memory) {
    struct bo_surroundings_work *w = s->work;
    BO_TRY(check_memory(ctx, s, size, memory));
    const size_t count = (size_t)memory[2];
    const double *x = memory + NUMBERS_OF_ALL;
    if (!BO_RESERVE(ctx, w->kept, w->kept_capacity, count) || !BO_RESERVE(ctx, s->contacts, w->contact_capacity, count))
        return bo_fail_memory(ctx);
    w->kept_count = count, w->kept_dt = memory[3];
    memcpy(s->gravity, memory + 4, sizeof s->gravity);
    for (int32_t i = 0; i < s->body_count; i++, x += NUMBERS_OF_A_BODY)
        memcpy(&s->bodies[i], x, sizeof s->bodies[i]);
    for (size_t i = 0; i < count; i++, x += NUMBERS_OF_AN_IMPULSE) {
        w->kept[i] = (bo_memory_of_impulse){(int32_t)x[0], (int32_t)x[1], (uint32_t)x[2], bo_load3(x + 3)};
        s->contacts[i] = bo_contact_of(w, &w->kept[i], w->kept_dt);
        memcpy(s->contacts[i].position, x + 6, 3 * sizeof(double));
        memcpy(s->contacts[i].normal, x + 9, 3 * sizeof(double));
        s->contacts[i].gap = x[12];
    }
    s->contact_count = (int32_t)count;
    return BOUGH_OK;
}
