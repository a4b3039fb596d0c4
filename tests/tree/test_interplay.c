/* Joints, ties, locks, tracks, offsets, changes, snapshots and integrators, together. */
#include "garden.h"
#include "rods.h"

#include "component/image.h"

enum { LED = 0, HINGED = 1, BALL = 2, ASIDE = 3, FLYER = 4, STIFF = 6, TREE = 7, GONE = 9, PARTS = 10 };
static const double dt = 1.0 / 480;

static const double key_times[3] = {0, 1, 2}, key_places[9] = {0, 0, 0, 1, 0, 1, 2, 1, 0};
static const double key_turns[12] = {1, 0, 0, 0, 0.9, 0.1, 0.3, 0, 1, 0, 0, 0};

/* A tree that is led, one that flies and one that stands, tied to each other and to the world. */
static garden playground(bough_context *ctx, bool ties, bool tracks) {
    static bough_joint_def tied[3];
    garden g = till(1);
    test_random random = {12};
    if (ctx) {
        bough_context_destroy(g.ctx);
        g.ctx = ctx;
    }
    add_kind(&g, 5, 3, BOUGH_REDUCED_POLYNOMIAL, true);
    add_kind(&g, 4, 3, BOUGH_REDUCED_POLYNOMIAL, false);
    for (int32_t i = 0; i < PARTS; i++) {
        static const int32_t parents[PARTS] = {-1, 0, 1, 0, -1, 4, 5, -1, 7, 8};
        add_part(&g, &random, i == FLYER ? 0 : 1, parents[i], i == ASIDE ? 2 : 1);
    }
    if (tracks)
        g.parts[LED].track = (bough_track){3, key_times, key_places, key_turns};
    bough_joint_def *hinge = hinge_about(1, 2, 3, 5, 0.1);
    hinge->start[0] = 0.2;
    g.parts[HINGED].joint = hinge;
    g.parts[BALL].joint = ball_joint(5, 0);
    g.parts[5].joint = hinge_about(0, 0, 1, 0, 0);
    g.parts[ASIDE].offset[1] = 0.3;
    g.parts[STIFF].locked = true;
    g.parts[GONE].absent = true;
    const int32_t ends[3][2] = {{BALL, 8}, {STIFF, -1}, {ASIDE, 5}};
    for (int i = 0; i < 3; i++) {
        tied[i] = tie_of(ends[i][0], 1, ends[i][1], ends[i][1] < 0 ? 0 : 2, 50, 5);
        bo_set_springs(tied[i].damping, 0.5, 0);
    }
    g.def.tie_count = ties ? 3 : 0, g.def.ties = tied;
    plant(&g);
    return g;
}

static void go(garden *g, int count) {
    for (int i = 0; i < count; i++)
        check_ok(g->ctx, bough_tree_step(g->ctx, g->model, g->state, dt));
}

static bough_status change(garden *g, bough_change_kind kind, int32_t part) {
    const bough_change one = {.kind = kind, .part = part};
    return bough_tree_state_change(g->ctx, g->model, g->state, 1, &one);
}

static void *snap(const garden *g, size_t *size) {
    *size = bough_tree_state_snapshot_size(g->model, g->state);
    void *bytes = malloc(*size);
    bough_tree_state_save(g->model, g->state, bytes);
    return bytes;
}

static void check_unchanged(const garden *g, const void *bytes, size_t size) {
    size_t again;
    void *now = snap(g, &again);
    check(again == size && memcmp(now, bytes, size) == 0);
    free(now);
}

/* ---- failures ---- */

static const bough_change many[] = {
    {.kind = BOUGH_CHANGE_DETACH, .part = HINGED},
    {.kind = BOUGH_CHANGE_LOCK, .part = 8},
    {.kind = BOUGH_CHANGE_ATTACH, .part = ASIDE, .parent = 8, .interface_index = 2},
    {.kind = BOUGH_CHANGE_ADD,
     .part = FLYER,
     .frame = {{{1, 2, 3}, {0, 1, 0, -1, 0, 0, 0, 0, 1}}, {1, 0, 0}, {0, 1, 0}}},
    {.kind = BOUGH_CHANGE_ADD, .part = GONE},
    {.kind = BOUGH_CHANGE_DETACH, .part = LED},
};
enum { MANY = sizeof many / sizeof *many };

/* Memory may end at any place of a change or of a snapshot that is put back: nothing has happened then, nothing is
 * lost, and later it works. */
