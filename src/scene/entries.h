/* Blocks that several kinds of scene files share, and all keys of these files. Each list of keys stands here once:
 * the readers refuse others, and tests compare them with the schemas in docs/. */
#ifndef BO_SCENE_ENTRIES_H
#define BO_SCENE_ENTRIES_H

#include "fem/drive.h"
#include "scene/json.h"

#include <bough/fem.h>

#define BO_FILE_KEYS "$schema", "bough" /* those of a file, which a block in a file does not repeat */
#define BO_MATTER_KEYS "mesh", "sets", "material", "regions", "use_mesh_materials", "mass", "damping", "fix"
#define BO_BODY_BLOCK_KEYS "name", BO_MATTER_KEYS, "gravity", "forces", "pressures"
#define BO_BODY_KEYS BO_FILE_KEYS, BO_BODY_BLOCK_KEYS
#define BO_TRANSFORM_KEYS "scale", "up", "rotate_deg" /* of meshes from files */
#define BO_MESH_FILE_KEYS "file", "repair", BO_TRANSFORM_KEYS
#define BO_BOX_KEYS "generate", "type", "origin", "size", "cells", "tets_per_cell"
#define BO_ROD_KEYS \
    "generate", "type", "length", "radius", "top_radius", "cells", "cells_along", "core_cells", "rings", "grading"
#define BO_VOXELS_KEYS "generate", "surface", "cell", BO_TRANSFORM_KEYS
#define BO_TETS_KEYS "generate", "surface", "program", "max_edge", BO_TRANSFORM_KEYS
#define BO_SET_KEYS "vertices", "elements"
#define BO_MATERIAL_KEYS "model", "young", "poisson", "density", "mooney_ratio"
#define BO_REGION_KEYS "set", "material"
#define BO_DAMPING_KEYS "mass", "stiffness"
#define BO_FIX_KEYS "select", "axes", "displacement"
#define BO_FORCE_KEYS "select", "force"
#define BO_PRESSURE_KEYS "faces", "pressure"

#define BO_RUN_KEYS BO_BODY_KEYS, "engine", "time", "curves", "initial", "probes", "contact"
#define BO_BODY_SCENE_KEYS BO_RUN_KEYS, "obstacles", "bodies", "settle"
#define BO_FULL_BODY_KEYS "name", "mesh", "sets", "material", "position", "rotate_deg", "velocity", "spin"
#define BO_SCENE_KEYS                                                                                              \
    BO_RUN_KEYS, "components", "parts", "object", "objects", "place", "paint", "wind", "settle", "ties", "events", \
        "break", "remove_below", BO_MECHANISM_OWN_KEYS /* of all kinds */
#define BO_BODY_ENGINE_KEYS "kind"
#define BO_BODY_OBSTACLE_KEYS "name", "shape", "position", "rotate_deg", "friction", "track"
#define BO_BODY_CONTACT_KEYS "distance", "friction", "slip_speed", "stiffness", "itself", "spacing"
#define BO_TREE_ENGINE_KEYS "kind", "coupling", "passes"
#define BO_MECHANISM_ENGINE_KEYS "kind", "method", "end_effectors", "internal_modes", "blend", "joint_tolerance"
#define BO_ENGINE_KEYS \
    BO_TREE_ENGINE_KEYS, "method", "end_effectors", "internal_modes", "blend", "joint_tolerance" /* of all kinds */
#define BO_TIME_KEYS \
    "integrator", "rho", "alpha", "beta", "gamma", "dt", "duration", "tolerance", "max_iterations", "energy_tolerance"
#define BO_MOVING_FIX_KEYS BO_FIX_KEYS, "curve"
#define BO_MOVING_FORCE_KEYS BO_FORCE_KEYS, "curve"
#define BO_MOVING_PRESSURE_KEYS BO_PRESSURE_KEYS, "curve"
#define BO_MOVING_GRAVITY_KEYS "acceleration", "curve"
#define BO_INITIAL_KEYS "select", "velocity"
#define BO_PROBE_KEYS "name", "select"
#define BO_STRESS_PROBE_KEYS "name", "stress_at"
#define BO_CONTACT_PROBE_KEYS "name", "contact", "against" /* of all kinds of scenes */

