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
    bough_joint_def tie;
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
    g->parts[1].joint = hinge_about(1, 2, 3, 5, 0);
    g->parts[5].joint = ball_joint(5, 0);
    y->tie = tie_of(2, 1, 3, 1, 2e3, 50);
    g->def.tie_count = 1, g->def.ties = &y->tie;
}

static yard *make_yard_in(bough_context *ctx, bool rich) {
    yard *y = calloc(1, sizeof *y);
    y->g = (garden){.ctx = ctx, .parts = calloc(MOST_PARTS, sizeof *y->g.parts), .def = bough_default_tree_model_def()};
    test_weigh(y->g.def.gravity);
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
    if (bough_tree_state_parts(g->model, g->state)[part].absent)
        return;
    switch (any(s, 6)) { /* those on parts that hang on absent ones, or by no joint, are refused */
    case 0:
        bough_tree_state_add_force(g->ctx, g->model, g->state, part, 1, at);
        break;
    case 1:
        bough_tree_state_add_wrench(g->ctx, g->model, g->state, part, at, twist);
        break;
    case 2:
        bough_tree_state_add_joint_torque(g->ctx, g->model, g->state, part, twist);
        break;
    case 3:
        check(g->components[g->parts[part].component]->surface.vertex_count <= GROWN_SURFACE * 8);
        bough_tree_state_add_surface_forces(g->ctx, g->model, g->state, part, forces);
        break;
    case 4:
        bough_tree_state_add_wrench(g->ctx, g->model, g->state, part, (double[3]){0}, (double[3]){0});
        break;
    default:
        bough_tree_state_pull(g->ctx, g->model, g->state, part, 2, at, 5, 0.1);
        break;
    }
}

static void write_somewhere(session *s) {
    bough_tree_state *state = s->g->state;
    const int32_t k = any(s, bough_tree_model_size(s->g->model)), part = any(s, PARTS);
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
        state->alpha = -0.3 * any(s, 2), state->gravity[1] = any(s, 3);
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
                            .interface_index = any(s, 3),
                            .frame = {{{0, 0, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}, {1, 0, 0}, {0, 0, 1}}};
    if (bough_tree_state_change(g->ctx, g->model, g->state, 1, &c) == BOUGH_OK)
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
        check(bough_tree_step(g->ctx, g->model, g->state, -1) != BOUGH_OK);
        break;
    case 1:
        g->state->alpha = 5;
        check(bough_tree_step(g->ctx, g->model, g->state, dt) != BOUGH_OK);
        g->state->alpha = alpha;
        break;
    default:
        for (int32_t i = 0; i < PARTS; i++)
            if (bough_tree_state_add_force(g->ctx, g->model, g->state, i, 0, huge) == BOUGH_OK)
                check(bo_tree_work_of(g->state)->pushed);
        s->refused += bo_tree_step_gently(g->ctx, g->model, g->state, 0.05) != BOUGH_OK;
        bough_tree_state_clear_forces(g->model, g->state);
        break;
    }
}

static void look_or_jump(session *s) {
    garden *g = s->g;
    bough_tree_energies e;
    switch (any(s, 5)) {
    case 0:
        write_somewhere(s);
        check_ok(g->ctx, bough_tree_state_energies(g->ctx, g->model, g->state, &e));
        write_somewhere(s); /* what was looked at is not where it starts from */
        break;
    case 1:
        check_ok(g->ctx, bough_tree_state_update(g->ctx, g->model, g->state));
        break;
    case 2:
        free(s->kept);
        s->kept_size = bough_tree_state_snapshot_size(g->model, g->state);
        s->kept = malloc(s->kept_size);
        bough_tree_state_save(g->model, g->state, s->kept);
        break;
    case 3:
        if (s->kept)
            check_ok(g->ctx, bough_tree_state_restore(g->ctx, g->model, g->state, s->kept, s->kept_size));
        check(bough_tree_state_restore(g->ctx, g->model, g->state, "no", 2) != BOUGH_OK);
        break;
    default:
        bough_tree_state_settle(g->ctx, g->model, g->state, NULL, NULL);
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
        const bough_status status = any(s, 2) ? bough_tree_step(g->ctx, g->model, g->state, dt)
                                              : bough_tree_advance(g->ctx, g->model, g->state, dt, NULL);
        if (status != BOUGH_OK) { /* it went too far: something else */
            s->refused++;
            for (int32_t k = 0; k < bough_tree_model_size(g->model); k++)
                g->state->v[k] = g->state->a[k] = 0, g->state->q[k] *= 0.5;
            bough_tree_state_update(g->ctx, g->model, g->state);
        }
    }
    free(s->kept);
}

static void *snap(const bough_tree_model *model, const bough_tree_state *state, size_t *size) {
    *size = bough_tree_state_snapshot_size(model, state);
    void *bytes = malloc(*size);
    bough_tree_state_save(model, state, bytes);
    return bytes;
}

static void check_replay(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                         const bough_tree_log *log, const void *end, size_t size) {
    bool same = false;
    size_t now;
    check_ok(ctx, bough_tree_log_replay(ctx, model, state, log, NULL, NULL, &same));
    void *bytes = snap(model, state, &now);
    check(now == size && memcmp(bytes, end, size) == 0);
    check(same);
    free(bytes);
}

