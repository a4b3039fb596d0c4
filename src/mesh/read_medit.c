/* MEDIT's ASCII .mesh: keyword, count, rows. References of elements and facets become sets. */
#include "mesh/formats.h"
#include "mesh/labels.h"

#include <ctype.h>

typedef struct medit {
    bo_scanner *s;
    bo_builder *b;
    bo_labels references;
    bo_facets facets;
    bool has_dimension;
    int64_t curved_line; /* of the last facet with edge nodes; 0: none */
} medit;

/* References of vertices name no sets: writers number the vertices of inner edges and surfaces with them, and such a
 * vertex set would hide the face set of the same name. */
static bough_status read_vertices(medit *m) {
    bo_scanner *s = m->s;
    int32_t count;
    if (!m->has_dimension)
        return bo_scan_fail(s, "the vertices stand before the Dimension");
    BO_TRY(bo_scan_count(s, "the number of vertices", 8, &count));
    for (int32_t i = 0; i < count; i++) {
        double xyz[3];
        int64_t reference;
        for (int d = 0; d < 3; d++)
            BO_TRY(bo_scan_double(s, "a vertex coordinate", &xyz[d]));
        BO_TRY(bo_scan_int(s, "a vertex reference", &reference));
        BO_TRY(bo_builder_vertex(m->b, s, xyz));
    }
    return BOUGH_OK;
}

static bough_status read_row(medit *m, int32_t node_count, int32_t *nodes, int64_t *reference) {
    for (int32_t k = 0; k < node_count; k++) {
        int64_t number;
        BO_TRY(bo_scan_int_range(m->s, "a vertex number", 1, INT32_MAX / 32, &number));
        nodes[k] = (int32_t)(number - 1);
    }
    return bo_scan_int(m->s, "a reference", reference);
}

static bough_status read_elements(medit *m, bough_element_type type) {
    int32_t count, node_count = bough_element_node_count(type);
    BO_TRY(bo_scan_count(m->s, "the number of elements", 2 * (size_t)(node_count + 1), &count));
    for (int32_t i = 0; i < count; i++) {
        int32_t nodes[BO_MAX_NODES];
        int64_t reference;
        BO_TRY(read_row(m, node_count, nodes, &reference));
        BO_TRY(bo_builder_element(m->b, m->s, type, nodes));
        if (reference)
            BO_TRY(bo_labels_add(&m->references, m->b, (double)reference, (int32_t)m->b->element_count - 1));
    }
    return BOUGH_OK;
}

/* Edge nodes, behind the corners, are those of the element below and need not be kept. */
static bough_status read_facets(medit *m, int32_t corner_count, int32_t node_count) {
    int32_t count;
    BO_TRY(bo_scan_count(m->s, "the number of facets", 2 * (size_t)(node_count + 1), &count));
    for (int32_t i = 0; i < count; i++) {
        int32_t nodes[6];
        int64_t reference;
        BO_TRY(read_row(m, node_count, nodes, &reference));
        BO_TRY(bo_facets_add(&m->facets, m->s, nodes, corner_count, (double)reference));
        if (node_count > corner_count)
            m->curved_line = m->s->line;
    }
    return BOUGH_OK;
}

static bough_status refuse_elements(medit *m, const char *keyword) {
    int32_t count;
    BO_TRY(bo_scan_count(m->s, "the number of elements", 2, &count));
    if (count)
        return bo_scan_refuse(m->s, "elements of kind %s are not supported (tetrahedra and hexahedra are)", keyword);
    return BOUGH_OK;
}

static bool is_keyword(const bo_scanner *s) {
    return isalpha((unsigned char)s->data[s->at]) != 0;
}

/* Rows of numbers up to the next keyword. */
static void skip_rows(bo_scanner *s) {
    const char *text;
    size_t length;
    while (bo_scan_skip(s) && !is_keyword(s))
        bo_scan_word(s, &text, &length);
}

