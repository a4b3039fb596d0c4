/* Hot functions are compiled twice, for any x86-64 and for AVX2 + FMA, and the loader picks at run time. */
#ifndef BO_BASE_SIMD_H
#define BO_BASE_SIMD_H

#if defined(__x86_64__) && defined(__linux__) && !defined(BO_NO_MULTIVERSION)
#define BO_MULTIVERSION __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define BO_MULTIVERSION
#endif

#define BO_INLINE static inline __attribute__((always_inline))

#endif
