/* Bough in a program of one's own: loads a pack, steps it, pulls on a vertex, reads positions.
 *
 *     cc embed.c -lbough_rt -lm -lpthread -o embed
 *     ./embed tree.pack
 *
 * It needs the runtime library alone. docs/getting-started.md, "In your own program". */
#include <bough/tree.h>

#include <stdio.h>
#include <stdlib.h>

enum { STEPS_PER_SECOND = 240, SECONDS = 2 };

typedef struct {
    bough_context *ctx;
    bough_tree_model *model;
    bough_tree_state *state;
    int32_t part; /* whose vertex is pulled */
    float *positions;
} program;

/* The surface that a part shows. */
static const bough_surface *surface_of(const program *p) {
    const bough_tree_model_def *def = bough_tree_model_describe(p->model);
    return &def->components[def->parts[p->part].component]->surface;
}

static bough_status start(program *p, const char *path) {
    bough_status status = bough_tree_model_load(p->ctx, path, &p->model);
    if (status != BOUGH_OK)
        return status;
    p->part = bough_tree_model_part_count(p->model) - 1;
    p->positions = malloc(sizeof(float) * 3 * (size_t)surface_of(p)->vertex_count + 1);
    if (!p->positions)
        return BOUGH_ERROR_MEMORY;
    return bough_tree_state_create(p->ctx, p->model, &p->state);
}

/* In the first second a damped spring pulls the vertex sideways, then it is let go. */
static bough_status run(program *p) {
    const int32_t vertex = 0;
    bough_status status = bough_tree_state_positions(p->ctx, p->model, p->state, p->part, p->positions);
    const double target[3] = {(double)p->positions[0], (double)p->positions[1] + 0.2, (double)p->positions[2]};
    for (int i = 0; i < SECONDS * STEPS_PER_SECOND && status == BOUGH_OK; i++) {
        if (i < STEPS_PER_SECOND)
            status = bough_tree_state_pull(p->ctx, p->model, p->state, p->part, vertex, target, 50, 1);
        if (status == BOUGH_OK)
            status = bough_tree_advance(p->ctx, p->model, p->state, 1.0 / STEPS_PER_SECOND, NULL);
        if (status != BOUGH_OK || (i + 1) % (STEPS_PER_SECOND / 4) != 0)
            continue;
        status = bough_tree_state_positions(p->ctx, p->model, p->state, p->part, p->positions);
        printf("%5.2f s  vertex 0 of the last part is at %9.5f %9.5f %9.5f m\n", p->state->time,
               (double)p->positions[0], (double)p->positions[1], (double)p->positions[2]);
    }
    return status;
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: embed PACK\n");
        return 2;
    }
    program p = {.ctx = bough_context_create(NULL)};
    if (!p.ctx)
        return 1;
    bough_status status = start(&p, arguments[1]);
    if (status == BOUGH_OK && surface_of(&p)->vertex_count == 0)
        printf("the last part has no surface to pull on\n");
    else if (status == BOUGH_OK) {
        printf("%d parts, %d coordinates\n", bough_tree_model_part_count(p.model), bough_tree_model_size(p.model));
        status = run(&p);
    }
    if (status != BOUGH_OK)
        fprintf(stderr, "embed: %s (%s)\n", bough_message(p.ctx), bough_status_name(status));
    bough_tree_state_destroy(p.ctx, p.state);
    bough_tree_model_destroy(p.ctx, p.model);
    free(p.positions);
    bough_context_destroy(p.ctx);
    return status == BOUGH_OK ? 0 : 1;
}