static void changes_survive_the_end_of_memory(void **unused) {
    (void)unused;
    test_memory memory = {.fail_at = -1};
    garden g = playground(test_counting_context(&memory), true, true);
    stir(&g, 3, 0.03, 0.3);
    check_ok(g.ctx, change(&g, BOUGH_CHANGE_REMOVE, FLYER));
    go(&g, 3);
    size_t size, later;
    void *before = snap(&g, &size);
    long live = memory.live;
    int refused = 0;
    for (;; refused++) {
        memory.calls = 0, memory.fail_at = refused;
        const bough_status status = bough_tree_state_change(g.ctx, g.model, g.state, MANY, many);
        memory.fail_at = -1;
        if (status == BOUGH_OK)
            break;
        check_int(status, BOUGH_ERROR_MEMORY);
        check_int(memory.live, live);
        check_unchanged(&g, before, size);
    }
    go(&g, 3);
    void *after = snap(&g, &later);
    live = memory.live;
    int again = 0;
    for (;; again++) {
        memory.calls = 0, memory.fail_at = again;
        const bough_status status = bough_tree_state_restore(g.ctx, g.model, g.state, before, size);
        memory.fail_at = -1;
        if (status == BOUGH_OK)
            break;
        check_int(status, BOUGH_ERROR_MEMORY);
        check_int(memory.live, live);
        check_unchanged(&g, after, later);
    }
    printf("%d and %d allocations\n", refused, again);
    check(refused > 10 && again > 10);
    check_unchanged(&g, before, size);
    check_ok(g.ctx, bough_tree_state_change(g.ctx, g.model, g.state, MANY, many));
    go(&g, 3);
    check_unchanged(&g, after, later);
    free(before), free(after);
    clear(&g);
    check_int(memory.live, 0);
}

/* ---- snapshots that lie ---- */

/* As in snapshot.c: header of four words, then links of 22 numbers. */
enum { HEADER = 4, LINK = 23 };

static void sign(void *bytes, size_t size) {
    uint64_t *words = bytes;
    words[3] = bo_image_hash(0, (unsigned char *)bytes + 8 * HEADER, size - 8 * HEADER);
}

/* Whatever numbers the links have: refused, and nothing has happened, or a tree that can be stepped, drawn, changed. */
static void snapshots_with_any_links_do_no_harm(void **unused) {
    (void)unused;
    static const double values[] = {NAN, INFINITY, -INFINITY, -2, -1,   0,     1,   2,
                                    3,   5,        9,         10, 1e30, -1e30, 0.5, 2147483647};
    garden g = playground(NULL, true, true);
    stir(&g, 3, 0.03, 0.3);
    go(&g, 3);
    size_t size;
    void *good = snap(&g, &size);
    double *bad = malloc(size);
    float *surface = malloc(6 * sizeof *surface * (size_t)bough_tree_model_vertex_count(g.model));
    bough_tree_energies e;
    int taken = 0;
    for (int i = 0; i < PARTS * LINK; i++)
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            memcpy(bad, good, size);
            bad[HEADER + i] = values[k];
            sign(bad, size);
            if (bough_tree_state_restore(g.ctx, g.model, g.state, bad, size) != BOUGH_OK) {
                check_unchanged(&g, good, size);
                continue;
            }
            taken++;
            (void)bough_tree_step(g.ctx, g.model, g.state, dt);
            (void)bough_tree_state_energies(g.ctx, g.model, g.state, &e);
            check_ok(g.ctx, bough_tree_state_surface(g.ctx, g.model, g.state, surface,
                                                     surface + 3 * bough_tree_model_vertex_count(g.model)));
            (void)change(&g, BOUGH_CHANGE_REATTACH, i / LINK);
            check_ok(g.ctx, bough_tree_state_restore(g.ctx, g.model, g.state, good, size));
            check_unchanged(&g, good, size);
        }
    test_random random = {77};
    for (int i = 0; i < 400; i++) { /* what follows the links may lie too */
        memcpy(bad, good, size);
        const size_t first = HEADER + PARTS * LINK, at = first + (size_t)test_bits(&random) % (size / 8 - first);
        bad[at] = values[test_bits(&random) % (sizeof values / sizeof *values)];
        sign(bad, size);
        check_ok(g.ctx, bough_tree_state_restore(g.ctx, g.model, g.state, bad, size));
        (void)bough_tree_step(g.ctx, g.model, g.state, dt);
        (void)bough_tree_state_detach(g.ctx, g.model, g.state, HINGED);
        (void)bough_tree_state_settle(g.ctx, g.model, g.state, NULL, NULL);
    }
    printf("%d of %d taken\n", taken, (int)(PARTS * LINK * sizeof values / sizeof *values));
    check(taken > 100);
    free(good), free(bad), free(surface);
    clear(&g);
}

/* ---- tracks ---- */

static void check_led(const garden *g, bool led) {
    const bough_tree_model *now = bo_tree_now(g->model, g->state);
    check((now->parts[now->inside[LED]].track != NULL) == led);
}

