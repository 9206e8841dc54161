//! The bytes of a list: its beginning looked at, gzip undone, a byte order mark left out.

use crate::error::ListError;
use crate::read::Progress;
use flate2::read::MultiGzDecoder;
use std::cell::Cell;
use std::io::{self, Cursor, Read};
use std::rc::Rc;
use std::sync::Arc;

/// How much of the text is looked at to tell its format, at most.
const HEAD_BYTES: usize = 64 << 10;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const GZIP: &[u8] = b"\x1f\x8b";

/// What other programs make, by the place and bytes that tell it, and what it is.
const PACKED: [(usize, &[u8], &str); 13] = [
    (0, b"\xfd7zXZ\0", "packed with xz"),
    (0, b"BZh", "packed with bzip2"),
    (0, b"PK\x03\x04", "a zip archive"),
    (0, b"\x28\xb5\x2f\xfd", "packed with zstd"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (0, b"\x04\x22\x4d\x18", "packed with lz4"),
    (0, b"\x1f\x9d", "packed with compress"),
    (257, b"ustar", "a tar archive"),
    (0, b"070701", "a cpio archive"),
    (0, b"!<arch>\n", "an ar archive"),
    (0, b"Rar!\x1a\x07", "a RAR archive"),
    (0, b"SQLite format 3\0", "a database of SQLite"),
    (0, b"%PDF-", "a PDF document"),
];

/// What the bytes are that begin so, where it is no text.
fn packed(head: &[u8]) -> Option<&'static str> {
    let tells = |(at, bytes, _): &&(usize, &[u8], _)| {
        head.get(*at..).is_some_and(|head| head.starts_with(bytes))
    };
    PACKED.iter().find(tells).map(|(_, _, what)| *what)
}

/// The encoding of text that two bytes a character were written of, low or high one first: by its
/// mark, or as a list begins with an ASCII character.
fn wide_encoding(start: &[u8]) -> Option<&'static str> {
    match *start {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16"),
        [low, 0, next, 0, ..] if is_text(low) && is_text(next) => Some("UTF-16LE"),
        [0, high, 0, next, ..] if is_text(high) && is_text(next) => Some("UTF-16BE"),
        _ => None,
    }
}

fn is_text(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte.is_ascii_whitespace()
}

/// The text of a list, read from its beginning.
pub(crate) struct Source<'r> {
    file: Arc<str>,
    gzip: bool,
    text: Box<dyn Read + 'r>,
    head: Vec<u8>,
    bytes_read: Rc<Cell<u64>>,
}

impl<'r> Source<'r> {
    /// Reads the beginning of `input`.
    pub(crate) fn open(file: &Arc<str>, input: &'r mut dyn Read) -> Result<Self, ListError> {
        let bytes_read = Rc::new(Cell::new(0));
        let mut input = Counted {
            input,
            bytes_read: Rc::clone(&bytes_read),
        };
        let failed = |gzip| {
            move |source| ListError::Read {
                file: Arc::clone(file),
                gzip,
                source,
            }
        };
        let magic = head(&mut input, GZIP.len()).map_err(failed(false))?;
        let gzip = magic.starts_with(GZIP);
        let input = Cursor::new(magic).chain(input);
        let mut text: Box<dyn Read + 'r> = if gzip {
            Box::new(MultiGzDecoder::new(input))
        } else {
            Box::new(input)
        };
        let mut head = head(&mut text, HEAD_BYTES).map_err(failed(gzip))?;
        let twice = (gzip && head.starts_with(GZIP)).then_some("packed with gzip twice");
        if let Some(what) = packed(&head).or(twice) {
            return Err(ListError::Packed {
                file: Arc::clone(file),
                what,
            });
        }
        if let Some(encoding) = wide_encoding(&head) {
            return Err(ListError::Encoding {
                file: Arc::clone(file),
                encoding,
            });
        }
        if head.starts_with(BYTE_ORDER_MARK) {
            head.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(Self {
            file: Arc::clone(file),
            gzip,
            text,
            head,
            bytes_read,
        })
    }

    /// The beginning of the text: all of it or 64 KiB.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// True when the input is gzip.
    pub(crate) fn is_gzip(&self) -> bool {
        self.gzip
    }

    /// Counts what was read, as compressed as it came.
    pub(crate) fn meter(&self) -> Meter {
        Meter {
            bytes_read: Rc::clone(&self.bytes_read),
            told: 0,
        }
    }

    /// The whole text, the beginning included.
    pub(crate) fn into_text(self) -> Text<'r> {
        let text = Cursor::new(self.head).chain(self.text);
        Text {
            file: self.file,
            gzip: self.gzip,
            text: Box::new(text),
        }
    }
}

/// The text of a list from its first byte to its last.
pub(crate) struct Text<'r> {
    file: Arc<str>,
    gzip: bool,
    text: Box<dyn Read + 'r>,
}

impl<'r> Text<'r> {
    /// Reads what there is, at most `room`; 0 only at the end.
    pub(crate) fn read_into(&mut self, room: &mut [u8]) -> Result<usize, ListError> {
        read_retrying(&mut self.text, room).map_err(|source| self.failed(source))
    }

    /// The same text with an entry a line: what stands between columns becomes line ends, but in
    /// comments. Such a list may be one line of millions of entries.
    pub(crate) fn with_lines_for_columns(mut self) -> Self {
        self.text = Box::new(Split {
            text: self.text,
            in_comment: false,
        });
        self
    }

    /// The error of the list for one of its reader.
    pub(crate) fn failed(&self, source: io::Error) -> ListError {
        ListError::Read {
            file: Arc::clone(&self.file),
            gzip: self.gzip,
            source,
        }
    }
}

/// Puts line ends in the place of what stands between columns.
struct Split<'r> {
    text: Box<dyn Read + 'r>,
    in_comment: bool,
}

impl Read for Split<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.text.read(room)?;
        for byte in &mut room[..count] {
            match *byte {
                b'\n' => self.in_comment = false,
                b'#' => self.in_comment = true,
                b',' | b';' | b'|' | b'\t' | b' ' | b'"' if !self.in_comment => *byte = b'\n',
                _ => {}
            }
        }
        Ok(count)
    }
}

/// Tells how far reading has come, once a block.
pub(crate) struct Meter {
    bytes_read: Rc<Cell<u64>>,
    told: u64,
}

impl Meter {
    /// Bytes read of the input.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read.get()
    }

    /// Calls `progress` when at least `step_bytes` were read since the last call.
    pub(crate) fn tell(
        &mut self,
        step_bytes: usize,
        (lines, entries): (u64, u64),
        progress: &mut dyn FnMut(Progress),
    ) {
        let bytes_read = self.bytes_read();
        if bytes_read - self.told >= step_bytes as u64 {
            self.told = bytes_read;
            progress(Progress {
                bytes_read,
                lines,
                entries,
            });
        }
    }
}

/// Counts the bytes that pass.
struct Counted<'r> {
    input: &'r mut dyn Read,
    bytes_read: Rc<Cell<u64>>,
}

impl Read for Counted<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(room)?;
        self.bytes_read.set(self.bytes_read.get() + count as u64);
        Ok(count)
    }
}

fn head(input: &mut dyn Read, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    input.take(bytes_max as u64).read_to_end(&mut head)?;
    Ok(head)
}

fn read_retrying(input: &mut dyn Read, room: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(room) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
