#include "scene/json.h"

#include "base/file.h"

#include <bough/scene.h>

#include <string.h>

#define SIZE_LIMIT ((size_t)64 << 20) /* a scene of a million parts is a packed file's business */
#define TOO_DEEP -2                   /* a position that jansson has for nothing */

/* ---- loading ---- */

static bough_status fail_parse(bough_context *ctx, const char *path, const json_error_t *error) {
    if (error->position == TOO_DEEP)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "%s: lists and objects are nested deeper than %d", path,
                       BOUGH_JSON_DEPTH);
    /* jansson has nothing to say when an allocation fails in the middle of a text */
    if (json_error_code(error) == json_error_out_of_memory || !error->text[0])
        return bo_fail_memory(ctx);
    if (json_error_code(error) == json_error_invalid_utf8 && error->line == 1 && error->column == 0)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "%s: is not a text file, and JSON is expected here", path);
    bool comment = strstr(error->text, "near '/") || strstr(error->text, "near '#");
    return bo_fail(ctx, BOUGH_ERROR_FORMAT, "%s:%d:%d: %s%s", path, error->line, error->column, error->text,
                   comment ? " (JSON has no comments)" : "");
}

int32_t bough_json_depth(const char *text, size_t size) {
    int32_t depth = 0, deepest = 0;
    bool quoted = false;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"')
            quoted = !quoted;
        else if (quoted)
            i += text[i] == '\\';
        else if (text[i] == '[' || text[i] == '{') {
            depth += depth < INT32_MAX;
            deepest = depth > deepest ? depth : deepest;
        } else if (text[i] == ']' || text[i] == '}')
            depth -= depth > 0;
    }
    return deepest;
}

json_t *bo_json_parse(const char *text, size_t size, json_error_t *error) {
    *error = (json_error_t){.position = TOO_DEEP};
    return bough_json_depth(text, size) > BOUGH_JSON_DEPTH ? NULL
                                                           : json_loadb(text, size, JSON_REJECT_DUPLICATES, error);
}

bough_status bo_json_load(bough_context *ctx, const char *path, bo_json *root) {
    *root = (bo_json){.ctx = ctx, .file = path};
    bo_file file;
    BO_TRY(bo_file_read_limited(ctx, path, SIZE_LIMIT, "JSON", &file));
    size_t mark = bo_byte_order_mark(&file);
    json_error_t error;
    root->value = bo_json_parse(file.data + mark, file.size - mark, &error);
    if (!root->value) {
        bo_file_free(ctx, &file);
        return fail_parse(ctx, path, &error);
    }
    root->text = file.data; /* which is freed with the root */
    return BOUGH_OK;
}

void bo_json_free(bo_json *root) {
    json_decref(root->value);
    bo_free(root->ctx, root->text);
    root->value = NULL;
    root->text = NULL;
}

/* ---- moving ---- */

bo_json bo_json_at(const bo_json *object, const char *key) {
    return (bo_json){.ctx = object->ctx,
                     .file = object->file,
                     .value = json_object_get(object->value, key),
                     .parent = object,
                     .key = key};
}

bo_json bo_json_must(const bo_json *object, const char *key) {
    bo_json member = bo_json_at(object, key);
    member.required = true;
    return member;
}

bo_json bo_json_item(const bo_json *list, int32_t index) {
    return (bo_json){.ctx = list->ctx,
                     .file = list->file,
                     .value = json_array_get(list->value, (size_t)index),
                     .parent = list,
                     .index = index};
}

bool bo_json_has(const bo_json *object, const char *key) {
    return json_object_get(object->value, key) != NULL;
}

/* ---- finding places in the text, which is known to be valid JSON ---- */

static const char *skip_space(const char *p) {
    return p + strspn(p, " \t\r\n");
}

static const char *skip_string(const char *p) {
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && p[1])
            p++;
    return *p ? p + 1 : p;
}

static const char *skip_value(const char *p) {
    int depth = 0;
    do {
        if (*p == '"') {
            p = skip_string(p);
            continue;
        }
        depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
        p++;
    } while (*p && (depth > 0 || !strchr(",}] \t\r\n", *p)));
    return p;
}