/* In the same state, in a new one, from a file with two threads, and recorded while it is replayed. */
static void a_session_replays_to_the_bit(yard *y, uint64_t seed, int count, session *seen) {
    garden *g = &y->g;
    bough_tree_log *log, *loaded, *again;
    session s;
    size_t size;
    const int64_t before = bough_tree_model_size(g->model);
    check_ok(g->ctx, bough_tree_log_start(g->ctx, g->model, g->state, &log));
    check(!bough_tree_log_describe(log).complete);
    live(g, seed, count, &s);
    seen->refused += s.refused, seen->changed += s.changed, seen->refused_changes += s.refused_changes;
    g->state->q[before - 1] += 1e-9; /* after the last step */
    check_ok(g->ctx, bough_tree_log_stop(g->ctx, g->model, log));
    void *end = snap(g->model, g->state, &size);
    const bough_tree_log_info info = bough_tree_log_describe(log);
    check(info.complete && info.end_time == g->state->time && info.steps > count / 4);
    check_ok(g->ctx, bough_tree_log_save(g->ctx, log, test_path("session.log")));
    check_replay(g->ctx, g->model, g->state, log, end, size);
    yard *other = make_yard(2, g->def.tie_count > 0);
    garden *h = &other->g;
    check_ok(h->ctx, bough_tree_log_load(h->ctx, test_path("session.log"), &loaded));
    check(bough_tree_log_describe(loaded).steps == info.steps && bough_tree_log_describe(loaded).size == info.size);
    check_ok(h->ctx, bough_tree_log_start(h->ctx, h->model, h->state, &again));
    check_replay(h->ctx, h->model, h->state, loaded, end, size);
    check_ok(h->ctx, bough_tree_log_stop(h->ctx, h->model, again));
    check_replay(g->ctx, g->model, g->state, again, end, size);
    bough_tree_log_destroy(h->ctx, loaded);
    bough_tree_log_destroy(h->ctx, again);
    leave_yard(other);
    bough_tree_log_destroy(g->ctx, log);
    free(end);
}

static void wild_sessions_replay_to_the_bit(void **unused) {
    (void)unused;
    for (int rich = 0; rich < 2; rich++) {
        session seen = {0};
        for (uint64_t seed = 1; seed <= (test_long() ? 100 : 10); seed++) {
            yard *y = make_yard(1, rich);
            stir(&y->g, seed, 0.02, 0.2);
            a_session_replays_to_the_bit(y, seed, 120, &seen);
            leave_yard(y);
        }
        check(seen.refused > 20 && seen.changed > 60 && seen.refused_changes > 20);
    }
}

/* Whether somebody takes notes or not. */
static void recording_changes_nothing(void **unused) {
    (void)unused;
    for (int rich = 0; rich < 2; rich++) {
        yard *y[2] = {make_yard(1, rich), make_yard(1, rich)};
        bough_tree_log *log = NULL;
        void *end[2];
        size_t size[2];
        for (int k = 0; k < 2; k++) {
            garden *g = &y[k]->g;
            session s;
            stir(g, 11, 0.02, 0.2);
            if (k == 1)
                check_ok(g->ctx, bough_tree_log_start(g->ctx, g->model, g->state, &log));
            live(g, 12, 200, &s);
            end[k] = snap(g->model, g->state, &size[k]);
        }
        check(size[0] == size[1] && memcmp(end[0], end[1], size[0]) == 0);
        bough_tree_log_destroy(y[1]->g.ctx, log);
        free(end[0]), free(end[1]);
        leave_yard(y[0]);
        leave_yard(y[1]);
    }
}

/* A state that is put back where it was before a step that was refused: not much is different. */
static void going_back_is_cheap(void **unused) {
    (void)unused;
    garden g = small_forest(true);
    bough_tree_log *log;
    const double huge[3] = {0, 3e4, 1e5};
    size_t size;
    check_ok(g.ctx, bough_tree_log_start(g.ctx, g.model, g.state, &log));
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, dt));
    void *kept = snap(g.model, g.state, &size);
    check_ok(g.ctx, bough_tree_state_add_force(g.ctx, g.model, g.state, 2, 1, huge));
    check(bo_tree_step_gently(g.ctx, g.model, g.state, 0.05) != BOUGH_OK);
    const size_t before = bough_tree_log_describe(log).size;
    check_ok(g.ctx, bough_tree_state_restore(g.ctx, g.model, g.state, kept, size));
    check_below((double)(bough_tree_log_describe(log).size - before), 0.5 * (double)size);
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, dt));
    check_ok(g.ctx, bough_tree_log_stop(g.ctx, g.model, log));
    void *end = snap(g.model, g.state, &size);
    check_replay(g.ctx, g.model, g.state, log, end, size);
    bough_tree_log_destroy(g.ctx, log);
    free(kept), free(end);
    clear(&g);
}

