"""The package under systemd in a guest: it is installed, starts, is reloaded and watched, fails and
comes back, and goes without a trace."""

CONFIG = """[[port]]
name = "outside"
spec = "xdp:va,bypass=/run/linerate/bpf"

[[port]]
name = "inside"
spec = "xdp:vb,bypass=/run/linerate/bpf"

[[pipeline]]
keep = ["private"]

[[set]]
name = "hand"
action = "count"

[control]
group = "linerate"
"""
FLOW_LOG = r'[stateful]\nallow_new = ["outside"]\nflow_log = "/var/log/linerate/flows.jsonl"\n'
FILE = "/etc/linerate/linerate.toml"
DROP_IN = "/run/systemd/system/linerate.service.d"
# What systemd or a sandbox would write of what was refused, and the daemon of what is wrong.
COMPLAINTS = "denied|not permitted|refused|failed|SECCOMP|read-only file system"


def property_of(guest, name):
    return guest.run(f"systemctl show linerate -P {name}").strip()


def begins(guest, results, package):
    """Installed and started, as its own user, and said to be ready by itself."""
    guest.run(f"DEBIAN_FRONTEND=noninteractive dpkg -i /host/{package}", seconds=180)
    # So that a test need not wait for half a minute.
    guest.run(f"""mkdir -p {DROP_IN}
        printf '[Service]\\nWatchdogSec=10\\n' > {DROP_IN}/watchdog.conf
        systemctl daemon-reload""")
    results.check("the package is installed", property_of(guest, "ActiveState") == "inactive",
                  "its service was started, and its ports are examples")
    guest.run(f"cat > {FILE} <<'END'\n{CONFIG}END")
    said = guest.run("systemctl start linerate; journalctl -u linerate -o cat", 240, code=None)
    results.check("the service starts", property_of(guest, "SubState") == "running", said)
    user = guest.run("ps -o user= -p $(systemctl show linerate -P MainPID)").strip()
    results.check("it runs as its own user", user == "linerate", user)
    results.check("nothing was refused", *clean(guest))


def clean(guest):
    lines = guest.run(f"journalctl -b -u linerate -o cat | grep -iE '{COMPLAINTS}'", code=None)
    return not lines, lines


def goes_on(guest, results):
    """Reloaded it goes on, and hung it comes back."""
    guest.run("systemctl reload linerate")
    code = guest.run(f"""cp {FILE} /tmp/good; echo 'nonsense = 1' >> {FILE}
        systemctl reload linerate >/dev/null 2>&1; echo $?; cp /tmp/good {FILE}""").strip()
    results.check("a wrong configuration is refused by reload", code != "0", f"exit code {code}")
    before = property_of(guest, "MainPID")
    guest.run(f"kill -STOP {before}")
    results.check("hung, its watchdog ends it and it comes back", *back(guest, before))


def tells(guest, results):
    """What it says where people look: the package's synopsis, why a start fails, its log of flows,
    and what a run of root's left behind."""
    said = guest.run("dpkg-query -W -f '${Description}' linerate")
    results.check("the package's synopsis says what it is", "bridge" in said.splitlines()[0], said)
    guest.run(f"systemctl stop linerate; cp {FILE} /tmp/good; echo 'nonsense = 1' >> {FILE}", 120)
    guest.run("systemctl start linerate", 120, code=None)
    said = guest.run("journalctl -b -u linerate -p err -o cat", code=None)
    results.check("why it does not start is an error of the journal", "nonsense" in said, said)
    guest.run("systemctl stop linerate", 120)
    guest.run(f"""cp /tmp/good {FILE}; printf '{FLOW_LOG}' >> {FILE}
        systemctl reset-failed linerate; systemctl start linerate""", 240)
    guest.run("ip netns exec w1 ping -q -c 3 -i 0.2 -W 20 192.0.2.2", code=None)
    guest.run("systemctl stop linerate", 120)
    said = guest.run("ls -l /var/log/linerate; cat /var/log/linerate/flows.jsonl", code=None)
    results.check("it writes its log of flows", '"event"' in said, said)
    guest.run(f"cp /tmp/good {FILE}; timeout -s INT 30 linerate run -q --duration 1s {FILE}", 120,
              code=None)
    guest.run("systemctl start linerate", 240, code=None)
    said = guest.run("journalctl -b -u linerate -p err -o cat", code=None)
    running = property_of(guest, "SubState") == "running"
    results.check("after a run of root's it starts, or names the remedy",
                  running or "chown" in said, said)
    guest.run("systemctl stop linerate", 120)
    guest.run("chown -R linerate: /var/lib/linerate; systemctl start linerate", 240, code=None)
    results.check("and starts then", property_of(guest, "SubState") == "running", said)


def bypassed(guest, results):
    """Stopped, the kernel goes on forwarding, until root takes the bypass away."""
    guest.run("systemctl stop linerate", 120)
    ping = "ip netns exec w1 ping -q -c 5 -i 0.2 -W 20 192.0.2.2"
    results.check("stopped, its bypass forwards", " 0% packet loss" in guest.run(ping, code=None),
                  guest.run("linerate bypass show", code=None))
    said = guest.run("linerate bypass off va vb", code=None)
    gone = guest.run(ping.replace("-W 20", "-W 1"), code=None)
    results.check("the bypass is taken away", " 100% packet loss" in gone, said)


def back(guest, before):
    """Whether another process runs in its place some time later."""
    said = guest.run(f"""for i in $(seq 150); do
        pid=$(systemctl show linerate -P MainPID)
        [ $pid != {before} ] && [ $pid != 0 ] && systemctl is-active -q linerate && exit 0
        sleep 1
    done; journalctl -u linerate -o cat | tail -20; exit 1""", 300, code=None)
    return said == "", said


def goes(guest, results):
    """Removed, then purged."""
    result = property_of(guest, "Result")
    results.check("it stopped as it should", result == "success", result)
    guest.run("dpkg --remove linerate; systemctl daemon-reload", 120)
    kept = guest.run(f"ls {FILE} /usr/bin/linerate 2>/dev/null", code=None).split()
    results.check("removed, its configuration stays", kept == [FILE], kept)
    guest.run("dpkg --purge linerate", 120)
    left = guest.run("ls -d /etc/linerate /var/lib/linerate /usr/share/doc/linerate 2>/dev/null",
                     code=None).split()
    results.check("purged, nothing stays", not left, left)
