#!/usr/bin/env python3
"""Makes the seed corpora: one small input for each branch worth starting from."""

import json
import pathlib
import struct
import zlib

HERE = pathlib.Path(__file__).parent / "corpus"


def write(target, name, content):
    folder = HERE / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


def ethernet(kind, payload, tags=b""):
    return bytes(range(12)) + tags + struct.pack("!H", kind) + payload


def ipv4(payload, protocol=17, options=b"", fragment=0):
    words = 5 + len(options) // 4
    length = words * 4 + len(payload)
    head = struct.pack("!BBHHHBBH", 0x40 | words, 0, length, 7, fragment, 64, protocol, 0)
    return head + bytes([10, 0, 0, 1, 192, 0, 2, 9]) + options + payload


def ipv6(payload, following=17):
    head = struct.pack("!IHBB", 6 << 28, len(payload), following, 64)
    return head + bytes(range(32)) + payload


UDP = struct.pack("!HHHH", 1000, 53, 12, 0) + b"data"
TCP = struct.pack("!HHIIBBHHH", 80, 4000, 1, 2, 0x50, 0x12, 100, 0, 0)
CHAIN = bytes([43, 0]) + bytes(6) + bytes([44, 0]) + bytes(6) + bytes([17, 0, 0, 1, 0, 0, 0, 9])

FRAMES = {
    "udp": ethernet(0x0800, ipv4(UDP)),
    "tcp-options": ethernet(0x0800, ipv4(TCP, 6, bytes([1, 1, 1, 0]))),
    "fragment": ethernet(0x0800, ipv4(UDP, fragment=0x2001)),
    "icmp": ethernet(0x0800, ipv4(bytes([8]) + bytes(7), 1)),
    "udp6": ethernet(0x86DD, ipv6(UDP)),
    "chain6": ethernet(0x86DD, ipv6(CHAIN + UDP, 0)),
    "icmp6": ethernet(0x86DD, ipv6(bytes([135]) + bytes(23), 58)),
    "tags": ethernet(0x0800, ipv4(UDP), bytes.fromhex("88a8006481000065")),
    "snap": ethernet(40, bytes.fromhex("aaaa030000000800") + ipv4(UDP)),
    "arp": ethernet(0x0806, bytes.fromhex("0001080006040001") + bytes(20)),
    "runt": bytes(9),
}

SCRAPES = {
    "metrics": b"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: text/plain;version=0.0.4\r\n\r\n",
    "head": b"HEAD / HTTP/1.0\r\n\r\n",
    "post": b"POST /metrics?a=b HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
    "part": b"GET /metr",
}

SAMPLES = {
    "params": b'{"drops":true,"counted":true,"set":"bad","per_second":100,"snap_bytes":64}',
    "frame": b'{"time_ns":1,"port":"left","reason":"blocked_src","sets":[{"set":"bad","side":"src",'
    b'"action":"block"}],"stands_for":12,"original_len":60,"bytes":"00ff10"}',
}

