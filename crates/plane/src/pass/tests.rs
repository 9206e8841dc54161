//! Every message by every bridge, side, hop limit, tag, set and rule, against the rules in words.

use std::sync::Arc;

use frame::{FramePool, Nanos, PoolRequest, Region};
use table::flows::WhenFull;
use table::{CompiledLists, Entries};
use wire::emit::{Extension, Icmp, Ipv4, Ipv6, Network, Recipe, Tag, Transport};
use wire::protocol;

use super::*;
use crate::{
    Action, Bridge, HitAddresses, Otherwise, Policy, Ports, Ruleset, SetRule, Sides, Stateful,
    StatefulConfig, Timeouts,
};

const INSIDE: PortId = PortId(0);
const OUTSIDE: PortId = PortId(1);
const SRC6: u128 = 0xFE80 << 112 | 1;
const SRC4: u32 = 0xC000_0201;

/// One message, and the hop limit that its protocol asks for, if it asks for one.
struct Message {
    name: &'static str,
    rule: LinkProtocol,
    from_router: bool,
    hop_limit: Option<u8>,
    packet: fn(u8) -> (Network<'static>, &'static [u8]),
}

fn icmpv6(kind: u8, hop_limit: u8, extensions: &'static [Extension<'static>]) -> Network<'static> {
    let ip = Ipv6 {
        src: SRC6,
        dst: 0xFF02 << 112 | 1,
        hop_limit,
        extensions,
        ..Ipv6::default()
    };
    let icmp = Icmp {
        kind,
        ..Icmp::default()
    };
    Network::Ipv6(ip, Transport::Icmpv6(icmp))
}

fn udp6(src_port: u16, dst_port: u16, hop_limit: u8) -> Network<'static> {
    let ip = Ipv6 {
        src: SRC6,
        dst: 0xFE80 << 112 | 2,
        hop_limit,
        ..Ipv6::default()
    };
    Network::Ipv6(ip, Transport::Udp { src_port, dst_port })
}

fn ipv4(dst: u32, ttl: u8, transport: Transport<'static>) -> Network<'static> {
    let ip = Ipv4 {
        src: SRC4,
        dst,
        ttl,
        ..Ipv4::default()
    };
    Network::Ipv4(ip, transport)
}

fn udp4(src_port: u16, dst_port: u16, ttl: u8) -> Network<'static> {
    ipv4(0xC000_0232, ttl, Transport::Udp { src_port, dst_port })
}

fn igmp(ttl: u8) -> Network<'static> {
    ipv4(0xE000_0001, ttl, Transport::Raw(protocol::IGMP))
}

const ALERT: &[Extension<'_>] = &[Extension::Generic {
    protocol: protocol::HOP_BY_HOP,
    body: &[5, 2, 0, 0, 1, 0],
}];
const ZEROS: &[u8] = &[0; 300];
const IGMP_QUERY: &[u8] = &[0x11, 0, 0, 0, 0, 0, 0, 0];

const fn message(
    name: &'static str,
    (rule, from_router): (LinkProtocol, bool),
    hop_limit: Option<u8>,
    packet: fn(u8) -> (Network<'static>, &'static [u8]),
) -> Message {
    Message {
        name,
        rule,
        from_router,
        hop_limit,
        packet,
    }
}

use LinkProtocol::{Dhcp, Dhcpv6, Igmp, Mld, Nd, Ra};

