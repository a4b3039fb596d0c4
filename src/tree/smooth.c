/* Joints: where the motions of a child and of its parent are blended, which vertices take part, and how a component
 * moves near an interface, as a polynomial. docs/theory/tree.md, "Smooth joints". */
#include "tree/surface.h"

#include "base/eigen3.h"
#include "dense/cholesky.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In radii (rms) of the interface: how far blending reaches from it to both sides, and how far across before it fades
 * out; what is between 3 times its thickness is all the joint's. A disc ends at 1.4 radii. */
#define WIDTH 2
#define PLANTED_WIDTH \
    1 /* one that shares no vertices: what its parent does is then extrapolated beyond its surface \
       */
#define ACROSS 2
#define THICKNESSES 3
/* A joint whose neighbours leave less is none. */
#define LEAST_WIDTH 0.25
/* Half the size of an interface as others see it. */
#define EXTENT 1.5

/* Vertices within so many radii tell the motion around an interface; more of them where they do not. */
#define FIRST_REACH 3
#define REACH_GROWS 1.5
enum { REACHES = 4 };
/* They must not lie in a plane (covariances), and be enough for ten coefficients. */
#define FLATTEST 1e-4
enum { ENOUGH_FOR_PLANES = 6, ENOUGH_FOR_CURVES = 12, AFFINE = 4, CURVED = BO_BLEND_TERMS - AFFINE };
/* On a cylinder x^2 + y^2 is constant: what vertices do not tell of curvature is left out. */
#define RIDGE 1e-4
/* Times that the samples are weighed by their errors. */
enum { DOUBTS = 2 };
#define COMMON_ERRORS 36 /* squares; times the median one */
#define LEAST_OTHERS 1e-3

/* So few vertices in common make no cut. */
enum { LEAST_COINCIDENCES = 3 };
/* A float's worth of a weight. */
#define LEAST_WEIGHT 1e-6

/* ---- polynomials ---- */

static void monomials(const double xi[3], double m[BO_BLEND_TERMS]) {
    const double x = xi[0], y = xi[1], z = xi[2];
    const double all[BO_BLEND_TERMS] = {1, x, y, z, x * x, y * y, z * z, y * z, x * z, x * y};
    memcpy(m, all, sizeof all);
}

/* Weighted least squares: G = sum w m m^T, rhs = sum w m u^T, then the coefficients. */
typedef struct {
    const bough_component *c;
    const bo_tree_patch *patch;
    double reach; /* radii */
    int32_t count, columns;
    int32_t *vertices; /* samples */
    double *weights, *errors, *sorted;
    double G[BO_BLEND_TERMS][BO_BLEND_TERMS];
    double *rhs;   /* BO_BLEND_TERMS x columns: 3 l + axis */
    double *u;     /* columns: of one vertex */
    double *sizes; /* columns: sum w u^2 */
} fit;

/* u: the rows of U of a vertex, by columns. */
static void load_rows(const fit *f, int32_t v) {
    enum { PANEL = 16 };
    const bough_surface *s = &f->c->surface;
    const size_t r = (size_t)f->c->r;
    for (size_t axis = 0; axis < 3; axis++) {
        const size_t i = 3 * (size_t)v + axis, at = i / PANEL * r * PANEL + i % PANEL;
        for (size_t l = 0; l < r; l++)
            f->u[3 * l + axis] =
                s->U ? (double)s->U[at + PANEL * l] : (double)s->U16[at + PANEL * l] * (double)s->scale[l];
    }
}

/* In units of the interface's radius, from its centre; returns the square of its length. */
static double place_of(const fit *f, int32_t v, double xi[3]) {
    double square = 0;
    for (int k = 0; k < 3; k++) {
        xi[k] = ((double)f->c->surface.position[3 * (size_t)v + (size_t)k] - f->patch->centre[k]) / f->patch->radius;
        square += xi[k] * xi[k];
    }
    return square;
}

