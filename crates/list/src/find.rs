//! Which entries of a list hold one address: the list is read again, and nothing is kept of it
//! but what matches.

use crate::entry::{Entry, Span};
use crate::error::ListError;
use crate::excerpt;
use crate::intake::{Intake, Sink};
use crate::options::ReadOptions;
use crate::read::run;
use std::fmt;
use std::io::Read;
use std::net::IpAddr;
use std::sync::Arc;

/// An entry that holds the address. Displays as `FILE:LINE: text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// The list, as the caller named it.
    pub file: Arc<str>,
    /// The line, the first being 1.
    pub line: u64,
    /// The entry.
    pub entry: Entry,
    /// What it was read from, with what follows it, made printable and cut.
    pub text: String,
}

impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.text)
    }
}

/// What [`find`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The first entries that hold the address, in the order of their lines.
    pub matches: Vec<Match>,
    /// How many do.
    pub count: u64,
}

/// Finds the entries of a list that hold `address`, as a frame that carries it would find them: an
/// IPv4-mapped IPv6 address is looked for in IPv6, so what people ask for is made IPv4 before. Bad
/// lines are left out, whatever `options` says of them.
///
/// # Errors
/// Reading fails, or the list is out of bounds.
pub fn find(
    name: &str,
    mut input: impl Read,
    options: &ReadOptions,
    address: IpAddr,
) -> Result<Found, ListError> {
    let file: Arc<str> = Arc::from(name);
    let search = Search {
        file: Arc::clone(&file),
        address,
        kept_max: options.limits.matches_kept_max,
        found: Found::default(),
    };
    let mut intake = Intake::new(&file, options, search);
    run(&mut input, &mut intake, &mut |_| {})?;
    let mut found = intake.held.sink.found;
    // The sets of a script are read in turns, and come one behind the other.
    found.matches.sort_by_key(|found| found.line);
    found.matches.truncate(options.limits.matches_kept_max);
    Ok(found)
}

#[derive(Clone)]
struct Search {
    file: Arc<str>,
    address: IpAddr,
    kept_max: usize,
    found: Found,
}

impl Sink for Search {
    #[inline]
    fn take_v4(&mut self, line: u64, address: u32, text: &[u8]) {
        if IpAddr::V4(address.into()) == self.address {
            self.keep(line, Entry::V4(Span::Address(address)), text);
        }
    }

    fn take(&mut self, line: u64, entry: Entry, text: &[u8]) {
        if entry.contains(self.address) {
            self.keep(line, entry, text);
        }
    }

    fn fresh(&self) -> Self {
        Self {
            file: Arc::clone(&self.file),
            found: Found::default(),
            ..*self
        }
    }

    fn append(&mut self, other: Self) {
        self.found.count += other.found.count;
        self.found.matches.extend(other.found.matches);
    }

    fn retain(&mut self, keep: &mut dyn FnMut(Entry) -> bool) -> u64 {
        let before = self.found.matches.len();
        self.found.matches.retain(|found| keep(found.entry));
        let dropped = (before - self.found.matches.len()) as u64;
        self.found.count -= dropped;
        dropped
    }
}

impl Search {
    #[cold]
    fn keep(&mut self, line: u64, entry: Entry, text: &[u8]) {
        self.found.count += 1;
        if self.found.matches.len() < self.kept_max {
            let (file, text) = (Arc::clone(&self.file), excerpt::of(text.trim_ascii()));
            self.found.matches.push(Match {
                file,
                line,
                entry,
                text,
            });
        }
    }
}
