#!/usr/bin/env bash
# All checks of the project: ./ci.sh runs everything, ./ci.sh STEP... runs some of it.
# On Debian, as root, it installs the outside judges it needs; elsewhere it says what it skips.
set -euo pipefail
cd "$(dirname "$0")"

steps=(judges lint tidy licences bpf tests fuzz loom tsan demo miri)

usage() {
    cat <<'TEXT'
usage: ./ci.sh [STEP...]      (no STEP: all but unit and vm, in this order)
       ./ci.sh quick          lint, tidy and unit: what to run before a commit

  judges    install tshark, promtool, Open vSwitch, nginx, BIRD, etcd and what makes test networks
            where missing (Debian, root)
  lint      rustfmt, clippy with warnings as errors, documentation without warnings
  tidy      the rules of the repository (ARCHITECTURE.md); pages say what docs/runs says
  licences  every crate we build on has a permissive licence
  bpf       objects of XDP programs are what their sources compile to (clang; Debian, root)
  tests     cargo test --workspace, captures judged by tshark among them
  fuzz      replay of all fuzz corpora and regressions, with seeded mutations
  loom      every interleaving of the memory ring, of frames going home, of publishing
            and of a frame in several pieces on its way to the kernel; those of few
            pre-emptions of a ring of shared memory (memif)
  tsan      ThreadSanitizer over readers and a writer on the portable path (nightly, rust-src)
  demo      a release build, and a three-second demo whose report is checked
  miri      frame memory, rings of shared memory and the portable table paths under Miri
            (nightly); begun beside fuzz where both are asked for
  unit      only if named: the tests beside the code of every crate, without programs and networks
  vm [KERNEL]  only if named: Debian 12 in a virtual machine, with its own kernel or another that it
            has (6.12): the package under systemd, and frames across each kind of port (QEMU, root)
TEXT
}

say() { printf '\n== %s\n' "$*"; }
skip() { printf 'skipped: %s\n' "$*"; }

