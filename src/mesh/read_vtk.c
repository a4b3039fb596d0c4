/* Legacy VTK files: unstructured grids, ASCII or BINARY (big endian), cells in the old form and in that of 5.1. */
#include "mesh/formats.h"
#include "mesh/labels.h"

#include <stdlib.h>
#include <string.h>

#define COMPONENT_LIMIT 1000

typedef enum vtk_kind { VTK_REAL, VTK_SIGNED, VTK_UNSIGNED } vtk_kind;

typedef struct vtk_type {
    const char *name;
    vtk_kind kind;
    size_t size; /* bytes of a binary value; 0 for packed bits */
} vtk_type;

static const vtk_type types[] = {
    {"float", VTK_REAL, 4},
    {"double", VTK_REAL, 8},
    {"int", VTK_SIGNED, 4},
    {"unsigned_int", VTK_UNSIGNED, 4},
    {"long", VTK_SIGNED, 8},
    {"unsigned_long", VTK_UNSIGNED, 8},
    {"vtktypeint64", VTK_SIGNED, 8},
    {"vtktypeuint64", VTK_UNSIGNED, 8},
    {"vtkidtype", VTK_SIGNED, 4},
    {"short", VTK_SIGNED, 2},
    {"unsigned_short", VTK_UNSIGNED, 2},
    {"char", VTK_SIGNED, 1},
    {"signed_char", VTK_SIGNED, 1},
    {"unsigned_char", VTK_UNSIGNED, 1},
    {"bit", VTK_UNSIGNED, 0},
};
static const vtk_type int_type = {"int", VTK_SIGNED, 4};

typedef struct vtk {
    bo_scanner *s;
    bo_builder *b;
    bool binary, has_points;
    int32_t cell_count;
    int32_t *offsets; /* cell_count + 1, into connectivity */
    int32_t *connectivity;
    int32_t *element_of_cell; /* first element, -1: none; NULL before CELL_TYPES */
    int32_t *elements_in_cell;
    int64_t data_count; /* rows of each array of the POINT_DATA or CELL_DATA section we are in */
    bool on_cells;
} vtk;

static bough_status read_type(vtk *v, const vtk_type **type) {
    const char *text;
    size_t length;
    if (!bo_scan_word(v->s, &text, &length))
        return bo_scan_fail(v->s, "the file ends where a data type should stand");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (bo_word_is_ignoring_case(text, length, types[i].name)) {
            *type = &types[i];
            return BOUGH_OK;
        }
    return bo_scan_fail_word(v->s, "a data type such as float", text, length);
}

/* Least number of bytes that a value takes in the file. */
static size_t value_bytes(const vtk *v, const vtk_type *type) {
    return v->binary ? type->size : 2;
}

static uint64_t raw_bits(const bo_scanner *s, size_t size) {
    uint64_t bits = 0;
    for (size_t i = 0; i < size; i++) /* big endian, whatever the host is */
        bits = bits << 8 | (unsigned char)s->data[s->at + i];
    return bits;
}

static bough_status read_raw_integer(vtk *v, const vtk_type *type, const char *what, int64_t *value) {
    bo_scanner *s = v->s;
    if (bo_scan_left(s) < type->size)
        return bo_scan_fail(s, "the file ends in the middle of %s", what);
    uint64_t bits = raw_bits(s, type->size);
    s->at += type->size;
    if (type->kind == VTK_SIGNED && type->size < 8 && bits >> (8 * type->size - 1))
        bits |= ~(uint64_t)0 << (8 * type->size);
    if (type->kind == VTK_UNSIGNED && bits > INT64_MAX)
        return bo_scan_fail(s, "%s is too large", what);
    *value = (int64_t)bits;
    return BOUGH_OK;
}

static bough_status read_integer(vtk *v, const vtk_type *type, const char *what, int64_t *value) {
    return v->binary ? read_raw_integer(v, type, what, value) : bo_scan_int(v->s, what, value);
}

static bough_status read_real(vtk *v, const vtk_type *type, const char *what, double *value) {
    if (!v->binary)
        return bo_scan_double(v->s, what, value);
    if (type->kind != VTK_REAL) {
        int64_t integer;
        BO_TRY(read_raw_integer(v, type, what, &integer));
        *value = (double)integer;
        return BOUGH_OK;
    }
    if (type->size == 8)
        return bo_scan_raw_double(v->s, what, value);
    float single;
    BO_TRY(bo_scan_raw_float(v->s, what, &single));
    *value = (double)single;
    return BOUGH_OK;
}

