//! Variables of nft text: `define NAME = { ... }`, used as `$NAME`.
//!
//! What is wrong with a variable counts where a set of addresses uses it: others may hold ports or
//! names of interfaces. A text of variables alone is a list of those that hold addresses.

use crate::fault::Fault;
use crate::intake::{Intake, Sink};
use crate::sets::Sets;
use crate::trial::Trial;
use std::collections::BTreeMap;

/// Variables of one text at most.
const VARIABLES_MAX: usize = 4096;

/// The variables of one text by their names.
pub(crate) struct Variables<S> {
    by_name: BTreeMap<Vec<u8>, Trial<S>>,
}

impl<S: Sink> Variables<S> {
    pub(crate) fn new() -> Self {
        Self {
            by_name: BTreeMap::new(),
        }
    }

    /// Keeps a variable that is complete.
    pub(crate) fn define(
        &mut self,
        name: &[u8],
        again: bool,
        value: Trial<S>,
        intake: &mut Intake<'_, S>,
    ) {
        if !again && self.by_name.contains_key(name) {
            intake.bad(Fault::SetTwice, name);
        }
        if self.by_name.len() >= VARIABLES_MAX {
            intake.bad(Fault::TooManySets, name);
            return value.discard(intake);
        }
        if let Some(before) = self.by_name.insert(name.to_vec(), value) {
            before.discard(intake);
        }
    }

    pub(crate) fn undefine(&mut self, name: &[u8], intake: &mut Intake<'_, S>) {
        match self.by_name.remove(name) {
            Some(value) => value.discard(intake),
            None => intake.bad(Fault::NftVariable, name),
        }
    }

    /// Adds the entries of a variable to what `intake` holds.
    pub(crate) fn expand(&self, name: &[u8], intake: &mut Intake<'_, S>) {
        match self.by_name.get(name) {
            Some(value) => {
                value.report(intake);
                intake.append_copy(value.held());
            }
            None => intake.bad(Fault::NftVariable, name),
        }
    }

    /// Makes sets of the variables: of those with entries, or else of all.
    pub(crate) fn into_sets(self, sets: &mut Sets<S>, intake: &mut Intake<'_, S>) {
        let any = self.by_name.values().any(|value| value.entry_count() > 0);
        for (name, value) in self.by_name {
            if any && value.entry_count() == 0 {
                continue;
            }
            value.report(intake);
            sets.fill(&name, intake, |intake| intake.append(value.into_held()));
        }
    }
}
