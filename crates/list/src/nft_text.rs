//! What `nft list` prints and `nft -f` reads: the elements of all sets that are left at its end.
//!
//! A map is a bad line: its keys alone would not mean what it says. Chains, rules and what else a
//! table holds are passed over; what is no statement of nft is a bad line.

use crate::error::ListError;
use crate::fault::Fault;
use crate::intake::{Intake, Sink};
use crate::nft_element::{Element, Whole};
use crate::nft_rules::NftRules;
use crate::nft_statement::{Property, Removing, Statement, is_other_object, property};
use crate::nft_variables::Variables;
use crate::nft_word::{Kind, Word, Words};
use crate::read::Tell;
use crate::sets::{Added, Removed, Sets};
use crate::source::Text;
use crate::trial::Trial;

/// Bytes of a statement that are kept: what names a set has room.
const STATEMENT_BYTES_MAX: usize = 1024;

/// Reads all of `text`.
pub(crate) fn read<'o, S: Sink>(
    text: Text<'_>,
    intake: &mut Intake<'o, S>,
    tell: Tell<'_, 'o, S>,
) -> Result<(), ListError> {
    let mut words = Words::new(text, intake.options.limits.block_bytes);
    let mut reader = NftText::new();
    while let Some(word) = words.next()? {
        reader.read_word(word, intake);
        if words.take_was_filled() {
            tell(intake)?;
        }
    }
    intake.line = words.line();
    reader.finish(intake);
    tell(intake)
}

/// What the words so far have opened.
struct NftText<S> {
    scopes: Vec<Scope<S>>,
    /// The words since the last end of a statement.
    statement: Vec<u8>,
    element: Element,
    sets: Sets<S>,
    variables: Variables<S>,
    rules: NftRules,
    /// Nothing but variables was there so far.
    only_variables: bool,
}

enum Scope<S> {
    /// `FAMILY TABLE`
    Table(Vec<u8>),
    /// `FAMILY TABLE NAME`
    Set(Vec<u8>),
    Elements(Target<S>),
    /// Something else, so many braces deep.
    Other(u64),
}

/// Where elements go.
enum Target<S> {
    Set(Vec<u8>),
    Removal(Removing),
    Variable {
        name: Vec<u8>,
        again: bool,
        /// What the intake held before.
        outside: Trial<S>,
    },
}

impl<S: Sink> NftText<S> {
    fn new() -> Self {
        Self {
            scopes: Vec::new(),
            statement: Vec::new(),
            element: Element::default(),
            sets: Sets::new(),
            variables: Variables::new(),
            rules: NftRules::default(),
            only_variables: true,
        }
    }

    fn read_word(&mut self, word: Word<'_>, intake: &mut Intake<'_, S>) {
        intake.line = word.line;
        match (self.scopes.last_mut(), word.kind) {
            (Some(Scope::Other(depth)), Kind::Open) => *depth = depth.saturating_add(1),
            (Some(Scope::Other(depth)), Kind::Close) if *depth > 1 => *depth -= 1,
            (Some(Scope::Other(_)), Kind::Close) => {
                self.scopes.pop();
            }
            (Some(Scope::Other(_)), _) => self.rules.see(word.line, word.bytes),
            (Some(Scope::Elements(_)), _) => self.read_elements(word, intake),
            (_, Kind::Open) => self.open(intake),
            (None, Kind::Close) => intake.bad(Fault::NftStatement, word.bytes),
            (_, Kind::Close) => {
                self.end_statement(intake);
                self.scopes.pop();
            }
            (_, Kind::End) => self.end_statement(intake),
            _ => self.push_statement(word.bytes),
        }
    }

    fn push_statement(&mut self, word: &[u8]) {
        if self.statement.len() < STATEMENT_BYTES_MAX {
            self.statement.extend_from_slice(word);
            self.statement.push(b' ');
        }
    }

    fn read_elements(&mut self, word: Word<'_>, intake: &mut Intake<'_, S>) {
        match word.kind {
            // A line end says nothing here.
            Kind::End if word.bytes == b"\n" => {}
            Kind::Comma => self.end_element(intake),
            Kind::Close => {
                self.end_element(intake);
                self.close_elements(intake);
            }
            _ => self.element.push(word),
        }
        if word.kind == Kind::Open {
            self.scopes.push(Scope::Other(1));
        }
    }

