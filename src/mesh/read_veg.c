/* Vega FEM's text format: *VERTICES, *ELEMENTS, *MATERIAL, *SET, *REGION, *INCLUDE. */
#include "mesh/cards.h"
#include "mesh/formats.h"

#include <string.h>

/* Cards may stand in any order, so the file is gone through once for each thing that others refer to. */
typedef enum phase { READ_VERTICES, READ_ELEMENTS, READ_SETS, READ_REGIONS, PHASE_COUNT } phase;

typedef struct veg {
    bo_cards cards;
    bo_builder *b;
    phase phase;
} veg;

/* A line of whole numbers: a count, a second number, and how many extra columns each row may have. */
static bough_status read_header(veg *v, const char *what, int64_t *count, int64_t *second, int64_t *extra) {
    bo_cards *c = &v->cards;
    bool found;
    BO_TRY(bo_cards_data(c, &found));
    if (!found)
        return bo_scan_fail(c->s, "the number of %s is missing", what);
    BO_TRY(bo_cards_int(c, "a count", count));
    if (*count < 0 || *count > INT32_MAX / 32)
        return bo_scan_fail(c->s, "the number of %s is %lld, outside 0..%d", what, (long long)*count, INT32_MAX / 32);
    BO_TRY(bo_cards_int(c, "a count", second));
    *extra = 0;
    const char *text;
    size_t length;
    while (bo_cards_field(c, &text, &length)) {
        int64_t value;
        if (!bo_parse_int(text, length, &value) || value < 0 || value > 1000)
            return bo_scan_fail_word(c->s, "a small number of extra columns", text, length);
        *extra += value;
    }
    return BOUGH_OK;
}

static bough_status end_row(veg *v, int64_t extra) {
    const char *text;
    size_t length;
    int64_t seen = 0;
    while (bo_cards_field(&v->cards, &text, &length))
        seen++;
    if (seen > extra)
        return bo_scan_fail(v->cards.s, "the line has %lld numbers too many", (long long)(seen - extra));
    return BOUGH_OK;
}

static bough_status next_row(veg *v, const char *what, int64_t done, int64_t count) {
    bool found;
    BO_TRY(bo_cards_data(&v->cards, &found));
    if (!found)
        return bo_scan_fail(v->cards.s, "%lld %s are announced, but only %lld are there", (long long)count, what,
                            (long long)done);
    return BOUGH_OK;
}

static bough_status read_vertices(veg *v) {
    bo_cards *c = &v->cards;
    int64_t count, dimension, extra;
    BO_TRY(read_header(v, "vertices", &count, &dimension, &extra));
    if (dimension != 3)
        return bo_scan_fail(c->s, "vertices have %lld coordinates, not 3", (long long)dimension);
    for (int64_t i = 0; i < count; i++) {
        int64_t tag;
        double xyz[3];
        BO_TRY(next_row(v, "vertices", i, count));
        BO_TRY(bo_cards_int(c, "a vertex number", &tag));
        for (int d = 0; d < 3; d++)
            BO_TRY(bo_cards_double(c, "a vertex coordinate", &xyz[d]));
        BO_TRY(end_row(v, extra));
        BO_TRY(bo_builder_tagged_vertex(v->b, c->s, tag, xyz));
    }
    return BOUGH_OK;
}

static bough_status read_element_type(veg *v, bough_element_type *type) {
    static const char *const tets[] = {"TET", "TETS"}, *const hexes[] = {"CUBIC", "CUBE", "HEX", "HEXES", "CUBES"};
    bo_cards *c = &v->cards;
    bool found;
    const char *text = "";
    size_t length = 0;
    BO_TRY(bo_cards_data(c, &found));
    if (!found || !bo_cards_field(c, &text, &length))
        return bo_scan_fail(c->s, "the element type (TET or CUBIC) is missing");
    for (size_t i = 0; i < sizeof tets / sizeof *tets; i++)
        if (bo_word_is_ignoring_case(text, length, tets[i])) {
            *type = BOUGH_TET4;
            return BOUGH_OK;
        }
    for (size_t i = 0; i < sizeof hexes / sizeof *hexes; i++)
        if (bo_word_is_ignoring_case(text, length, hexes[i])) {
            *type = BOUGH_HEX8;
            return BOUGH_OK;
        }
    return bo_scan_fail_word(c->s, "the element type TET or CUBIC", text, length);
}

