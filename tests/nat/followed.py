#!/usr/bin/env python3
"""NAT beside the kernel: `linerate route --kernel --nat` between kernel clients and servers, while
the outside address changes. What hosts see is what they see behind nft, but for ports; and the host
itself goes on to have its own services and connections.

followed.py LINERATE WORKERS; needs root, `ip`, `nft`, `ping`, `ethtool` and network namespaces.
The network is that of kernel.py.
"""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import kernel  # noqa: E402
from differences import KNOWN  # noqa: E402
from kernel import OUTSIDE, SERVER, Network, ip, missing, namespaces, run  # noqa: E402

RULES = kernel.RULES.replace('"wan"', '"p1"')
# Outside ports: those between services and the kernel's own, net.ipv4.ip_local_port_range.
PORTS = range(16384, 32768)
ANOTHER = "198.51.100.7"
WITHIN_S = 60.0


class Router:
    """linerate between the interfaces p0 and p1 of a namespace."""

    def __init__(self, network, program, workers):
        self.network, self.name = network, network.name["router"]
        self.command = ["ip", "netns", "exec", self.name, program, "route", "xdp:p0", "xdp:p1"]
        self.command += ["--kernel", "--json", "--workers", workers]
        self.report = ""

    @contextlib.contextmanager
    def running(self):
        network = self.network
        network.address("router", "p0", "10.0.0.1/24")
        network.address("router", "p1", f"{OUTSIDE}/24", "198.51.100.2")
        run(self.name, "sysctl", "-qw", "net.ipv4.ip_forward=0")
        with tempfile.NamedTemporaryFile("w", suffix=".nat") as rules:
            rules.write(RULES)
            rules.flush()
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
            running = subprocess.Popen([*self.command, "--nat", rules.name], **pipes)
            try:
                await_answer(network, running)
                yield
            finally:
                if running.poll() is None:
                    running.send_signal(signal.SIGINT)
                said, complaints = running.communicate(timeout=60)
        if running.returncode != 0:
            sys.exit(f"{' '.join(self.command)}\nended with {running.returncode}: {complaints}")
        self.report = said
        if not json.loads(said)["balanced"]:
            sys.exit(f"the books do not balance: {said}")


def await_answer(network, running):
    """Until packets pass: the router's own address says nothing, since the kernel has it."""
    until = time.monotonic() + WITHIN_S
    words = ["ping", "-n", "-c", "1", "-W", "1", SERVER]
    while " 0% packet loss" not in run(network.name["one"], *words, ok=None):
        if running.poll() is not None or time.monotonic() > until:
            running.kill()
            sys.exit(f"no ping passes: {running.communicate()}")


def differs(what, ours, kernels):
    """Whether an answer is wrong: outside ports are linerate's choice."""
    if any(what.startswith(known) for known in KNOWN):
        return False
    if not what.endswith("from a port"):
        return ours != kernels
    (host, port, state), (its_host, _, its_state) = ours.split(), kernels.split()
    return (host, state) != (its_host, its_state) or int(port) not in PORTS


def own_traffic(network):
    """What the router's host does itself, and what is done to it."""
    name = network.name["router"]
    seen = {}
    with network.acting("server", "serve"), network.acting("router", "serve"):
        for kind in ("tcp", "udp"):
            seen[f"{kind} of the host"] = network.act("router", kind, SERVER, "7", "1024", "50000")
            seen[f"{kind} to the host"] = network.act("server", kind, OUTSIDE, "7", "1024", "50000")
            # A datagram's answer has the address that is nearer.
            own = OUTSIDE if kind == "tcp" else "10.0.0.1"
            seen[f"{kind} from inside to the host"] = network.act("one", kind, own, "7", "1024")
        pinged = run(name, "ping", "-n", "-c", "1", "-W", "5", "-e", "77", SERVER, ok=None)
        seen["ping of the host"] = " 0% packet loss" in pinged
    wanted = {
        "tcp of the host": f"{OUTSIDE} 50000 whole",
        "udp of the host": f"{OUTSIDE} 50000 whole",
        "tcp to the host": f"{SERVER} 50000 whole",
        "udp to the host": f"{SERVER} 50000 whole",
        "ping of the host": True,
    }
    wrong = {what: seen[what] for what, right in wanted.items() if seen[what] != right}
    for kind in ("tcp", "udp"):
        what = f"{kind} from inside to the host"
        if not re.fullmatch(r"10\.0\.0\.2 \d+ whole", seen[what]):
            wrong[what] = seen[what]
    if wrong:
        sys.exit(f"the host itself sees: {wrong}")


