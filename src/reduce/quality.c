/* Measures how good the component is, against the full body. docs/theory/reduction.md, "Quality". */
#include "reduce/basis.h"

#include "dense/cholesky.h"
#include "dense/symmetric_eigen.h"
#include "linalg/sparse.h"

#include <string.h>

#define RANDOM_POSES 4
#define LARGEST_STRAIN 0.1 /* of the pose under weight */
#define MODERATE 0.4       /* of the largest pose */
#define MUCH 0.3           /* of all that is carried */

typedef struct {
    double *u, *f, *product;    /* n */
    double *q, *full, *reduced; /* r */
    double *scratch;            /* what an equilibrium needs */
} work;

static void free_work(bough_context *ctx, work *w) {
    bo_free(ctx, w->u);
    bo_free(ctx, w->q);
}

static bough_status make_work(bo_cook *cook, work *w) {
    size_t n = (size_t)cook->n, r = (size_t)cook->r;
    w->u = BO_NEW_ARRAY(cook->ctx, double, 3 * n);
    w->q = BO_NEW_ARRAY(cook->ctx, double, 3 * r + bo_equilibrium_scratch(&cook->draft));
    if (!w->u || !w->q)
        return BOUGH_ERROR_MEMORY;
    w->f = w->u + n;
    w->product = w->u + 2 * n;
    w->full = w->q + r;
    w->reduced = w->q + 2 * r;
    w->scratch = w->q + 3 * r;
    return BOUGH_OK;
}

/* ---- forces ---- */

/* |U^T f(U q) - f(q)| over |U^T f(U q)| at the coordinates w->q, made smaller where the full body would be inverted
 * (that U can show a pose does not make it one of the full body's). */
static bough_status force_error(bo_cook *cook, work *w, double *worst) {
    bo_cook_displace(cook, w->q, w->product);
    BO_TRY(bo_cook_shrink(cook, w->q, w->product));
    BO_TRY(bough_body_evaluate(cook->ctx, cook->body, w->product, false, NULL, w->f, NULL));
    bo_cook_project(cook, w->f, w->full);
    if (!bough_component_evaluate(&cook->draft, w->q, w->scratch, NULL, w->reduced, NULL))
        return bo_fail(cook->ctx, BOUGH_NOT_FINITE, "the reduced model is inverted where the full one is not");
    double difference = 0, size = 0;
    for (int32_t l = 0; l < cook->r; l++) { /* the full force is -dE/du */
        difference += (w->full[l] + w->reduced[l]) * (w->full[l] + w->reduced[l]);
        size += w->full[l] * w->full[l];
    }
    *worst = fmax(*worst, size > 0 ? sqrt(difference / size) : 0);
    return BOUGH_OK;
}

/* ---- interfaces ---- */

/* Root mean square distance of the vertices from where the fitted frame would put them, of the interface's radius. */
static double deviation(const bo_cook *cook, int32_t index, const double *q, const double *u) {
    const bough_interface *face = &cook->interfaces[index];
    double centre[3], R[9], sum = 0;
    if (!bough_component_interface_frame(&cook->draft, index, q, centre, R))
        return INFINITY;
    for (int32_t k = 0; k < face->vertex_count; k++) {
        const double *X = cook->body->mesh->vertices + 3 * (size_t)face->vertices[k];
        const double *move = u + 3 * (size_t)face->vertices[k];
        double d[3], off = 0;
        for (int i = 0; i < 3; i++)
            d[i] = X[i] - cook->draft.origin[i] - face->centre[i];
        for (int i = 0; i < 3; i++) {
            double x = X[i] - cook->draft.origin[i] + move[i] - centre[i];
            double e = x - R[3 * i] * d[0] - R[3 * i + 1] * d[1] - R[3 * i + 2] * d[2];
            off += e * e;
        }
        sum += face->weights[k] * off;
    }
    return sqrt(sum) / face->radius;
}

