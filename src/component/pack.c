#include "component/pack.h"

#include "component/layout.h"

#include <math.h>
#include <string.h>

/* Arrays that the file holds in another shape than the draft; freed when the image is finished. */
typedef struct packing {
    bo_component_parts parts;
    int32_t form[BO_FORM_SIZE];
    double damping[2];
    double quality[BO_QUALITY_COUNT];
    int32_t wrench_place[2];
    unsigned char input_hash[8];
    char *interface_names, *material_names;
    double *numbers;  /* of interfaces and materials */
    int32_t *indices; /* of interfaces */
} packing;

/* The next `count` numbers of the pool. */
static double *take(double **pool, size_t count) {
    double *taken = *pool;
    *pool += count;
    return taken;
}

static bough_status allocate_interfaces(bough_context *ctx, packing *p, const bough_component *draft) {
    size_t names = 0, vertices = 0, n = (size_t)draft->interface_count;
    for (size_t i = 0; i < n; i++) {
        names += strlen(draft->interfaces[i].name) + 1;
        vertices += (size_t)draft->interfaces[i].vertex_count;
    }
    size_t materials = 0;
    for (int32_t i = 0; i < draft->material_count; i++)
        materials += strlen(bough_material_name(draft->materials[i].model)) + 1;
    size_t r = (size_t)draft->r;
    size_t numbers = n * (3 + 1 + 3 * r + 27 * (r + 1)) + vertices + 4 * (size_t)draft->material_count;
    p->interface_names = BO_NEW_ARRAY(ctx, char, names + 1);
    p->material_names = BO_NEW_ARRAY(ctx, char, materials + 1);
    p->numbers = BO_NEW_ARRAY(ctx, double, numbers + 1);
    p->indices = BO_NEW_ARRAY(ctx, int32_t, n + vertices + 1);
    p->parts.sizes[BO_SIZE_INTERFACE_NAMES] = names;
    p->parts.sizes[BO_SIZE_INTERFACE_VERTICES] = vertices;
    p->parts.sizes[BO_SIZE_MATERIAL_NAMES] = materials;
    return p->interface_names && p->material_names && p->numbers && p->indices ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* Interfaces one after the other -> arrays over all interfaces. */
static void flatten_interfaces(packing *p, const bough_component *draft, double **pool) {
    size_t n = (size_t)draft->interface_count, r = (size_t)draft->r;
    double *centre = take(pool, 3 * n), *radius = take(pool, n), *translation = take(pool, 3 * n * r);
    double *bend = take(pool, 18 * n * (r + 1));
    double *A = take(pool, 9 * n * (r + 1)), *weights = take(pool, (size_t)p->parts.sizes[BO_SIZE_INTERFACE_VERTICES]);
    int32_t *counts = p->indices, *vertices = counts + n;
    char *names = p->interface_names;
    bo_component_parts *parts = &p->parts;
    parts->interface_centre = centre, parts->interface_radius = radius, parts->interface_translation = translation;
    parts->interface_bend = parts->sizes[BO_SIZE_BENT] ? bend : NULL;
    parts->interface_A = A, parts->interface_weights = weights, parts->interface_names = names;
    parts->interface_counts = counts, parts->interface_vertices = vertices;
    for (size_t i = 0; i < n; i++) {
        const bough_interface *from = &draft->interfaces[i];
        size_t count = (size_t)from->vertex_count, length = strlen(from->name) + 1;
        memcpy(centre + 3 * i, from->centre, sizeof from->centre);
        radius[i] = from->radius;
        if (r > 0)
            memcpy(translation + 3 * r * i, from->translation, sizeof *translation * 3 * r);
        memcpy(A + 9 * (r + 1) * i, from->A, sizeof *A * 9 * (r + 1));
        if (parts->interface_bend)
            memcpy(bend + 18 * (r + 1) * i, from->bend, sizeof *bend * 18 * (r + 1));
        memcpy(names, from->name, length);
        names += length;
        counts[i] = from->vertex_count;
        memcpy(vertices, from->vertices, sizeof *vertices * count);
        memcpy(weights, from->weights, sizeof *weights * count);
        vertices += count, weights += count;
    }
}

static void flatten_materials(packing *p, const bough_component *draft, double **pool) {
    double *constants = take(pool, 4 * (size_t)draft->material_count);
    char *names = p->material_names;
    p->parts.material_constants = constants, p->parts.material_names = names;
    for (int32_t i = 0; i < draft->material_count; i++) {
        const bough_material *m = &draft->materials[i];
        memcpy(constants, (double[]){m->young, m->poisson, m->density, m->mooney_ratio}, 4 * sizeof *constants);
        constants += 4;
        size_t length = strlen(bough_material_name(m->model)) + 1;
        memcpy(names, bough_material_name(m->model), length);
        names += length;
    }
}

static void set_scalars(packing *p, const bough_component *draft) {
    bo_component_parts *parts = &p->parts;
    memcpy(p->form, (int32_t[]){draft->r, (int32_t)draft->elastic, (int32_t)draft->support, draft->parent},
           sizeof p->form);
    p->damping[0] = draft->damping_mass, p->damping[1] = draft->damping_stiffness;
    for (int i = 0; i < 8; i++)
        p->input_hash[i] = (unsigned char)(draft->input_hash >> (8 * i));
    parts->form = p->form, parts->damping = p->damping, parts->input_hash = p->input_hash;
    parts->origin = draft->origin, parts->mass = &draft->mass, parts->mc0 = draft->mc0, parts->Sigma0 = draft->Sigma0;
    const double values[] = {
#define QUALITY_VALUE(name, about) draft->quality.name,
        BOUGH_QUALITY_LIST(QUALITY_VALUE)
#undef QUALITY_VALUE
    };
    memcpy(p->quality, values, sizeof p->quality);
    if (!isnan(draft->quality.wrench_error)) {
        p->wrench_place[0] =
            draft->quality.wrench.interface_index < draft->interface_count ? draft->quality.wrench.interface_index : -1;
        p->wrench_place[1] = draft->quality.wrench.torque;
        parts->wrench_place = p->wrench_place, parts->wrench_axis = draft->quality.wrench.axis;
    }
    for (int i = 0; i < BO_QUALITY_COUNT; i++)
        parts->quality[i] = isnan(values[i]) ? NULL : &p->quality[i];
}

static void set_sizes(packing *p, const bough_component *draft) {
    uint64_t *sizes = p->parts.sizes;
    bo_component_sizes(draft->r, draft->elastic, 0, sizes);
    if (draft->elastic == BOUGH_REDUCED_CUBATURE)
        sizes[BO_SIZE_CUBATURE] = (uint64_t)draft->cubature.count;
    sizes[BO_SIZE_MATERIALS] = (uint64_t)draft->material_count;
    sizes[BO_SIZE_INTERFACES] = sizes[BO_SIZE_BENT] = (uint64_t)draft->interface_count;
    for (int32_t i = 0; i < draft->interface_count; i++)
        if (!draft->interfaces[i].bend)
            sizes[BO_SIZE_BENT] = 0;
    sizes[BO_SIZE_WIND] = (uint64_t)draft->wind.count;
    sizes[BO_SIZE_CONTACT] = (uint64_t)draft->contact.count;
    sizes[BO_SIZE_STRESS] = (uint64_t)draft->stress.count;
    if (draft->gauges.count > 0) {
        sizes[BO_SIZE_GAUGES] = (uint64_t)draft->gauges.count;
        sizes[BO_SIZE_GAUGE_ROWS] = (uint64_t)draft->stress.count;
        sizes[BO_SIZE_GAUGE_VALUES] = 6 * (uint64_t)draft->gauges.count + BOUGH_SEAM;
    }
    sizes[BO_SIZE_FIELD] = (uint64_t)draft->field.count;
    const bough_surface *surface = &draft->surface;
    sizes[BO_SIZE_SURFACE] = (uint64_t)surface->vertex_count;
    sizes[BO_SIZE_TRIANGLES] = (uint64_t)surface->triangle_count;
    sizes[surface->U16 ? BO_SIZE_PANELS16 : BO_SIZE_PANELS] = bo_panel_count((uint64_t)surface->vertex_count);
    sizes[BO_SIZE_SCALE] = surface->U16 ? (uint64_t)draft->r : 0;
    sizes[BO_SIZE_WIRE] = (uint64_t)draft->wire.vertex_count;
    sizes[BO_SIZE_EDGES] = (uint64_t)draft->wire.edge_count;
    const bough_component_volume *volume = &draft->volume;
    if (volume->vertex_count > 0) {
        p->parts.volume_type = bo_volume_types[volume->type];
        sizes[BO_SIZE_TYPE_NAME] = strlen(p->parts.volume_type) + 1;
        sizes[BO_SIZE_VOLUME] = (uint64_t)volume->vertex_count;
        sizes[BO_SIZE_VOLUME_SCALARS] = 3 * (uint64_t)volume->vertex_count;
        sizes[BO_SIZE_ELEMENTS] = (uint64_t)volume->element_count;
        sizes[BO_SIZE_NODES] = (uint64_t)bo_volume_nodes[volume->type];
    }
    sizes[BO_SIZE_JOINTS] = (uint64_t)draft->joints.count;
    sizes[BO_SIZE_JOINT_SHAPES] = BOUGH_JOINT_FUNCTIONS * sizes[BO_SIZE_JOINTS];
    sizes[BO_SIZE_FOOT] = draft->foot.stiffness != NULL;
    sizes[BO_SIZE_MODES] = (uint64_t)draft->quality.mode_count;
    sizes[BO_SIZE_PROVENANCE] = draft->provenance ? strlen(draft->provenance) + 1 : 0;
}

/* Numbers that sizes are computed from; everything else is found by reading the image back. */
static bough_status check_draft(bough_context *ctx, const bough_component *draft) {
    const int32_t counts[] = {draft->r,
                              draft->cubature.count,
                              draft->material_count,
                              draft->interface_count,
                              draft->wind.count,
                              draft->contact.count,
                              draft->stress.count,
                              draft->field.count,
                              draft->gauges.count,
                              draft->surface.vertex_count,
                              draft->surface.triangle_count,
                              draft->wire.vertex_count,
                              draft->wire.edge_count,
                              draft->joints.count,
                              draft->volume.vertex_count,
                              draft->volume.element_count,
                              draft->quality.mode_count};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (counts[i] < 0)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the component to be packed has a negative count");
    if (draft->r > BOUGH_MAX_COORDINATES)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the component to be packed has %d coordinates; %d are the most",
                       draft->r, BOUGH_MAX_COORDINATES);
    for (int32_t i = 0; i < draft->interface_count; i++)
        if (!draft->interfaces[i].name || draft->interfaces[i].vertex_count < 0)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "interface %d to be packed has no name or a negative count", i);
    for (int32_t i = 0; i < draft->material_count; i++)
        BO_TRY(bough_material_check(ctx, &draft->materials[i]));
    if (draft->volume.vertex_count > 0 && (draft->volume.type < 1 || draft->volume.type > 3))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the volume to be packed has elements of type %d",
                       draft->volume.type);
    return BOUGH_OK;
}