/* Decompositions start from where somebody looked last, which is not where the state was. */
static void looking_is_recorded(void **unused) {
    (void)unused;
    garden g = small_forest(false);
    bough_tree_energies e;
    bough_tree_log *log;
    size_t size;
    check_ok(g.ctx, bough_tree_log_start(g.ctx, g.model, g.state, &log));
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, dt));
    for (int i = 0; i < 2; i++) {
        for (int32_t k = 0; k < bough_tree_model_size(g.model); k++)
            g.state->q[k] += 0.01 * sin(k + i);
        if (i == 0)
            check_ok(g.ctx, bough_tree_state_energies(g.ctx, g.model, g.state, &e));
    }
    check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state));
    check_ok(g.ctx, bough_tree_log_stop(g.ctx, g.model, log));
    void *end = snap(g.model, g.state, &size);
    check_replay(g.ctx, g.model, g.state, log, end, size);
    bough_tree_log_destroy(g.ctx, log);
    free(end);
    clear(&g);
}

/* A root that was led and is held where it was then stays there in a state in which it is led. */
/* A load on a part that was removed acts on it with the same numbers when it is back: the recording sees that again. */
static void pushes_on_parts_that_come_back_are_recorded(void **unused) {
    (void)unused;
    const double push[3] = {3, 0, 0}, turn[3] = {0, 1, 0};
    garden g = till(1);
    test_random random = {9};
    bough_tree_log *log;
    bool same;
    add_kind(&g, 4, 2, BOUGH_REDUCED_POLYNOMIAL, false);
    for (int root = 0; root < 2; root++)
        add_part(&g, &random, 0, -1, 0);
    plant(&g);
    const bough_change gone = {.kind = BOUGH_CHANGE_REMOVE, .part = 1};
    const bough_change back = {.kind = BOUGH_CHANGE_ADD, .part = 1, .frame = g.state->frames[1]};
    check_ok(g.ctx, bough_tree_log_start(g.ctx, g.model, g.state, &log));
    check_ok(g.ctx, bough_tree_state_add_wrench(g.ctx, g.model, g.state, 1, push, turn));
    check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state));
    check_ok(g.ctx, bough_tree_state_change(g.ctx, g.model, g.state, 1, &gone));
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, dt));
    check_ok(g.ctx, bough_tree_state_change(g.ctx, g.model, g.state, 1, &back));
    check_ok(g.ctx, bough_tree_state_add_wrench(g.ctx, g.model, g.state, 1, push, turn));
    check_ok(g.ctx, bough_tree_log_stop(g.ctx, g.model, log));
    check_ok(g.ctx, bough_tree_log_replay(g.ctx, g.model, g.state, log, NULL, NULL, &same));
    check(same);
    bough_tree_log_destroy(g.ctx, log);
    clear(&g);
}

static void roots_that_were_led_stay(void **unused) {
    (void)unused;
    yard *y = make_yard(1, true), *other = make_yard(1, true);
    garden *g = &y->g, *h = &other->g;
    size_t size;
    check_ok(g->ctx, bough_tree_step(g->ctx, g->model, g->state, 0.1));
    check_ok(g->ctx, bough_tree_state_attach(g->ctx, g->model, g->state, 2 * ON_EACH, -1, 0));
    void *bytes = snap(g->model, g->state, &size);
    check_ok(h->ctx, bough_tree_state_restore(h->ctx, h->model, h->state, bytes, size));
    for (int i = 0; i < 3; i++) {
        check_ok(g->ctx, bough_tree_step(g->ctx, g->model, g->state, dt));
        check_ok(h->ctx, bough_tree_step(h->ctx, h->model, h->state, dt));
    }
    check(memcmp(g->state->frames, h->state->frames, PARTS * sizeof(bough_frame)) == 0);
    free(bytes);
    leave_yard(y);
    leave_yard(other);
}

/* Every method, from its middle, and from one to the next; hybrid ones forget their modes where the recording begins.
 */
static void methods_replay_too(void **unused) {
    (void)unused;
    garden g = small_forest(false);
    bough_tree_state *other;
    size_t size;
    check_ok(g.ctx, bough_tree_state_create(g.ctx, g.model, &other));
    for (int32_t i = 0; i < g.def.part_count; i++) /* ere wants one kind of it */
        g.state->damping_mass[i] = g.state->damping_stiffness[i] = 0;
    for (int32_t m = 0; m < bough_integrator_count(); m++) {
        char name[32] = "";
        bough_integrator_def def = bough_default_integrator_def();
        bough_tree_log *log;
        memcpy(name, bough_integrator_describe(m)->name, strlen(bough_integrator_describe(m)->name));
        def.name = name, def.mode_count = 3;
        stir(&g, 7, 0.02, 0.2);
        check_ok(g.ctx, bough_tree_state_use_integrator(g.ctx, g.model, g.state, &def));
        memset(name, '?', sizeof name - 1); /* it is the caller's */
        for (int i = 0; i < 3; i++)
            check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 1e-3));
        check_ok(g.ctx, bough_tree_log_start(g.ctx, g.model, g.state, &log));
        for (int i = 0; i < 9; i++) {
            check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 1e-3));
            if (i == 2)
                g.state->q[1] += 1e-3;
            if (i == 4)
                check_ok(g.ctx, bough_tree_state_attach(g.ctx, g.model, g.state, 5, 6, 2));
            if (i == 6)
                check(bough_tree_state_lock(g.ctx, g.model, g.state, 4, true) != BOUGH_OK); /* no method knows locks */
        }
        def.name = bough_integrator_describe((m + 1) % bough_integrator_count())->name;
        check_ok(g.ctx, bough_tree_state_use_integrator(g.ctx, g.model, g.state, &def));
        for (int i = 0; i < 3; i++)
            check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 1e-3));
        check_ok(g.ctx, bough_tree_state_use_integrator(g.ctx, g.model, g.state, NULL));
        check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 1e-3));
        check_ok(g.ctx, bough_tree_log_stop(g.ctx, g.model, log));
        void *end = snap(g.model, g.state, &size);
        check_replay(g.ctx, g.model, other, log, end, size);
        check_replay(g.ctx, g.model, g.state, log, end, size);
        check_ok(g.ctx, bough_tree_state_attach(g.ctx, g.model, g.state, 5, 4, 1));
        bough_tree_log_destroy(g.ctx, log);
        free(end);
    }
    bough_tree_state_destroy(g.ctx, other);
    clear(&g);
}

