/* Contact of trees with obstacles and of rigid parts with all others, inside of a step. docs/theory/tree.md, "Contact".
 *
 * A step is made without contact first. Points of the surfaces that are inside of something then are the contacts of
 * the step; forces on them are found with the factors that the step left, such that no point goes on inwards, and act
 * for the length of the step. Nothing is kept from one step to the next. */
#ifndef BO_TREE_TOUCH_H
#define BO_TREE_TOUCH_H

#include "contact/field.h"
#include "contact/gap.h"
#include "contact/sweep.h"
#include "tree/tree.h"

/* A shape by which others touch a part; it moves with the part's frame. A part may have several. A rigid part that flies by
 * itself touches obstacles and others by them, too. */
typedef struct bo_tree_solid {
    int32_t part;                 /* outside */
    bo_obstacle shape;            /* pose: in the part's axes; not a plane or heights, which have no end */
    const bough_shape_mesh *mesh; /* of grids: what has the grid; belongs to somebody else */
    /* ---- out ---- */
    bool carried;          /* the part is no rigid one that flies by itself */
    int32_t next;          /* another solid of the part; -1: none */
    int32_t order;         /* how many solids of the part come before */
    int32_t first_feature; /* by which its points are numbered among those of the part */
    bo_vec3 middle;        /* of a sphere around it, in the part's axes */
    double radius;         /* m */
    bo_vec3 middle_of_all; /* the same around all solids of the part, of the first one */
    double radius_of_all;
} bo_tree_solid;

/* Meshes and heights to which obstacles and solids point, where a state is to keep them. */
typedef struct bo_tree_kept_shapes {
    int32_t mesh_count, height_count;
    bough_shape_mesh **meshes;
    bo_height_spline *heights;
} bo_tree_kept_shapes;

typedef struct bo_tree_touch_def {
    int32_t obstacle_count;
    const bo_touch_obstacle *obstacles; /* copied; what they point to is not */
    int32_t solid_count;
    const bo_tree_solid *solids; /* copied */
    const bool *between;         /* components, copied: whose parts touch each other; NULL: none do */
    double friction;             /* of all parts; of two that touch the square root of the product counts; 0.5 */
    double slip;                 /* m/s: friction holds by creeping slower than this; 1e-3 */
    int32_t most_contacts;       /* of a step; a step with more of them is refused; 10000 */
    double rest_speed;           /* m/s: trees that fly and are slower for rest_time fall asleep; 0: none does; 0.05 */
    double rest_time;            /* s; 0.5 */
} bo_tree_touch_def;
bo_tree_touch_def bo_default_tree_touch_def(void);

/* A contact of the last step. */
typedef struct bo_tree_contact {
    int32_t part, obstacle, other; /* obstacle -1: the other part, outside numbers */
    bo_vec3 position, normal;      /* in the world; the normal points to the first part */
    bo_vec3 force;                 /* N, on the first part */
    double gap;                    /* m, at the end of the step */
} bo_tree_contact;

typedef struct bo_tree_touch bo_tree_touch;

/* Lets the parts of a state touch, in steps from now on; what it had before is gone. def NULL: nothing touches. The
 * state keeps a copy of def, and takes over what `kept` has, unless it fails; NULL: nothing. */
bough_status bo_tree_state_touch(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                 const bo_tree_touch_def *def);
bough_status bo_tree_state_touch_keep(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                      const bo_tree_touch_def *def, bo_tree_kept_shapes *kept);
void bo_tree_kept_shapes_free(bough_context *ctx, bo_tree_kept_shapes *kept);
void bo_tree_touch_free(bough_context *ctx, bo_tree_touch *touch);

/* The contacts of the last step; of trees that sleep, those of the last step before they fell asleep. */
const bo_tree_contact *bo_tree_contacts(const bough_tree_state *state, int32_t *count);

/* In a step: looks for contacts where the step without them has led (next_q, next_v, next_roots and the frames there),
 * and if there are some, moves next_q, next_v and next_roots to where they lead. *touched: they did; the frames are not
 * there yet. gently: refuses contacts that bend a part far. */
bough_status bo_tree_touch_step(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                const bo_tree_scheme *scheme, bool gently, bool *touched);
/* After such a step, with the frames where it ends: gaps of points that went far are measured there. gently: refuses a step
 * that leaves parts that touch others too deep in something. */