LISTS = {
    "plain": b"# c\n192.0.2.1\t7\n10.0.0.0/8 ; x\n192.0.2.1-192.0.2.9\n2001:db8::/32\n",
    "bad": b"10.0.0.1/8\nexample.org\n176.221.42.3254.174.140.223\n010.0.0.1\n",
    "csv": b'name,address\n"a, b",192.0.2.1\n',
    "ipset": b"create s hash:ip family inet hashsize 1024 maxelem 65536\n"
    b"add s 192.0.2.1 timeout 5\n",
    "ipset-restore": b"create t -exist hash:net family inet\ncreate s hash:net -exist\nflush t\n"
    b"add t 192.0.2.1 -exist\nadd -exist t 10.0.0.0/8\ndel t 192.0.2.1\nswap s t\ndestroy t\n"
    b"rename s u\nCOMMIT\n",
    "nft": b"table inet f {\n set s {\n  type ipv4_addr\n"
    b"  elements = { 192.0.2.1,\n 10.0.0.0/8 }\n }\n}\n",
    "nft-file": b"#!/usr/sbin/nft -f\ndefine v = { 192.0.2.1, 192.0.2.2 }\nflush ruleset\n"
    b"table inet f\ndelete table inet f\nadd table inet f\nadd set inet f s { type ipv4_addr; }\n"
    b"add element inet f s $v\nadd element inet f s { 192.0.2.3 timeout 1h }\n"
    b"delete element inet f s { 192.0.2.2 }\nflush set inet f t\n",
    "nft-json-commands": b'{"nftables":[{"add":{"set":{"family":"ip","table":"t","name":"s",'
    b'"type":"ipv4_addr","elem":["192.0.2.1","192.0.2.2"]}}},{"delete":{"element":{"family":"ip",'
    b'"table":"t","name":"s","elem":["192.0.2.1"]}}},{"flush":{"ruleset":null}}]}',
    "json-array": b'["192.0.2.0/24", "2001:db8::/32"]',
    "json-pairs": b'{"a":[["192.0.2.0",24],["192.0.2.1","192.0.2.9"]],"b":[]}',
    "json-objects": b'{"syncToken":"1","prefixes":[{"ip_prefix":"192.0.2.0/24","region":"x"},'
    b'{"ip_prefix":null}],"other":[{"first":"192.0.2.1","last":"192.0.2.9","len":24}]}',
    "nft-json": b'{"nftables":[{"metainfo":{}},'
    b'{"set":{"family":"ip","name":"s","table":"t","type":"ipv4_addr","elem":["192.0.2.1",'
    b'{"prefix":{"addr":"10.0.0.0","len":8}},{"range":["192.0.2.3","192.0.2.5"]}]}}]}',
    "drop-json": b'{"cidr":"192.0.2.0/24","sblid":"SBL1","rir":"x"}\n{"type":"metadata"}\n',
    "gzip": bytes.fromhex("1f8b0800000000000003") + b"\x03\x00" + bytes(8),
}

SPECS = {
    "pcap": b"pcap:in=a.pcap,out=b.pcap,loop=3",
    "gen": b"gen:addresses=random,size=64-1518,hit=0.1,vlan=5.6,ipv6=0.5,seed=1",
    "imix": b"gen:size=imix,addresses=100",
    "null": b"null:",
    "ring": b"ring:a",
}

RECIPES = {
    "udp": b"size=64-1518 sign=yes src=10.0.0.0/8 dst=192.0.2.1-192.0.2.9 sport=53 flows=10",
    "tcp": b"flags=SA size=110:3+9018:1 ipv6=0.5 smac=random vlan=1-9.random cover=link stream=9",
    "icmp": b"protocol=icmp src=2001:db8::/32 ipv6=1 new-flows=100 flows=4 hit=0 seed=7",
}


def crc32c(content):
    """The remainder that begins at 0 and is not complemented."""
    value = 0
    for byte in content:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value


def checksum(content):
    total = sum(struct.unpack(f"!{len(content) // 2}H", content))
    while total >> 16:
        total = (total >> 16) + (total & 0xFFFF)
    return struct.pack("!H", ~total & 0xFFFF)


def test_frame(stream, sequence, sent):
    """A frame as crates/traffic/src/signature.rs has it, made by other means."""
    addresses = bytes([10, 0, 0, 1, 192, 0, 2, 9])
    ports = struct.pack("!HH", 1000, 53)
    numbers = struct.pack("!H", stream) + sequence.to_bytes(6, "big") + sent.to_bytes(6, "big")
    covered = addresses + ports + bytes([17, 0, 0, 0]) + numbers + bytes([0, 4])
    pattern = 0x243F6A8885A308D313198A2E0370.to_bytes(14, "big")
    check = struct.pack("!I", crc32c(covered) ^ 0x4C524E01)
    signature = check + bytes(a ^ b for a, b in zip(numbers, pattern))
    length = struct.pack("!H", 8 + len(signature))
    pseudo = addresses + bytes([0, 17]) + length
    udp = ports + length + checksum(pseudo + ports + length + signature) + signature
    packet = ipv4(udp)
    packet = packet[:10] + checksum(packet[:20]) + packet[12:]
    return ethernet(0x0800, packet)


