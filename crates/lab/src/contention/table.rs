//! Waits by lock and place.

use std::collections::HashMap;
use std::fs;

use super::kernel::{LockKind, Symbols};
use crate::layout::Site;

/// Rows that are kept at most.
const ROWS_MAX: usize = 8192;

/// Which waits were seen by what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Tracepoints of contention: locks of the kernel.
    Kernel,
    /// `futex(2)`: locks and condition variables of programs.
    User,
}

/// All waits for one lock at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// What saw them.
    pub source: Source,
    /// A kernel function and the kind of its lock, or a program and the address of its futex.
    pub name: String,
    /// How often somebody waited.
    pub waits: u64,
    /// For how long in all.
    pub total_ns: u64,
    /// The longest wait.
    pub longest_ns: u64,
    /// Waits that ended since their time was over.
    pub timed_out: u64,
}

/// Where somebody waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Kernel { flags: u64, calls: Vec<u64> },
    User { process: u32, address: u64 },
}

/// What is one row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// The symbol that waits, by its index, and the kind of its lock.
    Kernel(Option<usize>, LockKind),
    User(u32, u64),
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    waits: u64,
    total_ns: u64,
    longest_ns: u64,
    timed_out: u64,
}

/// Sums by row.
#[derive(Debug, Default)]
pub(super) struct Waits {
    symbols: Symbols,
    rows: HashMap<Key, Sums>,
    /// Names of user locks, taken while their process is there.
    names: HashMap<Key, String>,
    /// Waits that found no row free.
    pub(super) beyond: u64,
}

impl Waits {
    /// With names of kernel functions by `symbols`.
    pub(super) fn new(symbols: Symbols) -> Self {
        Self {
            symbols,
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, place: &Place, waited_ns: u64, timed_out: bool) {
        let key = self.key(place);
        if self.rows.len() >= ROWS_MAX && !self.rows.contains_key(&key) {
            self.beyond += 1;
            return;
        }
        let sums = self.rows.entry(key).or_default();
        sums.waits += 1;
        sums.total_ns = sums.total_ns.saturating_add(waited_ns);
        sums.longest_ns = sums.longest_ns.max(waited_ns);
        sums.timed_out += u64::from(timed_out);
    }

    /// Names a user lock, before its process ends.
    pub(super) fn name(&mut self, place: &Place) {
        let Place::User { process, address } = *place else {
            return;
        };
        let key = Key::User(process, address);
        if self.names.len() < ROWS_MAX && !self.names.contains_key(&key) {
            self.names.insert(key, user_name(process, address));
        }
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        let rows = self.rows.iter().map(|(key, sums)| {
            let (source, name) = match key {
                Key::Kernel(symbol, kind) => (Source::Kernel, self.symbols.name(*symbol, *kind)),
                Key::User(process, address) => {
                    let known = self.names.get(key).cloned();
                    let plain = || format!("{address:#x} [futex of process {process}]");
                    (Source::User, known.unwrap_or_else(plain))
                }
            };
            Row {
                source,
                name,
                waits: sums.waits,
                total_ns: sums.total_ns,
                longest_ns: sums.longest_ns,
                timed_out: sums.timed_out,
            }
        });
        rows.collect()
    }

    fn key(&self, place: &Place) -> Key {
        match place {
            Place::Kernel { flags, calls } => {
                Key::Kernel(self.symbols.caller(calls), LockKind::of(*flags))
            }
            Place::User { process, address } => Key::User(*process, *address),
        }
    }
}

/// `judge+0x4040 [futex of judge 1234]`: memory of a file by its place there, other by its address.
fn user_name(process: u32, address: u64) -> String {
    let read = |name: &str| fs::read_to_string(format!("/proc/{process}/{name}"));
    let command = read("comm").unwrap_or_else(|_| "process".to_owned());
    let mappings = read("maps").unwrap_or_default();
    let site = Site::of(address, &mappings);
    let place = site.map_or_else(|| format!("{address:#x}"), |site| site.plain());
    format!("{place} [futex of {} {process}]", command.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_bounded_and_what_is_beyond_is_counted() {
        let mut waits = Waits::default();
        let place = |address: usize| Place::User {
            process: 1,
            address: address as u64,
        };
        for address in 0..ROWS_MAX + 3 {
            waits.add(&place(address), 1, false);
        }
        waits.add(&place(0), 4, true);
        assert_eq!((waits.rows.len(), waits.beyond), (ROWS_MAX, 3));
        let rows = waits.rows();
        let first = rows
            .iter()
            .find(|row| row.name == "0x0 [futex of process 1]")
            .expect("a row");
        assert_eq!(
            (
                first.waits,
                first.total_ns,
                first.longest_ns,
                first.timed_out
            ),
            (2, 5, 4, 1)
        );
    }

    #[test]
    fn a_user_lock_has_the_name_of_its_program() {
        let own = std::process::id();
        let name = user_name(own, 16);
        assert!(
            name.starts_with("0x10 [futex of ") && name.ends_with(&format!(" {own}]")),
            "{name}"
        );
        assert_eq!(
            user_name(u32::MAX, 16),
            format!("0x10 [futex of process {}]", u32::MAX)
        );
    }
}
