/* Tables for `bough plot`: it draws them, or fails with one sentence. What it draws is XML. */
#include "command_line.h"

#include "scene/xml.h"

static void check_drawing(void) {
    fuzz_memory memory;
    bo_xml xml = {0};
    bough_context *ctx = fuzz_context(&memory);
    const bough_status status = bo_xml_load(ctx, test_path("table.svg"), "SVG", &xml);
    if (status != BOUGH_ERROR_MEMORY)
        check_ok(ctx, status);
    bo_xml_free(&xml);
    fuzz_end(ctx, &memory, status);
}

static void draw(int count, char **words) {
    unlink(test_path("table.svg"));
    const int status = fuzz_command(command_plot, count, words);
    check_int(access(test_path("table.svg"), F_OK) == 0, status == APP_OK);
    if (status == APP_OK)
        check_drawing();
}

void fuzz_one(const uint8_t *data, size_t size) {
    char path[512], picture[512];
    snprintf(path, sizeof path, "%s", test_path("table.csv"));
    snprintf(picture, sizeof picture, "%s", test_path("table.svg"));
    test_write(path, data, size);
    draw(4, (char *[]){"plot", path, "-o", picture, NULL});
    draw(6, (char *[]){"plot", path, "-o", picture, "--log-x", "--log-y", NULL});
}

void fuzz_seeds(fuzz_add *add) {
    fuzz_add_text(add, "time,tip.x,tip.z\n0,0,1e-3\n0.1,0.5,\n0.2,nan,-inf\n0.3,1,2\n");
    fuzz_add_text(add, "\xEF\xBB\xBFtime,elastic,kinetic,total,work,balance\r\n0,0,0,0,0,0\r\n1,2,3,5,5,0\r\n");
    fuzz_add_text(add, "\"x, of \"\"it\"\"\" ,\"y\"\n \"1\" , 2 \n\"3\",\"4\"\n\n5,1e308\n6,-1e308\n");
    fuzz_add_text(add, "<a>&b,c\001d,\"\"\n1,2,3\n1,2,3\n");
    fuzz_add_text(add, "a,b\n1e-320,5e-324\n1e308,1e309\n");
    fuzz_add_text(add, "1,2\n3,4\n");
}
