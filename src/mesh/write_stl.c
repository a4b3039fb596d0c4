/* Binary .stl of a triangle surface: coordinates are rounded to single precision, sets are lost. */
#include "base/vec.h"
#include "mesh/formats.h"

#include <float.h>
#include <string.h>

static void put_uint32(uint32_t value, FILE *f) {
    for (int shift = 0; shift < 32; shift += 8)
        fputc((int)(value >> shift & 255), f);
}

static void put_vector(bo_vec3 v, FILE *f) {
    const float values[3] = {(float)v.x, (float)v.y, (float)v.z};
    for (int d = 0; d < 3; d++) {
        uint32_t bits;
        memcpy(&bits, &values[d], sizeof bits);
        put_uint32(bits, f);
    }
}

static void put_triangle(const bough_mesh *mesh, int32_t element, FILE *f) {
    const int32_t *n = bo_mesh_nodes(mesh, element);
    bo_vec3 x[3];
    for (int i = 0; i < 3; i++)
        x[i] = bo_load3(mesh->vertices + 3 * (size_t)n[i]);
    put_vector(bo_normalize(bo_cross(bo_sub(x[1], x[0]), bo_sub(x[2], x[0]))), f);
    for (int i = 0; i < 3; i++)
        put_vector(x[i], f);
    fputc(0, f);
    fputc(0, f);
}

bough_status bo_write_stl(bough_context *ctx, const bough_mesh *mesh, const char *path, FILE *stream) {
    for (int32_t i = 0; i < 3 * mesh->vertex_count; i++)
        if (!(fabs(mesh->vertices[i]) <= (double)FLT_MAX))
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                           "%s: vertex %d lies at %g, beyond the single precision of STL files", path, i / 3,
                           mesh->vertices[i]);
    /* Must not begin with "solid", the mark of text files. */
    char header[80] = "Bough surface, binary STL";
    fwrite(header, 1, sizeof header, stream);
    put_uint32((uint32_t)mesh->element_count, stream);
    for (int32_t e = 0; e < mesh->element_count; e++) {
        put_triangle(mesh, e, stream);
        BO_TRY(bo_mesh_go_on(ctx, "writing triangles", (size_t)e, (size_t)mesh->element_count));
    }
    return BOUGH_OK;
}
