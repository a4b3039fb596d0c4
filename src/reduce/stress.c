/* Stress: the points at which it is recovered, and those that its field over the surface is drawn from.
 * docs/theory/reduction.md, "Stress points". */
#include "reduce/stress.h"

#include "base/simd.h"
#include "base/threads.h"
#include "dense/cholesky.h"
#include "mesh/mesh.h"

#include <string.h>

enum { ELEMENTS_A_TASK = 256, RANDOM_POSES = 160, ACCELERATIONS = 12, GAUGES = 6 };
/* Columns of fields whose gradients are taken at once: coordinates, or loads. */
enum { MOST_COLUMNS = BOUGH_MAX_COORDINATES > 512 ? BOUGH_MAX_COORDINATES : 512 };
/* Differences that rounding may make. */
#define SAME 1e-6
/* Noise that is taken for granted, as parts of the squares of gauges and of the seam: less is not believed. The parent
 * of a part at run time has a few modes only, so that its seam is much less certain. Tried on the first four structures
 * of docs/validation/stress.md: 1e-4 to 3e-2. */
#define GAUGE_NOISE 1e-5
#define SEAM_NOISE 5e-3

/* Stress points keep this distance from each other, of the body's size, while there are others to choose from. */
#define STRESS_SPACING 0.03
#define LEAST_STRESS_SPACING 1e-6

static double distance2(const double *a, const double *b) {
    const bo_vec3 d = bo_sub(bo_load3(a), bo_load3(b));
    return bo_dot(d, d);
}

/* ---- points ---- */

typedef struct {
    bo_cook *cook;
    bo_stress_loads loads;
    int32_t pose_count;
    double *poses;          /* pose_count x loads.count: shares */
    double *peak;           /* pose_count: the largest von Mises' stress of each, linearised, and */
    int32_t *place;         /* ... the element that has it; -1: none has any */
    float *score;           /* element_count x r: von Mises' stress of each basis function, linearised */
    double *position;       /* element_count x 3: of its middle, in mesh coordinates */
    unsigned char *blocked; /* element_count: too near to one chosen before */
    unsigned char *clamped; /* element_count: touches the interface by which the component hangs */
    int32_t *chosen, chosen_count;
} stress_search;

/* A point stands for its element: F is the element's mean, as in the stress that the full body tells. In the middle of
 * a brick the shear that bricks feel by mistake when they bend vanishes; at the points of its rule it would drown what
 * bends a thin blade. */
static void mean_field_gradient(const bough_body *body, int32_t element, int32_t columns, const double *fields,
                                double *G) {
    const int32_t count = body->rule->point_count, entries = 9 * columns;
    const bo_point_geometry *g = body->geometry + (size_t)count * (size_t)element;
    double one[9 * MOST_COLUMNS], volume = 0;
    memset(G, 0, (size_t)entries * sizeof *G);
    for (int32_t p = 0; p < count; p++) {
        bo_cook_field_gradient(body, element, p, columns, fields, one);
        for (int32_t k = 0; k < entries; k++)
            G[k] += g[p].weight * one[k];
        volume += g[p].weight;
    }
    for (int32_t k = 0; k < entries; k++)
        G[k] /= volume;
}

static void mean_gradient(const bo_cook *cook, int32_t element, double *G) {
    mean_field_gradient(cook->body, element, cook->r, cook->U, G);
}

static bo_vec3 mean_position(const bough_body *body, int32_t element) {
    const int32_t *nodes = bo_mesh_nodes(body->mesh, element), count = body->rule->point_count;
    const bo_point_geometry *g = body->geometry + (size_t)count * (size_t)element;
    bo_vec3 x = {0, 0, 0};
    double volume = 0;
    for (int32_t p = 0; p < count; volume += g[p++].weight)
        for (int32_t a = 0; a < body->rule->node_count; a++)
            x = bo_mul_add(x, g[p].weight * body->rule->N[p][a], bo_load3(body->mesh->vertices + 3 * (size_t)nodes[a]));
    return bo_scale(1 / volume, x);
}

/* Stress 2 mu e + lambda tr(e) I, e = sym G: von Mises' equivalent is sqrt(3/2) |dev s| = sqrt(6) mu |dev e|. */
static double von_mises(const bo_elastic *elastic, const double *G, int32_t r, int32_t l) {
    bo_mat3 g;
    for (int k = 0; k < 9; k++)
        g.m[k] = G[k * r + l];
    bo_mat3 e = bo_sym(g);
    const double mean = bo_trace(e) / 3;
    for (int k = 0; k < 9; k += 4)
        e.m[k] -= mean;
    return sqrt(6 * bo_contract(e, e)) * elastic->mu;
}

