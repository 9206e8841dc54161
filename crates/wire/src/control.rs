//! Frames by which hosts, switches and routers talk about the link itself: what comes to a test
//! port unasked, told apart.

use crate::view::{ArpView, IcmpView};
use crate::{Fragment, ether_type, parse, protocol};

macro_rules! controls {
    ($($variant:ident = $name:literal, $title:literal;)+) => {
        /// A frame that is about the link, by its protocol.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Control {
            $(#[doc = concat!("Of ", $title, ".")] $variant,)+
        }

        impl Control {
            /// All, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name in JSON, `snake_case`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The name in a sentence, of several.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)+ }
            }
        }
    };
}

controls! {
    ArpRequest = "arp_request", "ARP requests";
    ArpReply = "arp_reply", "ARP replies";
    ReverseArp = "reverse_arp", "reverse ARP messages";
    NeighbourSolicitation = "neighbour_solicitation", "neighbour solicitations";
    NeighbourAdvertisement = "neighbour_advertisement", "neighbour advertisements";
    RouterSolicitation = "router_solicitation", "router solicitations";
    RouterAdvertisement = "router_advertisement", "router advertisements";
    MulticastListener = "mld", "multicast listener messages";
    Igmp = "igmp", "IGMP messages";
    Lldp = "lldp", "LLDP messages";
    SpanningTree = "stp", "spanning tree messages";
}

/// The group address of spanning tree (IEEE 802.1D), which bridges do not pass on.
const SPANNING_TREE: [u8; 6] = [0x01, 0x80, 0xC2, 0, 0, 0];

impl Control {
    /// What a frame is; `None` where it is something else.
    #[must_use]
    pub fn read(frame: &[u8]) -> Option<Self> {
        let parsed = parse(frame, frame.len());
        let layer = |at: u16| frame.get(usize::from(at)..).unwrap_or_default();
        match parsed.ether_type {
            ether_type::ARP => {
                let message = ArpView::new_checked(layer(parsed.l3_offset)).ok()??;
                return match message.operation() {
                    1 => Some(Self::ArpRequest),
                    2 => Some(Self::ArpReply),
                    _ => None,
                };
            }
            ether_type::REVERSE_ARP => return Some(Self::ReverseArp),
            ether_type::LLDP => return Some(Self::Lldp),
            0..=ether_type::LENGTH_MAX => {
                return frame
                    .starts_with(&SPANNING_TREE)
                    .then_some(Self::SpanningTree);
            }
            _ => {}
        }
        match parsed.protocol {
            protocol::IGMP if parsed.ether_type == ether_type::IPV4 => Some(Self::Igmp),
            protocol::ICMPV6 if parsed.fragment != Fragment::Later && parsed.l4_offset != 0 => {
                let message = IcmpView::new_checked(layer(parsed.l4_offset)).ok()?;
                Self::of_icmpv6(message.kind())
            }
            _ => None,
        }
    }

    /// Types of messages: RFC 2710, RFC 3810, RFC 4861.
    fn of_icmpv6(kind: u8) -> Option<Self> {
        match kind {
            130..=132 | 143 => Some(Self::MulticastListener),
            133 => Some(Self::RouterSolicitation),
            134 => Some(Self::RouterAdvertisement),
            135 => Some(Self::NeighbourSolicitation),
            136 => Some(Self::NeighbourAdvertisement),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::{Arp, Icmp, Ipv4, Ipv6, Network, Recipe, Transport};

    fn frame(network: Network<'_>) -> Vec<u8> {
        let recipe = Recipe {
            network,
            payload: &[0; 24],
            ..Recipe::default()
        };
        let mut bytes = vec![0; recipe.frame_len()];
        recipe.emit(&mut bytes).unwrap();
        bytes
    }

    fn arp(operation: u16) -> Vec<u8> {
        frame(Network::Arp(Arp {
            operation,
            ..Arp::default()
        }))
    }

    fn icmpv6(kind: u8) -> Vec<u8> {
        let message = Icmp {
            kind,
            ..Icmp::default()
        };
        frame(Network::Ipv6(Ipv6::default(), Transport::Icmpv6(message)))
    }

    fn ipv4(transport: Transport<'_>) -> Vec<u8> {
        frame(Network::Ipv4(Ipv4::default(), transport))
    }

    #[test]
    fn frames_about_the_link_are_told_apart() {
        let mut spanning = vec![0_u8; 60];
        spanning[..6].copy_from_slice(&SPANNING_TREE);
        spanning[13] = 38;
        let ports = Transport::Udp {
            src_port: 1,
            dst_port: 2,
        };
        let table = [
            (arp(1), Some(Control::ArpRequest)),
            (arp(2), Some(Control::ArpReply)),
            (arp(3), None),
            (frame(Network::Other(0x8035)), Some(Control::ReverseArp)),
            (frame(Network::Other(0x88CC)), Some(Control::Lldp)),
            (frame(Network::Other(0x88B5)), None),
            (icmpv6(131), Some(Control::MulticastListener)),
            (icmpv6(133), Some(Control::RouterSolicitation)),
            (icmpv6(134), Some(Control::RouterAdvertisement)),
            (icmpv6(135), Some(Control::NeighbourSolicitation)),
            (icmpv6(136), Some(Control::NeighbourAdvertisement)),
            // Test frames may be echo requests.
            (icmpv6(128), None),
            (ipv4(Transport::Raw(2)), Some(Control::Igmp)),
            (ipv4(ports), None),
            (spanning, Some(Control::SpanningTree)),
            (vec![0; 60], None),
        ];
        for (bytes, expected) in table {
            assert_eq!(Control::read(&bytes), expected, "{bytes:02x?}");
            for len in 0..bytes.len() {
                let _no_panic = Control::read(&bytes[..len]);
            }
        }
    }
}
