/* Height splines and distance grids: tensor products of uniform cubic B-splines. Along an axis with n nodes there are
 * n + 2 coefficients, number i + 1 for node i; the cell between the nodes i and i + 1 depends on the four from number i
 * on. docs/theory/contact.md, "Gaps". */
#include "rig/splines.h"

#include <string.h>

/* ---- interpolation ---- */

/* c[i-1] + 4 c[i] + c[i+1] = 6 f[i] at the nodes, and no second derivative at the ends ("natural"):
 * c[-1] - 2 c[0] + c[1] = 0, so that c[0] = f[0]. Such ends reproduce straight lines; clamped ones (no slope) would bend
 * them. Elimination from the first node on leaves c[i] = rest[i] - factor[i] c[i+1], factor[i] = 1 / (4 - factor[i-1]),
 * which stays at 2 - sqrt(3) after some ten nodes. */
enum { FACTOR_COUNT = 24 };

/* Solves along one axis for all lines at once: numbers is outer x (nodes + 2) x inner; it has the values f at the nodes,
 * and gets the coefficients. */
static void interpolate(double *numbers, int64_t outer, int32_t nodes, int64_t inner) {
    double factor[FACTOR_COUNT] = {0};
    for (int k = 1; k < FACTOR_COUNT; k++)
        factor[k] = 1 / (4 - factor[k - 1]);
    for (int64_t o = 0; o < outer; o++) {
        double *first = numbers + o * (nodes + 2) * inner, *last = first + (nodes + 1) * inner;
        for (int32_t i = 1; i < nodes - 1; i++) {
            const double g = factor[i < FACTOR_COUNT ? i : FACTOR_COUNT - 1];
            double *c = first + (i + 1) * inner;
            for (int64_t k = 0; k < inner; k++)
                c[k] = g * (6 * c[k] - c[k - inner]);
        }
        for (int32_t i = nodes - 2; i >= 1; i--) {
            const double g = factor[i < FACTOR_COUNT ? i : FACTOR_COUNT - 1];
            double *c = first + (i + 1) * inner;
            for (int64_t k = 0; k < inner; k++)
                c[k] -= g * c[k + inner];
        }
        for (int64_t k = 0; k < inner; k++) {
            first[k] = 2 * first[k + inner] - first[k + 2 * inner];
            last[k] = 2 * last[k - inner] - last[k - 2 * inner];
        }
    }
}

/* ---- values ---- */

/* The four coefficients that act at a place, and their weights in the value and its first two derivatives. */
typedef struct {
    int32_t at[4];
    double w[3][4];
} axis_weights;

static int32_t limited(int32_t i, int32_t least, int32_t most) {
    return i < least ? least : i > most ? most : i;
}

/* u = x / cell is 0 at the first node, nodes - 1 at the last. Beyond them the outermost coefficient is repeated. That
 * leaves a spline, twice continuously differentiable, which two cells further depends on one coefficient and is
 * constant. */
static inline __attribute__((always_inline)) axis_weights weights_at(double u, int32_t nodes, double cell) {
    const double within = u < -3 ? -3 : u > nodes + 2 ? nodes + 2 : u;
    const int32_t first = within >= -3 ? (int32_t)floor(within) : 0; /* 0: of NAN */
    const double t = within - first, r = 1 - t, sixth = 1.0 / 6, p = 1 / cell, pp = p * p;
    axis_weights a = {.w = {{sixth * r * r * r, sixth * (4 - 6 * t * t + 3 * t * t * t),
                             sixth * (4 - 6 * r * r + 3 * r * r * r), sixth * t * t * t},
                            {-p * r * r / 2, p * (3 * t * t - 4 * t) / 2, p * (4 * r - 3 * r * r) / 2, p * t * t / 2},
                            {pp * r, pp * (3 * t - 2), pp * (3 * r - 2), pp * t}}};
    for (int k = 0; k < 4; k++)
        a.at[k] = limited(first + k, 0, nodes + 1);
    return a;
}

