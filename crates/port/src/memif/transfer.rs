//! Frames out of a ring and into one. Each descriptor of the peer's is read once, held against the
//! bounds of its region, and from then on only the copy is used.

use frame::{Burst, Frame, FrameMeta, FramePool};

use super::link::{Direction, Piece};
use super::ring::{CONTINUES, Fault};
use crate::interface::Counts;
use crate::sys::memif_memory::Descriptor;

/// Descriptors read, and buffers whose load is begun, before the first is copied.
const AHEAD: usize = 32;
/// Buffers that one frame may be spread over.
const PIECES_MAX: usize = 256;

/// The receiving half of a queue.
#[derive(Debug)]
pub(super) struct Receiver {
    pub(super) direction: Direction,
    pieces: [Piece; AHEAD],
}

/// What became of a frame in several buffers.
enum Chain {
    /// It was received, or left out.
    Done,
    /// Not all of it is there, or there is no chunk for it.
    Later,
}

impl Receiver {
    pub(super) fn new(direction: Direction) -> Self {
        Self {
            direction,
            pieces: [Piece::default(); AHEAD],
        }
    }

    /// Appends up to `max` frames to the burst.
    pub(super) fn receive(
        &mut self,
        pool: &mut FramePool,
        burst: &mut Burst,
        max: usize,
        meta: FrameMeta,
        counts: &mut Counts,
    ) -> Result<(), Fault> {
        let mut room = max.min(burst.room());
        let mut given = false;
        let outcome = loop {
            if room == 0 {
                break Ok(());
            }
            let (count, chained) = match self.look(room.min(AHEAD)) {
                Ok(seen) => seen,
                Err(fault) => break Err(fault),
            };
            let taken = self.take(count, pool, burst, meta, counts);
            given |= taken > 0;
            room -= taken;
            if taken < count || !chained {
                if taken == count && count == AHEAD {
                    continue;
                }
                break Ok(());
            }
            if room == 0 {
                break Ok(());
            }
            match self.chain(pool, burst, meta, counts) {
                Ok(Chain::Done) => {
                    given = true;
                    room -= 1;
                }
                Ok(Chain::Later) => break Ok(()),
                Err(fault) => break Err(fault),
            }
        };
        if given {
            self.direction.ring.publish();
        }
        outcome
    }

    /// Reads descriptors of frames in one buffer, up to `max`; how many, and whether one that goes
    /// on in the next stands behind them.
    #[inline]
    fn look(&mut self, max: usize) -> Result<(usize, bool), Fault> {
        let available = usize::from(self.direction.ring.available(max as u16)?);
        for ahead in 0..available {
            let descriptor = self.direction.ring.read(ahead as u16);
            if descriptor.flags & CONTINUES != 0 {
                return Ok((ahead, true));
            }
            let piece = self.direction.piece(ahead as u16, descriptor)?;
            self.direction.memory(piece).prefetch(piece.offset);
            self.pieces[ahead] = piece;
        }
        Ok((available, false))
    }

    /// Copies the frames that [`Receiver::look`] found; how many, less where chunks are short.
    #[inline]
    fn take(
        &mut self,
        count: usize,
        pool: &mut FramePool,
        burst: &mut Burst,
        meta: FrameMeta,
        counts: &mut Counts,
    ) -> usize {
        let mut spare: Option<Frame> = None;
        let mut taken = 0;
        for index in 0..count {
            let piece = self.pieces[index];
            let Some(mut frame) = spare.take().or_else(|| pool.alloc()) else {
                break;
            };
            taken += 1;
            let len = piece.len as usize;
            let fits = frame.set_len(len).is_ok()
                && self
                    .direction
                    .memory(piece)
                    .read(piece.offset, frame.bytes_mut());
            if !fits {
                counts.too_long();
                spare = Some(frame);
                continue;
            }
            *frame.meta_mut() = meta;
            counts.passed.rx_frames += 1;
            counts.passed.rx_bytes += len as u64;
            spare = burst.push(frame).err();
        }
        if let Some(frame) = spare {
            pool.free(frame);
        }
        self.give_back(taken as u16, false);
        taken
    }

    /// Gives the first `count` descriptors back, for a follower with empty buffers in them.
    #[inline]
    fn give_back(&mut self, count: u16, chained: bool) {
        let direction = &mut self.direction;
        for ahead in 0..count {
            match direction.empty(ahead) {
                Some(empty) => direction.ring.write(ahead, empty),
                // DPDK's client leaves the mark of an earlier frame in a descriptor that it uses
                // again, so it is taken away here: it is still ours.
                None if chained => {
                    let said = direction.ring.read(ahead);
                    let flags = said.flags & !CONTINUES;
                    direction.ring.write(ahead, Descriptor { flags, ..said });
                }
                None => break,
            }
        }
        direction.ring.advance(count);
    }