def await_source(network, wanted):
    """Until the server sees this address when a client inside asks."""
    until = time.monotonic() + WITHIN_S
    while True:
        seen = network.act("one", "udp", SERVER, "7", "256")
        if seen.split()[0] == wanted:
            return
        if time.monotonic() > until:
            sys.exit(f"the server sees {seen} and not {wanted}")


def other_addresses(network):
    """The outside interface gets another address, none, and its first one again."""
    router = network.name["router"]

    def address(what, one):
        ip("-n", router, "address", what, f"{one}/24", "dev", "p1")

    def way_out():
        ip("-n", router, "route", "replace", "default", "via", "198.51.100.2")

    with network.acting("server", "serve"), network.acting("one", "serve"):
        await_source(network, OUTSIDE)
        address("add", ANOTHER)
        address("del", OUTSIDE)
        # The second address of a network goes with the first, unless the kernel promotes it.
        ip("-n", router, "address", "replace", f"{ANOTHER}/24", "dev", "p1")
        way_out()
        await_source(network, ANOTHER)
        for kind in ("tcp", "udp"):
            forwarded = network.act("server", kind, ANOTHER, "8080", "256", "6001")
            if forwarded != f"{SERVER} 6001 whole":
                sys.exit(f"{kind} forwarded by the other address: {forwarded}")
        address("del", ANOTHER)
        way = ["default", "via", "198.51.100.2", "dev", "p1", "onlink"]
        ip("-n", router, "route", "replace", *way)
        await_source(network, "TimeoutError")
        address("add", OUTSIDE)
        way_out()
        await_source(network, OUTSIDE)


def check(report):
    """What the report counts of all that."""
    for name in ("nat_begun", "nat_revoked", "nat_address"):
        if not any(int(count) for count in re.findall(rf'"{name}": ?(\d+)', report)):
            sys.exit(f"{name} is not counted: {report}")


def main():
    program, workers = sys.argv[1:3]
    if why := missing() or (not os.path.exists("/usr/sbin/nft") and "nft missing"):
        print(f"skipped: {why}")
        return
    tags = {kind: f"natk{os.getpid()}{kind}" for kind in ("l", "k")}
    networks = {kind: Network(tag) for kind, tag in tags.items()}
    names = [name for network in networks.values() for name in network.name.values()]
    with namespaces(names):
        for network in networks.values():
            network.build()
        router = Router(networks["l"], program, workers)
        with router.running():
            ours, leaked = kernel.leaks(networks["l"], kernel.answers)
            own_traffic(networks["l"])
            other_addresses(networks["l"])
        with kernel.by_kernel(networks["k"]):
            kernels, _ = kernel.leaks(networks["k"], kernel.answers)
    if leaked:
        sys.exit(f"{leaked} packets left with inside addresses")
    wrong = []
    for what, seen in kernels.items():
        print(f"{what}: {ours[what]}")
        if differs(what, ours[what], seen):
            wrong.append(f"{what}: linerate {ours[what]}, the kernel {seen}")
    if wrong:
        sys.exit("\n".join(wrong))
    check(router.report)
    print(f"{len(kernels)} answers are alike but for ports and {len(KNOWN)} known kinds")


if __name__ == "__main__":
    main()
