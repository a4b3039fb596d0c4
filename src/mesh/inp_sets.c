#include "mesh/inp_sets.h"

#include <ctype.h>
#include <string.h>

#define SET_LIMIT 10000

void bo_inp_sets_free(bo_inp_sets *sets) {
    bough_context *ctx = sets->b->ctx;
    for (size_t i = 0; i < sets->count; i++) {
        bo_free(ctx, sets->sets[i].name);
        bo_free(ctx, sets->sets[i].items);
    }
    bo_free(ctx, sets->sets);
    bo_idmap_free(ctx, &sets->set_of_name);
    bo_idmap_free(ctx, &sets->shell_of_tag);
    bo_idmap_free(ctx, &sets->ignored_tags);
}

/* FNV-1a over the name in lower case, and the kind. */
static int64_t name_key(bough_set_kind kind, const char *name, size_t length) {
    uint64_t hash = 0xcbf29ce484222325u + (uint64_t)kind;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint64_t)tolower((unsigned char)name[i])) * 0x100000001b3u;
    return (int64_t)hash;
}

static bool is_set(const bo_inp_set *set, bough_set_kind kind, const char *name, size_t length) {
    return set->kind == kind && bo_word_is_ignoring_case(name, length, set->name);
}

int32_t bo_inp_sets_find(const bo_inp_sets *sets, bough_set_kind kind, const char *name, size_t length) {
    int32_t index = bo_idmap_find(&sets->set_of_name, name_key(kind, name, length));
    if (index < 0 || is_set(&sets->sets[index], kind, name, length))
        return index;
    for (size_t i = 0; i < sets->count; i++) /* two names with one hash */
        if (is_set(&sets->sets[i], kind, name, length))
            return (int32_t)i;
    return -1;
}

bough_status bo_inp_sets_named(bo_inp_sets *sets, bough_set_kind kind, const char *name, int32_t *set) {
    bough_context *ctx = sets->b->ctx;
    size_t length = strlen(name);
    *set = bo_inp_sets_find(sets, kind, name, length);
    if (*set >= 0)
        return BOUGH_OK;
    if (sets->count >= SET_LIMIT)
        return bo_scan_fail(sets->cards->s, "more than %d sets", SET_LIMIT);
    if (!BO_RESERVE(ctx, sets->sets, sets->capacity, sets->count + 1))
        return BOUGH_ERROR_MEMORY;
    char *copy = bo_strdup(ctx, name);
    if (!copy)
        return BOUGH_ERROR_MEMORY;
    int32_t known;
    *set = (int32_t)sets->count++;
    sets->sets[*set] = (bo_inp_set){.name = copy, .kind = kind};
    return bo_idmap_add(ctx, &sets->set_of_name, name_key(kind, name, length), *set, &known);
}

/* Ranges and sets of sets make much out of few bytes: this much more than the file itself holds is no honest file. */
static bough_status count_item(bo_inp_sets *sets) {
    if (++sets->item_count > 8 * sets->cards->byte_count + 100000)
        return bo_scan_fail(sets->cards->s, "the sets have more than %zu entries, far too many for a file of this size",
                            sets->item_count - 1);
    return BOUGH_OK;
}

bough_status bo_inp_sets_add(bo_inp_sets *sets, int32_t index, int32_t item) {
    bo_inp_set *set = &sets->sets[index];
    BO_TRY(count_item(sets));
    if (!BO_RESERVE(sets->b->ctx, set->items, set->capacity, set->count + 1))
        return BOUGH_ERROR_MEMORY;
    set->items[set->count++] = item;
    return BOUGH_OK;
}

static bough_status add_tag(bo_inp_sets *sets, int32_t set, int64_t tag) {
    bo_scanner *s = sets->cards->s;
    int32_t item;
    if (sets->sets[set].kind == BOUGH_SET_VERTEX) {
        BO_TRY(bo_builder_find_vertex(sets->b, s, tag, &item));
        return bo_inp_sets_add(sets, set, item);
    }
    int32_t shell = bo_idmap_find(&sets->shell_of_tag, tag);
    if (shell >= 0)
        return bo_inp_sets_add(sets, set, -1 - shell);
    if (bo_idmap_find(&sets->ignored_tags, tag) >= 0)
        return BOUGH_OK;
    BO_TRY(bo_builder_find_element(sets->b, s, tag, &item));
    return bo_inp_sets_add(sets, set, item);
}

