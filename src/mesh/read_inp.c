/* Abaqus and CalculiX input files: nodes, elements, sets, surfaces, isotropic materials and their sections. */
#include "mesh/formats.h"
#include "mesh/inp.h"
#include "mesh/inp_sets.h"

#include <ctype.h>
#include <string.h>

#define NAME_SIZE 256 /* Abaqus and CalculiX allow 80 characters */

/* Cards may stand in any order, so the file is gone through once for each thing that others refer to. */
typedef enum phase { READ_NODES, READ_ELEMENTS, READ_SETS, READ_SECTIONS, PHASE_COUNT } phase;

/* One keyword line, taken apart. Texts are copies, since lines live only until the next one is taken. */
typedef struct card {
    char keyword[NAME_SIZE];
    char elset[NAME_SIZE], nset[NAME_SIZE], name[NAME_SIZE], material[NAME_SIZE], type[NAME_SIZE], system[NAME_SIZE];
    char input[NAME_SIZE];
    bool generate;
} card;

typedef struct inp {
    bo_cards cards;
    bo_builder *b;
    phase phase;
    card card;
    bo_facets shells;
    bo_inp_sets sets;
    int32_t material; /* of the last *MATERIAL, -1 before any */
    bool in_steps;    /* behind the first *STEP: loads and results */
} inp;

/* ---- keyword lines ---- */

static bough_status copy_text(inp *r, char *target, const char *text, size_t length) {
    bo_trim(&text, &length);
    if (length >= 2 && text[0] == '"' && text[length - 1] == '"')
        text++, length -= 2;
    if (length >= NAME_SIZE)
        return bo_scan_fail(r->cards.s, "a name is longer than %d characters", NAME_SIZE - 1);
    if (memchr(text, 0, length))
        return bo_scan_fail(r->cards.s, "a name contains a zero byte");
    memcpy(target, text, length);
    target[length] = 0;
    return BOUGH_OK;
}

static bough_status read_parameter(inp *r, const char *text, size_t length) {
    card *to = &r->card;
    const struct {
        const char *word;
        char *target;
    } parameters[] = {{"ELSET", to->elset},       {"NSET", to->nset},     {"NAME", to->name},  {"TYPE", to->type},
                      {"MATERIAL", to->material}, {"SYSTEM", to->system}, {"INPUT", to->input}};
    const char *equals = memchr(text, '=', length);
    size_t word = equals ? (size_t)(equals - text) : length;
    while (word && isspace((unsigned char)text[word - 1]))
        word--;
    if (bo_word_is_ignoring_case(text, word, "GENERATE"))
        to->generate = true;
    if (!equals)
        return BOUGH_OK;
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        if (bo_word_is_ignoring_case(text, word, parameters[i].word))
            return copy_text(r, parameters[i].target, equals + 1, (size_t)(text + length - equals) - 1);
    return BOUGH_OK;
}

/* Takes the keyword line apart; it goes on in the next line when it ends with a comma. */
static bough_status read_keyword(inp *r) {
    bo_cards *c = &r->cards;
    const char *text = "";
    size_t length = 0;
    r->card = (card){0};
    bo_cards_field(c, &text, &length);
    if (length >= NAME_SIZE)
        length = NAME_SIZE - 1; /* no keyword that Bough knows */
    memcpy(r->card.keyword, text, length);
    for (;;) {
        bool open = false, found;
        while (bo_cards_field(c, &text, &length)) {
            open = length == 0;
            if (!open)
                BO_TRY(read_parameter(r, text, length));
        }
        if (!open)
            return BOUGH_OK;
        BO_TRY(bo_cards_data(c, &found));
        if (!found)
            return BOUGH_OK;
    }
}

static bool keyword_is(const inp *r, const char *word) {
    return bo_cards_keyword_is(r->card.keyword, strlen(r->card.keyword), word);
}

