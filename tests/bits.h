/* The lines "name hash" that tests/bits prints, and tools/compare_bits.sh compares, for many outputs of the runtime. */
#ifndef BOUGH_TEST_BITS_H
#define BOUGH_TEST_BITS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MIX_START 0xcbf29ce484222325u
static inline uint64_t mix(uint64_t hash, const void *data, size_t size) {
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

static inline void tell(const char *name, const char *more, uint64_t hash) {
    printf("%s%s%s %016llx\n", name, more[0] ? "-" : "", more, (unsigned long long)hash);
}

void tell_mechanisms(void);
void tell_multibody(void);

#endif
