/* Inside view of the tree engine. Letters are those of docs/theory/tree.md; everything about a part is in its own axes
 * and from its own origin unless said otherwise.
 *
 * Parts are numbered inside by depth, then grove (groves.c), then component, then whether they fly, then parent and
 * interface, so that parents come first and equal ones stand together. Three groupings make the arithmetic wide:
 *   block   parts of one component at one depth that fly or do not, eight at a time (wide) or alone: all that is r long
 *           or r x r large
 *   slots   four parts of one depth: their frames, six-dimensional inertias and accelerations
 *   faces   four interfaces of one part that has children: where they are and how they turn */
#ifndef BO_TREE_TREE_H
#define BO_TREE_TREE_H

#include "base/context.h"
#include "base/vec.h"
#include "tree/lanes.h"
#include "tree/track.h"

#include <bough/tree.h>

/* ---- constants ---- */

/* Rows of an interface that something hangs at, for the steps, with coordinates innermost (rows of n). */
typedef struct bo_face_rows {
    const double *a; /* 3 rows: translation */
    const double *A; /* 9 rows */
} bo_face_rows;

/* Tables of a component for the steps. Rows are n long: r in whole vectors, zeros behind. */
typedef struct bo_component_tables {
    const bough_component *c;
    int32_t r, n;
    const double *M;  /* r rows: tr W7 */
    const double *s;  /* 3 rows */
    const double *W5; /* 9 rows */
    const double *W7; /* r x 9 rows: [p][3 c + d][l] = W7_lp[c,d] */
    const double *k7; /* r x 3 rows: [p][.][l] = axial W7_lp */
    int32_t face_count, face_vectors;
    const int32_t *face_of; /* interface -> face, or -1 */
    bo_face_rows *faces;    /* face_count */
    const bo_v4 *face_rest; /* face_vectors x 12: centre (3) and A_0 (9) */
    const bo_v4 *face_maps; /* face_vectors x r x 12: rows of a and A by coordinate */
    /* For wide blocks, else NULL: */
    const double *bending; /* affine map q -> V (9 r rows), then v -> N (3 r rows) */
    const double *tangent; /* elastic.c; NULL: evaluated one by one */
} bo_component_tables;

typedef struct bo_tree_part {
    int32_t component, parent, interface_index;
    int32_t r, offset; /* in q */
    int32_t user;      /* its number outside */
    int32_t grove;
    int32_t slot;
    int32_t block, lane;
    int32_t face;                     /* of the parent, where it hangs: 4 vector + lane in the work's faces */
    int32_t face_row;                 /* the same among the faces of the parent's component */
    int32_t faces;                    /* first vector of its own faces; -1: nothing hangs on it */
    int32_t first_child, child_count; /* in model->children */
    double scale, scale3, scale4, scale5;
    double tree_mass; /* kg: of a root: of all of its tree */
    bo_mat3 rest;     /* rotation against the parent's axes at rest */
    bo_vec3 position; /* of a root */
    bo_vec3 arm;      /* from the interface's centre, in its axes */
    bool free;        /* a root that flies */
    bool flies;       /* with its root */
    bool locked;      /* its coordinates stay as they are */
    bool asleep;      /* its tree is not stepped */
    int32_t flight;   /* which of the flying roots carries it; -1: none */
    int32_t tree;     /* its root's number inside; 0 for all where ties join trees */
    bo_spline *track; /* of a root that is led; NULL: none */
    int32_t joint;    /* in model->joints; -1: welded */
} bo_tree_part;

/* A connection that turns. */
typedef struct bo_tree_joint {
    int32_t part;   /* inside */
    int32_t count;  /* of its coordinates */
    int32_t offset; /* in q */
    bo_vec3 axis;   /* of a hinge, unit */
    double stiffness, damping;
} bo_tree_joint;

