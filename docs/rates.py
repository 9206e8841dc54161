#!/usr/bin/env python3
"""Measures the table of rates in README.md: docs/rates.py [PROGRAM] [ROUNDS].

Makes a list of six million random addresses and a capture of five million frames in a temporary
folder (about 900 MB with the output), then runs every row once a round, so that a machine whose
speed drifts slows all rows alike, and prints medians with the lowest and highest round.
"""

import json
import random
import statistics
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "target/release/linerate"
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 7
ENTRIES = 6_000_000


def run(*arguments):
    done = subprocess.run(
        [PROGRAM, *arguments, "--json", "--quiet"], capture_output=True, text=True, check=True
    )
    report = json.loads(done.stdout)
    assert report["balanced"], report
    return report


def write_list(path):
    chance = random.Random(1)
    with open(path, "w", encoding="ascii") as out:
        for _ in range(ENTRIES):
            # No address of 0.0.0.0/8, which no list holds.
            out.write("%d.%d.%d.%d\n" % (*((chance.getrandbits(32) | 1 << 24).to_bytes(4, "big")),))


def main():
    with tempfile.TemporaryDirectory() as folder:
        listed, frames, passed = (f"{folder}/{name}" for name in ("list", "in.pcap", "out.pcap"))
        write_list(listed)
        run("bridge", "gen:hit=0.1", f"pcap:out={frames}", "--count", listed, "--frames", "5M")
        block = ("--block", listed)
        read, write = f"pcap:in={frames}", f"pcap:out={passed}"
        rows = {
            "generate, no set": ("bridge", "gen:", "null:", "--duration", "3s"),
            "demo": ("demo", "--seconds", "3"),
            "demo, two workers": ("demo", "--seconds", "3", "--workers", "2"),
            "capture, no set": ("bridge", read, "null:"),
            "capture, look up": ("bridge", read, "null:", *block),
            "capture, look up, write": ("bridge", read, write, *block),
        }
        samples = {name: [] for name in rows}
        for number in range(ROUNDS):
            for name, arguments in rows.items():
                report = run(*arguments)
                samples[name].append((report["mpps"], report["ns_per_frame"]))
            print(f"round {number + 1} of {ROUNDS}", file=sys.stderr)
    for name, taken in samples.items():
        rates = sorted(rate for rate, _ in taken)
        cost = statistics.median(cost for _, cost in taken)
        middle = statistics.median(rates)
        print(f"{name:25} {middle:6.1f} Mpps  {rates[0]:.1f} to {rates[-1]:.1f}  {cost:6.1f} ns")


if __name__ == "__main__":
    main()
