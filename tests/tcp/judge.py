#!/usr/bin/env python3
"""Holds linerate's TCP against the kernel's: transfers both ways over a TUN device, bytes checked.

judge.py TCP_END [SEED] [TRANSFERS]: as root, in a network namespace of its own (unshare -n).
Between both, packets are lost, doubled and delayed by the seed; timing
decides too, so that a seed does not replay a run exactly. Prints a line for each role.
"""
import fcntl
import heapq
import os
import random
import select
import socket
import struct
import subprocess
import sys
import threading
import time

KERNEL, OURS = "10.77.0.1", "10.77.0.2"


def tun():
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, 0x400454CA, struct.pack("16sH22x", b"judge0", 0x0001 | 0x1000))
    for words in (["addr", "add", KERNEL + "/24", "dev", "judge0"],
                  ["link", "set", "judge0", "mtu", "1500", "up"], ["link", "set", "lo", "up"]):
        subprocess.run(["ip", *words], check=True)
    return device


class Path:
    """Carries packets between the device and the program, as badly as the seed says."""

    def __init__(self, device, program, dice, loss):
        self.device, self.program, self.dice, self.loss = device, program, dice, loss
        self.waiting, self.count, self.ends = [], 0, False
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=work, daemon=True)
                        for work in (self.from_device, self.from_program, self.deliver)]
        for thread in self.threads:
            thread.start()

    def post(self, to_program, packet):
        with self.lock:
            for _ in range(2 if self.dice.random() < self.loss / 2 else 1):
                if self.dice.random() >= self.loss:
                    self.count += 1
                    late = self.dice.random() * 0.004 if self.loss else 0
                    at = time.monotonic() + late
                    heapq.heappush(self.waiting, (at, self.count, to_program, packet))

    def from_device(self):
        while not self.ends:
            if select.select([self.device], [], [], 0.1)[0]:
                self.post(True, os.read(self.device, 65535))

    def from_program(self):
        pipe = self.program.stdout
        while len(head := pipe.read(2)) == 2:
            self.post(False, pipe.read(int.from_bytes(head, "big")))

    def deliver(self):
        while not self.ends:
            with self.lock:
                ready = self.waiting and self.waiting[0][0] <= time.monotonic()
                first = heapq.heappop(self.waiting) if ready else (0, 0, None, b"")
            _, _, to_program, packet = first
            if to_program is None:
                time.sleep(0.0003)
            elif to_program:
                try:
                    self.program.stdin.write(len(packet).to_bytes(2, "big") + packet)
                    self.program.stdin.flush()
                except (BrokenPipeError, ValueError):
                    return
            else:
                os.write(self.device, packet)

    def end(self):
        self.ends = True
        for thread in (self.threads[0], self.threads[2]):
            thread.join()


def start(program, words):
    pipe = subprocess.PIPE
    return subprocess.Popen([program, *map(str, words)], stdin=pipe, stdout=pipe, stderr=pipe)


def stop(path, program):
    path.end()
    try:
        program.stdin.close()
    except BrokenPipeError:
        pass
    program.wait(10)


def send_all(end, data):
    end.sendall(data)
    end.shutdown(socket.SHUT_WR)


def kernel_asks(device, program, dice, loss, sizes, half_open=100):
    ours = start(program, ["serve", OURS, 80, half_open])
    path = Path(device, ours, dice, loss)
    for size in sizes:
        data = dice.randbytes(size)
        with socket.create_connection((OURS, 80), timeout=60) as end:
            sender = threading.Thread(target=send_all, args=(end, data))
            sender.start()
            found = b"".join(iter(lambda: end.recv(65536), b""))
            sender.join()
        assert found == data, f"{size} bytes: {len(found)} came back, or others"
    stop(path, ours)


def kernel_gets_cookies(*run):
    kernel_asks(*run, half_open=0)


def send_back(end):
    with end:
        for data in iter(lambda: end.recv(65536), b""):
            end.sendall(data)


def echo(listener):
    while True:
        try:
            end, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=send_back, args=(end,), daemon=True).start()


def kernel_answers(device, program, dice, loss, sizes):
    for size in sizes:
        ours = start(program, ["connect", OURS, KERNEL + ":80", size, 2])
        path = Path(device, ours, dice, loss)
        code = ours.wait(120)
        said = ours.stderr.read().decode()
        stop(path, ours)
        assert code == 0, f"{size} bytes: {said}"


def main():
    program = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    transfers = int(sys.argv[3]) if len(sys.argv) > 3 else 6
    print(f"seed {seed}")
    dice = random.Random(seed)
    device = tun()
    listener = socket.create_server((KERNEL, 80))
    threading.Thread(target=echo, args=(listener,), daemon=True).start()
    for loss in (0, 0.02):
        for role in (kernel_asks, kernel_gets_cookies, kernel_answers):
            sizes = [0, 1, 1_000_000 if not loss else 200_000]
            sizes += [int(10 ** (dice.random() * 5)) for _ in range(transfers - len(sizes))]
            role(device, program, dice, loss, sizes)
            done = f"{len(sizes)} transfers, {sum(sizes)} bytes, all right"
            print(f"{role.__name__}, loss {loss}: {done}")


if __name__ == "__main__":
    main()
