//! Hash types: what of a frame goes into its hash, by its protocol.

use crate::{Family, FlowKey, protocol};

/// IPv6 header.
const IPV6_BYTES: usize = 40;
const NEXT_HEADER: usize = 6;
/// Extension headers looked at, as a NIC has limits too.
const HEADERS_MAX: usize = 8;
/// Home address option (RFC 6275, section 6.3), and its length.
const HOME_ADDRESS: u8 = 0xC9;
/// A routing header with one home address (RFC 6275, section 6.4).
const ROUTING_HOME: u8 = 2;

/// What goes into the hash of one kind of frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HashInput {
    /// The kind is not told apart: as other frames of its family.
    Family,
    /// Both addresses.
    Addresses,
    /// Both addresses and both ports.
    Ports,
}

/// Which frames are hashed and how, as the `NDIS_HASH_*` types have it ("RSS hashing types",
/// Microsoft) and `ethtool -n IFACE rx-flow-hash` shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HashTypes {
    /// Whether IPv4 frames of other kinds are hashed, by addresses.
    pub ipv4: bool,
    /// TCP over IPv4.
    pub tcp4: HashInput,
    /// UDP over IPv4.
    pub udp4: HashInput,
    /// Whether IPv6 frames of other kinds are hashed, by addresses.
    pub ipv6: bool,
    /// TCP over IPv6.
    pub tcp6: HashInput,
    /// UDP over IPv6.
    pub udp6: HashInput,
    /// Home addresses of mobile IPv6 stand in for those of the header (the `_EX` types).
    pub extensions: bool,
}

impl HashTypes {
    /// TCP and UDP by ports, the rest by addresses.
    pub const ALL: Self = Self {
        ipv4: true,
        tcp4: HashInput::Ports,
        udp4: HashInput::Ports,
        ipv6: true,
        tcp6: HashInput::Ports,
        udp6: HashInput::Ports,
        extensions: false,
    };

    /// TCP by ports, UDP by addresses, as many drivers begin: of a fragmented datagram only the
    /// first piece has ports, and all are to meet.
    pub const UDP_BY_ADDRESSES: Self = Self {
        udp4: HashInput::Addresses,
        udp6: HashInput::Addresses,
        ..Self::ALL
    };

    /// Addresses alone.
    pub const ADDRESSES: Self = Self {
        tcp4: HashInput::Addresses,
        tcp6: HashInput::Addresses,
        ..Self::UDP_BY_ADDRESSES
    };

    /// What goes into the hash of a frame of this family and protocol; none where it has no hash.
    #[inline]
    #[must_use]
    pub const fn input(&self, family: Family, protocol: u8) -> Option<HashInput> {
        let (others, tcp, udp) = match family {
            Family::V6 => (self.ipv6, self.tcp6, self.udp6),
            _ => (self.ipv4, self.tcp4, self.udp4),
        };
        let special = match protocol {
            protocol::TCP => tcp,
            protocol::UDP => udp,
            _ => HashInput::Family,
        };
        match special {
            HashInput::Family if others => Some(HashInput::Addresses),
            HashInput::Family => None,
            input => Some(input),
        }
    }

    /// The flow with no more than what goes into its hash; none where it has no hash. A fragment
    /// has no ports in its key, and so goes by addresses whatever its protocol.
    #[inline]
    #[must_use]
    pub const fn masked(&self, flow: &FlowKey) -> Option<FlowKey> {
        match self.input(flow.family, flow.protocol) {
            Some(HashInput::Ports) => Some(*flow),
            Some(_) => Some(FlowKey {
                src_port: 0,
                dst_port: 0,
                ..*flow
            }),
            None => None,
        }
    }
}

/// Source and destination of an IPv6 packet by its mobile extensions: the home address option in
/// place of the source, the address of a type 2 routing header in place of the destination. What
/// has neither keeps the header's; none where the bytes end before.
#[must_use]
pub fn extended_addresses(packet: &[u8]) -> Option<(u128, u128)> {
    let header = packet.first_chunk::<IPV6_BYTES>()?;
    let (mut src, mut dst) = (address(&header[8..])?, address(&header[24..])?);
    let (mut next, mut rest) = (header[NEXT_HEADER], &packet[IPV6_BYTES..]);
    for _ in 0..HEADERS_MAX {
        let bytes = match next {
            protocol::HOP_BY_HOP | protocol::ROUTING | protocol::DESTINATION_OPTIONS => {
                8 + usize::from(*rest.get(1)?) * 8
            }
            // A fragment has its transport elsewhere, but its addresses here.
            protocol::FRAGMENT => 8,
            _ => break,
        };
        let this = rest.get(..bytes)?;
        match next {
            protocol::ROUTING if this[2] == ROUTING_HOME && this[3] == 1 => {
                dst = this.get(8..).and_then(address).unwrap_or(dst);
            }
            protocol::DESTINATION_OPTIONS => src = home_address(&this[2..]).unwrap_or(src),
            _ => {}
        }
        (next, rest) = (this[0], &rest[bytes..]);
    }
    Some((src, dst))
}

