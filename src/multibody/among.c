/* A multibody system in a contact world: its bodies and parts touch. docs/theory/contact.md, "Multibody systems".
 *
 * Rates are the velocities V. A step that touches nothing is BDF2's; where something touches, the step is found anew by
 * backward Euler, since BDF2 would hand a part of each impulse on to the next step. */
#include "multibody/multibody.h"

#include "base/pose.h"

#include <string.h>

enum { MOST_ROUNDS = 6 };
#define SETTLED 1e-7   /* of the impulses: a round that changes them less is the last */
#define UNSETTLED 1e-2 /* likewise: what still changes more after all rounds is no step */
#define RIGID 1e-9     /* of the lightest body's answer: what answers less is held by motors and joints */

/* A place: a rigid body, or the samples of a part. */
typedef struct {
    int32_t body; /* BOUGH_WORLD: none */
    double mass;  /* kg */
    bool sampled; /* it touches with these: */
    bo_mb_samples samples;
} spot;

typedef struct {
    bo_mb_state *s;
    spot *spots; /* places */
    int32_t place_count, shape_count, field_count;
    bo_field **fields; /* of the components whose parts touch each other, each once */
    bough_contact_place_def *places;
    bough_contact_shape_def *shapes;
    double dt;
    bool touched;   /* the step is backward Euler's */
    int round;      /* of searches under impulses, in this step */
    double *y;      /* nv: velocities without contact */
    double *last;   /* nv: impulses that the search knows */
    double *answer; /* nv */
    double *start;  /* nv, then nc multipliers: where the step was found without impulses */
    double *values; /* the factor by which the world knows the answers, and its pivots. A search may make a new one */
    int32_t *pivots;
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
    return bo_load3(t->s->face.u + 7 * t->spots[place].body);
}

static void place(void *data, int32_t number, bough_contact_motion *motion) {
    const touching *t = data;
    const spot *at = &t->spots[number];
    const int32_t body = at->body;
    if (at->sampled) {
        bo_vec3 centre;
        bo_mb_samples_sphere(t->s->model, &at->samples, t->s->face.u, t->y, &centre, &motion->radius, &motion->speed);
        bo_store3(motion->centre, centre);
        if (at->samples.field)
            bo_mb_samples_bend(t->s->model, &t->spots[number].samples, t->s->face.u);
        motion->pose = bough_default_pose();
        return;
    }
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
        double *to = out + (int64_t)t->s->model->nv * i + 6 * t->spots[place].body;
        bo_store3(to, bo_mul_add(bo_load3(to), sign, d));
        bo_store3(to + 3, bo_mul_add(bo_load3(to + 3), sign, bo_cross(r, d)));
    }
}

static void points(void *data, int32_t place, int32_t count, double *positions, double *velocities) {
    const touching *t = data;
    (void)count;
    bo_mb_samples_points(t->s->model, &t->spots[place].samples, t->s->face.u, t->y, positions, velocities);
}

static void point_rows(const void *data, int32_t place, int32_t point, const double directions[9], double sign,
                       double *out) {
    const touching *t = data;
    bo_mb_samples_rows(t->s->model, &t->spots[place].samples, t->s->face.u, point, directions, sign, out);
}

static bool near(void *data, int32_t place, const double position[3], double within, bough_contact_near *found) {
    const touching *t = data;
    return bo_mb_samples_near(&t->spots[place].samples, t->s->face.u, bo_load3(position), within, found);
}

static void near_rows(const void *data, int32_t place, const bough_contact_near *found, const double position[3],
                      const double directions[9], double sign, double *out) {
    const touching *t = data;
    bo_mb_samples_near_rows(t->s->model, &t->spots[place].samples, t->s->face.u, found, bo_load3(position), directions,
                            sign, out);
}

/* An impulse p is a force p / dt of the step: its answer is (matrix of the step)^-1 p / dt. */
static void answer_to(const touching *t, const double *impulse, double *answer) {
    bo_mb_state *s = t->s;
    const int32_t n = s->model->nv;
    double *const values = s->work.lu.values;
    int32_t *const pivots = s->work.lu.pivots;
    for (int32_t k = 0; k < n; k++)
        answer[k] = impulse[k] / s->h;
    s->work.lu.values = t->values, s->work.lu.pivots = t->pivots;
    bo_mb_solve(s->model, &s->work, answer, s->zeros_c, answer, s->lambda_trial);
    s->work.lu.values = values, s->work.lu.pivots = pivots;
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
        memcpy(t->start, s->v_next, (size_t)n * sizeof(double));
        memcpy(t->start + n, s->lambda_next, (size_t)s->model->nc * sizeof(double));
    }
    memcpy(t->values, s->work.lu.values, (size_t)s->work.lu.value_count * sizeof *t->values);
    memcpy(t->pivots, s->work.lu.pivots, (size_t)s->work.lu.size * sizeof *t->pivots);
    double lightest = 0;
    for (int32_t i = 0; i < t->place_count; i++)
        if (t->spots[i].mass > 0)
            lightest = fmax(lightest, 1 / t->spots[i].mass);
    *least = RIGID * lightest;
    for (int32_t i = 0; i < row_count; i++)
        answer_to(t, given + (int64_t)n * i, answers + (int64_t)n * i);
    return BOUGH_OK;
}