    fn end_element(&mut self, intake: &mut Intake<'_, S>) {
        if let (Some(whole), Some(Scope::Elements(target))) =
            (self.element.whole(), self.scopes.last())
        {
            let line = std::mem::replace(&mut intake.line, whole.line);
            deliver(&whole, target, (&mut self.sets, &self.variables), intake);
            intake.line = line;
        }
        self.element.clear();
    }

    fn close_elements(&mut self, intake: &mut Intake<'_, S>) {
        if let Some(Scope::Elements(Target::Variable {
            name,
            again,
            mut outside,
        })) = self.scopes.pop()
        {
            outside.exchange(intake);
            self.variables.define(&name, again, outside, intake);
        }
    }

    /// Opens what the statement so far begins.
    fn open(&mut self, intake: &mut Intake<'_, S>) {
        let statement = std::mem::take(&mut self.statement);
        let words = words_of(&statement);
        let fault = match self.scopes.last() {
            None => return self.open_outside(statement, intake),
            Some(Scope::Table(table)) => match words[..] {
                [b"set", name] => {
                    self.sets.mention(&[table, name].join(&b' '), intake);
                    let scope = Scope::Set([table, name].join(&b' '));
                    return self.scopes.push(scope);
                }
                [b"define" | b"redefine", ..] => return self.open_outside(statement, intake),
                [b"map", ..] => Some(Fault::NftMap),
                [object, ..] if is_other_object(object) => None,
                _ => Some(Fault::NftStatement),
            },
            Some(Scope::Set(name)) => match words[..] {
                [b"elements", b"="] => {
                    let target = Target::Set(name.clone());
                    return self.scopes.push(Scope::Elements(target));
                }
                _ => Some(Fault::NftStatement),
            },
            Some(_) => None,
        };
        self.open_other(fault, &words, intake);
    }

    /// Opens what is passed over.
    fn open_other(&mut self, fault: Option<Fault>, words: &[&[u8]], intake: &mut Intake<'_, S>) {
        match fault {
            Some(Fault::NftMap) => intake.bad(Fault::NftMap, words.last().unwrap_or(&&b""[..])),
            Some(fault) => intake.bad(fault, &words.join(&b' ')),
            None => {}
        }
        self.scopes.push(Scope::Other(1));
    }

    fn open_outside(&mut self, statement: Vec<u8>, intake: &mut Intake<'_, S>) {
        let words = words_of(&statement);
        let meant = Statement::of(&words);
        self.only_variables &= matches!(meant, Statement::Define { .. });
        let scope = match meant {
            Statement::Table(name) => Scope::Table(name),
            Statement::Set(name) => {
                self.sets.mention(&name, intake);
                Scope::Set(name)
            }
            Statement::Add(name, None) => Scope::Elements(Target::Set(name)),
            Statement::Remove(removing) if removing.variable.is_none() => {
                Scope::Elements(Target::Removal(removing))
            }
            Statement::Define { name, value, again } if value.is_empty() => {
                let mut outside = Trial::new(intake);
                outside.exchange(intake);
                Scope::Elements(Target::Variable {
                    name,
                    again,
                    outside,
                })
            }
            Statement::Rule => {
                // It goes on behind the brace.
                self.statement = statement;
                return self.scopes.push(Scope::Other(1));
            }
            Statement::Other if !words.is_empty() => Scope::Other(1),
            Statement::Wrong(fault) => return self.open_other(Some(fault), &words, intake),
            _ => return self.open_other(Some(Fault::NftStatement), &words, intake),
        };
        self.scopes.push(scope);
    }

    fn end_statement(&mut self, intake: &mut Intake<'_, S>) {
        let statement = std::mem::take(&mut self.statement);
        let words = words_of(&statement);
        if words.is_empty() {
            return;
        }
        match self.scopes.last() {
            Some(Scope::Set(name)) => match property(&words) {
                Ok(Property::Kind(kind)) => self.sets.create(name, kind, intake),
                Ok(Property::Elements(variable)) => {
                    let target = Target::Set(name.clone());
                    self.use_variable(&variable, &target, intake);
                }
                Ok(Property::Timeout) => intake.warn_of_timeout(),
                Ok(Property::Other) => {}
                Err(fault) => intake.bad(fault, statement.trim_ascii()),
            },
            Some(Scope::Table(_)) if matches!(words[0], b"comment" | b"flags") => {}
            Some(Scope::Table(_))
                if !matches!(words[0], b"define" | b"redefine" | b"undefine" | b"include") =>
            {
                intake.bad(Fault::NftStatement, statement.trim_ascii());
            }
            _ => self.run(&words, intake),
        }
    }

