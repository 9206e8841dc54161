#!/usr/bin/env python3
"""The daemon with examples/gateway.toml, as it stands, between kernel hosts and a provider.

gateway.py LINERATE; needs root, `ip`, `ping`, `ethtool` and network namespaces. With `udhcpc` and
`udhcpd` the outside address is a lease.

    one (10.0.0.5) -- lan [router] wan -- provider and server (198.51.100.2)
    two (10.0.1.2) -- lan2
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from kernel import HERE, Network, ip, missing, namespaces, run  # noqa: E402

EXAMPLES = HERE.parent.parent / "examples"
SERVER, LEASE = "198.51.100.2", "198.51.100.77"
WITHIN_S = 60.0
OWN = """
[control]
socket = "{place}/ctl.sock"

[state]
dir = "{place}/state"
"""
LEASES = """
start {lease}
end {lease}
interface wan
lease_file {place}/leases
pidfile {place}/udhcpd.pid
option subnet 255.255.255.0
option router {server}
"""
# What udhcpc has done when there is a lease.
BOUND = """#!/bin/sh
case "$1" in bound | renew)
    ip address replace "$ip/24" dev "$interface"
    ip route replace default via "$router" ;;
esac
"""


class Gateway(Network):
    """The hosts, and the router without its program."""

    def __init__(self, tag):
        super().__init__(tag)
        self.name = {name: f"{tag}-{name}" for name in ("one", "two", "router", "server")}

    def build(self):
        router = self.name["router"]
        self.pair(router, "lan", self.name["one"], "eth")
        self.pair(router, "lan2", self.name["two"], "eth")
        self.pair(router, "wan", self.name["server"], "wan")
        self.address("one", "eth", "10.0.0.5/24", "10.0.0.1")
        self.address("two", "eth", "10.0.1.2/24", "10.0.1.1")
        self.address("server", "wan", f"{SERVER}/24")
        self.address("router", "lan", "10.0.0.1/24")
        self.address("router", "lan2", "10.0.1.1/24")
        run(router, "sysctl", "-qw", "net.ipv4.ip_forward=0")


@contextlib.contextmanager
def started(namespace, *words):
    command = ["ip", "netns", "exec", namespace, *words]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield running
    finally:
        if running.poll() is None:
            running.send_signal(signal.SIGTERM)
        said, _ = running.communicate(timeout=60)
        running.said = said


def until(what, holds, running):
    end = time.monotonic() + WITHIN_S
    while not holds():
        if running.poll() is not None or time.monotonic() > end:
            running.kill()
            sys.exit(f"{what}: not in {WITHIN_S:.0f} s: {running.communicate()[0]}")
        time.sleep(0.2)


@contextlib.contextmanager
def leased(network, place):
    """The outside address: a lease, where there are the programs for it."""
    if not (shutil.which("udhcpc") and shutil.which("udhcpd")):
        print("no udhcpc and udhcpd: the outside address is set by hand")
        network.address("router", "wan", f"{LEASE}/24", SERVER)
        yield
        return
    (place / "udhcpd.conf").write_text(LEASES.format(lease=LEASE, place=place, server=SERVER))
    (place / "leases").touch()
    (place / "bound").write_text(BOUND)
    (place / "bound").chmod(0o755)
    client = ["udhcpc", "-f", "-i", "wan", "-s", str(place / "bound")]
    with started(network.name["server"], "udhcpd", "-f", str(place / "udhcpd.conf")):
        with started(network.name["router"], *client):
            yield


def check(network, ask):
    """What hosts see through it."""
    right = {
        "tcp": f"{LEASE} \\d+ whole",
        "udp": f"{LEASE} \\d+ whole",
        "a forwarded port": f"{SERVER} 6000 whole",
        "a forwarded port, from inside": r"\S+ \d+ whole",
        "the management address": r"10\.0\.0\.5 \d+ whole",
    }
    with contextlib.ExitStack() as servers:
        for host in ("one", "server", "router"):
            servers.enter_context(network.acting(host, "serve"))
        seen = {
            "tcp": network.act("one", "tcp", SERVER, "7", "4096"),
            "udp": network.act("two", "udp", SERVER, "7", "1024"),
            "a forwarded port": network.act("server", "tcp", LEASE, "80", "4096", "6000"),
            "a forwarded port, from inside": network.act("two", "tcp", LEASE, "80", "4096"),
            "the management address": network.act("one", "tcp", "10.0.0.1", "7", "4096"),
        }
    for what, wanted in right.items():
        print(f"{what}: {seen[what]}")
        if not re.fullmatch(wanted, seen[what]):
            sys.exit(f"{what}: {seen[what]}")
    shown = json.loads(ask("show", "nat", "--json"))
    if not any(flow["new_from"].startswith(f"{LEASE}:") for flow in shown["entries"]):
        sys.exit(f"no flow is shown: {shown}")


def main():
    program = os.path.abspath(sys.argv[1])
    if why := missing():
        print(f"skipped: {why}")
        return
    network = Gateway(f"natg{os.getpid()}")
    router = network.name["router"]
    with namespaces(network.name.values()), tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        network.build()
        config = (EXAMPLES / "gateway.toml").read_text() + OWN.format(place=place)
        (place / "gateway.toml").write_text(config)
        shutil.copy(EXAMPLES / "gateway.nat", place)
        daemon = [program, "run", str(place / "gateway.toml")]
        pings = ["ping", "-n", "-c", "1", "-W", "1", SERVER]

        def passes():
            return " 0% packet loss" in run(network.name["one"], *pings, ok=None)

        def ask(*words):
            return run(router, program, *words, "--socket", str(place / "ctl.sock"))

        # The program before the lease: what hosts send meanwhile is dropped.
        with started(router, *daemon) as running:
            until("an answer of the daemon", (place / "ctl.sock").exists, running)
            with leased(network, place):
                until("a ping of the server", passes, running)
                check(network, ask)


if __name__ == "__main__":
    main()
