/* Snapshots: a state that was put back goes on as if nothing had happened, to the last bit. */
#include "bars.h"

#include "component/image.h"
#include "tree/snapshot.h"

enum { PARTS = 4 };
static const double dt = 1.0 / 240;

static void set_out(bars *b, bool flies) {
    prepare_bars(b, test_context(1), PARTS, 1e-3, flies);
    b->def.gravity[1] = 1;
    grow_bars(b);
    for (int32_t k = 0; k < bough_tree_model_size(b->model); k++)
        b->state->v[k] = 0.3 * sin(k + 1);
    if (flies)
        b->state->roots[0].angular_velocity[2] = 2;
    check_ok(b->ctx, bough_tree_state_update(b->ctx, b->model, b->state));
}
static void go_home(bars *b) {
    bough_context *ctx = b->ctx;
    clear_bars(b);
    bough_context_destroy(ctx);
}

/* Steps with pulls, which depend on frames. */
static void go_on(bars *b, bough_tree_state *state, int steps) {
    const double target[3] = {1, 1, 2}, force[3] = {3, 0, 1};
    for (int i = 0; i < steps; i++) {
        check_ok(b->ctx, bough_tree_step(b->ctx, b->model, state, dt));
        check_ok(b->ctx, bough_tree_state_pull(b->ctx, b->model, state, PARTS - 1, 3, target, 20, 0.5));
        check_ok(b->ctx, bough_tree_state_add_force(b->ctx, b->model, state, 1, 7, force)); /* acts in the next step */
    }
}

static void *snap(const bars *b, const bough_tree_state *state) {
    void *bytes = malloc(bough_tree_state_snapshot_size(b->model, b->state));
    bough_tree_state_save(b->model, state, bytes);
    return bytes;
}

/* Into a state that has never moved, and into one that has gone elsewhere. */
static void restored_states_go_on_alike(void **unused) {
    (void)unused;
    for (int flies = 0; flies < 2; flies++) {
        bars b;
        set_out(&b, flies);
        bough_tree_state *fresh;
        check_ok(b.ctx, bough_tree_state_create(b.ctx, b.model, &fresh));
        go_on(&b, b.state, 7);
        b.state->stiffness[1] = 1.5, b.state->damping_mass[2] = 0.75, b.state->damping_stiffness[3] = 2e-3;
        b.state->wind.velocity[0] = 4, b.state->gravity[0] = 1.5;
        const size_t size = bough_tree_state_snapshot_size(b.model, b.state);
        void *then = snap(&b, b.state);
        go_on(&b, b.state, 9);
        void *later = snap(&b, b.state);
        check(memcmp(then, later, size) != 0);
        bough_tree_state *others[2] = {fresh, b.state};
        for (int k = 0; k < 2; k++) {
            check_ok(b.ctx, bough_tree_state_restore(b.ctx, b.model, others[k], then, size));
            void *same = snap(&b, others[k]);
            check(memcmp(then, same, size) == 0);
            go_on(&b, others[k], 9);
            free(same);
            same = snap(&b, others[k]);
            check(memcmp(later, same, size) == 0);
            free(same);
        }
        check_near(fresh->time, 16 * dt, 1e-12);
        check(fresh->wind.velocity[0] == 4 && fresh->gravity[0] == 1.5 && fresh->stiffness[1] == 1.5);
        bough_tree_state_destroy(b.ctx, fresh);
        free(then), free(later);
        go_home(&b);
    }
}

