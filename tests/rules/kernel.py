#!/usr/bin/env python3
"""Holds the rules of `linerate bridge` against nft: random rules, the same packets, each verdict.

kernel.py LINERATE SEED [ROUNDS]; needs root, `ip`, `nft` and network namespaces. The kernel bridges
between two veths with the rules in its bridge family, linerate bridges captures. Packets go both
ways, some of them in a VLAN; each side has the same set.

Three things nft does otherwise, and is not asked: it compares bytes of later fragments with ports
and types (Linux 6.18 does), `th` with bytes of any protocol, and no types of ICMP in a VLAN.
"""

import ipaddress
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "switch"))
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "router"))
from beside import enter, ip, missing, namespaces, opened  # noqa: E402
from packets import ICMP, ICMPV6, TCP, UDP, ipv4, ipv6, ones_sum, pseudo  # noqa: E402

V4 = ["10.0.0.1", "10.0.0.2", "10.0.1.1", "192.0.2.1"]
V6 = ["2001:db8::1", "2001:db8::2", "2001:db8:1::1", "fd00::1"]
NETS = ["10.0.0.0/24", "10.0.0.0/8", "192.0.2.1", "10.0.0.1-10.0.0.2", "0.0.0.0/0"]
NETS6 = ["2001:db8::/64", "2001:db8::/32", "fd00::1", "2001:db8::1-2001:db8::2", "::/0"]
NUMBERS = ["22", "80", "20-79", "443", "0-65535", "81-65535"]
PORTS = [21, 22, 79, 80, 81, 443]
VLANS = ["5", "7", "1-6"]
# Addresses of a set, and what the sides call it.
BAD = {"ip": ["10.0.0.2", "192.0.2.0/24"], "ip6": ["2001:db8:1::/48", "fd00::1"]}
# The ports of the bridge, as linerate and the kernel call them.
PORT_NAMES = [("1", "k0"), ("2", "k1")]
FLAGS = ["fin", "syn", "rst", "psh", "ack", "urg"]
GRE = 47
PACKETS = 120
# What is sent behind the packets of a round, and passes: when it arrives, they have.
MARKER = bytes([2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1]) + b"\x88\xb5" + bytes(46)
PATIENCE_S = 60


def values(draw, among):
    many = draw.sample(among, draw.choice([1, 1, 2]))
    overlap = any("-" in word[1:] or "/" in word for word in many)
    # nft refuses values in braces that overlap.
    return many[0] if overlap or len(many) == 1 else "{ " + ", ".join(many) + " }"


def flags(draw):
    mask = draw.sample(FLAGS, draw.choice([2, 3]))
    if draw.random() < 0.5:
        return ",".join(mask[1:])
    chosen = draw.sample(mask, draw.randint(1, len(mask)))
    return f"{','.join(chosen)} / {','.join(mask)}"


def match(draw):
    """A match as linerate writes it, and as nft does."""
    side = draw.choice(["saddr", "daddr"])
    port = draw.choice(["sport", "dport"])
    no = draw.choice(["", "", "!= "])
    kinds = [
        lambda: f"ip {side} {no}{values(draw, NETS)}",
        lambda: f"ip6 {side} {no}{values(draw, NETS6)}",
        lambda: f"{draw.choice(['tcp', 'udp'])} {port} {no}{values(draw, NUMBERS)}",
        lambda: f"meta l4proto {{ tcp, udp }} th {port} {no}{values(draw, NUMBERS)}",
        lambda: f"meta l4proto {no}{values(draw, ['tcp', 'udp', 'icmp', 'icmpv6'])}",
        lambda: f"ip protocol {no}{values(draw, ['tcp', 'udp', 'icmp'])}",
        lambda: f"tcp flags {flags(draw)}",
        lambda: f"icmp type {no}{values(draw, ['echo-request', 'echo-reply', 'time-exceeded'])}",
        lambda: f"icmpv6 type {no}{values(draw, ['echo-request', 'echo-reply', 'packet-too-big'])}",
        lambda: f"{draw.choice(['ip', 'ip6'])} dscp {no}{values(draw, ['cs0', 'cs1', 'ef'])}",
        lambda: "fragment later",
        lambda: f"vlan id {no}{draw.choice(VLANS)}",
        lambda: f"{draw.choice(['ip', 'ip6'])} {side} {no}@bad",
        lambda: f'{draw.choice(["iif", "oif"])} {no}"{draw.choice(PORT_NAMES)[0]}"',
    ]
    ours = draw.choice(kinds)()
    return ours, by_nft(ours)


