"""Frames by kind, byte by byte: every branch of a parser, honest and lying."""

import ipaddress
import struct
from typing import Callable, NamedTuple, Optional

MAC = bytes.fromhex("020000000001020000000002")
IPV4, ARP, IPV6 = 0x0800, 0x0806, 0x86DD
ICMP, TCP, UDP, ICMPV6, NONE = 1, 6, 17, 58, 59
HOP, ROUTING, FRAGMENT, AUTH, DEST = 0, 43, 44, 51, 60

# What lists/blocked.txt and lists/allowed.txt hold, at its edges, and their neighbours outside.
LISTED = {
    4: "198.18.0.1 198.18.7.255 192.0.2.0 192.0.2.63 192.0.2.64 192.0.2.127 198.51.100.10 "
    "198.51.100.15 198.51.100.20 203.0.113.255",
    6: "2001:db8:bad:: 2001:db8:bad:9:: 2001:db8:bad:a::1 2001:db8:bad:ffff::1 2001:db8::bad "
    "2001:db8:1::10 2001:db8:1::12 2001:db8:1::20",
}
UNLISTED = {
    4: "198.18.0.0 198.18.0.2 192.0.1.255 192.0.2.128 198.51.100.9 198.51.100.21 203.0.113.7 "
    "10.1.2.3 255.255.255.255",
    6: "2001:db8:bac:ffff::1 2001:db8:bae:: 2001:db8::bae 2001:db8:1::f 2001:db8:1::21 "
    "2001:db8:2::5 fe80::1",
}


class Pool:
    """Addresses of one family, listed and not, each in turn."""

    def __init__(self, family):
        self.lists = {
            side: [ipaddress.ip_address(text).packed for text in texts[family].split()]
            for side, texts in ((True, LISTED), (False, UNLISTED))
        }
        self.turn = 0

    def next(self, listed):
        self.turn += 1
        return self.lists[listed][self.turn * 7 % len(self.lists[listed])]


class Kind(NamedTuple):
    """A way to make a frame from two addresses; `family` is None when it has none."""

    family: Optional[int]
    make: Callable


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2 + len(data) % 2}H", data + bytes(len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF - total


# ---- link layer

def ethernet(kind, payload, tags=()):
    head = MAC + b"".join(struct.pack(">HH", tpid, tci) for tpid, tci in tags)
    return head + struct.pack(">H", kind) + payload


def snap(kind, payload, oui=b"\0\0\0", length=None, pad=0):
    body = b"\xaa\xaa\x03" + oui + struct.pack(">H", kind) + payload
    return MAC + struct.pack(">H", len(body) if length is None else length) + body + bytes(pad)


def llc(head, payload):
    return MAC + struct.pack(">H", len(head) + len(payload)) + head + payload


def arp(operation=1):
    fixed = struct.pack(">HHBBH", 1, IPV4, 6, 4, operation)
    return fixed + MAC[6:] + b"\xc6\x12\0\1" + bytes(6) + b"\xc0\0\2\1"


# ---- network layer; a number given replaces the true one

def ip4(src, dst, protocol, payload, options=b"", word=0, ihl=None, total=None, version=4):
    words = 5 + len(options) // 4
    length = words * 4 + len(payload) if total is None else total
    first = version << 4 | (words if ihl is None else ihl)
    head = struct.pack(">BBHHHBBH", first, 0, length, 0x1234, word, 64, protocol, 0)
    head += src + dst + options
    return head[:10] + struct.pack(">H", checksum(head)) + head[12:] + payload


def ip6(src, dst, protocol, payload, length=None, version=6):
    length = len(payload) if length is None else length
    return struct.pack(">IHBB", version << 28, length, protocol, 64) + src + dst + payload


def extension(following, payload, body=bytes(6), units=None):
    """An IPv6 extension header: hop-by-hop, destination options, routing and the like."""
    units = (len(body) + 2) // 8 - 1 if units is None else units
    return bytes([following, units]) + body + payload


def pad_options(count):
    return bytes([1, count - 2]) + bytes(count - 2)


def fragment6(following, offset, more, payload):
    return struct.pack(">BBHI", following, 0, offset * 8 | more, 0xABCD) + payload


def authentication(following, payload):
    return struct.pack(">BBHII", following, 4, 0, 1, 1) + bytes(12) + payload


# ---- transport

def udp(payload=b"data", length=None):
    length = 8 + len(payload) if length is None else length
    return struct.pack(">HHHH", 40000, 40001, length, 0) + payload


def tcp(payload=b"", offset=5, options=b""):
    offset = offset << 12 | 0x18
    return struct.pack(">HHIIHHHH", 40000, 40001, 7, 9, offset, 1024, 0, 0) + options + payload