/* Finds a set by its name, which may be written "INSTANCE.NAME". */
static bough_status find_named(bo_inp_sets *sets, bough_set_kind kind, const char *text, size_t length, int32_t *set) {
    if (length >= 2 && text[0] == '"' && text[length - 1] == '"')
        text++, length -= 2;
    *set = bo_inp_sets_find(sets, kind, text, length);
    for (size_t i = length; *set < 0 && i > 0; i--)
        if (text[i - 1] == '.') {
            *set = bo_inp_sets_find(sets, kind, text + i, length - i);
            break;
        }
    if (*set >= 0)
        return BOUGH_OK;
    return bo_scan_fail_word(sets->cards->s,
                             kind == BOUGH_SET_VERTEX ? "a node or a node set" : "an element or an element set", text,
                             length);
}

static bough_status add_named(bo_inp_sets *sets, int32_t set, const char *text, size_t length) {
    int32_t other;
    BO_TRY(find_named(sets, sets->sets[set].kind, text, length, &other));
    size_t count = sets->sets[other].count; /* fixed: a set may name itself */
    for (size_t i = 0; i < count && other != set; i++)
        BO_TRY(bo_inp_sets_add(sets, set, sets->sets[other].items[i]));
    return BOUGH_OK;
}

bough_status bo_inp_sets_read_list(bo_inp_sets *sets, int32_t set) {
    for (;;) {
        bool found;
        BO_TRY(bo_cards_data(sets->cards, &found));
        if (!found)
            return BOUGH_OK;
        const char *text;
        size_t length;
        while (bo_cards_field(sets->cards, &text, &length)) {
            int64_t tag;
            if (length == 0)
                continue;
            if (bo_parse_int(text, length, &tag))
                BO_TRY(add_tag(sets, set, tag));
            else
                BO_TRY(add_named(sets, set, text, length));
        }
    }
}

/* Members of a range among the known tags of one kind: the shorter of the two is gone through. */
static bough_status add_known(bo_inp_sets *sets, int32_t set, const bo_idmap *map, bool shells,
                              const int64_t range[3]) {
    int64_t first = range[0], last = range[1], step = range[2];
    int64_t steps = (last - first) / step;
    sets->work += (uint64_t)steps < map->used ? (size_t)steps + 1 : map->slot_count;
    if (sets->work > 256 * sets->cards->byte_count + 10000000)
        return bo_scan_fail(sets->cards->s, "there are far too many ranges for a file of this size");
    if ((uint64_t)steps < map->used) {
        for (int64_t i = 0; i <= steps; i++) {
            int32_t value = bo_idmap_find(map, first + i * step);
            if (value >= 0)
                BO_TRY(bo_inp_sets_add(sets, set, shells ? -1 - value : value));
        }
        return BOUGH_OK;
    }
    for (size_t slot = 0; slot < map->slot_count; slot++) {
        int64_t tag = map->keys[slot];
        if (map->values[slot] >= 0 && tag >= first && tag <= last && (tag - first) % step == 0)
            BO_TRY(bo_inp_sets_add(sets, set, shells ? -1 - map->values[slot] : map->values[slot]));
    }
    return BOUGH_OK;
}

bough_status bo_inp_sets_read_ranges(bo_inp_sets *sets, int32_t set) {
    bo_cards *c = sets->cards;
    for (;;) {
        bool found;
        BO_TRY(bo_cards_data(c, &found));
        if (!found)
            return BOUGH_OK;
        int64_t range[3] = {0, 0, 1};
        const char *text = "";
        size_t length = 0;
        BO_TRY(bo_cards_int(c, "the first number of a range", &range[0]));
        BO_TRY(bo_cards_int(c, "the last number of a range", &range[1]));
        if (bo_cards_field(c, &text, &length) && length && !bo_parse_int(text, length, &range[2]))
            return bo_scan_fail_word(c->s, "the step of a range", text, length);
        if (range[0] < 0 || range[1] < range[0] || range[2] < 1)
            return bo_scan_fail(c->s, "a range goes from %lld to %lld in steps of %lld", (long long)range[0],
                                (long long)range[1], (long long)range[2]);
        if (sets->sets[set].kind == BOUGH_SET_VERTEX) {
            BO_TRY(add_known(sets, set, &sets->b->vertex_of_tag, false, range));
        } else {
            BO_TRY(add_known(sets, set, &sets->b->element_of_tag, false, range));
            BO_TRY(add_known(sets, set, &sets->shell_of_tag, true, range));
        }
    }
}

static bough_status add_face(bo_inp_sets *sets, int32_t face_set, int32_t element, int32_t face) {
    int32_t face_count = bough_element_face_count(sets->b->type);
    if (element < 0)
        return BOUGH_OK; /* a side of a shell */
    if (face >= face_count)
        return bo_scan_fail(sets->cards->s, "%s elements have no face S%d", bough_element_name(sets->b->type),
                            face + 1);
    BO_TRY(count_item(sets));
    return bo_builder_set_add(sets->b, face_set, element * face_count + face);
}

