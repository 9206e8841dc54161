"""In the guest: two far ends in namespaces of their own, a bridge between them, and what gets
across it. `guest.py far-ends MTU`, `guest.py mtu MTU`, `guest.py probe MTU`,
`guest.py bridge MTU PORT PORT [OPTION...]`, `guest.py exchange FRAMES PORT PORT [OPTION...]`,
`guest.py behind MTU KIND`; the answer is JSON on standard output."""

import hashlib
import json
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

# What lies behind each card, by number of the end: addresses without a tag and in two VLANs.
PLAIN, PLAIN6, VLAN, PROVIDER = "192.0.2.", "2001:db8::", "198.51.100.", "203.0.113."
ENDS = {1: "t1", 2: "t2"}
# Bytes of IPv4 and ICMP headers: a ping of so many fewer fills the MTU.
HEADERS = 28
# What a bridge needs at most, and what the service has, with locked memory without a limit: the
# verifier of a kernel takes less then.
RIGHTS = "--bounding-set=-all,+net_admin,+net_raw,+bpf"
TCP_BYTES = 1 << 20
PING_TRIES = 3
FIRST_FRAME_SECONDS = 90

SENDER = """
import socket
s = socket.create_connection(("192.0.2.2", 5999), timeout=60)
s.sendall(bytes(range(256)) * (%d // 256))
s.shutdown(socket.SHUT_WR)
s.recv(1)
""" % TCP_BYTES
RECEIVER = """
import hashlib, socket
listening = socket.create_server(("192.0.2.2", 5999))
listening.settimeout(60)
print("listening", flush=True)
s = listening.accept()[0]
s.settimeout(60)
digest, received = hashlib.sha256(), 0
try:
    while data := s.recv(65536):
        digest.update(data)
        received += len(data)
finally:
    print(received, digest.hexdigest())
"""


def run(line, check=True):
    done = subprocess.run(line.split(), check=False, capture_output=True, text=True)
    if check and done.returncode:
        raise SystemExit(f"{line}: {done.stderr}")
    return done


def far_ends(mtu):
    for number, card in ENDS.items():
        end = f"w{number}"
        run(f"ip netns add {end}")
        run(f"ip link set {card} netns {end}")
        run(f"ip -n {end} link set lo up")
        run(f"ip -n {end} link set {card} mtu {mtu} up")
        run(f"ip -n {end} addr add {PLAIN}{number}/24 dev {card}")
        run(f"ip netns exec {end} sysctl -qw net.ipv6.conf.{card}.disable_ipv6=0")
        run(f"ip -n {end} addr add {PLAIN6}{number}/64 dev {card} nodad")
        for kind, tag, network in (("802.1Q", 7, VLAN), ("802.1ad", 9, PROVIDER)):
            run(f"ip -n {end} link add link {card} name {card}.{tag} type vlan protocol {kind} "
                f"id {tag}")
            run(f"ip -n {end} addr add {network}{number}/24 dev {card}.{tag}")
            run(f"ip -n {end} link set {card}.{tag} up")
    return {}


def set_mtu(mtu):
    for number, card in ENDS.items():
        for name in (card, f"{card}.7", f"{card}.9"):
            run(f"ip -n w{number} link set {name} mtu {mtu}")
    return {}


def ping(address, options=""):
    """Whether every one of some pings is answered: a machine that stands still for seconds, since
    the host has other work, asks for its neighbours in vain."""
    line = f"ip netns exec w1 ping -q -c 3 -i 0.2 -W 20 {options} {address}"
    return any(" 0% packet loss" in run(line, check=False).stdout for _ in range(PING_TRIES))


