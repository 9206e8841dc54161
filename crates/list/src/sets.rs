//! The sets of one text, as a script makes, fills, empties, exchanges and drops them.
//!
//! Whatever order the commands have, the entries are those that the tool would hold after the last
//! one. A set that was not made in the text is taken as empty before it: what a kernel may hold of
//! it is not known here. All sets that are left become one list.

use crate::entry::Entry;
use crate::excerpt;
use crate::fault::Fault;
use crate::held::Held;
use crate::intake::{Intake, Note, Sink};
use crate::removal::{Removal, Removals, both};
use std::collections::HashMap;

/// Sets of one text at most; an ipset kernel holds no more.
const SETS_MAX: usize = 65_534;
/// How often removals are compared with all entries of a set before the end of the text.
const APPLIED_MAX: u32 = 1000;

/// What the entries of a set may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// What is wrong with all of them.
    pub(crate) fault: Option<Fault>,
    /// Whether they are IPv6, where the text says it.
    pub(crate) is_v6: Option<bool>,
    /// Each address of an entry is kept by itself (`hash:ip`).
    pub(crate) is_by_address: bool,
}

impl Kind {
    /// Of a set that was not made in the text.
    pub(crate) const UNKNOWN: Self = Self {
        fault: None,
        is_v6: None,
        is_by_address: true,
    };
}

struct Set<S> {
    kind: Kind,
    /// What it holds; while it is the current set, what the intake held before.
    held: Held<S>,
    removals: Removals,
    /// Where it first appears, and after how many others.
    line: u64,
    order: u64,
}

/// An element to take into a set.
#[derive(Clone, Copy)]
pub(crate) struct Added<'l> {
    pub(crate) field: &'l [u8],
    /// The field with what belongs to it.
    pub(crate) text: &'l [u8],
}

/// An element to remove from a set.
#[derive(Clone, Copy)]
pub(crate) struct Removed<'l> {
    pub(crate) field: &'l [u8],
    /// It is no fault when the set does not have it.
    pub(crate) may_miss: bool,
}

/// The sets of one text by their names.
pub(crate) struct Sets<S> {
    by_name: HashMap<Vec<u8>, Set<S>>,
    /// The set whose entries the intake holds.
    current: Option<Vec<u8>>,
    made: u64,
    applied: u32,
}

impl<S: Sink> Sets<S> {
    pub(crate) fn new() -> Self {
        Self {
            by_name: HashMap::new(),
            current: None,
            made: 0,
            applied: 0,
        }
    }

    /// The set of that name, made if it is not there; `None` when there are too many.
    fn set(&mut self, name: &[u8], intake: &mut Intake<'_, S>) -> Option<&mut Set<S>> {
        if !self.by_name.contains_key(name) {
            if self.by_name.len() >= SETS_MAX {
                intake.bad(Fault::TooManySets, name);
                return None;
            }
            let set = Set {
                kind: Kind::UNKNOWN,
                held: Held::new(intake.held.sink.fresh()),
                removals: Removals::default(),
                line: intake.line,
                order: self.made,
            };
            self.made += 1;
            self.by_name.insert(name.to_vec(), set);
        }
        self.by_name.get_mut(name)
    }

    /// Gives back what the intake held before it held a set.
    fn leave(&mut self, intake: &mut Intake<'_, S>) {
        if let Some(name) = self.current.take()
            && let Some(set) = self.by_name.get_mut(&name)
        {
            intake.exchange(&mut set.held);
        }
    }

    /// Lets the intake hold this set; false when there are too many.
    fn enter(&mut self, name: &[u8], intake: &mut Intake<'_, S>) -> bool {
        if self.current.as_deref() == Some(name) {
            return true;
        }
        self.leave(intake);
        let Some(set) = self.set(name, intake) else {
            return false;
        };
        intake.exchange(&mut set.held);
        self.current = Some(name.to_vec());
        true
    }

    /// Makes a set. One that is there keeps its entries, and must be of the same kind.
    pub(crate) fn create(&mut self, name: &[u8], kind: Kind, intake: &mut Intake<'_, S>) {
        let Some(set) = self.set(name, intake) else {
            return;
        };
        if set.kind == Kind::UNKNOWN {
            set.kind = kind;
        } else if set.kind != kind {
            intake.bad(Fault::SetTwice, name);
        }
    }

    /// Takes an element into a set.
    pub(crate) fn take(&mut self, name: &[u8], element: Added<'_>, intake: &mut Intake<'_, S>) {
        if !self.enter(name, intake) {
            return;
        }
        if let Some((entry, set)) = self.entry_of(name, element.field, intake) {
            for entry in both(entry) {
                set.removals.cancel(entry);
            }
            intake.take(entry, element.text);
        }
    }

