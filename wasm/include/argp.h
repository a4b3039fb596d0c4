/* Nobody reads a command line here: types alone. */
#ifndef BOUGH_WASM_ARGP_H
#define BOUGH_WASM_ARGP_H

struct argp_state;
struct argp {
    const void *options;
};
struct argp_child {
    const struct argp *argp;
    int flags;
    const char *header;
    int group;
};

#endif
