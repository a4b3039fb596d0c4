#!/bin/sh
# check_links.sh: follows every link between the files of the repository. Ends with status 1 and one line for each broken
# one: a Markdown link whose file or heading does not exist, or a docs/....md that a source file names and nobody wrote.
# Links to the network are not followed.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
cd "$root"

# Files that git knows or would add; in a folder without git (an unpacked archive), all but those of builds.
if git rev-parse --git-dir >/dev/null 2>&1; then
    all=$(git ls-files --cached --others --exclude-standard | sort -u)
else
    all=$(find . -type f ! -path './build*' | sed 's|^\./||' | sort)
fi
files() {
    printf '%s\n' "$all" | grep -E "$1" | while IFS= read -r name; do
        if [ -e "$name" ]; then printf '%s\n' "$name"; fi
    done
}

pages=$(files '\.md$')
[ -n "$pages" ] || { echo "check_links: no Markdown files found" >&2; exit 2; }

status=0
# shellcheck disable=SC2086 # names of pages have no blanks
awk '
    # The anchor that a heading gets: lower case, without punctuation, hyphens for blanks.
    function anchor(heading) {
        gsub(/\]\([^)]*\)/, "", heading)
        heading = tolower(heading)
        gsub(/[^a-z0-9_ \200-\377-]/, "", heading)
        gsub(/ /, "-", heading)
        return heading
    }
    # a/b/../c -> a/c
    function plain(path,   parts, count, i, kept, out) {
        count = split(path, parts, "/")
        kept = 0
        for (i = 1; i <= count; i++) {
            if (parts[i] == "" || parts[i] == ".")
                continue
            if (parts[i] == ".." && kept > 0)
                kept--
            else
                out[++kept] = parts[i]
        }
        path = kept ? out[1] : "."
        for (i = 2; i <= kept; i++)
            path = path "/" out[i]
        return path
    }
    FNR == 1 { fenced = 0; folder = FILENAME; if (!sub(/\/[^\/]*$/, "", folder)) folder = "." }
    /^ *```/ { fenced = !fenced; next }
    fenced { next }
    /^#+ / {
        name = $0
        sub(/^#+ +/, "", name)
        name = anchor(name)
        times = seen[FILENAME, name]++
        anchors[FILENAME "#" name (times ? "-" times : "")] = 1
    }
    {
        text = $0
        gsub(/`[^`]*`/, "", text)
        while (match(text, /\]\([^) ]+\)/)) {
            target = substr(text, RSTART + 2, RLENGTH - 3)
            text = substr(text, RSTART + RLENGTH)
            if (target ~ /^[a-z]+:/)
                continue
            links[++count] = target
            from[count] = FILENAME
            line[count] = FNR
            base[count] = folder
        }
    }
    END {
        for (i = 1; i <= count; i++) {
            file = links[i]
            mark = ""
            if ((at = index(file, "#"))) {
                mark = substr(file, at + 1)
                file = substr(file, 1, at - 1)
            }
            file = file == "" ? from[i] : plain(base[i] "/" file)
            if (!(file in there))
                there[file] = system("test -e \"" file "\"") == 0
            if (!there[file])
                printf "%s:%d: %s: there is no %s\n", from[i], line[i], links[i], file
            else if (mark != "" && file ~ /\.md$/ && !((file "#" mark) in anchors))
                printf "%s:%d: %s: no heading of %s has this anchor\n", from[i], line[i], links[i], file
            else
                continue
            broken++
        }
        exit broken > 0
    }' $pages || status=1

# Pages that programs, scripts and schemas name.
named=$(files '^((include|src|app|bench|tests|tools|cmake|examples|viewer)/.*\.(c|h|js|sh|txt|html|css)|docs/.*\.(json|txt)|bough|CMakeLists\.txt)$' |
    grep -v '^tools/check_links\.sh$')
# shellcheck disable=SC2086
missing=$(grep -IHnoE 'docs/[A-Za-z0-9_/.-]+\.md' $named | while IFS=: read -r name number page; do
    [ -e "$page" ] || printf '%s:%s: there is no %s\n' "$name" "$number" "$page"
done)
if [ -n "$missing" ]; then
    printf '%s\n' "$missing"
    status=1
fi
[ $status = 0 ] && echo "all links lead somewhere"
exit $status
