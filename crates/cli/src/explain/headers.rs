//! Each header of a frame: where it begins, how long it is, what it says.

use std::net::IpAddr;

use wire::{Family, Fragment, MacAddress, Parsed, Tunnel, TunnelKind, ether_type, protocol};

use super::facts::HeaderFacts;
use super::judge::Packets;

const ETHERNET_BYTES: usize = 14;
const TAG_BYTES: usize = 4;
/// Of Ethernet and IPv4.
const ARP_BYTES: usize = 28;

/// Headers as they are found, and how far.
struct Walk<'a> {
    bytes: &'a [u8],
    found: Vec<HeaderFacts>,
    at: usize,
}

/// All headers, then what is behind them.
pub(super) fn facts(bytes: &[u8], packets: &Packets) -> Vec<HeaderFacts> {
    let mut walk = Walk {
        bytes,
        found: Vec::new(),
        at: 0,
    };
    walk.link(0, &packets.outer);
    if packets.outer.ether_type == ether_type::ARP {
        walk.arp();
    }
    walk.packet(&packets.outer, packets.tunnels.first());
    for (place, tunnel) in packets.tunnels.iter().enumerate() {
        walk.tunnel(tunnel);
        walk.packet(&tunnel.inner, packets.tunnels.get(place + 1));
    }
    let (outer, innermost) = (&packets.outer, packets.at(packets.tunnels.len()));
    let end = |packet: &Parsed| usize::from(packet.l3_offset) + packet.l3_len as usize;
    let payload = match innermost.l3_len {
        0 => bytes.len(),
        _ => end(innermost).min(bytes.len()),
    };
    let rest = match outer.ether_type {
        ether_type::ARP => "padding",
        _ => "payload",
    };
    walk.rest(rest, payload);
    if outer.l3_len != 0 {
        walk.rest("", end(outer).min(bytes.len()));
    }
    walk.rest("padding", bytes.len());
    walk.found
}

/// What else there is to say: what was cut, what is in pieces, what is wrong.
pub(super) fn notes(packets: &Packets) -> Vec<String> {
    let mut notes = Vec::new();
    let inside = |depth| {
        if depth == 0 {
            "the packet"
        } else {
            "the inner packet"
        }
    };
    for depth in 0..=packets.tunnels.len() {
        let packet = packets.at(depth);
        match packet.fragment {
            Fragment::Whole => {}
            Fragment::First => notes.push(format!(
                "{} is the first piece of one: what the others carry is unknown",
                inside(depth)
            )),
            Fragment::Later => notes.push(format!(
                "{} is a later piece of one: its ports, and what it carries, are in the first",
                inside(depth)
            )),
        }
        if packet.is_ip() && packet.protocol == protocol::ESP {
            notes.push("what is inside ESP is encrypted: nothing of it is known".to_owned());
        }
    }
    if packets.outer.snapped {
        notes.push("the capture cut the frame: what is missing is unknown".to_owned());
    }
    let fault = packets.outer.fault.or(packets.fault);
    notes.extend(fault.map(|fault| format!("malformed: {fault} ({})", fault.name())));
    notes
}

/// An address, or a dash.
pub(super) fn address(address: Option<IpAddr>) -> String {
    address.map_or_else(|| "-".to_owned(), |address| address.to_string())
}

/// A piece of the datagram with this identification: the byte that it begins at, and how many it
/// has.
fn piece(id: u32, (start, bytes): (usize, usize), more: bool) -> String {
    let range = match bytes.checked_sub(1) {
        Some(last) => format!("bytes {start} to {}", start + last),
        None => format!("no bytes at {start}"),
    };
    let what = match (start, more) {
        (0, false) => "a whole packet".to_owned(),
        (_, true) => format!("{range}, more follow"),
        (_, false) => format!("{range}, the last"),
    };
    format!("id 0x{id:x}, {what}")
}

/// The name of a protocol number, as headers and flows have it.
pub(super) fn protocol_name(number: u8) -> String {
    let known = match number {
        protocol::ICMP => "ICMP",
        protocol::IPV4 => "IPv4",
        protocol::TCP => "TCP",
        protocol::UDP => "UDP",
        protocol::IPV6 => "IPv6",
        protocol::GRE => "GRE",
        protocol::ESP => "ESP",
        protocol::AUTHENTICATION => "AH",
        protocol::ICMPV6 => "ICMPv6",
        protocol::DCCP => "DCCP",
        protocol::SCTP => "SCTP",
        protocol::UDP_LITE => "UDP-Lite",
        protocol::HOP_BY_HOP => "hop-by-hop",
        protocol::ROUTING => "routing",
        protocol::FRAGMENT => "fragment",
        protocol::DESTINATION_OPTIONS => "destination options",
        other => return format!("protocol {other}"),
    };
    known.to_owned()
}

