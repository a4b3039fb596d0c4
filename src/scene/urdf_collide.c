/* "collide" of scene files: <collision> shapes of a URDF touch. What is round or a mesh becomes a convex hull. */
#include "scene/mechanism_scene.h"

#include "base/file.h"
#include "base/pose.h"
#include "scene/entries.h"
#include "scene/scene.h"

#include <string.h>

enum { MESH_DIRECTIONS = 256 }; /* a mesh with more vertices: those that reach furthest in so many directions */

typedef struct {
    bo_json at;
    char *path; /* of the URDF */
    const bough_urdf *urdf;
    bo_mechanism_scene *m;
    uint64_t *hash;
} taker;

/* It is drawn as the hull that touches. */
static bough_status take_round(bough_context *ctx, bo_form form, const double size[2], bo_scene_shape *shape) {
    shape->form = form, shape->radius = size[0], shape->length = size[1];
    BO_TRY(bo_shape_round_hull(ctx, shape));
    shape->form = BO_FORM_HULL;
    return BOUGH_OK;
}

/* ---- meshes ---- */

/* Directions that are spread evenly: on a spiral from pole to pole, by the golden angle. */
static bo_vec3 direction(int i) {
    const double z = 1 - (2. * i + 1) / MESH_DIRECTIONS, r = sqrt(1 - z * z), turn = i * M_PI * (3 - sqrt(5));
    return bo_v3(r * cos(turn), r * sin(turn), z);
}

static bough_status take_vertices(bough_context *ctx, const bough_mesh *mesh, bo_scene_shape *shape) {
    const int32_t count = mesh->vertex_count;
    double *points = bo_shape_new_hull(ctx, count <= MESH_DIRECTIONS ? count : MESH_DIRECTIONS, shape);
    shape->form = BO_FORM_HULL;
    if (!points)
        return BOUGH_ERROR_MEMORY;
    if (count <= MESH_DIRECTIONS) {
        memcpy(points, mesh->vertices, 3 * (size_t)count * sizeof(double));
        return BOUGH_OK;
    }
    for (int i = 0; i < MESH_DIRECTIONS; i++) {
        const bo_vec3 d = direction(i);
        int32_t best = 0;
        double most = -INFINITY;
        for (int32_t v = 0; v < count; v++) {
            const double reach = bo_dot(d, bo_load3(mesh->vertices + 3 * (size_t)v));
            if (reach > most)
                most = reach, best = v;
        }
        memcpy(points + 3 * (size_t)i, mesh->vertices + 3 * (size_t)best, 3 * sizeof(double));
    }
    return BOUGH_OK;
}

static bough_status take_mesh(const taker *t, const bough_urdf_shape *from, bo_scene_shape *shape) {
    bough_context *ctx = t->at.ctx;
    bough_mesh_read_def def = bough_default_mesh_read_def();
    bough_mesh *mesh = NULL;
    char *path;
    BO_TRY(bo_urdf_find_mesh(ctx, t->path, from->mesh, &path));
    if (!path)
        return bo_json_fail(t->at, "the mesh \"%.200s\" of a <collision> is not there", from->mesh);
    def.volumes = BOUGH_VOLUME_REFUSE;
    bough_status status = bo_json_explain(t->at, bough_mesh_read(ctx, path, &def, &mesh));
    bo_free(ctx, path);
    if (status != BOUGH_OK)
        return status;
    for (int64_t k = 0; k < 3 * (int64_t)mesh->vertex_count; k++)
        mesh->vertices[k] *= from->size[k % 3];
    *t->hash = bo_hash_mesh(*t->hash, mesh);
    status = take_vertices(ctx, mesh, shape);
    bough_mesh_destroy(ctx, mesh);
    return status;
}

/* ---- shapes ---- */

static bough_status fill_shape(const taker *t, const bough_urdf_shape *from, bo_scene_shape *shape) {
    bough_context *ctx = t->at.ctx;
    shape->def = bough_default_shape_def();
    shape->def.frame = from->frame;
    switch (from->kind) {
    case BOUGH_URDF_BOX:
        shape->form = BO_FORM_BOX, shape->def.kind = BOUGH_SHAPE_BOX;
        for (int k = 0; k < 3; k++)
            shape->def.half[k] = from->size[k] / 2;
        return BOUGH_OK;
    case BOUGH_URDF_SPHERE:
        shape->form = BO_FORM_SPHERE, shape->def.kind = BOUGH_SHAPE_SPHERE;
        shape->def.radius = from->size[0];
        return BOUGH_OK;
    case BOUGH_URDF_CYLINDER:
        return take_round(ctx, BO_FORM_CYLINDER, from->size, shape);
    case BOUGH_URDF_CAPSULE:
        return take_round(ctx, BO_FORM_CAPSULE, from->size, shape);
    case BOUGH_URDF_MESH:
        return take_mesh(t, from, shape);
    }
    return BOUGH_OK;
}

