//! How frames lie in chunks, and chunks are shown to the kernel: sizes and addresses, no more.

use frame::{PIECE_BYTES, PIECES_MAX, Region};

use super::xdp_ring::Descriptor;

/// Bytes that the kernel keeps before a received frame (`XDP_PACKET_HEADROOM`).
pub(crate) const KERNEL_HEADROOM_BYTES: u32 = 256;

/// The smallest and largest chunk that the kernel registers: half a page and a page.
const CHUNK_BYTES_MIN: u32 = 2048;
const CHUNK_BYTES_MAX: u32 = PIECE_BYTES as u32;

/// The descriptor is not the last of its frame (`XDP_PKT_CONTD`).
pub(super) const CONTINUES: u32 = libc::XDP_PKT_CONTD;

/// How chunks of a stride are shown to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunks {
    /// Bytes of a chunk as it is registered.
    pub(crate) registered_bytes: u32,
    /// How far before our chunk the registered one begins. The two end together, so the kernel
    /// never writes a frame past our chunk; what lies before is the kernel's headroom.
    pub(crate) lead_bytes: u32,
    stride_bytes: u32,
}

impl Chunks {
    /// The least stride: from it on a received frame begins inside our own chunk.
    pub(crate) const STRIDE_BYTES_MIN: u32 = CHUNK_BYTES_MIN - KERNEL_HEADROOM_BYTES;

    /// For chunks of this many bytes; `None` where they are too short.
    pub(crate) fn of(stride_bytes: u32) -> Option<Self> {
        (stride_bytes >= Self::STRIDE_BYTES_MIN).then(|| {
            let registered_bytes = stride_bytes.clamp(CHUNK_BYTES_MIN, CHUNK_BYTES_MAX);
            Self {
                registered_bytes,
                lead_bytes: registered_bytes.saturating_sub(stride_bytes),
                stride_bytes,
            }
        })
    }

    /// The longest frame that comes in one piece.
    pub(crate) fn rx_bytes_max(self) -> u32 {
        self.registered_bytes - KERNEL_HEADROOM_BYTES
    }

    /// The longest frame that fits when it may come in several pieces, which are put behind one
    /// another in the chunk of the first.
    pub(crate) fn gathered_bytes_max(self) -> u32 {
        let chunk = self.stride_bytes - (KERNEL_HEADROOM_BYTES - self.lead_bytes);
        chunk.min(self.rx_bytes_max() * PIECES_MAX as u32)
    }

    /// The longest frame that fits, where they may come in several pieces or not.
    pub(crate) fn frame_bytes_max(self, several: bool) -> u32 {
        match several {
            true => self.gathered_bytes_max(),
            false => self.rx_bytes_max(),
        }
    }

    /// Whether a chunk holds frames that do not come or go in one piece.
    pub(crate) fn hold_several_pieces(self) -> bool {
        self.stride_bytes > self.registered_bytes
    }

    /// The longest frame that the kernel takes from such a chunk by one descriptor.
    pub(super) fn tx_bytes_max(self) -> u32 {
        self.registered_bytes
    }

    /// The address to give to the FILL ring for a chunk that begins at `start`.
    #[inline(always)]
    pub(super) fn fill_address(self, start: usize) -> u64 {
        (start - self.lead_bytes as usize) as u64
    }
}

// `fill_address` never goes below the start of the Region, nor before what is mapped.
const _: () = assert!(Region::LEAD_BYTES >= KERNEL_HEADROOM_BYTES as usize);

/// The lengths of the pieces in which a frame is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pieces {
    bytes: usize,
}

impl Pieces {
    pub(super) fn of(bytes: usize) -> Self {
        Self { bytes }
    }

    pub(super) fn len(self) -> usize {
        self.bytes.div_ceil(PIECE_BYTES)
    }

    /// The descriptors of a frame that begins at `start`.
    pub(super) fn at(self, start: u64) -> impl ExactSizeIterator<Item = Descriptor> {
        let count = self.len() as u32;
        (0..count).map(move |place| {
            let before = place as usize * PIECE_BYTES;
            Descriptor {
                address: start + before as u64,
                len: (self.bytes - before).min(PIECE_BYTES) as u32,
                options: if place + 1 < count { CONTINUES } else { 0 },
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registered_chunks_end_where_ours_do_and_hold_the_frame() {
        for stride in (0..20_000).step_by(64) {
            let Some(chunks) = Chunks::of(stride) else {
                assert!(stride < 1792, "{stride}");
                continue;
            };
            let Chunks {
                registered_bytes,
                lead_bytes,
                ..
            } = chunks;
            assert!((2048..=4096).contains(&registered_bytes), "{chunks:?}");
            // Frames begin inside our chunk and end inside it.
            assert!(lead_bytes <= KERNEL_HEADROOM_BYTES, "{chunks:?}");
            let end = KERNEL_HEADROOM_BYTES + chunks.rx_bytes_max() - lead_bytes;
            assert!(end <= stride, "{chunks:?}");
            assert_eq!(chunks.fill_address(40_960), u64::from(40_960 - lead_bytes));
        }
        assert_eq!(Chunks::of(1920).unwrap().rx_bytes_max(), 1792);
        assert_eq!(Chunks::of(2112).unwrap().rx_bytes_max(), 1856);
        assert_eq!(Chunks::of(9152).unwrap().rx_bytes_max(), 3840);
    }

    #[test]
    fn frames_in_several_pieces_end_inside_the_chunk_of_the_first() {
        for stride in (1_792..20_000).step_by(64) {
            let chunks = Chunks::of(stride).unwrap();
            let begins = KERNEL_HEADROOM_BYTES - chunks.lead_bytes;
            assert!(begins + chunks.gathered_bytes_max() <= stride, "{stride}");
            let longer = chunks.gathered_bytes_max() > chunks.rx_bytes_max();
            assert_eq!(chunks.hold_several_pieces(), longer, "{stride}");
        }
        assert_eq!(Chunks::of(9280).unwrap().gathered_bytes_max(), 9024);
        assert_eq!(Chunks::of(u32::MAX).unwrap().gathered_bytes_max(), 11_520);
    }

    #[test]
    fn the_pieces_of_a_frame_follow_one_another_and_the_last_ends_it() {
        for bytes in [1, 4_095, 4_096, 4_097, 8_192, 8_193, 9_022, 12_288] {
            let mut next = 1_000;
            let descriptors: Vec<_> = Pieces::of(bytes).at(1_000).collect();
            for (place, descriptor) in descriptors.iter().enumerate() {
                assert_eq!(descriptor.address, next, "{bytes}");
                assert!((1..=CHUNK_BYTES_MAX).contains(&descriptor.len), "{bytes}");
                next += u64::from(descriptor.len);
                let last = place + 1 == descriptors.len();
                assert_eq!(descriptor.options == 0, last, "{bytes}");
            }
            assert_eq!(next, 1_000 + bytes as u64);
        }
    }
}