static void deviate(bo_cook *cook, work *w) {
    double *worst = &cook->draft.quality.interface_deviation;
    for (int32_t i = 0; i < cook->draft.interface_count; i++)
        if (i != cook->draft.parent)
            *worst = fmax(*worst, deviation(cook, i, w->q, w->u)); /* fmax passes NAN over */
}

static bough_status random_poses(bo_cook *cook, work *w) {
    bough_component_quality *quality = &cook->draft.quality;
    bo_pose_random random = {cook->def->seed + 0x5EED};
    quality->force_random = 0;
    for (int pose = 0; pose < RANDOM_POSES; pose++) {
        BO_TRY(bo_cook_pose(cook, &random, w->q));
        BO_TRY(force_error(cook, w, &quality->force_random));
        if (!bo_cook_progress(cook, 0.2 * pose / RANDOM_POSES))
            return bo_fail_cancelled(cook->ctx);
    }
    return BOUGH_OK;
}

/* ---- responses of the full body ---- */

/* |a - b| / |b| in the mass norm; a is destroyed. */
static double mass_error(bo_cook *cook, double *a, const double *b, double *product) {
    bo_cook_mass(cook, b, product, 1);
    double size = bo_dot_n(cook->n, b, product);
    for (size_t i = 0; i < (size_t)cook->n; i++)
        a[i] -= b[i];
    bo_cook_mass(cook, a, product, 1);
    return size > 0 ? sqrt(fmax(0, bo_dot_n(cook->n, a, product)) / size) : 0;
}

/* For the displacement w->u: the nearest coordinates w->q, what U cannot show of it, and how far the interfaces are
 * from rigid. */
static void look_at(bo_cook *cook, work *w, double *projection) {
    bo_cook_mass(cook, w->u, w->product, 1);
    bo_cook_project(cook, w->product, w->q); /* U is orthonormal in the mass */
    deviate(cook, w);
    bo_cook_displace(cook, w->q, w->f);
    *projection = fmax(*projection, mass_error(cook, w->f, w->u, w->product));
}

/* f = load - elastic force at w->u, zero where held; its squared length. */
static bough_status residual(bo_cook *cook, work *w, const double *load, double *rest) {
    *rest = 0;
    BO_TRY(bough_body_evaluate(cook->ctx, cook->body, w->u, false, NULL, w->f, NULL));
    for (size_t i = 0; i < (size_t)cook->n; i++) {
        w->f[i] = cook->held[i] ? 0 : load[i] + w->f[i];
        *rest += w->f[i] * w->f[i];
    }
    return BOUGH_OK;
}

/* The same of the full body, begun at w->u, which is near: a factor serves as long as each step takes most of the rest
 * away. BOUGH_NO_CONVERGENCE: not found. */
static bough_status full_equilibrium(bo_cook *cook, work *w, const double *load, bough_sparse *tangent) {
    enum { MOST_ITERATIONS = 30 };
    size_t n = (size_t)cook->n;
    double size = 0, rest, before = 0;
    for (size_t i = 0; i < n; i++)
        size += cook->held[i] ? 0 : load[i] * load[i];
    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++, before = rest) {
        bough_status status = residual(cook, w, load, &rest);
        if (status == BOUGH_OK && rest <= 1e-8 * size)
            return BOUGH_OK;
        if (status == BOUGH_OK && rest > 0.3 * before) {
            status = bough_body_evaluate(cook->ctx, cook->body, w->u, false, NULL, NULL, tangent);
            if (status == BOUGH_OK)
                status = bo_factor_numeric(cook->ctx, cook->factor, tangent);
        }
        if (status == BOUGH_NOT_FINITE || status == BOUGH_ERROR_SINGULAR || !(rest < 1e12 * size))
            return BOUGH_NO_CONVERGENCE;
        BO_TRY(status);
        BO_TRY(bo_factor_solve(cook->ctx, cook->factor, w->f, w->product, 1));
        for (size_t i = 0; i < n; i++)
            w->u[i] += w->product[i];
        if (!bo_cook_progress(cook, 0.2 + 0.02 * iteration))
            return bo_fail_cancelled(cook->ctx);
    }
    return BOUGH_NO_CONVERGENCE;
}

