//! Cuts nft text into words, byte by byte, whatever the pieces it comes in.

use crate::error::ListError;
use crate::source::Text;

/// Bytes of a word that are kept. An element is at most 91 (`ADDRESS-ADDRESS`).
const WORD_BYTES_MAX: usize = 256;

/// The words of a text.
pub(crate) struct Words<'r> {
    text: Text<'r>,
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    word: Vec<u8>,
    /// Line ends passed.
    line_ends: u64,
    /// The last byte passed is no line end.
    line_is_open: bool,
    was_filled: bool,
}

/// One word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    pub(crate) kind: Kind,
    /// Its bytes, without quotes; not all of them when it is long.
    pub(crate) bytes: &'a [u8],
    /// The line it is on; of [`Kind::End`] the line it ends.
    pub(crate) line: u64,
}

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Letters, digits and whatever is not below.
    Text,
    /// The same and longer than any that means something.
    TooLong,
    /// Text between double quotes.
    Quoted,
    /// Text after a quote that does not close on its line.
    Unclosed,
    /// `{`
    Open,
    /// `}`
    Close,
    /// `,`
    Comma,
    /// `=`
    Equals,
    /// The end of a line, or `;`
    End,
}

impl<'r> Words<'r> {
    pub(crate) fn new(text: Text<'r>, block_bytes: usize) -> Self {
        Self {
            text,
            buffer: vec![0; block_bytes.max(1)],
            at: 0,
            filled: 0,
            word: Vec::new(),
            line_ends: 0,
            line_is_open: false,
            was_filled: false,
        }
    }

    /// Lines so far.
    pub(crate) fn line(&self) -> u64 {
        self.line_ends + u64::from(self.line_is_open)
    }

    /// True once after each block read.
    pub(crate) fn take_was_filled(&mut self) -> bool {
        std::mem::take(&mut self.was_filled)
    }

    /// The next word; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Word<'_>>, ListError> {
        let byte = loop {
            match self.peek()? {
                None => return Ok(None),
                Some(b'#') => self.skip_comment()?,
                Some(b' ' | b'\t' | b'\r') => self.step(),
                Some(b'\\') => {
                    self.step();
                    if self.peek()? == Some(b'\n') {
                        // The line goes on.
                        self.step();
                        continue;
                    }
                    self.word.clear();
                    self.word.push(b'\\');
                    let kind = self.read_text()?;
                    return Ok(Some(self.whole(kind)));
                }
                Some(byte) => break byte,
            }
        };
        self.word.clear();
        let kind = match byte {
            b'"' => self.read_quoted()?,
            b'{' => self.read_mark(Kind::Open),
            b'}' => self.read_mark(Kind::Close),
            b',' => self.read_mark(Kind::Comma),
            b'=' => self.read_mark(Kind::Equals),
            b';' | b'\n' => self.read_mark(Kind::End),
            _ => self.read_text()?,
        };
        Ok(Some(self.whole(kind)))
    }

    fn whole(&self, kind: Kind) -> Word<'_> {
        // A line end just passed has closed its line, and counts as on it.
        Word {
            kind,
            bytes: &self.word,
            line: self.line(),
        }
    }

    fn read_mark(&mut self, kind: Kind) -> Kind {
        self.keep(self.buffer[self.at]);
        kind
    }

    fn read_text(&mut self) -> Result<Kind, ListError> {
        let mut kind = Kind::Text;
        while let Some(byte) = self.peek()?
            && !ends_text(byte)
        {
            if self.word.len() == WORD_BYTES_MAX {
                kind = Kind::TooLong;
            }
            self.keep(byte);
        }
        Ok(kind)
    }

    fn read_quoted(&mut self) -> Result<Kind, ListError> {
        self.step();
        loop {
            match self.peek()? {
                None | Some(b'\n') => return Ok(Kind::Unclosed),
                Some(b'"') => break,
                Some(byte) => self.keep(byte),
            }
        }
        self.step();
        Ok(Kind::Quoted)
    }

    fn skip_comment(&mut self) -> Result<(), ListError> {
        while !matches!(self.peek()?, None | Some(b'\n')) {
            self.step();
        }
        Ok(())
    }

    fn keep(&mut self, byte: u8) {
        if self.word.len() < WORD_BYTES_MAX {
            self.word.push(byte);
        }
        self.step();
    }

    /// Passes the byte that was peeked at.
    #[inline]
    fn step(&mut self) {
        self.line_is_open = self.buffer[self.at] != b'\n';
        self.line_ends += u64::from(!self.line_is_open);
        self.at += 1;
    }

    #[inline]
    fn peek(&mut self) -> Result<Option<u8>, ListError> {
        if self.at == self.filled {
            self.filled = self.text.read_into(&mut self.buffer)?;
            self.at = 0;
            self.was_filled = true;
        }
        Ok(self.buffer[..self.filled].get(self.at).copied())
    }
}

/// True for blanks and for bytes that are words, or begin one, of their own.
fn ends_text(byte: u8) -> bool {
    matches!(
        byte,
        b'{' | b'}' | b',' | b'=' | b'"' | b';' | b'\n' | b' ' | b'\t' | b'\r'
    )
}
