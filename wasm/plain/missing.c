#include "missing.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <wasm_simd128.h>

/* Nothing is linked to anything here, and names are taken as they are. */
char *realpath(const char *path, char *full) {
    struct stat info;
    if (stat(path, &info) != 0)
        return NULL;
    if (!full)
        return strdup(path);
    return strcpy(full, path);
}

char *mkdtemp(char *pattern) {
    char *end = pattern + strlen(pattern) - 6;
    for (int i = 0; i < 1000; i++) {
        for (int k = 0, n = i; k < 6; k++, n /= 10)
            end[k] = (char)('0' + n % 10);
        if (mkdir(pattern, 0700) == 0)
            return pattern;
        if (errno != EEXIST)
            return NULL;
    }
    return NULL;
}

/* ---- memory: functions of wasi-libc look at few bytes at a time ---- */

int memcmp(const void *a, const void *b, size_t size) {
    const unsigned char *x = a, *y = b;
    for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t), x += sizeof(uint64_t), y += sizeof(uint64_t)) {
        uint64_t u, v;
        __builtin_memcpy(&u, x, sizeof u);
        __builtin_memcpy(&v, y, sizeof v);
        if (u != v)
            break;
    }
    for (; size > 0; size--, x++, y++)
        if (*x != *y)
            return *x < *y ? -1 : 1;
    return 0;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    v128_t *x = to;
    const v128_t *y = from;
    for (; size >= sizeof *x; size -= sizeof *x)
        wasm_v128_store(x++, wasm_v128_load(y++));
    unsigned char *last = (unsigned char *)x;
    const unsigned char *rest = (const unsigned char *)y;
    for (; size > 0; size--)
        *last++ = *rest++;
    return to;
}

void *memset(void *to, int value, size_t size) {
    const v128_t all = wasm_i8x16_splat((int8_t)value);
    v128_t *x = to;
    for (; size >= sizeof *x; size -= sizeof *x)
        wasm_v128_store(x++, all);
    for (unsigned char *last = (unsigned char *)x; size > 0; size--)
        *last++ = (unsigned char)value;
    return to;
}
