"""What the judge itself decides about a frame, in as few lines as it takes.

tshark tells the family and the addresses wherever it dissects that far (wireshark.py compares).
Stated here is what tshark has no single field for: which frames are *malformed*, and which
addresses stand in a frame whose header lies (there tshark stops before it shows them).

Malformed means that the captured bytes, held against the original length of the frame, contradict
themselves. What the capture cut off is unknown, not malformed. Checksums are not looked at.
"""

import struct
from typing import NamedTuple, Optional

TAGS = {0x8100, 0x88A8, 0x9100, 0x9200}
TAGS_MAX = 8
EXTENSIONS = {0, 43, 44, 51, 60, 135, 139, 140}
EXTENSIONS_MAX = 8
TCP, UDP = 6, 17
SHORTEST = {1: 8, TCP: 20, UDP: 8, 33: 12, 58: 8, 132: 12, 136: 8}


class Facts(NamedTuple):
    """A frame as the judge sees it."""

    family: Optional[int]  # 4, 6 or None
    src: Optional[bytes]
    dst: Optional[bytes]
    fault: Optional[str]


class Cut(Exception):
    """The capture ends here: nothing more is known."""


class Fault(Exception):
    """The frame contradicts itself."""


class Reader:
    """Captured bytes and the offset where the layer being read ends by its own account."""

    def __init__(self, captured, original_len):
        self.captured, self.end = captured, max(original_len, len(captured))
        self.family = self.src = self.dst = None

    def need(self, at, count, what):
        if at + count > self.end:
            raise Fault(what)

    def take(self, at, count):
        if at + count > len(self.captured):
            raise Cut
        return self.captured[at : at + count]

    def u8(self, at):
        return self.take(at, 1)[0]

    def u16(self, at):
        return struct.unpack(">H", self.take(at, 2))[0]


def read(captured, original_len):
    """The facts of one frame."""
    reader, fault = Reader(captured, original_len), None
    try:
        ethernet(reader)
    except Fault as found:
        fault = str(found)
    except Cut:
        pass
    return Facts(reader.family, reader.src, reader.dst, fault)


def tags(r, at, count):
    """The first type that is no tag, where its payload starts, and the tags so far."""
    while True:
        kind, at = r.u16(at), at + 2
        if kind not in TAGS:
            return kind, at, count
        if count == TAGS_MAX:
            raise Fault("more than eight VLAN tags")
        r.need(at, 4, "VLAN tag cut")
        at, count = at + 2, count + 1


def ethernet(r):
    r.need(0, 14, "Ethernet header cut")
    kind, at, count = tags(r, 12, 0)
    if kind < 0x600:
        return llc(r, at, kind, count)
    if kind == 0x8870:
        return llc(r, at, r.end - at, count)
    return network(r, kind, at)


def llc(r, at, length, count):
    start = at
    r.need(at, 3, "LLC header cut")
    dsap, ssap, control = r.take(at, 3)
    if (dsap, ssap, control) == (0xAA, 0xAA, 3):
        r.need(at + 3, 5, "SNAP header cut")
        if r.take(at + 3, 3) not in (b"\x00\x00\x00", b"\x00\x00\xf8"):
            return None
        kind, at, count = tags(r, at + 6, count)
    elif dsap == 6 and (control == 3 or control & 1 == 0):  # IP by SAP, as tshark reads it
        at += 3 if control == 3 else 4
        r.need(start, at - start, "LLC header cut")
        kind = 0x86DD if at < len(r.captured) and r.captured[at] >> 4 == 6 else 0x0800
    else:
        return None
    if kind not in (0x0800, 0x86DD):
        return network(r, kind, at)
    # The 802.3 length is believed where IP follows; addresses are read before it is judged.
    lies = start + length > r.end
    r.end = r.end if lies else start + length
    try:
        return network(r, kind, at)
    finally:
        if lies:
            raise Fault("802.3 length beyond the frame")


def network(r, kind, at):
    # ARP is not IP, however short its message is.
    if kind == 0x0800:
        return ipv4(r, at)
    return ipv6(r, at) if kind == 0x86DD else None


def addresses(r, at, family, offset, size):
    """Read before anything is judged, wherever their bytes are captured and the version agrees."""
    r.family = family
    if at < len(r.captured) and r.captured[at] >> 4 == family:
        first, second = at + offset, at + offset + size
        r.src = r.captured[first:second] if second <= len(r.captured) else None
        r.dst = r.captured[second : second + size] if second + size <= len(r.captured) else None


