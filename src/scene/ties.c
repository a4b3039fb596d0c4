/* "ties": what closes loops. */
#include "scene/assembly.h"

#include "rig/joint.h"
#include "scene/entries.h"

#include <string.h>

static bough_status read_name(bo_json at, const bo_assembly *assembly, bough_joint_def *tie) {
    const char *name = NULL;
    BO_TRY(bo_json_string(at, &name));
    if (!name)
        return BOUGH_OK;
    for (int32_t i = 0; i < assembly->tie_count; i++)
        if (assembly->ties[i].name && !strcmp(assembly->ties[i].name, name))
            return bo_json_fail(at, "\"%.60s\" is the name of another tie already", name);
    tie->name = bo_strdup(at.ctx, name);
    return tie->name ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

static bough_status read_ends(bo_json parts, bo_json interfaces, const bo_assembly *assembly, bough_joint_def *tie) {
    int32_t count, faces;
    BO_TRY(bo_json_list(parts, &count));
    BO_TRY(bo_json_list(interfaces, &faces));
    if (count < 1 || count > 2)
        return bo_json_fail(parts, "must name two parts, or one that is tied to the world, not %d", count);
    if (faces != count)
        return bo_json_fail(interfaces, "must name an interface for each of the \"parts\": %d, not %d", count, faces);
    for (int32_t end = 0; end < count; end++) {
        bough_frame_def *frame = end == 0 ? &tie->parent : &tie->child;
        BO_TRY(bo_choose_part(bo_json_item(&parts, end), assembly, &frame->body));
        const bo_part *part = &assembly->parts[frame->body];
        BO_TRY(bo_choose_interface(bo_json_item(&interfaces, end), &assembly->components[part->component],
                                   &frame->interface_index));
    }
    return tie->parent.body != tie->child.body ? BOUGH_OK : bo_json_fail(parts, "would tie a part to itself");
}

static bough_status read_tie(bo_json at, const bo_assembly *assembly, bough_joint_def *tie) {
    BO_TRY(bo_json_keys(at, BO_TIE_KEYS));
    BO_TRY(read_ends(bo_json_must(&at, "parts"), bo_json_must(&at, "interfaces"), assembly, tie));
    double stiffness = 0, damping = 0, turning_stiffness = 0, turning_damping = 0;
    BO_TRY(bo_json_number(bo_json_must(&at, "stiffness"), BO_NOT_NEGATIVE, &stiffness));
    BO_TRY(bo_json_number(bo_json_at(&at, "damping"), BO_NOT_NEGATIVE, &damping));
    BO_TRY(bo_json_number(bo_json_at(&at, "turning_stiffness"), BO_NOT_NEGATIVE, &turning_stiffness));
    BO_TRY(bo_json_number(bo_json_at(&at, "turning_damping"), BO_NOT_NEGATIVE, &turning_damping));
    bo_set_springs(tie->stiffness, stiffness, turning_stiffness);
    bo_set_springs(tie->damping, damping, turning_damping);
    return read_name(bo_json_at(&at, "name"), assembly, tie);
}

static bough_status make_room(bough_context *ctx, int32_t more, bo_assembly *assembly) {
    if (more > BO_MOST_TIES - assembly->tie_count)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the scene has more than %d ties", BO_MOST_TIES);
    bough_joint_def *all = bo_realloc(ctx, assembly->ties, (size_t)(assembly->tie_count + more), sizeof *all);
    if (!all)
        return BOUGH_ERROR_MEMORY;
    assembly->ties = all;
    return BOUGH_OK;
}

bough_status bo_ties_read(bo_json at, bo_assembly *assembly) {
    int32_t count;
    BO_TRY(bo_json_list(at, &count));
    if (count == 0)
        return BOUGH_OK;
    if (assembly->part_count == 0)
        return bo_json_fail(at, "the scene has no parts");
    BO_TRY(bo_json_explain(at, make_room(at.ctx, count, assembly)));
    for (int32_t i = 0; i < count; i++) {
        bough_joint_def *tie = &assembly->ties[assembly->tie_count];
        *tie = bough_default_joint_def();
        tie->kind = BOUGH_JOINT_COMPLIANT;
        BO_TRY(read_tie(bo_json_item(&at, i), assembly, tie)); /* it has a name when all else is well */
        assembly->tie_count++;
    }
    return BOUGH_OK;
}

/* With the same material a spring becomes s times as stiff (a rod: E A / l), one that turns s^3 times; with masses s^3
 * and inertias s^5 times as large, damping that is s^2 and s^4 times as large keeps its ratio. */
bough_status bo_ties_copy(bough_context *ctx, const bough_joint_def *ties, int32_t count, int32_t first_part,
                          double scale, const char *prefix, bo_assembly *assembly) {
    if (count == 0)
        return BOUGH_OK;
    BO_TRY(make_room(ctx, count, assembly));
    for (int32_t i = 0; i < count; i++) {
        bough_joint_def *tie = &assembly->ties[assembly->tie_count];
        *tie = ties[i];
        if (tie->name) {
            tie->name = prefix ? bo_copy_name(ctx, prefix, ties[i].name) : bo_strdup(ctx, ties[i].name);
            if (!tie->name)
                return BOUGH_ERROR_MEMORY;
        }
        tie->parent.body += tie->parent.body >= 0 ? first_part : 0;
        tie->child.body += tie->child.body >= 0 ? first_part : 0;
        for (int k = 0; k < BO_MOST_FREEDOMS; k++) {
            tie->stiffness[k] *= k < 3 ? scale : pow(scale, 3);
            tie->damping[k] *= k < 3 ? scale * scale : pow(scale, 4);
        }
        assembly->tie_count++;
    }
    return BOUGH_OK;
}
