//! In which line of its source an entry stands: the source is read again, since four bytes a line
//! for millions of entries would be kept for a question that is seldom asked.
//!
//! Done by whoever asks: six million lines take a quarter of a second.

use super::reply::{PartHeld, Place, TestAnswer};
use super::request::LoadedFrom;
use list::{Match, ReadOptions};
use std::fs::File;
use std::net::IpAddr;
use table::live::Entry;
use table::{Address, Range};

/// Fills in the places of entries from file parts.
pub(super) fn find(answers: &mut [TestAnswer], address: IpAddr) {
    for answer in answers {
        let Some(from) = answer.source.clone() else {
            continue;
        };
        let from_file = answer
            .reasons
            .iter_mut()
            .filter(|reason| reason.part == PartHeld::File);
        let mut found: Option<Result<Vec<Match>, &'static str>> = None;
        for reason in from_file {
            let found = found.get_or_insert_with(|| matches(&from, address));
            (reason.place, reason.comment) = place(&from, reason.entry, found);
        }
    }
}

/// The place of an entry that holds an address.
pub(super) fn place_of(from: &LoadedFrom, entry: Entry, address: IpAddr) -> Place {
    place(from, entry, &matches(from, address)).0
}

fn place(
    from: &LoadedFrom,
    entry: Entry,
    found: &Result<Vec<Match>, &'static str>,
) -> (Place, Option<String>) {
    let source = |why| Place::Source {
        name: from.name.clone(),
        why,
    };
    let matches = match found {
        Ok(matches) => matches,
        Err(why) => return (source(why), None),
    };
    let is_it = |found: &&Match| live_entry(found.entry) == entry;
    let Some(found) = matches.iter().find(is_it) else {
        return (source("it is not among the lines found"), None);
    };
    let name = from.name.clone();
    let line = Place::Line {
        name,
        line: found.line,
    };
    (line, comment(&found.text))
}

fn matches(from: &LoadedFrom, address: IpAddr) -> Result<Vec<Match>, &'static str> {
    let Some(path) = &from.file else {
        return Err("what was read was not kept");
    };
    let file = File::open(path).map_err(|_| "the file cannot be read any more")?;
    let facts = file
        .metadata()
        .map_err(|_| "the file cannot be read any more")?;
    let is_later = facts.modified().is_ok_and(|modified| modified > from.at);
    if facts.len() != from.bytes || is_later {
        return Err("the file has changed since it was loaded");
    }
    let options = ReadOptions {
        columns: from.columns.clone(),
        json_paths: from.json_paths.clone(),
        everything: true,
        purpose: list::Purpose::Read,
        ..ReadOptions::default()
    };
    let found = list::find(&from.name, file, &options, address);
    let found = found.map_err(|_| "the file cannot be read any more")?;
    Ok(found.matches)
}

/// What follows the entry on its line, without the mark that begins a comment.
fn comment(text: &str) -> Option<String> {
    let (_, rest) = text.split_once(|character: char| {
        character.is_whitespace() || matches!(character, '#' | ';')
    })?;
    let marks = |character: char| character.is_whitespace() || matches!(character, '#' | ';');
    let rest = rest.trim_start_matches(marks).trim_end();
    (!rest.is_empty()).then(|| rest.to_owned())
}

/// An entry as it was read, as sets know it: by what it covers.
#[must_use]
pub fn live_entry(entry: list::Entry) -> Entry {
    fn range<A: Address>(span: list::Span<A>) -> Range<A> {
        // No span ends before it begins.
        Range::new(span.first(), span.last()).unwrap_or(Range::single(span.first()))
    }
    match entry {
        list::Entry::V4(span) => Entry::V4(range(span)),
        list::Entry::V6(span) => Entry::V6(range(span)),
    }
}
