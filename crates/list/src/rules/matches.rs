//! What rules can match: one table, from which the parser, the printer and the documentation work.

use table::classify::Field;

/// One thing that can be matched.
#[derive(Debug, PartialEq, Eq)]
pub struct MatchKind {
    /// The words that it is written by.
    pub words: &'static str,
    /// What stands behind them.
    pub value: ValueKind,
    /// What is looked at; of `oif` the port that the frame came in by, which says it.
    pub field: Field,
    /// What else must hold of a packet that has the field.
    pub implies: &'static [(Field, u128)],
    /// What it is about, for the documentation.
    pub about: &'static str,
}

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// IPv4 addresses, networks and ranges, or a set.
    Ipv4,
    /// IPv6 addresses, networks and ranges, or a set.
    Ipv6,
    /// Numbers, ranges of them, or these names.
    Number(&'static [(&'static str, u8)]),
    /// Names of ports.
    Port,
    /// Flags of TCP.
    Flags,
}

const V4: (Field, u128) = (Field::Family, 4);
const V6: (Field, u128) = (Field::Family, 6);
const TCP: (Field, u128) = (Field::Protocol, 6);
const UDP: (Field, u128) = (Field::Protocol, 17);
const ICMP: &[(Field, u128)] = &[V4, (Field::Protocol, 1)];
const ICMPV6: &[(Field, u128)] = &[V6, (Field::Protocol, 58)];

const fn kind(
    words: &'static str,
    value: ValueKind,
    field: Field,
    implies: &'static [(Field, u128)],
    about: &'static str,
) -> MatchKind {
    MatchKind {
        words,
        value,
        field,
        implies,
        about,
    }
}

const NUMBER: ValueKind = ValueKind::Number(&[]);

/// All that can be matched.
pub const MATCHES: &[MatchKind] = &[
    kind(
        "ip saddr",
        ValueKind::Ipv4,
        Field::SrcV4,
        &[V4],
        "the IPv4 source address",
    ),
    kind(
        "ip daddr",
        ValueKind::Ipv4,
        Field::DstV4,
        &[V4],
        "the IPv4 destination address",
    ),
    kind(
        "ip6 saddr",
        ValueKind::Ipv6,
        Field::SrcV6,
        &[V6],
        "the IPv6 source address",
    ),
    kind(
        "ip6 daddr",
        ValueKind::Ipv6,
        Field::DstV6,
        &[V6],
        "the IPv6 destination address",
    ),
    kind(
        "meta nfproto",
        ValueKind::Number(FAMILIES),
        Field::Family,
        &[],
        "the version of IP",
    ),
    kind(
        "meta l4proto",
        ValueKind::Number(PROTOCOLS),
        Field::Protocol,
        &[],
        "the protocol",
    ),
    kind(
        "ip protocol",
        ValueKind::Number(PROTOCOLS),
        Field::Protocol,
        &[V4],
        "the same of IPv4",
    ),
    kind(
        "ip dscp",
        ValueKind::Number(DSCP),
        Field::Dscp,
        &[V4],
        "the DSCP of IPv4",
    ),
    kind(
        "ip6 dscp",
        ValueKind::Number(DSCP),
        Field::Dscp,
        &[V6],
        "the DSCP of IPv6",
    ),
    kind(
        "tcp sport",
        NUMBER,
        Field::SrcPort,
        &[TCP],
        "the source port of TCP",
    ),
    kind(
        "tcp dport",
        NUMBER,
        Field::DstPort,
        &[TCP],
        "the destination port of TCP",
    ),
    kind(
        "udp sport",
        NUMBER,
        Field::SrcPort,
        &[UDP],
        "the source port of UDP",
    ),
    kind(
        "udp dport",
        NUMBER,
        Field::DstPort,
        &[UDP],
        "the destination port of UDP",
    ),
    kind(
        "th sport",
        NUMBER,
        Field::SrcPort,
        &[],
        "the source port of any protocol with ports",
    ),
    kind(
        "th dport",
        NUMBER,
        Field::DstPort,
        &[],
        "the destination port of any such protocol",
    ),
    kind(
        "tcp flags",
        ValueKind::Flags,
        Field::TcpFlags,
        &[TCP],
        "the flags of TCP",
    ),
    kind(
        "icmp type",
        ValueKind::Number(ICMP_TYPES),
        Field::IcmpType,
        ICMP,
        "the type of ICMP",
    ),
    kind(
        "icmp code",
        NUMBER,
        Field::IcmpCode,
        ICMP,
        "the code of ICMP",
    ),
    kind(
        "icmpv6 type",
        ValueKind::Number(ICMPV6_TYPES),
        Field::IcmpType,
        ICMPV6,
        "of ICMPv6",
    ),
    kind(
        "icmpv6 code",
        NUMBER,
        Field::IcmpCode,
        ICMPV6,
        "the code of ICMPv6",
    ),
    kind(
        "iif",
        ValueKind::Port,
        Field::InPort,
        &[],
        "the port that the frame came in by",
    ),
    kind(
        "oif",
        ValueKind::Port,
        Field::InPort,
        &[],
        "the port that it leaves by; of a bridge alone",
    ),
    kind(
        "vlan id",
        NUMBER,
        Field::Vlan,
        &[],
        "the VLAN number of the outermost tag",
    ),
    kind(
        "fragment",
        ValueKind::Number(FRAGMENTS),
        Field::Fragment,
        &[],
        "the part of a packet",
    ),
    kind(
        "ct state",
        ValueKind::Number(STATES),
        Field::FlowState,
        &[],
        "what is known of the flow; of a stateful bridge alone",
    ),
];

