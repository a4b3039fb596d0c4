/* The map from numbers in files to indices: it finds what was put in, and no choice of keys makes it slow. */
#include "test.h"

#include "base/idmap.h"

enum { COUNT = 200000 };

/* Modulo 2^64. */
static uint64_t inverse_of_odd(uint64_t a) {
    uint64_t x = a; /* correct to 3 bits; each step of Newton's doubles them */
    for (int i = 0; i < 5; i++)
        x *= 2 - a * x;
    return x;
}

static int64_t consecutive(uint64_t i) {
    return (int64_t)(i + 1);
}
static int64_t negative(uint64_t i) {
    return -(int64_t)i;
}
static int64_t high_bits(uint64_t i) {
    return (int64_t)(i << 44);
}
static int64_t middle_bits(uint64_t i) {
    return (int64_t)(i << 20);
}
static int64_t edges_of_a_grid(uint64_t i) {
    return (int64_t)((i / 3) << 32 | (i / 3 + (i % 3 == 0 ? 1 : i % 3 == 1 ? 100 : 10000)));
}
static int64_t multiples_of_the_golden_ratio(uint64_t i) {
    return (int64_t)(i * 0x9E3779B97F4A7C15u);
}
static int64_t inverse_of_the_golden_ratio(uint64_t i) {
    return (int64_t)((i << 44) * inverse_of_odd(0x9E3779B97F4A7C15u));
}
/* Slots looked at, on average, when each key is looked for from the beginning of its run of used slots: no less than
 * the map really looks at. */
static double mean_search(const bo_idmap *map, size_t *longest) {
    double sum = 0;
    size_t run = 0;
    *longest = 0;
    for (size_t i = 0; i < 2 * map->slot_count; i++) { /* twice around, for the run that crosses the end */
        run = map->values[i & (map->slot_count - 1)] >= 0 ? run + 1 : 0;
        *longest = run > *longest ? run : *longest;
        sum += i < map->slot_count ? 0 : (double)run;
    }
    return sum / (double)map->used;
}

static void check_keys(const char *name, int64_t (*key)(uint64_t)) {
    bough_context *ctx = test_context(1);
    bo_idmap map = {0};
    int32_t found;
    for (int32_t i = 0; i < COUNT; i++) {
        check_ok(ctx, bo_idmap_add(ctx, &map, key((uint64_t)i), i, &found));
        check_int(found, -1);
    }
    size_t longest;
    double mean = mean_search(&map, &longest);
    if (mean > 4 || longest > 120)
        fail_msg("%s: %.2f slots for each key, %zu at most", name, mean, longest);
    for (int32_t i = 0; i < COUNT; i++)
        check_int(bo_idmap_find(&map, key((uint64_t)i)), i);
    check_ok(ctx, bo_idmap_add(ctx, &map, key(7), 99, &found));
    check_int(found, 7);
    check_int(bo_idmap_find(&map, INT64_MIN + 12345), -1);
    check_int(map.used, COUNT);
    bo_idmap_free(ctx, &map);
    bough_context_destroy(ctx);
}

static void an_empty_map_knows_nothing(void **state) {
    (void)state;
    bo_idmap map = {0};
    check_int(bo_idmap_find(&map, 0), -1);
}

static void no_keys_are_slow(void **state) {
    (void)state;
#define CHECK_KEYS(function) check_keys(#function, function)
    CHECK_KEYS(consecutive);
    CHECK_KEYS(negative);
    CHECK_KEYS(middle_bits);
    CHECK_KEYS(edges_of_a_grid);
    CHECK_KEYS(multiples_of_the_golden_ratio);
    CHECK_KEYS(high_bits);
    CHECK_KEYS(inverse_of_the_golden_ratio);
}

/* The inverse of splitmix64's finaliser: keys whose hashes are what one likes. */
static uint64_t unshift(uint64_t y, int by) {
    uint64_t x = y;
    for (int known = by; known < 64; known += by)
        x = y ^ (x >> by);
    return x;
}
static uint64_t key_of_hash(uint64_t z) {
    z = unshift(z, 31) * inverse_of_odd(0x94D049BB133111EBu);
    z = unshift(z, 27) * inverse_of_odd(0xBF58476D1CE4E5B9u);
    return unshift(z, 30);
}

/* Keys made to collide are refused instead of searched for; the others stay. */
static void keys_made_to_collide_are_refused(void **state) {
    (void)state;
    enum { FEW = 250 };
    bough_context *ctx = test_context(1);
    bo_idmap map = {0};
    int32_t found, count = 0;
    for (int32_t i = 0; i < COUNT; i++)
        check_ok(ctx, bo_idmap_add(ctx, &map, consecutive((uint64_t)i), i, &found));
    bough_status status = BOUGH_OK;
    for (; status == BOUGH_OK && count < 1000; count++)
        status = bo_idmap_add(ctx, &map, (int64_t)key_of_hash((uint64_t)count << 32 | 5), COUNT + count, &found);
    check_int(status, BOUGH_ERROR_FORMAT);
    check(strstr(bough_message(ctx), "hash") != NULL);
    check(count > FEW && count < 600);
    check_int(bo_idmap_find(&map, (int64_t)key_of_hash((uint64_t)(count - 1) << 32 | 5)), -1);
    for (int32_t i = 0; i < FEW; i++)
        check_int(bo_idmap_find(&map, (int64_t)key_of_hash((uint64_t)i << 32 | 5)), COUNT + i);
    for (int32_t i = 0; i < COUNT; i++)
        check_int(bo_idmap_find(&map, consecutive((uint64_t)i)), i);
    check_ok(ctx, bo_idmap_add(ctx, &map, -17, 5, &found));
    check_int(bo_idmap_find(&map, -17), 5);
    bo_idmap_free(ctx, &map);

    /* One long run of keys that lie in their own slots does not make the search for others long. */
    for (int32_t i = 0; i < COUNT; i++)
        check_ok(ctx, bo_idmap_add(ctx, &map, (int64_t)key_of_hash((uint64_t)i), i, &found));
    for (int32_t i = 0; i < COUNT; i++)
        check_int(bo_idmap_find(&map, (int64_t)key_of_hash((uint64_t)(i + 1) << 32)), -1);
    bo_idmap_free(ctx, &map);
    bough_context_destroy(ctx);
}

static void failing_allocations_leave_the_map_usable(void **state) {
    (void)state;
    for (long fail_at = 1; fail_at < 20; fail_at++) {
        test_memory memory = {.fail_at = fail_at};
        bough_context *ctx = test_counting_context(&memory);
        bo_idmap map = {0};
        int32_t failures = 0, found;
        for (int32_t i = 0; i < 2000; i++) {
            bough_status status = bo_idmap_add(ctx, &map, consecutive((uint64_t)i), i, &found);
            if (status == BOUGH_ERROR_MEMORY) {
                failures++;
                i--;
            }
        }
        check(failures <= 1);
        for (int32_t i = 0; i < 2000; i++)
            check_int(bo_idmap_find(&map, consecutive((uint64_t)i)), i);
        bo_idmap_free(ctx, &map);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_knows_nothing),
        cmocka_unit_test(no_keys_are_slow),
        cmocka_unit_test(keys_made_to_collide_are_refused),
        cmocka_unit_test(failing_allocations_leave_the_map_usable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
