/* Bands of pixel rows are drawn independently, each into its own sample buffer, so that any number of threads gives the
 * same picture. In a band, every face that meets it is scanned in order; the nearest one wins a sample. */
#include "record/picture.h"

#include "base/threads.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { BAND_ROWS = 8, BANDS_AT_ONCE = 16, MAX_SAMPLES = 16, NOTHING = -1 };

typedef struct band_buffer {
    float *depth;  /* 1/z, larger is nearer */
    int32_t *face; /* NOTHING: ground or background */
} band_buffer;

typedef struct raster_job {
    bough_context *ctx;
    const bo_view *view;
    uint8_t *pixels;
    atomic_bool cancelled;
    int32_t first_band; /* of this round */
    size_t *starts;     /* faces of band b: list[starts[b]] .. list[starts[b+1]-1] */
    int32_t *list;
    band_buffer buffers[BANDS_AT_ONCE];
} raster_job;

static int32_t band_of(const bo_view *view, double y_grid) {
    double row = y_grid / (view->picture->def.samples * BO_SUBPIXEL);
    double clamped = fmin(fmax(row, 0), view->picture->def.height - 1);
    return (int32_t)clamped / BAND_ROWS;
}

static void face_bands(const bo_view *view, const bo_face *f, int32_t *first, int32_t *last) {
    *first = band_of(view, fmin(f->y[0], fmin(f->y[1], f->y[2])));
    *last = band_of(view, fmax(f->y[0], fmax(f->y[1], f->y[2])));
}

static bough_status sort_faces(bough_context *ctx, raster_job *job, int32_t band_count) {
    const bo_view *view = job->view;
    int32_t first, last;
    job->starts = BO_NEW_ZEROS(ctx, size_t, (size_t)band_count + 2);
    if (!job->starts)
        return bo_fail_memory(ctx);
    size_t *next = job->starts + 1; /* next[b] ends as the start of band b + 1 */
    for (size_t i = 0; i < view->face_count; i++) {
        face_bands(view, &view->faces[i], &first, &last);
        for (int32_t b = first; b <= last; b++)
            next[b + 1]++;
    }
    for (int32_t b = 0; b < band_count; b++)
        next[b + 1] += next[b];
    job->list = BO_NEW_ARRAY(ctx, int32_t, next[band_count]);
    if (!job->list)
        return bo_fail_memory(ctx);
    for (size_t i = 0; i < view->face_count; i++) {
        face_bands(view, &view->faces[i], &first, &last);
        for (int32_t b = first; b <= last; b++)
            job->list[next[b]++] = (int32_t)i;
    }
    return BOUGH_OK;
}

/* Edge function of the edge a -> b at p, with its steps in x and y; positive inside. Points exactly on the edge belong
 * to the face for which it is a top or left one, so that neighbours share every sample exactly once. */
typedef struct edge {
    double value, step_x, step_y;
    double bias; /* half a unit where the edge itself is not inside: values are whole numbers */
} edge;

static edge edge_at(const bo_face *f, int a, int b, double px, double py) {
    double dx = f->x[b] - f->x[a], dy = f->y[b] - f->y[a];
    double bias = dy < 0 || (dy == 0 && dx > 0) ? 0 : 0.5;
    return (edge){dx * (py - f->y[a]) - dy * (px - f->x[a]) - bias, -dy * BO_SUBPIXEL, dx * BO_SUBPIXEL, bias};
}

static int32_t sample_index(double grid, int32_t lower, int32_t upper) {
    double i = floor(grid / BO_SUBPIXEL);
    return i < lower ? lower : i > upper ? upper : (int32_t)i;
}