static void score_elements(void *data, int32_t begin, int32_t end, int32_t chunk) {
    stress_search *s = data;
    const bough_body *body = s->cook->body;
    const int32_t r = s->cook->r;
    double G[9 * BOUGH_MAX_COORDINATES];
    (void)chunk;
    for (int32_t e = begin; e < end; e++) {
        mean_gradient(s->cook, e, G);
        for (int32_t l = 0; l < r; l++)
            s->score[(size_t)e * (size_t)r + (size_t)l] =
                (float)von_mises(&body->elastic[body->element_material[e]], G, r, l);
        bo_store3(s->position + 3 * (size_t)e, mean_position(body, e));
    }
}

static void block_around(stress_search *s, int32_t element, double spacing) {
    const double *centre = s->position + 3 * (size_t)element;
    for (int32_t e = 0; e < s->cook->body->mesh->element_count; e++)
        if (distance2(s->position + 3 * (size_t)e, centre) < spacing * spacing)
            s->blocked[e] = 1;
}

/* Elements at the interface by which it hangs: U = 0 there keeps their sides from contracting, which the whole
 * structure does not. Their stress is that of the clamp (docs/validation/stress.md). A component that has no others
 * keeps them. */
static void find_clamped(stress_search *s) {
    const bough_mesh *mesh = s->cook->body->mesh;
    const int32_t node_count = bough_element_node_count(mesh->type);
    int32_t others = 0;
    if (s->cook->draft.support != BOUGH_SUPPORT_INTERFACE || s->loads.structure)
        return; /* ... or what it hangs on is known */
    for (int32_t e = 0; e < mesh->element_count; e++) {
        for (int32_t k = 0; k < node_count; k++)
            s->clamped[e] |= s->cook->held[3 * (size_t)bo_mesh_nodes(mesh, e)[k]];
        others += !s->clamped[e];
    }
    if (others == 0)
        memset(s->clamped, 0, (size_t)mesh->element_count);
}

/* ---- poses that occur, and where they strain most ---- */

/* Shares of the body's own loads in its acceleration a. The first six of them are of all its mass, along axes that are
 * orthonormal in units; those after are of its ends. */
static void accelerate_body(const bo_stress_loads *loads, const double a[6], double *share) {
    bool ends = false;
    for (int32_t k = 0; k < loads->count; k++) {
        ends = ends || (k > 0 && loads->owner[k] == BOUGH_OWNER_SELF && loads->owner[k - 1] == BOUGH_OWNER_SELF &&
                        loads->direction[k] < loads->direction[k - 1]);
        share[k] = 0;
        for (int d = 0; d < 6 && loads->owner[k] == BOUGH_OWNER_SELF && !ends; d++)
            share[k] += a[d] * loads->axis[6 * (size_t)k + (size_t)d] / (loads->unit[d] * loads->unit[d]) *
                        sqrt(loads->energy[k]);
    }
}

/* The mass that hangs at an interface has the wrench I6 a there, which is the sum W x of the interface's loads by least
 * squares: W^T W x = W^T I6 a. */
static void accelerate_carried(const stress_search *s, const bo_cook_load *load, const double a[6], double *share) {
    const bo_stress_loads *loads = &s->loads;
    const bo_vec3 arm = bo_load3(s->cook->interfaces[load->interface_index].centre), turn = bo_load3(a + 3);
    double motion[6], wrench[6], A[36], W[36] = {0}, x[6], most = 0;
    int32_t member[6], count = 0;
    bo_store3(motion, bo_add(bo_load3(a), bo_cross(turn, arm)));
    bo_store3(motion + 3, turn);
    for (int32_t k = 0; k < loads->count && count < 6; k++)
        if (loads->owner[k] == load->interface_index)
            member[count++] = k;
    for (int r = 0; r < 6; r++) {
        wrench[r] = 0;
        for (int c = 0; c < 6; c++)
            wrench[r] += load->I6[6 * r + c] * motion[c];
        for (int c = 0; c < count; c++)
            W[6 * r + c] = loads->wrench[6 * (size_t)member[c] + (size_t)r];
    }
    for (int r = 0; r < count; r++) {
        x[r] = 0;
        for (int m = 0; m < 6; m++)
            x[r] += W[6 * m + r] * wrench[m];
        for (int c = 0; c < count; c++) {
            A[count * r + c] = 0;
            for (int m = 0; m < 6; m++)
                A[count * r + c] += W[6 * m + r] * W[6 * m + c];
        }
        most = fmax(most, A[count * r + r]);
    }
    for (int r = 0; r < count; r++)
        A[count * r + r] += 1e-10 * most;
    if (count == 0 || !bo_cholesky_factor(count, A))
        return;
    bo_cholesky_solve(count, A, x);
    for (int r = 0; r < count; r++)
        share[member[r]] = x[r];
}

