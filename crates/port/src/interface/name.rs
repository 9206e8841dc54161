//! Names of interfaces: bytes to the kernel, which allows nearly all of them, and text to people.

use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;

/// Longest other name of an interface, bytes (`ALTIFNAMSIZ` without the closing zero).
pub(crate) const OTHER_NAME_BYTES_MAX: usize = 127;

/// The name as people see it. What is no visible text is written `\xff`, a backslash `\x5c`, so
/// that two names never look the same and no terminal obeys one.
pub(crate) fn shown(name: &[u8]) -> String {
    let mut text = String::new();
    let escaped = |text: &mut String, bytes: &[u8]| {
        for byte in bytes {
            let _infallible = write!(text, "\\x{byte:02x}");
        }
    };
    for chunk in name.utf8_chunks() {
        for letter in chunk.valid().chars() {
            let quote = matches!(letter, '\'' | '"');
            match quote || letter.escape_debug().len() == 1 {
                true => text.push(letter),
                false => escaped(&mut text, letter.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        escaped(&mut text, chunk.invalid());
    }
    text
}

/// The name in an argument of a command, as it is shown.
#[must_use]
pub fn name_shown(name: &OsStr) -> String {
    match name.to_str() {
        Some(text) => text.to_owned(),
        None => shown(name.as_bytes()),
    }
}

/// The bytes of a name that was written as it is shown; `None` where nothing is escaped in it.
pub(super) fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut parts = text.split("\\x");
    let mut bytes = parts.next()?.as_bytes().to_vec();
    let before = bytes.len();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend(rest.as_bytes());
    }
    (before != text.len()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_so_that_they_can_be_written_again() {
        let table: [(&[u8], &str); 10] = [
            (b"eth0", "eth0"),
            (b"it's\"", "it's\""),
            ("stra\u{df}e".as_bytes(), "stra\u{df}e"),
            (b"bad\xff", "bad\\xff"),
            (b"\xffbad\xfe0", "\\xffbad\\xfe0"),
            (b"\x1b[2J", "\\x1b[2J"),
            ("\u{202e}x".as_bytes(), "\\xe2\\x80\\xaex"),
            (b"bad\\xff", "bad\\x5cxff"),
            (b"\x7f", "\\x7f"),
            (b"", ""),
        ];
        for (name, text) in table {
            assert_eq!(shown(name), text, "{name:?}");
            let read = unescaped(text).unwrap_or_else(|| text.as_bytes().to_vec());
            assert_eq!(read, name, "{text}");
        }
    }

    #[test]
    fn what_is_no_escape_is_a_name_as_it_stands() {
        for text in ["eth0", "a\\", "a\\x", "a\\xf", "a\\xg0", "a\\x\u{e9}", ""] {
            assert_eq!(unescaped(text), None, "{text}");
        }
    }

    #[test]
    fn arguments_are_text_or_shown() {
        assert_eq!(name_shown(OsStr::new("a\\x5c")), "a\\x5c");
        assert_eq!(name_shown(OsStr::from_bytes(b"bad\xff")), "bad\\xff");
    }
}