/* The format's sections that are no part of a mesh. */
static bool is_passed_over(const char *text, size_t length) {
    static const char *const known[] = {"Edges",
                                        "EdgesP2",
                                        "Corners",
                                        "Ridges",
                                        "Normals",
                                        "NormalAtVertices",
                                        "NormalAtTriangleVertices",
                                        "NormalAtQuadrilateralVertices",
                                        "Tangents",
                                        "TangentAtVertices",
                                        "TangentAtEdgeVertices",
                                        "RequiredVertices",
                                        "RequiredEdges",
                                        "RequiredTriangles",
                                        "RequiredQuadrilaterals",
                                        "RequiredTetrahedra",
                                        "ParallelTriangles",
                                        "ParallelVertices",
                                        "AngleOfCornerBound",
                                        "Geometry",
                                        "VertexOnGeometricVertex",
                                        "VertexOnGeometricEdge",
                                        "EdgeOnGeometricEdge",
                                        "Identifier",
                                        "SubDomainFromMesh",
                                        "SubDomainFromGeom"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (bo_word_is_ignoring_case(text, length, known[i]))
            return true;
    return false;
}

static bough_status read_section(medit *m, const char *text, size_t length) {
    static const char *const unsupported[] = {"Prisms", "Pyramids", "QuadrilateralsQ2", "HexahedraQ2"};
    if (bo_word_is_ignoring_case(text, length, "Dimension")) {
        int64_t dimension;
        BO_TRY(bo_scan_int(m->s, "the dimension", &dimension));
        if (dimension != 3)
            return bo_scan_refuse(m->s, "the mesh has %lld dimensions, not 3", (long long)dimension);
        m->has_dimension = true;
        return BOUGH_OK;
    }
    if (bo_word_is_ignoring_case(text, length, "Vertices"))
        return read_vertices(m);
    if (bo_word_is_ignoring_case(text, length, "Tetrahedra"))
        return read_elements(m, BOUGH_TET4);
    if (bo_word_is_ignoring_case(text, length, "TetrahedraP2")) /* edge nodes in Bough's order: 01 12 20 03 13 23 */
        return read_elements(m, BOUGH_TET10);
    if (bo_word_is_ignoring_case(text, length, "Hexahedra") || bo_word_is_ignoring_case(text, length, "Hexaedra"))
        return read_elements(m, BOUGH_HEX8);
    if (bo_word_is_ignoring_case(text, length, "Triangles"))
        return read_facets(m, 3, 3);
    if (bo_word_is_ignoring_case(text, length, "TrianglesP2"))
        return read_facets(m, 3, 6);
    if (bo_word_is_ignoring_case(text, length, "Quadrilaterals"))
        return read_facets(m, 4, 4);
    for (size_t i = 0; i < sizeof unsupported / sizeof *unsupported; i++)
        if (bo_word_is_ignoring_case(text, length, unsupported[i]))
            return refuse_elements(m, unsupported[i]);
    if (!is_passed_over(text, length))
        bo_scan_unknown(m->s, text, length);
    skip_rows(m->s);
    return BOUGH_OK;
}

static bough_status read_all(medit *m) {
    bo_scanner *s = m->s;
    int64_t version;
    const char *text;
    size_t length;
    if (!bo_scan_word(s, &text, &length) || !bo_word_is_ignoring_case(text, length, "MeshVersionFormatted"))
        return bo_scan_fail(s, "does not begin with MeshVersionFormatted, so it is no MEDIT text file");
    BO_TRY(bo_scan_int_range(s, "the version", 1, 4, &version));
    while (bo_scan_word(s, &text, &length) && !bo_word_is_ignoring_case(text, length, "End")) {
        if (!isalpha((unsigned char)text[0]))
            return bo_scan_fail_word(s, "a keyword", text, length);
        BO_TRY(read_section(m, text, length));
    }
    bo_scan_warn_unknown(s, "section");
    if (m->curved_line && !m->b->element_count) {
        s->line = m->curved_line;
        return bo_scan_refuse(s, "a surface of TrianglesP2 is not supported (Triangles are)");
    }
    return bo_facets_finish(&m->facets, m->b, s, "ref");
}

bough_status bo_read_medit(bo_scanner *s, bo_builder *b) {
    medit m = {.s = s, .b = b, .references = {.kind = BOUGH_SET_ELEMENT, .prefix = "ref"}};
    s->comment = '#';
    bough_status status = read_all(&m);
    bo_labels_free(&m.references, b);
    bo_facets_free(&m.facets, s->ctx);
    return status;
}
