#include "fem/touch_itself.h"

#include "contact/barrier.h"

#include <string.h>

#define FADES 1e-3 /* of the squared area that two edges span at most at rest: below, forces fade out */

/* Friction between two pieces, under the force at the start of the step. */
typedef struct {
    int32_t vertices[4];
    double weights[4]; /* of the nearest points at the start */
    bo_mat3 A[4];      /* the nearest points move past each other by the sum of A times the vertices' ways */
    bo_vec3 n;
    double limit;    /* mu lambda, N; 0 where nothing could bear its torque */
    bo_vec3 from[4]; /* m: displacements at which it has not slid yet */
} hold;

struct bo_itself {
    bough_context *ctx;
    const bough_body *body;
    double support, slip, friction;
    bo_skin skin;
    bo_near near;
    unsigned char *held;        /* vertex_count: in all directions */
    double *x;                  /* 3 vertex_count: positions */
    double *q_start;            /* 3 vertex_count: displacements where the step began */
    double *q_levers;           /* 3 vertex_count: displacements at which friction has no torque */
    hold *holds, *holds_before; /* the second: of the search for an equilibrium, one iteration before */
    int32_t hold_count;
    size_t hold_capacity, before_capacity;
    bo_joined_block *blocks;
    size_t block_capacity;
};

/* ---- making ---- */

static int32_t root_of(int32_t *of, int32_t v) {
    while (of[v] != v)
        v = of[v] = of[of[v]];
    return v;
}

/* The pieces that elements hold together, each by the number of its lowest vertex. */
static void find_pieces(const bough_mesh *mesh, int32_t *piece) {
    const int32_t nodes = bough_element_node_count(mesh->type);
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        piece[v] = v;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *n = mesh->elements + (size_t)e * (size_t)nodes;
        for (int32_t k = 1; k < nodes; k++) {
            const int32_t a = root_of(piece, n[0]), b = root_of(piece, n[k]);
            piece[a > b ? a : b] = a > b ? b : a;
        }
    }
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        piece[v] = root_of(piece, v);
}

bough_status bo_body_skin(bough_context *ctx, const bough_mesh *mesh, bo_skin *skin) {
    bough_mesh *surface = NULL;
    int32_t *map = NULL, *piece = BO_NEW_ARRAY(ctx, int32_t, mesh->vertex_count);
    *skin = (bo_skin){0};
    if (!piece)
        return BOUGH_ERROR_MEMORY;
    find_pieces(mesh, piece);
    bough_status status = bough_mesh_surface(ctx, mesh, &surface, &map, NULL);
    for (int32_t i = 0; status == BOUGH_OK && i < 3 * surface->element_count; i++)
        surface->elements[i] = map[surface->elements[i]];
    if (status == BOUGH_OK)
        status = bo_skin_make(ctx, mesh->vertex_count, surface->element_count, surface->elements, piece, skin);
    bough_mesh_destroy(ctx, surface);
    bough_release(ctx, map);
    bo_free(ctx, piece);
    return status;
}

/* Neighbours in one piece that are as near at rest would push each other apart for ever. */
static bough_status check_rest(bo_itself *s) {
    BO_TRY(bo_itself_look(s, s->q_start, NULL));
    for (int32_t i = 0; i < s->near.count; i++) {
        const int32_t *v = s->near.pairs[i].vertices;
        if (s->skin.body[v[0]] == s->skin.body[v[3]])
            return bo_fail(s->ctx, BOUGH_ERROR_ARGUMENT,
                           "the surface at vertices %d and %d is nearer to itself than %g m at rest; take a shorter "
                           "distance of contact",
                           v[0], v[3], s->support);
    }
    return BOUGH_OK;
}

static bough_status fill(bo_itself *s, const unsigned char *still) {
    const int32_t count = s->body->mesh->vertex_count;
    BO_TRY(bo_body_skin(s->ctx, s->body->mesh, &s->skin));
    s->held = BO_NEW_ZEROS(s->ctx, unsigned char, count);
    s->x = BO_NEW_ZEROS(s->ctx, double, 3 * (size_t)count);
    s->q_start = BO_NEW_ZEROS(s->ctx, double, 3 * (size_t)count);
    s->q_levers = BO_NEW_ZEROS(s->ctx, double, 3 * (size_t)count);
    if (!s->held || !s->x || !s->q_start || !s->q_levers)
        return BOUGH_ERROR_MEMORY;
    for (int32_t v = 0; v < count; v++) {
        const unsigned char *axes = still + 3 * (size_t)v;
        s->held[v] = axes[0] && axes[1] && axes[2];
    }
    return check_rest(s);
}

