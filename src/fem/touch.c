#include "fem/touch.h"

#include "contact/barrier.h"
#include "fem/touch_itself.h"
#include "fem/touch_points.h"

#include <string.h>

#define THIN 1e-3      /* of the body's size: support distance unless one is given */
#define AS_INERTIA 10. /* kappa, in masses of a vertex over the square of a step */
#define KEEP 0.1       /* of a gap that a step of Newton's method may leave at least */
#define NARROW 0.2     /* of the support: gaps of what rests that ask for a stiffer barrier */
#define LONG_WAY 0.1   /* of the body's size: in one step */
#define HELD 1e-6      /* of a normal: what cannot give way along more than that of it touches nothing */
#define STIFFEST 1e6   /* times the first: barriers get no stiffer */
#define SOFTEST 100.   /* steps: barriers that follow speeds are as stiff as inertia in so many of them */
#define AT_REST 0.1    /* of the support: motion in a step of what rests */
#define CLOSE 0.01     /* of the support: gaps to obstacles at which nothing may begin */
#define NO_GAP 1e-6    /* likewise, of pieces of surfaces, whose distances are known no better */
#define GLUED 1000.    /* coefficients of friction beyond this hold no better, but rounding is lost in them */
#define GIVES 0.1      /* of the support: by which friction gives way at most in an equilibrium */

/* Friction of one point against one obstacle, under the force at the start of the step. */
typedef struct {
    int32_t point, obstacle;
    double limit; /* mu lambda, N */
    bo_vec3 n;
    bo_vec3 from; /* m: the displacement at which it has not slid yet */
} hold;

struct bo_touch {
    bough_context *ctx;
    const bough_body *body;
    const bough_load_case *load_case;
    bo_touch_def def;
    bo_touch_obstacle *obstacles;
    unsigned char *still;       /* 3 vertex_count: held, and not led anywhere */
    bool leads;                 /* a support moves */
    bo_touch_points surface;    /* points of it */
    double size;                /* m: the diagonal of a box around it at rest */
    double mass;                /* kg: of a vertex, in the mean */
    double kappa;               /* N/m */
    bool follows;               /* kappa: the speed of what arrives, not the step */
    double start, h;            /* s: of the step */
    bool settles;               /* an equilibrium is looked for: friction gives way as in a step of this length */
    double *q_start;            /* 3 vertex_count */
    double stiffened;           /* J: by which the barriers' energy grew at the start of the step */
    hold *holds, *holds_before; /* the second: of the pass before */
    int32_t hold_count;
    size_t hold_capacity, before_capacity;
    double *way;        /* 3 vertex_count: scratch */
    bo_itself *itself;  /* NULL: it passes through itself */
    const char *caught; /* by which something is pressed: there is no start for a search. NULL: nothing is */
    const bo_joined_block *blocks;
    int32_t block_count;
};

bo_touch_def bo_default_touch_def(void) {
    return (bo_touch_def){.slip = 1e-3, .stiffness = 1, .friction = 0.5};
}

/* ---- making ---- */

static double size_of(const bough_mesh *mesh) {
    bo_vec3 low = bo_v3(INFINITY, INFINITY, INFINITY), high = bo_v3(-INFINITY, -INFINITY, -INFINITY);
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        const bo_vec3 x = bo_load3(mesh->vertices + 3 * (size_t)i);
        low = bo_v3(fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z));
        high = bo_v3(fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z));
    }
    return bo_norm(bo_sub(high, low));
}

bough_status bo_touch_check(bough_context *ctx, const bo_touch_def *def) {
    const double numbers[] = {def->slip, def->stiffness};
    if (!(def->spacing >= 0) || !isfinite(def->spacing))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the spacing of points of contact must be 0 or more");
    if (!(def->support >= 0) || !isfinite(def->support) || !(def->friction >= 0) || !isfinite(def->friction))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "support and friction of contact must be 0 or more");
    for (int i = 0; i < 2; i++)
        if (!(numbers[i] > 0) || !isfinite(numbers[i]))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "speed of slip and stiffness of contact must be positive");
    return BOUGH_OK;
}

static bough_status find_still(bo_touch *x) {
    const size_t n = (size_t)bo_body_size(x->body);
    if (!(x->still = BO_NEW_ARRAY(x->ctx, unsigned char, n)))
        return BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < n; i++) {
        const bool led = x->def.led && x->def.led[i];
        x->still[i] = x->load_case->fixed[i] && !led;
        x->leads |= led;
    }
    x->def.led = NULL;
    return BOUGH_OK;
}

