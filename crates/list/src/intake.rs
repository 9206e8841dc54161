//! Where all formats deliver: entries, bad lines, and the warnings that entries earn.

use crate::entry::{Entry, Span};
use crate::error::ListError;
use crate::excerpt;
use crate::fault::Fault;
use crate::options::ReadOptions;
use crate::report::{BadLine, Finding};
use crate::watch::{Concern, Watch};
use std::sync::Arc;
use table::Entries;

/// What becomes of entries.
pub(crate) trait Sink {
    /// Takes one IPv4 address.
    fn take_v4(&mut self, line: u64, address: u32, text: &[u8]);
    /// Takes an entry; `text` is what it was read from, with what follows it.
    fn take(&mut self, line: u64, entry: Entry, text: &[u8]);
}

impl Sink for Entries {
    #[inline]
    fn take_v4(&mut self, _: u64, address: u32, _: &[u8]) {
        self.v4.addresses.push(address);
    }

    fn take(&mut self, _: u64, entry: Entry, _: &[u8]) {
        entry.push_to(self);
    }
}

/// Takes what a format reads.
pub(crate) struct Intake<'a, S> {
    pub(crate) file: Arc<str>,
    pub(crate) options: &'a ReadOptions,
    pub(crate) sink: S,
    /// The line that is being read, the first being 1; at the end, how many there were.
    pub(crate) line: u64,
    pub(crate) entry_count: u64,
    pub(crate) bad_count: u64,
    pub(crate) bad: Vec<BadLine>,
    pub(crate) warnings: Vec<Finding>,
    pub(crate) warning_count: u64,
    watch: Watch,
    concern_counts: [u64; Concern::KINDS],
    note_counts: [u64; 2],
}

/// Kinds of warnings about the text, each with its own bound.
#[derive(Clone, Copy)]
pub(crate) enum Note {
    /// A second set, which is loaded with the first.
    SecondSet,
    /// No entries at all.
    Empty,
}

impl<'a, S: Sink> Intake<'a, S> {
    pub(crate) fn new(file: &Arc<str>, options: &'a ReadOptions, sink: S) -> Self {
        Self {
            file: Arc::clone(file),
            options,
            sink,
            line: 0,
            entry_count: 0,
            bad_count: 0,
            bad: Vec::new(),
            warnings: Vec::new(),
            warning_count: 0,
            watch: Watch::new(&options.own),
            concern_counts: [0; Concern::KINDS],
            note_counts: [0; 2],
        }
    }

    /// Takes one IPv4 address of this line.
    #[inline]
    pub(crate) fn take_v4(&mut self, address: u32, text: &[u8]) {
        if self.watch.may_concern_v4(address) {
            self.warn_of(Entry::V4(Span::Address(address)));
        }
        self.entry_count += 1;
        self.sink.take_v4(self.line, address, text);
    }

    /// Takes an entry of this line, read from the start of `text`.
    pub(crate) fn take(&mut self, entry: Entry, text: &[u8]) {
        // Whoever writes a mapped address means the IPv4 address.
        let entry = entry.unmapped();
        if entry.is_everything() && !self.options.force {
            return self.bad_entry(entry, Fault::Everything);
        }
        self.warn_of(entry);
        self.entry_count += 1;
        self.sink.take(self.line, entry, text);
    }

    /// Takes what is in `field`: an entry, or a bad line.
    pub(crate) fn take_field(&mut self, field: &[u8], text: &[u8]) {
        match Entry::parse(field) {
            Ok(entry) => self.take(entry, text),
            Err(fault) => self.bad(fault, field),
        }
    }

    /// Counts a bad line and keeps it while there is room; `text` is what it is about.
    #[cold]
    pub(crate) fn bad(&mut self, fault: Fault, text: &[u8]) {
        self.bad_count += 1;
        if self.bad.len() < self.options.limits.bad_kept_max {
            let text = excerpt::of(text);
            self.bad.push(BadLine {
                file: Arc::clone(&self.file),
                line: self.line,
                fault,
                text,
            });
        }
    }

    fn bad_entry(&mut self, entry: Entry, fault: Fault) {
        self.bad(fault, entry.to_string().as_bytes());
    }

    /// An error when there are more entries than the bound.
    pub(crate) fn check_bound(&self) -> Result<(), ListError> {
        let entries_max = self.options.limits.entries_max;
        if self.entry_count <= entries_max {
            return Ok(());
        }
        Err(ListError::TooManyEntries {
            file: Arc::clone(&self.file),
            entries_max,
        })
    }

    /// A line longer than the bound.
    pub(crate) fn too_long(&mut self) {
        self.bad(Fault::LineTooLong(self.options.limits.line_bound()), b"");
    }

    /// Warns of this line.
    #[cold]
    pub(crate) fn warn(&mut self, note: Note, text: impl FnOnce() -> String) {
        self.warning_count += 1;
        let count = &mut self.note_counts[note as usize];
        *count += 1;
        if *count <= self.options.limits.warnings_kept_max as u64 {
            let file = Arc::clone(&self.file);
            self.warnings.push(Finding {
                file,
                line: self.line,
                text: text(),
            });
        }
    }

    #[inline(never)]
    fn warn_of(&mut self, entry: Entry) {
        let (counts, warnings) = (&mut self.concern_counts, &mut self.warnings);
        let kept_max = self.options.limits.warnings_kept_max as u64;
        self.watch.concerns(entry, &mut |concern| {
            let count = &mut counts[concern.kind()];
            *count += 1;
            self.warning_count += 1;
            if *count <= kept_max {
                let (file, line) = (Arc::clone(&self.file), self.line);
                warnings.push(Finding {
                    file,
                    line,
                    text: concern.sentence(entry),
                });
            }
        });
    }
}
