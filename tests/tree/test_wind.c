/* Wind: drag against the law computed for every sample from how it moves, and the gusts. */
#include "../reduce/cooked.h"

#include "tree/tree.h"

enum { PARTS = 23, COMPONENTS = 3 };

typedef struct {
    bough_context *ctx;
    bough_component *components[COMPONENTS];
    bough_part_def parts[PARTS];
    bough_tree_model *model;
    bough_tree_state *state;
    double *load, *wrench;
} grove;

static bough_component *cook_limb(bough_context *ctx, double length, double thickness, int32_t r, int32_t wind_count) {
    bar_def bar = default_bar();
    bar.size[0] = length, bar.size[2] = thickness;
    kitchen k = open_kitchen(ctx, bar, r);
    k.def.wind_count = wind_count;
    cook_in(&k);
    bough_component *c = k.c;
    k.c = NULL;
    close_kitchen(&k);
    return c;
}

static bo_mat3 turn(double a, double b) {
    const bo_mat3 x = {{1, 0, 0, 0, cos(a), -sin(a), 0, sin(a), cos(a)}};
    const bo_mat3 z = {{cos(b), -sin(b), 0, sin(b), cos(b), 0, 0, 0, 1}};
    return bo_mat_mul(z, x);
}

static bo_mat3 axes_of(const bough_frame *frame) {
    bo_mat3 R;
    memcpy(R.m, frame->pose.rotation, sizeof R.m);
    return R;
}

/* Trees of scaled and turned parts: flexible ones, with odd and even numbers of samples, and rigid ones. */
static void make_model(grove *g, int32_t part_count) {
    bough_tree_model_def def = bough_default_tree_model_def();
    test_weigh(def.gravity);
    def.component_count = COMPONENTS, def.components = (const bough_component *const *)g->components;
    def.part_count = part_count, def.parts = g->parts;
    def.wind.velocity[0] = 4, def.wind.velocity[1] = -2, def.wind.velocity[2] = 0.5;
    check_ok(g->ctx, bough_tree_model_create(g->ctx, &def, &g->model));
    check_ok(g->ctx, bough_tree_state_create(g->ctx, g->model, &g->state));
    g->load = calloc((size_t)bough_tree_model_size(g->model) + 6 * (size_t)part_count, sizeof *g->load);
    g->wrench = g->load + bough_tree_model_size(g->model);
}
static grove plant(int32_t threads) {
    grove g = {.ctx = test_context(threads)};
    test_random random = {11};
    g.components[0] = cook_limb(g.ctx, 1, 0.25, 6, 9);
    g.components[1] = cook_limb(g.ctx, 0.6, 0.05, 3, 6);
    g.components[2] = cook_limb(g.ctx, 0.5, 0.1, 0, 5);
    for (int32_t i = 0; i < PARTS; i++) {
        bough_part_def *part = &g.parts[i];
        *part = bough_default_part_def();
        part->component = i < 4 ? 0 : i % COMPONENTS;
        part->parent = i / 4 - 1, part->interface_index = 1;
        part->scale = test_uniform(&random, 0.5, 1.5);
        bo_mat3 R = turn(test_uniform(&random, -3, 3), test_uniform(&random, -3, 3));
        memcpy(part->rotation, R.m, sizeof R.m);
        for (int d = 0; d < 3; d++)
            part->position[d] = test_uniform(&random, -20, 20);
    }
    make_model(&g, PARTS);
    return g;
}
static void free_model(grove *g) {
    bough_tree_state_destroy(g->ctx, g->state);
    bough_tree_model_destroy(g->ctx, g->model);
    free(g->load);
}
static void fell(grove *g) {
    free_model(g);
    for (int i = 0; i < COMPONENTS; i++)
        bough_component_destroy(g->ctx, g->components[i]);
    bough_context_destroy(g->ctx);
}

/* Random shape and motion. */
static void shake(grove *g, uint64_t seed, double speed) {
    test_random random = {seed};
    for (int32_t i = 0; i < bough_tree_model_part_count(g->model); i++) {
        const bough_component *c = g->components[g->parts[i].component];
        for (int32_t l = 0; l < c->r; l++) {
            const int32_t at = bough_tree_model_offset(g->model, i) + l;
            double largest = 0;
            for (int32_t k = 0; k < 3 * c->wind.count; k++)
                largest = fmax(largest, fabs(c->wind.U[k * c->r + l]));
            g->state->q[at] = test_uniform(&random, -0.05, 0.05) / largest;
            g->state->v[at] = speed * test_uniform(&random, -1, 1) / largest;
        }
    }
    g->state->time = test_uniform(&random, 0, 1000);
    check_ok(g->ctx, bough_tree_state_update(g->ctx, g->model, g->state));
}

