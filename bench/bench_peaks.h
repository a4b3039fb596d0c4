/* The largest stress of parts beside the full body's. */
#ifndef BOUGH_BENCH_PEAKS_H
#define BOUGH_BENCH_PEAKS_H

#include "bench.h"

#include <jansson.h>

/* Tells, or gives the same as JSON (to be released). */
bool bench_peaks(bough_context *ctx, bool json, bool larger, json_t **result);

#endif
