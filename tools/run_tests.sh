#!/bin/sh
# run_tests.sh BUILD [CTEST OPTIONS]: runs the tests of a build folder, says why tests were skipped, and closes with
# "N passed, N failed". BOUGH_MOST_SKIPS=N makes it fail when more than N are skipped.
set -eu
build=$1
shift
status=0
# Two more at a time than there are cores: tests of the viewer, of live runs and of programs wait for what they watch.
ctest --test-dir "$build" -j $(($(nproc) + 2)) --output-on-failure "$@" || status=$?
# cmocka's own counts: "[  PASSED  ] 3 test(s)." and so on; a program that crashed counts as one failure.
awk -v status="$status" -v most="${BOUGH_MOST_SKIPS:-}" '
    /^\[  PASSED  \] [0-9]+ test/ { passed += $4 }
    /^\[  SKIPPED \] [0-9]+ test/ { skipped += $4 }
    /^\[  FAILED  \] [0-9]+ test/ { failed += $4 }
    /^skipped: / { why[$0]++ }
    END {
        for (reason in why)
            print reason (why[reason] > 1 ? " (" why[reason] " times)" : "")
        if (most != "" && skipped + 0 > most + 0) {
            print skipped " tests were skipped, but at most " most " may be"
            status = failed = failed + 1
        }
        if (status != 0 && failed == 0)
            failed = 1
        if (passed + failed == 0) {
            print "no test was run"
            failed = 1
        }
        line = (passed + 0) " passed, " (failed + 0) " failed"
        print skipped ? line ", " skipped " skipped" : line
        exit failed > 0
    }' "$build/Testing/Temporary/LastTest.log"