/* Binary data begin behind the line end of their header. */
static void begin_data(vtk *v) {
    if (v->binary)
        bo_scan_next_line(v->s);
}

static bough_status skip_values(vtk *v, const vtk_type *type, int64_t rows, int64_t components) {
    bo_scanner *s = v->s;
    uint64_t count = (uint64_t)rows * (uint64_t)components;
    if (v->binary) {
        uint64_t bytes = type->size ? count * type->size : (count + 7) / 8;
        if (bytes > bo_scan_left(s))
            return bo_scan_fail(s, "the file ends in the middle of data");
        s->at += (size_t)bytes;
        return BOUGH_OK;
    }
    const char *text;
    size_t length;
    for (uint64_t i = 0; i < count; i++)
        if (!bo_scan_word(s, &text, &length))
            return bo_scan_fail(s, "the file ends in the middle of data");
    return BOUGH_OK;
}

static bough_status read_points(vtk *v) {
    int64_t count;
    const vtk_type *type = NULL;
    if (v->has_points)
        return bo_scan_fail(v->s, "POINTS stands here a second time");
    v->has_points = true;
    BO_TRY(bo_scan_int(v->s, "the number of points", &count));
    BO_TRY(read_type(v, &type));
    if (type->size == 0)
        return bo_scan_fail(v->s, "points cannot be made of bits");
    begin_data(v);
    BO_TRY(bo_check_count(v->s, "the number of points", count, 3 * value_bytes(v, type)));
    for (int64_t i = 0; i < count; i++) {
        double xyz[3] = {0};
        for (int d = 0; d < 3; d++)
            BO_TRY(read_real(v, type, "a point coordinate", &xyz[d]));
        BO_TRY(bo_builder_vertex(v->b, v->s, xyz));
    }
    return BOUGH_OK;
}

static bough_status read_node(vtk *v, const vtk_type *type, int32_t *node) {
    int64_t value;
    BO_TRY(read_integer(v, type, "a point number", &value));
    if (value < 0 || value > INT32_MAX / 32)
        return bo_scan_fail(v->s, "point number %lld is out of range", (long long)value);
    *node = (int32_t)value;
    return BOUGH_OK;
}

/* n, p1 .. pn for each cell */
static bough_status read_old_cells(vtk *v, int64_t count, int64_t size) {
    begin_data(v);
    BO_TRY(bo_check_count(v->s, "the number of cells", count, value_bytes(v, &int_type)));
    BO_TRY(bo_check_count(v->s, "the size of the cells", size, value_bytes(v, &int_type)));
    v->offsets = BO_NEW_ZEROS(v->s->ctx, int32_t, count + 1);
    v->connectivity = BO_NEW_ARRAY(v->s->ctx, int32_t, size);
    if (!v->offsets || !v->connectivity)
        return BOUGH_ERROR_MEMORY;
    int64_t left = size;
    for (int64_t i = 0; i < count; i++) {
        int64_t n;
        BO_TRY(read_integer(v, &int_type, "the number of points of a cell", &n));
        if (n < 0 || n > left - 1)
            return bo_scan_fail(v->s, "cell %lld has %lld points, which does not fit the announced size %lld",
                                (long long)i, (long long)n, (long long)size);
        left -= n + 1;
        v->offsets[i + 1] = v->offsets[i] + (int32_t)n;
        for (int32_t k = v->offsets[i]; k < v->offsets[i + 1]; k++)
            BO_TRY(read_node(v, &int_type, &v->connectivity[k]));
    }
    if (left)
        return bo_scan_fail(v->s, "the cells take %lld numbers, but %lld are announced", (long long)(size - left),
                            (long long)size);
    v->cell_count = (int32_t)count;
    return BOUGH_OK;
}

