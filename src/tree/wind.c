/* Air that flows past the parts. docs/theory/tree.md, "Wind". */
#include "tree/tree.h"

#include "base/simd.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

/* Parts are taken eight at a time, one in each lane, in floats: the law of drag is good for two digits. A task is worth
 * waking a thread for. */
enum { LANES = 8, PARTS_A_TASK = 128 };
typedef float vec __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int32_t bits __attribute__((vector_size(4 * LANES), aligned(4)));
#define ABSOLUTE(a) ((vec)((bits)(a)&INT32_MAX))

/* Places of parts take doubles: two vectors. */
typedef float half __attribute__((vector_size(4 * LANES / 2), aligned(4)));

/* Gusts: waves of four octaves, each at an angle to the mean wind that lets it pass by. */
enum { OCTAVES = 4, WAVES_AN_OCTAVE = 4, WAVES = OCTAVES * WAVES_AN_OCTAVE };
#define LEAST_COSINE 0.3
/* A wave may move faster than the wind by this part of the gusts' speed. */
#define SLOW_CHANGE 0.2

/* Skin friction against pressure drag: 1.33 / sqrt(Re) of each side of a leaf at Re = 10^4, over a drag of 1.2. */
#define FRICTION 0.02

/* ---- samples ---- */

/* Wind samples of one component: what drag() needs and the basis, in floats. */
typedef struct {
    float X[3], n[3]; /* place, unit normal */
    float size;       /* of the area vector, m^2 */
    float friction;   /* FRICTION area */
} sample;

typedef struct {
    int32_t count;
    sample *samples;
    float *U; /* count x 3 x r */
} samples_table;

struct bo_tree_wind {
    samples_table *tables; /* of each component */
};

static sample sample_of(const double X[3], const double N[3], double area) {
    const bo_vec3 n = bo_normalize(bo_load3(N));
    return (sample){.X = {(float)X[0], (float)X[1], (float)X[2]},
                    .n = {(float)n.x, (float)n.y, (float)n.z},
                    .size = (float)bo_norm(bo_load3(N)),
                    .friction = (float)(FRICTION * area)};
}

static bough_status make_table(bough_context *ctx, const bough_component *c, samples_table *t) {
    const bough_sample_points *wind = &c->wind;
    const size_t entries = 3 * (size_t)wind->count * (size_t)c->r;
    t->samples = BO_NEW_ARRAY(ctx, sample, wind->count);
    t->U = BO_NEW_ARRAY(ctx, float, entries);
    if (!t->samples || !t->U)
        return BOUGH_ERROR_MEMORY;
    t->count = wind->count;
    for (size_t k = 0; k < (size_t)wind->count; k++)
        t->samples[k] = sample_of(wind->position + 3 * k, wind->normal + 3 * k, wind->area[k]);
    for (size_t i = 0; i < entries; i++)
        t->U[i] = (float)wind->U[i];
    return BOUGH_OK;
}

bough_status bo_tree_make_wind(bough_context *ctx, bough_tree_model *model) {
    model->wind = BO_NEW(ctx, struct bo_tree_wind);
    if (!model->wind)
        return BOUGH_ERROR_MEMORY;
    model->wind->tables = BO_NEW_ZEROS(ctx, samples_table, model->component_count);
    if (!model->wind->tables)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < model->component_count; i++)
        BO_TRY(make_table(ctx, model->components[i].c, &model->wind->tables[i]));
    return BOUGH_OK;
}

void bo_tree_free_wind(bough_context *ctx, bough_tree_model *model) {
    if (!model->wind)
        return;
    for (int32_t i = 0; i < model->component_count && model->wind->tables; i++) {
        bo_free(ctx, model->wind->tables[i].samples);
        bo_free(ctx, model->wind->tables[i].U);
    }
    bo_free(ctx, model->wind->tables);
    bo_free(ctx, model->wind);
}

/* ---- gusts ---- */

/* amplitude cos(2 pi (number . x + phase)) */
typedef struct {
    double number[3], phase;
    float amplitude[3];
} wave;

typedef struct {
    const bough_tree_model *model;
    const bough_tree_state *state;
    double *load, *wrench;
    double mean[3];
    int32_t wave_count;
    wave waves[WAVES];
} air;

