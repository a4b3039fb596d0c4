/* Gmsh's .msh 2.2 and 4.1, text and binary. Physical groups become sets: dimension 3 element sets, 2 face sets (element
 * sets when the file holds a surface only), 1 and 0 vertex sets. */
#include "mesh/formats.h"
#include "mesh/msh.h"

#include <stdlib.h>
#include <string.h>

#define SECTION_NAME_LIMIT 64

static const bo_msh_kind kinds[] = {
    {15, 0, 1, BOUGH_TRI3}, {1, 1, 2, BOUGH_TRI3}, {8, 1, 3, BOUGH_TRI3},
    {2, 2, 3, BOUGH_TRI3},  {9, 2, 6, BOUGH_TRI3}, {3, 2, 4, BOUGH_TRI3},
    {4, 3, 4, BOUGH_TET4},  {5, 3, 8, BOUGH_HEX8}, {11, 3, 10, BOUGH_TET10},
};

static const struct {
    int32_t type;
    const char *name;
} refused[] = {
    {6, "6-node prism"},        {7, "5-node pyramid"},       {10, "9-node quadrangle"},   {12, "27-node hexahedron"},
    {13, "18-node prism"},      {14, "14-node pyramid"},     {16, "8-node quadrangle"},   {17, "20-node hexahedron"},
    {18, "15-node prism"},      {19, "13-node pyramid"},     {20, "9-node triangle"},     {21, "10-node triangle"},
    {26, "4-node line"},        {29, "20-node tetrahedron"}, {30, "35-node tetrahedron"}, {31, "56-node tetrahedron"},
    {92, "64-node hexahedron"},
};

bough_status bo_msh_find_kind(bo_msh *m, int64_t type, const bo_msh_kind **kind) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].type == type) {
            *kind = &kinds[i];
            return BOUGH_OK;
        }
    const char *name = "unknown";
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i].type == type)
            name = refused[i].name;
    bo_scan_fail(m->s,
                 "$Elements holds elements of Gmsh's type %lld (%s); Bough reads 4-node and 10-node tetrahedra, "
                 "8-node hexahedra and surfaces of triangles",
                 (long long)type, name);
    return BOUGH_ERROR_UNSUPPORTED;
}

bough_status bo_msh_int(bo_msh *m, const char *what, int64_t *value) {
    if (!m->binary)
        return bo_scan_int(m->s, what, value);
    int32_t raw;
    BO_TRY(bo_scan_raw_int32(m->s, what, &raw));
    *value = raw;
    return BOUGH_OK;
}

bough_status bo_msh_tag(bo_msh *m, const char *what, int64_t *value) {
    if (!m->binary)
        return bo_scan_int(m->s, what, value);
    uint64_t raw;
    BO_TRY(bo_scan_raw_uint64(m->s, what, &raw));
    *value = (int64_t)raw;
    return BOUGH_OK;
}

bough_status bo_msh_double(bo_msh *m, const char *what, double *value) {
    return m->binary ? bo_scan_raw_double(m->s, what, value) : bo_scan_double(m->s, what, value);
}

bough_status bo_msh_count(bo_msh *m, const char *what, size_t text_bytes, size_t binary_bytes, int32_t *count) {
    int64_t value;
    BO_TRY(bo_msh_tag(m, what, &value));
    BO_TRY(bo_check_count(m->s, what, value, m->binary ? binary_bytes : text_bytes));
    *count = (int32_t)value;
    return BOUGH_OK;
}

/* ---- groups ---- */

/* `name` may be NULL: groups without a name are called by their tag. */
static bough_status make_group(bo_msh *m, int32_t dim, int64_t tag, const char *name, size_t length) {
    static const bough_set_kind set_kinds[] = {BOUGH_SET_VERTEX, BOUGH_SET_VERTEX, BOUGH_SET_FACE, BOUGH_SET_ELEMENT};
    char made[48];
    if (!length) {
        /* Curves and points both become vertex sets, and their tags are counted separately. */
        length =
            (size_t)snprintf(made, sizeof made, dim == 1 ? "physical_curve_%lld" : "physical_%lld", (long long)tag);
        name = made;
    }
    if (!BO_RESERVE(m->b->ctx, m->groups, m->group_capacity, m->group_count + 1) ||
        !BO_RESERVE(m->b->ctx, m->members, m->member_capacity, m->member_count + 1))
        return BOUGH_ERROR_MEMORY;
    int32_t set, known, number = (int32_t)m->group_count;
    BO_TRY(bo_builder_set_named(m->b, set_kinds[dim], name, length, &set));
    BO_TRY(bo_idmap_add(m->b->ctx, &m->group_of_tag[dim], tag, number, &known));
    m->groups[m->group_count++] = (bo_msh_group){dim, set, (int32_t)m->member_count};
    m->members[m->member_count++] = number;
    return BOUGH_OK;
}

