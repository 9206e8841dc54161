"""What hosts do in their namespaces: servers and clients, one action a process.

actors.py ACTION ARGUMENT...; prints what it saw.
"""

import hashlib
import select
import socket
import struct
import sys
import threading

IP_RECVERR = 11
IP_MTU_DISCOVER = 10
PMTUDISC_DONT = 0


def serve():
    """TCP and UDP on ports 7 and 80: tells clients who they are, and echoes."""
    for port in (7, 80):
        threading.Thread(target=serve_udp, args=(port,), daemon=True).start()
        threading.Thread(target=serve_tcp, args=(port,), daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()


def serve_udp(port):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, PMTUDISC_DONT)
    server.bind(("", port))
    while True:
        data, peer = server.recvfrom(1 << 16)
        server.sendto(f"{peer[0]} {peer[1]} {digest(data)}".encode() + b"." * len(data), peer)


def serve_tcp(port):
    server = socket.create_server(("", port), backlog=64)
    while True:
        peer, address = server.accept()
        threading.Thread(target=answer_tcp, args=(peer, address), daemon=True).start()


def answer_tcp(peer, address):
    with peer:
        data = b""
        while piece := peer.recv(1 << 16):
            data += piece
        peer.sendall(f"{address[0]} {address[1]} {digest(data)}".encode() + b"." * len(data))


def digest(data):
    return hashlib.sha256(data).hexdigest()[:12]


def tcp(address, port, size, source=0):
    """Sends so many bytes and reads as many back; prints who the server says that this is."""
    data = bytes(range(256)) * (int(size) // 256)
    try:
        peer = socket.create_connection((address, int(port)), 10, ("", int(source)))
        with peer:
            peer.settimeout(20)
            peer.sendall(data)
            peer.shutdown(socket.SHUT_WR)
            answer = b""
            while piece := peer.recv(1 << 16):
                answer += piece
    except OSError as error:
        return print(type(error).__name__)
    who, its_port, sum_of_it = head(answer)
    is_whole = sum_of_it == digest(data) and answer.count(b".") >= len(data)
    print(who, its_port, "whole" if is_whole else "damaged")


def head(answer):
    """Address, port and digest in front of the padding."""
    words = answer.split(b" ", 2)
    return words[0].decode(), int(words[1]), words[2][:12].decode()


def udp(address, port, size, source=0):
    data = bytes(range(256)) * (int(size) // 256) or b"x"
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, PMTUDISC_DONT)
    one.bind(("", int(source)))
    one.connect((address, int(port)))
    one.settimeout(3)
    try:
        one.send(data)
        answer = one.recv(1 << 16)
    except OSError as error:
        return print(type(error).__name__)
    who, its_port, sum_of_it = head(answer)
    is_whole = sum_of_it == digest(data) and answer.count(b".") >= len(data)
    print(who, its_port, "whole" if is_whole else "damaged")


def trace(address, hops):
    """Who answers datagrams with TTL 1, 2, ...: as traceroute finds out."""
    seen = []
    for ttl in range(1, int(hops) + 1):
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)
        one.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, ttl)
        one.sendto(b"traceroute", (address, 33434 + ttl))
        waiting = select.poll()
        waiting.register(one, select.POLLERR)
        if not waiting.poll(3000):
            seen.append("*")
            continue
        _, extra, _, _ = one.recvmsg(512, 512, socket.MSG_ERRQUEUE)
        data = extra[0][2]
        _, _, kind, code = struct.unpack("=IBBB", data[:7])
        seen.append(f"{socket.inet_ntoa(data[20:24])} {kind}/{code}")
    print(", ".join(seen))


def gre(address):
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, 47)
    for _ in range(3):
        raw.sendto(b"\0\0\x08\0" + b"x" * 20, (address, 0))
    print("sent")


def watch(interface, prefix, kinds):
    """Counts IPv4 packets from addresses that begin so, until its input ends."""
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
    raw.bind((interface, 0x0800))
    print("ready", flush=True)
    wanted = bytes(int(part) for part in prefix.split(".") if part)
    count = 0
    while True:
        ready, _, _ = select.select([raw, sys.stdin], [], [])
        if raw in ready:
            frame, address = raw.recvfrom(2048)
            is_in = address[2] != socket.PACKET_OUTGOING
            is_kind = kinds == "all" or str(frame[23]) == kinds
            count += is_in and is_kind and frame[26:].startswith(wanted)
        elif sys.stdin in ready:
            break
    print(count)


if __name__ == "__main__":
    ACTIONS = {one.__name__: one for one in (serve, tcp, udp, trace, gre, watch)}
    ACTIONS[sys.argv[1]](*sys.argv[2:])
