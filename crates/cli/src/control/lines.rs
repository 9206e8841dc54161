//! Entries on standard input, one a line, as they come: a thread reads, and what was read together
//! is sent together.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Builder;

use daemon::rpc::answers::parse_entry;
use table::live::Entry;

use crate::error::Error;

/// Bytes read at once: with a pipe that is never empty, some 4,500 addresses.
const READ_BYTES: usize = 64 << 10;

/// Most entries of a chunk: a request with as many of the longest still fits a line.
pub(super) const ENTRIES_MAX: usize = 4096;

/// Longest line; an entry has at most 79 bytes.
const LINE_BYTES_MAX: usize = 4096;

/// Chunks that are read ahead.
const AHEAD: usize = 8;

/// What was read together.
#[derive(Debug)]
pub(super) enum Piece {
    /// Entries, and the lines that they stand on.
    Entries(Chunk),
    /// A line that is no entry, as a sentence.
    Bad(String),
    /// Reading failed.
    Failed(io::Error),
}

/// Entries of one request.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub(super) entries: Vec<Entry>,
    /// The first line, and the last.
    pub(super) lines: (u64, u64),
}

/// Begins to read; the receiver ends with the input.
pub(super) fn read(input: impl Read + Send + 'static) -> Result<Receiver<Piece>, Error> {
    let (sender, pieces) = sync_channel(AHEAD);
    let reader = Builder::new().name("standard-input".to_owned());
    let begun = reader.spawn(move || {
        let mut cutter = Cutter::new(sender);
        // None: whoever asked has ended.
        let _ = cutter.cut(BufReader::with_capacity(READ_BYTES, input));
    });
    begun.map_err(|error| Error::refused(format!("no thread to read with: {error}")))?;
    Ok(pieces)
}

struct Cutter {
    to: SyncSender<Piece>,
    chunk: Chunk,
    /// The beginning of a line whose end was not read yet.
    half: Vec<u8>,
    line: u64,
}

impl Cutter {
    fn new(to: SyncSender<Piece>) -> Self {
        Self {
            to,
            chunk: Chunk::default(),
            half: Vec::new(),
            line: 0,
        }
    }

    fn cut(&mut self, mut input: impl BufRead) -> Option<()> {
        loop {
            let bytes = match input.fill_buf() {
                Ok([]) => break,
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.flush()?;
                    return self.to.send(Piece::Failed(error)).ok();
                }
            };
            let read = bytes.len();
            for line in bytes.split_inclusive(|&byte| byte == b'\n') {
                match line.strip_suffix(b"\n") {
                    Some(line) => self.line(line)?,
                    // A longer one is bad already: enough is kept to say so.
                    None if self.half.len() > LINE_BYTES_MAX => {}
                    None => self.half.extend_from_slice(line),
                }
            }
            input.consume(read);
            // Nobody who types or trickles waits for others.
            self.flush()?;
        }
        if !self.half.is_empty() {
            self.line(b"")?;
        }
        self.flush()
    }

    /// A line's end.
    fn line(&mut self, end: &[u8]) -> Option<()> {
        self.line += 1;
        if self.half.is_empty() {
            return self.take(end);
        }
        let mut whole = std::mem::take(&mut self.half);
        whole.extend_from_slice(end);
        self.take(&whole)
    }

    fn take(&mut self, line: &[u8]) -> Option<()> {
        match entry_of(line) {
            Ok(None) => Some(()),
            Ok(Some(entry)) => {
                if self.chunk.entries.is_empty() {
                    self.chunk.lines.0 = self.line;
                }
                self.chunk.lines.1 = self.line;
                self.chunk.entries.push(entry);
                match self.chunk.entries.len() {
                    ENTRIES_MAX => self.flush(),
                    _ => Some(()),
                }
            }
            Err(fault) => {
                let sentence = format!("standard input:{}: {fault}", self.line);
                self.to.send(Piece::Bad(sentence)).ok()
            }
        }
    }

    fn flush(&mut self) -> Option<()> {
        if self.chunk.entries.is_empty() {
            return Some(());
        }
        let chunk = std::mem::take(&mut self.chunk);
        self.to.send(Piece::Entries(chunk)).ok()
    }
}

