#!/bin/sh
# check_manual.sh PROGRAM [SHARE]: every command and option that PROGRAM tells by --help is in the manual pages and in the
# completions for bash, zsh and fish below SHARE, as they are installed; without SHARE, in those that make_manual.sh makes.
set -eu
program=$1
share=${2:-}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "check_manual: $*" >&2
    exit 1
}
same() {
    [ "$2" = "$3" ] || fail "$1: \"$2\", but \"$3\" is wanted"
}

if [ -z "$share" ]; then
    share=$work/share
    "$here/make_manual.sh" "$program" "$work/manual"
    mkdir -p "$share/man" "$share/bash-completion/completions" "$share/zsh/site-functions" "$share/fish/vendor_completions.d"
    mv "$work/manual/man1" "$share/man"
    mv "$work/manual/bash/bough" "$share/bash-completion/completions"
    mv "$work/manual/zsh/_bough" "$share/zsh/site-functions"
    mv "$work/manual/fish/bough.fish" "$share/fish/vendor_completions.d"
fi

# complete WORD...: what bash would offer for the last word.
complete_words() {
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _bough; printf "%s\n" "${COMPREPLY[@]}"' bash \
        "$share/bash-completion/completions/bough" "$@" 2>/dev/null
}

fish=$share/fish/vendor_completions.d/bough.fish
zsh=$share/zsh/site-functions/_bough
count=0
"$program" --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p' | grep -v '^test$' >"$work/commands"
while IFS= read -r command; do
    page=$share/man/man1/bough-$command.1
    [ -s "$page" ] || fail "there is no manual page of bough $command"
    grep -q "^.BR bough.*-$(echo "$command" | sed 's/-/\\\\-/g') " "$share/man/man1/bough.1" ||
        fail "bough.1 does not name $command"
    complete_words bough "$command" -- >"$work/offered"
    sed 's/\\//g; s/fB//g; s/fR//g; s/fI//g' "$page" >"$work/page"
    "$program" "$command" --help | sed -n 's/^ \{2,6\}\(-.,\)\{0,1\} *\(--[a-z0-9-]*\).*/\2/p' | grep -v -- --usage >"$work/options"
    sed -n "/^    $command)\$/,/^        ;;\$/p" "$zsh" >"$work/zsh"
    while IFS= read -r option; do
        grep -qw -e "$option" "$work/page" || fail "the manual page of $command lacks $option"
        grep -qx -e "$option" "$work/offered" || fail "bash does not complete $option of $command"
        grep -q -e "[',]${option}[=['}]" "$work/zsh" || fail "zsh does not know $option of $command"
        grep -q -e "from $command'.* -l ${option#--} " "$fish" || fail "fish does not know $option of $command"
    done <"$work/options"
    count=$((count + $(wc -l <"$work/options")))
done <"$work/commands"
same "completion of mod" "$(complete_words bough mod)" modes
same "completion of --up" "$(complete_words bough mesh --up '' | paste -sd' ')" "x y z"
complete_words bough example o | grep -qx oak || fail "the examples are not completed"
if command -v zsh >/dev/null; then zsh -n "$zsh"; fi
if command -v fish >/dev/null; then fish -n "$fish"; fi
if command -v mandoc >/dev/null; then mandoc -T lint -W error "$share"/man/man1/*.1; fi
echo "$(wc -l <"$work/commands") commands with $count options are in manual pages and completions"
