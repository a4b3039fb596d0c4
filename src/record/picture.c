#include "record/picture.h"

#include "base/file.h"
#include "record/png.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PICTURE_COOKIE = 0x70696374, SURFACE_COOKIE = 0x73757266, LINE_COOKIE = 0x6c696e65 };

bough_picture_def bough_default_picture_def(void) {
    return (bough_picture_def){
        .cookie = PICTURE_COOKIE,
        .width = 1280,
        .height = 800,
        .samples = 3,
        .eye = {2.4, -3.6, 1.9},
        .up = {0, 0, 1},
        .field_of_view = 0.5,
        .background_top = {0.86f, 0.90f, 0.94f},
        .background_bottom = {0.985f, 0.985f, 0.98f},
        .ground = true,
        .ground_height = NAN,
        .shadow = 0.6,
    };
}

bough_surface_style bough_default_surface_style(void) {
    return (bough_surface_style){
        .cookie = SURFACE_COOKIE,
        .colour = {0.36f, 0.55f, 0.74f},
        .scalar_max = 1,
        .crease_angle = 0.7,
        .gloss = 0.3,
        .edge_colour = {0.10f, 0.13f, 0.18f},
        .edge_width = 1,
        .casts_shadow = true,
    };
}

bough_line_style bough_default_line_style(void) {
    return (bough_line_style){.cookie = LINE_COOKIE, .colour = {0.80f, 0.27f, 0.18f}, .width = 2.5};
}

void bough_picture_frame(bough_picture_def *def, const double lower[3], const double upper[3]) {
    bo_camera camera = bo_camera_of(def);
    bo_vec3 centre = bo_scale(0.5, bo_add(bo_load3(lower), bo_load3(upper)));
    double tangent_y = 0.5 * def->height / camera.focal, tangent_x = 0.5 * def->width / camera.focal;
    double distance = 1e-9;
    for (int corner = 0; corner < 8; corner++) {
        bo_vec3 p =
            bo_v3(corner & 1 ? upper[0] : lower[0], corner & 2 ? upper[1] : lower[1], corner & 4 ? upper[2] : lower[2]);
        p = bo_sub(p, centre);
        double x = fabs(bo_dot(camera.right, p)), y = fabs(bo_dot(camera.up, p)), z = bo_dot(camera.forward, p);
        /* |x| <= tangent_x (distance + z), and a margin of 12 % */
        distance = fmax(distance, fmax(1.12 * x / tangent_x, 1.12 * y / tangent_y) - z);
    }
    bo_store3(def->target, centre);
    bo_store3(def->eye, bo_mul_add(centre, -distance, camera.forward));
}

bough_status bo_check_picture_size(bough_context *ctx, int32_t width, int32_t height) {
    if (width < 1 || height < 1 || width > BOUGH_PICTURE_SIZE_LIMIT || height > BOUGH_PICTURE_SIZE_LIMIT)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a picture has 1 to %d pixels either way, not %d x %d",
                       BOUGH_PICTURE_SIZE_LIMIT, width, height);
    return BOUGH_OK;
}

static bool finite3(const double *v) {
    return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]);
}

static bough_status check_def(bough_context *ctx, const bough_picture_def *def) {
    if (def->cookie != PICTURE_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the picture def was not made by bough_default_picture_def()");
    BO_TRY(bo_check_picture_size(ctx, def->width, def->height));
    if (def->samples < 1 || def->samples > 4)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "samples per pixel edge must be 1 to 4, not %d", def->samples);
    if (!finite3(def->eye) || !finite3(def->target) || !finite3(def->up) || !finite3(def->light))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "eye, target, up and light must be finite");
    bo_vec3 view = bo_sub(bo_load3(def->target), bo_load3(def->eye));
    if (!(bo_norm(view) > 0) || !(bo_norm(bo_load3(def->up)) > 0))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "eye and target must differ, and up must not be zero");
    if (!(def->field_of_view > 1e-6 && def->field_of_view < 3.1))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the field of view must be above 0 and below pi rad, not %g",
                       def->field_of_view);
    if (!(def->shadow >= 0 && def->shadow <= 1))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "shadow must be 0 to 1, not %g", def->shadow);
    return BOUGH_OK;
}

