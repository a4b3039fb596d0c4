#include "mesh/generate.h"
#include "mesh/scanner.h"

#include <math.h>
#include <string.h>

#define DEPTH_LIMIT 64   /* nested parentheses */
#define PLANE_RATIO 1e-9 /* 'x=1' means within this times the bounding box's diagonal */

/* Recursive descent over
 *   either := both { '|' both }
 *   both   := atom { '&' atom }
 *   atom   := '(' either ')' | comparison | nearest: | vertex: | box: | all | NAME | "NAME"
 * A selection is one byte per vertex. A comparison is told from a set named x by the sign behind it. */
typedef struct parser {
    bough_context *ctx;
    const bough_mesh *mesh;
    const char *text; /* the whole expression */
    const char *at;
    int depth;
    double lower[3], upper[3];
    bool coordinate_used[3]; /* for the message of an empty selection */
} parser;

static bough_status fail_at(parser *p, const char *at, const char *wanted) {
    int column = (int)(at - p->text) + 1;
    return *at ? bo_fail(p->ctx, BOUGH_ERROR_ARGUMENT, "selection \"%.200s\": column %d: expected %s, found \"%.40s\"",
                         p->text, column, wanted, at)
               : bo_fail(p->ctx, BOUGH_ERROR_ARGUMENT, "selection \"%.200s\": expected %s at the end", p->text, wanted);
}

static void skip_blanks(parser *p) {
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')
        p->at++;
}

