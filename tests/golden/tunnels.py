#!/usr/bin/env python3
"""Makes captures/tunnels.pcap and tunnels.txt with scapy: packets inside packets, and what scapy
reads in them again. Both are committed; the bytes are the same on every run.

    python3 tests/golden/tunnels.py [FOLDER]     writes (scapy 2.6 or later from PyPI)
    python3 tests/golden/tunnels.py --check      asks tshark where each header begins

A line of tunnels.txt is one of
    frame NAME                        the next frame of the capture
    ip SRC DST OFFSET                 an IP header, from the outside in
    tunnel KIND OFFSET BYTES ID       the tunnel header in front of the next one
    flow SRC DST PROTOCOL PORT PORT   what the innermost packet is told apart by
    fault NAME                        what is wrong inside, by the name of a drop reason
"""

import itertools
import os
import subprocess
import sys
import xml.etree.ElementTree as xml

import capture_files

HERE = os.path.dirname(os.path.abspath(__file__))
START_NS = 1_700_000_000_000_000_000
OUTER = {4: ("45.83.2.1", "45.83.2.2"), 6: ("2a0e:1::1", "2a0e:1::2")}
INNER = {4: ("45.83.4.7", "45.83.5.9"), 6: ("2a0e:4::7", "2a0e:5::9")}
DEEPER = {4: ("45.83.6.1", "45.83.7.1"), 6: ("2a0e:6::1", "2a0e:7::1")}
KINDS = {
    ("IP", "IP"): "ipip", ("IP", "IPv6"): "6in4", ("IPv6", "IP"): "4in6", ("IPv6", "IPv6"): "6in6",
}


def scapy_layers():
    """scapy, where it is needed: checking does without."""
    import scapy.all as scapy
    from scapy.contrib import geneve, gtp
    from scapy.layers import ipsec, vxlan

    container = gtp.GTPPDUSessionContainer
    scapy.bind_layers(container, container, NextExtHdr=0x85)
    scapy.conf.geneve, scapy.conf.gtp = geneve, gtp
    scapy.conf.ipsec, scapy.conf.vxlan = ipsec, vxlan
    return scapy


