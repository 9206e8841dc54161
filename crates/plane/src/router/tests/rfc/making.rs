//! Packets from host 2 of port 0.

use wire::emit::{Icmp, Ipv4, Ipv6, Network, Transport};
use wire::view::Ipv4View;

use crate::router::tests::lab::{
    DATAGRAM, datagram, datagram_v6, frame, header, header_v6, v4, v6,
};

pub(super) const FAR: &str = "10.9.1.1";
/// By a link with an MTU of 1,400.
pub(super) const NARROW: &str = "10.9.8.1";
pub(super) const FAR_V6: &str = "fd09:1::1";
pub(super) const NARROW_V6: &str = "fd09:8::1";

pub(super) fn long(header: Ipv4<'_>, len: usize) -> Vec<u8> {
    let payload = vec![7; len - 28 - header.options.len()];
    frame(Network::Ipv4(header, DATAGRAM), &payload)
}

pub(super) fn long_v6(header: Ipv6<'_>, len: usize) -> Vec<u8> {
    frame(Network::Ipv6(header, DATAGRAM), &vec![7; len - 48])
}

pub(super) fn with(dst: &str, change: impl FnOnce(&mut Ipv4<'static>)) -> Ipv4<'static> {
    let mut header = header(dst);
    change(&mut header);
    header
}

pub(super) fn with_v6(dst: &str, change: impl FnOnce(&mut Ipv6<'static>)) -> Ipv6<'static> {
    let mut header = header_v6(dst);
    change(&mut header);
    header
}

pub(super) fn options(options: &'static [u8]) -> Vec<u8> {
    datagram(with(FAR, |own| own.options = options))
}

pub(super) fn from(src: &str) -> Vec<u8> {
    datagram(with(FAR, |own| own.src = v4(src)))
}

pub(super) fn from_v6(src: &str) -> Vec<u8> {
    datagram_v6(with_v6(FAR_V6, |own| own.src = v6(src)))
}

pub(super) fn message(header: Ipv4<'_>, kind: u8, code: u8) -> Vec<u8> {
    let rest = 0x0001_0002;
    let message = Transport::Icmp(Icmp { kind, code, rest });
    frame(Network::Ipv4(header, message), &[0xAB; 48])
}

pub(super) fn message_v6(header: Ipv6<'_>, kind: u8, code: u8) -> Vec<u8> {
    let rest = 0x0001_0002;
    let message = Transport::Icmpv6(Icmp { kind, code, rest });
    frame(Network::Ipv6(header, message), &[0xAB; 48])
}

pub(super) fn raw(header: Ipv4<'_>, protocol: u8) -> Vec<u8> {
    frame(Network::Ipv4(header, Transport::Raw(protocol)), &[1; 40])
}

/// A frame with a byte changed behind the Ethernet header, and a header checksum that is right.
pub(super) fn changed(mut bytes: Vec<u8>, at: usize, to: u8) -> Vec<u8> {
    bytes[14 + at] = to;
    if let Ok(mut view) = Ipv4View::new_checked(&mut bytes[14..]) {
        view.fill_checksum();
    }
    bytes
}

pub(super) fn wrong_checksum() -> Vec<u8> {
    let mut bytes = datagram(header(FAR));
    bytes[24] ^= 1;
    bytes
}

pub(super) fn plain(dst: &str) -> Vec<u8> {
    datagram(header(dst))
}

pub(super) fn plain_v6(dst: &str) -> Vec<u8> {
    datagram_v6(header_v6(dst))
}
