/* .stl surfaces, text and binary. The format repeats the corners in every triangle: those with the same bits become one
 * vertex. Named solids of text files become element sets. */
#include "base/idmap.h"
#include "mesh/formats.h"
#include "mesh/polygons.h"

#include <string.h>

#define HEADER_SIZE 84 /* 80 bytes of anything, the number of triangles */
#define FACET_SIZE 50  /* normal, three corners, two bytes of attributes */

/* Open addressing over the builder's vertices; slot_count is a power of two, -1 marks a free slot. */
typedef struct stl {
    bo_scanner *s;
    bo_builder *b;
    bo_polygons polygons;
    int32_t *slots;
    size_t slot_count;
} stl;

#define NO_SLOT SIZE_MAX

/* The slot of the corner, or the free slot where it belongs, or NO_SLOT when neither is near enough. */
static size_t find_slot(const stl *t, const double xyz[3]) {
    uint64_t bits[3], hash = 0;
    memcpy(bits, xyz, sizeof bits);
    for (int d = 0; d < 3; d++)
        hash = bo_hash(hash + 1 + bits[d]);
    size_t slot = (size_t)hash;
    for (size_t i = 0; i <= BO_LONGEST_SEARCH; i++, slot++) {
        slot &= t->slot_count - 1;
        if (t->slots[slot] < 0 || !memcmp(t->b->vertices + 3 * (size_t)t->slots[slot], xyz, sizeof bits))
            return slot;
    }
    return NO_SLOT;
}

static bough_status fail_colliding(stl *t) {
    return bo_scan_fail(t->s, "too many corners have the same hash; move or turn the surface a little");
}

static bough_status grow_slots(stl *t) {
    size_t count = t->slot_count ? 2 * t->slot_count : 64;
    int32_t *slots = BO_NEW_ARRAY(t->b->ctx, int32_t, count);
    if (!slots)
        return BOUGH_ERROR_MEMORY;
    memset(slots, 0xff, count * sizeof *slots);
    bo_free(t->b->ctx, t->slots);
    t->slots = slots;
    t->slot_count = count;
    for (size_t v = 0; v < t->b->vertex_count; v++) {
        size_t slot = find_slot(t, t->b->vertices + 3 * v);
        if (slot == NO_SLOT)
            return fail_colliding(t);
        slots[slot] = (int32_t)v;
    }
    return BOUGH_OK;
}

static bough_status take_corner(stl *t, double xyz[3]) {
    for (int d = 0; d < 3; d++)
        xyz[d] += 0.0; /* -0 and 0 are one place */
    if (2 * t->b->vertex_count >= t->slot_count)
        BO_TRY(grow_slots(t));
    size_t slot = find_slot(t, xyz);
    if (slot == NO_SLOT)
        return fail_colliding(t);
    if (t->slots[slot] < 0) {
        BO_TRY(bo_builder_vertex(t->b, t->s, xyz));
        t->slots[slot] = (int32_t)t->b->vertex_count - 1;
    }
    return bo_polygon_corner(&t->polygons, t->slots[slot]);
}

/* ---- binary ---- */

static uint32_t announced_count(const bo_scanner *s) {
    const unsigned char *c = (const unsigned char *)s->data + HEADER_SIZE - 4;
    return (uint32_t)c[0] | (uint32_t)c[1] << 8 | (uint32_t)c[2] << 16 | (uint32_t)c[3] << 24;
}

/* The size decides, because the header of a binary file may begin with "solid", too. */
static bool is_binary(const bo_scanner *s) {
    return s->size >= HEADER_SIZE && s->size == HEADER_SIZE + (uint64_t)FACET_SIZE * announced_count(s);
}

static bough_status read_binary(stl *t) {
    bo_scanner *s = t->s;
    uint32_t count = announced_count(s);
    s->swap = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__;
    s->at = HEADER_SIZE;
    BO_TRY(bo_check_count(s, "the number of triangles", count, FACET_SIZE));
    for (uint32_t i = 0; i < count; i++) {
        s->at += 12; /* the normal: often zero or not a number */
        for (int corner = 0; corner < 3; corner++) {
            double xyz[3];
            for (int d = 0; d < 3; d++) {
                float value;
                BO_TRY(bo_scan_raw_float(s, "a corner's coordinate", &value));
                xyz[d] = (double)value;
            }
            BO_TRY(take_corner(t, xyz));
        }
        s->at += 2;
        BO_TRY(bo_polygon_end(&t->polygons));
    }
    return BOUGH_OK;
}

