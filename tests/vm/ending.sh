# Sourced by what starts virtual machines, so that none outlives it.

# Runs a command in a process group of its own, and ends the whole group where a signal ends this
# script: bash itself would leave a command behind (SIGTERM), or wait for its end (SIGINT). SIGKILL
# leaves this no time: then the kernel ends the command, and `unshare --kill-child` what is below.
ending_with_us() {
    local group code=0
    setsid setpriv --pdeathsig KILL "$@" &
    group=$!
    trap "end_group $group 129" HUP
    trap "end_group $group 130" INT
    trap "end_group $group 143" TERM
    wait "$group" || code=$?
    trap - HUP INT TERM
    return "$code"
}

# Ends a process group, which has five seconds to remove its files, and then this script.
end_group() {
    local group=$1 code=$2 tries
    trap '' HUP INT TERM
    kill -TERM -- "-$group" 2>/dev/null || true
    for tries in {1..50}; do
        kill -0 -- "-$group" 2>/dev/null || exit "$code"
        sleep 0.1
    done
    kill -KILL -- "-$group" 2>/dev/null || true
    exit "$code"
}
