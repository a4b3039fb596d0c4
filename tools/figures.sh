#!/bin/sh
# figures.sh [--old | --docs] [WORD]: measures the figures of the documents anew and says which have moved. They stand in
# docs/figures.txt with the commands that make them; its head says how. WORD: only those whose line, or whose command, has
# it. --old: looks at what the commands printed the last time (build/figures/) instead of running them. --docs: runs
# nothing, and only sees to it that every value still stands in its document.
#
# Ends with status 1 when a fact moved, was not found in the output, or stands in its document no longer. Times are shown,
# but depend on the machine: they never fail. BOUGH_BUILD names another build folder than build.
#
# Examples: tools/figures.sh 'bench loops'     tools/figures.sh validation/trees.md
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
cd "$root"
build=${BOUGH_BUILD:-build}
case $build in
/*) ;;
*) build="$root/$build" ;;
esac
how=run
case ${1:-} in
--old | --docs) how=${1#--} && shift ;;
-*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac
word=${1:-}
results="$build/figures"
mkdir -p "$results"

# The table as lines "number of the run, tab, kind, tab, rest": kinds are run, needs and figure. Only what has the word.
table="$results/table"
awk -v word="$word" '
    /^#/ || /^ *$/ { next }
    /^run / { number++; command = $0; sub(/^run +/, "", command); needs = ""; told = 0; next }
    /^needs / { needs = $2; next }
    word == "" || index($0, word) || index(command, word) {
        if (!told) {
            printf "%d\trun\t%s\n", number, command
            if (needs != "")
                printf "%d\tneeds\t%s\n", number, needs
        }
        told = 1
        printf "%d\tfigure\t%s\n", number, $0
    }' docs/figures.txt >"$table"
if ! [ -s "$table" ]; then
    echo "figures: no figure or command has \"$word\"" >&2
    exit 2
fi

# Runs a command of the table in the folder of the repository; $T is a folder for its files.
measure() {
    T="$results/files" && export T && mkdir -p "$T"
    text=$(printf '%s\n' "$2" | sed -e "s|\./bough |$build/bough |g" -e "s|build/tests/|$build/tests/|g")
    printf '%s\n' "$2" >&2
    sh -c "$text" >"$1" 2>&1 || printf 'the command failed: status %d\n' $? >>"$1"
}

there() {
    command -v "$1" >/dev/null 2>&1 || [ -e "$1" ]
}

# compare NUMBER FILE: the figures of a run against what it printed into the file.
compare() {
    awk -F '\t' -v number="$1" -v how="$how" -v output="$2" '
        function trim(s) { gsub(/^ +| +$/, "", s); return s }
        # The number that stands in the text, whose thousands may have commas.
        function value_of(s) { gsub(/,/, "", s); return s + 0 }
        # Half a unit of the last digit that is written.
        function half_unit(s,   digits, power) {
            gsub(/,/, "", s)
            power = 1
            if (match(s, /[eE]/)) {
                power = 10 ^ substr(s, RSTART + 1)
                s = substr(s, 1, RSTART - 1)
            }
            digits = index(s, ".") ? length(s) - index(s, ".") : 0
            return 0.5000001 * power / 10 ^ digits
        }
        # The words of `where` are looked for one after the other; the number behind the last, or the #n-th there.
        function look(text, where,   words, count, i, at, nth, factor) {
            nth = factor = 1
            count = split(where, words, / > /)
            for (i = 1; i <= count; i++) {
                words[i] = trim(words[i])
                if (words[i] ~ /^#[0-9]+$/) { nth = substr(words[i], 2); continue }
                if (words[i] ~ /^\*[-0-9.e]+$/) { factor = substr(words[i], 2); continue }
                at = index(text, words[i])
                if (!at) { missing = words[i]; return "" }
                text = substr(text, at + length(words[i]))
            }
            while (match(text, /[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?/)) {
                if (--nth == 0)
                    return value_of(substr(text, RSTART, RLENGTH)) * factor
                text = substr(text, RSTART + RLENGTH)
            }
            missing = "a number"
            return ""
        }
        # The value as a number of its own: "1.2" does not stand in "11.25", nor "435" in "1,435".
        function stands(doc, text,   at, from, before, after) {
            for (from = documents[doc]; (at = index(from, text)); from = substr(from, at + length(text))) {
                before = " " substr(from, at > 2 ? at - 2 : 1, at > 2 ? 2 : at - 1)
                after = substr(from, at + length(text), 5)
                if (before !~ /[0-9]$/ && before !~ /[0-9]\.$/ && after !~ /^[0-9]/ && after !~ /^\.[0-9]/ &&
                    !(before ~ /[0-9],$/ && text ~ /^[0-9][0-9][0-9]([^0-9]|$)/) && after !~ /^,[0-9][0-9][0-9]([^0-9.]|$)/)
                    return 1
            }
            return 0
        }
        function read(file,   text, line) {
            while ((getline line < file) > 0)
                text = text line "\n"
            close(file)
            return text
        }
        function judge(old, new, shown, tolerance,   bound, unit) {
            unit = half_unit(shown)
            if (tolerance == "time")
                return old > 0 && (new > 2 * old || new < old / 2) ? "time: moved" : "time"
            if (tolerance ~ /^x/)
                bound = substr(tolerance, 2) * (old < 0 ? -old : old)
            if (tolerance ~ /^x/)
                return (new < 0 ? -new : new) <= bound ? "" : "MOVED"
            if (tolerance ~ /%$/)
                bound = (old < 0 ? -old : old) * substr(tolerance, 1, length(tolerance) - 1) / 100
            else
                bound = tolerance + 0
            bound += unit
            return new - old <= bound && old - new <= bound ? "" : "MOVED"
        }
        $1 != number || $2 != "figure" { next }
        {
            count = split($3, part, /\|/)
            doc = trim(part[1])
            shown = trim(part[3])
            file = doc ~ /^[A-Z]+\.md$/ ? doc : "docs/" doc
            name = trim(part[2])
            tolerance = trim(part[4])
            if (count != 5) { printf "figures.txt: not five columns: %s\n", $3; bad++; next }
            if (!(doc in documents))
                documents[doc] = read(file)
            mark = stands(doc, shown) ? "" : "NOT IN " doc
            new = ""
            if (how != "docs") {
                if (!known++)
                    text = read(output)
                missing = ""
                new = look(text, trim(part[5]))
                if (missing != "")
                    mark = mark " NOT FOUND: " missing
                else {
                    said = judge(value_of(shown), new, shown, tolerance)
                    mark = trim(mark " " said)
                }
            }
            if (mark ~ /[A-Z]/)
                bad++
            if (how != "docs" || mark != "")
                printf "%-30s %-64.64s %12s %12s %8s  %s\n", doc, name, shown, new == "" ? "-" : sprintf("%.5g", new),
                       new == "" || value_of(shown) == 0 ? "" : sprintf("%.3f", new / value_of(shown)), mark
        }
        END { exit bad > 0 }' "$table"
}

status=0
[ "$how" = docs ] || printf '%-30s %-64s %12s %12s %8s\n' document figure docs now ratio
for number in $(cut -f 1 "$table" | uniq); do
    command=$(awk -F '\t' -v n="$number" '$1 == n && $2 == "run" { print $3 }' "$table")
    need=$(awk -F '\t' -v n="$number" '$1 == n && $2 == "needs" { print $3 }' "$table")
    printed="$results/$(printf '%s' "$command" | cksum | cut -d ' ' -f 1).txt"
    if [ "$how" = run ]; then
        if [ -n "$need" ] && ! there "$need"; then
            printf 'left out, since %s is not there: %s\n' "$need" "$command"
            continue
        fi
        measure "$printed" "$command"
    elif [ "$how" = old ] && ! [ -e "$printed" ]; then
        printf 'not run yet: %s\n' "$command"
        continue
    fi
    compare "$number" "$printed" || status=1
done
if [ "$status" = 0 ]; then
    [ "$how" = docs ] || echo "no fact has moved"
else
    echo "figures have moved, or stand in the documents no longer: see the last column"
fi
exit $status
