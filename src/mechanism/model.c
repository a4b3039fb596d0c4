/* From statics to a reduced model: rank, stiffness, consistent mass and damping, maps to all links.
 * docs/theory/mechanism.md, "The reduced model". */
#include "mechanism/internal.h"
#include "mechanism/links.h"

#include "dense/symmetric_eigen.h"

#include <string.h>

#define MODEL_COOKIE 0xB0061065u
enum { MOST_AUTOMATIC = 16 }; /* internal modes that are added by themselves */
#define RIGID 1e-10           /* against the joints' own compliance: what loops leave by rounding alone */

bough_mechanism_model_def bough_default_mechanism_model_def(void) {
    return (bough_mechanism_model_def){.cookie = MODEL_COOKIE, .rank_tolerance = 1e-8, .frequency_tolerance = 0.01};
}

/* ---- small products ---- */

/* C (rows x columns) += A (inner x rows)^T B (inner x columns) */
static void add_tmul(int32_t rows, int32_t columns, int32_t inner, const double *A, const double *B, double *C) {
    for (int32_t k = 0; k < inner; k++)
        for (int32_t i = 0; i < rows; i++) {
            const double a = A[(size_t)k * (size_t)rows + (size_t)i];
            double *restrict c = C + (size_t)i * (size_t)columns;
            const double *restrict b = B + (size_t)k * (size_t)columns;
            for (int32_t j = 0; j < columns; j++)
                c[j] += a * b[j];
        }
}
/* C (rows x columns) = A (rows x inner) B (inner x columns) */
static void multiply(int32_t rows, int32_t columns, int32_t inner, const double *A, const double *B, double *C) {
    memset(C, 0, (size_t)rows * (size_t)columns * sizeof(double));
    for (int32_t i = 0; i < rows; i++)
        for (int32_t k = 0; k < inner; k++) {
            const double a = A[(size_t)i * (size_t)inner + (size_t)k];
            double *restrict c = C + (size_t)i * (size_t)columns;
            const double *restrict b = B + (size_t)k * (size_t)columns;
            for (int32_t j = 0; j < columns; j++)
                c[j] += a * b[j];
        }
}
/* P^T A P for A (rank x rank), P (rank x n); scratch: rank x n */
static void spread_out(int32_t rank, int32_t n, const double *A, const double *P, double *scratch, double *out) {
    multiply(rank, n, rank, A, P, scratch);
    memset(out, 0, (size_t)n * (size_t)n * sizeof(double));
    add_tmul(n, n, rank, P, scratch, out);
}

/* ---- rank ---- */

/* Compliance of the joints themselves, scaled as S C S is. */
static double joint_compliance(const bough_mechanism *m) {
    double most = 0;
    for (int32_t j = 0; j < m->def.joint_count; j++) {
        const bo_mechanism_joint *joint = &m->joints[j];
        for (int k = 0; k < joint->freedoms; k++) {
            const bool slides = bo_joint_slides(joint->kind, k);
            most = fmax(most, joint->compliance[(joint->freedoms + 1) * k] / (slides ? m->radius * m->radius : 1));
        }
    }
    return most;
}

/* S C S = V diag(lambda) V^T with S = diag(1/r, 1/r, 1/r, 1, 1, 1): Q = S^-1 V, P = V^T S of the directions kept, in
 * which C = Q lambda Q^T and K = P^T lambda^-1 P. */
static bough_status find_rank(bough_context *ctx, const bough_mechanism *m, double tolerance, double *scratch,
                              bough_mechanism_model *model) {
    const int32_t n = 6 * model->end_effector_count;
    const size_t size = (size_t)n * (size_t)n;
    double *A = scratch, *V = A + size, *values = V + size;
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            const double s = (i % 6 < 3 ? 1 / m->radius : 1) * (j % 6 < 3 ? 1 / m->radius : 1);
            A[i * n + j] = 0.5 * s * (model->C[i * n + j] + model->C[j * n + i]);
        }
    if (!bo_sym_eigen(n, A, values, V, values + n))
        return bo_fail(ctx, BOUGH_NOT_FINITE, "the compliance of the end effectors is not finite");
    const double most = values[n - 1];
    if (!(most > RIGID * joint_compliance(m)))
        return bo_fail(
            ctx, BOUGH_ERROR_SINGULAR,
            "no wrench moves the end effectors: the loops of the mechanism leave them no freedom; end effectors "
            "on other links, or joints with more freedoms, would");
    model->rank = 0;
    for (int32_t k = n - 1; k >= 0 && values[k] > tolerance * most; k--)
        model->compliances[model->rank++] = values[k];
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < model->rank; k++) {
            const double v = V[i * n + n - 1 - k], s = i % 6 < 3 ? 1 / m->radius : 1;
            model->Q[i * model->rank + k] = v / s;
            model->P[k * n + i] = v * s;
        }
    return BOUGH_OK;
}

