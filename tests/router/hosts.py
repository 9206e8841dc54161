#!/usr/bin/env python3
"""Hosts of the kernel on both sides of `linerate route`: neighbours, pings, TCP, path MTU.

hosts.py LINERATE DRIVER WORKERS; needs root, `ip`, `ping` and network namespaces. Nothing is
static: the router and the hosts find each other by ARP and neighbour discovery.
"""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "switch"))
from beside import ip, missing, namespaces  # noqa: E402

BYTES = 20_000_000
SERVER = f"""
import socket
server = socket.create_server(("::", 9), family=socket.AF_INET6, dualstack_ipv6=True)
for _ in range(2):
    peer, _ = server.accept()
    left = {BYTES}
    while left and (piece := peer.recv(1 << 16)):
        left -= len(piece)
    peer.sendall(b"all" if left == 0 else b"lost")
    peer.close()
"""
CLIENT = f"""
import socket, sys
for address in sys.argv[1:]:
    peer = socket.create_connection((address, 9), 20)
    peer.settimeout(60)
    peer.sendall(b"x" * {BYTES})
    assert peer.recv(9) == b"all", address
"""


def run(namespace, *words, ok=True):
    """What a command says; `ok` is whether it must succeed, None if either will do."""
    command = ["ip", "netns", "exec", namespace, *words]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if ok is not None and (ran.returncode == 0) != ok:
        sys.exit(f"{' '.join(words)} ended with {ran.returncode}: {ran.stdout}{ran.stderr}")
    return ran.stdout + ran.stderr


def ping(namespace, address, *words, ok=True):
    return run(namespace, "ping", "-n", "-i", "0.02", "-W", "2", *words, address, ok=ok)


def must_say(text, pattern):
    if not re.search(pattern, text):
        sys.exit(f"'{pattern}' is missing: {text}")


def connect(router, host, port, mtu):
    """A host with addresses and a default route, on a link of the router's."""
    name = f"p{port}"
    ip("-n", router, "link", "add", name, "type", "veth", "peer", "name", "eth", "netns", host)
    settings = ["net.ipv6.conf.eth.disable_ipv6=0", "net.ipv6.conf.eth.accept_dad=0"]
    run(host, "sysctl", "-qw", *settings)
    for namespace, end in ((router, name), (host, "eth")):
        ip("-n", namespace, "link", "set", end, "mtu", str(mtu), "up")
        run(namespace, "ethtool", "-K", end, "tx", "off", "gro", "off", ok=None)
    ip("-n", host, "address", "add", f"10.0.{port}.2/24", "dev", "eth")
    ip("-n", host, "address", "add", f"fd00:{port}::2/64", "dev", "eth", "nodad")
    ip("-n", host, "route", "add", "default", "via", f"10.0.{port}.1")
    ip("-n", host, "-6", "route", "add", "default", "via", f"fd00:{port}::1")


@contextlib.contextmanager
def linerate(program, router, driver, workers):
    command = ["ip", "netns", "exec", router, program, "route", f"A={driver}:p0", f"B={driver}:p1"]
    command += ["--interface", "a=A,10.0.0.1/24,fd00:0::1/64"]
    command += ["--interface", "b=B,10.0.1.1/24,fd00:1::1/64,mtu=1400"]
    command += ["--workers", str(workers), "--json"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield running
    finally:
        if running.poll() is None:
            running.send_signal(signal.SIGINT)
        said, complaints = running.communicate(timeout=30)
        if running.returncode != 0:
            sys.exit(f"{' '.join(command)}\nended with {running.returncode}: {complaints}")
        if not re.search(r'"balanced": ?true', said):
            sys.exit(f"the books do not balance: {said}")


def await_router(host, running):
    until = time.monotonic() + 20
    while " 0% packet loss" not in ping(host, "10.0.0.1", "-c", "1", ok=None):
        if running.poll() is not None or time.monotonic() > until:
            sys.exit("the router answers no ping")


def judge(here, there):
    for address in ("10.0.0.1", "fd00:0::1", "10.0.1.1", "fd00:1::1", "10.0.1.2", "fd00:1::2"):
        must_say(ping(here, address, "-c", "5"), " 0% packet loss")
    # What the router cannot do, it says.
    must_say(ping(here, "10.0.1.2", "-c", "1", "-t", "1", ok=False), "10.0.0.1.*exceeded")
    must_say(ping(here, "fd00:1::2", "-c", "1", "-t", "1", ok=False), "fd00::1.*exceeded")
    must_say(ping(here, "10.9.9.9", "-c", "1", ok=False), "10.0.0.1.*Net Unreachable")
    must_say(ping(here, "fd09::9", "-c", "1", ok=False), "fd00::1.*No route")
    must_say(ping(here, "10.0.1.77", "-c", "1", "-W", "6", ok=False), "10.0.0.1.*Host Unreachable")
    must_say(ping(here, "fd00:1::77", "-c", "1", "-W", "6", ok=False), "Address unreachable")
    must_say(ping(here, "10.0.1.2", "-c", "1", "-M", "do", "-s", "1400", ok=False), "mtu.*1400")
    must_say(ping(here, "10.0.1.2", "-c", "3", "-M", "dont", "-s", "1460"), " 0% packet loss")
    must_say(ping(here, "fd00:1::2", "-c", "3", "-s", "1440", ok=None), "mtu=1400")
    transfer(here, there)
    # A neighbour's Ethernet address changes, and it says so.
    ip("-n", there, "link", "set", "eth", "address", "02:00:00:00:09:09")
    ip("-n", there, "route", "replace", "default", "via", "10.0.1.1")
    ip("-n", there, "-6", "route", "replace", "default", "via", "fd00:1::1")
    ping(there, "10.0.0.2", "-c", "1", ok=None)
    ping(there, "fd00:0::2", "-c", "1", ok=None)
    for address in ("10.0.1.2", "fd00:1::2"):
        must_say(ping(here, address, "-c", "5"), " 0% packet loss")


def exchange(here, there, router):
    """The link goes, and on that in its place another station has the address."""
    ip("-n", router, "link", "delete", "p1")
    time.sleep(1)
    connect(router, there, 1, 1500)
    for address in ("10.0.1.2", "fd00:1::2"):
        # What is known of a neighbour would else hold for 8 seconds at least.
        until = time.monotonic() + 5
        while " 0% packet loss" not in ping(here, address, "-c", "1", ok=None):
            if time.monotonic() > until:
                sys.exit(f"{address} is looked for at its old Ethernet address")


def transfer(here, there):
    server = subprocess.Popen(["ip", "netns", "exec", there, "python3", "-c", SERVER])
    try:
        time.sleep(0.5)
        run(here, "python3", "-c", CLIENT, "10.0.1.2", "fd00:1::2")
    finally:
        server.kill()
        server.wait()


def main():
    if why := missing():
        print(f"skipped: {why}")
        return
    program = str(pathlib.Path(sys.argv[1]).resolve())
    driver, workers = sys.argv[2], int(sys.argv[3])
    label = f"lrh{os.getpid()}"
    here, there, router = f"{label}a", f"{label}b", f"{label}r"
    with namespaces([here, there, router]):
        connect(router, here, 0, 1500)
        connect(router, there, 1, 1500)
        with linerate(program, router, driver, workers) as running:
            await_router(here, running)
            judge(here, there)
            exchange(here, there, router)
    print(f"hosts over {driver} with {workers} workers: reach each other")


if __name__ == "__main__":
    main()
