#include "app.h"

#include <math.h>
#include <string.h>

/* ---- sizes ---- */

/* Coefficients of a quartic in r coordinates: (r + 4 choose 4). */
static double quartic_count(const bough_component *c) {
    double r = c->r;
    return c->quartic ? (r + 1) * (r + 2) * (r + 3) * (r + 4) / 24 : 0;
}

static double elastic_bytes(const bough_component *c) {
    double r = c->r;
    return 8 * (r * r + quartic_count(c)) + c->cubature.count * (8 * 9 * r + 8 + 2 * 4);
}

static double inertia_bytes(const bough_component *c) {
    double r = c->r;
    return 8 * (1 + 3 + 9 + 3 * r + 9 * r + 9 * r * r);
}

static double interface_bytes(const bough_component *c) {
    double bytes = 0;
    for (int32_t i = 0; i < c->interface_count; i++)
        bytes += 8.0 * (3 + 1 + 3 * c->r + 9 * (c->r + 1)) + 12.0 * c->interfaces[i].vertex_count;
    return bytes;
}

static double sample_bytes(const bough_component *c) {
    double r = c->r;
    return 8 * (c->wind.count * (7 + 3 * r) + c->contact.count * (6 + 3 * r)) + c->stress.count * (8 * (3 + 9 * r) + 8);
}

static double surface_bytes(const bough_component *c) {
    double scalars = 3.0 * c->surface.vertex_count;
    return scalars * 4 + 12.0 * c->surface.triangle_count + 4.0 * c->surface.vertex_count +
           scalars * c->r * (c->surface.U16 ? 2 : 4);
}

static double volume_bytes(const bough_component *c) {
    if (c->volume.vertex_count == 0)
        return 0;
    double nodes = bough_element_node_count((bough_element_type)c->volume.type);
    return 8.0 * 3 * c->volume.vertex_count * (1 + c->r) + 4 * nodes * c->volume.element_count;
}

/* Returns the bytes that an evaluation of forces and tangent reads. */
static double touched_bytes(const bough_component *c) {
    return c->elastic == BOUGH_REDUCED_POLYNOMIAL ? 8 * quartic_count(c)
           : c->elastic == BOUGH_REDUCED_CUBATURE ? elastic_bytes(c)
                                                  : 8.0 * c->r * c->r;
}

static const struct {
    const char *name;
    double (*bytes)(const bough_component *);
} memory_kinds[] = {
    {"elastic", elastic_bytes}, {"inertia", inertia_bytes}, {"interfaces", interface_bytes},
    {"samples", sample_bytes},  {"surface", surface_bytes}, {"volume", volume_bytes},
};
#define MEMORY_KIND_COUNT ((int)(sizeof memory_kinds / sizeof *memory_kinds))

const char *app_size_text(double bytes) {
    static char texts[4][32];
    static int next;
    char *text = texts[next++ % 4];
    if (bytes < 1e3)
        snprintf(text, sizeof texts[0], "%.0f B", bytes);
    else if (bytes < 1e6)
        snprintf(text, sizeof texts[0], "%.1f kB", bytes / 1e3);
    else
        snprintf(text, sizeof texts[0], "%.1f MB", bytes / 1e6);
    return text;
}

/* ---- words ---- */

const char *app_elastic_name(const bough_component *c) {
    static const char *const names[] = {"rigid", "linear", "polynomial", "cubature"};
    return names[c->elastic];
}

/* Returns a text from a file as a terminal can show it: no control characters (U+0080 to U+009F are C2 80 to C2 9F),
 * and not without end. */
static const char *plain(const char *text) {
    static char texts[8][256];
    static int next;
    char *copy = texts[next++ % 8];
    if (snprintf(copy, sizeof texts[0], "%s", text) >= (int)sizeof texts[0])
        memcpy(copy + sizeof texts[0] - 4, "...", 4);
    for (unsigned char *c = (unsigned char *)copy; *c; c++)
        if (*c < ' ' || *c == 0x7F)
            *c = ' ';
        else if (c[0] == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0)
            c[0] = c[1] = ' ';
    return copy;
}

static const char *support_name(const bough_component *c) {
    static const char *const names[] = {"interface", "fixed", "free"};
    return names[c->support];
}

/* ---- quality ---- */

static const struct {
    const char *name, *about;
    size_t offset;
} qualities[] = {
#define QUALITY_ROW(name, about) {#name, about, offsetof(bough_component_quality, name)},
    BOUGH_QUALITY_LIST(QUALITY_ROW)
#undef QUALITY_ROW
};
#define QUALITY_COUNT ((int)(sizeof qualities / sizeof *qualities))

static double quality_value(const bough_component *c, int i) {
    double value;
    memcpy(&value, (const char *)&c->quality + qualities[i].offset, sizeof value);
    return value;
}

