/* NumPy's .npy files of float64 or float32 numbers: tables of one row for each frame, sample or vertex. */
#ifndef BO_BASE_NPY_H
#define BO_BASE_NPY_H

#include "base/file.h"

/* A 2-D array by rows, or a 1-D one as a single column; float32 is widened, Fortran order is turned. All numbers are
 * finite. Other kinds of array are BOUGH_ERROR_UNSUPPORTED, files that are not what their header says
 * BOUGH_ERROR_FORMAT. *values is rows x columns, to be freed with bo_free. */
bough_status bo_npy_read(bough_context *ctx, const char *path, int32_t *rows, int32_t *columns, double **values);

/* A float64 array that grows by rows and appears under its name when it is committed or flushed: the header is written
 * last, when the number of rows is known, so the output must be a file and not a pipe. Zeros are a writer that is not
 * open. */
typedef struct bo_npy_writer {
    bo_output output;
    int32_t columns, rows;
} bo_npy_writer;

bough_status bo_npy_open(bough_context *ctx, const char *path, int32_t columns, bo_npy_writer *writer);
/* The same, beginning with the first `rows` rows of the file of that name. *kept is false, and the array is empty, when
 * there is no float64 file with so many rows of so many columns. */
bough_status bo_npy_continue(bough_context *ctx, const char *path, int32_t columns, int32_t rows, bo_npy_writer *writer,
                             bool *kept);
bough_status bo_npy_append(bough_context *ctx, bo_npy_writer *writer, const double *row);
/* Makes the rows so far readable under the name of the file, on the disk itself. */
bough_status bo_npy_flush(bough_context *ctx, bo_npy_writer *writer);
/* Closes the writer, whether that succeeds or not. */
bough_status bo_npy_commit(bough_context *ctx, bo_npy_writer *writer);
void bo_npy_discard(bough_context *ctx, bo_npy_writer *writer);

#endif
