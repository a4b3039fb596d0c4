/* Parts and samples in motion, and the points by which they touch in a step. Inside view of touch_find.c and
 * touch_shapes.c. docs/theory/tree.md, "Contact". */
#ifndef BO_TREE_TOUCH_LOOK_H
#define BO_TREE_TOUCH_LOOK_H

#include "tree/touch.h"
#include "tree/touch_planes.h"

#include <math.h>

/* A frame with its motion, in the world. */
typedef struct bo_tree_motion {
    bo_mat3 R;
    bo_vec3 x, v, w;
} bo_tree_motion;

static inline bo_vec3 bo_tree_velocity_at(const bo_tree_motion *frame, bo_vec3 x) {
    return bo_add(frame->v, bo_cross(frame->w, bo_sub(x, frame->x)));
}

/* A point of a part: as it moves with the frame and, by the weights of samples, with the bends. */
typedef struct bo_tree_side {
    int32_t part;                /* inside */
    const bo_tree_motion *frame; /* NULL: of an obstacle */
    bo_vec3 v, start;            /* velocity without contact; where it was at the start of the step: in the world */
    int32_t sample_count;        /* 0: it does not bend */
    const int32_t *samples;
    const double *weights;
} bo_tree_side;

/* A part with its motion, and its samples as the part is bent now, in the axes and the size of its component. Samples are
 * found once a step, for parts that are near something. */
struct bo_tree_figure {
    bo_tree_motion frame;
    bo_vec3 centre;
    double radius, speed; /* of a sphere around all samples, or solids; a bound on their speed */
    double travel;        /* m/s: the same of a part that does not bend */
    double rate;          /* m/s: a bound on the speed by bending alone */
    double margin;        /* m: points that are so near may be led to where they touch; 0 where parts touch no others */
    double bend;          /* m, of the component: by which no sample is further from its place at rest */
    size_t samples;       /* where 3 numbers a sample begin; SIZE_MAX: they are not known yet */
    bool measured;        /* bend and rate are as the samples say: measure_bend() */
};

/* One sample of a part, or a point of a solid with a radius around it. */
typedef struct bo_tree_sample {
    int32_t part;    /* inside */
    int32_t number;  /* of the sample; -1: it is a solid's */
    int32_t solid;   /* whose point it is; -1: it is a sample */
    int32_t feature; /* the number of the sample, or which point of the part's solids */
    double radius;   /* around it */
    bo_vec3 x;       /* in the world, without contact */
    const bo_tree_motion *frame;
    /* of those that come near something: bo_tree_motion_of_sample() */
    bool known;
    bo_vec3 v, was; /* in the world; in the part's axes, as it was at the start of the step */
} bo_tree_sample;

enum { BO_TREE_MOST_NEAR = 256 }; /* obstacles, and solids, that are looked at together */

/* A thing that a part may touch; none of its points that is further away does. */
typedef struct bo_tree_near_thing {
    int32_t number;
    double within;
} bo_tree_near_thing;

typedef struct bo_tree_near {
    int32_t obstacle_count, solid_count;
    bo_tree_near_thing obstacles[BO_TREE_MOST_NEAR], solids[BO_TREE_MOST_NEAR];
    bo_tree_plane planes[BO_TREE_MOST_NEAR]; /* the obstacles, where all of them are planes: see_planes() */
    bo_tree_ball balls[BO_TREE_MOST_NEAR];   /* the solids */
} bo_tree_near;

/* ---- touch_find.c ---- */

bo_se3 bo_tree_start_of(const bough_tree_state *state, const bo_tree_part *part);
void bo_tree_motion_of_sample(const bo_tree_search *s, bo_tree_sample *at);
/* Adds a contact at x, in the world, or one that waits. The other's part is that of a solid or of any other part, or none:
 * an obstacle. shape: the number of the solid that is touched; -1: none. */
bough_status bo_tree_add_point(bo_tree_search *s, bo_vec3 x, bo_vec3 n, double gap, double friction,
                               const bo_tree_side *one, const bo_tree_side *other, int32_t obstacle, int32_t shape,
                               int32_t feature, bool waits);

/* ---- touch_shapes.c ---- */

static inline bool bo_tree_comes_near(const bo_tree_search *s, double gap, double rate) {
    return gap + s->dt * fmin(rate, 0) < s->reach;
}
/* The side of a sample at the place where it touches, a radius away along -n. */
bo_tree_side bo_tree_side_of(const bo_tree_search *s, const bo_tree_sample *at, bo_vec3 n, bo_vec3 *x);
/* The shape of a solid where its part is. */
bo_obstacle bo_tree_placed(const bo_tree_solid *solid, bo_se3 at);
/* The contacts of a sample with all that is near, and those of a part that touches with its solids. */
bough_status bo_tree_meet(bo_tree_search *s, bo_tree_sample *at, const bo_tree_near *near);
bough_status bo_tree_meet_by_shapes(bo_tree_search *s, int32_t part, const bo_tree_near *near);

#endif
