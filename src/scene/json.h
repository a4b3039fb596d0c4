/* A checked reader over jansson. A cursor knows where it stands, so that every complaint names the file and the place:
 *   beam.json:7:12: fix[1]: unknown key "selct"; did you mean "select"?
 *
 * Getters leave *value alone when the key is absent: put the default there first. */
#ifndef BO_SCENE_JSON_H
#define BO_SCENE_JSON_H

#include "base/context.h"

#include <jansson.h>
#include <math.h>

typedef struct bo_json {
    bough_context *ctx;
    const char *file;             /* as the user named it; belongs to the caller of bo_json_load */
    json_t *value;                /* NULL: absent. Belongs to the root */
    const struct bo_json *parent; /* must outlive this cursor; NULL at the root */
    const char *key;              /* in the parent object, or NULL */
    int32_t index;                /* in the parent list when key is NULL */
    bool required;                /* getters refuse an absent value */
    char *text; /* of the file, at the root only: jansson keeps no places, so they are looked up in it */
} bo_json;

/* Parse errors read "file:line:column: reason". On failure nothing is to be freed. */
bough_status bo_json_load(bough_context *ctx, const char *path, bo_json *root);
void bo_json_free(bo_json *root);
/* jansson's reader for texts of any origin: refuses those nested deeper than BOUGH_JSON_DEPTH, error->position being -2,
 * before it recurses into them. */
json_t *bo_json_parse(const char *text, size_t size, json_error_t *error);

/* ---- moving ---- */

/* An absent member of an absent object is absent, so optional blocks need no special case. */
bo_json bo_json_at(const bo_json *object, const char *key);
bo_json bo_json_must(const bo_json *object, const char *key);
bo_json bo_json_item(const bo_json *list, int32_t index);
bool bo_json_has(const bo_json *object, const char *key);

/* ---- complaining ---- */

/* Keeps "file:line:column: place: sentence" and returns BOUGH_ERROR_FORMAT. */
bough_status bo_json_fail(bo_json at, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Puts "file:line:column: place: " before the message of a deeper failure; OK, memory and cancellation pass through. A
 * wrong argument becomes a wrong file, since that is where it was written. */
bough_status bo_json_explain(bo_json at, bough_status status);

/* "unknown WHAT"WORD"" with the nearest of the known words, or all of them. */
bough_status bo_json_fail_word(bo_json at, const char *what, const char *word, const char *const *known, int32_t count);

/* ---- getting ---- */

/* Numbers beyond this are typing errors; below it squares and products of a few numbers stay finite. */
#define BO_JSON_LARGEST 1e30

typedef struct bo_range {
    double lower, upper;
    bool open; /* the ends themselves are excluded */
} bo_range;

#define BO_ANY ((bo_range){-INFINITY, INFINITY, false})
#define BO_POSITIVE ((bo_range){0, INFINITY, true})
#define BO_NOT_NEGATIVE ((bo_range){0, INFINITY, false})

bough_status bo_json_number(bo_json at, bo_range range, double *value);
bough_status bo_json_numbers(bo_json at, int32_t count, bo_range range, double *values);
bough_status bo_json_vec3(bo_json at, bo_range range, double value[3]);
/* 20.0 is an integer too, as in JSON Schema. */
bough_status bo_json_integer(bo_json at, int32_t lower, int32_t upper, int32_t *value);
bough_status bo_json_integers(bo_json at, int32_t count, int32_t lower, int32_t upper, int32_t *values);
bough_status bo_json_flag(bo_json at, bool *value);
/* Never empty; lives as long as the root. */
bough_status bo_json_string(bo_json at, const char **value);
/* *index of the string among the words. */
bough_status bo_json_choice(bo_json at, const char *const *words, int32_t count, int32_t *index);
/* The same among names of things: `first` is that of the first, and each next one is `size` bytes further on. */
bough_status bo_json_choose(bo_json at, const void *first, size_t size, int32_t count, int32_t *index);
/* A dictionary {NAME: index} finds names among many. A name that another `what` has is refused; *copy is to be
 * freed; copy NULL: none is made. */
bough_status bo_json_add_name(bo_json at, const char *what, json_t *names, int32_t index, char **copy);
/* *index of the string; an unknown one is refused as bo_json_fail_word() does ("WHAT "). */
bough_status bo_json_find_name(bo_json at, const char *what, json_t *names, int32_t *index);
/* *count is 0 for an absent list. */
bough_status bo_json_list(bo_json at, int32_t *count);
/* read() of each entry of an object whose keys are names; `kind`: of what, in the plural. Nothing where it is missing.
 */
bough_status bo_json_named(bo_json at, const char *kind, bough_status (*read)(bo_json at, void *data), void *data);

/* The value is an object (or absent where it may be) that has no other keys than these. */
#define bo_json_keys(at, ...)                                    \
    bo_json_check_keys((at), (const char *const[]){__VA_ARGS__}, \
                       (int32_t)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)))
bough_status bo_json_check_keys(bo_json at, const char *const *known, int32_t count);

#endif
