/* Eigenvalues near a shift: known spectra, many copies, singular masses, all of a small space, several threads. */
#include "test.h"

#include "dense/symmetric_eigen.h"
#include "linalg/eigen.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* K x = lambda M x with a sparse K and a diagonal M. */
typedef struct {
    bough_sparse *K;
    double *mass;
    bo_factor *factor; /* of K - shift M */
    double shift;
} problem;

typedef struct {
    const double *mass;
    int32_t size;
} diagonal;

static void multiply(void *data, const double *x, double *y, int32_t count) {
    const diagonal *d = data;
    for (int32_t c = 0; c < count; c++)
        for (int32_t i = 0; i < d->size; i++)
            y[c * d->size + i] = d->mass[i] * x[c * d->size + i];
}

/* `pieces` separate chains of n unit springs' ends, held at both ends or free; unit masses. Eigenvalues of a piece:
 * 4 sin^2(k pi / 2(n+1)), k = 1 .. n (held), 4 sin^2(k pi / 2n), k = 0 .. n-1 (free). */
static problem chains(bough_context *ctx, int32_t pieces, int32_t n, bool held) {
    problem p = {0};
    int32_t size = pieces * n, at = 0;
    check_ok(ctx, bo_sparse_create(ctx, size, 2 * (int64_t)size, &p.K));
    p.mass = calloc((size_t)size, sizeof *p.mass);
    for (int32_t j = 0; j < size; j++) {
        bool first = j % n == 0, last = j % n == n - 1;
        p.mass[j] = 1;
        p.K->column_start[j] = at;
        p.K->rows[at] = j, p.K->values[at++] = held ? 2 : 2 - first - last;
        if (!last)
            p.K->rows[at] = j + 1, p.K->values[at++] = -1;
    }
    p.K->column_start[size] = at;
    return p;
}

static double chain_value(int32_t n, bool held, int32_t k) {
    return 4 * pow(sin(held ? (k + 1) * M_PI / (2 * (n + 1)) : k * M_PI / (2 * n)), 2);
}

/* The matrix with all of its lower triangle; `dense` is row-major. */
static problem full(bough_context *ctx, int32_t n, const double *dense) {
    problem p = {0};
    int32_t at = 0;
    check_ok(ctx, bo_sparse_create(ctx, n, (int64_t)n * (n + 1) / 2, &p.K));
    p.mass = calloc((size_t)n, sizeof *p.mass);
    for (int32_t j = 0; j < n; j++) {
        p.mass[j] = 1;
        p.K->column_start[j] = at;
        for (int32_t i = j; i < n; i++)
            p.K->rows[at] = i, p.K->values[at++] = dense[i * n + j];
    }
    p.K->column_start[n] = at;
    return p;
}

static void factorise(bough_context *ctx, problem *p, double shift) {
    bough_sparse *shifted;
    check_ok(ctx, bo_sparse_create_like(ctx, p->K, &shifted));
    bo_sparse_combine(shifted, 0, 1, p->K);
    for (int32_t j = 0; j < p->K->size; j++)
        shifted->values[p->K->column_start[j]] -= shift * p->mass[j];
    check_ok(ctx, bo_factor_analyse(ctx, shifted, 1, NULL, &p->factor));
    check_ok(ctx, bo_factor_numeric(ctx, p->factor, shifted));
    bough_sparse_destroy(ctx, shifted);
    p->shift = shift;
}

static void discard(bough_context *ctx, problem *p) {
    bo_factor_destroy(ctx, p->factor);
    bough_sparse_destroy(ctx, p->K);
    free(p->mass);
}

static bough_status solve(bough_context *ctx, const problem *p, int32_t rank, int32_t count, double *values,
                          double *vectors) {
    diagonal d = {p->mass, p->K->size};
    bo_operator M = {.multiply = multiply, .data = &d, .size = d.size, .rank = rank};
    return bo_eigen_shift_invert(ctx, p->factor, &M, p->shift, count, 1e-12, values, vectors);
}