bough_status bo_tree_touch_check(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                 const bo_tree_scheme *scheme, bool gently);
/* Around the solution of a step: loads take back the share that Newmark's rule leaves to this step of the forces of the
 * last one; where the accelerations are those at the start of all steps, these forces act. False: there were none. What
 * else acts is the same in all passes of a step: bo_tree_touch_forget() comes before the first. */
bool bo_tree_touch_begin(const bough_tree_model *model, bo_tree_work *work, const bo_tree_scheme *scheme);
void bo_tree_touch_end(const bough_tree_model *model, bo_tree_work *work);
void bo_tree_touch_forget(bo_tree_work *work);
/* A step was accepted: keeps the forces that its accelerations have felt. */
void bo_tree_touch_accept(const bough_tree_model *model, bo_tree_work *work, double dt);
/* Something pressed on a part of a tree that is held, in the last step. */
bool bo_tree_touch_presses_held(const bough_tree_model *model, const bo_tree_work *work);
/* The contacts of the step move trees that are held, and not only those that fly. */
bool bo_tree_touch_moves_held(const bough_tree_model *model, const bo_tree_work *work);
/* Rates of the velocities, dv / dt, by the contacts of the step; NULL: there were none. */
const double *bo_tree_touch_answers(const bo_tree_work *work);
/* Calls add(data, tree, J) with the work of each contact of the step on a tree. */
void bo_tree_touch_work(const bough_tree_model *model, const bo_tree_work *work, void (*add)(void *, int32_t, double),
                        void *data);

/* ---- inside ---- */

/* A point that touches, in a step. Three rows: along the normal and two tangents. Its part is a node of the closure or a
 * solid; what it touches is an obstacle or a solid. */
typedef struct bo_tree_point {
    int32_t part, other;        /* inside; other -1: an obstacle */
    int32_t obstacle;           /* -1: the other part */
    int32_t shape;              /* of the other part: the number of its solid; -1: its samples */
    int32_t feature;            /* which sample of its part, or which point of a solid */
    int32_t number;             /* in the order in which points are found */
    bool waits;                 /* touches only if other contacts lead it there: touch_wait.c */
    int32_t node, own, solid;   /* of the part: node, or its number among the solids of the step; of the other; -1 */
    int32_t r;                  /* of the part; 0 where it is locked */
    size_t rows;                /* where its 3 x r numbers begin in touch->rows */
    int32_t other_node;         /* of the other: where it is neither an obstacle nor a solid; -1 */
    int32_t other_r;            /* likewise */
    size_t other_rows;          /* likewise; with the sign of the other side */
    bo_vec3 x, start;           /* in the world, without contact; at the start of the step */
    bo_vec3 other_start;        /* where that point of the other was at the start of the step */
    bo_vec3 axes[3];            /* normal, tangents */
    int32_t island;             /* whose points are solved for together */
    double hardness;            /* kg: of its force along the normal */
    double gap, friction;       /* friction: coefficient */
    double slack;               /* m/s: by which it may still come nearer */
    double velocity[3];         /* without contact, against the other */
    double frame[3][6];         /* derivative of these by the velocity of the part's frame, in its axes */
    double other_frame[3][6];   /* less that by the other's */
    double pressed, multiplier; /* N: the normal forces that friction, and the normal force, are measured by */
    double force[3];            /* N, found so far */
    double answer[3];           /* m/s^2: acceleration against the other by these forces */
    double last_force[3], last_answer[3], law_force[3], law_slide[2], law_stiff[3]; /* of a round of the search */
    bo_vec3 moves, other_moves; /* m/s^2: of both sides, when all answers are known */
} bo_tree_point;

enum { BO_TREE_MEMORY = 4096 }; /* contacts that are remembered */

/* The force of a contact of the last step, from which the search of the next one starts. Plain numbers: part of
 * snapshots. */
typedef struct bo_tree_memory {
    int32_t part, feature; /* outside; which sample, or which point of a solid */
    int32_t other;         /* outside; of obstacle i: -2 - i */
    int32_t zero;
    double force[3]; /* N, in the world */
} bo_tree_memory;

