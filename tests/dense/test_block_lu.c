/* Sparse matrices of dense blocks against the same matrices as dense ones. */
#include "../test.h"

#include "dense/block_lu.h"
#include "dense/lu.h"

enum { MOST_BLOCKS = 12, MOST_ROWS = 5, MOST = MOST_BLOCKS * MOST_ROWS };

typedef struct {
    int32_t count, rows[MOST_BLOCKS], pair_count, pairs[2 * MOST_BLOCKS * MOST_BLOCKS];
} pattern;

static pattern draw(test_random *random) {
    pattern p = {.count = 1 + (int32_t)(test_bits(random) % MOST_BLOCKS)};
    for (int32_t k = 0; k < p.count; k++) {
        p.rows[k] = 1 + (int32_t)(test_bits(random) % MOST_ROWS);
        for (int32_t i = 0; i <= k; i++)
            if (test_bits(random) % 4 == 0) { /* in either order, some twice, some with themselves */
                p.pairs[2 * p.pair_count] = test_bits(random) % 2 ? i : k;
                p.pairs[2 * p.pair_count + 1] = p.pairs[2 * p.pair_count] == i ? k : i;
                p.pair_count++;
            }
    }
    return p;
}

/* Fills blocks that meet at the start, not those that elimination adds. */
static void fill(test_random *random, const pattern *p, bo_block_lu *lu, double *A) {
    memset(A, 0, sizeof *A * (size_t)(lu->size * lu->size));
    bo_block_lu_clear(lu);
    for (int32_t n = -p->count; n < p->pair_count; n++) {
        const int32_t a = n < 0 ? n + p->count : p->pairs[2 * n], b = n < 0 ? a : p->pairs[2 * n + 1];
        for (int way = 0; way < (a == b ? 1 : 2); way++) {
            const int32_t i = way ? b : a, j = way ? a : b;
            int32_t stride;
            double *to = bo_block_lu_at(lu, i, j, &stride);
            for (int32_t r = 0; r < p->rows[i]; r++)
                for (int32_t c = 0; c < p->rows[j]; c++) {
                    const double x = test_uniform(random, -1, 1) + (i == j && r == c ? 8 : 0);
                    to[stride * r + c] += x;
                    A[lu->size * (lu->first[i] + r) + lu->first[j] + c] += x;
                }
        }
    }
}

static void solutions_are_those_of_the_dense_matrix(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random random = {3};
    for (int round = 0; round < 200; round++) {
        const pattern p = draw(&random);
        bo_block_lu lu;
        double A[MOST * MOST], x[MOST], b[MOST], t[MOST], product[MOST];
        check_ok(ctx, bo_block_lu_make(ctx, p.count, p.rows, p.pair_count, p.pairs, &lu));
        for (int again = 0; again < 2; again++) { /* the same pattern serves for other values */
            fill(&random, &p, &lu, A);
            for (int32_t i = 0; i < lu.size; i++)
                x[i] = test_uniform(&random, -1, 1);
            for (int32_t i = 0; i < lu.size; i++) {
                b[i] = t[i] = 0;
                for (int32_t j = 0; j < lu.size; j++)
                    b[i] += A[lu.size * i + j] * x[j], t[i] += A[lu.size * j + i] * x[j];
            }
            bo_block_lu_multiply_transposed(&lu, lu.values, x, product);
            for (int32_t i = 0; i < lu.size; i++)
                check_near(product[i], t[i], 1e-13);
            check(bo_block_lu_factor(&lu));
            check_int(lu.stuck, -1);
            bo_block_lu_solve(&lu, b);
            bo_block_lu_solve_transposed(&lu, t);
            for (int32_t i = 0; i < lu.size; i++) {
                check_near(b[i], x[i], 1e-13);
                check_near(t[i], x[i], 1e-13);
            }
        }
        bo_block_lu_free(ctx, &lu);
    }
    bough_context_destroy(ctx);
}

/* Sixteen vectors side by side are solved for, and multiplied, as each alone. */
static void vectors_side_by_side_are_solved_as_each_alone(void **unused) {
    (void)unused;
    enum { LANES = BO_LU_LANES };
    bough_context *ctx = test_context(1);
    test_random random = {4};
    static double A[MOST * MOST], x[MOST * 2 * LANES], b[MOST * LANES], y[MOST * LANES], values[MOST * MOST * 2];
    for (int round = 0; round < 100; round++) {
        const pattern p = draw(&random);
        bo_block_lu lu;
        bo_sparse_rows rows;
        bool none[MOST_BLOCKS] = {false}, last[MOST_BLOCKS] = {false};
        check_ok(ctx, bo_block_lu_make(ctx, p.count, p.rows, p.pair_count, p.pairs, &lu));
        check_ok(ctx, bo_sparse_rows_make(ctx, lu.size, 2 * lu.value_count, &rows));
        fill(&random, &p, &lu, A);
        last[p.count - 1] = true;
        const bo_block_term terms[2] = {{lu.values, 2, none}, {lu.values, -1, last}};
        bo_block_lu_compress(&lu, 2, terms, &rows);
        for (int32_t i = 0; i < 2 * lu.size * LANES; i++)
            x[i] = test_uniform(&random, -1, 1);
        for (int32_t i = 0; i < lu.size; i++)
            for (int32_t l = 0; l < LANES; l++) {
                double *to = &b[LANES * i + l], sum = 0;
                *to = 0, y[LANES * i + l] = 1;
                for (int32_t j = 0; j < lu.size; j++) {
                    *to += A[lu.size * i + j] * x[LANES * j + l];
                    sum += j < lu.first[p.count - 1] ? A[lu.size * i + j] * x[LANES * (lu.size + j) + l] : 0;
                }
                values[LANES * i + l] = 1 + 2 * *to - sum;
            }
        bo_sparse_rows_add_lanes(&rows, x, y);
        check(bo_block_lu_factor(&lu));
        bo_block_lu_solve_lanes(&lu, b);
        for (int32_t i = 0; i < lu.size * LANES; i++) {
            check_near(b[i], x[i], 1e-13);
            check_near(y[i], values[i], 1e-12);
        }
        bo_sparse_rows_free(ctx, &rows);
        bo_block_lu_free(ctx, &lu);
    }
    bough_context_destroy(ctx);
}

