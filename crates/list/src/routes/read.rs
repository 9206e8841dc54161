//! Reads one route, or a file of them.

use super::draft::{self, Draft, Names, Words};
use super::fault::{BadRoute, FaultKind, RouteFault, RoutesError};
use super::{RouteText, best};
use crate::lines::{Lines, Piece};
use crate::report::Finding;
use crate::source::Source;
use std::io::Read;
use std::sync::Arc;

/// The routes of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouteTexts {
    /// The best of each prefix of a table, by prefix: IPv4 before IPv6, the shorter of two that
    /// begin alike first.
    pub routes: Vec<RouteText>,
    /// What was left out, and why: the first of these notes.
    pub notes: Vec<Finding>,
    /// How many notes there were.
    pub note_count: u64,
    /// Lines, comments and empty ones included.
    pub lines: u64,
}

/// The bounds of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) block_bytes: usize,
    pub(super) line_bytes_max: usize,
    /// Routes, and hops of all of them.
    pub(super) routes_max: usize,
    /// Lines, empty ones included: a thousand of them are one byte of gzip.
    pub(super) lines_max: u64,
    pub(super) bad_kept_max: usize,
    pub(super) notes_kept_max: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            block_bytes: 1 << 20,
            line_bytes_max: 64 << 10,
            // 1.1 GB, and six times the Internet's table.
            routes_max: 8 << 20,
            lines_max: 64 << 20,
            bad_kept_max: 20,
            notes_kept_max: 20,
        }
    }
}

/// Reads one route. Its further hops stand behind it, as `ip -oneline route show` prints them.
///
/// # Errors
/// What is wrong with the first word that is.
pub fn read_line(line: &str) -> Result<RouteText, RouteFault> {
    let line = line.trim_end_matches(['\r', '\n']);
    if let Some((_, second)) = line.split_once('\n') {
        return Err(FaultKind::SecondLine.at(second));
    }
    let max = Bounds::default().line_bytes_max;
    if line.len() > max {
        return Err(FaultKind::LineTooLong(max).at(""));
    }
    let mut words = draft::words_of(line);
    let mut draft = Draft::begin(1, &mut words)?;
    draft.add(&mut words, &mut Names::default())?;
    let route = draft.finish()?;
    match route.is_dead() {
        true => Err(FaultKind::AllDead.at(&best::name(&route))),
        false => Ok(route),
    }
}

/// Reads a file of routes, plain or gzip. `name` stands in messages.
///
/// # Errors
/// Reading fails, lines are wrong, or it is out of bounds: then no route is right.
pub fn read(name: &str, mut input: impl Read) -> Result<RouteTexts, RoutesError> {
    read_within(name, &mut input, Bounds::default())
}

pub(super) fn read_within(
    name: &str,
    input: &mut dyn Read,
    bounds: Bounds,
) -> Result<RouteTexts, RoutesError> {
    let mut reader = Reader::new(name, bounds);
    let text = Source::open(&reader.file, input)?.into_text();
    let mut lines = Lines::new(text, bounds.block_bytes, bounds.line_bytes_max);
    while let Some(piece) = lines.next()? {
        match piece {
            Piece::TooLong => reader.too_long(),
            Piece::Block(block) => block.lines().for_each(|line| reader.line(line)),
        }
        reader.check_room()?;
    }
    reader.finish()
}

/// What was read of a file.
struct Reader {
    file: Arc<str>,
    bounds: Bounds,
    line: u64,
    names: Names,
    open: Open,
    routes: Vec<RouteText>,
    hop_count: usize,
    bad: Vec<BadRoute>,
    bad_count: u64,
}

/// The route that a line may continue.
enum Open {
    Nothing,
    /// And whether the next line belongs to it, whatever it begins with.
    Route(Draft, bool),
    /// One that is wrong. Its other lines are passed over.
    Bad(bool),
}

