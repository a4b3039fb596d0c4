/* The contents of a scene file of a mechanism: links, joints and end effectors with names and shapes, motors and
 * forces, and the surroundings. "links", "generate" and other sources fill the same struct. */
#ifndef BO_SCENE_MECHANISM_SCENE_H
#define BO_SCENE_MECHANISM_SCENE_H

#include "base/rotation.h"
#include "engine/contacts.h"
#include "mechanism/engine.h"
#include "rig/motor.h"
#include "scene/json.h"

#include <bough/mechanism.h>
#include <bough/mesh.h>
#include <bough/rig.h>
#include <bough/scene.h>

/* ---- shapes ---- */

typedef enum bo_form {
    BO_FORM_SPHERE,
    BO_FORM_BOX,
    BO_FORM_CAPSULE,  /* about z; contact worlds know it by a hull */
    BO_FORM_CYLINDER, /* likewise */
    BO_FORM_HULL,
    BO_FORM_MESH,
    BO_FORM_PLANE,
    BO_FORM_HEIGHT_FIELD
} bo_form;
#define BO_FORM_COUNT 8
#define BO_FORM_NAMES \
    ((const char *const[]){"sphere", "box", "capsule", "cylinder", "hull", "mesh", "plane", "height_field"})

typedef struct bo_scene_shape {
    bo_form form;
    bough_shape_def def; /* its frame; of what touches: all of it, with arrays that belong to this */
    double radius;       /* of capsules and cylinders, m */
    double length;       /* of a cylinder, and of a capsule between the middles of its ends, m */
    double size[2];      /* of a plane as it is drawn, m; 0: as large as all the rest */
    bough_mesh *mesh;    /* of a mesh: triangles; def.mesh, what it touches with, belongs to somebody else */
    int32_t cells;       /* of a mesh: of its grid of distances, along the longest side; 0: as many as usual */
    double colour[3];    /* red, green, blue, 0 .. 1 */
} bo_scene_shape;

typedef struct bo_scene_shapes {
    int32_t count;
    bo_scene_shape *shapes;
} bo_scene_shapes;

/* "shape": one or a list; *hash goes on over the files that they point to. */
bough_status bo_scene_read_shapes(bo_json at, bo_scene_shapes *shapes, uint64_t *hash);
void bo_scene_free_shapes(bough_context *ctx, bo_scene_shapes *shapes);
/* Makes the surface by which a hull, a cylinder, a height field or a mesh touches, in its own axes, larger by `scale`. The
 * caller destroys it. */
bough_status bo_shape_touch_mesh(bough_context *ctx, const bo_scene_shape *shape, double scale,
                                 bough_shape_mesh **mesh);
/* Gives a capsule or a cylinder the hull by which contact worlds know it; and makes room for the corners of a hull, which
 * then belong to the shape (NULL: no memory). */
bough_status bo_shape_round_hull(bough_context *ctx, bo_scene_shape *shape);
double *bo_shape_new_hull(bough_context *ctx, int32_t count, bo_scene_shape *shape);
/* Sets mass, centre and inertia of a body to those of these shapes at a density; mass 0: one has no volume. */
bough_status bo_shapes_weigh(bough_context *ctx, const bo_scene_shapes *shapes, double density,
                             bough_rigid_body_def *body);

/* Triangles that grow, three vertices each or shared. */
typedef struct bo_triangles {
    double *vertices;
    int32_t *corners;
    float *colours; /* of vertices, where shapes brought some along: up to painted_count; NAN: that of the whole */
    size_t vertex_count, triangle_count, painted_count, vertex_capacity, corner_capacity, colour_capacity;
} bo_triangles;
void bo_triangles_free(bough_context *ctx, bo_triangles *triangles);
/* Those of a shape, in the frame of what it belongs to. plane: side of a plane that says nothing about it. */
bough_status bo_shape_triangles(bough_context *ctx, const bo_scene_shape *shape, double plane, bo_triangles *triangles);
/* Hands the arrays over to a look, whose vertices have this colour or that of their shape. */
void bo_triangles_show(bough_context *ctx, bo_triangles *triangles, const double colour[3], bough_look *look);
/* Those of several shapes in one frame, with their colours. */
bough_status bo_shapes_triangles(bough_context *ctx, const bo_scene_shapes *shapes, bo_se3 frame, double plane,
                                 bo_triangles *triangles);

