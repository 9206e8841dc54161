//! A timer wheel: which flows may be over, without a walk over those that are not.
//!
//! A flow lies in the slot of the tick at which it would be over if nothing more came. Packets do
//! not move it: when its slot comes up it is looked at, and goes to the slot of its true time if
//! there was a packet since. So a flow costs one look a timeout at most, whatever its rate, and one
//! a turn of the wheel if its timeout is longer than that.

use crate::compiled::CompileError;
use crate::memory::{Slab, zeroed};

/// Slots of a wheel, one a tick.
pub(crate) const SLOTS: u32 = 256;

/// No item.
const NONE: u32 = u32::MAX;
/// Marks a link back that names a slot and not an item.
const IS_SLOT: u32 = 1 << 31;

/// Lists of items, one a tick for the next [`SLOTS`] ticks.
#[derive(Debug)]
pub(crate) struct Wheel {
    heads: Box<[u32; SLOTS as usize]>,
    /// Which slots are not empty.
    occupied: [u64; SLOTS as usize / 64],
    /// Before and after each item.
    links: Slab<[u32; 2]>,
    /// The first tick that is not done with.
    at: u32,
}

impl Wheel {
    /// An empty wheel for items `0..items`, at tick `at`.
    pub(crate) fn new(items: usize, at: u32) -> Result<Self, CompileError> {
        Ok(Self {
            heads: Box::new([NONE; SLOTS as usize]),
            occupied: [0; SLOTS as usize / 64],
            links: zeroed(items)?,
            at,
        })
    }

    /// Puts an item that is in no slot into the one of `tick`, or the nearest that the wheel has.
    #[inline]
    pub(crate) fn insert(&mut self, item: u32, tick: u32) {
        let ahead = tick.saturating_sub(self.at).min(SLOTS - 1);
        let slot = (self.at.wrapping_add(ahead) % SLOTS) as usize;
        let after = self.heads[slot];
        self.links[item as usize] = [slot as u32 | IS_SLOT, after];
        if after != NONE {
            self.links[after as usize][0] = item;
        }
        self.heads[slot] = item;
        self.occupied[slot / 64] |= 1 << (slot % 64);
    }

    /// Takes an item out of its slot.
    #[inline]
    pub(crate) fn remove(&mut self, item: u32) {
        let [before, after] = self.links[item as usize];
        if after != NONE {
            self.links[after as usize][0] = before;
        }
        if before & IS_SLOT == 0 {
            self.links[before as usize][1] = after;
            return;
        }
        let slot = (before & !IS_SLOT) as usize;
        self.heads[slot] = after;
        if after == NONE {
            self.occupied[slot / 64] &= !(1 << (slot % 64));
        }
    }

    /// Takes out an item whose tick is `now` or past, if there is one.
    #[inline]
    pub(crate) fn pop(&mut self, now: u32) -> Option<u32> {
        let next = self.next().filter(|&next| next <= now);
        let Some(next) = next else {
            self.at = self.at.max(now.saturating_add(1));
            return None;
        };
        self.at = next;
        let item = self.heads[(next % SLOTS) as usize];
        self.remove(item);
        Some(item)
    }

    /// The tick of the first slot that has items.
    #[inline]
    fn next(&self) -> Option<u32> {
        let ahead = self.next_from(self.at);
        (ahead < SLOTS).then(|| self.at.saturating_add(ahead))
    }

    /// The `N` items that come up first, or all there are.
    pub(crate) fn first<const N: usize>(&self) -> impl Iterator<Item = u32> + '_ {
        let (mut ahead, mut item) = (0, NONE);
        let one = move || {
            if item == NONE {
                ahead += self.next_from(self.at.wrapping_add(ahead));
                let slot = self.at.wrapping_add(ahead) % SLOTS;
                item = if ahead < SLOTS {
                    self.heads[slot as usize]
                } else {
                    NONE
                };
                ahead += 1;
            }
            let this = (item != NONE).then_some(item)?;
            item = self.links[this as usize][1];
            Some(this)
        };
        std::iter::from_fn(one).take(N)
    }

    /// All items, in no order.
    pub(crate) fn items(&self) -> impl Iterator<Item = u32> + '_ {
        let present = |item: u32| (item != NONE).then_some(item);
        let after = move |item: &u32| present(self.links[*item as usize][1]);
        let list = move |&head: &u32| std::iter::successors(present(head), after);
        self.heads.iter().flat_map(list)
    }

    /// Ticks from `tick` to the next slot that has items; [`SLOTS`] if none has.
    #[inline]
    fn next_from(&self, tick: u32) -> u32 {
        let from = tick % SLOTS;
        let (word, bit) = ((from / 64) as usize, from % 64);
        let first = self.occupied[word] >> bit;
        if first != 0 {
            return first.trailing_zeros();
        }
        let mut ahead = 64 - bit;
        for next in 1..=self.occupied.len() {
            let bits = self.occupied[(word + next) % self.occupied.len()];
            if bits != 0 {
                return ahead + bits.trailing_zeros();
            }
            ahead += 64;
        }
        SLOTS
    }
}