/* ---- inertia ---- */

/* [m 1, -m c~; m c~, I - m c~ c~] (6 x 6) */
static void link_inertia(const bough_rigid_body_def *link, double M[36]) {
    const bo_mat3 c = bo_hat(bo_load3(link->centre)), cc = bo_mat_mul(c, c);
    memset(M, 0, 36 * sizeof(double));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            M[6 * i + j] = i == j ? link->mass : 0;
            M[6 * i + 3 + j] = -link->mass * c.m[3 * i + j];
            M[6 * (3 + i) + j] = link->mass * c.m[3 * i + j];
            M[6 * (3 + i) + 3 + j] =
                0.5 * (link->inertia[3 * i + j] + link->inertia[3 * j + i]) - link->mass * cc.m[3 * i + j];
        }
}

static void ad_matrix(bo_se3 g, double A[36]) {
    for (int c = 0; c < 6; c++) {
        double x[6] = {0};
        x[c] = 1;
        bo_store_twist(x, bo_ad(g, bo_load_twist(x)));
        for (int r = 0; r < 6; r++)
            A[6 * r + c] = x[r];
    }
}

/* Psi_z (6 x rank) of one link into M_z, the base's inertia, and both weights. */
static void add_link(const bough_mechanism *m, int32_t i, const double *Psi, double *scratch,
                     bough_mechanism_model *model) {
    const int32_t rank = model->rank;
    double M[36], Ad[36], MAd[36], pull[18];
    const bo_se3 from_base =
        bo_se3_mul(bo_se3_inverse(bo_pose(&m->links[i].pose)), bo_pose(&m->links[m->def.base].pose));
    link_inertia(&m->links[i], M);
    ad_matrix(from_base, Ad);
    multiply(6, rank, 6, M, Psi, scratch);
    add_tmul(rank, rank, 6, Psi, scratch, model->Mz);
    add_tmul(6, rank, 6, Ad, scratch, model->M_coupling);
    multiply(6, 6, 6, M, Ad, MAd);
    add_tmul(6, 6, 6, Ad, MAd, model->M_base);
    multiply(6, 3, 3,
             (double[18]){M[0], M[1], M[2], M[6], M[7], M[8], M[12], M[13], M[14], M[18], M[19], M[20], M[24], M[25],
                          M[26], M[30], M[31], M[32]},
             from_base.R.m, pull); /* M [g; 0] by gravity in the base's axes */
    add_tmul(rank, 3, 6, Psi, pull, model->weight);
    add_tmul(6, 3, 6, Ad, pull, model->base_weight);
}

/* ---- maps ---- */

/* Psi_z = twists S V lambda^-1 = twists P^T lambda^-1 with the twists of modes beside, and the constant twist of the
 * offsets. */
static void map_link(const bough_mechanism *m, const bough_mechanism_statics *statics, const bo_internal *internal,
                     int32_t i, const double *down, double *scratch, bough_mechanism_model *model) {
    const int32_t rank = model->rank, n = 6 * model->end_effector_count;
    double *Psi = scratch, *more = Psi + 6 * (size_t)rank;
    multiply(6, rank, n, statics->twists + 6 * (size_t)i * (size_t)n, down, Psi);
    for (int32_t k = 0; k < internal->count; k++)
        for (int r = 0; r < 6; r++)
            Psi[r * rank + rank - internal->count + k] =
                internal->twists[6 * ((size_t)k * (size_t)model->link_count + (size_t)i) + (size_t)r];
    add_link(m, i, Psi, more, model);
    multiply(6, n, rank, Psi, model->P, model->Psi + 6 * (size_t)i * (size_t)n);
    const bo_se3 rest = bo_pose(&m->links[i].pose);
    double twist[6];
    bo_lanes_rest(bo_mechanism_lanes_of(model), i, rest);
    for (int32_t c = 0; c <= model->motor_count; c++) { /* beside what end effectors that go along do */
        const double *all =
            c ? statics->motor_twists + 6 * (size_t)(c - 1) * (size_t)model->link_count : statics->offset_twists;
        const double *z = c ? model->motor_z + (size_t)(c - 1) * (size_t)rank : model->rest_z;
        for (int r = 0; r < 6; r++) {
            twist[r] = all[6 * (size_t)i + (size_t)r];
            for (int32_t k = 0; k < rank; k++)
                twist[r] -= Psi[r * rank + k] * z[k];
        }
        bo_lanes_put(bo_mechanism_lanes_of(model), i, c ? rank + c : 0, rest.R, twist);
    }
    for (int32_t k = 0; k < rank; k++) {
        for (int r = 0; r < 6; r++)
            twist[r] = Psi[r * rank + k];
        bo_lanes_put(bo_mechanism_lanes_of(model), i, 1 + k, rest.R, twist);
    }
}

