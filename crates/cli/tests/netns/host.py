"""What the hosts beside the bridge do: one role a call.

tcp-receive PORT BYTES    take one connection, print the digest of what came
tcp-send ADDRESS PORT BYTES    the other end; prints the same digest
send INTERFACE FRAME COUNT    send a frame, given in hexadecimal
send-past INTERFACE FRAME    send a frame each millisecond until ended, past qdisc and taps
capture INTERFACE COUNT    print so many frames with the ethertype 88b5, tags put back
send-merged ADDRESS SEGMENTS    send datagrams of 1000 bytes as one, to be cut up by the interface
longest INTERFACE COUNT    print the length of the longest of so many frames
replay INTERFACE FILE    send the frames of a file, each behind its length; wait for the recorder
hold INTERFACE MILLISECONDS COUNT    send so many IPv4 frames back, each held for so long
dhcp-serve INTERFACE    answer one DHCP discover with a broadcast offer
dhcp-ask INTERFACE    broadcast discovers until an offer comes; print who offers
record INTERFACE    print number and digest of each frame of a replay
"""

import contextlib
import hashlib
import socket
import struct
import sys
import time
import zlib

ALL = 3
SOL_PACKET = 263
PACKET_STATISTICS = 6
PACKET_AUXDATA = 8
PACKET_QDISC_BYPASS = 20
PACKET_IGNORE_OUTGOING = 23
UDP_SEGMENT = 103
SO_RCVBUFFORCE = 33
VLAN_VALID = 1 << 4
TPID_VALID = 1 << 6
# For experiments (IEEE 802): frames that no stack answers.
MARK = bytes.fromhex("88b5")


