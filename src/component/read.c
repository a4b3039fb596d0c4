/* From the bytes of a file to a component that points into them. */
#include "component/layout.h"

#include "base/file.h"

#include <math.h>
#include <string.h>

/* The component with the memory that bough_component_destroy() frees. */
typedef struct holder {
    bough_component component; /* first, so that its address is the holder's */
    bo_mapping mapping;        /* of a file, or */
    void *copy;                /* of bytes in memory */
    bough_interface *interfaces;
    bough_material *materials;
} holder;

static bough_status check_form(bough_context *ctx, const int32_t *form) {
    int32_t r = form[BO_FORM_R], elastic = form[BO_FORM_ELASTIC], support = form[BO_FORM_SUPPORT];
    if (r < 0 || r > BOUGH_MAX_COORDINATES)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"form\" says r = %d; it must lie between 0 and %d", r,
                       BOUGH_MAX_COORDINATES);
    if (elastic < 0 || elastic > BOUGH_REDUCED_CUBATURE)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"form\" has elastic model %d, which does not exist", elastic);
    if ((elastic == BOUGH_REDUCED_RIGID) != (r == 0))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"form\" says r = %d of a component that is %srigid", r,
                       elastic == BOUGH_REDUCED_RIGID ? "" : "not ");
    if (elastic == BOUGH_REDUCED_POLYNOMIAL && r > BOUGH_MAX_POLYNOMIAL_COORDINATES)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"form\" says r = %d; a polynomial has at most %d coordinates", r,
                       BOUGH_MAX_POLYNOMIAL_COORDINATES);
    if (support < 0 || support > BOUGH_SUPPORT_FREE)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"form\" has support %d, which does not exist", support);
    return BOUGH_OK;
}

static bough_status check_numbers(bough_context *ctx, const bo_component_array *array, const bo_chunk *chunk) {
    bool sane = true;
    double limit = strcmp(array->name, "quartic") == 0 ? BO_LARGEST_QUARTIC : BO_LARGEST;
    if (array->type == BO_F64)
        sane = bo_all_sane_f64(chunk->data, chunk->size / sizeof(double), limit);
    if (array->type == BO_F32)
        sane = bo_all_sane_f32(chunk->data, chunk->size / sizeof(float), BO_LARGEST_F32);
    return sane ? BOUGH_OK
                : bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"%s\" holds a number that is not finite, or beyond %g",
                          array->name, array->type == BO_F64 ? limit : (double)BO_LARGEST_F32);
}

static bough_status read_array(bough_context *ctx, const bo_image *image, const bo_component_array *array,
                               bo_component_parts *parts) {
    bo_chunk chunk;
    bool there = bo_image_find(image, array->name, &chunk);
    uint64_t *first = &parts->sizes[array->dims[0]];
    if (!there && array->optional) {
        if (*first == BO_ANY_SIZE)
            *first = 0;
        return BOUGH_OK;
    }
    uint64_t dims[BO_CHUNK_MAX_RANK];
    for (int32_t k = 0; k < array->rank; k++)
        dims[k] = parts->sizes[array->dims[k]];
    const void *data;
    BO_TRY(bo_image_get(ctx, image, array->name, array->type, array->rank, dims, &data));
    if (!data)
        return BOUGH_OK;
    for (int32_t k = 0; k < array->rank; k++)
        parts->sizes[array->dims[k]] = dims[k];
    memcpy((char *)parts + array->place, &data, sizeof data);
    return check_numbers(ctx, array, &chunk);
}

