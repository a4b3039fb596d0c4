/* Abaqus and CalculiX input: nodes, elements, sets, surfaces, materials and sections; add a *STEP to run it. */
#include "mesh/formats.h"
#include "mesh/inp.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define ROW 16 /* entries on a data line, which CalculiX and Abaqus allow */
#define NAME_LIMIT 80
#define FIELD 20             /* characters of a number that CalculiX reads */
#define SMALLEST_FIXED 1e-90 /* keeps numbers below the 127 characters that Bough reads */

/* Names that other programs read as they are; the rest is quoted. */
static bool is_plain(const char *name) {
    if (!isalpha((unsigned char)name[0]) && name[0] != '_')
        return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_-.:", *c))
            return false;
    return true;
}

static bough_status check_name(bough_context *ctx, const char *path, const char *name) {
    for (const char *c = name; *c; c++)
        if (*c == '"' || iscntrl((unsigned char)*c))
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                           "%s: the name \"%s\" contains a character that .inp files cannot hold", path, name);
    size_t length = strlen(name);
    if (length == 0 || length > NAME_LIMIT || isspace((unsigned char)name[0]) ||
        isspace((unsigned char)name[length - 1]) || bo_equal_ignoring_case(name, BO_INP_ALL))
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "%s: \"%.100s\" cannot be a name in .inp files (1 to %d characters, no blanks at its ends)",
                       path, name, NAME_LIMIT);
    return BOUGH_OK;
}

static bough_status fail_case(bough_context *ctx, const char *path, const char *a, const char *b) {
    return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: .inp files cannot tell the names \"%s\" and \"%s\" apart", path,
                   a, b);
}

static bool same_material(const bough_mesh_material *a, const bough_mesh_material *b) {
    return strcmp(a->name, b->name) == 0 && a->young == b->young && a->poisson == b->poisson &&
           a->density == b->density;
}

static bough_status check_names(bough_context *ctx, const bough_mesh *mesh, const char *path) {
    for (int32_t i = 0; i < mesh->set_count; i++) {
        BO_TRY(check_name(ctx, path, mesh->sets[i].name));
        for (int32_t k = 0; k < i; k++)
            if (mesh->sets[k].kind == mesh->sets[i].kind &&
                bo_equal_ignoring_case(mesh->sets[k].name, mesh->sets[i].name))
                return fail_case(ctx, path, mesh->sets[k].name, mesh->sets[i].name);
    }
    for (int32_t i = 0; i < mesh->material_count; i++) {
        BO_TRY(check_name(ctx, path, mesh->materials[i].name));
        for (int32_t k = 0; k < i; k++)
            if (bo_equal_ignoring_case(mesh->materials[k].name, mesh->materials[i].name) &&
                !same_material(&mesh->materials[k], &mesh->materials[i]))
                return fail_case(ctx, path, mesh->materials[k].name, mesh->materials[i].name);
    }
    return BOUGH_OK;
}

static const char *quote_of(const char *name) {
    return is_plain(name) ? "" : "\"";
}

static void write_name(FILE *stream, const char *parameter, const char *name) {
    fprintf(stream, ", %s=%s%s%s", parameter, quote_of(name), name, quote_of(name));
}

/* Exact when read back. CalculiX looks at the first 20 characters only, where a cut-off exponent would be an error:
 * long small numbers are written without one, so that it loses digits beyond 1e-17 instead. */
static void write_number(FILE *stream, const char *before, double value) {
    char text[160];
    double again = 0;
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (bo_parse_double(text, strlen(text), &again) && again == value)
            break;
    }
    double size = fabs(value);
    if (strlen(text) > FIELD && size < 1 && size > SMALLEST_FIXED) {
        int decimals = 17 - (int)floor(log10(size)); /* 17 digits, one more should log10 round */
        snprintf(text, sizeof text, "%.*f", decimals, value);
    }
    fprintf(stream, "%s%s", before, text);
}

