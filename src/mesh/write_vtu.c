#include "mesh/formats.h"
#include "mesh/vtu.h"

#include <string.h>

/* The file is one XML head that describes the arrays and, behind '_', the arrays themselves as raw bytes, each after
 * its length. describe_*() counts the offsets in the order in which put_*() writes the data. */
typedef struct vtu {
    bough_context *ctx;
    FILE *stream;
    const bough_mesh *mesh;
    const double *displacement;
    const bo_vtu_field *fields;
    int32_t field_count;
    uint64_t offset;      /* of the next array behind '_' */
    signed char *members; /* scratch: max(vertex_count, element_count) */
} vtu;

/* Length of the valid UTF-8 sequence at `text`, 0 when there is none. */
static int utf8_length(const unsigned char *text) {
    int n = text[0] < 0x80 ? 1 : text[0] >= 0xC2 && text[0] < 0xE0 ? 2 : text[0] >= 0xE0 && text[0] < 0xF0 ? 3 : 4;
    if (n == 4 && (text[0] < 0xF0 || text[0] > 0xF4))
        return 0;
    for (int i = 1; i < n; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    /* overlong forms, surrogates, beyond U+10FFFF */
    if ((text[0] == 0xE0 && text[1] < 0xA0) || (text[0] == 0xED && text[1] > 0x9F) ||
        (text[0] == 0xF0 && text[1] < 0x90) || (text[0] == 0xF4 && text[1] > 0x8F))
        return 0;
    return n;
}

static void write_escaped(FILE *stream, const char *name) {
    const unsigned char *c = (const unsigned char *)name;
    while (*c) {
        int n = utf8_length(c);
        if (*c == '&')
            fputs("&amp;", stream);
        else if (*c == '<')
            fputs("&lt;", stream);
        else if (*c == '>')
            fputs("&gt;", stream);
        else if (*c == '"')
            fputs("&quot;", stream);
        else if (n == 0 || *c < 0x20 || *c == 0x7F) /* XML has no place for these */
            fputc('?', stream);
        else
            fwrite(c, 1, (size_t)n, stream);
        c += n ? n : 1;
    }
}

static void describe(vtu *w, const char *type, const char *prefix, const char *name, int32_t components,
                     uint64_t bytes) {
    fprintf(w->stream, "<DataArray type=\"%s\" Name=\"%s", type, prefix);
    write_escaped(w->stream, name);
    fprintf(w->stream, "\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%llu\"/>\n", components,
            (unsigned long long)w->offset);
    w->offset += sizeof(uint64_t) + bytes;
}

static void put(vtu *w, const void *data, size_t size) {
    fwrite(data, 1, size, w->stream);
}

static void put_length(vtu *w, uint64_t bytes) {
    put(w, &bytes, sizeof bytes);
}

static uint64_t rows(const vtu *w, bool on_cells) {
    return (uint64_t)(on_cells ? w->mesh->element_count : w->mesh->vertex_count);
}

static void describe_section(vtu *w, bool on_cells) {
    fputs(on_cells ? "<CellData>\n" : "<PointData>\n", w->stream);
    if (!on_cells && w->displacement)
        describe(w, "Float64", "", "displacement", 3, 24 * rows(w, false));
    for (int32_t i = 0; i < w->field_count; i++)
        if (w->fields[i].on_cells == on_cells)
            describe(w, "Float64", "", w->fields[i].name, w->fields[i].components,
                     8 * rows(w, on_cells) * (uint64_t)w->fields[i].components);
    for (int32_t i = 0; i < w->mesh->set_count; i++)
        if (w->mesh->sets[i].kind == (on_cells ? BOUGH_SET_ELEMENT : BOUGH_SET_VERTEX))
            describe(w, "Int8", "set:", w->mesh->sets[i].name, 1, rows(w, on_cells));
    fputs(on_cells ? "</CellData>\n" : "</PointData>\n", w->stream);
}

static void put_section(vtu *w, bool on_cells) {
    size_t count = (size_t)rows(w, on_cells);
    if (!on_cells && w->displacement) {
        put_length(w, 24 * count);
        put(w, w->displacement, 24 * count);
    }
    for (int32_t i = 0; i < w->field_count; i++)
        if (w->fields[i].on_cells == on_cells) {
            size_t bytes = 8 * count * (size_t)w->fields[i].components;
            put_length(w, bytes);
            put(w, w->fields[i].values, bytes);
        }
    for (int32_t i = 0; i < w->mesh->set_count; i++) {
        const bough_set *set = &w->mesh->sets[i];
        if (set->kind != (on_cells ? BOUGH_SET_ELEMENT : BOUGH_SET_VERTEX))
            continue;
        memset(w->members, 0, count);
        for (int32_t k = 0; k < set->count; k++)
            w->members[set->items[k]] = 1;
        put_length(w, count);
        put(w, w->members, count);
    }
}

static void put_points(vtu *w) {
    size_t count = 3 * (size_t)w->mesh->vertex_count;
    put_length(w, 8 * count);
    if (!w->displacement) {
        put(w, w->mesh->vertices, 8 * count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        double x = w->mesh->vertices[i] + w->displacement[i];
        put(w, &x, sizeof x);
    }
}

static void put_cells(vtu *w) {
    static const unsigned char vtk_types[] = {
        [BOUGH_TRI3] = 5, [BOUGH_TET4] = 10, [BOUGH_TET10] = 24, [BOUGH_HEX8] = 12};
    uint64_t count = rows(w, true), nodes = (uint64_t)bough_element_node_count(w->mesh->type);
    put_length(w, 4 * count * nodes);
    put(w, w->mesh->elements, (size_t)(4 * count * nodes));
    put_length(w, 8 * count);
    for (uint64_t i = 1; i <= count; i++) {
        int64_t end = (int64_t)(i * nodes);
        put(w, &end, sizeof end);
    }
    put_length(w, count);
    memset(w->members, vtk_types[w->mesh->type], (size_t)count);
    put(w, w->members, (size_t)count);
}

static void write_all(vtu *w) {
    uint64_t vertices = rows(w, false), elements = rows(w, true);
    uint64_t nodes = (uint64_t)bough_element_node_count(w->mesh->type);
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    fprintf(w->stream,
            "<?xml version=\"1.0\"?>\n"
            "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"%s\" header_type=\"UInt64\">\n"
            "<UnstructuredGrid>\n<Piece NumberOfPoints=\"%llu\" NumberOfCells=\"%llu\">\n",
            little ? "LittleEndian" : "BigEndian", (unsigned long long)vertices, (unsigned long long)elements);
    describe_section(w, false);
    describe_section(w, true);
    fputs("<Points>\n", w->stream);
    describe(w, "Float64", "", "Points", 3, 24 * vertices);
    fputs("</Points>\n<Cells>\n", w->stream);
    describe(w, "Int32", "", "connectivity", 1, 4 * elements * nodes);
    describe(w, "Int64", "", "offsets", 1, 8 * elements);
    describe(w, "UInt8", "", "types", 1, elements);
    fputs("</Cells>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_", w->stream);
    put_section(w, false);
    put_section(w, true);
    put_points(w);
    put_cells(w);
    fputs("\n</AppendedData>\n</VTKFile>\n", w->stream);
}

bough_status bo_vtu_write(bough_context *ctx, FILE *stream, const bough_mesh *mesh, const double *displacement,
                          const bo_vtu_field *fields, int32_t field_count) {
    for (int32_t i = 0; i < field_count; i++)
        if (!fields[i].name || !fields[i].name[0] || fields[i].components < 1 || !fields[i].values)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "field %d needs a name, values and at least one component", i);
    int32_t longest = mesh->vertex_count > mesh->element_count ? mesh->vertex_count : mesh->element_count;
    vtu w = {.ctx = ctx,
             .stream = stream,
             .mesh = mesh,
             .displacement = displacement,
             .fields = fields,
             .field_count = field_count,
             .members = BO_NEW_ARRAY(ctx, signed char, longest)};
    if (!w.members)
        return BOUGH_ERROR_MEMORY;
    write_all(&w);
    bo_free(ctx, w.members);
    return BOUGH_OK;
}

bough_status bo_write_vtu(bough_context *ctx, const bough_mesh *mesh, const char *path, FILE *stream) {
    (void)path;
    return bo_vtu_write(ctx, stream, mesh, NULL, NULL, 0);
}

bough_status bough_mesh_write_fields(bough_context *ctx, const bough_mesh *mesh, const char *path,
                                     const bough_field *fields, int32_t field_count) {
    if (!bo_equal_ignoring_case(bo_path_extension(path), "vtu"))
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: fields can be written to .vtu files only", path);
    if (field_count < 0 || (field_count && !fields))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the number of fields is wrong");
    bo_vtu_field *converted = BO_NEW_ARRAY(ctx, bo_vtu_field, field_count);
    if (!converted)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < field_count; i++)
        converted[i] = (bo_vtu_field){fields[i].name, fields[i].on_elements, fields[i].components, fields[i].values};
    bo_output output;
    bough_status status = bo_output_open(ctx, path, &output);
    if (status == BOUGH_OK) {
        status = bo_vtu_write(ctx, output.stream, mesh, NULL, converted, field_count);
        if (status == BOUGH_OK)
            status = bo_output_commit(ctx, &output);
        else
            bo_output_discard(ctx, &output);
    }
    bo_free(ctx, converted);
    return status;
}
