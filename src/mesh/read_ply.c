/* .ply surfaces, text and binary of either byte order: x, y, z of the element "vertex" and the list "vertex_indices"
 * (or "vertex_index") of the element "face", wherever they stand; everything else is passed over, with a warning about
 * elements that the format has no convention for. */
#include "mesh/formats.h"
#include "mesh/polygons.h"

#include <math.h>
#include <string.h>

typedef enum value_type { INT8, UINT8, INT16, UINT16, INT32, UINT32, FLOAT32, FLOAT64, NO_TYPE } value_type;

static const size_t value_sizes[] = {1, 1, 2, 2, 4, 4, 4, 8, 0};

typedef enum property_use { UNUSED, X, Y, Z, CORNERS } property_use;

typedef struct ply_property {
    value_type type, count_type; /* count_type is NO_TYPE unless a list */
    property_use use;
} ply_property;

typedef struct element {
    int64_t count;
    int32_t first_property, property_count;
    bool vertex, face;
    bool named[CORNERS + 1]; /* uses seen */
} element;

typedef struct ply {
    bo_scanner *s;
    bo_builder *b;
    bo_polygons polygons;
    bool text;
    element *elements;
    size_t element_count, element_capacity;
    ply_property *properties;
    size_t property_count, property_capacity;
} ply;

/* ---- header ---- */

/* The next word of the line; an empty one at its end. */
static void line_word(bo_scanner *s, const char **text, size_t *length) {
    *text = "", *length = 0;
    if (bo_scan_skip_blanks(s))
        bo_scan_word(s, text, length);
}

static bough_status read_format(ply *p) {
    const char *text;
    size_t length;
    bool little_host = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    line_word(p->s, &text, &length);
    p->text = bo_word_is(text, length, "ascii");
    if (bo_word_is(text, length, "binary_little_endian"))
        p->s->swap = !little_host;
    else if (bo_word_is(text, length, "binary_big_endian"))
        p->s->swap = little_host;
    else if (!p->text)
        return bo_scan_fail(p->s, "the format is not ascii, binary_little_endian or binary_big_endian");
    line_word(p->s, &text, &length);
    if (!bo_word_is(text, length, "1.0"))
        return bo_scan_fail(p->s, "the version of the PLY format is not 1.0");
    return BOUGH_OK;
}

static bough_status read_element_line(ply *p) {
    const char *text;
    size_t length;
    element e = {.first_property = (int32_t)p->property_count};
    line_word(p->s, &text, &length);
    e.vertex = bo_word_is(text, length, "vertex");
    e.face = bo_word_is(text, length, "face");
    if (!e.vertex && !e.face && !bo_word_is(text, length, "edge") && !bo_word_is(text, length, "material"))
        bo_scan_unknown(p->s, text, length);
    line_word(p->s, &text, &length);
    if (!bo_parse_int(text, length, &e.count) || e.count < 0)
        return bo_scan_fail(p->s, "an element line needs a name and a count");
    if (!BO_RESERVE(p->b->ctx, p->elements, p->element_capacity, p->element_count + 1))
        return BOUGH_ERROR_MEMORY;
    p->elements[p->element_count++] = e;
    return BOUGH_OK;
}

static bough_status read_type(ply *p, value_type *type) {
    static const char *const names[2][8] = {
        {"char", "uchar", "short", "ushort", "int", "uint", "float", "double"},
        {"int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", "float64"}};
    const char *text;
    size_t length;
    line_word(p->s, &text, &length);
    for (int i = 0; i < 8; i++)
        if (bo_word_is(text, length, names[0][i]) || bo_word_is(text, length, names[1][i])) {
            *type = (value_type)i;
            return BOUGH_OK;
        }
    return bo_scan_fail(p->s, "a property has an unknown type");
}

