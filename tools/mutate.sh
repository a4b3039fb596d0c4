#!/bin/sh
# mutate.sh ROOM [COUNT] [SEED] [TESTS]: how many of COUNT (20) random changes of one operator, constant or statement of
# src/ROOM, app/view (ROOM is view) or app (ROOM is app) the tests notice whose names begin with TESTS (those of the
# room; several: 'time|fem_body'). Works in a copy of the last commit, below build/mutants. A change that does not
# compile, or gives the same object code, does not count. The quickest tests come first and the first that fails or
# takes ten times as long as usual ends the list. glibc checks the heap (where libc_malloc_debug is there), since the
# sanitizers of .ci/run would notice what spoils it.
#
# One line a change; what no test noticed is kept in build/mutants/ROOM.left, to be tried again when a test was written
# (the code unchanged): BOUGH_MUTANTS=build/mutants/ROOM.left tools/mutate.sh ROOM. 90 % is what we ask for. Some of what
# is left makes no difference that anybody could see, the rest wants a test.
#
# Example: tools/mutate.sh contact 20 1 'contact|mechanism_among'
set -eu
room=${1:?usage: mutate.sh ROOM [COUNT] [SEED] [TESTS]}
count=${2:-20}
seed=${3:-1}
case $room in
reduce) default='reduce_|app_peaks' ;; # the strain of neighbours
scene) default='scene_|app_cook|run_joints' ;; # what is cooked and foretold
multibody) default='multibody_|run_multibody|app_multibody' ;; # its engine
view) default='app_view|app_server|app_inside|app_oak_session' ;;
*) default="${room}_" ;;
esac
tests=${4:-$default}
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
place=${BOUGH_MUTANTS_FOLDER:-$root/build/mutants}
tree="$place/tree"
build="$place/build"
case $room in
app) folder=app ;;
view) folder=app/view ;;
*) folder="src/$room" ;;
esac

# Only files that differ are written anew, so that what was built before stays.
mkdir -p "$tree" "$build"
GIT_INDEX_FILE="$place/index" git --git-dir="$(git -C "$root" rev-parse --absolute-git-dir)" --work-tree="$tree" \
    read-tree -u --reset HEAD
export CCACHE_BASEDIR="$tree" CCACHE_NOHASHDIR=1
[ -f "$build/build.ninja" ] || cmake -S "$tree" -B "$build" -G Ninja -DBOUGH_TESTS=ON >/dev/null
ninja -C "$build" build.ninja >/dev/null
names=$(ctest --test-dir "$build" -N | sed -n 's/^ *Test *#[0-9]*: //p' | grep -E "^($tests)")
# shellcheck disable=SC2086
ninja -C "$build" $names >/dev/null

program() { [ -x "$build/tests/$1" ] && echo "$build/tests/$1" || echo "$build/tests/fuzz/$1"; }
heap=libc_malloc_debug.so.0
[ -z "$(LD_PRELOAD=$heap true 2>&1)" ] || heap=
run_test() { # NAME SECONDS
    (cd "$build/tests" && MALLOC_CHECK_=3 MALLOC_PERTURB_=165 LD_PRELOAD=$heap timeout -k 5 "$2" "$(program "$1")" \
        >/dev/null 2>&1 </dev/null)
}

# How long each test takes when nothing is changed; one that fails even then says nothing.
for name in $names; do
    start=$(date +%s%N)
    if run_test "$name" 600; then
        echo "$((($(date +%s%N) - start) / 1000000)) $name"
    else
        echo "$name fails without any change and is left out" >&2
    fi
done | sort -n >"$place/times"

