"""What the hosts beside the bridge do: one role a call.

tcp-receive PORT BYTES    take one connection, print the digest of what came
tcp-send ADDRESS PORT BYTES    the other end; prints the same digest
send INTERFACE FRAME COUNT    send a frame, given in hexadecimal
capture INTERFACE COUNT    print so many frames with the ethertype 88b5, tags put back
send-merged ADDRESS SEGMENTS    send datagrams of 1000 bytes as one, to be cut up by the interface
longest INTERFACE COUNT    print the length of the longest of so many frames
"""

import hashlib
import socket
import struct
import sys
import time

ALL = 3
SOL_PACKET = 263
PACKET_AUXDATA = 8
PACKET_IGNORE_OUTGOING = 23
UDP_SEGMENT = 103
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


def send_merged(address, segments):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1000)
        sender.sendto(payload(1000 * int(segments)), (address, 9))


def longest(interface, count):
    raw = opened(interface)
    print("ready", flush=True)
    print(max(len(whole(raw)) for _ in range(int(count))))


ROLES = {
    "tcp-receive": tcp_receive,
    "tcp-send": tcp_send,
    "send": send,
    "send-merged": send_merged,
    "capture": capture,
    "longest": longest,
}
ROLES[sys.argv[1]](*sys.argv[2:])