/* Relative error of mode k's frequency. */
static double frequency_error(const bough_component_quality *q, int32_t k) {
    return q->full_hz[k] > 0 ? fabs(q->reduced_hz[k] / q->full_hz[k] - 1) : 0;
}

/* Less than this is beyond what anybody will see. */
#define LEAST_ERROR 1e-5

static const char *percent(double error) {
    static char texts[4][24];
    static int next;
    char *text = texts[next++ % 4];
    snprintf(text, sizeof texts[0], error < 0.1 ? "%.2g %%" : "%.0f %%", 100 * fmax(error, LEAST_ERROR));
    return text;
}

static const struct {
    const char *what, *after;
} verdicts[BOUGH_VERDICT_COUNT] = {
    [BOUGH_VERDICT_FREQUENCIES] = {"frequencies", "of the full body's, in the lower half of those below"},
    [BOUGH_VERDICT_FORCES] = {"forces", "of the full body's where the basis can follow it"},
    [BOUGH_VERDICT_MOTION] = {"motion",
                              "of the full body's under a weight that bends it a tenth of its size, and after "
                              "blows"},
    [BOUGH_VERDICT_LOADS] = {"loads", "of the full body's answer to forces and torques where something hangs"},
};

static const char *grade_name(bough_verdict verdict, double error) {
    static const char *const names[] = {"poor", "fair", "good"};
    return names[bough_verdict_grade(verdict, error)];
}

/* Whether the word is among those of the basis' kind. */
static bool has_kind(const bough_component *c, const char *word) {
    json_t *p = app_json_provenance(c);
    const char *kind = json_string_value(json_object_get(json_object_get(p, "options"), "kind"));
    bool found = kind && strstr(kind, word);
    json_decref(p);
    return found;
}

/* Returns advice against a result that is not good. A basis that cannot bend far lacks derivatives, whatever its
 * size. */
static const char *advice_for(const bough_component *c, bough_verdict verdict) {
    const bough_component_quality *q = &c->quality;
    const bool bends = q->response_moderate > q->projection_impulse;
    if (verdict == BOUGH_VERDICT_FORCES)
        return c->elastic == BOUGH_REDUCED_CUBATURE ? "lower elastic.tolerance (--quality good does)"
                                                    : "linear forces suit small displacements only";
    if (verdict == BOUGH_VERDICT_MOTION && bends && !has_kind(c, "derivatives"))
        return "add derivatives to the basis";
    if (verdict == BOUGH_VERDICT_MOTION && bends && has_kind(c, "craig-bampton"))
        return "raise r, or take modes+derivatives: unit motions of interfaces leave little room for derivatives";
    if (verdict == BOUGH_VERDICT_LOADS && !has_kind(c, "wrenches"))
        return "add wrenches to the basis";
    return "raise r (--quality good finds how far)";
}

static const char *wrench_text(const bough_component *c) {
    static char text[400];
    const bough_unit_wrench *w = &c->quality.wrench;
    double axis[3];
    for (int d = 0; d < 3; d++)
        axis[d] = fabs(w->axis[d]) < 5e-4 ? 0 : w->axis[d];
    snprintf(text, sizeof text, "a %s (%.3g, %.3g, %.3g) at %s%s%s", w->torque ? "torque about" : "force along",
             axis[0], axis[1], axis[2], w->interface_index < 0 ? "its free end" : "\"",
             w->interface_index < 0 ? "" : plain(c->interfaces[w->interface_index].name),
             w->interface_index < 0 ? "" : "\"");
    return text;
}

static void print_verdicts(const bough_component *c) {
    if (c->r == 0) {
        puts("quality         rigid: nothing was reduced");
        return;
    }
    for (int i = 0; i < BOUGH_VERDICT_COUNT; i++) {
        const bough_verdict v = (bough_verdict)i;
        const double error = bough_component_error(c, v);
        const bool poor = bough_verdict_grade(v, error) == BOUGH_GRADE_POOR;
        if (!isnan(error))
            printf("%-15s %s: within %s %s%s%s\n", verdicts[i].what, grade_name(v, error), percent(error),
                   verdicts[i].after, poor ? "; " : "", poor ? advice_for(c, v) : "");
        if (v == BOUGH_VERDICT_MOTION && c->quality.response_gravity > 0.1)
            printf("%-15s bent by a quarter of its size it is %s off\n", "", percent(c->quality.response_gravity));
    }
    if (!isnan(c->quality.wrench_error))
        printf("worst wrench    %s loses %s of its answer\n", wrench_text(c), percent(c->quality.wrench_error));
}

