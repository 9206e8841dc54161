//! Lists of the size of real ones, and real ones where they are present.

mod reading;

use list::{Loaded, ReadOptions, find, read};
use reading::{crate_dir, entries, gzip, load};
use std::fs::File;
use std::net::Ipv4Addr;
use std::num::NonZeroU32;
use std::time::Instant;
use table::fib::Routes;
use table::{Address, ListMask, Network};

/// A million addresses in an order that no cache likes, each once.
fn million() -> Vec<u32> {
    let spread = |i: u32| i.wrapping_mul(0x9e37_79b1) | 0x0100_0000;
    (0..1_000_000).map(spread).collect()
}

#[test]
fn a_million_lines() {
    let addresses = million();
    let mut text = String::from("# a million\n");
    for &address in &addresses {
        text += &format!("{}\n", Ipv4Addr::from_bits(address));
    }
    for bytes in [text.as_bytes(), &gzip(&text)] {
        let loaded = load(bytes);
        assert_eq!(loaded.entries.v4.addresses, addresses);
        assert_eq!((loaded.lines, loaded.entry_count), (1_000_001, 1_000_000));
        assert_eq!(loaded.bytes_read, bytes.len() as u64);
    }
}

#[test]
fn a_million_lines_of_every_kind() {
    let mut text = String::new();
    for i in 0..200_000u32 {
        let (a, b, c) = (i >> 16 & 255, i >> 8 & 255, i & 255);
        text += &format!("11.{a}.{b}.{c}\n12.{a}.{b}.0/24\t{c}\r\n2001:db8:{a:x}:{b:x}::{c:x}\n");
        text += &format!("13.{a}.{b}.{c} - 14.{a}.{b}.{c}\n# {i}\n");
    }
    let loaded = load(text);
    let (v4, v6) = (&loaded.entries.v4, &loaded.entries.v6);
    assert_eq!(loaded.lines, 1_000_000);
    assert_eq!((v4.addresses.len(), v6.addresses.len()), (200_000, 200_000));
    assert_eq!((v4.networks.len(), v4.ranges.len()), (200_000, 200_000));
    assert_eq!(v4.networks[199_999].to_string(), "12.3.13.0/24");
    assert_eq!(loaded.warning_count, 0);
}

#[test]
fn a_million_routes() {
    let mut text = String::new();
    for at in 0..1_000_000u32 {
        let prefix = Ipv4Addr::from_bits(0x0100_0000 + (at << 8));
        let (peer, port) = (at % 200 + 1, at % 4);
        text += &format!("{prefix}/24 via 192.0.2.{peer} dev eth{port} proto bgp metric 20 \n");
    }
    let begun = Instant::now();
    let read = list::routes::read("routes", text.as_bytes()).expect("routes");
    println!("1,000,000 routes are read in {:.2?}", begun.elapsed());
    assert_eq!((read.routes.len(), read.note_count), (1_000_000, 0));
    let last = read.routes.last().expect("a million");
    assert_eq!(
        last.prefix,
        Ipv4Addr::from_bits(0x0100_0000 + (999_999 << 8))
    );
}

/// Loads a file of the shared data; `None`, with the reason printed, where it is not there.
fn shared(name: &str) -> Option<Loaded> {
    let Ok(file) = File::open(crate_dir().join("../../../shared/data").join(name)) else {
        println!("skipped: ../shared/data/{name} is not there");
        return None;
    };
    let options = ReadOptions::default();
    Some(read(name, file, &options, &mut |_| {}).unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn ipsum() {
    let Some(loaded) = shared("ipsum.txt") else {
        return;
    };
    assert_eq!(loaded.entry_count, 120_430);
    assert_eq!(loaded.entries.v4.addresses.len(), 120_430);
    assert_eq!(loaded.lines, 120_437);
    assert_eq!(entries(&loaded)[0], "77.90.185.20");
    let file = File::open(crate_dir().join("../../../shared/data/ipsum.txt")).unwrap();
    let address = "77.90.185.20".parse().unwrap();
    let found = find("ipsum", file, &ReadOptions::default(), address).unwrap();
    assert_eq!(found.matches[0].to_string(), "ipsum:8: 77.90.185.20\\t10");
}

#[test]
fn prefixes_of_the_internet() {
    let Some(loaded) = shared("internet-prefixes.txt.gz") else {
        return;
    };
    assert!(loaded.gzip);
    assert_eq!(loaded.entry_count, loaded.lines);
    assert_eq!(loaded.lines, 1_062_046);
}

/// The same prefixes as routes of 500 answers: what the longest match is, by two ways.
#[test]
fn routes_of_the_internet() {
    let Some(loaded) = shared("internet-prefixes.txt.gz") else {
        return;
    };
    let (v4, v6) = (&loaded.entries.v4, &loaded.entries.v6);
    check_routes("IPv4", v4.networks.iter().copied(), &v4.addresses);
    check_routes("IPv6", v6.networks.iter().copied(), &v6.addresses);
}

fn check_routes<A: Address>(family: &str, networks: impl Iterator<Item = Network<A>>, hosts: &[A]) {
    let hosts = hosts.iter();
    let hosts = hosts.map(|&host| Network::holding(host, A::BITS as u8).expect("whole"));
    let answers = (0..).map(|at| NonZeroU32::MIN.saturating_add(at % 500));
    let given: Vec<_> = networks.chain(hosts).zip(answers).collect();
    let begun = Instant::now();
    let mut routes = Routes::new(given.iter().copied()).expect("memory");
    let (took, bytes) = (begun.elapsed(), routes.fib().bytes());
    let each = bytes as f64 / routes.len() as f64;
    println!(
        "{family}: {} prefixes in {took:.2?}, {each:.1} bytes each",
        routes.len()
    );
    check_edges(&routes, &given);
    let begun = Instant::now();
    let flap = given.iter().step_by(97);
    let withdrawn = flap.clone().map(|&(network, _)| (network, None));
    let count = routes.apply(withdrawn).expect("memory");
    check_edges(&routes, &given);
    let default = Network::holding(A::default(), 0).expect("short");
    routes.set(default, NonZeroU32::new(501)).expect("memory");
    check_edges(&routes, &given);
    routes
        .apply(flap.map(|&(network, answer)| (network, Some(answer))))
        .expect("memory");
    check_edges(&routes, &given);
    println!(
        "{family}: {count} flaps and a default route in {:.2?}",
        begun.elapsed()
    );
}

/// The answers at the edges of some of the prefixes, and beside them, against the longest match.
fn check_edges<A: Address>(routes: &Routes<A>, given: &[(Network<A>, NonZeroU32)]) {
    let some = given.iter().step_by(31).flat_map(|&(network, _)| {
        let (first, last) = (network.first(), network.last());
        let beside = [first.predecessor(), last.successor()];
        [first, last]
            .into_iter()
            .chain(beside.into_iter().flatten())
    });
    let keys: Vec<A> = some.collect();
    let mut answers = vec![ListMask::EMPTY; keys.len()];
    routes.fib().lookup_burst(&keys, &mut answers);
    for (&key, found) in keys.iter().zip(answers) {
        let longest = routes.longest(key);
        let expected = longest.map_or(0, |(_, answer)| answer.get());
        assert_eq!(found.0, expected, "{}", key.text());
    }
}
