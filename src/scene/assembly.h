/* Inside view of a scene of parts: its components, its parts, and what hangs at what. */
#ifndef BO_SCENE_ASSEMBLY_H
#define BO_SCENE_ASSEMBLY_H

#include "base/rotation.h"
#include "scene/component_file.h"
#include "tree/tree.h"

#include <bough/tree.h>

typedef struct bo_scene_component {
    char *name;
    bough_cook_job *job;    /* NULL: given as a .bough file */
    bough_component *rigid; /* what is given, or the job's body cooked rigid: inertia, interfaces and their centres */
} bo_scene_component;

typedef struct bo_part {
    char *name;
    int32_t component;
    int32_t parent;          /* part, or -1: a root */
    int32_t interface_index; /* of the parent's component; -1 for roots */
    bo_mat3 rotation;        /* from its axes to the parent's; to the world's for roots */
    double scale;            /* size against its component */
    double position[3];
    double stiffness; /* factor on the component's */
    bool has_damping; /* else the component's */
    double damping_mass, damping_stiffness;
    double damping_ratio;                    /* NAN: none */
    bool absent;                             /* of a root: not there at the start */
    bough_track track;                       /* of a root; its numbers are one block that begins with the times */
    double velocity[3], angular_velocity[3]; /* of a root that flies, at the start: its whole tree moves so */
    double offset[3];                        /* of one that hangs: from the interface's centre, parent's axes */
    bough_joint_def *joint;                  /* likewise, its own; NULL: it is welded */
    bool flies;                              /* of a root: although its component hangs by an interface */
    bool locked;
} bo_part;

typedef struct bo_assembly {
    int32_t component_count;
    bo_scene_component *components;
    int32_t part_count;
    bo_part *parts;
    int32_t tie_count;     /* BO_MOST_TIES at most */
    bough_joint_def *ties; /* names are the assembly's own */
    bool is_object;        /* parts are the domains of one mesh, and in its coordinates */
    uint64_t files;        /* hash of other scene files that it was read from; 0: none */
    bool keeps_samples;    /* `rigid` has the contact samples that its component asks for: what touches in full order */
} bo_assembly;

/* True for a file that describes a scene of parts. */
bool bo_is_assembly(const bo_json *root);
/* Reads such a scene and gives its jobs their loads; parts are in the order of the file, or of the domains. Free it
 * also after a failure. What it says about running goes into `scene`; NULL: it is checked only. */
bough_status bo_assembly_read(const bo_json *root, bough_scene *scene, bo_assembly *assembly);
void bo_assembly_free(bough_context *ctx, bo_assembly *assembly);

/* "object", or "components" and "parts" of a scene or of one of its objects, without what hangs at what. */
bough_status bo_assembly_of_object(bo_json object, bo_assembly *assembly);
bough_status bo_assembly_of_parts(const bo_json *holder, bo_assembly *assembly);
/* "components" alone, with what is known of them before they are cooked. */
bough_status bo_assembly_of_components(const bo_json *holder, bo_assembly *assembly);

/* objects.c: "objects" and "place", with the "components" and "parts" beside them; gives the jobs their loads. */
bough_status bo_objects_read(const bo_json *root, bo_assembly *assembly);
/* "GROUP/NAME": of a copy's part or tie, or an object's component. Free with bo_free. */
char *bo_copy_name(bough_context *ctx, const char *group_name, const char *name);

/* paint.c: "paint" goes over the parts. What follows curves goes into `scene`; NULL: nothing may. */
bough_status bo_paint_read(bo_json at, bo_assembly *assembly, bough_scene *scene);

/* choose.c */

/* Whether the text is the pattern, in which * stands for any characters, also none, and ? for one. */
bool bo_glob_matches(const char *pattern, const char *text);
typedef struct bo_chooser {
    const bo_assembly *assembly;
    const char **part_names, **component_names;
    const char **tie_names; /* of those that have one */
    int32_t tie_name_count;
    bool *chosen;      /* of the parts */
    int32_t count;     /* of those */
    bool *chosen_ties; /* of the ties */
    int32_t tie_count; /* of those */
} bo_chooser;
/* To be freed, also when it fails. */
bough_status bo_chooser_make(bough_context *ctx, const bo_assembly *assembly, bo_chooser *chooser);
void bo_chooser_free(bough_context *ctx, bo_chooser *chooser);
/* Chooses the parts whose names, and those whose components' names, match patterns, either of which may be absent. A
 * pattern that matches no name is refused; both together may choose nothing. */
