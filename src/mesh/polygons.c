#include "mesh/polygons.h"

bough_status bo_polygon_corner(bo_polygons *p, int64_t vertex) {
    if (vertex < 0 || vertex > INT32_MAX)
        return bo_scan_fail(p->s, "a face names vertex %lld (counted from 0), which does not exist", (long long)vertex);
    int32_t corner = (int32_t)vertex;
    if (p->corner_count == 0)
        p->first = corner;
    if (p->corner_count++ >= 2) {
        int32_t nodes[3] = {p->first, p->last, corner};
        /* Such a triangle is an edge run to and fro: a closed surface stays closed without it. */
        if (nodes[0] == nodes[1] || nodes[1] == nodes[2] || nodes[2] == nodes[0])
            p->dropped++;
        else
            BO_TRY(bo_builder_element(p->b, p->s, BOUGH_TRI3, nodes));
    }
    p->last = corner;
    return BOUGH_OK;
}

bough_status bo_polygon_end(bo_polygons *p) {
    int64_t count = p->corner_count;
    p->corner_count = 0;
    if (count < 3)
        return bo_scan_fail(p->s, "a face has %lld corners; it needs at least three", (long long)count);
    return BOUGH_OK;
}

void bo_polygons_end(const bo_polygons *p) {
    if (p->dropped)
        bo_warn(p->b->ctx, "%s: %lld triangles name a vertex twice and were left out", p->s->path,
                (long long)p->dropped);
}
