#!/usr/bin/env bash
# Whatever ends a script, no process outlives it that it began by `ending_with_us`. Stand-ins for
# QEMU: one that ends at a signal and one that takes none, below others as a machine is. With
# another word in place of `ending_with_us` (`env`) it fails.
set -euo pipefail
cd "$(dirname "$0")"

below='sleep 60 & (trap "" TERM INT HUP; sleep 60; sleep 60) & wait'
script=". ./ending.sh; ${1:-ending_with_us} unshare --pid --fork --kill-child sh -c '$below'; :"

# How many processes run that this test began.
running() { { grep -lsz "^ENDING_TEST=$$" /proc/[0-9]*/environ || true; } | wc -l; }

for signal in INT TERM KILL; do
    # By Python, since a background command of bash does not see SIGINT.
    ENDING_TEST=$$ python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' bash -c "$script" 2>/dev/null &
    started=$!
    for _ in {1..100}; do [ "$(running)" -ge 5 ] && break; sleep 0.1; done
    before=$(running)
    [ "$before" -ge 5 ] || { echo "only $before processes were begun"; exit 1; }
    kill -"$signal" "$started"
    wait "$started" 2>/dev/null || true
    for _ in {1..50}; do [ "$(running)" = 0 ] && break; sleep 0.1; done
    after=$(running)
    [ "$after" = 0 ] || { echo "SIG$signal: $after of $before processes are left"; exit 1; }
done
# Its exit code is the command's.
code=0
bash -c '. ./ending.sh; ending_with_us sh -c "exit 3"' || code=$?
[ "$code" = 3 ] || { echo "exit code $code instead of 3"; exit 1; }
echo "nothing outlives a script, whichever signal ends it"
