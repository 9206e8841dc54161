"""In the guest: runs what the host asks for over a serial line of virtio, a JSON object a line.
{"id": 1, "command": "ls", "seconds": 60} is answered with {"id": 1, "code": 0, "output": "a"}."""

import json
import os
import signal
import subprocess
import threading

PORT = "/dev/virtio-ports/agent"


def run(command, seconds):
    """The exit code and everything printed; what it began ends with it when time is up."""
    child = subprocess.Popen(["bash", "-c", command], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             start_new_session=True)
    try:
        output = child.communicate(timeout=seconds)[0]
        return child.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        output = child.communicate()[0]
        return 124, output + b"\nended after %d s\n" % seconds


class Line:
    """The serial line; answers of commands that run side by side do not mix."""

    def __init__(self):
        self.file = open(PORT, "r+b", buffering=0)
        self.lock = threading.Lock()

    def say(self, answer):
        data = json.dumps(answer).encode() + b"\n"
        with self.lock:
            while data:
                data = data[self.file.write(data):]

    def answer(self, asked):
        code, output = run(asked["command"], asked["seconds"])
        self.say({"id": asked["id"], "code": code, "output": output.decode(errors="replace")})


def main():
    line = Line()
    line.say({"id": 0, "code": 0, "output": os.uname().release})
    pending = b""
    while True:
        pending += line.file.read(65536)
        *whole, pending = pending.split(b"\n")
        for text in whole:
            threading.Thread(target=line.answer, args=[json.loads(text)], daemon=True).start()


main()
