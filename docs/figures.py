"""The tables of README.md, docs/performance.md and docs/reproduced.md: see speed.py."""

import json
import os
import statistics

RUNS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runs")
SIX, SIXTY_FOUR = 6_000_000, 64_000_000


def path_of(name):
    return os.path.join(RUNS, f"{name}.json")


def load(name):
    with open(path_of(name), encoding="utf-8") as file:
        return json.load(file)


def rows(run, **wanted):
    def fits(row):
        return all(row["variant"].get(name) == value for name, value in wanted.items())

    return [row for row in run["rows"] if fits(row)]


def ratio(row, other):
    """The median of the ratios within a round; the rounds of both are the same."""
    pairs = zip(row["samples"], other["samples"])
    return statistics.median(one / base for one, base in pairs)


def digits(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def millions(row):
    return digits(row["median"] / 1e6)


def table(head, body, left=1):
    """A Markdown table whose first columns are words and whose others are numbers."""
    marks = ["---"] * left + ["---:"] * (len(head) - left)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, marks, *body])


def where(run):
    """What was measured on what, when, and how steady it was."""
    machine, noise = run["machine"], run.get("noise")
    kind = ", a virtual machine" if machine.get("virtual_machine") else ""
    said = f"{machine['cpu']}, {machine['cpus']} CPUs{kind}, Linux {machine['kernel']}"
    said += f"; {run['date'][:10]}"
    said += f"; commit {run['commit']}" if run.get("commit") else ""
    said += "; a quick run" if run.get("quick") else ""
    if noise:
        share = f"{100 * noise['share']:.0f} %"
        said += f"; one variant measured twice a round differed from itself by up to {share}"
    return f"<sub>{said}.</sub>"


def sentence(said):
    return f"{said[:1].upper()}{said[1:]}."


def whole(name, *parts):
    """A run's part of a page: its tables, then `where`."""
    return "\n\n".join([*parts, where(load(name))])


# The ladder.


def ladder_cells(row, first, published):
    figure = f"{published['figure']:.1f}" if published else ""
    there = f"× {published['ratio']:.2f}" if published else ""
    here = "" if row is first else f"× {ratio(row, first):.2f}"
    if row["ratio_to_first"] and not row["ratio_to_first"]["differs"]:
        here = "no difference"
    first_there = "" if row is first else there
    return [row["variant"]["rung"], figure, first_there, millions(row), here]


def ladder():
    run = load("ladder")
    published = {one["row"]: one for one in run["published"]}
    head = ["one change a rung", "2015, Mpps", "to the first", "here, M frames/s", "to the first"]
    first = run["rows"][0]
    # Rows of another metric are checks of a reason, which the findings name.
    rungs = [one for one in enumerate(run["rows"]) if one[1]["metric"] == first["metric"]]
    body = [ladder_cells(row, first, published.get(number)) for number, row in rungs]
    # A finding of more than one sentence explains a rung that went another way.
    why = [said for said in run["findings"] if ". " in said]
    reasons = "\n".join(f"- {sentence(said)}" for said in why)
    return whole("ladder", table(head, body), *([reasons] if reasons else []))


def agreement(row, before):
    """Whether at least three rounds of four went up, as the published figure did."""
    rounds = list(zip(row["samples"], before["samples"]))
    up = sum(one > other for one, other in rounds)
    words = "agrees" if 4 * up >= 3 * len(rounds) else "opposite" if 4 * up <= len(rounds) else ""
    return f"{words or 'no difference'}: up in {up} of {len(rounds)} rounds"


def steps():
    """Each published rung beside the one before it."""
    run = load("ladder")
    body, before = [], None
    for one in run["published"]:
        row = run["rows"][one["row"]]
        cells = [row["variant"]["rung"], f"{one['figure']:.1f} Mpps"]
        if before:
            there = f"× {one['figure'] / before[0]['figure']:.2f}"
            cells += [there, f"× {ratio(row, before[1]):.2f}", agreement(row, before[1])]
        body.append((cells + [""] * 3)[:5])
        before = one, row
    head = ["rung", "published", "to the rung before, there", "here", "direction"]
    return whole("ladder", table(head, body))


# Sets against the limit.


def against(row, limit, lookups):
    share = lookups * ratio(row, limit)
    return f"{millions(row)} ({share:.2f})" if share >= 0.1 else f"{millions(row)} ({share:.2g})"


