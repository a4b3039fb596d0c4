#!/bin/sh
# slack.sh BUILD [TESTS]: runs the test programs whose names begin with TESTS (all), and lists the limits of check_near()
# and check_below() of which less than 0.1 % was used: file, line, the most that was used, what is allowed. Limits of
# rounding (1e-8 and less) are left out; those of which nothing at all was used, as where the same bits are expected, are
# counted only. slack.sh FILE does so for tests that were run with BOUGH_SLACK=FILE. With BOUGH_MOST_SLACK=N it ends with
# status 1 when more than N are listed.
#
# Example: BOUGH_MOST_SLACK=0 tools/slack.sh build 'contact|mechanism'
set -eu
build=${1:?usage: slack.sh BUILD [TESTS], or slack.sh FILE}
tests=${2:-[a-z]}
if [ -f "$build" ]; then
    BOUGH_SLACK=$build
else
    BOUGH_SLACK=$(mktemp)
    export BOUGH_SLACK
    trap 'rm -f "$BOUGH_SLACK"' EXIT
    ctest --test-dir "$build" -j "$(nproc)" -R "^($tests)" -LE 'viewer|gltf' >&2 || echo "some tests failed" >&2
fi
awk -v limit="${BOUGH_MOST_SLACK:-}" '
    $3 > 1e-8 { share = $2 / $3; if (!($1 in most) || share > most[$1]) { most[$1] = share; used[$1] = $2; allowed[$1] = $3 } }
    END {
        for (at in most) {
            count++
            if (most[at] == 0)
                unused++
            else if (most[at] < 1e-3) {
                slack++
                name = at
                sub(/^.*tests\//, "tests/", name)
                print name, used[at], allowed[at] | "sort"
            }
        }
        close("sort")
        print slack + 0 " of " count + 0 " limits use under 0.1 % of what they allow; " unused + 0 " use nothing of it"
        if (limit != "" && slack > limit + 0) {
            print "more than BOUGH_MOST_SLACK = " limit
            exit 1
        }
    }' "$BOUGH_SLACK"