def icmp(kind=8):
    return struct.pack(">BBHHH", kind, 0, 0, 1, 1) + b"ping"


def icmp_error(src, dst):
    return struct.pack(">BBHI", 3, 1, 0, 0) + ip4(dst, src, UDP, udp())


# ---- kinds

def v4(*arguments, **named):
    """Ethernet and IPv4."""
    return Kind(4, lambda src, dst: ethernet(IPV4, ip4(src, dst, *arguments, **named)))


def v6(*arguments, **named):
    """Ethernet and IPv6."""
    return Kind(6, lambda src, dst: ethernet(IPV6, ip6(src, dst, *arguments, **named)))


def plain(content):
    return Kind(None, lambda src, dst: content)


def carried(wrap):
    """The same link layer around IPv4 and IPv6."""
    return [
        Kind(4, lambda src, dst: wrap(IPV4, ip4(src, dst, UDP, udp()))),
        Kind(6, lambda src, dst: wrap(IPV6, ip6(src, dst, TCP, tcp()))),
    ]


def tagged(*tpids):
    tags = [(tpid, 0x2000 | 10 + index) for index, tpid in enumerate(tpids)]
    return lambda kind, payload: ethernet(kind, payload, tags)


def tagged_snap(*tpids):
    """Tags in front of an 802.3 length, LLC and SNAP."""
    return lambda kind, payload: tagged(*tpids)(8 + len(payload), snap(kind, payload)[14:])


def link_kinds():
    kinds = carried(ethernet)
    for depth in range(1, 10):  # nine tags are one too many
        kinds += carried(tagged(*[0x8100] * depth))
    for stack in ([0x88A8], [0x88A8, 0x8100], [0x9100, 0x8100], [0x9200, 0x8100], [0x9200]):
        kinds += carried(tagged(*stack))
    kinds += carried(tagged(*[0x88A8] + [0x8100] * 8))
    kinds += carried(snap)
    kinds += carried(lambda kind, payload: snap(kind, payload, oui=b"\0\0\xf8"))
    kinds += carried(lambda kind, payload: snap(kind, payload, pad=9))
    kinds += carried(lambda kind, payload: snap(kind, payload, length=400))
    kinds += carried(lambda kind, payload: snap(kind, payload, length=20))
    kinds += carried(lambda kind, payload: snap(0x8100, struct.pack(">HH", 5, kind) + payload))
    kinds += carried(tagged_snap(0x8100))
    kinds += carried(tagged_snap(0x88A8)) + carried(tagged_snap(0x88A8, 0x8100))
    kinds += carried(tagged_snap(0x9200))
    kinds += [
        Kind(4, lambda src, dst: llc(b"\x06\x06\x03", ip4(src, dst, UDP, udp()))),
        # An owner's SNAP code, and types that carry IP as something else's payload: not IP.
        Kind(4, lambda src, dst: snap(IPV4, ip4(src, dst, UDP, udp()), oui=b"\0\0\x0c")),
        Kind(4, lambda src, dst: ethernet(0x8847, b"\0\1\1\xff" + ip4(src, dst, UDP, udp()))),
        Kind(4, lambda src, dst: ethernet(0x8864, b"\x11\0\0\1\0\x22\0\x21" + ip4(
            src, dst, UDP, udp()))),
        plain(llc(b"\x42\x42\x03", bytes(35))),
        plain(ethernet(ARP, arp())), plain(ethernet(ARP, arp(2) + bytes(18))),
        plain(tagged(0x8100)(ARP, arp())), plain(snap(ARP, arp())),
        plain(ethernet(ARP, arp()[:20])), plain(ethernet(ARP, arp()[:4] + b"\xff\xff" + arp()[6:])),
        plain(ethernet(0x88CC, b"\x02\x07\x04" + MAC[6:] + b"\x04\x02\x07a\x06\x02\0\x78\0\0")),
        plain(ethernet(0x88B5, bytes(46))), plain(ethernet(0x05F0, bytes(46))),
        plain(ethernet(IPV4, b"")), plain(ethernet(IPV6, b"")), plain(ethernet(0x8100, b"")),
        plain(MAC), plain(MAC[:1]), plain(b""),
    ]
    return kinds


