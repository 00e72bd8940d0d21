#!/usr/bin/env bash
# options.sh <folder of programs>: README.md and the guides name each subcommand and each option that the manual of the
# command has, and no others: where code is a command line of rowlock, begins with a subcommand or is an option alone.
# docs/errors.md, whose inputs are wrong, is left out.
set -euo pipefail

rowlock=$1/rowlock
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# section <page of the manual> <name>
section() { awk -v name="$2" '/^[A-Z]/ { inside = $0 == name; next } inside' <<<"$1"; }

# Lines "subcommand names [value]", such as "run -w,--wait DURATION"; the subcommand of options of the whole is "-".
manual() {
    local whole sub
    whole=$("$rowlock" help)
    section "$whole" OPTIONS | sed -nE 's/^ {7}-/- -/p'
    for sub in $(section "$whole" SUBCOMMANDS | sed -nE 's/^ {7}([a-z]+) .*/\1/p'); do
        section "$("$rowlock" help "$sub")" OPTIONS | sed -nE "s/^ {7}-/$sub -/p"
    done
}

pages=(README.md)
for page in docs/*.md; do [[ $page == docs/errors.md ]] || pages+=("$page"); done
awk '
    function fault(sentence) { print file ": " sentence; failed = 1 }

    # Whether it is one; it has been named then.
    function is_option(of, name) {
        if (!((of, name) in names_of)) return 0
        named[names_of[of, name]] = 1
        return 1
    }

    function first_word(text) { split(text, words, " "); return words[1] }

    # The words behind "rowlock", or behind a subcommand. What follows the NAME of run or lead is its command.
    function read_command(text, of,   all, count, i, name, positional) {
        sub(/(^| )--( .*)?$/, "", text)
        count = split(text, all, " ")
        for (i = 1; i <= count; i++) {
            name = all[i]
            sub(/=.*/, "", name)
            if (name ~ /^-/) {
                if (!is_option(of, name)) fault("`" text "`: there is no option " name)
                if (takes_value[of, name] && name == all[i]) i++
            } else if (of != "-") {
                if ((of == "run" || of == "lead") && ++positional == 2) return
            } else {
                of = all[i]
                if (!(of in subcommands)) return fault("`" text "`: there is no subcommand " of)
                named["rowlock " of] = 1
            }
        }
    }

    function read_options(text,   all, count, i) {
        count = split(text, all, " ")
        for (i = 1; i <= count; i++)
            if (all[i] ~ /^-/ && !is_option("any", all[i])) fault("`" text "`: there is no option " all[i])
    }

    # Text of other programs may have "rowlock" in it, with no subcommand behind.
    function read_commands(text,   all, count, i, behind) {
        gsub(/"[^"]*"|\047[^\047]*\047/, "WORD", text)
        count = split(text, all, / *[|;&<>()]+ */)
        for (i = 1; i <= count; i++) {
            behind = match(all[i], /(^|[ \/])rowlock +/) ? substr(all[i], RSTART + RLENGTH) : ""
            if (behind ~ /^-/ || first_word(behind) in subcommands || all[i] ~ /^rowlock +[a-z]+( |$)/)
                read_command(behind, "-")
        }
    }

    function read_code(text) {
        if (text ~ /^-(-[a-z]|[a-zA-Z]( |$))/) read_options(text)
        else if (first_word(text) in subcommands) read_command(substr(text, length(words[1]) + 1), words[1])
        else read_commands(text)
    }

    function read_paragraph(   spans, count, i) {
        count = split(paragraph, spans, "`")
        for (i = 2; i <= count; i += 2) read_code(spans[i])
        paragraph = ""
    }

    NR == FNR {
        if ($1 != "-") subcommands[$1] = 1
        options[$2] = 1
        count = split($2, names, ",")
        for (i = 1; i <= count; i++) {
            names_of[$1, names[i]] = names_of["any", names[i]] = $2
            takes_value[$1, names[i]] = NF > 2
        }
        next
    }

    FNR == 1 { read_paragraph(); file = FILENAME; kind = "" }
    /^```/ { read_paragraph(); kind = kind == "" ? substr($0, 4) : ""; next }
    kind == "" { paragraph = $0 == "" ? paragraph : paragraph " " $0 }
    kind == "" && $0 == "" { read_paragraph() }
    kind ~ /^(sh|crontab|ini)/ && !/^ *#/ { line = line $0; if (!sub(/\\$/, "", line)) { read_commands(line); line = "" } }

    END {
        read_paragraph()
        file = "README.md and docs/*.md"
        for (each in subcommands) if (!(("rowlock " each) in named)) fault("rowlock " each " is not named")
        for (each in options) if (!(each in named)) fault("no option " each " is named")
        exit failed
    }' <(manual) "${pages[@]}" >&2