/* Ascending, M-orthonormal, and K x = lambda M x, where rounding is that of a K of size `scale`. */
static void check_pairs(const problem *p, int32_t count, const double *values, const double *vectors, double scale) {
    size_t n = (size_t)p->K->size;
    double *Kx = calloc(n, sizeof *Kx), heaviest = 0;
    for (size_t i = 0; i < n; i++)
        heaviest = fmax(heaviest, p->mass[i]);
    for (size_t a = 0; a < (size_t)count; a++) {
        const double *x = vectors + a * n;
        check(a == 0 || values[a] >= values[a - 1]);
        for (size_t b = 0; b <= a; b++) {
            double product = 0;
            for (size_t i = 0; i < n; i++)
                product += x[i] * p->mass[i] * vectors[b * n + i];
            check_near(product, a == b, 1e-12);
        }
        bo_sparse_mul(p->K, x, Kx, false);
        for (size_t i = 0; i < n; i++)
            check_near(Kx[i] - values[a] * p->mass[i] * x[i], 0,
                       1e-9 * sqrt(heaviest) * (values[a] - p->shift) + 1e-13 * scale);
    }
    free(Kx);
}

static void a_chain_has_its_known_frequencies(void **state) {
    (void)state;
    enum { N = 700, COUNT = 60 };
    bough_context *ctx = test_context(1);
    problem p = chains(ctx, 1, N, true);
    factorise(ctx, &p, 0);
    double values[COUNT], *vectors = calloc((size_t)COUNT * N, sizeof *vectors);
    for (int32_t count = 1; count <= COUNT; count += count < 12 ? 1 : 16) {
        check_ok(ctx, solve(ctx, &p, N, count, values, vectors));
        for (int32_t k = 0; k < count; k++)
            check_near(values[k] / chain_value(N, true, k), 1, 1e-9); /* K's rounding: 1e-16 of 4, against 2e-5 */
        check_pairs(&p, count, values, vectors, 1);
    }
    free(vectors);
    discard(ctx, &p);
    bough_context_destroy(ctx);
}

/* Every eigenvalue as often as there are pieces, more often than a block has vectors; the first is zero. */
static void separate_pieces_are_all_found(void **state) {
    (void)state;
    enum { N = 40 };
    static const int32_t pieces[] = {1, 2, 6, 8, 9, 17, 40};
    bough_context *ctx = test_context(1);
    for (size_t t = 0; t < sizeof pieces / sizeof *pieces; t++)
        for (int free_ends = 0; free_ends <= 1; free_ends++) {
            problem p = chains(ctx, pieces[t], N, !free_ends);
            factorise(ctx, &p, free_ends ? -1e-4 : 0);
            int32_t size = p.K->size;
            for (int32_t count = pieces[t] + 1; count <= 5 * pieces[t] / 2 + 2; count += pieces[t] / 2 + 1) {
                double *values = calloc((size_t)count, sizeof *values);
                double *vectors = calloc((size_t)count * (size_t)size, sizeof *vectors);
                check_ok(ctx, solve(ctx, &p, size, count, values, vectors));
                for (int32_t k = 0; k < count; k++)
                    check_near(values[k], chain_value(N, !free_ends, k / pieces[t]), 1e-13 + 1e-11 * values[k]);
                check_pairs(&p, count, values, vectors, 1);
                free(values), free(vectors);
            }
            discard(ctx, &p);
        }
    bough_context_destroy(ctx);
}

