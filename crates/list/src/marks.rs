//! Marks that stand before or behind an entry and mean something to other programs: `@10.0.0.0/8`.

use crate::entry::{Entry, parse_address};
use crate::fault::Fault;

/// The fault of an entry with marks and nothing else wrong, or with what nobody sees; and of an
/// IPv4 address with asterisks for its last numbers.
pub(crate) fn fault(field: &[u8]) -> Option<Fault> {
    if let Some(len) = with_asterisks(field) {
        return Some(Fault::Asterisk(len));
    }
    let plain: Vec<u8> = field.iter().copied().filter(u8::is_ascii).collect();
    if plain.len() < field.len() && matches!(Entry::parse_known(&plain), Some(Ok(_))) {
        return Some(Fault::NotAscii);
    }
    // An address may begin or end with dots and colons, and quotes are those of a column.
    let is_mark = |byte: &u8| byte.is_ascii_punctuation() && !matches!(byte, b':' | b'.' | b'"');
    let start = field.iter().position(|byte| !is_mark(byte))?;
    let end = field.iter().rposition(|byte| !is_mark(byte))? + 1;
    let fault = match (field[..start].first(), field.get(end)) {
        (Some(&mark), _) => Fault::MarkBefore(mark),
        // A network or a range that is not whole.
        (None, Some(b'/' | b'-') | None) => return None,
        (None, Some(&mark)) => Fault::MarkBehind(mark),
    };
    matches!(Entry::parse_known(&field[start..end]), Some(Ok(_))).then_some(fault)
}

/// The prefix length that `192.0.2.*` means.
fn with_asterisks(field: &[u8]) -> Option<u8> {
    let parts: Vec<&[u8]> = field.split(|&byte| byte == b'.').collect();
    let known = parts.iter().take_while(|part| **part != b"*").count();
    let stars = parts[known..].iter().all(|part| *part == b"*");
    if !stars || parts.len() > 4 || !(1..4).contains(&known) || known == parts.len() {
        return None;
    }
    let mut numbers = parts[..known].to_vec();
    numbers.resize(4, b"0");
    parse_address(&numbers.join(&b'.')).map(|_| known as u8 * 8)
}

#[cfg(test)]
mod tests {
    use crate::entry::Entry;
    use crate::wording::Wording;

    #[test]
    fn marks_beside_an_entry() {
        let own = ", which is not read; write the entry alone";
        for (field, said) in [
            ("@10.0.0.0/8", "begins with @"),
            ("@2001:db8::/32", "begins with @"),
            ("^10.0.0.0-10.0.0.9", "begins with ^"),
            ("+192.0.2.1", "begins with +"),
            ("-192.0.2.1", "begins with -"),
            ("||192.0.2.1^", "begins with |"),
            ("(192.0.2.1)", "begins with ("),
            ("<192.0.2.1>", "begins with <"),
            ("192.0.2.1*", "ends with *"),
            ("'192.0.2.1'", "begins with '"),
            ("10.0.0.0/8@", "ends with @"),
        ] {
            assert_eq!(message(field), format!("\"{field}\" {said}{own}"));
        }
        // What has another meaning, or is no entry without the marks.
        for (field, said) in [
            (
                "192.0.2.*",
                "has asterisks for numbers; write zeros in their place, and /24 behind",
            ),
            ("192.0.*.*", "and /16 behind"),
            ("10.*", "and /8 behind"),
            ("192.0.*.1", "is not an address"),
            ("300.0.2.*", "is not an address"),
            ("*.*.*.*", "is not an address"),
            ("*.example.com", "is not an address"),
            (
                "192.0.2.1\u{a0}",
                "a character beside the entry that may not be seen",
            ),
            (
                "\u{200b}2001:db8::/32",
                "a character beside the entry that may not be seen",
            ),
            ("stra\u{df}e", "is not an address"),
            ("' a note", "begins no comment here"),
            ("!192.0.2.1", "holds an exception"),
            ("//192.0.2.1", "begins no comment here"),
            ("<html>", "is HTML or XML"),
            ("@home", "is not an address"),
            ("@10.0.0.1/8", "is not an address"),
            ("10.0.0.0/", "has no prefix length"),
            ("10.0.0.1-", "has no whole address at the end"),
            ("[192.0.2.1]", "is in brackets"),
        ] {
            assert!(message(field).contains(said), "{}", message(field));
        }
    }

    fn message(field: &str) -> String {
        let fault = Entry::parse(field.as_bytes()).expect_err("no entry");
        fault.about(field, Wording::Options).to_string()
    }
}
