/* Loads that occur, and what they do to the body and to the structure that it was cut from. docs/theory/reduction.md,
 * "Stress points".
 *
 * U q of a component is held by a rigid foot and moves its children by rigid interfaces, so that strain there is that
 * of clamps. Where the body was cut from one mesh, the structure around it is solved at rest: for accelerations of what
 * hangs at each interface, which make all wrenches there, of the body itself and of its end, and for pulls at what else
 * meets at its foot. */
#include "reduce/stress.h"

#include "dense/cholesky.h"
#include "dense/symmetric_eigen.h"
#include "fem/body.h"
#include "linalg/factor.h"

#include <string.h>

/* The end of a body at which nothing hangs: vertices farther from its foot than this part of the farthest. */
#define END_FROM 0.93
/* Loads that are hardly to be expected still count by this much. */
#define LEAST_WEIGHT 0.02
#define LEAST_ENERGY 1e-9
/* Stiffness of what is taken away from the structure, of its own. */
#define SOFT 1e-6

enum { MOST_OTHERS = 6 };

typedef struct {
    bo_cook *cook;
    const bough_cook_surroundings *around; /* NULL: the body is known alone */
    const bough_body *body;                /* of the surroundings; or the cooked one */
    const unsigned char *fixed;            /* n: where the load case of the surroundings holds it; else NULL */
    size_t n;                              /* 3 vertices of it */
    double *mass;                          /* of one owner's vertices: n / 3 */
    double *force;                         /* of one load: n */
    double *own;                           /* the same on the cooked body: cook->n */
    double *V;                             /* count x n: forces, then displacements of the structure */
    double *P;                             /* the same of the structure without the body and what hangs on it */
    double *Q;                             /* of the foot: 18 a vertex */
    int32_t most;                          /* loads that there is room for */
    bough_sparse *K;                       /* of the structure, and its factor */
    bo_factor *factor;
    bo_stress_loads *loads;
} recovery;

static size_t vertex_of(const recovery *w, size_t v) {
    return w->around ? (size_t)w->around->vertices[v] : v;
}

static int32_t owner_of(const recovery *w, int32_t element) {
    return w->around ? w->around->owner[element] : BOUGH_OWNER_SELF;
}

static const bough_interface *foot_of(const bo_cook *cook) {
    return cook->draft.support == BOUGH_SUPPORT_INTERFACE ? &cook->interfaces[cook->draft.parent] : NULL;
}

static bo_vec3 centre_of(const bo_cook *cook, int32_t interface) {
    return bo_add(bo_load3(cook->interfaces[interface].centre), bo_load3(cook->draft.origin));
}

/* ---- one load ---- */

/* True: there is any. */
static bool gather_mass(recovery *w, int32_t owner) {
    const bough_mesh *mesh = w->body->mesh;
    const int32_t nodes = bough_element_node_count(mesh->type), points = w->body->rule->point_count;
    bool any = false;
    memset(w->mass, 0, w->n / 3 * sizeof *w->mass);
    for (int32_t e = 0; e < mesh->element_count; e++) {
        double volume = 0;
        for (int32_t p = 0; p < points && owner_of(w, e) == owner; p++)
            volume += w->body->geometry[(size_t)points * (size_t)e + (size_t)p].weight;
        any = any || volume > 0;
        for (int32_t k = 0; k < nodes && volume > 0; k++)
            w->mass[mesh->elements[(size_t)nodes * (size_t)e + (size_t)k]] +=
                volume * w->body->density[w->body->element_material[e]] / nodes;
    }
    return any;
}

/* The same share for all vertices where another body goes on; where it ends inside, its mass. */
static bool gather_pulled(recovery *w, int32_t owner) {
    bool any = false;
    memset(w->mass, 0, w->n / 3 * sizeof *w->mass);
    for (size_t v = 0; v < w->n / 3; v++)
        if (w->around->pulled[v] == owner)
            any = true, w->mass[v] = 1;
    return any || gather_mass(w, owner);
}

