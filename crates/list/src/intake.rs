//! Where all formats deliver: entries, bad lines, and the warnings that entries earn.

use crate::entry::{Entry, Span};
use crate::error::ListError;
use crate::excerpt;
use crate::fault::Fault;
use crate::held::Held;
use crate::json_claims::Incomplete;
use crate::options::ReadOptions;
use crate::report::{BadLine, Finding};
use crate::watch::{Concern, Watch};
use std::sync::Arc;
use table::{Address, Entries, FamilyEntries};

/// What becomes of entries.
pub(crate) trait Sink: Clone {
    /// Takes one IPv4 address.
    fn take_v4(&mut self, line: u64, address: u32, text: &[u8]);
    /// Takes an entry; `text` is what it was read from, with what follows it.
    fn take(&mut self, line: u64, entry: Entry, text: &[u8]);
    /// An empty one of its kind.
    fn fresh(&self) -> Self;
    /// Takes all that `other` holds.
    fn append(&mut self, other: Self);
    /// Drops the entries that `keep` is false for; how many they were.
    fn retain(&mut self, keep: &mut dyn FnMut(Entry) -> bool) -> u64;
}

impl Sink for Entries {
    #[inline]
    fn take_v4(&mut self, _: u64, address: u32, _: &[u8]) {
        self.v4.addresses.push(address);
    }

    fn take(&mut self, _: u64, entry: Entry, _: &[u8]) {
        entry.push_to(self);
    }

    fn fresh(&self) -> Self {
        Self::default()
    }

    fn append(&mut self, other: Self) {
        append_family(&mut self.v4, other.v4);
        append_family(&mut self.v6, other.v6);
    }

    fn retain(&mut self, keep: &mut dyn FnMut(Entry) -> bool) -> u64 {
        retain_family(&mut self.v4, &mut |span| keep(Entry::V4(span)))
            + retain_family(&mut self.v6, &mut |span| keep(Entry::V6(span)))
    }
}

fn append_family<A>(to: &mut FamilyEntries<A>, from: FamilyEntries<A>) {
    append_column(&mut to.addresses, from.addresses);
    append_column(&mut to.networks, from.networks);
    append_column(&mut to.ranges, from.ranges);
}

/// Appends without a copy where there is nothing to append to.
fn append_column<T>(to: &mut Vec<T>, mut from: Vec<T>) {
    if to.is_empty() {
        *to = from;
    } else {
        to.append(&mut from);
    }
}

fn retain_family<A: Address>(
    entries: &mut FamilyEntries<A>,
    keep: &mut dyn FnMut(Span<A>) -> bool,
) -> u64 {
    let count = |of: &FamilyEntries<A>| of.addresses.len() + of.networks.len() + of.ranges.len();
    let before = count(entries);
    entries.addresses.retain(|&a| keep(Span::Address(a)));
    entries.networks.retain(|&n| keep(Span::Network(n)));
    entries.ranges.retain(|&r| keep(Span::Range(r)));
    (before - count(entries)) as u64
}

/// Takes what a format reads.
pub(crate) struct Intake<'a, S> {
    pub(crate) file: Arc<str>,
    pub(crate) options: &'a ReadOptions,
    /// What entries go to now.
    pub(crate) held: Held<S>,
    /// Entries that are held elsewhere: of other sets of a script.
    pub(crate) elsewhere: u64,
    /// The line that is being read, the first being 1; at the end, how many there were.
    pub(crate) line: u64,
    pub(crate) bad_count: u64,
    pub(crate) bad: Vec<BadLine>,
    /// What the text says of having more than was read of it.
    pub(crate) incomplete: Option<Incomplete>,
    /// The first such thing that was only warned of.
    pub(crate) doubt: Option<Incomplete>,
    watch: Watch,
    concern_counts: [u64; Concern::KINDS],
    note_counts: [u64; Note::KINDS],
}

/// The warning of [`Note::Timeout`].
const TIMEOUT: &str = "entries with a timeout are loaded for good: the list does not forget them";

/// Kinds of warnings about the text, each with its own bound.
#[derive(Clone, Copy)]
pub(crate) enum Note {
    /// A second set, which is loaded with the first.
    SecondSet,
    /// No entries at all.
    Empty,
    /// An entry that the tool would forget after a time.
    Timeout,
    /// An element of a JSON document in which no path asked for ends.
    NothingAtPath,
    /// Less than the text announces.
    Incomplete,
    /// IPv6 that is read as IPv4.
    Mapped,
    /// Addresses in rules, which no set has.
    Rules,
}

impl Note {
    const KINDS: usize = 7;
}

impl<'a, S: Sink> Intake<'a, S> {
    pub(crate) fn new(file: &Arc<str>, options: &'a ReadOptions, sink: S) -> Self {
        Self {
            file: Arc::clone(file),
            options,
            held: Held::new(sink),
            elsewhere: 0,
            line: 0,
            bad_count: 0,
            bad: Vec::new(),
            incomplete: None,
            doubt: None,
            watch: Watch::new(&options.own),
            concern_counts: [0; Concern::KINDS],
            note_counts: [0; Note::KINDS],
        }
    }

