"""What tshark says of each frame of a capture, and where it and rules.py part ways.

A difference that is not named here is an error of the judge: nothing is decided on a frame that
the two read differently for an unknown reason.
"""

import ipaddress
import subprocess
from typing import NamedTuple, Optional

FIELDS = [
    "frame.number", "frame.time_epoch", "frame.len", "frame.cap_len", "frame.protocols",
    "ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "_ws.malformed", "_ws.short",
    "_ws.expert.severity", "_ws.expert.message", "ip.opt.type",
]
# Each frame by itself: no reassembly, no state from frame to frame.
PREFERENCES = [
    "ip.defragment:FALSE", "ipv6.defragment:FALSE", "tcp.desegment_tcp_streams:FALSE",
    "tcp.analyze_sequence_numbers:FALSE", "ip.check_checksum:FALSE",
]
# A second tag type that equipment uses and tshark has no dissector for by itself.
DECODE_AS = ["ethertype==0x9200,vlan"]
# Below these layers tshark's first IP header is the one that a bridge looks at. IP inside
# anything else (PPPoE, MPLS, a tunnel) is that protocol's payload: the frame is not IP.
LINK_LAYERS = {"eth", "ethertype", "vlan", "ieee8021ad", "llc", "data"}
ERROR = str(0x00800000)


class Seen(NamedTuple):
    """One frame in tshark's eyes."""

    number: int
    time_ns: int
    original_len: int
    captured_len: int
    protocols: str
    family: Optional[int]
    src: Optional[bytes]
    dst: Optional[bytes]
    malformed: bool  # an exception of a dissector, or an expert finding of severity error
    words: str  # tshark's own words on what is wrong
    options: str  # IPv4 options by name


def dissect(path):
    """Every frame of the capture."""
    command = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "separator=/t"]
    command += ["-E", "occurrence=a", "-E", "aggregator=|"]
    for preference in PREFERENCES:
        command += ["-o", preference]
    for rule in DECODE_AS:
        command += ["-d", rule]
    for field in FIELDS:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return [frame(row) for row in rows if row[1]]  # a custom block has a number and no time


def frame(values):
    fields = dict(zip(FIELDS, values + [""] * len(FIELDS)))
    family = outer_family(fields["frame.protocols"])
    src = dst = None
    if family:
        name = "ip" if family == 4 else "ipv6"
        src, dst = (first_address(fields[f"{name}.{side}"]) for side in ("src", "dst"))
    seconds, _, parts = fields["frame.time_epoch"].partition(".")
    severities = fields["_ws.expert.severity"].split("|")
    messages = fields["_ws.expert.message"].split("|")
    errors = [
        message for severity, message in zip(severities, messages)
        if severity == ERROR and "checksum" not in message  # a bridge forwards, it does not verify
    ]
    return Seen(
        int(fields["frame.number"]), int(seconds) * 10**9 + int(parts.ljust(9, "0")[:9]),
        int(fields["frame.len"]), int(fields["frame.cap_len"]), fields["frame.protocols"],
        family, src, dst, bool(fields["_ws.malformed"]) or bool(errors),
        fields["_ws.expert.message"] or fields["_ws.malformed"],
        "Route" if {"131", "137"} & set(fields["ip.opt.type"].split("|")) else "",
    )


def outer_family(protocols):
    for name in protocols.split(":"):
        if name in ("ip", "ipv6"):
            return 4 if name == "ip" else 6
        if name not in LINK_LAYERS:
            return None
    return None


def first_address(text):
    """The outermost header's: tunnels and ICMP errors hold further ones."""
    return ipaddress.ip_address(text.split("|")[0]).packed if text else None