/* lambda_k = k^4 as in a bending beam: the high ones are as good as the low ones. */
static void steep_spectra_keep_their_digits(void **state) {
    (void)state;
    enum { N = 900, COUNT = 80 };
    bough_context *ctx = test_context(1);
    problem p = chains(ctx, N, 1, true);
    for (int32_t j = 0; j < N; j++)
        p.K->values[j] = pow(1 + (j * 577) % N, 4); /* 577 and N have no common divisor */
    factorise(ctx, &p, 0);
    double values[COUNT], *vectors = calloc((size_t)COUNT * N, sizeof *vectors);
    check_ok(ctx, solve(ctx, &p, N, COUNT, values, vectors));
    for (int32_t k = 0; k < COUNT; k++)
        check_near(values[k] / pow(k + 1, 4), 1, 1e-12);
    check_pairs(&p, COUNT, values, vectors, 1);
    free(vectors);
    discard(ctx, &p);
    bough_context_destroy(ctx);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Clusters of random width (down to exact copies) and number. */
static void draw_spectrum(test_random *r, int32_t n, double *lambda) {
    for (int32_t i = 0; i < n;) {
        double centre = exp(test_uniform(r, -4, 6)), width = pow(10, test_uniform(r, -18, 0));
        for (int32_t copies = 1 + (int32_t)test_uniform(r, 0, 24); copies > 0 && i < n; copies--)
            lambda[i++] = centre * (1 + width * test_uniform(r, 0, 1));
    }
    qsort(lambda, (size_t)n, sizeof *lambda, compare);
}

/* K = D^1/2 Q diag(lambda) Q^T D^1/2 and M = D, where Q is a product of reflections. */
static problem draw_problem(bough_context *ctx, test_random *r, int32_t n, const double *lambda) {
    double *A = calloc((size_t)(n * n), sizeof *A), *v = calloc((size_t)n, sizeof *v),
           *mass = calloc((size_t)n, sizeof *mass);
    for (int32_t i = 0; i < n; i++) {
        A[i * n + i] = lambda[i];
        mass[i] = exp(test_uniform(r, -3, 3));
    }
    for (int reflection = 0; reflection < 3; reflection++) {
        double norm2 = 0;
        for (int32_t i = 0; i < n; i++) {
            v[i] = test_uniform(r, -1, 1);
            norm2 += v[i] * v[i];
        }
        for (int side = 0; side < 2; side++) /* rows, then columns */
            for (int32_t i = 0; i < n; i++) {
                double s = 0;
                for (int32_t j = 0; j < n; j++)
                    s += A[side ? i * n + j : j * n + i] * v[j];
                for (int32_t j = 0; j < n; j++)
                    A[side ? i * n + j : j * n + i] -= 2 / norm2 * s * v[j];
            }
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            A[i * n + j] *= sqrt(mass[i] * mass[j]);
    problem p = full(ctx, n, A);
    memcpy(p.mass, mass, (size_t)n * sizeof *mass);
    free(A), free(v), free(mass);
    return p;
}

static void clustered_spectra_are_complete(void **state) {
    (void)state;
    enum { N = 150 };
    bough_context *ctx = test_context(1);
    double lambda[N], values[N], *vectors = calloc(N * N, sizeof *vectors);
    for (uint64_t seed = 1; seed <= (test_long() ? 2000 : 60); seed++) {
        test_random r = {seed};
        draw_spectrum(&r, N, lambda);
        problem p = draw_problem(ctx, &r, N, lambda);
        factorise(ctx, &p, seed % 2 ? 0 : -0.1);
        int32_t count = 1 + (int32_t)test_uniform(&r, 0, seed % 3 ? 40 : N - 1);
        check_ok(ctx, solve(ctx, &p, N, count, values, vectors));
        for (int32_t k = 0; k < count; k++)
            check_near(values[k], lambda[k], 1e-11 * lambda[k] + 1e-13 * lambda[N - 1]);
        check_pairs(&p, count, values, vectors, 30 * lambda[N - 1]);
        discard(ctx, &p);
    }
    free(vectors);
    bough_context_destroy(ctx);
}

/* The inverse of the small problem by the dense solver, from columns K^-1 M e_j in the norm of M. */
static void dense_values(bough_context *ctx, const problem *p, double *values) {
    size_t n = (size_t)p->K->size;
    double *A = calloc(n * n, sizeof *A), *scratch = calloc(2 * n, sizeof *scratch);
    for (size_t j = 0; j < n; j++)
        A[j * n + j] = sqrt(p->mass[j]);
    check_ok(ctx, bo_factor_solve(ctx, p->factor, A, A, (int32_t)n));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            A[i * n + j] *= -sqrt(p->mass[j]);
    check(bo_sym_eigen((int)n, A, values, NULL, scratch));
    for (size_t i = 0; i < n; i++)
        values[i] = p->shift - 1 / values[i];
    free(A), free(scratch);
}

/* Any count up to the rank less one, for all small sizes, with every third unknown massless or none. */
static void small_spaces_are_exhausted(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    double expected[40], values[40], vectors[40 * 40];
    for (int32_t n = 2; n <= 40; n += n < 20 ? 1 : 10)
        for (int massless = 0; massless <= 1; massless++)
            for (int shifted = 0; shifted <= 1; shifted++) {
                problem p = chains(ctx, 1, n, !shifted);
                int32_t rank = 0;
                for (int32_t i = 0; i < n; i++) {
                    p.mass[i] = massless && i % 3 == 0 ? 0 : 1 + i % 5;
                    rank += p.mass[i] > 0;
                }
                factorise(ctx, &p, -0.1 * shifted);
                dense_values(ctx, &p, expected);
                for (int32_t count = 1; count < rank; count++) {
                    check_ok(ctx, solve(ctx, &p, rank, count, values, vectors));
                    for (int32_t k = 0; k < count; k++)
                        check_near(values[k], expected[k], 1e-12);
                    check_pairs(&p, count, values, vectors, 10);
                }
                check_fails(ctx, solve(ctx, &p, rank, rank, values, vectors), BOUGH_ERROR_ARGUMENT,
                            "cannot be computed");
                if (rank < n) { /* the caller knew an upper bound only */
                    if (rank < n - 1)
                        check_fails(ctx, solve(ctx, &p, n, rank + 1, values, vectors), BOUGH_NO_CONVERGENCE,
                                    "too low a rank");
                    check_ok(ctx, solve(ctx, &p, n, rank, values, vectors));
                    for (int32_t k = 0; k < rank; k++)
                        check_near(values[k], expected[k], 1e-12);
                    check_pairs(&p, rank, values, vectors, 10);
                }
                discard(ctx, &p);
            }
    bough_context_destroy(ctx);
}

/* Masses on a few unknowns of many. */
static void a_few_masses_give_as_few_modes(void **state) {
    (void)state;
    enum { N = 600, MASSES = 12 };
    bough_context *ctx = test_context(1);
    problem p = chains(ctx, 1, N, true);
    for (int32_t i = 0; i < N; i++)
        p.mass[i] = i % 50 == 25 ? 3 : 0;
    factorise(ctx, &p, 0);
    double values[MASSES + 1], *vectors = calloc((size_t)(MASSES + 1) * N, sizeof *vectors);
    check_ok(ctx, solve(ctx, &p, N, MASSES, values, vectors));
    check_pairs(&p, MASSES, values, vectors, 1);
    check_fails(ctx, solve(ctx, &p, N, MASSES + 1, values, vectors), BOUGH_NO_CONVERGENCE, "too low a rank");
    free(vectors);
    discard(ctx, &p);
    bough_context_destroy(ctx);
}

static void all_eigenvalues_may_be_equal(void **state) {
    (void)state;
    enum { N = 300 };
    bough_context *ctx = test_context(1);
    problem p = chains(ctx, N, 1, true);
    factorise(ctx, &p, 0);
    double values[N], *vectors = calloc((size_t)N * N, sizeof *vectors);
    for (int32_t count = 1; count < N; count = count < 4 ? count + 1 : 2 * count) {
        check_ok(ctx, solve(ctx, &p, N, count, values, vectors));
        for (int32_t k = 0; k < count; k++)
            check_near(values[k], 2, 1e-12);
        check_pairs(&p, count, values, vectors, 1);
    }
    free(vectors);
    discard(ctx, &p);
    bough_context_destroy(ctx);
}

static bool stop_after(void *user, const bough_progress *progress) {
    check(strcmp(progress->what, "eigenvalues") == 0);
    return --*(int *)user > 0;
}

static void it_can_be_cancelled_and_run_out_of_memory(void **state) {
    (void)state;
    enum { N = 300, COUNT = 20 };
    double values[COUNT], *vectors = calloc((size_t)COUNT * N, sizeof *vectors);
    test_memory memory = {.fail_at = -1};
    int patience = 1 << 30;
    bough_context_def def = bough_default_context_def();
    def.allocate = test_allocate, def.reallocate = test_reallocate, def.release = test_give_back;
    def.memory_user = &memory;
    def.thread_count = 1;
    def.progress = stop_after, def.progress_user = &patience;
    bough_context *ctx = bough_context_create(&def);
    problem p = chains(ctx, 10, N / 10, true);
    factorise(ctx, &p, 0);
    long live = memory.live, before = memory.calls;
    check_ok(ctx, solve(ctx, &p, N, COUNT, values, vectors));
    long calls = memory.calls - before;
    int reports = (1 << 30) - patience;
    check_int(memory.live, live);
    check(calls > 5 && reports > 3);
    for (int k = 1; k <= reports; k++) {
        patience = k;
        check_fails(ctx, solve(ctx, &p, N, COUNT, values, vectors), BOUGH_CANCELLED, "cancelled");
        check_int(memory.live, live);
    }
    patience = 1 << 30;
    for (long k = 0; k < calls; k++) {
        memory.fail_at = memory.calls + k;
        check_fails(ctx, solve(ctx, &p, N, COUNT, values, vectors), BOUGH_ERROR_MEMORY, "memory");
        check_int(memory.live, live);
    }
    memory.fail_at = -1;
    check_ok(ctx, solve(ctx, &p, N, COUNT, values, vectors));
    check_pairs(&p, COUNT, values, vectors, 1);
    discard(ctx, &p);
    bough_context_destroy(ctx);
    check_int(memory.live, 0);
    free(vectors);
}

/* Before it begins, with a sentence. In a process of its own, because the limit stays. */
static void a_search_that_cannot_fit_is_refused(void **state) {
    (void)state;
    if (TEST_SANITIZED)
        test_skip("a sanitizer's own memory counts against the limit on the address space");
    pid_t child = fork();
    check(child >= 0);
    if (child == 0) {
        enum { N = 100000, COUNT = 150 };
        double values[COUNT], *vectors = malloc((size_t)COUNT * N * sizeof *vectors);
        bough_context *ctx = test_context(1);
        problem p = chains(ctx, 1, N, true);
        factorise(ctx, &p, 0);
        long pages = 0;
        FILE *statm = fopen("/proc/self/statm", "r");
        check(statm && fscanf(statm, "%ld", &pages) == 1);
        fclose(statm);
        /* More than twice as many vectors as modes, and their products by M, take half a GB. */
        struct rlimit limit = {(rlim_t)(pages * sysconf(_SC_PAGESIZE) + (300 << 20)), RLIM_INFINITY};
        setrlimit(RLIMIT_AS, &limit);
        bough_status status = solve(ctx, &p, N, COUNT, values, vectors);
        const char *said = bough_message(ctx);
        bool refused = status == BOUGH_ERROR_MEMORY && strstr(said, "a search for eigenvalues with ") &&
                       strstr(said, " vectors of 100000 unknowns needs about 0.") && strstr(said, "ulimit -v");
        if (!refused)
            fprintf(stderr, "status %d: %s\n", status, said);
        bough_status fewer = solve(ctx, &p, N, 4, values, vectors); /* and nothing is broken */
        if (fewer != BOUGH_OK)
            fprintf(stderr, "status %d: %s\n", fewer, bough_message(ctx));
        discard(ctx, &p);
        bough_context_destroy(ctx);
        free(vectors);
        _exit(refused && fewer == BOUGH_OK ? 0 : 1);
    }
    int ended;
    check(waitpid(child, &ended, 0) == child);
    check_int(ended, 0);
}

/* One of two different problems, solved over and over with a context of its own. */
typedef struct {
    int32_t pieces;
    double values[24], vectors[24 * 600];
    bool same;
} worker;

static void work_once(worker *w) {
    bough_context *ctx = test_context(1);
    problem p = chains(ctx, w->pieces, 600 / w->pieces, false);
    factorise(ctx, &p, -1e-3);
    check_ok(ctx, solve(ctx, &p, 600, 24, w->values, w->vectors));
    discard(ctx, &p);
    bough_context_destroy(ctx);
}

static void *work(void *data) {
    worker *w = data, *again = malloc(sizeof *again);
    w->same = true;
    for (int repeat = 0; repeat < 10; repeat++) {
        *again = (worker){.pieces = w->pieces};
        work_once(again);
        w->same = w->same && memcmp(w->values, again->values, sizeof w->values) == 0 &&
                  memcmp(w->vectors, again->vectors, sizeof w->vectors) == 0;
    }
    free(again);
    return NULL;
}

static void threads_do_not_disturb_each_other(void **state) {
    (void)state;
    static worker workers[4];
    pthread_t threads[4];
    for (int t = 0; t < 4; t++) {
        workers[t].pieces = t % 2 ? 10 : 3;
        work_once(&workers[t]); /* alone */
    }
    for (int t = 0; t < 4; t++)
        check_int(pthread_create(&threads[t], NULL, work, &workers[t]), 0);
    for (int t = 0; t < 4; t++)
        pthread_join(threads[t], NULL);
    for (int t = 0; t < 4; t++)
        check(workers[t].same);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_has_its_known_frequencies),
        cmocka_unit_test(separate_pieces_are_all_found),
        cmocka_unit_test(steep_spectra_keep_their_digits),
        cmocka_unit_test(clustered_spectra_are_complete),
        cmocka_unit_test(small_spaces_are_exhausted),
        cmocka_unit_test(a_few_masses_give_as_few_modes),
        cmocka_unit_test(all_eigenvalues_may_be_equal),
        cmocka_unit_test(it_can_be_cancelled_and_run_out_of_memory),
        cmocka_unit_test(a_search_that_cannot_fit_is_refused),
        cmocka_unit_test(threads_do_not_disturb_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
