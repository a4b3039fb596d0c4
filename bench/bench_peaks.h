/* The largest stress of parts beside the full body's. */
#ifndef BOUGH_BENCH_PEAKS_H
#define BOUGH_BENCH_PEAKS_H

#include "bench.h"

#include <jansson.h>

typedef struct {
    int parts, within;    /* a tenth */
    double worst, median; /* relative errors */
} bench_peak_sums;

/* Prints the results, or gives them as JSON (to be released). unseen: those of structures on which nothing was
 * chosen. */
bool bench_peaks_of(bough_context *ctx, bool json, bool larger, bool unseen, json_t **result);
/* One structure in equilibrium, both cuts. */
bool bench_peaks_at_rest(bough_context *ctx, const char *name, bench_peak_sums *sums);

#endif
