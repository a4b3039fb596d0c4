/* The scene of a robot, written out: its bodies, parts, joints and gears stand in the file, to be edited. */
#include "scene/robot.h"

#include "base/file.h"
#include "scene/scene.h"

#include <stdlib.h>
#include <string.h>

#define DIGITS JSON_REAL_PRECISION(15)

typedef struct {
    FILE *stream;
    const json_t *root;
} page;

static bool put(FILE *stream, const json_t *value) {
    char *text = json_dumps(value, JSON_ENCODE_ANY | DIGITS);
    const bool written = text && fputs(text, stream) >= 0;
    free(text);
    return written;
}

/* Entries of lists stand in lines of their own. */
static bool put_member(FILE *stream, const json_t *value) {
    const bool list = json_is_array(value) && json_is_object(json_array_get(value, 0));
    bool written = true;
    if (!list)
        return put(stream, value);
    fputs("[\n", stream);
    for (size_t i = 0; i < json_array_size(value) && written; i++) {
        fputs("    ", stream);
        written = put(stream, json_array_get(value, i));
        fputs(i + 1 < json_array_size(value) ? ",\n" : "\n", stream);
    }
    fputs("  ]", stream);
    return written;
}

static bough_status write_page(bough_context *ctx, void *data) {
    const page *p = data;
    const char *key, *comma = "";
    json_t *value;
    fputs("{", p->stream);
    json_object_foreach((json_t *)(uintptr_t)p->root, key, value) {
        if (json_is_array(value) && json_array_size(value) == 0)
            continue;
        fprintf(p->stream, "%s\n  ", comma);
        json_t *name = json_string(key);
        const bool written = put(p->stream, name) && fputs(": ", p->stream) >= 0 && put_member(p->stream, value);
        json_decref(name);
        if (!written)
            return bo_fail_memory(ctx);
        comma = ",";
    }
    fputs("\n}\n", p->stream);
    return BOUGH_OK;
}

/* Reading a scene puts the entries of its robot into the lists of its root. */
static bough_status read_root(bo_json *root) {
    bo_assembly assembly;
    if (!bo_json_has(root, "robot"))
        return bo_fail(root->ctx, BOUGH_ERROR_ARGUMENT, "%s: has no \"robot\"", root->file);
    const bough_status status = bo_assembly_read(root, NULL, &assembly);
    bo_assembly_free(root->ctx, &assembly);
    return status;
}

/* Without its robot a scene is known by its engine: it may have no joints. */
static bool name_engine(json_t *root) {
    json_t *engine = json_object_get(root, "engine");
    json_object_del(root, "robot");
    return json_object_get(engine, "kind") ||
           (engine ? json_object_set_new(engine, "kind", json_string("multibody"))
                   : json_object_set_new(root, "engine", json_pack("{s:s}", "kind", "multibody"))) == 0;
}

bough_status bough_robot_write(bough_context *ctx, const char *path, const char *output) {
    bo_json root;
    bo_output out;
    BO_TRY(bo_scene_load_root(ctx, path, true, &root));
    bough_status status = read_root(&root);
    if (status == BOUGH_OK && !name_engine(root.value))
        status = bo_fail_memory(ctx);
    if (status == BOUGH_OK)
        status = bo_output_open(ctx, output, &out);
    if (status == BOUGH_OK) {
        page p = {out.stream, root.value};
        status = bo_output_finish(ctx, &out, write_page, &p);
    }
    bo_json_free(&root);
    return status;
}
