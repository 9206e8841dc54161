#!/usr/bin/env python3
"""What NAT of established flows costs, in processor time a packet: the same router between the
generator and nothing, with and without --nat, in turns.

cost.py LINERATE [ROUNDS [MILLIONS]]; prints the median and the spread of the rounds.
"""

import resource
import statistics
import subprocess
import sys
import tempfile

BETWEEN = [
    "route",
    "A=gen:size=64,addresses=1000,frames={frames}",
    "B=null:",
    *("--interface", "lan=A,10.0.0.1/24,mac=02:4c:52:00:00:02"),
    *("--interface", "wan=B,10.0.1.1/24"),
    *("--route", "default via 10.0.1.2"),
    *("--neighbour", "10.0.1.2=02:00:00:00:00:09@wan"),
]


def seconds(program, frames, *more):
    """Processor time of a run, its start and end included."""

    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = used()
    words = [word.format(frames=frames) for word in BETWEEN]
    ran = subprocess.run([program, *words, *more], capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"ended with {ran.returncode}: {ran.stdout}{ran.stderr}")
    return used() - before


def cost(program, frames, *more):
    """Nanoseconds a packet: of many packets, less those of a few and of the start."""
    few = frames // 10
    long, short = seconds(program, frames, *more), seconds(program, few, *more)
    return (long - short) / (frames - few) * 1e9


def main():
    program = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    frames = int(float(sys.argv[3]) * 1e6) if len(sys.argv) > 3 else 20_000_000
    without, differences = [], []
    with tempfile.NamedTemporaryFile("w", suffix=".nat") as rules:
        rules.write('oif "wan" masquerade\n')
        rules.flush()
        for turn in range(rounds):
            pair = [[], ["--nat", rules.name]]
            # Each goes first as often: what else the machine does falls on both.
            order = pair if turn % 2 else pair[::-1]
            took = {len(more): cost(program, frames, *more) for more in order}
            without.append(took[0])
            differences.append(took[2] - took[0])
    for name, values in (("without NAT", without), ("NAT costs", differences)):
        ordered = sorted(values)
        print(
            f"{name}: median {statistics.median(values):.1f} ns a packet, "
            f"{ordered[0]:.1f} to {ordered[-1]:.1f} in {rounds} rounds"
        )


if __name__ == "__main__":
    main()
