#!/bin/sh
# Announces the service while this linerate is ready, and withdraws it when it is not, or is gone.
set -u
while sleep "${EVERY:-1}"; do
    # A check that hangs is a check that failed.
    if timeout 2 linerate health --quiet; then
        want=permit other=deny
    else
        want=deny other=permit
    fi
    # An FRR that was restarted is asked anew.
    if ! vtysh -c 'show running-config' | grep -q "^route-map SERVICE $want 10"; then
        vtysh -c 'configure terminal' -c "no route-map SERVICE $other 10" \
            -c "route-map SERVICE $want 10" >/dev/null
        vtysh -c 'clear bgp ipv4 unicast * soft out' >/dev/null
    fi
done
