/* Chooses the frames of a node that a glTF file needs. Viewers go straight from key to key: a frame that lies on that
 * line, within what nobody sees, is left out. All comparisons are between the numbers as the file rounds them. */
#include "record/glb.h"

#include <string.h>

#define LONGEST 64 /* frames between keys, so that the search takes time in proportion to the film */

/* The distance that vertices of a node move when its numbers change by one. */
typedef struct reach {
    double turn;     /* m / rad: of the vertex furthest from the origin */
    double *weights; /* m: of the vertex that each target moves most */
} reach;

static double largest_length(const float *vectors, int32_t count) {
    double most = 0;
    for (size_t v = 0; v < (size_t)count; v++) {
        const float *x = vectors + 3 * v;
        most = fmax(most, (double)x[0] * (double)x[0] + (double)x[1] * (double)x[1] + (double)x[2] * (double)x[2]);
    }
    return sqrt(most);
}

static bough_status find_reach(bough_context *ctx, const bo_glb_geometry *g, reach *r) {
    *r = (reach){.turn = largest_length(g->positions, g->vertex_count)};
    r->weights = BO_NEW_ZEROS(ctx, double, (size_t)g->target_count);
    if (!r->weights)
        return BOUGH_ERROR_MEMORY;
    for (int32_t k = 0; k < g->target_count; k++) {
        r->weights[k] = (double)g->largest[k] *
                        largest_length(g->targets + 3 * (size_t)g->vertex_count * (size_t)k, g->vertex_count);
        r->turn += r->weights[k];
    }
    return BOUGH_OK;
}

/* Compares frame f of a node with the motion shown between keys a and b at its time. */
typedef struct span {
    const bough_glb *glb;
    const reach *reach;
    size_t node, a, b, f;
    double t; /* 0 at a, 1 at b */
} span;

static double between(double a, double b, double t) {
    return a + t * (b - a);
}

static double translation_error(const span *s) {
    const bo_glb_frame *frames = s->glb->frames;
    double square = 0;
    for (int c = 0; c < 3; c++) {
        const double x = between((double)frames[s->a].places[s->node].translation[c],
                                 (double)frames[s->b].places[s->node].translation[c], s->t);
        square += pow((double)frames[s->f].places[s->node].translation[c] - x, 2);
    }
    return sqrt(square);
}

/* Quaternions p, q of unit length: sin((1-t) w) p + sin(t w) q over sin w, with cos w = p . q. An angle is twice the
 * distance between them. */
static double rotation_error(const span *s) {
    double p[4], q[4], cosine = 0, square = 0;
    for (int c = 0; c < 4; c++) {
        p[c] = bo_glb_rotation(s->glb, s->a, s->node, c) / 32767.0;
        q[c] = bo_glb_rotation(s->glb, s->b, s->node, c) / 32767.0;
        cosine += p[c] * q[c];
    }
    const double w = acos(fmax(-1, fmin(1, cosine))), whole = sin(w);
    for (int c = 0; c < 4; c++) {
        const double x =
            whole > 1e-4 ? (sin((1 - s->t) * w) * p[c] + sin(s->t * w) * q[c]) / whole : between(p[c], q[c], s->t);
        square += pow(bo_glb_rotation(s->glb, s->f, s->node, c) / 32767.0 - x, 2);
    }
    return 2 * sqrt(square) * s->reach->turn * (double)s->glb->nodes[s->node].scale;
}

static double weight_error(const span *s) {
    const bo_glb_node *node = &s->glb->nodes[s->node];
    double sum = 0;
    for (int32_t k = 0; k < bo_glb_geometry_of(s->glb, node)->target_count; k++) {
        const double a = bo_glb_short(bo_glb_weight(s->glb, s->a, node, k)) / 32767.0,
                     b = bo_glb_short(bo_glb_weight(s->glb, s->b, node, k)) / 32767.0,
                     f = bo_glb_short(bo_glb_weight(s->glb, s->f, node, k)) / 32767.0;
        sum += fabs(f - between(a, b, s->t)) * s->reach->weights[k];
    }
    return sum * (double)node->scale;
}

