//! The words of a line of ipset, and those that may stand behind an entry.

use crate::fault::Fault;

/// Words with blanks between; one in double quotes (a comment) may hold blanks.
#[derive(Clone)]
pub(crate) struct Words<'a> {
    rest: &'a [u8],
}

impl<'a> Words<'a> {
    pub(crate) fn of(rest: &'a [u8]) -> Self {
        Self { rest }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let text = self.rest.trim_ascii_start();
        let end = match text.strip_prefix(b"\"") {
            Some(quoted) => quoted
                .iter()
                .position(|&byte| byte == b'"')
                .map(|at| at + 2),
            None => text.iter().position(u8::is_ascii_whitespace),
        };
        let (word, rest) = text.split_at(end.unwrap_or(text.len()));
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }
}

/// The words that are no flags of the program, which may stand anywhere; and whether `-exist` was
/// among the flags.
pub(crate) fn without_flags(words: Words<'_>) -> (Vec<&[u8]>, bool) {
    let mut may_miss = false;
    let is_word = |word: &&[u8]| match *word {
        b"-exist" | b"--exist" | b"-!" => {
            may_miss = true;
            false
        }
        b"-quiet" | b"--quiet" | b"-q" => false,
        _ => true,
    };
    let words = words.filter(is_word).collect();
    (words, may_miss)
}

/// Looks whether the options behind an entry leave it what it is; true when it has a timeout.
pub(crate) fn check_entry_options<'l>(
    entry: &'l [u8],
    options: &[&'l [u8]],
) -> Result<bool, (Fault, &'l [u8])> {
    let mut options = options.iter();
    let mut has_timeout = false;
    while let Some(&option) = options.next() {
        let unknown = (Fault::IpsetOption, option);
        match option.strip_prefix(b"--").unwrap_or(option) {
            b"timeout" => has_timeout |= is_timeout(options.next().ok_or(unknown)?)?,
            b"packets" | b"bytes" | b"comment" | b"skbmark" | b"skbprio" | b"skbqueue" => {
                options.next().ok_or(unknown)?;
            }
            b"nomatch" => return Err((Fault::IpsetNomatch, entry)),
            b"wildcard" => return Err((Fault::IpsetEntry, option)),
            _ => return Err(unknown),
        }
    }
    Ok(has_timeout)
}

/// Whether a number of seconds is a timeout: zero is none.
pub(crate) fn is_timeout(word: &[u8]) -> Result<bool, (Fault, &[u8])> {
    let is_number = !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    if is_number {
        Ok(word.iter().any(|&digit| digit != b'0'))
    } else {
        Err((Fault::IpsetOption, word))
    }
}
