#!/bin/sh
# fuzz.sh BUILD SECONDS [TARGET ...]: runs the fuzz targets of a build with BOUGH_FUZZ=ON, each for so long, two at a time.
# BOUGH_FUZZ_SEED=N: with the same inputs each time, as far as they go; else others each time.
# What ends one is kept in BUILD/fuzz/TARGET/crash-...; TARGET FILE runs it again. Closes with "N targets, N failed".
set -eu
build=$1
seconds=$2
shift 2
[ $# -gt 0 ] || set -- $(cd "$build/tests/fuzz" && find . -maxdepth 1 -type f -perm -u+x -name 'fuzz_*' | sed 's:^\./::' | sort)
[ $# -gt 0 ] || { echo "fuzz.sh: $build has no fuzz targets; configure it with -DBOUGH_FUZZ=ON" >&2; exit 1; }

# One target: its seeds, then what libFuzzer makes of them. Memory beyond 1 GB and inputs of more than 10 s are failures.
run_one='
    build=$1 seconds=$2 name=$3
    folder=$build/fuzz/$name
    mkdir -p "$folder/corpus"
    if "$build/tests/fuzz/$name" --seeds "$folder/corpus" >"$folder/log" 2>&1 &&
        "$build/tests/fuzz/$name" -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=10 -detect_leaks=1 \
            -seed="${BOUGH_FUZZ_SEED:-0}" \
            -print_final_stats=1 -artifact_prefix="$folder/" "$folder/corpus" >>"$folder/log" 2>&1; then
        runs=$(sed -n "s/^stat::number_of_executed_units: *//p" "$folder/log")
        echo "passed $name ($runs inputs)"
    else
        echo "failed $name:"
        tail -n 30 "$folder/log"
    fi
'
mkdir -p "$build/fuzz"
printf '%s\n' "$@" | xargs -P 2 -I NAME sh -c "$run_one" sh "$build" "$seconds" NAME >"$build/fuzz/all.log" 2>&1 || :
cat "$build/fuzz/all.log"
passed=$(grep -c '^passed ' "$build/fuzz/all.log" || :)
failed=$(($# - passed))
echo "$# fuzz targets, $failed failed"
[ "$failed" = 0 ]
