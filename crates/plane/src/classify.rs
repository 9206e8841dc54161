//! What the frames of a burst are, and which lists their addresses are in.
//!
//! Three passes, so that no frame waits for memory alone: ask for every header; parse each frame
//! and gather its addresses into one column a family; look a whole column up at once, which keeps
//! many table lines in flight.

use frame::{BURST_MAX, Burst, Frame};
use table::{CompiledLists, ListMask};
use wire::{Family, Parsed};

use crate::policy::Matched;

/// Two addresses a frame: source, then destination.
const KEYS_MAX: usize = 2 * BURST_MAX;

/// The keys of one family and the answers to them.
#[derive(Debug)]
struct Column<A> {
    keys: [A; KEYS_MAX],
    masks: [ListMask; KEYS_MAX],
    len: usize,
}

impl<A: Copy> Column<A> {
    fn new(zero: A) -> Self {
        Self {
            keys: [zero; KEYS_MAX],
            masks: [ListMask(0); KEYS_MAX],
            len: 0,
        }
    }

    /// Adds a frame's pair and returns its place.
    #[inline]
    fn push(&mut self, src: A, dst: A) -> u16 {
        let place = self.len;
        if let Some([first, second]) = self.keys.get_mut(place..place + 2) {
            (*first, *second) = (src, dst);
            self.len = place + 2;
        }
        debug_assert!(
            self.len == place + 2,
            "a burst has at most {BURST_MAX} frames"
        );
        place as u16
    }

    #[inline]
    fn answer(&self, place: u16) -> Matched {
        match self.masks.get(usize::from(place)..usize::from(place) + 2) {
            Some(&[src, dst]) => Matched { src, dst },
            _ => Matched::default(),
        }
    }
}

/// The columns of a burst, reused from burst to burst; owned by one worker.
#[derive(Debug)]
pub struct Classifier {
    parsed: [Parsed; BURST_MAX],
    /// The place of a frame's pair in the column of its family.
    places: [u16; BURST_MAX],
    len: usize,
    v4: Column<u32>,
    v6: Column<u128>,
}

impl Classifier {
    /// Empty columns.
    #[must_use]
    pub fn new() -> Self {
        Self {
            parsed: [wire::parse(&[], 0); BURST_MAX],
            places: [0; BURST_MAX],
            len: 0,
            v4: Column::new(0),
            v6: Column::new(0),
        }
    }

    /// Parses every frame of the burst and looks up all its addresses.
    #[inline]
    pub fn classify(&mut self, burst: &Burst, lists: &CompiledLists) {
        Self::prefetch_headers(burst);
        self.parse(burst);
        self.look_up(lists);
    }

    /// The first pass: asks for every header.
    #[inline]
    pub fn prefetch_headers(burst: &Burst) {
        for frame in burst.frames() {
            frame::prefetch::read(frame.header_ptr());
        }
    }

    /// The second pass: parses every frame and gathers its addresses.
    #[inline]
    pub fn parse(&mut self, burst: &Burst) {
        self.parse_with(burst, |frame, parsed| {
            wire::parse_into(frame.bytes(), original_len(frame), parsed);
        });
    }

    /// The second pass with another parser. It is given the place's record as an earlier burst
    /// left it.
    #[inline(always)]
    pub fn parse_with(&mut self, burst: &Burst, mut parse: impl FnMut(&Frame, &mut Parsed)) {
        let frames = burst.frames();
        (self.v4.len, self.v6.len) = (0, 0);
        self.len = frames.len();
        let columns = self.parsed.iter_mut().zip(&mut self.places);
        for (frame, (parsed, place)) in frames.iter().zip(columns) {
            parse(frame, parsed);
            match parsed.family {
                Family::V4 => *place = self.v4.push(parsed.src as u32, parsed.dst as u32),
                Family::V6 => *place = self.v6.push(parsed.src, parsed.dst),
                Family::None => {}
            }
        }
    }

    /// The third pass: looks the columns up.
    #[inline]
    pub fn look_up(&mut self, lists: &CompiledLists) {
        lists.lookup_burst_v4(&self.v4.keys[..self.v4.len], &mut self.v4.masks);
        if self.v6.len != 0 {
            lists.lookup_burst_v6(&self.v6.keys[..self.v6.len], &mut self.v6.masks);
        }
    }

    /// What the parser saw, one place a frame of the last burst.
    #[must_use]
    #[inline]
    pub fn parsed(&self) -> &[Parsed] {
        &self.parsed[..self.len]
    }

    /// The lists that hold the addresses of the frame at `place`; an address that could not be
    /// read is in none.
    #[inline]
    pub(crate) fn matched(&self, place: usize) -> Matched {
        let (Some(parsed), Some(&key)) = (self.parsed.get(place), self.places.get(place)) else {
            return Matched::default();
        };
        let mut matched = match parsed.family {
            Family::V4 => self.v4.answer(key),
            Family::V6 => self.v6.answer(key),
            Family::None => Matched::default(),
        };
        if !parsed.readable.src() {
            matched.src = ListMask(0);
        }
        if !parsed.readable.dst() {
            matched.dst = ListMask(0);
        }
        matched
    }
}

impl Default for Classifier {
    fn default() -> Self {
        Self::new()
    }
}

/// The frame's length on the wire, which a capture may have cut, in bytes without FCS.
#[must_use]
#[inline]
pub fn original_len(frame: &Frame) -> usize {
    match frame.meta() {
        Some(meta) => (meta.original_len as usize).max(frame.len()),
        None => frame.len(),
    }
}