/// The entry of a line, which is read as a line of a list is.
fn entry_of(line: &[u8]) -> Result<Option<Entry>, String> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    let text = std::str::from_utf8(line).map_err(|_| "not text".to_owned())?;
    let alone = parse_entry(text);
    let has_more = line
        .iter()
        .any(|byte| byte.is_ascii_whitespace() || matches!(byte, b'#' | b';'));
    match alone {
        Err(_) if has_more => {
            let entry = list::entry_of_line(line)?;
            entry
                .map(|entry| parse_entry(&entry.to_string()))
                .transpose()
        }
        alone => alone.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes `step` at a time.
    struct Slow(Vec<u8>, usize);

    impl Read for Slow {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(into.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0.drain(..count);
            Ok(count)
        }
    }

    #[test]
    fn lines_are_the_same_however_they_come() {
        let text = b"192.0.2.1\n\n# note\n10.0.0.0/8 ; why\r\nnonsense\n2001:db8::1\n\xff\n1.1.1.1";
        for step in 1..=text.len() {
            let (mut entries, mut bad) = (Vec::new(), Vec::new());
            for piece in read(Slow(text.to_vec(), step)).unwrap() {
                match piece {
                    Piece::Entries(chunk) => {
                        assert!(chunk.lines.0 <= chunk.lines.1);
                        entries.extend(chunk.entries.iter().map(ToString::to_string));
                    }
                    Piece::Bad(sentence) => bad.push(sentence),
                    Piece::Failed(error) => panic!("{error}"),
                }
            }
            assert_eq!(
                entries,
                ["192.0.2.1", "10.0.0.0/8", "2001:db8::1", "1.1.1.1"]
            );
            assert_eq!(bad.len(), 2, "{bad:?}");
            assert!(bad[0].starts_with("standard input:5: "), "{bad:?}");
            assert!(bad[1].starts_with("standard input:7: "), "{bad:?}");
        }
    }

    #[test]
    fn notes_are_those_of_lists() {
        for (line, is_good) in [
            ("192.0.2.1 ; a note", true),
            ("192.0.2.1 ; 192.0.2.9", false),
            ("192.0.2.1# x", true),
            ("; x", true),
            ("192.0.2.1;x", true),
            ("192.0.2.1;", true),
            ("192.0.2.1\ta note", true),
            ("192.0.2.1\t# a note", true),
            ("192.0.2.1 a note", true),
            ("192.0.2.1 allow", false),
            ("192.0.2.1 except .9", false),
            ("192.0.2.1,x", false),
            ("192.0.2.1;192.0.2.9", false),
            ("192.0.2.0;24", false),
        ] {
            let pieces = read(io::Cursor::new(line.as_bytes().to_vec())).unwrap();
            let bad = pieces
                .into_iter()
                .any(|piece| matches!(piece, Piece::Bad(_)));
            assert_eq!(!bad, is_good, "{line}");
            let said = entry_of(line.as_bytes()).err().unwrap_or_default();
            let has_option = said.contains("--") || said.contains("control");
            assert!(!has_option, "{line}: {said}");
        }
    }

    #[test]
    fn chunks_are_bounded_and_so_is_a_line() {
        let mut text = b"1.2.3.4\n".repeat(10_000);
        text.extend_from_slice(&vec![b'x'; 1 << 20]);
        let (mut count, mut bad) = (0, 0);
        for piece in read(io::Cursor::new(text)).unwrap() {
            match piece {
                Piece::Entries(chunk) => {
                    assert!(chunk.entries.len() <= ENTRIES_MAX);
                    count += chunk.entries.len();
                }
                Piece::Bad(sentence) => {
                    assert!(sentence.len() < 300, "{sentence}");
                    bad += 1;
                }
                Piece::Failed(error) => panic!("{error}"),
            }
        }
        assert_eq!((count, bad), (10_000, 1));
    }
}
