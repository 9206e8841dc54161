#!/usr/bin/env python3
"""What changing sets costs a running daemon: docs/daemon.py [PROGRAM] [--entries N] [--rounds N].

Runs `linerate run` from a generator into nothing, one worker, with a list of N addresses in a file
(6 million: the folder takes 200 MB), and prints

* how long a replaced file takes until it is in force, and the worker's rate meanwhile beside its
  rate just before and just after, pair by pair, so that a machine whose speed drifts slows all. A
  rate is by the time that the worker had its CPU; beside it stands the share of time that it had
  it, since other programs are moved there while the load fills the other CPUs;
* how long a single `set.add` on a persistent connection waits for its answer, when nothing else
  goes on and while the list is replaced;
* resident memory after each replacement.

--capture measures instead the worker's rate while each kind of capture runs beside that without.
The worker has the last CPU to itself. Linux, Python's standard library; no root.
"""

import argparse
import atexit
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

CONFIG = """
[[port]]
name = 'outside'
spec = 'gen:size=64{hit}'
[[port]]
name = 'inside'
spec = 'null:'
[workers]
cpus = '{cpu}'
[control]
socket = 'ctl.sock'
[state]
dir = 'state'
[[set]]
name = 'file'
source = 'file.txt'
action = 'block'
allow_private = true
[[set]]
name = 'hand'
action = 'block'
"""


class Control:
    """A connection that asks one thing after the other."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.lines = self.socket.makefile()

    def call(self, method, **params):
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        answer = json.loads(self.lines.readline())
        if "error" in answer:
            sys.exit(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def entries(self):
        return self.call("set.show", set="file")["entries"]

    def frames(self):
        """When they were asked for, and frames received."""
        shown = self.call("show.workers")["workers"][0]
        return time.monotonic(), shown["frames"]


def address(number):
    """Public address space from 16.0.0.0 to 79.255.255.255, each once: an odd factor."""
    value = 0x1000_0000 + (number * 0x9E37_79B1 & 0x3FFF_FFFF)
    return "%d.%d.%d.%d\n" % (*value.to_bytes(4, "big"),)


def write_lists(folder, entries):
    """Two lists that differ in two entries of five; the second has one more."""
    lists = []
    for first, count in ((0, entries), (entries * 2 // 5, entries + 1)):
        path = f"{folder}/list{len(lists)}"
        with open(path, "w", encoding="ascii") as out:
            out.writelines(address(number) for number in range(first, first + count))
        lists.append((path, count))
    return lists


class Daemon:
    """One that runs, in a folder of its own."""

    def __init__(self, program, folder, hit=""):
        self.folder = folder
        self.schedule = None
        cpus = sorted(os.sched_getaffinity(0))
        with open(f"{folder}/a.toml", "w", encoding="ascii") as out:
            out.write(CONFIG.format(cpu=cpus[-1], hit=hit))
        if len(cpus) > 1:
            os.sched_setaffinity(0, cpus[:-1])
        self.log = open(f"{folder}/log", "w", encoding="ascii")
        everywhere = lambda: os.sched_setaffinity(0, cpus)
        self.process = subprocess.Popen(
            [program, "run", "a.toml", "--json"], cwd=folder, stderr=self.log,
            stdout=subprocess.PIPE, preexec_fn=everywhere,
        )
        # However this ends, it does not go on.
        atexit.register(self.process.kill)
        while not self.forwards():
            if self.process.poll() is not None:
                sys.exit(open(f"{folder}/log", encoding="ascii").read())
            time.sleep(0.05)

    def control(self):
        return Control(f"{self.folder}/ctl.sock")

    def forwards(self):
        try:
            return self.control().frames()[1] > 0
        except (OSError, IndexError):
            return False

    def resident_mb(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    def worker_seconds(self):
        """How long the first worker has had its CPU."""
        if not self.schedule:
            tasks = f"/proc/{self.process.pid}/task"
            for task in os.listdir(tasks):
                with open(f"{tasks}/{task}/comm", encoding="ascii") as name:
                    if name.read() == "worker-0\n":
                        self.schedule = f"{tasks}/{task}/schedstat"
        with open(self.schedule, encoding="ascii") as schedstat:
            return int(schedstat.read().split()[0]) / 1e9

    def stop(self):
        self.process.terminate()
        report = json.loads(self.process.communicate()[0])
        if self.process.returncode != 0 or not report["balanced"]:
            sys.exit(f"the books do not balance: {report}")


def replace(daemon, control, path, count):
    """Puts another list in the file's place and waits until it is in force."""
    beside = f"{daemon.folder}/beside"
    os.link(path, beside)
    begun = time.monotonic()
    os.rename(beside, f"{daemon.folder}/file.txt")
    while control.entries() != count:
        if time.monotonic() > begun + 60:
            sys.exit(f"not loaded in a minute: {control.call('set.show', set='file')}")
        time.sleep(0.02)


class Window:
    """A span of a worker's work: seconds, Mpps by the time it had its CPU, and the share it had."""

    def __init__(self, before, after):
        (begun, frames_before, run_before), (ended, frames_after, run_after) = before, after
        self.seconds = ended - begun
        self.rate = (frames_after - frames_before) / (run_after - run_before) / 1e6
        self.share = (run_after - run_before) / self.seconds


