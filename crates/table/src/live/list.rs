//! One list in one family: its two parts and what they cover together.

use super::Note;
use super::cover::Cover;
use super::entry_set::EntrySet;
use super::file_part::FilePart;
use super::shards::Shards;
use super::snapshot::Parts;
use crate::address::Address;
use crate::flatten::Span;
use std::sync::Arc;

/// What a list knows of one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// The file part has it, and it was not removed.
    pub(super) in_file: bool,
    /// The dynamic part has it, with this note.
    pub(super) dynamic: Option<Note>,
}

impl State {
    pub(super) const NOWHERE: Self = Self {
        in_file: false,
        dynamic: None,
    };

    pub(super) fn is_held(&self) -> bool {
        self.in_file || self.dynamic.is_some()
    }
}

/// One list in one family.
#[derive(Debug)]
pub(super) struct List<A> {
    parts: Parts<A>,
    /// Of entries of the dynamic part that have a timeout or a comment.
    notes: Shards<Span<A>, Note>,
    /// What the networks and ranges of both parts cover. An entry in both parts counts once.
    cover: Cover<A>,
    /// Entries that both parts have.
    twice: usize,
    timed: usize,
}

/// A list's new file part with what hangs on it, made away from the control side.
#[derive(Debug)]
pub(super) struct NewFile<A> {
    pub(super) parts: Parts<A>,
    cover: Cover<A>,
    twice: usize,
}

impl<A: Address> NewFile<A> {
    /// For a list with this dynamic part.
    pub(super) fn new(file: Arc<FilePart<A>>, dynamic: EntrySet<A>) -> Self {
        let parts = Parts {
            file,
            removed: EntrySet::default(),
            dynamic,
        };
        Self {
            cover: Cover::new(parts.spans().into_iter()),
            twice: parts.twice(),
            parts,
        }
    }
}

impl<A: Address> List<A> {
    pub(super) fn new(new: NewFile<A>) -> Self {
        Self {
            parts: new.parts,
            notes: Shards::default(),
            cover: new.cover,
            twice: new.twice,
            timed: 0,
        }
    }

    pub(super) fn parts(&self) -> &Parts<A> {
        &self.parts
    }

    pub(super) fn state(&self, span: Span<A>) -> State {
        let note = || self.notes.get(&span).cloned().unwrap_or_default();
        State {
            in_file: self.parts.in_file(span),
            dynamic: self.parts.dynamic.contains(span).then(note),
        }
    }

    pub(super) fn holds(&self, span: Span<A>) -> bool {
        self.parts.holds(span)
    }

    pub(super) fn note(&self, span: Span<A>) -> Option<&Note> {
        self.notes.get(&span)
    }

    pub(super) fn notes(&self) -> &Shards<Span<A>, Note> {
        &self.notes
    }

    /// Puts an entry into a state. `in_file` may be true only if the file part has it.
    pub(super) fn set(&mut self, span: Span<A>, state: State) {
        let (was_held, was_twice) = (self.parts.holds(span), self.parts.holds_twice(span));
        if self.parts.file.contains(span) {
            if state.in_file {
                self.parts.removed.remove(span);
            } else {
                self.parts.removed.insert(span);
            }
        }
        if state.dynamic.is_some() {
            self.parts.dynamic.insert(span);
        } else {
            self.parts.dynamic.remove(span);
        }
        self.set_note(span, state.dynamic.unwrap_or_default());
        self.settle(span, was_held, was_twice);
    }

    fn set_note(&mut self, span: Span<A>, note: Note) {
        self.timed += usize::from(note.expires.is_some());
        let before = if note == Note::default() {
            self.notes.remove(&span)
        } else {
            self.notes.insert(span, note)
        };
        self.timed -= usize::from(before.is_some_and(|note| note.expires.is_some()));
    }

    /// Brings what hangs on an entry in line with the parts.
    fn settle(&mut self, span: Span<A>, was_held: bool, was_twice: bool) {
        self.twice += usize::from(self.parts.holds_twice(span));
        self.twice -= usize::from(was_twice);
        if span.0 != span.1 {
            match (was_held, self.parts.holds(span)) {
                (false, true) => self.cover.add(span),
                (true, false) => self.cover.remove(span),
                _ => {}
            }
        }
    }

    /// Takes a new file part; what had hung on the old one comes back. `removed` are entries
    /// that were taken out since the new part began to load, `touched` those whose state may
    /// have changed since: it includes `removed`.
    pub(super) fn replace(
        &mut self,
        new: NewFile<A>,
        removed: impl Iterator<Item = Span<A>>,
        touched: impl Iterator<Item = Span<A>>,
    ) -> NewFile<A> {
        let old = NewFile {
            parts: self.parts.clone(),
            cover: std::mem::replace(&mut self.cover, new.cover),
            twice: std::mem::replace(&mut self.twice, new.twice),
        };
        self.parts.file = Arc::clone(&new.parts.file);
        self.parts.removed = EntrySet::default();
        for span in removed.filter(|&span| new.parts.file.contains(span)) {
            self.parts.removed.insert(span);
        }
        for span in touched {
            self.settle(span, new.parts.holds(span), new.parts.holds_twice(span));
        }
        old
    }

    /// Undoes [`List::replace`].
    pub(super) fn put_back(&mut self, old: NewFile<A>) {
        self.parts = old.parts;
        self.cover = old.cover;
        self.twice = old.twice;
    }

    /// What this list covers within a span.
    pub(super) fn covered(&self, span: Span<A>) -> Vec<Span<A>> {
        self.cover.within(span)
    }

    pub(super) fn entries(&self) -> usize {
        self.parts.file.len() - self.parts.removed.len() + self.parts.dynamic.len() - self.twice
    }

    pub(super) fn timed(&self) -> usize {
        self.timed
    }
}