static property_use find_use(const element *e, const ply_property *property, const char *name, size_t length) {
    bool list = property->count_type != NO_TYPE;
    if (e->vertex && !list && length == 1 && name[0] >= 'x' && name[0] <= 'z')
        return (property_use)(X + (name[0] - 'x'));
    if (e->face && list && (bo_word_is(name, length, "vertex_indices") || bo_word_is(name, length, "vertex_index")))
        return CORNERS;
    return UNUSED;
}

static bough_status read_property_line(ply *p) {
    if (!p->element_count)
        return bo_scan_fail(p->s, "a property stands before the first element");
    element *e = &p->elements[p->element_count - 1];
    ply_property property = {.count_type = NO_TYPE};
    const char *text;
    size_t length;
    if (bo_scan_accept(p->s, "list")) {
        BO_TRY(read_type(p, &property.count_type));
        if (property.count_type >= FLOAT32)
            return bo_scan_fail(p->s, "the count of a list is not an integer");
    }
    BO_TRY(read_type(p, &property.type));
    line_word(p->s, &text, &length);
    property.use = find_use(e, &property, text, length);
    if (property.use != UNUSED && e->named[property.use])
        return bo_scan_fail(p->s, "a property is declared twice");
    e->named[property.use] = true;
    if (!BO_RESERVE(p->b->ctx, p->properties, p->property_capacity, p->property_count + 1))
        return BOUGH_ERROR_MEMORY;
    p->properties[p->property_count++] = property;
    e->property_count++;
    return BOUGH_OK;
}

static bough_status check_element(ply *p, const element *e) {
    if (e->vertex && (!e->named[X] || !e->named[Y] || !e->named[Z]))
        return bo_scan_fail(p->s, "the vertices have no properties x, y and z");
    if (e->face && !e->named[CORNERS])
        return bo_scan_fail(p->s, "the faces have no list vertex_indices");
    return BOUGH_OK;
}

static bough_status read_header(ply *p) {
    bo_scanner *s = p->s;
    const char *text;
    size_t length;
    bool has_format = false;
    if (!bo_scan_accept(s, "ply"))
        return bo_scan_fail(s, "is not a PLY file: it does not begin with \"ply\"");
    for (;; bo_scan_next_line(s)) {
        if (!bo_scan_word(s, &text, &length))
            return bo_scan_fail(s, "the file ends before \"end_header\"");
        if (bo_word_is(text, length, "end_header"))
            break;
        if (bo_word_is(text, length, "format")) {
            has_format = true;
            BO_TRY(read_format(p));
        } else if (bo_word_is(text, length, "element")) {
            BO_TRY(read_element_line(p));
        } else if (bo_word_is(text, length, "property")) {
            BO_TRY(read_property_line(p));
        } else if (!bo_word_is(text, length, "comment") && !bo_word_is(text, length, "obj_info")) {
            return bo_scan_fail(s, "the header has a line of an unknown kind");
        }
    }
    bo_scan_next_line(s);
    for (size_t i = 0; i < p->element_count; i++)
        BO_TRY(check_element(p, &p->elements[i]));
    return has_format ? BOUGH_OK : bo_scan_fail(s, "the header has no format line");
}

/* ---- data ---- */

