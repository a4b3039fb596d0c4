/* An actor of the simplest kind: a ball that does not turn. */
#ifndef BOUGH_TEST_PUCK_H
#define BOUGH_TEST_PUCK_H

#include "worlds.h"

typedef struct {
    double mass, radius, gravity;
    double x[3], v[3];           /* what is seen from outside */
    double y[3], free_y[3];      /* in a step */
    double wrong;                /* 1: the world is told that it is so many times lighter than it is, once a step */
    int rounds;                  /* in this step */
    int refuse;                  /* 1: begin, 2: answer, 3: take, 4: check fail */
    int begun, cancelled, ended; /* how often */
    int destroyed;
    bough_contact_place_def place;
    bough_contact_shape_def shape;
} puck;

static inline bough_status puck_begin(bough_context *ctx, void *data, double dt, bough_contact_rates *rates) {
    puck *p = data;
    p->begun++, p->rounds = 0;
    for (int k = 0; k < 3; k++)
        p->y[k] = p->free_y[k] = p->v[k] + (k == 2 ? dt * p->gravity : 0);
    *rates = (bough_contact_rates){3, p->free_y, p->v};
    return p->refuse == 1 ? bo_fail(ctx, BOUGH_ERROR_SINGULAR, "the puck does not begin") : BOUGH_OK;
}
static inline void puck_place(void *data, int32_t place, bough_contact_motion *motion) {
    const puck *p = data;
    check_int(place, 0);
    *motion = (bough_contact_motion){.pose = bough_default_pose()};
    memcpy(motion->pose.position, p->x, sizeof p->x);
    memcpy(motion->velocity, p->free_y, sizeof p->free_y);
}
static inline void puck_rows(const void *data, int32_t place, const double position[3], const double directions[9],
                             double sign, double *rows) {
    (void)data, (void)place, (void)position;
    for (int k = 0; k < 9; k++)
        rows[k] += sign * directions[k];
}
static inline bough_status puck_answer(bough_context *ctx, void *data, int32_t row_count, const double *rows,
                                       double *answers, double *least) {
    const puck *p = data;
    (void)least;
    for (int32_t k = 0; k < 3 * row_count; k++)
        answers[k] = rows[k] * p->wrong / p->mass;
    return p->refuse == 2 ? bo_fail(ctx, BOUGH_ERROR_SINGULAR, "the puck does not answer") : BOUGH_OK;
}
/* Rates without contact that, with an answer that is wrong, lead to where the right ones would be. */
static inline bough_status puck_take(bough_context *ctx, void *data, double dt, const double *impulse,
                                     int32_t push_count, const bough_contact_push *pushes, const double **again) {
    puck *p = data;
    static double better[3];
    double sum[3] = {0};
    for (int32_t i = 0; i < push_count; i++)
        for (int k = 0; k < 3; k++)
            sum[k] += dt * pushes[i].force[k];
    for (int k = 0; k < 3; k++) {
        check_near(sum[k], impulse[k], 1e-12 * (1 + fabs(impulse[k]))); /* its rates are its velocity */
        p->y[k] = p->free_y[k] + impulse[k] / p->mass;
        better[k] = p->y[k] - impulse[k] * p->wrong / p->mass;
    }
    if (p->wrong != 1 && p->rounds++ < 40)
        *again = better;
    return p->refuse == 3 ? bo_fail(ctx, BOUGH_ERROR_SINGULAR, "the puck does not take it") : BOUGH_OK;
}
static inline bough_status puck_check(bough_context *ctx, void *data, double dt) {
    const puck *p = data;
    (void)dt;
    return p->refuse == 4 ? bo_fail(ctx, BOUGH_ERROR_SINGULAR, "the puck does not agree") : BOUGH_OK;
}
static inline void puck_commit(void *data, double dt) {
    puck *p = data;
    p->ended++;
    for (int k = 0; k < 3; k++)
        p->v[k] = p->y[k], p->x[k] += dt * p->v[k];
}
static inline void puck_cancel(void *data) {
    ((puck *)data)->cancelled++;
}
static inline void puck_destroy(bough_context *ctx, void *data) {
    (void)ctx;
    ((puck *)data)->destroyed++;
}

static const bough_contact_table puck_table = {.begin = puck_begin,
                                               .place = puck_place,
                                               .rows = puck_rows,
                                               .answer = puck_answer,
                                               .take = puck_take,
                                               .check = puck_check,
                                               .commit = puck_commit,
                                               .cancel = puck_cancel,
                                               .destroy = puck_destroy};

static inline puck new_puck(double mass, double radius, bo_vec3 x, bo_vec3 v) {
    puck p = {.mass = mass, .radius = radius, .wrong = 1};
    bo_store3(p.x, x), bo_store3(p.v, v);
    return p;
}
static inline bough_contact_actor *add_puck(plan *plan_, puck *p) {
    bough_contact_actor *actor = &plan_->actors[plan_->def.actor_count++];
    p->place = (bough_contact_place_def){BOUGH_CONTACT_OF_PART, 7};
    p->shape = (bough_contact_shape_def){.number = 3, .shape = sphere_def(p->radius), .friction = 0.5};
    *actor = bough_default_contact_actor();
    actor->table = &puck_table, actor->data = p;
    actor->most_rates = 3;
    actor->place_count = actor->shape_count = 1;
    actor->places = &p->place, actor->shapes = &p->shape;
    return actor;
}

#endif
