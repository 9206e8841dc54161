//! What an addition does not block: entries that an allow set, or address space to keep, exempts.

use std::net::IpAddr;

use plane::{Action, Headers, Ports, SetRule, Sides};
use table::live::Entry;

use crate::rpc::answers::Exempt;
use crate::sets::{Handle, TestAnswer};

/// Requests of more entries are lists: each entry is looked up in all sets.
const ENTRIES_MAX: usize = 16;

/// Which of these entries of a set are exempt from it. A keeper that has ended says nothing.
pub(super) fn exempt(handle: &Handle, set: &str, entries: &[Entry]) -> Vec<Exempt> {
    if entries.len() > ENTRIES_MAX {
        return Vec::new();
    }
    let exempt = entries.iter().filter_map(|&entry| {
        let answers = handle.look_up(first(entry)).ok()?;
        let rule = &answers.iter().find(|one| *one.name.as_str() == *set)?.rule;
        let allow = answers
            .iter()
            .find(|one| exempts(&one.rule, rule) && holds(one, entry))?;
        Some(Exempt {
            entry: entry.to_string(),
            set: allow.name.to_string(),
        })
    });
    exempt.collect()
}

/// Whether a set lets through all that hits another, where an address is in both.
fn exempts(allow: &SetRule, rule: &SetRule) -> bool {
    allow.action == Action::Allow
        && rule.action == Action::Block
        && allow.exceptions.is_empty()
        && (allow.sides == Sides::BOTH || allow.sides == rule.sides)
        && (allow.ports == Ports::ALL || allow.ports == rule.ports)
        && (allow.headers == Headers::BOTH || allow.headers == rule.headers)
}

/// Whether an entry of the set holds all of this one.
fn holds(set: &TestAnswer, entry: Entry) -> bool {
    let mut reasons = set.reasons.iter();
    reasons.any(|reason| match (reason.entry, entry) {
        (Entry::V4(held), Entry::V4(entry)) => {
            held.contains(entry.first()) && held.contains(entry.last())
        }
        (Entry::V6(held), Entry::V6(entry)) => {
            held.contains(entry.first()) && held.contains(entry.last())
        }
        _ => false,
    })
}

fn first(entry: Entry) -> IpAddr {
    match entry {
        Entry::V4(range) => IpAddr::V4(range.first().into()),
        Entry::V6(range) => IpAddr::V6(range.first().into()),
    }
}
