/* A multibody system in a contact world: its bodies touch. docs/theory/contact.md, "Multibody systems".
 *
 * Rates are the velocities V. A step that touches nothing is BDF2's; where something touches, the step is found anew by
 * backward Euler, since BDF2 would hand a part of each impulse on to the next step. */
#include "multibody/multibody.h"

#include "base/pose.h"

#include <string.h>

enum { MOST_ROUNDS = 6 };
#define SETTLED 1e-7 /* of the impulses: a round that changes them less is the last */
#define RIGID 1e-9   /* of the lightest body's answer: what answers less is held by motors and joints */

typedef struct {
    bo_mb_state *s;
    int32_t place_count, shape_count;
    bough_contact_place_def *places;
    bough_contact_shape_def *shapes;
    double dt;
    bool touched;   /* the step is backward Euler's */
    int round;      /* of searches under impulses, in this step */
    double *y;      /* nv: velocities without contact */
    double *last;   /* nv: impulses that the search knows */
    double *answer; /* nv */
} touching;

static bough_status begin(bough_context *ctx, void *data, double dt, bough_contact_rates *rates) {
    touching *t = data;
    bo_mb_state *s = t->s;
    if (s->method)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "contact needs the multibody engine's own steps");
    const size_t bytes = (size_t)s->model->nv * sizeof(double);
    s->face.iterations = s->face.factors = 0;
    memset(s->push, 0, bytes), memset(t->last, 0, bytes);
    t->dt = dt, t->touched = false, t->round = 0;
    BO_TRY(bo_mb_find_step(ctx, s, dt, false));
    memcpy(t->y, s->v_next, bytes);
    *rates = (bough_contact_rates){s->model->nv, t->y, s->face.v};
    return BOUGH_OK;
}

static bo_vec3 origin_of(const touching *t, int32_t place) {
    return bo_load3(t->s->face.u + 7 * t->places[place].index);
}

static void place(void *data, int32_t number, bough_contact_motion *motion) {
    const touching *t = data;
    const int32_t body = t->places[number].index;
    const double *u = t->s->face.u + 7 * body;
    motion->pose = bo_put_pose((bo_se3){bo_quat_to_matrix((bo_quat){u[3], u[4], u[5], u[6]}), bo_load3(u)});
    memcpy(motion->velocity, t->y + 6 * body, sizeof motion->velocity);
    memcpy(motion->spin, t->y + 6 * body + 3, sizeof motion->spin);
}

/* d . (v + w x r) = d . v + (r x d) . w */
static void rows(const void *data, int32_t place, const double position[3], const double directions[9], double sign,
                 double *out) {
    const touching *t = data;
    const bo_vec3 r = bo_sub(bo_load3(position), origin_of(t, place));
    for (int i = 0; i < 3; i++) {
        const bo_vec3 d = bo_load3(directions + 3 * i);
        double *to = out + (int64_t)t->s->model->nv * i + 6 * t->places[place].index;
        bo_store3(to, bo_mul_add(bo_load3(to), sign, d));
        bo_store3(to + 3, bo_mul_add(bo_load3(to + 3), sign, bo_cross(r, d)));
    }
}

/* An impulse p is a force p / dt of the step: its answer is (matrix of the step)^-1 p / dt. */
static void answer_to(const touching *t, const double *impulse, double *answer) {
    bo_mb_state *s = t->s;
    const int32_t n = s->model->nv;
    for (int32_t k = 0; k < n; k++)
        answer[k] = impulse[k] / s->h;
    bo_mb_solve(s->model, &s->work, answer, s->zeros_c, answer, s->lambda_trial);
}

static bough_status answer(bough_context *ctx, void *data, int32_t row_count, const double *given, double *answers,
                           double *least) {
    touching *t = data;
    bo_mb_state *s = t->s;
    const int32_t n = s->model->nv;
    if (!t->touched) {
        t->touched = true;
        s->factored_h = 0;
        BO_TRY(bo_mb_find_step(ctx, s, t->dt, true));
        memcpy(t->y, s->v_next, (size_t)n * sizeof(double));
    }
    double lightest = 0;
    for (int32_t i = 0; i < t->place_count; i++)
        if (s->model->bodies[t->places[i].index].mass > 0)
            lightest = fmax(lightest, 1 / s->model->bodies[t->places[i].index].mass);
    *least = RIGID * lightest;
    for (int32_t i = 0; i < row_count; i++)
        answer_to(t, given + (int64_t)n * i, answers + (int64_t)n * i);
    return BOUGH_OK;
}

