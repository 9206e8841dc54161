"""Random switches and random frames for them, by a seed."""

import random

from model import SECOND, Arrival, Port, Settings

VLANS = [1, 10, 20, 4094]
FOREIGN = 77  # in no table
GROUPS = ["ffffffffffff", "01005e000001", "0180c2000000", "0180c200000f", "0180c2000010"]


def case(seed):
    """The settings, the words that mean them, and the arrivals."""
    random_ = random.Random(seed)
    settings = random_settings(random_)
    return settings, words(settings), arrivals(random_, settings)


def random_settings(random_):
    ports = [Port() for _ in range(random_.randint(2, 5))]
    settings = Settings(ports, mode=random_.choice(["default", "port", "dot1q", "dot1q", "dot1q"]))
    settings.age_s = random_.choice([5, 300])
    settings.forward_reserved = random_.random() < 0.2
    for port in ports:
        port.isolated = random_.random() < 0.15
        port.hairpin = random_.random() < 0.1
    if settings.mode == "port":
        count = random_.randint(1, 3)
        settings.groups = [random_group(random_, len(ports)) for _ in range(count)]
    if settings.mode == "dot1q":
        for vlan in random_.sample(VLANS, random_.randint(1, 4)):
            settings.vlans[vlan] = random_members(random_, len(ports))
        for port in ports:
            set_vlans_of(random_, port, settings)
    add_statics(random_, settings)
    return settings


def random_group(random_, ports):
    return sorted(random_.sample(range(ports), random_.randint(2, ports)))


def random_members(random_, ports):
    members = {}
    for port in range(ports):
        if random_.random() < 0.7:
            members[port] = random_.random() < 0.5
    return members or {0: True}


def set_vlans_of(random_, port, settings):
    port.pvid = random_.choice([None, *settings.vlans, *settings.vlans])
    port.priority = random_.choice([0, 0, 5, 7])
    port.accept = random_.choice(["all", "all", "all", "tagged", "untagged"])
    port.filter = random_.random() < 0.7
    port.tpid = random_.choice([0x8100, 0x8100, 0x8100, 0x88A8, 0x9100])
    port.tunnel = random_.random() < 0.15


def add_statics(random_, settings):
    for _ in range(random_.choice([0, 0, 1, 2])):
        vlan = random_.choice(list(settings.vlans)) if settings.vlans else 0
        port = random_.choice(list(settings.vlans.get(vlan, range(len(settings.ports)))))
        settings.statics[vlan, station(random_)] = port


def station(random_):
    return bytes([2, 0, 0, 0, 0, random_.randint(1, 6)])


def arrivals(random_, settings):
    frames, time_ns = [], SECOND
    for _ in range(random_.randint(40, 120)):
        # Apart by nothing, little, or about the shorter age; never just at it.
        time_ns += random_.choice([0, 0, 1000, SECOND // 3, 7 * SECOND])
        port = random_.randrange(len(settings.ports))
        frames.append(Arrival(time_ns, port, random_frame(random_)))
    return frames


def random_frame(random_):
    destination = station(random_)
    if random_.random() < 0.25:
        destination = bytes.fromhex(random_.choice(GROUPS))
    source = random_.choice([station(random_)] * 30 + [bytes(6), b"\x03" + bytes(5)])
    tags = b"".join(tag(random_) for _ in range(random_.choice([0, 0, 1, 1, 1, 2, 3])))
    payload = random_.randbytes(random_.choice([0, 1, 46, 100]))
    frame = destination + source + tags + b"\x88\xb5" + payload
    # Cut anywhere, a tag too; no capture port takes in a frame without a byte.
    return frame[: random_.randint(1, 19)] if random_.random() < 0.06 else frame


def tag(random_):
    kind = random_.choice([0x8100, 0x8100, 0x8100, 0x88A8, 0x9100])
    vlan = random_.choice([0, *VLANS, *VLANS, FOREIGN, 4095])
    bits = random_.randrange(16) << 12
    return kind.to_bytes(2, "big") + (bits | vlan).to_bytes(2, "big")


def name(port):
    return "ABCDE"[port]


def words(settings):
    """The options that mean these settings."""
    said = ["--vlan-mode", settings.mode, "--age", f"{settings.age_s}s"]
    if settings.forward_reserved:
        said += ["--reserved", "forward"]
    for group in settings.groups:
        said += ["--group", ",".join(map(name, group))]
    for vlan, members in settings.vlans.items():
        listed = [name(port) + "t" * tagged for port, tagged in members.items()]
        said += ["--vlan", f"{vlan}={','.join(listed)}"]
    for (vlan, address), port in settings.statics.items():
        at = f"@{vlan}" if settings.mode == "dot1q" else ""
        said += ["--static", f"{address.hex(':')}{at}={name(port)}"]
    for number, port in enumerate(settings.ports):
        said += port_words(name(number), port, settings.mode)
    return said


def port_words(port_name, port, mode):
    said = []
    for option in ("isolated", "hairpin"):
        said += [f"--{option}", port_name] if getattr(port, option) else []
    if mode == "dot1q":
        said += ["--pvid", f"{port_name}={port.pvid or 'none'}"]
        said += ["--priority", f"{port_name}={port.priority}"]
        said += ["--accept", f"{port_name}={port.accept}"]
        said += ["--filter", f"{port_name}={'on' if port.filter else 'off'}"]
        said += ["--tpid", f"{port_name}={port.tpid:04x}"]
        said += ["--tunnel", port_name] if port.tunnel else []
    return said