class Makers:
    """Frames by name. `s` is scapy."""

    def __init__(self, s):
        self.s = s
        self.geneve, self.gtp = s.conf.geneve, s.conf.gtp
        self.ipsec, self.vxlan = s.conf.ipsec, s.conf.vxlan

    def ether(self, payload):
        return self.s.Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02") / payload

    def ip(self, family, ends, **fields):
        src, dst = ends[family]
        if family == 4:
            return self.s.IP(src=src, dst=dst, id=7, **fields)
        return self.s.IPv6(src=src, dst=dst, **fields)

    def packet(self, family, ends, transport="udp"):
        s = self.s
        last = {
            "udp": lambda: s.UDP(sport=1111, dport=2222) / b"data",
            "tcp": lambda: s.TCP(sport=3333, dport=443, flags="PA", seq=1) / b"hello",
            "icmp": lambda: s.ICMP(id=1) / b"ping" if family == 4 else s.ICMPv6EchoRequest(id=1),
        }
        return self.ip(family, ends) / last[transport]()

    def udp(self, port):
        return self.s.UDP(sport=50000, dport=port)

    def wraps(self):
        """Each tunnel as a function from an inner packet to what the outer IP header carries."""
        s, geneve, gtp = self.s, self.geneve, self.gtp
        option = geneve.GeneveOptions(classid=0x0102, type=3, data=b"12345678")
        container = gtp.GTPPDUSessionContainer(type=1, QFI=9)
        first = gtp.GTPPDUSessionContainer(type=1, QFI=8, NextExtHdr=0x85)
        teid = {"teid": 0xC0FFEE, "gtp_type": 255}
        return {
            "ip": lambda p: p,
            "gre": lambda p: s.GRE() / p,
            "gre-key": lambda p: s.GRE(key_present=1, key=0xABCD) / p,
            "gre-sequence": lambda p: s.GRE(seqnum_present=1, sequence_number=9) / p,
            "gre-checksum": lambda p: s.GRE(chksum_present=1) / p,
            "gre-all": lambda p: s.GRE(
                chksum_present=1, key_present=1, key=5, seqnum_present=1, sequence_number=9) / p,
            "gre-teb": lambda p: s.GRE(proto=0x6558) / self.ether(p),
            "gre-teb-vlan": lambda p: s.GRE(proto=0x6558, key_present=1, key=1)
            / self.ether(s.Dot1Q(vlan=5) / p),
            "vxlan": lambda p: self.udp(4789) / self.vxlan.VXLAN(vni=42, flags=8) / self.ether(p),
            "vxlan-vlan": lambda p: self.udp(4789) / self.vxlan.VXLAN(vni=42, flags=8)
            / self.ether(s.Dot1Q(vlan=9) / p),
            "geneve": lambda p: self.udp(6081) / geneve.GENEVE(vni=43, proto=0x6558)
            / self.ether(p),
            "geneve-ip": lambda p: self.udp(6081) / geneve.GENEVE(vni=43) / p,
            "geneve-options": lambda p: self.udp(6081)
            / geneve.GENEVE(vni=43, proto=0x6558, options=[option, option]) / self.ether(p),
            "gtp-u": lambda p: self.udp(2152) / gtp.GTP_U_Header(**teid) / p,
            "gtp-u-sequence": lambda p: self.udp(2152) / gtp.GTP_U_Header(S=1, seq=7, **teid) / p,
            "gtp-u-container": lambda p: self.udp(2152)
            / gtp.GTP_U_Header(E=1, next_ex=0x85, **teid) / container / p,
            "gtp-u-two": lambda p: self.udp(2152)
            / gtp.GTP_U_Header(E=1, next_ex=0x85, **teid) / first / container / p,
        }

    def outside(self, family, carried, ends=OUTER):
        return self.ether(self.ip(family, ends) / carried)

    def sound(self):
        """Every tunnel, both families outside and inside, each transport once."""
        transports = itertools.cycle(["udp", "tcp", "icmp"])
        for name, wrap in self.wraps().items():
            for out, inside in itertools.product((4, 6), repeat=2):
                transport = next(transports)
                inner = self.packet(inside, INNER, transport)
                yield f"{name}-{inside}-in-{out}-{transport}", self.outside(out, wrap(inner))

    def nested(self):
        wraps = self.wraps()
        inner = self.packet(4, INNER)
        for first, second in [("ip", "gre"), ("gre", "ip"), ("vxlan", "gtp-u"), ("gre-teb", "ip"),
                              ("gtp-u", "ip"), ("geneve", "vxlan"), ("ip", "vxlan")]:
            middle = self.ip(6, DEEPER) / wraps[second](inner)
            yield f"{second}-in-{first}", self.outside(4, wraps[first](middle))
        for depth in (4, 5):
            packet = self.packet(6, INNER, "tcp")
            for layer in range(depth - 1):
                packet = self.ip(4, DEEPER) / (self.s.GRE() / packet if layer % 2 else packet)
            yield f"{depth}-deep", self.outside(4, packet)

    def closed(self):
        """What carries a packet that nobody but its receiver reads, or none at all."""
        s = self.s
        sealed = s.raw(self.packet(4, INNER)) + bytes(16)
        for family in (4, 6):
            yield f"esp-{family}", self.outside(family, self.ipsec.ESP(
                spi=0x11223344, seq=1, data=sealed))
            for what, inner in [("udp", s.UDP(sport=1111, dport=2222) / b"data"),
                                ("ip", self.packet(4, INNER))]:
                next_header = 17 if what == "udp" else 4
                yield f"ah-{what}-{family}", self.outside(family, self.ipsec.AH(
                    nh=next_header, payloadlen=4, spi=0x55667788, seq=1, icv=bytes(12)) / inner)
        vxlan = self.udp(4789) / self.vxlan.VXLAN(vni=42, flags=8)
        yield "vxlan-arp", self.outside(4, vxlan / self.ether(s.ARP(
            psrc="45.83.4.7", pdst="45.83.5.9")))
        yield "gre-keepalive", self.outside(4, s.GRE(proto=0))
        yield "gre-pptp", self.outside(4, s.Raw(bytes.fromhex("3001880b00040001") + b"ppp!"))
        yield "gtp-u-echo", self.outside(4, self.udp(2152) / s.Raw(
            bytes.fromhex("3201000400000000") + bytes(4)))
        yield "vxlan-no-flag", self.outside(4, self.udp(4789) / s.Raw(bytes(8)) / self.ether(
            self.packet(4, INNER)))
        yield "other-port", self.outside(4, self.udp(4788) / s.Raw(bytes.fromhex(
            "0800000000002a00")) / self.ether(self.packet(4, INNER)))

    def pieces(self):
        """Outer packets in pieces, of which the first may hold the inner header; inner pieces."""
        s = self.s
        inner = s.raw(self.ip(4, INNER) / s.UDP(sport=1111, dport=2222) / bytes(120))
        head = self.ip(4, OUTER)
        head.proto = 4
        for name, offset, more, cut in [("first", 0, 1, inner[:64]), ("later", 8, 0, inner[64:]),
                                        ("first-short", 0, 1, inner[:16])]:
            piece = head.copy()
            piece.flags, piece.frag = more, offset
            yield f"ipip-{name}", self.ether(piece / s.Raw(cut))
        six = self.ip(6, OUTER)
        yield "4in6-first", self.ether(six / s.IPv6ExtHdrFragment(
            nh=4, m=1, offset=0, id=9) / s.Raw(inner[:64]))
        yield "ipip-inner-first", self.outside(4, self.ip(4, INNER, flags=1, proto=17) / s.Raw(
            s.raw(s.UDP(sport=1111, dport=2222, len=200) / bytes(56))))
        yield "ipip-inner-later", self.outside(4, self.ip(4, INNER, frag=8, proto=17) / s.Raw(
            bytes(64)))

    def lying(self):
        """A sound frame, some bytes of which lie, and the fault."""
        wraps, inner = self.wraps(), self.packet(4, INNER)

        def lie(name, fault, wrap, at, content):
            frame = bytearray(self.s.raw(self.outside(4, wraps[wrap](inner))))
            frame[at:at + len(content)] = content
            return name, bytes(frame), fault

        yield lie("inner-length-beyond", "ipv4_length_beyond_frame", "ip", 36, b"\x02\x00")
        yield lie("inner-length-below", "ipv4_length_below_header", "ip", 36, b"\x00\x13")
        yield lie("inner-version", "ipv4_version", "ip", 34, b"\x75")
        yield lie("inner-header-length", "ipv4_header_length", "gre", 38, b"\x44")
        yield lie("inner-udp-length", "udp_length_beyond_packet", "gre", 62, b"\x01\x00")
        yield lie("geneve-options-beyond", "tunnel_truncated", "geneve-ip", 42, b"\x3f")
        yield lie("gtp-u-length-beyond", "tunnel_length", "gtp-u", 44, b"\x10\x00")
        yield lie("gtp-u-length-short", "ipv4_length_beyond_frame", "gtp-u", 44, b"\x00\x18")
        yield lie("gtp-u-extension-0", "tunnel_length", "gtp-u-container", 54, b"\x00")
        yield lie("gtp-u-extension-beyond", "tunnel_truncated", "gtp-u-container", 54, b"\x40")
        whole = self.s.raw(self.outside(4, wraps["gre-all"](inner)))
        short = bytearray(whole[:14 + 20 + 6])
        short[16:18] = b"\x00\x1a"
        yield "gre-cut", bytes(short), "tunnel_truncated"


