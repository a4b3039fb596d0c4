/* A robot from a file of another format on its way to the bodies, parts and joints of a multibody scene: read
 * (robot_urdf.c, mjcf.c), told by the scene which links bend and where it stands (robot_entry.c), placed and written as
 * entries of the scene (robot_scene.c), which are then read as if they stood in the file. */
#ifndef BO_SCENE_ROBOT_H
#define BO_SCENE_ROBOT_H

#include "scene/multibody_scene.h"
#include "scene/urdf.h"

typedef struct bo_robot_link {
    const bo_xml_element *at;
    char *name;
    bough_rigid_body_def body; /* mass, centre and inertia in its frame; mass 0: none */
    int32_t above;             /* the joint to its parent; -1: the base. Parents come before their children */
    bo_se3 pose;               /* in the world at the start */
    int32_t head;              /* the link nearest to the base among those that it is welded to, itself perhaps */
    bo_se3 in_head;
    bool has_shapes; /* it, or what is welded to it */
    /* ---- of a link that bends ---- */
    int32_t component; /* of the scene; -1: it is rigid */
    json_t *flexible;  /* what the scene says of it */
} bo_robot_link;

typedef struct bo_robot_joint {
    const bo_xml_element *at;
    char *name;
    bough_joint_kind kind; /* BOUGH_JOINT_FREE: the child flies, and no joint is made */
    int32_t parent, child; /* links */
    bo_se3 in_parent;      /* the child's frame in the parent's when coordinates are 0 */
    bo_vec3 anchor, axis;  /* of the joint, in the child's frame; the axis has length 1 */
    double lower, upper;   /* rad, m; infinite: none */
    double damping, friction, stiffness, offset;
    double start;   /* coordinate at the start, of hinges and prismatic joints */
    int32_t mimics; /* a joint: coordinate = ratio times its coordinate + shift; -1: none */
    double ratio, shift;
    int32_t attach; /* interface of a parent that bends, to which it is attached; -1: the one by which that hangs */
} bo_robot_joint;

typedef struct bo_robot_shape {
    int32_t link;
    bo_se3 frame;
    bool collides; /* else it is drawn */
    json_t *form;  /* an entry "shape" of a scene without its place */
} bo_robot_shape;

/* Zeros are an empty one. */
typedef struct bo_robot {
    bough_context *ctx;
    bo_xml *xml;        /* of the file */
    const char *beside; /* name of the file as the scene has it: meshes are named from there */
    int32_t link_count, joint_count, shape_count;
    bo_robot_link *links; /* the first is the base */
    bo_robot_joint *joints;
    bo_robot_shape *shapes;
    size_t link_capacity, joint_capacity, shape_capacity;
    bool has_gravity;
    double gravity[3];
    /* ---- as the scene has it ---- */
    bo_se3 stands; /* where its base is */
    bool free_base, touch;
    double limit_stiffness; /* NAN: the default */
} bo_robot;

void bo_robot_free(bo_robot *robot);
/* Each adds one with defaults, and a copy of the name, which must be UTF-8; *index may be NULL. */
bough_status bo_robot_add_link(bo_robot *robot, const bo_xml_element *at, const char *name, int32_t *index);
bough_status bo_robot_add_joint(bo_robot *robot, const bo_xml_element *at, const char *name, int32_t *index);
/* Takes the form, also when it fails; form NULL: memory was short. */
bough_status bo_robot_add_shape(bo_robot *robot, int32_t link, bo_se3 frame, bool collides, json_t *form);
/* A mesh file that the robot's file names, as a form with this scale; what cannot be drawn is told by a warning, and
 * *form stays NULL. `folder`: of meshes, in that of the file; NULL: none. */
bough_status bo_robot_mesh(bo_robot *robot, const bo_xml_element *at, const char *folder, const char *name,
                           const double scale[3], const char *file, json_t **form);
/* -1: there is none. */
int32_t bo_robot_find_link(const bo_robot *robot, const char *name);
int32_t bo_robot_find_joint(const bo_robot *robot, const char *name);

/* robot_urdf.c and mjcf.c: read the file at `path` into an empty robot, whose xml is theirs and must outlive it. */
bough_status bo_robot_from_urdf(bo_robot *robot, const char *path, bo_urdf *u);
bough_status bo_robot_from_mjcf(bo_robot *robot, const char *path, bo_xml *xml);

/* robot_entry.c: "robot" of a multibody scene: its bodies, parts, joints and gears are appended to those of the file.
 * Components must have been read. Nothing where there is no "robot". */
bough_status bo_robot_expand(const bo_multibody_reader *r);
/* robot_scene.c: the entries of a robot, whose links that bend are known, go into the scene. */
bough_status bo_robot_write_entries(bo_robot *robot, const bo_multibody_reader *r);

#endif