/* Shares of the loads that together are an acceleration of the body with all that it carries: along axes and diagonals,
 * and about axes. */
static void accelerate(const stress_search *s, int32_t number, double *share) {
    static const double along[ACCELERATIONS][6] = {{1},        {0, 1},       {0, 0, 1},       {1, 1},
                                                   {1, -1},    {1, 0, 1},    {1, 0, -1},      {0, 1, 1},
                                                   {0, 1, -1}, {0, 0, 0, 1}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 1}};
    accelerate_body(&s->loads, along[number], share);
    for (int32_t i = 0; i < s->cook->load_count; i++)
        accelerate_carried(s, &s->cook->loads[i], along[number], share);
}

static double gaussian(bo_pose_random *random) {
    const double length = sqrt(-2 * log(bo_pose_uniform(random)));
    return length * cos(2 * M_PI * bo_pose_uniform(random));
}

/* Loads one by one, accelerations, and loads together, by what is to be expected of each: shares of them. */
static bough_status make_poses(stress_search *s) {
    bo_cook *cook = s->cook;
    const bo_stress_loads *loads = &s->loads;
    const size_t count = (size_t)loads->count;
    s->pose_count = loads->count > 0 ? loads->count + ACCELERATIONS + RANDOM_POSES : 0;
    s->poses = BO_COOK_ARRAY(cook, double, (size_t)s->pose_count *count);
    s->peak = BO_COOK_ARRAY(cook, double, s->pose_count);
    s->place = BO_COOK_ARRAY(cook, int32_t, s->pose_count);
    if (!s->poses || !s->peak || !s->place)
        return BOUGH_ERROR_MEMORY;
    double *share = s->poses;
    for (size_t k = 0; k < count; k++, share += count)
        share[k] = 1;
    for (int32_t i = 0; i < ACCELERATIONS && count > 0; i++, share += count)
        accelerate(s, i, share);
    bo_pose_random random = {cook->def->seed};
    for (; share < s->poses + (size_t)s->pose_count * count; share += count)
        for (size_t k = 0; k < count; k++)
            share[k] = loads->weight[k] * gaussian(&random);
    return BOUGH_OK;
}

/* Five numbers of a field whose squares sum up to |dev sym G|^2, and three of padding: the
 * sum over fields then goes through wide registers. */
enum { DEVIATORS = 8 };

static void deviators_of(const double *G, int32_t count, double *D) {
    const double root2 = sqrt(2), root6 = sqrt(6);
    for (int32_t l = 0; l < count; l++, D += DEVIATORS) {
        const double x = G[l], y = G[4 * count + l], z = G[8 * count + l];
        D[0] = (x - y) / root2;
        D[1] = (x + y - 2 * z) / root6;
        D[2] = (G[count + l] + G[3 * count + l]) / root2;
        D[3] = (G[2 * count + l] + G[6 * count + l]) / root2;
        D[4] = (G[5 * count + l] + G[7 * count + l]) / root2;
        D[5] = D[6] = D[7] = 0;
    }
}

/* Von Mises' stress of the linearised sum of fields with these deviators. */
BO_MULTIVERSION static double stress_of_fields(const bo_elastic *elastic, const double *restrict D, int32_t count,
                                               const double *restrict share) {
    bo_v4 low = {0}, high = {0};
    for (int32_t l = 0; l < count; l++) {
        low += share[l] * BO_V4_CONST(D + DEVIATORS * l);
        high += share[l] * BO_V4_CONST(D + DEVIATORS * l + 4);
    }
    low = low * low + high * high;
    const double square = low[0] + low[1] + low[2] + low[3];
    return sqrt(6 * square) * elastic->mu;
}

static const bo_elastic *elastic_of(const stress_search *s, int32_t element) {
    return &s->cook->body->elastic[s->cook->body->element_material[element]];
}

typedef struct {
    stress_search *s;
    double *peak; /* chunks x pose_count */
    int32_t *place;
} peak_search;

