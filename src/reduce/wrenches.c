/* Forces and torques at the interfaces: what of the body's answers to them the basis can show, and columns for those
 * that it cannot. docs/theory/reduction.md, "Wrenches". */
#include "reduce/basis.h"

#include "base/eigen3.h"
#include "linalg/sparse.h"

#include <string.h>

enum { WRENCHES = 6 };
/* A wrench may grow until it turns by twice the amplitude of poses as an angle (0.5 rad), or strains by a tenth. */
#define LARGEST_STRAIN 0.1

/* ---- where they act ---- */

static double load_at(const bo_cook *cook, int32_t interface) {
    const bough_interface_def *def = &cook->def->interfaces[interface];
    return def->has_load ? def->load.mass : 0;
}

/* The interfaces that are not the parent's, the heaviest first. */
static int32_t list_interfaces(const bo_cook *cook, int32_t list[BO_MOST_SITES]) {
    int32_t count = 0;
    for (int32_t i = 0; i < cook->def->interface_count; i++) {
        if (i == cook->def->parent)
            continue;
        int32_t at = count < BO_MOST_SITES ? count : BO_MOST_SITES;
        while (at > 0 && load_at(cook, list[at - 1]) < load_at(cook, i))
            at--;
        if (at == BO_MOST_SITES)
            continue;
        memmove(list + at + 1, list + at, (size_t)(BO_MOST_SITES - 1 - at) * sizeof *list);
        list[at] = i;
        count += count < BO_MOST_SITES;
    }
    return count;
}

/* The vertices that are farthest along the way from the origin to the far vertex. */
static int32_t vertices_beyond(const bo_cook *cook, bo_vec3 along, double least, int32_t *vertices) {
    int32_t count = 0;
    for (int32_t v = 0; v < cook->n / 3; v++) {
        const unsigned char *held = cook->held + 3 * (size_t)v; /* also where no element is */
        const bo_vec3 x = bo_sub(bo_load3(cook->body->mesh->vertices + 3 * (size_t)v), bo_load3(cook->draft.origin));
        if (!(held[0] && held[1] && held[2]) && bo_dot(x, along) >= least)
            vertices[count++] = v;
    }
    return count;
}

bough_status bo_cook_free_end(bo_cook *cook, bough_interface *end) {
    const bo_vec3 far =
        bo_sub(bo_load3(cook->body->mesh->vertices + 3 * bo_cook_far_vertex(cook)), bo_load3(cook->draft.origin));
    const double length = bo_norm(far);
    const bo_vec3 along = bo_scale(length > 0 ? 1 / length : 0, far);
    int32_t *vertices = BO_COOK_ARRAY(cook, int32_t, cook->n / 3);
    double *weights = BO_COOK_ARRAY(cook, double, cook->n / 3);
    if (!vertices || !weights)
        return BOUGH_ERROR_MEMORY;
    *end = (bough_interface){.name = "free end", .vertices = vertices, .weights = weights};
    for (double band = 0.1; band < 2; band *= 1.3) { /* until they span a plane */
        end->vertex_count = vertices_beyond(cook, along, (1 - band) * length, vertices);
        for (int32_t k = 0; k < end->vertex_count; k++)
            weights[k] = 1.0 / end->vertex_count;
        bo_vec3 values;
        bo_mat3 C = bo_cook_spread(cook, end), V;
        bo_eigen3(C, &values, &V);
        end->radius = sqrt(bo_trace(C));
        if (values.y > 0.05 * bo_trace(C))
            return BOUGH_OK;
    }
    end->vertex_count = 0;
    return BOUGH_OK;
}

/* Unit wrenches along the principal axes of the face: the first is its normal where it is flat. */
static bough_status place_wrenches(bo_cook *cook, const bough_interface *face, bo_cook_site *site, double *b) {
    const size_t n = (size_t)cook->n;
    double *Q = BO_NEW_ARRAY(cook->ctx, double, 18 * (size_t)face->vertex_count + 1);
    bough_status status = Q ? bo_cook_rigid_fit(cook, face, Q) : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        bo_vec3 values;
        bo_eigen3(bo_cook_spread(cook, face), &values, &site->axes);
        memset(b, 0, WRENCHES * n * sizeof *b);
        for (size_t k = 0; k < 3 * (size_t)face->vertex_count; k++)
            for (size_t d = 0; d < WRENCHES; d++)
                for (size_t a = 0; a < 3; a++)
                    b[d * n + 3 * (size_t)face->vertices[k / 3] + k % 3] +=
                        Q[6 * k + d / 3 * 3 + a] * site->axes.m[3 * a + d % 3];
    }
    bo_free(cook->ctx, Q);
    return status;
}

