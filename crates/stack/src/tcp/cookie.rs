//! SYN cookies (RFC 4987 section 3.6): where there is no room for half-open connections, what is
//! to be remembered of a SYN stands in the numbers of the answer, which the other end sends back.
//!
//! The sequence number has the MSS, the period and a hash of both, of the ends and of the other
//! end's first number. The timestamp has the window scale and SACK: an end without timestamps has
//! neither.

use frame::Nanos;

use super::ends::Ends;
use super::options::{Options, Timestamps};
use super::secret::Secret;
use super::segment::{Header, Segment, flag};
use super::{Pair, Seq, TcpSettings, connection};

/// Nanoseconds of a period, and periods that a cookie is good for.
const PERIOD: u64 = 64_000_000_000;
const PERIODS: u32 = 2;
/// How long cookies come back after the last was given.
pub(super) const GOOD_FOR: u64 = PERIOD * PERIODS as u64;
/// The MSSs that a cookie can name.
const SIZES: [u16; 8] = [64, 536, 1200, 1300, 1360, 1400, 1440, 1460];
/// Bits of the sequence number: MSS and period; the rest is the hash.
const SIZE_MASK: u32 = 7;
const PERIOD_MASK: u32 = 31;
const PLAIN_BITS: u32 = 8;
/// Bits of the timestamp: the window scale, or that there is none, and SACK.
const SCALE_MASK: u32 = 15;
const NO_SCALE: u32 = 15;
const SACK: u32 = 16;
const CLOCK_BITS: u32 = 5;

/// A SYN that is answered, or the acknowledgment of the answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cookies<'a> {
    pub(super) secret: &'a Secret,
    pub(super) settings: &'a TcpSettings,
    pub(super) pair: &'a Pair,
    pub(super) now: Nanos,
}

impl Cookies<'_> {
    fn number(&self, first: Seq, period: u32, size: u32) -> Seq {
        let hash = self
            .secret
            .hash(3, (Ends::from(self.pair), first.0, period, size)) as u32;
        Seq(hash << PLAIN_BITS | (period & PERIOD_MASK) << 3 | size)
    }

    fn period(&self) -> u32 {
        (self.now.0 / PERIOD) as u32
    }

    /// The answer to a SYN.
    pub(super) fn answer(&self, syn: &Segment<'_>) -> Header {
        let asked = &syn.header.options;
        let mss = asked.mss.unwrap_or(SIZES[1]);
        let size = SIZES.partition_point(|size| *size <= mss).saturating_sub(1) as u32;
        let clocks = asked.timestamps.filter(|_| self.settings.timestamps);
        let has_sack = asked.sack_permitted && self.settings.sack && clocks.is_some();
        let scale = asked.window_scale.filter(|_| clocks.is_some());
        let bits = scale.map_or(NO_SCALE, u32::from) | if has_sack { SACK } else { 0 };
        Header {
            seq: self.number(syn.header.seq, self.period(), size),
            ack: syn.header.seq.after(1),
            flags: flag::SYN | flag::ACK,
            window: self.settings.receive_window.min(0xFFFF) as u16,
            options: Options {
                mss: Some(self.settings.mss),
                window_scale: scale.map(|_| self.settings.window_scale()),
                sack_permitted: has_sack,
                timestamps: clocks.map(|clocks| self.clocks(clocks.value, bits)),
                ..Options::default()
            },
        }
    }

    /// The clock, with the bits in place of its lowest, and never ahead of it.
    fn clocks(&self, echo: u32, bits: u32) -> Timestamps {
        let clock = connection::clock(self.now, self.secret.clock_offset(self.pair));
        let value = (clock >> CLOCK_BITS).wrapping_sub(1) << CLOCK_BITS | bits;
        Timestamps { value, echo }
    }

    /// What the SYN said whose answer a segment acknowledges; none where there was no such answer.
    pub(super) fn recover(&self, segment: &Segment<'_>) -> Option<Header> {
        let cookie = segment.header.ack.back(1);
        let first = segment.header.seq.back(1);
        let size = cookie.0 & SIZE_MASK;
        let period = self.period();
        let mut periods = (0..=PERIODS).map(|ago| period.wrapping_sub(ago));
        periods.find(|period| self.number(first, *period, size) == cookie)?;
        let clocks = segment.header.options.timestamps;
        let bits = clocks.map_or(NO_SCALE, |clocks| clocks.echo);
        let scale = bits & SCALE_MASK;
        Some(Header {
            seq: first,
            ack: segment.header.ack,
            flags: flag::SYN,
            window: segment.header.window,
            options: Options {
                mss: Some(SIZES[size as usize]),
                window_scale: (scale != NO_SCALE).then_some(scale as u8),
                sack_permitted: bits & SACK != 0,
                timestamps: clocks,
                ..Options::default()
            },
        })
    }
}
