//! What `nft list set`, `nft list table` and `nft list ruleset` print, and `add element`: the
//! elements of all sets. A map is a bad line: its keys alone would not mean what it says. Chains
//! and what else a table holds are passed over.

use crate::error::ListError;
use crate::excerpt;
use crate::fault::Fault;
use crate::intake::{Intake, Note, Sink};
use crate::nft_element::Element;
use crate::nft_word::{Kind, Word, Words};
use crate::read::Tell;
use crate::source::Text;

/// Bytes of a statement that are kept: its first words.
const STATEMENT_BYTES_MAX: usize = 128;

/// Reads all of `text`.
pub(crate) fn read<'o, S: Sink>(
    text: Text<'_>,
    intake: &mut Intake<'o, S>,
    tell: Tell<'_, 'o, S>,
) -> Result<(), ListError> {
    let mut words = Words::new(text, intake.options.limits.block_bytes);
    let mut reader = NftText::default();
    while let Some(word) = words.next()? {
        reader.read_word(word, intake);
        if words.take_was_filled() {
            tell(intake)?;
        }
    }
    tell(intake)?;
    intake.line = words.line();
    if !reader.scopes.is_empty() {
        intake.bad(Fault::NftUnfinished, b"");
    }
    Ok(())
}

/// What the words so far have opened.
#[derive(Default)]
struct NftText {
    scopes: Vec<Scope>,
    /// The first words since the last end of a statement.
    statement: Vec<u8>,
    element: Element,
    set_count: u64,
    /// What is wrong with all elements of this set.
    of_set: Option<Fault>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Table,
    Set,
    Elements,
    /// Something else, so many braces deep.
    Other(u64),
}

impl NftText {
    fn read_word<S: Sink>(&mut self, word: Word<'_>, intake: &mut Intake<'_, S>) {
        intake.line = word.line;
        match (self.scopes.last().copied(), word.kind) {
            (Some(Scope::Other(depth)), Kind::Open) => self.set_other(depth.saturating_add(1)),
            (Some(Scope::Other(depth)), Kind::Close) if depth > 1 => self.set_other(depth - 1),
            (Some(Scope::Other(_)), Kind::Close) => self.close(),
            (Some(Scope::Other(_)), _) => {}
            (Some(Scope::Elements), _) => self.read_elements(word, intake),
            (_, Kind::Open) => self.open(intake),
            (None, Kind::Close) => intake.bad(Fault::NftStatement, word.bytes),
            (_, Kind::Close) => {
                self.end_statement(intake);
                self.close();
            }
            (_, Kind::End) => self.end_statement(intake),
            _ => self.push_statement(word.bytes),
        }
    }

    fn set_other(&mut self, depth: u64) {
        self.scopes.pop();
        self.scopes.push(Scope::Other(depth));
    }

    fn close(&mut self) {
        self.scopes.pop();
        self.statement.clear();
    }

    fn push_statement(&mut self, word: &[u8]) {
        if self.statement.len() < STATEMENT_BYTES_MAX {
            self.statement.extend_from_slice(word);
            self.statement.push(b' ');
        }
    }

    fn read_elements<S: Sink>(&mut self, word: Word<'_>, intake: &mut Intake<'_, S>) {
        match word.kind {
            // A line end says nothing here.
            Kind::End if word.bytes == b"\n" => {}
            Kind::Comma => self.element.finish(self.of_set, intake),
            Kind::Close => {
                self.element.finish(self.of_set, intake);
                self.close();
            }
            _ => self.element.push(word),
        }
        if word.kind == Kind::Open {
            self.scopes.push(Scope::Other(1));
        }
    }

    fn open<S: Sink>(&mut self, intake: &mut Intake<'_, S>) {
        let scope = match (self.scopes.last(), first_words(&self.statement)) {
            (None, [b"table", ..] | [b"add" | b"create", b"table"]) => Scope::Table,
            (None | Some(Scope::Table), [b"set", _]) | (None, [b"add" | b"create", b"set"]) => {
                self.begin_set(intake);
                Scope::Set
            }
            (Some(Scope::Set), [b"elements", b"="]) => Scope::Elements,
            (None | Some(Scope::Table), [b"map", _]) | (None, [b"add" | b"create", b"map"]) => {
                intake.bad(Fault::NftMap, last_word(&self.statement));
                Scope::Other(1)
            }
            (None, [b"add" | b"create", b"element"]) => {
                self.of_set = None;
                Scope::Elements
            }
            (None, _) => {
                intake.bad(Fault::NftStatement, self.statement.trim_ascii());
                Scope::Other(1)
            }
            _ => Scope::Other(1),
        };
        self.scopes.push(scope);
        self.statement.clear();
    }

    fn begin_set<S: Sink>(&mut self, intake: &mut Intake<'_, S>) {
        self.of_set = None;
        self.set_count += 1;
        if self.set_count > 1 {
            let name = excerpt::of(last_word(&self.statement));
            intake.warn(Note::SecondSet, || {
                format!("a further set, {name}: all sets of the file become one")
            });
        }
    }

    fn end_statement<S: Sink>(&mut self, intake: &mut Intake<'_, S>) {
        let statement = self.statement.trim_ascii();
        match (self.scopes.last(), first_words(statement)) {
            (None, [b"", _] | [b"flush" | b"add" | b"create", _]) => {}
            (None, _) => intake.bad(Fault::NftStatement, statement),
            (Some(Scope::Set), [b"elements", _]) => intake.bad(Fault::NftStatement, statement),
            (Some(Scope::Set), [b"type", kind]) => self.of_set = fault_of_type(statement, kind),
            _ => {}
        }
        self.statement.clear();
    }
}

/// What is wrong with all elements of a set of this type. Of a type of several fields nothing
/// is: its elements say it themselves.
fn fault_of_type(statement: &[u8], kind: &[u8]) -> Option<Fault> {
    let is_known = matches!(kind, b"ipv4_addr" | b"ipv6_addr") || statement.contains(&b'.');
    (!is_known).then_some(Fault::NftType)
}

/// The first two words of a statement; empty where there are fewer.
fn first_words(statement: &[u8]) -> [&[u8]; 2] {
    let mut words = statement
        .split(|&byte| byte == b' ')
        .filter(|word| !word.is_empty());
    std::array::from_fn(|_| words.next().unwrap_or_default())
}

/// The last word of a statement: the name of what it opens.
fn last_word(statement: &[u8]) -> &[u8] {
    let mut words = statement
        .rsplit(|&byte| byte == b' ')
        .filter(|word| !word.is_empty());
    words.next().unwrap_or_default()
}