/* cook->sites, and the answers to their unit wrenches; of vertices that are held there are none. */
static bough_status find_answers(bo_cook *cook) {
    int32_t list[BO_MOST_SITES], count = list_interfaces(cook, list);
    const size_t n = (size_t)cook->n, sites = count ? (size_t)count : 1;
    bough_interface end = {0};
    if (count == 0)
        BO_TRY(bo_cook_free_end(cook, &end));
    if (count == 0 && end.vertex_count == 0)
        return BOUGH_OK;
    cook->sites = BO_COOK_ARRAY(cook, bo_cook_site, sites);
    cook->wrench_answers = BO_COOK_ARRAY(cook, double, WRENCHES *sites *n);
    double *b = BO_NEW_ARRAY(cook->ctx, double, WRENCHES *n);
    bough_status status = cook->sites && cook->wrench_answers && b ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (size_t s = 0; s < sites && status == BOUGH_OK; s++) {
        bo_cook_site *site = &cook->sites[s];
        site->interface_index = count ? list[s] : -1;
        status = place_wrenches(cook, count ? &cook->interfaces[list[s]] : &end, site, b);
        if (status == BOUGH_OK)
            status = bo_cook_solve(cook, b, cook->wrench_answers + WRENCHES * s * n, WRENCHES);
    }
    cook->site_count = status == BOUGH_OK ? (int32_t)sites : 0;
    bo_free(cook->ctx, b);
    return status;
}

/* ---- shapes ---- */

/* The largest size of a wrench whose answer to a unit is x. */
static double reach_of(const bo_cook *cook, const double *x) {
    const double moved = bo_cook_largest(cook, x), strained = bo_cook_largest_strain(cook, x);
    const double turned = bo_cook_largest_turn(cook, x), amplitude = cook->def->pose_amplitude;
    double most = moved > 0 ? amplitude * cook->size / moved : 0;
    most = strained > 0 ? fmin(most, LARGEST_STRAIN / strained) : most;
    return turned > 0 ? fmin(most, 2 * amplitude / turned) : most;
}

double bo_cook_share_of(const bo_cook *cook, int32_t site) {
    double sum = 0;
    for (int32_t s = 0; s < cook->site_count; s++)
        sum += cook->sites[s].interface_index < 0 ? 0 : load_at(cook, cook->sites[s].interface_index);
    return sum > 0 ? load_at(cook, cook->sites[site].interface_index) / sum : 1.0 / cook->site_count;
}

void bo_cook_share_wrenches(const bo_cook *cook, int32_t linear, int32_t count, double *shapes) {
    const size_t n = (size_t)cook->n;
    for (int32_t k = 0; k < count; k++) {
        const double weight = bo_cook_share_of(cook, (k < linear ? k : k - linear) / WRENCHES);
        for (size_t i = 0; i < n; i++)
            shapes[(size_t)k * n + i] *= weight;
    }
}

