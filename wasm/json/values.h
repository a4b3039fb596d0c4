/* What values look like inside. */
#ifndef BOUGH_WASM_JSON_VALUES_H
#define BOUGH_WASM_JSON_VALUES_H

#include "jansson.h"

#include <stdbool.h>

typedef struct object_value object_value;
typedef struct {
    object_value *owner;
    size_t number; /* in its object */
    json_t *value;
    char key[];
} pair;

struct object_value {
    json_t json;
    size_t count, capacity;
    pair **pairs;
};
typedef struct {
    json_t json;
    size_t count, capacity;
    json_t **values;
} array_value;
typedef struct {
    json_t json;
    size_t length;
    char text[];
} string_value;
typedef struct {
    json_t json;
    json_int_t value;
} integer_value;
typedef struct {
    json_t json;
    double value;
} real_value;

#endif
