//! Options: code, length, value, padded to four bytes; code 0 ends them.

use super::padding;
use crate::capture::{ByteOrder, CaptureFault};

/// One option, its value still bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawOption<'a> {
    /// Code, whose meaning depends on the block.
    pub code: u16,
    /// Value without padding.
    pub value: &'a [u8],
}

/// Walks the options at the end of a block. Each step consumes at least four bytes, so that the
/// walk ends; after a fault it is over.
#[derive(Debug, Clone)]
pub struct Options<'a> {
    rest: &'a [u8],
    order: ByteOrder,
}

impl<'a> Options<'a> {
    /// Options that fill `bytes`, or end in it.
    #[must_use]
    pub const fn new(bytes: &'a [u8], order: ByteOrder) -> Self {
        Self { rest: bytes, order }
    }

    fn take(&mut self) -> Option<RawOption<'a>> {
        let code = self.order.u16_at(self.rest, 0)?;
        let len = usize::from(self.order.u16_at(self.rest, 2)?);
        let value = self.rest.get(4..4 + len)?;
        // The last option of a block is sometimes written without its padding: take what is there.
        self.rest = self.rest.get(4 + len + padding(len)..).unwrap_or_default();
        Some(RawOption { code, value })
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = Result<RawOption<'a>, CaptureFault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        match self.take() {
            Some(RawOption { code: 0, .. }) => {
                self.rest = &[];
                None
            }
            Some(option) => Some(Ok(option)),
            None => {
                self.rest = &[];
                Some(Err(CaptureFault::OptionLength))
            }
        }
    }
}