static void add_sample(fit *f, int32_t v, double weight) {
    double m[BO_BLEND_TERMS], xi[3];
    place_of(f, v, xi);
    monomials(xi, m);
    for (int a = 0; a < BO_BLEND_TERMS; a++)
        for (int b = 0; b < BO_BLEND_TERMS; b++)
            f->G[a][b] += weight * m[a] * m[b];
    load_rows(f, v);
    for (int32_t k = 0; k < f->columns; k++)
        f->sizes[k] += weight * f->u[k] * f->u[k];
    for (int a = 0; a < BO_BLEND_TERMS; a++)
        for (int32_t k = 0; k < f->columns; k++)
            f->rhs[a * f->columns + k] += weight * m[a] * f->u[k];
}

/* By its distance alone; 0 beyond reach. */
static double weight_of(const fit *f, int32_t v) {
    double xi[3];
    const double left = 1 - place_of(f, v, xi) / (f->reach * f->reach);
    return left > 0 ? left * left : 0;
}

static void gather(fit *f) {
    f->count = 0;
    for (int32_t v = 0; v < f->c->surface.vertex_count; v++)
        if (weight_of(f, v) > 0)
            f->vertices[f->count++] = v;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* doubt: samples lose weight by their errors against the median one, and all of it where these are large. */
static void add_samples(fit *f, bool doubt) {
    double common = 0;
    if (doubt) {
        memcpy(f->sorted, f->errors, (size_t)f->count * sizeof *f->sorted);
        qsort(f->sorted, (size_t)f->count, sizeof *f->sorted, ascending);
        common = COMMON_ERRORS * f->sorted[f->count / 2];
    }
    memset(f->G, 0, sizeof f->G);
    memset(f->rhs, 0, BO_BLEND_TERMS * (size_t)f->columns * sizeof *f->rhs);
    memset(f->sizes, 0, (size_t)f->columns * sizeof *f->sizes);
    for (int32_t i = 0; i < f->count; i++) {
        f->weights[i] = weight_of(f, f->vertices[i]);
        if (common > 0)
            f->weights[i] *= pow(fmax(0, 1 - f->errors[i] / common), 2);
        add_sample(f, f->vertices[i], f->weights[i]);
    }
}

/* The vertices span space, not just a plane. */
static bool tells_gradients(const fit *f) {
    bo_mat3 covariance, axes;
    bo_vec3 values;
    if (f->count < ENOUGH_FOR_PLANES || !(f->G[0][0] > 0))
        return false;
    for (int k = 0; k < 9; k++)
        covariance.m[k] =
            f->G[1 + k / 3][1 + k % 3] / f->G[0][0] - f->G[0][1 + k / 3] * f->G[0][1 + k % 3] / pow(f->G[0][0], 2);
    bo_eigen3(covariance, &values, &axes);
    return values.x > FLATTEST * values.z;
}

/* The curved terms are made orthogonal to the affine ones, b' = b - S^T a with S = Gaa^-1 Gab, and damped: an affine
 * motion has none of them, whatever the vertices are. */
static bool solve(fit *f) {
    double Gaa[AFFINE * AFFINE], S[AFFINE * CURVED], Gbb[CURVED * CURVED], trace = 0;
    double *top = f->rhs, *bottom = f->rhs + AFFINE * f->columns;
    for (int a = 0; a < AFFINE * AFFINE; a++)
        Gaa[a] = f->G[a / AFFINE][a % AFFINE];
    for (int a = 0; a < AFFINE * CURVED; a++)
        S[a] = f->G[a / CURVED][AFFINE + a % CURVED];
    if (!bo_cholesky_factor(AFFINE, Gaa))
        return false;
    bo_cholesky_solve_many(AFFINE, Gaa, CURVED, S);
    for (int b = 0; b < CURVED; b++)
        trace += f->G[AFFINE + b][AFFINE + b];
    for (int b = 0; b < CURVED * CURVED; b++) {
        Gbb[b] = f->G[AFFINE + b / CURVED][AFFINE + b % CURVED] + (b / CURVED == b % CURVED) * RIDGE * trace / CURVED;
        for (int a = 0; a < AFFINE; a++)
            Gbb[b] -= f->G[AFFINE + b / CURVED][a] * S[a * CURVED + b % CURVED];
    }
    const bool curved = f->count >= ENOUGH_FOR_CURVES && bo_cholesky_factor(CURVED, Gbb);
    for (int b = 0; b < CURVED; b++)
        for (int32_t k = 0; k < f->columns; k++)
            for (int a = 0; a < AFFINE; a++)
                bottom[b * f->columns + k] -= S[a * CURVED + b] * top[a * f->columns + k];
    if (curved)
        bo_cholesky_solve_many(CURVED, Gbb, f->columns, bottom);
    else
        memset(bottom, 0, CURVED * (size_t)f->columns * sizeof *bottom);
    bo_cholesky_solve_many(AFFINE, Gaa, f->columns, top);
    for (int a = 0; a < AFFINE; a++)
        for (int32_t k = 0; k < f->columns; k++)
            for (int b = 0; b < CURVED; b++)
                top[a * f->columns + k] -= S[a * CURVED + b] * bottom[b * f->columns + k];
    return true;
}

/* Squares of what the polynomial would miss without the sample, each column in its own size: e / (1 - h), h = w m^T
 * G^-1 m the sample's own part in what it is compared with. */
static bool find_errors(fit *f) {
    double L[BO_BLEND_TERMS * BO_BLEND_TERMS];
    memcpy(L, f->G, sizeof L);
    for (int b = 0; b < BO_BLEND_TERMS; b++)
        L[b * (BO_BLEND_TERMS + 1)] *= 1 + RIDGE;
    if (!bo_cholesky_factor(BO_BLEND_TERMS, L))
        return false;
    for (int32_t i = 0; i < f->count; i++) {
        double m[BO_BLEND_TERMS], y[BO_BLEND_TERMS], xi[3], own = 0, sum = 0;
        place_of(f, f->vertices[i], xi);
        monomials(xi, m);
        memcpy(y, m, sizeof y);
        bo_cholesky_solve(BO_BLEND_TERMS, L, y);
        for (int b = 0; b < BO_BLEND_TERMS; b++)
            own += f->weights[i] * m[b] * y[b];
        load_rows(f, f->vertices[i]);
        for (int b = 0; b < BO_BLEND_TERMS; b++)
            for (int32_t k = 0; k < f->columns; k++)
                f->u[k] -= m[b] * f->rhs[b * f->columns + k];
        for (int32_t k = 0; k < f->columns; k++)
            sum += f->sizes[k] > 0 ? f->u[k] * f->u[k] / f->sizes[k] : 0;
        f->errors[i] = sum / pow(fmax(1 - own, LEAST_OTHERS), 2);
    }
    return true;
}

/* A surface may have vertices outside of the material, which follow the nearest place of it and not its turning:
 * samples that the others do not agree with lose their weight. */
static bool fit_robustly(fit *f) {
    gather(f);
    add_samples(f, false);
    if (!tells_gradients(f) || !solve(f))
        return false;
    for (int i = 0; i < DOUBTS; i++) {
        const bool known = find_errors(f);
        add_samples(f, known);
        if (!known || !tells_gradients(f) || !solve(f)) { /* too few would be left */
            add_samples(f, false);
            return solve(f);
        }
    }
    return true;
}

static void keep_fit(const fit *f, bo_tree_patch *patch) {
    for (int32_t k = 0; k < f->columns; k++)
        for (int b = 0; b < BO_BLEND_TERMS; b++)
            patch->P[(k / 3 * BO_BLEND_TERMS + b) * BO_BLEND_LANES + k % 3] = (float)f->rhs[b * f->columns + k];
}

/* Room for all components of a model. */
static bough_status make_fit(bough_context *ctx, const bough_tree_model *model, fit *f) {
    size_t vertices = 0, columns = 0;
    for (int32_t i = 0; i < model->component_count; i++) {
        const bough_component *c = model->components[i].c;
        vertices = (size_t)c->surface.vertex_count > vertices ? (size_t)c->surface.vertex_count : vertices;
        columns = 3 * (size_t)c->r > columns ? 3 * (size_t)c->r : columns;
    }
    f->vertices = BO_NEW_ARRAY(ctx, int32_t, vertices);
    f->weights = BO_NEW_ARRAY(ctx, double, 3 * vertices);
    f->rhs = BO_NEW_ARRAY(ctx, double, (BO_BLEND_TERMS + 2) * columns);
    if (!f->vertices || !f->weights || !f->rhs)
        return BOUGH_ERROR_MEMORY;
    f->errors = f->weights + vertices, f->sorted = f->errors + vertices;
    f->sizes = f->rhs + BO_BLEND_TERMS * columns, f->u = f->sizes + columns;
    return BOUGH_OK;
}

static void free_fit(bough_context *ctx, fit *f) {
    bo_free(ctx, f->vertices);
    bo_free(ctx, f->weights);
    bo_free(ctx, f->rhs);
}

/* The direction in which an interface is thinnest, towards the component's vertices around it. */
static void find_normal(const bough_component *c, const bough_interface *face, bo_tree_patch *patch) {
    bo_mat3 A, axes;
    bo_vec3 values;
    double side = 0;
    memcpy(A.m, face->A, sizeof A.m); /* C / tr C */
    bo_eigen3(A, &values, &axes);
    patch->normal = bo_v3(axes.m[0], axes.m[3], axes.m[6]);
    patch->thickness = face->radius * sqrt(fmax(0, values.x));
    patch->flat = values.x < 0.5 * values.y;
    for (int32_t v = 0; v < c->surface.vertex_count; v++) {
        const float *x = c->surface.position + 3 * (size_t)v;
        const bo_vec3 from = bo_sub(bo_v3((double)x[0], (double)x[1], (double)x[2]), bo_load3(face->centre));
        side += fmax(0, 1 - bo_norm(from) / (FIRST_REACH * face->radius)) * bo_dot(patch->normal, from);
    }
    if (side < 0)
        patch->normal = bo_scale(-1, patch->normal);
}

static bough_status fit_patch(bough_context *ctx, const bough_component *c, const bough_interface *face, fit *f,
                              bo_tree_patch *patch) {
    memcpy(patch->centre, face->centre, sizeof patch->centre);
    patch->radius = face->radius;
    patch->r = c->r;
    patch->good = c->r == 0;
    find_normal(c, face, patch);
    if (c->r == 0)
        return BOUGH_OK;
    patch->P = BO_NEW_ZEROS(ctx, float, (size_t)c->r *BO_BLEND_SIZE);
    if (!patch->P)
        return BOUGH_ERROR_MEMORY;
    f->c = c, f->patch = patch, f->columns = 3 * c->r;
    f->reach = FIRST_REACH;
    for (int i = 0; i < REACHES && !patch->good; i++, f->reach *= REACH_GROWS)
        patch->good = fit_robustly(f);
    if (patch->good)
        keep_fit(f, patch);
    return BOUGH_OK;
}

/* ---- weights ---- */

/* From 1 at s <= 0 to 0 at s >= 1, with two derivatives. */
static double fade(double s) {
    if (s <= 0)
        return 1;
    return s >= 1 ? 0 : 1 - s * s * s * (10 + s * (-15 + 6 * s));
}

double bo_tree_fillet_weight(const bo_tree_fillet *joint, bo_vec3 X) {
    const double d = bo_dot(joint->normal, X), along = (joint->cut ? fabs(d) : d) - joint->plateau;
    if (along >= joint->width)
        return 0;
    const double across = bo_norm(bo_mul_add(X, -d, joint->normal));
    return fade(along / joint->width) * fade((across - joint->reach) / joint->width);
}

double bo_tree_child_share(const bo_tree_fillet *joint, bo_vec3 X) {
    const double whole = joint->plateau + joint->width;
    return joint->cut ? fade(0.5 - 0.5 * bo_dot(joint->normal, X) / whole) : 0;
}

/* ---- finding joints ---- */

typedef struct {
    int32_t vertex; /* of the whole */
    bo_tree_share share;
} record;

typedef struct {
    int32_t part, other; /* children of one parent */
} siblings;

typedef struct {
    bough_context *ctx;
    const bough_tree_model *model;
    const bo_tree_seams *seams;
    bo_tree_blend *blend;
    fit fit;
    int32_t *patch_first;  /* component -> the patch of its first interface */
    bool *used;            /* patch: something hangs there, or it hangs */
    int32_t *coincidences; /* part (outside) -> vertices that are its parent's too */
    int32_t *joint_of;     /* part (outside) -> its joint, or -1 */
    siblings *touching;
    size_t touching_count, touching_capacity;
    record *records;
    size_t record_count, record_capacity;
} builder;

static const bo_tree_part *part_of(const builder *b, int32_t user) {
    return &b->model->parts[b->model->inside[user]];
}
static const bough_component *component_of(const builder *b, const bo_tree_part *part) {
    return b->model->components[part->component].c;
}
static int32_t patch_of(const builder *b, const bo_tree_part *part, int32_t interface) {
    return b->patch_first[part->component] + interface;
}
/* A part hangs by an interface, and on something. */
static bool hangs(const builder *b, const bo_tree_part *part) {
    return bo_tree_is_welded(part) && component_of(b, part)->parent >= 0;
}
static int32_t parent_of(const builder *b, int32_t user) {
    return b->model->def.parts[user].parent;
}

static bough_status fit_patches(builder *b) {
    const bough_tree_model *model = b->model;
    int64_t count = 0;
    for (int32_t i = 0; i < model->component_count; i++) {
        b->patch_first[i] = (int32_t)count;
        count += model->components[i].c->interface_count;
        if (count > INT32_MAX)
            return bo_fail(b->ctx, BOUGH_ERROR_ARGUMENT, "the components have too many interfaces");
    }
    b->blend->patches = BO_NEW_ZEROS(b->ctx, bo_tree_patch, count);
    b->used = BO_NEW_ZEROS(b->ctx, bool, count);
    if (!b->blend->patches || !b->used)
        return BOUGH_ERROR_MEMORY;
    b->blend->patch_count = (int32_t)count;
    for (int32_t j = 0; j < model->part_count; j++) {
        const bo_tree_part *part = &model->parts[j];
        if (!hangs(b, part))
            continue;
        b->used[patch_of(b, part, component_of(b, part)->parent)] = true;
        b->used[patch_of(b, &model->parts[part->parent], part->interface_index)] = true;
    }
    for (int32_t i = 0; i < model->component_count; i++) {
        const bough_component *c = model->components[i].c;
        for (int32_t k = 0; k < c->interface_count; k++)
            if (b->used[b->patch_first[i] + k])
                BO_TRY(fit_patch(b->ctx, c, &c->interfaces[k], &b->fit, &b->blend->patches[b->patch_first[i] + k]));
    }
    return BOUGH_OK;
}

/* Parts that share places with their parent, and with others that hang on it. */
static bough_status look_at_place(builder *b, const int32_t *member, int32_t count) {
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = 0; k < count; k++) {
            const int32_t part = b->seams->copy_part[member[i]], other = b->seams->copy_part[member[k]];
            b->coincidences[part] += parent_of(b, part) == other;
            if (part == other || parent_of(b, part) < 0 || parent_of(b, part) != parent_of(b, other))
                continue;
            const size_t n = b->touching_count;
            if (n > 0 && b->touching[n - 1].part == part && b->touching[n - 1].other == other)
                continue;
            if (!BO_RESERVE(b->ctx, b->touching, b->touching_capacity, n + 1))
                return BOUGH_ERROR_MEMORY;
            b->touching[b->touching_count++] = (siblings){part, other};
        }
    return BOUGH_OK;
}

