//! Hash types: what of a frame goes into its hash, by its protocol.

use crate::{Family, FlowKey, protocol};

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

#[cfg(test)]
mod tests {
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
}
