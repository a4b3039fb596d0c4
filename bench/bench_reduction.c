/* Random mechanisms reduced to random end effectors: the error of the lowest frequency, and how internal modes reduce
 * it. */
#include "bench.h"

#include "linkages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_MECHANISMS = 2000, CHOICES = 4 };

static double uniform(uint64_t *state, double lower, double upper) { /* splitmix64 */
    uint64_t x = *state += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return lower + (upper - lower) * ((double)((x ^ (x >> 31)) >> 11) * 0x1p-53);
}
static int32_t pick(uint64_t *state, int32_t count) {
    return (int32_t)fmin(floor(uniform(state, 0, count)), count - 1);
}

/* Rods of 10 to 30 cm end to end, each in a random direction from the end of one of the last three (so that arms
 * branch), with joints of random kinds and stiffnesses over a decade; up to three more joints close loops. The base is
 * held. */
static sketch *random_mechanism(uint64_t *random) {
    sketch *s = new_sketch();
    const int32_t links = 4 + pick(random, 27), loops = pick(random, 2) ? pick(random, 4) : 0;
    bo_vec3 ends[32];
    add_link(s, bo_se3_identity(), 1, 0.01, 0.01, 0.01);
    ends[0] = bo_v3(0, 0, 0);
    for (int32_t i = 1; i <= links; i++) {
        const int32_t from = i < 3 ? i - 1 : i - 1 - pick(random, 3) * pick(random, 2);
        const double length = uniform(random, 0.1, 0.3), mass = uniform(random, 0.1, 1);
        const bo_vec3 along =
            bo_normalize(bo_v3(uniform(random, -0.5, 1), uniform(random, -0.7, 0.7), uniform(random, -0.7, 0.7)));
        const bo_vec3 middle = bo_mul_add(ends[from], 0.5 * length, along);
        ends[i] = bo_mul_add(ends[from], length, along);
        const double inertia = mass * length * length / 12;
        add_link(s, (bo_se3){bo_identity3(), middle}, mass, inertia, inertia, inertia);
        static const bough_joint_kind kinds[] = {BOUGH_JOINT_HINGE, BOUGH_JOINT_HINGE, BOUGH_JOINT_UNIVERSAL,
                                                 BOUGH_JOINT_BALL};
        add_joint(s, kinds[pick(random, 4)], from, i,
                  (bo_se3){bo_exp3(bo_v3(uniform(random, -2, 2), uniform(random, -2, 2), uniform(random, -2, 2))),
                           ends[from]},
                  pow(10, uniform(random, 1.5, 2.5)), 0.1);
    }
    for (int32_t k = 0; k < loops && links > 4; k++) {
        const int32_t a = 1 + pick(random, links), b = 1 + pick(random, links);
        if (a != b)
            add_joint(s, BOUGH_JOINT_BALL, a, b, (bo_se3){bo_identity3(), bo_scale(0.5, bo_add(ends[a], ends[b]))},
                      pow(10, uniform(random, 1.5, 2.5)), 0.1);
    }
    const int32_t effectors = 1 + pick(random, 3);
    for (int32_t e = 0; e < effectors; e++)
        add_effector(s, 1 + pick(random, links), bo_se3_identity());
    return s;
}

/* Errors of the lowest frequency for 0, 1, 2 and as many internal modes as are chosen by themselves. */
typedef struct {
    double errors[CHOICES][MOST_MECHANISMS];
    double alone[MOST_MECHANISMS]; /* without modes, of those with one end effector */
    int alone_count;
    double modes[MOST_MECHANISMS];
    double seconds[2]; /* of making all models: without modes, and with those that are chosen */
    int count, rigid;
} figures;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bough_status measure_choice(bough_context *ctx, const bough_mechanism *m, const bough_mechanism_statics *statics,
                                   int choice, figures *f) {
    static const int32_t modes[CHOICES] = {0, 1, 2, BOUGH_INTERNAL_AUTOMATIC};
    bough_mechanism_model_def def = bough_default_mechanism_model_def();
    bough_mechanism_model *model = NULL;
    const double start = seconds();
    def.internal_modes = modes[choice];
    bough_status status = bough_mechanism_model_create(ctx, m, statics, &def, &model);
    if (choice % 3 == 0)
        f->seconds[choice / 3] += seconds() - start;
    if (status == BOUGH_OK)
        status = bough_mechanism_model_frequency_error(ctx, m, model, &f->errors[choice][f->count]);
    if (status == BOUGH_OK && choice == CHOICES - 1)
        f->modes[f->count] = model->internal_count;
    bough_mechanism_model_destroy(ctx, model);
    return status;
}

