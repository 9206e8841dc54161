//! Why a route, or a file of routes, was not read.

use crate::error::ListError;
use crate::fault::Fault;
use crate::wording::Wording;
use crate::{excerpt, routes::RouteKind};
use std::net::IpAddr;
use std::sync::Arc;
use std::{error, fmt};

/// What is wrong with a route: a sentence that names the word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteFault {
    /// Made printable and cut.
    word: String,
    kind: FaultKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    /// No route at all.
    Empty,
    /// More than one route, where one was asked for.
    SecondLine,
    NotText,
    LineTooLong(usize),
    NotAPrefix,
    Json,
    Command,
    Printed,
    ObsoleteKind,
    Prefix(Fault),
    Range,
    DefaultOfEither,
    UnknownWord,
    ValueMissing(&'static str),
    Twice,
    NotInAHop,
    NotOutsideAHop,
    NexthopFirst,
    Refused(&'static str),
    SomeSources,
    SomeServiceTypes,
    Number,
    Weight,
    NameTooLong(usize),
    Gateway(Fault),
    GatewayWithLength,
    GatewayZone,
    GatewayIsNone,
    GatewayFamily(IpAddr),
    GatewayOfFamily,
    Ipv6ByIpv4,
    LinkLocalAlone,
    Source,
    SourceFamily,
    HopAndHops,
    Nowhere,
    NexthopIdAlone,
    EmptyHop,
    EndWithHop(RouteKind),
    TooManyHops(usize),
    AllDead,
}

impl FaultKind {
    /// The fault of a word.
    pub(super) fn at(self, word: &str) -> RouteFault {
        self.at_bytes(word.as_bytes())
    }

    pub(super) fn at_bytes(self, word: &[u8]) -> RouteFault {
        RouteFault {
            word: excerpt::of(word),
            kind: self,
        }
    }
}

impl fmt::Display for RouteFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = &self.word;
        match &self.kind {
            FaultKind::Empty => f.write_str("there is no route; write PREFIX via GATEWAY"),
            FaultKind::LineTooLong(bytes) => write!(f, "the line is longer than {bytes} bytes"),
            FaultKind::Prefix(fault) | FaultKind::Gateway(fault) => {
                write!(f, "{}", fault.about(word, Wording::Entry))
            }
            kind => write!(f, "\"{word}\" {}", Predicate(kind)),
        }
    }
}

impl error::Error for RouteFault {}

/// A message without its subject.
struct Predicate<'a>(&'a FaultKind);

impl fmt::Display for Predicate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            FaultKind::ValueMissing(what) => write!(f, "has no {what} behind it"),
            FaultKind::Refused(why) => write!(f, "says that the route {why}; leave the route out"),
            FaultKind::NameTooLong(max) => write!(f, "is a name longer than {max} bytes"),
            FaultKind::GatewayFamily(IpAddr::V6(gateway)) => write!(
                f,
                "is an IPv6 gateway of an IPv4 route; write via inet6 {gateway} if it is meant"
            ),
            FaultKind::EndWithHop(kind) => {
                write!(f, "says where packets go, and {kind} that they are dropped")
            }
            FaultKind::TooManyHops(max) => write!(f, "is one hop more than the {max} of a route"),
            kind => f.write_str(kind.sentence()),
        }
    }
}