/* The symmetric (sign 1) or the skew part (-1) of the gradient. */
static double largest_gradient(const bo_cook *cook, const double *u, double sign) {
    double largest = 0;
    for (int32_t e = 0; e < cook->body->mesh->element_count; e++) {
        double G[9], square = 0;
        bo_cook_field_gradient(cook->body, e, 0, 1, u, G);
        for (int k = 0; k < 9; k++) {
            double part = 0.5 * (G[k] + sign * G[3 * (k % 3) + k / 3]);
            square += part * part;
        }
        largest = fmax(largest, square);
    }
    return sqrt(largest);
}

double bo_cook_largest_strain(const bo_cook *cook, const double *u) {
    return largest_gradient(cook, u, 1);
}

/* Each component of the turn is in the skew part twice. */
double bo_cook_largest_turn(const bo_cook *cook, const double *u) {
    return largest_gradient(cook, u, -1) / sqrt(2);
}

/* The weight of the body and of what it carries: forces m g and torques (sum m x) x g at the interfaces. */
static void add_weight(const bo_cook *cook, const double g[3], double *f) {
    bo_body_gravity_force(cook->body, g, f);
    for (int32_t i = 0; i < cook->load_count; i++) {
        const bo_cook_load *load = &cook->loads[i];
        for (size_t k = 0; k < 3 * (size_t)load->vertex_count; k++)
            for (size_t d = 0; d < 6; d++)
                for (size_t e = 0; e < 3; e++)
                    f[3 * (size_t)load->vertices[k / 3] + k % 3] += load->Q[6 * k + d] * load->I6[6 * d + e] * g[e];
    }
}

/* The axis along which the body gives way most to its weight, and that weight's acceleration at which it moves as
 * far as poses do, or is strained by a tenth where it is thick, for small displacements. The body's own gravity has its
 * direction kept. */
static bough_status choose_gravity(bo_cook *cook, work *w, const double own[3], double gravity[3]) {
    double softest = 0;
    bool given = own[0] != 0 || own[1] != 0 || own[2] != 0;
    for (int d = 0; d < (given ? 1 : 3); d++) {
        double g[3] = {d == 0, d == 1, d == 2};
        for (int k = 0; k < 3 && given; k++)
            g[k] = own[k] / bo_norm(bo_load3(own));
        memset(w->f, 0, (size_t)cook->n * sizeof *w->f);
        add_weight(cook, g, w->f);
        BO_TRY(bo_cook_solve(cook, w->f, w->u, 1));
        double moved = bo_cook_largest(cook, w->u);
        if (moved > softest) {
            softest = moved;
            double factor = cook->def->pose_amplitude * cook->size / moved;
            for (int k = 0; k < 3; k++)
                gravity[k] = g[k] * fmin(factor, LARGEST_STRAIN / bo_cook_largest_strain(cook, w->u));
        }
    }
    return BOUGH_OK;
}

/* The full equilibrium under this weight, sought from the reduced one; the weight is halved until both are found. */
static bough_status find_equilibria(bo_cook *cook, work *w, double gravity[3], double *load, bough_sparse *tangent) {
    enum { MOST_HALVINGS = 6 };
    bough_status status = BOUGH_NO_CONVERGENCE;
    for (int k = 0; k < MOST_HALVINGS && status == BOUGH_NO_CONVERGENCE; k++) {
        memset(load, 0, (size_t)cook->n * sizeof *load);
        add_weight(cook, gravity, load);
        bo_cook_project(cook, load, w->full);
        memset(w->q, 0, (size_t)cook->r * sizeof *w->q);
        if (bo_reduced_equilibrium(&cook->draft, w->full, w->q, w->scratch)) {
            bo_cook_displace(cook, w->q, w->u);
            status = full_equilibrium(cook, w, load, tangent);
        }
        for (int d = 0; d < 3; d++)
            gravity[d] *= 0.5;
    }
    return status;
}

