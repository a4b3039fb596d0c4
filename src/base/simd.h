/* Hot functions are compiled twice, for any x86-64 and for AVX2 + FMA, and the loader picks at run time. */
#ifndef BO_BASE_SIMD_H
#define BO_BASE_SIMD_H

#if defined(__x86_64__) && defined(__linux__) && !defined(BO_NO_MULTIVERSION)
#ifdef __clang__ /* takes "arch=..." for the name of one processor, which none is; FMA brings vectors of four doubles */
#define BO_MULTIVERSION __attribute__((target_clones("fma", "default")))
#else
#define BO_MULTIVERSION __attribute__((target_clones("arch=x86-64-v3", "default")))
#endif
#else
#define BO_MULTIVERSION
#endif

#define BO_INLINE static inline __attribute__((always_inline))

/* Four doubles at any address: the width of AVX2. Wider vectors than the machine's are slower than narrower ones. They
 * are handed on by address, since how they are passed by value depends on the instruction set. */
typedef double bo_v4 __attribute__((vector_size(32), aligned(8)));
#define BO_V4(address) (*(bo_v4 *)(address))
#define BO_V4_CONST(address) (*(const bo_v4 *)(address))
/* Registers hold BO_SUMS sums of four doubles while rows are added to them, and each holds BO_WIDTH doubles. Those of
 * WebAssembly are half as wide as AVX2's. */
#ifdef __wasm__
enum { BO_SUMS = 4, BO_WIDTH = 2 };
#else
enum { BO_SUMS = 8, BO_WIDTH = 4 };
#endif
/* As many doubles as a register holds, for loops over rows that are whole multiples of four long. */
typedef double bo_vw __attribute__((vector_size(8 * BO_WIDTH), aligned(8)));
#define BO_VW(address) (*(bo_vw *)(address))
#define BO_VW_CONST(address) (*(const bo_vw *)(address))

/* A number that whole vectors are multiplied with. AVX2 spreads it over a vector as it reads it; in WebAssembly that
 * takes an instruction of its own, so that it is kept spread. */
#ifdef __wasm__
typedef bo_vw bo_scaling;
BO_INLINE bo_scaling bo_spread(double x) {
    return (bo_scaling){x, x};
}
#else
typedef double bo_scaling;
BO_INLINE bo_scaling bo_spread(double x) {
    return x;
}
#endif

/* For WebAssembly, where the browser finds registers for what clang has put in order, and has fifteen of two doubles
 * each. clang computes each of several sums in one go, right before it is stored, and keeps all that they share until
 * then: BO_NOW(sum) makes it add what it has so far. It also reads before a loop whatever stays the same inside, though
 * most of that goes to the stack at once: behind BO_READ_ANEW(pointer) it does not know what the pointer leads to.
 * Neither makes an instruction. */
#ifdef __wasm__
#define BO_NOW(sum) __asm__ volatile("" : "+r"(sum))
#define BO_READ_ANEW(pointer) __asm__ volatile("" : "+r"(pointer))
#else
#define BO_NOW(sum) ((void)0)
#define BO_READ_ANEW(pointer) ((void)0)
#endif

/* One lane of a vector in memory. */
#define BO_LANE(vector, lane) (((double *)&(vector))[lane])
#define BO_LANE_CONST(vector, lane) (((const double *)&(vector))[lane])

#endif
