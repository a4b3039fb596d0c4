#include <bough/scene.h>

#include "scene/bodies_file.h"
#include "scene/entries.h"
#include "scene/scene.h"

#include <string.h>

bough_status bo_scene_version(bo_json block) {
    int32_t version = 0;
    bo_json root = block;
    while (root.parent)
        root = *root.parent;
    bo_json at = bo_json_must(&root, "bough");
    BO_TRY(bo_json_integer(at, 0, INT32_MAX, &version));
    if (version != BO_SCENE_VERSION)
        return bo_json_fail(at, "version %d is unknown; this program reads version %d", version, BO_SCENE_VERSION);
    return BOUGH_OK;
}

/* ---- materials ---- */

bough_status bo_scene_material(bo_json at, bough_material *material) {
    static const char *const models[] = {
#define MODEL_NAME(name, text, about) text,
        BOUGH_MATERIAL_LIST(MODEL_NAME)
#undef MODEL_NAME
    };
    int32_t model = (int32_t)material->model;
    BO_TRY(bo_json_keys(at, BO_MATERIAL_KEYS));
    BO_TRY(bo_json_choice(bo_json_at(&at, "model"), models, BOUGH_MATERIAL_MODEL_COUNT, &model));
    material->model = (bough_material_model)model;
    BO_TRY(bo_json_number(bo_json_at(&at, "young"), BO_POSITIVE, &material->young));
    BO_TRY(bo_json_number(bo_json_at(&at, "poisson"), (bo_range){-1, 0.5, true}, &material->poisson));
    BO_TRY(bo_json_number(bo_json_at(&at, "density"), BO_POSITIVE, &material->density));
    return bo_json_number(bo_json_at(&at, "mooney_ratio"), (bo_range){0, 1, false}, &material->mooney_ratio);
}

static bough_status read_regions(bo_json at, bough_body_def *def, bough_body_region **regions) {
    int32_t count;
    BO_TRY(bo_json_list(at, &count));
    *regions = BO_NEW_ZEROS(at.ctx, bough_body_region, count);
    if (!*regions)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++) {
        bo_json item = bo_json_item(&at, i);
        bo_json material = bo_json_must(&item, "material");
        (*regions)[i].material = def->material;
        BO_TRY(bo_json_keys(item, BO_REGION_KEYS));
        BO_TRY(bo_json_string(bo_json_must(&item, "set"), &(*regions)[i].set));
        BO_TRY(bo_scene_material(material, &(*regions)[i].material));
    }
    def->regions = *regions;
    def->region_count = count;
    return BOUGH_OK;
}

static bough_status check_regions(bo_json at, const bough_mesh *mesh, const bough_body_def *def) {
    for (int32_t i = 0; i < def->region_count; i++) {
        const bough_set *set;
        bo_json item = bo_json_item(&at, i);
        BO_TRY(bo_scene_find_set(bo_json_at(&item, "set"), mesh, BOUGH_SET_ELEMENT, def->regions[i].set, &set));
    }
    return BOUGH_OK;
}

/* The body file overrides the mesh file, unless it asks for use_mesh_materials by name. A body def knows all or
 * nothing, so constants of the mesh that are overridden one by one are overwritten in the mesh. */
static void overrule_mesh_materials(const bo_json *root, const bough_body_def *def, bough_mesh *mesh) {
    bo_json at = bo_json_at(root, "material");
    if (bo_json_has(root, "use_mesh_materials"))
        return;
    for (int32_t i = 0; i < mesh->material_count; i++) {
        if (bo_json_has(&at, "poisson"))
            mesh->materials[i].poisson = def->material.poisson;
        if (bo_json_has(&at, "density"))
            mesh->materials[i].density = def->material.density;
    }
}

/* ---- supports and loads: with no load case they are checked only ---- */

typedef struct {
    bough_load_case *load_case;
    bo_drive *drive; /* NULL: curves are not known here */
} target;

static const bough_mesh *mesh_of(target to) {
    return to.load_case ? bough_body_mesh(bough_load_case_body(to.load_case)) : NULL;
}

/* *curve stays -1 when none is named. */
static bough_status read_curve(bo_json at, target to, int32_t *curve) {
    const char *name = NULL;
    *curve = -1;
    BO_TRY(bo_json_string(at, &name));
    if (!name)
        return BOUGH_OK;
    *curve = bo_drive_find(to.drive, name);
    return *curve < 0 ? bo_json_fail(at, "there is no curve \"%.60s\" under \"curves\"", name) : BOUGH_OK;
}

