#!/bin/sh
# Builds the XDP program: bpf/build.sh OUTPUT. Without debug information and identification, so that
# the bytes depend on nothing but the source and the compiler.
set -eu
cd "$(dirname "$0")"
exec clang --target=bpf -mcpu=v2 -O2 -fno-ident -Wall -Wextra -Werror -nostdinc \
    -c xdp.bpf.c -o "$1"
