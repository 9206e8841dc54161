#!/usr/bin/env python3
"""Holds `ct state` of `linerate bridge --stateful` against nft: the same packets one after another.

states.py LINERATE SEED [ROUNDS]; needs root, `ip`, `nft` and network namespaces. Linerate bridges
between two veths; beside it the kernel routes the same packets between two others, since not every
kernel follows flows on a bridge. Flows are of UDP, and ICMP errors are about them.

One thing nft does otherwise, and is not asked: an answer that its rules drop makes a flow
established. Here what is dropped changes nothing, so a flow is left alone once a packet of it was
dropped.
"""

import contextlib
import ctypes
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "switch"))
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "router"))
from beside import CLONE_NEWNET, enter, ip, missing, namespaces, opened  # noqa: E402
from packets import ICMP, UDP, ipv4, ones_sum, pseudo  # noqa: E402

HOSTS = ["10.0.0.2", "10.0.1.2"]
MACS = [bytes([2, 0, 0, 0, 0, way + 1]) for way in (0, 1)]
PORTS = [53, 80, 443, 500]
PACKETS = 60
STATEFUL = "allow-new=first,second"
PATIENCE_S = 60


def rules(draw):
    """A file of rules for linerate, and one for nft."""
    lines = []
    for _ in range(draw.randint(1, 6)):
        words = []
        if draw.random() < 0.8:
            no = draw.choice(["", "", "!= "])
            states = draw.sample(["new", "established", "related"], draw.choice([1, 1, 2]))
            words.append(f"ct state {no}" + (states[0] if len(states) == 1 else both(states)))
        if draw.random() < 0.5:
            words.append(f"udp {draw.choice(['sport', 'dport'])} {draw.choice(PORTS)}")
        elif draw.random() < 0.3:
            words.append(f"ip saddr {draw.choice(HOSTS)}")
        lines.append(" ".join([*words, draw.choice(["accept", "drop", "counter"])]))
    policy = draw.choice(["accept", "drop"])
    text = "\n".join(lines)
    # What tells that all before it has arrived.
    marked = f"meta l4proto {253} accept"
    theirs = "table inet judged {\nchain f { type filter hook forward priority 0; "
    theirs += f"policy {policy};\n{marked}\n"
    # Such a bridge drops what is of no flow and begins none, whatever the rules say.
    theirs += f"ct state invalid drop\n{text}\n}}\n}}\n"
    return f"policy {policy}\n{marked}\n{text}\n", theirs


def both(states):
    return "{ " + ", ".join(states) + " }"


def datagram(src, dst, ports, payload):
    start = struct.pack("!HHHH", *ports, 8 + len(payload), 0) + payload
    number = ones_sum(start, pseudo(src, dst, UDP, len(start))) or 0xFFFF
    return ipv4(src, dst, start[:6] + struct.pack("!H", number) + start[8:], UDP)


def packet(draw, number):
    """Which way a packet goes, what it is, and the ports of its flow by the ends."""
    way = draw.choice([0, 1])
    src, dst = HOSTS[way], HOSTS[1 - way]
    ports = (draw.choice(PORTS), draw.choice(PORTS))
    flow = ports[::-1] if way else ports
    payload = b"frame %06d\n" % number
    if draw.random() < 0.2:
        # About what the other one has sent, or not.
        quoted = datagram(dst, src, ports[::-1], payload)
        message = struct.pack("!BBHI", 3, 3, 0, 0) + quoted
        message = message[:2] + struct.pack("!H", ones_sum(message)) + message[4:]
        return way, ipv4(src, dst, message, ICMP), flow
    return way, datagram(src, dst, ports, payload), flow


class Side:
    """Two ends, and what forwards between them."""

    def __init__(self, names, next_macs):
        self.ends = [opened(name) for name in names]
        self.next_macs = next_macs

    def passes(self, way, packet):
        """Whether a packet arrives, before one that is sent behind it and passes."""
        src, dst = HOSTS[way], HOSTS[1 - way]
        header = self.next_macs[way] + MACS[way] + b"\x08\x00"
        self.ends[way].send(header + packet)
        self.ends[way].send(header + ipv4(src, dst, b"marker" + bytes(20), 253))
        late, passed = time.monotonic() + PATIENCE_S, False
        while time.monotonic() < late:
            try:
                frame = self.ends[1 - way].recv(2048)
            except BlockingIOError:
                time.sleep(0.0005)
                continue
            if b"marker" in frame:
                return passed
            passed |= b"frame " in frame
        sys.exit("nothing passes")


@contextlib.contextmanager
def bridged(program, bridge, folder, text):
    """Linerate between two veths; returns when it passes packets."""
    (folder / "rules.txt").write_text(text)
    words = ["bridge", "packet:l0", "packet:l1", "--stateful", STATEFUL]
    words += ["--rules", "rules.txt", "-q"]
    command = ["ip", "netns", "exec", bridge, program, *words]
    log = open(folder / "log", "wb")
    running = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=log)
    try:
        yield running
    finally:
        running.send_signal(signal.SIGINT)
        if running.wait(PATIENCE_S) != 0:
            said = (folder / "log").read_text()
            sys.exit(f"linerate ended with {running.returncode}: {said}\n{text}")


