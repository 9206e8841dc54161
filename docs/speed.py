#!/usr/bin/env python3
"""Figures of README.md, docs/performance.md and docs/reproduced.md, made of the runs in docs/runs.

docs/speed.py                  writes them anew
docs/speed.py --check          exit code 1 where a page does not say what the runs say
docs/speed.py --run PROGRAM    measures all of it first (about 25 minutes, alone on the machine, as
                               root: `veth` makes network interfaces); --only NAME: a part of it

A block begins with `<!-- NAME: made by docs/speed.py -->` and ends with `<!-- /NAME -->`.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import figures

DOCS = os.path.dirname(os.path.abspath(__file__))
PAGES = [os.path.join(DOCS, name) for name in ("../README.md", "performance.md", "reproduced.md")]
EXPERIMENTS = ["ladder", "table", "pipeline", "locks", "memory", "batch", "stride"]
EXPERIMENTS += ["copies", "himeno", "veth"]
# A closer look at one path, with more rounds than a full run has time for.
CLOSER = {"LINERATE_VETH_PATHS": "xdp_redirect", "LINERATE_VETH_ROUNDS": "50"}
# Of these the pages show a few rows, which short runs have too; in full they take many minutes.
SHORT = {"memory", "batch"}


def rounded(value):
    """Five digits are more than any sample has; the files stay small."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


def save(name, run):
    """A row a line, so that a change of a run can be read."""
    rows = ",\n".join(json.dumps(rounded(row)) for row in run["rows"])
    facts = json.dumps({key: value for key, value in run.items() if key != "rows"})
    with open(figures.path_of(name), "w", encoding="utf-8") as file:
        file.write(f'{facts[:-1]},\n"rows": [\n{rows}\n]}}\n')


def measure(program, quick, only):
    os.makedirs(figures.RUNS, exist_ok=True)
    program = os.path.abspath(program)
    rates = os.path.join(DOCS, "rates.py")
    commands = {name: [program, "lab", "run", name] for name in EXPERIMENTS}
    for name in EXPERIMENTS if quick else SHORT:
        commands[name].append("--quick")
    closer = ["env", *map("=".join, CLOSER.items())]
    commands["veth_redirect"] = [*closer, *commands["veth"]]
    commands["rates"] = [sys.executable, rates, program, "1" if quick else "7"]
    if only:
        commands = {only: commands[only]}
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, command) in enumerate(commands.items()):
            print(f"{number + 1} of {len(commands)}: {name}", file=sys.stderr, flush=True)
            command += ["--json", f"{name}.json"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder)
            with open(os.path.join(folder, f"{name}.json"), encoding="utf-8") as made:
                save(name, json.load(made))


def page(text):
    marked = r"(<!-- (\w+): made by docs/speed\.py -->\n).*?(\n<!-- /\2 -->)"
    return re.sub(marked, lambda m: m[1] + figures.BLOCKS[m[2]]() + m[3], text, flags=re.S)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--run", metavar="PROGRAM", help="measure first")
    parser.add_argument("--quick", action="store_true", help="with --run: short runs")
    parts = [*EXPERIMENTS, "veth_redirect", "rates"]
    parser.add_argument("--only", metavar="NAME", choices=parts, help="with --run: one part")
    asked = parser.parse_args()
    if asked.run:
        measure(asked.run, asked.quick, asked.only)
    stale = False
    for file in PAGES:
        with open(file, encoding="utf-8") as old:
            text = old.read()
        made = page(text)
        if made != text and asked.check:
            print(f"{os.path.relpath(file)}: not what docs/runs says: docs/speed.py")
            stale = True
        elif made != text:
            with open(file, "w", encoding="utf-8") as new:
                new.write(made)
    return int(stale)


if __name__ == "__main__":
    sys.exit(main())
