//! From the few numbers that make a frame to its bytes.
//!
//! Everything constant is laid out once. A frame is a copy of its first 64 bytes, the 28 bytes of
//! IPv4 and UDP header written as four words, and zeros behind. Both checksums come from sums: the
//! one's complement sum of 16-bit words is the sum of 32-bit words modulo 0xffff (RFC 1071 section
//! 2), so a frame adds a handful of integers and folds twice.

use super::flow::{FlowV4, FlowV6};

/// Bytes every frame has: the shortest Ethernet frame without FCS.
const FRAME_BYTES_MIN: usize = 60;
const IPV4_BYTES: u16 = 20;
const IPV6_BYTES: u16 = 40;
const UDP_BYTES: u16 = 8;
const UDP: u8 = 17;
const TTL: u8 = 64;
/// Addresses, two tags, ether type.
const LINK_BYTES_MAX: usize = 22;

/// Locally administered addresses that no card owns: a sink whose own address they were would
/// answer every frame.
const MAC_DST: [u8; 6] = [0x02, 0x4c, 0x52, 0, 0, 0x02];
const MAC_SRC: [u8; 6] = [0x02, 0x4c, 0x52, 0, 0, 0x01];

const TPID_8021Q: u16 = 0x8100;
const TPID_8021AD: u16 = 0x88a8;
const ETHER_IPV4: u16 = 0x0800;
const ETHER_IPV6: u16 = 0x86dd;

/// The link layer of every frame of a generator, and where it ends.
#[derive(Debug, Clone)]
pub(super) struct Template {
    /// Link header for IPv4, and zeros up to the shortest frame.
    head_v4: [u8; FRAME_BYTES_MIN],
    /// Link header for IPv6.
    link_v6: [u8; LINK_BYTES_MAX],
    link_len: u16,
}

impl Template {
    pub(super) fn new(vlan: &[u16]) -> Self {
        let (link_v4, link_len) = link_header(vlan, ETHER_IPV4);
        let (link_v6, _) = link_header(vlan, ETHER_IPV6);
        let mut head_v4 = [0; FRAME_BYTES_MIN];
        head_v4[..LINK_BYTES_MAX].copy_from_slice(&link_v4);
        Self {
            head_v4,
            link_v6,
            link_len,
        }
    }

    /// Bytes of the shortest IPv6 frame with these tags.
    pub(super) const fn frame_bytes_min_v6(&self) -> u16 {
        self.link_len + IPV6_BYTES + UDP_BYTES
    }

    /// Whether the link header has `LINK` bytes, as [`Self::write_v4`] asks to be told.
    pub(super) const fn link_is<const LINK: usize>(&self) -> bool {
        self.link_len as usize == LINK
    }

    /// Writes an IPv4 frame over all of `frame`, which has at least 60 bytes. `LINK` is the length
    /// of the link header, 14 and four for each tag: known when compiled, the places of all fields
    /// are, and no length is checked but that of the frame.
    #[inline(always)]
    pub(super) fn write_v4<const LINK: usize>(&self, frame: &mut [u8], flow: FlowV4) {
        const { assert!(LINK <= LINK_BYTES_MAX && LINK + 28 <= FRAME_BYTES_MIN) };
        let ip_len = (frame.len() - LINK) as u16;
        let udp_len = ip_len - IPV4_BYTES;
        let Some((head, rest)) = frame.split_first_chunk_mut::<FRAME_BYTES_MIN>() else {
            return;
        };
        if !rest.is_empty() {
            rest.fill(0); // not inlined, and the call alone takes 2 ns
        }
        *head = self.head_v4;

        let addresses = u64::from(flow.src) + u64::from(flow.dst);
        let ip_checksum = !fold(IPV4_SUM + addresses + u64::from(ip_len));
        let udp_sum = addresses + u64::from(flow.ports) + u64::from(UDP) + 2 * u64::from(udp_len);
        let udp_checksum = nonzero(!fold(udp_sum));

        // Version, length, no fragment | time to live, protocol, checksum, source | ...
        let words = [
            IPV4_WORD | u64::from(ip_len) << 32,
            TTL_WORD | u64::from(ip_checksum) << 32 | u64::from(flow.src),
            u64::from(flow.dst) << 32 | u64::from(flow.ports),
        ];
        head[LINK..LINK + 8].copy_from_slice(&words[0].to_be_bytes());
        head[LINK + 8..LINK + 16].copy_from_slice(&words[1].to_be_bytes());
        head[LINK + 16..LINK + 24].copy_from_slice(&words[2].to_be_bytes());
        let last = u32::from(udp_len) << 16 | u32::from(udp_checksum);
        head[LINK + 24..LINK + 28].copy_from_slice(&last.to_be_bytes());
    }