typedef struct bo_tree_block {
    int32_t component, r, n;
    int32_t first, count;  /* parts */
    int32_t lanes;         /* 1 or BO_WIDE */
    int32_t slot;          /* of its first part: a multiple of four when it is wide */
    bool bare;             /* nothing hangs on its parts */
    bool together;         /* their coordinates follow each other in q */
    bool locked;           /* some of them are */
    bool flies;            /* all of them do; else none */
    int64_t vectors;       /* where its n x lanes vectors begin in work arrays */
    int64_t squares;       /* where its matrices do */
    double scale[BO_WIDE]; /* of its parts; missing ones are as the first */
} bo_tree_block;

/* An end of a tie: a frame that moves with an interface, or with the origin of a part, or stands in the world. */
typedef struct bo_tree_end {
    int32_t part;     /* inside; -1: the world */
    int32_t face;     /* 4 vector + lane in the work's faces; -1: the origin */
    int32_t face_row; /* among the faces of the part's component */
    bo_vec3 arm;      /* from there, in its axes; in the world: the place */
    bo_mat3 rest;     /* axes, in those of the interface, the part, the world */
} bo_tree_end;

typedef struct bo_tree_tie {
    bo_tree_end ends[2];
    double stiffness[2], damping[2]; /* of distances, of turns */
    bool broken;                     /* one of its parts is absent */
} bo_tree_tie;

/* Constants of four slots. Slots without a part are copies of one beside them. */
typedef struct bo_tree_slots {
    int32_t part[4];   /* inside; -1: none */
    int32_t source[4]; /* slot of a part that stands for it: itself where there is one */
    int32_t parent[4]; /* slot; -1 for roots */
    int32_t face[4];   /* 4 vector + lane in the work's faces */
    bo_v4 rest[9];
    bo_v4 offset[3];
    bool shifted; /* there are offsets */
    bool flies;   /* one of them does */
} bo_tree_slots;

/* Ranges of one depth. */
typedef struct bo_tree_level {
    int32_t first_part, end_part;
    int32_t first_slots, end_slots; /* vectors of slots */
    int32_t first_block, end_block;
    int32_t first_parent, end_parent; /* in model->parents */
    int32_t first_joint, end_joint;
} bo_tree_level;

/* Coordinates. */
typedef struct bo_tree_run {
    int32_t first, end;
} bo_tree_run;

/* Adds a run to a list, in which those that follow each other become one. groves.c */
void bo_tree_add_run(bo_tree_run *runs, int32_t *count, int32_t first, int32_t end);

/* Trees that are stepped together. */
typedef struct bo_tree_grove {
    bo_tree_level *levels; /* what it has of the model's */
    int32_t level_count;
    bo_tree_run *runs;
    int32_t run_count;
    int32_t first_flight, end_flight; /* of its roots that fly */
    int64_t vectors, squares;         /* where those of its blocks begin */
} bo_tree_grove;

/* Blocks that one task takes, of about equal cost; borders do not depend on the number of threads. */
typedef struct bo_tree_chunk {
    int32_t first, end; /* blocks */
} bo_tree_chunk;
enum { BO_TREE_CHUNKS = 32 };

