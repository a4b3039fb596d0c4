/* Numbers over time as a CSV file: one line of names, then a line of numbers for each row, as they come. */
#ifndef BO_RECORD_TABLE_H
#define BO_RECORD_TABLE_H

#include "base/context.h"

#include <stdio.h>

typedef struct bo_table {
    FILE *stream; /* NULL: there is no table */
    char *path;
    int32_t column_count;
    int64_t rows; /* written by this table */
} bo_table;

/* Begins the file anew. */
bough_status bo_table_create(bough_context *ctx, const char *path, const char *const *columns, int32_t column_count,
                             bo_table *table);
/* Continues the file after its rows whose first number is at most `last`; *kept tells whether there were any. Starts
 * anew if there is no file with these columns. */
bough_status bo_table_continue(bough_context *ctx, const char *path, const char *const *columns, int32_t column_count,
                               double last, bo_table *table, bool *kept);
/* Hands the row to the system before it returns, so that a program that is ended keeps it. Numbers have 17 digits and a
 * decimal point in every locale. */
bough_status bo_table_row(bough_context *ctx, bo_table *table, const double *values);
/* The same with words in some columns, where they are not NULL; without commas and line ends. */
bough_status bo_table_words(bough_context *ctx, bo_table *table, const double *values, const char *const *words);
/* Syncs all rows so far to the disk itself. Does nothing if there is no table. */
bough_status bo_table_sync(bough_context *ctx, bo_table *table);
/* Fails when something could not be written; the table is closed in any case. */
bough_status bo_table_close(bough_context *ctx, bo_table *table);

#endif
