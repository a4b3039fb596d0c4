#!/bin/sh
# compare_bits.sh [--all | --renew] [CMAKE OPTIONS]: builds tests/bits with BOUGH_PORTABLE_BITS=ON, by gcc with AVX2
# versions of hot loops and by clang without them, and compares what the two print, hashes of outputs of the runtime
# library, with each other and with tests/tree/bits.golden. --all: also what the program writes (cooked components, runs
# by the tree, full and mechanism engines, meshes). --renew: writes tests/tree/bits.golden anew, for a change that is
# meant to give other numbers. Closes with "N outputs, N differ".
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
golden=$root/tests/tree/bits.golden
all=0 renew=0
case ${1:-} in
--all) all=1 && shift ;;
--renew) renew=1 && shift ;;
esac

hashes() { # FOLDER OUTPUTS: one line for each file below, but for those that tell times
    (cd "$1" && find . -type f ! -name '*.log' | sort | xargs sha256sum | sed 's/^\([0-9a-f]*\)  /\1 /')
}

run_program() { # BUILD FOLDER
    rm -rf "$2"
    mkdir -p "$2"
    program=$1/bough
    (
        cd "$2"
        for name in y-tree two-leaves beam helix walker; do
            cp -r "$root/examples/$name" .
        done
        "$program" cook y-tree/scene.json >cook.log
        "$program" run y-tree/scene.json --time 0.2 --record tree.csv >run.log
        "$program" run two-leaves/scene.json --time 0.2 --record leaves.csv >run.log
        "$program" run y-tree/scene.json --engine full --time 0.02 --record full.csv >run.log
        "$program" run beam/scene.json --time 0.05 --record beam.csv >run.log
        "$program" run helix/scene.json --time 0.2 --record helix.csv >run.log
        "$program" run walker/scene.json --time 0.2 --record walker.csv >run.log
        "$program" mesh generate rod --length 1 --radius 0.1 --output rod.msh
        "$program" example flower -o flower >run.log
    ) >"$2.log" 2>&1 || { tail -n 5 "$2.log" >&2; exit 1; }
}

for compiler in gcc clang; do
    build=$root/build/bits-$compiler
    targets=bits
    versions=ON
    [ $compiler = gcc ] || versions=OFF
    [ $all = 0 ] || targets="bits bough"
    cmake -S "$root" -B "$build" -G Ninja -DCMAKE_C_COMPILER=$compiler -DBOUGH_PORTABLE_BITS=ON -DBOUGH_MULTIVERSION=$versions -DBOUGH_TESTS=ON "$@" >/dev/null
    # shellcheck disable=SC2086
    ninja -C "$build" $targets >/dev/null
    "$build/tests/bits" >"$build/bits.txt"
    if [ $renew = 0 ] && ! "$root/tools/golden_bits.sh" cat "$build/bits.txt" >"$build/golden.log"; then
        cat "$build/golden.log" >&2
        exit 1
    fi
    if [ $all = 1 ]; then
        run_program "$build" "$build/outputs"
        hashes "$build/outputs" | awk '{ print $2, $1 }' >>"$build/bits.txt"
    fi
done
outputs=$(wc -l <"$root/build/bits-gcc/bits.txt")
differ=$(diff "$root/build/bits-gcc/bits.txt" "$root/build/bits-clang/bits.txt" | tee "$root/build/bits.diff" | grep -c '^<' || :)
[ "$differ" = 0 ] || cat "$root/build/bits.diff"
echo "$outputs outputs, $differ differ"
[ "$differ" = 0 ] && [ "$outputs" -gt 20 ]
[ $renew = 0 ] || cp "$root/build/bits-gcc/bits.txt" "$golden"
