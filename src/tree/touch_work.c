/* The work of contacts in a step. docs/theory/tree.md, "Contact". */
#include "tree/touch.h"

/* The place of a point of a part at the end of the step. Its rows by the frame are d and own x d, with its three axes d and
 * its place `own` in the axes of the frame before contact; d are orthonormal, so that the sum of d x (own x d) is 2 own.
 * By its rows times the change of coordinates since then it has moved along d. Rows of the other side have another sign,
 * which cancels. */
static bo_vec3 end_of(const bough_tree_model *model, const bo_tree_work *w, int32_t i, const double frame[3][6],
                      const double *rows, int32_t r) {
    const bo_tree_touch *touch = w->touch;
    const bo_tree_part *part = &model->parts[i];
    const bo_tree_frames *f = &w->frames[part->slot / 4];
    bo_vec3 x = bo_v3(0, 0, 0);
    for (int k = 0; k < 3; k++) {
        const bo_vec3 d = bo_load3(frame[k]);
        double way = 0;
        for (int32_t l = 0; l < r; l++) {
            const int32_t at = part->offset + l;
            way += rows[k * r + l] *
                   (touch->share * touch->answers[at] + (touch->pushes ? touch->push_share * touch->pushed[at] : 0));
        }
        x = bo_mul_add(x, 0.5, bo_cross(d, bo_load3(frame[k] + 3)));
        x = bo_mul_add(x, way, d);
    }
    return bo_add(bo_vector_at(f->origin, part->slot % 4), bo_mat_vec(bo_matrix_at(f->world, part->slot % 4), x));
}

/* Forces act all through a step: their work is that along the way of their points from its start to its end, which is
 * nothing where they rest. */
void bo_tree_touch_work(const bough_tree_model *model, const bo_tree_work *work, void (*add)(void *, int32_t, double),
                        void *data) {
    const bo_tree_touch *touch = work->touch;
    for (size_t i = 0; touch && touch->answered && i < touch->point_count; i++) {
        const bo_vec3 force = touch->contacts[i].force;
        const bo_tree_point *point = &touch->points[i];
        const bo_vec3 end = end_of(model, work, point->part, point->frame, touch->rows + point->rows, point->r);
        add(data, model->parts[point->part].tree, bo_dot(force, bo_sub(end, point->start)));
        if (point->other < 0)
            continue;
        const bo_vec3 other_end =
            end_of(model, work, point->other, point->other_frame, touch->rows + point->other_rows, point->other_r);
        add(data, model->parts[point->other].tree, -bo_dot(force, bo_sub(other_end, point->other_start)));
    }
}