/* A settled start with forces that follow from where the parts are, which nobody can call again. */
static bough_status push_up(void *data, bough_context *ctx, const bough_tree_model *model, bough_tree_state *state) {
    const double force[3] = {0, *(double *)data, 2};
    return bough_tree_state_add_force(ctx, model, state, 2, 1, force);
}

static void settling_is_recorded_with_what_pushed(void **unused) {
    (void)unused;
    garden g = small_forest(false);
    bough_tree_log *log;
    double force = 3;
    size_t size;
    bough_tree_settle_def def = bough_default_tree_settle_def();
    def.push = push_up, def.data = &force;
    check_ok(g.ctx, bough_tree_log_start(g.ctx, g.model, g.state, &log));
    const double q = g.state->q[0];
    bough_tree_state_settle(g.ctx, g.model, g.state, &def, NULL); /* as far as it comes */
    check(g.state->q[0] != q && bo_tree_work_of(g.state)->pushed);
    bough_tree_step(g.ctx, g.model, g.state, 1e-4);
    check_ok(g.ctx, bough_tree_log_stop(g.ctx, g.model, log));
    void *end = snap(g.model, g.state, &size);
    force = -8;
    check_replay(g.ctx, g.model, g.state, log, end, size);
    free(end);
    bough_tree_log_destroy(g.ctx, log);
    clear(&g);
}

/* A step costs 16 bytes, and memory now and then; a number that was written, 24; a state that is not recorded, none. */
static void recordings_are_small(void **unused) {
    (void)unused;
    garden g = small_forest(true);
    bough_tree_log *log;
    check_ok(g.ctx, bough_tree_log_start(g.ctx, g.model, g.state, &log));
    const size_t start = bough_tree_log_describe(log).size;
    check_below((double)start, (double)bough_tree_state_snapshot_size(g.model, g.state) + 64);
    for (int i = 0; i < 100; i++)
        check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, dt));
    check_int(bough_tree_log_describe(log).size - start, 1600);
    check_int(bough_tree_log_describe(log).steps, 100);
    g.state->stiffness[3] = 0.7;
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, dt));
    check_int(bough_tree_log_describe(log).size - start, 1600 + 24 + 16);
    g.state->q[0] *= 0.99, g.state->q[2] *= 0.99; /* one stretch with what is between them */
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, dt));
    check_int(bough_tree_log_describe(log).size - start, 1640 + 16 + 3 * 8 + 16);
    g.state->wind.seed++;
    g.state->wind.velocity[1] += 1;
    const double target[3] = {1, 2, 3};
    check_ok(g.ctx, bough_tree_state_pull(g.ctx, g.model, g.state, 1, 2, target, 5, 0.1));
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, dt));
    check_below((double)(bough_tree_log_describe(log).size - start), 1640 + 64 + 16 + 4 * 24 + 16 + 8 * 3 + 16 + 8 * 6);
    bough_tree_log_destroy(g.ctx, log); /* while it is recorded */
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, dt));
    clear(&g);
}

/* ---- replays that are watched ---- */

typedef struct {
    int64_t calls, last;
    double time;
} watcher;

static bough_status watch(void *data, bough_context *ctx, const bough_tree_model *model, bough_tree_state *state) {
    watcher *w = data;
    bough_tree_energies e;
    check_ok(ctx, bough_tree_state_energies(ctx, model, state, &e));
    check(state->time > w->time);
    w->time = state->time;
    return ++w->calls == w->last ? BOUGH_CANCELLED : BOUGH_OK;
}

static void replays_are_watched(void **unused) {
    (void)unused;
    garden g = small_forest(true);
    bough_tree_log *log;
    bool same;
    check_ok(g.ctx, bough_tree_log_start(g.ctx, g.model, g.state, &log));
    for (int i = 0; i < 10; i++) {
        check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, dt));
        check(bough_tree_step(g.ctx, g.model, g.state, -1) != BOUGH_OK);
    }
    check_ok(g.ctx, bough_tree_log_stop(g.ctx, g.model, log));
    watcher w = {.time = -1};
    check_ok(g.ctx, bough_tree_log_replay(g.ctx, g.model, g.state, log, watch, &w, &same));
    check(same && w.calls == 10 && w.time == g.state->time);
    w = (watcher){.time = -1, .last = 4};
    check_int(bough_tree_log_replay(g.ctx, g.model, g.state, log, watch, &w, &same), BOUGH_CANCELLED);
    check(!same && w.calls == 4 && w.time == g.state->time);
    bough_tree_log_destroy(g.ctx, log);
    clear(&g);
}

