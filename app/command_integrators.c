#include "app.h"

#include <bough/time.h>

static const char *stability(const bough_integrator_info *info) {
    return info->l_stable ? "A, L" : info->a_stable ? "A" : "-";
}

int command_integrators(int argc, char **argv) {
    bool json =
        app_wants_json(argc, argv,
                       "The time integrators: order, stability, cost of a step (of a Newton iteration and stage "
                       "for the fully implicit ones), parameters.\vExample:\n  bough integrators --json");
    json_t *list = json_array();
    if (!json)
        printf("name                  order  stable  factor  solve  parameters   about\n");
    for (int32_t i = 0; i < bough_integrator_count(); i++) {
        const bough_integrator_info *info = bough_integrator_describe(i);
        if (json)
            json_array_append_new(
                list, json_pack("{s:s, s:s, s:i, s:b, s:b, s:b, s:i, s:i, s:s}", "name", info->name, "about",
                                info->about, "order", (int)info->order, "a_stable", (int)info->a_stable, "l_stable",
                                (int)info->l_stable, "explicit", (int)info->explicit_method, "factorisations",
                                (int)info->factorisations, "solves", (int)info->solves, "parameters", info->needs));
        else
            printf("%-20s  %5d  %-6s  %6d  %5d  %-11s  %s\n", info->name, info->order, stability(info),
                   info->factorisations, info->solves, info->needs, info->about);
    }
    if (json)
        app_print_json(json_pack("{s:o}", "integrators", list));
    else
        json_decref(list);
    return APP_OK;
}