    /// Puts a frame in several buffers together. One that is longer than a chunk is left out.
    #[cold]
    fn chain(
        &mut self,
        pool: &mut FramePool,
        burst: &mut Burst,
        meta: FrameMeta,
        counts: &mut Counts,
    ) -> Result<Chain, Fault> {
        let Some(mut frame) = pool.alloc() else {
            return Ok(Chain::Later);
        };
        let gathered = self.gather(&mut frame);
        let (count, fits) = match gathered {
            Ok(Some(gathered)) => gathered,
            Ok(None) => {
                pool.free(frame);
                return Ok(Chain::Later);
            }
            Err(fault) => {
                pool.free(frame);
                return Err(fault);
            }
        };
        self.give_back(count, true);
        if !fits {
            counts.too_long();
            pool.free(frame);
            return Ok(Chain::Done);
        }
        *frame.meta_mut() = meta;
        counts.passed.rx_frames += 1;
        counts.passed.rx_bytes += frame.len() as u64;
        if let Err(frame) = burst.push(frame) {
            pool.free(frame);
        }
        Ok(Chain::Done)
    }

    /// Copies a frame together; of how many buffers it is, and whether it fits. `None` where its
    /// end is not there yet.
    fn gather(&mut self, frame: &mut Frame) -> Result<Option<(u16, bool)>, Fault> {
        let entries = self.direction.ring.entries();
        let (mut len, mut fits) = (0, true);
        for ahead in 0..entries {
            if self.direction.ring.available(ahead + 1)? <= ahead {
                return Ok(None);
            }
            let descriptor = self.direction.ring.read(ahead);
            let piece = self.direction.piece(ahead, descriptor)?;
            let end = len + piece.len as usize;
            fits = fits
                && frame.set_len(end).is_ok()
                && self
                    .direction
                    .memory(piece)
                    .read(piece.offset, &mut frame.bytes_mut()[len..]);
            len = if fits { end } else { len };
            if descriptor.flags & CONTINUES == 0 {
                return Ok(Some((ahead + 1, fits)));
            }
        }
        Err(Fault::Endless)
    }
}

/// The sending half of a queue.
#[derive(Debug)]
pub(super) struct Sender {
    pub(super) direction: Direction,
    pieces: Box<[Piece; PIECES_MAX]>,
}

/// What can be done with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    /// So many buffers hold it.
    Here(usize),
    /// Not now.
    Later,
    /// Never: it needs more buffers than there are.
    Never,
}

impl Sender {
    pub(super) fn new(direction: Direction) -> Self {
        Self {
            direction,
            pieces: Box::new([Piece::default(); PIECES_MAX]),
        }
    }

    /// Copies frames from the front of a burst into buffers: how many are done with, and of those
    /// how many can never be sent.
    pub(super) fn send(
        &mut self,
        frames: &[Frame],
        counts: &mut Counts,
    ) -> Result<(usize, u64), Fault> {
        let (mut done, mut refused) = (0, 0);
        let mut shown = false;
        let outcome = loop {
            let Some(frame) = frames.get(done) else {
                break Ok(());
            };
            match self.find(frame.len()) {
                Ok(Room::Here(count)) => {
                    self.put(frame.bytes(), count);
                    counts.passed.tx_frames += 1;
                    counts.passed.tx_bytes += frame.len() as u64;
                    shown = true;
                }
                Ok(Room::Later) => break Ok(()),
                Ok(Room::Never) => {
                    refused += 1;
                }
                Err(fault) => break Err(fault),
            }
            done += 1;
        };
        if shown {
            self.direction.ring.publish();
        }
        // Frames that went into buffers are gone, whatever is wrong with the next.
        match outcome {
            Err(fault) if done == 0 => Err(fault),
            _ => Ok((done, refused)),
        }
    }

    /// Finds buffers for a frame of `len` bytes.
    #[inline]
    fn find(&mut self, len: usize) -> Result<Room, Fault> {
        let direction = &mut self.direction;
        let (mut room, mut count) = (0, 0);
        while room < len || count == 0 {
            if count == PIECES_MAX || count == usize::from(direction.ring.entries()) {
                return Ok(Room::Never);
            }
            let ahead = count as u16;
            if direction.ring.available(ahead + 1)? <= ahead {
                return Ok(Room::Later);
            }
            let piece = match direction.empty(ahead) {
                Some(own) => Piece {
                    region: 0,
                    offset: own.offset,
                    len: own.len,
                },
                None => {
                    let said = direction.ring.read(ahead);
                    direction.piece(ahead, said)?
                }
            };
            if piece.len == 0 {
                return Err(Fault::Buffer);
            }
            self.pieces[count] = piece;
            room += piece.len as usize;
            count += 1;
        }
        Ok(Room::Here(count))
    }

    /// Copies a frame into the first `count` buffers and gives them to the peer.
    #[inline]
    fn put(&mut self, mut bytes: &[u8], count: usize) {
        let direction = &mut self.direction;
        for (ahead, piece) in self.pieces[..count].iter().enumerate() {
            let (here, rest) = bytes.split_at(bytes.len().min(piece.len as usize));
            // It lies within: `find` has held it against the region.
            let _within = direction.memory(*piece).write(piece.offset, here);
            let goes_on = ahead + 1 < count;
            let descriptor = Descriptor {
                flags: if goes_on { CONTINUES } else { 0 },
                region: piece.region,
                len: here.len() as u32,
                offset: piece.offset,
                metadata: 0,
            };
            direction.ring.write(ahead as u16, descriptor);
            bytes = rest;
        }
        direction.ring.advance(count as u16);
    }
}
