//! Link headers that are not Ethernet's, made into one.
//!
//! Captures of pseudo interfaces (`any`, tunnels, loopback of BSD) hold packets behind another
//! header or behind none. What such a header says of a packet fits into that of Ethernet: the
//! protocol, and with Linux the sender's address. Packets keep every byte.

use super::LinkType;
use crate::ether_type;

/// Bytes of the header that is made.
pub const ETHERNET_BYTES: usize = 14;

/// Address families of loopback headers: IPv4 is 2 everywhere, IPv6 differs by system (Linux 10;
/// NetBSD and OpenBSD 24; FreeBSD 28; macOS 30).
const FAMILY_IPV4: u32 = 2;
const FAMILIES_IPV6: [u32; 4] = [10, 24, 28, 30];

/// Linux's packet types (LINKTYPE_LINUX_SLL): to everybody, to a group.
const TO_BROADCAST: u16 = 1;
const TO_MULTICAST: u16 = 2;

/// Kinds of interfaces (ARPHRD_*) whose protocol is no EtherType: IEEE 802.11 in its three forms,
/// Frame Relay, netlink.
const OTHER_PROTOCOLS: [u16; 5] = [801, 802, 803, 770, 824];

/// Below this a protocol is no EtherType: frames of IEEE 802.3 and Linux's own numbers.
const ETHER_TYPE_MIN: u16 = 0x0600;
/// Linux's number of a frame that begins with an LLC header, which has a length in Ethernet.
const LLC: u16 = 4;

/// How many bytes of a captured packet are its link header, and the Ethernet header for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkHeader {
    /// Bytes that the Ethernet header takes the place of.
    pub bytes: usize,
    /// What takes it.
    pub ethernet: [u8; ETHERNET_BYTES],
}

impl LinkType {
    /// Whether [`LinkHeader::read`] knows the link type.
    #[must_use]
    pub const fn is_known(self) -> bool {
        matches!(self.0, 0 | 12 | 14 | 101 | 108 | 113 | 228 | 229 | 276)
    }
}

impl LinkHeader {
    /// Reads the link header of a packet of which `captured` are the first bytes and which had
    /// `original_len`. `None` for another link type, for a header that was cut, and for what is
    /// behind one and has no EtherType.
    #[must_use]
    pub fn read(link_type: LinkType, captured: &[u8], original_len: usize) -> Option<Self> {
        match link_type.0 {
            0 | 108 => loopback(link_type, captured),
            12 | 14 | 101 => match captured.first()? >> 4 {
                4 => Some(bare(0, ether_type::IPV4)),
                6 => Some(bare(0, ether_type::IPV6)),
                _ => None,
            },
            228 => Some(bare(0, ether_type::IPV4)),
            229 => Some(bare(0, ether_type::IPV6)),
            113 => sll(captured, original_len),
            276 => sll2(captured, original_len),
            _ => None,
        }
    }
}

/// A header that knows no addresses.
fn bare(bytes: usize, ether_type: u16) -> LinkHeader {
    let mut ethernet = [0; ETHERNET_BYTES];
    ethernet[12..].copy_from_slice(&ether_type.to_be_bytes());
    LinkHeader { bytes, ethernet }
}

/// LINKTYPE_NULL has the family in the byte order of the machine that captured, which may be
/// another than that of the file; LINKTYPE_LOOP in that of the network.
fn loopback(link_type: LinkType, captured: &[u8]) -> Option<LinkHeader> {
    let word = *captured.first_chunk()?;
    let orders = [u32::from_be_bytes(word), u32::from_le_bytes(word)];
    let readings = if link_type.0 == 108 {
        &orders[..1]
    } else {
        &orders[..]
    };
    if readings.contains(&FAMILY_IPV4) {
        return Some(bare(4, ether_type::IPV4));
    }
    let is_ipv6 = readings.iter().any(|family| FAMILIES_IPV6.contains(family));
    is_ipv6.then(|| bare(4, ether_type::IPV6))
}

/// What both versions of Linux's header say.
struct Cooked {
    bytes: usize,
    /// To whom the packet went, by its kind.
    to: u16,
    /// The kind of the interface.
    kind: u16,
    address_len: u16,
    address: [u8; 8],
    protocol: u16,
}

fn sll(captured: &[u8], original_len: usize) -> Option<LinkHeader> {
    let head = captured.first_chunk::<16>()?;
    let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let cooked = Cooked {
        bytes: 16,
        to: word(0),
        kind: word(2),
        address_len: word(4),
        address: *head[6..].first_chunk()?,
        protocol: word(14),
    };
    cooked.header(original_len)
}

fn sll2(captured: &[u8], original_len: usize) -> Option<LinkHeader> {
    let head = captured.first_chunk::<20>()?;
    let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let cooked = Cooked {
        bytes: 20,
        to: head[10].into(),
        kind: word(8),
        address_len: head[11].into(),
        address: *head[12..].first_chunk()?,
        protocol: word(0),
    };
    cooked.header(original_len)
}

