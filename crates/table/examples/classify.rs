//! What a classifier of rules costs, and whether it is right: `classify FILE...` of ClassBench.
//!
//! Packets are drawn uniformly over the rules, each new. The twin that tries one rule after another
//! is timed on some of the same packets, and must find the same first rule.

use std::hint::black_box;
use std::net::Ipv4Addr;
use std::ops::ControlFlow;
use std::time::Instant;
use std::{env, fs};

use table::classify::{Classifier, Condition, Entry, Field, Key, Then, matches};

const PACKETS: usize = 200_000;
const JUDGED: usize = 2_000;

fn main() {
    for file in env::args().skip(1) {
        let text = fs::read_to_string(&file).expect("a file of ClassBench");
        let all: Vec<Entry> = text.lines().zip(0..).filter_map(entry).collect();
        for count in [1, 10, 100, 1_000, 10_000] {
            if count <= all.len() || count / 10 < all.len() {
                measure(&file, &all[..count.min(all.len())]);
            }
        }
    }
}

fn measure(file: &str, entries: &[Entry]) {
    let begun = Instant::now();
    let classifier = Classifier::new(entries).expect("within the bounds");
    let built = begun.elapsed();
    let mut seed = 0x9E37_79B9_7F4A_7C15;
    let keys: Vec<Key> = (0..PACKETS).map(|_| key(entries, &mut seed)).collect();
    let begun = Instant::now();
    let found: Vec<Option<usize>> = keys.iter().map(|key| first(&classifier, key)).collect();
    let fast = begun.elapsed().as_nanos() as f64 / PACKETS as f64;
    let begun = Instant::now();
    for (key, found) in keys[..JUDGED].iter().zip(&found) {
        let slow = entries
            .iter()
            .position(|entry| matches(entry, black_box(key)));
        assert_eq!(*found, slow, "{key:?}");
    }
    let slow = begun.elapsed().as_nanos() as f64 / JUDGED as f64;
    println!(
        "{file}: {} rules, built in {built:.1?}, {} KiB, {fast:.0} ns a packet, \
         {slow:.0} one by one",
        entries.len(),
        classifier.bytes() >> 10
    );
}

fn first(classifier: &Classifier, key: &Key) -> Option<usize> {
    let mut found = None;
    classifier.each_match(key, |rule| {
        found = Some(rule);
        ControlFlow::Break(())
    });
    found
}

/// `@10.0.0.0/8 0.0.0.0/0 0 : 65535 53 : 53 0x06/0xFF ...`
fn entry((line, rule): (&str, u32)) -> Option<Entry> {
    let words: Vec<&str> = line.trim_start_matches('@').split_whitespace().collect();
    let [src, dst, first, _, last, to_first, _, to_last, protocol, ..] = words[..] else {
        return None;
    };
    let port = |field, first: &str, last: &str| Condition {
        field,
        values: vec![(
            first.parse().expect("a port"),
            last.parse().expect("a port"),
        )],
    };
    let mut conditions = vec![
        network(Field::SrcV4, src),
        network(Field::DstV4, dst),
        port(Field::SrcPort, first, last),
        port(Field::DstPort, to_first, to_last),
    ];
    conditions.retain(|one| one.values[0] != (0, one.field.value_max()));
    if let Some(number) = protocol.strip_suffix("/0xFF") {
        let number = u128::from_str_radix(&number[2..], 16).expect("a protocol");
        conditions.push(Condition {
            field: Field::Protocol,
            values: vec![(number, number)],
        });
    }
    let then = Then::Drop;
    Some(Entry {
        conditions,
        rule,
        then,
    })
}

fn network(field: Field, text: &str) -> Condition {
    let (address, length) = text.split_once('/').expect("a prefix");
    let address: Ipv4Addr = address.parse().expect("an address");
    let behind = u32::MAX
        .checked_shr(length.parse().expect("a length"))
        .unwrap_or(0);
    let first = address.to_bits() & !behind;
    Condition {
        field,
        values: vec![(first.into(), (first | behind).into())],
    }
}

fn draw(seed: &mut u64, below: u128) -> u128 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    u128::from(*seed >> 16) % below
}

/// A packet that matches some rule.
fn key(entries: &[Entry], seed: &mut u64) -> Key {
    let entry = &entries[draw(seed, entries.len() as u128) as usize];
    let mut value = |field: Field| {
        let own = entry.conditions.iter().find(|one| one.field == field);
        let (first, last) = own.map_or((0, field.value_max()), |one| one.values[0]);
        first + draw(seed, last - first + 1)
    };
    Key {
        family: 4,
        src: Some(value(Field::SrcV4)),
        dst: Some(value(Field::DstV4)),
        src_port: Some(value(Field::SrcPort) as u16),
        dst_port: Some(value(Field::DstPort) as u16),
        protocol: Some(value(Field::Protocol) as u8),
        ..Key::default()
    }
}
