//! Every design answers as a `HashSet` does.

use std::collections::HashSet;
use std::rc::Rc;

use super::array::{ArrayTable, Batched};
use super::bitmap::Bitmap;
use super::bucket16::Buckets16;
use super::list::ListTable;
use super::map8::Map8;
use super::*;
use crate::key::Key;
use crate::shuffle::Seeded;

/// All but the bitmap, whose 512 MB take a while.
fn designs(set: &[u32]) -> Vec<(&'static str, Box<dyn Design>)> {
    let all = || set.iter().copied();
    let array = Rc::new(ArrayTable::new(all(), 64).expect("memory"));
    vec![
        (
            "array in batches",
            Box::new(Batched {
                table: Rc::clone(&array),
                batch: 32,
            }),
        ),
        (
            "array",
            Box::new(ArrayTable::new(all(), 64).expect("memory")),
        ),
        ("list", Box::new(ListTable::new(all(), 64))),
        ("bucket16", Box::new(Buckets16::new(all()).expect("memory"))),
        ("map8", Box::new(Map8::new(all()).expect("memory"))),
    ]
}

/// Keys of the set, keys near them, and random ones, in random order.
fn keys(set: &[u32], seeded: &mut Seeded) -> Vec<u32> {
    let mut keys = vec![0, 1, u32::MAX];
    keys.extend(set);
    keys.extend(set.iter().map(|key| key.wrapping_add(1)));
    keys.extend((0..1000).map(|_| seeded.next() as u32));
    seeded.shuffle(&mut keys);
    keys
}

fn check(set: &[u32], seeded: &mut Seeded) {
    let truth: HashSet<u32> = set.iter().copied().collect();
    let keys = keys(set, seeded);
    for (name, design) in designs(set) {
        check_one(name, &*design, &keys, &truth);
    }
}

fn check_one(name: &str, design: &dyn Design, keys: &[u32], truth: &HashSet<u32>) {
    let mut found = vec![false; keys.len()];
    let hits = design.contains_burst(keys, &mut found);
    for (key, found) in keys.iter().zip(&found) {
        assert_eq!(*found, truth.contains(key), "{name}, key {key}");
    }
    let expected = keys.iter().filter(|key| truth.contains(key)).count();
    assert_eq!(hits, expected, "{name}");
}

#[test]
fn random_addresses() {
    let mut seeded = Seeded::new(11);
    for count in [1, 2, 17, 1000, 20_000] {
        let set: Vec<u32> = (0..count).map(|number| u32::nth(number, 3)).collect();
        check(&set, &mut seeded);
    }
}

#[test]
fn addresses_that_crowd_one_bucket() {
    let mut seeded = Seeded::new(12);
    // The upper bits of the hash are those of a running number: the first buckets overflow.
    let inverse = 0x144c_bc89_u32;
    let set: Vec<u32> = (0..300u32).map(|low| low.wrapping_mul(inverse)).collect();
    assert!(set.iter().all(|&address| hash(address) < 300));
    check(&set, &mut seeded);
}

#[test]
fn the_empty_set_and_the_address_zero() {
    let mut seeded = Seeded::new(13);
    check(&[], &mut seeded);
    check(&[0], &mut seeded);
    check(&[0, u32::MAX], &mut seeded);
}

#[test]
fn duplicates_change_no_answer() {
    check(&[7, 7, 9, 0, 9, 7, 0], &mut Seeded::new(14));
}

#[test]
fn bytes_are_what_lookups_can_touch() {
    let set: Vec<u32> = (0..9600).map(|number| u32::nth(number, 3)).collect();
    let bytes: Vec<usize> = designs(&set).iter().map(|(_, d)| d.bytes()).collect();
    let array = 64 * 8 + 9600 * 4;
    let list = 64 * 8 + 9600 * 32;
    assert_eq!(bytes, [array, array, list, 1001 * 64, 2001 * 64]);
}

#[test]
fn a_bitmap_is_right_to_the_last_address() {
    let mut set: Vec<u32> = (0..20_000).map(|number| u32::nth(number, 3)).collect();
    set.extend([0, 63, 64, u32::MAX, 63]);
    let bitmap = Bitmap::new(set.iter().copied()).expect("memory");
    let keys = keys(&set, &mut Seeded::new(15));
    check_one("bitmap", &bitmap, &keys, &set.into_iter().collect());
    assert_eq!(bitmap.bytes(), 1 << 29);
}