static void search_peaks(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const peak_search *w = data;
    const stress_search *s = w->s;
    const int32_t loads = s->loads.count;
    double *peak = w->peak + (size_t)chunk * (size_t)s->pose_count, G[9 * MOST_COLUMNS], D[DEVIATORS * MOST_COLUMNS];
    int32_t *place = w->place + (size_t)chunk * (size_t)s->pose_count;
    for (int32_t p = 0; p < s->pose_count; p++)
        place[p] = -1;
    for (int32_t e = begin; e < end; e++) {
        if (s->clamped[e])
            continue;
        mean_field_gradient(s->cook->body, e, loads, s->loads.fields, G);
        deviators_of(G, loads, D);
        for (int32_t p = 0; p < s->pose_count; p++) {
            const double stress = stress_of_fields(elastic_of(s, e), D, loads, s->poses + (size_t)p * (size_t)loads);
            if (stress > (1 + SAME) * peak[p])
                peak[p] = stress, place[p] = e;
        }
    }
}

static bough_status find_peaks(stress_search *s) {
    bo_cook *cook = s->cook;
    const int32_t count = cook->body->mesh->element_count, chunks = bo_chunk_count(count, ELEMENTS_A_TASK);
    const size_t poses = (size_t)s->pose_count;
    peak_search w = {s, BO_NEW_ZEROS(cook->ctx, double, (size_t)chunks *poses),
                     BO_NEW_ARRAY(cook->ctx, int32_t, (size_t)chunks * poses)};
    const bool good = w.peak && w.place;
    if (good)
        bo_parallel_for(cook->ctx, count, ELEMENTS_A_TASK, search_peaks, &w);
    for (size_t p = 0; p < poses && good; p++) {
        s->peak[p] = 0, s->place[p] = -1;
        for (size_t c = 0; c < (size_t)chunks; c++)
            if (w.peak[c * poses + p] > (1 + SAME) * s->peak[p])
                s->peak[p] = w.peak[c * poses + p], s->place[p] = w.place[c * poses + p];
    }
    bo_free(cook->ctx, w.peak);
    bo_free(cook->ctx, w.place);
    return good ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* A new point shows so much of each pose's largest stress. */
static void look_from(const stress_search *s, int32_t element, double *shown) {
    double G[9 * MOST_COLUMNS], D[DEVIATORS * MOST_COLUMNS];
    const int32_t loads = s->loads.count;
    mean_field_gradient(s->cook->body, element, loads, s->loads.fields, G);
    deviators_of(G, loads, D);
    for (int32_t p = 0; p < s->pose_count; p++)
        if (s->peak[p] > 0)
            shown[p] = fmax(shown[p],
                            stress_of_fields(elastic_of(s, element), D, loads, s->poses + (size_t)p * (size_t)loads) /
                                s->peak[p]);
}

/* The first poses are one load each, which may hardly ever come; the others are to be expected. */
static double unseen_of(const stress_search *s, int32_t pose, const double *shown) {
    return (pose < s->loads.count ? s->loads.weight[pose] : 1) * (1 - shown[pose]);
}

/* Takes, one after the other, the place of the pose whose largest stress is seen worst, until all are seen. */
static bough_status choose_places(stress_search *s, int32_t wanted) {
    double *shown = BO_NEW_ZEROS(s->cook->ctx, double, s->pose_count);
    if (!shown)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < s->chosen_count; i++)
        look_from(s, s->chosen[i], shown);
    while (s->chosen_count < wanted) {
        int32_t worst = -1;
        for (int32_t p = 0; p < s->pose_count; p++)
            if (s->place[p] >= 0 && shown[p] < 1 - SAME &&
                (worst < 0 || unseen_of(s, p, shown) > unseen_of(s, worst, shown) + SAME))
                worst = p;
        if (worst < 0)
            break;
        s->chosen[s->chosen_count++] = s->place[worst];
        look_from(s, s->place[worst], shown);
    }
    bo_free(s->cook->ctx, shown);
    return BOUGH_OK;
}

/* ---- what is left goes where basis functions strain most ---- */

/* The element that basis function l strains most, of those that are still free; -1 when there is none. */
static int32_t most_strained(const stress_search *s, int32_t l) {
    int32_t best = -1;
    float most = 0;
    for (int32_t e = 0; e < s->cook->body->mesh->element_count; e++) {
        float score = s->score[(size_t)e * (size_t)s->cook->r + (size_t)l];
        if (!s->blocked[e] && !s->clamped[e] && score > most)
            most = score, best = e;
    }
    return best;
}

