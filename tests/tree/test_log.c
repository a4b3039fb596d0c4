/* Recordings: whatever is done to a state, done again, ends with the same bits. */
#include "garden.h"

#include "tree/log.h"

enum { TREES = 3, ON_EACH = 4, PARTS = TREES * ON_EACH };
static const double dt = 1.0 / 240;

/* Two trees that fly and one that is led, with a hinge, a ball, and two that are tied: all that states can have. */
static const double track_time[3] = {0, 0.5, 1};
static const double track_position[9] = {0, 0, 0, 0.2, 0, 0.1, 0, 0.3, 0};
static const double track_rotation[12] = {1, 0, 0, 0, 0.98, 0.2, 0, 0, 1, 0, 0, 0};

typedef struct {
    garden g;
    bough_tie tie;
} yard;

static void lay_out_yard(yard *y, bool rich) {
    garden *g = &y->g;
    test_random random = {5};
    add_kind(g, 5, 3, BOUGH_REDUCED_POLYNOMIAL, true);
    add_kind(g, 4, 3, BOUGH_REDUCED_POLYNOMIAL, false);
    for (int tree = 0; tree < TREES; tree++) {
        const int32_t root = g->def.part_count;
        add_part(g, &random, tree == 2, -1, 0);
        add_part(g, &random, 1, root, 1);
        add_part(g, &random, 1, root + 1, 1);
        add_part(g, &random, 1, root, 2);
    }
    for (int32_t i = 0; i < PARTS; i++)
        g->parts[i].damping_mass = 1;
    if (!rich)
        return;
    g->parts[2 * ON_EACH].track = (bough_track){3, track_time, track_position, track_rotation};
    g->parts[1].joint = (bough_joint){.kind = BOUGH_JOINT_HINGE, .axis = {1, 2, 3}, .stiffness = 5};
    g->parts[5].joint = (bough_joint){.kind = BOUGH_JOINT_BALL, .stiffness = 5};
    y->tie = bough_default_tie();
    y->tie.part[0] = 2, y->tie.part[1] = 3, y->tie.interface[0] = y->tie.interface[1] = 1;
    y->tie.stiffness = 2e3, y->tie.turning_stiffness = 50;
    g->def.tie_count = 1, g->def.ties = &y->tie;
}

static yard *make_yard_in(bough_context *ctx, bool rich) {
    yard *y = calloc(1, sizeof *y);
    y->g = (garden){.ctx = ctx, .parts = calloc(MOST_PARTS, sizeof *y->g.parts), .def = bough_default_model_def()};
    lay_out_yard(y, rich);
    return y;
}

static yard *make_yard(int32_t threads, bool rich) {
    yard *y = make_yard_in(test_context(threads), rich);
    plant(&y->g);
    return y;
}

static void leave_yard(yard *y) {
    clear(&y->g);
    free(y);
}

/* ---- a wild session ---- */

typedef struct {
    garden *g;
    test_random random;
    void *kept; /* a snapshot */
    size_t kept_size;
    int refused, refused_changes, changed; /* how much of it there was */
} session;

static int32_t any(session *s, int32_t count) {
    return (int32_t)(test_bits(&s->random) % (uint64_t)count);
}

static void push_somewhere(session *s) {
    garden *g = s->g;
    const int32_t part = any(s, PARTS);
    double at[3], twist[3];
    float forces[3 * GROWN_SURFACE * 8];
    for (int d = 0; d < 3; d++)
        at[d] = test_uniform(&s->random, -2, 2), twist[d] = test_uniform(&s->random, -1, 1);
    for (size_t k = 0; k < sizeof forces / sizeof *forces; k++)
        forces[k] = (float)test_uniform(&s->random, -0.3, 0.3);
    if (bough_state_parts(g->model, g->state)[part].absent)
        return;
    switch (any(s, 6)) { /* those on parts that hang on absent ones, or by no joint, are refused */
    case 0:
        bough_state_add_force(g->ctx, g->model, g->state, part, 1, at);
        break;
    case 1:
        bough_state_add_wrench(g->ctx, g->model, g->state, part, at, twist);
        break;
    case 2:
        bough_state_add_joint_torque(g->ctx, g->model, g->state, part, twist);
        break;
    case 3:
        check(g->components[g->parts[part].component]->surface.vertex_count <= GROWN_SURFACE * 8);
        bough_state_add_surface_forces(g->ctx, g->model, g->state, part, forces);
        break;
    case 4:
        bough_state_add_wrench(g->ctx, g->model, g->state, part, (double[3]){0}, (double[3]){0});
        break;
    default:
        bough_state_pull(g->ctx, g->model, g->state, part, 2, at, 5, 0.1);
        break;
    }
}