bough_status bo_itself_make(bough_context *ctx, const bough_body *body, const unsigned char *still, double support,
                            double slip, double friction, bo_itself **out) {
    *out = NULL;
    bo_itself *s = BO_NEW(ctx, bo_itself);
    if (!s)
        return BOUGH_ERROR_MEMORY;
    *s = (bo_itself){.ctx = ctx, .body = body, .support = support, .slip = slip, .friction = friction};
    const bough_status status = fill(s, still);
    if (status == BOUGH_OK)
        *out = s;
    else
        bo_itself_free(ctx, s);
    return status;
}

void bo_itself_use_context(bo_itself *s, bough_context *ctx) {
    s->ctx = ctx;
}

void bo_itself_free(bough_context *ctx, bo_itself *s) {
    if (!s)
        return;
    bo_skin_free(ctx, &s->skin);
    bo_near_free(ctx, &s->near);
    bo_free(ctx, s->held);
    bo_free(ctx, s->x);
    bo_free(ctx, s->q_start);
    bo_free(ctx, s->q_levers);
    bo_free(ctx, s->holds);
    bo_free(ctx, s->holds_before);
    bo_free(ctx, s->blocks);
    bo_free(ctx, s);
}

/* ---- pairs ---- */

bough_status bo_itself_look(bo_itself *s, const double *q, const double *dq) {
    const double *rest = s->body->mesh->vertices;
    for (int32_t i = 0; i < 3 * s->skin.vertex_count; i++)
        s->x[i] = rest[i] + q[i];
    return bo_near_find(s->ctx, &s->skin, s->x, dq, s->support, s->held, &s->near);
}

static void gather(const bo_itself *s, const bo_near_pair *pair, const double *q, bo_vec3 x[4]) {
    for (int k = 0; k < 4; k++) {
        const size_t at = 3 * (size_t)pair->vertices[k];
        x[k] = bo_add(bo_load3(s->body->mesh->vertices + at), bo_load3(q + at));
    }
}

/* e of the mollifier of two edges: of the area that they would span at rest at right angles. */
static double fading(const bo_itself *s, const bo_near_pair *pair) {
    if (pair->kind != BO_PAIR_EDGES)
        return 0;
    bo_vec3 x[4];
    for (int k = 0; k < 4; k++)
        x[k] = bo_load3(s->body->mesh->vertices + 3 * (size_t)pair->vertices[k]);
    const bo_vec3 a = bo_sub(x[1], x[0]), b = bo_sub(x[3], x[2]);
    return FADES * bo_dot(a, a) * bo_dot(b, b);
}

double bo_itself_bound(bo_itself *s, const double *q, const double *dq, double keep) {
    double bound = 1;
    for (int32_t i = 0; i < s->near.count; i++) {
        bo_vec3 x[4], p[4];
        gather(s, &s->near.pairs[i], q, x);
        for (int k = 0; k < 4; k++)
            p[k] = bo_load3(dq + 3 * (size_t)s->near.pairs[i].vertices[k]);
        bound = fmin(bound, bo_pair_reach(s->near.pairs[i].kind, x, p, keep));
    }
    return bound;
}

double bo_itself_gap(const bo_itself *s, const double *q) {
    double least = INFINITY;
    for (int32_t i = 0; i < s->near.count; i++) {
        bo_vec3 x[4];
        bo_pair pair;
        gather(s, &s->near.pairs[i], q, x);
        bo_pair_at(s->near.pairs[i].kind, x, false, &pair);
        least = fmin(least, pair.d);
    }
    return least;
}

/* ---- friction ---- */

/* Nearest points move past each other by sum w u, with the weights w and the ways u of the four vertices. Where all of
 * them turn together by a small angle a that would be a x y, y the vector between the nearest points, and friction would
 * have a torque on both pieces together. So the turn of the four points, a = I^-1 sum r x u with r from their middle and
 * I = sum |r|^2 - r r^T, is taken off: A = w + [y] I^-1 [r]. Then forces A^T f have the torque
 *     sum x x A^T f = y x f + sum r x (r x I^-1 (y x f)) = y x f - I I^-1 (y x f) = 0
 * in the configuration x in which A is found. False: the points are on a line, and nothing can take up the torque. */
