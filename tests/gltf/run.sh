#!/bin/sh
# run.sh PROGRAM: Khronos' validator on what that program records, and three.js. What is missing is skipped.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)

skip() {
    echo "skipped: $1; ./bough test gltf installs it"
    echo "[  SKIPPED ] 1 test(s)."
    exit 0
}

command -v node >/dev/null 2>&1 || skip "there is no node"
[ -d "$here/node_modules/gltf-validator" ] || skip "the npm package gltf-validator is missing"
node "$here/validate.mjs" --bough "$1"
[ -d "$here/../../viewer/node_modules/three" ] || skip "the npm package three is missing"
exec node "$here/three.mjs" "$1"