/* Basis functions take turns. When the body is full, points may stand closer. */
static void choose_elements(stress_search *s, int32_t wanted) {
    double spacing = STRESS_SPACING * s->cook->size;
    for (int32_t i = 0; i < s->chosen_count; i++)
        block_around(s, s->chosen[i], spacing);
    while (s->chosen_count < wanted && spacing > LEAST_STRESS_SPACING * s->cook->size) {
        const int32_t before = s->chosen_count;
        for (int32_t l = 0; l < s->cook->r && s->chosen_count < wanted; l++) {
            int32_t e = most_strained(s, l);
            if (e < 0)
                continue;
            s->chosen[s->chosen_count++] = e;
            block_around(s, e, spacing);
        }
        if (s->chosen_count > before)
            continue;
        spacing *= 0.5;
        memset(s->blocked, 0, (size_t)s->cook->body->mesh->element_count);
        for (int32_t i = 0; i < s->chosen_count; i++)
            block_around(s, s->chosen[i], spacing);
    }
}

/* ---- gauges: strain near interfaces from what is strained elsewhere ---- */

/* Green's strain for small displacements: xx yy zz yz xz xy of `count` fields, 6 x count. */
static void strain_of(const double *G, int32_t count, double *E) {
    static const int first[6] = {0, 4, 8, 5, 2, 1}, second[6] = {0, 4, 8, 7, 6, 3};
    for (int k = 0; k < 6; k++)
        for (int32_t l = 0; l < count; l++)
            E[k * count + l] = 0.5 * (G[first[k] * count + l] + G[second[k] * count + l]);
}

/* Strain of the component's answers to all loads. */
static void own_strain(const stress_search *s, int32_t element, double *E) {
    const int32_t r = s->cook->r, count = s->loads.count;
    double G[9 * BOUGH_MAX_COORDINATES], e[6 * BOUGH_MAX_COORDINATES];
    mean_gradient(s->cook, element, G);
    strain_of(G, r, e);
    for (int k = 0; k < 6; k++)
        for (int32_t m = 0; m < count; m++) {
            E[k * count + m] = 0;
            for (int32_t l = 0; l < r; l++)
                E[k * count + m] += e[k * r + l] * s->loads.q[(size_t)m * (size_t)r + (size_t)l];
        }
}

/* Elements that touch an interface have the strain of a clamp, and are no gauges. */
static bough_status find_gaugeable(const stress_search *s, unsigned char *bad) {
    const bough_mesh *mesh = s->cook->body->mesh;
    const int32_t nodes = bough_element_node_count(mesh->type);
    unsigned char *marked = BO_NEW_ZEROS(s->cook->ctx, unsigned char, mesh->vertex_count);
    if (!marked)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < s->cook->draft.interface_count; i++)
        for (int32_t k = 0; k < s->cook->interfaces[i].vertex_count; k++)
            marked[s->cook->interfaces[i].vertices[k]] = 1;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        bad[e] = 0;
        for (int32_t k = 0; k < nodes; k++)
            bad[e] |= marked[bo_mesh_nodes(mesh, e)[k]];
    }
    bo_free(s->cook->ctx, marked);
    return BOUGH_OK;
}

/* The square of what an element's strain tells of the loads beyond the directions (orthonormal, `known` of them, in the
 * space of the loads), each load by its weight. */
static double news_of(const stress_search *s, const double *E, int32_t known, const double *directions) {
    const int32_t count = s->loads.count;
    double sum = 0;
    for (int k = 0; k < 6; k++) {
        for (int32_t m = 0; m < count; m++)
            sum += pow(E[k * count + m] * s->loads.weight[m], 2);
        for (int32_t d = 0; d < known; d++) {
            double part = 0;
            for (int32_t m = 0; m < count; m++)
                part += E[k * count + m] * s->loads.weight[m] * directions[d * count + m];
            sum -= part * part;
        }
    }
    return sum;
}

/* Gram and Schmidt: the rows of E become directions as far as they are new. */
static int32_t add_directions(const stress_search *s, const double *E, int32_t known, double *directions) {
    const int32_t count = s->loads.count;
    double most = 0;
    for (int k = 0; k < 6 && known < count; k++) {
        double *row = directions + (size_t)known * (size_t)count, square = 0;
        for (int32_t m = 0; m < count; m++) {
            row[m] = E[k * count + m] * s->loads.weight[m];
            square += row[m] * row[m];
        }
        most = fmax(most, square);
        for (int round = 0; round < 2; round++)
            for (int32_t d = 0; d < known; d++) {
                double part = 0;
                for (int32_t m = 0; m < count; m++)
                    part += row[m] * directions[d * count + m];
                for (int32_t m = 0; m < count; m++)
                    row[m] -= part * directions[d * count + m];
            }
        square = 0;
        for (int32_t m = 0; m < count; m++)
            square += row[m] * row[m];
        if (!(square > 1e-4 * most))
            continue;
        for (int32_t m = 0; m < count; m++)
            row[m] /= sqrt(square);
        known++;
    }
    return known;
}