def await_running(side):
    """Sends markers until one arrives each way."""
    late = time.monotonic() + PATIENCE_S
    for way in (0, 1):
        while time.monotonic() < late:
            header = side.next_macs[way] + MACS[way] + b"\x08\x00"
            marker = ipv4(HOSTS[way], HOSTS[1 - way], b"marker" + bytes(20), 253)
            side.ends[way].send(header + marker)
            time.sleep(0.02)
            try:
                side.ends[1 - way].recv(2048)
                break
            except BlockingIOError:
                continue
    time.sleep(0.2)
    for end in side.ends:
        with contextlib.suppress(BlockingIOError):
            while True:
                end.recv(2048)


def router(name, hosts):
    """The kernel as a router between two veths; the addresses that frames go to."""
    ip("-n", name, "link", "set", "lo", "up")
    run = ["ip", "netns", "exec", name]
    sets = ["net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0"]
    for setting in sets:
        subprocess.run([*run, "sysctl", "-qw", setting], check=True)
    macs = []
    for way in (0, 1):
        port = f"k{way}"
        ip("-n", name, "link", "add", port, "type", "veth", "peer", "name", f"h{port}",
           "netns", hosts)
        mac = bytes([2, 0, 0, 0, 1, way])
        ip("-n", name, "link", "set", port, "address", mac.hex(":"), "up")
        ip("-n", hosts, "link", "set", f"h{port}", "up")
        ip("-n", name, "addr", "add", f"10.0.{way}.1/24", "dev", port)
        ip("-n", name, "neigh", "add", HOSTS[way], "lladdr", MACS[way].hex(":"), "dev", port)
        macs.append(mac)
    return macs


def replaced(name, text):
    """Other rules for the kernel, and no flows."""
    nft = ["ip", "netns", "exec", name, "nft"]
    subprocess.run([*nft, "flush", "ruleset"], check=True)
    ran = subprocess.run([*nft, "-f", "-"], input=text, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"nft refuses: {ran.stderr}\n{text}")


def judged(draw, sides, which):
    """Sends packets through both; how many passed."""
    passed, known, left_alone = 0, set(), set()
    for number in range(PACKETS):
        way, one, flow = packet(draw, number)
        if flow in left_alone:
            continue
        verdicts = [side.passes(way, one) for side in sides]
        if verdicts[0] != verdicts[1]:
            who = "linerate" if verdicts[0] else "nft"
            sys.exit(f"{which}: {who} alone lets packet {number} pass, way {way}: {one.hex()}")
        passed += verdicts[0]
        if verdicts[0]:
            known.add(flow)
        elif flow in known:
            left_alone.add(flow)
    return passed


def main(program, seed, rounds=6):
    why = missing() or (None if shutil.which("nft") else "nft missing")
    if why:
        print(f"skipped: {why}")
        return
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    draw, program = random.Random(int(seed)), os.path.abspath(program)
    passed = 0
    for number in range(int(rounds)):
        ours, theirs = rules(draw)
        # Others each round: no flow of the last is known.
        names = [f"states-{what}-{os.getpid()}-{number}" for what in "hbk"]
        passed += one_round(program, names, (ours, theirs), draw, f"seed {seed} round {number}")
    if not 0 < passed < PACKETS * int(rounds):
        sys.exit(f"nothing was judged: {passed} passed")
    print(f"seed {seed}: {rounds} files, {passed} of {PACKETS * int(rounds)} packets passed both")


def one_round(program, names, texts, draw, which):
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    hosts, bridge, kernel = names
    folder = pathlib.Path(f"/tmp/{hosts}")
    folder.mkdir()
    try:
        with namespaces(names):
            macs = router(kernel, hosts)
            for way in (0, 1):
                peer = ["type", "veth", "peer", "name", f"hl{way}", "netns", hosts]
                ip("-n", bridge, "link", "add", f"l{way}", *peer)
                ip("-n", bridge, "link", "set", f"l{way}", "up")
                ip("-n", hosts, "link", "set", f"hl{way}", "up")
            enter(hosts)
            ours = Side(["hl0", "hl1"], MACS[::-1])
            kernels = Side(["hk0", "hk1"], macs)
            replaced(kernel, texts[1])
            with bridged(program, bridge, folder, texts[0]):
                await_running(ours)
                await_running(kernels)
                return judged(draw, [ours, kernels], f"{which}\n{texts[0]}")
    finally:
        ctypes.CDLL(None).setns(home, CLONE_NEWNET)
        shutil.rmtree(folder)


main(*sys.argv[1:])
