//! Packets put together of their fragments, for ends: who has the whole can hash it and give it to
//! the worker of its flow.
//!
//! The other mode of [`crate::Fragments`], which passes fragments on as they are. Here all wait
//! until the last has come; then one frame has the headers of the first and the bytes of all.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use frame::{Frame, FramePool, Nanos};
use table::fragments::{FragmentCounts, FragmentLimits, FragmentTable, Lost, Met};
use wire::{Family, Fragment, Parsed, Piece, checksum};

use crate::fragments::{reason_of, reason_of_lost};
use crate::{DropReason, original_len};

/// What became of a frame.
#[derive(Debug)]
pub enum Reassembled {
    /// It is no fragment: whole, or no IP.
    Untouched(Frame),
    /// It waits.
    Held,
    /// It was the last that missed: here is the packet, in a new frame. Its fragments are consumed.
    Packet(Frame),
    /// It is of no use, for this reason.
    Lost(Frame, DropReason),
}

/// Packets of which some fragments have come; owned by one worker.
#[derive(Debug)]
pub struct Reassembler {
    table: FragmentTable<(), Frame>,
    now: Nanos,
    gathered: Vec<Frame>,
    lost: VecDeque<(Frame, DropReason)>,
}

impl Reassembler {
    /// No packets yet, and the memory for as many as the limits say.
    #[must_use]
    pub fn new(limits: FragmentLimits) -> Self {
        let table = FragmentTable::new(limits);
        let room = table.limits().held as usize + 1;
        Self {
            table,
            now: Nanos(0),
            gathered: Vec::with_capacity(room),
            lost: VecDeque::with_capacity(room),
        }
    }

    /// What time it is, by a clock that never goes back; ends what is over, some at a time.
    pub fn set_now(&mut self, now: Nanos) {
        self.now = now;
        let lost = &mut self.lost;
        self.table
            .expire(now, &mut |frame, why| keep(lost, frame, why));
    }

    /// What was counted.
    #[must_use]
    pub fn counts(&self) -> &FragmentCounts {
        self.table.counts()
    }

    /// Packets that are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// True when no packet is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Frames that it holds: that wait, and that waited in vain.
    #[must_use]
    pub fn held(&self) -> usize {
        self.table.held() + self.lost.len()
    }

    /// Bytes of memory; they do not change.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let queued = self.lost.capacity() * size_of::<(Frame, DropReason)>();
        self.table.bytes() + queued + self.gathered.capacity() * size_of::<Frame>()
    }

    /// Takes a frame in. A packet that becomes whole gets a frame of `pool`, and its fragments are
    /// freed there.
    pub fn accept(&mut self, frame: Frame, pool: &mut FramePool) -> Reassembled {
        let parsed = wire::parse(frame.bytes(), original_len(&frame));
        if parsed.fragment == Fragment::Whole {
            return Reassembled::Untouched(frame);
        }
        if let Some(fault) = parsed.fault {
            return Reassembled::Lost(frame, DropReason::Malformed(fault));
        }
        let Some(piece) = Piece::of(frame.bytes(), &parsed).filter(|_| !parsed.snapped) else {
            return Reassembled::Lost(frame, DropReason::FragmentUnknown);
        };
        let Self {
            table, lost, now, ..
        } = self;
        let mut keep = |frame, why| keep(lost, frame, why);
        let hash = table.hash(&piece.key, 0);
        let Met { id, complete } = match table.meet(&piece, (0, hash), *now, &mut keep) {
            Ok(met) => met,
            Err(refused) => return Reassembled::Lost(frame, reason_of(refused)),
        };
        if !complete {
            return match table.hold(id, frame, &mut keep) {
                Ok(()) => Reassembled::Held,
                Err((frame, why)) => Reassembled::Lost(frame, reason_of_lost(why)),
            };
        }
        let gathered = &mut self.gathered;
        table.release(id, &mut |frame| gathered.push(frame));
        table.finish(id);
        gathered.push(frame);
        self.put_together(pool)
    }

    /// Makes one frame of those gathered.
    fn put_together(&mut self, pool: &mut FramePool) -> Reassembled {
        let packet = pool.alloc().and_then(|mut packet| {
            if join(&mut packet, &self.gathered).is_some() {
                return Some(packet);
            }
            pool.free(packet);
            None
        });
        if let Some(packet) = packet {
            self.gathered.drain(..).for_each(|frame| pool.free(frame));
            return Reassembled::Packet(packet);
        }
        let reason = DropReason::FragmentTooLong;
        let mut gathered = self.gathered.drain(..);
        // There is one at least, the frame that completed the packet.
        let first = gathered.next();
        self.lost.extend(gathered.map(|frame| (frame, reason)));
        first.map_or(Reassembled::Held, |frame| Reassembled::Lost(frame, reason))
    }

    /// The next frame that waited in vain.
    pub fn next_lost(&mut self) -> Option<(Frame, DropReason)> {
        self.lost.pop_front()
    }

    /// Ends all that waits, as lost for this reason.
    pub fn clear(&mut self, reason: DropReason) {
        let lost = &mut self.lost;
        self.table
            .clear(&mut |frame, _| lost.push_back((frame, reason)));
    }
}

