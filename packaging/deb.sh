#!/usr/bin/env bash
# packaging/deb.sh: builds the Debian package and looks at what is in it, without installing it on
# this machine. Prints where it is. Needs cargo-deb (cargo install cargo-deb) and dpkg; no root.
#
# What is looked at: the package is unpacked by dpkg into a root of its own, each file that it
# should have is there and whole, the program runs, the configuration it brings is sound but for
# its ports, and the unit is one that systemd accepts, where systemd-analyze is there to say so.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in cargo-deb dpkg dpkg-deb; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool here"; exit 0; }
done

target=${CARGO_TARGET_DIR:-target}
profile=${LINERATE_PROFILE:-release}
cargo build --profile "$profile" --quiet -p linerate
program=$target/${profile/#dev/debug}/linerate
# Where the package's assets are looked for, whatever the folder of builds.
rm -rf target/man1
mkdir -p target/man1
"$program" man target/man1 >/dev/null
gzip --best --no-name target/man1/*
"$program" completions bash >target/linerate.bash
package=$(cargo deb --quiet --no-build --profile "$profile" -p linerate)

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info"
: >"$root/var/lib/dpkg/status"
if [ "$(id -u)" = 0 ]; then
    # Unpacked, not configured: that would run its script, which adds a user, in an empty root.
    dpkg --root="$root" --force-depends --log="$root/log" --unpack "$package" >/dev/null
else
    dpkg-deb --extract "$package" "$root"
fi

fail() { echo "packaging/deb.sh: $*" >&2; exit 1; }
doc=usr/share/doc/linerate
for file in usr/bin/linerate etc/linerate/linerate.toml usr/lib/sysusers.d/linerate.conf \
    usr/lib/systemd/system/linerate.service $doc/examples/bridge.toml \
    $doc/examples/grafana.json $doc/copyright usr/share/man/man1/linerate.1.gz \
    usr/share/man/man1/linerate-run.1.gz usr/share/bash-completion/completions/linerate; do
    [ -s "$root/$file" ] || [ -s "$root/$file.dpkg-new" ] || fail "$file is not in the package"
done
"$root/usr/bin/linerate" --version >/dev/null || fail "the program in it does not run"
[ "$("$root/usr/bin/linerate" --version)" = "$("$program" --version)" ] ||
    fail "the program in it is another version"
for page in "$root"/usr/share/man/man1/*.1.gz; do
    gzip -dc "$page" | grep -q '^\.TH ' || fail "$page is no manual page"
done
bash -n "$root/usr/share/bash-completion/completions/linerate"
python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$root/$doc/examples/grafana.json" ||
    fail "the dashboard is no JSON"

config=$root/etc/linerate/linerate.toml
[ -e "$config" ] || config=$config.dpkg-new
"$root/usr/bin/linerate" run --check "$config" >"$root/resolved" 2>&1 ||
    fail "the configuration in it is refused: $(cat "$root/resolved")"
dpkg-deb --ctrl-tarfile "$package" | tar -xO ./conffiles | grep -qx /etc/linerate/linerate.toml ||
    fail "the configuration would be overwritten by an upgrade"
for script in postinst prerm postrm; do
    dpkg-deb --ctrl-tarfile "$package" | tar -xO "./$script" | sh -n ||
        fail "its $script is no script"
done
if command -v systemd-analyze >/dev/null; then
    # That neither the units it waits for nor the program are in this root is not the unit's fault;
    # what is carries its line.
    said=$(systemd-analyze verify --root="$root" --man=no linerate.service 2>&1 || true)
    ! grep -E 'linerate\.service:[0-9]+:' <<<"$said" || fail "systemd does not accept the unit"
else
    echo "skipped: no systemd-analyze here to look at the unit"
fi
echo "$package: $(dpkg-deb --contents "$package" | grep -vc '/$') files, all that should be"