/* The mass of the end at which nothing hangs. */
static void keep_end(recovery *w) {
    const double *X = w->body->mesh->vertices;
    const bo_vec3 foot = bo_load3(w->cook->draft.origin);
    double most = 0;
    for (size_t v = 0; v < w->n / 3; v++)
        if (w->mass[v] > 0)
            most = fmax(most, bo_norm(bo_sub(bo_load3(X + 3 * v), foot)));
    for (size_t v = 0; v < w->n / 3; v++)
        if (bo_norm(bo_sub(bo_load3(X + 3 * v), foot)) < END_FROM * most)
            w->mass[v] = 0;
}

/* Mass times an acceleration: along a, and about a + 3 through `centre`. */
static void accelerate(recovery *w, bo_vec3 centre, const double a[6]) {
    for (size_t v = 0; v < w->n / 3; v++) {
        const bo_vec3 arm = bo_sub(bo_load3(w->body->mesh->vertices + 3 * v), centre);
        bo_store3(w->force + 3 * v, bo_scale(w->mass[v], bo_add(bo_load3(a), bo_cross(bo_load3(a + 3), arm))));
    }
}

static void find_wrench(const recovery *w, bo_vec3 centre, double wrench[6]) {
    bo_vec3 force = {0, 0, 0}, torque = {0, 0, 0};
    for (size_t v = 0; v < w->n / 3; v++) {
        const bo_vec3 f = bo_load3(w->force + 3 * v);
        force = bo_add(force, f);
        torque = bo_add(torque, bo_cross(bo_sub(bo_load3(w->body->mesh->vertices + 3 * v), centre), f));
    }
    bo_store3(wrench, force), bo_store3(wrench + 3, torque);
}

/* The forces on the component's own vertices that make the wrench at its interface. */
static bough_status apply_wrench(recovery *w, int32_t interface, const double wrench[6]) {
    const bough_interface *face = &w->cook->interfaces[interface];
    double *Q = BO_NEW_ARRAY(w->cook->ctx, double, 18 * (size_t)face->vertex_count);
    bough_status status = Q ? bo_cook_rigid_fit(w->cook, face, Q) : BOUGH_ERROR_MEMORY;
    memset(w->own, 0, (size_t)w->cook->n * sizeof *w->own);
    for (size_t k = 0; k < 3 * (size_t)face->vertex_count && status == BOUGH_OK; k++)
        for (size_t d = 0; d < 6; d++)
            w->own[3 * (size_t)face->vertices[k / 3] + k % 3] += Q[6 * k + d] * wrench[d];
    bo_free(w->cook->ctx, Q);
    return status;
}

/* q = K^-1 U^T f, and the energy q.K q that it has. */
static double answer(const recovery *w, double *q) {
    const bo_cook *cook = w->cook;
    double energy = 0;
    bo_cook_project(cook, w->own, q);
    memcpy(w->loads->scratch, q, (size_t)cook->r * sizeof *q);
    bo_cholesky_solve(cook->r, w->loads->L, q);
    for (int32_t l = 0; l < cook->r; l++)
        energy += q[l] * w->loads->scratch[l];
    return energy;
}

/* Keeps a load with its answer q, energy and wrench; the structure's forces are w->force. */
static void keep(recovery *w, int32_t owner, int direction, double energy) {
    bo_stress_loads *loads = w->loads;
    const size_t k = (size_t)loads->count, r = (size_t)w->cook->r;
    if (!(energy > 0) || !isfinite(energy) || loads->count == w->most)
        return;
    const double factor = 1 / sqrt(energy);
    for (size_t l = 0; l < r; l++)
        loads->q[r * k + l] *= factor;
    for (size_t d = 0; d < 6; d++)
        loads->wrench[6 * k + d] *= factor;
    for (size_t i = 0; i < w->n && w->V; i++)
        w->V[w->n * k + i] = factor * w->force[i];
    loads->energy[k] = energy;
    loads->weight[k] = 1;
    loads->owner[k] = owner;
    loads->direction[k] = direction;
    loads->count++;
}

