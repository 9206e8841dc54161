#!/usr/bin/env python3
"""Holds `linerate switch` against Open vSwitch's user-space datapath: the same frames into both.

ovs.py LINERATE KIND PORTS WORKERS SEED; KIND is `customer` or `provider` and chooses the ports.
Needs root and Open vSwitch. Its daemons run in a namespace, with a folder of their own.

What Open vSwitch does otherwise is known. Two differences are allowed for (`same`):
- It loses the DEI bit wherever it changes a tag; linerate keeps it.
- Behind the tag of an access port's VLAN it wants no other: frames to all leave by none of those
  ports, and frames to known stations lose both tags. For linerate, as in IEEE 802.1Q, what is
  behind the outer tag is data.
Four keep frames out (`frame_of`), which the model over captures holds linerate to:
- It takes tags of types 0x8100 and 0x88a8 for VLANs at every port; at ours each has one type.
- It knows two tags of a frame, so that a tunnel port loses a customer's second one.
- It learns nothing from frames to reserved addresses (LLDP), from which linerate and the kernel
  learn; so they are of stations that no other frame is for.
- Of a tag with a priority alone it loses what is behind, and loses the tag behind another one.
"""

import contextlib
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

from beside import (
    FRAMES,
    Side,
    await_running,
    enter,
    hold_all,
    linerate,
    missing,
    namespaces,
    numbered,
)

GROUPS = ["ffffffffffff", "01005e000001", "0180c2000000", "0180c200000e"]
# What a port is: columns of Open vSwitch, then VLANs and other options of linerate for port N.
CUSTOMER = {
    "access 10": ("tag=10", {"10": "N"}, ["--pvid N=10", "--accept N=untagged"]),
    "access 20": ("tag=20", {"20": "N"}, ["--pvid N=20", "--accept N=untagged"]),
    "trunk": ("trunks=10,20,30", {"10": "Nt", "20": "Nt", "30": "Nt"}, ["--accept N=tagged"]),
    "native untagged": (
        "vlan_mode=native-untagged tag=10 trunks=20",
        {"10": "N", "20": "Nt"},
        ["--pvid N=10"],
    ),
    "native tagged": (
        "vlan_mode=native-tagged tag=10 trunks=20,30",
        {"10": "Nt", "20": "Nt", "30": "Nt"},
        ["--pvid N=10"],
    ),
    "tunnel": (
        "vlan_mode=dot1q-tunnel tag=30 other_config:qinq-ethtype=802.1q",
        {"30": "N"},
        ["--pvid N=30", "--tunnel N"],
    ),
}
# A bridge of IEEE 802.1ad: its own tags have the type 0x88a8, customers' have 0x8100.
PROVIDER = {
    "tunnel 30": ("vlan_mode=dot1q-tunnel tag=30", {"30": "N"}, ["--pvid N=30", "--tunnel N"]),
    "tunnel 40": ("vlan_mode=dot1q-tunnel tag=40", {"40": "N"}, ["--pvid N=40", "--tunnel N"]),
    "trunk": (
        "trunks=30,40",
        {"30": "Nt", "40": "Nt"},
        ["--accept N=tagged", "--tpid N=88a8"],
    ),
}
# Roles, those of the first two ports, and the type of tags that name a VLAN. By the first two a
# broadcast shows that both switches run.
KINDS = {
    "customer": (CUSTOMER, ["access 10", "native untagged"], 0x8100),
    "provider": (PROVIDER, ["tunnel 30", "tunnel 30", "trunk", "trunk"], 0x88A8),
}


