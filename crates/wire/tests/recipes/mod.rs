//! Random sound frames as owned fields, and what a parser must find in them, worked out from the
//! fields and not from the bytes.
#![allow(dead_code)] // each test file uses its part

use proptest::collection::vec;
use proptest::prelude::*;
use wire::emit::{Extension, Framing, Icmp, Ipv4, Ipv6, Network, Recipe, Tag, Tcp, Transport};
use wire::{Family, Fragment, Parsed, Readable, ether_type, protocol};

#[derive(Clone, Debug)]
pub(crate) enum Link {
    Ethernet2,
    Snap([u8; 3], Vec<Tag>),
    IpSap,
}

#[derive(Clone, Debug)]
pub(crate) enum Ext {
    Generic(u8, Vec<u8>),
    Authentication(Vec<u8>),
    Fragment(u16, bool),
}

#[derive(Clone, Debug)]
pub(crate) enum Ip {
    V4 {
        src: u32,
        dst: u32,
        options: Vec<u8>,
        offset: u16,
        more: bool,
    },
    V6 {
        src: u128,
        dst: u128,
        extensions: Vec<Ext>,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum L4 {
    Udp(u16, u16),
    Tcp(u16, u16, u8, Vec<u8>),
    Icmp,
    Icmpv6,
    /// Protocol number, the payload standing for the header.
    Raw(u8),
}

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) tags: Vec<Tag>,
    pub(crate) link: Link,
    pub(crate) ip: Ip,
    pub(crate) l4: L4,
    pub(crate) payload: Vec<u8>,
    pub(crate) len_min: usize,
}

impl Ext {
    fn borrowed(&self) -> Extension<'_> {
        match self {
            Self::Generic(protocol, body) => Extension::Generic {
                protocol: *protocol,
                body,
            },
            Self::Authentication(body) => Extension::Authentication { body },
            Self::Fragment(offset, more) => Extension::Fragment {
                offset: *offset,
                more: *more,
                identification: 7,
            },
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Generic(_, body) | Self::Authentication(body) => 2 + body.len(),
            Self::Fragment(..) => 8,
        }
    }
}

