//! IPv6 addresses from text (RFC 4291 section 2.2), strict, as `std` reads them: groups of one to
//! four hexadecimal digits, one `::`, a dotted IPv4 address in the last two groups' place. No
//! zone, no brackets.

use crate::ipv4;

/// The groups read so far.
struct Groups {
    address: u128,
    count: u32,
    /// How many groups stand before the `::`.
    gap_at: Option<u32>,
}

impl Groups {
    fn push(&mut self, group: u16) -> Option<()> {
        if self.count == 8 {
            return None;
        }
        self.address = self.address << 16 | u128::from(group);
        self.count += 1;
        Some(())
    }

    /// Spreads the groups over 128 bits.
    fn finish(self) -> Option<u128> {
        match self.gap_at {
            None => (self.count == 8).then_some(self.address),
            Some(_) if self.count == 8 => None,
            Some(gap_at) => {
                let tail_bits = 16 * (self.count - gap_at);
                let tail = self.address & ((1 << tail_bits) - 1);
                // `checked_shl`: nothing stands before the gap when it would shift by 128.
                let head = (self.address >> tail_bits).checked_shl(16 * (8 - gap_at));
                Some(head.unwrap_or(0) | tail)
            }
        }
    }
}

/// Reads a whole field as an address, host order.
pub(crate) fn parse(field: &[u8]) -> Option<u128> {
    // The longest is `ffff:` six times and `255.255.255.255`.
    if field.len() < 2 || field.len() > 45 {
        return None;
    }
    let mut groups = Groups {
        address: 0,
        count: 0,
        gap_at: None,
    };
    let mut at = 0;
    if field.starts_with(b"::") {
        groups.gap_at = Some(0);
        at = 2;
    }
    while at < field.len() {
        let start = at;
        let (group, end) = hex_group(field, at);
        if field.get(end) == Some(&b'.') {
            let embedded = ipv4::parse(&field[start..])?;
            groups.push((embedded >> 16) as u16)?;
            groups.push((embedded & 0xffff) as u16)?;
            return groups.finish();
        }
        if end == start || end - start > 4 {
            return None;
        }
        groups.push(group)?;
        at = separator(field, end, &mut groups)?;
    }
    groups.finish()
}

/// The hexadecimal digits from `at`, five at most, and where they end.
#[inline]
fn hex_group(field: &[u8], at: usize) -> (u16, usize) {
    let mut value = 0u32;
    let mut end = at;
    while end < field.len() && end - at < 5 {
        let digit = HEX[usize::from(field[end])];
        if digit > 15 {
            break;
        }
        value = value << 4 | u32::from(digit);
        end += 1;
    }
    ((value & 0xffff) as u16, end)
}

/// Steps over the `:` or `::` after a group; the end of the field is one too.
#[inline]
fn separator(field: &[u8], end: usize, groups: &mut Groups) -> Option<usize> {
    if end == field.len() {
        return Some(end);
    }
    if field[end] != b':' {
        return None;
    }
    match field.get(end + 1) {
        None => None,
        Some(b':') if groups.gap_at.is_some() => None,
        Some(b':') => {
            groups.gap_at = Some(groups.count);
            Some(end + 2)
        }
        Some(_) => Some(end + 1),
    }
}

/// The value of each byte as a hexadecimal digit; 16 for others.
const HEX: [u8; 256] = {
    let mut table = [16; 256];
    let mut digit = 0u8;
    while digit < 16 {
        let (lower, upper) = (
            b"0123456789abcdef"[digit as usize],
            b"0123456789ABCDEF"[digit as usize],
        );
        table[lower as usize] = digit;
        table[upper as usize] = digit;
        digit += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::Ipv6Addr;

    fn std_says(field: &[u8]) -> Option<u128> {
        std::str::from_utf8(field)
            .ok()?
            .parse::<Ipv6Addr>()
            .ok()
            .map(Ipv6Addr::to_bits)
    }

    #[test]
    fn agrees_with_std_on_chosen_texts() {
        for text in [
            "::",
            "::1",
            "1::",
            ":",
            ":::",
            "1:::2",
            "::1::",
            "1:2:3:4:5:6:7:8",
            "1:2:3:4:5:6:7",
            "1:2:3:4:5:6:7::",
            "::2:3:4:5:6:7:8",
            "1:2:3:4::5:6:7:8",
            "1:2:3:4:5:6:7:8:9",
            "12345::",
            "::1.2.3.4",
            "::ffff:1.2.3.4",
            "1:2:3:4:5:6:1.2.3.4",
            "1:2:3:4:5:6:7:1.2.3.4",
            "1.2.3.4::",
            "1:2:3:4:5::1.2.3.4",
            "1:2:3:4:5:6::1.2.3.4",
            "::1.2.3",
            "::01.2.3.4",
            "::1.2.3.4:5",
            "fe80::1%eth0",
            "[::1]",
            "::1:",
            ":1::",
            "1:",
            "",
            "g::",
            "::FFFF",
            "0000:0000:0000:0000:0000:0000:255.255.255.255",
            "2001:DB8::1",
            "00001::",
            "::.1.2.3",
        ] {
            assert_eq!(
                parse(text.as_bytes()),
                std_says(text.as_bytes()),
                "{text:?}"
            );
        }
    }

    /// All texts of one to eleven tokens over a small alphabet: the shapes of `::`.
    #[test]
    fn every_small_shape() {
        for tokens in 1..=11u32 {
            for shape in 0..1u32 << tokens {
                let text: String = (0..tokens)
                    .map(|i| if shape >> i & 1 == 0 { ":" } else { "1" })
                    .collect();
                let spread = text.replace("11", "1:1");
                for text in [text, spread] {
                    assert_eq!(parse(text.as_bytes()), std_says(text.as_bytes()), "{text}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn reads_what_std_writes(address: u128, keep in 0u8..=255) {
            // Whole groups of zeros, so that `::` is written at every place.
            let kept = (0..8).filter(|i| keep >> i & 1 == 1);
            let mask = kept.fold(0, |mask, i| mask | 0xffffu128 << (16 * i));
            let address = address & mask;
            let text = Ipv6Addr::from_bits(address).to_string();
            prop_assert_eq!(parse(text.as_bytes()), Some(address));
            prop_assert_eq!(parse(text.to_uppercase().as_bytes()), Some(address));
        }

        #[test]
        fn agrees_with_std_on_near_addresses(
            text in "(([0-9a-fA-F]{0,5}:{1,2}){1,9})([0-9a-f]{0,4}|([0-9]{1,3}\\.){3}[0-9]{1,3})"
        ) {
            prop_assert_eq!(parse(text.as_bytes()), std_says(text.as_bytes()));
        }

        #[test]
        fn agrees_with_std_on_any_bytes(field in "[0-9a-g:.%]{0,48}") {
            prop_assert_eq!(parse(field.as_bytes()), std_says(field.as_bytes()));
        }
    }
}
