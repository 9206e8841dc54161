#!/usr/bin/env python3
"""`linerate serve tcp` and `linerate load tcp` with the kernel as the other end.

host.py LINERATE DRIVER; needs root and `ip`. Both ends are on a veth with two queues. The kernel's
end checks every byte, and every run's books must balance.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "switch"))
from beside import ip, missing, namespaces  # noqa: E402

OURS, KERNEL = f"tcp-o{os.getpid()}", f"tcp-k{os.getpid()}"
QUERIES = 200
CONNECTIONS = 8
# One query: connect, request, response; the server's end of file, or our own first.
CLIENT = """
import socket, sys
address, request, response, first, count = sys.argv[1], *map(int, sys.argv[2:6])
pattern = bytes(at % 256 for at in range(max(request, response)))
for _ in range(count):
    with socket.create_connection((address, 80), 10) as peer:
        peer.sendall(pattern[:request])
        got = b""
        while len(got) < response and (piece := peer.recv(1 << 16)):
            got += piece
        assert got == pattern[:response], f"{len(got)} bytes, or other ones"
        if first:
            peer.shutdown(socket.SHUT_WR)
        assert peer.recv(1) == b"", "more than a response"
print("done", count)
"""
SERVER = """
import socket, sys, threading
family, request, response, first = socket.AddressFamily(int(sys.argv[1])), *map(int, sys.argv[2:5])
pattern = bytes(at % 256 for at in range(max(request, response)))
server = socket.create_server(("", 80), family=family, backlog=4096)
print("ready", flush=True)
def answer(peer):
    with peer:
        peer.settimeout(10)
        got = b""
        while len(got) < request and (piece := peer.recv(1 << 16)):
            got += piece
        if got != pattern[:request]:
            print("wrong", len(got), flush=True)
        peer.sendall(pattern[:response])
        if not first:
            peer.recv(1)
def serve():
    while True:
        peer, _ = server.accept()
        try:
            answer(peer)
        except OSError:
            pass  # The run ended: its last queries are cut.
for _ in range(8):
    threading.Thread(target=serve).start()
"""


def inside(namespace, *words):
    return ["ip", "netns", "exec", namespace, *words]


def link():
    queues = ["numtxqueues", "2", "numrxqueues", "2"]
    peer = ["peer", "name", "tcp0", "netns", KERNEL, *queues]
    ip("-n", OURS, "link", "add", "tcp0", *queues, "type", "veth", *peer)
    off = ["ethtool", "-K", "tcp0", "tso", "off", "gso", "off", "gro", "off"]
    for namespace in (OURS, KERNEL):
        subprocess.run(inside(namespace, *off), capture_output=True)
        ip("-n", namespace, "link", "set", "tcp0", "up")
    quiet = "net.ipv6.conf.tcp0.disable_ipv6=0"
    subprocess.run(inside(KERNEL, "sysctl", "-qw", quiet), check=True)
    ip("-n", KERNEL, "address", "add", "192.0.2.1/24", "dev", "tcp0")
    ip("-n", KERNEL, "address", "add", "fd00::1/64", "dev", "tcp0", "nodad")
    ip("-n", KERNEL, "route", "add", "198.18.0.0/16", "via", "192.0.2.2")


@contextlib.contextmanager
def linerate(program, *words):
    """A run of ours in its namespace; what it said is in the list that it gives, at the end."""
    said = []
    command = inside(OURS, program, *words, "--json")
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield running, said
    finally:
        if running.poll() is None:
            running.send_signal(signal.SIGINT)
        text, complaints = running.communicate(timeout=30)
    if running.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {running.returncode}: {complaints}{text}")
    figures = json.loads(text)
    check(figures)
    said.append(figures)


def check(figures):
    frames = figures["run"]["frames"]
    dropped = sum(frames["dropped"].values())
    left = frames["tx"] + frames["consumed"] + dropped + frames["held"]
    if not figures["run"]["balanced"] or frames["rx"] + frames["originated"] != left:
        sys.exit(f"the books do not balance: {frames}")
    ended = figures["queries"] + figures["open"]
    ended += sum(n for cause, n in figures["failed"].items() if not cause.startswith("no_"))
    if figures["begun"] != ended:
        sys.exit(f"queries are lost: {figures}")
    if figures["run"]["host"]["bad_segments"]:
        sys.exit(f"segments are bad: {figures['run']['host']}")


def await_ping(address, running):
    until = time.monotonic() + 20
    words = inside(KERNEL, "ping", "-n", "-c", "1", "-W", "1", address)
    while subprocess.run(words, capture_output=True).returncode != 0:
        if running.poll() is not None or time.monotonic() > until:
            sys.exit(f"{address} answers no ping")


def check_workers(figures, workers):
    begun = [worker["host"]["begun"] for worker in figures["run"]["workers"]]
    if len(begun) != workers or 0 in begun or sum(begun) != figures["begun"]:
        sys.exit(f"connections by worker: {begun} of {figures['begun']}")


def kernel_asks(program, port, shape, workers=1):
    request, response, first = shape
    words = ["serve", "tcp", port, "--address", "192.0.2.2/24,fd00::2/64", "--listen", "80"]
    words += ["--request", str(request), "--response", str(response)]
    words += ["--close-first", "client" if first else "server", "--workers", str(workers)]
    with linerate(program, *words) as (running, said):
        for address in ("192.0.2.2", "fd00::2"):
            await_ping(address, running)
            arguments = [address, str(request), str(response), str(first), str(QUERIES)]
            asked = subprocess.run(
                inside(KERNEL, "python3", "-c", CLIENT, *arguments), capture_output=True, text=True
            )
            if asked.returncode != 0:
                sys.exit(f"the kernel's client: {asked.stderr}")
        # The last connection may end a moment later.
        time.sleep(0.2)
    if said[0]["queries"] != 2 * QUERIES:
        sys.exit(f"not all queries were answered: {said[0]}")
    check_workers(said[0], workers)
    print(f"the kernel asks, {port}, {shape}, workers {workers}: {said[0]['queries']} queries")


def http_programs(address, folder, body):
    """Programs that ask for the page, and how many queries each makes."""
    url = f"http://{address}/"
    got = folder / "got"
    curl = ["curl", "-sS", "--max-time", "60", "--fail", "-o", str(got)]
    yield "curl", [*curl, url], 1
    yield "curl", [*curl, "-X", "POST", "-d", "a=b", url], 1
    yield "ab", ["ab", "-q", "-n", "50", "-c", "5", "-s", "60", url], 50
    yield "wrk", ["wrk", "-t1", "-c4", "-d1s", "--timeout", "60s", url], None
    if got.exists() and got.read_bytes() != body:
        sys.exit("curl got another page")


def serves_http(program, port, workers):
    """A file is the answer to programs that know nothing of linerate."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        body = bytes(range(256)) * 200
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        (folder / "page").write_bytes(head.encode() + body)
        words = ["serve", "tcp", port, "--address", "192.0.2.2/24", "--listen", "80"]
        words += ["--response", str(folder / "page"), "--workers", str(workers)]
        least, asked = 0, []
        with linerate(program, *words) as (running, said):
            await_ping("192.0.2.2", running)
            for name, command, queries in http_programs("192.0.2.2", folder, body):
                if shutil.which(name) is None:
                    continue
                done = subprocess.run(inside(KERNEL, *command), capture_output=True, text=True)
                failed = [row for row in done.stdout.splitlines() if is_failure(row)]
                if done.returncode != 0 or failed:
                    sys.exit(f"{' '.join(command)}: {done.stderr}{done.stdout}")
                least += queries or 1
                asked.append(name)
            time.sleep(0.2)
        if said[0]["queries"] < least:
            sys.exit(f"not all queries were answered: {said[0]}")
        print(f"{', '.join(asked)} ask, {port}, workers {workers}: {said[0]['queries']} queries")


