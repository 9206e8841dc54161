//! A place in a buffer that moves as bytes are written.
//!
//! [`super::Recipe::emit`] has checked that the frame fits before one is made; what would run past
//! the end all the same is left out rather than a panic.

pub(super) struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut [u8]) -> Self {
        Self { out, at: 0 }
    }

    /// Bytes written.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        let end = self.at + bytes.len();
        debug_assert!(end <= self.out.len(), "the length was computed first");
        if let Some(place) = self.out.get_mut(self.at..end) {
            place.copy_from_slice(bytes);
        }
        self.at = end;
    }

    pub(super) fn put_u8(&mut self, byte: u8) {
        self.put(&[byte]);
    }

    pub(super) fn put_be16(&mut self, word: u16) {
        self.put(&word.to_be_bytes());
    }

    pub(super) fn put_be32(&mut self, word: u32) {
        self.put(&word.to_be_bytes());
    }

    /// Writes `word` over what stands at `at`.
    pub(super) fn patch_be16(&mut self, at: usize, word: u16) {
        if let Some(place) = self.out.get_mut(at..at + 2) {
            place.copy_from_slice(&word.to_be_bytes());
        }
    }

    /// What was written from `at` on.
    pub(super) fn since(&self, at: usize) -> &[u8] {
        self.out.get(at..self.at).unwrap_or(&[])
    }

    /// Fills the rest of the buffer with zeros.
    pub(super) fn zero_rest(self) {
        if let Some(rest) = self.out.get_mut(self.at..) {
            rest.fill(0);
        }
    }
}