static bough_status expect_array(vtk *v, const char *word, int64_t count, const vtk_type **type) {
    if (!bo_scan_accept(v->s, word))
        return bo_scan_fail(v->s, "%s is missing", word);
    BO_TRY(read_type(v, type));
    if ((*type)->kind == VTK_REAL || (*type)->size == 0)
        return bo_scan_fail(v->s, "%s must be whole numbers", word);
    begin_data(v);
    return bo_check_count(v->s, word, count, value_bytes(v, *type));
}

static bough_status read_new_cells(vtk *v, int64_t offset_count, int64_t size) {
    const vtk_type *type = NULL;
    BO_TRY(expect_array(v, "OFFSETS", offset_count, &type));
    v->offsets = BO_NEW_ZEROS(v->s->ctx, int32_t, offset_count + 1);
    if (!v->offsets)
        return BOUGH_ERROR_MEMORY;
    int64_t last = 0;
    for (int64_t i = 0; i < offset_count; i++) {
        int64_t offset;
        BO_TRY(read_integer(v, type, "an offset", &offset));
        if (offset < last || offset > size || offset > INT32_MAX || (i == 0 && offset != 0))
            return bo_scan_fail(v->s, "offset %lld of the cells is out of order", (long long)offset);
        v->offsets[i] = (int32_t)offset;
        last = offset;
    }
    if (last != size)
        return bo_scan_fail(v->s, "the last offset is %lld, but the cells have %lld points", (long long)last,
                            (long long)size);
    BO_TRY(expect_array(v, "CONNECTIVITY", size, &type));
    v->connectivity = BO_NEW_ARRAY(v->s->ctx, int32_t, size);
    if (!v->connectivity)
        return BOUGH_ERROR_MEMORY;
    for (int64_t i = 0; i < size; i++)
        BO_TRY(read_node(v, type, &v->connectivity[i]));
    v->cell_count = offset_count ? (int32_t)(offset_count - 1) : 0;
    return BOUGH_OK;
}

static bool next_word_is(const bo_scanner *s, const char *word) {
    bo_scanner ahead = *s;
    return bo_scan_accept(&ahead, word);
}

static bough_status read_cells(vtk *v) {
    int64_t count, size;
    if (v->offsets)
        return bo_scan_fail(v->s, "CELLS stands here a second time");
    BO_TRY(bo_scan_int(v->s, "the number of cells", &count));
    BO_TRY(bo_scan_int(v->s, "the size of the cells", &size));
    return next_word_is(v->s, "OFFSETS") ? read_new_cells(v, count, size) : read_old_cells(v, count, size);
}

/* The use that the reader makes of a cell. */
typedef enum cell_use { SKIPPED, FACET, VOLUME, REFUSED } cell_use;

static cell_use use_of(int32_t type) {
    switch (type) {
    case 10: /* tetrahedron */
    case 11: /* voxel */
    case 12: /* hexahedron */
    case 24: /* quadratic tetrahedron */
        return VOLUME;
    case 5: /* triangle */
    case 9: /* quad */
        return FACET;
    case 0: /* empty, vertices, lines, and facets that carry no mesh of their own */
    case 1:
    case 2:
    case 3:
    case 4:
    case 6:
    case 7:
    case 8:
    case 21:
    case 22:
    case 23:
    case 28:
    case 30:
    case 35:
        return SKIPPED;
    default:
        return REFUSED;
    }
}

static bough_status add_cell(vtk *v, int32_t cell, int32_t type) {
    static const int32_t voxel[8] = {0, 1, 3, 2, 4, 5, 7, 6}; /* its points run x fastest, then y, then z */
    const int32_t *points = v->connectivity + v->offsets[cell];
    int32_t count = v->offsets[cell + 1] - v->offsets[cell];
    int32_t expected = type == 5 ? 3 : type == 9 || type == 10 ? 4 : type == 24 ? 10 : 8;
    if (count != expected)
        return bo_scan_fail(v->s, "cell %d of type %d has %d points, not %d", cell, type, count, expected);
    v->element_of_cell[cell] = (int32_t)v->b->element_count;
    v->elements_in_cell[cell] = type == 9 ? 2 : 1;
    int32_t nodes[BO_MAX_NODES], first;
    for (int32_t i = 0; i < count; i++)
        nodes[i] = points[type == 11 ? voxel[i] : i];
    switch (type) {
    case 5:
    case 9: {
        bo_facet facet = {.corner_count = count, .line = v->s->line};
        memcpy(facet.corners, nodes, (size_t)count * sizeof *nodes);
        return bo_facet_to_elements(v->b, v->s, &facet, &first);
    }
    case 10:
        return bo_builder_element(v->b, v->s, BOUGH_TET4, nodes);
    case 24:
        return bo_builder_element(v->b, v->s, BOUGH_TET10, nodes);
    default:
        return bo_builder_element(v->b, v->s, BOUGH_HEX8, nodes);
    }
}