static void blow(grove *g) {
    const int32_t count = bough_tree_model_size(g->model) + 6 * bough_tree_model_part_count(g->model);
    memset(g->load, 0, (size_t)count * sizeof *g->load);
    bo_tree_blow(g->ctx, g->model, g->state, g->load, g->wrench);
}

static const double *wrench_of(const grove *g, int32_t part) {
    return g->wrench + 6 * g->model->inside[part];
}

/* Place of a sample in its part, and in the world. */
static bo_vec3 local_place(const grove *g, int32_t part, int32_t k) {
    const bough_component *c = g->components[g->parts[part].component];
    double x[3];
    for (int32_t d = 0; d < 3; d++) {
        x[d] = c->wind.position[3 * k + d];
        for (int32_t l = 0; l < c->r; l++)
            x[d] += c->wind.U[(3 * k + d) * c->r + l] * g->state->q[bough_tree_model_offset(g->model, part) + l];
    }
    return bo_scale(g->parts[part].scale, bo_load3(x));
}
static bo_vec3 world_place(const grove *g, int32_t part, int32_t k) {
    const bough_frame *frame = &g->state->frames[part];
    return bo_add(bo_load3(frame->pose.position), bo_mat_vec(axes_of(frame), local_place(g, part, k)));
}

/* World velocities of all samples, by differences of where they are. */
static bo_vec3 *sample_velocities(grove *g, int32_t *count) {
    const double h = 1e-5;
    const int32_t size = bough_tree_model_size(g->model), parts = bough_tree_model_part_count(g->model);
    *count = 0;
    for (int32_t i = 0; i < parts; i++)
        *count += g->components[g->parts[i].component]->wind.count;
    bo_vec3 *velocity = calloc((size_t)*count, sizeof *velocity);
    double *q = malloc((size_t)size * sizeof *q);
    memcpy(q, g->state->q, (size_t)size * sizeof *q);
    for (int side = -1; side <= 1; side += 2) {
        for (int32_t l = 0; l < size; l++)
            g->state->q[l] = q[l] + side * h * g->state->v[l];
        check_ok(g->ctx, bough_tree_state_update(g->ctx, g->model, g->state));
        int32_t at = 0;
        for (int32_t i = 0; i < parts; i++)
            for (int32_t k = 0; k < g->components[g->parts[i].component]->wind.count; k++, at++)
                velocity[at] = bo_mul_add(velocity[at], side / (2 * h), world_place(g, i, k));
    }
    memcpy(g->state->q, q, (size_t)size * sizeof *q);
    check_ok(g->ctx, bough_tree_state_update(g->ctx, g->model, g->state));
    free(q);
    return velocity;
}

/* The law as docs/theory/tree.md writes it. */
static bo_vec3 drag_on(const bough_wind *wind, bo_vec3 u, bo_vec3 N, double area) {
    const bo_vec3 n = bo_normalize(N);
    const double across = bo_dot(u, n), c = 0.25 * wind->density * wind->drag;
    const bo_vec3 pressure = bo_scale(c * fabs(across) * across, N);
    return bo_mul_add(pressure, 0.02 * c * area * bo_norm(u), bo_sub(u, bo_scale(across, n)));
}

/* Forces on samples, from their motion alone, do the same work as the generalised ones on coordinates and frames, and
 * have the same resultants. */