    /// Does what a statement outside of sets says.
    fn run(&mut self, words: &[&[u8]], intake: &mut Intake<'_, S>) {
        let meant = Statement::of(words);
        self.only_variables &= matches!(meant, Statement::Define { .. } | Statement::Undefine(_));
        match meant {
            Statement::Add(name, Some(variable)) => {
                self.use_variable(&variable, &Target::Set(name), intake);
            }
            Statement::Remove(Removing {
                variable: Some(_), ..
            }) => intake.bad(Fault::NftRemovalOfVariable, &words.join(&b' ')),
            Statement::FlushSet(name) => self.sets.flush(|of| of == name, intake),
            Statement::DeleteSet(name) => self.sets.destroy(|of| of == name, intake),
            Statement::DeleteAll(start) => {
                self.sets.destroy(|of| of.starts_with(&start), intake);
            }
            Statement::Define { name, value, again } => {
                let mut trial = Trial::new(intake);
                trial.exchange(intake);
                let value = value.join(&b' ');
                match value.strip_prefix(b"$") {
                    Some(variable) => self.variables.expand(variable, intake),
                    None => intake.take_field(&value, &value),
                }
                trial.exchange(intake);
                self.variables.define(&name, again, trial, intake);
            }
            Statement::Undefine(name) => self.variables.undefine(&name, intake),
            Statement::Rule => words
                .iter()
                .for_each(|word| self.rules.see(intake.line, word)),
            Statement::Table(_) | Statement::Other => {}
            Statement::Wrong(fault) => intake.bad(fault, &words.join(&b' ')),
            _ => intake.bad(Fault::NftStatement, &words.join(&b' ')),
        }
    }

    fn use_variable(&mut self, name: &[u8], target: &Target<S>, intake: &mut Intake<'_, S>) {
        let text = [b"$", name].concat();
        let whole = Whole {
            line: intake.line,
            value: &text,
            text: &text,
            has_timeout: false,
            fault: None,
        };
        deliver(&whole, target, (&mut self.sets, &self.variables), intake);
    }

    fn finish(mut self, intake: &mut Intake<'_, S>) {
        if self.scopes.is_empty() {
            // The last line may have no end.
            self.end_statement(intake);
        } else {
            while !self.scopes.is_empty() {
                self.close_elements(intake);
            }
            intake.bad(Fault::NftUnfinished, b"");
        }
        if self.only_variables {
            self.variables.into_sets(&mut self.sets, intake);
            let alone = "keep one variable in the file for a list of it alone";
            self.sets.finish(alone, intake);
        } else {
            let alone = "'nft list set FAMILY TABLE NAME' prints one alone";
            self.sets.finish(alone, intake);
        }
        self.rules.finish(intake);
    }
}

/// Takes an element where it belongs.
fn deliver<S: Sink>(
    whole: &Whole<'_>,
    target: &Target<S>,
    (sets, variables): (&mut Sets<S>, &Variables<S>),
    intake: &mut Intake<'_, S>,
) {
    let of_set = match target {
        Target::Set(name) | Target::Removal(Removing { name, .. }) => sets.kind(name).fault,
        Target::Variable { .. } => None,
    };
    if let Some(fault) = of_set {
        return intake.bad(fault, whole.text);
    }
    if let Some((fault, about)) = whole.fault {
        return intake.bad(fault, about);
    }
    match (target, whole.value.strip_prefix(b"$")) {
        (Target::Set(name), None) => {
            let element = Added {
                field: whole.value,
                text: whole.text,
            };
            sets.take(name, element, intake);
        }
        (Target::Set(name), Some(variable)) => {
            sets.fill(name, intake, |intake| variables.expand(variable, intake));
        }
        (Target::Removal(removing), None) => {
            let element = Removed {
                field: whole.value,
                may_miss: removing.may_miss,
            };
            sets.remove(&removing.name, element, intake);
        }
        (Target::Removal(_), Some(_)) => intake.bad(Fault::NftRemovalOfVariable, whole.text),
        (Target::Variable { .. }, None) => intake.take_field(whole.value, whole.text),
        (Target::Variable { .. }, Some(variable)) => variables.expand(variable, intake),
    }
    if whole.has_timeout {
        intake.warn_of_timeout();
    }
}

fn words_of(statement: &[u8]) -> Vec<&[u8]> {
    let words = statement.split(|&byte| byte == b' ');
    words.filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::words_of;

    #[test]
    fn words_have_blanks_between() {
        assert_eq!(words_of(b"a  b "), [b"a", b"b"]);
        assert!(words_of(b"").is_empty());
    }
}