struct bough_tree_model {
    bough_tree_model_def def; /* with copies of the parts, their names and tracks */
    bool owns_components;
    int32_t component_count, size;
    int32_t part_count; /* of those that are there; def.part_count: of all */
    bo_component_tables *components;
    bo_tree_part *parts;
    int32_t *inside;   /* outside number -> inside number; -1: it is absent */
    int32_t *offsets;  /* outside number -> where its coordinates begin; part_count further on, those of its joint */
    int32_t *children; /* inside numbers, ascending for each parent */
    int32_t *parents;  /* parts that something hangs on, ascending */
    int32_t parent_count;
    bo_tree_joint *joints; /* in the order of their parts */
    int32_t joint_count;
    bo_tree_tie *ties; /* def.tie_count */
    int32_t *tied;     /* parts that ties hang on, and all between them and the roots: ascending */
    int32_t tied_count;
    bool *face_used;               /* of each vector of faces: something hangs at one of them */
    void *numbers;                 /* all tables */
    uint64_t shape;                /* hash of parts and components; snapshots are of models of one shape */
    int32_t largest_n, free_count; /* free: roots that fly */
    bo_spline **tracks;            /* of all parts, outside numbers; NULL: none */
    bool led;                      /* there are roots with tracks */
    int32_t block_count, slots_count, level_count, faces_count;
    bo_tree_block *blocks;
    bo_tree_slots *slots;
    bo_tree_level *levels;
    bo_tree_chunk chunks[BO_TREE_CHUNKS]; /* of blocks */
    int32_t chunk_count;
    bo_tree_grove *groves; /* where trees sleep: first those that are awake, then those that sleep */
    int32_t grove_count;
    bool has_sleepers;
    bo_tree_level *grove_levels; /* of all */
    bo_tree_run *runs;           /* likewise */
    /* The part of the model that steps look at: everything, or in a copy of the model one grove, with levels and
     * level_count. */
    const bo_tree_grove *grove; /* NULL: everything */
    int32_t first_flight, end_flight;
    double *lump;     /* L1: what hangs on a part, as a constant addition to its mass matrix: as L */
    bo_v4 *face_mass; /* L1: of each vector of faces, the mass that hangs there */
    struct bo_tree_surface *surface;
    struct bo_tree_wind *wind;
    size_t scratch_size;
    int64_t vectors_size, squares_size;   /* of the blocks */
    int64_t grove_vectors, grove_squares; /* of those of a grove, at most */
};

/* ---- what changes ---- */

/* Four interfaces of a part: in its axes. */
typedef struct bo_tree_faces {
    bo_v4 polar[9];        /* rotation, kept for the next warm start */
    bo_v4 Op[27];          /* angular velocity by rates of A */
    bo_v4 x[3], xdot[3];   /* of the centre */
    bo_v4 turning[3];      /* angular velocity */
    bo_v4 turning_bias[3]; /* what that gains without accelerations of q */
    bo_v4 gain[6];         /* acceleration and angular acceleration by those of q */
    bo_v4 force[3];        /* L1: on what hangs there */
} bo_tree_faces;

/* Four parts. */
typedef struct bo_tree_frames {
    bo_v4 R[9];       /* axes in the parent's */
    bo_v4 x[3];       /* origin in the parent's axes, from its origin */
    bo_v4 b[6];       /* acceleration of the frame that no acceleration of the parent makes: in the parent's axes */
    bo_v4 v[3], w[3]; /* velocity and angular velocity of the frame */
    bo_v4 world[9];   /* axes in the world */
    bo_v4 origin[3];  /* in the world */
    bo_v4 arm[3];     /* from the interface's centre to the origin, in the parent's axes, where slots are shifted */
} bo_tree_frames;

typedef struct bo_tree_inertias {
    bo_v4 I[BO_SIX], p[6];       /* inertia and bias force about the origin: of the part, then with what hangs on it */
    bo_v4 A[6];                  /* acceleration of the frame (less gravity) */
    bo_v4 up_I[BO_SIX], up_p[6]; /* I and p about the same point in the parent's axes, moved with the parent */
} bo_tree_inertias;

/* Motion of a joint. Angular quantities are in the axes of the part. */
typedef struct bo_tree_swing {
    double T[9];            /* angular velocity by rates of the coordinates: 3 x 3, or the axis in the first column */
    double turning[3];      /* that angular velocity */
    double bias[3];         /* T' times the rates */
    double H, kept_H, p[3]; /* what springs and dampers add to the mass of each coordinate, and to its force */
    double IS[18];          /* 6 x 3: inertia that moves with the coordinates */
    double D[9];            /* Cholesky factor of theirs */
    double u[3];            /* their force */
} bo_tree_swing;

/* Motion and force of a tie, in world axes: of its second end against the first. */
typedef struct bo_tree_pull {
    double e[6];       /* distance, turn */
    double v[6];       /* their rates */
    double x[3];       /* of the second end */
    double dx[3];      /* its velocity */
    double H[2], p[6]; /* force -p - H a of distances and of turns, with a the acceleration to come */
    double kept_H[2];  /* for a second pass */
    double a[6];       /* of the pass before */
} bo_tree_pull;

