/* Binary glTF 2.0: a header, a chunk of JSON, a chunk of numbers (little-endian). The numbers are in four views:
 * indices, vertices, floats over time, 16-bit numbers over time. Accessors are found first, then written as JSON, then
 * their numbers in the same order. */
#include "record/glb.h"

#include <locale.h>
#include <math.h>
#include <string.h>

enum { INDICES, VERTICES, FLOATS, SHORTS, VIEWS };
enum { SHORT_TYPE = 5122, INDEX_TYPE = 5125, FLOAT_TYPE = 5126 }; /* numbers of glTF */

typedef struct accessor {
    int32_t view, width; /* width: scalars in an item */
    size_t offset, count;
    bool bounded;
    float lower[3], upper[3];
} accessor;

typedef struct writer {
    bough_context *ctx;
    bough_glb *glb;
    FILE *stream;
    accessor *accessors;
    size_t accessor_count, accessor_capacity;
    size_t bytes[VIEWS];
    int32_t times; /* accessor */
} writer;

static size_t scalar_size(int32_t view) {
    return view == SHORTS ? 2 : 4;
}

static size_t padded(size_t bytes) {
    return (bytes + 3) / 4 * 4;
}

/* Number of the new accessor, or -1 when memory is short. */
static int32_t add_accessor(writer *w, int32_t view, int32_t width, size_t count) {
    if (!BO_RESERVE(w->ctx, w->accessors, w->accessor_capacity, w->accessor_count + 1))
        return -1;
    w->accessors[w->accessor_count] = (accessor){view, width, w->bytes[view], count, false, {0}, {0}};
    w->bytes[view] += count * (size_t)width * scalar_size(view);
    return (int32_t)w->accessor_count++;
}

static void bound(accessor *a, const float *values, float factor) {
    a->bounded = true;
    for (size_t i = 0; i < a->count; i++)
        for (int32_t c = 0; c < a->width; c++) {
            float x = factor * values[i * (size_t)a->width + (size_t)c];
            a->lower[c] = i == 0 ? x : fminf(a->lower[c], x);
            a->upper[c] = i == 0 ? x : fmaxf(a->upper[c], x);
        }
}

/* ---- what there is to write ---- */

static const float *target_of(const bo_glb_geometry *g, int32_t k) {
    return g->targets + 3 * (size_t)g->vertex_count * (size_t)k;
}

static const float *target_normals_of(const bo_glb_geometry *g, int32_t k) {
    return g->target_normals + 3 * (size_t)g->vertex_count * (size_t)k;
}

static bough_status plan_target(writer *w, const bo_glb_geometry *g, int32_t k) {
    int32_t target = add_accessor(w, VERTICES, 3, (size_t)g->vertex_count);
    int32_t normals = add_accessor(w, VERTICES, 3, (size_t)g->vertex_count);
    if (target < 0 || normals < 0)
        return BOUGH_ERROR_MEMORY;
    accessor *a = &w->accessors[target], *n = &w->accessors[normals];
    bound(a, target_of(g, k), g->largest[k]);
    bound(n, target_normals_of(g, k), g->largest[k]);
    n->bounded = false;
    for (int c = 0; c < 3; c++)
        if (!isfinite(a->lower[c]) || !isfinite(a->upper[c]) || !isfinite(n->lower[c]) || !isfinite(n->upper[c]))
            return bo_fail(w->ctx, BOUGH_NOT_FINITE, "%s: target %d times its weight is too large for a file",
                           w->glb->output.path, k);
    return BOUGH_OK;
}

static bough_status plan_geometry(writer *w, bo_glb_geometry *g) {
    size_t vertices = (size_t)g->vertex_count;
    g->first_accessor = add_accessor(w, INDICES, 1, 3 * (size_t)g->triangle_count);
    int32_t positions = add_accessor(w, VERTICES, 3, vertices), normals = add_accessor(w, VERTICES, 3, vertices);
    if (g->first_accessor < 0 || positions < 0 || normals < 0)
        return BOUGH_ERROR_MEMORY;
    bound(&w->accessors[positions], g->positions, 1);
    for (int32_t k = 0; k < g->target_count; k++)
        BO_TRY(plan_target(w, g, k));
    return BOUGH_OK;
}

