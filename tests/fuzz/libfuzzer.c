/* A target as a libFuzzer program. TARGET --seeds FOLDER writes its seeds there and ends. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static const char *folder;

static void add(const void *data, size_t size) {
    static int count;
    char path[512];
    snprintf(path, sizeof path, "%s/seed-%d", folder, count++);
    test_write(path, data, size);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    if (*argc == 3 && !strcmp((*argv)[1], "--seeds")) {
        folder = (*argv)[2];
        fuzz_seeds(add);
        exit(0);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_one(data, size);
    return 0;
}
