//! A set written out in lines that a load reads back.

use std::io::{self, Write};
use table::live::{Counts, Entry, Listing, Note};

use super::clock::Now;

/// A set as it was at one moment; writing it out holds nobody up.
#[derive(Clone, Debug)]
pub struct Saved {
    pub(super) name: String,
    pub(super) listing: Listing,
    pub(super) now: Now,
}

impl Saved {
    /// How many entries there are.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.listing.counts()
    }

    /// The entries themselves.
    #[must_use]
    pub fn listing(&self) -> &Listing {
        &self.listing
    }

    /// Writes all entries, one a line, each once: the file part, then what only the dynamic part
    /// has, in ascending order with comments and the time they have left as comments of the line.
    /// A load of these lines makes the same set; times and comments are not read back.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        let count = self.listing.counts().entries;
        writeln!(out, "# set {}: {count} entries", self.name)?;
        self.listing
            .file()
            .try_for_each(|entry| writeln!(out, "{entry}"))?;
        let mut single: Vec<(Entry, Note)> = self
            .listing
            .dynamic()
            .filter(|&(entry, _)| !self.listing.in_file(entry))
            .collect();
        single.sort_unstable_by_key(|&(entry, _)| entry);
        for (entry, note) in single {
            write!(out, "{entry}")?;
            if let Some(expires) = note.expires {
                let left_s = expires.since(self.now.mono).div_ceil(1_000_000_000);
                write!(out, " # {left_s} s left")?;
            }
            if let Some(comment) = &note.comment {
                write!(out, " # {}", on_one_line(comment))?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

/// A comment without what would end its line or confuse a terminal.
fn on_one_line(comment: &str) -> String {
    let printable = |character: char| {
        if character.is_control() {
            ' '
        } else {
            character
        }
    };
    comment.chars().map(printable).collect()
}