static bough_status read_type_numbers(vtk *v, int32_t *cell_types, cell_use *most) {
    *most = SKIPPED;
    for (int32_t i = 0; i < v->cell_count; i++) {
        int64_t type;
        BO_TRY(read_integer(v, &int_type, "a cell type", &type));
        cell_use use = type < 0 || type > 255 ? REFUSED : use_of((int32_t)type);
        if (use == REFUSED)
            return bo_scan_refuse(v->s, "cell %d is of type %lld%s, which is not supported", i, (long long)type,
                                  type == 13   ? " (wedge)"
                                  : type == 14 ? " (pyramid)"
                                               : "");
        cell_types[i] = (int32_t)type;
        if (use > *most)
            *most = use;
    }
    return BOUGH_OK;
}

static bough_status add_cells(vtk *v, int32_t *cell_types) {
    cell_use wanted;
    BO_TRY(read_type_numbers(v, cell_types, &wanted));
    for (int32_t i = 0; i < v->cell_count; i++) {
        v->element_of_cell[i] = -1;
        v->elements_in_cell[i] = 0;
        if (wanted != SKIPPED && use_of(cell_types[i]) == wanted)
            BO_TRY(add_cell(v, i, cell_types[i]));
    }
    return BOUGH_OK;
}

static bough_status read_cell_types(vtk *v) {
    bough_context *ctx = v->s->ctx;
    int64_t count;
    BO_TRY(bo_scan_int(v->s, "the number of cell types", &count));
    begin_data(v);
    if (!v->offsets || v->element_of_cell || count != v->cell_count)
        return bo_scan_fail(v->s, "CELL_TYPES has %lld entries for %d cells", (long long)count, v->cell_count);
    BO_TRY(bo_check_count(v->s, "the number of cell types", count, value_bytes(v, &int_type)));
    v->element_of_cell = BO_NEW_ARRAY(ctx, int32_t, count);
    v->elements_in_cell = BO_NEW_ARRAY(ctx, int32_t, count);
    int32_t *cell_types = BO_NEW_ARRAY(ctx, int32_t, count);
    bough_status status = BOUGH_ERROR_MEMORY;
    if (v->element_of_cell && v->elements_in_cell && cell_types)
        status = add_cells(v, cell_types);
    bo_free(ctx, cell_types);
    return status;
}

static int compare_int64(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Sets NAME_value, when there are few enough values to be names. */
static bough_status make_sets(vtk *v, const char *name, const int64_t *values, int64_t *sorted) {
    int32_t n = v->cell_count, distinct = 0;
    memcpy(sorted, values, (size_t)n * sizeof *values);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_int64);
    for (int32_t i = 0; i < n; i++)
        distinct += i == 0 || sorted[i] != sorted[i - 1];
    if (distinct > BO_LABEL_LIMIT)
        return BOUGH_OK;
    bo_labels labels = {.kind = BOUGH_SET_ELEMENT, .prefix = name};
    bough_status status = BOUGH_OK;
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < v->elements_in_cell[i] && status == BOUGH_OK; k++)
            status = bo_labels_add(&labels, v->b, (double)values[i], v->element_of_cell[i] + k);
    bo_labels_free(&labels, v->b);
    return status;
}

static bough_status read_values(vtk *v, const vtk_type *type, int64_t *values) {
    for (int32_t i = 0; i < v->cell_count; i++)
        BO_TRY(read_integer(v, type, "a cell value", &values[i]));
    return BOUGH_OK;
}

