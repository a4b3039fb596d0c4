#!/bin/sh
# run.sh PROGRAM: the tests of the viewer's page with that program. Where something is missing they are skipped.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)

skip() {
    echo "skipped: $1; ./bough test viewer installs it"
    echo "[  SKIPPED ] 1 test(s)."
    exit 0
}

command -v node >/dev/null 2>&1 || skip "there is no node"
[ -d "$here/node_modules/playwright-core" ] && [ -d "$here/../../viewer/node_modules/three" ] || skip "npm packages are missing"
command -v chromium >/dev/null 2>&1 || skip "there is no chromium"
BOUGH_PROGRAM=$1 BOUGH_CHROMIUM=$(command -v chromium) exec node "$here/run.js"
