//! Routes as `ip route show` and `ip -6 route show` print them, and as people write them: `PREFIX
//! via GATEWAY [dev PORT]`.
//!
//! [`read_line`] reads one route, [`read`] a file of them. The words of iproute2 that say where
//! packets go are read, those that change nothing for a router are passed over (`words`), and any
//! other word is an error: a route that holds for some packets alone must not hold for all. A file
//! with an error is refused as a whole.
//!
//! Of several routes for one prefix the kernel uses the one with the lowest metric, and so does
//! [`read`] (`best`).

mod best;
mod draft;
mod fault;
mod read;
#[cfg(test)]
mod tests;
mod words;

pub use fault::{BadRoute, RouteFault, RoutesError};
pub use read::{RouteTexts, read, read_line};

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

/// One route, as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteText {
    /// The line that it begins on, the first being 1.
    pub line: u64,
    /// What becomes of packets.
    pub kind: RouteKind,
    /// The first address of the prefix.
    pub prefix: IpAddr,
    /// Bits of the prefix, up to 32 or 128.
    pub prefix_len: u8,
    /// Where packets go. One at least where the kind is [`RouteKind::Unicast`], none where packets
    /// are dropped.
    pub hops: Vec<HopText>,
    /// Hops that were left out, since the kernel says that they are dead.
    pub dead_count: u32,
    /// The lower is the better: 0 in IPv4 and 1024 in IPv6 unless it is written.
    pub metric: u32,
    /// The table of the kernel that it is in; `None`: `main`.
    pub table: Option<Arc<str>>,
}

/// Where a route leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HopText {
    /// The router that packets go to, of either family in an IPv4 route (RFC 8950); `None`: the
    /// destination is on the link.
    pub gateway: Option<IpAddr>,
    /// The interface that they leave by. There is a gateway or a device.
    pub device: Option<Arc<str>>,
    /// Its share among the hops of the route, 1 to 256.
    pub weight: u16,
}

/// What becomes of the packets of a route, by the word of iproute2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RouteKind {
    /// They are forwarded.
    Unicast,
    /// They are for the machine itself.
    Local,
    /// They are for the machine itself, and leave as broadcasts.
    Broadcast,
    /// They are for the machine itself, and for others.
    Anycast,
    /// They are for a group.
    Multicast,
    /// They are dropped in silence.
    Blackhole,
    /// They are dropped; the sender is told that the host cannot be reached.
    Unreachable,
    /// They are dropped; the sender is told that an administrator forbids it.
    Prohibit,
    /// They are looked up in the next table.
    Throw,
}

impl RouteKind {
    /// The kinds by their words; at what place is the number of the kernel, less 1.
    const WORDS: [(&'static str, Self); 9] = [
        ("unicast", Self::Unicast),
        ("local", Self::Local),
        ("broadcast", Self::Broadcast),
        ("anycast", Self::Anycast),
        ("multicast", Self::Multicast),
        ("blackhole", Self::Blackhole),
        ("unreachable", Self::Unreachable),
        ("prohibit", Self::Prohibit),
        ("throw", Self::Throw),
    ];

    /// The kind of this word, or of this number: `ip -N` prints numbers.
    fn of_word(word: &str) -> Option<Self> {
        let mut words = Self::WORDS.iter().zip(1..);
        let known = words.find(|((name, _), number)| *name == word || is_number(word, *number));
        known.map(|((_, kind), _)| *kind)
    }

    /// Whether packets end here, so that there is nowhere to go.
    fn is_end(self) -> bool {
        self >= Self::Blackhole
    }
}

fn is_number(word: &str, number: u8) -> bool {
    word.parse() == Ok(number) && word.len() == 1
}

impl fmt::Display for RouteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Self::WORDS.iter().find(|(_, kind)| kind == self);
        f.write_str(word.map_or("route", |(word, _)| word))
    }
}

impl RouteText {
    /// True when all that it led to is dead.
    fn is_dead(&self) -> bool {
        self.hops.is_empty() && self.dead_count > 0
    }
}