static bool accept(parser *p, const char *word) {
    skip_blanks(p);
    size_t length = strlen(word);
    if (strncmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

static bough_status take_number(parser *p, double *value) {
    skip_blanks(p);
    size_t length = strspn(p->at, "0123456789+-.eEdD");
    if (!bo_parse_double(p->at, length, value) || !isfinite(*value))
        return fail_at(p, p->at, "a number");
    p->at += length;
    return BOUGH_OK;
}

static bough_status take_numbers(parser *p, double *values, int count) {
    for (int i = 0; i < count; i++) {
        if (i > 0 && !accept(p, ","))
            return fail_at(p, p->at, "a comma");
        BO_TRY(take_number(p, &values[i]));
    }
    return BOUGH_OK;
}

static void find_bounds(parser *p) {
    for (int d = 0; d < 3; d++)
        p->lower[d] = INFINITY, p->upper[d] = -INFINITY;
    for (size_t i = 0; i < 3 * (size_t)p->mesh->vertex_count; i++) {
        p->lower[i % 3] = fmin(p->lower[i % 3], p->mesh->vertices[i]);
        p->upper[i % 3] = fmax(p->upper[i % 3], p->mesh->vertices[i]);
    }
}

static double diagonal(const parser *p) {
    return hypot(hypot(p->upper[0] - p->lower[0], p->upper[1] - p->lower[1]), p->upper[2] - p->lower[2]);
}

/* Points p->at behind the sign when the text is a coordinate with a comparison; else nothing moves. */
static bool accept_comparison(parser *p, int *axis, char *sign, bool *or_equal) {
    const char *start = p->at;
    if (*p->at < 'x' || *p->at > 'z')
        return false;
    *axis = *p->at++ - 'x';
    skip_blanks(p);
    if (*p->at != '<' && *p->at != '>' && *p->at != '=') {
        p->at = start;
        return false;
    }
    *sign = *p->at++;
    *or_equal = *p->at == '=';
    p->at += *or_equal;
    return true;
}

static bough_status select_comparison(parser *p, int axis, char sign, bool or_equal, uint8_t *chosen) {
    double bound, band = PLANE_RATIO * diagonal(p);
    BO_TRY(take_number(p, &bound));
    p->coordinate_used[axis] = true;
    for (int32_t v = 0; v < p->mesh->vertex_count; v++) {
        double x = p->mesh->vertices[3 * (size_t)v + (size_t)axis];
        bool on_plane = fabs(x - bound) <= band;
        chosen[v] = sign == '=' || (or_equal && on_plane) ? on_plane : sign == '<' ? x < bound : x > bound;
    }
    return BOUGH_OK;
}

static bough_status select_nearest(parser *p, uint8_t *chosen) {
    double point[3], best = INFINITY;
    int32_t nearest = -1;
    BO_TRY(take_numbers(p, point, 3));
    for (int32_t v = 0; v < p->mesh->vertex_count; v++) {
        const double *x = p->mesh->vertices + 3 * (size_t)v;
        double distance = hypot(hypot(x[0] - point[0], x[1] - point[1]), x[2] - point[2]);
        if (distance < best)
            best = distance, nearest = v;
    }
    if (nearest >= 0)
        chosen[nearest] = 1;
    return BOUGH_OK;
}

static bough_status select_vertex(parser *p, uint8_t *chosen) {
    const char *start = p->at;
    int64_t vertex;
    size_t length = strspn(p->at, "+-0123456789");
    if (!bo_parse_int(p->at, length, &vertex))
        return fail_at(p, start, "a vertex number");
    if (vertex < 0 || vertex >= p->mesh->vertex_count)
        return bo_fail(p->ctx, BOUGH_ERROR_ARGUMENT,
                       "selection \"%.200s\": column %d: vertex %lld does not exist; there are %d, counted from 0",
                       p->text, (int)(start - p->text) + 1, (long long)vertex, p->mesh->vertex_count);
    p->at += length;
    chosen[vertex] = 1;
    return BOUGH_OK;
}

static bough_status select_box(parser *p, uint8_t *chosen) {
    double b[6];
    BO_TRY(take_numbers(p, b, 6));
    double band = PLANE_RATIO * diagonal(p);
    for (int32_t v = 0; v < p->mesh->vertex_count; v++) {
        const double *x = p->mesh->vertices + 3 * (size_t)v;
        bool inside = true;
        for (int d = 0; d < 3; d++)
            inside = inside && x[d] >= b[d] - band && x[d] <= b[3 + d] + band;
        chosen[v] = inside;
    }
    for (int d = 0; d < 3; d++)
        p->coordinate_used[d] = true;
    return BOUGH_OK;
}

static void mark_set(const bough_mesh *mesh, const bough_set *set, uint8_t *chosen) {
    const bo_element_info *info = bo_element_info_of(mesh->type);
    for (int32_t i = 0; i < set->count; i++) {
        int32_t item = set->items[i], local[6];
        if (set->kind == BOUGH_SET_VERTEX) {
            chosen[item] = 1;
        } else if (set->kind == BOUGH_SET_ELEMENT) {
            for (int32_t c = 0; c < info->node_count; c++)
                chosen[bo_mesh_nodes(mesh, item)[c]] = 1;
        } else {
            int32_t count = bo_element_face_nodes(mesh->type, item % info->face_count, local);
            for (int32_t c = 0; c < count; c++)
                chosen[bo_mesh_nodes(mesh, item / info->face_count)[local[c]]] = 1;
        }
    }
}

static const bough_set *find_set(const bough_mesh *mesh, const char *name, size_t length) {
    static const bough_set_kind order[] = {BOUGH_SET_VERTEX, BOUGH_SET_FACE, BOUGH_SET_ELEMENT};
    for (int k = 0; k < 3; k++) {
        int32_t index = bo_mesh_set_index(mesh, order[k], name, length);
        if (index >= 0)
            return &mesh->sets[index];
    }
    return NULL;
}

/* "a, b, c" as far as it fits; names that are sets of several kinds once. */
static void list_sets(const bough_mesh *mesh, char *out, size_t size) {
    size_t used = 0;
    out[0] = 0;
    for (int32_t i = 0; i < mesh->set_count; i++) {
        const char *name = mesh->sets[i].name;
        bool repeated = false;
        for (int32_t j = 0; j < i && !repeated; j++)
            repeated = strcmp(mesh->sets[j].name, name) == 0;
        if (repeated)
            continue;
        if (used + strlen(name) + 8 > size) {
            memcpy(out + used, ", ...", 6);
            return;
        }
        used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", name);
    }
}

static bough_status fail_unknown(parser *p, const char *name, size_t length) {
    char list[400], word[64];
    snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), name);
    if (p->mesh->set_count == 0)
        return bo_fail(p->ctx, BOUGH_ERROR_ARGUMENT,
                       "selection \"%.200s\": there is no set \"%s\"; the mesh has no sets, but coordinates such as "
                       "x<0.1 work",
                       p->text, word);
    const char **names = BO_NEW_ARRAY(p->ctx, const char *, p->mesh->set_count);
    if (!names)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < p->mesh->set_count; i++)
        names[i] = p->mesh->sets[i].name;
    const char *near = bo_nearest_word(word, names, p->mesh->set_count);
    bo_free(p->ctx, names);
    list_sets(p->mesh, list, sizeof list);
    return bo_fail(p->ctx, BOUGH_ERROR_ARGUMENT, "selection \"%.200s\": there is no set \"%s\"%s%s%s (sets: %s)",
                   p->text, word, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "", list);
}

#define NAME_ENDS " \t\r\n&|()<>=\""

/* Set names may hold ':' and so look like one of the special words: known sets come first. */
static bool accept_set(parser *p, uint8_t *chosen) {
    skip_blanks(p);
    size_t length = strcspn(p->at, NAME_ENDS);
    const bough_set *set = find_set(p->mesh, p->at, length);
    if (!set)
        return false;
    mark_set(p->mesh, set, chosen);
    p->at += length;
    return true;
}

static bough_status select_name(parser *p, uint8_t *chosen) {
    bool quoted = *p->at == '"';
    const char *name = p->at + quoted;
    size_t length = strcspn(name, quoted ? "\"" : NAME_ENDS);
    if (quoted && name[length] != '"')
        return fail_at(p, name + length, "a closing quote");
    if (length == 0)
        return fail_at(p, p->at, "a set, a comparison such as x<0.1, or a parenthesis");
    const bough_set *set = find_set(p->mesh, name, length);
    if (set)
        mark_set(p->mesh, set, chosen);
    else if (!quoted && bo_word_is(name, length, "all"))
        memset(chosen, 1, (size_t)p->mesh->vertex_count);
    else
        return fail_unknown(p, name, length);
    p->at = name + length + quoted;
    return BOUGH_OK;
}

