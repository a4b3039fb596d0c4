/* Inside view of a URDF file on its way to a mechanism: read (urdf_read.c), told about its springs by the side file
 * (urdf_dynamics.c), welded and placed (urdf.c). */
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
    const char *name;
    const bo_xml_element *at;
    double mass; /* 0: it has none */
    bo_vec3 centre;
    bo_mat3 inertia; /* about the centre, in the link's axes */
    int32_t above;   /* the joint to its parent; -1: it is the root */
    int32_t below;   /* its first joint to a child, and of a joint the next of the same parent; -1: none */
    int32_t head;    /* the link nearest to the root among those that it is welded to, itself perhaps */
    bo_se3 in_head;
    bo_se3 pose;   /* in the world */
    int32_t index; /* of a head: among the mechanism's links */
} bo_urdf_link;

typedef struct bo_urdf_joint {
    const char *name;
    const bo_xml_element *at;
    bough_joint_kind kind; /* hinge, prismatic, fixed */
    bool rigid;            /* fixed, and the side file gives it no stiffness */
    int32_t parent, child, next;
    bo_se3 origin; /* of the child in the parent, at position 0 */
    bo_vec3 axis;  /* in the child, of length 1 */
    double lower, upper;
    bool has_stiffness;
    double stiffness[6], damping[6];
    double offset, position, limit_stiffness;
} bo_urdf_joint;

typedef struct bo_urdf {
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
} bo_urdf;

/* "xyz" and "rpy" of <origin>, which may be absent. */
bough_status bo_urdf_origin(const bo_urdf *u, const bo_xml_element *of, bo_se3 *origin);
bough_status bo_urdf_read(bough_context *ctx, const char *path, bo_urdf *u);
void bo_urdf_free(bough_context *ctx, bo_urdf *u);
/* The side file; path NULL: there is none. */
bough_status bo_urdf_dynamics(bough_context *ctx, const char *path, bo_urdf *u);

/* urdf_shapes.c: what is to be seen of the links, in the mechanism's. To be freed, also when it fails. */
bough_status bo_urdf_shapes(bough_context *ctx, const bo_urdf *u, bough_urdf *out);

#endif