/* A negative tag means that the group sees the entity reversed, which sets do not record. */
static int64_t plain_tag(int64_t tag) {
    return tag < 0 && tag != INT64_MIN ? -tag : tag;
}

static bough_status group_number(bo_msh *m, int32_t dim, int64_t tag, int32_t *number) {
    m->in_use = true;
    tag = plain_tag(tag);
    *number = bo_idmap_find(&m->group_of_tag[dim], tag);
    if (*number < 0) {
        BO_TRY(make_group(m, dim, tag, NULL, 0));
        *number = (int32_t)m->group_count - 1;
    }
    return BOUGH_OK;
}

bough_status bo_msh_find_group(bo_msh *m, int32_t dim, int64_t tag, bo_msh_list *list) {
    *list = (bo_msh_list){0, 0};
    if (tag == 0)
        return BOUGH_OK;
    int32_t number;
    BO_TRY(group_number(m, dim, tag, &number));
    *list = (bo_msh_list){m->groups[number].self, 1};
    return BOUGH_OK;
}

bough_status bo_msh_add_member(bo_msh *m, int32_t dim, int64_t tag) {
    int32_t number;
    BO_TRY(group_number(m, dim, tag, &number));
    if (!BO_RESERVE(m->b->ctx, m->members, m->member_capacity, m->member_count + 1))
        return BOUGH_ERROR_MEMORY;
    m->members[m->member_count++] = number;
    return BOUGH_OK;
}

/* The text between the first and the last quote of the rest of the line; without quotes, all of it. */
static void take_name(bo_scanner *s, const char **name, size_t *length) {
    *name = "", *length = 0;
    if (!bo_scan_skip_blanks(s) || !bo_scan_line(s, name, length) || *length < 2 || (*name)[0] != '"')
        return;
    size_t end = *length - 1;
    while (end > 0 && (*name)[end] != '"')
        end--;
    *length = end > 0 ? end - 1 : *length - 1;
    ++*name;
}

/* Text also in binary files. */
static bough_status read_physical_names(bo_msh *m) {
    bo_scanner *s = m->s;
    if (m->in_use)
        return bo_scan_fail(s, "$PhysicalNames must stand before $Entities and $Elements");
    int32_t count;
    BO_TRY(bo_scan_count(s, "the number of physical names", 5, &count));
    for (int32_t i = 0; i < count; i++) {
        int64_t dim, tag;
        const char *name;
        size_t length;
        BO_TRY(bo_scan_int_range(s, "the dimension of a physical group", 0, 3, &dim));
        BO_TRY(bo_scan_int(s, "the tag of a physical group", &tag));
        take_name(s, &name, &length);
        if (bo_idmap_find(&m->group_of_tag[dim], plain_tag(tag)) >= 0)
            return bo_scan_fail(s, "physical group %lld of dimension %lld is named twice", (long long)tag,
                                (long long)dim);
        BO_TRY(make_group(m, (int32_t)dim, plain_tag(tag), name, length));
    }
    return BOUGH_OK;
}

/* ---- elements ---- */

static uint64_t hash_nodes(const int32_t *nodes, int32_t count) {
    uint64_t hash = 0;
    for (int32_t i = 0; i < count; i++) {
        hash = (hash ^ (uint32_t)nodes[i]) * 0x9E3779B97F4A7C15u; /* golden ratio */
        hash ^= hash >> 29;
    }
    return hash;
}

static bough_status add_element(bo_msh *m, bough_element_type type, const int32_t *nodes, bo_msh_list groups) {
    int32_t known = -1, element = (int32_t)m->b->element_count, n = bough_element_node_count(type);
    if (m->version == 2 && groups.count)
        BO_TRY(bo_idmap_add(m->b->ctx, &m->element_of_hash, (int64_t)hash_nodes(nodes, n), element, &known));
    if (known >= 0 && m->b->type == type &&
        memcmp(m->b->elements + (size_t)known * (size_t)n, nodes, (size_t)n * sizeof *nodes) == 0)
        element = known;
    else
        BO_TRY(bo_builder_element(m->b, m->s, type, nodes));
    for (int32_t i = 0; i < groups.count; i++)
        BO_TRY(bo_builder_set_add(m->b, m->groups[m->members[groups.first + i]].set, element));
    return BOUGH_OK;
}

static bough_status add_vertices(bo_msh *m, const int32_t *nodes, int32_t count, bo_msh_list groups) {
    for (int32_t i = 0; i < groups.count; i++)
        for (int32_t k = 0; k < count; k++)
            BO_TRY(bo_builder_set_add(m->b, m->groups[m->members[groups.first + i]].set, nodes[k]));
    return BOUGH_OK;
}

