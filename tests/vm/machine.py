"""A virtual machine of QEMU: started on an overlay of the image, asked to run commands by its
agent, driven by QEMU's monitor, and ended with all that it wrote."""

import json
import os
import pathlib
import select
import shutil
import socket
import subprocess
import tempfile
import time

import image

BOOT_SECONDS = 600
HOST_DISK_BYTES = 256 << 20
CONSOLE_LINES_SHOWN = 40


class Failed(Exception):
    """A command of the guest ended otherwise than it should, or the guest said nothing."""


class Socket:
    """One end of a pair whose other end QEMU has: no path, and gone when both have ended."""

    def __init__(self):
        self.ours, self.of_qemu = socket.socketpair()
        self.pending = b""

    def chardev(self, name):
        return ["-chardev", f"socket,id={name},fd={self.of_qemu.fileno()}"]

    def line(self, deadline):
        """The next line that QEMU or the guest writes."""
        while b"\n" not in self.pending:
            left = max(0, deadline - time.monotonic())
            ready, _, _ = select.select([self.ours], [], [], left)
            data = self.ours.recv(65536) if ready else b""
            if not data:
                raise Failed("QEMU ended" if ready else "the guest gave no answer in time")
            self.pending += data
        line, _, self.pending = self.pending.partition(b"\n")
        return line


class Machine:
    """Use it with `with`: whatever happens, QEMU ends and its files are removed."""

    def __init__(self, debian, nics, files, more=(), processors=2, memory="1G"):
        self.release = debian.release
        self.debian, self.nics, self.files, self.more = debian, nics, files, more
        self.processors, self.memory = processors, memory
        self.number, self.answers = 0, {}

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="linerate-vm-"))
        self.qemu = None
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            self.show_console()
        self.stop()

    def start(self):
        self.make_disks()
        self.agent, self.monitor_line = Socket(), Socket()
        ends = [self.agent.of_qemu, self.monitor_line.of_qemu]
        started = time.monotonic()
        with open(self.folder / "qemu.log", "w") as log:
            self.qemu = subprocess.Popen(self.arguments(), stdin=subprocess.DEVNULL, stdout=log,
                                         stderr=log, pass_fds=[end.fileno() for end in ends])
        for end in ends:
            end.close()
        try:
            self.answer(0, started + BOOT_SECONDS)
            self.monitor("qmp_capabilities")
            self.name_interfaces()
        except Failed:
            self.show_console()
            raise
        self.boot_seconds = time.monotonic() - started

    def name_interfaces(self):
        """Gives each interface the name of its card, once its driver is there."""
        self.run("udevadm settle --timeout 120", seconds=150)
        for nic in self.nics:
            self.run(f"""set -e
                old=$(grep -l {nic.mac} /sys/class/net/*/address | cut -d/ -f5)
                ip link set $old name {nic.name}
                sysctl -qw net.ipv6.conf.{nic.name}.disable_ipv6=1""")

    def make_disks(self):
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b",
                        str(self.debian.disk), str(self.folder / "guest.qcow2")], check=True)
        content = self.folder / "host"
        content.mkdir()
        for path in [pathlib.Path(__file__).with_name("agent.py"), *self.files]:
            shutil.copy(path, content)
        image.make_disk(self.folder / "host.img", content, "host", HOST_DISK_BYTES)

    def arguments(self):
        disks = [("guest.qcow2", "qcow2", "off"), ("host.img", "raw", "on")]
        arguments = [
            "qemu-system-x86_64", "-machine", "q35", "-nodefaults", "-display", "none",
            "-no-reboot", *accelerator(), "-smp", str(self.processors), "-m", self.memory,
            "-kernel", str(self.debian.vmlinuz), "-initrd", str(self.debian.initrd), "-append",
            "root=LABEL=guest rw console=ttyS0 panic=-1 net.ifnames=0 mitigations=off",
            "-serial", f"file:{self.folder}/console", "-device", "virtio-rng-pci",
            "-device", "virtio-serial-pci", *self.agent.chardev("agent"),
            "-device", "virtserialport,chardev=agent,name=agent",
            *self.monitor_line.chardev("monitor"), "-mon", "chardev=monitor,mode=control",
        ]
        for name, form, read_only in disks:
            arguments += [
                "-drive", f"file={self.folder}/{name},if=none,id={name},format={form},"
                f"readonly={read_only},cache=unsafe",
                "-device", f"virtio-blk-pci,drive={name}"]
        arguments += self.more
        for nic in self.nics:
            arguments += nic.arguments()
        return arguments

    def begin(self, command, seconds=60):
        """Begins a command and gives its number, for `answer`."""
        self.number += 1
        asked = {"id": self.number, "command": command, "seconds": seconds}
        self.agent.ours.sendall(json.dumps(asked).encode() + b"\n")
        return self.number

    def answer(self, number, deadline):
        """The answer to a command; those of others are kept for who asks for them."""
        while number not in self.answers:
            answer = json.loads(self.agent.line(deadline))
            self.answers[answer["id"]] = answer
        return self.answers.pop(number)

    def run(self, command, seconds=60, code=0):
        """What a command printed. Failed where its exit code is not this; None takes any."""
        number = self.begin(command, seconds)
        answer = self.answer(number, time.monotonic() + seconds + 30)
        if code is not None and answer["code"] != code:
            raise Failed(f"exit code {answer['code']} of: {command}\n{answer['output']}")
        return answer["output"]

    def monitor(self, command, **arguments):
        """A command of QEMU's monitor (QMP), done when this returns."""
        asked = {"execute": command, "arguments": arguments}
        self.monitor_line.ours.sendall(json.dumps(asked).encode() + b"\n")
        deadline = time.monotonic() + 10
        while True:
            answer = json.loads(self.monitor_line.line(deadline))
            if "error" in answer:
                raise Failed(f"{command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]

    def show_console(self):
        for name in ("qemu.log", "console"):
            path = self.folder / name
            lines = path.read_text(errors="replace").splitlines() if path.exists() else []
            for line in lines[-CONSOLE_LINES_SHOWN:]:
                print(f"  {name}: {line}")

    def stop(self):
        if self.qemu:
            self.qemu.kill()
            self.qemu.wait()
        shutil.rmtree(self.folder)


def accelerator():
    """What a guest runs on. KVM below another hypervisor is slower than no KVM at all; emulation
    is in one thread: with more a guest of 6.12 panicked, and bridges of 6.1 took twice as long."""
    nested = " hypervisor " in pathlib.Path("/proc/cpuinfo").read_text()
    if os.access("/dev/kvm", os.W_OK) and not nested:
        return ["-accel", "kvm", "-cpu", "host"]
    return ["-accel", "tcg,thread=single", "-cpu", "max"]