/* Elements whose strains together tell the loads apart. Returns how many. */
static int32_t choose_gauges(const stress_search *s, const unsigned char *bad, const double *all, double *directions,
                             int32_t chosen[GAUGES]) {
    const int32_t elements = s->cook->body->mesh->element_count, count = s->loads.count;
    int32_t known = 0, found = 0;
    while (found < GAUGES && known < count) {
        int32_t best = -1;
        double most = 0;
        for (int32_t e = 0; e < elements; e++) {
            const double news = bad[e] ? 0 : news_of(s, all + 6 * (size_t)e * (size_t)count, known, directions);
            if (news > (1 + SAME) * most)
                most = news, best = e;
        }
        if (best < 0)
            break;
        const int32_t before = known;
        known = add_directions(s, all + 6 * (size_t)best * (size_t)count, known, directions);
        if (known == before)
            break;
        chosen[found++] = best;
    }
    return found;
}

/* With the gauges' values Y (rows x loads) and what strain at a point lacks, T (6 x loads), each load by its weight:
 * D = T Y^T (Y Y^T + noise)^-1. A: the factor of the matrix to be inverted. */
static void fit_point(const stress_search *s, int32_t element, int32_t rows, const double *Y, const double *A,
                      double *D) {
    const int32_t count = s->loads.count;
    double G[9 * MOST_COLUMNS], T[6 * MOST_COLUMNS], own[6 * MOST_COLUMNS];
    mean_field_gradient(s->cook->body, element, count, s->loads.fields, G);
    strain_of(G, count, T);
    own_strain(s, element, own);
    for (int k = 0; k < 6; k++) {
        for (int32_t j = 0; j < rows; j++) {
            D[k * rows + j] = 0;
            for (int32_t m = 0; m < count; m++)
                D[k * rows + j] += (T[k * count + m] - own[k * count + m]) * s->loads.weight[m] * Y[j * count + m];
        }
        bo_cholesky_solve(rows, A, D + k * rows);
    }
}

static bough_status fit_gauges(bo_cook *cook, const stress_search *s, int32_t gauges, const int32_t *chosen) {
    const int32_t count = s->loads.count, rows = 6 * gauges + BOUGH_SEAM;
    const size_t r = (size_t)cook->r;
    double *Y = BO_COOK_ARRAY(cook, double, (size_t)rows *(size_t)count);
    double *A = BO_COOK_ARRAY(cook, double, (size_t)rows *(size_t)rows);
    double *D = BO_COOK_ARRAY(cook, double, 6 * (size_t)rows * (size_t)s->chosen_count);
    double *gradient = BO_COOK_ARRAY(cook, double, 9 * r * (size_t)gauges);
    if (!Y || !A || !D || !gradient)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < gauges; i++) {
        own_strain(s, chosen[i], Y + 6 * (size_t)i * (size_t)count);
        mean_gradient(cook, chosen[i], gradient + 9 * r * (size_t)i);
    }
    double trace[2] = {0}; /* of the gauges, of the seam */
    for (int32_t j = 0; j < rows; j++)
        for (int32_t m = 0; m < count; m++) {
            double *y = &Y[j * count + m];
            if (j >= 6 * gauges)
                *y = s->loads.seam[BOUGH_SEAM * m + j - 6 * gauges];
            *y *= s->loads.weight[m];
            trace[j >= 6 * gauges] += *y * *y;
        }
    for (int32_t j = 0; j < rows; j++)
        for (int32_t k = 0; k < rows; k++) {
            double sum = 0;
            for (int32_t m = 0; m < count; m++)
                sum += Y[j * count + m] * Y[k * count + m];
            if (j == k)
                sum += (j < 6 * gauges || !(trace[1] > 0) ? GAUGE_NOISE * trace[0] : SEAM_NOISE * trace[1]) / 6;
            A[j * rows + k] = sum;
        }
    if (!bo_cholesky_factor(rows, A))
        return BOUGH_OK;
    for (int32_t i = 0; i < s->chosen_count; i++)
        fit_point(s, s->chosen[i], rows, Y, A, D + 6 * (size_t)rows * (size_t)i);
    cook->draft.gauges = (bough_stress_gauges){gauges, gradient, D};
    return BOUGH_OK;
}