#define BO_COOKING_KEYS "basis", "elastic", "samples", "wire", "keep_volume"
#define BO_COMPONENT_BLOCK_KEYS BO_BODY_BLOCK_KEYS, "interfaces", "parent", "surface", BO_COOKING_KEYS
#define BO_COMPONENT_KEYS BO_FILE_KEYS, BO_COMPONENT_BLOCK_KEYS
#define BO_INTERFACE_KEYS "select", "load"
#define BO_PATCH_KEYS "patch", "radius", "load"
#define BO_LOAD_KEYS "mass", "centre", "inertia"
#define BO_BASIS_KEYS "r", "tolerance", "modes", "kind", "snapshots", "columns", "keep_boundary"
#define BO_ELASTIC_KEYS "kind", "tolerance", "points", "training", "amplitude", "seed"
#define BO_SAMPLES_KEYS "wind", "contact", "stress", "stress_at", "field"
#define BO_SURFACE_KEYS "file", "int16", BO_TRANSFORM_KEYS

/* Scenes of parts. */
#define BO_ASSEMBLY_KEYS                                                                                               \
    BO_FILE_KEYS, "name", "components", "parts", "object", "objects", "place", "paint", "curves", "gravity", "forces", \
        "wind", "engine", "time", "settle", "probes", "ties", "events", "break", "remove_below", "obstacles", "contact"
#define BO_PARTS_CONTACT_KEYS "friction", "slip_speed", "most_contacts", "solids", "between", "rest_speed", "rest_time"
#define BO_SOLID_KEYS "part", "shape"
#define BO_PART_FORCE_KEYS "part", "nearest", "force", "torque", "from", "until"
#define BO_WIND_KEYS "velocity", "gust", "length", "density", "drag", "seed"
#define BO_MOVING_WIND_KEYS BO_WIND_KEYS, "curve"
#define BO_EVENT_KEYS                                                                                         \
    "time", "detach", "attach", "reattach", "lock", "unlock", "remove", "add", "cut_tie", "join_tie", "wind", \
        "parent", "interface", "position", "rotate_deg", "velocity", "angular_velocity"
#define BO_BREAK_KEYS "parts", "component", "stress", "lock"
#define BO_BREAK_TIE_KEYS "ties", "force", "torque"
#define BO_PART_PROBE_KEYS "name", "part", "nearest"
#define BO_PART_STRESS_PROBE_KEYS "name", "part", "stress_at", "stress"
#define BO_TRACK_KEYS "time", "position", "rotate_deg"
#define BO_READY_COMPONENT_KEYS "file"
#define BO_COOK_COMPONENT_KEYS "cook"
#define BO_PART_KEYS                                                                                              \
    "name", "component", "parent", "interface", "rotate_deg", "scale", "position", "stiffness", "damping", "fix", \
        "track", "velocity", "angular_velocity", "damping_ratio", "absent", "offset", "joint", "flies", "locked"
#define BO_JOINT_KEYS "kind", "axis", "stiffness", "damping", "angle_deg"
#define BO_TIE_KEYS "name", "parts", "interfaces", "stiffness", "damping", "turning_stiffness", "turning_damping"
#define BO_OBJECT_KEYS BO_MATTER_KEYS, "domains", "root", "surface", BO_COOKING_KEYS
#define BO_GROUP_KEYS "components", "parts", "ties"
#define BO_SCENE_OBJECT_KEYS "scene"
#define BO_PLACE_KEYS "object", "name", "position", "rotate_deg", "scale", "copies", "spacing", "absent"
#define BO_PAINT_KEYS "parts", "component", "stiffness", "curve", "damping_ratio"
#define BO_OBJECT_BASIS_KEYS "r", "total", "of", "tolerance", "modes", "kind", "keep_boundary"
#define BO_OBJECT_SAMPLES_KEYS "wind", "contact", "stress", "field"

/* Mechanisms. */
#define BO_MECHANISM_OWN_KEYS                                                                                  \
    "links", "joints", "base", "free_base", "base_touch", "link_touches", "end_effectors", "motors", "bodies", \
        "obstacles", "generate", "urdf", "dynamics", "collide"
#define BO_MECHANISM_KEYS                                                                                    \
    BO_FILE_KEYS, "name", "curves", "gravity", "forces", "engine", "time", "settle", "probes", "contact", \
        BO_MECHANISM_OWN_KEYS
