#!/usr/bin/env python3
"""memif: beside testpmd: what forwards more between the same two shared-memory ports?

One DPDK process sends a capture of random addresses, over and over (net_pcap, infinite_rx), into
one memif port and counts what comes back by another (net_null takes it). It stays. Between its two
ports stands in turn testpmd (io forwarding) and linerate with a list of six million addresses;
rounds are interleaved, and what counts is the ratio.

    docs/memif.py target/release/linerate [--rounds 5] [--seconds 2] [--addresses 6000000]

Needs dpdk-testpmd (Debian: dpdk), stdbuf and two CPUs; no root, no huge pages. The generator has
CPU 0, what forwards CPU 1.
"""

import argparse
import json
import os
import random
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

FRAMES = 16384


def capture(path):
    """Frames of 64 bytes with FCS: UDP over IPv4, addresses and ports random."""
    draw = random.Random(1)
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for _ in range(FRAMES):
            source, target = draw.getrandbits(32), draw.getrandbits(32)
            ip = struct.pack(">BBHHHBBHII", 0x45, 0, 46, 0, 0, 64, 17, 0, source, target)
            words = struct.unpack(">10H", ip)
            total = sum(words)
            total = (total & 0xFFFF) + (total >> 16)
            total = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
            ip = ip[:10] + struct.pack(">H", total) + ip[12:]
            udp = struct.pack(">HHHH", draw.getrandbits(16), draw.getrandbits(16), 26, 0)
            frame = bytes.fromhex("020000000002020000000001" "0800") + ip + udp + bytes(18)
            out.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


def addresses(path, count):
    draw = random.Random(2)
    with open(path, "w") as out:
        for _ in range(count):
            word = draw.getrandbits(32)
            out.write(f"{word >> 24}.{word >> 16 & 255}.{word >> 8 & 255}.{word & 255}\n")


class Testpmd:
    def __init__(self, cpu, memory, vdevs, options):
        command = ["stdbuf", "-o0", "dpdk-testpmd", "--no-huge", "-m", str(memory), "--no-pci"]
        command += ["--no-shconf", "--no-telemetry", f"--lcores=0@{cpu},1@{cpu}"]
        for vdev in vdevs:
            command += ["--vdev", vdev]
        command += ["--", "-i", "--nb-cores=1", "--forward-mode=io", "--no-mlockall"]
        command += ["--no-lsc-interrupt", *options]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True, bufsize=1
        )
        self.said = ""
        threading.Thread(target=self.read, daemon=True).start()
        self.wait("testpmd> ", 0)

    def read(self):
        while character := self.process.stdout.read(1):
            self.said += character

    def wait(self, text, since):
        for _ in range(4000):
            if text in self.said[since:]:
                return self.said[since:]
            if self.process.poll() is not None:
                break
            time.sleep(0.005)
        sys.exit(f"testpmd does not say {text!r} ({self.process.poll()}):\n{self.said[-2000:]}")

    def obey(self, command):
        since = len(self.said)
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.wait("testpmd> ", since)

    def received(self, port):
        """Frames received, and when that was."""
        text = self.obey(f"show port stats {port}")
        return int(re.search(r"RX-packets:\s*(\d+)", text)[1]), time.monotonic()

    def end(self):
        try:
            self.process.stdin.write("quit\n")
            self.process.stdin.flush()
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


def rate(generator, seconds):
    """Frames a second that come back."""
    for _ in range(100):
        before, _ = generator.received(2)
        time.sleep(0.1)
        if generator.received(2)[0] > before:
            break
    else:
        sys.exit("nothing comes back")
    time.sleep(0.3)
    before, began = generator.received(2)
    time.sleep(seconds)
    after, ended = generator.received(2)
    return (after - before) / (ended - began)


def memifs(role, sockets):
    rest = f"role={role},socket-abstract=no,socket="
    return [f"net_memif{number},{rest}{path}" for number, path in enumerate(sockets)]


def by_testpmd(generator, sockets, seconds):
    vdevs = memifs("client", sockets)
    forwarder = Testpmd(1, 256, vdevs, ["--total-num-mbufs=16384", "--burst=64"])
    forwarder.obey("start")
    measured = rate(generator, seconds)
    forwarder.end()
    return measured


def by_linerate(program, generator, sockets, seconds, listed):
    command = [program, "bridge", *(f"memif:{s}" for s in sockets), "--cpus", "1", "--json"]
    command += ["--block", listed] if listed else []
    output = tempfile.TemporaryFile("w+")
    bridge = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
    measured = rate(generator, seconds)
    bridge.terminate()
    bridge.wait(20)
    output.seek(0)
    report = json.load(output)
    assert report["balanced"], "the books do not balance"
    return measured


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("linerate")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--seconds", type=float, default=2)
    arguments.add_argument("--addresses", type=int, default=6_000_000)
    arguments.add_argument("--folder", help="keeps capture and list between runs")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or temporary
        frames, listed = os.path.join(folder, "frames.pcap"), os.path.join(folder, "list.txt")
        if not os.path.exists(frames):
            capture(frames)
        if chosen.addresses and not os.path.exists(listed):
            addresses(listed, chosen.addresses)
        if not chosen.addresses:
            listed = None
        sockets = [os.path.join(temporary, name) for name in "ab"]
        source = f"net_pcap0,rx_pcap={frames},infinite_rx=1"
        vdevs = [source, *memifs("server", sockets), "net_null0,no-rx=1"]
        generator = Testpmd(0, 400, vdevs, ["--total-num-mbufs=65536", "--burst=64"])
        generator.obey("start")
        ways = {
            "testpmd": lambda: by_testpmd(generator, sockets, chosen.seconds),
            "linerate": lambda: by_linerate(
                chosen.linerate, generator, sockets, chosen.seconds, listed
            ),
        }
        samples = {name: [] for name in ways}
        for number in range(chosen.rounds):
            for name in list(ways)[:: 1 if number % 2 == 0 else -1]:
                samples[name].append(ways[name]())
        generator.end()
    ratios = [ours / theirs for ours, theirs in zip(samples["linerate"], samples["testpmd"])]
    for name, values in samples.items():
        print(f"{name:9} {statistics.median(values) / 1e6:6.2f} Mpps   ", end="")
        print(" ".join(f"{value / 1e6:.2f}" for value in values))
    print(f"ratio     {statistics.median(ratios):6.2f}        ", end="")
    print(" ".join(f"{ratio:.2f}" for ratio in ratios))


if __name__ == "__main__":
    main()