void app_worst_quality(const bough_cook_item *item, int32_t r, char *text, size_t size) {
    const bool of_scene = item->worst == BOUGH_VERDICT_MOTION || item->worst == BOUGH_VERDICT_LOADS;
    if (isnan(item->error))
        snprintf(text, size, "%s", r ? "not measured" : "rigid");
    else
        snprintf(text, size, "%s: %s within %s%s", grade_name(item->worst, item->error), verdicts[item->worst].what,
                 percent(item->error), of_scene && item->share < 1 ? " of what the scene shows" : "");
}

static void print_frequencies(const bough_component_quality *q) {
    if (q->mode_count == 0)
        return;
    puts("frequencies (Hz)         full      reduced      error");
    for (int32_t k = 0; k < q->mode_count; k++)
        printf("  mode %-4d      %12.6g %12.6g %2s%s\n", k + 1, q->full_hz[k], q->reduced_hz[k],
               frequency_error(q, k) < LEAST_ERROR ? "<" : "", percent(frequency_error(q, k)));
}

static void print_support(const bough_component *c) {
    if (c->support == BOUGH_SUPPORT_INTERFACE)
        printf("support         hangs by the interface \"%s\"\n", c->interfaces[c->parent].name);
    else
        printf("support         %s\n",
               c->support == BOUGH_SUPPORT_FIXED ? "a root, held at fixed vertices" : "a root that flies free");
}

void app_print_quality(const bough_component *c) {
    print_verdicts(c);
    print_frequencies(&c->quality);
    if (c->r)
        puts("measured (relative)");
    for (int i = 0; i < QUALITY_COUNT; i++)
        if (!isnan(quality_value(c, i)))
            printf("  %-20s %-10.*g %s\n", qualities[i].name, quality_value(c, i) > 0.9 ? 7 : 3, quality_value(c, i),
                   qualities[i].about);
}

/* ---- the card ---- */

static void print_model(const bough_component *c) {
    printf("coordinates     r = %d\n", c->r);
    printf("elastic model   %s", app_elastic_name(c));
    if (c->elastic == BOUGH_REDUCED_POLYNOMIAL)
        printf(", %.0f coefficients", quartic_count(c));
    if (c->elastic == BOUGH_REDUCED_CUBATURE)
        printf(", %d points", c->cubature.count);
    if (c->damping_mass > 0 || c->damping_stiffness > 0)
        printf("; damping %g M + %g K", c->damping_mass, c->damping_stiffness);
    puts("");
    print_support(c);
}

/* "(0, 0, 0.4)" without rounding noise, which is told by the size of the body. */
static const char *point_text(const bough_component *c, const double x[3], double factor) {
    static char texts[4][96];
    static int next;
    char *text = texts[next++ % 4];
    double noise = 1e-6 * sqrt((c->Sigma0[0] + c->Sigma0[4] + c->Sigma0[8]) / c->mass), y[3];
    for (int d = 0; d < 3; d++)
        y[d] = fabs(factor * x[d]) > noise ? factor * x[d] : 0;
    snprintf(text, sizeof texts[0], "(%.5g, %.5g, %.5g)", y[0], y[1], y[2]);
    return text;
}

static void print_masses(const bough_component *c) {
    printf("mass            %.6g kg, its centre at %s m in the component's frame, whose origin is at %s in the mesh\n",
           c->mass, point_text(c, c->mc0, 1 / c->mass), point_text(c, c->origin, 1));
}

static void print_interfaces(const bough_component *c) {
    for (int32_t i = 0; i < c->interface_count; i++) {
        const bough_interface *f = &c->interfaces[i];
        printf("interface       \"%s\": %d vertices, radius %.4g m, centre %s%s\n", f->name, f->vertex_count, f->radius,
               point_text(c, f->centre, 1), i == c->parent ? ", parent" : "");
    }
}

static void print_sizes(const bough_component *c) {
    printf("surface         %d vertices, %d triangles%s\n", c->surface.vertex_count, c->surface.triangle_count,
           c->surface.U16 ? ", int16" : "");
    if (c->wind.count || c->contact.count || c->stress.count)
        printf("samples         %d wind, %d contact, %d stress\n", c->wind.count, c->contact.count, c->stress.count);
    printf("memory          %s in all", app_size_text((double)c->image_size));
    for (int i = 0; i < MEMORY_KIND_COUNT; i++)
        if (memory_kinds[i].bytes(c) > 0)
            printf(", %s %s", memory_kinds[i].name, app_size_text(memory_kinds[i].bytes(c)));
    printf("\nan evaluation   %.4g operations for forces and tangent, reads %s\n", bough_component_operations(c),
           app_size_text(touched_bytes(c)));
}

static const char *member(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? plain(text) : "?";
}