/* ---- the mechanism ---- */

/* Shapes that touch, in the frame of what they belong to. */
typedef struct bo_scene_touch {
    bo_scene_shapes shapes;
    double friction;
} bo_scene_touch;

typedef struct bo_scene_link_touch {
    int32_t link;
    bo_scene_touch touch;
} bo_scene_link_touch;

typedef struct bo_scene_end_effector {
    char *name;
    bo_scene_touch touch;
} bo_scene_end_effector;

typedef struct bo_scene_rigid {
    char *name;
    bo_scene_shapes shapes; /* in its frame; of a body that of its centre of mass */
    bough_pose pose;        /* in the world */
    double mass, inertia[9];
    double velocity[3], spin[3]; /* in the axes of the world, m/s of the centre of mass and rad/s */
    double friction, restitution;
    bool drawn_only; /* an obstacle that nothing touches */
    void *track;     /* of an obstacle that is led, by tree/track.h; NULL: it stays */
} bo_scene_rigid;

/* ---- rigids.c: free bodies and obstacles, which multibody systems describe in the same words ---- */

/* ---- mesh_stock.c: meshes that touch ---- */

typedef struct bo_stocked_mesh bo_stocked_mesh;
typedef struct bo_mesh_stock {
    size_t count, capacity;
    bo_stocked_mesh *meshes;
} bo_mesh_stock;
void bo_mesh_stock_free(bough_context *ctx, bo_mesh_stock *stock);
/* Gives shapes that are meshes what they touch with, from the stock, which keeps it. */
bough_status bo_scene_let_touch(bo_json at, bo_mesh_stock *stock, bo_scene_shapes *shapes);

/* Refuses shapes that cannot move. */
bough_status bo_scene_must_move(bo_json at, const bo_scene_shapes *shapes);
/* "contact" of a scene whose contacts a contact world finds: the budget of a step. 0: the world's own. */
bough_status bo_scene_read_budget(bo_json at, int32_t *most_contacts);
/* "bodies" or "obstacles": a list. names: {NAME: index}, to which they are added; *hash goes on over files of shapes. */
bough_status bo_scene_read_rigids(bo_json at, bool bodies, json_t *names, uint64_t *hash, bo_mesh_stock *stock,
                                  int32_t *count, bo_scene_rigid **rigids);
void bo_scene_free_rigids(bough_context *ctx, int32_t count, bo_scene_rigid *rigids);
/* The same as contact worlds see them. *shapes: where copies of their shapes go, which is moved on. */
void bo_scene_describe_obstacle(const bo_scene_rigid *from, bough_shape_def **shapes, bough_obstacle_def *to);
/* *leads: one for each of them, to be freed; NULL: none has a track. */
bough_status bo_scene_describe_leads(bough_context *ctx, int32_t count, const bo_scene_rigid *obstacles,
                                     bo_lead **leads);
void bo_scene_describe_body(const bo_scene_rigid *from, bough_shape_def **shapes, bough_rigid_body_def *to);

typedef struct bo_mechanism_scene {
    int32_t link_count, joint_count, end_effector_count;
    bough_rigid_body_def *links;
    bo_scene_shapes *link_shapes; /* none: rods from its middle to its joints are drawn */
    bough_joint_def *joints;
    bough_frame_def *end_effectors;
    bo_scene_end_effector *effectors; /* what else is known of each of them */
    size_t link_capacity, shapes_capacity, joint_capacity, frame_capacity, effector_capacity;
    int32_t base;
    bool free_base;
    bo_scene_touch base_touch;
    int32_t link_touch_count;
    bo_scene_link_touch *link_touches; /* of any links, in their frames */
    bool collides;                     /* <collision> shapes of a URDF are among them */
    int32_t motor_count;
    bo_motor *motors; /* curves are the drive's */
    int32_t load_count;
    bo_mechanism_load *loads;
    int32_t body_count, obstacle_count;
    int32_t most_contacts; /* of a step; 0: as many as a contact world allows */
    bo_scene_rigid *bodies, *obstacles;
    bo_mesh_stock meshes; /* with which shapes touch */
    bough_mechanism_method method;
    double joint_tolerance;    /* of bough_run_gap.error: beyond, somebody is warned */
    int32_t kept_count, *kept; /* end effectors of the reduced model; 0: all */
    int32_t internal_modes;    /* beside the end effectors; or BOUGH_INTERNAL_AUTOMATIC */
    bool has_blend;
    bo_blend_plan blend;
    bough_mechanism *mechanism; /* NULL: bodies only */
    /* ---- the same as the engine sees it, once all was read ---- */
    bo_mechanism_plan plan;
    bough_rigid_body_def *body_defs;
    bough_obstacle_def *obstacle_defs;
    bo_lead *leads;              /* of obstacles; NULL: none is led */
    bough_shape_def *shape_defs; /* of bodies and obstacles, one after the other */
    bo_mechanism_touch *touch_defs;
} bo_mechanism_scene;

