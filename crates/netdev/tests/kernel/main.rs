//! The mirror against the kernel, as `ip` shows it, in network namespaces that end with the tests.
//! They need root, `ip`, `unshare` and `nsenter`; elsewhere they say why they are skipped.

mod copy;
mod history;
mod judge;
mod namespace;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;
use std::time::{Duration, Instant};

use copy::{Copy, everything};
use history::{Draws, GROUND, change};
use judge::{links_must_agree, must_agree};
use namespace::{Namespace, ip, ip_lines, ip_lines_beside};
use netdev::routing::{
    Change, Neighbour, NeighbourKey, NeighbourState, Options, Prefix, Resolver, Route, RouteKey,
    Watcher,
};
use wire::MacAddress;

fn watcher() -> Watcher {
    let mut watcher = Watcher::open(&Options::default()).expect("a socket");
    let listed = watcher.complete(Duration::from_secs(20), &mut Vec::new());
    listed.expect("the first listings");
    watcher
}

fn owned((key, route): (&RouteKey, &Route)) -> (RouteKey, Route) {
    (*key, route.clone())
}

fn differing<'a>(
    these: &'a BTreeMap<RouteKey, Route>,
    those: &'a BTreeMap<RouteKey, Route>,
) -> impl Iterator<Item = Prefix> + 'a {
    let differ = these
        .iter()
        .filter(|(key, route)| those.get(key) != Some(route));
    differ.map(|(key, _)| key.prefix)
}

fn prefix_of(change: &Change) -> Option<Prefix> {
    match change {
        Change::Route { prefix, .. } => Some(*prefix),
        _ => None,
    }
}

/// One after the other: what is routed, in every way that the kernel of this machine has.
const STEPS: &[&str] = &[
    "addr add 10.0.0.1/24 dev v0",
    "addr add 10.0.1.1/24 dev w0",
    "addr add 10.0.2.1 peer 10.0.2.2/32 dev w1",
    "-6 addr add fd00::1/64 dev v0 nodad",
    "-6 addr add fd00:1::1/64 dev w0 nodad",
    // Metrics, tables, types of service, sources.
    "route add 10.1.0.0/16 via 10.0.0.2",
    "route add 10.1.0.0/16 via 10.0.0.3 metric 10",
    "route add 10.1.0.0/16 via 10.0.0.4 table 7",
    "route add 10.1.0.0/16 via 10.0.0.5 tos 0x10",
    "route add default via 10.0.0.9 src 10.0.0.1 proto static",
    "-6 route add default via fd00::9 metric 5",
    "-6 route add fd05::/32 from fd00:2::/64 via fd00::9",
    // Several routes of one place, in their order.
    "route append 10.1.0.0/16 via 10.0.0.6",
    "route prepend 10.1.0.0/16 via 10.0.0.7",
    "route replace 10.1.0.0/16 via 10.0.0.8",
    "route replace 10.1.0.0/16 via 10.0.0.8",
    "route del 10.1.0.0/16 via 10.0.0.2",
    "route append 10.1.0.0/16 via 10.0.0.6 proto static",
    "route del 10.1.0.0/16 via 10.0.0.6 proto static",
    // Several hops.
    "route add 10.2.0.0/16 nexthop via 10.0.0.2 weight 3 nexthop via 10.0.1.2 dev w0",
    "route replace 10.2.0.0/16 nexthop via 10.0.0.2 nexthop via 10.0.0.2 weight 256",
    "-6 route add fd02::/32 nexthop via fd00::2 weight 3 nexthop via fd00:1::2 weight 2",
    "-6 route append fd02::/32 via fd00::3",
    "-6 route append fd02::/32 nexthop via fd00::4 weight 9 nexthop via fd00::5",
    "-6 route del fd02::/32 via fd00::2",
    "-6 route del fd02::/32 via fd00::3",
    "-6 route replace fd02::/32 via fd00::8",
    "-6 route append fd02::/32 via fd00::9",
    "-6 route replace fd02::/32 nexthop via fd00::2 nexthop via fd00:1::2",
    "-6 route add fd03::/32 dev v0",
    "-6 route append fd03::/32 dev w0",
    "-6 route append fd03::/32 via fd00::3",
    "-6 route replace fd03::/32 dev w1",
    "-6 route del fd03::/32 dev w1",
    "-6 route del fd02::/32",
    // Without gateways, beyond the link, of the other family.
    "route add 10.3.0.0/16 dev w0",
    "route add 10.4.0.0/16 via 192.0.2.1 dev w0 onlink",
    "route add 10.5.0.0/16 via inet6 fe80::9 dev v0",
    "route add 10.5.0.0/16 metric 3 nexthop via inet6 fe80::9 dev v0 nexthop via 10.0.0.2",
    // No packets.
    "route add blackhole 10.6.0.0/16",
    "route add unreachable 10.6.1.0/24",
    "route add prohibit 10.6.2.0/24",
    "route add throw 10.6.3.0/24 table 7",
    "route add local 10.6.4.0/24 dev lo",
    "route add broadcast 10.6.5.255 dev v0 table local",
    "route add multicast 239.0.0.0/8 dev v0",
    "-6 route add blackhole fd06::/48",
    "-6 route add unreachable fd06:1::/48",
    "-6 route add prohibit fd06:2::/48",
    "-6 route replace prohibit fd06::/48",
    // Next-hop objects, alone and in groups.
    "nexthop add id 1 via 10.0.0.2 dev v0",
    "nexthop add id 2 via 10.0.1.2 dev w0",
    "nexthop add id 3 blackhole",
    "nexthop add id 4 via fd00::2 dev v0",
    "nexthop add id 5 via fd00:1::2 dev w0",
    "nexthop add id 10 group 1,3/2,4",
    "nexthop add id 11 group 4,2/5",
    "route add 10.7.0.0/16 nhid 1",
    "route append 10.7.0.0/16 nhid 2",
    "route add 10.7.1.0/24 nhid 10",
    "route add 10.7.2.0/24 nhid 3",
    "route add 10.7.3.0/24 nhid 4",
    "-6 route add fd07::/48 nhid 11",
    "-6 route add fd07:1::/48 nhid 4",
    "nexthop replace id 2 via 10.0.1.3 dev w0",
    "nexthop replace id 4 via fd00::3 dev v0",
    "nexthop replace id 11 group 5,9/4",
    "nexthop replace id 3 via 10.0.0.3 dev v0",
    "nexthop del id 2",
    "nexthop del id 5",
    // What the kernel does by itself, in part without a word.
    "addr del 10.0.1.1/24 dev w0",
    "link set w0 down",
    "link set w0 up",
    "link set w1 down",
    "addr add 10.0.1.1/24 dev w0",
    "route add 10.8.0.0/16 via 10.0.1.2",
    "route add 10.8.1.0/24 nexthop via 10.0.1.2 nexthop via 10.0.0.2",
    "link set w0 name odd0",
    "link del odd0",
    "link set v0 down",
    "link set v0 up",
    "link set v0 mtu 1300",
];

