//! The ways of reading a table that somebody else may be changing.

use std::hint::{black_box, spin_loop};
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};

use engine::{Published, Reader};
use table::{CompiledLists, ListMask};

use crate::design::array::ArrayTable;
use crate::lock::{Padded, locked, read};

/// Packets of a burst, as a worker has them.
pub(super) const BURST: usize = engine::DEFAULT_BURST;

/// How a thread comes to the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    /// A reference, bursts of 64: what all others are held against.
    None,
    /// The same to a table that was never changed: its lines lie side by side.
    Unchanged,
    /// A reference, one packet at a time: the base of what locks every packet.
    NonePacket,
    /// A reference, 4 packets at a time.
    NoneBatch4,
    /// A reference, one packet at a time behind a prefetch of 4 packets' lines.
    NonePrefetch4,
    /// The same on the array table: the base of what was published.
    NonePrefetch4Array,
    /// A reader-writer lock a packet.
    RwLockPacket,
    /// A reader-writer lock a burst.
    RwLockBurst,
    /// A reader-writer lock around both lookups of 4 packets.
    RwLockBatch4Both,
    /// Lines of 4 packets are prefetched without the lock; then a reader-writer lock a packet.
    RwLockPrefetch4,
    /// The same on the array table, as published in 2015.
    RwLockPrefetch4Array,
    /// A mutex for the source and again for the destination.
    MutexTwice,
    /// A lock with a slot a reader, taken once a packet: readers share no line.
    ReadMostly,
    /// A spin lock a packet, and on the first CPU two threads: its holder is pre-empted.
    Preempted,
    /// No lock, and one addition a packet to a counter that all threads share.
    Counter,
    /// [`engine::Published`], a look at the version once a burst.
    Ours,
    /// The same, each version a whole table of its own.
    OursReplaced,
}

impl Scheme {
    pub(super) const EVERY: [Self; 17] = [
        Self::None,
        Self::Ours,
        Self::OursReplaced,
        Self::Unchanged,
        Self::NonePacket,
        Self::NoneBatch4,
        Self::NonePrefetch4,
        Self::NonePrefetch4Array,
        Self::RwLockPacket,
        Self::RwLockBurst,
        Self::RwLockBatch4Both,
        Self::RwLockPrefetch4,
        Self::RwLockPrefetch4Array,
        Self::MutexTwice,
        Self::ReadMostly,
        Self::Preempted,
        Self::Counter,
    ];

    /// As it stands in a row.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Unchanged => "unchanged",
            Self::NonePacket => "none_packet",
            Self::NoneBatch4 => "none_batch4",
            Self::NonePrefetch4 => "none_prefetch4",
            Self::NonePrefetch4Array => "none_prefetch4_array",
            Self::RwLockPacket => "rwlock_packet",
            Self::RwLockBurst => "rwlock_burst",
            Self::RwLockBatch4Both => "rwlock_batch4_both",
            Self::RwLockPrefetch4 => "rwlock_prefetch4",
            Self::RwLockPrefetch4Array => "rwlock_prefetch4_array",
            Self::MutexTwice => "mutex_twice",
            Self::ReadMostly => "read_mostly",
            Self::Preempted => "preempted",
            Self::Counter => "counter",
            Self::Ours => "ours",
            Self::OursReplaced => "ours_replaced",
        }
    }

    /// Packets that are looked up together.
    pub(super) fn batch(self) -> usize {
        match self {
            Self::None
            | Self::Unchanged
            | Self::RwLockBurst
            | Self::Counter
            | Self::Ours
            | Self::OursReplaced => BURST,
            Self::NoneBatch4
            | Self::RwLockBatch4Both
            | Self::NonePrefetch4
            | Self::NonePrefetch4Array
            | Self::RwLockPrefetch4
            | Self::RwLockPrefetch4Array => 4,
            _ => 1,
        }
    }

    /// True where readers never look whether there is another table.
    pub(super) fn reads_one_table(self) -> bool {
        self.is_array()
            || matches!(
                self,
                Self::None
                    | Self::Unchanged
                    | Self::NonePacket
                    | Self::NoneBatch4
                    | Self::NonePrefetch4
                    | Self::Counter
            )
    }

    /// True where the array table of the published experiment is read.
    pub(super) fn is_array(self) -> bool {
        matches!(self, Self::NonePrefetch4Array | Self::RwLockPrefetch4Array)
    }

    fn publishes(self) -> bool {
        matches!(self, Self::Ours | Self::OursReplaced)
    }

    /// The scheme that differs from this one in nothing but the lock, or for `Unchanged` in
    /// nothing but the table.
    pub(super) fn base(self) -> Self {
        match self.batch() {
            // Tables that were never changed, in turn.
            _ if self == Self::OursReplaced => Self::Unchanged,
            _ if self.is_array() => Self::NonePrefetch4Array,
            _ if matches!(self, Self::NonePrefetch4 | Self::RwLockPrefetch4) => Self::NonePrefetch4,
            BURST => Self::None,
            4 => Self::NoneBatch4,
            _ => Self::NonePacket,
        }
    }
}