static int by_siblings(const void *a, const void *b) {
    const siblings *x = a, *y = b;
    const int first = (x->part > y->part) - (x->part < y->part);
    return first ? first : (x->other > y->other) - (x->other < y->other);
}

static bough_status look_at_seams(builder *b) {
    for (int32_t p = 0; p < b->seams->place_count; p++)
        BO_TRY(look_at_place(b, b->seams->members + b->seams->place_first[p],
                             b->seams->place_first[p + 1] - b->seams->place_first[p]));
    if (b->touching_count == 0)
        return BOUGH_OK;
    qsort(b->touching, b->touching_count, sizeof *b->touching, by_siblings);
    size_t kept = 0;
    for (size_t i = 1; i < b->touching_count; i++)
        if (by_siblings(&b->touching[kept], &b->touching[i]) != 0)
            b->touching[++kept] = b->touching[i];
    b->touching_count = kept + 1;
    return BOUGH_OK;
}

/* ---- places at rest, in the axes of a joint ---- */

static bo_vec3 from_parent(const builder *b, const bo_tree_fillet *joint, bo_vec3 Y) {
    const bo_tree_part *child = part_of(b, joint->child), *parent = part_of(b, joint->parent);
    return bo_scale(parent->scale, bo_mat_tvec(child->rest, bo_sub(Y, bo_load3(joint->below->centre))));
}
static bo_vec3 from_child(const builder *b, const bo_tree_fillet *joint, bo_vec3 x) {
    return bo_scale(part_of(b, joint->child)->scale, bo_sub(x, bo_load3(joint->above->centre)));
}
/* x in the axes of a part that is the child, the parent or another of the parent's children. */
static bo_vec3 from_part(const builder *b, const bo_tree_fillet *joint, const bo_tree_part *part, bo_vec3 x) {
    if (part->user == joint->child)
        return from_child(b, joint, x);
    if (part->user == joint->parent)
        return from_parent(b, joint, x);
    const bo_tree_part *parent = part_of(b, joint->parent);
    const bough_interface *face = &component_of(b, parent)->interfaces[part->interface_index];
    return from_parent(b, joint,
                       bo_mul_add(bo_load3(face->centre), part->scale / parent->scale, bo_mat_vec(part->rest, x)));
}

