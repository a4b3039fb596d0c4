"""build_native.py INCLUDE COMPILER OUTPUT.c FUNCTIONS.txt: writes the C source of the module bough._native.

The module is made by cffi in API mode: the C compiler reads the public headers themselves, so that a declaration that
is not theirs does not compile.
"""

import sys

import cffi

import cdef

# What Python offers the library to call. All of them are functions of bough/_callbacks.py.
CALLBACKS = """
extern "Python" {
    bool bough_py_progress(void *, const bough_progress *);
    void bough_py_warn(void *, const char *);
    void bough_py_reading(void *, const char *);
    double bough_py_distance(void *, const double *);
    bool bough_py_on_step(void *, double, const double *);
    bough_status bough_py_watch(void *, bough_context *, const bough_run *);
    void bough_py_tell(void *, const bough_run_change *, int32_t);
    bough_status bough_py_tree(void *, bough_context *, const bough_tree_model *, bough_tree_state *);
    bool bough_py_lead(void *, int32_t, double, bough_pose *);
    void bough_py_drive(void *, int32_t, double, double *, double *);
    void bough_py_term(void *, int32_t, const double *, const double *, const double *, double *, double *, double *,
                       double *);
    bool bough_py_searched(void *, const bough_retarget_progress *);
    void bough_py_cooked(void *, const bough_cooked *);
}
bough_status bough_py_steps(bough_context *, bough_run *, int32_t);
void *(*const bough_py_allocate)(void *, size_t);
void *(*const bough_py_reallocate)(void *, void *, size_t);
void (*const bough_py_release)(void *, void *);
"""

SOURCE = """
#include <bough/bough.h>
#include <stdlib.h>

/* Memory that is counted: `user` is the number of blocks that are not released. Contexts of several threads share it. */
static void *allocate(void *user, size_t size) {
    void *block = malloc(size);
    if (block)
        __atomic_add_fetch((int64_t *)user, 1, __ATOMIC_RELAXED);
    return block;
}

static void *reallocate(void *user, void *block, size_t size) {
    if (!block)
        return allocate(user, size);
    return realloc(block, size);
}

static void release(void *user, void *block) {
    if (block)
        __atomic_sub_fetch((int64_t *)user, 1, __ATOMIC_RELAXED);
    free(block);
}

/* Several steps in one call, for which Python's lock is let go once. */
static bough_status bough_py_steps(bough_context *ctx, bough_run *run, int32_t count) {
    bough_status status = BOUGH_OK;
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++)
        status = bough_run_step(ctx, run);
    return status;
}

static void *(*const bough_py_allocate)(void *, size_t) = allocate;
static void *(*const bough_py_reallocate)(void *, void *, size_t) = reallocate;
static void (*const bough_py_release)(void *, void *) = release;
"""


def main(include, compiler, output, functions):
    ffi = cffi.FFI()
    ffi.cdef(cdef.declarations(include, compiler))
    ffi.cdef(CALLBACKS)
    ffi.set_source("bough._native", SOURCE)
    ffi.emit_c_code(output)
    with open(functions, "w") as file:
        file.write("\n".join(cdef.functions(include)) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