static bool take_turns_off(const bo_vec3 x[4], const double weights[4], bo_mat3 A[4]) {
    bo_vec3 middle = {0, 0, 0}, y = {0, 0, 0};
    bo_mat3 I = bo_mat_scale(0, bo_identity3());
    for (int k = 0; k < 4; k++)
        middle = bo_mul_add(middle, 0.25, x[k]), y = bo_mul_add(y, weights[k], x[k]);
    for (int k = 0; k < 4; k++) {
        const bo_vec3 r = bo_sub(x[k], middle);
        I = bo_mat_add(I, bo_mat_sub(bo_mat_scale(bo_dot(r, r), bo_identity3()), bo_outer(r, r)));
    }
    const double size = I.m[0] + I.m[4] + I.m[8];
    if (!(bo_det(I) > 1e-9 * size * size * size))
        return false;
    const bo_mat3 across = bo_mat_mul(bo_hat(y), bo_inverse(I));
    for (int k = 0; k < 4; k++)
        A[k] = bo_mat_add(bo_mat_scale(weights[k], bo_identity3()), bo_mat_mul(across, bo_hat(bo_sub(x[k], middle))));
    return true;
}

/* The normal force is that of the barrier's gradient along the unit vector between the nearest points. Four points on
 * a line have no friction. */
static bough_status add_hold(bo_itself *s, double kappa, const bo_near_pair *near, const double *q) {
    bo_vec3 x[4], y = {0, 0, 0};
    bo_pair pair;
    gather(s, near, q, x);
    bo_pair_at(near->kind, x, false, &pair);
    if (!(pair.d > 0) || pair.d >= s->support)
        return BOUGH_OK;
    bo_mollifier m;
    bo_mollifier_at(x, fading(s, near), false, &m);
    if (!BO_RESERVE(s->ctx, s->holds, s->hold_capacity, (size_t)s->hold_count + 1))
        return BOUGH_ERROR_MEMORY;
    hold *h = &s->holds[s->hold_count++];
    for (int k = 0; k < 4; k++) {
        h->vertices[k] = near->vertices[k], h->weights[k] = pair.weights[k];
        h->from[k] = bo_load3(s->q_start + 3 * (size_t)near->vertices[k]);
        y = bo_mul_add(y, pair.weights[k], x[k]);
    }
    h->n = bo_scale(1 / pair.d, y);
    if (!take_turns_off(x, pair.weights, h->A)) {
        s->hold_count--;
        return BOUGH_OK;
    }
    h->limit =
        -s->friction * kappa * (near->kind == BO_PAIR_EDGES ? m.value : 1) * bo_barrier_at(pair.d, s->support).slope;
    return BOUGH_OK;
}

/* Both lists have the order of pairs that were found. */
static void go_on_sliding(bo_itself *s, int32_t before, double *change) {
    double most = 0, largest = 0;
    for (int32_t i = 0, from = 0; i < s->hold_count; i++) {
        hold *h = &s->holds[i];
        double limit = 0;
        for (int32_t k = 0; k < before && limit == 0; k++) {
            const hold *old = &s->holds_before[(from + k) % before];
            if (memcmp(old->vertices, h->vertices, sizeof h->vertices) != 0)
                continue;
            memcpy(h->from, old->from, sizeof h->from);
            limit = old->limit, from = (from + k + 1) % before;
        }
        largest = fmax(largest, fmax(limit, h->limit)), most = fmax(most, fabs(h->limit - limit));
    }
    if (largest > 0)
        *change = fmax(*change, most / largest);
}

bough_status bo_itself_hold(bo_itself *s, double kappa, const double *q, double *change) {
    const int32_t before = s->hold_count;
    if (!BO_RESERVE(s->ctx, s->holds_before, s->before_capacity, (size_t)before))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < before; i++)
        s->holds_before[i] = s->holds[i];
    BO_TRY(bo_itself_begin(s, kappa, q));
    go_on_sliding(s, before, change);
    return BOUGH_OK;
}

