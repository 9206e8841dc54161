"""The kinds of packets that the kernel and linerate are given: a table, one line a kind."""

import struct

from packets import DF, ICMP, ICMPV6, MF, TCP, UDP, Sent, ethernet, icmp, ipv4, ipv6, mac, udp

HERE, THERE, FAR, NARROW = "10.0.0.2", "10.0.1.2", "10.9.1.1", "10.9.8.1"
HERE6, THERE6, FAR6, NARROW6 = "fd00:0::2", "fd00:1::2", "fd09:1::1", "fd09:8::1"


def marks(number, length=48):
    """A payload that names its frame in every sixteen bytes."""
    one = b"frame %06d...." % number
    return (one * (length // 16 + 1))[:length]


def kinds_v4(n):
    """Of each kind its name and packet."""
    m = marks(n)
    plain = lambda dst, src=HERE, **f: ipv4(src, dst, udp(src, dst, m), **f)  # noqa: E731
    long = lambda dst, length, **f: ipv4(  # noqa: E731
        HERE, dst, udp(HERE, dst, marks(n, length)), **f
    )
    ping = lambda dst, size=48, **f: ipv4(  # noqa: E731
        HERE, dst, icmp(8, 0, 0x00010002, marks(n, size)), ICMP, **f
    )
    error = icmp(3, 3, 0, ipv4(FAR, HERE, udp(FAR, HERE, m))[:28] + m)
    yield from {
        "to a neighbour": plain(THERE),
        "by a gateway": plain(FAR),
        "by the longer prefix": plain(NARROW),
        "by the longest prefix": plain("10.9.8.129"),
        "the last address of a prefix": plain("10.9.8.127"),
        "no route": plain("10.250.0.1"),
        "blackhole": plain("10.66.0.1"),
        "unreachable": plain("10.67.0.1"),
        "prohibit": plain("10.68.0.1"),
        "back by the same interface": plain("10.0.0.3"),
        "TTL 0": plain(FAR, ttl=0),
        "TTL 1": plain(FAR, ttl=1),
        "TTL 2": plain(FAR, ttl=2),
        "TTL 255": plain(FAR, ttl=255),
        "DSCP": plain(FAR, tos=0xB8),
        "identification 0 and DF": plain(FAR, flags=DF, identification=0),
        "no-operation options": plain(FAR, options=b"\1\1\1\0"),
        "router alert": plain(FAR, options=b"\x94\4\0\0"),
        "an unknown option": plain(FAR, options=b"\x5e\4\1\2"),
        "an option longer than the header": plain(FAR, options=b"\x5e\x0c\1\2"),
        "loose source route": plain(FAR, options=b"\x83\7\4\x0a\0\1\2\0"),
        "strict source route": plain(FAR, options=b"\x89\7\4\x0a\0\1\2\0"),
        "TTL 1 with options": plain(FAR, options=b"\1\1\1\0", ttl=1),
        "wrong header checksum": plain(FAR, checksum=1),
        "total length above the frame": plain(FAR, length=200),
        "total length below the header": plain(FAR, length=19),
        "bytes behind the packet": plain(FAR) + b"trailer",
        "version 5": plain(FAR, version=5),
        "header length 4": plain(FAR, ihl=4),
        "header length 15 of a short frame": ipv4(HERE, FAR, b"", ihl=15, length=60),
        "UDP with a wrong checksum": ipv4(HERE, FAR, udp(HERE, FAR, m, checksum=1)),
        "UDP without checksum": ipv4(HERE, FAR, udp(HERE, FAR, m, checksum=0)),
        "UDP with a wrong length": ipv4(HERE, FAR, udp(HERE, FAR, m, length=4000)),
        "half a UDP header": ipv4(HERE, FAR, b"\4\0\0\x09" + b"frame %06d" % n),
        "TCP with no header length": ipv4(HERE, FAR, b"\4\0\0\x09" + m, TCP),
        "a protocol of nobody": ipv4(HERE, FAR, m, 200),
        "as long as the MTU": long(NARROW, 1400 - 28),
        "longer than the MTU": long(NARROW, 1401 - 28),
        "longer than the MTU, whole": long(NARROW, 1460),
        "longer than the MTU and DF": long(NARROW, 1401 - 28, flags=DF),
        "longer than the MTU, with options": long(NARROW, 1440, options=b"\x94\4\0\0\x5e\4\1\2"),
        "a fragment longer than the MTU": long(NARROW, 1460, flags=MF | 100),
        "the last fragment longer than the MTU": long(NARROW, 1450, flags=100),
        "a fragment at the end of a packet": plain(FAR, flags=0x1FF0),
        "TTL 1, a first fragment": plain(FAR, ttl=1, flags=MF),
        "TTL 1, a later fragment": plain(FAR, ttl=1, flags=8),
        "TTL 1, an ICMP error": ipv4(HERE, FAR, error, ICMP, ttl=1),
        "TTL 1, an echo request": ping(FAR, ttl=1),
        "TTL 1, 600 bytes": long(FAR, 600, ttl=1),
        # From another host: the kernel tells one host no more than five at once.
        "TTL 1 and no route": plain("10.250.0.1", "10.0.0.3", ttl=1),
        "TTL 1 and blackhole": plain("10.66.0.1", ttl=1),
        "too long and TTL 1": long(NARROW, 1450, flags=DF, ttl=1),
        "no route, an ICMP error": ipv4(HERE, "10.250.0.1", error, ICMP),
        "echo to the router": ping("10.0.0.1"),
        "echo to another address of the router": ping("10.0.1.1"),
        "echo to a second address": ping("10.0.11.1"),
        "echo with TTL 1": ping("10.0.0.1", ttl=1),
        "echo with DSCP": ping("10.0.0.1", tos=0xB8),
        "echo of 1,400 bytes": ping("10.0.0.1", 1400),
        "echo with a wrong checksum": ipv4(HERE, "10.0.0.1", b"\x08\0\1\1\0\0\0\0" + m, ICMP),
        "echo with code 1": ipv4(HERE, "10.0.0.1", icmp(8, 1, 5, m), ICMP),
        "echo reply to the router": ipv4(HERE, "10.0.0.1", icmp(0, 0, 5, m), ICMP),
        "ICMP of an unknown type": ipv4(HERE, "10.0.0.1", icmp(99, 0, 5, m), ICMP),
        "UDP to the router": plain("10.0.0.1"),
        "UDP to the router, wrong checksum": ipv4(
            HERE, "10.0.0.1", udp(HERE, "10.0.0.1", m, checksum=1)
        ),
        "a protocol of nobody to the router": ipv4(HERE, "10.0.0.1", m, 200),
        "directed broadcast": plain("10.0.1.255"),
        "broadcast of the own prefix": plain("10.0.0.255"),
        "limited broadcast": plain("255.255.255.255"),
        "destination 127.0.0.1": plain("127.0.0.1"),
        "destination 0.0.0.0": plain("0.0.0.0"),
        "destination 0.1.2.3": plain("0.1.2.3"),
        "destination of link-local multicast": plain("224.0.0.5"),
        "destination of multicast": plain("239.1.1.1"),
        "source of multicast": plain(FAR, "224.0.0.5"),
        "source of broadcast": plain(FAR, "255.255.255.255"),
        "source 127.0.0.1": plain(FAR, "127.0.0.1"),
        "source 0.0.0.0": plain(FAR, "0.0.0.0"),
        "source of the router": plain(FAR, "10.0.0.1"),
        "source of elsewhere": plain(FAR, "10.0.2.2"),
        "source that has no route": plain(FAR, "10.251.0.1"),
        "TTL 1, source that has no route": plain(FAR, "10.251.0.1", ttl=1),
    }.items()


def kinds_v6(n):
    m = marks(n)
    plain = lambda dst, src=HERE6, **f: ipv6(src, dst, udp(src, dst, m), **f)  # noqa: E731
    long = lambda dst, length, **f: ipv6(  # noqa: E731
        HERE6, dst, udp(HERE6, dst, marks(n, length)), **f
    )
    ping = lambda dst, **f: ipv6(  # noqa: E731
        HERE6, dst, icmp(128, 0, 0x00010002, m, (HERE6, dst)), ICMPV6, **f
    )
    error = icmp(1, 4, 0, ipv6(FAR6, HERE6, udp(FAR6, HERE6, m)), (HERE6, FAR6))
    later = struct.pack("!BBHI", UDP, 0, 8 << 3 | 1, 99)
    alert = bytes([UDP, 0, 5, 2, 0, 0, 1, 0])
    yield from {
        "IPv6 to a neighbour": plain(THERE6),
        "IPv6 by a gateway": plain(FAR6),
        "IPv6 by the longer prefix": plain(NARROW6),
        "IPv6 no route": plain("fdfa::1"),
        "IPv6 blackhole": plain("fd66::1"),
        "IPv6 unreachable": plain("fd67::1"),
        "IPv6 prohibit": plain("fd68::1"),
        "hop limit 0": plain(FAR6, hops=0),
        "hop limit 1": plain(FAR6, hops=1),
        "hop limit 2": plain(FAR6, hops=2),
        "traffic class": plain(FAR6, traffic=0xB8),
        "IPv6 as long as the MTU": long(NARROW6, 1400 - 48),
        "IPv6 longer than the MTU": long(NARROW6, 1401 - 48),
        "IPv6 longer than the MTU, hop limit 1": long(NARROW6, 1401 - 48, hops=1),
        "hop-by-hop router alert": ipv6(HERE6, FAR6, alert + udp(HERE6, FAR6, m), 0),
        "hop limit 1, a later fragment": ipv6(HERE6, FAR6, later + m, 44, hops=1),
        "hop limit 1, an ICMPv6 error": ipv6(HERE6, FAR6, error, ICMPV6, hops=1),
        "hop limit 1, an echo request": ping(FAR6, hops=1),
        "hop limit 1, 1,300 bytes": long(FAR6, 1300, hops=1),
        "payload length above the frame": plain(FAR6, length=400),
        "bytes behind the IPv6 packet": plain(FAR6) + b"trailer",
        "IPv6 with version 4 inside": plain(FAR6, version=4),
        "UDP of IPv6 with a wrong checksum": ipv6(HERE6, FAR6, udp(HERE6, FAR6, m, checksum=1)),
        "a next header of nobody": ipv6(HERE6, FAR6, m, 200),
        "no next header": ipv6(HERE6, FAR6, m, 59),
        "IPv6 echo to the router": ping("fd00:0::1"),
        "IPv6 echo to another address of the router": ping("fd00:1::1"),
        "IPv6 echo with hop limit 1": ping("fd00:0::1", hops=1),
        "IPv6 echo with a wrong checksum": ipv6(
            HERE6, "fd00:0::1", b"\x80\0\1\1\0\0\0\0" + m, ICMPV6
        ),
        "IPv6 UDP to the router": plain("fd00:0::1"),
        "IPv6 source ::": plain(FAR6, "::"),
        "IPv6 source ::1": plain(FAR6, "::1"),
        "IPv6 source of multicast": plain(FAR6, "ff02::5"),
        "IPv6 source of elsewhere": plain(FAR6, "fd00:2::2"),
        "IPv6 destination ::1": plain("::1"),
        "IPv6 destination ::": plain("::"),
        "IPv6 destination of multicast": plain("ff05::1234"),
        "IPv6 link-local source": plain(FAR6, "fe80::2"),
    }.items()


def links(n):
    """Frames whose Ethernet header is odd."""
    packet = ipv4(HERE, FAR, udp(HERE, FAR, marks(n)))
    dying = ipv4(HERE, FAR, udp(HERE, FAR, marks(n)), ttl=1)
    yield from {
        "to another station": ethernet(packet, to=mac(0, 9)),
        "to all stations": ethernet(packet, to=b"\xff" * 6),
        "TTL 1, to all stations": ethernet(dying, to=b"\xff" * 6),
        "to a group of stations": ethernet(packet, to=bytes.fromhex("01005e010101")),
        "IPv4 called IPv6": ethernet(packet, ether_type=0x86DD),
        "a type of nobody": ethernet(b"frame %06d" % n, ether_type=0x88B5),
        "a VLAN of nobody": ethernet(b"\0\x07\x08\0" + packet, ether_type=0x8100),
        "half an IPv4 header": ethernet(b"\x45\0" + b"frame %06d" % n, ether_type=0x0800),
    }.items()


def all_kinds():
    """Each kind once, numbered from 0."""
    count = 0
    for makes in (kinds_v4, kinds_v6, links):
        for at in range(sum(1 for _ in makes(0))):
            kind, content = list(makes(count))[at]
            frame = content if makes is links else ethernet(content)
            yield Sent(kind, 0, frame.ljust(60, b"\0"))
            count += 1
