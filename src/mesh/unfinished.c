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
READER(bo_read_veg)
READER(bo_read_tetgen)
READER(bo_read_medit)
READER(bo_read_vtk)
READER(bo_read_inp)
WRITER(bo_write_vtu)
WRITER(bo_write_inp)