/* Whether a root is led is part of the state. */
static void snapshots_know_who_is_led(void **unused) {
    (void)unused;
    garden g = playground(NULL, false, true);
    size_t size[3];
    go(&g, 20);
    void *led = snap(&g, &size[0]);
    check_ok(g.ctx, bough_tree_state_detach(g.ctx, g.model, g.state, LED));
    go(&g, 3);
    void *loose = snap(&g, &size[1]);
    check_ok(g.ctx, bough_tree_state_attach(g.ctx, g.model, g.state, LED, -1, 0));
    go(&g, 3);
    void *held = snap(&g, &size[2]);
    struct {
        void *bytes;
        size_t size;
        bool led;
    } all[3] = {{led, size[0], true}, {loose, size[1], false}, {held, size[2], false}};
    for (int from = 0; from < 3; from++)
        for (int to = 0; to < 3; to++) {
            check_ok(g.ctx, bough_tree_state_restore(g.ctx, g.model, g.state, all[from].bytes, all[from].size));
            check_led(&g, all[from].led);
            go(&g, 1);
            check_ok(g.ctx, bough_tree_state_restore(g.ctx, g.model, g.state, all[to].bytes, all[to].size));
            check_led(&g, all[to].led);
            check_unchanged(&g, all[to].bytes, all[to].size);
        }
    check_ok(g.ctx, change(&g, BOUGH_CHANGE_REATTACH, LED));
    check_led(&g, true);
    free(led), free(loose), free(held);
    clear(&g);
}

/* A tie holds what is led to where that is when it starts. */
static void ties_of_what_is_led_meet_at_its_first_key(void **unused) {
    (void)unused;
    garden g = till(1);
    test_random random = {3};
    add_kind(&g, 0, 3, BOUGH_REDUCED_RIGID, false);
    for (int i = 0; i < 2; i++)
        add_part(&g, &random, 0, -1, 0);
    static const double place[3] = {3, 4, 5}, turn[4] = {0.8, 0, 0.6, 0}, time = 0;
    g.parts[0].track = (bough_track){1, &time, place, turn};
    const bough_joint_def ties[2] = {tie_of(0, 1, BOUGH_WORLD, 0, 100, 10), tie_of(0, 1, 1, 0, 100, 10)};
    g.def.tie_count = 2, g.def.ties = ties;
    plant(&g);
    bough_tree_energies e;
    check_ok(g.ctx, bough_tree_state_energies(g.ctx, g.model, g.state, &e));
    check_near(e.elastic, 0, 1e-20);
    check_ok(g.ctx, change(&g, BOUGH_CHANGE_UNLOCK, 1)); /* nothing, but a new layout */
    check_ok(g.ctx, bough_tree_state_energies(g.ctx, g.model, g.state, &e));
    check_near(e.elastic, 0, 1e-20);
    clear(&g);
}

/* ---- joints of parts that hang elsewhere ---- */

static void check_joint(const garden *g, int32_t part, int32_t count, double q, double v) {
    const int32_t at = bough_tree_model_joint_offset(g->model, part);
    for (int32_t k = at; k < at + count; k++) {
        check_near(g->state->q[k], q, 0);
        check_near(g->state->v[k], v, 0);
        check_near(g->state->a[k], 0, 0);
    }
}

/* A joint that nothing hangs in stands still at the angle that it begins with. */
static void joints_wait_where_they_begin(void **unused) {
    (void)unused;
    garden g = playground(NULL, false, false);
    stir(&g, 3, 0.03, 0.8);
    go(&g, 3);
    check_ok(g.ctx, bough_tree_state_detach(g.ctx, g.model, g.state, HINGED));
    check_joint(&g, HINGED, 1, 0.2, 0);
    go(&g, 10);
    check_joint(&g, HINGED, 1, 0.2, 0);
    check_ok(g.ctx, change(&g, BOUGH_CHANGE_REATTACH, HINGED));
    check_near(g.state->q[bough_tree_model_joint_offset(g.model, HINGED)], 0.2, 0);
    go(&g, 3);
    check_ok(g.ctx, change(&g, BOUGH_CHANGE_REMOVE, HINGED)); /* and the ball on it */
    check_joint(&g, HINGED, 1, 0.2, 0);
    check_joint(&g, BALL, 3, 0, 0);
    go(&g, 3);
    check_ok(g.ctx, change(&g, BOUGH_CHANGE_ADD, HINGED));
    const int32_t hinge = bough_tree_model_joint_offset(g.model, HINGED),
                  ball = bough_tree_model_joint_offset(g.model, BALL);
    check(g.state->q[hinge] == 0.2 && g.state->v[hinge] == 0 && g.state->a[hinge] == 0);
    for (int k = 0; k < 3; k++)
        check(g.state->q[ball + k] == 0 && g.state->v[ball + k] == 0);
    go(&g, 3);
    clear(&g);
}

/* ---- what does not go together ---- */