const MESSAGES: [Message; 11] = [
    message("solicitation", (Nd, false), Some(255), |hops| {
        (icmpv6(135, hops, &[]), &ZEROS[..16])
    }),
    message("advertisement", (Nd, false), Some(255), |hops| {
        (icmpv6(136, hops, &[]), &ZEROS[..16])
    }),
    message("router solicitation", (Ra, false), Some(255), |hops| {
        (icmpv6(133, hops, &[]), &[])
    }),
    message("router advertisement", (Ra, true), Some(255), |hops| {
        (icmpv6(134, hops, &[]), &ZEROS[..8])
    }),
    message("redirect", (Ra, true), Some(255), |hops| {
        (icmpv6(137, hops, &[]), &ZEROS[..32])
    }),
    message("DHCP request", (Dhcp, false), None, |hops| {
        (udp4(68, 67, hops), ZEROS)
    }),
    message("DHCP answer", (Dhcp, true), None, |hops| {
        (udp4(67, 68, hops), ZEROS)
    }),
    message("DHCPv6 request", (Dhcpv6, false), None, |hops| {
        (udp6(546, 547, hops), ZEROS)
    }),
    message("DHCPv6 answer", (Dhcpv6, true), None, |hops| {
        (udp6(547, 546, hops), ZEROS)
    }),
    message("IGMP query", (Igmp, false), Some(1), |hops| {
        (igmp(hops), IGMP_QUERY)
    }),
    message("MLD query", (Mld, false), Some(1), |hops| {
        (icmpv6(130, hops, ALERT), &ZEROS[..16])
    }),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Forwards,
    DefaultDrop,
    /// Flows begin inside; routers are outside.
    Stateful,
    /// Both of it.
    Both,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    kind: Kind,
    from: PortId,
    router: Ports,
    blocked: bool,
    allowed: bool,
    rule: bool,
    sound: bool,
    tagged: bool,
}

/// What the documentation says, word by word.
fn expected(case: &Case, message: &Message) -> Result<bool, DropReason> {
    let sound = case.sound || message.hop_limit.is_none();
    let at_router = case.router.contains(case.from);
    let by_rule = case.rule && sound && (!message.from_router || at_router);
    let is_stateful = matches!(case.kind, Kind::Stateful | Kind::Both);
    if case.blocked && !case.allowed {
        return Err(DropReason::BlockedSrc);
    }
    if matches!(case.kind, Kind::DefaultDrop | Kind::Both) && !case.allowed {
        return by_rule.then_some(true).ok_or(DropReason::NotAllowed);
    }
    let drops = is_stateful || case.kind == Kind::DefaultDrop;
    if drops && message.from_router && !at_router {
        return Err(DropReason::RouterSide);
    }
    if is_stateful && case.from == OUTSIDE {
        return by_rule.then_some(true).ok_or(DropReason::NotEstablished);
    }
    Ok(false)
}

fn stateful() -> Box<Stateful> {
    let config = StatefulConfig {
        allow_new: Ports::only(INSIDE),
        flows: 128,
        full: WhenFull::Refuse,
        answers_from_any: false,
        timeouts: Timeouts::default(),
        log: None,
    };
    Box::new(Stateful::new(config).expect("some megabytes"))
}

fn ruleset(case: &Case, rules: PassRules) -> Ruleset {
    let mut entries = Entries::default();
    entries.v4.addresses.push(SRC4);
    entries.v6.addresses.push(SRC6);
    let none = Entries::default();
    let held = |held| if held { &entries } else { &none };
    let lists = CompiledLists::compile(&[held(case.blocked), held(case.allowed)]);
    let set = |name, action| SetRule::new(name, action, Sides::BOTH);
    let sets = vec![set("bad", Action::Block), set("good", Action::Allow)];
    let mut policy = Policy::new(sets).expect("two sets");
    policy.default = match case.kind {
        Kind::DefaultDrop | Kind::Both => Otherwise::Drop,
        _ => Otherwise::Forward,
    };
    (policy.pass, policy.router) = (rules, case.router);
    Ruleset::new(Arc::new(lists.expect("two lists")), Arc::new(policy)).expect("a list a set")
}

fn pool() -> FramePool {
    let request = PoolRequest {
        frames: 8,
        stride_bytes: 576,
        headroom_bytes: 64,
        node: None,
    };
    Region::with_pools(&[request]).expect("memory").1.remove(0)
}