def set_rows(run, name, streams, **wanted):
    """A row a burst: the set, its bytes, the limit of as many, and each stream's share of it."""
    limits = rows(run, design="limit", **wanted)
    if not limits:
        return []
    limit, body = limits[0], []
    for burst in (64, 256):
        found = rows(run, design="ours", burst=burst, **wanted)
        ours = {row["variant"]["stream"]: row for row in found}
        bytes_ = limit["variant"]["bytes"]
        size = f"{bytes_ / 1e6:,.1f} MB, {bytes_ / limit['variant']['entries']:.1f} B"
        cells = [against(ours[stream], limit, 1 + ("pair" in stream)) for stream in streams]
        body.append([name, size, str(burst), millions(limit), *cells])
    return body


def sets():
    run, body = load("table"), []
    names = {(4, SIX): "6M IPv4", (4, SIXTY_FOUR): "64M IPv4", (6, SIX): "6M IPv6"}
    for (family, entries), name in names.items():
        for lists in (1, 16):
            wanted = {"kind": "addresses", "family": family, "entries": entries, "lists": lists}
            title = name if lists == 1 else f"{name} over 16 lists"
            body += set_rows(run, title, ["hit", "miss", "pair"], **wanted)
    head = ["set", "bytes in all, an entry", "burst", "limit, M lines/s", "hit", "miss", "pair"]
    return whole("table", table(head, body, 2))


def networks():
    run, body = load("table"), []
    names = {"generated": "generated", "file": "a real table"}
    streams = ["uniform", "from_table", "uniform_pair", "from_table_pair"]
    for source, name in names.items():
        for family in (4, 6):
            wanted = {"kind": "networks", "family": family, "source": source}
            body += set_rows(run, f"IPv{family}, {name}", streams, **wanted)
    words = ["any address", "of the table", "pairs, any", "pairs of the table"]
    head = ["networks", "bytes in all, an entry", "burst", "limit, M lines/s", *words]
    return whole("table", table(head, body, 2))


def designs():
    """Every design at 6M IPv4 addresses, as shares of the limit of our footprint."""
    run = load("table")
    wanted = {"kind": "addresses", "family": 4, "entries": SIX, "lists": 1}
    limit = rows(run, design="limit", **wanted)[0]
    body = {}
    for row in rows(run, **wanted):
        variant = row["variant"]
        if variant["design"] != "limit":
            heads = f", {variant['heads']:,} heads" if variant.get("heads") else ""
            name = f"`{variant['design']}`{heads}"
            size = f"{variant['bytes'] / 1e6:,.0f} MB"
            cells = body.setdefault((name, size, str(variant["burst"])), [])
            cells.append(against(row, limit, 1 + (variant["stream"] == "pair")))
    head = ["design", "bytes", "burst", "hit", "miss", "pair"]
    return whole("table", table(head, [[*key, *cells] for key, cells in body.items()], 2))


# Hits in 6M IPv4 addresses, million a second, in the prototypes; burst of our row.
PROTOTYPES = [
    ("array", 1, "array table of 2015, one at a time", 19),
    ("array", 32, "array table of 2015, batches of 32, heads and arrays prefetched", 38),
    ("bitmap", 256, "flat 2^32-bit map", 80),
    ("map8", 256, "buckets of 8 address + value", 167),
    ("bucket16", 256, "buckets of 16 addresses", 254),
    ("ours", 256, "buckets of 32 16-bit remainders", 286),
    ("limit", None, "limit: independent random lines", 383),
]


def prototypes():
    run, body = load("table"), []
    wanted = {"kind": "addresses", "family": 4, "entries": SIX, "lists": 1}
    base, base_there = None, PROTOTYPES[0][3]
    for design, burst, name, there in PROTOTYPES:
        found = rows(run, design=design, burst=burst, **wanted)
        row = [one for one in found if one["variant"].get("stream") in ("hit", None)][0]
        base = base or row
        same = "" if base is row else agreement(row, base)
        here = [millions(row), f"× {ratio(row, base):.1f}"]
        body.append([name, f"{there}", f"× {there / base_there:.1f}", *here, same])
    head = ["hits in 6M IPv4 addresses", "prototype, M/s", "to the first", "here, M/s"]
    return whole("table", table([*head, "to the first", "direction"], body))


# The whole path, and locks.


