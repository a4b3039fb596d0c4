/* Loads at the interfaces of a component, for its mass-loaded modes. */
#include "scene/assembly.h"

#include <string.h>

/* ---- inertia of rigid masses ---- */

/* int (X.X 1 - X X^T) = tr(Sigma) 1 - Sigma */
bough_inertia bo_component_inertia(const bough_component *component) {
    bough_inertia a = {.mass = component->mass};
    double trace = component->Sigma0[0] + component->Sigma0[4] + component->Sigma0[8];
    memcpy(a.moment, component->mc0, sizeof a.moment);
    for (int k = 0; k < 9; k++)
        a.inertia[k] = (k % 4 == 0 ? trace : 0) - component->Sigma0[k];
    return a;
}

bough_inertia bo_inertia_turned(bo_mat3 R, bough_inertia a) {
    bo_mat3 I;
    memcpy(I.m, a.inertia, sizeof I.m);
    I = bo_sym(bo_mat_mul(bo_mat_mul(R, I), bo_transpose(R)));
    memcpy(a.inertia, I.m, sizeof a.inertia);
    bo_store3(a.moment, bo_mat_vec(R, bo_load3(a.moment)));
    return a;
}

/* With x = d + y: int x = m d + int y, and x.x 1 - x x^T has the mixed terms 2 d.y 1 - d y^T - y d^T. */
bough_inertia bo_inertia_moved(bo_vec3 d, bough_inertia a) {
    bo_vec3 y = bo_load3(a.moment);
    bo_mat3 I;
    memcpy(I.m, a.inertia, sizeof I.m);
    I = bo_mat_add(I, bo_mat_scale(2 * bo_dot(d, y) + a.mass * bo_dot(d, d), bo_identity3()));
    I = bo_mat_sub(I, bo_mat_add(bo_outer(d, y), bo_outer(y, d)));
    I = bo_mat_sub(I, bo_mat_scale(a.mass, bo_outer(d, d)));
    memcpy(a.inertia, I.m, sizeof a.inertia);
    bo_store3(a.moment, bo_mul_add(y, a.mass, d));
    return a;
}

bough_inertia bo_inertia_scaled(double s, bough_inertia a) {
    double s3 = s * s * s;
    a.mass *= s3;
    for (int d = 0; d < 3; d++)
        a.moment[d] *= s3 * s;
    for (int k = 0; k < 9; k++)
        a.inertia[k] *= s3 * s * s;
    return a;
}

static void add_times(bough_inertia *sum, double factor, const bough_inertia *a) {
    sum->mass += factor * a->mass;
    for (int d = 0; d < 3; d++)
        sum->moment[d] += factor * a->moment[d];
    for (int k = 0; k < 9; k++)
        sum->inertia[k] += factor * a->inertia[k];
}

/* ---- from the leaves to the roots ---- */

typedef struct {
    bo_assembly *assembly;
    bough_inertia *subtree; /* part_count: the part with all that hangs at it, about its origin, in its axes */
    int32_t *waiting;       /* part_count: children that are not added yet */
    int32_t *uses;          /* component_count: parts */
    bough_inertia **loads;  /* component_count: one for each interface, a mean over the component's parts */
} hanging;

static bool create(bough_context *ctx, bo_assembly *assembly, hanging *h) {
    *h = (hanging){.assembly = assembly};
    h->subtree = BO_NEW_ARRAY(ctx, bough_inertia, assembly->part_count);
    h->waiting = BO_NEW_ZEROS(ctx, int32_t, assembly->part_count);
    h->uses = BO_NEW_ZEROS(ctx, int32_t, assembly->component_count);
    h->loads = BO_NEW_ZEROS(ctx, bough_inertia *, assembly->component_count);
    bool ok = h->subtree && h->waiting && h->uses && h->loads;
    for (int32_t c = 0; c < assembly->component_count && ok; c++) {
        h->loads[c] = BO_NEW_ZEROS(ctx, bough_inertia, assembly->components[c].rigid->interface_count);
        ok = h->loads[c] != NULL;
    }
    return ok;
}

static void destroy(bough_context *ctx, hanging *h) {
    for (int32_t c = 0; h->loads && c < h->assembly->component_count; c++)
        bo_free(ctx, h->loads[c]);
    bo_free(ctx, h->loads);
    bo_free(ctx, h->uses);
    bo_free(ctx, h->waiting);
    bo_free(ctx, h->subtree);
}

static const bough_component *rigid_of(const hanging *h, const bo_part *part) {
    return h->assembly->components[part->component].rigid;
}

static void begin(hanging *h) {
    for (int32_t p = 0; p < h->assembly->part_count; p++) {
        const bo_part *part = &h->assembly->parts[p];
        h->subtree[p] = bo_inertia_scaled(part->scale, bo_component_inertia(rigid_of(h, part)));
        h->uses[part->component]++;
        if (part->parent >= 0)
            h->waiting[part->parent]++;
    }
}

/* The child's origin sits at the centre of the interface, or beside it. In the units of the parent's component the
 * child is as large as if the parent had scale 1. */
static void hang_at_parent(hanging *h, int32_t p) {
    const bo_part *part = &h->assembly->parts[p], *parent = &h->assembly->parts[part->parent];
    const bough_interface *interface = &rigid_of(h, parent)->interfaces[part->interface_index];
    bough_inertia child = bo_inertia_turned(part->rotation, h->subtree[p]);
    child = bo_inertia_moved(bo_load3(part->offset), child);
    bough_inertia load = bo_inertia_scaled(1 / parent->scale, child);
    add_times(&h->loads[parent->component][part->interface_index], 1.0 / h->uses[parent->component], &load);
    child = bo_inertia_moved(bo_scale(parent->scale, bo_load3(interface->centre)), child);
    add_times(&h->subtree[part->parent], 1, &child);
}

/* Goes up from each leaf as far as all children are there; parts form trees, so that this reaches every part once. */
static void hang_all(hanging *h) {
    int32_t count = h->assembly->part_count;
    begin(h);
    for (int32_t leaf = 0; leaf < count; leaf++)
        for (int32_t p = leaf; p >= 0 && h->waiting[p] == 0;) {
            int32_t parent = h->assembly->parts[p].parent;
            h->waiting[p] = -1; /* done */
            if (parent >= 0) {
                hang_at_parent(h, p);
                h->waiting[parent]--;
            }
            p = parent;
        }
}

bough_status bo_assembly_hang(bough_context *ctx, bo_assembly *assembly) {
    hanging h;
    bough_status status = create(ctx, assembly, &h) ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        hang_all(&h);
    for (int32_t c = 0; c < assembly->component_count && status == BOUGH_OK; c++)
        if (assembly->components[c].job)
            status = bo_cook_job_add_loads(ctx, assembly->components[c].job, h.loads[c]);
    destroy(ctx, &h);
    return status;
}
