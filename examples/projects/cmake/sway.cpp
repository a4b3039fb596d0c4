// Lets a pack swing for a second, returns to the start, and does it again with more damping: sway FILE.pack
#include "owned.hpp"

#include <bough/tree.h>

#include <cmath>
#include <cstdint>
#include <exception>
#include <iostream>
#include <vector>

namespace {

class tree {
  public:
    tree(bough_context *ctx, const char *path) : ctx(ctx), model(ctx), state(ctx) {
        check(ctx, bough_tree_model_load(ctx, path, model.out()));
        check(ctx, bough_tree_state_create(ctx, model, state.out()));
        start.resize(bough_tree_state_snapshot_size(model, state));
        bough_tree_state_save(model, state, start.data());
    }

    // Pulls the last part sideways for a tenth of a second; returns the speed of its fastest vertex at the end, m/s.
    double swing() {
        const std::int32_t part = bough_tree_model_part_count(model) - 1;
        const double dt = 1.0 / 240, force[3] = {0, 0.5, 0}, none[3] = {0, 0, 0};
        for (int i = 0; i < 240; i++) {
            check(ctx, bough_tree_state_add_wrench(ctx, model, state, part, i < 24 ? force : none, none));
            check(ctx, bough_tree_advance(ctx, model, state, dt, nullptr));
        }
        double fastest = 0;
        for (std::int32_t i = 0; i < vertices(part); i++) {
            double position[3], velocity[3];
            check(ctx, bough_tree_state_vertex(ctx, model, state, part, i, position, velocity));
            fastest = std::fmax(fastest, std::hypot(velocity[0], velocity[1], velocity[2]));
        }
        return fastest;
    }

    void damp(double ratio) {
        const std::int32_t count = bough_tree_model_part_count(model);
        for (std::int32_t i = 0; i < count; i++)
            check(ctx, bough_tree_state_set_damping_ratio(ctx, model, state, i, ratio));
    }

    void rewind() {
        check(ctx, bough_tree_state_restore(ctx, model, state, start.data(), start.size()));
    }

  private:
    std::int32_t vertices(std::int32_t part) const {
        const bough_tree_model_def *def = bough_tree_model_describe(model);
        return def->components[def->parts[part].component]->surface.vertex_count;
    }

    bough_context *ctx;
    owned<bough_tree_model, bough_tree_model_destroy> model;
    owned<bough_tree_state, bough_tree_state_destroy> state;
    std::vector<unsigned char> start;
};

} // namespace

int main(int count, char **arguments) {
    if (count != 2) {
        std::cerr << "usage: sway FILE.pack\n";
        return 2;
    }
    try {
        const context ctx = make_context();
        tree t(ctx.get(), arguments[1]);
        const double first = t.swing();
        t.rewind();
        const bool same = t.swing() == first;
        t.rewind();
        t.damp(0.2);
        const double damped = t.swing();
        std::cout << "after a second the fastest vertex moves at " << first << " m/s; again, "
                  << (same ? "to the same bits" : "at another speed") << "; with a damping ratio of 0.2 at " << damped
                  << " m/s\n";
        return same && damped < first ? 0 : 1;
    } catch (const std::exception &e) {
        std::cerr << "sway: " << e.what() << "\n";
        return 1;
    }
}
