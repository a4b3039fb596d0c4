/* "object": one mesh, cut into domains that become components and parts. */
#include "scene/assembly.h"
#include "scene/entries.h"

#include <string.h>

typedef struct {
    bo_json at; /* the object */
    bo_body_draft draft;
    bough_split *split;
    int32_t count, root;
    const char **names;              /* count: of the mesh's element sets */
    int32_t *parent, *order;         /* count: the tree of domains */
    int32_t *r;                      /* count: its own under basis.of, or its share of basis.total; -1: as basis says */
    bough_mesh *surface, **surfaces; /* to draw, whole and cut (count); NULL: the domains' own boundaries */
    bool int16;
} cutting;

/* ---- the domains ---- */

static bough_status list_domains(cutting *c) {
    bo_json at = bo_json_at(&c->at, "domains");
    const bough_mesh *mesh = c->draft.mesh;
    bool all = !at.value || (json_is_string(at.value) && !strcmp(json_string_value(at.value), "all"));
    int32_t room = mesh->set_count;
    if (!all)
        BO_TRY(bo_json_list(at, &room));
    c->names = BO_NEW_ZEROS(at.ctx, const char *, room);
    if (!c->names)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < room; i++) {
        if (!all)
            BO_TRY(bo_json_string(bo_json_item(&at, i), &c->names[c->count++]));
        else if (mesh->sets[i].kind == BOUGH_SET_ELEMENT)
            c->names[c->count++] = mesh->sets[i].name;
    }
    return c->count ? BOUGH_OK
                    : bo_json_fail(at, "%s",
                                   all ? "the mesh has no element sets that could be domains; name some under "
                                         "\"sets\""
                                       : "names no element set");
}

static void warn_about_touching(const cutting *c) {
    for (int32_t i = 0; i < c->split->touching_count; i++) {
        const bough_domain_touch *touch = &c->split->touching[i];
        bo_warn(c->at.ctx,
                "%s: object: the domains \"%s\" and \"%s\" have vertices in common (%d), but no face: nothing joins "
                "them, and they may come apart",
                c->at.file, c->names[touch->domains[0]], c->names[touch->domains[1]], touch->vertex_count);
    }
}

static bough_status cut_surface(cutting *c, const int32_t *domain) {
    bough_context *ctx = c->at.ctx;
    bo_json at = bo_json_at(&c->at, "surface");
    BO_TRY(bo_surface_read(at, &c->int16, &c->surface));
    if (!c->surface)
        return BOUGH_OK;
    c->surfaces = BO_NEW_ZEROS(ctx, bough_mesh *, c->count);
    if (!c->surfaces)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(
        bo_json_explain(at, bough_mesh_split_surface(ctx, c->draft.mesh, domain, c->count, c->surface, c->surfaces)));
    for (int32_t d = 0; d < c->count; d++)
        if (!c->surfaces[d])
            bo_warn(ctx,
                    "%s: object: no triangle of the surface lies at the domain \"%s\", whose own boundary is drawn",
                    c->at.file, c->names[d]);
    return BOUGH_OK;
}

static bough_status cut(cutting *c) {
    bough_context *ctx = c->at.ctx;
    bo_json domains = bo_json_at(&c->at, "domains");
    int32_t *domain;
    BO_TRY(
        bo_json_explain(domains, bough_mesh_domains_from_sets(ctx, c->draft.mesh, c->names, c->count, &domain, NULL)));
    bough_status status = bo_json_explain(domains, bough_mesh_split(ctx, c->draft.mesh, domain, c->count, &c->split));
    if (status == BOUGH_OK)
        status = cut_surface(c, domain);
    bo_free(ctx, domain);
    BO_TRY(status);
    warn_about_touching(c);
    BO_TRY(bo_json_choice(bo_json_at(&c->at, "root"), c->names, c->count, &c->root));
    c->parent = BO_NEW_ARRAY(ctx, int32_t, c->count);
    c->order = BO_NEW_ARRAY(ctx, int32_t, c->count);
    if (!c->parent || !c->order)
        return BOUGH_ERROR_MEMORY;
    return bo_json_explain(domains, bough_mesh_domain_tree(ctx, c->split, c->root, c->parent, c->order));
}