static void what_makes_no_sense_is_refused(void **unused) {
    (void)unused;
    garden g = playground(NULL, true, false);
    size_t size;
    go(&g, 3);
    void *before = snap(&g, &size);
    const bough_change there[2] = {{.kind = BOUGH_CHANGE_REMOVE, .part = FLYER},
                                   {.kind = BOUGH_CHANGE_ADD, .part = FLYER, .frame = g.state->frames[FLYER]}};
    check_fails(g.ctx, bough_tree_state_change(g.ctx, g.model, g.state, 2, there), BOUGH_ERROR_ARGUMENT,
                "there already");
    check_unchanged(&g, before, size);
    check_fails(g.ctx, bough_tree_state_attach(g.ctx, g.model, g.state, TREE, -2, 0), BOUGH_ERROR_ARGUMENT,
                "does not exist");
    check_unchanged(&g, before, size);
    const bough_change nowhere[3] = {{.kind = BOUGH_CHANGE_DETACH, .part = BALL},
                                     {.kind = BOUGH_CHANGE_REMOVE, .part = LED},
                                     {.kind = BOUGH_CHANGE_REATTACH, .part = BALL}};
    check_fails(g.ctx, bough_tree_state_change(g.ctx, g.model, g.state, 3, nowhere), BOUGH_ERROR_ARGUMENT,
                "add that first");
    check_unchanged(&g, before, size);
    free(before);
    bough_tree_model *model;
    g.parts[TREE].joint = ball_joint(0, 0);
    g.def.components = g.components;
    check_fails(g.ctx, bough_tree_model_create(g.ctx, &g.def, &model), BOUGH_ERROR_ARGUMENT, "no parent");
    g.parts[TREE].joint = NULL;
    g.def.tie_count = -1;
    check_fails(g.ctx, bough_tree_model_create(g.ctx, &g.def, &model), BOUGH_ERROR_ARGUMENT, "-1 ties");
    clear(&g);
}

/* Models that differ in what turns and what is tied are not the same. */
static void snapshots_are_of_one_model(void **unused) {
    (void)unused;
    garden g = playground(NULL, true, false);
    size_t size;
    void *bytes = snap(&g, &size);
    bough_joint_def ties[3];
    memcpy(ties, g.def.ties, sizeof ties);
    g.def.components = g.components, g.def.ties = ties;
    for (int k = 0; k < 4; k++) {
        const bough_part_def before[2] = {g.parts[HINGED], g.parts[ASIDE]};
        g.parts[HINGED].joint = k == 1 ? hinge_about(2, 2, 3, 5, 0.1) : before[0].joint;
        g.parts[ASIDE].offset[0] += k == 2;
        ties[0].child.interface_index = k == 3 ? 1 : 2;
        bough_tree_model *other;
        bough_tree_state *state;
        check_ok(g.ctx, bough_tree_model_create(g.ctx, &g.def, &other));
        check_ok(g.ctx, bough_tree_state_create(g.ctx, other, &state));
        if (k == 0)
            check_ok(g.ctx, bough_tree_state_restore(g.ctx, other, state, bytes, size));
        else
            check_fails(g.ctx, bough_tree_state_restore(g.ctx, other, state, bytes, size), BOUGH_ERROR_ARGUMENT,
                        "model");
        bough_tree_state_destroy(g.ctx, state);
        bough_tree_model_destroy(g.ctx, other);
        g.parts[HINGED] = before[0], g.parts[ASIDE] = before[1];
    }
    free(bytes);
    clear(&g);
}

/* A rod on a joint that is held as it lies has a coordinate without mass, which no integrator can take. */
static void integrators_need_joints_that_turn(void **unused) {
    (void)unused;
    garden g = till(1);
    rod stick;
    make_rod(&stick);
    g.components[g.def.component_count++] = &stick.c;
    for (int32_t i = 0; i < 3; i++) {
        g.parts[i] = bough_default_part_def();
        g.parts[i].parent = i - 1, g.parts[i].interface_index = 1;
        if (i > 0)
            g.parts[i].joint = hinge_about(0, 1, 0, 0, 0);
    }
    g.def.part_count = 3;
    plant(&g);
    bough_integrator_def def = bough_default_integrator_def();
    char name[] = "trapezoidal";
    def.name = name;
    check_ok(g.ctx, bough_tree_state_use_integrator(g.ctx, g.model, g.state, &def));
    name[0] = '?'; /* belongs to the caller; a change takes the method along */
    check_ok(g.ctx, change(&g, BOUGH_CHANGE_UNLOCK, 2));
    name[0] = 't';
    g.state->q[0] = 0.5;
    check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state));
    go(&g, 3);
    size_t size;
    void *before = snap(&g, &size);
    check_fails(g.ctx, bough_tree_state_attach(g.ctx, g.model, g.state, 2, -1, 0), BOUGH_ERROR_UNSUPPORTED, "joint");
    check_fails(g.ctx, bough_tree_state_attach(g.ctx, g.model, g.state, 2, 0, 1), BOUGH_ERROR_UNSUPPORTED, "joint");
    check_unchanged(&g, before, size);
    go(&g, 3);
    check_ok(g.ctx, bough_tree_state_use_integrator(g.ctx, g.model, g.state, NULL));
    check_ok(g.ctx, bough_tree_state_attach(g.ctx, g.model, g.state, 2, 0, 1));
    check_fails(g.ctx, bough_tree_state_use_integrator(g.ctx, g.model, g.state, &def), BOUGH_ERROR_UNSUPPORTED,
                "joint");
    go(&g, 3);
    check_ok(g.ctx, change(&g, BOUGH_CHANGE_REATTACH, 2));
    check_ok(g.ctx, bough_tree_state_use_integrator(g.ctx, g.model, g.state, &def));
    go(&g, 3);
    free(before);
    clear(&g);
}

