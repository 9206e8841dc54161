#!/usr/bin/env python3
"""A full table by BGP beside `linerate route --kernel`: no packet by a wrong next hop, ever.

full_table.py LINERATE DRIVER WORKERS; needs root, `ip`, network namespaces and the Debian package
bird2. Two routers feed a third one, whose BIRD gives its kernel the routes. The first byte of an
address says who has routes to it: one router, the other one, or both. Every frame that leaves is
held against that while sessions come, go and flap.

LINERATE_FED_ROUTES is how many routes there are, 900,000 by default. They are those of the file
that LINERATE_ROUTES names, a prefix a line, plain or gzip; else they are drawn.
"""

import collections
import contextlib
import gzip
import ipaddress
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from daemons import Linerate, absent
from hosts import connect, run
from packets import ethernet, ipv4, mac, udp

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "switch"))
from beside import enter, ip, missing, namespaces, opened  # noqa: E402

ROUTES = int(os.environ.get("LINERATE_FED_ROUTES", 900_000))
PROBES = 2000
# In one turn, so that no socket is full.
BURST = 200
CONVERGED_WITHIN_S = 600
FLAPS = 20
SOURCE = "10.200.0.1"
# By the first byte of an address: who has routes to it, the better way first.
FEEDERS = ("b", "c", "bc")
PORT = {"b": 1, "c": 2}
# Ours, of one host or link, and those of groups.
NO_ROUTES = {0, 10, 127, 169, 172, 192, *range(224, 256)}

FEEDER_TEXT = """
log stderr all;
router id 10.0.{port}.2;
protocol device {{ }}
protocol static {{
    ipv4;
    include "{folder}/{place}.routes";
}}
protocol bgp up {{
    local 10.0.{port}.2 as {asn};
    neighbor 10.0.{port}.1 as 65000;
    connect delay time 1;
    error wait time 1, 2;
    ipv4 {{ import none; export all; next hop self; }};
}}
"""
ROUTER_TEXT = """
log stderr all;
router id 10.0.0.1;
protocol device {{ }}
protocol kernel {{ scan time 3600; ipv4 {{ import none; export where source = RTS_BGP; }}; }}
{sessions}
"""
SESSION_TEXT = """
protocol bgp {place} {{
    local 10.0.{port}.1 as 65000;
    neighbor 10.0.{port}.2 as {asn};
    connect delay time 1;
    error wait time 1, 2;
    ipv4 {{ import filter {{ bgp_local_pref = {preference}; accept; }}; export none; }};
}}
"""


def feeders_of(address):
    return FEEDERS[int(address.split(".")[0]) % len(FEEDERS)]


def drawn():
    """Prefixes like those of the Internet: most are of 24 bits, and lie within shorter ones."""
    draw = random.Random(7)
    while True:
        length = draw.choice((24,) * 12 + (23, 22, 22, 21, 20, 19, 16))
        first = draw.getrandbits(32) >> (32 - length) << (32 - length)
        yield f"{ipaddress.IPv4Address(first)}/{length}"


