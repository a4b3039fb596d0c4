#include "example_oak.h"

#include <stdlib.h>

enum { MOST_AROUND = 30, MOST_ALONG = 50, MOST_STALK_ROWS = 11, MOST_BLADE_ROWS = 87 };
const oak_detail oak_seen_near = {MOST_AROUND, MOST_ALONG, MOST_STALK_ROWS, MOST_BLADE_ROWS};
const oak_detail oak_seen_far = {8, 14, 2, 13};

/* ---- branches ---- */

/* A stout old tree; wood that is softer than real wood makes up for it, so that it sways like a tree of its height. */
const branch_class oak_classes[BRANCH_CLASSES] = {
    [TRUNK] = {.name = "trunk",
               .length = 2.9,
               .base_radius = 0.25,
               .tip_radius = 0.165,
               .bend = 0.07,
               .wiggle = 0.02,
               .waves = 1.1,
               .flare = 0.5,
               .flare_length = 0.09,
               .child_count = 4,
               .children = {{0.62, 0.3}, {0.74, 2.0}, {0.84, 3.6}, {0.92, 5.1}},
               .young = 1.4e8,
               .rooted = true},
    [LIMB] = {.name = "limb",
              .length = 1.95,
              .base_radius = 0.11,
              .tip_radius = 0.06,
              .bend = 0.1,
              .wiggle = 0.028,
              .waves = 1.4,
              .flare = 0.4,
              .flare_length = 0.05,
              .child_count = 1,
              .children = {{0.5, 1.5}},
              .leaf_slots = 26,
              .leaves_from = 0.42,
              .young = 2.8e8},
    [BOUGH] = {.name = "bough",
               .length = 1.8,
               .base_radius = 0.06,
               .tip_radius = 0.032,
               .bend = 0.05,
               .wiggle = 0.03,
               .waves = 1.7,
               .flare = 0.25,
               .flare_length = 0.04,
               .child_count = 1,
               .children = {{0.4, 4.9}},
               .leaf_slots = 36,
               .leaves_from = 0.15,
               .young = 6e8},
    [BRANCH] = {.name = "branch",
                .length = 1.7,
                .base_radius = 0.034,
                .tip_radius = 0.014,
                .bend = 0.06,
                .wiggle = 0.035,
                .waves = 1.6,
                .flare = 0.3,
                .flare_length = 0.04,
                .child_count = 1,
                .children = {{0.4, 1.3}},
                .leaf_slots = 38,
                .leaves_from = 0.15,
                .young = 1.2e9},
    [TWIG] = {.name = "twig",
              .length = 1.35,
              .base_radius = 0.02,
              .tip_radius = 0.006,
              .bend = 0.05,
              .wiggle = 0.04,
              .waves = 1.8,
              .flare = 0.3,
              .flare_length = 0.04,
              .leaf_slots = 36,
              .leaves_from = 0.1,
              .young = 2.5e9},
};

/* Both bend and gnarls start flat, so that the foot is at right angles to z. */
v3 oak_middle(const branch_class *c, double along) {
    double t = fmax(along, 0), w = 2 * M_PI * c->waves * t;
    return v3_scale(c->length, (v3){c->bend * t * t + c->wiggle * (1 - cos(w)) * (0.4 + 0.6 * t),
                                    c->wiggle * (w - sin(w)) * 0.12 - 0.5 * c->wiggle * (1 - cos(0.6 * w)), along});
}

axes oak_directions(const branch_class *c, double along) {
    const double h = 1e-4;
    v3 tangent = v3_along(oak_middle(c, along + h), -1, oak_middle(c, along - h));
    return axes_around(tangent, (v3){1, 0, 0});
}

double oak_radius(const branch_class *c, double along) {
    double t = fmax(along, 0);
    double taper = c->base_radius + (c->tip_radius - c->base_radius) * pow(t, 0.8);
    return taper * (1 + c->flare * exp(-t / c->flare_length));
}

place oak_leaf_slot(const branch_class *c, int32_t slot) {
    const double golden = M_PI * (3 - sqrt(5));
    double part = (slot + 0.5) / c->leaf_slots;
    return (place){c->leaves_from + (0.99 - c->leaves_from) * part, fmod(golden * slot, 2 * M_PI)};
}

/* Rows of vertices are half a cell apart (edge nodes); from between two rows, 0.9 of that distance reaches 0.75 of it
 * along the nearer row. */
double oak_patch_radius(const branch_class *c, double along) {
    return fmax(0.8 * oak_radius(c, along), 0.9 * c->length / (2 * ROWS_ALONG));
}