bough_status bo_choose(bo_json parts, bo_json component, bo_chooser *chooser);
/* Chooses the ties whose names match a pattern, at least one; those without a name cannot be. */
bough_status bo_choose_ties(bo_json at, bo_chooser *chooser);

/* The interface of a part's component that is named, or, where nothing is, the only one that is free. */
bough_status bo_part_interface(bo_json at, bo_json entry, const bo_scene_component *component, int32_t *index);

/* parts.c: "parts". First all but the interfaces, which needs the names of components only; then these, which needs
 * components[].rigid. */
bough_status bo_parts_read(bo_json at, bo_assembly *assembly);
bough_status bo_parts_attach(bo_json at, bo_assembly *assembly);

/* The interface of that name. */
bough_status bo_choose_interface(bo_json at, const bo_scene_component *component, int32_t *index);
/* The part of that name, of an assembly that has some. */
bough_status bo_choose_part(bo_json at, const bo_assembly *assembly, int32_t *part);

/* ties.c: "ties" come to those that there are; parts and components are there. */
bough_status bo_ties_read(bo_json at, bo_assembly *assembly);
/* The ties of another assembly, or some of them, for the same parts from first_part on, everything `scale` times as
 * large. prefix: stands before their names; NULL: nothing does. */
bough_status bo_ties_copy(bough_context *ctx, const bough_joint_def *ties, int32_t count, int32_t first_part,
                          double scale, const char *prefix, bo_assembly *assembly);
/* There are joints or ties, which only the exact coupling knows. */
bool bo_assembly_needs_exact(const bo_assembly *assembly);

/* Degrees about x, then y, then z. */
bo_mat3 bo_turn_degrees(const double degrees[3]);

/* tracks.c: "track" of a part that is a root. */
bough_status bo_track_read(bo_json at, bough_track *track);
/* The same as a spline, which is to be freed by bo_track_free(). NULL where there is no track. */
bough_status bo_track_read_spline(bo_json at, bo_spline **spline);

/* object.c: "object" becomes components and parts of the same names. */
bough_status bo_object_read(bo_json at, bo_assembly *assembly);
/* An object's mesh and how it is cut. */
typedef struct bo_object_cut {
    const struct bo_body_draft *draft;
    const bough_split *split;
    const char *const *names; /* of the domains */
    const int32_t *parent;
    int32_t root;
} bo_object_cut;
/* surround.c: gives each domain's job what is around it. block: what the object says that is not of one domain, without
 * supports. */
bough_status bo_object_surround(const bo_json *block, const bo_object_cut *cut, bo_assembly *assembly);
/* The place of a domain in its object. */
typedef struct bo_domain_maps {
    int32_t *vertices; /* of each vertex of its mesh */
    int32_t *elements;
} bo_domain_maps;
/* The same object as one body, without supports and loads, and the maps of each domain; free these and the list of
 * them, also after a failure. The assembly was read from the same object. */
bough_status bo_object_body(bo_json at, const bo_assembly *assembly, bough_body **body, bo_domain_maps **maps);

/* A point that moves with vertices of a mesh. */
typedef struct bo_mesh_place {
    int32_t count, *vertices;
    double *weights;
} bo_mesh_place;
/* whole.c: the vertex of a domain's surface that is nearest to the point, which moves there; its place on the domain's
 * mesh (may be NULL). */
bough_status bo_part_surface_point(bough_context *ctx, const bo_assembly *assembly, int32_t part, double point[3],
                                   bo_mesh_place *place);

/* hanging.c: loads of all jobs from the inertia of what hangs at their parts. */
bough_status bo_assembly_hang(bough_context *ctx, bo_assembly *assembly);
/* The inertia about the origin of the component's frame. */
bough_inertia bo_component_inertia(const bough_component *component);
/* The same mass in axes turned by R, and about a point from which the old one is at d. */
bough_inertia bo_inertia_turned(bo_mat3 R, bough_inertia a);
bough_inertia bo_inertia_moved(bo_vec3 d, bough_inertia a);
/* Everything s times as large, of the same density. */
bough_inertia bo_inertia_scaled(double s, bough_inertia a);

#endif