/// A version, as every scheme hands it over.
pub(super) type Table = Arc<CompiledLists>;

/// The table, behind each lock there is; a trial uses one of them.
pub(super) struct Shared {
    plain: Table,
    array: Arc<ArrayTable>,
    rwlock: Padded<RwLock<Table>>,
    array_rwlock: Padded<RwLock<Arc<ArrayTable>>>,
    mutex: Padded<Mutex<Table>>,
    /// A slot a reader; the writer takes all of them.
    slots: Vec<Padded<Mutex<Table>>>,
    counter: Padded<AtomicU64>,
    published: Mutex<Published<CompiledLists>>,
}

impl Shared {
    /// For this many readers.
    pub(super) fn new(table: &Table, array: &Arc<ArrayTable>, readers: usize) -> Self {
        let mutex = || Padded(Mutex::new(Arc::clone(table)));
        Self {
            plain: Arc::clone(table),
            array: Arc::clone(array),
            rwlock: Padded(RwLock::new(Arc::clone(table))),
            array_rwlock: Padded(RwLock::new(Arc::clone(array))),
            mutex: mutex(),
            slots: (0..readers).map(|_| mutex()).collect(),
            counter: Padded(AtomicU64::new(0)),
            published: Mutex::new(Published::new(Arc::clone(table))),
        }
    }

    /// What one thread reads by.
    pub(super) fn access(&self, scheme: Scheme, reader: usize) -> Access<'_> {
        Access {
            shared: self,
            scheme,
            slot: &self.slots[reader].0,
            reader: scheme.publishes().then(|| locked(&self.published).reader()),
        }
    }

    /// Puts another table in the place of the present one, as `scheme` does it. Where readers
    /// use no lock it is published to nobody, so that the writer's work is the same. Versions
    /// that were replaced are freed once the lock is given back.
    pub(super) fn replace(&self, scheme: Scheme, next: Table) {
        match scheme {
            Scheme::RwLockPacket
            | Scheme::RwLockBurst
            | Scheme::RwLockBatch4Both
            | Scheme::RwLockPrefetch4 => exchange(&self.rwlock.0, next),
            // The array table has one version, which goes in again.
            Scheme::RwLockPrefetch4Array => {
                exchange(&self.array_rwlock.0, Arc::clone(&self.array));
            }
            Scheme::MutexTwice => put(locked(&self.mutex.0), next),
            Scheme::Preempted => put(spin(&self.mutex.0), next),
            Scheme::ReadMostly => {
                let mut slots: Vec<_> = self.slots.iter().map(|slot| locked(&slot.0)).collect();
                let old: Vec<Table> = slots
                    .iter_mut()
                    .map(|slot| mem::replace(&mut **slot, Arc::clone(&next)))
                    .collect();
                drop(slots);
                drop(old);
            }
            Scheme::None
            | Scheme::Unchanged
            | Scheme::NonePacket
            | Scheme::NoneBatch4
            | Scheme::NonePrefetch4
            | Scheme::NonePrefetch4Array
            | Scheme::Counter
            | Scheme::Ours
            | Scheme::OursReplaced => {
                locked(&self.published).publish(next);
            }
        }
    }
}

/// Frees what was replaced once the lock is given back.
fn exchange<T>(lock: &RwLock<T>, next: T) {
    let mut guard = lock.write().unwrap_or_else(PoisonError::into_inner);
    let old = mem::replace(&mut *guard, next);
    drop(guard);
    drop(old);
}

fn put(mut guard: MutexGuard<'_, Table>, next: Table) {
    let old = mem::replace(&mut *guard, next);
    drop(guard);
    drop(old);
}

/// Takes a mutex without ever going to sleep for it.
fn spin<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    loop {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => spin_loop(),
        }
    }
}

