#include "mesh/mesh.h"

#include <string.h>

/* Faces are found by a hash table over their sorted corners: chains of faces with equal hash, newest last. */
struct bo_face_finder {
    const bough_mesh *mesh;
    int32_t *first; /* slot -> first face of the chain, -1 */
    int32_t *next;  /* face -> next face of the chain, -1 */
    uint32_t *hash; /* of each face: sorting corners to compare them takes longer */
    uint32_t slot_mask;
};

static void face_corners(const bough_mesh *mesh, int32_t face, int32_t key[4]) {
    const bo_element_info *info = bo_element_info_of(mesh->type);
    const int32_t *nodes = bo_mesh_nodes(mesh, face / info->face_count);
    const int32_t *corners = info->faces[face % info->face_count];
    for (int i = 0; i < 4; i++)
        key[i] = corners[i] < 0 ? -1 : nodes[corners[i]];
}

static void sort4(int32_t key[4]) {
    for (int i = 1; i < 4; i++)
        for (int j = i; j > 0 && key[j - 1] > key[j]; j--) {
            int32_t t = key[j];
            key[j] = key[j - 1];
            key[j - 1] = t;
        }
}

static uint32_t hash4(const int32_t key[4]) {
    uint64_t h = 0;
    for (int i = 0; i < 4; i++)
        h = (h ^ (uint32_t)key[i]) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(h >> 32);
}

bough_status bo_face_finder_create(bough_context *ctx, const bough_mesh *mesh, bo_face_finder **out) {
    *out = NULL;
    bo_face_finder *finder = BO_NEW(ctx, bo_face_finder);
    if (!finder)
        return BOUGH_ERROR_MEMORY;
    int32_t face_count = mesh->element_count * bo_element_info_of(mesh->type)->face_count;
    size_t slots = 16;
    while (slots < (size_t)face_count)
        slots *= 2;
    finder->mesh = mesh;
    finder->slot_mask = (uint32_t)(slots - 1);
    finder->first = BO_NEW_ARRAY(ctx, int32_t, slots);
    finder->next = BO_NEW_ARRAY(ctx, int32_t, face_count);
    finder->hash = BO_NEW_ARRAY(ctx, uint32_t, face_count);
    if (!finder->first || !finder->next || !finder->hash) {
        bo_face_finder_destroy(ctx, finder);
        return BOUGH_ERROR_MEMORY;
    }
    memset(finder->first, 0xff, slots * sizeof *finder->first);
    for (int32_t face = face_count - 1; face >= 0; face--) { /* backwards: chains run from low to high numbers */
        int32_t key[4];
        face_corners(mesh, face, key);
        sort4(key);
        finder->hash[face] = hash4(key);
        uint32_t slot = finder->hash[face] & finder->slot_mask;
        finder->next[face] = finder->first[slot];
        finder->first[slot] = face;
    }
    *out = finder;
    return BOUGH_OK;
}

void bo_face_finder_destroy(bough_context *ctx, bo_face_finder *finder) {
    if (!finder)
        return;
    bo_free(ctx, finder->first);
    bo_free(ctx, finder->next);
    bo_free(ctx, finder->hash);
    bo_free(ctx, finder);
}

/* The next face at or behind `face` in its chain with these sorted corners, whose hash this is. */
static int32_t match(const bo_face_finder *finder, int32_t face, uint32_t hash, const int32_t wanted[4]) {
    for (; face >= 0; face = finder->next[face]) {
        int32_t key[4];
        if (finder->hash[face] != hash)
            continue;
        face_corners(finder->mesh, face, key);
        sort4(key);
        if (memcmp(key, wanted, sizeof key) == 0)
            return face;
    }
    return -1;
}

int32_t bo_face_finder_find(const bo_face_finder *finder, const int32_t *corners, int32_t count) {
    int32_t wanted[4] = {corners[0], corners[1], corners[2], count == 4 ? corners[3] : -1};
    sort4(wanted);
    const uint32_t hash = hash4(wanted);
    return match(finder, finder->first[hash & finder->slot_mask], hash, wanted);
}

/* Pairs are found from their lower face. Where three or more share their corners, the two lowest are the pair. */
static int32_t pair_up(const bo_face_finder *finder, int32_t face_count, int32_t *neighbours) {
    int32_t crowded = 0;
    for (int32_t face = 0; face < face_count; face++) {
        if (neighbours[face] >= 0)
            continue;
        int32_t key[4];
        const uint32_t hash = finder->hash[face];
        face_corners(finder->mesh, face, key);
        sort4(key);
        int32_t second = match(finder, finder->next[face], hash, key);
        if (second < 0) /* the only one, or the last of a crowd */
            continue;
        if (match(finder, finder->first[hash & finder->slot_mask], hash, key) != face)
            continue; /* of a crowd whose pair is made */
        neighbours[face] = second;
        neighbours[second] = face;
        crowded += match(finder, finder->next[second], hash, key) >= 0;
    }
    return crowded;
}

bough_status bo_mesh_face_neighbours(bough_context *ctx, const bough_mesh *mesh, int32_t **out, int32_t *nonmanifold) {
    *out = NULL;
    bo_face_finder *finder;
    BO_TRY(bo_face_finder_create(ctx, mesh, &finder));
    int32_t face_count = mesh->element_count * bo_element_info_of(mesh->type)->face_count;
    int32_t *neighbours = BO_NEW_ARRAY(ctx, int32_t, face_count);
    if (neighbours) {
        memset(neighbours, 0xff, (size_t)face_count * sizeof *neighbours);
        *nonmanifold = pair_up(finder, face_count, neighbours);
    }
    bo_face_finder_destroy(ctx, finder);
    *out = neighbours;
    return neighbours ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}
