#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What bash and zsh complete with the scripts that the programs print.

cd "$(dirname "$0")/../../.." || exit 2
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh
make_work

build=$(realpath "${BUILD:-build}")
export PATH=$build:$PATH
mkdir -p "$work/functions" "$work/here/results" "$work/here/folder"
for name in replay sweep learn summary; do
    "traffic-$name" --completion bash >"$work/traffic-$name.bash"
    "traffic-$name" --completion zsh >"$work/functions/_traffic-$name"
    # Variables that a program's table does not use stay.
    shellcheck -s bash -e SC2034 "$work/traffic-$name.bash" >&2
    tap $? "traffic-$name: shellcheck accepts the script for bash"
    zsh -n "$work/functions/_traffic-$name"
    tap $? "traffic-$name: zsh accepts its script"
done
run traffic-replay --completion fish
is "another shell: status" $status 2
is "another shell: message" "$errors" 'traffic-replay: --completion: "fish" is neither bash nor zsh'

touch "$work/here/"{office.yaml,"my office.yaml",samba.json,notes.pdf}
cat >"$work/ask.bash" <<'END'
compopt() { :; }
# bash's own words: it splits at = and :, too.
cd "$1" || exit 1
. "$2"
COMP_LINE=$3 COMP_POINT=${#3}
COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
read -ra COMP_WORDS <<<"$COMP_LINE"
name=${COMP_WORDS[0]}
"_${name//-/_}"
printf '%s\n' "${COMPREPLY[@]}"
END
# completes_in_bash LINE: what bash offers at the end of the line, sorted, one word per line.
completes_in_bash() { bash "$work/ask.bash" "$work/here" "$work/${1%% *}.bash" "$1" | sort; }
lines() { printf '%s\n' "$@"; }

is "bash: an option's name" "$(completes_in_bash 'traffic-replay --prefer')" "--prefer-kerberos"
is "bash: the choices of an option" "$(completes_in_bash 'traffic-replay --kdc-transport ')" "$(lines tcp udp)"
is "bash: choices after =" "$(completes_in_bash 'traffic-replay --kdc-transport=u')" "udp"
is "bash: packets" "$(completes_in_bash 'traffic-replay --only kerberos:1')" \
    "$(traffic-replay --list-packets | sed -n 's/^kerberos:\(1[^\t]*\).*/\1/p' | sort)"
# bash has split the list at its first colon.
is "bash: the second packet of a list" "$(completes_in_bash 'traffic-replay --skip=dns:0,nbn' | head -n 1)" "0,nbns:0"
is "bash: models and folders" "$(completes_in_bash 'traffic-replay ')" \
    "$( (cd "$work/here" && lines folder results office.yaml "my office.yaml" samba.json; compgen -A hostname) | sort)"
is "bash: files of an option" "$(completes_in_bash 'traffic-replay -A not')" "notes.pdf"
is "bash: folders" "$(completes_in_bash 'traffic-sweep --results fo')" "folder"
is "bash: the options of traffic-replay after --" "$(completes_in_bash 'traffic-sweep -r 1 -- --prefer')" "--prefer-kerberos"
is "bash: metrics" "$(completes_in_bash 'traffic-summary -m p')" "$(lines p50 p95 p99 planned planned-rate)"
is "bash: nothing for a number" "$(completes_in_bash 'traffic-replay -S ')" ""


# A result with labels.
python3 - "$work/here/results/a.json" <<'END'
import json, sys
run = json.load(open("tests/data/sweep/cell.json"))
run["labels"] = {"prefork": "1", "samba": "4.17"}
json.dump(run, open(sys.argv[1], "w"))
END
run traffic-summary --list-labels "$work/here/results"
is "--list-labels" "$status $output" "0 prefork"$'\n'"samba"
is "bash: labels of the results on the line" "$(completes_in_bash 'traffic-summary results --by ')" "$(lines prefork samba)"

cat >"$work/ask.zsh" <<'END'
# ask.zsh FOLDER LINE...: what each line becomes after a tab.
zmodload zsh/zpty
zpty z "TERM=dumb COLUMNS=500 zsh -f -i"
type_in() { zpty -w z "$1" }
type_in "unsetopt zle_bracketed_paste prompt_cr prompt_sp; PS1= PS2= RPS1="
type_in "fpath=($1/functions \$fpath); autoload -U compinit; compinit -u -D; cd $1/here"
type_in "unsetopt auto_list beep; setopt no_list_ambiguous; LISTMAX=10000"
type_in "show() { print -r -- \"<<<\$BUFFER>>>\"; BUFFER= }; zle -N show; bindkey '^X' show; echo rea''dy"
zpty -r z seen "*ready*"
for line in "${@[2,-1]}"; do
    zpty -w -n z "$line"$'\t\x18'
    zpty -r z seen "*<<<*>>>*"
    seen=${seen##*<<<}
    print -r -- "${seen%%>>>*}"
done
zpty -d z
END
mapfile -t became < <(timeout 60 zsh -f "$work/ask.zsh" "$work" 'traffic-replay --prefer-k' 'traffic-replay --kdc-transport u' \
    'traffic-replay --only kerberos:3' 'traffic-replay --only dns:0,kerberos:3' 'traffic-replay off' 'traffic-sweep --results fo' \
    'traffic-sweep -- --prefer-k' 'traffic-summary -m fai' 'traffic-summary results --by pre' 'traffic-learn --histo')
is "zsh: an option's name" "${became[0]}" "traffic-replay --prefer-kerberos "
is "zsh: the choices of an option" "${became[1]}" "traffic-replay --kdc-transport udp "
is "zsh: packets" "${became[2]}" "traffic-replay --only kerberos:30,"
is "zsh: the second packet of a list" "${became[3]}" "traffic-replay --only dns:0,kerberos:30,"
is "zsh: models" "${became[4]}" "traffic-replay office.yaml "
is "zsh: folders" "${became[5]}" "traffic-sweep --results folder/"
is "zsh: the options of traffic-replay after --" "${became[6]}" "traffic-sweep -- --prefer-kerberos "
is "zsh: metrics" "${became[7]}" "traffic-summary -m failed "
is "zsh: labels of the results on the line" "${became[8]}" "traffic-summary results --by prefork "
is "zsh: an option with a value" "${became[9]}" "traffic-learn --history="

tap_done
