/* Parts that are cut, put back, removed and locked in a session of bough view. */
#include "app/view_table.h"

static void what_is_cut_falls(void **state) {
    (void)state;
    table t = sit_down(write_scene("chain.json", HANGING), "tree", true);
    look_until(&t, t.frames > 0);
    const int32_t end_c = viewer_nearest(&t.seen, 2, 1.5, 0, 0), end_b = viewer_nearest(&t.seen, 1, 0.9, 0, 0);
    const double before_c = (double)viewer_at(&t.seen, 2, end_c)[2], before_b = (double)viewer_at(&t.seen, 1, end_b)[2];
    order(&t, "{'do': 'cut', 'part': 2}");
    look_until(&t, json_array_size(json_object_get(said(&t, "parts"), "loose")) == 1);
    look_until(&t,
               said(&t, "event") && !strcmp(json_string_value(json_object_get(said(&t, "event"), "change")), "detach"));
    steps(&t, 450); /* 0.9 s: g t^2 / 2 = 0.4 m */
    check((double)viewer_at(&t.seen, 2, end_c)[2] < before_c - 0.35);
    check((double)viewer_at(&t.seen, 1, end_b)[2] > before_b - 0.2);
    check_silence(&t);
    leave(&t);
}

static size_t listed(const table *t, const char *list) {
    return json_array_size(json_object_get(said(t, "parts"), list));
}

/* Returns the place of a part. */
static void note_place(const table *t, int32_t part, double *place) {
    for (int d = 0; d < 3; d++)
        place[d] = (double)t->seen.layers[0].pose[7 * part + d];
}

static double apart(const double *a, const double *b) {
    return sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
}

/* It goes where its parent goes, half a metre from it. */
static void check_that_c_hangs(table *t) {
    double b[3], c[3] = {0}, before[3], way = 0;
    for (int k = 0; k < 3; k++) {
        memcpy(before, c, sizeof c);
        steps(t, 100);
        note_place(t, 1, b), note_place(t, 2, c);
        check_near(apart(b, c), 0.5, 0.002);
        way += k > 0 ? apart(before, c) : 0; /* the first goes back to the parent */
    }
    check(way > 0.02);
    check_silence(t);
}

static void what_is_reattached_hangs_again(void **state) {
    (void)state;
    double before[3], c[3];
    table t = sit_down(write_scene("chain.json", HANGING), "tree", true);
    look_until(&t, t.frames > 0);
    note_place(&t, 2, before);
    order(&t, "{'do': 'cut', 'part': 2}");
    look_until(&t, listed(&t, "loose") == 1);
    steps(&t, 225); /* not so far that it comes back with a blow */
    note_place(&t, 2, c);
    check_near(apart(before, c), 0.5 * 1 * 0.45 * 0.45, 1e-6);
    order(&t, "{'do': 'reattach', 'part': 2}");
    look_until(&t, listed(&t, "loose") == 0);
    check_that_c_hangs(&t);
    leave(&t);
}

static void what_is_removed_and_reattached_hangs_again(void **state) {
    (void)state;
    double before[3], c[3];
    table t = sit_down(write_scene("still.json", STILL), "tree", true);
    look_until(&t, t.frames > 0);
    order(&t, "{'do': 'remove', 'part': 2}");
    look_until(&t, listed(&t, "absent") == 1);
    steps(&t, 10);
    order(&t, "{'do': 'reattach', 'part': 2}");
    look_until(&t, listed(&t, "absent") == 0);
    steps(&t, 10);
    note_place(&t, 2, before);
    order(&t, "{'do': 'gravity', 'acceleration': [0, 0, -1]}");
    check_that_c_hangs(&t);
    note_place(&t, 2, c);
    check(c[2] < before[2] - 0.1);
    leave(&t);
}

/* By how much the coordinates of a part have changed since they were copied. */
static double reshaped(const table *t, int32_t part, float *copy) {
    const viewer_layer *l = &t->seen.layers[0];
    double most = 0;
    for (int32_t k = 0; k < l->count[part]; k++) {
        most = fmax(most, fabs((double)l->own[part][k] - (double)copy[k]));
        copy[k] = l->own[part][k];
    }
    return most;
}

/* It goes where its parent takes it, and keeps its shape until it is unlocked. */
static void what_is_locked_keeps_its_shape(void **state) {
    (void)state;
    table t = sit_down(write_scene("chain.json", HANGING), "tree", true);
    look_until(&t, t.frames > 0);
    check_int(t.seen.layers[0].count[1], 14);
    float shapes[2][14] = {0};
    for (int locked = 0; locked < 3; locked++) { /* and unlocked again */
        if (locked > 0)
            order(&t, locked == 1 ? "{'do': 'lock', 'part': 1}" : "{'do': 'unlock', 'part': 1}");
        look_until(&t, listed(&t, "locked") == (locked == 1));
        reshaped(&t, 0, shapes[0]), reshaped(&t, 1, shapes[1]);
        const int32_t end = viewer_nearest(&t.seen, 1, 1, 0, 0);
        const double before = (double)viewer_at(&t.seen, 1, end)[2];
        steps(&t, 60);
        check(reshaped(&t, 0, shapes[0]) > 1e-3);
        const double change = reshaped(&t, 1, shapes[1]);
        check(locked == 1 ? change == 0 : change > 1e-3);
        check((double)viewer_at(&t.seen, 1, end)[2] < before - 0.005);
    }
    check_silence(&t);
    leave(&t);
}

/* A root that was removed comes back where it stood and as it was turned. */
static void what_was_removed_comes_back_as_it_stood(void **state) {
    (void)state;
    table t = sit_down(write_scene("turned.json",
                                   "{'bough': 1, 'components': {'arm': {'mesh': {'generate': 'box', 'type': 'hex8', "
                                   "'size': [1, 0.1, 0.1], 'cells': [6, 1, 1]}, 'basis': {'r': 5}, 'material': "
                                   "{'young': 1e6, 'poisson': 0.3, 'density': 500}, 'interfaces': {'base': "
                                   "{'select': 'x0'}}}}, 'parts': [{'name': 'a', 'component': 'arm'}, {'name': 'b', "
                                   "'component': 'arm', 'position': [0, 3, 0], 'rotate_deg': [0, 0, 90]}], "
                                   "'gravity': [0, 0, 0], 'time': {'dt': 0.01, 'duration': 1}}"),
                       "tree", true);
    look_until(&t, t.frames > 0);
    const int32_t end = viewer_nearest(&t.seen, 1, 0, 4, 0);
    float before[3];
    memcpy(before, viewer_at(&t.seen, 1, end), sizeof before);
    check((double)before[1] > 3.9 && fabs((double)before[0]) < 0.2);
    order(&t, "{'do': 'remove', 'part': 1}");
    look_until(&t, json_array_size(json_object_get(said(&t, "parts"), "absent")) == 1);
    order(&t, "{'do': 'reattach', 'part': 1}");
    look_until(&t, json_array_size(json_object_get(said(&t, "parts"), "absent")) == 0);
    steps(&t, 3);
    for (int d = 0; d < 3; d++)
        check_near((double)viewer_at(&t.seen, 1, end)[d], (double)before[d], 1e-3);
    check_silence(&t);
    leave(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_cut_falls),
        cmocka_unit_test(what_is_reattached_hangs_again),
        cmocka_unit_test(what_is_removed_and_reattached_hangs_again),
        cmocka_unit_test(what_is_locked_keeps_its_shape),
        cmocka_unit_test(what_was_removed_comes_back_as_it_stood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
