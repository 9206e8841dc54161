//! Memory is zero, writable, of the size asked for, and says what it is.

use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::ids::NodeId;

/// Around every size at which another kind of pages begins.
const SIZES: [usize; 8] = [
    1,
    SMALL_PAGE_BYTES,
    SMALL_PAGE_BYTES + 1,
    HUGE_PAGE_BYTES / 2 - 1,
    HUGE_PAGE_BYTES / 2,
    HUGE_PAGE_BYTES,
    HUGE_PAGE_BYTES + 1,
    3 * HUGE_PAGE_BYTES + 5,
];

fn sizes() -> &'static [usize] {
    if cfg!(miri) { &SIZES[..3] } else { &SIZES }
}

#[test]
fn every_size_is_zero_and_writable_to_the_last_byte() {
    for &bytes in sizes() {
        let mut mapping = Mapping::touched(bytes).expect("memory");
        assert!(mapping.bytes() >= bytes);
        assert!(mapping.bytes().is_multiple_of(SMALL_PAGE_BYTES));
        assert!(mapping.as_slice().iter().all(|&byte| byte == 0));
        mapping.as_mut_slice().fill(0xff);
        assert_eq!(mapping.as_slice().last(), Some(&0xff));
    }
}

#[test]
fn small_pages_can_be_had_on_purpose() {
    let bytes = if cfg!(miri) { 1 } else { 2 * HUGE_PAGE_BYTES };
    let mut slice = HugeSlice::<u8>::zeroed_in_small_pages(bytes).expect("memory");
    assert_eq!((slice.len(), slice.pages()), (bytes, Pages::Small));
    slice.fill(0xff);
    assert_eq!(slice.last(), Some(&0xff));
}

#[test]
fn nothing_is_a_size_too() {
    let mut mapping = Mapping::touched(0).expect("no memory");
    assert_eq!(
        (mapping.bytes(), mapping.as_slice(), mapping.pages()),
        (0, &[][..], Pages::Small)
    );
    assert!(mapping.as_mut_slice().is_empty());
    let slice = HugeSlice::<u128>::zeroed(0).expect("no memory");
    assert!(slice.is_empty() && slice.as_ptr().is_aligned());
}

#[test]
fn more_than_an_address_can_name_is_refused() {
    for bytes in [usize::MAX, isize::MAX as usize] {
        assert_eq!(Mapping::touched(bytes).err(), Some(MemoryError::TooLarge));
    }
    assert_eq!(
        HugeSlice::<u64>::zeroed(usize::MAX / 4).err(),
        Some(MemoryError::TooLarge)
    );
}

#[test]
#[cfg(not(miri))]
fn more_than_the_machine_has_is_refused_before_it_is_touched() {
    let error = Mapping::touched(1 << 46).expect_err("64 TiB");
    match error {
        MemoryError::NotAvailable {
            wanted_bytes,
            available_bytes,
        } => {
            assert_eq!(wanted_bytes, 1 << 46);
            assert!(available_bytes < wanted_bytes);
        }
        other => panic!("{other}"),
    }
    assert!(
        error.to_string().starts_with("67108864 MiB are needed"),
        "{error}"
    );
}

#[test]
#[cfg(not(miri))]
fn large_memory_begins_at_a_huge_page_and_tells_its_pages() {
    let mapping = Mapping::touched(8 * HUGE_PAGE_BYTES).expect("memory");
    let pages = mapping.pages();
    if pages != Pages::Small {
        assert!(
            mapping
                .as_slice()
                .as_ptr()
                .addr()
                .is_multiple_of(HUGE_PAGE_BYTES)
        );
    }
    println!("16 MiB are in {pages}");
    let small = Mapping::touched(SMALL_PAGE_BYTES).expect("memory");
    assert_eq!(small.pages(), Pages::Small);
}

#[test]
fn a_node_is_a_wish() {
    for node in [NodeId(0), NodeId(1023), NodeId(u16::MAX)] {
        let whole = Placement {
            start: 0,
            bytes: SMALL_PAGE_BYTES,
            node,
        };
        let mut mapping = Mapping::placed(SMALL_PAGE_BYTES, &[whole]).expect("memory");
        mapping.as_mut_slice().fill(1);
        if node != NodeId(0) {
            assert_ne!(mapping.node_of(0, SMALL_PAGE_BYTES), Some(node));
        }
    }
}

#[test]
fn slices_are_typed_and_shared() {
    let mut table = HugeSlice::<u64>::zeroed(1000).expect("memory");
    assert_eq!(table.len(), 1000);
    assert!(table.iter().all(|&value| value == 0));
    table[999] = 7;
    let copy = HugeSlice::copy_of(&table).expect("memory");
    assert_eq!(copy[..], table[..]);
    assert!(copy.bytes() >= 8000);

    let counters = HugeSlice::<AtomicU32>::zeroed(4).expect("memory");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| counters[3].fetch_add(1, Ordering::Relaxed));
        }
    });
    assert_eq!(counters[3].load(Ordering::Relaxed), 2);
}

#[test]
fn pages_are_words_for_people() {
    let words = [Pages::Explicit2M, Pages::Transparent, Pages::Small].map(|p| p.to_string());
    assert_eq!(
        words,
        ["2 MiB huge pages", "transparent huge pages", "4 KiB pages"]
    );
}
