/* Measured trajectories for `bough fit`: the file is read, or refused, before the scene, which is not there. */
#include "command_line.h"

void fuzz_one(const uint8_t *data, size_t size) {
    char path[512], scene[512], marker[600];
    snprintf(path, sizeof path, "%s", test_path("seen.csv"));
    snprintf(scene, sizeof scene, "%s", test_path("none.json"));
    snprintf(marker, sizeof marker, "--marker=weight=%s", path);
    test_write(path, data, size);
    check_int(fuzz_command(command_fit, 3, (char *[]){"fit", scene, marker, NULL}), APP_FAILED);
    snprintf(marker, sizeof marker, "--marker=weight=%s", path); /* it was cut in two */
    check_int(fuzz_command(command_fit, 5, (char *[]){"fit", scene, marker, "--unit", "mm", NULL}), APP_FAILED);
}

void fuzz_seeds(fuzz_add *add) {
    char text[4000] = "time,weight.x,weight.y,weight.z\n";
    for (int i = 0; i < 40; i++)
        snprintf(text + strlen(text), 80, "%g,%g,0,%g\n", 0.01 * i, 0.001 * i, 1 - 0.002 * i);
    fuzz_add_text(add, text);
    fuzz_add_text(add, "t (ms),x (mm),y (mm),z (mm)\n0,1,2,3\n1,2,3,4\n2,,3,4\n");
    fuzz_add_text(add, "\xEF\xBB\xBF\"time\" , x , y , z\r\n0,1,2,3\r\n0,1,2,3\r\n");
    fuzz_add_text(add, "time,x,y,z\n0,nan,inf,1e309\n");
}
