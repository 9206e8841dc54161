//! One element of an nft set, as nft prints it: a value, then what is known of it.

use crate::fault::Fault;
use crate::nft_word::{Kind, Word};

/// Bytes of an element that are kept for messages.
const TEXT_BYTES_MAX: usize = 256;

/// An element, word by word.
#[derive(Default)]
pub(crate) struct Element {
    /// The line of its value.
    line: u64,
    value: Vec<u8>,
    /// All its words.
    text: Vec<u8>,
    has_timeout: bool,
    next: Next,
    fault: Option<(Fault, Vec<u8>)>,
}

/// What the next word is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Next {
    #[default]
    Value,
    Option,
    /// The value of an option.
    Argument,
    /// Part of a statement (`limit rate 5/second burst 3 packets`), up to the end.
    Statement,
}

/// An element that is complete.
pub(crate) struct Whole<'e> {
    pub(crate) line: u64,
    pub(crate) value: &'e [u8],
    /// All its words.
    pub(crate) text: &'e [u8],
    pub(crate) has_timeout: bool,
    /// What is wrong with it, and the words that it is about.
    pub(crate) fault: Option<(Fault, &'e [u8])>,
}

impl Element {
    /// Takes the next word.
    pub(crate) fn push(&mut self, word: Word<'_>) {
        self.push_text(word.bytes);
        if self.next == Next::Value {
            self.line = word.line;
            self.value.extend_from_slice(word.bytes);
        }
        let is_known = match word.kind {
            Kind::Text => true,
            Kind::Quoted => self.next != Next::Value,
            _ => false,
        };
        if !is_known {
            self.fail(Fault::NftElement, word.bytes);
        }
        self.next = self.after(word.bytes);
    }

    fn after(&mut self, word: &[u8]) -> Next {
        match (self.next, word) {
            (Next::Value, b"*") => self.fail(Fault::NftCatchAll, word),
            (Next::Value | Next::Argument, _) => {}
            (Next::Statement, _) | (_, b"limit" | b"quota" | b"last" | b"ct") => {
                return Next::Statement;
            }
            (_, b"timeout" | b"expires" | b"comment" | b"packets" | b"bytes") => {
                self.has_timeout |= word == b"timeout";
                return Next::Argument;
            }
            (_, b"counter") => {}
            (_, b".") => self.fail(Fault::NftConcatenation, &[]),
            _ => self.fail(Fault::NftElement, word),
        }
        Next::Option
    }

    fn push_text(&mut self, word: &[u8]) {
        if self.text.len() < TEXT_BYTES_MAX {
            if !self.text.is_empty() {
                self.text.push(b' ');
            }
            self.text.extend_from_slice(word);
        }
    }

    /// Keeps the first thing that is wrong; about all of the element when `about` is empty.
    fn fail(&mut self, fault: Fault, about: &[u8]) {
        self.fault.get_or_insert_with(|| (fault, about.to_vec()));
    }

    /// The element, if it has begun.
    pub(crate) fn whole(&self) -> Option<Whole<'_>> {
        if self.next == Next::Value {
            return None;
        }
        let (value, text) = (self.value.as_slice(), self.text.as_slice());
        let fault = self.fault.as_ref().map(|(fault, about)| {
            let about = if about.is_empty() { text } else { about };
            (*fault, about)
        });
        Some(Whole {
            line: self.line,
            value,
            text,
            has_timeout: self.has_timeout,
            fault,
        })
    }

    /// Begins the next.
    pub(crate) fn clear(&mut self) {
        self.value.clear();
        self.text.clear();
        self.has_timeout = false;
        self.next = Next::Value;
        self.fault = None;
    }
}
