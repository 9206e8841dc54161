#!/bin/sh
# Announces the service while this linerate is ready, and withdraws it when it is not, or is gone.
# Said again at each check: a BIRD that was restarted has forgotten it.
set -u
while sleep "${EVERY:-1}"; do
    # A check that hangs is a check that failed.
    if timeout 2 linerate health --quiet; then want=enable; else want=disable; fi
    birdc "$want" service >/dev/null
done