static bool stop_soon(void *user, const bough_progress *progress) {
    int *left = user;
    check(progress->fraction > 0 && progress->fraction <= 1);
    return (*left)-- > 0;
}

static void replays_can_be_cancelled(void **unused) {
    (void)unused;
    int left = 1000;
    bough_context_def def = bough_default_context_def();
    def.progress = stop_soon, def.progress_user = &left, def.thread_count = 1;
    garden g = small_forest(true);
    bough_context *ctx = bough_context_create(&def);
    bough_tree_log *log;
    check_ok(ctx, bough_tree_log_start(ctx, g.model, g.state, &log));
    const double start = g.state->time;
    for (int i = 0; i < 10; i++)
        check_ok(ctx, bough_tree_step(ctx, g.model, g.state, dt));
    check_ok(ctx, bough_tree_log_stop(ctx, g.model, log));
    left = 3;
    check_fails(ctx, bough_tree_log_replay(ctx, g.model, g.state, log, NULL, NULL, NULL), BOUGH_CANCELLED, "");
    check_near(g.state->time, start + 4 * dt, 1e-12);
    bough_tree_log_destroy(ctx, log);
    bough_context_destroy(ctx);
    clear(&g);
}

/* ---- mistakes ---- */

static void what_cannot_be_replayed_is_told(void **unused) {
    (void)unused;
    garden g = small_forest(true);
    bough_tree_log *log, *second;
    check_ok(g.ctx, bough_tree_log_start(g.ctx, g.model, g.state, &log));
    check_fails(g.ctx, bough_tree_log_start(g.ctx, g.model, g.state, &second), BOUGH_ERROR_ARGUMENT,
                "recorded already");
    check(!second);
    check_fails(g.ctx, bough_tree_log_save(g.ctx, log, test_path("x.log")), BOUGH_ERROR_ARGUMENT, "stop it first");
    check_fails(g.ctx, bough_tree_log_replay(g.ctx, g.model, g.state, log, NULL, NULL, NULL), BOUGH_ERROR_ARGUMENT,
                "stop it first");
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, dt));
    check_ok(g.ctx, bough_tree_log_stop(g.ctx, g.model, log));
    check_ok(g.ctx, bough_tree_log_stop(g.ctx, g.model, log));
    check_fails(g.ctx, bough_tree_log_save(g.ctx, log, "/nowhere/x.log"), BOUGH_ERROR_FILE, "/nowhere");
    check_fails(g.ctx, bough_tree_log_load(g.ctx, "/nowhere/x.log", &second), BOUGH_ERROR_FILE, "/nowhere");
    /* another gravity is another model, which no snapshot notices */
    bough_tree_model *heavy;
    bough_tree_state *state;
    bough_tree_model_def def = g.def;
    def.components = g.components;
    def.gravity[0] += 1;
    check_ok(g.ctx, bough_tree_model_create(g.ctx, &def, &heavy));
    check_ok(g.ctx, bough_tree_state_create(g.ctx, heavy, &state));
    check_fails(g.ctx, bough_tree_log_replay(g.ctx, heavy, state, log, NULL, NULL, NULL), BOUGH_ERROR_ARGUMENT,
                "another model");
    bough_tree_log_destroy(g.ctx, log);
    /* one whose state went too early */
    check_ok(g.ctx, bough_tree_log_start(g.ctx, heavy, state, &log));
    bough_tree_state_destroy(g.ctx, state);
    check_fails(g.ctx, bough_tree_log_stop(g.ctx, heavy, log), BOUGH_ERROR_ARGUMENT, "destroyed before");
    check_fails(g.ctx, bough_tree_log_save(g.ctx, log, test_path("x.log")), BOUGH_ERROR_ARGUMENT, "destroyed before");
    bough_tree_log_destroy(g.ctx, log);
    bough_tree_log_destroy(g.ctx, NULL);
    bough_tree_model_destroy(g.ctx, heavy);
    clear(&g);
}

/* Whatever decides how states move, or where parts go back to, makes another model. */
static void other_models_are_noticed(void **unused) {
    (void)unused;
    yard *y = make_yard(1, true);
    bough_tree_log *log;
    check_ok(y->g.ctx, bough_tree_log_start(y->g.ctx, y->g.model, y->g.state, &log));
    check_ok(y->g.ctx, bough_tree_log_stop(y->g.ctx, y->g.model, log));
    for (int what = 0; what < 11; what++) {
        yard *other = make_yard_in(test_context(1), true);
        garden *g = &other->g;
        bough_joint_def hinge = *g->parts[1].joint, ball = *g->parts[5].joint;
        double *const k = other->tie.stiffness, *const c = other->tie.damping;
        g->parts[1].joint = what == 2 ? hinge_about(1.25, 2, 3, 5, 0) : &hinge, g->parts[5].joint = &ball;
        hinge.stiffness[0] += what == 0, hinge.damping[0] += what == 1;
        hinge.start[0] += what == 3, ball.start[2] += what == 4;
        g->parts[2].offset[1] += 0.25 * (what == 5), g->parts[2 * ON_EACH].position[0] += 0.25 * (what == 6);
        bo_set_springs(k, k[0] + (what == 7), k[3] + (what == 9));
        bo_set_springs(c, c[0] + (what == 8), c[3] + (what == 10));
        plant(g);
        check_fails(g->ctx, bough_tree_log_replay(g->ctx, g->model, g->state, log, NULL, NULL, NULL),
                    BOUGH_ERROR_ARGUMENT, "another model");
        leave_yard(other);
    }
    bough_tree_log_destroy(y->g.ctx, log);
    leave_yard(y);
}