static bough_status fill(bo_touch *x) {
    bough_body_properties whole;
    BO_TRY(find_still(x));
    if (!(x->obstacles = BO_NEW_ARRAY(x->ctx, bo_touch_obstacle, x->def.obstacle_count)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t o = 0; o < x->def.obstacle_count; o++)
        x->obstacles[o] = x->def.obstacles[o];
    x->def.obstacles = x->obstacles;
    BO_TRY(bo_touch_points_find(x->ctx, x->body->mesh, x->def.spacing, &x->surface));
    BO_TRY(bough_body_measure(x->ctx, x->body, &whole));
    x->mass = whole.mass / x->body->mesh->vertex_count;
    x->size = size_of(x->body->mesh);
    if (x->def.support == 0)
        x->def.support = THIN * x->size;
    if (!x->def.itself && x->def.support > x->size) /* else its own surface would be too near */
        return bo_fail(x->ctx, BOUGH_ERROR_ARGUMENT,
                       "the distance of contact, %g m, is more than the size of what touches, %.3g m", x->def.support,
                       x->size);
    x->q_start = BO_NEW_ZEROS(x->ctx, double, bo_body_size(x->body));
    x->way = BO_NEW_ZEROS(x->ctx, double, bo_body_size(x->body));
    if (!x->q_start || !x->way)
        return BOUGH_ERROR_MEMORY;
    return x->def.itself ? bo_itself_make(x->ctx, x->body, x->still, x->def.support, x->def.slip,
                                          fmin(x->def.friction, GLUED), &x->itself)
                         : BOUGH_OK;
}

bough_status bo_touch_make(bough_context *ctx, const bough_body *body, const bough_load_case *load_case,
                           const bo_touch_def *def, bo_touch **out) {
    *out = NULL;
    BO_TRY(bo_touch_check(ctx, def));
    bo_touch *x = BO_NEW(ctx, bo_touch);
    if (!x)
        return BOUGH_ERROR_MEMORY;
    *x = (bo_touch){.ctx = ctx, .body = body, .load_case = load_case, .def = *def};
    const bough_status status = fill(x);
    if (status == BOUGH_OK)
        *out = x;
    else
        bo_touch_free(ctx, x);
    return status;
}

void bo_touch_use_context(bo_touch *x, bough_context *ctx) {
    x->ctx = ctx;
    if (x->itself)
        bo_itself_use_context(x->itself, ctx);
}

void bo_touch_free(bough_context *ctx, bo_touch *x) {
    if (!x)
        return;
    bo_itself_free(ctx, x->itself);
    bo_free(ctx, x->obstacles);
    bo_free(ctx, x->still);
    bo_touch_points_free(ctx, &x->surface);
    bo_free(ctx, x->q_start);
    bo_free(ctx, x->way);
    bo_free(ctx, x->holds);
    bo_free(ctx, x->holds_before);
    bo_free(ctx, x);
}

/* ---- places ---- */

static const bo_touch_point *point_of(const bo_touch *x, int32_t point) {
    return &x->surface.points[point];
}

/* The mean at a point of vectors that vertices have, such as displacements and velocities. */
static bo_vec3 mean_at(const bo_touch *x, int32_t point, const double *of_vertices) {
    return bo_touch_mean(point_of(x, point), of_vertices);
}

static bo_vec3 place(const bo_touch *x, int32_t point, const double *q) {
    return bo_add(mean_at(x, point, x->body->mesh->vertices), mean_at(x, point, q));
}

static bo_vec3 way_between(const bo_touch *x, int32_t point, const double *from, const double *to) {
    return bo_sub(mean_at(x, point, to), mean_at(x, point, from));
}

/* The part of a vector along the directions in which a vertex is not held: `held` has three entries for each. */
static bo_vec3 free_part(const unsigned char *held, int32_t vertex, bo_vec3 a) {
    held += 3 * (size_t)vertex;
    return bo_v3(held[0] ? 0 : a.x, held[1] ? 0 : a.y, held[2] ? 0 : a.z);
}

/* A vertex that is held in all directions is where it is, whatever it touches, unless its support moves. */
static bool moves(const bo_touch *x, int32_t point) {
    const bo_touch_point *p = point_of(x, point);
    for (int k = 0; k < p->count; k++) {
        const unsigned char *still = x->still + 3 * (size_t)p->vertices[k];
        if (!(still[0] && still[1] && still[2]))
            return true;
    }
    return false;
}

static bool gives_way(const bo_touch *x, const unsigned char *held, int32_t point, bo_vec3 n) {
    const bo_touch_point *p = point_of(x, point);
    for (int k = 0; k < p->count; k++)
        if (bo_norm(free_part(held, p->vertices[k], n)) > HELD)
            return true;
    return false;
}

static bo_obstacle shape_at(const bo_touch *x, int32_t obstacle, double t) {
    const bo_touch_obstacle *o = &x->obstacles[obstacle];
    bo_obstacle shape = o->shape;
    if (o->pose)
        shape.pose = o->pose(o->pose_data, t);
    return shape;
}

/* ---- pairs of a point and an obstacle that are near each other ---- */

typedef struct {
    int32_t point, obstacle;
    bo_gap gap;
    double stiffness; /* kappa w, N/m */
    bo_barrier b;
} near_pair;

/* Calls `found` for each pair within the support distance; false ends the search and is returned. */
typedef bool (*on_pair)(void *data, const near_pair *pair);
static bool visit(const bo_touch *x, double t, const double *q, on_pair found, void *data) {
    for (int32_t o = 0; o < x->def.obstacle_count; o++) {
        const bo_obstacle shape = shape_at(x, o, t);
        for (int32_t i = 0; i < x->surface.count; i++) {
            near_pair pair = {.point = i, .obstacle = o};
            if (!moves(x, i))
                continue;
            bo_obstacle_gap(&shape, place(x, i, q), &pair.gap);
            if (pair.gap.d >= x->def.support || !gives_way(x, x->still, i, pair.gap.n))
                continue;
            pair.stiffness = x->kappa * x->surface.shares[i];
            pair.b = bo_barrier_at(pair.gap.d, x->def.support);
            if (!found(data, &pair))
                return false;
        }
    }
    return true;
}

/* ---- a step begins ---- */

static const char *name_of(const bo_touch *x, int32_t obstacle) {
    const char *name = x->obstacles[obstacle].name;
    return name ? name : "an obstacle";
}

typedef struct {
    bo_touch *x;
    bough_status status;
    double narrowest; /* gap of what rests */
    const double *q, *v;
} beginning;

static bough_status fail_inside(const bo_touch *x, const near_pair *pair, const double *q, bough_status status) {
    const bo_vec3 at = place(x, pair->point, q);
    const int32_t vertex = point_of(x, pair->point)->vertices[0];
    if (pair->gap.d == 0)
        return bo_fail(x->ctx, status,
                       "vertex %d at (%.4g, %.4g, %.4g) is on the surface of %s; leave a gap between them", vertex,
                       at.x, at.y, at.z, name_of(x, pair->obstacle));
    return bo_fail(x->ctx, status, "vertex %d at (%.4g, %.4g, %.4g) is %.3g m inside %s; move the body or the obstacle",
                   vertex, at.x, at.y, at.z, -pair->gap.d, name_of(x, pair->obstacle));
}

/* Friction under the force of the pair. */
static bough_status add_hold(bo_touch *x, const near_pair *pair) {
    const double mu = fmin(sqrt(x->def.friction * x->obstacles[pair->obstacle].friction), GLUED),
                 length = bo_norm(pair->gap.n);
    if (!(mu > 0) || !(length > 0))
        return BOUGH_OK;
    if (!BO_RESERVE(x->ctx, x->holds, x->hold_capacity, (size_t)x->hold_count + 1))
        return BOUGH_ERROR_MEMORY;
    x->holds[x->hold_count++] = (hold){pair->point, pair->obstacle, -mu * pair->stiffness * pair->b.slope * length,
                                       bo_scale(1 / length, pair->gap.n), mean_at(x, pair->point, x->q_start)};
    return BOUGH_OK;
}

/* The way of an obstacle, from the start of the step to its end, at a point that it carries along. */
static bo_vec3 way_of_obstacle(const bo_touch *x, int32_t obstacle, bo_vec3 at_start) {
    const bo_touch_obstacle *o = &x->obstacles[obstacle];
    if (!o->pose)
        return bo_v3(0, 0, 0);
    const bo_se3 before = o->pose(o->pose_data, x->start), after = o->pose(o->pose_data, x->start + x->h);
    return bo_sub(bo_add(after.t, bo_mat_vec(after.R, bo_mat_tvec(before.R, bo_sub(at_start, before.t)))), at_start);
}

static bool begin_pair(void *data, const near_pair *pair) {
    beginning *b = data;
    bo_touch *x = b->x;
    if (!(pair->gap.d > 0)) {
        b->status = fail_inside(x, pair, b->q, BOUGH_NO_CONVERGENCE);
        return false;
    }
    /* A support that comes near asks for nothing: no barrier would keep it away. */
    if (b->v && gives_way(x, x->load_case->fixed, pair->point, pair->gap.n)) {
        const bo_vec3 way = bo_scale(x->h, mean_at(x, pair->point, b->v));
        if (bo_norm(bo_sub(way, way_of_obstacle(x, pair->obstacle, place(x, pair->point, b->q)))) <
            AT_REST * x->def.support)
            b->narrowest = fmin(b->narrowest, pair->gap.d);
    }
    b->status = add_hold(x, pair);
    return b->status == BOUGH_OK;
}

static bool is_outside(void *data, const near_pair *pair) {
    beginning *b = data;
    if (!(pair->gap.d > 0))
        b->status = fail_inside(b->x, pair, b->q, BOUGH_ERROR_ARGUMENT);
    return b->status == BOUGH_OK;
}

static double usual_kappa(const bo_touch *x, double h) {
    return x->def.stiffness * AS_INERTIA * x->mass / (h * h);
}

/* The largest speed of a point, against obstacles or, where there are none, against the mean of all. */
static double speed_of(const bo_touch *x, const double *v) {
    bo_vec3 mean = {0, 0, 0};
    double most = 0;
    const int32_t count = x->surface.vertex_count;
    for (int32_t i = 0; i < count && x->def.obstacle_count == 0; i++)
        mean = bo_mul_add(mean, 1. / count, mean_at(x, i, v));
    for (int32_t i = 0; i < count; i++)
        most = fmax(most, bo_norm(bo_sub(mean_at(x, i, v), mean)));
    return most;
}

/* A body that arrives with the speed v crosses the support distance in D / v: a barrier as stiff as inertia in that
 * time stops it half way. Steps that are shorter than that resolve the barrier, instead of making it stiffer. */
static double kappa_for(const bo_touch *x, double h, const double *v) {
    return usual_kappa(x, fmin(x->def.support / speed_of(x, v), SOFTEST * h));
}

void bo_touch_follow_speed(bo_touch *x) {
    x->follows = true;
}

bough_status bo_touch_look(bo_touch *x, const double *q) {
    return x->itself ? bo_itself_look(x->itself, q, NULL) : BOUGH_OK;
}

bough_status bo_touch_start(bo_touch *x, double t, double dt, const double *q) {
    beginning b = {x, BOUGH_OK, INFINITY, q, NULL};
    x->kappa = dt > 0 ? usual_kappa(x, dt) : 0;
    visit(x, t, q, is_outside, &b);
    BO_TRY(b.status);
    return bo_touch_look(x, q);
}

typedef struct {
    const bo_touch *x;
    double d;
} narrowest;

static bool is_clear(void *data, const near_pair *pair) {
    beginning *b = data;
    const bo_touch *x = b->x;
    if (pair->gap.d < CLOSE * x->def.support && gives_way(x, x->load_case->fixed, pair->point, pair->gap.n)) {
        const bo_vec3 at = place(x, pair->point, b->q);
        b->status =
            bo_fail(x->ctx, BOUGH_ERROR_ARGUMENT,
                    "vertex %d at (%.4g, %.4g, %.4g) begins %.2g m from %s, whose repulsion would throw it off: leave "
                    "%.2g m or more between them, or let the scene settle",
                    point_of(x, pair->point)->vertices[0], at.x, at.y, at.z, pair->gap.d, name_of(x, pair->obstacle),
                    x->def.support);
    }
    return b->status == BOUGH_OK;
}

bough_status bo_touch_check_start(const bo_touch *x, double t, const double *q) {
    beginning b = {(bo_touch *)(uintptr_t)x, BOUGH_OK, INFINITY, q, NULL};
    visit(x, t, q, is_clear, &b);
    BO_TRY(b.status);
    if (x->itself && bo_itself_gap(x->itself, q) < NO_GAP * x->def.support)
        return bo_fail(
            x->ctx, BOUGH_ERROR_ARGUMENT,
            "surfaces begin %.2g m from each other, whose repulsion would throw them off: leave %.2g m or more "
            "between them, or let the scene settle",
            bo_itself_gap(x->itself, q), x->def.support);
    return BOUGH_OK;
}

static bool find_narrowest(void *data, const near_pair *pair) {
    narrowest *s = data;
    if (gives_way(s->x, s->x->load_case->fixed, pair->point, pair->gap.n))
        s->d = fmin(s->d, pair->gap.d);
    return true;
}

/* kappa' b'(d') = kappa b'(d): the same force at a gap that is wide enough. */
bool bo_touch_stiffen(bo_touch *x, double t, const double *q) {
    narrowest s = {x, INFINITY};
    visit(x, t, q, find_narrowest, &s);
    if (x->itself)
        s.d = fmin(s.d, bo_itself_gap(x->itself, q));
    if (!(s.d < NARROW * x->def.support))
        return false;
    const double wide = bo_barrier_at(1.5 * NARROW * x->def.support, x->def.support).slope,
                 here = bo_barrier_at(s.d, x->def.support).slope;
    x->kappa *= fmax(1.5, here / wide);
    return true;
}

bough_status bo_touch_begin(bo_touch *x, double t, double h, const double *q, const double *v) {
    if (!(x->kappa > 0))
        x->kappa = usual_kappa(x, h);
    x->start = t, x->h = h, x->hold_count = 0, x->stiffened = 0, x->caught = NULL, x->settles = false;
    memcpy(x->q_start, q, (size_t)bo_body_size(x->body) * sizeof *q);
    beginning b = {x, BOUGH_OK, INFINITY, q, v};
    BO_TRY(bo_touch_look(x, q));
    /* A short step asks for a stiffer barrier; where none acts yet that costs no energy. */
    const double wanted = x->follows ? kappa_for(x, h, v) : usual_kappa(x, h);
    if ((x->follows || x->kappa < wanted) && bo_touch_energy(x, t, q) == 0)
        x->kappa = wanted;
    visit(x, t, q, begin_pair, &b);
    BO_TRY(b.status);
    /* The weight there is too much for this barrier. */
    if (b.narrowest < NARROW * x->def.support && x->kappa < STIFFEST * usual_kappa(x, h)) {
        x->stiffened = bo_touch_energy(x, t, q);
        x->kappa *= 2;
        for (int32_t i = 0; i < x->hold_count; i++)
            x->holds[i].limit *= 2;
    }
    return x->itself ? bo_itself_begin(x->itself, x->kappa, q) : BOUGH_OK;
}

/* Both lists ascend by obstacle, then by point: those that are in one of them only have changed as a whole. goes_on: what
 * is in both has slid from where it did before. */
static double change_of_holds(int32_t a_count, const hold *a, int32_t b_count, hold *b, bool goes_on) {
    double most = 0, change = 0;
    for (int32_t i = 0, k = 0; i < a_count || k < b_count;) {
        const int order = i == a_count                     ? 1
                          : k == b_count                   ? -1
                          : a[i].obstacle != b[k].obstacle ? (a[i].obstacle < b[k].obstacle ? -1 : 1)
                                                           : (a[i].point > b[k].point) - (a[i].point < b[k].point);
        if (order == 0 && goes_on)
            b[k].from = a[i].from;
        const double before = order <= 0 ? a[i].limit : 0, after = order >= 0 ? b[k].limit : 0;
        most = fmax(most, fmax(before, after)), change = fmax(change, fabs(after - before));
        i += order <= 0, k += order >= 0;
    }
    return most > 0 ? change / most : 0;
}

bough_status bo_touch_begin_again(bo_touch *x, double t, const double *q, double *change) {
    const int32_t count = x->hold_count;
    if (!BO_RESERVE(x->ctx, x->holds_before, x->before_capacity, (size_t)count))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++)
        x->holds_before[i] = x->holds[i];
    x->hold_count = 0;
    beginning b = {x, BOUGH_OK, INFINITY, q, NULL};
    visit(x, t, q, begin_pair, &b);
    *change = change_of_holds(count, x->holds_before, x->hold_count, x->holds, x->settles);
    return b.status;
}