static bough_status write_image(bough_context *ctx, const bo_component_parts *parts, void **bytes, size_t *size) {
    bo_image_builder builder;
    bo_image_begin(ctx, &builder, BO_COMPONENT_KIND, BO_COMPONENT_VERSION);
    for (int32_t i = 0; i < bo_component_array_count; i++) {
        const bo_component_array *array = &bo_component_arrays[i];
        const void *data;
        memcpy(&data, (const char *)parts + array->place, sizeof data);
        uint64_t dims[BO_CHUNK_MAX_RANK];
        for (int32_t k = 0; k < array->rank; k++)
            dims[k] = parts->sizes[array->dims[k]];
        if (data || !array->optional)
            bo_image_add(&builder, array->name, array->type, array->rank, dims, data);
    }
    return bo_image_finish(&builder, bytes, size);
}

bough_status bo_component_pack(bough_context *ctx, const bough_component *draft, bough_component **component) {
    *component = NULL;
    BO_TRY(check_draft(ctx, draft));
    packing p = {.parts.c = *draft};
    set_scalars(&p, draft);
    set_sizes(&p, draft);
    void *bytes = NULL;
    size_t size = 0;
    bough_status status = allocate_interfaces(ctx, &p, draft);
    if (status == BOUGH_OK) {
        double *pool = p.numbers;
        flatten_interfaces(&p, draft, &pool);
        flatten_materials(&p, draft, &pool);
        status = write_image(ctx, &p.parts, &bytes, &size);
    }
    bo_free(ctx, p.interface_names);
    bo_free(ctx, p.material_names);
    bo_free(ctx, p.numbers);
    bo_free(ctx, p.indices);
    if (status == BOUGH_OK)
        status = bough_component_read(ctx, bytes, size, component);
    bo_free(ctx, bytes);
    return status;
}