/* -1: memory is short. */
static int32_t plan_times(writer *w, size_t count, float first, float last) {
    int32_t times = add_accessor(w, FLOATS, 1, count);
    if (times >= 0) {
        accessor *a = &w->accessors[times];
        a->bounded = true, a->lower[0] = first, a->upper[0] = last;
    }
    return times;
}

static bool plan_node(writer *w, size_t index) {
    const bough_glb *glb = w->glb;
    bo_glb_node *node = &glb->nodes[index];
    const size_t targets = (size_t)bo_glb_geometry_of(glb, node)->target_count, keys = node->key_count;
    const int32_t views[BO_GLB_PATHS] = {FLOATS, SHORTS, SHORTS, FLOATS}, widths[BO_GLB_PATHS] = {3, 4, 1, 3};
    bool done = true, any = false;
    for (int p = 0; p < BO_GLB_PATHS; p++) {
        node->outputs[p] =
            node->changes[p] ? add_accessor(w, views[p], widths[p], p == BO_GLB_WEIGHTS ? keys * targets : keys) : -1;
        done = done && (!node->changes[p] || node->outputs[p] >= 0), any = any || node->changes[p];
    }
    node->times = w->times;
    if (any && node->keys)
        node->times =
            plan_times(w, keys, glb->frames[bo_glb_key(node, 0)].time, glb->frames[bo_glb_key(node, keys - 1)].time);
    return done && (!any || node->times >= 0);
}

static bough_status plan(writer *w) {
    bough_glb *glb = w->glb;
    for (size_t i = 0; i < glb->geometry_count; i++)
        BO_TRY(plan_geometry(w, &glb->geometries[i]));
    if (glb->frame_count > 1) {
        w->times = plan_times(w, glb->frame_count, glb->frames[0].time, glb->frames[glb->frame_count - 1].time);
        if (w->times < 0)
            return BOUGH_ERROR_MEMORY;
    }
    for (size_t n = 0; n < glb->node_count; n++)
        if (!plan_node(w, n))
            return BOUGH_ERROR_MEMORY;
    return BOUGH_OK;
}

/* ---- JSON ---- */

static void write_name(FILE *f, const char *name) {
    if (!name)
        return;
    fputs("\"name\":\"", f);
    for (; *name; name++)
        if ((unsigned char)*name < 0x20)
            fprintf(f, "\\u%04x", (unsigned)(unsigned char)*name);
        else if (*name == '"' || *name == '\\')
            fprintf(f, "\\%c", *name);
        else
            fputc(*name, f);
    fputs("\",", f);
}

/* Nine digits bring every float back. */
static void write_floats(FILE *f, const char *key, const float *values, int32_t count) {
    fprintf(f, "\"%s\":[", key);
    for (int32_t i = 0; i < count; i++)
        fprintf(f, "%s%.9g", i ? "," : "", (double)values[i]);
    fputc(']', f);
}