/* All types fit a double. Values that are not finite are the caller's concern: unused properties may hold them. */
static bough_status read_binary_value(bo_scanner *s, value_type type, double *value) {
    unsigned char bytes[8];
    uint64_t bits = 0;
    size_t size = value_sizes[type];
    BO_TRY(bo_scan_raw(s, "a property", bytes, size));
    bool little = (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != s->swap;
    for (size_t i = 0; i < size; i++)
        bits |= (uint64_t)bytes[i] << (8 * (little ? i : size - 1 - i));
    uint32_t bits32 = (uint32_t)bits;
    float single;
    memcpy(&single, &bits32, sizeof single);
    switch (type) {
    case INT8:
        *value = (int8_t)bits;
        break;
    case INT16:
        *value = (int16_t)bits;
        break;
    case INT32:
        *value = (int32_t)bits;
        break;
    case FLOAT32:
        *value = (double)single;
        break;
    case FLOAT64:
        memcpy(value, &bits, sizeof bits);
        break;
    default:
        *value = (double)bits;
    }
    return BOUGH_OK;
}

static bough_status read_value(ply *p, value_type type, double *value) {
    const char *text;
    size_t length;
    if (!p->text)
        return read_binary_value(p->s, type, value);
    if (!bo_scan_word(p->s, &text, &length))
        return bo_scan_fail(p->s, "the file ends in the middle of its data");
    if (!bo_parse_double(text, length, value))
        return bo_scan_fail(p->s, "a property is not a number");
    return BOUGH_OK;
}

static size_t least_bytes(const ply *p, value_type type) {
    return p->text ? 2 : value_sizes[type];
}

static bough_status read_corner(ply *p, double index) {
    if (!(index >= 0 && index <= INT32_MAX) || index != floor(index))
        return bo_scan_fail(p->s, "a face names vertex %g (counted from 0), which does not exist", index);
    return bo_polygon_corner(&p->polygons, (int64_t)index);
}

static bough_status read_list(ply *p, const ply_property *property) {
    double count, value;
    BO_TRY(read_value(p, property->count_type, &count));
    if (!(count >= 0 && count <= INT32_MAX) || count != floor(count))
        return bo_scan_fail(p->s, "the count of a list is not a number of items");
    BO_TRY(bo_check_count(p->s, "the count of a list", (int64_t)count, least_bytes(p, property->type)));
    for (int32_t i = 0; i < (int32_t)count; i++) {
        BO_TRY(read_value(p, property->type, &value));
        if (property->use == CORNERS)
            BO_TRY(read_corner(p, value));
    }
    return property->use == CORNERS ? bo_polygon_end(&p->polygons) : BOUGH_OK;
}

static bough_status read_item(ply *p, const element *e) {
    double xyz[3] = {0}, value;
    for (int32_t i = 0; i < e->property_count; i++) {
        const ply_property *property = &p->properties[e->first_property + i];
        if (property->count_type != NO_TYPE) {
            BO_TRY(read_list(p, property));
            continue;
        }
        BO_TRY(read_value(p, property->type, &value));
        if (property->use != UNUSED)
            xyz[property->use - X] = value;
    }
    return e->vertex ? bo_builder_vertex(p->b, p->s, xyz) : BOUGH_OK;
}

static bough_status read_data(ply *p) {
    for (size_t i = 0; i < p->element_count; i++) {
        const element *e = &p->elements[i];
        size_t bytes = 0;
        for (int32_t k = 0; k < e->property_count; k++) {
            const ply_property *property = &p->properties[e->first_property + k];
            bytes += least_bytes(p, property->count_type != NO_TYPE ? property->count_type : property->type);
        }
        if (!bytes) /* no properties, no data: whatever the count says */
            continue;
        BO_TRY(bo_check_count(p->s, "the count of an element", e->count, bytes));
        for (int64_t item = 0; item < e->count; item++)
            BO_TRY(read_item(p, e));
    }
    /* Text may end in blanks, and some programs pad binary files with a line end. */
    if (bo_scan_skip(p->s))
        return bo_scan_fail(p->s, "the file has more data than its header announces");
    return BOUGH_OK;
}

bough_status bo_read_ply(bo_scanner *s, bo_builder *b) {
    ply p = {.s = s, .b = b, .polygons = {.s = s, .b = b}};
    bough_status status = read_header(&p);
    if (status == BOUGH_OK)
        status = read_data(&p);
    if (status == BOUGH_OK) {
        bo_polygons_end(&p.polygons);
        bo_scan_warn_unknown(s, "element");
    }
    bo_free(b->ctx, p.elements);
    bo_free(b->ctx, p.properties);
    return status;
}
