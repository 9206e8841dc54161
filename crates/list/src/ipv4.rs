//! IPv4 addresses from text: four decimal numbers, strict, as `std` reads them.
//!
//! Two readers that must agree. [`at_start`] is the fast one: it finds digits, dots and the
//! end in 16 bytes at once and takes one branch on the whole verdict, because a reader that
//! branches on the length of each number mispredicts about four times a line (measured on
//! random addresses: 2.5 times slower). [`parse`] is for a field that is already cut out.

/// Bytes that [`at_start`] looks at: 16 for the address and its end, and what follows so that
/// four bytes can be loaded at any place of an address.
pub(crate) const WINDOW_BYTES: usize = 20;

/// `0x2e` in each byte: dots.
const DOTS: u64 = rep(b'.');
/// `0x30` in each byte: zeros.
const ZEROS: u64 = rep(b'0');
/// The high bit of each byte.
const HIGH: u64 = rep(0x80);
/// All other bits of each byte.
const LOW: u64 = rep(0x7f);
/// Added to a number of 7 bits, sets the high bit when it is above nine.
const ABOVE_NINE: u64 = rep(0x7f - 9);
/// The least value that a number of 0, 1, 2 or 3 digits has without a leading zero.
const LEAST: [u32; 4] = [0, 0, 10, 100];

