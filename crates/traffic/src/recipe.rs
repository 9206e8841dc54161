//! What frames are made.

use std::sync::Arc;

use crate::{Choice, Cover, SIGNATURE_BYTES, Share, Sizes};

mod text;
mod validate;

/// The transport of a test frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// RFC 768.
    Udp,
    /// RFC 9293: a segment of no connection, with these flags, FIN in bit 0 to CWR in bit 7.
    Tcp {
        /// The flags.
        flags: u8,
    },
    /// Echo requests (RFC 792, RFC 4443 section 4.1): the source port is the identifier, the
    /// destination port the sequence number.
    IcmpEcho,
}

impl Protocol {
    /// Bytes of its header.
    #[must_use]
    pub const fn header_bytes(self) -> usize {
        match self {
            Self::Udp | Self::IcmpEcho => 8,
            Self::Tcp { .. } => 20,
        }
    }
}

/// Which frames belong together. A flow has addresses, ports, MACs and VLANs of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flows {
    /// Every frame is a flow of its own.
    Endless,
    /// So many flows over all workers; every frame is of one of them, drawn evenly.
    Fixed(u32),
    /// So many flows at a time over all workers, of which the oldest is replaced by a new one so
    /// many times a second.
    Renewed {
        /// Flows at a time.
        count: u32,
        /// New flows a second, all workers together.
        per_second: u32,
    },
}

/// How frames are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The stream of worker 0. Worker n has this plus n: numbers of a stream follow each other
    /// without gap in the order one worker sent them, so that order can be judged.
    pub first_stream: u16,
    /// What the check covers.
    pub cover: Cover,
}

impl Default for Stamp {
    /// Streams from 0; what a router may change is not covered.
    fn default() -> Self {
        Self {
            first_stream: 0,
            cover: Cover::Network,
        }
    }
}

/// What frames are made. Fields may be set in any combination; [`Source::new`](crate::Source::new)
/// says which cannot be made.
#[derive(Debug, Clone)]
pub struct Recipe {
    /// Ethernet sizes with FCS.
    pub sizes: Sizes,
    /// Transport.
    pub protocol: Protocol,
    /// Frames that are IPv6.
    pub ipv6: Share,
    /// IPv4 sources; random: any global unicast in a /8 of which nothing is set aside.
    pub src_v4: Choice<u32>,
    /// IPv4 destinations, as for sources.
    pub dst_v4: Choice<u32>,
    /// IPv6 sources; random: any global unicast (2000::/3) but 2001::/16, 2002::/16, 3fff::/16.
    pub src_v6: Choice<u128>,
    /// IPv6 destinations, as for sources.
    pub dst_v6: Choice<u128>,
    /// Source ports, or identifiers of echo requests.
    pub src_port: Choice<u16>,
    /// Destination ports, or sequence numbers of echo requests.
    pub dst_port: Choice<u16>,
    /// Source MACs in the low 48 bits; random: any locally administered unicast.
    pub src_mac: Choice<u64>,
    /// Destination MACs, as for sources.
    pub dst_mac: Choice<u64>,
    /// VLAN identifiers, outermost first: one is an 802.1Q tag, two an 802.1ad tag around it;
    /// random: 1 to 4094.
    pub vlan: Vec<Choice<u16>>,
    /// Which frames belong together.
    pub flows: Flows,
    /// Frames (or flows) with at least one address out of the samples.
    pub hit: Share,
    /// IPv4 addresses for hits.
    pub samples_v4: Arc<[u32]>,
    /// IPv6 addresses for hits.
    pub samples_v6: Arc<[u128]>,
    /// What the traffic is made from: the same seed makes the same frames.
    pub seed: u64,
    /// How frames are signed; unsigned where none is given.
    pub stamp: Option<Stamp>,
}

/// Locally administered addresses that no NIC owns: a sink whose own address they were would
/// answer every frame.
const MAC_DST: u64 = 0x024c_5200_0002;
const MAC_SRC: u64 = 0x024c_5200_0001;

/// Bytes every frame has: the shortest Ethernet frame without FCS.
pub(crate) const FRAME_BYTES_MIN: usize = 60;

impl Default for Recipe {
    /// Unsigned UDP in IPv4 of 64 bytes with random addresses and ports, every frame a flow.
    fn default() -> Self {
        Self {
            sizes: Sizes::Fixed(64),
            protocol: Protocol::Udp,
            ipv6: Share::NONE,
            src_v4: Choice::Random,
            dst_v4: Choice::Random,
            src_v6: Choice::Random,
            dst_v6: Choice::Random,
            src_port: Choice::Random,
            dst_port: Choice::Random,
            src_mac: Choice::Fixed(MAC_SRC),
            dst_mac: Choice::Fixed(MAC_DST),
            vlan: Vec::new(),
            flows: Flows::Endless,
            hit: Share::NONE,
            samples_v4: Arc::default(),
            samples_v6: Arc::default(),
            seed: 0,
            stamp: None,
        }
    }
}

impl Recipe {
    /// Bytes in memory of the shortest frame that holds the headers of a family and, where frames
    /// are signed, the signature.
    #[must_use]
    pub fn headers_bytes(&self, ipv6: bool) -> usize {
        let link = 14 + 4 * self.vlan.len();
        let ip = if ipv6 { 40 } else { 20 };
        let signature = if self.stamp.is_some() {
            SIGNATURE_BYTES
        } else {
            0
        };
        link + ip + self.protocol.header_bytes() + signature
    }

    /// The smallest Ethernet size with FCS that all frames of the recipe can have: what its
    /// headers and signature take, at least 64. Signed: UDP and ICMP 64 in IPv4 and 84 in IPv6,
    /// TCP 76 and 96; four more for each VLAN tag.
    #[must_use]
    pub fn smallest_bytes(&self) -> usize {
        let v6 = self.ipv6 != Share::NONE;
        self.headers_bytes(v6).max(FRAME_BYTES_MIN) + crate::FCS_BYTES
    }
}