    /// Writes an IPv6 frame over all of `frame`, which has at least
    /// [`Self::frame_bytes_min_v6`] bytes.
    pub(super) fn write_v6(&self, frame: &mut [u8], flow: FlowV6) {
        let at = usize::from(self.link_len);
        let payload_len = frame.len() as u16 - self.link_len - IPV6_BYTES;
        let Some((link, rest)) = frame.split_at_mut_checked(at) else {
            return;
        };
        link.copy_from_slice(&self.link_v6[..at]);
        let Some((place, payload)) = rest.split_first_chunk_mut::<48>() else {
            return;
        };
        payload.fill(0);

        let words = sum_u128(flow.src) + sum_u128(flow.dst) + u64::from(flow.ports);
        let udp_sum = words + u64::from(UDP) + 2 * u64::from(payload_len);
        let udp_checksum = nonzero(!fold(udp_sum));

        let first = 6 << 60 | u64::from(payload_len) << 16 | u64::from(UDP) << 8 | u64::from(TTL);
        place[0..8].copy_from_slice(&u64::to_be_bytes(first));
        place[8..24].copy_from_slice(&flow.src.to_be_bytes());
        place[24..40].copy_from_slice(&flow.dst.to_be_bytes());
        let ports = u64::from(flow.ports) << 32;
        let last = ports | u64::from(payload_len) << 16 | u64::from(udp_checksum);
        place[40..48].copy_from_slice(&last.to_be_bytes());
    }
}

/// Version 4, five words, no service; identification 0, do not fragment (RFC 6864 section 4.1: an
/// atomic datagram needs no identification).
const IPV4_WORD: u64 = 0x4500 << 48 | 0x4000;
const TTL_WORD: u64 = (TTL as u64) << 56 | (UDP as u64) << 48;
/// Sum of the IPv4 header without length and addresses.
const IPV4_SUM: u64 = 0x4500 + 0x4000 + ((TTL as u64) << 8 | UDP as u64);

fn link_header(vlan: &[u16], ether_type: u16) -> ([u8; LINK_BYTES_MAX], u16) {
    let mut bytes = [0; LINK_BYTES_MAX];
    bytes[0..6].copy_from_slice(&MAC_DST);
    bytes[6..12].copy_from_slice(&MAC_SRC);
    let mut at = 12;
    let mut put = |value: u16| {
        bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
        at += 2;
    };
    let tags = &vlan[..vlan.len().min(2)];
    for (index, id) in tags.iter().enumerate() {
        put(if index + 1 < tags.len() {
            TPID_8021AD
        } else {
            TPID_8021Q
        });
        put(*id);
    }
    put(ether_type);
    (bytes, at as u16)
}

/// The one's complement sum of 16-bit words whose plain sum, or that of wider words, is `sum`.
#[inline(always)]
const fn fold(sum: u64) -> u16 {
    // Adding a number to itself with its halves swapped carries the low half's overflow around.
    let sum = (sum.wrapping_add(sum.rotate_left(32)) >> 32) as u32;
    (sum.wrapping_add(sum.rotate_left(16)) >> 16) as u16
}

/// A UDP checksum: 0 would say that there is none (RFC 768).
#[inline(always)]
const fn nonzero(checksum: u16) -> u16 {
    if checksum == 0 { 0xffff } else { checksum }
}

/// The sum of the four 32-bit words of an address.
const fn sum_u128(address: u128) -> u64 {
    let (high, low) = ((address >> 64) as u64, address as u64);
    (high >> 32) + (high & 0xffff_ffff) + (low >> 32) + (low & 0xffff_ffff)
}