/* The value of a member or an item of the list or object at p, NULL when it is not there (or its key is written with
 * escapes). */
static const char *find_child(const char *p, const char *key, int32_t index) {
    bool object = *p == '{';
    p = skip_space(p + 1);
    for (int32_t i = 0; *p && *p != '}' && *p != ']'; i++) {
        bool found = !object && i == index;
        if (object) {
            size_t length = key ? strlen(key) : 0;
            const char *end = skip_string(p);
            found = key && (size_t)(end - p) == length + 2 && memcmp(p + 1, key, length) == 0;
            p = skip_space(skip_space(end) + 1); /* behind the colon */
        }
        if (found)
            return p;
        p = skip_space(skip_value(p));
        if (*p == ',')
            p = skip_space(p + 1);
    }
    return NULL;
}

/* Returns the place of the value; for one that is absent, the place of the thing that should have it. */
static const char *locate(const bo_json *at) {
    if (!at->parent)
        return at->text ? skip_space(at->text + (memcmp(at->text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0)) : NULL;
    const char *parent = locate(at->parent);
    if (!parent || (*parent != '{' && *parent != '['))
        return parent;
    const char *child = find_child(parent, at->key, at->index);
    return child ? child : parent;
}

/* "file:line:column: " as far as it is known. */
static void write_position(const bo_json *at, char *out, size_t size) {
    const bo_json *root = at;
    while (root->parent)
        root = root->parent;
    const char *place = locate(at);
    int line = 1, column = 1;
    for (const char *p = root->text; place && p < place; p++) {
        column = *p == '\n' ? 1 : column + 1;
        line += *p == '\n';
    }
    if (place)
        snprintf(out, size, "%s:%d:%d: ", at->file, line, column);
    else
        snprintf(out, size, "%s: ", at->file);
}

/* ---- complaining ---- */

/* "fix[1].select" as far as it fits; returns the length. */
static size_t write_place(const bo_json *at, char *out, size_t size) {
    out[0] = 0;
    if (!at->parent)
        return 0;
    size_t used = write_place(at->parent, out, size);
    if (at->key)
        snprintf(out + used, size - used, "%s%.60s", used ? "." : "", at->key);
    else
        snprintf(out + used, size - used, "[%d]", at->index);
    return used + strlen(out + used);
}

bough_status bo_json_explain(bo_json at, bough_status status) {
    if (status == BOUGH_OK || status == BOUGH_ERROR_MEMORY || status == BOUGH_CANCELLED)
        return status;
    char place[200], position[400];
    size_t length = write_place(&at, place, sizeof place);
    write_position(&at, position, sizeof position);
    bo_prefix_message(at.ctx, "%s%s%s", position, place, length ? ": " : "");
    return status == BOUGH_ERROR_ARGUMENT ? BOUGH_ERROR_FORMAT : status;
}

bough_status bo_json_fail(bo_json at, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    bo_vfail(at.ctx, BOUGH_ERROR_FORMAT, format, arguments);
    va_end(arguments);
    return bo_json_explain(at, BOUGH_ERROR_FORMAT);
}

static bough_status fail_type(bo_json at, const char *wanted) {
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list", [JSON_STRING] = "a string", [JSON_INTEGER] = "a number",
        [JSON_REAL] = "a number",    [JSON_TRUE] = "true",    [JSON_FALSE] = "false",     [JSON_NULL] = "null"};
    return bo_json_fail(at, "must be %s, not %s", wanted, names[json_typeof(at.value)]);
}

/* ---- getting ---- */

/* Handles an absent value for a getter. */
static bough_status absent(bo_json at) {
    return at.required ? bo_json_fail(*at.parent, "\"%s\" is missing", at.key) : BOUGH_OK;
}