/* Polar decompositions start from what they found last: another start, other bits. */
static void warm_starts_are_kept(void **unused) {
    (void)unused;
    bars b;
    set_out(&b, false);
    go_on(&b, b.state, 5);
    void *then = snap(&b, b.state);
    bo_tree_work *w = bo_tree_work_of(b.state);
    const size_t rotations = 9 * sizeof(bo_v4);
    check(b.model->faces_count > 0);
    bo_v4 *kept = malloc((size_t)b.model->faces_count * rotations);
    memcpy(kept, w->starts, (size_t)b.model->faces_count * rotations);
    check(fabs(BO_LANE(kept[1], 0)) > 1e-6);
    for (int32_t f = 0; f < b.model->faces_count; f++)
        memset(w->faces[f].polar, 0, rotations);
    check_ok(b.ctx,
             bough_tree_state_restore(b.ctx, b.model, b.state, then, bough_tree_state_snapshot_size(b.model, b.state)));
    for (int32_t f = 0; f < b.model->faces_count; f++)
        check(memcmp(kept + 9 * f, w->faces[f].polar, rotations) == 0);
    free(kept);
    free(then);
    go_home(&b);
}

/* A wrench on a frame may be the only load of the next step. */
static void a_wrench_alone_is_kept(void **unused) {
    (void)unused;
    const double push[3] = {3, -2, 1}, turn[3] = {0, 0.5, 0};
    bars b;
    set_out(&b, true);
    bough_tree_state *fresh;
    check_ok(b.ctx, bough_tree_state_create(b.ctx, b.model, &fresh));
    check_ok(b.ctx, bough_tree_state_add_wrench(b.ctx, b.model, b.state, 0, push, turn));
    for (int32_t k = 0; k < bough_tree_model_size(b.model); k++)
        check(bo_tree_work_of(b.state)->force[k] == 0);
    void *then = snap(&b, b.state);
    check_ok(b.ctx,
             bough_tree_state_restore(b.ctx, b.model, fresh, then, bough_tree_state_snapshot_size(b.model, b.state)));
    check_ok(b.ctx, bough_tree_step(b.ctx, b.model, b.state, dt));
    check_ok(b.ctx, bough_tree_step(b.ctx, b.model, fresh, dt));
    check(memcmp(&b.state->roots[0].momentum, &fresh->roots[0].momentum, sizeof fresh->roots[0].momentum) == 0);
    free(then);
    bough_tree_state_destroy(b.ctx, fresh);
    go_home(&b);
}

/* As a forger would write them: whole in themselves, but without the end, or without the parts. */
static void short_ones_are_refused(void **unused) {
    (void)unused;
    enum { HEAD = 32, SIZE_AT = 8, CHECKSUM_AT = 24 };
    bars b;
    set_out(&b, false);
    const size_t size = bough_tree_state_snapshot_size(b.model, b.state);
    void *whole = snap(&b, b.state);
    for (size_t cut = HEAD; cut < size; cut += cut < 2 * HEAD ? 1 : 61) {
        unsigned char *bytes = malloc(cut); /* no more, so that reading beyond is noticed */
        const uint64_t length = cut;
        memcpy(bytes, whole, cut);
        memcpy(bytes + SIZE_AT, &length, sizeof length);
        const uint64_t checksum = bo_image_hash(0, bytes + HEAD, cut - HEAD);
        memcpy(bytes + CHECKSUM_AT, &checksum, sizeof checksum);
        check_fails(b.ctx, bough_tree_state_restore(b.ctx, b.model, b.state, bytes, cut), BOUGH_ERROR_FORMAT, "bytes");
        free(bytes);
    }
    free(whole);
    go_home(&b);
}

/* A joint that the model does not have would have no coordinates: the part is welded all the same. */
static void joints_are_those_of_the_model(void **unused) {
    (void)unused;
    enum { HEAD = 32, CHECKSUM_AT = 24, LINK = 23 * 8, JOINT_AT = 5 * 8 };
    bars b;
    set_out(&b, false);
    const size_t size = bough_tree_state_snapshot_size(b.model, b.state);
    unsigned char *bytes = snap(&b, b.state);
    for (int kind = 1; kind < 4; kind++) {
        const double joint = kind;
        memcpy(bytes + HEAD + LINK + JOINT_AT, &joint, sizeof joint);
        const uint64_t checksum = bo_image_hash(0, bytes + HEAD, size - HEAD);
        memcpy(bytes + CHECKSUM_AT, &checksum, sizeof checksum);
        check_ok(b.ctx, bough_tree_state_restore(b.ctx, b.model, b.state, bytes, size));
        check(!bough_tree_state_parts(b.model, b.state)[1].joint);
        check_ok(b.ctx, bough_tree_step(b.ctx, b.model, b.state, dt));
    }
    free(bytes);
    go_home(&b);
}

