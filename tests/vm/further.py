"""What the long form tries beside each kind of port: traffic against netem, receive hashes, clocks,
cards that are reset, pulled out and put back, a guest that stands still, two memory nodes."""

import json
import time

import network

# More than any test here needs on a busy machine.
SECONDS = 300
FRAMES = 1000
# Each kind of netem, and what a sink must say of frames of one flow.
NETEM = {
    "delay 50ms": lambda sink: sink["latency"]["min_ns"] >= 50e6,
    "loss 20%": lambda sink: 0.1 * FRAMES < sink["lost"] < 0.3 * FRAMES,
    "duplicate 20%": lambda sink: 0.1 * FRAMES < sink["duplicated"] < 0.3 * FRAMES,
    "delay 20ms reorder 50%": lambda sink: sink["reordered"] > 0.05 * FRAMES,
}


def exchange(guest, sender, receiver, options=""):
    """What a generator and a sink said: `w1/packet:t1` is a port in the namespace w1."""
    said = guest.run(f"python3 /host/guest.py exchange {FRAMES} {sender} {receiver} {options}",
                     seconds=SECONDS)
    return json.loads(said)


def arrived(said):
    """What the sink says of the frames; nothing where there was none."""
    return said["sink"].get("arrived") or {}


def traffic(guest, results):
    """Order, loss and delay as the kernel's emulator makes them."""
    for kind, is_right in NETEM.items():
        guest.run(f"ip netns exec w1 tc qdisc replace dev t1 root netem {kind}")
        said = exchange(guest, "w1/packet:t1,qdisc=on", "/packet:ka", "--flows 1")
        results.check(f"netem {kind} is what the sink says",
                      arrived(said) and is_right(arrived(said)), said)
    said = exchange(guest, "w1/packet:t1,qdisc=on", "/packet:ka")
    sink = arrived(said)
    results.check("flows that overtake each other are not reordered",
                  sink and sink["reordered"] == 0 < sink["reordered_across_flows"], said)
    guest.run("ip netns exec w1 tc qdisc del dev t1 root")


def resets(guest, results):
    """A card whose link goes when an offload is switched loses no frame of a test."""
    for spec in ("packet:ka", "xdp:ka,mode=generic"):
        said = exchange(guest, "/" + spec, "w1/packet:t1")
        sink, sent = arrived(said), said["gen"]
        # Whether the rate was reached is the machine's doing.
        right = (sink and sink["frames"] == FRAMES and sink["lost"] == 0
                 and sent["departure"]["link_down"] is None)
        results.check(f"{spec} waits for its carrier: no frame is lost", right,
                      (said["code"], sink, sent.get("no_result"), said["stderr"]))


def clocks(guest, results):
    """Times of a card are had or not, and never believed where it stamps nothing."""
    for name in ("ka", "va", "xa"):
        spec = f"/packet:{name},timestamps=hardware"
        said = exchange(guest, "w1/packet:t1", spec)
        clock = said["sink"].get("clock")
        if clock is None:
            reason = said["stderr"].partition("no timestamps of hardware: ")[2].partition(";")[0]
            results.check(f"{spec[1:]} is refused: {reason}", reason, said)
            continue
        right = clock["hardware_timestamps"] == (clock["hardware_frames"] > 0)
        results.check(f"{spec[1:]} is believed as far as it stamps", right, clock)


def verified(guest, name):
    """The exit code and the words of `rss verify` while frames of many flows come."""
    number = guest.begin(f"linerate rss verify {name} --duration 15s --json", 60)
    exchange(guest, "w1/packet:t1", f"/packet:{name}", "--flows 100")
    answer = guest.answer(number, time.monotonic() + SECONDS)
    return answer["code"], answer["output"]


