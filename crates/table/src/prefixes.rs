//! Networks and ranges of any length, IPv4 and IPv6, with the lists of each.
//!
//! IPv4 has [`blocks`]: one line a lookup beside an index that stays in the second-level cache.
//! IPv6 has [`slots`]: one a network of 32 bits, and lines of separators for the 16 bits that
//! follow, two or three lines a lookup. What lies below is in a [`trie`] of blocks as large as
//! their changes of answer ask for. All keep the lines of many keys on their way at once.
//!
//! More different answers than those can name, which no real lists have, are searched by halves
//! ([`sorted`]).
//!
//! A set is changed by making a clone, which shares all pages, and [`PrefixSet::rewrite`] of what
//! the change touches: pages that the other has too are copied first, and the index of [`blocks`]
//! as a whole.

mod blocks;
mod column;
mod slots;
mod sorted;
mod source;
mod trie;

use crate::address::Address;
use crate::class::Classes;
use crate::compact::Compacting;
use crate::compiled::CompileError;
use crate::entries::FamilyEntries;
use crate::flatten::{self, Runs};
use crate::mask::ListMask;
use crate::simd::Level;
use blocks::Blocks;
use frame::Pages;
use frame::memory::MemoryError;
use slots::Slots;
use sorted::Sorted;
pub(crate) use source::Source;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Networks and ranges, each with the lists that hold it. A clone shares the memory.
#[derive(Clone, Debug)]
pub struct PrefixSet<A> {
    layout: Layout<A>,
    /// How many lists there are: the answers of all later changes are made of these.
    list_count: usize,
    run_count: usize,
    /// As many as the layout was made for.
    run_count_made: usize,
    /// Different answers when it was made; changes add to them and take none away.
    class_count_made: usize,
    level: Level,
}

#[derive(Clone, Debug)]
enum Layout<A> {
    Empty,
    /// IPv4.
    Blocks(Box<Blocks>),
    /// IPv6.
    Slots(Box<Slots>),
    Sorted(Arc<Sorted<A>>),
}

/// Keys that [`PrefixSet::contains_burst`] looks up at once.
const WINDOW: usize = 128;

impl<A: Address> PrefixSet<A> {
    /// The networks and ranges of `entries`; its addresses are not looked at. Every hit answers
    /// with list 0.
    ///
    /// # Errors
    /// [`CompileError::Memory`].
    pub fn new(entries: &FamilyEntries<A>) -> Result<Self, CompileError> {
        Self::of_lists(1, &flatten::sweep(&[flatten::merge_all(entries)]))
    }

    /// A set of so many lists. Answers of IPv6 take a load more where there are more than 16, or
    /// once a change has made a network one of all 16, which makes the layout anew.
    pub(crate) fn of_lists(list_count: usize, runs: &Runs<A>) -> Result<Self, CompileError> {
        let layout = Layout::new(list_count, runs)?;
        Ok(Self::with_layout(layout, list_count, runs.starts.len()))
    }

    /// A set of as many lists as leaves of IPv6 hold answers of, or of more where there are more.
    #[cfg(test)]
    pub(crate) fn compile(runs: &Runs<A>) -> Result<Self, CompileError> {
        Self::of_lists(16, runs)
    }

    fn with_layout(layout: Layout<A>, list_count: usize, run_count: usize) -> Self {
        Self {
            class_count_made: layout.class_count(),
            layout,
            list_count,
            run_count,
            run_count_made: run_count,
            level: Level::best(),
        }
    }

    /// The same answers by binary search within a block: what tests hold the others against.
    #[cfg(test)]
    pub(crate) fn compile_sorted(runs: &Runs<A>) -> Result<Self, CompileError> {
        let layout = Layout::Sorted(Arc::new(Sorted::new(runs)?));
        Ok(Self::with_layout(
            layout,
            crate::LISTS_MAX,
            runs.starts.len(),
        ))
    }

    /// Takes over a change of answers within `first..=last`. `runs` tells, for the whole family,
    /// from which address on which lists hold; it has the first address of the family. Only
    /// pages that hold something about these addresses are written, those that clones share
    /// are copied before.
    ///
    /// # Errors
    /// [`CompileError::Memory`]; then the set is not to be used any more.
    pub fn rewrite(
        &mut self,
        first: A,
        last: A,
        runs: &BTreeMap<A, u32>,
    ) -> Result<(), CompileError> {
        self.rewrite_from(first, last, Source::new(runs, None))
    }

    pub(crate) fn rewrite_from(
        &mut self,
        first: A,
        last: A,
        source: Source<'_, A>,
    ) -> Result<(), CompileError> {
        self.run_count = source.count();
        let rewritten = match &mut self.layout {
            Layout::Blocks(blocks) => blocks.rewrite(first, last, source)?,
            Layout::Slots(slots) => slots.rewrite(first, last, source)?,
            Layout::Empty | Layout::Sorted(_) => false,
        };
        if !rewritten {
            let mut all = Runs::none();
            source
                .changes(A::default())
                .for_each(|(start, mask)| all.push(start, mask));
            self.layout = Layout::new(self.list_count, &all)?;
            self.run_count_made = self.run_count;
            self.class_count_made = self.layout.class_count();
        }
        Ok(())
    }

    /// Brings pages home.
    pub(crate) fn compact(&mut self, work: &mut Compacting) -> Result<(), CompileError> {
        match &mut self.layout {
            Layout::Empty | Layout::Sorted(_) => Ok(()),
            Layout::Blocks(blocks) => blocks.compact(work),
            Layout::Slots(slots) => slots.compact(work),
        }
    }

