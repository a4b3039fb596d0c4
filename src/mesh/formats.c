#include "mesh/formats.h"

#include <locale.h>
#include <string.h>

/* A new format is one row here and one file beside this one. */
static const struct {
    const char *extension;
    bo_mesh_reader read;
    bo_mesh_writer write;
    bool surface_only; /* writes triangles: a volume mesh is written as its boundary */
} formats[] = {
    {"msh", bo_read_msh, bo_write_msh, false}, {"veg", bo_read_veg, NULL, false},
    {"node", bo_read_tetgen, NULL, false},     {"ele", bo_read_tetgen, NULL, false},
    {"mesh", bo_read_medit, NULL, false},      {"vtk", bo_read_vtk, NULL, false},
    {"vtu", NULL, bo_write_vtu, false},        {"inp", bo_read_inp, bo_write_inp, false},
    {"obj", bo_read_obj, bo_write_obj, true},  {"stl", bo_read_stl, bo_write_stl, true},
    {"ply", bo_read_ply, NULL, true},
};

#define FORMAT_COUNT ((int)(sizeof formats / sizeof *formats))

static int find_format(const char *path) {
    const char *extension = bo_path_extension(path);
    for (int i = 0; i < FORMAT_COUNT; i++)
        if (bo_equal_ignoring_case(extension, formats[i].extension))
            return i;
    return -1;
}

static bough_status fail_format(bough_context *ctx, const char *path, bool reading) {
    char known[128] = "";
    for (int i = 0; i < FORMAT_COUNT; i++)
        if (reading ? formats[i].read != NULL : formats[i].write != NULL) {
            size_t used = strlen(known);
            snprintf(known + used, sizeof known - used, " .%s", formats[i].extension);
        }
    return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: Bough cannot %s files with this extension; it %s%s", path,
                   reading ? "read" : "write", reading ? "reads" : "writes", known);
}

/* Files have a decimal point, whatever the host program's locale is; so have the names that readers make of numbers. */
typedef struct c_numbers {
    locale_t plain, before;
} c_numbers;

static c_numbers begin_c_numbers(void) {
    c_numbers n = {.plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0)};
    if (n.plain)
        n.before = uselocale(n.plain);
    return n;
}

static void end_c_numbers(c_numbers n) {
    if (!n.plain)
        return;
    uselocale(n.before);
    freelocale(n.plain);
}

bough_status bough_mesh_read(bough_context *ctx, const char *path, const bough_mesh_read_def *def, bough_mesh **mesh) {
    *mesh = NULL;
    if (def && !bo_read_def_valid(def))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the read def was not made by bough_default_mesh_read_def()");
    int format = find_format(path);
    if (format < 0 || !formats[format].read)
        return fail_format(ctx, path, true);
    bo_file file;
    BO_TRY(bo_file_read(ctx, path, &file));
    bo_scanner scanner;
    bo_builder builder;
    bo_scan_begin(&scanner, ctx, path, &file);
    bo_builder_begin(&builder, ctx, path);
    c_numbers numbers = begin_c_numbers();
    bough_status status = formats[format].read(&scanner, &builder);
    end_c_numbers(numbers);
    if (status == BOUGH_OK)
        status = bo_builder_finish(&builder, def, mesh);
    else
        bo_builder_discard(&builder);
    bo_file_free(ctx, &file);
    return status;
}

bough_status bough_mesh_write(bough_context *ctx, const bough_mesh *mesh, const char *path) {
    int format = find_format(path);
    if (format < 0 || !formats[format].write)
        return fail_format(ctx, path, false);
    if (formats[format].surface_only && mesh->type != BOUGH_TRI3) {
        bough_mesh *surface;
        BO_TRY(bough_mesh_surface(ctx, mesh, &surface, NULL, NULL));
        bough_status status = bough_mesh_write(ctx, surface, path);
        bough_mesh_destroy(ctx, surface);
        return status;
    }
    bo_output output;
    BO_TRY(bo_output_open(ctx, path, &output));
    c_numbers numbers = begin_c_numbers();
    bough_status status = formats[format].write(ctx, mesh, path, output.stream);
    end_c_numbers(numbers);
    if (status != BOUGH_OK) {
        bo_output_discard(ctx, &output);
        return status;
    }
    return bo_output_commit(ctx, &output);
}