bough_status bo_itself_begin(bo_itself *s, double kappa, const double *q) {
    s->hold_count = 0;
    memcpy(s->q_start, q, 3 * (size_t)s->skin.vertex_count * sizeof *q);
    memcpy(s->q_levers, q, 3 * (size_t)s->skin.vertex_count * sizeof *q);
    BO_TRY(bo_itself_look(s, q, NULL));
    for (int32_t i = 0; i < s->near.count && s->friction > 0; i++)
        BO_TRY(add_hold(s, kappa, &s->near.pairs[i], q));
    return BOUGH_OK;
}

double bo_itself_turn_levers(bo_itself *s, const double *q) {
    double most = 0;
    for (int32_t i = 0; i < s->hold_count; i++) {
        hold *h = &s->holds[i];
        bo_vec3 x[4];
        for (int k = 0; k < 4; k++) {
            const size_t at = 3 * (size_t)h->vertices[k];
            x[k] = bo_add(bo_load3(s->body->mesh->vertices + at), bo_load3(q + at));
            most = fmax(most, bo_norm(bo_sub(bo_load3(q + at), bo_load3(s->q_levers + at))));
        }
        if (!take_turns_off(x, h->weights, h->A))
            h->limit = 0;
    }
    memcpy(s->q_levers, q, 3 * (size_t)s->skin.vertex_count * sizeof *q);
    return most;
}

/* The way that the nearest points have slid along each other since the start of the step. */
static bo_vec3 slid(const hold *h, const double *q) {
    bo_vec3 way = {0, 0, 0};
    for (int k = 0; k < 4; k++) {
        const size_t at = 3 * (size_t)h->vertices[k];
        way = bo_add(way, bo_mat_vec(h->A[k], bo_sub(bo_load3(q + at), h->from[k])));
    }
    return bo_mul_add(way, -bo_dot(way, h->n), h->n);
}

/* ---- potential, forces, second derivatives ---- */

bool bo_itself_force(const bo_itself *s, double kappa, double since, const double *q, double *U, double *f) {
    double gradient[12], H[144];
    for (int32_t i = 0; i < s->near.count; i++) {
        const bo_near_pair *pair = &s->near.pairs[i];
        bo_vec3 x[4];
        gather(s, pair, q, x);
        const double value = bo_pair_barrier(pair->kind, x, kappa, s->support, fading(s, pair), false, gradient, H);
        if (!isfinite(value))
            return false;
        if (value == 0)
            continue;
        *U += value;
        for (int k = 0; k < 12; k++)
            f[3 * (size_t)pair->vertices[k / 3] + (size_t)(k % 3)] -= gradient[k];
    }
    for (int32_t i = 0; i < s->hold_count && since > 0; i++) {
        const hold *h = &s->holds[i];
        const bo_vec3 way = slid(h, q);
        const bo_friction friction = bo_friction_at(bo_norm(way) / since, s->slip);
        *U += h->limit * since * friction.potential;
        for (int k = 0; k < 4; k++) {
            double *to = f + 3 * (size_t)h->vertices[k];
            bo_store3(to, bo_mul_add(bo_load3(to), -h->limit * friction.over / since, bo_mat_tvec(h->A[k], way)));
        }
    }
    return true;
}

static void bend_of_friction(const bo_itself *s, const hold *h, double since, const double *q, double *H) {
    const bo_vec3 way = slid(h, q);
    const double length = bo_norm(way);
    const bo_friction friction = bo_friction_at(length / since, s->slip);
    bo_mat3 B = bo_mat_scale(friction.over, bo_mat_sub(bo_identity3(), bo_outer(h->n, h->n)));
    if (length > 0) {
        const bo_vec3 u = bo_scale(1 / length, way);
        B = bo_mat_add(B, bo_mat_scale(friction.slope - friction.over, bo_outer(u, u)));
    }
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            const bo_mat3 C = bo_mat_tmul(h->A[a], bo_mat_mul(B, h->A[b]));
            for (int k = 0; k < 9; k++)
                H[12 * (3 * a + k / 3) + 3 * b + k % 3] = h->limit / since * C.m[k];
        }
}