bough_status bo_touch_hold(bo_touch *x, double t, const double *q, double *change) {
    x->settles = true, x->h = GIVES * x->def.support / x->def.slip, x->start = t - x->h;
    memcpy(x->q_start, q, (size_t)bo_body_size(x->body) * sizeof *q);
    BO_TRY(bo_touch_begin_again(x, t, q, change));
    return x->itself ? bo_itself_hold(x->itself, x->kappa, q, change) : BOUGH_OK;
}

double bo_touch_turn_levers(bo_touch *x, const double *q) {
    return x->itself ? bo_itself_turn_levers(x->itself, q) / x->size : 0;
}

/* ---- potential and forces ---- */

typedef struct {
    const bo_touch *x;
    double U, *f;
} forces;

static bool push_pair(void *data, const near_pair *pair) {
    forces *s = data;
    s->U += pair->stiffness * pair->b.value;
    if (s->f && pair->gap.d > 0)
        bo_touch_share(point_of(s->x, pair->point), bo_scale(-pair->stiffness * pair->b.slope, pair->gap.n), s->f);
    return pair->gap.d > 0;
}

/* The way that a point has slid on its obstacle since the start of the step; the obstacle's own motion counts where the
 * point was. */
static bo_vec3 slid(const bo_touch *x, const hold *s, double t, const double *q) {
    bo_vec3 moved = bo_sub(mean_at(x, s->point, q), s->from);
    const bo_touch_obstacle *o = &x->obstacles[s->obstacle];
    if (o->pose && !x->settles) {
        const bo_se3 before = o->pose(o->pose_data, x->start), now = o->pose(o->pose_data, t);
        const bo_vec3 at = place(x, s->point, x->q_start);
        const bo_vec3 local = bo_mat_tvec(before.R, bo_sub(at, before.t));
        moved = bo_sub(moved, bo_sub(bo_add(now.t, bo_mat_vec(now.R, local)), at));
    }
    return bo_mul_add(moved, -bo_dot(moved, s->n), s->n);
}

