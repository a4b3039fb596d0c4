#!/bin/sh
# mutate.sh ROOM [COUNT] [SEED] [TEST ROOMS]: how many of COUNT (20) random changes of one operator, constant or statement
# of src/ROOM (or app/ROOM) its tests notice. Works in a copy of the last commit, below build/mutants; 90 % is what we
# ask for. What is not noticed is printed with its place: many of these make no difference (a speed-up that is left out),
# the others want a test.
#
# Example: tools/mutate.sh contact 20 1 'contact|mechanism'
set -eu
room=${1:?usage: mutate.sh ROOM [COUNT] [SEED] [TEST ROOMS]}
count=${2:-20}
seed=${3:-1}
tests=${4:-$room}
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
tree="$root/build/mutants/tree"
build="$root/build/mutants/build"

mkdir -p "$tree" "$build"
git -C "$root" archive HEAD | tar -x -m -C "$tree"
cmake -S "$tree" -B "$build" -G Ninja -DBOUGH_TESTS=ON >/dev/null
ninja -C "$build" >/dev/null
[ -d "$tree/src/$room" ] && folder="$tree/src/$room" || folder="$tree/app/$room"

# All places that can be changed: file, line, what, by what. Comments, declarations and tables of names are left alone.
sites() {
    awk '
    BEGIN {
        add(" + ", " - "); add(" - ", " + "); add(" * ", " / "); add(" < ", " <= "); add(" <= ", " < ")
        add(" > ", " >= "); add(" >= ", " > "); add(" == ", " != "); add(" != ", " == "); add(" && ", " || ")
        add(" || ", " && "); add("return true;", "return false;"); add("0.5 ", "0.6 "); add(" += ", " -= ")
    }
    function add(a, b) { n++; old[n] = a; new[n] = b }
    /^ *(\/\*|\*|#|static const char|typedef|enum)/ { next }
    {
        for (i = 1; i <= n; i++)
            if (index($0, old[i]))
                print FILENAME "\t" FNR "\t" old[i] "\t" new[i]
        if ($0 ~ /^ +[a-z_]+(->[a-z_]+)?(\[[^]]*\])? = .*;$/ || $0 ~ /^ +[a-z_]+\(.*\);$/)
            print FILENAME "\t" FNR "\tstatement\tnothing"
    }' "$folder"/*.c
}

list="$root/build/mutants/sites"
sites | awk -v seed="$seed" 'BEGIN { srand(seed) } { print rand() "\t" $0 }' | sort -n | cut -f 2- >"$list"
tried=0 noticed=0
while IFS='	' read -r file line old new; do
    [ "$tried" -lt "$count" ] || break
    cp "$file" "$file.kept"
    awk -v line="$line" -v old="$old" -v new="$new" '
        NR == line && old == "statement" { print ";"; next }
        NR == line { i = index($0, old); $0 = substr($0, 1, i - 1) new substr($0, i + length(old)) }
        { print }' "$file.kept" >"$file"
    if ninja -C "$build" >/dev/null 2>&1; then
        tried=$((tried + 1))
        if ctest --test-dir "$build" -j "$(nproc)" --timeout 300 --stop-on-failure -L "^($tests)\$" >/dev/null 2>&1; then
            printf 'not noticed: %s:%s: "%s" became "%s"\n' "${file#"$tree"/}" "$line" "$old" "$new"
        else
            noticed=$((noticed + 1))
        fi
    fi
    mv "$file.kept" "$file"
    touch "$file"
done <"$list"
ninja -C "$build" >/dev/null
echo "$noticed of $tried noticed"
