//! All lists in one family, on the control side.

use super::change::{Action, Outcome};
use super::list::{List, NewFile, State};
use super::log::{Kind, Log, Missed};
use super::runs::RunMap;
use super::snapshot::Parts;
use crate::address::Address;
use crate::compiled::CompileError;
use crate::family::{AddressSet, Family};
use crate::flatten::{MergedSpans, Span};
use crate::mask::ListMask;
use frame::Nanos;
use std::collections::{BTreeMap, BTreeSet};

/// All lists in one family.
#[derive(Debug)]
pub(super) struct LiveFamily<A> {
    lists: Vec<List<A>>,
    /// Networks and ranges of all lists.
    runs: RunMap<A>,
    /// When entries of which list expire; those with a timeout only.
    expiries: BTreeSet<(Nanos, u8, Span<A>)>,
    log: Log<A>,
}

/// An entry that a batch has touched, with what undoes it.
#[derive(Debug)]
pub(super) struct Touched<A> {
    list: usize,
    span: Span<A>,
    before: State,
    kind: Kind,
}

/// What a load brings to a family.
#[derive(Debug)]
pub(super) struct Brought<A> {
    /// The list whose file part is new, and the runs of all lists with it; none where a load
    /// only builds the tables anew.
    pub(super) file: Option<(usize, NewFile<A>, RunMap<A>)>,
}

impl<A: Address> LiveFamily<A> {
    pub(super) fn new(files: Vec<NewFile<A>>, runs: RunMap<A>) -> Self {
        Self {
            lists: files.into_iter().map(List::new).collect(),
            runs,
            expiries: BTreeSet::new(),
            log: Log::default(),
        }
    }

    pub(super) fn lists(&self) -> &[List<A>] {
        &self.lists
    }

    pub(super) fn parts(&self) -> Vec<Parts<A>> {
        self.lists.iter().map(|list| list.parts().clone()).collect()
    }

    /// Makes one change; the tables do not know of it yet.
    pub(super) fn change(
        &mut self,
        list: usize,
        span: Span<A>,
        action: &Action,
        now: Nanos,
    ) -> (Outcome, Touched<A>) {
        let before = self.lists[list].state(span);
        // An entry whose time is over is gone, whether `expire` has come to it or not.
        let dynamic = before.dynamic.clone().filter(|note| !note.is_over(now));
        let was_held = before.in_file || dynamic.is_some();
        let outcome = match action {
            Action::Add(_) | Action::SourceAdd if was_held => Outcome::AlreadyThere,
            Action::Add(_) | Action::SourceAdd => Outcome::Added,
            Action::Remove if was_held => Outcome::Removed,
            Action::Remove => Outcome::WasNotThere,
            Action::Withdraw => out_of(dynamic.is_some(), before.in_file),
            Action::SourceRemove => out_of(before.in_file, dynamic.is_some()),
        };
        let state = before.after(action, dynamic);
        self.set(list, span, state);
        let kind = match action {
            Action::Add(_) | Action::Withdraw => Kind::Dynamic,
            Action::Remove => Kind::Removal,
            Action::SourceAdd => Kind::SourceAdd,
            Action::SourceRemove => Kind::SourceRemove,
        };
        let touched = Touched {
            list,
            span,
            before,
            kind,
        };
        (outcome, touched)
    }

    /// Takes the first entry out whose time is over, from the dynamic part.
    pub(super) fn expire_one(&mut self, now: Nanos) -> Option<Touched<A>> {
        let &(expires, list, span) = self.expiries.first()?;
        if expires > now {
            return None;
        }
        let list = usize::from(list);
        let before = self.lists[list].state(span);
        let state = State {
            dynamic: None,
            ..before.clone()
        };
        self.set(list, span, state);
        Some(Touched {
            list,
            span,
            before,
            kind: Kind::Dynamic,
        })
    }

    pub(super) fn next_expiry(&self) -> Option<Nanos> {
        self.expiries.first().map(|&(expires, _, _)| expires)
    }

    fn set(&mut self, list: usize, span: Span<A>, state: State) {
        let expiry = |expires: Nanos| (expires, list as u8, span);
        let before = self.lists[list].note(span).and_then(|note| note.expires);
        let after = state.dynamic.as_ref().and_then(|note| note.expires);
        if let Some(before) = before {
            self.expiries.remove(&expiry(before));
        }
        if let Some(after) = after {
            self.expiries.insert(expiry(after));
        }
        self.lists[list].set(span, state);
    }

    /// Undoes what a batch has done.
    pub(super) fn undo(&mut self, batch: Vec<Touched<A>>) {
        let entries: Vec<(usize, Span<A>)> = batch
            .iter()
            .map(|touched| (touched.list, touched.span))
            .collect();
        for touched in batch.into_iter().rev() {
            self.set(touched.list, touched.span, touched.before);
        }
        self.mark(&entries);
    }

    /// The entries of a batch that are held now and were not before, or the other way round.
    pub(super) fn changed(&self, batch: &[Touched<A>]) -> Vec<(usize, Span<A>)> {
        let changed = |touched: &&Touched<A>| {
            touched.before.is_held() != self.lists[touched.list].holds(touched.span)
        };
        let mut changed: Vec<_> = batch
            .iter()
            .filter(changed)
            .map(|touched| (touched.list, touched.span))
            .collect();
        changed.sort_unstable();
        changed.dedup();
        changed
    }

