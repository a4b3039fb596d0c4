#include "contact/islands.h"

#include <string.h>

bough_status bo_islands_create(bough_context *ctx, int32_t group_count, bo_islands *islands) {
    *islands = (bo_islands){.group_count = group_count};
    islands->above = BO_NEW_ARRAY(ctx, int32_t, group_count);
    islands->of = BO_NEW_ARRAY(ctx, int32_t, group_count);
    return islands->above && islands->of ? bo_islands_reserve(ctx, islands, 1) : bo_fail_memory(ctx);
}

void bo_islands_destroy(bough_context *ctx, bo_islands *islands) {
    void *const blocks[] = {islands->start,    islands->order, islands->rounds,
                            islands->residual, islands->above, islands->of};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
    *islands = (bo_islands){0};
}

bough_status bo_islands_reserve(bough_context *ctx, bo_islands *islands, size_t constraint_count) {
    size_t start = islands->capacity ? islands->capacity + 1 : 0, order = islands->capacity, rounds = order,
           residual = order;
    if (constraint_count <= islands->capacity)
        return BOUGH_OK;
    if (!BO_RESERVE(ctx, islands->order, order, constraint_count) || !BO_RESERVE(ctx, islands->rounds, rounds, order) ||
        !BO_RESERVE(ctx, islands->residual, residual, order) || !BO_RESERVE(ctx, islands->start, start, order + 1))
        return bo_fail_memory(ctx);
    islands->capacity = order;
    return BOUGH_OK;
}

/* The way to the root is halved on the way. */
static int32_t root_of(int32_t *above, int32_t group) {
    while (above[group] != group)
        group = above[group] = above[above[group]];
    return group;
}

static int32_t first_group(const bo_constraint *c) {
    return c->groups[0] >= 0 ? c->groups[0] : c->groups[1];
}

/* Numbers islands by their first constraints; returns how many there are. */
static int32_t number_islands(bo_islands *islands, int32_t constraint_count, const bo_constraint *constraints) {
    int32_t count = 0;
    for (int32_t g = 0; g < islands->group_count; g++)
        islands->of[g] = -1;
    for (int32_t i = 0; i < constraint_count; i++) {
        const int32_t root = root_of(islands->above, first_group(&constraints[i]));
        if (islands->of[root] < 0)
            islands->of[root] = count++;
    }
    return count;
}

void bo_islands_find(bo_islands *islands, int32_t constraint_count, const bo_constraint *constraints, bool apart) {
    for (int32_t g = 0; g < islands->group_count; g++)
        islands->above[g] = g;
    for (int32_t i = 0; i < constraint_count && apart; i++)
        if (constraints[i].groups[0] >= 0 && constraints[i].groups[1] >= 0) {
            const int32_t a = root_of(islands->above, constraints[i].groups[0]),
                          b = root_of(islands->above, constraints[i].groups[1]);
            islands->above[a < b ? b : a] = a < b ? a : b;
        }
    islands->count = apart ? number_islands(islands, constraint_count, constraints) : constraint_count > 0;
    if (islands->count <= 1) {
        for (int32_t i = 0; i < constraint_count; i++)
            islands->order[i] = i;
        islands->start[0] = 0, islands->start[islands->count] = constraint_count;
        return;
    }
    memset(islands->start, 0, ((size_t)islands->count + 1) * sizeof *islands->start);
    for (int32_t i = 0; i < constraint_count; i++)
        islands->start[islands->of[root_of(islands->above, first_group(&constraints[i]))] + 1]++;
    for (int32_t k = 0; k < islands->count; k++)
        islands->start[k + 1] += islands->start[k];
    for (int32_t i = 0; i < constraint_count; i++) /* where the next constraint of an island goes: its start moves on */
        islands->order[islands->start[islands->of[root_of(islands->above, first_group(&constraints[i]))]]++] = i;
    for (int32_t k = islands->count; k > 0; k--)
        islands->start[k] = islands->start[k - 1];
    islands->start[0] = 0;
}