def arrivals(frames):
    return b"".join(struct.pack("!HI", len(frame), 9000) + frame for frame in frames)


def pcap(magic, order):
    frame = FRAMES["udp"]
    head = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, 1)
    return head + struct.pack(order + "IIII", 1, 2, len(frame), len(frame)) + frame


def block(order, kind, body):
    body += bytes(-len(body) % 4)
    size = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + size + body + size


def pcapng(order):
    frame = FRAMES["udp6"]
    section = block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
    options = struct.pack(order + "HHB3xHH", 9, 1, 9, 0, 0)
    interface = block(order, 1, struct.pack(order + "HHI", 1, 0, 0) + options)
    enhanced = struct.pack(order + "IIIII", 0, 1, 2, len(frame), len(frame)) + frame
    simple = struct.pack(order + "I", len(frame)) + frame
    packets = block(order, 6, enhanced) + block(order, 3, simple)
    return section + interface + packets + block(order, 99, b"x")


REQUESTS = {
    "hello": ("hello", {"protocol": 1, "client": "seeds"}),
    "add": ("set.add", {"set": "bad", "entries": ["192.0.2.1", "10.0.0.0/8"], "timeout_ms": 1}),
    "add6": ("set.add", {"set": "a", "entries": ["2001:db8::-2001:db8::9"], "comment": "\u00e4\""}),
    "test": ("set.test", {"address": "2001:db8::1"}),
    "load": ("set.load", {"set": "bad", "file": "bad.txt", "force": True}),
    "action": ("set.action", {"set": "bad", "action": "count"}),
    "watch": ("watch", {"method": "show.hits", "params": {"top": 5}, "every_ms": 100}),
}

def decision(number, value, **other):
    basis = {"id": number, "origin": "crowdsec", "scenario": "crowdsecurity/ssh-bf",
             "scope": "Range" if "/" in value else "Ip", "type": "ban", "value": value,
             "duration": "3h59m57.641708614s"}
    return basis | other


DECISIONS = {
    "startup": {"new": [decision(1, "192.0.2.1"), decision(2, "198.51.100.7/24"),
                        decision(3, "2001:db8::1", type="captcha"),
                        decision(4, "FR", scope="Country")], "deleted": None},
    "delta": {"new": None, "deleted": [decision(1, "192.0.2.1", duration="-12.5ms")]},
    "odd": {"later": [{}], "new": [decision(5, "0.0.0.0/0"), decision(6, "::ffff:192.0.2.1"),
                                   decision(7, "nowhere"), {"id": None}], "deleted": []},
}


TUNNELS = (
    "ip-6-in-4-tcp", "gre-all-4-in-4-icmp", "gre-teb-vlan-6-in-4-icmp", "vxlan-4-in-6-tcp",
    "geneve-options-6-in-6-udp", "gtp-u-two-4-in-4-tcp", "gtp-u-in-vxlan", "5-deep", "esp-6",
    "ah-ip-4", "ah-udp-6", "4in6-first", "ipip-inner-later", "gtp-u-extension-beyond",
)


def tunnels():
    """Frames that scapy made, see tests/golden/tunnels.py."""
    golden = pathlib.Path(__file__).parent.parent / "tests" / "golden"
    text = (golden / "tunnels.txt").read_text().splitlines()
    names = [line.split()[1] for line in text if line.startswith("frame ")]
    capture, at = (golden / "captures" / "tunnels.pcap").read_bytes(), 24
    for name in names:
        length = struct.unpack_from("<I", capture, at + 8)[0]
        if name in TUNNELS:
            yield name, capture[at + 16:at + 16 + length]
        at += 16 + length


for name, answer in DECISIONS.items():
    write("decisions", name, json.dumps(answer).encode())
for name, (method, params) in REQUESTS.items():
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    write("control", name, json.dumps(request).encode())