/* Motion of a tie in the last step, for the next one. */
typedef struct bo_tie_motion {
    double a[6];     /* acceleration of the second end against the first */
    double force[6]; /* on the second end, about it */
} bo_tie_motion;

typedef struct bo_tree_integrator bo_tree_integrator;

typedef struct bo_tree_work {
    bough_tree_model *own; /* the model as the state has changed it; NULL: it has not */
    bo_tree_faces *faces;
    bo_v4 *starts; /* 9 of each vector of faces: rotations that the last decompositions started from */
    bo_tree_frames *frames;
    bo_tree_inertias *inertias;
    bo_tree_swing *swings;                       /* of the joints */
    bo_tree_pull *pulls;                         /* of the ties */
    bo_tie_motion *tie_motion, *next_tie_motion; /* of the last step and of the one in progress */
    double *tie_system;                          /* ties.c */
    double *answers;                             /* respond.c */
    /* By blocks, lanes innermost: */
    double *Mrq; /* 6 n */
    double *p_q; /* n: bias, elastic, damping forces less loads */
    double *Z;   /* 8 n: exact coupling: L^-1 [Mrq^T, p_q] */
    double *L;   /* matrices: what is solved with, then its factor; rows of the lower triangle (wide: packed) */
    double *H;   /* matrices: what a second pass begins with */
    double *p;   /* n: the same of forces that do not come from motion of frames */
    double *x;   /* n: solutions */
    /* By parts: */
    double *force;              /* r: given from outside */
    double *wrench;             /* 6: given from outside, about the origin, own axes */
    double *load, *load_wrench; /* the same with the wind, of the step in progress */
    double *sway;               /* 3: settle.c */
    double *blow, *blow_wrench; /* forces of contact that the accelerations of the last step felt: touch.h; the
                                       * wrenches by outside numbers */
    double *quiet;              /* s, by outside numbers of roots: for which a tree has hardly moved; -1: it is to
                                       * wake up. Then the wind when the first trees fell asleep: rest.c */
    double *energies;           /* ledger.c */
    bough_tree_energies sums;   /* of all of them, when somebody last looked */
    bool looked, measured;      /* they are those of the step in progress; of the state as the last step left it */
    bool pushed, loaded;        /* there is a force or wrench; likewise with the wind */
    const bool *burdened;       /* blocks: loads of all others are zero; NULL: nobody knows */
    double *rest;               /* r: zeros */
    double *mid_q, *mid_v;      /* where the step in progress takes inertia and forces, if not at its start */
    double *next_q, *next_v, *next_a; /* of the step in progress */
    bough_tree_root *next_roots;
    double next_time;
    bool frames_stale;     /* the frames are not those of next_q, next_v, next_roots, next_time */
    const double *gravity; /* the state's */
    double felt[3];        /* gravity of the step in progress, on the whole: ledger.c */
    double *scratch;       /* scratch_size for each of the chunks that there can be */
    double *sets;          /* groves.c */
    int32_t set_count;
    double *numbers; /* all of these */
    float *surface_work;
    bo_tree_integrator *integrator; /* of the time room; NULL: the tree's own step */
    bough_tree_log *log;            /* that records the state; NULL: none */
    struct bo_tree_touch *touch;    /* what the parts touch; NULL: nothing */
} bo_tree_work;

/* A state as the library makes it. Copies share work and ledger. */
typedef struct bo_tree_state {
    bough_tree_state seen; /* first: what the user sees */
    bo_tree_work *work;
    struct bo_tree_ledger *ledger;
} bo_tree_state;
static inline bo_tree_state *bo_tree_inside(const bough_tree_state *state) {
    return (bo_tree_state *)(uintptr_t)state;
}
static inline bo_tree_work *bo_tree_work_of(const bough_tree_state *state) {
    return bo_tree_inside(state)->work;
}
static inline struct bo_tree_ledger *bo_tree_ledger_of(const bough_tree_state *state) {
    return bo_tree_inside(state)->ledger;
}

