/* Inside view of the whole surface: numbering, work, seams. docs/theory/tree.md, "Surfaces". */
#ifndef BO_TREE_SURFACE_H
#define BO_TREE_SURFACE_H

#include "tree/tree.h"

/* Vertices of different parts that are one place of the whole. */
typedef struct bo_tree_seams {
    int32_t copy_count, place_count;
    int32_t *copies;      /* vertices of the whole, ascending */
    int32_t *part_first;  /* part (outside number) -> its first copy; one more at the end */
    int32_t *place_first; /* place -> where its copies begin in members; one more at the end */
    int32_t *members;     /* numbers of copies, place by place, ascending in each */
} bo_tree_seams;

struct bo_tree_surface {
    int32_t vertex_count, triangle_count;
    int32_t *first; /* part (outside number) -> its first vertex; one more at the end */
    /* Tasks: runs of parts (inside numbers), each with room for one part at a time in the state's work. */
    int32_t task_count;
    int32_t *task_first; /* one more at the end */
    size_t *room;        /* floats; one more at the end: where the area vectors of the seams' copies are */
    bo_tree_seams seams;
};

/* seams.c: finds the copies; after `first` is filled. To be freed also when it fails. */
bough_status bo_tree_find_seams(bough_context *ctx, const bough_model *model, const int32_t *first,
                                bo_tree_seams *seams);
void bo_tree_free_seams(bough_context *ctx, bo_tree_seams *seams);

#endif