static bough_status read_axes(bo_json at, int *axes) {
    const char *letters = "xyz";
    BO_TRY(bo_json_string(at, &letters));
    *axes = 0;
    for (const char *c = letters; *c; c++) {
        int bit = *c >= 'x' && *c <= 'z' ? 1 << (*c - 'x') : 0;
        if (!bit || (*axes & bit))
            return bo_json_fail(at, "must be some of the letters x, y and z, each once, not \"%.20s\"", letters);
        *axes |= bit;
    }
    return BOUGH_OK;
}

static bough_status read_displacement(bo_json at, int axes, double displacement[3]) {
    BO_TRY(bo_json_vec3(at, BO_ANY, displacement));
    for (int d = 0; d < 3; d++)
        if (displacement[d] != 0 && !(axes >> d & 1))
            return bo_json_fail(at, "moves along %c, which is not among the axes", 'x' + d);
    return BOUGH_OK;
}

static bough_status read_support(bo_json at, target to) {
    int axes = BOUGH_AXES;
    int32_t *vertices, count, curve = -1;
    double displacement[3] = {0};
    bo_json select = at;
    if (!json_is_string(at.value)) {
        BO_TRY(to.drive ? bo_json_keys(at, BO_MOVING_FIX_KEYS) : bo_json_keys(at, BO_FIX_KEYS));
        BO_TRY(read_axes(bo_json_at(&at, "axes"), &axes));
        BO_TRY(read_displacement(bo_json_at(&at, "displacement"), axes, displacement));
        BO_TRY(read_curve(bo_json_at(&at, "curve"), to, &curve));
        if (curve >= 0 && !bo_json_has(&at, "displacement"))
            return bo_json_fail(at, "names a curve, but no displacement that follows it");
        select = bo_json_must(&at, "select");
    }
    BO_TRY(bo_scene_select(select, mesh_of(to), &vertices, &count));
    if (!to.load_case)
        return BOUGH_OK;
    bough_status status = to.drive
                              ? bo_drive_fix(at.ctx, to.drive, to.load_case, curve, vertices, count, axes, displacement)
                              : bough_load_case_fix(at.ctx, to.load_case, vertices, count, axes, displacement);
    bo_free(at.ctx, vertices);
    return bo_json_explain(at, status);
}

static bough_status read_force(bo_json at, target to) {
    int32_t *vertices, count, curve;
    double force[3] = {0};
    BO_TRY(to.drive ? bo_json_keys(at, BO_MOVING_FORCE_KEYS) : bo_json_keys(at, BO_FORCE_KEYS));
    BO_TRY(bo_json_vec3(bo_json_must(&at, "force"), BO_ANY, force));
    BO_TRY(read_curve(bo_json_at(&at, "curve"), to, &curve));
    BO_TRY(bo_scene_select(bo_json_must(&at, "select"), mesh_of(to), &vertices, &count));
    if (!to.load_case)
        return BOUGH_OK;
    bough_status status =
        curve < 0 ? bough_load_case_add_force(at.ctx, to.load_case, vertices, count, force)
                  : bo_drive_force(at.ctx, to.drive, bough_load_case_body(to.load_case), curve, vertices, count, force);
    bo_free(at.ctx, vertices);
    return bo_json_explain(at, status);
}

static bough_status read_pressure(bo_json at, target to) {
    const char *name = NULL;
    const bough_set *set;
    int32_t curve;
    double pressure = 0;
    bo_json faces = bo_json_must(&at, "faces");
    BO_TRY(to.drive ? bo_json_keys(at, BO_MOVING_PRESSURE_KEYS) : bo_json_keys(at, BO_PRESSURE_KEYS));
    BO_TRY(bo_json_number(bo_json_must(&at, "pressure"), BO_ANY, &pressure));
    BO_TRY(read_curve(bo_json_at(&at, "curve"), to, &curve));
    BO_TRY(bo_json_string(faces, &name));
    if (!to.load_case)
        return BOUGH_OK;
    BO_TRY(bo_scene_find_set(faces, mesh_of(to), BOUGH_SET_FACE, name, &set));
    return bo_json_explain(
        at, curve < 0 ? bough_load_case_add_pressure(at.ctx, to.load_case, set->items, set->count, pressure)
                      : bo_drive_add_pressure(at.ctx, to.drive, to.load_case, curve, set->items, set->count, pressure));
}

