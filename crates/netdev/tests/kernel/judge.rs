//! What `ip` says that there is, against what the mirror has.

use std::time::{Duration, Instant};

use netdev::routing::{
    Change, Hop, Link, LinkKind, Mirror, Prefix, Route, RouteKey, RouteKind, Watcher,
};
use serde_json::Value;

use crate::namespace::ip;

/// The mirror is what `ip` says, or is so within some seconds.
pub(crate) fn must_agree(watcher: &mut Watcher, when: &str) -> Vec<Change> {
    let end = Instant::now() + Duration::from_secs(10);
    let mut changes = Vec::new();
    loop {
        changes.extend(caught_up(watcher));
        let (kernel, mirror) = (routes_of_ip(), routes_of(watcher.mirror()));
        if kernel == mirror {
            return changes;
        }
        if Instant::now() > end {
            let lacks = kernel.iter().filter(|line| !mirror.contains(line));
            let odd = mirror.iter().filter(|line| !kernel.contains(line));
            let lacks: Vec<_> = lacks.collect();
            let odd: Vec<_> = odd.collect();
            panic!("{when}: lacking {lacks:#?}\ntoo many {odd:#?}\nor the order differs");
        }
    }
}

/// Reads all that waits.
pub(crate) fn caught_up(watcher: &mut Watcher) -> Vec<Change> {
    let mut changes = Vec::new();
    loop {
        let known = changes.len();
        let done = watcher.complete(Duration::from_secs(20), &mut changes);
        done.expect("netlink");
        let polled = watcher.poll(Duration::from_millis(5), &mut changes);
        polled.expect("netlink");
        if changes.len() == known && watcher.mirror().is_complete() {
            return changes;
        }
    }
}

/// A line for each route, by tables and prefixes, else in the kernel's order.
fn routes_of(mirror: &Mirror) -> Vec<String> {
    let lines = mirror
        .routes()
        .map(|(key, route)| (place(key), line(mirror, route)));
    sorted(lines.collect())
}

fn sorted(mut lines: Vec<(String, String)>) -> Vec<String> {
    lines.sort_by(|one, other| one.0.cmp(&other.0));
    lines
        .into_iter()
        .map(|(place, line)| place + &line)
        .collect()
}

fn place(key: &RouteKey) -> String {
    let (table, prefix, tos, metric) = (key.table, key.prefix, key.tos, key.metric);
    let source = key
        .source
        .map(|source| source.to_string())
        .unwrap_or_default();
    format!("table {table} {prefix} from [{source}] tos {tos} metric {metric}")
}

