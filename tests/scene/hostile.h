/* Files with a mistake in them or mangled, and memory that runs out while one is read: whatever the reader, it makes
 * something of the file or tells in a sentence why not, and leaks nothing. Tests give their texts and their reader. */
#ifndef TEST_SCENE_HOSTILE_H
#define TEST_SCENE_HOSTILE_H

#include "texts.h"

#include <bough/scene.h>

static inline bough_status load_text(bough_context *ctx, const char *text, bough_scene **scene) {
    write_quoted(test_path("scene.json"), text);
    return bough_scene_load(ctx, test_path("scene.json"), scene);
}

/* ---- readers: read the file and destroy what came of it; *made: there was something ---- */

typedef bough_status (*hostile_reader)(bough_context *ctx, const char *path, bool *made);

static inline bough_status read_scene(bough_context *ctx, const char *path, bool *made) {
    bough_scene *scene = NULL;
    bough_status status = bough_scene_load(ctx, path, &scene);
    *made = scene != NULL;
    bough_scene_destroy(ctx, scene);
    return status;
}

static inline bough_status read_plan(bough_context *ctx, const char *path, bool *made) {
    bough_cook_plan *plan = NULL;
    bough_status status = bough_cook_plan_load(ctx, path, NULL, NULL, &plan);
    *made = plan != NULL;
    bough_cook_plan_destroy(ctx, plan);
    return status;
}

/* ---- what is done to them ---- */

typedef struct {
    bough_status status;
    long calls;         /* allocations that were asked for */
    char message[1000]; /* of a failure */
} hostile_outcome;

/* fail_at: an allocation that fails; -1: none. */
static inline hostile_outcome read_hostile(hostile_reader read, const char *path, long fail_at) {
    test_memory memory = {.fail_at = fail_at};
    bough_context *ctx = test_counting_context(&memory);
    bool made = false;
    hostile_outcome o = {.status = ctx ? read(ctx, path, &made) : BOUGH_ERROR_MEMORY};
    snprintf(o.message, sizeof o.message, "%s", ctx ? bough_message(ctx) : "no context");
    check(made == (o.status == BOUGH_OK));
    if (!made && (!o.message[0] || strchr(o.message, '\n')))
        fail_msg("%s is not told in one sentence: \"%s\"", bough_status_name(o.status), o.message);
    bough_context_destroy(ctx);
    check_int(memory.live, 0);
    o.calls = memory.calls;
    return o;
}

/* The sentence that refuses the text contains `why`. */
static inline void check_refused_by(hostile_reader read, const char *text, const char *why) {
    write_quoted(test_path("scene.json"), text);
    const hostile_outcome o = read_hostile(read, test_path("scene.json"), -1);
    const bool wrong = o.status == BOUGH_ERROR_FORMAT || o.status == BOUGH_ERROR_FILE; /* one that it points to */
    if (!wrong || !strstr(o.message, why))
        fail_msg("%s: expected \"%s\", got %s with \"%s\"", text, why, bough_status_name(o.status), o.message);
}

/* Letters change, or the file ends, in the last 1/part of the texts; some of that is still fine. */
static inline void check_mutations(hostile_reader read, const char *const *texts, int text_count, size_t part) {
    static const char letters[] = "0123456789\"{}[],:abcx -";
    test_random random = {5};
    int loaded = 0;
    for (int i = 0; i < (test_long() ? 5000 : 300); i++) {
        char *text = quoted(texts[i % text_count]);
        const size_t length = strlen(text), at = length - 1 - test_bits(&random) % (length / part);
        text[at] = i % 4 ? letters[test_bits(&random) % (sizeof letters - 1)] : '\0';
        test_write_text(test_path("mutant.json"), text);
        loaded += read_hostile(read, test_path("mutant.json"), -1).status == BOUGH_OK;
        free(text);
    }
    check(loaded > 0);
}

/* Each allocation fails once; where that takes too long, those that come later more seldom. */
static inline void check_failed_allocations(hostile_reader read, const char *const *texts, int text_count) {
    for (int t = 0; t < text_count; t++) {
        write_quoted(test_path("memory.json"), texts[t]);
        bool done = false;
        for (long fail_at = 0; !done; fail_at += test_long() ? 1 : 1 + fail_at / 12) {
            const hostile_outcome o = read_hostile(read, test_path("memory.json"), fail_at);
            done = o.calls <= fail_at;
            check_int(o.status, done ? BOUGH_OK : BOUGH_ERROR_MEMORY);
        }
    }
}

/* A scene of parts as a model, and the state that it starts from. */
typedef struct {
    bough_scene *scene;
    bough_tree_model *model;
    bough_tree_state *rest;
} built;

static inline built build(bough_context *ctx, const char *text) {
    built b;
    check_ok(ctx, load_text(ctx, text, &b.scene));
    check_ok(ctx, bough_scene_model(ctx, b.scene, &b.model));
    check_ok(ctx, bough_tree_state_create(ctx, b.model, &b.rest));
    return b;
}

static inline void demolish(bough_context *ctx, built *b) {
    bough_tree_state_destroy(ctx, b->rest);
    bough_tree_model_destroy(ctx, b->model);
    bough_scene_destroy(ctx, b->scene);
}

#endif