#define BO_WORLD_CONTACT_KEYS "most_contacts" /* where a contact world finds what touches */
#define BO_LINK_KEYS "name", "position", "rotate_deg", "mass", "centre", "inertia", "density", "shape"
#define BO_LINK_JOINT_KEYS                                                                                     \
    "name", "kind", "parent", "child", "position", "axis", "rotate_deg", "stiffness", "damping", "compliance", \
        "offset", "offset_deg", "limits", "limits_deg", "limit_stiffness"
#define BO_COLLIDE_KEYS "friction"
#define BO_BASE_TOUCH_KEYS "shape", "friction"
#define BO_LINK_TOUCH_KEYS "link", "shape", "friction"
#define BO_END_EFFECTOR_KEYS "name", "link", "position", "rotate_deg", "shape", "friction"
#define BO_MOTOR_KEYS "joint", "freedom", "curve", "scale", "degrees"
#define BO_LINK_FORCE_KEYS "link", "end_effector", "body", "position", "force", "torque", "from", "until", "curve"
#define BO_LINK_PROBE_KEYS "name", "link", "end_effector", "body", "position"
#define BO_TOUCH_PROBE_KEYS "name", "touch"
#define BO_JOINT_PROBE_KEYS "name", "joint"
#define BO_RIGID_BODY_KEYS                                                                                   \
    "name", "shape", "density", "mass", "inertia", "position", "rotate_deg", "velocity", "spin", "friction", \
        "restitution"
#define BO_OBSTACLE_KEYS "name", "shape", "position", "rotate_deg", "friction", "touch", "track"
#define BO_SHAPE_KEYS \
    "sphere", "box", "capsule", "cylinder", "hull", "mesh", "plane", "height_field", "position", "rotate_deg", "colour"
#define BO_SHAPE_MESH_KEYS "file", BO_TRANSFORM_KEYS, "cells"
#define BO_HEIGHT_FIELD_KEYS "size", "heights", "noise"
#define BO_GENERATE_KEYS "helix", "ladder", "Y", "ring"
#define BO_MADE_KEYS "joint", "stiffness", "damping", "mass"
#define BO_HELIX_KEYS BO_MADE_KEYS, "links", "radius", "pitch", "turn_deg"
#define BO_LADDER_KEYS BO_MADE_KEYS, "cells", "cell"
#define BO_Y_KEYS BO_MADE_KEYS, "trunk", "arm", "length", "spread_deg"
#define BO_RING_KEYS BO_MADE_KEYS, "links", "radius"
#define BO_BLEND_KEYS "points", "tolerance", "loads", "random"
#define BO_BLEND_LOAD_KEYS "end_effector", "force", "torque"
#define BO_BLEND_RANDOM_KEYS "count", "force", "torque", "seed"
/* Multibody systems: docs/multibody.schema.json. */
#define BO_MULTIBODY_KEYS                                                                                              \
    BO_FILE_KEYS, "name", "components", "bodies", "parts", "joints", "motors", "gears", "curves", "gravity", "forces", \
        "engine", "time", "settle", "probes", "obstacles", "contact", "pass_through", "robot", "retarget"
#define BO_ROBOT_KEYS \
    "urdf", "mjcf", "position", "rotate_deg", "free_base", "flexible", "start", "start_deg", "limit_stiffness", "touch"
#define BO_FLEXIBLE_LINK_KEYS "component", "interfaces", "stiffness", "damping"
#define BO_MULTIBODY_ENGINE_KEYS "kind", "baumgarte", "friction_speed", "tolerance"
#define BO_JOINED_BODY_KEYS                                                                                         \
    "name", "position", "rotate_deg", "mass", "centre", "inertia", "density", "shape", "velocity", "spin", "touch", \
        "friction", "restitution"
#define BO_CLAMPED_PART_KEYS "name", "component", "clamp", "stiffness", "damping", "touch", "friction", "restitution"
#define BO_END_KEYS "body", "part", "interface", "position", "rotate_deg"
#define BO_BODY_JOINT_KEYS                                                                                 \
    "name", "kind", "parent", "child", "position", "axis", "rotate_deg", "stiffness", "damping", "offset", \
        "offset_deg", "limits", "limits_deg", "limit_stiffness", "friction"