static void print_provenance(const bough_component *c) {
    json_t *p = app_json_provenance(c);
    const json_t *mesh = json_object_get(p, "mesh"), *options = json_object_get(p, "options");
    if (mesh)
        printf("made            by %s %s from %s: %lld vertices, %lld %s elements; basis of %s\n", member(p, "program"),
               member(p, "version"), member(p, "file"),
               (long long)json_integer_value(json_object_get(mesh, "vertices")),
               (long long)json_integer_value(json_object_get(mesh, "elements")), member(mesh, "type"),
               member(options, "kind"));
    json_decref(p);
}

void app_print_card(const char *path, const bough_component *c) {
    json_t *p = app_json_provenance(c);
    const char *name = json_string_value(json_object_get(p, "name"));
    printf("%s%s%s%s: %s\n", path, name ? " (" : "", name ? plain(name) : "", name ? ")" : "",
           app_size_text((double)c->image_size));
    json_decref(p);
    print_provenance(c);
    print_model(c);
    print_masses(c);
    print_interfaces(c);
    print_sizes(c);
    app_print_quality(c);
}

/* ---- the same for programs ---- */

static json_t *json_interfaces(const bough_component *c) {
    json_t *list = json_array();
    for (int32_t i = 0; i < c->interface_count; i++) {
        const bough_interface *f = &c->interfaces[i];
        json_array_append_new(list, json_pack("{s:o, s:i, s:f, s:o}", "name", app_json_text(f->name), "vertices",
                                              f->vertex_count, "radius", f->radius, "centre",
                                              app_json_numbers(f->centre, 3)));
    }
    return list;
}

static json_t *json_quality(const bough_component *c) {
    json_t *object = json_object();
    for (int i = 0; i < QUALITY_COUNT; i++)
        json_object_set_new(object, qualities[i].name, app_json_number(quality_value(c, i)));
    json_object_set_new(object, "full_hz", app_json_numbers(c->quality.full_hz, c->quality.mode_count));
    json_object_set_new(object, "reduced_hz", app_json_numbers(c->quality.reduced_hz, c->quality.mode_count));
    return object;
}

/* Lists the verdicts that are poor, with advice. */
static json_t *json_warnings(const bough_component *c) {
    json_t *list = json_array();
    for (int i = 0; c->r > 0 && i < BOUGH_VERDICT_COUNT; i++) {
        const bough_verdict v = (bough_verdict)i;
        const double error = bough_component_error(c, v);
        if (bough_verdict_grade(v, error) == BOUGH_GRADE_POOR)
            json_array_append_new(list, json_sprintf("%s: within %s %s; %s", verdicts[i].what, percent(error),
                                                     verdicts[i].after, advice_for(c, v)));
    }
    return list;
}

static json_t *json_memory(const bough_component *c) {
    json_t *object = json_pack("{s:I}", "file", (json_int_t)c->image_size);
    for (int i = 0; i < MEMORY_KIND_COUNT; i++)
        json_object_set_new(object, memory_kinds[i].name, json_integer((json_int_t)memory_kinds[i].bytes(c)));
    json_object_set_new(object, "touched_by_evaluation", json_integer((json_int_t)touched_bytes(c)));
    return object;
}

static json_t *json_masses(const bough_component *c) {
    double centre[3];
    for (int d = 0; d < 3; d++)
        centre[d] = c->mc0[d] / c->mass;
    return json_pack("{s:f, s:o, s:o, s:f, s:f}", "mass", c->mass, "centre", app_json_numbers(centre, 3), "origin",
                     app_json_numbers(c->origin, 3), "damping_mass", c->damping_mass, "damping_stiffness",
                     c->damping_stiffness);
}

json_t *app_json_component(const char *path, const bough_component *c) {
    json_t *provenance = app_json_provenance(c);
    json_t *object = json_pack(
        "{s:o, s:i, s:s, s:I, s:i, s:s, s:o, s:o, s:i, s:i, s:b, s:i, s:i, s:i, s:b, s:o, s:f, s:o, s:o, s:o}", "file",
        app_json_text(path), "r", c->r, "elastic", app_elastic_name(c), "coefficients", (json_int_t)quartic_count(c),
        "cubature_points", c->cubature.count, "support", support_name(c), "parent",
        c->parent >= 0 ? app_json_text(c->interfaces[c->parent].name) : json_null(), "interfaces", json_interfaces(c),
        "surface_vertices", c->surface.vertex_count, "surface_triangles", c->surface.triangle_count, "int16",
        c->surface.U16 != NULL, "wind_points", c->wind.count, "contact_points", c->contact.count, "stress_points",
        c->stress.count, "volume_kept", c->volume.vertex_count > 0, "memory", json_memory(c), "operations",
        bough_component_operations(c), "quality", json_quality(c), "provenance", provenance ? provenance : json_null(),
        "input_hash", json_sprintf("%016llx", (unsigned long long)c->input_hash));
    json_object_set_new(object, "warnings", json_warnings(c));
    json_t *masses = json_masses(c);
    json_object_update(object, masses);
    json_decref(masses);
    return object;
}