static double linear_colour(float srgb) {
    double c = (double)srgb;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static void write_materials(writer *w) {
    for (size_t i = 0; i < w->glb->mesh_count; i++) {
        const float *c = w->glb->meshes[i].colour;
        fprintf(w->stream,
                "%s{\"doubleSided\":true,\"pbrMetallicRoughness\":{\"baseColorFactor\":[%.5g,%.5g,%.5g,1],"
                "\"metallicFactor\":0,\"roughnessFactor\":0.8}}",
                i ? "," : "", linear_colour(c[0]), linear_colour(c[1]), linear_colour(c[2]));
    }
}

static void write_meshes(writer *w) {
    for (size_t i = 0; i < w->glb->mesh_count; i++) {
        const bo_glb_geometry *g = &w->glb->geometries[w->glb->meshes[i].geometry];
        fprintf(w->stream, "%s{", i ? "," : "");
        write_name(w->stream, g->name);
        fprintf(w->stream,
                "\"primitives\":[{\"attributes\":{\"POSITION\":%d,\"NORMAL\":%d},\"indices\":%d,\"material\":%zu",
                g->first_accessor + 1, g->first_accessor + 2, g->first_accessor, i);
        for (int32_t k = 0; k < g->target_count; k++)
            fprintf(w->stream, "%s{\"POSITION\":%d,\"NORMAL\":%d}", k ? "," : ",\"targets\":[",
                    g->first_accessor + 3 + 2 * k, g->first_accessor + 4 + 2 * k);
        fputs(g->target_count > 0 ? "]}]}" : "}]}", w->stream);
    }
}

/* Node 0 holds all others; turned about x by -90 degrees it takes z up to y up. The pose of the first frame is that of
 * viewers that play nothing. */
static void write_nodes(writer *w) {
    const bough_glb *glb = w->glb;
    FILE *f = w->stream;
    fputs("{\"name\":\"scene\",", f);
    if (glb->z_up)
        fputs("\"rotation\":[-0.70710678,0,0,0.70710678],", f);
    fputs("\"children\":[", f);
    for (size_t n = 0; n < glb->node_count; n++)
        fprintf(f, "%s%zu", n ? "," : "", n + 1);
    fputs("]}", f);
    for (size_t n = 0; n < glb->node_count; n++) {
        const bo_glb_node *node = &glb->nodes[n];
        const bo_glb_place *place = &glb->frames[0].places[n];
        const float size = bo_glb_scale(glb, 0, n), scale[3] = {size, size, size};
        fputs(",{", f);
        write_name(f, node->name);
        fprintf(f, "\"mesh\":%d,", node->mesh);
        write_floats(f, "translation", place->translation, 3);
        fputc(',', f);
        write_floats(f, "rotation", place->rotation, 4);
        fputc(',', f);
        write_floats(f, "scale", scale, 3);
        int32_t targets = bo_glb_geometry_of(glb, node)->target_count;
        for (int32_t k = 0; k < targets; k++)
            fprintf(f, "%s%.5g", k ? "," : ",\"weights\":[", (double)bo_glb_weight(glb, 0, node, k));
        fputs(targets > 0 ? "]}" : "}", f);
    }
}

/* One sampler for each channel, with the same number. */
static void write_channels(writer *w, bool samplers) {
    int32_t count = 0;
    for (size_t n = 0; n < w->glb->node_count; n++) {
        const bo_glb_node *node = &w->glb->nodes[n];
        static const char *const paths[BO_GLB_PATHS] = {"translation", "rotation", "weights", "scale"};
        for (int p = 0; p < BO_GLB_PATHS; p++) {
            if (node->outputs[p] < 0)
                continue;
            if (samplers)
                fprintf(w->stream, "%s{\"input\":%d,\"output\":%d%s}", count ? "," : "", node->times, node->outputs[p],
                        p == BO_GLB_SCALE ? ",\"interpolation\":\"STEP\"" : "");
            else
                fprintf(w->stream, "%s{\"sampler\":%d,\"target\":{\"node\":%zu,\"path\":\"%s\"}}", count ? "," : "",
                        count, n + 1, paths[p]);
            count++;
        }
    }
}

static bool anything_changes(const bough_glb *glb) {
    for (size_t n = 0; n < glb->node_count; n++)
        for (int p = 0; p < BO_GLB_PATHS; p++)
            if (glb->nodes[n].changes[p])
                return true;
    return false;
}

static void write_accessors(writer *w) {
    static const int types[VIEWS] = {INDEX_TYPE, FLOAT_TYPE, FLOAT_TYPE, SHORT_TYPE};
    static const char *const shapes[5] = {"", "SCALAR", "", "VEC3", "VEC4"};
    int32_t number_of_view[VIEWS], next = 0;
    for (int v = 0; v < VIEWS; v++)
        number_of_view[v] = w->bytes[v] > 0 ? next++ : -1;
    for (size_t i = 0; i < w->accessor_count; i++) {
        const accessor *a = &w->accessors[i];
        fprintf(w->stream,
                "%s{\"bufferView\":%d,\"byteOffset\":%zu,\"componentType\":%d,\"count\":%zu,\"type\":\"%s\"%s",
                i ? "," : "", number_of_view[a->view], a->offset, types[a->view], a->count, shapes[a->width],
                a->view == SHORTS ? ",\"normalized\":true" : "");
        if (a->bounded) {
            fputc(',', w->stream);
            write_floats(w->stream, "min", a->lower, a->width);
            fputc(',', w->stream);
            write_floats(w->stream, "max", a->upper, a->width);
        }
        fputc('}', w->stream);
    }
}

static void write_views(writer *w) {
    static const char *const more[VIEWS] = {",\"target\":34963", ",\"target\":34962,\"byteStride\":12", "", ""};
    size_t offset = 0;
    for (int v = 0; v < VIEWS; v++) {
        if (w->bytes[v] > 0)
            fprintf(w->stream, "%s{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu%s}", offset ? "," : "", offset,
                    w->bytes[v], more[v]);
        offset += padded(w->bytes[v]);
    }
}

static void write_json(writer *w, size_t binary) {
    FILE *f = w->stream;
    fprintf(f, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"bough %s\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],",
            bough_version());
    fprintf(f, "\"buffers\":[{\"byteLength\":%zu}],\"bufferViews\":[", binary);
    write_views(w);
    fputs("],\"accessors\":[", f);
    write_accessors(w);
    fputs("],\"materials\":[", f);
    write_materials(w);
    fputs("],\"meshes\":[", f);
    write_meshes(w);
    fputs("],\"nodes\":[", f);
    write_nodes(w);
    fputc(']', f);
    if (anything_changes(w->glb)) {
        fputs(",\"animations\":[{\"samplers\":[", f);
        write_channels(w, true);
        fputs("],\"channels\":[", f);
        write_channels(w, false);
        fputs("]}]", f);
    }
    fputc('}', f);
}

/* ---- numbers ---- */

static void put32(FILE *f, uint32_t x) {
    for (int shift = 0; shift < 32; shift += 8)
        fputc((int)(x >> shift & 255), f);
}

static void put16(FILE *f, int16_t x) {
    fputc((uint16_t)x & 255, f);
    fputc((uint16_t)x >> 8, f);
}

static void put_floats(FILE *f, const float *values, size_t count, float factor) {
    for (size_t i = 0; i < count; i++) {
        float x = factor * values[i];
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        put32(f, bits);
    }
}

static void pad(FILE *f, size_t written) {
    for (size_t i = written; i < padded(written); i++)
        fputc(0, f);
}

static void write_geometries(writer *w) {
    for (size_t i = 0; i < w->glb->geometry_count; i++) {
        const bo_glb_geometry *g = &w->glb->geometries[i];
        for (size_t k = 0; k < 3 * (size_t)g->triangle_count; k++)
            put32(w->stream, (uint32_t)g->triangles[k]);
    }
    pad(w->stream, w->bytes[INDICES]);
    for (size_t i = 0; i < w->glb->geometry_count; i++) {
        const bo_glb_geometry *g = &w->glb->geometries[i];
        size_t scalars = 3 * (size_t)g->vertex_count;
        put_floats(w->stream, g->positions, scalars, 1);
        put_floats(w->stream, g->normals, scalars, 1);
        for (int32_t k = 0; k < g->target_count; k++) {
            put_floats(w->stream, target_of(g, k), scalars, g->largest[k]);
            put_floats(w->stream, target_normals_of(g, k), scalars, g->largest[k]);
        }
    }
    pad(w->stream, w->bytes[VERTICES]);
}

/* In the order of plan_node(). */
static void write_floats_of_node(writer *w, size_t n) {
    const bough_glb *glb = w->glb;
    const bo_glb_node *node = &glb->nodes[n];
    bool any = false;
    for (size_t i = 0; i < node->key_count && node->changes[BO_GLB_TRANSLATION]; i++)
        put_floats(w->stream, glb->frames[bo_glb_key(node, i)].places[n].translation, 3, 1);
    for (size_t i = 0; i < node->key_count && node->changes[BO_GLB_SCALE]; i++) {
        const float size = bo_glb_scale(glb, bo_glb_key(node, i), n), scale[3] = {size, size, size};
        put_floats(w->stream, scale, 3, 1);
    }
    for (int p = 0; p < BO_GLB_PATHS; p++)
        any = any || node->changes[p];
    for (size_t i = 0; i < node->key_count && any && node->keys; i++)
        put_floats(w->stream, &glb->frames[bo_glb_key(node, i)].time, 1, 1);
}

static void write_shorts_of_node(writer *w, size_t n) {
    const bough_glb *glb = w->glb;
    const bo_glb_node *node = &glb->nodes[n];
    for (size_t i = 0; i < node->key_count && node->changes[BO_GLB_ROTATION]; i++)
        for (int c = 0; c < 4; c++)
            put16(w->stream, bo_glb_rotation(glb, bo_glb_key(node, i), n, c));
    for (size_t i = 0; i < node->key_count && node->changes[BO_GLB_WEIGHTS]; i++)
        for (int32_t k = 0; k < bo_glb_geometry_of(glb, node)->target_count; k++)
            put16(w->stream, bo_glb_short(bo_glb_weight(glb, bo_glb_key(node, i), node, k)));
}

static void write_motion(writer *w) {
    const bough_glb *glb = w->glb;
    for (size_t f = 0; f < glb->frame_count && glb->frame_count > 1; f++)
        put_floats(w->stream, &glb->frames[f].time, 1, 1);
    for (size_t n = 0; n < glb->node_count; n++)
        write_floats_of_node(w, n);
    pad(w->stream, w->bytes[FLOATS]);
    for (size_t n = 0; n < glb->node_count; n++)
        write_shorts_of_node(w, n);
    pad(w->stream, w->bytes[SHORTS]);
}

/* ---- the file ---- */

enum { HEADER = 12, CHUNK = 8 };

static void write_heads(writer *w, size_t json, size_t binary) {
    fwrite("glTF", 1, 4, w->stream);
    put32(w->stream, 2);
    put32(w->stream, (uint32_t)(HEADER + CHUNK + json + CHUNK + binary));
    put32(w->stream, (uint32_t)json);
    fwrite("JSON", 1, 4, w->stream);
}

static bough_status write_file(writer *w) {
    size_t binary = 0;
    for (int v = 0; v < VIEWS; v++)
        binary += padded(w->bytes[v]);
    write_heads(w, 0, binary); /* written again when the length of the JSON is known */
    write_json(w, binary);
    long end = ftell(w->stream);
    if (end < 0)
        return bo_fail(w->ctx, BOUGH_ERROR_FILE, "%s: cannot be written", w->glb->output.path);
    size_t json = padded((size_t)end);
    for (size_t i = (size_t)end; i < json; i++)
        fputc(' ', w->stream);
    json -= HEADER + CHUNK;
    if ((uint64_t)HEADER + 2 * CHUNK + json + binary > UINT32_MAX)
        return bo_fail(w->ctx, BOUGH_ERROR_UNSUPPORTED,
                       "%s: would have more than the 4 GB that glTF allows; record fewer frames", w->glb->output.path);
    put32(w->stream, (uint32_t)binary);
    fwrite("BIN\0", 1, 4, w->stream);
    write_geometries(w);
    write_motion(w);
    rewind(w->stream);
    write_heads(w, json, binary);
    return BOUGH_OK;
}

bough_status bo_glb_write(bough_context *ctx, bough_glb *glb) {
    writer w = {.ctx = ctx, .glb = glb, .stream = glb->output.stream, .times = -1};
    bough_status status = plan(&w);
    /* Numbers have a decimal point, whatever the locale says. */
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), kept = plain ? uselocale(plain) : (locale_t)0;
    if (status == BOUGH_OK)
        status = plain ? write_file(&w) : bo_fail_memory(ctx);
    if (plain) {
        uselocale(kept);
        freelocale(plain);
    }
    bo_free(ctx, w.accessors);
    return status;
}
