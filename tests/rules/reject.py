#!/usr/bin/env python3
"""Holds what `linerate bridge` tells senders of rejected packets against nft: packet by packet.

reject.py LINERATE SEED [PACKETS]; needs root, `ip`, `nft` and network namespaces. The kernel routes
between two veths and rejects, linerate bridges captures: nft rejects nothing that a bridge
forwards. Compared are the kind of the answer, its codes or its numbers and flags, its ends, and its
quotation.

Two things differ and are not compared: an ICMP error comes from the address that the packet was
sent to, since a bridge has none; that of a router comes from the router. And nft sends errors about
resets.
"""

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
from packets import ICMP, TCP, UDP, ipv4, ones_sum, pseudo  # noqa: E402

HOSTS = ["10.0.0.2", "10.0.1.2"]
MACS = [bytes([2, 0, 0, 0, 0, way + 1]) for way in (0, 1)]
ROUTER = bytes([2, 0, 0, 0, 1, 0])
PATIENCE_S = 60
# The rule of linerate and of nft.
RULES = [
    ("reject", "reject with icmpx port-unreachable"),
    ("reject with icmpx admin-prohibited",) * 2,
    ("reject with icmpx host-unreachable",) * 2,
    ("reject with icmpx no-route",) * 2,
    (
        "meta l4proto tcp reject with tcp reset\nreject",
        "meta l4proto tcp reject with tcp reset\nreject",
    ),
]


def packet(draw, with_resets):
    src, dst = HOSTS
    kind = draw.choice([TCP, TCP, UDP, ICMP])
    payload = bytes(draw.randrange(256) for _ in range(draw.choice([0, 1, 30, 700])))
    if kind == TCP:
        flags = draw.choice([2, 16, 18, 17, 24, 1, 0] + [4, 20] * with_resets)
        ports = (draw.randrange(1, 65536), draw.randrange(1, 65536))
        numbers = (draw.randrange(1 << 32), draw.randrange(1 << 32))
        start = struct.pack("!HHIIBBHHH", *ports, *numbers, 0x50, flags, 99, 0, 0)
        body = summed(start + payload, 16, pseudo(src, dst, kind, 20 + len(payload)))
    elif kind == UDP:
        start = struct.pack("!HHHH", 9, 53, 8 + len(payload), 0)
        body = summed(start + payload, 6, pseudo(src, dst, kind, 8 + len(payload)))
    else:
        start = struct.pack("!BBHI", draw.choice([8, 0, 3, 11, 13]), 0, 0, 7)
        body = summed(start + payload, 2, 0)
    return ipv4(src, dst, body, kind)


def summed(body, at, before):
    number = ones_sum(body, before) or 0xFFFF
    return body[:at] + struct.pack("!H", number) + body[at + 2 :]


def told(frame, sent, summed_up):
    """What the answer says, but for its own addresses. On a veth the kernel's own segments have no
    checksum yet."""
    if frame is None:
        return None
    packet = frame[14:]
    header = (packet[0] & 15) * 4
    end = struct.unpack_from("!H", packet, 2)[0]
    body = packet[header:end]
    if ones_sum(packet[:header]) != 0:
        sys.exit(f"a wrong checksum: {frame.hex()}")
    if packet[9] == TCP:
        ends = (packet[12:16], packet[16:20])
        if summed_up and ones_sum(body, pseudo(HOSTS[1], HOSTS[0], TCP, len(body))) != 0:
            sys.exit(f"a wrong checksum: {frame.hex()}")
        return ("reset", ends, struct.unpack_from("!HHIIBB", body))
    if packet[9] == ICMP:
        if ones_sum(body) != 0:
            sys.exit(f"a wrong checksum: {frame.hex()}")
        # The kernel has taken one off the hop limit.
        quoted = body[8:16] + body[17:18] + body[20:]
        wanted = sent[:8] + sent[9:10] + sent[12:]
        return ("error", body[:2], packet[16:20], quoted == wanted[: len(quoted)])
    return ("else", packet[9])


