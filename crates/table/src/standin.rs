//! Slow stand-ins for sets that change: replaced by the sets' own `assign` and `rewrite`.

use crate::address::Address;
use crate::compiled::CompileError;
use crate::family::AddressSet;
use crate::flatten::Runs;
use crate::mask::ListMask;
use crate::prefixes::PrefixSet;
use crate::simd::Level;
use frame::Pages;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A set that never changes, and the answers that have changed since.
#[derive(Debug)]
pub(crate) struct ExactStandin<A, S> {
    set: Arc<S>,
    changed: BTreeMap<A, ListMask>,
}

impl<A: Clone, S> Clone for ExactStandin<A, S> {
    fn clone(&self) -> Self {
        Self {
            set: Arc::clone(&self.set),
            changed: self.changed.clone(),
        }
    }
}

impl<A: Address, S: AddressSet<A>> ExactStandin<A, S> {
    pub(crate) fn new(set: S) -> Self {
        Self {
            set: Arc::new(set),
            changed: BTreeMap::new(),
        }
    }

    pub(crate) fn assign(&mut self, address: A, mask: ListMask) -> Result<(), CompileError> {
        self.changed.insert(address, mask);
        Ok(())
    }

    pub(crate) fn is_crowded(&self) -> bool {
        self.changed.len() > 64
    }

    pub(crate) fn lookup_burst(&self, keys: &[A], masks: &mut [ListMask]) {
        self.set.lookup_burst(keys, masks);
        if !self.changed.is_empty() {
            for (key, mask) in keys.iter().zip(masks) {
                *mask = self.changed.get(key).copied().unwrap_or(*mask);
            }
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.set.bytes()
    }

    pub(crate) fn pages(&self) -> Option<Pages> {
        self.set.pages()
    }

    pub(crate) fn at_level(self, level: Level) -> Self {
        let set = Arc::into_inner(self.set).expect("not shared yet");
        Self {
            set: Arc::new(set.at_level(level)),
            changed: self.changed,
        }
    }
}

/// Compiled anew at each change.
#[derive(Debug)]
pub(crate) struct PrefixStandin<A>(Arc<PrefixSet<A>>);

impl<A> Clone for PrefixStandin<A> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<A: Address> PrefixStandin<A> {
    pub(crate) fn new(set: PrefixSet<A>) -> Self {
        Self(Arc::new(set))
    }

    pub(crate) fn rewrite(
        &mut self,
        _first: A,
        _last: A,
        runs: &BTreeMap<A, u32>,
    ) -> Result<(), CompileError> {
        let runs = Runs {
            starts: runs.keys().copied().collect(),
            masks: runs.values().copied().collect(),
        };
        self.0 = Arc::new(PrefixSet::compile(&runs)?);
        Ok(())
    }

    pub(crate) fn is_crowded(&self) -> bool {
        false
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn add_burst(&self, keys: &[A], masks: &mut [ListMask]) {
        self.0.add_burst(keys, masks);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.bytes()
    }

    pub(crate) fn pages(&self) -> Option<Pages> {
        self.0.pages()
    }

    pub(crate) fn at_level(self, level: Level) -> Self {
        let set = Arc::into_inner(self.0).expect("not shared yet");
        Self(Arc::new(set.at_level(level)))
    }
}