/* The way in which frames are moved and accelerations solved for: an argument of all functions that do so. Zero bytes:
 * all parts, with weight and loads, roots with tracks as these lead them at time 0. */
typedef struct bo_tree_mode {
    bough_coupling coupling;
    bool only_flights; /* only parts that fly are looked at: those that do not are where they should be */
    bool still;        /* roots with tracks stand still where these have them */
    bool weightless;   /* gravity does not act, */
    bool unloaded;     /* nor do work->load and work->load_wrench, also when there are some */
    bool sudden;       /* velocities are solved for, from momenta: roots with tracks get that of their tracks */
    double lead_time;  /* s: when the accelerations of roots with tracks are taken */
} bo_tree_mode;

/* The loads act. */
static inline bool bo_tree_loads_act(const bo_tree_work *work, const bo_tree_mode *mode) {
    return work->loaded && !mode->unloaded;
}

/* A rule by which forces and masses become the matrix that is solved with. Hilber, Hughes and Taylor: q+ = qp + beta
 * dt^2 a+, v+ = vp + gamma dt a+. inert: masses alone. */
typedef struct bo_tree_scheme {
    double dt, alpha, beta, gamma;
    bool inert;
    bool begins; /* accelerations at the start are solved for: nothing is known of what is ahead */
} bo_tree_scheme;

/* ---- the files ---- */

/* layout.c: order of the parts, blocks, slots, levels, faces as the def's parts have it. The tables of its components
 * and the places of coordinates are made, or are those of the model `base` that it is a changed form of. */
bough_status bo_tree_lay_out(bough_context *ctx, bough_tree_model *model, const bough_tree_model *base);
void bo_tree_free_layout(bough_context *ctx, bough_tree_model *model);

/* elastic.c */

/* Doubles of the table. */
size_t bo_tangent_table_size(int32_t r);
void bo_tangent_table_fill(const bough_component *c, double *table);
/* Gradient (r x BO_WIDE) and Hessian (lower triangle, packed, x BO_WIDE) of a quartic at eight q (r x BO_WIDE). */
void bo_tangent_evaluate(int32_t r, const double *table, const double *q, double *scratch, double *gradient,
                         double *hessian);
size_t bo_tangent_scratch(int32_t r);

/* faces.c: where the interfaces are and how they move; false when one is crushed to a line. */
bool bo_tree_move_faces(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode,
                        const double *q, const double *v);
/* gain of part i's faces from its accelerations */
void bo_tree_gain(const bough_tree_model *model, bo_tree_work *work, int32_t i, const double *a);

/* kinematics.c: faces, then frames and velocities of all parts from q and v. */
bool bo_tree_move(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode,
                  const double *q, const double *v);
/* Accelerations of the frames of one level from those of their parents and the gain of the faces. */
void bo_tree_accelerate_frames(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work,
                               const bo_tree_mode *mode, int32_t level);

/* parts.c: what parts are by themselves. */

typedef struct bo_tree_pass {
    const bough_tree_model *model;
    const bough_tree_state *state; /* stiffness, damping; q, v and a at the start of the step */
    bo_tree_work *work;
    bo_tree_mode mode;
    const double *q, *v;  /* where inertia is taken */
    const double *there;  /* q about which forces are linear; NULL: that q */
    const double *damped; /* q at which damping takes its stiffness; NULL: as forces do */
    const bo_tree_scheme *scheme;
    bool elastic;             /* forces and stiffness are evaluated; else those of the last time are used again */
    bool keep;                /* they will be used again, */
    bool keep_flights;        /* but only those of parts that fly */
    bool solve;               /* what has nothing hanging on it is made ready */
    bool inertias;            /* I and p are wanted */
    bool bad[BO_TREE_CHUNKS]; /* out: a material is inverted, or a matrix is not positive definite */
} bo_tree_pass;
/* Fills p_q, Mrq, inertias and L of all parts. */
bool bo_tree_prepare(bough_context *ctx, bo_tree_pass *pass);
/* Factors L, and with the exact coupling eliminates the coordinates: I and p become those of the frame alone. */
bool bo_tree_eliminate(const bough_tree_model *model, bo_tree_work *work, bough_coupling coupling, int32_t block);
/* Forces on the coordinates for a bo_tree_prepare() that evaluates none: p = -scale f. */
void bo_tree_set_forces(const bough_tree_model *model, bo_tree_work *work, double scale, const double *f);
/* Accelerations of coordinates from those of frames, after elimination. */
void bo_tree_substitute(const bough_tree_model *model, const bo_tree_work *work, bough_coupling coupling, int32_t block,
                        double *a);