/* Finds out how many panels of which kind there have to be, before they are looked for. */
static bough_status choose_surface_form(bough_context *ctx, const bo_image *image, bo_component_parts *parts) {
    bo_chunk position, chunk;
    uint64_t panels = bo_image_find(image, "surface.position", &position) ? bo_panel_count(position.dims[0]) : 0;
    bool floats = bo_image_find(image, "surface.U", &chunk), shorts = bo_image_find(image, "surface.U16", &chunk);
    if (floats && shorts)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"surface.U\" and \"surface.U16\" are both there");
    parts->sizes[BO_SIZE_PANELS] = shorts ? 0 : panels;
    parts->sizes[BO_SIZE_PANELS16] = shorts ? panels : 0;
    parts->sizes[BO_SIZE_SCALE] = shorts ? parts->sizes[BO_SIZE_R] : 0;
    bo_chunk volume;
    parts->sizes[BO_SIZE_VOLUME_SCALARS] = bo_image_find(image, "volume.position", &volume) ? 3 * volume.dims[0] : 0;
    return BOUGH_OK;
}

static bough_status read_parts(bough_context *ctx, const bo_image *image, bo_component_parts *parts) {
    const void *form;
    uint64_t size = BO_FORM_SIZE;
    BO_TRY(bo_image_get(ctx, image, "form", BO_I32, 1, &size, &form));
    BO_TRY(check_form(ctx, form));
    const int32_t *f = form;
    bo_component_sizes(f[BO_FORM_R], (bough_reduced_elastic)f[BO_FORM_ELASTIC], BO_ANY_SIZE, parts->sizes);
    BO_TRY(choose_surface_form(ctx, image, parts));
    for (int32_t i = 0; i < bo_component_array_count; i++)
        BO_TRY(read_array(ctx, image, &bo_component_arrays[i], parts));
    return BOUGH_OK;
}

/* The start of string number `count` of several strings that end in NUL each is always inside: the bytes must consist
 * of exactly `count` strings. */
static bough_status check_strings(bough_context *ctx, const char *chunk, const char *bytes, uint64_t size,
                                  uint64_t count) {
    uint64_t found = 0;
    for (uint64_t i = 0; i < size; i++)
        found += bytes[i] == 0;
    if (found != count || (size > 0 && bytes[size - 1] != 0))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"%s\" holds %llu strings and should hold %llu", chunk,
                       (unsigned long long)found, (unsigned long long)count);
    return BOUGH_OK;
}

static bough_status make_interfaces(bough_context *ctx, const bo_component_parts *parts, holder *h) {
    uint64_t n = parts->sizes[BO_SIZE_INTERFACES], r = parts->sizes[BO_SIZE_R];
    if (n > BO_MAX_INTERFACES)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"interface.centre\" has %llu interfaces; %d are the most",
                       (unsigned long long)n, BO_MAX_INTERFACES);
    if (parts->interface_bend && parts->sizes[BO_SIZE_BENT] != n)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"interface.bend\" has %llu interfaces, and there are %llu",
                       (unsigned long long)parts->sizes[BO_SIZE_BENT], (unsigned long long)n);
    const char *name = parts->interface_names;
    BO_TRY(check_strings(ctx, "interface.names", name, parts->sizes[BO_SIZE_INTERFACE_NAMES], n));
    h->interfaces = BO_NEW_ZEROS(ctx, bough_interface, n);
    if (!h->interfaces)
        return BOUGH_ERROR_MEMORY;
    uint64_t used = 0, all = parts->sizes[BO_SIZE_INTERFACE_VERTICES];
    for (uint64_t i = 0; i < n; i++) {
        int32_t count = parts->interface_counts[i];
        if (count < 1 || (uint64_t)count > all - used)
            return bo_fail(ctx, BOUGH_ERROR_FORMAT,
                           "\"interface.counts\" gives interface %llu %d vertices, and there are %llu left",
                           (unsigned long long)i, count, (unsigned long long)(all - used));
        bough_interface *to = &h->interfaces[i];
        to->name = name;
        memcpy(to->centre, parts->interface_centre + 3 * i, sizeof to->centre);
        to->radius = parts->interface_radius[i];
        to->translation = r > 0 ? parts->interface_translation + 3 * r * i : NULL;
        to->A = parts->interface_A + 9 * (r + 1) * i;
        to->bend = parts->interface_bend ? parts->interface_bend + 18 * (r + 1) * i : NULL;
        to->vertex_count = count;
        to->vertices = parts->interface_vertices + used;
        to->weights = parts->interface_weights + used;
        used += (uint64_t)count;
        name += strlen(name) + 1;
    }
    if (used != all)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"interface.counts\" adds up to %llu of %llu vertices",
                       (unsigned long long)used, (unsigned long long)all);
    return BOUGH_OK;
}

