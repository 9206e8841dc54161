//! Rules that are made: five-tuples as in lists of access control.

use frame::Frame;
use table::classify::{Condition, Entry, Field, Key, Then};
use wire::protocol::{TCP, UDP};

use crate::pipeline::circuit::Stamp;
use crate::shuffle::Seeded;

/// Sources of the last rule: no other rule has one of them.
const OF_LAST: Span = Span::of(0xF000_0000, 4);
/// Sources that no rule has.
const OF_NONE: Span = Span::of(0xE000_0000, 4);
/// Five-tuples that frames have in turn.
const TUPLES: usize = 1 << 18;
/// Where the protocol stands in a frame of IPv4 without tags, and where addresses and ports do.
const PROTOCOL: usize = 23;
const ENDS: std::ops::Range<usize> = 26..38;
/// The length of the IP packet, and that of UDP, where TCP has its sequence number: the packet
/// fills its frame, so that a header of TCP fits.
const IP_LENGTH: std::ops::Range<usize> = 16..18;
const UDP_LENGTH: std::ops::Range<usize> = 38..40;
/// Length of the header and flags of TCP: payload where the protocol is UDP.
const TCP_OFFSET: std::ops::Range<usize> = 46..48;

/// Values from one to another, both included.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: u32,
    last: u32,
}

impl Span {
    /// The network of this length that holds an address.
    const fn of(address: u32, length: u32) -> Self {
        let behind = match length {
            0 => u32::MAX,
            length => !(u32::MAX << (32 - length)),
        };
        Self {
            first: address & !behind,
            last: address | behind,
        }
    }

    fn draw(self, seeded: &mut Seeded) -> u32 {
        let count = u64::from(self.last - self.first) + 1;
        self.first + (seeded.next() % count) as u32
    }

    fn condition(self, field: Field) -> Condition {
        Condition {
            field,
            values: vec![(self.first.into(), self.last.into())],
        }
    }
}

/// One rule; any source port matches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    src: Span,
    dst: Span,
    dst_port: Span,
    protocol: u8,
}

/// Which rule frames match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hit {
    First,
    Last,
    /// Each as often as any other, unless an earlier one matches too.
    Any,
    None,
}

impl Hit {
    /// Those that differ among so many rules.
    pub(super) fn among(rules: usize) -> &'static [Self] {
        match rules {
            1 => &[Self::First, Self::None],
            _ => &[Self::First, Self::Last, Self::Any, Self::None],
        }
    }

    /// As it stands in a row.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Last => "last",
            Self::Any => "any",
            Self::None => "none",
        }
    }
}

/// So many rules. Sources are networks of 16 bits and more, from as many as there are rules for
/// eight; so are destinations, and one in sixteen is any.
pub(super) fn make(count: usize, seed: u64) -> Vec<Rule> {
    let mut seeded = Seeded::new(seed ^ count as u64);
    let networks: Vec<Span> = (0..count.div_ceil(8))
        .map(|_| network(&mut seeded))
        .collect();
    let mut rules: Vec<Rule> = (0..count).map(|_| rule(&networks, &mut seeded)).collect();
    if let (Some(last), true) = (rules.last_mut(), count > 1) {
        last.src = OF_LAST;
    }
    rules
}

/// Within 0.0.0.0 to 223.255.255.255.
fn network(seeded: &mut Seeded) -> Span {
    let address = (seeded.next() % 0xE000_0000) as u32;
    Span::of(address, 16 + (seeded.next() % 17) as u32)
}

fn rule(networks: &[Span], seeded: &mut Seeded) -> Rule {
    let one_of = |seeded: &mut Seeded| networks[seeded.next() as usize % networks.len()];
    let src = one_of(seeded);
    let dst = match seeded.next() % 16 {
        0 => Span::of(0, 0),
        _ => one_of(seeded),
    };
    let port = (seeded.next() % 1024) as u32;
    let dst_port = match seeded.next() % 8 {
        0 => Span {
            first: 1024,
            last: 65_535,
        },
        _ => Span {
            first: port,
            last: port,
        },
    };
    Rule {
        src,
        dst,
        dst_port,
        protocol: if seeded.next().is_multiple_of(4) {
            UDP
        } else {
            TCP
        },
    }
}

