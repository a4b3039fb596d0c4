/* The chunks of a component: one table for writing and for reading. docs/component-format.md describes each. */
#ifndef BO_COMPONENT_LAYOUT_H
#define BO_COMPONENT_LAYOUT_H

#include "component/image.h"

#include <bough/component.h>

#define BO_COMPONENT_KIND "component"
enum { BO_COMPONENT_VERSION = 1 };

/* Upper bounds on lists that are compared pair by pair. */
enum { BO_MAX_INTERFACES = 4096, BO_MAX_MATERIALS = 4096, BO_MAX_NAME = 255 };

/* No body has more of anything, or so little of what is divided by (mass, radius, Young's modulus): products of six
 * such numbers, and their inverses, are still numbers. */
#define BO_LARGEST 1e40
#define BO_SMALLEST 1e-40
#define BO_LARGEST_F32 1e30f
/* Coefficients of the energy go with the fourth power of the basis over the length, which for a body of a micrometre
 * and 1e-15 kg is enormous; they are multiplied by coordinates that are as small. */
#define BO_LARGEST_QUARTIC 1e100

/* Integers of "form" */
enum { BO_FORM_R, BO_FORM_ELASTIC, BO_FORM_SUPPORT, BO_FORM_PARENT, BO_FORM_SIZE };

#define BO_QUALITY_COUNT_ONE(name, about) +1
enum { BO_QUALITY_COUNT = 0 BOUGH_QUALITY_LIST(BO_QUALITY_COUNT_ONE) };

/* Dimensions of arrays: some are always the same, some follow from r, the rest is found in the file. */
typedef enum bo_size {
    BO_SIZE_1,
    BO_SIZE_2,
    BO_SIZE_3,
    BO_SIZE_4,
    BO_SIZE_6,
    BO_SIZE_8,
    BO_SIZE_9,
    BO_SIZE_18,
    BO_SIZE_PANEL, /* 16 */
    BO_SIZE_R,
    BO_SIZE_R1, /* r + 1 */
    BO_SIZE_QUARTIC,
    BO_SIZE_CUBATURE,
    BO_SIZE_MATERIALS,
    BO_SIZE_MATERIAL_NAMES, /* bytes */
    BO_SIZE_INTERFACES,
    BO_SIZE_BENT, /* interfaces whose bending is known: all or none */
    BO_SIZE_INTERFACE_NAMES,
    BO_SIZE_INTERFACE_VERTICES, /* of all interfaces together */
    BO_SIZE_WIND,
    BO_SIZE_CONTACT,
    BO_SIZE_STRESS,
    BO_SIZE_FIELD,
    BO_SIZE_GAUGES,
    BO_SIZE_GAUGE_ROWS,   /* stress points where there are gauges */
    BO_SIZE_GAUGE_VALUES, /* 6 a gauge, and those of the seam */
    BO_SIZE_SURFACE,
    BO_SIZE_TRIANGLES,
    BO_SIZE_PANELS,   /* of U */
    BO_SIZE_PANELS16, /* of U16 */
    BO_SIZE_SCALE,    /* r where there is a U16 */
    BO_SIZE_WIRE,
    BO_SIZE_EDGES,
    BO_SIZE_TYPE_NAME, /* of the volume's elements */
    BO_SIZE_VOLUME,
    BO_SIZE_VOLUME_SCALARS,
    BO_SIZE_ELEMENTS,
    BO_SIZE_NODES,
    BO_SIZE_JOINTS,
    BO_SIZE_JOINT_SHAPES, /* functions of all joints together */
    BO_SIZE_GEOMETRY,
    BO_SIZE_FUNCTIONS,
    BO_SIZE_FOOT, /* 0 or 1 */
    BO_SIZE_MODES,
    BO_SIZE_PROVENANCE,
    BO_SIZE_COUNT
} bo_size;

/* Everything as it stands in a file: arrays of the component that are chunks themselves are in `c`, the others beside
 * it. */
typedef struct bo_component_parts {
    bough_component c;
    uint64_t sizes[BO_SIZE_COUNT];
    const int32_t *form;
    const double *origin, *mass, *mc0, *Sigma0, *damping;
    const char *material_names;
    const double *material_constants;
    const char *interface_names;
    const double *interface_centre, *interface_radius, *interface_translation, *interface_A, *interface_bend,
        *interface_weights;
    const int32_t *interface_counts, *interface_vertices;
    const char *volume_type;
    const double *quality[BO_QUALITY_COUNT], *wrench_axis;
    const int32_t *wrench_place; /* interface; 1 for a torque */
    const unsigned char *input_hash;
} bo_component_parts;

typedef struct bo_component_array {
    const char *name;
    bo_chunk_type type;
    /* The array may be missing. If its first dimension is found in the file, the array defines it: 0 when it is
     * missing. */
    bool optional;
    int32_t rank;
    bo_size dims[BO_CHUNK_MAX_RANK];
    size_t place; /* offset of the pointer in bo_component_parts */
} bo_component_array;

extern const bo_component_array bo_component_arrays[];
extern const int32_t bo_component_array_count;

/* Sets the sizes that are always the same and those that follow from r and the elastic model; all others are
 * `unknown`. */
void bo_component_sizes(int32_t r, bough_reduced_elastic elastic, uint64_t unknown, uint64_t sizes[BO_SIZE_COUNT]);
/* Panels of 16 scalars for so many vertices. */
static inline uint64_t bo_panel_count(uint64_t vertex_count) {
    return (3 * vertex_count + 15) / 16;
}

/* Names of the types of volume elements, in the order of bough_element_type; NULL for surface elements. */
extern const char *const bo_volume_types[4];
extern const int32_t bo_volume_nodes[4];

/* check.c: checks that the numbers make sense. Complaints name the chunk. */
bough_status bo_component_check(bough_context *ctx, const bough_component *component);
/* Nonempty, UTF-8, no control characters, at most BO_MAX_NAME bytes. */
bool bo_name_is_printable(const char *name);
/* All are finite and at most `limit`. */
bool bo_all_sane_f64(const double *values, size_t count, double limit);
bool bo_all_sane_f32(const float *values, size_t count, float limit);

#endif
