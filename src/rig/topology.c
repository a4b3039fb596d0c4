#include "rig/topology.h"

typedef struct {
    int32_t body_count, joint_count, base;
    const bough_joint_def *joints;
    int32_t *start, *around; /* of each body: its joints */
    bool *in_tree;           /* of each joint */
    int32_t *depth;          /* of each body */
    bo_topology *t;
} search;

static void list_neighbours(const search *s) {
    int32_t *start = s->start;
    for (int32_t i = 0; i < s->joint_count; i++)
        start[s->joints[i].parent.body + 1]++, start[s->joints[i].child.body + 1]++;
    for (int32_t i = 0; i < s->body_count; i++)
        start[i + 1] += start[i];
    for (int32_t i = s->joint_count - 1; i >= 0; i--) /* from the back: start[body] moves to its first */
        for (int side = 0; side < 2; side++) {
            const int32_t body = side ? s->joints[i].child.body : s->joints[i].parent.body;
            s->around[--start[body + 1]] = i;
        }
    /* now start[body + 1] is where body begins: shift by one */
    for (int32_t i = 0; i < s->body_count; i++)
        start[i] = start[i + 1];
    start[s->body_count] = 2 * s->joint_count;
}

static void grow_tree(const search *s) {
    bo_topology *t = s->t;
    int32_t count = 0;
    for (int32_t i = 0; i < s->body_count; i++)
        t->up[i] = -2;
    t->order[count++] = s->base, t->up[s->base] = -1;
    for (int32_t at = 0; at < count; at++) {
        const int32_t body = t->order[at];
        for (int32_t k = s->start[body]; k < s->start[body + 1]; k++) {
            const bough_joint_def *joint = &s->joints[s->around[k]];
            const int32_t sign = joint->parent.body == body ? 1 : -1,
                          next = sign > 0 ? joint->child.body : joint->parent.body;
            if (t->up[next] != -2)
                continue;
            t->up[next] = body;
            t->way[next] = (bo_edge){s->around[k], sign};
            t->order[count++] = next;
            s->in_tree[s->around[k]] = true;
        }
    }
    t->lost_count = s->body_count - count;
    t->lost = -1;
    for (int32_t i = s->body_count - 1; i >= 0; i--)
        if (t->up[i] == -2)
            t->lost = i;
}

/* The joints of the tree between the two bodies of a joint that closes a loop: up from each until they meet. */
static int32_t trace_loop(const search *s, int32_t cut, bo_edge *edges) {
    int32_t a = s->joints[cut].child.body, b = s->joints[cut].parent.body, count = 0;
    while (a != b) {
        const bool from_child = s->depth[a] >= s->depth[b];
        int32_t *end = from_child ? &a : &b;
        if (edges)
            edges[count] = (bo_edge){s->t->way[*end].joint, from_child ? -1 : 1};
        count++;
        *end = s->t->up[*end];
    }
    return count;
}

static bough_status find_loops(bough_context *ctx, const search *s) {
    bo_topology *t = s->t;
    s->depth[s->base] = 0;
    for (int32_t k = 1; k < s->body_count; k++)
        s->depth[t->order[k]] = s->depth[t->up[t->order[k]]] + 1;
    int64_t edge_count = 0;
    for (int32_t i = 0; i < s->joint_count; i++)
        if (!s->in_tree[i]) {
            t->cuts[t->loop_count++] = i;
            edge_count += trace_loop(s, i, NULL);
            if (edge_count > INT32_MAX)
                return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "the loops of the joints are too long");
            t->loop_start[t->loop_count] = (int32_t)edge_count;
        }
    t->loop_edges = BO_NEW_ARRAY(ctx, bo_edge, edge_count);
    if (!t->loop_edges)
        return bo_fail_memory(ctx);
    for (int32_t k = 0; k < t->loop_count; k++)
        trace_loop(s, t->cuts[k], t->loop_edges + t->loop_start[k]);
    return BOUGH_OK;
}

bough_status bo_topology_find(bough_context *ctx, int32_t body_count, int32_t joint_count,
                              const bough_joint_def *joints, int32_t base, bo_topology *t) {
    *t = (bo_topology){.order = BO_NEW_ARRAY(ctx, int32_t, body_count),
                       .up = BO_NEW_ARRAY(ctx, int32_t, body_count),
                       .way = BO_NEW_ZEROS(ctx, bo_edge, body_count),
                       .cuts = BO_NEW_ARRAY(ctx, int32_t, joint_count),
                       .loop_start = BO_NEW_ZEROS(ctx, int32_t, joint_count + 1)};
    search s = {.body_count = body_count,
                .joint_count = joint_count,
                .base = base,
                .joints = joints,
                .start = BO_NEW_ZEROS(ctx, int32_t, body_count + 2),
                .around = BO_NEW_ARRAY(ctx, int32_t, 2 * joint_count),
                .in_tree = BO_NEW_ZEROS(ctx, bool, joint_count),
                .depth = BO_NEW_ARRAY(ctx, int32_t, body_count),
                .t = t};
    const bool there =
        t->order && t->up && t->way && t->cuts && t->loop_start && s.start && s.around && s.in_tree && s.depth;
    bough_status status = there ? BOUGH_OK : bo_fail_memory(ctx);
    if (status == BOUGH_OK) {
        list_neighbours(&s);
        grow_tree(&s);
    }
    if (status == BOUGH_OK && t->lost < 0)
        status = find_loops(ctx, &s);
    void *const blocks[] = {s.start, s.around, s.in_tree, s.depth};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        bo_free(ctx, blocks[k]);
    return status;
}

void bo_topology_free(bough_context *ctx, bo_topology *t) {
    void *const blocks[] = {t->order, t->up, t->way, t->cuts, t->loop_start, t->loop_edges};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        bo_free(ctx, blocks[k]);
    *t = (bo_topology){0};
}