/* Finds the step under the impulses from the rates that the world expects. Where Newton's method gets lost, it begins
 * anew without impulses, and these grow to what they are in 4, then in 16 parts. */
static bough_status search(bough_context *ctx, touching *t, double dt) {
    bo_mb_state *s = t->s;
    const int32_t n = s->model->nv;
    bough_status status = bo_mb_search_step(ctx, s, dt);
    for (int parts = 4; status == BOUGH_NO_CONVERGENCE && parts <= 16; parts *= 4) {
        memcpy(s->v_next, t->start, (size_t)n * sizeof(double));
        memcpy(s->lambda_next, t->start + n, (size_t)s->model->nc * sizeof(double));
        s->factored_h = 0, status = BOUGH_OK;
        for (int i = 1; i <= parts && status == BOUGH_OK; i++) {
            for (int32_t k = 0; k < n; k++)
                s->push[k] = t->last[k] / dt * i / parts;
            status = bo_mb_search_step(ctx, s, dt);
        }
    }
    return status;
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
        s->push[k] = impulse[k] / dt;
        t->answer[k] = impulse[k] - t->last[k], t->last[k] = impulse[k];
    }
    answer_to(t, t->answer, t->answer); /* the search begins where the world expects the rates to be */
    for (int32_t k = 0; k < n; k++)
        s->v_next[k] += t->answer[k];
    BO_TRY(search(ctx, t, dt));
    if (t->round > 0 && (changed <= SETTLED * most || t->round == MOST_ROUNDS - 1))
        return changed <= UNSETTLED * most
                   ? BOUGH_OK
                   : bo_fail(ctx, BOUGH_NO_CONVERGENCE, "the impulses of contacts still change by %.2g of the largest",
                             changed / most);
    t->round++;
    bo_mb_lead_to_momenta(s, dt);
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
    for (int32_t i = 0; t->spots && i < t->place_count; i++)
        bo_mb_samples_free(ctx, &t->spots[i].samples);
    for (int32_t i = 0; i < t->field_count; i++)
        bo_field_destroy(ctx, t->fields[i]);
    bo_free(ctx, t->fields);
    bo_free(ctx, t->spots);
    bo_free(ctx, t->values);
    bo_free(ctx, t->pivots);
    bo_free(ctx, t->places);
    bo_free(ctx, t->shapes);
    bo_free(ctx, t->y);
    bo_free(ctx, t);
}

static const bough_contact_table table = {.begin = begin,
                                          .place = place,
                                          .rows = rows,
                                          .points = points,
                                          .point_rows = point_rows,
                                          .near = near,
                                          .near_rows = near_rows,
                                          .answer = answer,
                                          .take = take,
                                          .commit = commit,
                                          .cancel = cancel,
                                          .destroy = destroy};

/* ---- making ---- */

/* Which of the model's rigid bodies stand for parts: from `first` on; -1: none. */
typedef struct {
    int32_t first;
    const bough_flexible_def *parts;
} stiff_parts;

/* Adds a place: a body, or a part, which are numbered in one list. */
static bough_status add_spot(bough_context *ctx, const bough_multibody *model, stiff_parts stiff, int32_t thing,
                             touching *t) {
    const int32_t bodies = model->def.body_count, part = thing < bodies ? -1 : thing - bodies;
    const bool stands = part < 0 && stiff.first >= 0 && thing >= stiff.first;
    spot *at = &t->spots[t->place_count];
    t->places[t->place_count++] =
        part < 0 && !stands ? (bough_contact_place_def){BOUGH_CONTACT_OF_LINK, thing}
                            : (bough_contact_place_def){BOUGH_CONTACT_OF_PART, stands ? thing - stiff.first : part};
    at->body = part < 0 ? thing : model->parts[part].body;
    at->mass = part < 0 ? model->bodies[thing].mass : model->parts[part].mass;
    at->sampled = part >= 0 || stands;
    if (!at->sampled)
        return BOUGH_OK;
    const bough_component *component =
        stands ? stiff.parts[thing - stiff.first].component : model->parts[part].component;
    const bough_status status = bo_mb_samples_make(ctx, model, at->body, part, component, &at->samples);
    const char *name = stands ? stiff.parts[thing - stiff.first].name : model->def.parts[part].name;
    if (status != BOUGH_OK)
        bo_prefix_message(ctx, "%s: ", bo_label_of("part", stands ? thing - stiff.first : part, name).text);
    return status;
}