/* Components that go by the same name but are others: the end is another, and that is told. */
static void other_ends_are_noticed(void **unused) {
    (void)unused;
    garden g = small_forest(false);
    bough_tree_log *log;
    bool same = true;
    check_ok(g.ctx, bough_tree_log_start(g.ctx, g.model, g.state, &log));
    for (int i = 0; i < 5; i++)
        check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, dt));
    check_ok(g.ctx, bough_tree_log_stop(g.ctx, g.model, log));
    double *s = (double *)g.components[0]->s;
    s[0] += 1e-9;
    uproot(&g);
    plant(&g);
    check_ok(g.ctx, bough_tree_log_replay(g.ctx, g.model, g.state, log, NULL, NULL, &same));
    check(!same);
    bough_tree_log_destroy(g.ctx, log);
    clear(&g);
}

/* A recording of most kinds of acts, as a file. */
static unsigned char *small_recording(garden *g, size_t *size) {
    bough_tree_log *log;
    const bough_integrator_def def = bough_default_integrator_def();
    const double push[3] = {1, 2, 3};
    check_ok(g->ctx, bough_tree_log_start(g->ctx, g->model, g->state, &log));
    for (int i = 0; i < 3; i++) {
        check_ok(g->ctx, bough_tree_state_add_force(g->ctx, g->model, g->state, 2, 1, push));
        check_ok(g->ctx, bough_tree_step(g->ctx, g->model, g->state, dt));
    }
    check(bough_tree_state_use_integrator(g->ctx, g->model, g->state, &def) != BOUGH_OK); /* a root flies */
    check_ok(g->ctx, bough_tree_state_detach(g->ctx, g->model, g->state, 5));
    g->state->roots[0].velocity[1] += 1;
    check_ok(g->ctx, bough_tree_advance(g->ctx, g->model, g->state, dt, NULL));
    check_ok(g->ctx, bough_tree_state_attach(g->ctx, g->model, g->state, 5, 0, 2));
    check_ok(g->ctx, bough_tree_state_update(g->ctx, g->model, g->state));
    bough_tree_state_settle(g->ctx, g->model, g->state, NULL, NULL); /* which is refused, and leaves an empty patch */
    g->state->q[1] += 1e-3;
    void *kept = snap(g->model, g->state, size);
    check_ok(g->ctx, bough_tree_step(g->ctx, g->model, g->state, dt));
    check_ok(g->ctx, bough_tree_state_restore(g->ctx, g->model, g->state, kept, *size));
    free(kept);
    check_ok(g->ctx, bough_tree_state_use_integrator(g->ctx, g->model, g->state, NULL));
    check_ok(g->ctx, bough_tree_log_stop(g->ctx, g->model, log));
    check_ok(g->ctx, bough_tree_log_save(g->ctx, log, test_path("small.log")));
    bough_tree_log_destroy(g->ctx, log);
    return test_read(test_path("small.log"), size);
}

static void damaged_files_are_refused(void **unused) {
    (void)unused;
    garden g = small_forest(true);
    bough_tree_log *log;
    size_t size;
    unsigned char *good = small_recording(&g, &size), *copy = malloc(size + 8);
    check_ok(g.ctx, bough_tree_log_read(g.ctx, good, size, &log));
    bough_tree_log_destroy(g.ctx, log);
    for (size_t cut = 0; cut < size; cut += cut < 200 ? 1 : 97) {
        check(bough_tree_log_read(g.ctx, good, cut, &log) != BOUGH_OK && !log);
        check(bough_message(g.ctx)[0]);
    }
    for (size_t bit = 0; bit < 8 * size; bit += bit < 1000 ? 1 : 101) {
        memcpy(copy, good, size);
        copy[bit / 8] ^= (unsigned char)(1 << bit % 8);
        check(bough_tree_log_read(g.ctx, copy, size, &log) != BOUGH_OK && !log);
    }
    memcpy(copy, good, size);
    memset(copy + size, 0, 8);
    check_fails(g.ctx, bough_tree_log_read(g.ctx, copy, size + 8, &log), BOUGH_ERROR_FORMAT, "bytes");
    copy[8] = 9;
    check_fails(g.ctx, bough_tree_log_read(g.ctx, copy, size, &log), BOUGH_ERROR_UNSUPPORTED, "another version");
    test_write(test_path("not.log"), "text", 4);
    check_fails(g.ctx, bough_tree_log_load(g.ctx, test_path("not.log"), &log), BOUGH_ERROR_FORMAT,
                "not.log: this is no rec");
    free(good), free(copy);
    clear(&g);
}