def ipv4(r, at):
    addresses(r, at, 4, 12, 4)
    r.need(at, 20, "IPv4 header cut")
    version, header = r.u8(at) >> 4, (r.u8(at) & 15) * 4
    if version != 4:
        raise Fault("IPv4 version")
    if header < 20:
        raise Fault("IPv4 header length")
    total = r.u16(at + 2)
    if total == 0 and not r.u16(at + 6) & 0x3FFF and r.end - at > header:
        total = r.end - at  # as a host shows what its card is to segment
    if total < header:
        raise Fault("IPv4 total length below the header")
    r.need(at, total, "IPv4 total length beyond the frame")
    word = r.u16(at + 6)
    offset, more = (word & 0x1FFF) * 8, bool(word & 0x2000)
    if (offset or more) and offset + total > 65535:
        raise Fault("fragment beyond 65,535")
    protocol = r.u8(at + 9)
    ipv4_options(r, at + 20, at + header)
    r.end = at + total
    transport(r, at + header, protocol, offset, more)


def ipv4_options(r, at, end):
    while at < end:
        kind = r.u8(at)
        if kind == 0:
            return
        if kind == 1:
            at += 1
            continue
        if at + 1 == end:
            raise Fault("IPv4 option")
        length = r.u8(at + 1)
        if length < 2 or at + length > end:
            raise Fault("IPv4 option")
        at += length


def ipv6(r, at):
    addresses(r, at, 6, 8, 16)
    r.need(at, 40, "IPv6 header cut")
    if r.u8(at) >> 4 != 6:
        raise Fault("IPv6 version")
    payload, kind = r.u16(at + 4), r.u8(at + 6)
    r.need(at, 40 + payload, "IPv6 payload length beyond the frame")
    at += 40
    if kind == 0:
        frame_end, r.end = r.end, at + payload if payload else r.end
        jumbo = hop_by_hop(r, at)
        if jumbo is not None and (payload or jumbo < 65536 or at + jumbo > frame_end):
            raise Fault("IPv6 jumbogram")
        payload = jumbo or payload
    elif payload == 0 and kind != 59:
        payload = r.end - at  # as a host shows what its card is to segment
    r.end = at + payload
    extensions(r, at, kind)


def hop_by_hop(r, at):
    """The jumbo payload length, if an option holds it; options must stay in their header."""
    r.need(at, 8, "IPv6 extension cut")
    end = at + (r.u8(at + 1) + 1) * 8
    r.need(at, end - at, "IPv6 extension cut")
    at += 2
    while at < end:
        if r.u8(at) == 0:
            at += 1
            continue
        if at + 2 > end or at + 2 + r.u8(at + 1) > end:
            raise Fault("IPv6 option")
        if r.u8(at) == 0xC2:
            if r.u8(at + 1) != 4:
                raise Fault("IPv6 jumbogram")
            return struct.unpack(">I", r.take(at + 2, 4))[0]
        at += 2 + r.u8(at + 1)
    return None


def extensions(r, at, kind):
    offset, more = 0, False
    for depth in range(EXTENSIONS_MAX + 1):
        if offset or kind not in EXTENSIONS:
            return transport(r, at, kind, offset, more)
        if depth == EXTENSIONS_MAX:
            raise Fault("more than eight IPv6 extension headers")
        if kind == 0 and depth:
            raise Fault("IPv6 hop-by-hop header not first")
        r.need(at, 8, "IPv6 extension cut")
        following, length = r.take(at, 2)
        if kind == 44:
            size, word = 8, r.u16(at + 2)
            offset, more = word & 0xFFF8, bool(word & 1) or more
            left = r.end - at - 8
            if word & 1 and left % 8:
                raise Fault("IPv6 fragment not a multiple of 8")
            if offset + left > 65535:
                raise Fault("fragment beyond 65,535")
        else:
            size = (length + 2) * 4 if kind == 51 else (length + 1) * 8
        r.need(at, size, "IPv6 extension cut")
        at, kind = at + size, following


def transport(r, at, protocol, offset, more):
    shortest = SHORTEST.get(protocol, 0)
    if offset:  # a later fragment: only its place can be wrong
        if offset < shortest:
            raise Fault("fragment overlaps the transport header")
        return
    r.need(at, shortest, "transport header cut")
    if protocol == TCP:
        header = (r.u8(at + 12) >> 4) * 4
        if header < 20:
            raise Fault("TCP data offset")
        r.need(at, header, "TCP data offset")
    if protocol == UDP:
        length = r.u16(at + 4)
        if length < 8 and not (length == 0 and r.end - at > 65535):
            raise Fault("UDP length")
        if not more:
            r.need(at, length, "UDP length beyond the packet")
