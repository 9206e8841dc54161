#!/usr/bin/env python3
"""Makes the seed corpora: one small input for each branch worth starting from."""

import gzip
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
HOST = b" HTTP/1.1\r\nHost: a\r\n"
PLAIN = b"GET /" + HOST + b"\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
LAST = b"0\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\n"
REQUESTS = {
    "plain": b"\x03GET /size/50" + HOST + b"\r\n",
    "two": b"\x07" + PLAIN + b"GET /chunked/9" + HOST + b"Connection: close\r\n\r\n",
    "chunked": b"\x01POST /echo" + HOST + CHUNKED
    + b"\r\n5;x=y\r\nhello\r\n0\r\nT: a\r\n\r\n" + PLAIN,
    "length": b"\x02PUT /status/201" + HOST
    + b"Content-Length: 5\r\nExpect: 100-continue\r\n\r\nhello",
    "both": b"\x09POST /" + HOST + b"Content-Length: 4\r\n" + CHUNKED + b"\r\n" + LAST + PLAIN,
    "folded": b"\x04GET /" + HOST + b"X: a\r\n b\r\n\r\n",
    "old": b"\x05GET /chunked/9 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "response": b"\x06" + OK + b"Content-Length: 3\r\nLinerate-Body: pattern\r\n\r\nabc",
    "interim": b"\x01HTTP/1.1 100 Continue\r\n\r\n" + OK + CHUNKED + b"\r\n3\r\nabc\r\n" + LAST,
}
for name, text in REQUESTS.items():
    write("requests", name, text)
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


def station(number):
    return bytes([2, 0, 0, 0, 0, number])


def arrival(port, to, source, tags="", pause=0):
    frame = to + station(source) + bytes.fromhex(tags) + b"\x88\xb5data"
    return bytes([port, pause, len(frame)]) + frame


EVERYBODY = b"\xff" * 6
LLDP = bytes.fromhex("0180c200000e")
# A port above 63: the policy drops it (64), the settings change first (128).
TALK = b"".join(
    arrival(port, to, source, tags, pause)
    for port, to, source, tags, pause in [
        (0, EVERYBODY, 1, "", 1),
        (1, station(1), 2, "8100a00a", 0),
        (1, station(2), 3, "8100000a81000014", 0),
        (2, EVERYBODY, 4, "88a8000a", 200),
        (0x42, EVERYBODY, 5, "", 0),
        (2, LLDP, 5, "8100", 0),
        (0x80, station(4), 1, "81000000", 9),
        (1, station(1), 1, "81000fff", 0),
    ]
)
FLOOD = b"".join(arrival(0, EVERYBODY, number) for number in range(60))
for name, text in {
    "default": "ports 4\nhairpin A\nisolated B,C\nstorm 5\nstations\nthen\nisolated A",
    "groups": "ports 5\ngroup A,B\ngroup B,C\nage 2\nreserved\nstations\nthen\ngroup A,E",
    "vlans": "ports 3\nvlan 10=A,Bt,C\nvlan 20=B,Ct\npvid C=20\nfilter A=off\ntpid C=88a8\n"
    "static 02:00:00:00:00:04@10=C\nthen\nvlan 30-4094=At,B\naccept B=tagged\ntunnel A",
    "limits": "ports 8\nstations\nport-stations A=3\nstorm A=9",
    "wrong": "ports 2\nvlan 10=A,At\npvid B=none\naccept A=some\nstatic 01:00=A",
}.items():
    write("switch", name, text.encode() + b"\n\n" + TALK + FLOOD)


def checked_v6(head, payload, following=58):
    """An IPv6 packet with the checksum of ICMPv6, which stands at 2 of its payload."""
    pseudo = head[8:40] + struct.pack("!II", len(payload), following)
    total = sum(struct.unpack(f"!{(len(pseudo) + len(payload)) // 2}H", pseudo + payload))
    total = (total & 0xFFFF) + (total >> 16)
    total = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    return head + payload[:2] + struct.pack("!H", total) + payload[4:]


