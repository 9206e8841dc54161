#!/usr/bin/env python3
"""A daemon that follows a list in an etcd of three members, while links between them fail.

partition.py LINERATE; needs root, network namespaces, nft, openssl and Debian's etcd-server. Each
member and the daemon have a namespace, joined by a bridge. Entries are put and deleted all the
time:

- The member that the daemon watches is cut off from the two others, but not from the daemon.
- The daemon is cut off from all three.
- The daemon is cut off, and etcd compacts what it has missed.

Each time, with the links as they were, the set must be what etcd holds.
"""

import base64
import contextlib
import http.client
import os
import pathlib
import random
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time

import storm
from storm import Daemon, enter, ip, missing, namespaces, text, until

MEMBERS = range(3)
CONFIG = """
[[port]]
name = "outside"
spec = "tap:outside"
[[port]]
name = "inside"
spec = "tap:inside"
[[set]]
name = "bad"
action = "count"
max_change = 1000.0
max_age = "3s"
required = true
source = {{ etcd = [{etcd}], prefix = "/linerate/bad/", ca_file = "{folder}/ca.pem" }}
[control]
socket = "{folder}/d{n}.sock"
[state]
dir = "{folder}/d{n}.state"
"""


def address(member):
    return f"10.0.0.{member + 1}"


def certify(folder):
    """An authority, and one certificate for all members."""
    names = ",".join(f"IP:{address(member)}" for member in MEMBERS)
    whole = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    whole += ["-nodes", "-days", "2"]
    ca = ["-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem"]
    member = ["-subj", "/CN=etcd", "-keyout", "etcd.key", "-out", "etcd.pem"]
    member += ["-addext", f"subjectAltName={names}", "-CA", "ca.pem", "-CAkey", "ca.key"]
    member += ["-addext", "basicConstraints=critical,CA:FALSE"]
    for words in (ca, member):
        subprocess.run([*whole, *words], cwd=folder, check=True, capture_output=True)


def member(number, namespace, folder):
    """Starts one."""
    cluster = ",".join(f"m{n}=http://{address(n)}:2380" for n in MEMBERS)
    client, peer = f"https://{address(number)}:2379", f"http://{address(number)}:2380"
    words = ["ip", "netns", "exec", namespace, "etcd", "--name", f"m{number}"]
    words += ["--data-dir", f"{folder}/m{number}", "--unsafe-no-fsync"]
    words += ["--initial-cluster", cluster]
    words += ["--listen-client-urls", client, "--advertise-client-urls", client]
    words += ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]
    words += ["--cert-file", f"{folder}/etcd.pem", "--key-file", f"{folder}/etcd.key"]
    log = open(f"{folder}/m{number}.log", "w")
    return subprocess.Popen(words, stdout=log, stderr=log)


class Writer:
    """Puts and deletes all the time, at the members that are never cut off."""

    def __init__(self, namespace, folder):
        self.namespace = namespace
        self.trust = ssl.create_default_context(cafile=f"{folder}/ca.pem")
        self.written, self.asked = 0, threading.Event()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.write)

    def ask(self, path, **body):
        """Asks a member that answers."""
        while not self.ended.is_set():
            for number in (1, 2):
                line = http.client.HTTPSConnection(
                    address(number), 2379, timeout=5, context=self.trust
                )
                with contextlib.suppress(OSError, http.client.HTTPException):
                    line.request("POST", path, storm.json.dumps(body))
                    answer = line.getresponse()
                    said = answer.read()
                    if answer.status == 200:
                        return storm.json.loads(said)
            time.sleep(0.1)
        sys.exit("etcd never answered")

    def write(self):
        enter(self.namespace)
        drawn = random.Random(7)
        while not self.ended.is_set():
            entry = text(storm.OTHERS + drawn.randrange(200))
            key = base64.b64encode((storm.PREFIX + entry).encode()).decode()
            if drawn.randrange(3):
                self.ask("/v3/kv/put", key=key, value="")
            else:
                self.ask("/v3/kv/deleterange", key=key)
            self.written += 1

    def more(self, count):
        """Waits until so many changes more are written."""
        wanted = self.written + count
        until("changes are written", lambda: self.written >= wanted)


@contextlib.contextmanager
def writing(namespace, folder):
    writer = Writer(namespace, folder)
    writer.thread.start()
    try:
        yield writer
    finally:
        writer.ended.set()
        writer.thread.join()


