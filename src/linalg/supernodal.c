#include "linalg/supernodal.h"

#include "linalg/one_thread.h"

#include <cblas.h>
#include <string.h>

/* Floating-point operations of the largest product handed to BLAS at once: some 50 ms of a slow core. */
#define MOST_OPERATIONS 2e8
/* Between two looks at the progress callback. Factorisations that take less never look. */
#define OPERATIONS_A_LOOK 5e8
#define PANEL 128         /* columns of a wide supernode that are factored together */
#define SCRATCH (1 << 18) /* doubles of a product that is taken in pieces; or more, where one column needs more */
#define ZEROS_A_LOOK (1 << 24)
#define COLUMNS_A_LOOK 50000
#define NONE (-1)

extern void dpotrf_(const char *uplo, const int *n, double *A, const int *lda, int *info); /* LAPACK */

struct bo_supernodal {
    int32_t size, super_count;
    int32_t *place;    /* of each entry of A: where in L->x */
    int32_t *super_of; /* column -> its supernode */
    int32_t *head;     /* supernode -> the first finished one that must still be subtracted from it, or NONE */
    int32_t *next;     /* the one behind it in that list */
    int32_t *first;    /* of a finished supernode: the first of its rows that has not been used yet */
    int32_t *relative; /* row of the matrix -> row of the supernode at hand */
    double *product;
    size_t product_size;
    double operations; /* of the whole */
    double done, since_look;
};

/* One supernode: `columns` columns from `begin`; rows[0 .. row_count), the first of which are those columns; values,
 * column-major. */
typedef struct {
    int32_t begin, columns, row_count;
    const int32_t *rows;
    double *values;
} supernode;

static supernode get(const cholmod_factor *L, int32_t s) {
    const int32_t *super = L->super, *pi = L->pi, *px = L->px;
    return (supernode){super[s], super[s + 1] - super[s], pi[s + 1] - pi[s], (const int32_t *)L->s + pi[s],
                       L->x ? (double *)L->x + px[s] : NULL};
}

/* ---- analysis ---- */