static double dot4(const double a[4], const double b[4]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}
/* out = sum_k weights[k] rows[k] */
static void weigh_rows(const double weights[4], const double rows[4][4], double out[4]) {
    for (int i = 0; i < 4; i++)
        out[i] = weights[0] * rows[0][i] + weights[1] * rows[1][i] + weights[2] * rows[2][i] + weights[3] * rows[3][i];
}
/* The 4 x 4 coefficients that act in a layer with `columns` of them in a row. */
static void pick(const double *layer, int32_t columns, const axis_weights *x, const axis_weights *y,
                 double rows[4][4]) {
    for (int j = 0; j < 4; j++) {
        const double *row = layer + (int64_t)y->at[j] * columns;
        for (int i = 0; i < 4; i++)
            rows[j][i] = row[x->at[i]];
    }
}

/* ---- bounds ---- */

/* Coefficients of a spline, as bounds see them: layers x rows x columns; height splines have one layer. */
typedef struct {
    const double *numbers;
    int32_t size[3]; /* columns, rows, layers: two more than there are nodes, or 1 layer */
    double cell[3];  /* m */
    int32_t goes_on; /* this many cells beyond the outermost nodes count, too: 2 (heights) or 0 */
} coefficients;

static double number_at(const coefficients *c, int32_t i, int32_t j, int32_t k) {
    i = limited(i, 0, c->size[0] - 1), j = limited(j, 0, c->size[1] - 1), k = limited(k, 0, c->size[2] - 1);
    return c->numbers[((int64_t)k * c->size[1] + j) * c->size[0] + i];
}

/* The coefficients of one cell, layers x 4 x 4. */
enum { MOST_IN_BLOCK = 64 };
static void gather(const coefficients *c, const int32_t cell[3], int layers, double block[MOST_IN_BLOCK]) {
    for (int k = 0; k < layers; k++)
        for (int j = 0; j < 4; j++)
            for (int i = 0; i < 4; i++)
                block[(k * 4 + j) * 4 + i] = number_at(c, cell[0] + i, cell[1] + j, cell[2] + k);
}

/* A bound on the slope in a cell that is quick to find, and large: its component along an axis is a mean of differences of
 * neighbours along that axis. */
static double rough_slope(const double *block, int layers, const double cell[3]) {
    static const int strides[3] = {1, 4, 16};
    double sum = 0;
    for (int axis = 0; axis < (layers > 1 ? 3 : 2); axis++) {
        double most = 0;
        for (int n = 0; n + strides[axis] < 16 * layers; n++)
            if (n / strides[axis] % 4 != 3)
                most = fmax(most, fabs(block[n + strides[axis]] - block[n]));
        sum += most / cell[axis] * (most / cell[axis]);
    }
    return sqrt(sum);
}

/* Replaces the four coefficients of a cell along an axis by the Bezier points of the cubic polynomial there; or of its
 * derivative, a quadratic one with the points q, raised to the third degree. */
static void to_bezier(double *c, int stride, bool derivative) {
    const double c0 = c[0], c1 = c[stride], c2 = c[2 * stride], c3 = c[3 * stride];
    if (derivative) {
        const double q0 = (c2 - c0) / 2, q1 = c2 - c1, q2 = (c3 - c1) / 2;
        c[0] = q0, c[stride] = (q0 + 2 * q1) / 3, c[2 * stride] = (2 * q1 + q2) / 3, c[3 * stride] = q2;
    } else {
        c[0] = (c0 + 4 * c1 + c2) / 6, c[stride] = (2 * c1 + c2) / 3, c[2 * stride] = (c1 + 2 * c2) / 3;
        c[3 * stride] = (c1 + 4 * c2 + c3) / 6;
    }
}

/* With all its components in the same basis the gradient is a mean of its Bezier points, which are vectors: it is no
 * longer than the longest of them. Bounds of single components would add up to sqrt(3) where the gradient turns. */