def by_nft(ours):
    """The match as nft has it."""
    first, rest = ours.split(" ", 1)
    if first == "fragment":
        return "ip frag-off & 0x1fff != 0"
    if first in ("iif", "oif"):
        for mine, theirs in PORT_NAMES:
            rest = rest.replace(f'"{mine}"', f'"{theirs}"')
        return f"{first}name {rest}"
    return ours.replace("@bad", "@bad6") if first == "ip6" else ours


def agree(pairs):
    """Whether nft takes these matches beside each other: it refuses what contradicts itself."""
    words = [ours.split()[0] for ours, _ in pairs]
    names = [" ".join(ours.split()[:2]) for ours, _ in pairs]
    of_ip = [word for word in words if word[:2] in ("ip", "ic", "fr")]
    families = {6 if word in ("ip6", "icmpv6") else 4 for word in of_ip}
    protocols = {word for word in words if word in ("tcp", "udp", "icmp", "icmpv6")}
    protocols |= {name for name in names if name in ("meta l4proto", "ip protocol")}
    return len(families) <= 1 and len(protocols) <= 1


def matched(draw):
    pairs = []
    for _ in range(draw.choice([0, 1, 1, 2, 2, 3])):
        more = [*pairs, match(draw)]
        pairs = more if agree(more) else pairs
    # nft takes it in front of what lies inside alone.
    return sorted(pairs, key=lambda pair: not pair[0].startswith("vlan"))


def rules(draw):
    """A file of rules for linerate, and one for nft."""
    policy = draw.choice(["accept", "drop"])
    lists = {"main": [], "other": []}
    for name, text in lists.items():
        for _ in range(draw.randint(1, 8)):
            pairs = matched(draw)
            ends = ["accept", "drop", "counter"] + (["jump other"] if name == "main" else [])
            action = draw.choice(ends)
            text.append([" ".join([*(pair[way] for pair in pairs), action]) for way in (0, 1)])
    ours = "\n".join([f"policy {policy}", *(rule[0] for rule in lists["main"])])
    ours += "\nchain other {\n" + "\n".join(rule[0] for rule in lists["other"]) + "\n}\n"
    theirs = "table bridge judged {\n"
    for name, kind, family in (("bad", "ipv4_addr", "ip"), ("bad6", "ipv6_addr", "ip6")):
        elements = ", ".join(BAD[family])
        theirs += f"set {name} {{ type {kind}; flags interval; elements = {{ {elements} }} }}\n"
    theirs += "chain other {\n" + "\n".join(r[1] for r in lists["other"])
    theirs += f"\n}}\nchain f {{ type filter hook forward priority 0; policy {policy};\n"
    theirs += "ether type 0x88b5 accept\n"
    return ours, theirs + "\n".join(rule[1] for rule in lists["main"]) + "\n}\n}\n"


def transport(draw, icmp):
    """The protocol and the bytes of a segment or message, without its number; no ICMP if `icmp` is
    none."""
    kind = draw.choice([TCP, TCP, UDP, icmp or UDP])
    ports = struct.pack("!HH", draw.choice(PORTS), draw.choice(PORTS))
    if kind == TCP:
        return kind, ports + struct.pack("!IIBBHHH", 1, 1, 0x50, draw.randrange(64), 99, 0, 0)
    if kind == UDP:
        return kind, ports + struct.pack("!HH", 8 + 13, 0)
    types = [0, 3, 8, 11] if icmp == ICMP else [1, 2, 128, 129]
    return kind, struct.pack("!BBHI", draw.choice(types), draw.choice([0, 1]), 0, 7)


def packet(draw, number):
    """A frame that says which it is; those of odd numbers go the other way."""
    payload = b"frame %06d\n" % number
    macs = bytes([2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1])
    macs = macs[6:] + macs[:6] if number % 2 else macs
    tagged = draw.random() < 0.3
    if tagged:
        macs += struct.pack("!HH", 0x8100, draw.choice([0, 5, 7, 0x6005]))
    tos = draw.choice([0, 0, 8 << 2, 46 << 2])
    if draw.random() < 0.6:
        src, dst = draw.choice(V4), draw.choice(V4)
        later = draw.random() < 0.15
        kind, start = (GRE, bytes(8)) if later else transport(draw, None if tagged else ICMP)
        fields = {"tos": tos, "flags": 100 if later else 0}
        body = checked(kind, start + payload, src, dst)
        return macs + b"\x08\x00" + ipv4(src, dst, body, kind, **fields)
    src, dst = draw.choice(V6), draw.choice(V6)
    kind, start = transport(draw, None if tagged else ICMPV6)
    body = checked(kind, start + payload, src, dst)
    return macs + b"\x86\xdd" + ipv6(src, dst, body, kind, traffic=tos)