def crosses_within(seconds, bridge=None):
    """Whether a first frame crosses in that time, and before the bridge ends."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and (bridge is None or bridge.poll() is None):
        if run(f"ip netns exec w1 ping -q -c 1 -W 2 {PLAIN}2", check=False).returncode == 0:
            return True
    return False


def python(end, program):
    return subprocess.Popen(["ip", "netns", "exec", end, sys.executable, "-c", program],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def tcp():
    """Whether a connection carries its bytes: true, or what came instead."""
    receiver = python("w2", RECEIVER)
    receiver.stdout.readline()
    sender = python("w1", SENDER)
    said = receiver.communicate()[0].strip()
    sender.communicate()
    digest = hashlib.sha256(bytes(range(256)) * (TCP_BYTES // 256)).hexdigest()
    return said == f"{TCP_BYTES} {digest}" or said.splitlines()[-1]


def probe(mtu, bridge=None):
    if not crosses_within(FIRST_FRAME_SECONDS, bridge):
        return {"first frame": False}
    full = f"-M do -s {mtu - HEADERS}"
    pings = {
        "IPv4": (f"{PLAIN}2", ""),
        "IPv6": (f"{PLAIN6}2", ""),
        "802.1Q": (f"{VLAN}2", ""),
        "802.1ad": (f"{PROVIDER}2", ""),
        "full frames": (f"{PLAIN}2", full),
        "full tagged frames": (f"{VLAN}2", full),
    }
    # Side by side: most of each is waiting.
    with ThreadPoolExecutor() as pool:
        answers = {what: pool.submit(ping, *asked) for what, asked in pings.items()}
        answers["TCP"] = pool.submit(tcp)
        return {what: answer.result() for what, answer in answers.items()}


def bridge(mtu, ports, options):
    """What crosses a bridge between two ports, and what it says of itself."""
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    command = ["setpriv", RIGHTS, "linerate", "bridge", *ports, *options, "--json"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        crossed = probe(mtu, child)
        crossed = {} if child.poll() is not None else crossed
    finally:
        child.send_signal(2)
        output, said = child.communicate(timeout=120)
    try:
        report = json.loads(output)
    except ValueError:
        report = {}
    return {"code": child.returncode, "crossed": crossed, "stderr": said, "report": report}


def in_namespace(port):
    """`w1/packet:t1` as a command's beginning and a port; without a namespace, this one."""
    end, _, spec = port.partition("/")
    return (["ip", "netns", "exec", end] if end else []), spec


def program(words):
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def takes_in(prefix, spec):
    """Whether a port of the program has its interface, so that frames are not missed."""
    name = spec.split(":")[1].split(",")[0]
    said = subprocess.run([*prefix, "ip", "-d", "-j", "link", "show", "dev", name], check=False,
                          capture_output=True, text=True).stdout
    return bool(said) and json.loads(said)[0].get("promiscuity", 0) > 0


def await_quiet(prefix, spec):
    """What is under way arrives; netem may hold it back."""
    name = spec.split(":")[1].split(",")[0]
    before, same = None, 0
    while same < 4:
        said = subprocess.run([*prefix, "cat", f"/sys/class/net/{name}/statistics/rx_packets"],
                              check=False, capture_output=True, text=True).stdout
        same = same + 1 if said == before else 0
        before = said
        time.sleep(0.5)


def exchange(frames, sender, receiver, options):
    """Sends test frames from one port to another; what both ends said."""
    prefix, spec = in_namespace(receiver)
    sink = program([*prefix, "linerate", "sink", spec, "--duration", "60s", "--json", "-q"])
    while sink.poll() is None and not takes_in(prefix, spec):
        time.sleep(0.1)
    prefix, spec = in_namespace(sender)
    gen = program([*prefix, "linerate", "gen", spec, "--rate", "200pps", "--count", str(frames),
                   "--no-trial", "--json", *options])
    sent, said = gen.communicate()
    await_quiet(*in_namespace(receiver))
    sink.send_signal(2)
    took, of_sink = sink.communicate()
    return {"code": gen.returncode, "gen": json.loads(sent or "{}"),
            "sink": json.loads(took or "{}"), "stderr": said + of_sink}


def behind(kind):
    """Puts a bridge or a bond in front of the first end's card; what crosses then."""
    card, upper = ENDS[1], "upper"
    for tag in (7, 9):
        run(f"ip -n w1 link del {card}.{tag}", check=False)
    run("ip -n w1 link del upper", check=False)
    run(f"ip -n w1 link add {upper} type {kind}")
    run(f"ip -n w1 addr flush dev {card}")
    run(f"ip -n w1 link set {card} down")
    run(f"ip -n w1 link set {card} master {upper}")
    run(f"ip -n w1 link set {card} up")
    run(f"ip -n w1 link set {upper} up")
    run(f"ip -n w1 addr add {PLAIN}1/24 dev {upper}")
    run(f"ip -n w1 link add link {upper} name {upper}.7 type vlan id 7")
    run(f"ip -n w1 addr add {VLAN}1/24 dev {upper}.7")
    run(f"ip -n w1 link set {upper}.7 up")
    return {"first frame": crosses_within(FIRST_FRAME_SECONDS), "IPv4": ping(f"{PLAIN}2"),
            "802.1Q": ping(f"{VLAN}2"), "TCP": tcp()}


def main(what, mtu, *arguments):
    answers = {
        "far-ends": lambda: far_ends(int(mtu)),
        "mtu": lambda: set_mtu(int(mtu)),
        "probe": lambda: probe(int(mtu)),
        "bridge": lambda: bridge(int(mtu), arguments[:2], arguments[2:]),
        # Frames in place of an MTU.
        "exchange": lambda: exchange(int(mtu), arguments[0], arguments[1], arguments[2:]),
        "behind": lambda: behind(" ".join(arguments)),
    }
    print(json.dumps(answers[what]()))


main(*sys.argv[1:])