impl Case {
    /// The frame's bytes.
    pub(crate) fn emit(&self) -> Vec<u8> {
        let extensions: Vec<Extension<'_>> = match &self.ip {
            Ip::V6 { extensions, .. } => extensions.iter().map(Ext::borrowed).collect(),
            Ip::V4 { .. } => Vec::new(),
        };
        let recipe = Recipe {
            tags: &self.tags,
            framing: match &self.link {
                Link::Ethernet2 => Framing::Ethernet2,
                Link::Snap(oui, tags) => Framing::Snap { oui: *oui, tags },
                Link::IpSap => Framing::Llc([6, 6, 3]),
            },
            network: self.network(&extensions),
            payload: &self.payload,
            len_min: self.len_min,
            ..Recipe::default()
        };
        let mut frame = vec![0xEE; recipe.frame_len()];
        assert_eq!(recipe.emit(&mut frame), Ok(frame.len()));
        frame
    }

    fn network<'a>(&'a self, extensions: &'a [Extension<'a>]) -> Network<'a> {
        let transport = self.transport();
        match &self.ip {
            Ip::V4 {
                src,
                dst,
                options,
                offset,
                more,
            } => {
                let header = Ipv4 {
                    src: *src,
                    dst: *dst,
                    options,
                    fragment_offset: *offset,
                    more_fragments: *more,
                    ..Ipv4::default()
                };
                Network::Ipv4(header, transport)
            }
            Ip::V6 { src, dst, .. } => {
                let header = Ipv6 {
                    src: *src,
                    dst: *dst,
                    extensions,
                    ..Ipv6::default()
                };
                Network::Ipv6(header, transport)
            }
        }
    }

    fn transport(&self) -> Transport<'_> {
        match &self.l4 {
            L4::Udp(src_port, dst_port) => Transport::Udp {
                src_port: *src_port,
                dst_port: *dst_port,
            },
            L4::Tcp(src_port, dst_port, flags, options) => Transport::Tcp(Tcp {
                src_port: *src_port,
                dst_port: *dst_port,
                flags: *flags,
                options,
                ..Tcp::default()
            }),
            L4::Icmp => Transport::Icmp(Icmp {
                kind: 8,
                rest: 0x1234_0001,
                ..Icmp::default()
            }),
            L4::Icmpv6 => Transport::Icmpv6(Icmp {
                kind: 128,
                rest: 1,
                ..Icmp::default()
            }),
            L4::Raw(number) => Transport::Raw(*number),
        }
    }

    fn fragment(&self) -> Fragment {
        let of = |offset: u16, more: bool| match (offset, more) {
            (0, false) => Fragment::Whole,
            (0, true) => Fragment::First,
            _ => Fragment::Later,
        };
        match &self.ip {
            Ip::V4 { offset, more, .. } => of(*offset, *more),
            Ip::V6 { extensions, .. } => extensions
                .iter()
                .find_map(|extension| match extension {
                    Ext::Fragment(offset, more) => Some(of(*offset, *more)),
                    _ => None,
                })
                .unwrap_or(Fragment::Whole),
        }
    }

    /// Everything that [`wire::parse`] must say of the whole frame.
    pub(crate) fn expected(&self) -> Parsed {
        let (inner_tags, llc) = match &self.link {
            Link::Ethernet2 => (&[][..], 0),
            Link::Snap(_, tags) => (&tags[..], 8),
            Link::IpSap => (&[][..], 3),
        };
        let l3 = 14 + 4 * (self.tags.len() + inner_tags.len()) + llc;
        let (family, src, dst, header) = match &self.ip {
            Ip::V4 {
                src, dst, options, ..
            } => (
                Family::V4,
                u128::from(*src),
                u128::from(*dst),
                20 + options.len(),
            ),
            Ip::V6 {
                src,
                dst,
                extensions,
            } => (
                Family::V6,
                *src,
                *dst,
                40 + extensions.iter().map(Ext::len).sum::<usize>(),
            ),
        };
        let (number, l4_len, l4_ports, tcp_flags) = self.l4_facts();
        let fragment = self.fragment();
        let has_l4 = fragment != Fragment::Later;
        let ports = l4_ports.filter(|_| has_l4);
        let addresses = Readable::ADDRESSES;
        Parsed {
            src,
            dst,
            l3_len: (header + l4_len + self.payload.len()) as u32,
            src_port: ports.map_or(0, |(src_port, _)| src_port),
            dst_port: ports.map_or(0, |(_, dst_port)| dst_port),
            l3_offset: l3 as u16,
            l4_offset: if has_l4 && number != 59 {
                (l3 + header) as u16
            } else {
                0
            },
            ether_type: if family == Family::V4 {
                ether_type::IPV4
            } else {
                ether_type::IPV6
            },
            vlan_tci: self
                .tags
                .first()
                .or(inner_tags.first())
                .map_or(0, |tag| tag.tci),
            vlan_tags: (self.tags.len() + inner_tags.len()) as u8,
            protocol: number,
            tcp_flags,
            family,
            readable: if ports.is_some() {
                addresses.with(Readable::PORTS)
            } else {
                addresses
            },
            fragment,
            fault: None,
            snapped: false,
        }
    }

    fn l4_facts(&self) -> (u8, usize, Option<(u16, u16)>, u8) {
        match &self.l4 {
            L4::Udp(src_port, dst_port) => (17, 8, Some((*src_port, *dst_port)), 0),
            L4::Tcp(src_port, dst_port, flags, options) => {
                (6, 20 + options.len(), Some((*src_port, *dst_port)), *flags)
            }
            L4::Icmp => (1, 8, None, 0),
            L4::Icmpv6 => (58, 8, None, 0),
            L4::Raw(number) => {
                let word = |at: usize| u16::from_be_bytes([self.payload[at], self.payload[at + 1]]);
                let has_ports = matches!(number, 132 | 33 | 136);
                (*number, 0, has_ports.then(|| (word(0), word(2))), 0)
            }
        }
    }
}

fn tags(most: usize) -> impl Strategy<Value = Vec<Tag>> {
    let tpid = prop::sample::select(vec![0x8100u16, 0x88A8, 0x9100, 0x9200]);
    vec(
        (tpid, any::<u16>()).prop_map(|(tpid, tci)| Tag { tpid, tci }),
        0..=most,
    )
}

fn link() -> impl Strategy<Value = Link> {
    let oui = prop::sample::select(vec![[0, 0, 0], [0, 0, 0xF8]]);
    prop_oneof![
        4 => Just(Link::Ethernet2),
        2 => (oui, tags(3)).prop_map(|(oui, tags)| Link::Snap(oui, tags)),
        1 => Just(Link::IpSap),
    ]
}

/// Sound IPv4 options, padded with end-of-options.
fn ipv4_options() -> impl Strategy<Value = Vec<u8>> {
    let option = prop_oneof![
        Just(vec![1u8]),
        (2u8.., vec(any::<u8>(), 0..8))
            .prop_map(|(kind, body)| { [&[kind, body.len() as u8 + 2][..], &body].concat() }),
    ];
    vec(option, 0..4).prop_map(|options| {
        let mut bytes = options.concat();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    })
}

/// A body of a hop-by-hop header: one PadN option.
fn padding_body() -> impl Strategy<Value = Vec<u8>> {
    (0usize..4).prop_map(|units| {
        let mut body = vec![0; 6 + 8 * units];
        body[..2].copy_from_slice(&[1, 4 + 8 * units as u8]);
        body
    })
}

