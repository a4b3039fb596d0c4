/* TetGen's .node and .ele pair, and the .face file beside them when there is one. */
#include "mesh/formats.h"
#include "mesh/labels.h"

#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

#define COLUMN_LIMIT 1000 /* attributes of a vertex or element; real files have a handful */

typedef struct tetgen {
    bo_builder *b;
    int64_t first; /* number of the first vertex: 0 or 1 */
    bough_element_type type;
    bo_labels node_markers, regions, face_markers;
} tetgen;

/* The header line's numbers; those missing at its end are 0. */
static bough_status read_header(bo_scanner *s, const char *what, int64_t *values, int32_t count) {
    BO_TRY(bo_scan_int(s, what, &values[0]));
    for (int32_t i = 1; i < count; i++) {
        values[i] = 0;
        if (bo_scan_skip_blanks(s))
            BO_TRY(bo_scan_int_range(s, "a number of the header", 0, COLUMN_LIMIT, &values[i]));
    }
    if (bo_scan_skip_blanks(s))
        return bo_scan_fail(s, "the header line is too long");
    return BOUGH_OK;
}

/* Rows are numbered from 0 or 1 without gaps; a wrong number means that the columns are not what the header says. */
static bough_status read_number(bo_scanner *s, const char *what, int64_t row, int64_t *first) {
    int64_t number;
    BO_TRY(bo_scan_int(s, what, &number));
    if (row == 0 && (number == 0 || number == 1))
        *first = number;
    else if (row == 0 || number != *first + row)
        return bo_scan_fail(s, "expected %s %lld, found %lld", what, (long long)(row ? *first + row : 0),
                            (long long)number);
    return BOUGH_OK;
}

static bough_status read_nodes(tetgen *t, bo_scanner *s) {
    int64_t header[4]; /* count, dimension, attributes, markers */
    BO_TRY(read_header(s, "the number of vertices", header, 4));
    BO_TRY(bo_check_count(s, "the number of vertices", header[0], (size_t)(2 * (4 + header[2] + (header[3] != 0)))));
    if (header[1] != 3)
        return bo_scan_fail(s, "vertices have %lld coordinates, not 3", (long long)header[1]);
    for (int64_t i = 0; i < header[0]; i++) {
        double xyz[3], ignored;
        BO_TRY(read_number(s, "vertex", i, &t->first));
        for (int d = 0; d < 3; d++)
            BO_TRY(bo_scan_double(s, "a vertex coordinate", &xyz[d]));
        for (int64_t k = 0; k < header[2]; k++)
            BO_TRY(bo_scan_double(s, "a vertex attribute", &ignored));
        BO_TRY(bo_builder_vertex(t->b, s, xyz));
        int64_t marker = 0;
        if (header[3])
            BO_TRY(bo_scan_int(s, "a boundary marker", &marker));
        if (marker)
            BO_TRY(bo_labels_add(&t->node_markers, t->b, (double)marker, (int32_t)i));
    }
    if (bo_scan_skip(s))
        return bo_scan_fail(s, "the file goes on behind its %lld vertices", (long long)header[0]);
    return BOUGH_OK;
}

static bough_status read_vertex_number(tetgen *t, bo_scanner *s, int32_t *vertex) {
    int64_t number;
    int64_t last = t->first + (int64_t)t->b->vertex_count - 1;
    BO_TRY(bo_scan_int_range(s, "a vertex number", t->first, last, &number));
    *vertex = (int32_t)(number - t->first);
    return BOUGH_OK;
}

/* TetGen's edge nodes sit on edges 23 03 01 12 13 02; Bough's on 01 12 20 03 13 23. */
static const int32_t place_of_node[10] = {0, 1, 2, 3, 9, 7, 4, 5, 8, 6};