bough_status bo_touch_force(bo_touch *x, double t, const double *q, double *U, double *f) {
    forces s = {x, 0, f};
    const double since = t - x->start;
    if (x->caught)
        return bo_fail(x->ctx, BOUGH_NOT_FINITE,
                       x->leads ? "a support would lead the body into %s at t = %g"
                                : "the body is caught by %s at t = %g",
                       x->caught, t);
    if (!visit(x, t, q, push_pair, &s))
        return bo_fail(x->ctx, BOUGH_NOT_FINITE, "a vertex is in an obstacle at t = %g", t);
    if (x->itself && !bo_itself_force(x->itself, x->kappa, since, q, &s.U, f))
        return bo_fail(x->ctx, BOUGH_NOT_FINITE, "the body meets itself at t = %g", t);
    for (int32_t i = 0; i < x->hold_count && since > 0; i++) {
        const hold *held = &x->holds[i];
        const bo_vec3 way = slid(x, held, t, q);
        const bo_friction friction = bo_friction_at(bo_norm(way) / since, x->def.slip);
        s.U += held->limit * since * friction.potential;
        bo_touch_share(point_of(x, held->point), bo_scale(-held->limit * friction.over / since, way), f);
    }
    if (U)
        *U += s.U;
    return BOUGH_OK;
}

