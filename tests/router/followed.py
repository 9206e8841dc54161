#!/usr/bin/env python3
"""Holds `linerate route --kernel` against the kernel while links, addresses, routes and neighbours
come and go: the same `ip` commands in both namespaces, then the same packets into both.

followed.py LINERATE DRIVER WORKERS; needs root, `ip` and network namespaces.
"""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import kernel
from packets import ethernet, ipv4, ipv6, mac, udp

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "switch"))
from beside import enter, ip, missing, namespaces  # noqa: E402

V4 = ["10.0.1.2", "10.0.2.2", "10.0.3.2", "10.9.1.1", "10.9.8.1", "10.9.8.129", "10.50.0.1"]
V6 = ["fd00:1::2", "fd00:2::2", "fd09:1::1", "fd09:8::1", "fd50::1"]
# How long linerate may take to follow, and how long a neighbour is asked for.
FOLLOWED_WITHIN_S, ASKED_FOR_S = 5.0, 3.5
STARTED_WITHIN_S = 30.0
FLOWS = 64


def known(port):
    """What makes the hosts behind a port known: a link that goes down forgets them."""
    all_hosts = [
        (host, address) for host in kernel.HOSTS for address in kernel.neighbours(port, host)
    ]
    return [
        f"neigh replace {address} lladdr {kernel.text(mac(port, host))} dev {{{port}}} "
        "nud permanent"
        for host, address in all_hosts
    ]


# Steps: what happens, and the words of `ip` that make it happen; {0} is the router's first port.
STEPS = [
    ("as it begins", []),
    (
        "a route comes",
        ["route add 10.9.0.0/16 via 10.0.1.2", "-6 route add fd09::/16 via fd00:1::2"],
    ),
    (
        "longer prefixes come",
        ["route add 10.9.8.0/24 via 10.0.2.2 metric 20", "-6 route add fd09:8::/32 via fd00:2::2"],
    ),
    ("the longest comes", ["route add 10.9.8.128/25 via 10.0.1.3"]),
    (
        "a route is replaced",
        ["route replace 10.9.0.0/16 via 10.0.2.3", "-6 route replace fd09::/16 via fd00:2::3"],
    ),
    (
        "a better metric comes",
        [
            "route add 10.9.8.0/24 via 10.0.1.2 metric 10",
            "-6 route add fd09:8::/32 via fd00:1::3 metric 10",
        ],
    ),
    ("routes go", ["route del 10.9.8.128/25", "-6 route del fd09:8::/32 metric 10"]),
    ("a blackhole", ["route add blackhole 10.50.0.0/16", "-6 route add blackhole fd50::/16"]),
    (
        "unreachable",
        ["route replace unreachable 10.50.0.0/16", "-6 route replace unreachable fd50::/16"],
    ),
    ("prohibit", ["route replace prohibit 10.50.0.0/16", "-6 route replace prohibit fd50::/16"]),
    (
        "a next-hop object",
        [
            "nexthop add id 1 via 10.0.1.2 dev {1}",
            "route replace 10.50.0.0/16 nhid 1",
            "nexthop add id 6 via fd00:1::2 dev {1}",
            "-6 route replace fd50::/16 nhid 6",
        ],
    ),
    (
        "the object leads elsewhere",
        ["nexthop replace id 1 via 10.0.2.2 dev {2}", "nexthop replace id 6 via fd00:2::2 dev {2}"],
    ),
    (
        "a group of one",
        [
            "nexthop add id 2 via 10.0.1.3 dev {1}",
            "nexthop add id 10 group 2",
            "route replace 10.50.0.0/16 nhid 10",
        ],
    ),
    ("a group of two", ["nexthop replace id 10 group 1/2"]),
    ("weights", ["nexthop replace id 10 group 1,3/2,1"]),
    ("an object goes, and its route", ["nexthop del id 6"]),
    ("a member of a group goes", ["nexthop del id 1"]),
    (
        "hops in a route",
        [
            "route replace 10.50.0.0/16 nexthop via 10.0.1.2 nexthop via 10.0.2.2 weight 2",
            "-6 route add fd50::/16 nexthop via fd00:1::2 nexthop via fd00:2::2",
        ],
    ),
    ("a link goes down", ["link set {2} down"]),
    ("and comes up", ["link set {2} up", "-6 address add fd00:2::1/64 dev {2} nodad", *known(2)]),
    (
        "one hop again",
        ["route replace 10.50.0.0/16 via 10.0.1.3", "-6 route replace fd50::/16 via fd00:1::3"],
    ),
    ("an address goes", ["address del 10.0.2.1/24 dev {2}", "-6 address del fd00:2::1/64 dev {2}"]),
    (
        "and another comes",
        ["address add 10.0.2.9/24 dev {2}", "-6 address add fd00:2::9/64 dev {2} nodad", *known(2)],
    ),
    (
        "a route on the link",
        [
            "route add 10.9.9.0/24 dev {1}",
            "route replace 10.9.1.1/32 via 10.77.0.1 dev {1} onlink",
            "neigh add 10.77.0.1 lladdr 02:00:00:00:01:07 dev {1} nud permanent",
        ],
    ),
    (
        "a neighbour moves",
        [
            "neigh replace 10.0.1.2 lladdr 02:00:00:00:01:09 dev {1} nud permanent",
            "neigh replace fd00:1::2 lladdr 02:00:00:00:01:09 dev {1} nud permanent",
        ],
    ),
    (
        "a neighbour goes, and nobody answers",
        ["neigh del 10.0.1.2 dev {1}", "neigh del fd00:1::2 dev {1}"],
    ),
    (
        "and is back",
        [
            "neigh replace 10.0.1.2 lladdr 02:00:00:00:01:02 dev {1} nud permanent",
            "neigh replace fd00:1::2 lladdr 02:00:00:00:01:02 dev {1} nud permanent",
        ],
    ),
    ("another MTU", ["link set {1} mtu 1300"]),
    ("another Ethernet address", ["link set {1} address 02:00:00:00:01:77", *known(1)]),
    (
        "a VLAN",
        [
            "link add link {2} name {2}.10 type vlan id 10",
            "link set {2}.10 up",
            "address add 10.0.3.1/24 dev {2}.10",
            "neigh add 10.0.3.2 lladdr 02:00:00:00:03:02 dev {2}.10 nud permanent",
            "route replace 10.9.8.0/24 via 10.0.3.2 metric 0",
        ],
    ),
    ("the VLAN goes", ["link del {2}.10"]),
    ("a local address is more than a route", ["address add 10.9.1.1/32 dev lo"]),
    ("by an IPv6 router", ["route replace 10.50.0.0/16 via inet6 fd00:1::2"]),
    ("a default route", ["route add default via 10.0.1.2", "-6 route add default via fd00:1::2"]),
    ("all go", ["route flush proto boot", "-6 route flush proto boot"]),
]


