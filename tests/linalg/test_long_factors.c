/* Factorisations that take long: they ask on the way whether to go on, stop where they are told to, and are refused
 * before they begin when their result cannot fit into memory. */
#include "test.h"

#include "linalg/eigen.h"
#include "linalg/memory.h"

#include <cblas.h>
#include <dlfcn.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* ---- BLAS, with a count of what it does ---- */

/* Floating-point operations in BLAS: since the last question, most between two questions, in all. */
static struct { double since, longest, total; } blas;

static void count_blas(double operations) {
    blas.since += operations;
    blas.total += operations;
    blas.longest = fmax(blas.longest, blas.since);
}

/* The library's own function, which the one here hides. */
#define REAL(name) ((__typeof__(&name))find_real(#name))
static void *find_real(const char *name) {
    void *real = dlsym(RTLD_NEXT, name);
    if (!real)
        abort();
    return real;
}

void cblas_dgemm(OPENBLAS_CONST enum CBLAS_ORDER order, OPENBLAS_CONST enum CBLAS_TRANSPOSE a,
                 OPENBLAS_CONST enum CBLAS_TRANSPOSE b, OPENBLAS_CONST blasint m, OPENBLAS_CONST blasint n,
                 OPENBLAS_CONST blasint k, OPENBLAS_CONST double alpha, OPENBLAS_CONST double *A,
                 OPENBLAS_CONST blasint lda, OPENBLAS_CONST double *B, OPENBLAS_CONST blasint ldb,
                 OPENBLAS_CONST double beta, double *C, OPENBLAS_CONST blasint ldc) {
    count_blas(2.0 * m * n * k);
    REAL(cblas_dgemm)(order, a, b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

void cblas_dsyrk(OPENBLAS_CONST enum CBLAS_ORDER order, OPENBLAS_CONST enum CBLAS_UPLO half,
                 OPENBLAS_CONST enum CBLAS_TRANSPOSE a, OPENBLAS_CONST blasint n, OPENBLAS_CONST blasint k,
                 OPENBLAS_CONST double alpha, OPENBLAS_CONST double *A, OPENBLAS_CONST blasint lda,
                 OPENBLAS_CONST double beta, double *C, OPENBLAS_CONST blasint ldc) {
    count_blas(1.0 * n * n * k);
    REAL(cblas_dsyrk)(order, half, a, n, k, alpha, A, lda, beta, C, ldc);
}

void cblas_dtrsm(OPENBLAS_CONST enum CBLAS_ORDER order, OPENBLAS_CONST enum CBLAS_SIDE side,
                 OPENBLAS_CONST enum CBLAS_UPLO half, OPENBLAS_CONST enum CBLAS_TRANSPOSE a,
                 OPENBLAS_CONST enum CBLAS_DIAG diagonal, OPENBLAS_CONST blasint m, OPENBLAS_CONST blasint n,
                 OPENBLAS_CONST double alpha, OPENBLAS_CONST double *A, OPENBLAS_CONST blasint lda, double *B,
                 OPENBLAS_CONST blasint ldb) {
    count_blas(1.0 * m * n * (side == CblasLeft ? m : n));
    REAL(cblas_dtrsm)(order, side, half, a, diagonal, m, n, alpha, A, lda, B, ldb);
}

/* ---- matrices ---- */

/* Springs between all 26 neighbours of a grid's points: dense enough for wide supernodes. */
static bough_sparse *slab(bough_context *ctx, int32_t n, int32_t layers) {
    bough_sparse *A;
    int32_t size = n * n * layers, at = 0;
    check_ok(ctx, bo_sparse_create(ctx, size, 14 * (int64_t)size, &A));
    for (int32_t j = 0; j < size; j++) {
        int32_t x = j % n, y = j / n % n, z = j / n / n;
        A->column_start[j] = at;
        A->rows[at] = j, A->values[at++] = 27;
        for (int32_t k = 1; k <= 13; k++) { /* those behind j: their numbers ascend */
            int32_t dx = (k + 13) % 3 - 1, dy = (k + 13) / 3 % 3 - 1, dz = (k + 13) / 9 - 1;
            if (x + dx >= 0 && x + dx < n && y + dy >= 0 && y + dy < n && z + dz < layers)
                A->rows[at] = j + dx + n * (dy + n * dz), A->values[at++] = -1;
        }
    }
    A->column_start[size] = at;
    return A;
}

static bough_sparse *lattice(bough_context *ctx, int32_t n) {
    return slab(ctx, n, n);
}

/* ---- questions ---- */

typedef struct {
    const char *phase;   /* that is listened to */
    int asked, stop_at;  /* 0: never */
    double last, widest; /* fraction, and most between two questions */
    bool falls;
} listener;

static bool listen(void *user, const bough_progress *p) {
    listener *l = user;
    blas.since = 0;
    if (strcmp(p->what, l->phase) != 0)
        return true;
    l->falls = l->falls || p->fraction < l->last || p->fraction > 1;
    l->widest = fmax(l->widest, p->fraction - l->last);
    l->last = p->fraction;
    return ++l->asked != l->stop_at;
}

static bough_context *listening(listener *l) {
    bough_context_def def = bough_default_context_def();
    def.thread_count = 1;
    def.progress = listen, def.progress_user = l;
    return bough_context_create(&def);
}

static void check_solves(bough_context *ctx, const bough_sparse *A, bo_factor *factor) {
    size_t n = (size_t)A->size;
    double *x = calloc(9 * n, sizeof *x), *b = calloc(9 * n, sizeof *b);
    for (size_t i = 0; i < 9 * n; i++)
        x[i] = sin((double)i);
    for (size_t c = 0; c < 9; c++)
        bo_sparse_mul(A, x + c * n, b + c * n, false);
    check_ok(ctx, bo_factor_solve(ctx, factor, b, b, 9));
    for (size_t i = 0; i < 9 * n; i++)
        check_near(b[i], x[i], 1e-11);
    free(x), free(b);
}

/* No more than a billion operations, a second of the slowest machine, lie between two questions. */
static void a_long_factorisation_asks_whether_to_go_on(void **state) {
    (void)state;
    listener l = {.phase = "factorising"};
    bough_context *ctx = listening(&l);
    bough_sparse *A = lattice(ctx, 28);
    bo_factor *factor;
    double entries, operations;
    check_ok(ctx, bo_factor_analyse(ctx, A, 1, NULL, &factor));
    bo_factor_cost(factor, &entries, &operations);
    check(operations > 2.5e9);
    memset(&blas, 0, sizeof blas);
    check_ok(ctx, bo_factor_numeric(ctx, factor, A));
    check(blas.total > 0.9 * operations); /* what is counted is where the time goes */
    check_below(blas.longest, 1e9);
    check(l.asked >= (int)(operations / 1e9));
    check(!l.falls);
    check_below(l.widest * operations, 1e9);
    check_below((1 - l.last) * operations, 1e9);
    check_solves(ctx, A, factor);
    bo_factor_destroy(ctx, factor);
    bough_sparse_destroy(ctx, A);
    bough_context_destroy(ctx);
}

/* Everything coupled to everything: one supernode, whose products alone would be too long. */
static void a_wide_supernode_asks_too(void **state) {
    (void)state;
    enum { N = 2990 };
    listener l = {.phase = "factorising"};
    bough_context *ctx = listening(&l);
    bough_sparse *A;
    int32_t at = 0;
    check_ok(ctx, bo_sparse_create(ctx, N, (int64_t)N * (N + 1) / 2, &A));
    for (int32_t j = 0; j < N; j++) {
        A->column_start[j] = at;
        for (int32_t i = j; i < N; i++)
            A->rows[at] = i, A->values[at++] = i == j ? N : -1;
    }
    A->column_start[N] = at;
    bo_factor *factor;
    check_ok(ctx, bo_factor_analyse(ctx, A, 1, NULL, &factor));
    memset(&blas, 0, sizeof blas);
    check_ok(ctx, bo_factor_numeric(ctx, factor, A));
    check(blas.total > 0.9 * pow(N, 3) / 3);
    check_below(blas.longest, 8e8); /* the question comes after 5e8, and no product has more than 2e8 */
    check_solves(ctx, A, factor);
    bo_factor_destroy(ctx, factor);
    bough_sparse_destroy(ctx, A);
    bough_context_destroy(ctx);
}

/* Pieces of 20,000 blocks are ordered in a fraction of a second. */
static void a_long_ordering_asks_whether_to_go_on(void **state) {
    (void)state;
    test_memory memory = {.fail_at = -1};
    listener l = {.phase = "ordering"};
    bough_context_def def = bough_default_context_def();
    def.allocate = test_allocate, def.reallocate = test_reallocate, def.release = test_give_back;
    def.memory_user = &memory;
    def.thread_count = 1;
    def.progress = listen, def.progress_user = &l;
    bough_context *ctx = bough_context_create(&def);
    bough_sparse *A = slab(ctx, 70, 11); /* 53,900 */
    bo_factor *factor;
    check_ok(ctx, bo_factor_analyse(ctx, A, 1, NULL, &factor));
    bo_factor_destroy(ctx, factor);
    check(l.asked > 4 && !l.falls);
    check_near(l.last, 1, 1e-12);
    check_below(l.widest * A->size, 20000);
    const int asked = l.asked;
    const long live = memory.live;
    for (int stop = 1; stop <= asked; stop += asked / 3) {
        l = (listener){.phase = "ordering", .stop_at = stop};
        check_fails(ctx, bo_factor_analyse(ctx, A, 1, NULL, &factor), BOUGH_CANCELLED, "cancelled");
        check_int(l.asked, stop);
        check_int(memory.live, live);
    }
    /* Behind the order comes the place of each entry in the factor. */
    l = (listener){.phase = "analysing", .stop_at = 1};
    check_fails(ctx, bo_factor_analyse(ctx, A, 1, NULL, &factor), BOUGH_CANCELLED, "cancelled");
    check_int(l.asked, 1); /* of the first 50,000 unknowns */
    check_int(memory.live, live);
    bough_sparse_destroy(ctx, A);
    bough_context_destroy(ctx);
}

/* Many right-hand sides take as long as a large factor: 20 million entries lie between two questions. */
static void long_solves_ask_whether_to_go_on(void **state) {
    (void)state;
    listener l = {.phase = "solving"};
    bough_context *ctx = listening(&l);
    bough_sparse *matrices[2] = {lattice(ctx, 28), slab(ctx, 40, 1)}; /* the second's factor has no supernodes */
    for (int m = 0; m < 2; m++) {
        const bough_sparse *A = matrices[m];
        const size_t n = (size_t)A->size;
        const int32_t count = m ? 3000 : 80, together = m ? 4 : 8;
        bo_factor *factor;
        double entries, operations, *b = calloc((size_t)count * n, sizeof *b);
        check_ok(ctx, bo_factor_analyse(ctx, A, 1, NULL, &factor));
        check_ok(ctx, bo_factor_numeric(ctx, factor, A));
        bo_factor_cost(factor, &entries, &operations);
        l = (listener){.phase = "solving"};
        check_ok(ctx, bo_factor_solve(ctx, factor, b, b, count));
        const int asked = l.asked;
        check(asked >= (int)(2 * entries * count / together / 2.5e7));
        check(asked > 1);
        for (int stop = 1; stop <= asked; stop++) {
            l = (listener){.phase = "solving", .stop_at = stop};
            check_fails(ctx, bo_factor_solve(ctx, factor, b, b, count), BOUGH_CANCELLED, "cancelled");
            check_int(l.asked, stop);
        }
        check_solves(ctx, A, factor);
        bo_factor_destroy(ctx, factor);
        free(b);
    }
    for (int m = 0; m < 2; m++)
        bough_sparse_destroy(ctx, matrices[m]);
    bough_context_destroy(ctx);
}

static void times_one(void *data, const double *x, double *y, int32_t count) {
    memcpy(y, x, (size_t) * (const int32_t *)data * (size_t)count * sizeof *y);
}

/* So many vectors that a restart, and the modes made of them at the end, take longer than the solves. */
static void a_search_for_many_eigenvalues_asks_whether_to_go_on(void **state) {
    (void)state;
    enum { COUNT = 200 };
    listener l = {.phase = "eigenvalues"};
    bough_context *ctx = listening(&l);
    bough_sparse *A = lattice(ctx, 22);
    int32_t n = A->size;
    double values[COUNT], *vectors = calloc((size_t)COUNT * (size_t)n, sizeof *vectors);
    bo_operator M = {.multiply = times_one, .data = &n, .size = n, .rank = n};
    bo_factor *factor;
    check_ok(ctx, bo_factor_analyse(ctx, A, 1, NULL, &factor));
    check_ok(ctx, bo_factor_numeric(ctx, factor, A));
    memset(&blas, 0, sizeof blas);
    check_ok(ctx, bo_eigen_shift_invert(ctx, factor, &M, 0, COUNT, 1e-10, values, vectors));
    check_below(blas.longest, 1e9);
    const int asked = l.asked;
    l = (listener){.phase = "eigenvalues", .stop_at = asked}; /* the last time while modes are made */
    check_fails(ctx, bo_eigen_shift_invert(ctx, factor, &M, 0, COUNT, 1e-10, values, vectors), BOUGH_CANCELLED,
                "cancelled");
    check_int(l.asked, asked);
    free(vectors);
    bo_factor_destroy(ctx, factor);
    bough_sparse_destroy(ctx, A);
    bough_context_destroy(ctx);
}

static void a_cancelled_factorisation_can_be_begun_again(void **state) {
    (void)state;
    listener l = {.phase = "factorising"};
    bough_context *ctx = listening(&l);
    bough_sparse *A = lattice(ctx, 28);
    bo_factor *factor;
    check_ok(ctx, bo_factor_analyse(ctx, A, 1, NULL, &factor));
    for (int stop = 1; stop <= 4; stop++) {
        l = (listener){.phase = "factorising", .stop_at = stop};
        check_fails(ctx, bo_factor_numeric(ctx, factor, A), BOUGH_CANCELLED, "cancelled");
        check_int(l.asked, stop); /* it is not asked again */
        check_fails(ctx, bo_factor_solve(ctx, factor, A->values, A->values, 1), BOUGH_ERROR_SINGULAR,
                    "without a factor");
    }
    l = (listener){.phase = "factorising"};
    check_ok(ctx, bo_factor_numeric(ctx, factor, A));
    check_solves(ctx, A, factor);
    bo_factor_destroy(ctx, factor);
    bough_sparse_destroy(ctx, A);
    bough_context_destroy(ctx);
}

/* Wherever the pivot fails: in the first supernode, in the middle, in the last. */
static void a_negative_pivot_is_found_in_any_supernode(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_sparse *A = lattice(ctx, 16);
    bo_factor *factor;
    check_ok(ctx, bo_factor_analyse(ctx, A, 1, NULL, &factor));
    for (int32_t j = 0; j < A->size; j += A->size / 7) {
        A->values[A->column_start[j]] = -5;
        check_fails(ctx, bo_factor_numeric(ctx, factor, A), BOUGH_ERROR_SINGULAR, "not positive definite");
        A->values[A->column_start[j]] = 27;
    }
    check_ok(ctx, bo_factor_numeric(ctx, factor, A));
    check_solves(ctx, A, factor);
    bo_factor_destroy(ctx, factor);
    bough_sparse_destroy(ctx, A);
    bough_context_destroy(ctx);
}

/* More blocks than METIS is given at once: the order is made of pieces, and is as good. */
static void large_graphs_are_ordered_in_pieces(void **state) {
    (void)state;
    listener l = {.phase = "factorising"};
    bough_context *ctx = listening(&l);
    bough_sparse *A = lattice(ctx, 28); /* 21,952 */
    bo_factor *factor;
    double entries, operations;
    check_ok(ctx, bo_factor_analyse(ctx, A, 1, NULL, &factor));
    bo_factor_cost(factor, &entries, &operations);
    check(entries < 1.05 * 5.62e6); /* METIS alone makes 5.62 million of this graph */
    check_ok(ctx, bo_factor_numeric(ctx, factor, A));
    check_solves(ctx, A, factor);
    bo_factor_destroy(ctx, factor);
    bough_sparse_destroy(ctx, A);
    bough_context_destroy(ctx);
}

/* In a process of its own, because the limit stays. */
static void a_factor_that_cannot_fit_is_refused(void **state) {
    (void)state;
    if (TEST_SANITIZED) /* they keep what was freed: analysing alone may need more than the factor would */
        test_skip("a sanitizer's own memory counts against the limit on the address space");
    pid_t child = fork();
    check(child >= 0);
    if (child == 0) {
        bough_context *ctx = test_context(1);
        bough_sparse *A = lattice(ctx, 34);
        bo_factor *factor;
        /* Analysing takes some fifty MB, the factor would take a hundred. */
        long pages = 0;
        FILE *statm = fopen("/proc/self/statm", "r");
        check(statm && fscanf(statm, "%ld", &pages) == 1);
        fclose(statm);
        struct rlimit limit = {(rlim_t)(pages * sysconf(_SC_PAGESIZE) + (95 << 20)), RLIM_INFINITY};
        setrlimit(RLIMIT_AS, &limit);
        bough_status status = bo_factor_analyse(ctx, A, 1, NULL, &factor);
        const char *said = bough_message(ctx);
        bool good = status == BOUGH_ERROR_MEMORY &&
                    strstr(said, "the factor of a matrix with 39304 unknowns needs about") &&
                    strstr(said, "ulimit -v") && strstr(said, "coarser mesh");
        if (!good)
            fprintf(stderr, "status %d: %s\n", status, said);
        bough_sparse_destroy(ctx, A);
        bough_context_destroy(ctx);
        _exit(good ? 0 : 1);
    }
    int ended;
    check(waitpid(child, &ended, 0) == child);
    check_int(ended, 0);
}

static void what_is_small_or_fits_is_let_pass(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bo_memory_room room = bo_find_memory_room();
    check(room.bytes > 1e8 && room.bytes < 1e16); /* of a machine that runs tests */
    check_ok(ctx, bo_check_memory(ctx, 1e6, "a crumb"));
    check_ok(ctx, bo_check_memory(ctx, 0.5 * room.bytes, "half of it"));
    check_fails(ctx, bo_check_memory(ctx, 2 * room.bytes, "twice the %s", "memory"), BOUGH_ERROR_MEMORY,
                "twice the memory needs about");
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_factor_that_cannot_fit_is_refused),
        cmocka_unit_test(what_is_small_or_fits_is_let_pass),
        cmocka_unit_test(a_long_factorisation_asks_whether_to_go_on),
        cmocka_unit_test(a_wide_supernode_asks_too),
        cmocka_unit_test(a_long_ordering_asks_whether_to_go_on),
        cmocka_unit_test(long_solves_ask_whether_to_go_on),
        cmocka_unit_test(a_search_for_many_eigenvalues_asks_whether_to_go_on),
        cmocka_unit_test(a_cancelled_factorisation_can_be_begun_again),
        cmocka_unit_test(a_negative_pivot_is_found_in_any_supernode),
        cmocka_unit_test(large_graphs_are_ordered_in_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
