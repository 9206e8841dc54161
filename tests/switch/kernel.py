#!/usr/bin/env python3
"""Holds `linerate switch` against the kernel's bridge: the same frames into both, between veths.

kernel.py LINERATE DRIVER PORTS WORKERS SEED; needs root, `ip` and network namespaces.

One difference is known, and kept out. The kernel floods frames to 01-80-C2-00-00-00 where its
spanning tree is off, for loops to be seen by others; a switch may not forward them (IEEE 802.1Q,
8.6.3).
"""

import contextlib
import os
import pathlib
import random
import subprocess
import sys

from beside import (
    FRAMES,
    Side,
    await_running,
    enter,
    hold_all,
    ip,
    linerate,
    missing,
    namespaces,
    numbered,
)

GROUPS = ["ffffffffffff", "01005e000001", "333300000001", "0180c2000002", "0180c200000e"]
TAGS = ["", "", "8100000a", "81000000", "88a80007"]


def kernel_bridge(switch, names, isolated, hairpin):
    words = "stp_state 0 forward_delay 0".split()
    ip("-n", switch, "link", "add", "bridge0", "type", "bridge", *words)
    # A kernel that was built without snooping cannot be told to leave it.
    with contextlib.suppress(subprocess.CalledProcessError):
        ip("-n", switch, "link", "set", "bridge0", "type", "bridge", "mcast_snooping", "0")
    for port, name in enumerate(names):
        ip("-n", switch, "link", "set", name, "master", "bridge0")
        for option, ports in (("isolated", isolated), ("hairpin", hairpin)):
            if port in ports:
                ip("-n", switch, "link", "set", name, "type", "bridge_slave", option, "on")
    ip("-n", switch, "link", "set", "bridge0", "up")


def frame_of(random_, number):
    station = lambda: bytes([2, 0, 0, 0, 0, random_.randint(1, 6)])  # noqa: E731
    to_group = random_.random() < 0.2
    destination = bytes.fromhex(random_.choice(GROUPS)) if to_group else station()
    tags = bytes.fromhex(random_.choice(TAGS))
    rest = numbered(number)
    return (destination + station() + tags + rest).ljust(random_.choice([60, 200, 1500]), b".")


def judge(program, driver, ports, workers, seed):
    random_ = random.Random(seed)
    label = f"lswc{os.getpid()}"
    hosts, switch, other = f"{label}h", f"{label}k", f"{label}l"
    # The first port is neither, or no broadcast would show that the switches run.
    isolated = [port for port in range(1, ports) if random_.random() < 0.3]
    hairpin = [port for port in range(1, ports) if random_.random() < 0.15]
    named = (("isolated", isolated), ("hairpin", hairpin))
    options = [
        f"--{word}={','.join(str(port + 1) for port in chosen)}" for word, chosen in named if chosen
    ]
    with namespaces([hosts, switch, other]):
        enter(hosts)
        kernel = Side(hosts, switch, "k", ports)
        ours = Side(hosts, other, "l", ports)
        kernel_bridge(switch, kernel.names, isolated, hairpin)
        with linerate(program, other, driver, ours.names, workers, options):
            await_running([kernel, ours])
            into = ((random_.randrange(ports), frame_of(random_, n)) for n in range(FRAMES))
            outs = hold_all([kernel, ours], into)
    print(f"{FRAMES} frames into {ports} ports, {outs} out; {workers} workers, {driver}: agree")


def main():
    if why := missing():
        print(f"skipped: {why}")
        return
    program = str(pathlib.Path(sys.argv[1]).resolve())
    judge(program, sys.argv[2], *map(int, sys.argv[3:6]))


if __name__ == "__main__":
    main()
