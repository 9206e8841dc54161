//! The addresses of a burst, those of one family side by side.

use frame::BURST_MAX;
use table::ListMask;
use wire::parse::TUNNELS_MAX;

use crate::ruleset::Matched;

/// Two addresses a packet, source, then destination, of those inside others, too.
const KEYS_MAX: usize = 2 * BURST_MAX * (1 + TUNNELS_MAX);

const _: () = assert!(BURST_MAX <= 1 << u8::BITS, "a frame's place fits a byte");

/// The keys of one family and the answers to them.
#[derive(Debug)]
pub(super) struct Column<A> {
    keys: [A; KEYS_MAX],
    masks: [ListMask; KEYS_MAX],
    /// Whose pair it is: places in the burst, by pair, for those of outermost packets.
    owners: [u8; BURST_MAX],
    /// Keys.
    len: usize,
    /// Keys of outermost packets, which come first.
    outer_len: usize,
}

impl<A: Copy> Column<A> {
    pub(super) fn new(zero: A) -> Self {
        Self {
            keys: [zero; KEYS_MAX],
            masks: [ListMask(0); KEYS_MAX],
            owners: [0; BURST_MAX],
            len: 0,
            outer_len: 0,
        }
    }

    /// Adds the pair of a packet inside another; returns its place.
    pub(super) fn push_inner(&mut self, src: A, dst: A) -> Option<usize> {
        let place = self.len;
        let [first, second] = self.keys.get_mut(place..place + 2)? else {
            return None;
        };
        (*first, *second) = (src, dst);
        self.len = place + 2;
        Some(place / 2)
    }

    /// The place of the pair of this frame's outermost packet, if it is of this family.
    pub(super) fn pair_of(&self, owner: usize) -> Option<usize> {
        let owners = &self.owners[..self.outer_len / 2];
        owners.binary_search(&(owner as u8)).ok()
    }

    /// The answers to a pair.
    pub(super) fn matched(&self, pair: usize) -> Matched {
        match self.masks.get(2 * pair..2 * pair + 2) {
            Some(&[src, dst]) => Matched { src, dst },
            _ => Matched::default(),
        }
    }

    /// Whether there is nothing to look up.
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All keys, and where their answers go.
    #[inline(always)]
    pub(super) fn questions(&mut self) -> (&[A], &mut [ListMask]) {
        (&self.keys[..self.len], &mut self.masks)
    }

    /// The keys of packets inside others, and where their answers go.
    pub(super) fn questions_inside(&mut self) -> (&[A], &mut [ListMask]) {
        let inside = self.outer_len..self.len;
        (&self.keys[inside.clone()], &mut self.masks[inside])
    }

    /// Makes room for the pairs of a burst.
    #[inline(always)]
    pub(super) fn gather(&mut self) -> Gathering<'_, A> {
        Gathering {
            // A column has room for several pairs a frame.
            pairs: &mut self.keys.as_chunks_mut().0[..BURST_MAX],
            owners: &mut self.owners,
            lens: [&mut self.len, &mut self.outer_len],
            count: 0,
        }
    }

    /// Tells the pairs that are in a list of `any`, by the places of their frames.
    ///
    /// Hits are rare in most traffic: a burst without one costs a compare. Where there are some,
    /// a branch a pair on what is as good as random is mispredicted about once a hit, so their
    /// places are gathered first, without one. With a tenth of all frames hits that takes 1.2 ns a
    /// frame of a burst of 256, and 2.0 with a branch a pair in chunks of eight that are not
    /// empty; with a hundredth 1.0 and 0.6 (medians of 31 rounds in turn, Zen 3).
    #[inline(always)]
    pub(super) fn each_match(&self, any: Matched, mut each: impl FnMut(usize, Matched)) {
        let pairs = self.masks[..self.outer_len].as_chunks::<2>().0;
        let wanted = |&[src, dst]: &[ListMask; 2]| src.0 & any.src.0 | dst.0 & any.dst.0;
        if pairs.iter().fold(0, |joined, pair| joined | wanted(pair)) == 0 {
            return;
        }
        let mut found = [0_u8; BURST_MAX];
        let mut count = 0;
        for (place, pair) in pairs.iter().enumerate() {
            found[count % BURST_MAX] = place as u8;
            count += usize::from(wanted(pair) != 0);
        }
        for &place in &found[..count] {
            let Some(&[src, dst]) = pairs.get(usize::from(place)) else {
                return;
            };
            let (src, dst) = (src & any.src, dst & any.dst);
            let owner = self.owners[usize::from(place) % BURST_MAX];
            each(usize::from(owner), Matched { src, dst });
        }
    }
}

/// The pairs of a burst while it is parsed. They are counted here, in a register, and the column
/// has their number when this is dropped: there it was stored and read back for each frame.
pub(super) struct Gathering<'a, A> {
    pairs: &'a mut [[A; 2]],
    owners: &'a mut [u8; BURST_MAX],
    lens: [&'a mut usize; 2],
    count: usize,
}

impl<A> Gathering<'_, A> {
    /// Adds the pair of the frame at place `owner`.
    #[inline(always)]
    pub(super) fn push(&mut self, owner: usize, src: A, dst: A) {
        debug_assert!(
            self.count < BURST_MAX,
            "a burst has at most {BURST_MAX} frames"
        );
        let place = self.count % BURST_MAX;
        if let Some(pair) = self.pairs.get_mut(place) {
            *pair = [src, dst];
            self.owners[place] = owner as u8;
            self.count += 1;
        }
    }
}

impl<A> Drop for Gathering<'_, A> {
    #[inline(always)]
    fn drop(&mut self) {
        for len in &mut self.lens {
            **len = 2 * self.count;
        }
    }
}
