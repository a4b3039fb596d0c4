/* Inside view of a URDF file on its way to a mechanism, or (robot_urdf.c) to a multibody system: read (urdf_read.c), told about its springs by the side file
 * (urdf_dynamics.c), welded, placed and described in rig's bodies, joints and frames (urdf.c). */
#ifndef BO_SCENE_URDF_H
#define BO_SCENE_URDF_H

#include "base/rotation.h"
#include "scene/xml.h"

#include <bough/scene.h>

/* Names and where they belong, sorted. */
typedef struct bo_name {
    const char *name;
    int32_t index;
} bo_name;
void bo_names_sort(bo_name *names, int32_t count);
/* -1: it is none of them. */
int32_t bo_names_find(const bo_name *names, int32_t count, const char *name);

typedef struct bo_urdf_link {
    const bo_xml_element *at;
    bough_rigid_body_def body; /* by itself; mass 0: it has none */
    int32_t above;             /* the joint to its parent; -1: it is the root */
    int32_t below;             /* its first joint to a child, and of a joint the next of the same parent; -1: none */
    int32_t head;              /* the link nearest to the root among those that it is welded to, itself perhaps */
    bo_se3 in_head;
    bo_se3 pose;   /* in the world */
    int32_t index; /* of a head: among the mechanism's links */
} bo_urdf_link;

typedef struct bo_urdf_joint {
    const bo_xml_element *at;
    bough_joint_def def; /* hinge, prismatic, weld, or compliant where the side file gives a weld its stiffness; limits
                            as in the file, frames when it is described */
    int32_t parent, child, next;
    bo_se3 origin; /* of the child in the parent, at position 0 */
    bo_vec3 axis;  /* in the child, of length 1 */
    bool has_stiffness;
    double position;
    const bo_xml_element *mimic; /* NULL: it moves by itself */
} bo_urdf_joint;

typedef struct bo_urdf {
    bool multibody; /* set before reading: joints may be planar, floating (BOUGH_JOINT_FREE), mimic others and rub */
    bo_xml xml;
    const char *name;
    int32_t link_count, joint_count, root;
    bo_urdf_link *links;
    bo_urdf_joint *joints;
    bo_name *link_names, *joint_names;
    int32_t *order; /* links from the root outwards */
    bool free_base;
    int32_t end_effector_count; /* links that the side file names */
    int32_t *end_effectors;
    /* The mechanism's, with names of the file: */
    bough_rigid_body_def *bodies;
    bough_joint_def *joint_defs;
    bough_frame_def *frames;
} bo_urdf;

/* "xyz" and "rpy" of <origin>, which may be absent. */
bough_status bo_urdf_origin(const bo_urdf *u, const bo_xml_element *of, bo_se3 *origin);
bough_status bo_urdf_read(bough_context *ctx, const char *path, bo_urdf *u);
void bo_urdf_free(bough_context *ctx, bo_urdf *u);
/* The side file; path NULL: there is none. */
bough_status bo_urdf_dynamics(bough_context *ctx, const char *path, bo_urdf *u);

/* All of it: reads both files (def may be NULL) and describes the mechanism by `made`, whose lists belong to u, and
 * what is beside it by `out`, all but its mechanism. bo_urdf_free() and bough_urdf_destroy() are owed also when it
 * fails. */
bough_status bo_urdf_describe(bough_context *ctx, const char *path, const bough_urdf_def *def, bo_urdf *u,
                              bough_urdf *out, bough_mechanism_def *made);

/* urdf_shapes.c: what is to be seen of the links, in the mechanism's. To be freed, also when it fails. */
bough_status bo_urdf_shapes(bough_context *ctx, const bo_urdf *u, bough_urdf *out);

#endif
