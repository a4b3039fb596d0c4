/* Hostile files: whatever the bytes are, reading refuses them or gives a component that can be used. With a sanitizer,
 * a step aside shows. */
#include "draft.h"

#include "component/layout.h"

enum { BASES = 6, MOST_EXTRA = 256 };

typedef struct base {
    unsigned char *bytes;
    size_t size;
} base;

static void make_bases(bough_context *ctx, base bases[BASES]) {
    static const struct {
        int32_t r;
        bough_reduced_elastic elastic;
        bough_material_model model;
        uint64_t seed; /* odd: surface in int16 */
    } kinds[BASES] = {{0, BOUGH_REDUCED_RIGID, BOUGH_MATERIAL_STVK, 1},
                      {1, BOUGH_REDUCED_POLYNOMIAL, BOUGH_MATERIAL_STVK, 2},
                      {5, BOUGH_REDUCED_POLYNOMIAL, BOUGH_MATERIAL_LINEAR, 3},
                      {3, BOUGH_REDUCED_CUBATURE, BOUGH_MATERIAL_COROTATED, 4},
                      {5, BOUGH_REDUCED_CUBATURE, BOUGH_MATERIAL_MOONEY_RIVLIN, 5},
                      {4, BOUGH_REDUCED_LINEAR, BOUGH_MATERIAL_NEO_HOOKEAN, 6}};
    for (int i = 0; i < BASES; i++) {
        draft *d = draft_make(kinds[i].r, kinds[i].elastic, kinds[i].model, kinds[i].seed);
        bough_component *c = draft_pack(ctx, d);
        bases[i] = (base){.bytes = malloc(c->image_size), .size = c->image_size};
        memcpy(bases[i].bytes, c->image, c->image_size);
        bough_component_destroy(ctx, c);
        draft_free(d);
    }
}

/* 0 .. count - 1 */
static size_t pick(test_random *random, size_t count) {
    return count > 0 ? (size_t)(test_bits(random) % count) : 0;
}

static uint64_t boundary_integer(test_random *random) {
    static const uint64_t values[] = {0,
                                      1,
                                      2,
                                      3,
                                      7,
                                      8,
                                      63,
                                      64,
                                      65,
                                      512,
                                      513,
                                      0x7FFF,
                                      0xFFFF,
                                      0x7FFFFFFF,
                                      0x80000000,
                                      UINT32_MAX,
                                      1ull << 32,
                                      1ull << 40,
                                      INT64_MAX,
                                      1ull << 63,
                                      UINT64_MAX,
                                      UINT64_MAX - 63,
                                      UINT64_MAX / 8,
                                      UINT64_MAX / 8 + 1};
    return values[pick(random, sizeof values / sizeof values[0])];
}
static double boundary_number(test_random *random) {
    static const double values[] = {0,      -0.0,    1,        -1,        1e-300, -1e-300, 1e300, -1e300, 1e154, 1e-10,
                                    5e-324, -5e-324, INFINITY, -INFINITY, NAN,    0.5,     1e39,  -1e39,  1e-39};
    return values[pick(random, sizeof values / sizeof values[0])];
}