/* A spinning ball passes 2 pi, where its coordinates have no inverse, with any method. */
static void balls_turn_on_with_integrators(void **unused) {
    (void)unused;
    static const char *const methods[] = {"trapezoidal", "bdf2", "hht-linear", "rk4"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        garden g = till(1);
        rod stick;
        make_rod(&stick);
        g.components[g.def.component_count++] = &stick.c;
        for (int32_t i = 0; i < 2; i++) {
            g.parts[i] = bough_default_part_def();
            g.parts[i].parent = i - 1, g.parts[i].interface_index = 1;
        }
        bough_joint_def *ball = ball_joint(0, 0);
        ball->start[1] = 0.8;
        g.parts[1].joint = ball;
        g.def.part_count = 2;
        g.def.passes = 2;
        plant(&g);
        g.state->v[0] = 1, g.state->v[2] = 7;
        check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state));
        bough_integrator_def def = bough_default_integrator_def();
        def.name = methods[m];
        check_ok(g.ctx, bough_tree_state_use_integrator(g.ctx, g.model, g.state, &def));
        bough_tree_energies start, end;
        check_ok(g.ctx, bough_tree_state_energies(g.ctx, g.model, g.state, &start));
        double most = 0;
        for (int i = 0; i < 6000; i++) {
            check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 1.0 / 2000));
            most = fmax(most, length_of(3, g.state->q));
        }
        check_ok(g.ctx, bough_tree_state_energies(g.ctx, g.model, g.state, &end));
        printf("%s: %.3f at most, energy %.5f then %.5f\n", methods[m], most, start.kinetic + start.gravity,
               end.kinetic + end.gravity);
        check_below(most, 3.15);
        check_near(end.kinetic + end.gravity, start.kinetic + start.gravity, 2e-2);
        clear(&g);
    }
}

/* ---- mechanics ---- */

enum { MOST = 64 };

static bough_tree_energies energies_at(garden *g, const double *q, const double *v) {
    const size_t bytes = (size_t)bough_tree_model_size(g->model) * sizeof(double);
    bough_tree_energies e;
    memcpy(g->state->q, q, bytes);
    memcpy(g->state->v, v, bytes);
    check_ok(g->ctx, bough_tree_state_update(g->ctx, g->model, g->state));
    check_ok(g->ctx, bough_tree_state_energies(g->ctx, g->model, g->state, &e));
    return e;
}

/* p_i = dT/dv_i, from T alone, which is quadratic in v. */
static double momentum_of(garden *g, const double *q, const double *v, int32_t i) {
    double sum[MOST], unit[MOST] = {0};
    memcpy(sum, v, (size_t)bough_tree_model_size(g->model) * sizeof *sum);
    sum[i] += 1, unit[i] = 1;
    return energies_at(g, q, sum).kinetic - energies_at(g, q, v).kinetic - energies_at(g, q, unit).kinetic;
}

/* x + h y */
static void add_scaled(int32_t n, const double *x, double h, const double *y, double *out) {
    for (int32_t k = 0; k < n; k++)
        out[k] = x[k] + h * y[k];
}

/* Trees that are held, without damping of parts: joints of both kinds, offsets, ties to each other and to the world,
 * and one part that is locked. */
static garden held_trees(double damping) {
    static bough_joint_def ties[3];
    garden g = till(1);
    test_random random = {41};
    add_kind(&g, 3, 3, BOUGH_REDUCED_POLYNOMIAL, false);
    static const int32_t parents[7] = {-1, 0, 1, 0, -1, 4, 5};
    for (int32_t i = 0; i < 7; i++) {
        add_part(&g, &random, 0, parents[i], i == 3 ? 2 : 1);
        g.parts[i].damping_mass = g.parts[i].damping_stiffness = 0;
        for (int d = 0; d < 3 && i % 2; d++)
            g.parts[i].offset[d] = i == 1 || i == 3 ? test_uniform(&random, -0.5, 0.5) : 0;
    }
    g.parts[1].joint = hinge_about(1, -2, 3, 5, 0);
    g.parts[2].joint = ball_joint(7, 0);
    g.parts[6].joint = ball_joint(3, 0);
    g.parts[5].locked = true;
    for (int i = 1; i < 7; i++)
        if (g.parts[i].joint) {
            bough_joint_def *joint = keep_joint(*g.parts[i].joint);
            bo_set_springs(joint->damping, damping, damping);
            g.parts[i].joint = joint;
        }
    const int32_t ends[3][4] = {{2, 6, 1, 2}, {3, -1, 2, 0}, {6, 0, 0, 1}};
    for (int i = 0; i < 3; i++) {
        ties[i] = tie_of(ends[i][0], ends[i][2], ends[i][1], ends[i][3], 40 + i, 6 + i);
        bo_set_springs(ties[i].damping, damping, 2 * damping);
    }
    g.def.tie_count = 3, g.def.ties = ties;
    g.def.alpha = 0;
    plant(&g);
    stir(&g, 42, 0.05, 0.4);
    const int32_t balls[2] = {bough_tree_model_joint_offset(g.model, 2), bough_tree_model_joint_offset(g.model, 6)};
    for (int d = 0; d < 3; d++) /* beyond 1 rad and below */
        g.state->q[balls[0] + d] = 0.9 - 0.3 * d, g.state->q[balls[1] + d] = 0.2 + 0.1 * d;
    for (int i = 0; i < 3; i++)
        g.state->tie_strength[i] = 0.4 + 0.4 * i;
    const int32_t locked = bough_tree_model_offset(g.model, 5);
    for (int32_t l = 0; l < 3; l++)
        g.state->v[locked + l] = 0;
    check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state));
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0));
    return g;
}

