#!/usr/bin/env python3
"""gen over veth beside testpmd: who sends more frames into the same interface?

Makes a network namespace with one pair of veth ends; the far end receives with GRO and nobody has
its address. Into the near one send in turn linerate gen, with socket buffers and without
(transmit=redirect), and DPDK's testpmd (txonly, net_af_xdp), each on CPU 1. Rounds are interleaved,
frames are counted at the far end by the kernel, and what counts is the ratio.

    docs/txonly.py target/release/linerate [--rounds 7] [--seconds 1]

Needs root, ip, ethtool, stdbuf and dpdk-testpmd (Debian: dpdk-dev).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

SPACE = f"lrtx{os.getpid()}"
NEAR, FAR = "near", "far"
PROMPT = b"testpmd>"


def inside(*words, **more):
    return subprocess.run(["ip", "netns", "exec", SPACE, *words], check=True, **more)


def arrived():
    answer = inside("ip", "-json", "-s", "link", "show", "dev", FAR, capture_output=True)
    return json.loads(answer.stdout)[0]["stats64"]["rx"]["packets"]


def make():
    subprocess.run(["ip", "netns", "add", SPACE], check=True)
    for which in ("all", "default"):
        inside("sysctl", "-qw", f"net.ipv6.conf.{which}.disable_ipv6=1")
    inside("ip", "link", "add", "name", NEAR, "type", "veth", "peer", "name", FAR)
    inside("ethtool", "-K", FAR, "gro", "on", capture_output=True)
    for end in (NEAR, FAR):
        inside("ip", "link", "set", "dev", end, "up")
    time.sleep(0.5)


def gen(program, way, seconds):
    before = arrived()
    port = f"xdp:{NEAR},transmit={way}"
    words = ["taskset", "-c", "1", program, "gen", port, "--rate", "max", "--no-trial", "--quiet"]
    ran = inside(*words, "--duration", f"{seconds}s", "--json", capture_output=True)
    return (arrived() - before) / json.loads(ran.stdout)["seconds"]


class Testpmd:
    def __init__(self):
        words = ["ip", "netns", "exec", SPACE, "stdbuf", "-o0", "dpdk-testpmd"]
        words += ["--no-huge", "-m", "512", "--no-shconf", "--no-pci", "--no-telemetry"]
        words += ["-l", "0,1", "--main-lcore", "0"]
        words += ["--vdev", f"net_af_xdp0,iface={NEAR}", "--", "-i", "--forward-mode=txonly"]
        words += ["--nb-cores=1", "--burst=64", "--total-num-mbufs=32768", "--no-mlockall"]
        words += ["--rxd=2048", "--txd=2048", "--txpkts=60"]
        quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.child = subprocess.Popen(words, stdin=subprocess.PIPE, **quiet)
        self.prompt()

    def prompt(self):
        said = b""
        while not said.endswith(PROMPT + b" "):
            byte = self.child.stdout.read(1)
            if not byte:
                sys.exit(f"testpmd has ended: {said.decode(errors='replace')[-400:]}")
            said += byte

    def obey(self, command):
        self.child.stdin.write(command.encode() + b"\n")
        self.child.stdin.flush()
        self.prompt()

    def rate(self, seconds):
        self.obey("start")
        before, begun = arrived(), time.monotonic()
        time.sleep(seconds)
        after, ended = arrived(), time.monotonic()
        self.obey("stop")
        return (after - before) / (ended - begun)

    def end(self):
        self.child.stdin.write(b"quit\n")
        self.child.stdin.close()
        self.child.wait()


def testpmd(_program, _way, seconds):
    sender = Testpmd()
    rate = sender.rate(seconds)
    sender.end()
    return rate


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1)
    given = parser.parse_args()
    rows = {"testpmd": (testpmd, ""), "socket": (gen, "socket"), "redirect": (gen, "redirect")}
    rates = {name: [] for name in rows}
    make()
    try:
        for _ in range(given.rounds):
            for name, (measure, way) in rows.items():
                rates[name].append(measure(given.program, way, given.seconds))
    finally:
        subprocess.run(["ip", "netns", "del", SPACE], check=True)
    for name, samples in rates.items():
        ratios = [one / other for one, other in zip(samples, rates["testpmd"])]
        print(
            f"{name:<9} {statistics.median(samples) / 1e6:6.2f} Mpps, of testpmd's"
            f" {statistics.median(ratios):5.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        )


if __name__ == "__main__":
    main()