# Every place that can be changed: file, line, column, what, by what. Comments, texts, declarations of arrays, tables and
# numbers with exponents (tolerances, mostly) are left alone.
sites() {
    (cd "$tree" && awk '
    BEGIN {
        add(" + ", " - "); add(" - ", " + "); add(" * ", " / "); add(" / ", " * "); add(" < ", " <= ")
        add(" <= ", " < "); add(" > ", " >= "); add(" >= ", " > "); add(" == ", " != "); add(" != ", " == ")
        add(" && ", " || "); add(" || ", " && "); add(" += ", " -= "); add(" -= ", " += "); add("return true;", "return false;")
        add("return false;", "return true;"); add("(!", "(")
    }
    function add(a, b) { n++; old[n] = a; new[n] = b }
    function site(at, a, b,    quotes) {
        quotes = substr(code, 1, at - 1)
        gsub(/\\"/, "", quotes)
        if (gsub(/"/, "", quotes) % 2 == 0)
            print FILENAME "\t" FNR "\t" at "\t" a "\t" b
    }
    /^ *(\/\*|\*|#|static const|typedef|enum)/ || /^[a-z]/ { next }
    {
        code = $0
        sub(/ *\/\*.*/, "", code)
        for (i = 1; i <= n; i++) {
            for (from = 1; (at = index(substr(code, from), old[i])) > 0; from += at)
                site(from + at - 1, old[i], new[i])
        }
        if (code !~ /^ +(const )?[a-z_0-9]+ [^=]*\[/)
            for (from = 1; match(substr(code, from), /[ (][0-9]+(\.[0-9]+)?[ ;,)]/); from += RSTART) {
                number = substr(code, from + RSTART, RLENGTH - 2)
                site(from + RSTART, number, sprintf("%.12g", number + 1) (number ~ /\.0*$/ ? ".0" : ""))
            }
        if (code ~ /^ +[a-z_]+(->[a-z_]+)?(\[[^]]*\])? [-+*]?= .*;$/ || code ~ /^ +[a-z_]+\(.*\);$/)
            print FILENAME "\t" FNR "\t1\tstatement\tnothing"
    }' "$folder"/*.c)
}
shuffled() { awk -v seed="$seed" 'BEGIN { x = seed + 12345; for (i = 0; i < 20; i++) x = x * 16807 % 2147483647 }
    { x = x * 16807 % 2147483647; print x "\t" $0 }' | sort -n | cut -f 2-; }

changed=''
restore() {
    [ -z "$changed" ] || { cp "$place/kept.c" "$tree/$changed" && changed=''; }
}
trap restore EXIT
trap 'exit 1' INT TERM

# The first test that notices, or nothing.
noticed_by() {
    while read -r took name; do
        ninja -C "$build" "$name" >/dev/null 2>&1 || { echo "$name (does not link)"; return; }
        run_test "$name" $((took / 100 + 10)) || { echo "$name"; return; }
    done <"$place/times"
}

if [ -n "${BOUGH_MUTANTS:-}" ]; then cp "$BOUGH_MUTANTS" "$place/list"; else sites | shuffled >"$place/list"; fi
: >"$place/left"
tried=0 noticed=0
while IFS='	' read -r file line at old new; do
    [ "$tried" -lt "$count" ] || break
    object=$(ninja -C "$build" -t query "$tree/$file" | sed -n 's/^ *\(.*\.o\)$/\1/p' | head -n 1)
    restore
    ninja -C "$build" "$object" >/dev/null
    cp "$tree/$file" "$place/kept.c"
    cp "$build/$object" "$place/kept.o"
    changed=$file
    awk -v line="$line" -v at="$at" -v old="$old" -v new="$new" '
        NR == line && old == "statement" { print ";"; next }
        NR == line { $0 = substr($0, 1, at - 1) new substr($0, at + length(old)) }
        { print }' "$place/kept.c" >"$tree/$file"
    ninja -C "$build" "$object" >/dev/null 2>&1 || continue
    if cmp -s "$build/$object" "$place/kept.o"; then continue; fi
    tried=$((tried + 1))
    by=$(noticed_by)
    [ -z "$by" ] || noticed=$((noticed + 1))
    [ -n "$by" ] || printf '%s\t%s\t%s\t%s\t%s\n' "$file" "$line" "$at" "$old" "$new" >>"$place/left"
    printf '%-24s %s:%s:%s: "%s" became "%s"\n' "${by:-NOT NOTICED}" "$file" "$line" "$at" "$old" "$new"
done <"$place/list"
restore
cp "$place/left" "$place/$room.left"
echo "$room: $noticed of $tried noticed (seed $seed, $(wc -l <"$place/times") test programs)"