static bough_status read_gravity(bo_json at, target to) {
    double g[3] = {0};
    int32_t curve = -1;
    if (to.drive && json_is_object(at.value)) {
        BO_TRY(bo_json_keys(at, BO_MOVING_GRAVITY_KEYS));
        BO_TRY(bo_json_vec3(bo_json_must(&at, "acceleration"), BO_ANY, g));
        BO_TRY(read_curve(bo_json_at(&at, "curve"), to, &curve));
    } else {
        BO_TRY(bo_json_vec3(at, BO_ANY, g));
    }
    if (!to.load_case)
        return BOUGH_OK;
    return bo_json_explain(at, curve < 0
                                   ? bough_load_case_set_gravity(at.ctx, to.load_case, g)
                                   : bo_drive_gravity(at.ctx, to.drive, bough_load_case_body(to.load_case), curve, g));
}

static bough_status read_each(bo_json at, bough_status (*read)(bo_json, target), target to) {
    int32_t count;
    BO_TRY(bo_json_list(at, &count));
    for (int32_t i = 0; i < count; i++)
        BO_TRY(read(bo_json_item(&at, i), to));
    return BOUGH_OK;
}

static bough_status read_supports_and_loads(const bo_json *root, target to) {
    bo_json fix = bo_json_at(root, "fix");
    bool single = json_is_string(fix.value) || json_is_object(fix.value);
    BO_TRY(single ? read_support(fix, to) : read_each(fix, read_support, to));
    BO_TRY(read_gravity(bo_json_at(root, "gravity"), to));
    BO_TRY(read_each(bo_json_at(root, "forces"), read_force, to));
    return read_each(bo_json_at(root, "pressures"), read_pressure, to);
}

/* ---- the file ---- */

static bough_status read_def(const bo_json *root, bough_body_def *def, bough_body_region **regions) {
    static const char *const masses[] = {"consistent", "reduced", "lumped"}; /* as in bough_mass_kind */
    const char *ignored;
    int32_t mass = BOUGH_MASS_CONSISTENT;
    bo_json material = bo_json_at(root, "material"), damping = bo_json_at(root, "damping");
    BO_TRY(bo_scene_version(*root));
    BO_TRY(bo_json_string(bo_json_at(root, "$schema"), &ignored));
    BO_TRY(bo_json_string(bo_json_at(root, "name"), &ignored));
    BO_TRY(bo_scene_material(material, &def->material));
    def->use_mesh_materials = !bo_json_has(&material, "young");
    BO_TRY(bo_json_flag(bo_json_at(root, "use_mesh_materials"), &def->use_mesh_materials));
    BO_TRY(bo_json_choice(bo_json_at(root, "mass"), masses, 3, &mass));
    def->mass = (bough_mass_kind)mass;
    BO_TRY(bo_json_keys(damping, BO_DAMPING_KEYS));
    BO_TRY(bo_json_number(bo_json_at(&damping, "mass"), BO_NOT_NEGATIVE, &def->damping_mass));
    BO_TRY(bo_json_number(bo_json_at(&damping, "stiffness"), BO_NOT_NEGATIVE, &def->damping_stiffness));
    return read_regions(bo_json_at(root, "regions"), def, regions);
}

/* ---- several bodies: one mesh with a region for each ---- */

static bough_status check_bodies(const bo_json *root, const bough_body_def *def) {
    static const char *const others[] = {"mesh", "regions", "use_mesh_materials"};
    bough_body_region *regions;
    int32_t count;
    for (int i = 0; i < 3; i++)
        if (bo_json_has(root, others[i]))
            return bo_json_fail(bo_json_at(root, others[i]), "does not go with \"bodies\", which have meshes and "
                                                             "materials of their own");
    const bough_status status = bo_scene_bodies(bo_json_at(root, "bodies"), &def->material, &regions, &count, NULL);
    bo_free(root->ctx, regions);
    return status;
}

static bough_status join_bodies(bo_json bodies, bo_body_draft *draft) {
    bo_free(bodies.ctx, draft->regions); /* there are none */
    draft->regions = NULL, draft->def.regions = NULL, draft->def.region_count = 0;
    BO_TRY(bo_scene_bodies(bodies, &draft->def.material, &draft->regions, &draft->def.region_count, &draft->mesh));
    draft->def.regions = draft->regions;
    return BOUGH_OK;
}

