//! ICMP and ICMPv6 errors: which one, who sent it, and about a packet of whom.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::view::IcmpView;
use crate::{Family, Fragment, parse, protocol};

macro_rules! kinds {
    ($($variant:ident = $name:literal, $title:literal, $meaning:literal;)+) => {
        /// What an error says.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum IcmpErrorKind {
            $(#[doc = concat!("ICMP ", $title, ": ", $meaning, ".")] $variant,)+
        }

        impl IcmpErrorKind {
            /// All, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name in JSON, `snake_case`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The name in a sentence, behind "ICMP".
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)+ }
            }

            /// What it likely means for who sent the packets, without capital and full stop.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)+ }
            }
        }
    };
}

kinds! {
    NetUnreachable = "net_unreachable", "network unreachable",
        "a router on the way has no route to the destination";
    HostUnreachable = "host_unreachable", "host unreachable",
        "the last router gets no answer for the destination by ARP or neighbour discovery";
    ProtocolUnreachable = "protocol_unreachable", "protocol unreachable",
        "the frames reached a host that does not speak their protocol";
    PortUnreachable = "port_unreachable", "port unreachable",
        "the frames reached a host, and no program there has their destination port";
    TooBig = "too_big", "fragmentation needed or packet too big",
        "the frames are longer than the MTU of a link on the way";
    Prohibited = "prohibited", "administratively prohibited",
        "a filter on the way refuses the frames";
    Unreachable = "unreachable", "destination unreachable",
        "the frames could not be delivered";
    TimeExceeded = "time_exceeded", "time exceeded",
        "the hop limit ran out, as in a routing loop, or fragments did not come in time";
    ParameterProblem = "parameter_problem", "parameter problem",
        "a field of the IP header or an extension header was not understood";
}

/// One error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IcmpError {
    /// What it says.
    pub kind: IcmpErrorKind,
    /// Who sent it.
    pub from: IpAddr,
    /// Who sent the packet that it is about.
    pub about: IpAddr,
}

impl IcmpError {
    /// Of a frame; `None` where it is no error, or does not hold the addresses of its packet.
    #[must_use]
    pub fn read(frame: &[u8]) -> Option<Self> {
        let parsed = parse(frame, frame.len());
        if parsed.l4_offset == 0 || parsed.fragment == Fragment::Later {
            return None;
        }
        let message = frame.get(usize::from(parsed.l4_offset)..)?;
        let message = IcmpView::new_checked(message).ok()?;
        let quoted = message.payload();
        let (kind, code) = (message.kind(), message.code());
        match (parsed.family, parsed.protocol) {
            (Family::V4, protocol::ICMP) => Some(Self {
                kind: of_v4(kind, code)?,
                from: Ipv4Addr::from_bits(parsed.src as u32).into(),
                about: Ipv4Addr::from(quoted_at::<4>(quoted, 4, 12)?).into(),
            }),
            (Family::V6, protocol::ICMPV6) => Some(Self {
                kind: of_v6(kind, code)?,
                from: Ipv6Addr::from_bits(parsed.src).into(),
                about: Ipv6Addr::from(quoted_at::<16>(quoted, 6, 8)?).into(),
            }),
            _ => None,
        }
    }
}

/// An address of the packet that is quoted, of this IP version.
fn quoted_at<const N: usize>(quoted: &[u8], version: u8, at: usize) -> Option<[u8; N]> {
    let own = quoted.first()? >> 4 == version;
    let address = quoted.get(at..at + N).filter(|_| own)?;
    address.try_into().ok()
}

impl IcmpErrorKind {
    /// Of a type and a code, in ICMP (V4) or ICMPv6 (V6); `None` where they are no error.
    #[must_use]
    pub fn of(family: Family, kind: u8, code: u8) -> Option<Self> {
        match family {
            Family::V4 => of_v4(kind, code),
            Family::V6 => of_v6(kind, code),
            Family::None => None,
        }
    }
}

/// Types and codes of RFC 792, RFC 1122 and RFC 1812.
fn of_v4(kind: u8, code: u8) -> Option<IcmpErrorKind> {
    use IcmpErrorKind as Kind;
    match (kind, code) {
        (3, 0 | 6 | 11) => Some(Kind::NetUnreachable),
        (3, 1 | 7 | 12) => Some(Kind::HostUnreachable),
        (3, 2) => Some(Kind::ProtocolUnreachable),
        (3, 3) => Some(Kind::PortUnreachable),
        (3, 4) => Some(Kind::TooBig),
        (3, 9 | 10 | 13) => Some(Kind::Prohibited),
        (3, _) => Some(Kind::Unreachable),
        (11, _) => Some(Kind::TimeExceeded),
        (12, _) => Some(Kind::ParameterProblem),
        _ => None,
    }
}