/* The largest width of a joint that does not reach another interface of its parts. */
static double room_beside(const bo_tree_fillet *joint, bo_vec3 centre, double radius) {
    const double d = bo_dot(joint->normal, centre), across = bo_norm(bo_mul_add(centre, -d, joint->normal));
    return fmax(fabs(d) - joint->plateau, across - joint->reach) - EXTENT * radius;
}

static void fit_in(const builder *b, bo_tree_fillet *joint) {
    const bo_tree_part *child = part_of(b, joint->child), *parent = part_of(b, joint->parent);
    const bough_component *c = component_of(b, child), *above = component_of(b, parent);
    for (int32_t k = 0; k < c->interface_count; k++)
        if (k != c->parent && b->used[patch_of(b, child, k)])
            joint->width =
                fmin(joint->width, room_beside(joint, from_child(b, joint, bo_load3(c->interfaces[k].centre)),
                                               child->scale * c->interfaces[k].radius));
    if (hangs(b, parent))
        joint->width = fmin(joint->width,
                            room_beside(joint, from_parent(b, joint, bo_load3(above->interfaces[above->parent].centre)),
                                        parent->scale * above->interfaces[above->parent].radius));
}

static bool make_joint(const builder *b, const bo_tree_part *part, bo_tree_fillet *joint) {
    const bo_tree_part *parent = &b->model->parts[part->parent];
    const bough_component *c = component_of(b, part);
    *joint = (bo_tree_fillet){.child = part->user,
                              .parent = parent->user,
                              .cut = b->coincidences[part->user] >= LEAST_COINCIDENCES,
                              .above = &b->blend->patches[patch_of(b, part, c->parent)],
                              .below = &b->blend->patches[patch_of(b, parent, part->interface_index)]};
    const double radius = part->scale * joint->above->radius;
    joint->normal = joint->above->normal, joint->plateau = THICKNESSES * part->scale * joint->above->thickness;
    joint->width = (joint->cut ? WIDTH : PLANTED_WIDTH) * radius, joint->reach = ACROSS * radius;
    if (!(joint->below->good && (joint->above->good || !joint->cut) && joint->above->flat))
        return false;
    fit_in(b, joint);
    return joint->width > LEAST_WIDTH * radius;
}