/* Contact must know what to do with it: a mesh may be flat. */
static bough_status check_shape(const taker *t, const bough_urdf_shape *from, const bo_scene_shape *shape) {
    bough_context *ctx = t->at.ctx;
    bough_shape *made = NULL;
    const bough_status status = bough_shape_create(ctx, &shape->def, &made);
    const char *link = t->m->links[from->link].name;
    bough_shape_destroy(ctx, made);
    if (status != BOUGH_OK && status != BOUGH_ERROR_MEMORY)
        bo_prefix_message(ctx, "a <collision> of the link \"%.60s\": ", link ? link : "");
    return bo_json_explain(t->at, status);
}

/* The shapes of one link, as a touch of it; nothing where it has none. */
static bough_status take_link(const taker *t, int32_t link, double friction) {
    bo_mechanism_scene *m = t->m;
    int32_t count = 0;
    for (int32_t i = 0; i < t->urdf->shape_count; i++)
        count += t->urdf->shapes[i].collision && t->urdf->shapes[i].link == link;
    if (count == 0)
        return BOUGH_OK;
    bo_scene_link_touch *touch = &m->link_touches[m->link_touch_count++];
    bo_scene_shapes *shapes = &touch->touch.shapes;
    *touch = (bo_scene_link_touch){.link = link, .touch = {.friction = friction}};
    if (!(shapes->shapes = BO_NEW_ZEROS(t->at.ctx, bo_scene_shape, count)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < t->urdf->shape_count; i++) {
        const bough_urdf_shape *from = &t->urdf->shapes[i];
        if (!from->collision || from->link != link)
            continue;
        bo_scene_shape *shape = &shapes->shapes[shapes->count++];
        BO_TRY(fill_shape(t, from, shape));
        BO_TRY(check_shape(t, from, shape));
    }
    return BOUGH_OK;
}

static bough_status take_links(const taker *t, double friction) {
    bo_mechanism_scene *m = t->m;
    const int32_t before = m->link_touch_count;
    bo_scene_link_touch *touches =
        bo_realloc(t->at.ctx, m->link_touches, (size_t)before + (size_t)m->link_count, sizeof *touches);
    if (!touches)
        return BOUGH_ERROR_MEMORY;
    m->link_touches = touches;
    for (int32_t link = 0; link < m->link_count; link++)
        BO_TRY(take_link(t, link, friction));
    m->collides = true;
    return m->link_touch_count > before ? BOUGH_OK : bo_json_fail(t->at, "no link of the URDF has a <collision>");
}

/* true, or {"friction": 0.8} */
static bough_status read_wish(bo_json at, bool *wanted, double *friction) {
    *wanted = json_is_object(at.value);
    if (!*wanted)
        return bo_json_flag(at, wanted);
    BO_TRY(bo_json_keys(at, BO_COLLIDE_KEYS));
    return bo_json_number(bo_json_at(&at, "friction"), BO_NOT_NEGATIVE, friction);
}

bough_status bo_mechanism_collide(const bo_json *root, const bough_urdf *urdf, bo_mechanism_scene *m, uint64_t *hash) {
    taker t = {.at = bo_json_at(root, "collide"), .urdf = urdf, .m = m, .hash = hash};
    const char *name = NULL;
    double friction = 0.5;
    bool wanted = false;
    if (!t.at.value)
        return BOUGH_OK;
    BO_TRY(read_wish(t.at, &wanted, &friction));
    if (!urdf)
        return bo_json_fail(t.at, "is for the <collision> shapes of a \"urdf\", and there is none");
    if (!wanted)
        return BOUGH_OK;
    BO_TRY(bo_json_string(bo_json_at(root, "urdf"), &name));
    if (!(t.path = bo_path_beside(root->ctx, root->file, name)))
        return BOUGH_ERROR_MEMORY;
    const bough_status status = take_links(&t, friction);
    bo_free(root->ctx, t.path);
    return status;
}
