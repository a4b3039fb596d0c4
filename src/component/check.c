/* Checks that the numbers of a component make sense: everything that engines rely on without looking again. */
#include "component/layout.h"

#include "base/eigen3.h"
#include "base/simd.h"
#include "component/polynomial.h"
#include "dense/cholesky.h"

#include <string.h>

/* Departures that rounding explains, of the largest entry. */
#define SYMMETRY_TOLERANCE 1e-10
#define AGREEMENT_TOLERANCE 1e-9
#define UNIT_TOLERANCE 1e-6
/* Below this fraction of the trace the second extent of an interface counts as none: its vertices lie on a line. */
#define LINE_TOLERANCE 1e-6

static bough_status wrong(bough_context *ctx, const char *chunk, const char *what) {
    return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"%s\" %s", chunk, what);
}

/* False if a number is beyond the limit, NaN or infinite: without its sign bit it is then above the limit, both read as
 * integers. Integers, because compilers cannot vectorise the comparison of doubles together with the sum of its
 * outcomes. */
BO_MULTIVERSION static bool all_sane_f64(const double *values, size_t count, double limit) {
    int64_t most, bad = 0;
    memcpy(&most, &limit, sizeof most);
    for (size_t i = 0; i < count; i++) {
        int64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        bad |= (bits & INT64_MAX) > most;
    }
    return bad == 0;
}

BO_MULTIVERSION static bool all_sane_f32(const float *values, size_t count, float limit) {
    int32_t most, bad = 0;
    memcpy(&most, &limit, sizeof most);
    for (size_t i = 0; i < count; i++) {
        int32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        bad |= (bits & INT32_MAX) > most;
    }
    return bad == 0;
}

/* Functions with several versions are static: not every compiler makes them known to other files. */
bool bo_all_sane_f64(const double *values, size_t count, double limit) {
    return all_sane_f64(values, count, limit);
}
bool bo_all_sane_f32(const float *values, size_t count, float limit) {
    return all_sane_f32(values, count, limit);
}

/* Returns the length of the UTF-8 sequence of a printable character, 0 if there is none. */
static int printable_length(const unsigned char *s) {
    if (s[0] < 0x80)
        return s[0] >= 0x20 && s[0] != 0x7F;
    int length = s[0] >= 0xC2 && s[0] < 0xE0   ? 2
                 : s[0] >= 0xE0 && s[0] < 0xF0 ? 3
                 : s[0] >= 0xF0 && s[0] < 0xF5 ? 4
                                               : 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    bool control = s[0] == 0xC2 && s[1] < 0xA0;
    bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool surrogate = (s[0] == 0xED && s[1] >= 0xA0) || (s[0] == 0xF4 && s[1] >= 0x90);
    return length == 0 || control || overlong || surrogate ? 0 : length;
}

bool bo_name_is_printable(const char *name) {
    size_t length = strlen(name);
    if (length == 0 || length > BO_MAX_NAME)
        return false;
    const unsigned char *at = (const unsigned char *)name;
    for (int step; *at; at += step)
        if ((step = printable_length(at)) == 0)
            return false;
    return true;
}

static double largest(const double *values, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(values[i]));
    return most;
}

static bool all_positive(const double *values, size_t count) {
    bool good = true;
    for (size_t i = 0; i < count; i++)
        good &= values[i] > 0;
    return good;
}

/* lower <= index < upper; upper < 0: any number. */
static bool all_within(const int32_t *indices, size_t count, int32_t lower, int32_t upper) {
    int32_t last = upper < 0 ? INT32_MAX : upper - 1;
    bool good = true;
    for (size_t i = 0; i < count; i++)
        good &= (indices[i] >= lower) & (indices[i] <= last);
    return good;
}

static bool symmetric3(const double *A, double tolerance) {
    return fabs(A[1] - A[3]) <= tolerance && fabs(A[2] - A[6]) <= tolerance && fabs(A[5] - A[7]) <= tolerance;
}
static bo_vec3 eigenvalues3(const double *A) {
    bo_mat3 matrix, V;
    memcpy(matrix.m, A, sizeof matrix.m);
    bo_vec3 values;
    bo_eigen3(matrix, &values, &V);
    return values;
}

/* W7_lp = W7_pl^T, blocks of 3 x 3; M = tr W7 goes into the lower triangle of M. */
static bool gather_mass(int32_t r, const double *W7, double *M) {
    const double tolerance = SYMMETRY_TOLERANCE * largest(W7, 9 * (size_t)r * (size_t)r);
    bool good = true;
    for (size_t l = 0, n = (size_t)r; l < n; l++)
        for (size_t p = 0; p <= l; p++) {
            const double *a = W7 + 9 * (n * l + p), *b = W7 + 9 * (n * p + l);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    good &= fabs(a[3 * i + j] - b[3 * j + i]) <= tolerance;
            M[n * l + p] = a[0] + a[4] + a[8];
        }
    return good;
}

