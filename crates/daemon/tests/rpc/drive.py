"""Speaks the control protocol with nothing but the standard library; the test says where."""

import json
import socket
import sys
import tempfile

control = socket.socket(socket.AF_UNIX)
control.settimeout(20)
control.connect(sys.argv[1])
lines = control.makefile(encoding="utf-8")


def send(name, **params):
    request = {"jsonrpc": "2.0", "id": name, "method": name, "params": params}
    return json.dumps(request).encode() + b"\n"


def answer(method):
    got = json.loads(lines.readline())
    assert got["jsonrpc"] == "2.0" and got["id"] == method, got
    return got


def call(name, **params):
    control.sendall(send(name, **params))
    got = answer(name)
    assert "error" not in got, got
    return got["result"]


assert call("hello", protocol=1, client="drive.py")["server"] == "linerate"
assert call("set.add", set="bad", entries=["203.0.113.5"], comment="ä \"quoted\"")["added"] == 1
tested = call("set.test", address="203.0.113.5")["sets"][0]
assert tested["matches"][0]["comment"] == 'ä "quoted"', tested

# Ten requests without waiting, then ten answers.
for number in range(10):
    control.sendall(send("set.add", set="office", entries=[f"198.51.100.{number}"]))
for number in range(10):
    assert answer("set.add")["result"] == {"added": 1, "already": 0}
assert call("set.delete", set="office", entries=["198.51.100.3"]) == {"deleted": 1, "absent": 0}

# An open file comes along with its line.
with tempfile.TemporaryFile() as file:
    file.write(b"192.0.2.1\n192.0.2.2\n")
    file.seek(0)
    request = send("set.load", set="bad", file="mine.txt")
    socket.send_fds(control, [request], [file.fileno()])
    loaded = answer("set.load")["result"]
assert loaded["entries"] == 2, loaded

saved = call("set.save", set="office")
assert saved["entries"] == 9, saved
item = json.loads(lines.readline())
assert item["method"] == "stream" and len(item["params"]["item"]["lines"]) == 9, item
assert json.loads(lines.readline())["method"] == "stream.end"

watched = call("watch", method="show.ports", every_ms=100)["stream"]
for _ in range(3):
    item = json.loads(lines.readline())["params"]
    assert item["stream"] == watched and item["item"]["ports"][0]["port"] == "outside", item

control.sendall(send("set.show", set="nowhere"))
while True:
    got = json.loads(lines.readline())
    if got.get("id") == "set.show":
        break
assert got["error"]["data"]["name"] == "no-such-set", got
print("all is well")