def port_row(row, what, port, workers=1):
    rate = row["median"] / 1e6
    spread = f"{min(row['samples']) / 1e6:.1f} to {max(row['samples']) / 1e6:.1f}"
    return [what, port, f"{rate:.1f}", spread, f"{1000 * workers / rate:.1f}"]


def ring():
    """The path from ring to ring, as a row and beside the limit."""
    run = load("pipeline")
    wanted = {"entries": SIX, "pool": 8192, "stride": 2112, "without": "none"}
    path, pair, limit = (
        rows(run, path=name, **wanted)[0] for name in ("bridge", "lookups", "limit")
    )
    what = "receive, parse, look up both addresses, bridge or drop, send (`lab run pipeline`)"
    share = f"three lines a frame are {3 * ratio(path, limit):.2f} of the limit"
    beside = f"{millions(limit)} M lines/s; the lookups alone: {millions(pair)} M pairs/s"
    far = rows(run, path="far_side", **wanted)
    if far:
        ours = far_side_taken_out(path, far[0])
        share += f", {3 * ratio(ours, limit):.2f} without what the frames' source and sink do there"
    return port_row(path, what, "memory rings"), f"From ring to ring {share} ({beside})."


def far_side_taken_out(path, far):
    """The row of the path less the time that the far side's row has for a frame, round by round."""
    pairs = zip(path["samples"], far["samples"])
    return {"samples": [1 / (1 / whole - 1 / part) for whole, part in pairs]}


def ports():
    run = load("rates")
    first, said = ring()
    body = [first]
    for row in rows(run):
        what = row["variant"]["what"]
        if row["metric"] == "frames_per_second":
            workers = 2 if "two workers" in what else 1
            body.append(port_row(row, what, row["variant"]["port"], workers))
    loaded = rows(run, port="file")[0]
    loading = f"Reading and compiling 6,000,000 lines of text takes {loaded['median']:.2f} s."
    rounds = f"<sub>The other rows: {len(loaded['samples'])} rounds by `docs/rates.py`.</sub>"
    head = ["what", "kind of port", "Mpps", "lowest to highest", "ns a frame"]
    return "\n".join([whole("pipeline", table(head, body, 2), f"{said} {loading}"), rounds])


# Between kernel interfaces.

VETH = {
    "xdp": "linerate, `xdp:`",
    "xdp_redirect": "linerate, `xdp:` with `transmit=redirect`",
    "xdp_shortcut": "linerate, `xdp:` with `shortcut=on`",
    "packet": "linerate, `packet:`",
    "testpmd_af_xdp": "DPDK testpmd, net_af_xdp",
    "testpmd_af_packet": "DPDK testpmd, net_af_packet",
    "xdp_hash_map": "an XDP program with a hash map",
    "nft": "nft set at ingress, kernel bridge",
    "kernel_bridge": "kernel bridge",
    "switch_xdp": "linerate switch, `xdp:`",
    "switch_packet": "linerate switch, `packet:`",
    "open_vswitch": "Open vSwitch, user-space datapath",
}
RATE, NANOS = "frames_per_second", "ns_per_frame"


FAR_ENDS = {"drop": "XDP drops", "stack": "stack", "thread": "thread"}
# Ways of ours, and what each is held against: another's path, and of how many entries.
OWN = {"xdp_redirect": "`transmit=redirect`", "xdp_shortcut": "`shortcut=on`"}
AGAINST = {
    "testpmd's net_af_xdp, no set": ("testpmd_af_xdp", 0),
    "an XDP program with a hash map": ("xdp_hash_map", -1),
    "nft": ("nft", -1),
}


def veth_row(run, far, path, entries, action, metric):
    found = rows(run, far_end=far, path=path, entries=entries, action=action)
    return next((one for one in found if one["metric"] == metric), None)


def veth_cells(run, path, entries):
    """Frames forwarded by far end, dropped ones, and CPU time by far end; none without a row."""
    rates = [veth_row(run, far, path, entries, "forward", RATE) for far in FAR_ENDS]
    nanos = [veth_row(run, far, path, entries, "forward", NANOS) for far in FAR_ENDS]
    if not any(rates):
        return None
    drop = veth_row(run, "drop", path, entries, "drop", RATE)
    return [
        *(millions(one) if one else "" for one in rates),
        *(digits(one["median"]) if one else "" for one in nanos),
        millions(drop) if drop else "",
    ]