static bough_status skip_data(inp *r) {
    bool found;
    do
        BO_TRY(bo_cards_data(&r->cards, &found));
    while (found);
    return BOUGH_OK;
}

/* The data lines may lie in a file of their own. */
static bough_status open_input(inp *r) {
    return r->card.input[0] ? bo_cards_include(&r->cards, r->card.input, strlen(r->card.input)) : BOUGH_OK;
}

/* ---- nodes and elements ---- */

static bough_status read_tag(inp *r, const char *what, int64_t *tag) {
    BO_TRY(bo_cards_int(&r->cards, what, tag));
    return *tag >= 0 ? BOUGH_OK : bo_scan_fail(r->cards.s, "%s is negative", what);
}

static bough_status read_nodes(inp *r) {
    bo_cards *c = &r->cards;
    int32_t set = -1;
    if (r->card.system[0] && !bo_word_is_ignoring_case(r->card.system, strlen(r->card.system), "R"))
        return bo_scan_refuse(c->s, "node coordinates must be rectangular (SYSTEM=R)");
    if (r->card.nset[0])
        BO_TRY(bo_inp_sets_named(&r->sets, BOUGH_SET_VERTEX, r->card.nset, &set));
    BO_TRY(open_input(r));
    for (;;) {
        bool found;
        BO_TRY(bo_cards_data(c, &found));
        if (!found)
            return BOUGH_OK;
        int64_t tag;
        double xyz[3] = {0}; /* what is left out is zero */
        const char *text;
        size_t length;
        BO_TRY(read_tag(r, "a node number", &tag));
        for (int d = 0; d < 3 && bo_cards_field(c, &text, &length); d++)
            if (length && !bo_parse_double(text, length, &xyz[d]))
                return bo_scan_fail_word(c->s, "a node coordinate", text, length);
        BO_TRY(bo_builder_tagged_vertex(r->b, c->s, tag, xyz));
        if (set >= 0)
            BO_TRY(bo_inp_sets_add(&r->sets, set, (int32_t)r->b->vertex_count - 1));
    }
}

typedef enum element_use { IGNORED, SHELL, VOLUME, REFUSED } element_use;

typedef struct element_kind {
    element_use use;
    int32_t node_count, corner_count; /* shells */
    bough_element_type type;          /* volumes */
} element_kind;

/* True when `name` is `prefix` followed by letters only: C3D10MH is a C3D10, C3D10 is no C3D1. */
static bool has_family(const char *name, const char *prefix) {
    size_t length = strlen(prefix);
    if (strlen(name) < length || !bo_word_is_ignoring_case(name, length, prefix))
        return false;
    return !isdigit((unsigned char)name[length]);
}

