/* Robots from files of other formats: lists that grow. */
#include "scene/robot.h"

#include "base/file.h"
#include "scene/scene.h"

#include <string.h>

enum { MOST = 10000 }; /* links, joints, shapes; a slip or an attack beyond */

static bough_status check_count(const bo_robot *robot, const bo_xml_element *at, int32_t count) {
    return count < MOST ? BOUGH_OK : bo_xml_fail(robot->xml, at, "there are more than %d of them", MOST);
}

void bo_robot_free(bo_robot *robot) {
    bough_context *ctx = robot->ctx;
    for (int32_t i = 0; i < robot->link_count; i++)
        bo_free(ctx, robot->links[i].name);
    for (int32_t j = 0; j < robot->joint_count; j++)
        bo_free(ctx, robot->joints[j].name);
    for (int32_t i = 0; i < robot->shape_count; i++)
        json_decref(robot->shapes[i].form);
    bo_free(ctx, robot->links);
    bo_free(ctx, robot->joints);
    bo_free(ctx, robot->shapes);
    *robot = (bo_robot){0};
}

/* Scenes are UTF-8, XML may be anything. */
static bough_status copy_name(const bo_robot *robot, const bo_xml_element *at, const char *name, char **copy) {
    json_t *text = json_string(name);
    json_decref(text);
    if (!text)
        return bo_xml_fail(robot->xml, at, "its name must be a text in UTF-8");
    return (*copy = bo_strdup(robot->ctx, name)) ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

bough_status bo_robot_add_link(bo_robot *robot, const bo_xml_element *at, const char *name, int32_t *index) {
    char *copy = NULL;
    BO_TRY(check_count(robot, at, robot->link_count));
    if (!BO_RESERVE(robot->ctx, robot->links, robot->link_capacity, robot->link_count + 1))
        return BOUGH_ERROR_MEMORY;
    BO_TRY(copy_name(robot, at, name, &copy));
    bo_robot_link *link = &robot->links[robot->link_count];
    *link = (bo_robot_link){.at = at, .name = copy, .above = -1, .component = -1};
    link->body = bough_default_rigid_body_def();
    link->body.mass = 0;
    memset(link->body.inertia, 0, sizeof link->body.inertia);
    if (index)
        *index = robot->link_count;
    robot->link_count++;
    return BOUGH_OK;
}

bough_status bo_robot_add_joint(bo_robot *robot, const bo_xml_element *at, const char *name, int32_t *index) {
    char *copy = NULL;
    BO_TRY(check_count(robot, at, robot->joint_count));
    if (!BO_RESERVE(robot->ctx, robot->joints, robot->joint_capacity, robot->joint_count + 1))
        return BOUGH_ERROR_MEMORY;
    BO_TRY(copy_name(robot, at, name, &copy));
    robot->joints[robot->joint_count] = (bo_robot_joint){.at = at,
                                                         .name = copy,
                                                         .kind = BOUGH_JOINT_WELD,
                                                         .in_parent = bo_se3_identity(),
                                                         .axis = bo_v3(0, 0, 1),
                                                         .lower = -INFINITY,
                                                         .upper = INFINITY,
                                                         .mimics = -1,
                                                         .attach = -1};
    if (index)
        *index = robot->joint_count;
    robot->joint_count++;
    return BOUGH_OK;
}

bough_status bo_robot_add_shape(bo_robot *robot, int32_t link, bo_se3 frame, bool collides, json_t *form) {
    if (!form)
        return bo_fail_memory(robot->ctx);
    bough_status status = check_count(robot, robot->links[link].at, robot->shape_count);
    if (status == BOUGH_OK && !BO_RESERVE(robot->ctx, robot->shapes, robot->shape_capacity, robot->shape_count + 1))
        status = BOUGH_ERROR_MEMORY;
    if (status != BOUGH_OK) {
        json_decref(form);
        return status;
    }
    robot->shapes[robot->shape_count++] = (bo_robot_shape){link, frame, collides, form};
    return BOUGH_OK;
}

int32_t bo_robot_find_link(const bo_robot *robot, const char *name) {
    int32_t i = robot->link_count - 1;
    while (i >= 0 && strcmp(robot->links[i].name, name) != 0)
        i--;
    return i;
}

int32_t bo_robot_find_joint(const bo_robot *robot, const char *name) {
    int32_t j = robot->joint_count - 1;
    while (j >= 0 && strcmp(robot->joints[j].name, name) != 0)
        j--;
    return j;
}

/* ---- meshes ---- */

/* A file may point into its own folder, and into folders of that. */
static bool stays_inside(const char *name) {
    if (name[0] == '/' || strchr(name, '\\') || strstr(name, "://"))
        return false;
    for (const char *p = name; p; p = strchr(p, '/')) {
        p += *p == '/';
        if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || p[2] == 0))
            return false;
    }
    return true;
}

/* Why the mesh cannot be drawn; NULL: it can be. */
static bough_status look_at_mesh(bough_context *ctx, const char *path, const char **why) {
    bough_mesh_read_def def = bough_default_mesh_read_def();
    bough_mesh *mesh = NULL;
    *why = NULL;
    if (!bo_file_exists(path)) {
        *why = "it is not there";
        return BOUGH_OK;
    }
    def.volumes = BOUGH_VOLUME_REFUSE;
    const bough_status status = bough_mesh_read(ctx, path, &def, &mesh);
    if (status == BOUGH_ERROR_MEMORY)
        return status;
    if (status != BOUGH_OK)
        *why = bough_message(ctx);
    else if (mesh->type != BOUGH_TRI3)
        *why = "it is not a surface of triangles";
    bough_mesh_destroy(ctx, mesh);
    return BOUGH_OK;
}

bough_status bo_robot_mesh(bo_robot *robot, const bo_xml_element *at, const char *folder, const char *name,
                           const double scale[3], const char *file, json_t **form) {
    bough_context *ctx = robot->ctx;
    const char *why = NULL;
    *form = NULL;
    if (!stays_inside(name) || (folder && !stays_inside(folder)))
        why = "it lies outside of the file's folder";
    else if (scale[0] != scale[1] || scale[0] != scale[2] || !(scale[0] > 0))
        why = "its scale is not the same along all axes";
    if (why) {
        bo_xml_warn(robot->xml, at, "the mesh \"%.100s\" is not drawn: %s", name, why);
        return BOUGH_OK;
    }
    char joined[600];
    snprintf(joined, sizeof joined, "%s%s%s", folder ? folder : "", folder && folder[0] ? "/" : "", name);
    char *in_scene = bo_path_beside(ctx, robot->beside, joined), *path = bo_path_beside(ctx, file, joined);
    bough_status status = in_scene && path ? look_at_mesh(ctx, path, &why) : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK && why)
        bo_xml_warn(robot->xml, at, "the mesh \"%.100s\" is not drawn: %.200s", name, why);
    else if (status == BOUGH_OK)
        *form = scale[0] == 1 ? json_pack("{s:s}", "mesh", in_scene)
                              : json_pack("{s:{s:s, s:f}}", "mesh", "file", in_scene, "scale", scale[0]);
    if (status == BOUGH_OK && !why && !*form)
        status = bo_xml_fail(robot->xml, at, "the name of the mesh must be a text in UTF-8");
    bo_free(ctx, in_scene);
    bo_free(ctx, path);
    return status;
}