class Vswitch:
    """The daemons of Open vSwitch, ended by their process numbers."""

    def __init__(self, namespace, folder):
        self.enter = ["ip", "netns", "exec", namespace]
        self.folder = folder
        keys = ("OVS_RUNDIR", "OVS_DBDIR", "OVS_LOGDIR")
        self.environment = {**os.environ, **dict.fromkeys(keys, str(folder))}
        self.database = f"unix:{folder}/db.sock"
        self.daemons = []

    def run(self, *words):
        words = [*self.enter, *words]
        ran = subprocess.run(words, env=self.environment, capture_output=True, text=True)
        if ran.returncode != 0:
            sys.exit(f"{' '.join(words)}: {ran.stderr}")

    def start(self, *words):
        with open(self.folder / "said", "ab") as said:
            daemon = subprocess.Popen(
                [*self.enter, *words], env=self.environment, stdout=said, stderr=said
            )
        self.daemons.append(daemon)

    def begin(self):
        self.run("ovsdb-tool", "create", f"{self.folder}/conf.db")
        listen = f"--remote=p{self.database}"
        self.start("ovsdb-server", "--no-chdir", listen, f"{self.folder}/conf.db")
        self.set("--retry", "--no-wait", "init")
        pid = f"--pidfile={self.folder}/vswitchd.pid"
        self.start("ovs-vswitchd", "--no-chdir", pid, self.database)
        # Both tags of a customer's frame are looked at.
        self.set("set", "Open_vSwitch", ".", "other_config:vlan-limit=2")
        self.set("add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev")

    def set(self, *words):
        self.run("ovs-vsctl", "--timeout=15", f"--db={self.database}", *words)

    def forget_flows(self):
        """What was decided for one frame is not repeated for the next: it is decided anew."""
        pid = (self.folder / "vswitchd.pid").read_text().strip()
        control = f"{self.folder}/ovs-vswitchd.{pid}.ctl"
        self.run("ovs-appctl", "-t", control, "revalidator/purge")

    def end(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(timeout=10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


@contextlib.contextmanager
def vswitch(namespace):
    with tempfile.TemporaryDirectory() as folder:
        one = Vswitch(namespace, pathlib.Path(folder))
        try:
            one.begin()
            yield one
        finally:
            one.end()


def options_of(settings):
    """What makes a switch of linerate with these ports, each a value of a table of roles."""
    options, vlans = ["--vlan-mode", "dot1q"], {}
    for number, (_, members, others) in enumerate(settings, 1):
        for vlan, member in members.items():
            vlans.setdefault(vlan, []).append(member.replace("N", str(number)))
        for other in others:
            option, value = other.split()
            options += [option, value.replace("N", str(number), 1)]
    for vlan, members in vlans.items():
        options += ["--vlan", f"{vlan}={','.join(members)}"]
    return options


def tag(random_, tpid, vlans):
    """A tag, of some priority and DEI."""
    bits = random_.choice([0, 0, 0, 5, 7]) << 13 | random_.choice([0, 0, 0x1000])
    return tpid.to_bytes(2, "big") + (bits | random_.choice(vlans)).to_bytes(2, "big")


def tags_of(random_, role, tpid):
    """What both switches understand alike: see above."""
    customers = tag(random_, 0x8100, [10, 20, 30, 77])
    if role.startswith("tunnel"):
        return random_.choice([b"", customers, customers])
    own = tag(random_, tpid, [10, 20, 30, 40, 77])
    # An access port drops whatever has a tag but one with a priority alone.
    priority = tag(random_, tpid, [0])
    return random_.choice([b"", priority, own, own, own + customers, own + customers])


def frame_of(random_, number, role, tpid):
    def station():
        return bytes([2, 0, 0, 0, 0, random_.randint(1, 6)])

    to_group = random_.random() < 0.25
    destination = bytes.fromhex(random_.choice(GROUPS)) if to_group else station()
    source = station()
    if destination[:5] == b"\x01\x80\xc2\x00\x00":
        source = b"\x02\x00\x00\x00\x02" + source[5:]
    frame = destination + source + tags_of(random_, role, tpid) + numbered(number)
    return frame.ljust(random_.choice([64, 200, 1400]), b".")


def tags_at(frame):
    """Where the tags of a frame stand."""
    at = 12
    while frame[at : at + 2] in (b"\x81\x00", b"\x88\xa8"):
        yield at
        at += 4


def without_dei(frame):
    changed = bytearray(frame)
    for at in tags_at(frame):
        changed[at + 2] &= 0xEF
    return bytes(changed)


def is_same(theirs, ours):
    """Whether a frame is ours, but for bits of DEI that it has lost."""
    return without_dei(theirs) == without_dei(ours) and all(
        one & ~other == 0 for one, other in zip(theirs, ours)
    )


def same_but_for(access):
    """Whether Open vSwitch did as linerate, where `access` are access ports."""

    def same(other, ours):
        unjudged = {port for port, frame in ours if port in access and any(tags_at(frame))}
        left = Counter({seen: count for seen, count in other.items() if seen[0] not in unjudged})
        for (port, frame), count in ours.items():
            if port not in unjudged:
                found = (seen for seen in other if seen[0] == port and is_same(seen[1], frame))
                left[next(found, None)] -= count
        return not any(left.values())

    return same


def frames_of(random_, roles, tpid, other):
    for number in range(FRAMES):
        port = random_.randrange(len(roles))
        other.forget_flows()
        yield port, frame_of(random_, number, roles[port], tpid)


def judge(program, kind, ports, workers, seed):
    random_ = random.Random(seed)
    label = f"lswc{os.getpid()}"
    hosts, theirs, mine = f"{label}h", f"{label}o", f"{label}l"
    table, roles, tpid = KINDS[kind]
    roles = roles + random_.sample(list(table), min(ports - len(roles), len(table)))
    settings = [table[role] for role in roles]
    access = [port for port, role in enumerate(roles) if role.startswith("access")]
    with namespaces([hosts, theirs, mine]):
        enter(hosts)
        others = Side(hosts, theirs, "o", len(roles))
        ours = Side(hosts, mine, "l", len(roles))
        with vswitch(theirs) as other:
            for name, (columns, *_) in zip(others.names, settings):
                other.set("add-port", "br0", name, "--", "set", "port", name, *columns.split())
            with linerate(program, mine, "packet", ours.names, workers, options_of(settings)):
                await_running([others, ours])
                frames = frames_of(random_, roles, tpid, other)
                outs = hold_all([others, ours], frames, same_but_for(access))
    print(f"{FRAMES} frames, {outs} out, {workers} workers; {', '.join(roles)}: agree")


def main():
    why = missing()
    if not why and not shutil.which("ovs-vswitchd", path=f"{os.environ['PATH']}:/usr/sbin"):
        why = "no Open vSwitch here (apt-get install openvswitch-switch)"
    if why:
        print(f"skipped: {why}")
        return
    program = str(pathlib.Path(sys.argv[1]).resolve())
    judge(program, sys.argv[2], *map(int, sys.argv[3:6]))


if __name__ == "__main__":
    main()
