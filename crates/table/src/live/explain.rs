//! Why an address is in a list.

use super::entry::Kind;
use super::list::List;
use super::{Entry, LiveLists};
use crate::address::Address;
use crate::flatten::Span;
use crate::range::Range;
use frame::Nanos;

/// The part of a set that an entry is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// From the list's file.
    File,
    /// Added by hand or by a feed.
    Dynamic,
}

/// An entry that holds an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The index of the list that has it.
    pub list: usize,
    /// As it was given; not merged with others.
    pub entry: Entry,
    /// Where it is from. An entry that both parts have is told twice.
    pub part: Part,
    /// When it goes by itself.
    pub expires: Option<Nanos>,
    /// What was said of it.
    pub comment: Option<Box<str>>,
    /// The word of whoever added it, [`Note::tag`](super::Note).
    pub tag: u64,
}

/// All entries of `lists` that hold `address`: by list, the narrowest networks first, then ranges.
///
/// Networks are looked up, one search a prefix length. Ranges that are no networks are walked:
/// those of the file backwards from the address as far as any may reach, those of the dynamic
/// part, and those that the source has added since the load, all.
pub(super) fn explain<A: Address>(
    lists: &[List<A>],
    address: A,
    entry: impl Fn(Span<A>) -> Entry,
) -> Vec<Reason> {
    let mut reasons = Vec::new();
    for (index, list) in lists.iter().enumerate() {
        let mut tell = |span: Span<A>, part: Part| {
            let note = list.note(span).filter(|_| part == Part::Dynamic).cloned();
            let note = note.unwrap_or_default();
            reasons.push(Reason {
                list: index,
                entry: entry(span),
                part,
                expires: note.expires,
                comment: note.comment,
                tag: note.tag,
            });
        };
        let parts = list.parts();
        for prefix_len in (0..=A::BITS as u8).rev() {
            let span = (address.first_in(prefix_len), address.last_in(prefix_len));
            if parts.in_file(span) {
                tell(span, Part::File);
            }
            if parts.dynamic.contains(span) {
                tell(span, Part::Dynamic);
            }
        }
        for span in parts.file.ranges_with(address) {
            if parts.in_file(span) {
                tell(span, Part::File);
            }
        }
        for span in parts.added.ranges() {
            if span.0 <= address && address <= span.1 && parts.in_file(span) {
                tell(span, Part::File);
            }
        }
        for span in parts.dynamic.ranges() {
            debug_assert_eq!(super::entry::kind(span), Kind::Range);
            if span.0 <= address && address <= span.1 {
                tell(span, Part::Dynamic);
            }
        }
    }
    reasons
}

impl LiveLists {
    /// The entries that hold an IPv4 address, host order, and where they are from. An entry whose
    /// time is over is told until [`LiveLists::expire`] has come to it, as workers match it.
    #[must_use]
    pub fn explain_v4(&self, address: u32) -> Vec<Reason> {
        explain(self.v4.lists(), address, |(first, last)| {
            Entry::V4(Range::between(first, last))
        })
    }

    /// As [`LiveLists::explain_v4`].
    #[must_use]
    pub fn explain_v6(&self, address: u128) -> Vec<Reason> {
        explain(self.v6.lists(), address, |(first, last)| {
            Entry::V6(Range::between(first, last))
        })
    }
}