def hashes(guest, results):
    """Cards are held to what they say of their hash, and to nothing else."""
    # virtio_net of 6.1 hands its table to the hypervisor only when it is set.
    said = guest.run("linerate rss apply va --queues 1 --duration 1s --json", code=None)
    results.check("what rss apply sets is read back", '"not_taken":[]' in said, said)
    for name in ("va", "ka", "xa"):
        code, said = verified(guest, name)
        results.check(f"the receive hash of {name} is as it says", code == 0, said)
    guest.run("ethtool -K va rx-hashing off")
    code, said = verified(guest, "va")
    results.check("a hash that is switched off is named", code == 0 and "rxhash on" in said, said)
    guest.run("ethtool -K va rx-hashing on")


def plug(guest, nic, in_or_out):
    """Pulls a card out of its slot or puts it back, and waits until the guest has seen it."""
    if in_or_out == "out":
        guest.monitor("device_del", id=f"card-{nic.name}")
        guest.run(f"while [ -e /sys/class/net/{nic.name} ]; do sleep 0.2; done", SECONDS)
        return
    guest.monitor("device_add", **nic.device())
    guest.run(f"""until old=$(grep -l {nic.mac} /sys/class/net/*/address | cut -d/ -f5) &&
            [ -n "$old" ]; do sleep 0.2; done
        ip link set $old name {nic.name}
        sysctl -qw net.ipv6.conf.{nic.name}.disable_ipv6=1
        ip link set {nic.name} up""", SECONDS)


def plugs(guest, results, nic, probe):
    """A bridge goes on when its card comes back, and when the guest stood still."""
    guest.run("systemd-run -q --unit=plugs -p LimitMEMLOCK=infinity "
              "linerate bridge xdp:va xdp:vb --json")
    results.crossed("frames cross before a card is pulled out", probe())
    plug(guest, nic, "out")
    plug(guest, nic, "in")
    results.crossed("and when it is back", probe())
    guest.monitor("stop")
    time.sleep(15)
    guest.monitor("cont")
    results.crossed("and when the guest stood still for 15 s", probe())
    guest.run("systemctl stop plugs", SECONDS)


def other_ends(guest, results):
    """A bridge and a bond of the kernel's as the other end."""
    for kind in ("bridge", "bond mode active-backup miimon 100"):
        said = guest.run(f"python3 /host/guest.py behind 1500 {kind}", seconds=SECONDS)
        results.crossed(f"frames of a {kind.split()[0]} at the other end cross",
                        json.loads(said))


NODES = [
    "-object", "memory-backend-ram,id=near,size=512M",
    "-object", "memory-backend-ram,id=far,size=512M",
    "-numa", "node,nodeid=0,cpus=0,memdev=near", "-numa", "node,nodeid=1,cpus=1,memdev=far",
    "-device", "pxb-pcie,id=node1,bus_nr=128,numa_node=1,bus=pcie.0",
]
HUGE = "/sys/devices/system/node/node{}/hugepages/hugepages-2048kB/nr_hugepages"


def node_cards():
    """Two cards on the second memory node, one beside the other."""
    nics = [network.Nic(name, "virtio-net-pci", bus="node1") for name in ("na", "nb")]
    network.wire("nodes", nics)
    return nics


def nodes(guest, results):
    """Workers and their memory are on the node of the cards, or it is said that they are not."""
    guest.run("ip link set na up; ip link set nb up")

    def bridge(options):
        command = f"linerate bridge packet:na packet:nb --duration 1s --json {options}"
        said = guest.run(f"{command} 2>/tmp/said", SECONDS)
        return json.loads(said), guest.run("cat /tmp/said")

    report, said = bridge("")
    cpus = [worker["cpu"] for worker in report["workers"]]
    results.check("a worker is on the node of its NICs", cpus == [1], (cpus, said))
    report, said = bridge("--cpus 0")
    results.check("one that is not is warned of", "another memory node" in said, said)
    for huge, near in ((0, False), (1, True)):
        guest.run(f"echo 0 > {HUGE.format(1 - huge)}; echo 100 > {HUGE.format(huge)}")
        memory = bridge("")[0]["memory"]
        is_explicit = memory["pages"].startswith("2 MiB")
        results.check(f"with huge pages on node {huge} alone, memory is on node 1",
                      memory["nodes"] == [1] and is_explicit == near, memory)