static bough_status add_answers(bo_cook *cook, bo_columns *shapes) {
    const size_t n = (size_t)cook->n, count = WRENCHES * (size_t)cook->site_count;
    double *x = bo_columns_add(cook, shapes, (int32_t)count), *product = BO_NEW_ARRAY(cook->ctx, double, n);
    for (size_t k = 0; k < count && x && product; k++, x += n) {
        const double *answer = cook->wrench_answers + k * n;
        bo_sparse_mul(cook->K, answer, product, false);
        const double energy = bo_dot_n(cook->n, answer, product);
        for (size_t i = 0; i < n; i++) /* on vertices that are held nothing answers */
            x[i] = energy > 0 ? answer[i] / sqrt(energy) : 0;
    }
    const bool good = product && (x || count == 0);
    bo_free(cook->ctx, product);
    return good ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* A wrench that is s times as large, with the answer x of energy 1, moves by u = s x + 1/2 s^2 Phi. A basis without the
 * second term stretches the body instead, and of the work s^2 the part s^2 Phi.K Phi / 4 is lost: 1/2 s Phi has the
 * length in K of what must not be missed. */
static bough_status add_derivatives(bo_cook *cook, int32_t first, bo_columns *shapes) {
    const size_t n = (size_t)cook->n;
    int32_t sites = 1 + cook->def->r / 16; /* in a small basis there is no room for those of many */
    sites = sites < BO_DERIVED_SITES ? sites : BO_DERIVED_SITES;
    sites = sites < cook->site_count ? sites : cook->site_count;
    for (int32_t k = 0; k < WRENCHES * sites; k++) {
        double *Phi = bo_columns_add(cook, shapes, 1);
        if (!Phi)
            return BOUGH_ERROR_MEMORY;
        const double *x = shapes->values + (size_t)(first + k) * n;
        const double reach = reach_of(cook, x);
        BO_TRY(bo_cook_derivatives(cook, 1, x, Phi));
        for (size_t i = 0; i < n; i++)
            Phi[i] *= 0.5 * reach;
    }
    return BOUGH_OK;
}

bough_status bo_cook_wrench_shapes(bo_cook *cook, bool derivatives, bo_columns *shapes, int32_t *linear) {
    const int32_t first = shapes->count;
    *linear = 0;
    if (cook->site_count == 0)
        BO_TRY(find_answers(cook));
    if (cook->site_count == 0)
        return BOUGH_OK;
    BO_TRY(add_answers(cook, shapes));
    *linear = shapes->count - first;
    return derivatives ? add_derivatives(cook, first, shapes) : BOUGH_OK;
}

/* ---- how good the finished basis is ---- */

/* The work that a unit wrench does on the full body, x.K x, and what of it the component's coordinates miss: with
 * a = U^T K x the component does a.Kr^-1 a. U^T K U is diagonal. */
static void measure_work(bo_cook *cook, const double *x, double *product, double *a, double *work, double *missed) {
    bo_sparse_mul(cook->K, x, product, false);
    bo_cook_project(cook, product, a);
    *missed = *work = bo_dot_n(cook->n, x, product);
    for (int32_t l = 0; l < cook->r; l++)
        *missed -= a[l] * a[l] / cook->draft.K[(size_t)l * ((size_t)cook->r + 1)];
    *missed = fmax(0, *missed);
}

/* By itself: the wrench of which most is missed. In comparison: what is missed of forces and of torques, each over the
 * most that one of them does, so that a pull on a rod counts by how far it moves the end beside a push across; and by
 * the interface's share of the load. At a free end nothing hangs. */
static void note_worst(bo_cook *cook, int32_t count, const double *work, const double *missed) {
    bough_component_quality *quality = &cook->draft.quality;
    double most[2] = {0, 0};
    int32_t worst = 0;
    quality->wrench_error = quality->load_error = 0;
    for (int32_t k = 0; k < count; k++)
        most[k % WRENCHES / 3] = fmax(most[k % WRENCHES / 3], work[k]);
    for (int32_t k = 0; k < count; k++) {
        const double softest = most[k % WRENCHES / 3];
        if (work[k] > 0 && missed[k] / work[k] > quality->wrench_error)
            quality->wrench_error = missed[k] / work[k], worst = k;
        const double share = bo_cook_share_of(cook, k / WRENCHES);
        quality->load_error = fmax(quality->load_error, softest > 0 ? share * missed[k] / softest : 0);
    }
    if (cook->sites[0].interface_index < 0)
        quality->load_error = NAN;
    const bo_cook_site *site = &cook->sites[worst / WRENCHES];
    quality->wrench.interface_index = site->interface_index;
    quality->wrench.torque = worst % WRENCHES >= 3;
    for (int d = 0; d < 3; d++)
        quality->wrench.axis[d] = site->axes.m[3 * d + worst % 3];
}

bough_status bo_cook_wrench_error(bo_cook *cook) {
    const size_t n = (size_t)cook->n;
    if (cook->site_count == 0)
        BO_TRY(find_answers(cook));
    const int32_t count = WRENCHES * cook->site_count;
    if (count == 0)
        return BOUGH_OK;
    double *product = BO_NEW_ARRAY(cook->ctx, double, n + (size_t)cook->r + 2 * (size_t)count);
    if (!product)
        return BOUGH_ERROR_MEMORY;
    double *work = product + n + cook->r, *missed = work + count;
    for (int32_t k = 0; k < count; k++)
        measure_work(cook, cook->wrench_answers + (size_t)k * n, product, product + n, &work[k], &missed[k]);
    note_worst(cook, count, work, missed);
    bo_free(cook->ctx, product);
    return BOUGH_OK;
}