/* Scans the samples of rows row0 .. row0+rows-1 (sample rows of the picture). */
static void scan_face(const bo_face *f, int32_t id, band_buffer *buffer, int32_t columns, int32_t row0, int32_t rows) {
    double left = fmin(f->x[0], fmin(f->x[1], f->x[2])), right = fmax(f->x[0], fmax(f->x[1], f->x[2]));
    double top = fmin(f->y[0], fmin(f->y[1], f->y[2])), bottom = fmax(f->y[0], fmax(f->y[1], f->y[2]));
    int32_t i0 = sample_index(left, 0, columns - 1), i1 = sample_index(right, 0, columns - 1);
    int32_t j0 = sample_index(top, row0, row0 + rows - 1), j1 = sample_index(bottom, row0, row0 + rows - 1);
    double px = (i0 + 0.5) * BO_SUBPIXEL, py = (j0 + 0.5) * BO_SUBPIXEL;
    edge e0 = edge_at(f, 1, 2, px, py), e1 = edge_at(f, 2, 0, px, py), e2 = edge_at(f, 0, 1, px, py);
    double area = f->area - (e0.bias + e1.bias + e2.bias);
    if (!(area > 0))
        return;
    double s0 = f->w[0] / area, s1 = f->w[1] / area, s2 = f->w[2] / area;
    for (int32_t j = j0; j <= j1; j++) {
        float *depth = buffer->depth + (size_t)(j - row0) * (size_t)columns;
        int32_t *face = buffer->face + (size_t)(j - row0) * (size_t)columns;
        double a = e0.value, b = e1.value, c = e2.value;
        for (int32_t i = i0; i <= i1; i++) {
            if (a >= 0 && b >= 0 && c >= 0) {
                float w = (float)(a * s0 + b * s1 + c * s2);
                if (w > depth[i])
                    depth[i] = w, face[i] = id;
            }
            a += e0.step_x, b += e1.step_x, c += e2.step_x;
        }
        e0.value += e0.step_y, e1.value += e1.step_y, e2.value += e2.step_y;
    }
}

static void clear_band(const bo_view *view, band_buffer *buffer, int32_t columns, int32_t row0, int32_t rows) {
    int32_t samples = view->picture->def.samples;
    for (int32_t j = 0; j < rows; j++)
        for (int32_t i = 0; i < columns; i++) {
            size_t at = (size_t)j * (size_t)columns + (size_t)i;
            double ground = bo_ground_depth(view, (i + 0.5) / samples, (row0 + j + 0.5) / samples);
            buffer->depth[at] = (float)(ground * (1 - 1e-4)); /* what stands on the ground is not cut by rounding */
            buffer->face[at] = NOTHING;
        }
}

/* Each face seen in a pixel is shaded once, at the mean of its samples, and weighted by their number. */
static bo_rgb resolve_pixel(const bo_view *view, const band_buffer *buffer, int32_t columns, int32_t x, int32_t y,
                            int32_t row_in_band) {
    int32_t n = view->picture->def.samples, ids[MAX_SAMPLES], counts[MAX_SAMPLES], groups = 0;
    double sum_x[MAX_SAMPLES], sum_y[MAX_SAMPLES];
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = 0; i < n; i++) {
            size_t at = (size_t)(row_in_band * n + j) * (size_t)columns + (size_t)(x * n + i);
            int32_t id = buffer->face[at], g = 0;
            while (g < groups && ids[g] != id)
                g++;
            if (g == groups)
                ids[groups] = id, counts[groups] = 0, sum_x[groups] = sum_y[groups] = 0, groups++;
            counts[g]++;
            sum_x[g] += (i + 0.5) / n, sum_y[g] += (j + 0.5) / n;
        }
    bo_rgb sum = {0, 0, 0};
    for (int32_t g = 0; g < groups; g++) {
        double px = x + sum_x[g] / counts[g], py = y + sum_y[g] / counts[g];
        bo_rgb light =
            ids[g] == NOTHING ? bo_shade_background(view, px, py) : bo_shade_face(view, &view->faces[ids[g]], px, py);
        sum = bo_rgb_add(sum, (float)counts[g] / (float)(n * n), light);
    }
    return sum;
}

