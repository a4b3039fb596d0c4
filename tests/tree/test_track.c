/* Tracks: poses over time, their derivatives by finite differences, and what a model makes of them. */
#include "bars.h"

#include "base/rotation.h"

enum { KEYS = 6 };
static const double times[KEYS] = {-0.5, 0.2, 0.9, 1.1, 2.5, 3};

typedef struct {
    double position[3 * KEYS], rotation[4 * KEYS];
    bough_track track;
} way;

/* Keys that turn by up to a radian or so from one to the next; lengths and signs of quaternions are anything. */
static void find_way(way *w, uint64_t seed) {
    test_random random = {seed};
    bo_quat q = bo_quat_identity();
    for (int i = 0; i < KEYS; i++) {
        double turn[3], length = test_uniform(&random, -3, 3);
        for (int d = 0; d < 3; d++) {
            w->position[3 * i + d] = test_uniform(&random, -1, 1);
            turn[d] = test_uniform(&random, -0.6, 0.6);
        }
        q = bo_quat_mul(bo_quat_exp(bo_load3(turn)), q);
        const double values[4] = {length * q.w, length * q.x, length * q.y, length * q.z};
        memcpy(w->rotation + 4 * i, values, sizeof values);
    }
    w->track = (bough_track){KEYS, times, w->position, w->rotation};
}

static double distance(bo_vec3 a, bo_vec3 b) {
    return bo_norm(bo_sub(a, b));
}

static void keys_are_hit(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    way w;
    bo_spline *spline;
    find_way(&w, 1);
    check_ok(ctx, bo_track_make(ctx, &w.track, &spline));
    for (int i = 0; i < KEYS; i++) {
        const double *q = w.rotation + 4 * i;
        bo_mat3 R = bo_quat_to_matrix((bo_quat){q[0], q[1], q[2], q[3]});
        bo_track_pose pose;
        bo_track_at(spline, times[i], &pose);
        check(memcmp(&pose.position, w.position + 3 * i, sizeof pose.position) == 0);
        for (int k = 0; k < 9; k++)
            check_near(pose.rotation.m[k], R.m[k], 1e-15);
    }
    bo_track_free(ctx, spline);
    bough_context_destroy(ctx);
}

/* Velocities are those of the poses, accelerations those of the velocities; R' = w~ R. */
static void derivatives_are_those_of_the_pose(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double h = 1e-5;
    for (uint64_t seed = 1; seed < 8; seed++) {
        way w;
        bo_spline *spline;
        find_way(&w, seed);
        check_ok(ctx, bo_track_make(ctx, &w.track, &spline));
        double fastest = 0, turned = 0;
        for (double t = -0.4987; t < 2.999; t += 0.0317) {
            bo_track_pose a, b, c;
            bo_track_at(spline, t - h, &a);
            bo_track_at(spline, t, &b);
            bo_track_at(spline, t + h, &c);
            bo_mat3 slope = bo_mat_scale(0.5 / h, bo_mat_sub(c.rotation, a.rotation));
            bo_vec3 turning = bo_skew(bo_mat_mul(slope, bo_transpose(b.rotation)));
            check_below(distance(b.velocity, bo_scale(0.5 / h, bo_sub(c.position, a.position))), 1e-6);
            check_below(distance(b.angular_velocity, turning), 1e-6);
            check_below(distance(b.acceleration, bo_scale(0.5 / h, bo_sub(c.velocity, a.velocity))), 2e-8);
            check_below(
                distance(b.angular_acceleration, bo_scale(0.5 / h, bo_sub(c.angular_velocity, a.angular_velocity))),
                5e-7);
            check_near(bo_det(b.rotation), 1, 1e-12);
            fastest = fmax(fastest, bo_norm(b.acceleration));
            turned = fmax(turned, bo_norm(b.angular_acceleration));
        }
        check(fastest > 10 && turned > 1);
        bo_track_free(ctx, spline);
    }
    bough_context_destroy(ctx);
}

