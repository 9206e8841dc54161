#!/usr/bin/env python3
"""Runs `linerate switch` on random captures and holds every output against the model.

judge.py LINERATE FIRST_SEED CASES; what differs is said with the seed and the command.
"""

import pathlib
import shlex
import struct
import subprocess
import sys
import tempfile

import cases
from model import Switch

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "golden"))
import capture_files  # noqa: E402


def write(path, arrivals):
    """A capture with times in nanoseconds."""
    content = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    for one in arrivals:
        seconds, nanos = divmod(one.time_ns, 10**9)
        content += struct.pack("<4I", seconds, nanos, len(one.frame), len(one.frame)) + one.frame
    path.write_bytes(content)


def judge(program, seed, folder):
    """What is wrong with this case; None if nothing is."""
    settings, options, arrivals = cases.case(seed)
    ports = range(len(settings.ports))
    specs = []
    for port in ports:
        write(folder / f"in{port}.pcap", [one for one in arrivals if one.port == port])
        specs.append(f"{cases.name(port)}=pcap:in=in{port}.pcap,out=out{port}.pcap")
    command = [program, "switch", *specs, *options, "--quiet"]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    if ran.returncode != 0:
        return f"{shlex.join(command)}\nended with {ran.returncode}: {ran.stderr}"
    for port, expected in enumerate(Switch(settings).run(arrivals)):
        records = capture_files.read(folder / f"out{port}.pcap")
        found = [(one.time_ns, one.captured) for one in records]
        if found != expected:
            return f"{shlex.join(command)}\n{difference(cases.name(port), found, expected)}"
        wrong = [one for one in records if one.original_len != len(one.captured)]
        if wrong:
            return f"{shlex.join(command)}\nport {cases.name(port)}: lengths of {wrong[0]}"
    return None


def difference(port, found, expected):
    pairs = enumerate(zip(found, expected))
    at = next((at for at, (one, other) in pairs if one != other), min(len(found), len(expected)))
    said = [f"port {port}: {len(found)} frames left, the model says {len(expected)}"]
    for who, frames in (("linerate", found), ("the model", expected)):
        here = f"at {frames[at][0]} ns {frames[at][1].hex()}" if at < len(frames) else "none"
        said.append(f"frame {at} of {who}: {here}")
    return "\n".join(said)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    first, count = int(sys.argv[2]), int(sys.argv[3])
    for seed in range(first, first + count):
        with tempfile.TemporaryDirectory() as folder:
            wrong = judge(program, seed, pathlib.Path(folder))
        if wrong:
            sys.exit(f"seed {seed}: {wrong}")
    print(f"{count} cases from seed {first} agree")


if __name__ == "__main__":
    main()
