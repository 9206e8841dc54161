#!/usr/bin/env python3
"""A naive switch over captures, written from IEEE 802.1Q and the rules of docs/switch.md.

It shares no code with linerate. Frames of all ports are decided in the order of their times, equal
ones in the order of ports; what it returns is the exact list of frames that leave each port.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

RESERVED = bytes.fromhex("0180c20000")
SECOND = 10**9


class Arrival(NamedTuple):
    """A frame that comes in."""

    time_ns: int
    port: int
    frame: bytes


@dataclass
class Port:
    """What is set for a port."""

    pvid: int | None = None
    priority: int = 0
    accept: str = "all"
    filter: bool = True
    tpid: int = 0x8100
    tunnel: bool = False
    isolated: bool = False
    hairpin: bool = False


@dataclass
class Settings:
    """What is set for a switch."""

    ports: list
    mode: str = "default"
    vlans: dict = field(default_factory=dict)  # number -> {port: whether it is a tagged member}
    groups: list = field(default_factory=list)
    statics: dict = field(default_factory=dict)  # (VLAN, address) -> port
    age_s: int = 300
    forward_reserved: bool = False


class Dropped(Exception):
    """The frame leaves by no port."""


class Switch:
    """A switch and what it has learned."""

    def __init__(self, settings):
        self.settings = settings
        self.stations = {}  # (VLAN, address) -> (port, time of the last frame)

    def run(self, arrivals):
        """The frames that leave, a list of (time, frame) for each port."""
        leaving = [[] for _ in self.settings.ports]
        for arrival in sorted(arrivals, key=lambda one: (one.time_ns, one.port)):
            try:
                for port, frame in self.forward(arrival):
                    leaving[port].append((arrival.time_ns, frame))
            except Dropped:
                pass
        return leaving

    def forward(self, arrival):
        """Each port that the frame leaves by, and its bytes there."""
        time_ns, came_by, frame = arrival
        if len(frame) < 14:
            raise Dropped("cut")
        destination, source = frame[:6], frame[6:12]
        if source[0] & 1 or source == bytes(6):
            raise Dropped("source")
        vlan, tag = 0, None
        if self.settings.mode == "dot1q":
            tag = self.tag(came_by, frame)
            vlan = self.vlan(came_by, tag)
        self.learn(vlan, source, came_by, time_ns)
        reserved = destination[:5] == RESERVED and destination[5] < 16
        if reserved and not self.settings.forward_reserved:
            raise Dropped("reserved")
        for port in self.leaves_by(vlan, destination, came_by, time_ns):
            yield port, self.rewritten(frame, came_by, port, vlan, tag)

    def tag(self, came_by, frame):
        """The tag that the port knows, as a number of 16 bits."""
        port = self.settings.ports[came_by]
        if port.tunnel or frame[12:14] != port.tpid.to_bytes(2, "big"):
            return None
        if len(frame) < 18:
            raise Dropped("cut")
        return int.from_bytes(frame[14:16], "big")

    def vlan(self, came_by, tag):
        """The VLAN of the frame, if the port takes it."""
        port = self.settings.ports[came_by]
        vlan = 0 if tag is None else tag % 4096
        if vlan == 4095:
            raise Dropped("4095")
        if port.accept == ("tagged" if vlan == 0 else "untagged"):
            raise Dropped("frame type")
        vlan = vlan or port.pvid
        if vlan not in self.settings.vlans:
            raise Dropped("no such VLAN")
        if port.filter and came_by not in self.settings.vlans[vlan]:
            raise Dropped("no member")
        return vlan

    def learn(self, vlan, source, came_by, time_ns):
        if (vlan, source) not in self.settings.statics:
            self.stations[vlan, source] = (came_by, time_ns)

    def find(self, vlan, address, time_ns):
        """The port of a station; None for one that is not known, or not any more."""
        if (vlan, address) in self.settings.statics:
            return self.settings.statics[vlan, address]
        port, seen_ns = self.stations.get((vlan, address), (None, 0))
        return port if time_ns - seen_ns <= self.settings.age_s * SECOND else None

    def leaves_by(self, vlan, destination, came_by, time_ns):
        allowed = [to for to in range(len(self.settings.ports)) if self.may(vlan, came_by, to)]
        to = None if destination[0] & 1 else self.find(vlan, destination, time_ns)
        return allowed if to is None else [port for port in allowed if port == to]

    def may(self, vlan, came_by, to):
        """Whether frames of the VLAN may go from one port to another."""
        one, other = self.settings.ports[came_by], self.settings.ports[to]
        if came_by == to:
            together = one.hairpin
        else:
            together = not (one.isolated and other.isolated)
            if self.settings.mode == "port":
                groups = self.settings.groups
                together &= any(came_by in group and to in group for group in groups)
        member = self.settings.mode != "dot1q" or to in self.settings.vlans[vlan]
        return together and member

    def rewritten(self, frame, came_by, to, vlan, tag):
        """The frame as it leaves a port."""
        if self.settings.mode != "dot1q":
            return frame
        rest = frame[12:] if tag is None else frame[16:]
        if self.settings.vlans[vlan][to]:
            priority = self.settings.ports[came_by].priority << 13 if tag is None else tag & 0xF000
            numbers = (self.settings.ports[to].tpid, priority | vlan)
            rest = b"".join(number.to_bytes(2, "big") for number in numbers) + rest
        return frame[:12] + rest