void bo_mechanism_scene_free(bough_context *ctx, bo_mechanism_scene *m);
/* mechanism_plan.c: fills m->plan, the last step of reading. */
bough_status bo_mechanism_make_plan(bough_context *ctx, const bough_scene *scene, bo_mechanism_scene *m);
/* mechanism_looks.c: `draw` of bo_mechanism_plan; data: the bo_mechanism_scene. */
bough_status bo_mechanism_draw(bough_context *ctx, const void *data, bough_look *looks);
/* Each adds one; names are copied (NULL: none), and so is a joint's compliance. */
bough_status bo_mechanism_add_link(bough_context *ctx, bo_mechanism_scene *m, const bough_rigid_body_def *link);
bough_status bo_mechanism_add_joint(bough_context *ctx, bo_mechanism_scene *m, const bough_joint_def *joint);
/* Puts a joint's frame, given in the world at the reference pose, into those of its parent and child. */
void bo_mechanism_place_joint(const bo_mechanism_scene *m, bo_se3 frame, bough_joint_def *joint);
/* Its frame is given in the world at the reference pose. */
bough_status bo_mechanism_add_end_effector(bough_context *ctx, bo_mechanism_scene *m, const char *name, int32_t link,
                                           bo_se3 frame);

/* "generate": a helix, a ladder, a Y or a ring. */
bough_status bo_mechanism_generate(bo_json at, bo_mechanism_scene *m);
/* "urdf" and "dynamics" of the scene; its end effectors but those that the scene has too. *urdf is to be destroyed,
 * also when it fails. */
bough_status bo_mechanism_from_urdf(const bo_json *root, bo_mechanism_scene *m, uint64_t *hash, bough_urdf **urdf);
/* A mesh that the URDF names: *path is to be freed; NULL: it is nowhere. */
bough_status bo_urdf_find_mesh(bough_context *ctx, const char *urdf, const char *name, char **path);
/* "collide": adds the <collision> shapes of the URDF (NULL: there is none) to link_touches. */
bough_status bo_mechanism_collide(const bo_json *root, const bough_urdf *urdf, bo_mechanism_scene *m, uint64_t *hash);
/* ---- rig_entries.c: what multibody systems say in the same words ---- */

/* "position" and "rotate_deg" */
bough_status bo_scene_pose(const bo_json *at, bo_se3 *pose);
/* The shortest turn that takes z to the axis. */
bo_mat3 bo_turn_z_to(bo_vec3 axis);
/* [Ixx, Iyy, Izz, Iyz, Ixz, Ixy] of a body about its centre of mass; matrix: row-major. */
bough_status bo_scene_inertia(bo_json at, double matrix[9]);
/* "density", or "mass", "centre" and "inertia", which may come from the shapes. may_lack: something that never moves. */
bough_status bo_scene_weight(const bo_json *at, const bo_scene_shapes *shapes, bool may_lack,
                             bough_rigid_body_def *body);
/* One number for all n freedoms, or one for each, in this unit. */
bough_status bo_scene_freedoms(bo_json at, int32_t n, bo_range range, double unit, double *values);
/* "offset" and "limits" of its n freedoms, in rad and m or in degrees; "limit_stiffness". */
bough_status bo_scene_joint_angles(const bo_json *at, int32_t n, bough_joint_def *joint);
bool bo_joint_turns_only(bough_joint_kind kind);
/* "position", and "axis" or "rotate_deg", go over *frame. */
bough_status bo_scene_joint_frame(const bo_json *at, bough_joint_kind kind, bo_se3 *frame);
/* "hinge", "prismatic", "universal", "ball" or "fixed" (BOUGH_JOINT_COMPLIANT) */
bough_status bo_scene_joint_kind(bo_json at, bough_joint_kind *kind);

#endif
