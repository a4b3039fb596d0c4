#!/bin/sh
# run.sh PROGRAM FOLDER: the tests of the npm package that was built into build/wasm/npm, with the program that packs, and
# the folder of native ones that step the same (run_pack, run_world, run_robot). Closes with "N passed, N failed".
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
BOUGH_PROGRAM=$1 BOUGH_NATIVE=$2
export BOUGH_PROGRAM BOUGH_NATIVE
code=0
told=$(node --test --test-reporter=tap "$here"/*.test.js </dev/null 2>&1) || code=$?
[ $code = 0 ] || printf '%s\n' "$told"
printf '%s\n' "$told" | awk -v code="$code" '
    /^# (pass|fail|skipped) [0-9]+/ { count[$2] = $3 }
    END { failed = count["fail"] + 0
          if (code != 0 && failed == 0) failed = 1
          line = count["pass"] + 0 " passed, " failed " failed"
          print count["skipped"] ? line ", " count["skipped"] " skipped" : line
          exit failed > 0 || count["pass"] + 0 == 0 }'