static bough_status make_materials(bough_context *ctx, const bo_component_parts *parts, holder *h) {
    uint64_t n = parts->sizes[BO_SIZE_MATERIALS];
    if (n > BO_MAX_MATERIALS)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"material.constants\" has %llu materials; %d are the most",
                       (unsigned long long)n, BO_MAX_MATERIALS);
    const char *name = parts->material_names;
    BO_TRY(check_strings(ctx, "material.models", name, parts->sizes[BO_SIZE_MATERIAL_NAMES], n));
    h->materials = BO_NEW_ZEROS(ctx, bough_material, n);
    if (!h->materials)
        return BOUGH_ERROR_MEMORY;
    for (uint64_t i = 0; i < n; i++) {
        bough_material *m = &h->materials[i];
        const double *constants = parts->material_constants + 4 * i;
        *m = bough_default_material();
        m->young = constants[0], m->poisson = constants[1];
        m->density = constants[2], m->mooney_ratio = constants[3];
        bool known = bo_name_is_printable(name) && bough_material_find(ctx, name, &m->model) == BOUGH_OK;
        if (!known)
            return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"material.models\" names a material model that does not exist");
        if (bough_material_check(ctx, m) != BOUGH_OK) {
            bo_prefix_message(ctx, "\"material.constants\": material %llu: ", (unsigned long long)i);
            return BOUGH_ERROR_FORMAT;
        }
        if (!(m->young >= BO_SMALLEST && m->density >= BO_SMALLEST))
            return bo_fail(ctx, BOUGH_ERROR_FORMAT,
                           "\"material.constants\": material %llu has next to no stiffness or density",
                           (unsigned long long)i);
        name += strlen(name) + 1;
    }
    return BOUGH_OK;
}

static bough_status set_volume(bough_context *ctx, const bo_component_parts *parts, bough_component *c) {
    uint64_t size = parts->sizes[BO_SIZE_TYPE_NAME], vertices = parts->sizes[BO_SIZE_VOLUME];
    c->volume.vertex_count = (int32_t)vertices;
    c->volume.element_count = (int32_t)parts->sizes[BO_SIZE_ELEMENTS];
    BO_TRY(check_strings(ctx, "volume.type", parts->volume_type, size, vertices > 0));
    if (vertices == 0 && c->volume.element_count > 0)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"volume.position\" is missing");
    if (vertices == 0)
        return BOUGH_OK;
    for (int32_t type = 1; type < 4; type++)
        if (strcmp(parts->volume_type, bo_volume_types[type]) == 0)
            c->volume.type = type;
    if (c->volume.type == 0)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"volume.type\" names a type of element that does not exist");
    if (c->volume.element_count > 0 && parts->sizes[BO_SIZE_NODES] != (uint64_t)bo_volume_nodes[c->volume.type])
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"volume.elements\" has %llu nodes an element, and a %s has %d",
                       (unsigned long long)parts->sizes[BO_SIZE_NODES], bo_volume_types[c->volume.type],
                       bo_volume_nodes[c->volume.type]);
    return BOUGH_OK;
}

static void set_quality(const bo_component_parts *parts, bough_component_quality *quality) {
    double *const fields[] = {
#define QUALITY_ADDRESS(name, about) &quality->name,
        BOUGH_QUALITY_LIST(QUALITY_ADDRESS)
#undef QUALITY_ADDRESS
    };
    for (int i = 0; i < BO_QUALITY_COUNT; i++)
        *fields[i] = parts->quality[i] ? parts->quality[i][0] : NAN;
    quality->wrench = (bough_unit_wrench){.interface_index = -1};
    if (parts->wrench_place && parts->wrench_axis) {
        quality->wrench.interface_index = parts->wrench_place[0];
        quality->wrench.torque = parts->wrench_place[1] != 0;
        memcpy(quality->wrench.axis, parts->wrench_axis, sizeof quality->wrench.axis);
    }
    quality->mode_count = (int32_t)parts->sizes[BO_SIZE_MODES];
}