static bough_status read_elements(veg *v) {
    bo_cards *c = &v->cards;
    bough_element_type type = BOUGH_TET4;
    int64_t count, node_count, extra;
    BO_TRY(read_element_type(v, &type));
    BO_TRY(read_header(v, "elements", &count, &node_count, &extra));
    if (node_count != bough_element_node_count(type))
        return bo_scan_fail(c->s, "%s elements have %d vertices here, not %lld", bough_element_name(type),
                            bough_element_node_count(type), (long long)node_count);
    for (int64_t i = 0; i < count; i++) {
        int64_t tag, node;
        int32_t nodes[BO_MAX_NODES];
        BO_TRY(next_row(v, "elements", i, count));
        BO_TRY(bo_cards_int(c, "an element number", &tag));
        for (int64_t k = 0; k < node_count; k++) {
            BO_TRY(bo_cards_int(c, "a vertex number", &node));
            BO_TRY(bo_builder_find_vertex(v->b, c->s, node, &nodes[k]));
        }
        BO_TRY(end_row(v, extra));
        BO_TRY(bo_builder_tagged_element(v->b, c->s, tag, type, nodes));
    }
    return BOUGH_OK;
}

static bough_status read_set(veg *v, const char *name, size_t length) {
    bo_cards *c = &v->cards;
    int32_t set, element;
    BO_TRY(bo_builder_set_named(v->b, BOUGH_SET_ELEMENT, name, length, &set));
    for (;;) {
        bool found;
        BO_TRY(bo_cards_data(c, &found));
        if (!found)
            return BOUGH_OK;
        const char *text;
        while (bo_cards_field(c, &text, &length)) {
            int64_t tag;
            if (length == 0)
                continue;
            if (!bo_parse_int(text, length, &tag))
                return bo_scan_fail_word(c->s, "an element number", text, length);
            BO_TRY(bo_builder_find_element(v->b, c->s, tag, &element));
            BO_TRY(bo_builder_set_add(v->b, set, element));
        }
    }
}

static bough_status check_constants(bo_scanner *s, double young, double poisson, double density) {
    if (density < 0)
        return bo_scan_fail(s, "the density is negative");
    if (!(young > 0) || !(poisson > -1 && poisson < 0.5))
        return bo_scan_fail(s, "E = %g, nu = %g is no stable material (E > 0, -1 < nu < 0.5)", young, poisson);
    return BOUGH_OK;
}

static bough_status read_constants(veg *v, double *young, double *poisson, double *density) {
    bo_cards *c = &v->cards;
    const char *text = "";
    size_t length = 0;
    bo_cards_field(c, &text, &length);
    if (bo_word_is_ignoring_case(text, length, "ENU")) {
        BO_TRY(bo_cards_double(c, "the density", density));
        BO_TRY(bo_cards_double(c, "Young's modulus", young));
        BO_TRY(bo_cards_double(c, "Poisson's ratio", poisson));
        return end_row(v, 0);
    }
    if (bo_word_is_ignoring_case(text, length, "MOONEYRIVLIN")) {
        double mu01, mu10, v1;
        BO_TRY(bo_cards_double(c, "the density", density));
        BO_TRY(bo_cards_double(c, "mu01", &mu01));
        BO_TRY(bo_cards_double(c, "mu10", &mu10));
        BO_TRY(bo_cards_double(c, "v1", &v1));
        /* W = mu01 (I1' - 3) + mu10 (I2' - 3) + v1 (J - 1)^2 has at rest the moduli G = 2 (mu01 + mu10), K = 2 v1 */
        double G = 2 * (mu01 + mu10), K = 2 * v1;
        *young = 9 * K * G / (3 * K + G);
        *poisson = (3 * K - 2 * G) / (2 * (3 * K + G));
        bo_warn(c->ctx, "%s:%lld: the Mooney-Rivlin material is read as its small-strain constants E and nu",
                c->s->path, (long long)c->s->line);
        return end_row(v, 0);
    }
    if (length >= 11 && bo_word_is_ignoring_case(text, 11, "ORTHOTROPIC"))
        return bo_scan_refuse(c->s, "orthotropic materials are not supported; give an isotropic one (ENU)");
    return bo_scan_fail_word(c->s, "a material (ENU, density, E, nu)", text, length);
}