/// What the classifier takes; all accept.
pub(super) fn entries(rules: &[Rule]) -> Vec<Entry> {
    let entry = |(rule, number): (&Rule, u32)| Entry {
        conditions: vec![
            rule.src.condition(Field::SrcV4),
            rule.dst.condition(Field::DstV4),
            rule.dst_port.condition(Field::DstPort),
            Span::of(rule.protocol.into(), 32).condition(Field::Protocol),
        ],
        rule: number,
        then: Then::Accept,
    };
    rules.iter().zip(0..).map(entry).collect()
}

/// The five-tuple of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Tuple {
    src: u32,
    dst: u32,
    src_port: u16,
    dst_port: u16,
    protocol: u8,
}

impl Tuple {
    fn draw(rules: &[Rule], hit: Hit, seeded: &mut Seeded) -> Self {
        let any = seeded.next() as usize % rules.len();
        let mut rule = match hit {
            Hit::First => rules[0],
            Hit::Last => rules[rules.len() - 1],
            Hit::Any | Hit::None => rules[any],
        };
        if hit == Hit::None {
            rule.src = OF_NONE;
        }
        Self {
            src: rule.src.draw(seeded),
            dst: rule.dst.draw(seeded),
            src_port: seeded.next() as u16,
            dst_port: rule.dst_port.draw(seeded) as u16,
            protocol: rule.protocol,
        }
    }

    /// What the classifier looks up.
    pub(super) fn key(&self) -> Key {
        Key {
            family: 4,
            src: Some(self.src.into()),
            dst: Some(self.dst.into()),
            src_port: Some(self.src_port),
            dst_port: Some(self.dst_port),
            protocol: Some(self.protocol),
            ..Key::default()
        }
    }

    fn ends(&self) -> [u8; 12] {
        let [a, b, c, d] = self.src.to_be_bytes();
        let [e, f, g, h] = self.dst.to_be_bytes();
        let [i, j] = self.src_port.to_be_bytes();
        let [k, l] = self.dst_port.to_be_bytes();
        [a, b, c, d, e, f, g, h, i, j, k, l]
    }
}

/// Five-tuples, drawn before they are needed.
pub(super) struct Tuples {
    all: Vec<Tuple>,
    next: usize,
}

impl Tuples {
    pub(super) fn new(rules: &[Rule], hit: Hit, seed: u64) -> Self {
        let mut seeded = Seeded::new(seed);
        Self {
            all: (0..TUPLES)
                .map(|_| Tuple::draw(rules, hit, &mut seeded))
                .collect(),
            next: 0,
        }
    }

    /// The next of them; behind the last comes the first.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Tuple {
        let tuple = self.all[self.next];
        self.next = (self.next + 1) % self.all.len();
        tuple
    }
}

impl Stamp for Tuples {
    #[inline(always)]
    fn stamp(&mut self, frame: &mut Frame) {
        let tuple = self.take();
        let bytes = frame.bytes_mut();
        // All frames of the circle are longer.
        if bytes.len() < TCP_OFFSET.end {
            return;
        }
        let (ip, udp) = (bytes.len() as u16 - 14, bytes.len() as u16 - 34);
        bytes[IP_LENGTH].copy_from_slice(&ip.to_be_bytes());
        bytes[UDP_LENGTH].copy_from_slice(&udp.to_be_bytes());
        bytes[PROTOCOL] = tuple.protocol;
        bytes[ENDS].copy_from_slice(&tuple.ends());
        bytes[TCP_OFFSET].copy_from_slice(&[0x50, 0x10]);
    }
}
