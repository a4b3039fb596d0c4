/* The nouns that engines share: shapes, rigid bodies, frames and joints.
 *
 * Descriptions only: no engine's forces, no files. A def is plain data that the caller owns; functions that take one
 * copy all that they keep. Functions of this header may be called from several threads at once, each with a context of
 * its own. Where one returns a status other than BOUGH_OK, the context has a sentence about it and nothing was made. SI
 * units, matrices row-major.
 */
#ifndef BOUGH_RIG_H
#define BOUGH_RIG_H

#include <bough/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- shapes ---- */

/* A shape is convex (sphere, box, hull, capsule), a closed surface of any form (mesh), or part of the ground (plane, height
 * field), and lies somewhere in the frame of what it belongs to: an obstacle, a rigid body, a link, the end effector of a
 * mechanism. */
typedef enum bough_shape_kind {
    BOUGH_SHAPE_PLANE,        /* all below z = 0 of its frame */
    BOUGH_SHAPE_SPHERE,       /* radius */
    BOUGH_SHAPE_BOX,          /* half */
    BOUGH_SHAPE_HULL,         /* the convex hull of points */
    BOUGH_SHAPE_HEIGHT_FIELD, /* all below z = height(x, y), over a rectangle about the frame's origin */
    BOUGH_SHAPE_CAPSULE, /* all within radius of an axis along z, from -half[2] to half[2]. Contact worlds know it by
                                  a hull that is up to 6.7 % of the radius within */
    BOUGH_SHAPE_MESH     /* all within `mesh` */
} bough_shape_kind;

/* A closed surface of triangles, convex or not, with the distances around it by which it touches. Constant: any number of
 * shapes, worlds and threads may share one; it must outlive them all. */
typedef struct bough_shape_mesh bough_shape_mesh;
/* Checks and copies everything, and finds the distances, which takes a part of a second; progress() of the context may
 * cancel it. vertices: 3 vertex_count, m; triangles: 3 triangle_count, all counter-clockwise seen from outside, or all
 * clockwise. cells: of the grid of distances along the longest side, 8 to 100; 0: 40. What is thinner than two cells is felt
 * too thin, or not at all, and edges are rounded by a small part of a cell. The caller destroys the mesh.
 * BOUGH_ERROR_ARGUMENT where the surface is open, turned inside out in places, without volume, or too large. */
BOUGH_API bough_status bough_shape_mesh_create(bough_context *ctx, int32_t vertex_count, const double *vertices,
                                               int32_t triangle_count, const int32_t *triangles, int32_t cells,
                                               bough_shape_mesh **mesh);
/* Takes NULL too. */
BOUGH_API void bough_shape_mesh_destroy(bough_context *ctx, bough_shape_mesh *mesh);

typedef struct bough_shape_def {
    uint32_t cookie;
    bough_shape_kind kind;
    bough_pose frame; /* in that of what it belongs to */
    double radius;    /* m */
    double half[3];   /* m: half its edges; half[2] of a capsule: half its axis */
    int32_t point_count;
    const double *points;         /* 3 point_count, m */
    int32_t columns, rows;        /* of the heights, 2 at least: along x and y */
    double cell[2];               /* m: from one to the next */
    const double *heights;        /* rows x columns, m */
    const bough_shape_mesh *mesh; /* is not copied: it must outlive the shapes made of it */
    uint64_t reserved[3];         /* zeros: room for fields of later versions */
} bough_shape_def;
BOUGH_API bough_shape_def bough_default_shape_def(void); /* a sphere of radius 0.1 m */

/* A shape that was checked. Constant: any number of threads may read one. */
typedef struct bough_shape bough_shape;
/* Checks and copies everything; finds the faces of a hull. The caller destroys the shape. BOUGH_ERROR_ARGUMENT where a
 * number is out of range or the points of a hull span no solid. */
BOUGH_API bough_status bough_shape_create(bough_context *ctx, const bough_shape_def *def, bough_shape **shape);
/* Takes NULL too. */
BOUGH_API void bough_shape_destroy(bough_context *ctx, bough_shape *shape);

/* The triangles of a box, a hull, a capsule's hull, a mesh or a height field, in the frame of what it belongs to. */
typedef struct bough_shape_surface {
    int32_t vertex_count, triangle_count;
    double *vertices;   /* 3 vertex_count */
    int32_t *triangles; /* 3 triangle_count, counter-clockwise seen from outside */
} bough_shape_surface;
/* The caller destroys the surface. BOUGH_ERROR_UNSUPPORTED for planes and spheres. */
BOUGH_API bough_status bough_shape_surface_create(bough_context *ctx, const bough_shape *shape,
                                                  bough_shape_surface *surface);
/* Frees the arrays and leaves zeros. */
BOUGH_API void bough_shape_surface_destroy(bough_context *ctx, bough_shape_surface *surface);

/* Mass of shapes filled with a material, in the frame of what they belong to. Where two overlap both count. */
typedef struct bough_shapes_mass {
    double mass;       /* kg */
    double centre[3];  /* m */
    double inertia[9]; /* kg m^2: about the centre of mass */
} bough_shapes_mass;
/* density in kg/m^3. The ground (planes, height fields) has no mass and is refused (BOUGH_ERROR_ARGUMENT). */
BOUGH_API bough_status bough_shapes_weigh(bough_context *ctx, int32_t count, const bough_shape_def *shapes,
                                          double density, bough_shapes_mass *mass);

/* ---- rigid bodies ---- */

