//! Cuts text into blocks of whole lines, in one buffer, whatever the pieces it comes in.

use crate::error::ListError;
use crate::ipv4::WINDOW_BYTES;
use crate::source::Text;
use std::ops::Range;

/// The lines of a text, a block at a time.
pub(crate) struct Lines<'r> {
    text: Text<'r>,
    /// Zeros or what was there before from `filled` on; the last [`WINDOW_BYTES`] stay unused,
    /// so that a window can be loaded at any byte of a line.
    buffer: Vec<u8>,
    start: usize,
    filled: usize,
    /// No line end lies before here, from `start` on.
    searched: usize,
    line_bytes_max: usize,
    /// Inside a line whose beginning was thrown away.
    skipping: bool,
    ended: bool,
}

/// Some of a text.
pub(crate) enum Piece<'a> {
    /// Whole lines.
    Block(Block<'a>),
    /// A line longer than the bound, most of it thrown away.
    TooLong,
}

/// Whole lines, each with its `\n`.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a> {
    /// The lines, and enough of anything after them to load a window at the last line end.
    pub(crate) bytes: &'a [u8],
    /// Where the lines end.
    pub(crate) end: usize,
}

impl<'r> Lines<'r> {
    pub(crate) fn new(text: Text<'r>, block_bytes: usize, line_bytes_max: usize) -> Self {
        let room = line_bytes_max
            .saturating_add(block_bytes.max(1))
            .saturating_add(1);
        let buffer = vec![0; room.saturating_add(WINDOW_BYTES)];
        Self {
            text,
            buffer,
            start: 0,
            filled: 0,
            searched: 0,
            line_bytes_max,
            skipping: false,
            ended: false,
        }
    }

    /// The next lines; `None` at the end. A last line without `\n` is given one.
    pub(crate) fn next(&mut self) -> Result<Option<Piece<'_>>, ListError> {
        loop {
            if self.skipping {
                if self.skip() {
                    return Ok(Some(Piece::TooLong));
                }
            } else if let Some(lines) = self.whole_lines() {
                let bytes = &self.buffer[lines.start..];
                return Ok(Some(Piece::Block(Block {
                    bytes,
                    end: lines.len(),
                })));
            } else if self.ended {
                return Ok(None);
            } else if self.filled - self.start > self.line_bytes_max {
                self.skipping = true;
                continue;
            }
            self.fill()?;
        }
    }

    /// Takes the whole lines out of what was read.
    fn whole_lines(&mut self) -> Option<Range<usize>> {
        if self.ended && self.start < self.filled && self.buffer[self.filled - 1] != b'\n' {
            // There is room: the unused bytes at the end of the buffer.
            self.buffer[self.filled] = b'\n';
            self.filled += 1;
            self.searched = self.filled - 1;
        }
        let new = &self.buffer[self.searched..self.filled];
        let last = new.iter().rposition(|&byte| byte == b'\n');
        let found = last.map(|at| self.start..self.searched + at + 1);
        self.searched = self.filled;
        self.start = found.as_ref().map_or(self.start, |lines| lines.end);
        found
    }

    /// Throws away the rest of a line; true when its end was found.
    fn skip(&mut self) -> bool {
        let rest = &self.buffer[self.start..self.filled];
        let end = rest.iter().position(|&byte| byte == b'\n');
        self.start = end.map_or(self.filled, |at| self.start + at + 1);
        self.searched = self.start;
        let done = end.is_some() || self.ended;
        self.skipping = !done;
        done
    }

    fn fill(&mut self) -> Result<(), ListError> {
        let room_end = self.buffer.len() - WINDOW_BYTES;
        if self.start == self.filled || self.filled == room_end {
            self.buffer.copy_within(self.start..self.filled, 0);
            self.filled -= self.start;
            self.searched -= self.start;
            self.start = 0;
        }
        debug_assert!(
            self.filled < room_end,
            "a line of the bound and a byte more has room"
        );
        let count = self
            .text
            .read_into(&mut self.buffer[self.filled..room_end])?;
        self.filled += count;
        self.ended = count == 0;
        Ok(())
    }
}

impl<'a> Block<'a> {
    /// The line at `at` without its `\n`, and where the next begins.
    pub(crate) fn line_at(self, at: usize) -> (&'a [u8], usize) {
        let rest = &self.bytes[at..self.end];
        let end = line_end(rest).unwrap_or(rest.len());
        (&rest[..end], at + end + 1)
    }

    /// The lines without their `\n`.
    pub(crate) fn lines(self) -> impl Iterator<Item = &'a [u8]> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let (line, next) = (at < self.end).then(|| self.line_at(at))?;
            at = next;
            Some(line)
        })
    }
}

/// Where the first `\n` is. Whole chunks without one are told at vector speed.
fn line_end(bytes: &[u8]) -> Option<usize> {
    let is_end = |byte: &u8| *byte == b'\n';
    let chunks = bytes.chunks(32);
    let without = |chunk: &&[u8]| !chunk.iter().fold(false, |found, byte| found | is_end(byte));
    let start = 32 * chunks.take_while(without).count();
    let at = bytes.get(start..)?.iter().position(is_end)?;
    Some(start + at)
}