static bough_status keep_flat(bo_msh *m, const int32_t *nodes, int32_t count, bo_msh_list groups) {
    if (!BO_RESERVE(m->b->ctx, m->flats, m->flat_capacity, m->flat_count + 1))
        return BOUGH_ERROR_MEMORY;
    bo_msh_flat *flat = &m->flats[m->flat_count++];
    *flat = (bo_msh_flat){.node_count = count, .groups = groups, .line = m->s->line};
    memcpy(flat->nodes, nodes, (size_t)count * sizeof *nodes);
    return BOUGH_OK;
}

bough_status bo_msh_element(bo_msh *m, const bo_msh_kind *kind, const int32_t *nodes, bo_msh_list groups) {
    if (kind->dim < 2)
        return add_vertices(m, nodes, kind->node_count, groups);
    if (kind->dim == 2)
        return keep_flat(m, nodes, kind->node_count, groups);
    int32_t ordered[BO_MSH_MAX_NODES];
    memcpy(ordered, nodes, (size_t)kind->node_count * sizeof *nodes);
    if (kind->element == BOUGH_TET10) /* Gmsh has edge 23 before 13 */
        ordered[8] = nodes[9], ordered[9] = nodes[8];
    return add_element(m, kind->element, ordered, groups);
}

static bough_status flat_to_facets(bo_msh *m, const bo_msh_flat *flat) {
    for (int32_t i = 0; i < flat->groups.count; i++)
        BO_TRY(bo_builder_facet_add(m->b, m->s, m->groups[m->members[flat->groups.first + i]].set, flat->nodes,
                                    flat->node_count == 4 ? 4 : 3));
    return BOUGH_OK;
}

/* Quads are cut in two, 6-node triangles in four. */
static bough_status flat_to_triangles(bo_msh *m, const bo_msh_flat *flat) {
    static const int8_t cuts[3][4][3] = {
        {{0, 1, 2}}, {{0, 1, 2}, {0, 2, 3}}, {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}, {3, 4, 5}}};
    int cut = flat->node_count == 3 ? 0 : flat->node_count == 4 ? 1 : 2;
    for (int i = 0; i < 1 << cut; i++) {
        const int8_t *k = cuts[cut][i];
        int32_t nodes[3] = {flat->nodes[k[0]], flat->nodes[k[1]], flat->nodes[k[2]]};
        BO_TRY(add_element(m, BOUGH_TRI3, nodes, flat->groups));
    }
    return BOUGH_OK;
}

static bough_status place_flats(bo_msh *m) {
    bool surface = !m->b->has_elements;
    if (surface)
        for (size_t i = 0; i < m->group_count; i++)
            if (m->groups[i].dim == 2)
                m->b->sets[m->groups[i].set].kind = BOUGH_SET_ELEMENT;
    int64_t line = m->s->line;
    for (size_t i = 0; i < m->flat_count; i++) {
        m->s->line = m->flats[i].line; /* so that messages name the line of the triangle */
        BO_TRY(surface ? flat_to_triangles(m, &m->flats[i]) : flat_to_facets(m, &m->flats[i]));
    }
    m->s->line = line;
    return BOUGH_OK;
}

/* ---- sections ---- */

static bough_status read_byte_order(bo_msh *m) {
    int32_t one;
    bo_scan_next_line(m->s);
    BO_TRY(bo_scan_raw_int32(m->s, "the integer 1 in $MeshFormat", &one));
    if (one != 1 && one != 0x01000000)
        return bo_scan_fail(m->s, "$MeshFormat announces a binary file, but the integer 1 does not follow");
    m->s->swap = one != 1;
    return BOUGH_OK;
}

static bough_status read_format(bo_msh *m) {
    double version;
    int64_t binary, size;
    if (m->version)
        return bo_scan_fail(m->s, "$MeshFormat stands twice in the file");
    BO_TRY(bo_scan_double(m->s, "the version of the format", &version));
    bool old = version == 2.1 || version == 2.2;
    if (!old && version != 4.1) {
        bo_scan_fail(m->s, "version %g of Gmsh's format is not supported; save the file as 4.1 or 2.2", version);
        return BOUGH_ERROR_UNSUPPORTED;
    }
    BO_TRY(bo_scan_int_range(m->s, "the file type (0 text, 1 binary)", 0, 1, &binary));
    BO_TRY(bo_scan_int(m->s, "the data size", &size));
    m->version = old ? 2 : 4;
    m->binary = binary == 1;
    if (!m->binary)
        return BOUGH_OK;
    if (size != 8) {
        bo_scan_fail(m->s, "a binary file with data size %lld is not supported, only 8", (long long)size);
        return BOUGH_ERROR_UNSUPPORTED;
    }
    return read_byte_order(m);
}