/* Trees that touch each other, or one that touches obstacles only. Its number is that of a root, inside. */
typedef struct bo_tree_island {
    double mass;             /* kg, of all its parts */
    double off, most;        /* N: by which forces miss, and the largest */
    bool balanced, finished; /* in this round of the search; for good */
    bool paired;             /* parts touch each other in it */
    bool single;             /* one part that flies by itself: touch_single.c */
    int32_t few;             /* 1 + its number among those with few points: touch_few.c; 0 */
    bool left_out;           /* of the elimination, which is not for those with few points */
    int32_t points;
    double start, slope, low, high, at; /* of the search along a step: slopes, and the part of the way */
    uint64_t seen;
} bo_tree_island;

/* A part that touches, or on which one hangs that does: touch_closure.c. */
typedef struct bo_tree_node bo_tree_node;

/* A part as it is in a step: touch_find.c. */
typedef struct bo_tree_figure bo_tree_figure;

/* The sphere around the contact samples of a component; it grows with the coordinates. */
typedef struct bo_tree_cloud {
    bo_vec3 centre;
    double radius;
    double *reach;        /* r: by which each coordinate moves a sample at most */
    double *side_by_side; /* all x of the samples, all y, all z: each padded to whole vectors with the first sample */
} bo_tree_cloud;

/* A part on whose frame, and on `count` of whose coordinates, forces of contact act. */
typedef struct bo_tree_laden {
    int32_t part, first, count;
} bo_tree_laden;

/* The sphere around all that a part, or a solid, touches with, and a bound on its speed. */
typedef struct bo_tree_sphere {
    bo_vec3 centre;
    double radius, speed;
} bo_tree_sphere;

struct bo_tree_touch {
    bo_tree_touch_def def; /* with copies of its arrays */
    bo_tree_kept_shapes shapes_kept;
    bo_tree_cloud *clouds; /* of the components */
    double *reaches;       /* numbers of the clouds */
    bool *close;           /* of each sample of a part: touch_find.c */
    bo_field **fields;     /* components; NULL: their parts touch no others */
    int32_t field_count, mixing_count;
    int32_t *mixing; /* parts, outside, that touch each other */
    bo_sweep sweep;  /* of these */
    bo_box *boxes;
    int32_t *solid_of;       /* parts, outside: the first of their def.solids, of parts that fly as these; -1 */
    double mass;             /* kg, of all parts */
    bo_tree_island *islands; /* as many as parts */
    int32_t *join;           /* parts: trees that touch in the step are joined; each leads to one that stands for all */
    double *stir;            /* parts: rest.c */
    /* ---- of a step ---- */
    bo_obstacle *now;        /* the obstacles at its end */
    bo_se3 *before;          /* and where they were at its start */
    bool *moves;             /* they are not where they were */
    bo_obstacle *placed;     /* the solids */
    bo_tree_sphere *spheres; /* around them */
    bool *near;              /* parts, inside: they may be near an obstacle or a solid */
    bo_tree_figure *shapes;  /* parts, inside: of those, and of all that touch each other */
    size_t bent_count, bent_capacity;
    double *bent; /* samples: touch_find.c */
    size_t point_count, point_capacity, row_count, row_capacity;
    size_t found_count; /* of points: those that wait stand behind the others */
    bo_tree_point *points;
    size_t spare_capacity;
    bo_tree_point *spare;
    double *rows;
    int32_t *node_of; /* parts, inside; -1: not in the closure */
    int32_t node_count, node_capacity;
    bo_tree_node *nodes;
    size_t number_capacity;
    double *numbers;             /* of the nodes */
    struct bo_tree_pairs *pairs; /* touch_pairs.c */
    struct bo_tree_singles *singles;
    struct bo_tree_few *few; /* touch_few.c */
    size_t single_count;     /* of points of singles */
    int32_t *solids;         /* def.solid_count: parts, inside, of those that touch */
    int32_t *place;          /* def.solid_count: their numbers among these; -1 */
    int32_t solid_count;
    double *p, *p_q; /* 6 of each part, coordinates: respond.c; zero but where something is laden */
    bo_tree_laden *laden;
    int32_t laden_count;
    bool loads_kept;   /* p and p_q hold loads of the step instead */
    bo_tree_run *runs; /* coordinates of trees that touch something: two for each part at most */
    int32_t run_count;
    double *answers; /* coordinates: accelerations by the contacts, in the runs */
    double *rates;   /* what they have added to velocities, over dt */
    double *next;    /* forces that the accelerations at the end of the step feel: coordinates, then 6 of each part */
    bool *burdened;  /* blocks: some of them act on their parts */
    double lent;     /* share of those forces that the loads of the work hold, and nothing else; 0: none */
    bool carried, loaded;  /* the last step leaves some; there were other loads, too */
    double *pushed;        /* likewise, of the search for places */
    double share;          /* s^2: places by answers */
    double push_share;     /* s^2: places by the answers to pushes */
    bool answered;         /* there are some */
    bool forgotten;        /* nothing but forces of contact is left on the right-hand side of the step */
    int32_t contact_count; /* of the step's points, then of those that sleep */
    size_t contact_capacity;
    bo_tree_contact *contacts;
    size_t kept_count, kept_capacity;
    bo_tree_contact *kept; /* of trees that sleep */
    size_t memory_count, fresh_count;
    bo_tree_memory *memory, *fresh; /* BO_TREE_MEMORY: of the last step; of the one in progress */
    int32_t *places;                /* in memory, by hash */
    size_t push_capacity;
    double *push, *clear;   /* m, of the points: by which they are pushed out, or may go in */
    bool pushes;            /* some are pushed out */
    uint64_t round_of_look; /* touch_solve.c: which islands were seen */
    int32_t rounds;         /* of the search for forces */
};

