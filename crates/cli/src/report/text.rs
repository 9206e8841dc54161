//! The report for people: the two figures that matter, then what became of the frames, then who
//! did it with what.

use plane::DropReason;
use wire::LinkProtocol;

use super::dispatched::Dispatch;
use super::flows::Flows;
use super::fragments::Fragments;
use super::number::{bytes, count, plural, rate, seconds, share};
use super::table::{Align, Table, clip, wrap};
use super::{Report, dispatch, json, ledger};
use crate::paint::Paint;

/// The whole report, no line wider than `width` characters.
pub(crate) fn render(report: &Report, paint: Paint, width: usize) -> String {
    let sections = [
        headline(report, paint),
        frames(report, paint, width),
        sets(report, paint, width),
        rules(report, paint, width),
        ports(&report.ports, paint, width),
        states(&report.ports, paint, width),
        ledger::render("Ledger", &report.ledger, paint, width),
        workers(&report.workers, paint, width),
        dispatched(&report.dispatch, paint, width),
        flows(report, paint),
        switch(report, paint),
        router(report, paint),
        machine(&report.memory, &report.machine, paint, width),
    ];
    let mut text = String::from("\n");
    for section in sections.iter().filter(|section| !section.is_empty()) {
        text += section;
        text.push('\n');
    }
    text
}

fn rules(report: &Report, paint: Paint, width: usize) -> String {
    let rules = report.rules.as_ref();
    rules.map_or_else(String::new, |rules| rules.render(paint, width))
}

fn headline(report: &Report, paint: Paint) -> String {
    let rate = rate(report.mpps * 1e6, "pps");
    let cost = format!("{:.1} ns a frame", report.ns_per_frame);
    let size = frame_size(report).map_or(String::new(), |size| format!(": {size}"));
    let did = match (report.switch.is_empty(), report.router.is_empty()) {
        (false, _) => "switched",
        (_, false) => "routed",
        _ if !report.host.is_empty() => "exchanged frames",
        _ => "bridged",
    };
    format!(
        "{} {did} for {} ({}) on {}{}\n  {}   {}   {}\n",
        paint.bold("linerate"),
        seconds(report.seconds),
        until_last_frame(report.seconds, report.run_seconds),
        plural(report.workers.len() as u64, "worker", "workers"),
        size,
        paint.bold(&rate),
        paint.bold(&cost),
        paint.dim("(busy time of a worker by received frame)"),
    )
}

/// What the time of a headline is, and how long the run took where that is more than a tenth
/// longer.
pub(crate) fn until_last_frame(until: f64, run: f64) -> String {
    match run > until * 1.1 {
        true => format!("until the last frame; the run took {}", seconds(run)),
        false => "until the last frame".to_owned(),
    }
}

/// The mean frame with FCS, since a rate without a frame size says little.
fn frame_size(report: &Report) -> Option<String> {
    let frames: u64 = report.ports.iter().map(|port| port.rx_frames).sum();
    let octets: u64 = report.ports.iter().map(|port| port.rx_bytes).sum();
    let mean = (octets as f64 / frames as f64) + 4.0;
    (frames != 0).then(|| format!("frames of {mean:.0} bytes (mean, with FCS)"))
}

fn frames(report: &Report, paint: Paint, width: usize) -> String {
    let (frames, dropped) = (&report.frames, report.dropped_total());
    let columns = [
        ("", Align::Left),
        ("", Align::Right),
        ("", Align::Right),
        ("", Align::Left),
    ];
    let mut table = Table::new(&columns);
    let entered = frames.rx + frames.originated + frames.cloned;
    let mut line = |name: &str, number: u64, note: &str| {
        let share = share(number, entered);
        table.row([name.to_owned(), count(number), share, note.to_owned()]);
    };
    line("received", frames.rx, "");
    for (name, number) in [("originated", frames.originated), ("cloned", frames.cloned)] {
        if number != 0 {
            line(name, number, "");
        }
    }
    line("forwarded", frames.tx, "");
    for rule in LinkProtocol::ALL {
        if let Some(&number) = report.passed.get(rule.name()) {
            line(&format!("  by {}", rule.name()), number, rule.sentence());
        }
    }
    let rest = [
        ("consumed", frames.consumed),
        ("punted", frames.punted),
        ("held", frames.held),
    ];
    for (name, number) in rest.into_iter().filter(|&(_, number)| number != 0) {
        line(name, number, "");
    }
    line("dropped", dropped, "");
    for (name, number) in by_size(report) {
        line(&format!("  {name}"), number, sentence(name));
    }
    if report.would_drop != 0 {
        line(
            "would drop",
            report.would_drop,
            "a count set holds an address of it, and no block set dropped it",
        );
    }
    let books = if report.balanced {
        paint.good("The books balance: every frame is accounted for.")
    } else {
        paint.bad("The books do NOT balance: frames are unaccounted for.")
    };
    format!(
        "{}\n{}  {books}\n",
        paint.bold("Frames"),
        table.render(paint, width)
    )
}

