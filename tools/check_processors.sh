#!/bin/sh
# check_processors.sh [--long]: builds the runtime library with BOUGH_PORTABLE_BITS for ARM processors of 64 and of 32
# bits, by Debian's cross compilers and with warnings as errors, and runs those of its tests that need nothing else under
# qemu-user (./bough setup arm), and tests/bits, whose hashes must be those of tests/tree/bits.golden. Closes with "N
# passed, N failed". --long: also those that take minutes under emulation.
set -eu
slow="-LE ^slow\$"
[ "${1:-}" != --long ] || slow=""
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
status=0
for target in aarch64-linux-gnu arm-linux-gnueabihf; do
    build=$root/build/$target
    cmake -S "$root" -B "$build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$root/cmake/cross.cmake" -DBOUGH_TARGET=$target \
        -DBOUGH_RUNTIME_ONLY=ON -DBOUGH_INSTALL=OFF -DBOUGH_TESTS=ON -DBOUGH_PORTABLE_BITS=ON -DBOUGH_WERROR=ON >/dev/null
    ninja -C "$build" >"$build/build.log" 2>&1 || { grep -E 'error|warning' "$build/build.log" >&2; exit 1; }
    # shellcheck disable=SC2086
    "$root/tools/run_tests.sh" "$build" $slow >"$build/tests.log" 2>&1 || { status=1; cat "$build/tests.log"; }
    echo "$target: $(tail -n 1 "$build/tests.log")"
done
tail -q -n 1 "$root"/build/aarch64-linux-gnu/tests.log "$root"/build/arm-linux-gnueabihf/tests.log |
    awk '{ passed += $1; failed += $3; skipped += $5 }
         END { line = passed " passed, " failed " failed"; print skipped ? line ", " skipped " skipped" : line }'
exit $status