static double bezier_slope(const double *block, int layers, const double cell[3]) {
    const int count = 16 * layers, dimensions = layers > 1 ? 3 : 2;
    double points[MOST_IN_BLOCK], squares[MOST_IN_BLOCK] = {0}, most = 0;
    for (int axis = 0; axis < dimensions; axis++) {
        memcpy(points, block, (size_t)count * sizeof(double));
        for (int n = 0; n < count; n += 4)
            to_bezier(points + n, 1, axis == 0);
        for (int n = 0; n < count; n++)
            if (n / 4 % 4 == 0)
                to_bezier(points + n, 4, axis == 1);
        for (int n = 0; n < 16 && layers > 1; n++)
            to_bezier(points + n, 16, axis == 2);
        for (int n = 0; n < count; n++)
            squares[n] += points[n] / cell[axis] * (points[n] / cell[axis]);
    }
    for (int n = 0; n < count; n++)
        most = fmax(most, squares[n]);
    return sqrt(most);
}

#define ROUNDING 1e-12 /* of a bound, which is raised by it: more than the rounding of the sums behind it */

static double steepest_slope(const coefficients *c) {
    const int layers = c->size[2] > 1 ? 4 : 1;
    const int32_t more = c->goes_on,
                  last[3] = {c->size[0] - 4 + more, c->size[1] - 4 + more, layers > 1 ? c->size[2] - 4 + more : 0};
    double block[MOST_IN_BLOCK], most = 0;
    for (int32_t k = layers > 1 ? -more : 0; k <= last[2]; k++)
        for (int32_t j = -more; j <= last[1]; j++)
            for (int32_t i = -more; i <= last[0]; i++) {
                gather(c, (const int32_t[3]){i, j, k}, layers, block);
                if (rough_slope(block, layers, c->cell) > most)
                    most = fmax(most, bezier_slope(block, layers, c->cell));
            }
    return most * (1 + ROUNDING);
}

/* The largest second difference along axis a, or the largest difference along b of differences along a. Second derivatives
 * of the spline are means of them. */
static double largest_bend(const coefficients *c, int a, int b) {
    int32_t da[3] = {0}, db[3] = {0}, first[3] = {0}, end[3];
    da[a] = db[b] = 1;
    memcpy(end, c->size, sizeof end);
    if (a == b && c->goes_on == 0)
        first[a] = 1, end[a]--; /* differences across the outermost coefficients act beyond the nodes only */
    double most = 0;
    for (int32_t k = first[2]; k < end[2]; k++)
        for (int32_t j = first[1]; j < end[1]; j++)
            for (int32_t i = first[0]; i < end[0]; i++) {
                const double here = number_at(c, i, j, k), next = number_at(c, i + da[0], j + da[1], k + da[2]);
                if (a == b)
                    most = fmax(most, fabs(next - 2 * here + number_at(c, i - da[0], j - da[1], k - da[2])));
                else
                    most = fmax(most, fabs(number_at(c, i + da[0] + db[0], j + da[1] + db[1], k + da[2] + db[2]) -
                                           number_at(c, i + db[0], j + db[1], k + db[2]) - next + here));
            }
    return most / (c->cell[a] * c->cell[b]);
}

/* A bound on the second derivative in any direction: the norm of a matrix of bounds. */
static double strongest_bend(const coefficients *c) {
    const int dimensions = c->size[2] > 1 ? 3 : 2;
    double sum = 0;
    for (int a = 0; a < dimensions; a++)
        for (int b = a; b < dimensions; b++) {
            const double most = largest_bend(c, a, b);
            sum += (a == b ? 1 : 2) * most * most;
        }
    return sqrt(sum) * (1 + ROUNDING);
}

/* ---- height splines ---- */

