//! What `ipset save` prints: `create NAME TYPE options` and `add NAME ENTRY options`.
//!
//! All sets of the text become one list. An entry that is more than an address, a network or a
//! range, or that does not mean what it says (`nomatch`, a set with a netmask), is a bad line.

use crate::fault::Fault;
use crate::intake::{Intake, Note, Sink};
use std::collections::HashMap;

/// Sets of one text at most; the kernel holds no more.
const SETS_MAX: usize = 65_534;
/// Bytes of a set's name at most, as in the kernel.
const NAME_BYTES_MAX: usize = 31;

/// Reads the lines of one text.
pub(crate) struct Ipset {
    /// What is wrong with the entries of each set that was created.
    sets: HashMap<Vec<u8>, Option<Fault>>,
}

impl Ipset {
    pub(crate) fn new() -> Self {
        Self {
            sets: HashMap::new(),
        }
    }

    /// Reads a line without its end.
    pub(crate) fn read_line<S: Sink>(&mut self, line: &[u8], intake: &mut Intake<'_, S>) {
        let line = line.trim_ascii();
        if matches!(line, [] | [b'#' | b';', ..]) {
            return;
        }
        let mut words = Words { rest: line };
        let (command, name) = (words.next(), words.next());
        let (Some(command), Some(name), Some(third)) = (command, name, words.next()) else {
            return intake.bad(Fault::IpsetCommand, line);
        };
        match command {
            b"create" => self.create(line, name, third, &words, intake),
            b"add" => self.add(line, name, third, words, intake),
            _ => intake.bad(Fault::IpsetCommand, line),
        }
    }

    fn create<S: Sink>(
        &mut self,
        line: &[u8],
        name: &[u8],
        kind: &[u8],
        options: &Words<'_>,
        intake: &mut Intake<'_, S>,
    ) {
        if self.sets.len() >= SETS_MAX || name.len() > NAME_BYTES_MAX {
            return intake.bad(Fault::IpsetCommand, line);
        }
        if self
            .sets
            .insert(name.to_vec(), fault_of_set(kind, options))
            .is_none()
            && self.sets.len() > 1
        {
            intake.warn(Note::SecondSet, || {
                let name = crate::excerpt::of(name);
                format!("a further set, {name}: all sets of the file become one")
            });
        }
    }

    fn add<S: Sink>(
        &mut self,
        line: &[u8],
        name: &[u8],
        entry: &[u8],
        options: Words<'_>,
        intake: &mut Intake<'_, S>,
    ) {
        if let Some(&Some(fault)) = self.sets.get(name) {
            return intake.bad(fault, entry);
        }
        if let Err((fault, word)) = check_options(options) {
            let about = if fault == Fault::IpsetNomatch {
                entry
            } else {
                word
            };
            return intake.bad(fault, about);
        }
        if entry.contains(&b',') {
            return intake.bad(Fault::IpsetEntry, entry);
        }
        intake.take_field(entry, line);
    }
}

/// What is wrong with all entries of a set of this type.
fn fault_of_set(kind: &[u8], options: &Words<'_>) -> Option<Fault> {
    if !matches!(kind, b"hash:ip" | b"hash:net" | b"bitmap:ip") {
        return Some(Fault::IpsetType);
    }
    let widens = |word: &[u8]| matches!(word, b"netmask" | b"bitmask");
    options.clone().any(widens).then_some(Fault::IpsetNetmask)
}

/// Looks whether the options after an entry leave it what it is.
fn check_options(mut options: Words<'_>) -> Result<(), (Fault, &[u8])> {
    while let Some(option) = options.next() {
        match option {
            b"timeout" | b"packets" | b"bytes" | b"comment" | b"skbmark" | b"skbprio"
            | b"skbqueue" => {
                options.next().ok_or((Fault::IpsetOption, option))?;
            }
            b"nomatch" => return Err((Fault::IpsetNomatch, option)),
            b"wildcard" => return Err((Fault::IpsetEntry, option)),
            _ => return Err((Fault::IpsetOption, option)),
        }
    }
    Ok(())
}

/// Words with blanks between; one in double quotes (a comment) may hold blanks.
#[derive(Clone)]
struct Words<'a> {
    rest: &'a [u8],
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
