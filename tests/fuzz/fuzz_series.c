/* Indices of series of .vtu files that a run goes on with: frames up to its time are kept, and the index stays one. */
#include "fuzz.h"

#include "record/series.h"
#include "scene/xml.h"

#include <sys/stat.h>

static const double last = 1;

/* The mesh of all frames. */
static const bough_mesh *frame_mesh(void) {
    static bough_context *ctx;
    static bough_mesh *mesh;
    if (!mesh) {
        ctx = test_context(1);
        bough_box_def box = bough_default_box_def();
        box.cells[0] = box.cells[1] = box.cells[2] = 1;
        check_ok(ctx, bough_mesh_generate_box(ctx, &box, &mesh));
    }
    return mesh;
}

static void check_index(bough_context *ctx, int32_t count) {
    bo_xml xml = {0};
    int32_t found = 0;
    check_ok(ctx, bo_xml_load(ctx, test_path("series/frames.pvd"), "PVD", &xml));
    check(bo_xml_is(xml.elements, "VTKFile"));
    const bo_xml_element *collection = bo_xml_child(&xml, xml.elements, "Collection");
    check(collection && !bo_xml_next(&xml, collection, NULL));
    for (const bo_xml_element *e = bo_xml_child(&xml, collection, NULL); e; e = bo_xml_next(&xml, e, NULL)) {
        char name[32], *end;
        const char *time = bo_xml_get(&xml, e, "timestep"), *file = bo_xml_get(&xml, e, "file");
        snprintf(name, sizeof name, "frame_%06d.vtu", found++);
        check(bo_xml_is(e, "DataSet") && time && file && !strcmp(file, name));
        check(found == count ? strtod(time, &end) == 1.5 : strtod(time, &end) <= last);
        check(!*end);
    }
    check_int(found, count);
    bo_xml_free(&xml);
}

void fuzz_one(const uint8_t *data, size_t size) {
    fuzz_memory memory;
    bo_series series;
    bough_context *ctx = fuzz_context(&memory);
    const double still[24] = {0};
    mkdir(test_path("series"), 0777);
    test_write(test_path("series/frames.pvd"), data, size);
    check_ok(ctx, bo_series_continue(ctx, test_path("series"), last, &series));
    check_ok(ctx, bo_series_frame(ctx, &series, 1.5, frame_mesh(), still, still, NULL));
    const int32_t count = series.count;
    check_ok(ctx, bo_series_close(ctx, &series));
    check_index(ctx, count);
    fuzz_end(ctx, &memory, BOUGH_OK);
}

#define FRAME(time, number) "<DataSet timestep=\"" time "\" file=\"frame_00000" number ".vtu\"/>\n"
#define END "</Collection>\n</VTKFile>\n"

void fuzz_seeds(fuzz_add *add) {
    static const char *const frames[] = {(FRAME("0", "0") FRAME("0.5", "1") FRAME("2", "2") END),
                                         (FRAME("0", "0") "<DataSet timestep=\"0.5\" file=\"fra"),
                                         (FRAME("0", "0") FRAME("nan", "1")),
                                         FRAME("\n0", "0"),
                                         (FRAME("0", "0") FRAME("0.5", "0") FRAME("<", "1")),
                                         ("<DataSet timestep=\"x\" file=\"a&b\"/>\n" END)};
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n<Collection>\n%s", frames[i]);
        fuzz_add_text(add, text);
    }
}
