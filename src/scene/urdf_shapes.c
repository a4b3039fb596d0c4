/* URDF: the shapes of links, to be seen or to collide, with their colours. */
#include "scene/urdf.h"

#include <string.h>

typedef struct {
    bough_context *ctx;
    const bo_urdf *u;
    int32_t material_count;
    bo_name *materials; /* of the robot: children of its element, by their index among all elements */
} shape_reader;

/* The colour of a material, or of the robot's of the same name. */
static bough_status read_colour(const shape_reader *r, const bo_xml_element *visual, double colour[4]) {
    const bo_xml *xml = &r->u->xml;
    const bo_xml_element *material = bo_xml_child(xml, visual, "material");
    colour[0] = colour[1] = colour[2] = 0.7, colour[3] = -1;
    const bo_xml_element *at = bo_xml_child(xml, material, "color");
    const char *name = bo_xml_get(xml, material, "name");
    if (!at && name) {
        const int32_t found = bo_names_find(r->materials, r->material_count, name);
        at = found >= 0 ? bo_xml_child(xml, &xml->elements[found], "color") : NULL;
    }
    BO_TRY(bo_xml_numbers(xml, at, "rgba", 4, colour));
    for (int k = 0; k < 4; k++)
        colour[k] = colour[k] > 1 ? 1 : colour[k];
    return BOUGH_OK;
}

static bough_status need_positive(const bo_xml *xml, const bo_xml_element *at, const char *name, int count,
                                  double *values) {
    BO_TRY(bo_xml_need_numbers(xml, at, name, count, values));
    for (int k = 0; k < count; k++)
        if (!(values[k] > 0))
            return bo_xml_fail(xml, at, "%s is %g m; it must be above 0", name, values[k]);
    return BOUGH_OK;
}

static bough_status read_mesh(const shape_reader *r, const bo_xml_element *at, bough_urdf_shape *shape) {
    const char *name;
    BO_TRY(bo_xml_must(&r->u->xml, at, "filename", &name));
    shape->size[0] = shape->size[1] = shape->size[2] = 1;
    BO_TRY(bo_xml_numbers(&r->u->xml, at, "scale", 3, shape->size));
    shape->mesh = bo_strdup(r->ctx, name);
    return shape->mesh ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

static bough_status read_geometry(const shape_reader *r, const bo_xml_element *of, bough_urdf_shape *shape) {
    static const char *const names[] = {"box", "cylinder", "capsule", "sphere", "mesh"};
    const bo_xml *xml = &r->u->xml;
    const bo_xml_element *at = bo_xml_child(xml, bo_xml_child(xml, of, "geometry"), NULL);
    if (!at)
        return bo_xml_fail(xml, of, "has no <geometry> with a shape in it");
    int kind = 0;
    while (kind < 5 && !bo_xml_is(at, names[kind]))
        kind++;
    shape->kind = (bough_urdf_shape_kind)kind;
    switch (kind) {
    case BOUGH_URDF_BOX:
        return need_positive(xml, at, "size", 3, shape->size);
    case BOUGH_URDF_CYLINDER:
    case BOUGH_URDF_CAPSULE:
        BO_TRY(need_positive(xml, at, "radius", 1, &shape->size[0]));
        return need_positive(xml, at, "length", 1, &shape->size[1]);
    case BOUGH_URDF_SPHERE:
        return need_positive(xml, at, "radius", 1, &shape->size[0]);
    case BOUGH_URDF_MESH:
        return read_mesh(r, at, shape);
    default:
        return bo_xml_fail(xml, at, "is no shape; there are box, cylinder, capsule, sphere, mesh");
    }
}

static bough_status read_shape(const shape_reader *r, const bo_xml_element *at, const bo_urdf_link *link,
                               bough_urdf_shape *shape) {
    bo_se3 origin;
    shape->collision = bo_xml_is(at, "collision");
    shape->link = r->u->links[link->head].index;
    BO_TRY(bo_urdf_origin(r->u, at, &origin));
    const bo_se3 frame = bo_se3_mul(link->in_head, origin);
    memcpy(shape->frame.rotation, frame.R.m, sizeof frame.R.m);
    bo_store3(shape->frame.position, frame.t);
    BO_TRY(read_colour(r, at, shape->colour));
    return read_geometry(r, at, shape);
}

static bool is_shape(const bo_xml_element *e) {
    return bo_xml_is(e, "visual") || bo_xml_is(e, "collision");
}

static bough_status read_shapes(const shape_reader *r, bough_urdf *out) {
    const bo_xml *xml = &r->u->xml;
    int32_t count = 0;
    for (int32_t i = 0; i < r->u->link_count; i++)
        for (const bo_xml_element *e = bo_xml_child(xml, r->u->links[i].at, NULL); e; e = bo_xml_next(xml, e, NULL))
            count += is_shape(e);
    out->shapes = BO_NEW_ZEROS(r->ctx, bough_urdf_shape, count);
    if (!out->shapes)
        return BOUGH_ERROR_MEMORY;
    out->shape_count = count;
    count = 0;
    for (int32_t i = 0; i < r->u->link_count; i++)
        for (const bo_xml_element *e = bo_xml_child(xml, r->u->links[i].at, NULL); e; e = bo_xml_next(xml, e, NULL))
            if (is_shape(e))
                BO_TRY(read_shape(r, e, &r->u->links[i], &out->shapes[count++]));
    return BOUGH_OK;
}

bough_status bo_urdf_shapes(bough_context *ctx, const bo_urdf *u, bough_urdf *out) {
    shape_reader r = {.ctx = ctx, .u = u};
    const bo_xml_element *const robot = &u->xml.elements[0];
    for (const bo_xml_element *e = bo_xml_child(&u->xml, robot, "material"); e; e = bo_xml_next(&u->xml, e, "material"))
        r.material_count++;
    r.materials = BO_NEW_ARRAY(ctx, bo_name, r.material_count);
    if (!r.materials)
        return BOUGH_ERROR_MEMORY;
    int32_t k = 0;
    for (const bo_xml_element *e = bo_xml_child(&u->xml, robot, "material"); e;
         e = bo_xml_next(&u->xml, e, "material")) {
        const char *name = bo_xml_get(&u->xml, e, "name");
        r.materials[k++] = (bo_name){name ? name : "", (int32_t)(e - u->xml.elements)};
    }
    bo_names_sort(r.materials, r.material_count);
    const bough_status status = read_shapes(&r, out);
    bo_free(ctx, r.materials);
    return status;
}
