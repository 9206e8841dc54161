//! A timer wheel: which flows may be over, without a walk over those that are not.
//!
//! A flow lies in the slot of the tick at which it would be over if nothing more came. Packets do
//! not move it: when its slot comes up it is looked at, and goes to the slot of its true time if
//! there was a packet since. So a flow costs one look a timeout at most, whatever its rate, and one
//! a turn of the wheel if its timeout is longer than that.
//!
//! A slot is a list of lines of 14 items, all full but the first one. So what comes up is known
//! many at a time, and their records can be asked for together: with items linked one by one a look
//! waited for memory three times.

use crate::compiled::CompileError;
use crate::memory::pieces;
use frame::HugePiece;
use zerocopy::FromZeros;

/// Slots of a wheel, one a tick.
pub(crate) const SLOTS: u32 = 256;
/// Items of a line.
pub(crate) const PER_LINE: usize = 14;
/// No line.
const NONE: u32 = u32::MAX;

/// Items of one slot.
#[derive(Clone, Copy, Debug, FromZeros)]
#[repr(C, align(64))]
pub(crate) struct Line {
    /// The next line of the slot, or of those that are free.
    next: u32,
    slot: u16,
    count: u16,
    items: [u32; PER_LINE],
}

/// Where in a wheel an item is: its line, times 16, and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromZeros)]
#[repr(transparent)]
pub(crate) struct Spot(pub(crate) u32);

impl Spot {
    fn new(line: u32, place: usize) -> Self {
        Self(line << 4 | place as u32)
    }

    fn line(self) -> usize {
        (self.0 >> 4) as usize
    }

    fn place(self) -> usize {
        (self.0 & 15) as usize
    }
}

/// Lists of items, one a tick for the next [`SLOTS`] ticks.
#[derive(Debug)]
pub(crate) struct Wheel {
    /// The first line of each slot.
    heads: Box<[u32; SLOTS as usize]>,
    /// Which slots are not empty.
    occupied: [u64; SLOTS as usize / 64],
    lines: HugePiece<Line>,
    /// Lines that were used and are free.
    free: u32,
    /// Lines from here on were never used.
    fresh: u32,
    /// The first tick that is not done with.
    at: u32,
}

/// Lines that so many items can take: a slot has one that is not full.
fn lines_for(items: usize) -> usize {
    items.div_ceil(PER_LINE) + items.min(SLOTS as usize)
}

impl Wheel {
    /// Empty wheels for `items` items each, at tick 0.
    pub(crate) fn several(items: usize, count: usize) -> Result<Vec<Self>, CompileError> {
        let wheel = |lines| Self {
            heads: Box::new([NONE; SLOTS as usize]),
            occupied: [0; SLOTS as usize / 64],
            lines,
            free: NONE,
            fresh: 0,
            at: 0,
        };
        let lines = pieces(lines_for(items), count)?;
        Ok(lines.into_iter().map(wheel).collect())
    }

    /// Puts an item that is in no slot into the one of `tick`, or the nearest that the wheel has.
    #[inline]
    pub(crate) fn insert(&mut self, item: u32, tick: u32) -> Spot {
        let slot = self.slot_of(tick);
        let mut head = self.heads[slot];
        if head == NONE || usize::from(self.lines[head as usize].count) == PER_LINE {
            head = self.line_for(slot, head);
        }
        let line = &mut self.lines[head as usize];
        let place = usize::from(line.count);
        line.items[place] = item;
        line.count += 1;
        Spot::new(head, place)
    }

    #[inline]
    fn slot_of(&self, tick: u32) -> usize {
        let ahead = tick.saturating_sub(self.at).min(SLOTS - 1);
        (self.at.wrapping_add(ahead) % SLOTS) as usize
    }

    /// True when an item that is at `spot` would go there again.
    #[inline]
    pub(crate) fn is_in_slot_of(&self, spot: Spot, tick: u32) -> bool {
        usize::from(self.lines[spot.line()].slot) == self.slot_of(tick)
    }