static bough_status check_mass_matrix(bough_context *ctx, const bough_component *c) {
    if (c->r == 0)
        return BOUGH_OK;
    double *M = BO_NEW_ARRAY(ctx, double, (size_t)c->r *(size_t)c->r);
    if (!M)
        return BOUGH_ERROR_MEMORY;
    bough_status status = BOUGH_OK;
    bool sound = true;
    if (!gather_mass(c->r, c->W7, M))
        status = wrong(ctx, "W7", "is not symmetric: W7_lp must be the transpose of W7_pl");
    for (size_t l = 0; l < (size_t)c->r; l++)
        sound &= M[((size_t)c->r + 1) * l] >= BO_SMALLEST;
    if (status == BOUGH_OK && (!sound || !bo_cholesky_factor(c->r, M)))
        status = wrong(ctx, "W7", "gives a mass matrix that is not positive definite");
    bo_free(ctx, M);
    return status;
}

static bough_status check_inertia(bough_context *ctx, const bough_component *c) {
    if (!(c->mass >= BO_SMALLEST))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"mass\" is %g kg; it must be positive", c->mass);
    double size = largest(c->Sigma0, 9);
    if (!symmetric3(c->Sigma0, SYMMETRY_TOLERANCE * size))
        return wrong(ctx, "Sigma0", "is not symmetric");
    if (!(eigenvalues3(c->Sigma0).x >= -SYMMETRY_TOLERANCE * size))
        return wrong(ctx, "Sigma0", "is not positive semidefinite");
    if (!(c->damping_mass >= 0 && c->damping_stiffness >= 0))
        return wrong(ctx, "damping", "is negative");
    return check_mass_matrix(ctx, c);
}

static bough_status check_stiffness(bough_context *ctx, const bough_component *c) {
    size_t r = (size_t)c->r;
    double tolerance = SYMMETRY_TOLERANCE * largest(c->K, r * r);
    bool symmetric = true, positive = true;
    for (size_t l = 0; l < r; l++) {
        for (size_t p = 0; p < l; p++)
            symmetric &= fabs(c->K[r * l + p] - c->K[r * p + l]) <= tolerance;
        positive &= c->K[r * l + l] >= -tolerance;
    }
    if (!symmetric)
        return wrong(ctx, "K", "is not symmetric");
    return positive ? BOUGH_OK : wrong(ctx, "K", "has a negative number on its diagonal");
}

/* The terms t_ab00 of E are q K q / 2. */
static bough_status check_quartic(bough_context *ctx, const bough_component *c) {
    size_t r = (size_t)c->r;
    double tolerance = AGREEMENT_TOLERANCE * largest(c->K, r * r);
    for (int32_t a = 1; a <= c->r; a++)
        for (int32_t b = 1; b <= a; b++) {
            double t = c->quartic[bo_quartic_index(a, b, 0, 0)], K = c->K[r * (size_t)(a - 1) + (size_t)(b - 1)];
            if (!(fabs((a == b ? 2 * t : t) - K) <= tolerance))
                return wrong(ctx, "quartic", "does not have the stiffness \"K\" at rest");
        }
    return BOUGH_OK;
}

static bough_status check_points(bough_context *ctx, const bough_component *c, const bough_material_points *points,
                                 const char *element_chunk, const char *material_chunk) {
    int32_t elements = c->volume.element_count > 0 ? c->volume.element_count : -1;
    if (!all_within(points->element, (size_t)points->count, 0, elements))
        return wrong(ctx, element_chunk, "holds an element that does not exist");
    if (!all_within(points->material, (size_t)points->count, 0, c->material_count))
        return wrong(ctx, material_chunk, "holds a material that does not exist");
    return BOUGH_OK;
}

static bough_status check_gauges(bough_context *ctx, const bough_component *c) {
    const bough_stress_gauges *gauges = &c->gauges;
    if (gauges->count > BOUGH_MAX_GAUGES)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"gauge.gradient\" has %d gauges; %d are the most", gauges->count,
                       BOUGH_MAX_GAUGES);
    if (gauges->count > 0 && c->stress.count > 0 && (!gauges->D || (c->r > 0 && !gauges->gradient)))
        return wrong(ctx, "gauge.gradient", "needs \"gauge.D\" beside it");
    return BOUGH_OK;
}

/* Files written before there were fields have none. */
static bough_status check_field(bough_context *ctx, const bough_component *c) {
    const bough_stress_field *field = &c->field;
    if (field->count > BOUGH_MAX_FIELD_POINTS)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"field.position\" has %d points; %d are the most", field->count,
                       BOUGH_MAX_FIELD_POINTS);
    if (field->count > 0 && (!field->position || !field->material || (!field->gradient && c->r > 0)))
        return wrong(ctx, "field.position", "needs \"field.material\" and \"field.gradient\" beside it");
    return all_within(field->material, (size_t)field->count, 0, c->material_count)
               ? BOUGH_OK
               : wrong(ctx, "field.material", "holds a material that does not exist");
}