fn by_size(report: &Report) -> Vec<(&'static str, u64)> {
    let mut reasons: Vec<_> = report
        .frames
        .dropped
        .iter()
        .map(|(&name, &n)| (name, n))
        .collect();
    reasons.sort_by_key(|&(_, number)| std::cmp::Reverse(number));
    reasons
}

fn sentence(name: &str) -> &'static str {
    DropReason::all()
        .find(|reason| reason.name() == name)
        .map_or("", DropReason::sentence)
}

fn sets(report: &Report, paint: Paint, width: usize) -> String {
    if report.sets.is_empty() {
        return String::new();
    }
    let trial = report.sets.iter().any(|set| set.action == "count");
    let mut columns = vec![
        ("set", Align::Left),
        ("action", Align::Left),
        ("entries", Align::Right),
        ("memory", Align::Right),
        ("hits src", Align::Right),
        ("hits dst", Align::Right),
    ];
    if trial {
        columns.push(("would drop", Align::Right));
    }
    let mut table = Table::new(&columns);
    for set in &report.sets {
        let would_drop = if set.action == "count" {
            count(set.would_drop)
        } else {
            "-".to_owned()
        };
        table.row([
            set.name.clone(),
            set.action.to_owned(),
            count(set.entries),
            bytes(set.bytes),
            count(set.hits_src),
            count(set.hits_dst),
            would_drop,
        ]);
    }
    format!("{}\n{}", paint.bold("Sets"), table.render(paint, width))
}

type CountOf = fn(&json::Port) -> u64;

/// Counts that most ports have none of: a column only where one has.
const RARE: [(&str, CountOf); 5] = [
    ("missed", |port| port.missed),
    ("to host", |port| port.to_host),
    ("unfiltered", |port| port.unfiltered),
    ("before", |port| port.unfiltered_before),
    ("shortcut", |port| port.shortcut),
];

/// What passed by each port.
pub(crate) fn ports(ports: &[json::Port], paint: Paint, width: usize) -> String {
    let occurs = |of: CountOf| ports.iter().any(|port| of(port) != 0);
    let rare: Vec<_> = RARE.into_iter().filter(|(_, of)| occurs(*of)).collect();
    let mut columns = vec![
        ("port", Align::Left),
        ("received", Align::Right),
        ("", Align::Right),
        ("sent", Align::Right),
        ("", Align::Right),
    ];
    columns.extend(rare.iter().map(|&(name, _)| (name, Align::Right)));
    columns.push(("mode", Align::Left));
    let mut table = Table::new(&columns);
    for port in ports {
        let mut cells = vec![
            clip(port.shown(), width / 3),
            count(port.rx_frames),
            bytes(port.rx_bytes),
            count(port.tx_frames),
            bytes(port.tx_bytes),
        ];
        cells.extend(rare.iter().map(|(_, of)| count(of(port))));
        cells.push(port.mode.clone());
        table.push(cells);
    }
    format!("{}\n{}", paint.bold("Ports"), table.render(paint, width))
}

/// What interfaces were in that they should not be; nothing where all was well.
pub(crate) fn states(ports: &[json::Port], paint: Paint, width: usize) -> String {
    let mut table = Table::new(&[
        ("port", Align::Left),
        ("state", Align::Left),
        ("times", Align::Right),
        ("last at", Align::Right),
        ("in all", Align::Right),
        ("", Align::Left),
    ]);
    let mut some = false;
    for port in ports {
        for state in &port.states {
            some = true;
            let still = if state.active { "still so" } else { "over" };
            let separator = if state.detail.is_empty() { "" } else { ": " };
            table.row([
                clip(port.shown(), width / 4),
                state.name.clone(),
                count(state.count),
                format!("{:.1} s", state.since_seconds),
                format!("{:.1} s", state.seconds),
                format!("{still}{separator}{}", state.detail),
            ]);
        }
    }
    if !some {
        return String::new();
    }
    format!("{}\n{}", paint.bold("States"), table.render(paint, width))
}

/// Each worker.
pub(crate) fn workers(workers: &[json::Worker], paint: Paint, width: usize) -> String {
    let columns = [
        ("worker", Align::Right),
        ("CPU", Align::Right),
        ("received", Align::Right),
        ("sent", Align::Right),
        ("dropped", Align::Right),
        ("busy", Align::Right),
        ("mean burst", Align::Right),
        ("CPU time", Align::Right),
        ("sleeps", Align::Right),
    ];
    let mut table = Table::new(&columns);
    for worker in workers {
        table.row([
            worker.id.to_string(),
            worker.cpu.to_string(),
            count(worker.rx),
            count(worker.tx),
            count(worker.dropped),
            format!("{:.1} %", worker.busy * 100.0),
            format!("{:.1}", worker.burst_mean),
            format!("{:.2} s", worker.cpu_seconds),
            count(worker.sleeps),
        ]);
    }
    format!("{}\n{}", paint.bold("Workers"), table.render(paint, width))
}

