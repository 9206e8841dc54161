#!/usr/bin/env python3
"""Holds `linerate route` against the kernel: the same packets into both, between veths.

kernel.py LINERATE DRIVER WORKERS [KIND]; needs root, `ip` and network namespaces. With a KIND only
packets are sent whose kind has these words in it, and what became of them is printed.
"""

import collections
import contextlib
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import time

import differences
import kinds
from packets import ICMP, ICMPV6, mac, ones_sum, pseudo

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "switch"))
from beside import enter, ip, missing, namespaces, opened  # noqa: E402

PORTS = 3
MTUS = [1500, 1500, 1400]
ADDRESSES = [
    ["10.0.0.1/24", "fd00:0::1/64"],
    ["10.0.1.1/24", "10.0.11.1/24", "fd00:1::1/64"],
    ["10.0.2.1/24", "fd00:2::1/64"],
]
# Each by its prefix, and the words of `ip route` behind it.
ROUTES = {
    "10.9.0.0/16": "via 10.0.1.2",
    "10.9.8.0/24": "via 10.0.2.2",
    "10.9.8.128/25": "via 10.0.1.3",
    "fd09::/16": "via fd00:1::2",
    "fd09:8::/32": "via fd00:2::2",
    "10.66.0.0/16": "blackhole",
    "10.67.0.0/16": "unreachable",
    "10.68.0.0/16": "prohibit",
    "fd66::/32": "blackhole",
    "fd67::/32": "unreachable",
    "fd68::/32": "prohibit",
}
KINDS_OF_ROUTES = ("blackhole", "unreachable", "prohibit")
# Hosts behind each port, by the last part of their addresses.
HOSTS = (2, 3)
PATIENCE_S = 2.0
QUIET_S = 0.06


class Side:
    """A router's namespace, and sockets at the hosts' ends of its links."""

    def __init__(self, hosts, router, letter):
        self.router = router
        self.names = [f"{letter}{port}" for port in range(PORTS)]
        self.got = collections.defaultdict(list)
        for port, name in enumerate(self.names):
            link = ["link", "add", name, "address", text(mac(port, 1)), "type", "veth"]
            ip("-n", router, *link, "peer", "name", f"h{name}", "netns", hosts)
            for namespace, end in ((router, name), (hosts, f"h{name}")):
                # A frame that is longer than the router's side takes must come to it.
                ip("-n", namespace, "link", "set", end, "mtu", "1600", "up")
                words = ["ethtool", "-K", end, "tx", "off", "gro", "off"]
                subprocess.run(["ip", "netns", "exec", namespace, *words], capture_output=True)
        self.sockets = [opened(f"h{name}") for name in self.names]

    def read(self):
        """Takes what has come, by the number of the frame that it is of."""
        for port, one in enumerate(self.sockets):
            with contextlib.suppress(BlockingIOError):
                while True:
                    frame = one.recv(4096)
                    number = number_of(frame)
                    if number is not None:
                        self.got[number].append((port, as_compared(frame)))


def number_of(frame):
    """The number of the frame that this one is of; a short fragment has it as identification."""
    if b"frame " in frame:
        return int(frame.split(b"frame ")[1][:6])
    is_piece = frame[12:14] == b"\x08\0" and struct.unpack("!H", frame[20:22])[0] & 0x1FFF
    return struct.unpack("!H", frame[18:20])[0] if is_piece else None


def text(address):
    return ":".join(f"{byte:02x}" for byte in address)


def as_compared(frame):
    """A frame without what may differ: padding, and the identification of the router's own
    messages, whose checksums must be right."""
    if frame[12:14] == b"\x08\0":
        length = struct.unpack("!H", frame[16:18])[0]
        frame = frame[: 14 + length]
        own = frame[23] == ICMP and frame[34] in (3, 11, 12, 0)
        wrong = ones_sum(frame[14 : 14 + (frame[14] & 15) * 4])
        if wrong:
            return b"wrong header checksum " + frame
        if own and ones_sum(frame[34:]):
            return b"wrong ICMP checksum " + frame
        return frame[:18] + b"\0\0" + frame[20:24] + b"\0\0" + frame[26:] if own else frame
    if frame[12:14] == b"\x86\xdd":
        length = struct.unpack("!H", frame[18:20])[0]
        frame = frame[: 54 + length]
        if frame[20] == ICMPV6 and frame[54] in (1, 2, 3, 4, 129):
            body = frame[54:]
            src, dst = frame[22:38], frame[38:54]
            sums = pseudo(socket.inet_ntop(10, src), socket.inet_ntop(10, dst), ICMPV6, len(body))
            if ones_sum(body, sums):
                return b"wrong ICMPv6 checksum " + frame
            # The flow label of messages is free, and their checksums follow nothing else.
            return frame[:14] + frame[14:15] + b"\0\0\0" + frame[18:]
    return frame


def sysctl(namespace, *settings):
    for setting in settings:
        words = ["ip", "netns", "exec", namespace, "sysctl", "-qw", setting]
        subprocess.run(words, check=False, capture_output=True)