def is_failure(row):
    """A row of the reports of ab and wrk that says that something failed."""
    name, _, value = row.partition(":")
    words = ("Failed requests", "Write errors", "Non-2xx responses")
    return name.strip() in words and value.strip() != "0" or "Socket errors" in row


def kernel_answers(program, port, shape, ends, workers=1):
    request, response, first = shape
    clients, server, family = ends
    arguments = [family, str(request), str(response), str(1 - first)]
    command = inside(KERNEL, "python3", "-c", SERVER, *arguments)
    serving = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        if serving.stdout.readline() != "ready\n":
            sys.exit("the kernel's server does not begin")
        words = ["load", "tcp", port, "--clients", clients, "--server", server]
        words += ["-c", str(CONNECTIONS), "-d", "3"]
        words += ["--request", str(request), "--response", str(response)]
        words += ["--close-first", "client" if first else "server", "--workers", str(workers)]
        with linerate(program, *words) as (running, said):
            running.wait(timeout=60)
    finally:
        serving.kill()
        complaints = serving.communicate()[0]
    # On a busy machine it may be few.
    if complaints or said[0]["queries"] < CONNECTIONS:
        sys.exit(f"{complaints}{said[0]}")
    check_workers(said[0], workers)
    done = f"{said[0]['queries']} queries"
    print(f"the kernel answers, {port}, {clients}, {shape}, workers {workers}: {done}")


def main(program, driver):
    if why := missing():
        print(f"skipped: {why}")
        return
    port = f"{driver}:tcp0"
    with namespaces([OURS, KERNEL]):
        link()
        # Each row: bytes of a request and of a response, and whether the client closes first.
        for shape in [(92, 206, 0), (92, 206, 1), (1, 1, 0), (100_000, 300_000, 1)]:
            kernel_asks(program, port, shape)
        several = min(2, len(os.sched_getaffinity(0)))
        kernel_asks(program, port, (92, 206, 0), several)
        serves_http(program, port, several)
        v4, v6 = ("192.0.2.1:80", str(2)), ("[fd00::1]:80", str(10))
        for shape, ends in [
            ((92, 206, 0), ("192.0.2.2/24", *v4)),
            ((92, 206, 1), ("192.0.2.2/24,198.18.0.0/16", *v4)),
            ((92, 206, 0), ("fd00::2/64", *v6)),
            ((100_000, 300_000, 0), ("192.0.2.2/24", *v4)),
        ]:
            kernel_answers(program, port, shape, ends)
        for clients in ["192.0.2.2/24", "192.0.2.2/24,198.18.0.0/16"]:
            kernel_answers(program, port, (2000, 30_000, 0), (clients, *v4), several)


main(*sys.argv[1:])
