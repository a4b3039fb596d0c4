/* "urdf" of scene files: a robot's description as the mechanism of a scene, with what is to be seen of it. */
#include "scene/scene.h"

#include "base/file.h"
#include "rig/joint.h"
#include "scene/urdf.h"

#include <string.h>

typedef struct {
    bough_context *ctx;
    const char *path; /* of the URDF */
    const bough_urdf *urdf;
    const bough_mechanism_def *def;
    bo_mechanism_scene *m;
    uint64_t *hash;
} taker;

static bough_status hash_file(bough_context *ctx, const char *path, uint64_t *hash) {
    bo_file file;
    BO_TRY(bo_file_read(ctx, path, &file));
    *hash = bo_hash_bytes(*hash, file.data, file.size);
    bo_file_free(ctx, &file);
    return BOUGH_OK;
}

/* ---- meshes ---- */

/* "package://NAME/meshes/arm.stl" is looked for beside the URDF and in the folder above it, since packages keep their
 * descriptions in one folder and their meshes in another. *path is to be freed; NULL: it is nowhere. */
bough_status bo_urdf_find_mesh(bough_context *ctx, const char *urdf, const char *name, char **path) {
    static const char package[] = "package://", file[] = "file://";
    if (strncmp(name, file, sizeof file - 1) == 0)
        name += sizeof file - 1;
    const bool in_package = strncmp(name, package, sizeof package - 1) == 0;
    const char *slash = in_package ? strchr(name + sizeof package - 1, '/') : NULL;
    for (int above = 0; above < (in_package ? 2 : 1); above++) {
        char *other = bo_path_beside(ctx, urdf, above ? "../x" : "x"); /* what would be a file in that folder */
        *path = other ? bo_path_beside(ctx, other, slash ? slash + 1 : name) : NULL;
        bo_free(ctx, other);
        if (!*path)
            return BOUGH_ERROR_MEMORY;
        if (bo_file_exists(*path))
            return BOUGH_OK;
        bo_free(ctx, *path);
        *path = NULL;
    }
    return BOUGH_OK;
}

/* A mesh that cannot be drawn gives a warning, and the scene runs all the same. */
static bough_status read_mesh(const taker *t, const bough_urdf_shape *from, bo_scene_shape *shape) {
    bough_mesh_read_def def = bough_default_mesh_read_def();
    char *path;
    BO_TRY(bo_urdf_find_mesh(t->ctx, t->path, from->mesh, &path));
    if (!path) {
        bo_warn(t->ctx, "%s: the mesh \"%.200s\" is not there; its link is drawn without it", t->path, from->mesh);
        return BOUGH_OK;
    }
    def.volumes = BOUGH_VOLUME_REFUSE;
    const bough_status status = bough_mesh_read(t->ctx, path, &def, &shape->mesh);
    bo_free(t->ctx, path);
    if (status == BOUGH_ERROR_MEMORY)
        return status;
    if (status != BOUGH_OK || shape->mesh->type != BOUGH_TRI3) {
        bo_warn(t->ctx, "%s: the mesh \"%.200s\" is not drawn: %.300s", t->path, from->mesh,
                status ? bough_message(t->ctx) : "it is not a surface of triangles");
        bough_mesh_destroy(t->ctx, shape->mesh);
        shape->mesh = NULL;
        return BOUGH_OK;
    }
    for (int64_t k = 0; k < 3 * (int64_t)shape->mesh->vertex_count; k++)
        shape->mesh->vertices[k] *= from->size[k % 3];
    *t->hash = bo_hash_mesh(*t->hash, shape->mesh);
    return BOUGH_OK;
}

/* ---- shapes ---- */

static bough_status take_shape(const taker *t, const bough_urdf_shape *from, bo_scene_shape *shape) {
    static const bo_form forms[] = {BO_FORM_BOX, BO_FORM_CYLINDER, BO_FORM_CAPSULE, BO_FORM_SPHERE, BO_FORM_MESH};
    shape->form = forms[from->kind];
    shape->def = bough_default_shape_def();
    shape->def.frame = from->frame;
    memcpy(shape->colour, from->colour, sizeof shape->colour);
    for (int k = 0; k < 3; k++)
        shape->def.half[k] = from->size[k] / 2;
    shape->def.radius = shape->radius = from->size[0], shape->length = from->size[1];
    shape->def.kind = from->kind == BOUGH_URDF_BOX ? BOUGH_SHAPE_BOX : BOUGH_SHAPE_SPHERE;
    return from->kind == BOUGH_URDF_MESH ? read_mesh(t, from, shape) : BOUGH_OK;
}