/* ---- all loads ---- */

/* One acceleration of the mass that was gathered, on the body or on what hangs at an interface: the wrench, the
 * component's answer q, and its energy. U^T f is in the scratch then. */
static bough_status answer_acceleration(recovery *w, int32_t owner, bo_vec3 centre, const double a[6], double wrench[6],
                                        double *q, double *energy) {
    accelerate(w, centre, a);
    find_wrench(w, centre, wrench);
    if (owner >= 0)
        BO_TRY(apply_wrench(w, owner, wrench));
    for (size_t v = 0; v < (size_t)w->cook->n / 3 && owner < 0; v++)
        memcpy(w->own + 3 * v, w->force + 3 * vertex_of(w, v), 3 * sizeof *w->own);
    *energy = answer(w, q);
    return BOUGH_OK;
}

/* Accelerations about axes count like straight ones at the distance of the body's size. A square bar bends in all
 * directions alike; the units differ a little so that rounding does not choose among them. */
static void set_units(recovery *w) {
    static const double apart[6] = {1, 0.97, 0.94, 1.01, 0.98, 0.95};
    for (int i = 0; i < 6; i++)
        w->loads->unit[i] = i < 3 ? apart[i] : apart[i] / w->cook->size;
}

/* Nor does it choose among the two signs. */
static double sign_of(const double V[36], int column) {
    int most = 0;
    for (int i = 1; i < 6; i++)
        if (fabs(V[6 * i + column]) > (1 + 1e-6) * fabs(V[6 * most + column]))
            most = i;
    return V[6 * most + column] < 0 ? -1 : 1;
}

/* Six accelerations of the mass that was gathered. Those of the body itself do no work on each other's answers, the one
 * with most energy first: of six along and about given axes a slim body would show its two ways of bending and little
 * else, since what twists or stretches it is their small difference. At interfaces, where twenty coordinates may have
 * thirty loads to answer, those that hardly do work are left mixed with the others. */
static bough_status add_accelerations(recovery *w, int32_t owner, bo_vec3 centre) {
    const size_t r = (size_t)w->cook->r;
    double *q = BO_NEW_ARRAY(w->cook->ctx, double, 6 * r), wrench[6], energy, E[36] = {0}, values[6], V[36],
           scratch[12];
    bough_status status = q ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int i = 0; i < 6 && status == BOUGH_OK; i++) {
        double a[6] = {0};
        a[i] = w->loads->unit[i];
        status = answer_acceleration(w, owner, centre, a, wrench, q + r * (size_t)i, &energy);
        for (int j = 0; j <= i && status == BOUGH_OK; j++) {
            E[6 * i + j] = bo_dot_n(w->cook->r, w->loads->scratch, q + r * (size_t)j);
            E[6 * j + i] = E[6 * i + j];
        }
    }
    if (status == BOUGH_OK && !bo_sym_eigen(6, E, values, V, scratch))
        status = BOUGH_NOT_FINITE;
    for (int i = 0; i < 36 && owner >= 0; i++)
        V[i] = i % 6 == 5 - i / 6;
    for (int p = 5; p >= 0 && status == BOUGH_OK; p--) { /* ascending */
        const size_t k = (size_t)w->loads->count;
        double *axis = w->loads->axis + 6 * k;
        for (int i = 0; i < 6; i++)
            axis[i] = sign_of(V, p) * V[6 * i + p] * w->loads->unit[i];
        status = answer_acceleration(w, owner, centre, axis, w->loads->wrench + 6 * k, w->loads->q + r * k, &energy);
        if (status == BOUGH_OK)
            keep(w, owner, 5 - p, energy);
    }
    bo_free(w->cook->ctx, q);
    return status;
}

