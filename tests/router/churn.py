#!/usr/bin/env python3
"""Traffic through `linerate route --kernel` while the kernel's routes change as fast as they can.

churn.py LINERATE DRIVER WORKERS; needs root, `ip` and network namespaces. Every frame that leaves
is checked: routes that stay lead where they lead, a route that changes leads to one of its two next
hops, and what was changed in the end is what holds, after lost messages of the kernel too.
"""

import collections
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import followed
import kernel
from packets import ethernet, ipv4, mac, udp

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "switch"))
from beside import enter, missing, namespaces  # noqa: E402

ROUTES = int(os.environ.get("LINERATE_CHURNED_ROUTES", 60_000))
ROUNDS = 3
SETTLED_WITHIN_S = 60
# The next hops that packets to each address may take: port and host.
SOURCE = "10.200.0.1"
STAYS = {"10.9.1.1": {(1, 2)}, "10.8.1.1": {(2, 2)}, "10.7.1.1": {(1, 2), (2, 2)}}


def batch(router, lines):
    with tempfile.NamedTemporaryFile("w", suffix=".routes") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        subprocess.run(["ip", "-n", router, "-batch", file.name], check=True)


def prefixes():
    """Beside and below the routes that stay, and none that holds an address of STAYS."""
    for number in range(ROUTES):
        yield f"10.{(100, 9, 8, 7)[number % 4]}.{2 + (number >> 10) % 250}.{number >> 2 & 255}/32"


def change(router, over):
    """Rounds of routes that come, lead elsewhere and go."""
    flips = 0
    all_prefixes = sorted(set(prefixes()))
    for number in range(ROUNDS):
        for word, gateway in (("add", "10.0.1.3"), ("replace", "10.0.2.3"), ("del", "10.0.2.3")):
            lines = []
            for at, prefix in enumerate(all_prefixes):
                lines.append(f"route {word} {prefix} via {gateway}")
                if at % 500 == 0:
                    flips += 1
                    lines.append(f"route replace 10.7.0.0/16 via 10.0.{1 + flips % 2}.2")
            batch(router, lines)
        print(f"round {number + 1}: {len(all_prefixes)} routes came, changed and went")
    over.set()


class Traffic:
    """Sends to the addresses of STAYS in turn, and checks what leaves."""

    def __init__(self, side):
        self.side, self.sent, self.number = side, 0, 0
        self.went = collections.Counter()
        self.may_be_refused = False

    def burst(self):
        for destination in STAYS:
            self.number = (self.number + 1) % 1_000_000
            payload = b"frame %06d...." % self.number
            packet = ipv4(SOURCE, destination, udp(SOURCE, destination, payload))
            self.side.sockets[0].send(ethernet(packet))
            self.sent += 1

    def take(self):
        for port, socket in enumerate(self.side.sockets):
            with contextlib.suppress(BlockingIOError):
                while True:
                    frame = socket.recv(4096)
                    if frame[12:14] == b"\x08\0" and b"frame " in frame:
                        self.check(port, frame)

    def check(self, port, frame):
        destination = ".".join(str(byte) for byte in frame[30:34])
        if destination == SOURCE and self.may_be_refused:
            return
        allowed = STAYS.get(destination, set())
        if not any((port, frame[:6]) == (way[0], mac(*way)) for way in allowed):
            sys.exit(f"to {destination} by port {port}: {frame.hex()}")
        self.went[destination, (port, frame[5])] += 1


def judge(program, driver, workers):
    label = f"lrc{os.getpid()}"
    hosts, router = f"{label}h", f"{label}l"
    with namespaces([hosts, router]):
        enter(hosts)
        side = kernel.Side(hosts, router, "l")
        followed.configure(side, 0)
        batch(
            router,
            [
                "route add 10.9.0.0/16 via 10.0.1.2",
                "route add 10.8.0.0/16 via 10.0.2.2",
                "route add 10.7.0.0/16 via 10.0.1.2",
            ],
        )
        with followed.linerate(program, side, driver, workers) as running:
            traffic = Traffic(side)
            until = time.monotonic() + 30
            while not traffic.went:
                traffic.burst()
                time.sleep(0.05)
                traffic.take()
                if running.poll() is not None or time.monotonic() > until:
                    sys.exit(f"linerate passes no packet: {running.stderr.read()}")
            while_changing(traffic, router)
            settle(traffic, side, running)
    print(f"{traffic.sent} frames over {driver} with {workers} workers: all by their next hops")


def while_changing(traffic, router):
    over = threading.Event()
    changing = threading.Thread(target=change, args=(router, over), daemon=True)
    changing.start()
    while not over.is_set():
        traffic.burst()
        time.sleep(0.001)
        traffic.take()
    changing.join()


def settle(traffic, side, running):
    """What is in force in the end: one address that had a route of its own has none any more."""
    gone = next(prefixes()).split("/")[0]
    batch(
        side.router, ["route replace 10.7.0.0/16 via 10.0.2.2", f"route add {gone}/32 via 10.0.2.2"]
    )
    began = time.monotonic()
    # What it led to before the last changes are in force.
    STAYS[gone] = {(1, 3), (2, 3), (2, 2)}
    # Until its route is in force, the sender is told that there is none.
    traffic.may_be_refused = True
    while True:
        traffic.went.clear()
        for _ in range(20):
            traffic.burst()
        time.sleep(0.2)
        traffic.take()
        if traffic.went[gone, (2, 2)] == 20 and not traffic.went["10.7.1.1", (1, 2)]:
            break
        if running.poll() is not None or time.monotonic() - began > SETTLED_WITHIN_S:
            sys.exit(f"the routes are not as they should be: {traffic.went}")
    came = {to: sum(traffic.went[to, way] for way in ways) for to, ways in STAYS.items()}
    if set(came.values()) != {20}:
        sys.exit(f"frames were lost: {came}")
    print(f"in force {time.monotonic() - began:.1f} s behind the last change")


def main():
    if why := missing():
        print(f"skipped: {why}")
        return
    program = str(pathlib.Path(sys.argv[1]).resolve())
    judge(program, sys.argv[2], int(sys.argv[3]))


if __name__ == "__main__":
    main()