/* "basis": {"of": {DOMAIN: r}} */
static bough_status read_given_r(bo_json at, void *data) {
    cutting *c = data;
    for (int32_t d = 0; d < c->count; d++)
        if (!strcmp(c->names[d], at.key))
            return bo_json_integer(at, 0, BOUGH_MAX_COORDINATES, &c->r[d]);
    return bo_json_fail_word(at, "domain ", at.key, c->names, c->count);
}

/* "basis": {"total": N}: the domains without r of their own share what the others leave. */
static bough_status share_total(cutting *c, bo_json at, int32_t total) {
    bough_context *ctx = c->at.ctx;
    int32_t *elements = BO_NEW_ARRAY(ctx, int32_t, c->count), *shares = BO_NEW_ARRAY(ctx, int32_t, c->count);
    int32_t sharing = 0;
    int64_t given = 0;
    bough_status status = elements && shares ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t d = 0; d < c->count && status == BOUGH_OK; d++) {
        if (c->r[d] < 0)
            elements[sharing++] = c->split->domains[d].mesh->element_count;
        else
            given += c->r[d];
    }
    if (status == BOUGH_OK && (given > total || (!sharing && given < total)))
        status = bo_json_fail(at, "the domains under \"of\" have %lld coordinates together", (long long)given);
    if (status == BOUGH_OK && sharing)
        status = bo_json_explain(at, bough_share_modes(ctx, total - (int32_t)given, sharing, elements, shares));
    for (int32_t d = c->count - 1; d >= 0 && status == BOUGH_OK; d--)
        if (c->r[d] < 0)
            c->r[d] = shares[--sharing];
    bo_free(ctx, elements);
    bo_free(ctx, shares);
    return status;
}