/* A head with a right checksum and nothing behind it. */
static void a_recording_without_records_is_refused(void **unused) {
    (void)unused;
    enum { HEAD = 72, SIZE_AT = 24 };
    garden g = small_forest(true);
    bough_tree_log *log;
    size_t size;
    unsigned char *bytes = small_recording(&g, &size);
    memset(bytes + SIZE_AT, 0, 8);
    bo_log_seal(bytes, HEAD);
    check_fails(g.ctx, bough_tree_log_read(g.ctx, bytes, HEAD, &log), BOUGH_ERROR_FORMAT, "no records");
    check(!log);
    free(bytes);
    clear(&g);
}

/* Every number behind the first snapshot is too large in turn, counts and places among them. */
static void too_much_is_refused(void **unused) {
    (void)unused;
    garden g = small_forest(true);
    bough_tree_log *log;
    size_t size;
    int refused = 0;
    const size_t first = bough_tree_state_snapshot_size(g.model, g.state);
    unsigned char *good = small_recording(&g, &size), *copy = malloc(size);
    for (size_t at = 96 + first; at + 8 <= size; at += 4) {
        memcpy(copy, good, size);
        copy[at + 2] ^= 0x40; /* 4 million more */
        bo_log_seal(copy, size);
        if (bough_tree_log_read(g.ctx, copy, size, &log) == BOUGH_OK)
            refused += bough_tree_log_replay(g.ctx, g.model, g.state, log, NULL, NULL, NULL) != BOUGH_OK;
        bough_tree_log_destroy(g.ctx, log);
    }
    check(refused > 50);
    free(good), free(copy);
    clear(&g);
}

/* A patch that ends one word behind the snapshot. */
static void one_word_too_much_is_refused(void **unused) {
    (void)unused;
    garden g = small_forest(true);
    bough_tree_log *log;
    size_t size, at = 72, payload;
    unsigned char *bytes = small_recording(&g, &size);
    const size_t end = size - 8,
                 words = bough_tree_state_snapshot_size(g.model, g.state) / 8; /* behind it: no method */
    for (;; at += 8) {
        check(at + 32 <= end);
        memcpy(&payload, bytes + at + 8, sizeof payload);
        if (bytes[at] == BO_LOG_PATCH && payload == end - at - 16)
            break;
    }
    const uint64_t count = payload / 8 - 2, run[2] = {words + 1 - count, count};
    memcpy(bytes + at + 16, run, sizeof run);
    bo_log_seal(bytes, size);
    check_ok(g.ctx, bough_tree_log_read(g.ctx, bytes, size, &log));
    check_fails(g.ctx, bough_tree_log_replay(g.ctx, g.model, g.state, log, NULL, NULL, NULL), BOUGH_ERROR_FORMAT,
                "beyond the snapshot");
    bough_tree_log_destroy(g.ctx, log);
    free(bytes);
    clear(&g);
}

/* 2^29 numbers of 8 bytes are none where sizes have 32 bits. */
static void counts_beyond_the_file_are_refused(void **unused) {
    (void)unused;
    enum { AT_SIZE = 24, RECORD = 16 };
    garden g = small_forest(true);
    bough_tree_log *log;
    size_t size;
    unsigned char *bytes = small_recording(&g, &size);
    bytes = realloc(bytes, size + RECORD);
    const uint64_t end = BO_LOG_WRITE | (uint64_t)1 << 61, first = 0; /* the head of the record has its count last */
    memcpy(bytes + size, &end, sizeof end);
    memcpy(bytes + size + sizeof end, &first, sizeof first);
    uint64_t records;
    memcpy(&records, bytes + AT_SIZE, sizeof records);
    records += RECORD;
    memcpy(bytes + AT_SIZE, &records, sizeof records);
    bo_log_seal(bytes, size + RECORD);
    check_fails(g.ctx, bough_tree_log_read(g.ctx, bytes, size + RECORD, &log), BOUGH_ERROR_FORMAT, "is no record");
    free(bytes);
    clear(&g);
}

/* With the checksum made good again: it is refused, or does what it says, and the state stays one that can be used. */
static void forged_files_do_no_harm(void **unused) {
    (void)unused;
    test_memory memory = {.fail_at = -1};
    test_random random = {77};
    garden g = small_forest(true);
    bough_context *ctx = test_counting_context(&memory);
    bough_tree_state *state;
    bough_tree_log *log;
    size_t size, start_size;
    int replayed = 0;
    void *start = snap(g.model, g.state, &start_size);
    unsigned char *good = small_recording(&g, &size), *copy = malloc(size);
    check_ok(ctx, bough_tree_state_create(ctx, g.model, &state));
    for (int i = 0; i < (test_long() ? 20000 : 3000); i++) {
        memcpy(copy, good, size);
        /* in the head and the first records, in the first snapshot, or behind it */
        const size_t borders[] = {16, 160, 160 + start_size, size};
        const size_t begin = borders[i % 3], end = borders[i % 3 + 1];
        for (uint64_t n = 1 + test_bits(&random) % 3; n > 0; n--) {
            const size_t at = begin + (size_t)test_bits(&random) % (end - begin);
            copy[at] = (unsigned char)(test_bits(&random) % 4 ? test_bits(&random) : test_bits(&random) % 8);
        }
        bo_log_seal(copy, size);
        memory.largest = 0;
        const bough_status status = bough_tree_log_read(ctx, copy, size, &log);
        check_below((double)memory.largest, (double)(2 * size));
        if (status == BOUGH_OK)
            replayed += bough_tree_log_replay(ctx, g.model, state, log, NULL, NULL, NULL) == BOUGH_OK;
        else
            check(!log && bough_message(ctx)[0]);
        bough_tree_log_destroy(ctx, log);
        if (i % 50 == 0) {
            check_ok(ctx, bough_tree_state_restore(ctx, g.model, state, start, start_size));
            check_ok(ctx, bough_tree_state_use_integrator(ctx, g.model, state, NULL));
            check_ok(ctx, bough_tree_step(ctx, g.model, state, dt));
        }
    }
    check(replayed > 100);
    bough_tree_state_destroy(ctx, state);
    bough_context_destroy(ctx);
    check_int(memory.live, 0);
    free(good), free(copy), free(start);
    clear(&g);
}