def checked(kind, body, src, dst):
    """The same with its checksum and, of UDP, its length."""
    if kind == GRE:
        return body
    at = {TCP: 16, UDP: 6, ICMP: 2, ICMPV6: 2}[kind]
    body = bytearray(body)
    if kind == UDP:
        body[4:6] = struct.pack("!H", len(body))
    before = 0 if kind == ICMP else pseudo(src, dst, kind, len(body))
    body[at : at + 2] = struct.pack("!H", ones_sum(body, before) or 0xFFFF)
    return bytes(body)


def numbers(frames):
    return {int(frame.split(b"frame ")[1][:6]) for frame in frames if b"frame " in frame}


def by_linerate(program, folder, text, frames):
    """The numbers of the frames that pass."""
    (folder / "rules.txt").write_text(text)
    (folder / "bad.txt").write_text("\n".join(BAD["ip"] + BAD["ip6"]))
    words = ["bridge"]
    for way in (0, 1):
        capture = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
        for at, frame in enumerate(frames[way::2]):
            capture += struct.pack("<IIII", at, 0, len(frame), len(frame)) + frame
        (folder / f"in{way}.pcap").write_bytes(capture)
        words.append(f"pcap:in=in{way}.pcap,out=out{way}.pcap")
    words += ["--rules", "rules.txt", "--set", "bad=bad.txt", "-q"]
    ran = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"linerate ended with {ran.returncode}: {ran.stderr}\n{text}")
    left = []
    for way in (0, 1):
        at, out = 24, (folder / f"out{way}.pcap").read_bytes()
        while at < len(out):
            length = struct.unpack_from("<I", out, at + 8)[0]
            left.append(out[at + 16 : at + 16 + length])
            at += 16 + length
    return numbers(left)


def by_kernel(bridge, ends, text, frames):
    """The same of the kernel."""
    nft = ["ip", "netns", "exec", bridge, "nft"]
    subprocess.run([*nft, "flush", "ruleset"], check=True)
    ran = subprocess.run([*nft, "-f", "-"], input=text, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"nft refuses: {ran.stderr}\n{text}")
    for number, frame in enumerate(frames):
        ends[number % 2].send(frame)
    got = []
    for way, end in enumerate(ends):
        ends[1 - way].send(MARKER if way else MARKER[6:12] + MARKER[:6] + MARKER[12:])
        got += received(end)
    return numbers(got)


def received(end):
    """What arrives before the marker."""
    got, late = [], time.monotonic() + PATIENCE_S
    while time.monotonic() < late:
        try:
            frame = end.recv(2048)
        except BlockingIOError:
            time.sleep(0.001)
            continue
        if frame[12:14] == MARKER[12:14]:
            return got
        got.append(frame)
    sys.exit("the kernel's bridge lets nothing pass")


def main(program, seed, rounds=15):
    why = missing() or (None if shutil.which("nft") else "nft missing")
    if why:
        print(f"skipped: {why}")
        return
    # Frames that are sent on one CPU arrive in their order.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    draw, program = random.Random(int(seed)), os.path.abspath(program)
    hosts, bridge = f"rules-h-{os.getpid()}", f"rules-b-{os.getpid()}"
    with namespaces([hosts, bridge]), tempfile.TemporaryDirectory() as folder:
        ip("-n", bridge, "link", "add", "br0", "type", "bridge", "mcast_snooping", "0")
        ip("-n", bridge, "link", "set", "br0", "up")
        for name in ("k0", "k1"):
            peer = ["type", "veth", "peer", "name", f"h{name}", "netns", hosts]
            ip("-n", bridge, "link", "add", name, *peer)
            ip("-n", bridge, "link", "set", name, "up", "master", "br0")
            ip("-n", hosts, "link", "set", f"h{name}", "up")
        enter(hosts)
        ends = [opened("hk0"), opened("hk1")]
        time.sleep(1)
        passed = dropped = 0
        for number in range(int(rounds)):
            ours, theirs = rules(draw)
            frames = [packet(draw, at) for at in range(PACKETS)]
            mine = by_linerate(program, pathlib.Path(folder), ours, frames)
            kernels = by_kernel(bridge, ends, theirs, frames)
            differ = mine ^ kernels
            if differ:
                which = min(differ)
                who = "linerate" if which in mine else "nft"
                sys.exit(
                    f"seed {seed} round {number}: {who} alone lets packet {which} pass "
                    f"({len(differ)} differ): {frames[which].hex()}\n{ours}"
                )
            passed, dropped = passed + len(mine), dropped + PACKETS - len(mine)
        if not passed or not dropped:
            sys.exit(f"nothing was judged: {passed} passed, {dropped} dropped")
        print(f"seed {seed}: {rounds} files, {passed} packets passed, {dropped} dropped by both")


main(*sys.argv[1:])
