//! What the guards have against a load, and what lets the load through all the same.

use super::name::SetName;
use std::fmt;
use table::live::Entry;

/// One fault of a load.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// It has no entries.
    Empty,
    /// It changes more than `max_change`.
    ChangesTooMuch {
        /// What changes too much.
        by: ChangeBy,
        /// In the file part before.
        before: u64,
        /// In the load.
        after: u64,
        /// In the load and not before.
        added: u64,
        /// Before and not in the load.
        removed: u64,
        /// The share that may change.
        max_change: f64,
        /// The least `max_change` that takes the load.
        needed: f64,
    },
    /// It newly covers address space that block lists had better leave alone.
    Covers {
        /// The first of them.
        named: Vec<Covered>,
        /// How many such networks and addresses are newly covered.
        count: usize,
    },
}

/// Address space that a load covers and should not.
#[derive(Clone, Debug, PartialEq)]
pub struct Covered {
    /// The source, with the line where it is known: `FILE:LINE`.
    pub place: Box<str>,
    /// The entry that does.
    pub entry: Entry,
    /// What it covers: `private space 10.0.0.0/8 (RFC 1918)`, `192.0.2.1, its gateway`.
    pub what: Box<str>,
}

/// The greatest `max_change` that a configuration may have.
const MAX_CHANGE_MAX: f64 = 1000.0;

/// What a load changes too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeBy {
    /// Entries, each once however often it is given.
    Entries,
    /// IPv4 addresses that match.
    AddressesV4,
    /// IPv6 networks of 64 bits of which an address matches.
    Networks64V6,
}

/// How a list is taken although the guards refuse it, beside keys of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    /// There is no way yet: the daemon does not run. It will, where it keeps an older list.
    Never,
    /// The set's own source is read once more by `set load NAME --force`.
    Source,
    /// Whoever loads it does so again with `--force`.
    Again,
}

/// A load that the guards refused.
#[derive(Clone, Debug, PartialEq)]
pub struct Guarded {
    /// The set.
    pub set: SetName,
    /// The source.
    pub source: String,
    /// Entries that the file part has, and keeps.
    pub entries: u64,
    /// All that is wrong with it.
    pub faults: Vec<Fault>,
    /// How it can be forced.
    pub force: Force,
}

impl ChangeBy {
    fn unit(self) -> &'static str {
        match self {
            Self::Entries => "entries",
            Self::AddressesV4 => "IPv4 addresses",
            Self::Networks64V6 => "IPv6 /64 networks",
        }
    }
}

impl Fault {
    /// A word for metrics and programs.
    pub(super) fn reason(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::ChangesTooMuch { .. } => "changes-too-much",
            Self::Covers { .. } => "covers-private-or-own",
        }
    }

    /// The key of `[[set]]` that lets it through, where one does.
    fn key(&self) -> Option<String> {
        match self {
            Self::Empty => Some("write allow_empty = true".to_owned()),
            Self::ChangesTooMuch { needed, .. } => (*needed <= MAX_CHANGE_MAX)
                .then(|| format!("write max_change = {needed:.2} or more")),
            Self::Covers { .. } => Some("write allow_private = true".to_owned()),
        }
    }

    /// What is wrong, of the load of this source into this set.
    pub(super) fn write(
        &self,
        f: &mut impl fmt::Write,
        source: &str,
        set: &SetName,
    ) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "{source} holds no entries"),
            Self::ChangesTooMuch {
                by,
                before,
                after,
                added,
                removed,
                max_change,
                ..
            } => write!(
                f,
                "{source} has {after} {} where set '{set}' has {before} ({added} new, {removed} \
                 gone), more than max_change = {max_change} allows",
                by.unit()
            ),
            Self::Covers { named, count } => {
                for (index, covered) in named.iter().enumerate() {
                    let Covered { place, entry, what } = covered;
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{place}: {entry} covers {what}")?;
                }
                match count - named.len() {
                    0 => Ok(()),
                    more => write!(f, " and {more} more such"),
                }
            }
        }
    }
}

impl fmt::Display for Guarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { set, source, .. } = self;
        for (index, fault) in self.faults.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { "; " })?;
            fault.write(f, source, set)?;
        }
        match self.entries {
            0 => write!(f, ", so set '{set}' stays without it")?,
            entries => write!(f, ", so set '{set}' keeps its {entries}")?,
        }
        f.write_str(": mend the list")?;
        let keys: Option<Vec<String>> = self.faults.iter().map(Fault::key).collect();
        if let Some(keys) = keys {
            write!(f, ", or {} in its [[set]]", keys.join(" and "))?;
        }
        match self.force {
            Force::Never if self.entries == 0 => Ok(()),
            Force::Never => write!(
                f,
                ", or take it once, when the daemon runs, by 'linerate set load {set} --force'"
            ),
            Force::Source => write!(f, ", or take it once by 'linerate set load {set} --force'"),
            Force::Again => {
                write!(
                    f,
                    ", or load it once by 'linerate set load {set} FILE --force'"
                )
            }
        }
    }
}
