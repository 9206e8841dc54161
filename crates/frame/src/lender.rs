//! Frames lent to the kernel: turned into places in the Region, and back.
//!
//! A driver whose rings the kernel reads by address gives a [`Frame`] up while the kernel has its
//! chunk, and gets it back when the kernel names an address in it. Who has lent which chunk is
//! written in one array beside the Region, so an address that nobody lent, that another lender
//! lent, or that comes twice gives no frame: a `Frame` still exists exactly while user space owns
//! its chunk, whatever the other side says.
//!
//! A frame may be lent in pieces, each of which the other side gives back by itself: the array says
//! which of them are out, and the frame comes back with the last.

#[cfg(all(test, not(loom)))]
mod tests;

use std::sync::atomic::{
    AtomicU16,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::{frame::Frame, ids::PoolId, region::Region};

/// Who has lent each chunk of one pool.
#[derive(Debug)]
pub(crate) struct LentPool {
    id: PoolId,
    /// Where the chunks begin, from the start of the Region.
    start: usize,
    bytes: usize,
    /// Bytes from chunk to chunk, in units of 64: strides are multiples of it, and 32 bits hold
    /// the quotient of any pool, which divides three times as fast as 64.
    stride_lines: u32,
    /// The lender of each chunk, 0 where user space owns it, and above it a bit for each piece that
    /// is out of a frame lent in pieces. Every entry is written by the owner of its chunk alone,
    /// who handed it on with the frame.
    lenders: Box<[AtomicU16]>,
}

const LINE_BYTES: usize = 64;

/// Bits of an entry that are the lender's mark; those above are pieces.
const MARK_BITS: u32 = 13;
const MARK_MASK: u16 = (1 << MARK_BITS) - 1;

/// Bytes from the start of one piece of a frame to that of the next: a page, which is the most that
/// one descriptor of AF_XDP can name.
pub const PIECE_BYTES: usize = 4096;

/// The most pieces of a frame.
pub const PIECES_MAX: usize = (u16::BITS - MARK_BITS) as usize;

impl LentPool {
    pub(crate) fn new(id: PoolId, start: usize, frames: u32, stride_bytes: u32) -> LentPool {
        LentPool {
            id,
            start,
            bytes: frames as usize * stride_bytes as usize,
            stride_lines: stride_bytes / LINE_BYTES as u32,
            lenders: (0..frames).map(|_| AtomicU16::new(0)).collect(),
        }
    }

    pub(crate) fn stride_bytes(&self) -> u32 {
        self.stride_lines * LINE_BYTES as u32
    }

    fn holds(&self, offset: usize) -> bool {
        offset.wrapping_sub(self.start) < self.bytes
    }

    /// The chunk that an offset of this pool lies in.
    #[inline(always)]
    fn chunk_at(&self, offset: usize) -> u32 {
        let lines = (offset - self.start) / LINE_BYTES;
        match u32::try_from(lines) {
            Ok(lines) => lines / self.stride_lines,
            Err(_) => (lines / self.stride_lines as usize) as u32,
        }
    }
}

/// Lends frames of one Region to the kernel and takes them back; one for each queue.
///
/// Dropping it leaves what it has lent with the kernel, for ever.
#[derive(Debug)]
pub struct Lender {
    region: &'static Region,
    /// Written beside every chunk it lends; never 0.
    mark: u16,
    lent: u32,
    /// The pool of the last frame taken back: nearly always that of the next.
    recent: usize,
}

impl Lender {
    /// A lender of this Region's frames; `None` once it has given out 8,191.
    pub(crate) fn new(region: &'static Region, given_out: &AtomicU16) -> Option<Lender> {
        let next = |given: u16| (given < MARK_MASK).then_some(given + 1);
        let mark = given_out.fetch_update(Relaxed, Relaxed, next);
        Some(Lender {
            region,
            mark: mark.ok()? + 1,
            lent: 0,
            recent: 0,
        })
    }

    /// The Region whose frames it lends.
    #[must_use]
    pub fn region(&self) -> &'static Region {
        self.region
    }

    /// Frames lent and not yet taken back.
    #[inline(always)]
    #[must_use]
    pub fn lent(&self) -> u32 {
        self.lent
    }

    /// Gives a frame up: the offset of its first byte from the start of the Region.
    ///
    /// # Errors
    /// Gives the frame back when it is of another Region.
    #[inline]
    pub fn lend(&mut self, frame: Frame) -> Result<usize, Frame> {
        let Some(pool) = self.pool_of(&frame) else {
            return Err(frame);
        };
        Ok(self.lend_as(pool, frame, self.mark))
    }

    /// Gives a frame up in pieces of [`PIECE_BYTES`], the last one shorter: the offset of its first
    /// byte. Each piece comes back by [`Lender::take_back_piece`].
    ///
    /// # Errors
    /// Gives the frame back when it is of another Region, is empty, or reaches beyond the first
    /// [`PIECES_MAX`] times [`PIECE_BYTES`] of its chunk.
    pub fn lend_pieces(&mut self, frame: Frame) -> Result<usize, Frame> {
        let Some(pool) = self.pool_of(&frame) else {
            return Err(frame);
        };
        let first = frame.headroom() / PIECE_BYTES;
        let end = first + frame.len().div_ceil(PIECE_BYTES);
        if frame.len() == 0 || end > PIECES_MAX {
            return Err(frame);
        }
        let pieces = (first..end).fold(0, |pieces, piece| pieces | bit_of(piece));
        Ok(self.lend_as(pool, frame, self.mark | pieces))
    }

    fn pool_of(&self, frame: &Frame) -> Option<&'static LentPool> {
        let pools = self.region.lent_pools();
        let place = usize::from(frame.pool_id().0.wrapping_sub(pools[0].id.0));
        pools.get(place)
    }

    #[inline(always)]
    fn lend_as(&mut self, pool: &LentPool, frame: Frame, entry: u16) -> usize {
        let offset = frame.header_ptr().addr() - self.region.start_ptr().addr().get();
        let (_, chunk) = frame.end();
        debug_assert_eq!(pool.lenders[chunk as usize].load(Relaxed), 0);
        // Release: what was written to the frame comes before whatever its address is shown to.
        pool.lenders[chunk as usize].store(entry, Release);
        self.lent += 1;
        offset
    }

    /// Takes every frame back that is lent: for when the other side has let go of them all.
    pub fn take_all_back(&mut self, mut each: impl FnMut(Frame)) {
        let region = self.region;
        for pool in region.lent_pools() {
            let stride = pool.stride_bytes() as usize;
            for chunk in 0..pool.lenders.len() {
                let entry = &pool.lenders[chunk];
                if entry.load(Relaxed) & MARK_MASK == self.mark {
                    // Of a frame in pieces, all that are out are back.
                    entry.store(self.mark, Relaxed);
                }
                if let Some(frame) = self.take_back(pool.start + chunk * stride) {
                    each(frame);
                }
            }
        }
        debug_assert_eq!(self.lent, 0);
    }

    /// The frame whose chunk `offset` lies in, beginning there and empty; `None` unless this
    /// lender lent that chunk whole and has not taken it back.
    #[inline]
    pub fn take_back(&mut self, offset: usize) -> Option<Frame> {
        let (pool, chunk) = self.find(offset)?;
        let lender = pool.lenders.get(chunk as usize)?;
        if lender.load(Acquire) != self.mark {
            return None;
        }
        lender.store(0, Relaxed);
        self.lent -= 1;
        // SAFETY: `offset` is inside the pool's chunks, which lie in this Region's mapping.
        let data = unsafe { self.region.start_ptr().add(offset) };
        // SAFETY: the mark says that the frame of this chunk ended in `lend` of this lender, or in
        // `lend_pieces` of it and all pieces are back, and was not made anew since. Only this
        // lender writes over its own mark, and `&mut self` makes that one call at a time; so no
        // other `Frame` of the chunk exists. `data` is inside the chunk, of a registered pool.
        Some(unsafe { Frame::new(data, pool.id, chunk, 0) })
    }

    /// The frame of which a piece begins at `offset`, when it is the last of its pieces to come
    /// back: beginning there and empty. `Ok(None)` while others are out.
    ///
    /// # Errors
    /// This lender has not lent such a piece, or has taken it back.
    pub fn take_back_piece(&mut self, offset: usize) -> Result<Option<Frame>, NotLent> {
        let (pool, chunk) = self.find(offset).ok_or(NotLent)?;
        let lender = pool.lenders.get(chunk as usize).ok_or(NotLent)?;
        let in_chunk = offset - pool.start - chunk as usize * pool.stride_bytes() as usize;
        let piece = in_chunk / PIECE_BYTES;
        let entry = lender.load(Acquire);
        if entry & MARK_MASK != self.mark || piece >= PIECES_MAX || entry & bit_of(piece) == 0 {
            return Err(NotLent);
        }
        let left = entry & !bit_of(piece);
        lender.store(left, Relaxed);
        if left == self.mark {
            Ok(self.take_back(offset))
        } else {
            Ok(None)
        }
    }

    /// The pool and the chunk that an offset lies in.
    #[inline(always)]
    fn find(&mut self, offset: usize) -> Option<(&'static LentPool, u32)> {
        let pools = self.region.lent_pools();
        if !pools[self.recent].holds(offset) {
            self.recent = pools.iter().position(|pool| pool.holds(offset))?;
        }
        let pool = &pools[self.recent];
        Some((pool, pool.chunk_at(offset)))
    }
}

/// The bit of an entry for a piece.
#[inline(always)]
fn bit_of(piece: usize) -> u16 {
    1 << (MARK_BITS as usize + piece)
}

/// An address was named of which the lender has lent nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotLent;

impl core::fmt::Display for NotLent {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("no piece of a frame was lent that begins there")
    }
}

impl core::error::Error for NotLent {}
