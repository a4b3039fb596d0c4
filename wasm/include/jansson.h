/* JSON values with the names of jansson, of which WebAssembly has no package: as much of it as Bough uses. Objects keep
 * the order in which keys came; a key that comes twice is an error. Texts are UTF-8 without escapes that need surrogates
 * left alone. */
#ifndef BOUGH_WASM_JANSSON_H
#define BOUGH_WASM_JANSSON_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum {
    JSON_OBJECT,
    JSON_ARRAY,
    JSON_STRING,
    JSON_INTEGER,
    JSON_REAL,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL
} json_type;

typedef long long json_int_t;
#define JSON_INTEGER_FORMAT "lld"

typedef struct json_t {
    json_type type;
    size_t refcount; /* (size_t)-1: true, false and null, which are never freed */
} json_t;

enum { JSON_ERROR_TEXT_LENGTH = 160, JSON_ERROR_SOURCE_LENGTH = 80 };
typedef struct json_error_t {
    int line, column, position;
    char source[JSON_ERROR_SOURCE_LENGTH];
    char text[JSON_ERROR_TEXT_LENGTH];
    int code;
} json_error_t;
enum json_error_code { json_error_unknown, json_error_out_of_memory, json_error_invalid_utf8, json_error_invalid_syntax };
static inline enum json_error_code json_error_code(const json_error_t *e) {
    return (enum json_error_code)e->code;
}

/* Flags of reading and writing. */
enum { JSON_REJECT_DUPLICATES = 1 };
#define JSON_INDENT(n) ((size_t)(n)&0x1F)
#define JSON_COMPACT 0x20
#define JSON_ENSURE_ASCII 0x40
#define JSON_SORT_KEYS 0x80
#define JSON_ENCODE_ANY 0x200
#define JSON_REAL_PRECISION(n) (((size_t)(n)&0x1F) << 11)

#define json_typeof(json) ((json)->type)
#define json_is_object(json) ((json) && json_typeof(json) == JSON_OBJECT)
#define json_is_array(json) ((json) && json_typeof(json) == JSON_ARRAY)
#define json_is_string(json) ((json) && json_typeof(json) == JSON_STRING)
#define json_is_integer(json) ((json) && json_typeof(json) == JSON_INTEGER)
#define json_is_real(json) ((json) && json_typeof(json) == JSON_REAL)
#define json_is_number(json) (json_is_integer(json) || json_is_real(json))
#define json_is_true(json) ((json) && json_typeof(json) == JSON_TRUE)
#define json_is_false(json) ((json) && json_typeof(json) == JSON_FALSE)
#define json_is_boolean(json) (json_is_true(json) || json_is_false(json))
#define json_is_null(json) ((json) && json_typeof(json) == JSON_NULL)
#define json_boolean_value json_is_true

json_t *json_object(void);
json_t *json_array(void);
json_t *json_string(const char *value);
json_t *json_stringn(const char *value, size_t length);
json_t *json_sprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
json_t *json_integer(json_int_t value);
json_t *json_real(double value); /* NULL: not a finite number */
json_t *json_true(void);
json_t *json_false(void);
json_t *json_null(void);
#define json_boolean(value) ((value) ? json_true() : json_false())

void json_delete(json_t *json);
static inline json_t *json_incref(json_t *json) {
    if (json && json->refcount != (size_t)-1)
        json->refcount++;
    return json;
}
static inline void json_decref(json_t *json) {
    if (json && json->refcount != (size_t)-1 && --json->refcount == 0)
        json_delete(json);
}

const char *json_string_value(const json_t *json);
size_t json_string_length(const json_t *json);
json_int_t json_integer_value(const json_t *json);
double json_real_value(const json_t *json);
double json_number_value(const json_t *json);

size_t json_array_size(const json_t *array);
json_t *json_array_get(const json_t *array, size_t index);
int json_array_set_new(json_t *array, size_t index, json_t *value);
int json_array_append_new(json_t *array, json_t *value);
int json_array_extend(json_t *array, json_t *other);
static inline int json_array_append(json_t *array, json_t *value) {
    return json_array_append_new(array, json_incref(value));
}

size_t json_object_size(const json_t *object);
json_t *json_object_get(const json_t *object, const char *key);
int json_object_set_new(json_t *object, const char *key, json_t *value);
int json_object_del(json_t *object, const char *key);
int json_object_update(json_t *object, json_t *other);
int json_object_update_missing(json_t *object, json_t *other);
int json_object_update_recursive(json_t *object, json_t *other);
static inline int json_object_set(json_t *object, const char *key, json_t *value) {
    return json_object_set_new(object, key, json_incref(value));
}
static inline int json_object_update_new(json_t *object, json_t *other) {
    const int result = json_object_update(object, other);
    json_decref(other);
    return result;
}

void *json_object_iter(json_t *object);
void *json_object_iter_next(json_t *object, void *iterator);
void *json_object_key_to_iter(const char *key);
const char *json_object_iter_key(void *iterator);
json_t *json_object_iter_value(void *iterator);

#define json_object_foreach(object, key, value)                                                               \
    for (key = json_object_iter_key(json_object_iter(object));                                                \
         key && (value = json_object_iter_value(json_object_key_to_iter(key)));                               \
         key = json_object_iter_key(json_object_iter_next(object, json_object_key_to_iter(key))))
#define json_array_foreach(array, index, value) \
    for (index = 0; index < json_array_size(array) && (value = json_array_get(array, index)); index++)

/* Formats: s (s?), i, I, f, b, n, o (o?), O (O?), {} and []. */
json_t *json_pack(const char *format, ...);
json_t *json_copy(json_t *json);
json_t *json_deep_copy(const json_t *json);

json_t *json_loadb(const char *text, size_t size, size_t flags, json_error_t *error);
json_t *json_load_file(const char *path, size_t flags, json_error_t *error);
char *json_dumps(const json_t *json, size_t flags);
size_t json_dumpb(const json_t *json, char *buffer, size_t size, size_t flags); /* how many bytes all of it has */
int json_dumpf(const json_t *json, FILE *stream, size_t flags);
int json_dump_file(const json_t *json, const char *path, size_t flags);

#endif
