//! `linerate show rules`, all of them, asked for in parts.

use daemon::rpc::Client;
use daemon::rpc::answers::{Rules, RulesParams};

use super::whole::show;
use super::{Looks, Question};
use crate::args::ShowRulesArgs;
use crate::error::{Error, Outcome};
use crate::output::Output;
use crate::report::number::{bytes, count, plural};
use crate::report::table::{Align, Table};

pub(super) fn run(args: &ShowRulesArgs, output: Output) -> Outcome {
    show(&args.facts, output, ask, render)
}

/// All parts as one. Where other rules take their place meanwhile, it begins anew.
fn ask(client: &mut Client) -> Result<Rules, Error> {
    let mut params = RulesParams::default();
    let mut rules = Vec::new();
    let mut first: Option<Rules> = None;
    loop {
        let mut part: Rules = Question::of("show.rules", &params).ask(client)?;
        let same = |first: &Rules| (&first.file, first.count) == (&part.file, part.count);
        if !first.as_ref().is_none_or(same) {
            (params, rules, first) = (RulesParams::default(), Vec::new(), None);
            continue;
        }
        rules.append(&mut part.rules);
        let (next, from) = (part.next, params.from);
        let all = first.get_or_insert(part);
        // None is less than any: this was the last part.
        if next <= from {
            all.rules = rules;
            all.next = None;
            return Ok(std::mem::take(all));
        }
        params.from = next;
    }
}

fn render(all: &Rules, looks: Looks) -> String {
    let mut table = Table::new(&[
        ("rule", Align::Right),
        ("line", Align::Right),
        ("packets", Align::Right),
        ("bytes", Align::Right),
        ("", Align::Left),
    ]);
    for one in &all.rules {
        table.row([
            one.number.to_string(),
            one.line.to_string(),
            count(one.packets),
            bytes(one.bytes),
            one.rule.clone(),
        ]);
    }
    table.row([
        String::new(),
        String::new(),
        count(all.policy_packets),
        bytes(all.policy_bytes),
        format!("policy {}", all.policy),
    ]);
    let rows = table.render(looks.paint, looks.width);
    format!(
        "{rows}{} of {}\n",
        plural(all.count, "rule", "rules"),
        all.file
    )
}
