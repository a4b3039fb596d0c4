/* Objects of many parts, cooked as scenes are. */
#ifndef BOUGH_BENCH_COOK_OBJECTS_H
#define BOUGH_BENCH_COOK_OBJECTS_H

#include <jansson.h>
#include <stdbool.h>

bool bench_cook_objects(bool json, json_t *all);

#endif