/* The same without solving: what parts are by themselves at q, v, where the frames are. */
void bo_tree_weigh(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                   const bo_tree_mode *mode, const double *q, const double *v);

/* The bare kernels of a step for all parts, on the data of the state and nothing else: for benchmarks. They overwrite
 * what a step computes anew. */
typedef enum bo_tree_kernel {
    BO_KERNEL_ELASTIC,    /* forces and tangents */
    BO_KERNEL_SOLVE,      /* LDL^T and one solution */
    BO_KERNEL_SYSTEM,     /* forces of moving frames */
    BO_KERNEL_INTERFACES, /* products with interface maps, polar decompositions and their derivatives */
    BO_KERNEL_COUNT
} bo_tree_kernel;
/* Once before: data in the order in which kernels want them. False when the state cannot be stepped. */
bool bo_tree_prepare_kernels(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state);
void bo_tree_run_kernel(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                        bo_tree_kernel kernel);

/* joints.c */

/* List of the joints of a model whose parts are laid out. */
bough_status bo_tree_list_joints(bough_context *ctx, bough_tree_model *model);
/* The joint of a part (outside number) at rest at the angle of its def; nothing where it has none. */
void bo_tree_start_joint(const bough_tree_model *model, bough_tree_state *state, int32_t user);
/* Frames of the parts of a level that hang by joints: from those of their interfaces. */
void bo_tree_turn_joints(const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode, int32_t level,
                         const double *q, const double *v);
/* H and p of the joints, as bo_tree_prepare() has those of the parts. */
void bo_tree_prepare_joints(const bo_tree_pass *pass);
/* I and p of the parts of a level become those that their interfaces feel: the joints give way. False: no inertia. */
bool bo_tree_release_joints(const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode, int32_t level);
/* Accelerations of their coordinates, and of the frames with them. */
void bo_tree_swing_joints(const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode, int32_t level,
                          double *a);
/* The same of accelerations that are given. */
void bo_tree_drive_joints(const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode, int32_t level,
                          const double *a);
/* Torque on joint j by p on the frame of its part: T^T p */
void bo_tree_joint_torque(const bough_tree_model *model, const bo_tree_work *work, int32_t j, double torque[3]);
/* Rotation vectors of balls beyond pi become those of the same rotation below, and their mean accelerations (may be
 * NULL) the last ones. False: there were none. */
bool bo_tree_wrap_balls(const bough_tree_model *model, double *q, double *v, double *a, double *mean_a);

/* ties.c */

enum { BO_MOST_TIES = 512 }; /* of a model: a step solves for all of them together */
bough_status bo_tree_check_tie(bough_context *ctx, const bough_tree_model_def *def, int32_t index);
/* Which faces ties need; before these are counted. */
void bo_tree_mark_tied(const bough_tree_model *model, bool *tied);
/* Their ends, of a model that is laid out: from the model `base`, or NULL, from rest. */
bough_status bo_tree_list_ties(bough_context *ctx, bough_tree_model *model, const bough_tree_model *base);
/* H and p, as bo_tree_prepare() has them of parts; where the frames are. */
void bo_tree_prepare_ties(const bo_tree_pass *pass);
/* Adds the answers to the pull of the ties to accelerations that were solved for without them. False: singular. */
bool bo_tree_pull_ties(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode,
                       double *a);