/* Unit wrenches where nothing is known of what hangs there. */
static bough_status add_wrenches(recovery *w, int32_t interface) {
    for (int direction = 0; direction < 6; direction++) {
        const size_t k = (size_t)w->loads->count;
        double *wrench = w->loads->wrench + 6 * k;
        memset(wrench, 0, 6 * sizeof *wrench);
        wrench[direction] = 1;
        BO_TRY(apply_wrench(w, interface, wrench));
        keep(w, interface, direction, answer(w, w->loads->q + (size_t)w->cook->r * k));
    }
    return BOUGH_OK;
}

/* Adds the loads of other bodies, which act on the foot. Their energy is not known before the structure is solved. */
static void add_others(recovery *w) {
    const bough_mesh *mesh = w->body->mesh;
    int32_t done[MOST_OTHERS], count = 0;
    for (int32_t e = 0; e < mesh->element_count && count < MOST_OTHERS; e++) {
        const int32_t owner = owner_of(w, e);
        bool old = owner > BOUGH_OWNER_OTHER;
        for (int32_t i = 0; i < count; i++)
            old = old || done[i] == owner;
        if (old)
            continue;
        done[count++] = owner;
        if (!gather_pulled(w, owner))
            continue;
        for (int direction = 0; direction < 6; direction++) {
            const size_t k = (size_t)w->loads->count, r = (size_t)w->cook->r;
            double a[6] = {0};
            a[direction] = 1;
            accelerate(w, bo_load3(w->cook->draft.origin), a);
            memset(w->loads->q + r * k, 0, r * sizeof *w->loads->q);
            memset(w->loads->wrench + 6 * k, 0, 6 * sizeof *w->loads->wrench);
            keep(w, owner, direction, 1);
        }
    }
}

static bough_status gather_loads(recovery *w) {
    const bo_cook *cook = w->cook;
    bool carries = false;
    for (int32_t i = 0; i < cook->def->interface_count; i++) {
        if (i == cook->def->parent)
            continue;
        carries = true;
        if (w->around && gather_mass(w, i))
            BO_TRY(add_accelerations(w, i, centre_of(cook, i)));
        else if (!w->around)
            BO_TRY(add_wrenches(w, i));
    }
    gather_mass(w, BOUGH_OWNER_SELF);
    BO_TRY(add_accelerations(w, BOUGH_OWNER_SELF, bo_load3(cook->draft.origin)));
    if (!carries) {
        keep_end(w);
        BO_TRY(add_accelerations(w, BOUGH_OWNER_SELF, bo_load3(cook->draft.origin)));
    }
    if (w->around && foot_of(cook))
        add_others(w);
    return BOUGH_OK;
}

/* Torques are compared with forces at the distance of the body's size. */
static double comparable(const recovery *w, int32_t k, double energy, bool wrench) {
    const double size2 = w->cook->size * w->cook->size;
    return wrench && w->loads->direction[k] >= 3 ? energy * size2 : energy;
}

static bool is_wrench(const recovery *w, int32_t k) {
    return !w->around && w->loads->owner[k] >= 0;
}

/* Loads that the component hardly feels, of those of the same owner, are rounding once they are scaled: they become
 * none.
 */
static void drop_noise(recovery *w) {
    bo_stress_loads *loads = w->loads;
    const size_t r = (size_t)w->cook->r;
    for (size_t k = 0; k < (size_t)loads->count; k++) {
        double most = 0;
        for (int32_t m = 0; m < loads->count; m++)
            if (loads->owner[m] == loads->owner[k])
                most = fmax(most, comparable(w, m, loads->energy[m], is_wrench(w, m)));
        if (comparable(w, (int32_t)k, loads->energy[k], is_wrench(w, (int32_t)k)) > LEAST_ENERGY * most)
            continue;
        memset(loads->q + r * k, 0, r * sizeof *loads->q);
        memset(loads->wrench + 6 * k, 0, 6 * sizeof *loads->wrench);
        if (w->V)
            memset(w->V + w->n * k, 0, w->n * sizeof *w->V);
    }
}