static bough_status share_modes(cutting *c) {
    bo_json basis = bo_json_at(&c->at, "basis"), at = bo_json_at(&basis, "total");
    int32_t total = 0;
    if (!(c->r = BO_NEW_ARRAY(c->at.ctx, int32_t, c->count)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t d = 0; d < c->count; d++)
        c->r[d] = -1;
    BO_TRY(bo_json_named(bo_json_at(&basis, "of"), "domains", read_given_r, c));
    if (!at.value)
        return BOUGH_OK;
    BO_TRY(bo_json_integer(at, 1, INT32_MAX, &total));
    return share_total(c, at, total);
}

/* ---- one domain ---- */

/* Extracts the settings of the object for this domain, which are hashed and read for it. NULL: no memory. */
static json_t *describe_domain(const cutting *c, int32_t domain) {
    static const char *const of_object[] = {"mesh", "sets", "domains", "root"};
    json_t *block = json_copy(c->at.value);
    for (int i = 0; block && i < (int)(sizeof of_object / sizeof *of_object); i++)
        json_object_del(block, of_object[i]);
    if (block && domain != c->root)
        json_object_del(block, "fix");
    if (block && json_object_get(block, "basis")) {
        json_t *basis = json_copy(json_object_get(block, "basis"));
        json_object_del(basis, "total");
        json_object_del(basis, "of");
        bool failed = c->r[domain] >= 0 && json_object_set_new(basis, "r", json_integer(c->r[domain])) != 0;
        failed = json_object_set_new(block, "basis", basis) || failed;
        if (failed) {
            json_decref(block);
            return NULL;
        }
    }
    return block;
}

/* Both sides have the weights of the faces that they share, so that their centres are one place: which faces of a
 * domain an interface spans may differ between the two where the cut is jagged. */
static bough_status add_interface(bough_context *ctx, bough_cook_job *job, const char *name,
                                  const bough_domain_interface *shared, int side) {
    const int32_t count = shared->vertex_count;
    bough_interface_def *interface = &job->interfaces[job->def.interface_count];
    int32_t *copy = BO_NEW_ARRAY(ctx, int32_t, count);
    double *weights = BO_NEW_ARRAY(ctx, double, count);
    interface->name = bo_strdup(ctx, name);
    interface->vertices = copy;
    interface->vertex_count = count;
    interface->weights = weights;
    job->def.interface_count++; /* the job's from now on */
    if (!copy || !weights || !interface->name)
        return BOUGH_ERROR_MEMORY;
    memcpy(copy, shared->vertices[side], (size_t)count * sizeof *copy);
    memcpy(weights, shared->weights, (size_t)count * sizeof *weights);
    return BOUGH_OK;
}

/* One for each neighbour, under its name. */
static bough_status add_interfaces(const cutting *c, int32_t domain, bough_cook_job *job) {
    bough_context *ctx = c->at.ctx;
    job->interfaces = BO_NEW_ZEROS(ctx, bough_interface_def, c->split->interface_count);
    if (!job->interfaces)
        return BOUGH_ERROR_MEMORY;
    job->def.interfaces = job->interfaces;
    for (int32_t i = 0; i < c->split->interface_count; i++) {
        const bough_domain_interface *shared = &c->split->interfaces[i];
        int side = shared->domains[1] == domain;
        if (shared->domains[side] != domain)
            continue;
        int32_t neighbour = shared->domains[1 - side];
        if (neighbour == c->parent[domain])
            job->def.parent = job->def.interface_count;
        BO_TRY(add_interface(ctx, job, c->names[neighbour], shared, side));
    }
    return BOUGH_OK;
}

static bough_status fill_job(cutting *c, const bo_json *block, int32_t domain, bough_cook_job *job) {
    job->loads_follow = true;
    BO_TRY(bo_scene_draft_body(block, &c->draft, c->split->domains[domain].mesh, NULL, &job->body, &job->load_case));
    BO_TRY(add_interfaces(c, domain, job));
    BO_TRY(bo_cook_settings(block, job));
    job->def.surface_int16 = c->int16;
    if (c->surfaces) { /* the job's from now on */
        job->def.surface = job->surface = c->surfaces[domain];
        c->surfaces[domain] = NULL;
    }
    return bo_cook_job_seal(block, job);
}

static bough_status make_component(cutting *c, int32_t domain, bo_scene_component *component) {
    bough_context *ctx = c->at.ctx;
    bo_json block = c->at;
    char place[600];
    snprintf(place, sizeof place, "%.400s: the object's domain \"%.100s\"", c->at.file, c->names[domain]);
    component->name = bo_strdup(ctx, c->names[domain]);
    component->job = bo_cook_job_new(ctx, place, c->names[domain]);
    if (!component->name || !component->job)
        return BOUGH_ERROR_MEMORY;
    block.value = describe_domain(c, domain);
    bough_status status = block.value ? fill_job(c, &block, domain, component->job) : bo_fail_memory(ctx);
    json_decref(block.value);
    return status;
}

/* ---- all ---- */

/* Domains are parts where they are. */
static bough_status make_parts(const cutting *c, bo_assembly *assembly) {
    assembly->parts = BO_NEW_ZEROS(c->at.ctx, bo_part, c->count);
    if (!assembly->parts)
        return BOUGH_ERROR_MEMORY;
    assembly->part_count = c->count;
    for (int32_t d = 0; d < c->count; d++) {
        bo_part *part = &assembly->parts[d];
        *part = (bo_part){.component = d,
                          .parent = c->parent[d],
                          .interface_index = -1,
                          .scale = 1,
                          .stiffness = 1,
                          .damping_ratio = NAN};
        part->rotation = bo_identity3();
        if (!(part->name = bo_strdup(c->at.ctx, c->names[d])))
            return BOUGH_ERROR_MEMORY;
        if (part->parent < 0)
            continue;
        const bough_cook_def *def = &assembly->components[part->parent].job->def;
        for (int32_t i = 0; i < def->interface_count; i++)
            if (!strcmp(def->interfaces[i].name, c->names[d]))
                part->interface_index = i;
    }
    return BOUGH_OK;
}

/* The settings of all domains, looked at before there is a mesh. */
static bough_status check_settings(bo_json at) {
    bo_json basis = bo_json_at(&at, "basis");
    const char *ignored;
    BO_TRY(bo_json_keys(at, BO_OBJECT_KEYS));
    BO_TRY(bo_json_keys(basis, BO_OBJECT_BASIS_KEYS));
    BO_TRY(bo_json_keys(bo_json_at(&at, "samples"), BO_OBJECT_SAMPLES_KEYS));
    bool int16;
    BO_TRY(bo_surface_read(bo_json_at(&at, "surface"), &int16, NULL));
    if (bo_json_has(&basis, "total") && bo_json_has(&basis, "r"))
        return bo_json_fail(bo_json_at(&basis, "total"), "is shared out over the domains, so that \"r\" cannot be "
                                                         "given too");
    return bo_json_string(bo_json_at(&at, "root"), &ignored);
}

static bough_status surround(const cutting *c, bo_assembly *assembly) {
    const bo_object_cut cut = {&c->draft, c->split, c->names, c->parent, c->root};
    bo_json block = c->at;
    if (!(block.value = describe_domain(c, c->root)))
        return bo_fail_memory(c->at.ctx);
    json_object_del(block.value, "fix");
    bough_status status = bo_object_surround(&block, &cut, assembly);
    json_decref(block.value);
    return status;
}

static bough_status read_object(cutting *c, bo_assembly *assembly) {
    BO_TRY(check_settings(c->at));
    BO_TRY(bo_scene_draft(&c->at, NULL, &c->draft));
    BO_TRY(list_domains(c));
    BO_TRY(cut(c));
    BO_TRY(share_modes(c));
    assembly->components = BO_NEW_ZEROS(c->at.ctx, bo_scene_component, c->count);
    if (!assembly->components)
        return BOUGH_ERROR_MEMORY;
    assembly->component_count = c->count;
    for (int32_t d = 0; d < c->count; d++)
        BO_TRY(make_component(c, d, &assembly->components[d]));
    BO_TRY(surround(c, assembly));
    return make_parts(c, assembly);
}

static void free_cutting(cutting *c) {
    bough_context *ctx = c->at.ctx;
    bo_free(ctx, c->names);
    bo_free(ctx, c->parent);
    bo_free(ctx, c->order);
    bo_free(ctx, c->r);
    for (int32_t d = 0; d < c->count && c->surfaces; d++)
        bough_mesh_destroy(ctx, c->surfaces[d]);
    bo_free(ctx, c->surfaces);
    bough_mesh_destroy(ctx, c->surface);
    bough_split_destroy(ctx, c->split);
    bo_scene_draft_free(ctx, &c->draft);
}

bough_status bo_object_read(bo_json at, bo_assembly *assembly) {
    cutting c = {.at = at};
    bough_status status = read_object(&c, assembly);
    free_cutting(&c);
    return status;
}

/* ---- in one piece ---- */

/* The object is read a second time; files may have changed since. */
static bool is_same_cut(const cutting *c, const bo_assembly *assembly) {
    if (c->count != assembly->component_count)
        return false;
    for (int32_t d = 0; d < c->count; d++)
        if (c->split->domains[d].mesh->vertex_count != bough_body_mesh(assembly->components[d].job->body)->vertex_count)
            return false;
    return true;
}

static bough_status read_whole(cutting *c, const bo_assembly *assembly, bough_body **body, bo_domain_maps **maps) {
    bough_context *ctx = c->at.ctx;
    BO_TRY(check_settings(c->at));
    BO_TRY(bo_scene_draft(&c->at, NULL, &c->draft));
    BO_TRY(list_domains(c));
    BO_TRY(cut(c));
    if (!is_same_cut(c, assembly))
        return bo_json_fail(c->at, "was changed while the scene was in use");
    *maps = BO_NEW_ZEROS(ctx, bo_domain_maps, c->count);
    if (!*maps)
        return BOUGH_ERROR_MEMORY;
    for (int32_t d = 0; d < c->count; d++) { /* the split's until now */
        bough_domain *domain = &c->split->domains[d];
        (*maps)[d] = (bo_domain_maps){domain->vertex_map, domain->element_map};
        domain->vertex_map = domain->element_map = NULL;
    }
    return bo_json_explain(bo_json_at(&c->at, "mesh"), bough_body_create(ctx, c->draft.mesh, &c->draft.def, body));
}

bough_status bo_object_body(bo_json at, const bo_assembly *assembly, bough_body **body, bo_domain_maps **maps) {
    cutting c = {.at = at};
    *body = NULL;
    *maps = NULL;
    bough_status status = read_whole(&c, assembly, body, maps);
    free_cutting(&c);
    return status;
}
