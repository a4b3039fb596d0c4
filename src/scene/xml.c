#include "scene/xml.h"

#include "mesh/scanner.h"
#include "scene/json.h"

#include <string.h>

#define SIZE_LIMIT ((size_t)64 << 20)
#define DEPTH_LIMIT 64
#define ITEM_LIMIT 4000000 /* elements, attributes: the tables stay below 350 MB */
#define WARNING_LIMIT 20
#define ATTRIBUTE_LIMIT 100 /* of one element, which are compared with each other */

/* ---- scanning ---- */

typedef struct {
    bo_xml *xml;
    char *at;
    int32_t line;
    char *line_start;
    int32_t depth;
    int32_t open[DEPTH_LIMIT];     /* elements that are not closed yet, from the root inwards */
    int32_t last[DEPTH_LIMIT + 1]; /* the last child so far of each; -1: none */
    size_t element_capacity, attribute_capacity;
} reader;

static void move_to(reader *r, char *to) {
    for (; r->at < to; r->at++)
        if (*r->at == '\n')
            r->line++, r->line_start = r->at + 1;
}

static int32_t column(const reader *r) {
    return (int32_t)(r->at - r->line_start) + 1;
}

static bough_status fail_here(const reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bough_status fail_here(const reader *r, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    bo_vfail(r->xml->ctx, BOUGH_ERROR_FORMAT, format, arguments);
    va_end(arguments);
    bo_prefix_message(r->xml->ctx, "%s:%d:%d: ", r->xml->path, r->line, column(r));
    return BOUGH_ERROR_FORMAT;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_space(reader *r) {
    char *to = r->at;
    while (is_space(*to))
        to++;
    move_to(r, to);
}

/* Everything beyond ASCII may stand in names. */
static bool may_begin_name(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' || c >= 0x80;
}

static size_t name_length(const char *p) {
    size_t n = 0;
    while (may_begin_name((unsigned char)p[n]) || (n > 0 && p[n] && strchr("0123456789-.", p[n])))
        n++;
    return n;
}

/* Up to and over `end`, which must be there. */
static bough_status skip_over(reader *r, const char *end, const char *what) {
    char *found = strstr(r->at, end);
    if (!found)
        return fail_here(r, "%s begins here that does not end; \"%s\" is missing", what, end);
    move_to(r, found + strlen(end));
    return BOUGH_OK;
}

/* ---- entities ---- */

/* UTF-8 of a character; 0 when XML has no such character. */
static int encode(unsigned long c, char out[4]) {
    if (!(c == 9 || c == 10 || c == 13 || (c >= 0x20 && c < 0xD800) || (c >= 0xE000 && c <= 0x10FFFF)) || c == 0xFFFE ||
        c == 0xFFFF)
        return 0;
    const int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (int i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)(marks[n] | c);
    return n;
}

/* The entity at p: how many bytes it takes in the file and, in *count, those that it means. 0: it is none. */
static size_t read_entity(const char *p, char out[4], int *count) {
    static const struct {
        const char *name;
        char means;
    } known[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(p, known[i].name, strlen(known[i].name)) == 0) {
            out[0] = known[i].means, *count = 1;
            return strlen(known[i].name);
        }
    if (p[1] != '#')
        return 0;
    const bool hex = p[2] == 'x';
    const char *digits = p + (hex ? 3 : 2), *q = digits;
    unsigned long c = 0;
    for (; q - digits < 8; q++) {
        const int d = *q >= '0' && *q <= '9'                        ? *q - '0'
                      : hex && (*q | 32) >= 'a' && (*q | 32) <= 'f' ? (*q | 32) - 'a' + 10
                                                                    : -1;
        if (d < 0)
            break;
        c = c * (hex ? 16 : 10) + (unsigned long)d;
    }
    *count = q > digits && *q == ';' ? encode(c, out) : 0;
    return *count ? (size_t)(q + 1 - p) : 0;
}

static bough_status fail_entity(const reader *r) {
    const char *end = r->at + 1 + strspn(r->at + 1, "#");
    const size_t length = name_length(end);
    if (*r->at == '&' && length > 0 && end[length] == ';' && end == r->at + 1)
        return fail_here(r, "entity &%.*s; is not known; XML's own are &lt; &gt; &amp; &quot; &apos; and &#NUMBER;",
                         (int)(length < 40 ? length : 40), end);
    return fail_here(r, "\"&\" begins no entity here; write &amp;");
}

/* The value between r->at and end, resolved in its place, which an entity never needs more of than it has; *length of
 * it. What is a line's end or a tabulator is a blank, as XML has it. */
static bough_status resolve(reader *r, char *end, size_t *length) {
    char *const start = r->at, *to = start;
    while (r->at < end) {
        if (*r->at == '<')
            return fail_here(r, "\"<\" in a value; write &lt;, or is a quote missing?");
        char bytes[4];
        int count = 1;
        size_t taken = 1;
        bytes[0] = is_space(*r->at) ? ' ' : *r->at;
        if (*r->at == '&' && (taken = read_entity(r->at, bytes, &count)) == 0)
            return fail_entity(r);
        move_to(r, r->at + taken); /* before its bytes go */
        memcpy(to, bytes, (size_t)count);
        to += count;
    }
    *length = (size_t)(to - start);
    return BOUGH_OK;
}

/* Text between elements. Entities must be right, but nothing is made of them. */
static bough_status skip_text(reader *r) {
    while (*r->at && *r->at != '<') {
        char bytes[4];
        int count;
        if (r->depth == 0 && !is_space(*r->at))
            return fail_here(r, "text outside of all elements");
        if (*r->at == '&' && read_entity(r->at, bytes, &count) == 0)
            return fail_entity(r);
        move_to(r, r->at + 1);
    }
    return BOUGH_OK;
}

/* ---- elements ---- */

/* Names and values are followed by something that is not part of them, which is read already when they are ended. */
typedef struct {
    char *text;
    size_t length;
} piece;

static bough_status read_name(reader *r, const char *what, piece *name) {
    *name = (piece){r->at, name_length(r->at)};
    if (name->length == 0)
        return fail_here(r, "the name of %s should stand here", what);
    move_to(r, r->at + name->length);
    return BOUGH_OK;
}

static bough_status read_attribute(reader *r, bo_xml_element *element) {
    bo_xml *xml = r->xml;
    bo_xml_attribute a = {.line = r->line, .column = column(r)};
    piece name, value = {0};
    BO_TRY(read_name(r, "an attribute", &name));
    char *const name_end = r->at;
    skip_space(r);
    if (*r->at != '=')
        return fail_here(r, "\"=\" and a value are missing behind %.*s", (int)(name.length < 60 ? name.length : 60),
                         name.text);
    move_to(r, r->at + 1);
    skip_space(r);
    const char quote = *r->at;
    if (quote != '"' && quote != '\'')
        return fail_here(r, "the value of %.*s needs quotes", (int)(name.length < 60 ? name.length : 60), name.text);
    char *end = strchr(r->at + 1, quote);
    if (!end)
        return fail_here(r, "the value that begins here does not end; a quote is missing");
    move_to(r, r->at + 1);
    value.text = r->at;
    BO_TRY(resolve(r, end, &value.length));
    move_to(r, end + 1);
    *name_end = 0, value.text[value.length] = 0; /* the value is shorter than its place, or ends at its quote */
    a.name = name.text, a.value = value.text;
    for (int32_t k = 0; k < element->attribute_count; k++)
        if (strcmp(xml->attributes[element->first_attribute + k].name, a.name) == 0)
            return fail_here(r, "attribute %.60s is there twice", a.name);
    if (element->attribute_count == ATTRIBUTE_LIMIT || xml->attribute_count == ITEM_LIMIT)
        return fail_here(r, "there are too many attributes");
    if (!BO_RESERVE(xml->ctx, xml->attributes, r->attribute_capacity, xml->attribute_count + 1))
        return BOUGH_ERROR_MEMORY;
    xml->attributes[xml->attribute_count++] = a;
    element->attribute_count++;
    return BOUGH_OK;
}

static bough_status add_element(reader *r, bo_xml_element *element) {
    bo_xml *xml = r->xml;
    if (r->depth == 0 && xml->element_count > 0)
        return fail_here(r, "a second element outside of all others; XML has one");
    if (xml->element_count == ITEM_LIMIT)
        return fail_here(r, "there are too many elements");
    if (!BO_RESERVE(xml->ctx, xml->elements, r->element_capacity, xml->element_count + 1))
        return BOUGH_ERROR_MEMORY;
    const int32_t me = xml->element_count++;
    if (r->depth > 0) {
        element->parent = r->open[r->depth - 1];
        int32_t *last = &r->last[r->depth - 1];
        *(*last < 0 ? &xml->elements[element->parent].first_child : &xml->elements[*last].next) = me;
        *last = me;
    }
    xml->elements[me] = *element;
    return BOUGH_OK;
}

/* At "<". */
static bough_status open_element(reader *r) {
    bo_xml_element element = {.parent = -1,
                              .first_child = -1,
                              .next = -1,
                              .first_attribute = r->xml->attribute_count,
                              .line = r->line,
                              .column = column(r)};
    if (r->depth == DEPTH_LIMIT)
        return fail_here(r, "elements are nested deeper than %d", DEPTH_LIMIT);
    move_to(r, r->at + 1);
    piece name;
    BO_TRY(read_name(r, "an element", &name));
    char *const name_end = r->at;
    for (;;) {
        char *before = r->at;
        skip_space(r);
        if (*r->at == '>' || (r->at[0] == '/' && r->at[1] == '>'))
            break;
        if (!*r->at)
            return fail_here(r, "the file ends in the middle of an element");
        if (before == r->at)
            return fail_here(r, "a blank is missing here");
        BO_TRY(read_attribute(r, &element));
    }
    const bool empty = *r->at == '/';
    move_to(r, r->at + (empty ? 2 : 1));
    *name_end = 0;
    element.name = name.text;
    BO_TRY(add_element(r, &element));
    if (!empty) {
        r->open[r->depth++] = r->xml->element_count - 1;
        r->last[r->depth - 1] = -1;
    }
    return BOUGH_OK;
}

/* At "</". */
static bough_status close_element(reader *r) {
    if (r->depth == 0)
        return fail_here(r, "an element ends here that did not begin");
    const bo_xml_element *element = &r->xml->elements[r->open[r->depth - 1]];
    const char *p = r->at + 2;
    const size_t length = name_length(p);
    if (length != strlen(element->name) || strncmp(p, element->name, length) != 0)
        return fail_here(r, "</%.*s> where <%.60s> of line %d should end", (int)(length < 60 ? length : 60), p,
                         element->name, element->line);
    move_to(r, r->at + 2 + length);
    skip_space(r);
    if (*r->at != '>')
        return fail_here(r, "\">\" is missing here");
    move_to(r, r->at + 1);
    r->depth--;
    return BOUGH_OK;
}

static bool begins(const reader *r, const char *text) {
    return strncmp(r->at, text, strlen(text)) == 0;
}

/* At "<". */
static bough_status read_markup(reader *r) {
    if (begins(r, "<!--"))
        return skip_over(r, "-->", "a comment");
    if (begins(r, "<?"))
        return skip_over(r, "?>", "a declaration");
    if (begins(r, "<![CDATA[") && r->depth > 0)
        return skip_over(r, "]]>", "a CDATA section");
    if (begins(r, "<!"))
        return fail_here(r, "document types (<!DOCTYPE, <!ENTITY) are not read; write what they stand for");
    return begins(r, "</") ? close_element(r) : open_element(r);
}

static bough_status read_all(reader *r, const char *format) {
    const bo_file *file = &r->xml->file;
    r->at = r->line_start = file->data + bo_byte_order_mark(file);
    if (strlen(file->data) != file->size)
        return bo_fail(r->xml->ctx, BOUGH_ERROR_FORMAT, "%s: is not a text in UTF-8, and %s is expected here",
                       r->xml->path, format);
    for (;;) {
        BO_TRY(skip_text(r));
        if (!*r->at)
            break;
        BO_TRY(read_markup(r));
    }
    if (r->depth > 0)
        return fail_here(r, "the file ends before <%.60s> of line %d does",
                         r->xml->elements[r->open[r->depth - 1]].name, r->xml->elements[r->open[r->depth - 1]].line);
    if (r->xml->element_count == 0)
        return fail_here(r, "there is no element; %s is expected here", format);
    return BOUGH_OK;
}

bough_status bo_xml_load(bough_context *ctx, const char *path, const char *format, bo_xml *xml) {
    *xml = (bo_xml){.ctx = ctx, .path = path};
    BO_TRY(bo_file_read_limited(ctx, path, SIZE_LIMIT, format, &xml->file));
    reader r = {.xml = xml, .at = xml->file.data, .line = 1, .line_start = xml->file.data};
    return read_all(&r, format);
}

void bo_xml_free(bo_xml *xml) {
    if (!xml->ctx)
        return;
    bo_free(xml->ctx, xml->elements);
    bo_free(xml->ctx, xml->attributes);
    bo_file_free(xml->ctx, &xml->file);
    *xml = (bo_xml){0};
}

/* ---- moving ---- */

bool bo_xml_is(const bo_xml_element *element, const char *name) {
    return strcmp(element->name, name) == 0;
}

static const bo_xml_element *find(const bo_xml *xml, int32_t i, const char *name) {
    while (i >= 0 && name && !bo_xml_is(&xml->elements[i], name))
        i = xml->elements[i].next;
    return i >= 0 ? &xml->elements[i] : NULL;
}

const bo_xml_element *bo_xml_child(const bo_xml *xml, const bo_xml_element *element, const char *name) {
    return element ? find(xml, element->first_child, name) : NULL;
}

const bo_xml_element *bo_xml_next(const bo_xml *xml, const bo_xml_element *element, const char *name) {
    return find(xml, element->next, name);
}

/* ---- complaining ---- */

static void prefix(const bo_xml *xml, const bo_xml_element *at) {
    bo_prefix_message(xml->ctx, "%s:%d:%d: <%.60s>: ", xml->path, at->line, at->column, at->name);
}

bough_status bo_xml_fail(const bo_xml *xml, const bo_xml_element *at, const char *sentence, ...) {
    va_list arguments;
    va_start(arguments, sentence);
    bo_vfail(xml->ctx, BOUGH_ERROR_FORMAT, sentence, arguments);
    va_end(arguments);
    prefix(xml, at);
    return BOUGH_ERROR_FORMAT;
}

bough_status bo_xml_refuse(const bo_xml *xml, const bo_xml_element *at, const char *sentence, ...) {
    va_list arguments;
    va_start(arguments, sentence);
    bo_vfail(xml->ctx, BOUGH_ERROR_UNSUPPORTED, sentence, arguments);
    va_end(arguments);
    prefix(xml, at);
    return BOUGH_ERROR_UNSUPPORTED;
}

void bo_xml_warn(bo_xml *xml, const bo_xml_element *at, const char *sentence, ...) {
    if (xml->warning_count++ >= WARNING_LIMIT)
        return;
    char text[400];
    va_list arguments;
    va_start(arguments, sentence);
    vsnprintf(text, sizeof text, sentence, arguments);
    va_end(arguments);
    bo_warn(xml->ctx, "%s:%d:%d: <%.60s>: %s", xml->path, at->line, at->column, at->name, text);
}

/* ---- getting ---- */

const char *bo_xml_get(const bo_xml *xml, const bo_xml_element *element, const char *name) {
    for (int32_t k = 0; element && k < element->attribute_count; k++)
        if (strcmp(xml->attributes[element->first_attribute + k].name, name) == 0)
            return xml->attributes[element->first_attribute + k].value;
    return NULL;
}

bough_status bo_xml_must(const bo_xml *xml, const bo_xml_element *element, const char *name, const char **value) {
    *value = bo_xml_get(xml, element, name);
    if (!*value || !**value)
        return bo_xml_fail(xml, element, "attribute %s is %s", name, *value ? "empty" : "missing");
    return BOUGH_OK;
}

static bool is_number(const char *text, size_t length, double *value) {
    return strspn(text, "0123456789+-.eE") >= length && bo_parse_double(text, length, value) &&
           fabs(*value) <= BO_JSON_LARGEST;
}

bough_status bo_xml_numbers(const bo_xml *xml, const bo_xml_element *element, const char *name, int count,
                            double *values) {
    const char *p = bo_xml_get(xml, element, name);
    if (!p)
        return BOUGH_OK;
    double parsed[9];
    int found = 0;
    for (p += strspn(p, " \t\n\r"); *p; found++) {
        const size_t length = strcspn(p, " \t\n\r");
        double extra;
        if (!is_number(p, length, found < count ? &parsed[found] : &extra))
            return bo_xml_fail(xml, element, "%s: \"%.*s\" is not a number up to %g", name,
                               (int)(length < 40 ? length : 40), p, BO_JSON_LARGEST);
        p += length;
        p += strspn(p, " \t\n\r");
    }
    if (found != count)
        return bo_xml_fail(xml, element, "%s must be %d number%s between blanks, not %d", name, count,
                           count == 1 ? "" : "s", found);
    memcpy(values, parsed, (size_t)count * sizeof *values);
    return BOUGH_OK;
}

bough_status bo_xml_need_numbers(const bo_xml *xml, const bo_xml_element *element, const char *name, int count,
                                 double *values) {
    const char *text;
    BO_TRY(bo_xml_must(xml, element, name, &text));
    return bo_xml_numbers(xml, element, name, count, values);
}
