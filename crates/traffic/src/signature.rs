//! What a test frame says of itself at its end.

use frame::Nanos;

/// Bytes of a signature: check 32 bits, stream 16, sequence 48, time of sending 48. A 64-byte
/// frame of UDP in IPv4 has room for exactly that behind its headers.
pub const SIGNATURE_BYTES: usize = 18;

/// Bits of sequence and time.
const BITS: u32 = 48;
const MASK: u64 = (1 << BITS) - 1;

/// What the check of a signature covers beside the signature itself. In both cases: source and
/// destination address, transport protocol, ports (or echo identifier and number), TCP flags,
/// length and bytes of the payload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cover {
    /// Nothing that a bridge or router may change: not MACs, VLAN tags, traffic class, time to
    /// live or hop limit, flow label, nor checksums. The checksums of IPv4 header and transport,
    /// which are verified too, protect what of it they cover.
    #[default]
    Network,
    /// Every byte in front of the transport header as well: for a path that changes no byte of a
    /// frame, such as a bridge.
    Link,
}

/// Stream, number and time of sending of a test frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// The stream: what one worker sent, in order.
    pub stream: u16,
    /// Number within the stream, from 0, below 2^48: 32 days at 100 million a second.
    pub sequence: u64,
    /// When it was sent by the sender's clock, modulo 2^48 ns: 78 hours.
    pub sent: Nanos,
}

impl Signature {
    /// Nanoseconds from sending to `now`, which is within 39 hours of it: negative where the clocks
    /// of the two differ by more than the way took.
    #[must_use]
    pub const fn age(&self, now: Nanos) -> i64 {
        let age = now.0.wrapping_sub(self.sent.0) & MASK;
        // The upper half of the circle is the past of the clock that is ahead.
        (age << (64 - BITS)) as i64 >> (64 - BITS)
    }
}
