/* Helpers of the tests of JSON files: texts with easy quotes, keys against schemas, the examples of the docs. */
#ifndef TEST_SCENE_TEXTS_H
#define TEST_SCENE_TEXTS_H

#include "test.h"

#include <jansson.h>

/* Texts are written with ' for ", which no file here needs otherwise. */
static inline char *quoted(const char *text) {
    char *copy = strdup(text);
    check(copy != NULL);
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return copy;
}

static inline void write_quoted(const char *path, const char *text) {
    char *copy = quoted(text);
    test_write_text(path, copy);
    free(copy);
}

#define KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline void check_same_keys(const char *where, const json_t *object, const char *const *keys) {
    const json_t *properties = json_object_get(object, "properties");
    size_t count = 0;
    for (; keys[count]; count++)
        if (!json_object_get(properties, keys[count]))
            fail_msg("the schema does not know \"%s\" in %s", keys[count], where);
    if (json_object_size(properties) != count || !json_is_false(json_object_get(object, "additionalProperties")))
        fail_msg("the schema allows more than the reader in %s", where);
}

static inline json_t *load_schema(const char *path) {
    json_error_t error;
    json_t *schema = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!schema)
        fail_msg("%s:%d: %s", path, error.line, error.text);
    return schema;
}

/* The first JSON block after a heading of docs/scene-format/, whatever the level of the heading. */
static inline const char *example_of_docs(const char *heading) {
    static const char *const pages[] = {"body", "component", "events", "mechanism", "multibody", "objects", "parts", "robot"};
    static char text[120000];
    char line[200];
    snprintf(line, sizeof line, "# %s\n", heading + strspn(heading, "# "));
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        char path[400];
        snprintf(path, sizeof path, "%s/docs/scene-format/%s.md", BOUGH_SOURCE_DIR, pages[i]);
        FILE *stream = fopen(path, "rb");
        check(stream != NULL);
        text[fread(text, 1, sizeof text - 1, stream)] = 0;
        fclose(stream);
        char *start = strstr(text, line), *fence = start ? strstr(start, "```json\n") : NULL;
        char *end = fence ? strstr(fence + 8, "```") : NULL;
        if (end) {
            *end = 0;
            return fence + 8;
        }
    }
    fail_msg("no page of docs/scene-format has an example under \"%s\"", heading);
    return NULL;
}

#endif
