/* Animated PNG: the first frame is the image of an ordinary PNG, the others follow as rectangles of new pixels that
 * replace what was there (dispose "none", blend "source"). */
#include "record/picture.h"

#include "base/file.h"
#include "record/png.h"

#include <string.h>
#include <unistd.h>

struct bough_animation {
    bo_output output;
    int32_t width, height;
    double frames_per_second;
    uint32_t frame_count, sequence;
    long control_at; /* where acTL is, to be written again when the number of frames is known */
    uint8_t *last;   /* pixels of the last frame, RGBA */
};

typedef struct rectangle {
    int32_t x, y, width, height;
} rectangle;

static void destroy(bough_context *ctx, bough_animation *a) {
    if (a)
        bo_free(ctx, a->last);
    bo_free(ctx, a);
}

/* acTL: number of frames, and of repetitions (0: for ever). */
static void write_control(bough_animation *a) {
    uint8_t data[8] = {0};
    bo_png_store32(data, a->frame_count);
    bo_png_write_chunk(a->output.stream, "acTL", data, sizeof data);
}

bough_status bough_animation_create(bough_context *ctx, const char *path, int32_t width, int32_t height,
                                    double frames_per_second, bough_animation **animation) {
    *animation = NULL;
    BO_TRY(bo_check_picture_size(ctx, width, height));
    if (!(frames_per_second >= 0.1 && frames_per_second <= 600))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "frames per second must be 0.1 to 600, not %g", frames_per_second);
    bough_animation *a = BO_NEW(ctx, bough_animation);
    if (a)
        a->last = BO_NEW_ARRAY(ctx, uint8_t, 4 * (size_t)width * (size_t)height);
    if (!a || !a->last) {
        destroy(ctx, a);
        return bo_fail_memory(ctx);
    }
    a->width = width, a->height = height, a->frames_per_second = frames_per_second;
    bough_status status = bo_output_open(ctx, path, &a->output);
    if (status != BOUGH_OK) {
        destroy(ctx, a);
        return status;
    }
    if (!a->output.temporary) {
        bough_animation_discard(ctx, a);
        return bo_fail(ctx, BOUGH_ERROR_FILE, "%s: an animation needs a file that can be rewound", path);
    }
    bo_png_write_header(a->output.stream, width, height);
    a->control_at = ftell(a->output.stream);
    write_control(a);
    *animation = a;
    return BOUGH_OK;
}

/* The smallest rectangle outside of which nothing changed; at least one pixel, because PNG has no empty frames. */
static rectangle changed_rectangle(const bough_animation *a, const uint8_t *pixels) {
    if (a->frame_count == 0)
        return (rectangle){0, 0, a->width, a->height};
    int32_t left = a->width, right = -1, top = a->height, bottom = -1;
    size_t stride = 4 * (size_t)a->width;
    for (int32_t y = 0; y < a->height; y++) {
        const uint8_t *row = pixels + stride * (size_t)y, *old = a->last + stride * (size_t)y;
        if (memcmp(row, old, stride) == 0)
            continue;
        top = y < top ? y : top;
        bottom = y;
        int32_t x = 0;
        while (x < left && memcmp(row + 4 * x, old + 4 * x, 4) == 0)
            x++;
        left = x < left ? x : left;
        x = a->width - 1;
        while (x > right && memcmp(row + 4 * x, old + 4 * x, 4) == 0)
            x--;
        right = x > right ? x : right;
    }
    return bottom < 0 ? (rectangle){0, 0, 1, 1} : (rectangle){left, top, right - left + 1, bottom - top + 1};
}

/* fcTL: place, size and duration of the frame that follows. */
static void write_frame_control(bough_animation *a, rectangle r) {
    uint8_t data[26] = {0};
    uint32_t rate = (uint32_t)(100 * a->frames_per_second + 0.5); /* frames in 100 s */
    bo_png_store32(data, a->sequence++);
    bo_png_store32(data + 4, (uint32_t)r.width);
    bo_png_store32(data + 8, (uint32_t)r.height);
    bo_png_store32(data + 12, (uint32_t)r.x);
    bo_png_store32(data + 16, (uint32_t)r.y);
    data[21] = 100; /* duration = 100 / rate seconds, both of 16 bits */
    data[22] = (uint8_t)(rate >> 8), data[23] = (uint8_t)rate;
    bo_png_write_chunk(a->output.stream, "fcTL", data, sizeof data);
}

bough_status bough_animation_add(bough_context *ctx, bough_animation *animation, const bough_picture *picture) {
    bough_animation *a = animation;
    if (picture->def.width != a->width || picture->def.height != a->height)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the picture has %d x %d pixels, the animation %d x %d",
                       picture->def.width, picture->def.height, a->width, a->height);
    size_t stride = 4 * (size_t)a->width;
    long start = ftell(a->output.stream);
    uint32_t sequence = a->sequence;
    rectangle r = changed_rectangle(a, picture->pixels);
    bo_png_image image = {picture->pixels + stride * (size_t)r.y + 4 * (size_t)r.x, stride, r.width, r.height};
    write_frame_control(a, r);
    bough_status status =
        bo_png_write_image(ctx, a->output.stream, image, a->frame_count > 0 ? &a->sequence : NULL, false);
    if (status != BOUGH_OK) { /* as if it had not been called */
        a->sequence = sequence;
        fseek(a->output.stream, start, SEEK_SET);
        return status;
    }
    memcpy(a->last, picture->pixels, stride * (size_t)a->height);
    a->frame_count++;
    return BOUGH_OK;
}

bough_status bough_animation_finish(bough_context *ctx, bough_animation *animation) {
    if (animation->frame_count == 0) {
        bough_animation_discard(ctx, animation);
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "an animation needs at least one frame");
    }
    FILE *stream = animation->output.stream;
    bo_png_write_chunk(stream, "IEND", NULL, 0);
    bool cut = fflush(stream) == 0 && ftruncate(fileno(stream), ftell(stream)) == 0;
    bool rewound = cut && fseek(stream, animation->control_at, SEEK_SET) == 0;
    if (!rewound) {
        bough_animation_discard(ctx, animation);
        return bo_fail(ctx, BOUGH_ERROR_FILE, "cannot complete the animation");
    }
    write_control(animation);
    bough_status status = bo_output_commit(ctx, &animation->output);
    destroy(ctx, animation);
    return status;
}

void bough_animation_discard(bough_context *ctx, bough_animation *animation) {
    if (!animation)
        return;
    bo_output_discard(ctx, &animation->output);
    destroy(ctx, animation);
}
