/* Places by which a ball touches the obstacle of a distance grid. docs/theory/contact.md, "Meshes".
 *
 * The distance s(c + r u) is looked at as a function of the unit vector u, from some directions on downhill to its minima, by
 * Newton's method on the sphere: across u its derivative over r is g = grad s, and its second derivative over r is
 *     A = r H - (u . g) 1
 * which is 1 over a plane, and large beside an edge. */
#include "contact/gap.h"

#define SAME 0.998   /* directions with a larger cosine between them lead to one place */
#define FACING 0.2   /* the surface looks against the ball by no less */
#define SETTLED 0.03 /* the slope across u where a place was found */
#define PRECISE 1e-7 /* where the search ends */
#define LONGEST 0.5  /* rad, of a step */
#define AROUND 0.6   /* radii: no place of the ball is further from the nearest direction that the search starts from */
enum { START_COUNT = 15, MOST_STEPS = 12, MOST_HALVES = 4 };

/* The first is the way to the nearest place, which is found out; then the corners and faces of a cube. */
static bo_vec3 start_at(int32_t i, bo_vec3 down) {
    const double k = 0.57735026918962576;
    if (i == 0)
        return down;
    if (i <= 8)
        return bo_v3((i - 1) & 1 ? k : -k, (i - 1) & 2 ? k : -k, (i - 1) & 4 ? k : -k);
    const double sign = i % 2 ? 1 : -1;
    return bo_v3((i - 9) / 2 == 0 ? sign : 0, (i - 9) / 2 == 1 ? sign : 0, (i - 9) / 2 == 2 ? sign : 0);
}

typedef struct {
    const bo_distance_grid *grid;
    bo_vec3 centre;
    double radius;
} ball;

static bo_vec3 two_across(bo_vec3 u, bo_vec3 *second) {
    const bo_vec3 other = fabs(u.x) < 0.6 ? bo_v3(1, 0, 0) : bo_v3(0, 1, 0), first = bo_normalize(bo_cross(u, other));
    *second = bo_cross(u, first);
    return first;
}

/* The step from u; the slope across u. */
static bo_vec3 step_from(const ball *b, bo_vec3 u, const bo_gap *at, double *slope) {
    bo_vec3 q;
    const bo_vec3 p = two_across(u, &q), Hp = bo_mat_vec(at->H, p), Hq = bo_mat_vec(at->H, q);
    const double g = bo_dot(at->n, p), h = bo_dot(at->n, q), down = -bo_dot(u, at->n), r = b->radius;
    const double a = r * bo_dot(p, Hp) + down, c = r * bo_dot(q, Hq) + down, d = r * bo_dot(p, Hq), det = a * c - d * d;
    const bool bowl = a > 0 && c > 0 && det > 1e-6 * a * c;
    const double steep = fmax(fabs(down), 0.3), x = bowl ? (c * g - d * h) / det : g / steep,
                 y = bowl ? (a * h - d * g) / det : h / steep, length = sqrt(x * x + y * y);
    const double part = length > LONGEST ? LONGEST / length : 1;
    *slope = sqrt(g * g + h * h);
    return bo_mul_add(bo_scale(-part * x, p), -part * y, q);
}

/* Goes downhill from *u; false: to no place where the ball could touch. */
static bool go_down(const ball *b, bo_vec3 *u, double *gap) {
    bo_gap at;
    double slope = INFINITY;
    bo_grid_distance(b->grid, bo_mul_add(b->centre, b->radius, *u), &at);
    for (int step = 0; step < MOST_STEPS; step++) {
        bo_vec3 way = step_from(b, *u, &at, &slope);
        if (!(slope > PRECISE))
            break;
        bool better = false;
        for (int half = 0; half < MOST_HALVES && !better; half++, way = bo_scale(0.5, way)) {
            const bo_vec3 next = bo_normalize(bo_add(*u, way));
            bo_gap there;
            bo_grid_distance(b->grid, bo_mul_add(b->centre, b->radius, next), &there);
            better = there.d < at.d;
            if (better)
                *u = next, at = there;
        }
        if (!better)
            break;
    }
    *gap = at.d;
    return slope < SETTLED && -bo_dot(*u, at.n) > FACING;
}

/* Adds a place unless it is there; of too many those with the largest gaps are left out. */
static int32_t add_place(bo_ball_place *places, int32_t count, bo_ball_place place) {
    int32_t at = count;
    for (int32_t i = 0; i < count; i++)
        if (bo_dot(places[i].out, place.out) > SAME) {
            if (place.gap < places[i].gap)
                places[i].out = place.out, places[i].gap = place.gap;
            return count;
        }
    if (count == BO_MOST_BALL_PLACES) {
        for (int32_t i = 0; i < count; i++)
            if (at == count || places[i].gap > places[at].gap)
                at = i;
        if (places[at].gap <= place.gap)
            return count;
    }
    places[at] = place;
    return at == count ? count + 1 : count;
}

int32_t bo_ball_on_grid(const bo_distance_grid *grid, bo_vec3 centre, double radius, double within,
                        bo_ball_place places[BO_MOST_BALL_PLACES]) {
    const ball b = {grid, centre, radius};
    int32_t count = 0;
    bo_gap middle;
    bo_gap_grid(grid, centre, &middle);
    if (!(middle.d < radius + within))
        return 0;
    const double length = bo_norm(middle.n);
    const bo_vec3 out = length > 0 ? bo_scale(1 / length, middle.n) : bo_v3(0, 0, 1);
    if (!(radius > 0)) {
        bo_grid_distance(grid, centre, &middle);
        places[0] = (bo_ball_place){out, middle.d, 0};
        return middle.d < within;
    }
    for (int32_t i = 0; i < START_COUNT; i++) {
        bo_vec3 u = start_at(i, bo_scale(-1, out));
        bo_gap near;
        double gap;
        bo_gap_grid(grid, bo_mul_add(centre, radius, u), &near);
        if (near.d < within + AROUND * radius && go_down(&b, &u, &gap) && gap < within)
            count = add_place(places, count, (bo_ball_place){bo_scale(-1, u), gap, i});
    }
    return count;
}
