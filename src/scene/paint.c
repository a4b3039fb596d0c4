/* "paint": stiffness and damping of parts that are chosen by their names. */
#include "scene/scene.h"

#include "scene/entries.h"

#include <string.h>

/* ---- choosing ---- */

/* Goes back to the last star only: that which an earlier one could take, the last can too. */
bool bo_glob_matches(const char *pattern, const char *text) {
    const char *star = NULL, *from = text;
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            from = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++, text++;
        } else if (star) {
            pattern = star + 1;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

/* "leaf17" is one of "leaf*". */
static char *family_of(bough_context *ctx, const char *name) {
    size_t length = strlen(name);
    while (length > 0 && name[length - 1] >= '0' && name[length - 1] <= '9')
        length--;
    char *family = BO_NEW_ARRAY(ctx, char, length + 2);
    if (family) {
        memcpy(family, name, length);
        memcpy(family + length, "*", 2);
    }
    return family;
}

/* A pattern that matches nothing, with the nearest name or family of names that there is. */
static bough_status fail_pattern(bo_json at, const char *what, const char *pattern, const char *const *names,
                                 int32_t count) {
    bough_context *ctx = at.ctx;
    const char **words = BO_NEW_ZEROS(ctx, const char *, 2 * (size_t)count);
    const bool glob = strpbrk(pattern, "*?");
    bough_status status = words ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++) {
        words[i] = names[i];
        if (glob && !(words[count + i] = family_of(ctx, names[i])))
            status = BOUGH_ERROR_MEMORY;
    }
    if (status == BOUGH_OK && glob) /* families first */
        status = bo_json_fail_word(at, what, pattern, words + count, count);
    else if (status == BOUGH_OK)
        status = bo_json_fail_word(at, what, pattern, words, count);
    for (int32_t i = 0; words && i < count; i++)
        bo_free(ctx, (char *)words[count + i]);
    bo_free(ctx, words);
    return status;
}

typedef struct {
    const bo_assembly *assembly;
    const char **part_names, **component_names;
    bool *chosen;      /* of the parts, by one entry */
    double *stiffness; /* of the parts: the last factor; NAN: none */
    int32_t *curve;    /* of the parts: of that entry; -1: none */
} painter;

/* Leaves those chosen whose name, or component's name, matches. */
static bough_status choose(bo_json at, const painter *p, bool by_component) {
    const bo_assembly *assembly = p->assembly;
    const char *pattern = NULL, *const *names = by_component ? p->component_names : p->part_names;
    const int32_t name_count = by_component ? assembly->component_count : assembly->part_count;
    bool any = false;
    BO_TRY(bo_json_string(at, &pattern));
    if (!pattern)
        return BOUGH_OK;
    for (int32_t i = 0; i < name_count && !any; i++)
        any = bo_glob_matches(pattern, names[i]);
    if (!any)
        return fail_pattern(at, by_component ? "component " : "part ", pattern, names, name_count);
    for (int32_t i = 0; i < assembly->part_count; i++)
        p->chosen[i] = p->chosen[i] && bo_glob_matches(pattern, names[by_component ? assembly->parts[i].component : i]);
    return BOUGH_OK;
}

/* ---- one entry ---- */

/* Factors must stay positive all the time. */
static bough_status read_curve(bo_json at, const bough_scene *scene, int32_t *curve) {
    const char *name = NULL;
    const bo_drive *drive = scene ? &scene->drive : NULL;
    BO_TRY(bo_json_string(at, &name));
    if (!name)
        return BOUGH_OK;
    if (!drive)
        return bo_json_fail(at, "only the scene that is run has a time; paint the object's parts there instead");
    const char **names = BO_NEW_ARRAY(at.ctx, const char *, drive->curve_count);
    if (!names)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < drive->curve_count; i++)
        names[i] = drive->curves[i].name;
    bough_status status = drive->curve_count ? bo_json_choice(at, names, drive->curve_count, curve)
                                             : bo_json_fail(at, "the scene has no \"curves\"");
    bo_free(at.ctx, names);
    BO_TRY(status);
    const bo_curve *c = &drive->curves[*curve];
    for (int32_t i = 0; i < c->count; i++)
        if (!(c->values[i] > 0))
            return bo_json_fail(at, "a factor on frequencies must be positive, but the curve is %g at %g s",
                                c->values[i], c->times[i]);
    return BOUGH_OK;
}

