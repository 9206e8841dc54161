//! Lists of the size of real ones, and real ones where they are present.

mod reading;

use list::{Loaded, ReadOptions, find, read};
use reading::{crate_dir, entries, gzip, load};
use std::fs::File;
use std::net::Ipv4Addr;

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
