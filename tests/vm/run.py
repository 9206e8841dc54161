#!/usr/bin/env python3
"""The tests in virtual machines: `run.py KERNEL PACKAGE` boots Debian with this kernel, installs
the package, runs its service, and looks what gets across a bridge by each kind of port;
`run.py --models KERNEL PACKAGE` looks at the ports alone, on cards of several models, and writes
what came of it as a table; `--further` and `--nodes` try what further.py has. In a network
namespace of its own, as root: `./ci.sh vm`."""

import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import further
import image
import machine
import network
import service
from machine import Failed

MTU = 1500
JUMBO_MTU = 9000
# The exit code of a start that is refused.
REFUSED = 2
# Receive queues of the models that have several.
QUEUES = {"virtio-net-pci": 2}
# By model, how the names of its two cards begin.
MODELS = {"virtio-net-pci": "v", "e1000": "e", "e1000e": "k", "vmxnet3": "x"}
PORTS = ["xdp:{},mode=copy", "xdp:{},mode=generic", "xdp:{},shortcut=on", "packet:{}"]
MORE_PORTS = PORTS + ["xdp:{},keep-local=on"]


class Results:
    """A line a check, as it ends."""

    def __init__(self):
        self.began, self.failed, self.checks = time.monotonic(), [], 0

    def check(self, name, right, otherwise=""):
        self.checks += 1
        took, self.began = time.monotonic() - self.began, time.monotonic()
        print(f"  {name}: {'yes' if right else f'NO: {otherwise}'} ({took:.0f} s)", flush=True)
        if not right:
            self.failed.append(name)

    def crossed(self, name, crossed):
        missing = {what: came for what, came in crossed.items() if came is not True}
        self.check(name, crossed and not missing, missing)


# Options of a model's cards where receive hashes are tried.
HASHING = {"virtio-net-pci": {"rss": "on", "hash": "on"}}


def cards(models, options):
    """A far end on either side, joined with a card of each model: those up are in the way."""
    nics = []
    for end, side in (("t1", "a"), ("t2", "b")):
        joined = [network.Nic(end, "virtio-net-pci")]
        joined += [network.Nic(MODELS[model] + side, model, QUEUES.get(model, 1),
                               options.get(model))
                   for model in models]
        network.wire("side-" + side, joined)
        nics += joined
    return nics


def started(kernel, models, package, options=()):
    files = [pathlib.Path(__file__).with_name("guest.py"), package]
    return machine.Machine(image.image(kernel), cards(models, dict(options)), files)


def ask(guest, what):
    return json.loads(guest.run(f"python3 /host/guest.py {what}", seconds=400))


def bridged(guest, spec, model="virtio-net-pci", mtu=MTU):
    """What came of a bridge between the two cards of a model: None, or a sentence."""
    near = " ".join(spec.format(MODELS[model] + side) for side in "ab")
    answer = ask(guest, f"bridge {mtu} {near}")
    report, crossed = answer["report"], answer["crossed"]
    missing = [what for what, came in crossed.items() if came is not True]
    if answer["code"] == REFUSED:
        lines = [line for line in answer["stderr"].splitlines() if "warning" not in line]
        return "refused: " + lines[-1].removeprefix("linerate: ")
    if answer["code"] or not crossed:
        return f"exit code {answer['code']}: {answer['stderr']}"
    if missing:
        return "does not cross: " + ", ".join(missing)
    return None if report.get("balanced") else "the books do not balance"


def long_frames(guest, results):
    """Frames of an MTU of 9,000 cross, or the bridge is refused and those of the MTU do that it
    advises."""
    mtu, spec = JUMBO_MTU, "xdp:{},mode=copy"
    set_mtu(guest, mtu)
    otherwise = bridged(guest, spec, mtu=mtu)
    advised = re.search(r"mtu (\d+)`", otherwise or "")
    if advised:
        mtu = int(advised.group(1))
        set_mtu(guest, mtu)
        otherwise = bridged(guest, spec, mtu=mtu)
    results.check(f"an MTU of {mtu}{', which was advised' if advised else ''}",
                  otherwise is None, otherwise)


def set_mtu(guest, mtu):
    guest.run(f"ip link set va mtu {mtu}; ip link set vb mtu {mtu}")
    ask(guest, f"mtu {mtu}")


