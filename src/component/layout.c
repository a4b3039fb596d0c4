#include "component/layout.h"

#include "component/polynomial.h"

#define AT(field) offsetof(bo_component_parts, field)
#define REQUIRED false
#define OPTIONAL true
#define S(name) BO_SIZE_##name

#define QUALITY_ROW(name, about) \
    {"quality." #name, BO_F64, OPTIONAL, 1, {S(1)}, AT(quality) + sizeof(const double *) * QUALITY_##name},
#define QUALITY_INDEX(name, about) QUALITY_##name,
enum { BOUGH_QUALITY_LIST(QUALITY_INDEX) };

/* If several arrays share a dimension, the optional one comes first. */
const bo_component_array bo_component_arrays[] = {
    {"form", BO_I32, REQUIRED, 1, {S(4)}, AT(form)},
    {"origin", BO_F64, REQUIRED, 1, {S(3)}, AT(origin)},
    {"mass", BO_F64, REQUIRED, 1, {S(1)}, AT(mass)},
    {"mc0", BO_F64, REQUIRED, 1, {S(3)}, AT(mc0)},
    {"Sigma0", BO_F64, REQUIRED, 2, {S(3), S(3)}, AT(Sigma0)},
    {"s", BO_F64, REQUIRED, 2, {S(R), S(3)}, AT(c.s)},
    {"W5", BO_F64, REQUIRED, 3, {S(R), S(3), S(3)}, AT(c.W5)},
    {"W7", BO_F64, REQUIRED, 4, {S(R), S(R), S(3), S(3)}, AT(c.W7)},
    {"damping", BO_F64, REQUIRED, 1, {S(2)}, AT(damping)},
    {"K", BO_F64, REQUIRED, 2, {S(R), S(R)}, AT(c.K)},
    {"quartic", BO_F64, REQUIRED, 1, {S(QUARTIC)}, AT(c.quartic)},
    {"cubature.weight", BO_F64, REQUIRED, 1, {S(CUBATURE)}, AT(c.cubature.weight)},
    {"cubature.element", BO_I32, REQUIRED, 1, {S(CUBATURE)}, AT(c.cubature.element)},
    {"cubature.material", BO_I32, REQUIRED, 1, {S(CUBATURE)}, AT(c.cubature.material)},
    {"cubature.gradient", BO_F64, REQUIRED, 3, {S(CUBATURE), S(9), S(R)}, AT(c.cubature.gradient)},
    {"material.constants", BO_F64, OPTIONAL, 2, {S(MATERIALS), S(4)}, AT(material_constants)},
    {"material.models", BO_U8, OPTIONAL, 1, {S(MATERIAL_NAMES)}, AT(material_names)},
    {"interface.centre", BO_F64, OPTIONAL, 2, {S(INTERFACES), S(3)}, AT(interface_centre)},
    {"interface.names", BO_U8, OPTIONAL, 1, {S(INTERFACE_NAMES)}, AT(interface_names)},
    {"interface.radius", BO_F64, REQUIRED, 1, {S(INTERFACES)}, AT(interface_radius)},
    {"interface.translation", BO_F64, REQUIRED, 3, {S(INTERFACES), S(R), S(3)}, AT(interface_translation)},
    {"interface.A", BO_F64, REQUIRED, 4, {S(INTERFACES), S(R1), S(3), S(3)}, AT(interface_A)},
    {"interface.bend", BO_F64, OPTIONAL, 3, {S(BENT), S(R1), S(18)}, AT(interface_bend)},
    {"interface.counts", BO_I32, REQUIRED, 1, {S(INTERFACES)}, AT(interface_counts)},
    {"interface.vertices", BO_I32, OPTIONAL, 1, {S(INTERFACE_VERTICES)}, AT(interface_vertices)},
    {"interface.weights", BO_F64, REQUIRED, 1, {S(INTERFACE_VERTICES)}, AT(interface_weights)},
    {"wind.position", BO_F64, OPTIONAL, 2, {S(WIND), S(3)}, AT(c.wind.position)},
    {"wind.normal", BO_F64, REQUIRED, 2, {S(WIND), S(3)}, AT(c.wind.normal)},
    {"wind.area", BO_F64, REQUIRED, 1, {S(WIND)}, AT(c.wind.area)},
    {"wind.U", BO_F64, REQUIRED, 3, {S(WIND), S(3), S(R)}, AT(c.wind.U)},
    {"contact.position", BO_F64, OPTIONAL, 2, {S(CONTACT), S(3)}, AT(c.contact.position)},
    {"contact.normal", BO_F64, REQUIRED, 2, {S(CONTACT), S(3)}, AT(c.contact.normal)},
    {"contact.U", BO_F64, REQUIRED, 3, {S(CONTACT), S(3), S(R)}, AT(c.contact.U)},
    {"stress.position", BO_F64, OPTIONAL, 2, {S(STRESS), S(3)}, AT(c.stress.position)},
    {"stress.element", BO_I32, REQUIRED, 1, {S(STRESS)}, AT(c.stress.element)},
    {"stress.material", BO_I32, REQUIRED, 1, {S(STRESS)}, AT(c.stress.material)},
    {"stress.gradient", BO_F64, REQUIRED, 3, {S(STRESS), S(9), S(R)}, AT(c.stress.gradient)},
    {"gauge.gradient", BO_F64, OPTIONAL, 3, {S(GAUGES), S(9), S(R)}, AT(c.gauges.gradient)},
    {"gauge.D", BO_F64, OPTIONAL, 3, {S(GAUGE_ROWS), S(6), S(GAUGE_VALUES)}, AT(c.gauges.D)},
    {"field.position", BO_F64, OPTIONAL, 2, {S(FIELD), S(3)}, AT(c.field.position)},
    {"field.material", BO_I32, OPTIONAL, 1, {S(FIELD)}, AT(c.field.material)},
    {"field.gradient", BO_F32, OPTIONAL, 3, {S(FIELD), S(9), S(R)}, AT(c.field.gradient)},
    {"surface.position", BO_F32, OPTIONAL, 2, {S(SURFACE), S(3)}, AT(c.surface.position)},
    {"surface.triangles", BO_I32, OPTIONAL, 2, {S(TRIANGLES), S(3)}, AT(c.surface.triangles)},
    {"surface.mesh_vertex", BO_I32, REQUIRED, 1, {S(SURFACE)}, AT(c.surface.mesh_vertex)},
    {"surface.U", BO_F32, REQUIRED, 3, {S(PANELS), S(R), S(PANEL)}, AT(c.surface.U)},
    {"surface.U16", BO_I16, REQUIRED, 3, {S(PANELS16), S(R), S(PANEL)}, AT(c.surface.U16)},
    {"surface.scale", BO_F32, REQUIRED, 1, {S(SCALE)}, AT(c.surface.scale)},
    {"wire.position", BO_F32, OPTIONAL, 2, {S(WIRE), S(3)}, AT(c.wire.position)},
    {"wire.U", BO_F32, REQUIRED, 3, {S(WIRE), S(3), S(R)}, AT(c.wire.U)},
    {"wire.edges", BO_I32, OPTIONAL, 2, {S(EDGES), S(2)}, AT(c.wire.edges)},
    {"volume.position", BO_F64, OPTIONAL, 2, {S(VOLUME), S(3)}, AT(c.volume.position)},
    {"volume.type", BO_U8, OPTIONAL, 1, {S(TYPE_NAME)}, AT(volume_type)},
    {"volume.elements", BO_I32, OPTIONAL, 2, {S(ELEMENTS), S(NODES)}, AT(c.volume.elements)},
    {"volume.U", BO_F64, REQUIRED, 2, {S(VOLUME_SCALARS), S(R)}, AT(c.volume.U)},
    {"joint.interface", BO_I32, OPTIONAL, 1, {S(JOINTS)}, AT(c.joints.interface_index)},
    {"joint.geometry", BO_F64, REQUIRED, 2, {S(JOINTS), S(GEOMETRY)}, AT(c.joints.geometry)},
    {"joint.flexibility", BO_F64, OPTIONAL, 2, {S(JOINT_SHAPES), S(JOINT_SHAPES)}, AT(c.joints.flexibility)},
    {"joint.U", BO_F64, REQUIRED, 2, {S(JOINT_SHAPES), S(R)}, AT(c.joints.U)},
    {"foot.geometry", BO_F64, OPTIONAL, 2, {S(FOOT), S(GEOMETRY)}, AT(c.foot.geometry)},
    {"foot.stiffness", BO_F64, REQUIRED, 3, {S(FOOT), S(FUNCTIONS), S(FUNCTIONS)}, AT(c.foot.stiffness)},
    {"foot.inertia", BO_F64, REQUIRED, 3, {S(FOOT), S(FUNCTIONS), S(6)}, AT(c.foot.inertia)},
    {"foot.U", BO_F64, REQUIRED, 3, {S(FOOT), S(FUNCTIONS), S(R)}, AT(c.foot.U)},
    {"foot.passes", BO_F64, REQUIRED, 4, {S(FOOT), S(FUNCTIONS), S(JOINTS), S(6)}, AT(c.foot.passes)},
    BOUGH_QUALITY_LIST(QUALITY_ROW) /* one number each; missing: not measured */
    {"quality.wrench_place", BO_I32, OPTIONAL, 1, {S(2)}, AT(wrench_place)},
    {"quality.wrench_axis", BO_F64, OPTIONAL, 1, {S(3)}, AT(wrench_axis)},
    {"quality.full_hz", BO_F64, OPTIONAL, 1, {S(MODES)}, AT(c.quality.full_hz)},
    {"quality.reduced_hz", BO_F64, REQUIRED, 1, {S(MODES)}, AT(c.quality.reduced_hz)},
    {"provenance", BO_U8, OPTIONAL, 1, {S(PROVENANCE)}, AT(c.provenance)},
    {"input_hash", BO_U8, REQUIRED, 1, {S(8)}, AT(input_hash)},
};
const int32_t bo_component_array_count = sizeof bo_component_arrays / sizeof bo_component_arrays[0];

const char *const bo_volume_types[4] = {NULL, "tet4", "tet10", "hex8"};
const int32_t bo_volume_nodes[4] = {3, 4, 10, 8};

void bo_component_sizes(int32_t r, bough_reduced_elastic elastic, uint64_t unknown, uint64_t sizes[BO_SIZE_COUNT]) {
    for (int i = 0; i < BO_SIZE_COUNT; i++)
        sizes[i] = unknown;
    sizes[BO_SIZE_1] = 1, sizes[BO_SIZE_2] = 2, sizes[BO_SIZE_3] = 3, sizes[BO_SIZE_4] = BO_FORM_SIZE;
    sizes[BO_SIZE_8] = 8, sizes[BO_SIZE_9] = 9, sizes[BO_SIZE_18] = 18, sizes[BO_SIZE_PANEL] = 16;
    sizes[BO_SIZE_6] = 6, sizes[BO_SIZE_GEOMETRY] = BOUGH_JOINT_GEOMETRY;
    sizes[BO_SIZE_FUNCTIONS] = BOUGH_JOINT_FUNCTIONS;
    sizes[BO_SIZE_R] = (uint64_t)r, sizes[BO_SIZE_R1] = (uint64_t)r + 1;
    sizes[BO_SIZE_QUARTIC] = elastic == BOUGH_REDUCED_POLYNOMIAL ? bo_quartic_count(r) : 0;
    if (elastic != BOUGH_REDUCED_CUBATURE)
        sizes[BO_SIZE_CUBATURE] = 0;
}
