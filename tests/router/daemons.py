#!/usr/bin/env python3
"""BIRD or FRR beside `linerate route --kernel`: routers speak OSPF, and routes come and go with it.

daemons.py LINERATE DRIVER WORKERS bird|frr; needs root, `ip`, `ping`, network namespaces and the
Debian package bird2 or frr. A host is behind the router's first port, and two further routers that
reach the same address behind the others. Neighbours are found by the kernel.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from hosts import connect, must_say, ping, run

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "switch"))
from beside import ip, missing, namespaces  # noqa: E402

TARGET = "10.9.0.1"
# What answers of the two routers have left of their TTL at the host, and what their links cost.
TTLS, COSTS = {"b": 100, "c": 50}, {"b": 10, "c": 50}
FRR = pathlib.Path("/usr/lib/frr")
CONVERGED_WITHIN_S = 40

BIRD_TEXT = """
log stderr all;
router id {id};
protocol device {{ scan time 1; }}
protocol kernel {{ ipv4 {{ import none; export all; }}; }}
protocol ospf v2 {{
    ipv4 {{ import all; export none; }};
    area 0 {{
{links}
        interface "lo" {{ stub; }};
    }};
}}
"""
BIRD_LINK = '        interface "{name}" {{ type ptp; hello 1; dead 4; cost {cost}; }};'
ZEBRA_TEXT = "no ip forwarding\nno ipv6 forwarding\n"
OSPF_LINK = """interface {name}
 ip ospf network point-to-point
 ip ospf hello-interval 1
 ip ospf dead-interval 4
 ip ospf cost {cost}
"""
OSPF_TEXT = """router ospf
 ospf router-id {id}
 timers throttle spf 0 50 1000
 network 10.0.0.0/8 area 0
