/* Reading JSON. jansson recurses as deep as a text is nested, up to 2,048 levels, which takes more stack than the
 * threads of a server have: every text is measured first. */
#include "app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_LIMIT ((size_t)64 << 20) /* as the library has it for its files */

json_t *app_json_parse(const char *text, size_t size) {
    return bough_json_depth(text, size) > BOUGH_JSON_DEPTH ? NULL
                                                           : json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
}

/* To be freed; NULL: it is not there, or too large. */
static char *read_all(FILE *file, size_t *size) {
    char *text = NULL;
    size_t room = 0;
    for (*size = 0; *size <= SIZE_LIMIT;) {
        char *larger = room > *size ? text : realloc(text, room = 2 * room + 65536);
        if (!larger)
            break;
        text = larger;
        const size_t got = fread(text + *size, 1, room - *size, file);
        *size += got;
        if (got == 0 && !ferror(file))
            return text;
        if (got == 0)
            break;
    }
    free(text);
    return NULL;
}

json_t *app_json_load(const char *path) {
    FILE *file = fopen(path, "rb");
    size_t size = 0;
    char *text = file ? read_all(file, &size) : NULL;
    const size_t mark = text && size >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3) ? 3 : 0; /* some editors' first bytes */
    json_t *root = text ? app_json_parse(text + mark, size - mark) : NULL;
    free(text);
    if (file)
        fclose(file);
    return root;
}

bool app_json_names(const char *path, const char *const *keys, size_t count) {
    json_t *root = app_has_extension(path, ".json") ? app_json_load(path) : NULL;
    bool found = false;
    for (size_t i = 0; i < count; i++)
        found = found || json_object_get(root, keys[i]);
    json_decref(root);
    return found;
}

json_t *app_json_provenance(const bough_component *component) {
    return component->provenance ? app_json_parse(component->provenance, strlen(component->provenance)) : NULL;
}
