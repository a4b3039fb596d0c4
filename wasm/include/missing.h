/* Functions of POSIX that wasi-libc has not: plain/missing.c. */
#ifndef BOUGH_WASM_MISSING_H
#define BOUGH_WASM_MISSING_H

char *realpath(const char *path, char *full);
char *mkdtemp(char *pattern);

#endif
