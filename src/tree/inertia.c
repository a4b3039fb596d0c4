/* Inertia of a part as it is bent now. docs/theory/tree.md, "Inertia". */
#include "tree/tree.h"

#include "base/simd.h"

#include <string.h>

/* V = W5 + sum_p q_p W7_p (9 x r), N = sum_p v_p k7_p (3 x r) */
BO_MULTIVERSION
static void bend(int32_t r, const bo_component_tables *t, const double *restrict q, const double *restrict v,
                 double *restrict V, double *restrict N) {
    const size_t n = (size_t)r;
    memcpy(V, t->W5, 9 * n * sizeof *V);
    memset(N, 0, 3 * n * sizeof *N);
    for (size_t p = 0; p < n; p++) {
        const double *W7 = t->W7 + p * 9 * n, *k7 = t->k7 + p * 3 * n;
        for (size_t k = 0; k < 9 * n; k++)
            V[k] += q[p] * W7[k];
        for (size_t k = 0; k < 3 * n; k++)
            N[k] += v[p] * k7[k];
    }
}

void bo_tree_inertia(const bough_model *model, bo_tree_work *work, const double *q, const double *v) {
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        bend(part->r, &model->components[part->component], q + part->offset, v + part->offset,
             work->V + 9 * part->offset, work->N + 3 * part->offset);
    }
}