static bough_status select_either(parser *p, uint8_t *chosen);

static bough_status select_atom(parser *p, uint8_t *chosen) {
    int axis;
    char sign;
    bool or_equal;
    memset(chosen, 0, (size_t)p->mesh->vertex_count);
    if (accept(p, "(")) {
        if (p->depth == DEPTH_LIMIT)
            return bo_fail(p->ctx, BOUGH_ERROR_ARGUMENT,
                           "selection \"%.40s...\": parentheses are nested deeper than %d", p->text, DEPTH_LIMIT);
        p->depth++;
        BO_TRY(select_either(p, chosen));
        p->depth--;
        return accept(p, ")") ? BOUGH_OK : fail_at(p, p->at, "'&', '|' or a closing parenthesis");
    }
    if (accept_comparison(p, &axis, &sign, &or_equal))
        return select_comparison(p, axis, sign, or_equal, chosen);
    if (accept_set(p, chosen))
        return BOUGH_OK;
    if (accept(p, "nearest:"))
        return select_nearest(p, chosen);
    if (accept(p, "vertex:"))
        return select_vertex(p, chosen);
    if (accept(p, "box:"))
        return select_box(p, chosen);
    return select_name(p, chosen);
}

typedef bough_status (*operand)(parser *, uint8_t *);

/* chosen = first { sign next } */
static bough_status select_chain(parser *p, operand select_operand, const char *sign, uint8_t *chosen) {
    BO_TRY(select_operand(p, chosen));
    uint8_t *next = NULL;
    bough_status status = BOUGH_OK;
    while (status == BOUGH_OK && accept(p, sign)) {
        if (!next && !(next = BO_NEW_ARRAY(p->ctx, uint8_t, p->mesh->vertex_count)))
            return BOUGH_ERROR_MEMORY;
        status = select_operand(p, next);
        for (int32_t v = 0; v < p->mesh->vertex_count && status == BOUGH_OK; v++)
            chosen[v] = (uint8_t)(*sign == '&' ? chosen[v] & next[v] : chosen[v] | next[v]);
    }
    bo_free(p->ctx, next);
    return status;
}

static bough_status select_both(parser *p, uint8_t *chosen) {
    return select_chain(p, select_atom, "&", chosen);
}

static bough_status select_either(parser *p, uint8_t *chosen) {
    return select_chain(p, select_both, "|", chosen);
}

static bough_status fail_empty(const parser *p) {
    char ranges[200] = "";
    for (int d = 0; d < 3; d++)
        if (p->coordinate_used[d] && p->mesh->vertex_count) {
            size_t used = strlen(ranges);
            snprintf(ranges + used, sizeof ranges - used, "%s%c ranges from %g to %g", used ? ", " : "; ", 'x' + d,
                     p->lower[d], p->upper[d]);
        }
    return bo_fail(p->ctx, BOUGH_ERROR_ARGUMENT, "selection \"%.200s\" contains no vertex%s", p->text, ranges);
}

static bough_status evaluate(parser *p, uint8_t *chosen) {
    /* A set's name wins over the grammar, so that names from files with blanks or signs in them can be used. */
    const bough_set *set = find_set(p->mesh, p->text, strlen(p->text));
    if (set) {
        memset(chosen, 0, (size_t)p->mesh->vertex_count);
        mark_set(p->mesh, set, chosen);
        return BOUGH_OK;
    }
    BO_TRY(select_either(p, chosen));
    skip_blanks(p);
    return *p->at ? fail_at(p, p->at, "'&', '|' or the end") : BOUGH_OK;
}

static bough_status collect(const parser *p, const uint8_t *chosen, int32_t **vertices, int32_t *count) {
    int32_t found = 0;
    for (int32_t v = 0; v < p->mesh->vertex_count; v++)
        found += chosen[v];
    if (found == 0)
        return fail_empty(p);
    *vertices = BO_NEW_ARRAY(p->ctx, int32_t, found);
    if (!*vertices)
        return BOUGH_ERROR_MEMORY;
    for (int32_t v = 0; v < p->mesh->vertex_count; v++)
        if (chosen[v])
            (*vertices)[(*count)++] = v;
    return BOUGH_OK;
}

bough_status bough_mesh_select(bough_context *ctx, const bough_mesh *mesh, const char *expression, int32_t **vertices,
                               int32_t *count) {
    *vertices = NULL;
    *count = 0;
    parser p = {.ctx = ctx, .mesh = mesh, .text = expression, .at = expression};
    find_bounds(&p);
    uint8_t *chosen = BO_NEW_ARRAY(ctx, uint8_t, mesh->vertex_count);
    if (!chosen)
        return BOUGH_ERROR_MEMORY;
    bough_status status = evaluate(&p, chosen);
    if (status == BOUGH_OK)
        status = collect(&p, chosen, vertices, count);
    bo_free(ctx, chosen);
    return status;
}