/* First everything is checked that needs no mesh; then comes the work, which can take minutes. */
bough_status bo_scene_draft(const bo_json *root, bo_drive *drive, bo_body_draft *draft) {
    bo_json mesh = bo_json_must(root, "mesh"), sets = bo_json_at(root, "sets"), bodies = bo_json_at(root, "bodies");
    *draft = (bo_body_draft){.def = bough_default_body_def()};
    BO_TRY(read_def(root, &draft->def, &draft->regions));
    BO_TRY(bodies.value ? check_bodies(root, &draft->def) : bo_scene_mesh(mesh, NULL));
    BO_TRY(bo_scene_sets(sets, NULL));
    BO_TRY(read_supports_and_loads(root, (target){NULL, drive}));
    BO_TRY(bodies.value ? join_bodies(bodies, draft) : bo_scene_mesh(mesh, &draft->mesh));
    BO_TRY(bo_scene_sets(sets, draft->mesh));
    if (!bodies.value)
        BO_TRY(check_regions(bo_json_at(root, "regions"), draft->mesh, &draft->def));
    overrule_mesh_materials(root, &draft->def, draft->mesh);
    return BOUGH_OK;
}

void bo_scene_draft_free(bough_context *ctx, bo_body_draft *draft) {
    bo_free(ctx, draft->regions);
    bough_mesh_destroy(ctx, draft->mesh);
    *draft = (bo_body_draft){0};
}

/* The def for a part of the mesh: without regions that have nothing in it. */
static bough_status restrict_def(bough_context *ctx, const bough_body_def *def, const bough_mesh *mesh,
                                 bough_body_def *restricted, bough_body_region **regions) {
    *restricted = *def;
    *regions = BO_NEW_ARRAY(ctx, bough_body_region, def->region_count);
    if (!*regions)
        return BOUGH_ERROR_MEMORY;
    restricted->regions = *regions;
    restricted->region_count = 0;
    for (int32_t i = 0; i < def->region_count; i++)
        if (bough_mesh_find_set(mesh, BOUGH_SET_ELEMENT, def->regions[i].set))
            (*regions)[restricted->region_count++] = def->regions[i];
    return BOUGH_OK;
}

bough_status bo_scene_draft_body(const bo_json *root, const bo_body_draft *draft, const bough_mesh *mesh,
                                 bo_drive *drive, bough_body **body, bough_load_case **load_case) {
    bough_body_def def;
    bough_body_region *regions = NULL;
    *body = NULL;
    *load_case = NULL;
    BO_TRY(restrict_def(root->ctx, &draft->def, mesh, &def, &regions));
    /* All else was checked, so that what is left to complain about is the mesh. */
    bough_status status = bo_json_explain(
        bo_json_at(root, bo_json_has(root, "bodies") ? "bodies" : "mesh"), bough_body_create(root->ctx, mesh, &def, body));
    bo_free(root->ctx, regions);
    if (status == BOUGH_OK)
        status = bough_load_case_create(root->ctx, *body, load_case);
    if (status == BOUGH_OK)
        status = read_supports_and_loads(root, (target){*load_case, drive});
    if (status != BOUGH_OK) {
        bough_load_case_destroy(root->ctx, *load_case);
        bough_body_destroy(root->ctx, *body);
        *load_case = NULL;
        *body = NULL;
    }
    return status;
}

bough_status bo_scene_body(const bo_json *root, bo_drive *drive, bough_body **body, bough_load_case **load_case) {
    bo_body_draft draft;
    *body = NULL;
    *load_case = NULL;
    bough_status status = bo_scene_draft(root, drive, &draft);
    if (status == BOUGH_OK)
        status = bo_scene_draft_body(root, &draft, draft.mesh, drive, body, load_case);
    bo_scene_draft_free(root->ctx, &draft);
    return status;
}

bough_status bough_body_load(bough_context *ctx, const char *path, bough_body **body, bough_load_case **load_case) {
    *body = NULL;
    *load_case = NULL;
    bo_json root;
    BO_TRY(bo_json_load(ctx, path, &root));
    /* a component file holds a body, too */
    bool component = bo_json_has(&root, "interfaces") || bo_json_has(&root, "basis");
    bough_status status = bo_refuse_mechanism(&root);
    if (status == BOUGH_OK)
        status = component ? bo_json_keys(root, BO_COMPONENT_KEYS) : bo_json_keys(root, BO_BODY_KEYS);
    if (status == BOUGH_OK)
        status = bo_scene_body(&root, NULL, body, load_case);
    bo_json_free(&root);
    return status;
}