def read(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt") as file:
        for line in file:
            if ":" not in line:
                yield line.strip()


def prefixes():
    path = os.environ.get("LINERATE_ROUTES")
    found = set()
    for prefix in read(path) if path else drawn():
        if prefix and int(prefix.split(".")[0]) not in NO_ROUTES:
            found.add(prefix)
        if len(found) == ROUTES:
            break
    return sorted(found)


class Bird:
    """BIRD in a namespace."""

    def __init__(self, folder, place, namespace, text):
        self.file, self.control = folder / f"{place}.conf", folder / f"{place}.ctl"
        self.file.write_text(text)
        self.namespace, self.log, self.running = namespace, open(folder / f"{place}.log", "w"), None

    def start(self):
        words = ["ip", "netns", "exec", self.namespace, "bird", "-f", "-c", self.file]
        words = [*map(str, words), "-s", str(self.control)]
        self.running = subprocess.Popen(words, stdout=self.log, stderr=self.log)

    def kill(self):
        if self.running is not None:
            self.running.kill()
            self.running.wait()
        self.running = None

    def tell(self, *words):
        until = time.monotonic() + 60
        while True:
            ran = run(self.namespace, "birdc", "-s", str(self.control), *words, ok=None)
            if "abled" in ran or time.monotonic() > until:
                return
            time.sleep(0.2)


class Traffic:
    """Sends to addresses of all feeders in turn, and checks whatever reaches one."""

    def __init__(self, sockets, all_prefixes):
        self.sockets, self.sent, self.taken, self.at = sockets, 0, 0, 0
        chosen = random.Random(11).sample(all_prefixes, min(PROBES, len(all_prefixes)))
        self.probes = [self.inside(prefix) for prefix in chosen]
        self.frames = [self.frame(to) for to in self.probes]
        self.last = {}

    @staticmethod
    def inside(prefix):
        return str(ipaddress.IPv4Network(prefix, strict=False)[1])

    @staticmethod
    def frame(to):
        return ethernet(ipv4(SOURCE, to, udp(SOURCE, to, b"frame 000000....")))

    def turn(self):
        for _ in range(min(BURST, len(self.frames))):
            self.sockets["a"].send(self.frames[self.at])
            self.at = (self.at + 1) % len(self.frames)
            self.sent += 1
        time.sleep(0.005)
        self.take()

    def take(self):
        for place, socket in self.sockets.items():
            with contextlib.suppress(BlockingIOError):
                while True:
                    self.check(place, socket.recv(4096))

    def check(self, place, frame):
        if place == "a" or frame[12:14] != b"\x08\0" or b"frame " not in frame:
            return
        to = ".".join(str(byte) for byte in frame[30:34])
        if frame[26:30] != bytes(map(int, SOURCE.split("."))):
            return
        if place not in feeders_of(to):
            sys.exit(f"to {to} by {place}, which has no route to it: {frame.hex()}")
        self.taken += 1
        self.last[to] = place

    def lap(self):
        """Sends to each address; by whom packets to it left."""
        self.last = {}
        for _ in range(-(-len(self.frames) // BURST)):
            self.turn()
        until = time.monotonic() + 1
        while len(self.last) < len(self.probes) and time.monotonic() < until:
            time.sleep(0.02)
            self.take()
        return self.last

    def await_ways(self, what, alive, linerate):
        """Until packets to each address leave by the best feeder that is there, or not at all."""
        began = time.monotonic()
        wanted = {}
        for to in self.probes:
            there = [place for place in feeders_of(to) if place in alive]
            wanted.update({to: there[0]} if there else {})
        while True:
            found = self.lap()
            if found == wanted:
                print(f"{what}: {time.monotonic() - began:.1f} s", flush=True)
                return
            if linerate.running.poll() is not None:
                sys.exit(f"{what}: linerate ended: {linerate.running.stderr.read()}")
            if time.monotonic() - began > CONVERGED_WITHIN_S:
                wrong = {to: (wanted.get(to), found.get(to)) for to in self.probes}
                wrong = {to: both for to, both in wrong.items() if both[0] != both[1]}
                sys.exit(f"{what}: {len(wrong)} addresses do not: {list(wrong.items())[:5]}")


def judge(traffic, birds, linerate):
    linerate.start()
    for bird in birds.values():
        bird.start()
    traffic.await_ways("the whole table came", "bc", linerate)
    birds["b"].tell("disable", "up")
    traffic.await_ways("one feeder took its routes back", "c", linerate)
    birds["b"].tell("enable", "up")
    traffic.await_ways("and gave them again", "bc", linerate)
    for number in range(FLAPS):
        bird = birds["bc"[number % 2]]
        bird.tell("disable" if number // 2 % 2 == 0 else "enable", "up")
        until = time.monotonic() + random.Random(number).uniform(0.1, 3)
        while time.monotonic() < until:
            traffic.turn()
    for bird in (birds["b"], birds["c"]):
        bird.tell("enable", "up")
    traffic.await_ways(f"{FLAPS} flaps", "bc", linerate)
    birds["r"].kill()
    for _ in range(50):
        traffic.turn()
    birds["r"].start()
    traffic.await_ways("BIRD beside linerate was killed and is back", "bc", linerate)
    linerate.end()


def texts(folder, all_prefixes):
    """The configurations; each feeder's routes are in a file beside."""
    routes = collections.defaultdict(list)
    for prefix in all_prefixes:
        for place in feeders_of(prefix):
            routes[place].append(f"route {prefix} blackhole;")
    facts = {"b": (65001, 200), "c": (65002, 100)}
    sessions = ""
    for place, (asn, preference) in facts.items():
        (folder / f"{place}.routes").write_text("\n".join(routes[place]) + "\n")
        words = {"place": place, "port": PORT[place], "asn": asn, "preference": preference}
        sessions += SESSION_TEXT.format(**words)
        yield place, FEEDER_TEXT.format(folder=folder, **words)
    yield "r", ROUTER_TEXT.format(sessions=sessions)


def connect_all(places):
    """Links and addresses; a socket at each place that packets come from or go to."""
    sockets = {}
    for port, place in enumerate("abc"):
        connect(places["r"], places[place], port, 1500)
        ip("-n", places["r"], "address", "add", f"10.0.{port}.1/24", "dev", f"p{port}")
        enter(places[place])
        sockets[place] = opened("eth")
    address = ":".join(f"{byte:02x}" for byte in mac(0, 1))
    ip("-n", places["r"], "link", "set", "p0", "address", address)
    ip("-n", places["r"], "link", "set", "lo", "up")
    run(places["r"], "sysctl", "-qw", "net.ipv4.ip_forward=0")
    return sockets


def main():
    if why := missing() or absent("bird"):
        print(f"skipped: {why}")
        return
    program = str(pathlib.Path(sys.argv[1]).resolve())
    driver, workers = sys.argv[2], int(sys.argv[3])
    all_prefixes = prefixes()
    places = {place: f"lrt{os.getpid()}{place}" for place in "abcr"}
    with namespaces(places.values()), tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        traffic = Traffic(connect_all(places), all_prefixes)
        linerate = Linerate(program, places["r"], driver, workers)
        made = texts(folder, all_prefixes)
        birds = {place: Bird(folder, place, places[place], text) for place, text in made}
        try:
            judge(traffic, birds, linerate)
        finally:
            for bird in birds.values():
                bird.kill()
            if linerate.running and linerate.running.poll() is None:
                linerate.running.kill()
                linerate.running.communicate()
    print(
        f"{len(all_prefixes)} routes over {driver} with {workers} workers: {traffic.taken} of "
        f"{traffic.sent} frames left, all by a next hop that has a route"
    )


if __name__ == "__main__":
    main()