    /// Takes one IPv4 address of this line.
    #[inline]
    pub(crate) fn take_v4(&mut self, address: u32, text: &[u8]) {
        if self.watch.may_concern_v4(address) {
            self.warn_of(Entry::V4(Span::Address(address)));
        }
        self.held.entry_count += 1;
        self.held.sink.take_v4(self.line, address, text);
    }

    /// Takes an entry of this line, read from the start of `text`.
    pub(crate) fn take(&mut self, entry: Entry, text: &[u8]) {
        // Whoever writes a mapped address means the IPv4 address. Both are not held: the sets of a
        // daemon know an entry by what it covers, so that one line would be two entries wherever
        // they are counted, compared or taken out.
        let given = entry;
        let entry = given.unmapped();
        if entry != given {
            self.warn_of_mapped();
        }
        let is_meant = self.options.force || self.options.everything;
        if entry.is_everything() && !is_meant {
            return self.bad_entry(entry, Fault::Everything);
        }
        self.warn_of(entry);
        self.held.entry_count += 1;
        self.held.sink.take(self.line, entry, text);
    }

    /// Takes what is in `field`: an entry, or a bad line.
    pub(crate) fn take_field(&mut self, field: &[u8], text: &[u8]) {
        match Entry::parse(field) {
            Ok(entry) => self.take(entry, text),
            Err(fault) => self.bad(fault, field),
        }
    }

    /// What the text says of itself does not fit what was read.
    #[cold]
    pub(crate) fn doubt(&mut self, incomplete: Incomplete) {
        if incomplete.is_doubtful() || self.options.force || self.options.everything {
            self.warn(Note::Incomplete, || format!("the list {incomplete}"));
            self.doubt.get_or_insert(incomplete);
        } else {
            self.incomplete.get_or_insert(incomplete);
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
                wording: self.options.wording,
            });
        }
    }

    fn bad_entry(&mut self, entry: Entry, fault: Fault) {
        self.bad(fault, entry.to_string().as_bytes());
    }

    /// Entries so far.
    pub(crate) fn entry_count(&self) -> u64 {
        self.held.entry_count.saturating_add(self.elsewhere)
    }

    /// Holds what `held` has from now on, which gets what was held before.
    pub(crate) fn exchange(&mut self, held: &mut Held<S>) {
        self.elsewhere = self.elsewhere + self.held.entry_count - held.entry_count;
        std::mem::swap(&mut self.held, held);
    }

    /// Forgets the entries that `held` has, which is not held now.
    pub(crate) fn drop_held(&mut self, held: &mut Held<S>) {
        if held.warnings.iter().any(|warning| warning.text == TIMEOUT) {
            // What comes later may need it again.
            self.note_counts[Note::Timeout as usize] = 0;
        }
        self.elsewhere -= held.entry_count;
        *held = Held::new(self.held.sink.fresh());
    }

    /// Takes what `held` has, which was not held until now.
    pub(crate) fn append(&mut self, held: Held<S>) {
        self.elsewhere -= held.entry_count;
        self.held.entry_count += held.entry_count;
        self.held.sink.append(held.sink);
        self.held.warnings.extend(held.warnings);
        self.held.warning_count += held.warning_count;
    }

    /// Takes a copy of what `held` has, unless it is more than the bound: then the next look at the
    /// bound finds it passed.
    pub(crate) fn append_copy(&mut self, held: &Held<S>) {
        self.elsewhere = self.elsewhere.saturating_add(held.entry_count);
        if self.check_bound().is_ok() {
            self.append(held.clone());
        }
    }

    /// Warns once a text that entries end in the tool, and do not end here.
    pub(crate) fn warn_of_timeout(&mut self) {
        if self.note_counts[Note::Timeout as usize] == 0 {
            self.warn(Note::Timeout, || TIMEOUT.to_owned());
        }
    }

    /// Warns once a text of what mapped addresses are read as, and what stops the others.
    #[cold]
    fn warn_of_mapped(&mut self) {
        if self.note_counts[Note::Mapped as usize] == 0 {
            self.warn(Note::Mapped, || {
                "an IPv4-mapped address is read as the IPv4 address; the entry ::ffff:0:0/96 \
                 matches IPv6 frames that carry such addresses as they are"
                    .to_owned()
            });
        }
    }

    /// An error when there are more entries than the bound.
    pub(crate) fn check_bound(&self) -> Result<(), ListError> {
        let entries_max = self.options.limits.entries_max;
        if self.entry_count() <= entries_max {
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
        self.held.warning_count += 1;
        let count = &mut self.note_counts[note as usize];
        *count += 1;
        if *count <= self.options.limits.warnings_kept_max as u64 {
            let file = Arc::clone(&self.file);
            self.held.warnings.push(Finding {
                file,
                line: self.line,
                text: text(),
            });
        }
    }

    #[inline(never)]
    fn warn_of(&mut self, entry: Entry) {
        let (counts, held) = (&mut self.concern_counts, &mut self.held);
        let kept_max = self.options.limits.warnings_kept_max as u64;
        self.watch.concerns(entry, &mut |concern| {
            let count = &mut counts[concern.kind()];
            *count += 1;
            held.warning_count += 1;
            if *count <= kept_max {
                let (file, line) = (Arc::clone(&self.file), self.line);
                held.warnings.push(Finding {
                    file,
                    line,
                    text: concern.sentence(entry),
                });
            }
        });
    }
}