/* By the energy that a unit acceleration of all that hangs there brings about, of the largest. */
static bough_status weigh_loads(recovery *w) {
    bo_stress_loads *loads = w->loads;
    double most = 0, q[BOUGH_MAX_COORDINATES];
    for (int32_t k = 0; k < loads->count; k++) {
        bool wrenches = is_wrench(w, k);
        loads->weight[k] = loads->owner[k] < BOUGH_OWNER_SELF ? -1 : loads->energy[k];
        for (int32_t i = 0; i < w->cook->load_count && loads->owner[k] >= 0; i++) {
            double wrench[6];
            if (w->cook->loads[i].interface_index != loads->owner[k])
                continue;
            double a[6] = {0};
            a[loads->direction[k]] = loads->unit[loads->direction[k]];
            if (!wrenches)
                memcpy(a, loads->axis + 6 * (size_t)k, sizeof a);
            for (int d = 0; d < 6; d++) {
                wrench[d] = 0;
                for (int e = 0; e < 6; e++)
                    wrench[d] += w->cook->loads[i].I6[6 * d + e] * a[e];
            }
            BO_TRY(apply_wrench(w, loads->owner[k], wrench));
            loads->weight[k] = answer(w, q);
            wrenches = false;
        }
        if (loads->weight[k] > 0)
            loads->weight[k] = comparable(w, k, loads->weight[k], wrenches);
        if (wrenches) /* nothing is known of how large it is */
            loads->weight[k] = -1;
        most = fmax(most, loads->weight[k]);
    }
    for (int32_t k = 0; k < loads->count; k++)
        loads->weight[k] =
            loads->weight[k] < 0 || !(most > 0) ? 1 : fmax(LEAST_WEIGHT, fmin(1, sqrt(loads->weight[k] / most)));
    return BOUGH_OK;
}

/* ---- the structure's answers ---- */

/* x = K^-1 x for all loads, with the stiffness K of `body`: the surroundings, or the same with other materials. */
static bough_status solve(recovery *w, const bough_body *body, double *x) {
    bough_context *ctx = w->cook->ctx;
    if (!w->K)
        BO_TRY(bough_body_matrix_create(ctx, body, &w->K));
    BO_TRY(bough_body_evaluate(ctx, body, NULL, false, NULL, NULL, w->K));
    if (!w->factor)
        BO_TRY(bo_factor_analyse(ctx, w->K, 3, w->fixed, &w->factor));
    BO_TRY(bo_factor_numeric(ctx, w->factor, w->K));
    for (size_t i = 0; i < w->n * (size_t)w->loads->count; i++)
        if (w->fixed[i % w->n])
            x[i] = 0;
    return bo_factor_solve(ctx, w->factor, x, x, w->loads->count);
}

/* The same with next to no stiffness in the body, what hangs on it, and what hangs on its parent beside it: as the
 * parent knows it, which carries all of them and is held together by none. */
static bough_status solve_without(recovery *w, double *x) {
    const bough_body *body = w->around->body;
    bough_context *ctx = w->cook->ctx;
    const int32_t materials = body->material_count, elements = body->mesh->element_count;
    bo_elastic *elastic = BO_NEW_ARRAY(ctx, bo_elastic, 2 * materials);
    int32_t *material = BO_NEW_ARRAY(ctx, int32_t, elements);
    bough_status status = elastic && material ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < materials && status == BOUGH_OK; i++) {
        bough_material soft = body->materials[i];
        soft.young *= SOFT;
        elastic[i] = body->elastic[i], elastic[materials + i] = bo_elastic_of(&soft);
    }
    for (int32_t e = 0; e < elements && status == BOUGH_OK; e++)
        material[e] = body->element_material[e] +
                      (w->around->owner[e] > BOUGH_OWNER_OTHER || w->around->beside[e] ? materials : 0);
    if (status == BOUGH_OK) {
        bough_body softened = *body;
        softened.elastic = elastic;
        softened.element_material = material;
        status = solve(w, &softened, x);
    }
    bo_free(ctx, elastic);
    bo_free(ctx, material);
    return status;
}