def number(layer, name):
    """The identifier that a tunnel header carries, as scapy has it."""
    found = {"GRE": "key", "VXLAN": "vni", "GENEVE": "vni", "GTP_U_Header": "teid"}[name]
    value = getattr(layer, found)
    return "-" if value is None else value


def described(frame, s):
    """Lines about a sound frame: what scapy dissects from its bytes."""
    lines, at, outer, tunnel = [], 0, None, None
    flow = None
    layer = s.Ether(frame)
    while layer and not isinstance(layer, (s.Raw, s.Padding, s.NoPayload)):
        name, size = type(layer).__name__, len(layer) - len(layer.payload)
        if name in ("IP", "IPv6"):
            if outer and not tunnel:
                lines.append(f"tunnel {KINDS[outer, name]} {at} 0 -")
            elif tunnel:
                kind, start, ident, end = tunnel
                lines.append(f"tunnel {kind} {start} {end - start} {ident}")
            lines.append(f"ip {layer.src} {layer.dst} {at}")
            protocol = layer.proto if name == "IP" else layer.nh
            flow, outer, tunnel = [layer.src, layer.dst, protocol, 0, 0], name, None
        elif name in ("GRE", "VXLAN", "GENEVE", "GTP_U_Header"):
            kind = {"GTP_U_Header": "gtp-u"}.get(name, name.lower())
            tunnel = [kind, at, number(layer, name), at + size]
        elif name.startswith("GTP"):
            tunnel[3] = at + size
        elif name in ("UDP", "TCP"):
            flow[3:] = [layer.sport, layer.dport]
        at, layer = at + size, layer.payload
    return lines + ["flow " + " ".join(map(str, flow))]