static void set_counts_and_scalars(const bo_component_parts *parts, bough_component *c) {
    c->r = parts->form[BO_FORM_R];
    c->elastic = (bough_reduced_elastic)parts->form[BO_FORM_ELASTIC];
    c->support = (bough_component_support)parts->form[BO_FORM_SUPPORT];
    c->parent = parts->form[BO_FORM_PARENT];
    memcpy(c->origin, parts->origin, sizeof c->origin);
    c->mass = parts->mass[0];
    memcpy(c->mc0, parts->mc0, sizeof c->mc0);
    memcpy(c->Sigma0, parts->Sigma0, sizeof c->Sigma0);
    c->damping_mass = parts->damping[0], c->damping_stiffness = parts->damping[1];
    c->cubature.count = (int32_t)parts->sizes[BO_SIZE_CUBATURE];
    c->wind.count = (int32_t)parts->sizes[BO_SIZE_WIND];
    c->contact.count = (int32_t)parts->sizes[BO_SIZE_CONTACT];
    c->stress.count = (int32_t)parts->sizes[BO_SIZE_STRESS];
    c->gauges.count = (int32_t)parts->sizes[BO_SIZE_GAUGES];
    c->field.count = (int32_t)parts->sizes[BO_SIZE_FIELD];
    c->surface.vertex_count = (int32_t)parts->sizes[BO_SIZE_SURFACE];
    c->surface.triangle_count = (int32_t)parts->sizes[BO_SIZE_TRIANGLES];
    c->wire.vertex_count = (int32_t)parts->sizes[BO_SIZE_WIRE];
    c->wire.edge_count = (int32_t)parts->sizes[BO_SIZE_EDGES];
    c->joints.count = (int32_t)parts->sizes[BO_SIZE_JOINTS];
    for (int i = 0; i < 8; i++)
        c->input_hash |= (uint64_t)parts->input_hash[i] << (8 * i);
}

/* Checks sizes that follow from each other, and indices. */
static bough_status check_joints(bough_context *ctx, const bo_component_parts *parts, const bough_component *c) {
    const uint64_t count = parts->sizes[BO_SIZE_JOINTS], shapes = parts->sizes[BO_SIZE_JOINT_SHAPES];
    if (count > BOUGH_MAX_JOINTS || shapes != BOUGH_JOINT_FUNCTIONS * count || parts->sizes[BO_SIZE_FOOT] > 1)
        return bo_fail(
            ctx, BOUGH_ERROR_FORMAT,
            "\"joint.interface\" has %llu interfaces (%d are the most) and \"joint.flexibility\" %llu rows",
            (unsigned long long)count, BOUGH_MAX_JOINTS, (unsigned long long)shapes);
    for (uint64_t i = 0; i < count; i++)
        if (c->joints.interface_index[i] < 0 || c->joints.interface_index[i] >= c->interface_count)
            return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"joint.interface\" names interface %d, and there are %d",
                           c->joints.interface_index[i], c->interface_count);
    return BOUGH_OK;
}