/* By how much the last pass changed their accelerations. */
double bo_tree_tie_correction(const bough_tree_model *model, const bo_tree_work *work);
/* Adds what the ties do in a step to the momenta of roots that fly. */
void bo_tree_fly_ties(const bough_tree_model *model, const bo_tree_work *work, double dt, double gamma,
                      bough_tree_root *roots);
/* Adds what the ties pull with at rest to the loads; where the frames are. */
void bo_tree_load_ties(const bough_tree_model *model, const bough_tree_state *state);
/* Distance and turn of the second end from the first: world axes, where the frames are. */
void bo_tree_tie_stretch(const bough_tree_model *model, const bough_tree_state *state, int32_t tie, double e[6]);
double bo_tree_tie_energy(const bough_tree_model *model, const bough_tree_state *state);
/* Numbers of work->tie_system. */
size_t bo_tree_tie_system_size(const bough_tree_model *model);

/* respond.c: how accelerations answer to further forces, after bo_tree_solve(). p: 6 of each part, on its frame; p_q:
 * on coordinates; both as bias forces, on the parts `tied` only, and overwritten. Adds to A (6 of each part) and a, for
 * these parts or for all. */
void bo_tree_respond(const bough_tree_model *model, const bo_tree_work *work, double *p, double *p_q, bool all,
                     double *A, double *a);
/* The first half of it, for one part: p_q becomes L^-1 p_q, p what is left on its frame, and its parent feels that. */
void bo_tree_hand_up(const bough_tree_model *model, const bo_tree_work *work, int32_t i, double *p, double *p_q);
/* Numbers of work->answers: p, p_q, A, a. */
size_t bo_tree_answers_size(const bough_tree_model *model);

/* couple.c: accelerations of all coordinates and frames after bo_tree_prepare(); false when a matrix is not positive
 * definite. */
bool bo_tree_solve(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode,
                   double *a);

/* The second half alone: right-hand sides of parts are in Z, of joints in their u, of roots that fly in their p. */
bool bo_tree_scatter(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode,
                     double *a);

/* balance.c: the forces y on the coordinates that accelerations a ask for, less the loads; after bo_tree_weigh(), whose
 * p they overwrite. For roots that do not fly. */
void bo_tree_balance(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode,
                     const double *a, double *y);

/* energy.c: kinetic energy, elastic energy and that of weight under `gravity` of each part (3 each, by inside numbers),
 * at q, v, where the frames are. False: one is turned inside out. */
bool bo_tree_measure(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                     const double gravity[3], const double *q, const double *v, double *energies);

/* step.c */

/* bough_tree_state_update() of a state that goes on as it is. */
bough_status bo_tree_update(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state);

/* As bough_tree_step(), but refused when a part bends far (docs/theory/tree.md, "Integration"). */
bough_status bo_tree_step_gently(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, double dt);
/* The frames are those of the state, as the last step left it. */
bool bo_tree_is_here(bough_context *ctx /* may be NULL */, const bough_tree_model *model,
                     const bough_tree_state *state);
bough_status bo_tree_check_method(bough_context *ctx, bough_coupling coupling, double alpha, int32_t passes);
/* Makes the frames those of the state, where it was changed since, or where frames_stale says that something else was
 * done with them. */
bough_status bo_tree_come_back(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state);
/* Publishes the frames of the work as the state's frames. */
void bo_tree_publish_frames(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state);
/* Load and load_wrench of what acts on the state from outside: forces, and drag at its frames, q and v. */
void bo_tree_take_loads(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, bool with_wind);
/* Accelerations at q, v under the forces on the state and the generalised ones in `force` (may be NULL), without
 * elastic forces and damping; weightless: without gravity, too. */
bough_status bo_tree_accelerations(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                   bool weightless, const double *q, const double *v, const double *force, double *a);

/* model.c */
bough_status bo_tree_check_part(bough_context *ctx, const bough_tree_model_def *def, int32_t index);
bough_status bo_tree_make_work(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work);

