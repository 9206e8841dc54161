//! A source that changes its file part in place, entry by entry.
//!
//! Only what no guard could refuse is done so: few entries that cover little, and nothing that
//! lists should not have. All else is for a whole load, which the guards judge.

use super::clock::Now;
use super::guard;
use super::keeper::Running;
use super::message::Amending;
use super::refusal::Refusal;
use super::request::{Amendment, Origin};
use super::state::{Sets, table_refusal};
use crate::journal::{Op, Operations};
use table::live::Change;

impl Running {
    /// False where a whole load is needed.
    pub(super) fn amend(&mut self, amending: Amending) -> Result<bool, Refusal> {
        let place = self.sets.place(&amending.set)?;
        if !self.sets.may_amend(place, &amending) {
            return Ok(false);
        }
        let now = self.now();
        self.sets
            .amend(place, amending.amendment, now, &mut self.operations)?;
        Ok(true)
    }
}

impl Sets {
    /// Whether the file part is of this source, and the change is one that no guard would refuse.
    fn may_amend(&self, place: usize, amending: &Amending) -> bool {
        let loaded = self.sets[place].loaded.as_ref();
        let is_its = |origin: Origin, name: &str| {
            (origin, name) == (amending.origin, amending.amendment.name.as_str())
        };
        loaded.is_some_and(|loaded| is_its(loaded.origin, &loaded.from.name))
            && guard::is_harmless(
                &self.guards(place),
                self.live.counts(place).source as u64,
                &amending.amendment,
                &amending.own,
            )
    }

    fn amend(
        &mut self,
        place: usize,
        amendment: Amendment,
        now: Now,
        journal: &mut Operations,
    ) -> Result<(), Refusal> {
        let added = amendment.added.iter();
        let added = added.map(|&entry| Change::source_add(place, entry));
        let removed = amendment.removed.iter();
        let removed = removed.map(|&entry| Change::source_remove(place, entry));
        let changes: Vec<Change> = removed.chain(added).collect();
        let applied = self.live.apply(&changes, now.mono);
        applied.map_err(|error| table_refusal(&error))?;
        let entries = self.live.counts(place).source as u64;
        let set = &mut self.sets[place];
        if let Some(loaded) = &mut set.loaded {
            loaded.entries = entries;
            if let Some(copy) = amendment.copy {
                loaded.from = copy;
            }
        }
        if changes.is_empty() {
            return Ok(());
        }
        set.changed_ms = Some(now.wall_ms);
        set.refusal = None;
        // What was forced is no longer what is in force.
        if set.forced.take().is_some() {
            journal.push(&set.name, &Op::Forced { fingerprint: None });
        }
        Ok(())
    }
}
