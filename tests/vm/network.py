"""Cards of the guest, and what joins them on the host: a tap each, and a bridge for each side of a
test, in a network namespace that this process has for itself."""

import pathlib
import subprocess

# Above the largest frame that a test sends, so that the wire is never what limits.
MTU = 9216


class Nic:
    """A card of QEMU, of a model of `-device`, by the name of its tap and of its interface."""

    count = 0

    def __init__(self, name, model, queues=1, options=None, bus="pcie.0"):
        Nic.count += 1
        self.name, self.model, self.queues, self.bus = name, model, queues, bus
        self.options = options or {}
        self.number, self.mac = Nic.count, f"52:54:00:00:00:{Nic.count:02x}"

    def arguments(self):
        """For QEMU. Each card has a root port of its own, from which it can be pulled."""
        several = f",queues={self.queues}" if self.queues > 1 else ""
        device = ",".join(f"{key}={value}" for key, value in self.device().items())
        return [
            "-netdev", f"tap,id={self.name},ifname={self.name},script=no,downscript=no{several}",
            "-device", f"pcie-root-port,id=slot-{self.name},chassis={self.number},bus={self.bus}",
            "-device", device.removeprefix("driver="),
        ]

    def device(self):
        """What QEMU's monitor needs to put the card in."""
        several = {"mq": "on", "vectors": 2 * self.queues + 2} if self.queues > 1 else {}
        return {"driver": self.model, "id": f"card-{self.name}", "netdev": self.name,
                "mac": self.mac, "bus": f"slot-{self.name}", "romfile": "", **several,
                **self.options}

    def make_tap(self):
        several = ["multi_queue"] if self.queues > 1 else []
        ip("tuntap", "add", "dev", self.name, "mode", "tap", "vnet_hdr", *several)
        bring_up(self.name)


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def bring_up(interface):
    pathlib.Path(f"/proc/sys/net/ipv6/conf/{interface}/disable_ipv6").write_text("1")
    ip("link", "set", interface, "mtu", str(MTU), "up")


def is_ours():
    """Whether this namespace is empty: nothing is made beside interfaces of the machine."""
    interfaces = pathlib.Path("/proc/net/dev").read_text().splitlines()[2:]
    return [line.split(":")[0].strip() for line in interfaces] == ["lo"]


def wire(name, nics):
    """What one card sends comes in at the others: a bridge that learns nothing floods."""
    ip("link", "add", name, "type", "bridge", "ageing_time", "0", "mcast_snooping", "0")
    for nic in nics:
        nic.make_tap()
        ip("link", "set", nic.name, "master", name)
    bring_up(name)
