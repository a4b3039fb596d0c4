/* Example scenes that are made by code: `bough example`. */
#ifndef BOUGH_EXAMPLE_H
#define BOUGH_EXAMPLE_H

#include "app.h"

#include <math.h>
#include <stdio.h>

/* An example to make, and the result. */
typedef struct example {
    const char *folder; /* where the files go; it exists */
    int32_t leaves;
    uint64_t seed;
    const char *mesh;                            /* of the user, instead of the example's own; NULL: none */
    int32_t parts, coordinates;                  /* of the scene */
    int64_t surface_vertices, surface_triangles; /* to be drawn, all parts together */
    int64_t vertices, elements;                  /* of the meshes, counted for every part that uses them */
    int32_t links, joints;                       /* of a mechanism */
    int32_t bodies, motors;                      /* of a robot, beside its parts */
} example;

/* Make FOLDER/scene.json and what it needs; the same bytes for the same seed. They say what is wrong when they fail. */
int example_oak(bough_context *ctx, example *e);
int example_storm(bough_context *ctx, example *e);
int example_ball(bough_context *ctx, example *e);
int example_flower(bough_context *ctx, example *e);
int example_dragon(bough_context *ctx, example *e);
int example_letters(bough_context *ctx, example *e);
int example_pile(bough_context *ctx, example *e);
int example_station(bough_context *ctx, example *e);
int example_ring(bough_context *ctx, example *e);
int example_bridge(bough_context *ctx, example *e);
int example_chandelier(bough_context *ctx, example *e);
int example_forest(bough_context *ctx, example *e);
int example_hand(bough_context *ctx, example *e);
int example_walker(bough_context *ctx, example *e);
int example_trampoline(bough_context *ctx, example *e);
int example_dancer(bough_context *ctx, example *e);
int example_bartender(bough_context *ctx, example *e);
int example_rapper(bough_context *ctx, example *e);
int example_drummer(bough_context *ctx, example *e);
int example_boxer(bough_context *ctx, example *e);
int example_squeeze(bough_context *ctx, example *e);
/* command_example.c: the one of this name, which must be there. */
int example_make(bough_context *ctx, const char *name, example *e);

enum { OAK_LEAVES = 1394, OAK_MOST_LEAVES = 500000 }; /* so many fit into a scene file */
enum { FOREST_MOST_LEAVES = 19000 };                  /* of each oak: so many fit into a scene's limit of parts */
enum { OAK_SEED = 4 };                                /* of a tree with an even crown */

/* ---- example.c: what they share ---- */

/* splitmix64: the same numbers everywhere. */
typedef struct example_random {
    uint64_t state;
} example_random;
uint64_t example_bits(example_random *random);
double example_uniform(example_random *random, double lower, double upper);

typedef struct v3 {
    double x, y, z;
} v3;