bough_status oak_branch_volume(bough_context *ctx, const branch_class *c, bough_mesh **mesh) {
    bough_rod_def rod = bough_default_rod_def();
    rod.type = BOUGH_TET10;
    rod.length = rod.radius = 1;
    rod.cells_along = ROWS_ALONG, rod.core_cells = 2, rod.rings = 1;
    bough_status s = bough_mesh_generate_rod(ctx, &rod, mesh);
    if (s)
        return s;
    for (int32_t i = 0; i < (*mesh)->vertex_count; i++) {
        double *x = (*mesh)->vertices + 3 * (size_t)i, along = x[2], radius = oak_radius(c, along);
        axes a = oak_directions(c, along);
        v3 p = v3_add(oak_middle(c, along), axes_apply(&a, (v3){radius * x[0], radius * x[1], 0}));
        x[0] = p.x, x[1] = p.y, x[2] = p.z;
    }
    return BOUGH_OK;
}

/* Furrows that wander along the branch, fainter on thin ones; roots that spread at the foot of the trunk. */
static double bark(const branch_class *c, double along, double angle) {
    double z = along * c->length, fine = c->base_radius > 0.1 ? 0.05 : 0.03;
    double furrows =
        sin(7 * angle + 2.2 * sin(3.1 * z) + 1.3 * sin(7.3 * z + 1)) * (0.6 + 0.4 * sin(11 * z + 2 * angle));
    double lumps = 0.035 * sin(2 * angle + 2.7 * z + c->length) + 0.03 * sin(5.1 * z + angle);
    double roots = c->rooted ? 0.16 * exp(-along / 0.06) * sin(5 * angle + 0.8) : 0;
    return 1 + fine * furrows + lumps + roots;
}

/* Half a radius of it is inside of the parent. */
bough_status oak_branch_surface(bough_context *ctx, const branch_class *c, const oak_detail *detail,
                                bough_mesh **mesh) {
    static double vertices[MOST_AROUND * MOST_ALONG + 1][3];
    static int32_t triangles[2 * MOST_AROUND * (MOST_ALONG - 1) + MOST_AROUND][3];
    const int32_t around = detail->around, rows = detail->along, last = around * rows;
    double start = c->rooted ? -0.02 : -0.5 * c->base_radius / c->length;
    int32_t count = 0;
    for (int32_t j = 0; j < rows; j++) {
        double even = (double)j / (rows - 1), along = start + (1 - start) * (0.75 * even + 0.25 * even * even);
        axes a = oak_directions(c, along);
        v3 middle = oak_middle(c, along);
        for (int32_t i = 0; i < around; i++) {
            double angle = 2 * M_PI * i / around, r = oak_radius(c, along) * bark(c, along, angle);
            v3 p = v3_add(middle, axes_apply(&a, (v3){r * cos(angle), r * sin(angle), 0}));
            double *out = vertices[j * around + i];
            out[0] = p.x, out[1] = p.y, out[2] = p.z;
            int32_t next = (i + 1) % around, here = j * around + i, beside = j * around + next;
            if (j + 1 < rows) {
                int32_t *one = triangles[count++], *two = triangles[count++];
                one[0] = here, one[1] = beside, one[2] = beside + around;
                two[0] = here, two[1] = beside + around, two[2] = here + around;
            } else {
                int32_t *cap = triangles[count++];
                cap[0] = here, cap[1] = beside, cap[2] = last;
            }
        }
    }
    v3 tip = v3_along(oak_middle(c, 1), 0.7 * c->tip_radius, oak_directions(c, 1).z);
    vertices[last][0] = tip.x, vertices[last][1] = tip.y, vertices[last][2] = tip.z;
    return bough_mesh_create(ctx, BOUGH_TRI3, last + 1, vertices[0], count, triangles[0], mesh);
}

/* ---- the leaf ---- */

/* m. Large for an oak: 1,394 of them must make a crown. */
#define LEAF_LENGTH 0.62
#define STALK 0.06
#define STALK_WIDTH 0.006 /* half */
#define LEAF_WIDTH 0.175  /* half, at the widest */

/* Half width without the bays; u runs along the blade. Widest beyond the middle, as in oaks. */
static double envelope(double u) {
    if (u <= 0)
        return STALK_WIDTH;
    return STALK_WIDTH * (1 - 0.7 * u) + LEAF_WIDTH * pow(sin(M_PI * pow(fmin(u, 1), 1.35)), 0.75);
}

static double blade(double x) {
    return (x - STALK) / (LEAF_LENGTH - STALK);
}

/* Height of the leaf over its plane: a fold along the rib, an arc along it, and a wave along the rim. */
static double relief(double x, double y) {
    double u = fmax(blade(x), 0);
    return 0.1 * x - 0.42 * x * x + 0.28 * fabs(y) * fmin(4 * u, 1) + 0.35 * y * y * sin(17 * u) / LEAF_WIDTH;
}