@contextlib.contextmanager
def linerate(program, side, driver, workers):
    command = ["ip", "netns", "exec", side.router, program, "route", "--kernel"]
    command += [f"{driver}:{name}" for name in side.names]
    command += ["--workers", str(workers), "--json", "--icmp-rate", "100000"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield running
    finally:
        if running.poll() is None:
            running.send_signal(signal.SIGINT)
        said, complaints = running.communicate(timeout=60)
        if running.returncode != 0:
            sys.exit(f"{' '.join(command)}\nended with {running.returncode}: {complaints}")
        if not re.search(r'"balanced": ?true', said):
            sys.exit(f"the books do not balance: {said}")
        if "routes of the tables 77 are not followed" not in complaints:
            sys.exit(f"nothing is said of the table 77: {complaints}")
        print(complaints, file=sys.stderr)


def configure(side, forwards):
    """What both routers begin with."""
    router = side.router
    everywhere = ("all", "default", *side.names)
    v6 = {"disable_ipv6": 0, "accept_dad": 0, "accept_ra": 0, "router_solicitations": 0}
    for name in everywhere:
        kernel.sysctl(router, *(f"net.ipv6.conf.{name}.{key}={value}" for key, value in v6.items()))
        kernel.sysctl(
            router, f"net.ipv4.conf.{name}.rp_filter=0", f"net.ipv4.conf.{name}.send_redirects=0"
        )
    kernel.sysctl(
        router, f"net.ipv4.ip_forward={forwards}", f"net.ipv6.conf.all.forwarding={forwards}"
    )
    kernel.sysctl(router, "net.ipv4.icmp_ratelimit=0", "net.ipv4.icmp_msgs_per_sec=100000")
    kernel.sysctl(router, "net.ipv6.icmp.ratelimit=0", "net.ipv6.conf.all.keep_addr_on_down=0")
    ip("-n", router, "link", "set", "lo", "up")
    for port, name in enumerate(side.names):
        ip("-n", router, "address", "add", f"10.0.{port}.1/24", "dev", name)
        ip("-n", router, "address", "add", f"fd00:{port}::1/64", "dev", name, "nodad")
        for host in kernel.HOSTS:
            for address in kernel.neighbours(port, host):
                words = [
                    "neigh",
                    "add",
                    address,
                    "lladdr",
                    kernel.text(mac(port, host)),
                    "dev",
                    name,
                ]
                ip("-n", router, *words, "nud", "permanent")
    ip("-n", router, "route", "add", "10.200.0.0/16", "via", "10.0.0.2", "proto", "static")
    # Of a table that no rule leads to: it is named, and not followed.
    ip("-n", router, "route", "add", "10.9.0.0/16", "via", "10.0.0.3", "table", "77")
    ip("-n", router, "route", "add", "fd20::/16", "via", "fd00:0::2", "proto", "static")


def packet(number, destination, source_port=9):
    """From a source of its own: the kernel sends one of them few errors in a second."""
    marks = b"frame %06d...." % number * 3
    if ":" in destination:
        source = f"fd20::{number:x}"
        return ethernet(ipv6(source, destination, udp(source, destination, marks, source_port)))
    source = f"10.200.{number >> 8 & 255}.{number & 255}"
    return ethernet(ipv4(source, destination, udp(source, destination, marks, source_port)))


class Judge:
    def __init__(self, sides, running):
        self.sides, self.running, self.number = sides, running, 0

    def results(self, destination, within):
        """What both do with one packet, once they agree, or once it was waited for in vain."""
        self.number += 1
        number = self.number
        for side in self.sides:
            side.sockets[0].send(packet(number, destination))
        until = time.monotonic() + within
        quiet = time.monotonic() + kernel.QUIET_S
        while True:
            time.sleep(0.003)
            for side in self.sides:
                side.read()
            ours = [sorted(side.got[number]) for side in self.sides]
            now = time.monotonic()
            if now > until or (ours[0] == ours[1] and (ours[0] or now > quiet)):
                return ours

    def ways(self, destination):
        """The ports and stations that flows to an address go to, of both."""
        first = self.number + 1
        self.number += FLOWS
        for flow in range(FLOWS):
            for side in self.sides:
                side.sockets[0].send(packet(first + flow, destination, 1000 + 7 * flow))
        time.sleep(0.3)
        for side in self.sides:
            side.read()
        numbers = range(first, first + FLOWS)
        return [
            {(port, frame[:6]) for number in numbers for port, frame in side.got[number]}
            for side in self.sides
        ]

    def agree_on(self, destination, within):
        ours = self.results(destination, within)
        if ours[0] == ours[1]:
            return None
        # Of several next hops each may choose another: all flows together must go by the same.
        ways = self.ways(destination)
        if len(ways[0]) > 1 and ways[0] == ways[1]:
            return None
        return "\n  ".join(
            [destination, "the kernel:", kernel.shown(ours[0]), "linerate:", kernel.shown(ours[1])]
        )

    def step(self, what, commands):
        names = self.sides[0].names, self.sides[1].names
        for command in commands:
            for side, own in zip(self.sides, names, strict=True):
                words = command.format(*own).split()
                subprocess.run(["ip", "-n", side.router, *words], check=True)
        asked = ASKED_FOR_S if "nobody answers" in what else 1.0
        # Ports are opened while the first packets come.
        within = STARTED_WITHIN_S if not commands else FOLLOWED_WITHIN_S
        until = time.monotonic() + within + asked
        while True:
            wrong = [said for to in V4 + V6 if (said := self.agree_on(to, asked))]
            if self.running.poll() is not None:
                sys.exit(f"{what}: linerate ended: {self.running.stderr.read()}")
            if not wrong:
                return
            if time.monotonic() > until:
                sys.exit("\n".join([f"{what}: {commands}", *wrong]))


def has_vlans(router, side):
    words = [
        "ip",
        "-n",
        router,
        "link",
        "add",
        "link",
        side.names[0],
        "name",
        "try",
        "type",
        "vlan",
        "id",
        "9",
    ]
    made = subprocess.run(words, capture_output=True)
    subprocess.run(["ip", "-n", router, "link", "del", "try"], capture_output=True)
    if made.returncode:
        print("skipped: the steps with VLANs, which this kernel has not")
    return made.returncode == 0


def judge(program, driver, workers):
    label = f"lrf{os.getpid()}"
    hosts, theirs, ours = f"{label}h", f"{label}k", f"{label}l"
    with namespaces([hosts, theirs, ours]):
        enter(hosts)
        sides = [kernel.Side(hosts, theirs, "k"), kernel.Side(hosts, ours, "l")]
        for side, forwards in zip(sides, (1, 0), strict=True):
            configure(side, forwards)
        with linerate(program, sides[1], driver, workers) as running:
            kernel_judge = Judge(sides, running)
            vlans = has_vlans(theirs, sides[0])
            steps = [step for step in STEPS if vlans or "VLAN" not in step[0]]
            for what, commands in steps:
                kernel_judge.step(what, commands)
    print(f"{len(steps)} steps over {driver} with {workers} workers: as the kernel forwards")


def main():
    if why := missing():
        print(f"skipped: {why}")
        return
    program = str(pathlib.Path(sys.argv[1]).resolve())
    judge(program, sys.argv[2], int(sys.argv[3]))


if __name__ == "__main__":
    main()