    /// Keeps what a load that goes on has to be told.
    pub(super) fn note(&mut self, batch: &[Touched<A>], moment: u64) {
        for touched in batch {
            self.log
                .note(touched.list, touched.span, touched.kind, moment);
        }
    }

    pub(super) fn forget(&mut self) {
        self.log.clear();
    }

    /// Brings a table in line with the state of `entries`. After an error the table is of no
    /// use.
    pub(super) fn update<S: AddressSet<A>>(
        &mut self,
        table: &mut Family<A, S>,
        entries: &[(usize, Span<A>)],
    ) -> Result<(), CompileError> {
        self.mark(entries);
        for &(list, span) in entries {
            if span.0 == span.1 {
                let (mask, bit) = (table.exact_mask(span.0), ListMask::only(list));
                let others = ListMask(mask.0 & !bit.0);
                let held = self.lists[list].holds(span);
                let wanted = if held { others | bit } else { others };
                if wanted != mask {
                    table.assign(span.0, wanted, self.runs.map())?;
                }
            }
        }
        let spans = entries.iter().map(|&(_, span)| span);
        let wide = spans.filter(|(first, last)| first != last).collect();
        for (first, last) in MergedSpans::of(wide).spans {
            table.rewrite(first, last, self.runs.map())?;
        }
        Ok(())
    }

    /// True when updating one by one takes longer than building anew.
    pub(super) fn is_bulk(&self, entries: &[(usize, Span<A>)]) -> bool {
        /// Fewer than these are never many.
        const FEW: usize = 4096;
        let spans = entries.iter().filter(|(_, span)| span.0 != span.1).count();
        let addresses = entries.len() - spans;
        let held: usize = self.lists.iter().map(List::entries).sum();
        addresses > FEW.max(held / 4) || spans > FEW.max(self.runs.map().len() / 4)
    }

    /// Takes over runs that tables were just built from.
    pub(super) fn set_runs(&mut self, runs: RunMap<A>) {
        self.runs = runs;
    }

    /// Makes the runs say what the lists cover within the networks and ranges of `entries`.
    fn mark(&mut self, entries: &[(usize, Span<A>)]) {
        for (list, span) in apart(entries) {
            let covered = self.lists[list].covered(span);
            self.runs.mark(list, span, &covered);
        }
    }

    /// Takes over what a load has brought, brings its table up to date and returns what was
    /// there before. After an error everything is as it was.
    pub(super) fn adopt<S: AddressSet<A>>(
        &mut self,
        brought: Brought<A>,
        missed: Missed,
        table: &mut Family<A, S>,
    ) -> Result<Brought<A>, CompileError> {
        let touched = self.log.touched(missed);
        let before = Brought {
            file: brought.file.map(|(list, new, runs)| {
                let old = self.lists[list].replace(new, &self.log.meanwhile(missed));
                (list, old, std::mem::replace(&mut self.runs, runs))
            }),
        };
        match self.update(table, &touched) {
            Ok(()) => Ok(before),
            Err(error) => {
                self.put_back(before);
                Err(error)
            }
        }
    }

    /// Undoes [`LiveFamily::adopt`].
    pub(super) fn put_back(&mut self, before: Brought<A>) {
        if let Some((list, old, runs)) = before.file {
            self.lists[list].put_back(old);
            self.runs = runs;
        }
    }
}

/// What became of an entry that went out of one part.
fn out_of(was_there: bool, in_other: bool) -> Outcome {
    match (was_there, in_other) {
        (false, _) => Outcome::WasNotThere,
        (true, true) => Outcome::StillThere,
        (true, false) => Outcome::Removed,
    }
}

/// The networks and ranges of `entries`, merged in each list: what lies beneath many that overlap
/// is walked over once. Beneath a million networks, 64 ranges that overlap took 5.4 s otherwise.
fn apart<A: Address>(entries: &[(usize, Span<A>)]) -> Vec<(usize, Span<A>)> {
    let mut lists: BTreeMap<usize, Vec<Span<A>>> = BTreeMap::new();
    for &(list, span) in entries.iter().filter(|(_, span)| span.0 != span.1) {
        lists.entry(list).or_default().push(span);
    }
    let merged = |(list, spans)| {
        let spans = MergedSpans::of(spans).spans.into_iter();
        spans.map(move |span| (list, span))
    };
    lists.into_iter().flat_map(merged).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_in_a_list_is_one_piece_of_work() {
        let nested = (0..1000u32).map(|inset| (1, (inset, 10_000 - inset)));
        let others = [
            (0, (5, 9)),
            (0, (20, 30)),
            (1, (7, 7)),
            (1, (20_000, 20_001)),
        ];
        let entries: Vec<_> = nested.chain(others).collect();
        let wanted = [
            (0, (5, 9)),
            (0, (20, 30)),
            (1, (0, 10_000)),
            (1, (20_000, 20_001)),
        ];
        assert_eq!(apart(&entries), wanted);
    }
}