const FAMILIES: &[(&str, u8)] = &[("ipv4", 4), ("ipv6", 6)];
const FRAGMENTS: &[(&str, u8)] = &[("whole", 0), ("first", 1), ("later", 2)];
const STATES: &[(&str, u8)] = &[("new", 0), ("established", 1), ("related", 2)];
const PROTOCOLS: &[(&str, u8)] = &[
    ("icmp", 1),
    ("igmp", 2),
    ("tcp", 6),
    ("udp", 17),
    ("dccp", 33),
    ("gre", 47),
    ("esp", 50),
    ("ah", 51),
    ("icmpv6", 58),
    ("ipv6-icmp", 58),
    ("ospf", 89),
    ("sctp", 132),
    ("udplite", 136),
];
const DSCP: &[(&str, u8)] = &[
    ("cs0", 0),
    ("cs1", 8),
    ("cs2", 16),
    ("cs3", 24),
    ("cs4", 32),
    ("cs5", 40),
    ("cs6", 48),
    ("cs7", 56),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("ef", 46),
];
const ICMP_TYPES: &[(&str, u8)] = &[
    ("echo-reply", 0),
    ("destination-unreachable", 3),
    ("redirect", 5),
    ("echo-request", 8),
    ("time-exceeded", 11),
    ("parameter-problem", 12),
];
const ICMPV6_TYPES: &[(&str, u8)] = &[
    ("destination-unreachable", 1),
    ("packet-too-big", 2),
    ("time-exceeded", 3),
    ("parameter-problem", 4),
    ("echo-request", 128),
    ("echo-reply", 129),
    ("mld-listener-query", 130),
    ("mld-listener-report", 131),
    ("mld-listener-done", 132),
    ("nd-router-solicit", 133),
    ("nd-router-advert", 134),
    ("nd-neighbor-solicit", 135),
    ("nd-neighbor-advert", 136),
    ("nd-redirect", 137),
    ("mld2-listener-report", 143),
];

/// The flags of TCP, FIN first.
pub(super) const FLAGS: [&str; 8] = ["fin", "syn", "rst", "psh", "ack", "urg", "ecn", "cwr"];

impl ValueKind {
    /// How values are written, for messages and the documentation.
    #[must_use]
    pub fn hint(self) -> String {
        match self {
            Self::Ipv4 => "192.0.2.1, 10.0.0.0/8, 10.0.0.1-10.0.0.9 or @SET".to_owned(),
            Self::Ipv6 => "2001:db8::1, 2001:db8::/32 or @SET".to_owned(),
            Self::Number([]) => "a number, or a range as in 1-9".to_owned(),
            Self::Number(names) => {
                let names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
                format!("{} or a number", names.join(", "))
            }
            Self::Port => "a port's name in quotes, as in \"A\"".to_owned(),
            Self::Flags => format!("any of {}, as in syn or syn / syn,ack", FLAGS.join(", ")),
        }
    }
}

/// The table of matches as the documentation has it.
#[must_use]
pub fn reference() -> String {
    let mut text = String::from("| match | value | what is looked at |\n| --- | --- | --- |\n");
    for kind in MATCHES {
        text += &format!(
            "| `{}` | {} | {} |\n",
            kind.words,
            kind.value.hint(),
            kind.about
        );
    }
    text
}