static void other_bytes_are_refused(void **unused) {
    (void)unused;
    bars b, other;
    set_out(&b, true);
    const size_t size = bough_tree_state_snapshot_size(b.model, b.state);
    unsigned char *good = snap(&b, b.state);
    go_on(&b, b.state, 2);
    unsigned char *now = snap(&b, b.state), *copy = malloc(size);
    check_fails(b.ctx, bough_tree_state_restore(b.ctx, b.model, b.state, good, size - 8), BOUGH_ERROR_FORMAT, "bytes");
    check_fails(b.ctx, bough_tree_state_restore(b.ctx, b.model, b.state, good, 3), BOUGH_ERROR_FORMAT, "no snapshot");
    for (size_t bit = 0; bit < 8 * size; bit += 7) {
        memcpy(copy, good, size);
        copy[bit / 8] ^= (unsigned char)(1 << bit % 8);
        check(bough_tree_state_restore(b.ctx, b.model, b.state, copy, size) != BOUGH_OK);
    }
    prepare_bars(&other, test_context(1), PARTS, 1e-3, true);
    other.parts[2].scale *= 1.01;
    grow_bars(&other);
    check_int(bough_tree_state_snapshot_size(other.model, other.state), size);
    check_fails(other.ctx, bough_tree_state_restore(other.ctx, other.model, other.state, good, size),
                BOUGH_ERROR_ARGUMENT, "another model");
    bough_tree_state_save(b.model, b.state, copy); /* refusals have changed nothing */
    check(memcmp(copy, now, size) == 0);
    free(good), free(now), free(copy);
    go_home(&b), go_home(&other);
}

/* Copies without a checksum hold the same; neither kind passes for the other. */
static void plain_copies_go_on_alike(void **unused) {
    (void)unused;
    bars b, other;
    set_out(&b, true);
    const size_t size = bough_tree_state_snapshot_size(b.model, b.state);
    go_on(&b, b.state, 5);
    void *checked = snap(&b, b.state), *plain = malloc(size);
    bo_tree_save_plain(b.model, b.state, plain);
    go_on(&b, b.state, 4);
    void *later = snap(&b, b.state);
    check_fails(b.ctx, bough_tree_state_restore(b.ctx, b.model, b.state, plain, size), BOUGH_ERROR_FORMAT,
                "no snapshot");
    check_fails(b.ctx, bo_tree_restore_plain(b.ctx, b.model, b.state, checked, size), BOUGH_ERROR_FORMAT,
                "no snapshot");
    check_fails(b.ctx, bo_tree_restore_plain(b.ctx, b.model, b.state, plain, size - 8), BOUGH_ERROR_FORMAT, "bytes");
    check_ok(b.ctx, bo_tree_restore_plain(b.ctx, b.model, b.state, plain, size));
    void *same = snap(&b, b.state);
    check(memcmp(same, checked, size) == 0);
    go_on(&b, b.state, 4);
    bough_tree_state_save(b.model, b.state, same);
    check(memcmp(same, later, size) == 0);
    prepare_bars(&other, test_context(1), PARTS, 1e-3, true);
    other.parts[1].scale *= 0.99;
    grow_bars(&other);
    check_fails(other.ctx, bo_tree_restore_plain(other.ctx, other.model, other.state, plain, size),
                BOUGH_ERROR_ARGUMENT, "another model");
    free(checked), free(plain), free(later), free(same);
    go_home(&b), go_home(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restored_states_go_on_alike),   cmocka_unit_test(warm_starts_are_kept),
        cmocka_unit_test(a_wrench_alone_is_kept),        cmocka_unit_test(short_ones_are_refused),
        cmocka_unit_test(joints_are_those_of_the_model), cmocka_unit_test(other_bytes_are_refused),
        cmocka_unit_test(plain_copies_go_on_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