/* A step in progress. */
typedef struct bo_tree_search {
    bough_context *ctx;
    const bough_tree_model *model;
    bough_tree_state *state;
    bo_tree_work *work;
    bo_tree_touch *touch;
    double dt;
    const bo_tree_scheme *scheme;
    bool still;   /* for an equilibrium: obstacles stand where they are at the time of the state, */
    double reach; /* points touch that come nearer than this, m; in a step it follows from its length */
} bo_tree_search;

/* touch_find.c: bytes of a part's figure; and the points that touch where the step without contact has led. */
size_t bo_tree_figure_size(void);
bough_status bo_tree_touch_find(bo_tree_search *s);
/* touch_cull.c: finds out which parts may be near an obstacle or a solid; once these are placed. stirs: trees that sleep are
 * looked at, too. */
void bo_tree_touch_cull(const bo_tree_search *s, bool stirs);
/* A bound on the speed of an obstacle within a sphere. */
double bo_tree_obstacle_speed(const bo_tree_search *s, int32_t o, bo_vec3 centre, double radius);
/* The tree (inside number of its root) that stands for all that touch each other in the step. */
int32_t bo_tree_island_of(const bo_tree_touch *touch, int32_t tree);
void bo_tree_join_islands(bo_tree_touch *touch, int32_t a, int32_t b);

/* The gap of a sample at the end of the step, where the frames are, or at its start; 0 where it is outside of another part.
 * Samples that were found are forgotten. False: no memory. */
bool bo_tree_touch_gap_at(bo_tree_search *s, const bo_tree_point *point, bool end, double *gap);

/* touch_wait.c: points that are found, but wait. They stand behind the others, in the order in which they were found; and
 * those that the contacts of the others have led inside are taken in; true: some were. */
bough_status bo_tree_touch_set_aside(bo_tree_search *s);
bool bo_tree_touch_take_in(bo_tree_search *s, double share);
/* Trees are about to fall asleep, or to wake up (rest.c): their contacts stay listed, or no longer. */
bough_status bo_tree_keep_contacts(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work, int32_t count,
                                   const bough_change *changes);

/* touch_recall.c: forces of the last step. */

bough_status bo_tree_touch_make_memory(bough_context *ctx, bo_tree_touch *touch);
/* Gives the points of the step the forces that they had in the last one; false: none had. */
bool bo_tree_touch_recall(const bough_tree_model *model, bo_tree_touch *touch);
/* Notes the forces of the points; they become memory when the step is accepted. */
void bo_tree_touch_note(const bough_tree_model *model, bo_tree_touch *touch);
void bo_tree_touch_remember(bo_tree_touch *touch);
/* Makes what is in memory findable. */
void bo_tree_touch_index(bo_tree_touch *touch);
/* The contacts of trees that sleep, in snapshots: bytes that they take (touch NULL: none), and writing them. Checking
 * also makes room for them, so that reading cannot fail; the list of contacts has no others then. */
size_t bo_tree_kept_size(const bo_tree_touch *touch);
void bo_tree_save_kept(const bo_tree_touch *touch, unsigned char *bytes);
bough_status bo_tree_check_kept(bough_context *ctx, const bough_tree_model *model, bo_tree_touch *touch,
                                const unsigned char *bytes, size_t size);