/* Finds the field of a part's component, or makes it: parts of one component share it. */
static bough_status give_field(bough_context *ctx, int32_t place, touching *t) {
    bo_mb_samples *samples = &t->spots[place].samples;
    for (int32_t i = 0; i < place && !samples->field; i++)
        if (t->spots[i].sampled && t->spots[i].samples.component == samples->component)
            samples->field = t->spots[i].samples.field;
    if (!samples->field) {
        BO_TRY(bo_mb_samples_field(ctx, samples->component, &t->fields[t->field_count]));
        samples->field = t->fields[t->field_count++];
    }
    samples->now = BO_NEW_ZEROS(ctx, double, 3 * (size_t)samples->count);
    return samples->now ? BOUGH_OK : bo_fail_memory(ctx);
}

/* Parts touch each other where there are two or more. */
static bough_status give_fields(bough_context *ctx, touching *t) {
    int32_t sampled = 0;
    for (int32_t i = 0; i < t->place_count; i++)
        sampled += t->spots[i].sampled;
    if (sampled < 2)
        return BOUGH_OK;
    if (!(t->fields = BO_NEW_ZEROS(ctx, bo_field *, sampled)))
        return bo_fail_memory(ctx);
    for (int32_t i = 0; i < t->place_count; i++)
        if (t->spots[i].sampled)
            BO_TRY(give_field(ctx, i, t));
    for (int32_t i = 0; i < t->shape_count; i++)
        t->shapes[i].solid = t->spots[t->shapes[i].place].sampled;
    return BOUGH_OK;
}

/* Places are the bodies and parts that have shapes, in the order of the shapes. */
static bough_status make(bough_context *ctx, const bough_multibody *model, stiff_parts stiff, int32_t count,
                         const bough_contact_shape_def *shapes, touching *t) {
    const size_t n = (size_t)model->nv;
    const int32_t things = model->def.body_count + model->def.part_count;
    if (!(t->places = BO_NEW_ARRAY(ctx, bough_contact_place_def, count)) ||
        !(t->spots = BO_NEW_ZEROS(ctx, spot, count)) ||
        !(t->shapes = BO_NEW_ARRAY(ctx, bough_contact_shape_def, count)) ||
        !(t->y = BO_NEW_ZEROS(ctx, double, 4 * n + (size_t)model->nc)))
        return BOUGH_ERROR_MEMORY;
    if (!(t->values = BO_NEW_ARRAY(ctx, double, t->s->work.lu.value_count)) ||
        !(t->pivots = BO_NEW_ARRAY(ctx, int32_t, t->s->work.lu.size)))
        return BOUGH_ERROR_MEMORY;
    t->last = t->y + n, t->answer = t->last + n, t->start = t->answer + n;
    for (int32_t i = 0; i < count; i++) {
        const int32_t thing = shapes[i].place;
        if (thing < 0 || thing >= things || (i > 0 && thing < shapes[i - 1].place))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "shape %d lies on body or part %d; shapes lie on bodies and parts 0 to %d, in ascending "
                           "order",
                           i, thing, things - 1);
        if (i == 0 || thing != shapes[i - 1].place)
            BO_TRY(add_spot(ctx, model, stiff, thing, t));
        const spot *at = &t->spots[t->place_count - 1];
        t->shapes[i] = shapes[i];
        t->shapes[i].place = t->place_count - 1;
        t->shapes[i].point_count = at->sampled ? at->samples.count : 0;
    }
    t->shape_count = count;
    return give_fields(ctx, t);
}

bough_status bo_mb_actor_create(bough_context *ctx, const bough_multibody *model, bough_multibody_state *state,
                                int32_t first, const bough_flexible_def *parts, int32_t shape_count,
                                const bough_contact_shape_def *shapes, bough_contact_actor *actor) {
    memset(actor, 0, sizeof *actor);
    touching *t = BO_NEW(ctx, touching);
    if (!t)
        return bo_fail_memory(ctx);
    t->s = bo_mb(state);
    const bough_status status = make(ctx, model, (stiff_parts){first, parts}, shape_count, shapes, t);
    if (status != BOUGH_OK) {
        destroy(ctx, t);
        return status;
    }
    bo_mb_keep_momenta(t->s);
    *actor = bough_default_contact_actor();
    actor->table = &table, actor->data = t, actor->most_rates = model->nv;
    actor->place_count = t->place_count, actor->places = t->places;
    actor->shape_count = t->shape_count, actor->shapes = t->shapes;
    return BOUGH_OK;
}

bough_status bough_multibody_actor_create(bough_context *ctx, const bough_multibody *model,
                                          bough_multibody_state *state, int32_t shape_count,
                                          const bough_contact_shape_def *shapes, bough_contact_actor *actor) {
    return bo_mb_actor_create(ctx, model, state, -1, NULL, shape_count, shapes, actor);
}
