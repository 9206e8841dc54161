//! `linerate rss show`.

use std::collections::BTreeMap;

use port::interface::{HashSettings, RssAccess};
use serde::Serialize;

use super::nic::{self, Nic};
use crate::args::RssShowArgs;
use crate::build::VERSION;
use crate::error::Outcome;
use crate::output::{Output, Stream};
use crate::report::table::{Align, Table};

#[derive(Debug, Serialize)]
struct Page {
    version: &'static str,
    #[serde(flatten)]
    nic: Nic,
    /// Why there is nothing more; null where there is.
    untold: Option<String>,
}

/// Prints what the driver tells; that it tells nothing is an answer.
pub(super) fn run(args: &RssShowArgs, output: Output) -> Outcome {
    let interface = nic::interface(&args.port)?;
    let settings = interface.settings();
    let untold = settings
        .as_ref()
        .err()
        .map(|error| format!("its driver tells neither key nor table: {error}"));
    let settings = settings.unwrap_or_default();
    let nic = Nic::of(&interface, &settings);
    if args.json {
        let version = VERSION;
        return output.print_json(&Page {
            version,
            nic,
            untold,
        });
    }
    output.print(Stream::Stdout, &text(&nic, &settings, untold, output))
}

fn text(nic: &Nic, settings: &HashSettings, untold: Option<String>, output: Output) -> String {
    let stream = Stream::Stdout;
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("driver", nic.driver.clone());
    let number =
        |queues: Option<u32>| queues.map_or_else(|| "not told".to_owned(), |n| n.to_string());
    row("receive queues", number(nic.queues));
    match untold {
        Some(untold) => row("receive hash", untold),
        None => {
            row(
                "hash function",
                nic.function.unwrap_or("not told").to_owned(),
            );
            row(
                "key",
                nic.key.clone().unwrap_or_else(|| "not told".to_owned()),
            );
            for (name, fields) in settings.by_name() {
                row(name, nic::letters(fields));
            }
        }
    }
    let (paint, width) = (output.paint(stream), output.width(stream));
    let mut text = format!("{}\n{}", nic.interface, table.render(paint, width));
    if !nic.table.is_empty() {
        text += &format!("\n{}", queues(&nic.table).render(paint, width));
    }
    text
}

/// Buckets by queue.
fn queues(entries: &[u32]) -> Table {
    let mut by_queue = BTreeMap::<u32, Vec<usize>>::new();
    for (bucket, queue) in entries.iter().enumerate() {
        by_queue.entry(*queue).or_default().push(bucket);
    }
    let mut table = Table::new(&[
        ("queue", Align::Right),
        ("buckets", Align::Right),
        ("which", Align::Left),
    ]);
    for (queue, buckets) in by_queue {
        let first: Vec<String> = buckets.iter().take(8).map(usize::to_string).collect();
        let more = if buckets.len() > first.len() {
            ", ..."
        } else {
            ""
        };
        table.row([
            queue.to_string(),
            buckets.len().to_string(),
            first.join(", ") + more,
        ]);
    }
    table
}