/* The reduced answer to a weight beside the full one, which stays in w->u. */
static bough_status compare_equilibria(bo_cook *cook, work *w, const double weight[3], double factor, double *load,
                                       bough_sparse *tangent, double *error) {
    double gravity[3] = {factor * weight[0], factor * weight[1], factor * weight[2]};
    BO_TRY(find_equilibria(cook, w, gravity, load, tangent));
    bo_cook_displace(cook, w->q, w->f);
    *error = mass_error(cook, w->f, w->u, w->product);
    return BOUGH_OK;
}

/* Compares component and body under a weight that bends the body moderately, and as far as poses go, or as far as there
 * is an equilibrium. A body that flies free does not feel its weight. */
static bough_status gravity_pose(bo_cook *cook, work *w) {
    bough_component_quality *quality = &cook->draft.quality;
    if (cook->draft.support == BOUGH_SUPPORT_FREE)
        return BOUGH_OK;
    double weight[3] = {0}, *load = BO_NEW_ARRAY(cook->ctx, double, cook->n);
    bough_sparse *tangent = NULL;
    bough_status status = load ? bough_body_matrix_create(cook->ctx, cook->body, &tangent) : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        status = choose_gravity(cook, w, cook->load_case->gravity, weight);
    if (status == BOUGH_OK)
        status = compare_equilibria(cook, w, weight, MODERATE, load, tangent, &quality->response_moderate);
    if (status == BOUGH_OK)
        status = compare_equilibria(cook, w, weight, 1, load, tangent, &quality->response_gravity);
    if (status == BOUGH_OK) {
        quality->projection_gravity = quality->force_gravity = 0;
        status = force_error(cook, w, &quality->force_gravity); /* may make w->q smaller */
        look_at(cook, w, &quality->projection_gravity);
    }
    bo_free(cook->ctx, load);
    bough_sparse_destroy(cook->ctx, tangent);
    return status == BOUGH_NO_CONVERGENCE ? BOUGH_OK : status; /* then nothing was measured */
}

/* Rounding must not choose among several vertices that are equally far (the corners of a box). */
size_t bo_cook_far_vertex(const bo_cook *cook) {
    size_t far = 0;
    double most = -1;
    for (size_t v = 0; v < (size_t)cook->n / 3; v++) {
        const unsigned char *held = cook->held + 3 * v; /* also where no element is */
        double distance = bo_norm(bo_sub(bo_load3(cook->body->mesh->vertices + 3 * v), bo_load3(cook->draft.origin)));
        if (!(held[0] && held[1] && held[2]) && distance > most * (1 + 1e-9))
            most = distance, far = v;
    }
    return far;
}

static double mass_length(bo_cook *cook, const double *u, double *product) {
    bo_cook_mass(cook, u, product, 1);
    return sqrt(fmax(0, bo_dot_n(cook->n, u, product)));
}

/* The answer to a blow along axis d at `end` (at one vertex where it has none): its length in the mass norm as
 * it is, and what U cannot show of it, both before it is scaled to displacements of a hundredth of the body's size. */
static bough_status take_blow(bo_cook *cook, work *w, const bough_interface *end, size_t d, double *length,
                              double *missed) {
    const size_t far = 3 * bo_cook_far_vertex(cook);
    memset(w->f, 0, (size_t)cook->n * sizeof *w->f);
    if (end->vertex_count == 0)
        w->f[far + d] = cook->held[far + d] ? 0 : 1;
    for (int32_t k = 0; k < end->vertex_count; k++)
        w->f[3 * (size_t)end->vertices[k] + d] = cook->held[3 * (size_t)end->vertices[k] + d] ? 0 : end->weights[k];
    BO_TRY(bo_factor_solve(cook->ctx, cook->factor, w->f, w->u, 1));
    bo_cook_remove_rigid(cook, w->u, w->product);
    *length = mass_length(cook, w->u, w->product);
    const double moved = bo_cook_largest(cook, w->u);
    for (size_t i = 0; i < (size_t)cook->n && moved > 0; i++)
        w->u[i] *= 0.01 * cook->size / moved;
    double part = 0;
    look_at(cook, w, &part);
    *missed = part * *length;
    return BOUGH_OK;
}

