#include "websocket.h"

#include <string.h>

/* ---- frames of clients ---- */

static websocket_event broken(websocket_reader *r, int code, const char *reason) {
    r->code = code, r->reason = reason;
    return WEBSOCKET_BROKEN;
}

/* Bytes of the head, as far as its first two tell: lengths from 126 on take 2 or 8 more, masks 4. */
static size_t head_length(const websocket_reader *r) {
    const int length = r->head_size < 2 ? 0 : r->head[1] & 0x7f;
    return r->head_size < 2 ? 2 : 6u + (length == 126 ? 2 : length == 127 ? 8 : 0);
}

static websocket_event judge_kind(websocket_reader *r) {
    const bool control = r->kind >= WEBSOCKET_CLOSE;
    if (r->kind == WEBSOCKET_BINARY)
        return broken(r, WEBSOCKET_NO_TEXT, "commands are texts");
    if (r->kind > WEBSOCKET_PONG || (r->kind > WEBSOCKET_BINARY && !control))
        return broken(r, WEBSOCKET_WRONG, "this is no frame of a client");
    if (control && (!r->final || (r->head[1] & 0x7f) > WEBSOCKET_CONTROL_SIZE))
        return broken(r, WEBSOCKET_WRONG, "pings, pongs and closes have one piece of at most 125 bytes");
    if (r->kind == WEBSOCKET_TEXT && r->in_pieces)
        return broken(r, WEBSOCKET_WRONG, "a message begins within another");
    if (r->kind == WEBSOCKET_CONTINUATION && !r->in_pieces)
        return broken(r, WEBSOCKET_WRONG, "a message goes on that did not begin");
    return WEBSOCKET_MORE;
}

/* After two bytes. */
static websocket_event judge_first(websocket_reader *r) {
    r->final = r->head[0] & 0x80, r->kind = r->head[0] & 0x0f;
    if (r->head[0] & 0x70)
        return broken(r, WEBSOCKET_WRONG, "the reserved bits mean nothing here");
    if (!(r->head[1] & 0x80))
        return broken(r, WEBSOCKET_WRONG, "clients mask their frames");
    return judge_kind(r);
}

/* With the whole head. The length must be written in as few bytes as it takes. */
static websocket_event judge_length(websocket_reader *r) {
    const size_t bytes = r->head_length - 6;
    uint64_t length = r->head[1] & 0x7f;
    for (size_t i = 0; i < bytes; i++)
        length = (i ? length << 8 : 0) | r->head[2 + i];
    if ((bytes == 2 && length < 126) || (bytes == 8 && (length < 65536 || length >> 63)))
        return broken(r, WEBSOCKET_WRONG, "the length of a frame is written wrongly");
    if (r->kind < WEBSOCKET_CLOSE && length > sizeof r->text - r->size)
        return broken(r, WEBSOCKET_TOO_LARGE, "the message is too large");
    if (r->kind < WEBSOCKET_CLOSE && ++r->pieces > WEBSOCKET_PIECES)
        return broken(r, WEBSOCKET_REFUSED, "the message has too many pieces");
    r->length = (size_t)length;
    return WEBSOCKET_MORE;
}

static websocket_event read_head(websocket_reader *r, const unsigned char *bytes, size_t size, size_t *taken) {
    websocket_event event = WEBSOCKET_MORE;
    r->head_length = head_length(r);
    while (event == WEBSOCKET_MORE && *taken < size && r->head_size < r->head_length) {
        r->head[r->head_size++] = bytes[(*taken)++];
        if (r->head_size == 2)
            event = judge_first(r);
        r->head_length = head_length(r);
        if (event == WEBSOCKET_MORE && r->head_size == r->head_length)
            event = judge_length(r);
    }
    return event;
}

static void begin_frame(websocket_reader *r) {
    if (r->complete && r->kind < WEBSOCKET_CLOSE && r->final)
        r->size = 0, r->pieces = 0;
    r->head_size = r->length = r->got = r->control_size = 0;
    r->complete = false;
}