/* ---- second derivatives ---- */

/* K += w_a w_b H at the blocks of the vertices of a point; columns begin with the block on the diagonal. */
static void add_block(bough_sparse *K, const bo_touch_point *point, bo_mat3 H) {
    for (int a = 0; a < point->count; a++)
        for (int b = 0; b < point->count; b++) {
            const int32_t row = 3 * point->vertices[a], column = 3 * point->vertices[b];
            const double w = point->weights[a] * point->weights[b];
            for (int c = 0; c < 3 && row >= column; c++) {
                const int first = row == column ? c : 0;
                double *to =
                    K->values + (row == column ? K->column_start[column + c] : bo_sparse_find(K, column + c, row));
                for (int r = first; r < 3; r++)
                    to[r - first] += w * H.m[3 * r + c];
            }
        }
}

typedef struct {
    const bo_touch *x;
    bough_sparse *K;
    bool project;
} bending;

/* kappa (b'' n n^T + b' H). Around convex obstacles b' H, which is negative, is left out where only what is positive
 * counts. */
static bool bend_pair(void *data, const near_pair *pair) {
    const bending *s = data;
    bo_mat3 H = bo_mat_scale(pair->stiffness * pair->b.bend, bo_outer(pair->gap.n, pair->gap.n));
    if (!s->project)
        H = bo_mat_add(H, bo_mat_scale(pair->stiffness * pair->b.slope, pair->gap.H));
    add_block(s->K, point_of(s->x, pair->point), H);
    return true;
}