const fn rep(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The dots among eight bytes, and the bytes that are neither dot nor digit: bit `i` is byte `i`.
#[inline]
fn dots_and_stops(bytes: u64) -> (u32, u32) {
    let dot = bytes ^ DOTS;
    let not_dot = ((dot & LOW) + LOW) | dot;
    let digit = bytes ^ ZEROS;
    let not_digit = ((digit & LOW) + ABOVE_NINE) | digit;
    (gather(!not_dot & HIGH), gather(not_dot & not_digit & HIGH))
}

/// The high bits of eight bytes, side by side.
#[inline]
fn gather(high_bits: u64) -> u32 {
    ((high_bits >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
}

/// Reads the address at the start of `window` up to the first byte that is neither a digit nor
/// a dot. Returns it in host order with its length in bytes (7 to 15); `None` when there is
/// none or anything is wrong with it.
#[inline]
pub(crate) fn at_start(window: &[u8; WINDOW_BYTES]) -> Option<(u32, usize)> {
    let load = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| window[at + i]));
    let (dots_low, stops_low) = dots_and_stops(load(0));
    let (dots_high, stops_high) = dots_and_stops(load(8));
    let end = (stops_low | stops_high << 8 | 1 << 16).trailing_zeros();
    let first = (dots_low | dots_high << 8) & ((1 << end) - 1);
    let second = first & first.wrapping_sub(1);
    let third = second & second.wrapping_sub(1);
    let fourth = third & third.wrapping_sub(1);
    let dots = [
        first.trailing_zeros(),
        second.trailing_zeros(),
        third.trailing_zeros(),
    ];
    let shape_is_wrong = third == 0 || fourth != 0 || end > 15;

    let (a, a_is_wrong) = number(window, 0, dots[0]);
    let (b, b_is_wrong) = number(window, dots[0].wrapping_add(1), dots[1]);
    let (c, c_is_wrong) = number(window, dots[1].wrapping_add(1), dots[2]);
    let (d, d_is_wrong) = number(window, dots[2].wrapping_add(1), end);
    if shape_is_wrong | a_is_wrong | b_is_wrong | c_is_wrong | d_is_wrong {
        return None;
    }
    Some((a << 24 | b << 16 | c << 8 | d, end as usize))
}

/// The number in the digits from `start` to `end`, and whether it is wrong: no digits or more
/// than three, a leading zero, above 255. Garbage when the caller's shape is wrong.
#[inline]
fn number(window: &[u8; WINDOW_BYTES], start: u32, end: u32) -> (u32, bool) {
    let length = end.wrapping_sub(start);
    let at = (start & 15) as usize;
    let digits = u32::from_le_bytes([window[at], window[at + 1], window[at + 2], window[at + 3]]);
    // The last digit goes to the top byte, the others below it, zeros where there is none.
    let aligned = digits.wrapping_shl(4u32.wrapping_sub(length).wrapping_mul(8)) & 0x0f0f_0f0f;
    let value = (aligned >> 24) + 10 * (aligned >> 16 & 0xff) + 100 * (aligned >> 8 & 0xff);
    let least = LEAST[(length & 3) as usize];
    (
        value,
        length.wrapping_sub(1) > 2 || value < least || value > 255,
    )
}

/// Reads a whole field as an address, host order.
#[inline]
pub(crate) fn parse(field: &[u8]) -> Option<u32> {
    if field.len() < 7 || field.len() > 15 {
        return None;
    }
    let mut window = [0; WINDOW_BYTES];
    window[..field.len()].copy_from_slice(field);
    at_start(&window)
        .filter(|&(_, length)| length == field.len())
        .map(|(address, _)| address)
}

/// The prefix length that a wildcard mask stands for: zeros, then ones.
pub(crate) fn prefix_of_wildcard(mask: u32) -> Option<u8> {
    let is_prefix = mask.leading_zeros() + mask.trailing_ones() >= 32;
    is_prefix.then_some(mask.leading_zeros() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    fn std_says(field: &[u8]) -> Option<u32> {
        std::str::from_utf8(field)
            .ok()?
            .parse::<Ipv4Addr>()
            .ok()
            .map(Ipv4Addr::to_bits)
    }

    #[test]
    fn agrees_with_std_on_chosen_texts() {
        for text in [
            "0.0.0.0",
            "255.255.255.255",
            "1.2.3.4",
            "256.1.1.1",
            "1.2.3",
            "1.2.3.4.5",
            "01.2.3.4",
            "1..2.3",
            ".1.2.3",
            "1.2.3.",
            "1.2.3.4.",
            "1.2.3.00",
            "",
            "....",
            "1.2.3.4 ",
            "1.2.3.999",
            "1111.2.3.4",
            "1.2.3.4\0",
            "a.b.c.d",
            "1.2.3.\u{ff14}",
            "1/2/3/4",
            "1.2.3.4:80",
            "999.999.999.999",
            "255.255.255.2555",
            "-1.2.3.4",
            "+1.2.3.4",
        ] {
            assert_eq!(
                parse(text.as_bytes()),
                std_says(text.as_bytes()),
                "{text:?}"
            );
        }
    }

    #[test]
    fn every_number_in_every_place() {
        for value in 0..2000 {
            for text in [
                format!("{value}.20.3.4"),
                format!("1.{value}.30.4"),
                format!("100.2.{value}.4"),
                format!("1.255.3.{value}"),
                format!("1.2.3.{value:03}"),
            ] {
                assert_eq!(parse(text.as_bytes()), std_says(text.as_bytes()), "{text}");
            }
        }
    }

    #[test]
    fn any_end_ends_an_address() {
        for end in (0..=255u8).filter(|end| !end.is_ascii_digit() && *end != b'.') {
            let mut window = *b"192.168.100.200.....";
            window[15] = end;
            assert_eq!(at_start(&window), Some((0xc0a8_64c8, 15)), "{end}");
        }
        assert_eq!(at_start(b"192.168.100.200....."), None);
    }

    proptest! {
        #[test]
        fn reads_what_std_writes(address: u32) {
            let text = Ipv4Addr::from_bits(address).to_string();
            prop_assert_eq!(parse(text.as_bytes()), Some(address));
        }

        #[test]
        fn agrees_with_std_on_near_addresses(text in "[0-9.]{5,17}|([0-9]{1,3}\\.){3}[0-9]{1,3}") {
            prop_assert_eq!(parse(text.as_bytes()), std_says(text.as_bytes()));
        }

        #[test]
        fn agrees_with_std_on_any_bytes(field in prop::collection::vec(any::<u8>(), 0..20)) {
            prop_assert_eq!(parse(&field), std_says(&field));
        }
    }
}