static bough_status make_joints(builder *b) {
    b->blend->joints = BO_NEW_ARRAY(b->ctx, bo_tree_fillet, b->model->part_count);
    if (!b->blend->joints)
        return BOUGH_ERROR_MEMORY;
    for (int32_t j = 0; j < b->model->part_count; j++) {
        const bo_tree_part *part = &b->model->parts[j];
        const bool made = hangs(b, part) && make_joint(b, part, &b->blend->joints[b->blend->joint_count]);
        b->joint_of[part->user] = made ? b->blend->joint_count++ : -1;
    }
    return BOUGH_OK;
}

/* ---- vertices ---- */

static void store_xi(float xi[3], double radius, bo_vec3 X) {
    xi[0] = (float)(X.x / radius), xi[1] = (float)(X.y / radius), xi[2] = (float)(X.z / radius);
}

/* Gives the vertices of a part their share in a joint; those of another child only as far as they are in that one's
 * own joint, so that they agree with the parent's where they meet them. */
static bough_status share_out(builder *b, int32_t number, const bo_tree_part *part, const bo_tree_fillet *own) {
    const bo_tree_fillet *joint = &b->blend->joints[number];
    const bo_tree_part *child = part_of(b, joint->child), *parent = part_of(b, joint->parent);
    const bough_surface *surface = &component_of(b, part)->surface;
    const int32_t first = b->model->surface->first[part->user];
    for (int32_t v = 0; v < surface->vertex_count; v++) {
        const float *p = surface->position + 3 * (size_t)v;
        const bo_vec3 x = bo_v3((double)p[0], (double)p[1], (double)p[2]), X = from_part(b, joint, part, x);
        double weight = bo_tree_fillet_weight(joint, X);
        if (own && weight > LEAST_WEIGHT)
            weight *= bo_tree_fillet_weight(own, from_part(b, own, part, x));
        if (!(weight > LEAST_WEIGHT))
            continue;
        if (!BO_RESERVE(b->ctx, b->records, b->record_capacity, b->record_count + 1))
            return BOUGH_ERROR_MEMORY;
        record *r = &b->records[b->record_count++];
        *r = (record){first + v,
                      {.joint = number, .weight = (float)weight, .child = (float)bo_tree_child_share(joint, X)}};
        store_xi(r->share.above, child->scale * joint->above->radius, X);
        store_xi(r->share.below, parent->scale * joint->below->radius, bo_mat_vec(child->rest, X));
    }
    return BOUGH_OK;
}

