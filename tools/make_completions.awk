# make_completions.awk: the rows that make_manual.sh writes, read twice, as completions for `shell`: bash, zsh or fish.
function short(text) { # as much as fits on a line
    if (length(text) > 90) {
        text = substr(text, 1, 90)
        sub(/[ ,;:.(]*[^ ]*$/, "", text)
    }
    return text
}
# Words in the shell's single quotes.
function quote(text) {
    gsub(/'/, shell == "fish" ? "\\'" : "'\\''", text)
    return "'" text "'"
}
# The letters that _arguments and _describe take for their own.
function zsh_text(text) {
    gsub(/\\|\[|\]|:/, "\\\\&", text)
    return text
}
# Values that an option takes: "file", "folder", words, or nothing that could be known.
function values(name, value) {
    if (name == "--integrator")
        return integrators
    if (value ~ /^[a-z0-9]+(\|[a-z0-9]+)+$/) {
        gsub(/\|/, " ", value)
        return value
    }
    return value ~ /FOLDER/ ? "folder" : value ~ /FILE|\./ && value !~ /\.\.\.$/ ? "file" : ""
}
# Words in a usage: those in small letters, as in "info FILE" or "[oak|forest]".
function usage_words(text,    tokens, i, n) {
    sub(/^bough [a-z-]+ */, "", text)
    n = split(text, tokens, /[ |\[\]]+/)
    for (i = 1; i <= n; i++)
        if (tokens[i] ~ /^[a-z]+$/ && !((command, tokens[i]) in seen)) {
            seen[command, tokens[i]] = 1
            words[command] = words[command] tokens[i] " "
        }
}

# ---- the first reading keeps what may stand behind a command ----

NR == FNR {
    if ($1 == "C") {
        command = $2
        commands[++count] = $2
        abouts[$2] = $3
    }
    if ($1 == "U")
        usage_words($2)
    if ($1 == "N")
        words[command] = words[command] $2
    if ($1 == "I")
        integrators = $2
    next
}

# ---- the second one writes ----

FNR == 1 { begin() }
$1 == "C" { close_command(); command = $2; options = "" ; open_command() }
$1 == "O" { option($2 == "?" ? "" : $2, $3, $4 ~ /^\[/ ? "" : $4, $5) }
END { close_command(); finish() }

function begin(    i) {
    command = ""
    if (shell == "bash") {
        print "# Completion of bough for bash."
        print "_bough() {"
        print "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}"
        print "    local options='' words='' take=''"
        print "    if [ \"$word\" = = ]; then # --name="
        print "        word=''"
        print "    elif [ \"$before\" = = ]; then # --name=be"
        print "        before=${COMP_WORDS[COMP_CWORD - 2]}"
        print "    fi"
        print "    case $command in"
    } else if (shell == "zsh") {
        print "#compdef bough"
        print "_bough() {"
        print "    local -a commands"
        print "    commands=("
        for (i = 1; i <= count; i++)
            print "        " quote(commands[i] ":" zsh_text(abouts[commands[i]]))
        print "    )"
        print "    if (( CURRENT == 2 )); then"
        print "        _describe command commands"
        print "        return"
        print "    fi"
        print "    local command=$words[2]"
        print "    shift words"
        print "    (( CURRENT-- ))"
        print "    case $command in"
    } else {
        print "# Completion of bough for fish."
        for (i = 1; i <= count; i++)
            print "complete -c bough -f -n __fish_use_subcommand -a " commands[i] " -d " quote(abouts[commands[i]])
    }
}
function open_command() {
    if (shell == "bash")
        print "    " command ")\n        case $before in"
    else if (shell == "zsh")
        print "    " command ")\n        _arguments -s \\"
    else if (words[command] != "")
        print "complete -c bough -n " quote("__fish_seen_subcommand_from " command) " -a " quote(words[command])
}
function option(letter, name, value, doc,    taken, line) {
    taken = values(name, value)
    if (shell == "bash") {
        options = options name " "
        if (value != "")
            print "        " (letter == "" ? "" : "-" letter " | ") name ") take=" quote(taken == "" ? "nothing" : taken) " ;;"
    } else if (shell == "zsh") {
        line = letter == "" ? quote(name (value == "" ? "" : "=") "[" zsh_text(short(doc)) "]") \
            : "'*'{-" letter "," name (value == "" ? "" : "=") "}" quote("[" zsh_text(short(doc)) "]")
        if (value != "")
            line = line quote(":" zsh_text(value) ":" (taken == "file" ? "_files" : taken == "folder" ? "_files -/" \
                : taken == "" ? "" : "(" taken ")"))
        print "            " line " \\"
    } else {
        line = "complete -c bough -n " quote("__fish_seen_subcommand_from " command) (letter == "" ? "" : " -s " letter)
        line = line " -l " substr(name, 3)
        if (value != "")
            line = line (taken == "file" ? " -rF" : taken == "folder" ? " -x -a '(__fish_complete_directories)'" \
                : taken == "" ? " -x" : " -x -a " quote(taken))
        print line " -d " quote(short(doc))
    }
}
function close_command() {
    if (command == "")
        return
    if (shell == "bash") {
        print "        esac"
        print "        options=" quote(options) " words=" quote(words[command]) " ;;"
    } else if (shell == "zsh") {
        print "            " quote("*:file:" (words[command] == "" ? "_files" : "{ _files || compadd -- " words[command] "}"))
        print "        ;;"
    }
}
function finish(    i, list) {
    for (i = 1; i <= count; i++)
        list = list commands[i] " "
    if (shell == "bash") {
        print "    esac"
        print "    COMPREPLY=()"
        print "    if [ \"$COMP_CWORD\" = 1 ]; then"
        print "        mapfile -t COMPREPLY < <(compgen -W " quote(list "--help --version") " -- \"$word\")"
        print "    elif [ \"$take\" = folder ]; then"
        print "        compopt -o filenames 2>/dev/null"
        print "        mapfile -t COMPREPLY < <(compgen -d -- \"$word\")"
        print "    elif [ \"$take\" = nothing ]; then"
        print "        :"
        print "    elif [ -n \"$take\" ] && [ \"$take\" != file ]; then"
        print "        mapfile -t COMPREPLY < <(compgen -W \"$take\" -- \"$word\")"
        print "    elif [ -z \"$take\" ] && [ \"${word:0:1}\" = - ]; then"
        print "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")"
        print "    else"
        print "        compopt -o filenames 2>/dev/null"
        print "        [ -n \"$take\" ] || mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")"
        print "        mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$word\")"
        print "    fi"
        print "}"
        print "complete -F _bough bough"
    } else if (shell == "zsh") {
        print "    esac"
        print "}"
        print "_bough \"$@\""
    }
}