/// Types and codes of RFC 4443.
fn of_v6(kind: u8, code: u8) -> Option<IcmpErrorKind> {
    use IcmpErrorKind as Kind;
    match (kind, code) {
        (1, 0) => Some(Kind::NetUnreachable),
        (1, 1 | 5 | 6) => Some(Kind::Prohibited),
        (1, 3) => Some(Kind::HostUnreachable),
        (1, 4) => Some(Kind::PortUnreachable),
        (1, _) => Some(Kind::Unreachable),
        (2, _) => Some(Kind::TooBig),
        (3, _) => Some(Kind::TimeExceeded),
        (4, _) => Some(Kind::ParameterProblem),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::{Icmp, Ipv4, Ipv6, Network, Recipe, Transport};

    fn frame(network: Network<'_>, payload: &[u8]) -> Vec<u8> {
        let recipe = Recipe {
            network,
            payload,
            ..Recipe::default()
        };
        let mut bytes = vec![0; recipe.frame_len()];
        recipe.emit(&mut bytes).unwrap();
        bytes
    }

    /// The packet in a frame without tags.
    fn packet(network: Network<'_>) -> Vec<u8> {
        frame(network, &[0; 8])[14..].to_vec()
    }

    const PORTS: Transport<'_> = Transport::Udp {
        src_port: 1,
        dst_port: 2,
    };

    fn v4(kind: u8, code: u8, quoted: &[u8]) -> Vec<u8> {
        let message = Icmp {
            kind,
            code,
            rest: 0,
        };
        let ip = Ipv4 {
            src: 0xC633_6401,
            ..Ipv4::default()
        };
        frame(Network::Ipv4(ip, Transport::Icmp(message)), quoted)
    }

    fn v6(kind: u8, code: u8, quoted: &[u8]) -> Vec<u8> {
        let message = Icmp {
            kind,
            code,
            rest: 0,
        };
        let ip = Ipv6 {
            src: 0x2001_0DB8 << 96 | 1,
            ..Ipv6::default()
        };
        frame(Network::Ipv6(ip, Transport::Icmpv6(message)), quoted)
    }

    #[test]
    fn errors_are_told_apart_by_kind_and_sender() {
        use IcmpErrorKind as Kind;
        let (of_v4, of_v6) = (
            Ipv4 {
                src: 0x0A00_0001,
                ..Ipv4::default()
            },
            Ipv6 {
                src: 7,
                ..Ipv6::default()
            },
        );
        let sent4 = packet(Network::Ipv4(of_v4, PORTS));
        let sent6 = packet(Network::Ipv6(of_v6, PORTS));
        let table = [
            (v4(3, 0, &sent4), Some(Kind::NetUnreachable)),
            (v4(3, 1, &sent4), Some(Kind::HostUnreachable)),
            (v4(3, 2, &sent4), Some(Kind::ProtocolUnreachable)),
            (v4(3, 3, &sent4), Some(Kind::PortUnreachable)),
            (v4(3, 4, &sent4), Some(Kind::TooBig)),
            (v4(3, 13, &sent4), Some(Kind::Prohibited)),
            (v4(3, 5, &sent4), Some(Kind::Unreachable)),
            (v4(11, 0, &sent4), Some(Kind::TimeExceeded)),
            (v4(12, 0, &sent4), Some(Kind::ParameterProblem)),
            (v6(1, 0, &sent6), Some(Kind::NetUnreachable)),
            (v6(1, 1, &sent6), Some(Kind::Prohibited)),
            (v6(1, 3, &sent6), Some(Kind::HostUnreachable)),
            (v6(1, 4, &sent6), Some(Kind::PortUnreachable)),
            (v6(2, 0, &sent6), Some(Kind::TooBig)),
            (v6(3, 0, &sent6), Some(Kind::TimeExceeded)),
            (v6(4, 1, &sent6), Some(Kind::ParameterProblem)),
            // Echoes, redirects, neighbour discovery, and quotes that hold no packet of the family.
            (v4(8, 0, &sent4), None),
            (v4(5, 1, &sent4), None),
            (v6(129, 0, &sent6), None),
            (v6(135, 0, &sent6), None),
            (v4(3, 3, &sent6), None),
            (v6(1, 4, &sent4), None),
            (v4(3, 3, &sent4[..15]), None),
            (v4(3, 3, &[]), None),
            (frame(Network::Ipv4(of_v4, PORTS), &[0; 40]), None),
        ];
        for (bytes, kind) in table {
            let found = IcmpError::read(&bytes);
            assert_eq!(found.map(|own| own.kind), kind, "{bytes:02x?}");
            let addresses = found.map(|own| (own.from.to_string(), own.about.to_string()));
            let expected = match bytes[12] {
                0x08 => ("198.51.100.1", "10.0.0.1"),
                _ => ("2001:db8::1", "::7"),
            };
            let expected = (expected.0.to_owned(), expected.1.to_owned());
            assert!(addresses.is_none_or(|own| own == expected), "{bytes:02x?}");
            for len in 0..bytes.len() {
                let _no_panic = IcmpError::read(&bytes[..len]);
            }
        }
    }
}
