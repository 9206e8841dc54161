#!/usr/bin/env python3
"""Makes a capture whose addresses are partly drawn from a list: draw.py LIST OUT SEED FRAMES."""

import ipaddress
import random
import sys

import capture_files
import frames


def main():
    path, out, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    chance = random.Random(seed)
    with open(path, encoding="utf-8") as lines:
        listed = [line.split()[0] for line in lines if line.strip() and line[0] != "#"]

    def address():
        if chance.random() < 0.1:
            return ipaddress.ip_address(chance.choice(listed)).packed
        if chance.random() < 0.1:  # the neighbour of a listed one: off by one shows here
            near = int(ipaddress.ip_address(chance.choice(listed))) + chance.choice((-1, 1))
            return near.to_bytes(4, "big")
        return chance.randbytes(4)

    kinds = [kind for kind in frames.branches() if kind.family == 4]
    records = []
    for index in range(count):
        content = chance.choice(kinds).make(address(), address())
        captured = content[: chance.choice((40, 60, 96, 65535))]
        time_ns = 1_700_000_000_000_000_000 + index * 1009
        records.append(capture_files.Record(time_ns, len(content), captured))
    capture_files.write_pcap(out, records, nano=True)


if __name__ == "__main__":
    main()
