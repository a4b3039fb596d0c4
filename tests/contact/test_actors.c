/* Actors of contact worlds: what takes part by its table. */
#include "puck.h"

/* ---- pucks ---- */

/* A puck that takes part by its table behaves as a body of its mass: it hands over momentum, rests on the ground, and
 * two of them stop each other. */
static void actors_push_and_are_pushed(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int wrong = 0; wrong < 2; wrong++) {
        plan *p = new_plan();
        puck a = new_puck(2, 0.1, bo_v3(-1, 0, 0), bo_v3(3, 0, 0)),
             b = new_puck(0.5, 0.1, bo_v3(0.4, 0, 0), bo_v3(0, 0, 0));
        a.wrong = wrong ? 1.5 : 1; /* what it says about itself is not right, and it asks for another search */
        add_puck(p, &a), add_puck(p, &b);
        bough_rigid_body_def *ball = add_body(ctx, p, sphere_def(0.1), 500, placed(0, 0.02, 0.03));
        bough_contact_world *w = make_world(ctx, p);
        memset(w->gravity, 0, sizeof w->gravity);
        int between = 0;
        for (int i = 0; i < 400; i++) {
            run(ctx, w, 0.002, 1);
            for (int32_t k = 0; k < w->contact_count; k++)
                between += w->contacts[k].sides[0].actor == 0 &&
                           w->contacts[k].sides[1].kind == BOUGH_CONTACT_OF_BODY &&
                           w->contacts[k].sides[0].kind == BOUGH_CONTACT_OF_PART &&
                           w->contacts[k].sides[0].index == 7 && w->contacts[k].force[0] < 0;
            const bo_vec3 sum = bo_add(bo_scale(ball->mass, velocity_of(w, 0)),
                                       bo_add(bo_scale(a.mass, bo_load3(a.v)), bo_scale(b.mass, bo_load3(b.v))));
            check_below(bo_norm(bo_sub(sum, bo_v3(6, 0, 0))), 1e-13);
        }
        check(between > 0);
        check(a.v[0] < 2.9 && b.v[0] > 0.1);
        check(b.x[0] - a.x[0] > 0.19);
        check_int(a.begun, 400);
        check_int(a.ended, 400);
        check_int(a.cancelled, 0);
        bough_contact_world_destroy(ctx, w);
        check_int(a.destroyed, 1);
        check_int(b.destroyed, 1);
        free(p);
    }
    bough_context_destroy(ctx);
}

/* Two pucks on the ground: the one whose first answer is wrong comes to rest there as the other does. */
static void an_actor_may_correct_its_answer(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    plan *p = new_plan();
    puck a = new_puck(2, 0.1, bo_v3(0, 0, 0.3), bo_v3(0, 0, 0)), b = new_puck(2, 0.1, bo_v3(5, 0, 0.3), bo_v3(0, 0, 0));
    a.gravity = b.gravity = -9.81, a.wrong = 1.5;
    add_puck(p, &a), add_puck(p, &b);
    add_obstacle(p, plane_def(), bo_se3_identity());
    bough_contact_world *w = make_world(ctx, p);
    run(ctx, w, 0.005, 200);
    check_near(a.x[2], 0.1, 1e-9);
    check_near(b.x[2], 0.1, 1e-9);
    check_int(w->contact_count, 2);
    check_int(w->island_count, 2);
    for (int k = 0; k < 2; k++)
        check_near(w->contacts[k].force[2], 2 * 9.81, 1e-6);
    bough_contact_world_destroy(ctx, w);
    free(p);
    bough_context_destroy(ctx);
}

/* ---- an actor that touches itself ---- */

/* Two balls on the axis x that one coordinate moves, one each way: a gripper. A force closes it. */
typedef struct {
    double mass, radius, force; /* of each ball; on the coordinate */
    double x, v, free_v, y;     /* half of the distance, its rate; in a step */
    bough_contact_place_def places[2];
    bough_contact_shape_def shapes[2];
} jaws;