def discovery(kind, flags, following=bytes()):
    """A message about 2001:db8::2, from and to an address beside it."""
    def near(last):
        return bytes.fromhex("20010db8") + bytes(11) + bytes([last])
    payload = struct.pack("!BBHI", kind, 0, 0, flags) + near(2) + following
    head = struct.pack("!IHBB", 6 << 28, len(payload), 58, 255) + near(1) + near(2)
    return checked_v6(head, payload)


def echo_v4():
    """An echo request, with right checksums."""
    head = bytes.fromhex("4500001c000700004001aed0" "0a000001" "c0000209")
    return head + bytes.fromhex("0800f7fe00010000")


PACKETS = {
    "arp": bytes.fromhex("0001080006040001" "020000000002" "c0000201" "000000000000" "c0000202"),
    "solicitation": discovery(135, 0, bytes.fromhex("0101020000000002")),
    "advertisement": discovery(136, 0xE0000000, bytes.fromhex("0201020000000002")),
    "echo": echo_v4(),
    "echo6": discovery(128, 0x10001),
    "udp": ipv4(UDP),
    "udp6": ipv6(UDP),
    "chain6": ipv6(CHAIN + UDP, 0),
    "long": ipv4(UDP + bytes(700)),
}
STEPS = [(0, who, 0) for who in range(6)] + [(2, 0, 0), (5, 1, 0x10), (5, 2, 2), (3, 3, 0x14)]
STEPS += [(1, 1, 20), (2, 0, 0), (1, 1, 120), (2, 1, 0), (1, 2, 30), (2, 2, 0), (6, 1, 0x14)]
for name, content in PACKETS.items():
    write("stack", name, b"\0" + content)
write("stack", "steps", b"\1" + b"".join(map(bytes, STEPS)))


def segment(flags, options=0, length=0, distance=0, port=0):
    """A made segment that fits, or lies so many bytes from where it would."""
    away = distance.to_bytes(2, "big", signed=True)
    return bytes([3, flags, port]) + away + bytes([0, 0, 255, options, length])


FIN, SYN, RST, ACK = 1, 2, 4, 16
OPENED = segment(SYN, options=3) + segment(ACK, options=6)
ANSWERED = OPENED + bytes([2, 0x82]) + segment(ACK, 6, 50) + segment(ACK, 6, 50)
SCRIPTS = {
    "closed": ANSWERED + segment(ACK | FIN) + bytes([2, 0]) + segment(ACK),
    "gaps": OPENED + b"".join(segment(ACK, 6, 20, 240 * gap) for gap in (3, 1, 2, 0)),
    "reset": OPENED + segment(RST, distance=9) + segment(RST),
    "lost": ANSWERED + bytes([1, 30, 1, 31, 1, 32, 1, 33, 1, 34]) + segment(ACK),
    "cookies": b"".join(segment(SYN, 3, port=port) + segment(ACK, port=port) for port in range(9)),
    "asked": bytes([2, 7])
    + segment(SYN | ACK, 3, port=16)
    + segment(ACK, 6, 3, port=16)
    + segment(ACK | FIN, 6, distance=18, port=16)
    + bytes([2, 0]),
    "raw": bytes([0, 20]) + bytes.fromhex("0fa00050000000000000000050020fff00000000"),
}
for name, content in SCRIPTS.items():
    write("tcp", name, content)

ROUTES = {
    "ipv4": b"""default via 192.0.2.1 dev eth0
10.0.0.0/8 via 198.51.100.1 dev eth2 metric 50 linkdown
10.1.0.0/16 \n\tnexthop via 192.0.2.1 dev eth0 weight 1 dead\n\tnexthop via 198.51.100.1 weight 3
10.3.0.0/16 via inet6 2001:db8:1::1 dev eth0 \nblackhole 10.4.0.0/16 \n10.4.0.0/16 dev a
10.12.0.0/16 nhid 7 via 192.0.2.1 realm 5 mtu lock 1300 features ecn congctl reno onlink
\tnh_info id 7 via 192.0.2.1 dev eth0 scope link\n""",
    "ipv6": b"""2001:db8:b::/48 metric 1024 pref medium
\tnexthop via 2001:db8:1::1 dev eth0 weight 2 \nlocal ::1 dev lo table local metric 0 pref medium
2001:db8:c::/48 via fe80::1 dev a\n2001:db8:c::/48 via fe80::2 dev a
unreachable default dev lo metric 4294967295 error -101 pref medium\n""",
    "oneline": b"10.1.0.0/16 \\\tnexthop via 192.0.2.1 weight 9 \\\tnexthop dev b # x\n",
    "wrong": b"10.0.0.1/8 via 192.0.2.1\nnexthop dev a\n10.0.0.0/8 frob \\\n default\n",
    "gzip": gzip.compress(b"10.0.0.0/8 dev a\n", mtime=0),
}
for name, text in ROUTES.items():
    write("routes", name, text)