def payload(count):
    line = bytes(range(256))
    return (line * (count // 256 + 1))[:count]


def tcp_receive(port, count):
    with socket.create_server(("0.0.0.0", int(port))) as server:
        server.settimeout(30)
        connection, _ = server.accept()
        connection.settimeout(30)
        left, digest = int(count), hashlib.sha256()
        while left > 0:
            part = connection.recv(65536)
            if not part:
                sys.exit(f"{left} bytes did not come")
            digest.update(part)
            left -= len(part)
        connection.sendall(b"done")
        print(digest.hexdigest())


def tcp_send(address, port, count):
    data = payload(int(count))
    for _ in range(100):
        try:
            connection = socket.create_connection((address, int(port)), timeout=30)
            break
        except ConnectionRefusedError:
            time.sleep(0.1)
    connection.sendall(data)
    if connection.recv(4) != b"done":
        sys.exit("the other end is gone")
    print(hashlib.sha256(data).hexdigest())


def opened(interface):
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    raw.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    raw.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    raw.bind((interface, ALL))
    raw.settimeout(20)
    return raw


def whole(raw):
    """The next frame with the tag that the kernel keeps beside it."""
    frame, aside, _, _ = raw.recvmsg(70000, 256)
    for level, kind, value in aside:
        if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
            status, _, _, _, _, tci, tpid = struct.unpack("IIIHHHH", value[:20])
            if status & VLAN_VALID:
                tpid = tpid if status & TPID_VALID else 0x8100
                frame = frame[:12] + struct.pack("!HH", tpid, tci) + frame[12:]
    return frame


def capture(interface, count):
    raw = opened(interface)
    print("ready", flush=True)
    seen = 0
    while seen < int(count):
        frame = whole(raw)
        if MARK in frame[12:28]:
            print(frame.hex(), flush=True)
            seen += 1


def send(interface, frame, count):
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    raw.bind((interface, 0))
    for _ in range(int(count)):
        raw.send(bytes.fromhex(frame))


def send_past(interface, frame):
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    raw.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
    raw.bind((interface, 0))
    while True:
        # The interface refuses frames while a program is put on it or its far end.
        with contextlib.suppress(OSError):
            raw.send(bytes.fromhex(frame))
        time.sleep(0.001)


def send_merged(address, segments):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1000)
        sender.sendto(payload(1000 * int(segments)), (address, 9))


def turned(raw):
    """Source and destination of Ethernet, IPv4 and UDP exchanged."""
    return (
        raw[6:12] + raw[:6] + raw[12:26] + raw[30:34] + raw[26:30]
        + raw[36:38] + raw[34:36] + raw[38:]
    )


def hold(interface, milliseconds, count):
    raw_socket = opened(interface)
    raw_socket.settimeout(0.001)
    held, left, delay = [], int(count), int(milliseconds) / 1000
    print("ready", flush=True)
    while left > 0:
        try:
            raw = raw_socket.recv(65536)
            if raw[12:14] == b"\x08\x00":
                held.append((time.monotonic() + delay, raw))
        except (TimeoutError, BlockingIOError):
            pass
        while held and held[0][0] <= time.monotonic():
            raw_socket.send(turned(held.pop(0)[1]))
            left -= 1


def longest(interface, count):
    raw = opened(interface)
    print("ready", flush=True)
    print(max(len(whole(raw)) for _ in range(int(count))))


# What a replay says to its recorder, and back: how far it is.
PACE = bytes.fromhex("025400000000025400000001") + MARK
END = 1 << 32
# Far below what the rings of any driver hold, since nobody may lose a frame.
AT_A_TIME = 400


def agree(raw, number):
    """Ask the recorder until it answers: frames before are there."""
    asked = PACE + struct.pack("!Q", number) + bytes(40)
    for _ in range(300):
        raw.send(asked)
        raw.settimeout(0.1)
        try:
            while raw.recv(2048)[: len(PACE) + 8] != asked[: len(PACE) + 8]:
                pass
            return
        except TimeoutError:
            pass
    sys.exit(f"no answer to {number}")


def replay(interface, path):
    raw = opened(interface)
    frames = open(path, "rb").read()
    place, number = 0, 0
    while place < len(frames):
        if number % AT_A_TIME == 0:
            agree(raw, number)
        (length,) = struct.unpack_from("!I", frames, place)
        raw.send(frames[place + 4 : place + 4 + length])
        place += 4 + length
        number += 1
    agree(raw, END)


def record(interface):
    raw = opened(interface)
    raw.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
    print("ready", flush=True)
    lines = []
    while True:
        frame = whole(raw)
        if frame.startswith(PACE):
            raw.send(frame)
            if struct.unpack_from("!Q", frame, len(PACE))[0] == END:
                break
        elif frame[6:8] == b"\x02\x53":
            (number,) = struct.unpack_from("!I", frame, 8)
            lines.append(f"{number} {zlib.crc32(frame):08x}")
    _, lost = struct.unpack("II", raw.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
    if lost:
        sys.exit(f"{lost} frames did not fit into the recorder's buffer")
    print("\n".join(lines))


def dhcp_socket(interface, port):
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    datagrams.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
    datagrams.bind(("", port))
    return datagrams


def dhcp_serve(interface):
    with dhcp_socket(interface, 67) as server:
        server.settimeout(30)
        print("ready", flush=True)
        discover, _ = server.recvfrom(2048)
        offer = b"\x02" + discover[1:]
        server.sendto(offer, ("255.255.255.255", 68))


def dhcp_ask(interface):
    discover = bytes([1, 1, 6, 0]) + bytes(232) + bytes([99, 130, 83, 99, 53, 1, 1, 255])
    with dhcp_socket(interface, 68) as client:
        client.settimeout(1)
        for _ in range(5):
            client.sendto(discover, ("255.255.255.255", 67))
            with contextlib.suppress(TimeoutError):
                offer, (server, _) = client.recvfrom(2048)
                print(server if offer[0] == 2 else "no offer")
                return
        sys.exit("nobody offers an address")


ROLES = {
    "tcp-receive": tcp_receive,
    "tcp-send": tcp_send,
    "send": send,
    "send-past": send_past,
    "send-merged": send_merged,
    "capture": capture,
    "longest": longest,
    "hold": hold,
    "replay": replay,
    "dhcp-serve": dhcp_serve,
    "dhcp-ask": dhcp_ask,
    "record": record,
}
ROLES[sys.argv[1]](*sys.argv[2:])