def ipv4_kinds():
    whole = [
        v4(UDP, udp()), v4(UDP, udp(b"")), v4(TCP, tcp(b"hello")), v4(ICMP, icmp()),
        v4(TCP, tcp(offset=7, options=b"\x02\x04\x05\xb4\1\1\1\0")), v4(47, b"\0\0\x08\0"),
        v4(50, bytes(24)), v4(89, bytes(24)), v4(2, b"\x16\0\0\0\xe0\0\0\1"), v4(253, b""),
        Kind(4, lambda src, dst: ethernet(IPV4, ip4(src, dst, ICMP, icmp_error(src, dst)))),
        Kind(4, lambda src, dst: ethernet(IPV4, ip4(src, dst, 4, ip4(dst, src, UDP, udp())))),
        Kind(4, lambda src, dst: ethernet(IPV4, ip4(src, dst, UDP, udp()) + bytes(14))),  # padding
        v4(132, struct.pack(">HHII", 1, 2, 3, 0) + b"\x0b\0\0\4"), v4(UDP, udp(bytes(1458))),
    ]
    options = [
        b"\1\1\1\1", b"\x94\4\0\0", b"\x07\x07\4\0\0\0\0\0", b"\0" * 4, b"\1" * 40,
        b"\x94\4\0\0" * 10, b"\x83\x07\x04\0\0\0\0\0",
        b"\x94\1\0\0", b"\x94\0\0\0", b"\x94\x09\0\0", b"\1\1\1\x94",  # lengths that lie
    ]
    pieces = [
        v4(UDP, udp(bytes(24)), word=0x4000), v4(UDP, udp(bytes(24), 600), word=0x2000),
        v4(UDP, bytes(32), word=0x2004), v4(UDP, bytes(32), word=0x0004),
        v4(TCP, tcp(bytes(4)), word=0x2000), v4(TCP, bytes(24), word=3), v4(TCP, b"", word=3),
        v4(ICMP, bytes(16), word=0x0010),
        v4(TCP, tcp()[:8], word=0x2000), v4(UDP, b"\x9c\x40", word=0x2000),  # tiny
        v4(TCP, tcp(offset=8)[:16], word=0x2000), v4(TCP, bytes(16), word=1),
        v4(UDP, bytes(16), word=0x1FFF), v4(UDP, bytes(8), word=0x1FFD), v4(ICMP, b"", word=1),
    ]
    lies = [v4(UDP, udp(), ihl=ihl) for ihl in (0, 1, 3, 4, 6, 15)]
    lies += [v4(UDP, udp(), total=total) for total in (0, 1, 19, 20, 24, 27, 31, 33, 1500, 65535)]
    lies += [v4(UDP, udp(), options=b"\1" * 4, total=23)]
    lies += [v4(UDP, udp(length=length)) for length in (0, 7, 8, 11, 13, 14, 65535)]
    lies += [v4(TCP, tcp(b"12345678", offset)) for offset in (0, 1, 4, 6, 7, 8, 15)]
    lies += [v4(UDP, udp(), version=version) for version in (0, 5, 6, 15)]
    lies += [v4(TCP, tcp()[:cut]) for cut in (0, 3, 12, 13, 19)]
    lies += [v4(UDP, udp()[:cut]) for cut in (0, 1, 4, 7)] + [v4(ICMP, icmp()[:4])]
    lies += [v4(132, bytes(11)), v4(33, bytes(11)), v4(136, bytes(7))]
    return whole + [v4(UDP, udp(), options=option) for option in options] + pieces + lies


def ipv6_kinds():
    def chain(*headers, last=UDP, payload=None):
        """The headers in order, each with its true next-header number."""
        content, following = udp() if payload is None else payload, last
        for number, make in reversed(headers):
            content, following = make(following, content), number
        return v6(following, content)

    hop, dest = (HOP, extension), (DEST, extension)
    route = (ROUTING, lambda n, c: extension(n, c, b"\0\0" + bytes(4)))
    ah = (AUTH, authentication)
    first = (FRAGMENT, lambda n, c: fragment6(n, 0, 1, c))
    later = (FRAGMENT, lambda n, c: fragment6(n, 4, 0, c))
    atomic = (FRAGMENT, lambda n, c: fragment6(n, 0, 0, c))
    long = (DEST, lambda n, c: extension(n, c, pad_options(2046 - 1792)))
    jumbo = (HOP, lambda n, c: extension(n, c, b"\xc2\4" + struct.pack(">I", 70000)))
    bad_option = (HOP, lambda n, c: extension(n, c, b"\1\x20\0\0\0\0"))
    return [
        v6(UDP, udp()), v6(TCP, tcp(b"hello")), v6(ICMPV6, icmp(128)), v6(NONE, b""),
        v6(NONE, bytes(9)), v6(50, bytes(24)), v6(253, b""), v6(UDP, udp(bytes(1430))),
        Kind(6, lambda src, dst: ethernet(IPV6, ip6(src, dst, UDP, udp()) + bytes(6))),
        Kind(6, lambda src, dst: ethernet(IPV6, ip6(src, dst, 41, ip6(dst, src, UDP, udp())))),
        v6(ICMPV6, b"\x87\0\0\0" + bytes(20)), chain(hop), chain(dest), chain(route), chain(ah),
        chain(atomic), chain(hop, dest, route, atomic, ah, dest), chain(long), chain(dest, later),
        chain(first, payload=udp(bytes(16))), chain(later, payload=bytes(16)),
        chain(first, last=TCP, payload=tcp(bytes(4))), chain(*[dest] * 7), chain(*[dest] * 8),
        chain(hop, *[dest] * 7), chain(hop, last=NONE, payload=b""),
        # And those that lie.
        chain(*[dest] * 9), chain(dest, hop), chain(jumbo), chain(bad_option), chain(ah, hop),
        chain(first, last=TCP, payload=tcp()[:8]), chain(first, payload=udp(bytes(5))),
        chain((FRAGMENT, lambda n, c: fragment6(n, 1, 0, c)), last=TCP, payload=bytes(24)),
        chain((FRAGMENT, lambda n, c: fragment6(n, 0x1FFF, 0, c)), payload=bytes(16)),
        chain((DEST, lambda n, c: extension(n, c, units=9))), v6(DEST, b"\x11\0\0"), v6(HOP, b""),
        v6(FRAGMENT, bytes(7)), v6(AUTH, b"\x11\x20" + bytes(10)), v6(UDP, b""),
        v6(TCP, tcp()[:19]),
        v6(ICMPV6, icmp(128)[:6]), v6(HOP, extension(UDP, udp()), length=0),
    ] + [v6(UDP, udp(), length=length) for length in (0, 1, 7, 8, 11, 13, 1500, 65535)] + [
        v6(UDP, udp(), version=version) for version in (0, 4, 5, 15)
    ] + [v6(UDP, udp(length=length)) for length in (0, 7, 8, 11, 13, 65535)] + [
        v6(TCP, tcp(b"12345678", offset)) for offset in (0, 4, 7, 8, 15)
    ]