/* ---- text ---- */

static bough_status expect(bo_scanner *s, const char *first, const char *second) {
    const char *text;
    size_t length;
    if (!bo_scan_word(s, &text, &length) || !bo_word_is_ignoring_case(text, length, first) ||
        (second && (!bo_scan_word(s, &text, &length) || !bo_word_is_ignoring_case(text, length, second))))
        return bo_scan_fail(s, "expected \"%s%s%s\"", first, second ? " " : "", second ? second : "");
    return BOUGH_OK;
}

/* Behind the word "facet". */
static bough_status read_facet(stl *t) {
    bo_scanner *s = t->s;
    const char *text;
    size_t length;
    BO_TRY(expect(s, "normal", NULL));
    for (int d = 0; d < 3; d++)
        if (!bo_scan_word(s, &text, &length))
            return bo_scan_fail(s, "the file ends in the middle of a normal");
    BO_TRY(expect(s, "outer", "loop"));
    for (int corner = 0; corner < 3; corner++) {
        double xyz[3];
        BO_TRY(expect(s, "vertex", NULL));
        for (int d = 0; d < 3; d++)
            BO_TRY(bo_scan_double(s, "a corner's coordinate", &xyz[d]));
        BO_TRY(take_corner(t, xyz));
    }
    BO_TRY(bo_polygon_end(&t->polygons));
    BO_TRY(expect(s, "endloop", NULL));
    return expect(s, "endfacet", NULL);
}

/* Behind the word "solid". */
static bough_status read_solid(stl *t) {
    bo_scanner *s = t->s;
    const char *name = "", *text;
    size_t name_length = 0, length, begin = t->b->element_count;
    if (bo_scan_skip_blanks(s))
        bo_scan_line(s, &name, &name_length);
    for (;;) {
        if (!bo_scan_word(s, &text, &length))
            return bo_scan_fail(s, "the file ends before \"endsolid\"");
        if (bo_word_is_ignoring_case(text, length, "endsolid"))
            break;
        if (!bo_word_is_ignoring_case(text, length, "facet"))
            return bo_scan_fail(s, "expected \"facet\" or \"endsolid\"");
        BO_TRY(read_facet(t));
    }
    bo_scan_next_line(s);
    if (!name_length)
        return BOUGH_OK;
    int32_t set;
    BO_TRY(bo_builder_set_named(t->b, BOUGH_SET_ELEMENT, name, name_length, &set));
    for (size_t e = begin; e < t->b->element_count; e++)
        BO_TRY(bo_builder_set_add(t->b, set, (int32_t)e));
    return BOUGH_OK;
}

static bough_status read_text(stl *t) {
    const char *text;
    size_t length;
    while (bo_scan_word(t->s, &text, &length)) {
        if (!bo_word_is_ignoring_case(text, length, "solid"))
            return bo_scan_fail(t->s, "expected \"solid\"");
        BO_TRY(read_solid(t));
    }
    return BOUGH_OK;
}

static bough_status fail_neither(bo_scanner *s) {
    if (s->size < HEADER_SIZE)
        return bo_scan_fail(s, "is not an STL file: it neither begins with \"solid\" nor has a binary header");
    return bo_scan_fail(s, "a binary STL file of %lu triangles has %llu bytes, but this one has %zu",
                        (unsigned long)announced_count(s),
                        HEADER_SIZE + (unsigned long long)FACET_SIZE * announced_count(s), s->size);
}

bough_status bo_read_stl(bo_scanner *s, bo_builder *b) {
    stl t = {.s = s, .b = b, .polygons = {.s = s, .b = b}};
    bough_status status;
    bo_scanner whole = *s;
    whole.data -= s->mark, whole.size += s->mark;
    if (is_binary(&whole)) /* whose header may be any bytes, those of a mark too */
        *s = whole;
    if (is_binary(s)) {
        status = read_binary(&t);
    } else {
        bo_scan_skip(s);
        bool text = bo_scan_left(s) >= 5 && bo_word_is_ignoring_case(s->data + s->at, 5, "solid");
        status = text ? read_text(&t) : fail_neither(s);
    }
    if (status == BOUGH_OK)
        bo_polygons_end(&t.polygons);
    bo_free(b->ctx, t.slots);
    return status;
}