static bough_status share_all(builder *b) {
    for (int32_t i = 0; i < b->blend->joint_count; i++) {
        const bo_tree_fillet *joint = &b->blend->joints[i];
        BO_TRY(share_out(b, i, part_of(b, joint->child), NULL));
        if (joint->cut)
            BO_TRY(share_out(b, i, part_of(b, joint->parent), NULL));
    }
    for (size_t i = 0; i < b->touching_count; i++) {
        const int32_t own = b->joint_of[b->touching[i].part], other = b->joint_of[b->touching[i].other];
        if (own >= 0 && other >= 0 && b->blend->joints[own].cut && b->blend->joints[other].cut)
            BO_TRY(share_out(b, other, part_of(b, b->touching[i].part), &b->blend->joints[own]));
    }
    return BOUGH_OK;
}

static int by_vertex(const void *a, const void *b) {
    const record *x = a, *y = b;
    const int first = (x->vertex > y->vertex) - (x->vertex < y->vertex);
    return first ? first : (x->share.joint > y->share.joint) - (x->share.joint < y->share.joint);
}

static bough_status keep_records(builder *b) {
    bo_tree_blend *blend = b->blend;
    const size_t count = b->record_count;
    if (count > INT32_MAX)
        return bo_fail(b->ctx, BOUGH_ERROR_ARGUMENT,
                       "more vertices are near interfaces than can be numbered; cook the components with coarser "
                       "surfaces");
    if (count > 0)
        qsort(b->records, count, sizeof *b->records, by_vertex);
    blend->vertices = BO_NEW_ARRAY(b->ctx, int32_t, count);
    blend->share_first = BO_NEW_ARRAY(b->ctx, int32_t, count + 1);
    blend->shares = BO_NEW_ARRAY(b->ctx, bo_tree_share, count);
    if (!blend->vertices || !blend->share_first || !blend->shares)
        return BOUGH_ERROR_MEMORY;
    const int32_t *first = b->model->surface->first;
    int32_t part = 0;
    for (size_t i = 0; i < count; i++) {
        const int32_t vertex = b->records[i].vertex;
        blend->shares[i] = b->records[i].share;
        if (i > 0 && b->records[i - 1].vertex == vertex)
            continue;
        while (vertex >= first[part + 1])
            blend->part_first[++part] = blend->vertex_count;
        blend->share_first[blend->vertex_count] = (int32_t)i;
        blend->vertices[blend->vertex_count++] = vertex - first[part];
    }
    while (part < b->model->part_count)
        blend->part_first[++part] = blend->vertex_count;
    blend->share_first[blend->vertex_count] = blend->share_count = (int32_t)count;
    return BOUGH_OK;
}