/* A body that does not bend: a link of a mechanism, or a body that flies until it touches something. */
typedef struct bough_rigid_body_def {
    uint32_t cookie;
    const char *name;  /* NULL: none. Those who keep the body copy it */
    double mass;       /* kg; bough_shapes_weigh() finds it, the centre and the inertia by density. Bodies that are held
                          need none */
    double centre[3];  /* m: of mass, in the body's frame. That of a free body is its origin */
    double inertia[9]; /* kg m^2, about the centre of mass in the body's axes */
    bough_pose pose;   /* where its frame begins, in the world; of a link: at the reference pose */
    double twist[6];   /* with which a free body begins: (v; w) in its own axes */
    int32_t shape_count;
    const bough_shape_def *shapes; /* frames in the body's; those of bodies that move are no ground */
    double friction;               /* of two that touch: the square root of the product */
    double restitution;            /* 0 .. 1, of two that touch: the larger */
    uint64_t reserved[4];          /* zeros: room for fields of later versions */
} bough_rigid_body_def;
/* 1 kg, 0.01 kg m^2 about each axis, at the world's origin, no shapes, friction 0.5 */
BOUGH_API bough_rigid_body_def bough_default_rigid_body_def(void);

/* ---- frames ---- */

enum { BOUGH_WORLD = -1 }; /* stands for the world where the number of a body is asked for */

/* A place that moves with a body: on a rigid body, a link, a part, or an interface of a part. */
typedef struct bough_frame_def {
    const char *name;        /* NULL: none. Those who keep the frame copy it */
    int32_t body;            /* number of the rigid body, link or part that it moves with, or BOUGH_WORLD */
    int32_t interface_index; /* of the part's component, where it moves with an interface; -1: with the body itself */
    bough_pose pose;         /* in the frame of that body or interface */
} bough_frame_def;
/* The frame of the world. */
BOUGH_API bough_frame_def bough_default_frame_def(void);

/* ---- joints ---- */

/* Kind, name in messages and files, freedoms, and the pose of the joint's frame in the child against that in the parent
 * by its coordinates t. Packs hold the numbers of the kinds: new ones go to the end. */
#define BOUGH_JOINT_LIST(X)                                                                                   \
    X(WELD, "weld", 0, "both frames are one")                                                                 \
    X(HINGE, "hinge", 1, "Rz(t)")                                                                             \
    X(BALL, "ball", 3, "exp(t): a rotation vector")                                                           \
    X(PRISMATIC, "prismatic", 1, "Tz(t)")                                                                     \
    X(UNIVERSAL, "universal", 2, "Rx(t1) Ry(t2)")                                                             \
    X(COMPLIANT, "fixed", 6, "exp(t), t a twist (along; about): a weld that gives way in all six directions") \
    X(FREE, "free", 6, "T(t1 t2 t3) exp(t4 t5 t6): nothing holds")                                            \
    X(CYLINDRICAL, "cylindrical", 2, "Tz(t1) Rz(t2)")                                                         \
    X(PLANAR, "planar", 3, "Tx(t1) Ty(t2) Rz(t3)")                                                            \
    X(DISTANCE, "distance", 0, "the origins keep the distance that they have at the start; no coordinates")

typedef enum bough_joint_kind {
#define BOUGH_JOINT_ENUM(kind, name, freedoms, about) BOUGH_JOINT_##kind,
    BOUGH_JOINT_LIST(BOUGH_JOINT_ENUM)
#undef BOUGH_JOINT_ENUM
        BOUGH_JOINT_KIND_COUNT
} bough_joint_kind;
/* The number of its coordinates; 0 for what is no kind. */
BOUGH_API int32_t bough_joint_freedoms(bough_joint_kind kind);
/* "hinge" and so on, a constant string; "?" for what is no kind. */
BOUGH_API const char *bough_joint_name(bough_joint_kind kind);

enum { BOUGH_MOST_FREEDOMS = 6 };

/* A joint says how two frames move against each other. An engine refuses, with a sentence, kinds and settings that it
 * does not have: docs/theory/rig.md has the table. */
typedef struct bough_joint_def {
    uint32_t cookie;
    const char *name; /* NULL: none. Those who keep the joint copy it */
    bough_joint_kind kind;
    bough_frame_def parent, child;         /* the places that it connects */
    double start[BOUGH_MOST_FREEDOMS];     /* coordinates of new states: rad, m */
    double stiffness[BOUGH_MOST_FREEDOMS]; /* of the spring of each freedom: N m / rad, N / m */
    double damping[BOUGH_MOST_FREEDOMS];   /* N m s / rad, N s / m */
    const double *compliance;              /* by the freedoms, symmetric and positive definite, instead of
                                              `stiffness`: freedoms x freedoms. NULL: none */
    double offset[BOUGH_MOST_FREEDOMS];    /* coordinates at which its springs are at rest, less those of the reference
                                              pose */
    double lower[BOUGH_MOST_FREEDOMS];     /* limits of its coordinates. Beyond them its springs are stiffer */
    double upper[BOUGH_MOST_FREEDOMS];
    double limit_stiffness;               /* added beyond a limit, as a multiple of the stiffness */
    double friction[BOUGH_MOST_FREEDOMS]; /* N m, N: the most that dry friction holds */
    uint64_t reserved[4];                 /* zeros: room for fields of later versions */
} bough_joint_def;
/* A hinge of the world to itself, without springs, limits and friction; limit_stiffness 100. */
BOUGH_API bough_joint_def bough_default_joint_def(void);

/* ---- motors ---- */

/* Limits of a motor; infinite ones are none. */
typedef struct bough_motor_limits {
    double lowest, highest; /* rad, m */
    double speed;           /* rad/s, m/s */
    double acceleration;    /* rad/s^2, m/s^2 */
    double force;           /* N m, N: what a motor gives that holds its coordinate exactly */
} bough_motor_limits;
/* None. */
BOUGH_API bough_motor_limits bough_default_motor_limits(void);

#ifdef __cplusplus
}
#endif

#endif
