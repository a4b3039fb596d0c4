/* Files that other programs write. */
#include "base/file.h"

#include <bough/record.h>

struct bough_output {
    bo_output file;
};

bough_status bough_output_create(bough_context *ctx, const char *path, bough_output **output) {
    *output = NULL;
    bough_output *o = BO_NEW(ctx, bough_output);
    if (!o)
        return BOUGH_ERROR_MEMORY;
    bough_status status = bo_output_open(ctx, path, &o->file);
    if (status == BOUGH_OK && !o->file.temporary) {
        bo_output_discard(ctx, &o->file);
        status =
            bo_fail(ctx, BOUGH_ERROR_FILE, "%s: is a pipe or device, but must be a file that can be rewound", path);
    }
    if (status == BOUGH_OK)
        *output = o;
    else
        bo_free(ctx, o);
    return status;
}

const char *bough_output_name(const bough_output *output) {
    return output->file.temporary;
}

bough_status bough_output_finish(bough_context *ctx, bough_output *output) {
    bough_status status = bo_output_commit(ctx, &output->file);
    bo_free(ctx, output);
    return status;
}

void bough_output_discard(bough_context *ctx, bough_output *output) {
    if (!output)
        return;
    bo_output_discard(ctx, &output->file);
    bo_free(ctx, output);
}
