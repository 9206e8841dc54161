#!/usr/bin/env python3
"""`linerate serve udp` and `linerate load udp` with the kernel as the other end.

host.py LINERATE DRIVER; needs root and `ip`, and has tshark look at all frames where it is there.
Both ends are on a veth. The kernel's end checks every byte, and every run's books must balance.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "switch"))
from beside import ip, missing, namespaces  # noqa: E402

OURS, KERNEL = f"udp-o{os.getpid()}", f"udp-k{os.getpid()}"
OUR_MAC = "02:00:00:00:00:0a"
LIMIT = 60
# Sends datagrams of each length and awaits each answer; a lost one is sent again, and counted.
CLIENT = """
import errno, socket, sys
address, port, checks, rounds = sys.argv[1], *map(int, sys.argv[2:5])
lengths = [0, 1, 17, 18, 19, 510, 1452 if ":" in address else 1472]
peer = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
if not checks:
    peer.setsockopt(socket.SOL_SOCKET, 11, 1)  # SO_NO_CHECK
peer.settimeout(5)
peer.connect((address, port))
sent = 0
for at in range(rounds):
    payload = bytes((at + k) % 256 for k in range(lengths[at % len(lengths)]))
    for _ in range(10):
        try:
            peer.send(payload)
            sent += 1
            answer = peer.recv(1 << 16)
        except TimeoutError:
            continue
        except ConnectionRefusedError:
            sys.exit("refused")
        assert answer == payload, f"{len(answer)} bytes in place of {len(payload)}, or other ones"
        break
    else:
        sys.exit("no answer")
print(sent)
"""
# Sends so many datagrams without an answer.
SENDER = """
import socket, sys
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for at in range(int(sys.argv[2])):
    peer.sendto(bytes(510), (sys.argv[1], 9))
"""
# Answers until it is killed, and says when it has answered some.
SERVER = """
import socket, sys
family, port = socket.AddressFamily(int(sys.argv[1])), int(sys.argv[2])
server = socket.socket(family, socket.SOCK_DGRAM)
server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
server.settimeout(60)
server.bind(("", port))
print("ready", flush=True)
answered = 0
while True:
    payload, peer = server.recvfrom(1 << 16)
    rest = payload[18:]
    if rest != bytes(at % 256 for at in range(18, len(payload))):
        print("wrong", len(payload), flush=True)
    server.sendto(payload, peer)
    answered += 1
    if answered == 100:
        print("enough", flush=True)