/// The address in the first home address option.
fn home_address(mut options: &[u8]) -> Option<u128> {
    loop {
        options = match options {
            // One byte of padding, the only option without a length.
            [0, rest @ ..] => rest,
            [HOME_ADDRESS, 16, rest @ ..] => return address(rest),
            [_, len, rest @ ..] => rest.get(usize::from(*len)..)?,
            _ => return None,
        };
    }
}

fn address(bytes: &[u8]) -> Option<u128> {
    Some(u128::from_be_bytes(*bytes.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn flow(protocol: u8) -> FlowKey {
        FlowKey::v4(1, 2, 3, 4, protocol)
    }

    #[test]
    fn ports_count_by_protocol() {
        let ports = |types: HashTypes, flow: FlowKey| {
            types
                .masked(&flow)
                .map(|flow| (flow.src_port, flow.dst_port))
        };
        let udp = HashTypes::UDP_BY_ADDRESSES;
        assert_eq!(ports(udp, flow(protocol::TCP)), Some((3, 4)));
        assert_eq!(ports(udp, flow(protocol::UDP)), Some((0, 0)));
        assert_eq!(ports(HashTypes::ALL, flow(protocol::UDP)), Some((3, 4)));
        // The suite has no type for it.
        assert_eq!(ports(HashTypes::ALL, flow(protocol::SCTP)), Some((0, 0)));
        let six = FlowKey::v6(1, 2, 3, 4, protocol::UDP);
        assert_eq!(ports(udp, six), Some((0, 0)));
        let tcp_alone = HashTypes {
            ipv4: false,
            udp4: HashInput::Family,
            ..HashTypes::ALL
        };
        assert_eq!(ports(tcp_alone, flow(protocol::TCP)), Some((3, 4)));
        assert_eq!(ports(tcp_alone, flow(protocol::UDP)), None);
        assert_eq!(ports(tcp_alone, flow(protocol::ICMP)), None);
        assert_eq!(ports(tcp_alone, six), Some((3, 4)));
    }

    /// An IPv6 packet with these extension headers, each with the number of its own kind.
    fn packet(headers: &[(u8, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = vec![0; IPV6_BYTES];
        bytes[23] = 1;
        bytes[39] = 2;
        let mut place = NEXT_HEADER;
        for (kind, header) in headers {
            bytes[place] = *kind;
            place = bytes.len();
            bytes.push(0);
            bytes.extend(header);
        }
        bytes[place] = protocol::UDP;
        bytes
    }

    fn home_option(last: u8) -> Vec<u8> {
        let mut header = vec![2, 1, 2, 0, 0, HOME_ADDRESS, 16];
        header.extend([0; 15]);
        header.push(last);
        header
    }

    fn routing(kind: u8, left: u8, last: u8) -> Vec<u8> {
        let mut header = vec![2, kind, left, 0, 0, 0, 0];
        header.extend([0; 15]);
        header.push(last);
        header
    }

    #[test]
    fn home_addresses_stand_in() {
        use protocol::{DESTINATION_OPTIONS, HOP_BY_HOP, ROUTING};
        let nothing = vec![0, 1, 4, 0, 0, 0, 0];
        assert_eq!(extended_addresses(&packet(&[])), Some((1, 2)));
        let both = [
            (HOP_BY_HOP, nothing),
            (ROUTING, routing(2, 1, 8)),
            (DESTINATION_OPTIONS, home_option(9)),
        ];
        assert_eq!(extended_addresses(&packet(&both)), Some((9, 8)));
        // Other kinds of routing, and one that has arrived, are the header's business.
        for (kind, left) in [(0, 1), (2, 0), (4, 1)] {
            let header = [(ROUTING, routing(kind, left, 8))];
            assert_eq!(extended_addresses(&packet(&header)), Some((1, 2)));
        }
        let whole = packet(&both);
        for end in 0..whole.len() {
            let cut = extended_addresses(&whole[..end]);
            assert!(cut.is_none(), "{end} {cut:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_give_an_answer(mut bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Some(next) = bytes.get_mut(NEXT_HEADER) {
                *next = protocol::DESTINATION_OPTIONS;
            }
            let _ = extended_addresses(&bytes);
        }
    }
}