int32_t bo_itself_tangent(bo_itself *s, double kappa, double since, const double *q, bool project,
                          const bo_joined_block **blocks) {
    int32_t count = 0;
    if (!BO_RESERVE(s->ctx, s->blocks, s->block_capacity, (size_t)s->near.count + (size_t)s->hold_count))
        return -1;
    for (int32_t i = 0; i < s->near.count; i++) {
        const bo_near_pair *pair = &s->near.pairs[i];
        bo_joined_block *block = &s->blocks[count];
        double gradient[12];
        bo_vec3 x[4];
        gather(s, pair, q, x);
        if (bo_pair_barrier(pair->kind, x, kappa, s->support, fading(s, pair), project, gradient, block->H) == 0)
            continue;
        memcpy(block->vertices, pair->vertices, sizeof block->vertices);
        count++;
    }
    for (int32_t i = 0; i < s->hold_count && since > 0; i++) {
        bo_joined_block *block = &s->blocks[count++];
        memcpy(block->vertices, s->holds[i].vertices, sizeof block->vertices);
        bend_of_friction(s, &s->holds[i], since, q, block->H);
    }
    *blocks = s->blocks;
    return count;
}

double bo_itself_energy(const bo_itself *s, double kappa, const double *q) {
    double sum = 0, gradient[12], H[144];
    for (int32_t i = 0; i < s->near.count; i++) {
        bo_vec3 x[4];
        gather(s, &s->near.pairs[i], q, x);
        sum += bo_pair_barrier(s->near.pairs[i].kind, x, kappa, s->support, fading(s, &s->near.pairs[i]), false,
                               gradient, H);
    }
    return sum;
}

double bo_itself_work(const bo_itself *s, double h, const double *q) {
    double work = 0;
    for (int32_t i = 0; i < s->hold_count; i++) {
        const bo_vec3 way = slid(&s->holds[i], q);
        const bo_friction friction = bo_friction_at(bo_norm(way) / h, s->slip);
        work -= s->holds[i].limit * friction.over / h * bo_dot(way, way);
    }
    return work;
}

/* ---- looking ---- */

/* Friction on the first piece of a pair. Holds and pairs have the same order, but pairs come and go: *from is where the
 * search begins. */
static bo_vec3 friction_on(const bo_itself *s, const bo_near_pair *pair, double since, const double *q, int32_t *from) {
    for (int32_t i = 0; i < s->hold_count && since > 0; i++) {
        const hold *h = &s->holds[(*from + i) % s->hold_count];
        if (memcmp(h->vertices, pair->vertices, sizeof h->vertices) != 0)
            continue;
        const bo_vec3 way = slid(h, q);
        *from = (*from + i + 1) % s->hold_count;
        return bo_scale(-h->limit * bo_friction_at(bo_norm(way) / since, s->slip).over / since, way);
    }
    return bo_v3(0, 0, 0);
}

int32_t bo_itself_contacts(const bo_itself *s, double kappa, double since, const double *q, int32_t most,
                           bough_contact *contacts) {
    int32_t count = 0, from = 0;
    for (int32_t i = 0; i < s->near.count; i++) {
        const bo_near_pair *near = &s->near.pairs[i];
        const int first = near->kind == BO_PAIR_EDGES ? 2 : 1;
        bo_vec3 x[4], y = {0, 0, 0}, at = {0, 0, 0};
        bo_pair pair;
        bo_mollifier m = {.value = 1};
        gather(s, near, q, x);
        bo_pair_at(near->kind, x, false, &pair);
        if (!(pair.d > 0) || pair.d >= s->support || count++ >= most)
            continue;
        if (near->kind == BO_PAIR_EDGES)
            bo_mollifier_at(x, fading(s, near), false, &m);
        for (int k = 0; k < 4; k++) {
            y = bo_mul_add(y, pair.weights[k], x[k]);
            at = bo_mul_add(at, k < first ? pair.weights[k] : 0, x[k]);
        }
        const double push = -kappa * m.value * bo_barrier_at(pair.d, s->support).slope;
        const bo_vec3 n = bo_scale(1 / pair.d, y);
        bough_contact *to = &contacts[count - 1];
        *to = (bough_contact){
            .sides = {{BOUGH_CONTACT_OF_PART, near->vertices[0], 0}, {BOUGH_CONTACT_OF_PART, near->vertices[3], 0}},
            .gap = pair.d};
        bo_store3(to->position, at);
        bo_store3(to->normal, n);
        bo_store3(to->force, bo_mul_add(friction_on(s, near, since, q, &from), push, n));
    }
    return count;
}

const bo_skin *bo_itself_skin(const bo_itself *s) {
    return &s->skin;
}