/// A packet that a capture cut before its first byte: what carries it says that it is IP.
fn is_cut_off(packet: &Parsed) -> bool {
    packet.is_ip() && packet.l3_offset == 0
}

impl Walk<'_> {
    fn add(&mut self, name: impl Into<String>, offset: usize, bytes: usize, text: String) {
        let bytes = bytes.min(self.bytes.len().saturating_sub(offset));
        self.found.push(HeaderFacts {
            name: name.into(),
            offset,
            bytes,
            text,
        });
        self.at = offset + bytes;
    }

    /// What is left up to `end`; nothing to say without a name.
    fn rest(&mut self, name: &str, end: usize) {
        let at = self.at;
        match end.checked_sub(at).filter(|&bytes| bytes != 0) {
            Some(bytes) if !name.is_empty() => self.add(name, at, bytes, String::new()),
            Some(bytes) => self.add("trailer", at, bytes, String::new()),
            None => {}
        }
    }

    fn array<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..)?.first_chunk().copied()
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn be16(&self, at: usize) -> Option<u16> {
        self.array(at).map(u16::from_be_bytes)
    }

    fn be32(&self, at: usize) -> Option<u32> {
        self.array(at).map(u32::from_be_bytes)
    }

    /// The link header at `at`, its tags, and what of LLC there is.
    fn link(&mut self, at: usize, parsed: &Parsed) {
        let (Some(dst), Some(src)) = (self.array(at), self.array(at + 6)) else {
            return self.add("Ethernet", at, ETHERNET_BYTES, "cut".to_owned());
        };
        let (src, dst) = (MacAddress(src), MacAddress(dst));
        let carried = match parsed.ether_type {
            ether_type::IPV4 | ether_type::IPV6 => String::new(),
            ether_type::ARP => String::new(),
            length if length <= ether_type::LENGTH_MAX => format!(", 802.3 length {length}"),
            other => format!(", type 0x{other:04x}"),
        };
        self.add(
            "Ethernet",
            at,
            ETHERNET_BYTES,
            format!("{src} > {dst}{carried}"),
        );
        for tag in 0..usize::from(parsed.vlan_tags) {
            let at = at + ETHERNET_BYTES + tag * TAG_BYTES;
            let text = self.be16(at).map(|tci| format!("id {}", tci & 0x0FFF));
            self.add("VLAN", at, TAG_BYTES, text.unwrap_or_default());
        }
        if parsed.is_ip() {
            let llc = usize::from(parsed.l3_offset);
            if llc > self.at {
                self.add("LLC", self.at, llc - self.at, String::new());
            }
        }
    }

    fn tunnel(&mut self, tunnel: &Tunnel) {
        let (offset, len) = (usize::from(tunnel.offset), usize::from(tunnel.len));
        let id = |word: &str, id: u32| format!("{word} {id} (0x{id:x})");
        let (name, word) = match tunnel.kind {
            TunnelKind::Gre => ("GRE", "key"),
            TunnelKind::Vxlan => ("VXLAN", "network"),
            TunnelKind::Geneve => ("GENEVE", "network"),
            TunnelKind::GtpU => ("GTP-U", "endpoint"),
            _ => ("", ""),
        };
        if len != 0 {
            let text = tunnel.id.map_or(String::new(), |number| id(word, number));
            self.add(name, offset, len, text);
        }
        let inner = &tunnel.inner;
        if is_cut_off(inner) || offset + len >= self.bytes.len() {
            return;
        }
        if usize::from(inner.l3_offset) != offset + len || !inner.is_ip() {
            self.link(offset + len, inner);
        }
    }

    /// The IP header and what is behind it, up to the next tunnel.
    fn packet(&mut self, packet: &Parsed, next: Option<&Tunnel>) {
        if !packet.is_ip() || is_cut_off(packet) {
            return;
        }
        let at = usize::from(packet.l3_offset);
        let text = format!(
            "{} > {}",
            address(packet.src_ip()),
            address(packet.dst_ip())
        );
        match packet.family {
            Family::V6 => {
                self.add("IPv6", at, 40, text);
                self.extensions(packet);
            }
            _ => {
                let len = self
                    .byte(at)
                    .map_or(20, |first| usize::from(first & 15) * 4);
                let text = text + &self.ipv4_piece(packet, len);
                self.add("IPv4", at, len, text);
            }
        }
        let at = usize::from(packet.l4_offset);
        let (carries_ip, number) = (next.is_some(), packet.protocol);
        let in_ip = matches!(number, protocol::IPV4 | protocol::IPV6 | protocol::GRE);
        if at != 0 && !(carries_ip && in_ip) {
            self.transport(at, packet);
        }
    }

    /// Which piece of its datagram an IPv4 packet with a header of `len` bytes is; nothing for a
    /// whole one.
    fn ipv4_piece(&self, packet: &Parsed, len: usize) -> String {
        let at = usize::from(packet.l3_offset);
        let (Some(id), Some(word)) = (self.be16(at + 4), self.be16(at + 6)) else {
            return String::new();
        };
        let (start, more) = (usize::from(word & 0x1FFF) * 8, word & 0x2000 != 0);
        if packet.src_ip().is_none() || (start == 0 && !more) {
            return String::new();
        }
        let bytes = (packet.l3_len as usize).saturating_sub(len);
        format!(", {}", piece(id.into(), (start, bytes), more))
    }

    /// What the IPv6 fragment header at `at` says.
    fn ipv6_piece(&self, packet: &Parsed, at: usize) -> String {
        let (Some(word), Some(id)) = (self.be16(at + 2), self.be32(at + 4)) else {
            return String::new();
        };
        let end = usize::from(packet.l3_offset) + packet.l3_len as usize;
        let range = (usize::from(word & 0xFFF8), end.saturating_sub(at + 8));
        piece(id, range, word & 1 != 0)
    }

    fn extensions(&mut self, packet: &Parsed) {
        let first = self.byte(usize::from(packet.l3_offset) + 6);
        let (mut kind, mut at) = (first.unwrap_or(protocol::NO_NEXT_HEADER), self.at);
        for _ in 0..wire::parse::EXTENSIONS_MAX {
            let end = usize::from(packet.l4_offset);
            let within = end == 0 || at < end;
            let (Some([next, len]), true) = (self.array(at), within) else {
                return;
            };
            if !protocol::is_ipv6_extension(kind) {
                return;
            }
            let spi = self.be32(at + 4).map(|spi| format!("SPI 0x{spi:08x}"));
            let (bytes, text) = match kind {
                protocol::FRAGMENT => (8, self.ipv6_piece(packet, at)),
                protocol::AUTHENTICATION => ((usize::from(len) + 2) * 4, spi.unwrap_or_default()),
                _ => ((usize::from(len) + 1) * 8, String::new()),
            };
            self.add(protocol_name(kind), at, bytes, text);
            let later = kind == protocol::FRAGMENT && packet.fragment == Fragment::Later;
            (kind, at) = (next, self.at);
            if later {
                return;
            }
        }
    }

    /// A question or an answer about an IPv4 address (RFC 826).
    fn arp(&mut self) {
        let at = self.at;
        let of_ethernet = self.array(at) == Some([0, 1, 8, 0, 6, 4]);
        let address = |at| self.array::<4>(at).map(IpAddr::from);
        let (Some(sender), Some(target), true) = (address(at + 14), address(at + 24), of_ethernet)
        else {
            return self.add("ARP", at, ARP_BYTES, String::new());
        };
        let text = match self.be16(at + 6) {
            Some(1) => format!("who has {target}? tell {sender}"),
            Some(2) => {
                let mac = self.array(at + 8).map(MacAddress).unwrap_or_default();
                format!("{sender} is at {mac}")
            }
            operation => format!("operation {}", operation.unwrap_or(0)),
        };
        self.add("ARP", at, ARP_BYTES, text);
    }

    fn transport(&mut self, at: usize, packet: &Parsed) {
        let ports = match packet.readable.ports() {
            true => format!("{} > {}", packet.src_port, packet.dst_port),
            false => String::new(),
        };
        let spi = |at| {
            self.be32(at)
                .map_or(String::new(), |spi| format!("SPI 0x{spi:08x}"))
        };
        let (bytes, text) = match packet.protocol {
            protocol::TCP => {
                let words = self.byte(at + 12).map_or(5, |byte| usize::from(byte >> 4));
                (words * 4, ports)
            }
            protocol::UDP | protocol::UDP_LITE => (8, ports),
            protocol::SCTP | protocol::DCCP => (12, ports),
            protocol::ESP => (8, spi(at)),
            protocol::AUTHENTICATION => {
                let words = self.byte(at + 1).map_or(1, usize::from);
                ((words + 2) * 4, spi(at + 4))
            }
            protocol::ICMP | protocol::ICMPV6 => {
                let kind = self.array::<2>(at);
                (
                    8,
                    kind.map_or(String::new(), |[kind, code]| {
                        format!("type {kind}, code {code}")
                    }),
                )
            }
            protocol::GRE => (
                4,
                self.be16(at + 2)
                    .map_or(String::new(), |kind| format!("carries 0x{kind:04x}")),
            ),
            _ => return,
        };
        self.add(protocol_name(packet.protocol), at, bytes, text);
    }
}