bough_status bough_picture_create(bough_context *ctx, const bough_picture_def *def, bough_picture **picture) {
    *picture = NULL;
    bough_picture_def used = def ? *def : bough_default_picture_def();
    BO_TRY(check_def(ctx, &used));
    bough_picture *p = BO_NEW(ctx, bough_picture);
    if (p)
        p->pixels = BO_NEW_ZEROS(ctx, uint8_t, 4 * (size_t)used.width * (size_t)used.height);
    if (!p || !p->pixels) {
        bo_free(ctx, p);
        return bo_fail_memory(ctx);
    }
    p->def = used;
    for (size_t i = 3; i < 4 * (size_t)used.width * (size_t)used.height; i += 4)
        p->pixels[i] = 255;
    *picture = p;
    return BOUGH_OK;
}

bough_status bough_picture_set_def(bough_context *ctx, bough_picture *picture, const bough_picture_def *def) {
    if (!def)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a picture def is needed");
    BO_TRY(check_def(ctx, def));
    if (def->width != picture->def.width || def->height != picture->def.height || def->samples != picture->def.samples)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the size and the samples of a picture cannot change");
    picture->def = *def;
    return BOUGH_OK;
}

static void free_surface(bough_context *ctx, bo_surface *s) {
    bo_free(ctx, s->vertices);
    bo_free(ctx, s->triangles);
    bo_free(ctx, s->corner_normals);
    bo_free(ctx, s->colours);
    bo_free(ctx, s->edge_mask);
}

void bough_picture_clear(bough_context *ctx, bough_picture *picture) {
    for (size_t i = 0; i < picture->surface_count; i++)
        free_surface(ctx, &picture->surfaces[i]);
    for (size_t i = 0; i < picture->label_count; i++)
        bo_free(ctx, picture->labels[i].text);
    picture->surface_count = picture->segment_count = picture->label_count = picture->bar_count = 0;
}

void bough_picture_destroy(bough_context *ctx, bough_picture *picture) {
    if (!picture)
        return;
    bough_picture_clear(ctx, picture);
    bo_free(ctx, picture->surfaces);
    bo_free(ctx, picture->segments);
    bo_free(ctx, picture->labels);
    bo_free(ctx, picture->bars);
    bo_free(ctx, picture->pixels);
    bo_free(ctx, picture);
}

const uint8_t *bough_picture_pixels(const bough_picture *picture) {
    return picture->pixels;
}

