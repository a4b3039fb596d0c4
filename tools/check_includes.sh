#!/bin/sh
# Checks every #include under src/, include/ and app/ against the table of rooms in docs/architecture.md, and that rooms include
# what the table lets them: an edge that nobody uses is not in it. Rooms of the runtime library include no others.
set -eu
cd "$(dirname -- "$0")/.."
awk -F'|' '
    # rows: | room | responsibility | may include | library |
    FILENAME == "docs/architecture.md" {
        if (NF >= 6) {
            room = $2; may = $4
            gsub(/[ `]/, "", room); gsub(/[ `]/, "", may)
            if (room ~ /^[a-z]+$/ && room != "folder") {
                known[room] = 1
                planned[room] = $3 ~ /^ *planned/
                runtime[room] = $5 ~ /rt/
                n = split(may, list, ",")
                for (i = 1; i <= n; i++) allowed[room, list[i]] = 1
            }
        }
        next
    }
    FNR == 1 {
        split(FILENAME, part, "/")
        from = part[1] == "src" ? part[2] : part[1] == "include" ? part[3] : "app"
        sub(/\.h$/, "", from)
        if (from != "app" && !(from in known)) { print FILENAME ": room " from " is not in docs/architecture.md"; bad++ }
    }
    /^[ \t]*#[ \t]*include/ {
        line = $0
        if (match(line, /<bough\/[a-z]+\.h>/)) {
            to = substr(line, RSTART + 7, RLENGTH - 10); public = 1
        } else if (match(line, /"[a-z]+\/[a-z0-9_]+\.h"/)) {
            to = substr(line, RSTART + 1); sub(/\/.*/, "", to); public = 0
        } else next
        seen++
        used[from, to] = 1
        if (from == "app") {
            if (!public && to != "view") { print FILENAME ":" FNR ": app may include public headers only: " line; bad++ }
        } else if (to != from && !((from, to) in allowed)) {
            print FILENAME ":" FNR ": room " from " may not include " to ": " line; bad++
        }
    }
    END {
        for (edge in allowed) {
            split(edge, end, SUBSEP)
            if (runtime[end[1]] && end[2] in known && !runtime[end[2]]) {
                print "docs/architecture.md: room " end[1] " is of the runtime library, but may include " end[2]; bad++
            }
            if (end[2] in known && !planned[end[1]] && !(edge in used)) {
                print "docs/architecture.md: room " end[1] " may include " end[2] ", but does not"; bad++
            }
        }
        if (seen == 0) { print "no include was found: is the script run in the right place?"; bad++ }
        if (!bad) print "includes: " seen " edges agree with docs/architecture.md"
        exit bad > 0
    }' docs/architecture.md $(find src app include -name '*.[ch]' ! -name bough.h | sort)
