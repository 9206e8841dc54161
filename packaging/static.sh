#!/usr/bin/env bash
# packaging/static.sh [x86_64|aarch64]: builds the program as one file that needs no library of the
# system, and looks at it. Prints where it is. No root.
#
# Needs the target (rustup target add ARCH-unknown-linux-musl) and a C compiler for it: musl-tools
# on Debian for x86_64, gcc-aarch64-linux-gnu for aarch64. What is looked at: no loader and no
# library is asked for, and the program runs a demo whose books balance; one for another CPU than
# this one runs under qemu-user, where that is installed.
set -euo pipefail
cd "$(dirname "$0")/.."

arch=${1:-$(uname -m)}
triple=$arch-unknown-linux-musl
fail() { echo "packaging/static.sh: $*" >&2; exit 1; }
case $arch in
x86_64) compiler=musl-gcc package=musl-tools ;;
aarch64) compiler=aarch64-linux-gnu-gcc package=gcc-aarch64-linux-gnu ;;
*) fail "no static program is built for '$arch': x86_64 and aarch64 are" ;;
esac
skip() { echo "skipped: $*"; exit 0; }
command -v "$compiler" >/dev/null || skip "no $compiler here (Debian: $package)"
[ -d "$(rustc --print sysroot)/lib/rustlib/$triple" ] ||
    skip "no Rust for it here: rustup target add $triple"

# The same bytes wherever it is built: no path of this machine stays in them.
RUSTFLAGS="--remap-path-prefix=$PWD=. --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
export RUSTFLAGS "CC_${triple//-/_}=$compiler"
linker=${triple//-/_}_LINKER
export "CARGO_TARGET_${linker^^}=rust-lld"
profile=${LINERATE_PROFILE:-release}
cargo build --profile "$profile" --quiet --target "$triple" -p linerate
program=${CARGO_TARGET_DIR:-target}/$triple/${profile/#dev/debug}/linerate

headers=$(readelf --program-headers --dynamic "$program")
case $headers in *INTERP* | *NEEDED*) fail "$program asks for a loader or a library" ;; esac

run=("$program")
if [ "$arch" != "$(uname -m)" ]; then
    run=("qemu-$arch" "$program")
    command -v "qemu-$arch" >/dev/null || run=()
fi
if [ ${#run[@]} = 0 ]; then
    echo "skipped: no qemu-$arch here to run it (Debian: qemu-user)"
else
    "${run[@]}" demo --entries 1000 --seconds 1 --json 2>/dev/null | grep -q '"balanced": *true' ||
        fail "the books of its demo do not balance"
fi
echo "$program: $(stat -c %s "$program") bytes, SHA-256 $(sha256sum <"$program" | cut -d' ' -f1)"