/* Visibility changes at once: no straight line leads there. */
static double scale_error(const span *s) {
    return bo_glb_scale(s->glb, s->f, s->node) == bo_glb_scale(s->glb, s->a, s->node) ? 0 : INFINITY;
}

static double (*const error_of[BO_GLB_PATHS])(const span *) = {translation_error, rotation_error, weight_error,
                                                               scale_error};

/* Do not animate a channel that stays in place within a quarter of the tolerance. That leaves a quarter for the lines
 * between keys when all three of the others have used theirs. */
static void find_changes(const bough_glb *glb, size_t index, const reach *r) {
    bo_glb_node *node = &glb->nodes[index];
    for (int p = 0; p < BO_GLB_PATHS; p++) {
        node->changes[p] = false;
        for (size_t f = 1; f < glb->frame_count && !node->changes[p]; f++)
            node->changes[p] = error_of[p](&(span){glb, r, index, 0, 0, f, 0}) > glb->tolerance / 4;
    }
}

static double error_at(const span *s) {
    double sum = 0;
    for (int p = 0; p < BO_GLB_PATHS; p++)
        if (s->glb->nodes[s->node].changes[p])
            sum += error_of[p](s);
    return sum;
}

/* Tells whether all frames between a and b may be left out. The one in the middle is the likeliest to be needed. */
static bool is_straight(const bough_glb *glb, size_t node, const reach *r, size_t a, size_t b) {
    const double start = (double)glb->frames[a].time, length = (double)glb->frames[b].time - start;
    span s = {.glb = glb, .reach = r, .node = node, .a = a, .b = b, .f = (a + b) / 2};
    for (size_t i = a; i < b; i++, s.f = i) {
        if (s.f == a)
            continue;
        s.t = ((double)glb->frames[s.f].time - start) / length;
        if (error_at(&s) > glb->tolerance / 4)
            return false;
    }
    return true;
}

/* From each key, go as far as the line stays straight, and continue from there. */
static size_t find_keys(const bough_glb *glb, size_t node, const reach *r, int32_t *keys) {
    size_t count = 0, key = 0;
    keys[count++] = 0;
    while (key + 1 < glb->frame_count) {
        size_t next = key + 1;
        while (next + 1 < glb->frame_count && next + 1 - key <= LONGEST && is_straight(glb, node, r, key, next + 1))
            next++;
        keys[count++] = (int32_t)(key = next);
    }
    return count;
}

static bough_status choose(bough_context *ctx, const bough_glb *glb, size_t index, const reach *r) {
    bo_glb_node *node = &glb->nodes[index];
    bo_free(ctx, node->keys); /* of an earlier flush */
    node->keys = NULL, node->key_count = glb->frame_count;
    find_changes(glb, index, r);
    if (glb->frame_count < 3)
        return BOUGH_OK;
    if (!(node->keys = BO_NEW_ARRAY(ctx, int32_t, glb->frame_count)))
        return BOUGH_ERROR_MEMORY;
    node->key_count = find_keys(glb, index, r, node->keys);
    /* Keys of its own need times of their own: if nearly all frames are needed, sharing the times of all frames takes
     * less. */
    if (node->key_count > glb->frame_count - glb->frame_count / 8) {
        bo_free(ctx, node->keys);
        node->keys = NULL, node->key_count = glb->frame_count;
    }
    return BOUGH_OK;
}

bough_status bo_glb_choose_keys(bough_context *ctx, bough_glb *glb) {
    for (size_t i = 0; i < glb->geometry_count; i++) {
        reach r;
        bough_status status = find_reach(ctx, &glb->geometries[i], &r);
        for (size_t n = 0; n < glb->node_count && status == BOUGH_OK; n++)
            if (glb->meshes[glb->nodes[n].mesh].geometry == (int32_t)i)
                status = choose(ctx, glb, n, &r);
        bo_free(ctx, r.weights);
        BO_TRY(status);
    }
    return BOUGH_OK;
}
