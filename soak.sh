#!/usr/bin/env bash
# The long forms of what ci.sh runs short: ./soak.sh [MINUTES], 10 by default; ./soak.sh vm is that
# of virtual machines alone: each kind of port on NICs of several models, traffic, NICs that go
# and come, and two memory nodes, on each kernel; ./soak.sh switch that of the switch alone.
# ./soak.sh router: FRR and BIRD beside a router by the kernel's routes, and a full table by BGP;
# LINERATE_ROUTES names a file of prefixes for that, else they are drawn.
# ./soak.sh group: four routers behind ECMP, one killed, then all upgraded; lists from an etcd that
# changes all the time, and one of three members whose links fail.
# ./soak.sh layout: programs with a planted cause, ten times each, and a neutral one twenty times.
# ./soak.sh sim [SEEDS] is that of the simulation of workers and ports alone, 100,000 seeds by
# default.
set -euo pipefail
cd "$(dirname "$0")"
if [ "${1:-}" = vm ]; then
    . tests/vm/ending.sh
    for kernel in 6.1 6.12; do
        # Without a form: the package and its service.
        for form in '' --models --further --nodes; do
            VM_FORM=$form ending_with_us ./ci.sh vm "$kernel"
        done
    done
    exit
fi
# What a switch does, held against others.
switch() {
    # A naive model, over captures.
    LINERATE_SWITCH_CASES=10000 cargo test --release --quiet -p linerate --test program switch -- \
        --nocapture
    # Books, over ten million frames between four ports and two workers.
    LINERATE_SWITCH_FRAMES=10000000 cargo test --release --quiet -p linerate-engine \
        --test switch -- --nocapture
    # The kernel's bridge and Open vSwitch, in network namespaces (root).
    LINERATE_JUDGED_FRAMES=10000 cargo test --release --quiet -p linerate --test netns \
        switch:: -- --nocapture --test-threads 1
}
if [ "${1:-}" = switch ]; then
    switch
    exit
fi
if [ "${1:-}" = router ]; then
    # FRR and BIRD beside it, in network namespaces (root).
    cargo build --release --quiet
    for words in 'xdp 1 frr' 'xdp 2 frr' 'packet 1 frr' 'xdp 2 bird'; do
        # Driver, workers, daemon.
        # shellcheck disable=SC2086
        python3 tests/router/daemons.py target/release/linerate $words
    done
    # A full table by BGP, withdrawn and flapping, while traffic flows.
    for words in 'xdp 2' 'packet 1'; do
        # Driver, workers.
        # shellcheck disable=SC2086
        python3 tests/router/full_table.py target/release/linerate $words
    done
    exit
fi
if [ "${1:-}" = group ]; then
    # BIRD beside four routers and the one upstream, in network namespaces (root).
    cargo build --release --quiet
    for upstream in kernel linerate; do
        python3 tests/group/routers.py target/release/linerate packet "$upstream"
    done
    # Lists from etcd: changes all the time, and links that fail.
    python3 tests/group/storm.py target/release/linerate
    python3 tests/group/partition.py target/release/linerate
    exit
fi
if [ "${1:-}" = layout ]; then
    LINERATE_LAYOUT_RUNS=10 cargo test --release --quiet -p linerate --test program \
        planted_causes -- --nocapture
    exit
fi
if [ "${1:-}" = sim ]; then
    # With debug assertions: each worker holds its books against its frames, in every step.
    LINERATE_SIM_SEEDS=${2:-100000} CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true \
        CARGO_PROFILE_RELEASE_LTO=off CARGO_TARGET_DIR=target/sim \
        cargo test --release --quiet -p linerate-engine --test sim -- --nocapture
    exit
fi
minutes=${1:-10}
cargo build --release --quiet
# A hundred kills between veth pairs, with a bypass and without; without root it says it is skipped.
LINERATE_KILLS=100 cargo test --release --quiet -p linerate --test netns kills -- \
    --nocapture --test-threads 1 | grep -E 'kills,|skipped|test result'
# Sets change in every way while frames go by, each held against the lists that were current; memory
# is flat. Then what is kept of changes over three hundred kills with -9.
LINERATE_SOAK_SECONDS=$((minutes * 60)) LINERATE_SOAK_ENTRIES=1000000 \
    cargo test --release --quiet -p linerate --test soak -- --nocapture --test-threads 1
LINERATE_KILLS=300 cargo test --release --quiet -p linerate-daemon --test sets \
    nothing_that_was_answered_is_lost -- --nocapture
switch
# What changes cost: replacing six million entries, single adds, captures. Figures, no verdict.
docs/daemon.py
docs/daemon.py --capture
end=$((SECONDS + minutes * 60))
round=0
while [ "$SECONDS" -lt "$end" ]; do
    round=$((round + 1))
    for workers in 1 2; do
        # 2 workers only where there are 2 CPUs.
        [ "$workers" -le "$(nproc)" ] || continue
        ./target/release/linerate demo --seconds 20 --workers "$workers" --seed "$round" --json |
            python3 -c '
import json, sys
report = json.load(sys.stdin)
assert report["balanced"], report
print("%d workers, %.1f Mpps, balanced" % (len(report["workers"]), report["mpps"]))'
    done
    LINERATE_FUZZ_SEED=$((round * 7919)) CARGO_TARGET_DIR=target/fuzz \
        cargo test --quiet --manifest-path fuzz/Cargo.toml >/dev/null
    echo "round $round: fuzz replay with LINERATE_FUZZ_SEED=$((round * 7919)) passed"
done

# A hundred million frames that arrive on the wrong worker, by each policy; ten million while
# buckets move.
LINERATE_DISPATCH_FRAMES=100000000 cargo test --quiet --release -p linerate-engine --test dispatch \
    linerate_dispatch_frames -- --nocapture | grep -E 'frames of|test result'
LINERATE_DISPATCH_FRAMES=10000000 cargo test --quiet --release -p linerate-engine --test dispatch \
    no_flow_is_reordered -- --nocapture | grep -E 'frames by|test result'

# Between kernel interfaces, in network namespaces (root): ten million frames a driver and mode of
# which none is unaccounted for, then streams, floods, flaps and removals for as many minutes.
netns() {
    cargo test --quiet --release -p linerate --test netns -- --nocapture --test-threads 1 "$@"
}
LINERATE_NETNS_FRAMES=10000000 netns accounts
drivers=4
# A no-drop rate ten times over a bare pair: it comes out again, or the noise is told.
LINERATE_NDR_RUNS=10 netns ndr_repeat
LINERATE_NETNS_SOAK_SECONDS=$((minutes * 60 / drivers)) netns soak
echo "soaked for $minutes minutes, $round rounds"
