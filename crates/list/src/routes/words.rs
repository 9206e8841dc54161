//! The words that iproute2 prints and takes in a route, and what each means here.

/// What a word means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A gateway follows.
    Via,
    /// An interface follows.
    Device,
    /// The share of a hop follows.
    Weight,
    /// How far behind others the route is follows.
    Metric,
    /// The name or number of a table of the kernel follows.
    Table,
    /// One of several hops follows.
    Nexthop,
    /// The number of an object of the kernel that holds the hops follows.
    NexthopId,
    /// What follows describes that object, up to the end of the line.
    NexthopInfo,
    /// An address follows that the machine's own packets have as their source.
    Source,
    /// The prefix of the sources that the route is for follows.
    From,
    /// The type of service that the route is for follows.
    ServiceType,
    /// How well a router advertised itself follows; IPv6 alone has it.
    Preference,
    /// How far the destination is follows; of IPv6 it is not printed, as it is always the same.
    Scope,
    /// Words of features follow.
    Features,
    /// A value follows; it changes nothing, in a hop neither.
    HopValue,
    /// A value follows; it changes nothing.
    Value,
    /// It changes nothing, in a hop neither.
    Flag,
    /// It changes nothing. More about it may follow between `<` and `>`.
    Cache,
    /// The hop is not used by the kernel.
    Dead,
    /// The route does more than forward, or not for all packets.
    Refused(&'static str),
}

const WORDS: [(&str, Meaning); 70] = [
    ("via", Meaning::Via),
    ("dev", Meaning::Device),
    ("oif", Meaning::Device),
    ("weight", Meaning::Weight),
    ("metric", Meaning::Metric),
    ("priority", Meaning::Metric),
    ("preference", Meaning::Metric),
    ("table", Meaning::Table),
    ("nexthop", Meaning::Nexthop),
    ("nhid", Meaning::NexthopId),
    ("nh_info", Meaning::NexthopInfo),
    ("src", Meaning::Source),
    ("from", Meaning::From),
    ("tos", Meaning::ServiceType),
    ("dsfield", Meaning::ServiceType),
    ("pref", Meaning::Preference),
    ("scope", Meaning::Scope),
    ("features", Meaning::Features),
    ("realm", Meaning::HopValue),
    ("realms", Meaning::HopValue),
    ("proto", Meaning::Value),
    ("protocol", Meaning::Value),
    ("expires", Meaning::Value),
    ("error", Meaning::Value),
    ("uid", Meaning::Value),
    ("users", Meaning::Value),
    ("age", Meaning::Value),
    ("used", Meaning::Value),
    ("ipid", Meaning::Value),
    ("ts", Meaning::Value),
    ("tsage", Meaning::Value),
    ("ttl-propagate", Meaning::Value),
    ("mtu", Meaning::Value),
    ("advmss", Meaning::Value),
    ("window", Meaning::Value),
    ("rtt", Meaning::Value),
    ("rttvar", Meaning::Value),
    ("rto_min", Meaning::Value),
    ("ssthresh", Meaning::Value),
    ("cwnd", Meaning::Value),
    ("initcwnd", Meaning::Value),
    ("initrwnd", Meaning::Value),
    ("hoplimit", Meaning::Value),
    ("reordering", Meaning::Value),
    ("quickack", Meaning::Value),
    ("congctl", Meaning::Value),
    ("fastopen_no_cookie", Meaning::Value),
    ("onlink", Meaning::Flag),
    ("pervasive", Meaning::Flag),
    ("linkdown", Meaning::Flag),
    ("offload", Meaning::Flag),
    ("offload_failed", Meaning::Flag),
    ("rt_offload", Meaning::Flag),
    ("rt_offload_failed", Meaning::Flag),
    ("trap", Meaning::Flag),
    ("rt_trap", Meaning::Flag),
    ("notify", Meaning::Flag),
    ("cache", Meaning::Cache),
    ("dead", Meaning::Dead),
    ("unresolved", Meaning::Dead),
    ("encap", Meaning::Refused("puts packets into a tunnel")),
    ("as", Meaning::Refused("changes the destination of packets")),
    ("iif", Meaning::Refused(SOME_INTERFACE)),
    ("mark", Meaning::Refused("is for packets with a mark alone")),
    ("Iif:", Meaning::Refused(SOME_INTERFACE)),
    ("Iifs:", Meaning::Refused(SOME_INTERFACE)),
    (
        "Oifs:",
        Meaning::Refused("sends copies of packets to a group"),
    ),
    (
        "State:",
        Meaning::Refused("sends copies of packets to a group"),
    ),
    ("gw", Meaning::Refused(ROUTE_COMMAND)),
    ("netmask", Meaning::Refused(ROUTE_COMMAND)),
];

const SOME_INTERFACE: &str = "is for packets from one interface alone";
const ROUTE_COMMAND: &str = "is written as for the route command; write PREFIX via GATEWAY";

/// What a word means; `None` where it is not known.
pub(super) fn meaning(word: &str) -> Option<Meaning> {
    // Most values are numbers or addresses.
    if word.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let known = WORDS.iter().find(|(name, _)| *name == word);
    known.map(|(_, meaning)| *meaning)
}

/// What may follow `features`.
pub(super) fn is_feature(word: &str) -> bool {
    matches!(word, "ecn" | "tcp_usec_ts") || word.starts_with("0x")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_has_one_meaning() {
        for (at, (word, meant)) in WORDS.iter().enumerate() {
            assert!(
                WORDS[at + 1..].iter().all(|(other, _)| other != word),
                "{word}"
            );
            assert_eq!(meaning(word), Some(*meant));
            assert!(!is_feature(word), "{word}");
        }
        assert_eq!(meaning("frobnicate"), None);
    }
}