/* A chain of blocks fills nothing: its values are as many as its blocks and their couplings have. */
static void chains_do_not_fill(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    enum { COUNT = 500 };
    int32_t rows[COUNT], pairs[2 * COUNT];
    for (int32_t k = 0; k < COUNT; k++)
        rows[k] = 3, pairs[2 * k] = k, pairs[2 * k + 1] = k + 1 < COUNT ? k + 1 : k;
    bo_block_lu lu;
    check_ok(ctx, bo_block_lu_make(ctx, COUNT, rows, COUNT, pairs, &lu));
    check_int(lu.value_count, 9 * COUNT + 18 * (COUNT - 1));
    bo_block_lu_free(ctx, &lu);
    bough_context_destroy(ctx);
}

static void singular_blocks_are_named(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const int32_t rows[3] = {2, 2, 2}, pairs[4] = {0, 1, 1, 2};
    bo_block_lu lu;
    check_ok(ctx, bo_block_lu_make(ctx, 3, rows, 2, pairs, &lu));
    for (int32_t k = 0; k < 3; k++) {
        int32_t stride;
        double *D = bo_block_lu_at(&lu, k, k, &stride);
        D[0] = 1, D[1] = 2, D[stride] = k == 1 ? 0.5 : 3, D[stride + 1] = 1;
    }
    check(!bo_block_lu_factor(&lu));
    check_int(lu.stuck, 1);
    bo_block_lu_free(ctx, &lu);
    bough_context_destroy(ctx);
}

static void memory_that_is_short_leaks_nothing(void **unused) {
    (void)unused;
    const int32_t rows[3] = {2, 3, 1}, pairs[4] = {0, 2, 2, 1};
    for (long fail_at = 0; fail_at < 30; fail_at++) {
        test_memory memory = {.fail_at = -1};
        bough_context *ctx = test_counting_context(&memory);
        const long before = memory.live;
        memory.fail_at = memory.calls + fail_at;
        bo_block_lu lu;
        bo_sparse_rows entries;
        bo_block_lu_make(ctx, 3, rows, 2, pairs, &lu);
        bo_sparse_rows_make(ctx, 6, 20, &entries);
        bo_sparse_rows_free(ctx, &entries);
        bo_block_lu_free(ctx, &lu);
        check_int(memory.live, before);
        bough_context_destroy(ctx);
    }
}

/* Exchanging two rows of the whole turns the sign of the determinant; so does the sign of a row. */
static void signs_are_those_of_the_determinant(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const int32_t rows[2] = {3, 2}, pairs[2] = {0, 1};
    bo_block_lu lu;
    check_ok(ctx, bo_block_lu_make(ctx, 2, rows, 1, pairs, &lu));
    for (int turned = 0; turned < 32; turned++)
        for (int exchanged = 0; exchanged < 2; exchanged++) {
            int32_t stride;
            int expected = exchanged ? -1 : 1;
            bo_block_lu_clear(&lu);
            for (int i = 0; i < 5; i++) {
                double *block = bo_block_lu_at(&lu, i / 3, i / 3, &stride);
                const int row = i % 3, column = exchanged && i < 2 ? 1 - i : row;
                block[stride * row + column] = turned >> i & 1 ? -2 - i : 2 + i;
                expected = turned >> i & 1 ? -expected : expected;
            }
            bo_block_lu_at(&lu, 0, 1, &stride)[0] = 7; /* above the diagonal: without influence */
            check(bo_block_lu_factor(&lu));
            check_int(bo_block_lu_sign(&lu), expected);
        }
    bo_block_lu_free(ctx, &lu);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(solutions_are_those_of_the_dense_matrix),
                                       cmocka_unit_test(signs_are_those_of_the_determinant),
                                       cmocka_unit_test(vectors_side_by_side_are_solved_as_each_alone),
                                       cmocka_unit_test(chains_do_not_fill),
                                       cmocka_unit_test(singular_blocks_are_named),
                                       cmocka_unit_test(memory_that_is_short_leaks_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