static bough_status fill_gauges(bo_cook *cook, const stress_search *s) {
    const size_t elements = (size_t)cook->body->mesh->element_count, count = (size_t)s->loads.count;
    int32_t chosen[GAUGES];
    if (!s->loads.structure || s->chosen_count == 0)
        return BOUGH_OK;
    unsigned char *bad = BO_NEW_ARRAY(cook->ctx, unsigned char, elements);
    double *all = BO_NEW_ARRAY(cook->ctx, double, 6 * elements * count);
    double *directions = BO_NEW_ARRAY(cook->ctx, double, (count + 6) * count);
    bough_status status = bad && all && directions ? find_gaugeable(s, bad) : BOUGH_ERROR_MEMORY;
    for (size_t e = 0; e < elements && status == BOUGH_OK; e++)
        own_strain(s, (int32_t)e, all + 6 * e * count);
    if (status == BOUGH_OK)
        status = fit_gauges(cook, s, choose_gauges(s, bad, all, directions, chosen), chosen);
    bo_free(cook->ctx, bad);
    bo_free(cook->ctx, all);
    bo_free(cook->ctx, directions);
    return status;
}

static bough_status fill_stress(bo_cook *cook, const stress_search *s) {
    const int32_t count = s->chosen_count;
    double *position = BO_COOK_ARRAY(cook, double, 3 * (size_t)count);
    int32_t *element = BO_COOK_ARRAY(cook, int32_t, count), *material = BO_COOK_ARRAY(cook, int32_t, count);
    double *gradient = BO_COOK_ARRAY(cook, double, 9 * (size_t)count * (size_t)cook->r);
    if (!position || !element || !material || !gradient)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++) {
        const int32_t e = element[i] = s->chosen[i];
        material[i] = cook->body->element_material[e];
        bo_store3(position + 3 * (size_t)i, bo_sub(mean_position(cook->body, e), bo_load3(cook->draft.origin)));
        mean_gradient(cook, e, gradient + 9 * (size_t)i * (size_t)cook->r);
    }
    cook->draft.stress = (bough_material_points){
        .count = count, .position = position, .element = element, .material = material, .gradient = gradient};
    return fill_gauges(cook, s);
}

static bough_status search_stress(bo_cook *cook, stress_search *s, int32_t wanted) {
    const bough_cook_def *def = cook->def;
    const int32_t element_count = cook->body->mesh->element_count;
    for (int32_t i = 0; i < def->stress_element_count; i++) {
        s->chosen[s->chosen_count] = def->stress_elements[i];
        if (def->stress_elements[i] < 0 || def->stress_elements[i] >= element_count)
            return bo_fail(cook->ctx, BOUGH_ERROR_ARGUMENT, "stress element %d does not exist: there are %d elements",
                           def->stress_elements[i], element_count);
        s->chosen_count++;
    }
    if (s->chosen_count < wanted) {
        find_clamped(s);
        BO_TRY(make_poses(s));
        BO_TRY(find_peaks(s));
        BO_TRY(choose_places(s, wanted));
    }
    if (s->chosen_count < wanted) {
        bo_parallel_for(cook->ctx, element_count, ELEMENTS_A_TASK, score_elements, s);
        choose_elements(s, wanted);
    }
    return fill_stress(cook, s);
}

static bough_status sample_stress(bo_cook *cook) {
    const size_t element_count = (size_t)cook->body->mesh->element_count;
    const int64_t wanted = (int64_t)cook->def->stress_element_count + cook->def->stress_count;
    if (wanted <= 0 || wanted > INT32_MAX || cook->r == 0)
        return BOUGH_OK;
    stress_search s = {.cook = cook};
    BO_TRY(bo_cook_recover(cook, &s.loads));
    s.score = BO_NEW_ARRAY(cook->ctx, float, element_count *(size_t)cook->r);
    s.position = BO_NEW_ARRAY(cook->ctx, double, 3 * element_count);
    s.blocked = BO_NEW_ZEROS(cook->ctx, unsigned char, element_count);
    s.clamped = BO_NEW_ZEROS(cook->ctx, unsigned char, element_count);
    s.chosen = BO_NEW_ARRAY(cook->ctx, int32_t, wanted);
    bough_status status = BOUGH_ERROR_MEMORY;
    if (s.score && s.position && s.blocked && s.clamped && s.chosen)
        status = search_stress(cook, &s, (int32_t)wanted);
    bo_free(cook->ctx, s.score);
    bo_free(cook->ctx, s.position);
    bo_free(cook->ctx, s.blocked);
    bo_free(cook->ctx, s.clamped);
    bo_free(cook->ctx, s.chosen);
    return status;
}

