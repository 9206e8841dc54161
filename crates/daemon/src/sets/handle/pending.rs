//! A load from its begin to its end: held against the guards, compiled, put in force.

use std::sync::PoisonError;

use table::Entries;

use super::Handle;
use crate::sets::fault::{Fault, Guarded};
use crate::sets::guard::{self, Checked};
use crate::sets::message::{Begun, Finishing, Message, Summary};
use crate::sets::name::SetName;
use crate::sets::refusal::Refusal;
use crate::sets::reply::Reply;
use crate::sets::request::{LoadedFrom, Origin};

/// A load that was begun, before its source is read: what is removed from the set from now on is
/// not brought back by it.
#[derive(Debug)]
#[must_use = "nothing is loaded until it is finished"]
pub struct PendingLoad {
    pub(super) handle: Handle,
    pub(super) name: SetName,
    pub(super) begun: Box<Begun>,
}

/// What a load is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guarding {
    /// The guards.
    Guarded,
    /// Nothing: whoever asks has looked.
    Forced,
    /// Nothing, and the dynamic part goes, too.
    Flush,
}

impl PendingLoad {
    /// Holds what was read against the guards, compiles it and puts it in force.
    ///
    /// # Errors
    /// [`Refusal`]; then the file part stays as it was.
    pub fn finish(
        self,
        entries: Entries,
        source: LoadedFrom,
        origin: Origin,
        force: bool,
    ) -> Result<Reply, Refusal> {
        let guarding = if force {
            Guarding::Forced
        } else {
            Guarding::Guarded
        };
        self.compile(entries, source, origin, guarding)
    }

    /// Says that the source could not be read or holds bad lines: the old list stays, and `why`
    /// stands in what is shown of the set.
    ///
    /// # Errors
    /// [`Refusal::Stopped`].
    pub fn give_up(self, why: String) -> Result<(), Refusal> {
        let Self { handle, name, .. } = self;
        handle.tell(|answer| Message::Refused(name, why, answer))
    }

    pub(super) fn compile(
        self,
        entries: Entries,
        from: LoadedFrom,
        origin: Origin,
        guarding: Guarding,
    ) -> Result<Reply, Refusal> {
        let Self {
            handle,
            name,
            begun,
        } = self;
        let Begun { set, load, guards } = *begun;
        let compiling = handle.shared.compiling.lock();
        let _compiling = compiling.unwrap_or_else(PoisonError::into_inner);
        let sorted = load.sort(entries);
        let difference = sorted.difference();
        let own = (handle.shared.config.own_addresses)();
        let Checked { faults, counted } = guard::check(&guards, &sorted, &difference, &from, &own);
        if guarding == Guarding::Guarded && !faults.is_empty() {
            let refusal = Refusal::Guarded(Guarded {
                set: name.clone(),
                source: from.name,
                entries: difference.before.entries,
                faults,
                force: handle.force(origin),
            });
            let why = refusal.to_string();
            handle.tell(|answer| Message::Refused(name, why, answer))?;
            return Err(refusal);
        }
        let counted = counted.map(|fault| noted(&fault, &from, &name));
        let fingerprint = sorted.fingerprint();
        let is_forced = !faults.is_empty() || guards.forced == Some(fingerprint);
        let forced = is_forced.then_some(fingerprint);
        let sorted = Box::new(sorted);
        let sorted = handle.tell(|answer| Message::Refresh(sorted, answer))?;
        let loaded = sorted.compile().map_err(|error| Refusal::Table {
            reason: error.to_string(),
        })?;
        let summary = Summary {
            set,
            from,
            origin,
            difference,
            counted,
            forced: forced.filter(|_| guarding != Guarding::Flush),
            flush: guarding == Guarding::Flush,
        };
        let finishing = Finishing {
            summary: Some(summary),
            loaded,
        };
        handle.finish(finishing)?.ok_or(Refusal::Stopped)
    }
}

/// Logs what a guard would have refused, were it not for a set that only counts.
fn noted(fault: &Fault, from: &LoadedFrom, set: &SetName) -> Box<str> {
    let mut what = String::new();
    // Writing to a String never fails.
    let _ = fault.write(&mut what, &from.name, set);
    tracing::warn!(%set, "{what}, which the set only counts");
    what.into()
}
