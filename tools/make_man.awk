# make_man.awk: the rows that make_manual.sh writes, as manual pages in roff.
function roff(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    if (text ~ /^[.']/)
        text = "\\&" text
    return text
}
function say(text) {
    print text > page
}
function begin(name, about) {
    page = folder "/man1/" name ".1"
    upper = toupper(name)
    say(".TH " roff(upper) " 1 \"\" \"Bough " version "\" \"Bough\"")
    say(".SH NAME")
    say(roff(name) " \\- " roff(about))
    section = ""
}
function finish() {
    if (page == "")
        return
    if (plain)
        say(".fi")
    plain = 0
    say(".SH EXIT STATUS")
    say("0: done. 1: the work failed. 2: wrong usage.")
    say(".SH SEE ALSO")
    say(".BR bough (1)")
    close(page)
}
function enter(name) {
    if (section != name)
        say(".SH " name)
    section = name
}
$1 == "V" { version = $2 }
$1 == "C" {
    finish()
    commands[++count] = $2
    abouts[count] = $3
    begin("bough-" $2, $3)
}
$1 == "U" {
    fresh = section == ""
    enter("SYNOPSIS")
    if (!fresh)
        say(".br")
    sub(/^bough [a-z-]+/, "\\fB&\\fR", $2)
    say(roff2($2))
}
# The bold face around the name of the command stays.
function roff2(text) {
    gsub(/-/, "\\-", text)
    return text
}
$1 == "D" { enter("DESCRIPTION"); say(roff($2)) }
$1 == "G" { enter("OPTIONS"); say(".SS " roff($2)) }
$1 == "O" {
    enter("OPTIONS")
    say(".TP")
    line = $2 == "" || $2 == "?" ? "" : "\\fB\\-" roff($2) "\\fR, "
    line = line "\\fB" roff($3) "\\fR" ($4 == "" ? "" : $4 ~ /^\[/ ? roff($4) : "=\\fI" roff($4) "\\fR")
    say(line)
    say($5 == "" ? "\\&" : roff($5))
}
$1 == "T" {
    if ($2 ~ /^Examples?:$/) {
        if (plain)
            say(".fi")
        enter("EXAMPLES")
        say(".nf")
        plain = 1
        next
    }
    if ($2 == "") {
        if (plain)
            say(".fi")
        else
            gap = section == "NOTES"
        plain = 0
        next
    }
    if (section != "EXAMPLES" || !plain)
        enter("NOTES")
    if (gap)
        say(".PP")
    gap = 0
    if (!plain && $2 ~ /[^ ]  +[^ ]/) { # a table
        say(".nf")
        plain = 1
    }
    sub(/^  /, "", $2)
    say(roff($2))
}
END {
    finish()
    begin("bough", "flexible structures in real time, checked against full finite elements")
    say(".SH SYNOPSIS")
    say("\\fBbough\\fR \\fICOMMAND\\fR [\\fIOPTION...\\fR]")
    say(".br")
    say("\\fBbough\\fR \\fB\\-\\-help\\fR | \\fB\\-\\-version\\fR")
    say(".SH DESCRIPTION")
    say("Bough simulates things that bend in real time: every part is cooked once into a small model, and assemblies of")
    say("such parts are stepped thousands of times a second. Units are SI. Each command has \\fB\\-\\-help\\fR with examples.")
    say(".SH COMMANDS")
    for (i = 1; i <= count; i++) {
        say(".TP")
        say(".BR bough\\-" roff(commands[i]) " (1)")
        say(roff(abouts[i]))
    }
    say(".SH ENVIRONMENT")
    say(".TP")
    say(".B BOUGH_VIEWER")
    say("The folder of the viewer's page, instead of the one that is installed with the program.")
    say(".SH EXIT STATUS")
    say("0: done. 1: the work failed. 2: wrong usage.")
    close(page)
}
