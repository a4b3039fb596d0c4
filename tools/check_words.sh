#!/bin/sh
# check_words.sh: fails on comments that open with a headless "Of", "What", "Where" or "How": their sentence has no
# subject. Say who does what instead: "Returns the number of ...", "Publish the scratch poses as the state's poses".
set -eu
cd "$(dirname -- "$0")/.."
found=$(find src include app bench tests examples \( -name '*.c' -o -name '*.h' \) | sort | while IFS= read -r file; do
    awk '
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