static bough_status fail_range(bo_json at, bo_range range, double value) {
    if (range.upper == INFINITY)
        return bo_json_fail(at, "must %s, not %g", range.open ? "be positive" : "not be negative", value);
    return bo_json_fail(at, range.open ? "must lie between %g and %g, not at %g" : "must be from %g to %g, not %g",
                        range.lower, range.upper, value);
}

bough_status bo_json_number(bo_json at, bo_range range, double *value) {
    if (!at.value)
        return absent(at);
    if (!json_is_number(at.value))
        return fail_type(at, "a number");
    double x = json_number_value(at.value);
    if (!(range.open ? x > range.lower && x < range.upper : x >= range.lower && x <= range.upper))
        return fail_range(at, range, x);
    if (!(fabs(x) <= BO_JSON_LARGEST))
        return bo_json_fail(at, "%g is too large; numbers go up to %g", x, BO_JSON_LARGEST);
    *value = x;
    return BOUGH_OK;
}

static bough_status check_length(bo_json at, int32_t count, const char *of) {
    if (!json_is_array(at.value) || json_array_size(at.value) == (size_t)count)
        return json_is_array(at.value) ? BOUGH_OK : fail_type(at, "a list");
    return bo_json_fail(at, "must be a list of %d %s, not of %zu", count, of, json_array_size(at.value));
}

bough_status bo_json_numbers(bo_json at, int32_t count, bo_range range, double *values) {
    if (!at.value)
        return absent(at);
    BO_TRY(check_length(at, count, "numbers"));
    for (int32_t i = 0; i < count; i++)
        BO_TRY(bo_json_number(bo_json_item(&at, i), range, &values[i]));
    return BOUGH_OK;
}

bough_status bo_json_vec3(bo_json at, bo_range range, double value[3]) {
    return bo_json_numbers(at, 3, range, value);
}

bough_status bo_json_integer(bo_json at, int32_t lower, int32_t upper, int32_t *value) {
    if (!at.value)
        return absent(at);
    if (!json_is_number(at.value))
        return fail_type(at, "an integer");
    double x = json_number_value(at.value);
    if (x != floor(x))
        return bo_json_fail(at, "must be an integer, not %g", x);
    if (!(x >= lower && x <= upper))
        return bo_json_fail(at, "must be from %d to %d, not %.15g", lower, upper, x);
    *value = (int32_t)x;
    return BOUGH_OK;
}

bough_status bo_json_integers(bo_json at, int32_t count, int32_t lower, int32_t upper, int32_t *values) {
    if (!at.value)
        return absent(at);
    BO_TRY(check_length(at, count, "integers"));
    for (int32_t i = 0; i < count; i++)
        BO_TRY(bo_json_integer(bo_json_item(&at, i), lower, upper, &values[i]));
    return BOUGH_OK;
}

bough_status bo_json_flag(bo_json at, bool *value) {
    if (!at.value)
        return absent(at);
    if (!json_is_boolean(at.value))
        return fail_type(at, "true or false");
    *value = json_is_true(at.value);
    return BOUGH_OK;
}

bough_status bo_json_string(bo_json at, const char **value) {
    if (!at.value)
        return absent(at);
    if (!json_is_string(at.value))
        return fail_type(at, "a string");
    if (json_string_length(at.value) == 0)
        return bo_json_fail(at, "must not be empty");
    *value = json_string_value(at.value);
    return BOUGH_OK;
}

bough_status bo_json_fail_word(bo_json at, const char *what, const char *word, const char *const *known,
                               int32_t count) {
    const char *nearest = bo_nearest_word(word, known, count);
    if (nearest)
        return bo_json_fail(at, "unknown %s\"%.60s\"; did you mean \"%s\"?", what, word, nearest);
    char list[400];
    size_t used = 0;
    for (int32_t i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", known[i]);
    if (used >= sizeof list)
        snprintf(list + sizeof list - 5, 5, " ...");
    return bo_json_fail(at, "unknown %s\"%.60s\"; there are %s", what, word, list);
}

bough_status bo_json_choice(bo_json at, const char *const *words, int32_t count, int32_t *index) {
    const char *word = NULL;
    BO_TRY(bo_json_string(at, &word));
    if (!word)
        return BOUGH_OK;
    for (int32_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0) {
            *index = i;
            return BOUGH_OK;
        }
    return bo_json_fail_word(at, "", word, words, count);
}

bough_status bo_json_choose(bo_json at, const void *first, size_t size, int32_t count, int32_t *index) {
    const char **names = BO_NEW_ARRAY(at.ctx, const char *, count);
    if (!names)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++)
        memcpy(&names[i], (const char *)first + (size_t)i * size, sizeof *names);
    bough_status status = bo_json_choice(at, names, count, index);
    bo_free(at.ctx, names);
    return status;
}