fn line(mirror: &Mirror, route: &Route) -> String {
    let name = |hop: &Hop| {
        let link = hop.link.and_then(|link| mirror.link(link));
        link.map(|link: &Link| link.name.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    let hop = |hop: &Hop| {
        let gateway = hop
            .gateway
            .map(|gateway| gateway.to_string())
            .unwrap_or_default();
        format!("{gateway}@{}*{}", name(hop), hop.weight)
    };
    let mut hops: Vec<String> = route.hops.iter().map(hop).collect();
    hops.sort();
    let source = route
        .preferred_source
        .map(|source| source.to_string())
        .unwrap_or_default();
    let kind = kind(route.kind);
    let (protocol, object) = (route.protocol, route.next_hop.unwrap_or(0));
    format!(" {kind} by {protocol} src [{source}] object {object} {hops:?}")
}

fn kind(kind: RouteKind) -> &'static str {
    match kind {
        RouteKind::Unicast => "unicast",
        RouteKind::Local => "local",
        RouteKind::Broadcast => "broadcast",
        RouteKind::Anycast => "anycast",
        RouteKind::Multicast => "multicast",
        RouteKind::Blackhole => "blackhole",
        RouteKind::Unreachable => "unreachable",
        RouteKind::Prohibit => "prohibit",
        RouteKind::Throw => "throw",
        RouteKind::Other(_) => "other",
    }
}

fn routes_of_ip() -> Vec<String> {
    let mut lines = Vec::new();
    for family in ["-4", "-6"] {
        let output = ip(&format!("{family} -N -j route show table all")).expect("ip route");
        let routes: Value = serde_json::from_slice(&output).expect("JSON");
        for route in routes.as_array().expect("a list") {
            lines.push((place_of_ip(route, family), line_of_ip(route)));
        }
    }
    sorted(lines)
}

fn text(value: &Value, key: &str) -> String {
    match &value[key] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn or(text: String, without: &str) -> String {
    match text.is_empty() {
        true => without.to_owned(),
        false => text,
    }
}

fn prefix(text: &str, family: &str) -> Prefix {
    let text = match (text, family) {
        ("default", "-4") => "0.0.0.0/0",
        ("default", _) => "::/0",
        (text, _) => text,
    };
    let (address, length) = text.split_once('/').unwrap_or((text, ""));
    let whole = if family == "-4" { 32 } else { 128 };
    Prefix {
        address: address.parse().expect("an address"),
        length: length.parse().unwrap_or(whole),
    }
}

fn place_of_ip(route: &Value, family: &str) -> String {
    let table = match or(text(route, "table"), "254").as_str() {
        "local" => "255".to_owned(),
        "default" => "253".to_owned(),
        other => other.to_owned(),
    };
    let tos = or(text(route, "tos"), "0");
    let tos = tos
        .strip_prefix("0x")
        .map_or(tos.parse(), |tos| u8::from_str_radix(tos, 16));
    let source = text(route, "from");
    let source = (!source.is_empty()).then(|| prefix(&source, family).to_string());
    format!(
        "table {table} {} from [{}] tos {} metric {}",
        prefix(&text(route, "dst"), family),
        source.unwrap_or_default(),
        tos.expect("a number"),
        or(text(route, "metric"), "0")
    )
}

fn line_of_ip(route: &Value) -> String {
    let kind = match or(text(route, "type"), "1").as_str() {
        "1" => "unicast",
        "2" => "local",
        "3" => "broadcast",
        "4" => "anycast",
        "5" => "multicast",
        "6" => "blackhole",
        "7" => "unreachable",
        "8" => "prohibit",
        "9" => "throw",
        other => panic!("type {other}"),
    };
    let hop = |hop: &Value| {
        let via = text(&hop["via"], "host");
        let gateway = or(text(hop, "gateway"), &via);
        format!(
            "{gateway}@{}*{}",
            text(hop, "dev"),
            or(text(hop, "weight"), "1")
        )
    };
    let mut hops: Vec<String> = match route["nexthops"].as_array() {
        Some(hops) => hops.iter().map(hop).collect(),
        None => vec![hop(route)],
    };
    if matches!(kind, "blackhole" | "unreachable" | "prohibit" | "throw") {
        hops.clear();
    }
    hops.sort();
    let protocol = or(text(route, "protocol"), "3");
    let (source, object) = (text(route, "prefsrc"), or(text(route, "nhid"), "0"));
    format!(" {kind} by {protocol} src [{source}] object {object} {hops:?}")
}

/// Links and addresses are what `ip` says, or are so within some seconds: the kernel tells of IPv6
/// addresses later than it has them.
pub(crate) fn links_must_agree(watcher: &mut Watcher, when: &str) {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        caught_up(watcher);
        let (kernel, mirror) = (links_of_ip(), links_of(watcher.mirror()));
        if kernel == mirror {
            return;
        }
        assert!(
            Instant::now() < end,
            "{when}: {kernel:#?} is not {mirror:#?}"
        );
    }
}

fn links_of_ip() -> Vec<String> {
    let output = ip("-j -d address show").expect("ip address");
    let links: Value = serde_json::from_slice(&output).expect("JSON");
    let links = links.as_array().expect("a list").iter();
    sorted_lines(links.map(link_of_ip).collect())
}

fn links_of(mirror: &Mirror) -> Vec<String> {
    sorted_lines(mirror.links().map(|link| link_of(mirror, link)).collect())
}

fn sorted_lines(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

fn link_of(mirror: &Mirror, link: &Link) -> String {
    let master = link.master.and_then(|master| mirror.link(master));
    let master = master.map(|master| master.name.to_string_lossy().into_owned());
    let own = mirror
        .addresses()
        .filter(|address| address.key.link == link.index);
    let address = |address: &netdev::routing::Address| {
        let key = &address.key;
        let peer = key.peer.map(|peer| peer.to_string()).unwrap_or_default();
        format!("{}/{} {peer}", key.address, key.prefix_len)
    };
    let addresses = sorted_lines(own.map(address).collect());
    let kind = match &link.kind {
        LinkKind::Device => String::new(),
        LinkKind::Vlan { .. } => "vlan".to_owned(),
        LinkKind::Other(kind) => kind.to_string_lossy().into_owned(),
    };
    format!(
        "{} {:?} {:?} mac {} mtu {} up {} carrier {} [{kind}] in [{}] {addresses:?}",
        link.index,
        link.name,
        link.other_names,
        link.mac.map(|mac| mac.to_string()).unwrap_or_default(),
        link.mtu,
        link.is_up,
        link.has_carrier,
        master.unwrap_or_default()
    )
}

fn link_of_ip(link: &Value) -> String {
    let list = |key: &str| link[key].as_array().cloned().unwrap_or_default();
    let flags = list("flags");
    let names: Vec<_> = list("altnames")
        .iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect();
    let address = |address: &Value| {
        let peer = text(address, "address");
        format!(
            "{}/{} {peer}",
            text(address, "local"),
            text(address, "prefixlen")
        )
    };
    let addresses = sorted_lines(list("addr_info").iter().map(address).collect());
    let has = |flag: &str| flags.iter().any(|other| other == flag);
    format!(
        "{} {:?} {names:?} mac {} mtu {} up {} carrier {} [{}] in [{}] {addresses:?}",
        link["ifindex"],
        text(link, "ifname"),
        text(link, "address"),
        link["mtu"],
        has("UP"),
        has("UP") && has("LOWER_UP"),
        text(&link["linkinfo"], "info_kind"),
        text(link, "master")
    )
}
