//! Makes each queue's frames hash to buckets of its own, as a NIC's RSS would deliver them.
//!
//! The Toeplitz hash is linear: XORing a mask into the source port XORs a constant into the hash.
//! For every difference of buckets a mask is found once; a frame then costs one hash and one
//! look-up, and no loop tries until it fits.

use wire::toeplitz::{Key, Toeplitz};

use super::flow::{Draw, FlowV6};

/// Buckets of the indirection table that steered sources part among them. Bucket `b` belongs to
/// queue `b % of`.
pub const BUCKETS: usize = 128;

/// Steers the frames of one queue.
#[derive(Debug, Clone)]
pub(super) struct Steering {
    toeplitz: Toeplitz,
    /// What to XOR into both ports to change the bucket by the index.
    masks: [u32; BUCKETS],
    /// The bucket of this queue that stands for each bucket.
    own: [u8; BUCKETS],
}

impl Steering {
    /// For queue `queue` of `of`, at most [`BUCKETS`].
    pub(super) fn new(queue: usize, of: usize) -> Self {
        let toeplitz = Toeplitz::new(&Key::SYMMETRIC);
        let own_count = (BUCKETS - queue).div_ceil(of);
        let own = std::array::from_fn(|bucket| (queue + bucket % own_count * of) as u8);
        let mut masks = [0; BUCKETS];
        for port in (0..=u16::MAX).rev() {
            let ports = u32::from(port) << 16;
            masks[bucket(toeplitz.hash_v4(0, 0, ports))] = ports;
        }
        Self {
            toeplitz,
            masks,
            own,
        }
    }

    #[inline(always)]
    pub(super) fn steer_v4(&self, draw: &mut Draw) {
        let flow = draw.v4();
        // The ports are the lower half, as in the flow.
        draw.rest ^= u64::from(self.mask(self.toeplitz.hash_v4(flow.src, flow.dst, flow.ports)));
    }

    pub(super) fn steer_v6(&self, flow: &mut FlowV6) {
        flow.ports ^= self.mask(self.toeplitz.hash_v6(flow.src, flow.dst, flow.ports));
    }

    #[inline(always)]
    fn mask(&self, hash: u32) -> u32 {
        let natural = bucket(hash);
        self.masks[(natural ^ usize::from(self.own[natural])) % BUCKETS]
    }
}

#[inline(always)]
const fn bucket(hash: u32) -> usize {
    hash as usize % BUCKETS
}
