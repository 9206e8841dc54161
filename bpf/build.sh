#!/bin/sh
# Builds an XDP program: bpf/build.sh NAME OUTPUT compiles NAME.bpf.c; bpf/build.sh all compiles
# each into its place. Without debug information and identification, so that the bytes depend on
# nothing but the source and the compiler.
set -eu
build() {
    clang --target=bpf -mcpu=v2 -O2 -fno-ident -Wall -Wextra -Werror -nostdinc \
        -c "$(dirname "$0")/$1.bpf.c" -o "$2"
}
if [ "$1" != all ]; then
    build "$1" "$2"
    exit
fi
for source in "$(dirname "$0")"/*.bpf.c; do
    build "$(basename "$source" .bpf.c)" "${source%.c}.o"
done