#define BO_TABLE_MOTOR_KEYS "name", "joint", "freedom", "stiffness", "damping", "limit"
#define BO_JOINT_MOTOR_KEYS BO_TABLE_MOTOR_KEYS, "curve", "scale", "degrees", "between"
#define BO_MOTOR_TABLE_KEYS "csv", "degrees", "between", "list"
#define BO_RETARGET_KEYS                                                                                             \
    "duration", "dt", "point_rate", "degree", "track", "moving", "keep", "smooth", "limits", "limit_weight", "rate", \
        "search", "iterations", "tolerance", "window", "overlap"
#define BO_TRACKED_KEYS "name", "body", "part", "interface", "position", "weight", "curve", "orientation"
#define BO_MOTOR_LIMIT_KEYS \
    "motor", "range", "range_deg", "speed", "speed_deg", "acceleration", "acceleration_deg", "force"
#define BO_GEAR_KEYS "name", "joints", "freedoms", "ratio"
#define BO_BODY_FORCE_KEYS \
    "body", "part", "interface", "nearest", "position", "force", "torque", "from", "until", "curve"
#define BO_BODY_PROBE_KEYS "name", "body", "part", "interface", "nearest", "position"
#define BO_COORDINATE_PROBE_KEYS "name", "joint", "freedom"
#define BO_JOINT_FORCE_PROBE_KEYS "name", "joint_force"
#define BO_MOTOR_PROBE_KEYS "name", "motor"
#define BO_NOISE_KEYS "cells", "height", "length", "seed"

/* The version of all scene files; a block is checked by the version of its file. */
#define BO_SCENE_VERSION 1
bough_status bo_scene_version(bo_json block);

/* Reads the keys of a body file, which must have been checked to be the only ones (others are the caller's), into a
 * body and a load case with its supports and loads; both are the caller's, and NULL when it fails. drive NULL: a body
 * file, where nothing follows a curve. */
bough_status bo_scene_body(const bo_json *root, bo_drive *drive, bough_body **body, bough_load_case **load_case);

/* A body before it is made: the mesh with its sets, and what it is made of. */
typedef struct bo_body_draft {
    bough_body_def def; /* its regions are those below */
    bough_body_region *regions;
    bough_mesh *mesh;
} bo_body_draft;

/* Both halves of bo_scene_body: all is checked, and the mesh is made; then a body from this mesh or a part of it, and
 * its load case. Free the draft also after a failure. */
bough_status bo_scene_draft(const bo_json *root, bo_drive *drive, bo_body_draft *draft);
bough_status bo_scene_draft_body(const bo_json *root, const bo_body_draft *draft, const bough_mesh *mesh,
                                 bo_drive *drive, bough_body **body, bough_load_case **load_case);
void bo_scene_draft_free(bough_context *ctx, bo_body_draft *draft);

/* "mesh": a file beside the scene file, or a generator. mesh NULL: the entry is checked, but nothing is made, so that
 * slips elsewhere in the file can be told before the work begins. */
bough_status bo_scene_mesh(bo_json at, bough_mesh **mesh);

/* A string that names a mesh file beside the scene file; mesh NULL: checked only. */
bough_status bo_scene_mesh_file(bo_json at, bough_volume_policy volumes, bough_mesh **mesh);
/* The same for the file under `key` of an object with BO_TRANSFORM_KEYS: moved as these say. */
bough_status bo_scene_mesh_transformed(bo_json at, const char *key, bough_volume_policy volumes, bough_mesh **mesh);

/* "sets": {NAME: {"vertices": SELECTION}} become vertex sets, {"elements": SELECTION} the elements all of whose
 * vertices are selected. mesh NULL: checked only. */
bough_status bo_scene_sets(bo_json at, bough_mesh *mesh);

/* Goes over *material, which holds the defaults. */
bough_status bo_scene_material(bo_json at, bough_material *material);

/* A string that selects vertices; mesh NULL: checked only, with *vertices NULL. Free with bo_free. */
bough_status bo_scene_select(bo_json at, const bough_mesh *mesh, int32_t **vertices, int32_t *count);

/* The set of that kind, or a sentence with the names there are. */
bough_status bo_scene_find_set(bo_json at, const bough_mesh *mesh, bough_set_kind kind, const char *name,
                               const bough_set **set);

#endif
