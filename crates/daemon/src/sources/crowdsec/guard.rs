//! A bound on single strings of JSON, which the reader of JSON keeps whole in memory.

use std::io::{self, Read};

/// The longest string, escapes counted as written. Decisions' strings are some tens of bytes.
const STRING_BYTES_MAX: usize = 64 << 10;

/// Passes JSON on and fails where a string is too long.
pub(crate) struct StringGuard<R> {
    input: R,
    within: bool,
    escaped: bool,
    len: usize,
}

impl<R: Read> StringGuard<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            within: false,
            escaped: false,
            len: 0,
        }
    }

    fn look(&mut self, byte: u8) {
        self.len += 1;
        if self.escaped {
            self.escaped = false;
            return;
        }
        match byte {
            b'"' => {
                self.within = !self.within;
                self.len = 0;
            }
            b'\\' if self.within => self.escaped = true,
            _ if !self.within => self.len = 0,
            _ => {}
        }
    }
}

impl<R: Read> Read for StringGuard<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(room)?;
        for &byte in &room[..count] {
            self.look(byte);
            if self.len > STRING_BYTES_MAX {
                return Err(io::Error::other("a string is longer than 65536 bytes"));
            }
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(text: &str) -> bool {
        let mut all = Vec::new();
        StringGuard::new(text.as_bytes())
            .read_to_end(&mut all)
            .is_ok()
    }

    #[test]
    fn long_strings_alone_are_stopped() {
        let long = "x".repeat(STRING_BYTES_MAX);
        assert!(passes(&format!("[\"{long}\", \"{long}\"]")));
        assert!(!passes(&format!("[\"{long}x\"]")));
        assert!(!passes(&format!(
            "[\"{}\"]",
            "\\\"".repeat(STRING_BYTES_MAX)
        )));
        assert!(
            passes(&" ".repeat(4 * STRING_BYTES_MAX)),
            "what is between costs nothing"
        );
        assert!(
            passes(&format!("\"\\\\\"{long}{long}")),
            "an escaped backslash escapes no quote"
        );
    }
}
