#!/bin/sh
# Announces the service while this linerate is ready, and withdraws it when it is not, or is gone.
# ExaBGP reads what it prints.
set -u
announced=unknown
while sleep "${EVERY:-1}"; do
    # A check that hangs is a check that failed.
    if timeout 2 linerate health --quiet; then want=announce; else want=withdraw; fi
    if [ "$want" != "$announced" ]; then
        echo "$want route 203.0.113.0/24 next-hop self"
        announced=$want
    fi
done