    /// True when changes have left so much garbage, or so many more networks or answers than the
    /// layout was made for, that making it anew pays.
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        let crowded = match &self.layout {
            Layout::Blocks(blocks) => blocks.is_crowded(),
            Layout::Slots(slots) => slots.is_crowded(),
            Layout::Empty | Layout::Sorted(_) => false,
        };
        crowded
            || self.run_count / 2 > self.run_count_made.max(500)
            || self.layout.class_count() / 2 > self.class_count_made.max(4000)
    }

    /// The same set, looked up at `level`; for tests and benchmarks.
    #[must_use]
    pub fn at_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// True when nothing matches. May be false after changes that took everything away.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self.layout, Layout::Empty)
    }

    /// Disjoint intervals of one answer that the address space falls into.
    #[must_use]
    pub fn run_count(&self) -> usize {
        self.run_count
    }

    /// Adds to each mask the lists whose networks or ranges hold the key. Of IPv6 it also asks the
    /// cache for what lies 8 KiB behind `keys`, which whoever goes through an array in bursts looks
    /// up soon; nothing is read there.
    ///
    /// # Panics
    /// When `masks` is shorter than `keys`.
    #[inline]
    pub fn add_burst(&self, keys: &[A], masks: &mut [ListMask]) {
        self.look_up::<true>(keys, &mut masks[..keys.len()]);
    }

    /// As [`PrefixSet::add_burst`], whatever the masks were: for those who have nothing to add to.
    /// Masks that are not read first are up to 4 % faster among IPv6 networks.
    ///
    /// # Panics
    /// When `masks` is shorter than `keys`.
    #[inline]
    pub fn lookup_burst(&self, keys: &[A], masks: &mut [ListMask]) {
        self.look_up::<false>(keys, &mut masks[..keys.len()]);
    }

    /// There are as many masks as keys.
    #[inline]
    fn look_up<const ADDS: bool>(&self, keys: &[A], masks: &mut [ListMask]) {
        match &self.layout {
            Layout::Blocks(blocks) => blocks.look_up::<A, ADDS>(self.level, keys, masks),
            Layout::Slots(slots) => {
                let keys = A::wide(keys).expect("slots are for IPv6");
                slots.look_up::<ADDS>(self.level, keys, masks);
            }
            Layout::Empty | Layout::Sorted(_) => {
                if !ADDS {
                    masks.fill(ListMask::EMPTY);
                }
                if let Layout::Sorted(sorted) = &self.layout {
                    sorted.add_burst(keys, masks);
                }
            }
        }
    }

    /// Writes which keys lie in a network or range and tells how many do. Asks for keys as
    /// [`PrefixSet::add_burst`] does.
    ///
    /// # Panics
    /// When `found` is shorter than `keys`.
    pub fn contains_burst(&self, keys: &[A], found: &mut [bool]) -> usize {
        let mut hits = 0;
        let found = &mut found[..keys.len()];
        for (keys, found) in keys.chunks(WINDOW).zip(found.chunks_mut(WINDOW)) {
            let mut masks = [ListMask::EMPTY; WINDOW];
            self.lookup_burst(keys, &mut masks);
            for (found, mask) in found.iter_mut().zip(&masks) {
                *found = !mask.is_empty();
                hits += usize::from(*found);
            }
        }
        hits
    }

    /// Bytes that a lookup can touch.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.layout {
            Layout::Empty => 0,
            Layout::Blocks(blocks) => blocks.bytes(),
            Layout::Slots(slots) => slots.bytes(),
            Layout::Sorted(sorted) => sorted.bytes(),
        }
    }

    /// The pages of the largest column; `None` when it is small enough for the heap.
    pub(crate) fn pages(&self) -> Option<Pages> {
        match &self.layout {
            Layout::Empty | Layout::Sorted(_) => None,
            Layout::Blocks(blocks) => blocks.pages(),
            Layout::Slots(slots) => slots.pages(),
        }
    }
}

impl<A: Address> Layout<A> {
    fn class_count(&self) -> usize {
        match self {
            Self::Empty | Self::Sorted(_) => 0,
            Self::Blocks(blocks) => blocks.class_count(),
            Self::Slots(slots) => slots.class_count(),
        }
    }

    fn new(list_count: usize, runs: &Runs<A>) -> Result<Self, CompileError> {
        if runs.is_none() {
            return Ok(Self::Empty);
        }
        let fast = if A::BITS == 32 {
            Blocks::new(runs)?.map(|blocks| Self::Blocks(Box::new(blocks)))
        } else {
            Slots::new(list_count, runs)?.map(|slots| Self::Slots(Box::new(slots)))
        };
        match fast {
            Some(layout) => Ok(layout),
            None => Ok(Self::Sorted(Arc::new(Sorted::new(runs)?))),
        }
    }
}

/// The class of an answer; the classes are copied when a clone has them and they lack it.
fn class(classes: &mut Arc<Classes>, mask: u32) -> u32 {
    match classes.find(mask) {
        Some(class) => class,
        None => Arc::make_mut(classes).intern(mask),
    }
}

/// The answer at an address.
#[cfg(all(test, not(miri)))]
fn mask_at<A: Address>(runs: &BTreeMap<A, u32>, address: A) -> u32 {
    let before = runs.range(..=address).next_back();
    before.map_or(0, |(_, &mask)| mask)
}

fn no_memory(error: MemoryError) -> CompileError {
    CompileError::Memory {
        reason: error.to_string(),
    }
}

// Under Miri a root of 65,536 slots takes minutes to make and to change. The pages it lies in are
// tested so in `frame`, and small sets of networks in the tests of live lists.
#[cfg(all(test, not(miri)))]
mod change_tests;
#[cfg(all(test, not(miri)))]
mod tests;