/* If nothing meets and nothing is stopped, sharing out momenta changes nothing: not with joints, ties, locks, nor if a
 * tree is led. */
static void an_impact_of_nothing_is_none(void **unused) {
    (void)unused;
    garden g = playground(NULL, true, true);
    stir(&g, 3, 0.03, 0.3);
    memset(g.state->v + bough_tree_model_offset(g.model, STIFF), 0, 4 * sizeof *g.state->v);
    memset(g.state->v + bough_tree_model_offset(g.model, GONE), 0, 4 * sizeof *g.state->v);
    g.state->time = 0.5; /* on its way */
    check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state));
    const int32_t n = bough_tree_model_size(g.model);
    double v[MOST];
    bough_frame was[PARTS];
    check(n < MOST && length_of(3, g.state->frames[LED].velocity) > 0.5);
    memcpy(v, g.state->v, (size_t)n * sizeof *v);
    memcpy(was, g.state->frames, sizeof was);
    bough_tree_energies before, after;
    check_ok(g.ctx, bough_tree_state_energies(g.ctx, g.model, g.state, &before));
    check_ok(g.ctx, bough_tree_state_lock(g.ctx, g.model, g.state, STIFF, true));
    check_ok(g.ctx, bough_tree_state_energies(g.ctx, g.model, g.state, &after));
    check_near(after.elastic, before.elastic, 1e-12 * before.elastic);
    check_near(after.kinetic, before.kinetic, 1e-11 * before.kinetic);
    for (int32_t k = 0; k < n; k++)
        check_near(g.state->v[k], v[k], 1e-11);
    for (int32_t i = 0; i < PARTS; i++)
        for (int d = 0; d < 3; d++)
            check_near(g.state->frames[i].velocity[d], was[i].velocity[d], 1e-11);
    clear(&g);
}

/* d/dt dT/dv - dT/dq + dV/dq = 0 for all coordinates but the locked ones, with energies as they are measured. */
static void accelerations_are_those_of_lagrange(void **unused) {
    (void)unused;
    garden g = held_trees(0);
    const int32_t n = bough_tree_model_size(g.model), locked = bough_tree_model_offset(g.model, 5);
    const double h = 1e-5;
    double q[MOST], v[MOST], a[MOST], to[2][MOST], worst = 0, size = 0;
    check(n < MOST);
    const size_t bytes = (size_t)n * sizeof *q;
    memcpy(q, g.state->q, bytes), memcpy(v, g.state->v, bytes), memcpy(a, g.state->a, bytes);
    for (int32_t i = 0; i < n; i++) {
        if (i >= locked && i < locked + 3) {
            check(a[i] == 0);
            continue;
        }
        for (int side = 0; side < 2; side++)
            add_scaled(n, q, side ? h : -h, v, to[side]);
        const double moved = (momentum_of(&g, to[1], v, i) - momentum_of(&g, to[0], v, i)) / (2 * h);
        double slope = 0;
        for (int side = 0; side < 2; side++) {
            memcpy(to[side], q, bytes);
            to[side][i] += side ? h : -h;
            const bough_tree_energies e = energies_at(&g, to[side], v);
            slope += (side ? 1 : -1) * (e.elastic + e.gravity - e.kinetic) / (2 * h);
        }
        const double inertia = momentum_of(&g, q, a, i);
        worst = fmax(worst, fabs(inertia + moved + slope));
        size = fmax(size, fabs(inertia));
    }
    printf("off by %.1e of %.1f\n", worst, size);
    check_below(worst, 5e-9 * size);
    clear(&g);
}

/* Energy falls by what the dampers of joints and ties take. */
static void dampers_take_the_power_that_they_should(void **unused) {
    (void)unused;
    const double damping = 0.7, h = 1e-5;
    garden g = held_trees(damping);
    const int32_t n = bough_tree_model_size(g.model);
    double q[MOST], v[MOST], a[MOST], to_q[MOST], to_v[MOST], taken = 0, change_of_energy = 0;
    memcpy(q, g.state->q, (size_t)n * sizeof *q);
    memcpy(v, g.state->v, (size_t)n * sizeof *v);
    memcpy(a, g.state->a, (size_t)n * sizeof *a);
    for (int32_t i = 0; i < g.def.part_count; i++) {
        const int32_t at = bough_tree_model_joint_offset(g.model, i);
        for (int32_t d = 0; at >= 0 && d < bough_joint_freedoms(g.parts[i].joint->kind); d++)
            taken += damping * v[at + d] * v[at + d];
    }
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 6; d++)
            taken +=
                g.state->tie_strength[i] * (d < 3 ? 1 : 2) * damping * pow(bo_tree_work_of(g.state)->pulls[i].v[d], 2);
    for (int side = 0; side < 2; side++) {
        add_scaled(n, q, side ? h : -h, v, to_q);
        add_scaled(n, v, side ? h : -h, a, to_v);
        const bough_tree_energies e = energies_at(&g, to_q, to_v);
        change_of_energy += (side ? 1 : -1) * (e.elastic + e.gravity + e.kinetic) / (2 * h);
    }
    check(taken > 0.3);
    check_near(change_of_energy, -taken, 1e-7 * taken);
    clear(&g);
}

