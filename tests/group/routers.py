#!/usr/bin/env python3
"""Four routers of linerate behind ECMP, BIRD beside each: one is killed, then all are upgraded.

routers.py LINERATE DRIVER kernel|linerate; needs root, `ip`, network namespaces and Debian's bird2.
The upstream router, a kernel that forwards or `linerate route`, learns by BGP which of the four are
ready, as `examples/group/bird.conf` and `bird-health.sh` say it. A client sends numbered datagrams
of many flows, and the server sees by which router each came:

- kill -9 of one loses datagrams of its own flows alone, counted; the others lose none, and stay
  where they are with `linerate route`. After a restart its flows are back.
- An upgrade of one after the other by `linerate drain` loses nothing.

A worker that gets no CPU for a while misses frames, and says how many: so many are forgiven.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

TESTS = pathlib.Path(__file__).parent.parent
sys.path[:0] = [str(TESTS / "router"), str(TESTS / "switch")]
from beside import enter, ip, missing, namespaces  # noqa: E402
from hosts import run  # noqa: E402

EXAMPLES = TESTS.parent / "examples" / "group"
SERVICE = "203.0.113.9"
PORT = 9009
ROUTERS = range(4)
FLOWS, PACKETS_A_SECOND = 64, 256
PATIENCE_S = 90
IP_PKTINFO = 8

UPSTREAM_TEXT = """
log stderr all;
router id 10.0.0.1;
protocol device { scan time 1; }
protocol kernel { merge paths yes; ipv4 { import none; export all; }; }
template bgp linerates {
    local as 65000;
    connect delay time 1;
    connect retry time 2;
    hold time 3;
    ipv4 { import all; export none; };
}
"""
MEMBER_TEXT = "protocol bgp m{n} from linerates {{ neighbor 10.1.{n}.2 as 65010; }}\n"
ROUTER_TEXT = """
[[port]]
name = "north"
spec = "{driver}:north"
[[port]]
name = "south"
spec = "{driver}:south"
[[pipeline]]
kind = "router"
kernel = true
[control]
socket = "{folder}/control.sock"
[state]
keep = false
"""


def until(what, holds):
    """Waits until it holds, and says how long that took."""
    began = time.monotonic()
    while not holds():
        if time.monotonic() - began > PATIENCE_S:
            sys.exit(f"never: {what}")
        time.sleep(0.02)
    return time.monotonic() - began


class Traffic:
    """Numbered datagrams from the client, and by which router each reached the server."""

    def __init__(self, client, server):
        self.sent = [0] * FLOWS
        self.seen = [{} for _ in range(FLOWS)]  # number of a datagram -> its router
        self.last = [(None, -1)] * FLOWS  # the router of the newest, and its number
        self.ended = threading.Event()
        ready = threading.Barrier(3)
        self.threads = [
            threading.Thread(target=self.send, args=(client, ready)),
            threading.Thread(target=self.receive, args=(server, ready)),
        ]
        for thread in self.threads:
            thread.start()
        ready.wait()

    def send(self, client, ready):
        enter(client)
        sockets = []
        for flow in range(FLOWS):
            one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            one.bind(("10.0.0.2", 20000 + flow))
            sockets.append(one)
        ready.wait()
        due, turn = time.monotonic(), 0
        while not self.ended.is_set():
            flow = turn % FLOWS
            with contextlib.suppress(OSError):  # No route, which is a loss as any.
                sockets[flow].sendto(f"{flow} {self.sent[flow]}".encode(), (SERVICE, PORT))
            self.sent[flow] += 1
            turn += 1
            due += 1 / PACKETS_A_SECOND
            time.sleep(max(0, due - time.monotonic()))

    def receive(self, server, ready):
        enter(server)
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)
        one.bind(("", PORT))
        one.settimeout(0.2)
        routers = {socket.if_nametoindex(f"r{n}"): n for n in ROUTERS}
        ready.wait()
        while not self.ended.is_set():
            try:
                data, beside, _, _ = one.recvmsg(100, 100)
            except TimeoutError:
                continue
            flow, number = map(int, data.split())
            router = routers[int.from_bytes(beside[0][2][:4], sys.byteorder)]
            self.seen[flow][number] = router
            self.last[flow] = max(self.last[flow], (router, number), key=lambda last: last[1])

    def end(self):
        self.ended.set()
        for thread in self.threads:
            thread.join()

    def places(self):
        """By which router each flow goes, of datagrams that were sent from now on."""
        marks = list(self.sent)
        until("each flow arrives", lambda: all(
            last[1] >= mark for last, mark in zip(self.last, marks)
        ))
        return [last[0] for last in self.last]

    def lost(self, since):
        """Datagrams of each flow that were sent since and did not arrive."""
        marks = list(self.sent)
        self.places()
        time.sleep(0.2)  # What was overtaken.
        return [
            sum(number not in seen for number in range(first, end))
            for seen, first, end in zip(self.seen, since, marks)
        ]


class Router:
    """One of the group: linerate, BIRD and the script that announces."""

    def __init__(self, program, driver, number, namespace, folder):
        self.program, self.number, self.namespace = program, number, namespace
        self.folder = pathlib.Path(folder) / f"r{number}"
        self.folder.mkdir()
        (self.folder / "a.toml").write_text(ROUTER_TEXT.format(driver=driver, folder=self.folder))
        text = (EXAMPLES / "bird.conf").read_text()
        for old, host in (("192.0.2.11", 2), ("192.0.2.1", 1)):
            text = text.replace(old, f"10.1.{number}.{host}")
        (self.folder / "bird.conf").write_text(text)
        self.shim("linerate", f'{program} "$@" --socket {self.folder}/control.sock')
        self.shim("birdc", f'{shutil.which("birdc")} -s {self.folder}/bird.ctl "$@"')
        self.daemon, self.beside = None, []

    def shim(self, name, command):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\nexec {command}\n")
        path.chmod(0o755)

    def spawn(self, *words, **settings):
        command = ["ip", "netns", "exec", self.namespace, *map(str, words)]
        log = open(self.folder / "log", "a")
        return subprocess.Popen(command, stdout=log, stderr=log, **settings)

    def start_beside(self):
        words = ["bird", "-f", "-c", self.folder / "bird.conf", "-s", self.folder / "bird.ctl"]
        self.beside.append(self.spawn(*words))
        way = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "EVERY": "0.2"}
        script = ["sh", EXAMPLES / "bird-health.sh"]
        self.beside.append(self.spawn(*script, env=way, start_new_session=True))

    def start(self):
        self.daemon = self.spawn(self.program, "run", self.folder / "a.toml")
        until(f"router {self.number} is ready", lambda: self.ask("health", "--quiet") == 0)

    def ask(self, *words):
        ran = subprocess.run([self.folder / "linerate", *words], capture_output=True)
        return ran.returncode

    def end(self, how=signal.SIGTERM):
        if self.daemon:
            self.daemon.send_signal(how)
            self.daemon.wait(PATIENCE_S)
            self.daemon = None

    def end_all(self):
        self.end(signal.SIGKILL)
        for one in self.beside:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(one.pid, signal.SIGKILL) if one is self.beside[-1] else one.kill()
            one.wait()


@contextlib.contextmanager
def upstream(kind, program, driver, namespace, folder):
    """BIRD, and what forwards by its routes."""
    text = UPSTREAM_TEXT + "".join(MEMBER_TEXT.format(n=n) for n in ROUTERS)
    path = pathlib.Path(folder) / "upstream.conf"
    path.write_text(text)
    running, inside = [], ["ip", "netns", "exec", namespace]
    log = open(pathlib.Path(folder) / "upstream.log", "a")
    try:
        if kind == "kernel":
            settings = ["net.ipv4.ip_forward=1", "net.ipv4.fib_multipath_hash_policy=1"]
            run(namespace, "sysctl", "-qw", *settings)
        else:
            ports = [f"{driver}:{name}" for name in ["c", *(f"r{n}" for n in ROUTERS)]]
            words = [*inside, program, "route", "--kernel", *ports]
            running.append(subprocess.Popen(words, stdout=log, stderr=log))
        control = pathlib.Path(folder) / "upstream.ctl"
        bird = [*inside, "bird", "-f", "-c", str(path), "-s", str(control)]
        running.append(subprocess.Popen(bird, stdout=log, stderr=log))
        yield
    finally:
        for one in running:
            one.send_signal(signal.SIGINT)  # Its report goes to the log.
            one.wait(PATIENCE_S)


def link(one, its, other, others, network):
    """A link between two namespaces, with the first two addresses of a network."""
    peer = ["peer", "name", others, "netns", other]
    ip("-n", one, "link", "add", "name", its, "type", "veth", *peer)
    for namespace, end, host in ((one, its, 1), (other, others, 2)):
        ip("-n", namespace, "address", "add", f"{network}.{host}/24", "dev", end)
        ip("-n", namespace, "link", "set", "dev", end, "up")
        run(namespace, "ethtool", "-K", end, "tx", "off", "gro", "off", ok=None)


def connect(places):
    link(places["u"], "c", places["c"], "eth", "10.0.0")
    ip("-n", places["c"], "route", "add", "default", "via", "10.0.0.1")
    for n in ROUTERS:
        router = places[f"r{n}"]
        link(places["u"], f"r{n}", router, "north", f"10.1.{n}")
        link(router, "south", places["s"], f"r{n}", f"10.2.{n}")
        ip("-n", router, "link", "set", "lo", "up")
        ip("-n", router, "route", "add", "203.0.113.0/24", "via", f"10.2.{n}.2")
    settings = ["net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.default.rp_filter=0"]
    run(places["s"], "sysctl", "-qw", *settings)
    ip("-n", places["s"], "link", "set", "lo", "up")
    ip("-n", places["s"], "address", "add", f"{SERVICE}/32", "dev", "lo")


def spread(traffic):
    return set(traffic.places()) == set(ROUTERS)


def killed(kind, routers, traffic):
    """kill -9 of one: what is lost, who moves, and all as before when it is back."""
    before, since = traffic.places(), list(traffic.sent)
    victim = routers[before[0]]
    victim.end(signal.SIGKILL)
    took = until("its flows go elsewhere", lambda: victim.number not in traffic.places())
    after, lost = traffic.places(), traffic.lost(since)
    its = [flow for flow, router in enumerate(before) if router == victim.number]
    others = [flow for flow in range(FLOWS) if flow not in its]
    astray = sum(lost[flow] for flow in others)
    moved = sum(before[flow] != after[flow] for flow in others)
    if kind == "linerate" and moved:
        sys.exit(f"{moved} flows of other routers moved: {before} {after}")
    print(
        f"kill -9: {sum(lost)} datagrams of {len(its)} flows lost until the upstream router went"
        f" elsewhere, {took:.1f} s; the {len(others)} flows of the others lost {astray}, and"
        f" {moved} of them moved"
    )
    since = list(traffic.sent)
    victim.start()
    took = until("its flows are back", lambda: victim.number in traffic.places())
    lost = sum(traffic.lost(since))
    if kind == "linerate" and traffic.places() != before:
        sys.exit("flows are not where they were")
    print(f"restarted: back after {took:.1f} s, {lost} lost")
    return astray + lost


def upgraded(routers, traffic):
    """Each is drained, stopped and started anew."""
    since = list(traffic.sent)
    for router in routers:
        if router.ask("drain") != 0:
            sys.exit(f"router {router.number} does not drain")
        until("it is left", lambda one=router: one.number not in traffic.places())
        router.end()
        router.start()
        until("it is back", lambda: spread(traffic))
    lost = sum(traffic.lost(since))
    sent = sum(traffic.sent) - sum(since)
    print(f"upgrade of all four: {sent} datagrams, {lost} lost")
    return lost


def missed(folder):
    """Frames that workers were too late for, by the logs of all that ended."""
    logs = "".join(log.read_text() for log in pathlib.Path(folder).glob("**/*log"))
    told = re.findall(r"the kernel dropped ([0-9,]+) frames? because", logs)
    return sum(int(count.replace(",", "")) for count in told)


def judge(kind, routers, places):
    for router in routers:
        router.start_beside()
    for router in routers:
        router.start()
    traffic = Traffic(places["c"], places["s"])
    try:
        took = until("all four get traffic", lambda: spread(traffic))
        print(f"all four get traffic after {took:.1f} s")
        return killed(kind, routers, traffic) + upgraded(routers, traffic)
    finally:
        traffic.end()


def main():
    if why := missing() or (None if shutil.which("bird") else "Debian's bird2 is not installed"):
        print(f"skipped: {why}")
        return
    program, driver, kind = str(pathlib.Path(sys.argv[1]).resolve()), *sys.argv[2:4]
    names = ["c", "u", "s", *(f"r{n}" for n in ROUTERS)]
    places = {name: f"lrg{os.getpid()}{name}" for name in names}
    with namespaces(places.values()), tempfile.TemporaryDirectory() as folder:
        connect(places)
        routers = [Router(program, driver, n, places[f"r{n}"], folder) for n in ROUTERS]
        try:
            with upstream(kind, program, driver, places["u"], folder):
                lost = judge(kind, routers, places)
                for router in routers:
                    router.end()
            if lost > (forgiven := missed(folder)):
                sys.exit(f"{lost} datagrams lost, and workers missed {forgiven}")
        finally:
            for router in routers:
                router.end_all()
            if "-v" in sys.argv:
                for log in sorted(pathlib.Path(folder).glob("**/*log")):
                    print(f"== {log}\n{log.read_text()}", file=sys.stderr)
    print(f"four routers over {driver} behind {kind}: as it should be")


if __name__ == "__main__":
    main()
