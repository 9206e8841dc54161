//! Bytes of a socket, cut into lines.

/// What was received and not yet taken as lines.
#[derive(Debug, Default)]
pub(super) struct LineBuffer {
    bytes: Vec<u8>,
    /// Where the first line not yet taken begins.
    begin: usize,
    /// Up to here there is no newline.
    searched: usize,
}

/// Memory that an idle connection keeps.
const KEPT_BYTES_MAX: usize = 64 << 10;

impl LineBuffer {
    /// Appends what was received.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.begin != 0 {
            self.bytes.drain(..self.begin);
            self.searched -= self.begin;
            self.begin = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole line, without its newline.
    pub(super) fn next_line(&mut self) -> Option<&[u8]> {
        let found = self.bytes[self.searched..].iter().position(|&b| b == b'\n');
        let Some(at) = found.map(|at| at + self.searched) else {
            self.searched = self.bytes.len();
            self.let_go();
            return None;
        };
        let begin = std::mem::replace(&mut self.begin, at + 1);
        self.searched = at + 1;
        Some(&self.bytes[begin..at])
    }

    /// Bytes of the line that has begun and not ended.
    pub(super) fn pending(&self) -> usize {
        self.bytes.len() - self.begin
    }

    fn let_go(&mut self) {
        if self.pending() == 0 && self.bytes.capacity() > KEPT_BYTES_MAX {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_however_they_come() {
        let text = b"one\n\nthree and more\nrest";
        for step in 1..text.len() {
            let mut buffer = LineBuffer::default();
            let mut lines: Vec<Vec<u8>> = Vec::new();
            for piece in text.chunks(step) {
                buffer.push(piece);
                while let Some(line) = buffer.next_line() {
                    lines.push(line.to_vec());
                }
            }
            let wanted: [&[u8]; 3] = [b"one", b"", b"three and more"];
            assert_eq!(lines, wanted, "{step}");
            assert_eq!(buffer.pending(), 4);
        }
    }

    #[test]
    fn memory_goes_back() {
        let mut buffer = LineBuffer::default();
        buffer.push(&vec![b'a'; 1 << 20]);
        assert!(buffer.next_line().is_none());
        buffer.push(b"\n");
        assert_eq!(buffer.next_line().map(<[u8]>::len), Some(1 << 20));
        assert!(buffer.next_line().is_none());
        assert!(buffer.bytes.capacity() <= KEPT_BYTES_MAX);
    }
}
