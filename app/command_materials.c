#include "app.h"

int command_materials(int argc, char **argv) {
    bool json = app_wants_json(argc, argv,
                               "The material models that bodies can be made of."
                               "\vExample:\n  bough materials --json");
    json_t *list = json_array();
    for (int m = 0; m < BOUGH_MATERIAL_MODEL_COUNT; m++) {
        const char *name = bough_material_name((bough_material_model)m),
                   *about = bough_material_about((bough_material_model)m);
        if (json)
            json_array_append_new(list, json_pack("{s:s, s:s}", "name", name, "about", about));
        else
            printf("%-20s %s\n", name, about);
    }
    if (json)
        app_print_json(json_pack("{s:o}", "materials", list));
    else
        json_decref(list);
    return APP_OK;
}