"""


def inside(namespace, *words):
    return ["ip", "netns", "exec", namespace, *words]


def link():
    pair = ["type", "veth", "peer", "name", "udp0", "netns", KERNEL]
    ip("-n", OURS, "link", "add", "udp0", "address", OUR_MAC, *pair)
    # Checksums are the kernel's, so that tshark can look at them.
    off = ["ethtool", "-K", "udp0", "tx", "off", "gso", "off", "gro", "off"]
    for namespace in (OURS, KERNEL):
        subprocess.run(inside(namespace, *off), capture_output=True)
        ip("-n", namespace, "link", "set", "udp0", "up")
    quiet = "net.ipv6.conf.udp0.disable_ipv6=0"
    subprocess.run(inside(KERNEL, "sysctl", "-qw", quiet), check=True)
    ip("-n", KERNEL, "address", "add", "192.0.2.1/24", "dev", "udp0")
    ip("-n", KERNEL, "address", "add", "fd00::1/64", "dev", "udp0", "nodad")
    ip("-n", KERNEL, "route", "add", "198.18.0.0/16", "via", "192.0.2.2")


@contextlib.contextmanager
def linerate(program, *words, ends_with=0):
    """A run of ours in its namespace; what it said is in the list that it gives, at the end."""
    said = []
    command = inside(OURS, program, *words, "--json")
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield running, said
    finally:
        if running.poll() is None:
            running.send_signal(signal.SIGINT)
        text, complaints = running.communicate(timeout=LIMIT)
    if running.returncode != ends_with:
        sys.exit(f"{' '.join(command)}\nended with {running.returncode}: {complaints}{text}")
    figures = json.loads(text)
    # Counts of 0 are left out.
    figures["run"]["host"] = Counter(figures["run"]["host"])
    check(figures)
    said += [figures, complaints]


def check(figures):
    frames = figures["run"]["frames"]
    dropped = sum(frames["dropped"].values())
    left = frames["tx"] + frames["consumed"] + dropped + frames["held"]
    if not figures["run"]["balanced"] or frames["rx"] + frames["originated"] != left:
        sys.exit(f"the books do not balance: {frames}")
    host, datagrams = figures["run"]["host"], figures["datagrams"]
    if host["bad_datagrams"] or host["foreign"] or host["repeated"] or host["late"]:
        sys.exit(f"datagrams are bad: {host}")
    if host["datagrams_in"] != host["datagrams_taken"] + host["no_socket"]:
        sys.exit(f"datagrams are lost: {host}")
    if figures["role"] == "client" and datagrams["generated"] != (
        datagrams["back"] + figures["not_back"]
    ):
        sys.exit(f"datagrams are lost: {figures}")


def await_ping(address, running):
    until = time.monotonic() + LIMIT
    words = inside(KERNEL, "ping", "-n", "-c", "1", "-W", "1", address)
    while subprocess.run(words, capture_output=True).returncode != 0:
        if running.poll() is not None or time.monotonic() > until:
            sys.exit(f"{address} answers no ping")


def ask(address, port, checks, rounds):
    arguments = [address, str(port), str(checks), str(rounds)]
    command = inside(KERNEL, "python3", "-c", CLIENT, *arguments)
    return subprocess.run(command, capture_output=True, text=True)


def kernel_asks(program, port):
    words = ["serve", "udp", port, "--address", "192.0.2.2/24,fd00::2/64", "--listen", "9"]
    sent = 0
    with linerate(program, *words) as (running, said):
        # Each row: address, and whether the datagrams have checksums.
        for address, checks in [("192.0.2.2", 1), ("192.0.2.2", 0), ("fd00::2", 1)]:
            await_ping(address, running)
            asked = ask(address, 9, checks, 100)
            if asked.returncode != 0:
                sys.exit(f"the kernel's client at {address}: {asked.stderr}")
            sent += int(asked.stdout)
            nobody = ask(address, 10, 1, 1)
            if nobody.stderr != "refused\n":
                sys.exit(f"port 10 of {address} is not refused: {nobody}")
    datagrams, host = said[0]["datagrams"], said[0]["run"]["host"]
    if not 300 <= datagrams["received"] == datagrams["answered"] <= sent:
        sys.exit(f"{sent} datagrams were sent: {said[0]}")
    if host["unreachables_sent"] != 3:
        sys.exit(f"three were to be told that nobody has port 10: {host}")
    print(f"the kernel asks, {port}: {datagrams['answered']} of {sent} datagrams answered")


def kernel_sends(program, port):
    words = ["serve", "udp", port, "--address", "192.0.2.2/24", "--listen", "9"]
    with linerate(program, *words, "--respond", "0") as (running, said):
        await_ping("192.0.2.2", running)
        sender = inside(KERNEL, "python3", "-c", SENDER, "192.0.2.2", "500")
        subprocess.run(sender, check=True)
        # What was sent before a ping has come before its answer.
        await_ping("192.0.2.2", running)
    datagrams = said[0]["datagrams"]
    if datagrams["received"] > 500 or datagrams["received"] == 0 or datagrams["answered"]:
        sys.exit(f"500 datagrams were sent: {said[0]}")
    if said[0]["received_bytes"] != 510 * datagrams["received"]:
        sys.exit(f"bytes are lost: {said[0]}")
    print(f"the kernel sends, {port}: {datagrams['received']} datagrams received")


def kernel_answers(program, port, ends, options):
    clients, server, family = ends
    command = inside(KERNEL, "python3", "-c", SERVER, family, "9")
    serving = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        if serving.stdout.readline() != "ready\n":
            sys.exit("the kernel's server does not begin")
        words = ["load", "udp", port, "--clients", clients, "--server", server, *options]
        with linerate(program, *words) as (running, said):
            if (line := serving.stdout.readline()) != "enough\n":
                sys.exit(f"the kernel's server: {line}")
    finally:
        serving.kill()
        complaints = serving.communicate()[0]
    datagrams, latency = said[0]["datagrams"], said[0]["latency"]
    if complaints or not datagrams["back"] or latency["count"] != datagrams["back"]:
        sys.exit(f"{complaints}{said[0]}")
    counts = f"{datagrams['generated']} datagrams, {datagrams['back']} back"
    print(f"the kernel answers, {port}, {clients} {' '.join(options)}: {counts}")


def nobody_answers(program, port):
    words = ["load", "udp", port, "--clients", "192.0.2.2/24", "--server", "192.0.2.1:10"]
    with linerate(program, *words, "-R", "100", "-d", "2s", ends_with=1) as (running, said):
        running.wait(timeout=LIMIT)
    if "nobody has the server's port" not in said[1] or not said[0]["faults"]["refused"]:
        sys.exit(f"nobody listens, and that is not said: {said}")
    print(f"nobody answers, {port}: {said[0]['faults']['refused']} times refused")


@contextlib.contextmanager
def watched():
    """Has tshark look at all frames of ours when all is done."""
    if shutil.which("tshark") is None or shutil.which("tcpdump") is None:
        print("skipped: tshark or tcpdump is missing, so nobody looks at the frames")
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        capture = f"{folder}/frames.pcap"
        command = ["tcpdump", "-i", "udp0", "-U", "-B", "65536", "-w", capture]
        command += ["ether", "src", OUR_MAC]
        tcpdump = subprocess.Popen(inside(KERNEL, *command), stderr=subprocess.PIPE, text=True)
        tcpdump.stderr.readline()
        yield
        tcpdump.send_signal(signal.SIGINT)
        tcpdump.communicate(timeout=LIMIT)
        look(capture)


def look(capture):
    wrong = "_ws.malformed || ip.checksum.status == 0 || udp.checksum.status == 0"
    wrong += " || icmp.checksum.status == 0 || icmpv6.checksum.status == 0"
    options = ["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]
    datagrams = "udp && !icmp"
    for asked, is_right in [(wrong, lambda lines: not lines), (datagrams, bool)]:
        command = ["tshark", "-r", capture, *options, "-Y", asked, "-c", "20000"]
        seen = subprocess.run(command, capture_output=True, text=True)
        lines = seen.stdout.splitlines()
        if seen.returncode != 0 or not is_right(lines):
            sys.exit(f"tshark, {asked}: {seen.stderr}{seen.stdout[:2000]}")
    print(f"tshark saw {len(lines)} datagrams of ours, and nothing is wrong")


def main(program, driver):
    if why := missing():
        print(f"skipped: {why}")
        return
    port = f"{driver}:udp0"
    with namespaces([OURS, KERNEL]):
        link()
        with watched():
            kernel_asks(program, port)
            kernel_sends(program, port)
            v4, v6 = ("192.0.2.1:9", str(2)), ("[fd00::1]:9", str(10))
            for ends, options in [
                (("192.0.2.2/24", *v4), ["-R", "500"]),
                (("192.0.2.2/24,198.18.0.0/16", *v4), ["--size", "18", "-R", "500"]),
                (("fd00::2/64", *v6), ["--size", "1452", "-R", "500"]),
            ]:
                kernel_answers(program, port, ends, options)
            nobody_answers(program, port)


main(*sys.argv[1:])
