#!/bin/sh
# check_headers.sh: fails where a public header has a name of the inside of the library (bo_...), or a function under no
# comment. What a public struct does not show stands behind it, in a larger struct of the room whose first member is the
# public one. One comment may be of several functions that follow each other; <bough/base.h> has the rules for all of
# them, and says what a bough_default_..() is.
set -eu
cd "$(dirname -- "$0")/.."
status=0
if grep -rnwE '(bo|BO)_[A-Za-z0-9_]+' include; then
    echo "these lines of public headers name what is inside: see tools/check_headers.sh" >&2
    status=1
fi
awk '
    FNR == 1 { told = declares = 0 }
    /^BOUGH_API/ && !/ bough_default_/ && !told { print FILENAME ":" FNR ": " $0; bare++ }
    /^BOUGH_API/ { declares = 1 }
    declares { if (/;/) declares = 0; next }
    { told = /\*\/$/ }
    END { exit bare > 0 }' include/bough/*.h || {
    echo "these functions stand under no comment: see tools/check_headers.sh" >&2
    status=1
}
[ "$status" = 0 ] && echo "public headers name nothing that is inside the library, and say what each function does"
exit "$status"