def write(folder):
    s = scapy_layers()
    s.conf.debug_dissector = True
    makers, records, lines = Makers(s), [], []

    def add(name, frame, more):
        records.append(capture_files.Record(START_NS + len(records) * 1000, len(frame), frame))
        lines.extend([f"frame {name}"] + more)

    for name, packet in itertools.chain(makers.sound(), makers.nested()):
        frame = s.raw(packet)
        more = described(frame, s)
        if name == "5-deep":
            more = more[:-3] + ["fault too_many_tunnels"]
        add(name, frame, more)
    for name, packet in itertools.chain(makers.closed(), makers.pieces()):
        add(name, s.raw(packet), [])
    for name, frame, fault in makers.lying():
        add(name, frame, [f"fault {fault}"])
    capture_files.write_pcap(os.path.join(folder, "captures", "tunnels.pcap"), records)
    with open(os.path.join(folder, "tunnels.txt"), "w", encoding="ascii") as out:
        out.write("\n".join(lines) + "\n")
    print(f"{len(records)} frames")


def positions(capture):
    """By frame: where tshark has IP headers and tunnel headers begin."""
    command = ["tshark", "-r", capture, "-T", "pdml"]
    text = subprocess.run(command, check=True, capture_output=True).stdout
    for packet in xml.fromstring(text).iter("packet"):
        protos = [(proto.get("name"), int(proto.get("pos", 0))) for proto in packet.iter("proto")]
        yield ([at for name, at in protos if name in ("ip", "ipv6")],
               [at for name, at in protos if name in ("gre", "vxlan", "geneve", "gtp")])


def check():
    frames = []
    with open(os.path.join(HERE, "tunnels.txt"), encoding="ascii") as text:
        for words in map(str.split, text):
            if words[0] == "frame":
                frames.append((words[1], [], [], []))
            else:
                frames[-1][1 + ["ip", "tunnel"].index(words[0])
                           if words[0] in ("ip", "tunnel") else 3].append(words)
    checked = wrong = 0
    capture = os.path.join(HERE, "captures", "tunnels.pcap")
    for (name, ips, tunnels, rest), (ip_at, tunnel_at) in zip(frames, positions(capture)):
        if not ips or any(words[0] == "fault" for words in rest):
            continue
        ours = [int(words[3]) for words in ips]
        own = [int(words[2]) for words in tunnels if words[3] != "0"]
        checked += 1
        if (ours, own) != (ip_at, tunnel_at):
            wrong += 1
            print(f"{name}: scapy {ours} {own}, tshark {ip_at} {tunnel_at}")
    print(f"{checked} frames checked with tshark, {wrong} differ")
    return wrong == 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if check() else 1)
    write(sys.argv[1] if len(sys.argv) > 1 else HERE)