"""


class Daemon:
    """A routing daemon in a namespace."""

    def __init__(self, kind, folder, namespace, router_id, links):
        self.kind, self.namespace, self.running = kind, namespace, []
        self.folder = pathlib.Path(folder) / namespace
        self.folder.mkdir()
        self.folder.chmod(0o755)
        if kind == "frr":
            shutil.chown(self.folder, "frr", "frr")
        if kind == "bird":
            text = "\n".join(BIRD_LINK.format(name=name, cost=cost) for name, cost in links)
            self.write("bird.conf", BIRD_TEXT.format(id=router_id, links=text))
        else:
            text = "".join(OSPF_LINK.format(name=name, cost=cost) for name, cost in links)
            self.write("zebra.conf", ZEBRA_TEXT)
            self.write("ospfd.conf", text + OSPF_TEXT.format(id=router_id))

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def commands(self):
        here = self.folder
        if self.kind == "bird":
            yield ["bird", "-f", "-c", here / "bird.conf", "-s", here / "bird.ctl"]
            return
        for name in ("zebra", "ospfd"):
            settings = ["-u", "frr", "-g", "frr", "-P", "0", "--vty_socket", here]
            files = ["-f", here / f"{name}.conf", "-i", here / f"{name}.pid", "-z", here / "zserv"]
            yield [FRR / name, *settings, *files]

    def start(self):
        for command in self.commands():
            words = ["ip", "netns", "exec", self.namespace, *map(str, command)]
            log = open(self.folder / "log", "a")
            self.running.append(subprocess.Popen(words, stdout=log, stderr=log))
            time.sleep(0.3 if self.kind == "frr" else 0)

    def kill(self):
        for one in self.running:
            one.kill()
            one.wait()
        self.running = []


class Linerate:
    """The router, which may be killed and started anew."""

    def __init__(self, program, namespace, driver, workers):
        ports = [f"{driver}:p{port}" for port in range(3)]
        self.command = ["ip", "netns", "exec", namespace, program, "route", "--kernel", *ports]
        self.command += ["--workers", str(workers), "--json"]
        self.running = None

    def start(self):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self.running = subprocess.Popen(self.command, **pipes)

    def refused(self, *more):
        """What it says when it will not start."""
        ran = subprocess.run([*self.command, *more], capture_output=True, text=True, timeout=60)
        if ran.returncode != 2:
            sys.exit(f"{self.command} ended with {ran.returncode}: {ran.stderr}")
        return ran.stderr

    def end(self):
        self.running.send_signal(signal.SIGINT)
        said, complaints = self.running.communicate(timeout=60)
        if self.running.returncode != 0 or not re.search(r'"balanced": ?true', said):
            sys.exit(f"linerate ended with {self.running.returncode}: {complaints}\n{said}")


def await_way(host, way, what):
    """Pings until the wanted router answers, `None` for nobody; says how long that took."""
    began = time.monotonic()
    wanted = f"ttl={TTLS[way] - 1}" if way else "100% packet loss"
    while True:
        said = ping(host, TARGET, "-c", "1", "-W", "1", ok=None)
        waited = time.monotonic() - began
        if wanted in said:
            print(f"{what}: {waited:.1f} s")
            return
        if waited > CONVERGED_WITHIN_S:
            sys.exit(f"{what}: {way or 'nobody'} is to answer, but: {said}")


def judge(places, linerate, daemons):
    host, router = places["a"], places["r"]
    run(router, "sysctl", "-qw", "net.ipv4.ip_forward=1")
    must_say(linerate.refused(), "ip_forward|forwarding=0")
    run(router, "sysctl", "-qw", "net.ipv4.ip_forward=0")
    linerate.start()
    for daemon in daemons.values():
        daemon.start()
    await_way(host, "b", "the routers found each other")
    must_say(ping(host, TARGET, "-c", "20"), " 0% packet loss")
    must_say(ping(host, "10.0.0.1", "-c", "3"), " 0% packet loss")
    daemons["b"].kill()
    await_way(host, "c", "a routing daemon was killed")
    daemons["b"].start()
    await_way(host, "b", "and is back")
    ip("-n", router, "link", "set", "p1", "down")
    await_way(host, "c", "a link went down")
    ip("-n", router, "link", "set", "p1", "up")
    await_way(host, "b", "and is up")
    run(places["b"], "sysctl", "-qw", "net.ipv4.conf.eth.arp_notify=1")
    ip("-n", places["b"], "link", "set", "eth", "address", "02:00:00:00:09:09")
    await_way(host, "b", "the gateway has another Ethernet address")
    daemons["r"].kill()
    daemons["r"].start()
    await_way(host, "b", "the routing daemon beside linerate was killed and is back")
    linerate.running.kill()
    linerate.running.communicate()
    await_way(host, None, "linerate was killed")
    linerate.start()
    await_way(host, "b", "and is back")
    must_say(ping(host, TARGET, "-c", "20"), " 0% packet loss")
    linerate.end()


@contextlib.contextmanager
def started(kind, places):
    links = {
        "r": [("p1", COSTS["b"]), ("p2", COSTS["c"])],
        "b": [("eth", COSTS["b"])],
        "c": [("eth", COSTS["c"])],
    }
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        daemons = {
            place: Daemon(kind, folder, places[place], f"10.0.255.{number}", of)
            for number, (place, of) in enumerate(links.items(), 1)
        }
        try:
            yield daemons
        finally:
            for daemon in daemons.values():
                daemon.kill()
                if "-v" in sys.argv:
                    print((daemon.folder / "log").read_text(), file=sys.stderr)


def connect_all(places):
    for port, place in enumerate("abc"):
        connect(places["r"], places[place], port, 1500)
        ip("-n", places["r"], "address", "add", f"10.0.{port}.1/24", "dev", f"p{port}")
    for place, ttl in TTLS.items():
        ip("-n", places[place], "link", "set", "lo", "up")
        ip("-n", places[place], "address", "add", f"{TARGET}/32", "dev", "lo")
        run(places[place], "sysctl", "-qw", f"net.ipv4.ip_default_ttl={ttl}")
    ip("-n", places["r"], "link", "set", "lo", "up")


def absent(kind):
    """Why this routing daemon cannot be had; None if it can."""
    programs = {"bird": ["/usr/sbin/bird"], "frr": [FRR / "zebra", FRR / "ospfd"]}[kind]
    if all(pathlib.Path(program).exists() for program in programs):
        return None
    return f"Debian's package {'bird2' if kind == 'bird' else 'frr'} is not installed"


def main():
    kind = sys.argv[4]
    if why := missing() or absent(kind):
        print(f"skipped: {why}")
        return
    program = str(pathlib.Path(sys.argv[1]).resolve())
    driver, workers = sys.argv[2], int(sys.argv[3])
    places = {place: f"lrd{os.getpid()}{place}" for place in "abcr"}
    with namespaces(places.values()):
        connect_all(places)
        linerate = Linerate(program, places["r"], driver, workers)
        with started(kind, places) as daemons:
            try:
                judge(places, linerate, daemons)
            finally:
                if linerate.running and linerate.running.poll() is None:
                    linerate.running.kill()
                    linerate.running.communicate()
    print(f"{kind} beside linerate over {driver} with {workers} workers: as it should be")


if __name__ == "__main__":
    main()
