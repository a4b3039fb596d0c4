/* Frames of clients: never more is kept than a message may have, and where the bytes are cut makes no difference. */
#include "fuzz.h"

#include "app/sockets.h"

#include "../../app/view/websocket.h"

/* A number for all that is read when the bytes come in chunks of so many. */
static uint64_t read_all(const uint8_t *data, size_t size, size_t chunk) {
    websocket_reader *r = calloc(1, sizeof *r);
    uint64_t told = 0;
    for (size_t at = 0; at < size;) {
        const size_t given = size - at < chunk ? size - at : chunk;
        size_t taken;
        uint8_t *exact = malloc(given);
        memcpy(exact, data + at, given);
        const websocket_event event = websocket_read(r, exact, given, &taken);
        free(exact);
        check(taken <= given && r->size <= sizeof r->text && r->control_size <= sizeof r->control);
        check(taken > 0 || event == WEBSOCKET_BROKEN);
        at += taken;
        if (event != WEBSOCKET_MORE)
            told = told * 31 + (uint64_t)event * 7 + r->size + 3 * r->control_size + (uint64_t)r->kind;
        for (size_t i = 0; event == WEBSOCKET_GOT && i < r->size; i++)
            told = told * 31 + (uint8_t)r->text[i];
        if (event == WEBSOCKET_BROKEN) {
            check(r->code >= 1002 && r->reason[0]);
            break;
        }
    }
    free(r);
    return told;
}

void fuzz_one(const uint8_t *data, size_t size) {
    const uint64_t whole = read_all(data, size, size + 1);
    check(read_all(data, size, 1) == whole);
    check(read_all(data, size, 7) == whole);
}

void fuzz_seeds(fuzz_add *add) {
    uint8_t bytes[512];
    size_t size = write_frame(bytes, FINAL | TEXT, true, "{\"do\": \"pause\"}", 15);
    add(bytes, size);
    size += write_frame(bytes + size, TEXT, true, "in ", 3);
    size += write_frame(bytes + size, FINAL | PING, true, "x", 1);
    size += write_frame(bytes + size, FINAL, true, "pieces", 6);
    size += write_frame(bytes + size, FINAL | TEXT, true, bytes, 130);
    size += write_frame(bytes + size, FINAL | CLOSE, true, "\3\350", 2);
    add(bytes, size);
    add("\x81\xff\0\0\0\0\x7f\xff\xff\xff\1\2\3\4", 14);
}
