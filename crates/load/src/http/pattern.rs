//! Bodies whose every byte is known from its offset alone.
//!
//! The bytes repeat after a prime number of them. So a block that was lost, repeated or put
//! elsewhere differs from what was due there, whatever power of two its size is.

use std::sync::LazyLock;

use traffic::Random;

/// After so many bytes the pattern begins anew.
const PERIOD: usize = 65_521;
/// The longest piece given at once.
pub const PIECE_MAX: usize = 32 * 1024;

static BYTES: LazyLock<Box<[u8]>> = LazyLock::new(|| {
    let mut random = Random::new(0x11e0_7a7e, 0);
    let mut bytes: Vec<u8> = (0..PERIOD).map(|_| random.next() as u8).collect();
    bytes.extend_from_within(..);
    bytes.truncate(PERIOD + PIECE_MAX);
    bytes.into_boxed_slice()
});

/// The bytes from `offset` on: `len` of them, at most [`PIECE_MAX`].
#[must_use]
pub fn piece(offset: u64, len: usize) -> &'static [u8] {
    let from = (offset % PERIOD as u64) as usize;
    &BYTES[from..from + len.min(PIECE_MAX)]
}

/// Whether these bytes are those from `offset` on.
#[must_use]
pub fn is_at(mut offset: u64, bytes: &[u8]) -> bool {
    bytes.chunks(PIECE_MAX).all(|chunk| {
        let same = chunk == piece(offset, chunk.len());
        offset += chunk.len() as u64;
        same
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_join_and_changes_show() {
        let whole: Vec<u8> = (0..200_000).flat_map(|at| piece(at, 1).to_vec()).collect();
        for (offset, len) in [(0, 0), (0, 200_000), (65_520, 70_000), (65_521, 65_536)] {
            assert!(is_at(
                offset as u64,
                &whole[offset..(offset + len).min(whole.len())]
            ));
        }
        for at in [0, 1, 65_520, 65_521, 199_999] {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            assert!(!is_at(0, &changed), "a bit at {at}");
        }
        for block in [512, 4096, 16_384, 65_536] {
            assert!(!is_at(0, &whole[block..2 * block]), "{block} bytes moved");
        }
    }
}