def short(kernel, package, results):
    with started(kernel, ["virtio-net-pci"], package) as guest:
        print(f"Linux {guest.release}")
        results.check(f"it boots ({guest.boot_seconds:.0f} s)", True)
        ask(guest, f"far-ends {MTU}")
        guest.run("ip link set va up; ip link set vb up")
        service.begins(guest, results, package.name)
        results.crossed("frames cross the service", ask(guest, f"probe {MTU}"))
        service.goes_on(guest, results)
        service.bypassed(guest, results)
        for spec in PORTS:
            otherwise = bridged(guest, spec)
            results.check(f"a bridge between {spec.format('va')} and its like",
                          otherwise is None, otherwise)
        long_frames(guest, results)
        service.goes(guest, results)


def each_model(guest, results):
    """The table of docs/kernels.md for one kernel: each kind of port on each model."""
    rows = []
    for model, name in MODELS.items():
        driver = guest.run(f"basename $(readlink /sys/class/net/{name}a/device/driver)").strip()
        guest.run(f"ip link set {name}a up; ip link set {name}b up")
        cells = [guest.release, model, driver]
        for spec in MORE_PORTS:
            otherwise = bridged(guest, spec, model)
            # A card may lack what a mode needs; whatever it takes must work.
            refused = (otherwise or "").startswith("refused: ")
            results.check(f"{driver}: {spec.format('IFACE')}{', refused' if refused else ''}",
                          otherwise is None or refused, otherwise)
            cells.append("refused" if refused else otherwise or "yes")
        rows.append(cells)
        guest.run(f"ip link set {name}a down; ip link set {name}b down")
    heads = ["kernel", "QEMU's model", "driver"]
    heads += [f"`{spec.format('IFACE')}`" for spec in MORE_PORTS]
    for cells in [heads, ["---"] * len(heads), *rows]:
        print(f"| {' | '.join(cells)} |")


def models(kernel, package, results):
    with started(kernel, MODELS, package) as guest:
        ask(guest, f"far-ends {MTU}")
        install(guest, package)
        each_model(guest, results)


def uncompressed(package):
    """The same package, which an emulated processor unpacks in a fraction of the time. Its folder
    ends with the namespace of the test."""
    folder = pathlib.Path(tempfile.mkdtemp())
    unpacked, plain = folder / "unpacked", folder / package.name
    subprocess.run(["dpkg-deb", "--raw-extract", str(package), str(unpacked)], check=True)
    subprocess.run(["dpkg-deb", "-Znone", "--build", str(unpacked), str(plain)], check=True,
                   stdout=subprocess.DEVNULL)
    return plain


def install(guest, package):
    guest.run(f"DEBIAN_FRONTEND=noninteractive dpkg -i /host/{package.name}", seconds=400)


def further_on(kernel, package, results):
    """What the short form leaves out, but for the table of the models."""
    with started(kernel, MODELS, package, HASHING) as guest:
        print(f"Linux {guest.release}")
        ask(guest, f"far-ends {MTU}")
        guest.run("ip link set va up; ip link set vb up")
        service.begins(guest, results, package.name)
        service.tells(guest, results)
        service.bypassed(guest, results)
        guest.run("ip link set va down; ip link set ka up; ip link set xa up; ip link set vb down")
        further.resets(guest, results)
        further.traffic(guest, results)
        guest.run("ip link set va up; ip link set vb up")
        further.clocks(guest, results)
        further.hashes(guest, results)
        guest.run("ip link set ka down; ip link set xa down")
        nic = next(nic for nic in guest.nics if nic.name == "va")
        further.plugs(guest, results, nic, lambda: ask(guest, f"probe {MTU}"))
        guest.run("systemd-run -q --unit=ends -p LimitMEMLOCK=infinity "
                  "linerate bridge xdp:va xdp:vb --json")
        further.other_ends(guest, results)


def nodes(kernel, package, results):
    files = [pathlib.Path(__file__).with_name("guest.py"), package]
    cards = further.node_cards()
    with machine.Machine(image.image(kernel), cards, files, further.NODES) as guest:
        install(guest, package)
        further.nodes(guest, results)


FORMS = {"--models": models, "--further": further_on, "--nodes": nodes}


def main(*arguments):
    form = FORMS.get(arguments[0], short)
    kernel, package = arguments[-2:]
    if not network.is_ours():
        raise SystemExit("run.py makes interfaces, and wants a network namespace of its own: "
                         "./ci.sh vm")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    results = Results()
    try:
        form(kernel, uncompressed(pathlib.Path(package)), results)
    except Failed as failed:
        raise SystemExit(f"failed: {failed}") from failed
    if results.failed:
        raise SystemExit(f"failed: {'; '.join(results.failed)}")
    print(f"{results.checks} checks passed in {time.monotonic() - STARTED:.0f} s")


STARTED = time.monotonic()
main(*sys.argv[1:])