static bough_status read_elements(tetgen *t, bo_scanner *s) {
    int64_t header[3], first = 0; /* count, nodes, attributes */
    BO_TRY(read_header(s, "the number of elements", header, 3));
    BO_TRY(bo_check_count(s, "the number of elements", header[0], (size_t)(2 * (1 + header[1] + header[2]))));
    if (header[1] != 4 && header[1] != 10)
        return bo_scan_fail(s, "elements have %lld nodes, not 4 or 10", (long long)header[1]);
    t->type = header[1] == 4 ? BOUGH_TET4 : BOUGH_TET10;
    for (int64_t i = 0; i < header[0]; i++) {
        int32_t nodes[BO_MAX_NODES];
        BO_TRY(read_number(s, "element", i, &first));
        for (int64_t k = 0; k < header[1]; k++)
            BO_TRY(read_vertex_number(t, s, &nodes[place_of_node[k]]));
        BO_TRY(bo_builder_element(t->b, s, t->type, nodes));
        for (int64_t k = 0; k < header[2]; k++) {
            double region;
            BO_TRY(bo_scan_double(s, "a region attribute", &region));
            if (k == 0)
                BO_TRY(bo_labels_add(&t->regions, t->b, region, (int32_t)i));
        }
    }
    if (bo_scan_skip(s))
        return bo_scan_fail(s, "the file goes on behind its %lld elements", (long long)header[0]);
    return BOUGH_OK;
}

static bough_status read_faces(tetgen *t, bo_scanner *s) {
    int64_t header[2], first = 0; /* count, markers */
    BO_TRY(read_header(s, "the number of faces", header, 2));
    BO_TRY(bo_check_count(s, "the number of faces", header[0], (size_t)(2 * (4 + (header[1] != 0)))));
    for (int64_t i = 0; i < header[0] && header[1]; i++) {
        int32_t corners[6], set;
        int64_t marker;
        BO_TRY(read_number(s, "face", i, &first));
        for (int k = 0; k < (t->type == BOUGH_TET10 ? 6 : 3); k++)
            BO_TRY(read_vertex_number(t, s, &corners[k]));
        BO_TRY(bo_scan_int(s, "a boundary marker", &marker));
        bo_scan_next_line(s); /* the numbers of the adjacent elements may follow */
        if (marker == 0)
            continue;
        BO_TRY(bo_labels_set(&t->face_markers, t->b, (double)marker, &set));
        if (set >= 0)
            BO_TRY(bo_builder_facet_add(t->b, s, set, corners, 3));
    }
    return BOUGH_OK;
}

/* Reads the file beside `s` that has another extension. */
static bough_status read_beside(tetgen *t, const bo_scanner *s, const char *extension, bool optional,
                                bough_status (*read)(tetgen *t, bo_scanner *s)) {
    bough_context *ctx = s->ctx;
    char *path = bo_path_replace_extension(ctx, s->path, extension);
    if (!path)
        return BOUGH_ERROR_MEMORY;
    struct stat info;
    bool there = stat(path, &info) == 0 && S_ISREG(info.st_mode);
    bough_status status = BOUGH_OK;
    bo_file file = {0};
    if (there)
        status = bo_file_read(ctx, path, &file);
    else if (!optional)
        status = bo_fail(ctx, BOUGH_ERROR_FILE, "%s: needs the file %s beside it", s->path, path);
    if (status == BOUGH_OK && there) {
        bo_scanner other;
        bo_scan_begin(&other, ctx, path, &file);
        other.comment = '#';
        status = read(t, &other);
    }
    bo_file_free(ctx, &file);
    bo_free(ctx, path);
    return status;
}

static bough_status read_all(tetgen *t, bo_scanner *s) {
    const char *extension = bo_path_extension(s->path);
    /* The other files follow the letter case of this one's name. */
    bool upper = isupper((unsigned char)extension[0]);
    if (bo_equal_ignoring_case(extension, "ele")) {
        BO_TRY(read_beside(t, s, upper ? ".NODE" : ".node", false, read_nodes));
        BO_TRY(read_elements(t, s));
    } else {
        BO_TRY(read_nodes(t, s));
        BO_TRY(read_beside(t, s, upper ? ".ELE" : ".ele", false, read_elements));
    }
    return read_beside(t, s, upper ? ".FACE" : ".face", true, read_faces);
}

bough_status bo_read_tetgen(bo_scanner *s, bo_builder *b) {
    tetgen t = {.b = b,
                .node_markers = {.kind = BOUGH_SET_VERTEX, .prefix = "marker"},
                .regions = {.kind = BOUGH_SET_ELEMENT, .prefix = "region"},
                .face_markers = {.kind = BOUGH_SET_FACE, .prefix = "marker"}};
    s->comment = '#';
    bough_status status = read_all(&t, s);
    bo_labels_free(&t.node_markers, b);
    bo_labels_free(&t.regions, b);
    bo_labels_free(&t.face_markers, b);
    return status;
}
