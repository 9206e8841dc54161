//! Who gives way where there is no room: drawn at random, so that no order of arrival helps, and
//! from sources with more.

use super::{FragmentTable, Lost};

/// Draws of datagrams of one source before it is refused one.
const DRAWS: u32 = 8;

impl<V: Copy, T> FragmentTable<V, T> {
    /// Gives up one of two drawn at random, that of the source which has more.
    pub(super) fn evict(&mut self, lost: &mut impl FnMut(T, Lost)) {
        let [one, other] = [self.drawn(), self.drawn()];
        let weight = |at: u32| self.sources.weight(self.records[at as usize].source);
        let at = if weight(one) >= weight(other) {
            one
        } else {
            other
        };
        self.counts.evicted += 1;
        self.end(at, Lost::Evicted, lost);
    }

    /// Gives up one of this source, if a few draws find one.
    pub(super) fn evict_of(&mut self, source: u16, lost: &mut impl FnMut(T, Lost)) -> bool {
        for _ in 0..DRAWS {
            let at = self.drawn();
            let record = &self.records[at as usize];
            if record.is_used() && record.source == source {
                self.counts.evicted += 1;
                self.end(at, Lost::Source, lost);
                return true;
            }
        }
        false
    }

    /// A record at random.
    fn drawn(&mut self) -> u32 {
        ((u64::from(self.random()) * self.records.len() as u64) >> 32) as u32
    }

    /// Xorshift: nobody outside knows where it began.
    fn random(&mut self) -> u32 {
        self.draw ^= self.draw << 13;
        self.draw ^= self.draw >> 7;
        self.draw ^= self.draw << 17;
        (self.draw >> 32) as u32
    }

    /// Gives up a datagram that something waits for: of this source, or of two drawn that of the
    /// source which has more waiting.
    pub(super) fn make_room(&mut self, source: Option<u16>, lost: &mut impl FnMut(T, Lost)) {
        let (mut found, mut weight, mut seen) = (None, 0, 0);
        for _ in 0..DRAWS {
            let draw = self.random();
            let Some(at) = self.held.owner(draw) else {
                continue;
            };
            let of = self.records[at as usize].source;
            let (fits, enough) = match source {
                Some(source) => (of == source, of == source),
                None => (self.sources.waiting(of) > weight, seen == 1),
            };
            seen += 1;
            if fits {
                weight = self.sources.waiting(of);
                found = Some(at);
            }
            if enough {
                break;
            }
        }
        if let Some(at) = found {
            self.counts.evicted += 1;
            let why = source.map_or(Lost::Evicted, |_| Lost::Source);
            self.end(at, why, lost);
        }
    }
}
