/* A mechanism that is stepped, as the engine of runs sees it: reduced to its end effectors, or in full. */
#ifndef BO_MECHANISM_ENGINE_LINKAGE_H
#define BO_MECHANISM_ENGINE_LINKAGE_H

#include "mechanism/engine.h"
#include "rig/joint.h"

#include <string.h>

typedef struct bo_linkage bo_linkage;

/* An array that belongs to a state. */
typedef struct bo_state_block {
    double *numbers;
    size_t count;
    bool motion; /* the twists of links follow from it */
} bo_state_block;
enum { BO_MOST_BLOCKS = 9 };
static inline int64_t bo_blocks_size(int count, const bo_state_block *blocks) {
    size_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += blocks[i].count;
    return (int64_t)sum;
}
static inline void bo_blocks_save(int count, const bo_state_block *blocks, double *to) {
    for (int i = 0; i < count; to += blocks[i++].count)
        memcpy(to, blocks[i].numbers, blocks[i].count * sizeof *to);
}
static inline void bo_blocks_restore(int count, const bo_state_block *blocks, const double *from) {
    for (int i = 0; i < count; from += blocks[i++].count)
        memcpy(blocks[i].numbers, from, blocks[i].count * sizeof *from);
}

static inline void bo_blocks_clear(int count, const bo_state_block *blocks) {
    for (int i = 0; i < count; i++)
        if (blocks[i].count > 0)
            memset(blocks[i].numbers, 0, blocks[i].count * sizeof *blocks[i].numbers);
}

enum { BO_LOAD_BLOCKS = 2 };

/* The functions of one way of stepping a mechanism. The motors, gravity and loads of a step are set before it. */
typedef struct bo_linkage_kind {
    bough_status (*create)(bo_linkage *l);
    void (*destroy)(bo_linkage *l);
    /* Returns the place where gravity is kept, m/s^2. */
    double *(*gravity)(const bo_linkage *l);
    /* Poses of all links (bo_linkage) at the present state; and their twists, once they are placed. */
    void (*place)(const bo_linkage *l);
    void (*move)(const bo_linkage *l);
    /* Sets the springs' offsets, by the scene's motors, in addition to those of the description. */
    void (*drive)(const bo_linkage *l, const double *offsets);
    /* Lists the arrays in which loads are kept. They are zero after a step that succeeded. */
    void (*loads)(const bo_linkage *l, bo_state_block blocks[BO_LOAD_BLOCKS]);
    /* At a point of the link's frame, in the axes of the world; the link is where it was placed last. */
    void (*push)(const bo_linkage *l, int32_t link, const double at[3], bo_vec3 force, bo_vec3 torque);
    /* A transaction. */
    bough_status (*step)(const bo_linkage *l, double h, int64_t *iterations);
    /* Goes this part (1 at most) of the way to equilibrium under what acts, or all of it; *residual: what is left of
     * forces. */
    bough_status (*settle)(const bo_linkage *l, double part, double *residual);
    void (*energies)(const bo_linkage *l, double *kinetic, double *elastic, double *gravity);
    /* Lists the arrays that are the state; returns how many. NULL: there is none. */
    int (*list_state)(const bo_linkage *l, bo_state_block blocks[BO_MOST_BLOCKS]);
    /* Numbers that are saved beside these arrays. NULL: there are none. */
    int64_t (*memory_size)(const bo_linkage *l);
    void (*save_memory)(const bo_linkage *l, double *memory);
    void (*restore_memory)(const bo_linkage *l, const double *memory);
    /* Reduced mechanisms only: internal modes, and the error of the lowest frequency; else NULL. */
    void (*detail)(const bo_linkage *l, int32_t *internal_modes, double *frequency_error);
} bo_linkage_kind;

struct bo_linkage {
    bough_context *ctx;
    const bo_mechanism_plan *m;
    const bo_linkage_kind *kind;
    bough_integrator_def integrator;
    void *data;
    bough_contact_world *around; /* NULL: nothing to touch, or not by this kind */
    bool alone;                  /* steps are tried without it */
    bool keeps_all;              /* of the scene's end effectors; else those that the engine names */
    double *offsets;             /* of the motors */
    double *rates;               /* their derivatives by time */
    bough_pose *poses;           /* of the links */
    double *twists;              /* 6 links, in their frames: of what poses move with */
};

extern const bo_linkage_kind bo_reduced_linkage, bo_blended_linkage, bo_full_linkage, bo_no_linkage;

/* engine_watch.c: when the last of the motors' curves ends, but no later than `until`. */
double bo_linkage_motors_end(const bo_linkage *l, double until);

/* engine_around.c: obstacles and free bodies, where there is something that touches. */
bool bo_linkage_needs_around(const bo_mechanism_plan *m);
/* Makes l->around. create: makes the actor of what is stepped; NULL: there are bodies only. */
bough_status bo_linkage_make_around(bo_linkage *l,
                                    bough_status (*create)(bo_linkage *l, int32_t touch_count,
                                                           const bough_touch_def *touches, bough_contact_actor *actor));
/* Returns the pose of a body, and its twist in its own axes. */
bo_se3 bo_linkage_body(const bo_linkage *l, int32_t body, bo_twist *twist);
/* Lists the contacts of the last step by the things that touch, at most so many; returns how many there are. */
int32_t bo_linkage_contacts(const bo_linkage *l, int32_t most, bough_run_contact *contacts);
/* Finds the contact force on an end effector in the last step, N in the world. */
void bo_linkage_touch(const bo_linkage *l, int32_t end_effector, double force[3]);

/* engine_reduced.c: the statics of a reduced model, with the end effectors and motors of the scene. */
typedef struct bo_kept_statics {
    bough_mechanism_statics_def def;
    bough_frame_def *end_effectors;
    int32_t *motors;
} bo_kept_statics;
/* modes: internal ones, or BOUGH_INTERNAL_AUTOMATIC. */
bough_status bo_linkage_make_model(const bo_linkage *l, int32_t modes, bough_mechanism_model **model);
bough_status bo_linkage_statics(const bo_linkage *l, bo_kept_statics *kept);
void bo_linkage_free_statics(const bo_linkage *l, bo_kept_statics *kept);

static inline bo_vec3 bo_linkage_point(const bo_linkage *l, int32_t link, const double at[3]) {
    return bo_se3_apply(bo_pose(&l->poses[link]), bo_load3(at));
}
static inline bo_vec3 bo_linkage_velocity(const bo_linkage *l, int32_t link, const double at[3]) {
    const bo_twist t = bo_load_twist(l->twists + 6 * (size_t)link);
    return bo_mat_vec(bo_pose(&l->poses[link]).R, bo_add(t.v, bo_cross(t.w, bo_load3(at))));
}

#endif
