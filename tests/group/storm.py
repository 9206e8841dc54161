#!/usr/bin/env python3
"""A list in etcd that changes all the time, and daemons that follow it.

storm.py LINERATE [ENTRIES CHANGES_A_SECOND SECONDS DAEMONS]; needs root and Debian's etcd-server.
By default 100,000 entries, 100 changes a second for 20 s, three daemons. Entries are added one by
one, and then deleted in the same order, so that the number of entries of a set says which of the
changes is in force; how long each took is told. Then entries are put and deleted at
random, and each set must be what etcd holds: no change is lost, none applied twice or out of order.
Whole loads are counted.
"""

import base64
import contextlib
import http.client
import ipaddress
import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "switch"))
from beside import enter, ip, missing, namespaces  # noqa: E402

PREFIX = "/linerate/bad/"
FIRST = int(ipaddress.ip_address("1.0.0.0"))
OTHERS = int(ipaddress.ip_address("5.0.0.0"))
PATIENCE_S = 180
CONFIG = """
[[port]]
name = "outside"
spec = "tap:outside{n}"
[[port]]
name = "inside"
spec = "tap:inside{n}"
[[set]]
name = "bad"
action = "count"
source = {{ etcd = ["http://{etcd}"], prefix = "/linerate/bad/" }}
[control]
socket = "{folder}/d{n}.sock"
[state]
dir = "{folder}/d{n}.state"
"""


def until(what, holds, each=0.05):
    began = time.monotonic()
    while not holds():
        if time.monotonic() - began > PATIENCE_S:
            sys.exit(f"never: {what}")
        time.sleep(each)


def text(number):
    return str(ipaddress.ip_address(number))


class Etcd:
    """One member, and a connection to its JSON gateway."""

    def __init__(self, folder):
        ports = []
        for _ in range(2):
            with socket.create_server(("127.0.0.1", 0)) as one:
                ports.append(one.getsockname()[1])
        self.at = f"127.0.0.1:{ports[0]}"
        client, peer = f"http://{self.at}", f"http://127.0.0.1:{ports[1]}"
        words = ["etcd", "--data-dir", f"{folder}/etcd", "--unsafe-no-fsync"]
        words += ["--listen-client-urls", client, "--advertise-client-urls", client]
        words += ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]
        words += ["--initial-cluster", f"default={peer}"]
        self.log = open(f"{folder}/etcd.log", "w")
        self.running = subprocess.Popen(words, stdout=self.log, stderr=self.log)
        until("etcd answers", self.answers)
        self.line = http.client.HTTPConnection(self.at)

    def answers(self):
        with contextlib.suppress(OSError):
            socket.create_connection(tuple(self.at.split(":"))).close()
            return True
        return False

    def ask(self, path, **body):
        self.line.request("POST", path, json.dumps(body))
        answer = self.line.getresponse()
        said = answer.read()
        if answer.status != 200:
            sys.exit(f"etcd: {answer.status} {said}")
        return json.loads(said)

    def put(self, entry):
        key = base64.b64encode((PREFIX + entry).encode()).decode()
        self.ask("/v3/kv/put", key=key, value="")

    def delete(self, entry):
        key = base64.b64encode((PREFIX + entry).encode()).decode()
        self.ask("/v3/kv/deleterange", key=key)

    def keys(self):
        first = base64.b64encode(PREFIX.encode()).decode()
        end = base64.b64encode((PREFIX[:-1] + "0").encode()).decode()
        found = self.ask("/v3/kv/range", key=first, range_end=end, keys_only=True)
        keys = [base64.b64decode(pair["key"]).decode() for pair in found["kvs"]]
        return sorted(key.removeprefix(PREFIX) for key in keys)


class Daemon:
    """A daemon that follows, and when its set first had how many entries."""

    def __init__(self, program, folder, n, etcd):
        self.program, self.socket = program, f"{folder}/d{n}.sock"
        path = pathlib.Path(folder) / f"d{n}.toml"
        path.write_text(CONFIG.format(folder=folder, n=n, etcd=etcd))
        self.log = path.with_suffix(".log")
        with open(self.log, "w") as log:
            words = [program, "run", path]
            self.running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=log)
        until("the daemon answers", lambda: self.ask("health") == 0)
        self.control = socket.socket(socket.AF_UNIX)
        self.control.connect(self.socket)
        self.lines = self.control.makefile()
        self.call("hello", protocol=1)

    def ask(self, *words):
        command = [self.program, *words, "--socket", self.socket]
        return subprocess.run(command, capture_output=True).returncode

    def call(self, method, **params):
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.control.sendall(json.dumps(request).encode() + b"\n")
        return json.loads(self.lines.readline())["result"]

    def count(self):
        return self.call("set.list")["sets"][0]["entries"]

    def entries(self):
        command = [self.program, "set", "save", "bad", "--socket", self.socket]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        lines = (line for line in said.splitlines() if not line.startswith("#"))
        return sorted(line.split()[0] for line in lines if line)

    def loads(self):
        return len(re.findall(r'"message":"loaded', self.log.read_text()))


