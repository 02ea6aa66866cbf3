# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Part of lab/dc: finds and ends the DC's processes.

# All processes of a DC, and no others, see this file in their private /run/samba. It identifies them,
# because pids and the numbers of namespaces are reused.
run_mark=/run/samba/traffic-replay-lab

# The folder's inode tells folders of the same name in two chroots apart.
dc_mark() { stat -c "%d:%i $dir" "$dir" 2>/dev/null; }

# is_ours PROCESS MARK: lab/dc of version 0.1 writes the folder's name alone, and starts no DC in a root.
is_ours() {
    [ "$2" = "$wanted" ] || { [ "$2" = "$dir" ] && [ "$1/root$dir" -ef "$dir" ]; }
}

dc_processes() {
    local process mark wanted
    wanted=$(dc_mark) || return 0
    for process in /proc/[0-9]*; do
        if read -r mark 2>/dev/null <"$process/root$run_mark" && is_ours "$process" "$mark"; then
            echo "${process#/proc/}"
        fi
    done 2>/dev/null
}

dc_pid() {
    local pid
    pid=$(cat "$pid_file" 2>/dev/null) && [ -n "$pid" ] || return 1
    [ "$(id -u)" = 0 ] || { [ -d "/proc/$pid" ] && echo "$pid" && return; }
    dc_processes | grep -qx "$pid" && echo "$pid"
}

wait_for_end() {
    local deadline=$((SECONDS + $1))
    while [ -n "$(dc_processes)" ]; do
        [ $SECONDS -lt $deadline ] || return 1
        sleep 0.1
    done
}

kill_all() {
    local pids round
    # Repeat until none is left: a master may fork during the search.
    for round in 1 2 3 4 5 6 7 8 9 10; do
        pids=$(dc_processes)
        [ -n "$pids" ] || return 0
        # shellcheck disable=SC2086 # one argument per pid
        kill -KILL $pids 2>/dev/null
        sleep 0.0$round
    done
    wait_for_end 10
}