static bough_status write_elements(bough_context *ctx, const bough_mesh *mesh, FILE *stream) {
    static const char *const types[] = {
        [BOUGH_TRI3] = "S3", [BOUGH_TET4] = "C3D4", [BOUGH_TET10] = "C3D10", [BOUGH_HEX8] = "C3D8"};
    int32_t count = bough_element_node_count(mesh->type);
    fprintf(stream, "*ELEMENT, TYPE=%s, ELSET=%s\n", types[mesh->type], BO_INP_ALL);
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *nodes = bo_mesh_nodes(mesh, e);
        fprintf(stream, "%d", e + 1);
        for (int32_t i = 0; i < count; i++)
            fprintf(stream, ", %d", nodes[i] + 1);
        fputc('\n', stream);
        BO_TRY(bo_mesh_go_on(ctx, "writing elements", (size_t)e, (size_t)mesh->element_count));
    }
    return BOUGH_OK;
}

static void write_set(const bough_mesh *mesh, const bough_set *set, FILE *stream) {
    static const char *const keywords[] = {
        [BOUGH_SET_VERTEX] = "NSET", [BOUGH_SET_FACE] = "SURFACE", [BOUGH_SET_ELEMENT] = "ELSET"};
    if (set->count == 0) { /* a card without data is an error to CalculiX */
        fprintf(stream, "** empty %s: %s\n", keywords[set->kind], set->name);
        return;
    }
    fprintf(stream, "*%s", keywords[set->kind]);
    if (set->kind == BOUGH_SET_FACE) {
        int32_t faces = bough_element_face_count(mesh->type);
        write_name(stream, "NAME", set->name);
        fputs(", TYPE=ELEMENT\n", stream);
        for (int32_t i = 0; i < set->count; i++)
            fprintf(stream, "%d, S%d\n", set->items[i] / faces + 1, set->items[i] % faces + 1);
        return;
    }
    write_name(stream, keywords[set->kind], set->name);
    for (int32_t i = 0; i < set->count; i++)
        fprintf(stream, "%s%d", i % ROW == 0 ? "\n" : ", ", set->items[i] + 1);
    fputc('\n', stream);
}

static void write_material(const bough_mesh_material *material, FILE *stream) {
    fputs("*MATERIAL", stream);
    write_name(stream, "NAME", material->name);
    fputc('\n', stream);
    if (material->young > 0) { /* 0: unknown */
        write_number(stream, "*ELASTIC\n", material->young);
        write_number(stream, ", ", material->poisson);
        fputc('\n', stream);
    }
    if (material->density > 0) {
        write_number(stream, "*DENSITY\n", material->density);
        fputc('\n', stream);
    }
}

static void write_sections(const bough_mesh *mesh, FILE *stream) {
    for (int32_t i = 0; i < mesh->material_count; i++) {
        bool known = false; /* equal materials of one name are one material here */
        for (int32_t k = 0; k < i; k++)
            known = known || strcmp(mesh->materials[k].name, mesh->materials[i].name) == 0;
        if (!known)
            write_material(&mesh->materials[i], stream);
    }
    for (int32_t i = 0; i < mesh->region_count; i++) {
        const bough_mesh_region *region = &mesh->regions[i];
        const bough_set *set = bough_mesh_find_set(mesh, BOUGH_SET_ELEMENT, region->set);
        if (region->set[0] && (!set || set->count == 0))
            continue; /* made of nothing */
        fputs("*SOLID SECTION", stream);
        write_name(stream, "ELSET", region->set[0] ? region->set : BO_INP_ALL);
        write_name(stream, "MATERIAL", mesh->materials[region->material].name);
        fputc('\n', stream);
    }
}

bough_status bo_write_inp(bough_context *ctx, const bough_mesh *mesh, const char *path, FILE *stream) {
    if (mesh->type == BOUGH_TRI3)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "%s: a surface cannot be written to .inp; write .obj, .stl, .msh or .vtu", path);
    BO_TRY(check_names(ctx, mesh, path));
    fputs("** written by Bough\n*NODE\n", stream);
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        const double *x = mesh->vertices + 3 * (size_t)v;
        fprintf(stream, "%d", v + 1);
        for (int d = 0; d < 3; d++)
            write_number(stream, ", ", x[d]);
        fputc('\n', stream);
        BO_TRY(bo_mesh_go_on(ctx, "writing vertices", (size_t)v, (size_t)mesh->vertex_count));
    }
    BO_TRY(write_elements(ctx, mesh, stream));
    for (int32_t i = 0; i < mesh->set_count; i++)
        write_set(mesh, &mesh->sets[i], stream);
    write_sections(mesh, stream);
    return BOUGH_OK;
}