/* Fills in the component of a holder that has its bytes already. */
static bough_status fill(bough_context *ctx, const void *bytes, size_t size, holder *h) {
    bo_image image;
    BO_TRY(bo_image_open(ctx, bytes, size, BO_COMPONENT_KIND, BO_COMPONENT_VERSION, &image));
    bo_component_parts parts = {0};
    BO_TRY(read_parts(ctx, &image, &parts));
    BO_TRY(check_strings(ctx, "provenance", parts.c.provenance, parts.sizes[BO_SIZE_PROVENANCE],
                         parts.c.provenance != NULL));
    bough_component *c = &h->component;
    *c = parts.c; /* arrays */
    set_counts_and_scalars(&parts, c);
    set_quality(&parts, &c->quality);
    BO_TRY(set_volume(ctx, &parts, c));
    BO_TRY(make_materials(ctx, &parts, h));
    BO_TRY(make_interfaces(ctx, &parts, h));
    c->materials = h->materials, c->material_count = (int32_t)parts.sizes[BO_SIZE_MATERIALS];
    c->interfaces = h->interfaces, c->interface_count = (int32_t)parts.sizes[BO_SIZE_INTERFACES];
    BO_TRY(check_joints(ctx, &parts, c));
    if (c->quality.wrench.interface_index < -1 || c->quality.wrench.interface_index >= c->interface_count)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"quality.wrench_place\" names interface %d, and there are %d",
                       c->quality.wrench.interface_index, c->interface_count);
    c->image = bytes, c->image_size = size;
    const uint64_t values = c->gauges.count ? 6 * (uint64_t)c->gauges.count + BOUGH_SEAM : 0;
    if (parts.sizes[BO_SIZE_GAUGE_ROWS] != (c->gauges.count ? (uint64_t)c->stress.count : 0) ||
        (c->gauges.D && parts.sizes[BO_SIZE_GAUGE_VALUES] != values))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"gauge.D\" is not of %d stress points and %d gauges", c->stress.count,
                       c->gauges.count);
    return bo_component_check(ctx, c);
}

void bough_component_destroy(bough_context *ctx, bough_component *component) {
    if (!component)
        return;
    holder *h = (holder *)component;
    bo_unmap_file(ctx, &h->mapping);
    bo_free(ctx, h->copy);
    bo_free(ctx, h->interfaces);
    bo_free(ctx, h->materials);
    bo_free(ctx, h);
}

/* 64-byte aligned start inside of a block that is 63 bytes longer than needed. */
static void *align(void *block) {
    return (unsigned char *)block + (-(uintptr_t)block & (BO_IMAGE_ALIGNMENT - 1));
}

bough_status bough_component_read(bough_context *ctx, const void *bytes, size_t size, bough_component **component) {
    *component = NULL;
    holder *h = BO_NEW(ctx, holder);
    if (!h)
        return BOUGH_ERROR_MEMORY;
    h->copy = size <= SIZE_MAX / 2 ? bo_alloc(ctx, size + BO_IMAGE_ALIGNMENT, 1) : NULL;
    bough_status status = h->copy ? BOUGH_OK : bo_fail_memory(ctx);
    if (status == BOUGH_OK) {
        void *image = align(h->copy);
        if (size > 0)
            memcpy(image, bytes, size);
        status = fill(ctx, image, size, h);
    }
    if (status != BOUGH_OK)
        bough_component_destroy(ctx, &h->component);
    else
        *component = &h->component;
    return status;
}

bough_status bough_component_load(bough_context *ctx, const char *path, bough_component **component) {
    *component = NULL;
    holder *h = BO_NEW(ctx, holder);
    if (!h)
        return BOUGH_ERROR_MEMORY;
    bough_status status = bo_map_file(ctx, path, &h->mapping);
    if (status == BOUGH_OK) {
        status = fill(ctx, h->mapping.data, h->mapping.size, h);
        if (status != BOUGH_OK)
            bo_prefix_message(ctx, "%s: ", path);
    }
    if (status != BOUGH_OK)
        bough_component_destroy(ctx, &h->component);
    else
        *component = &h->component;
    return status;
}

bough_status bough_component_save(bough_context *ctx, const bough_component *component, const char *path) {
    if (!component->image)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "%s: the component was neither cooked nor read, so it has no file image", path);
    return bo_image_save(ctx, component->image, component->image_size, path);
}

int32_t bough_component_find_interface(const bough_component *component, const char *name) {
    for (int32_t i = 0; i < component->interface_count; i++)
        if (strcmp(component->interfaces[i].name, name) == 0)
            return i;
    return -1;
}