/* All that is smooth goes on from one side of a key to the other; both ends are at rest. */
static void motion_is_smooth(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double h = 1e-9;
    way w;
    bo_spline *spline;
    bo_track_pose a, b;
    find_way(&w, 3);
    check_ok(ctx, bo_track_make(ctx, &w.track, &spline));
    for (int i = 0; i < KEYS; i++) {
        bo_track_at(spline, times[i] - h, &a);
        bo_track_at(spline, times[i] + h, &b);
        check_below(distance(a.velocity, b.velocity), 1e-6);
        check_below(distance(a.angular_velocity, b.angular_velocity), 1e-6);
        if (i == 0 || i == KEYS - 1) {
            check_below(bo_norm(b.velocity) + bo_norm(b.angular_velocity), 1e-6);
            continue;
        }
        check_below(distance(a.acceleration, b.acceleration), 1e-4);
        check_below(distance(a.angular_acceleration, b.angular_acceleration), 1e-4);
    }
    for (int side = 0; side < 2; side++) {
        bo_track_at(spline, side ? 100 : -100, &a);
        check(memcmp(&a.position, w.position + (side ? 3 * (KEYS - 1) : 0), sizeof a.position) == 0);
        check(bo_norm(a.velocity) == 0 && bo_norm(a.angular_velocity) == 0 && bo_norm(a.acceleration) == 0 &&
              bo_norm(a.angular_acceleration) == 0);
    }
    bo_track_free(ctx, spline);
    bough_context_destroy(ctx);
}

/* Equal poses, also with the other sign of the quaternion, and a single key. */
static void constant_tracks_are_at_rest(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double t[3] = {0, 1, 3}, x[9] = {1, 2, 3, 1, 2, 3, 1, 2, 3};
    const double q[12] = {0.5, 0.5, -0.5, 0.5, -2, -2, 2, -2, 1, 1, -1, 1};
    for (int32_t count = 1; count <= 3; count += 2) {
        bo_spline *spline;
        check_ok(ctx, bo_track_make(ctx, &(bough_track){count, t, x, q}, &spline));
        for (double at = -1; at < 4; at += 0.25) {
            bo_track_pose pose;
            bo_track_at(spline, at, &pose);
            check(distance(pose.position, bo_v3(1, 2, 3)) == 0);
            check_below(bo_norm(pose.velocity) + bo_norm(pose.angular_velocity), 1e-15);
            check_below(bo_norm(pose.acceleration) + bo_norm(pose.angular_acceleration), 1e-15);
        }
        bo_track_free(ctx, spline);
    }
    bough_context_destroy(ctx);
}

/* Between two keys, with rest at both ends, the cubic is the smooth step 3 s^2 - 2 s^3. */
static void two_keys_are_a_smooth_step(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double t[2] = {1, 3}, x[6] = {0, 0, 0, 0, 4, 0}, q[8] = {1, 0, 0, 0, 0, 0, 0, 1}; /* half a turn about z */
    bo_spline *spline;
    bo_track_pose pose;
    check_ok(ctx, bo_track_make(ctx, &(bough_track){2, t, x, q}, &spline));
    for (double s = 0; s <= 1; s += 0.125) {
        bo_track_at(spline, 1 + 2 * s, &pose);
        check_near(pose.position.y, 4 * s * s * (3 - 2 * s), 1e-14);
        check_near(pose.velocity.y, s == 1 ? 0 : 12 * s * (1 - s), 1e-13);
        check_near(pose.angular_velocity.x, 0, 1e-14);
        check(s == 0 || s == 1 || pose.angular_velocity.z > 0);
    }
    bo_track_at(spline, 2, &pose);
    check_near(pose.rotation.m[3], 1, 1e-14); /* a quarter turn half way */
    bo_track_free(ctx, spline);
    bough_context_destroy(ctx);
}

