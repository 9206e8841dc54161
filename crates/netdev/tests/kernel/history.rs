//! Random changes of routes, addresses, links and next-hop objects, as lines for `ip -batch`.

/// Draws of a seed (SplitMix64).
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    /// The seed in `LINERATE_SEED`, or one of the clock, printed.
    pub(crate) fn new() -> Self {
        let given = std::env::var("LINERATE_SEED").ok();
        let clock = std::time::UNIX_EPOCH
            .elapsed()
            .map_or(0, |time| time.as_nanos() as u64);
        let seed = given.and_then(|seed| seed.parse().ok()).unwrap_or(clock);
        println!("LINERATE_SEED={seed}");
        Self(seed)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (value ^ (value >> 31)) % bound
    }

    fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len() as u64) as usize]
    }
}

/// What everything stands on, which is restored now and then.
pub(crate) const GROUND: &[&str] = &[
    "link set v0 up",
    "link set w0 up",
    "addr replace 10.0.0.1/24 dev v0",
    "addr replace 10.0.1.1/24 dev w0",
    "addr replace 10.0.1.9/24 dev w0",
    "addr replace fd00::1/64 dev v0 nodad",
    "addr replace fd00:1::1/64 dev w0 nodad",
];

/// A change; the kernel may refuse it.
pub(crate) fn change(draws: &mut Draws) -> String {
    match draws.below(100) {
        0..=44 => route(draws, &V4),
        45..=79 => route(draws, &V6),
        80..=89 => object(draws),
        90 => "addr del 10.0.1.1/24 dev w0".to_owned(),
        91 => "addr del 10.0.1.9/24 dev w0".to_owned(),
        92 => "addr del fd00:1::1/64 dev w0".to_owned(),
        93 => "link set w0 down".to_owned(),
        94 => format!("link set w0 mtu {}", 1300 + draws.below(200)),
        _ => draws.one_of(GROUND).to_owned(),
    }
}

struct Family {
    words: &'static str,
    prefixes: &'static [&'static str],
    gateways: &'static [&'static str],
    objects: &'static [&'static str],
}

const V4: Family = Family {
    words: "route",
    prefixes: &[
        "default",
        "10.1.0.0/16",
        "10.1.0.0/24",
        "10.2.0.0/16",
        "10.2.3.4",
    ],
    gateways: &["10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.1.2", "10.0.1.3"],
    objects: &["1", "2", "3", "10"],
};
const V6: Family = Family {
    words: "-6 route",
    prefixes: &["default", "fd01::/16", "fd01::/48", "fd02::/48", "fd02::1"],
    gateways: &["fd00::2", "fd00::3", "fd00::4", "fd00:1::2", "fd00:1::3"],
    objects: &["4", "5", "11"],
};

fn route(draws: &mut Draws, family: &Family) -> String {
    let verb = draws.one_of(&["add", "append", "prepend", "replace", "del", "del"]);
    let prefix = draws.one_of(family.prefixes);
    let mut words = format!("{} {verb} ", family.words);
    let hops = match draws.below(12) {
        0 => {
            words += draws.one_of(&["blackhole ", "unreachable ", "prohibit "]);
            String::new()
        }
        1 => format!(" dev {}", draws.one_of(&["v0", "w0"])),
        2 | 3 => format!(" nhid {}", draws.one_of(family.objects)),
        4..=6 => {
            let hops = 2 + draws.below(2);
            (0..hops)
                .map(|_| format!(" nexthop{}", hop(draws, family)))
                .collect()
        }
        7 if verb == "del" => String::new(),
        _ => format!(" via {}", draws.one_of(family.gateways)),
    };
    words += prefix;
    words += draws.one_of(&["", "", "", " metric 7", " metric 9"]);
    words += draws.one_of(&["", "", "", " table 8"]);
    words += draws.one_of(&["", "", "", "", " proto static"]);
    if family.words == "route" {
        words += draws.one_of(&["", "", "", "", "", " tos 0x10", " src 10.0.1.9"]);
    }
    words + &hops
}

fn hop(draws: &mut Draws, family: &Family) -> String {
    format!(
        " via {} weight {}",
        draws.one_of(family.gateways),
        1 + draws.below(3)
    )
}

fn object(draws: &mut Draws) -> String {
    let verb = draws.one_of(&["add", "replace", "replace", "del"]);
    let id = draws.one_of(&["1", "2", "3", "4", "5", "10", "11"]);
    let family = if matches!(id, "4" | "5") { &V6 } else { &V4 };
    let content = match id {
        _ if verb == "del" => String::new(),
        "3" if draws.below(2) == 0 => " blackhole".to_owned(),
        "10" => format!(" group {}", draws.one_of(&["1", "2,7", "1,3/2,2", "3"])),
        "11" => format!(" group {}", draws.one_of(&["4", "5,2", "4,3/5"])),
        _ => {
            let gateway = draws.one_of(family.gateways);
            let on_w0 = gateway.starts_with("10.0.1") || gateway.starts_with("fd00:1:");
            format!(" via {gateway} dev {}", if on_w0 { "w0" } else { "v0" })
        }
    };
    format!("nexthop {verb} id {id}{content}")
}