static bough_status check_surface(bough_context *ctx, int32_t vertex_count, const int32_t *triangles,
                                  int32_t triangle_count, const bough_surface_style *style) {
    if (style->cookie != SURFACE_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the style was not made by bough_default_surface_style()");
    if (vertex_count < 0 || triangle_count < 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a surface cannot have a negative number of vertices or triangles");
    for (size_t i = 0; i < 3 * (size_t)triangle_count; i++)
        if (triangles[i] < 0 || triangles[i] >= vertex_count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "triangle %zu has vertex %d, but there are %d vertices", i / 3,
                           triangles[i], vertex_count);
    return BOUGH_OK;
}

static void vertex_colours(bo_surface *s, const bough_surface_style *style) {
    double range = style->scalar_max - style->scalar_min;
    for (int32_t v = 0; v < s->vertex_count; v++) {
        float mapped[3];
        const float *colour = mapped;
        if (style->scalars)
            bough_colour_map_at(
                style->colour_map,
                range > 0 ? (style->scalars[v] - style->scalar_min) / range : 0.5 + 0 * style->scalars[v], mapped);
        else
            colour = style->vertex_colours + 3 * (size_t)v;
        s->colours[v] = bo_rgb_from_srgb(colour);
    }
}

/* Keeps the triangles whose corners are all finite, with the edges to be drawn. Returns how many were left out. */
static int32_t copy_triangles(bo_surface *s, const int32_t *triangles, int32_t count, const uint8_t *mask) {
    for (int32_t t = 0; t < count; t++) {
        const int32_t *v = triangles + 3 * (size_t)t;
        if (!finite3(s->vertices + 3 * (size_t)v[0]) || !finite3(s->vertices + 3 * (size_t)v[1]) ||
            !finite3(s->vertices + 3 * (size_t)v[2]))
            continue;
        if (s->edge_mask)
            s->edge_mask[s->triangle_count] = mask ? mask[t] : 7;
        memcpy(s->triangles + 3 * (size_t)s->triangle_count++, v, 3 * sizeof *v);
    }
    return count - s->triangle_count;
}

static bough_status build_surface(bough_context *ctx, bo_surface *s, const double *vertices, int32_t vertex_count,
                                  const int32_t *triangles, int32_t triangle_count, const bough_surface_style *style) {
    *s = (bo_surface){.vertex_count = vertex_count,
                      .colour = bo_rgb_from_srgb(style->colour),
                      .edge_colour = bo_rgb_from_srgb(style->edge_colour),
                      .gloss = style->gloss,
                      .edge_width = style->edge_width,
                      .casts_shadow = style->casts_shadow};
    s->vertices = BO_NEW_ARRAY(ctx, double, 3 * (size_t)vertex_count);
    s->triangles = BO_NEW_ARRAY(ctx, int32_t, 3 * (size_t)triangle_count);
    bool coloured = style->scalars || style->vertex_colours;
    if (coloured)
        s->colours = BO_NEW_ARRAY(ctx, bo_rgb, vertex_count);
    if (style->edges)
        s->edge_mask = BO_NEW_ARRAY(ctx, uint8_t, triangle_count);
    if (!s->vertices || !s->triangles || (coloured && !s->colours) || (style->edges && !s->edge_mask))
        return bo_fail_memory(ctx);
    if (vertex_count > 0)
        memcpy(s->vertices, vertices, 3 * (size_t)vertex_count * sizeof *vertices);
    if (coloured)
        vertex_colours(s, style);
    int32_t left_out = copy_triangles(s, triangles, triangle_count, style->edge_mask);
    if (left_out > 0)
        bo_warn(ctx, "picture: %d of %d triangles have a vertex that is not finite and are left out", left_out,
                triangle_count);
    return bo_surface_normals(ctx, s, style->crease_angle);
}

bough_status bough_picture_add_surface(bough_context *ctx, bough_picture *picture, const double *vertices,
                                       int32_t vertex_count, const int32_t *triangles, int32_t triangle_count,
                                       const bough_surface_style *style) {
    bough_surface_style used = style ? *style : bough_default_surface_style();
    BO_TRY(check_surface(ctx, vertex_count, triangles, triangle_count, &used));
    if (!BO_RESERVE(ctx, picture->surfaces, picture->surface_capacity, picture->surface_count + 1))
        return bo_fail_memory(ctx);
    bo_surface *s = &picture->surfaces[picture->surface_count];
    bough_status status = build_surface(ctx, s, vertices, vertex_count, triangles, triangle_count, &used);
    if (status == BOUGH_OK)
        picture->surface_count++;
    else
        free_surface(ctx, s);
    return status;
}

/* Point k of segment i is points[stride i + 3 k ...]. */
static bough_status add_segments(bough_context *ctx, bough_picture *picture, const double *points, int32_t count,
                                 size_t stride, const bough_line_style *style) {
    bough_line_style used = style ? *style : bough_default_line_style();
    if (used.cookie != LINE_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the style was not made by bough_default_line_style()");
    if (!(used.width > 0 && used.width <= 1000))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the width of a line must be above 0 and at most 1000 pixels, not %g",
                       used.width);
    if (count <= 0)
        return BOUGH_OK;
    if (!BO_RESERVE(ctx, picture->segments, picture->segment_capacity, picture->segment_count + (size_t)count))
        return bo_fail_memory(ctx);
    for (size_t i = 0; i < (size_t)count; i++) {
        const double *from = points + stride * i;
        if (finite3(from) && finite3(from + 3))
            picture->segments[picture->segment_count++] =
                (bo_segment){bo_load3(from), bo_load3(from + 3), bo_rgb_from_srgb(used.colour),
                             used.width,     used.on_top,        used.arrowhead};
    }
    return BOUGH_OK;
}

bough_status bough_picture_add_lines(bough_context *ctx, bough_picture *picture, const double *points,
                                     int32_t segment_count, const bough_line_style *style) {
    return add_segments(ctx, picture, points, segment_count, 6, style);
}

bough_status bough_picture_add_polyline(bough_context *ctx, bough_picture *picture, const double *points,
                                        int32_t point_count, const bough_line_style *style) {
    return add_segments(ctx, picture, points, point_count - (point_count > 0), 3, style);
}

bough_status bough_picture_add_label(bough_context *ctx, bough_picture *picture, double x, double y, double size,
                                     const float colour[3], const char *text) {
    if (!isfinite(x) || !isfinite(y) || !(size > 0 && size <= BOUGH_PICTURE_SIZE_LIMIT))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a label needs a finite place and a size above 0");
    if (!BO_RESERVE(ctx, picture->labels, picture->label_capacity, picture->label_count + 1))
        return bo_fail_memory(ctx);
    char *copy = bo_strdup(ctx, text);
    if (!copy)
        return bo_fail_memory(ctx);
    picture->labels[picture->label_count++] = (bo_label){x, y, size, bo_rgb_from_srgb(colour), copy};
    return BOUGH_OK;
}

/* Numbers stand at the right of the bar, at its ends and quarters. */
bough_status bough_picture_add_colour_bar(bough_context *ctx, bough_picture *picture, double x, double y, double width,
                                          double height, bough_colour_map map, double minimum, double maximum,
                                          const char *title) {
    static const float inks[2][3] = {{0.15f, 0.17f, 0.20f}, {0.86f, 0.87f, 0.89f}};
    const float *ink = inks[picture->def.background_bottom[1] < 0.5f];
    if (!isfinite(x) || !isfinite(y) || !(width > 0 && width < 1e5) || !(height > 0 && height < 1e5))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a colour bar needs a finite place and a size above 0");
    if (!BO_RESERVE(ctx, picture->bars, picture->bar_capacity, picture->bar_count + 1))
        return bo_fail_memory(ctx);
    picture->bars[picture->bar_count++] = (bo_colour_bar){x, y, width, height, map};
    double size = fmin(14, fmax(7, height / 16));
    for (int i = 0; i <= 4; i++) {
        char text[32];
        double value = minimum + (maximum - minimum) * i / 4;
        snprintf(text, sizeof text, "%.3g", fabs(value) < 1e-12 * fabs(maximum - minimum) ? 0 : value);
        BO_TRY(bough_picture_add_label(ctx, picture, x + width + 0.7 * size, y + height * (1 - i / 4.0) - 0.5 * size,
                                       size, ink, text));
    }
    return title ? bough_picture_add_label(ctx, picture, x, y - 2.2 * size, size, ink, title) : BOUGH_OK;
}

bough_status bough_picture_write_png(bough_context *ctx, const bough_picture *picture, const char *path) {
    bo_output output;
    BO_TRY(bo_output_open(ctx, path, &output));
    int32_t width = picture->def.width, height = picture->def.height;
    bo_png_write_header(output.stream, width, height);
    bough_status status = bo_png_write_image(
        ctx, output.stream, (bo_png_image){picture->pixels, 4 * (size_t)width, width, height}, NULL, true);
    if (status != BOUGH_OK) {
        bo_output_discard(ctx, &output);
        return status;
    }
    bo_png_write_chunk(output.stream, "IEND", NULL, 0);
    return bo_output_commit(ctx, &output);
}