static void loads_are_the_samples_forces(void **unused) {
    (void)unused;
    grove g = plant(1);
    for (uint64_t seed = 1; seed < 4; seed++) {
        shake(&g, seed, 3);
        int32_t sample_count, at = 0;
        bo_vec3 *velocity = sample_velocities(&g, &sample_count);
        blow(&g);
        for (int32_t i = 0; i < PARTS; i++) {
            const bough_component *c = g.components[g.parts[i].component];
            const bough_frame *frame = &g.state->frames[i];
            const bo_mat3 R = axes_of(frame);
            const double s = g.parts[i].scale, *wrench = wrench_of(&g, i);
            const double *load = g.load + bough_tree_model_offset(g.model, i);
            double air[3], power = 0, work = 0, generalised[8] = {0}, scale = 0;
            bo_vec3 total = {0, 0, 0}, torque = {0, 0, 0};
            bough_wind_at(&g.state->wind, g.state->time, frame->pose.position, air);
            for (int32_t k = 0; k < c->wind.count; k++, at++) {
                bo_vec3 f =
                    drag_on(&g.state->wind, bo_sub(bo_load3(air), velocity[at]),
                            bo_scale(s * s, bo_mat_vec(R, bo_load3(c->wind.normal + 3 * k))), s * s * c->wind.area[k]);
                power += bo_dot(f, velocity[at]);
                f = bo_mat_tvec(R, f);
                scale += bo_norm(f);
                total = bo_add(total, f);
                torque = bo_add(torque, bo_cross(local_place(&g, i, k), f));
                for (int32_t l = 0; l < c->r; l++)
                    generalised[l] += s * (c->wind.U[3 * k * c->r + l] * f.x + c->wind.U[(3 * k + 1) * c->r + l] * f.y +
                                           c->wind.U[(3 * k + 2) * c->r + l] * f.z);
            }
            check_below(bo_norm(bo_sub(bo_load3(wrench), total)), 2e-6 * scale);
            check_below(bo_norm(bo_sub(bo_load3(wrench + 3), torque)), 2e-6 * scale);
            for (int32_t l = 0; l < c->r; l++) {
                check_near(load[l], generalised[l], 1e-5 * scale);
                work += load[l] * g.state->v[bough_tree_model_offset(g.model, i) + l];
            }
            work += bo_dot(bo_mat_vec(R, bo_load3(wrench)), bo_load3(frame->velocity)) +
                    bo_dot(bo_mat_vec(R, bo_load3(wrench + 3)), bo_load3(frame->angular_velocity));
            check_near(work, power, 1e-5 * scale * (1 + bo_norm(velocity[at - 1])));
        }
        check_int(at, sample_count);
        free(velocity);
    }
    fell(&g);
}

/* Seen from the air, drag only takes energy. */
static void drag_opposes_motion_through_the_air(void **unused) {
    (void)unused;
    grove g = plant(1);
    for (uint64_t seed = 1; seed < 30; seed++) {
        shake(&g, seed, seed % 3 == 0 ? 20 : 1);
        g.state->wind.velocity[0] = seed % 2 ? 1e-9 : 3; /* as good as still, or not */
        g.state->wind.velocity[1] = g.state->wind.velocity[2] = 0;
        blow(&g);
        for (int32_t i = 0; i < PARTS; i++) {
            const bough_frame *frame = &g.state->frames[i];
            const bo_mat3 R = axes_of(frame);
            const int32_t offset = bough_tree_model_offset(g.model, i);
            double air[3], power;
            bough_wind_at(&g.state->wind, g.state->time, frame->pose.position, air);
            power =
                bo_dot(bo_load3(wrench_of(&g, i)), bo_mat_tvec(R, bo_sub(bo_load3(frame->velocity), bo_load3(air)))) +
                bo_dot(bo_load3(wrench_of(&g, i) + 3), bo_mat_tvec(R, bo_load3(frame->angular_velocity)));
            for (int32_t l = 0; l < g.components[g.parts[i].component]->r; l++)
                power += g.load[offset + l] * g.state->v[offset + l];
            check(power < 0);
        }
    }
    fell(&g);
}

