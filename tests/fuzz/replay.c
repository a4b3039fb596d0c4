/* A target as a test: its seeds, and random mutants of them. What libFuzzer finds in minutes of looking is not found
 * here, but what it found once, and became a seed, stays found. */
#include "fuzz.h"

#include <time.h>

enum { MOST_SEEDS = 64, MUTANTS = 4000 };
static struct {
    uint8_t *bytes;
    size_t size;
} seeds[MOST_SEEDS];
static int seed_count;

static void add(const void *data, size_t size) {
    check(seed_count < MOST_SEEDS);
    seeds[seed_count].bytes = malloc(size + 1);
    memcpy(seeds[seed_count].bytes, data, size);
    seeds[seed_count++].size = size;
}

static size_t pick(test_random *random, size_t count) {
    return count > 0 ? (size_t)(test_bits(random) % count) : 0;
}

/* One change; the new size. There is room for twice the bytes. */
static size_t mutate(test_random *random, uint8_t *bytes, size_t size) {
    static const uint64_t numbers[] = {0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, INT32_MAX, UINT32_MAX, INT64_MAX};
    const size_t at = pick(random, size), length = pick(random, size - at < 40 ? size - at : 40);
    uint64_t number;
    switch (pick(random, 6)) {
    case 0: /* a bit */
        bytes[at] ^= (uint8_t)(1 << pick(random, 8));
        return size;
    case 1: /* a character that texts are made of */
        bytes[at] = (uint8_t) "0123456789-.eE[]{}\"<>/, \n*#aX\377"[pick(random, 32)];
        return size;
    case 2: /* a number */
        number = numbers[pick(random, sizeof numbers / sizeof *numbers)];
        memcpy(bytes + at, &number, size - at < 8 ? size - at : 8);
        return size;
    case 3: /* without some bytes */
        memmove(bytes + at, bytes + at + length, size - at - length);
        return size - length;
    case 4: /* with some twice */
        memmove(bytes + at + length, bytes + at, size - at);
        return size + length;
    default: /* to here */
        return pick(random, 4) ? size : at;
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void seeds_and_their_mutants_are_survived(void **state) {
    (void)state;
    test_random random = {7};
    fuzz_seeds(add);
    fuzz_one((const uint8_t *)"", 0);
    for (int i = 0; i < seed_count; i++)
        fuzz_one(seeds[i].bytes, seeds[i].size);
    const double until = now() + (test_long() ? 20 : 0.3); /* s: as many as there is time for */
    for (int i = 0; i < MUTANTS * (test_long() ? 100 : 1) && now() < until; i++) {
        const int k = i % seed_count;
        size_t size = seeds[k].size;
        uint8_t *bytes = malloc(2 * size + 400);
        memcpy(bytes, seeds[k].bytes, size);
        for (size_t changes = 1 + pick(&random, 4); changes > 0 && size > 0 && size < 2 * seeds[k].size; changes--)
            size = mutate(&random, bytes, size);
        uint8_t *exact = malloc(size ? size : 1); /* so that a sanitizer sees a look beyond it */
        memcpy(exact, bytes, size);
        fuzz_one(exact, size);
        free(exact);
        free(bytes);
    }
    for (int i = 0; i < seed_count; i++)
        free(seeds[i].bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(seeds_and_their_mutants_are_survived)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
