/* Inside view of the whole surface: numbering, work, seams. docs/theory/tree.md, "Surfaces". */
#ifndef BO_TREE_SURFACE_H
#define BO_TREE_SURFACE_H

#include "component/field.h"
#include "tree/tree.h"

/* Vertices of different parts that are one place of the whole. */
typedef struct bo_tree_seams {
    int32_t copy_count, place_count;
    int32_t *copies;      /* vertices of the whole, ascending */
    int32_t *copy_part;   /* of each: its part (outside number) */
    int32_t *part_first;  /* part (outside number) -> its first copy; one more at the end */
    int32_t *place_first; /* place -> where its copies begin in members; one more at the end */
    int32_t *members;     /* numbers of copies, place by place, ascending in each */
} bo_tree_seams;

/* Motion of a component near one of its interfaces: Y = centre + radius xi goes to Y + sum_l q_l sum_b P_lb m_b(xi), m
 * the monomials 1, x, y, z, xx, yy, zz, yz, xz, xy. */
enum { BO_BLEND_LANES = 4, BO_BLEND_TERMS = 10, BO_BLEND_SIZE = BO_BLEND_LANES * BO_BLEND_TERMS };
typedef struct bo_tree_patch {
    double centre[3], radius;
    bo_vec3 normal;   /* towards the component */
    double thickness; /* rms distance from the plane across the normal */
    bool flat;        /* else there is no such plane */
    int32_t r;
    float *P;  /* r x BO_BLEND_TERMS x BO_BLEND_LANES; NULL: rigid */
    bool good; /* else its vertices do not tell the motion around it */
} bo_tree_patch;

/* A joint in which the motions of child and parent are blended. Places are in the child's axes at rest, from the
 * interface's centre, m. */
typedef struct bo_tree_fillet {
    int32_t child, parent; /* outside numbers */
    bool cut;              /* vertices coincide: both sides are blended. Else the child alone follows its parent */
    const bo_tree_patch *above, *below; /* of the child, of the parent */
    bo_vec3 normal;                     /* towards the child */
    double plateau, width, reach;       /* m: to both sides; where blending fades out beyond; across */
} bo_tree_fillet;

/* One of the joints that have a part in the place of a vertex. */
typedef struct bo_tree_share {
    int32_t joint;
    float weight;             /* tau */
    float child;              /* of the joint's motion, the child's part */
    float above[3], below[3]; /* xi of both patches */
} bo_tree_share;

typedef struct bo_tree_blend {
    int32_t patch_count, joint_count, vertex_count, share_count;
    bo_tree_patch *patches;
    bo_tree_fillet *joints;
    int32_t *part_first;  /* part (outside number) -> its first vertex here; one more at the end */
    int32_t *vertices;    /* numbers within their parts */
    int32_t *share_first; /* vertex -> its first share; one more at the end */
    bo_tree_share *shares;
} bo_tree_blend;

/* It hangs so that its surface can be joined to its parent's. */
static inline bool bo_tree_is_welded(const bo_tree_part *part) {
    return part->parent >= 0 && part->joint < 0 && bo_dot(part->arm, part->arm) == 0;
}

struct bo_tree_surface {
    int32_t vertex_count, triangle_count;
    int32_t *first; /* part (outside number) -> its first vertex; one more at the end */
    /* Tasks: runs of parts (inside numbers), each with room for one part at a time in the state's work. */
    int32_t task_count;
    int32_t *task_first; /* one more at the end */
    size_t *room;        /* floats; one more at the end: where the area vectors of the seams' copies are */
    bo_tree_seams seams;
    bo_tree_blend blend;
    bo_surface_field *fields; /* of each component */
};

/* seams.c: finds the copies; after `first` is filled. To be freed also when it fails. */
bough_status bo_tree_find_seams(bough_context *ctx, const bough_tree_model *model, const int32_t *first,
                                bo_tree_seams *seams);
void bo_tree_free_seams(bough_context *ctx, bo_tree_seams *seams);

/* A part that no longer hangs where the model says (or hangs there again): its surface parts from what was its
 * parent's. Nothing else is changed; to be called whenever that changes, also when a snapshot is restored. */
void bo_tree_open_seam(const bough_tree_model *model, bough_tree_state *state, int32_t part, bool open);
/* The same for all parts, as the state has them now. */
void bo_tree_open_seams(const bough_tree_model *model, bough_tree_state *state);
bool bo_tree_seam_is_open(const bough_tree_model *model, const bough_tree_state *state, int32_t part);

/* smooth.c: finds fillets, their polynomials and who is blended; after the seams. To be freed also when it fails. */
bough_status bo_tree_find_fillets(bough_context *ctx, const bough_tree_model *model, const bo_tree_seams *seams,
                                  bo_tree_blend *blend);
void bo_tree_free_fillets(bough_context *ctx, bo_tree_blend *blend);
/* Weight of the joint at a place (0 .. 1), and the child's share there; both twice differentiable. */
double bo_tree_fillet_weight(const bo_tree_fillet *joint, bo_vec3 X);
double bo_tree_child_share(const bo_tree_fillet *joint, bo_vec3 X);

/* field.c: of all components. To be freed also when it fails. */
bough_status bo_tree_make_fields(bough_context *ctx, const bough_tree_model *model, bo_surface_field **fields);
void bo_tree_free_fields(bough_context *ctx, const bough_tree_model *model, bo_surface_field *fields);

/* blend.c: world coefficients of all joints' polynomials, from the origin of the child's frame, those of the child
 * first: 2 BO_BLEND_SIZE floats each. */
void bo_tree_move_fillets(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state);
/* Blends the vertices of a part: x in its own unscaled axes, positions in the world. */
void bo_tree_blend_part(const bough_tree_model *model, const bough_tree_state *state, const bo_tree_part *part,
                        float *x, float *positions);
/* For measurements, after a surface with C1 was made: where a place near one joint goes, from the origin of the child's
 * frame, when the domain by itself moves as its polynomial; by the child's side or the parent's. blended: false: that
 * domain alone. */
bo_vec3 bo_tree_fillet_motion(const bough_tree_model *model, const bough_tree_state *state, int32_t joint, bool child,
                              bool blended, bo_vec3 X);
/* In the state's work: */
float *bo_tree_fillet_numbers(const bough_tree_model *model, const bough_tree_state *state);

#endif