void bo_tree_read_kept(bo_tree_touch *touch, const unsigned char *bytes, size_t size);
/* Mixes all that a state touches into a hash; touch NULL: as it is. */
uint64_t bo_tree_touch_hash(const bo_tree_touch *touch, uint64_t hash);

/* touch_closure.c: the parts that touch, with all between them and the roots. */

/* The closure of the points of a step: their parts with all between them and the roots. */
bough_status bo_tree_touch_gather(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work);
/* Islands in which parts touch each other are solved for elsewhere (touch_pairs.c), and those with few points without
 * elimination (touch_few.c); the others, or all, take part. */
void bo_tree_touch_choose(bo_tree_touch *touch, bool all);
/* The matrix without contact and no loads. Then: h row^T row of the point's row along its normal (turn NULL) or along
 * turn[0] and turn[1] times its tangents; biases -f along its axes. */
void bo_tree_touch_clear(const bough_tree_model *model, bo_tree_work *work);
void bo_tree_touch_add_row(bo_tree_touch *touch, const bo_tree_point *point, const double turn[2], double h);
void bo_tree_touch_load(bo_tree_touch *touch, const bo_tree_point *point, const double f[3]);
/* Finds the answers of the points to what was added. False: a matrix is singular. */
bool bo_tree_touch_eliminate(const bough_tree_model *model, bo_tree_work *work);
/* Finds the answers of the points to their forces, by the closure alone. False: a matrix is singular. */
bool bo_tree_touch_answer(const bough_tree_model *model, bo_tree_work *work);
/* touch_solve.c */

/* Finds forces such that points do not go on inwards, with friction. again: there are more points than the last time, in
 * the same step. False: a matrix is singular, or no memory. */
bool bo_tree_touch_solve(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work, double dt, bool again);
/* Finds accelerations for one step from rest, into force[0] of the points, by which points go outwards by touch->push (0:
 * not inwards). After bo_tree_touch_solve(). */
bool bo_tree_touch_push(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work, double dt);

/* The answer of one tree of the closure, without contact, after bo_tree_touch_factor(): loads are laid on its nodes, and a
 * sweep over all of them (ascending) finds the accelerations and takes the loads off again. */
bool bo_tree_touch_factor(const bough_tree_model *model, bo_tree_work *work);
void bo_tree_touch_load_node(bo_tree_touch *touch, int32_t node, int32_t r, const double frame[6], const double *row);
void bo_tree_touch_sweep(const bough_tree_model *model, bo_tree_work *work, int32_t count, const int32_t *nodes);
/* The acceleration of a node's frame (6) and of its r coordinates. */
const double *bo_tree_node_answer(const bo_tree_touch *touch, int32_t node, int32_t *r, const double **a);
/* The island of a node, and its part. */
int32_t bo_tree_node_island(const bo_tree_touch *touch, int32_t node, int32_t *part);

/* touch_single.c: finds islands of one part alone, once islands are known, and the forces in them; again: places, with
 * the rows of the last call. False: a matrix is singular, or no memory. Then: accelerations by these forces. */
void bo_tree_touch_find_singles(const bough_tree_model *model, bo_tree_touch *touch);
bool bo_tree_touch_solve_singles(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work, double dt,
                                 bool again);
void bo_tree_touch_answer_singles(const bough_tree_model *model, bo_tree_work *work, double *answers);
void bo_tree_touch_free_singles(bough_context *ctx, bo_tree_touch *touch);

/* touch_few.c: finds the islands with few points, after they were gathered, and what a force at each of these points does
 * to all of them. False: a matrix is singular, or no memory. */
bool bo_tree_touch_weigh_few(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work);
/* For those that are not balanced: the answers to the forces of their points; and those of one step of Newton's method by
 * the laws of the points. False: a matrix is singular. */
void bo_tree_touch_answer_few(bo_tree_touch *touch);
bool bo_tree_touch_improve_few(bo_tree_touch *touch);
void bo_tree_touch_free_few(bough_context *ctx, bo_tree_touch *touch);

/* touch_pairs.c: forces in islands in which parts touch each other. again: with the rows of the last call. False: a
 * matrix is singular, or no memory. */
bool bo_tree_touch_solve_pairs(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work, double dt,
                               bool again);
void bo_tree_touch_free_pairs(bough_context *ctx, bo_tree_touch *touch);

#endif