fn any_extension() -> impl Strategy<Value = Ext> {
    let kinds = vec![
        protocol::ROUTING,
        protocol::DESTINATION_OPTIONS,
        protocol::MOBILITY,
        protocol::HIP,
        protocol::SHIM6,
    ];
    let generic = (prop::sample::select(kinds), 0usize..3, any::<u8>())
        .prop_map(|(kind, units, fill)| Ext::Generic(kind, vec![fill; 6 + 8 * units]));
    let authentication = (0usize..4, any::<u8>())
        .prop_map(|(units, fill)| Ext::Authentication(vec![fill; 10 + 4 * units]));
    prop_oneof![3 => generic, 1 => authentication]
}

/// Offset of a later fragment that starts behind every transport header and ends in the packet.
fn later_offset() -> impl Strategy<Value = u16> {
    (3u16..8000).prop_map(|units| units * 8)
}

/// Offset and more-fragments flag, whole packets most often.
fn piece() -> impl Strategy<Value = (u16, bool)> {
    prop_oneof![
        6 => Just((0, false)),
        1 => Just((0, true)),
        1 => (later_offset(), any::<bool>()),
    ]
}

fn extensions() -> impl Strategy<Value = Vec<Ext>> {
    let first = proptest::option::of(padding_body());
    let fragment = proptest::option::weighted(0.3, piece());
    (
        first,
        vec(any_extension(), 0..4),
        fragment,
        vec(any_extension(), 0..3),
    )
        .prop_map(|(first, before, fragment, after)| {
            let first = first.map(|body| Ext::Generic(protocol::HOP_BY_HOP, body));
            let later = matches!(fragment, Some((offset, _)) if offset > 0);
            let fragment = fragment.map(|(offset, more)| Ext::Fragment(offset, more));
            let after = if later { Vec::new() } else { after };
            first
                .into_iter()
                .chain(before)
                .chain(fragment)
                .chain(after)
                .take(8)
                .collect()
        })
}

fn ip() -> impl Strategy<Value = Ip> {
    let v4 = (any::<u32>(), any::<u32>(), ipv4_options(), piece()).prop_map(
        |(src, dst, options, (offset, more))| Ip::V4 {
            src,
            dst,
            options,
            offset,
            more,
        },
    );
    let v6 =
        (any::<u128>(), any::<u128>(), extensions()).prop_map(|(src, dst, extensions)| Ip::V6 {
            src,
            dst,
            extensions,
        });
    prop_oneof![v4, v6]
}

fn l4() -> impl Strategy<Value = L4> {
    let tcp = (any::<u16>(), any::<u16>(), any::<u8>(), 0usize..=10).prop_map(
        |(src_port, dst_port, flags, words)| L4::Tcp(src_port, dst_port, flags, vec![1; 4 * words]),
    );
    let raw = prop::sample::select(vec![132u8, 33, 136, 47, 50, 59, 89, 253]);
    prop_oneof![
        3 => any::<(u16, u16)>().prop_map(|(src_port, dst_port)| L4::Udp(src_port, dst_port)),
        3 => tcp,
        1 => Just(L4::Icmp),
        1 => Just(L4::Icmpv6),
        2 => raw.prop_map(L4::Raw),
    ]
}

/// Any sound IP frame: all header combinations.
pub(crate) fn case() -> impl Strategy<Value = Case> {
    let len_min = prop::sample::select(vec![0usize, 60, 200]);
    (
        tags(5),
        link(),
        ip(),
        l4(),
        vec(any::<u8>(), 12..80),
        len_min,
    )
        .prop_map(|(tags, link, ip, l4, payload, len_min)| {
            let mut case = Case {
                tags,
                link,
                ip,
                l4,
                payload,
                len_min,
            };
            if case.fragment() == Fragment::Later {
                // The payload stands for a middle piece; its number is that of any protocol.
                case.l4 = L4::Raw(case.l4_facts().0);
            }
            case.align_payload();
            case
        })
}

impl Case {
    /// IPv6 wants every piece but the last to be a multiple of 8 bytes long.
    pub(crate) fn align_payload(&mut self) {
        while self.payload_is_unaligned() {
            self.payload.push(0x5A);
        }
    }

    fn payload_is_unaligned(&self) -> bool {
        let Ip::V6 { extensions, .. } = &self.ip else {
            return false;
        };
        let Some(at) = extensions
            .iter()
            .position(|ext| matches!(ext, Ext::Fragment(_, true)))
        else {
            return false;
        };
        let behind: usize = extensions[at + 1..].iter().map(Ext::len).sum();
        !(behind + self.l4_facts().1 + self.payload.len()).is_multiple_of(8)
    }
}
