#!/bin/sh
# check_words.sh: fails on comments that open with a headless "Of", "What", "Where" or "How": their sentence has no
# subject. Say who does what instead: "Returns the number of ...", "Publish the scratch poses as the state's poses".
#
# BOUGH_WORDS_LATER lists the folders and files that have not been cleaned yet; take one off when it is. Set to nothing
# (BOUGH_WORDS_LATER= tools/check_words.sh) it shows all that is left.
set -eu
cd "$(dirname -- "$0")/.."
BOUGH_WORDS_LATER=${BOUGH_WORDS_LATER-"
    src/contact src/engine src/fem src/mechanism src/reduce src/rig src/run src/scene src/time src/tree
    app
    include/bough/contact.h include/bough/fem.h include/bough/mechanism.h include/bough/reduce.h include/bough/rig.h
    include/bough/run.h include/bough/scene.h include/bough/time.h include/bough/tree.h
"}

later() {
    for place in $BOUGH_WORDS_LATER; do
        case $1 in "$place" | "$place"/*) return 0 ;; esac
    done
    return 1
}

found=$(find src include app bench tests examples \( -name '*.c' -o -name '*.h' \) | sort | while IFS= read -r file; do
    later "$file" || awk '
        /(\/\*+|\/\/)[ \t]*(Of|What|Where|How)[ \t]/ || (opens && /^[ \t]*\*[ \t]*(Of|What|Where|How)[ \t]/) {
            printf "%s:%d: %s\n", FILENAME, FNR, $0
        }
        { opens = /\/\*+[ \t]*$/ }' "$file"
done)
if [ -n "$found" ]; then
    printf '%s\n' "$found"
    echo "these comments open without a subject: see tools/check_words.sh" >&2
    exit 1
fi
echo "no comment opens without a subject"
