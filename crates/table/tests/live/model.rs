//! The slow twin of `LiveLists`: ordered sets of entries, walked for every question.

use frame::Nanos;
use std::collections::{BTreeMap, BTreeSet};
use table::ListMask;
use table::live::{Action, Change, Counts, Entry, Note, Outcome, Part, Reason};

/// A list as a person would keep it.
#[derive(Clone, Debug, Default)]
pub(crate) struct List {
    pub(crate) file: BTreeSet<Entry>,
    /// What the source has, removed or not.
    pub(crate) source: BTreeSet<Entry>,
    pub(crate) dynamic: BTreeMap<Entry, Note>,
    /// When the load was begun that gave the file part.
    begun: u64,
}

/// A load that goes on.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub(crate) list: usize,
    begun: u64,
    /// Removed since.
    removed: BTreeSet<Entry>,
    /// What the source said since.
    sourced: BTreeMap<Entry, bool>,
}

/// All lists and what goes on with them.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) lists: Vec<List>,
    pub(crate) loads: BTreeMap<u64, Load>,
    begun: u64,
}

fn holds(entry: &Entry, address: Key) -> bool {
    match (entry, address) {
        (Entry::V4(range), Key::V4(address)) => range.contains(address),
        (Entry::V6(range), Key::V6(address)) => range.contains(address),
        _ => false,
    }
}

/// An address of either family.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Key {
    V4(u32),
    V6(u128),
}

impl Model {
    pub(crate) fn new(files: Vec<BTreeSet<Entry>>) -> Self {
        let list = |file: BTreeSet<Entry>| List {
            source: file.clone(),
            file,
            ..List::default()
        };
        Self {
            lists: files.into_iter().map(list).collect(),
            loads: BTreeMap::new(),
            begun: 0,
        }
    }

    pub(crate) fn change(&mut self, change: &Change, now: Nanos) -> Outcome {
        let (list, entry) = (&mut self.lists[change.list], change.entry);
        let over = |note: &Note| note.expires.is_some_and(|expires| expires <= now);
        if list.dynamic.get(&entry).is_some_and(over) {
            list.dynamic.remove(&entry);
        }
        let was_held = list.file.contains(&entry) || list.dynamic.contains_key(&entry);
        let of_list = |load: &&mut Load| load.list == change.list;
        match (&change.action, was_held) {
            (Action::SourceAdd, _) => {
                list.file.insert(entry);
                list.source.insert(entry);
                for load in self.loads.values_mut().filter(of_list) {
                    load.removed.remove(&entry);
                    load.sourced.insert(entry, true);
                }
                match was_held {
                    true => Outcome::AlreadyThere,
                    false => Outcome::Added,
                }
            }
            (Action::SourceRemove, _) => {
                let was_there = list.file.remove(&entry);
                list.source.remove(&entry);
                for load in self.loads.values_mut().filter(of_list) {
                    load.removed.remove(&entry);
                    load.sourced.insert(entry, false);
                }
                match (was_there, list.dynamic.contains_key(&entry)) {
                    (false, _) => Outcome::WasNotThere,
                    (true, true) => Outcome::StillThere,
                    (true, false) => Outcome::Removed,
                }
            }
            (Action::Withdraw, _) => match (list.dynamic.remove(&entry).is_some(), was_held) {
                (true, _) if list.file.contains(&entry) => Outcome::StillThere,
                (true, _) => Outcome::Removed,
                (false, _) => Outcome::WasNotThere,
            },
            (Action::Add(note), _) => {
                list.dynamic.insert(entry, note.clone());
                if was_held {
                    Outcome::AlreadyThere
                } else {
                    Outcome::Added
                }
            }
            (Action::Remove, _) => {
                list.file.remove(&entry);
                list.dynamic.remove(&entry);
                for load in self.loads.values_mut().filter(of_list) {
                    load.removed.insert(entry);
                }
                if was_held {
                    Outcome::Removed
                } else {
                    Outcome::WasNotThere
                }
            }
        }
    }

    /// Everything that is over, however much.
    pub(crate) fn expire(&mut self, now: Nanos) {
        for list in &mut self.lists {
            list.dynamic
                .retain(|_, note| note.expires.is_none_or(|expires| expires > now));
        }
    }

    pub(crate) fn next_expiry(&self) -> Option<Nanos> {
        let notes = self.lists.iter().flat_map(|list| list.dynamic.values());
        notes.filter_map(|note| note.expires).min()
    }

    pub(crate) fn begin(&mut self, list: usize) -> u64 {
        self.begun += 1;
        let load = Load {
            list,
            begun: self.begun,
            removed: BTreeSet::new(),
            sourced: BTreeMap::new(),
        };
        self.loads.insert(self.begun, load);
        self.begun
    }

    /// False when a load of the list that was begun later is in place.
    pub(crate) fn finish(&mut self, load: u64, file: &BTreeSet<Entry>) -> bool {
        let load = self.loads.remove(&load).expect("it goes on");
        let list = &mut self.lists[load.list];
        if list.begun > load.begun {
            return false;
        }
        list.begun = load.begun;
        list.source.clone_from(file);
        for (&entry, &in_source) in &load.sourced {
            match in_source {
                true => list.source.insert(entry),
                false => list.source.remove(&entry),
            };
        }
        list.file = list.source.difference(&load.removed).copied().collect();
        true
    }

    pub(crate) fn lookup(&self, key: Key) -> ListMask {
        let mut mask = ListMask::EMPTY;
        for (index, list) in self.lists.iter().enumerate() {
            if list
                .file
                .iter()
                .chain(list.dynamic.keys())
                .any(|entry| holds(entry, key))
            {
                mask |= ListMask::only(index);
            }
        }
        mask
    }

    pub(crate) fn explain(&self, key: Key) -> Vec<Reason> {
        let mut reasons = Vec::new();
        for (index, list) in self.lists.iter().enumerate() {
            let file = list
                .file
                .iter()
                .map(|&entry| (entry, Part::File, Note::default()));
            let dynamic = list.dynamic.iter();
            let dynamic = dynamic.map(|(&entry, note)| (entry, Part::Dynamic, note.clone()));
            let both = file
                .chain(dynamic)
                .filter(|(entry, _, _)| holds(entry, key));
            reasons.extend(both.map(|(entry, part, note)| Reason {
                list: index,
                entry,
                part,
                expires: note.expires,
                comment: note.comment,
                tag: note.tag,
            }));
        }
        reasons.sort_by_key(|reason| (reason.list, reason.entry, reason.part));
        reasons
    }

    pub(crate) fn counts(&self, index: usize) -> Counts {
        let List {
            file,
            source,
            dynamic,
            ..
        } = &self.lists[index];
        Counts {
            source: source.len(),
            entries: file
                .iter()
                .chain(dynamic.keys())
                .collect::<BTreeSet<_>>()
                .len(),
            dynamic: dynamic.len(),
            timed: dynamic
                .values()
                .filter(|note| note.expires.is_some())
                .count(),
        }
    }
}