NAME = b"\x01\x01a"
COMMENT = b"\x05hello"
ADD = b"\x02\x01" + struct.pack("<QQ", 5, 0) + COMMENT + b"\x04" + bytes([1, 2, 0, 192])
TIMED = b"\x02\x02" + struct.pack("<QQ", 5, 1 << 42) + b"\x00\x10" + bytes(16) + bytes([255] * 16)
DELETE = b"\x03\x01\x0e" + bytes([0, 2, 0, 192]) + bytes([9, 2, 0, 192])
OPERATIONS = NAME + ADD + TIMED + DELETE + b"\x04\x01\x02" + b"\x05" + bytes(8)


def record(number, payload):
    checked = struct.pack("<IQ", len(payload), number) + payload
    head = b"\xb7LR\x1e" + checked[:12] + struct.pack("<I", zlib.crc32(checked))
    return head + payload


def journal(*payloads):
    head = b"LRJRNL\x01\x00" + struct.pack("<QQ", 1, 1)
    head += struct.pack("<I", zlib.crc32(head))
    return head + b"".join(record(1 + i, payload) for i, payload in enumerate(payloads))


write("journal", "operations", b"\x00" + OPERATIONS)
write("journal", "file", b"\x01" + journal(NAME + ADD, NAME + TIMED, NAME + DELETE))
write("journal", "cut", b"\x01" + journal(NAME + ADD, OPERATIONS)[:-3])
write("journal", "unknown", b"\x01" + journal(NAME + ADD, b"\x09", NAME + DELETE))
for name, frame in FRAMES.items():
    write("parse", name, bytes(2) + frame)
for name, frame in tunnels():
    write("tunnel", name, bytes(3) + frame)
write("parse", "snapped", bytes([0, 60]) + FRAMES["udp"][:30])
for name, text in LISTS.items():
    write("list", name, bytes([2 if name == "csv" else 4]) + text)
    if name.startswith("json"):
        write("list", name + "-path", bytes([20]) + text)
for name, text in SPECS.items():
    write("spec", name, text)
write("capture", "micro-little.pcap", pcap(0xA1B2C3D4, "<"))
write("capture", "nano-big.pcap", pcap(0xA1B23C4D, ">"))
write("capture", "little.pcapng", pcapng("<"))
write("capture", "big.pcapng", pcapng(">"))
for target, seeds in (("scrape", SCRAPES), ("sample", SAMPLES)):
    for name, content in seeds.items():
        write(target, name, content)
for name, text in RECIPES.items():
    write("recipe", name, text)
write("sink", "order", arrivals(test_frame(0, number, 5000) for number in (0, 1, 1, 5, 3, 99)))
write("sink", "streams", arrivals(test_frame(number, 0, 5000) for number in range(5)))
write("sink", "foreign", arrivals(FRAMES.values()))


def fragment(who, start, length, last=0, mark=0, pause=1):
    return bytes([who, start, length, last, mark, pause])


WHOLE = [fragment(0x10, 3 * at, 3, int(at == 3)) for at in (2, 0, 3, 1)]
OVERLAP = [fragment(0x18, 0, 3), fragment(0x18, 2, 3), fragment(0x18, 3, 3, 1)]
TWICE = [fragment(0x10, 0, 3), fragment(0x10, 0, 3), fragment(0x10, 0, 3, 0, 1)]
FLOOD = [fragment(16 * source + name, 3, 2) for source in range(16) for name in range(4)]
LATE = [fragment(0x10, 3, 3, 1, 0, 255)] + [fragment(0x20, at, 1, 0, 0, 255) for at in range(6)]
PIECE_V6 = bytes(12) + b"\x86\xdd\x60" + bytes(3) + b"\0\x10\x2c\x40" + bytes(32)
PIECE_V6 += b"\x11\0\0\x19" + bytes(3) + b"\x07" + bytes(8)
for name, some in (("order", WHOLE), ("overlap", OVERLAP), ("twice", TWICE)):
    write("fragments", name, b"\0" + b"".join(some))
for name, some in (("flood", FLOOD), ("late", LATE), ("mixed", WHOLE + OVERLAP + TWICE + FLOOD)):
    write("fragments", name, b"\1" + b"".join(some))
write("fragments", "frame", b"\0" + PIECE_V6)