/* Returns the place of the row in the sorted list. */
static int32_t find_row(const supernode *s, int32_t row) {
    int32_t low = 0, high = s->row_count - 1;
    while (low < high) {
        int32_t middle = (low + high) / 2;
        if (s->rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* P A P^T has A's entry (i, j) at the places of i and j in the order, below the diagonal. */
static bough_status place_entries(bough_context *ctx, bo_supernodal *f, const cholmod_factor *L,
                                  const bough_sparse *A) {
    const int32_t *order = L->Perm, *px = L->px;
    int32_t *at = BO_NEW_ARRAY(ctx, int32_t, f->size);
    if (!at)
        return BOUGH_ERROR_MEMORY;
    for (int32_t k = 0; k < f->size; k++)
        at[order[k]] = k;
    bough_status status = BOUGH_OK;
    for (int32_t j = 0; j < f->size && status == BOUGH_OK; j++) {
        if (j % COLUMNS_A_LOOK == COLUMNS_A_LOOK - 1 && !bo_progress(ctx, "analysing", -1, "%d unknowns", f->size))
            status = bo_fail_cancelled(ctx);
        for (int32_t k = A->column_start[j]; k < A->column_start[j + 1]; k++) {
            int32_t a = at[A->rows[k]], b = at[j], row = a > b ? a : b, column = a > b ? b : a;
            int32_t s = f->super_of[column];
            supernode node = get(L, s);
            f->place[k] = px[s] + (column - node.begin) * node.row_count + find_row(&node, row);
        }
    }
    bo_free(ctx, at);
    return status;
}

static size_t product_size(const cholmod_factor *L) {
    size_t size = L->maxcsize < SCRATCH ? L->maxcsize : SCRATCH;
    for (int32_t s = 0; s < (int32_t)L->nsuper; s++)
        if ((size_t)get(L, s).row_count > size)
            size = (size_t)get(L, s).row_count;
    return size;
}

bough_status bo_supernodal_create(bough_context *ctx, const cholmod_factor *L, const bough_sparse *A, double operations,
                                  bo_supernodal **out) {
    *out = NULL;
    bo_supernodal *f = BO_NEW(ctx, bo_supernodal);
    if (!f)
        return BOUGH_ERROR_MEMORY;
    f->size = (int32_t)L->n;
    f->super_count = (int32_t)L->nsuper;
    f->operations = operations;
    f->product_size = product_size(L);
    f->place = BO_NEW_ARRAY(ctx, int32_t, A->column_start[A->size]);
    f->super_of = BO_NEW_ARRAY(ctx, int32_t, f->size);
    f->relative = BO_NEW_ARRAY(ctx, int32_t, f->size);
    f->head = BO_NEW_ARRAY(ctx, int32_t, f->super_count);
    f->next = BO_NEW_ARRAY(ctx, int32_t, f->super_count);
    f->first = BO_NEW_ARRAY(ctx, int32_t, f->super_count);
    f->product = BO_NEW_ARRAY(ctx, double, f->product_size);
    bough_status status = f->place && f->super_of && f->relative && f->head && f->next && f->first && f->product
                              ? BOUGH_OK
                              : BOUGH_ERROR_MEMORY;
    for (int32_t s = 0; status == BOUGH_OK && s < f->super_count; s++)
        for (int32_t k = 0; k < get(L, s).columns; k++)
            f->super_of[get(L, s).begin + k] = s;
    if (status == BOUGH_OK)
        status = place_entries(ctx, f, L, A);
    if (status != BOUGH_OK) {
        bo_supernodal_destroy(ctx, f);
        return status;
    }
    *out = f;
    return BOUGH_OK;
}

void bo_supernodal_destroy(bough_context *ctx, bo_supernodal *f) {
    if (!f)
        return;
    bo_free(ctx, f->place);
    bo_free(ctx, f->super_of);
    bo_free(ctx, f->relative);
    bo_free(ctx, f->head);
    bo_free(ctx, f->next);
    bo_free(ctx, f->first);
    bo_free(ctx, f->product);
    bo_free(ctx, f);
}

/* ---- numbers ---- */

/* Counts operations, and asks now and then whether to go on; meanwhile other threads may use the BLAS, which only one
 * thread may use at a time. */
static bool go_on(bough_context *ctx, bo_supernodal *f, double operations) {
    f->done += operations;
    f->since_look += operations;
    if (f->since_look < OPERATIONS_A_LOOK)
        return true;
    f->since_look = 0;
    bo_blas_end();
    double fraction = f->done < f->operations ? f->done / f->operations : 1;
    bool on = bo_progress(ctx, "factorising", fraction, "%d unknowns", f->size);
    bo_blas_begin();
    return on;
}

/* Returns how many of `count` rows (or columns) that cost so many operations each go into one product. */
static int32_t piece(int32_t count, double operations_each, int32_t least) {
    double most = MOST_OPERATIONS / (operations_each + 1);
    int32_t size = most < least ? least : most < count ? (int32_t)most : count;
    return size < count ? size : count;
}

/* The finished supernode d takes part in the columns of s with its rows from f->first[d] to before `end`:
 *     s[those rows and all below, those columns] -= d[rows and below, :] d[those rows, :]^T.
 * A piece of these columns at a time goes through `product`, whose rows are then spread to where they are in s. */
static bool subtract_supernode(bough_context *ctx, bo_supernodal *f, const supernode *s, const supernode *d,
                               int32_t begin, int32_t end) {
    const int32_t k = d->columns, ld = d->row_count;
    for (int32_t c = begin; c < end;) {
        const int32_t rows = d->row_count - c, fits = (int32_t)(f->product_size / (size_t)rows);
        int32_t width = piece(end - c, 2.0 * rows * k, 8);
        width = width < fits ? width : fits;
        double *C = f->product;
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, width, k, 1, d->values + c, ld, 0, C, rows);
        if (rows > width)
            cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, rows - width, width, k, 1, d->values + c + width, ld,
                        d->values + c, ld, 0, C + width, rows);
        for (int32_t j = 0; j < width; j++) {
            double *column = s->values + (size_t)(d->rows[c + j] - s->begin) * (size_t)s->row_count;
            const double *from = C + (size_t)j * (size_t)rows;
            for (int32_t i = j; i < rows; i++)
                column[f->relative[d->rows[c + i]]] -= from[i];
        }
        if (!go_on(ctx, f, 2.0 * rows * width * k))
            return false;
        c += width;
    }
    return true;
}

/* In front of the columns c .. c + width of the supernode stand finished ones: s[c.., c..] -= s[c.., ..c] s[c..,
 * ..c]^T. */
static bool subtract_front(bough_context *ctx, bo_supernodal *f, const supernode *s, int32_t c, int32_t width) {
    const int32_t ld = s->row_count;
    double *corner = s->values + (size_t)c * (size_t)ld + c;
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, width, c, -1, s->values + c, ld, 1, corner, ld);
    for (int32_t row = c + width; row < s->row_count;) {
        int32_t rows = piece(s->row_count - row, 2.0 * width * c, PANEL);
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, rows, width, c, -1, s->values + row, ld, s->values + c, ld,
                    1, s->values + (size_t)c * (size_t)ld + row, ld);
        row += rows;
        if (!go_on(ctx, f, 2.0 * rows * width * c))
            return false;
    }
    return true;
}

