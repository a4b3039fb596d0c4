/* Tables that a run goes on with: whatever is kept of them are complete rows up to the time of the run. */
#include "fuzz.h"

#include "record/table.h"

static const char *const columns[] = {"time", "tip.x", "state"};
static const char head[] = "time,tip.x,state\n", row[] = "1.5,-2,done\n";
static const double last = 1;

static int commas_between(const char *from, const char *to) {
    int count = 0;
    for (; from < to; from++)
        count += *from == ',';
    return count;
}

/* The head, rows of the old file and the new one. */
static void check_table(const uint8_t *old, size_t old_size, bool kept) {
    size_t size;
    char *text = (char *)test_read(test_path("table.csv"), &size);
    const size_t first = sizeof head - 1, added = sizeof row - 1;
    check(size >= first + added && (kept ? size > first + added : size == first + added));
    check(!memcmp(text, head, first) && !memcmp(text + size - added, row, added));
    check(!kept || (size - added <= old_size && !memcmp(text, old, size - added)));
    for (const char *line = text + first, *end; line < text + size - added; line = end + 1) {
        char *behind;
        end = memchr(line, '\n', (size_t)(text + size - line));
        check(strtod(line, &behind) <= last && *behind == ',');
        check_int(commas_between(line, end), 2);
    }
    free(text);
}

void fuzz_one(const uint8_t *data, size_t size) {
    fuzz_memory memory;
    bo_table table;
    bool kept;
    bough_context *ctx = fuzz_context(&memory);
    test_write(test_path("table.csv"), data, size);
    check_ok(ctx, bo_table_continue(ctx, test_path("table.csv"), columns, 3, last, &table, &kept));
    check_ok(ctx, bo_table_words(ctx, &table, (double[]){1.5, -2, 0}, (const char *[]){NULL, NULL, "done"}));
    check_ok(ctx, bo_table_close(ctx, &table));
    check_table(data, size, kept);
    fuzz_end(ctx, &memory, BOUGH_OK);
}

void fuzz_seeds(fuzz_add *add) {
    fuzz_add_text(add, "time,tip.x,state\n0,1.5,waits\n0.5,2e-3,runs\n1,-1,runs\n1.5,3,done\n");
    fuzz_add_text(add, "time,tip.x,state\n0,1.5,waits\n0.5,2e-3,ru");
    fuzz_add_text(add, "time,tip.x,state\n0,1.5,waits\nnan,1,1\n0.5,1,1\n");
    fuzz_add_text(add, "time,tip.x,state\n\n0,1.5,waits\n0.5,1\n");
    fuzz_add_text(add, "time,tip.x\n0,1\n");
}
