/* Orders along Morton's curve. */
#include "test.h"

#include "base/morton.h"

static void point_of(const void *data, int32_t index, double x[3]) {
    memcpy(x, (const double *)data + 3 * index, 3 * sizeof *x);
}

/* All points of one octant come before those of the next, at every depth. */
static void octants_stay_together(void **state) {
    (void)state;
    enum { SIDE = 8, COUNT = SIDE * SIDE * SIDE };
    static double points[3 * COUNT];
    static int32_t order[COUNT];
    bough_context *ctx = test_context(1);
    for (int i = 0; i < COUNT; i++) { /* scattered numbers */
        int k = (i * 101 + 7) % COUNT;
        points[3 * i] = k % SIDE, points[3 * i + 1] = k / SIDE % SIDE, points[3 * i + 2] = k / SIDE / SIDE;
    }
    check_ok(ctx, bo_morton_order(ctx, COUNT, point_of, points, order));
    for (int size = SIDE / 2; size > 0; size /= 2) {
        int inside = size * size * size;
        for (int i = 0; i < COUNT; i++)
            for (int d = 0; d < 3; d++) {
                const double *first = points + 3 * order[i - i % inside], *x = points + 3 * order[i];
                check_int((int)x[d] / size, (int)first[d] / size);
            }
    }
    bough_context_destroy(ctx);
}

static void every_number_is_there_once(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    double points[3 * 50] = {0};
    int32_t order[50];
    check_ok(ctx, bo_morton_order(ctx, 50, point_of, points, order)); /* all in one place: as they were */
    for (int32_t i = 0; i < 50; i++)
        check_int(order[i], i);
    test_random random = {1};
    for (int i = 0; i < 150; i++)
        points[i] = i % 17 == 0 ? NAN : i % 23 == 0 ? 1e300 : test_uniform(&random, -1, 1);
    check_ok(ctx, bo_morton_order(ctx, 50, point_of, points, order));
    bool seen[50] = {false};
    for (int i = 0; i < 50; i++) {
        check(order[i] >= 0 && order[i] < 50 && !seen[order[i]]);
        seen[order[i]] = true;
    }
    check_ok(ctx, bo_morton_order(ctx, 0, point_of, points, order));
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(octants_stay_together),
        cmocka_unit_test(every_number_is_there_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