static bough_status check_heights(bough_context *ctx, int32_t columns, int32_t rows, const double cell[2],
                                  const double *heights) {
    if (columns < 2 || rows < 2 || ((int64_t)columns + 2) * ((int64_t)rows + 2) > INT32_MAX)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "a height spline needs 2 x 2 nodes or more, and fewer than 2^31, not %d x %d", (int)columns,
                       (int)rows);
    if (!(cell[0] > 0 && cell[1] > 0 && isfinite(cell[0]) && isfinite(cell[1])))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a cell of a height spline is %g m x %g m; it needs a size", cell[0],
                       cell[1]);
    if (!bo_all_finite((int64_t)columns * rows, heights))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a height of a height spline is not finite");
    return BOUGH_OK;
}

bough_status bo_height_spline_make(bough_context *ctx, int32_t columns, int32_t rows, const double cell[2],
                                   const double *heights, bo_height_spline *spline) {
    *spline = (bo_height_spline){0};
    BO_TRY(check_heights(ctx, columns, rows, cell, heights));
    const int32_t size = (columns + 2) * (rows + 2);
    double *c = BO_NEW_ZEROS(ctx, double, size);
    if (!c)
        return BOUGH_ERROR_MEMORY;
    *spline = (bo_height_spline){.columns = columns, .rows = rows, .cell = {cell[0], cell[1]}, .coefficients = c};
    for (int32_t j = 0; j < rows; j++)
        memcpy(c + (int64_t)(j + 1) * (columns + 2) + 1, heights + (int64_t)j * columns, (size_t)columns * sizeof *c);
    interpolate(c, rows + 2, columns, 1);
    interpolate(c, 1, rows, columns + 2);

    const coefficients of = {c, {columns + 2, rows + 2, 1}, {cell[0], cell[1], 1}, 2};
    spline->steepest = steepest_slope(&of);
    spline->bend = strongest_bend(&of) / sqrt(1 + spline->steepest * spline->steepest);
    spline->lowest = spline->highest = c[0]; /* a spline is a mean of coefficients */
    for (int32_t k = 1; k < size; k++)
        spline->lowest = fmin(spline->lowest, c[k]), spline->highest = fmax(spline->highest, c[k]);
    return BOUGH_OK;
}

void bo_height_spline_free(bough_context *ctx, bo_height_spline *spline) {
    bo_free(ctx, spline->coefficients);
    *spline = (bo_height_spline){0};
}

void bo_gap_height(const bo_height_spline *spline, bo_vec3 x, bo_gap *gap) {
    const double *cell = spline->cell;
    const axis_weights u = weights_at(x.x / cell[0] + 0.5 * (spline->columns - 1), spline->columns, cell[0]),
                       v = weights_at(x.y / cell[1] + 0.5 * (spline->rows - 1), spline->rows, cell[1]);
    double rows[4][4], by_y[3][4]; /* [order by y][column] */
    pick(spline->coefficients, spline->columns + 2, &u, &v, rows);
    for (int b = 0; b < 3; b++)
        weigh_rows(v.w[b], rows, by_y[b]);
    const double s = 1 / sqrt(1 + spline->steepest * spline->steepest), xx = dot4(u.w[2], by_y[0]),
                 xy = dot4(u.w[1], by_y[1]), yy = dot4(u.w[0], by_y[2]);
    gap->d = s * (x.z - dot4(u.w[0], by_y[0]));
    gap->n = bo_v3(-s * dot4(u.w[1], by_y[0]), -s * dot4(u.w[0], by_y[1]), s);
    gap->H = bo_mat_scale(-s, (bo_mat3){{xx, xy, 0, xy, yy, 0, 0, 0, 0}});
}

/* ---- distance grids ---- */

bough_status bo_distance_grid_check(bough_context *ctx, const int32_t counts[3], double cell, bo_vec3 origin) {
    int64_t size = 1;
    for (int k = 0; k < 3; k++)
        size = counts[k] < 2 || size > INT32_MAX ? INT64_MAX : size * ((int64_t)counts[k] + 2);
    if (size > INT32_MAX)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "a distance grid needs 2 x 2 x 2 nodes or more, and fewer than 2^31, not %d x %d x %d",
                       (int)counts[0], (int)counts[1], (int)counts[2]);
    if (!(cell > 0 && isfinite(cell)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a cell of a distance grid is %g m; it needs a size", cell);
    if (!isfinite(origin.x) || !isfinite(origin.y) || !isfinite(origin.z))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the origin of a distance grid is (%g, %g, %g) m; it must be finite",
                       origin.x, origin.y, origin.z);
    return BOUGH_OK;
}