/* forces.c: there is a part of that number (outside), and it is not absent now. */
bough_status bo_tree_check_present(bough_context *ctx, const bough_tree_model *model, int32_t part);

/* change.c: the model as the state has it now. */
static inline const bough_tree_model *bo_tree_now(const bough_tree_model *model, const bough_tree_state *state) {
    return bo_tree_work_of(state)->own ? bo_tree_work_of(state)->own : model;
}
void bo_tree_free_own(bough_context *ctx, bough_tree_model *own);

/* Motion of a part's frame, in its axes: velocity, angular velocity. */
static inline void bo_tree_velocity(const bo_tree_work *work, const bo_tree_part *part, double V[6]) {
    const bo_tree_frames *f = &work->frames[part->slot / 4];
    for (int k = 0; k < 3; k++) {
        V[k] = BO_LANE_CONST(f->v[k], part->slot % 4);
        V[3 + k] = BO_LANE_CONST(f->w[k], part->slot % 4);
    }
}
/* Entry (d, l) of the coupling of a part's frame and coordinates. */
static inline double bo_tree_Mrq(const bough_tree_model *model, const bo_tree_work *work, const bo_tree_part *part,
                                 int d, int32_t l) {
    const bo_tree_block *b = &model->blocks[part->block];
    return work->Mrq[6 * b->vectors + (int64_t)(d * b->n + l) * b->lanes + part->lane];
}
/* First moment mc of the inertia [m 1, -mc~; mc~, T] in a lane. */
static inline void bo_tree_first_moment(const bo_tree_inertias *s, int32_t lane, double mc[3]) {
    const bo_v4 *C = s->I + BO_SIX_C;
    mc[0] = BO_LANE_CONST(C[5], lane), mc[1] = BO_LANE_CONST(C[6], lane), mc[2] = BO_LANE_CONST(C[1], lane);
}
/* flight.c: I V + Mrq v of a part by itself, after bo_tree_weigh(). */
void bo_tree_momentum(const bough_tree_model *model, const bo_tree_work *work, const bo_tree_part *part,
                      const double *v, double h[6]);

/* surface.c: what reconstruction needs of a model and of a state. The model's is to be freed also when it fails. */
bough_status bo_tree_make_surface(bough_context *ctx, bough_tree_model *model);
void bo_tree_free_surface(bough_context *ctx, bough_tree_model *model);
float *bo_tree_make_surface_work(bough_context *ctx, const bough_tree_model *model);

/* wind.c: samples of all components; to be freed also when it fails. */
bough_status bo_tree_make_wind(bough_context *ctx, bough_tree_model *model);
void bo_tree_free_wind(bough_context *ctx, bough_tree_model *model);
/* Adds the drag of the air past the wind samples, at the state's time, frames, q and v, to the generalised
 * forces and to the wrenches (own axes, about the origin) of all parts. Nothing when the mean wind is zero. */
void bo_tree_blow(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state, double *load,
                  double *wrench);

/* snapshot.c: two models with the same hash have the same parts in the same places. Of a model that is laid out. */
uint64_t bo_tree_shape(const bough_tree_model *model);

/* flight.c */

/* Sets the motion of the frames of roots: of those that fly from `roots`, of those that are led from their tracks at
 * time t (still: as if these stood still there). */
void bo_tree_place_roots(const bough_tree_model *model, bo_tree_work *work, const bough_tree_root *roots, double t,
                         bool still);
/* One step of the roots with the accelerations that were solved for (less gravity); frames: at its start. */
void bo_tree_fly(const bough_tree_model *model, const bo_tree_work *work, const bough_frame *frames, double dt,
                 double gamma, const bough_tree_root *from, bough_tree_root *to);
/* Momenta of each root's tree from its velocities; after bo_tree_move() at q, v. */
void bo_tree_set_momenta(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state);
/* Velocities of each root from its tree's momenta, the rest of the motion as it is; after bo_tree_move(). False when
 * an inertia is singular. */
bool bo_tree_project_momenta(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                             const double *q, const double *v, bough_tree_root *roots);

#endif