    /// Removes an element from a set.
    pub(crate) fn remove(&mut self, name: &[u8], element: Removed<'_>, intake: &mut Intake<'_, S>) {
        if self.set(name, intake).is_none() {
            return;
        }
        let line = intake.line;
        if let Some((entry, set)) = self.entry_of(name, element.field, intake) {
            for entry in both(entry) {
                set.removals.add(Removal {
                    entry,
                    line,
                    may_miss: element.may_miss,
                });
            }
        }
    }

    /// The entry in `field`, which must fit its set, or a bad line.
    fn entry_of(
        &mut self,
        name: &[u8],
        field: &[u8],
        intake: &mut Intake<'_, S>,
    ) -> Option<(Entry, &mut Set<S>)> {
        let set = self.by_name.get_mut(name)?;
        let entry = match (set.kind.fault, Entry::parse(field)) {
            (Some(fault), _) | (None, Err(fault)) => Err(fault),
            (None, Ok(entry)) => match set.kind.is_v6 {
                Some(is_v6) if is_v6 != matches!(entry, Entry::V6(_)) => Err(Fault::SetFamily),
                _ => Ok(entry),
            },
        };
        match entry {
            Ok(entry) => Some((entry, set)),
            Err(fault) => {
                intake.bad(fault, field);
                None
            }
        }
    }

    /// What is wrong with all entries of a set, as far as it is known.
    pub(crate) fn kind(&self, name: &[u8]) -> Kind {
        self.by_name.get(name).map_or(Kind::UNKNOWN, |set| set.kind)
    }

    /// Notes where a set first appears.
    pub(crate) fn mention(&mut self, name: &[u8], intake: &mut Intake<'_, S>) {
        self.set(name, intake);
    }

    /// Lets `fill` put entries into a set, behind all that was removed from it before.
    pub(crate) fn fill(
        &mut self,
        name: &[u8],
        intake: &mut Intake<'_, S>,
        fill: impl FnOnce(&mut Intake<'_, S>),
    ) {
        if !self.enter(name, intake) {
            return;
        }
        if let Some(set) = self.by_name.get_mut(name)
            && !set.removals.is_empty()
        {
            if self.applied == APPLIED_MAX {
                return intake.bad(Fault::TooManyRemovals, name);
            }
            self.applied += 1;
            std::mem::take(&mut set.removals).apply(set.kind.is_by_address, intake);
        }
        fill(intake);
    }

    /// Empties the sets that `is_meant` is true for.
    pub(crate) fn flush(&mut self, is_meant: impl Fn(&[u8]) -> bool, intake: &mut Intake<'_, S>) {
        self.leave(intake);
        for (_, set) in self.by_name.iter_mut().filter(|(name, _)| is_meant(name)) {
            intake.drop_held(&mut set.held);
            set.removals = Removals::default();
        }
    }

    /// Drops the sets that `is_meant` is true for.
    pub(crate) fn destroy(&mut self, is_meant: impl Fn(&[u8]) -> bool, intake: &mut Intake<'_, S>) {
        self.flush(&is_meant, intake);
        self.by_name.retain(|name, _| !is_meant(name));
    }

    /// Exchanges two sets.
    pub(crate) fn swap(&mut self, one: &[u8], other: &[u8], intake: &mut Intake<'_, S>) {
        self.leave(intake);
        if self.set(one, intake).is_none() || self.set(other, intake).is_none() {
            return;
        }
        if let [Some(one), Some(other)] = self.by_name.get_disjoint_mut([one, other]) {
            std::mem::swap(one, other);
        }
    }

    /// Gives a set another name, which must be free.
    pub(crate) fn rename(&mut self, from: &[u8], to: &[u8], intake: &mut Intake<'_, S>) {
        self.leave(intake);
        if self.by_name.contains_key(to) {
            return intake.bad(Fault::SetTwice, to);
        }
        if let Some(set) = self.by_name.remove(from) {
            self.by_name.insert(to.to_vec(), set);
        }
    }

    /// Makes one list of what is left. `alone` says how to have one set alone.
    pub(crate) fn finish(mut self, alone: &str, intake: &mut Intake<'_, S>) {
        self.leave(intake);
        let lines = intake.line;
        let mut sets: Vec<_> = self.by_name.into_iter().collect();
        sets.sort_unstable_by_key(|(_, set)| set.order);
        let mut filled = 0;
        for (name, mut set) in sets {
            intake.exchange(&mut set.held);
            set.removals.apply(set.kind.is_by_address, intake);
            filled += u64::from(intake.held.entry_count > 0);
            if filled > 1 && intake.held.entry_count > 0 {
                intake.line = set.line;
                intake.warn(Note::SecondSet, || further(&name, alone));
            }
            intake.exchange(&mut set.held);
            intake.append(set.held);
        }
        intake.line = lines;
        intake.held.warnings.sort_by_key(|warning| warning.line);
        intake.bad.sort_by_key(|bad| bad.line);
    }
}

fn further(name: &[u8], alone: &str) -> String {
    let name = excerpt::of(name);
    format!("a further set, {name}: all sets of the file become one; {alone}")
}