static double way_of(int32_t place) {
    return place ? -1 : 1;
}
static bough_status jaws_begin(bough_context *ctx, void *data, double dt, bough_contact_rates *rates) {
    jaws *j = data;
    (void)ctx;
    j->y = j->free_v = j->v - dt * j->force / (2 * j->mass);
    *rates = (bough_contact_rates){1, &j->free_v, &j->v};
    return BOUGH_OK;
}
static void jaws_place(void *data, int32_t place, bough_contact_motion *motion) {
    const jaws *j = data;
    *motion = (bough_contact_motion){.pose = bough_default_pose()};
    motion->pose.position[0] = way_of(place) * j->x;
    motion->velocity[0] = way_of(place) * j->free_v;
}
static void jaws_rows(const void *data, int32_t place, const double position[3], const double directions[9],
                      double sign, double *rows) {
    (void)data, (void)position;
    for (int k = 0; k < 3; k++)
        rows[k] += sign * way_of(place) * directions[3 * k];
}
static bough_status jaws_answer(bough_context *ctx, void *data, int32_t row_count, const double *rows, double *answers,
                                double *least) {
    const jaws *j = data;
    (void)ctx, (void)least;
    for (int32_t k = 0; k < row_count; k++)
        answers[k] = rows[k] / (2 * j->mass);
    return BOUGH_OK;
}
static bough_status jaws_take(bough_context *ctx, void *data, double dt, const double *impulse, int32_t push_count,
                              const bough_contact_push *pushes, const double **again) {
    jaws *j = data;
    double sum = 0;
    (void)ctx, (void)again;
    for (int32_t i = 0; i < push_count; i++)
        sum += dt * way_of(pushes[i].place) * pushes[i].force[0];
    check_near(sum, impulse[0], 1e-12 * (1 + fabs(impulse[0])));
    j->y = j->free_v + impulse[0] / (2 * j->mass);
    return BOUGH_OK;
}
static void jaws_commit(void *data, double dt) {
    jaws *j = data;
    j->v = j->y, j->x += dt * j->v;
}
static const bough_contact_table jaws_table = {.begin = jaws_begin,
                                               .place = jaws_place,
                                               .rows = jaws_rows,
                                               .answer = jaws_answer,
                                               .take = jaws_take,
                                               .commit = jaws_commit};

static void add_jaws(plan *p, jaws *j, bool touches_itself) {
    bough_contact_actor *actor = &p->actors[p->def.actor_count++];
    for (int i = 0; i < 2; i++) {
        j->places[i] = (bough_contact_place_def){BOUGH_CONTACT_OF_PART, i};
        j->shapes[i] = (bough_contact_shape_def){.place = i, .shape = sphere_def(j->radius), .friction = 0.5};
    }
    *actor = bough_default_contact_actor();
    actor->table = &jaws_table, actor->data = j, actor->touches_itself = touches_itself;
    actor->most_rates = 1, actor->place_count = actor->shape_count = 2;
    actor->places = j->places, actor->shapes = j->shapes;
}

/* Jaws that one coordinate moves both ways close until they touch and hold each other with half of its force; so they
 * hold a ball between them. Without leave to touch each other they pass. */
static void an_actor_may_touch_itself(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int held = 0; held < 3; held++) { /* nothing, a ball, nothing and no touch */
        plan *p = new_plan();
        jaws j = {.mass = 0.3, .radius = 0.1, .force = 8, .x = 0.3};
        add_jaws(p, &j, held < 2);
        if (held == 1)
            add_body(ctx, p, sphere_def(0.05), 500, placed(0.01, 0, 0));
        bough_contact_world *w = make_world(ctx, p);
        memset(w->gravity, 0, sizeof w->gravity);
        run(ctx, w, 0.005, 200);
        if (held == 2) {
            check(j.x < -1);
            check_int(w->contact_count, 0);
        } else {
            check_near(j.x, held ? 0.15 : 0.1, 1e-8);
            check_near(j.v, 0, 1e-8);
            check_int(w->contact_count, 1 + held);
            for (int32_t i = 0; i < w->contact_count; i++)
                check_near(bo_norm(bo_load3(w->contacts[i].force)), 4, 1e-13);
            check_int(w->island_count, 1);
        }
        bough_contact_world_destroy(ctx, w);
        free(p);
    }
    bough_context_destroy(ctx);
}

/* ---- hostile input ---- */

/* An actor that makes no sense is refused by its name, and destroyed all the same. */
static void hostile_actors_are_refused(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    for (int k = 0; k < 10; k++) {
        plan *p = new_plan();
        bough_contact_world *w = NULL;
        puck a = new_puck(1, 0.1, bo_v3(0, 0, 0), bo_v3(0, 0, 0));
        bough_contact_actor *actor = add_puck(p, &a);
        bough_contact_table table = puck_table;
        actor->table = &table;
        const char *const parts[] = {"bough_default_contact_actor",
                                     "its table needs",
                                     "rates",
                                     "places",
                                     "shape 3: it is of place 1",
                                     "friction",
                                     "restitution",
                                     "shape 3: the radius",
                                     "kind 0",
                                     "only be obstacles"};
        if (k == 0)
            actor->cookie = 1;
        if (k == 1)
            table.rows = NULL;
        if (k == 2)
            actor->most_rates = -1;
        if (k == 3)
            actor->places = NULL;
        if (k == 4)
            a.shape.place = 1;
        if (k == 5)
            a.shape.friction = NAN;
        if (k == 6)
            a.shape.restitution = -0.1;
        if (k == 7)
            a.shape.shape.radius = -1;
        if (k == 8)
            a.place.kind = BOUGH_CONTACT_OF_OBSTACLE;
        if (k == 9)
            a.shape.shape = plane_def();
        check_fails(ctx, bough_contact_world_create(ctx, &p->def, &w), BOUGH_ERROR_ARGUMENT, parts[k]);
        check(!w);
        check_int(a.destroyed, k > 0); /* what is no actor is left alone */
        free(p);
    }
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(actors_push_and_are_pushed),
        cmocka_unit_test(an_actor_may_correct_its_answer),
        cmocka_unit_test(an_actor_may_touch_itself),
        cmocka_unit_test(hostile_actors_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