impl FaultKind {
    fn sentence(&self) -> &'static str {
        match self {
            Self::SecondLine => "begins a second line; write one route",
            Self::NotText => "is not text; give what 'ip route show' prints",
            Self::NotAPrefix => {
                "is not a prefix; a route begins with ADDRESS/LENGTH, an address or default"
            }
            Self::Json => "is JSON; give what 'ip route show' prints without -json",
            Self::Command => {
                "begins a command; write the route alone, as 'ip route show' prints it"
            }
            Self::Printed => "is not printed by 'ip route show', whose text is read here",
            Self::ObsoleteKind => "is a kind of route that no kernel has any more",
            Self::Range => "is a range; write the prefixes that it consists of, a route each",
            Self::DefaultOfEither => "may be IPv4 or IPv6; write 0.0.0.0/0 or ::/0",
            Self::UnknownWord => {
                "is not known in a route; write PREFIX via GATEWAY [dev NAME] [metric NUMBER]"
            }
            Self::Twice => "stands here a second time",
            Self::NotInAHop => "is not known behind nexthop; write it before the first nexthop",
            Self::NotOutsideAHop => "is known behind nexthop alone",
            Self::NexthopFirst => "continues a route, and there is none before it",
            Self::SomeSources => {
                "says that the route is for packets from some sources alone; leave the route out"
            }
            Self::SomeServiceTypes => {
                "says that the route is for one type of service alone; leave the route out"
            }
            Self::Number => "is not a number from 0 to 4294967295",
            Self::Weight => "is not a weight; write a number from 1 to 256",
            Self::GatewayWithLength => "has a prefix length; a gateway is one address",
            Self::GatewayZone => "has a zone id; write via ADDRESS dev NAME",
            Self::GatewayIsNone => "is not the address of one router",
            Self::GatewayOfFamily => "is not an address of the family that stands before it",
            Self::Ipv6ByIpv4 | Self::GatewayFamily(_) => {
                "is an IPv4 gateway of an IPv6 route; write an IPv6 address"
            }
            Self::LinkLocalAlone => {
                "is a link-local gateway, which any interface may lead to; write dev NAME behind it"
            }
            Self::Source => "is not an address",
            Self::SourceFamily => "is a source of the other family than the route",
            Self::HopAndHops => "stands in a route with nexthop; write it behind nexthop",
            Self::Nowhere => "leads nowhere; write via GATEWAY, dev NAME or blackhole",
            Self::NexthopIdAlone => {
                "leads to a nexthop object (nhid), and not where that leads; write via GATEWAY"
            }
            Self::EmptyHop => "has neither via GATEWAY nor dev NAME behind it",
            Self::AllDead => "leads to dead hops alone; leave out dead, or the route",
            _ => "is wrong",
        }
    }
}

/// A line of a file with what is wrong. Displays as `FILE:LINE: what is wrong`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRoute {
    /// The file, as the caller named it.
    pub file: Arc<str>,
    /// The line, the first being 1.
    pub line: u64,
    /// What is wrong.
    pub fault: RouteFault,
}

impl fmt::Display for BadRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.fault)
    }
}

/// Why a file of routes was not read.
#[derive(Debug)]
#[non_exhaustive]
pub enum RoutesError {
    /// It cannot be read as text.
    Text(ListError),
    /// Lines are wrong.
    Refused {
        /// The file, as the caller named it.
        file: Arc<str>,
        /// How many lines are wrong.
        bad_count: u64,
        /// The first of them.
        bad: Vec<BadRoute>,
    },
    /// More routes than there may be.
    TooMany {
        /// The file, as the caller named it.
        file: Arc<str>,
        /// Routes, or hops if that is more, that there may be.
        routes_max: usize,
    },
    /// More lines than there may be.
    TooManyLines {
        /// The file, as the caller named it.
        file: Arc<str>,
        /// Lines that there may be.
        lines_max: u64,
    },
}

impl fmt::Display for RoutesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(error) => error.fmt(f),
            Self::Refused {
                file,
                bad_count,
                bad,
            } => {
                for line in bad {
                    writeln!(f, "{line}")?;
                }
                let lines = if *bad_count == 1 { "line" } else { "lines" };
                write!(
                    f,
                    "{file} is refused for {bad_count} bad {lines} and no route was loaded: mend it"
                )
            }
            Self::TooManyLines { file, lines_max } => {
                write!(
                    f,
                    "{file} has more than {lines_max} lines: leave out those without a route"
                )
            }
            Self::TooMany { file, routes_max } => {
                write!(
                    f,
                    "{file} holds more than {routes_max} routes or hops: leave some out"
                )
            }
        }
    }
}

impl error::Error for RoutesError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Text(error) => error.source(),
            _ => None,
        }
    }
}

impl From<ListError> for RoutesError {
    fn from(error: ListError) -> Self {
        Self::Text(error)
    }
}