/* Chooses where the blow hits: at the interface that carries most, or, where none carries much, at the free end. */
static bough_status choose_end(bo_cook *cook, bough_interface *end) {
    if (cook->site_count == 0 || cook->sites[0].interface_index < 0 || bo_cook_share_of(cook, 0) < MUCH)
        return bo_cook_free_end(cook, end);
    *end = cook->interfaces[cook->sites[0].interface_index];
    return BOUGH_OK;
}

/* A blow there along each axis, felt by one implicit step of half the lowest mode's time scale,
 * (M + h^2 K) u = h p, where displacements are near enough to linear. What is missed counts beside the largest of the
 * three answers: nobody sees how a rod shivers along its axis. The factor of K gives way to that of this matrix. */
static bough_status impulse_poses(bo_cook *cook, work *w) {
    bough_component_quality *quality = &cook->draft.quality;
    bough_interface end;
    bough_sparse *A;
    BO_TRY(choose_end(cook, &end));
    BO_TRY(bough_body_matrix_create(cook->ctx, cook->body, &A));
    double h2 = 0.25 / cook->draft.K[0], length = 0, missed = 0, farthest = 0, most = 0;
    bo_body_add_mass(cook->m, 1, A);
    bo_sparse_combine(A, 1, h2, cook->K);
    bough_status status = bo_factor_numeric(cook->ctx, cook->factor, A);
    bough_sparse_destroy(cook->ctx, A);
    quality->force_impulse = 0;
    for (size_t d = 0; d < 3 && status == BOUGH_OK; d++) {
        status = take_blow(cook, w, &end, d, &length, &missed);
        farthest = fmax(farthest, length);
        most = fmax(most, missed);
        if (status == BOUGH_OK && missed < 0.5 * length) /* else there is hardly a pose to compare forces at */
            status = force_error(cook, w, &quality->force_impulse);
    }
    quality->projection_impulse = farthest > 0 ? most / farthest : 0;
    return status;
}

/* ---- frequencies ---- */

/* Displacement of an unknown by coordinate c: a basis function, or behind the last one a rigid motion of a free body.
 * */
static double coordinate(const bo_cook *cook, size_t unknown, size_t c) {
    const size_t r = (size_t)cook->r;
    return c < r ? cook->U[unknown * r + c] : cook->rigid[(c - r) * (size_t)cook->n + unknown];
}

/* A (width x width) += J^T I6 J with J (6 x width), how the coordinates move what the interface carries. */
static void add_load(const bo_cook *cook, const bo_cook_load *load, size_t width, double *J, double *A) {
    memset(J, 0, 6 * width * sizeof *J);
    for (size_t i = 0; i < 3 * (size_t)load->vertex_count; i++)
        for (size_t c = 0; c < width; c++) {
            double u = coordinate(cook, 3 * (size_t)load->vertices[i / 3] + i % 3, c);
            for (size_t d = 0; d < 6; d++)
                J[d * width + c] += load->Q[6 * i + d] * u;
        }
    for (size_t a = 0; a < width; a++)
        for (size_t b = 0; b < width; b++)
            for (size_t d = 0; d < 36; d++)
                A[a * width + b] += load->I6[d] * J[d / 6 * width + a] * J[d % 6 * width + b];
}

/* M + what the interfaces carry, in coordinates (r x r). A body that flies free answers also with its rigid motions a:
 * they have no stiffness, so that M_aq q + M_aa a = 0 in every vibration, which leaves M_qq - M_qa M_aa^-1 M_aq. */