fn keep(lost: &mut VecDeque<(Frame, DropReason)>, frame: Frame, why: Lost) {
    lost.push_back((frame, reason_of_lost(why)));
}

/// Writes the packet that these fragments are all of; `None` where it is too long.
fn join(packet: &mut Frame, fragments: &[Frame]) -> Option<()> {
    let read = |frame: &Frame| {
        let parsed = wire::parse(frame.bytes(), original_len(frame));
        Piece::of(frame.bytes(), &parsed).map(|piece| (parsed, piece))
    };
    let mut end = 0;
    let mut head = None;
    for frame in fragments {
        let (parsed, piece) = read(frame)?;
        end = end.max(usize::from(piece.end));
        if piece.is_first() {
            head = Some((frame, parsed, piece));
        }
    }
    let (first, parsed, piece) = head?;
    let header = usize::from(parsed.l3_offset) + usize::from(piece.header);
    // The fragment header goes.
    let kept = if parsed.family == Family::V6 {
        header - 8
    } else {
        header
    };
    packet.set_len(kept + end).ok()?;
    let bytes = packet.bytes_mut();
    bytes[..kept].copy_from_slice(first.bytes().get(..kept)?);
    for frame in fragments {
        let (parsed, piece) = read(frame)?;
        let at = usize::from(parsed.l3_offset) + usize::from(piece.header);
        let (start, end) = (usize::from(piece.start), usize::from(piece.end));
        let data = frame.bytes().get(at..at + end - start)?;
        bytes[kept + start..kept + end].copy_from_slice(data);
    }
    mend(bytes, first.bytes(), &parsed, (kept, end))
}

/// Sets length, flags and checksum, or length and next header.
fn mend(
    bytes: &mut [u8],
    first: &[u8],
    parsed: &Parsed,
    (kept, end): (usize, usize),
) -> Option<()> {
    let l3 = usize::from(parsed.l3_offset);
    if parsed.family == Family::V6 {
        let length = u16::try_from(kept - l3 - 40 + end).ok()?;
        bytes[l3 + 4..l3 + 6].copy_from_slice(&length.to_be_bytes());
        let next = *first.get(kept)?;
        *bytes.get_mut(last_next_header(first, l3, kept)?)? = next;
        return Some(());
    }
    let length = u16::try_from(kept - l3 + end).ok()?;
    bytes[l3 + 2..l3 + 4].copy_from_slice(&length.to_be_bytes());
    bytes[l3 + 6..l3 + 8].copy_from_slice(&[0, 0]);
    bytes[l3 + 10..l3 + 12].copy_from_slice(&[0, 0]);
    let sum = checksum::checksum(&bytes[l3..kept]);
    bytes[l3 + 10..l3 + 12].copy_from_slice(&sum.to_be_bytes());
    Some(())
}

/// Where the header that ends at `end` says what follows: the fixed one, or the last extension.
fn last_next_header(bytes: &[u8], l3: usize, end: usize) -> Option<usize> {
    let (mut place, mut at) = (l3 + 6, l3 + 40);
    while at < end {
        place = at;
        at += 8 + 8 * usize::from(*bytes.get(at + 1)?);
    }
    Some(place)
}
