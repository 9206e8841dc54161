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

/// What a rewriting adds to the complements of checksums, as one's complement sums: known with the
/// flow, so that a packet needs one addition a checksum (RFC 1624, equation 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Delta {
    addresses: u16,
    ports: u16,
}

/// What a packet is to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rewrite {
    pub(super) from: Tuple,
    pub(super) to: Tuple,
    pub(super) delta: Delta,
}

impl Delta {
    /// That of a packet with the tuple `from`, which gets the tuple `to`.
    pub(super) fn between(from: &Tuple, to: &Tuple) -> Self {
        let changed = checksum::difference_u32;
        let ports = |tuple: &Tuple| u32::from(tuple.src_port) << 16 | u32::from(tuple.dst_port);
        Self {
            addresses: checksum::combine(changed(from.src, to.src), changed(from.dst, to.dst)),
            ports: changed(ports(from), ports(to)),
        }
    }

    /// That of the way back.
    #[inline]
    pub(super) fn reversed(self) -> Self {
        Self {
            addresses: !self.addresses,
            ports: !self.ports,
        }
    }
}

impl Rewrite {
    /// What makes a packet with the tuple `from` one with the tuple `to`.
    pub(super) fn between(from: Tuple, to: Tuple) -> Self {
        Self {
            from,
            to,
            delta: Delta::between(&from, &to),
        }
    }

    /// Rewrites an IPv4 packet, whose payload may be cut.
    #[inline]
    pub(crate) fn apply(&self, packet: &mut [u8]) {
        translate(packet, &self.to, self.delta);
    }

    /// Rewrites an ICMP error about the other direction: its outer header, and the packet that it
    /// quotes.
    #[cold]
    pub(super) fn apply_to_error(&self, packet: &mut [u8]) {
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
        if let Ok(mut view) = Ipv4View::new_checked(&mut *packet) {
            set_addresses(&mut view, &to, Delta::between(&outer, &to));
        }
        let Some(message) = packet.get_mut(begin..end) else {
            return;
        };
        if let Some(quote) = message.get_mut(ICMP_HEADER..) {
            // Both ends change places, and no sum.
            translate(quote, &self.to.inverse(), self.delta);
        }
        set_word(message, ICMP_CHECKSUM, 0);
        let sum = checksum::checksum(message);
        set_word(message, ICMP_CHECKSUM, sum);
    }
}

/// Rewrites a packet, whose payload may be cut.
#[inline]
fn translate(packet: &mut [u8], to: &Tuple, delta: Delta) {
    let len = packet.len();
    let Ok(mut view) = Ipv4View::new_checked(packet) else {
        return;
    };
    set_addresses(&mut view, to, delta);
    if view.fragment_offset() != 0 {
        return;
    }
    let begin = view.header_len();
    let end = usize::from(view.total_len()).min(len);
    if let Some(segment) = view.into_inner().get_mut(begin..end) {
        translate_segment(segment, to, delta);
    }
}

/// Rewrites addresses with the checksum of the header.
#[inline]
fn set_addresses(view: &mut Ipv4View<&mut [u8]>, to: &Tuple, delta: Delta) {
    let sum = checksum::add_difference(view.checksum(), delta.addresses);
    view.set_src(to.src);
    view.set_dst(to.dst);
    view.set_checksum(sum);
}

#[inline]
fn translate_segment(segment: &mut [u8], to: &Tuple, delta: Delta) {
    let all = checksum::combine(delta.addresses, delta.ports);
    match to.protocol {
        NatProtocol::Tcp => {
            set_ports(segment, to);
            update_word(segment, TCP_CHECKSUM, |sum| {
                checksum::add_difference(sum, all)
            });
        }
        NatProtocol::Udp => {
            set_ports(segment, to);
            update_word(segment, UDP_CHECKSUM, |sum| match sum {
                // The sender made none.
                0 => 0,
                sum => checksum::udp_nonzero(checksum::add_difference(sum, all)),
            });
        }
        // No address is part of the checksum.
        NatProtocol::EchoRequest => set_identifier(segment, to.src_port, delta),
        NatProtocol::EchoReply => set_identifier(segment, to.dst_port, delta),
        NatProtocol::Other => {}
    }
}

#[inline]
fn set_ports(segment: &mut [u8], to: &Tuple) {
    set_word(segment, 0, to.src_port);
    set_word(segment, 2, to.dst_port);
}

fn set_identifier(message: &mut [u8], identifier: u16, delta: Delta) {
    set_word(message, ECHO_ID, identifier);
    update_word(message, ICMP_CHECKSUM, |sum| {
        checksum::add_difference(sum, delta.ports)
    });
}

#[inline]
fn set_word(bytes: &mut [u8], at: usize, word: u16) {
    let place = bytes.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<2>);
    if let Some(place) = place {
        *place = word.to_be_bytes();
    }
}

#[inline]
fn update_word(bytes: &mut [u8], at: usize, change: impl FnOnce(u16) -> u16) {
    let place = bytes.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<2>);
    if let Some(place) = place {
        *place = change(u16::from_be_bytes(*place)).to_be_bytes();
    }
}
