//! A hash map that a load can hold on to while it changes: in shards, each copied when it is
//! changed while somebody else holds it.
//!
//! Taking a copy costs one reference count; the first change after it costs a copy of the table
//! of shards (8 KiB) and of one shard, never of the map. Growth is by shard too: no change waits
//! for a rehash of millions.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Arc;

/// Shards of a map that holds anything.
const SHARDS: usize = if cfg!(miri) { 4 } else { 1024 };

type Shard<K, V> = Arc<HashMap<K, V, RandomState>>;

/// See the head of this file.
#[derive(Clone, Debug)]
pub(super) struct Shards<K, V> {
    /// None until something is inserted.
    shards: Arc<Vec<Option<Shard<K, V>>>>,
    /// Keyed, so that nobody can fill one shard on purpose.
    hasher: RandomState,
    len: usize,
}

impl<K, V> Default for Shards<K, V> {
    fn default() -> Self {
        Self {
            shards: Arc::default(),
            hasher: RandomState::new(),
            len: 0,
        }
    }
}

impl<K: Hash + Eq + Copy, V: Clone> Shards<K, V> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        if self.len == 0 {
            return None;
        }
        self.shards[self.place(key)].as_ref()?.get(key)
    }

    /// What was there before.
    pub(super) fn insert(&mut self, key: K, value: V) -> Option<V> {
        let place = self.place(&key);
        let shards = Arc::make_mut(&mut self.shards);
        shards.resize(SHARDS, None);
        let empty = || Arc::new(HashMap::with_hasher(self.hasher.clone()));
        let shard = Arc::make_mut(shards[place].get_or_insert_with(empty));
        let before = shard.insert(key, value);
        self.len += usize::from(before.is_none());
        before
    }

    /// What was there.
    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        // Looked up first: what is not there copies nothing.
        self.get(key)?;
        let place = self.place(key);
        let shard = Arc::make_mut(&mut self.shards)[place].as_mut()?;
        let before = Arc::make_mut(shard).remove(key);
        self.len -= usize::from(before.is_some());
        before
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.shards.iter().flatten().flat_map(|shard| shard.iter())
    }

    /// Bits that the maps within shards, keyed alike, use last.
    fn place(&self, key: &K) -> usize {
        (self.hasher.hash_one(key) >> 40) as usize % SHARDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_keeps_what_it_had() {
        let mut map = Shards::default();
        assert_eq!(map.get(&1), None);
        assert_eq!(map.remove(&1), None);
        for key in 0..100u32 {
            assert_eq!(map.insert(key, key), None);
        }
        let before = map.clone();
        assert_eq!(map.insert(7, 8), Some(7));
        assert_eq!(map.remove(&9), Some(9));
        assert_eq!((map.len(), before.len()), (99, 100));
        assert_eq!((map.get(&7), before.get(&7)), (Some(&8), Some(&7)));
        assert_eq!((map.get(&9), before.get(&9)), (None, Some(&9)));
        let mut keys: Vec<u32> = before.iter().map(|(&key, _)| key).collect();
        keys.sort_unstable();
        assert_eq!(keys, (0..100).collect::<Vec<_>>());
    }
}
