#include "missing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