/* ---- the field over the surface ---- */

/* Mean of the gradients of the elements around each chosen vertex, by volume, and the material of the largest part. */
typedef struct {
    const bo_cook *cook;
    const int32_t *slot; /* vertex of the mesh -> its number in the field, or -1 */
    double *sum;         /* count x 9 x r */
    double *volume;      /* count */
    double *most;        /* count: volume of the largest element, whose material counts */
    int32_t *material;
} averaging;

static double element_volume(const bough_body *body, int32_t element) {
    double volume = 0;
    for (int32_t p = 0; p < body->rule->point_count; p++)
        volume += body->geometry[(size_t)body->rule->point_count * (size_t)element + (size_t)p].weight;
    return volume;
}

static void add_element(averaging *a, int32_t element) {
    const bough_mesh *mesh = a->cook->body->mesh;
    const size_t entries = 9 * (size_t)a->cook->r;
    const double volume = element_volume(a->cook->body, element);
    double G[9 * BOUGH_MAX_COORDINATES];
    bool known = false;
    for (int32_t k = 0; k < bough_element_node_count(mesh->type); k++) {
        const int32_t slot = a->slot[bo_mesh_nodes(mesh, element)[k]];
        if (slot < 0)
            continue;
        if (!known)
            mean_gradient(a->cook, element, G);
        known = true;
        a->volume[slot] += volume;
        if (volume > a->most[slot])
            a->most[slot] = volume, a->material[slot] = a->cook->body->element_material[element];
        for (size_t i = 0; i < entries; i++)
            a->sum[(size_t)slot * entries + i] += volume * G[i];
    }
}

static bough_status fill_field(bo_cook *cook, int32_t count, const int32_t *vertices, const int32_t *slot) {
    const size_t entries = 9 * (size_t)cook->r * (size_t)count;
    averaging a = {.cook = cook, .slot = slot};
    a.sum = BO_COOK_ARRAY(cook, double, entries);
    a.volume = BO_COOK_ARRAY(cook, double, count), a.most = BO_COOK_ARRAY(cook, double, count);
    a.material = BO_COOK_ARRAY(cook, int32_t, count);
    double *position = BO_COOK_ARRAY(cook, double, 3 * (size_t)count);
    float *gradient = BO_COOK_ARRAY(cook, float, entries);
    if (!a.sum || !a.volume || !a.most || !a.material || !position || !gradient)
        return BOUGH_ERROR_MEMORY;
    for (int32_t e = 0; e < cook->body->mesh->element_count; e++)
        add_element(&a, e);
    for (size_t i = 0; i < entries; i++)
        gradient[i] = (float)(a.sum[i] / a.volume[i / (9 * (size_t)cook->r)]);
    for (int32_t i = 0; i < count; i++)
        bo_store3(position + 3 * (size_t)i,
                  bo_sub(bo_load3(cook->body->mesh->vertices + 3 * (size_t)vertices[i]), bo_load3(cook->draft.origin)));
    cook->draft.field =
        (bough_stress_field){.count = count, .position = position, .material = a.material, .gradient = gradient};
    return BOUGH_OK;
}

/* Vertices of the boundary, far from each other. */
static bough_status sample_field(bo_cook *cook) {
    if (cook->r == 0 || cook->def->field_count <= 0)
        return BOUGH_OK;
    BO_TRY(bo_cook_boundary(cook));
    const int32_t all = cook->boundary->vertex_count, limit = cook->def->field_count;
    int32_t wanted = limit < all ? limit : all;
    int32_t *chosen = BO_COOK_ARRAY(cook, int32_t, wanted);
    int32_t *slot = BO_COOK_ARRAY(cook, int32_t, cook->body->mesh->vertex_count);
    double *distance = BO_NEW_ARRAY(cook->ctx, double, all);
    const bool good = chosen && slot && distance;
    if (good)
        wanted = bo_farthest_points(all, 3, cook->boundary->vertices, wanted, chosen, distance);
    bo_free(cook->ctx, distance);
    if (!good)
        return BOUGH_ERROR_MEMORY;
    for (int32_t v = 0; v < cook->body->mesh->vertex_count; v++)
        slot[v] = -1;
    for (int32_t i = 0; i < wanted; i++)
        slot[chosen[i] = cook->boundary_vertices[chosen[i]]] = i;
    return fill_field(cook, wanted, chosen, slot);
}

bough_status bo_cook_stress(bo_cook *cook) {
    BO_TRY(sample_stress(cook));
    return sample_field(cook);
}