/* The smallest coefficient that acts on a face of the grid's box, or 0. */
static double lowest_on_border(const coefficients *c) {
    double lowest = 0;
    for (int32_t k = 0; k < c->size[2]; k++)
        for (int32_t j = 0; j < c->size[1]; j++)
            for (int32_t i = 0; i < c->size[0]; i++)
                if (i < 3 || j < 3 || k < 3 || i >= c->size[0] - 3 || j >= c->size[1] - 3 || k >= c->size[2] - 3)
                    lowest = fmin(lowest, number_at(c, i, j, k));
    return lowest;
}

bough_status bo_distance_grid_make(bough_context *ctx, const int32_t counts[3], double cell, bo_vec3 origin,
                                   const double *distances, bo_distance_grid *grid) {
    *grid = (bo_distance_grid){0};
    BO_TRY(bo_distance_grid_check(ctx, counts, cell, origin));
    const int32_t nx = counts[0], ny = counts[1], nz = counts[2];
    if (!bo_all_finite((int64_t)nx * ny * nz, distances))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a distance of a distance grid is not finite");
    double *c = BO_NEW_ZEROS(ctx, double, (nx + 2) * (ny + 2) * (nz + 2));
    if (!c)
        return BOUGH_ERROR_MEMORY;
    *grid = (bo_distance_grid){.counts = {nx, ny, nz}, .cell = cell, .origin = origin, .coefficients = c};
    for (int32_t k = 0; k < nz; k++)
        for (int32_t j = 0; j < ny; j++)
            memcpy(c + ((int64_t)(k + 1) * (ny + 2) + j + 1) * (nx + 2) + 1, distances + ((int64_t)k * ny + j) * nx,
                   (size_t)nx * sizeof *c);
    interpolate(c, (int64_t)(ny + 2) * (nz + 2), nx, 1);
    interpolate(c, nz + 2, ny, nx + 2);
    interpolate(c, 1, nz, (int64_t)(nx + 2) * (ny + 2));

    const coefficients of = {c, {nx + 2, ny + 2, nz + 2}, {cell, cell, cell}, 0};
    grid->steepest = fmax(1, steepest_slope(&of));
    grid->bend = strongest_bend(&of) / grid->steepest;
    grid->border = lowest_on_border(&of) / grid->steepest;
    return BOUGH_OK;
}

void bo_distance_grid_free(bough_context *ctx, bo_distance_grid *grid) {
    bo_free(ctx, grid->coefficients);
    *grid = (bo_distance_grid){0};
}

/* Within the box: the spline times s, with its gradient and its Hessian where `order` is 1 or 2. */
static inline __attribute__((always_inline)) void gap_in_box(const bo_distance_grid *grid, const double place[3],
                                                             double s, int order, bo_gap *gap) {
    axis_weights w[3];
    for (int k = 0; k < 3; k++)
        w[k] = weights_at(place[k] / grid->cell, grid->counts[k], grid->cell);
    const int32_t columns = grid->counts[0] + 2, rows = grid->counts[1] + 2;
    double rows_of[4][4], by_y[3][4][4],
        by_yz[3][3][4]; /* [order by y][layer][column]; [order by z][order by y][column] */
    for (int k = 0; k < 4; k++) {
        pick(grid->coefficients + (int64_t)w[2].at[k] * columns * rows, columns, &w[0], &w[1], rows_of);
        for (int b = 0; b <= order; b++)
            weigh_rows(w[1].w[b], rows_of, by_y[b][k]);
    }
    for (int c = 0; c <= order; c++)
        for (int b = 0; b + c <= order; b++)
            weigh_rows(w[2].w[c], by_y[b], by_yz[c][b]);
    const double *value = w[0].w[0], *first = w[0].w[1], *second = w[0].w[2];
    gap->d = s * dot4(value, by_yz[0][0]);
    if (order < 1)
        return;
    gap->n = bo_v3(s * dot4(first, by_yz[0][0]), s * dot4(value, by_yz[0][1]), s * dot4(value, by_yz[1][0]));
    if (order < 2)
        return;
    const double xx = dot4(second, by_yz[0][0]), yy = dot4(value, by_yz[0][2]), zz = dot4(value, by_yz[2][0]),
                 xy = dot4(first, by_yz[0][1]), xz = dot4(first, by_yz[1][0]), yz = dot4(value, by_yz[1][1]);
    gap->H = bo_mat_scale(s, (bo_mat3){{xx, xy, xz, xy, yy, yz, xz, yz, zz}});
}