static void damp(const bough_mechanism *m, const bough_mechanism_statics *statics, const bo_internal *internal,
                 const double *down, double *scratch, bough_mechanism_model *model) {
    const int32_t rank = model->rank, n = 6 * model->end_effector_count;
    for (int32_t j = 0; j < m->def.joint_count; j++)
        for (int a = 0; a < m->joints[j].freedoms; a++) {
            const double d = m->joints[j].damping[a];
            if (d == 0)
                continue;
            double *theta = scratch, *scaled = scratch + rank;
            multiply(1, rank, n, statics->coordinates + (size_t)(m->joints[j].offset + a) * (size_t)n, down, theta);
            for (int32_t k = 0; k < internal->count; k++)
                theta[rank - internal->count + k] =
                    internal->coordinates[(size_t)k * (size_t)m->coordinate_count + (size_t)(m->joints[j].offset + a)];
            for (int32_t k = 0; k < rank; k++)
                scaled[k] = d * theta[k];
            add_tmul(rank, rank, 1, theta, scaled, model->Dz);
        }
}

/* Computes the motion of the end effectors by offsets: xi (n), z (rank). */
static void end_effectors_by(const bough_mechanism_model *model, const double *twists, double *xi, double *z) {
    for (int32_t e = 0; e < model->end_effector_count; e++)
        bo_store_twist(xi + 6 * (size_t)e, bo_ad(bo_se3_inverse(bo_pose(&model->end_effectors[e].pose)),
                                                 bo_load_twist(twists + 6 * (size_t)model->end_effectors[e].body)));
    multiply(model->rank, 1, 6 * model->end_effector_count, model->P, xi, z);
}

static void rest_of_springs(const bough_mechanism_statics *statics, bough_mechanism_model *model) {
    const size_t links = (size_t)model->link_count, n = 6 * (size_t)model->end_effector_count;
    memcpy(model->rest_twists, statics->offset_twists, 6 * links * sizeof(double));
    end_effectors_by(model, statics->offset_twists, model->rest_xi, model->rest_z);
    for (size_t k = 0; k < (size_t)model->motor_count; k++)
        end_effectors_by(model, statics->motor_twists + 6 * links * k, model->motor_xi + n * k,
                         model->motor_z + (size_t)model->rank * k);
}

/* scratch: the most of what the parts above ask for, with N = n + internal modes */
static size_t scratch_size(size_t N) {
    return 2 * N * N + 20 * N;
}

/* Modes become the last of z: Q (n x rank) gets columns of zeros, P already has such rows. */
static void append_modes(const bo_internal *internal, bough_mechanism_model *model) {
    const int32_t n = 6 * model->end_effector_count, directions = model->rank, rank = directions + internal->count;
    for (int32_t i = n - 1; i >= 0; i--)
        for (int32_t k = rank - 1; k >= 0; k--)
            model->Q[i * rank + k] = k < directions ? model->Q[i * directions + k] : 0;
    for (int32_t k = 0; k < internal->count; k++)
        model->compliances[directions + k] = 1 / internal->squares[k];
    model->internal_count = internal->count, model->rank = rank;
}

static bough_status fill(bough_context *ctx, const bough_mechanism *m, const bough_mechanism_statics *statics,
                         double tolerance, bo_internal *internal, double *scratch, bough_mechanism_model *model) {
    const int32_t n = 6 * model->end_effector_count;
    memcpy(model->C, statics->C, (size_t)n * (size_t)n * sizeof(double));
    BO_TRY(find_rank(ctx, m, tolerance, scratch, model));
    BO_TRY(bo_internal_find(ctx, m, statics, model, internal));
    append_modes(internal, model);
    const int32_t rank = model->rank;
    double *down = scratch, *more = down + (size_t)n * (size_t)rank;
    BO_TRY(bo_lanes_create(ctx, model->link_count, rank + model->motor_count, &((bo_mechanism_model *)model)->lanes));
    for (int32_t k = 0; k < rank; k++) {
        model->Kz[k] = 1 / model->compliances[k];
        for (int32_t i = 0; i < n; i++)
            down[i * rank + k] = model->P[k * n + i] * model->Kz[k];
    }
    rest_of_springs(statics, model);
    for (int32_t i = 0; i < model->link_count; i++)
        map_link(m, statics, internal, i, down, more, model);
    damp(m, statics, internal, down, more, model);
    multiply(n, n, rank, down, model->P, model->K);
    spread_out(rank, n, model->Mz, model->P, more, model->M);
    spread_out(rank, n, model->Dz, model->P, more, model->D);
    return BOUGH_OK;
}

