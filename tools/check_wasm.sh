#!/bin/sh
# check_wasm.sh [--build | --scene SCENE STEPS]: builds Bough as WebAssembly (the engine of exported pages, the npm package,
# and the tests of the runtime), runs these tests and those of the package under node, and compares hashes of what the
# runtime computes with those of a native program with BOUGH_PORTABLE_BITS. Prints "N passed, N failed" for each.
# --build: builds, and no more. --scene: steps a scene, cooked before, by both instead, says whether all numbers are the
# same, and what a step takes each, and a native one that is built as usual; in Chromium, too, where tests of the viewer can
# run.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
build=$root/build/wasm
native=$root/build/bits-clang
tests=$root/wasm/tests
run() { node --no-warnings "$tests/run_tests.mjs" "$@"; }
make_native() {
    cmake -S "$root" -B "$native" -G Ninja -DCMAKE_C_COMPILER=clang -DBOUGH_PORTABLE_BITS=ON -DBOUGH_MULTIVERSION=OFF -DBOUGH_TESTS=ON >/dev/null
    ninja -C "$native" "$@" >/dev/null
}

cmake -S "$root/wasm" -B "$build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$root/wasm/toolchain.cmake" -DBOUGH_TESTS=ON >/dev/null
ninja -C "$build" >"$build/build.log" 2>&1 || { grep -E 'error|warning' "$build/build.log" >&2; exit 1; }
if grep -E 'warning: ' "$build/build.log" >&2; then
    echo "clang warns" >&2
    exit 1
fi
case ${1:-} in
--build) exit 0 ;;
--scene)
    scene=$(realpath "$2")
    make_native run_scene
    ninja -C "$root/build" run_scene >/dev/null
    echo "as usual:"
    "$root/build/tests/run_scene" "$scene" "$3" >"$build/usual.txt"
    echo "the same bits everywhere:"
    "$native/tests/run_scene" "$scene" "$3" >"$build/native.txt"
    echo "WebAssembly:"
    run --program "$build/run_scene.wasm" 0 "$scene" "$3" >"$build/wasm.txt"
    if command -v chromium >/dev/null && [ -d "$root/tests/viewer/node_modules" ]; then
        echo "WebAssembly in Chromium:"
        node "$root/tests/viewer/run_scene.js" "$build/run_scene.wasm" "$scene" "$3" >"$build/chromium.txt"
        diff "$build/wasm.txt" "$build/chromium.txt" >&2 || { echo "Chromium has other numbers than node"; exit 1; }
    fi
    diff "$build/native.txt" "$build/wasm.txt" >&2 || { echo "some of $(wc -l <"$build/native.txt") numbers differ"; exit 1; }
    echo "all of $(wc -l <"$build/native.txt") numbers are the same"
    exit 0
    ;;
esac

status=0
run "$build" || status=1
make_native bits run_pack run_world run_robot
"$native/tests/bits" >"$build/native.txt"
run --program "$build/bits.wasm" >"$build/wasm.txt"
diff "$build/native.txt" "$build/wasm.txt" >&2 || status=1
echo "bits of WebAssembly: $(wc -l <"$build/native.txt") outputs, $(diff "$build/native.txt" "$build/wasm.txt" | grep -c '^<' || :) differ"
# What is packed for the package's tests; and the compiler that looks at its types, or they say that it is not there.
[ -x "$root/build/bough" ] || "$root/bough" --version >/dev/null
[ -d "$tests/npm/node_modules/typescript" ] || (cd "$tests/npm" && npm ci --no-audit --no-fund >/dev/null 2>&1) || :
"$tests/npm/run.sh" "$root/build/bough" "$native/tests" || status=1
exit $status
