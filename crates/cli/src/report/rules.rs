//! What rules matched, in a report.

use plane::RuleTable;
use serde::Serialize;

use super::number::{bytes, count};
use super::table::{Align, Table};
use crate::paint::Paint;

/// Rules that the text shows, at most.
const SHOWN_MAX: usize = 30;

/// The rules and their counters.
#[derive(Debug, Serialize)]
pub(crate) struct RuleReport {
    /// What becomes of packets that no rule decides on: `accept` or `drop`.
    policy: String,
    /// Such packets.
    policy_packets: u64,
    policy_bytes: u64,
    /// In the order of the file.
    rules: Vec<RuleFigures>,
}

#[derive(Debug, Serialize)]
struct RuleFigures {
    line: u32,
    rule: String,
    packets: u64,
    bytes: u64,
}

impl RuleReport {
    /// What was counted so far.
    pub(crate) fn of(table: &RuleTable) -> Self {
        let counts = table.counts().read();
        let otherwise = counts.last().copied().unwrap_or_default();
        let rules = table.names().rules.iter().zip(&counts);
        let rules = rules.map(|(rule, count)| RuleFigures {
            line: rule.line,
            rule: rule.text.clone(),
            packets: count.packets,
            bytes: count.bytes,
        });
        Self {
            policy: table.policy_word().to_owned(),
            policy_packets: otherwise.packets,
            policy_bytes: otherwise.bytes,
            rules: rules.collect(),
        }
    }

    /// The section for people: the rules that matched.
    pub(super) fn render(&self, paint: Paint, width: usize) -> String {
        let mut table = Table::new(&[
            ("line", Align::Right),
            ("packets", Align::Right),
            ("bytes", Align::Right),
            ("rule", Align::Left),
        ]);
        let mut row = |line: String, packets: u64, octets: u64, rule: &str| {
            table.row([line, count(packets), bytes(octets), rule.to_owned()]);
        };
        let matched = self.rules.iter().filter(|rule| rule.packets != 0);
        for rule in matched.take(SHOWN_MAX) {
            row(rule.line.to_string(), rule.packets, rule.bytes, &rule.rule);
        }
        let policy = format!("policy {}", self.policy);
        row(
            String::new(),
            self.policy_packets,
            self.policy_bytes,
            &policy,
        );
        let matched = self.rules.iter().filter(|rule| rule.packets != 0).count();
        let of = format!("{matched} of {} matched", self.rules.len());
        let more = match matched > SHOWN_MAX {
            true => format!(", the first {SHOWN_MAX} are shown; --json has all"),
            false => String::new(),
        };
        let heading = paint.bold("Rules");
        format!("{heading} ({of}{more})\n{}", table.render(paint, width))
    }
}