static websocket_event end_frame(websocket_reader *r) {
    r->complete = true;
    if (r->kind >= WEBSOCKET_CLOSE)
        return WEBSOCKET_CONTROL;
    r->in_pieces = !r->final;
    return r->final ? WEBSOCKET_GOT : WEBSOCKET_PIECE;
}

websocket_event websocket_read(websocket_reader *r, const unsigned char *bytes, size_t size, size_t *taken) {
    *taken = 0;
    if (r->code)
        return WEBSOCKET_BROKEN;
    if (r->complete)
        begin_frame(r);
    const websocket_event event = read_head(r, bytes, size, taken);
    if (event != WEBSOCKET_MORE || r->head_size < 2 || r->head_size < r->head_length)
        return event;
    const unsigned char *mask = r->head + r->head_length - 4;
    const bool control = r->kind >= WEBSOCKET_CLOSE;
    for (; r->got < r->length && *taken < size; r->got++) {
        const unsigned char byte = bytes[(*taken)++] ^ mask[r->got % 4];
        if (control)
            r->control[r->control_size++] = byte;
        else
            r->text[r->size++] = (char)byte;
    }
    return r->got == r->length ? end_frame(r) : WEBSOCKET_MORE;
}

/* ---- frames to clients ---- */

size_t websocket_head(unsigned char head[WEBSOCKET_HEAD_SIZE], int kind, size_t size) {
    const size_t bytes = size < 126 ? 0 : size < 65536 ? 2 : 8;
    head[0] = (unsigned char)(0x80 | kind);
    head[1] = (unsigned char)(bytes == 0 ? size : bytes == 2 ? 126 : 127);
    for (size_t i = 0; i < bytes; i++)
        head[2 + i] = (unsigned char)(size >> (8 * (bytes - 1 - i)));
    return 2 + bytes;
}

/* ---- the handshake ---- */

static uint32_t turned(uint32_t x, int n) {
    return x << n | x >> (32 - n);
}

/* One block of SHA-1 (FIPS 180-4, 6.1.2). */
static void mix_block(uint32_t h[5], const unsigned char block[64]) {
    static const uint32_t constants[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 | (uint32_t)block[4 * t + 2] << 8 |
               block[4 * t + 3];
    for (int t = 16; t < 80; t++)
        w[t] = turned(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (int t = 0; t < 80; t++) {
        const uint32_t f = t < 20 ? (b & c) | (~b & d) : t < 40 || t >= 60 ? b ^ c ^ d : (b & c) | (b & d) | (c & d);
        const uint32_t next = turned(a, 5) + f + e + constants[t / 20] + w[t];
        e = d, d = c, c = turned(b, 30), b = a, a = next;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
}

/* SHA-1 of a short text: two blocks hold 119 bytes, their end and their length. */
static void hash_short(const char *text, unsigned char hash[20]) {
    uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    unsigned char blocks[128] = {0};
    const size_t length = strlen(text), end = length < 56 ? 64 : 128;
    memcpy(blocks, text, length);
    blocks[length] = 0x80;
    blocks[end - 2] = (unsigned char)(8 * length >> 8), blocks[end - 1] = (unsigned char)(8 * length);
    for (size_t at = 0; at < end; at += 64)
        mix_block(h, blocks + at);
    for (int i = 0; i < 20; i++)
        hash[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
}

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* A key is 16 bytes in base64: 22 letters and "==". */
static bool is_key(const char *key) {
    return strlen(key) == 24 && strspn(key, letters) == 22 && !strcmp(key + 22, "==");
}

bool websocket_accept(const char *key, char accept[WEBSOCKET_ACCEPT_SIZE]) {
    char text[64];
    unsigned char hash[21] = {0}; /* 20 bytes are 26 letters and two bits, which make a 27th */
    if (!is_key(key))
        return false;
    snprintf(text, sizeof text, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
    hash_short(text, hash);
    for (size_t i = 0; i < 7; i++) {
        const unsigned char *b = hash + 3 * i;
        const uint32_t bits = (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2];
        for (size_t k = 0; k < 4; k++)
            accept[4 * i + k] = letters[bits >> (18 - 6 * k) & 63];
    }
    accept[27] = '=', accept[28] = 0;
    return true;
}