step_judges() {
    local tool missing=()
    for tool in tmux tshark python3 ip tc nft ethtool ping clang promtool \
        ovs-vswitchd nginx curl bird etcd etcdctl exabgp keepalived; do
        command -v "$tool" >/dev/null || missing+=("$tool")
    done
    if [ ${#missing[@]} = 0 ]; then
        echo "all judges are here"
        return
    fi
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        skip "missing: ${missing[*]}, and this is not root on Debian"
        return
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq || skip "no package lists"
    # No service starts: tests run what they need of their own.
    local policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
        trap "rm -f $policy" EXIT
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod +x "$policy"
    fi
    local package packages=(tmux tshark python3 iproute2 nftables ethtool iputils-ping clang
        prometheus openvswitch-switch nginx-light curl bird2 etcd-server etcd-client exabgp
        keepalived)
    apt-get install -y -qq "${packages[@]}" >/dev/null && return
    # One that cannot be had keeps out no other.
    for package in "${packages[@]}"; do
        apt-get install -y -qq "$package" >/dev/null || skip "$package could not be installed"
    done
}

step_lint() {
    cargo fmt --all --check
    cargo fmt --manifest-path fuzz/Cargo.toml --check
    cargo clippy --workspace --all-targets --quiet -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
}

step_tidy() {
    cargo run --quiet -p xtask -- tidy
    if ! command -v python3 >/dev/null; then
        skip "no python3 to hold the figures of the pages against docs/runs"
        return
    fi
    python3 docs/speed.py --check
}

step_licences() { cargo run --quiet -p xtask -- licences; }

step_bpf() {
    local wanted built source name
    wanted=$(cat bpf/compiler)
    if ! command -v clang >/dev/null; then
        if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
            skip "no clang here, and this is not root on Debian"
            return
        fi
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -qq || skip "no package lists"
        apt-get install -y -qq clang >/dev/null || { skip "clang could not be installed"; return; }
    fi
    case "$(clang --version)" in
    *"clang version $wanted."*) ;;
    *)
        skip "the objects in bpf/ are of clang $wanted, and this one would make other bytes"
        return
        ;;
    esac
    built=$(mktemp)
    for source in bpf/*.bpf.c; do
        name=$(basename "$source" .bpf.c)
        bpf/build.sh "$name" "$built"
        cmp "$built" "bpf/$name.bpf.o"
        echo "bpf/$name.bpf.o is what clang $wanted makes of its source"
    done
    rm -f "$built"
}

step_unit() { cargo test --quiet --workspace --lib --bins; }

# Tests of whole programs watch time, on CPUs that other tests fill. A few that fail there are run
# again, each alone: a fault fails twice, and what failed once is named.
step_tests() {
    local log failed=1
    log=$(mktemp)
    if cargo test --workspace --no-fail-fast 2>&1 | tee "$log" || again "$log"; then failed=0; fi
    rm -f "$log"
    return $failed
}

again() {
    local most=5 names targets target
    mapfile -t names < <(sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$1" | sort -u)
    mapfile -t targets < <(sed -n 's/^    `\(-p .*\)`$/\1/p' "$1")
    # What did not compile or was killed has no such lines.
    [ ${#targets[@]} != 0 ] && [ ${#names[@]} != 0 ] && [ ${#names[@]} -le $most ] || return 1
    for target in "${targets[@]}"; do
        # shellcheck disable=SC2086 # words of an option
        cargo test $target -- --exact --test-threads 1 "${names[@]}" 2>&1 | tee "$1" || return 1
        grep -q '^test result: ok\. [1-9]' "$1" || return 1
    done
    printf 'passed alone, failed beside others: %s\n' "${names[@]}"
}

step_fuzz() { CARGO_TARGET_DIR=target/fuzz cargo test --quiet --manifest-path fuzz/Cargo.toml; }

step_loom() {
    # Models are small: linking for the last per cent would take longer than they do.
    export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
    export CARGO_PROFILE_RELEASE_DEBUG=none
    RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom \
        cargo test --quiet --release -p linerate-frame --lib loom
    RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom \
        cargo test --quiet --release -p linerate-port --lib loom
}

step_miri() {
    if ! cargo +nightly --version >/dev/null 2>&1; then
        skip "no nightly toolchain here, and Miri needs one: rustup toolchain install nightly"
        return
    fi
    if ! cargo +nightly miri --version >/dev/null 2>&1; then
        rustup component add miri rust-src --toolchain nightly >/dev/null 2>&1 ||
            { skip "this nightly toolchain has no Miri and none can be added"; return; }
    fi
    export CARGO_TARGET_DIR=target/miri
    cargo +nightly miri test --quiet -p linerate-frame --lib
    cargo +nightly miri test --quiet -p linerate-port --lib memif::ring
    cargo +nightly miri test --quiet -p linerate-table --lib
    cargo +nightly miri test --quiet -p linerate-table --test live
}

step_tsan() {
    local sysroot host
    if ! sysroot=$(rustc +nightly --print sysroot 2>/dev/null); then
        skip "no nightly toolchain here, and ThreadSanitizer needs one"
        return
    fi
    if [ ! -d "$sysroot/lib/rustlib/src/rust/library" ]; then
        rustup component add rust-src --toolchain nightly >/dev/null 2>&1 ||
            { skip "this nightly toolchain has no rust-src and none can be added"; return; }
    fi
    host=$(rustc +nightly -vV | sed -n 's/^host: //p')
    # The standard library is built with it too: otherwise its own synchronisation goes unseen.
    export RUSTFLAGS="-Zsanitizer=thread" CARGO_TARGET_DIR=target/tsan
    local test=(cargo +nightly test --quiet -Zbuild-std --target "$host")
    "${test[@]}" -p linerate-frame --lib -- publish ring
    STRESS_VERSIONS=100 "${test[@]}" -p linerate-table --test stress -- portable
}

step_demo() {
    cargo build --release --quiet
    local report
    report=$(mktemp)
    ./target/release/linerate demo --seconds 3 --json >"$report"
    python3 - "$report" <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1]))
assert report["balanced"] is True, "the books do not balance"
frames = report["frames"]
dropped = sum(frames["dropped"].values())
assert frames["rx"] == frames["tx"] + dropped, frames
assert 0.09 < dropped / frames["rx"] < 0.12, frames
print(f"{report['mpps']:.1f} Mpps over memory ports, {frames['rx']} frames, books balanced")
PYTHON
    rm -f "$report"
}

# What boots Debian in a virtual machine, and makes the package that is tried in it.
install_vm_tools() {
    local tool missing=()
    for tool in qemu-system-x86_64 qemu-img debootstrap mke2fs unshare; do
        command -v "$tool" >/dev/null || missing+=("$tool")
    done
    if [ ${#missing[@]} != 0 ]; then
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -qq || skip "no package lists"
        apt-get install -y -qq --no-install-recommends qemu-system-x86 qemu-utils debootstrap \
            e2fsprogs util-linux >/dev/null || return 1
    fi
    command -v cargo-deb >/dev/null ||
        cargo install --quiet --locked --root target/tools cargo-deb
}

step_vm() {
    if [ "$(id -u)" != 0 ] || [ "$(. /etc/os-release && echo "$VERSION_CODENAME")" != bookworm ] ||
        [ "$(uname -m)" != x86_64 ]; then
        skip "virtual machines are made by root on Debian 12, x86-64"
        return
    fi
    if [ ! -c /dev/net/tun ] || ! unshare --net true; then
        skip "no TAP interfaces or network namespaces can be made here"
        return
    fi
    . tests/vm/ending.sh
    tests/vm/ending_test.sh
    export PATH="$PATH:$PWD/target/tools/bin"
    install_vm_tools || { skip "QEMU, debootstrap or cargo-deb could not be installed"; return; }
    local package
    package=$(packaging/deb.sh | sed -n 's/^\(.*\.deb\): .*/\1/p')
    [ -n "$package" ] || { echo "packaging/deb.sh made no package"; return 1; }
    local made=0
    ending_with_us python3 -B tests/vm/image.py "$kernel" || made=$?
    # It says what is skipped, and why.
    [ "$made" != 3 ] || return 0
    [ "$made" = 0 ] || return "$made"
    # Files of the test end with its namespaces, as interfaces and processes do, however it ends.
    # Not over /tmp: this folder may be there.
    local scratch=$PWD/target/vm/scratch
    mkdir -p "$scratch"
    TMPDIR=$scratch ending_with_us \
        unshare --net --mount --pid --fork --kill-child --mount-proc sh -c \
        'mount -t tmpfs tmpfs "$TMPDIR" && exec python3 -B tests/vm/run.py "$@"' \
        vm ${VM_FORM:-} "$kernel" "$package"
}