static bool is_passed_over(const char *name, size_t length) {
    static const char *const known[] = {
        "Comments", "PartitionedEntities", "Periodic",        "GhostElements",       "Parametrizations",
        "NodeData", "ElementData",         "ElementNodeData", "InterpolationScheme", "Entities"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (bo_word_is(name, length, known[i]))
            return true;
    return false;
}

/* Unknown sections may hold anything, also binary data: only their end counts. */
static bough_status skip_section(bo_msh *m, const char *name, size_t length) {
    bo_scanner *s = m->s;
    char end[SECTION_NAME_LIMIT + 8];
    size_t end_length = (size_t)snprintf(end, sizeof end, "\n$End%.*s", (int)length, name);
    size_t from = s->at - 1; /* the end of the line with the section's name */
    const char *found = s->at < s->size ? memmem(s->data + from, s->size - from, end, end_length) : NULL;
    if (!found)
        return bo_scan_fail(s, "section $%.*s has no $End%.*s", (int)length, name, (int)length, name);
    for (const char *at = s->data + s->at; at <= found; at++)
        s->line += *at == '\n';
    s->at = (size_t)(found - s->data) + 1;
    return BOUGH_OK;
}

static bough_status read_section(bo_msh *m, const char *name, size_t length) {
    typedef bough_status (*section_reader)(bo_msh *);
    static const struct {
        const char *name;
        section_reader read[2]; /* version 2, version 4 */
    } sections[] = {
        {"MeshFormat", {read_format, read_format}},
        {"PhysicalNames", {read_physical_names, read_physical_names}},
        {"Entities", {NULL, bo_msh4_entities}},
        {"Nodes", {bo_msh2_nodes, bo_msh4_nodes}},
        {"Elements", {bo_msh2_elements, bo_msh4_elements}},
    };
    if (bo_word_is(name, length, "PartitionedEntities"))
        bo_warn(m->b->ctx, "%s: is partitioned; the physical groups of the partitions are left out", m->s->path);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        section_reader read = sections[i].read[m->version == 4];
        if (read && bo_word_is(name, length, sections[i].name))
            return read(m);
    }
    if (!is_passed_over(name, length))
        bo_scan_unknown(m->s, name, length);
    return skip_section(m, name, length);
}

static bough_status check_first_section(bo_msh *m, const char *name, size_t length) {
    if (bo_word_is(name, length, "MeshFormat") || bo_word_is(name, length, "Comments"))
        return BOUGH_OK;
    if (bo_word_is(name, length, "NOD")) {
        bo_scan_fail(m->s, "version 1 of Gmsh's format is not supported; save the file as 4.1 or 2.2");
        return BOUGH_ERROR_UNSUPPORTED;
    }
    return bo_scan_fail(m->s, "is not a Gmsh file: $MeshFormat must be the first section");
}

static bough_status read_sections(bo_msh *m) {
    bo_scanner *s = m->s;
    while (bo_scan_skip(s)) {
        const char *text;
        size_t length;
        int64_t line = s->line;
        if (s->data[s->at] != '$')
            return bo_scan_fail(s, m->version ? "expected a section ($Name) or the end of the file"
                                              : "is not a Gmsh file: it does not begin with $MeshFormat");
        bo_scan_line(s, &text, &length);
        if (length - 1 > SECTION_NAME_LIMIT)
            return bo_scan_fail(s, "the name of a section is %zu characters long", length - 1);
        if (!m->version)
            BO_TRY(check_first_section(m, text + 1, length - 1));
        BO_TRY(read_section(m, text + 1, length - 1));
        char end[SECTION_NAME_LIMIT + 8];
        snprintf(end, sizeof end, "$End%.*s", (int)length - 1, text + 1);
        if (!bo_scan_accept(s, end))
            return bo_scan_fail(s, "%s is missing where section $%.*s of line %lld should end by its own counts", end,
                                (int)length - 1, text + 1, (long long)line);
    }
    if (!m->version)
        return bo_scan_fail(s, "is not a Gmsh file: it is empty");
    bo_scan_warn_unknown(s, "section");
    return BOUGH_OK;
}

bough_status bo_read_msh(bo_scanner *s, bo_builder *b) {
    bo_msh m = {.s = s, .b = b};
    bough_status status = read_sections(&m);
    if (status == BOUGH_OK)
        status = place_flats(&m);
    for (int dim = 0; dim < 4; dim++) {
        bo_idmap_free(b->ctx, &m.group_of_tag[dim]);
        bo_idmap_free(b->ctx, &m.entity_of_tag[dim]);
    }
    bo_idmap_free(b->ctx, &m.element_of_hash);
    bo_free(b->ctx, m.groups);
    bo_free(b->ctx, m.members);
    bo_free(b->ctx, m.entities);
    bo_free(b->ctx, m.flats);
    return status;
}
