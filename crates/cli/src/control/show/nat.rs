//! `linerate show nat`, all flows, asked for in parts.

use daemon::rpc::Client;
use daemon::rpc::answers::{Nat, NatFlow, NatParams};

use super::whole::show;
use super::{Looks, Question};
use crate::args::ShowNatArgs;
use crate::error::{Error, Outcome};
use crate::output::Output;
use crate::report::number::{count, plural};
use crate::report::table::{Align, Table};

pub(super) fn run(args: &ShowNatArgs, output: Output) -> Outcome {
    show(&args.facts, output, ask, render)
}

/// All parts as one, sorted.
fn ask(client: &mut Client) -> Result<Nat, Error> {
    let mut params = NatParams::default();
    let mut entries = Vec::new();
    let mut all = loop {
        let mut part: Nat = Question::of("show.nat", &params).ask(client)?;
        entries.append(&mut part.entries);
        // None is less than any: this was the last part.
        if part.next <= params.from {
            break part;
        }
        params.from = part.next;
    };
    let key = |one: &NatFlow| (one.protocol.clone(), one.from.clone(), one.to.clone());
    entries.sort_by_cached_key(key);
    // One that moved while parts were asked for.
    entries.dedup_by_key(|one| key(one));
    all.entries = entries;
    all.next = None;
    Ok(all)
}

fn render(all: &Nat, looks: Looks) -> String {
    let revoked = match all.revoked {
        0 => String::new(),
        revoked => format!(" ({} by other rules or addresses)", count(revoked)),
    };
    let totals = format!(
        "{} of {} at most; {} begun, {} ended{revoked}, {} translated\n",
        plural(all.flows, "flow", "flows"),
        count(all.flows_max),
        count(all.begun),
        count(all.ended),
        plural(all.translated, "packet", "packets"),
    );
    match all.entries.is_empty() {
        true => totals,
        false => format!("{}{totals}", table(&all.entries, looks)),
    }
}

fn table(flows: &[NatFlow], looks: Looks) -> String {
    let left = |name| (name, Align::Left);
    let mut table = Table::new(&[
        left("protocol"),
        left("from"),
        left("to"),
        left("leaves from"),
        left("leaves to"),
        left("state"),
        ("idle", Align::Right),
        ("left", Align::Right),
    ]);
    for one in flows {
        let any = || "any".to_owned();
        table.row([
            one.protocol.clone(),
            one.from.clone(),
            one.to.clone().unwrap_or_else(any),
            one.new_from.clone(),
            one.new_to.clone().unwrap_or_else(any),
            one.state.clone(),
            format!("{} s", count(one.idle_seconds)),
            format!("{} s", count(one.left_seconds)),
        ]);
    }
    table.render(looks.paint, looks.width)
}
