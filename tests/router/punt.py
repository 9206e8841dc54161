#!/usr/bin/env python3
"""Services on the router's addresses: a host behind a `tap:` port takes what is for the router.

punt.py LINERATE WORKERS; needs root, `ip`, `ping` and network namespaces. A client speaks TCP with
a server that has the router's address behind the tap, and pings the router.
"""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from hosts import connect, must_say, ping, run

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "switch"))
from beside import ip, missing, namespaces  # noqa: E402

SERVER = """
import socket
server = socket.create_server(("10.0.0.1", 179))
peer, address = server.accept()
peer.sendall(address[0].encode() + b" " + peer.recv(100))
peer.close()
"""
CLIENT = """
import socket
peer = socket.create_connection(("10.0.0.1", 179), 60)
# As a session of BGP with a direct neighbour has it.
peer.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 1)
peer.settimeout(60)
peer.sendall(b"open")
assert peer.recv(100) == b"10.0.0.2 open"
"""


@contextlib.contextmanager
def linerate(program, router, workers):
    command = ["ip", "netns", "exec", router, program, "route", "A=xdp:p0", "P=tap:lin0"]
    command += ["--interface", "lan=A,10.0.0.1/24", "--interface", "host=P,169.254.0.1/30"]
    command += ["--punt", "P", "--workers", str(workers), "--json"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield running
    finally:
        if running.poll() is None:
            running.send_signal(signal.SIGINT)
        said, complaints = running.communicate(timeout=60)
        if running.returncode != 0 or not re.search(r'"balanced": ?true', said):
            sys.exit(f"linerate ended with {running.returncode}: {complaints}\n{said}")
        must_say(said, r'"punted": ?[1-9]')


def give_addresses(router, running):
    """The kernel beside the router has its address, behind the tap; it sees no frame of p0."""
    until = time.monotonic() + 60
    while "lin0" not in run(router, "ip", "link", "show"):
        if running.poll() is not None or time.monotonic() > until:
            sys.exit(f"there is no tap: {running.stderr.read()}")
        time.sleep(0.1)
    for address in ("169.254.0.2/30", "10.0.0.1/32"):
        ip("-n", router, "address", "add", address, "dev", "lin0")
    ip("-n", router, "route", "add", "default", "via", "169.254.0.1", "src", "10.0.0.1")


def judge(client, host):
    server = subprocess.Popen(["ip", "netns", "exec", host, "python3", "-c", SERVER])
    try:
        until = time.monotonic() + 60
        while ":179" not in run(host, "ss", "-ltn"):
            if time.monotonic() > until:
                sys.exit("the server does not listen")
            time.sleep(0.05)
        run(client, "python3", "-c", CLIENT)
        server.wait(60)
    finally:
        server.kill()
        server.wait()
    must_say(ping(client, "10.0.0.1", "-c", "3"), " 0% packet loss")
    must_say(ping(host, "10.0.0.2", "-c", "3", "-I", "10.0.0.1", "-t", "1"), " 0% packet loss")


def main():
    if why := missing():
        print(f"skipped: {why}")
        return
    program = str(pathlib.Path(sys.argv[1]).resolve())
    label = f"lrp{os.getpid()}"
    client, router = f"{label}a", f"{label}r"
    with namespaces([client, router]):
        connect(router, client, 0, 1500)
        with linerate(program, router, int(sys.argv[2])) as running:
            give_addresses(router, running)
            judge(client, router)
    print(f"a host behind a tap, with {sys.argv[2]} workers: has the router's address")


if __name__ == "__main__":
    main()