def veth_ratio(run, far, own, other, entries):
    """Frames and CPU time of ours to another's."""
    cells = []
    for metric in [RATE, NANOS]:
        ours = veth_row(run, far, own, entries, "forward", metric)
        theirs = veth_row(run, far, other, entries, "forward", metric)
        if not ours or not theirs:
            return ""
        cells.append(f"{ratio(ours, theirs):.2f}")
    return f"× {cells[0]} for {cells[1]}"


def veth_set(run, far, own, entries):
    """Frames with a set to those with none."""
    full, none = (veth_row(run, far, own, count, "forward", RATE) for count in (entries, 0))
    return f"× {ratio(full, none):.2f}" if full and none else ""


def veth_ratios(run, entries):
    ways = [(far, own) for own in OWN for far in FAR_ENDS]
    ways = [(far, own) for far, own in ways if veth_row(run, far, own, 0, "forward", RATE)]
    head = [f"{OWN[own]}, {FAR_ENDS[far]}" for far, own in ways]
    body = []
    for name, (other, count) in AGAINST.items():
        count = entries if count else 0
        body.append([name, *(veth_ratio(run, far, own, other, count) for far, own in ways)])
    body.append(["itself without a set", *(veth_set(run, far, own, entries) for far, own in ways)])
    return table(["to", *head], body)


def closer_look():
    """What a set costs redirection, of a run of that path alone."""
    if not os.path.exists(path_of("veth_redirect")):
        return []
    run, said = load("veth_redirect"), []
    rounds = len(run["rows"][0]["samples"])
    counts = sorted({row["variant"]["entries"] for row in run["rows"]})
    for far, name in FAR_ENDS.items():
        none, full = (veth_row(run, far, "xdp_redirect", count, "forward", RATE)
                      for count in (counts[0], counts[-1]))
        if none and full:
            said.append(f"× {ratio(full, none):.2f} ({name})")
    cpu = run["machine"]["cpu"]
    return [f"`transmit=redirect` in {rounds} rounds of nothing else ({cpu}): with "
            f"{counts[-1]:,} entries {', '.join(said)} of what it forwards with none"]


def veth():
    if not os.path.exists(path_of("veth")):
        return "No run of an idle machine is kept yet: `linerate lab run veth` measures yours."
    run, body = load("veth"), []
    counts = sorted({row["variant"]["entries"] for row in run["rows"]})
    for path, name in VETH.items():
        for entries in [counts[0], counts[-1]]:
            cells = veth_cells(run, path, entries)
            if cells:
                body.append([name, f"{entries:,}", *cells])
    head = ["over veth pairs, far end:", "entries"]
    head += [f"Mpps, {far}" for far in FAR_ENDS.values()]
    head += [f"CPU ns, {far}" for far in FAR_ENDS.values()] + ["dropped, Mpps"]
    said = [one for one in run["findings"] if " load in " in one]
    said += [f"left out: {one}" for one in run["skipped"]]
    said += closer_look()
    text = f"This bridge with {counts[-1]:,} entries beside others: how many times their frames, "
    text += "for how many times their CPU time a frame:\n\n"
    text += veth_ratios(run, counts[-1]) + "\n\n"
    text += "\n".join(f"- {sentence(one)}" for one in said)
    return whole("veth", table(head, body), text)


LOCKS = {
    "ours": ("how linerate publishes a table", "none"),
    "rwlock_burst": ("a read lock a burst", "none"),
    "rwlock_packet": ("a read lock a packet", "none_packet"),
    "rwlock_batch4_both": ("a read lock a batch of 4", "none_batch4"),
    "rwlock_prefetch4": ("a read lock a packet, lines of 4 packets prefetched", "none_prefetch4"),
    "rwlock_prefetch4_array": ("the same on the array table, as published", "none_prefetch4_array"),
    "read_mostly": ("a lock with a slot a reader, a packet", "none_packet"),
    "mutex_twice": ("a mutex twice a packet", "none_packet"),
    "counter": ("no lock, one atomic counter", "none"),
    "unchanged": ("no lock, a table that was never changed", "none"),
}


def lock_cell(run, scheme, base, **wanted):
    row, other = (rows(run, scheme=name, **wanted) for name in (scheme, base))
    return f"{millions(row[0])} ({ratio(row[0], other[0]):.2f})" if row and other else ""


