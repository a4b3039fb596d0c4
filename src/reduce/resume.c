/* A cancelled cooking leaves the modes behind, or the whole basis with them, so that the next one goes on from there.
 * The file is an image of its own kind and belongs to one hash of all inputs. */
#include "reduce/cook.h"

#include "base/file.h"
#include "component/image.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define KIND "bough-partial"
#define VERSION 1

void bo_cook_leave(bo_cook *cook) {
    const char *path = cook->def->resume_path;
    if (!path || !cook->def->input_hash || (!cook->modes_done && !cook->basis_done))
        return;
    bough_context *ctx = cook->ctx;
    char message[BO_MESSAGE_SIZE]; /* whatever happens here, the reason for leaving stays */
    memcpy(message, ctx->message, sizeof message);
    uint64_t n = (uint64_t)cook->n, k = (uint64_t)cook->mode_count, r = (uint64_t)cook->r;
    bough_component_quality *quality = &cook->draft.quality;
    const double errors[2] = {quality->basis_error, quality->energy_captured};
    bo_image_builder builder;
    void *bytes;
    size_t size;
    bo_image_begin(ctx, &builder, KIND, VERSION);
    bo_image_add(&builder, "hash", BO_U8, 1, (uint64_t[]){sizeof cook->def->input_hash}, &cook->def->input_hash);
    bo_image_add(&builder, "eigenvalues", BO_F64, 1, &k, cook->eigenvalues);
    if (cook->basis_done) {
        bo_image_add(&builder, "U", BO_F64, 2, (uint64_t[]){n, r}, cook->U);
        bo_image_add(&builder, "errors", BO_F64, 1, (uint64_t[]){2}, errors);
    }
    if (cook->modes) /* of a complete basis: for the report on quality */
        bo_image_add(&builder, "modes", BO_F64, 2, (uint64_t[]){k, n}, cook->modes);
    if (bo_image_finish(&builder, &bytes, &size) == BOUGH_OK) {
        bo_image_save(ctx, bytes, size, path);
        bo_free(ctx, bytes);
    }
    memcpy(ctx->message, message, sizeof message);
}

/* NULL when there is no memory, or when a number is not finite: that would come back with every further cooking. */
static double *copy(bo_cook *cook, const bo_chunk *from) {
    size_t count = from->size / sizeof(double);
    double *to = BO_COOK_ARRAY(cook, double, count);
    if (!to)
        return NULL;
    memcpy(to, from->data, from->size);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(to[i]))
            return NULL; /* the block is the cooking's */
    return to;
}

/* True when the basis is complete; modes alone are kept for it. */
static bool take(bo_cook *cook, const bo_image *image) {
    bo_chunk hash, values, found;
    uint64_t n = (uint64_t)cook->n;
    if (!bo_image_find(image, "hash", &hash) || hash.size != sizeof cook->def->input_hash ||
        memcmp(hash.data, &cook->def->input_hash, hash.size) != 0)
        return false;
    if (bo_image_find(image, "eigenvalues", &values) && values.type == BO_F64 && values.rank == 1 &&
        values.dims[0] <= n) {
        cook->eigenvalues = copy(cook, &values);
        cook->mode_count = cook->eigenvalues ? (int32_t)values.dims[0] : 0;
    }
    if (bo_image_find(image, "modes", &found) && found.type == BO_F64 && found.rank == 2 &&
        found.dims[0] == (uint64_t)cook->mode_count && found.dims[1] == n) {
        cook->modes = copy(cook, &found);
        cook->modes_done = cook->modes != NULL;
    }
    bo_chunk errors;
    if (bo_image_find(image, "U", &found) && found.type == BO_F64 && found.rank == 2 && found.dims[0] == n &&
        found.dims[1] <= (uint64_t)cook->def->r && bo_image_find(image, "errors", &errors) && errors.type == BO_F64 &&
        errors.size == 2 * sizeof(double)) {
        cook->U = copy(cook, &found);
        cook->r = cook->U ? (int32_t)found.dims[1] : cook->r;
        cook->basis_done = cook->U != NULL;
        cook->draft.quality.basis_error = ((const double *)errors.data)[0];
        cook->draft.quality.energy_captured = ((const double *)errors.data)[1];
    }
    if (!cook->modes_done && !cook->basis_done)
        cook->mode_count = 0;
    return cook->basis_done;
}

bool bo_cook_resume(bo_cook *cook) {
    const char *path = cook->def->resume_path;
    if (!path || !cook->def->input_hash || !bo_file_exists(path))
        return false;
    char message[BO_MESSAGE_SIZE]; /* a file that cannot be used is only lost work */
    memcpy(message, cook->ctx->message, sizeof message);
    bo_file file;
    bo_image image;
    bool found = false;
    if (bo_file_read(cook->ctx, path, &file) == BOUGH_OK) {
        found = bo_image_open(cook->ctx, file.data, file.size, KIND, VERSION, &image) == BOUGH_OK && take(cook, &image);
        bo_file_free(cook->ctx, &file);
    }
    memcpy(cook->ctx->message, message, sizeof message);
    return found;
}

void bo_cook_forget(bo_cook *cook) {
    if (cook->def->resume_path && cook->def->input_hash)
        remove(cook->def->resume_path);
}