/* The matrix by which impulses are found is symmetric, that of the step not quite, and the first rates were BDF2's: so
 * impulses are found again from where they led to, until they stay. */
static bough_status take(bough_context *ctx, void *data, double dt, const double *impulse, int32_t push_count,
                         const bough_contact_push *pushes, const double **again) {
    touching *t = data;
    bo_mb_state *s = t->s;
    const int32_t n = s->model->nv;
    double changed = 0, most = 0;
    (void)push_count, (void)pushes;
    for (int32_t k = 0; k < n; k++) {
        const double unit = s->model->units[k];
        changed = fmax(changed, fabs(impulse[k] - t->last[k]) * unit), most = fmax(most, fabs(impulse[k]) * unit);
        s->push[k] = impulse[k] / dt, t->last[k] = impulse[k];
    }
    BO_TRY(bo_mb_search_step(ctx, s, dt));
    if (t->round > 0 && (changed <= SETTLED * most || t->round == MOST_ROUNDS - 1))
        return BOUGH_OK;
    t->round++;
    answer_to(t, impulse, t->answer);
    for (int32_t k = 0; k < n; k++)
        t->y[k] = s->v_next[k] - t->answer[k];
    *again = t->y;
    return BOUGH_OK;
}

static void commit(void *data, double dt) {
    touching *t = data;
    bo_mb_accept_step(t->s, dt);
    memset(t->s->push, 0, (size_t)t->s->model->nv * sizeof(double));
    if (t->touched) /* the next step does not look back across an impact */
        t->s->h_before = 0;
}

static void cancel(void *data) {
    touching *t = data;
    memset(t->s->push, 0, (size_t)t->s->model->nv * sizeof(double));
    t->s->factored_h = 0;
}

static void destroy(bough_context *ctx, void *data) {
    touching *t = data;
    bo_free(ctx, t->places);
    bo_free(ctx, t->shapes);
    bo_free(ctx, t->y);
    bo_free(ctx, t);
}

static const bough_contact_table table = {.begin = begin,
                                          .place = place,
                                          .rows = rows,
                                          .answer = answer,
                                          .take = take,
                                          .commit = commit,
                                          .cancel = cancel,
                                          .destroy = destroy};

/* Places are the bodies that have shapes, in the order of the shapes. */
static bough_status make(bough_context *ctx, const bough_multibody *model, int32_t count,
                         const bough_contact_shape_def *shapes, touching *t) {
    const size_t n = (size_t)model->nv;
    if (!(t->places = BO_NEW_ARRAY(ctx, bough_contact_place_def, count)) ||
        !(t->shapes = BO_NEW_ARRAY(ctx, bough_contact_shape_def, count)) || !(t->y = BO_NEW_ZEROS(ctx, double, 3 * n)))
        return BOUGH_ERROR_MEMORY;
    t->last = t->y + n, t->answer = t->last + n;
    for (int32_t i = 0; i < count; i++) {
        const int32_t body = shapes[i].place;
        if (body < 0 || body >= model->def.body_count || (i > 0 && body < shapes[i - 1].place))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "shape %d lies on body %d; shapes lie on bodies 0 to %d, in ascending order", i, body,
                           model->def.body_count - 1);
        if (i == 0 || body != shapes[i - 1].place)
            t->places[t->place_count++] = (bough_contact_place_def){BOUGH_CONTACT_OF_LINK, body};
        t->shapes[i] = shapes[i];
        t->shapes[i].place = t->place_count - 1;
    }
    t->shape_count = count;
    return BOUGH_OK;
}

bough_status bough_multibody_actor_create(bough_context *ctx, const bough_multibody *model,
                                          bough_multibody_state *state, int32_t shape_count,
                                          const bough_contact_shape_def *shapes, bough_contact_actor *actor) {
    memset(actor, 0, sizeof *actor);
    touching *t = BO_NEW(ctx, touching);
    if (!t)
        return bo_fail_memory(ctx);
    t->s = bo_mb(state);
    const bough_status status = make(ctx, model, shape_count, shapes, t);
    if (status != BOUGH_OK) {
        destroy(ctx, t);
        return status;
    }
    *actor = bough_default_contact_actor();
    actor->table = &table, actor->data = t, actor->most_rates = model->nv;
    actor->place_count = t->place_count, actor->places = t->places;
    actor->shape_count = t->shape_count, actor->shapes = t->shapes;
    return BOUGH_OK;
}