/* Loads as the parent sees them: wrenches at the foot. */
static void load_foot(recovery *w) {
    const bough_interface *foot = foot_of(w->cook);
    for (size_t k = 0; k < (size_t)w->loads->count; k++) {
        double *p = w->P + w->n * k, wrench[6];
        memcpy(p, w->V + w->n * k, w->n * sizeof *p);
        if (w->loads->owner[k] < BOUGH_OWNER_SELF)
            continue;
        memcpy(w->force, p, w->n * sizeof *p);
        find_wrench(w, bo_load3(w->cook->draft.origin), wrench);
        memset(p, 0, w->n * sizeof *p);
        for (size_t i = 0; i < 3 * (size_t)foot->vertex_count; i++)
            for (size_t d = 0; d < 6; d++)
                p[3 * vertex_of(w, (size_t)foot->vertices[i / 3]) + i % 3] += w->Q[6 * i + d] * wrench[d];
    }
}

/* S - S_0 for a small displacement, which changes A = S_0 by B: with the rotation W, B = W S_0 + dS, and B - B^T = W
 * S_0
 * + S_0 W is the skew matrix of (tr(S_0) - S_0) w. */
static void find_seam(const recovery *w, const double *bends, const double *p, double seam[BOUGH_SEAM]) {
    const bo_cook *cook = w->cook;
    const bough_interface *foot = foot_of(cook);
    const bo_vec3 centre = bo_load3(cook->draft.origin);
    const double trace = foot->radius * foot->radius;
    double rest[18] = {0}, bend[18] = {0};
    bo_mat3 B = {{0}}, S0, T;
    memcpy(S0.m, foot->A, sizeof S0.m);
    for (int32_t i = 0; i < foot->vertex_count; i++) {
        const double *u = p + 3 * vertex_of(w, (size_t)foot->vertices[i]);
        double d[3];
        bo_store3(d, bo_sub(bo_load3(cook->body->mesh->vertices + 3 * (size_t)foot->vertices[i]), centre));
        for (int k = 0; k < 9; k++)
            B.m[k] += foot->weights[i] * u[k / 3] * d[k % 3] / trace;
        for (int k = 0; k < 18; k++) {
            rest[k] += d[k / 6] * bends[6 * i + k % 6];
            bend[k] += u[k / 6] * bends[6 * i + k % 6];
        }
    }
    const bo_vec3 skew = {B.m[7] - B.m[5], B.m[2] - B.m[6], B.m[3] - B.m[1]};
    T = bo_mat_scale(-1, S0);
    for (int k = 0; k < 9; k += 4)
        T.m[k] += bo_trace(S0);
    const bo_vec3 t = bo_mat_vec(bo_inverse(T), skew);
    const bo_mat3 W = {{0, -t.z, t.y, t.z, 0, -t.x, -t.y, t.x, 0}}, S = bo_sym(bo_mat_sub(B, bo_mat_mul(W, S0)));
    memcpy(seam, (double[]){S.m[0], S.m[4], S.m[8], S.m[5], S.m[2], S.m[1]}, 6 * sizeof *seam);
    for (int k = 0; k < 18; k++) {
        seam[6 + k] = bend[k];
        for (int j = 0; j < 3; j++)
            seam[6 + k] -= W.m[3 * (k / 6) + j] * rest[6 * j + k % 6];
    }
}