static inline v3 v3_add(v3 a, v3 b) {
    return (v3){a.x + b.x, a.y + b.y, a.z + b.z};
}
static inline v3 v3_scale(double s, v3 a) {
    return (v3){s * a.x, s * a.y, s * a.z};
}
static inline double v3_dot(v3 a, v3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline v3 v3_cross(v3 a, v3 b) {
    return (v3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline v3 v3_unit(v3 a) {
    return v3_scale(1 / sqrt(v3_dot(a, a)), a);
}
/* a + s b */
static inline v3 v3_along(v3 a, double s, v3 b) {
    return v3_add(a, v3_scale(s, b));
}

/* Three directions at right angles: the columns of a rotation. */
typedef struct axes {
    v3 x, y, z;
} axes;

v3 axes_apply(const axes *a, v3 v);    /* from their coordinates to the world's */
v3 axes_into(const axes *a, v3 v);     /* and back */
axes axes_around(v3 first, v3 second); /* z along first, x as near to second as can be */
void axes_degrees(const axes *parent, const axes *child, double degrees[3]); /* a part's "rotate_deg" */

/* FOLDER/NAME, in a buffer of EXAMPLE_PATH bytes. */
enum { EXAMPLE_PATH = 4200 };
void example_path(const example *e, const char *name, char *path);
/* Checks and writes the mesh to FOLDER/NAME and destroys it, also when it fails. */
bough_status example_write_mesh(bough_context *ctx, const example *e, bough_mesh *mesh, const char *name);

/* Adds up the boundaries of the mesh's domains (all its element sets), which are drawn. */
bough_status example_count_surfaces(bough_context *ctx, const bough_mesh *mesh, example *e);
/* Counts a mesh that so many parts use, and the surface that is drawn of it; NULL: its boundary. */
bough_status example_count(bough_context *ctx, example *e, const bough_mesh *mesh, const bough_mesh *drawn,
                           int64_t uses);
/* Counts both, and writes them as FOLDER/NAME.msh and FOLDER/NAME.obj, unless `made` tells that making them failed.
 * Destroys both in any case. */
bough_status example_write_pair(bough_context *ctx, example *e, bough_status made, bough_mesh *volume,
                                bough_mesh *surface, const char *name, int64_t uses);

/* A text file that appears when it is complete. */
typedef struct example_file {
    FILE *stream;
    char path[EXAMPLE_PATH], temporary[EXAMPLE_PATH + 8];
} example_file;
bool example_open(const example *e, const char *name, example_file *file);
bool example_close(example_file *file, bool keep);

/* ---- example_voxels.c ---- */

/* Cubes that are filled or empty. */
typedef struct example_grid {
    int32_t cells[3];
    double edge;     /* of a cube, m */
    v3 origin;       /* the corner of the first */
    uint8_t *filled; /* x runs fastest */
} example_grid;

typedef bool (*example_inside)(const void *data, v3 place);

/* False when there is no memory. */
bool example_grid_create(const int32_t cells[3], double edge, v3 origin, example_grid *grid);
void example_grid_destroy(example_grid *grid);
/* Fills the cubes whose middle is inside; others stay what they are. */
void example_grid_fill(example_grid *grid, example_inside inside, const void *data);
int32_t example_grid_count(const example_grid *grid);
/* BOUGH_HEX8: a brick for each cube; BOUGH_TET4: six tets. */
bough_status example_grid_mesh(bough_context *ctx, const example_grid *grid, bough_element_type type,
                               bough_mesh **mesh);

/* ---- example_outline.c ---- */

/* Something flat: what is at a negative distance, in the plane of x and z, with a thickness along y. */
typedef struct example_outline {
    double (*distance)(const void *data, double x, double z);
    const void *data;
    double lower[2], step; /* squares of the plane, m; what they cover reaches beyond the outline */
    int32_t squares[2];
    double thickness;
} example_outline;
/* Its surface: triangles, closed. */
bough_status example_outline_mesh(bough_context *ctx, const example_outline *outline, bough_mesh **mesh);

/* ---- example_mechanism.c: scene files of mechanisms. All places are the world's, at the reference pose ---- */

json_t *example_scene(const char *name);
/* Appends to the list of this name and returns the entry, which the scene owns. */
json_t *example_add(json_t *scene, const char *list, json_t *entry);
/* Writes FOLDER/scene.json and reads it again, which checks it. The scene is gone afterwards. */
int example_write_scene(bough_context *ctx, example *e, json_t *scene);
/* The same as FOLDER/NAME. */
int example_write_scene_as(bough_context *ctx, example *e, const char *name, json_t *scene);

json_t *example_numbers(int count, ...); /* doubles */
json_t *example_place(v3 p);             /* [x, y, z] */
json_t *example_turn(const axes *a);     /* "rotate_deg" */
json_t *example_shape(const char *form, json_t *size, v3 place, v3 colour);
json_t *example_sphere(double radius, v3 place, v3 colour);
/* A hull of so many points. */
json_t *example_ellipsoid(int points, v3 half, const axes *turned, v3 place, v3 colour);

/* A link that is drawn as a capsule; its z points from `from` to `to`. */
void example_limb(json_t *scene, const char *name, v3 from, v3 to, double radius, double mass, v3 colour);
typedef struct example_spring {
    double stiffness, damping;
} example_spring;
/* A joint without its springs. */
json_t *example_joint(json_t *scene, const char *kind, const char *name, const char *parent, const char *child, v3 at);
void example_hinge(json_t *scene, const char *name, const char *parent, const char *child, v3 at, v3 axis,
                   example_spring spring);
/* An end effector that touches things. */
void example_touch(json_t *scene, const char *name, const char *link, v3 at, json_t *shape, double friction);
void example_motor(json_t *scene, const char *joint, const char *curve, double scale);
/* One more point of a curve, or several on the way from one value to another that start and end gently. */
void example_key(json_t *scene, const char *curve, double time, double value);
void example_ease(json_t *scene, const char *curve, double from, double until, double first, double last);

/* ---- example_robot.c: scene files of robots with rigid bodies, flexible parts and motors ---- */

json_t *example_robot(const char *name, double duration);
/* Components along x, with interfaces "base" and "tip" and r coordinates: spring steel, round; printed plastic. */
void example_steel_rod(json_t *scene, const char *name, double length, double diameter, int r);
void example_plastic_bar(json_t *scene, const char *name, v3 size, int r);
void example_body(json_t *scene, const char *name, v3 at, double mass, json_t *shapes);
/* A part that is clamped to a body (or "world") and goes from there along a direction; its y is across. */
void example_flexible(json_t *scene, const char *name, const char *component, const char *body, v3 at, v3 along,
                      v3 across);
/* A joint "PART end" in the middle of the part's tip. */
json_t *example_tip_joint(json_t *scene, const char *kind, const char *part, const char *child);
/* Shapes: the case of a servo, and the disk that it turns. */
json_t *example_servo_box(v3 place, v3 size);
json_t *example_horn(v3 place, v3 axis, double length);
/* A motor for a hinge, which follows the curve of the hinge's name, degrees; and both in one. */
void example_drive(json_t *scene, json_t *joint, double lower, double upper);
void example_servo(json_t *scene, const char *name, const char *parent, const char *child, v3 at, v3 axis, double lower,
                   double upper);
/* The motors' curves, when all motors are there: rows of a time and an angle for each motor. between: "spline" or
 * "stops", at every pose. */
void example_poses(json_t *scene, int count, const double *poses, const char *between);
void example_watch(json_t *scene, const char *body); /* a probe */
/* A probe of the body's point `at`, in its axes. */
void example_watch_point(json_t *scene, const char *name, const char *body, v3 at);
/* Adds a body to those that bough retarget tracks. Returns the entry, which the scene owns. */
json_t *example_track(json_t *scene, const char *body);
/* Limits for bough retarget, of all motors that are there, deg/s, deg/s^2 (0: none) and N m. Returns the block. */
json_t *example_limit_servos(json_t *scene, double speed, double acceleration, double torque);
void example_windows(json_t *retarget, double window, double overlap); /* s */
/* Counts what there is, then as example_write_scene(). */
int example_write_robot(bough_context *ctx, example *e, json_t *scene);

#endif
