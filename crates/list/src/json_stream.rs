//! A JSON document of any size, read as it comes: nothing is kept of it but the open string.

use crate::error::ListError;
use crate::fault::Fault;
use crate::intake::{Intake, Sink};
use crate::options::Limits;
use crate::source::Text;
use serde::de::Error;
use std::cell::{Cell, RefCell};
use std::io::{self, Read};

/// The JSON reader of a list.
pub(crate) type Json<'r, 'p> = serde_json::Deserializer<serde_json::de::IoRead<Bytes<'r, 'p>>>;

/// Reads a document with `visit`, up to the end of `text`; what is wrong with one that breaks, ends
/// early or has more behind it.
pub(crate) fn read<'r, 'o, S: Sink>(
    text: Text<'r>,
    passed: &Passed,
    intake: &mut Intake<'o, S>,
    visit: impl FnOnce(&mut Json<'r, '_>, &mut Intake<'o, S>) -> Result<(), serde_json::Error>,
) -> Result<Option<Fault>, ListError> {
    let limits = intake.options.limits;
    let mut json = serde_json::Deserializer::from_reader(Bytes::new(text, &limits, passed));
    let done = visit(&mut json, intake).and_then(|()| json.end());
    intake.line = passed.line();
    if let Some(stopped) = passed.stopped.take() {
        return Err(stopped);
    }
    Ok(match done {
        Ok(()) => None,
        Err(_) if passed.too_long.get() => Some(Fault::StringTooLong(limits.line_bound())),
        // The JSON reader has no other sign for it.
        Err(error) if error.to_string().contains("recursion limit") => Some(Fault::JsonTooDeep),
        Err(_) => Some(Fault::JsonBroken),
    })
}

/// What has passed to the JSON reader, seen from both of its sides.
#[derive(Default)]
pub(crate) struct Passed {
    line_ends: Cell<u64>,
    line_is_open: Cell<bool>,
    /// It was stopped for a string that is longer than the bound.
    too_long: Cell<bool>,
    /// Why it was stopped, when that is not for its JSON.
    stopped: RefCell<Option<ListError>>,
}

impl Passed {
    /// The line that was reached.
    pub(crate) fn line(&self) -> u64 {
        self.line_ends.get() + u64::from(self.line_is_open.get())
    }

    /// Stops reading; the error that the JSON reader is given for it.
    pub(crate) fn stop<E: Error>(&self, stopped: ListError) -> E {
        self.stopped.replace(Some(stopped));
        E::custom("reading stops")
    }

    fn see(&self, bytes: &[u8]) {
        let Some(last) = bytes.last() else { return };
        let ends = bytes.iter().filter(|&&byte| byte == b'\n').count();
        self.line_ends.set(self.line_ends.get() + ends as u64);
        self.line_is_open.set(*last != b'\n');
    }
}

/// The text for the JSON reader, which asks for single bytes.
pub(crate) struct Bytes<'r, 'p> {
    text: Text<'r>,
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    passed: &'p Passed,
    string: OpenString,
    string_bytes_max: usize,
}

/// Follows the strings of a JSON document, whose bytes the JSON reader keeps until they end.
#[derive(Default)]
struct OpenString {
    is_open: bool,
    is_escaped: bool,
    bytes: usize,
}

impl OpenString {
    /// Takes the next bytes of the document; the length of the string that is open after them.
    fn see(&mut self, bytes: &[u8]) -> usize {
        for &byte in bytes {
            if !self.is_open || self.is_escaped {
                self.is_open |= byte == b'"';
                self.is_escaped = false;
            } else {
                self.is_escaped = byte == b'\\';
                self.is_open = byte != b'"';
            }
            self.bytes = if self.is_open { self.bytes + 1 } else { 0 };
        }
        self.bytes
    }
}

impl<'r, 'p> Bytes<'r, 'p> {
    fn new(text: Text<'r>, limits: &Limits, passed: &'p Passed) -> Self {
        Self {
            text,
            buffer: vec![0; limits.block_bytes.max(1)],
            at: 0,
            filled: 0,
            passed,
            string: OpenString::default(),
            string_bytes_max: limits.line_bound(),
        }
    }
}

impl Read for Bytes<'_, '_> {
    #[inline]
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.at == self.filled {
            self.at = 0;
            self.filled = self.text.read_into(&mut self.buffer).map_err(|error| {
                self.passed.stopped.replace(Some(error));
                io::Error::other("the list cannot be read")
            })?;
        }
        let count = room.len().min(self.filled - self.at);
        let bytes = &self.buffer[self.at..self.at + count];
        room[..count].copy_from_slice(bytes);
        self.passed.see(bytes);
        if self.string.see(bytes) > self.string_bytes_max {
            self.passed.too_long.set(true);
            return Err(io::Error::other("a string is too long"));
        }
        self.at += count;
        Ok(count)
    }
}