bough_status bo_json_add_name(bo_json at, const char *what, json_t *names, int32_t index, char **copy) {
    const char *name = NULL;
    BO_TRY(bo_json_string(at, &name));
    if (json_object_get(names, name))
        return bo_json_fail(at, "\"%.60s\" is the name of another %s already", name, what);
    if (json_object_set_new(names, name, json_integer(index)))
        return bo_fail_memory(at.ctx);
    return !copy || (*copy = bo_strdup(at.ctx, name)) ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

bough_status bo_json_find_name(bo_json at, const char *what, json_t *names, int32_t *index) {
    const char *name = NULL, *key;
    BO_TRY(bo_json_string(at, &name));
    if (!name)
        return BOUGH_OK;
    json_t *found = json_object_get(names, name);
    if (found) {
        *index = (int32_t)json_integer_value(found);
        return BOUGH_OK;
    }
    int32_t count = 0;
    if (json_object_size(names) == 0)
        return bo_json_fail(at, "unknown %s\"%.60s\"; there are none", what, name);
    const char **words = BO_NEW_ARRAY(at.ctx, const char *, json_object_size(names));
    if (!words)
        return BOUGH_ERROR_MEMORY;
    json_object_foreach(names, key, found) {
        words[count++] = key;
    }
    bough_status status = bo_json_fail_word(at, what, name, words, count);
    bo_free(at.ctx, words);
    return status;
}

bough_status bo_json_named(bo_json at, const char *kind, bough_status (*read)(bo_json at, void *data), void *data) {
    const char *key;
    json_t *value;
    if (at.value && !json_is_object(at.value))
        return bo_json_fail(at, "must be an object of named %s", kind);
    json_object_foreach(at.value, key, value) {
        BO_TRY(read(bo_json_at(&at, key), data));
    }
    return BOUGH_OK;
}

bough_status bo_json_list(bo_json at, int32_t *count) {
    *count = 0;
    if (!at.value)
        return absent(at);
    if (!json_is_array(at.value))
        return fail_type(at, "a list");
    *count = (int32_t)json_array_size(at.value); /* fits: the file's size is limited */
    return BOUGH_OK;
}

/* The message of a failure at `from` begins with the position of `to` instead: for a key that is too much. */
static void reposition(bo_json to, bo_json from) {
    char old[400], new[400], rest[BO_MESSAGE_SIZE];
    write_position(&from, old, sizeof old);
    write_position(&to, new, sizeof new);
    if (strncmp(from.ctx->message, old, strlen(old)) != 0)
        return;
    snprintf(rest, sizeof rest, "%s", from.ctx->message + strlen(old));
    snprintf(from.ctx->message, sizeof from.ctx->message, "%s%.*s", new, (int)(sizeof rest - 420), rest);
}

bough_status bo_json_check_keys(bo_json at, const char *const *known, int32_t count) {
    if (!at.value)
        return absent(at);
    if (!json_is_object(at.value))
        return fail_type(at, "an object");
    const char *key;
    json_t *value;
    json_object_foreach(at.value, key, value) {
        bool found = false;
        for (int32_t i = 0; i < count && !found; i++)
            found = strcmp(key, known[i]) == 0;
        if (!found) {
            bough_status status = bo_json_fail_word(at, "key ", key, known, count);
            reposition(bo_json_at(&at, key), at);
            return status;
        }
    }
    return BOUGH_OK;
}