static bough_status read_material(veg *v, const char *name, size_t length) {
    bo_cards *c = &v->cards;
    size_t known = v->b->material_count;
    int32_t material;
    BO_TRY(bo_builder_material(v->b, name, length, &material));
    if (v->b->material_count == known)
        return bo_scan_fail(c->s, "this material is defined twice");
    bool found;
    BO_TRY(bo_cards_data(c, &found));
    if (!found)
        return bo_scan_fail(c->s, "the constants of the material are missing");
    double young, poisson, density;
    BO_TRY(read_constants(v, &young, &poisson, &density));
    BO_TRY(check_constants(c->s, young, poisson, density));
    bough_mesh_material *m = &v->b->materials[material];
    m->young = young, m->poisson = poisson, m->density = density;
    return BOUGH_OK;
}

static bool has_set(const bo_builder *b, const char *name, size_t length) {
    for (size_t i = 0; i < b->set_count; i++)
        if (bo_word_is(name, length, b->sets[i].name))
            return true;
    return false;
}

static bough_status read_regions(veg *v) {
    bo_cards *c = &v->cards;
    for (;;) {
        bool found;
        BO_TRY(bo_cards_data(c, &found));
        if (!found)
            return BOUGH_OK;
        const char *set = "", *material = "";
        size_t set_length = 0, material_length = 0;
        bo_cards_field(c, &set, &set_length);
        if (!bo_cards_field(c, &material, &material_length))
            return bo_scan_fail(c->s, "a region is written \"set, material\"");
        BO_TRY(end_row(v, 0));
        size_t known = v->b->material_count;
        int32_t index;
        BO_TRY(bo_builder_material(v->b, material, material_length, &index));
        if (v->b->material_count != known)
            return bo_scan_fail(c->s, "material \"%s\" is not defined", v->b->materials[index].name);
        if (!has_set(v->b, set, set_length)) {
            if (!bo_word_is(set, set_length, "allElements")) /* the set that is there without being defined */
                return bo_scan_fail_word(c->s, "a set of this file", set, set_length);
            set_length = 0;
        }
        BO_TRY(bo_builder_region(v->b, set, set_length, index));
    }
}

static bough_status skip_data(veg *v) {
    bool found;
    do
        BO_TRY(bo_cards_data(&v->cards, &found));
    while (found);
    return BOUGH_OK;
}

static bough_status read_card(veg *v) {
    static const struct {
        const char *keyword;
        phase phase;
        bool named;
    } kinds[] = {{"VERTICES", READ_VERTICES, false},
                 {"ELEMENTS", READ_ELEMENTS, false},
                 {"MATERIAL", READ_SETS, true},
                 {"SET", READ_SETS, true},
                 {"REGION", READ_REGIONS, false}};
    bo_cards *c = &v->cards;
    const char *keyword = "", *name = "";
    size_t length = 0, name_length = 0;
    bo_cards_field(c, &keyword, &length);
    int kind = 0;
    while (kind < 5 && !bo_cards_keyword_is(keyword, length, kinds[kind].keyword))
        kind++;
    if (kind == 5)
        return bo_scan_fail_word(c->s, "*VERTICES, *ELEMENTS, *MATERIAL, *SET, *REGION or *INCLUDE", keyword, length);
    if (kinds[kind].phase != v->phase)
        return skip_data(v);
    if (kinds[kind].named && (!bo_cards_field(c, &name, &name_length) || name_length == 0))
        return bo_scan_fail(c->s, "*%s needs a name", kinds[kind].keyword);
    switch (kind) {
    case 0:
        return read_vertices(v);
    case 1:
        return read_elements(v);
    case 2:
        return read_material(v, name, name_length);
    case 3:
        return read_set(v, name, name_length);
    default:
        return read_regions(v);
    }
}

static bough_status read_all(veg *v) {
    for (v->phase = READ_VERTICES; v->phase < PHASE_COUNT; v->phase++) {
        bo_cards_rewind(&v->cards);
        for (;;) {
            bool found;
            BO_TRY(bo_cards_line(&v->cards, &found));
            if (!found)
                break;
            BO_TRY(read_card(v));
        }
    }
    return BOUGH_OK;
}

bough_status bo_read_veg(bo_scanner *s, bo_builder *b) {
    veg *v = BO_NEW(s->ctx, veg);
    if (!v)
        return BOUGH_ERROR_MEMORY;
    v->b = b;
    bo_cards_begin(&v->cards, s);
    v->cards.comment = '#';
    v->cards.blanks_separate = true;
    bough_status status = read_all(v);
    bo_cards_end(&v->cards);
    bo_free(s->ctx, v);
    return status;
}
