#!/usr/bin/env python3
"""The tests in virtual machines: `run.py KERNEL PACKAGE` boots Debian with this kernel, installs
the package, runs its service, and looks what gets across a bridge by each kind of port;
`run.py --models KERNEL PACKAGE` looks at the ports alone, on cards of several models, and writes
what came of it as a table. In a network namespace of its own, as root: `./ci.sh vm`."""

import json
import pathlib
import signal
import sys
import time

import image
import machine
import network
import service
from machine import Failed

MTU = 1500
# Receive queues of the models that have several.
QUEUES = {"virtio-net-pci": 2}
MODELS = ["virtio-net-pci", "e1000", "e1000e", "vmxnet3"]
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


def cards(model):
    """Two of this model, that a bridge is between, and a far end behind each."""
    near = [network.Nic(name, model, QUEUES.get(model, 1)) for name in ("va", "vb")]
    far = [network.Nic(name, "virtio-net-pci") for name in ("t1", "t2")]
    for ends in zip(far, near):
        network.wire(*ends)
    return near + far


def started(kernel, model, package):
    files = [pathlib.Path(__file__).with_name("guest.py"), package]
    return machine.Machine(image.image(), kernel, cards(model), files)


def ask(guest, what):
    return json.loads(guest.run(f"python3 /host/guest.py {what}", seconds=400))


def prepare(guest):
    ask(guest, f"far-ends {MTU}")
    guest.run("ip link set va up; ip link set vb up")


def bridged(guest, spec):
    """What came of a bridge between the two cards: None, or a sentence."""
    near = " ".join(spec.format(name) for name in ("va", "vb"))
    answer = ask(guest, f"bridge {MTU} {near}")
    report, crossed = answer["report"], answer["crossed"]
    missing = [what for what, came in crossed.items() if came is not True]
    if answer["code"] or not crossed:
        lines = [line for line in answer["stderr"].splitlines() if "warning" not in line]
        return lines[-1] if lines else f"exit code {answer['code']}"
    if missing:
        return "does not cross: " + ", ".join(missing)
    return None if report.get("balanced") else "the books do not balance"


def short(kernel, package, results):
    with started(kernel, "virtio-net-pci", package) as guest:
        print(f"Linux {guest.release}")
        results.check(f"it boots ({guest.boot_seconds:.0f} s)", True)
        prepare(guest)
        service.begins(guest, results, package.name)
        results.crossed("frames cross the service", ask(guest, f"probe {MTU}"))
        service.goes_on(guest, results)
        service.bypassed(guest, results)
        for spec in PORTS:
            otherwise = bridged(guest, spec)
            results.check(f"a bridge between {spec.format('va')} and its like",
                          otherwise is None, otherwise)
        service.goes(guest, results)


def models(kernel, package, results):
    """The table of docs/kernels.md for one kernel: each kind of port on each model."""
    rows = []
    for model in MODELS:
        with started(kernel, model, package) as guest:
            prepare(guest)
            guest.run(f"DEBIAN_FRONTEND=noninteractive dpkg -i /host/{package.name}", seconds=180)
            driver = guest.run("basename $(readlink /sys/class/net/va/device/driver)").strip()
            for spec in MORE_PORTS:
                otherwise = bridged(guest, spec)
                port = spec.format("IFACE")
                results.check(f"{driver}: {port}", otherwise is None, otherwise)
                rows.append(f"| {guest.release} | {model} | {driver} | `{port}` | "
                            f"{otherwise or 'yes'} |")
        for name in ("t1-va", "t2-vb", "va", "vb", "t1", "t2"):
            network.ip("link", "delete", name)
    print("| kernel | QEMU's model | driver | port | everything crosses |")
    print("| --- | --- | --- | --- | --- |")
    print("\n".join(rows))


def main(*arguments):
    form = models if arguments[0] == "--models" else short
    kernel, package = arguments[-2:]
    if not network.is_ours():
        raise SystemExit("run.py makes interfaces, and wants a network namespace of its own: "
                         "./ci.sh vm")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    results = Results()
    try:
        form(kernel, pathlib.Path(package), results)
    except Failed as failed:
        raise SystemExit(f"failed: {failed}") from failed
    if results.failed:
        raise SystemExit(f"failed: {'; '.join(results.failed)}")
    print(f"{results.checks} checks passed in {time.monotonic() - STARTED:.0f} s")


STARTED = time.monotonic()
main(*sys.argv[1:])