static uint64_t next_bits(uint64_t *state) { /* splitmix64 */
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
static double next_uniform(uint64_t *state) { /* 0 .. 1 */
    return (double)(next_bits(state) >> 11) * 0x1p-53;
}

/* Two unit vectors that are perpendicular to a unit vector and to each other. */
static void complete_axes(bo_vec3 a, bo_vec3 *b, bo_vec3 *c) {
    *b = bo_normalize(fabs(a.x) < 0.6 ? bo_cross(a, bo_v3(1, 0, 0)) : bo_cross(a, bo_v3(0, 1, 0)));
    *c = bo_cross(a, *b);
}

/* b cos + c sin of a random angle */
static bo_vec3 random_across(uint64_t *random, bo_vec3 a) {
    const double angle = 2 * M_PI * next_uniform(random);
    bo_vec3 b, c;
    complete_axes(a, &b, &c);
    return bo_add(bo_scale(cos(angle), b), bo_scale(sin(angle), c));
}

/* Frozen turbulence that the mean wind carries along, with waves that move a little faster than it does so that the
 * pattern changes. Air moves across its wave, so that nothing is compressed; amplitudes fall as k^-1/3 (Kolmogorov).
 * The mean square of all waves is that of the gusts. */
static int32_t make_waves(const bough_wind *wind, double time, wave waves[WAVES]) {
    const bo_vec3 mean = bo_load3(wind->velocity), along = bo_normalize(mean);
    const double speed = bo_norm(mean);
    uint64_t random = wind->seed;
    double squares = 0;
    if (!(wind->gust > 0 && wind->length > 0))
        return 0;
    for (int o = 0; o < OCTAVES; o++)
        squares += 0.5 * WAVES_AN_OCTAVE * exp2(-2.0 / 3 * o);
    for (int i = 0; i < WAVES; i++) {
        const int octave = i / WAVES_AN_OCTAVE;
        const double number = exp2(octave + next_uniform(&random)) / wind->length;
        const double cosine = LEAST_COSINE + (1 - LEAST_COSINE) * next_uniform(&random);
        const bo_vec3 k =
            bo_add(bo_scale(cosine, along), bo_scale(sqrt(1 - cosine * cosine), random_across(&random, along)));
        const double rate = number * speed * (cosine + SLOW_CHANGE * wind->gust * next_uniform(&random));
        const double phase = next_uniform(&random) - fmod(rate * (time + wind->lead), 1);
        const double amplitude = wind->gust * speed * exp2(-1.0 / 3 * octave) / sqrt(squares);
        wave *w = &waves[i];
        bo_store3(w->number, bo_scale(number, k));
        w->phase = phase;
        const bo_vec3 across = bo_scale(amplitude, random_across(&random, k));
        w->amplitude[0] = (float)across.x, w->amplitude[1] = (float)across.y, w->amplitude[2] = (float)across.z;
    }
    return WAVES;
}

void bough_wind_at(const bough_wind *wind, double time, const double position[3], double velocity[3]) {
    wave waves[WAVES];
    const int32_t count = make_waves(wind, time, waves);
    bo_vec3 u = bo_load3(wind->velocity);
    for (int32_t i = 0; i < count; i++) {
        const wave *w = &waves[i];
        const double c = cos(2 * M_PI * (w->phase + bo_dot(bo_load3(w->number), bo_load3(position))));
        u = bo_add(u, bo_scale(c, bo_v3((double)w->amplitude[0], (double)w->amplitude[1], (double)w->amplitude[2])));
    }
    bo_store3(velocity, u);
}

/* number . x + phase without its whole turns: -1/2 .. 1/2 */
BO_INLINE half turns_at(const wave *w, const bo_v4 x[3]) {
    const double whole = 0x1.8p52; /* what is added to it loses its fraction */
    const bo_v4 turns = w->phase + w->number[0] * x[0] + w->number[1] * x[1] + w->number[2] * x[2];
    return __builtin_convertvector(turns - ((turns + whole) - whole), half);
}

/* Adds the gusts at eight places. cos(2 pi y) = sin(2 pi (1/4 - |y|)) for |y| <= 1/2, by a series that ends below
 * 1e-7. */
BO_INLINE void add_gusts(const air *a, const bo_v4 x[2][3], vec u[3]) {
    for (int32_t i = 0; i < a->wave_count; i++) {
        const wave *w = &a->waves[i];
        const vec turns = __builtin_shufflevector(turns_at(w, x[0]), turns_at(w, x[1]), 0, 1, 2, 3, 4, 5, 6, 7);
        const vec y = (float)(2 * M_PI) * (0.25f - ABSOLUTE(turns)), z = y * y;
        const vec c =
            y * (1 - z * (1 / 6.0f - z * (1 / 120.0f - z * (1 / 5040.0f - z * (1 / 362880.0f - z / 39916800.0f)))));
        for (int k = 0; k < 3; k++)
            u[k] += w->amplitude[k] * c;
    }
}

/* ---- parts, eight at a time ---- */

BO_INLINE void add_cross(const vec a[3], const vec b[3], vec sum[3]) {
    sum[0] += a[1] * b[2] - a[2] * b[1];
    sum[1] += a[2] * b[0] - a[0] * b[2];
    sum[2] += a[0] * b[1] - a[1] * b[0];
}
BO_INLINE void take_root(vec *a) {
#pragma GCC unroll 8
    for (int i = 0; i < LANES; i++)
        (*a)[i] = sqrtf((*a)[i]);
}

/* Parts of one component. All vectors in their own axes. */
typedef struct {
    vec scale;
    vec flow[3];    /* of the air past the origin */
    vec turning[3]; /* angular velocity */
    vec force[3], torque[3];
} batch;

/* from[.][k] in each lane */
BO_INLINE void gather(const double *const from[LANES], size_t k, vec *to) {
    *to = (vec){(float)from[0][k], (float)from[1][k], (float)from[2][k], (float)from[3][k],
                (float)from[4][k], (float)from[5][k], (float)from[6][k], (float)from[7][k]};
}
BO_INLINE void gather_doubles(const double *const from[4], size_t k, bo_v4 *to) {
    *to = (bo_v4){from[0][k], from[1][k], from[2][k], from[3][k]};
}

/* Place of a field in a frame, in doubles. */
#define IN_FRAME(field) (offsetof(bough_frame, field) / sizeof(double))

/* The air at the origins, less their velocities, and the angular velocities, turned by R^T. The air is that at the
 * origin: parts are small against gusts. */
BO_INLINE void begin_batch(const air *a, const bo_tree_part *const part[LANES], batch *b) {
    const double *frame[LANES], *scales[LANES];
    const vec zero = {0};
    bo_v4 place[2][3];
    vec flow[3], turning[3];
    for (int i = 0; i < LANES; i++) {
        frame[i] = (const double *)&a->state->frames[part[i]->user];
        scales[i] = &part[i]->scale;
    }
    gather(scales, 0, &b->scale);
    for (size_t k = 0; k < 3; k++) {
        gather_doubles(frame, IN_FRAME(pose.position) + k, &place[0][k]);
        gather_doubles(frame + LANES / 2, IN_FRAME(pose.position) + k, &place[1][k]);
        gather(frame, IN_FRAME(velocity) + k, &flow[k]);
        gather(frame, IN_FRAME(angular_velocity) + k, &turning[k]);
        flow[k] = (float)a->mean[k] - flow[k];
        b->flow[k] = b->turning[k] = b->force[k] = b->torque[k] = zero;
    }
    add_gusts(a, (const bo_v4(*)[3])place, flow);
    for (size_t k = 0; k < 9; k++) {
        vec R;
        gather(frame, IN_FRAME(pose.rotation) + k, &R);
        b->flow[k % 3] += R * flow[k / 3];
        b->turning[k % 3] += R * turning[k / 3];
    }
}

/* A sample's place and velocity in its part; U: 3 x r. */
typedef struct {
    const float *U;
    vec x[3], rate[3];
} point;

BO_INLINE void start_point(point *p, const float X[3], const float *U) {
    const vec zero = {0};
    p->U = U;
    for (int k = 0; k < 3; k++)
        p->x[k] = zero + X[k], p->rate[k] = zero;
}
/* x += U_l q, rate += U_l v */
BO_INLINE void add_coordinate(point *p, int32_t r, int32_t l, const vec *q, const vec *v) {
    for (int k = 0; k < 3; k++) {
        p->x[k] += p->U[k * r + l] * *q;
        p->rate[k] += p->U[k * r + l] * *v;
    }
}
/* force += U_l . f */
BO_INLINE void add_force(const point *p, int32_t r, int32_t l, const vec f[3], vec *force) {
    *force += p->U[l] * f[0] + p->U[r + l] * f[1] + p->U[2 * r + l] * f[2];
}

/* Pressure along the area vector N, by the flow across it, and friction along the surface:
 *   f = rho Cd / 4 (|u.n| (u.n) N + FRICTION A |u| (u - (u.n) n)), n = N / |N|;
 * a quarter, because a plate has two sides. Without rho Cd / 4. */
BO_INLINE void drag(const sample *s, const vec u[3], vec f[3]) {
    const float *n = s->n;
    const vec across = u[0] * n[0] + u[1] * n[1] + u[2] * n[2];
    vec friction = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    take_root(&friction);
    friction *= s->friction;
    const vec along_n = (s->size * ABSOLUTE(across) - friction) * across;
    for (int k = 0; k < 3; k++)
        f[k] = along_n * n[k] + friction * u[k];
}

/* The force on a point, which is scaled; added to the wrench. Without s^2 rho Cd / 4. */
BO_INLINE void push(const sample *s, point *p, batch *b, vec f[3]) {
    vec moving[3], u[3];
    for (int k = 0; k < 3; k++) {
        p->x[k] *= b->scale;
        moving[k] = b->scale * p->rate[k];
    }
    add_cross(b->turning, p->x, moving);
    for (int k = 0; k < 3; k++)
        u[k] = b->flow[k] - moving[k];
    drag(s, u, f);
    for (int k = 0; k < 3; k++)
        b->force[k] += f[k];
    add_cross(p->x, f, b->torque);
}

/* Samples k and k + 1: the latency of one is the other's time. force: generalised, without s^3 rho Cd / 4. */
BO_INLINE void add_two_samples(const samples_table *t, int32_t r, int32_t k, const vec *q, const vec *v, vec *force,
                               batch *b) {
    const sample *s = &t->samples[k];
    const float *U = t->U + 3 * (size_t)k * (size_t)r;
    point one, two;
    vec f[3], g[3];
    start_point(&one, s[0].X, U);
    start_point(&two, s[1].X, U + 3 * r);
    for (int32_t l = 0; l < r; l++) {
        add_coordinate(&one, r, l, &q[l], &v[l]);
        add_coordinate(&two, r, l, &q[l], &v[l]);
    }
    push(&s[0], &one, b, f);
    push(&s[1], &two, b, g);
    for (int32_t l = 0; l < r; l++) {
        add_force(&one, r, l, f, &force[l]);
        add_force(&two, r, l, g, &force[l]);
    }
}
BO_INLINE void add_sample(const samples_table *t, int32_t r, int32_t k, const vec *q, const vec *v, vec *force,
                          batch *b) {
    point p;
    vec f[3];
    start_point(&p, t->samples[k].X, t->U + 3 * (size_t)k * (size_t)r);
    for (int32_t l = 0; l < r; l++)
        add_coordinate(&p, r, l, &q[l], &v[l]);
    push(&t->samples[k], &p, b, f);
    for (int32_t l = 0; l < r; l++)
        add_force(&p, r, l, f, &force[l]);
}

/* Parts `first` to `first + count - 1`; lanes beyond are the last one again, and dropped. */
BO_MULTIVERSION static void blow_batch(const air *a, int32_t first, int32_t count) {
    const bo_tree_part *part[LANES];
    const double *q_of[LANES], *v_of[LANES];
    for (int i = 0; i < LANES; i++) {
        part[i] = &a->model->parts[first + (i < count ? i : count - 1)];
        q_of[i] = a->state->q + part[i]->offset;
        v_of[i] = a->state->v + part[i]->offset;
    }
    const samples_table *t = &a->model->wind->tables[part[0]->component];
    const int32_t r = part[0]->r;
    vec q[r + 1], v[r + 1], force[r + 1]; /* at most BOUGH_MAX_COORDINATES */
    batch b;
    begin_batch(a, part, &b);
    for (int32_t l = 0; l < r; l++) {
        gather(q_of, (size_t)l, &q[l]);
        gather(v_of, (size_t)l, &v[l]);
        force[l] = (vec){0};
    }
    int32_t sample_number = 0;
    for (; sample_number + 1 < t->count && BO_SUMS >= 8; sample_number += 2)
        add_two_samples(t, r, sample_number, q, v, force, &b);
    for (; sample_number < t->count; sample_number++)
        add_sample(t, r, sample_number, q, v, force, &b);
    const vec pressure = (float)(0.25 * a->state->wind.density * a->state->wind.drag) * b.scale * b.scale;
    for (int i = 0; i < count; i++) {
        double *wrench = a->wrench + 6 * (first + i);
        for (int k = 0; k < 3; k++) {
            wrench[k] += (double)(pressure[i] * b.force[k][i]);
            wrench[3 + k] += (double)(pressure[i] * b.torque[k][i]);
        }
        for (int32_t l = 0; l < r; l++)
            a->load[part[i]->offset + l] += (double)(pressure[i] * b.scale[i] * force[l][i]);
    }
}

static void blow_parts(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const air *a = data;
    const bo_tree_part *parts = a->model->parts;
    (void)chunk;
    for (int32_t first = begin, count; first < end; first += count) {
        for (count = 1; count < LANES && first + count < end; count++)
            if (parts[first + count].component != parts[first].component ||
                parts[first + count].asleep != parts[first].asleep)
                break;
        if (a->model->wind->tables[parts[first].component].count > 0 && !parts[first].asleep)
            blow_batch(a, first, count);
    }
}

void bo_tree_blow(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state, double *load,
                  double *wrench) {
    const bough_wind *wind = &state->wind;
    if (wind->velocity[0] == 0 && wind->velocity[1] == 0 && wind->velocity[2] == 0)
        return;
    air a = {.model = model, .state = state, .load = load, .wrench = wrench};
    memcpy(a.mean, wind->velocity, sizeof a.mean);
    a.wave_count = make_waves(wind, state->time, a.waves);
    bo_parallel_for(ctx, model->part_count, PARTS_A_TASK, blow_parts, &a);
}