/* 1 x 0.2 m, thin, across the wind or at an angle: rho Cd A (u cos)^2 / 2; with the scale: s^2, and torques s^3. */
static void plates_feel_their_frontal_area(void **unused) {
    (void)unused;
    grove g = {.ctx = test_context(1)};
    for (int i = 0; i < COMPONENTS; i++)
        g.components[i] = cook_limb(g.ctx, 1, 1e-3, i ? 0 : 4, 12);
    for (int i = 0; i < 4; i++) {
        g.parts[i] = bough_default_part_def();
        g.parts[i].component = i & 1;
        g.parts[i].scale = i & 2 ? 2 : 1;
    }
    make_model(&g, 4);
    bough_wind *wind = &g.state->wind;
    wind->gust = 0, wind->velocity[0] = wind->velocity[1] = 0;
    for (int side = -1; side <= 1; side += 2) {
        wind->velocity[2] = side * 7;
        blow(&g);
        for (int i = 0; i < 4; i++) {
            const double s = g.parts[i].scale, *wrench = wrench_of(&g, i);
            const double expected = side * 0.5 * wind->density * wind->drag * 0.2 * 49 * s * s;
            check_near(wrench[2], expected, 1e-3 * fabs(expected));
            check_near(wrench[4], -0.5 * s * expected,
                       1e-3 * fabs(expected)); /* in the middle, 0.5 m from the origin */
        }
        const double *small = g.load + bough_tree_model_offset(g.model, 0),
                     *large = g.load + bough_tree_model_offset(g.model, 2);
        check(norm_of(4, small) > 0);
        check_below(relative(4, large, 8, small), 1e-6);
    }
    wind->velocity[1] = 7, wind->velocity[2] = 7;
    blow(&g);
    check_near(wrench_of(&g, 0)[2], 0.5 * wind->density * wind->drag * 0.2 * 49, 0.05);
    /* along the plate: friction on both sides, 0.02 sqrt 2 of the pressure, and its edges of 1e-3 x 1 m */
    check_near(wrench_of(&g, 0)[1] / wrench_of(&g, 0)[2], 0.02 * sqrt(2) + 1e-3 / 0.2, 5e-3);
    fell(&g);
}

static void no_wind_does_nothing(void **unused) {
    (void)unused;
    grove g = plant(1);
    shake(&g, 1, 3);
    memset(g.state->wind.velocity, 0, sizeof g.state->wind.velocity);
    blow(&g);
    for (int32_t k = 0; k < bough_tree_model_size(g.model) + 6 * PARTS; k++)
        check(g.load[k] == 0);
    g.state->wind.velocity[2] = 1;
    blow(&g);
    const double once = g.load[0];
    bo_tree_blow(g.ctx, g.model, g.state, g.load, g.wrench); /* adds to what is there */
    check_near(g.load[0], 2 * once, 1e-12 * fabs(once));
    fell(&g);
}

/* A part feels the same alone and among others, and with any number of threads. */
static void company_does_not_change_bits(void **unused) {
    (void)unused;
    enum { COUNT = 300 };
    grove g = plant(1);
    bough_part_def parts[COUNT];
    for (int i = 0; i < COUNT; i++) {
        parts[i] = g.parts[i % PARTS];
        parts[i].parent = -1;
    }
    bough_tree_model_def def = *bough_tree_model_describe(g.model);
    def.parts = parts, def.part_count = COUNT;
    double *first = NULL;
    for (int32_t threads = 1; threads <= 3; threads++) {
        bough_context *ctx = test_context(threads);
        bough_tree_model *model;
        bough_tree_state *state;
        check_ok(ctx, bough_tree_model_create(ctx, &def, &model));
        check_ok(ctx, bough_tree_state_create(ctx, model, &state));
        const size_t size = (size_t)bough_tree_model_size(model) + 6 * COUNT;
        double *load = calloc(size, sizeof *load), *wrench = load + bough_tree_model_size(model);
        for (int32_t i = 0; i < COUNT; i++)
            for (int32_t l = 0; l < g.components[parts[i].component]->r; l++)
                state->v[bough_tree_model_offset(model, i) + l] = sin(i % PARTS + l);
        check_ok(ctx, bough_tree_state_update(ctx, model, state));
        bo_tree_blow(ctx, model, state, load, wrench);
        for (int32_t i = PARTS; i < COUNT; i++) {
            check(memcmp(wrench + 6 * model->inside[i], wrench + 6 * model->inside[i % PARTS], 6 * sizeof *load) == 0);
            check(memcmp(load + bough_tree_model_offset(model, i), load + bough_tree_model_offset(model, i % PARTS),
                         (size_t)g.components[parts[i].component]->r * sizeof *load) == 0);
        }
        check(!first || memcmp(load, first, size * sizeof *load) == 0);
        bough_tree_state_destroy(ctx, state);
        bough_tree_model_destroy(ctx, model);
        bough_context_destroy(ctx);
        free(first ? load : NULL);
        first = first ? first : load;
    }
    free(first);
    fell(&g);
}

/* ---- gusts ---- */

/* A step feels the wind of its own start: the loads it took are those of bo_tree_blow() alone, whatever blew before. */
static void wind_does_not_pile_up(void **unused) {
    (void)unused;
    grove g = plant(1);
    const size_t n = (size_t)bough_tree_model_size(g.model), all = n + 6 * PARTS;
    for (int step = 0; step < 5; step++) {
        memset(g.load, 0, all * sizeof *g.load);
        bo_tree_blow(g.ctx, g.model, g.state, g.load, g.wrench);
        check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 1e-4));
        check(memcmp(g.load, bo_tree_work_of(g.state)->load, n * sizeof *g.load) == 0);
        check(memcmp(g.wrench, bo_tree_work_of(g.state)->load_wrench, 6 * PARTS * sizeof *g.wrench) == 0);
    }
    fell(&g);
}

