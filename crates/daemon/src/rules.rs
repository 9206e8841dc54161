//! Rules of packets: files of them read, and the table that workers look up.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use list::rules::{Action, Ending, RejectWith, Rules, Scope};
use plane::{Rejection, Report, RuleName, RuleNames, RuleTable};

use crate::switch::NamedPort;

/// Bytes that are read of a file, at most; one more than a text may have.
const READ_MAX: u64 = (16 << 20) + 1;

/// Where rules are to hold.
#[derive(Clone, Debug, Default)]
pub struct RulePlace {
    /// What names mean there.
    pub scope: Scope,
    /// Workers that count for themselves.
    pub workers: usize,
}

/// Reads a file of rules; `-` is standard input.
///
/// # Errors
///
/// The file cannot be read, or is no rules; a sentence.
pub fn read(file: &Path) -> Result<Rules, String> {
    let text = read_text(file)?;
    parsed(&file.display().to_string(), &text)
}

/// The rules of a text that was read of a file of this name.
///
/// # Errors
///
/// It is no rules; a sentence.
pub fn parsed(name: &str, text: &str) -> Result<Rules, String> {
    list::rules::read(name, text).map_err(|error| error.to_string())
}

/// The text of a file, as far as it may be rules.
///
/// # Errors
///
/// The file cannot be read, or is no text; a sentence.
pub fn read_text(file: &Path) -> Result<String, String> {
    let name = file.display().to_string();
    match file == Path::new("-") {
        true => bounded(&name, io::stdin().lock()),
        false => bounded(
            &name,
            File::open(file).map_err(|error| cannot(&name, &error))?,
        ),
    }
}

/// The text of what is open, as far as it may be rules.
///
/// # Errors
///
/// It cannot be read, or is no text; a sentence.
pub fn bounded(name: &str, input: impl Read) -> Result<String, String> {
    let mut text = String::new();
    let read = input.take(READ_MAX).read_to_string(&mut text);
    read.map_err(|error| cannot(name, &error))?;
    Ok(text)
}

fn cannot(name: &str, error: &io::Error) -> String {
    format!("cannot read rules {name}: {error}; check the path and that it is text")
}

/// The table of rules that were read of a file of this name.
///
/// # Errors
///
/// A name that nothing has, what cannot be known there, or too many rules; a sentence with the
/// line.
pub fn table(name: &str, rules: &Rules, place: &RulePlace) -> Result<RuleTable, String> {
    let entries = rules.entries(&place.scope);
    let entries = entries.map_err(|fault| format!("{name}:{fault}"))?;
    let drops = rules.policy == Ending::Drop;
    let table = RuleTable::new(&entries, names(name, rules), drops, place.workers);
    table.map_err(|error| format!("{name}: {error}"))
}

fn rejection(with: RejectWith) -> Rejection {
    Rejection::Icmp(match with {
        RejectWith::TcpReset => return Rejection::TcpReset,
        RejectWith::PortUnreachable => Report::PortUnreachable,
        RejectWith::Prohibited => Report::Prohibited,
        RejectWith::HostUnreachable => Report::HostUnreachable,
        RejectWith::NoRoute => Report::NoRoute,
    })
}

fn names(name: &str, rules: &Rules) -> RuleNames {
    let of_rule = |rule: &list::rules::Rule| RuleName {
        line: rule.line,
        text: rule.to_string(),
        decides: matches!(rule.action, Action::End(_) | Action::Reject(_)),
        rejects: match rule.action {
            Action::Reject(with) => Some(rejection(with)),
            _ => None,
        },
    };
    RuleNames {
        source: name.to_owned(),
        rules: rules.all().map(of_rule).collect(),
    }
}

/// What rules may call a port: its name, its whole text, what is behind the driver, its number
/// from 1.
#[must_use]
pub fn port_names(port: &NamedPort, number: usize) -> Vec<String> {
    let behind = port.spec.split_once(':').map(|(_, behind)| behind);
    let behind = behind.map(|behind| behind.split(',').next().unwrap_or(behind).to_owned());
    let mut names: Vec<String> = port.name.iter().cloned().collect();
    names.extend([port.spec.clone(), number.to_string()]);
    names.extend(behind.filter(|behind| !behind.is_empty()));
    names
}