static bo_mat3 bend_of_friction(const bo_touch *x, const hold *held, double since, bo_vec3 way) {
    const double length = bo_norm(way);
    const bo_friction friction = bo_friction_at(length / since, x->def.slip);
    bo_mat3 H = bo_mat_scale(friction.over, bo_mat_sub(bo_identity3(), bo_outer(held->n, held->n)));
    if (length > 0) {
        const bo_vec3 u = bo_scale(1 / length, way);
        H = bo_mat_add(H, bo_mat_scale(friction.slope - friction.over, bo_outer(u, u)));
    }
    return bo_mat_scale(held->limit / since, H);
}

void bo_touch_tangent(bo_touch *x, double t, const double *q, bool project, bough_sparse *K) {
    bending s = {x, K, project};
    const double since = t - x->start;
    visit(x, t, q, bend_pair, &s);
    for (int32_t i = 0; i < x->hold_count && since > 0; i++)
        add_block(K, point_of(x, x->holds[i].point),
                  bend_of_friction(x, &x->holds[i], since, slid(x, &x->holds[i], t, q)));
    x->block_count = x->itself ? bo_itself_tangent(x->itself, x->kappa, since, q, project, &x->blocks) : 0;
}

int32_t bo_touch_blocks(const bo_touch *x, const bo_joined_block **blocks) {
    *blocks = x->blocks;
    return x->block_count;
}

/* ---- ways ---- */

double bo_touch_bound(bo_touch *x, double t, const double *q, const double *dq) {
    double bound = 1;
    for (int32_t o = 0; o < x->def.obstacle_count; o++) {
        const bo_obstacle shape = shape_at(x, o, t);
        for (int32_t i = 0; i < x->surface.count; i++)
            if (moves(x, i))
                bound = fmin(bound, bo_obstacle_reach(&shape, NULL, place(x, i, q), mean_at(x, i, dq), KEEP));
    }
    if (x->itself)
        bound = bo_itself_look(x->itself, q, dq) == BOUGH_OK ? fmin(bound, bo_itself_bound(x->itself, q, dq, KEEP)) : 0;
    return bound;
}

/* True where the body meets itself nowhere on the way from the start of the step. */
static bool passes(bo_touch *x, const double *q, double keep) {
    const size_t n = (size_t)bo_body_size(x->body);
    for (size_t i = 0; i < n; i++)
        x->way[i] = q[i] - x->q_start[i];
    return bo_itself_look(x->itself, x->q_start, x->way) == BOUGH_OK &&
           bo_itself_bound(x->itself, x->q_start, x->way, keep) >= 1;
}

/* Moves a point, by its vertices, out of the way of an obstacle that moves: along its normal, or, where that does not do,
 * with it; but not where a vertex is held. */