static bough_status read_entry(bo_json at, painter *p, bo_assembly *assembly, const bough_scene *scene) {
    double stiffness = 1, ratio = NAN;
    int32_t curve = -1;
    bo_json parts = bo_json_at(&at, "parts"), component = bo_json_at(&at, "component");
    BO_TRY(bo_json_keys(at, BO_PAINT_KEYS));
    if (!parts.value && !component.value)
        return bo_json_fail(at, "needs \"parts\" or \"component\", a pattern of names, to say what is painted; "
                                "\"*\" is all");
    BO_TRY(bo_json_number(bo_json_at(&at, "stiffness"), BO_POSITIVE, &stiffness));
    BO_TRY(bo_json_number(bo_json_at(&at, "damping_ratio"), BO_NOT_NEGATIVE, &ratio));
    BO_TRY(read_curve(bo_json_at(&at, "curve"), scene, &curve));
    const bool stiffens = bo_json_has(&at, "stiffness") || curve >= 0;
    if (!stiffens && isnan(ratio))
        return bo_json_fail(at, "paints nothing: give it a \"stiffness\" or a \"damping_ratio\"");
    memset(p->chosen, true, (size_t)assembly->part_count);
    BO_TRY(choose(parts, p, false));
    BO_TRY(choose(component, p, true));
    bool any = false;
    for (int32_t i = 0; i < assembly->part_count; i++) {
        if (!p->chosen[i])
            continue;
        any = true;
        if (stiffens)
            p->stiffness[i] = stiffness, p->curve[i] = curve;
        if (!isnan(ratio))
            assembly->parts[i].damping_ratio = ratio;
    }
    return any ? BOUGH_OK : bo_json_fail(at, "no part of this name has such a component, so that nothing is painted");
}

/* ---- all ---- */

/* The last factor that was painted goes over the part's own. */
static bough_status finish(bough_context *ctx, const painter *p, bo_assembly *assembly, bough_scene *scene) {
    int32_t moving = 0;
    for (int32_t i = 0; i < assembly->part_count; i++)
        moving += p->curve[i] >= 0;
    if (moving && !(scene->painted = BO_NEW_ARRAY(ctx, bo_scene_painted, moving)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < assembly->part_count; i++) {
        bo_part *part = &assembly->parts[i];
        if (isnan(p->stiffness[i]))
            continue;
        part->stiffness *= p->stiffness[i];
        if (p->curve[i] < 0)
            continue;
        scene->painted[scene->painted_count++] = (bo_scene_painted){i, p->curve[i], part->stiffness};
        part->stiffness *= bo_curve_at(&scene->drive.curves[p->curve[i]], 0);
    }
    return BOUGH_OK;
}

static bough_status start(bough_context *ctx, const bo_assembly *assembly, painter *p) {
    const int32_t parts = assembly->part_count, components = assembly->component_count;
    *p = (painter){.assembly = assembly,
                   .part_names = BO_NEW_ARRAY(ctx, const char *, parts),
                   .component_names = BO_NEW_ARRAY(ctx, const char *, components),
                   .chosen = BO_NEW_ARRAY(ctx, bool, parts),
                   .stiffness = BO_NEW_ARRAY(ctx, double, parts),
                   .curve = BO_NEW_ARRAY(ctx, int32_t, parts)};
    if (!p->part_names || !p->component_names || !p->chosen || !p->stiffness || !p->curve)
        return BOUGH_ERROR_MEMORY;
    for (int32_t c = 0; c < components; c++)
        p->component_names[c] = assembly->components[c].name;
    for (int32_t i = 0; i < parts; i++) {
        p->part_names[i] = assembly->parts[i].name;
        p->stiffness[i] = NAN;
        p->curve[i] = -1;
    }
    return BOUGH_OK;
}

bough_status bo_paint_read(bo_json at, bo_assembly *assembly, bough_scene *scene) {
    int32_t count;
    painter p;
    BO_TRY(bo_json_list(at, &count));
    if (!at.value)
        return BOUGH_OK;
    if (count && assembly->part_count == 0)
        return bo_json_fail(at, "the scene has no parts");
    bough_status status = start(at.ctx, assembly, &p);
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++)
        status = read_entry(bo_json_item(&at, i), &p, assembly, scene);
    if (status == BOUGH_OK)
        status = finish(at.ctx, &p, assembly, scene);
    bo_free(at.ctx, p.part_names);
    bo_free(at.ctx, p.component_names);
    bo_free(at.ctx, p.chosen);
    bo_free(at.ctx, p.stiffness);
    bo_free(at.ctx, p.curve);
    return status;
}

void bo_scene_free_paint(bough_context *ctx, bough_scene *scene) {
    bo_free(ctx, scene->painted);
    scene->painted = NULL;
    scene->painted_count = 0;
}
