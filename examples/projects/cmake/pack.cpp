// Cooks a scene of parts and writes it as a pack for the runtime: pack SCENE.json FILE.pack
#include "owned.hpp"

#include <bough/bough.h>

#include <exception>
#include <iostream>

int main(int count, char **arguments) {
    if (count != 3) {
        std::cerr << "usage: pack SCENE.json FILE.pack\n";
        return 2;
    }
    try {
        const context ctx = make_context();
        owned<bough_scene, bough_scene_destroy> scene(ctx.get());
        owned<bough_tree_model, bough_tree_model_destroy> model(ctx.get());
        check(ctx.get(), bough_scene_load(ctx.get(), arguments[1], scene.out()));
        check(ctx.get(), bough_scene_model(ctx.get(), scene, model.out()));
        check(ctx.get(), bough_tree_model_save(ctx.get(), model, arguments[2]));
        std::cout << arguments[2] << ": " << bough_tree_model_part_count(model) << " parts, by Bough "
                  << bough_version() << "\n";
    } catch (const std::exception &e) {
        std::cerr << "pack: " << e.what() << "\n";
        return 1;
    }
}