#[test]
fn every_kind_of_route_is_as_the_kernel_has_it() {
    let Some(_namespace) = Namespace::new() else {
        return;
    };
    let mut watcher = watcher();
    let mut refused = Vec::new();
    for step in STEPS {
        if let Err(reason) = ip(step) {
            refused.push(reason);
        }
        must_agree(&mut watcher, step);
    }
    println!("refused by this kernel: {refused:#?}");
    assert!(refused.len() < STEPS.len() / 4, "{refused:#?}");
    let late = self::watcher();
    assert_eq!(
        late.mirror().routes().collect::<Vec<_>>(),
        watcher.mirror().routes().collect::<Vec<_>>()
    );
    assert!(late.mirror().links().eq(watcher.mirror().links()));
    assert!(late.mirror().addresses().eq(watcher.mirror().addresses()));
}

/// Random changes, some at a time; after each lot the mirror is what `ip` shows, and a copy that
/// took over no more than what the changes name is the mirror.
#[test]
fn a_thousand_random_changes_leave_what_the_kernel_has() {
    let Some(_namespace) = Namespace::new() else {
        return;
    };
    let mut draws = Draws::new();
    let mut watcher = watcher();
    let mut copy = Copy::default();
    copy.follow(&everything(watcher.mirror()), watcher.mirror());
    ip_lines(
        &GROUND
            .iter()
            .map(|line| (*line).to_owned())
            .collect::<Vec<_>>(),
    );
    let mut lot = 0;
    let mut all = 0;
    while all < 1000 {
        let lines: Vec<String> = (0..=draws.below(30)).map(|_| change(&mut draws)).collect();
        all += lines.len();
        lot += 1;
        ip_lines(&lines);
        let when = format!("LINERATE_SEED, lot {lot}: {lines:#?}");
        let changes = must_agree(&mut watcher, &when);
        copy.follow(&changes, watcher.mirror());
        copy.must_be(watcher.mirror(), &when);
    }
}

