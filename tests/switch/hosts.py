#!/usr/bin/env python3
"""Three hosts of the kernel behind `linerate switch`: ping, TCP, and a link that goes and comes.

hosts.py LINERATE DRIVER WORKERS; needs root, `ip`, `ethtool`, `ping` and network namespaces.
"""

import os
import pathlib
import subprocess
import sys
import time

from beside import ip, linerate, missing, namespaces

HOST = pathlib.Path(__file__).parent.parent.parent / "crates/cli/tests/netns/host.py"
BYTES = "20000000"
PORT = "5201"
PATIENCE_S = 20


def address(host):
    return f"10.77.0.{host + 1}"


def within(name, *words):
    """The words that run a program in a namespace."""
    return ["ip", "netns", "exec", name, *words]


def make_host(name, switch, host):
    peer = ["type", "veth", "peer", "name", "eth0", "netns", name]
    ip("-n", switch, "link", "add", f"p{host}", *peer)
    ip("-n", switch, "link", "set", f"p{host}", "up")
    ip("-n", name, "addr", "add", f"{address(host)}/24", "dev", "eth0")
    # What crosses is what wires carry: whole checksums, and frames that nobody merged.
    off = "tx off tso off gso off gro off".split()
    subprocess.run(within(name, "ethtool", "-K", "eth0", *off), check=True, capture_output=True)
    ip("-n", name, "link", "set", "eth0", "up")


def pings(name, host):
    words = within(name, "ping", "-c", "1", "-W", "1", address(host))
    return subprocess.run(words, capture_output=True).returncode == 0


def await_ping(name, host, what):
    until = time.monotonic() + PATIENCE_S
    while not pings(name, host):
        if time.monotonic() > until:
            sys.exit(f"{what}: {address(host)} does not answer {name}")


def transfer(sender, receiver, host):
    """Sends a stream; both ends must say the same digest."""
    role = [sys.executable, str(HOST)]
    words = within(receiver, *role, "tcp-receive", PORT, BYTES)
    receiving = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    words = within(sender, *role, "tcp-send", address(host), PORT, BYTES)
    try:
        sent = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=60)
        came, _ = receiving.communicate(timeout=60)
    finally:
        receiving.kill()
    if sent.returncode != 0 or not came or came != sent.stdout:
        sys.exit(f"a stream from {sender} to {receiver} is not whole: {sent.stdout}, {came}")


def judge(program, driver, workers):
    label = f"lswc{os.getpid()}"
    switch, hosts = f"{label}s", [f"{label}{host}" for host in range(3)]
    with namespaces([switch, *hosts]):
        for host, name in enumerate(hosts):
            make_host(name, switch, host)
        ports = [f"p{host}" for host in range(3)]
        with linerate(program, switch, driver, ports, workers, []):
            for other in (1, 2):
                await_ping(hosts[0], other, "at first")
            await_ping(hosts[1], 2, "at first")
            transfer(hosts[0], hosts[1], 1)
            ip("-n", switch, "link", "set", "p2", "down")
            transfer(hosts[1], hosts[0], 0)
            if pings(hosts[0], 2):
                sys.exit("a host answers over a link that is down")
            ip("-n", switch, "link", "set", "p2", "up")
            await_ping(hosts[0], 2, "after its link came up")
            transfer(hosts[2], hosts[1], 1)
    print(f"3 hosts, {workers} workers, {driver}: streams are whole, and the link came back")


def main():
    if why := missing():
        print(f"skipped: {why}")
        return
    judge(str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2], int(sys.argv[3]))


if __name__ == "__main__":
    main()
