#!/bin/sh
# check_engines.sh: fails where run, record, the viewer's server or its page know an engine by name: a quoted name, or an
# identifier of an engine's room. They ask what an engine can do instead; scene/registry.c lists the engines.
set -eu
cd "$(dirname -- "$0")/.."
names='"(full|tree|mechanism)"|\b(bo|bough)_(full|mechanism)_[a-z]|\bbo_(body|tree)_[a-z]|\bbough_body_[a-z]'
if grep -rnE "$names" src/run src/record app/view viewer/page | grep -vE 'role: "tree"'; then
    echo "these lines know an engine by name: see tools/check_engines.sh" >&2
    exit 1
fi
echo "no engine is known by name outside of its room and the registry"
