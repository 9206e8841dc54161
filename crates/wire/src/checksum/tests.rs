//! RFC 1071's example, RFC 1624's example, and properties against a sum by the definition.

use proptest::prelude::*;

use super::*;

/// The definition: 16-bit words, carries added back one by one.
fn slow(bytes: &[u8]) -> u16 {
    bytes.chunks(2).fold(0u16, |sum, pair| {
        let word = u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]);
        let wide = u32::from(sum) + u32::from(word);
        (wide & 0xFFFF) as u16 + (wide >> 16) as u16
    })
}

#[test]
fn rfc_1071_section_3_example() {
    let bytes = [0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7];
    assert_eq!(ones_complement(&bytes), 0xDDF2);
    assert_eq!(checksum(&bytes), !0xDDF2);
    // The same bytes summed in two groups, split at an even and at an odd place.
    assert_eq!(
        combine(ones_complement(&bytes[..4]), ones_complement(&bytes[4..])),
        0xDDF2
    );
    assert_eq!(
        combine_odd(ones_complement(&bytes[..3]), ones_complement(&bytes[3..])),
        0xDDF2
    );
}

#[test]
fn rfc_1624_section_4_example_gives_plus_zero() {
    assert_eq!(update(0xDD2F, 0x5555, 0x3285), 0x0000);
}

#[test]
fn known_ipv4_header() {
    let header = [
        0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0xB8, 0x61, 0xC0, 0xA8, 0, 1, 0xC0, 0xA8, 0,
        0xC7,
    ];
    assert_eq!(checksum(&header), 0);
    let mut blank = header;
    blank[10..12].fill(0);
    assert_eq!(checksum(&blank), 0xB861);
}

#[test]
fn all_zero_is_the_one_exception_of_the_update() {
    assert_eq!(checksum(&[0; 4]), 0xFFFF);
    assert_eq!(update(checksum(&[0x12, 0x34, 0, 0]), 0x1234, 0), 0x0000);
}

#[test]
fn udp_never_sends_zero() {
    assert_eq!(udp_nonzero(0), 0xFFFF);
    assert_eq!(udp_nonzero(7), 7);
}

/// Bytes rich in words that sum to zero: 0x0000 and 0xFFFF.
fn words() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(0u8), Just(0xFF), any::<u8>()];
    proptest::collection::vec(byte, 0..200)
}

proptest! {
    #[test]
    fn fast_sum_is_the_slow_sum(bytes in words(), skip in 0usize..8) {
        let bytes = bytes.get(skip..).unwrap_or(&[]);
        prop_assert_eq!(ones_complement(bytes), slow(bytes));
    }

    #[test]
    fn sums_of_parts_combine(bytes in words(), cut in any::<prop::sample::Index>()) {
        let (front, back) = bytes.split_at(cut.index(bytes.len() + 1));
        let (front, back, even) = (ones_complement(front), ones_complement(back), front.len() % 2);
        let whole = if even == 0 { combine(front, back) } else { combine_odd(front, back) };
        prop_assert_eq!(whole, ones_complement(&bytes));
    }

    #[test]
    fn update_is_recompute(rest in words(), old: u16, new in prop_oneof![Just(0u16), Just(0xFFFF),
        any::<u16>()]) {
        let with = |word: u16| {
            let mut bytes = word.to_be_bytes().to_vec();
            bytes.push(0x45); // as in every IP header: never all zero
            bytes.push(0);
            bytes.extend_from_slice(&rest);
            checksum(&bytes)
        };
        prop_assert_eq!(update(with(old), old, new), with(new));
    }

    #[test]
    fn minus_zero_in_and_out(word: u16, other: u16) {
        // Contents chosen so that the sum is 0xFFFF (checksum 0) before, then after, the change.
        let content = |a: u16| [a.to_be_bytes(), (!a).to_be_bytes()].concat();
        prop_assert_eq!(checksum(&content(word)), 0);
        let changed = [other.to_be_bytes(), (!word).to_be_bytes()].concat();
        prop_assume!(changed.iter().any(|byte| *byte != 0));
        prop_assert_eq!(update(0, word, other), checksum(&changed));
        prop_assert_eq!(update(checksum(&changed), other, word), 0);
    }

    #[test]
    fn wide_updates_are_recompute(a: u32, b: u32, c: u128) {
        let with = |x: u32| {
            checksum(&[&[0x45, 0][..], &x.to_be_bytes(), &c.to_be_bytes()].concat())
        };
        prop_assert_eq!(add_difference(with(a), difference_u32(a, b)), with(b));
    }

    #[test]
    fn differences_add_up_to_updates(
        sum: u16, words in prop::collection::vec(any::<(u32, u32)>(), 0..4)
    ) {
        let update = |sum, &(old, new): &(u32, u32)| {
            let sum = update(sum, (old >> 16) as u16, (new >> 16) as u16);
            update(sum, old as u16, new as u16)
        };
        let all = words.iter().fold(0, |all, &(old, new)| combine(all, difference_u32(old, new)));
        let changed = words.iter().fold(sum, update);
        prop_assert_eq!(add_difference(sum, all), changed);
        let back = add_difference(changed, if words.is_empty() { 0 } else { !all });
        // Both zeros mean the same.
        prop_assert_eq!(back % 0xFFFF, sum % 0xFFFF);
    }

    #[test]
    fn pseudo_headers_are_sums_of_their_bytes(
        src: u128, dst: u128, protocol: u8, len: u32, segment in words()
    ) {
        let (src4, dst4, len4) = (src as u32, dst as u32, len as u16);
        let v4 = [&src4.to_be_bytes()[..], &dst4.to_be_bytes(), &[0, protocol],
            &len4.to_be_bytes()].concat();
        prop_assert_eq!(pseudo_v4(src4, dst4, protocol, len4), ones_complement(&v4));
        let v6 = [&src.to_be_bytes()[..], &dst.to_be_bytes(), &len.to_be_bytes(),
            &[0, 0, 0, protocol]].concat();
        let pseudo = pseudo_v6(src, dst, protocol, len);
        prop_assert_eq!(pseudo, ones_complement(&v6));
        prop_assert_eq!(transport(pseudo, &segment), checksum(&[v6, segment].concat()));
    }
}