def branches():
    """Every kind there is."""
    return link_kinds() + ipv4_kinds() + ipv6_kinds()


def templates():
    """Few frames, with long headers, to be cut at every byte."""
    double = [(0x88A8, 10), (0x8100, 20)]
    chain = extension(FRAGMENT, fragment6(UDP, 0, 1, udp(bytes(8))), b"\1\4\0\0\0\0")
    guarded = extension(AUTH, authentication(TCP, tcp()))
    return [
        Kind(4, lambda src, dst: ethernet(IPV4, ip4(src, dst, UDP, udp()), double)),
        v4(TCP, tcp(offset=6, options=b"\1\1\1\0"), options=b"\x94\4\0\0"), v4(ICMP, icmp()),
        v4(UDP, udp(), ihl=3), v4(UDP, udp(), total=30), v4(UDP, bytes(8), word=0x2004),
        Kind(4, lambda src, dst: snap(IPV4, ip4(src, dst, UDP, udp()))),
        v6(TCP, tcp()), v6(HOP, chain), v6(DEST, guarded), v6(ICMPV6, icmp(135)),
        plain(ethernet(ARP, arp())), plain(tagged(*[0x8100] * 9)(IPV4, bytes(4))),
        plain(llc(b"\x42\x42\x03", bytes(6))),
    ]


def jumbos():
    """Longer than an Ethernet frame of old."""
    sizes = (1500, 1504, 3000, 8972)
    kinds = [v4(UDP, udp(bytes(size - 28))) for size in sizes]
    kinds += [v6(UDP, udp(bytes(size - 48))) for size in sizes]
    kinds += [v4(UDP, udp(bytes(8000)), total=9500), v4(TCP, tcp(bytes(4000)), total=4000)]
    return kinds


def jumbograms():
    """Longer than 65,575 bytes, as (kind, original length): a capture holds their first bytes."""

    def v6_jumbo(length, option, following=UDP, payload=udp(b"", 0), kind=b"\xc2\4"):
        body = extension(following, payload, kind + struct.pack(">I", option))
        return v6(HOP, body, length=length)

    piece = fragment6(UDP, 0, 1, udp(bytes(8), 0))
    return [
        (v6_jumbo(0, 70000), 14 + 40 + 70000),
        (v6_jumbo(0, 70000, TCP, tcp(bytes(40))), 14 + 40 + 70000 + 6),
        # And those that lie.
        (v6_jumbo(0, 70000), 14 + 40 + 69999), (v6_jumbo(0, 65535), 14 + 40 + 65535),
        (v6_jumbo(16, 70000), 14 + 40 + 70000), (v6_jumbo(0, 70000, FRAGMENT, piece), 70054),
        (v6_jumbo(0, 70000, payload=udp(b"", 7)), 70054),
        (v6_jumbo(0, 70000, kind=b"\xc2\3"), 70054), (v6_jumbo(0, 0, kind=b"\1\4"), 70054),
        (v4(UDP, udp(), total=65535), 14 + 65535), (v4(UDP, udp(), total=65535), 14 + 65534),
    ]
