/* examples/embed.c: it runs a pack, tells what is wrong with a file that is none, and needs the runtime library alone.
 */
#include "bars.h"

/* Output of a command, and how it ended. */
static int output_of(const char *command, char *text, size_t size) {
    FILE *pipe = popen(command, "r");
    check(pipe != NULL);
    text[fread(text, 1, size - 1, pipe)] = 0;
    return pclose(pipe);
}

static void packs_run(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    char command[512], text[4096];
    bars b;
    prepare_bars(&b, ctx, 4, 2e-3, false);
    b.def.gravity[2] = 0;
    grow_bars(&b);
    const size_t count = (size_t)b.limb->surface.vertex_count;
    float *rest = malloc(3 * count * sizeof *rest);
    check_ok(ctx, bough_tree_state_positions(ctx, b.model, b.state, 3, rest));
    const double start = (double)rest[1];
    free(rest);
    const char *path = test_path("tree.bough");
    check_ok(ctx, bough_tree_model_save(ctx, b.model, path));
    const int32_t size = bough_tree_model_size(b.model);
    clear_bars(&b);
    bough_context_destroy(ctx);
    snprintf(command, sizeof command, "%s %s 2>&1", BOUGH_EMBED, path);
    check_int(output_of(command, text, sizeof text), 0);
    int parts, coordinates, lines = 0, used;
    check(sscanf(text, "%d parts, %d coordinates\n%n", &parts, &coordinates, &used) == 2);
    check_int(parts, 4);
    check_int(coordinates, size);
    double time, x[3], pulled = NAN;
    for (const char *at = text + used; *at; at = strchr(at, '\n') + 1, lines++) {
        check(sscanf(at, "%lf s vertex 0 of the last part is at %lf %lf %lf m", &time, x, x + 1, x + 2) == 4);
        pulled = lines == 3 ? x[1] : pulled;
    }
    check_int(lines, 8);
    check_near(time, 2, 1e-9);
    check(pulled > start + 0.01 && x[1] < start); /* drawn to one side, swung back to the other */
}

static void other_files_are_told(void **unused) {
    (void)unused;
    char command[512], text[4096];
    test_write_text(test_path("none.bough"), "hello");
    snprintf(command, sizeof command, "%s %s 2>&1", BOUGH_EMBED, test_path("none.bough"));
    check(output_of(command, text, sizeof text) != 0);
    check(strstr(text, "none.bough: this is not a .bough file"));
}

/* ldd's lines begin with a library's name or path; those of sanitizers are let pass. */
static void the_runtime_stands_alone(void **unused) {
    (void)unused;
    static const char *const allowed[] = {"linux-vdso", "libc.",   "libm.",    "libpthread", "ld-linux",
                                          "libmvec",    "libasan", "libubsan", "libtsan",    "libgcc_s",
                                          "libstdc++",  "libdl",   "librt"};
    char command[512], text[4096];
    if (system("command -v ldd > /dev/null 2>&1") != 0)
        test_skip("ldd is not installed");
    snprintf(command, sizeof command, "ldd %s", BOUGH_EMBED);
    check_int(output_of(command, text, sizeof text), 0);
    int libraries = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), libraries++) {
        bool known = false;
        line[strcspn(line, "=(")] = 0;
        for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
            known = known || strstr(line, allowed[i]);
        if (!known)
            fail_msg("the example needs %s", line);
    }
    check(libraries >= 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packs_run),
        cmocka_unit_test(other_files_are_told),
        cmocka_unit_test(the_runtime_stands_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