def equal(daemon, folder, places):
    """Waits until the set is what etcd holds, with nobody writing."""
    reader = Writer(places["w"], folder)

    def keys():
        enter(places["w"])
        first = base64.b64encode(storm.PREFIX.encode()).decode()
        end = base64.b64encode((storm.PREFIX[:-1] + "0").encode()).decode()
        found = reader.ask("/v3/kv/range", key=first, range_end=end, keys_only=True)
        own = [base64.b64decode(pair["key"]).decode() for pair in found.get("kvs", [])]
        held.extend(sorted(key.removeprefix(storm.PREFIX) for key in own))

    held = []
    thread = threading.Thread(target=keys)
    thread.start()
    thread.join()
    until("the set is what etcd holds", lambda: daemon.entries() == held, 0.5)
    return len(held)


def compact(writer, places):
    """Compacts all that was written so far."""

    def ask():
        enter(places["w"])
        key = base64.b64encode(b"/elsewhere").decode()
        revision = writer.ask("/v3/kv/put", key=key, value="")["header"]["revision"]
        writer.ask("/v3/kv/compaction", revision=revision, physical=True)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()


@contextlib.contextmanager
def cut_off(namespace, ports):
    """Drops what a namespace says and hears by these TCP ports."""
    inside = ["ip", "netns", "exec", namespace, "nft"]
    rules = "".join(
        f"chain {hook} {{ type filter hook {hook} priority 0; "
        f"tcp sport {ports} drop; tcp dport {ports} drop; }}\n"
        for hook in ("input", "output")
    )
    subprocess.run([*inside, f"table inet cut {{ {rules} }}"], check=True)
    try:
        yield
    finally:
        subprocess.run([*inside, "delete table inet cut"], check=True)


def judge(daemon, folder, places):
    cases = [
        ("the watched member was cut off from the others", places["m0"], 2380, False),
        ("the daemon was cut off", places["d"], 2379, False),
        ("the daemon was cut off, and etcd compacted", places["d"], 2379, True),
    ]
    for what, namespace, ports, is_compacted in cases:
        before = daemon.loads()
        with writing(places["w"], folder) as writer:
            writer.more(20)
            with cut_off(namespace, ports):
                writer.more(100)
                # Longer than a watch lasts and than the list may be old.
                time.sleep(8)
                if is_compacted:
                    compact(writer, places)
                writer.more(20)
            until("the daemon is healthy", lambda: daemon.ask("health") == 0)
            writer.more(20)
            written = writer.written
        count = equal(daemon, folder, places)
        loads = daemon.loads() - before
        if is_compacted and loads == 0:
            sys.exit("a compaction was not noticed")
        print(f"{what}: {written} changes, {count} entries, as etcd has them; {loads} whole loads")


def connect(places):
    ip("-n", places["w"], "link", "add", "name", "bridge", "type", "bridge")
    ip("-n", places["w"], "link", "set", "dev", "bridge", "up")
    ip("-n", places["w"], "address", "add", "10.0.0.9/24", "dev", "bridge")
    hosts = {f"m{n}": address(n) for n in MEMBERS} | {"d": "10.0.0.8"}
    for place, host in hosts.items():
        peer = ["peer", "name", "eth", "netns", places[place]]
        ip("-n", places["w"], "link", "add", "name", f"to-{place}", "type", "veth", *peer)
        ip("-n", places["w"], "link", "set", "dev", f"to-{place}", "master", "bridge", "up")
        ip("-n", places[place], "link", "set", "dev", "lo", "up")
        ip("-n", places[place], "address", "add", f"{host}/24", "dev", "eth")
        ip("-n", places[place], "link", "set", "dev", "eth", "up")


def main():
    absent = [tool for tool in ("etcd", "nft", "openssl") if not shutil.which(tool)]
    if why := missing() or (f"{', '.join(absent)} missing" if absent else None):
        print(f"skipped: {why}")
        return
    program = str(pathlib.Path(sys.argv[1]).resolve())
    names = ["w", "d", *(f"m{n}" for n in MEMBERS)]
    places = {name: f"lrp{os.getpid()}{name}" for name in names}
    running = []
    with namespaces(places.values()), tempfile.TemporaryDirectory() as folder:
        try:
            connect(places)
            certify(folder)
            running += [member(n, places[f"m{n}"], folder) for n in MEMBERS]
            with writing(places["w"], folder) as writer:
                writer.more(20)
            storm.CONFIG = CONFIG
            etcd = ", ".join(f'"https://{address(n)}:2379"' for n in MEMBERS)
            enter(places["d"])
            daemon = Daemon(program, folder, 0, etcd)
            running.append(daemon.running)
            judge(daemon, folder, places)
            if "-v" in sys.argv:
                print(daemon.log.read_text(), file=sys.stderr)
        finally:
            for one in running:
                one.kill()
                one.wait()


if __name__ == "__main__":
    main()