static bough_status measure(bough_context *ctx, const sketch *s, figures *f) {
    bough_mechanism *m = NULL;
    bough_mechanism_statics *statics = NULL;
    bough_status status = bough_mechanism_create(ctx, &s->def, &m);
    if (status == BOUGH_OK)
        status = bough_mechanism_statics_create(ctx, m, NULL, &statics);
    for (int k = 0; k < CHOICES && status == BOUGH_OK; k++)
        status = measure_choice(ctx, m, statics, k, f);
    bough_mechanism_statics_destroy(ctx, statics);
    bough_mechanism_destroy(ctx, m);
    if (status == BOUGH_OK && s->def.end_effector_count == 1)
        f->alone[f->alone_count++] = f->errors[0][f->count];
    if (status == BOUGH_OK)
        f->count++;
    else if (status == BOUGH_ERROR_SINGULAR || status == BOUGH_ERROR_ARGUMENT) /* loops hold it: nothing to reduce */
        f->rigid++, status = BOUGH_OK;
    return status;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double quantile(int count, double *values, double part) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    return count ? values[(int)(part * (count - 1) + 0.5)] : NAN;
}
static double share_above(int count, const double *values, double limit) {
    int above = 0;
    for (int i = 0; i < count; i++)
        above += values[i] > limit;
    return count ? (double)above / count : NAN;
}

static void tell_row(const char *name, int count, double *errors, bool json, json_t *rows) {
    static const double parts[4] = {0.5, 0.75, 0.9, 1};
    const double over = share_above(count, errors, 0.01);
    double q[4];
    for (int p = 0; p < 4; p++)
        q[p] = quantile(count, errors, parts[p]);
    if (json)
        json_array_append_new(rows, json_pack("{s:s, s:i, s:f, s:f, s:f, s:f, s:f}", "internal_modes", name, "count",
                                              count, "median", q[0], "three_quarters", q[1], "nine_tenths", q[2],
                                              "largest", q[3], "over_1_percent", over));
    else
        printf("  %-23s %8.3g %16.3g %13.3g %9.3g %7.1f %% of %d\n", name, 100 * q[0], 100 * q[1], 100 * q[2],
               100 * q[3], 100 * over, count);
}

static void tell(figures *f, bool json) {
    static const char *const names[CHOICES] = {"none", "1", "2", "chosen"};
    json_t *rows = json_array();
    if (!json) {
        printf("%d random mechanisms of 4 to 30 links with 1 to 3 random end effectors (%d more are rigid there):\n"
               "lowest frequency above the whole mechanism's, %%\n"
               "  internal modes            median   three quarters   nine tenths   largest   over 1 %%\n",
               f->count, f->rigid);
    }
    tell_row("none, one end effector", f->alone_count, f->alone, json, rows);
    for (int k = 0; k < CHOICES; k++)
        tell_row(names[k], f->count, f->errors[k], json, rows);
    const double middle = quantile(f->count, f->modes, 0.5), most = quantile(f->count, f->modes, 1);
    if (json)
        app_print_json(json_pack("{s:i, s:o, s:f, s:f, s:f, s:f}", "mechanisms", f->count, "rows", rows, "modes_median",
                                 middle, "modes_most", most, "make_us", 1e6 * f->seconds[0] / f->count, "choose_us",
                                 1e6 * f->seconds[1] / f->count));
    else {
        json_decref(rows);
        printf(
            "chosen: %g modes at the median, %g at most; making a model takes %.3g us, and %.3g us with the choice\n",
            middle, most, 1e6 * f->seconds[0] / f->count, 1e6 * f->seconds[1] / f->count);
    }
}

int bench_reduction(const bench_options *options) {
    static figures f;
    bough_context *ctx = app_context(1);
    uint64_t random = 20;
    bough_status status = BOUGH_OK;
    f.count = f.rigid = f.alone_count = 0, f.seconds[0] = f.seconds[1] = 0;
    for (int i = 0; i < (options->size > 1 ? MOST_MECHANISMS : 500) && status == BOUGH_OK; i++) {
        sketch *s = random_mechanism(&random);
        status = measure(ctx, s, &f);
        free(s);
    }
    if (status != BOUGH_OK)
        bench_fail(ctx);
    else
        tell(&f, options->json);
    bough_context_destroy(ctx);
    return status ? APP_FAILED : APP_OK;
}