# Where the two part ways, and why rules.py has it as it has. Each is (reason, does it apply).
TAGS = "tshark reads VLAN tags without end; beyond eight the frame is malformed and read no further"
DIFFERENCES = {
    "family": [
        (TAGS, lambda f, s: f.fault == "more than eight VLAN tags"),
        ("tshark shows a wrong version as data; the ether type said IPv6",
         lambda f, s: f.family == 6 and f.src is None),
        ("tshark shows a type with nothing behind it as no layer",
         lambda f, s: f.fault in ("IPv4 header cut", "IPv6 header cut")),
        ("tshark shows an 802.3 length behind an 802.1ad tag as data; LLC follows it",
         lambda f, s: "ieee8021ad" in s.protocols and s.protocols.endswith("data")),
        ("the capture ends with the type", lambda f, s: f.fault is None and f.src is None),
    ],
    "address": [
        (TAGS, lambda f, s: f.fault == "more than eight VLAN tags"),
        ("tshark stops at a bogus header length; the addresses are there and count",
         lambda f, s: f.fault == "IPv4 header length" and s.src is None),
        ("tshark reads the options, and stops where they are cut, before the destination",
         lambda f, s: f.family == 4 and s.dst is None and s.src in (None, f.src)),
        ("tshark stops where the 802.3 length cuts an IPv6 header; the addresses are there",
         lambda f, s: f.fault == "IPv6 header cut" and s.src is None),
        ("tshark shows the last hop of a source route; the header's destination counts",
         lambda f, s: f.family == 4 and f.src == s.src and f.dst and "Route" in s.options),
    ],
    "malformed": [  # rules.py says malformed, tshark does not
        (TAGS, lambda f, s: f.fault == "more than eight VLAN tags"),
        ("tshark does not hold fragments against each other or the greatest packet",
         lambda f, s: "ragment" in f.fault),
        ("tshark does not dissect the transport header of a fragment or of nothing",
         lambda f, s: f.fault == "transport header cut"),
        ("tshark only warns", lambda f, s: f.fault == "IPv4 option" and "option" in s.words),
        ("tshark only warns",
         lambda f, s: f.family == 6 and "exceeds framing length" in s.words),
        ("tshark only warns",
         lambda f, s: f.fault == "IPv6 jumbogram" and "Jumbo Payload" in s.words),
        ("tshark walks extension headers without end and in any order",
         lambda f, s: f.fault in (
             "more than eight IPv6 extension headers", "IPv6 hop-by-hop header not first")),
        ("tshark takes a total length of 0 for segmentation offload",
         lambda f, s: f.fault == "IPv4 total length below the header"),
        ("tshark shows a wrong version as data", lambda f, s: f.fault == "IPv6 version"),
        ("tshark only warns", lambda f, s: f.fault == "UDP length" and "Length is zero" in s.words),
        ("tshark does not know the shortest header of a protocol it shows bare",
         lambda f, s: f.fault == "transport header cut" and s.protocols.endswith("dccp")),
    ],
    "sound": [  # tshark says malformed, rules.py does not
        ("tshark reads nothing behind an IPv6 payload length of 0, which it warns may be offload",
         lambda f, s: "IPv6 payload length equals 0" in s.words),
        ("tshark reads the message behind the ICMPv6 header",
         lambda f, s: s.protocols.endswith("icmpv6")),
        ("tshark reads spanning tree and other payloads of LLC: not IP",
         lambda f, s: f.family is None and "llc" in s.protocols),
        ("tshark wants a whole ARP message; it is not IP, however short",
         lambda f, s: f.family is None and s.protocols.endswith(":arp")),
        ("tshark wants something behind a hop-by-hop header that says nothing follows",
         lambda f, s: s.protocols.endswith("ipv6.hopopts")),
        ("tshark objects to a deprecated routing header type; a bridge forwards it",
         lambda f, s: "Routing header type is deprecated" in s.words),
    ],
}


def disagreements(facts, seen):
    """What the two see differently: (subject, reason) each, the reason None when none is known."""
    subjects = []
    if facts.family != seen.family:
        subjects.append("family")
    if facts.family == seen.family and (facts.src, facts.dst) != (seen.src, seen.dst):
        subjects.append("address")
    if bool(facts.fault) != seen.malformed:
        subjects.append("malformed" if facts.fault else "sound")
    for subject in subjects:
        reasons = (why for why, applies in DIFFERENCES[subject] if applies(facts, seen))
        yield subject, next(reasons, None)