    /// A line more at the head of a slot.
    fn line_for(&mut self, slot: usize, next: u32) -> u32 {
        let line = if self.free == NONE {
            self.fresh += 1;
            self.fresh - 1
        } else {
            let line = self.free;
            self.free = self.lines[line as usize].next;
            line
        };
        self.lines[line as usize] = Line {
            next,
            slot: slot as u16,
            count: 0,
            items: [0; PER_LINE],
        };
        self.heads[slot] = line;
        self.occupied[slot / 64] |= 1 << (slot % 64);
        line
    }

    /// Takes an item out of its slot. Another one may take its spot: which, and where it is now.
    #[inline]
    pub(crate) fn remove(&mut self, spot: Spot) -> Option<(u32, Spot)> {
        let slot = usize::from(self.lines[spot.line()].slot);
        let head = self.heads[slot];
        let first = &mut self.lines[head as usize];
        first.count -= 1;
        let last = usize::from(first.count);
        let item = first.items[last];
        if last == 0 {
            self.release(slot);
        }
        if spot == Spot::new(head, last) {
            return None;
        }
        self.lines[spot.line()].items[spot.place()] = item;
        Some((item, spot))
    }

    /// Frees the first line of a slot, which is empty.
    fn release(&mut self, slot: usize) {
        let line = self.heads[slot];
        let next = std::mem::replace(&mut self.lines[line as usize].next, self.free);
        self.free = line;
        self.heads[slot] = next;
        if next == NONE {
            self.occupied[slot / 64] &= !(1 << (slot % 64));
        }
    }

    /// Takes out items whose tick is `now` or past, as many as `taken` has room for and a line
    /// holds; returns how many.
    #[inline]
    pub(crate) fn take(&mut self, now: u32, taken: &mut [u32]) -> usize {
        let next = self.next().filter(|&next| next <= now);
        let Some(next) = next else {
            self.at = self.at.max(now.saturating_add(1));
            return 0;
        };
        self.at = next;
        let slot = (next % SLOTS) as usize;
        let line = &mut self.lines[self.heads[slot] as usize];
        let count = usize::from(line.count);
        let left = count.saturating_sub(taken.len());
        taken[..count - left].copy_from_slice(&line.items[left..count]);
        line.count = left as u16;
        if left == 0 {
            self.release(slot);
        }
        count - left
    }

    /// The tick of the first slot that has items.
    #[inline]
    fn next(&self) -> Option<u32> {
        let ahead = self.next_from(self.at);
        (ahead < SLOTS).then(|| self.at.saturating_add(ahead))
    }

    /// The items that come up first, as many as there is room for; returns how many.
    pub(crate) fn first(&self, found: &mut [u32]) -> usize {
        let (mut ahead, mut count) = (0, 0);
        while ahead < SLOTS {
            ahead += self.next_from(self.at.wrapping_add(ahead));
            let slot = self.at.wrapping_add(ahead) % SLOTS;
            if ahead < SLOTS {
                for (place, item) in found[count..].iter_mut().zip(self.slot(slot as usize)) {
                    *place = item;
                    count += 1;
                }
            }
            if count == found.len() {
                break;
            }
            ahead += 1;
        }
        count
    }

    /// The items of a slot.
    fn slot(&self, slot: usize) -> impl Iterator<Item = u32> + '_ {
        let line = |number: u32| self.lines.get(number as usize);
        let lines = std::iter::successors(line(self.heads[slot]), move |one| line(one.next));
        lines.flat_map(|line| line.items[..usize::from(line.count)].iter().copied())
    }

    /// All items, in no order.
    pub(crate) fn items(&self) -> impl Iterator<Item = u32> + '_ {
        (0..SLOTS as usize).flat_map(|slot| self.slot(slot))
    }

    /// Bytes of its lines and heads.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.lines) + size_of_val(&*self.heads)
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
