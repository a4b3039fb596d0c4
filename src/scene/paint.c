/* "paint": stiffness and damping of parts that are chosen by their names. */
#include "scene/scene.h"

#include "scene/entries.h"

#include <string.h>

typedef struct {
    bo_chooser choice; /* of one entry */
    double *stiffness; /* of the parts: the last factor; NAN: none */
    int32_t *curve;    /* of the parts: of that entry; -1: none */
} painter;

/* ---- one entry ---- */

/* Factors must stay positive all the time. */
static bough_status read_curve(bo_json at, const bough_scene *scene, int32_t *curve) {
    if (at.value && !scene)
        return bo_json_fail(at, "only the scene that is run has a time; paint the object's parts there instead");
    BO_TRY(bo_scene_choose_curve(at, scene ? &scene->drive : NULL, curve));
    if (*curve < 0)
        return BOUGH_OK;
    const bo_drive *drive = &scene->drive;
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
    BO_TRY(bo_choose(parts, component, &p->choice));
    for (int32_t i = 0; i < assembly->part_count; i++) {
        if (!p->choice.chosen[i])
            continue;
        if (stiffens)
            p->stiffness[i] = stiffness, p->curve[i] = curve;
        if (!isnan(ratio))
            assembly->parts[i].damping_ratio = ratio;
    }
    return p->choice.count ? BOUGH_OK
                           : bo_json_fail(at, "no part of this name has such a component, so that nothing is painted");
}

/* ---- all ---- */

/* The last factor that was painted goes over the part's own. */
static bough_status finish(bough_context *ctx, const painter *p, bo_assembly *assembly, bough_scene *scene) {
    int32_t moving = 0;
    for (int32_t i = 0; i < assembly->part_count; i++)
        moving += p->curve[i] >= 0;
    if (moving && !(scene->tree.painted = BO_NEW_ARRAY(ctx, bo_tree_painted, moving)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < assembly->part_count; i++) {
        bo_part *part = &assembly->parts[i];
        if (isnan(p->stiffness[i]))
            continue;
        part->stiffness *= p->stiffness[i];
        if (p->curve[i] < 0)
            continue;
        scene->tree.painted[scene->tree.painted_count++] = (bo_tree_painted){i, p->curve[i], part->stiffness};
        part->stiffness *= bo_curve_at(&scene->drive.curves[p->curve[i]], 0);
    }
    return BOUGH_OK;
}

static bough_status start(bough_context *ctx, const bo_assembly *assembly, painter *p) {
    const int32_t parts = assembly->part_count;
    *p = (painter){.stiffness = BO_NEW_ARRAY(ctx, double, parts), .curve = BO_NEW_ARRAY(ctx, int32_t, parts)};
    BO_TRY(bo_chooser_make(ctx, assembly, &p->choice));
    if (!p->stiffness || !p->curve)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < parts; i++)
        p->stiffness[i] = NAN, p->curve[i] = -1;
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
    bo_chooser_free(at.ctx, &p.choice);
    bo_free(at.ctx, p.stiffness);
    bo_free(at.ctx, p.curve);
    return status;
}

void bo_scene_free_paint(bough_context *ctx, bough_scene *scene) {
    bo_free(ctx, scene->tree.painted);
    scene->tree.painted = NULL;
    scene->tree.painted_count = 0;
}