static bough_status read_surface_line(bo_inp_sets *sets, int32_t face_set) {
    bo_cards *c = sets->cards;
    const char *who = "", *side = "";
    size_t who_length = 0, side_length = 0;
    int64_t tag;
    int32_t element, set;
    bo_cards_field(c, &who, &who_length);
    bo_cards_field(c, &side, &side_length);
    bool shell_side =
        bo_word_is_ignoring_case(side, side_length, "SPOS") || bo_word_is_ignoring_case(side, side_length, "SNEG");
    bool good = side_length == 2 && toupper((unsigned char)side[0]) == 'S' && side[1] >= '1' && side[1] <= '6';
    if (!good && !shell_side)
        return bo_scan_fail_word(c->s, "a face S1 to S6", side, side_length);
    int32_t face = good ? side[1] - '1' : 0;
    if (!bo_parse_int(who, who_length, &tag)) {
        BO_TRY(find_named(sets, BOUGH_SET_ELEMENT, who, who_length, &set));
        for (size_t i = 0; i < sets->sets[set].count && good; i++)
            BO_TRY(add_face(sets, face_set, sets->sets[set].items[i], face));
        return BOUGH_OK;
    }
    if (bo_idmap_find(&sets->shell_of_tag, tag) >= 0 || bo_idmap_find(&sets->ignored_tags, tag) >= 0)
        return BOUGH_OK;
    BO_TRY(bo_builder_find_element(sets->b, c->s, tag, &element));
    return good ? add_face(sets, face_set, element, face) : BOUGH_OK;
}

bough_status bo_inp_sets_read_surface(bo_inp_sets *sets, int32_t face_set) {
    for (;;) {
        bool found;
        BO_TRY(bo_cards_data(sets->cards, &found));
        if (!found)
            return BOUGH_OK;
        BO_TRY(read_surface_line(sets, face_set));
    }
}

/* Element sets hold volume elements or, in a surface mesh, all triangles of their shells. */
static bough_status hand_over_elements(bo_inp_sets *sets, const bo_inp_set *set, const bo_facets *shells,
                                       const int32_t *element_of_shell, bo_scanner *s) {
    bo_builder *b = sets->b;
    size_t length = strlen(set->name);
    int32_t target = -1, faces = -1;
    for (size_t i = 0; i < set->count; i++) {
        int32_t item = set->items[i], shell = -1 - item;
        bool as_facet = item < 0 && !element_of_shell;
        if (as_facet) {
            const bo_facet *facet = &shells->items[shell];
            if (faces < 0)
                BO_TRY(bo_builder_set_named(b, BOUGH_SET_FACE, set->name, length, &faces));
            s->line = facet->line;
            BO_TRY(bo_builder_facet_add(b, s, faces, facet->corners, facet->corner_count));
            continue;
        }
        if (target < 0)
            BO_TRY(bo_builder_set_named(b, BOUGH_SET_ELEMENT, set->name, length, &target));
        int32_t first = item >= 0 ? item : element_of_shell[shell];
        int32_t count = item < 0 && shells->items[shell].corner_count == 4 ? 2 : 1;
        for (int32_t k = 0; k < count; k++)
            BO_TRY(bo_builder_set_add(b, target, first + k));
    }
    return BOUGH_OK;
}

static bough_status hand_over(bo_inp_sets *sets, const bo_facets *shells, const int32_t *element_of_shell,
                              bo_scanner *s) {
    for (size_t i = 0; i < sets->count; i++) {
        const bo_inp_set *set = &sets->sets[i];
        if (set->kind == BOUGH_SET_ELEMENT) {
            BO_TRY(hand_over_elements(sets, set, shells, element_of_shell, s));
            continue;
        }
        int32_t target;
        BO_TRY(bo_builder_set_named(sets->b, set->kind, set->name, strlen(set->name), &target));
        for (size_t k = 0; k < set->count; k++)
            BO_TRY(bo_builder_set_add(sets->b, target, set->items[k]));
    }
    return BOUGH_OK;
}

bough_status bo_inp_sets_finish(bo_inp_sets *sets, const bo_facets *shells, bo_scanner *s) {
    bough_context *ctx = sets->b->ctx;
    if (sets->b->element_count || shells->count == 0)
        return hand_over(sets, shells, NULL, s);
    int32_t *element_of_shell = BO_NEW_ARRAY(ctx, int32_t, shells->count);
    bough_status status = element_of_shell ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < shells->count && status == BOUGH_OK; i++)
        status = bo_facet_to_elements(sets->b, s, &shells->items[i], &element_of_shell[i]);
    if (status == BOUGH_OK)
        status = hand_over(sets, shells, element_of_shell, s);
    bo_free(ctx, element_of_shell);
    return status;
}
