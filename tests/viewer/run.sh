#!/bin/sh
# run.sh PROGRAM FILE: tests of the viewer's page (*.test.js) with that program. Where something is missing they are
# skipped. Closes with counts in cmocka's form, which tools/run_tests.sh adds up.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)

skip() {
    echo "skipped: $1; ./bough test viewer installs it"
    echo "[  SKIPPED ] 1 test(s)."
    exit 0
}

command -v node >/dev/null 2>&1 || skip "there is no node"
{ [ -d "$here/node_modules/playwright-core" ] && [ -d "$here/../../viewer/node_modules/three" ]; } || skip "npm packages are missing"
command -v chromium >/dev/null 2>&1 || skip "there is no chromium"
BOUGH_PROGRAM=$1
BOUGH_CHROMIUM=$(command -v chromium)
export BOUGH_PROGRAM BOUGH_CHROMIUM

# A file that ends without having told its counts counts as one failure.
code=0
told=$(node --test-reporter=tap "$2" </dev/null) || code=$?
printf '%s\n' "$told"
printf '%s\n' "$told" | awk -v code="$code" '
    /^# pass [0-9]+/ { print "[  PASSED  ] " $3 " test(s)." }
    /^# fail [0-9]+/ && $3 > 0 { print "[  FAILED  ] " $3 " test(s)."; failed = 1 }
    /^# skipped [0-9]+/ && $3 > 0 { print "[  SKIPPED ] " $3 " test(s)." }
    END { if (code != 0 && !failed) print "[  FAILED  ] 1 test(s)." }'
exit $code