/// What the bridge remembered.
fn flows(report: &Report, paint: Paint) -> String {
    let line = report.flows.as_ref().map(Flows::line);
    let fragments = report.fragments.as_ref().and_then(Fragments::line);
    line.map_or_else(String::new, |line| {
        let fragments = fragments.map_or_else(String::new, |line| format!("  {line}\n"));
        format!("{}\n  {line}\n{fragments}", paint.bold("Flows"))
    })
}

/// What a switch learned and copied; nothing of a bridge.
fn switch(report: &Report, paint: Paint) -> String {
    let count_of = |name| {
        report
            .switch
            .get(name)
            .map_or_else(String::new, |&of| count(of))
    };
    if report.switch.is_empty() {
        return String::new();
    }
    format!(
        "{}\n  stations: {} learned, {} moved, {} expired, {} evicted, {} refused\n  \
         {} frames flooded: {} copies, {} without a free frame\n{}",
        paint.bold("Switch"),
        count_of("learned"),
        count_of("moved"),
        count_of("expired"),
        count_of("evicted"),
        count_of("refused"),
        count_of("flooded"),
        count_of("copies"),
        count_of("copies_failed"),
        match &*count_of("quietened") {
            "0" => String::new(),
            times =>
                format!("  {times} times a port was left out, since a loop was noticed at it\n"),
        },
    )
}

/// What a router forwarded, asked and told; nothing of others.
fn router(report: &Report, paint: Paint) -> String {
    let count_of = |name| {
        report
            .router
            .get(name)
            .map_or_else(String::new, |&of| count(of))
    };
    if report.router.is_empty() {
        return String::new();
    }
    format!(
        "{}\n  packets: {} of IPv4 and {} of IPv6 forwarded, {} for the router itself\n  \
         neighbours: {} requests, {} answers\n  \
         ICMP: {} echo replies, {} errors, {} errors held back by the limit\n  \
         {} packets cut, into {} fragments\n",
        paint.bold("Router"),
        count_of("forwarded_v4"),
        count_of("forwarded_v6"),
        count_of("local"),
        count_of("requests"),
        count_of("answers"),
        count_of("echo_replies"),
        count_of("icmp_errors"),
        count_of("icmp_limited"),
        count_of("fragmented"),
        count_of("fragments"),
    )
}

/// How frames got to the worker that decided on them; nothing where there was but one.
fn dispatched(dispatch: &Dispatch, paint: Paint, width: usize) -> String {
    if dispatch.workers < 2 {
        return String::new();
    }
    let ports = dispatch.ports.iter();
    let names: Vec<String> = ports
        .clone()
        .map(|port| format!("port {}", port.id))
        .collect();
    let named = ports.zip(&names);
    let settings = dispatch::Settings {
        policy: dispatch.policy,
        ring_limit: dispatch.ring_limit,
        cpus: &dispatch.cpus,
        ports: named
            .map(|(port, name)| (name.as_str(), port.policy, port.queues))
            .collect(),
    };
    let place = |id: u8| dispatch.ports.iter().position(|port| port.id == id);
    let rows = dispatch.rows.iter().map(|row| dispatch::Row {
        worker: row.worker,
        port: place(row.port).map_or("", |place| &names[place]),
        kind: row.kind,
        counts: row.counts.in_order(),
    });
    let text = dispatch::render(&settings, rows, paint, width);
    format!("{}\n{text}", paint.bold("Dispatch"))
}

/// What it ran on.
pub(crate) fn machine(
    memory: &json::Memory,
    machine: &json::MachineFacts,
    paint: Paint,
    width: usize,
) -> String {
    let nodes: Vec<String> = memory.nodes.iter().map(u16::to_string).collect();
    let nodes = match nodes.as_slice() {
        [] => String::new(),
        nodes => format!(", NUMA node {}", nodes.join(" and ")),
    };
    let frames = format!(
        "Frame memory: {} in {}: {} frames, {} bytes apart{nodes}.",
        bytes(memory.bytes),
        memory.pages,
        count(memory.frames),
        memory.stride_bytes,
    );
    let cpus = plural(machine.cpus as u64, "CPU", "CPUs");
    let place = format!("{}, {cpus}, Linux {}.", machine.cpu, machine.kernel);
    let lines = wrap(&frames, 2, width) + &wrap(&place, 2, width);
    format!("{}\n{lines}", paint.bold("Machine"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_headline_says_until_when_it_is() {
        let table = [
            (1.0, 1.0, "until the last frame"),
            (1.0, 1.05, "until the last frame"),
            (1.0, 12.0, "until the last frame; the run took 12.0 s"),
            (0.0, 2.0, "until the last frame; the run took 2.00 s"),
            (0.0, 0.0, "until the last frame"),
        ];
        for (until, run, said) in table {
            assert_eq!(until_last_frame(until, run), said, "{until} {run}");
        }
    }
}