/* As the component's frame sees it: without the rigid motion of the foot. */
static void leave_frame(recovery *w, size_t k) {
    const bo_cook *cook = w->cook;
    const bough_interface *foot = foot_of(cook);
    const double *v = w->V + w->n * k;
    double motion[6] = {0};
    for (size_t i = 0; foot && i < 3 * (size_t)foot->vertex_count; i++)
        for (size_t d = 0; d < 6; d++)
            motion[d] += w->Q[6 * i + d] * v[3 * vertex_of(w, (size_t)foot->vertices[i / 3]) + i % 3];
    for (size_t i = 0; i < (size_t)cook->n / 3; i++) {
        const bo_vec3 arm = bo_sub(bo_load3(cook->body->mesh->vertices + 3 * i), bo_load3(cook->draft.origin));
        const bo_vec3 rigid = bo_add(bo_load3(motion), bo_cross(bo_load3(motion + 3), arm));
        double u[3];
        bo_store3(u, bo_sub(bo_load3(v + 3 * vertex_of(w, i)), rigid));
        for (size_t d = 0; d < 3; d++)
            w->loads->fields[(3 * i + d) * (size_t)w->loads->count + k] = u[d];
    }
}

/* Loads on others get the energy of one, in all of the structure. */
static void scale_others(recovery *w, const double *forces) {
    for (size_t k = 0; k < (size_t)w->loads->count; k++) {
        double energy = 0;
        if (w->loads->owner[k] >= BOUGH_OWNER_SELF)
            continue;
        for (size_t i = 0; i < w->n; i++)
            energy += forces[w->n * k + i] * w->V[w->n * k + i];
        for (size_t i = 0; i < w->n && energy > 0; i++) {
            w->V[w->n * k + i] /= sqrt(energy);
            w->P[w->n * k + i] /= sqrt(energy);
        }
    }
}

static bough_status ask_structure(recovery *w) {
    bo_stress_loads *loads = w->loads;
    const size_t size = w->n * (size_t)loads->count;
    const bough_interface *foot = foot_of(w->cook);
    double *forces = BO_NEW_ARRAY(w->cook->ctx, double, size);
    double *bends = BO_NEW_ARRAY(w->cook->ctx, double, foot ? 6 * (size_t)foot->vertex_count : 0);
    if (!forces || !bends) {
        bo_free(w->cook->ctx, forces);
        bo_free(w->cook->ctx, bends);
        return BOUGH_ERROR_MEMORY;
    }
    memcpy(forces, w->V, size * sizeof *forces);
    if (foot) {
        bo_cook_bends(w->cook, foot, bends);
        load_foot(w);
    }
    bough_status status = solve(w, w->body, w->V);
    if (status == BOUGH_OK && foot) {
        status = solve_without(w, w->P);
        scale_others(w, forces);
    }
    bo_factor_destroy(w->cook->ctx, w->factor);
    bough_sparse_destroy(w->cook->ctx, w->K);
    bo_free(w->cook->ctx, forces);
    for (size_t k = 0; k < (size_t)loads->count && status == BOUGH_OK; k++) {
        leave_frame(w, k);
        if (foot)
            find_seam(w, bends, w->P + w->n * k, loads->seam + BOUGH_SEAM * k);
    }
    bo_free(w->cook->ctx, bends);
    loads->structure = status == BOUGH_OK;
    return status == BOUGH_ERROR_SINGULAR ? BOUGH_OK : status;
}

/* ---- all ---- */

static bough_status make_room(bo_cook *cook, int32_t most, bo_stress_loads *loads) {
    const size_t r = (size_t)cook->r, count = (size_t)most;
    *loads = (bo_stress_loads){.q = BO_COOK_ARRAY(cook, double, r *count),
                               .seam = BO_COOK_ARRAY(cook, double, BOUGH_SEAM *count),
                               .wrench = BO_COOK_ARRAY(cook, double, 6 * (count + 1)),
                               .energy = BO_COOK_ARRAY(cook, double, count),
                               .weight = BO_COOK_ARRAY(cook, double, count),
                               .owner = BO_COOK_ARRAY(cook, int32_t, count),
                               .direction = BO_COOK_ARRAY(cook, int32_t, count),
                               .axis = BO_COOK_ARRAY(cook, double, 6 * (count + 1)),
                               .L = BO_COOK_ARRAY(cook, double, r *r),
                               .scratch = BO_COOK_ARRAY(cook, double, r)};
    if (!loads->q || !loads->seam || !loads->wrench || !loads->energy || !loads->weight || !loads->owner ||
        !loads->direction || !loads->axis || !loads->L || !loads->scratch)
        return BOUGH_ERROR_MEMORY;
    memcpy(loads->L, cook->draft.K, r * r * sizeof *loads->L);
    return bo_cholesky_factor(cook->r, loads->L)
               ? BOUGH_OK
               : bo_fail(cook->ctx, BOUGH_ERROR_SINGULAR, "the reduced stiffness is singular: stress cannot be placed");
}