def sample(daemon, control):
    return (*control.frames(), daemon.worker_seconds())


def window(daemon, control, seconds):
    before = sample(daemon, control)
    time.sleep(seconds)
    return Window(before, sample(daemon, control))


def spread(values):
    values = sorted(values)
    quarter = len(values) // 4
    return f"{statistics.median(values):.3f} ({values[quarter]:.2f} to {values[-1 - quarter]:.2f})"


def replacements(daemon, lists, rounds):
    control = daemon.control()
    seconds, ratios, shares, resident = [], [], [], [daemon.resident_mb()]
    for number in range(rounds):
        before, begun = window(daemon, control, 0.5), sample(daemon, control)
        replace(daemon, control, *lists[(number + 1) % 2])
        meanwhile = Window(begun, sample(daemon, control))
        after = window(daemon, control, 0.5)
        undisturbed = (before.rate + after.rate) / 2
        seconds.append(meanwhile.seconds)
        ratios.append(meanwhile.rate / undisturbed)
        shares.append(meanwhile.share)
        resident.append(daemon.resident_mb())
        print(
            f"  {meanwhile.seconds:5.2f} s, {meanwhile.rate:5.2f} of {undisturbed:5.2f} Mpps, "
            f"share {meanwhile.share:.2f}, {resident[-1]:4.0f} MB resident"
        )
    print(
        f"replaced {rounds} times: median {statistics.median(seconds):.2f} s, at most "
        f"{max(seconds):.2f}; rate {spread(ratios)} of the undisturbed, median and quartiles; "
        f"the worker had its CPU {spread(shares)} of the time"
    )
    first, last = resident[2 : 2 + rounds // 2], resident[2 + rounds // 2 :]
    if last:
        print(f"resident: at most {max(first):.0f} MB in the first half, {max(last):.0f} after")


def singles(daemon, adds, while_so=lambda: True):
    """Milliseconds that each add waited."""
    control, waits = daemon.control(), []
    while len(waits) < adds and while_so():
        entry = f"198.18.{len(waits) >> 8 & 255}.{len(waits) & 255}"
        begun = time.perf_counter()
        control.call("set.add", set="hand", entries=[entry])
        waits.append((time.perf_counter() - begun) * 1e3)
    return waits


def percentiles(what, waits):
    waits = sorted(waits)
    p50, p99 = waits[len(waits) // 2], waits[len(waits) * 99 // 100]
    print(
        f"single adds, {what}: {p50:.2f} ms at the median, {p99:.2f} at p99, "
        f"{waits[-1]:.2f} at most, of {len(waits)}"
    )


def adds_while_replaced(daemon, lists):
    control, waits = daemon.control(), []
    now = control.entries()
    for path, count in sorted(lists, key=lambda given: given[1] == now):
        loading = threading.Thread(target=replace, args=(daemon, control, path, count))
        loading.start()
        waits += singles(daemon, 1 << 16, loading.is_alive)
        loading.join()
    return waits


def captures(program, folder, rounds):
    """The worker's rate with and without each kind of capture, at the default rate of samples."""
    write_lists(folder, 100_000)
    os.rename(f"{folder}/list0", f"{folder}/file.txt")
    daemon = Daemon(program, folder, ",hit=0.1")
    control = daemon.control()
    kinds = (
        ("--drops", "block"), ("--drops --set file", "block"), ("--counted", "count"),
        ("--counted --set file", "count"),
    )
    ratios = {kind: [] for kind, _ in kinds}
    for _ in range(rounds):
        for kind, action in kinds:
            control.call("set.action", set="file", action=action)
            without = window(daemon, control, 0.7)
            command = [program, "capture", *kind.split(), "samples.pcapng", "--socket", "ctl.sock"]
            with subprocess.Popen(
                command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            ) as capture:
                time.sleep(0.3)
                ratios[kind].append(window(daemon, control, 0.7).rate / without.rate)
                if capture.poll() is not None:
                    sys.exit(f"capture {kind} ended by itself")
                capture.terminate()
    for kind, values in ratios.items():
        print(f"with capture {kind} the worker's rate is {spread(values)} of that without")
    print(f"(medians and quartiles of {rounds} pairs)")
    daemon.stop()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?", default="target/release/linerate")
    parser.add_argument("--entries", type=int, default=6_000_000)
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("--adds", type=int, default=5000)
    parser.add_argument("--capture", action="store_true")
    return parser.parse_args()


def main():
    given = arguments()
    program = os.path.abspath(given.program)
    with tempfile.TemporaryDirectory() as folder:
        if given.capture:
            captures(program, folder, given.rounds)
            return
        lists = write_lists(folder, given.entries)
        os.link(lists[0][0], f"{folder}/file.txt")
        daemon = Daemon(program, folder)
        replacements(daemon, lists, given.rounds)
        percentiles("nothing else", singles(daemon, given.adds))
        percentiles("while the list is replaced", adds_while_replaced(daemon, lists))
        daemon.stop()


main()