def by_linerate(program, folder, rules, packets):
    """The answers, by the number of the packet."""
    (folder / "rules.txt").write_text(rules)
    answers = []
    for one in packets:
        frame = MACS[1] + MACS[0] + b"\x08\x00" + one
        frame += bytes(max(0, 60 - len(frame)))
        capture = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
        capture += struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame
        (folder / "in.pcap").write_bytes(capture)
        words = ["bridge", "pcap:in=in.pcap,out=back.pcap", "null:", "--rules", "rules.txt", "-q"]
        ran = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True)
        if ran.returncode != 0:
            sys.exit(f"linerate ended with {ran.returncode}: {ran.stderr}\n{rules}")
        back = (folder / "back.pcap").read_bytes()[40:]
        answers.append(back or None)
    return answers


def by_kernel(router, end, rules, packets):
    nft = ["ip", "netns", "exec", router, "nft"]
    subprocess.run([*nft, "flush", "ruleset"], check=True)
    text = "table inet judged {\nchain f { type filter hook forward priority 0;\n"
    ran = subprocess.run([*nft, "-f", "-"], input=f"{text}{rules}\n}}\n}}\n", text=True)
    if ran.returncode != 0:
        sys.exit(f"nft refuses: {rules}")
    header = ROUTER + MACS[0] + b"\x08\x00"
    # The router answers this itself, and what comes before that is about the packet.
    echo = summed(struct.pack("!BBHI", 8, 0, 0, 7) + b"marker", 2, 0)
    marker = header + ipv4(HOSTS[0], "10.0.0.1", echo, ICMP)
    answers = []
    for one in packets:
        end.send(header + one)
        end.send(marker)
        answers.append(before_marker(end))
    return answers


def before_marker(end):
    answer, late = None, time.monotonic() + PATIENCE_S
    while time.monotonic() < late:
        try:
            frame = end.recv(2048)
        except BlockingIOError:
            time.sleep(0.0005)
            continue
        if frame[12:14] != b"\x08\x00":
            continue
        if frame[34:35] == b"\x00" and b"marker" in frame:
            return answer
        answer = frame
    sys.exit("the router does not answer")


def routed(router, hosts):
    run = ["ip", "netns", "exec", router]
    sets = ["ip_forward=1", "icmp_ratelimit=0", "icmp_msgs_per_sec=9999", "icmp_msgs_burst=9999"]
    for setting in sets:
        subprocess.run([*run, "sysctl", "-qw", f"net.ipv4.{setting}"], check=False)
    for way in (0, 1):
        port = f"k{way}"
        peer = ["type", "veth", "peer", "name", f"h{port}", "netns", hosts]
        ip("-n", router, "link", "add", port, *peer)
        mac = (ROUTER[:5] + bytes([way])).hex(":")
        ip("-n", router, "link", "set", port, "address", mac, "up")
        ip("-n", hosts, "link", "set", f"h{port}", "up")
        ip("-n", router, "addr", "add", f"10.0.{way}.1/24", "dev", port)
        ip("-n", router, "neigh", "add", HOSTS[way], "lladdr", MACS[way].hex(":"), "dev", port)


def main(program, seed, count=12):
    why = missing() or (None if shutil.which("nft") else "nft missing")
    if why:
        print(f"skipped: {why}")
        return
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    draw, program = random.Random(int(seed)), os.path.abspath(program)
    hosts, router = f"reject-h-{os.getpid()}", f"reject-k-{os.getpid()}"
    answered = 0
    with namespaces([hosts, router]), tempfile.TemporaryDirectory() as folder:
        routed(router, hosts)
        enter(hosts)
        end = opened("hk0")
        for ours, theirs in RULES:
            packets = [packet(draw, "tcp reset" in ours) for _ in range(int(count))]
            mine = by_linerate(program, pathlib.Path(folder), ours, packets)
            kernels = by_kernel(router, end, theirs, packets)
            for sent, one, other in zip(packets, mine, kernels):
                said = told(one, sent, True), told(other, sent, False)
                if said[0] != said[1]:
                    which = f"seed {seed}, {ours}: {sent.hex()}"
                    sys.exit(f"{which}\nlinerate {said[0]}\nnft {said[1]}")
                answered += one is not None
    packets = len(RULES) * int(count)
    if not 0 < answered < packets:
        sys.exit(f"nothing was judged: {answered} answers")
    print(f"seed {seed}: {answered} of {packets} packets answered alike")


main(*sys.argv[1:])