def kernel_router(side):
    """Addresses, routes and neighbours of the kernel's router."""
    router = side.router
    everywhere = ("all", "default", *side.names)
    sysctl(router, *(f"net.ipv6.conf.{name}.disable_ipv6=0" for name in everywhere))
    sysctl(router, *(f"net.ipv6.conf.{name}.accept_dad=0" for name in everywhere))
    sysctl(router, *(f"net.ipv4.conf.{name}.rp_filter=0" for name in everywhere))
    sysctl(router, *(f"net.ipv4.conf.{name}.send_redirects=0" for name in everywhere))
    sysctl(router, "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
    sysctl(router, "net.ipv4.icmp_ratelimit=0", "net.ipv4.icmp_msgs_per_sec=100000")
    sysctl(router, "net.ipv6.icmp.ratelimit=0", "net.ipv4.icmp_echo_ignore_broadcasts=1")
    for port, name in enumerate(side.names):
        for address in ADDRESSES[port]:
            nodad = ["nodad"] if ":" in address else []
            ip("-n", router, "address", "add", address, "dev", name, *nodad)
        for host in HOSTS:
            for address in neighbours(port, host):
                words = ["neigh", "add", address, "lladdr", text(mac(port, host)), "dev", name]
                ip("-n", router, *words, "nud", "permanent")
        ip("-n", router, "link", "set", name, "mtu", str(MTUS[port]))
    for prefix, way in ROUTES.items():
        family = "-6" if ":" in prefix else "-4"
        words = [way, prefix] if way in KINDS_OF_ROUTES else [prefix, *way.split()]
        ip("-n", router, family, "route", "add", *words)


def neighbours(port, host):
    return [f"10.0.{port}.{host}", f"fd00:{port}::{host}"]


@contextlib.contextmanager
def linerate(program, side, driver, workers):
    command = ["ip", "netns", "exec", side.router, program, "route"]
    command += [f"{name}={driver}:{name}" for name in side.names]
    for port, name in enumerate(side.names):
        addresses = ",".join(ADDRESSES[port])
        command += ["--interface", f"i{port}={name},{addresses},mtu={MTUS[port]}"]
        for host in HOSTS:
            for address in neighbours(port, host):
                command += ["--neighbour", f"{address}={text(mac(port, host))}@i{port}"]
    for prefix, way in ROUTES.items():
        words = f"{way} {prefix}" if way in KINDS_OF_ROUTES else f"{prefix} {way}"
        command += ["--route", words]
    command += ["--workers", str(workers), "--json", "--icmp-rate", "100000"]
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


def settle(sides, number):
    """Waits until both routers did the same with a frame, or it was waited for in vain."""
    began = time.monotonic()
    while True:
        time.sleep(0.003)
        for side in sides:
            side.read()
        kernel, ours = (sorted(side.got[number]) for side in sides)
        waited = time.monotonic() - began
        if (kernel == ours and waited > (0.01 if kernel else QUIET_S)) or waited > PATIENCE_S:
            return


def await_running(sides, running):
    """Sends a packet until both routers pass it."""
    frame = next(sent.frame for sent in kinds.all_kinds() if sent.kind == "by a gateway")
    until = time.monotonic() + 20
    for number in range(999_000, 999_999):
        numbered = re.sub(rb"frame \d{6}", b"frame %06d" % number, frame)
        # The checksum of UDP is nobody's business on the way.
        for side in sides:
            side.sockets[0].send(numbered)
        time.sleep(0.05)
        for side in sides:
            side.read()
        if all(side.got[number] for side in sides):
            return
        if running.poll() is not None or time.monotonic() > until:
            sys.exit("linerate passes no packet")


def shown(frames):
    return "\n".join(f"    port {port}: {frame.hex()}" for port, frame in frames) or "    nothing"


def judge(program, driver, workers, wanted):
    label = f"lrk{os.getpid()}"
    hosts, kernel, ours = f"{label}h", f"{label}k", f"{label}l"
    with namespaces([hosts, kernel, ours]):
        enter(hosts)
        sides = [Side(hosts, kernel, "k"), Side(hosts, ours, "l")]
        kernel_router(sides[0])
        with linerate(program, sides[1], driver, workers) as running:
            await_running(sides, running)
            compare(sides, wanted)


def compare(sides, wanted):
    """Sends every kind of packet into both; ends the program where they part ways unexpectedly."""
    chosen = [
        (number, sent)
        for number, sent in enumerate(kinds.all_kinds())
        if wanted is None or wanted in sent.kind
    ]
    wrong, named = [], set()
    for number, sent in chosen:
        for side in sides:
            side.sockets[sent.port].send(sent.frame)
        settle(sides, number)
        kernel, ours = (sorted(side.got[number]) for side in sides)
        said = f"{sent.kind}\n  the kernel:\n{shown(kernel)}\n  linerate:\n{shown(ours)}"
        if wanted is not None:
            print(said)
        expected = differences.KNOWN.get(sent.kind)
        if kernel != ours and expected is None:
            wrong.append(said)
        if kernel == ours and expected is not None:
            wrong.append(f"{sent.kind}: no difference, and one is listed: {expected}")
        named.add(sent.kind)
    unknown = set(differences.KNOWN) - named
    if wanted is None and unknown:
        wrong.append(f"differences are listed of kinds that nobody sends: {unknown}")
    if wrong:
        sys.exit("\n".join([*wrong, f"{len(wrong)} of {len(chosen)} kinds differ"]))
    print(f"{len(chosen)} kinds of packets: agree, but for {len(differences.KNOWN)} listed")


def main():
    if why := missing():
        print(f"skipped: {why}")
        return
    program = str(pathlib.Path(sys.argv[1]).resolve())
    wanted = sys.argv[4] if len(sys.argv) > 4 else None
    judge(program, sys.argv[2], int(sys.argv[3]), wanted)


if __name__ == "__main__":
    main()
