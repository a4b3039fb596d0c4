/* Mechanisms of scenes, put together link by link. */
#include "scene/mechanism_scene.h"

#include "rig/joint.h"
#include "scene/scene.h"

#include <string.h>

void bo_mechanism_scene_free(bough_context *ctx, bo_mechanism_scene *m) {
    if (!m)
        return;
    for (int32_t i = 0; i < m->link_count; i++) {
        bo_free(ctx, (void *)m->links[i].name);
        bo_scene_free_shapes(ctx, &m->link_shapes[i]);
    }
    for (int32_t i = 0; i < m->joint_count; i++) {
        bo_free(ctx, (void *)m->joints[i].name);
        bo_free(ctx, (void *)m->joints[i].compliance);
    }
    for (int32_t i = 0; i < m->end_effector_count; i++) {
        bo_free(ctx, m->effectors[i].name);
        bo_scene_free_shapes(ctx, &m->effectors[i].touch.shapes);
    }
    bo_scene_free_shapes(ctx, &m->base_touch.shapes);
    for (int32_t i = 0; i < m->link_touch_count; i++)
        bo_scene_free_shapes(ctx, &m->link_touches[i].touch.shapes);
    bo_free(ctx, m->link_touches);
    bo_scene_free_rigids(ctx, m->body_count, m->bodies);
    bo_scene_free_rigids(ctx, m->obstacle_count, m->obstacles);
    bo_mesh_stock_free(ctx, &m->meshes);
    void *const blocks[] = {m->links,         m->link_shapes, m->joints,     m->end_effectors, m->effectors,
                            m->motors,        m->loads,       m->kept,       m->blend.loads,   m->body_defs,
                            m->obstacle_defs, m->shape_defs,  m->touch_defs, m->leads};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
    bough_mechanism_destroy(ctx, m->mechanism);
    bo_free(ctx, m);
}

/* NULL stays NULL. */
static bough_status copy_name(bough_context *ctx, const char *name, char **copy) {
    *copy = name ? bo_strdup(ctx, name) : NULL;
    return name && !*copy ? BOUGH_ERROR_MEMORY : BOUGH_OK;
}

bough_status bo_mechanism_add_link(bough_context *ctx, bo_mechanism_scene *m, const bough_rigid_body_def *link) {
    char *name;
    const size_t count = (size_t)m->link_count + 1;
    if (!BO_RESERVE(ctx, m->links, m->link_capacity, count) ||
        !BO_RESERVE(ctx, m->link_shapes, m->shapes_capacity, count))
        return BOUGH_ERROR_MEMORY;
    BO_TRY(copy_name(ctx, link->name, &name));
    m->links[m->link_count] = *link;
    m->links[m->link_count].name = name;
    m->link_shapes[m->link_count++] = (bo_scene_shapes){0};
    return BOUGH_OK;
}

static bough_pose in_link(const bo_mechanism_scene *m, int32_t link, bo_se3 frame) {
    return bo_put_pose(bo_se3_mul(bo_se3_inverse(bo_pose(&m->links[link].pose)), frame));
}

void bo_mechanism_place_joint(const bo_mechanism_scene *m, bo_se3 frame, bough_joint_def *joint) {
    joint->parent.pose = in_link(m, joint->parent.body, frame);
    joint->child.pose = in_link(m, joint->child.body, frame);
}

bough_status bo_mechanism_add_joint(bough_context *ctx, bo_mechanism_scene *m, const bough_joint_def *joint) {
    const size_t n = (size_t)bough_joint_freedoms(joint->kind);
    char *name;
    double *compliance = NULL;
    if (!BO_RESERVE(ctx, m->joints, m->joint_capacity, m->joint_count + 1))
        return BOUGH_ERROR_MEMORY;
    if (joint->compliance && !(compliance = BO_NEW_ARRAY(ctx, double, n *n)))
        return BOUGH_ERROR_MEMORY;
    if (compliance)
        memcpy(compliance, joint->compliance, n * n * sizeof(double));
    const bough_status status = copy_name(ctx, joint->name, &name);
    if (status != BOUGH_OK) {
        bo_free(ctx, compliance);
        return status;
    }
    bough_joint_def *to = &m->joints[m->joint_count++];
    *to = *joint;
    to->name = name, to->compliance = compliance;
    return BOUGH_OK;
}

bough_status bo_mechanism_add_end_effector(bough_context *ctx, bo_mechanism_scene *m, const char *name, int32_t link,
                                           bo_se3 frame) {
    const size_t count = (size_t)m->end_effector_count + 1;
    char *copy;
    if (!BO_RESERVE(ctx, m->end_effectors, m->frame_capacity, count) ||
        !BO_RESERVE(ctx, m->effectors, m->effector_capacity, count))
        return BOUGH_ERROR_MEMORY;
    BO_TRY(copy_name(ctx, name, &copy));
    m->end_effectors[m->end_effector_count] = bo_frame_on(link, in_link(m, link, frame));
    m->effectors[m->end_effector_count++] = (bo_scene_end_effector){.name = copy, .touch.friction = 0.5};
    return BOUGH_OK;
}
