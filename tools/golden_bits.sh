#!/bin/sh
# golden_bits.sh COMMAND ...: runs tests/bits, or what prints what it printed, and compares its hashes with those of
# tests/tree/bits.golden, which every build with BOUGH_PORTABLE_BITS has, by any compiler and for any processor. Closes
# with cmocka's counts, for tools/run_tests.sh. tools/compare_bits.sh --renew writes the file anew.
set -eu
golden=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)/tests/tree/bits.golden
found=$(mktemp)
trap 'rm -f "$found"' EXIT
if ! "$@" >"$found"; then
    echo "$* ends with an error"
    echo "[  FAILED  ] 1 test(s)."
    exit 1
fi
if cmp -s "$golden" "$found"; then
    echo "[  PASSED  ] 1 test(s)."
    exit 0
fi
awk 'NR == FNR { wanted[$1] = $2; next }
     { seen[$1] = 1
       if (!($1 in wanted)) print $1 ": is " $2 ", and is not in tests/tree/bits.golden"
       else if ($2 != wanted[$1]) print $1 ": is " $2 ", should be " wanted[$1] }
     END { for (name in wanted) if (!(name in seen)) print name ": is missing" }' "$golden" "$found" | sort
echo "Where a change is meant to give other numbers, tools/compare_bits.sh --renew writes tests/tree/bits.golden anew."
echo "[  FAILED  ] 1 test(s)."
exit 1
