#!/bin/sh
# check_wasm.sh: builds the runtime and its tests as WebAssembly, runs these under node, and compares hashes of what the
# runtime computes with those of a native program with BOUGH_PORTABLE_BITS. Closes with "N passed, N failed".
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
build=$root/build/wasm
cmake -S "$root/wasm" -B "$build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$root/wasm/toolchain.cmake" -DBOUGH_TESTS=ON >/dev/null
ninja -C "$build" >"$build/build.log" 2>&1 || { grep -E 'error|warning' "$build/build.log" >&2; exit 1; }
status=0
node --no-warnings "$root/wasm/tests/run_tests.mjs" "$build" || status=1
native=$root/build/bits-clang
cmake -S "$root" -B "$native" -G Ninja -DCMAKE_C_COMPILER=clang -DBOUGH_PORTABLE_BITS=ON -DBOUGH_MULTIVERSION=OFF -DBOUGH_TESTS=ON >/dev/null
ninja -C "$native" bits >/dev/null
"$native/tests/bits" >"$build/native.txt"
node --no-warnings "$root/wasm/tests/run_tests.mjs" --program "$build/bits.wasm" >"$build/wasm.txt"
diff "$build/native.txt" "$build/wasm.txt" >&2 || status=1
echo "bits of WebAssembly: $(wc -l <"$build/native.txt") outputs, $(diff "$build/native.txt" "$build/wasm.txt" | grep -c '^<' || :) differ"
exit $status
