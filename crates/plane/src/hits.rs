//! How often each set was hit, by side and by the port that frames came in by.

use table::LISTS_MAX;

use crate::Side;
use crate::ruleset::{Matched, PolicyMasks};

/// Hits by side; the place in each column is the list's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideHits {
    /// Frames whose source address is in the set.
    pub src: [u64; LISTS_MAX],
    /// Frames whose destination address is in the set.
    pub dst: [u64; LISTS_MAX],
}

impl SideHits {
    const NONE: Self = Self {
        src: [0; LISTS_MAX],
        dst: [0; LISTS_MAX],
    };

    /// The column of one side.
    #[must_use]
    pub fn of(&self, side: Side) -> &[u64; LISTS_MAX] {
        match side {
            Side::Src => &self.src,
            Side::Dst => &self.dst,
        }
    }
}

/// Counts of one pipeline, private to its worker; the place in each column is the list's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hits {
    /// Of frames that came in by each port, by its number.
    pub by_port: Vec<SideHits>,
    /// Frames that no block set stopped and that this count set would have stopped, were it a
    /// block set, whatever else became of them.
    pub would_drop: [u64; LISTS_MAX],
    /// Frames that no block set stopped and that at least one count set would have stopped.
    pub would_drop_frames: u64,
}

impl Hits {
    pub(crate) fn of_ports(ports: usize) -> Self {
        Self {
            by_port: vec![SideHits::NONE; ports],
            would_drop: [0; LISTS_MAX],
            would_drop_frames: 0,
        }
    }

    /// Counts from nothing.
    pub(crate) fn clear(&mut self) {
        self.by_port.fill(SideHits::NONE);
        self.would_drop = [0; LISTS_MAX];
        self.would_drop_frames = 0;
    }

    /// Hits of one side of the list at this place, whatever port frames came in by; 0 where there
    /// is no such list.
    #[must_use]
    pub fn of(&self, side: Side, list: usize) -> u64 {
        let at = |hits: &SideHits| hits.of(side).get(list).copied().unwrap_or(0);
        self.by_port.iter().map(at).sum()
    }

    /// Counts what matched one frame, whatever its verdict. `arrival` is the place of the port it
    /// came in by.
    #[inline]
    pub(crate) fn record(&mut self, arrival: usize, matched: Matched) {
        debug_assert!(arrival < self.by_port.len(), "frames come in by a port");
        if let Some(hits) = self.by_port.get_mut(arrival) {
            count_bits(matched.src.0, &mut hits.src);
            count_bits(matched.dst.0, &mut hits.dst);
        }
    }

    /// Counts a frame that no block set stopped, by the count sets that would have.
    #[inline]
    pub(crate) fn record_trial(&mut self, would_stop: u32) {
        count_bits(would_stop, &mut self.would_drop);
        self.would_drop_frames += u64::from(would_stop != 0);
    }
}

/// The count sets that would stop what matched so.
#[inline]
pub(crate) fn would_stop(matched: Matched, masks: &PolicyMasks) -> u32 {
    let exempt = |lists: u32, allow: u32| if lists & allow == 0 { lists } else { 0 };
    exempt(matched.src.0, masks.allow.src) & masks.count.src
        | exempt(matched.dst.0, masks.allow.dst) & masks.count.dst
}

#[inline]
fn count_bits(mut lists: u32, column: &mut [u64; LISTS_MAX]) {
    while lists != 0 {
        column[lists.trailing_zeros() as usize % LISTS_MAX] += 1;
        lists &= lists - 1;
    }
}