def locks():
    run, body = load("locks"), []
    cases = [(1, 0), (2, 0), (1, 1000)]
    for scheme, (name, base) in LOCKS.items():
        cells = [lock_cell(run, scheme, base, threads=t, writer=w) for t, w in cases]
        # A run of before the scheme has no row of it.
        if any(cells):
            body.append([name, *cells])
    head = ["two lookups a packet", "1 thread", "2 threads", "1 thread, 1,000 changes/s"]
    verdict = [said for said in run["findings"] if said.startswith("ours against no lock")]
    said = sentence("; ".join(verdict))
    if verdict:
        said += " A plus is faster than no lock."
    return whole("locks", table(head, body), said)


def readlock():
    run = load("locks")
    if not rows(run, scheme="rwlock_prefetch4_array"):
        return ("The run kept here is older than the rows of the published scheme: "
                "`linerate lab run locks` measures them.")
    said = [one for one in run["findings"] if one.startswith("published")]
    return whole("locks", "\n".join(f"> {sentence(one)}" for one in said))


# Memory and headers.


def memory():
    run, body = load("memory"), []
    for row in rows(run, method="best", threads=1):
        variant = row["variant"]
        wanted = {"bytes": variant["bytes"], "pages": variant["pages"]}
        two = rows(run, method="best", threads=2, **wanted)
        wait = rows(run, method="chain", **wanted)
        cells = [millions(two[0]) if two else "", digits(wait[0]["median"]) if wait else ""]
        body.append([f"{variant['bytes'] >> 20:,} MiB", variant["pages"], millions(row), *cells])
    head = ["footprint", "pages", "1 thread, M lines/s", "2 threads", "one by one, ns a line"]
    return whole("memory", table(head, body, 2))


def findings(name):
    said = "\n".join(f"- {sentence(one)}" for one in load(name)["findings"])
    return whole(name, said)


def himeno():
    """Each offset beside arrays that all begin a page, a column a working set."""
    run = load("himeno")
    published = {run["rows"][one["row"]]["variant"]["offset"]: one for one in run["published"]}
    sizes = list(dict.fromkeys(row["variant"]["bytes"] for row in run["rows"]))
    body = []
    for row in rows(run, bytes=sizes[0]):
        offset, sets = row["variant"]["offset"], row["variant"]["sets"]
        there = published.get(offset)
        cells = [f"{offset}", f"{sets}"]
        cells += [f"{there['figure']:,.0f}", f"× {there['ratio']:.2f}"] if there else ["", ""]
        for size in sizes:
            base, own = (rows(run, bytes=size, offset=one)[0] for one in (0, offset))
            cells.append(f"× {ratio(own, base):.2f}" if offset else millions(own))
        body.append(cells)
    head = ["offset", "L1 sets", "published, MFLOPS", "to the first"]
    head += [f"here, {size / 2**20:.1f} MiB: M flop/s, to the first" for size in sizes]
    said = "\n".join(f"- {sentence(one)}" for one in run["findings"])
    return whole("himeno", table(head, body), said)


def brief():
    """Three figures for the first page, each with its kind of port."""
    wanted = {"entries": SIX, "pool": 8192, "stride": 2112, "without": "none"}
    path = rows(load("pipeline"), path="bridge", **wanted)[0]
    veth = load("veth")
    entries = max(one["variant"].get("entries", 0) for one in rows(veth, path="xdp"))
    fast, plain = (
        veth_row(veth, "drop", name, entries, "forward", RATE) for name in ("xdp_redirect", "xdp")
    )
    body = [
        ["frames in memory rings, one worker", millions(path)],
        ["between veth interfaces, `xdp:` ports with `transmit=redirect`", millions(fast)],
        ["between veth interfaces, `xdp:` ports", millions(plain)],
    ]
    head = ["64-byte frames, both addresses looked up among 6 million", "Mpps"]
    said = "Each figure with its machine and spread: [docs/performance.md](docs/performance.md)."
    return "\n".join([table(head, body), "", said])


BLOCKS = {
    "brief": brief,
    "ladder": ladder,
    "steps": steps,
    "prototypes": prototypes,
    "readlock": readlock,
    "sets": sets,
    "networks": networks,
    "designs": designs,
    "ports": ports,
    "veth": veth,
    "locks": locks,
    "memory": memory,
    "batch": lambda: findings("batch"),
    "stride": lambda: findings("stride"),
    "copies": lambda: findings("copies"),
    "himeno": himeno,
}