static element_kind kind_of(const char *name) {
    static const struct {
        const char *family;
        element_kind kind;
    } kinds[] = {
        {"C3D4", {VOLUME, 4, 4, BOUGH_TET4}}, {"C3D10", {VOLUME, 10, 4, BOUGH_TET10}},
        {"C3D8", {VOLUME, 8, 8, BOUGH_HEX8}}, {"S3", {SHELL, 3, 3, BOUGH_TRI3}},
        {"STRI3", {SHELL, 3, 3, BOUGH_TRI3}}, {"CPS3", {SHELL, 3, 3, BOUGH_TRI3}},
        {"CPE3", {SHELL, 3, 3, BOUGH_TRI3}},  {"M3D3", {SHELL, 3, 3, BOUGH_TRI3}},
        {"R3D3", {SHELL, 3, 3, BOUGH_TRI3}},  {"SFM3D3", {SHELL, 3, 3, BOUGH_TRI3}},
        {"S6", {SHELL, 6, 3, BOUGH_TRI3}},    {"STRI65", {SHELL, 6, 3, BOUGH_TRI3}},
        {"CPS6", {SHELL, 6, 3, BOUGH_TRI3}},  {"CPE6", {SHELL, 6, 3, BOUGH_TRI3}},
        {"M3D6", {SHELL, 6, 3, BOUGH_TRI3}},  {"SFM3D6", {SHELL, 6, 3, BOUGH_TRI3}},
        {"S4", {SHELL, 4, 4, BOUGH_TRI3}},    {"CPS4", {SHELL, 4, 4, BOUGH_TRI3}},
        {"CPE4", {SHELL, 4, 4, BOUGH_TRI3}},  {"M3D4", {SHELL, 4, 4, BOUGH_TRI3}},
        {"R3D4", {SHELL, 4, 4, BOUGH_TRI3}},  {"SFM3D4", {SHELL, 4, 4, BOUGH_TRI3}},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (has_family(name, kinds[i].family))
            return kinds[i].kind;
    bool solid = strlen(name) >= 3 && bo_word_is_ignoring_case(name, 3, "C3D");
    return (element_kind){.use = solid ? REFUSED : IGNORED};
}

/* Node numbers run over as many lines as they need. */
static bough_status read_element_nodes(inp *r, int32_t count, int32_t *nodes) {
    bo_cards *c = &r->cards;
    for (int32_t i = 0; i < count;) {
        const char *text;
        size_t length;
        int64_t tag;
        bool found;
        if (!bo_cards_field(c, &text, &length)) {
            BO_TRY(bo_cards_data(c, &found));
            if (!found)
                return bo_scan_fail(c->s, "the element has %d nodes, not %d", i, count);
        } else if (length) {
            if (!bo_parse_int(text, length, &tag))
                return bo_scan_fail_word(c->s, "a node number", text, length);
            BO_TRY(bo_builder_find_vertex(r->b, c->s, tag, &nodes[i++]));
        }
    }
    return BOUGH_OK;
}

/* An element of a kind that Bough does not use: only its number is kept, so that sets may name it. */
static bough_status skip_element(inp *r, int64_t tag) {
    bo_cards *c = &r->cards;
    int32_t known;
    BO_TRY(bo_idmap_add(c->ctx, &r->sets.ignored_tags, tag, 0, &known));
    bool found = true;
    while (found && c->text[c->length - 1] == ',')
        BO_TRY(bo_cards_data(c, &found));
    return BOUGH_OK;
}

static bough_status check_new(inp *r, int64_t tag) {
    if (bo_idmap_find(&r->b->element_of_tag, tag) >= 0 || bo_idmap_find(&r->sets.shell_of_tag, tag) >= 0)
        return bo_scan_fail(r->cards.s, "element %lld is defined twice", (long long)tag);
    return BOUGH_OK;
}

static bough_status read_element(inp *r, const element_kind *kind, int32_t set) {
    bo_cards *c = &r->cards;
    int64_t tag;
    int32_t nodes[BO_MAX_NODES], known, item;
    BO_TRY(read_tag(r, "an element number", &tag));
    if (kind->use == IGNORED)
        return skip_element(r, tag);
    BO_TRY(check_new(r, tag));
    BO_TRY(read_element_nodes(r, kind->node_count, nodes));
    const char *text;
    size_t length;
    while (bo_cards_field(c, &text, &length))
        if (length)
            return bo_scan_fail(c->s, "the element has more than %d nodes", kind->node_count);
    if (kind->use == SHELL) {
        item = -1 - (int32_t)r->shells.count;
        BO_TRY(bo_facets_add(&r->shells, c->s, nodes, kind->corner_count, 0));
        BO_TRY(bo_idmap_add(c->ctx, &r->sets.shell_of_tag, tag, -1 - item, &known));
    } else {
        item = (int32_t)r->b->element_count;
        BO_TRY(bo_builder_tagged_element(r->b, c->s, tag, kind->type, nodes));
    }
    return set >= 0 ? bo_inp_sets_add(&r->sets, set, item) : BOUGH_OK;
}

static bool is_all(const char *elset) {
    return bo_word_is_ignoring_case(elset, strlen(elset), BO_INP_ALL);
}

static bough_status read_elements(inp *r) {
    bo_cards *c = &r->cards;
    element_kind kind = kind_of(r->card.type);
    int32_t set = -1;
    if (!r->card.type[0])
        return bo_scan_fail(c->s, "*ELEMENT needs a TYPE");
    if (kind.use == REFUSED)
        return bo_scan_refuse(c->s, "elements of type %.32s are not supported (C3D4, C3D10 and C3D8 are)",
                              r->card.type);
    if (kind.use == IGNORED)
        bo_warn(c->ctx, "%s:%lld: elements of type %.32s are ignored", c->s->path, (long long)c->s->line, r->card.type);
    if (r->card.elset[0] && !is_all(r->card.elset))
        BO_TRY(bo_inp_sets_named(&r->sets, BOUGH_SET_ELEMENT, r->card.elset, &set));
    BO_TRY(open_input(r));
    for (;;) {
        bool found;
        BO_TRY(bo_cards_data(c, &found));
        if (!found)
            return BOUGH_OK;
        BO_TRY(read_element(r, &kind, set));
    }
}

/* ---- sets, surfaces, materials, sections ---- */

static bough_status read_set(inp *r, bough_set_kind kind, const char *name) {
    int32_t set;
    if (!name[0])
        return bo_scan_fail(r->cards.s, "the set has no name");
    BO_TRY(bo_inp_sets_named(&r->sets, kind, name, &set));
    BO_TRY(open_input(r));
    return r->card.generate ? bo_inp_sets_read_ranges(&r->sets, set) : bo_inp_sets_read_list(&r->sets, set);
}

static bough_status read_surface(inp *r) {
    const char *type = r->card.type;
    if (type[0] && !bo_word_is_ignoring_case(type, strlen(type), "ELEMENT"))
        return skip_data(r);
    if (!r->card.name[0])
        return bo_scan_fail(r->cards.s, "*SURFACE needs a NAME");
    int32_t set = -1;
    for (size_t i = 0; i < r->b->set_count; i++)
        if (r->b->sets[i].kind == BOUGH_SET_FACE && bo_equal_ignoring_case(r->b->sets[i].name, r->card.name))
            set = (int32_t)i;
    if (set < 0)
        BO_TRY(bo_builder_set_named(r->b, BOUGH_SET_FACE, r->card.name, strlen(r->card.name), &set));
    return bo_inp_sets_read_surface(&r->sets, set);
}

static int32_t find_material(const bo_builder *b, const char *name) {
    for (size_t i = 0; i < b->material_count; i++)
        if (bo_equal_ignoring_case(b->materials[i].name, name))
            return (int32_t)i;
    return -1;
}

static bough_status read_material(inp *r) {
    if (!r->card.name[0])
        return bo_scan_fail(r->cards.s, "*MATERIAL needs a NAME");
    r->material = find_material(r->b, r->card.name);
    if (r->material < 0)
        BO_TRY(bo_builder_material(r->b, r->card.name, strlen(r->card.name), &r->material));
    return skip_data(r);
}

/* First data line of a property of the current material. */
static bough_status begin_property(inp *r) {
    bool found;
    if (r->material < 0)
        return bo_scan_fail(r->cards.s, "%.32s stands before any *MATERIAL", r->card.keyword);
    BO_TRY(bo_cards_data(&r->cards, &found));
    return found ? BOUGH_OK : bo_scan_fail(r->cards.s, "%.32s has no data line", r->card.keyword);
}

static bough_status read_elastic(inp *r) {
    bo_cards *c = &r->cards;
    const char *type = r->card.type;
    if (type[0] && !bo_word_is_ignoring_case(type, strlen(type), "ISOTROPIC") &&
        !bo_word_is_ignoring_case(type, strlen(type), "ISO")) {
        bo_warn(c->ctx, "%s:%lld: only isotropic elasticity is read; the constants of this material stay unknown",
                c->s->path, (long long)c->s->line);
        return skip_data(r);
    }
    double young, poisson;
    BO_TRY(begin_property(r));
    BO_TRY(bo_cards_double(c, "Young's modulus", &young));
    BO_TRY(bo_cards_double(c, "Poisson's ratio", &poisson));
    if (!(young > 0) || !(poisson > -1 && poisson < 0.5))
        return bo_scan_fail(c->s, "E = %g, nu = %g is no stable material (E > 0, -1 < nu < 0.5)", young, poisson);
    r->b->materials[r->material].young = young;
    r->b->materials[r->material].poisson = poisson;
    return skip_data(r); /* constants at other temperatures */
}

static bough_status read_density(inp *r) {
    double density;
    BO_TRY(begin_property(r));
    BO_TRY(bo_cards_double(&r->cards, "the density", &density));
    if (density < 0)
        return bo_scan_fail(r->cards.s, "the density is negative");
    r->b->materials[r->material].density = density;
    return skip_data(r);
}

static bough_status read_section(inp *r) {
    bo_cards *c = &r->cards;
    int32_t material = find_material(r->b, r->card.material);
    if (material < 0)
        return bo_scan_fail(c->s, "material \"%.80s\" is not defined", r->card.material);
    if (is_all(r->card.elset)) {
        BO_TRY(bo_builder_region(r->b, "", 0, material));
        return skip_data(r);
    }
    int32_t set = bo_inp_sets_find(&r->sets, BOUGH_SET_ELEMENT, r->card.elset, strlen(r->card.elset));
    if (set < 0)
        return bo_scan_fail(c->s, "element set \"%.80s\" is not defined", r->card.elset);
    const bo_inp_set *elset = &r->sets.sets[set];
    bool useful = false; /* a section of shells or springs says nothing about the volume */
    for (size_t i = 0; i < elset->count && !useful; i++)
        useful = elset->items[i] >= 0 || r->b->element_count == 0;
    if (useful)
        BO_TRY(bo_builder_region(r->b, elset->name, strlen(elset->name), material));
    return skip_data(r);
}

static bough_status check_instance(inp *r) {
    bool found;
    BO_TRY(bo_cards_data(&r->cards, &found));
    if (found)
        return bo_scan_refuse(r->cards.s, "instances that are moved or turned are not supported");
    return BOUGH_OK;
}

/* True for keywords that are passed over: those before the first *STEP that say nothing about nodes and elements, but
 * what a simulation needs besides its mesh, and remarks. Keywords that make nodes and elements from others (*NGEN,
 * *NFILL, *ELGEN) are not among them, nor is *SYSTEM, which moves nodes: a mesh without their effect is another
 * mesh. */
static bool is_passed_over(const inp *r) {
    static const char *const known[] = {"HEADING",
                                        "PREPRINT",
                                        "PART",
                                        "ENDPART",
                                        "ASSEMBLY",
                                        "ENDASSEMBLY",
                                        "ENDINSTANCE",
                                        "RESTART",
                                        "AMPLITUDE",
                                        "BOUNDARY",
                                        "INITIALCONDITIONS",
                                        "SURFACEINTERACTION",
                                        "SURFACEBEHAVIOR",
                                        "FRICTION",
                                        "CONTACTPAIR",
                                        "CONTACT",
                                        "EQUATION",
                                        "MPC",
                                        "TIE",
                                        "RIGIDBODY",
                                        "COUPLING",
                                        "KINEMATIC",
                                        "DISTRIBUTING",
                                        "ORIENTATION",
                                        "TRANSFORM",
                                        "DAMPING",
                                        "PLASTIC",
                                        "HYPERELASTIC",
                                        "HYPERFOAM",
                                        "EXPANSION",
                                        "CONDUCTIVITY",
                                        "SPECIFICHEAT",
                                        "CREEP",
                                        "CYCLICHARDENING",
                                        "DEPVAR",
                                        "USERMATERIAL",
                                        "MASS",
                                        "SPRING",
                                        "DASHPOT",
                                        "SHELLSECTION",
                                        "MEMBRANESECTION",
                                        "BEAMSECTION",
                                        "TIMEPOINTS",
                                        "PHYSICALCONSTANTS",
                                        "PARAMETER",
                                        "SECTIONCONTROLS",
                                        "ELEMENTOUTPUT",
                                        "NODEOUTPUT"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (keyword_is(r, known[i]))
            return true;
    return false;
}

/* Looks at each keyword once, in the first passage. */
static void note_unknown(inp *r) {
    static const char *const read[] = {"NODE",     "ELEMENT", "NSET",    "ELSET",        "SURFACE",
                                       "MATERIAL", "ELASTIC", "DENSITY", "SOLIDSECTION", "INSTANCE"};
    r->in_steps = r->in_steps || keyword_is(r, "STEP");
    bool known = r->in_steps || r->phase != READ_NODES || is_passed_over(r);
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        known = known || keyword_is(r, read[i]);
    if (!known)
        bo_scan_unknown(&r->cards.files[0].scanner, r->card.keyword, strlen(r->card.keyword));
}

static bough_status read_card(inp *r) {
    BO_TRY(read_keyword(r));
    note_unknown(r);
    switch (r->phase) {
    case READ_NODES:
        if (keyword_is(r, "NODE"))
            return read_nodes(r);
        if (keyword_is(r, "INSTANCE"))
            return check_instance(r);
        break;
    case READ_ELEMENTS:
        if (keyword_is(r, "ELEMENT"))
            return read_elements(r);
        break;
    case READ_SETS:
        if (keyword_is(r, "NSET"))
            return read_set(r, BOUGH_SET_VERTEX, r->card.nset);
        if (keyword_is(r, "ELSET"))
            return read_set(r, BOUGH_SET_ELEMENT, r->card.elset);
        if (keyword_is(r, "SURFACE"))
            return read_surface(r);
        if (keyword_is(r, "MATERIAL"))
            return read_material(r);
        if (keyword_is(r, "ELASTIC"))
            return read_elastic(r);
        if (keyword_is(r, "DENSITY"))
            return read_density(r);
        break;
    default:
        if (keyword_is(r, "SOLIDSECTION"))
            return read_section(r);
    }
    return skip_data(r);
}

static bough_status read_all(inp *r, bo_scanner *s) {
    for (r->phase = READ_NODES; r->phase < PHASE_COUNT; r->phase++) {
        bo_cards_rewind(&r->cards);
        for (;;) {
            bool found;
            BO_TRY(bo_cards_line(&r->cards, &found));
            if (!found)
                break;
            if (!bo_cards_at_keyword(&r->cards))
                return bo_scan_fail_word(r->cards.s, "a keyword line", r->cards.text, r->cards.length);
            BO_TRY(read_card(r));
        }
    }
    bo_scan_warn_unknown(&r->cards.files[0].scanner, "keyword");
    return bo_inp_sets_finish(&r->sets, &r->shells, s);
}

bough_status bo_read_inp(bo_scanner *s, bo_builder *b) {
    inp *r = BO_NEW(s->ctx, inp);
    if (!r)
        return BOUGH_ERROR_MEMORY;
    r->b = b;
    r->material = -1;
    bo_cards_begin(&r->cards, s);
    r->cards.line_comment = "**";
    r->sets.cards = &r->cards;
    r->sets.b = b;
    bough_status status = read_all(r, s);
    bo_inp_sets_free(&r->sets);
    bo_facets_free(&r->shells, s->ctx);
    bo_cards_end(&r->cards);
    bo_free(s->ctx, r);
    return status;
}
