/* Inside view of an MJCF file on its way to a robot: what is inherited from classes, orientations, geoms. */
#ifndef BO_SCENE_MJCF_H
#define BO_SCENE_MJCF_H

#include "scene/robot.h"

enum { BO_MJCF_MOST_CLASSES = 200 };

typedef enum bo_mjcf_inertia { BO_MJCF_INERTIAL_ONLY, BO_MJCF_AUTOMATIC, BO_MJCF_GEOMS_ONLY } bo_mjcf_inertia;

typedef struct bo_mjcf {
    bo_robot *robot;
    bo_xml *xml;
    const char *path;
    double angle;         /* radians of its unit of angles */
    const char *sequence; /* of Euler's angles: small letters turn with the frame */
    const char *meshes;   /* folder of them; NULL: that of the file */
    bool limits_by_range; /* a joint with a range is limited */
    bo_mjcf_inertia inertia;
    int32_t class_count;
    const bo_xml_element *classes[BO_MJCF_MOST_CLASSES]; /* <default> elements; the first is the one for all */
} bo_mjcf;

/* The element that says `name` about this one: itself, or the default of its class; NULL: none does. Its class must be
 * known. */
const bo_xml_element *bo_mjcf_holder(const bo_mjcf *m, const bo_xml_element *e, const char *name);
/* The value of an attribute, with defaults; NULL: nothing says it. */
const char *bo_mjcf_get(const bo_mjcf *m, const bo_xml_element *e, const char *name);
/* Numbers of an attribute, with defaults; *values stay where nothing says it. */
bough_status bo_mjcf_numbers(const bo_mjcf *m, const bo_xml_element *e, const char *name, int count, double *values);
/* "pos" and one of "quat", "axisangle", "euler", "xyaxes", "zaxis". */
bough_status bo_mjcf_pose(const bo_mjcf *m, const bo_xml_element *e, bo_se3 *pose);
/* Refuses attributes of neither list; both are words between blanks. */
bough_status bo_mjcf_check(const bo_mjcf *m, const bo_xml_element *e, const char *known, const char *ignored);

#define BO_MJCF_TURNS " quat axisangle euler xyaxes zaxis "
#define BO_MJCF_GEOM_KEYS " name class type size fromto pos mass density rgba mesh contype conaffinity" BO_MJCF_TURNS
#define BO_MJCF_GEOM_IGNORED \
    " condim group priority friction material solmix solref solimp margin gap user fluidshape fluidcoef "

/* mjcf_geoms.c: shapes of a body, and its mass: that of <inertial>, or of its geoms. */
bough_status bo_mjcf_geoms(const bo_mjcf *m, const bo_xml_element *body, int32_t link);

#endif
