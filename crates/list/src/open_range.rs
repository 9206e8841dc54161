//! What stands between the ends of a range where the second is no whole address: `192.0.2.1 to .9`.

use crate::ipv4;
use crate::rest::first_word;

/// Words that people write between the ends of a range.
const BETWEEN_WORDS: [&[u8]; 4] = [b"to", b"through", b"thru", b"until"];

/// Marks that people write there beside a dash, the longer ones first.
const BETWEEN: [&[u8]; 13] = [
    b"+",
    b"...",
    b"..",
    b"~",
    b"-->",
    b"->",
    b"=>",
    b"--",
    b":",
    "\u{2026}".as_bytes(),
    "\u{2192}".as_bytes(),
    "\u{2013}".as_bytes(),
    "\u{2014}".as_bytes(),
];

/// The mark or the word between the ends of a range, and no whole address behind it.
pub(crate) fn is_open_range(note: &[u8]) -> bool {
    let (word, after) = first_word(note);
    let (word, after) = match first_word(after) {
        (to, after) if word.eq_ignore_ascii_case(b"up") && to.eq_ignore_ascii_case(b"to") => {
            (to, after)
        }
        _ => (word, after),
    };
    let mark = BETWEEN.iter().find_map(|mark| word.strip_prefix(*mark));
    let is_word = |of: &&[u8]| word.eq_ignore_ascii_case(of);
    match mark {
        None if word == b"-" => after.is_empty(),
        Some([]) => after.is_empty() || ends_range(after),
        Some(end) => ends_range(end) && !word.starts_with(b":"),
        None if BETWEEN_WORDS.iter().any(is_word) => after.is_empty() || ends_range(after),
        None => false,
    }
}

/// Marks that people write between two whole addresses of IPv4, without blanks.
const JOINING: [&[u8]; 6] = [b":", b"~", b"_", b"+", b"->", "\u{2013}".as_bytes()];

/// Two whole addresses with another mark than a dash between: `192.0.2.0:192.0.2.255`.
pub(crate) fn has_other_mark(field: &[u8]) -> bool {
    JOINING.iter().any(|mark| {
        let at = field.windows(mark.len()).position(|part| part == *mark);
        at.is_some_and(|at| {
            let (first, last) = (&field[..at], &field[at + mark.len()..]);
            ipv4::parse(first).is_some() && ipv4::parse(last).is_some()
        })
    })
}

/// A number, or dots and one.
fn ends_range(text: &[u8]) -> bool {
    let dots = text.iter().take_while(|&&byte| byte == b'.').count();
    text.get(dots).is_some_and(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::is_open_range;

    #[test]
    fn notes_that_end_a_range_and_others() {
        for note in [
            "-",
            "->",
            "=>",
            "...",
            "\u{2026}",
            "\u{2192}",
            "to",
            "Thru",
            "up to",
            "-> 192.0.2.9",
            "->9",
            "=> .9",
            "... .9",
            "..9",
            "thru .9",
            "Thru 9",
            "UP TO 9",
            "up to 192.0.2.9",
            "+ 255",
            "+255",
            "~9",
            "\u{2013}9",
            ": 9",
            "--> 9",
            "until .9",
        ] {
            assert!(is_open_range(note.as_bytes()), "{note}");
        }
        for note in [
            "",
            "up",
            "up 9",
            "up to date",
            "to be checked",
            ": note",
            "... and so on",
            "-> note",
            "- note",
            "-note",
            "tomorrow",
            "9",
            ".9",
            "through with it",
        ] {
            assert!(!is_open_range(note.as_bytes()), "{note}");
        }
    }
}