fn emit(case: &Case, message: &Message) -> Vec<u8> {
    let hops = match (message.hop_limit, case.sound) {
        (Some(hops), true) => hops,
        (Some(hops), false) => hops - 1,
        (None, _) => 64,
    };
    let (network, payload) = (message.packet)(hops);
    let recipe = Recipe {
        network,
        payload,
        tags: if case.tagged { &[Tag::vlan(5)] } else { &[] },
        len_min: 60,
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("a sound recipe");
    bytes
}

/// A bridge without flows and one with; time passes from frame to frame, so that every
/// flow is over.
struct Bench {
    bridges: [Bridge; 2],
    pool: FramePool,
    now: Nanos,
}

impl Bench {
    fn new() -> Self {
        let bridge = || Bridge::new([INSIDE, OUTSIDE], Box::new(HitAddresses::new([1, 2])));
        Self {
            bridges: [bridge(), bridge().with_stateful(Some(stateful()))],
            pool: pool(),
            now: Nanos(0),
        }
    }

    /// The verdict, and whether a rule let the frame pass.
    fn decide(&mut self, case: &Case, message: &Message) -> Result<bool, DropReason> {
        let others = LinkProtocol::ALL
            .iter()
            .filter(|&&rule| rule != message.rule);
        let rules = match case.rule {
            true => PassRules::from_words([message.rule.name()]),
            false => PassRules::from_words(others.map(|rule| rule.name())),
        };
        let ruleset = ruleset(case, rules.expect("names of rules"));
        let is_stateful = matches!(case.kind, Kind::Stateful | Kind::Both);
        let bridge = &mut self.bridges[usize::from(is_stateful)];
        self.now = self.now.after(700_000_000_000);
        bridge.set_now(self.now);
        let before = *bridge.passed();
        let (mut burst, mut verdicts) = (Burst::new(), Verdicts::new());
        let mut frame = self.pool.alloc().expect("a free frame");
        let bytes = emit(case, message);
        frame.copy_from(&bytes).expect("a short frame");
        assert!(burst.push(frame).is_ok());
        bridge.decide(&burst, case.from, &ruleset, &mut verdicts);
        self.pool.free_burst(&mut burst);
        let by = |rule| bridge.passed().of(rule) - before.of(rule);
        let all = LinkProtocol::ALL.iter().map(|&rule| by(rule));
        assert_eq!(all.sum::<u64>(), by(message.rule));
        match verdicts.as_slice() {
            [Verdict::Drop(reason)] => Err(*reason),
            _ => Ok(by(message.rule) == 1),
        }
    }
}

fn cases() -> impl Iterator<Item = Case> {
    let kinds = [
        Kind::Forwards,
        Kind::DefaultDrop,
        Kind::Stateful,
        Kind::Both,
    ];
    let routers = [
        Ports::only(OUTSIDE),
        Ports::only(INSIDE),
        Ports::ALL,
        Ports::NONE,
    ];
    (0..64_usize).flat_map(move |bits| {
        let is = |bit: usize| bits >> bit & 1 == 1;
        let case = Case {
            kind: Kind::Forwards,
            from: if is(0) { INSIDE } else { OUTSIDE },
            router: Ports::NONE,
            blocked: is(1),
            allowed: is(2),
            rule: is(3),
            sound: is(4),
            tagged: is(5),
        };
        kinds.into_iter().flat_map(move |kind| {
            routers.map(|router| Case {
                kind,
                router,
                ..case
            })
        })
    })
}

#[test]
fn every_message_by_every_bridge() {
    let mut bench = Bench::new();
    for case in cases() {
        for message in &MESSAGES {
            let (found, name) = (bench.decide(&case, message), message.name);
            assert_eq!(found, expected(&case, message), "{name}: {case:?}");
        }
    }
}

#[test]
fn rules_by_their_names() {
    for (words, names) in [
        (
            &["all"][..],
            &["nd", "ra", "dhcp", "dhcpv6", "igmp", "mld"][..],
        ),
        (&["none"], &[]),
        (&[], &[]),
        (&["mld", "nd", "mld"], &["nd", "mld"]),
    ] {
        let rules = PassRules::from_words(words.iter().copied()).expect("names");
        assert_eq!(rules.names().collect::<Vec<_>>(), names, "{words:?}");
    }
    for (words, said) in [
        (
            &["ndp"][..],
            "'ndp' is no rule: write some of nd, ra, dhcp, dhcpv6, igmp, mld",
        ),
        (&["nd", "none"], "'none' stands alone"),
        (&["all", "nd"], "'all' stands alone"),
        (&[""], "'' is no rule"),
    ] {
        let error = PassRules::from_words(words.iter().copied()).expect_err("no rule");
        assert!(error.to_string().contains(said), "{error}");
    }
}
