//! One list in one family: its two parts and what they cover together.

use super::change::{Action, Note};
use super::cover::Cover;
use super::entry_set::EntrySet;
use super::file_part::FilePart;
use super::log::Meanwhile;
use super::shards::Shards;
use super::snapshot::Parts;
use crate::address::Address;
use crate::flatten::Span;
use std::sync::Arc;

/// What a list knows of one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// The source of the file part has it.
    pub(super) in_source: bool,
    /// The same, and it was not removed.
    pub(super) in_file: bool,
    /// The dynamic part has it, with this note.
    pub(super) dynamic: Option<Note>,
}

impl State {
    /// What a change makes of it. `dynamic` is what the dynamic part has, unless it is over.
    pub(super) fn after(&self, action: &Action, dynamic: Option<Note>) -> Self {
        let (in_source, in_file) = match action {
            Action::Add(_) | Action::Withdraw => (self.in_source, self.in_file),
            Action::Remove => (self.in_source, false),
            Action::SourceAdd => (true, true),
            Action::SourceRemove => (false, false),
        };
        let dynamic = match action {
            Action::Add(note) => Some(note.clone()),
            Action::Remove | Action::Withdraw => None,
            Action::SourceAdd | Action::SourceRemove => dynamic,
        };
        Self {
            in_source,
            in_file,
            dynamic,
        }
    }

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
        let parts = Parts::new(file, dynamic);
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
            in_source: self.parts.in_source(span),
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

    /// Puts an entry into a state. `in_file` may be true only where `in_source` is.
    pub(super) fn set(&mut self, span: Span<A>, state: State) {
        let (was_held, was_twice) = (self.parts.holds(span), self.parts.holds_twice(span));
        self.parts.set_source(span, state.in_source, state.in_file);
        self.parts.dynamic.set(span, state.dynamic.is_some());
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

    /// Takes a new file part; what had hung on the old one comes back. `touched` are entries whose
    /// state may have changed since the new part began to load, with what is to stay of that.
    pub(super) fn replace(
        &mut self,
        new: NewFile<A>,
        touched: &[(Span<A>, Meanwhile)],
    ) -> NewFile<A> {
        let old = NewFile {
            parts: self.parts.clone(),
            cover: std::mem::replace(&mut self.cover, new.cover),
            twice: std::mem::replace(&mut self.twice, new.twice),
        };
        let dynamic = std::mem::take(&mut self.parts.dynamic);
        self.parts = Parts::new(Arc::clone(&new.parts.file), dynamic);
        for &(span, meanwhile) in touched {
            let in_source = self.parts.in_source(span);
            let in_source = meanwhile.in_source.unwrap_or(in_source);
            let in_file = in_source && !meanwhile.is_removed;
            self.parts.set_source(span, in_source, in_file);
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
        self.parts.source_len() - self.parts.removed.len() + self.parts.dynamic.len() - self.twice
    }

    pub(super) fn timed(&self) -> usize {
        self.timed
    }
}