static bough_status check_elastic(bough_context *ctx, const bough_component *c) {
    BO_TRY(check_stiffness(ctx, c));
    if (c->elastic == BOUGH_REDUCED_POLYNOMIAL)
        BO_TRY(check_quartic(ctx, c));
    if (!all_positive(c->cubature.weight, (size_t)c->cubature.count))
        return wrong(ctx, "cubature.weight", "holds a weight that is not positive");
    BO_TRY(check_points(ctx, c, &c->cubature, "cubature.element", "cubature.material"));
    BO_TRY(check_points(ctx, c, &c->stress, "stress.element", "stress.material"));
    BO_TRY(check_gauges(ctx, c));
    return check_field(ctx, c);
}

static bough_status check_interface(bough_context *ctx, const bough_component *c, int32_t index) {
    const bough_interface *face = &c->interfaces[index];
    if (!bo_name_is_printable(face->name))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT,
                       "\"interface.names\": the name of interface %d is empty, too long or not printable UTF-8",
                       index);
    for (int32_t i = 0; i < index; i++)
        if (strcmp(c->interfaces[i].name, face->name) == 0)
            return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"interface.names\": there are two interfaces named \"%s\"",
                           face->name);
    if (!(face->radius >= BO_SMALLEST))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"interface.radius\": that of \"%s\" is not positive", face->name);
    int32_t vertices = c->volume.vertex_count > 0 ? c->volume.vertex_count : -1;
    if (!all_within(face->vertices, (size_t)face->vertex_count, 0, vertices))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"interface.vertices\": \"%s\" has a vertex that does not exist",
                       face->name);
    double sum = 0;
    for (int32_t k = 0; k < face->vertex_count; k++)
        sum += face->weights[k];
    if (!all_positive(face->weights, (size_t)face->vertex_count) || !(fabs(sum - 1) <= AGREEMENT_TOLERANCE))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT,
                       "\"interface.weights\": those of \"%s\" are not positive numbers that add up to 1", face->name);
    bo_vec3 values = eigenvalues3(face->A);
    double trace = face->A[0] + face->A[4] + face->A[8];
    if (!(fabs(trace - 1) <= AGREEMENT_TOLERANCE) || !symmetric3(face->A, AGREEMENT_TOLERANCE))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"interface.A\": A_0 of \"%s\" is not symmetric with trace 1",
                       face->name);
    if (!(values.x >= -AGREEMENT_TOLERANCE && values.y > LINE_TOLERANCE))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT,
                       "\"interface.A\": the vertices of \"%s\" lie on a line, which has no rotation", face->name);
    return BOUGH_OK;
}

static bough_status check_support(bough_context *ctx, const bough_component *c) {
    if (c->support == BOUGH_SUPPORT_INTERFACE && (c->parent < 0 || c->parent >= c->interface_count))
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "\"form\" says that it hangs by interface %d, and there are %d",
                       c->parent, c->interface_count);
    if (c->support != BOUGH_SUPPORT_INTERFACE && c->parent != -1)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT,
                       "\"form\" names interface %d as parent of a component that hangs by none", c->parent);
    return BOUGH_OK;
}

static bough_status check_surface(bough_context *ctx, const bough_component *c) {
    const bough_surface *surface = &c->surface;
    if (!all_within(surface->triangles, 3 * (size_t)surface->triangle_count, 0, surface->vertex_count))
        return wrong(ctx, "surface.triangles", "holds a vertex that does not exist");
    int32_t vertices = c->volume.vertex_count > 0 ? c->volume.vertex_count : -1;
    if (!all_within(surface->mesh_vertex, (size_t)surface->vertex_count, -1, vertices))
        return wrong(ctx, "surface.mesh_vertex", "holds a vertex that does not exist");
    if (c->wire.vertex_count > INT32_MAX - surface->vertex_count)
        return wrong(ctx, "wire.position", "has more vertices than can be numbered");
    if (!all_within(c->wire.edges, 2 * (size_t)c->wire.edge_count, 0, surface->vertex_count + c->wire.vertex_count))
        return wrong(ctx, "wire.edges", "holds a vertex that does not exist");
    const bough_component_volume *volume = &c->volume;
    size_t nodes = (size_t)volume->element_count * (size_t)bo_volume_nodes[volume->type];
    if (!all_within(volume->elements, nodes, 0, volume->vertex_count))
        return wrong(ctx, "volume.elements", "holds a vertex that does not exist");
    return BOUGH_OK;
}

bough_status bo_component_check(bough_context *ctx, const bough_component *c) {
    BO_TRY(check_inertia(ctx, c));
    BO_TRY(check_elastic(ctx, c));
    for (int32_t i = 0; i < c->interface_count; i++)
        BO_TRY(check_interface(ctx, c, i));
    BO_TRY(check_support(ctx, c));
    for (int32_t i = 0; i < c->wind.count; i++)
        if (!(c->wind.area[i] >= 0))
            return wrong(ctx, "wind.area", "holds a negative area");
    for (int32_t i = 0; i < c->contact.count; i++) {
        bo_vec3 normal = bo_load3(c->contact.normal + 3 * (size_t)i);
        if (!(fabs(bo_dot(normal, normal) - 1) <= UNIT_TOLERANCE))
            return wrong(ctx, "contact.normal", "holds a vector whose length is not 1");
    }
    return check_surface(ctx, c);
}