static bough_status build(builder *b) {
    const size_t parts = (size_t)b->model->part_count;
    b->blend->part_first = BO_NEW_ZEROS(b->ctx, int32_t, parts + 1);
    b->patch_first = BO_NEW_ARRAY(b->ctx, int32_t, b->model->component_count);
    b->coincidences = BO_NEW_ZEROS(b->ctx, int32_t, parts);
    b->joint_of = BO_NEW_ARRAY(b->ctx, int32_t, parts);
    if (!b->blend->part_first || !b->patch_first || !b->coincidences || !b->joint_of)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(make_fit(b->ctx, b->model, &b->fit));
    BO_TRY(fit_patches(b));
    BO_TRY(look_at_seams(b));
    BO_TRY(make_joints(b));
    BO_TRY(share_all(b));
    return keep_records(b);
}

bough_status bo_tree_find_fillets(bough_context *ctx, const bough_tree_model *model, const bo_tree_seams *seams,
                                  bo_tree_blend *blend) {
    builder b = {.ctx = ctx, .model = model, .seams = seams, .blend = blend};
    const bough_status status = build(&b);
    free_fit(ctx, &b.fit);
    bo_free(ctx, b.patch_first);
    bo_free(ctx, b.used);
    bo_free(ctx, b.coincidences);
    bo_free(ctx, b.joint_of);
    bo_free(ctx, b.touching);
    bo_free(ctx, b.records);
    return status;
}

void bo_tree_free_fillets(bough_context *ctx, bo_tree_blend *blend) {
    for (int32_t i = 0; i < blend->patch_count; i++)
        bo_free(ctx, blend->patches[i].P);
    bo_free(ctx, blend->patches);
    bo_free(ctx, blend->joints);
    bo_free(ctx, blend->part_first);
    bo_free(ctx, blend->vertices);
    bo_free(ctx, blend->share_first);
    bo_free(ctx, blend->shares);
}
