#!/bin/sh
# check_wasm.sh [--scene SCENE STEPS]: builds the runtime and its tests as WebAssembly, runs these under node, and compares
# hashes of what the runtime computes with those of a native program with BOUGH_PORTABLE_BITS. Closes with "N passed, N
# failed". --scene: steps a scene, cooked before, by both instead, says whether all numbers are the same, and what a step
# takes each, and a native one that is built as usual.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
build=$root/build/wasm
native=$root/build/bits-clang
run() { node --no-warnings "$root/wasm/tests/run_tests.mjs" "$@"; }
make_native() {
    cmake -S "$root" -B "$native" -G Ninja -DCMAKE_C_COMPILER=clang -DBOUGH_PORTABLE_BITS=ON -DBOUGH_MULTIVERSION=OFF -DBOUGH_TESTS=ON >/dev/null
    ninja -C "$native" "$1" >/dev/null
}

cmake -S "$root/wasm" -B "$build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$root/wasm/toolchain.cmake" -DBOUGH_TESTS=ON >/dev/null
ninja -C "$build" >"$build/build.log" 2>&1 || { grep -E 'error|warning' "$build/build.log" >&2; exit 1; }
if [ "${1:-}" = --scene ]; then
    scene=$(realpath "$2")
    make_native run_scene
    ninja -C "$root/build" run_scene >/dev/null
    echo "as usual:"
    "$root/build/tests/run_scene" "$scene" "$3" >"$build/usual.txt"
    echo "the same bits everywhere:"
    "$native/tests/run_scene" "$scene" "$3" >"$build/native.txt"
    echo "WebAssembly:"
    run --program "$build/run_scene.wasm" 0 "$scene" "$3" >"$build/wasm.txt"
    diff "$build/native.txt" "$build/wasm.txt" >&2 || { echo "some of $(wc -l <"$build/native.txt") numbers differ"; exit 1; }
    echo "all of $(wc -l <"$build/native.txt") numbers are the same"
    exit 0
fi
status=0
run "$build" || status=1
make_native bits
"$native/tests/bits" >"$build/native.txt"
run --program "$build/bits.wasm" >"$build/wasm.txt"
diff "$build/native.txt" "$build/wasm.txt" >&2 || status=1
echo "bits of WebAssembly: $(wc -l <"$build/native.txt") outputs, $(diff "$build/native.txt" "$build/wasm.txt" | grep -c '^<' || :) differ"
exit $status
