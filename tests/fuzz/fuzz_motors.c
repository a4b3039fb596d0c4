/* Tables of motors: a multibody scene follows them, or says in a sentence with a line what is wrong. */
#include "fuzz.h"

#include "scene/motor_table.h"

#include <bough/scene.h>

static const char scene_text[] =
    "{\"bough\": 1, \"bodies\": [{\"name\": \"a\", \"mass\": 1, \"shape\": {\"sphere\": 1}}], \"joints\": [{\"name\": "
    "\"turn\", \"kind\": \"hinge\", \"parent\": \"world\", \"child\": \"a\", \"position\": [0, 0, 0], \"limits\": [-9, "
    "9]}], \"motors\": {\"csv\": \"motors.csv\"}}";

/* Whatever is read has ascending times and finite numbers, and a line for each row. */
static void check_table(const bo_motor_table *t) {
    check(t->row_count > 0 && t->time >= 0 && t->time < t->column_count);
    for (int32_t r = 0; r < t->row_count; r++) {
        const double *row = t->values + (size_t)t->column_count * (size_t)r;
        for (int32_t c = 0; c < t->column_count; c++)
            check(row[c] - row[c] == 0);
        check(r == 0 || row[t->time] > row[t->time - t->column_count]);
        check(t->lines[r] > (r > 0 ? t->lines[r - 1] : 1));
    }
}

void fuzz_one(const uint8_t *data, size_t size) {
    fuzz_memory memory;
    bo_motor_table table = {0};
    bough_scene *scene = NULL;
    uint64_t hash = 1;
    bough_context *ctx = fuzz_context(&memory);
    test_write(test_path("motors.csv"), data, size);
    test_write_text(test_path("scene.json"), scene_text);
    bough_status status = bo_motor_table_read(ctx, test_path("motors.csv"), &hash, &table);
    if (status == BOUGH_OK)
        check_table(&table);
    bo_motor_table_free(ctx, &table);
    status = bough_scene_load(ctx, test_path("scene.json"), &scene);
    bough_scene_destroy(ctx, scene);
    fuzz_end(ctx, &memory, status);
}

void fuzz_seeds(fuzz_add *add) {
    fuzz_add_text(add, "time,turn\n0,0\n0.5,1e-1\n1,-2\n");
    fuzz_add_text(add, "\"turn\" , time\r\n1,0\r\n\r\n8,2\r\n");
    fuzz_add_text(add, "time,turn,other\n0,0,inf\n");
    fuzz_add_text(add, "time,turn\n0,0\n0,1\n");
    fuzz_add_text(add, "\xef\xbb\xbftime,turn\n0,0\n1,\n");
    fuzz_add_text(add, "time;turn\n0;0\n");
}
