//! Addresses, ports and checksums of a packet, rewritten in place.

use wire::checksum;
use wire::view::Ipv4View;

use super::tuple::{NatProtocol, Tuple};

/// Where checksums and the identifier of an echo are in their headers.
const TCP_CHECKSUM: usize = 16;
const UDP_CHECKSUM: usize = 6;
const ICMP_CHECKSUM: usize = 2;
const ECHO_ID: usize = 4;
/// Bytes in front of what an ICMP error quotes.
const ICMP_HEADER: usize = 8;

/// What a packet is to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rewrite {
    pub(super) from: Tuple,
    pub(super) to: Tuple,
    /// The packet is an ICMP error about the other direction of the flow.
    pub(super) is_error: bool,
}

impl Rewrite {
    /// Rewrites an IPv4 packet.
    pub(crate) fn apply(&self, packet: &mut [u8]) {
        match self.is_error {
            true => self.apply_to_error(packet),
            false => translate(packet, &self.from, &self.to),
        }
    }

    /// Makes a packet what it was before [`Rewrite::apply`], but for ICMP errors, about which
    /// nobody is told anything.
    pub(crate) fn undo(&self, packet: &mut [u8]) {
        if !self.is_error {
            translate(packet, &self.to, &self.from);
        }
    }

    /// Rewrites the outer header and the packet that is quoted, which went the other way.
    fn apply_to_error(&self, packet: &mut [u8]) {
        let Ok(view) = Ipv4View::new_checked(&*packet) else {
            return;
        };
        let (begin, end) = (view.header_len(), usize::from(view.total_len()));
        let end = end.min(packet.len());
        let outer = Tuple::bare(packet);
        let to = Tuple {
            // A router on the way keeps its address, unless it is of the hidden side.
            src: match self.to.src == self.from.src {
                true => outer.src,
                false => self.to.src,
            },
            dst: self.to.dst,
            ..outer
        };
        set_addresses(packet, &to);
        let Some(message) = packet.get_mut(begin..end) else {
            return;
        };
        if let Some(quote) = message.get_mut(ICMP_HEADER..) {
            translate(quote, &self.from.inverse(), &self.to.inverse());
        }
        set_word(message, ICMP_CHECKSUM, 0);
        let sum = checksum::checksum(message);
        set_word(message, ICMP_CHECKSUM, sum);
    }
}

/// Rewrites a packet, whose payload may be cut.
fn translate(packet: &mut [u8], from: &Tuple, to: &Tuple) {
    let Ok(view) = Ipv4View::new_checked(&*packet) else {
        return;
    };
    let (begin, is_first) = (view.header_len(), view.fragment_offset() == 0);
    let end = usize::from(view.total_len()).clamp(begin, packet.len().max(begin));
    set_addresses(packet, to);
    if !is_first {
        return;
    }
    if let Some(segment) = packet.get_mut(begin..end) {
        translate_segment(segment, from, to);
    }
}

/// Rewrites addresses with the checksum of the header.
fn set_addresses(packet: &mut [u8], to: &Tuple) {
    if let Ok(mut view) = Ipv4View::new_checked(packet) {
        let sum = checksum::update_u32(view.checksum(), view.src(), to.src);
        let sum = checksum::update_u32(sum, view.dst(), to.dst);
        view.set_src(to.src);
        view.set_dst(to.dst);
        view.set_checksum(sum);
    }
}

fn translate_segment(segment: &mut [u8], from: &Tuple, to: &Tuple) {
    let ports = |sum| {
        let sum = checksum::update(sum, from.src_port, to.src_port);
        checksum::update(sum, from.dst_port, to.dst_port)
    };
    let pseudo = |sum| {
        let sum = checksum::update_u32(sum, from.src, to.src);
        checksum::update_u32(sum, from.dst, to.dst)
    };
    match from.protocol {
        NatProtocol::Tcp => {
            set_word(segment, 0, to.src_port);
            set_word(segment, 2, to.dst_port);
            update_word(segment, TCP_CHECKSUM, |sum| ports(pseudo(sum)));
        }
        NatProtocol::Udp => {
            set_word(segment, 0, to.src_port);
            set_word(segment, 2, to.dst_port);
            update_word(segment, UDP_CHECKSUM, |sum| match sum {
                // The sender made none.
                0 => 0,
                sum => checksum::udp_nonzero(ports(pseudo(sum))),
            });
        }
        // No address is part of the checksum.
        NatProtocol::EchoRequest => {
            set_word(segment, ECHO_ID, to.src_port);
            update_word(segment, ICMP_CHECKSUM, ports);
        }
        NatProtocol::EchoReply => {
            set_word(segment, ECHO_ID, to.dst_port);
            update_word(segment, ICMP_CHECKSUM, ports);
        }
        NatProtocol::Other => {}
    }
}

fn set_word(bytes: &mut [u8], at: usize, word: u16) {
    if let Some(place) = bytes.get_mut(at..at + 2) {
        place.copy_from_slice(&word.to_be_bytes());
    }
}

fn update_word(bytes: &mut [u8], at: usize, change: impl FnOnce(u16) -> u16) {
    let found = bytes.get(at..).and_then(<[u8]>::first_chunk::<2>);
    if let Some(&word) = found {
        set_word(bytes, at, change(u16::from_be_bytes(word)));
    }
}