static void dodge(const bo_touch *x, int32_t point, bo_vec3 at, const bo_obstacle *before, const bo_obstacle *now,
                  double *q) {
    const bo_vec3 local = bo_mat_tvec(before->pose.R, bo_sub(at, before->pose.t));
    const bo_vec3 way = bo_sub(bo_add(now->pose.t, bo_mat_vec(now->pose.R, local)), at);
    bo_gap gap, after;
    bo_obstacle_gap(before, at, &gap);
    const unsigned char *fixed = x->load_case->fixed;
    const bo_touch_point *p = point_of(x, point);
    const bo_vec3 across = bo_scale(bo_dot(way, gap.n) / bo_dot(gap.n, gap.n), gap.n);
    bo_vec3 mean = {0, 0, 0};
    for (int k = 0; k < p->count; k++)
        mean = bo_mul_add(mean, p->weights[k], free_part(fixed, p->vertices[k], across));
    bo_obstacle_gap(now, bo_add(at, mean), &after);
    for (int k = 0; k < p->count; k++) {
        double *u = q + 3 * (size_t)p->vertices[k];
        bo_store3(u, bo_add(bo_load3(u), free_part(fixed, p->vertices[k], after.d > KEEP * gap.d ? across : way)));
    }
}

/* From the start of the step. */
static bo_vec3 way_of_support(const bo_touch *x, int32_t point, const double *q) {
    const bo_touch_point *p = point_of(x, point);
    bo_vec3 sum = {0, 0, 0};
    for (int k = 0; k < p->count; k++) {
        const size_t v = 3 * (size_t)p->vertices[k];
        const bo_vec3 way = bo_sub(bo_load3(q + v), bo_load3(x->q_start + v));
        sum = bo_mul_add(sum, p->weights[k], bo_sub(way, free_part(x->load_case->fixed, p->vertices[k], way)));
    }
    return sum;
}

/* Which obstacle is in the straight way of the step to q at t; -1: none. */
static int32_t find_in_the_way(const bo_touch *x, double t, const double *q, double keep) {
    for (int32_t o = 0; o < x->def.obstacle_count; o++) {
        const bo_obstacle before = shape_at(x, o, x->start), after = shape_at(x, o, t);
        for (int32_t i = 0; i < x->surface.count; i++) {
            const bo_vec3 way = way_between(x, i, x->q_start, q);
            if (moves(x, i) && bo_obstacle_reach(&before, &after.pose, place(x, i, x->q_start), way, keep) < 1)
                return o;
        }
    }
    return -1;
}

void bo_touch_escape(bo_touch *x, double t, double *q) {
    bool moved = x->leads;
    x->caught = NULL;
    for (int32_t o = 0; o < x->def.obstacle_count; o++) {
        if (!x->obstacles[o].pose && !x->leads)
            continue;
        const bo_obstacle before = shape_at(x, o, x->start), now = shape_at(x, o, t);
        for (int32_t i = 0; i < x->surface.count; i++) {
            const bo_vec3 led = way_of_support(x, i, q), at = bo_sub(place(x, i, q), led);
            if (!moves(x, i) || bo_obstacle_reach(&before, &now.pose, at, led, KEEP) >= 1)
                continue;
            if (bo_norm(led) > 0)
                x->caught = name_of(x, o);
            dodge(x, i, at, &before, &now, q);
            moved = true;
        }
    }
    /* Points between vertices move with these, so that what is out of one way may be in another. */
    const int32_t met = moved && x->surface.count > x->surface.vertex_count ? find_in_the_way(x, t, q, 0) : -1;
    if (met >= 0)
        x->caught = name_of(x, met);
    if (moved && x->itself && !passes(x, q, KEEP))
        x->caught = "itself";
}

static double longest_way(const bo_touch *x, const double *q) {
    double most = 0;
    for (int32_t i = 0; i < x->surface.vertex_count; i++)
        most = fmax(most, bo_norm(way_between(x, i, x->q_start, q)));
    return most;
}

static bool goes_straight(bo_touch *x, const double *q, double keep) {
    return find_in_the_way(x, x->start + x->h, q, keep) < 0 && (!x->itself || passes(x, q, keep));
}

bough_status bo_touch_check_end(bo_touch *x, const double *q) {
    if (!goes_straight(x, q, KEEP))
        return bo_fail(x->ctx, BOUGH_NO_CONVERGENCE,
                       "the step from t = %g would end beyond what it touches in its middle; take a shorter one",
                       x->start);
    return bo_touch_look(x, q);
}

bough_status bo_touch_check_ways(bo_touch *x, const double *q) {
    if (longest_way(x, q) <= LONG_WAY * x->size || goes_straight(x, q, 0))
        return BOUGH_OK;
    return bo_fail(x->ctx, BOUGH_NO_CONVERGENCE,
                   "the step from t = %g is so long that the body would pass through something; take a shorter one",
                   x->start);
}

/* ---- work ---- */

typedef struct {
    const bo_touch *x;
    double work;
} working;

static bool work_of_pair(void *data, const near_pair *pair) {
    working *w = data;
    const bo_vec3 way = way_of_obstacle(w->x, pair->obstacle, place(w->x, pair->point, w->x->q_start));
    if (pair->gap.d > 0)
        w->work += -pair->stiffness * pair->b.slope * bo_dot(pair->gap.n, way);
    return true;
}

