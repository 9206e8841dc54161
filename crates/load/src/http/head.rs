//! What heads of requests and responses have in common: where they end, and which body follows.

use httparse::Header;

use super::{Body, HEAD_BYTES_MAX, HttpFault, PATTERN_HEADER, PATTERN_VALUE};

/// Headers of one head.
pub(super) const HEADERS_MAX: usize = 64;

/// Collects the bytes of a head, however they come.
#[derive(Debug, Default)]
pub(crate) struct HeadReader {
    bytes: Vec<u8>,
}

impl HeadReader {
    /// Takes bytes up to the end of the head: how many, and whether the head is whole.
    pub(crate) fn take(&mut self, input: &[u8]) -> Result<(usize, bool), HttpFault> {
        let room = HEAD_BYTES_MAX - self.bytes.len();
        let before = self.bytes.len();
        // The empty line may have begun in what came before.
        let from = before.saturating_sub(3);
        self.bytes
            .extend_from_slice(&input[..input.len().min(room)]);
        let end = self.bytes[from..]
            .windows(4)
            .position(|four| four == b"\r\n\r\n");
        match end {
            Some(at) => {
                let end = from + at + 4;
                self.bytes.truncate(end);
                check_lines(&self.bytes)?;
                Ok((end - before, true))
            }
            None if self.bytes.len() >= HEAD_BYTES_MAX => Err(HttpFault::HeadTooLong),
            // Bare line feeds may stand for the end: whoever waits for more would wait for ever.
            None if has_bare_feed(&self.bytes, before) => Err(HttpFault::BareLineEnd),
            None => Ok((self.bytes.len() - before, false)),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Ready for the next head; an idle connection keeps no memory of a long one.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(512);
    }
}

/// Each line ends with CR LF, none goes on in the next and no header has a space before its colon.
fn check_lines(head: &[u8]) -> Result<(), HttpFault> {
    for (index, line) in head.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let text = line.strip_suffix(b"\r\n").ok_or(HttpFault::BareLineEnd)?;
        if text.contains(&b'\r') {
            return Err(HttpFault::BareLineEnd);
        }
        if index > 0 && matches!(text.first(), Some(b' ' | b'\t')) {
            return Err(HttpFault::Folded);
        }
        let name = text.split(|byte| *byte == b':').next().unwrap_or_default();
        if index > 0 && matches!(name.last(), Some(b' ' | b'\t')) {
            return Err(HttpFault::SpaceBeforeColon);
        }
    }
    Ok(())
}

/// Whether a line feed stands alone from this index on.
fn has_bare_feed(bytes: &[u8], from: usize) -> bool {
    let bare = |at: usize| bytes[at] == b'\n' && (at == 0 || bytes[at - 1] != b'\r');
    (from..bytes.len()).any(bare)
}

/// What headers say about the body and the connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Framing {
    length: Option<u64>,
    chunked: bool,
    pub(super) close: bool,
    pub(super) keep_alive: bool,
    pub(super) expects_continue: bool,
    pub(super) is_pattern: bool,
    pub(super) hosts: u8,
}

impl Framing {
    pub(super) fn read(headers: &[Header<'_>], minor: u8) -> Result<Self, HttpFault> {
        let mut framing = Self::default();
        for header in headers {
            framing.add(header)?;
        }
        if framing.chunked && framing.length.is_some() {
            return Err(HttpFault::LengthAndEncoding);
        }
        if framing.chunked && minor == 0 {
            return Err(HttpFault::BadEncoding);
        }
        Ok(framing)
    }

    fn add(&mut self, header: &Header<'_>) -> Result<(), HttpFault> {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        if is("content-length") {
            let length = plain_number(header.value).ok_or(HttpFault::BadLength)?;
            if self.length.replace(length).is_some() {
                return Err(HttpFault::BadLength);
            }
        } else if is("transfer-encoding") {
            let plain = header.value.eq_ignore_ascii_case(b"chunked");
            if !plain || std::mem::replace(&mut self.chunked, true) {
                return Err(HttpFault::BadEncoding);
            }
        } else if is("connection") {
            self.close |= has_word(header.value, b"close");
            self.keep_alive |= has_word(header.value, b"keep-alive");
        } else if is("expect") {
            self.expects_continue |= has_word(header.value, b"100-continue");
        } else if is("host") {
            self.hosts = self.hosts.saturating_add(1);
        } else if is(PATTERN_HEADER) {
            self.is_pattern = header.value == PATTERN_VALUE.as_bytes();
        }
        Ok(())
    }

    /// The body that these headers announce, and `otherwise` where they announce none.
    pub(super) fn body(&self, otherwise: Body) -> Body {
        match (self.chunked, self.length) {
            (true, _) => Body::chunked(),
            (false, Some(length)) => Body::of_length(length),
            (false, None) => otherwise,
        }
    }

    /// Whether the connection serves another request, by RFC 9112 section 9.3.
    pub(super) fn persists(&self, minor: u8) -> bool {
        !self.close && (minor == 1 || self.keep_alive)
    }
}

/// Digits alone: no sign, no list, no space, nothing above 2^63.
fn plain_number(value: &[u8]) -> Option<u64> {
    let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(value).ok().filter(|_| digits)?;
    text.parse().ok().filter(|number| *number < 1 << 63)
}

fn has_word(value: &[u8], word: &[u8]) -> bool {
    let mut words = value.split(|byte| *byte == b',');
    words.any(|part| part.trim_ascii().eq_ignore_ascii_case(word))
}
