#!/usr/bin/env python3
"""Kernel clients and servers behind NAT: linerate's, and that of nft. Both give the same answers.

kernel.py LINERATE DRIVER; needs root, `ip`, `nft`, `ping`, `ethtool` and network namespaces.

    one, two (10.0.0.2, .3) -- bridge -- p0 [router] p1 -- provider -- server (203.0.113.9)

The router is 10.0.0.1 and 198.51.100.1; the link to the server has an MTU of 1300.
"""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "switch"))
sys.path.insert(0, str(HERE))
from beside import ip, missing, namespaces  # noqa: E402
from differences import KNOWN  # noqa: E402

OUTSIDE, SERVER = "198.51.100.1", "203.0.113.9"
RULES = """
oif "wan" masquerade
iif "wan" tcp dport 8080 dnat to 10.0.0.2:80
iif "wan" udp dport 8080 dnat to 10.0.0.2:80
"""
NFT = """
table ip nat {
  chain pre {
    type nat hook prerouting priority dstnat;
    ip daddr 198.51.100.1 meta l4proto { tcp, udp } th dport 8080 dnat to 10.0.0.2:80
  }
  chain post {
    type nat hook postrouting priority srcnat;
    oifname "p1" masquerade
    oifname "p0" ip saddr 10.0.0.0/24 ct status dnat masquerade
  }
}
"""


def run(namespace, *words, ok=True):
    command = ["ip", "netns", "exec", namespace, *words]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=90)
    if ok is not None and (ran.returncode == 0) != ok:
        sys.exit(f"{' '.join(words)} ended with {ran.returncode}: {ran.stdout}{ran.stderr}")
    return ran.stdout + ran.stderr


class Network:
    """The namespaces of one router."""

    def __init__(self, tag):
        names = ("one", "two", "lan", "router", "provider", "server")
        self.name = {name: f"{tag}-{name}" for name in names}

    def build(self):
        router, provider = self.name["router"], self.name["provider"]
        # The kernel's filter sees what a bridge of the router's own namespace forwards, too.
        lan = self.name["lan"]
        ip("-n", lan, "link", "add", "br0", "type", "bridge")
        ip("-n", lan, "link", "set", "br0", "up")
        self.pair(router, "p0", lan, "router")
        ip("-n", lan, "link", "set", "router", "master", "br0")
        for name, address in (("one", "10.0.0.2"), ("two", "10.0.0.3")):
            self.pair(lan, name, self.name[name], "eth")
            ip("-n", lan, "link", "set", name, "master", "br0")
            self.address(name, "eth", f"{address}/24", "10.0.0.1")
        self.pair(router, "p1", provider, "near")
        self.pair(provider, "far", self.name["server"], "eth", mtu=1300)
        self.address("provider", "near", "198.51.100.2/24")
        self.address("provider", "far", "203.0.113.1/24")
        self.address("server", "eth", f"{SERVER}/24", "203.0.113.1")
        run(provider, "sysctl", "-qw", "net.ipv4.ip_forward=1")
        for name in self.name.values():
            run(name, "sysctl", "-qw", "net.ipv4.icmp_ratelimit=0")
        # What the outside believes to be behind the router.
        ip("-n", provider, "route", "add", "10.0.0.0/24", "via", OUTSIDE)

    def pair(self, one, name, other, peer, mtu=1500):
        ip("-n", one, "link", "add", name, "type", "veth", "peer", "name", peer, "netns", other)
        for namespace, end in ((one, name), (other, peer)):
            ip("-n", namespace, "link", "set", end, "mtu", str(mtu), "up")
            run(namespace, "ethtool", "-K", end, "tx", "off", "gro", "off", "tso", "off", ok=None)

    def address(self, name, device, address, gateway=None):
        ip("-n", self.name[name], "address", "add", address, "dev", device)
        if gateway:
            ip("-n", self.name[name], "route", "add", "default", "via", gateway)

    def act(self, host, *words):
        words = ["python3", str(HERE / "actors.py"), *words]
        return run(self.name[host], *words).strip()

    @contextlib.contextmanager
    def acting(self, host, *words):
        """An action that ends when its input does; what it says then is in the list."""
        command = ["ip", "netns", "exec", self.name[host], "python3", str(HERE / "actors.py")]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        running = subprocess.Popen([*command, *words], **pipes)
        said = []
        try:
            assert running.stdout.readline() == "ready\n"
            yield said
        finally:
            said.append(running.communicate(timeout=10)[0].strip())


