#include "mesh/formats.h"
#define READER(name)                              \
    bough_status name(bo_scanner *s, bo_builder *b) { \
        (void)b;                                  \
        return bo_scan_fail(s, "unfinished");     \
    }
#define WRITER(name)                                                                              \
    bough_status name(bough_context *ctx, const bough_mesh *mesh, const char *path, FILE *stream) { \
        (void)mesh, (void)path, (void)stream;                                                     \
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "unfinished");                               \
    }
READER(bo_read_msh)
READER(bo_read_obj)
READER(bo_read_stl)
READER(bo_read_ply)
WRITER(bo_write_msh)
WRITER(bo_write_obj)
WRITER(bo_write_stl)
bough_status bough_mesh_surface(bough_context *ctx, const bough_mesh *mesh, bough_mesh **surface, int32_t **vertex_map,
                                int32_t **face_map) {
    (void)mesh, (void)surface, (void)vertex_map, (void)face_map;
    return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "unfinished");
}