void bo_touch_work(const bo_touch *x, const double *q, double *work, double *doubt, double *rubbed) {
    working start = {x, 0}, end = {x, 0};
    const double t = x->start + x->h;
    bool carried = false;
    *work = x->stiffened, *doubt = *rubbed = 0;
    for (int32_t i = 0; i < x->hold_count; i++) {
        const bo_vec3 way = slid(x, &x->holds[i], t, q), moved = way_between(x, x->holds[i].point, x->q_start, q);
        const bo_friction friction = bo_friction_at(bo_norm(way) / x->h, x->def.slip);
        *rubbed -= x->holds[i].limit * friction.over / x->h * bo_dot(way, moved);
    }
    if (x->itself)
        *rubbed += bo_itself_work(x->itself, x->h, q);
    *work += *rubbed;
    for (int32_t o = 0; o < x->def.obstacle_count; o++)
        carried = carried || x->obstacles[o].pose;
    if (!carried)
        return;
    visit(x, x->start, x->q_start, work_of_pair, &start);
    visit(x, t, q, work_of_pair, &end);
    *work += 0.5 * (start.work + end.work), *doubt = 0.5 * fabs(end.work - start.work);
}

/* ---- looking ---- */

double bo_touch_energy(const bo_touch *x, double t, const double *q) {
    forces s = {x, 0, NULL};
    if (!visit(x, t, q, push_pair, &s))
        return INFINITY;
    return x->itself ? s.U + bo_itself_energy(x->itself, x->kappa, q) : s.U;
}

typedef struct {
    const bo_touch *x;
    double t;
    const double *q;
    int32_t hold; /* the first that may be of the pairs to come: both ascend by obstacle, then by point */
    int32_t most, count;
    bough_contact *contacts;
} listing;

static bo_vec3 friction_on(listing *s, const near_pair *pair) {
    const bo_touch *x = s->x;
    const double since = s->t - x->start;
    while (s->hold < x->hold_count &&
           (x->holds[s->hold].obstacle < pair->obstacle ||
            (x->holds[s->hold].obstacle == pair->obstacle && x->holds[s->hold].point < pair->point)))
        s->hold++;
    const hold *held = s->hold < x->hold_count ? &x->holds[s->hold] : NULL;
    if (!(since > 0) || !held || held->obstacle != pair->obstacle || held->point != pair->point)
        return bo_v3(0, 0, 0);
    const bo_vec3 way = slid(x, held, s->t, s->q);
    const bo_friction friction = bo_friction_at(bo_norm(way) / since, x->def.slip);
    return bo_scale(-held->limit * friction.over / since, way);
}

static bool list_pair(void *data, const near_pair *pair) {
    listing *s = data;
    if (s->count < s->most) {
        bough_contact *to = &s->contacts[s->count];
        *to = (bough_contact){.sides = {{BOUGH_CONTACT_OF_PART, point_of(s->x, pair->point)->vertices[0], 0},
                                        {BOUGH_CONTACT_OF_OBSTACLE, s->x->obstacles[pair->obstacle].thing, -1}},
                              .gap = pair->gap.d};
        const bo_vec3 push = bo_scale(-pair->stiffness * pair->b.slope, pair->gap.n);
        bo_store3(to->position, place(s->x, pair->point, s->q));
        bo_store3(to->normal, bo_normalize(pair->gap.n));
        bo_store3(to->force, bo_add(push, friction_on(s, pair)));
    }
    s->count++;
    return true;
}

int32_t bo_touch_contacts(const bo_touch *x, double t, const double *q, int32_t most, bough_contact *contacts) {
    listing s = {x, t, q, 0, most, 0, contacts};
    visit(x, t, q, list_pair, &s);
    const int32_t listed = s.count < most ? s.count : most;
    return x->itself ? s.count + bo_itself_contacts(x->itself, x->kappa, t - x->start, q, most - listed,
                                                    contacts ? contacts + listed : NULL)
                     : s.count;
}

double bo_touch_gap(const bo_touch *x, double t, const double *q) {
    double least = INFINITY;
    for (int32_t o = 0; o < x->def.obstacle_count; o++) {
        const bo_obstacle shape = shape_at(x, o, t);
        for (int32_t i = 0; i < x->surface.count; i++) {
            bo_gap gap;
            bo_obstacle_gap(&shape, place(x, i, q), &gap);
            least = fmin(least, gap.d);
        }
    }
    return x->itself ? fmin(least, bo_itself_gap(x->itself, q)) : least;
}

double bo_touch_size(const bo_touch *x) {
    return x->size;
}

const bo_skin *bo_touch_skin(const bo_touch *x) {
    return x->itself ? bo_itself_skin(x->itself) : NULL;
}

double bo_touch_kappa(const bo_touch *x) {
    return x->kappa;
}

void bo_touch_set_kappa(bo_touch *x, double kappa) {
    x->kappa = kappa;
}
