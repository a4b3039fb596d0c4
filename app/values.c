/* Values that commands and the viewer share: clocks, numbers and texts in JSON, rotations. */
#include "app.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double clock_seconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double app_seconds(void) {
    return clock_seconds(CLOCK_MONOTONIC);
}

double app_cpu_seconds(void) {
    return clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

json_t *app_json_number(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *app_json_numbers(const double *values, int32_t count) {
    json_t *list = json_array();
    for (int32_t i = 0; i < count; i++)
        json_array_append_new(list, app_json_number(values[i]));
    return list;
}

json_t *app_json_text(const char *text) {
    json_t *string = json_string(text);
    if (string)
        return string;
    char *ascii = strdup(text);
    for (char *c = ascii; c && *c; c++)
        *c = (unsigned char)*c < 0x80 ? *c : '?';
    string = json_string(ascii ? ascii : "");
    free(ascii);
    return string;
}

/* By the largest of its four numbers, so that nothing small is divided by. */
void app_quaternion(const double R[9], double quaternion[4]) {
    const double squares[4] = {1 + R[0] - R[4] - R[8], 1 - R[0] + R[4] - R[8], 1 - R[0] - R[4] + R[8],
                               1 + R[0] + R[4] + R[8]}; /* 4 x^2, 4 y^2, 4 z^2, 4 w^2 */
    int most = 3;
    for (int i = 0; i < 3; i++)
        if (squares[i] > squares[most])
            most = i;
    const double x = R[7] - R[5], y = R[2] - R[6], z = R[3] - R[1];    /* 4 wx, 4 wy, 4 wz */
    const double xy = R[1] + R[3], xz = R[2] + R[6], yz = R[5] + R[7]; /* 4 xy, 4 xz, 4 yz */
    const double products[4][4] = {
        {squares[0], xy, xz, x}, {xy, squares[1], yz, y}, {xz, yz, squares[2], z}, {x, y, z, squares[3]}};
    const double scale = 0.5 / sqrt(squares[most]);
    for (int i = 0; i < 4; i++)
        quaternion[i] = scale * products[most][i];
}
