//! What a change does not change: entries that were added and are exempt by an allow set or by
//! address space to keep, and entries that were deleted and are covered by others.

use std::net::IpAddr;

use plane::{Action, Headers, Ports, SetRule, Sides};
use table::live::Entry;

use crate::rpc::answers::{Covered, Exempt};
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

/// Which of these entries a set has all the same, since other entries cover them.
pub(super) fn covered(handle: &Handle, set: &str, entries: &[Entry]) -> Vec<Covered> {
    if entries.len() > ENTRIES_MAX {
        return Vec::new();
    }
    let covered = entries.iter().filter_map(|&entry| {
        let answers = handle.look_up(first(entry)).ok()?;
        let set = answers.iter().find(|one| *one.name.as_str() == *set)?;
        let by = set
            .reasons
            .iter()
            .rfind(|reason| covers(reason.entry, entry))?;
        Some(Covered {
            entry: entry.to_string(),
            by: by.entry.to_string(),
        })
    });
    covered.collect()
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
    reasons.any(|reason| covers(reason.entry, entry))
}

fn covers(held: Entry, entry: Entry) -> bool {
    match (held, entry) {
        (Entry::V4(held), Entry::V4(entry)) => {
            held.contains(entry.first()) && held.contains(entry.last())
        }
        (Entry::V6(held), Entry::V6(entry)) => {
            held.contains(entry.first()) && held.contains(entry.last())
        }
        _ => false,
    }
}

fn first(entry: Entry) -> IpAddr {
    match entry {
        Entry::V4(range) => IpAddr::V4(range.first().into()),
        Entry::V6(range) => IpAddr::V6(range.first().into()),
    }
}
