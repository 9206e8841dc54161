#!/usr/bin/env python3
"""What a closed loop hides: docs/stall.py [PROGRAM] [--svg FILE].

Stops a server for two seconds in the middle of a run of ten (SIGSTOP, SIGCONT), once under an open
loop and once under a closed one of the same rate, and draws the share of requests that were slower
than each time. Prints the table of docs/load.md.
"""

import argparse
import json
import math
import signal
import subprocess
import time

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 34, 46
# Seconds, and shares of all answers.
X_RANGE, Y_RANGE = (1e-5, 4.0), (1e-4, 1.0)
LOOPS = (("open loop", [], "#c2410c"), ("closed loop", ["--closed"], "#1d4ed8"))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?", default="target/release/linerate")
    parser.add_argument("--svg", metavar="FILE")
    return parser.parse_args()


def run(program, options):
    """One run with its stall; the JSON of the client."""
    server = subprocess.Popen(
        [program, "serve", "http", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True
    )
    try:
        url = next(line for line in server.stderr if "://" in line).split()[-1]
        client = subprocess.Popen(
            [program, "load", "http", url + "size/100", "-c", "10", "-R", "1000", "-d", "10s"]
            + options + ["--json", "--quiet"],
            stdout=subprocess.PIPE,
        )
        time.sleep(4)
        server.send_signal(signal.SIGSTOP)
        time.sleep(2)
        server.send_signal(signal.SIGCONT)
        return json.loads(client.communicate()[0])["all"]
    finally:
        server.kill()
        server.wait()


def slower(found):
    """Pairs of seconds and the share of answers that were slower."""
    buckets = found["times"]["latency_buckets"]
    left = total = sum(count for _, count in buckets)
    points = []
    for nanos, count in buckets:
        points.append((nanos / 1e9, left / total))
        left -= count
    return points + [(points[-1][0], Y_RANGE[0])]


def share_above(found, seconds):
    buckets = found["times"]["latency_buckets"]
    above = sum(count for nanos, count in buckets if nanos / 1e9 > seconds)
    return 100 * above / sum(count for _, count in buckets)


def place(value, limits, ends):
    low, high = (math.log(limit) for limit in limits)
    share = (math.log(min(max(value, limits[0]), limits[1])) - low) / (high - low)
    return ends[0] + share * (ends[1] - ends[0])


def x_of(seconds):
    return place(seconds, X_RANGE, (LEFT, WIDTH - RIGHT))


def y_of(share):
    return place(share, Y_RANGE, (HEIGHT - BOTTOM, TOP))


def text(x, y, words, **more):
    given = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    return f'<text x="{x:.0f}" y="{y:.0f}"{given}>{words}</text>'


def axes():
    lines = []
    times = ((1e-4, "0.1 ms"), (1e-3, "1 ms"), (1e-2, "10 ms"), (0.1, "0.1 s"), (1, "1 s"))
    for seconds, words in times:
        x = x_of(seconds)
        lines.append(f'<path class="grid" d="M{x:.0f} {TOP}V{HEIGHT - BOTTOM}"/>')
        lines.append(text(x, HEIGHT - BOTTOM + 16, words, text_anchor="middle"))
    shares = ((1, "100 %"), (0.1, "10 %"), (0.01, "1 %"), (1e-3, "0.1 %"), (1e-4, "0.01 %"))
    for share, words in shares:
        y = y_of(share)
        lines.append(f'<path class="grid" d="M{LEFT} {y:.0f}H{WIDTH - RIGHT}"/>')
        lines.append(text(LEFT - 6, y + 4, words, text_anchor="end"))
    lines.append(text(LEFT, 18, "Share of answers that took longer, server stopped for 2 of 10 s"))
    lines.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "latency", text_anchor="middle"))
    return lines


def curve(found, name, colour, row):
    points, last = [], None
    for seconds, share in slower(found):
        here = f"{x_of(seconds):.0f} {y_of(share):.0f}"
        if here != last:
            points.append(here)
        last = here
    y = HEIGHT - BOTTOM - 34 + 18 * row
    return [
        f'<path fill="none" stroke="{colour}" stroke-width="2" d="M{"L".join(points)}"/>',
        text(LEFT + 10, y, name, style=f"fill:{colour};font-weight:bold"),
    ]


def draw(runs):
    style = "text{font:12px sans-serif;fill:#374151}.grid{stroke:#d1d5db;fill:none}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        "<title>Latency of an open and of a closed loop while a server stalls</title>",
        f"<style>{style}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        *axes(),
    ]
    for row, (found, (name, _, colour)) in enumerate(zip(runs, LOOPS)):
        lines += curve(found, name, colour, row)
    return "\n".join([*lines, "</svg>", ""])


def main():
    given = arguments()
    runs = [run(given.program, options) for _, options, _ in LOOPS]
    for found, (name, _, _) in zip(runs, LOOPS):
        times, shares = found["times"]["latency"], [share_above(found, at) for at in (0.1, 1.0)]
        print(
            f"{name}: p50 {times['p50'] * 1e3:.2f} ms, p99 {times['p99'] * 1e3:.2f} ms, "
            f"max {times['max']:.2f} s, {shares[0]:.2f} % > 0.1 s, {shares[1]:.2f} % > 1 s, "
            f"{found['requests']['omitted']} left out of {found['requests']['due']}"
        )
    if given.svg:
        with open(given.svg, "w", encoding="utf-8") as out:
            out.write(draw(runs))


if __name__ == "__main__":
    main()