/* Rounds up or down by an ordered pattern, so that slow gradients show no bands of equal bytes. */
static void store_pixel(uint8_t *pixel, int32_t x, int32_t y, bo_rgb light) {
    static const uint8_t order[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
    float up = ((float)order[y & 3][x & 3] + 0.5f) / 16;
    pixel[0] = (uint8_t)(255 * bo_srgb_encode(light.r) + up);
    pixel[1] = (uint8_t)(255 * bo_srgb_encode(light.g) + up);
    pixel[2] = (uint8_t)(255 * bo_srgb_encode(light.b) + up);
    pixel[3] = 255;
}

/* The job whose caller this thread is: the one that may ask whether to go on. */
static _Thread_local const raster_job *own_job;

/* Rows of large pictures take milliseconds each, and several bands wait for the caller between them. */
static bool goes_on(raster_job *job, int32_t row) {
    if (own_job == job &&
        !bo_progress(job->ctx, "drawing", -1, "row %d of %d", row + 1, job->view->picture->def.height))
        atomic_store(&job->cancelled, true);
    return !atomic_load(&job->cancelled);
}

static void draw_band(void *data, int32_t slot) {
    raster_job *job = data;
    const bo_view *view = job->view;
    int32_t n = view->picture->def.samples, width = view->picture->def.width, height = view->picture->def.height;
    int32_t band = job->first_band + slot, y0 = band * BAND_ROWS;
    int32_t rows = y0 + BAND_ROWS <= height ? BAND_ROWS : height - y0, columns = n * width;
    band_buffer *buffer = &job->buffers[slot];
    clear_band(view, buffer, columns, n * y0, n * rows);
    for (size_t k = job->starts[band]; k < job->starts[band + 1]; k++)
        scan_face(&view->faces[job->list[k]], job->list[k], buffer, columns, n * y0, n * rows);
    for (int32_t y = 0; y < rows && goes_on(job, y0 + y); y++)
        for (int32_t x = 0; x < width; x++)
            store_pixel(job->pixels + 4 * ((size_t)(y0 + y) * (size_t)width + (size_t)x), x, y0 + y,
                        resolve_pixel(view, buffer, columns, x, y0 + y, y));
}

static bool allocate_buffers(bough_context *ctx, raster_job *job, int32_t count) {
    size_t n = (size_t)job->view->picture->def.samples;
    size_t samples = n * n * BAND_ROWS * (size_t)job->view->picture->def.width;
    for (int32_t i = 0; i < count; i++) {
        job->buffers[i].depth = BO_NEW_ARRAY(ctx, float, samples);
        job->buffers[i].face = BO_NEW_ARRAY(ctx, int32_t, samples);
        if (!job->buffers[i].depth || !job->buffers[i].face)
            return false;
    }
    return true;
}

bough_status bo_raster(bough_context *ctx, const bo_view *view, uint8_t *pixels) {
    int32_t band_count = bo_chunk_count(view->picture->def.height, BAND_ROWS);
    raster_job job = {.ctx = ctx, .view = view, .pixels = pixels};
    bough_status status = sort_faces(ctx, &job, band_count);
    if (status == BOUGH_OK && !allocate_buffers(ctx, &job, band_count < BANDS_AT_ONCE ? band_count : BANDS_AT_ONCE))
        status = bo_fail_memory(ctx);
    own_job = &job;
    for (job.first_band = 0; status == BOUGH_OK && job.first_band < band_count; job.first_band += BANDS_AT_ONCE) {
        int32_t left = band_count - job.first_band;
        bo_run_tasks(ctx, draw_band, &job, left < BANDS_AT_ONCE ? left : BANDS_AT_ONCE);
        if (!goes_on(&job, job.first_band * BAND_ROWS))
            status = bo_fail_cancelled(ctx);
    }
    own_job = NULL;
    for (int32_t i = 0; i < BANDS_AT_ONCE; i++) {
        bo_free(ctx, job.buffers[i].depth);
        bo_free(ctx, job.buffers[i].face);
    }
    bo_free(ctx, job.starts);
    bo_free(ctx, job.list);
    return status;
}