/* ---- all of it ---- */

void bough_mechanism_model_destroy(bough_context *ctx, bough_mechanism_model *model) {
    if (!model)
        return;
    void *const blocks[] = {model->end_effectors,
                            model->rest,
                            model->compliances,
                            model->C,
                            model->K,
                            model->M,
                            model->D,
                            model->Q,
                            model->P,
                            model->Psi,
                            model->rest_xi,
                            model->rest_z,
                            model->motors,
                            model->motor_xi,
                            model->motor_z,
                            model->rest_twists,
                            model->M_base,
                            model->M_coupling,
                            model->Mz,
                            model->Dz,
                            model->Kz,
                            model->weight,
                            model->base_weight};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        bo_free(ctx, blocks[k]);
    bo_lanes_destroy(ctx, bo_mechanism_lanes_of(model));
    bo_free(ctx, model);
}

typedef struct {
    double **array;
    size_t count;
} room;

/* The numbers of a model, and how many there are of each kind. */
enum { ROOMS = 20 };
static void list_rooms(bough_mechanism_model *model, room all[ROOMS]) {
    const size_t n = 6 * (size_t)model->end_effector_count, links = (size_t)model->link_count;
    const size_t N = n + (size_t)model->internal_count; /* at least the rank */
    const room list[ROOMS] = {{&model->compliances, N},
                              {&model->C, n * n},
                              {&model->K, n * n},
                              {&model->M, n * n},
                              {&model->D, n * n},
                              {&model->Q, n * N},
                              {&model->P, n * N},
                              {&model->Psi, 6 * links * n},
                              {&model->rest_xi, n},
                              {&model->rest_z, N},
                              {&model->motor_xi, n * (size_t)model->motor_count},
                              {&model->motor_z, N * (size_t)model->motor_count},
                              {&model->rest_twists, 6 * links},
                              {&model->M_base, 36},
                              {&model->M_coupling, 6 * N},
                              {&model->Mz, N * N},
                              {&model->Dz, N * N},
                              {&model->Kz, N},
                              {&model->weight, 3 * N},
                              {&model->base_weight, 18}};
    memcpy(all, list, sizeof list);
}

static bool make_room(bough_context *ctx, bough_mechanism_model *model) {
    room all[ROOMS];
    list_rooms(model, all);
    for (size_t k = 0; k < ROOMS; k++)
        if (!(*all[k].array = BO_NEW_ZEROS(ctx, double, all[k].count)))
            return false;
    model->end_effectors = BO_NEW_ARRAY(ctx, bough_frame_def, model->end_effector_count);
    model->rest = BO_NEW_ARRAY(ctx, bough_pose, model->link_count);
    model->motors = BO_NEW_ARRAY(ctx, int32_t, model->motor_count);
    return model->end_effectors && model->rest && model->motors;
}

size_t bough_mechanism_model_memory(const bough_mechanism_model *model) {
    bough_mechanism_model shape = *model;
    room all[ROOMS];
    size_t numbers = 0;
    list_rooms(&shape, all);
    for (size_t k = 0; k < ROOMS; k++)
        numbers += all[k].count;
    return sizeof(bo_mechanism_model) + numbers * sizeof(double) +
           (size_t)model->end_effector_count * sizeof *model->end_effectors +
           (size_t)model->link_count * sizeof *model->rest + (size_t)model->motor_count * sizeof *model->motors +
           bo_lanes_memory(bo_mechanism_lanes_of(model));
}