/* The acceleration of a tie's ends against each other is the rate of their velocity: what a step looks ahead with. */
static void ties_know_how_they_accelerate(void **unused) {
    (void)unused;
    const double h = 1e-5;
    garden g = held_trees(0);
    const int32_t n = bough_tree_model_size(g.model);
    double q[MOST], v[MOST], a[MOST], to_q[MOST], to_v[MOST], rate[2][3][6];
    bo_tie_motion known[3];
    check(n < MOST);
    memcpy(q, g.state->q, (size_t)n * sizeof *q);
    memcpy(v, g.state->v, (size_t)n * sizeof *v);
    memcpy(a, g.state->a, (size_t)n * sizeof *a);
    memcpy(known, bo_tree_work_of(g.state)->tie_motion, sizeof known);
    for (int side = 0; side < 2; side++) {
        add_scaled(n, q, side ? h : -h, v, to_q);
        add_scaled(n, v, side ? h : -h, a, to_v);
        energies_at(&g, to_q, to_v); /* weighs all, ties too */
        for (int i = 0; i < 3; i++)
            memcpy(rate[side][i], bo_tree_work_of(g.state)->pulls[i].v, sizeof rate[side][i]);
    }
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 6; d++)
            check_near(known[i].a[d], (rate[1][i][d] - rate[0][i][d]) / (2 * h), 1e-8);
    clear(&g);
}

/* The first step of symplectic Euler from v is v + h a, with the accelerations that the tree's own step has: offsets,
 * springs, dampers and motors in joints are in both. */
static void integrators_see_offsets_and_motors(void **unused) {
    (void)unused;
    const double h = 1e-3, push[3] = {3, -2, 4};
    garden g = till(1);
    test_random random = {61};
    add_kind(&g, 3, 3, BOUGH_REDUCED_POLYNOMIAL, false);
    static const int32_t parents[4] = {-1, 0, 1, 0};
    for (int32_t i = 0; i < 4; i++) {
        add_part(&g, &random, 0, parents[i], i == 3 ? 2 : 1);
        for (int d = 0; d < 3 && i > 0; d++)
            g.parts[i].offset[d] = test_uniform(&random, -0.5, 0.5);
    }
    g.parts[1].joint = hinge_about(1, 0, 1, 6, 0.3);
    g.parts[2].joint = ball_joint(4, 0.2);
    plant(&g);
    stir(&g, 62, 0.05, 0.5);
    const int32_t n = bough_tree_model_size(g.model);
    double a[MOST], v[MOST];
    check(n < MOST);
    for (int32_t i = 1; i < 4; i++)
        check_ok(g.ctx, bough_tree_state_add_wrench(g.ctx, g.model, g.state, i, push, push));
    for (int32_t i = 1; i < 3; i++)
        check_ok(g.ctx, bough_tree_state_add_joint_torque(g.ctx, g.model, g.state, i, push));
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0)); /* leaves the forces */
    memcpy(a, g.state->a, (size_t)n * sizeof *a);
    memcpy(v, g.state->v, (size_t)n * sizeof *v);
    bough_integrator_def def = bough_default_integrator_def();
    def.name = "symplectic-euler";
    check_ok(g.ctx, bough_tree_state_use_integrator(g.ctx, g.model, g.state, &def));
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, h));
    for (int32_t k = 0; k < n; k++)
        check_near((g.state->v[k] - v[k]) / h, a[k], 5e-13 * length_of(n, a));
    clear(&g);
}