impl Reader {
    fn new(name: &str, bounds: Bounds) -> Self {
        Self {
            file: Arc::from(name),
            bounds,
            line: 0,
            names: Names::default(),
            open: Open::Nothing,
            routes: Vec::new(),
            hop_count: 0,
            bad: Vec::new(),
            bad_count: 0,
        }
    }

    fn line(&mut self, line: &[u8]) {
        if line.len() > self.bounds.line_bytes_max {
            return self.too_long();
        }
        self.line += 1;
        match str::from_utf8(line) {
            Ok(text) => self.words(&mut draft::words_of(text)),
            Err(_) => self.refuse(FaultKind::NotText.at_bytes(line)),
        }
    }

    fn too_long(&mut self) {
        self.line += 1;
        self.refuse(FaultKind::LineTooLong(self.bounds.line_bytes_max).at(""));
    }

    fn words(&mut self, words: &mut Words<'_>) {
        let Some(&first) = words.peek() else {
            // A line without words ends one that a backslash continues.
            if let Open::Route(_, is_continued) | Open::Bad(is_continued) = &mut self.open {
                *is_continued = false;
            }
            return;
        };
        let continues = draft::continues(first);
        match &mut self.open {
            Open::Route(draft, is_continued) if *is_continued || continues => {
                match draft.add(words, &mut self.names) {
                    Ok(ends_open) => *is_continued = ends_open,
                    Err(fault) => self.refuse_words(fault, words),
                }
            }
            Open::Bad(is_continued) if *is_continued || continues => {
                *is_continued = words.last() == Some("\\");
            }
            _ => self.begin(words),
        }
    }

    fn begin(&mut self, words: &mut Words<'_>) {
        self.close();
        let read = Draft::begin(self.line, words).and_then(|mut draft| {
            let is_continued = draft.add(words, &mut self.names)?;
            Ok(Open::Route(draft, is_continued))
        });
        match read {
            Ok(open) => self.open = open,
            Err(fault) => self.refuse_words(fault, words),
        }
    }

    /// Takes the route that no line continues any more.
    fn close(&mut self) {
        let Open::Route(draft, _) = std::mem::replace(&mut self.open, Open::Nothing) else {
            return;
        };
        let line = draft.line();
        match draft.finish() {
            Ok(route) => {
                self.hop_count += route.hops.len();
                self.routes.push(route);
            }
            Err(fault) => self.keep_bad(line, fault),
        }
    }

    /// Refuses the route that the rest of `words` belongs to.
    fn refuse_words(&mut self, fault: RouteFault, words: &mut Words<'_>) {
        self.refuse(fault);
        self.open = Open::Bad(words.last() == Some("\\"));
    }

    fn refuse(&mut self, fault: RouteFault) {
        self.keep_bad(self.line, fault);
        self.open = Open::Bad(false);
    }

    fn keep_bad(&mut self, line: u64, fault: RouteFault) {
        self.bad_count += 1;
        if self.bad.len() < self.bounds.bad_kept_max {
            self.bad.push(BadRoute {
                file: Arc::clone(&self.file),
                line,
                fault,
            });
        }
    }

    fn check_room(&self) -> Result<(), RoutesError> {
        let lines_max = self.bounds.lines_max;
        if self.line > lines_max {
            return Err(RoutesError::TooManyLines {
                file: Arc::clone(&self.file),
                lines_max,
            });
        }
        let routes_max = self.bounds.routes_max;
        match self.routes.len().max(self.hop_count) > routes_max {
            false => Ok(()),
            true => Err(RoutesError::TooMany {
                file: Arc::clone(&self.file),
                routes_max,
            }),
        }
    }

    fn finish(mut self) -> Result<RouteTexts, RoutesError> {
        self.close();
        self.check_room()?;
        if self.bad_count > 0 {
            return Err(RoutesError::Refused {
                file: self.file,
                bad_count: self.bad_count,
                bad: self.bad,
            });
        }
        let mut texts = best::of(self.routes, &self.file, self.bounds.notes_kept_max);
        texts.lines = self.line;
        Ok(texts)
    }
}
