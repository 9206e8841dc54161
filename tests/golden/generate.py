#!/usr/bin/env python3
"""Makes the captures in captures/: the same bytes on every run. They are committed; run this after
changing it, and look at the difference with tshark.

    python3 tests/golden/generate.py [FOLDER]
"""

import itertools
import os
import sys

import capture_files
import frames

START_NS = 1_700_000_000_000_000_000


def addressed(kinds):
    """Each kind of frame four times: nobody listed, source listed, destination listed, both."""
    pools = {family: frames.Pool(family) for family in (4, 6)}
    for kind in kinds:
        if kind.family is None:
            yield kind.make(None, None)
            continue
        pool = pools[kind.family]
        for listed_src, listed_dst in itertools.product((False, True), repeat=2):
            yield kind.make(pool.next(listed_src), pool.next(listed_dst))


def whole(contents, step_ns):
    return [
        capture_files.Record(START_NS + index * step_ns, len(content), content)
        for index, content in enumerate(contents)
    ]


def cut(contents, snapped):
    """Every prefix of every frame: cut on the wire, or (snapped) only in the capture."""
    records = []
    for content in contents:
        for length in range(len(content) + 1):
            original = len(content) if snapped else length
            time_ns = START_NS + len(records) * 1_000_003
            records.append(capture_files.Record(time_ns, original, content[:length]))
    return records


def longer(kinds, base_ns):
    """Frames of which the capture holds the first bytes; `kinds` have their true lengths."""
    lengths = [length for _, length in kinds for _ in range(4)]
    contents = addressed(kind for kind, _ in kinds)
    return [
        capture_files.Record(base_ns + index, length, content)
        for index, (content, length) in enumerate(zip(contents, lengths))
    ]


def main():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "captures")
    folder = sys.argv[1] if len(sys.argv) > 1 else folder
    os.makedirs(folder, exist_ok=True)

    def path(name):
        return os.path.join(folder, name)

    branches = list(addressed(frames.branches()))
    templates = list(addressed(frames.templates()))
    coarse = whole(branches, 1_000)
    capture_files.write_pcap(path("branches.pcap"), coarse)
    capture_files.write_pcap(path("swapped.pcap"), coarse[::7], order=">")
    capture_files.write_pcapng(path("branches.pcapng"), whole(branches, 333), order=">")
    capture_files.write_pcap(path("cut.pcap"), cut(templates, snapped=False), nano=True)
    snapped = cut(templates, snapped=True)
    snapped += longer(frames.jumbograms(), snapped[-1].time_ns + 1)
    capture_files.write_pcap(path("snapped.pcap"), snapped, order=">", nano=True)
    capture_files.write_pcapng(path("snapped.pcapng"), snapped[::5])
    capture_files.write_pcap(path("jumbo.pcap"), whole(addressed(frames.jumbos()), 1_000))


if __name__ == "__main__":
    main()
