#include "base/file.h"

#include <bough/record.h>

#include <locale.h>
#include <math.h>
#include <string.h>

static bough_status check(bough_context *ctx, const char *path, int32_t vertex_count, const float *positions,
                          const float *normals, const int32_t *triangles, size_t triangle_count) {
    for (size_t i = 0; i < 3 * (size_t)vertex_count; i++)
        if (!isfinite(positions[i]) || (normals && !isfinite(normals[i])))
            return bo_fail(ctx, BOUGH_NOT_FINITE, "%s: vertex %zu is not finite", path, i / 3);
    for (size_t i = 0; i < 3 * triangle_count; i++)
        if (triangles[i] < 0 || triangles[i] >= vertex_count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: triangle %zu: vertex %d does not exist", path, i / 3,
                           triangles[i]);
    return BOUGH_OK;
}

static void write_vectors(FILE *f, const char *word, const float *vectors, int32_t count, int digits) {
    for (size_t v = 0; v < (size_t)count; v++)
        fprintf(f, "%s %.*g %.*g %.*g\n", word, digits, (double)vectors[3 * v], digits, (double)vectors[3 * v + 1],
                digits, (double)vectors[3 * v + 2]);
}

static void write_group(FILE *f, const bough_obj_group *group, int32_t number, const int32_t *triangles,
                        bool has_normals) {
    fputs("g ", f);
    for (const char *c = group->name; c && *c; c++)
        fputc(strchr(" \t\r\n\v\f#\\", *c) ? '_' : *c, f);
    if (!group->name || !group->name[0])
        fprintf(f, "%d", number);
    fputc('\n', f);
    for (size_t t = 0; t < (size_t)group->triangle_count; t++) {
        fputc('f', f);
        for (int k = 0; k < 3; k++)
            fprintf(f, has_normals ? " %d//%d" : " %d", triangles[3 * t + (size_t)k] + 1,
                    triangles[3 * t + (size_t)k] + 1);
        fputc('\n', f);
    }
}

bough_status bough_obj_write(bough_context *ctx, const char *path, int32_t vertex_count, const float *positions,
                             const float *normals, const int32_t *triangles, int32_t group_count,
                             const bough_obj_group *groups) {
    size_t triangle_count = 0;
    for (int32_t g = 0; g < group_count; g++) {
        if (groups[g].triangle_count < 0)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: group %d has %d triangles", path, g,
                           groups[g].triangle_count);
        triangle_count += (size_t)groups[g].triangle_count;
    }
    BO_TRY(check(ctx, path, vertex_count, positions, normals, triangles, triangle_count));
    bo_output output;
    BO_TRY(bo_output_open(ctx, path, &output));
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!plain) {
        bo_output_discard(ctx, &output);
        return bo_fail_memory(ctx);
    }
    locale_t kept = uselocale(plain);
    write_vectors(output.stream, "v", positions, vertex_count, 9); /* nine digits bring every float back */
    if (normals)
        write_vectors(output.stream, "vn", normals, vertex_count, 4);
    for (int32_t g = 0; g < group_count; g++) {
        write_group(output.stream, &groups[g], g, triangles, normals != NULL);
        triangles += 3 * (size_t)groups[g].triangle_count;
    }
    uselocale(kept);
    freelocale(plain);
    return bo_output_commit(ctx, &output);
}