/* A mesh that could not be read is none. */
static bough_status add_shape(const taker *t, const bough_urdf_shape *from, size_t *capacity) {
    bo_scene_shapes *to = &t->m->link_shapes[from->link];
    bo_scene_shape shape = {0};
    BO_TRY(take_shape(t, from, &shape));
    if (shape.form == BO_FORM_MESH && !shape.mesh)
        return BOUGH_OK;
    if (!BO_RESERVE(t->ctx, to->shapes, *capacity, to->count + 1)) {
        bough_mesh_destroy(t->ctx, shape.mesh);
        return BOUGH_ERROR_MEMORY;
    }
    to->shapes[to->count++] = shape;
    return BOUGH_OK;
}

/* Those to be seen, and of links that have none those that collide. */
static bough_status take_shapes(const taker *t) {
    size_t *capacities = BO_NEW_ZEROS(t->ctx, size_t, t->m->link_count);
    bool *seen = BO_NEW_ZEROS(t->ctx, bool, t->m->link_count);
    bough_status status = capacities && seen ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < t->urdf->shape_count && status == BOUGH_OK; i++)
        seen[t->urdf->shapes[i].link] |= !t->urdf->shapes[i].collision;
    for (int32_t i = 0; i < t->urdf->shape_count && status == BOUGH_OK; i++) {
        const bough_urdf_shape *shape = &t->urdf->shapes[i];
        if (shape->collision != seen[shape->link])
            status = add_shape(t, shape, &capacities[shape->link]);
    }
    bo_free(t->ctx, capacities);
    bo_free(t->ctx, seen);
    return status;
}

/* ---- the mechanism ---- */

/* An end effector of the scene goes over that of the robot which has its name. */
static bool is_named(bo_json list, const char *name) {
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        const char *other = json_string_value(json_object_get(json_array_get(list.value, i), "name"));
        if (other && strcmp(other, name) == 0)
            return true;
    }
    return false;
}

static bough_status take(const taker *t, bo_json others) {
    const bough_mechanism_def *def = t->def;
    bo_mechanism_scene *m = t->m;
    for (int32_t i = 0; i < def->link_count; i++)
        BO_TRY(bo_mechanism_add_link(t->ctx, m, &def->links[i]));
    for (int32_t j = 0; j < def->joint_count; j++)
        BO_TRY(bo_mechanism_add_joint(t->ctx, m, &def->joints[j]));
    for (int32_t k = 0; k < def->end_effector_count; k++) {
        const bough_frame_def *e = &def->end_effectors[k];
        const bo_se3 frame = bo_se3_mul(bo_pose(&def->links[e->body].pose), bo_pose(&e->pose));
        if (!is_named(others, e->name))
            BO_TRY(bo_mechanism_add_end_effector(t->ctx, m, e->name, e->body, frame));
    }
    m->base = def->base, m->free_base = def->free_base;
    return take_shapes(t);
}

/* *path of the file that the key names, to be freed; NULL: none is named. */
static bough_status name_file(bo_json at, char **path) {
    const char *name = NULL;
    *path = NULL;
    BO_TRY(bo_json_string(at, &name));
    return !name || (*path = bo_path_beside(at.ctx, at.file, name)) ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* The mechanism is made once the scene has been read to its end. */
static bough_status load(bo_json at, const char *path, const char *side, bo_mechanism_scene *m, uint64_t *hash,
                         bo_urdf *u, bough_urdf *urdf) {
    bough_urdf_def def = bough_default_urdf_def();
    bough_mechanism_def made;
    def.dynamics = side;
    const bough_status status = bo_urdf_describe(at.ctx, path, &def, u, urdf, &made);
    if (status != BOUGH_OK) /* it names its own file; a scene says where it names that */
        return at.parent->text ? bo_json_explain(at, status) : status;
    BO_TRY(hash_file(at.ctx, path, hash));
    if (urdf->dynamics)
        BO_TRY(hash_file(at.ctx, urdf->dynamics, hash));
    const taker t = {at.ctx, path, urdf, &made, m, hash};
    return take(&t, bo_json_at(at.parent, "end_effectors"));
}

bough_status bo_mechanism_from_urdf(const bo_json *root, bo_mechanism_scene *m, uint64_t *hash, bough_urdf **urdf) {
    char *path = NULL, *side = NULL;
    const bo_json at = bo_json_at(root, "urdf");
    bo_urdf u = {0};
    if (!(*urdf = BO_NEW(root->ctx, bough_urdf)))
        return bo_fail_memory(root->ctx);
    bough_status status = name_file(at, &path);
    if (status == BOUGH_OK)
        status = name_file(bo_json_at(root, "dynamics"), &side);
    if (status == BOUGH_OK)
        status = load(at, path, side, m, hash, &u, *urdf);
    bo_urdf_free(root->ctx, &u);
    bo_free(root->ctx, path);
    bo_free(root->ctx, side);
    return status;
}