class Watch:
    """When each change was made, and when each daemon had it."""

    def __init__(self, daemons, before):
        self.made, self.wanted = [], []
        self.took = [[] for _ in daemons]
        self.before, self.ended = before, threading.Event()
        self.threads = [
            threading.Thread(target=self.look, args=(daemon, took))
            for daemon, took in zip(daemons, self.took)
        ]
        for thread in self.threads:
            thread.start()

    def look(self, daemon, took):
        while not (self.ended.is_set() and len(took) == len(self.made)):
            count, now = daemon.count(), time.monotonic()
            while len(took) < len(self.made) and self.has(count, len(took)):
                took.append(now - self.made[len(took)])
            time.sleep(0.01)

    def has(self, count, change):
        """Whether a set of so many entries has this change, which is one of a run of one kind."""
        is_add, wanted = self.wanted[change]
        return count >= wanted if is_add else count <= wanted

    def note(self, is_add, wanted):
        self.wanted.append((is_add, wanted))
        self.made.append(time.monotonic())

    def end(self):
        self.ended.set()
        for thread in self.threads:
            thread.join(PATIENCE_S)
            if thread.is_alive():
                sys.exit("a change never came into force")


def timed(etcd, daemons, entries, rate, seconds):
    """Adds, then deletes, at a steady rate."""
    half = rate * seconds // 2
    took = []
    for is_add in (True, False):
        before = entries if is_add else entries + half
        watch = Watch(daemons, before)
        due = time.monotonic()
        for number in range(half):
            entry = text(OTHERS + 7 * number)
            watch.note(is_add, before + number + 1 if is_add else before - number - 1)
            (etcd.put if is_add else etcd.delete)(entry)
            due += 1 / rate
            time.sleep(max(0, due - time.monotonic()))
        late = time.monotonic() - due
        watch.end()
        took += [one for of_daemon in watch.took for one in of_daemon]
        if late > 1:
            print(f"etcd took {late:.1f} s longer for the changes than it was to")
    took.sort()
    at = [took[len(took) * share // 1000] for share in (500, 990)] + [took[-1]]
    print(
        f"{len(took)} changes seen by {len(daemons)} daemons: half within {at[0]:.2f} s,"
        f" 99 % within {at[1]:.2f} s, all within {at[2]:.2f} s"
    )


def scattered(etcd, daemons):
    """The same few entries, again and again, by all their names; then all sets are what etcd is."""
    drawn = random.Random(7)
    for _ in range(2000):
        entry = text(OTHERS + drawn.randrange(40))
        name = entry + drawn.choice(["", "/32"])
        drawn.choice([etcd.put, etcd.delete])(name)
    wanted = sorted({key.removesuffix("/32") for key in etcd.keys()})
    for daemon in daemons:
        until("the set is what etcd holds", lambda one=daemon: one.entries() == wanted, 1)
        print(f"a set of {len(wanted)} entries is what etcd holds, after {daemon.loads()} loads")


def main():
    if why := missing() or (None if shutil.which("etcd") else "etcd-server is not installed"):
        print(f"skipped: {why}")
        return
    name = f"lrs{os.getpid()}"
    with namespaces([name]):
        ip("-n", name, "link", "set", "lo", "up")
        enter(name)
        judge()


def judge():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    entries, rate, seconds, count = map(int, sys.argv[2:6] or (100_000, 100, 20, 3))
    running = []
    with tempfile.TemporaryDirectory() as folder:
        etcd = Etcd(folder)
        running.append(etcd.running)
        try:
            listed = pathlib.Path(folder) / "list.txt"
            listed.write_text("".join(f"{text(FIRST + 7 * n)}\n" for n in range(entries)))
            push = [program, "set", "push", "bad", listed, "--etcd", f"http://{etcd.at}"]
            subprocess.run(push, check=True, capture_output=True)
            daemons = []
            for n in range(count):
                daemons.append(Daemon(program, folder, n, etcd.at))
                running.append(daemons[-1].running)
            for daemon in daemons:
                until("the list is there", lambda one=daemon: one.count() == entries)
            timed(etcd, daemons, entries, rate, seconds)
            scattered(etcd, daemons)
        finally:
            for one in running:
                one.kill()
                one.wait()


if __name__ == "__main__":
    main()