impl Cooked {
    fn header(&self, original_len: usize) -> Option<LinkHeader> {
        if OTHER_PROTOCOLS.contains(&self.kind) {
            return None;
        }
        let ether_type = match self.protocol {
            LLC => u16::try_from(original_len.checked_sub(self.bytes)?).ok()?,
            protocol if protocol >= ETHER_TYPE_MIN => protocol,
            _ => return None,
        };
        let mut header = bare(self.bytes, ether_type);
        match self.to {
            TO_BROADCAST => header.ethernet[..6].fill(0xff),
            // Which group is not told; that it is one is.
            TO_MULTICAST => header.ethernet[0] = 1,
            _ => {}
        }
        if self.address_len == 6 {
            header.ethernet[6..12].copy_from_slice(&self.address[..6]);
        }
        Some(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENDER: [u8; 8] = [2, 0, 0, 0, 0, 7, 0, 0];

    fn cooked(to: u16, kind: u16, address_len: u16, protocol: u16) -> Vec<u8> {
        let words = [to, kind, address_len].map(u16::to_be_bytes).concat();
        [&words[..], &SENDER, &protocol.to_be_bytes()].concat()
    }

    fn cooked2(to: u8, kind: u16, address_len: u8, protocol: u16) -> Vec<u8> {
        let index = [0, 0, 0, 0, 0, 3];
        let kind = kind.to_be_bytes();
        [
            &protocol.to_be_bytes()[..],
            &index,
            &kind,
            &[to, address_len],
            &SENDER,
        ]
        .concat()
    }

    #[test]
    fn link_headers_become_those_of_ethernet() {
        let none = [0; 6];
        let sender = [2, 0, 0, 0, 0, 7];
        let broadcast = [0xff; 6];
        let group = [1, 0, 0, 0, 0, 0];
        for (link_type, captured, skipped, dst, src, ether_type) in [
            (0, vec![2, 0, 0, 0], 4, none, none, 0x0800),
            (0, vec![0, 0, 0, 2], 4, none, none, 0x0800),
            (0, vec![30, 0, 0, 0], 4, none, none, 0x86dd),
            (0, vec![24, 0, 0, 0], 4, none, none, 0x86dd),
            (0, vec![0, 0, 0, 28], 4, none, none, 0x86dd),
            (0, vec![10, 0, 0, 0], 4, none, none, 0x86dd),
            (108, vec![0, 0, 0, 2], 4, none, none, 0x0800),
            (108, vec![0, 0, 0, 24], 4, none, none, 0x86dd),
            (12, vec![0x45], 0, none, none, 0x0800),
            (14, vec![0x46], 0, none, none, 0x0800),
            (101, vec![0x60], 0, none, none, 0x86dd),
            (228, vec![0x45], 0, none, none, 0x0800),
            (229, vec![0x60], 0, none, none, 0x86dd),
            (113, cooked(0, 1, 6, 0x0800), 16, none, sender, 0x0800),
            (113, cooked(1, 1, 6, 0x0806), 16, broadcast, sender, 0x0806),
            (113, cooked(2, 1, 6, 0x86dd), 16, group, sender, 0x86dd),
            (113, cooked(4, 772, 6, 0x8100), 16, none, sender, 0x8100),
            (113, cooked(0, 65_534, 0, 0x0800), 16, none, none, 0x0800),
            (113, cooked(0, 1, 6, 4), 16, none, sender, 84),
            (276, cooked2(0, 1, 6, 0x0800), 20, none, sender, 0x0800),
            (276, cooked2(4, 512, 0, 0x86dd), 20, none, none, 0x86dd),
        ] {
            let header = LinkHeader::read(LinkType(link_type), &captured, 100);
            let header = header.unwrap_or_else(|| panic!("{link_type}: {captured:?}"));
            assert_eq!(header.bytes, skipped, "{link_type}");
            let ether_type = u16::to_be_bytes(ether_type);
            let ethernet = [&dst[..], &src, &ether_type].concat();
            assert_eq!(header.ethernet[..], ethernet, "{link_type}: {captured:?}");
            assert!(LinkType(link_type).is_known());
        }
    }

    #[test]
    fn what_has_no_ether_type_is_none() {
        for (link_type, captured) in [
            (0, vec![2, 0, 0]),
            (0, vec![7, 0, 0, 0]),
            (108, vec![2, 0, 0, 0]),
            (101, vec![]),
            (101, vec![0x55]),
            (113, cooked(0, 1, 6, 0x0800)[..15].to_vec()),
            (113, cooked(0, 824, 0, 0x0800)),
            (113, cooked(0, 803, 0, 0x0800)),
            (113, cooked(0, 1, 6, 1)),
            (276, cooked2(0, 1, 6, 0x0800)[..19].to_vec()),
            (276, cooked2(0, 1, 6, 0x000c)),
            (105, vec![0; 64]),
            (1, vec![0; 64]),
        ] {
            let header = LinkHeader::read(LinkType(link_type), &captured, captured.len());
            assert_eq!(header, None, "{link_type}: {captured:?}");
        }
    }
}
