"""Packets for a router, odd ones above all: of each kind that the RFCs speak of one or more.

Every packet carries its number in its payload, again and again, so that pieces of it and messages
that quote it are known.
"""

import dataclasses
import ipaddress
import struct

ICMP, TCP, UDP, ICMPV6 = 1, 6, 17, 58
DF, MF = 0x4000, 0x2000
VLAN = 0x8100


def mac(port, host):
    """The Ethernet address of a host behind a port; that of host 1 is the router's."""
    return bytes([2, 0, 0, 0, port, host])


def ones_sum(data, start=0):
    """The checksum of RFC 1071; 0 over data that holds a right one."""
    data = bytes(data) + b"\0" * (len(data) % 2)
    total = start + sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def packed(address):
    return ipaddress.ip_address(address).packed


def pseudo(src, dst, protocol, length):
    """What the addresses add to the checksum of a transport."""
    return 0xFFFF ^ ones_sum(packed(src) + packed(dst) + struct.pack("!II", length, protocol))


def number_in(payload):
    """The number that a payload names, as identification."""
    return int(payload.split(b"frame ")[1][:6]) if b"frame " in payload else 0


def ipv4(src, dst, payload, protocol=UDP, **fields):
    """A packet; `fields` are ttl, tos, flags (with the offset), options, identification, and what
    may be wrong: version, ihl, length, checksum."""
    options = fields.get("options", b"")
    ihl = fields.get("ihl", 5 + len(options) // 4)
    length = fields.get("length", 20 + len(options) + len(payload))
    first = fields.get("version", 4) << 4 | ihl
    start = struct.pack(
        "!BBHHHBB",
        first,
        fields.get("tos", 0),
        length,
        fields.get("identification", number_in(payload)),
        fields.get("flags", 0),
        fields.get("ttl", 64),
        protocol,
    )
    addresses = packed(src) + packed(dst) + options
    checksum = fields.get("checksum", ones_sum(start + b"\0\0" + addresses))
    return start + struct.pack("!H", checksum) + addresses + payload


def ipv6(src, dst, payload, next_header=UDP, **fields):
    """A packet; `fields` are hops, traffic, length, version."""
    first = fields.get("version", 6) << 28 | fields.get("traffic", 0) << 20 | 0x12345
    length = fields.get("length", len(payload))
    start = struct.pack("!IHBB", first, length, next_header, fields.get("hops", 64))
    return start + packed(src) + packed(dst) + payload


def udp(src, dst, payload, port=9, **wrong):
    length = wrong.get("length", 8 + len(payload))
    header = struct.pack("!HHH", 1024, port, length)
    right = ones_sum(header + b"\0\0" + payload, pseudo(src, dst, UDP, length)) or 0xFFFF
    return header + struct.pack("!H", wrong.get("checksum", right)) + payload


def icmp(kind, code, rest, payload, addresses=None):
    """A message; `addresses` are source and destination where it is one of IPv6."""
    start = 0 if addresses is None else pseudo(*addresses, ICMPV6, 8 + len(payload))
    body = struct.pack("!I", rest) + payload
    checksum = ones_sum(struct.pack("!BBH", kind, code, 0) + body, start)
    return struct.pack("!BBH", kind, code, checksum) + body


@dataclasses.dataclass
class Sent:
    """A frame that goes into a router, and what kind of packet it holds."""

    kind: str
    port: int
    frame: bytes


def ethernet(packet, port=0, to=None, ether_type=None):
    ether_type = ether_type or (0x86DD if packet[0] >> 4 == 6 else 0x0800)
    return (to or mac(port, 1)) + mac(port, 2) + struct.pack("!H", ether_type) + packet