/* With G, its gradient g and Hessian at the nearest point of the box, P = diag(1 along axes along which x is not beyond the
 * box, else 0), e the way from that point to x and l = sqrt((G - border)^2 + |e|^2):
 *     d = border + l,   l n = (G - border) P g + e
 *     l H = (P g) (P g)^T + (G - border) P Hessian P + (1 - P) - n n^T
 * P g and e are at right angles, so that |n| <= 1 where |g| <= 1. */
static void go_beyond(double border, const double e[3], bo_gap *gap) {
    const double more = gap->d - border, length = sqrt(more * more + e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
    double g[3], n[3];
    bo_store3(g, gap->n);
    for (int k = 0; k < 3; k++) {
        g[k] = e[k] != 0 ? 0 : g[k];
        n[k] = (more * g[k] + e[k]) / length;
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double in = e[i] != 0 || e[j] != 0 ? 0 : more * gap->H.m[3 * i + j],
                         out = i == j && e[i] != 0 ? 1 : 0;
            gap->H.m[3 * i + j] = (g[i] * g[j] + in + out - n[i] * n[j]) / length;
        }
    gap->n = bo_load3(n);
    gap->d = border + length;
}

/* Finds the place of the grid's box that is nearest to x, and the way e from there. Returns whether x is in the box. */
static bool place_in_box(const bo_distance_grid *grid, bo_vec3 x, double place[3], double e[3]) {
    const double from[3] = {x.x - grid->origin.x, x.y - grid->origin.y, x.z - grid->origin.z};
    for (int k = 0; k < 3; k++) {
        const double most = (grid->counts[k] - 1) * grid->cell;
        place[k] = from[k] < 0 ? 0 : from[k] > most ? most : from[k];
        e[k] = from[k] - place[k];
    }
    return !(e[0] != 0 || e[1] != 0 || e[2] != 0);
}

void bo_gap_grid(const bo_distance_grid *grid, bo_vec3 x, bo_gap *gap) {
    double place[3], e[3];
    const bool inside = place_in_box(grid, x, place, e);
    gap_in_box(grid, place, 1 / grid->steepest, 2, gap);
    if (!inside)
        go_beyond(grid->border, e, gap);
}

void bo_grid_distance(const bo_distance_grid *grid, bo_vec3 x, bo_gap *distance) {
    double place[3], e[3];
    const bool inside = place_in_box(grid, x, place, e);
    gap_in_box(grid, place, 1, 2, distance);
    if (!inside)
        go_beyond(grid->border * grid->steepest, e, distance);
}

void bo_grid_slope(const bo_distance_grid *grid, bo_vec3 x, bo_gap *distance) {
    double place[3], e[3];
    if (place_in_box(grid, x, place, e))
        gap_in_box(grid, place, 1, 1, distance);
    else
        bo_grid_distance(grid, x, distance);
}

double bo_grid_value(const bo_distance_grid *grid, bo_vec3 x) {
    double place[3], e[3];
    bo_gap distance;
    if (place_in_box(grid, x, place, e))
        gap_in_box(grid, place, 1, 0, &distance);
    else
        bo_grid_distance(grid, x, &distance);
    return distance.d;
}
