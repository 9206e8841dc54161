//! Words behind an address that may be a part of another one: `198.51.100.1 .9`. Some write the end
//! of a range or a second host so, and a note that looks so means nothing else.

use crate::rest::first_word;

/// Words that may stand before a second address.
const JOINING: [&[u8]; 6] = [b"and", b"or", b"also", b"plus", b"&", b"und"];

/// Whether a note begins with a part of an address.
pub(crate) fn begins_with_fragment(note: &[u8]) -> bool {
    let (word, after) = first_word(note);
    let is_joining = JOINING.iter().any(|of| word.eq_ignore_ascii_case(of));
    let word = if is_joining {
        first_word(after).0
    } else {
        word
    };
    is_fragment(bare(word))
}

/// A word without marks around it.
fn bare(word: &[u8]) -> &[u8] {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b':');
    let start = word.iter().position(is_part).unwrap_or(word.len());
    let end = word.iter().rposition(is_part).map_or(start, |at| at + 1);
    &word[start..end]
}

fn is_fragment(word: &[u8]) -> bool {
    of_ipv4(word) || of_ipv6(word)
}

/// Numbers of up to three digits with dots between: with a dot at an end, or three of them. Two of
/// them are a number as scores are.
fn of_ipv4(word: &[u8]) -> bool {
    let parts = || word.split(|&byte| byte == b'.');
    let numbers = parts().filter(|part| !part.is_empty()).count();
    let is_number = |part: &[u8]| part.len() <= 3 && part.iter().all(u8::is_ascii_digit);
    let is_open = word.starts_with(b".") || word.ends_with(b".");
    parts().all(is_number) && (numbers > 2 || (is_open && numbers > 0))
}

/// Groups of up to four hexadecimal digits with colons between, of which one is longer than those
/// of a time or a hardware address and has a digit, or a colon in front.
fn of_ipv6(word: &[u8]) -> bool {
    let groups = || word.split(|&byte| byte == b':');
    let is_group = |group: &[u8]| group.len() <= 4 && group.iter().all(u8::is_ascii_hexdigit);
    let has_digit = word.iter().any(u8::is_ascii_digit);
    let is_long = |group: &[u8]| group.len() > 2;
    word.contains(&b':')
        && word.len() > 1
        && groups().all(is_group)
        && (word.starts_with(b":") || (has_digit && groups().any(is_long)))
}

#[cfg(test)]
mod tests {
    use super::begins_with_fragment;

    #[test]
    fn parts_of_addresses_and_notes() {
        for note in [
            ".9",
            ".9 x",
            "(.9)",
            ".9,",
            ".100.9",
            "100.",
            "100.9.",
            ".300",
            "51.100.9",
            "and .9",
            "& .9",
            ":beef",
            ":db8::1",
            "2001:db8",
            "2001:db8:1",
            "db8:1:2:3",
            "::ffff",
            "[.9]",
        ] {
            assert!(begins_with_fragment(note.as_bytes()), "{note}");
        }
        for note in [
            "",
            "9",
            "0.95",
            "3.5 GB",
            "12:00",
            "12:00:00",
            "00:11:22:33:44:55",
            "...",
            ".",
            "a.",
            "2026.11.01",
            "01.11.2026",
            "v1.2.3",
            "bad: scanner",
            "note .9",
            "1.2.3.4.in-addr.arpa",
            ":",
            ": note",
            "cafe",
            "dead:beef",
            "US",
            "2026-11-01T12:00:00Z",
            "and so on",
            "10%",
        ] {
            assert!(!begins_with_fragment(note.as_bytes()), "{note}");
        }
    }
}
