/* Wavefront .obj surfaces: vertices and faces; groups (g), objects (o) and materials (usemtl) become element sets. */
#include "mesh/formats.h"
#include "mesh/polygons.h"

#include <ctype.h>

/* A face goes into all groups of its `g` line; the limit keeps a small file from asking for gigabytes. */
#define NAME_LIMIT 64

/* The sets that the next face belongs to. A set is made with its first face. */
typedef struct label {
    const char *text;
    size_t length;
    int32_t set; /* -1: not looked up yet */
} label;

typedef struct obj {
    bo_scanner *s;
    bo_builder *b;
    bo_polygons polygons;
    label object, material, groups[NAME_LIMIT];
    int32_t group_count;
} obj;

static bough_status read_vertex(obj *o) {
    double xyz[3];
    for (int d = 0; d < 3; d++) {
        if (!bo_scan_skip_blanks(o->s))
            return bo_scan_fail(o->s, "a vertex needs three coordinates");
        BO_TRY(bo_scan_double(o->s, "a vertex coordinate", &xyz[d]));
    }
    return bo_builder_vertex(o->b, o->s, xyz);
}

/* "7", "7/2", "7//3", "7/2/3"; negative numbers count backwards from the last vertex. */
static bough_status read_corner(obj *o, const char *text, size_t length) {
    size_t digits = 0;
    int64_t number;
    while (digits < length && text[digits] != '/')
        digits++;
    if (!bo_parse_int(text, digits, &number) || number == 0)
        return bo_scan_fail(o->s, "a corner of a face is not the number of a vertex (they count from 1)");
    if (number > 0)
        return bo_polygon_corner(&o->polygons, number - 1);
    if (number < -(int64_t)o->b->vertex_count)
        return bo_scan_fail(o->s, "a face names vertex %lld, but there are only %zu before it", (long long)number,
                            o->b->vertex_count);
    return bo_polygon_corner(&o->polygons, (int64_t)o->b->vertex_count + number);
}

/* The next word of the line; a line that ends with a backslash goes on. */
static bool next_word(bo_scanner *s, const char **text, size_t *length) {
    while (bo_scan_skip_blanks(s) && s->data[s->at] != '#') {
        bo_scan_word(s, text, length);
        if ((*text)[*length - 1] != '\\')
            return true;
        bo_scan_next_line(s);
        if (--*length)
            return true;
    }
    return false;
}

static bough_status join_set(obj *o, label *l, size_t begin, size_t end) {
    if (!l->length)
        return BOUGH_OK;
    if (l->set < 0)
        BO_TRY(bo_builder_set_named(o->b, BOUGH_SET_ELEMENT, l->text, l->length, &l->set));
    for (size_t e = begin; e < end; e++)
        BO_TRY(bo_builder_set_add(o->b, l->set, (int32_t)e));
    return BOUGH_OK;
}

static bough_status read_face(obj *o) {
    size_t begin = o->b->element_count, length;
    const char *text;
    while (next_word(o->s, &text, &length))
        BO_TRY(read_corner(o, text, length));
    BO_TRY(bo_polygon_end(&o->polygons));
    size_t end = o->b->element_count;
    if (begin == end)
        return BOUGH_OK;
    BO_TRY(join_set(o, &o->object, begin, end));
    BO_TRY(join_set(o, &o->material, begin, end));
    for (int32_t i = 0; i < o->group_count; i++)
        BO_TRY(join_set(o, &o->groups[i], begin, end));
    return BOUGH_OK;
}

static bough_status read_groups(obj *o) {
    o->group_count = 0;
    label l = {.set = -1};
    while (next_word(o->s, &l.text, &l.length)) {
        if (o->group_count == NAME_LIMIT)
            return bo_scan_fail(o->s, "a face is in more than %d groups", NAME_LIMIT);
        o->groups[o->group_count++] = l;
    }
    return BOUGH_OK;
}

/* The rest of the line: these names may have blanks. Leaves the line's end to the caller. */
static void read_label(bo_scanner *s, label *l) {
    *l = (label){.text = "", .set = -1};
    if (!bo_scan_skip_blanks(s))
        return;
    l->text = s->data + s->at;
    size_t end = s->at;
    while (end < s->size && s->data[end] != '\n')
        end++;
    l->length = end - s->at;
    s->at = end;
    while (l->length &&
           (l->text[l->length - 1] == ' ' || l->text[l->length - 1] == '\r' || l->text[l->length - 1] == '\t'))
        l->length--;
}

/* Normals, texture coordinates, lines, curves and display attributes: the format's records that are no part of a mesh.
 */
static bool is_passed_over(const char *word, size_t length) {
    static const char *const known[] = {
        "vn",    "vt",       "vp",       "l",     "p",          "s",         "mg",    "mtllib", "maplib", "usemap",
        "bevel", "c_interp", "d_interp", "lod",   "shadow_obj", "trace_obj", "ctech", "stech",  "cstype", "deg",
        "bmat",  "step",     "curv",     "curv2", "surf",       "parm",      "trim",  "hole",   "scrv",   "sp",
        "end",   "con",      "call",     "csh",   "cdc",        "cdp",       "bzp",   "bsp",    "res"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (bo_word_is_ignoring_case(word, length, known[i]))
            return true;
    return false;
}

/* Words of letters may be another program's own records. Anything else ("v1", a stray number) is more likely a vertex
 * or a face gone wrong, and to leave it out would shift the numbers of all that follow. */
static bough_status take_unknown(obj *o, const char *word, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!isalpha((unsigned char)word[i]) && (i == 0 || (word[i] != '_' && word[i] != '-')))
            return bo_scan_fail_word(o->s, "a record such as v or f", word, length);
    bo_scan_unknown(o->s, word, length);
    return BOUGH_OK;
}

/* A record that is left out may go on in the next lines, as all may. */
static void skip_record(bo_scanner *s) {
    const char *text;
    size_t length;
    while (next_word(s, &text, &length))
        ;
}

/* Letter case does not count: some programs write V and F. */
static bough_status read_line(obj *o, const char *word, size_t length) {
    if (bo_word_is_ignoring_case(word, length, "v"))
        return read_vertex(o);
    if (bo_word_is_ignoring_case(word, length, "f"))
        return read_face(o);
    if (bo_word_is_ignoring_case(word, length, "g"))
        return read_groups(o);
    if (bo_word_is_ignoring_case(word, length, "o")) {
        read_label(o->s, &o->object);
    } else if (bo_word_is_ignoring_case(word, length, "usemtl")) {
        read_label(o->s, &o->material);
    } else if (word[0] != '#') {
        if (!is_passed_over(word, length))
            BO_TRY(take_unknown(o, word, length));
        skip_record(o->s);
    }
    return BOUGH_OK;
}

bough_status bo_read_obj(bo_scanner *s, bo_builder *b) {
    obj o = {.s = s, .b = b, .polygons = {.s = s, .b = b}};
    const char *word;
    size_t length;
    while (bo_scan_word(s, &word, &length)) {
        BO_TRY(read_line(&o, word, length));
        bo_scan_next_line(s);
    }
    bo_polygons_end(&o.polygons);
    bo_scan_warn_unknown(s, "record");
    return BOUGH_OK;
}
