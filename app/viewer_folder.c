/* Finds the folder of the viewer's page. */
#include "app.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The page that is installed with this program, wherever the whole installation was moved to; NULL: none is. */
static const char *installed_viewer(void) {
    static char folder[4096];
    char index[4096 + 16];
    const ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - sizeof BOUGH_VIEWER_BESIDE);
    char *name = length > 0 ? memrchr(folder, '/', (size_t)length) : NULL;
    if (!name)
        return NULL;
    strcpy(name + 1, BOUGH_VIEWER_BESIDE);
    snprintf(index, sizeof index, "%s/index.html", folder);
    return access(index, R_OK) == 0 ? folder : NULL;
}

const char *app_viewer_folder(const char *wish) {
    const char *named = getenv("BOUGH_VIEWER");
    if (wish || (named && named[0]))
        return wish ? wish : named;
    const char *installed = installed_viewer();
    return installed ? installed : BOUGH_VIEWER_FOLDER;
}