/* ---- memory ---- */

/* Acts that may fail, one after the other, in which each allocation may. */
static void do_something(garden *g) {
    const double push[3] = {1, 2, 3};
    for (int i = 0; i < 3; i++) {
        bough_tree_state_add_force(g->ctx, g->model, g->state, 2, 1, push);
        bough_tree_step(g->ctx, g->model, g->state, dt);
    }
    bough_tree_state_detach(g->ctx, g->model, g->state, 5);
    for (int32_t k = 0; k < bough_tree_model_size(g->model); k++)
        g->state->q[k] *= 0.99;
    bough_tree_state_lock(g->ctx, g->model, g->state, 2, true);
    bough_tree_advance(g->ctx, g->model, g->state, dt, NULL);
    void *bytes = malloc(bough_tree_state_snapshot_size(g->model, g->state));
    bough_tree_state_save(g->model, g->state, bytes);
    bough_tree_state_restore(g->ctx, g->model, g->state, bytes, bough_tree_state_snapshot_size(g->model, g->state));
    free(bytes);
    bough_tree_step(g->ctx, g->model, g->state, dt);
}

/* When memory runs out an act does not happen, and the recording stays true. */
static void short_memory_is_survived(void **unused) {
    (void)unused;
    garden parent = small_forest(true);
    bool done = false;
    int failed_starts = 0;
    for (long n = 0; !done; n++) {
        test_memory memory = {.fail_at = -1};
        garden g = parent;
        bough_tree_log *log, *loaded = NULL;
        bool same;
        g.ctx = test_counting_context(&memory);
        check_ok(g.ctx, bough_tree_state_create(g.ctx, g.model, &g.state));
        memory.fail_at = memory.calls + n;
        const bough_status started = bough_tree_log_start(g.ctx, g.model, g.state, &log);
        check(started == BOUGH_OK ? log && bo_tree_work_of(g.state)->log : !log && !bo_tree_work_of(g.state)->log);
        check(started == BOUGH_OK || strstr(bough_message(g.ctx), "memory"));
        do_something(&g);
        if (started == BOUGH_OK) {
            if (bough_tree_log_stop(g.ctx, g.model, log) != BOUGH_OK)
                check_ok(g.ctx, bough_tree_log_stop(g.ctx, g.model, log));
            if (bough_tree_log_save(g.ctx, log, test_path("m.log")) == BOUGH_OK)
                bough_tree_log_load(g.ctx, test_path("m.log"), &loaded);
            bough_tree_log_destroy(g.ctx, loaded);
            done = memory.calls <= memory.fail_at;
            memory.fail_at = -1;
            check_ok(g.ctx, bough_tree_log_replay(g.ctx, g.model, g.state, log, NULL, NULL, &same));
            check(same);
            bough_tree_log_destroy(g.ctx, log);
        } else {
            failed_starts++;
        }
        bough_tree_state_destroy(g.ctx, g.state);
        bough_context_destroy(g.ctx);
        check_int(memory.live, 0);
    }
    check(failed_starts >= 3);
    clear(&parent);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wild_sessions_replay_to_the_bit),
        cmocka_unit_test(recording_changes_nothing),
        cmocka_unit_test(going_back_is_cheap),
        cmocka_unit_test(looking_is_recorded),
        cmocka_unit_test(pushes_on_parts_that_come_back_are_recorded),
        cmocka_unit_test(roots_that_were_led_stay),
        cmocka_unit_test(methods_replay_too),
        cmocka_unit_test(settling_is_recorded_with_what_pushed),
        cmocka_unit_test(recordings_are_small),
        cmocka_unit_test(replays_are_watched),
        cmocka_unit_test(replays_can_be_cancelled),
        cmocka_unit_test(what_cannot_be_replayed_is_told),
        cmocka_unit_test(other_models_are_noticed),
        cmocka_unit_test(other_ends_are_noticed),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(a_recording_without_records_is_refused),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(one_word_too_much_is_refused),
        cmocka_unit_test(counts_beyond_the_file_are_refused),
        cmocka_unit_test(forged_files_do_no_harm),
        cmocka_unit_test(short_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