static void write_somewhere(session *s) {
    bough_state *state = s->g->state;
    const int32_t k = any(s, bough_model_size(s->g->model)), part = any(s, PARTS);
    switch (any(s, 12)) {
    case 0:
        state->q[k] += test_uniform(&s->random, -0.01, 0.01);
        break;
    case 1:
        state->v[k] += test_uniform(&s->random, -0.1, 0.1);
        break;
    case 2:
        state->a[k] = 0;
        break;
    case 3:
        state->stiffness[part] = test_uniform(&s->random, 0.5, 1.5);
        break;
    case 4:
        state->damping_mass[part] = test_uniform(&s->random, 0.5, 2);
        break;
    case 5:
        state->damping_stiffness[part] = test_uniform(&s->random, 0, 1e-3);
        break;
    case 6:
        if (s->g->def.tie_count > 0)
            state->tie_strength[0] = any(s, 2);
        break;
    case 7:
        state->time += 0.01;
        break;
    case 8:
        state->passes = any(s, 3);
        break;
    case 9:
        state->alpha = -0.3 * any(s, 2);
        break;
    case 10:
        for (int32_t r = 0; r < state->root_count; r++)
            state->roots[r].velocity[any(s, 3)] *= 0.9;
        break;
    default:
        if (s->g->def.tie_count == 0)
            state->coupling = (bough_coupling)any(s, 4);
        break;
    }
}

static void blow(session *s) {
    bough_wind *wind = &s->g->state->wind;
    for (int d = 0; d < 3; d++)
        wind->velocity[d] = test_uniform(&s->random, -2, 2);
    wind->seed = test_bits(&s->random);
    wind->gust = test_uniform(&s->random, 0, 1);
}

static void change_something(session *s) {
    garden *g = s->g;
    const bough_change c = {.kind = (bough_change_kind)any(s, 7),
                            .part = any(s, PARTS),
                            .parent = any(s, PARTS + 1) - 1,
                            .interface = any(s, 3),
                            .pose = {{0, 0, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0}, {0, 0, 1}}};
    if (bough_state_change(g->ctx, g->model, g->state, 1, &c) == BOUGH_OK)
        s->changed++;
    else
        s->refused_changes++;
}

/* Steps that fail, and leave what they tried. */
static void fail_somehow(session *s) {
    garden *g = s->g;
    const double huge[3] = {0, 3e4, 1e5};
    const double alpha = g->state->alpha;
    switch (any(s, 3)) {
    case 0:
        check(bough_step(g->ctx, g->model, g->state, -1) != BOUGH_OK);
        break;
    case 1:
        g->state->alpha = 5;
        check(bough_step(g->ctx, g->model, g->state, dt) != BOUGH_OK);
        g->state->alpha = alpha;
        break;
    default:
        for (int32_t i = 0; i < PARTS; i++)
            if (bough_state_add_force(g->ctx, g->model, g->state, i, 0, huge) == BOUGH_OK)
                check(g->state->work->pushed);
        s->refused += bo_tree_step_gently(g->ctx, g->model, g->state, 0.05) != BOUGH_OK;
        bough_state_clear_forces(g->model, g->state);
        break;
    }
}

static void look_or_jump(session *s) {
    garden *g = s->g;
    bough_energies e;
    switch (any(s, 5)) {
    case 0:
        write_somewhere(s);
        check_ok(g->ctx, bough_state_energies(g->ctx, g->model, g->state, &e));
        write_somewhere(s); /* what was looked at is not where it starts from */
        break;
    case 1:
        check_ok(g->ctx, bough_state_update(g->ctx, g->model, g->state));
        break;
    case 2:
        free(s->kept);
        s->kept_size = bough_state_snapshot_size(g->model, g->state);
        s->kept = malloc(s->kept_size);
        bough_state_save(g->model, g->state, s->kept);
        break;
    case 3:
        if (s->kept)
            check_ok(g->ctx, bough_state_restore(g->ctx, g->model, g->state, s->kept, s->kept_size));
        check(bough_state_restore(g->ctx, g->model, g->state, "no", 2) != BOUGH_OK);
        break;
    default:
        bough_state_settle(g->ctx, g->model, g->state, NULL, NULL);
        break;
    }
}