static bough_status make(bough_context *ctx, const bough_mechanism *mechanism, const bough_mechanism_statics *statics,
                         double tolerance, int32_t modes, bough_mechanism_model **model) {
    bo_mechanism_model *whole = BO_NEW(ctx, bo_mechanism_model);
    *model = NULL;
    if (!whole)
        return bo_fail_memory(ctx);
    bough_mechanism_model *made = &whole->seen;
    made->end_effector_count = statics->end_effector_count, made->link_count = mechanism->def.link_count;
    made->base = mechanism->def.base, made->free_base = mechanism->def.free_base;
    made->radius = mechanism->radius, made->motor_count = statics->motor_count;
    made->internal_count = modes; /* at most */
    made->frequency_error = NAN;
    bo_internal internal = {0};
    double *scratch = BO_NEW_ARRAY(ctx, double, scratch_size(6 * (size_t)statics->end_effector_count + (size_t)modes));
    bough_status status = BOUGH_OK;
    if (!scratch || !make_room(ctx, made)) {
        status = bo_fail_memory(ctx);
    } else {
        memcpy(made->end_effectors, statics->end_effectors,
               (size_t)statics->end_effector_count * sizeof *made->end_effectors);
        for (int32_t k = 0; k < made->motor_count; k++)
            made->motors[k] = statics->motors[k];
        for (int32_t i = 0; i < made->link_count; i++)
            made->rest[i] = mechanism->links[i].pose;
        status = fill(ctx, mechanism, statics, tolerance, &internal, scratch, made);
    }
    bo_free(ctx, scratch);
    bo_internal_free(ctx, &internal);
    if (status != BOUGH_OK)
        bough_mechanism_model_destroy(ctx, made);
    else
        *model = made;
    return status;
}

/* By how much its lowest frequency lies above that of the whole mechanism; NAN where it has none. */
static bough_status find_error(bough_context *ctx, bough_mechanism_model *model, double whole) {
    double reduced;
    int32_t found;
    const bough_status status = bough_mechanism_model_frequencies(ctx, model, 1, &reduced, &found);
    model->frequency_error = status == BOUGH_OK && found > 0 ? reduced / whole - 1 : NAN;
    return status;
}

/* 1, 2, 4 ... modes, until the lowest frequency is near enough or there are no more. */
static bough_status add_modes(bough_context *ctx, const bough_mechanism *mechanism,
                              const bough_mechanism_statics *statics, const bough_mechanism_model_def *def,
                              bough_mechanism_model **model) {
    const int32_t most = mechanism->coordinate_count < MOST_AUTOMATIC ? mechanism->coordinate_count : MOST_AUTOMATIC;
    double whole;
    int32_t found, asked = 0;
    BO_TRY(bough_mechanism_frequencies(ctx, mechanism, 1, &whole, &found));
    if (found == 0)
        return BOUGH_OK;
    BO_TRY(find_error(ctx, *model, whole));
    while ((*model)->frequency_error > def->frequency_tolerance && (*model)->internal_count == asked && asked < most) {
        bough_mechanism_model *richer;
        asked = asked == 0 ? 1 : 2 * asked < most ? 2 * asked : most;
        BO_TRY(make(ctx, mechanism, statics, def->rank_tolerance, asked, &richer));
        bough_mechanism_model_destroy(ctx, *model);
        *model = richer;
        BO_TRY(find_error(ctx, *model, whole));
    }
    return BOUGH_OK;
}

/* If the whole mechanism's frequency is not found, or no model with more modes, the present model has to do. */
static bough_status make_automatic(bough_context *ctx, const bough_mechanism *mechanism,
                                   const bough_mechanism_statics *statics, const bough_mechanism_model_def *def,
                                   bough_mechanism_model **model) {
    BO_TRY(make(ctx, mechanism, statics, def->rank_tolerance, 0, model));
    const bough_status status = add_modes(ctx, mechanism, statics, def, model);
    if (status != BOUGH_ERROR_MEMORY && status != BOUGH_CANCELLED)
        return BOUGH_OK;
    bough_mechanism_model_destroy(ctx, *model);
    *model = NULL;
    return status;
}

bough_status bough_mechanism_model_create(bough_context *ctx, const bough_mechanism *mechanism,
                                          const bough_mechanism_statics *statics, const bough_mechanism_model_def *def,
                                          bough_mechanism_model **model) {
    const bough_mechanism_model_def defaults = bough_default_mechanism_model_def();
    *model = NULL;
    def = def ? def : &defaults;
    if (def->cookie != MODEL_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the model def was not made by bough_default_mechanism_model_def()");
    if (!(def->rank_tolerance > 0 && def->rank_tolerance < 1))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the rank tolerance is %g; it must be between 0 and 1",
                       def->rank_tolerance);
    if (!(def->frequency_tolerance > 0))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the tolerance of the lowest frequency is %g; it must be above 0",
                       def->frequency_tolerance);
    if (def->internal_modes == BOUGH_INTERNAL_AUTOMATIC)
        return make_automatic(ctx, mechanism, statics, def, model);
    if (def->internal_modes < 0 || def->internal_modes > mechanism->coordinate_count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%d internal modes were asked for; the mechanism can have 0 to %d",
                       def->internal_modes, mechanism->coordinate_count);
    return make(ctx, mechanism, statics, def->rank_tolerance, def->internal_modes, model);
}
