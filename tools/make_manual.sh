#!/bin/sh
# make_manual.sh PROGRAM FOLDER: makes manual pages (FOLDER/man1) and completions for bash, zsh and fish of what the
# program says about itself by --help, so that they know what it knows. Builds with BOUGH_INSTALL run it.
set -eu
program=$1
folder=$2
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
mkdir -p "$folder/man1" "$folder/bash" "$folder/zsh" "$folder/fish"
rm -f "$folder"/man1/*.1
tab=$(printf '\t')

# No option is told on two lines then.
ARGP_HELP_FMT='rmargin=30000,opt-doc-col=40,long-opt-col=6'
export ARGP_HELP_FMT
LC_ALL=C
export LC_ALL

# The names that a command lists, on one line.
names() {
    "$program" "$1" --json | sed -n 's/^ *"name": "\([^"]*\)".*/\1/p' | tr '\n' ' '
}

# The help of a command as rows of a kind and its fields: U usage, D about it, G a group of options, O an option (its
# letter, its name, its argument, about it), T a line of the text below the options.
rows() {
    "$program" "$1" --help | awk -v OFS='\t' '
        part == "" && /^(Usage:|  or: )/ { sub(/^(Usage:|  or: ) */, ""); print "U", $0; next }
        part == "" { part = "about" }
        /^Mandatory or optional arguments/ { part = "text"; next }
        /^      --usage / { part = "text"; next }
        part != "text" && /^  (-[^ ], |    )--/ {
            part = "options"
            letter = substr($0, 3, 1) == "-" ? substr($0, 4, 1) : ""
            rest = substr($0, 7)
            name = rest
            sub(/ .*/, "", name)
            doc = substr(rest, length(name) + 1)
            sub(/^ +/, "", doc)
            value = index(name, "=") ? substr(name, index(name, "=") + 1) : ""
            value = name ~ /\[=/ ? "[=" value : value # one that may be left out
            sub(/(\[?=).*/, "", name)
            print "O", letter, name, value, doc
            next
        }
        part != "text" && /^ [^ ].*:$/ { part = "options"; sub(/^ /, ""); sub(/:$/, ""); print "G", $0; next }
        part == "about" && NF { print "D", $0 }
        part == "text" { print "T", $0; next }
        part == "options" && NF { print "make_manual.sh: what is this? " $0 > "/dev/stderr"; exit 1 }'
}

table="$folder/table"
"$program" --version | sed "s/^bough /V$tab/" >"$table"
"$program" --help | sed -n 's/^  \([a-z][a-z-]*\)  *\(.*\)/\1\t\2/p' | while IFS="$tab" read -r command about; do
    [ "$command" != test ] || continue # the launcher's
    printf 'C\t%s\t%s\n' "$command" "$about"
    rows "$command" >"$folder/rows"
    cat "$folder/rows"
    # N: names that may stand behind the command, or behind --integrator.
    if grep -q "^U$tab.*OPTION...\\] \\[NAME\\]" "$folder/rows"; then
        printf 'N\t%s\n' "$(names "$command")"
    elif grep -q "^U$tab.*\\[\\(INTEGRATOR\\|NAME\\[\\)" "$folder/rows"; then
        printf 'N\t%s\n' "$(names integrators)"
    fi
done >>"$table"
printf 'I\t%s\n' "$(names integrators)" >>"$table"

awk -F '\t' -v folder="$folder" -f "$here/make_man.awk" "$table"
for shell in bash zsh fish; do
    case $shell in bash) file=bough ;; zsh) file=_bough ;; fish) file=bough.fish ;; esac
    awk -F '\t' -v shell=$shell -f "$here/make_completions.awk" "$table" "$table" >"$folder/$shell/$file"
done
rm -f "$folder/rows"
