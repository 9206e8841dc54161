//! A window over the bytes of a capture: as many in memory as the next record needs.

use std::io::ErrorKind;

use super::Source;

/// Bytes asked of a file at once: system calls vanish beside the copying from 64 KiB on, and 256
/// KiB stay within the second-level cache.
const READ_BYTES: usize = 256 * 1024;

/// What asking for bytes came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// They are there.
    Ready,
    /// Not yet: a pipe has no more for now.
    Waiting,
    /// They will never be: the capture ends before.
    Ended,
}

/// The bytes not yet consumed, and the source of more.
pub(super) struct Window {
    source: Source,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes consumed before `start`.
    offset: u64,
    /// Bytes still to be passed over before anything else.
    to_skip: u64,
    /// Why reading ended before the source did, if it did.
    failure: Option<std::io::Error>,
    at_end: bool,
    /// Whether a packed capture ended before its packing did.
    cut: bool,
}

impl Window {
    pub(super) fn new(source: Source) -> Self {
        Self {
            source,
            buffer: vec![0; READ_BYTES],
            start: 0,
            end: 0,
            offset: 0,
            to_skip: 0,
            failure: None,
            at_end: false,
            cut: false,
        }
    }

    pub(super) const fn source(&self) -> &Source {
        &self.source
    }

    pub(super) fn into_source(self) -> Source {
        self.source
    }

    /// The bytes that are there.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The first `count` bytes, which a [`Self::fill`] said are there, consumed.
    #[inline]
    pub(super) fn take(&mut self, count: usize) -> &[u8] {
        let from = self.start;
        self.start = (from + count).min(self.end);
        self.offset += (self.start - from) as u64;
        &self.buffer[from..self.start]
    }

    /// Passes over bytes, now or as they arrive.
    pub(super) fn skip(&mut self, count: u64) {
        self.to_skip += count;
    }

    /// Bytes consumed so far: where in the (unpacked) capture the next record begins.
    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }

    /// The error that ended reading, if it was not the end of the file.
    pub(super) const fn failure(&self) -> Option<&std::io::Error> {
        self.failure.as_ref()
    }

    /// Whether nothing is left at all, so that an end here is a clean one.
    pub(super) const fn is_empty(&self) -> bool {
        self.start == self.end && self.to_skip == 0 && !self.cut
    }

    /// Sees to it that `count` bytes are there.
    #[inline]
    pub(super) fn fill(&mut self, count: usize) -> Fill {
        if self.to_skip == 0 && self.end - self.start >= count {
            return Fill::Ready;
        }
        self.fill_slowly(count)
    }

    #[cold]
    fn fill_slowly(&mut self, count: usize) -> Fill {
        loop {
            self.pass_over();
            if self.to_skip == 0 && self.end - self.start >= count {
                return Fill::Ready;
            }
            if self.at_end {
                return Fill::Ended;
            }
            self.make_room(count);
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Fill::Waiting,
                Err(error) if error.kind() == ErrorKind::Interrupted => return Fill::Waiting,
                // A packed capture that ends early is cut off like any other.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                    (self.at_end, self.cut) = (true, true);
                }
                Err(error) => (self.at_end, self.failure) = (true, Some(error)),
            }
        }
    }

    fn pass_over(&mut self) {
        let here = (self.end - self.start) as u64;
        let passed = here.min(self.to_skip);
        self.start += passed as usize;
        self.offset += passed;
        self.to_skip -= passed;
    }

    /// Moves what is left to the front, and grows for a record larger than the buffer: callers ask
    /// for bounded records only.
    fn make_room(&mut self, count: usize) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buffer.len() < count {
            self.buffer.resize(count, 0);
        }
    }
}