static void put_integer(unsigned char *at, uint64_t value, size_t size) {
    for (size_t i = 0; i < size; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

/* Flips, overwrites, cuts, appends: without new checksums. */
static size_t mutate_raw(test_random *random, unsigned char *bytes, size_t size) {
    switch (pick(random, 5)) {
    case 0:
        bytes[pick(random, size)] ^= (unsigned char)(1 << pick(random, 8));
        break;
    case 1:
        bytes[pick(random, size)] = (unsigned char)test_bits(random);
        break;
    case 2: { /* a stretch of the file somewhere else */
        size_t length = 1 + pick(random, 128 < size ? 128 : size), from = pick(random, size - length + 1);
        memmove(bytes + pick(random, size - length + 1), bytes + from, length);
        break;
    }
    case 3:
        return pick(random, size);
    default: {
        size_t extra = 1 + pick(random, MOST_EXTRA);
        for (size_t i = 0; i < extra; i++)
            bytes[size + i] = (unsigned char)(pick(random, 2) ? test_bits(random) : 0);
        return size + extra;
    }
    }
    return size;
}

static void mutate_header(test_random *random, unsigned char *bytes) {
    static const struct {
        size_t at, size;
    } fields[] = {{0, 8}, {8, 4}, {12, 4}, {16, 8}, {24, 8}, {32, 8}, {40, 4}, {44, 4}, {48, 8}};
    size_t i = pick(random, sizeof fields / sizeof fields[0]);
    put_integer(bytes + fields[i].at, boundary_integer(random), fields[i].size);
}

static void mutate_entry(test_random *random, unsigned char *entry) {
    static const struct {
        size_t at, size;
    } fields[] = {{0, 8}, {24, 8}, {32, 4}, {36, 4}, {40, 8}, {48, 8}, {56, 8}, {64, 8}, {72, 8}, {80, 8}};
    size_t i = pick(random, sizeof fields / sizeof fields[0]);
    uint64_t value = boundary_integer(random), old = 0;
    for (size_t k = 0; k < fields[i].size; k++)
        old |= (uint64_t)entry[fields[i].at + k] << (8 * k);
    if (pick(random, 2)) /* near what it was */
        value = old + (pick(random, 2) ? value : -value);
    put_integer(entry + fields[i].at, value, fields[i].size);
}

/* One element of one chunk. */
static void mutate_data(test_random *random, const base *from, unsigned char *bytes) {
    size_t count = from->bytes[12]; /* small files have few chunks */
    unsigned char *entry = bytes + BO_IMAGE_HEADER_SIZE + BO_IMAGE_ENTRY_SIZE * pick(random, count);
    uint64_t offset = 0, size = 0;
    for (int k = 0; k < 8; k++) {
        offset |= (uint64_t)entry[72 + k] << (8 * k);
        size |= (uint64_t)entry[80 + k] << (8 * k);
    }
    if (size == 0 || offset > from->size || size > from->size - offset)
        return; /* mutated before */
    static const size_t sizes[] = {1, 8, 4, 4, 2, 1};
    size_t element = sizes[entry[32] % 6], index = pick(random, (size_t)size / element);
    unsigned char *at = bytes + offset + index * element;
    if (element == 8) {
        double value = boundary_number(random), old;
        memcpy(&old, at, sizeof old);
        value = pick(random, 3) == 0 ? old * (1 + 1e-12) : pick(random, 2) ? value : old * test_uniform(random, -2, 2);
        memcpy(at, &value, sizeof value);
    } else if (entry[32] == BO_F32) {
        float value = (float)test_uniform(random, -10, 10);
        if (pick(random, 2))
            value = pick(random, 2) ? NAN : 3e38f;
        memcpy(at, &value, sizeof value);
    } else if (element == 1)
        *at = (unsigned char)(pick(random, 3) ? 'a' + pick(random, 26) : pick(random, 256));
    else
        put_integer(at, pick(random, 2) ? boundary_integer(random) : pick(random, 14), element);
}

/* Fields of header, directory and data, then right checksums. */
static void mutate_fields(test_random *random, const base *from, unsigned char *bytes) {
    size_t count = from->bytes[12];
    for (size_t rounds = 1 + pick(random, 3); rounds > 0; rounds--) {
        size_t kind = pick(random, 10);
        if (kind == 0)
            mutate_header(random, bytes);
        else if (kind < 4)
            mutate_entry(random, bytes + BO_IMAGE_HEADER_SIZE + BO_IMAGE_ENTRY_SIZE * pick(random, count));
        else
            mutate_data(random, from, bytes);
    }
    bo_image_seal(bytes, from->size);
}

/* At rest there are no inversions and nothing that has blown up: all answers are numbers. */
static void check_rest(const bough_component *c, double *q, double *scratch, double *g, double *H) {
    size_t r = (size_t)c->r;
    double E, centre[3], R[9], von_mises;
    memset(q, 0, sizeof *q * r);
    check(bough_component_evaluate(c, q, scratch, &E, g, H) && isfinite(E));
    for (size_t l = 0; l < r; l++)
        check(isfinite(g[l]));
    for (size_t i = 0; i < r * r; i++)
        check(isfinite(H[i]));
    for (int32_t i = 0; i < c->interface_count; i++) {
        check(bough_component_interface_frame(c, i, q, centre, R) && isfinite(centre[0] + centre[1] + centre[2]));
        for (int k = 0; k < 9; k++)
            check_below(fabs(R[k] - (k % 4 == 0)), 1e-9);
    }
    for (int32_t i = 0; i < c->stress.count; i++)
        check(bough_component_stress(c, i, q, NULL, &von_mises) && isfinite(von_mises));
    check(isfinite(1 / c->mass) && isfinite(bough_component_operations(c)));
}

/* Everything that can be asked of a component; memory of exact size. */
static double use(const bough_component *c, test_random *random) {
    size_t r = (size_t)c->r;
    double *q = malloc(sizeof *q * (r + 1)), *g = malloc(sizeof *g * (r + 1)), *H = malloc(sizeof *H * (r * r + 1));
    double *scratch = malloc(sizeof *scratch * bough_component_scratch(c)), E = 0, sum = 0, centre[3], R[9], s[6];
    float *positions = malloc(sizeof *positions * (3 * (size_t)c->surface.vertex_count + 1));
    for (size_t l = 0; l < r; l++)
        q[l] = test_uniform(random, -1, 1);
    if (bough_component_evaluate(c, q, scratch, &E, g, H))
        sum += E;
    bough_component_evaluate(c, q, scratch, &E, g, NULL);
    bough_component_evaluate(c, q, scratch, &E, NULL, NULL);
    for (int32_t i = 0; i < c->interface_count; i++) {
        bough_component_interface_frame(c, i, q, centre, R);
        sum += centre[0] + R[0] + (double)c->interfaces[i].vertices[c->interfaces[i].vertex_count - 1];
        check(bough_component_find_interface(c, c->interfaces[i].name) == i);
    }
    for (int32_t i = 0; i < c->stress.count; i++)
        if (bough_component_stress(c, i, q, s, &E))
            sum += E;
    bough_component_surface_positions(c, q, positions);
    for (int32_t i = 0; i < c->surface.triangle_count; i++)
        sum += (double)positions[3 * c->surface.triangles[3 * i]];
    for (int32_t i = 0; i < 2 * c->wire.edge_count; i++)
        if (c->wire.edges[i] >= c->surface.vertex_count)
            sum += (double)c->wire.position[3 * (c->wire.edges[i] - c->surface.vertex_count)];
    for (int32_t i = 0; i < c->volume.element_count; i++)
        sum += c->volume.position[3 * c->volume.elements[i]];
    for (size_t i = 0; i < 3 * r * (size_t)c->wind.count; i++)
        sum += c->wind.U[i];
    if (c->provenance)
        sum += (double)strlen(c->provenance);
    check_rest(c, q, scratch, g, H);
    free(q), free(g), free(H), free(scratch), free(positions);
    return sum;
}

static void hostile_files_are_refused_or_usable(void **state) {
    (void)state;
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    base bases[BASES];
    make_bases(ctx, bases);
    long before = memory.live;
    test_random random = {2024};
    const long inputs = test_long() ? 1000000 : 20000;
    long accepted = 0, same = 0;
    volatile double sink = 0;
    for (long i = 0; i < inputs; i++) {
        const base *from = &bases[pick(&random, BASES)];
        unsigned char *bytes = malloc(from->size + MOST_EXTRA);
        size_t size = from->size;
        memcpy(bytes, from->bytes, from->size);
        const bool raw = i % 4 == 0;
        if (raw)
            size = mutate_raw(&random, bytes, size);
        else
            mutate_fields(&random, from, bytes);
        bool unchanged = size == from->size && memcmp(bytes, from->bytes, size) == 0;
        memory.largest = 0;
        bough_component *c;
        bough_status status = bough_component_read(ctx, bytes, size, &c);
        check(memory.largest <= size + 4096); /* never more than the file could describe */
        if (status == BOUGH_OK) {
            check(!raw || unchanged);
            accepted++;
            same += unchanged;
            sink = sink + use(c, &random);
            bough_component_destroy(ctx, c);
        } else
            check(status == BOUGH_ERROR_FORMAT || status == BOUGH_ERROR_UNSUPPORTED);
        check(c == NULL || status == BOUGH_OK);
        free(bytes);
    }
    check_int(memory.live, before);
    print_message("%ld hostile files, %ld accepted (%ld of them unchanged)\n", inputs, accepted, same);
    check(accepted > inputs / 50);
    for (int i = 0; i < BASES; i++)
        free(bases[i].bytes);
    bough_context_destroy(ctx);
    (void)sink;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_files_are_refused_or_usable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