/// One thread's way to the table.
pub(super) struct Access<'a> {
    shared: &'a Shared,
    scheme: Scheme,
    slot: &'a Mutex<Table>,
    /// Of schemes that publish: a reader that never looks would keep every version.
    reader: Option<Reader<CompiledLists>>,
}

impl Access<'_> {
    /// Looks up a burst: two keys a packet, and the answers to them.
    #[inline]
    pub(super) fn look_up(&mut self, keys: &[u32], masks: &mut [ListMask]) {
        let batch = 2 * self.scheme.batch();
        let shared = self.shared;
        match self.scheme {
            Scheme::None | Scheme::Unchanged | Scheme::NonePacket | Scheme::NoneBatch4 => {
                in_batches(keys, masks, batch, |keys, masks| {
                    shared.plain.lookup_burst_v4(keys, masks);
                });
            }
            Scheme::RwLockPacket | Scheme::RwLockBurst | Scheme::RwLockBatch4Both => {
                in_batches(keys, masks, batch, |keys, masks| {
                    read(&shared.rwlock.0).lookup_burst_v4(keys, masks);
                });
            }
            Scheme::NonePrefetch4 => in_batches(keys, masks, batch, |keys, masks| {
                behind_lines(&shared.plain, keys, |keys, at| {
                    shared.plain.lookup_burst_v4(keys, &mut masks[at..at + 2]);
                });
            }),
            Scheme::RwLockPrefetch4 => in_batches(keys, masks, batch, |keys, masks| {
                behind_lines(&shared.plain, keys, |keys, at| {
                    read(&shared.rwlock.0).lookup_burst_v4(keys, &mut masks[at..at + 2]);
                });
            }),
            Scheme::NonePrefetch4Array => in_batches(keys, masks, batch, |keys, masks| {
                keys.iter().for_each(|&key| shared.array.ask_head(key));
                in_batches(keys, masks, 2, |keys, masks| {
                    find(&shared.array, keys, masks);
                });
            }),
            Scheme::RwLockPrefetch4Array => in_batches(keys, masks, batch, |keys, masks| {
                keys.iter().for_each(|&key| shared.array.ask_head(key));
                in_batches(keys, masks, 2, |keys, masks| {
                    find(&read(&shared.array_rwlock.0), keys, masks);
                });
            }),
            // A batch is one key: the source under the mutex, then the destination.
            Scheme::MutexTwice => in_batches(keys, masks, 1, |keys, masks| {
                locked(&shared.mutex.0).lookup_burst_v4(keys, masks);
            }),
            Scheme::ReadMostly => in_batches(keys, masks, batch, |keys, masks| {
                locked(self.slot).lookup_burst_v4(keys, masks);
            }),
            Scheme::Preempted => in_batches(keys, masks, batch, |keys, masks| {
                spin(&shared.mutex.0).lookup_burst_v4(keys, masks);
            }),
            Scheme::Counter => {
                shared.plain.lookup_burst_v4(keys, masks);
                for _ in 0..keys.len() / 2 {
                    shared.counter.0.fetch_add(1, Ordering::Relaxed);
                }
            }
            Scheme::Ours | Scheme::OursReplaced => {
                if let Some(reader) = &mut self.reader {
                    reader.current().lookup_burst_v4(keys, masks);
                }
            }
        }
    }
}

/// Prefetches the lines of a batch without a lock, and then has each packet looked up. The set has
/// no call that only prefetches: it looks the batch up itself once more, when the lines are there.
#[inline(always)]
fn behind_lines(table: &Table, keys: &[u32], mut look_up: impl FnMut(&[u32], usize)) {
    let mut again = [ListMask::EMPTY; 8];
    table.lookup_burst_v4_overlapped(keys, &mut again, &mut || {
        for (packet, keys) in keys.chunks(2).enumerate() {
            look_up(keys, 2 * packet);
        }
    });
    black_box(again[0]);
}

#[inline(always)]
fn find(table: &ArrayTable, keys: &[u32], masks: &mut [ListMask]) {
    for (&key, mask) in keys.iter().zip(masks) {
        *mask = if table.contains(key) {
            ListMask::only(0)
        } else {
            ListMask::EMPTY
        };
    }
}

#[inline(always)]
fn in_batches(
    keys: &[u32],
    masks: &mut [ListMask],
    batch: usize,
    mut look_up: impl FnMut(&[u32], &mut [ListMask]),
) {
    for (keys, masks) in keys.chunks(batch).zip(masks.chunks_mut(batch)) {
        look_up(keys, masks);
    }
}
