//! What the demo says.

use serde_json::{Value, json};

use super::plan::GENERATOR;
use crate::args::DemoArgs;
use crate::build::VERSION;
use crate::paint::Paint;
use crate::report::Report;
use crate::report::number::{count, plural};
use crate::report::table::{Align, Table, wrap};
use daemon::Layout;

/// The line before the live lines.
pub(super) fn opening(args: &DemoArgs, layout: &Layout) -> String {
    let cpus: Vec<String> = layout.cpus.iter().map(ToString::to_string).collect();
    format!(
        "Bridging {GENERATOR} to null: for {} s with {} on CPU {}; Ctrl-C ends it sooner.",
        args.seconds,
        plural(layout.cpus.len() as u64, "worker", "workers"),
        cpus.join(", "),
    )
}

/// The end of the report: what the figures mean, and what to try next.
pub(super) fn meaning(report: &Report, paint: Paint, width: usize) -> String {
    let Some(demo) = report.demo else {
        return String::new();
    };
    let paragraphs = [
        format!(
            "Every frame was made, parsed, its source and destination looked up among {} \
             addresses, and forwarded or dropped. Making it took the generator {:.1} ns of the \
             {:.1} ns ({:.0} %; measured alone, before and after).",
            count(demo.entries),
            demo.generator_ns_per_frame,
            report.ns_per_frame,
            demo.generator_share * 100.0,
        ),
        "The ports are memory: no driver, no NIC, no wire. It is what the dataplane \
         leaves for them, not what a box in the wire will do. 64-byte frames arrive every 67 ns \
         at 10 Gb/s."
            .to_owned(),
    ];
    let mut text = format!("{}\n", paint.bold("What this means"));
    for paragraph in &paragraphs {
        text += &wrap(paragraph, 2, width);
    }
    text += &format!("\n{}\n", paint.bold("What to try next"));
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
    for (command, what) in next(report.workers.len(), report.machine.cpus) {
        table.row([command.to_owned(), what.to_owned()]);
    }
    text + &table.render(paint, width)
}

fn next(workers: usize, cpus: usize) -> Vec<(&'static str, &'static str)> {
    let mut next = vec![
        ("linerate demo --entries 100k", "a set that fits the caches"),
        (
            "linerate bridge pcap:in=A pcap:out=B --block LIST",
            "filter a capture of yours",
        ),
        ("linerate set check LIST", "what a list holds"),
        ("linerate lab run stride", "why frames lie 2112 bytes apart"),
    ];
    if workers == 1 && cpus > 1 {
        next.insert(
            1,
            ("linerate demo --workers 2", "each worker on its own CPU"),
        );
    }
    next
}

/// For people.
pub(super) fn dry_run(
    args: &DemoArgs,
    layout: &Layout,
    entries: u64,
    paint: Paint,
    width: usize,
) -> String {
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
    table.row([
        "set".to_owned(),
        format!("{} random IPv4 addresses", count(entries)),
    ]);
    table.row(["port 0".to_owned(), GENERATOR.to_owned()]);
    table.row(["port 1".to_owned(), "null:".to_owned()]);
    for (name, value) in crate::resolve::layout_facts(layout) {
        table.row([name.to_owned(), value]);
    }
    table.row(["ends".to_owned(), format!("after {} s", args.seconds)]);
    table.row(["seed".to_owned(), args.seed.to_string()]);
    let heading = paint.bold("This would run (--dry-run: nothing was built)");
    format!("{heading}\n{}", table.render(paint, width))
}

/// For programs.
pub(super) fn dry_run_json(args: &DemoArgs, layout: &Layout, entries: u64) -> Value {
    json!({
        "version": VERSION,
        "dry_run": true,
        "entries": entries,
        "ports": [GENERATOR, "null:"],
        "cpus": layout.cpus.iter().map(|cpu| cpu.0).collect::<Vec<_>>(),
        "burst": layout.burst,
        "stride_bytes": layout.stride_bytes(0),
        "pool_frames": layout.pool_frames,
        "duration_seconds": args.seconds,
        "seed": args.seed,
    })
}