/* Straight edges: bent ones would leave so thin a sheet. */
bough_status oak_leaf_volume(bough_context *ctx, bough_mesh **mesh) {
    bough_box_def box = bough_default_box_def();
    box.type = BOUGH_TET4;
    box.size[0] = 12, box.size[1] = 2, box.size[2] = 1;
    box.origin[1] = -1, box.origin[2] = -0.5;
    box.cells[0] = 12, box.cells[1] = 4, box.cells[2] = 1;
    box.tets_per_cell = 6;
    bough_mesh *coarse;
    bough_status s = bough_mesh_generate_box(ctx, &box, &coarse);
    if (s)
        return s;
    for (int32_t i = 0; i < coarse->vertex_count; i++) {
        double *v = coarse->vertices + 3 * (size_t)i;
        /* Two cells in the stalk, ten in the blade; the last ends a little before the tip, which has no width. */
        double x = v[0] <= 2 ? 0.5 * STALK * v[0] : STALK + (LEAF_LENGTH - STALK) * 0.985 * (v[0] - 2) / 10;
        double y = v[1] * envelope(blade(x)), thickness = x <= STALK ? 0.008 : 0.004 - 0.001 * blade(x);
        v[0] = x, v[1] = y, v[2] = relief(x, y) + thickness * v[2];
    }
    s = bough_mesh_raise_order(ctx, coarse, mesh);
    bough_mesh_destroy(ctx, coarse);
    return s;
}

/* Four rounded lobes on either side, with bays between them. */
static double lobes(double u) {
    double bay = pow(0.5 + 0.5 * cos(2 * M_PI * (4.1 * u + 0.05)), 1.6);
    return 1 - 0.5 * bay * fmin(1, 6 * u) * (u < 0.92 ? 1 : fmax(0, (1 - u) / 0.08));
}

static void add_triangle(int32_t (*triangles)[3], int32_t *count, int32_t a, int32_t b, int32_t c) {
    int32_t *t = triangles[(*count)++];
    t[0] = a, t[1] = b, t[2] = c;
}

/* Two triangles between two vertices side by side and the two `ahead` of them. */
static void add_quad(int32_t (*triangles)[3], int32_t *count, int32_t corner, int32_t ahead) {
    add_triangle(triangles, count, corner, corner + ahead, corner + ahead + 1);
    add_triangle(triangles, count, corner, corner + ahead + 1, corner + 1);
}

/* A sheet: rows of two along the stalk, of four along the blade, those in the middle beside its rib. */
bough_status oak_leaf_surface(bough_context *ctx, const oak_detail *detail, bough_mesh **mesh) {
    static const double across[4] = {-1, -0.15, 0.15, 1};
    static double vertices[2 * MOST_STALK_ROWS + 4 * MOST_BLADE_ROWS][3];
    static int32_t triangles[2 * MOST_STALK_ROWS + 6 * MOST_BLADE_ROWS][3];
    const int32_t stalk_rows = detail->stalk_rows, blade_rows = detail->blade_rows;
    int32_t count = 0, n = 0;
    for (int32_t j = 0; j < stalk_rows; j++)
        for (int32_t k = 0; k < 2; k++, n++) {
            double x = STALK * j / stalk_rows, y = (2 * k - 1) * 0.8 * STALK_WIDTH;
            vertices[n][0] = x, vertices[n][1] = y, vertices[n][2] = relief(x, y);
            if (k == 0 && j + 1 < stalk_rows)
                add_quad(triangles, &count, n, 2);
        }
    /* The stalk widens into the blade. */
    add_triangle(triangles, &count, n - 2, n, n + 1);
    add_triangle(triangles, &count, n - 2, n + 1, n + 2);
    add_triangle(triangles, &count, n - 2, n + 2, n - 1);
    add_triangle(triangles, &count, n - 1, n + 2, n + 3);
    for (int32_t j = 0; j < blade_rows; j++)
        for (int32_t k = 0; k < 4; k++, n++) {
            double u = (double)j / (blade_rows - 1), y = across[k] * envelope(u) * lobes(u);
            /* Lobes point forwards. */
            double x = STALK + (LEAF_LENGTH - STALK) * (u + 1.1 * fabs(y) * (1 - u) * fmin(1, 5 * u));
            vertices[n][0] = x, vertices[n][1] = y, vertices[n][2] = relief(x, y);
            if (k < 3 && j + 1 < blade_rows)
                add_quad(triangles, &count, n, 4);
        }
    return bough_mesh_create(ctx, BOUGH_TRI3, n, vertices[0], count, triangles[0], mesh);
}
