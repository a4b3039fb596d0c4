/* Checkpoints: a head, the numbers of the engine's state, and a hash of both. Numbers are as in memory; a machine of
 * another byte order refuses the file. */
#include "run/run.h"

#include "base/file.h"
#include "base/vec.h"

#include <math.h>
#include <string.h>

#define VERSION 5
#define BYTE_ORDER_MARK 0x01020304u
static const char magic[8] = {'B', 'o', 'u', 'g', 'h', 'R', 'u', 'n'};

/* No padding: every byte of it is written and hashed. */
typedef struct {
    char magic[8];
    uint32_t version, byte_order;
    uint64_t run_hash;
    int64_t state_size, step, iterations, retries;
    int32_t unit, halvings, good, deepest;
    double start_energy[4], in_play;
} head;
_Static_assert(sizeof(head) == 8 + 2 * 4 + 8 + 4 * 8 + 4 * 4 + 5 * 8, "the head has holes");

static head head_of(const bough_run *run) {
    const bo_run_place *p = &run->place;
    head h = {.version = VERSION,
              .byte_order = BYTE_ORDER_MARK,
              .run_hash = run->hash,
              .state_size = run->engine.kind->state_size(run->engine.data),
              .step = p->step,
              .iterations = p->iterations,
              .retries = p->retries,
              .unit = p->unit,
              .halvings = p->halvings,
              .good = p->good,
              .deepest = p->deepest,
              .in_play = p->in_play};
    memcpy(h.magic, magic, sizeof magic);
    memcpy(h.start_energy, p->start_energy, sizeof h.start_energy);
    return h;
}

/* The state as it is now; to be freed. */
typedef struct {
    int64_t size;
    double *numbers; /* NULL: no memory */
} kept_state;

static kept_state keep(bough_context *ctx, const bough_run *run) {
    kept_state kept = {.size = run->engine.kind->state_size(run->engine.data)};
    kept.numbers = BO_NEW_ARRAY(ctx, double, kept.size);
    if (kept.numbers)
        run->engine.kind->save(run->engine.data, kept.numbers);
    return kept;
}

bough_status bough_run_save(bough_context *ctx, const bough_run *run, const char *path) {
    if (run->live)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "a live run knows no checkpoints");
    const head h = head_of(run);
    kept_state kept = keep(ctx, run);
    if (!kept.numbers)
        return BOUGH_ERROR_MEMORY;
    const size_t bytes = (size_t)kept.size * sizeof(double);
    uint64_t hash = bo_hash_bytes(bo_hash_bytes(BO_HASH_START, &h, sizeof h), kept.numbers, bytes);
    bo_output output;
    bough_status status = bo_output_open(ctx, path, &output);
    if (status == BOUGH_OK) {
        output.durable = true;
        fwrite(&h, sizeof h, 1, output.stream);
        fwrite(kept.numbers, 1, bytes, output.stream);
        fwrite(&hash, sizeof hash, 1, output.stream);
        status = bo_output_commit(ctx, &output);
    }
    bo_free(ctx, kept.numbers);
    return status;
}

/* The hash proves that the file is as it was written, not that it was written by us: each number is checked too. */
static bool is_plausible(const bough_run *run, const head *h, const double *state) {
    const int64_t head_size = run->engine.head_size;
    return h->step >= 0 && h->step <= INT32_MAX && h->iterations >= 0 && h->retries >= 0 && h->halvings >= 0 &&
           h->halvings <= BO_RUN_MAX_HALVINGS && h->deepest >= h->halvings && h->deepest <= BO_RUN_MAX_HALVINGS &&
           h->good >= 0 && h->good < INT32_MAX / 2 && h->unit >= 0 && h->unit < BO_RUN_UNITS &&
           h->unit % (BO_RUN_UNITS >> h->halvings) == 0 && bo_all_finite(4, h->start_energy) && h->in_play >= 0 &&
           isfinite(h->in_play) && h->state_size > head_size &&
           bo_all_finite(h->state_size - head_size, state + head_size);
}

/* The numbers of the state are to be freed. */
static bough_status read_checkpoint(bough_context *ctx, const bough_run *run, const bo_file *file, head *h,
                                    double **state) {
    if (file->size < sizeof *h || memcmp(file->data, magic, sizeof magic) != 0)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "is not a checkpoint");
    memcpy(h, file->data, sizeof *h);
    if (h->byte_order != BYTE_ORDER_MARK || h->version != VERSION)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "is a checkpoint of another version or kind of machine");
    if (h->run_hash != run->hash)
        return bo_fail(
            ctx, BOUGH_ERROR_FORMAT,
            "is a checkpoint of another scene, integrator or time step; resume it with those it was made with");
    const size_t room = file->size - sizeof *h;
    uint64_t hash;
    if (h->state_size < 0 || room < sizeof hash || (room - sizeof hash) % sizeof(double) != 0 ||
        (uint64_t)h->state_size != (room - sizeof hash) / sizeof(double))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "is damaged: its length is wrong");
    const size_t bytes = room - sizeof hash;
    if (!(*state = BO_NEW_ARRAY(ctx, double, h->state_size)))
        return BOUGH_ERROR_MEMORY;
    memcpy(&hash, file->data + sizeof *h + bytes, sizeof hash);
    memcpy(*state, file->data + sizeof *h, bytes);
    if (hash != bo_hash_bytes(BO_HASH_START, file->data, sizeof *h + bytes) || !is_plausible(run, h, *state))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "is damaged: its content does not match its hash");
    return BOUGH_OK;
}

static bough_status go_to(bough_run *run, const head *h, const double *state) {
    BO_TRY(run->engine.kind->restore(run->engine.data, state, h->state_size));
    run->place = (bo_run_place){.step = h->step,
                                .unit = h->unit,
                                .halvings = h->halvings,
                                .good = h->good,
                                .deepest = h->deepest,
                                .iterations = h->iterations,
                                .retries = h->retries,
                                .in_play = h->in_play};
    memcpy(run->place.start_energy, h->start_energy, sizeof h->start_energy);
    return BOUGH_OK;
}

/* When the state read cannot be measured, the run stays where it was. */
static bough_status try_to_go(bough_context *ctx, bough_run *run, const head *h, const double *state) {
    const head before = head_of(run);
    kept_state kept = keep(ctx, run);
    if (!kept.numbers)
        return BOUGH_ERROR_MEMORY;
    bough_status status = go_to(run, h, state);
    if (status == BOUGH_OK)
        status = bo_run_measure(ctx, run, bo_run_time(run), run->trial);
    if (status == BOUGH_OK)
        memcpy(run->values, run->trial, (size_t)run->engine.column_count * sizeof *run->values);
    else
        go_to(run, &before, kept.numbers);
    bo_free(ctx, kept.numbers);
    return status;
}

bough_status bough_run_restore(bough_context *ctx, bough_run *run, const char *path) {
    bo_file file;
    head h;
    double *state = NULL;
    BO_TRY(bo_file_read(ctx, path, &file));
    bough_status status = read_checkpoint(ctx, run, &file, &h, &state);
    bo_file_free(ctx, &file);
    if (status == BOUGH_OK)
        status = try_to_go(ctx, run, &h, state);
    bo_free(ctx, state);
    if (status != BOUGH_OK && status != BOUGH_ERROR_FILE && status != BOUGH_ERROR_MEMORY)
        bo_prefix_message(ctx, "%s: ", path);
    return status;
}
