/* Geoms and inertials of MJCF: shapes to be seen or to touch, and the masses of bodies. */
#include "scene/mjcf.h"

#include "base/pose.h"

#include <string.h>

enum { SPHERE, CAPSULE, CYLINDER, BOX, ELLIPSOID, MESH, PLANE, KINDS };

typedef struct {
    int kind;
    bo_se3 frame;
    double size[3]; /* radius and half length, or half axes */
    const bo_xml_element *mesh;
} geom;

/* ---- reading ---- */

/* Up to three numbers; *count: as many as there are. */
static bough_status read_size(const bo_mjcf *m, const bo_xml_element *e, double size[3], int *count) {
    const bo_xml_element *holder = bo_mjcf_holder(m, e, "size");
    const char *p = bo_xml_get(m->xml, holder, "size");
    *count = 0;
    for (p = p ? p + strspn(p, " \t\n\r") : ""; *p; p += strspn(p, " \t\n\r"), (*count)++)
        p += strcspn(p, " \t\n\r");
    if (*count == 0)
        return BOUGH_OK;
    *count = *count > 3 ? 3 : *count; /* more are told of by the next line */
    return bo_xml_numbers(m->xml, holder, "size", *count, size);
}

/* From one end to the other: the middle, z along it, and half the length. */
static bough_status read_ends(const bo_mjcf *m, const bo_xml_element *e, geom *g, int *count) {
    double ends[6];
    if (g->kind == SPHERE || g->kind == MESH || g->kind == PLANE)
        return bo_xml_fail(m->xml, e, "fromto is for capsules, cylinders, boxes and ellipsoids");
    BO_TRY(bo_mjcf_numbers(m, e, "fromto", 6, ends));
    const bo_vec3 a = bo_load3(ends), b = bo_load3(ends + 3), along = bo_sub(b, a);
    if (!(bo_norm(along) > 1e-9))
        return bo_xml_fail(m->xml, e, "fromto has no length");
    g->frame = (bo_se3){bo_turn_z_to(along), bo_scale(0.5, bo_add(a, b))};
    const bool round = g->kind == CAPSULE || g->kind == CYLINDER;
    if (!round)
        g->size[1] = g->size[0];
    g->size[round ? 1 : 2] = bo_norm(along) / 2;
    *count = *count > 0 ? 3 : 0;
    return BOUGH_OK;
}

/* <mesh name="..." file="..." scale="1 1 1"/> of the assets; one without a name has that of its file. */
static bough_status find_mesh(const bo_mjcf *m, const bo_xml_element *e, geom *g) {
    const char *name;
    const bo_xml_element *root = &m->xml->elements[0];
    BO_TRY(bo_xml_must(m->xml, e, "mesh", &name));
    const size_t length = strlen(name);
    for (const bo_xml_element *a = bo_xml_child(m->xml, root, "asset"); a; a = bo_xml_next(m->xml, a, "asset"))
        for (const bo_xml_element *s = bo_xml_child(m->xml, a, "mesh"); s; s = bo_xml_next(m->xml, s, "mesh")) {
            const char *own = bo_xml_get(m->xml, s, "name"), *file = bo_xml_get(m->xml, s, "file");
            const char *slash = file ? strrchr(file, '/') : NULL, *base = slash ? slash + 1 : file;
            if (own ? strcmp(own, name) == 0 : base && strncmp(base, name, length) == 0 && base[length] == '.')
                g->mesh = s;
        }
    return g->mesh ? BOUGH_OK : bo_xml_fail(m->xml, e, "there is no mesh \"%.60s\" in <asset>", name);
}

static bough_status read_geom(const bo_mjcf *m, const bo_xml_element *e, geom *g) {
    static const char *const types[KINDS] = {"sphere", "capsule", "cylinder", "box", "ellipsoid", "mesh", "plane"};
    static const int needed[KINDS] = {1, 2, 2, 3, 3, 0, 0};
    const char *type = bo_mjcf_get(m, e, "type");
    int count;
    *g = (geom){.kind = SPHERE};
    BO_TRY(bo_mjcf_check(m, e, BO_MJCF_GEOM_KEYS, BO_MJCF_GEOM_IGNORED));
    while (type && g->kind < KINDS && strcmp(type, types[g->kind]) != 0)
        g->kind++;
    if (g->kind == KINDS)
        return bo_xml_refuse(m->xml, e,
                             "the type \"%.60s\" is not supported; Bough takes sphere, capsule, cylinder, box, "
                             "ellipsoid, mesh, plane",
                             type);
    BO_TRY(read_size(m, e, g->size, &count));
    BO_TRY(bo_mjcf_pose(m, e, &g->frame));
    if (bo_mjcf_get(m, e, "fromto"))
        BO_TRY(read_ends(m, e, g, &count));
    if (g->kind == MESH)
        return find_mesh(m, e, g);
    if (count < needed[g->kind])
        return bo_xml_fail(m->xml, e, "size of a %s needs %d numbers, not %d", types[g->kind], needed[g->kind], count);
    for (int k = 0; k < needed[g->kind]; k++)
        if (!(g->size[k] > 0))
            return bo_xml_fail(m->xml, e, "size has %g; it must be above 0", g->size[k]);
    return BOUGH_OK;
}