/// With room for few messages most are lost: the mirror is right all the same, and what did not
/// change is not said to have changed.
#[test]
fn after_an_overrun_only_differences_are_changes() {
    let Some(_namespace) = Namespace::new() else {
        return;
    };
    ip_lines(
        &GROUND
            .iter()
            .map(|line| (*line).to_owned())
            .collect::<Vec<_>>(),
    );
    let lines = |verb: &str, from: u32, gateway: u32| {
        let line = |number: u32| {
            let (high, low) = (number / 256, number % 256);
            format!("route {verb} 20.{high}.{low}.0/24 via 10.0.0.{gateway}")
        };
        (from..from + 4000).map(line).collect::<Vec<_>>()
    };
    ip_lines(&lines("add", 0, 2));
    let options = Options {
        buffer_bytes: 4096,
        ..Options::default()
    };
    let mut watcher = Watcher::open(&options).expect("a socket");
    must_agree(&mut watcher, "at first");
    let mut copy = Copy::default();
    copy.follow(&everything(watcher.mirror()), watcher.mirror());
    for (verb, from, gateway) in [("replace", 2000, 3), ("del", 1000, 2)] {
        let before: BTreeMap<_, _> = watcher.mirror().routes().map(owned).collect();
        ip_lines(&lines(verb, from, gateway));
        let changes = must_agree(&mut watcher, verb);
        copy.follow(&changes, watcher.mirror());
        copy.must_be(watcher.mirror(), verb);
        let named: BTreeSet<_> = changes.iter().filter_map(prefix_of).collect();
        let after: BTreeMap<_, _> = watcher.mirror().routes().map(owned).collect();
        let differ: BTreeSet<_> = differing(&before, &after)
            .chain(differing(&after, &before))
            .collect();
        assert_eq!(named, differ, "{verb}");
        assert!(differ.len() >= 1000, "{verb}: {}", differ.len());
    }
    assert!(watcher.mirror().overruns() > 0, "messages were lost");
}

/// Changes that go on while the kernel lists, some of them lost.
#[test]
fn changes_during_listings_leave_what_the_kernel_has() {
    let Some(_namespace) = Namespace::new() else {
        return;
    };
    ip_lines(
        &GROUND
            .iter()
            .map(|line| (*line).to_owned())
            .collect::<Vec<_>>(),
    );
    let mut draws = Draws::new();
    let lines: Vec<String> = (0..12_000)
        .map(|_| {
            let (number, gateway) = (draws.below(3000), 2 + draws.below(3));
            let (high, low) = (number / 256, number % 256);
            let verb = ["add", "replace", "replace", "del"][draws.below(4) as usize];
            match draws.below(2) {
                0 => format!("route {verb} 20.{high}.{low}.0/24 via 10.0.0.{gateway}"),
                _ => format!("-6 route {verb} fd0a:{number:x}::/32 via fd00::{gateway}"),
            }
        })
        .collect();
    let options = Options {
        buffer_bytes: 64 << 10,
        ..Options::default()
    };
    let mut watcher = Watcher::open(&options).expect("a socket");
    let mut changes = Vec::new();
    let ip = ip_lines_beside(&lines);
    while !ip.is_finished() {
        let polled = watcher.poll(Duration::from_millis(10), &mut changes);
        polled.expect("netlink");
        std::thread::sleep(Duration::from_millis(draws.below(40)));
    }
    changes.extend(must_agree(&mut watcher, "LINERATE_SEED, after the changes"));
    println!("lost messages {} times", watcher.mirror().overruns());
    let mut copy = Copy::default();
    copy.follow(&changes, watcher.mirror());
    copy.must_be(watcher.mirror(), "LINERATE_SEED, after the changes");
}