static void models_check_tracks(void **unused) {
    (void)unused;
    static const struct {
        int32_t part, count;
        double t1, x1, w1;
        const char *sentence;
    } cases[] = {{0, 0, 1, 0, 1, NULL},
                 {0, 2, 1, 0, 1, NULL},
                 {1, 2, 1, 0, 1, "a track can lead a root only"},
                 {0, -1, 1, 0, 1, "at least one key"},
                 {0, 2, 0, 0, 1, "times must ascend"},
                 {0, 2, NAN, 0, 1, "times must ascend"},
                 {0, 2, 1, INFINITY, 1, "position is not finite"},
                 {0, 2, 1, 0, 0, "no quaternion"},
                 {0, 2, 1, 0, NAN, "no quaternion"},
                 {0, 2, 1e-300, 1, 1, "too near in time"}};
    for (int flies = 0; flies < 2; flies++) {
        bough_context *ctx = test_context(1);
        bars b;
        prepare_bars(&b, ctx, 2, 0, flies);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const double t[2] = {0, cases[i].t1}, x[6] = {0, 0, 0, cases[i].x1}, q[8] = {1, 0, 0, 0, cases[i].w1};
            const bough_component *components[2] = {b.root, b.limb};
            const char *sentence = flies && cases[i].count ? "a track can lead a root only" : cases[i].sentence;
            bough_tree_model *model;
            b.parts[0].name = "stem";
            b.parts[0].track = b.parts[1].track = (bough_track){0};
            b.parts[cases[i].part].track = (bough_track){cases[i].count, t, x, q};
            b.def.components = components, b.def.parts = b.parts;
            if (sentence) {
                check_fails(ctx, bough_tree_model_create(ctx, &b.def, &model), BOUGH_ERROR_ARGUMENT, sentence);
                check(cases[i].part == 1 || strstr(bough_message(ctx), "part \"stem\""));
                continue;
            }
            check_ok(ctx, bough_tree_model_create(ctx, &b.def, &model));
            check((model->parts[model->inside[0]].track != NULL) == (cases[i].count > 0));
            check(model->parts[model->inside[1]].track == NULL);
            bough_tree_model_destroy(ctx, model);
        }
        clear_bars(&b);
        bough_context_destroy(ctx);
    }
}

/* Wild turns in wild times: splines may swing so far that the quaternion between two keys comes near to zero. Such
 * tracks are refused, and no other turns faster than its keys can explain. */
static void tracks_that_lose_their_direction_are_refused(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random random = {7};
    int refused = 0, kept = 0;
    for (int trial = 0; trial < 3000; trial++) {
        double t[4], q[16] = {0}, angle = 0, shortest = INFINITY, fastest = 0;
        const double x[12] = {0};
        for (int i = 0; i < 4; i++) {
            t[i] = i == 0 ? 0 : t[i - 1] + exp(test_uniform(&random, -3, 1));
            shortest = i == 0 ? shortest : fmin(shortest, t[i] - t[i - 1]);
            q[4 * i] = cos(angle), q[4 * i + 3] = sin(angle);
            angle += test_uniform(&random, -1.5, 1.5);
        }
        bo_spline *spline;
        if (bo_track_make(ctx, &(bough_track){4, t, x, q}, &spline) != BOUGH_OK) {
            check(strstr(bough_message(ctx), "turns too far"));
            refused++;
            continue;
        }
        kept++;
        for (double at = 0; at < t[3]; at += t[3] / 500) {
            bo_track_pose pose;
            bo_track_at(spline, at, &pose);
            fastest = fmax(fastest, bo_norm(pose.angular_velocity));
        }
        check_below(fastest, 60 / shortest);
        bo_track_free(ctx, spline);
    }
    print_message("%d tracks refused, %d kept\n", refused, kept);
    check(refused > 0 && kept > 20 * refused);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_hit),
        cmocka_unit_test(derivatives_are_those_of_the_pose),
        cmocka_unit_test(motion_is_smooth),
        cmocka_unit_test(constant_tracks_are_at_rest),
        cmocka_unit_test(two_keys_are_a_smooth_step),
        cmocka_unit_test(models_check_tracks),
        cmocka_unit_test(tracks_that_lose_their_direction_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