/* ---- masses ---- */

/* Mass and inertia of a geom at density 1, about its middle in its axes. */
static bough_status measure(bough_context *ctx, const geom *g, bough_rigid_body_def *body) {
    static const bo_form forms[] = {BO_FORM_SPHERE, BO_FORM_CAPSULE, BO_FORM_CYLINDER, BO_FORM_BOX};
    const double a = g->size[0], b = g->size[1], c = g->size[2];
    bo_scene_shape shape = {.def = bough_default_shape_def(), .radius = a, .length = 2 * b};
    const bo_scene_shapes one = {1, &shape};
    if (g->kind == ELLIPSOID) {
        const double mass = 4 * M_PI / 3 * a * b * c, x = a * a / 5, y = b * b / 5,
                     z = c * c / 5; /* means of squares */
        const bo_mat3 I = {{mass * (y + z), 0, 0, 0, mass * (x + z), 0, 0, 0, mass * (x + y)}};
        body->mass = mass;
        memcpy(body->inertia, I.m, sizeof I.m);
        return BOUGH_OK;
    }
    shape.form = forms[g->kind];
    shape.def.radius = a;
    memcpy(shape.def.half, g->size, sizeof shape.def.half);
    return bo_shapes_weigh(ctx, &one, 1, body);
}

/* A body's mass, first moment and inertia about its origin, summed over geoms. */
typedef struct {
    double mass;
    bo_vec3 first;
    bo_mat3 second;
} weight;

static void add_weight(weight *w, double mass, bo_se3 frame, bo_mat3 own) {
    const bo_mat3 d = bo_hat(frame.t);
    w->mass += mass;
    w->first = bo_mul_add(w->first, mass, frame.t);
    w->second = bo_mat_add(w->second, bo_mat_mul(frame.R, bo_mat_mul(own, bo_transpose(frame.R))));
    w->second = bo_mat_add(w->second, bo_mat_scale(-mass, bo_mat_mul(d, d)));
}

static bough_status weigh(const bo_mjcf *m, const bo_xml_element *e, const geom *g, weight *w) {
    bough_rigid_body_def unit = bough_default_rigid_body_def();
    double density = 1000, mass = -1;
    BO_TRY(bo_mjcf_numbers(m, e, "density", 1, &density));
    BO_TRY(bo_mjcf_numbers(m, e, "mass", 1, &mass));
    if (bo_mjcf_get(m, e, "mass") ? !(mass >= 0) : !(density >= 0))
        return bo_xml_fail(m->xml, e, "mass and density must be 0 or more");
    if (g->kind == PLANE || (mass == 0 || (mass < 0 && density == 0)))
        return BOUGH_OK;
    if (g->kind == MESH)
        return bo_xml_refuse(m->xml, e, "the mass of a mesh is not found; give its body an <inertial>");
    BO_TRY(measure(m->robot->ctx, g, &unit));
    mass = mass >= 0 ? mass : density * unit.mass;
    bo_mat3 own;
    memcpy(own.m, unit.inertia, sizeof own.m);
    own = bo_mat_scale(mass / unit.mass, own);
    add_weight(w, mass, g->frame, own);
    return BOUGH_OK;
}

static void take_weight(const weight *w, bough_rigid_body_def *body) {
    if (!(w->mass > 0))
        return;
    const bo_vec3 c = bo_scale(1 / w->mass, w->first);
    const bo_mat3 d = bo_hat(c), I = bo_sym(bo_mat_add(w->second, bo_mat_scale(w->mass, bo_mat_mul(d, d))));
    body->mass = w->mass;
    bo_store3(body->centre, c);
    memcpy(body->inertia, I.m, sizeof I.m);
}

static bough_status read_inertial(const bo_mjcf *m, const bo_xml_element *e, bough_rigid_body_def *body) {
    const bool full = bo_xml_get(m->xml, e, "fullinertia"), diagonal = bo_xml_get(m->xml, e, "diaginertia");
    double I[6] = {0}; /* xx, yy, zz, xy, xz, yz */
    bo_se3 frame;
    BO_TRY(bo_mjcf_check(m, e, " pos mass diaginertia fullinertia" BO_MJCF_TURNS, "  "));
    BO_TRY(bo_mjcf_pose(m, e, &frame));
    BO_TRY(bo_xml_need_numbers(m->xml, e, "mass", 1, &body->mass));
    if (!(body->mass >= 0))
        return bo_xml_fail(m->xml, e, "mass is %g kg; it must not be negative", body->mass);
    if (full == diagonal)
        return bo_xml_fail(m->xml, e, "needs diaginertia or fullinertia, one of them");
    BO_TRY(bo_xml_numbers(m->xml, e, full ? "fullinertia" : "diaginertia", full ? 6 : 3, I));
    const bo_mat3 own = {{I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]}};
    const bo_mat3 turned = bo_sym(bo_mat_mul(frame.R, bo_mat_mul(own, bo_transpose(frame.R))));
    bo_store3(body->centre, frame.t);
    memcpy(body->inertia, turned.m, sizeof turned.m);
    return BOUGH_OK;
}

