//! The bytes of a frame and how far it reaches: every read of the general parser goes through here.
//!
//! Two ends matter. `bytes.len()` is where the capture ends; `end` is where the frame, or the layer
//! being read, ends by its own account. Past `end` is a fault; between the two is merely unknown.

use crate::Malformed;

/// Why a walk stopped before the end of the headers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    /// The capture does not reach further.
    Snapped,
    /// The frame contradicts itself here.
    Fault(Malformed),
}

impl From<Malformed> for Stop {
    fn from(fault: Malformed) -> Self {
        Self::Fault(fault)
    }
}

/// Captured bytes, and the offset at which the layer being read ends.
#[derive(Clone, Copy)]
pub(super) struct Walk<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) end: usize,
}

impl<'a> Walk<'a> {
    /// A frame of `original_len` bytes of which `bytes` were captured. An original length below
    /// the capture is a mistake of whoever wrote it: the bytes are there.
    pub(super) fn frame(bytes: &'a [u8], original_len: usize) -> Self {
        Self {
            bytes,
            end: original_len.max(bytes.len()),
        }
    }

    /// The same bytes with a nearer end, as an inner length field says.
    pub(super) fn ending_at(self, end: usize) -> Self {
        debug_assert!(end <= self.end);
        Self { end, ..self }
    }

    /// Bytes from `at` to the end of the layer, captured or not.
    pub(super) fn remaining(self, at: usize) -> usize {
        self.end.saturating_sub(at)
    }

    /// Fails with `fault` unless the layer has `len` bytes from `at` on.
    pub(super) fn require(self, at: usize, len: usize, fault: Malformed) -> Result<(), Stop> {
        if self.remaining(at) < len {
            Err(Stop::Fault(fault))
        } else {
            Ok(())
        }
    }

    /// `N` captured bytes from `at`.
    pub(super) fn array<const N: usize>(self, at: usize) -> Result<[u8; N], Stop> {
        let found = self.bytes.get(at..).and_then(<[u8]>::first_chunk::<N>);
        found.copied().ok_or(Stop::Snapped)
    }

    /// The byte at `at`.
    pub(super) fn byte(self, at: usize) -> Result<u8, Stop> {
        self.bytes.get(at).copied().ok_or(Stop::Snapped)
    }

    /// The 16-bit number at `at`, from network byte order.
    pub(super) fn be16(self, at: usize) -> Result<u16, Stop> {
        self.array(at).map(u16::from_be_bytes)
    }

    /// `at` as an offset of [`crate::Parsed`]: 0, unknown, when it lies outside the capture.
    pub(super) fn offset(self, at: usize) -> u16 {
        let known = if at <= self.bytes.len() { at } else { 0 };
        u16::try_from(known).unwrap_or(0)
    }
}
