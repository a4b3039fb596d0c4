/* "urdf": the mechanism of a scene from a robot's file. */
#include "scene/mechanism_scene.h"

#include "base/file.h"
#include "mechanism/joint.h"
#include "scene/scene.h"

#include <string.h>

static bough_status hash_file(bough_context *ctx, const char *path, uint64_t *hash) {
    bo_file file;
    BO_TRY(bo_file_read(ctx, path, &file));
    *hash = bo_hash_bytes(*hash, file.data, file.size);
    bo_file_free(ctx, &file);
    return BOUGH_OK;
}

/* ---- shapes that are to be seen; meshes of many formats are left out, and rods are drawn instead ---- */

static bool is_drawn(const bough_urdf_shape *shape) {
    return !shape->collision && shape->kind != BOUGH_URDF_MESH;
}

static bo_scene_shape convert(const bough_urdf_shape *from) {
    static const bo_form forms[] = {BO_FORM_BOX, BO_FORM_CYLINDER, BO_FORM_CAPSULE, BO_FORM_SPHERE, BO_FORM_MESH};
    bo_scene_shape shape = {.form = forms[from->kind], .def = bough_default_shape_def()};
    shape.def.frame = from->frame;
    shape.radius = from->size[0], shape.length = from->size[1];
    shape.def.radius = from->size[0];
    shape.def.kind = from->kind == BOUGH_URDF_BOX ? BOUGH_SHAPE_BOX : BOUGH_SHAPE_SPHERE;
    for (int d = 0; d < 3; d++) {
        shape.def.half[d] = from->size[d] / 2;
        shape.colour[d] = from->colour[d];
    }
    return shape;
}

static bough_status add_shapes(bough_context *ctx, const bough_urdf *urdf, bo_mechanism_scene *m) {
    for (int32_t i = 0; i < urdf->shape_count; i++)
        m->link_shapes[urdf->shapes[i].link].count += is_drawn(&urdf->shapes[i]);
    for (int32_t i = 0; i < m->link_count; i++) {
        bo_scene_shapes *of = &m->link_shapes[i];
        if (of->count > 0 && !(of->shapes = BO_NEW_ZEROS(ctx, bo_scene_shape, of->count))) {
            for (; i < m->link_count; i++)
                m->link_shapes[i].count = 0;
            return BOUGH_ERROR_MEMORY;
        }
        of->count = 0;
    }
    for (int32_t i = 0; i < urdf->shape_count; i++) {
        bo_scene_shapes *of = &m->link_shapes[urdf->shapes[i].link];
        if (is_drawn(&urdf->shapes[i]))
            of->shapes[of->count++] = convert(&urdf->shapes[i]);
    }
    return BOUGH_OK;
}

/* ---- links, joints, end effectors ---- */

static bough_status copy(bough_context *ctx, const bough_urdf *urdf, bo_mechanism_scene *m) {
    const bough_mechanism_def *def = bough_mechanism_describe(urdf->mechanism);
    for (int32_t i = 0; i < def->link_count; i++)
        BO_TRY(bo_mechanism_add_link(ctx, m, &def->links[i]));
    for (int32_t i = 0; i < def->joint_count; i++)
        BO_TRY(bo_mechanism_add_joint(ctx, m, &def->joints[i]));
    for (int32_t i = 0; i < def->end_effector_count; i++) {
        const bough_end_effector *e = &def->end_effectors[i];
        const bo_se3 frame = bo_se3_mul(bo_pose(&def->links[e->link].rest), bo_pose(&e->frame));
        BO_TRY(bo_mechanism_add_end_effector(ctx, m, urdf->frames[urdf->end_effectors[i]].name, e->link, frame));
    }
    m->base = def->base, m->free_base = def->free_base;
    return add_shapes(ctx, urdf, m);
}

static bough_status load(bo_json at, const char *path, const char *side, bo_mechanism_scene *m, uint64_t *hash) {
    bough_urdf_def def = bough_default_urdf_def();
    bough_urdf *urdf = NULL;
    def.dynamics = side;
    BO_TRY(bough_mechanism_load_urdf(at.ctx, path, &def, &urdf));
    bough_status status = copy(at.ctx, urdf, m);
    bough_urdf_destroy(at.ctx, urdf);
    if (status == BOUGH_OK)
        status = hash_file(at.ctx, path, hash);
    return status == BOUGH_OK && side ? hash_file(at.ctx, side, hash) : status;
}

bough_status bo_mechanism_from_urdf(bo_json urdf, bo_json dynamics, bo_mechanism_scene *m, uint64_t *hash) {
    const char *name = NULL, *side_name = NULL;
    BO_TRY(bo_json_string(urdf, &name));
    BO_TRY(bo_json_string(dynamics, &side_name));
    char *path = bo_path_beside(urdf.ctx, urdf.file, name);
    char *side = side_name ? bo_path_beside(urdf.ctx, urdf.file, side_name) : NULL;
    bough_status status = BOUGH_ERROR_MEMORY;
    if (path && (side || !side_name))
        status = load(urdf, path, side, m, hash);
    bo_free(urdf.ctx, path);
    bo_free(urdf.ctx, side);
    return bo_json_explain(urdf, status);
}