/// A neighbour that nobody has sent to is found when it is asked for, in both families, is kept
/// where the kernel can, and one that is not there is known not to be.
#[test]
fn neighbours_are_found_and_kept_found() {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    ip_lines(
        &GROUND
            .iter()
            .map(|line| (*line).to_owned())
            .collect::<Vec<_>>(),
    );
    // The kernel asks from its link-local address, and not without one.
    ip("addr add fe80::1/64 dev v0 nodad").expect("an address");
    namespace.far_ip("addr add 10.0.0.2/24 dev v1");
    namespace.far_ip("addr add fd00::2/64 dev v1 nodad");
    namespace.far_ip("link set v1 address 02:00:00:00:00:02");
    let mut watcher = watcher();
    let v0 = watcher.mirror().links().find(|link| link.name == "v0");
    let link = v0.expect("v0").index;
    let mut resolver = Resolver::open().expect("a socket");
    for address in ["10.0.0.2", "fd00::2"] {
        let address = address.parse().expect("an address");
        let key = NeighbourKey { link, address };
        assert_eq!(watcher.mirror().neighbour(&key), None);
        resolver.find(watcher.mirror(), &key).expect("asked");
        let found = neighbour(&mut watcher, &key, |found| found.mac.is_some());
        assert_eq!(found.mac, Some(MacAddress([2, 0, 0, 0, 0, 2])));
        assert!(found.state.is_valid() && !found.is_managed, "{found:?}");
        resolver.keep(watcher.mirror(), &key).expect("asked");
        let kept = neighbour(&mut watcher, &key, |found| found.is_managed);
        assert_eq!(kept.mac, found.mac);
        resolver.find(watcher.mirror(), &key).expect("asked");
        neighbour(&mut watcher, &key, |found| !found.is_managed);
    }
    let address = "10.0.0.77".parse().expect("an address");
    let key = NeighbourKey { link, address };
    resolver.find(watcher.mirror(), &key).expect("asked");
    neighbour(&mut watcher, &key, |found| {
        found.state == NeighbourState::Failed
    });
    // One that an administrator set stays as it is.
    ip("neigh replace 10.0.0.78 lladdr 02:00:00:00:00:78 nud permanent dev v0").expect("set");
    let address = "10.0.0.78".parse().expect("an address");
    let key = NeighbourKey { link, address };
    neighbour(&mut watcher, &key, |found| {
        found.state == NeighbourState::Permanent
    });
    resolver
        .find(watcher.mirror(), &key)
        .expect("nothing to do");
    must_agree(&mut watcher, "neighbours");
    neighbour(&mut watcher, &key, |found| {
        found.state == NeighbourState::Permanent
    });
    let key = NeighbourKey {
        link: 9999,
        address,
    };
    assert!(
        resolver.find(watcher.mirror(), &key).is_err(),
        "no such link"
    );
    ip("neigh del 10.0.0.78 dev v0").expect("deleted");
    must_agree(&mut watcher, "neighbours");
    let gone = watcher
        .mirror()
        .neighbours()
        .all(|known| known.key.address != address);
    assert!(gone, "it is deleted");
}

/// Polls until a neighbour is as it should be.
fn neighbour(
    watcher: &mut Watcher,
    key: &NeighbourKey,
    is_so: impl Fn(&Neighbour) -> bool,
) -> Neighbour {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let polled = watcher.poll(Duration::from_millis(50), &mut Vec::new());
        polled.expect("netlink");
        let known = watcher.mirror().neighbour(key);
        if let Some(known) = known.filter(|known| is_so(known)) {
            return *known;
        }
        assert!(Instant::now() < end, "{key:?} is {known:?}");
    }
}

/// Links: names of any bytes, further names, bridges and their ports, what `ip` says of all.
#[test]
fn links_and_addresses_are_as_the_kernel_has_them() {
    let Some(_namespace) = Namespace::new() else {
        return;
    };
    let mut watcher = watcher();
    for step in [
        "link add br0 type bridge",
        "link set w0 master br0",
        "link property add dev w1 altname another-name-of-w1 altname w1-again",
        "link set w1 mtu 1400",
        "link set w1 address 02:00:00:00:00:99",
        "link set v0 down",
        "addr add 10.0.0.1/24 dev w1",
        "addr add 10.0.0.1/16 dev w1",
        "addr add 10.9.0.1 peer 10.9.0.2/32 dev w1",
        "addr add fd00::1/64 dev w1 nodad",
        "link set w0 nomaster",
        "link del br0",
        "link set v0 up",
    ] {
        ip(step).expect("a step");
        must_agree(&mut watcher, step);
        links_must_agree(&mut watcher, step);
    }
    let odd = OsStr::from_bytes(b"odd\xff\xfe");
    let status = Command::new("ip")
        .args(["link", "set", "v0", "name"])
        .arg(odd)
        .status();
    if !status.is_ok_and(|status| status.success()) {
        println!("skipped: ip does not give a name that is not UTF-8");
        return;
    }
    must_agree_on_name(&mut watcher, odd);
}

fn must_agree_on_name(watcher: &mut Watcher, odd: &OsStr) {
    let changes = judge::caught_up(watcher);
    let is_unreadable = |change: &Change| matches!(change, Change::Unreadable(_));
    assert!(!changes.iter().any(is_unreadable), "{changes:?}");
    let mut links = watcher.mirror().links();
    assert!(links.any(|link| link.name == odd), "it has its name");
}
