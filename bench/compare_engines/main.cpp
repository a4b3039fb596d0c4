/* What a step of the same mechanism costs in Bough and in two other engines, one after the other on one core.
 *
 *     cmake -S . -B build/compare -G Ninja -DCMAKE_BUILD_TYPE=Release -DBOUGH_COMPARE=ON
 *     ninja -C build/compare compare_engines && taskset -c 1 build/compare/compare_engines
 */
#include "engines.h"

#include <cmath>
#include <cstdio>

static void print(const char *engine, const compare_result &r) {
    std::printf("  %-34s %9.2f us (least %.2f), moved %8.4f %8.4f %8.4f mm%s\n", engine, r.microseconds, r.least,
                1e3 * r.moved[0], 1e3 * r.moved[1], 1e3 * r.moved[2],
                std::isfinite(r.moved[0] + r.moved[1] + r.moved[2]) ? "" : " (unstable)");
}

int main() {
    for (int i = 0; i < compare_subject_count(); i++) {
        compare_subject subject = compare_subject_make(i);
        const bool tree = subject.def->joint_count == subject.def->link_count - 1;
        std::printf("%s: %d links, %d joints\n", subject.name, subject.def->link_count - 1, subject.def->joint_count);
        print("Bough", compare_bough(&subject, 0));
        print("Bough, 24 internal modes", compare_bough(&subject, 24));
        if (tree)
            print("Bullet, articulated bodies alone", compare_bullet(subject, true));
        print("Bullet, world", compare_bullet(subject, false));
        print("ODE, quick step", compare_ode(subject, true, 200));
        if (subject.def->link_count < 200)
            print("ODE, direct step", compare_ode(subject, false, 20));
        compare_subject_drop(&subject);
    }
    return 0;
}
