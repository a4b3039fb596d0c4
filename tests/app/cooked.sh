#!/bin/sh
# cooked.sh PROGRAM FOLDER NAME [OPTIONS]: `bough example NAME` in a folder, or a copy of the folder NAME/ where it has
# a slash, with its components cooked. Cooking takes seconds, so that it is done once for all tests of a build: later ones
# get copies, and those that come meanwhile wait.
# The program looks at what it finds and cooks again what does not fit; a program that is newer than what is kept cooks all.
set -eu
program=$1 folder=$2 name=$3
shift 3
case $name in
*/*) mkdir -p "$folder" && cp -r "$name/." "$folder" ;;
*) "$program" example "$name" "$@" -o "$folder" >/dev/null ;;
esac
store="$(dirname "$program")/tests/cooked/$(echo "$(basename "$name") $*" | tr -c 'a-z0-9\n' -)"
mkdir -p "$store"
exec 9>"$store/lock"
if command -v flock >/dev/null 2>&1; then
    flock 9
else
    store=""
fi
if [ -n "$store" ] && [ -f "$store/done" ] && [ -z "$(find "$program" -newer "$store/done")" ]; then
    mkdir -p "$folder/scene.cooked"
    cp "$store"/parts/*.bough "$folder/scene.cooked/"
else
    "$program" cook "$folder/scene.json" >/dev/null
    [ -n "$store" ] || exit 0
    rm -rf "$store/parts" "$store/done"
    mkdir "$store/parts"
    cp "$folder"/scene.cooked/*.bough "$store/parts/"
    : >"$store/done"
fi