static bough_status open_recovery(recovery *w) {
    bo_cook *cook = w->cook;
    const bough_interface *foot = foot_of(cook);
    const size_t room = w->around ? w->n * (size_t)w->most : 0;
    w->mass = BO_NEW_ARRAY(cook->ctx, double, w->n);
    w->force = BO_NEW_ARRAY(cook->ctx, double, w->n);
    w->own = BO_NEW_ARRAY(cook->ctx, double, cook->n);
    w->V = w->around ? BO_NEW_ZEROS(cook->ctx, double, room) : NULL;
    w->P = w->around && foot ? BO_NEW_ZEROS(cook->ctx, double, room) : NULL;
    w->Q = foot ? BO_NEW_ARRAY(cook->ctx, double, 18 * (size_t)foot->vertex_count) : NULL;
    if (!w->mass || !w->force || !w->own || (w->around && (!w->V || (foot && !w->P))) || (foot && !w->Q))
        return BOUGH_ERROR_MEMORY;
    return foot ? bo_cook_rigid_fit(cook, foot, w->Q) : BOUGH_OK;
}

/* Without a structure: U q. */
static void use_own(bo_cook *cook, bo_stress_loads *loads) {
    const size_t r = (size_t)cook->r, count = (size_t)loads->count;
    for (size_t i = 0; i < (size_t)cook->n; i++)
        for (size_t k = 0; k < count; k++) {
            double sum = 0;
            for (size_t l = 0; l < r; l++)
                sum += cook->U[i * r + l] * loads->q[k * r + l];
            loads->fields[i * count + k] = sum;
        }
}

static bough_status recover(recovery *w) {
    bo_cook *cook = w->cook;
    bo_stress_loads *loads = w->loads;
    BO_TRY(open_recovery(w));
    set_units(w);
    BO_TRY(gather_loads(w));
    drop_noise(w);
    BO_TRY(weigh_loads(w));
    if (!(loads->fields = BO_COOK_ARRAY(cook, double, (size_t)cook->n *(size_t)loads->count)))
        return BOUGH_ERROR_MEMORY;
    if (w->around && loads->count > 0)
        BO_TRY(ask_structure(w));
    if (!loads->structure)
        use_own(cook, loads);
    return BOUGH_OK;
}

bough_status bo_cook_recover(bo_cook *cook, bo_stress_loads *loads) {
    recovery w = {.cook = cook, .around = cook->def->surroundings, .body = cook->body, .loads = loads};
    w.most = 6 * (cook->def->interface_count + 2 + MOST_OTHERS);
    if (w.around) {
        const bough_load_case *load_case;
        BO_TRY(bo_load_case_of(cook->ctx, w.around->body, w.around->load_case, &load_case));
        w.body = w.around->body;
        w.fixed = load_case->fixed;
    }
    w.n = (size_t)bo_body_size(w.body);
    bough_status status = make_room(cook, w.most + 1, loads);
    if (status == BOUGH_OK)
        status = recover(&w);
    double *const blocks[] = {w.mass, w.force, w.own, w.V, w.P, w.Q};
    for (int i = 0; i < 6; i++)
        bo_free(cook->ctx, blocks[i]);
    return status;
}