static bough_status read_cell_labels(vtk *v, const char *name, const vtk_type *type) {
    bough_context *ctx = v->s->ctx;
    BO_TRY(bo_check_count(v->s, "the number of values", v->cell_count, value_bytes(v, type)));
    int64_t *values = BO_NEW_ARRAY(ctx, int64_t, v->cell_count);
    int64_t *sorted = BO_NEW_ARRAY(ctx, int64_t, v->cell_count);
    bough_status status = values && sorted ? read_values(v, type, values) : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK && v->cell_count > 0)
        status = make_sets(v, name, values, sorted);
    bo_free(ctx, values);
    bo_free(ctx, sorted);
    return status;
}

/* One array of a data section: whole numbers on cells become sets, everything else is passed over. */
static bough_status read_array(vtk *v, const char *name, const vtk_type *type, int64_t rows, int64_t components) {
    if (v->on_cells && v->element_of_cell && rows == v->cell_count && components == 1 && type->kind != VTK_REAL &&
        type->size)
        return read_cell_labels(v, name, type);
    return skip_values(v, type, rows, components);
}

static bough_status read_name(vtk *v, char name[64]) {
    const char *text;
    size_t length;
    if (!bo_scan_word(v->s, &text, &length))
        return bo_scan_fail(v->s, "the file ends where the name of data should stand");
    if (length > 63)
        length = 63;
    memcpy(name, text, length);
    name[length] = 0;
    if (memchr(name, 0, length))
        return bo_scan_fail_word(v->s, "the name of data", text, length);
    return BOUGH_OK;
}

static bough_status read_scalars(vtk *v) {
    char name[64];
    const vtk_type *type = NULL;
    int64_t components = 1;
    BO_TRY(read_name(v, name));
    BO_TRY(read_type(v, &type));
    if (bo_scan_skip_blanks(v->s))
        BO_TRY(bo_scan_int_range(v->s, "the number of components", 1, COMPONENT_LIMIT, &components));
    if (next_word_is(v->s, "LOOKUP_TABLE")) {
        char table[64];
        bo_scan_accept(v->s, "LOOKUP_TABLE");
        BO_TRY(read_name(v, table));
    }
    begin_data(v);
    return read_array(v, name, type, v->data_count, components);
}

static bough_status read_field(vtk *v) {
    char name[64];
    int64_t array_count, components, rows;
    BO_TRY(read_name(v, name));
    BO_TRY(bo_scan_int_range(v->s, "the number of arrays", 0, INT32_MAX, &array_count));
    for (int64_t i = 0; i < array_count; i++) {
        const vtk_type *type = NULL;
        if (bo_scan_accept(v->s, "METADATA")) {
            /* lies between arrays in files of recent versions and ends with an empty line */
            const char *text;
            size_t length;
            bo_scan_next_line(v->s);
            while (bo_scan_line(v->s, &text, &length) && length)
                ;
        }
        BO_TRY(read_name(v, name));
        BO_TRY(bo_scan_int_range(v->s, "the number of components", 0, COMPONENT_LIMIT, &components));
        BO_TRY(bo_scan_int_range(v->s, "the number of rows", 0, INT32_MAX, &rows));
        BO_TRY(read_type(v, &type));
        begin_data(v);
        BO_TRY(read_array(v, name, type, rows, components));
    }
    return BOUGH_OK;
}

/* VECTORS, NORMALS and TENSORS: name, type, data. */
static bough_status skip_tuples(vtk *v, int64_t components) {
    char name[64];
    const vtk_type *type = NULL;
    BO_TRY(read_name(v, name));
    BO_TRY(read_type(v, &type));
    begin_data(v);
    return skip_values(v, type, v->data_count, components);
}

static bough_status skip_texture(vtk *v) {
    char name[64];
    const vtk_type *type = NULL;
    int64_t components;
    BO_TRY(read_name(v, name));
    BO_TRY(bo_scan_int_range(v->s, "the number of components", 1, COMPONENT_LIMIT, &components));
    BO_TRY(read_type(v, &type));
    begin_data(v);
    return skip_values(v, type, v->data_count, components);
}

/* Colours are bytes in binary files, floats in text. */
static bough_status skip_colours(vtk *v, bool table) {
    static const vtk_type byte_type = {"unsigned_char", VTK_UNSIGNED, 1};
    char name[64];
    int64_t size;
    BO_TRY(read_name(v, name));
    BO_TRY(bo_scan_int_range(v->s, "the size of a colour table", 0, INT32_MAX, &size));
    begin_data(v);
    return table ? skip_values(v, &byte_type, size, 4) : skip_values(v, &byte_type, v->data_count, size);
}

