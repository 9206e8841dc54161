//! A piece of a stranger's text made fit for a terminal and a message.

/// Characters shown of a piece of text.
const CHARS_MAX: usize = 80;

/// `bytes` as text: what does not print is escaped (control characters, bytes that are no UTF-8,
/// marks that turn the writing direction), and what is long is cut.
#[must_use]
pub(crate) fn of(bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut room = CHARS_MAX;
    for chunk in bytes.utf8_chunks() {
        for char in chunk.valid().chars() {
            if room == 0 {
                return text + "...";
            }
            room -= 1;
            push(&mut text, char);
        }
        for byte in chunk.invalid() {
            if room == 0 {
                return text + "...";
            }
            room -= 1;
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

fn push(text: &mut String, char: char) {
    match char {
        '"' | '\'' | '\\' => text.push(char),
        _ => text.extend(char.escape_debug()),
    }
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn prints_what_prints() {
        assert_eq!(of(b"1.2.3.4/\"x\""), "1.2.3.4/\"x\"");
        assert_eq!(of("m\u{fc}ller".as_bytes()), "m\u{fc}ller");
        assert_eq!(of(b""), "");
    }

    #[test]
    fn escapes_what_does_not() {
        assert_eq!(of(b"a\0b\x1b[2J"), "a\\0b\\u{1b}[2J");
        assert_eq!(of(b"a\xff\xfeb"), "a\\xff\\xfeb");
        assert_eq!(of("a\u{202e}b".as_bytes()), "a\\u{202e}b");
    }

    #[test]
    fn cuts_what_is_long() {
        assert_eq!(of(&[b'a'; 80]).len(), 80);
        assert_eq!(of(&[b'a'; 81]), "a".repeat(80) + "...");
        assert_eq!(of(&[0xff; 1 << 20]), "\\xff".repeat(80) + "...");
    }
}