/* Two trees in flight with joints, offsets and locks, tied to each other: what is left of energy after `time`. */
static double fly_with_everything(double step) {
    garden g = till(1);
    test_random random = {51};
    add_kind(&g, 4, 3, BOUGH_REDUCED_POLYNOMIAL, true);
    add_kind(&g, 3, 3, BOUGH_REDUCED_POLYNOMIAL, false);
    for (int32_t i = 0; i < 8; i++) {
        bough_part_def *part = add_part(&g, &random, i % 4 > 0, i % 4 ? i - 1 - i % 4 / 3 : -1, 1 + i % 4 / 3);
        part->damping_mass = part->damping_stiffness = 0;
        if (i % 4 == 1)
            part->joint = hinge_about(3, 1, 2, 20, 0);
        if (i == 6)
            part->joint = ball_joint(20, 0);
        part->offset[2] = i == 2 || i == 7 ? 0.2 : 0;
        part->locked = i == 1 || i == 4;
    }
    const bough_joint_def tie = tie_of(2, 2, 7, 1, 60, 10);
    g.def.tie_count = 1, g.def.ties = &tie;
    g.def.alpha = 0;
    memset(g.def.gravity, 0, sizeof g.def.gravity);
    plant(&g);
    stir(&g, 52, 0.02, 0.2);
    for (int32_t i = 0; i < 8; i++)
        for (int32_t l = 0; l < 3 + !(i % 4) && g.parts[i].locked; l++)
            g.state->v[bough_tree_model_offset(g.model, i) + l] = 0;
    check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state));
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0));
    bough_tree_energies start, end;
    check_ok(g.ctx, bough_tree_state_energies(g.ctx, g.model, g.state, &start));
    for (int i = 0; i < lround(0.2 / step); i++)
        check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, step));
    check_ok(g.ctx, bough_tree_state_energies(g.ctx, g.model, g.state, &end));
    for (int d = 0; d < 3; d++) {
        check_near(end.momentum[d], start.momentum[d], 1e-12 * length_of(3, start.momentum));
        check_near(end.angular_momentum[d], start.angular_momentum[d], 1e-11 * length_of(3, start.angular_momentum));
    }
    clear(&g);
    return fabs((end.elastic + end.kinetic) / (start.elastic + start.kinetic) - 1);
}

static void what_flies_keeps_momenta_and_energy(void **unused) {
    (void)unused;
    const double coarse = fly_with_everything(1.0 / 1000), fine = fly_with_everything(1.0 / 2000);
    printf("energy strays by %.1e, then %.1e\n", coarse, fine);
    check_below(fine, 0.4 * coarse);
    check_below(fine, 5e-9);
}

/* When everything has settled nothing accelerates: with joints, ties, offsets and a part that is locked. */
static void what_has_settled_stays(void **unused) {
    (void)unused;
    garden g = held_trees(0);
    check_ok(g.ctx, bough_tree_state_settle(g.ctx, g.model, g.state, NULL, NULL));
    const int32_t n = bough_tree_model_size(g.model);
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0));
    for (int32_t k = 0; k < n; k++) {
        check(g.state->v[k] == 0);
        check_near(g.state->a[k], 0, 5e-6);
    }
    clear(&g);
}

/* The same bits for any number of threads, with everything in it. */
static void threads_change_no_bit(void **unused) {
    (void)unused;
    void *snapshots[3] = {NULL};
    size_t size = 0;
    for (int threads = 1; threads <= 3; threads++) {
        garden g = till(threads);
        test_random random = {17};
        bough_joint_def ties[8];
        add_kind(&g, 6, 3, BOUGH_REDUCED_POLYNOMIAL, true);
        add_kind(&g, 5, 4, BOUGH_REDUCED_POLYNOMIAL, false);
        for (int32_t i = 0; i < 1200; i++) {
            bough_part_def *part = add_part(&g, &random, i < 2 ? 0 : 1, i < 2 ? -1 : (i - 2) / 2, 1 + i % 2);
            if (i > 1 && i % 5 == 0)
                part->joint = hinge_about(1, 2, 3, 500, 0);
            if (i > 1 && i % 7 == 0)
                part->joint = ball_joint(500, 0);
            part->offset[0] = i > 1 && i % 3 == 0 ? 0.1 : 0;
            part->locked = i % 11 == 0;
        }
        for (int32_t i = 0; i < 8; i++) {
            ties[i] = tie_of(600 + 50 * i, 1, i == 0 ? BOUGH_WORLD : 1199 - i, 1, 20, 0);
        }
        g.def.tie_count = 8, g.def.ties = ties;
        plant(&g);
        stir(&g, 18, 0.01, 0.05);
        for (int32_t i = 2; i < 1200; i += 199) {
            check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 1e-4));
            check_ok(g.ctx, i % 2 ? bough_tree_state_detach(g.ctx, g.model, g.state, i)
                                  : bough_tree_state_lock(g.ctx, g.model, g.state, i, true));
        }
        snapshots[threads - 1] = snap(&g, &size);
        clear(&g);
        if (threads > 1)
            check(memcmp(snapshots[threads - 1], snapshots[0], size) == 0);
    }
    for (int k = 0; k < 3; k++)
        free(snapshots[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_survive_the_end_of_memory),
        cmocka_unit_test(snapshots_with_any_links_do_no_harm),
        cmocka_unit_test(snapshots_know_who_is_led),
        cmocka_unit_test(ties_of_what_is_led_meet_at_its_first_key),
        cmocka_unit_test(joints_wait_where_they_begin),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(snapshots_are_of_one_model),
        cmocka_unit_test(integrators_need_joints_that_turn),
        cmocka_unit_test(balls_turn_on_with_integrators),
        cmocka_unit_test(an_impact_of_nothing_is_none),
        cmocka_unit_test(accelerations_are_those_of_lagrange),
        cmocka_unit_test(dampers_take_the_power_that_they_should),
        cmocka_unit_test(ties_know_how_they_accelerate),
        cmocka_unit_test(integrators_see_offsets_and_motors),
        cmocka_unit_test(what_flies_keeps_momenta_and_energy),
        cmocka_unit_test(what_has_settled_stays),
        cmocka_unit_test(threads_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