@contextlib.contextmanager
def by_linerate(network, program, driver):
    router = network.name["router"]
    with tempfile.NamedTemporaryFile("w", suffix=".nat") as rules:
        rules.write(RULES)
        rules.flush()
        command = ["ip", "netns", "exec", router, program, "route"]
        command += [f"A={driver}:p0", f"B={driver}:p1", "--nat", rules.name, "--json"]
        command += ["--interface", "lan=A,10.0.0.1/24", "--interface", f"wan=B,{OUTSIDE}/24"]
        command += ["--route", "default via 198.51.100.2"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        running = subprocess.Popen(command, **pipes)
        try:
            await_router(network, running)
            yield
        finally:
            if running.poll() is None:
                running.send_signal(signal.SIGINT)
            said, complaints = running.communicate(timeout=30)
        if running.returncode != 0:
            sys.exit(f"{' '.join(command)}\nended with {running.returncode}: {complaints}")
        if not re.search(r'"balanced": ?true', said):
            sys.exit(f"the books do not balance: {said}")


def await_router(network, running):
    until = time.monotonic() + 20
    words = ["ping", "-n", "-c", "1", "-W", "1", "10.0.0.1"]
    while " 0% packet loss" not in run(network.name["one"], *words, ok=None):
        if running.poll() is not None or time.monotonic() > until:
            sys.exit(f"the router answers no ping: {running.communicate()}")


@contextlib.contextmanager
def by_kernel(network):
    router = network.name["router"]
    network.address("router", "p0", "10.0.0.1/24")
    network.address("router", "p1", f"{OUTSIDE}/24", "198.51.100.2")
    run(router, "sysctl", "-qw", "net.ipv4.ip_forward=1")
    command = ["ip", "netns", "exec", router, "nft", "-f", "-"]
    subprocess.run(command, input=NFT, text=True, check=True)
    yield


def answers(network):
    """What hosts see, by what they do."""
    name = network.name
    seen = {}

    def ping(host, address, *words):
        said = run(name[host], "ping", "-n", "-W", "2", "-c", "1", *words, address, ok=None)
        froms = re.findall(r"[Ff]rom ([0-9.]+).*?(ttl=\d+|exceeded|mtu ?= ?\d+|\d+ bytes|$)", said)
        return f"{froms}" if froms else re.findall(r"\d+% packet loss", said)

    def add(what, value):
        seen[what] = value

    with network.acting("server", "serve"), network.acting("one", "serve"):
        for kind in ("tcp", "udp"):
            add(f"{kind} from a port", network.act("one", kind, SERVER, "7", "256", "5000"))
            # The same port of another host: which it gets is the router's choice.
            again = network.act("two", kind, SERVER, "7", "256", "5000").split()
            add(f"{kind} of a second host", [again[0], again[1] != "5000", again[-1]])
            add(f"{kind} to a closed port", network.act("one", kind, SERVER, "9", "256"))
            add(f"{kind} forwarded", network.act("server", kind, OUTSIDE, "8080", "256", "6000"))
            hairpin = network.act("two", kind, OUTSIDE, "8080", "256").split()
            add(f"{kind} hairpin", hairpin[-1])
            add(f"the hairpin's server sees {kind}", hairpin[0])
        # A router of linerate resets no connection.
        add("udp to the router", network.act("server", "udp", OUTSIDE, "8081", "256"))
        for host in ("one", "two"):
            add(f"ping of {host}", ping(host, SERVER))
        add("ping from outside", ping("server", OUTSIDE))
        for ttl in ("1", "2", "3"):
            add(f"ping with TTL {ttl}", ping("one", SERVER, "-t", ttl))
        add("traceroute", network.act("one", "trace", SERVER, "3"))
        add("ping in fragments", ping("one", SERVER, "-M", "dont", "-s", "3000"))
        add("datagram in fragments", network.act("one", "udp", SERVER, "7", "8192").split()[-1])
        forwarded = network.act("server", "udp", OUTSIDE, "8080", "8192")
        add("forwarded datagram in fragments", forwarded.split()[-1])
        add("path MTU", ping("one", SERVER, "-M", "do", "-s", "1400"))
        size = str(1 << 21)
        add("a long transfer out", network.act("one", "tcp", SERVER, "7", size).split()[-1])
        add("a long transfer in", network.act("server", "tcp", OUTSIDE, "8080", size).split()[-1])
        learnt = run(name["one"], "ip", "route", "get", SERVER)
        add("the path MTU that a client learns", re.findall(r"mtu \d+", learnt))
        inside = ping("server", "10.0.0.2")
        add("outside reaches 10.0.0.2 by its own address", inside)
        with network.acting("provider", "watch", "near", "", "47") as tunnels:
            network.act("one", "gre", SERVER)
            time.sleep(0.5)
        add("GRE leaves", tunnels)
    return seen


def leaks(network, act):
    """Runs `act`; how many packets with inside addresses came out."""
    with network.acting("provider", "watch", "near", "10.0", "all") as leaked:
        seen = act(network)
    return seen, int(leaked[0])


def main():
    program, driver = sys.argv[1:3]
    if why := missing() or (not os.path.exists("/usr/sbin/nft") and "nft missing"):
        print(f"skipped: {why}")
        return
    tags = {kind: f"nat{os.getpid()}{kind}" for kind in ("l", "k")}
    networks = {kind: Network(tag) for kind, tag in tags.items()}
    names = [name for network in networks.values() for name in network.name.values()]
    with namespaces(names):
        for network in networks.values():
            network.build()
        with by_linerate(networks["l"], program, driver):
            ours, leaked = leaks(networks["l"], answers)
        with by_kernel(networks["k"]):
            kernels, _ = leaks(networks["k"], answers)
    if leaked:
        sys.exit(f"{leaked} packets left with inside addresses")
    wrong = []
    for what, kernel in kernels.items():
        print(f"{what}: {ours[what]}")
        is_known = any(what.startswith(known) for known in KNOWN)
        if ours[what] != kernel and not is_known:
            wrong.append(f"{what}: linerate {ours[what]}, the kernel {kernel}")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(kernels)} answers are alike but for {len(KNOWN)} known kinds")


if __name__ == "__main__":
    main()
