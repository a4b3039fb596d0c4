/* Tables of motors: a column of times, and one for each motor. */
#ifndef BO_SCENE_MOTOR_TABLE_H
#define BO_SCENE_MOTOR_TABLE_H

#include "base/context.h"

typedef struct bo_motor_table {
    char *path;
    int32_t column_count, row_count;
    char **columns; /* names, "time" among them */
    double *values; /* row_count x column_count */
    int32_t *lines; /* of the file, of rows */
    int32_t time;   /* the column of times, which ascend */
} bo_motor_table;

/* Reads a table: a head with names, then rows of numbers, with commas between. A sentence about it names file and line.
 * bo_motor_table_free() is owed also when it fails. *hash goes on over the file. */
bough_status bo_motor_table_read(bough_context *ctx, const char *path, uint64_t *hash, bo_motor_table *table);
void bo_motor_table_free(bough_context *ctx, bo_motor_table *table);
/* The column of that name, or a sentence with the nearest. */
bough_status bo_motor_table_find(bough_context *ctx, const bo_motor_table *table, const char *name, int32_t *column);

#endif