static bough_status begin_section(vtk *v, bool on_cells) {
    v->on_cells = on_cells;
    return bo_scan_int_range(v->s, "the number of rows", 0, INT32_MAX, &v->data_count);
}

static bough_status read_section(vtk *v, const char *text, size_t length) {
    if (bo_word_is_ignoring_case(text, length, "POINTS"))
        return read_points(v);
    if (bo_word_is_ignoring_case(text, length, "CELLS"))
        return read_cells(v);
    if (bo_word_is_ignoring_case(text, length, "CELL_TYPES"))
        return read_cell_types(v);
    if (bo_word_is_ignoring_case(text, length, "POINT_DATA"))
        return begin_section(v, false);
    if (bo_word_is_ignoring_case(text, length, "CELL_DATA"))
        return begin_section(v, true);
    if (bo_word_is_ignoring_case(text, length, "SCALARS"))
        return read_scalars(v);
    if (bo_word_is_ignoring_case(text, length, "FIELD"))
        return read_field(v);
    if (bo_word_is_ignoring_case(text, length, "VECTORS") || bo_word_is_ignoring_case(text, length, "NORMALS"))
        return skip_tuples(v, 3);
    if (bo_word_is_ignoring_case(text, length, "TENSORS"))
        return skip_tuples(v, 9);
    if (bo_word_is_ignoring_case(text, length, "TENSORS6"))
        return skip_tuples(v, 6);
    if (bo_word_is_ignoring_case(text, length, "TEXTURE_COORDINATES"))
        return skip_texture(v);
    if (bo_word_is_ignoring_case(text, length, "COLOR_SCALARS"))
        return skip_colours(v, false);
    if (bo_word_is_ignoring_case(text, length, "LOOKUP_TABLE"))
        return skip_colours(v, true);
    if (bo_word_is_ignoring_case(text, length, "METADATA")) {
        bo_scan_next_line(v->s);
        while (bo_scan_line(v->s, &text, &length) && length)
            ;
        return BOUGH_OK;
    }
    return bo_scan_fail_word(v->s, "a VTK keyword", text, length);
}

static bough_status read_preamble(vtk *v) {
    static const char magic[] = "# vtk DataFile Version";
    bo_scanner *s = v->s;
    const char *text = "";
    size_t length = 0;
    if (s->size < sizeof magic - 1 || memcmp(s->data, magic, sizeof magic - 1) != 0)
        return bo_scan_fail(s, "does not begin with \"%s\", so it is no legacy VTK file", magic);
    bo_scan_next_line(s);
    bo_scan_next_line(s); /* the title */
    bo_scan_word(s, &text, &length);
    v->binary = bo_word_is_ignoring_case(text, length, "BINARY");
    if (!v->binary && !bo_word_is_ignoring_case(text, length, "ASCII"))
        return bo_scan_fail_word(s, "ASCII or BINARY", text, length);
    if (!bo_scan_word(s, &text, &length) || !bo_word_is_ignoring_case(text, length, "DATASET"))
        return bo_scan_fail(s, "expected DATASET");
    length = 0;
    bo_scan_word(s, &text, &length);
    if (!bo_word_is_ignoring_case(text, length, "UNSTRUCTURED_GRID"))
        return bo_scan_fail_word(s, "UNSTRUCTURED_GRID (other VTK datasets are not supported)", text, length);
    return BOUGH_OK;
}

static bough_status read_all(vtk *v) {
    BO_TRY(read_preamble(v));
    const char *text;
    size_t length;
    while (bo_scan_word(v->s, &text, &length))
        BO_TRY(read_section(v, text, length));
    if (v->cell_count && !v->element_of_cell)
        return bo_scan_fail(v->s, "CELL_TYPES is missing");
    return BOUGH_OK;
}

bough_status bo_read_vtk(bo_scanner *s, bo_builder *b) {
    vtk v = {.s = s, .b = b};
    s->swap = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    bough_status status = read_all(&v);
    bo_free(s->ctx, v.offsets);
    bo_free(s->ctx, v.connectivity);
    bo_free(s->ctx, v.element_of_cell);
    bo_free(s->ctx, v.elements_in_cell);
    return status;
}
