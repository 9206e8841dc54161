//! The faults a frame can have, each declared once: variant, name, sentence.
//!
//! Counters, reports, JSON and documentation derive from this list. [`crate::parse`] gives the
//! first fault in the order of the bytes; the addresses in front of it are read all the same.

use core::fmt;

macro_rules! malformed {
    ($($variant:ident $name:literal $sentence:literal)*) => {
        /// What is wrong with a frame: the first fault found on the walk from its first byte.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Malformed {
            $(#[doc = $sentence] $variant,)*
        }

        impl Malformed {
            /// Every fault, in the order of [`Malformed::index`].
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// How many faults there are: the length of an array of counters.
            pub const COUNT: usize = Self::ALL.len();

            /// The name used in reports and JSON: lower case, underscores, unique.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// One sentence that says what is wrong, without a full stop.
            #[must_use]
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence,)* }
            }
        }
    };
}

malformed! {
    EthernetTruncated "ethernet_truncated"
        "the frame ends inside its Ethernet header"
    VlanTagTruncated "vlan_tag_truncated"
        "the frame ends inside a VLAN tag"
    TooManyVlanTags "too_many_vlan_tags"
        "the frame has more than eight VLAN tags"
    LlcTruncated "llc_truncated"
        "the frame ends inside its LLC header"
    SnapTruncated "snap_truncated"
        "the frame ends inside its SNAP header"
    LlcLengthBeyondFrame "llc_length_beyond_frame"
        "the 802.3 length of a frame that carries IP is greater than the frame"
    ArpTruncated "arp_truncated"
        "the frame ends inside its ARP message"
    Ipv4HeaderTruncated "ipv4_header_truncated"
        "the frame ends inside its IPv4 header"
    Ipv4Version "ipv4_version"
        "the ether type says IPv4 and the version field does not"
    Ipv4HeaderLength "ipv4_header_length"
        "the IPv4 header length is below 20 bytes"
    Ipv4LengthBelowHeader "ipv4_length_below_header"
        "the IPv4 total length is less than the IPv4 header"
    Ipv4LengthBeyondFrame "ipv4_length_beyond_frame"
        "the IPv4 total length is greater than the frame"
    Ipv4Option "ipv4_option"
        "the length of an IPv4 option is below 2 or runs past the header"
    Ipv6HeaderTruncated "ipv6_header_truncated"
        "the frame ends inside its IPv6 header"
    Ipv6Version "ipv6_version"
        "the ether type says IPv6 and the version field does not"
    Ipv6LengthBeyondFrame "ipv6_length_beyond_frame"
        "the IPv6 payload length is greater than the frame"
    Ipv6Jumbogram "ipv6_jumbogram"
        "the IPv6 jumbo payload option contradicts the header, the frame or a fragment header"
    Ipv6HopByHopOrder "ipv6_hop_by_hop_order"
        "an IPv6 hop-by-hop header does not come first"
    Ipv6Option "ipv6_option"
        "an IPv6 option runs past the header that holds it"
    Ipv6ExtensionTruncated "ipv6_extension_truncated"
        "the IPv6 packet ends inside an extension header"
    TooManyIpv6Extensions "too_many_ipv6_extensions"
        "the IPv6 packet has more than eight extension headers"
    FragmentBeyondPacket "fragment_beyond_packet"
        "a fragment reaches past the greatest length of a packet, 65,535 bytes"
    FragmentUnaligned "fragment_unaligned"
        "an IPv6 fragment with more to follow is no multiple of 8 bytes long"
    TinyFragment "tiny_fragment"
        "fragments are cut so that the first cannot hold the whole transport header"
    TcpTruncated "tcp_truncated"
        "the packet ends inside its TCP header"
    TcpDataOffset "tcp_data_offset"
        "the TCP data offset is below 20 bytes or reaches past the packet"
    UdpTruncated "udp_truncated"
        "the packet ends inside its UDP header"
    UdpLength "udp_length"
        "the UDP length is less than the UDP header"
    UdpLengthBeyondPacket "udp_length_beyond_packet"
        "the UDP length is greater than the packet"
    IcmpTruncated "icmp_truncated"
        "the packet ends inside its ICMP header"
    Icmpv6Truncated "icmpv6_truncated"
        "the packet ends inside its ICMPv6 header"
    TransportTruncated "transport_truncated"
        "the packet ends inside its SCTP, DCCP or UDP-Lite header"
    TunnelTruncated "tunnel_truncated"
        "the packet ends inside a GRE, GENEVE, GTP-U or authentication header"
    TunnelLength "tunnel_length"
        "a GTP-U length is greater than its datagram, or that of an extension is 0"
    TooManyTunnels "too_many_tunnels"
        "more than four packets are inside each other"
}

impl Malformed {
    /// The place of this fault in [`Malformed::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}

impl core::error::Error for Malformed {}

#[cfg(test)]
mod tests {
    use super::Malformed;

    #[test]
    fn indices_and_names_are_unique() {
        for (index, fault) in Malformed::ALL.iter().enumerate() {
            assert_eq!(fault.index(), index);
            let alike = |other: &&Malformed| other.name() == fault.name();
            assert_eq!(Malformed::ALL.iter().filter(alike).count(), 1);
            assert!(
                fault
                    .name()
                    .bytes()
                    .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_'))
            );
            assert!(!fault.sentence().ends_with('.'));
        }
        assert_eq!(Malformed::COUNT, Malformed::ALL.len());
    }
}
