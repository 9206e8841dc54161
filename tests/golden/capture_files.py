"""pcap and pcapng files, read and written with struct alone.

Independent of linerate on purpose: the judge must not share a reader with what it judges. What is
read here is held against tshark's own frame lengths and times in wireshark.py.
"""

import struct
from typing import NamedTuple


class Record(NamedTuple):
    """One captured frame."""

    time_ns: int
    original_len: int
    captured: bytes


PCAP_UNITS = {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}  # magic -> nanoseconds in a unit


def read(path):
    """All records of the file; pcap or pcapng is told by the first bytes."""
    with open(path, "rb") as file:
        content = file.read()
    if content[:4] == b"\x0a\x0d\x0d\x0a":
        return list(read_pcapng(content))
    return list(read_pcap(content))


def read_pcap(content):
    for order in "<>":
        unit_ns = PCAP_UNITS.get(struct.unpack_from(order + "I", content)[0])
        if unit_ns:
            break
    else:
        raise ValueError("neither pcap nor pcapng")
    at = 24
    while at < len(content):
        seconds, parts, captured, original = struct.unpack_from(order + "IIII", content, at)
        frame = content[at + 16 : at + 16 + captured]
        yield Record(seconds * 10**9 + parts * unit_ns, original, frame)
        at += 16 + captured


def read_pcapng(content):
    at, order, units = 0, "<", []
    while at < len(content):
        kind = struct.unpack_from(order + "I", content, at)[0]
        if kind == 0x0A0D0D0A:  # a section: its own byte order, its own interfaces
            order = "<" if content[at + 8 : at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            units = []
        length = struct.unpack_from(order + "I", content, at + 4)[0]
        body = content[at + 8 : at + length - 4]
        if kind == 1:
            units.append(ticks_in_a_second(body[8:], order))
        elif kind == 6:
            interface, high, low, captured, original = struct.unpack_from(order + "5I", body)
            ticks = high << 32 | low
            yield Record(ticks * 10**9 // units[interface], original, body[20 : 20 + captured])
        at += length


def ticks_in_a_second(options, order):
    at = 0
    while at + 4 <= len(options):
        code, length = struct.unpack_from(order + "HH", options, at)
        if code == 9:  # if_tsresol: a power of ten, or of two with the top bit set
            value = options[at + 4]
            return 2 ** (value & 127) if value & 128 else 10**value
        at += 4 + (length + 3) // 4 * 4
    return 10**6


def write_pcap(path, records, order="<", nano=False, snap_len=262144):
    magic, unit_ns = (0xA1B23C4D, 1) if nano else (0xA1B2C3D4, 1000)
    with open(path, "wb") as file:
        file.write(struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snap_len, 1))
        for time_ns, original, captured in records:
            seconds, rest = divmod(time_ns, 10**9)
            head = (seconds, rest // unit_ns, len(captured), original)
            file.write(struct.pack(order + "IIII", *head) + captured)


def block(order, kind, body):
    body += bytes(-len(body) % 4)
    length = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + length + body + length


def write_pcapng(path, records, order="<"):
    """Two interfaces with different clocks, and blocks that a reader must step over."""

    def option(code, value):
        return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)

    end = option(0, b"")
    with open(path, "wb") as file:
        section = struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1)
        file.write(block(order, 0x0A0D0D0A, section + option(4, b"golden captures") + end))
        for resolution in (9, 6):
            interface = struct.pack(order + "HHI", 1, 0, 0) + option(2, b"port")
            file.write(block(order, 1, interface + option(9, bytes([resolution])) + end))
        file.write(block(order, 4, struct.pack(order + "HH", 0, 0)))  # name resolution, empty
        file.write(block(order, 0x0BAD, b"\x00\x00\x7e\x57" + b"opaque"))  # custom
        for index, (time_ns, original, captured) in enumerate(records):
            # Frames whose time is a whole microsecond may come from the second interface.
            coarse = index % 5 == 0 and time_ns % 1000 == 0
            ticks = time_ns // 1000 if coarse else time_ns
            head = (int(coarse), ticks >> 32, ticks & 0xFFFFFFFF, len(captured), original)
            body = struct.pack(order + "5I", *head) + captured + bytes(-len(captured) % 4)
            comment = option(1, b"a comment") + end if index % 3 == 0 else b""
            file.write(block(order, 6, body + comment))