run() {
    local started=$SECONDS
    say "$1"
    if [ "$1" = miri ] && [ -n "$miri" ]; then
        wait "$miri" || { cat "$miri_log" && exit 1; }
        cat "$miri_log"
    elif [ "$1" = vm ]; then
        # Signals reach this shell alone, and a machine must end with it.
        step_vm
    else
        # In a shell of its own, so that what a step exports stays in it.
        ("step_$1")
    fi
    printf -- '-- %s: %d s\n' "$1" $((SECONDS - started))
}

# Miri interprets on one CPU and takes as long as the four steps before it together, so when the
# first of those is asked for, too, it is begun with it. Not beside tests: some of them watch time.
miri='' miri_log=''
begin_miri_beside() {
    case " $* " in *" miri "*) ;; *) return 0 ;; esac
    miri_log=$(mktemp)
    (step_miri) >"$miri_log" 2>&1 &
    miri=$!
    trap 'kill "$miri" 2>/dev/null || true; rm -f "$miri_log"' EXIT
}

# A build that is thrown away needs neither parts to build on nor lines for a debugger.
[ -z "${CI:-}" ] || export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=none

[ "${1:-}" = all ] && shift
[ "$*" != quick ] || set -- lint tidy unit
case "${1:-}" in
-h | --help) usage && exit 0 ;;
esac
[ $# -gt 0 ] || set -- "${steps[@]}"
# The kernel of virtual machines: Debian 12's own, or the one named behind `vm`.
kernel=6.1
case "$*" in
"vm "[0-9]*) kernel=$2 && set -- vm ;;
esac
for step in "$@"; do
    case " ${steps[*]} unit vm " in
    *" $step "*) ;;
    *) usage >&2 && exit 2 ;;
    esac
done
for step in "$@"; do
    [ "$step" != fuzz ] || begin_miri_beside "$@"
    run "$step"
done
say "passed: $* ($SECONDS s); lines that begin with 'skipped:' say what was not run"
