#!/usr/bin/env python3
"""Rates of whole runs over each kind of port: docs/rates.py [PROGRAM] [ROUNDS] [--json FILE].

Makes a list of six million random addresses and a capture of five million frames in a temporary
folder (about 900 MB with the output), then runs every row once a round, so that a machine whose
speed drifts slows all rows alike. Prints medians with the lowest and highest round; the file has
all samples, in the form of the laboratory's runs.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time

ENTRIES = 6_000_000


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?", default="target/release/linerate")
    parser.add_argument("rounds", nargs="?", type=int, default=7)
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def run(program, *given):
    done = subprocess.run(
        [program, *given, "--json", "--quiet"], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def write_list(path):
    chance = random.Random(1)
    with open(path, "w", encoding="ascii") as out:
        for _ in range(ENTRIES):
            # No address of 0.0.0.0/8, which no list holds.
            out.write("%d.%d.%d.%d\n" % (*((chance.getrandbits(32) | 1 << 24).to_bytes(4, "big")),))


def rows(folder, program):
    """What is run: name, kind of port, arguments."""
    listed, frames, passed = (f"{folder}/{name}" for name in ("list", "in.pcap", "out.pcap"))
    write_list(listed)
    made = ("bridge", "gen:hit=0.1", f"pcap:out={frames}", "--count", listed, "--frames", "5M")
    run(program, *made)
    read, write, block = f"pcap:in={frames}", f"pcap:out={passed}", ("--block", listed)
    look_up = "generate, look up both addresses, bridge or drop (`linerate demo`)"
    memory, file = "generator, in memory", "capture, a file in the page cache"
    return [
        ("generate, bridge, no set", memory, ("bridge", "gen:", "null:", "--duration", "3s")),
        (look_up, memory, ("demo", "--seconds", "3")),
        ("the same on two workers", memory, ("demo", "--seconds", "3", "--workers", "2")),
        ("read a capture, no set", file, ("bridge", read, "null:")),
        ("read a capture, look up both addresses", file, ("bridge", read, "null:", *block)),
        ("read a capture, look up, write what passed", file, ("bridge", read, write, *block)),
    ]


def load_seconds(folder, program):
    started = time.monotonic()
    run(program, "set", "check", f"{folder}/list")
    return time.monotonic() - started


def measure(program, rounds):
    """The samples of every row, the seconds of every load, and what ran last."""
    with tempfile.TemporaryDirectory() as folder:
        planned = rows(folder, program)
        samples, loads = [[] for _ in planned], []
        for number in range(rounds):
            for (_, _, given), taken in zip(planned, samples):
                report = run(program, *given)
                assert report["balanced"], report
                taken.append(report["mpps"] * 1e6)
            loads.append(load_seconds(folder, program))
            print(f"  rates: round {number + 1} of {rounds}", file=sys.stderr)
    return planned, samples, loads, report


def row(what, port, metric, samples):
    return {
        "variant": {"what": what, "port": port},
        "metric": metric,
        "median": statistics.median(samples),
        "low": min(samples),
        "high": max(samples),
        "samples": samples,
    }


def main():
    asked = arguments()
    planned, samples, loads, report = measure(asked.program, asked.rounds)
    taken = [
        row(what, port, "frames_per_second", rates)
        for (what, port, _), rates in zip(planned, samples)
    ]
    taken.append(row("read and compile the list", "file", "seconds", loads))
    for one in taken:
        low, middle, high = (one[name] for name in ("low", "median", "high"))
        print(f"{one['variant']['what']:72} {middle:14.4g} {low:.4g} to {high:.4g}")
    if asked.json:
        made = {"experiment": "rates", "version": report["version"], "machine": report["machine"]}
        made.update(date=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), rows=taken)
        with open(asked.json, "w", encoding="utf-8") as out:
            json.dump(made, out)


if __name__ == "__main__":
    main()