/* ---- shapes ---- */

/* Points of an ellipsoid on rings; nothing else in a scene has its form. */
static json_t *ellipsoid(const double half[3]) {
    enum { RINGS = 7, SIDES = 12 };
    json_t *points = json_array();
    for (int i = 0; i <= RINGS + 1; i++) {
        const double latitude = M_PI * i / (RINGS + 1), r = sin(latitude);
        const int sides = i == 0 || i == RINGS + 1 ? 1 : SIDES;
        for (int k = 0; k < sides; k++) {
            const double turn = 2 * M_PI * k / SIDES;
            json_array_append_new(points, json_pack("[f,f,f]", half[0] * r * cos(turn), half[1] * r * sin(turn),
                                                    half[2] * cos(latitude)));
        }
    }
    return json_pack("{s:o}", "hull", points);
}

static bough_status make_form(const bo_mjcf *m, const bo_xml_element *e, const geom *g, json_t **form) {
    const double *s = g->size;
    double scale[3] = {1, 1, 1};
    const char *file;
    switch (g->kind) {
    case SPHERE:
        *form = json_pack("{s:f}", "sphere", s[0]);
        return BOUGH_OK;
    case CAPSULE:
    case CYLINDER:
        *form = json_pack("{s:[f,f]}", g->kind == CAPSULE ? "capsule" : "cylinder", s[0], 2 * s[1]);
        return BOUGH_OK;
    case BOX:
        *form = json_pack("{s:[f,f,f]}", "box", 2 * s[0], 2 * s[1], 2 * s[2]);
        return BOUGH_OK;
    case ELLIPSOID:
        *form = ellipsoid(s);
        return BOUGH_OK;
    default:
        BO_TRY(bo_xml_must(m->xml, g->mesh, "file", &file));
        BO_TRY(bo_xml_numbers(m->xml, g->mesh, "scale", 3, scale));
        return bo_robot_mesh(m->robot, e, m->meshes, file, scale, m->path, form);
    }
}

/* A geom that can touch nothing is to be seen only. */
static bough_status add_shape(const bo_mjcf *m, const bo_xml_element *e, const geom *g, int32_t link) {
    double rgba[4] = {-1, 0, 0, 1}, type = 1, affinity = 1;
    json_t *form = NULL;
    if (g->kind == PLANE) {
        bo_xml_warn(m->xml, e, "a plane is not drawn");
        return BOUGH_OK;
    }
    BO_TRY(bo_mjcf_numbers(m, e, "rgba", 4, rgba));
    BO_TRY(bo_mjcf_numbers(m, e, "contype", 1, &type));
    BO_TRY(bo_mjcf_numbers(m, e, "conaffinity", 1, &affinity));
    BO_TRY(make_form(m, e, g, &form));
    if (!form)
        return g->kind == MESH ? BOUGH_OK : bo_fail_memory(m->robot->ctx);
    bool shown = true;
    for (int k = 0; k < 3; k++)
        shown = shown && rgba[k] >= 0 && rgba[k] <= 1;
    if (shown)
        json_object_set_new(form, "colour", json_pack("[f,f,f]", rgba[0], rgba[1], rgba[2]));
    return bo_robot_add_shape(m->robot, link, g->frame, type != 0 || affinity != 0, form);
}

bough_status bo_mjcf_geoms(const bo_mjcf *m, const bo_xml_element *body, int32_t link) {
    const bo_xml_element *inertial = bo_xml_child(m->xml, body, "inertial");
    weight sum = {0};
    if (inertial && bo_xml_next(m->xml, inertial, "inertial"))
        return bo_xml_fail(m->xml, bo_xml_next(m->xml, inertial, "inertial"), "the body has one already");
    const bool by_geoms = m->inertia == BO_MJCF_GEOMS_ONLY || (m->inertia == BO_MJCF_AUTOMATIC && !inertial);
    for (const bo_xml_element *e = bo_xml_child(m->xml, body, "geom"); e; e = bo_xml_next(m->xml, e, "geom")) {
        geom g;
        BO_TRY(read_geom(m, e, &g));
        BO_TRY(add_shape(m, e, &g, link));
        if (by_geoms && link > 0)
            BO_TRY(weigh(m, e, &g, &sum));
    }
    if (by_geoms)
        take_weight(&sum, &m->robot->links[link].body);
    else if (inertial)
        return read_inertial(m, inertial, &m->robot->links[link].body);
    return BOUGH_OK;
}