static bough_status loaded_mass(const bo_cook *cook, double *M) {
    const size_t r = (size_t)cook->r, width = r + (cook->rigid ? 6 : 0);
    double *A = BO_NEW_ZEROS(cook->ctx, double, width *width + 6 * width);
    if (!A)
        return BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < width * width; i++) {
        size_t a = i / width, b = i % width;
        const double *W = cook->draft.W7 + 9 * (a * r + b);
        A[i] = a < r && b < r ? W[0] + W[4] + W[8] : a == b; /* rigid motions are orthonormal in it, also to U */
    }
    for (int32_t k = 0; k < cook->load_count && cook->loaded; k++)
        add_load(cook, &cook->loads[k], width, A + width * width, A);
    for (size_t p = width; p-- > r;)
        for (size_t a = 0; a < p; a++)
            for (size_t b = 0; b < p; b++)
                A[a * width + b] -= A[a * width + p] * A[p * width + b] / A[p * width + p];
    for (size_t i = 0; i < r * r; i++)
        M[i] = A[i / r * width + i % r];
    bo_free(cook->ctx, A);
    return BOUGH_OK;
}

/* K x = lambda M x by M = L L^T: eigenvalues of L^-1 K L^-T. */
static bough_status reduced_eigenvalues(bo_cook *cook, double *values) {
    size_t r = (size_t)cook->r;
    double *M = BO_NEW_ARRAY(cook->ctx, double, 2 * r * r + 2 * r);
    if (!M)
        return BOUGH_ERROR_MEMORY;
    double *A = M + r * r, *scratch = A + r * r;
    memcpy(A, cook->draft.K, r * r * sizeof *A);
    bough_status status = loaded_mass(cook, M);
    if (status == BOUGH_OK && !bo_cholesky_factor(cook->r, M))
        status = bo_fail(cook->ctx, BOUGH_ERROR_SINGULAR, "the reduced mass is not positive definite");
    if (status == BOUGH_OK)
        bo_cholesky_congruence(cook->r, M, A);
    if (status == BOUGH_OK && !bo_sym_eigen(cook->r, A, values, NULL, scratch))
        status = bo_fail(cook->ctx, BOUGH_NOT_FINITE, "the reduced stiffness is not finite");
    bo_free(cook->ctx, M);
    return status;
}

/* The full body's, for a basis that was made of others or none. */
static bough_status find_modes(bo_cook *cook) {
    enum { WANTED = 6 };
    int32_t most = cook->n - cook->held_count - (cook->rigid ? 6 : 0) - 1;
    int32_t count = cook->r < WANTED ? cook->r : WANTED;
    cook->modes_held = false;
    cook->mode_count = 0;
    return most < 1 ? BOUGH_OK : bo_cook_modes(cook, count < most ? count : most);
}

static bough_status frequencies(bo_cook *cook) {
    if (cook->modes_held || cook->mode_count == 0)
        BO_TRY(find_modes(cook));
    int32_t count = cook->mode_count < cook->r ? cook->mode_count : cook->r;
    double *full = BO_COOK_ARRAY(cook, double, count), *reduced = BO_COOK_ARRAY(cook, double, cook->r);
    if (!full || !reduced)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(reduced_eigenvalues(cook, reduced));
    for (int32_t k = 0; k < count; k++) {
        full[k] = sqrt(fmax(0, cook->eigenvalues[k])) / (2 * M_PI);
        reduced[k] = sqrt(fmax(0, reduced[k])) / (2 * M_PI);
    }
    cook->draft.quality.mode_count = count;
    cook->draft.quality.full_hz = full;
    cook->draft.quality.reduced_hz = reduced;
    return BOUGH_OK;
}

/* ---- all ---- */

bough_status bo_cook_quality(bo_cook *cook) {
    if (cook->r == 0)
        return BOUGH_OK;
    work w = {0};
    bough_status status = make_work(cook, &w);
    if (status == BOUGH_OK)
        status = frequencies(cook);
    if (status == BOUGH_OK)
        status = bo_cook_wrench_error(cook);
    if (status == BOUGH_OK)
        status = bo_cook_joints(cook);
    if (status == BOUGH_OK)
        status = random_poses(cook, &w);
    if (status == BOUGH_OK)
        status = gravity_pose(cook, &w);
    if (status == BOUGH_OK)
        status = impulse_poses(cook, &w);
    free_work(cook->ctx, &w);
    return status;
}
