"""Two switches beside each other: the same frames go into both, and both must do the same.

Frames are sent one after the other, each when the one before has left both. Every frame has a
number, by which late and doubled ones are found too.
"""

import contextlib
import ctypes
import operator
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections import Counter

ALL = 3
CLONE_NEWNET = 0x40000000
SOL_PACKET = 263
PACKET_AUXDATA = 8
PACKET_IGNORE_OUTGOING = 23
# Status bits: the kernel took a tag out of the frame, and says its type.
TAG_BESIDE = 0x10
FRAMES = int(os.environ.get("LINERATE_JUDGED_FRAMES", 100))
# How long a frame may take, and how long one that the bridge drops is waited for.
PATIENCE_S = 3.0
QUIET_S = 0.05


def missing():
    """Why there can be no test here; None if there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    tools = [tool for tool in ("ip", "ethtool", "ping") if not shutil.which(tool)]
    return f"{', '.join(tools)} missing" if tools else None


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


@contextlib.contextmanager
def namespaces(names):
    """Network namespaces that send nothing by themselves."""
    try:
        for name in names:
            ip("netns", "add", name)
            quiet = "net.ipv6.conf.default.disable_ipv6=1"
            words = ["ip", "netns", "exec", name, "sysctl", "-qw", quiet]
            subprocess.run(words, check=True)
        yield
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


class Side:
    """The ports of one switch, as sockets of the hosts behind them."""

    def __init__(self, hosts, switch, letter, ports):
        self.sockets = []
        self.got = {}  # number of a frame -> how often each (port, bytes) left
        self.names = [f"{letter}{port}" for port in range(ports)]
        for name in self.names:
            peer = ["type", "veth", "peer", "name", f"h{name}", "netns", hosts]
            ip("-n", switch, "link", "add", name, *peer)
            ip("-n", hosts, "link", "set", f"h{name}", "up")
            ip("-n", switch, "link", "set", name, "up")
        for name in self.names:
            self.sockets.append(opened(f"h{name}"))

    def send(self, port, frame):
        self.sockets[port].send(frame)

    def read(self):
        """Takes what has come."""
        for port, one in enumerate(self.sockets):
            with contextlib.suppress(BlockingIOError):
                while True:
                    frame, extra, _, _ = one.recvmsg(2048, 256)
                    if b"frame " in frame:
                        number = int(frame.split(b"frame ")[1][:6])
                        for _, kind, data in extra:
                            if kind == PACKET_AUXDATA:
                                frame = with_tag(frame, data)
                        self.got.setdefault(number, Counter())[port, frame] += 1

    def of(self, number):
        """What a frame became: how often each (port, bytes) left."""
        return self.got.get(number, Counter())


def with_tag(frame, beside):
    """A frame as it was on the wire, of what the kernel reports beside it."""
    status, tci, tpid = struct.unpack("=I12xHH", beside)
    if not status & TAG_BESIDE:
        return frame
    return frame[:12] + struct.pack("!HH", tpid, tci) + frame[12:]


def opened(interface):
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    raw.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    raw.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    raw.bind((interface, ALL))
    raw.setblocking(False)
    return raw


@contextlib.contextmanager
def linerate(program, switch, driver, names, workers, options):
    specs = [f"{driver}:{name}" for name in names]
    command = ["ip", "netns", "exec", switch, program, "switch", *specs, *options]
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


def settle(sides, number, same):
    """Waits until the frame has left both switches, or one waits in vain."""
    began = time.monotonic()
    while True:
        ready = [one for side in sides for one in side.sockets]
        select.select(ready, [], [], 0.005)
        for side in sides:
            side.read()
        other, ours = (side.of(number) for side in sides)
        limit = PATIENCE_S if other or ours else QUIET_S
        if (other and same(other, ours)) or time.monotonic() - began > limit:
            return


def await_running(sides):
    """Sends broadcasts until both switches pass them."""
    until = time.monotonic() + 20
    for number in range(999_000, 999_999):
        # From a station that no other frame is for.
        frame = b"\xff" * 6 + b"\x02\x00\x00\x00\x01\x01\x88\xb5frame %06d" % number
        for side in sides:
            side.send(0, frame.ljust(60, b"."))
        settle(sides, number, operator.eq)
        other, ours = (side.of(number) for side in sides)
        if other and other == ours:
            return
        if time.monotonic() > until:
            sys.exit(f"linerate passes no broadcast: {ours}, and the judge {other}")


def hold(sides, number, sent, same):
    """Ends the program unless both switches did the same with a frame."""
    other, ours = (side.of(number) for side in sides)
    if not same(other, ours):
        said = [*sent[max(0, number - 12) : number + 1], f"frame {number} left by"]
        for name, got in (("the judge", other), ("linerate", ours)):
            said.append(f"{name}: {sorted((port + 1, frame[:24].hex()) for port, frame in got)}")
        sys.exit("\n".join(said))


def enter(namespace):
    with open(f"/run/netns/{namespace}", "rb") as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter {namespace}")


def hold_all(sides, frames, same=operator.eq):
    """Sends frames one after the other into both; each is a port, its bytes. `same` says whether
    both switches, the judge first, did the same with a frame."""
    sent = []
    for number, (port, frame) in enumerate(frames):
        sent.append(f"frame {number} into port {port + 1}: {frame[:24].hex()}")
        for side in sides:
            side.send(port, frame)
        settle(sides, number, same)
        hold(sides, number, sent, same)
    time.sleep(0.3)
    for side in sides:
        side.read()
    for number in range(len(sent)):
        hold(sides, number, sent, same)
    return sum(sum(one.values()) for one in sides[1].got.values())


def numbered(number):
    """What frames are known by, with an ethertype for experiments."""
    return b"\x88\xb5frame %06d" % number