NAT = {
    "rules": b"""oif "wan" ip saddr { 10.0.0.0/8, 192.0.2.1-192.0.2.9 } masquerade to :1024-2000
oifname wan meta l4proto udp snat ip to 203.0.113.1-203.0.113.9:1-9 endpoint-independent
iif "wan" tcp dport { 80, 443, } dnat to 10.0.0.5:80 # x\niif wan ip daddr 1.2.3.4 accept
""",
    "settings": b"timeout tcp 2h4m; timeout udp 300\nflows 9\nflows-per-address 5\nhairpin off",
    "wrong": b"table ip nat {\noif wan dnat to 1.2.3.4\niif wan tcp dport 0 accept\nflows -1\n",
}
for name, text in NAT.items():
    write("nat", name, text)

RULES = {
    "each": b"""policy drop
ip saddr { 10.0.0.0/8, 192.0.2.1-192.0.2.9 } tcp dport { 22, 80-90 } tcp flags syn / syn,ack accept
ip6 daddr != 2001:db8::/32 icmpv6 type nd-neighbor-solicit accept; ip saddr @bad drop # x
iif "A" oif "B" vlan id 5-9 fragment first ct state { new, related } ip dscp ef counter
meta l4proto { tcp, udp } th dport != 53 jump more
chain more {\n udp sport 0-65535 accept\n icmp type 3 icmp code 4 \\\n drop\n}
""",
    "circle": b"jump a\nchain a {\njump b\n}\nchain b {\njump a\n}\n",
    "wrong": b'policy accpt\ntcp dprot 22 drop\nip saddr 1.2.3.4/8 drop\niif "\nchain x {\n',
    "reject": b"reject\nreject with tcp reset\nreject with icmpx type no-route\nreject with x\n",
}
for name, text in RULES.items():
    write("rules", name, text)

NFT_HEAD = b"""{"nftables":[{"chain":{"family":"ip","table":"t","name":"f","type":"filter",
"hook":"forward","policy":"drop"}},{"chain":{"family":"ip","table":"t","name":"more"}}"""
NFT_RULE = b',{"rule":{"family":"ip","table":"t","chain":"%b","handle":7,"expr":[%b]}}'
NFT_MATCH = b'{"match":{"op":"%b","left":{"payload":{"protocol":"%b","field":"%b"}},"right":%b}}'
NFT_EXPRS = [
    NFT_MATCH % (b"==", b"tcp", b"dport", b'{"set":[22,{"range":[80,90]}]}') + b',{"accept":null}',
    NFT_MATCH % (b"!=", b"ip", b"saddr", b'{"prefix":{"addr":"10.0.0.0","len":8}}')
    + b',{"counter":{"packets":0,"bytes":0}},{"jump":{"target":"more"}}',
    NFT_MATCH % (b"==", b"ip", b"daddr", b'"@bad"') + b',{"log":null},{"drop":null}',
]
NFT_RULES = {
    "each": NFT_HEAD + b"".join(NFT_RULE % (b"f", expr) for expr in NFT_EXPRS) + b"]}",
    "chains": NFT_HEAD + NFT_RULE % (b"more", b'{"reject":null}') + b"]}",
    "names": NFT_HEAD.replace(b'"more"', rb'"x {\n}\naccept\nchain y"') + b"]}",
}
for name, text in NFT_RULES.items():
    write("nft_rules", name, text)