static void live(garden *g, uint64_t seed, int count, session *s) {
    *s = (session){.g = g, .random = {seed}};
    for (int i = 0; i < count; i++) {
        static void (*const acts[])(session *) = {push_somewhere,   push_somewhere, write_somewhere, blow,
                                                  change_something, fail_somehow,   look_or_jump};
        acts[any(s, 7)](s);
        if (any(s, 4) == 0)
            continue;
        const bough_status status = any(s, 2) ? bough_step(g->ctx, g->model, g->state, dt)
                                              : bough_advance(g->ctx, g->model, g->state, dt, NULL);
        if (status != BOUGH_OK) { /* it went too far: something else */
            s->refused++;
            for (int32_t k = 0; k < bough_model_size(g->model); k++)
                g->state->v[k] = g->state->a[k] = 0, g->state->q[k] *= 0.5;
            bough_state_update(g->ctx, g->model, g->state);
        }
    }
    free(s->kept);
}

static void *snap(const bough_model *model, const bough_state *state, size_t *size) {
    *size = bough_state_snapshot_size(model, state);
    void *bytes = malloc(*size);
    bough_state_save(model, state, bytes);
    return bytes;
}

static void check_replay(bough_context *ctx, const bough_model *model, bough_state *state, const bough_log *log,
                         const void *end, size_t size) {
    bool same = false;
    size_t now;
    check_ok(ctx, bough_log_replay(ctx, model, state, log, NULL, NULL, &same));
    void *bytes = snap(model, state, &now);
    check(now == size && memcmp(bytes, end, size) == 0);
    check(same);
    free(bytes);
}

/* In the same state, in a new one, from a file with two threads, and recorded while it is replayed. */
static void a_session_replays_to_the_bit(yard *y, uint64_t seed, int count) {
    garden *g = &y->g;
    bough_log *log, *loaded, *again;
    session s;
    size_t size;
    const int64_t before = bough_model_size(g->model);
    check_ok(g->ctx, bough_log_start(g->ctx, g->model, g->state, &log));
    check(!bough_log_describe(log).complete);
    live(g, seed, count, &s);
    printf("%d %d %d %g\n", s.refused, s.refused_changes, s.changed, length_of((int32_t)before, g->state->q));
    g->state->q[before - 1] += 1e-9; /* after the last step */
    check_ok(g->ctx, bough_log_stop(g->ctx, g->model, log));
    void *end = snap(g->model, g->state, &size);
    const bough_log_info info = bough_log_describe(log);
    check(info.complete && info.end_time == g->state->time && info.steps > count / 4);
    check_ok(g->ctx, bough_log_save(g->ctx, log, test_path("session.log")));
    check_replay(g->ctx, g->model, g->state, log, end, size);
    yard *other = make_yard(2, g->def.tie_count > 0);
    garden *h = &other->g;
    check_ok(h->ctx, bough_log_load(h->ctx, test_path("session.log"), &loaded));
    check(bough_log_describe(loaded).steps == info.steps && bough_log_describe(loaded).size == info.size);
    check_ok(h->ctx, bough_log_start(h->ctx, h->model, h->state, &again));
    check_replay(h->ctx, h->model, h->state, loaded, end, size);
    check_ok(h->ctx, bough_log_stop(h->ctx, h->model, again));
    check_replay(g->ctx, g->model, g->state, again, end, size);
    bough_log_destroy(h->ctx, loaded);
    bough_log_destroy(h->ctx, again);
    leave_yard(other);
    bough_log_destroy(g->ctx, log);
    free(end);
}

static void wild_sessions_replay_to_the_bit(void **unused) {
    (void)unused;
    for (int rich = 0; rich < 2; rich++)
        for (uint64_t seed = 1; seed <= (test_long() ? 100 : 8); seed++) {
            yard *y = make_yard(1, rich);
            stir(&y->g, seed, 0.02, 0.2);
            a_session_replays_to_the_bit(y, seed, 120);
            leave_yard(y);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wild_sessions_replay_to_the_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
