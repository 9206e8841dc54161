#!/usr/bin/env python3
"""Decides, frame by frame and without linerate's parser, whether a capture was filtered rightly.

    judge.py --input IN --output OUT [--report JSON] [--block LIST]... [--allow LIST]... ...

Exit code 0 when all is right, 1 when linerate was wrong, 3 when tshark and rules.py read a frame
differently for no known reason (then the judge is wrong, and decides nothing).
"""

import argparse
import collections
import json
import sys

import capture_files
import policy
import rules
import wireshark

SHOWN_MAX = 20


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--input", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--report", help="linerate's JSON of the same run")
    for name in ("block", "block-src", "block-dst", "allow", "count"):
        parser.add_argument(f"--{name}", action="append", default=[], metavar="LIST")
    parser.add_argument("--default", choices=("forward", "drop"), default="forward")
    parser.add_argument("--non-ip", choices=("forward", "drop"), default="forward")
    parser.add_argument("--malformed", choices=("forward", "drop"), default="drop")
    return parser.parse_args()


def read_both(path):
    """The records and what tshark sees of each; the two readers must agree on what was captured."""
    records, seen = capture_files.read(path), wireshark.dissect(path)
    if len(records) != len(seen):
        sys.exit(f"{path}: tshark finds {len(seen)} frames, the judge's reader {len(records)}")
    for record, frame in zip(records, seen):
        mine = (record.time_ns, record.original_len, len(record.captured))
        theirs = (frame.time_ns, frame.original_len, frame.captured_len)
        if mine != theirs:
            sys.exit(f"{path}: frame {frame.number}: tshark reads {theirs}, the judge {mine}")
    return records, seen


def facts_of(records, seen):
    """The facts of each frame, once tshark has confirmed them or the difference is a known one."""
    known, unknown, facts = collections.Counter(), [], []
    for record, frame in zip(records, seen):
        found = rules.read(record.captured, record.original_len)
        facts.append(found)
        for subject, reason in wireshark.disagreements(found, frame):
            known[subject, reason] += 1
            if reason is None:
                unknown.append((subject, frame, found))
    for subject, frame, found in unknown[:SHOWN_MAX]:
        print(f"frame {frame.number}: tshark and the judge differ on: {subject}")
        print(f"    tshark: {frame.protocols}, {words(frame)}\n    judge:  {describe(found)}")
    if unknown:
        sys.exit(3)
    for (subject, reason), count in known.most_common():
        print(f"known difference, {count} frames, {subject}: {reason}")
    return facts


def words(frame):
    state = "malformed" if frame.malformed else "sound"
    return f"{address(frame.src)} > {address(frame.dst)}, {state} {frame.words!r}"


def describe(facts):
    family = {4: "IPv4", 6: "IPv6", None: "not IP"}[facts.family]
    return f"{family} {address(facts.src)} > {address(facts.dst)}, fault: {facts.fault}"


def address(packed):
    return str(policy.ipaddress.ip_address(packed)) if packed else "?"


def compare(records, seen, reasons, facts, out):
    """Complaints, in order; frames must come out in order, with their bytes and times."""
    complaints, at = [], 0
    for index, record in enumerate(records):
        if at < len(out) and out[at] == record:
            came_out, at = True, at + 1
        else:
            came_out = False
        if came_out == (reasons[index] is None):
            continue
        verb = "was dropped and must pass" if not came_out else "passed and must be dropped"
        complaints.append(
            f"frame {seen[index].number} {verb}{': ' + reasons[index] if came_out else ''}\n"
            f"    tshark: {seen[index].protocols}, {words(seen[index])}\n"
            f"    judge:  {describe(facts[index])}; {record.original_len} bytes, "
            f"{len(record.captured)} captured: {record.captured[:64].hex()}"
        )
    if at < len(out):
        extra = out[at]
        complaints.append(
            f"frame {at + 1} of the output is no frame of the input in this order: "
            f"time {extra.time_ns} ns, {extra.original_len} bytes, {extra.captured[:64].hex()}"
        )
    return complaints


def check_report(path, rules_of, reasons, facts):
    """The report tells the same story as the captures."""
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    frames, passed = report["frames"], reasons.count(None)
    expected = {
        "balanced": (report["balanced"], True),
        "frames.rx": (frames["rx"], len(reasons)),
        "frames.tx": (frames["tx"], passed),
        "sum of frames.dropped": (sum(frames["dropped"].values()), len(reasons) - passed),
        "zeros in frames.dropped": ([k for k, n in frames["dropped"].items() if n == 0], []),
    }
    for side in ("src", "dst"):
        name = f"blocked_{side}"
        if name in frames["dropped"] or name in reasons:
            expected[f"dropped.{name}"] = (frames["dropped"].get(name, 0), reasons.count(name))
    for one, (path, sides) in zip(report["sets"], rules_of):
        members = policy.AddressList(path)
        for side in ("src", "dst"):
            hits = sum(members.holds(getattr(fact, side)) for fact in facts) * (side in sides)
            expected[f"sets.{one['name']}.hits_{side}"] = (one[f"hits_{side}"], hits)
    return [
        f"report: {name} is {found}, must be {right}"
        for name, (found, right) in expected.items() if found != right
    ]


def main():
    options = arguments()
    records, seen = read_both(options.input)
    facts = facts_of(records, seen)
    judge = policy.Policy(options)
    reasons = [judge.reason_to_drop(fact) for fact in facts]
    complaints = compare(records, seen, reasons, facts, read_both(options.output)[0])
    if options.report:
        # One kind of set a case keeps the order of the report's sets out of doubt.
        both, src, dst = ("src", "dst"), ("src",), ("dst",)
        rules_of = [(path, both) for path in options.block + options.count]
        rules_of += [(path, src) for path in options.block_src]
        rules_of += [(path, dst) for path in options.block_dst]
        rules_of += [(path, both) for path in options.allow]
        complaints += check_report(options.report, rules_of, reasons, facts)
    for complaint in complaints[:SHOWN_MAX]:
        print(complaint)
    passed = reasons.count(None)
    print(f"{len(records)} frames: {passed} must pass, {len(records) - passed} must be dropped; "
          f"{len(complaints)} complaints")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
