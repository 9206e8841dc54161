//! What a journal amounts to: for each set the entries that were given and not taken out.

use super::op::{KeptList, On, Op, Operations};
use crate::sets::SetName;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use table::live::Entry;

/// An entry as one giver gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Who, by a number of the keeper's.
    pub giver: u8,
    /// Since when the set has it, milliseconds since 1970.
    pub since_ms: u64,
    /// When it goes by itself, milliseconds since 1970.
    pub expires_ms: Option<u64>,
    /// What was said of it.
    pub comment: Option<Box<str>>,
}

/// A person's number among those who give; his word counts for all.
const HAND: u8 = 1;

/// What is known of one set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptSet {
    /// Entries, each with those who gave it.
    pub entries: HashMap<Entry, Vec<Kept>>,
    /// An action that was changed live: what the configuration had, and what held.
    pub action: Option<(u8, u8)>,
    /// What the list is known by that was last loaded, where it took force.
    pub forced: Option<u64>,
    /// Actions for sides and ports that were changed live, and what the rule of the configuration
    /// was known by then.
    pub on: Option<(u32, Vec<On>)>,
    /// The list that was loaded by hand, if the file part is one.
    pub list: Option<KeptList>,
    /// What was deleted by hand since that was loaded: not in the file part, if it ever was.
    pub deleted: HashSet<Entry>,
}

/// What is known of all sets, those that the configuration no longer has included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptSets {
    /// By name.
    pub sets: BTreeMap<SetName, KeptSet>,
}

impl KeptSets {
    /// Takes over what an operation says.
    pub(super) fn take(&mut self, set: &SetName, op: Op) {
        if !self.sets.contains_key(set) {
            self.sets.insert(set.clone(), KeptSet::default());
        }
        let Some(set) = self.sets.get_mut(set) else {
            return;
        };
        match op {
            Op::Add {
                entry,
                giver,
                since_ms,
                expires_ms,
                comment,
            } => set.add(
                entry,
                Kept {
                    giver,
                    since_ms,
                    expires_ms,
                    comment,
                },
            ),
            Op::Delete { entry, giver } => set.delete(entry, giver),
            Op::Action { configured, live } => {
                set.action = (configured != live).then_some((configured, live));
            }
            Op::Forced { fingerprint } => set.forced = fingerprint,
            Op::On { rule, on } => set.on = (!on.is_empty()).then_some((rule, on)),
            Op::List { list } => {
                set.list = list;
                set.deleted.clear();
            }
        }
    }

    /// Takes over what operations say.
    pub(crate) fn take_all(&mut self, operations: &Operations) -> io::Result<()> {
        let read = super::op::read(operations.bytes(), &mut |set, op| self.take(set, op));
        read.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Entries of all sets, however many gave them.
    #[must_use]
    pub fn entry_count(&self) -> usize {
        self.sets.values().map(|set| set.entries.len()).sum()
    }

    /// Leaves out what is over, and sets of which nothing is known then.
    pub(super) fn expire(&mut self, now_ms: u64) {
        self.sets.retain(|_, set| {
            set.entries.retain(|_, kept| {
                kept.retain(|kept| kept.expires_ms.is_none_or(|expires_ms| expires_ms > now_ms));
                !kept.is_empty()
            });
            let is_set = set.action.is_some() || set.on.is_some();
            let is_loaded = set.forced.is_some() || set.list.is_some();
            is_set || is_loaded || !set.entries.is_empty()
        });
    }
}

impl KeptSet {
    fn add(&mut self, entry: Entry, mut new: Kept) {
        let kept = self.entries.entry(entry).or_default();
        let Some(old) = kept.iter_mut().find(|old| old.giver == new.giver) else {
            kept.push(new);
            return;
        };
        // Given anew it is as old as it was, unless it was over meanwhile.
        if old
            .expires_ms
            .is_none_or(|expires_ms| expires_ms > new.since_ms)
        {
            new.since_ms = new.since_ms.min(old.since_ms);
        }
        *old = new;
    }

    fn delete(&mut self, entry: Entry, giver: u8) {
        if giver == HAND && self.list.is_some() {
            self.deleted.insert(entry);
        }
        let Some(kept) = self.entries.get_mut(&entry) else {
            return;
        };
        kept.retain(|kept| giver != HAND && kept.giver != giver);
        if kept.is_empty() {
            self.entries.remove(&entry);
        }
    }
}

/// Writes all that is known, some thousand operations at a time.
pub(super) fn write(
    kept: &KeptSets,
    tell: &mut dyn FnMut(&Operations) -> io::Result<()>,
) -> io::Result<()> {
    let mut pieces = Pieces::new(tell);
    kept.write(&mut pieces)?;
    pieces.finish()
}

impl KeptSets {
    /// All that is known, as operations.
    pub(crate) fn write(&self, pieces: &mut Pieces<'_>) -> io::Result<()> {
        for (name, set) in &self.sets {
            if let Some((configured, live)) = set.action {
                pieces.push(name, &Op::Action { configured, live })?;
            }
            if let Some(fingerprint) = set.forced {
                let fingerprint = Some(fingerprint);
                pieces.push(name, &Op::Forced { fingerprint })?;
            }
            if let Some((rule, on)) = set.on.clone() {
                pieces.push(name, &Op::On { rule, on })?;
            }
            if set.list.is_some() {
                let list = set.list.clone();
                pieces.push(name, &Op::List { list })?;
            }
            for &entry in &set.deleted {
                pieces.push(name, &deletion(entry))?;
            }
            for (&entry, kept) in &set.entries {
                for kept in kept.iter().cloned() {
                    pieces.push(name, &op(entry, kept))?;
                }
            }
        }
        Ok(())
    }
}

/// The operation that takes an entry out of a list that was loaded by hand. In a snapshot it comes
/// before what was added.
pub(crate) fn deletion(entry: Entry) -> Op {
    let giver = HAND;
    Op::Delete { entry, giver }
}

/// The operation that says it.
pub(crate) fn op(entry: Entry, kept: Kept) -> Op {
    let Kept {
        giver,
        since_ms,
        expires_ms,
        comment,
    } = kept;
    Op::Add {
        entry,
        giver,
        since_ms,
        expires_ms,
        comment,
    }
}

/// Cuts operations into records of a snapshot.
pub(crate) struct Pieces<'a> {
    tell: &'a mut dyn FnMut(&Operations) -> io::Result<()>,
    operations: Operations,
}

impl<'a> Pieces<'a> {
    pub(crate) fn new(tell: &'a mut dyn FnMut(&Operations) -> io::Result<()>) -> Self {
        Self {
            tell,
            operations: Operations::default(),
        }
    }

    pub(crate) fn push(&mut self, set: &SetName, op: &Op) -> io::Result<()> {
        const PIECE_BYTES: usize = 64 << 10;
        self.operations.push(set, op);
        if self.operations.bytes().len() >= PIECE_BYTES {
            (self.tell)(&self.operations)?;
            self.operations.clear();
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> io::Result<()> {
        if self.operations.is_empty() {
            return Ok(());
        }
        (self.tell)(&self.operations)
    }
}