/* The supernode, from which all before it has been subtracted, becomes its part of L. *failed is the column without a
 * positive pivot, or NONE. */
static bool factor_supernode(bough_context *ctx, bo_supernodal *f, const supernode *s, int32_t *failed) {
    const int ld = s->row_count;
    for (int32_t c = 0; c < s->columns; c += PANEL) {
        const int width = s->columns - c < PANEL ? s->columns - c : PANEL;
        double *corner = s->values + (size_t)c * (size_t)ld + c;
        int info = 0;
        if (c > 0 && !subtract_front(ctx, f, s, c, width))
            return false;
        dpotrf_("L", &width, corner, &ld, &info);
        if (info != 0) {
            *failed = s->begin + c + (info > 0 ? info - 1 : 0);
            return true;
        }
        for (int32_t row = c + width; row < s->row_count;) {
            int32_t rows = piece(s->row_count - row, 1.0 * width * width, PANEL);
            cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, width, 1, corner, ld,
                        s->values + (size_t)c * (size_t)ld + row, ld);
            row += rows;
            if (!go_on(ctx, f, 1.0 * rows * width * width))
                return false;
        }
    }
    return true;
}

/* Puts supernode d on the list of the one to which its next unused row belongs. */
static void hand_on(bo_supernodal *f, int32_t d, const supernode *node, int32_t used) {
    f->first[d] = used;
    if (used >= node->row_count)
        return;
    int32_t s = f->super_of[node->rows[used]];
    f->next[d] = f->head[s];
    f->head[s] = d;
}

static bool factor_all(bough_context *ctx, bo_supernodal *f, cholmod_factor *L, int32_t *failed) {
    for (int32_t s = 0; s < f->super_count && *failed == NONE; s++) {
        const supernode node = get(L, s);
        for (int32_t i = 0; i < node.row_count; i++)
            f->relative[node.rows[i]] = i;
        for (int32_t d = f->head[s], next; d != NONE; d = next) {
            const supernode earlier = get(L, d);
            int32_t begin = f->first[d], end = begin;
            next = f->next[d];
            while (end < earlier.row_count && earlier.rows[end] < node.begin + node.columns)
                end++;
            if (!subtract_supernode(ctx, f, &node, &earlier, begin, end))
                return false;
            hand_on(f, d, &earlier, end);
        }
        if (!factor_supernode(ctx, f, &node, failed))
            return false;
        hand_on(f, s, &node, node.columns);
    }
    return true;
}

/* Zeroing takes seconds, too, if the system has to find the memory first. */
static bough_status clear(bough_context *ctx, const bo_supernodal *f, double *x, size_t size) {
    for (size_t begin = 0; begin < size; begin += ZEROS_A_LOOK) {
        size_t some = size - begin < ZEROS_A_LOOK ? size - begin : ZEROS_A_LOOK;
        memset(x + begin, 0, some * sizeof *x);
        if (begin + some < size && !bo_progress(ctx, "factorising", 0, "%d unknowns", f->size))
            return bo_fail_cancelled(ctx);
    }
    return BOUGH_OK;
}

bough_status bo_supernodal_factorise(bough_context *ctx, bo_supernodal *f, const bough_sparse *A, cholmod_factor *L) {
    double *x = L->x;
    int32_t failed = NONE;
    BO_TRY(clear(ctx, f, x, L->xsize));
    for (int32_t k = 0; k < A->column_start[A->size]; k++)
        x[f->place[k]] = A->values[k];
    for (int32_t s = 0; s < f->super_count; s++)
        f->head[s] = NONE;
    f->done = f->since_look = 0;
    bo_blas_begin();
    bool finished = factor_all(ctx, f, L, &failed);
    bo_blas_end();
    L->minor = failed == NONE && finished ? L->n : (size_t)(failed == NONE ? 0 : failed);
    return finished ? BOUGH_OK : bo_fail_cancelled(ctx);
}
