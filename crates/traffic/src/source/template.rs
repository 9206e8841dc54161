//! From the few numbers that make a frame to its bytes.
//!
//! Everything constant is laid out once. A frame is a copy of its first 60 bytes, the headers
//! written as words, and zeros behind. All checksums come from sums: the one's complement sum of
//! 16-bit words is the sum of 32-bit words modulo 0xffff (RFC 1071 section 2), so a frame adds a
//! handful of integers and folds twice.

use std::sync::Arc;

use wire::{ether_type, protocol};

use super::flow::{FlowV4, FlowV6};
use super::link::{LINK_BYTES_MAX, LinkChoices, link_header};
use super::segment::Segment;
use crate::Recipe;
use crate::recipe::FRAME_BYTES_MIN;
use crate::signature::{Addresses, Signature, fold};

const IPV4_BYTES: usize = 20;
const IPV6_BYTES: usize = 40;
const TTL: u8 = 64;

/// What all frames of a recipe have in common.
#[derive(Debug, Clone)]
pub(super) struct Template {
    /// Link header for IPv4, and zeros up to the shortest frame.
    head_v4: [u8; FRAME_BYTES_MIN],
    /// Link header for IPv6.
    link_v6: [u8; LINK_BYTES_MAX],
    link_len: usize,
    link_choices: Option<Arc<LinkChoices>>,
    segment: Segment,
    /// Bytes of headers and signature in IPv4 and in IPv6.
    headers_bytes: [usize; 2],
}

impl Template {
    pub(super) fn new(recipe: &Recipe) -> Self {
        let (link_v4, link_len) = link_header(recipe, ether_type::IPV4);
        let (link_v6, _) = link_header(recipe, ether_type::IPV6);
        let mut head_v4 = [0; FRAME_BYTES_MIN];
        head_v4[..LINK_BYTES_MAX].copy_from_slice(&link_v4);
        Self {
            head_v4,
            link_v6,
            link_len,
            link_choices: LinkChoices::of(recipe),
            segment: Segment::new(recipe),
            headers_bytes: [false, true].map(|ipv6| recipe.headers_bytes(ipv6)),
        }
    }

    /// Bytes of the shortest IPv4 frame.
    pub(super) const fn frame_bytes_min_v4(&self) -> usize {
        self.headers_bytes[0]
    }

    /// Bytes of the shortest IPv6 frame.
    pub(super) const fn frame_bytes_min_v6(&self) -> usize {
        self.headers_bytes[1]
    }

    /// Number of the transport protocol in IPv4, as [`Self::write_v4`] asks to be told.
    pub(super) const fn protocol(&self) -> u8 {
        self.segment.protocol()
    }

    /// Whether link headers differ from frame to frame.
    pub(super) const fn has_link_choices(&self) -> bool {
        self.link_choices.is_some()
    }

    /// Whether the link header has `LINK` bytes, as [`Self::write_v4`] asks to be told.
    pub(super) const fn link_is<const LINK: usize>(&self) -> bool {
        self.link_len == LINK
    }

    /// Writes an IPv4 frame over all of `frame`, which has at least 60 bytes and room for its
    /// headers. `LINK` is the length of the link header, 14 and four for each tag: known when
    /// compiled, the places of all fields are, and no length is checked but that of the frame.
    /// MACs and tags that are not fixed are drawn from `link_random`.
    #[inline(always)]
    pub(super) fn write_v4<const LINK: usize, const PROTOCOL: u8>(
        &self,
        frame: &mut [u8],
        flow: FlowV4,
        link_random: Option<u64>,
        signature: Option<&Signature>,
    ) {
        const { assert!(LINK <= LINK_BYTES_MAX && LINK + IPV4_BYTES <= FRAME_BYTES_MIN) };
        let ip_len = (frame.len() - LINK) as u64;
        let Some((head, rest)) = frame.split_first_chunk_mut::<FRAME_BYTES_MIN>() else {
            return;
        };
        if !rest.is_empty() {
            rest.fill(0); // not inlined, and the call alone takes 2 ns
        }
        *head = self.head_v4;
        if let (Some(choices), Some(random)) = (&self.link_choices, link_random) {
            choices.write(&mut head[..LINK - 2], random);
        }

        let addresses = u64::from(flow.src) + u64::from(flow.dst);
        let ip_checksum = !fold(IPV4_SUM + u64::from(PROTOCOL) + addresses + ip_len);
        // Version, length, no fragment | time to live, protocol, checksum, source | destination
        let first = IPV4_WORD | ip_len << 32;
        let protocol_word = u64::from(PROTOCOL) << 48;
        let second = TTL_WORD | protocol_word | u64::from(ip_checksum) << 32 | u64::from(flow.src);
        head[LINK..LINK + 8].copy_from_slice(&first.to_be_bytes());
        head[LINK + 8..LINK + 16].copy_from_slice(&second.to_be_bytes());
        head[LINK + 16..LINK + 20].copy_from_slice(&flow.dst.to_be_bytes());
        let addresses = Addresses::V4(flow.src, flow.dst);
        let at = LINK + IPV4_BYTES;
        self.segment
            .write::<PROTOCOL>(frame, at, addresses, flow.ports, signature);
    }

    /// Writes an IPv6 frame over all of `frame`, which has at least
    /// [`Self::frame_bytes_min_v6`] bytes.
    #[inline(always)]
    pub(super) fn write_v6<const LINK: usize, const PROTOCOL: u8>(
        &self,
        frame: &mut [u8],
        flow: FlowV6,
        link_random: u64,
        signature: Option<&Signature>,
    ) {
        const { assert!(LINK <= LINK_BYTES_MAX) };
        let payload_len = (frame.len() - LINK - IPV6_BYTES) as u64;
        let Some((link, rest)) = frame.split_first_chunk_mut::<LINK>() else {
            return;
        };
        link.copy_from_slice(&self.link_v6[..LINK]);
        if let Some(choices) = &self.link_choices {
            choices.write(&mut link[..LINK - 2], link_random);
        }
        let Some((place, segment)) = rest.split_first_chunk_mut::<IPV6_BYTES>() else {
            return;
        };
        // The first eight bytes of every transport header are written.
        if let Some(rest @ [_, ..]) = segment.get_mut(8..) {
            rest.fill(0);
        }
        let protocol = if PROTOCOL == protocol::ICMP {
            protocol::ICMPV6
        } else {
            PROTOCOL
        };
        let first = 6 << 60 | payload_len << 16 | u64::from(protocol) << 8 | u64::from(TTL);
        place[0..8].copy_from_slice(&u64::to_be_bytes(first));
        place[8..24].copy_from_slice(&flow.src.to_be_bytes());
        place[24..40].copy_from_slice(&flow.dst.to_be_bytes());
        let addresses = Addresses::V6(flow.src, flow.dst);
        let at = LINK + IPV6_BYTES;
        self.segment
            .write::<PROTOCOL>(frame, at, addresses, flow.ports, signature);
    }
}

/// Version 4, five words, no service; identification 0, do not fragment (RFC 6864 section 4.1: an
/// atomic datagram needs no identification).
const IPV4_WORD: u64 = 0x4500 << 48 | 0x4000;
const TTL_WORD: u64 = (TTL as u64) << 56;
/// Sum of the IPv4 header without length, protocol and addresses.
const IPV4_SUM: u64 = 0x4500 + 0x4000 + ((TTL as u64) << 8);