static bough_wind breeze(uint64_t seed) {
    bough_wind wind = bough_default_wind();
    wind.velocity[0] = 3, wind.velocity[1] = 4;
    wind.gust = 0.3, wind.seed = seed;
    return wind;
}

static void gusts_have_the_mean_and_strength_asked_for(void **unused) {
    (void)unused;
    for (uint64_t seed = 1; seed < 6; seed++) {
        const bough_wind wind = breeze(seed);
        enum { COUNT = 40000 };
        const double x[3] = {1, 2, 3};
        bo_vec3 mean = {0, 0, 0};
        double square = 0;
        for (int i = 0; i < COUNT; i++) {
            double u[3];
            bough_wind_at(&wind, 0.11 * i, x, u);
            mean = bo_add(mean, bo_scale(1.0 / COUNT, bo_load3(u)));
            const bo_vec3 gust = bo_sub(bo_load3(u), bo_load3(wind.velocity));
            square += bo_dot(gust, gust) / COUNT;
        }
        check_below(bo_norm(bo_sub(mean, bo_load3(wind.velocity))), 0.02);
        check_near(sqrt(square), 0.3 * 5, 0.02);
    }
}

static double difference(const double a[3], const double b[3]) {
    return bo_norm(bo_sub(bo_load3(a), bo_load3(b)));
}

/* The wind carries its gusts along; they change on the way, more slowly than they pass by. */
static void gusts_travel_with_the_wind(void **unused) {
    (void)unused;
    const bough_wind wind = breeze(3);
    test_random random = {5};
    double carried = 0, passing = 0;
    for (int i = 0; i < 500; i++) {
        double x[3], y[3], here[3], there[3], later[3];
        const double time = test_uniform(&random, 0, 100), dt = 0.3;
        for (int d = 0; d < 3; d++) {
            x[d] = test_uniform(&random, -50, 50);
            y[d] = x[d] + dt * wind.velocity[d];
        }
        bough_wind_at(&wind, time, x, here);
        bough_wind_at(&wind, time + dt, y, there);
        bough_wind_at(&wind, time + dt, x, later);
        carried += difference(here, there), passing += difference(here, later);
    }
    check_below(carried, 0.2 * passing);
    check(carried > 0);
}

static void gusts_are_smooth_and_belong_to_a_seed(void **unused) {
    (void)unused;
    const bough_wind wind = breeze(1), other = breeze(2);
    const double x[3] = {10, -3, 2}, near[3] = {10.001, -3, 2};
    double a[3], b[3], u[3];
    bough_wind_at(&wind, 7, x, a);
    bough_wind_at(&wind, 7, x, u);
    check(memcmp(a, u, sizeof a) == 0);
    bough_wind_at(&other, 7, x, b);
    check(difference(a, b) > 0.01);
    bough_wind_at(&wind, 7, near,
                  b); /* wavelengths are at least 10 / 16 m: gradients at most 1.5 sqrt 2 16 2 pi / 10 */
    check(difference(a, b) > 0);
    check_below(difference(a, b), 0.001 * 25);
    /* divergence */
    double divergence = 0, h = 1e-4;
    for (int d = 0; d < 3; d++)
        for (int side = -1; side <= 1; side += 2) {
            double y[3] = {x[0], x[1], x[2]};
            y[d] += side * h;
            bough_wind_at(&wind, 7, y, u);
            divergence += side * u[d] / (2 * h);
        }
    check_near(divergence, 0, 1e-5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_are_the_samples_forces),
        cmocka_unit_test(drag_opposes_motion_through_the_air),
        cmocka_unit_test(plates_feel_their_frontal_area),
        cmocka_unit_test(no_wind_does_nothing),
        cmocka_unit_test(wind_does_not_pile_up),
        cmocka_unit_test(company_does_not_change_bits),
        cmocka_unit_test(gusts_have_the_mean_and_strength_asked_for),
        cmocka_unit_test(gusts_travel_with_the_wind),
        cmocka_unit_test(gusts_are_smooth_and_belong_to_a_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
